//! What a master listed.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use crate::model::Completeness;

/// What a master listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerList {
    pub(super) servers: Vec<SocketAddr>,
    pub(super) refused: u32,
    pub(super) datagrams: u32,
    pub(super) passes: u8,
    pub(super) completeness: Completeness,
}

impl ServerList {
    /// The servers in the order of their arrival, each once.
    #[must_use]
    pub fn servers(&self) -> &[SocketAddr] {
        &self.servers
    }

    /// The same as a set, sorted by address.
    #[must_use]
    pub fn to_set(&self) -> BTreeSet<SocketAddr> {
        self.servers.iter().copied().collect()
    }

    /// Entries left out because their address is out of [`Scope`](super::Scope).
    #[must_use]
    pub const fn refused(&self) -> u32 {
        self.refused
    }

    /// Datagrams that were read, copies included.
    #[must_use]
    pub const fn datagrams(&self) -> u32 {
        self.datagrams
    }

    /// How often the master was asked and answered, or was asked in vain after it had answered before.
    #[must_use]
    pub const fn passes(&self) -> u8 {
        self.passes
    }

    /// Complete: the end mark came, and where the master was asked more than once, its last answer brought nothing
    /// new and what every answer may have lost is estimated at less than 0.02 datagrams. After a single pass a
    /// datagram may be missing all the same: nothing on the wire tells. `end`: no end mark, a damaged datagram, or more
    /// servers than the limit allows. `fragments`: the answers disagree too much; how many datagrams are likely to be
    /// missing from all of them, at least 1.
    #[must_use]
    pub const fn completeness(&self) -> Completeness {
        self.completeness
    }
}
