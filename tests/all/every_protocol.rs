//! Requirements for every protocol of `Protocol::ALL`: a query and a responder in virtual time,
//! over a network with one fault.

use std::time::{Duration, Instant};

use bytes::Bytes;
use kit::served;
use queryport::gamespy4::{self, RequestId};
use queryport::model::{Charset, Style};
use queryport::quake3;
use queryport::serve::Responder;
use queryport::session::{Machine, Session};
use queryport::{
    Answer, Completeness, Limits, Outcome, Player, Protocol, QueryError, QueryOptions, Requester,
    Secret, ServerStatus, StatusQuery, Text, Timing, ToStatus, Verification,
};

use crate::common::link::Conditions;
use crate::common::pair::{CLIENT, SERVER, play};
use crate::common::{at, decoded, twist};

type Link = Session<StatusQuery>;
type Ended = Result<Outcome<Answer>, QueryError>;

const SECRET: Secret = Secret::new([7; 16]);
const MS: Duration = Duration::from_millis(1);

/// A server of 30 players, in several datagrams if the protocol allows that.
fn status(name: &str) -> ServerStatus {
    let mut status = ServerStatus::default();
    status.name = Some(name.into());
    status.map = Some("DM-Deck16".into());
    status.max_players = Some(32);
    let players = (0..30).map(|number| {
        let mut player = Player::new(format!("{name} {number}"));
        player.score = Some(number);
        player
    });
    status.players = players.collect();
    status.player_count = Some(30);
    for number in 0..40 {
        status
            .rules
            .push(&format!("rule{number}"), &format!("{name} {number}"));
    }
    status
}

fn responder(protocol: Protocol, name: &str, now: Instant) -> Responder {
    Responder::new(protocol, status(name), SECRET, now).with_guard(None)
}

/// The replies of a server to a request.
fn replies(server: &mut Responder, now: Instant, request: &[u8]) -> Vec<Vec<u8>> {
    let replies = served::replies(server, now, at(CLIENT), request);
    replies.into_iter().map(Vec::from).collect()
}

/// Runs a query whose requests are answered 20 ms later by `deliver`, which is given the request
/// and the server's replies.
fn query(
    protocol: Protocol,
    deliver: impl FnMut(&mut Link, Instant, &[u8], Vec<Vec<u8>>),
) -> Ended {
    query_with(protocol, &QueryOptions::default(), status("real"), deliver)
}

fn query_with(
    protocol: Protocol,
    options: &QueryOptions,
    status: ServerStatus,
    mut deliver: impl FnMut(&mut Link, Instant, &[u8], Vec<Vec<u8>>),
) -> Ended {
    let mut now = Instant::now();
    let mut server = Responder::new(protocol, status, Secret::new([7; 16]), now).with_guard(None);
    let conversation = StatusQuery::new(protocol, 7, options);
    let mut session = Session::new(conversation, at(SERVER), Timing::default(), now);
    loop {
        let mut request = Vec::new();
        if session.poll_transmit(now, &mut request).is_some() {
            now += 20 * MS;
            let replies = replies(&mut server, now, &request);
            deliver(&mut session, now, &request, replies);
        }
        if let Some(result) = session.poll_answer() {
            return result;
        }
        now = now.max(session.poll_timeout().unwrap());
        session.handle_timeout(now);
    }
}

fn receive(session: &mut Link, now: Instant, datagrams: &[Vec<u8>]) {
    for datagram in datagrams {
        session.handle_datagram(now, at(SERVER), datagram);
    }
}

/// The answer without any fault.
fn undisturbed(protocol: Protocol) -> Answer {
    let result = query(protocol, |session, now, _, replies| {
        receive(session, now, &replies);
    });
    let answer = result.unwrap().answer;
    assert_eq!(answer.completeness(), Completeness::COMPLETE, "{protocol}");
    assert_eq!(answer.to_status().players.len(), 30, "{protocol}");
    answer
}

#[test]
fn texts_are_read_in_the_character_set_of_the_options() {
    let options = QueryOptions::default().with_charset(Charset::Utf8OrWindows1251);
    let hello = Text::new(&b"\xcf\xf0\xe8\xe2\xe5\xf2"[..], Style::default());
    for protocol in Protocol::ALL {
        let mut served = status("real");
        served.name = Some(hello.clone());
        served.players[0].name = hello.clone();
        let result = query_with(protocol, &options, served, |session, now, _, replies| {
            receive(session, now, &replies);
        });
        let read = result.unwrap().answer.to_status();
        assert_eq!(read.name.unwrap(), "Привет", "{protocol}");
        assert!(
            read.players.iter().any(|player| player.name == "Привет"),
            "{protocol}"
        );
    }
}

