//! What several readings of one list prove: nothing that any of them showed is missing from a complete answer.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bytes::Bytes;
use queryport::session::Session;
use queryport::ut2004::{Answer, Command, FString, PlayerRecord, Request, StatusQuery};
use queryport::{Completeness, Limits, Part, Player, ServerStatus, Timing};

use crate::common::at;
use crate::common::driven::Driven;
use crate::common::link::{Conditions, Datagram, Link, Random};
use crate::common::pair::{CLIENT, SERVER};
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

/// A server: what it sends for each type of request.
struct Server {
    info: Bytes,
    lists: Vec<Bytes>,
}

impl Server {
    fn new(status: &ServerStatus) -> Self {
        let ask = |command| replies(&Request::new(command), status);
        Self { info: ask(Command::Info).remove(0), lists: ask(Command::RulesAndPlayers) }
    }

    fn answer(&self, request: &[u8]) -> Vec<Bytes> {
        match request[4] {
            0 => vec![self.info.clone()],
            3 => self.lists.clone(),
            code => self.lists.iter().filter(|datagram| datagram[4] == code).cloned().collect(),
        }
    }
}

/// A server of any size, with spectators whom it does not count.
fn random_status(random: &mut Random) -> ServerStatus {
    let players = [0, 1, 6, 16, 40][random.below(5) as usize] + random.below(5);
    let spectators = [0, 0, 1, 3, 16][random.below(5) as usize];
    let rules = [0, 8, 30, 60, 90][random.below(5) as usize] + random.below(12);
    let stock = random.chance(0.7);
    let mut status = status_with(0, rules as usize, stock);
    status.player_count = Some(players as u32);
    let mut list: Vec<Player> = (0..players + spectators).map(|number| player(number, random)).collect();
    list.reverse();
    status.players = Some(list);
    status
}

fn player(number: u64, random: &mut Random) -> Player {
    let mut player = Player::new(format!("player {number} {}", "x".repeat(random.below(20) as usize)));
    player.extra.push("PlayerNum", &(number + 1).to_string());
    player
}

/// What one session did.
struct Played {
    answer: Option<Answer>,
    arrived: HashSet<Vec<u8>>,
    /// Datagrams that were still on their way.
    late: HashSet<Vec<u8>>,
}

fn play(
    query: StatusQuery,
    conditions: Conditions,
    seed: u64,
    mut server: impl FnMut(Duration, &[u8]) -> Vec<Bytes>,
) -> Played {
    let (client_at, server_at): (SocketAddr, SocketAddr) = (at(CLIENT), at(SERVER));
    let start = Instant::now();
    let (mut now, mut link) = (start, Link::new(conditions, seed));
    let mut session = Session::new(query, server_at, Timing::default(), now);
    let mut arrived = HashSet::new();
    loop {
        let mut out = Vec::new();
        while session.poll_transmit(now, &mut out).is_some() {
            link.send(now, Datagram { from: client_at, to: server_at, bytes: std::mem::take(&mut out) });
        }
        if let Some(result) = session.poll_answer() {
            let rest = std::iter::from_fn(|| link.arrive(now + Duration::from_secs(60)));
            let late = rest.filter(|datagram| datagram.to == client_at).map(|datagram| datagram.bytes);
            return Played {
                answer: result.ok().map(|outcome| outcome.answer),
                arrived,
                late: late.collect(),
            };
        }
        let alarm = session.poll_timeout().unwrap();
        now = link.next_arrival().map_or(alarm, |arrival| arrival.min(alarm)).max(now);
        while let Some(datagram) = link.arrive(now) {
            if datagram.to == server_at {
                for bytes in server(now - start, &datagram.bytes) {
                    link.send(now, Datagram { from: server_at, to: client_at, bytes: bytes.to_vec() });
                }
            } else {
                session.handle_datagram(now, server_at, &datagram.bytes);
                arrived.insert(datagram.bytes);
            }
        }
        session.handle_timeout(now);
    }
}

/// How many sessions a simulation has: `QUERYPORT_SESSIONS`, or a few.
fn sessions(few: u64) -> u64 {
    std::env::var("QUERYPORT_SESSIONS").map_or(few, |count| count.parse().unwrap())
}

fn conditions(random: &mut Random) -> Conditions {
    Conditions {
        loss: [0.0, 0.01, 0.05, 0.1, 0.2][random.below(5) as usize],
        duplication: [0.0, 0.1][random.below(2) as usize],
        jitter: MS * [0, 5, 60][random.below(3) as usize],
        ..Conditions::bad()
    }
}

