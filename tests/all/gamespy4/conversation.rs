//! The client's side in virtual time: every way to begin, lossy links, retries, forgeries, replies
//! out of turn.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bytes::Bytes;
use queryport::Service;
use queryport::gamespy4::{Answer, Command, Form, Request, StatusQuery};
use queryport::session::{Conversation, Machine, Remaining, Session, Verdict};
use queryport::{
    Detail, Dialect, Format, Limits, ParseErrorKind, Player, Players, QueryError, QueryOptions,
    ServerStatus, Timing, ToStatus, Verification,
};

use crate::common::link::Conditions;
use crate::common::pair::{CLIENT, Played, SERVER, play};
use crate::common::{at, requester};

const PLAYERS: usize = 64;

fn status() -> ServerStatus {
    let mut status = ServerStatus::default();
    status.name = Some("Srv".into());
    status.players = (0..PLAYERS)
        .map(|number| Player::new(format!("a player numbered {number}")))
        .collect();
    status
}

fn query() -> StatusQuery {
    query_with(QueryOptions::default())
}

fn query_with(options: QueryOptions) -> StatusQuery {
    StatusQuery::new(7, &options)
}

/// This crate's server in a dialect.
fn ours(engine: Format) -> impl FnMut(Instant, SocketAddr, &[u8]) -> Vec<Bytes> {
    let status = status();
    let mut requester = requester(CLIENT);
    move |now, from, datagram| {
        let Ok(request) = Request::parse(datagram) else {
            return Vec::new();
        };
        (requester.now, requester.address) = (now, from);
        queryport::gamespy4::respond(&request, &status, &Service::new(engine), &requester)
            .into_iter()
            .collect()
    }
}

fn quiet() -> (Conditions, u64) {
    (Conditions::perfect(Duration::from_millis(20)), 0)
}

