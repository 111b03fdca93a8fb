//! Single queries: `Client` and `Query`.
use std::net::SocketAddr;
use std::time::Duration;

use queryport::net::{Family, Rcon, ScanTarget};
use queryport::session::{Conversation, OnTimeout, Remaining, Verdict};
use queryport::{
    Client, Error, ErrorKind, ParseError, ParseErrorKind, Player, Protocol, Query, QueryError,
    Scan, ScanOptions, ServerStatus, Timing,
};
use tokio::net::UdpSocket;

use crate::clock::run_in_steps;
use crate::net::{responder, serve, start};

fn client() -> Client {
    let timing = Timing::default()
        .with_timeout(Duration::from_millis(400))
        .with_retries(0);
    Client::new().unwrap().with_timing(timing)
}

fn status(name: &str) -> ServerStatus {
    let mut status = ServerStatus::default();
    status.name = Some(name.into());
    status.map = Some("q3dm17".into());
    status.game_type = Some("0".into());
    status.max_players = Some(8);
    status.players = [Player::new("Ann"), Player::new("Bob")].into();
    status
}

#[tokio::test]
async fn every_protocol_is_queried_and_answered_over_both_families() {
    for bind in ["127.0.0.1:0", "[::1]:0"] {
        for protocol in Protocol::ALL {
            let address = start(bind, protocol, status("Srv")).await;
            let outcome = Client::new()
                .unwrap()
                .query(protocol, &address.to_string())
                .await
                .unwrap();
            assert_eq!(outcome.peer, address);
            assert_eq!(*outcome.answer.name.as_ref().unwrap(), "Srv", "{protocol}");
            assert_eq!(outcome.answer.players.len(), 2, "{protocol}");
            assert!(outcome.answer.completeness.is_complete(), "{protocol}");
        }
    }
}

/// A protocol of the caller's: `ping` is answered with `pong` and a name.
struct Ping;

impl Conversation for Ping {
    type Answer = ServerStatus;

    fn request(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"ping");
    }

    fn receive(&mut self, datagram: &[u8]) -> Verdict<ServerStatus> {
        match datagram.strip_prefix(b"pong ") {
            Some(name) => Verdict::Done(status(std::str::from_utf8(name).unwrap())),
            None => Verdict::Rejected(ParseError::new(ParseErrorKind::NotThisProtocol("pong"), 0)),
        }
    }

    fn timeout(&mut self, _: Remaining) -> OnTimeout<ServerStatus> {
        OnTimeout::Retry
    }
}

#[tokio::test]
async fn a_query_in_any_protocol_is_an_object() {
    run_in_steps();
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let port = socket.local_addr().unwrap().port();
    kit::spawn(async move {
        while let Ok((_, from)) = socket.recv_from(&mut [0; 64]).await {
            for reply in [&b"noise"[..], b"pong Toy"] {
                socket.send_to(reply, from).await.unwrap();
            }
        }
    });
    let client = client();
    let warsow = {
        let mut status = status("Srv");
        status.rules.push("gamename", "Warsow");
        start("127.0.0.1:0", Protocol::Quake3, status).await
    };
    let target = client.target(Protocol::Quake3, warsow);
    assert_eq!(target.name(), warsow.to_string());
    assert_eq!(target.query().await.unwrap().answer.name.unwrap(), "Srv");
    let silent = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let target = client.target(Protocol::Quake3, silent.local_addr().unwrap());
    let error = target.query().await.unwrap_err();
    let is_one_request = matches!(
        error,
        Error::Query {
            error: QueryError::Timeout { requests: 1, .. },
            ..
        }
    );
    assert!(is_one_request, "{error}");
    let error = client.target_game("openarena", warsow).query().await;
    let words = format!("{warsow}: another server answered: game warsow");
    assert_eq!(error.unwrap_err().to_string(), words);
    // The default port is used if the text has none.
    for (server, default_port) in [
        ("127.0.0.1".to_owned(), port),
        (format!("127.0.0.1:{port}"), 1),
    ] {
        let target = client.target_with(&server, default_port, |_| Ping);
        assert_eq!(target.name(), server);
        let outcome = target.query().await.unwrap();
        assert_eq!(
            (outcome.answer.name.unwrap(), outcome.stats.rejected),
            ("Toy".into(), 1)
        );
    }
}

#[tokio::test]
async fn an_address_of_no_single_server_is_reported_before_anything_is_sent() {
    for address in [
        "255.255.255.255:1",
        "224.0.0.1:1",
        "0.0.0.0:1",
        "[ff02::1]:1",
    ] {
        let error = client().query(Protocol::Quake3, address).await.unwrap_err();
        assert!(
            matches!(
                error,
                Error::Query {
                    error: QueryError::NotOneServer,
                    ..
                }
            ),
            "{address}: {error}"
        );
    }
}

#[tokio::test]
async fn the_caller_chooses_the_family_of_a_name() {
    let address = start("127.0.0.1:0", Protocol::Quake3, status("Srv")).await;
    let name = format!("localhost:{}", address.port());
    assert!(
        client()
            .with_family(Family::Ipv4)
            .query(Protocol::Quake3, &name)
            .await
            .is_ok()
    );
    let error = client()
        .with_family(Family::Ipv6)
        .query(Protocol::Quake3, &name)
        .await
        .unwrap_err();
    assert!(matches!(
        error.kind(),
        ErrorKind::Unreachable | ErrorKind::Timeout | ErrorKind::NameResolution
    ));
}

