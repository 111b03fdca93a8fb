//! The commands of `queryport` for GameSpy v2, Quake 2 and QuakeWorld, whose packets have other words
//! than those of GameSpy v4 and Quake 3.

use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

use kit::at_once;

use crate::{list, output, started};

/// A family of servers, and a game of it.
struct Family {
    /// The word for `serve` and the id of the game.
    game: &'static str,
    /// The name of the game.
    name: &'static str,
    /// A request for the status.
    request: &'static [u8],
    /// The game that an answer identifies.
    recognised: Option<&'static str>,
    /// The word of the reply in the output of `decode`; replies of GameSpy v2 have none.
    reply: Option<&'static str>,
}

const FAMILIES: [Family; 3] = [
    Family {
        game: "halo",
        name: "Halo",
        request: b"\xfe\xfd\0\x01\x02\x03\x04\xff\xff\xff",
        recognised: Some("halo"),
        reply: None,
    },
    Family {
        game: "quake2",
        name: "Quake 2",
        request: b"\xff\xff\xff\xffstatus\n",
        recognised: Some("quake2"),
        reply: Some("print"),
    },
    Family {
        game: "quake",
        name: "QuakeWorld",
        request: b"\xff\xff\xff\xffstatus 23\n",
        recognised: Some("quake"),
        reply: Some("n"),
    },
];

/// The only line of a program's output. The program must have succeeded.
pub(super) fn line(run: &[&str]) -> serde_json::Value {
    let (code, out, err) = output(run);
    assert_eq!(
        (code, out.lines().count()),
        (Some(0), 1),
        "{run:?}\n{out}{err}"
    );
    serde_json::from_str(&out).unwrap()
}

/// The reply to one request, one datagram.
fn reply_to(request: &[u8], server: SocketAddr) -> Vec<u8> {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    socket.send_to(request, server).unwrap();
    let mut buffer = vec![0; 2048];
    let length = socket.recv(&mut buffer).unwrap();
    buffer.truncate(length);
    buffer
}

#[test]
fn every_command_for_servers_knows_the_siblings() {
    // A query of an address also asks other ports, where the server of another test can answer.
    at_once((100..).zip(FAMILIES), |(host, family)| {
        let host = kit::own_host(host).to_string();
        let run = ["serve", family.game, "0", "--address", &host];
        let (mut child, _out, first) = started(&run);
        let server = first.trim().rsplit(' ').next().unwrap().to_owned();
        let targets = list(family.game, &format!("{} {server}\n", family.game));
        let scanned = ["scan", &targets, "--json"];
        let by_game = ["query", family.game, &server, "--json"];
        let by_host = ["query", &server, "--json"];
        for run in [&by_game[..], &by_host, &scanned] {
            let found = line(run);
            assert_eq!(
                found["answered_game"].as_str(),
                family.recognised,
                "{run:?}: {found}"
            );
            let players = found["answer"]["players"].as_array().unwrap();
            assert!(players.len() >= 2, "{run:?}: {found}");
            assert_eq!(found["answer"]["completeness"], "complete", "{run:?}");
        }
        let (code, out, err) = output(&["browser", "--plain", &targets]);
        assert!(code == Some(0) && out.contains(family.name), "{out}{err}");
        let (code, out, err) = output(&["monitor", "--once", family.game, &server]);
        assert!(
            code == Some(0) && out.starts_with("QUERYPORT OK: "),
            "{out}{err}"
        );
        let reply = reply_to(family.request, server.parse().unwrap());
        let [request, reply] = [family.request, &reply].map(hex::encode);
        let captured = list(
            &format!("{}-hex", family.game),
            &format!("{request}\n{reply}\n"),
        );
        let decoded = line(&["decode", &captured]);
        let sides = ["client", "server"].map(|side| serde_json::json!(side));
        let datagrams = decoded["datagrams"].as_array().unwrap();
        let senders = datagrams.iter().map(|datagram| &datagram["from"]);
        assert!(senders.eq(&sides), "{decoded}");
        assert_eq!(decoded["command"].as_str(), family.reply, "{decoded}");
        child.kill().unwrap();
        child.wait().unwrap();
        for file in [targets, captured] {
            std::fs::remove_file(file).unwrap();
        }
    });
}

/// Over the broadcast address of the loopback network.
#[test]
fn the_siblings_are_found_on_the_local_network() {
    let games = [
        ("halo", "halo", 2302..=2305),
        ("quake2", "quake2", 27910..=27913),
        ("quake", "quake", 27500..=27503),
        // Its reply names no game: that of the search is shown.
        ("quake3", "q3a", 27960..=27963),
    ];
    at_once(games, |(served, game, ports)| {
        let serve =
            |port: u16| started(&["serve", served, &port.to_string(), "--address", "0.0.0.0"]);
        let mut servers = ports.clone().map(serve);
        let server = servers.find(|(.., first)| !first.is_empty());
        let (mut child, _out, first) = server.expect("a free port");
        let address: SocketAddr = first.trim().rsplit(' ').next().unwrap().parse().unwrap();
        assert!(ports.contains(&address.port()), "{first}");
        let search = [
            "query",
            "--lan",
            game,
            "--network",
            "127.255.255.255",
            "--json",
        ];
        let (code, out, err) = output(&search);
        assert_eq!(code, Some(0), "{game}: {out}{err}");
        let answers = out.lines().map(|line| serde_json::from_str(line).unwrap());
        let mut answers = answers.filter(|answer: &serde_json::Value| {
            let peer: SocketAddr = answer["peer"].as_str().unwrap().parse().unwrap();
            peer.port() == address.port()
        });
        let answer = answers.next().unwrap_or_else(|| panic!("{game}: {out}"));
        let name = answer["answer"]["name"].as_str().unwrap();
        assert!(name.starts_with("queryport embedded "), "{answer}");
        assert_eq!(answer["answer"]["completeness"], "complete", "{answer}");
        assert!(answers.next().is_none(), "{game} was found twice");
        child.kill().unwrap();
        child.wait().unwrap();
    });
}
