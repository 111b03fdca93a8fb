//! The names of the protocols.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::options::Dialect;
#[cfg(all(feature = "games", feature = "tokio"))]
use crate::options::QueryOptions;

/// A query protocol.
///
/// ```
/// use queryport::Protocol;
///
/// let protocol: Protocol = "quake3".parse()?;
/// assert_eq!(protocol.default_query_port(), 27960);
/// assert_eq!(protocol.to_string(), "quake3");
/// # Ok::<(), queryport::UnknownProtocol>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "lowercase")
)]
#[non_exhaustive]
pub enum Protocol {
    /// GameSpy v1, the backslash protocol of UT99 and games of its time, see
    /// [`gamespy1`](crate::gamespy1).
    #[doc(alias = "gs1")]
    GameSpy1,
    /// GameSpy v4, see [`gamespy4`](crate::gamespy4). `gamespy3`, as rust gamedig, node gamedig and
    /// GameQ call it, parses as this protocol as well.
    #[doc(alias("gamespy3", "gs3", "gs4"))]
    GameSpy4,
    /// Quake 3's out-of-band packets, see [`quake3`](crate::quake3).
    Quake3,
    /// Unreal Engine 2's binary records, see [`ut2004`](crate::ut2004). `unreal2` parses as this
    /// protocol as well.
    #[doc(alias = "unreal2")]
    Ut2004,
}

impl Protocol {
    /// All protocols.
    pub const ALL: [Self; 4] = [Self::GameSpy1, Self::GameSpy4, Self::Quake3, Self::Ut2004];

    /// The name that [`FromStr`] and `Display` use: `gamespy1`, `gamespy4`, `quake3`, `ut2004`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::GameSpy1 => "gamespy1",
            Self::GameSpy4 => "gamespy4",
            Self::Quake3 => "quake3",
            Self::Ut2004 => "ut2004",
        }
    }

    /// The default query port of the protocol's best-known game: 7778 (Unreal Tournament), 6500
    /// (Unreal Tournament 3), 27960 (Quake III Arena) and 7778 (UT2004). Other games use others.
    pub const fn default_query_port(self) -> u16 {
        match self {
            Self::GameSpy1 | Self::Ut2004 => 7778,
            Self::Quake3 => 27960,
            // Unreal Tournament 3. Minecraft uses 25565, Battlefield 2 uses 29900.
            Self::GameSpy4 => 6500,
        }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A text that is not the name of a protocol. `Display` lists the names.
///
/// ```
/// use queryport::Protocol;
///
/// let error = "quake9".parse::<Protocol>().unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "unknown protocol \"quake9\": expected one of gamespy1, gamespy4, quake3, ut2004"
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("unknown protocol {0:?}: {expected}", expected = self.expected())]
pub struct UnknownProtocol(String);

impl UnknownProtocol {
    /// Advice for a name of other tools or of a well-known game that no protocol here can query.
    ///
    /// ```
    /// use queryport::Protocol;
    ///
    /// let error = "a2s".parse::<Protocol>().unwrap_err();
    /// assert!(error.advice().unwrap().starts_with("it speaks Valve's A2S"));
    /// ```
    pub fn advice(&self) -> Option<&'static str> {
        advice(&self.0)
    }

    #[cfg(all(feature = "games", any(feature = "blocking", feature = "tokio")))]
    pub(crate) fn text(&self) -> &str {
        &self.0
    }

    fn expected(&self) -> String {
        match self.advice() {
            Some(advice) => advice.to_owned(),
            None => format!("expected one of {}", names()),
        }
    }
}

/// The names of all protocols.
pub(crate) fn names() -> String {
    Protocol::ALL.map(Protocol::as_str).join(", ")
}

/// Advice for a name that other tools or people use, and that is not the name of a protocol or game
/// here.
pub(crate) fn advice(name: &str) -> Option<&'static str> {
    let folded = name.to_lowercase().replace([' ', '-', '_', ':', '.'], "");
    let advice = match folded.as_str() {
        "gamespy" | "gs1" => "the protocol is gamespy1 here",
        "gamespy2" | "gs2" => {
            "the protocol is gamespy4 here; to use GameSpy v2, give the name of a game, such as halo, \
             fear or battlefieldvietnam"
        }
        "gamespy3" | "gs3" | "gs4" => {
            "the protocol is gamespy4 here; other tools call it gamespy3 too"
        }
        "q3" | "idtech3" => "the protocol is quake3 here",
        "unreal" | "unrealengine2" => {
            "the protocol is ut2004 or, for Unreal and UT99, gamespy1 here"
        }
        "a2s" | "valve" | "source" | "steam" => VALVE,
        name if VALVE_GAMES.contains(&name) => VALVE,
        _ => return None,
    };
    Some(advice)
}

const VALVE: &str = "it speaks Valve's A2S, which queryport cannot query";

/// Well-known games whose servers answer Valve's queries.
const VALVE_GAMES: [&str; 32] = [
    "7daystodie",
    "7d2d",
    "ark",
    "arma3",
    "conanexiles",
    "counterstrike",
    "counterstrike2",
    "cs",
    "cs16",
    "cs2",
    "csgo",
    "css",
    "dayz",
    "garrysmod",
    "gmod",
    "halflife",
    "halflife2",
    "hl",
    "hl2",
    "hl2dm",
    "insurgency",
    "l4d",
    "l4d2",
    "left4dead",
    "left4dead2",
    "rust",
    "squad",
    "teamfortress2",
    "tf2",
    "unturned",
    "valheim",
    "zomboid",
];

