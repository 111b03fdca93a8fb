//! The table of a simulation.

use std::collections::BTreeMap;

use queryport::Protocol;

use crate::judge::{Exception, Judgement};
use crate::network::Fault;
use crate::play::Played;

/// What the sessions of one protocol came to.
#[derive(Debug, Default)]
pub struct Tally {
    pub sessions: u64,
    pub right: u64,
    pub incomplete: u64,
    pub failed: BTreeMap<&'static str, u64>,
    pub excepted: BTreeMap<Exception, (u64, u64)>,
    /// The seed and the reason.
    pub wrong: Vec<(u64, String)>,
    /// Sessions in which each fault happened.
    pub faults: [u64; Fault::ALL.len()],
    pub servers: BTreeMap<String, (u64, u64)>,
}

impl Tally {
    pub fn add(&mut self, seed: u64, server: String, played: &Played, judgement: Judgement) {
        self.sessions += 1;
        for (total, count) in self.faults.iter_mut().zip(played.faults) {
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
            Judgement::Excepted(exception) => self.excepted.entry(exception).or_insert((0, seed)).0 += 1,
            Judgement::Wrong(reason) => self.wrong.push((seed, reason)),
        }
    }

    pub fn merge(&mut self, other: Self) {
        self.sessions += other.sessions;
        self.right += other.right;
        self.incomplete += other.incomplete;
        for (kind, count) in other.failed {
            *self.failed.entry(kind).or_default() += count;
        }
        for (exception, (count, seed)) in other.excepted {
            let entry = self.excepted.entry(exception).or_insert((0, seed));
            *entry = (entry.0 + count, entry.1.min(seed));
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

    pub fn print(&self, protocol: Protocol) {
        let share = |count: u64| 100.0 * count as f64 / self.sessions.max(1) as f64;
        println!("\n{protocol}: {} sessions", self.sessions);
        let line = |name: &str, count: u64| println!("  {name:<44} {count:>9} {:>6.2} %", share(count));
        line("complete and right", self.right);
        line("marked incomplete", self.incomplete);
        for (kind, count) in &self.failed {
            line(kind, *count);
        }
        for (exception, (count, seed)) in &self.excepted {
            line(&format!("exception {exception:?} (seed {seed})"), *count);
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

    /// Every fault and every outcome happens, and no exception is common. Less can be said of a few sessions.
    pub fn check_shares(&self, protocol: Protocol) {
        if self.sessions < 10_000 {
            return;
        }
        for (fault, count) in Fault::ALL.iter().zip(self.faults) {
            assert!(count * 1000 > self.sessions, "{protocol}: {fault:?} in {count} sessions");
        }
        let share = |count: u64| count * 100 / self.sessions;
        assert!(share(self.right) > 35 && share(self.incomplete) > 5, "{protocol}: outcomes");
        for kind in ["no answer", "no usable answer", "unreachable"] {
            assert!(self.failed.contains_key(kind), "{protocol}: {kind}");
        }
        use Exception::{
            Changed, LostFromEveryReading, LostInsideSection, NotAsked, PartsOfSeveralMoments, TwoReplies,
        };
        let believed = NotAsked(Fault::Liar);
        let known: &[Exception] = match protocol {
            Protocol::GameSpy1 => &[Changed, believed, Exception::Restart, TwoReplies, LostInsideSection],
            Protocol::Ut2004 => &[Changed, believed, LostFromEveryReading, PartsOfSeveralMoments],
            Protocol::Quake3 => &[Changed, believed],
            // Whoever does not know the id is not believed.
            _ => &[Changed],
        };
        for exception in known {
            let (count, _) = self.excepted.get(exception).copied().unwrap_or_default();
            assert!(count > 0 && share(count) < 4, "{protocol}: {exception:?} in {count} sessions");
        }
        let believes = self.excepted.keys().any(|exception| matches!(exception, NotAsked(_)));
        assert!(!believes || protocol != Protocol::GameSpy4, "a reply that was not asked for is believed");
    }
}
