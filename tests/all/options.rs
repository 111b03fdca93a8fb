//! Options at the limits of their ranges, and their defaults.

use std::time::Duration;

use std::time::Instant;

use queryport::lists::GameSpy2List;
use queryport::quake3::master;
use queryport::serve::{GuardOptions, Responder};
use queryport::session::Machine;
use queryport::{
    Client, Format, Protocol, ScanOptions, Secret, ServerStatus, Service, Timing, ut2004,
};

use crate::clock::run_in_steps;
use crate::common::{at, requester};

const MS: Duration = Duration::from_millis(1);

/// A setter takes `least` and `most`, and these for what is beyond.
fn check<T: Copy, O: PartialEq>(
    set: impl Fn(T) -> O,
    range: [T; 2],
    inside: [T; 2],
    beyond: [T; 2],
) {
    for end in 0..2 {
        assert!(set(beyond[end]) == set(range[end]), "clamped");
        assert!(
            set(inside[end]) != set(range[end]),
            "a value within the range is taken"
        );
    }
}

#[test]
fn options_are_clamped_to_their_ranges() {
    let timing = Timing::default();
    let (none, ever) = (Duration::ZERO, Duration::MAX);
    let minute = 60_000 * MS;
    check(
        |timeout| timing.with_timeout(timeout),
        [10 * MS, 10 * minute],
        [11 * MS, 10 * minute - MS],
        [none, ever],
    );
    check(
        |time| timing.with_retry_after(time),
        [10 * MS, minute],
        [11 * MS, minute - MS],
        [none, ever],
    );
    check(
        |time| timing.with_quiet(time),
        [MS, minute],
        [2 * MS, minute - MS],
        [none, ever],
    );
    check(
        |time| timing.with_grace(time),
        [MS, minute],
        [2 * MS, minute - MS],
        [none, ever],
    );
    check(
        |retries| timing.with_retries(retries),
        [0, 20],
        [1, 19],
        [0, u8::MAX],
    );
    check(
        |steps| timing.with_max_steps(steps),
        [1, 64],
        [2, 63],
        [0, u8::MAX],
    );
    let scan = ScanOptions::default();
    let most = 1 << 20;
    check(
        |window| scan.with_window(window),
        [1, most],
        [2, most - 1],
        [0, usize::MAX],
    );
    check(
        |rate| scan.with_rate(Some(rate)),
        [1, 10_000_000],
        [2, 9_999_999],
        [0, u32::MAX],
    );
    check(
        |bytes| scan.with_bytes_per_second(Some(bytes)),
        [1_000, 10_000_000_000],
        [1_001, 9_999_999_999],
        [0, u64::MAX],
    );
    check(
        |bytes| scan.with_receive_buffer(Some(bytes)),
        [65_536, 1 << 30],
        [65_537, (1 << 30) - 1],
        [0, u32::MAX],
    );
    check(
        |count| scan.with_per_host(Some(count)),
        [1, u16::MAX],
        [2, u16::MAX - 1],
        [0, u16::MAX],
    );
}

#[test]
fn defaults_are_those_of_the_documentation() {
    let timing = Timing::default();
    let stated = timing
        .with_timeout(4000 * MS)
        .with_retry_after(1200 * MS)
        .with_retries(2)
        .with_quiet(300 * MS)
        .with_grace(100 * MS)
        .with_max_steps(16);
    assert_eq!(timing, stated);
    let scan = ScanOptions::default();
    let stated = scan
        .with_window(32_768)
        .with_rate(None)
        .with_bytes_per_second(None)
        .with_receive_buffer(None)
        .with_per_host(Some(8));
    assert_eq!(scan, stated);
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
    let list = GameSpy2List::new("swat4", "tG3j8c");
    let started = tokio::time::Instant::now();
    let mut servers = client().servers_at(silent.local_addr().unwrap(), list);
    assert!(servers.next().await.is_none());
    let took = started.elapsed().as_millis();
    assert!((10_000..11_000).contains(&took), "{took}");
}

/// A responder whose replies nobody takes.
fn responder(service: Service, status: ServerStatus) -> Responder {
    let secret = Secret::new([5; 16]);
    Responder::new(service, status, secret, Instant::now()).with_guard(None)
}

#[test]
fn a_responder_holds_1024_replies_that_wait() {
    let now = Instant::now();
    let mut responder = responder(Protocol::Quake3.into(), ServerStatus::default());
    for _ in 0..2000 {
        responder.handle_datagram(now, at("192.0.2.1:5000"), b"\xff\xff\xff\xffgetstatus");
    }
    let mut out = Vec::new();
    let waiting = std::iter::from_fn(|| responder.poll_transmit(now, &mut out));
    assert_eq!(waiting.count(), 1024);
}

#[test]
fn an_echo_has_50_bytes_at_most() {
    let now = Instant::now();
    let service = Service::new(Format::GameSpy1).with_echo();
    for (length, is_echoed) in [(50, true), (51, false)] {
        let mut responder = responder(service.clone(), ServerStatus::default());
        let text = "x".repeat(length);
        let request = format!("\\echo\\{text}");
        responder.handle_datagram(now, at("192.0.2.1:5000"), request.as_bytes());
        let mut out = Vec::new();
        responder.poll_transmit(now, &mut out);
        let is_there = String::from_utf8_lossy(&out).contains(&text);
        assert_eq!(is_there, is_echoed, "{length}");
    }
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
