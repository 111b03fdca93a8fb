//! A list of servers, as a master gives it.

use std::net::SocketAddr;

use super::completeness::Completeness;

/// The servers that a master listed, and how far the list can be trusted to be whole.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct ServerList {
    /// Addresses and query ports, each once, in the order in which they came.
    pub servers: Vec<SocketAddr>,
    /// Whether the whole list arrived. An empty list with its end mark is complete.
    pub completeness: Completeness,
    /// How the end of the list was recognised.
    pub ended_by: ListEnd,
    /// Addresses that were left out because of their scope, such as loopback addresses in a list from the Internet.
    pub out_of_scope: u32,
    /// Addresses that were left out because of [`Limits::max_servers`](crate::Limits::max_servers).
    pub over_limit: u32,
}

/// How the end of a list was recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum ListEnd {
    /// By the master's end mark.
    Mark,
    /// By quiet: this master sends no end marks, so a lost last part would go unnoticed.
    Quiet,
    /// It was not: time ran out, the connection broke, or a limit was reached.
    #[default]
    Unknown,
}
