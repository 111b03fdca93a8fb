//! Single queries: `Client` and `Query`.
use std::net::SocketAddr;
use std::time::Duration;

use async_trait::async_trait;
use queryport::net::{Family, ScanTarget};
use queryport::session::{Conversation, OnTimeout, Remaining, Verdict};
use queryport::{
    Client, Detail, Dialect, Error, ErrorKind, Format, Outcome, ParseError, ParseErrorKind, Player,
    Players, Protocol, Query, QueryError, QueryOptions, ScanOptions, ServerStatus, Service, Timing,
};
use tokio::net::UdpSocket;
use tokio::time::Instant;

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

/// A mock that answers or fails.
struct Mock(bool);

#[async_trait]
impl Query for Mock {
    fn name(&self) -> &str {
        "mock"
    }

    async fn query(&self) -> Result<Outcome<ServerStatus>, Error> {
        match self.0 {
            true => Ok(Outcome::new(
                status("Mock"),
                ([192, 0, 2, 1], 1).into(),
                Some(Duration::from_millis(9)),
            )),
            false => Err(Error::BadAddress {
                text: "mock".to_owned(),
                why: "it is a mock",
            }),
        }
    }
}

#[tokio::test]
async fn a_query_is_an_object() {
    let address = start("127.0.0.1:0", Protocol::Quake3, status("Srv")).await;
    let shared: std::sync::Arc<dyn Query> = std::sync::Arc::new(Mock(true));
    let servers: Vec<Box<dyn Query>> = vec![
        Box::new(Mock(false)),
        Box::new(shared),
        client().target(Protocol::Quake3, address),
    ];
    let mut names = Vec::new();
    for server in &servers {
        names.push((server.name().to_owned(), server.query().await.is_ok()));
    }
    assert_eq!(
        names,
        [
            ("mock".to_owned(), false),
            ("mock".to_owned(), true),
            (address.to_string(), true)
        ]
    );
    let mut other = status("Srv");
    other.rules.push("gamename", "Warsow");
    let other = start("127.0.0.1:0", Protocol::Quake3, other).await;
    let error = client().target_game("openarena", other).query().await;
    let words = format!("{other}: another server answered: game warsow");
    assert_eq!(error.unwrap_err().to_string(), words);
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
async fn a_protocol_of_the_callers_is_an_object_too() {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let port = socket.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((_, from)) = socket.recv_from(&mut [0; 64]).await {
            for reply in [&b"noise"[..], b"pong Toy"] {
                socket.send_to(reply, from).await.unwrap();
            }
        }
    });
    let client = client();
    assert_eq!(
        client.target(Protocol::Ut2004, "192.0.2.1").name(),
        "192.0.2.1"
    );
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
async fn a_wrong_reply_is_named_in_the_error() {
    run_in_steps();
    let talker = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let address = talker.local_addr().unwrap();
    let talk = async {
        let mut buffer = [0; 100];
        let (_, from) = talker.recv_from(&mut buffer).await.unwrap();
        talker.send_to(b"\\final\\", from).await.unwrap();
        talker
            .send_to(b"\xff\xff\xff\xffstatusResponse\n\\challenge\\x\n", from)
            .await
            .unwrap();
    };
    let text = address.to_string();
    let client = client();
    let (error, ()) = tokio::join!(client.query(Protocol::Quake3, &text), talk);
    let error = error.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::WrongReply);
    let text = error.to_string();
    for part in [
        "within 4",
        "2 datagrams rejected",
        "wrong challenge at byte",
    ] {
        assert!(text.contains(part), "{text}");
    }
}

#[tokio::test]
async fn bad_addresses_are_reported_before_anything_is_sent() {
    for bad in ["", "host:port", "a b", "[::1", "host:1:2"] {
        let error = client().query(Protocol::Quake3, bad).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BadAddress, "{bad}");
        assert!(
            error
                .to_string()
                .contains("write HOST, HOST:PORT or [IPV6]:PORT"),
            "{error}"
        );
    }
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
    let error = client()
        .query(Protocol::Quake3, "no.such.host.invalid")
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NameResolution);
    assert!(
        std::error::Error::source(&error).is_some(),
        "the resolver's words"
    );
}