/// A server that stands still, over links that lose, double, delay and reorder: every datagram that arrived is in each
/// complete answer. What remains is a datagram that was lost from every reading, which is counted.
#[test]
fn no_complete_answer_lacks_what_any_reading_showed() {
    let mut random = Random(1);
    let servers: Vec<Server> = (0..500).map(|_| Server::new(&random_status(&mut random))).collect();
    let (mut complete, mut lost, mut late, mut incomplete, mut silent) = (0_u64, 0_u64, 0_u64, 0_u64, 0_u64);
    let count = sessions(3000);
    for seed in 0..count {
        let server = &servers[random.below(servers.len() as u64) as usize];
        let query = StatusQuery::new(0, Limits::default());
        let played = play(query, conditions(&mut random), seed, |_, request| server.answer(request));
        let Some(answer) = played.answer else {
            silent += 1;
            continue;
        };
        let got: HashSet<&[u8]> = answer.datagrams().collect();
        assert!(got.iter().all(|datagram| played.arrived.contains(*datagram)), "session {seed}: invented");
        assert_eq!(got.len(), answer.datagrams().count(), "session {seed}: doubled");
        if !answer.completeness().is_complete() {
            incomplete += 1;
            continue;
        }
        complete += 1;
        let missing: Vec<&Bytes> =
            server.lists.iter().filter(|datagram| !got.contains(&datagram[..])).collect();
        for datagram in &missing {
            assert!(
                !played.arrived.contains(&datagram[..]),
                "session {seed}: arrived and is not in the answer"
            );
        }
        lost += u64::from(!missing.is_empty());
        // The reply to a doubled request can end later than any wait for late datagrams.
        late += u64::from(missing.iter().any(|datagram| played.late.contains(&datagram[..])));
    }
    println!(
        "{count} sessions: {complete} complete, of them {lost} without a datagram that was lost from every reading (of \
         {late} a copy was still on its way); {incomplete} marked incomplete, {silent} without an answer"
    );
    assert!(late <= 1 + count / 20_000, "{late} late");
    assert!(complete > count * 3 / 4 && lost < count / 50, "{complete} complete, {lost} lost");
}

/// A server on which somebody comes or goes every few seconds, over the same links: a complete answer is the list of
/// one moment, but for a datagram that was lost from every reading; and most answers are complete.
#[test]
fn answers_of_a_busy_server_are_of_one_moment_and_mostly_complete() {
    let (mut complete, mut mixed, mut lost, mut incomplete, mut changed) =
        (0_u64, 0_u64, 0_u64, 0_u64, 0_u64);
    let count = sessions(600);
    let mut random = Random(2);
    for seed in 0..count {
        let mut status = random_status(&mut random);
        // A change every two seconds on average: the states and the time from which each holds.
        let mut states = vec![(Duration::ZERO, Server::new(&status))];
        let mut number = 1000;
        for step in 1..20 {
            if !random.chance(0.1) {
                continue;
            }
            let list = status.players.as_mut().unwrap();
            let is_player = random.chance(0.8);
            let counted = status.player_count.unwrap();
            if random.chance(0.5) || list.is_empty() || (is_player && counted == 0) {
                number += 1;
                list.insert(0, player(number, &mut random));
                status.player_count = Some(counted + u32::from(is_player));
            } else {
                list.remove(random.below(list.len() as u64) as usize);
                status.player_count = Some((counted - u32::from(is_player)).min(list.len() as u32));
            }
            states.push((MS * 200 * step, Server::new(&status)));
        }
        let mut asked: HashSet<usize> = HashSet::new();
        let query = StatusQuery::new(0, Limits::default());
        let played = play(query, conditions(&mut random), seed, |at, request| {
            let state = states.iter().rposition(|(since, _)| *since <= at).unwrap();
            asked.insert(state);
            states[state].1.answer(request)
        });
        let Some(answer) = played.answer else { continue };
        changed += u64::from(asked.len() > 1);
        if !answer.completeness().is_complete() {
            incomplete += 1;
            continue;
        }
        complete += 1;
        let got: HashSet<&[u8]> = answer.datagrams().skip(1).collect();
        let is_list = |server: &Server| {
            server.lists.len() == got.len() && server.lists.iter().all(|d| got.contains(&d[..]))
        };
        let of_moment: Vec<usize> =
            asked.iter().copied().filter(|state| is_list(&states[*state].1)).collect();
        let info = answer.datagrams().next().unwrap();
        if of_moment.is_empty() {
            // The list of no moment: part of one, of which the rest never arrived.
            let is_part = asked.iter().any(|state| {
                let lists = &states[*state].1.lists;
                let (here, gone): (Vec<&Bytes>, Vec<&Bytes>) =
                    lists.iter().partition(|d| got.contains(&d[..]));
                here.len() == got.len() && gone.iter().all(|d| !played.arrived.contains(&d[..]))
            });
            assert!(is_part, "session {seed}: of several moments");
            lost += 1;
        } else if !of_moment.iter().any(|state| states[*state].1.info == info) {
            mixed += 1;
        }
    }
    println!(
        "{count} sessions, {changed} of them with a change while they ran: {complete} complete, of them {lost} without \
         a datagram that was lost from every reading and {mixed} with a count of another moment; {incomplete} marked \
         incomplete"
    );
    assert!(complete > count / 2 && changed > count / 8, "{complete} complete, {changed} changed");
    // Where somebody left, a spectator can make up for him in the first count.
    assert!(mixed < count / 25 && lost < count / 50, "{mixed} mixed, {lost} lost");
}
