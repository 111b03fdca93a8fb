//! UT2004's conversations in virtual time: lists over lossy links, and the tricks on which others fall.
use std::collections::HashMap;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use crate::common::link::{Conditions, Random};
use crate::common::pair::{SERVER, play};
use bytes::Bytes;
use queryport::Limits;
use queryport::session::Session;
use queryport::ut2004::{Answer, Ask, FString, InfoQuery, PlayerRecord, Request, Route, StatusQuery, server};
use queryport::{Completeness, Player, ServerStatus};
use queryport::{Outcome, Timing};
use queryport::{ParseErrorKind, QueryError};

/// A server with so many players and rules. The first rule is the stock game's where `stock`.
fn world(players: usize, rules: usize, stock: bool) -> ServerStatus {
    let mut status = ServerStatus::default();
    status.name = Some("Srv".into());
    status.players =
        Some((0..players).map(|number| Player::new(format!("player number {number}"))).collect());
    let rule = |number: usize| match number {
        0 if stock => ("ServerMode".to_owned(), "dedicated".to_owned()),
        _ => ("Mutator".to_owned(), format!("MutNumber{number}")),
    };
    status.rules = (0..rules).map(rule).collect();
    status
}

fn serve(status: &ServerStatus) -> impl FnMut(Instant, SocketAddr, &[u8]) -> Vec<Bytes> + use<> {
    let status = status.clone();
    move |_, _, datagram| {
        let request = Request::parse(datagram).unwrap();
        server::answer(&request, &status, &server::Options::default())
    }
}

/// The rules and names of an answer, sorted: their order across datagrams is not on the wire.
fn lists(answer: &Answer) -> (Vec<String>, Vec<String>) {
    let mut rules: Vec<String> =
        answer.rules().map(|(key, value)| format!("{}={}", key.text(), value.text())).collect();
    let mut players: Vec<String> =
        answer.players().map(|player| format!("{} {}", player.player_num, player.name.text())).collect();
    rules.sort();
    players.sort();
    (rules, players)
}

/// What a server says, taken without a link between.
fn truth(status: &ServerStatus) -> (Vec<String>, Vec<String>) {
    let options = server::Options::default();
    let asks = [Ask::Info, Ask::RulesAndPlayers].map(Request::new);
    let answers = asks.iter().flat_map(|request| server::answer(request, status, &options));
    lists(&Answer::from_datagrams(answers, &Limits::default()).unwrap())
}

/// Every size of list that the game's servers have, and beyond.
fn worlds() -> impl Iterator<Item = ServerStatus> {
    [1, 17, 34, 200].into_iter().flat_map(|players| {
        [0, 1, 60, 300].into_iter().map(move |rules| world(players, rules, rules % 2 == 0))
    })
}

fn query() -> StatusQuery {
    StatusQuery::new(Limits::default())
}

const NO_LOSS: Conditions = Conditions { loss: 0.0, ..Conditions::bad() };

/// Reordering and duplication alone cost nothing: always everything, never doubled.
#[test]
fn lists_over_a_reordering_and_duplicating_link_are_whole() {
    for status in worlds() {
        let truth = truth(&status);
        for route in [Route::Together, Route::Separate] {
            for seed in 0..12 {
                let query = query().with_route(route);
                let played = play(query, Timing::default(), (NO_LOSS, seed), serve(&status));
                let outcome = played.result.unwrap();
                assert_eq!(outcome.answer.completeness(), Completeness::Complete, "{route:?} seed {seed}");
                assert_eq!(lists(&outcome.answer), truth, "{route:?} seed {seed}");
            }
        }
    }
}

/// Wherever a list ends. Where its last datagram is so long that others could follow, that is said.
#[test]
fn lists_of_every_length_are_whole_or_have_no_end() {
    let mut endless = 0;
    for length in 1..=70 {
        let status = world(length, length, length % 2 == 0);
        let played = play(query(), Timing::default(), (Conditions::perfect(MS * 20), 0), serve(&status));
        let outcome = played.result.unwrap();
        assert_eq!(lists(&outcome.answer), truth(&status), "{length}");
        if let Completeness::Incomplete(missing) = outcome.answer.completeness() {
            assert!(missing.end && !missing.info && !missing.rules && !missing.players, "{length}");
            endless += 1;
        } else {
            assert!(played.elapsed <= MS * 280, "{length}: {:?}", played.elapsed);
        }
        assert!(played.elapsed < MS * 1500, "{length}: {:?}", played.elapsed);
    }
    assert!((1..15).contains(&endless), "{endless} of 70 ended with a long datagram");
}

