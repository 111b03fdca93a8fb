//! Scans over real sockets on loopback, bounded in number and time.
#![cfg(feature = "tokio")]
use std::collections::BTreeSet;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::pin::Pin;
use std::time::{Duration, Instant};

use futures_core::Stream;
use queryport::QueryError;
use queryport::ServerStatus;
use queryport::net::{Client, Scan, serve};
use queryport::{Protocol, StatusQuery};
use queryport::Secret;
use queryport::serve::{Responder, Service};
use queryport::session::{Conversation, OnTimeout, Remaining, Verdict};
use queryport::scan::{NotAsked, ScanError};
use queryport::{ScanOptions, Timing};
use tokio::net::UdpSocket;

type Target = (Protocol, SocketAddr);

async fn start(bind: &str, protocol: Protocol) -> SocketAddr {
    let socket = UdpSocket::bind(bind).await.unwrap();
    let address = socket.local_addr().unwrap();
    let mut status = ServerStatus::default();
    status.name = Some(address.to_string().into());
    let mut responder = Responder::new(Service::new(protocol), status);
    tokio::spawn(async move { serve(&socket, &mut responder).await });
    address
}

/// Servers of all protocols in turn.
async fn servers(count: usize, bind: &str) -> Vec<Target> {
    let mut list = Vec::new();
    for protocol in Protocol::ALL.into_iter().cycle().take(count) {
        list.push((protocol, start(bind, protocol).await));
    }
    list
}

fn options() -> ScanOptions {
    let timing = Timing::default().with_timeout(Duration::from_millis(700)).with_retries(0);
    ScanOptions::default().with_window(64).with_timing(timing.with_retry_after(Duration::from_millis(700)))
}

fn questions(targets: Vec<Target>) -> impl Iterator<Item = (SocketAddr, StatusQuery)> + Send + 'static {
    Client::with_secret(Secret::new([7; 16])).questions(targets)
}

fn both(targets: &[Target]) -> [Scan; 2] {
    [
        Scan::new(questions(targets.to_vec()), options()).unwrap(),
        Scan::plain(questions(targets.to_vec()), options()).unwrap(),
    ]
}

/// Each server answers with its own name, whatever the system calls and the protocol.
#[tokio::test]
async fn every_server_is_told_apart_with_batched_and_with_plain_calls() {
    let mut targets = servers(150, "127.0.0.1:0").await;
    targets.extend(servers(20, "[::1]:0").await);
    for (mut scan, batched) in both(&targets).into_iter().zip([cfg!(target_os = "linux"), false]) {
        assert_eq!(scan.io().batched, batched);
        assert_eq!(scan.io().drops.is_some(), batched);
        let mut seen = BTreeSet::new();
        while let Some(scanned) = scan.next().await {
            let (_, address) = targets[usize::try_from(scanned.index).unwrap()];
            assert_eq!(scanned.peer, address);
            let status = scanned.result.unwrap().answer.to_status();
            assert_eq!(status.name.unwrap().plain(), address.to_string());
            assert!(seen.insert(scanned.index));
        }
        assert_eq!(seen.len(), targets.len());
        assert!(scan.next().await.is_none(), "the end is the end");
        assert_eq!((scan.stats().answered, scan.stats().failed), (170, 0));
    }
}

