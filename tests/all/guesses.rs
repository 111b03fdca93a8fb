//! Code that users of the API write first, from its names alone, compiles and works. Guesses that
//! do not compile are in the guide's chapter on one server, and in the doctests of
//! `src/guide/mod.rs`.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use queryport::games::Game;
use queryport::model::{Charset, Colours, Style};
use queryport::net::{ScanTarget, Server};
use queryport::quake3::Password;
use queryport::{
    Answer, Client, Detail, Dialect, Error, ErrorKind, Limits, Outcome, Player, Protocol, Query,
    QueryError, QueryOptions, Rules, ScanOptions, Secret, ServerStatus, Text, Timing, ToStatus,
};

#[test]
fn a_status_is_stored_as_json_and_equals_what_is_read_back() {
    let mut status = status();
    let style = Style::new(Charset::Latin1, Colours::Caret);
    status.name = Some(Text::new(&b"^1Gr\xfcn"[..], style));
    let json = serde_json::to_string(&status).unwrap();
    assert_eq!(serde_json::from_str::<ServerStatus>(&json).unwrap(), status);
}

#[test]
fn small_types_have_the_traits_that_are_looked_for() {
    let server: Server = "example.org:27960".parse().unwrap();
    assert_eq!(server, Server::from(("example.org", 27960)));
    assert!("example.org:x".parse::<Server>().is_err());
    let keys = HashSet::from([(
        Timing::default(),
        Limits::default(),
        QueryOptions::default(),
    )]);
    assert_eq!(keys.len(), 1);
    let options = QueryOptions::default().with_detail(Detail::Short);
    assert_eq!(options.detail(), Detail::Short);
    assert_eq!(options.limits().max_players(), 1024);
    let password = String::from("secret");
    let (_by_value, _borrowed) = (Password::new(password.clone()), Password::new(&password));
}

/// A program's own function.
async fn name_of(client: &Client, server: SocketAddr) -> queryport::Result<Option<Text>> {
    Ok(client.query("quake3", server).await?.answer.name)
}

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
fn a_text_is_used_as_a_string() {
    let status = status();
    let name: String = status.name.clone().unwrap_or_default().into();
    assert_eq!(name, "Red Rocket");
    let name = status
        .name
        .clone()
        .map_or_else(|| "?".to_owned(), String::from);
    assert_eq!(status.name.as_ref().unwrap(), &name);
    assert_eq!(
        format!("{:>12}", status.name.as_ref().unwrap_or_default()),
        "  Red Rocket"
    );
    assert_eq!(
        status.name.as_ref().map(Text::to_string).as_deref(),
        Some("Red Rocket")
    );
    assert!(
        status
            .name
            .as_ref()
            .is_some_and(|name| name == "Red Rocket" && name.plain().contains("Rocket"))
    );
    let name: &str = status.name.as_deref().unwrap_or("?");
    assert_eq!(name, "Red Rocket");
    assert_eq!(status.name, Some("Red Rocket".into()));
    assert!("q3dm17" == status.map.unwrap(), "either side");
}

#[test]
fn rules_are_looked_up_compared_and_collected() {
    let rules = status().rules;
    assert_eq!(rules.get("mapname").unwrap(), "q3dm17");
    assert_eq!(rules.get("mapname").unwrap_or_default(), "q3dm17");
    assert!(rules.get("mapname").is_some_and(|map| map == "q3dm17"));
    assert_eq!(
        rules.get("mapname").map(|map| map.to_string()),
        Some("q3dm17".to_owned())
    );
    for (key, value) in &rules {
        assert_eq!(format!("{key}={value}"), "mapname=q3dm17");
    }
    let map: HashMap<String, String> = rules
        .iter()
        .map(|(key, value)| (key.to_string(), value.to_string()))
        .collect();
    assert_eq!(map["mapname"], "q3dm17");
    assert_eq!(map.into_iter().collect::<Rules>(), rules);
    let mut more = rules.clone();
    more.extend([("fraglimit", "20")]);
    assert_eq!(more.len(), 2);
}

