//! Recorded servers, third-party captures and recorded exchanges.
use bytes::Bytes;
use queryport::lists::ListPart;
use queryport::quake3::{Answer, Reply, Request, Response};
use queryport::{Detail, Limits, ToStatus};

use crate::common::captures::{Case, cases};

use crate::quake3::exchange::{exchange, names};

fn decode(case: &Case) -> Answer {
    Answer::from_datagrams(case.packets.clone(), &Limits::default())
        .unwrap_or_else(|error| panic!("{}: {error}", case.name))
}

/// rust gamedig reports 0 players for every Quake 3 server.
#[test]
fn every_player_of_a_real_server_is_there() {
    let case = cases("quake3")
        .into_iter()
        .find(|case| case.name == "openarena-bots-status")
        .unwrap();
    let status = decode(&case).to_status();
    assert_eq!(status.players.len(), 8);
    assert_eq!(status.player_count, Some(8));
    assert!(
        status
            .players
            .iter()
            .all(|player| player.score.is_some() && player.ping == Some(0))
    );
    assert_eq!(status.max_players, Some(16));
    assert_eq!(status.map.unwrap(), "ctf_compromise");
    let answer = decode(&case);
    assert_eq!(answer.get("MapName"), Some(&b"ctf_compromise"[..]));
    assert_eq!(
        (answer.get("mapnam"), answer.get("sv_privateClients")),
        (None, Some(&b"0"[..]))
    );
}

/// rust gamedig fails the query at any byte of 0x80 or more; qstat drops or mangles it.
#[test]
fn high_bytes_are_kept_and_shown() {
    let packet =
        b"\xff\xff\xff\xffstatusResponse\n\\sv_hostname\\Gr\xfcn \xdf\n1 2 \"\xa9 J\xf6rg\"\n";
    let answer = Answer::from_datagrams([Bytes::from_static(packet)], &Limits::default()).unwrap();
    let status = answer.to_status();
    assert_eq!(status.name.as_ref().unwrap().raw(), b"Gr\xfcn \xdf");
    assert_eq!(status.name.unwrap(), "Grün ß");
    assert_eq!(status.players[0].name, "© Jörg");
}

/// qstat, node gamedig and GameQ cut or merge the lines of names with a quote.
#[test]
fn names_with_quotes_and_spaces_stay_complete() {
    let packet = b"\xff\xff\xff\xffstatusResponse\n\\a\\b\n1 2 \"a\"b c\"\n3 4 \" x \"\n5 6 \"\"\n";
    let response = Response::parse(packet, &Limits::default()).unwrap();
    let names: Vec<&[u8]> = response.players().map(|line| line.name()).collect();
    assert_eq!(names, [&b"a\"b c"[..], b" x ", b""]);
}

#[test]
fn datagrams_of_recorded_exchanges_are_written_again_equal() {
    let mut seen = 0;
    for name in names() {
        for (who, datagram) in exchange(&name) {
            let mut out = Vec::new();
            if let Ok(request) = Request::parse(&datagram) {
                request.encode(&mut out).unwrap();
                assert_eq!(out, datagram, "{name}: {who}");
            } else if let Ok(reply) = Reply::parse(&datagram) {
                reply.encode(&mut out).unwrap();
                // The setting that iortcw puts before the client's number is not kept.
                let is_flagged =
                    name.starts_with("iortcw") && matches!(reply, Reply::Challenge { .. });
                // Nor is Medal of Honor's direction byte kept.
                let is_other = is_flagged || name.starts_with("openmohaa");
                assert_eq!(out == datagram, !is_other, "{name}: {who}");
                assert_eq!(Reply::parse(&out), Ok(reply), "{name}: {who}");
            } else if let Ok(part) = ListPart::parse(&datagram) {
                assert!(part.intact && part.has_end, "{name}: {who}");
            } else {
                let response = Response::parse(&datagram, &Limits::default()).unwrap();
                assert_eq!(response.detail(), Detail::Short, "{name}: {who}");
            }
            seen += 1;
        }
    }
    assert!(seen >= 40, "{seen} datagrams");
}
