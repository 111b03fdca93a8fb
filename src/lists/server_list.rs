//! The list of servers that a list server sends.

use std::collections::BTreeSet;
use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};

use crate::limits::Limits;
use crate::model::Rules;

/// The list of servers that a list server sent.
///
/// ```
/// use queryport::ServerList;
///
/// fn summary(list: &ServerList) -> String {
///     format!(
///         "{} servers, {} out of scope: {}",
///         list.servers.len(),
///         list.out_of_scope,
///         list.completeness
///     )
/// }
/// let list = ServerList::default();
/// assert_eq!(summary(&list), "0 servers, 0 out of scope: incomplete");
/// assert!(!list.completeness.is_settled());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct ServerList {
    /// Addresses and query ports without repetitions, in the order of the list.
    pub servers: Vec<SocketAddr>,
    /// Whether all servers of the list have arrived.
    pub completeness: ListCompleteness,
    /// The number of addresses left out because of their scope, such as loopback addresses.
    pub out_of_scope: u32,
    /// The number of entries over [`Limits::with_max_servers`], repetitions included.
    pub over_limit: u32,
    /// The list server's entry for each server, in the order of the list.
    ///
    /// A server listed twice has two entries. Only lists of GameSpy v2 and UT2004 have entries.
    pub entries: Vec<ListedServer>,
    /// GameSpy v2: the client's address as the list server sees it.
    pub client: Option<Ipv4Addr>,
    /// GameSpy v2: flags of the requesting game.
    ///
    /// With 128, its servers answer queries only after a challenge.
    pub backend_flags: Option<u16>,
    /// UT2004: how many servers the list server announced.
    pub announced: Option<u32>,
}

impl ServerList {
    /// This list and the other servers of a second one, at most `max` together.
    #[cfg(any(feature = "blocking", feature = "tokio"))]
    pub(crate) fn merge(&mut self, other: Self, max: usize) {
        self.completeness = self.completeness.min(other.completeness);
        self.out_of_scope = self.out_of_scope.saturating_add(other.out_of_scope);
        self.over_limit = self.over_limit.saturating_add(other.over_limit);
        let mut known: BTreeSet<SocketAddr> = self.servers.iter().copied().collect();
        for server in other.servers {
            if !known.insert(server) {
                continue;
            }
            if self.servers.len() < max {
                self.servers.push(server);
            } else {
                self.over_limit = self.over_limit.saturating_add(1);
                self.completeness = ListCompleteness::Incomplete;
            }
        }
    }
}

/// The entry of a server in a list. It can be wrong or outdated: query the server itself.
///
/// ```
/// use queryport::ServerList;
///
/// fn print(list: &ServerList) {
///     for listed in &list.entries {
///         // UT2004's lists name it `ServerName`.
///         if let Some(name) = listed.fields.get("hostname") {
///             println!("{} {name}", listed.server);
///         }
///     }
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct ListedServer {
    /// The address that answers queries.
    pub server: SocketAddr,
    /// UT2004: the port that players connect to.
    pub game_port: Option<u16>,
    /// GameSpy v2: the server's address in its own network.
    pub private_address: Option<Ipv4Addr>,
    /// GameSpy v2: the query port in its own network.
    pub private_port: Option<u16>,
    /// GameSpy v2: the address to send pings to.
    pub ping_address: Option<Ipv4Addr>,
    /// The flags as received; their meaning depends on the protocol of the list.
    pub flags: Option<i32>,
    /// GameSpy v2: the requested fields, and those that the list server adds.
    ///
    /// UT2004: the entry's fields, named as in the info record.
    pub fields: Rules,
}

impl ListedServer {
    pub(super) fn new(server: SocketAddr, fields: Rules) -> Self {
        Self {
            server,
            fields,
            game_port: None,
            private_address: None,
            private_port: None,
            ping_address: None,
            flags: None,
        }
    }
}

/// How a list has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ListEnd {
    /// With its end mark, or with all announced servers.
    Whole,
    Cut,
}

/// Makes a [`ServerList`] from the entries of a stream. Entries over the limit use no memory.
#[derive(Debug, Default)]
pub(super) struct Collector {
    pub(super) list: ServerList,
    pub(super) limits: Limits,
    known: BTreeSet<SocketAddr>,
    /// The number of entries, repetitions included.
    pub(super) count: usize,
    /// The position in the stream of the first entry that cannot be parsed.
    pub(super) first_skipped: Option<usize>,
}

