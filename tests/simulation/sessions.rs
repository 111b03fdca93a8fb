//! Many sessions on all processors.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use queryport::{Protocol, ToStatus};

use crate::client::{AnyResult, Client, Variant};
use crate::common::link::Random;
use crate::held;
use crate::judge::{Judgement, judge};
use crate::masters::{Ended, master, rcon};
use crate::network::only_loss;
use crate::play::{Family, Moment, Played, exchange, play};
use crate::report::Tally;
use crate::servers::{MOMENTS, Server};
use crate::shrink::{Cut, shrink};

/// The number of sessions over all subjects. `QUERYPORT_SESSIONS` overrides it; `QUERYPORT_FIRST`
/// is the first seed.
const SESSIONS: u64 = 16_000;

/// Sessions per chunk. They share servers, because encoding 200 players takes longer than a
/// session.
const CHUNK: u64 = 512;
/// One in this many sessions measures memory.
const MEASURED: u64 = 64;
/// The number of servers in a chunk.
const FAMILIES: u64 = 6;
/// Failing sessions of each subject to shrink and print.
const SHOWN: usize = 10;

/// The subject of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    Status(Variant),
    /// The list of a Quake 3 master.
    Master,
    /// A command to the console of a Quake 3 server.
    Rcon,
}

impl Subject {
    const ALL: [Self; 9] = [
        Self::Status(Variant::Usual(Protocol::GameSpy1)),
        Self::Status(Variant::Usual(Protocol::GameSpy4)),
        Self::Status(Variant::Usual(Protocol::Quake3)),
        Self::Status(Variant::Usual(Protocol::Ut2004)),
        Self::Master,
        Self::Rcon,
        Self::Status(Variant::GameSpy2),
        Self::Status(Variant::Quake2),
        Self::Status(Variant::QuakeWorld),
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Status(variant) => variant.name(),
            Self::Master => "master",
            Self::Rcon => "rcon",
        }
    }

    /// The random numbers for a session and purpose.
    fn random(self, purpose: u64, number: u64) -> Random {
        let subject = Self::ALL
            .iter()
            .position(|subject| *subject == self)
            .unwrap();
        let mut random = Random(subject as u64 ^ purpose << 8 ^ number << 16);
        random.next();
        random
    }
}

fn family(variant: Variant, random: &mut Random, cut: &Cut) -> Family {
    let server = Server::random(variant, random, cut);
    let only_full = !matches!(&server, Server::Responder(..));
    let client = Client::random(variant.protocol(), server.dialect(), random, only_full);
    let moments = (0..MOMENTS)
        .map(|moment| Moment::new(&server, &client, moment))
        .collect();
    let is_complete = (0..MOMENTS).all(|moment| {
        let result = exchange(&server, &client, moment, &mut Vec::new());
        result.is_ok_and(|outcome| outcome.answer.completeness().is_complete())
    });
    Family {
        server,
        client,
        moments,
        is_complete,
    }
}

/// The servers of a chunk. Each has its own seed, so that shrinking one does not change the others.
fn families(variant: Variant, chunk: u64, cut: &Cut) -> Vec<Family> {
    let subject = Subject::Status(variant);
    (0..FAMILIES)
        .map(|one| family(variant, &mut subject.random(1, chunk * FAMILIES + one), cut))
        .collect()
}

fn session<'a>(
    families: &'a [Family],
    variant: Variant,
    seed: u64,
    cut: &Cut,
) -> (&'a Family, Played) {
    let mut random = Subject::Status(variant).random(2, seed);
    let family = &families[random.below(FAMILIES) as usize];
    let others = &families[random.below(FAMILIES) as usize];
    let played = play(family, others, &mut random, cut);
    (family, played)
}

/// Runs a session again with a cut.
fn status_again(
    families: &[Family],
    variant: Variant,
    seed: u64,
    cut: &Cut,
) -> (Judgement, Vec<u32>) {
    let again = |families: &[Family]| {
        let (family, played) = session(families, variant, seed, cut);
        (judge(family, &played, true), played.faulty)
    };
    if cut.has_same_servers() {
        again(families)
    } else {
        again(&self::families(variant, seed / CHUNK, cut))
    }
}

