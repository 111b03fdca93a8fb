//! UT2004's conversation in virtual time: lists over lossy links, silent requests, forged and
//! repeated replies.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bytes::Bytes;
use queryport::ut2004::{Answer, Request, StatusQuery};
use queryport::{
    Completeness, Dialect, Limits, Outcome, ParseErrorKind, Part, Players, QueryError,
    QueryOptions, ServerStatus, Timing, ToStatus,
};

use crate::common::driven::Driven;
use crate::common::link::{Conditions, Random};
use crate::common::pair::{SERVER, play};
use crate::ut2004::{decode, everything, replies, status_with};

fn serve(status: &ServerStatus) -> impl FnMut(Instant, SocketAddr, &[u8]) -> Vec<Bytes> + use<> {
    let status = status.clone();
    move |_, _, datagram| replies(&Request::parse(datagram).unwrap(), &status)
}

/// The rules and names of an answer, sorted: their order across datagrams is not on the wire.
fn lists(answer: &Answer) -> (Vec<String>, Vec<String>) {
    let mut rules: Vec<String> = answer
        .rules()
        .map(|(key, value)| format!("{}={}", key.text(), value.text()))
        .collect();
    let mut players: Vec<String> = answer
        .players()
        .map(|player| format!("{} {}", player.player_num, player.name.text()))
        .collect();
    rules.sort();
    players.sort();
    (rules, players)
}

/// The rules and names of the server's own replies, sorted.
fn truth(status: &ServerStatus) -> (Vec<String>, Vec<String>) {
    lists(&decode(everything(status)))
}

/// Every size of list that the game's servers have, and beyond.
fn statuses() -> impl Iterator<Item = ServerStatus> {
    [1, 17, 34, 200].into_iter().flat_map(|players| {
        [0, 1, 60, 300]
            .into_iter()
            .map(move |rules| status_with(players, rules, rules % 2 == 0))
    })
}

fn query() -> StatusQuery {
    query_with(QueryOptions::default())
}

fn query_with(options: QueryOptions) -> StatusQuery {
    StatusQuery::new(0, &options)
}

const NO_LOSS: Conditions = Conditions {
    loss: 0.0,
    ..Conditions::bad()
};

/// With reordering and duplication alone, every answer has every entry once.
#[test]
fn lists_over_a_reordering_and_duplicating_link_are_whole() {
    for status in statuses() {
        let truth = truth(&status);
        for dialect in [Dialect::Standard, Dialect::SeparateLists] {
            for seed in 0..5 {
                let query = query_with(QueryOptions::default().with_dialect(dialect));
                let played = play(query, Timing::default(), (NO_LOSS, seed), serve(&status));
                let outcome = played.result.unwrap();
                assert_eq!(
                    outcome.answer.completeness(),
                    Completeness::COMPLETE,
                    "{dialect:?} seed {seed}"
                );
                assert_eq!(lists(&outcome.answer), truth, "{dialect:?} seed {seed}");
            }
        }
    }
}

/// Also where the last datagram of a list is so long that others could follow. Without the first rule
/// of the stock game, it takes one more.
#[test]
fn lists_of_every_length_are_whole_within_five_requests() {
    for length in 1..=70 {
        let is_stock = length % 2 == 0;
        let status = status_with(length, length, is_stock);
        let link = (Conditions::perfect(MS * 20), 0);
        let played = play(query(), Timing::default(), link, serve(&status));
        let outcome = played.result.unwrap();
        assert_eq!(lists(&outcome.answer), truth(&status), "{length}");
        assert!(outcome.answer.completeness().is_complete(), "{length}");
        let most = if is_stock { 4 } else { 5 };
        assert!(outcome.stats.requests <= most, "{length}");
        let longest = MS * 80 * (most - 1);
        assert!(played.elapsed <= longest, "{length}: {:?}", played.elapsed);
    }
}

