//! Connecting: recorded exchanges, and our client against our server's side over lossy links.
use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use bytes::Bytes;
use queryport::quake3::{
    Command, ConnectQuery, ConnectRequest, Connected, InfoString, Refusal, Reply, Request, huffman,
};
use queryport::session::{Conversation, Verdict};
use queryport::{
    EncodeError, Protocol, QueryError, Requester, ServerStatus, Service, Timing, Verification,
};

use crate::common::link::Conditions;
use crate::common::pair::play;
use crate::common::{request, requester};
use crate::quake3::exchange::from;

fn written(reply: &Reply<'_>) -> Vec<Bytes> {
    let mut out = Vec::new();
    reply.encode(&mut out).unwrap();
    vec![out.into()]
}

/// The part of a game server that lets clients connect: challenges without a table, some player
/// slots, refusals in the engines' words.
struct GameServer {
    requester: Requester,
    service: Service,
    status: ServerStatus,
    slots: usize,
    connected: Vec<SocketAddr>,
}

impl GameServer {
    fn new(slots: usize) -> Self {
        let mut status = ServerStatus::default();
        status.game = Some("Quake3Arena".into());
        let mut service = Service::from(Protocol::Quake3);
        service = service.with_protocol_version(71);
        Self {
            requester: requester("192.0.2.1:5000"),
            service,
            status,
            slots,
            connected: Vec::new(),
        }
    }

    fn answer(&mut self, now: Instant, from: SocketAddr, datagram: &[u8]) -> Vec<Bytes> {
        let refuse = |text: &str| {
            written(&Reply::Print {
                quake_world_word: false,
                text: text.as_bytes(),
            })
        };
        (self.requester.now, self.requester.address) = (now, from);
        let Ok(request) = Request::parse(datagram) else {
            return Vec::new();
        };
        let Command::Connect(connect) = request.command else {
            let replies =
                queryport::quake3::respond(&request, &self.status, &self.service, &self.requester);
            return replies.into_iter().collect();
        };
        let Ok(userinfo) = connect.userinfo() else {
            return Vec::new();
        };
        let info = InfoString::new(&userinfo);
        let challenge = info.get("challenge").unwrap_or_default();
        if info.get("protocol") != Some(b"71") {
            return refuse("Server uses protocol version 71 (yours is 0).\n");
        }
        if !queryport::quake3::verify_challenge(challenge, &self.requester) {
            return refuse("No or bad challenge for your address.\n");
        }
        if !self.connected.contains(&from) {
            if self.connected.len() >= self.slots {
                return refuse("Server is full.\n");
            }
            self.connected.push(from);
        }
        written(&Reply::Connected {
            quake_world_word: false,
            challenge: Some(challenge),
            protocol: None,
        })
    }
}

fn connect(
    query: ConnectQuery,
    server: &mut GameServer,
    link: (Conditions, u64),
) -> Result<Result<Connected, Refusal>, QueryError> {
    let timing = Timing::default()
        .with_timeout(Duration::from_secs(30))
        .with_retries(12);
    let played = play(query, timing, link, |now, from, datagram| {
        server.answer(now, from, datagram)
    });
    played.result.map(|outcome| outcome.answer)
}

fn client() -> ConnectQuery {
    ConnectQuery::new(77)
        .with_game("Quake3Arena")
        .with("name", "Ann")
        .unwrap()
}

#[test]
fn a_client_gets_its_slot_over_a_bad_link() {
    for seed in 0..40 {
        let mut server = GameServer::new(1);
        let connected = connect(client(), &mut server, (Conditions::bad(), seed))
            .unwrap()
            .unwrap();
        assert_eq!(connected.verification, Verification::Verified);
        assert_eq!(
            server.connected.len(),
            1,
            "seed {seed}: one slot, however often it was asked for"
        );
    }
}

#[test]
fn a_server_that_only_hands_out_challenges_ends_the_query() {
    let link = (Conditions::perfect(Duration::from_millis(5)), 1);
    let played = play(client(), Timing::default(), link, |_, _, _| {
        vec![Bytes::from_static(b"\xff\xff\xff\xffchallengeResponse 5")]
    });
    assert!(matches!(
        played.result,
        Err(QueryError::NoUsableAnswer { .. })
    ));
    assert!(played.elapsed <= Timing::default().timeout());
}