#[test]
fn players_are_counted_sorted_and_found() {
    let status = status();
    assert_eq!(status.players.len(), 2);
    let mut players = status.players.clone();
    players.sort_by(|a, b| b.name.cmp(&a.name));
    players.sort_by_key(|player| std::cmp::Reverse(player.score));
    assert!(status.players.iter().any(|player| player.name == "Ann"));
    #[allow(clippy::mutable_key_type, reason = "a text's equality never changes")]
    let names: HashSet<&Text> = status.players.iter().map(|player| &player.name).collect();
    assert_eq!(names.len(), 2);
    let names: Vec<String> = status
        .players
        .iter()
        .map(|player| player.name.to_string())
        .collect();
    assert_eq!(names.join(", "), "Ann, Bob2");
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
    let io = queryport::net::ScanIo::default();
    let json = r#"{"receive_buffer":0,"drops":null,"send_errors":0}"#;
    assert_eq!(serde_json::to_string(&io).unwrap(), json);
}

fn client() -> Client {
    Client::with_secret(Secret::new([7; 16])).with_timeout(Duration::from_secs(2))
}

async fn start() -> SocketAddr {
    crate::net::start("127.0.0.1:0", Protocol::Quake3, status()).await
}

#[tokio::test]
async fn a_server_is_named_in_every_way() {
    let server = start().await;
    let client = client();
    let text = server.to_string();
    let ip: IpAddr = server.ip();
    let name = |outcome: Outcome<ServerStatus>| outcome.answer.name.unwrap();
    assert_eq!(
        name(client.query(Protocol::Quake3, server).await.unwrap()),
        "Red Rocket"
    );
    assert_eq!(
        name(client.query(Protocol::Quake3, text.as_str()).await.unwrap()),
        "Red Rocket"
    );
    assert_eq!(
        name(client.query(Protocol::Quake3, &text).await.unwrap()),
        "Red Rocket"
    );
    assert_eq!(
        name(client.query(Protocol::Quake3, text.clone()).await.unwrap()),
        "Red Rocket"
    );
    assert_eq!(
        name(
            client
                .query(Protocol::Quake3, (ip, server.port()))
                .await
                .unwrap()
        ),
        "Red Rocket"
    );
    assert_eq!(
        name(
            client
                .query(Protocol::Quake3, ("127.0.0.1", server.port()))
                .await
                .unwrap()
        ),
        "Red Rocket"
    );
    assert_eq!(
        name(client.query(Protocol::Quake3, &server).await.unwrap()),
        "Red Rocket"
    );
    let named = (ip.to_string(), server.port());
    assert_eq!(
        name(client.query(Protocol::Quake3, named).await.unwrap()),
        "Red Rocket"
    );
    assert_eq!(Server::from(ip), Server::from("127.0.0.1"));
    assert_eq!(
        name(client.query("quake3", server).await.unwrap()),
        "Red Rocket"
    );
    let openarena = Game::find("openarena").unwrap();
    assert_eq!(
        name(client.query_game(openarena, server).await.unwrap().outcome),
        "Red Rocket"
    );
    let answer: Outcome<Answer> = client.answer(Protocol::Quake3, server).await.unwrap();
    assert_eq!(answer.answer.to_status().name.unwrap(), "Red Rocket");
    let queries: Vec<Box<dyn Query>> = vec![client.target(Protocol::Quake3, server)];
    assert_eq!(queries[0].name(), text);
    assert_eq!(name(queries[0].query().await.unwrap()), "Red Rocket");
    let openarena = client.target_game(openarena, server);
    assert_eq!(name(openarena.query().await.unwrap()), "Red Rocket");
    assert_eq!(
        name_of(&client, server).await.unwrap().as_deref(),
        Some("Red Rocket")
    );
    let spawned = tokio::spawn(async move { client.query(Protocol::Quake3, server).await });
    assert!(spawned.await.unwrap().is_ok());
}

