//! Scans the loopback farm with rust `gamedig`, so many threads at once: `THREADS SERVERS PORT`. Prints seconds, servers
//! that answered and peak memory in KiB, as `cargo bench --bench loopback -- scan` does.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use gamedig::protocols::quake;
use gamedig::protocols::types::TimeoutSettings;

fn main() {
    let numbers: Vec<u32> = std::env::args().skip(1).map(|number| number.parse().expect("a number")).collect();
    let [threads, servers, port] = numbers[..] else { panic!("expected THREADS SERVERS PORT") };
    let second = Some(Duration::from_secs(1));
    let (next, answered) = (AtomicU32::new(0), AtomicU32::new(0));
    let start = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            // Less than the usual stack, so that thousands fit.
            let ask = || loop {
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
            };
            let thread = std::thread::Builder::new().stack_size(256 * 1024);
            thread.spawn_scoped(scope, ask).expect("a thread");
        }
    });
    let took = start.elapsed().as_secs_f64();
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a peak");
    println!("{took} {} {}", answered.into_inner(), peak.trim().trim_end_matches(" kB"));
}
