//! The results, and how many answers may be complete and wrong.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::Cell;
use crate::session::Verdict;

/// Wrong answers to print of each cell.
const SHOWN: usize = 3;
/// The least share of complete and right answers without faults, in percent.
const RIGHT: u64 = 80;

/// What the wires of some servers cannot show over some kinds of links.
pub struct Rate {
    wires: &'static [&'static str],
    links: &'static [&'static str],
    /// Complete and wrong answers of a million sessions.
    per_million: f64,
    /// Why no client can know, and how often that happens.
    why: &'static str,
}

/// A cell without a row has none.
pub const RATES: &[Rate] = &[
    Rate {
        wires: EVERY,
        links: &["damage"],
        per_million: 130_000.0,
        why: "No protocol has a checksum. A bit of one datagram in 20 changes, which reads as another \
              value; one in 20 is cut, which shows unless the cut is between two entries.",
    },
    Rate {
        wires: WITHOUT_ID,
        links: &["forged"],
        per_million: 300_000.0,
        why: "Replies quote nothing of the request. Half of the sessions get a forged reply, and half \
              of those get it before the server's.",
    },
    Rate {
        wires: &["swat4", "swat4-adminmod"],
        links: &["loss 8 %", "late", "all"],
        per_million: 900.0,
        why: "Parts are numbered, replies are not: if the state changes between two replies, and each \
              loses a part that the other has, they join.",
    },
    Rate {
        wires: &["gamespy1"],
        links: &["loss 8 %", "late", "all"],
        per_million: 40.0,
        why: "A server that restarts between two requests counts its replies from 1 again: in one of \
              some hundred such sessions both replies have one number, and if each loses what the other \
              has, they join.",
    },
    Rate {
        wires: &["quakeworld"],
        links: &["loss 1.5 %"],
        per_million: 150.0,
        why: "Datagrams have no numbers. One server in 100 needs three, five in six of these begin a \
              line in the third, and one in 67 loses the second: 0.01 x 0.83 x 0.015.",
    },
    Rate {
        wires: &["quakeworld"],
        links: &["loss 8 %", "late", "all"],
        per_million: 800.0,
        why: "The same, where one datagram in 12 to 20 is lost or late: 0.01 x 0.83 x 0.08.",
    },
    Rate {
        wires: &["quakeworld"],
        links: &["doubles"],
        per_million: 40.0,
        why: "A copy of the request gets a reply of its own. If the map changes between the two, and the \
              list needs two datagrams, parts of both can join. One request in 20 has a copy, one session \
              in 6 changes then, half of the changes are maps, one server in 20 needs two datagrams, and \
              one order in 6 joins: 0.05 x 0.17 x 0.5 x 0.05 x 0.17.",
    },
    Rate {
        wires: &["ut2004"],
        links: &["loss 1.5 %"],
        per_million: 40.0,
        why: "Lists have no numbers: three replies that lost the same datagram are equal. A server has \
              some five, and each is lost three times with 0.015 x 0.015 x 0.015.",
    },
    Rate {
        wires: &["ut2004"],
        links: &["loss 8 %"],
        per_million: 600.0,
        why: "The same, 0.08 x 0.08 x 0.08 for each. In one session of two, the server changes.",
    },
    Rate {
        wires: &["ut2004"],
        links: &["late", "all"],
        per_million: 2600.0,
        why: "A datagram is lost or late, and a late copy of the state before replaces it: \
              0.05 x 0.05.",
    },
];

const EVERY: &[&str] = &[
    "gamespy1",
    "serioussam",
    "descent3",
    "swat4",
    "swat4-adminmod",
    "gamespy2",
    "gamespy4",
    "minecraft",
    "quake3",
    "quake3e",
    "quake2",
    "quakeworld",
    "ut2004",
];

const WITHOUT_ID: &[&str] = &[
    "gamespy1",
    "serioussam",
    "descent3",
    "swat4",
    "swat4-adminmod",
    "quake2",
    "quakeworld",
    "ut2004",
];

/// The results of the sessions of a cell.
#[derive(Debug, Clone, Default)]
pub struct Count {
    pub sessions: u64,
    pub right: u64,
    pub incomplete: u64,
    pub failed: u64,
    pub wrong: u64,
    /// Seeds of some wrong answers.
    pub seeds: Vec<u64>,
}

impl Count {
    pub fn add(&mut self, seed: u64, verdict: Verdict) {
        self.sessions += 1;
        match verdict {
            Verdict::Right => self.right += 1,
            Verdict::Incomplete => self.incomplete += 1,
            Verdict::Failed => self.failed += 1,
            Verdict::Wrong => {
                self.wrong += 1;
                self.seeds.push(seed);
            }
        }
        self.seeds.truncate(SHOWN);
    }

    pub fn merge(&mut self, other: Self) {
        self.sessions += other.sessions;
        self.right += other.right;
        self.incomplete += other.incomplete;
        self.failed += other.failed;
        self.wrong += other.wrong;
        self.seeds.extend(other.seeds);
        self.seeds.truncate(SHOWN);
    }
}

/// A row for each cell.
pub fn table(counts: &BTreeMap<Cell, Count>) -> String {
    let mut table = String::from(
        "| wire | link | sessions | right | incomplete | failed | wrong | at most | seeds |\n\
         |---|---|---|---|---|---|---|---|---|\n",
    );
    for ((wire, link), count) in counts {
        let percent = |part: u64| 100.0 * part as f64 / count.sessions as f64;
        writeln!(
            table,
            "| {wire} | {link} | {} | {:.1} % | {:.1} % | {:.1} % | {} | {} | {:?} |",
            count.sessions,
            percent(count.right),
            percent(count.incomplete),
            percent(count.failed),
            count.wrong,
            most_wrong(rate(wire, link), count.sessions),
            count.seeds
        )
        .unwrap();
    }
    table
}

/// Fails if a cell has more wrong answers than its rate allows, or too few complete ones without
/// faults.
pub fn check(counts: &BTreeMap<Cell, Count>) {
    for ((wire, link), count) in counts {
        let most = most_wrong(rate(wire, link), count.sessions);
        let (wrong, seeds) = (count.wrong, &count.seeds);
        let known: Vec<&str> = rows(wire, link).iter().map(|row| row.why).collect();
        assert!(
            wrong <= most,
            "{wire}, {link}: {wrong} wrong of {most}, seeds {seeds:?}. Known: {known:?}"
        );
        let is_usual = *link == "calm" && count.sessions >= 100;
        assert!(
            !is_usual || count.right * 100 >= count.sessions * RIGHT,
            "{wire}: {} right of {}",
            count.right,
            count.sessions
        );
    }
}

/// The rows of a cell.
fn rows(wire: &str, link: &str) -> Vec<&'static Rate> {
    let rows = RATES.iter();
    rows.filter(|row| row.links.contains(&link) && row.wires.contains(&wire))
        .collect()
}

/// The complete and wrong answers of a million sessions.
fn rate(wire: &str, link: &str) -> f64 {
    let rates = rows(wire, link).into_iter().map(|row| row.per_million);
    rates.fold(0.0, f64::max)
}

/// The expected number, and four standard deviations more.
fn most_wrong(per_million: f64, sessions: u64) -> u64 {
    let expected = per_million * sessions as f64 / 1e6;
    (expected + 4.0 * expected.sqrt()).ceil() as u64
}
