//! What several readings of one list prove: nothing that any of them showed is missing from a complete answer.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use bytes::Bytes;
use queryport::session::Machine;
use queryport::ut2004::{
    Answer, Body, Command, FString, PlayerRecord, Request, Response, StatusQuery,
};
use queryport::{Completeness, Dialect, Limits, Outcome, Part, QueryError, QueryOptions, Timing};

use crate::common::driven::Driven;
use crate::common::link::Random;
use crate::common::pair::SERVER;
use crate::ut2004::{replies, status_with};

const MS: Duration = Duration::from_millis(1);

fn info(count: i32) -> Bytes {
    let mut status = status_with(0, 0, true);
    status.player_count = Some(u32::try_from(count).unwrap());
    replies(&Request::new(Command::Info), &status).remove(0)
}

const NAME: &str = "a player's name, long";

/// A datagram of players, the newest first.
fn players(numbers: std::ops::RangeInclusive<i32>) -> Bytes {
    named(numbers.rev().map(|number| (number, NAME, 0)))
}

/// A datagram of players, each with a number, a name and a stats id.
fn named<'a>(players: impl IntoIterator<Item = (i32, &'a str, u32)>) -> Bytes {
    let mut out = vec![0x80, 0, 0, 0, 2];
    for (number, name, stats_id) in players {
        let mut record = PlayerRecord::new(number, FString::narrow(name.as_bytes()));
        record.stats_id = stats_id;
        record.encode(&mut out).unwrap();
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

/// Plays a query in virtual time. `serve` gives for the type of each request what arrives, and after how many milliseconds.
/// Returns the answer, and what arrived before it.
fn play(
    query: StatusQuery,
    mut serve: impl FnMut(u8) -> Vec<(u32, Bytes)>,
) -> (Result<Outcome<Answer>, QueryError>, Vec<Bytes>) {
    let mut query = Driven::new(query, Timing::default());
    let (mut flying, mut sent, mut arrived) = (BTreeMap::new(), 0, Vec::new());
    loop {
        if let Some(command) = query.send().get(4) {
            for (after, datagram) in serve(*command) {
                sent += 1;
                flying.insert((query.now + MS * after, sent), datagram);
            }
        }
        if let Some(result) = query.session.poll_answer() {
            return (result, arrived);
        }
        let alarm = query.session.poll_timeout().unwrap().max(query.now);
        match flying.pop_first() {
            Some(((at, _), datagram)) if at <= alarm => {
                query.now = at;
                query.receive(SERVER, &datagram);
                arrived.push(datagram);
            }
            next => {
                flying.extend(next);
                query.now = alarm;
                query.session.handle_timeout(alarm);
            }
        }
    }
}

/// Plays a transcript: for each request for lists the datagrams and after how many milliseconds they arrive; the last for all
/// further requests, and the count of players for each request for the info, which arrives after 40 ms.
fn timed(counts: &[i32], readings: &[&[(u32, Bytes)]]) -> Answer {
    let (mut reading, mut counted) = (0, 0);
    let serve = |command| {
        if command == 0 {
            counted += 1;
            return vec![(40, info(counts[(counted - 1).min(counts.len() - 1)]))];
        }
        reading += 1;
        let batch = readings[(reading - 1).min(readings.len() - 1)];
        batch
            .iter()
            .filter(|(_, datagram)| command == 3 || command == datagram[4])
            .cloned()
            .collect()
    };
    play(StatusQuery::new(0, &QueryOptions::default()), serve)
        .0
        .unwrap()
        .answer
}

/// The same, where the datagrams arrive one after the other from 40 ms on.
fn transcript(counts: &[i32], readings: &[&[Bytes]]) -> Answer {
    let readings: Vec<Vec<_>> = readings
        .iter()
        .map(|batch| (40..).zip(batch.iter().cloned()).collect())
        .collect();
    timed(
        counts,
        &readings.iter().map(|batch| &batch[..]).collect::<Vec<_>>(),
    )
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
        &[
            &in_order[..],
            &without,
            &without,
            &in_order,
            &reversed,
            &in_order,
        ],
    ] {
        let answer = transcript(&[3], readings);
        assert_eq!(numbers(&answer), (1..=16).rev().collect::<Vec<_>>());
        assert_eq!(answer.completeness(), Completeness::COMPLETE);
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
    assert_eq!(
        (numbers(&answer).len(), answer.completeness()),
        (16, Completeness::COMPLETE)
    );
}

/// Nobody is counted and three spectators are listed; they are lost from the second reading, or from all but one.
#[test]
fn spectators_of_a_server_without_players_stay_in_the_answer() {
    let (with, without) = ([whole_rules(), players(1..=3)], [whole_rules()]);
    let answer = transcript(&[0], &[&with, &without, &with, &with]);
    assert_eq!(
        (numbers(&answer), answer.completeness()),
        (vec![3, 2, 1], Completeness::COMPLETE)
    );
    let answer = transcript(&[0], &[&with, &without]);
    assert_eq!(numbers(&answer), [3, 2, 1]);
    let missing = answer.completeness();
    assert!(!missing.is_complete() && !missing.lacks(Part::Rules) && !missing.lacks(Part::Info));
    let answer = transcript(&[0], &[&without]);
    assert_eq!(
        (numbers(&answer), answer.completeness()),
        (vec![], Completeness::COMPLETE)
    );
}

/// Three readings agree, and lack what an earlier one had.
#[test]
fn rules_that_only_one_reading_had_are_in_the_answer() {
    let value = "v".repeat(440);
    let (first, middle) = (
        rules(&[("ServerMode", "dedicated"), ("x", &value)]),
        rules(&[("y", &value), ("z", "")]),
    );
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
    assert_eq!(
        (answer.rules().count(), answer.completeness()),
        (5, Completeness::COMPLETE)
    );
}

/// Somebody joins between two readings: what was before is outdated, and three readings agree on what is now.
#[test]
fn a_player_who_joins_between_readings_is_in_an_answer_of_one_moment() {
    // Two of those who are listed are spectators: no count proves the list.
    let before = [whole_rules(), players(4..=16), players(1..=3)];
    let after = [whole_rules(), players(5..=17), players(1..=4)];
    let answer = transcript(&[14, 15], &[&before, &after]);
    assert_eq!(
        (numbers(&answer).len(), answer.completeness()),
        (17, Completeness::COMPLETE)
    );
    assert_eq!(
        answer.info().unwrap().current_players,
        15,
        "counted again, because the list is another one"
    );
    // A datagram of the first reading comes late, within the second.
    let late = [
        whole_rules(),
        players(5..=17),
        players(1..=4),
        players(4..=16),
    ];
    let answer = transcript(&[14, 15], &[&before[..1], &late, &after]);
    assert_eq!(
        (numbers(&answer).len(), answer.completeness()),
        (17, Completeness::COMPLETE)
    );
}

/// The list agrees three times, and the count has changed since it was asked for: the list is read again.
#[test]
fn a_count_that_has_changed_since_needs_new_readings() {
    let list = [whole_rules(), players(1..=5)];
    let answer = transcript(&[4, 4], &[&list]);
    assert_eq!(answer.completeness(), Completeness::COMPLETE, "a spectator");
    let answer = transcript(&[4, 5], &[&list]);
    assert_eq!(
        answer.completeness(),
        Completeness::COMPLETE,
        "a player came after the first count"
    );
    assert_eq!(answer.info().unwrap().current_players, 5);
    let left = [whole_rules(), players(1..=4)];
    let answer = transcript(&[4, 3], &[&list, &list, &list, &left]);
    assert_eq!(
        (numbers(&answer).len(), answer.completeness()),
        (4, Completeness::COMPLETE)
    );
}

/// A list that is another one in every reading is never taken for complete.
#[test]
fn a_list_that_changes_with_every_reading_is_incomplete() {
    let lists: Vec<[Bytes; 3]> = (0..12)
        .map(|n| [whole_rules(), players(10 + n..=25 + n), players(n..=9 + n)])
        .collect();
    let readings: Vec<&[Bytes]> = lists.iter().map(|list| &list[..]).collect();
    let answer = transcript(&[20], &readings);
    assert!(!answer.completeness().is_complete());
    assert_eq!(
        answer.players().count(),
        26,
        "one moment's players, none of them twice"
    );
}

/// One datagram has more rules than the limits allow, the other alone looks like a whole list. Players likewise.
#[test]
fn a_datagram_that_alone_exceeds_the_limits_is_missing_from_its_list() {
    let value = "v".repeat(100);
    let long = rules(&["a", "b", "c", "d", "e"].map(|key| (key, value.as_str())));
    let lists = [
        long,
        rules(&[("Mutator", "A")]),
        players(1..=16),
        players(17..=18),
    ];
    let limits = Limits::default().with_max_rules(4).with_max_players(10);
    for readings in 1..=4 {
        let query = StatusQuery::new(
            0,
            &QueryOptions::default()
                .with_limits(limits)
                .with_readings(readings),
        );
        let mut query = Driven::new(query, Timing::default());
        query.send();
        query.receive(SERVER, &info(2));
        for _ in 0..8 {
            query.send();
            lists
                .iter()
                .for_each(|datagram| query.receive(SERVER, datagram));
        }
        let answer = query.finish().unwrap().answer;
        let missing = answer.completeness();
        assert!(
            missing.lacks(Part::Rules) && missing.lacks(Part::Players),
            "{readings}: {missing}"
        );
    }
    let answer = Answer::from_datagrams([info(2)].into_iter().chain(lists), &limits).unwrap();
    let missing = answer.completeness();
    assert!(
        missing.lacks(Part::Rules) && missing.lacks(Part::Players),
        "{missing}"
    );
}

/// The network delivers the request twice, somebody joins between the two replies, and a part of each is lost: four
/// players stand in two datagrams.
#[test]
fn players_who_stand_in_two_datagrams_are_of_two_replies() {
    let (before, after) = (players(4..=16), players(3..=7));
    assert!(before.len() > 450 && after.len() <= 450);
    let mut query = Driven::new(
        StatusQuery::new(0, &QueryOptions::default().with_readings(1)),
        Timing::default(),
    );
    query.send();
    query.receive(SERVER, &whole_rules());
    query.send();
    [before, after, info(14)]
        .iter()
        .for_each(|datagram| query.receive(SERVER, datagram));
    let answer = query.finish().unwrap().answer;
    assert_eq!(answer.players().count(), 18);
    let missing = answer.completeness();
    assert!(missing.lacks(Part::Players) && !missing.lacks(Part::Rules));
}

/// Nobody is counted and a spectator is listed. His datagram is lost once or twice, or comes behind the wait for late
/// datagrams.
#[test]
fn a_count_of_zero_proves_nothing() {
    let (with, without) = ([whole_rules(), players(1..=1)], [whole_rules()]);
    for readings in [&[&without[..], &with][..], &[&without, &without, &with]] {
        let answer = transcript(&[0], readings);
        assert_eq!(
            (numbers(&answer), answer.completeness()),
            (vec![1], Completeness::COMPLETE)
        );
    }
    let late = [(40, whole_rules()), (90, players(1..=1))];
    let answer = timed(&[0], &[&late]);
    assert_eq!(
        (numbers(&answer), answer.completeness()),
        (vec![1], Completeness::COMPLETE)
    );
}

/// Sixteen are counted, and so many are in two datagrams of three. Some of them are not counted: they are in no team of a game
/// of teams, or they are the scores of the teams.
#[test]
fn a_count_that_is_reached_with_those_who_are_not_counted_proves_nothing() {
    let (red, blue) = (0x2000_0000, 0x4000_0000);
    let first = named((20..33).map(|number| (number, NAME, red)));
    let middle = named((7..20).map(|number| (number, NAME, if number < 10 { blue } else { 0 })));
    let spectators = named((1..4).map(|number| (number, NAME, 0)));
    let scores = named([(0, "Red Team", 0), (0, "Blue Team", 0), (5, NAME, red)]);
    for last in [spectators, scores] {
        let without = [whole_rules(), first.clone(), last.clone()];
        let all = [whole_rules(), first.clone(), middle.clone(), last];
        let answer = transcript(&[16], &[&without, &all]);
        assert_eq!(
            (numbers(&answer).len(), answer.completeness()),
            (29, Completeness::COMPLETE)
        );
    }
}

/// Rules of 498 and 20 bytes.
fn rules_of_two_datagrams() -> [Bytes; 2] {
    let keys: Vec<String> = (0..13).map(|number| format!("Key{number:02}")).collect();
    let value = "v".repeat(29);
    let mut pairs: Vec<_> = keys
        .iter()
        .map(|key| (key.as_str(), value.as_str()))
        .collect();
    pairs[0] = ("ServerMode", "dedicated and much more");
    let datagrams = [rules(&pairs), rules(&[("Mutator", "Muta")])];
    assert_eq!(datagrams.each_ref().map(Bytes::len), [498, 20]);
    datagrams
}

/// The long datagram is lost once, and a copy of the short one comes soon after each further request.
#[test]
fn copies_that_come_sooner_than_any_reply_are_no_reading() {
    let [long, short] = rules_of_two_datagrams();
    for soon in [1, 10, 19] {
        let first = [(40, short.clone()), (41, players(1..=1))];
        // Copies, the second of them no sooner than a reply, and no reply to the requests.
        for copies in [
            &[(soon, short.clone())][..],
            &[(soon, short.clone()), (soon + 30, short.clone())],
        ] {
            let answer = timed(&[1], &[&first, copies, copies, &[]]);
            assert!(!answer.completeness().is_complete(), "after {soon} ms");
        }
        // The replies take longer than those before them.
        let late = [
            (soon, short.clone()),
            (150, long.clone()),
            (151, short.clone()),
        ];
        let whole = [(150, long.clone()), (151, short.clone())];
        let answer = timed(&[1], &[&first, &late, &whole]);
        assert_eq!(
            (answer.rules().count(), answer.completeness()),
            (14, Completeness::COMPLETE)
        );
    }
}

/// The server does not know the request for both lists, and the one for the info is lost once: no reply says for certain how long
/// a round trip takes. A copy of the rules comes soon after the request that asks for players.
#[test]
fn a_copy_of_the_rules_does_not_prove_that_nobody_is_listed() {
    let mut infos = 0;
    let serve = |command| match command {
        0 => {
            infos += 1;
            if infos == 1 {
                Vec::new()
            } else {
                vec![(40, info(0))]
            }
        }
        1 => vec![(40, whole_rules()), (50, whole_rules())],
        _ => Vec::new(),
    };
    let query = StatusQuery::new(0, &QueryOptions::default().with_readings(1));
    let answer = play(query, serve).0.unwrap().answer;
    assert!(!answer.completeness().is_complete());
}

/// Plays a query of a server that lists nobody, whatever it counts. The first reply takes other milliseconds than those after it.
/// Returns what was asked too.
fn of_nobody(
    options: QueryOptions,
    count: i32,
    (first, later): (u32, u32),
) -> (Outcome<Answer>, Vec<u8>) {
    let mut asked = Vec::new();
    let serve = |command| {
        asked.push(command);
        let after = if asked.len() == 1 { first } else { later };
        match command {
            0 => vec![(after, info(count))],
            2 => Vec::new(),
            _ => vec![(after, whole_rules())],
        }
    };
    let outcome = play(StatusQuery::new(0, &options), serve).0.unwrap();
    (outcome, asked)
}

/// The first reply waits for ARP: the others come sooner than half of its round trip.
#[test]
fn early_rules_show_that_nobody_is_listed() {
    for times in [(9, 1), (90, 20), (400, 20)] {
        let (outcome, asked) = of_nobody(QueryOptions::default(), 0, times);
        assert_eq!(
            outcome.answer.completeness(),
            Completeness::COMPLETE,
            "{times:?}: {asked:?}"
        );
        assert!(
            outcome.elapsed < MS * 1100,
            "{times:?}: {:?}",
            outcome.elapsed
        );
    }
}

/// Bots are counted and not listed.
#[test]
fn players_who_are_counted_and_not_listed_are_missing_soon() {
    let (outcome, asked) = of_nobody(QueryOptions::default(), 5, (20, 20));
    assert!(outcome.answer.completeness().lacks(Part::Players));
    assert!(
        !asked.contains(&2) && outcome.elapsed < MS * 1500,
        "{:?}: {asked:?}",
        outcome.elapsed
    );
}

/// The request has arrived, whatever the limits say of its reply.
#[test]
fn rules_over_the_limit_show_that_nobody_is_listed() {
    let limits = Limits::default().with_max_rules(1);
    let (outcome, asked) = of_nobody(QueryOptions::default().with_limits(limits), 0, (20, 20));
    let missing = outcome.answer.completeness();
    assert!(missing.lacks(Part::Rules) && !missing.lacks(Part::Players));
    assert!(
        outcome.elapsed < MS * 500,
        "{:?}: {asked:?}",
        outcome.elapsed
    );
    // A server that sends nothing else is not offline.
    let only_rules = |command| {
        if command == 3 {
            vec![(20, whole_rules())]
        } else {
            Vec::new()
        }
    };
    let query = StatusQuery::new(0, &QueryOptions::default().with_limits(limits));
    let missing = play(query, only_rules).0.unwrap().answer.completeness();
    assert!(
        missing.lacks(Part::Info) && missing.lacks(Part::Rules) && missing.lacks(Part::Players)
    );
}

#[test]
fn a_server_of_separate_lists_is_never_asked_for_both() {
    let options = QueryOptions::default().with_dialect(Dialect::SeparateLists);
    let (outcome, asked) = of_nobody(options, 0, (20, 20));
    assert_eq!(asked[..3], [1, 0, 2]);
    assert!(
        !asked.contains(&3) && outcome.answer.completeness().lacks(Part::Players),
        "{asked:?}"
    );
}

/// A server that numbers no player, asked by a request that arrives twice: four players are in the parts of both replies.
#[test]
fn players_without_numbers_who_stand_in_two_datagrams_are_of_two_replies() {
    let names: Vec<String> = (0..18)
        .map(|number| format!("a player's name, {number:02}"))
        .collect();
    let of = |range: std::ops::Range<usize>| {
        named(names[range].iter().map(|name| (0, name.as_str(), 0)))
    };
    let both = [whole_rules(), of(0..14), of(10..14)];
    let answer = transcript(&[18], &[&both]);
    assert!(!answer.completeness().is_complete());
    let answer = Answer::from_datagrams(
        [info(18)].into_iter().chain(both.clone()),
        &Limits::default(),
    );
    assert!(!answer.unwrap().completeness().is_complete());
    // The later replies arrive once, and whole.
    let answer = transcript(&[17], &[&both, &[whole_rules(), of(1..15), of(15..18)]]);
    assert_eq!(
        (answer.players().count(), answer.completeness()),
        (17, Completeness::COMPLETE)
    );
}

/// The map changes between two readings, each of which loses a datagram, and a copy from before comes with the second: as many
/// are listed as are counted.
#[test]
fn parts_of_two_maps_are_no_list() {
    let first = [whole_rules(), players(4..=16)];
    let second = [whole_rules(), players(4..=16), players(21..=23)];
    let then = [whole_rules(), players(24..=36), players(21..=23)];
    let answer = transcript(&[16], &[&first, &second, &then]);
    assert!(
        !answer.completeness().is_complete(),
        "{:?}",
        numbers(&answer)
    );
    // The players stay, and their scores begin at 0.
    let scored = |numbers: std::ops::RangeInclusive<i32>| {
        let mut out = vec![0x80, 0, 0, 0, 2];
        for number in numbers.rev() {
            let mut record = PlayerRecord::new(number, FString::narrow(NAME.as_bytes()));
            record.score = 7;
            record.encode(&mut out).unwrap();
        }
        Bytes::from(out)
    };
    let first = [whole_rules(), scored(4..=16)];
    let second = [
        whole_rules(),
        scored(4..=16),
        players(4..=16),
        players(1..=3),
    ];
    let then = [whole_rules(), players(4..=16), players(1..=3)];
    let answer = transcript(&[16], &[&first, &second, &then]);
    assert_eq!(
        (numbers(&answer).len(), answer.completeness()),
        (16, Completeness::COMPLETE)
    );
    assert!(answer.players().all(|player| player.score == 0));
}

/// The datagrams of a list in the order of arrival make the list in the order of the server, as far as that is known.
#[test]
fn the_first_rule_goes_first_the_short_datagram_last_and_player_numbers_fall() {
    let value = "v".repeat(440);
    let first = rules(&[("ServerMode", "dedicated"), ("x", &value)]);
    let (middle, last) = (
        rules(&[("y", &value), ("z", "")]),
        rules(&[("Mutator", "A")]),
    );
    let lists = [players(30..=42), players(10..=22), players(4..=6)];
    for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2], [1, 2, 0]] {
        let rules = order.map(|at| [&first, &middle, &last][at].clone());
        let lists = order.map(|at| lists[at].clone());
        let captured = [info(29)].into_iter().chain(rules).chain(lists);
        let answer = Answer::from_datagrams(captured, &Limits::default()).unwrap();
        let keys: Vec<_> = answer
            .rules()
            .map(|(key, _)| key.text().to_string())
            .collect();
        assert_eq!(keys, ["ServerMode", "x", "y", "z", "Mutator"]);
        assert!(numbers(&answer).is_sorted_by(|a, b| a > b));
    }
}