/// A caller may take a request long after it is due, and advance time before.
#[test]
fn a_request_that_waits_to_be_taken_does_not_count_as_lost() {
    for protocol in Protocol::ALL {
        let usual = query(protocol, |session, now, _, replies| {
            receive(session, now, &replies);
        });
        let usual = usual.unwrap();
        for wait in [500, 1_200, 4_000] {
            let mut now = Instant::now();
            let mut server = responder(protocol, "real", now);
            let conversation = StatusQuery::new(protocol, 7, &QueryOptions::default());
            let timing = Timing::default().with_timeout(Duration::from_secs(60));
            let mut session = Session::new(conversation, at(SERVER), timing, now);
            let mut waits = 0;
            let outcome = loop {
                let stats = session.stats();
                if session.poll_timeout().unwrap() <= now {
                    waits += 1;
                    for _ in 0..3 {
                        now += wait / 2 * MS;
                        session.handle_timeout(now);
                    }
                }
                assert_eq!(session.stats(), stats, "{protocol}");
                let mut request = Vec::new();
                if session.poll_transmit(now, &mut request).is_some() {
                    now += 20 * MS;
                    receive(&mut session, now, &replies(&mut server, now, &request));
                }
                if let Some(result) = session.poll_answer() {
                    break result.unwrap();
                }
                now = now.max(session.poll_timeout().unwrap());
                session.handle_timeout(now);
            };
            assert!(
                waits >= usual.stats.requests,
                "{protocol}: each request waits"
            );
            assert_eq!(outcome.stats, usual.stats, "{protocol}");
            assert_eq!(outcome.rtt, Some(20 * MS), "{protocol}");
            assert_eq!(
                decoded(&outcome.answer),
                decoded(&usual.answer),
                "{protocol}"
            );
        }
    }
}

/// qstat, opengsq and rust gamedig take a reply from any address.
#[test]
fn replies_from_elsewhere_change_nothing() {
    for protocol in Protocol::ALL {
        let mut foreign = 0;
        let result = query(protocol, |session, now, request, real| {
            let forged = replies(&mut responder(protocol, "forged", now), now, request);
            for from in ["192.0.2.2:27961", "192.0.2.9:27960", "[2001:db8::2]:27960"] {
                for datagram in &forged {
                    session.handle_datagram(now, at(from), datagram);
                    foreign += 1;
                }
            }
            receive(session, now, &real);
        });
        let outcome = result.unwrap();
        assert!(
            foreign > 0 && outcome.stats.foreign == foreign,
            "{protocol}: {:?}",
            outcome.stats
        );
        assert_eq!(
            decoded(&outcome.answer),
            decoded(&undisturbed(protocol)),
            "{protocol}"
        );
    }
}

/// Some servers answer after three seconds. By then the client has asked again, in other forms too.
#[test]
fn a_reply_to_the_first_request_counts_after_seconds() {
    for protocol in Protocol::ALL {
        let timing = Timing::default().with_timeout(Duration::from_secs(8));
        for way in [500, 1_000, 1_500] {
            let query = StatusQuery::new(protocol, 7, &QueryOptions::default());
            let mut server = responder(protocol, "Srv", Instant::now());
            let link = (Conditions::perfect(way * MS), 0);
            let played = play(query, timing, link, |now, from, request| {
                served::replies(&mut server, now, from, request)
            });
            let outcome = played
                .result
                .unwrap_or_else(|error| panic!("{protocol}, {way} ms: {error}"));
            assert_eq!(outcome.stats.rejected, 0, "{protocol}, {way} ms");
            assert_eq!(outcome.answer.to_status().name.unwrap(), "Srv");
        }
    }
}

/// Both derive from one secret, and are the same kind of number.
#[test]
fn a_token_of_gamespy_v4_is_no_challenge_of_quake_3() {
    let request = gamespy4::Request::new(RequestId([1; 4]), gamespy4::Command::Challenge);
    for port in 1..20 {
        let requester = Requester::new(([192, 0, 2, 1], port).into(), Instant::now(), SECRET);
        let status = ServerStatus::default();
        let reply = gamespy4::respond(&request, &status, &Protocol::GameSpy4.into(), &requester);
        let token = reply[0][5..].strip_suffix(&[0]).unwrap();
        assert!(!quake3::verify_challenge(token, &requester));
    }
}

