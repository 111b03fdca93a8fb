//! Properties that hold for any input. Fuzz targets and `tests/all/corpus/` call these functions.

use std::time::Instant;

use bytes::Bytes;
use queryport::quake3::{Answer, Command, Reply, Request, Response};
use queryport::{Detail, Limits, Player, Requester, Secret, ServerStatus, ToStatus};
use queryport::{Format, Service, quake3::verify_challenge};

// The defaults of `Limits`.
const MAX_RULES: usize = 4096;
const MAX_PLAYERS: usize = 1024;

/// A parsed request that servers understand can be encoded again, and its reply is bounded.
pub fn request(data: &[u8]) {
    let Ok(request) = Request::parse(data) else {
        return;
    };
    let mut written = Vec::new();
    if request.encode(&mut written).is_ok() {
        assert_eq!(Request::parse(&written), Ok(request));
    }
    let mut status = ServerStatus::default();
    status.name = Some("Srv".into());
    status.map = Some("q3dm17".into());
    status.max_players = Some(8);
    status.players = [Player::new("Ann")].into();
    let requester = Requester::new(
        ([192, 0, 2, 1], 5000).into(),
        Instant::now(),
        Secret::new([7; 16]),
    );
    for format in [Format::Quake3, Format::Quake2, Format::QuakeWorld] {
        let service = Service::new(format);
        let replies = queryport::quake3::respond(&request, &status, &service, &requester);
        let Some(reply) = replies.into_iter().next() else {
            continue;
        };
        assert!(reply.len() <= 1396);
        assert!(
            Request::parse(&reply).is_err(),
            "a reply is never a request"
        );
        if let Command::GetChallenge { .. } = request.command {
            let reply = Reply::parse(&reply).expect("our replies are replies");
            if let Reply::Challenge { challenge, .. } = reply {
                assert!(verify_challenge(challenge, &requester));
            }
            continue;
        }
        if let Command::Connect(_) = request.command {
            Reply::parse(&reply).expect("our refusals are replies");
            continue;
        }
        // None of their replies is read by this crate's clients.
        let is_unread = matches!(
            request.command,
            Command::Info { .. } | Command::Ping | Command::ShortPing
        );
        if is_unread {
            continue;
        }
        // The request wants no infostring.
        if let Command::Status { .. } = request.command
            && reply.starts_with(b"\xff\xff\xff\xffn\n")
        {
            continue;
        }
        let response =
            Response::parse(&reply, &Limits::default()).expect("our replies are replies");
        assert_eq!(response.problems().next(), None);
        assert_eq!(
            response
                .info()
                .iter()
                .filter(|(key, _)| *key == b"challenge")
                .count()
                .max(1),
            1
        );
        let answer = Answer::from_datagrams([reply], &Limits::default()).expect("it parsed before");
        assert!(answer.completeness().is_complete());
    }
}

/// A parsed reply encodes to the same bytes, agrees with a naive reader, and converts to a status
/// of the same size.
pub fn response(data: &[u8]) {
    let limits = Limits::default();
    let Ok(response) = Response::parse(data, &limits) else {
        return;
    };
    let pairs: Vec<_> = response.info().iter().collect();
    let lines: Vec<_> = response.players().collect();
    assert!(pairs.len() <= MAX_RULES && lines.len() <= MAX_PLAYERS);
    super::differential::quake3_datagram(data);

    let mut written = Vec::new();
    response.encode(&mut written);
    assert!(
        response
            .problems()
            .all(|problem| problem.offset <= data.len())
    );
    let again = Response::parse(&written, &limits).expect("what was written parses");
    assert_eq!(again.info().iter().collect::<Vec<_>>(), pairs);
    assert_eq!(again.players().collect::<Vec<_>>(), lines);

    let answer =
        Answer::from_datagrams([Bytes::copy_from_slice(data)], &limits).expect("it parsed before");
    let status = answer.to_status();
    assert_eq!(status.completeness, answer.completeness());
    assert_eq!(status.rules.len(), pairs.len());
    assert_eq!(
        status.players.known().map(<[Player]>::len),
        (response.detail() == Detail::Full).then_some(lines.len())
    );
}
