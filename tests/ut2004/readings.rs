//! What several readings of one list prove: nothing that any of them showed is missing from a complete answer.

use std::time::Duration;

use bytes::Bytes;
use queryport::ut2004::{Answer, Command, FString, PlayerRecord, Request, StatusQuery};
use queryport::{Completeness, Limits, Part, Timing};

use crate::common::driven::Driven;
use crate::common::pair::SERVER;
use crate::{replies, status_with};

const MS: Duration = Duration::from_millis(1);

/// A query that has had an info record with so many players counted, and has sent the request for its lists.
fn lists_requested(count: i32) -> Driven<StatusQuery> {
    let mut driven = Driven::new(StatusQuery::new(0, Limits::default()), Timing::default());
    assert_eq!(driven.send()[4], 0);
    driven.receive(SERVER, &info(count));
    assert_eq!(driven.send()[4], 3);
    driven
}

fn info(count: i32) -> Bytes {
    let mut status = status_with(0, 0, true);
    status.player_count = Some(u32::try_from(count).unwrap());
    replies(&Request::new(Command::Info), &status).remove(0)
}

/// A datagram of players, the newest first.
fn players(numbers: std::ops::RangeInclusive<i32>) -> Bytes {
    let mut out = vec![0x80, 0, 0, 0, 2];
    for number in numbers.rev() {
        PlayerRecord::new(number, FString::narrow(b"a player's name, long")).encode(&mut out).unwrap();
    }
    out.into()
}

fn rules(keys: &[(&str, &str)]) -> Bytes {
    let mut out = vec![0x80, 0, 0, 0, 1];
    for text in keys.iter().flat_map(|(key, value)| [key, value]) {
        FString::narrow(text.as_bytes()).encode(&mut out).unwrap();
    }
    out.into()
}

/// All rules in one datagram, which proves itself complete.
fn whole_rules() -> Bytes {
    rules(&[("ServerMode", "dedicated"), ("GoalScore", "25")])
}

/// Plays a transcript: for each request for lists the datagrams that arrive, one millisecond apart; the last for all
/// further requests, and the count of players for each request for the info.
fn transcript(counts: &[i32], readings: &[&[Bytes]]) -> Answer {
    let mut query = lists_requested(counts[0]);
    let (mut reading, mut counted) = (0, 1);
    let mut request = vec![0x79, 0, 0, 0, 3];
    loop {
        let asked = request[4];
        let batch = readings[reading.min(readings.len() - 1)];
        match asked {
            0 => {
                query.now += MS * 40;
                query.receive(SERVER, &info(counts[counted.min(counts.len() - 1)]));
                counted += 1;
            }
            _ => {
                query.now += MS * 40;
                for datagram in batch.iter().filter(|datagram| asked == 3 || asked == datagram[4]) {
                    query.receive(SERVER, datagram);
                    query.now += MS;
                }
                reading += 1;
            }
        }
        loop {
            if let Some(result) = query.session.poll_answer() {
                return result.unwrap().answer;
            }
            request = query.send();
            if !request.is_empty() {
                break;
            }
            query.now = query.now.max(query.session.poll_timeout().unwrap());
            query.session.handle_timeout(query.now);
        }
    }
}

fn numbers(answer: &Answer) -> Vec<i32> {
    answer.players().map(|player| player.player_num).collect()
}

/// The server counts three players and lists thirteen spectators before them. The second reading begins with the
/// datagram that has as many as are counted.
#[test]
fn a_count_that_is_reached_proves_nothing_against_more_that_was_seen() {
    let (long, short) = (players(4..=16), players(1..=3));
    assert!(long.len() > 450 && short.len() <= 450);
    let in_order = [whole_rules(), long.clone(), short.clone()];
    let reversed = [whole_rules(), short.clone(), long.clone()];
    let without = [whole_rules(), short.clone()];
    for readings in [
        &[&in_order[..], &reversed, &in_order][..],
        &[&reversed[..], &reversed],
        &[&in_order[..], &without, &without, &in_order, &reversed, &in_order],
    ] {
        let answer = transcript(&[3], readings);
        assert_eq!(numbers(&answer), (1..=16).rev().collect::<Vec<_>>());
        assert_eq!(answer.completeness(), Completeness::Complete);
    }
    // Seen once and never again: the answer has it, and is not complete.
    let answer = transcript(&[3], &[&in_order, &without]);
    assert_eq!(numbers(&answer).len(), 16);
    assert!(!answer.completeness().is_complete());
}

/// The count is reached by a datagram that overtakes another by a millisecond, in the first reading.
#[test]
fn a_datagram_that_comes_behind_the_counted_players_is_in_the_answer() {
    let answer = transcript(&[3], &[&[whole_rules(), players(1..=3), players(4..=16)]]);
    assert_eq!((numbers(&answer).len(), answer.completeness()), (16, Completeness::Complete));
}

/// Nobody is counted and three spectators are listed; they are lost from the second reading, or from all but one.
#[test]
fn spectators_of_a_server_without_players_stay_in_the_answer() {
    let (with, without) = ([whole_rules(), players(1..=3)], [whole_rules()]);
    let answer = transcript(&[0], &[&with, &without, &with, &with]);
    assert_eq!((numbers(&answer), answer.completeness()), (vec![3, 2, 1], Completeness::Complete));
    let answer = transcript(&[0], &[&with, &without]);
    assert_eq!(numbers(&answer), [3, 2, 1]);
    let Completeness::Incomplete(missing) = answer.completeness() else { panic!("complete") };
    assert!(!missing.contains(Part::Rules) && !missing.contains(Part::Info));
    let answer = transcript(&[0], &[&without]);
    assert_eq!((numbers(&answer), answer.completeness()), (vec![], Completeness::Complete));
}