/// qstat, rust gamedig and opengsq have no total deadline: an endless stream keeps them waiting
/// for ever.
#[test]
fn an_endless_reply_ends_at_the_deadline() {
    for protocol in Protocol::ALL {
        let result = query(protocol, |session, now, request, real| {
            if protocol == Protocol::GameSpy4 && request[2] == 9 {
                return receive(session, now, &real);
            }
            for number in 0..2_000_u32 {
                let now = now + 5 * MS * number;
                session.handle_datagram(now, at(SERVER), &endless(protocol, request, number));
                session.handle_timeout(now);
            }
        });
        match result {
            Ok(outcome) => {
                assert_ne!(
                    outcome.answer.completeness(),
                    Completeness::COMPLETE,
                    "{protocol}"
                );
                assert!(
                    outcome.elapsed <= Timing::default().timeout(),
                    "{protocol}: {:?}",
                    outcome.elapsed
                );
                let players = outcome.answer.to_status().players.len();
                assert!(players <= 1024, "{protocol}: {players} players");
            }
            Err(error) => assert!(
                matches!(error, QueryError::NoUsableAnswer { .. }),
                "{protocol}: {error}"
            ),
        }
    }
}

/// A datagram of an endless reply.
fn endless(protocol: Protocol, request: &[u8], number: u32) -> Vec<u8> {
    match protocol {
        Protocol::GameSpy1 => {
            format!("\\player_{number}\\x\\queryid\\1.{}", number + 1).into_bytes()
        }
        Protocol::GameSpy4 => {
            let number = u8::try_from(number % 128).unwrap();
            [
                b"\0",
                &request[3..7],
                b"splitnum\0",
                &[number],
                b"\x01player_\0\0Ann\0Bob\0",
            ]
            .concat()
        }
        Protocol::Quake3 => b"\xff\xff\xff\xffprint\nflooded\n".to_vec(),
        Protocol::Ut2004 => {
            let player = |at: u32| {
                [
                    &(number * 20 + at).to_le_bytes()[..],
                    b"\x08another\0",
                    &[0; 12],
                ]
                .concat()
            };
            [vec![0x80, 0, 0, 0, 2], (1..=20).flat_map(player).collect()].concat()
        }
        other => panic!("{other} has no endless reply here"),
    }
}

/// Half of the datagrams have a flipped bit, and some come twice.
#[test]
fn a_corrupting_link_never_yields_other_players() {
    // A flipped row number of GameSpy v4 leaves a gap. A changed copy of a datagram of UT2004 is
    // another datagram of its list.
    let cases = [
        (Protocol::GameSpy1, 30),
        (Protocol::GameSpy4, 286),
        (Protocol::Quake3, 30),
        (Protocol::Ut2004, 286),
    ];
    for (protocol, max_players) in cases {
        let mut answered = 0;
        for seed in 0..50 {
            let secret = Secret::new([7; 16]);
            let status = status("real");
            let server = Responder::new(protocol, status, secret, Instant::now());
            let mut server = server.with_guard(None);
            let conditions = Conditions {
                corruption: 0.5,
                ..Conditions::bad()
            };
            let played = play(
                StatusQuery::new(protocol, 7, &QueryOptions::default()),
                Timing::default(),
                (conditions, seed),
                |now, _, request| {
                    let replies = replies(&mut server, now, request);
                    replies.into_iter().map(Bytes::from).collect()
                },
            );
            let Ok(outcome) = played.result else {
                continue;
            };
            answered += 1;
            let players = outcome.answer.to_status().players.len();
            assert!(players <= max_players, "{protocol}, {seed}: {players}");
        }
        assert!(answered > 5, "{protocol}: {answered}");
    }
}

/// A reply with another challenge or request id comes from an attacker who did not see the request.
#[test]
fn a_reply_with_a_forged_token_is_rejected() {
    for protocol in Protocol::ALL {
        if undisturbed(protocol).to_status().verification == Verification::Unavailable {
            continue;
        }
        let mut nonces = 100..;
        let result = query(protocol, |session, now, request, real| {
            let other =
                StatusQuery::new(protocol, nonces.next().unwrap(), &QueryOptions::default());
            let mut other = Session::new(other, at(SERVER), Timing::default(), now);
            let mut guessed = Vec::new();
            other.poll_transmit(now, &mut guessed).unwrap();
            let forged = replies(&mut responder(protocol, "forged", now), now, &guessed);
            assert_ne!(guessed, request);
            receive(session, now, &forged);
            receive(session, now, &real);
        });
        let outcome = result.unwrap();
        assert!(outcome.stats.rejected > 0, "{protocol}");
        assert_eq!(
            decoded(&outcome.answer),
            decoded(&undisturbed(protocol)),
            "{protocol}"
        );
    }
}

