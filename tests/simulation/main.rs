//! Queries of every protocol over faulty links, in virtual time.
//!
//! A session is chosen by its seed. It must end, and keep to its limits of requests, time and
//! memory. An answer that says complete must equal what the server had at one moment: see
//! [`judge`]. What a wire cannot show is counted, and has a bound in [`rates::RATES`].
//!
//! ```sh
//! tests="-p queryport-tests --test simulation"
//! QUERYPORT_SESSIONS=10000000 cargo test --profile soak $tests -- --nocapture   # with its table
//! QUERYPORT_SEED=ut2004:late:123 cargo test $tests -- --nocapture              # one session
//! ```
//!
//! `QUERYPORT_FIRST` is the first seed; `QUERYPORT_WIRE=ut2004` and `QUERYPORT_LINK=late` select
//! rows and columns of the table.
#![allow(
    clippy::disallowed_methods,
    reason = "a failed assumption in a test is a failed test"
)]

mod links;
mod rates;
mod session;

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use kit::servers::Wire;

use links::{LINKS, Link};
use rates::Count;

/// Sessions over all wires and links. `QUERYPORT_SESSIONS` sets another number.
const SESSIONS: u64 = 16_000;
/// Sessions with consecutive seeds that one thread plays.
const CHUNK: u64 = 50;

/// The sessions of one wire over one kind of link.
type Cell = (&'static str, &'static str);

#[test]
fn a_complete_answer_is_what_the_server_had_at_one_moment() {
    if let Ok(seed) = std::env::var("QUERYPORT_SEED") {
        return show(&seed);
    }
    let cells = cells();
    let sessions = number("QUERYPORT_SESSIONS", SESSIONS);
    let chunks = sessions.div_ceil(cells.len() as u64 * CHUNK);
    let counts = play(&cells, number("QUERYPORT_FIRST", 0), chunks);
    print!("{}", rates::table(&counts));
    rates::check(&counts);
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |number| number.parse().expect("a number"))
}

/// Every wire over every link, or those that the environment selects.
fn cells() -> Vec<(Wire, &'static Link)> {
    let is_selected =
        |name: &str, value: &str| std::env::var(name).map_or(true, |selected| selected == value);
    let wires = Wire::ALL.into_iter();
    let wires = wires.filter(|wire| is_selected("QUERYPORT_WIRE", session::name(*wire)));
    let links = || {
        LINKS
            .iter()
            .filter(|link| is_selected("QUERYPORT_LINK", link.name))
    };
    wires
        .flat_map(|wire| links().map(move |link| (wire, link)))
        .collect()
}

/// Plays this many chunks of each cell, on all processors.
fn play(cells: &[(Wire, &'static Link)], first: u64, chunks: u64) -> BTreeMap<Cell, Count> {
    let next = AtomicU64::new(0);
    let counts: Mutex<BTreeMap<Cell, Count>> = Mutex::default();
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let (chunk, cell) = (number / cells.len() as u64, number % cells.len() as u64);
            if chunk >= chunks {
                return;
            }
            let (wire, link) = cells[cell as usize];
            let seeds = first + chunk * CHUNK..first + (chunk + 1) * CHUNK;
            let mut count = Count::default();
            seeds.for_each(|seed| count.add(seed, session::judge(wire, link, seed)));
            let mut counts = counts.lock().unwrap();
            let cell = counts.entry((session::name(wire), link.name)).or_default();
            cell.merge(count);
        }
    };
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
    counts.into_inner().unwrap()
}

/// Plays one session and prints its course.
fn show(seed: &str) {
    let parts: Vec<&str> = seed.split(':').collect();
    let [name, link, seed] = parts[..] else {
        panic!("wire:link:number")
    };
    let wire = Wire::ALL
        .into_iter()
        .find(|wire| session::name(*wire) == name);
    let link = LINKS.iter().find(|of| of.name == link);
    let (wire, link) = (wire.expect("a wire"), link.expect("a link"));
    session::show(wire, link, seed.parse().expect("a number"));
}