#[tokio::test]
async fn the_caller_chooses_the_family_and_the_local_address() {
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

    let server = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let target = server.local_addr().unwrap();
    let free = std::net::UdpSocket::bind("127.0.0.5:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let client = client().with_local_address(free);
    let asked =
        tokio::spawn(async move { client.query(Protocol::Quake3, &target.to_string()).await });
    let (_, from) = server.recv_from(&mut [0; 100]).await.unwrap();
    assert_eq!(from, free);
    asked.await.unwrap().unwrap_err();
}

/// `::ffff:127.0.0.1` is 127.0.0.1, as a server and as a local address, in queries and scans.
#[tokio::test]
async fn a_mapped_address_is_one_of_ipv4_on_every_path() {
    let server = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let address = server.local_addr().unwrap();
    let mapped: SocketAddr = format!("[::ffff:127.0.0.1]:{}", address.port())
        .parse()
        .unwrap();
    let client = client().with_local_address("[::ffff:127.0.0.5]:0".parse().unwrap());
    let local = std::net::Ipv4Addr::new(127, 0, 0, 5);
    let asking = client.clone();
    let query = tokio::spawn(async move { asking.query(Protocol::Quake3, mapped).await });
    let (_, from) = server.recv_from(&mut [0; 100]).await.unwrap();
    assert_eq!(from.ip(), local);
    assert_eq!(query.await.unwrap().unwrap_err().peer(), Some(address));

    for target in [
        ScanTarget::from((Protocol::Quake3, mapped)),
        ScanTarget::from((Protocol::Quake3, mapped.to_string())),
    ] {
        let mut scan = client.scan([target], ScanOptions::default()).unwrap();
        let scanned = tokio::spawn(async move { scan.next().await.unwrap() });
        let (_, from) = server.recv_from(&mut [0; 100]).await.unwrap();
        assert_eq!(from.ip(), local);
        assert_eq!(scanned.await.unwrap().peer, Some(address));
    }
}

/// Minecraft, and short answers, need no conversation of the caller's own.
#[tokio::test]
async fn options_set_the_dialect_and_the_detail() {
    let minecraft = Service::new(Format::Minecraft);
    let address = start("127.0.0.1:0", minecraft, status("A Minecraft Server"))
        .await
        .to_string();
    let options = QueryOptions::default().with_dialect(Dialect::Minecraft);
    let full = client()
        .with_options(options)
        .query(Protocol::GameSpy4, &address)
        .await
        .unwrap()
        .answer;
    assert_eq!(full.players.len(), 2);
    let short = client().with_options(options.with_detail(Detail::Short));
    let short = short
        .query(Protocol::GameSpy4, &address)
        .await
        .unwrap()
        .answer;
    assert_eq!(
        (short.players, short.player_count),
        (Players::UNKNOWN, Some(2))
    );
    assert_eq!(short.name.unwrap(), "A Minecraft Server");

    let options = QueryOptions::default().with_detail(Detail::Short);
    for protocol in [Protocol::Quake3, Protocol::Ut2004, Protocol::GameSpy1] {
        let address = start("127.0.0.1:0", protocol, status("Srv"))
            .await
            .to_string();
        let status = client()
            .with_options(options)
            .query(protocol, &address)
            .await
            .unwrap()
            .answer;
        assert!(status.players.is_empty());
        assert_eq!(status.name.unwrap(), "Srv");
        assert!(status.completeness.is_complete(), "{protocol}");
    }

    let server = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let target = server.local_addr().unwrap();
    let client = client().with_options(options.with_dialect(Dialect::MedalOfHonor));
    let asked =
        tokio::spawn(async move { client.query(Protocol::Quake3, &target.to_string()).await });
    let mut request = [0; 100];
    server.recv_from(&mut request).await.unwrap();
    assert_eq!(request[..12], *b"\xff\xff\xff\xff\x02getinfo");
    asked.await.unwrap().unwrap_err();
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
    // The game port is given; the query port is the next one.
    let behind = loop {
        let address = start("127.0.0.1:0", Protocol::Ut2004, status("Srv")).await;
        if address.port() > 1024 && address.port() < 65_000 {
            break address;
        }
    };
    let game_port = SocketAddr::new(behind.ip(), behind.port() - 1);
    let detected = client().detect(&game_port.to_string()).await.unwrap();
    assert!(
        detected
            .iter()
            .any(|found| found.protocol == Protocol::Ut2004 && found.outcome.peer == behind)
    );
    let quiet = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let nothing = client()
        .detect(&quiet.local_addr().unwrap().to_string())
        .await
        .unwrap();
    assert!(nothing.is_empty());
}

/// Without a port, the usual ports of games are tried: here Warsow's, on an address of its own.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn detect_tries_the_usual_ports_of_games() {
    let mut status = status("Srv");
    status.rules.push("gamename", "Warsow");
    let host = kit::own_host(1).to_string();
    let address = start(&format!("{host}:44400"), Protocol::Quake3, status).await;
    let mut detected = client().detect(host).await.unwrap();
    // Servers of other tests may listen on every address.
    detected.retain(|detected| detected.outcome.peer == address);
    let [detected] = &detected[..] else {
        panic!("{detected:?}")
    };
    assert_eq!(detected.game().map(|game| game.id), Some("warsow"));
}