/// Ten datagrams in a hundred lost, ten doubled, all reordered: equal or marked, never doubled. That none of them is
/// short and unmarked is not proof (one datagram can be lost from all readings) but it is the aim.
#[test]
fn lists_over_a_bad_link_are_equal_or_marked() {
    let (mut complete, mut marked, mut silent) = (0, 0, 0);
    for status in worlds() {
        let truth = truth(&status);
        for route in [Route::Together, Route::Separate] {
            for seed in 0..25 {
                let link = (Conditions::bad(), seed);
                let played = play(query().with_route(route), Timing::default(), link, serve(&status));
                assert!(played.elapsed <= Duration::from_secs(4));
                let Ok(outcome) = played.result else {
                    silent += 1;
                    continue;
                };
                let got = lists(&outcome.answer);
                for (got, truth) in [(&got.0, &truth.0), (&got.1, &truth.1)] {
                    assert!(got.len() <= truth.len(), "doubled");
                    assert!(got.iter().all(|entry| truth.binary_search(entry).is_ok()), "invented");
                    assert!(got.windows(2).all(|pair| pair[0] != pair[1]), "doubled");
                }
                if outcome.answer.completeness().is_complete() {
                    assert_eq!(got, truth, "{route:?} seed {seed}: short and not marked");
                    complete += 1;
                } else {
                    marked += 1;
                }
            }
        }
    }
    println!("{complete} complete, {marked} marked incomplete, {silent} without an answer");
    assert!(complete > 350 && silent < 10, "{complete} complete, {silent} silent");
}

/// The hard promise: an answer marked complete is short only if the same datagram was lost from every one of three
/// readings. Here a datagram is lost at most twice in a row; no answer is short.
#[test]
fn a_datagram_that_is_lost_twice_is_missed() {
    let mut complete = 0;
    for status in worlds() {
        let truth = truth(&status);
        for seed in 0..25 {
            let mut random = Random(seed);
            let mut lost: HashMap<Bytes, u8> = HashMap::new();
            let mut serve = serve(&status);
            let lossy = |now: Instant, from, datagram: &[u8]| {
                let mut replies = serve(now, from, datagram);
                replies.retain(|reply| {
                    let in_a_row = lost.entry(reply.clone()).or_default();
                    let lose = *in_a_row < 2 && random.chance(0.3);
                    *in_a_row = if lose { *in_a_row + 1 } else { 0 };
                    !lose
                });
                replies
            };
            let played = play(query(), Timing::default(), (NO_LOSS, seed), lossy);
            let Ok(outcome) = played.result else { continue };
            if outcome.answer.completeness().is_complete() {
                assert_eq!(lists(&outcome.answer), truth, "seed {seed}");
                complete += 1;
            }
        }
    }
    assert!(complete > 60, "{complete} complete");
}

/// One datagram, whichever it is, lost from every reading or only from the first: never short and unmarked where
/// the loss can be seen, and told from the last datagram to the middle ones.
#[test]
fn the_last_datagram_or_any_player_lost_for_good_is_noticed() {
    let status = world(34, 60, true);
    let whole = server::answer(&Request::new(Ask::RulesAndPlayers), &status, &server::Options::default());
    let (rules, players) = whole.split_at(whole.iter().position(|datagram| datagram[4] == 2).unwrap());
    assert!(rules.len() >= 3 && players.len() >= 3);
    let first_of_rules = rules.len() - 1;
    for (place, victim) in whole.iter().enumerate().skip(first_of_rules) {
        let mut serve = serve(&status);
        let lossy = |now: Instant, from, datagram: &[u8]| {
            let mut replies = serve(now, from, datagram);
            replies.retain(|reply| reply != victim);
            replies
        };
        let played = play(query(), Timing::default(), (Conditions::perfect(MS * 20), 0), lossy);
        let answer = played.result.unwrap().answer;
        let Completeness::Incomplete(missing) = answer.completeness() else { panic!("{place} is missing") };
        assert!(missing.end || missing.players, "datagram {place}");
        assert_eq!(missing.players, victim[4] == 2, "datagram {place}");
        assert!(!missing.info && !missing.rules);
    }
}

