//! Conversations in virtual time: every way to begin, lossy links, retries.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bytes::Bytes;
use queryport::Limits;
use queryport::QueryError;
use queryport::Secret;
use queryport::gamespy4::server::{self, Flavour, Options, Tokens};
use queryport::gamespy4::{Answer, Command, Dialect, InfoQuery, Request, StatusQuery};
use queryport::{Outcome, Timing};
use queryport::{Player, ServerStatus};

use crate::common::link::Conditions;
use crate::common::pair::{Played, play};

const PLAYERS: usize = 64;

fn status() -> ServerStatus {
    let mut status = ServerStatus::default();
    status.name = Some("Srv".into());
    status.players =
        Some((0..PLAYERS).map(|number| Player::new(format!("a player numbered {number}"))).collect());
    status
}

fn query() -> StatusQuery {
    StatusQuery::new(7, Limits::default())
}

/// Our own server, told apart by flavour.
fn ours(flavour: Flavour) -> impl FnMut(Instant, SocketAddr, &[u8]) -> Vec<Bytes> {
    let status = status();
    move |_, from, datagram| {
        let Ok(request) = Request::parse(datagram) else { return Vec::new() };
        let tokens = Tokens::new(&Secret::new([5; 16]), from, 3);
        server::answer(&request, &status, tokens, &Options::new(flavour))
    }
}

fn quiet() -> (Conditions, u64) {
    (Conditions::perfect(Duration::from_millis(20)), 0)
}

/// What was asked, step by step: `c` for a challenge, `0` for data without one, `z` for one of zeros, `d` for another.
fn ask(
    query: StatusQuery,
    mut reply: impl FnMut(usize, &Request<'_>, &[u8]) -> Vec<Vec<u8>>,
) -> (String, Played<Answer>) {
    let mut steps = String::new();
    let played = play(query, Timing::default(), quiet(), |_, _, datagram| {
        let bare = datagram.len() == 11 && datagram.ends_with(b"\xff\xff\xff\x01");
        let request =
            if bare { Request::parse_without_challenge(datagram) } else { Request::parse(datagram) }.unwrap();
        assert!(request.id.bytes().iter().all(|&byte| byte <= 0x7F));
        steps.push(match request.command {
            Command::Challenge => 'c',
            Command::Data { challenge: None, .. } => '0',
            Command::Data { challenge: Some(0), .. } => 'z',
            _ => 'd',
        });
        reply(steps.len(), &request, datagram).into_iter().map(Bytes::from).collect()
    });
    (steps, played)
}

fn challenge(request: &Request<'_>, text: &str) -> Vec<u8> {
    [b"\x09", &request.id.bytes()[..], text.as_bytes(), b"\0"].concat()
}

fn part(request: &Request<'_>, number: u8, body: &[u8]) -> Vec<u8> {
    [b"\0", &request.id.bytes()[..], b"splitnum\0", &[number], body].concat()
}

fn whole(request: &Request<'_>) -> Vec<u8> {
    part(request, 0x80, b"\0hostname\0Srv\0\0\x01\0\x02\0")
}

fn is_whole(played: &Played<Answer>) -> bool {
    played.result.as_ref().is_ok_and(|outcome: &Outcome<Answer>| outcome.answer.completeness().is_complete())
}

#[test]
fn a_challenge_then_the_data() {
    for flavour in [Flavour::UnrealTournament3, Flavour::Battlefield2, Flavour::Minecraft] {
        let played = play(query(), Timing::default(), quiet(), ours(flavour));
        let outcome = played.result.unwrap();
        assert_eq!((outcome.stats.requests, outcome.stats.retries, outcome.stats.rejected), (2, 0, 0));
        assert!(outcome.answer.completeness().is_complete());
        assert_eq!(outcome.answer.to_status().listed_players().len(), PLAYERS);
        assert_eq!(outcome.elapsed, Duration::from_millis(80), "no waiting");
    }
    let minecraft = query().with_dialect(Dialect::Minecraft);
    let played = play(minecraft, Timing::default(), quiet(), ours(Flavour::Minecraft));
    assert!(is_whole(&played));
    let info = InfoQuery::new(3, Limits::default());
    let outcome = play(info, Timing::default(), quiet(), ours(Flavour::Minecraft)).result.unwrap();
    assert_eq!(outcome.answer.to_status().player_count, Some(PLAYERS as u32));
}

#[test]
fn over_a_bad_link_an_answer_is_right_or_none_or_says_what_is_missing() {
    let (mut whole, mut partial, mut silent) = (0, 0, 0);
    for seed in 0..300 {
        let conditions = Conditions { loss: 0.2, ..Conditions::bad() };
        let played = play(query(), Timing::default(), (conditions, seed), ours(Flavour::UnrealTournament3));
        match played.result {
            Ok(outcome) if outcome.answer.completeness().is_complete() => {
                whole += 1;
                let names = outcome.answer.to_status();
                let names = names.listed_players().iter().map(|player| player.name.to_string());
                assert!(names.eq((0..PLAYERS).map(|number| format!("a player numbered {number}"))));
            }
            Ok(outcome) => {
                partial += 1;
                assert!(outcome.answer.reply().players().len() <= PLAYERS);
            }
            Err(QueryError::NoAnswer { .. }) => silent += 1,
            Err(error) => panic!("seed {seed}: {error}"),
        }
        assert!(played.elapsed <= Duration::from_secs(4));
    }
    println!("{whole} whole, {partial} partial, {silent} silent");
    assert!(whole > 200 && partial > 0 && silent > 0);
}

#[test]
fn a_corrupting_link_never_adds_players() {
    for seed in 0..300 {
        let conditions = Conditions { corruption: 0.5, ..Conditions::bad() };
        let played = play(query(), Timing::default(), (conditions, seed), ours(Flavour::Battlefield2));
        if let Ok(outcome) = played.result {
            // A flipped row number can leave a gap, a flipped letter make two values of one.
            assert!(outcome.answer.reply().players().len() <= 256 + PLAYERS);
        }
    }
}

#[test]
fn a_challenge_of_zero_means_no_challenge_and_then_zeros() {
    let (steps, played) = ask(query(), |_, request, _| match request.command {
        Command::Challenge => vec![challenge(request, "0")],
        Command::Data { challenge: None, .. } => vec![whole(request)],
        _ => Vec::new(),
    });
    assert_eq!(steps, "c0");
    assert!(is_whole(&played));
    let (steps, played) = ask(query(), |_, request, _| match request.command {
        Command::Challenge => vec![challenge(request, "0")],
        Command::Data { challenge: Some(0), .. } => vec![whole(request)],
        _ => Vec::new(),
    });
    assert_eq!(steps, "c0z");
    assert!(is_whole(&played));
    assert!(played.elapsed < Duration::from_millis(1400));
}

/// GameSpy's own code answers zeros for a challenge with an empty reply.
#[test]
fn an_empty_reply_is_no_answer() {
    let (_, played) = ask(query(), |_, request, _| match request.command {
        Command::Challenge => vec![challenge(request, "0")],
        _ => vec![[b"\0", &request.id.bytes()[..]].concat()],
    });
    assert!(matches!(played.result.unwrap_err(), QueryError::NoUsableAnswer { .. }));
}

#[test]
fn where_no_challenge_is_known_the_data_is_asked_for_without() {
    let bare_only = |_: usize, request: &Request<'_>, _: &[u8]| match request.command {
        Command::Data { challenge: None, .. } => vec![whole(request)],
        _ => Vec::new(),
    };
    let (steps, played) = ask(query(), bare_only);
    assert_eq!(steps, "cc0");
    assert!(is_whole(&played));
    let (steps, played) = ask(query(), |_, _, _| Vec::new());
    assert_eq!(steps, "cc0", "once, within four seconds");
    assert!(matches!(played.result, Err(QueryError::NoAnswer { requests: 3, .. })));
}

