//! Connecting and remote console in virtual time: lossy links, our server's side against our client's, and what
//! strangers and hurried servers do.
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use crate::common::link::Conditions;
use crate::common::pair::play;
use bytes::Bytes;
use proptest::prelude::*;
use queryport::Limits;
use queryport::QueryError;
use queryport::Secret;
use queryport::Timing;
use queryport::quake3::{
    Challenges, Command, ConnectQuery, ConnectReply, Connected, InfoString, Password, PrintForm, RconError,
    RconQuery, RconRequest, Reason, Refusal, Reply, Request, huffman, print,
};

const GAME: &[u8] = b"Quake3Arena";

/// A game server's door: challenges without a table, one place, refusals in the engines' words.
struct Door {
    challenges: Challenges,
    places: usize,
    inside: Vec<SocketAddr>,
}

impl Door {
    fn new(places: usize) -> Self {
        Self { challenges: Challenges::new(Secret::new([3; 16]), Instant::now()), places, inside: Vec::new() }
    }

    fn answer(&mut self, now: Instant, from: SocketAddr, datagram: &[u8]) -> Vec<Bytes> {
        let refuse = |text: &str| {
            let mut out = Vec::new();
            Reply::Print { text: text.as_bytes(), form: PrintForm::Quake3 }.encode(&mut out);
            vec![out.into()]
        };
        match Request::parse(datagram).map(|request| request.command) {
            Ok(Command::GetChallenge { game: Some(game), .. }) if game != GAME => {
                refuse("Game mismatch: This is a Quake3Arena server\n")
            }
            Ok(Command::GetChallenge { client, .. }) => {
                let mut out = Vec::new();
                self.challenges.answer(now, from, client, 71, &mut out);
                vec![out.into()]
            }
            Ok(Command::Connect(connect)) => {
                let Ok(userinfo) = connect.userinfo() else { return Vec::new() };
                let info = InfoString::new(&userinfo);
                let challenge = info.get("challenge").unwrap_or_default();
                if info.get("protocol") != Some(b"71") {
                    return refuse("Server uses protocol version 71 (yours is 0).\n");
                }
                if !self.challenges.verify(now, from, challenge) {
                    return refuse("No or bad challenge for your address.\n");
                }
                if !self.inside.contains(&from) {
                    if self.inside.len() >= self.places {
                        return refuse("Server is full.\n");
                    }
                    self.inside.push(from);
                }
                let mut out = Vec::new();
                Reply::Connected(ConnectReply::new(Some(challenge))).encode(&mut out);
                vec![out.into()]
            }
            _ => Vec::new(),
        }
    }
}

fn connect(
    query: ConnectQuery,
    door: &mut Door,
    link: (Conditions, u64),
) -> Result<Result<Connected, Refusal>, QueryError> {
    let timing = Timing::default().with_timeout(Duration::from_secs(30)).with_retries(12);
    let played = play(query, timing, link, |now, from, datagram| door.answer(now, from, datagram));
    played.result.map(|outcome| outcome.answer)
}

fn guest() -> ConnectQuery {
    ConnectQuery::new(77).with_game("Quake3Arena").with("name", "Ann").unwrap()
}

#[test]
fn a_client_gets_its_place_over_a_bad_link() {
    for seed in 0..40 {
        let mut door = Door::new(1);
        let place = connect(guest(), &mut door, (Conditions::bad(), seed)).unwrap().unwrap();
        assert!(place.quoted());
        assert_eq!(door.inside.len(), 1, "seed {seed}: one place, however often it was asked for");
    }
}

#[test]
fn refusals_are_errors_with_a_reason() {
    let link = || (Conditions::perfect(Duration::from_millis(20)), 1);
    let refused = |query, places| connect(query, &mut Door::new(places), link()).unwrap().unwrap_err();
    assert_eq!(refused(guest(), 0).reason(), Reason::ServerFull);
    assert_eq!(refused(guest().with_protocol(68), 1).reason(), Reason::WrongProtocol);
    let other = ConnectQuery::new(1).with_game("Other");
    assert_eq!(refused(other, 1).reason(), Reason::WrongGame);
}

