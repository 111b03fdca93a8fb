//! Plays an attacker against a responder with the default guard, in virtual time.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::{Duration, Instant};

use queryport::Secret;
use queryport::serve::{GuardOptions, Responder};
use queryport::session::Machine;

use super::genes::{Attacker, Figures, Gene, Random};
use super::subjects::{Request, Subject};
use crate::serve::flood::status;

/// The parameters of an attacker. It prepares (each of its first sources, `rounds` times, `gap`
/// seconds apart), waits, and floods these sources. After every `every` requests of the flood it
/// sends `evict` requests, each from a new source.
pub(crate) const GENES: &[Gene] = &[
    // Addresses: 0 IPv4, 1 IPv6, 2 IPv4 mapped to IPv6; how many, in how many networks; 1: each
    // request from another port.
    ("form", 0, 2),
    ("sources", 1, 65_536),
    ("networks", 1, 65_536),
    ("ports", 0, 1),
    // The preparation: 1 all of a round at once, 0 evenly over the gap.
    ("rounds", 0, 8),
    ("gap", 1, 64),
    ("prepare", 0, 15),
    ("prepared", 1, 65_536),
    ("at_once", 0, 1),
    ("pause", 0, 600),
    // The flood: requests per second, their kind, their order (0 in turn, 1 at random), how many in
    // a row; seconds on and off.
    ("rate", 16, 20_000),
    ("request", 0, 15),
    ("order", 0, 1),
    ("row", 1, 4_096),
    ("on", 1, 64),
    ("off", 0, 64),
    // The other sources: 0 anywhere, 1 in the networks above.
    ("evict", 0, 8_192),
    ("every", 1, 4_096),
    ("evict_request", 0, 15),
    ("near", 0, 1),
    // Whose addresses: 0 nobody's, 1 neighbours of the regular clients, 2 the regular clients', 3
    // the attacker's own, proved with a challenge.
    ("names", 0, 3),
];

/// The figures of an attacker, beyond the bursts and one reply: bytes to one address for each
/// forged byte, KiB/s, and shares of honest requests. Only the first have a bar, see the
/// documentation of `GuardOptions`.
pub(crate) const NAMES: [&str; 10] = [
    "one address, out/in",
    "one address, KiB/s",
    "one network, KiB/s",
    "all, KiB/s",
    "regular unanswered",
    "new unanswered",
    "regular unanswered, flood from their networks",
    "regular unanswered, flood in their names",
    "regular unanswered, flood from proved addresses",
    "all, flood from proved addresses, KiB/s",
];
pub(crate) const BARS: [f64; 5] = [0.2, 8.0, 32.0, 1024.0, 0.05];

/// The smallest flood, in bytes per second, whose amplification is measured. For a smaller one, the
/// rate of one source alone exceeds 0.2.
const VOLUME: f64 = 40.0 * 1024.0;

/// How requests reach a responder.
pub(crate) trait Wire {
    /// Passes a request on, and its replies to `sent`.
    fn ask(&mut self, now: Instant, from: SocketAddr, request: &[u8], sent: &mut impl FnMut(&[u8]));
}

pub(crate) fn responder(subject: &Subject, start: Instant) -> Responder {
    Responder::new(
        subject.service.clone(),
        status(),
        Secret::new([5; 16]),
        start,
    )
}

/// Without a network between.
impl Wire for Responder {
    fn ask(
        &mut self,
        now: Instant,
        from: SocketAddr,
        request: &[u8],
        sent: &mut impl FnMut(&[u8]),
    ) {
        self.handle_datagram(now, from, request);
        let mut reply = Vec::new();
        while let Some(transmit) = self.poll_transmit(now, &mut reply) {
            assert_eq!(transmit.to, from);
            sent(&reply);
            reply.clear();
        }
    }
}

/// The bytes that went to each source and network, and to all.
#[derive(Default)]
struct Meter {
    sources: HashMap<IpAddr, u64>,
    networks: HashMap<IpAddr, u64>,
    all: u64,
    largest: u64,
}

impl Meter {
    fn add(&mut self, to: IpAddr, bytes: u64) {
        let (source, network) = match to.to_canonical() {
            IpAddr::V4(v4) => (v4.into(), Ipv4Addr::from_bits(v4.to_bits() & !0xFF).into()),
            IpAddr::V6(v6) => {
                let masked = |bits: u32| Ipv6Addr::from_bits(v6.to_bits() >> bits << bits).into();
                (masked(64), masked(80))
            }
        };
        *self.sources.entry(source).or_default() += bytes;
        *self.networks.entry(network).or_default() += bytes;
        self.largest = self.largest.max(bytes);
    }

    /// The largest bytes a second beyond a burst and one reply.
    fn worst(&self, of: &HashMap<IpAddr, u64>, burst: u64, seconds: f64) -> f64 {
        beyond(
            of.values().copied().max().unwrap_or_default(),
            burst + self.largest,
            seconds,
        )
    }
}

fn beyond(bytes: u64, burst: u64, seconds: f64) -> f64 {
    bytes.saturating_sub(burst) as f64 / seconds / 1024.0
}

