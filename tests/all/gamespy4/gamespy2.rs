//! GameSpy v2: one request, one datagram, no challenge.

use std::time::Duration;

use bytes::Bytes;
use queryport::gamespy4::{Answer, Command, Form, Request, RequestId, Selection, StatusQuery};
use queryport::model::Charset;
use queryport::session::{Conversation, Machine, Verdict};
use queryport::{
    Dialect, Format, Part, Player, Protocol, QueryOptions, ServerStatus, Service, Team,
};
use queryport::{Timing, ToStatus, Verification};

use crate::common::driven::Driven;
use crate::common::link::Conditions;
use crate::common::pair::{CLIENT, Played, SERVER, play};
use crate::common::requester;
use crate::common::twist::cuts;
use crate::gamespy4::decode;
use crate::gamespy4::serving::ask_with;

/// The reply of a server of this service to GameSpy v2's request.
pub(crate) fn ask(status: &ServerStatus, service: &Service) -> Vec<Bytes> {
    let command = Command::Data {
        challenge: None,
        selection: Selection::GAMESPY_2,
    };
    let request = Request::new(RequestId([1, 2, 3, 4]), command);
    queryport::gamespy4::respond(&request, status, service, &requester(CLIENT))
        .into_iter()
        .collect()
}

/// Built by hand after the keys and fields of Halo's replies in github.com/Austinb/GameQ,
/// tests/Protocols/Providers/Halo; invented values; layout of the QR2 SDK.
const HALO: &[u8] = b"\0\x01\x02\x03\x04\
    hostname\0Vector\0gamever\x0001.00.10.0621\0hostport\x002302\0maxplayers\x0016\0password\x000\0\
    mapname\0bloodgulch\0dedicated\x001\0gamemode\0openplaying\0game_classic\x000\0numplayers\x002\0\
    gametype\0Oddball\0teamplay\x001\0gamevariant\0Team Oddball\0fraglimit\x005\0\0\
    \0\x02player_\0score_\0ping_\0team_\0\0Ann\0 :31\x0045\x000\0Bob\x007\x0050\x001\0\
    \0\x02team_t\0score_t\0\0Red\x005\0Blue\x003\0";

#[test]
fn teams_count_from_0_and_a_text_is_no_score() {
    let answer = decode([HALO]).unwrap();
    assert_eq!(answer.form(), Form::Legacy);
    assert!(answer.completeness().is_complete());
    let status = answer.to_status();
    let players = status.players;
    assert_eq!((players[0].team, players[0].score), (Some(0), None));
    assert_eq!(players[0].extra.get("score_").unwrap().raw(), b" :31");
    assert_eq!((players[1].team, players[1].score), (Some(1), Some(7)));
    let teams: Vec<_> = status.teams.iter().map(|team| team.id).collect();
    assert_eq!(teams, [Some(0), Some(1)]);
    assert_eq!(
        (status.dedicated, status.score_limit, status.mod_name),
        (Some(true), Some(5), None)
    );
}

/// github.com/Austinb/GameQ asks for the rules and for the players, and keeps two replies.
#[test]
fn rules_and_players_of_two_replies_are_joined() {
    let is_table = |bytes: &[u8]| bytes.starts_with(b"\0\x02player_");
    let tables_at = (0..HALO.len()).find(|at| is_table(&HALO[*at..])).unwrap();
    let rules = &HALO[..tables_at];
    let tables = [&b"\0\x01\x02\x03\x05"[..], &HALO[tables_at..]].concat();
    let joined = decode([rules, &tables]).unwrap();
    assert_eq!(joined.raw(), HALO);
    assert!(joined.completeness().is_complete());
    assert!(joined.datagrams().eq([rules, &tables]));
    assert_eq!(decode([HALO, &tables]).unwrap().raw(), HALO);
    assert_eq!((joined.players().len(), joined.teams().len()), (2, 2));
    let cut = &tables[..tables.len() - 1];
    for incomplete in [vec![rules], vec![rules, cut], vec![rules, rules]] {
        let answer = decode(incomplete).unwrap();
        assert!(!answer.completeness().is_complete());
        assert_eq!(answer.get("GameType"), Some(&b"Oddball"[..]));
        assert_eq!(answer.verification(), Verification::Unavailable);
    }
    let joined = decode([rules, cut, &tables]).unwrap();
    assert!(joined.completeness().is_complete());
    for answer in [joined, decode([HALO]).unwrap()] {
        assert_eq!(answer.verification(), Verification::Unavailable);
    }
}

