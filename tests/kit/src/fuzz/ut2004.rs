//! Properties that hold for any input. Fuzz targets and `tests/all/corpus/` call these functions.

use std::time::{Duration, Instant};

use bytes::Bytes;
use queryport::ut2004::{Answer, Body, Info, Request, Response, StatusQuery};
use queryport::{
    Limits, Part, Player, Protocol, QueryOptions, Requester, Secret, ServerStatus, Service, Timing,
    ToStatus,
};

use super::differential::{owned, ut2004_player};
use crate::naive;

// The defaults of `Limits`.
const MAX_RULES: usize = 4096;
const MAX_PLAYERS: usize = 1024;

/// A parsed request encodes to the same bytes, and its replies are not requests.
pub fn request(data: &[u8]) {
    let Ok(request) = Request::parse(data) else {
        return;
    };
    let mut written = Vec::new();
    request.encode(&mut written);
    assert_eq!(written, data);
    let mut status = ServerStatus::default();
    status.name = Some("Srv".into());
    status.rules.push("ServerMode", "dedicated");
    status.players = (0..100)
        .map(|number| Player::new(format!("player number {number}")))
        .collect();
    let requester = Requester::new(
        ([192, 0, 2, 1], 5000).into(),
        Instant::now(),
        Secret::new([7; 16]),
    );
    for reply in queryport::ut2004::respond(
        &request,
        &status,
        &Service::from(Protocol::Ut2004),
        &requester,
    ) {
        assert!(reply.len() <= 500);
        let response =
            Response::parse(&reply, &Limits::default()).expect("our replies are replies");
        assert_eq!(response.problems().next(), None);
        assert!(
            Request::parse(&reply).is_err(),
            "a reply is never a request"
        );
    }
}

/// A parsed reply agrees with a naive reader, encodes to the same bytes, and converts to a status
/// of the same size.
pub fn response(data: &[u8]) {
    let limits = Limits::default();
    let Ok(response) = Response::parse(data, &limits) else {
        return;
    };
    let body = &data[5..];
    match response.body {
        Body::Rules(rules) => {
            let count = rules.iter().count();
            assert!(count <= MAX_RULES && count * 2 <= data.len());
            let raw = rules.iter().map(|(key, value)| (key.raw(), value.raw()));
            assert_eq!(owned(raw), naive::ut2004::rules(body).0);
        }
        Body::Players(players) => {
            let count = players.iter().count();
            assert!(count <= MAX_PLAYERS && count * 17 <= data.len());
            let read: Vec<_> = players.iter().map(ut2004_player).collect();
            assert_eq!(read, naive::ut2004::players(body, data[0]).0);
        }
        Body::Info(info) => {
            assert!((0..=65_535).contains(&info.port));
            assert!(
                info.trailing.is_empty() || info.ping.is_none(),
                "known layouts leave nothing"
            );
            let is_odd = info.repaired || !info.trailing.is_empty();
            assert!(
                !is_odd || response.problems().next().is_some(),
                "what was passed over is listed"
            );
        }
        Body::SmallPing(payload) => assert_eq!(payload, body),
        _ => {}
    }
    let offsets: Vec<usize> = response.problems().map(|problem| problem.offset).collect();
    assert!(offsets.is_sorted() && offsets.iter().all(|offset| *offset <= data.len()));
    let mut written = Vec::new();
    assert_eq!(response.encode(&mut written), Ok(()));
    // A repaired record is encoded correctly, and an overlong length in its shortest form. Both
    // parse to the same record.
    let again = Response::parse(&written, &limits).expect("what was written parses");
    match (response.body, again.body) {
        // With a shorter length, or with a NUL added, another layout can fit.
        (Body::Info(before), Body::Info(after)) => assert_eq!(common(before), common(after)),
        _ => {
            let mut twice = Vec::new();
            assert_eq!(again.encode(&mut twice), Ok(()));
            assert_eq!(twice, written);
        }
    }

    let answer =
        Answer::from_datagrams([Bytes::copy_from_slice(data)], &limits).expect("it parsed before");
    assert!(
        !answer.completeness().is_complete(),
        "one datagram is not an answer"
    );
    let status = answer.to_status();
    assert!(status.rules.len() >= answer.rules().count());
    let people = answer.players().filter(|row| row.pseudo_team().is_none());
    assert_eq!(status.players.len(), people.count());
}

/// The fields that all games send.
fn common(info: Info<'_>) -> Info<'_> {
    let mut common = Info::default();
    (common.server_id, common.ip, common.port, common.query_port) =
        (info.server_id, info.ip, info.port, info.query_port);
    (common.server_name, common.map_name, common.game_type) =
        (info.server_name, info.map_name, info.game_type);
    (common.current_players, common.max_players) = (info.current_players, info.max_players);
    common
}

/// Runs a script: each step is a time (one byte, in units of 8 ms), a length (two bytes) and a
/// datagram. The query ends by its deadline, sends a bounded number of requests, and its answer is
/// within the limits.
pub fn conversation(mut data: &[u8]) {
    let limits = Limits::default().with_max_players(100).with_max_rules(200);
    let query = StatusQuery::new(0, &QueryOptions::default().with_limits(limits));
    let steps = std::iter::from_fn(|| {
        let [step, low, high, rest @ ..] = data else {
            return None;
        };
        let length = usize::from(u16::from_le_bytes([*low, *high])).min(rest.len());
        let (datagram, rest) = rest.split_at(length);
        data = rest;
        let wait = Duration::from_millis(8) * u32::from(*step);
        Some((wait, false, datagram.to_vec()))
    });
    let played = super::script::play(query, steps, |datagram, _| Some(datagram), |_| {});
    let mut requests = played.exchanged.requests();
    assert!(requests.len() <= 20, "{} requests", requests.len());
    assert!(requests.all(|request| Request::parse(request).is_ok()));
    assert!(played.elapsed <= Timing::default().timeout());
    if let Ok(outcome) = played.result {
        let answer = outcome.answer;
        assert!(
            answer.info().is_some() || answer.completeness().lacks(Part::Info),
            "no info, and it says so"
        );
        assert!(answer.players().count() <= 100 && answer.rules().count() <= 200);
        assert_eq!(answer.to_status().completeness, answer.completeness());
    }
}