/// A complete answer lacks something only if the same datagram was lost from two replies.
#[test]
fn a_datagram_lost_from_single_replies_is_never_missing_from_a_complete_answer() {
    let mut complete = 0;
    for status in statuses() {
        let truth = truth(&status);
        for seed in 0..5 {
            let mut random = Random(seed);
            let mut was_lost: HashMap<Bytes, bool> = HashMap::new();
            let mut serve = serve(&status);
            let lossy = |now: Instant, from, datagram: &[u8]| {
                let mut replies = serve(now, from, datagram);
                replies.retain(|reply| {
                    let was_lost = was_lost.entry(reply.clone()).or_default();
                    *was_lost = !*was_lost && random.chance(0.3);
                    !*was_lost
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
    assert!(complete > 12, "{complete} complete");
}

const MS: Duration = Duration::from_millis(1);

/// Answers only some types of request.
fn only(
    codes: &'static [u8],
    status: &ServerStatus,
) -> impl FnMut(Instant, SocketAddr, &[u8]) -> Vec<Bytes> + use<> {
    let mut serve = serve(status);
    move |now, from, datagram| {
        if codes.contains(&datagram[4]) {
            serve(now, from, datagram)
        } else {
            Vec::new()
        }
    }
}

fn ask(server: impl FnMut(Instant, SocketAddr, &[u8]) -> Vec<Bytes>) -> Outcome<Answer> {
    play(
        query(),
        Timing::default(),
        (Conditions::perfect(MS * 20), 0),
        server,
    )
    .result
    .unwrap()
}

#[test]
fn a_server_that_answers_only_info_gives_an_incomplete_answer() {
    for retries in [1, 2] {
        let timing = Timing::default().with_retries(retries);
        let played = play(
            query(),
            timing,
            (Conditions::perfect(MS * 20), 0),
            only(&[0], &status_with(3, 10, true)),
        );
        let answer = played.result.unwrap().answer;
        let missing = answer.completeness();
        assert!(
            missing.lacks(Part::Rules)
                && missing.lacks(Part::Players)
                && !missing.lacks(Part::Info)
        );
        let status = answer.to_status();
        assert_eq!(
            (status.name.unwrap().plain().as_ref(), status.player_count),
            ("Srv", Some(3))
        );
        assert_eq!(
            (status.players, status.rules.len()),
            (Players::UNKNOWN, 1),
            "the skill level"
        );
    }
}

/// A request for one list and a reply without entries differ in the version only.
#[test]
fn an_echo_of_the_request_is_rejected() {
    for dialect in [Dialect::Standard, Dialect::SeparateLists] {
        let query = query_with(QueryOptions::default().with_dialect(dialect));
        let echo = |_, _, datagram: &[u8]| vec![Bytes::copy_from_slice(datagram)];
        let played = play(
            query,
            Timing::default(),
            (Conditions::perfect(MS * 20), 0),
            echo,
        );
        let error = played.result.unwrap_err();
        assert!(
            matches!(error, QueryError::NoUsableAnswer { .. }),
            "{dialect:?}: {error}"
        );
    }
}

#[test]
fn a_server_that_does_not_know_type_3_is_asked_for_each_list() {
    let status = status_with(20, 10, true);
    let outcome = ask(only(&[0, 1, 2], &status));
    assert_eq!(outcome.answer.completeness(), Completeness::COMPLETE);
    assert_eq!(lists(&outcome.answer), truth(&status));
    let outcome = ask(only(&[0, 1], &status));
    let missing = outcome.answer.completeness();
    assert!(
        missing.lacks(Part::Players) && !missing.lacks(Part::Rules) && !missing.lacks(Part::Info)
    );
    let outcome = ask(only(&[0, 2], &status));
    let missing = outcome.answer.completeness();
    assert!(missing.lacks(Part::Rules) && !missing.lacks(Part::Info));
    // Rules over the limits end the query, but not before the players are known.
    let limits = Limits::default().with_max_rules(5);
    let query = query_with(QueryOptions::default().with_limits(limits));
    let link = (Conditions::perfect(MS * 20), 0);
    let played = play(query, Timing::default(), link, only(&[0, 1, 2], &status));
    let answer = played.result.unwrap().answer;
    assert!(answer.completeness().lacks(Part::Rules));
    assert_eq!(lists(&answer), (Vec::new(), truth(&status).1));
}

/// Bots are counted and not listed. If there are many, a datagram of players can be missing.
#[test]
fn fewer_players_than_counted_are_asked_for_again() {
    for (counted, requests) in [(12, 3), (24, 4)] {
        let mut status = status_with(10, 10, true);
        status.rules.push("MinPlayers", "4");
        status.player_count = Some(counted);
        let outcome = ask(serve(&status));
        assert_eq!(outcome.answer.completeness(), Completeness::COMPLETE);
        assert_eq!(outcome.answer.players().count(), 10);
        assert_eq!(outcome.stats.requests, requests);
    }
}

/// Spectators: more listed than counted, as in a capture.
#[test]
fn more_players_than_counted_are_all_listed() {
    let mut status = status_with(34, 10, true);
    status.player_count = Some(33);
    let outcome = ask(serve(&status));
    assert_eq!(outcome.answer.completeness(), Completeness::COMPLETE);
    assert_eq!(outcome.answer.players().count(), 34);
    assert_eq!(outcome.stats.requests, 3);
    // A spectator alone on the server is in no count.
    let mut status = status_with(1, 10, true);
    status.player_count = Some(0);
    assert_eq!(ask(serve(&status)).answer.players().count(), 1);
}

/// Pings and scores change between replies, and a rule shows the time.
#[test]
fn numbers_that_change_between_replies_double_nothing() {
    let mut moment = 0;
    let mut truth = 0;
    for seed in 0..60 {
        let server = |_: Instant, _: SocketAddr, datagram: &[u8]| {
            moment += 1;
            let mut status = status_with(34, 59, true);
            status
                .rules
                .push("Tick Rate", &format!("{}.{}", 40 + moment % 10, moment % 7));
            for (number, player) in status.players.iter_mut().enumerate() {
                player.ping = Some(moment * 4);
                player.score = Some(i64::from(moment) + number as i64);
            }
            replies(&Request::parse(datagram).unwrap(), &status)
        };
        let conditions = Conditions {
            loss: 0.03,
            ..Conditions::bad()
        };
        let Ok(outcome) = play(query(), Timing::default(), (conditions, seed), server).result
        else {
            continue;
        };
        let (rules, players) = lists(&outcome.answer);
        assert!(
            rules.len() <= 60 && players.len() <= 34,
            "seed {seed}: {} {}",
            rules.len(),
            players.len()
        );
        if outcome.answer.completeness().is_complete() {
            assert_eq!((rules.len(), players.len()), (60, 34), "seed {seed}");
            truth += 1;
        }
    }
    assert!(truth > 40, "{truth} of 60 complete");
}

/// Datagrams that are not replies do not move a timer. The error names the last of them if nothing
/// else arrives.
#[test]
fn datagrams_that_are_no_reply_are_counted_and_the_last_is_in_the_error() {
    let mut query = Driven::new(query(), Timing::default());
    query.send();
    for datagram in [
        &b""[..],
        b"\x79\0\0\0\0",
        b"\xff\xff\xff\xffstatusResponse\n",
        b"\\final\\",
    ] {
        query.receive(SERVER, datagram);
    }
    match query.finish() {
        Err(QueryError::NoUsableAnswer {
            requests: 3,
            rejected: 4,
            last,
            ..
        }) => {
            assert_eq!(
                last.kind,
                ParseErrorKind::NotThisProtocol("a version from 0x77 to 0x80")
            );
        }
        other => panic!("{other:?}"),
    }
}
