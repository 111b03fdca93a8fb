//! The options of a master.

use super::registry::{Name, to_name};
use crate::address::Scope;
use crate::time::Duration;

/// Options of a master. The defaults are dpmaster's if it has the same setting.
///
/// ```
/// use queryport::quake3::master::Options;
///
/// let mut options = Options::default();
/// assert_eq!((options.max_servers, options.max_per_address), (16_384, 32));
/// assert_eq!(options.list_bytes_per_second, 4 << 20);
/// options.max_servers = 1000;
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    /// The maximum number of servers listed at a time; default 16,384. Further servers are refused,
    /// and listed servers stay.
    pub max_servers: usize,
    /// The maximum number of servers of one IPv4 address or one IPv6 /64; default 32.
    pub max_per_address: usize,
    /// Time that a server stays listed after it proved its address; default 15 min.
    pub lifetime: Duration,
    /// Addresses that may be listed; default [`Scope::Lan`]: all except those of this machine.
    pub scope: Scope,
    /// The games whose servers are listed, empty for all; default empty.
    pub only: Vec<String>,
    /// Games whose servers are not listed; default empty.
    pub except: Vec<String>,
    /// Further heartbeat tags and the games they name, in addition to those of the known engines:
    /// see [`Master::knows_tag`](super::Master::knows_tag). A tag needs two letters: a master must
    /// not answer a heartbeat with a much longer datagram.
    pub tags: Vec<(String, String)>,
    /// Lists that one IPv4 address or IPv6 /64 gets at once; default 4.
    pub lists_in_a_row: u16,
    /// Time until the next list after those; default 3 s.
    pub list_decay: Duration,
    /// The maximum number of bytes of lists per second, to all clients together; default 4 MiB, at
    /// least 64 KiB.
    ///
    /// The sender of a request can be forged, and the list is thousands of times longer. So this
    /// bounds the traffic that an attacker can direct at a victim. When more is requested, each
    /// request has the same chance of an answer.
    pub list_bytes_per_second: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            max_servers: 16_384,
            max_per_address: 32,
            lifetime: Duration::from_secs(15 * 60),
            scope: Scope::default(),
            only: Vec::new(),
            except: Vec::new(),
            tags: Vec::new(),
            lists_in_a_row: 4,
            list_decay: Duration::from_secs(3),
            list_bytes_per_second: 4 * 1024 * 1024,
        }
    }
}

impl Options {
    /// Whether servers of a game are listed.
    pub(super) fn accepts(&self, game: Name) -> bool {
        let is_chosen = self.only.is_empty() || has_game(&self.only, game);
        is_chosen && !has_game(&self.except, game)
    }
}

fn has_game(games: &[String], game: Name) -> bool {
    let mut names = games.iter().map(|known| to_name(known.as_bytes()));
    names.any(|name| name == Some(game))
}
