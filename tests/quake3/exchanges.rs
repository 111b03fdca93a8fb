//! Exchanges recorded between this crate and real servers, and between this crate's master and real servers and qstat:
//! both ends are read, written again equal, and lead the conversations to the same results.
use std::path::Path;

use crate::common::twist::{cuts, flips};
use queryport::Limits;
use queryport::quake3::master::{ListPart, ListQuery, ListRequest, Scope};
use queryport::quake3::{
    ChallengeForm, Command, ConnectRequest, InfoString, Kind, Password, PrintForm, RconAnswer, RconError,
    RconQuery, Reason, Refusal, Reply, Request, Response, SecureMode, huffman,
};
use queryport::session::{Conversation, OnTimeout, Remaining, Verdict};
use serde_json::Value;

/// Datagrams with who sent them: `client`, `server`, `master`.
fn exchange(name: &str) -> Vec<(String, Vec<u8>)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors/quake3/exchanges").join(name);
    let text = std::fs::read_to_string(path.with_extension("json")).unwrap();
    let object: Value = serde_json::from_str(&text).unwrap();
    assert!(object["origin"].as_str().is_some_and(|origin| !origin.is_empty()), "{name}: origin");
    let datagram = |entry: &Value| {
        (entry["from"].as_str().unwrap().to_owned(), hex::decode(entry["hex"].as_str().unwrap()).unwrap())
    };
    object["exchange"].as_array().unwrap().iter().map(datagram).collect()
}

fn names() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors/quake3/exchanges");
    let names = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned());
    names.collect()
}

/// The datagrams of one side.
fn from(name: &str, who: &str) -> Vec<Vec<u8>> {
    exchange(name).into_iter().filter(|(sender, _)| sender == who).map(|(_, datagram)| datagram).collect()
}

fn written(request: &Request<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    request.encode(&mut out).unwrap();
    out
}

#[test]
fn every_datagram_is_read_and_written_again_equal() {
    let mut seen = 0;
    for name in names() {
        for (who, datagram) in exchange(&name) {
            if let Ok(request) = Request::parse(&datagram) {
                assert_eq!(written(&request), datagram, "{name}: {who}");
            } else if let Ok(reply) = Reply::parse(&datagram) {
                let mut out = Vec::new();
                reply.encode(&mut out);
                assert_eq!(out, datagram, "{name}: {who}");
            } else if let Ok(part) = ListPart::parse(&datagram) {
                assert!(part.is_whole() && part.has_end(), "{name}: {who}");
            } else {
                let response = Response::parse(&datagram, &Limits::default()).unwrap();
                assert_eq!(response.kind(), Kind::Info, "{name}: {who}");
            }
            seen += 1;
        }
    }
    assert!(seen >= 40, "{seen} datagrams");
}

/// No reading of a damaged datagram panics, and none makes more of it than there was.
#[test]
fn every_cut_and_every_flip_is_survived() {
    let limits = Limits::default();
    let read_all = |datagram: &[u8]| {
        let _ = Reply::parse(datagram);
        let _ = Response::parse(datagram, &limits);
        if let Ok(request) = Request::parse(datagram)
            && let Command::Connect(connect) = request.command
        {
            let _ = connect.userinfo();
        }
        ListPart::parse(datagram).map_or(0, |part| part.len())
    };
    for name in names() {
        for (_, datagram) in exchange(&name) {
            let servers = read_all(&datagram);
            for cut in cuts(&datagram) {
                assert!(read_all(cut) <= servers, "{name}: cut at {}", cut.len());
            }
            for flipped in flips(&datagram[..datagram.len().min(300)]) {
                read_all(&flipped);
            }
        }
    }
}

#[test]
fn connect_packets_that_real_servers_took() {
    let client = from("openarena-connect-accepted", "client");
    let Command::GetChallenge { client: Some(ours), game } = Request::parse(&client[0]).unwrap().command
    else {
        panic!()
    };
    assert_eq!(game, Some(&b"Quake3Arena"[..]));
    let server = from("openarena-connect-accepted", "server");
    let Reply::Challenge(challenge) = Reply::parse(&server[0]).unwrap() else { panic!() };
    assert_eq!((challenge.client, challenge.protocol_number()), (Some(ours), Some(71)));

    let Command::Connect(connect) = Request::parse(&client[1]).unwrap().command else { panic!() };
    let userinfo = connect.userinfo().unwrap();
    let info = InfoString::new(&userinfo);
    assert_eq!(info.get("challenge"), Some(challenge.challenge));
    assert_eq!((info.get("protocol"), info.get("name")), (Some(&b"71"[..]), Some(&b"Ann"[..])));
    // What we wrote then is what we write now.
    let mut packed = Vec::new();
    ConnectRequest::pack(&userinfo, &mut packed).unwrap();
    assert_eq!(ConnectRequest::Compressed(&packed), connect);

    let Reply::Connected(reply) = Reply::parse(&server[1]).unwrap() else { panic!() };
    assert_eq!((reply.challenge, reply.darkplaces), (Some(challenge.challenge), false));
}