/// Lines that a status of Quake 3 can have instead of a player, and counts that it can have twice.
const ODD_STATUSES: [&[u8]; 7] = [
    b"statusResponse\n\\clients\\2\n1 2 \"a\"\n3 4\n",
    b"statusResponse\n\\clients\\2\n3 4 b\"\n1 2 \"a\"\n\n",
    b"statusResponse\n\\clients\\\\clients\\2\n1 2 \"a\"\n",
    b"statusResponse\n\\clients\\2\\clients\\1\n1 2 \"a\"\n",
    b"print\n\\clients\\2\n1 2\n1 2 \"a\"\n",
    b"n\\clients\\2\n1 2 3 4 \"a\" \"\" 0 0\n1 2 3\n\0",
    b"n\\clients\\2\nqtv 1 \"a\" \"b@c:1\" 2\n1 2 3\n\0",
];

/// Calls `read` with replies that are damaged in many ways.
fn for_damaged_replies(mut read: impl FnMut(Protocol, &[Vec<u8>])) {
    for protocol in Protocol::ALL {
        let mut datagrams = Vec::new();
        let _ = query(protocol, |session, now, _, real| {
            receive(session, now, &real);
            datagrams.extend(real);
        });
        for index in 0..datagrams.len() {
            let whole = datagrams[index].clone();
            let cuts = twist::some_cuts(&whole, 10).map(<[u8]>::to_vec);
            let flips = twist::flips(&whole).step_by(1501);
            for damaged in cuts.chain(flips) {
                datagrams[index] = damaged;
                read(protocol, &datagrams);
            }
            datagrams[index] = whole;
        }
    }
    for text in ODD_STATUSES {
        let datagram = [b"\xff\xff\xff\xff", text].concat();
        read(Protocol::Quake3, std::slice::from_ref(&datagram));
        for flipped in twist::flips(&datagram).step_by(11) {
            read(Protocol::Quake3, &[flipped]);
        }
    }
}

/// A status has the completeness of its answer, whatever the reply.
#[test]
fn a_status_is_as_complete_as_its_answer() {
    let mut compared = [0; 2];
    for_damaged_replies(|protocol, datagrams| {
        let Ok(answer) = Answer::from_datagrams(protocol, datagrams, &Limits::default()) else {
            return;
        };
        let completeness = answer.completeness();
        assert_eq!(
            answer.to_status().completeness,
            completeness,
            "{protocol}: {datagrams:x?}"
        );
        compared[usize::from(completeness.is_complete())] += 1;
    });
    assert!(compared.iter().all(|count| *count > 40), "{compared:?}");
}

/// Datagrams that an answer keeps are the same answer again: as complete, and of the same status.
#[test]
fn kept_datagrams_are_the_same_answer_again() {
    let check = |answer: &Answer| {
        let protocol = answer.protocol();
        let kept: Vec<Vec<u8>> = answer.datagrams().map(<[u8]>::to_vec).collect();
        let again = Answer::from_datagrams(protocol, &kept, &Limits::default()).unwrap();
        let (mut status, status_again) = (answer.to_status(), again.to_status());
        status.verification = status_again.verification;
        assert_eq!(status_again, status, "{kept:x?}");
        assert!(again.datagrams().eq(kept), "{protocol}");
    };
    for_damaged_replies(|protocol, datagrams| {
        // A copy, and the damaged reply twice: the second time in the other order.
        let reversed = datagrams.iter().rev().cloned().collect::<Vec<_>>();
        let twice = [datagrams, &reversed].concat();
        for datagrams in [datagrams, &reversed, &twice] {
            let answer = Answer::from_datagrams(protocol, datagrams, &Limits::default());
            if let Ok(answer) = answer {
                check(&answer);
            }
        }
    });
    // A reply of GameSpy v1 with two texts of one number, and one of QuakeWorld in two datagrams
    // that arrive in the wrong order.
    let contradicted: [&[u8]; 3] = [
        br"\gamename\ut\hostname\Srv\queryid\4.1",
        br"\gamename\ut\hostname\Other\queryid\4.1",
        br"\player_0\Ann\queryid\4.2\final\",
    ];
    let long = format!("\\k\\{}\n", "v".repeat(1300));
    let first = [b"\xff\xff\xff\xffn", long.as_bytes(), b"\0"].concat();
    let rest = &b"\xff\xff\xff\xffn1 0 0 20 \"Ann\" \"\" 0 0\n\0"[..];
    for (protocol, datagrams, is_complete) in [
        (Protocol::GameSpy1, contradicted.to_vec(), false),
        (Protocol::Quake3, vec![rest, &first], false),
        (Protocol::Quake3, vec![&first[..], rest, rest], true),
    ] {
        let answer = Answer::from_datagrams(protocol, datagrams, &Limits::default()).unwrap();
        assert_eq!(
            answer.completeness().is_complete(),
            is_complete,
            "{protocol}"
        );
        check(&answer);
    }
}