#[test]
fn minecraft_always_gets_four_bytes() {
    let (steps, played) =
        ask(query().with_dialect(Dialect::Minecraft), |_, request, datagram| match request.command {
            Command::Challenge => vec![challenge(request, "0")],
            _ => {
                assert_eq!((datagram.len(), &datagram[7..]), (15, &[0; 8][..]));
                vec![part(request, 0x80, b"\0hostname\0Srv\0\0\x01player_\0\0Ann\0\0")]
            }
        });
    assert_eq!(steps, "cz");
    assert!(is_whole(&played));
    let (steps, _) = ask(query().with_dialect(Dialect::Minecraft), |_, _, _| Vec::new());
    assert_eq!(steps, "ccc", "never without a challenge");
}

/// GameSpy's own code takes a challenge back at its first use.
#[test]
fn a_retry_starts_again_at_the_challenge() {
    let mut ids = Vec::new();
    let (steps, played) = ask(query(), |step, request, _| {
        if ids.last() != Some(&request.id) {
            ids.push(request.id);
        }
        match request.command {
            Command::Challenge => vec![challenge(request, "77")],
            // The first data reply is lost.
            _ if step == 2 => Vec::new(),
            _ => vec![whole(request)],
        }
    });
    assert_eq!(steps, "cdcd");
    assert!(is_whole(&played));
    assert_eq!(ids.len(), 2, "each attempt has an id of its own");
}

/// Parts of two replies are never mixed, and a late part still completes the first.
#[test]
fn replies_to_two_attempts_are_kept_apart() {
    let first = b"\0hostname\0old\0\0\x01player_\0\0Ann\0";
    let mut held = Vec::new();
    let (steps, played) = ask(query(), |step, request, _| match (request.command, step) {
        (Command::Challenge, _) => vec![challenge(request, "77")],
        (_, 2) => {
            held.push(part(request, 0x81, b"\x01player_\0\x01Bob\0\0\0\x02\0"));
            vec![part(request, 0, first)]
        }
        // The second attempt: half of its own reply, and the rest of the first one's.
        _ => vec![part(request, 0, b"\0hostname\0new\0\0\x01player_\0\0Eve\0"), held.remove(0)],
    });
    assert_eq!(steps, "cdcd");
    let answer = played.result.unwrap().answer;
    assert!(answer.completeness().is_complete());
    assert_eq!(answer.reply().get("hostname"), Some(&b"old"[..]));
    let names: Vec<_> = answer.reply().players().rows().map(|row| row.get("player_").unwrap()).collect();
    assert_eq!(names, [b"Ann", b"Bob"]);
}

#[test]
fn just_cause_2_needs_no_mark_of_the_last_datagram() {
    let query = query().with_dialect(Dialect::JustCause2);
    let (steps, played) = ask(query, |_, request, datagram| match request.command {
        Command::Challenge => vec![challenge(request, "-5")],
        _ => {
            assert!(datagram.ends_with(b"\xff\xff\xff\xfb\xff\xff\xff\x02"));
            vec![part(request, 0, b"\0hostname\0Srv\0\0\0\x01Ann\0STEAM_0:1:2\0\0\x2a")]
        }
    });
    assert_eq!(steps, "cd");
    let answer = played.result.unwrap().answer;
    assert!(answer.completeness().is_complete());
    assert_eq!(answer.to_status().players.unwrap()[0].ping, Some(42));
    assert!(played.elapsed < Duration::from_millis(100));
}
