//! What users of the API write first: servers and lists in any form, JSON, and names that are wrong.

use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;
use std::time::Duration;

use queryport::games::Game;
use queryport::net::ScanTarget;
use queryport::{
    Client, Dialect, Error, ErrorKind, Outcome, Player, Protocol, Query, QueryError, QueryOptions,
    ScanOptions, Secret, ServerStatus,
};

#[tokio::test]
async fn a_wrong_protocol_or_dialect_is_an_error() {
    let client = client();
    let error = client.query("quake9", "192.0.2.1").await.unwrap_err();
    assert!(
        error.to_string().starts_with("unknown protocol \"quake9\""),
        "{error}"
    );
    let minecraft = QueryOptions::default().with_dialect(Dialect::Minecraft);
    let confused = client.clone().with_options(minecraft);
    let error = confused.query("quake3", "192.0.2.1").await.unwrap_err();
    assert_eq!(error.to_string(), "Minecraft is not a dialect of quake3");
    assert_eq!(error.kind(), ErrorKind::Request);
    let target = ScanTarget::from((Protocol::Quake3, "192.0.2.1")).with_options(minecraft);
    let mut scan = client.scan([target], ScanOptions::default()).unwrap();
    let error = scan.next().await.unwrap().result.unwrap_err();
    assert!(matches!(error, Error::WrongDialect { .. }), "{error}");
}

fn status() -> ServerStatus {
    let mut status = ServerStatus::default();
    status.name = Some("Red Rocket".into());
    status.map = Some(String::from("q3dm17").into());
    status.players = [Player::new("Ann"), Player::new(format!("Bob{}", 2))].into();
    status.rules.push("mapname", "q3dm17");
    status
}

#[test]
fn errors_are_printed_sorted_cloned_and_boxed() {
    let peer = ([192, 0, 2, 1], 27960).into();
    let waited = Duration::from_secs(4);
    let error = Error::Query {
        peer,
        error: QueryError::Timeout {
            requests: 3,
            waited,
        },
    };
    assert_eq!(format!("{}", error.kind()), "timeout");
    assert!(error.is_timeout() && error.kind().is_timeout() && error.kind() == ErrorKind::Timeout);
    assert_eq!(error.clone().to_string(), error.to_string());
    assert_eq!(HashMap::from([(error.kind(), 1)])[&ErrorKind::Timeout], 1);
    let json = serde_json::to_value(&error).unwrap();
    assert_eq!(
        (&json["kind"], &json["address"]),
        (&"timeout".into(), &"192.0.2.1:27960".into())
    );
    let _: Box<dyn std::error::Error + Send + Sync> = error.into();
}

#[test]
fn other_tools_words_are_protocols() {
    assert_eq!("gamespy3".parse(), Ok(Protocol::GameSpy4));
    assert_eq!("unreal2".parse(), Ok(Protocol::Ut2004));
    assert_eq!(Protocol::Quake3.to_string().parse(), Ok(Protocol::Quake3));
}

