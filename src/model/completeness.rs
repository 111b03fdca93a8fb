//! Whether an answer is complete, and whether it is proved to answer its request.

use std::fmt;

use crate::error::counted;

/// Whether an answer is complete, and which parts are missing.
///
/// `Display` writes it in words:
///
/// ```
/// use queryport::{Completeness, Part};
///
/// let whole = Completeness::COMPLETE;
/// assert!(whole.is_complete());
/// assert_eq!(whole.to_string(), "complete");
///
/// let partial = whole.without(Part::Players);
/// assert_eq!(partial.to_string(), "incomplete: players are missing");
/// assert!(partial.lacks(Part::Players) && !partial.lacks(Part::Rules));
/// assert_eq!(partial.missing_parts().collect::<Vec<_>>(), [Part::Players]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(into = "Json", try_from = "Json")
)]
pub struct Completeness {
    missing: MissingParts,
}

/// The missing parts, as the answers of the protocols collect them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default)
)]
pub(crate) struct MissingParts {
    pub(crate) info: bool,
    pub(crate) rules: bool,
    pub(crate) players: bool,
    pub(crate) teams: bool,
    /// The end mark.
    pub(crate) end: bool,
    /// Datagrams.
    pub(crate) fragments: u16,
}

impl MissingParts {
    pub(crate) const NOTHING: Self = Self {
        info: false,
        rules: false,
        players: false,
        teams: false,
        end: false,
        fragments: 0,
    };

    const fn part(&mut self, part: Part) -> &mut bool {
        match part {
            Part::Info => &mut self.info,
            Part::Rules => &mut self.rules,
            Part::Players => &mut self.players,
            Part::Teams => &mut self.teams,
            Part::End => &mut self.end,
        }
    }
}

impl From<MissingParts> for Completeness {
    fn from(missing: MissingParts) -> Self {
        Self { missing }
    }
}

impl Completeness {
    /// Nothing is missing: the whole reply has arrived, as far as the protocol shows.
    pub const COMPLETE: Self = Self {
        missing: MissingParts::NOTHING,
    };

    /// Whether nothing is missing.
    pub fn is_complete(self) -> bool {
        self == Self::COMPLETE
    }

    /// Whether this part is missing, in whole or in part.
    pub const fn lacks(mut self, part: Part) -> bool {
        *self.missing.part(part)
    }

    /// The parts that are missing, in whole or in part.
    pub fn missing_parts(self) -> impl Iterator<Item = Part> {
        use Part::{End, Info, Players, Rules, Teams};
        [Info, Rules, Players, Teams, End]
            .into_iter()
            .filter(move |part| self.lacks(*part))
    }

    /// The number of missing datagrams, as far as the numbers of the others show it.
    pub const fn missing_fragments(self) -> u16 {
        self.missing.fragments
    }

    /// Adds a missing part.
    #[must_use]
    pub const fn without(mut self, part: Part) -> Self {
        *self.missing.part(part) = true;
        self
    }
}

impl fmt::Display for Completeness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let missing = self.missing;
        let datagrams =
            (missing.fragments > 0).then(|| counted(missing.fragments.into(), "datagram"));
        let words = |part| match part {
            Part::Info => "the description",
            Part::Rules => "rules",
            Part::Players => "players",
            Part::Teams => "teams",
            Part::End => "the end mark",
        };
        let mut words: Vec<&str> = self.missing_parts().map(words).collect();
        words.extend(datagrams.as_deref());
        let is_one_thing = missing.info || missing.end || missing.fragments == 1;
        let verb = if words.len() == 1 && is_one_thing {
            "is"
        } else {
            "are"
        };
        match words.split_last() {
            Some((last, [])) => write!(f, "incomplete: {last} {verb} missing"),
            Some((last, rest)) => write!(
                f,
                "incomplete: {} and {last} {verb} missing",
                rest.join(", ")
            ),
            None => f.pad("complete"),
        }
    }
}

/// [`Completeness`] in JSON: `"complete"`, or an object with the missing parts.
#[cfg(feature = "serde")]
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
enum Json {
    Complete,
    Incomplete(MissingParts),
}

#[cfg(feature = "serde")]
impl From<Completeness> for Json {
    fn from(completeness: Completeness) -> Self {
        if completeness.is_complete() {
            Self::Complete
        } else {
            Self::Incomplete(completeness.missing)
        }
    }
}

#[cfg(feature = "serde")]
impl TryFrom<Json> for Completeness {
    type Error = &'static str;

    fn try_from(json: Json) -> Result<Self, Self::Error> {
        match json {
            Json::Complete => Ok(Self::COMPLETE),
            Json::Incomplete(MissingParts::NOTHING) => {
                Err("an incomplete answer lacks at least one part")
            }
            Json::Incomplete(missing) => Ok(missing.into()),
        }
    }
}

/// A part of an answer that can be missing.
///
/// ```
/// use queryport::{Completeness, Part};
///
/// let partial = Completeness::COMPLETE.without(Part::Rules);
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

/// Whether a reply is proved to answer the request.
///
/// Anybody who guesses the port of a query can forge a reply. A reply that repeats the random
/// challenge of the request comes from a host that received it.
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
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case")
)]
#[non_exhaustive]
pub enum Verification {
    /// The protocol has no challenge, or the request is not known. Only the sender's address was
    /// checked.
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
        let whole = Completeness::COMPLETE;
        assert_eq!(
            shown(whole.without(Part::End)),
            "incomplete: the end mark is missing"
        );
        assert_eq!(
            shown(whole.without(Part::Info)),
            "incomplete: the description is missing"
        );
        let without_fragments = |fragments| MissingParts {
            fragments,
            ..MissingParts::NOTHING
        };
        assert_eq!(
            shown(without_fragments(1).into()),
            "incomplete: 1 datagram is missing"
        );
        assert_eq!(
            shown(without_fragments(2).into()),
            "incomplete: 2 datagrams are missing"
        );
        assert_eq!(
            shown(Completeness::from(without_fragments(2)).without(Part::Players)),
            "incomplete: players and 2 datagrams are missing"
        );
        assert_eq!(
            shown(whole.without(Part::Rules)),
            "incomplete: rules are missing"
        );
        assert_eq!(
            shown(
                whole
                    .without(Part::Info)
                    .without(Part::Rules)
                    .without(Part::Players)
                    .without(Part::Teams)
            ),
            "incomplete: the description, rules, players and teams are missing"
        );
    }
}
