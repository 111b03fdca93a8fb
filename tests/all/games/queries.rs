//! Servers are found by the name of their game and their game port.
use std::collections::BTreeMap;
use std::net::SocketAddr;

use queryport::games::Game;
use queryport::{Dialect, Format, ScanOptions, Service};
use queryport::{Error, ErrorKind, Protocol};
use tokio::net::UdpSocket;
use tokio::task::JoinHandle;

use crate::games::{answer, bind, client, named};

/// A server as the game's servers answer.
fn serve(game: &Game, socket: UdpSocket, name: &str) -> JoinHandle<()> {
    let service = match game.dialect {
        Dialect::JustCause2 => return just_cause_2(socket, name),
        Dialect::InfoOnly => return info_only(socket, game, name),
        Dialect::Minecraft => Service::new(Format::Minecraft),
        Dialect::GameSpy2 if game.protocol == Protocol::GameSpy4 => Service::new(Format::GameSpy2),
        Dialect::Quake2 => Service::new(Format::Quake2),
        Dialect::QuakeWorld => Service::new(Format::QuakeWorld),
        _ => Service::from(game.protocol),
    };
    answer(socket, service, named(name, game.game_port))
}

/// Just Cause 2 Multiplayer: a challenge, then one datagram without the mark of the last one, as
/// captured by Austinb/GameQ (tests/Protocols/Providers/Justcause2).
fn just_cause_2(socket: UdpSocket, name: &str) -> JoinHandle<()> {
    let body = [
        &b"splitnum\0\0\0hostname\0"[..],
        name.as_bytes(),
        b"\0\0\0\x01William\0STEAM_0:1:2\0\0\x8b",
    ]
    .concat();
    kit::spawn(async move {
        let mut buffer = [0; 64];
        while let Ok((length, from)) = socket.recv_from(&mut buffer).await {
            let reply = match buffer[..length] {
                [0xFE, 0xFD, 9, a, b, c, d, ..] => [&[9, a, b, c, d][..], b"12345\0"].concat(),
                [0xFE, 0xFD, 0, a, b, c, d, ..] => [&[0, a, b, c, d][..], &body].concat(),
                _ => continue,
            };
            socket.send_to(&reply, from).await.unwrap();
        }
    })
}

/// Clients of Call of Duty: `getinfo` alone, as HeartbeatingForCenturies/iw6x-client,
/// src/client/component/party.cpp, answers it.
fn info_only(socket: UdpSocket, game: &Game, name: &str) -> JoinHandle<()> {
    let described = format!(
        r"\gamename\{}\hostname\{name}\clients\0\bots\0",
        game.gamename.unwrap()
    );
    kit::spawn(async move {
        let mut buffer = [0; 64];
        while let Ok((length, from)) = socket.recv_from(&mut buffer).await {
            let Some(challenge) = buffer[..length].strip_prefix(b"\xff\xff\xff\xffgetinfo ") else {
                continue;
            };
            let head = b"\xff\xff\xff\xffinfoResponse\n\\challenge\\";
            socket
                .send_to(&[&head[..], challenge, described.as_bytes()].concat(), from)
                .await
                .unwrap();
        }
    })
}

#[tokio::test]
async fn a_server_of_every_game_is_found_at_its_default_ports() {
    let client = client();
    for (row, game) in (1_u8..).zip(Game::all()) {
        let port = game.default_query_port().unwrap();
        let socket = bind((kit::own_host(row), port));
        let address = socket.local_addr().unwrap();
        let server = serve(game, socket, game.name);
        // By its name alone, then with the port that players connect to.
        let with_port = game
            .game_port
            .map(|port| SocketAddr::new(address.ip(), port).to_string());
        for text in [Some(address.ip().to_string()), with_port]
            .into_iter()
            .flatten()
        {
            let found = client
                .query_game(Game::find(game.name).unwrap(), &text)
                .await;
            let found = found.unwrap_or_else(|error| panic!("{} at {text}: {error}", game.id));
            assert!(found.game().is_some(), "{}", game.id);
            assert_eq!(found.outcome.answer.name.unwrap(), game.name, "{}", game.id);
            assert_eq!(
                (found.protocol, found.outcome.peer),
                (game.protocol, address),
                "{}",
                game.id
            );
        }
        server.abort();
        let _ = server.await;
    }
}

