//! GameSpy v1's client in virtual time: lossy links, and the datagrams that other tools are known
//! to misread.
use std::time::{Duration, Instant};

use bytes::Bytes;
use queryport::gamespy1::{Answer, Command, StatusQuery};
use queryport::session::{Conversation, Machine, OnTimeout, Remaining, Session, Verdict, Wait};
use queryport::{
    Detail, Dialect, Limits, Outcome, ParseErrorKind, Part, Player, QueryError, QueryOptions,
    Timing, ToStatus,
};

use crate::common::captures::cases;
use crate::common::link::Conditions;
use crate::common::pair::{SERVER, play};
use crate::common::{at, request};
use crate::gamespy1::serving::names;

fn query() -> StatusQuery {
    query_with(QueryOptions::default())
}

fn query_with(options: QueryOptions) -> StatusQuery {
    StatusQuery::new(0, &options)
}

/// A session that has sent its request, in virtual time.
pub(crate) struct Rig {
    session: Session<StatusQuery>,
    now: Instant,
    pub(crate) sent: u32,
}

impl Rig {
    pub(crate) fn new() -> Self {
        let now = Instant::now();
        let session = Session::new(query(), at(SERVER), Timing::default(), now);
        let mut rig = Self {
            session,
            now,
            sent: 0,
        };
        rig.send();
        rig
    }

    fn send(&mut self) {
        self.sent += u32::from(
            self.session
                .poll_transmit(self.now, &mut Vec::new())
                .is_some(),
        );
    }

    pub(crate) fn receive(&mut self, datagram: &[u8]) {
        self.session.handle_datagram(self.now, at(SERVER), datagram);
    }

    pub(crate) fn pass(&mut self, ms: u64) {
        self.now += Duration::from_millis(ms);
        self.session.handle_timeout(self.now);
        self.send();
    }

    pub(crate) fn outcome(&mut self) -> Option<Outcome<Answer>> {
        self.session.poll_answer().map(Result::unwrap)
    }

    pub(crate) fn to_the_end(&mut self) -> Result<Outcome<Answer>, QueryError> {
        loop {
            if let Some(result) = self.session.poll_answer() {
                return result;
            }
            self.pass(50);
        }
    }
}

fn lacks(answer: &Answer, part: Part) -> bool {
    answer.completeness().lacks(part)
}

