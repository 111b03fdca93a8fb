//! The replies to requests for a list: what proves them, and which of them is the answer.

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

/// Plays a query in virtual time. For the type of each request, `serve` returns the datagrams that
/// arrive, and after how many milliseconds. Returns the answer, and the datagrams that arrived
/// before it.
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

/// Plays a transcript: for each request for lists, the datagrams and their delays in milliseconds.
/// The last of `replies` answers all further requests. `counts` has the number of players for each
/// request for the info, whose reply arrives after 40 ms.
fn timed(counts: &[i32], replies: &[&[(u32, Bytes)]]) -> Answer {
    let (mut reply, mut counted) = (0, 0);
    let serve = |command| {
        if command == 0 {
            counted += 1;
            return vec![(40, info(counts[(counted - 1).min(counts.len() - 1)]))];
        }
        reply += 1;
        let batch = replies[(reply - 1).min(replies.len() - 1)];
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

/// The same, with the datagrams one after the other from 40 ms on.
fn transcript(counts: &[i32], replies: &[&[Bytes]]) -> Answer {
    let replies: Vec<Vec<_>> = replies
        .iter()
        .map(|batch| (40..).zip(batch.iter().cloned()).collect())
        .collect();
    timed(
        counts,
        &replies.iter().map(|batch| &batch[..]).collect::<Vec<_>>(),
    )
}

fn numbers(answer: &Answer) -> Vec<i32> {
    answer.players().map(|player| player.player_num).collect()
}

const WHOLE: Completeness = Completeness::COMPLETE;

/// Whether only the end of a list is unknown.
fn lacks_only_the_end(answer: &Answer) -> bool {
    let missing = answer.completeness();
    let parts = [Part::Info, Part::Rules, Part::Players];
    missing.lacks(Part::End) && !parts.into_iter().any(|part| missing.lacks(part))
}

/// Rules of two datagrams, which prove nothing by themselves.
fn rules_of_two_datagrams() -> [Bytes; 2] {
    let value = "v".repeat(460);
    let first = rules(&[("ServerMode", "dedicated"), ("x", &value)]);
    [first, rules(&[("GoalScore", "25"), ("Mutator", "A")])]
}

#[test]
fn players_are_proved_by_the_count_of_the_info() {
    let one_reply = |count, list: &[Bytes]| {
        let list = [&[whole_rules()][..], list].concat();
        let answer = transcript(&[count], &[&list, &[whole_rules()]]);
        (numbers(&answer).len(), answer.completeness())
    };
    assert_eq!(one_reply(3, &[players(1..=3)]), (3, WHOLE));
    assert_eq!(
        one_reply(16, &[players(4..=16), players(1..=3)]),
        (16, WHOLE)
    );
    assert_eq!(one_reply(0, &[]), (0, WHOLE), "none counted, none listed");
}

/// Spectators are listed and not counted. The first reply has lost a datagram with more of them.
#[test]
fn more_players_than_counted_take_a_second_reply() {
    let first = [whole_rules(), players(1..=2)];
    let whole = [whole_rules(), players(3..=15), players(1..=2)];
    for count in [0, 1] {
        let answer = transcript(&[count], &[&first, &whole]);
        assert_eq!((numbers(&answer).len(), answer.completeness()), (15, WHOLE));
        let answer = transcript(&[count], &[&first]);
        assert_eq!((numbers(&answer).len(), answer.completeness()), (2, WHOLE));
    }
}

/// The server counts thirteen of sixteen people. The first reply has lost its last datagram, and
/// the other one lists thirteen.
#[test]
fn as_many_as_counted_without_an_end_take_a_second_reply() {
    let first = [whole_rules(), players(4..=16)];
    let whole = [whole_rules(), players(4..=16), players(1..=3)];
    let answer = transcript(&[13], &[&first, &whole]);
    assert_eq!((numbers(&answer).len(), answer.completeness()), (16, WHOLE));
    let answer = transcript(&[13], &[&first]);
    assert_eq!((numbers(&answer).len(), answer.completeness()), (13, WHOLE));
    let answer = transcript(&[12], &[&first]);
    assert!(lacks_only_the_end(&answer));
}

/// The first player of some servers has the number 0; a team score also has a ping of 0.
#[test]
fn a_player_with_number_0_and_a_ping_is_counted() {
    for (ping, is_whole) in [(28, true), (0, false)] {
        let mut row = PlayerRecord::new(0, FString::narrow(b"Ann"));
        row.ping = ping;
        let mut list = vec![0x80, 0, 0, 0, 2];
        row.encode(&mut list).unwrap();
        let datagrams = [info(1), whole_rules(), list.into()];
        let answer = Answer::from_datagrams(datagrams, &Limits::default()).unwrap();
        assert_eq!(answer.completeness() == WHOLE, is_whole, "{ping} ms");
    }
}

/// The second reply has one player more than the first.
#[test]
fn rows_that_the_server_does_not_count_prove_nothing() {
    const RED: u32 = 0x2000_0000;
    let teams = [(0, "Red Team", 0), (0, "Blue Team", 0), (1, "Ann", RED)];
    let spectator = [(1, "Ann", RED), (2, "Bob", 0), (3, "Eve", 0)];
    for (count, first) in [(3, &teams), (2, &spectator)] {
        let whole = first
            .iter()
            .copied()
            .chain([(9, "Joe", RED), (8, "Jim", RED)]);
        let replies = [
            [whole_rules(), named(first.iter().copied())],
            [whole_rules(), named(whole)],
        ];
        let answer = transcript(&[count], &replies.each_ref().map(|reply| &reply[..]));
        assert_eq!(
            (numbers(&answer).len(), answer.completeness()),
            (5, WHOLE),
            "{count}"
        );
    }
}

#[test]
fn one_short_datagram_of_the_stock_rules_is_a_whole_list() {
    let answer = transcript(&[0], &[&[whole_rules()], &[]]);
    assert_eq!((answer.rules().count(), answer.completeness()), (2, WHOLE));
    let [_, last] = rules_of_two_datagrams();
    let other = transcript(&[0], &[&[last], &[]]);
    assert!(lacks_only_the_end(&other), "{}", other.completeness());
}

/// The order of the datagrams, pings, scores and values may differ.
#[test]
fn two_replies_in_a_row_with_the_same_entries_prove_a_list() {
    let [first, last] = rules_of_two_datagrams();
    let later = rules(&[("GoalScore", "30"), ("Mutator", "A")]);
    let answer = transcript(&[0], &[&[first.clone(), last], &[later, first]]);
    assert_eq!((answer.rules().count(), answer.completeness()), (4, WHOLE));
    assert_eq!(
        answer.get("GoalScore").unwrap().text(),
        "30",
        "the last reply"
    );
    // Bots are counted and not listed.
    let reply = [whole_rules(), players(1..=3)];
    let answer = transcript(&[5], &[&reply]);
    assert_eq!((numbers(&answer).len(), answer.completeness()), (3, WHOLE));
}

/// The count does not include spectators: if the rules are requested again, so are the players.
#[test]
fn a_lost_spectator_comes_with_the_rules_that_are_asked_for_again() {
    let rules = rules_of_two_datagrams();
    let with_spectator = [&rules[..], &[players(1..=1)]].concat();
    let answer = transcript(&[0], &[&rules, &with_spectator]);
    assert_eq!((numbers(&answer), answer.completeness()), (vec![1], WHOLE));
    let answer = transcript(&[0], &[&rules]);
    assert_eq!((numbers(&answer), answer.completeness()), (vec![], WHOLE));
}

#[test]
fn replies_are_never_merged() {
    let [first, last] = rules_of_two_datagrams();
    let (only_first, only_last) = ([first.clone()], [last.clone()]);
    let answer = transcript(&[0], &[&only_first, &only_last, &only_first]);
    assert_eq!(answer.rules().count(), 2, "one reply of three");
    assert!(lacks_only_the_end(&answer), "{}", answer.completeness());
    let answer = transcript(&[0], &[&only_first, &[first, last], &only_last]);
    assert_eq!(answer.rules().count(), 4, "the largest");
    assert!(lacks_only_the_end(&answer), "{}", answer.completeness());
}

#[test]
fn the_last_of_two_equal_replies_is_the_answer_after_a_change() {
    let (before, after) = ([players(1..=3)], [players(2..=5)]);
    let with_rules = |list: &[Bytes]| [&[whole_rules()][..], list].concat();
    let replies = [&before[..], &after, &after].map(with_rules);
    let answer = transcript(&[9], &replies.each_ref().map(|reply| &reply[..]));
    assert_eq!(
        (numbers(&answer), answer.completeness()),
        (vec![5, 4, 3, 2], WHOLE)
    );
}

/// One loss does not make a list undecided.
#[test]
fn two_equal_replies_prove_a_list_although_the_one_between_them_lost_a_datagram() {
    let [first, last] = rules_of_two_datagrams();
    let middle = rules(&[("y", &"v".repeat(460))]);
    let whole = [first.clone(), middle.clone(), last.clone()];
    let without_middle = [first.clone(), last.clone()];
    let answer = transcript(&[0], &[&whole, &without_middle, &whole]);
    assert_eq!((answer.rules().count(), answer.completeness()), (5, WHOLE));
    // The one between them has what both lack.
    let without_first = [middle, last];
    let answer = transcript(&[0], &[&without_middle, &without_first, &without_middle]);
    assert!(!answer.completeness().is_complete());
}

/// The same datagram is lost from the second reply and from the third.
#[test]
fn replies_that_lack_entries_of_an_earlier_one_prove_nothing() {
    let [first, last] = rules_of_two_datagrams();
    let middle = rules(&[("y", &"v".repeat(460))]);
    let whole = [first.clone(), middle, last.clone()];
    let partial = [first, last];
    let answer = transcript(&[0], &[&whole, &partial, &partial]);
    assert_eq!(answer.rules().count(), 5, "the largest");
    assert!(lacks_only_the_end(&answer), "{}", answer.completeness());
}

/// A server that lists nobody sends no datagram of players. The first silence may be a loss.
#[test]
fn silence_proves_an_empty_list_the_second_time() {
    for has_spectator in [true, false] {
        let mut asked = Vec::new();
        let serve = |command| {
            asked.push(command);
            let is_repeated = asked.ends_with(&[2, 2]);
            match command {
                0 => vec![(40, info(0))],
                1 => vec![(40, whole_rules())],
                _ if has_spectator && is_repeated => vec![(40, players(1..=1))],
                _ => Vec::new(),
            }
        };
        let options = QueryOptions::default().with_dialect(Dialect::SeparateLists);
        let outcome = play(StatusQuery::new(0, &options), serve).0.unwrap();
        // The server does not count the spectator, so the list with one is requested again.
        let requests: &[u8] = if has_spectator {
            &[1, 0, 2, 2, 2]
        } else {
            &[1, 0, 2, 2]
        };
        assert_eq!(asked, requests);
        assert_eq!(numbers(&outcome.answer).len(), usize::from(has_spectator));
        assert_eq!(outcome.answer.completeness(), WHOLE);
    }
}

#[test]
fn a_list_is_asked_for_three_times_at_most() {
    let (mut asked, mut reply) = (Vec::new(), 0);
    let serve = |command| {
        asked.push(command);
        if command == 0 {
            return vec![(40, info(40))];
        }
        reply += 1;
        vec![(40, whole_rules()), (41, players(1..=reply))]
    };
    let query = StatusQuery::new(0, &QueryOptions::default());
    let answer = play(query, serve).0.unwrap().answer;
    assert_eq!(asked, [3, 0, 2, 2]);
    assert_eq!(numbers(&answer).len(), 3, "the largest");
    assert!(
        answer.completeness().lacks(Part::Players),
        "fewer than counted"
    );
}

/// An idle, a full and a usual server.
#[test]
fn a_usual_server_takes_two_requests() {
    let full = [
        whole_rules(),
        players(17..=29),
        players(4..=16),
        players(1..=3),
    ];
    for (count, reply) in [(0, &full[..1]), (29, &full)] {
        let mut asked = Vec::new();
        let serve = |command| {
            asked.push(command);
            match command {
                0 => vec![(40, info(count))],
                _ => (40..).zip(reply.iter().cloned()).collect(),
            }
        };
        let query = StatusQuery::new(0, &QueryOptions::default());
        let outcome = play(query, serve).0.unwrap();
        assert_eq!((asked, outcome.elapsed), (vec![3, 0], MS * 80));
        assert_eq!(outcome.answer.completeness(), WHOLE);
        assert_eq!(numbers(&outcome.answer).len(), count as usize);
    }
}

/// The network delivers the request twice, somebody joins between the two replies, and a part of
/// each is lost.
#[test]
fn a_player_in_two_datagrams_shows_two_replies() {
    let mixed = [whole_rules(), players(4..=16), players(3..=7)];
    let answer = Answer::from_datagrams(
        [info(16)].into_iter().chain(mixed.clone()),
        &Limits::default(),
    );
    assert!(!answer.unwrap().completeness().is_complete());
    let whole = [whole_rules(), players(4..=16), players(1..=3)];
    let answer = transcript(&[16], &[&mixed, &whole]);
    assert_eq!((numbers(&answer).len(), answer.completeness()), (16, WHOLE));
}

/// The same of a server that numbers no player.
#[test]
fn players_without_numbers_are_told_apart_by_their_names() {
    let names: Vec<String> = (0..18)
        .map(|number| format!("a player's name, {number:02}"))
        .collect();
    let of = |range: std::ops::Range<usize>| {
        named(names[range].iter().map(|name| (0, name.as_str(), 0)))
    };
    let mixed = [whole_rules(), of(0..14), of(10..14)];
    let whole = [whole_rules(), of(0..14), of(14..18)];
    let answer = transcript(&[18], &[&mixed, &whole]);
    assert_eq!(
        (answer.players().count(), answer.completeness()),
        (18, WHOLE)
    );
}

/// Rows with number 0 are scores of teams: these are two rows. A number tells a player apart.
#[test]
fn only_rows_with_number_0_are_told_apart_by_their_names() {
    let first = || (4..=16).rev().map(|number| (number, NAME, 0));
    let last = || (1..=3).rev().map(|number| (number, NAME, 0));
    for (one, other, count, is_whole) in [
        ((0, "Red Team", 0), (0, "Blue Team", 0), 16, true),
        ((0, "Red Team", 0), (0, "Red Team", 0), 16, false),
        ((20, "Ann", 0), (21, "Ann", 0), 18, true),
        ((20, "Ann", 0), (20, "Bob", 0), 18, false),
    ] {
        let datagrams = [
            info(count),
            whole_rules(),
            named([one].into_iter().chain(first())),
            named([other].into_iter().chain(last())),
        ];
        let answer = Answer::from_datagrams(datagrams, &Limits::default()).unwrap();
        assert_eq!(
            answer.completeness() == WHOLE,
            is_whole,
            "{one:?}, {other:?}"
        );
    }
}

/// Two versions of a datagram in one reply belong to two moments.
#[test]
fn a_rule_with_a_changing_value_is_one_rule() {
    let at = |rate: &str| rules(&[("GoalScore", "25"), ("Tick Rate", rate), ("Mutator", "A")]);
    let answer = transcript(&[0], &[&[at("44.8")], &[at("45")]]);
    assert_eq!((answer.rules().count(), answer.completeness()), (3, WHOLE));
    assert_eq!(answer.get("Tick Rate").unwrap().text(), "45", "the latest");
    let answer = transcript(&[0], &[&[at("44.8"), at("45")], &[at("44.9")]]);
    assert_eq!((answer.rules().count(), answer.completeness()), (3, WHOLE));
}

/// Either the server counts bots and lists nobody, or every datagram of players was lost.
#[test]
fn players_who_are_counted_and_never_listed_are_missing() {
    let (outcome, asked) = of_nobody(QueryOptions::default(), 5);
    assert!(outcome.answer.completeness().lacks(Part::Players));
    assert_eq!(asked, [3, 0, 3, 3]);
    assert!(outcome.elapsed < MS * 300, "{:?}", outcome.elapsed);
    // The third reply has them.
    let rules_only = [whole_rules()];
    let whole = [whole_rules(), players(1..=5)];
    let answer = transcript(&[5], &[&rules_only, &rules_only, &whole]);
    assert_eq!((numbers(&answer).len(), answer.completeness()), (5, WHOLE));
}

/// Plays a query of a server that lists nobody, whatever it counts. Returns the requests too.
fn of_nobody(options: QueryOptions, count: i32) -> (Outcome<Answer>, Vec<u8>) {
    let mut asked = Vec::new();
    let serve = |command| {
        asked.push(command);
        match command {
            0 => vec![(20, info(count))],
            2 => Vec::new(),
            _ => vec![(20, whole_rules())],
        }
    };
    let outcome = play(StatusQuery::new(0, &options), serve).0.unwrap();
    (outcome, asked)
}

/// The request has arrived, even if its reply exceeds the limits.
#[test]
fn rules_over_the_limit_show_that_nobody_is_listed() {
    let limits = Limits::default().with_max_rules(1);
    let (outcome, asked) = of_nobody(QueryOptions::default().with_limits(limits), 0);
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
    let (outcome, asked) = of_nobody(options, 0);
    assert_eq!(asked, [1, 0, 2, 2]);
    assert_eq!(
        outcome.answer.completeness(),
        WHOLE,
        "silence twice is an empty list"
    );
}

/// One datagram has more rules than the limits allow, the other alone looks like a whole list.
/// Players likewise.
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
    let query = StatusQuery::new(0, &QueryOptions::default().with_limits(limits));
    let mut query = Driven::new(query, Timing::default());
    query.send();
    for datagram in &lists {
        query.receive(SERVER, datagram);
    }
    query.send();
    query.receive(SERVER, &info(2));
    let missing = query.finish().unwrap().answer.completeness();
    assert!(
        missing.lacks(Part::Rules) && missing.lacks(Part::Players),
        "{missing}"
    );
    let answer = Answer::from_datagrams([info(2)].into_iter().chain(lists), &limits).unwrap();
    let missing = answer.completeness();
    assert!(
        missing.lacks(Part::Rules) && missing.lacks(Part::Players),
        "{missing}"
    );
}

/// In any order of arrival, the list has the server's order as far as that is known.
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

/// The state of a server at one moment: its count, and the datagrams of its rules and players.
struct Moment {
    count: i32,
    lists: [Vec<Bytes>; 2],
}

impl Moment {
    /// The datagrams of a reply.
    fn reply(&self, command: u8) -> Vec<Bytes> {
        let [rules, players] = &self.lists;
        match command {
            0 => vec![info(self.count)],
            1 => rules.clone(),
            2 => players.clone(),
            _ => [&rules[..], players].concat(),
        }
    }
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

/// A server with some players, not all of them counted, and the same server after a change.
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

/// Lists of two moments, with spectators and without players, over a network that loses, reorders
/// and copies. Few complete answers lack something, and none has an entry that the server did not
/// hold.
#[test]
fn few_complete_lists_lack_something_and_none_invents() {
    let (mut complete, mut wrong) = (0, 0);
    for seed in 0..3000 {
        let mut random = Random(seed);
        let moments = moments(&mut random);
        let loss = [0.0, 0.01, 0.05][random.below(3) as usize];
        let jitter = 1 + [0, 5, 60, 400][random.below(4) as usize];
        let changes_at = random.below(8);
        let mut requests = 0;
        let serve = |command| {
            requests += 1;
            let moment = &moments[usize::from(requests > changes_at)];
            let mut arriving = Vec::new();
            for datagram in moment.reply(command) {
                let after = 40 + random.below(jitter) as u32;
                if !random.chance(loss) {
                    arriving.push((after, datagram.clone()));
                }
                if random.chance(0.1) {
                    arriving.push((after + 40 + random.below(400) as u32, datagram));
                }
            }
            arriving
        };
        let query = StatusQuery::new(0, &QueryOptions::default());
        let Ok(outcome) = play(query, serve).0 else {
            continue;
        };
        if !outcome.answer.completeness().is_complete() {
            continue;
        }
        complete += 1;
        for (kind, list) in [(1, 0), (2, 1)] {
            let of_answer = outcome.answer.datagrams().filter(|part| part[4] == kind);
            let got: BTreeSet<_> = of_answer.map(names).collect();
            let held = moments.each_ref().map(|moment| {
                let parts = moment.lists[list].iter();
                parts.map(|part| names(part)).collect::<BTreeSet<_>>()
            });
            wrong += usize::from(!held.contains(&got));
            let [before, after] = &held;
            let all: BTreeSet<_> = before.union(after).cloned().collect();
            assert!(got.is_subset(&all), "seed {seed}: kind {kind}");
        }
    }
    println!("{complete} complete, {wrong} lists of them as the server never held them");
    assert!(
        complete > 2000 && wrong < complete / 30,
        "{complete} complete, {wrong} of them wrong"
    );
}