/// id's engines take the first pair of several with one key.
#[test]
fn the_keys_of_the_query_itself_cannot_be_added() {
    for key in ["challenge", "QPort", "PROTOCOL"] {
        let error = ConnectQuery::new(7).with(key, "1").unwrap_err();
        assert!(
            matches!(error, EncodeError::Reserved(own) if own.eq_ignore_ascii_case(key)),
            "{key}"
        );
    }
    assert!(ConnectQuery::new(7).with("protocols", "DP7").is_ok());
}

#[test]
fn connect_packets_that_real_servers_took() {
    let client = from("openarena-connect-accepted", "client");
    let Command::GetChallenge {
        client: Some(ours),
        game,
    } = Request::parse(&client[0]).unwrap().command
    else {
        panic!()
    };
    assert_eq!(game, Some(&b"Quake3Arena"[..]));
    let server = from("openarena-connect-accepted", "server");
    let Reply::Challenge {
        challenge,
        client: quoted,
        protocol,
        ..
    } = Reply::parse(&server[0]).unwrap()
    else {
        panic!()
    };
    assert_eq!((quoted, protocol), (Some(ours), Some(&b"71"[..])));

    let Command::Connect(connect) = Request::parse(&client[1]).unwrap().command else {
        panic!()
    };
    let userinfo = connect.userinfo().unwrap();
    let info = InfoString::new(&userinfo);
    assert_eq!(info.get("challenge"), Some(challenge));
    assert_eq!(
        (info.get("protocol"), info.get("name")),
        (Some(&b"71"[..]), Some(&b"Ann"[..]))
    );
    // Our coding produces the recorded request.
    let mut packed = Vec::new();
    ConnectRequest::pack(&userinfo, &mut packed).unwrap();
    assert_eq!(ConnectRequest { packed: &packed }, connect);

    let expected = Reply::Connected {
        quake_world_word: false,
        challenge: Some(challenge),
        protocol: None,
    };
    assert_eq!(Reply::parse(&server[1]), Ok(expected));
}

/// OpenJK quotes our number. iortcw quotes it after its `sv_onlyVisibleClients`, and ET: Legacy
/// sends that setting instead of it.
#[test]
fn every_form_of_challenge_got_a_slot() {
    for (name, verification) in [
        ("openjk-connect-accepted", Verification::Unverified),
        ("iortcw-connect-accepted", Verification::Verified),
        ("etlegacy-connect-accepted", Verification::Unverified),
    ] {
        let (client, server) = (from(name, "client"), from(name, "server"));
        let Command::Connect(connect) = Request::parse(&client[1]).unwrap().command else {
            panic!("{name}")
        };
        let userinfo = connect.userinfo().unwrap();
        let info = InfoString::new(&userinfo);
        let number = |key| {
            info.get(key)
                .and_then(|value| std::str::from_utf8(value).ok()?.parse().ok())
        };
        let Command::GetChallenge {
            client: Some(ours),
            game,
        } = Request::parse(&client[0]).unwrap().command
        else {
            panic!("{name}")
        };
        let (ours, game) = (
            std::str::from_utf8(ours).unwrap(),
            std::str::from_utf8(game.unwrap()).unwrap(),
        );
        let qport: u64 = number("qport").unwrap();
        let mut query = ConnectQuery::new(qport << 48 | ours.parse::<u64>().unwrap())
            .with_game(game)
            .with_protocol(number("protocol").unwrap().try_into().unwrap());
        for (key, value) in info
            .iter()
            .filter(|(key, _)| ![&b"protocol"[..], b"qport", b"challenge"].contains(key))
        {
            let text = |bytes| std::str::from_utf8(bytes).unwrap();
            query = query.with(text(key), text(value)).unwrap();
        }
        assert_eq!(request(&mut query), client[0], "{name}");
        assert_eq!(query.receive(&server[0]), Verdict::Next, "{name}");
        assert_eq!(request(&mut query), client[1], "{name}");
        let Verdict::Done(Ok(connected)) = query.receive(&server[1]) else {
            panic!("{name}")
        };
        assert_eq!(
            (connected.verification, info.get("challenge")),
            (verification, Some(&connected.challenge[..]))
        );
    }
}