#[test]
fn a_darkplaces_server_takes_a_plain_connect() {
    let client = from("nexuiz-connect-accepted", "client");
    let Command::Connect(ConnectRequest::Plain(userinfo)) = Request::parse(&client[1]).unwrap().command
    else {
        panic!()
    };
    let server = from("nexuiz-connect-accepted", "server");
    let Reply::Challenge(challenge) = Reply::parse(&server[0]).unwrap() else { panic!() };
    assert_eq!((challenge.form, challenge.challenge.len()), (ChallengeForm::DarkPlaces, 11));
    assert_eq!(InfoString::new(userinfo).get("challenge"), Some(challenge.challenge));
    assert!(matches!(Reply::parse(&server[1]), Ok(Reply::Connected(reply)) if reply.darkplaces));
}

#[test]
fn refusals_have_a_reason() {
    for (name, reason) in [
        ("openarena-connect-wrong-protocol", Reason::WrongProtocol),
        ("openarena-challenge-wrong-game", Reason::WrongGame),
    ] {
        let server = from(name, "server");
        let Reply::Print { text, form: PrintForm::Quake3 } = Reply::parse(server.last().unwrap()).unwrap()
        else {
            panic!("{name}")
        };
        assert_eq!(Refusal::new(text.to_vec()).reason(), reason, "{name}");
    }
}

/// What our conversation makes of a recorded answer to rcon.
fn rcon(name: &str) -> Result<RconAnswer, RconError> {
    let client = from(name, "client");
    let Command::Rcon(request) = Request::parse(&client[0]).unwrap().command else { panic!("{name}") };
    let command = std::str::from_utf8(request.command).unwrap();
    let mut query =
        RconQuery::new(Password::new(request.password.to_vec()), command, &Limits::default()).unwrap();
    let mut out = Vec::new();
    query.request(&mut out);
    assert_eq!(out, client[0], "{name}: the request");
    for datagram in from(name, "server") {
        if let Verdict::Done(result) = query.receive(&datagram) {
            return result;
        }
    }
    let OnTimeout::Done(result) = query.silence(Remaining::Step) else { panic!("{name}") };
    result
}

#[test]
fn rcon_answers_of_real_servers() {
    let status = rcon("openarena-rcon-status").unwrap();
    assert_eq!(status.lines().next().unwrap().plain(), "map: ctf_compromise");
    assert!(status.lines().any(|line| line.plain().contains("Sarge")) && status.completeness().is_complete());

    let cvars = rcon("openarena-rcon-cvarlist").unwrap();
    assert_eq!(cvars.datagrams(), 4);
    // Pieces split lines anywhere; joined, every line is whole again, and the server counts them.
    let lines: Vec<String> = cvars.lines().map(|line| line.plain().into_owned()).collect();
    let total = lines.iter().find_map(|line| line.strip_suffix(" total cvars")).unwrap();
    assert!(total.parse::<u32>().is_ok(), "{total}");
    assert_eq!(lines.iter().filter(|line| line.contains(" g_")).count(), 97);

    assert_eq!(rcon("openarena-rcon-unknown-command").unwrap().raw(), "unknown command: nosuchcommand\n");
    assert_eq!(rcon("openarena-rcon-bad-password"), Err(RconError::BadPassword));
    assert_eq!(rcon("ioquake3-rcon-no-password"), Err(RconError::NoPassword));
    let nexuiz = rcon("nexuiz-rcon-unknown-command").unwrap();
    assert_eq!(
        (nexuiz.form(), &nexuiz.raw()[..]),
        (PrintForm::QuakeWorld, &b"Unknown command \"nosuchcommand\"\n"[..])
    );
}