#[tokio::test]
async fn a_scan_takes_every_list_and_brings_statuses() {
    let (server, options) = (start().await, ScanOptions::default());
    let (client, text) = (client(), server.to_string());
    let game = Game::find("openarena").unwrap();
    let leaked: &'static [(Protocol, SocketAddr)] = vec![(Protocol::Quake3, server)].leak();
    let map = BTreeMap::from([(text.clone(), Protocol::Quake3)]);
    let list = vec![(Protocol::Quake3, text.as_str())];
    let of_games = [(game, server)];
    let by_name = vec![("quake3", server)];
    let by_game = vec![("openarena", server)];
    let owned = vec![(String::from("quake3"), text.clone())];
    for mut scan in [
        client.scan([(Protocol::Quake3, server)], options),
        client.scan([("quake3", server)], options),
        client.scan([("quake3", text.as_str())], options),
        client.scan(&by_name, options),
        client.scan(&by_game, options),
        client.scan([("OpenArena", server)], options),
        client.scan([("openarena".to_owned(), text.as_str())], options),
        client.scan(&owned, options),
        client.scan(owned.clone(), options),
        client.scan([ScanTarget::from(("quake3", text.clone()))], options),
        client.scan(vec![(Protocol::Quake3, text.clone())], options),
        client.scan([(Protocol::Quake3, ("127.0.0.1", server.port()))], options),
        client.scan(leaked, options),
        client.scan(&list, options),
        client.scan(list.iter(), options),
        client.scan(&of_games, options),
        client.scan(
            map.into_iter().map(|(server, protocol)| (protocol, server)),
            options,
        ),
        client.scan([(game, text.clone())], options),
        client.scan([(game, server)], options),
        client.scan([(game, ("127.0.0.1", server.port()))], options),
        client.scan([ScanTarget::from((game, text.as_str()))], options),
    ]
    .map(Result::unwrap)
    {
        let mut names = Vec::new();
        while let Some(scanned) = scan.next().await {
            let status: ServerStatus = scanned.result.unwrap().answer;
            names.extend(status.name);
        }
        assert_eq!(names, ["Red Rocket"]);
    }
}

fn is_send<T: Send>(future: T) -> T {
    future
}

#[tokio::test]
async fn a_game_is_given_by_its_text_or_row() {
    let (client, server) = (client(), start().await);
    let openarena = Game::find("openarena").unwrap();
    let mut own = *openarena;
    own.name = "My Game";
    let text = String::from("Open Arena");
    for found in [
        client.query_game("openarena", server).await,
        client.query_game(&text, server).await,
        client.query_game(text.clone(), server).await,
        client.query_game(openarena, server).await,
        client.query_game(&own, server).await,
        client.query_game(&openarena, server).await,
    ] {
        assert_eq!(found.unwrap().outcome.answer.name.unwrap(), "Red Rocket");
    }
    for target in [
        client.target_game("openarena", server),
        client.target_game(&own, server),
    ] {
        assert_eq!(
            target.query().await.unwrap().answer.name.unwrap(),
            "Red Rocket"
        );
    }
    assert!(client.servers("openarena").is_ok() && client.servers(&own).is_ok());
    let loopback = [server.ip()];
    assert!(client.lan("openarena", &loopback).is_ok() && client.lan(&text, &loopback).is_ok());
    assert!(client.lan(None, &loopback).is_ok() && client.lan(Some(&own), &loopback).is_ok());
    assert!(client.lan(openarena, &loopback).is_ok() && client.lan(&own, &loopback).is_ok());
    let (of_text, of_row) = (text.as_str(), &own);
    drop(is_send(client.query_game(of_text, server)));
    drop(is_send(client.query_game(of_row, server)));
    drop(is_send(client.query_listed(of_text, server)));
    drop(is_send(client.query_listed(of_row, server)));
    let spawned = tokio::spawn(async move { client.query_game(&own, server).await.is_ok() });
    assert!(spawned.await.unwrap());
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

/// A program's own function, which parses a datagram of its own socket.
fn map_of(datagram: &[u8]) -> queryport::Result<Option<Text>> {
    let answer = Answer::from_datagrams(Protocol::Quake3, [datagram], &Limits::default())?;
    Ok(answer.to_status().map)
}

#[test]
fn a_rejected_datagram_becomes_an_error_of_the_library() {
    let reply = Vec::from(b"\xff\xff\xff\xffstatusResponse\n\\mapname\\q3dm17\n");
    assert_eq!(map_of(&reply).unwrap(), Some("q3dm17".into()));
    for (datagram, kind) in [
        (&b"GET /"[..], ErrorKind::NotThisProtocol),
        (b"\xff\xff\xff\xffstatusResponse", ErrorKind::Malformed),
    ] {
        let error = map_of(datagram).unwrap_err();
        assert!(matches!(error, Error::Parse(_)), "{error}");
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.peer().is_none() && error.to_string().contains("at byte"));
    }
}

