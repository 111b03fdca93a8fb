//! A session: a client, a server, a network and all faults, from one seed.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bytes::Bytes;
use queryport::session::{Conversation, Machine, Session};
use queryport::{Detail, Outcome, Protocol, QueryError, ServerStatus, Timing};

use crate::client::{AnyResult, CLIENT, Client, SERVER, timing};
use crate::common::link::Random;
use crate::common::replay::{Event, replay};
use crate::common::transcript::{Line, Transcript};
use crate::forms::GUESSED;
use crate::judge;
use crate::network::{Datagram, Fault, Network, Rates, Reply};
use crate::servers::{Live, Server, with_challenge};
use crate::shrink::Cut;

/// The address of another server: the same host, another port.
const OTHER: SocketAddr = SocketAddr::new(SERVER.ip(), 27961);

/// A server, a client of it, and the server's answers at each moment.
pub struct Family {
    pub server: Server,
    pub client: Client,
    pub moments: Vec<Moment>,
    /// Whether this client gets a complete answer at every moment without faults.
    pub is_complete: bool,
}

/// The answers of a server at one moment, without faults.
pub struct Moment {
    /// The statuses that the clients of each dialect get, if complete.
    pub truths: Vec<ServerStatus>,
    /// The names of all players, including those in incomplete answers.
    pub names: BTreeSet<Vec<u8>>,
    /// The datagrams of the server.
    pub datagrams: Vec<Bytes>,
}

impl Moment {
    pub fn new(server: &Server, client: &Client, moment: usize) -> Self {
        let (mut truths, mut names, mut datagrams) = (Vec::new(), BTreeSet::new(), Vec::new());
        // A retry of GameSpy v1's short query requests everything.
        let asks_twice = client.protocol == Protocol::GameSpy1 && client.detail == Detail::Short;
        let clients = client.of_each_dialect().into_iter();
        for (client, lost) in
            clients.flat_map(|client| (0..=usize::from(asks_twice)).map(move |lost| (client, lost)))
        {
            let result = exchange_after(lost, server, &client, moment, &mut datagrams);
            let Some(status) = judge::status(&result) else {
                continue;
            };
            names.extend(
                status
                    .players
                    .iter()
                    .map(|player| player.name.raw().to_vec()),
            );
            if status.completeness.is_complete() && !truths.contains(&status) {
                truths.push(status);
            }
        }
        Self {
            truths,
            names,
            datagrams,
        }
    }
}

/// Runs a query without faults. `datagrams` receives what the server sends.
pub fn exchange(
    server: &Server,
    client: &Client,
    moment: usize,
    datagrams: &mut Vec<Bytes>,
) -> AnyResult {
    exchange_after(0, server, client, moment, datagrams)
}

/// Does the same, but the first requests are lost.
fn exchange_after(
    lost: usize,
    server: &Server,
    client: &Client,
    moment: usize,
    datagrams: &mut Vec<Bytes>,
) -> AnyResult {
    let mut lost = 0..lost;
    let start = Instant::now();
    let mut live = Live::new(server, moment, 7, start);
    let mut session = Session::new(client.query(7), SERVER, Timing::default(), start);
    let (mut now, mut out) = (start, Vec::new());
    loop {
        while session.poll_transmit(now, &mut out).is_some() {
            let request = std::mem::take(&mut out);
            if lost.next().is_some() {
                continue;
            }
            for reply in live.handle(now, CLIENT, &request) {
                session.handle_datagram(now, SERVER, &reply);
                datagrams.push(reply);
            }
        }
        if let Some(result) = session.poll_answer() {
            return result;
        }
        now = now.max(session.poll_timeout().unwrap());
        session.handle_timeout(now);
    }
}

/// The record of a session.
pub struct Played {
    pub result: AnyResult,
    pub timing: Timing,
    pub nonce: u64,
    /// The datagrams that arrived at the client, in order.
    pub log: Vec<Datagram>,
    /// The server's replies as it sent them.
    pub replies: Vec<(Reply, Vec<Bytes>)>,
    /// The shortest round trip of this network.
    pub round_trip: Duration,
    /// The time of an ICMP error.
    pub unreachable: Option<Duration>,
    /// The requests, each with its time.
    pub requests: Vec<(Duration, Vec<u8>)>,
    /// The last moment of the server.
    pub moment: usize,
    pub elapsed: Duration,
    /// How often the session was called.
    pub calls: u32,
    pub faults: [u32; Fault::ALL.len()],
    /// The indices of datagrams with a fault.
    pub faulty: Vec<u32>,
    /// Whether the only effect was a fixed delay.
    pub is_faultless: bool,
}