#[test]
fn recorded_refusals_have_the_servers_words() {
    for (name, words) in [
        (
            "openarena-connect-wrong-protocol",
            "the server refused: Server uses protocol version 71 (yours is 99).",
        ),
        (
            "openarena-challenge-wrong-game",
            "the server refused: Game mismatch: This is a Quake3Arena server",
        ),
        (
            "openjk-connect-without-password",
            "the server refused: @@@INVALID_ESCAPE_TO_MAIN",
        ),
        (
            "etlegacy-connect-without-password",
            "the server refused: [err_dialog]Invalid password",
        ),
    ] {
        let server = from(name, "server");
        let mut query = ConnectQuery::new(7);
        let Verdict::Done(Err(refusal)) = query.receive(server.last().unwrap()) else {
            panic!("{name}")
        };
        assert_eq!(refusal.to_string(), words, "{name}");
    }
}

/// Known answers of the original coding, in a folder of third-party vectors.
#[test]
fn known_answers_of_the_coding() {
    let Some(folder) = std::env::var_os("QUERYPORT_CAPTURES") else {
        kit::not_checked("known answers of Huffman coding: QUERYPORT_CAPTURES is not set");
        return;
    };
    let path = Path::new(&folder).join("vectors/quake3-connect-huffman.txt");
    let text = std::fs::read_to_string(path).unwrap();
    let field = |block: &str, name: &str| {
        let line = block
            .lines()
            .find_map(|line| line.trim().strip_prefix(name))?;
        hex::decode(line.trim()).ok()
    };
    let mut checked = 0;
    for block in text.split("== ").filter(|block| !block.trim().is_empty()) {
        let title = block.lines().next().unwrap();
        let (plain, coded) = (field(block, "in :").unwrap(), field(block, "out:").unwrap());
        let start = if plain.starts_with(b"\xff\xff\xff\xffconnect ") {
            12
        } else {
            0
        };
        if plain.len() <= start || title.contains("noop") {
            assert_eq!(plain, coded, "{title}: nothing to compress");
            continue;
        }
        let mut out = plain[..start].to_vec();
        huffman::compress(&plain[start..], &mut out).unwrap();
        assert_eq!(out, coded, "{title}");
        assert_eq!(
            huffman::decompress(&coded[start..], 65_535).unwrap(),
            &plain[start..],
            "{title}"
        );
        checked += 1;
    }
    assert!(checked >= 13, "{checked} vectors");
    println!("{checked} known answers of the coding");
}

/// The server side has no player slots, and its refusal states that.
#[test]
fn a_server_of_this_crate_refuses_a_client() {
    let mut requester = requester("192.0.2.1:5000");
    let service = Service::from(Protocol::Quake3);
    let link = (Conditions::perfect(Duration::from_millis(20)), 1);
    let query = client();
    let played = play(query, Timing::default(), link, |now, from, datagram| {
        (requester.now, requester.address) = (now, from);
        let request = Request::parse(datagram).unwrap();
        let status = ServerStatus::default();
        queryport::quake3::respond(&request, &status, &service, &requester)
    });
    let refusal = played.result.unwrap().answer.unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "the server refused: This server takes no players, it answers queries."
    );
}

#[test]
fn a_userinfo_too_long_for_a_packet_is_refused() {
    // No byte twice in a row of 128, so the adaptive coding gains nothing.
    let userinfo = |length| {
        (0..length)
            .map(|at: u32| 128 + (at % 127) as u8)
            .collect::<Vec<u8>>()
    };
    let mut out = Vec::new();
    ConnectRequest::pack(&userinfo(1000), &mut out).unwrap();
    let packed = ConnectRequest { packed: &out }.userinfo().unwrap();
    assert!(packed == userinfo(1000));
    let before = out.clone();
    let error = ConnectRequest::pack(&userinfo(4000), &mut out).unwrap_err();
    assert_eq!(
        error,
        EncodeError::TooLong {
            field: "userinfo",
            limit: 2048
        }
    );
    assert!(out == before);
}
