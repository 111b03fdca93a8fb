//! The remote console: recorded exchanges, and our client against our server's side over simulated
//! links.
use std::time::Duration;

use bytes::Bytes;
use queryport::model::Colours;
use queryport::quake3::{
    Command, Password, RconAnswer, RconError, RconMode, RconQuery, Reply, Request,
};
use queryport::session::{Conversation, OnTimeout, Remaining, Verdict};
use queryport::{ErrorKind, Limits, QueryError, Timing};

use crate::common::link::Conditions;
use crate::common::pair::play;
use crate::common::request;
use crate::quake3::exchange::from;

/// A console: the password is checked, then comes what the command prints.
fn console(datagram: &[u8], quake_world_word: bool, text: &[u8]) -> Vec<Bytes> {
    let Ok(Request {
        command: Command::Rcon(rcon),
        ..
    }) = Request::parse(datagram)
    else {
        return Vec::new();
    };
    if Password::new("secret").matches(rcon.password) {
        Reply::print(text, quake_world_word)
    } else {
        Reply::print(b"Bad rconpassword.\n", false)
    }
}

fn rcon(password: &str) -> RconQuery {
    RconQuery::new(
        Password::new(password),
        "status",
        RconMode::Plain,
        &Limits::default(),
    )
    .unwrap()
}

fn perfect() -> (Conditions, u64) {
    (Conditions::perfect(Duration::from_millis(30)), 1)
}

#[test]
fn no_output_is_an_answer_and_a_wrong_password_an_error() {
    let play_with = |password: &str| {
        let console = |datagram: &[u8]| console(datagram, false, b"");
        play(rcon(password), Timing::default(), perfect(), |_, _, d| {
            console(d)
        })
        .result
        .unwrap()
        .answer
    };
    assert_eq!(play_with("secret").unwrap().text.raw(), b"");
    assert_eq!(play_with("guess"), Err(RconError::BadPassword));
}

/// A map change can take longer than the time until a retry.
#[test]
fn an_answer_counts_until_the_timeout() {
    let slow = (Conditions::perfect(Duration::from_millis(1_700)), 1);
    let played = play(rcon("secret"), Timing::default(), slow, |_, _, datagram| {
        console(datagram, false, b"map: q3dm17\n")
    });
    let answer = played.result.unwrap().answer.unwrap();
    assert_eq!(answer.text.raw(), b"map: q3dm17\n");
}

/// A lost answer must not run the command a second time.
#[test]
fn a_command_runs_once() {
    let blackhole = |times: &mut u32| {
        *times += 1;
        Vec::new()
    };
    let mut times = 0;
    let played = play(rcon("secret"), Timing::default(), perfect(), |_, _, _| {
        blackhole(&mut times)
    });
    assert!(matches!(
        played.result,
        Err(QueryError::Timeout { requests: 1, .. })
    ));
    assert_eq!(times, 1);
}

/// The result of our conversation for a recorded answer to rcon.
fn recorded(name: &str) -> Result<RconAnswer, RconError> {
    let client = from(name, "client");
    let Command::Rcon(sent) = Request::parse(&client[0]).unwrap().command else {
        panic!("{name}")
    };
    let command = std::str::from_utf8(sent.command).unwrap();
    let mut query = RconQuery::new(
        Password::new(sent.password),
        command,
        RconMode::Plain,
        &Limits::default(),
    )
    .unwrap();
    assert_eq!(request(&mut query), client[0], "{name}: the request");
    for datagram in from(name, "server") {
        if let Verdict::Done(result) = query.receive(&datagram) {
            return result;
        }
    }
    let OnTimeout::Done(result) = query.timeout(Remaining::Step) else {
        panic!("{name}")
    };
    result
}

#[test]
fn answers_of_real_servers() {
    let status = recorded("openarena-rcon-status").unwrap();
    assert_eq!(status.lines().next().unwrap(), "map: ctf_compromise");
    assert!(status.lines().any(|line| line.plain().contains("Sarge")) && !status.is_cut);

    let cvars = recorded("openarena-rcon-cvarlist").unwrap();
    assert_eq!(cvars.datagrams, 4);
    // Pieces split lines anywhere; joined, every line is complete again, and the server counts
    // them.
    let lines: Vec<String> = cvars
        .lines()
        .map(|line| line.plain().into_owned())
        .collect();
    let total = lines
        .iter()
        .find_map(|line| line.strip_suffix(" total cvars"))
        .unwrap();
    assert!(total.parse::<u32>().is_ok(), "{total}");
    assert_eq!(lines.iter().filter(|line| line.contains(" g_")).count(), 97);

    let status = recorded("etlegacy-rcon-status").unwrap();
    assert_eq!(status.datagrams, 3, "ET: Legacy flushes within a line");
    assert!(
        status
            .lines()
            .any(|line| line.plain().contains("0 CNCT Ann ")),
        "{:?}",
        status.text
    );

    let unknown = recorded("openarena-rcon-unknown-command").unwrap();
    assert_eq!(unknown.text.raw(), b"unknown command: nosuchcommand\n");
    assert_eq!(
        recorded("openarena-rcon-bad-password"),
        Err(RconError::BadPassword)
    );
    assert_eq!(
        recorded("ioquake3-rcon-no-password"),
        Err(RconError::NoPassword)
    );
    let mvdsv = recorded("mvdsv-rcon-status").unwrap();
    assert_eq!(mvdsv.text.style().charset, queryport::model::Charset::Quake);
    assert!(
        mvdsv
            .lines()
            .any(|line| line.plain().starts_with("'x' [y] "))
    );
    assert!(mvdsv.text.raw().ends_with(b"\n"), "without the NUL");
    assert_eq!(
        recorded("mvdsv-rcon-bad-password"),
        Err(RconError::BadPassword)
    );
    let nexuiz = recorded("nexuiz-rcon-unknown-command").unwrap();
    assert_eq!(
        (nexuiz.text.style().colours, nexuiz.text.raw()),
        (
            Colours::DarkPlaces,
            &b"Unknown command \"nosuchcommand\"\n"[..]
        )
    );
}

