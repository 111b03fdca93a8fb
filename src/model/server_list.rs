//! The list of servers that a master server sends.

use std::fmt;
use std::net::SocketAddr;

use super::completeness::Completeness;

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
    /// Addresses left out because of [`Limits::max_servers`](crate::Limits::max_servers).
    pub over_limit: u32,
}

/// How a list ended, see [`ServerList`]. `Display` writes it in words: `by its end mark`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum ListEnd {
    /// The end mark arrived.
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