/// The requests as letters: `c` for a challenge, `1` for data in one datagram, `0` for data without
/// a challenge, `z` for a challenge of zeros, `d` for another one.
fn ask(
    query: StatusQuery,
    reply: impl FnMut(usize, &Request<'_>, &[u8]) -> Vec<Vec<u8>>,
) -> (String, Played<Answer>) {
    ask_with(query, Timing::default(), reply)
}

fn ask_with(
    query: StatusQuery,
    timing: Timing,
    mut reply: impl FnMut(usize, &Request<'_>, &[u8]) -> Vec<Vec<u8>>,
) -> (String, Played<Answer>) {
    let mut steps = String::new();
    let played = play(query, timing, quiet(), |_, _, datagram| {
        let is_one_datagram = datagram.len() == 10 && datagram.ends_with(b"\xff\xff\xff");
        let is_unchallenged = datagram.len() == 11 && datagram.ends_with(b"\xff\xff\xff\x01");
        let request = if is_one_datagram || is_unchallenged {
            Request::parse_without_challenge(datagram)
        } else {
            Request::parse(datagram)
        }
        .unwrap();
        assert!(request.id.0.iter().all(|&byte| byte <= 0x7F));
        steps.push(match request.command {
            Command::Challenge => 'c',
            Command::Data {
                challenge: None, ..
            } if is_one_datagram => '1',
            Command::Data {
                challenge: None, ..
            } => '0',
            Command::Data {
                challenge: Some(0), ..
            } => 'z',
            _ => 'd',
        });
        reply(steps.len(), &request, datagram)
            .into_iter()
            .map(Bytes::from)
            .collect()
    });
    (steps, played)
}

fn challenge(request: &Request<'_>, text: &str) -> Vec<u8> {
    [b"\x09", &request.id.0[..], text.as_bytes(), b"\0"].concat()
}

fn part(request: &Request<'_>, number: u8, body: &[u8]) -> Vec<u8> {
    [b"\0", &request.id.0[..], b"splitnum\0", &[number], body].concat()
}

fn complete(request: &Request<'_>) -> Vec<u8> {
    part(request, 0x80, b"\0hostname\0Srv\0\0\x01\0\x02\0")
}

fn is_complete(played: &Played<Answer>) -> bool {
    played
        .result
        .as_ref()
        .is_ok_and(|outcome| outcome.answer.completeness().is_complete())
}

#[test]
fn a_challenge_then_the_data() {
    for dialect in [
        Format::UnrealTournament3,
        Format::GameSpy4,
        Format::Minecraft,
    ] {
        let played = play(query(), Timing::default(), quiet(), ours(dialect));
        let outcome = played.result.unwrap();
        assert_eq!(
            (
                outcome.stats.requests,
                outcome.stats.retries,
                outcome.stats.rejected
            ),
            (2, 0, 0)
        );
        assert_eq!(outcome.answer.verification(), Verification::Verified);
        assert!(outcome.answer.completeness().is_complete());
        assert_eq!(outcome.answer.to_status().players.len(), PLAYERS);
        assert_eq!(outcome.elapsed, Duration::from_millis(80), "no waiting");
    }
    let minecraft = query_with(QueryOptions::default().with_dialect(Dialect::Minecraft));
    let played = play(
        minecraft,
        Timing::default(),
        quiet(),
        ours(Format::Minecraft),
    );
    assert!(is_complete(&played));
    let short = query_with(
        QueryOptions::default()
            .with_dialect(Dialect::Minecraft)
            .with_detail(Detail::Short),
    );
    let outcome = play(short, Timing::default(), quiet(), ours(Format::Minecraft))
        .result
        .unwrap();
    let status = outcome.answer.to_status();
    assert_eq!(
        (status.player_count, status.players),
        (Some(PLAYERS as u32), Players::UNKNOWN)
    );
    assert_eq!(status.verification, Verification::Verified);
}

#[test]
fn a_challenge_of_zero_means_no_challenge_and_then_zeros() {
    let (steps, played) = ask(query(), |_, request, _| match request.command {
        Command::Challenge => vec![challenge(request, "0")],
        Command::Data {
            challenge: None, ..
        } => vec![complete(request)],
        _ => Vec::new(),
    });
    assert_eq!(steps, "c0");
    assert!(is_complete(&played));
    let (steps, played) = ask(query(), |_, request, _| match request.command {
        Command::Challenge => vec![challenge(request, "0")],
        Command::Data {
            challenge: Some(0), ..
        } => vec![complete(request)],
        _ => Vec::new(),
    });
    assert_eq!(steps, "c0z");
    assert!(is_complete(&played));
    assert!(played.elapsed < Duration::from_millis(1400));
}

/// GameSpy's own code without challenges answers a quoted 0 with an empty reply (QR2 SDK, qr2.c).
#[test]
fn an_empty_reply_to_a_quoted_zero_begins_the_next_attempt_at_once() {
    let (steps, played) = ask(query(), |step, request, _| match request.command {
        Command::Challenge => vec![challenge(request, "0")],
        // The first data reply is lost.
        Command::Data {
            challenge: None, ..
        } if step == 2 => Vec::new(),
        Command::Data {
            challenge: None, ..
        } => vec![complete(request)],
        _ => vec![[b"\0", &request.id.0[..]].concat()],
    });
    assert_eq!(steps, "c0z0");
    assert!(is_complete(&played));
    assert!(played.elapsed < Duration::from_millis(1400));
}

#[test]
fn an_empty_reply_is_no_answer() {
    let (_, played) = ask(query(), |_, request, _| match request.command {
        Command::Challenge => vec![challenge(request, "0")],
        _ => vec![[b"\0", &request.id.0[..]].concat()],
    });
    assert!(matches!(
        played.result.unwrap_err(),
        QueryError::NoUsableAnswer { .. }
    ));
}

#[test]
fn data_is_requested_without_a_challenge_if_none_is_known() {
    let unchallenged = |_: usize, request: &Request<'_>, datagram: &[u8]| {
        if datagram.len() == 11 {
            vec![complete(request)]
        } else {
            Vec::new()
        }
    };
    let patient = Timing::default()
        .with_retries(6)
        .with_timeout(Duration::from_secs(60));
    let (steps, played) = ask_with(query(), patient, unchallenged);
    assert_eq!(steps, "c1c0c");
    assert!(is_complete(&played));
    let (steps, played) = ask(query(), |_, _, _| Vec::new());
    assert_eq!(steps, "c1c0c", "within four seconds");
    assert!(matches!(
        played.result,
        Err(QueryError::Timeout { requests: 5, .. })
    ));
    let (steps, _) = ask_with(query(), patient, |_, _, _| Vec::new());
    assert_eq!(steps, "c1c0c1c0c1c0c1c");
    // The first reply loses a datagram.
    let (steps, played) = ask_with(query(), patient, |step, request, datagram| {
        let mut parts = unchallenged(step, request, datagram);
        if step == 4 {
            parts = vec![part(request, 0, b"\0hostname\0Srv\0\0\x01player_\0\0Ann\0")];
        }
        parts
    });
    assert_eq!(steps, "c1c0c0");
    assert!(is_complete(&played));
}

#[test]
fn minecraft_always_receives_four_bytes_of_challenge() {
    let (steps, played) = ask(
        query_with(QueryOptions::default().with_dialect(Dialect::Minecraft)),
        |_, request, datagram| match request.command {
            Command::Challenge => vec![challenge(request, "0")],
            _ => {
                assert_eq!((datagram.len(), &datagram[7..]), (15, &[0; 8][..]));
                vec![part(
                    request,
                    0x80,
                    b"\0hostname\0Srv\0\0\x01player_\0\0Ann\0\0",
                )]
            }
        },
    );
    assert_eq!(steps, "cz");
    assert!(is_complete(&played));
    let (steps, _) = ask(
        query_with(QueryOptions::default().with_dialect(Dialect::Minecraft)),
        |_, _, _| Vec::new(),
    );
    assert_eq!(steps, "ccc", "never without a challenge");
}

/// Geyser and WaterdogPE have no basic reply.
#[test]
fn a_full_reply_answers_the_short_request() {
    let short = QueryOptions::default()
        .with_dialect(Dialect::Minecraft)
        .with_detail(Detail::Short);
    let (steps, played) = ask(query_with(short), |_, request, _| match request.command {
        Command::Challenge => vec![challenge(request, "77")],
        _ => {
            let body = b"GeyserMC\0\x80\0hostname\0Srv\0game_id\0MINECRAFT\0numplayers\x001\0\0\x01player_\0\0Ann\0\0";
            vec![[b"\0", &request.id.0[..], body].concat()]
        }
    });
    assert_eq!(steps, "cd");
    assert!(is_complete(&played));
    let answer = played.result.unwrap().answer;
    assert_eq!(
        (answer.form(), answer.players().len()),
        (Form::MinecraftFull, 1)
    );
}

#[test]
fn a_reply_over_the_limit_of_bytes_is_no_answer() {
    for dialect in [Dialect::Standard, Dialect::Minecraft] {
        let limits = Limits::default().with_max_answer_bytes(2048);
        let options = QueryOptions::default()
            .with_dialect(dialect)
            .with_limits(limits);
        let body = [
            b"\0hostname\0Srv\0long\0",
            &[b'x'; 2048][..],
            b"\0\0\x01player_\0\0\0",
        ]
        .concat();
        let (steps, played) = ask(query_with(options), |_, request, _| match request.command {
            Command::Challenge => vec![challenge(request, "0")],
            _ => vec![part(request, 0x80, &body)],
        });
        assert!(
            steps.starts_with(if dialect == Dialect::Minecraft {
                "cz"
            } else {
                "c0z"
            }),
            "{steps}"
        );
        let Err(QueryError::NoUsableAnswer { last, .. }) = played.result else {
            panic!("{:?}", played.result)
        };
        assert_eq!(
            last.kind,
            ParseErrorKind::Limit {
                what: "bytes of one answer",
                limit: 2048
            }
        );
    }
}

/// Nukkit's QueryHandler.java: four bytes of a hash, and the full reply where eight bytes follow
/// them.
#[test]
fn a_raw_token_of_minecrafts_dialect_is_quoted() {
    for token in [b"\xd4\x1d\x8c\xd9", b"\x007\0\0", b"abcd"] {
        let raw = |request: &Request<'_>| vec![[b"\x09", &request.id.0[..], token, b"\0"].concat()];
        for detail in [Detail::Full, Detail::Short] {
            let options = QueryOptions::default()
                .with_dialect(Dialect::Minecraft)
                .with_detail(detail);
            let (steps, played) = ask(query_with(options), |_, request, datagram| {
                let Command::Data { selection, .. } = request.command else {
                    return raw(request);
                };
                assert_eq!(&datagram[7..11], token);
                if selection.0 == [0; 8] {
                    vec![part(
                        request,
                        0x80,
                        b"\0hostname\0Srv\0\0\x01player_\0\0Ann\0\0",
                    )]
                } else {
                    let body = b"Srv\0SMP\0world\x002\x0020\0\xbc\x4a127.0.0.1\0";
                    vec![[b"\0", &request.id.0[..], body].concat()]
                }
            });
            assert_eq!(steps, "cd");
            assert!(is_complete(&played));
            let form = if detail == Detail::Full {
                Form::MinecraftFull
            } else {
                Form::MinecraftBasic
            };
            assert_eq!(played.result.unwrap().answer.form(), form);
        }
    }
    let (_, played) = ask(query(), |_, request, _| {
        vec![[b"\x09", &request.id.0[..], b"abcd\0"].concat()]
    });
    assert!(
        matches!(played.result, Err(QueryError::NoUsableAnswer { .. })),
        "other servers send a number"
    );
}

/// Parts of two replies are never mixed, and a late part still completes the first.
#[test]
fn replies_to_two_attempts_are_kept_apart() {
    let first = b"\0hostname\0old\0\0\x01player_\0\0Ann\0";
    let mut late = Vec::new();
    let (steps, played) = ask(query(), |step, request, _| match (request.command, step) {
        (Command::Challenge, _) => vec![challenge(request, "77")],
        (_, 2) => {
            late.push(part(request, 0x81, b"\x01player_\0\x01Bob\0\0\0\x02\0"));
            vec![part(request, 0, first)]
        }
        // The second attempt: half of its own reply, and the rest of the first one's.
        _ => vec![
            part(request, 0, b"\0hostname\0new\0\0\x01player_\0\0Eve\0"),
            late.remove(0),
        ],
    });
    assert_eq!(steps, "cdcd");
    let answer = played.result.unwrap().answer;
    assert!(answer.completeness().is_complete());
    assert_eq!(answer.get("hostname"), Some(&b"old"[..]));
    let names: Vec<_> = answer
        .players()
        .rows()
        .map(|row| row.get("player_").unwrap())
        .collect();
    assert_eq!(names, [b"Ann", b"Bob"]);
}

#[test]
fn just_cause_2_needs_no_mark_of_the_last_datagram() {
    let query = query_with(QueryOptions::default().with_dialect(Dialect::JustCause2));
    let (steps, played) = ask(query, |_, request, datagram| match request.command {
        Command::Challenge => vec![challenge(request, "-5")],
        _ => {
            assert!(datagram.ends_with(b"\xff\xff\xff\xfb\xff\xff\xff\x02"));
            vec![part(
                request,
                0,
                b"\0hostname\0Srv\0\0\0\x01Ann\0STEAM_0:1:2\0\0\x2a",
            )]
        }
    });
    assert_eq!(steps, "cd");
    let answer = played.result.unwrap().answer;
    assert!(answer.completeness().is_complete());
    assert_eq!(answer.to_status().players[0].ping, Some(42));
    assert!(played.elapsed < Duration::from_millis(100));
}

/// A session after the challenge, whose server the test plays.
struct Rig {
    session: Session<StatusQuery>,
    now: Instant,
    id: [u8; 4],
}

impl Rig {
    fn new() -> Self {
        let now = Instant::now();
        let query = StatusQuery::new(7, &QueryOptions::default());
        let mut session = Session::new(query, at(SERVER), Timing::default(), now);
        let mut out = Vec::new();
        session.poll_transmit(now, &mut out).unwrap();
        let id = out[3..7].try_into().unwrap();
        let mut rig = Self { session, now, id };
        rig.receive(SERVER, &[b"\x09", &id[..], b"123\0"].concat());
        out.clear();
        rig.session.poll_transmit(now, &mut out).unwrap();
        assert_eq!(out[7..], [0, 0, 0, 123, 0xFF, 0xFF, 0xFF, 1]);
        rig
    }

    fn receive(&mut self, from: &str, datagram: &[u8]) {
        self.session.handle_datagram(self.now, at(from), datagram);
    }

    fn part(&self, number: u8, body: &[u8]) -> Vec<u8> {
        [b"\0", &self.id[..], b"splitnum\0", &[number], body].concat()
    }

    /// Lets time pass until the query ends.
    fn end(mut self) -> (Result<Answer, QueryError>, Duration) {
        let start = self.now;
        loop {
            if let Some(result) = self.session.poll_answer() {
                return (result.map(|outcome| outcome.answer), self.now - start);
            }
            self.now = self.session.poll_timeout().unwrap();
            self.session.handle_timeout(self.now);
            let _ = self.session.poll_transmit(self.now, &mut Vec::new());
        }
    }
}

const COMPLETE: &[u8] = b"\0hostname\0Srv\0\0\x01player_\0\0Ann\0\0\0\x02\0";

/// Data cannot come before it was requested, nor a challenge twice.
#[test]
fn replies_out_of_turn_change_nothing() {
    let now = Instant::now();
    let query = StatusQuery::new(7, &QueryOptions::default());
    let mut session = Session::new(query, at(SERVER), Timing::default(), now);
    let mut out = Vec::new();
    session.poll_transmit(now, &mut out).unwrap();
    let data = [b"\0", &out[3..7], b"splitnum\0\x80", COMPLETE].concat();
    session.handle_datagram(now, at(SERVER), &data);
    assert_eq!(
        (session.stats().rejected, session.poll_answer().is_none()),
        (1, true)
    );
    let mut rig = Rig::new();
    let again = [b"\x09", &rig.id[..], b"124\0"].concat();
    rig.receive(SERVER, &again);
    assert!(
        rig.session
            .poll_transmit(rig.now, &mut Vec::new())
            .is_none(),
        "one request for one challenge"
    );
    // The challenge of an attempt comes after that of the next one.
    let options = QueryOptions::default().with_dialect(Dialect::Minecraft);
    let mut query = query_with(options);
    let mut requests = [Vec::new(), Vec::new()];
    query.request(&mut requests[0]);
    query.timeout(Remaining::Retry);
    query.request(&mut requests[1]);
    let [late, new] = requests.map(|request| [b"\x09", &request[3..7], b"77\0"].concat());
    assert!(matches!(query.receive(&new), Verdict::Next));
    assert!(matches!(query.receive(&late), Verdict::Partial(_)));
}

#[test]
fn a_reply_with_an_unknown_id_is_rejected() {
    for dialect in [
        Dialect::Standard,
        Dialect::GameSpy2,
        Dialect::Minecraft,
        Dialect::JustCause2,
    ] {
        for (kind, rest) in [
            (9, &b"77\0"[..]),
            (9, b"\xff\xff\xff\xff\0"),
            (0, b"hostname\0Srv\0\0\0\0"),
            (0, b"splitnum\0\x80\0hostname\0Srv\0\0"),
        ] {
            let mut query = query_with(QueryOptions::default().with_dialect(dialect));
            query.request(&mut Vec::new());
            let reply = [&[kind, 1, 2, 3, 4], rest].concat();
            let verdict = query.receive(&reply);
            assert!(matches!(verdict, Verdict::Rejected(_)), "{verdict:?}");
        }
    }
}

/// GameSpy's own code stops after eight datagrams, none of which is the last.
#[test]
fn eight_datagrams_without_a_last_one_are_an_incomplete_answer_soon() {
    for (numbers, is_all) in [
        (&[0, 1, 2, 3, 4, 5, 6, 7][..], true),
        (&[0, 1, 2, 3, 4, 5, 6], false),
        (&[0, 1, 2, 3, 4, 5, 6, 8], false),
    ] {
        let mut rig = Rig::new();
        for &number in numbers {
            let mut body = match number {
                0 => b"\0hostname\0Srv\0\0\x01player_\0\0".to_vec(),
                _ => [&b"\x01player_\0"[..], &[number * 10]].concat(),
            };
            for row in 0..10 {
                body.extend_from_slice(format!("player {row}\0").as_bytes());
            }
            let datagram = rig.part(number, &body);
            rig.receive(SERVER, &datagram);
        }
        let (result, waited) = rig.end();
        let answer = result.unwrap();
        assert!(!answer.completeness().is_complete());
        assert_eq!(
            answer.players().len(),
            10 * (1 + usize::from(numbers[numbers.len() - 1]))
        );
        // Another try would bring the same.
        assert_eq!(waited < Duration::from_millis(200), is_all, "{waited:?}");
    }
}

/// A changed bit in `splitnum` or after it: the last datagram has another head, or none.
#[test]
fn a_datagram_without_a_number_is_rejected_among_numbered_ones() {
    let part = |head: &[u8], rest: &[u8]| [&b"\0\x07\0\0\0"[..], head, rest].concat();
    for head in [b"s`litnum\0\x81\x01", b"splitnum\x02\x81\x01"] {
        let mut query = query();
        let mut out = Vec::new();
        query.request(&mut out);
        query.receive(b"\x09\x07\0\0\x001234\0");
        query.request(&mut out);
        let first = part(
            b"splitnum\0\0\0",
            b"hostname\0Srv\0\0\x01player_\0\0Ann\0Bob\0\0",
        );
        assert!(matches!(query.receive(&first), Verdict::Partial(_)));
        let last = part(head, b"score_\0\x005\x006\0\0\x02team_t\0\0\0\0");
        let Verdict::Rejected(error) = query.receive(&last) else {
            panic!("accepted")
        };
        assert!(matches!(error.kind, ParseErrorKind::Unexpected(_)));
    }
}
