//! Whether an answer is complete, and whether it is proved to answer its request.

use std::fmt;

/// Whether an answer is complete, and what is missing.
///
/// `Display` writes it in words:
///
/// ```
/// use queryport::{Completeness, Part};
///
/// let whole = Completeness::Complete;
/// assert!(whole.is_complete());
/// assert_eq!(whole.to_string(), "complete");
///
/// let partial = whole.without(Part::Players).without_fragments(2);
/// assert_eq!(partial.to_string(), "incomplete: players and 2 datagrams are missing");
/// let Completeness::Incomplete(missing) = partial else { panic!() };
/// assert!(missing.contains(Part::Players) && !missing.contains(Part::Rules));
/// assert_eq!(missing.fragments(), 2);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Completeness {
    /// The whole reply has arrived, as far as the protocol shows.
    #[default]
    Complete,
    /// Parts of the reply are missing. The answer has the parts that arrived.
    Incomplete(Missing),
}

impl Completeness {
    /// Whether nothing is missing.
    #[must_use]
    pub const fn is_complete(self) -> bool {
        matches!(self, Self::Complete)
    }

    /// Adds a missing part.
    #[must_use]
    pub fn without(self, part: Part) -> Self {
        let mut missing = self.missing();
        *missing.part_mut(part) = true;
        Self::Incomplete(missing)
    }

    /// Adds missing datagrams; 0 changes nothing.
    #[must_use]
    pub fn without_fragments(self, count: u16) -> Self {
        let mut missing = self.missing();
        missing.fragments = missing.fragments.saturating_add(count);
        missing.completeness()
    }

    const fn missing(self) -> Missing {
        match self {
            Self::Complete => Missing::NOTHING,
            Self::Incomplete(missing) => missing,
        }
    }
}

impl fmt::Display for Completeness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Complete => f.pad("complete"),
            Self::Incomplete(missing) => write!(f, "incomplete: {missing} missing"),
        }
    }
}

/// A part of an answer that can be missing.
///
/// ```
/// use queryport::{Completeness, Part};
///
/// let partial = Completeness::Complete.without(Part::Rules);
/// assert_eq!(partial.to_string(), "incomplete: rules are missing");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Part {
    /// The description of the server: name, map, counts.
    Info,
    /// The rules, or some of them.
    Rules,
    /// The players, or some of them.
    Players,
    /// The teams, or some of them.
    Teams,
    /// The end mark of the reply: how much more would have followed is unknown.
    End,
}

/// The missing parts of an answer: at least one [`Part`] or datagram. See [`Completeness`], whose example reads one, and
/// [`Completeness::without`], which makes one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "Fields"))]
pub struct Missing {
    pub(crate) info: bool,
    pub(crate) rules: bool,
    pub(crate) players: bool,
    pub(crate) teams: bool,
    pub(crate) end: bool,
    pub(crate) fragments: u16,
}

impl Missing {
    /// No parts: the start of collecting them. It stays private, [`Self::completeness`] converts it to `Complete`.
    pub(crate) const NOTHING: Self =
        Self { info: false, rules: false, players: false, teams: false, end: false, fragments: 0 };

    /// Whether this part is missing.
    #[must_use]
    pub const fn contains(self, part: Part) -> bool {
        match part {
            Part::Info => self.info,
            Part::Rules => self.rules,
            Part::Players => self.players,
            Part::Teams => self.teams,
            Part::End => self.end,
        }
    }

    /// Datagrams that exist and did not arrive, as the numbers of the others show.
    #[must_use]
    pub const fn fragments(self) -> u16 {
        self.fragments
    }

    /// [`Completeness`] of an answer without these parts.
    pub(crate) fn completeness(self) -> Completeness {
        if self == Self::NOTHING { Completeness::Complete } else { Completeness::Incomplete(self) }
    }

    const fn part_mut(&mut self, part: Part) -> &mut bool {
        match part {
            Part::Info => &mut self.info,
            Part::Rules => &mut self.rules,
            Part::Players => &mut self.players,
            Part::Teams => &mut self.teams,
            Part::End => &mut self.end,
        }
    }
}

/// The parts in words, with the verb: `rules and players are`.
impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            (self.info, "the description"),
            (self.rules, "rules"),
            (self.players, "players"),
            (self.teams, "teams"),
            (self.end, "the end mark"),
        ];
        let datagrams = match self.fragments {
            0 => None,
            1 => Some("1 datagram".to_owned()),
            count => Some(format!("{count} datagrams")),
        };
        let mut words: Vec<&str> =
            parts.iter().filter_map(|(missing, word)| missing.then_some(*word)).collect();
        words.extend(datagrams.as_deref());
        let one = words.len() == 1 && (self.info || self.end || self.fragments == 1);
        let verb = if one { "is" } else { "are" };
        match words.split_last() {
            Some((last, [])) => write!(f, "{last} {verb}"),
            Some((last, rest)) => write!(f, "{} and {last} {verb}", rest.join(", ")),
            None => f.write_str("nothing is"),
        }
    }
}

/// [`Missing`] in JSON, before the check that a part is missing.
#[cfg(feature = "serde")]
#[derive(Default, serde::Deserialize)]
#[serde(default)]
struct Fields {
    info: bool,
    rules: bool,
    players: bool,
    teams: bool,
    end: bool,
    fragments: u16,
}

#[cfg(feature = "serde")]
impl TryFrom<Fields> for Missing {
    type Error = &'static str;

    fn try_from(fields: Fields) -> Result<Self, Self::Error> {
        let Fields { info, rules, players, teams, end, fragments } = fields;
        let missing = Self { info, rules, players, teams, end, fragments };
        if missing == Self::NOTHING {
            Err("an incomplete answer lacks at least one part")
        } else {
            Ok(missing)
        }
    }
}

/// Whether a reply is proved to answer the request.
///
/// Anybody who guesses the port of a query can forge a reply. A reply that repeats the random challenge of the request comes
/// from a host that received the request.
///
/// ```
/// use queryport::{ServerStatus, Verification};
///
/// fn mark(status: &ServerStatus) -> &'static str {
///     match status.verification {
///         Verification::Verified => "",
///         Verification::Unverified => " (without the challenge)",
///         _ => " (the protocol has no challenge)",
///     }
/// }
/// assert_eq!(mark(&ServerStatus::default()), " (the protocol has no challenge)");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Verification {
    /// The protocol has no challenge, or the request is not known. Only the sender's address was checked.
    #[default]
    Unavailable,
    /// The request had a challenge, and the reply has none: an old server, or a forgery.
    Unverified,
    /// The reply repeats the challenge of the request.
    Verified,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_parts_in_words() {
        let shown = |completeness: Completeness| completeness.to_string();
        let whole = Completeness::Complete;
        assert_eq!(shown(whole.without(Part::End)), "incomplete: the end mark is missing");
        assert_eq!(shown(whole.without_fragments(1)), "incomplete: 1 datagram is missing");
        assert_eq!(shown(whole.without(Part::Rules)), "incomplete: rules are missing");
        assert_eq!(
            shown(whole.without(Part::Info).without(Part::Rules).without(Part::Players)),
            "incomplete: the description, rules and players are missing"
        );
        assert_eq!(whole.without_fragments(0), Completeness::Complete);
    }
}