/// Runs a session that is not a status query.
fn small(subject: Subject, seed: u64, cut: &Cut, tells: bool) -> Ended {
    let mut random = subject.random(2, seed);
    if subject == Subject::Master {
        master(&mut random, cut, tells)
    } else {
        rcon(&mut random, cut, tells)
    }
}

/// Runs a session. A panic counts as a failure.
fn caught<T>(one: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(one)).map_err(|_| "panic".to_owned())
}

/// The datagrams with a fault, if this session fails for this reason.
fn fails_for(reason: &str, one: impl FnOnce() -> (Judgement, Vec<u32>)) -> Option<Vec<u32>> {
    match caught(one) {
        Ok((Judgement::Wrong(of), faulty)) if class(&of) == class(reason) => Some(faulty),
        Err(of) if of == reason => Some(Vec::new()),
        _ => None,
    }
}

/// A reason without numbers and texts.
fn class(reason: &str) -> &str {
    reason
        .split(|character: char| character.is_ascii_digit() || character == '"')
        .next()
        .unwrap_or_default()
}

/// A server whose client does not get everything although there are no faults, and the difference.
fn unsaid(families: &[Family]) -> Option<(&Family, String)> {
    families.iter().find_map(|family| {
        let unsaid = held::unsaid(&family.server, &family.client)?;
        Some((
            family,
            format!("without any fault, {}: {unsaid}", family.server.name()),
        ))
    })
}

fn chunk(variant: Variant, chunk: u64, tally: &mut Tally) {
    let families = families(variant, chunk, &Cut::default());
    if let Some((_, reason)) = unsaid(&families) {
        let fails_so = class(&reason).to_owned();
        let fails = |cut: &Cut| {
            let families = self::families(variant, chunk, cut);
            unsaid(&families)
                .filter(|(_, reason)| class(reason) == fails_so)
                .map(|_| Vec::new())
        };
        tally.fail(chunk * CHUNK, reason, || shrink(fails));
    }
    for seed in chunk * CHUNK..(chunk + 1) * CHUNK {
        let ended = caught(|| {
            let (family, played) = session(&families, variant, seed, &Cut::default());
            let judgement = judge(family, &played, seed % MEASURED == 0);
            (family, played, judgement)
        });
        let wrong = ended.map_or_else(Some, |(family, played, judgement)| {
            tally.add(seed, family.server.name(), &played.faults, judgement)
        });
        if let Some(reason) = wrong {
            let faulty =
                |cut: &Cut| fails_for(&reason, || status_again(&families, variant, seed, cut));
            tally.fail(seed, reason.clone(), || shrink(faulty));
        }
    }
}

fn small_chunk(subject: Subject, chunk: u64, tally: &mut Tally) {
    for seed in chunk * CHUNK..(chunk + 1) * CHUNK {
        let again = |cut: &Cut| {
            let ended = small(subject, seed, cut, false);
            (ended.judgement, ended.faulty)
        };
        let ended = caught(|| small(subject, seed, &Cut::default(), false));
        let wrong = ended.map_or_else(Some, |ended| {
            tally.add(
                seed,
                subject.name().to_owned(),
                &ended.faults,
                ended.judgement,
            )
        });
        if let Some(reason) = wrong {
            let faulty = |cut: &Cut| fails_for(&reason, || again(cut));
            tally.fail(seed, reason.clone(), || shrink(faulty));
        }
    }
}

