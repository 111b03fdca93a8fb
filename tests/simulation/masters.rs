//! Quake 3 answers without numbers or end: lists of a master in many datagrams, and answers to
//! rcon.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use bytes::Bytes;
use queryport::lists::{Quake3List, Scope};
use queryport::quake3::GetServers;
use queryport::quake3::{Password, RconError, RconMode, RconQuery};
use queryport::{Limits, Timing};

use crate::client::{CLIENT, SERVER};
use crate::common::link::Random;
use crate::judge::{Exception, Judgement};
use crate::network::{Datagram, Fault, Network, Rates, Reply};
use crate::play::{Course, converse};
use crate::shrink::Cut;

/// A session and its judgement.
pub struct Ended {
    pub judgement: Judgement,
    pub faults: [u32; Fault::ALL.len()],
    pub faulty: Vec<u32>,
}

/// The head of a datagram of a list.
const HEAD: &[u8] = b"\xff\xff\xff\xffgetserversResponse";
const END: &[u8] = b"\\EOT\0\0\0";

/// The replies of a server, each with the number of its request.
type Replies = Vec<(u32, Vec<Bytes>)>;

/// Runs a query against a server that answers every request with `reply`, which gets the number of
/// state changes.
fn run<C: queryport::session::Conversation>(
    query: C,
    timing: Timing,
    network: &mut Network<'_>,
    mut reply: impl FnMut(Duration, usize) -> Vec<Bytes>,
) -> (Course<C::Answer>, Replies) {
    let (mut number, mut moment, mut replies) = (0, 0, Vec::new());
    let answer = |network: &mut Network<'_>, now: Duration, datagram: Datagram| {
        number += 1;
        let request = datagram.reply.map_or(0, |reply| reply.request);
        let sent = if datagram.suspect.is_some() {
            Vec::new()
        } else {
            reply(now, moment)
        };
        for bytes in &sent {
            let mut datagram = Datagram::new(SERVER, CLIENT, bytes.clone());
            datagram.reply = Some(Reply {
                run: 0,
                number,
                request,
            });
            network.send(now, datagram, |bytes, _| bytes);
        }
        replies.push((request, sent));
        if network
            .random(datagram.index, 2)
            .chance(network.rates.change)
            && !network.is_calm(datagram.index)
        {
            network.blame(Fault::Change, datagram.index);
            moment += 1;
        }
    };
    let course = converse(query, (timing, Instant::now()), network, &mut None, answer);
    (course, replies)
}

/// Prints the course of a session, if it is to be shown.
fn tell<A: std::fmt::Debug>(tells: bool, course: &Course<A>, replies: &Replies) {
    if !tells {
        return;
    }
    let mut story = String::new();
    for (at, request) in &course.requests {
        story += &format!(
            "{:.6} > {:?}\n",
            at.as_secs_f64(),
            String::from_utf8_lossy(request)
        );
    }
    for (request, sent) in replies {
        let lengths: Vec<usize> = sent.iter().map(Bytes::len).collect();
        story += &format!("# request {request} was answered with {lengths:?}\n");
    }
    for datagram in &course.log {
        let text = String::from_utf8_lossy(&datagram.bytes);
        let of = (
            datagram.reply.map(|reply| (reply.request, reply.number)),
            datagram.suspect,
        );
        story += &format!("{:.6} < {of:?} {text:?}\n", datagram.at.as_secs_f64());
    }
    println!("{story}{:?}", course.result);
}

fn exceeded<A>(course: &Course<A>, timing: Timing) -> Option<Judgement> {
    let most = usize::from(timing.max_steps()) * (1 + usize::from(timing.retries()));
    let problem = match () {
        () if course.requests.len() > most => {
            format!("{} requests of {most}", course.requests.len())
        }
        () if course.elapsed > timing.timeout() => {
            format!("{:?} of {:?}", course.elapsed, timing.timeout())
        }
        () => return None,
    };
    Some(Judgement::Wrong(problem))
}

/// Whether only servers sent datagrams, all unchanged.
fn is_clean<A>(course: &Course<A>) -> bool {
    course.log.iter().all(|datagram| datagram.suspect.is_none())
}

fn server(number: u64) -> SocketAddr {
    let mixed = (number as u32).wrapping_mul(2_654_435_761);
    // Any byte of an address can equal a separator.
    let address = Ipv4Addr::from_bits(0x0B00_0000 | mixed & 0x00FF_FFFF);
    (
        address,
        if number.is_multiple_of(7) {
            0x5C5C
        } else {
            27_960
        },
    )
        .into()
}

fn list(servers: &[SocketAddr], per_datagram: usize, has_end: bool) -> Vec<Bytes> {
    let entry = |server: &SocketAddr| {
        let SocketAddr::V4(server) = server else {
            panic!("IPv4 alone")
        };
        [
            b"\\",
            &server.ip().octets()[..],
            &server.port().to_be_bytes(),
        ]
        .concat()
    };
    let mut parts: Vec<Vec<u8>> = servers
        .chunks(per_datagram)
        .map(|some| [HEAD, &some.iter().flat_map(entry).collect::<Vec<u8>>()].concat())
        .collect();
    if parts.is_empty() {
        parts.push(HEAD.to_vec());
    }
    if has_end {
        parts.last_mut().unwrap().extend_from_slice(END);
    }
    parts.into_iter().map(Bytes::from).collect()
}