impl Played {
    /// The maximum number of bytes that the session held at once.
    pub fn memory(&self, client: &Client) -> u64 {
        let events = self.events(|_| false);
        allocation_counter::measure(|| {
            drop(replay(
                client.query(self.nonce),
                SERVER,
                self.timing,
                events,
                |_, _| {},
            ));
        })
        .bytes_max
    }

    /// Replays the session without some of the datagrams that arrived.
    pub fn without(&self, client: &Client, is_dropped: impl Fn(&Datagram) -> bool) -> AnyResult {
        self.replay(client, is_dropped, |_, _| {})
    }

    /// Does the same. `sent` receives the requests.
    pub fn replay(
        &self,
        client: &Client,
        is_dropped: impl Fn(&Datagram) -> bool,
        sent: impl FnMut(Duration, &[u8]),
    ) -> AnyResult {
        replay(
            client.query(self.nonce),
            SERVER,
            self.timing,
            self.events(is_dropped),
            sent,
        )
    }

    /// Replays some of the datagrams that arrived, all immediately after the first request.
    pub fn at_once(&self, client: &Client, is_dropped: impl Fn(&Datagram) -> bool) -> AnyResult {
        let mut events = self.events(is_dropped);
        events
            .iter_mut()
            .for_each(|(at, _)| *at = Duration::from_millis(1));
        replay(
            client.query(self.nonce),
            SERVER,
            self.timing,
            events,
            |_, _| {},
        )
    }

