//! Properties that hold for any input. Fuzz targets and `tests/corpus/` call these functions.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bytes::Bytes;
use queryport::gamespy4::{Answer, Command, Form, Request, Response, StatusQuery};
use queryport::session::{Machine, Session};
use queryport::{Dialect, Format, QueryOptions, Service};
use queryport::{Limits, Player, Requester, Secret, ServerStatus, Timing, ToStatus};

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
    let limits = Limits::default();
    let peer: SocketAddr = "192.0.2.2:6500".parse().unwrap();
    let start = Instant::now();
    let mut now = start;
    let query = StatusQuery::new(
        u64::from(kind),
        &QueryOptions::default()
            .with_limits(limits)
            .with_dialect(dialect),
    );
    let mut session = Session::new(query, peer, Timing::default(), now);
    let mut id = [0; 4];
    let mut requests = 0;
    loop {
        let mut out = Vec::new();
        while session.poll_transmit(now, &mut out).is_some() {
            requests += 1;
            // A challenge request, or data requests without and with a challenge; 10 bytes for
            // GameSpy v2, 19 with a raw token.
            assert!(matches!(out.len(), 7 | 10 | 11 | 15 | 19) && requests <= 64);
            id = out[3..7].try_into().unwrap();
            assert!(id.iter().all(|&byte| byte <= 0x7F));
            out.clear();
        }
        if let Some(result) = session.poll_answer() {
            if let Ok(outcome) = result
                && outcome.answer.completeness().is_complete()
                && outcome.answer.form() == Form::Sections
            {
                assert!(outcome.answer.raw().len() > 15);
            }
            break;
        }
        match script {
            [flags, wait, length, rest @ ..] => {
                let (datagram, rest) = rest.split_at(usize::from(*length).min(rest.len()));
                script = rest;
                now += Duration::from_millis(20) * u32::from(*wait);
                let mut datagram = datagram.to_vec();
                if flags & 1 == 1 && datagram.len() >= 5 {
                    datagram[1..5].copy_from_slice(&id);
                }
                session.handle_timeout(now);
                session.handle_datagram(now, peer, &datagram);
            }
            _ => {
                now = session.poll_timeout().unwrap();
                session.handle_timeout(now);
            }
        }
    }
    assert!(now - start <= Timing::default().timeout() + Duration::from_millis(20) * 255);
}
