//! Properties that hold for any input. Fuzz targets and `tests/all/corpus/` call these functions.

use std::time::{Duration, Instant};

use bytes::Bytes;
use queryport::gamespy4::{Answer, Command, Form, Request, Response, StatusQuery};
use queryport::{Dialect, Format, QueryOptions, Service};
use queryport::{Limits, Player, Requester, Secret, ServerStatus, Timing, ToStatus};

use super::script::Exchanged;

// The defaults of `Limits`.
const MAX_RULES: usize = 4096;
const MAX_PLAYERS: usize = 1024;

/// A parsed request encodes to the same bytes. Without the token it gets a short reply, with it a
/// complete one.
pub fn request(data: &[u8]) {
    let mut written = Vec::new();
    if let Ok(request) = Request::parse_without_challenge(data) {
        request.encode(&mut written);
        assert_eq!(Request::parse_without_challenge(&written), Ok(request));
    }
    let Ok(request) = Request::parse(data) else {
        return;
    };
    let mut written = Vec::new();
    request.encode(&mut written);
    assert_eq!(Request::parse(&written), Ok(request));
    let limits = Limits::default();
    let requester = Requester::new(
        "192.0.2.1:5000".parse().unwrap(),
        Instant::now(),
        Secret::new([3; 16]),
    );
    let mut status = ServerStatus::default();
    status.name = Some("Srv".into());
    status.players = (0..80)
        .map(|number| Player::new(format!("a player numbered {number}")))
        .collect();
    for format in [
        Format::UnrealTournament3,
        Format::GameSpy4,
        Format::Minecraft,
    ] {
        let service = Service::new(format);
        let answer = |command| {
            queryport::gamespy4::respond(
                &Request::new(request.id, command),
                &status,
                &service,
                &requester,
            )
        };
        let challenge = answer(Command::Challenge);
        let Ok(Response::Challenge { value: token, .. }) =
            Response::parse(challenge.first().unwrap(), &limits)
        else {
            panic!("no challenge");
        };
        let unproven: usize = answer(request.command).iter().map(Bytes::len).sum();
        // The fuzzer can find the token, because the secret is constant.
        let is_proven =
            matches!(request.command, Command::Data { challenge: Some(it), .. } if it == token);
        assert!(
            is_proven || unproven * 2 <= data.len() * 5,
            "{unproven} bytes for {}",
            data.len()
        );
        if let Command::Data { selection, .. } = request.command {
            let datagrams = answer(Command::Data {
                challenge: Some(token),
                selection,
            });
            assert!(datagrams.iter().map(Bytes::len).sum::<usize>() <= 11_200);
            assert!(
                datagrams
                    .iter()
                    .all(|datagram| Request::parse(datagram).is_err())
            );
            let is_split = datagrams
                .iter()
                .all(|datagram| datagram.get(5..14) == Some(&b"splitnum\0"[..]));
            if !selection.0.is_empty() && !is_split {
                // Lists of keys are one datagram, cut when it is full, without names for keys
                // requested by id.
                assert!(
                    datagrams.len() == 1 && datagrams.iter().all(|datagram| datagram.len() <= 1400)
                );
            } else if !datagrams.is_empty() {
                let answer = Answer::from_datagrams(datagrams, &limits).expect("ours are replies");
                assert!(answer.completeness().is_complete());
                assert_eq!(answer.id(), request.id);
            }
        }
    }
}

/// A parsed datagram encodes to the same bytes. An answer is bounded, agrees with a naive reader,
/// and converts to a status of the same size.
pub fn response(data: &[u8]) {
    let limits = Limits::default();
    if let Ok(response) = Response::parse(data, &limits) {
        let mut written = Vec::new();
        response.encode(&mut written);
        assert_eq!(written, data);
        assert!(
            response
                .problems()
                .all(|problem| problem.offset <= data.len())
        );
    }
    let Ok(answer) = Answer::from_datagrams([Bytes::copy_from_slice(data)], &limits) else {
        return;
    };
    assert!(
        answer
            .problems()
            .all(|problem| problem.offset <= data.len())
    );
    assert!(answer.rules().len() <= MAX_RULES);
    assert!(answer.players().len() <= MAX_PLAYERS && answer.teams().len() <= MAX_PLAYERS);
    super::differential::gamespy4_datagrams(&[data.to_vec()]);
    let status = answer.to_status();
    assert_eq!(status.completeness, answer.completeness());
    if answer.form() == Form::Sections {
        assert_eq!(status.rules.len(), answer.rules().len());
        assert_eq!(status.players.len(), answer.players().len());
        // Without rows, Battlefield 2's keys contain the names of two teams.
        let teams = answer.teams().len();
        assert!(status.teams.len() == teams || teams == 0 && status.teams.len() <= 2);
    }
}

/// Runs a script of steps: a flag byte, a time in units of 20 ms, a length, and that many bytes.
/// With flag bit 0, the datagram gets the id of the last request.
///
/// A query ends by its deadline and sends a bounded number of requests. A complete answer has a
/// last datagram.
pub fn conversation(data: &[u8]) {
    let Some((&kind, mut script)) = data.split_first() else {
        return;
    };
    let dialects = [
        Dialect::Standard,
        Dialect::Minecraft,
        Dialect::JustCause2,
        Dialect::GameSpy2,
    ];
    // A quarter of the values chooses the fourth dialect.
    let choice = if kind >= 0xC0 { 3 } else { kind % 3 };
    let dialect = dialects[usize::from(choice)];
    let options = QueryOptions::default().with_dialect(dialect);
    let query = StatusQuery::new(u64::from(kind), &options);
    let steps = std::iter::from_fn(|| {
        let (&[flags, wait, length], rest) = script.split_first_chunk()?;
        let (datagram, rest) = rest.split_at(usize::from(length).min(rest.len()));
        script = rest;
        let wait = Duration::from_millis(20) * u32::from(wait);
        Some((wait, false, (flags & 1 == 1, datagram.to_vec())))
    });
    let datagram = |(has_id, mut datagram): (bool, Vec<u8>), exchanged: &Exchanged| {
        if has_id && datagram.len() >= 5 {
            datagram[1..5].copy_from_slice(&exchanged.request()[3..7]);
        }
        Some(datagram)
    };
    let played = super::script::play(query, steps, datagram, |_| {});
    let requests = played.exchanged.requests();
    assert!(requests.len() <= 64);
    for request in requests {
        // A challenge request, or data requests without and with a challenge; 10 bytes for
        // GameSpy v2, 19 with a raw token.
        assert!(matches!(request.len(), 7 | 10 | 11 | 15 | 19));
        assert!(request[3..7].iter().all(|&byte| byte <= 0x7F));
    }
    assert!(played.elapsed <= Timing::default().timeout());
    if let Ok(outcome) = played.result
        && outcome.answer.completeness().is_complete()
        && outcome.answer.form() == Form::Sections
    {
        assert!(outcome.answer.raw().len() > 15);
    }
}