/// Three readings agree, and lack what an earlier one had.
#[test]
fn rules_that_only_one_reading_had_are_in_the_answer() {
    let value = "v".repeat(440);
    let (first, middle) =
        (rules(&[("ServerMode", "dedicated"), ("x", &value)]), rules(&[("y", &value), ("z", "")]));
    let last = rules(&[("Mutator", "A")]);
    let headed = [first.clone(), middle.clone()];
    let (all, short) = ([first.clone(), middle, last.clone()], [first, last]);
    // The reading that had it lacked the end, which the others have.
    let answer = transcript(&[0], &[&headed, &short]);
    assert_eq!(answer.rules().count(), 5);
    assert!(!answer.completeness().is_complete());
    let answer = transcript(&[0], &[&all, &short]);
    assert_eq!(answer.rules().count(), 5);
    assert!(!answer.completeness().is_complete());
    let answer = transcript(&[0], &[&short, &all, &short, &all, &short, &all]);
    assert_eq!((answer.rules().count(), answer.completeness()), (5, Completeness::Complete));
}

/// Somebody joins between two readings: what was before is outdated, and three readings agree on what is now.
#[test]
fn a_player_who_joins_between_readings_is_in_an_answer_of_one_moment() {
    // Two of those who are listed are spectators: no count proves the list.
    let before = [whole_rules(), players(4..=16), players(1..=3)];
    let after = [whole_rules(), players(5..=17), players(1..=4)];
    let answer = transcript(&[14, 15], &[&before, &after]);
    assert_eq!((numbers(&answer).len(), answer.completeness()), (17, Completeness::Complete));
    assert_eq!(answer.info().unwrap().current_players, 15, "counted again, because the list is another one");
    // A datagram of the first reading comes late, within the second.
    let late = [whole_rules(), players(5..=17), players(1..=4), players(4..=16)];
    let answer = transcript(&[14, 15], &[&before[..1], &late, &after]);
    assert_eq!((numbers(&answer).len(), answer.completeness()), (17, Completeness::Complete));
}

/// The list agrees three times, and the count has changed since it was asked for: the list is read again.
#[test]
fn a_count_that_has_changed_since_needs_new_readings() {
    let list = [whole_rules(), players(1..=5)];
    let answer = transcript(&[4, 4], &[&list]);
    assert_eq!(answer.completeness(), Completeness::Complete, "a spectator");
    let answer = transcript(&[4, 5], &[&list]);
    assert_eq!(answer.completeness(), Completeness::Complete, "a player came after the first count");
    assert_eq!(answer.info().unwrap().current_players, 5);
    let left = [whole_rules(), players(1..=4)];
    let answer = transcript(&[4, 3], &[&list, &list, &list, &left]);
    assert_eq!((numbers(&answer).len(), answer.completeness()), (4, Completeness::Complete));
}

/// A list that is another one in every reading is never taken for complete.
#[test]
fn a_list_that_changes_with_every_reading_is_incomplete() {
    let lists: Vec<[Bytes; 3]> =
        (0..12).map(|n| [whole_rules(), players(10 + n..=25 + n), players(n..=9 + n)]).collect();
    let readings: Vec<&[Bytes]> = lists.iter().map(|list| &list[..]).collect();
    let answer = transcript(&[20], &readings);
    assert!(!answer.completeness().is_complete());
    assert_eq!(answer.players().count(), 26, "one moment's players, none of them twice");
}

/// One datagram has more rules than the limits allow, the other alone looks like a whole list. Players likewise.
#[test]
fn a_datagram_that_alone_exceeds_the_limits_is_missing_from_its_list() {
    let value = "v".repeat(100);
    let long = rules(&["a", "b", "c", "d", "e"].map(|key| (key, value.as_str())));
    let lists = [long, rules(&[("Mutator", "A")]), players(1..=16), players(17..=18)];
    let limits = Limits::default().with_max_rules(4).with_max_players(10);
    for readings in 1..=4 {
        let query = StatusQuery::new(0, limits).with_readings(readings);
        let mut query = Driven::new(query, Timing::default());
        query.send();
        query.receive(SERVER, &info(2));
        for _ in 0..8 {
            query.send();
            lists.iter().for_each(|datagram| query.receive(SERVER, datagram));
        }
        let answer = query.finish().unwrap().answer;
        let Completeness::Incomplete(missing) = answer.completeness() else { panic!("{readings}: complete") };
        assert!(missing.contains(Part::Rules) && missing.contains(Part::Players), "{readings}: {missing}");
    }
    let answer = Answer::from_datagrams([info(2)].into_iter().chain(lists), &limits).unwrap();
    let Completeness::Incomplete(missing) = answer.completeness() else { panic!("complete") };
    assert!(missing.contains(Part::Rules) && missing.contains(Part::Players), "{missing}");
}

/// The network delivers the request twice, somebody joins between the two replies, and a part of each is lost: four
/// players stand in two datagrams.
#[test]
fn players_who_stand_in_two_datagrams_are_of_two_replies() {
    let (before, after) = (players(4..=16), players(3..=7));
    assert!(before.len() > 450 && after.len() <= 450);
    let mut query = Driven::new(StatusQuery::new(0, Limits::default()).with_readings(1), Timing::default());
    query.send();
    query.receive(SERVER, &info(14));
    query.send();
    [whole_rules(), before, after].iter().for_each(|datagram| query.receive(SERVER, datagram));
    let answer = query.finish().unwrap().answer;
    assert_eq!(answer.players().count(), 18);
    let Completeness::Incomplete(missing) = answer.completeness() else { panic!("complete") };
    assert!(missing.contains(Part::Players) && !missing.contains(Part::Rules));
}
