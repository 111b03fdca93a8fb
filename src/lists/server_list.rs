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
/// A list over TCP is complete or not. Most lists over UDP have neither numbers nor a count, so
/// they are never complete: a client requests them several times and compares the passes. Only the
/// masters of Tremulous and Unvanquished number the datagrams, of an extended list.
///
/// ```
/// use queryport::lists::ListCompleteness;
///
/// let settled = ListCompleteness::Passes { count: 2, once: 0 };
/// assert!(settled.is_settled() && !settled.is_complete());
/// assert_eq!(
///     settled.to_string(),
///     "settled after 2 passes, each address came at least twice"
/// );
/// let lossy = ListCompleteness::Passes { count: 2, once: 7 };
/// assert!(!lossy.is_settled());
/// assert_eq!(
///     lossy.to_string(),
///     "not settled after 2 passes, 7 addresses came only once"
/// );
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case")
)]
#[non_exhaustive]
pub enum ListCompleteness {
    /// The whole list has arrived: over TCP its end mark or all announced servers, over UDP all
    /// numbered datagrams.
    Complete,
    /// A list over UDP without numbers. See [`Self::is_settled`].
    Passes {
        /// How many requests the master answered.
        count: u8,
        /// How many addresses came in only one pass, those out of scope included. Other passes lost
        /// them, or the servers joined or left meanwhile.
        once: u32,
    },
    /// The list is only a part: because of a timeout, a broken connection, damaged bytes or a
    /// limit.
    #[default]
    Incomplete,
}

impl ListCompleteness {
    /// Whether the list is known to be complete.
    ///
    /// For a list over UDP, this needs numbered datagrams.
    pub const fn is_complete(self) -> bool {
        matches!(self, Self::Complete)
    }

    /// Whether the list is complete, or each address came in at least two passes.
    ///
    /// A settled list can still lack servers: a datagram that every pass lost goes unnoticed. More
    /// passes make that less likely, see
    /// [`Quake3List::with_passes`](super::Quake3List::with_passes).
    pub const fn is_settled(self) -> bool {
        matches!(
            self,
            Self::Complete
                | Self::Passes {
                    count: 2..,
                    once: 0
                }
        )
    }
}

impl fmt::Display for ListCompleteness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Complete => f.pad("complete"),
            Self::Incomplete => f.pad("incomplete"),
            Self::Passes { count: 0 | 1, .. } => f.pad("not settled after one pass"),
            Self::Passes { count, once: 0 } => {
                write!(
                    f,
                    "settled after {count} passes, each address came at least twice"
                )
            }
            Self::Passes { count, once } => {
                let addresses = if *once == 1 { "address" } else { "addresses" };
                write!(
                    f,
                    "not settled after {count} passes, {once} {addresses} came only once"
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ListCompleteness;

    #[test]
    fn completeness_in_words() {
        let passes = |count, once| ListCompleteness::Passes { count, once };
        for (completeness, words) in [
            (ListCompleteness::Complete, "complete"),
            (ListCompleteness::Incomplete, "incomplete"),
            (passes(0, 0), "not settled after one pass"),
            (passes(1, 7), "not settled after one pass"),
            (
                passes(2, 0),
                "settled after 2 passes, each address came at least twice",
            ),
            (
                passes(3, 1),
                "not settled after 3 passes, 1 address came only once",
            ),
            (
                passes(3, 2),
                "not settled after 3 passes, 2 addresses came only once",
            ),
        ] {
            assert_eq!(completeness.to_string(), words);
        }
    }
}