#[test]
fn an_outcome_is_stored_as_json() {
    let peer = ([192, 0, 2, 1], 27960).into();
    let outcome = Outcome::new(status(), peer, Some(Duration::from_millis(413)));
    let json = serde_json::to_string(&outcome).unwrap();
    assert!(json.contains(r#""rtt":0.413,"#), "{json}");
    assert_eq!(
        serde_json::from_str::<Outcome<ServerStatus>>(&json).unwrap(),
        outcome
    );
    assert_eq!(outcome.rtt.map(|rtt| rtt.as_millis()), Some(413));
}

fn client() -> Client {
    Client::with_secret(Secret::new([7; 16])).with_timeout(Duration::from_secs(2))
}

async fn start() -> SocketAddr {
    crate::net::start("127.0.0.1:0", Protocol::Quake3, status()).await
}

#[tokio::test]
async fn an_unknown_game_is_an_error_with_suggestions() {
    let client = client();
    let blocking = client.clone().blocking();
    for error in [
        client.query_game("openarna", "192.0.2.1").await.map(drop),
        client.query_listed("openarna", "192.0.2.1").await.map(drop),
        client.servers("openarna").map(drop),
        client.lan("openarna", &[]).map(drop),
        client.target_game("openarna", "x").query().await.map(drop),
        blocking.query_game("openarna", "192.0.2.1").map(drop),
        blocking.query_listed("openarna", "192.0.2.1").map(drop),
        blocking.servers("openarna").map(drop),
    ] {
        let error = error.unwrap_err();
        assert_eq!(
            error.to_string(),
            "unknown game \"openarna\": did you mean openarena (OpenArena)?"
        );
        assert_eq!(error.kind(), ErrorKind::Request);
        let Error::UnknownGame(unknown) = error else {
            panic!("{error}");
        };
        assert_eq!(unknown.suggestions()[0].id, "openarena");
    }
}

/// A server and a list in the forms that are at hand.
#[tokio::test]
async fn servers_and_lists_are_taken_in_every_form() {
    let server = start().await;
    let (client, text) = (client(), server.to_string());
    let openarena = Game::find("openarena").unwrap();
    let mut own = *openarena;
    own.name = "My Game";
    let red =
        |outcome: Outcome<ServerStatus>| assert_eq!(outcome.answer.name.unwrap(), "Red Rocket");
    red(client.query("quake3", server).await.unwrap());
    red(client.query(Protocol::Quake3, &text).await.unwrap());
    red(client.query(Protocol::Quake3, text.clone()).await.unwrap());
    let host = ("127.0.0.1", server.port());
    red(client.query(Protocol::Quake3, host).await.unwrap());
    for game in [
        client.query_game("Open Arena", server).await,
        client.query_game(openarena, text.as_str()).await,
        client.query_game(&own, server).await,
    ] {
        red(game.unwrap().outcome);
    }
    let queries: Vec<Box<dyn Query>> = vec![
        client.target(Protocol::Quake3, server),
        client.target_game("openarena", server),
        client.target_game(&own, server),
    ];
    assert_eq!(queries[0].name(), text);
    for query in queries {
        red(query.query().await.unwrap());
    }
    let options = ScanOptions::default();
    let list = vec![(Protocol::Quake3, text.as_str())];
    let targets = [ScanTarget::from((openarena, host))];
    let map = BTreeMap::from([(text.clone(), openarena)]);
    for scan in [
        client.scan(&list, options),
        client.scan([("quake3", server)], options),
        client.scan([("OpenArena".to_owned(), text.clone())], options),
        client.scan(
            map.into_iter().map(|(server, game)| (game, server)),
            options,
        ),
        client.scan(&targets, options),
    ] {
        let scanned = scan.unwrap().next().await.unwrap();
        red(scanned.result.unwrap());
    }
    let loopback = [server.ip()];
    assert!(client.lan(None, &loopback).is_ok() && client.lan(Some(&own), &loopback).is_ok());
    assert!(client.lan("openarena", &loopback).is_ok());
    // Futures can be spawned.
    let spawned = tokio::spawn(async move { client.query_game(&own, server).await.is_ok() });
    assert!(spawned.await.unwrap());
}

/// Names that people know, in the call for the other kind of name.
#[tokio::test]
async fn a_name_of_the_other_kind_is_explained() {
    let client = client();
    for (name, words) in [
        ("openarena", "it is a game, OpenArena; use query_game"),
        ("gamespy2", "such as halo"),
        ("csgo", "it speaks Valve's A2S"),
    ] {
        let error = client.query(name, "192.0.2.1").await.unwrap_err();
        assert!(matches!(error, Error::UnknownProtocol(_)));
        assert!(error.to_string().contains(words), "{error}");
    }
    for (name, words) in [
        ("quake3x", "did you mean"),
        ("gamespy1", "gamespy1 is a protocol; use query"),
        ("csgo", "it speaks Valve's A2S"),
    ] {
        let error = client.query_game(name, "192.0.2.1").await.unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
    }
}

#[tokio::test]
async fn an_unknown_name_is_the_result_of_its_target() {
    let (server, options) = (start().await, ScanOptions::default());
    let targets = [("openarenna", server), ("quake3", server)];
    let minecraft = QueryOptions::default().with_dialect(Dialect::Minecraft);
    let unknown = ScanTarget::from(("openarenna", server)).with_options(minecraft);
    let mut scan = client().scan(targets, options).unwrap();
    let mut results = Vec::new();
    while let Some(scanned) = scan.next().await {
        results.push((scanned.index, scanned.result.map(drop)));
    }
    assert_eq!(scan.stats().not_asked, 1);
    let mut blocking = client().blocking().scan([unknown], options);
    results.push((2, blocking.next().unwrap().result.map(drop)));
    results.sort_by_key(|(index, _)| *index);
    let [(0, Err(first)), (1, Ok(())), (2, Err(last))] = results.as_slice() else {
        panic!("{results:?}");
    };
    for error in [first, last] {
        let words = "unknown game or protocol \"openarenna\": did you mean openarena (OpenArena)?";
        assert!(error.to_string().starts_with(words), "{error}");
        assert_eq!(error.kind(), ErrorKind::Request);
    }
}

#[test]
fn an_error_is_printed_with_and_without_the_address() {
    let peer: SocketAddr = ([192, 0, 2, 1], 27960).into();
    let error = Error::Query {
        peer,
        error: QueryError::Duplicate,
    };
    assert_eq!(error.peer(), Some(peer));
    assert_eq!(error.to_string(), format!("{peer}: {}", error.reason()));
    assert_eq!(error.reason(), QueryError::Duplicate.to_string());
    assert_eq!(
        (error.kind(), error.kind().as_str()),
        (ErrorKind::Duplicate, "duplicate")
    );
    let silent = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let target = ("quake3", silent.local_addr().unwrap());
    let mut scan = client()
        .blocking()
        .scan([target, target], ScanOptions::default());
    let first = scan.next().unwrap();
    assert_eq!(
        (first.index, first.result.unwrap_err().kind()),
        (1, ErrorKind::Duplicate)
    );
}