/// The second reply would end a reply that was cut among its pairs.
#[test]
fn tables_are_joined_with_whole_rules_only() {
    let tables = b"\0\x01\x02\x03\x05\0\0\x01player_\0\0Ann\0\0\0team_t\0\0";
    for other in [
        &b"\0\x01\x02\x03\x04hostname\0Srv\0"[..],
        b"\0\x01\x02\x03\x04Title\0SMP\0world\x002\x0020\0\xdd\x63127.0.0.1\0",
    ] {
        let answer = decode([other, tables]).unwrap();
        assert_eq!(answer.raw(), other);
        let joined = [other, &tables[5..]].concat();
        assert!(decode([joined]).unwrap().completeness().is_complete());
    }
}

#[test]
fn a_column_may_have_any_name() {
    let reply = b"\0\x01\x02\x03\x04hostname\0Srv\0\0\0\x01nick\0\0Ann\0\0\0team_t\0\0";
    let answer = decode([&reply[..]]).unwrap();
    assert!(answer.completeness().is_complete());
    assert_eq!(answer.players().len(), 1);
}

#[test]
fn a_table_with_more_rows_than_it_counts_is_incomplete() {
    let reply = b"\0\x01\x02\x03\x04hostname\0Srv\0\0\
        \0\x01player_\0score_\0\0Ann\x003\0Bob\x005\0\0\0\0";
    let answer = decode([&reply[..]]).unwrap();
    let completeness = answer.completeness();
    assert!(completeness.lacks(Part::Teams) && !completeness.lacks(Part::Rules));
    let status = answer.to_status();
    assert_eq!((&*status.name.unwrap(), status.players.len()), ("Srv", 1));
}

/// qstat, gs2.c: its rows begin with team 1.
#[test]
fn the_teams_of_battlefield_vietnam_count_from_1() {
    let reply = b"\0\x01\x02\x03\x04hostname\0Srv\0game_id\0bfvietnam\0\0\
        \0\x01player_\0team_\0\0Ann\x002\0\0\x02team_t\0score_t\0\0NVA\x001\0USA\x002\0";
    let status = decode([&reply[..]]).unwrap().to_status();
    let teams: Vec<_> = status.teams.iter().map(|team| team.id).collect();
    assert_eq!(teams, [Some(1), Some(2)]);
    assert_eq!(status.players[0].team, Some(2));
}

#[test]
fn cyrillic_names_are_read_in_the_character_set_of_the_options() {
    let options = QueryOptions::default()
        .with_dialect(Dialect::GameSpy2)
        .with_charset(Charset::Utf8OrWindows1251);
    let whole = b"hostname\0\xd1\xe5\xf0\xe2\xe5\xf0\0\0\0\x01player_\0\0\xdf\0\0\0team_t\0\0";
    for reply in [&whole[..], &whole[..whole.len() - 1]] {
        let mut query = StatusQuery::new(7, &options);
        let mut request = Vec::new();
        query.request(&mut request);
        let id = request.get(3..7).unwrap();
        let Verdict::Done(answer) = query.receive(&[b"\0", id, reply].concat()) else {
            panic!("rejected")
        };
        let status = answer.to_status();
        assert_eq!(status.name.as_ref().unwrap(), "Сервер");
        assert_eq!(status.players[0].name, "Я");
        assert_eq!(status.rules.get("hostname").unwrap(), "Сервер");
    }
}

#[test]
fn every_cut_is_incomplete() {
    let mut read = 0;
    for answer in cuts(HALO).filter_map(|cut| decode([cut]).ok()) {
        assert!(!answer.completeness().is_complete());
        assert_eq!(answer.to_status().completeness, answer.completeness());
        read += 1;
    }
    assert!(read > HALO.len() / 2, "{read} of {}", HALO.len());
}