/// Runs this many chunks of each subject.
fn run(subjects: &[Subject], first: u64, chunks: u64) -> BTreeMap<Subject, Tally> {
    let next = AtomicU64::new(0);
    let tallies: Mutex<BTreeMap<Subject, Tally>> = Mutex::default();
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let count = subjects.len() as u64;
            let subject = subjects[(number % count) as usize];
            if number / count >= chunks {
                break;
            }
            let shown = tallies
                .lock()
                .unwrap()
                .entry(subject)
                .or_default()
                .wrong
                .len();
            let played = first + number / count;
            let mut tally = Tally {
                can_show: SHOWN.saturating_sub(shown),
                ..Tally::default()
            };
            match subject {
                Subject::Status(variant) => chunk(variant, played, &mut tally),
                Subject::Master | Subject::Rcon => small_chunk(subject, played, &mut tally),
            }
            tallies
                .lock()
                .unwrap()
                .entry(subject)
                .or_default()
                .merge(tally);
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
fn no_complete_answer_is_wrong_except_as_listed() {
    if let Ok(seed) = std::env::var("QUERYPORT_SEED") {
        return show(&seed);
    }
    let number = |name, default| {
        std::env::var(name).map_or(default, |number| number.parse::<u64>().unwrap())
    };
    let sessions = number("QUERYPORT_SESSIONS", SESSIONS);
    let started = Instant::now();
    let subjects = subjects();
    let tallies = run(
        &subjects,
        number("QUERYPORT_FIRST", 0) / CHUNK,
        sessions.div_ceil(subjects.len() as u64 * CHUNK),
    );
    let seconds = started.elapsed().as_secs_f64();
    let mut total = 0;
    for (subject, tally) in &tallies {
        tally.print(*subject);
        total += tally.sessions;
    }
    println!(
        "\n{total} sessions in {seconds:.1} s: {:.0} a second",
        total as f64 / seconds
    );
    for (subject, tally) in &tallies {
        tally.print_wrong(*subject);
    }
    for (subject, tally) in &tallies {
        assert!(
            tally.wrong.is_empty(),
            "{}: complete and wrong, or out of bounds",
            subject.name()
        );
        match only_loss() {
            Some(loss) => tally.check_loss(*subject, loss),
            None => tally.check_shares(*subject),
        }
    }
}

/// All subjects, or the one in `QUERYPORT_SUBJECT`.
fn subjects() -> Vec<Subject> {
    let only = std::env::var("QUERYPORT_SUBJECT").ok();
    let is_played = |subject: &Subject| only.as_ref().is_none_or(|name| subject.name() == name);
    Subject::ALL.into_iter().filter(is_played).collect()
}

/// Runs one session and prints its course.
fn show(seed: &str) {
    let (subject, rest) = seed
        .split_once(':')
        .expect("subject:number, with what it is played without");
    let (number, cut) = rest.split_at(rest.find('.').unwrap_or(rest.len()));
    let number: u64 = number.parse().expect("a number");
    let cut = Cut::parse(cut).expect("what it is played without");
    match Subject::ALL
        .into_iter()
        .find(|of| of.name() == subject)
        .expect("a subject")
    {
        Subject::Status(variant) => show_status(variant, number, &cut),
        subject => println!("# {:?}", small(subject, number, &cut, true).judgement),
    }
}

fn show_status(variant: Variant, number: u64, cut: &Cut) {
    let families = families(variant, number / CHUNK, cut);
    if let Some((family, unsaid)) = unsaid(&families) {
        println!("# {unsaid}");
        for datagram in family.moments[0].datagrams.iter().collect::<BTreeSet<_>>() {
            println!("# {:?}", String::from_utf8_lossy(datagram));
        }
    }
    let (family, played) = session(&families, variant, number, cut);
    println!("# {:?}", family.client);
    print!("{}", played.transcript(&family.client));
    for datagram in &played.log {
        let text =
            String::from_utf8_lossy(&datagram.bytes[..datagram.bytes.len().min(2000)]).into_owned();
        let (reply, suspect) = (datagram.reply, datagram.suspect);
        println!(
            "# at {:.6}: {reply:?} {suspect:?} {text:?}",
            datagram.at.as_secs_f64()
        );
    }
    for (reply, sent) in &played.replies {
        println!(
            "# sent: {reply:?} {:?}",
            sent.iter().map(|bytes| bytes.len()).collect::<Vec<_>>()
        );
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
            let (players, rules) = (status.players.len(), status.rules.len());
            format!(
                "{}, {players} players, {rules} rules: {status:?}",
                status.completeness
            )
        }
        Err(error) => error.to_string(),
    }
}