    fn events(&self, is_dropped: impl Fn(&Datagram) -> bool) -> Vec<(Duration, Event<'_>)> {
        let mut events: Vec<(Duration, Event<'_>)> = self
            .log
            .iter()
            .filter(|datagram| !is_dropped(datagram))
            .map(|datagram| (datagram.at, Event::Datagram(datagram.from, &datagram.bytes)))
            .collect();
        if let Some(at) = self.unreachable {
            let index = events.partition_point(|(other, _)| *other <= at);
            events.insert(index, (at, Event::Unreachable));
        }
        events
    }

    /// The datagrams that the client sent and received.
    pub fn transcript(&self, client: &Client) -> Transcript {
        let line = |at: &Duration, is_request, bytes: &[u8]| Line {
            at: *at,
            is_request,
            datagram: Bytes::copy_from_slice(bytes),
        };
        let requests = self
            .requests
            .iter()
            .map(|(at, bytes)| line(at, true, bytes));
        let from_server = self.log.iter().filter(|datagram| datagram.from == SERVER);
        let replies = from_server.map(|datagram| line(&datagram.at, false, &datagram.bytes));
        let mut lines: Vec<Line> = requests.chain(replies).collect();
        lines.sort_by_key(|line| line.at);
        let comments = vec![
            format!("protocol {}", client.protocol),
            format!("nonce {}", self.nonce),
            format!(
                "detail {}",
                if client.detail == Detail::Short {
                    "short"
                } else {
                    "full"
                }
            ),
            format!("timeout {}", self.timing.timeout().as_secs_f64()),
            format!("retries {}", self.timing.retries()),
        ];
        let outcome = match &self.result {
            Ok(outcome) => outcome.answer.completeness().to_string(),
            Err(error) => format!("{:?}", error.kind()),
        };
        Transcript {
            comments,
            lines,
            outcome: Some(outcome),
        }
    }
}

/// The record of a query.
pub struct Course<A> {
    pub result: Result<Outcome<A>, QueryError>,
    /// The datagrams that arrived at the client, in order.
    pub log: Vec<Datagram>,
    /// The requests, each with its time.
    pub requests: Vec<(Duration, Vec<u8>)>,
    pub elapsed: Duration,
    /// How often the session was called.
    pub calls: u32,
}

/// Runs a query over this network. `answer` gets each request that arrives; `unreachable` is the
/// time of an ICMP error.
pub fn converse<C: Conversation>(
    query: C,
    (timing, start): (Timing, Instant),
    network: &mut Network<'_>,
    unreachable: &mut Option<Duration>,
    mut answer: impl FnMut(&mut Network<'_>, Duration, Datagram),
) -> Course<C::Answer> {
    let mut session = Session::new(query, SERVER, timing, start);
    let (mut log, mut requests) = (Vec::new(), Vec::new());
    let (mut now, mut calls) = (Duration::ZERO, 0);
    loop {
        let mut out = Vec::new();
        while session.poll_transmit(start + now, &mut out).is_some() {
            let bytes = std::mem::take(&mut out);
            let mut datagram = Datagram::new(CLIENT, SERVER, bytes.clone().into());
            datagram.reply = Some(Reply {
                run: 0,
                number: 0,
                request: requests.len() as u32,
            });
            requests.push((now, bytes));
            network.send(now, datagram, |bytes, _| bytes);
        }
        if let Some(result) = session.poll_answer() {
            return Course {
                result,
                log,
                requests,
                elapsed: now,
                calls,
            };
        }
        let alarm = session
            .poll_timeout()
            .unwrap()
            .saturating_duration_since(start);
        let told = unreachable.unwrap_or(Duration::MAX);
        now = network
            .next_arrival()
            .unwrap_or(Duration::MAX)
            .min(alarm)
            .min(told)
            .max(now);
        calls += 1;
        match network.arrive(now) {
            Some(datagram) if datagram.to == CLIENT => {
                session.handle_datagram(start + now, datagram.from, &datagram.bytes);
                log.push(datagram);
            }
            Some(datagram) => answer(network, now, datagram),
            None if told <= now => {
                *unreachable = None;
                network.count(Fault::Unreachable);
                session.handle_unreachable(start + now);
            }
            None => session.handle_timeout(start + now),
        }
    }
}

/// Runs a session of this family. `others` is a family whose replies other servers and attackers
/// send.
pub fn play(family: &Family, others: &Family, random: &mut Random, cut: &Cut) -> Played {
    let (rates, timing, nonce) = (Rates::random(random), timing(random), random.next());
    let (secret, key) = (random.next(), random.next());
    let start = Instant::now();
    let mut network = Network::new(rates, key, cut);
    if family.client.sibling.is_some() && family.client.protocol == Protocol::Quake3 {
        // Its datagrams have neither an id nor a challenge.
        network.rates.remove(Fault::WrongId);
    }
    let mut live = Live::new(&family.server, 0, secret, start);
    live.number = if random.chance(0.5) {
        GUESSED - 2
    } else {
        random.below(400)
    };
    if network.rates.earlier {
        // The earlier query was the first one to this server.
        live.handle(start, CLIENT, &first_request(&family.client));
    }
    injected(family, others, random, &mut network);
    let unreachable = network
        .rates
        .unreachable
        .then(|| Duration::from_millis(random.below(3000)));
    let mut is_untold = unreachable;
    let (mut run, mut number, mut replies) = (0, 0, Vec::new());
    let mut restarts = std::mem::take(&mut network.rates.restarts);
    let answer = |network: &mut Network<'_>, now: Duration, datagram: Datagram| {
        if restarts.first().is_some_and(|at| *at <= now) {
            restarts.remove(0);
            network.count(Fault::Restart);
            run += 1;
            let secret = network.random(u32::from(run), 1).next();
            live = Live::new(&family.server, live.moment, secret, start + now);
            live.change();
        }
        number += 1;
        let is_misasked = datagram.suspect.is_some();
        if is_misasked {
            network.count(Fault::ChangedRequest);
        }
        let is_calm = network.is_calm(datagram.index);
        let mut events = network.random(datagram.index, 2);
        if events.chance(network.rates.same_number) && !is_calm && number > 1 {
            network.blame(Fault::SameNumber, datagram.index);
        } else {
            live.number += 1 + events.below(3);
        }
        let reply = Reply {
            run,
            number,
            request: datagram.reply.map_or(0, |reply| reply.request),
        };
        let sent = live.handle(start + now, CLIENT, &datagram.bytes);
        for bytes in &sent {
            let mut datagram = Datagram::new(SERVER, CLIENT, bytes.clone());
            (datagram.reply, datagram.is_misasked) = (Some(reply), is_misasked);
            let protocol = family.client.protocol;
            network.send(now, datagram, |bytes, random| {
                with_wrong_id(protocol, bytes, random)
            });
        }
        replies.push((reply, sent));
        if events.chance(network.rates.change) && !is_calm {
            network.blame(Fault::Change, datagram.index);
            live.change();
        }
    };
    let query = family.client.query(nonce);
    let course = converse(query, (timing, start), &mut network, &mut is_untold, answer);
    Played {
        result: course.result,
        timing,
        nonce,
        log: course.log,
        replies,
        round_trip: network.rates.round_trip(),
        unreachable: unreachable.filter(|_| is_untold.is_none()),
        requests: course.requests,
        moment: live.moment,
        elapsed: course.elapsed,
        calls: course.calls,
        faults: network.counts,
        is_faultless: network.counts.iter().all(|count| *count == 0)
            && network.rates.jitter.is_zero(),
        faulty: network.faulty,
    }
}

fn first_request(client: &Client) -> Vec<u8> {
    let mut out = Vec::new();
    client.query(1).request(&mut out);
    out
}

/// Unsolicited datagrams for this session.
fn injected(family: &Family, others: &Family, random: &mut Random, network: &mut Network<'_>) {
    let put = |network: &mut Network<'_>, random: &mut Random, from, fault, bytes: Bytes| {
        let at = if random.chance(0.7) {
            random.below(300)
        } else {
            random.below(4000)
        };
        let (index, is_calm) = network.next_index();
        if is_calm {
            return;
        }
        network.blame(fault, index);
        let mut datagram = Datagram::new(from, CLIENT, bytes);
        (datagram.index, datagram.suspect) = (index, Some(fault));
        network.put(Duration::from_millis(at), datagram);
    };
    let some = |random: &mut Random, all: &[Bytes]| -> Vec<Bytes> {
        all.iter().filter(|_| random.chance(0.6)).cloned().collect()
    };
    let theirs = &others.moments[0].datagrams;
    if network.rates.earlier {
        for bytes in some(random, &family.moments[0].datagrams) {
            put(network, random, SERVER, Fault::EarlierReply, bytes);
        }
    }
    if network.rates.other_server {
        for bytes in some(random, theirs) {
            put(network, random, OTHER, Fault::OtherServer, bytes);
        }
    }
    if network.rates.liar {
        for mut bytes in some(random, theirs) {
            match (family.client.protocol, random.below(3)) {
                (Protocol::Quake3, 0) => bytes = with_challenge(&bytes, None),
                (Protocol::Quake3, 1) => bytes = with_challenge(&bytes, Some(b"")),
                (Protocol::GameSpy4, _) if bytes.len() > 5 => {
                    let id = (random.next() as u32 & 0x7F7F_7F7F).to_le_bytes();
                    bytes = [&bytes[..1], &id, &bytes[5..]].concat().into();
                }
                _ => {}
            }
            put(network, random, SERVER, Fault::Liar, bytes);
        }
    }
    if network.rates.noise {
        for _ in 0..1 + random.below(4) {
            let length = random.below(40) as usize;
            let mut bytes: Vec<u8> = (0..length).map(|_| random.next() as u8).collect();
            match random.below(4) {
                0 => bytes = first_request(&family.client),
                1 => bytes = Vec::new(),
                _ => {}
            }
            put(network, random, SERVER, Fault::Noise, bytes.into());
        }
    }
}

/// The datagram with another id, challenge, reply number or type.
fn with_wrong_id(protocol: Protocol, bytes: Bytes, random: &mut Random) -> Bytes {
    let mut bytes = bytes.to_vec();
    match protocol {
        Protocol::GameSpy4 if bytes.len() > 5 => {
            bytes[1 + random.below(4) as usize] ^= 1 << random.below(7);
        }
        Protocol::Quake3 => return with_challenge(&bytes, Some(b"another")),
        Protocol::Ut2004 if bytes.len() > 4 => bytes[4] = random.below(5) as u8,
        Protocol::GameSpy1 => {
            let key = br"\queryid\";
            let number = bytes
                .windows(key.len())
                .rposition(|window| window == key)
                .map(|at| at + key.len());
            let digit = number
                .and_then(|at| bytes.get_mut(at))
                .filter(|digit| digit.is_ascii_digit());
            if let Some(digit) = digit {
                *digit = b'0' + random.below(10) as u8;
            }
        }
        _ => {}
    }
    bytes.into()
}
