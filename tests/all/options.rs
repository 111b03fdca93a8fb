//! Defaults of options.

use std::time::Duration;

use queryport::lists::GameSpy2List;
use queryport::quake3::master;
use queryport::serve::GuardOptions;
use queryport::{Client, Format, GameKey, Protocol, ServerStatus, Service, Timing, ut2004};

use crate::clock::run_in_steps;
use crate::common::requester;

const MS: Duration = Duration::from_millis(1);

#[test]
fn defaults_are_those_of_the_documentation() {
    let guard = GuardOptions::default();
    let bytes = (
        guard.bytes_per_second,
        guard.burst,
        guard.total_bytes_per_second,
    );
    assert_eq!(bytes, (8 << 10, 64 << 10, 1 << 20));
    let master = master::Options::default();
    assert_eq!((master.max_servers, master.max_per_address), (16_384, 32));
    assert_eq!((master.lists_in_a_row, master.list_decay), (4, 3000 * MS));
    assert_eq!(master.lifetime, Duration::from_secs(900));
    assert_eq!(master.list_bytes_per_second, 4 << 20);
}

/// The whole query of a name ends at its deadline, even if a server may take longer.
#[tokio::test]
async fn the_default_deadline_of_a_query_and_of_a_list_is_ten_seconds() {
    run_in_steps();
    let silent = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let server = silent.local_addr().unwrap();
    let client = || {
        let patient = Timing::default().with_timeout(100_000 * MS);
        Client::new().unwrap().with_timing(patient)
    };
    let took = async |client: Client| {
        let started = tokio::time::Instant::now();
        client.query(Protocol::Quake3, server).await.unwrap_err();
        started.elapsed().as_millis()
    };
    assert!((10_000..11_000).contains(&took(client()).await));
    let hasty = client().with_deadline(Duration::ZERO);
    assert!((10..1000).contains(&took(hasty).await));
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let list = GameSpy2List::new("swat4", GameKey::new("tG3j8c").unwrap());
    let started = tokio::time::Instant::now();
    let mut servers = client().servers_at(silent.local_addr().unwrap(), list);
    assert!(servers.next().await.is_none());
    let took = started.elapsed().as_millis();
    assert!((10_000..11_000).contains(&took), "{took}");
}

#[test]
fn a_list_of_ut2004_has_64_datagrams_unless_more_are_allowed() {
    let mut status = ServerStatus::default();
    status.rules = (0..2000)
        .map(|rule| (format!("rule{rule}"), "v".repeat(100)))
        .collect();
    let request = ut2004::Request::new(ut2004::Command::Rules);
    let service = Service::new(Format::Ut2004);
    let replies = ut2004::respond(&request, &status, &service, &requester("192.0.2.1:5000"));
    assert_eq!(replies.len(), 64);
}
