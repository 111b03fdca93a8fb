//! GameSpy v1's conversations in virtual time: lossy links, our client against our server, and the tricks on which
//! others fall.
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use crate::common::link::Conditions;
use crate::common::pair::{SERVER, play};
use bytes::Bytes;
use queryport::Limits;
use queryport::Protocol;
use queryport::gamespy1::{Answer, Command, CommandsQuery, Request, StatusQuery, secure, server};
use queryport::model::Missing;
use queryport::serve::{Responder, Service};
use queryport::session::Session;
use queryport::{Completeness, Player, ServerStatus};
use queryport::{Outcome, Timing};
use queryport::{ParseErrorKind, QueryError};

fn status(players: usize) -> ServerStatus {
    let mut status = ServerStatus::default();
    status.name = Some("Grün & Söhne".into());
    status.map = Some("CTF-Coret".into());
    status.game = Some("ut".into());
    status.max_players = Some(64);
    status.players = Some((0..players).map(player).collect());
    status.rules = (0..30).map(|rule| (format!("rule{rule}"), "some value")).collect();
    status
}

fn player(number: usize) -> Player {
    let mut player = Player::new(format!("player number {number}"));
    player.score = Some(number as i64 - 3);
    player.ping = Some(40);
    player.team = Some(255);
    player.extra.push("mesh", "Male Commando");
    player.extra.push("face", "");
    player
}

fn options(dialect: server::Dialect) -> server::Options {
    let mut options = server::Options::default();
    options.dialect = dialect;
    options
}

/// A server with a counter of its own.
fn serve(options: server::Options) -> impl FnMut(Instant, SocketAddr, &[u8]) -> Vec<Bytes> {
    let (status, mut count) = (status(24), 0);
    move |_, _, datagram| {
        let Ok(request) = Request::parse(datagram) else { return Vec::new() };
        let replies = server::answer(&request, &status, &options, count);
        count += 1;
        replies
    }
}

fn query() -> StatusQuery {
    StatusQuery::new(Limits::default())
}

const DIALECTS: [server::Dialect; 2] = [server::Dialect::Unreal, server::Dialect::Qr1];

#[test]
fn our_client_reads_our_server_in_both_dialects() {
    for dialect in DIALECTS {
        let conditions = (Conditions::perfect(Duration::from_millis(20)), 0);
        let played = play(query(), Timing::default(), conditions, serve(options(dialect)));
        let outcome = played.result.unwrap();
        assert_eq!(outcome.elapsed, Duration::from_millis(40), "one round trip");
        let read = outcome.answer.to_status();
        let wanted = status(24);
        assert_eq!(read.name.unwrap().plain(), "Grün & Söhne");
        assert_eq!((read.map, read.game, read.max_players), (wanted.map, wanted.game, wanted.max_players));
        assert_eq!(read.player_count, Some(24));
        let (read, wanted) = (read.players.unwrap(), wanted.players.unwrap());
        assert_eq!(read.len(), 24);
        for (read, wanted) in read.iter().zip(&wanted) {
            assert_eq!(read.name.plain(), wanted.name.plain());
            assert_eq!((read.score, read.ping, read.team), (wanted.score, wanted.ping, wanted.team));
            assert!(
                read.extra
                    .iter()
                    .map(|(k, v)| (k.raw(), v.raw()))
                    .eq(wanted.extra.iter().map(|(k, v)| (k.raw(), v.raw())))
            );
        }
    }
}

#[test]
fn over_a_bad_link_an_answer_is_right_or_says_what_it_lacks() {
    let (mut complete, mut partial, mut silent) = (0, 0, 0);
    for seed in 0..300 {
        let conditions = Conditions { loss: 0.3, ..Conditions::bad() };
        let dialect = DIALECTS[usize::from(seed % 2 == 0)];
        let played = play(query(), Timing::default(), (conditions, seed), serve(options(dialect)));
        assert!(played.elapsed <= Duration::from_secs(4));
        match played.result {
            Ok(outcome) => {
                let status = outcome.answer.to_status();
                let players = status.listed_players();
                assert!(players.iter().all(|player| player.name.plain().starts_with("player number")));
                if status.completeness.is_complete() {
                    complete += 1;
                    assert_eq!((players.len(), status.rules.len() >= 30), (24, true), "seed {seed}");
                } else {
                    partial += 1;
                    assert!(players.len() <= 24);
                }
            }
            Err(QueryError::NoAnswer { .. }) => silent += 1,
            Err(error) => panic!("seed {seed}: {error}"),
        }
    }
    assert!(complete > 150 && partial > 5, "{complete} complete, {partial} partial, {silent} silent");
}