/// A program's own function, which passes both errors on.
fn server_count(text: &str) -> queryport::Result<usize> {
    let client = Client::new()?.blocking();
    let game = Game::find(text)?;
    Ok(client.servers(game)?.masters().len())
}

#[test]
fn an_unknown_game_becomes_an_error_of_the_library() {
    assert!(server_count("openarena").is_ok_and(|count| count > 0));
    assert!(matches!(
        server_count("openarna"),
        Err(Error::UnknownGame(_))
    ));
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
        ("gamespy1", "gamespy1 is a protocol"),
        ("csgo", "it speaks Valve's A2S"),
    ] {
        let error = client.query_game(name, "192.0.2.1").await.unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
    }
}

#[tokio::test]
async fn an_unknown_protocol_is_the_result_of_its_target() {
    let (server, options) = (start().await, ScanOptions::default());
    let targets = [("quake9", server), ("quake3", server)];
    let minecraft = QueryOptions::default().with_dialect(Dialect::Minecraft);
    let unknown = ScanTarget::from(("quake9", server)).with_options(minecraft);
    let mut scan = client().scan(targets, options).unwrap();
    let mut results = Vec::new();
    while let Some(scanned) = scan.next().await {
        results.push((scanned.index, scanned.result.map(drop)));
    }
    let mut blocking = client().blocking().scan([unknown], options);
    results.push((2, blocking.next().unwrap().result.map(drop)));
    results.sort_by_key(|(index, _)| *index);
    let [(0, Err(first)), (1, Ok(())), (2, Err(last))] = results.as_slice() else {
        panic!("{results:?}");
    };
    for error in [first, last] {
        assert!(matches!(error, Error::UnknownProtocol(_)), "{error}");
        assert_eq!(error.kind(), ErrorKind::Request);
    }
}

/// A program's own session, whose failure it passes on.
fn end_of_session(result: Result<ServerStatus, QueryError>) -> queryport::Result<ServerStatus> {
    Ok(result?)
}