/// Other servers of the host have half a second after the first answer.
#[tokio::test]
async fn detect_names_a_server_once_that_answers_several_requests() {
    run_in_steps();
    let asked_at = Instant::now();
    let server = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let address = server.local_addr().unwrap();
    // As MVDSV does, also with five 0xFF at the front.
    let play = async {
        let mut request = [0; 100];
        loop {
            let (length, from) = server.recv_from(&mut request).await.unwrap();
            if request[..length].starts_with(b"\xff\xff\xff\xff\xffstatus")
                || request[..length].starts_with(b"\xff\xff\xff\xffstatus")
            {
                let reply = b"\xff\xff\xff\xffn\\hostname\\Srv\\map\\dm3\\*version\\MVDSV 1.0\n";
                server.send_to(reply, from).await.unwrap();
            }
        }
    };
    let client = Client::new().unwrap();
    let detected = tokio::select! {
        detected = client.detect(address) => detected.unwrap(),
        () = play => unreachable!(),
    };
    assert!(asked_at.elapsed() < Duration::from_secs(1));
    assert_eq!(detected.len(), 1, "{detected:?}");
    assert_eq!(detected[0].game().map(|game| game.id), Some("quake"));
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

#[tokio::test]
async fn dropping_a_query_cancels_it() {
    let quiet = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let address = quiet.local_addr().unwrap().to_string();
    let client = Client::new().unwrap();
    let query = client.query(Protocol::Quake3, &address);
    assert!(
        tokio::time::timeout(Duration::from_millis(50), query)
            .await
            .is_err()
    );
    let mut buffer = [0; 100];
    let (_, from) = quiet.recv_from(&mut buffer).await.unwrap();
    // Its socket is gone: a late answer meets a closed port.
    quiet.send_to(b"late", from).await.unwrap();
    let refused =
        tokio::time::timeout(Duration::from_millis(300), quiet.recv_from(&mut buffer)).await;
    assert!(
        refused.is_err() || refused.unwrap().is_err(),
        "a dropped query sends no retry"
    );
}

/// A future for `tokio::spawn`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn queries_scans_lists_and_servers_can_go_to_another_thread() {
    fn is_send<T: Send>(_: &T) {}
    let address = start("127.0.0.1:0", Protocol::Quake3, status("Srv"))
        .await
        .to_string();
    let client = client();
    let game = queryport::games::Game::find("openarena").unwrap();
    is_send(&client.query(Protocol::Quake3, &address));
    is_send(&client.query_game(game, &address));
    is_send(&client.detect(&address));
    let targets = [(Protocol::Quake3, address.parse::<SocketAddr>().unwrap())];
    let mut scan = client
        .scan(targets, queryport::ScanOptions::default())
        .unwrap();
    let mut servers = client.servers(game).unwrap();
    is_send(&servers.next());
    let found = tokio::spawn(async move {
        let mut found = Vec::new();
        while let Some(scanned) = scan.next().await {
            found.push(scanned.result.map(|outcome| outcome.peer.to_string()));
            // The task may continue on another thread.
            tokio::task::yield_now().await;
        }
        found
    });
    let found: Result<Vec<_>, _> = found.await.unwrap().into_iter().collect();
    assert_eq!(found.unwrap(), [address]);
}