#[test]
fn signed_commands_that_a_real_server_took() {
    for (name, timed) in [
        ("nexuiz-srcon-time", true),
        ("nexuiz-srcon-challenge", false),
    ] {
        let client = from(name, "client");
        let Command::SecureRcon(signed) = Request::parse(client.last().unwrap()).unwrap().command
        else {
            panic!("{name}")
        };
        assert_eq!(signed.timed, timed);
        if !timed {
            let server = from(name, "server");
            let Reply::Challenge { challenge, .. } = Reply::parse(&server[0]).unwrap() else {
                panic!()
            };
            assert_eq!(signed.nonce(), challenge);
        }
        if timed {
            let nonce = std::str::from_utf8(signed.nonce()).unwrap();
            let time = Duration::from_micros(nonce.replace('.', "").parse().unwrap());
            let limits = Limits::default();
            let mut query =
                RconQuery::new(Password::new("secret"), "status 1", RconMode::Time, &limits)
                    .unwrap()
                    .at(time);
            assert_eq!(crate::common::request(&mut query), client[0]);
            assert_eq!(query.timeout(Remaining::Retry), OnTimeout::Wait, "once");
        }
        assert!(
            signed.verify(&Password::new("secret")) && !signed.verify(&Password::new("Secret")),
            "{name}"
        );
    }
}

#[test]
fn signed_commands_over_a_bad_link() {
    use queryport::{Protocol, ServerStatus, Service};

    let service = Service::from(Protocol::Quake3);
    let mut answered = 0;
    for seed in 0..30 {
        let mut requester = crate::common::requester("192.0.2.1:5000");
        let password = Password::new("secret");
        let query =
            RconQuery::new(password, "status", RconMode::Challenge, &Limits::default()).unwrap();
        let timing = Timing::default()
            .with_timeout(Duration::from_secs(20))
            .with_retries(9);
        let mut runs = 0;
        let played = play(
            query,
            timing,
            (Conditions::bad(), seed),
            |now, from, datagram| {
                (requester.now, requester.address) = (now, from);
                let request = Request::parse(datagram).unwrap();
                let Command::SecureRcon(signed) = request.command else {
                    let replies = queryport::quake3::respond(
                        &request,
                        &ServerStatus::default(),
                        &service,
                        &requester,
                    );
                    return replies.into_iter().collect();
                };
                assert!(!signed.timed);
                assert!(signed.verify(&Password::new("secret")));
                assert!(queryport::quake3::verify_challenge(
                    signed.nonce(),
                    &requester
                ));
                runs += 1;
                Reply::print(b"ok\n", true)
            },
        );
        match played.result {
            Ok(outcome) => {
                let answer = outcome.answer.unwrap();
                answered += u32::from(answer.text.raw().starts_with(b"ok\n"));
            }
            Err(error) => assert_eq!(error.kind(), ErrorKind::Timeout, "seed {seed}"),
        }
        assert!(runs <= 2, "seed {seed}: {runs} copies");
    }
    assert!(answered >= 20, "{answered} of 30");
}

#[test]
fn recorded_refusals_of_a_command_are_errors() {
    for name in [
        "daemon-rcon-bad-password",
        "darkplaces-rcon-bad-password",
        "jk2mv-rcon-bad-password",
        "openarena-rcon-bad-password",
        "warsow-rcon-bad-password",
    ] {
        let mut query = rcon("wrong");
        assert!(
            from(name, "client")[0].starts_with(&request(&mut query)[..9]),
            "{name}"
        );
        let verdict = query.receive(&from(name, "server")[0]);
        assert_eq!(
            verdict,
            Verdict::Done(Err(RconError::BadPassword)),
            "{name}"
        );
    }
}

#[test]
fn recorded_output_is_no_refusal() {
    let mut query = rcon("secret");
    query.receive(&from("daemon-rcon-status", "server")[0]);
    let OnTimeout::Done(Ok(answer)) = query.timeout(Remaining::Step) else {
        panic!()
    };
    let last = answer.lines().last().unwrap();
    assert_eq!(last.raw(), b"(end server status)");
}

/// A reply to rcon does not name the engine: only codes that all engines with codes have are
/// removed. Other carets are text in some engines.
#[test]
fn carets_that_are_text_in_some_engines_stay_in_output() {
    for (reply, plain) in [
        (
            &b"print\n<^_^> 2^a ^^1red^7 ^x0f0 ^\n"[..],
            "<^_^> 2^a ^red ^x0f0 ^",
        ),
        (b"n<^_^> 2^a ^1red^7\n", "<^_^> 2^a red"),
    ] {
        let mut query = rcon("secret");
        query.receive(&[b"\xff\xff\xff\xff", reply].concat());
        let OnTimeout::Done(Ok(answer)) = query.timeout(Remaining::Step) else {
            panic!()
        };
        assert_eq!(answer.lines().next().unwrap().plain(), plain);
        assert!(reply.ends_with(answer.text.raw()), "no byte is lost");
    }
}
