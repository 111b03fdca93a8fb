//! Shrinks a failing session.

use std::collections::BTreeSet;
use std::fmt;

use crate::network::Fault;

/// The parts of a session to leave out.
///
/// It is written after the session's number:
///
/// - `.p2`: at most two players
/// - `.r0`: no rules
/// - `.t`: plain texts
/// - `.f3a`: without these faults, a mask of [`Fault::ALL`]
/// - `.c4-7`: these datagrams have no faults
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cut {
    pub players: Option<usize>,
    pub rules: Option<usize>,
    pub is_plain: bool,
    pub off: u32,
    pub calm: BTreeSet<u32>,
}

impl Cut {
    pub fn faults(&self) -> impl Iterator<Item = Fault> {
        Fault::ALL
            .into_iter()
            .filter(|fault| self.off >> (*fault as u32) & 1 == 1)
    }

    pub fn few_players(&self, count: usize) -> usize {
        count.min(self.players.unwrap_or(usize::MAX))
    }

    pub fn few_rules(&self, count: usize) -> usize {
        count.min(self.rules.unwrap_or(usize::MAX))
    }

    /// Whether the servers are the same as in the whole session.
    pub fn has_same_servers(&self) -> bool {
        self.players.is_none() && self.rules.is_none() && !self.is_plain
    }

    pub fn parse(text: &str) -> Option<Self> {
        let mut cut = Self::default();
        for part in text.split('.').filter(|part| !part.is_empty()) {
            let (name, rest) = part.split_at(1);
            match name {
                "p" => cut.players = Some(rest.parse().ok()?),
                "r" => cut.rules = Some(rest.parse().ok()?),
                "t" => cut.is_plain = true,
                "f" => cut.off = u32::from_str_radix(rest, 16).ok()?,
                "c" => {
                    cut.calm = rest
                        .split('-')
                        .map(str::parse)
                        .collect::<Result<_, _>>()
                        .ok()?;
                }
                _ => return None,
            }
        }
        Some(cut)
    }
}

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(players) = self.players {
            write!(f, ".p{players}")?;
        }
        if let Some(rules) = self.rules {
            write!(f, ".r{rules}")?;
        }
        if self.is_plain {
            f.write_str(".t")?;
        }
        if self.off != 0 {
            write!(f, ".f{:x}", self.off)?;
        }
        for (index, datagram) in self.calm.iter().enumerate() {
            write!(f, "{}{datagram}", if index == 0 { ".c" } else { "-" })?;
        }
        Ok(())
    }
}

/// The maximum number of sessions to run for shrinking one.
const TRIES: u32 = 400;

/// The largest cut with which the session still fails. `faulty` runs it and returns its datagrams
/// with a fault, if it fails for the same reason as before.
pub fn shrink(faulty: impl Fn(&Cut) -> Option<Vec<u32>>) -> Cut {
    let mut best = Cut::default();
    let Some(mut indices) = faulty(&best) else {
        return best;
    };
    let mut tries = 0;
    let mut attempt = |cut: Cut, best: &mut Cut, indices: &mut Vec<u32>| {
        tries += 1;
        if tries > TRIES || cut == *best {
            return false;
        }
        let Some(left) = faulty(&cut) else {
            return false;
        };
        (*best, *indices) = (cut, left);
        true
    };
    loop {
        let before = best.clone();
        attempt(
            Cut {
                is_plain: true,
                ..best.clone()
            },
            &mut best,
            &mut indices,
        );
        for count in [0, 1, 2, 4, 8, 16, 32] {
            let less = |is: Option<usize>| is.is_none_or(|is| is > count);
            if less(best.players)
                && attempt(
                    Cut {
                        players: Some(count),
                        ..best.clone()
                    },
                    &mut best,
                    &mut indices,
                )
            {
                break;
            }
        }
        for count in [0, 1, 4, 16] {
            let less = |is: Option<usize>| is.is_none_or(|is| is > count);
            if less(best.rules)
                && attempt(
                    Cut {
                        rules: Some(count),
                        ..best.clone()
                    },
                    &mut best,
                    &mut indices,
                )
            {
                break;
            }
        }
        for fault in Fault::ALL {
            let off = best.off | 1 << fault as u32;
            attempt(
                Cut {
                    off,
                    ..best.clone()
                },
                &mut best,
                &mut indices,
            );
        }
        // Try halves, then quarters and so on of the datagrams with a fault.
        let mut size = indices.len().next_power_of_two() / 2;
        while size > 0 {
            let mut start = 0;
            while start < indices.len() {
                let some = indices[start..indices.len().min(start + size)]
                    .iter()
                    .copied();
                let calm: BTreeSet<u32> = best.calm.iter().copied().chain(some).collect();
                if !attempt(
                    Cut {
                        calm,
                        ..best.clone()
                    },
                    &mut best,
                    &mut indices,
                ) {
                    start += size;
                }
            }
            size /= 2;
        }
        if best == before {
            return best;
        }
    }
}

#[test]
fn a_cut_is_what_its_name_says() {
    for name in ["", ".p2.r0.t.f3a.c4-7", ".c12", ".f1"] {
        assert_eq!(Cut::parse(name).unwrap().to_string(), name);
    }
    assert!(Cut::parse(".x").is_none());
}

#[test]
fn shrinking_removes_the_parts_that_a_failure_does_not_need() {
    let fails = |cut: &Cut| {
        let needs = !cut.calm.contains(&5)
            && cut.players.is_none_or(|count| count >= 2)
            && cut.off & 1 == 0;
        needs.then(|| (0..40).filter(|index| !cut.calm.contains(index)).collect())
    };
    let cut = shrink(fails);
    assert_eq!(
        (cut.players, cut.rules, cut.is_plain, cut.off & 1),
        (Some(2), Some(0), true, 0)
    );
    assert_eq!(cut.calm, (0..40).filter(|index| *index != 5).collect());
}