impl FromStr for Protocol {
    type Err = UnknownProtocol;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text.to_ascii_lowercase().as_str() {
            "gamespy1" => Self::GameSpy1,
            // `gamespy3` and `unreal2` are the names in other tools.
            "gamespy4" | "gamespy3" => Self::GameSpy4,
            "quake3" => Self::Quake3,
            "ut2004" | "unreal2" => Self::Ut2004,
            _ => return Err(UnknownProtocol(text.to_owned())),
        })
    }
}

/// A protocol by its name, for [`Client::query`](crate::Client::query) and similar methods.
macro_rules! from_text {
    ($($text:ty),*) => {
        $(impl TryFrom<$text> for Protocol {
            type Error = UnknownProtocol;

            fn try_from(text: $text) -> Result<Self, Self::Error> {
                text.parse()
            }
        })*
    };
}

from_text! { &str, &String, String }

impl From<&Self> for Protocol {
    fn from(protocol: &Self) -> Self {
        *protocol
    }
}

impl Dialect {
    /// The protocol of the dialect; `None` for [`Dialect::Standard`], which every protocol has.
    pub const fn protocol(self) -> Option<Protocol> {
        match self {
            Self::Standard => None,
            Self::XServerQuery => Some(Protocol::GameSpy1),
            Self::Minecraft | Self::GameSpy2 | Self::JustCause2 => Some(Protocol::GameSpy4),
            Self::MedalOfHonor | Self::NoChallenge | Self::InfoOnly | Self::OpenJk => {
                Some(Protocol::Quake3)
            }
            Self::Quake2 | Self::QuakeWorld => Some(Protocol::Quake3),
            Self::SeparateLists => Some(Protocol::Ut2004),
        }
    }

    /// Whether servers of the protocol can have the dialect.
    #[cfg(any(feature = "blocking", feature = "tokio"))]
    pub(crate) fn fits(self, protocol: Protocol) -> bool {
        self.protocol().is_none_or(|own| own == protocol)
    }
}

#[cfg(all(feature = "games", feature = "tokio"))]
impl QueryOptions {
    /// These options without a dialect of another protocol.
    pub(crate) fn within(self, protocol: Protocol) -> Self {
        if self.dialect.fits(protocol) {
            self
        } else {
            self.with_dialect(Dialect::Standard)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_protocol_has_the_port_of_its_best_known_game() {
        let ports = Protocol::ALL.map(Protocol::default_query_port);
        assert_eq!(ports, [7778, 6500, 27960, 7778]);
    }

    #[test]
    fn a_dialect_belongs_to_one_protocol() {
        use Dialect::{GameSpy2, JustCause2, Minecraft, SeparateLists, XServerQuery};
        use Dialect::{InfoOnly, MedalOfHonor, NoChallenge, OpenJk, Quake2, QuakeWorld};
        for (protocol, dialects) in [
            (Protocol::GameSpy1, &[XServerQuery][..]),
            (Protocol::GameSpy4, &[Minecraft, GameSpy2, JustCause2]),
            (Protocol::Quake3, &[MedalOfHonor, NoChallenge, InfoOnly]),
            (Protocol::Quake3, &[OpenJk, Quake2, QuakeWorld]),
            (Protocol::Ut2004, &[SeparateLists]),
        ] {
            for dialect in dialects {
                assert_eq!(dialect.protocol(), Some(protocol), "{dialect:?}");
            }
        }
    }

    #[test]
    fn names_are_parsed_in_any_case() {
        for protocol in Protocol::ALL {
            assert_eq!(protocol.as_str().to_uppercase().parse(), Ok(protocol));
        }
        assert_eq!("Unreal2".parse(), Ok(Protocol::Ut2004));
        assert_eq!("gamespy3".parse(), Ok(Protocol::GameSpy4));
        let error = "quake9".parse::<Protocol>().unwrap_err().to_string();
        assert!(
            error.starts_with("unknown protocol \"quake9\": expected one of gamespy1, "),
            "{error}"
        );
    }

    #[test]
    fn names_of_other_tools_have_advice() {
        for (names, advice) in [
            ("gamespy gs1 GameSpy", "gamespy1 here"),
            ("gamespy2 gs2", "such as halo"),
            ("gs3 gs4", "the protocol is gamespy4 here"),
            ("q3 idtech3 id-tech-3", "quake3 here"),
            ("unreal unrealengine2 Unreal_Engine:2", "ut2004"),
            (
                "a2s valve source steam csgo CS:GO cs1.6 half-life",
                "it speaks Valve's A2S",
            ),
        ] {
            for name in names.split_whitespace() {
                let error = name.parse::<Protocol>().unwrap_err().to_string();
                assert!(error.contains(advice), "{error}");
            }
        }
        // As the name of a protocol, it needs none.
        assert!(advice("gamespy3").unwrap().contains("gamespy4 here"));
        assert_eq!(advice("Half Life"), advice("hl"));
        assert_eq!(advice("minecraft"), None);
    }
}
