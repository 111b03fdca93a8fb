//! A fixed local port, which carries one query or scan at a time: the others wait for their turn.

use std::net::SocketAddr;
use std::sync::Arc;

use queryport::Client;
use tokio::sync::{Mutex, MutexGuard};

/// The address that a program's queries are sent from.
#[derive(Debug, Clone, Default)]
pub(crate) struct Port {
    local: Option<SocketAddr>,
    in_use: Arc<Mutex<()>>,
}

impl Port {
    /// `local` is the address of `--bind`.
    pub(crate) fn new(local: Option<SocketAddr>) -> Self {
        Self {
            local,
            in_use: Arc::default(),
        }
    }

    /// Waits until the fixed port is free, and keeps it until the result is dropped. `None` where
    /// any port will do.
    pub(crate) async fn turn(&self) -> Option<MutexGuard<'_, ()>> {
        if self.local.is_some_and(|local| local.port() != 0) {
            Some(self.in_use.lock().await)
        } else {
            None
        }
    }

    /// A client for queries.
    pub(crate) fn fixed(&self, client: Client) -> Client {
        match self.local {
            Some(local) => client.with_local_address(local),
            None => client,
        }
    }

    /// A client for lists. It sends from the address, but from any port, because several list
    /// servers can answer at once.
    pub(crate) fn any(&self, client: Client) -> Client {
        match self.local {
            Some(local) => client.with_local_address(SocketAddr::new(local.ip(), 0)),
            None => client,
        }
    }
}
