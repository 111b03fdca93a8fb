//! Floods of requests with forged sender addresses and the default guard, in virtual time.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::{Duration, Instant};

use queryport::serve::{GuardOptions, Responder};
use queryport::session::Machine;
use queryport::{Format, Player, Protocol, Secret, ServerStatus, Service};

/// Forged requests a second.
const RATE: u32 = 5_000;

/// The length of each flood, the first second included, which may be the worst.
const SECONDS: u32 = 2;

/// A server of 24 players and 40 rules.
pub(crate) fn status() -> ServerStatus {
    let mut status = ServerStatus::default();
    status.name = Some("A server with a usual name".into());
    status.map = Some("q3dm17".into());
    status.max_players = Some(32);
    let players = (0..24)
        .map(|n| Player::new(format!("Player number {n}")))
        .collect::<Vec<_>>();
    status.player_count = Some(24);
    status.players = players.into();
    status.rules = (0..40)
        .map(|n| (format!("sv_rule{n}"), "value of a rule"))
        .collect();
    status
}

/// The target of a flood: a name, the service, and the request with the largest reply that a client
/// can get without a proof. The request is also a client's full query.
type Subject = (&'static str, Service, &'static [u8]);

fn subjects() -> [Subject; 5] {
    let gamespy2 = Service::new(Format::GameSpy2);
    [
        ("GameSpy v1", Protocol::GameSpy1.into(), br"\status\"),
        (
            "GameSpy v4",
            Protocol::GameSpy4.into(),
            b"\xfe\xfd\x09\x01\x02\x03\x04",
        ),
        (
            "GameSpy v2",
            gamespy2,
            b"\xfe\xfd\0\x01\x02\x03\x04\xff\xff\xff",
        ),
        (
            "Quake 3",
            Protocol::Quake3.into(),
            b"\xff\xff\xff\xffgetstatus",
        ),
        ("UT2004", Protocol::Ut2004.into(), b"\x79\0\0\0\x03"),
    ]
}

/// A target with replies of several datagrams. They are charged for as in the other protocols, as
/// [`one_victim_gets_less_than_was_sent`] shows.
fn ut2004() -> Subject {
    let [.., subject] = subjects();
    subject
}

/// The result of a flood.
struct Flood {
    /// Bytes out in the worst second after the first, which has the burst.
    worst_second: u64,
    /// Bytes to the source that got most.
    to_one: u64,
    /// Bytes out in all seconds.
    bytes_out: u64,
    bytes_in: u64,
    /// Queries of honest clients and how many were answered: regular before the flood, and new in
    /// it.
    regular: (u32, u32),
    new: (u32, u32),
}

/// Floods a responder from the addresses that `forged` names, while 20 regular clients and 20 new
/// ones ask once a second. The first `prepared` addresses asked every 20 s in the minute before,
/// after the regular clients.
fn flood(
    (name, service, request): Subject,
    prepared: u32,
    forged: &dyn Fn(u32) -> SocketAddr,
) -> Flood {
    let start = Instant::now();
    let mut responder = Responder::new(service, status(), Secret::new([5; 16]), start);
    let mut out = Vec::new();
    let mut ask = |responder: &mut Responder, now, from| {
        responder.handle_datagram(now, from, request);
        let mut bytes = 0;
        while responder.poll_transmit(now, &mut out).is_some() {
            bytes += out.len() as u64;
            out.clear();
        }
        bytes
    };
    let client = |network: u8, n: u32| {
        SocketAddr::from((Ipv4Addr::new(198, 51, network, 1 + n as u8 * 5), 27960))
    };
    // Regular clients become known in these two minutes.
    for second in 0..120 {
        for n in 0..20 {
            let now =
                start + Duration::from_secs(second) + Duration::from_millis(u64::from(n) * 50);
            assert!(
                ask(&mut responder, now, client(n as u8, n)) > 0,
                "{name}: no flood, no limit"
            );
        }
        for n in (0..prepared).filter(|n| second >= 60 && u64::from(n % 20) == second % 20) {
            let now = start + Duration::from_secs(second) + Duration::from_secs(1) * n / prepared;
            ask(&mut responder, now, forged(n));
        }
    }
    let start = start + Duration::from_secs(120);
    let mut flood = Flood {
        worst_second: 0,
        to_one: 0,
        bytes_out: 0,
        bytes_in: 0,
        regular: (0, 0),
        new: (0, 0),
    };
    let mut to_source: HashMap<IpAddr, u64> = HashMap::new();
    for second in 0..SECONDS {
        let mut bytes_of_second = 0;
        for n in 0..RATE {
            let now =
                start + Duration::from_secs(second.into()) + Duration::from_secs(1) * n / RATE;
            let source = forged(second * RATE + n);
            let bytes = ask(&mut responder, now, source);
            *to_source.entry(source.ip().to_canonical()).or_default() += bytes;
            bytes_of_second += bytes;
            flood.bytes_in += request.len() as u64;
            // Honest clients ask between two requests of the flood.
            if n % 251 == (second * 7) % 251 {
                let number = n / 251;
                let now = now + Duration::from_micros(u64::from(second * 37 + n) % 100);
                for (counts, from) in [
                    (&mut flood.regular, client(number as u8, number)),
                    (&mut flood.new, client(100 + number as u8, number)),
                ] {
                    if number < 20 {
                        counts.0 += 1;
                        counts.1 += u32::from(ask(&mut responder, now, from) > 0);
                    }
                }
            }
        }
        flood.bytes_out += bytes_of_second;
        if second > 0 {
            flood.worst_second = flood.worst_second.max(bytes_of_second);
        }
    }
    flood.to_one = to_source.into_values().max().unwrap_or_default();
    println!(
        "{name}: {:.3} bytes out for each byte in, {} KiB in the worst second, answered: {}/{} regular, {}/{} new",
        flood.bytes_out as f64 / flood.bytes_in as f64,
        flood.worst_second / 1024,
        flood.regular.1,
        flood.regular.0,
        flood.new.1,
        flood.new.0
    );
    flood
}

/// Honest clients asked nearly every second, and at least this many percent were answered.
fn check_answered(name: &str, (asked, answered): (u32, u32), percent: u32) {
    assert!(
        asked > SECONDS * 18 && answered * 100 >= asked * percent,
        "{name}: {answered} of {asked}"
    );
}

#[test]
fn one_victim_gets_less_than_was_sent() {
    for subject in subjects() {
        let name = subject.0;
        let flood = flood(subject, 0, &|n| {
            SocketAddr::from(([203, 0, 113, 9], n as u16 | 1))
        });
        let sent_a_second = flood.bytes_in / u64::from(SECONDS);
        assert!(
            flood.worst_second < sent_a_second,
            "{name}: {} of {sent_a_second}",
            flood.worst_second
        );
        check_answered(name, flood.regular, 99);
        check_answered(name, flood.new, 99);
    }
}

#[test]
fn many_forged_addresses_stay_below_the_total() {
    let total = u64::from(GuardOptions::default().total_bytes_per_second);
    let [.., quake3, ut2004] = subjects();
    for subject in [quake3, ut2004] {
        let name = subject.0;
        // 65,536 addresses of one /16, in a scattered order, which is hard for tables.
        let flood = flood(subject, 0, &|n| {
            let [_, _, a, b] = n.wrapping_mul(40_503).to_be_bytes();
            SocketAddr::from(([10, 7, a, b], 27960))
        });
        assert!(
            flood.worst_second <= total,
            "{name}: {} of {total}",
            flood.worst_second
        );
        check_answered(name, flood.regular, 90);
        assert!(flood.new.1 > 0, "{name}: new clients have a share");
    }
}

#[test]
fn addresses_of_one_network_share_its_bound() {
    let subject = ut2004();
    let name = subject.0;
    let flood = flood(subject, 128, &|n| {
        SocketAddr::from(([203, 0, 113, (n % 128) as u8], 27960))
    });
    let bound = (256 << 10) + u64::from(SECONDS) * (32 << 10) + (16 << 10);
    assert!(
        flood.bytes_out <= bound,
        "{name}: {} bytes, {bound} at most",
        flood.bytes_out
    );
    check_answered(name, flood.regular, 99);
    check_answered(name, flood.new, 95);
}

#[test]
fn forged_regulars_take_nothing_from_older_clients() {
    let total = u64::from(GuardOptions::default().total_bytes_per_second);
    let subject = ut2004();
    let name = subject.0;
    let flood = flood(subject, 2048, &|n| {
        SocketAddr::from(([10, 7 + (n % 8) as u8, (n / 8 % 256) as u8, 9], 27960))
    });
    assert!(
        flood.worst_second <= total,
        "{name}: {} of {total}",
        flood.worst_second
    );
    check_answered(name, flood.regular, 99);
}

/// What a source gets at most: a burst, then 8 KiB a second, and the reply that exceeds them.
fn bound_of_a_source() -> u64 {
    (64 << 10) + u64::from(SECONDS) * (8 << 10) + (16 << 10)
}

/// New sources after each few requests would make a table forget the victim.
#[test]
fn new_sources_do_not_reset_the_bound_of_a_victim() {
    let victim = SocketAddr::from(([203, 0, 113, 9], 27960));
    let scattered = |n: u32| u128::from(n.wrapping_mul(2_654_435_761));
    let subject = ut2004();
    let name = subject.0;
    let evicting = flood(subject, 0, &|n| match n % 43 {
        0 => victim,
        _ => (Ipv6Addr::from_bits(0x2A01 << 112 | scattered(n) << 80), 9).into(),
    });
    assert!(
        evicting.to_one <= bound_of_a_source(),
        "{name}: {}",
        evicting.to_one
    );
    check_answered(name, evicting.regular, 90);
}

/// Sources of one /48 that asked before as regular clients do.
#[test]
fn regular_sources_of_one_network_share_its_bound() {
    let subject = ut2004();
    let name = subject.0;
    let regular = flood(subject, 900, &|n| {
        let subnet = u128::from(n % 900) << 64;
        (Ipv6Addr::from_bits(0x2A01 << 112 | subnet | 7), 9).into()
    });
    let of_network = 4 * bound_of_a_source();
    assert!(
        regular.bytes_out <= of_network,
        "{name}: {}",
        regular.bytes_out
    );
    check_answered(name, regular.regular, 99);
}

/// Lists of keys that differ each time have short replies, each of which is encoded: they must be
/// few.
#[test]
fn requests_that_always_differ_get_few_replies() {
    let start = Instant::now();
    let mut responder = Responder::new(Format::GameSpy2, status(), Secret::new([5; 16]), start);
    let seconds = 3;
    for n in 0..seconds * RATE {
        let now = start + Duration::from_secs(1) * n / RATE;
        let [_, _, a, b] = n.wrapping_mul(40_503).to_be_bytes();
        let ids = [1 + a % 100, 1 + b % 100, 1 + (n % 100) as u8];
        let request = [&b"\xfe\xfd\0\x01\x02\x03\x04\x03"[..], &ids, b"\0\0"].concat();
        responder.handle_datagram(now, SocketAddr::from(([10, 7, a, b], 27960)), &request);
        while responder.poll_transmit(now, &mut Vec::new()).is_some() {}
    }
    let answered = responder.stats().answered;
    println!("{} replies a second", answered / u64::from(seconds));
    assert!(
        (1_000..800 * u64::from(seconds)).contains(&answered),
        "{answered}"
    );
}