/// A rule that shows the time is in another version in each reading, and one reading has two of them.
#[test]
fn a_rule_with_a_changing_value_is_one_rule() {
    let at = |rate: &str| rules(&[("GoalScore", "25"), ("Tick Rate", rate), ("Mutator", "A")]);
    let readings = [[at("44.8")], [at("45")], [at("44.9")]];
    let answer = transcript(&[0], &readings.each_ref().map(|reading| &reading[..]));
    assert_eq!(
        (answer.rules().count(), answer.completeness()),
        (3, Completeness::COMPLETE)
    );
    assert_eq!(
        answer.get("Tick Rate").unwrap().text(),
        "44.9",
        "the latest"
    );
    let answer = transcript(&[0], &[&[at("44.8"), at("45")], &readings[0]]);
    assert_eq!(
        (answer.rules().count(), answer.completeness()),
        (3, Completeness::COMPLETE)
    );
}

#[test]
fn a_cut_datagram_is_replaced_when_it_comes_whole() {
    let whole = rules(&[("ServerMode", "dedicated"), ("Mutator", "A")]);
    let cut = whole.slice(..whole.len() - 1);
    let answer = transcript(&[0], &[std::slice::from_ref(&cut), &[whole]]);
    assert_eq!(
        (answer.rules().count(), answer.completeness()),
        (2, Completeness::COMPLETE)
    );
    let answer = transcript(&[0], &[&[cut]]);
    assert_eq!(answer.rules().count(), 1);
    assert!(!answer.completeness().is_complete());
}