/// `::ffff:127.0.0.1` is 127.0.0.1, as a server and as a local address, in queries and scans.
#[tokio::test]
async fn a_mapped_address_is_one_of_ipv4_on_every_path() {
    run_in_steps();
    let server = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let address = server.local_addr().unwrap();
    let mapped: SocketAddr = format!("[::ffff:127.0.0.1]:{}", address.port())
        .parse()
        .unwrap();
    let client = client().with_local_address("[::ffff:127.0.0.5]:0".parse().unwrap());
    let local = std::net::Ipv4Addr::new(127, 0, 0, 5);
    let heard = async || server.recv_from(&mut [0; 100]).await.unwrap().1.ip();
    let (result, from) = tokio::join!(client.query(Protocol::Quake3, mapped), heard());
    assert_eq!(
        (result.unwrap_err().peer(), from),
        (Some(address), local.into())
    );
    for target in [
        ScanTarget::from((Protocol::Quake3, mapped)),
        ScanTarget::from((Protocol::Quake3, mapped.to_string())),
    ] {
        let mut scan = client.scan([target], ScanOptions::default()).unwrap();
        let (scanned, from) = tokio::join!(scan.next(), heard());
        assert_eq!((scanned.unwrap().peer, from), (Some(address), local.into()));
    }
}

#[tokio::test]
async fn detect_finds_the_protocols_of_a_host() {
    run_in_steps();
    let both = responder(Protocol::GameSpy1, status("Srv")).with_service(Protocol::Ut2004);
    let address = serve("127.0.0.1:0", both).await;
    let detected = client().detect(&address.to_string()).await.unwrap();
    let mut found: Vec<_> = detected
        .iter()
        .map(|found| (found.protocol.to_string(), found.outcome.peer))
        .collect();
    found.sort();
    assert_eq!(
        found,
        ["gamespy1", "ut2004"].map(|name| (name.to_owned(), address))
    );
    let quiet = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let nothing = client()
        .detect(&quiet.local_addr().unwrap().to_string())
        .await
        .unwrap();
    assert!(nothing.is_empty());
}

/// rust gamedig accepts a reply from another address or port, also a forged one that arrives first.
#[tokio::test]
async fn a_reply_from_another_port_is_ignored() {
    let server = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let spoofer = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let address = server.local_addr().unwrap().to_string();
    let play = async {
        let mut request = [0; 100];
        let (length, from) = server.recv_from(&mut request).await.unwrap();
        let challenge = String::from_utf8_lossy(&request[14..length]).into_owned();
        for (socket, name) in [(&spoofer, "spoofed"), (&server, "real")] {
            let reply = format!("statusResponse\n\\sv_hostname\\{name}\\challenge\\{challenge}\n");
            socket
                .send_to(&[b"\xff\xff\xff\xff", reply.as_bytes()].concat(), from)
                .await
                .unwrap();
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let client = client();
    let (outcome, ()) = tokio::join!(client.query(Protocol::Quake3, &address), play);
    assert_eq!(outcome.unwrap().answer.name.unwrap(), "real");
}

/// The late reply to a query that was dropped is not the answer of the next one at the local port.
#[tokio::test]
async fn a_cancelled_query_counts_for_late_replies() {
    run_in_steps();
    let free = std::net::UdpSocket::bind("127.0.0.5:0").unwrap();
    let client = client().with_local_address(free.local_addr().unwrap());
    drop(free);
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let server = socket.local_addr().unwrap();
    // After the first query has ended, and before the next one may be sent.
    let late = Duration::from_millis(600);
    kit::spawn(async move {
        for (delay, name) in [(late, "Old"), (Duration::ZERO, "New")] {
            let (_, from) = socket.recv_from(&mut [0; 200]).await.unwrap();
            tokio::time::sleep(delay).await;
            let reply = format!(r"\hostname\{name}\numplayers\0\final\\queryid\1.1");
            socket.send_to(reply.as_bytes(), from).await.unwrap();
        }
    });
    let query = client.query(Protocol::GameSpy1, server);
    let cancelled = tokio::time::timeout(late.mul_f32(0.6), query).await;
    assert!(cancelled.is_err());
    let outcome = client.query(Protocol::GameSpy1, server).await;
    assert_eq!(outcome.unwrap().answer.name.unwrap(), "New");
}

/// Futures for `tokio::spawn`.
#[tokio::test]
async fn queries_scans_and_lists_can_go_to_another_thread() {
    fn is_send<T: Send>(_: &T) {}
    fn is_shared<T: Send + Sync>() {}
    is_shared::<Client>();
    is_shared::<Scan>();
    is_shared::<queryport::blocking::Scan>();
    is_shared::<Rcon>();
    let (client, server) = (client(), "127.0.0.1:9");
    is_send(&client.query(Protocol::Quake3, server));
    is_send(&client.query_game("openarena", server));
    is_send(&client.detect(server));
    is_send(&client.servers("openarena").unwrap().next());
    let targets = [(Protocol::Quake3, SocketAddr::from(([127, 0, 0, 1], 9)))];
    let mut scan = client.scan(targets, ScanOptions::default()).unwrap();
    is_send(&scan.next());
    is_send(&scan.next_answer());
}