const MS: Duration = Duration::from_millis(1);

/// What a query takes on a perfect link with 20 ms each way, in round trips: nothing waits for a timeout.
#[test]
fn no_query_waits_longer_than_it_must() {
    let time = |status: &ServerStatus, query: StatusQuery| {
        let played = play(query, Timing::default(), (Conditions::perfect(MS * 20), 0), serve(status));
        let outcome = played.result.unwrap();
        assert!(outcome.answer.completeness().is_complete());
        (played.elapsed.as_millis(), outcome.stats.requests)
    };
    assert_eq!(time(&world(16, 10, true), query()), (80, 2), "proven: two round trips");
    assert_eq!(time(&world(0, 10, true), query()), (120, 2), "nobody listed: and a third for latecomers");
    assert_eq!(time(&world(34, 60, true), query()), (280, 4), "three readings, each with its grace");
    assert_eq!(time(&world(34, 60, true), query().with_readings(1)), (120, 2), "one reading and its grace");
    assert_eq!(time(&world(16, 10, true), query().with_route(Route::Separate)), (120, 3));
    assert_eq!(time(&world(0, 10, true), query().with_route(Route::Separate)), (160, 3));
}

/// Answers only some types of request.
fn only(
    codes: &'static [u8],
    status: &ServerStatus,
) -> impl FnMut(Instant, SocketAddr, &[u8]) -> Vec<Bytes> + use<> {
    let mut serve = serve(status);
    move |now, from, datagram| {
        if codes.contains(&datagram[4]) { serve(now, from, datagram) } else { Vec::new() }
    }
}

fn ask(server: impl FnMut(Instant, SocketAddr, &[u8]) -> Vec<Bytes>) -> Outcome<Answer> {
    play(query(), Timing::default(), (Conditions::perfect(MS * 20), 0), server).result.unwrap()
}

#[test]
fn a_server_that_answers_only_info_gives_an_incomplete_answer() {
    for retries in [0, 2] {
        let timing = Timing::default().with_retries(retries);
        let played =
            play(query(), timing, (Conditions::perfect(MS * 20), 0), only(&[0], &world(3, 10, true)));
        let answer = played.result.unwrap().answer;
        let Completeness::Incomplete(missing) = answer.completeness() else { panic!() };
        assert!(missing.rules && missing.players && !missing.info);
        let status = answer.to_status();
        assert_eq!((status.name.unwrap().plain().as_ref(), status.player_count), ("Srv", Some(3)));
        assert_eq!((status.players, status.rules.len()), (None, 1), "the skill level");
    }
}

#[test]
fn a_server_that_does_not_know_type_3_is_asked_for_each_list() {
    let status = world(20, 10, true);
    let outcome = ask(only(&[0, 1, 2], &status));
    assert_eq!(outcome.answer.completeness(), Completeness::Complete);
    assert_eq!(lists(&outcome.answer), truth(&status));
    let outcome = ask(only(&[0, 1], &status));
    let Completeness::Incomplete(missing) = outcome.answer.completeness() else { panic!() };
    assert!(missing.players && !missing.rules && !missing.info);
    let outcome = ask(only(&[0, 2], &status));
    let Completeness::Incomplete(missing) = outcome.answer.completeness() else { panic!() };
    assert!(missing.rules && !missing.info);
}

