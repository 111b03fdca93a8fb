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

#[cfg_attr(
    not(feature = "tracing"),
    allow(
        unused_variables,
        clippy::unused_self,
        clippy::missing_const_for_fn,
        reason = "empty without the feature"
    )
)]
impl QuerySpan {
    pub(super) fn new(peer: SocketAddr) -> Self {
        Self {
            #[cfg(feature = "tracing")]
            span: tracing::debug_span!("query", %peer),
        }
    }

    pub(super) fn rejected(&self, error: &ParseError) {
        #[cfg(feature = "tracing")]
        tracing::debug!(parent: &self.span, why = %error.kind, offset = error.offset, "datagram rejected");
    }

    pub(super) fn retry(&self, retry: u8) {
        #[cfg(feature = "tracing")]
        tracing::debug!(parent: &self.span, retry, "request sent again");
    }

    pub(super) fn late(&self, bytes: usize) {
        #[cfg(feature = "tracing")]
        tracing::debug!(parent: &self.span, bytes, "datagram after the end of the query");
    }

    pub(super) fn timeout(&self, timer: &'static str) {
        #[cfg(feature = "tracing")]
        tracing::debug!(parent: &self.span, timer, "timed out");
    }
}