/// A client that asks for the whole status at its own interval.
struct Client {
    at: SocketAddr,
    interval: Duration,
    next: Instant,
    asked: u32,
    answered: u32,
}

/// Twenty clients in networks of their own, of both address families.
fn clients(network: u8, start: Instant) -> Vec<Client> {
    let intervals = [
        1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 3, 3, 5, 5, 8, 10, 15, 30, 60,
    ];
    let client = |(n, interval): (usize, u64)| {
        let at = if n % 3 == 2 {
            SocketAddr::from((
                Ipv6Addr::new(0x2001, 0xdb8, network.into(), n as u16, 0, 0, 0, 7),
                27960,
            ))
        } else {
            SocketAddr::from((
                Ipv4Addr::new(198, 51, network + n as u8, 1 + n as u8 * 5),
                27960,
            ))
        };
        let next = start + Duration::from_millis(interval * 50 * (n as u64 % 20) + 13);
        Client {
            at,
            interval: Duration::from_secs(interval),
            next,
            asked: 0,
            answered: 0,
        }
    };
    intervals.into_iter().enumerate().map(client).collect()
}

/// One run: the responder and its wire, the honest clients, and the datagrams sent.
struct Play<'a, W> {
    wire: &'a mut W,
    subject: &'a Subject,
    clients: Vec<Client>,
    /// When the next client asks.
    next: Instant,
    meter: Meter,
    buffer: Vec<u8>,
    number: u32,
}

impl<W: Wire> Play<'_, W> {
    /// Asks as a client does.
    fn query(&mut self, now: Instant, from: SocketAddr) -> bool {
        self.number = self.number.wrapping_add(1);
        let Self {
            wire,
            subject,
            meter,
            ..
        } = self;
        subject.query(self.number, |request| {
            let mut last = Vec::new();
            wire.ask(now, from, request, &mut |reply| {
                meter.all += reply.len() as u64;
                // A client with a proved address is not a victim.
                if !subject.is_gamespy4() {
                    meter.add(from.ip(), reply.len() as u64);
                }
                last = reply.to_vec();
            });
            last
        })
    }

    /// Lets the honest clients ask until this moment.
    fn honest_until(&mut self, now: Instant) {
        while self.next <= now {
            for index in 0..self.clients.len() {
                let Client { at, next, .. } = self.clients[index];
                if next <= self.next {
                    let is_answered = self.query(next, at);
                    let client = &mut self.clients[index];
                    client.next += client.interval;
                    client.asked += 1;
                    client.answered += u32::from(is_answered);
                }
            }
            self.next = self
                .clients
                .iter()
                .map(|client| client.next)
                .min()
                .unwrap_or(now);
        }
    }

    /// A forged request.
    fn forged(&mut self, now: Instant, from: SocketAddr, request: &Request) {
        if self.next <= now {
            self.honest_until(now);
        }
        self.number = self.number.wrapping_add(1);
        request.write(self.number, &mut self.buffer);
        let mut bytes = 0;
        self.wire.ask(now, from, &self.buffer, &mut |reply| {
            bytes += reply.len() as u64;
        });
        if bytes > 0 {
            self.meter.all += bytes;
            self.meter.add(from.ip(), bytes);
        }
    }
}

/// The networks that an attacker's sources are in. A /24 has 254 hosts.
pub(crate) fn networks(attacker: &Attacker) -> u32 {
    let (form, sources) = (attacker.get("form"), attacker.get("sources"));
    attacker
        .get("networks")
        .clamp(if form == 1 { 1 } else { sources.div_ceil(254) }, sources)
}

/// The address of this number, in one of `networks` networks.
pub(crate) fn address(form: u32, number: u32, networks: u32, port: u16) -> SocketAddr {
    let (network, host) = (number % networks, number / networks);
    let v4 = Ipv4Addr::from_bits(11 << 24 | network << 8 | (1 + host % 254));
    let ip = match form {
        0 => v4.into(),
        1 => {
            let network = 0x2A01_0000_0000 + u128::from(network);
            Ipv6Addr::from_bits(network << 80 | u128::from(host) << 64 | u128::from(port)).into()
        }
        _ => v4.to_ipv6_mapped().into(),
    };
    SocketAddr::new(ip, port)
}