/// A server that answers `\info\` alone.
#[test]
fn a_server_that_is_silent_to_status_is_asked_for_its_info() {
    let mut requests = Vec::new();
    let link = (Conditions::perfect(Duration::from_millis(40)), 0);
    let played = play(query(), Timing::default(), link, |_, _, datagram| {
        requests.push(String::from_utf8(datagram.to_vec()).unwrap());
        if datagram != br"\info\" {
            return Vec::new();
        }
        let reply = br"\hostname\Srv\mapname\M\numplayers\3\maxplayers\8\final\\queryid\3.1";
        vec![Bytes::from_static(reply)]
    });
    let outcome = played.result.unwrap();
    let parts = r"\basic\\info\\rules\\players\";
    assert_eq!(requests, [r"\status\", r"\status\", r"\info\", parts]);
    assert_eq!(outcome.stats.requests, 4);
    assert!(played.elapsed <= Duration::from_secs(4));
    let status = outcome.answer.to_status();
    assert_eq!(status.name.unwrap(), "Srv");
    assert_eq!(
        (status.player_count, status.players.is_known()),
        (Some(3), false)
    );
    let completeness = status.completeness;
    assert!(completeness.lacks(Part::Players) && completeness.lacks(Part::Rules));
    assert!(!completeness.lacks(Part::Info) && !completeness.lacks(Part::End));
}

/// Values with a backslash can hide rows, also of a reply whose numbers prove that it is whole.
#[test]
fn a_reply_with_hidden_rows_is_incomplete() {
    for (rows, is_complete) in [
        (r"\player_0\Ann\skin_0\x\player_1\Bob\skin_1\u", true),
        // UT2004 counts bots that it does not list.
        (r"\player_0\Ann\skin_0\x", true),
        // An even number of texts too many, so nothing shows which texts they are.
        (r"\player_0\Ann\skin_0\x\y\player_1\Bob\skin_1\u\v", false),
        // An odd number, and every row is found.
        (r"\player_0\A\nn\frags_0\1\player_1\Bob\frags_1\2", true),
    ] {
        let raw = format!(r"\hostname\Srv\numplayers\2{rows}\queryid\1.1\final\");
        let answer = Answer::from_datagrams([raw], &Limits::default()).unwrap();
        assert_eq!(answer.completeness().is_complete(), is_complete, "{rows}");
        assert_eq!(lacks(&answer, Part::Players), !is_complete);
    }
}

/// A retry has a number of its own, and its fragments are not mixed with the first ones.
#[test]
fn a_retry_is_a_reply_of_its_own() {
    let mut rig = Rig::new();
    rig.receive(br"\hostname\Srv\player_0\old\queryid\20.1");
    rig.pass(1200);
    assert_eq!(rig.sent, 2);
    rig.receive(br"\player_1\new\final\\queryid\21.2");
    assert!(rig.outcome().is_none());
    rig.receive(br"\hostname\Srv\player_0\newer\queryid\21.1");
    assert_eq!(names(&rig.outcome().unwrap().answer), ["newer", "new"]);
}

/// Without a reply number, late fragments of the first try could complete the second.
#[test]
fn a_retry_without_reply_numbers_starts_a_new_reply() {
    let mut rig = Rig::new();
    rig.receive(br"\statusresponse\0\hostname\Srv\player_0\old\score_0\eof\");
    rig.pass(1200);
    rig.receive(br"\statusresponse\1\7\queryid\AMv1\final\\eof\");
    assert!(rig.outcome().is_none(), "the value of another try's key");
    rig.receive(br"\statusresponse\0\hostname\Srv\player_0\new\score_0\eof\");
    rig.pass(200);
    let outcome = rig.outcome().unwrap();
    assert_eq!(outcome.answer.to_status().players[0].score, Some(7));
    assert_eq!(names(&outcome.answer), ["new"]);
}

#[test]
fn a_request_that_comes_back_is_no_reply() {
    let mut rig = Rig::new();
    rig.receive(br"\status\");
    assert!(rig.to_the_end().is_err());
}

#[test]
fn the_error_of_a_rejected_datagram_has_its_kind() {
    let mut query = query();
    request(&mut query);
    query.receive(br"\hostname\Srv\player_0\a\queryid\20.1");
    let mut kind = |datagram: &[u8]| match query.receive(datagram) {
        Verdict::Rejected(error) => error.kind,
        verdict => panic!("{verdict:?}"),
    };
    assert!(matches!(kind(br"\status\"), ParseErrorKind::Unexpected(_)));
    // Its number was lost, or is that of another reply.
    assert!(matches!(
        kind(br"\player_1\b\final\"),
        ParseErrorKind::Malformed(_)
    ));
    let other = kind(br"\player_1\b\queryid\21.2\final\");
    assert!(matches!(other, ParseErrorKind::Mismatch(_)));
}

/// rust gamedig panics on an empty datagram, and `player_4000000000` aborts its process.
#[test]
fn hostile_numbers_allocate_nothing_and_are_no_players() {
    let mut rig = Rig::new();
    rig.receive(b"");
    rig.receive(b"\0");
    rig.receive(br"\a\b\queryid\1.4294967295\final\");
    rig.receive(br"\a\b\queryid\1.99999999999999999999\final\");
    rig.receive(br"\hostname\x\player_4000000000\far\player_18446744073709551615\farther\maxplayers\99999999999\queryid\2.1\final\");
    let outcome = rig.outcome().unwrap();
    let status = outcome.answer.to_status();
    assert_eq!(names(&outcome.answer), ["far"]);
    assert_eq!(status.max_players, None);
    assert_eq!(
        status
            .rules
            .get("player_18446744073709551615")
            .unwrap()
            .raw(),
        b"farther",
        "kept as it came"
    );
}

/// UT99 ties its end mark to a count of players, and omits it when it lists fewer. The two equal
/// replies need not be the first two: one can lose a datagram.
#[test]
fn a_server_without_end_mark_is_asked_until_two_replies_are_equal() {
    for (losses, requests) in [(0, 2), (1, 3)] {
        let mut rig = Rig::new();
        for number in 0..requests {
            rig.receive(
                format!(r"\hostname\Srv\numplayers\3\player_0\a\queryid\{number}.1").as_bytes(),
            );
            if number >= losses {
                rig.receive(format!(r"\player_1\b\queryid\{number}.2").as_bytes());
            }
            // Three such waits end before the timeout.
            rig.pass(1250);
        }
        let outcome = rig.to_the_end().unwrap();
        assert_eq!(rig.sent, requests);
        assert_eq!(names(&outcome.answer), ["a", "b"]);
        assert!(!outcome.answer.completeness().is_complete());
    }
}

/// Where nothing is numbered, the end mark may have overtaken another datagram: the session waits
/// one round trip.
#[test]
fn an_end_without_numbers_waits_for_late_datagrams() {
    let mut rig = Rig::new();
    rig.pass(30);
    rig.receive(br"\numplayers\0\final\");
    assert!(rig.outcome().is_none());
    rig.receive(br"\hostname\Srv");
    rig.pass(30);
    let outcome = rig.outcome().unwrap();
    assert!(outcome.answer.completeness().is_complete());
    assert_eq!(outcome.answer.pairs().count(), 2);
    assert_eq!(rig.sent, 1);
}

/// Where numbers begin at 0, as in OpenMoHAA of 2023, the first fragment leaves no gap: without it,
/// a status has no name and no map.
#[test]
fn a_status_without_description_waits_for_it_and_is_asked_for_again() {
    let first = |number| format!(r"\hostname\Srv\mapname\m\queryid\{number}.0").into_bytes();
    let last = |number| format!(r"\player_1\b\final\\queryid\{number}.1").into_bytes();
    let rig = |ms| {
        let mut rig = Rig::new();
        rig.receive(&last(20));
        assert!(
            rig.outcome().is_none(),
            "the first fragment can be on its way"
        );
        rig.pass(ms);
        rig
    };
    let mut reordered = rig(1);
    reordered.receive(&first(20));
    assert!(
        reordered
            .outcome()
            .unwrap()
            .answer
            .completeness()
            .is_complete()
    );
    let mut lost = rig(50);
    assert_eq!(lost.sent, 2);
    lost.receive(&last(21));
    lost.receive(&first(21));
    assert!(lost.outcome().unwrap().answer.completeness().is_complete());
    let mut never = rig(50);
    never.receive(&last(21));
    let outcome = never.to_the_end().unwrap();
    assert!(
        lacks(&outcome.answer, Part::Info),
        "{}",
        outcome.answer.completeness()
    );
    assert_eq!(never.sent, 2, "the same twice is asked for no more");
}

/// The datagrams of a vector.
fn vector(name: &str) -> Vec<bytes::Bytes> {
    cases("gamespy1")
        .into_iter()
        .find(|case| case.name == name)
        .unwrap()
        .packets
}

/// Serious Sam numbers only the last part of a long reply, always 333.1.
#[test]
fn parts_without_numbers_are_whole_when_all_players_are_here() {
    let parts = vector("serioussam-64");
    for order in [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
    ] {
        let mut rig = Rig::new();
        rig.pass(30);
        for part in order {
            assert!(rig.outcome().is_none());
            rig.receive(&parts[part]);
        }
        rig.pass(30);
        let outcome = rig.outcome().unwrap();
        assert!(outcome.answer.completeness().is_complete(), "{order:?}");
        assert_eq!(
            (names(&outcome.answer).len(), rig.sent),
            (64, 1),
            "{order:?}"
        );
    }
}

#[test]
fn parts_without_numbers_are_incomplete_when_one_is_lost() {
    let parts = vector("serioussam-64");
    for lost in 0..3 {
        let mut rig = Rig::new();
        for _ in 0..3 {
            rig.pass(30);
            (0..3)
                .filter(|part| *part != lost)
                .for_each(|part| rig.receive(&parts[part]));
            rig.pass(1500);
        }
        let outcome = rig.to_the_end().unwrap();
        assert!(!outcome.answer.completeness().is_complete(), "{lost}");
        // The same twice is asked for no more, unless its end is missing.
        let requests = if lost == 2 { 3 } else { 2 };
        assert_eq!(rig.sent, requests, "{lost}");
        assert!((15..64).contains(&names(&outcome.answer).len()), "{lost}");
    }
}

/// Nothing numbers the datagrams: one with all players can be lost.
#[test]
fn counted_players_without_rows_are_missing() {
    for count in [0, 2] {
        let mut rig = Rig::new();
        rig.receive(format!(r"\hostname\Srv\numplayers\{count}\final\").as_bytes());
        let answer = rig.to_the_end().unwrap().answer;
        assert_eq!(lacks(&answer, Part::Players), count > 0);
    }
}

/// A full server of Unreal 227 sends a datagram for each player.
#[test]
fn a_server_that_answers_in_part_is_asked_five_times() {
    let mut query = query();
    for number in 1..=5 {
        assert_eq!(request(&mut query), br"\status\");
        let part = format!(r"\hostname\Srv\numplayers\30\queryid\{number}.{number}");
        query.receive(part.as_bytes());
        let timeout = query.timeout(Remaining::Retry);
        match number {
            5 => assert!(matches!(timeout, OnTimeout::Done(_))),
            _ => assert!(matches!(timeout, OnTimeout::Next)),
        }
    }
}

/// The request is unknown here. The number of the last part shows that this is a status.
#[test]
fn recorded_parts_without_numbers_are_incomplete_when_one_is_lost() {
    let parts = vector("serioussam-64");
    for lost in 0..3 {
        let here = (0..3)
            .filter(|part| *part != lost)
            .map(|part| parts[part].clone());
        let answer = Answer::from_datagrams(here, &Limits::default()).unwrap();
        assert!(!answer.completeness().is_complete(), "{lost}");
        assert_eq!(lacks(&answer, Part::Info), lost == 0);
    }
}

/// A late part of the first reply joins the second one. Only the players in it show that.
#[test]
fn parts_of_two_replies_are_not_taken_for_one() {
    let mut rig = Rig::new();
    let head = br"\hostname\Srv\numplayers\2";
    rig.receive(head);
    rig.pass(1500);
    assert_eq!(rig.sent, 2);
    rig.receive(br"\player_0\old\frags_0\1\player_1\gone\frags_1\2");
    rig.receive(head);
    rig.receive(br"\player_0\old\frags_0\4\player_1\new\frags_1\0\final\\queryid\333.1");
    rig.pass(1500);
    assert_eq!(rig.sent, 3, "asked again");
    rig.receive(head);
    rig.receive(br"\player_0\old\frags_0\4\player_1\new\frags_1\0\final\\queryid\333.1");
    let outcome = rig.to_the_end().unwrap();
    assert!(outcome.answer.completeness().is_complete());
    assert_eq!(names(&outcome.answer), ["old", "new"]);
}

/// InfoSocket.cpp of netPanzer writes no separator before the first key.
#[test]
fn netpanzers_reply_begins_with_a_key() {
    let mut rig = Rig::new();
    let players = br"\player_0\Ann\kills_0\1\score_0\3\flag_0\0\final\";
    let rules =
        br"gamename\netpanzer\hostname\Srv\mapname\m\password\y\numplayers\1\gamestyle\Objective";
    rig.receive(&[&rules[..], players].concat());
    rig.pass(50);
    let answer = rig.outcome().unwrap().answer;
    let status = answer.to_status();
    assert!(answer.completeness().is_complete() && status.rules.get("final").is_none());
    assert_eq!(
        (status.game.unwrap(), status.game_type.unwrap()),
        ("netpanzer".into(), "Objective".into())
    );
    assert_eq!(
        (status.password, status.players[0].score),
        (Some(true), Some(3))
    );
}

/// Descent 3 ends every datagram of a reply with an end mark.
#[test]
fn an_end_mark_in_every_datagram_ends_nothing() {
    let parts = vector("descent3-30");
    for order in [[0, 1], [1, 0]] {
        let mut rig = Rig::new();
        rig.pass(30);
        for part in order {
            assert!(rig.outcome().is_none());
            rig.receive(&parts[part]);
        }
        let outcome = rig.to_the_end().unwrap();
        assert_eq!(names(&outcome.answer).len(), 30);
        let missing = outcome.answer.completeness().missing_parts();
        assert_eq!(missing.collect::<Vec<_>>(), [Part::Players], "deaths_15");
    }
    let mut rig = Rig::new();
    rig.receive(&parts[0]);
    rig.pass(200);
    assert!(
        rig.outcome().is_none() && rig.sent == 2,
        "players are missing: asked again"
    );
    let again = |part: &[u8]| {
        String::from_utf8_lossy(part)
            .replace("queryid\\1.", "queryid\\2.")
            .into_bytes()
    };
    rig.receive(&again(&parts[1]));
    rig.receive(&again(&parts[0]));
    let outcome = rig.to_the_end().unwrap();
    assert_eq!(
        (names(&outcome.answer).len(), outcome.answer.reply_number()),
        (30, Some(2))
    );
}

/// The constant numbers of Serious Sam's replies are numbers like any other in those of Descent 3.
#[test]
fn a_reply_of_descent_3_can_have_a_number_of_serious_sam() {
    for number in [5, 6, 333] {
        let mut query =
            StatusQuery::commands(&[Command::Players], &QueryOptions::default()).unwrap();
        request(&mut query);
        for part in 1..3 {
            query.receive(
                format!("\\player_{part}\\Ann\\final\\queryid\\{number}.{part}\0").as_bytes(),
            );
        }
        let OnTimeout::Done(answer) = query.timeout(Remaining::Nothing) else {
            panic!()
        };
        assert_eq!(names(&answer).len(), 2, "{number}");
    }
}

#[test]
fn detail_and_dialect_choose_the_request() {
    let query = || StatusQuery::new(0, &QueryOptions::default());
    assert_eq!(request(&mut query()), br"\status\");
    assert_eq!(
        request(&mut query_with(
            QueryOptions::default().with_detail(Detail::Short)
        )),
        br"\basic\\info\"
    );
    assert_eq!(
        request(&mut query_with(
            QueryOptions::default().with_dialect(Dialect::XServerQuery)
        )),
        br"\status\xserverquery"
    );
    let mut reset = query_with(
        QueryOptions::default()
            .with_dialect(Dialect::XServerQuery)
            .with_dialect(Dialect::Standard),
    );
    assert_eq!(request(&mut reset), br"\status\");
    let options = QueryOptions::default()
        .with_detail(Detail::Short)
        .with_dialect(Dialect::XServerQuery);
    for options in [QueryOptions::default(), options] {
        let mut teams = StatusQuery::commands(&[Command::Teams], &options).unwrap();
        assert_eq!(request(&mut teams), br"\teams\");
    }
}

/// A query of the description that has sent its request.
fn short() -> StatusQuery {
    let mut query = query_with(QueryOptions::default().with_detail(Detail::Short));
    request(&mut query);
    query
}

/// Servers such as Dragonade compare the whole request with `\status\`. Cyberarm's Mobius sends the
/// end mark alone instead. So does GameSpy's QR1 SDK where it cannot read a request: it looks for
/// eight names, and `final` follows whatever it found.
#[test]
fn a_short_query_that_brings_no_description_asks_for_the_status() {
    let status = br"\hostname\Srv\numplayers\1\player_0\a\final\\queryid\1.1";
    for reply in [
        None,
        Some(&br"\final\\queryid\1.1"[..]),
        Some(br"\gamename\ut\final\\queryid\1.1"),
    ] {
        let mut query = short();
        let verdict = reply.map(|reply| query.receive(reply));
        assert!(verdict.is_none_or(|verdict| matches!(verdict, Verdict::Partial(Wait::Grace))));
        for _ in 0..2 {
            let asks_again = match query.timeout(Remaining::Retry) {
                OnTimeout::Retry => reply.is_none(),
                OnTimeout::Next => reply.is_some(),
                OnTimeout::Wait | OnTimeout::Done(_) => false,
            };
            assert!(asks_again);
            assert_eq!(request(&mut query), br"\status\");
            if reply.is_some() {
                break;
            }
        }
        let Verdict::Done(answer) = query.receive(status) else {
            panic!("{reply:?}")
        };
        assert!(answer.completeness().is_complete());
    }
    let Verdict::Done(answer) = short().receive(br"\hostname\Srv\numplayers\1\final\\queryid\2.1")
    else {
        panic!()
    };
    assert!(answer.completeness().is_complete());
    assert!(!answer.to_status().players.is_known(), "not asked for");
}

#[test]
fn fragments_of_a_description_and_of_a_status_are_not_joined() {
    let mut query = short();
    query.receive(br"\gamename\ut\hostname\Srv\queryid\1.1");
    assert!(matches!(query.timeout(Remaining::Retry), OnTimeout::Next));
    request(&mut query);
    assert!(matches!(
        query.receive(br"\player_0\a\final\\queryid\1.2"),
        Verdict::Partial(Wait::Reply)
    ));
    let first = br"\gamename\ut\hostname\Srv\numplayers\1\queryid\1.1";
    let Verdict::Done(answer) = query.receive(first) else {
        panic!()
    };
    assert_eq!(answer.get("numplayers"), Some(&b"1"[..]));
}

/// Rows as elmuerte/UT2004-ServerExt writes them (Classes/ServQuery.uc, `GetPlayer` and `GetTeam`).
/// A team's score is a fraction there and on UT99 469 (opengsq/opengsq-python,
/// docs/tests/protocols/test_gamespy1/test_get_teams.rst).
#[test]
fn players_and_teams_of_one_request_are_apart() {
    let [ann, bob] = [
        r"\player_0\Ann\ping_0\ 20\frags_0\7\team_0\1\deaths_0\2",
        r"\player_1\Bob\ping_1\ 30\frags_1\3\team_1\0\deaths_1\1",
    ];
    let teams = r"\team_0\Red\score_0\12.000000\size_0\1\team_1\Blue\score_1\-9.50\size_1\1";
    let read = |commands: &[Command<'_>], text: &[&str]| {
        let mut query = StatusQuery::commands(commands, &QueryOptions::default()).unwrap();
        request(&mut query);
        let datagram = format!(r"\hostname\Srv{}\queryid\3.1\final\", text.concat());
        let Verdict::Done(answer) = query.receive(datagram.as_bytes()) else {
            panic!("{datagram}")
        };
        let status = answer.to_status();
        let names = status
            .teams
            .iter()
            .map(|team| team.name.as_ref().unwrap().plain().into_owned());
        assert_eq!(names.collect::<Vec<_>>(), ["Red", "Blue"]);
        let scores: Vec<_> = status
            .teams
            .iter()
            .map(|team| (team.id, team.score, team.extra.len()))
            .collect();
        assert_eq!(
            scores,
            [(Some(0), Some(12), 1), (Some(1), Some(-9), 1)],
            "{commands:?}"
        );
        let fields =
            |player: &Player| (player.name.plain().into_owned(), player.score, player.team);
        let rows = (
            answer.players().len(),
            answer.teams().len(),
            status.rules.len(),
        );
        (
            status
                .players
                .known()
                .map(|players| players.iter().map(fields).collect::<Vec<_>>()),
            rows,
        )
    };
    let of = |name: &str, score, team| (name.to_owned(), Some(score), Some(team));
    let all = (Some(vec![of("Ann", 7, 1), of("Bob", 3, 0)]), (2, 2, 1));
    let (players, both) = (Command::Players, Command::Teams);
    assert_eq!(read(&[players, both], &[ann, bob, teams]), all);
    assert_eq!(read(&[both, players], &[teams, ann, bob]), all);
    assert_eq!(read(&[Command::Status, both], &[ann, bob, teams]), all);
    assert_eq!(
        read(&[players, both], &[ann, teams]),
        (Some(vec![of("Ann", 7, 1)]), (1, 2, 1))
    );
    assert_eq!(read(&[players, both], &[teams]), (Some(vec![]), (0, 2, 1)));
    assert_eq!(read(&[both], &[teams]), (None, (2, 0, 1)));
    // Star Wars: Battlefront 2 answers any request with its status.
    let teams = r"\team_t0\Red\score_t0\12\x_t0\\team_t1\Blue\score_t1\-9\x_t1\";
    assert_eq!(read(&[both], &[ann, bob, teams]), all);
}