/// A server that forgets its challenges before the client is there.
#[test]
fn a_stale_challenge_is_refused() {
    let mut door = Door::new(1);
    door.challenges =
        Challenges::new(Secret::new([3; 16]), Instant::now()).with_lifetime(Duration::from_secs(1));
    let slow = (Conditions::perfect(Duration::from_millis(1500)), 1);
    let timing =
        Timing::default().with_timeout(Duration::from_secs(30)).with_retry_after(Duration::from_secs(9));
    let played = play(guest(), timing, slow, |now, from, datagram| door.answer(now, from, datagram));
    assert_eq!(played.result.unwrap().answer.unwrap_err().reason(), Reason::BadChallenge);
}

/// A server that answers every step with another challenge must not keep the client busy for ever.
#[test]
fn a_server_that_only_hands_out_challenges_ends_the_query() {
    let link = (Conditions::perfect(Duration::from_millis(5)), 1);
    let played = play(guest(), Timing::default(), link, |_, _, _| {
        vec![Bytes::from_static(b"\xff\xff\xff\xffchallengeResponse 5")]
    });
    assert!(matches!(played.result, Err(QueryError::NoUsableAnswer { .. })));
    assert!(played.elapsed <= Timing::default().timeout());
}

/// A console: the password, then what the command prints.
fn console(datagram: &[u8], form: PrintForm, text: &[u8]) -> Vec<Bytes> {
    let Ok(Request { command: Command::Rcon(rcon), .. }) = Request::parse(datagram) else {
        return Vec::new();
    };
    if Password::new("secret").matches(rcon.password) {
        print(text, form)
    } else {
        print(b"Bad rconpassword.\n", PrintForm::Quake3)
    }
}

fn rcon(password: &str) -> RconQuery {
    RconQuery::new(Password::new(password.to_owned()), "status", &Limits::default()).unwrap()
}

#[test]
fn long_output_is_joined_and_ends_by_quiet() {
    let text: Vec<u8> = (0..200).flat_map(|n| format!("line {n} with a few words\n").into_bytes()).collect();
    for form in [PrintForm::Quake3, PrintForm::QuakeWorld] {
        let link = (Conditions::perfect(Duration::from_millis(30)), 1);
        let played = play(rcon("secret"), Timing::default(), link, |_, _, d| console(d, form, &text));
        let answer = played.result.unwrap().answer.unwrap();
        assert_eq!((&answer.raw()[..], answer.form()), (&text[..], form));
        assert_eq!(answer.lines().count(), 200);
        assert!(answer.completeness().is_complete() && answer.datagrams() > 3);
        assert_eq!(played.elapsed, Duration::from_millis(60 + 300), "a round trip and the quiet");
    }
}

#[test]
fn no_output_is_an_answer_and_a_wrong_password_an_error() {
    let link = || (Conditions::perfect(Duration::from_millis(30)), 1);
    let play_with = |password: &str| {
        play(rcon(password), Timing::default(), link(), |_, _, d| console(d, PrintForm::Quake3, b""))
            .result
            .unwrap()
            .answer
    };
    assert_eq!(play_with("secret").unwrap().raw(), "");
    assert_eq!(play_with("guess"), Err(RconError::BadPassword));
}

/// A lost answer must not run the command a second time, unless the caller says that it may.
#[test]
fn a_command_runs_once() {
    let blackhole = |times: &mut u32| {
        *times += 1;
        Vec::new()
    };
    let link = || (Conditions::perfect(Duration::from_millis(30)), 1);
    let mut times = 0;
    let played = play(rcon("secret"), Timing::default(), link(), |_, _, _| blackhole(&mut times));
    assert_eq!((played.result.unwrap().answer, times), (Err(RconError::NoAnswer), 1));
    times = 0;
    let played =
        play(rcon("secret").repeatable(), Timing::default(), link(), |_, _, _| blackhole(&mut times));
    assert!(matches!(played.result, Err(QueryError::NoAnswer { requests: 3, .. })));
    assert_eq!(times, 3);
}

