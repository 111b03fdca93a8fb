//! Scans with rust `gamedig`, in a given number of threads.
//!
//! - `THREADS SERVERS PORT`: scans Quake 3 servers of the loopback farm. Prints seconds, the number
//!   of answers and peak memory in KiB, like `cargo bench --bench loopback -- scan`.
//! - `THREADS`: scans the servers of a list on standard input, with gamedig's own timeouts. Prints
//!   seconds, index, players, rules and name of each answer.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use gamedig::protocols::types::TimeoutSettings;
use gamedig::protocols::{gamespy, quake, unreal2};

fn main() {
    let numbers: Vec<u32> = std::env::args()
        .skip(1)
        .map(|number| number.parse().expect("a number"))
        .collect();
    match numbers[..] {
        [threads, servers, port] => one_protocol(threads, servers, port),
        [threads] => list(threads),
        _ => panic!("expected THREADS SERVERS PORT, or THREADS"),
    }
}

/// Runs a function in this many threads.
fn in_threads(threads: u32, ask: impl Fn() + Sync) {
    std::thread::scope(|scope| {
        for _ in 0..threads {
            // A small stack, so that thousands fit.
            let thread = std::thread::Builder::new().stack_size(256 * 1024);
            thread.spawn_scoped(scope, &ask).expect("a thread");
        }
    });
}

fn one_protocol(threads: u32, servers: u32, port: u32) {
    let second = Some(Duration::from_secs(1));
    let (next, answered) = (AtomicU32::new(0), AtomicU32::new(0));
    let start = Instant::now();
    in_threads(threads, || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= servers {
                break;
            }
            let ip = Ipv4Addr::from_bits(0x7F01_0000 + index);
            let address = SocketAddr::from((ip, u16::try_from(port).expect("a port")));
            let timeouts = TimeoutSettings::new(second, second, second, 0).expect("timeouts");
            if let Ok(response) = quake::three::query(&address, Some(timeouts)) {
                std::hint::black_box(response.players.len());
                answered.fetch_add(1, Ordering::Relaxed);
            }
        }
    });
    let took = start.elapsed().as_secs_f64();
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .expect("a peak");
    println!(
        "{took} {} {}",
        answered.into_inner(),
        peak.trim().trim_end_matches(" kB")
    );
}

fn list(threads: u32) {
    let list: Vec<String> = std::io::stdin()
        .lines()
        .map(|line| line.expect("a list"))
        .collect();
    let next = AtomicUsize::new(0);
    let start = Instant::now();
    in_threads(threads, || {
        while let Some(line) = list.get(next.fetch_add(1, Ordering::Relaxed)) {
            let parts: Vec<&str> = line.split(' ').collect();
            let [index, protocol, address] = parts[..] else {
                panic!("{line}")
            };
            if let Some((name, players, rules)) =
                query(protocol, &address.parse().expect("an address"))
            {
                println!(
                    "{} {index} {players} {rules} {name}",
                    start.elapsed().as_secs_f64()
                );
            }
        }
    });
}

/// The name, the number of players and the number of rules. The number of players is -1 for Quake
/// 3, because gamedig 0.9.0 does not read them (`get_players` in protocols/quake/client.rs).
fn query(protocol: &str, address: &SocketAddr) -> Option<(String, i64, usize)> {
    fn rules<'a>(keys: impl Iterator<Item = &'a String>) -> usize {
        keys.filter(|key| key.starts_with("sv_rule")).count()
    }
    Some(match protocol {
        "quake3" => {
            let response = quake::three::query(address, None).ok()?;
            (response.name, -1, rules(response.unused_entries.keys()))
        }
        "gamespy1" => {
            let response = gamespy::one::query(address, None).ok()?;
            (
                response.name,
                response.players.len() as i64,
                rules(response.unused_entries.keys()),
            )
        }
        "gamespy4" => {
            let response = gamespy::three::query(address, None).ok()?;
            (
                response.name,
                response.players.len() as i64,
                rules(response.unused_entries.keys()),
            )
        }
        _ => {
            let gather = unreal2::GatheringSettings::default();
            let response = unreal2::query(address, &gather, None).ok()?;
            let players = response.players.players.len() + response.players.bots.len();
            (
                response.server_info.name,
                players as i64,
                rules(response.mutators_and_rules.rules.keys()),
            )
        }
    })
}
