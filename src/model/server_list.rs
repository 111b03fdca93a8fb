//! The list of servers that a master server sends.

use std::collections::BTreeSet;
use std::fmt;
use std::net::SocketAddr;

use super::completeness::{Completeness, Part};
use crate::limits::Limits;

/// The list of servers that a master server sent.
///
/// ```
/// use queryport::ServerList;
/// use queryport::model::ListEnd;
///
/// fn summary(list: &ServerList) -> String {
///     let end = match list.ended_by {
///         ListEnd::Mark => "to its end mark",
///         ListEnd::Quiet => "from a master without end marks",
///         _ => "cut short",
///     };
///     format!("{} servers, {end}, {} out of scope", list.servers.len(), list.out_of_scope)
/// }
/// assert_eq!(summary(&ServerList::default()), "0 servers, cut short, 0 out of scope");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct ServerList {
    /// Addresses and query ports without repetitions, in the order of the list.
    pub servers: Vec<SocketAddr>,
    /// Whether the list is complete. An empty list with an end mark is complete.
    pub completeness: Completeness,
    /// How the list ended.
    pub ended_by: ListEnd,
    /// Addresses left out because of their scope, for example loopback addresses in a list from the Internet.
    pub out_of_scope: u32,
    /// Addresses left out because of [`Limits::max_servers`](crate::Limits::max_servers), each as often as it came.
    pub over_limit: u32,
}

/// Makes a [`ServerList`] of the entries of a stream. What is over the limit takes no memory.
#[derive(Debug, Default)]
pub(crate) struct ServerCollector {
    list: ServerList,
    known: BTreeSet<SocketAddr>,
    /// How many entries there were, with all copies.
    pub(crate) entries: usize,
}

impl ServerCollector {
    pub(crate) fn add(&mut self, server: SocketAddr, limits: &Limits) {
        self.entries = self.entries.saturating_add(1);
        if self.known.contains(&server) {
            return;
        }
        if self.known.len() < limits.max_servers() {
            self.known.insert(server);
            self.list.servers.push(server);
        } else {
            self.list.over_limit = self.list.over_limit.saturating_add(1);
        }
    }

    pub(crate) fn finish(&mut self, is_ended: bool) -> ServerList {
        let mut list = std::mem::take(self).list;
        if is_ended && list.over_limit == 0 {
            list.ended_by = ListEnd::Mark;
        } else {
            list.completeness = Completeness::Complete.without(Part::End);
        }
        list
    }
}

/// How a list ended, see [`ServerList`]. `Display` writes it in words: `by its end mark`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum ListEnd {
    /// The end mark arrived, or as many servers as the list server had announced.
    Mark,
    /// No more datagrams arrived, from a master without end marks. A lost last datagram would go unnoticed.
    Quiet,
    /// The list was cut short: a timeout, a broken connection or a limit.
    #[default]
    Unknown,
}

impl fmt::Display for ListEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Mark => "by its end mark",
            Self::Quiet => "by quiet, without an end mark",
            Self::Unknown => "without an end mark",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_is_said_in_words_that_follow_a_list() {
        let said = [ListEnd::Mark, ListEnd::Quiet, ListEnd::Unknown].map(|end| format!("ended {end:<30}|"));
        assert_eq!(said[0], "ended by its end mark               |");
        assert_eq!(said[1], "ended by quiet, without an end mark |");
        assert_eq!(said[2], "ended without an end mark           |");
    }
}