/// Plays a flood of this many seconds. It is shorter, but at least two seconds, if it would exceed
/// `packets`.
pub(crate) fn play<W: Wire>(
    wire: &mut W,
    start: Instant,
    (subject, attacker): (&Subject, &Attacker),
    (seconds, packets): (u32, u32),
) -> Figures {
    let get = |name| attacker.get(name);
    let request = |name| &subject.requests[get(name) as usize % subject.requests.len()];
    let (form, sources, networks) = (get("form"), get("sources"), networks(attacker));
    let mut random = Random(7);
    let regular: Vec<SocketAddr> = clients(0, start).iter().map(|client| client.at).collect();
    let (regulars, meter, buffer) = (clients(0, start), Meter::default(), Vec::new());
    let mut play = Play {
        wire,
        subject,
        clients: regulars,
        next: start,
        meter,
        buffer,
        number: 0,
    };
    let mut now = start + Duration::from_secs(300);
    play.honest_until(now);

    let (has_ports, names) = (get("ports") == 1, get("names"));
    let from = |number: u32, networks: u32, random: &mut Random| {
        let port = if has_ports {
            1024 + random.below(60_000) as u16
        } else {
            27_960
        };
        let client = regular[number as usize % regular.len()].ip();
        match (names, client) {
            // A neighbour in the /24 or /48.
            (1, IpAddr::V4(v4)) => {
                let host = number / 20 % 200 + 200;
                (
                    Ipv4Addr::from_bits((v4.to_bits() & !0xFF) | (host % 256)),
                    port,
                )
                    .into()
            }
            (1, IpAddr::V6(v6)) => {
                let subnet = u128::from(number + 256) << 64;
                (Ipv6Addr::from_bits(v6.to_bits() >> 80 << 80 | subnet), port).into()
            }
            (2, ip) => SocketAddr::new(ip, port),
            _ => address(form, number, networks, port),
        }
    };
    let fastest = Duration::from_secs(1) / 20_000;
    let prepared = get("prepared").min(sources);
    for _ in 0..get("rounds") {
        let gap = Duration::from_secs(get("gap").into());
        let step = if get("at_once") == 1 {
            fastest
        } else {
            (gap / prepared).max(fastest)
        };
        for number in 0..prepared {
            play.forged(
                now + step * number,
                from(number, networks, &mut random),
                request("prepare"),
            );
        }
        now += gap.max(step * prepared);
    }
    now += Duration::from_secs(get("pause").into());
    play.honest_until(now);

    // The flood.
    play.meter = Meter::default();
    play.clients
        .iter_mut()
        .for_each(|client| (client.asked, client.answered) = (0, 0));
    play.clients.extend(clients(100, now));
    let (rate, on, off, every) = (get("rate"), get("on"), get("off"), get("every"));
    let pace = rate * on / (on + off);
    let seconds = seconds.min((packets / pace.max(1)).max(2));
    let end = now + Duration::from_secs(seconds.into());
    let (mut sent, mut bytes_in, mut turn) = (0_u32, 0_u64, 0_u32);
    let (flood, evicting) = (request("request"), request("evict_request"));
    let is_proved = names == 3 && subject.is_gamespy4();
    let (row, evict) = (get("row"), get("evict"));
    let (is_random, is_near) = (get("order") == 1, get("near") == 1);
    let step = Duration::from_secs(1) / rate;
    loop {
        let second = sent / rate;
        let at = now
            + Duration::from_secs((second / on * (on + off) + second % on).into())
            + step * (sent % rate);
        if at >= end {
            break;
        }
        let place = sent % (every + evict);
        if place < every {
            let number = if is_random {
                random.below(sources)
            } else {
                turn / row % sources
            };
            let from = from(number, networks, &mut random);
            if is_proved {
                play.honest_until(at);
                play.query(at, from);
            } else {
                play.forged(at, from, flood);
            }
            bytes_in += flood.len();
            turn = turn.wrapping_add(1);
        } else {
            let networks = if is_near { networks } else { 65_536 };
            let number = random.below(networks) + networks * random.below(65_536 - 1);
            play.forged(at, from(number, networks, &mut random), evicting);
            bytes_in += evicting.len();
        }
        sent += 1;
    }
    play.honest_until(end);

    let guard = GuardOptions::default();
    let (burst, seconds) = (u64::from(guard.burst), f64::from(seconds));
    let meter = &play.meter;
    let address = meter.worst(&meter.sources, burst, seconds);
    let network = meter.worst(&meter.networks, 4 * burst, seconds);
    let unanswered = |clients: &[Client]| {
        let shares = clients.iter().filter(|client| client.asked > 0);
        let shares =
            shares.map(|client| 1.0 - f64::from(client.answered) / f64::from(client.asked));
        let (count, sum) =
            shares.fold((0.0, 0.0), |(count, sum), share| (count + 1.0, sum + share));
        sum / count
    };
    let total_burst = u64::from(guard.total_bytes_per_second) / 4;
    let all = beyond(meter.all, total_burst + 2 * meter.largest, seconds);
    let (old, new) = play.clients.split_at(regular.len());
    let lost = unanswered(old);
    let mut figures = vec![0.0; NAMES.len()];
    if is_proved {
        figures[8..].copy_from_slice(&[lost, all]);
    } else {
        let ratio = address * 1024.0 * seconds / (bytes_in as f64).max(VOLUME * seconds);
        figures[..4].copy_from_slice(&[ratio, address, network, all]);
        match names {
            1 => figures[6] = lost,
            2 => figures[7] = lost,
            _ => figures[4..6].copy_from_slice(&[lost, unanswered(new)]),
        }
    }
    Figures {
        figures,
        answered: 1.0 - lost,
        packets: sent.into(),
        bytes_in,
        bytes_out: meter.all,
    }
}
