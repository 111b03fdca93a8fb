//! The Internet in a box: how well clients do against a farm of servers that differ as real ones do.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use queryport::{Client, QueryOptions, ScanOptions, Secret, Timing, ToStatus};

use crate::farm;
use crate::profile::{Found, Server};

/// Scans the farm with the defaults of the client, or with an adaptive wait.
pub(crate) async fn scan(servers: u32, port: u16, seed: u64, adaptive: Option<Duration>) -> Found {
    let client = Client::with_secret(Secret::new([7; 16]))
        .with_timing(Timing::default())
        .with_options(QueryOptions::default());
    let options = ScanOptions::default().with_adaptive_wait(adaptive);
    let targets = (0..servers)
        .map(move |index| (Server::of(index, seed).protocol, SocketAddr::from(farm::address(index, port))));
    let start = Instant::now();
    let mut scan = client.scan(targets, options).unwrap();
    let mut found = Found::new(servers, seed);
    while let Some(scanned) = scan.next().await {
        let Ok(outcome) = scanned.result else { continue };
        found.add(scanned.index as u32, &outcome.answer.to_status(), start.elapsed());
    }
    found.end = start.elapsed();
    found
}
