//! How the server side answers.

/// Which implementation to imitate.
///
/// ```
/// use queryport::quake3::server::{Dialect, Options};
/// use queryport::serve::Service;
///
/// let xonotic = Service::from(Options::new(Dialect::DarkPlaces));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[non_exhaustive]
pub enum Dialect {
    /// ioquake3: player lines of score, ping and name; a challenge is a number, and `getchallenge` names its game.
    #[default]
    Standard,
    /// DarkPlaces (Nexuiz, Xonotic): where players have teams, the team stands before the name; `getchallenge` is answered
    /// with `challenge` and eleven characters.
    DarkPlaces,
    /// Warsow: the team stands after the name; `getchallenge` is answered with `challenge` and a number.
    Warsow,
    /// Soldier of Fortune II: the team stands before the name.
    SoldierOfFortune2,
    /// Medal of Honor: player lines of ping and name; a direction byte of 0x01 in every reply.
    MedalOfHonor,
}

/// How a server answers.
///
/// ```
/// use queryport::quake3::server::{Dialect, Options};
///
/// let mut options = Options::new(Dialect::DarkPlaces);
/// assert_eq!(options.protocol, 3);
/// options.max_reply = 8192;
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// Which implementation to imitate.
    pub dialect: Dialect,
    /// The protocol number of the game, which masters filter by, where the status does not say it
    /// ([`ServerStatus::protocol_version`](crate::ServerStatus::protocol_version)); default 3 for DarkPlaces, else 68, Quake
    /// III Arena 1.32.
    pub protocol: u32,
    /// Most bytes of a reply. Players that do not fit are left out, for the format has no second datagram, and the key
    /// `clients` says how many there are. The default, 1,396, stays below the Internet's usual packet size.
    pub max_reply: usize,
}

impl Options {
    /// The defaults of a dialect.
    #[must_use]
    pub const fn new(dialect: Dialect) -> Self {
        let protocol = if matches!(dialect, Dialect::DarkPlaces) { 3 } else { 68 };
        Self { dialect, protocol, max_reply: 1396 }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self::new(Dialect::default())
    }
}