#[test]
fn a_failed_session_becomes_an_error_of_the_library() {
    let error = end_of_session(Err(QueryError::Unreachable)).unwrap_err();
    assert_eq!(
        (error.kind(), error.peer(), error.to_string()),
        (
            ErrorKind::Unreachable,
            None,
            QueryError::Unreachable.to_string()
        )
    );
    assert_eq!(error.reason(), error.to_string());
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

#[test]
fn a_rule_is_compared_and_parsed() {
    let mut status = status();
    status.rules.push("fraglimit", "20");
    let rules = &status.rules;
    assert!(rules.get("mapname") == Some("q3dm17".into()));
    assert!(rules.get("absent") != Some("q3dm17".into()));
    let limit = || -> Option<u32> { rules.get("fraglimit")?.parse().ok() };
    assert_eq!(limit(), Some(20));
    assert!(rules.get("mapname").unwrap().parse::<u32>().is_err());
    let map = rules.get("mapname").map(|map| map.to_str());
    assert_eq!(map.as_deref(), Some("q3dm17"));
    assert!(
        rules
            .get("mapname")
            .is_some_and(|map| !map.is_empty() && map.to_str().contains("dm"))
    );
}

#[test]
fn a_text_is_taken_where_a_str_is_taken() {
    fn length(text: impl AsRef<str>) -> usize {
        text.as_ref().len()
    }
    let name = Text::from("Ann");
    assert_eq!((length(&name), length(name.clone())), (3, 3));
    let names = [name, "Bob".into()];
    assert_eq!(names.join(", "), "Ann, Bob");
    let rules: Rules = [(&names[0], &names[1])].into_iter().collect();
    assert_eq!(rules.get("ann").unwrap(), "Bob");
}

#[test]
fn players_are_removed_and_moved_out() {
    let mut status = status();
    status.players.retain(|player| player.name != "Ann");
    assert_eq!(status.players.len(), 1);
    let list: Vec<Player> = status.players.clone().into();
    assert_eq!(Vec::from(status.players.clone()), list);
    status.players.clear();
    assert!(status.players.is_empty() && status.players.is_known());
    let mut unknown = ServerStatus::default().players;
    unknown.retain(|_| false);
    assert!(!unknown.is_known() && Vec::from(unknown).is_empty());
}

#[test]
fn captured_datagrams_are_bytes_of_any_kind() {
    const REPLY: &[u8] = b"\xff\xff\xff\xffstatusResponse\n\\mapname\\q3dm17\n";
    let limits = Limits::default();
    let owned = vec![REPLY.to_vec()];
    let borrowed: &[u8] = &owned[0];
    for answer in [
        Answer::from_datagrams(Protocol::Quake3, [REPLY], &limits),
        Answer::from_datagrams(Protocol::Quake3, owned.clone(), &limits),
        Answer::from_datagrams(Protocol::Quake3, [borrowed], &limits),
        Answer::from_datagrams(Protocol::Quake3, &owned, &limits),
        Answer::from_datagrams(Protocol::Quake3, owned.iter(), &limits),
        Answer::from_datagrams(Protocol::Quake3, [bytes::Bytes::from(REPLY)], &limits),
    ] {
        assert_eq!(answer.unwrap().to_status().map.unwrap(), "q3dm17");
    }
}

#[tokio::test]
async fn a_list_server_is_named_in_every_way() {
    let silent = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let server = silent.local_addr().unwrap();
    let (client, request) = (client(), || {
        queryport::lists::Quake3List::game("Nexuiz", 3).unwrap()
    });
    let (host, text) = (server.ip().to_string(), server.to_string());
    for servers in [
        client.servers_at(server, request()),
        client.servers_at(&text, request()),
        client.servers_at(text.as_str(), request()),
        client.servers_at((host.as_str(), server.port()), request()),
    ] {
        assert_eq!(servers.masters()[0].address, text);
    }
    let client = client.with_timeout(Duration::from_millis(50));
    let error = client.list(server, request()).await.unwrap_err();
    assert_eq!((error.is_timeout(), error.peer()), (true, Some(server)));
    let error = client.blocking().list(text, request()).unwrap_err();
    assert_eq!((error.is_timeout(), error.peer()), (true, Some(server)));
}

/// The error leads to the mode that sends such a password.
#[test]
fn a_password_with_a_space_needs_quotes() {
    use queryport::EncodeError;
    use queryport::quake3::{RconMode, RconQuery};

    let query = |password: &str, mode| {
        RconQuery::new(Password::new(password), "status", mode, &Limits::default()).map(drop)
    };
    for password in ["two words", "a;b", "a//b"] {
        let error = query(password, RconMode::Plain).unwrap_err();
        assert!(matches!(error, EncodeError::NeedsQuotes(_)), "{error}");
        assert_eq!(
            error.to_string(),
            "rcon password has a space, ';' or a comment, which only RconMode::Quoted can send"
        );
        assert_eq!(query(password, RconMode::Quoted), Ok(()));
    }
}
