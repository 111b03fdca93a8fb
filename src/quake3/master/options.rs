//! How a master behaves.

use std::time::Duration;

use super::games::Policy;
use crate::address::Scope;

/// How a master behaves. The defaults are dpmaster's where it has the same setting.
///
/// ```
/// use queryport::quake3::master::Options;
///
/// let mut options = Options::default();
/// options.max_servers = 1000;
/// assert_eq!(options.max_per_address, 32);
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    /// Most servers listed at a time; default 16,384. Further ones are refused, those listed stay.
    pub max_servers: usize,
    /// Most servers of one IPv4 address or one IPv6 /64; default 32.
    pub max_per_address: usize,
    /// How long a server stays listed after it proved its address; default 15 min.
    pub lifetime: Duration,
    /// Which addresses may be listed; default [`Scope::Lan`]: all but the machine itself.
    pub scope: Scope,
    /// Which games are listed; default all.
    pub games: Policy,
    /// Further heartbeat tags and the games they stand for, beside `DarkPlaces`, `QuakeArena-1`, `Wolfenstein-1` and
    /// `EnemyTerritory-1`. A tag needs five letters: a master must not answer a heartbeat with a longer datagram.
    pub tags: Vec<(String, String)>,
    /// Lists that one IPv4 address or IPv6 /64 gets in a row; default 4.
    pub lists_in_a_row: u16,
    /// How long it waits for the next one after that; default 3 s.
    pub list_decay: Duration,
    /// Most bytes of lists a second, to all clients together; default 4 MiB, at least 64 KiB. The sender of a request can
    /// be forged and the list is thousands of times longer: this bounds what a master can be made to send to a victim. When
    /// more is asked for, each request has the same chance to get its list.
    pub list_bytes_per_second: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            max_servers: 16_384,
            max_per_address: 32,
            lifetime: Duration::from_secs(15 * 60),
            scope: Scope::default(),
            games: Policy::default(),
            tags: Vec::new(),
            lists_in_a_row: 4,
            list_decay: Duration::from_secs(3),
            list_bytes_per_second: 4 * 1024 * 1024,
        }
    }
}