#[tokio::test]
async fn the_side_port_of_ut2004_is_asked_where_the_query_port_is_closed() {
    let game = Game::find("ut2004").unwrap();
    let host = kit::own_host(252);
    let game_port = 17_777;
    let side_port = SocketAddr::from((host, game_port + 10));
    let socket = bind(side_port);
    let server = answer(
        socket,
        Protocol::GameSpy1.into(),
        named("side", Some(game_port)),
    );
    let text = format!("{host}:{game_port}");
    let found = client().query_game(game, &text).await.unwrap();
    assert_eq!(
        (found.protocol, found.outcome.peer),
        (Protocol::GameSpy1, side_port)
    );
    server.abort();
    let _ = server.await;

    // The same port, with servers that are another one, by their game port or by their game.
    let mut accepted = Vec::new();
    for (name_of_game, port_of_game) in [
        (None, Some(game_port + 1)),
        (Some("ut"), Some(game_port)),
        (Some("ut"), None),
        (Some("ut2004"), Some(game_port + 1)),
        (Some("ut2004"), Some(game_port)),
        (Some("ut2004"), None),
    ] {
        let mut status = named("side", port_of_game);
        status.game = name_of_game.map(Into::into);
        let server = answer(bind(side_port), Protocol::GameSpy1.into(), status);
        match client().query_game(game, &text).await {
            Ok(found) => {
                assert_eq!(found.outcome.peer, side_port);
                accepted.push((name_of_game, port_of_game));
            }
            Err(error) => {
                let kind = error.kind();
                assert_eq!(kind, ErrorKind::Unreachable, "at the query port: {error}");
            }
        }
        server.abort();
        let _ = server.await;
    }
    let own = Some("ut2004");
    assert_eq!(accepted, [(own, Some(game_port)), (own, None)]);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_second_server_of_a_host_is_not_taken_for_the_first() {
    let game = Game::find("bf2").unwrap();
    let host = kit::own_host(253);
    let service = || Service::new(Format::GameSpy4);
    let _first = answer(bind((host, 29900)), service(), named("first", Some(16567)));
    let second = answer(bind((host, 29901)), service(), named("second", Some(16568)));
    for (game_port, name) in [(16567, "first"), (16568, "second")] {
        let found = client()
            .query_game(game, &format!("{host}:{game_port}"))
            .await
            .unwrap();
        assert_eq!(found.outcome.answer.name.unwrap(), name);
    }
    second.abort();
    let _ = second.await;
    let targets = [16567, 16568].map(|game_port| (game, SocketAddr::from((host, game_port))));
    let mut scan = client()
        .scan(targets, ScanOptions::default().with_window(1))
        .unwrap();
    let mut results: BTreeMap<u64, _> = BTreeMap::new();
    while let Some(scanned) = scan.next().await {
        results.insert(scanned.index, scanned.result);
    }
    assert_eq!(
        results[&0].as_ref().unwrap().answer.name.as_ref().unwrap(),
        "first"
    );
    let error_of_scan = results[&1].as_ref().unwrap_err();
    let error = client()
        .query_game(game, &format!("{host}:16568"))
        .await
        .unwrap_err();
    assert_eq!(error_of_scan.to_string(), error.to_string());
    assert!(
        matches!(
            error,
            Error::OtherServer {
                game_port: Some(16567),
                ..
            }
        ),
        "{error}"
    );
    assert!(
        error
            .to_string()
            .ends_with("another server answered: game not known, game port 16567"),
        "{error}"
    );
}
