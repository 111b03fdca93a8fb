//! Many sessions on all processors.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use queryport::{Protocol, ToStatus};

use crate::client::{AnyResult, Client};
use crate::common::link::Random;
use crate::held;
use crate::judge::judge;
use crate::play::{Family, Moment, Played, exchange, play};
use crate::report::Tally;
use crate::servers::{MOMENTS, Server};

/// The sessions of the gate, over all protocols. `QUERYPORT_SESSIONS` overrides it.
const SESSIONS: u64 = 100_000;

/// Sessions that share their servers: encoding 200 players takes longer than a session.
const CHUNK: u64 = 128;
/// The memory of one in so many sessions is measured.
const MEASURED: u64 = 64;
/// Servers of a chunk.
const FAMILIES: u64 = 6;

/// The random numbers of a name.
fn random(protocol: Protocol, purpose: u64, number: u64) -> Random {
    let mut random = Random(protocol as u64 ^ purpose << 8 ^ number << 16);
    random.next();
    random
}

fn family(protocol: Protocol, random: &mut Random) -> Family {
    let server = Server::random(protocol, random);
    let only_full = !matches!(&server, Server::Responder(..));
    let client = Client::random(protocol, random, only_full);
    let moments = (0..MOMENTS).map(|moment| Moment::new(&server, &client, moment)).collect();
    let is_complete = (0..MOMENTS).all(|moment| {
        let result = exchange(&server, &client, moment, &mut Vec::new());
        result.is_ok_and(|outcome| outcome.answer.completeness().is_complete())
    });
    Family { server, client, moments, is_complete }
}

fn families(protocol: Protocol, chunk: u64) -> Vec<Family> {
    let mut random = random(protocol, 1, chunk);
    let families: Vec<Family> = (0..FAMILIES).map(|_| family(protocol, &mut random)).collect();
    // The report of losses takes longer than a session: one server of a chunk.
    let Family { server, client, .. } = &families[0];
    if let Some(unsaid) = held::unsaid(server, client) {
        panic!("chunk {chunk} of {protocol}, {}: without any fault {unsaid}", server.name());
    }
    families
}

fn session(families: &[Family], protocol: Protocol, seed: u64) -> (&Family, Played) {
    let mut random = random(protocol, 2, seed);
    let family = &families[random.below(FAMILIES) as usize];
    let others = &families[random.below(FAMILIES) as usize];
    let played = play(family, others, &mut random);
    (family, played)
}

fn chunk(protocol: Protocol, chunk: u64, tally: &mut Tally) {
    let families = families(protocol, chunk);
    for seed in chunk * CHUNK..(chunk + 1) * CHUNK {
        let one = || {
            let (family, played) = session(&families, protocol, seed);
            let judgement = judge(family, &played, seed % MEASURED == 0);
            (family, played, judgement)
        };
        match catch_unwind(AssertUnwindSafe(one)) {
            Ok((family, played, judgement)) => tally.add(seed, family.server.name(), &played, judgement),
            Err(_) => tally.wrong.push((seed, "panic".to_owned())),
        }
    }
}

/// Plays so many chunks of each protocol.
fn run(chunks: u64) -> BTreeMap<Protocol, Tally> {
    let next = AtomicU64::new(0);
    let tallies: Mutex<BTreeMap<Protocol, Tally>> = Mutex::default();
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let protocol = Protocol::ALL[(number % 4) as usize];
            if number / 4 >= chunks {
                break;
            }
            let mut tally = Tally::default();
            chunk(protocol, number / 4, &mut tally);
            tallies.lock().unwrap().entry(protocol).or_default().merge(tally);
        }
    };
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
    tallies.into_inner().unwrap()
}

#[test]
fn no_session_is_complete_and_wrong_outside_of_what_the_wire_cannot_tell() {
    if let Ok(seed) = std::env::var("QUERYPORT_SEED") {
        return show(&seed);
    }
    let sessions = std::env::var("QUERYPORT_SESSIONS").map_or(SESSIONS, |count| count.parse().unwrap());
    let started = Instant::now();
    let tallies = run(sessions.div_ceil(4 * CHUNK));
    let seconds = started.elapsed().as_secs_f64();
    let mut total = 0;
    for (protocol, tally) in &tallies {
        tally.print(*protocol);
        total += tally.sessions;
    }
    println!("\n{total} sessions in {seconds:.1} s: {:.0} a second", total as f64 / seconds);
    for (protocol, tally) in &tallies {
        for (seed, reason) in tally.wrong.iter().take(20) {
            println!("QUERYPORT_SEED={protocol}:{seed} {reason}");
        }
    }
    for (protocol, tally) in &tallies {
        assert!(
            tally.wrong.is_empty(),
            "{protocol}: {} complete and wrong, or out of bounds",
            tally.wrong.len()
        );
        tally.check_shares(*protocol);
    }
}

/// Plays one session and prints what happened.
fn show(seed: &str) {
    let (protocol, number) = seed.split_once(':').expect("protocol:number");
    let (protocol, number): (Protocol, u64) = (protocol.parse().unwrap(), number.parse().unwrap());
    let families = families(protocol, number / CHUNK);
    let (family, played) = session(&families, protocol, number);
    println!("# {:?}", family.client);
    print!("{}", played.transcript(&family.client));
    for datagram in played.log.iter().filter(|datagram| datagram.suspect.is_some()) {
        println!("# at {:.6}: {:?}", datagram.at.as_secs_f64(), datagram.suspect);
    }
    println!("# moments 0 to {}: {}", played.moment, family.server.name());
    println!("# {:?}", judge(family, &played, true));
    for moment in 0..=played.moment {
        let result = exchange(&family.server, &family.client, moment, &mut Vec::new());
        println!("# without faults, at moment {moment}: {}", shown(&result));
    }
    println!("# the answer: {}", shown(&played.result));
}

fn shown(result: &AnyResult) -> String {
    match result {
        Ok(outcome) => {
            let status = outcome.answer.to_status();
            let (players, rules) = (status.listed_players().len(), status.rules.len());
            format!("{}, {players} players, {rules} rules: {status:?}", status.completeness)
        }
        Err(error) => error.to_string(),
    }
}