#[test]
fn limits_hold_over_all_datagrams() {
    let limits = Limits::default().with_max_players(20);
    let captured = [
        info(14),
        whole_rules(),
        players(8..=20),
        players(1..=7),
        players(21..=28),
    ];
    let answer = Answer::from_datagrams(captured, &limits).unwrap();
    assert_eq!(answer.players().count(), 20);
    assert!(!answer.completeness().is_complete());
}

#[test]
fn limits_hold_over_the_info_and_both_lists() {
    let value = "v".repeat(420);
    let part = |number: i32| {
        let key = format!("Key{number}");
        [
            rules(&[(&key, &value), ("Mutator", &key)]),
            players(100 * number..=100 * number + 13),
        ]
    };
    let captured = std::iter::once(info(56)).chain((0..4).flat_map(part));
    let limits = Limits::default().with_max_fragments(4);
    let answer = Answer::from_datagrams(captured.clone(), &limits).unwrap();
    assert_eq!(answer.datagrams().count(), 4);
    let answer =
        Answer::from_datagrams(captured, &Limits::default().with_max_answer_bytes(2048)).unwrap();
    assert!(answer.datagrams().map(<[u8]>::len).sum::<usize>() <= 2048);
}

/// What a server holds at one moment: its count, and the datagrams of its rules and players.
struct Moment {
    count: i32,
    lists: [Vec<Bytes>; 2],
}