/// The count is of an earlier moment, or a modification counts bots that it does not list.
#[test]
fn fewer_players_than_counted_are_marked_and_the_count_asked_again() {
    let mut status = world(10, 10, true);
    status.player_count = Some(12);
    let outcome = ask(serve(&status));
    let Completeness::Incomplete(missing) = outcome.answer.completeness() else { panic!() };
    assert!(missing.players && !missing.rules);
    assert_eq!(outcome.answer.players().count(), 10, "what came is there");

    // Two players leave between the info and the list.
    let (mut before, mut after) = (serve(&status), serve(&world(10, 10, true)));
    let mut asked = 0;
    let outcome = ask(move |now, from, datagram| {
        asked += 1;
        if asked == 1 { before(now, from, datagram) } else { after(now, from, datagram) }
    });
    assert_eq!(outcome.answer.completeness(), Completeness::Complete);
    assert_eq!(outcome.answer.info().unwrap().current_players, 10);
}

/// Spectators: more listed than counted, as in a capture.
#[test]
fn more_players_than_counted_are_all_listed() {
    let mut status = world(34, 10, true);
    status.player_count = Some(33);
    let outcome = ask(serve(&status));
    assert_eq!(outcome.answer.completeness(), Completeness::Complete);
    assert_eq!(outcome.answer.players().count(), 34);
    // A spectator alone on the server: no count speaks of him.
    let mut status = world(1, 10, true);
    status.player_count = Some(0);
    assert_eq!(ask(serve(&status)).answer.players().count(), 1);
}

/// Pings and scores change between readings, a rule shows the time: still one list.
#[test]
fn a_living_server_is_not_doubled() {
    let mut moment = 0;
    let mut truth = 0;
    for seed in 0..60 {
        let server = |_: Instant, _: SocketAddr, datagram: &[u8]| {
            moment += 1;
            let mut status = world(34, 59, true);
            status.rules.push("Tick Rate", &format!("{}.{}", 40 + moment % 10, moment % 7));
            for (number, player) in status.players.as_mut().unwrap().iter_mut().enumerate() {
                player.ping = Some(moment * 4);
                player.score = Some(i64::from(moment) + number as i64);
            }
            server::answer(&Request::parse(datagram).unwrap(), &status, &server::Options::default())
        };
        let conditions = Conditions { loss: 0.03, ..Conditions::bad() };
        let Ok(outcome) = play(query(), Timing::default(), (conditions, seed), server).result else {
            continue;
        };
        let (rules, players) = lists(&outcome.answer);
        assert!(rules.len() <= 60 && players.len() <= 34, "seed {seed}: {} {}", rules.len(), players.len());
        if outcome.answer.completeness().is_complete() {
            assert_eq!((rules.len(), players.len()), (60, 34), "seed {seed}");
            truth += 1;
        }
    }
    assert!(truth > 40, "{truth} of 60 complete");
}

struct Rig {
    session: Session<StatusQuery>,
    now: Instant,
}

impl Rig {
    /// A query that has had its info: `count` players.
    fn new(count: u32) -> Self {
        let now = Instant::now();
        let mut session = Session::new(query(), at(SERVER), Timing::default(), &Limits::default(), now);
        session.poll_transmit(now, &mut Vec::new()).unwrap();
        let mut rig = Self { session, now };
        let mut status = world(0, 0, true);
        status.player_count = Some(count);
        let info = server::answer(&Request::new(Ask::Info), &status, &server::Options::default());
        rig.hear(SERVER, &info[0]);
        rig.session.poll_transmit(now, &mut Vec::new()).unwrap();
        rig
    }

    fn hear(&mut self, from: &str, datagram: &[u8]) {
        self.session.handle_datagram(self.now, at(from), datagram);
    }

    /// Lets time pass until an answer is there.
    fn wait(&mut self) -> Answer {
        while let Some(alarm) = self.session.poll_timeout() {
            self.now = self.now.max(alarm);
            self.session.handle_timeout(self.now);
            self.session.poll_transmit(self.now, &mut Vec::new());
        }
        self.session.poll_answer().unwrap().unwrap().answer
    }
}

fn at(address: &str) -> SocketAddr {
    address.parse().unwrap()
}

fn players_of(count: usize) -> Vec<Bytes> {
    server::answer(&Request::new(Ask::Players), &world(count, 0, true), &server::Options::default())
}

