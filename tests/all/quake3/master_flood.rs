//! Floods of forged requests for a master's list, in virtual time: how many honest clients get the
//! whole list.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use queryport::Secret;
use queryport::lists::ListPart;
use queryport::quake3::master::{Master, Options};
use queryport::session::Machine;

use crate::common::link::Random;
use crate::quake3::master::register;

/// Honest clients, each of which asks once and waits for a time.
const CLIENTS: u32 = 100;
const PATIENCE: Duration = Duration::from_secs(4);
const SECONDS: u32 = 10;
const REQUEST: &[u8] = b"\xff\xff\xff\xffgetservers Test 3 empty full";

/// A master of this many servers that sends 37 lists of all of them in a second.
fn master(now: Instant, servers: u32) -> Master {
    let mut options = Options::default();
    options.list_bytes_per_second = servers * 262;
    let mut master = Master::new(Secret::new([5; 16]), options, now);
    for n in 0..servers {
        register(
            &mut master,
            now,
            (Ipv4Addr::from_bits(0x0B00_0000 + n * 7), 27_960).into(),
        );
    }
    assert_eq!(master.servers().count(), servers as usize);
    master
}

/// The share of honest clients that get the whole list in time, while forged requests come at these
/// times.
fn answered(
    name: &str,
    servers: u32,
    forged: impl IntoIterator<Item = (Duration, SocketAddr)>,
) -> f64 {
    let start = Instant::now();
    let mut master = master(start, servers);
    let mut random = Random(7);
    let mut arriving: Vec<(Duration, SocketAddr)> = forged.into_iter().collect();
    let forged = arriving.len();
    for n in 0..CLIENTS {
        let at = Duration::from_secs(SECONDS.into()) * n / CLIENTS;
        let at = at
            + Duration::from_micros(
                random.next() % 1_000_000 * u64::from(SECONDS) / u64::from(CLIENTS),
            );
        arriving.push((
            at,
            (Ipv4Addr::from_bits(0xC633_0000 + n * 256), 5000).into(),
        ));
    }
    arriving.sort();
    let mut waiting: BTreeMap<SocketAddr, (Instant, u32)> = BTreeMap::new();
    let (mut answered, mut out) = (0, Vec::new());
    arriving.push((
        Duration::from_secs(SECONDS.into()) + PATIENCE,
        "192.0.2.1:9".parse().unwrap(),
    ));
    let mut now = start;
    for (at, from) in arriving {
        let at = start + at;
        while let Some(due) = master.poll_timeout().filter(|due| *due <= at) {
            now = now.max(due);
            while let Some(transmit) = master.poll_transmit(now, &mut out) {
                if let Some((asked, received)) = waiting.get_mut(&transmit.to) {
                    let part = ListPart::parse(&out).unwrap();
                    *received += part.iter().count() as u32;
                    let is_whole = part.has_end && *received == servers && now - *asked <= PATIENCE;
                    answered += u32::from(is_whole);
                }
                out.clear();
            }
            while master.poll_event().is_some() {}
            master.handle_timeout(now);
        }
        now = now.max(at);
        if matches!(from, SocketAddr::V4(from) if from.ip().octets()[0] == 198) {
            waiting.insert(from, (now, 0));
        }
        master.handle_datagram(now, from, REQUEST);
    }
    let share = f64::from(answered) / f64::from(CLIENTS);
    println!(
        "{name}, {} forged requests/s: {:.1} % answered, {:?}",
        forged as u32 / SECONDS,
        share * 100.0,
        master.stats()
    );
    share
}

/// A forged client; no two have one source.
fn client(n: u32) -> SocketAddr {
    (
        Ipv4Addr::from_bits(0x2000_0000 | (n.wrapping_mul(2_654_435_761) >> 3)),
        9,
    )
        .into()
}

/// Forged requests in bursts of a size, this many per second on average.
fn bursts(rate: u32, burst: u32) -> impl Iterator<Item = (Duration, SocketAddr)> {
    (0..rate * SECONDS).map(move |n| {
        (
            Duration::from_secs(1) * (n / burst * burst) / rate,
            client(n),
        )
    })
}

/// Each request has the same chance to be one of the 37 in a second.
#[test]
fn every_list_has_the_same_chance_during_a_flood() {
    for (servers, rate, burst, least) in [(500, 30, 1, 0.9), (500, 80, 200, 0.3)] {
        let share = answered(&format!("bursts of {burst}"), servers, bursts(rate, burst));
        assert!(
            share >= least,
            "{rate} forged requests a second in bursts of {burst}: {share}"
        );
    }
}