/// Cuts entries into datagrams as the game's server does.
fn cut(kind: u8, entries: impl Iterator<Item = Vec<u8>>) -> Vec<Bytes> {
    let mut datagrams: Vec<Vec<u8>> = Vec::new();
    for entry in entries {
        match datagrams.last_mut() {
            Some(last) if last.len() <= 450 => last.extend(entry),
            _ => datagrams.push([&[0x80, 0, 0, 0, kind][..], &entry].concat()),
        }
    }
    datagrams.into_iter().map(Bytes::from).collect()
}

/// A server with some players, of whom some are not counted, and the same server after a change.
fn moments(random: &mut Random) -> [Moment; 2] {
    let mut below = |most| random.below(most);
    let players = [0, 0, 1 + below(8), 9 + below(30)][below(4) as usize];
    let spectators = [0, 1 + below(3), below(16)][below(3) as usize];
    let (has_teams, has_numbers) = (below(2) == 0, below(8) != 0);
    let mut list: Vec<(i32, u64, i32, u32)> = (0..players + spectators)
        .map(|number| {
            let team = if number < players && has_teams {
                0x2000_0000 << below(2)
            } else {
                0
            };
            (
                if has_numbers { 1 + number as i32 } else { 0 },
                number,
                5,
                team,
            )
        })
        .collect();
    for from in (1..list.len()).rev() {
        list.swap(from, below(from as u64 + 1) as usize);
    }
    let mut rules: Vec<(String, String)> = vec![("ServerMode".into(), "dedicated".into())];
    rules.extend(
        (0..[3, 20, 60][below(3) as usize]).map(|rule| (format!("Rule{rule}"), "a value".into())),
    );
    let moment = |count: u64, list: &[(i32, u64, i32, u32)], rules: &[(String, String)]| Moment {
        count: count as i32,
        lists: [
            cut(
                1,
                rules.iter().map(|(key, value)| {
                    let mut out = Vec::new();
                    FString::narrow(key.as_bytes()).encode(&mut out).unwrap();
                    FString::narrow(value.as_bytes()).encode(&mut out).unwrap();
                    out
                }),
            ),
            cut(
                2,
                list.iter().map(|(number, name, score, stats_id)| {
                    let name = format!("a player's name {name}");
                    let mut record = PlayerRecord::new(*number, FString::narrow(name.as_bytes()));
                    (record.score, record.stats_id) = (*score, *stats_id);
                    let mut out = Vec::new();
                    record.encode(&mut out).unwrap();
                    out
                }),
            ),
        ],
    };
    let before = moment(players, &list, &rules);
    let mut count = players;
    let joining = (if has_numbers { 500 } else { 0 }, 500, 0, 0);
    match below(6) {
        0 => {
            list.insert(0, joining);
            count += 1;
        }
        1 if count > 0 => {
            list.remove(0);
            count -= 1;
        }
        2 | 3 if !list.is_empty() => {
            let index = below(list.len() as u64) as usize;
            list[index] = joining;
        }
        // Another map: everybody has another number, or keeps it.
        4 => list
            .iter_mut()
            .for_each(|(number, name, ..)| (*number, *name) = (*number + 100, *name + 100)),
        _ => list.iter_mut().for_each(|(.., score, _)| *score = 0),
    }
    let rule = below(rules.len() as u64) as usize;
    match below(4) {
        0 => rules[rule].1 = "another".into(),
        1 => rules[rule].1 = "a longer value than before".into(),
        2 => rules.insert(1, ("TimeLimit".into(), "20".into())),
        _ => {}
    }
    [before, moment(count, &list, &rules)]
}