#[test]
fn a_corrupting_link_never_yields_more_players() {
    for seed in 0..300 {
        let conditions = Conditions { corruption: 0.3, ..Conditions::bad() };
        let served = serve(options(DIALECTS[usize::from(seed % 2 == 0)]));
        let played = play(query(), Timing::default(), (conditions, seed), served);
        if let Ok(outcome) = played.result {
            assert!(outcome.answer.to_status().listed_players().len() <= 24, "seed {seed}");
        }
    }
}

/// A session that has asked, and hears what it is told.
struct Rig {
    session: Session<StatusQuery>,
    now: Instant,
    sent: u32,
}

impl Rig {
    fn new() -> Self {
        let now = Instant::now();
        let session = Session::new(query(), at(SERVER), Timing::default(), &Limits::default(), now);
        let mut rig = Self { session, now, sent: 0 };
        rig.send();
        rig
    }

    fn send(&mut self) {
        self.sent += u32::from(self.session.poll_transmit(self.now, &mut Vec::new()).is_some());
    }

    fn hear(&mut self, datagram: &[u8]) {
        self.session.handle_datagram(self.now, at(SERVER), datagram);
    }

    fn pass(&mut self, ms: u64) {
        self.now += Duration::from_millis(ms);
        self.session.handle_timeout(self.now);
        self.send();
    }

    fn outcome(&mut self) -> Option<Outcome<Answer>> {
        self.session.poll_answer().map(Result::unwrap)
    }

    fn to_the_end(&mut self) -> Result<Outcome<Answer>, QueryError> {
        loop {
            if let Some(result) = self.session.poll_answer() {
                return result;
            }
            self.pass(50);
        }
    }
}

fn at(address: &str) -> SocketAddr {
    address.parse().unwrap()
}

fn names(answer: &Answer) -> Vec<String> {
    answer.to_status().listed_players().iter().map(|player| player.name.plain().into_owned()).collect()
}

/// Where others fall: «reply from another address or port; spoofed reply first: rust gamedig accepts it».
#[test]
fn replies_from_elsewhere_change_nothing() {
    let mut rig = Rig::new();
    for foreign in ["192.0.2.2:27961", "192.0.2.9:27960"] {
        let spoofed = br"\hostname\x\player_0\spoofed\final\\queryid\1.1";
        rig.session.handle_datagram(rig.now, at(foreign), spoofed);
    }
    rig.hear(br"\hostname\x\player_0\real\final\\queryid\2.1");
    let outcome = rig.outcome().unwrap();
    assert_eq!((outcome.stats.foreign, names(&outcome.answer)), (2, vec!["real".to_owned()]));
}