/// The servers listed in a datagram.
fn listed(datagram: &[u8]) -> Vec<SocketAddr> {
    let rest = datagram.strip_prefix(HEAD).unwrap_or_default();
    let entries = rest
        .chunks_exact(7)
        .take_while(|entry| entry[0] == b'\\' && *entry != END);
    entries
        .map(|entry| {
            let address: [u8; 4] = entry[1..5].try_into().unwrap();
            (address, u16::from_be_bytes([entry[5], entry[6]])).into()
        })
        .collect()
}

/// Sorted, without repetitions.
fn sorted<T: Ord>(mut all: Vec<T>) -> Vec<T> {
    all.sort_unstable();
    all.dedup();
    all
}

/// Simulates the list of a master over a bad network.
pub fn master(random: &mut Random, cut: &Cut, tells: bool) -> Ended {
    let (mut rates, key) = (Rates::random(random), random.next());
    (rates.restarts, rates.unreachable) = (Vec::new(), false);
    let (count, per_datagram) = (
        cut.few_players(random.below(300) as usize),
        5 + random.below(60) as usize,
    );
    let (has_end, is_limited) = (random.chance(0.7), random.chance(0.3));
    let first = random.below(100_000);
    let moments: Vec<Vec<SocketAddr>> = (0..4)
        .scan(first..first + count as u64, |servers, _| {
            let now = servers.clone().map(server).collect();
            *servers = servers.start + random.below(3)..servers.end + random.below(3);
            Some(now)
        })
        .collect();
    let passes = [1, 2, 2, 2, 3, 8][random.below(6) as usize];
    let timing = match random.below(3) {
        0 => Timing::default(),
        1 => Timing::default().with_timeout(Duration::from_secs(30)),
        _ => Timing::default()
            .with_timeout(Duration::from_secs(9))
            .with_retries(5),
    };
    let request = GetServers {
        empty: true,
        full: true,
        ..GetServers::new(68)
    };
    let query = Quake3List::new(&request, &Limits::default())
        .unwrap()
        .with_passes(passes)
        .with_scope(Scope::Any);
    let mut network = Network::new(rates, key, cut);
    let (mut last, mut answered) = (0, 0_u64);
    let (course, replies) = run(query, timing, &mut network, |now, moment| {
        // dpmaster answers four requests in a row, then one every three seconds.
        answered += 1;
        if is_limited && answered > 4 + now.as_secs() / 3 {
            return Vec::new();
        }
        last = moment.min(moments.len() - 1);
        list(&moments[last], per_datagram, has_end)
    });
    let judgement = judge_list(&course, &replies, &moments[..=last], timing);
    tell(tells, &course, &replies);
    Ended {
        judgement,
        faults: network.counts,
        faulty: network.faulty,
    }
}

fn judge_list(
    course: &Course<queryport::ServerList>,
    replies: &Replies,
    moments: &[Vec<SocketAddr>],
    timing: Timing,
) -> Judgement {
    if let Some(wrong) = exceeded(course, timing) {
        return wrong;
    }
    let Ok(outcome) = &course.result else {
        return Judgement::Failed("no answer");
    };
    let wrong = |reason: &str| Judgement::Wrong(reason.to_owned());
    let got = sorted(outcome.answer.servers.clone());
    // The log ends with the datagram that ended the query, which can arrive at the deadline.
    let log = course.log.iter();
    let lists: Vec<Vec<SocketAddr>> = log.map(|datagram| listed(&datagram.bytes)).collect();
    if got.len() != outcome.answer.servers.len() {
        return wrong("a server is listed twice");
    }
    if outcome.answer.completeness.is_complete() {
        return wrong("a list over UDP is called complete");
    }
    if !is_clean(course) {
        return Judgement::Incomplete;
    }
    if got != sorted(lists.iter().flatten().copied().collect()) {
        return wrong("the list is not what arrived");
    }
    if !outcome.answer.completeness.is_settled() {
        return Judgement::Incomplete;
    }
    // Requests divide the received datagrams into passes. Within a pass, a server counts once.
    let pass = |at: Duration| {
        course
            .requests
            .iter()
            .filter(|(sent, _)| *sent <= at)
            .count()
    };
    let came = course
        .log
        .iter()
        .zip(&lists)
        .flat_map(|(datagram, servers)| {
            let pass = pass(datagram.at);
            servers.iter().map(move |server| (*server, pass))
        });
    let came = sorted(came.collect());
    if came
        .chunk_by(|one, other| one.0 == other.0)
        .any(|passes| passes.len() < 2)
    {
        return wrong("settled, and a server came in one pass alone");
    }
    let stays = |server: &&SocketAddr| {
        got.binary_search(server).is_err() && moments.iter().all(|moment| moment.contains(server))
    };
    let Some(missing) = moments[0].iter().find(stays) else {
        return Judgement::Right;
    };
    let is_lost = |(request, sent): &&(u32, Vec<Bytes>)| {
        let is_missing = sent.iter().any(|bytes| listed(bytes).contains(missing));
        let of_request = |datagram: &Datagram| {
            datagram
                .reply
                .is_some_and(|reply| reply.request == *request)
        };
        is_missing && course.log.iter().any(of_request)
    };
    let lost: BTreeSet<u32> = replies
        .iter()
        .filter(is_lost)
        .map(|(request, _)| *request)
        .collect();
    Judgement::Excepted(match lost.len() {
        0 | 1 => Exception::LatePass,
        _ => Exception::LostFromEveryPass,
    })
}

