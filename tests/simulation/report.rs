//! The table of outcomes.

use std::collections::BTreeMap;

use queryport::Protocol;

use crate::client::Variant;
use crate::judge::{Exception, Judgement};
use crate::network::Fault;
use crate::sessions::Subject;
use crate::shrink::Cut;

/// How many seeds to print for each exception.
const SEEDS: usize = 4;

/// A session with a bug.
#[derive(Debug)]
pub struct Wrong {
    seed: u64,
    reason: String,
    /// The parts that the failure does not need.
    cut: Option<Cut>,
}

/// The outcomes of a subject's sessions.
#[derive(Debug, Default)]
pub struct Tally {
    pub sessions: u64,
    pub right: u64,
    pub incomplete: u64,
    pub failed: BTreeMap<&'static str, u64>,
    /// The number of sessions and some seeds of each exception.
    pub excepted: BTreeMap<Exception, (u64, Vec<u64>)>,
    pub wrong: Vec<Wrong>,
    /// How many more failures to shrink.
    pub can_show: usize,
    /// The number of sessions with each fault.
    pub faults: [u64; Fault::ALL.len()],
    pub servers: BTreeMap<String, (u64, u64)>,
}

impl Tally {
    /// Counts a session. Bugs go to [`Self::fail`].
    pub fn add(
        &mut self,
        seed: u64,
        server: String,
        faults: &[u32; Fault::ALL.len()],
        judgement: Judgement,
    ) -> Option<String> {
        self.sessions += 1;
        for (total, count) in self.faults.iter_mut().zip(*faults) {
            *total += u64::from(count > 0);
        }
        let of_server = self.servers.entry(server).or_default();
        of_server.0 += 1;
        match judgement {
            Judgement::Right => {
                self.right += 1;
                of_server.1 += 1;
            }
            Judgement::Incomplete => self.incomplete += 1,
            Judgement::Failed(kind) => *self.failed.entry(kind).or_default() += 1,
            Judgement::Excepted(exception) => {
                let (count, seeds) = self.excepted.entry(exception).or_default();
                *count += 1;
                seeds.push(seed);
                seeds.truncate(SEEDS);
            }
            Judgement::Wrong(reason) => return Some(reason),
        }
        None
    }

    /// Counts a failure. `shrink` makes it smaller.
    pub fn fail(&mut self, seed: u64, reason: String, shrink: impl FnOnce() -> Cut) {
        let cut = (self.wrong.len() < self.can_show).then(shrink);
        self.wrong.push(Wrong { seed, reason, cut });
    }

    pub fn merge(&mut self, other: Self) {
        self.sessions += other.sessions;
        self.right += other.right;
        self.incomplete += other.incomplete;
        for (kind, count) in other.failed {
            *self.failed.entry(kind).or_default() += count;
        }
        for (exception, (of_other, others)) in other.excepted {
            let (count, seeds) = self.excepted.entry(exception).or_default();
            *count += of_other;
            seeds.extend(others);
            seeds.sort_unstable();
            seeds.truncate(SEEDS);
        }
        self.wrong.extend(other.wrong);
        for (total, count) in self.faults.iter_mut().zip(other.faults) {
            *total += count;
        }
        for (server, (sessions, right)) in other.servers {
            let entry = self.servers.entry(server).or_default();
            *entry = (entry.0 + sessions, entry.1 + right);
        }
    }

    pub fn print(&self, subject: Subject) {
        let share = |count: u64| 100.0 * count as f64 / self.sessions.max(1) as f64;
        println!("\n{}: {} sessions", subject.name(), self.sessions);
        let line =
            |name: &str, count: u64| println!("  {name:<56} {count:>9} {:>6.2} %", share(count));
        line("complete and right", self.right);
        line("marked incomplete", self.incomplete);
        for (kind, count) in &self.failed {
            line(kind, *count);
        }
        for (exception, (count, seeds)) in &self.excepted {
            line(&format!("exception {exception:?} {seeds:?}"), *count);
        }
        line("complete and wrong", self.wrong.len() as u64);
        let faults: Vec<String> = Fault::ALL
            .iter()
            .zip(self.faults)
            .map(|(fault, count)| format!("{fault:?} {:.1} %", share(count)))
            .collect();
        println!("  sessions with: {}", faults.join(", "));
        for (server, (sessions, right)) in &self.servers {
            println!("  server {server}: {sessions} sessions, {right} right");
        }
    }

    /// Prints the failures, each with its seed.
    pub fn print_wrong(&self, subject: Subject) {
        for Wrong { seed, reason, cut } in &self.wrong {
            if let Some(cut) = cut {
                println!("QUERYPORT_SEED={}:{seed}{cut} {reason}", subject.name());
            }
        }
    }

    /// Checks that a loss of at most 1.5 % in each direction makes at most one answer of UT2004 in
    /// 2,000 complete and wrong. Small runs are not checked.
    pub fn check_loss(&self, subject: Subject, loss: f64) {
        let is_ut2004 = subject == Subject::Status(Variant::Usual(Protocol::Ut2004));
        if !is_ut2004 || loss > 0.015 || self.sessions < 90_000 {
            return;
        }
        let excepted: u64 = self.excepted.values().map(|(count, _)| count).sum();
        assert!(excepted * 2_000 <= self.sessions, "{excepted} are wrong");
    }

    /// Checks that every fault and outcome occurs, and that no exception is common. Small runs are
    /// checked less strictly.
    pub fn check_shares(&self, subject: Subject) {
        let Subject::Status(variant) = subject else {
            return;
        };
        let (protocol, name) = (variant.protocol(), variant.name());
        if self.sessions < 3_000 {
            return;
        }
        for (fault, count) in Fault::ALL.iter().zip(self.faults) {
            if *fault == Fault::WrongId && !variant.has_id() {
                continue;
            }
            assert!(
                count * 1000 > self.sessions,
                "{name}: {fault:?} in {count} sessions"
            );
        }
        let share = |count: u64| count * 100 / self.sessions;
        assert!(
            share(self.right) > 20 && share(self.incomplete) > 1,
            "{name}: outcomes"
        );
        for kind in ["no answer", "no usable answer", "unreachable"] {
            assert!(self.failed.contains_key(kind), "{name}: {kind}");
        }
        use Exception::{Changed, LostFromTwoReplies, NotAsked, PartsOfSeveralMoments};
        let believed = NotAsked(Fault::Liar);
        let known: &[Exception] = match protocol {
            Protocol::GameSpy1 | Protocol::Quake3 => &[Changed, believed],
            Protocol::Ut2004 => &[Changed, believed, LostFromTwoReplies, PartsOfSeveralMoments],
            // Forged datagrams without the id are rejected.
            _ => &[Changed],
        };
        for exception in known {
            assert!(
                self.excepted.contains_key(exception),
                "{name}: no {exception:?}"
            );
        }
        for (exception, (count, _)) in &self.excepted {
            assert!(
                share(*count) < 5,
                "{name}: {exception:?} in {count} sessions"
            );
        }
        let believes = self
            .excepted
            .keys()
            .any(|exception| matches!(exception, NotAsked(_)));
        assert!(
            !believes || protocol != Protocol::GameSpy4,
            "a reply that was not asked for is believed"
        );
    }
}