/// Where others fall: «GS1 fragments of another reply number: qstat, opengsq, GameQ merge them».
#[test]
fn fragments_of_another_reply_are_not_merged() {
    let mut rig = Rig::new();
    rig.hear(br"\hostname\Srv\player_0\a\queryid\20.1");
    rig.hear(br"\player_1\foreign\queryid\21.2\final\");
    rig.hear(br"\player_9\foreign\queryid\19.3");
    assert!(rig.outcome().is_none());
    rig.hear(br"\player_1\b\queryid\20.2\final\");
    let outcome = rig.outcome().unwrap();
    assert_eq!((outcome.stats.rejected, names(&outcome.answer)), (2, vec!["a".to_owned(), "b".to_owned()]));
}

/// Where others fall: «fragments reversed: qstat 2 of 11 players, opengsq loses all server keys, rust gamedig fails».
#[test]
fn reversed_fragments_are_put_in_order() {
    let mut rig = Rig::new();
    rig.hear(br"\player_2\c\final\\queryid\20.3");
    rig.hear(br"\player_1\b\queryid\20.2");
    assert!(rig.outcome().is_none(), "the end is not the whole");
    rig.hear(br"\hostname\Srv\player_0\a\queryid\20.1");
    let outcome = rig.outcome().unwrap();
    assert_eq!(names(&outcome.answer), ["a", "b", "c"]);
    assert_eq!(outcome.answer.fields().get("hostname"), Some(&b"Srv"[..]));
}

/// Where others fall: «last GS1 fragment missing: qstat and GameQ 9 of 11 players, no error».
#[test]
fn a_missing_last_fragment_is_told() {
    let mut rig = Rig::new();
    rig.hear(br"\hostname\Srv\player_0\a\queryid\20.1");
    let outcome = rig.to_the_end().unwrap();
    assert!(matches!(outcome.answer.completeness(), Completeness::Incomplete(Missing { end: true, .. })));
    assert_eq!(names(&outcome.answer), ["a"]);
    assert_eq!((outcome.stats.requests, rig.sent), (3, 3), "it was asked again before that");
}

/// A retry has a number of its own, and its fragments are not mixed with the first ones.
#[test]
fn a_retry_is_a_reply_of_its_own() {
    let mut rig = Rig::new();
    rig.hear(br"\hostname\Srv\player_0\old\queryid\20.1");
    rig.pass(1200);
    assert_eq!(rig.sent, 2);
    rig.hear(br"\player_1\new\final\\queryid\21.2");
    assert!(rig.outcome().is_none());
    rig.hear(br"\hostname\Srv\player_0\newer\queryid\21.1");
    assert_eq!(names(&rig.outcome().unwrap().answer), ["newer", "new"]);
}

/// Without a reply number, late fragments of the first try could complete the second.
#[test]
fn a_retry_without_reply_numbers_starts_anew() {
    let mut rig = Rig::new();
    rig.hear(br"\statusresponse\0\hostname\Srv\player_0\old\score_0\eof\");
    rig.pass(1200);
    rig.hear(br"\statusresponse\1\7\queryid\AMv1\final\\eof\");
    assert!(rig.outcome().is_none(), "the value of another try's key");
    rig.hear(br"\statusresponse\0\hostname\Srv\player_0\new\score_0\eof\");
    let outcome = rig.outcome().unwrap();
    assert_eq!(outcome.answer.to_status().listed_players()[0].score, Some(7));
    assert_eq!(names(&outcome.answer), ["new"]);
}

/// Where others fall: «every datagram twice: node gamedig doubles; rust gamedig fails», «second copy with other content
/// later: node gamedig and GameQ double or replace».
#[test]
fn copies_are_dropped_and_the_first_stands() {
    let mut rig = Rig::new();
    for _ in 0..2 {
        rig.hear(br"\hostname\Srv\player_0\a\queryid\20.1");
    }
    rig.hear(br"\hostname\Srv\player_0\forged\player_7\forged\queryid\20.1");
    for _ in 0..2 {
        rig.hear(br"\player_1\b\queryid\20.2\final\");
    }
    let outcome = rig.outcome().unwrap();
    assert_eq!(names(&outcome.answer), ["a", "b"]);
    assert_eq!(rig.session.stats().late, 1);
}

/// Where others fall: «endless stream, never final: qstat, rust gamedig, opengsq never end».
#[test]
fn an_endless_stream_ends_at_the_deadline() {
    let mut rig = Rig::new();
    let start = rig.now;
    let mut number = 0;
    while rig.session.poll_timeout().is_some() {
        number += 1;
        rig.hear(format!("\\player_{number}\\x\\queryid\\1.{number}").as_bytes());
        rig.hear(b"");
        rig.pass(10);
    }
    assert_eq!(rig.now - start, Timing::default().timeout());
    let outcome = rig.outcome().unwrap();
    assert!(!outcome.answer.completeness().is_complete());
    assert!(outcome.answer.to_status().listed_players().len() <= Limits::default().max_fragments());
}

/// Where others fall: «empty datagram; `player_4000000000`: rust gamedig panics, aborts the process».
#[test]
fn hostile_numbers_cost_nothing() {
    let mut rig = Rig::new();
    rig.hear(b"");
    rig.hear(b"\0");
    rig.hear(br"\a\b\queryid\1.4294967295\final\");
    rig.hear(br"\a\b\queryid\1.99999999999999999999\final\");
    rig.hear(br"\hostname\x\player_4000000000\far\player_18446744073709551615\farther\maxplayers\99999999999\queryid\2.1\final\");
    let outcome = rig.outcome().unwrap();
    let status = outcome.answer.to_status();
    assert_eq!(names(&outcome.answer), ["far"]);
    assert_eq!(status.max_players, None);
    assert_eq!(status.rules.get("player_18446744073709551615").unwrap().raw(), b"farther", "kept as it came");
}

/// UT99 ties its end mark to a count of players, and loses it when fewer are listed.
#[test]
fn a_server_that_never_ends_is_asked_twice_and_not_thrice() {
    let mut rig = Rig::new();
    for number in [20, 21] {
        rig.hear(format!(r"\hostname\Srv\numplayers\2\player_0\a\queryid\{number}.1").as_bytes());
        rig.pass(1800);
    }
    let outcome = rig.to_the_end().unwrap();
    assert_eq!(rig.sent, 2);
    assert_eq!(names(&outcome.answer), ["a"]);
    assert!(!outcome.answer.completeness().is_complete());
}

/// Where nothing is numbered, the end mark may have overtaken another datagram: one round trip is waited.
#[test]
fn an_end_without_numbers_waits_for_stragglers() {
    let mut rig = Rig::new();
    rig.pass(30);
    rig.hear(br"\numplayers\0\final\");
    assert!(rig.outcome().is_none());
    rig.hear(br"\hostname\Srv");
    rig.pass(30);
    let outcome = rig.outcome().unwrap();
    assert!(outcome.answer.completeness().is_complete());
    assert_eq!(outcome.answer.fields().iter().count(), 2);
    assert_eq!(rig.sent, 1);
}

/// Numbers from 0 show no gap when the first fragment is lost, but a status without name and map is none.
#[test]
fn a_status_without_description_is_incomplete() {
    let mut rig = Rig::new();
    rig.hear(br"\player_1\b\queryid\20.1\final\");
    let outcome = rig.outcome().unwrap();
    let completeness = outcome.answer.completeness();
    assert!(matches!(completeness, Completeness::Incomplete(Missing { info: true, .. })), "{completeness:?}");
}

#[test]
fn nonsense_is_named() {
    let mut rig = Rig::new();
    rig.hear(br"\status\");
    rig.hear(b"\xff\xff\xff\xffstatusResponse\n\\a\\b\n");
    match rig.to_the_end() {
        Err(QueryError::NoUsableAnswer { requests: 3, rejected: 2, last, .. }) => {
            assert_eq!(last.kind, ParseErrorKind::NotThisProtocol("a backslash"));
        }
        other => panic!("{other:?}"),
    }
}

mod commands {
    use super::*;

    fn ask(commands: &[Command<'_>], options: server::Options) -> Result<Answer, QueryError> {
        let query = CommandsQuery::new(commands, Limits::default()).unwrap();
        let conditions = (Conditions::perfect(Duration::from_millis(5)), 0);
        play(query, Timing::default(), conditions, serve(options)).result.map(|outcome| outcome.answer)
    }

    fn is_silent(commands: &[Command<'_>], options: server::Options) -> bool {
        matches!(ask(commands, options), Err(QueryError::NoAnswer { .. }))
    }

    #[test]
    fn each_has_its_answer() {
        for dialect in DIALECTS {
            let ask = |command| ask(&[command], options(dialect)).unwrap();
            assert_eq!(ask(Command::Basic).fields().get("gamename"), Some(&b"ut"[..]));
            assert_eq!(ask(Command::Info).fields().get("mapname"), Some(&b"CTF-Coret"[..]));
            assert_eq!(ask(Command::Rules).fields().get("rule7"), Some(&b"some value"[..]));
            assert_eq!(names(&ask(Command::Players)).len(), 24);
            assert_eq!(names(&ask(Command::Packets)).len(), 24);
            assert_eq!(names(&ask(Command::XSERVERQUERY)).len(), 24);
            assert!(ask(Command::Teams).completeness().is_complete());
        }
    }

    #[test]
    fn answers_come_in_the_order_of_the_dialect() {
        let asked = [Command::Info, Command::Basic];
        let first_key = |dialect| {
            let answer = ask(&asked, options(dialect)).unwrap();
            answer.fields().iter().next().map(|(key, _)| key.to_vec()).unwrap()
        };
        assert_eq!(first_key(server::Dialect::Unreal), b"hostname");
        assert_eq!(first_key(server::Dialect::Qr1), b"gamename");
    }

    #[test]
    fn echo_and_properties_are_off_unless_asked_for() {
        let asked =
            [Command::Echo(b"hello"), Command::LevelProperty(b"Title"), Command::PlayerProperty(b"mesh")];
        for dialect in DIALECTS {
            for command in asked {
                assert!(is_silent(&[command], options(dialect)), "{command:?}");
            }
            let mut options = options(dialect);
            options.echo = true;
            let mut properties = server::Properties::default();
            properties.level.push("Title", "Coret Facility");
            properties.players = true;
            options.properties = Some(properties);
            let ask = |command| ask(&[command], options.clone()).unwrap();
            assert_eq!(ask(Command::Echo(b"hello")).echo().unwrap().1, b"hello");
            let level = ask(Command::LevelProperty(b"Title"));
            assert_eq!(level.property("title"), Some(&b"Coret Facility"[..]));
            assert_eq!(
                ask(Command::GameProperty(b"AdminPassword")).property("AdminPassword"),
                Some(&b""[..])
            );
            let meshes = ask(Command::PlayerProperty(b"mesh"));
            let meshes: Vec<_> = meshes.player_property("mesh").collect();
            assert_eq!((meshes.len(), meshes[0]), (24, (1, &b"Male Commando"[..])), "rows from 1");
            assert!(is_silent(&[Command::Echo(&[b'x'; 51])], options.clone()));
        }
    }

    #[test]
    fn a_key_is_proved_to_those_who_ask() {
        let key = secure::GameKey::new("Nm3aZ9").unwrap();
        for dialect in DIALECTS {
            assert!(is_silent(&[Command::Secure(b"LRPOPQ")], options(dialect)), "without a key");
            let mut options = options(dialect);
            options.key = Some(key.clone());
            let answer = ask(&[Command::Secure(b"LRPOPQ"), Command::Basic], options.clone()).unwrap();
            assert_eq!(answer.validate(), Some(&b"hMwdTNWS"[..]));
            assert_eq!(answer.fields().get("gamename"), Some(&b"ut"[..]));
            for unfair in [&b"short"[..], b"longer than sixteen", b"a b c d"] {
                assert!(is_silent(&[Command::Secure(unfair)], options.clone()));
            }
        }
    }

    #[test]
    fn unknown_commands_are_met_with_silence() {
        for dialect in DIALECTS {
            assert!(is_silent(&[Command::Other { name: b"about", value: b"" }], options(dialect)));
        }
    }

    /// A server that knows the echo answers what came before it, and the echo leaves no trace in the model.
    #[test]
    fn a_trailing_echo_is_ours_alone() {
        let commands = [Command::Basic, Command::Other { name: b"about", value: b"" }];
        let query = CommandsQuery::with_trailing_echo(&commands, Limits::default()).unwrap();
        let mut options = options(server::Dialect::Unreal);
        options.echo = true;
        let conditions = (Conditions::perfect(Duration::from_millis(5)), 0);
        let answer = play(query, Timing::default(), conditions, serve(options)).result.unwrap().answer;
        assert_eq!(answer.echo(), Some((&b"echo_replay"[..], &b"x"[..])));
        assert!(answer.to_status().rules.get("echo_replay").is_none());
    }

    #[test]
    fn refusals_of_the_echo_are_seen() {
        let answer = Answer::from_datagrams(
            [Bytes::from_static(br"\ignoring\\queryid\4.1\final\")],
            &Limits::default(),
        );
        assert_eq!(answer.unwrap().echo(), Some((&b"ignoring"[..], &b""[..])));
    }
}

/// Two responders led to each other by a forged first packet: one reply, and then silence.
#[test]
fn two_responders_fall_silent_at_once() {
    let mut options = options(server::Dialect::Unreal);
    options.echo = true;
    let service = Service::GameSpy1(options);
    for request in [&br"\status\"[..], br"\echo\\status\", br"\echo\x", br"\packets\\echo\queryid"] {
        let (mut a, mut b) = (
            Responder::new(service.clone(), status(24)),
            Responder::new(Service::new(Protocol::GameSpy1), status(24)),
        );
        let (at_a, at_b) = (at("192.0.2.1:7778"), at("192.0.2.2:7778"));
        a.handle_datagram(Instant::now(), at_b, request);
        let mut heard = 0;
        let mut out = Vec::new();
        while a.poll_transmit(&mut out).is_some() {
            b.handle_datagram(Instant::now(), at_a, &out);
            out.clear();
            heard += 1;
        }
        assert!(heard > 0);
        assert_eq!((b.stats().ignored, b.stats().answered), (heard, 0));
        assert!(b.poll_transmit(&mut out).is_none());
    }
}