/// Where others fall: «reply from another address or port; spoofed reply first: rust gamedig accepts it».
#[test]
fn replies_from_elsewhere_change_nothing() {
    let mut rig = Rig::new(7);
    for from in ["192.0.2.2:27961", "192.0.2.9:27960"] {
        rig.hear(from, &players_of(5)[0]);
    }
    assert_eq!(rig.session.stats().foreign, 2);
    assert_eq!(rig.wait().players().count(), 0);
}

/// Where others fall: «every datagram twice: node gamedig 14 of 7 UT2004 players; rust gamedig fails».
#[test]
fn every_datagram_twice_is_every_player_once() {
    let status = world(7, 10, true);
    let mut serve = serve(&status);
    let outcome = ask(move |now, from, datagram| {
        serve(now, from, datagram).into_iter().flat_map(|d| [d.clone(), d]).collect()
    });
    assert_eq!(outcome.answer.players().count(), 7);
    assert_eq!(outcome.answer.completeness(), Completeness::Complete);
}

/// Where others fall: «endless stream, never final: qstat, rust gamedig, opengsq never end (no total deadline)».
#[test]
fn an_endless_stream_ends_at_the_deadline_within_the_limits() {
    let mut rig = Rig::new(1_000_000);
    let start = rig.now;
    let mut number = 0;
    while rig.session.poll_timeout().is_some() {
        let mut datagram = vec![0x80, 0, 0, 0, 2];
        for _ in 0..20 {
            number += 1;
            PlayerRecord::new(number, FString::narrow(b"another one")).encode(&mut datagram);
        }
        rig.hear(SERVER, &datagram);
        rig.now += MS * 10;
        rig.session.handle_timeout(rig.now);
        rig.session.poll_transmit(rig.now, &mut Vec::new());
    }
    assert!(rig.now - start <= Timing::default().timeout());
    let answer = rig.session.poll_answer().unwrap().unwrap().answer;
    assert!(answer.players().count() <= Limits::default().max_players());
    assert!(!answer.completeness().is_complete());
}

/// Where others fall: «empty datagram: rust gamedig panics». Nonsense moves no timer and is named when nothing else comes.
#[test]
fn nonsense_is_named() {
    let now = Instant::now();
    let mut session = Session::new(query(), at(SERVER), Timing::default(), &Limits::default(), now);
    session.poll_transmit(now, &mut Vec::new()).unwrap();
    for datagram in [&b""[..], b"\x79\0\0\0\0", b"\xff\xff\xff\xffstatusResponse\n", b"\\final\\"] {
        session.handle_datagram(now, at(SERVER), datagram);
    }
    while let Some(alarm) = session.poll_timeout() {
        session.handle_timeout(alarm);
        session.poll_transmit(alarm, &mut Vec::new());
    }
    match session.poll_answer() {
        Some(Err(QueryError::NoUsableAnswer { requests: 3, rejected: 4, last, .. })) => {
            assert_eq!(last.kind, ParseErrorKind::NotThisProtocol("a version from 0x77 to 0x80"));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_info_query_is_one_datagram_each_way() {
    let status = world(7, 10, true);
    let link = (Conditions::perfect(MS * 20), 0);
    let played = play(InfoQuery::new(Limits::default()), Timing::default(), link, serve(&status));
    let outcome = played.result.unwrap();
    assert_eq!((outcome.stats.requests, played.elapsed), (1, MS * 40));
    assert_eq!(outcome.answer.completeness(), Completeness::Complete);
    let status = outcome.answer.to_status();
    assert_eq!((status.player_count, status.players), (Some(7), None));
}

/// Two servers of ours, one without rules, must not answer each other for ever.
#[test]
fn replies_are_never_answered_for_long() {
    let status = world(0, 0, true);
    let mut asked: Vec<Bytes> = (0..=4).map(|code| Bytes::from(vec![0x79, 0, 0, 0, code])).collect();
    for round in 0.. {
        let replies: Vec<Bytes> = asked
            .iter()
            .filter_map(|datagram| Request::parse(datagram).ok())
            .flat_map(|request| server::answer(&request, &status, &server::Options::default()))
            .collect();
        if replies.is_empty() {
            break;
        }
        assert!(round < 3, "still talking: {replies:?}");
        asked = replies;
    }
}
