//! Spans and events of a query, feature `tracing`. Without the feature, every function here is empty.
//!
//! The span `query` has the server's address. Its events have names, sizes and offsets, and no bytes of a datagram: no
//! challenge, token or password can appear in them.

use std::net::SocketAddr;

use crate::error::ParseError;

/// The span of one query.
#[derive(Debug)]
pub(super) struct QuerySpan {
    #[cfg(feature = "tracing")]
    span: tracing::Span,
}

#[cfg(feature = "tracing")]
impl QuerySpan {
    pub(super) fn new(peer: SocketAddr) -> Self {
        Self { span: tracing::debug_span!("query", %peer) }
    }

    pub(super) fn rejected(&self, error: &ParseError) {
        tracing::debug!(parent: &self.span, why = %error.kind, offset = error.offset, "datagram rejected");
    }

    pub(super) fn retry(&self, retry: u8) {
        tracing::debug!(parent: &self.span, retry, "request sent again");
    }

    pub(super) fn late(&self, bytes: usize) {
        tracing::debug!(parent: &self.span, bytes, "datagram after the end of the query");
    }

    pub(super) fn timeout(&self, timer: &'static str) {
        tracing::debug!(parent: &self.span, timer, "timed out");
    }
}

#[cfg(not(feature = "tracing"))]
#[allow(clippy::unused_self, reason = "the same methods as with the feature")]
impl QuerySpan {
    pub(super) const fn new(_peer: SocketAddr) -> Self {
        Self {}
    }

    pub(super) const fn rejected(&self, _error: &ParseError) {}

    pub(super) const fn retry(&self, _retry: u8) {}

    pub(super) const fn late(&self, _bytes: usize) {}

    pub(super) const fn timeout(&self, _timer: &'static str) {}
}