/// A reply with a rule of this length.
fn long(length: usize, counts: &str) -> Answer {
    let tables: &[u8] = match counts {
        "agree" => b"\0\x01player_\0\0Ann\0\0\0team_t\0score_t\0\0",
        "a cut row" => b"\0player_\0score_\0\0Ann\x005\0Bob\0",
        "players alone" => b"\0\x01player_\0\0Ann\0\0team_t\0\0Red\0",
        "teams alone" => b"\0player_\0\0Ann\0\0\0\x01team_t\0\0Red\0",
        "no name" => b"\0player_\0score_\0\0Ann\x005\0\x000\0Bob\x007\0\0\0team_t\0\0",
        "an empty row" => b"\0player_\0score_\0\0Ann\x005\0\0\0Bob\x007\0\0",
        "two empty rows" => b"\0player_\0\0Ann\0\0\0\0Bob\0\0\0team_t\0\0",
        "no counts" => b"\0player_\0score_\0\0Ann\x005\0\0team_t\0score_t\0\0",
        _ => b"\0\x02player_\0\0Ann\0",
    };
    let head = b"\0\x01\x02\x03\x04hostname\0Srv\0long\0";
    let value = vec![b'v'; length - head.len() - tables.len() - 2];
    decode([[head, &value[..], b"\0\0", tables].concat()]).unwrap()
}

/// GameSpy's own code cuts at 1,400 bytes without a mark.
#[test]
fn a_full_datagram_is_complete_only_if_its_counts_agree() {
    for (length, counts, is_complete) in [
        (1399, "agree", true),
        (1400, "agree", true),
        (1399, "no counts", true),
        (1400, "no counts", false),
        (1400, "players alone", false),
        (1400, "teams alone", false),
        (1399, "no name", false),
        (1399, "an empty row", false),
        (1399, "two empty rows", false),
        (1400, "no name", false),
        (1399, "a row is missing", false),
        (1400, "a row is missing", false),
    ] {
        let answer = long(length, counts);
        assert_eq!(answer.raw().len(), length);
        assert_eq!(
            answer.completeness().is_complete(),
            is_complete,
            "{length} {counts}"
        );
    }
}

/// node-gamedig, gamespy2.js: America's Army leaves the count out.
#[test]
fn tables_without_a_count_are_read() {
    let answer = long(200, "no counts");
    assert_eq!((answer.players().len(), answer.teams().len()), (1, 0));
    let row = answer.players().rows().next().unwrap();
    assert_eq!(row.get("score_"), Some(&b"5"[..]));
    assert!(!answer.completeness().lacks(Part::Players));
    assert!(long(200, "a cut row").completeness().lacks(Part::Players));
}

/// A server of GameSpy v2: it supports only this request of ten bytes.
fn reply(datagram: &[u8]) -> Vec<Bytes> {
    let is_known = datagram.starts_with(b"\xfe\xfd\0") && datagram.ends_with(b"\xff\xff\xff");
    if datagram.len() != 10 || !is_known {
        return Vec::new();
    }
    let mut reply = HALO.to_vec();
    reply[1..5].copy_from_slice(&datagram[3..7]);
    vec![reply.into()]
}

/// Plays a query against that server, which loses the first requests.
fn play_with(options: QueryOptions, timing: Timing, lost: usize) -> (Vec<Vec<u8>>, Played<Answer>) {
    let mut requests = Vec::new();
    let quiet = (Conditions::perfect(Duration::from_millis(20)), 0);
    let query = StatusQuery::new(7, &options);
    let played = play(query, timing, quiet, |_, _, datagram| {
        requests.push(datagram.to_vec());
        if requests.len() <= lost {
            Vec::new()
        } else {
            reply(datagram)
        }
    });
    (requests, played)
}

#[test]
fn the_dialect_needs_one_request_and_a_new_id_for_each_attempt() {
    let options = QueryOptions::default().with_dialect(Dialect::GameSpy2);
    let (requests, played) = play_with(options, Timing::default(), 0);
    assert_eq!(
        (requests.len(), played.elapsed),
        (1, Duration::from_millis(40))
    );
    assert!(played.result.unwrap().answer.completeness().is_complete());
    let (requests, played) = play_with(options, Timing::default(), 2);
    assert!(played.result.is_ok());
    assert_eq!(requests.len(), 3);
    assert!(requests.iter().all(|request| request.len() == 10));
    assert!(requests[0] != requests[1] && requests[1] != requests[2]);
}