/// Where others fall: «endless stream, never final: never end».
#[test]
fn a_server_that_never_stops_printing_is_cut_off_and_told() {
    let link = (Conditions::perfect(Duration::from_millis(5)), 1);
    let flood = vec![Bytes::from_static(b"\xff\xff\xff\xffprint\nmore\n"); 4000];
    let played = play(rcon("secret"), Timing::default(), link, |_, _, _| flood.clone());
    let answer = played.result.unwrap().answer.unwrap();
    assert_eq!(usize::from(answer.datagrams()), Limits::default().max_fragments());
    assert!(!answer.completeness().is_complete());
}

#[cfg(feature = "secure-rcon")]
#[test]
fn signed_commands_over_a_bad_link() {
    use queryport::quake3::{SecureMode, SecureRconQuery};

    let limits = Limits::default();
    let mut answered = 0;
    for seed in 0..30 {
        let challenges = Challenges::new(Secret::new([3; 16]), Instant::now());
        let query = SecureRconQuery::with_challenge(Password::new("secret"), "status", &limits).unwrap();
        let timing = Timing::default().with_timeout(Duration::from_secs(20)).with_retries(9);
        let mut runs = 0;
        let played = play(query, timing, (Conditions::bad(), seed), |now, from, datagram| {
            match Request::parse(datagram).map(|request| request.command) {
                Ok(Command::GetChallenge { .. }) => {
                    let mut out = Vec::new();
                    challenges.answer(now, from, None, 0, &mut out);
                    vec![out.into()]
                }
                Ok(Command::SecureRcon(signed)) => {
                    assert_eq!(signed.mode, SecureMode::Challenge);
                    assert!(signed.verify(&Password::new("secret")));
                    assert!(challenges.verify(now, from, signed.nonce()));
                    runs += 1;
                    print(b"ok\n", PrintForm::QuakeWorld)
                }
                _ => Vec::new(),
            }
        });
        match played.result.unwrap().answer {
            // The link may deliver a datagram twice; the client sent it once.
            Ok(answer) => answered += u32::from(answer.raw().starts_with(b"ok\n")),
            Err(error) => assert_eq!(error, RconError::NoAnswer, "seed {seed}"),
        }
        assert!(runs <= 2, "seed {seed}: {runs} copies");
    }
    assert!(answered >= 20, "{answered} of 30");
}

fn word() -> impl Strategy<Value = String> {
    "[!#-:<-~]{1,20}".prop_filter("no comments", |word| !word.contains("//") && !word.contains("/*"))
}

proptest! {
    #[test]
    fn coded_texts_come_back(plain in prop::collection::vec(any::<u8>(), 0..600)) {
        let mut coded = Vec::new();
        huffman::compress(&plain, &mut coded).unwrap();
        prop_assert_eq!(huffman::decompress(&coded, 600).unwrap(), plain.clone());
        // id's spare byte may be missing, and more may follow.
        let bits: Vec<u8> = coded.iter().copied().chain([0xAA; 3]).collect();
        prop_assert_eq!(huffman::decompress(&bits, 600).unwrap(), plain);
    }

    #[test]
    fn damaged_codings_never_panic_nor_grow(coded in prop::collection::vec(any::<u8>(), 0..300)) {
        if let Ok(plain) = huffman::decompress(&coded, 65_535) {
            prop_assert!(plain.len() <= coded.len() * 8);
        }
    }

    #[test]
    fn rcon_requests_read_as_they_were_written(password in word(), command in "[ -~]{0,60}") {
        let request = RconRequest::new(password.as_bytes(), command.trim_start().as_bytes());
        let mut out = Vec::new();
        Request::new(Command::Rcon(request)).encode(&mut out).unwrap();
        prop_assert_eq!(Request::parse(&out).unwrap().command, Command::Rcon(request));
    }

    #[test]
    fn pieces_of_any_text_join_to_it(text in prop::collection::vec(any::<u8>(), 0..5000)) {
        let pieces = print(&text, PrintForm::Quake3);
        prop_assert!(pieces.iter().all(|piece| piece.len() <= 1017));
        let joined = queryport::quake3::RconAnswer::from_datagrams(pieces, &Limits::default()).unwrap();
        prop_assert_eq!(&joined.raw()[..], &text[..]);
    }
}
