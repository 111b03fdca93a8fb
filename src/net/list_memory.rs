//! Lists that were read a short time ago, so that list servers are not asked too often.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::model::ServerList;

/// The lists that a client and its clones have read, and when.
#[derive(Debug, Default)]
pub(super) struct ListMemory(Mutex<BTreeMap<String, (Instant, ServerList)>>);

impl ListMemory {
    /// A list that was read no longer ago than this.
    pub(super) fn get(&self, request: &str, interval: Duration) -> Option<ServerList> {
        let lists = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lists.get(request).filter(|(read, _)| read.elapsed() < interval).map(|(_, list)| list.clone())
    }

    pub(super) fn put(&self, request: String, list: &ServerList) {
        let mut lists = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lists.insert(request, (Instant::now(), list.clone()));
    }
}