/// The players of a datagram, whatever their scores, or the rules.
fn names(datagram: &[u8]) -> Vec<(i32, Vec<u8>)> {
    match Response::parse(datagram, &Limits::default()).unwrap().body {
        Body::Players(players) => players
            .iter()
            .map(|record| (record.player_num, record.name.raw().to_vec()))
            .collect(),
        Body::Rules(rules) => rules
            .iter()
            .map(|(key, value)| (0, [key.raw(), b"=", value.raw()].concat()))
            .collect(),
        _ => Vec::new(),
    }
}

/// Lists of two moments, with spectators and without players, over a network that loses, reorders and copies: a complete answer
/// has each list as it was at one moment, except where the missing datagrams never arrived.
#[test]
fn a_complete_list_is_of_one_moment_or_lacks_what_never_arrived() {
    let (mut complete, mut lost) = (0, 0);
    for seed in 0..6000 {
        let mut random = Random(seed);
        let moments = moments(&mut random);
        let loss = [0.0, 0.1, 0.3][random.below(3) as usize];
        let jitter = 1 + [0, 5, 60, 400][random.below(4) as usize];
        let copies = random.below(3);
        let changes_at = random.below(8);
        let mut requests = 0;
        let serve = |command| {
            requests += 1;
            let moment = &moments[usize::from(requests > changes_at)];
            let info = info(moment.count);
            let of = |kind: u8| command == kind || command == 3;
            let lists = moment.lists.iter().zip(1..).filter(|(_, kind)| of(*kind));
            let reply = (command == 0)
                .then_some(&info)
                .into_iter()
                .chain(lists.flat_map(|(list, _)| list));
            let mut arriving = Vec::new();
            for datagram in reply {
                let after = 40 + random.below(jitter) as u32;
                if !random.chance(loss) {
                    arriving.push((after, datagram.clone()));
                }
                for _ in 0..copies {
                    if random.chance(0.3) {
                        arriving.push((after + 40 + random.below(400) as u32, datagram.clone()));
                    }
                }
            }
            arriving
        };
        let (result, arrived) = play(StatusQuery::new(0, &QueryOptions::default()), serve);
        let Ok(answer) = result.map(|outcome| outcome.answer) else {
            continue;
        };
        if !answer.completeness().is_complete() {
            continue;
        }
        complete += 1;
        for (kind, list) in [(1, 0), (2, 1)] {
            // Pings and scores may be those of a late copy.
            let of_kind = |datagrams: &[&[u8]]| -> BTreeSet<_> {
                datagrams
                    .iter()
                    .filter(|datagram| datagram[4] == kind)
                    .map(|datagram| names(datagram))
                    .collect()
            };
            let got = of_kind(&answer.datagrams().collect::<Vec<_>>());
            let had = of_kind(
                &arrived
                    .iter()
                    .map(|datagram| &datagram[..])
                    .collect::<Vec<_>>(),
            );
            let held = moments.each_ref().map(|moment| {
                of_kind(
                    &moment.lists[list]
                        .iter()
                        .map(|datagram| &datagram[..])
                        .collect::<Vec<_>>(),
                )
            });
            if held.contains(&got) {
                continue;
            }
            lost += 1;
            let is_lost = |all: &BTreeSet<_>| {
                got.is_subset(all) && all.difference(&got).all(|one| !had.contains(one))
            };
            assert!(held.iter().any(is_lost), "seed {seed}: kind {kind}");
        }
    }
    println!("{complete} complete, {lost} lists of them without what never arrived");
    assert!(
        complete > 4000 && lost < complete / 100,
        "{complete} complete, {lost} of them not whole"
    );
}