#[test]
fn signed_commands_that_a_real_server_took() {
    for (name, mode) in
        [("nexuiz-srcon-time", SecureMode::Time), ("nexuiz-srcon-challenge", SecureMode::Challenge)]
    {
        let client = from(name, "client");
        let Command::SecureRcon(signed) = Request::parse(client.last().unwrap()).unwrap().command else {
            panic!("{name}")
        };
        assert_eq!(signed.mode, mode);
        if mode == SecureMode::Challenge {
            let server = from(name, "server");
            let Reply::Challenge(challenge) = Reply::parse(&server[0]).unwrap() else { panic!() };
            assert_eq!(signed.nonce(), challenge.challenge);
        }
        #[cfg(feature = "secure-rcon")]
        assert!(
            signed.verify(&Password::new("secret")) && !signed.verify(&Password::new("Secret")),
            "{name}"
        );
    }
}

#[test]
fn heartbeats_and_descriptions_of_real_servers() {
    for (name, tag, game) in [
        ("openarena-heartbeat", "QuakeArena-1", "Quake3Arena"),
        ("nexuiz-heartbeat", "DarkPlaces", "Nexuiz"),
        ("nexuiz-heartbeat-ipv6", "DarkPlaces", "Nexuiz"),
    ] {
        let (server, master) = (from(name, "server"), from(name, "master"));
        assert_eq!(Request::parse(&server[0]).unwrap().command, Command::Heartbeat { tag: tag.as_bytes() });
        let Command::GetInfo { challenge: Some(challenge) } = Request::parse(&master[0]).unwrap().command
        else {
            panic!()
        };
        assert!(master[0].len() <= server[0].len(), "{name}: no amplification");
        let response = Response::parse(&server[1], &Limits::default()).unwrap();
        assert_eq!(response.info().get("challenge"), Some(challenge));
        assert_eq!(response.info().get("gamename"), Some(game.as_bytes()));
    }
}

#[test]
fn lists_that_qstat_read() {
    for (name, request, servers) in [
        ("master-list-extended", ListRequest::extended(b"Nexuiz", 3), 2),
        ("master-list-qstat-openarena", ListRequest::new(71), 1),
        ("master-list-qstat-nexuiz", ListRequest { game: Some(b"Nexuiz"), ..ListRequest::new(3) }, 1),
    ] {
        let request = ListRequest { empty: true, full: true, ..request };
        assert_eq!(written(&Request::new(Command::GetServers(request))), from(name, "client")[0], "{name}");
        let mut query =
            ListQuery::new(&request, &Limits::default()).unwrap().with_scope(Scope::Any).with_passes(1);
        for datagram in from(name, "master") {
            assert!(matches!(query.receive(&datagram), Verdict::Partial(_)));
        }
        let OnTimeout::Done(list) = query.silence(Remaining::Step) else { panic!() };
        assert_eq!((list.servers().len(), list.completeness().is_complete()), (servers, true), "{name}");
    }
}

/// Known answers of the original coding, in a folder of third-party vectors.
#[test]
fn known_answers_of_the_coding() {
    let Some(folder) = std::env::var_os("QUERYPORT_CAPTURES") else {
        println!("QUERYPORT_CAPTURES is not set: only the known answers beside the code were checked");
        return;
    };
    let path = Path::new(&folder).join("vectors/quake3-connect-huffman.txt");
    let text = std::fs::read_to_string(path).unwrap();
    let field = |block: &str, name: &str| {
        let line = block.lines().find_map(|line| line.trim().strip_prefix(name))?;
        hex::decode(line.trim()).ok()
    };
    let mut checked = 0;
    for block in text.split("== ").filter(|block| !block.trim().is_empty()) {
        let title = block.lines().next().unwrap();
        let (plain, coded) = (field(block, "in :").unwrap(), field(block, "out:").unwrap());
        let start = if plain.starts_with(b"\xff\xff\xff\xffconnect ") { 12 } else { 0 };
        if plain.len() <= start || title.contains("noop") {
            assert_eq!(plain, coded, "{title}: nothing to compress");
            continue;
        }
        let mut out = plain[..start].to_vec();
        huffman::compress(&plain[start..], &mut out).unwrap();
        assert_eq!(out, coded, "{title}");
        assert_eq!(huffman::decompress(&coded[start..], 65_535).unwrap(), &plain[start..], "{title}");
        checked += 1;
    }
    assert!(checked >= 13, "{checked} vectors");
    println!("{checked} known answers of the coding");
}
