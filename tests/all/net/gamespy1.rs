//! GameSpy v1: commands over UDP, server lists over TCP.
use std::net::SocketAddr;
use std::time::Duration;

use queryport::GameKey;
use queryport::gamespy1::{Command, StatusQuery};
use queryport::lists::{GameSpy1List, ListError};
use queryport::{
    Client, Error, ErrorKind, Player, Protocol, QueryOptions, ServerStatus, Service, Timing,
};
use tokio::net::{TcpListener, TcpSocket};
use tokio::time::Instant;

use crate::clock::run_in_steps;
use crate::common::list_servers::tcp::GameSpy1;
use crate::net::start;

fn client() -> Client {
    let timing = Timing::default()
        .with_timeout(Duration::from_secs(2))
        .with_retries(0);
    Client::new().unwrap().with_timing(timing)
}

#[tokio::test]
async fn commands_are_answered() {
    let mut service = Service::from(Protocol::GameSpy1);
    service = service.with_echo();
    service = service.with_key(GameKey::new("Nm3aZ9").unwrap());
    let mut status = ServerStatus::default();
    status.players = (0..24)
        .map(|number| Player::new(format!("a player of some length {number}")))
        .collect();
    let address = start("127.0.0.1:0", service, status).await.to_string();

    let commands = [
        Command::Secure(b"LRPOPQ"),
        Command::Players,
        Command::Echo(b"hello"),
    ];
    let query = StatusQuery::commands(&commands, &QueryOptions::default()).unwrap();
    let answer = client()
        .ask_host(&address, 7778, |_nonce| query.clone())
        .await
        .unwrap()
        .answer;
    assert_eq!(answer.get("validate"), Some(&b"hMwdTNWS"[..]));
    assert_eq!(answer.echo(), Some((&b"echo_replay"[..], &b"hello"[..])));
    assert_eq!(answer.players().count(), 24);
    assert!(answer.completeness().is_complete());
    assert!(StatusQuery::commands(&[Command::Echo(b"\\")], &QueryOptions::default()).is_err());
}

async fn master(format: &'static str, list: Vec<u8>, closes: bool) -> SocketAddr {
    let (login, game, key) = ("ut", "ut", "Z5Nfb0");
    GameSpy1 {
        login,
        key,
        game,
        format,
        pieces: (5, 1),
        closes,
    }
    .start(list)
    .await
}

fn request() -> GameSpy1List {
    GameSpy1List::new("ut", GameKey::new("Z5Nfb0").unwrap())
}

#[tokio::test]
async fn a_list_is_read_in_both_formats_whether_the_server_closes_or_not() {
    for close in [true, false] {
        let plain = br"\ip\192.0.2.1:7778\ip\192.0.2.2:7788\final\".to_vec();
        let records = [
            &[192, 0, 2, 1, 0x1E, 0x62][..],
            &[192, 0, 2, 2, 0x1E, 0x6C],
            br"\final\",
        ]
        .concat();
        for (format, word, list) in [(false, "", plain), (true, "cmp", records)] {
            let address = master(word, list, close).await;
            let mut request = request();
            request.compressed = format;
            let list = client().list(address, request).await.unwrap();
            let servers: Vec<String> = list.servers.iter().map(ToString::to_string).collect();
            assert_eq!(servers, ["192.0.2.1:7778", "192.0.2.2:7788"]);
            assert!(list.completeness.is_complete(), "{format:?}");
        }
    }
}

#[tokio::test]
async fn each_failure_of_a_list_server_has_its_error() {
    run_in_steps();
    let address = master("", br"\ip\192.0.2.1:7778\ip\192.0".to_vec(), true).await;
    let list = client().list(address, request()).await.unwrap();
    assert_eq!(
        (list.servers.len(), list.completeness.is_complete()),
        (1, false)
    );

    let wrong_key = GameSpy1List::new("ut", GameKey::new("Z5Nfb1").unwrap());
    let address = master("", Vec::new(), true).await;
    let error = client().list(address, wrong_key).await.unwrap_err();
    assert!(
        matches!(&error, Error::List { error: ListError::Refused(text), .. } if text == "Validation error")
    );

    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let started = Instant::now();
    let mut servers = client()
        .servers_at(silent.local_addr().unwrap(), request())
        .with_timeout(Duration::from_secs(1));
    assert_eq!(servers.next().await, None);
    let error = servers.masters()[0]
        .list
        .as_ref()
        .unwrap()
        .as_ref()
        .unwrap_err();
    assert!(
        matches!(
            error,
            Error::List {
                error: ListError::NoReply,
                ..
            }
        ),
        "{error}"
    );
    assert!(
        started.elapsed() < Duration::from_secs(25),
        "the default is longer"
    );

    // Bound, so that no other test gets the port, and not listening.
    let closed = TcpSocket::new_v4().unwrap();
    closed.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = closed.local_addr().unwrap().to_string();
    let error = client().list(&address, request()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unreachable, "{error}");
}