impl Collector {
    /// Adds a server. Returns whether there is room for its entry.
    pub(super) fn add(&mut self, server: SocketAddr) -> bool {
        let max = self.limits.max_servers();
        let has_room = self.count < max;
        self.count = self.count.saturating_add(1);
        if self.known.len() >= max && !self.known.contains(&server) {
            self.list.over_limit = self.list.over_limit.saturating_add(1);
        } else if self.known.insert(server) {
            self.list.servers.push(server);
        }
        has_room
    }

    /// Whether any entry has arrived, valid or not.
    pub(super) const fn has_entries(&self) -> bool {
        self.count > 0 || self.first_skipped.is_some()
    }

    pub(super) fn add_entry(&mut self, entry: ListedServer) {
        if self.add(entry.server) {
            self.list.entries.push(entry);
        }
    }

    pub(super) fn finish(&mut self, end: ListEnd) -> ServerList {
        let Self {
            mut list,
            first_skipped,
            ..
        } = std::mem::take(self);
        let has_all_entries = list.over_limit == 0 && first_skipped.is_none();
        if end == ListEnd::Whole && has_all_entries {
            list.completeness = ListCompleteness::Complete;
        }
        list
    }
}

/// Whether a [`ServerList`] has all servers of the list server, as far as that is known.
///
/// The variants are in ascending order: two lists together are as complete as the lesser of both.
/// A list over TCP is complete or not. Most lists over UDP have neither numbers nor a count, so
/// they are never complete: a client requests them several times and compares the passes. Only the
/// masters of Tremulous and Unvanquished number the datagrams, of an extended list.
///
/// ```
/// use queryport::lists::ListCompleteness;
///
/// let settled = ListCompleteness::Settled;
/// assert!(settled.is_settled() && !settled.is_complete());
/// assert!(ListCompleteness::Incomplete < settled && settled < ListCompleteness::Complete);
/// assert_eq!(settled.to_string(), "settled, each address came at least twice");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case")
)]
#[non_exhaustive]
pub enum ListCompleteness {
    /// The list is only a part: because of a timeout, a broken connection, damaged bytes or a
    /// limit.
    #[default]
    Incomplete,
    /// A list over UDP in which some addresses, or all, came in only one pass. Other passes lost
    /// them, or the servers joined or left meanwhile.
    Unsettled,
    /// A list over UDP in which each address came in at least two passes, those out of scope
    /// included.
    ///
    /// It can still lack servers: a datagram that every pass lost goes unnoticed. More passes make
    /// that less likely, see [`Quake3List::with_passes`](super::Quake3List::with_passes).
    Settled,
    /// The whole list has arrived: over TCP its end mark or all announced servers, over UDP all
    /// numbered datagrams.
    Complete,
}

impl ListCompleteness {
    /// Whether the list is known to be complete.
    pub const fn is_complete(self) -> bool {
        matches!(self, Self::Complete)
    }

    /// Whether the list is complete, or each address came in at least two passes.
    pub const fn is_settled(self) -> bool {
        matches!(self, Self::Complete | Self::Settled)
    }
}

impl fmt::Display for ListCompleteness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Incomplete => "incomplete",
            Self::Unsettled => "not settled, some addresses came only once",
            Self::Settled => "settled, each address came at least twice",
            Self::Complete => "complete",
        })
    }
}

#[cfg(test)]
#[cfg(any(feature = "blocking", feature = "tokio"))]
mod tests {
    use super::*;

    fn list(hosts: std::ops::Range<u8>, completeness: ListCompleteness) -> ServerList {
        let servers = hosts.map(|host| ([192, 0, 2, host], 27960).into());
        ServerList {
            servers: servers.collect(),
            completeness,
            over_limit: 1,
            out_of_scope: 2,
            ..ServerList::default()
        }
    }

    #[test]
    fn two_lists_are_one_with_each_server_once_as_complete_as_the_lesser_if_all_fit() {
        use ListCompleteness::{Complete, Incomplete, Settled, Unsettled};
        for (first, second, max, expected) in [
            (Settled, Settled, 5, Settled),
            (Complete, Settled, 5, Settled),
            (Unsettled, Complete, 5, Unsettled),
            (Unsettled, Incomplete, 5, Incomplete),
            (Complete, Complete, 3, Incomplete),
        ] {
            let mut merged = list(1..4, first);
            merged.merge(list(3..6, second), max);
            assert_eq!(merged.servers, list(1..6, first).servers[..max]);
            assert_eq!(merged.over_limit, 2 + u32::from(max < 5) * 2);
            assert_eq!((merged.out_of_scope, merged.completeness), (4, expected));
        }
    }
}