/// Nobody asked for it, so it does not extend the wait.
#[test]
fn a_challenge_is_rejected_in_the_dialect() {
    let options = QueryOptions::default().with_dialect(Dialect::GameSpy2);
    let mut query = Driven::new(StatusQuery::new(7, &options), Timing::default());
    let request = query.send();
    let timer = query.session.poll_timeout();
    query.now += Duration::from_millis(500);
    let challenge = [b"\x09", &request[3..7], b"77\0"].concat();
    query.receive(SERVER, &challenge);
    assert_eq!(query.session.stats().rejected, 1);
    assert_eq!(query.session.poll_timeout(), timer);
}

#[test]
fn without_a_dialect_such_a_server_is_found_soon() {
    let two_seconds = Timing::default().with_timeout(Duration::from_secs(2));
    for timing in [Timing::default(), two_seconds, two_seconds.with_retries(0)] {
        let (requests, played) = play_with(QueryOptions::default(), timing, 0);
        assert_eq!(
            requests.len(),
            3,
            "a challenge request, then another with the data's"
        );
        assert!(played.result.unwrap().answer.completeness().is_complete());
        assert!(
            played.elapsed < Duration::from_secs(2),
            "{:?}",
            played.elapsed
        );
    }
}

/// The datagram as a reply to the request with this id.
fn with_id(datagram: Bytes, id: RequestId) -> Bytes {
    let mut datagram = datagram.to_vec();
    datagram[1..5].copy_from_slice(&id.0);
    datagram.into()
}

/// A server that supports several datagrams is asked for them if one is not enough.
#[test]
fn a_cut_reply_in_one_datagram_is_followed_by_several() {
    let mut served = ServerStatus::default();
    served.players = (0..200)
        .map(|number| Player::new(format!("player {number}")))
        .collect();
    let service = Service::new(Format::GameSpy4);
    let quiet = (Conditions::perfect(Duration::from_millis(20)), 0);
    let query = StatusQuery::new(7, &QueryOptions::default());
    let played = play(query, Timing::default(), quiet, |_, _, datagram| {
        let Ok(request) = Request::parse_without_challenge(datagram) else {
            return Vec::new();
        };
        // The challenge request is lost.
        if request.command == Command::Challenge {
            return Vec::new();
        }
        // This server demands no challenge.
        let Command::Data { selection, .. } = request.command else {
            return Vec::new();
        };
        ask_with(selection, &served, &service)
            .into_iter()
            .map(|datagram| with_id(datagram, request.id))
            .collect()
    });
    let answer = played.result.unwrap().answer;
    assert!(answer.completeness().is_complete());
    assert_eq!(answer.players().len(), 200);
    assert!(answer.datagrams().count() > 1);
}

/// `served.rs` compares the other fields.
#[test]
fn times_and_teams_of_gamespy_v2_come_back() {
    let mut served = ServerStatus::default();
    let mut timed = Player::new("Bob");
    timed.extra.push("score_", " :31");
    served.players = [timed].into();
    let numbered_team = |number: i32| {
        let mut team = Team::default();
        team.id = Some(number);
        team.score = Some(5 + i64::from(number));
        team
    };
    served.teams = [0, 1].map(numbered_team).to_vec();
    let service = Service::new(Format::GameSpy2);
    let read = decode(ask(&served, &service)).unwrap().to_status();
    let score = read.players[0].extra.get("score_").unwrap();
    assert_eq!(score.raw(), b" :31", "a time instead of a score");
    let teams = read.teams.iter().map(|team| (team.id, team.score));
    assert!(teams.eq([(Some(0), Some(5)), (Some(1), Some(6))]));
}

#[test]
fn a_server_of_gamespy_v2_knows_no_challenge() {
    let served = ServerStatus::default();
    let service = Service::new(Format::GameSpy2);
    assert_eq!(service.format().protocol(), Protocol::GameSpy4);
    let data = Command::Data {
        challenge: Some(1),
        selection: Selection::GAMESPY_2,
    };
    for command in [Command::Challenge, data] {
        let request = Request::new(RequestId([1; 4]), command);
        let replies = queryport::gamespy4::respond(&request, &served, &service, &requester(CLIENT));
        assert!(replies.is_empty(), "{command:?}");
    }
}