const PIECE: &[u8] = b"\xff\xff\xff\xffprint\n";
const BAD: &[u8] = b"Bad rconpassword.\n";

/// Simulates a console command whose output comes in pieces.
pub fn rcon(random: &mut Random, cut: &Cut, tells: bool) -> Ended {
    let (mut rates, key) = (Rates::random(random), random.next());
    (rates.restarts, rates.unreachable) = (Vec::new(), false);
    let count =
        cut.few_players([1, random.below(4), random.below(40)][random.below(3) as usize] as usize);
    let length = [20, 240, 1007][random.below(3) as usize];
    let tag = random.below(0xFFFF);
    let is_bad = random.chance(0.05);
    let odd = random.below(40) as usize;
    // A player's text can be a whole piece, and look like the server's refusal.
    let piece = |number: usize, moment: usize| match number {
        number if number == odd && number > 0 && !cut.is_plain => BAD.to_vec(),
        _ => format!(
            "line {number} of {tag:x} at {moment}{}\n",
            " with more".repeat(length / 10)
        )
        .into_bytes(),
    };
    let pieces = move |moment: usize| -> Vec<Vec<u8>> {
        match (is_bad, count) {
            (true, _) => vec![BAD.to_vec()],
            (_, 0) => vec![Vec::new()],
            _ => (0..count).map(|number| piece(number, moment)).collect(),
        }
    };
    let is_repeatable = random.chance(0.3);
    let timing = match random.below(3) {
        0 => Timing::default().with_quiet(Duration::from_millis(50 + random.below(1000))),
        1 => Timing::default().with_timeout(Duration::from_millis(500 + random.below(2000))),
        _ => Timing::default(),
    };
    let mut query = RconQuery::new(
        Password::new("secret"),
        "status",
        RconMode::Plain,
        &Limits::default(),
    )
    .unwrap();
    if is_repeatable {
        query = query.repeatable();
    }
    let mut network = Network::new(rates, key, cut);
    let reply = |moment| {
        pieces(moment)
            .iter()
            .map(|text| [PIECE, text].concat().into())
            .collect()
    };
    let (course, replies) = run(query, timing, &mut network, |_, moment| reply(moment));
    let judgement = match exceeded(&course, timing) {
        Some(wrong) => wrong,
        None if !is_repeatable && course.requests.len() > 1 => {
            Judgement::Wrong("the command was sent again".to_owned())
        }
        None => judge_console(&course, &replies, timing, is_bad),
    };
    tell(tells, &course, &replies);
    Ended {
        judgement,
        faults: network.counts,
        faulty: network.faulty,
    }
}

fn judge_console(
    course: &Course<Result<queryport::quake3::RconAnswer, RconError>>,
    replies: &Replies,
    timing: Timing,
    is_bad: bool,
) -> Judgement {
    let Ok(outcome) = &course.result else {
        return Judgement::Failed("no answer");
    };
    if !is_clean(course) {
        return Judgement::Incomplete;
    }
    let wrong = |reason: &str| Judgement::Wrong(reason.to_owned());
    let bodies: Vec<&[u8]> = course
        .log
        .iter()
        .filter_map(|datagram| datagram.bytes.strip_prefix(PIECE))
        .collect();
    let answer = match &outcome.answer {
        Err(RconError::BadPassword) if is_bad => return Judgement::Right,
        // The rest was reordered or lost.
        Err(RconError::BadPassword) if bodies == [BAD] => {
            return Judgement::Excepted(Exception::PiecesOfConsole);
        }
        Err(error) => return Judgement::Wrong(format!("{error} after {} pieces", bodies.len())),
        Ok(answer) => answer,
    };
    let is_whole =
        answer.text.raw() == bodies.concat() && usize::from(answer.datagrams) == bodies.len();
    let last = course
        .log
        .last()
        .map_or(Duration::ZERO, |datagram| datagram.at);
    if !is_whole && !answer.is_cut {
        return wrong("the text is not what arrived");
    }
    if !answer.is_cut && course.elapsed - last < timing.quiet() {
        return wrong("the server was still sending");
    }
    let is_right = replies.iter().any(|(_, sent)| {
        sent.len() == bodies.len()
            && sent
                .iter()
                .zip(&bodies)
                .all(|(sent, body)| sent.strip_prefix(PIECE) == Some(body))
    });
    match is_right && !answer.is_cut {
        true => Judgement::Right,
        false if answer.is_cut => Judgement::Incomplete,
        false => Judgement::Excepted(Exception::PiecesOfConsole),
    }
}