/// Silent servers cost one timeout all together, and one that does not exist costs nothing where ICMP is heard.
#[tokio::test]
async fn the_dead_do_not_hold_up_the_living() {
    let mut targets = servers(60, "127.0.0.1:0").await;
    let silent = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let closed = [UdpSocket::bind("127.0.0.1:0").await.unwrap(), UdpSocket::bind("[::1]:0").await.unwrap()];
    let closed = closed.map(|socket| socket.local_addr().unwrap());
    targets.insert(3, (Protocol::Quake3, silent.local_addr().unwrap()));
    targets.insert(7, (Protocol::Quake3, closed[0]));
    targets.insert(9, (Protocol::Quake3, closed[1]));
    for (mut scan, batched) in both(&targets).into_iter().zip([cfg!(target_os = "linux"), false]) {
        let start = Instant::now();
        let mut answered = 0;
        while let Some(scanned) = scan.next().await {
            match scanned.result {
                Ok(_) => answered += 1,
                Err(ScanError::Query(QueryError::Unreachable)) => {
                    assert!(batched && closed.contains(&scanned.peer));
                }
                Err(ScanError::Query(QueryError::NoAnswer { requests: 1, .. })) => {
                    assert!(
                        scanned.peer == silent.local_addr().unwrap() || !batched,
                        "{} {:?}",
                        scanned.peer,
                        scan.io()
                    );
                }
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(answered, 60);
        assert!(start.elapsed() < Duration::from_millis(1500), "{:?}", start.elapsed());
    }
}

/// A dropped future loses nothing, however often.
#[tokio::test]
async fn next_is_cancel_safe() {
    let targets = servers(100, "127.0.0.1:0").await;
    for mut scan in both(&targets) {
        let mut seen = BTreeSet::new();
        loop {
            match tokio::time::timeout(Duration::from_micros(50), scan.next()).await {
                Ok(Some(scanned)) => assert!(scanned.result.is_ok() && seen.insert(scanned.index)),
                Ok(None) => break,
                Err(_elapsed) => {}
            }
        }
        assert_eq!(seen.len(), 100);
    }
}

#[tokio::test]
async fn a_scan_is_a_stream_and_refuses_duplicates_visibly() {
    let mut targets = servers(3, "127.0.0.1:0").await;
    targets.push(targets[0]);
    let client = Client::new().unwrap();
    let mut scan = client.scan(targets, options()).unwrap();
    let mut results = Vec::new();
    while let Some(scanned) = poll_fn(|cx| Pin::new(&mut scan).poll_next(cx)).await {
        results.push((scanned.index, scanned.result.err()));
    }
    results.sort_by_key(|(index, _)| *index);
    let duplicate = Some(ScanError::Refused(Refusal::Duplicate));
    assert_eq!(results, [(0, None), (1, None), (2, None), (3, duplicate)]);
}

/// A slow caller gets every answer: the window holds the scan back, not the receive buffer.
#[tokio::test]
async fn a_slow_caller_loses_nothing() {
    let targets = servers(200, "127.0.0.1:0").await;
    let mut scan = Client::new().unwrap().scan(targets, options().with_window(16)).unwrap();
    let mut answered = 0;
    while let Some(scanned) = scan.next().await {
        answered += usize::from(scanned.result.is_ok());
        if answered % 10 == 0 {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }
    assert_eq!((answered, scan.io().send_errors), (200, 0));
}

/// A server that the system has no way to makes the scan pause for a moment and ends by itself. The address is on an
/// interface that does not exist: nothing leaves the machine.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn local_send_errors_pause_and_do_not_end() {
    let mut targets = servers(100, "127.0.0.1:0").await;
    targets.insert(20, (Protocol::Quake3, "[fe80::1%999999]:27960".parse().unwrap()));
    targets.insert(21, (Protocol::Quake3, "[fe80::2%999999]:27960".parse().unwrap()));
    for mut scan in both(&targets) {
        let mut results = (0, 0);
        while let Some(scanned) = scan.next().await {
            match scanned.result {
                Ok(_) => results.0 += 1,
                Err(_) => results.1 += 1,
            }
        }
        assert_eq!(results, (100, 2));
        assert!(scan.io().send_errors > 0, "{:?}", scan.io());
    }
}

/// Asks with more than any datagram holds, or as one should.
enum Wide {
    TooWide,
    Fit(Box<StatusQuery>),
}

impl Conversation for Wide {
    type Answer = queryport::Answer;

    fn request(&mut self, retry: u8, out: &mut Vec<u8>) {
        match self {
            Self::TooWide => out.resize(out.len() + 65_508, b'x'),
            Self::Fit(query) => query.request(retry, out),
        }
    }

    fn receive(&mut self, datagram: &[u8]) -> Verdict<Self::Answer> {
        match self {
            Self::TooWide => panic!("nobody was asked"),
            Self::Fit(query) => query.receive(datagram),
        }
    }

    fn silence(&mut self, patience: Remaining) -> OnTimeout<Self::Answer> {
        match self {
            Self::TooWide => OnTimeout::Retry,
            Self::Fit(query) => query.silence(patience),
        }
    }
}

/// What no system sends must not stand in the way of the others.
#[tokio::test]
async fn a_request_that_no_datagram_holds_ends_alone() {
    let targets = servers(8, "127.0.0.1:0").await;
    for plain in [false, true] {
        let nobody = (SocketAddr::from(([127, 0, 0, 1], 9)), Wide::TooWide);
        let others = questions(targets.clone()).map(|(server, query)| (server, Wide::Fit(Box::new(query))));
        let list: Vec<_> = [nobody].into_iter().chain(others).collect();
        let mut scan = if plain { Scan::plain(list, options()) } else { Scan::new(list, options()) }.unwrap();
        let mut answered = 0;
        while let Some(scanned) = scan.next().await {
            match scanned.result {
                Ok(_) => answered += 1,
                Err(error) => {
                    assert_eq!((scanned.index, error), (0, ScanError::Query(QueryError::Unreachable)));
                }
            }
        }
        assert_eq!((answered, scan.io().send_errors), (8, 0));
    }
}

#[test]
fn without_a_runtime_a_scan_is_an_error_and_no_panic() {
    let targets = vec![(Protocol::Quake3, "127.0.0.1:1".parse().unwrap())];
    assert!(Client::new().unwrap().scan(targets, options()).is_err());
}

/// A list may turn out to be empty, as a master's can.
#[tokio::test]
async fn an_empty_list_ends_at_once() {
    for mut scan in both(&[]) {
        let ended = tokio::time::timeout(Duration::from_secs(2), scan.next()).await;
        assert!(ended.expect("a scan of nobody ends").is_none());
    }
}
