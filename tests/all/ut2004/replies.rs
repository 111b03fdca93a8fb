//! The table of decisions on the module's page: what proves the lists, and what is asked again.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use queryport::session::Machine;
use queryport::ut2004::{
    Answer, Body, Command, FString, PlayerRecord, Request, Response, StatusQuery,
};
use queryport::{
    Completeness, Dialect, Limits, Outcome, Part, QueryError, QueryOptions, Timing, ToStatus,
};

use crate::common::driven::Driven;
use crate::common::link::Random;
use crate::common::pair::SERVER;
use crate::ut2004::{replies, status_with};

const MS: Duration = Duration::from_millis(1);

fn info(count: i32) -> Bytes {
    info_on("DM-Rankin", count)
}

fn info_on(map: &'static str, count: i32) -> Bytes {
    let mut status = status_with(0, 0, true);
    status.map = Some(map.into());
    status.player_count = Some(u32::try_from(count).unwrap());
    replies(&Request::new(Command::Info), &status).remove(0)
}

/// Of the length that the stock game allows: a datagram with twelve such players is full.
const NAME: &str = "a player's long name";

/// A datagram of players, the newest first.
fn players(numbers: std::ops::RangeInclusive<i32>) -> Bytes {
    named(numbers.rev().map(|number| (number, NAME, 0)))
}

/// A datagram of players with a score, each with a number, a name and a stats id.
fn named<'a>(players: impl IntoIterator<Item = (i32, &'a str, u32)>) -> Bytes {
    named_with(players, |_| 7)
}

fn named_with<'a>(
    players: impl IntoIterator<Item = (i32, &'a str, u32)>,
    score: impl Fn(i32) -> i32,
) -> Bytes {
    let mut out = vec![0x80, 0, 0, 0, 2];
    for (number, name, stats_id) in players {
        let mut record = PlayerRecord::new(number, FString::narrow(name.as_bytes()));
        record.stats_id = stats_id;
        record.score = score(number);
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

/// All rules in one datagram. Unreal Engine compares names without case.
fn whole_rules() -> Bytes {
    rules(&[
        ("SERVERMODE", "dedicated"),
        ("maxspectators", "2"),
        ("minplayers", "0"),
    ])
}

fn rules_with(more: &[(&str, &str)]) -> Bytes {
    rules(&[&[("ServerMode", "dedicated")], more].concat())
}

/// The rules of three datagrams.
fn long_rules() -> [Bytes; 3] {
    let value = "v".repeat(460);
    [
        rules(&[
            ("ServerMode", "dedicated"),
            ("MaxSpectators", "2"),
            ("x", &value),
        ]),
        rules(&[("y", &value)]),
        rules(&[("GoalScore", "25"), ("Mutator", "A")]),
    ]
}

/// Plays a query in virtual time. For the type of each request, `serve` returns the datagrams that
/// arrive, and after how many milliseconds.
fn play(
    query: StatusQuery,
    serve: impl FnMut(u8) -> Vec<(u32, Bytes)>,
) -> Result<Outcome<Answer>, QueryError> {
    play_with(query, Timing::default(), serve)
}

fn play_with(
    query: StatusQuery,
    timing: Timing,
    mut serve: impl FnMut(u8) -> Vec<(u32, Bytes)>,
) -> Result<Outcome<Answer>, QueryError> {
    let mut query = Driven::new(query, timing);
    let (mut flying, mut sent) = (BTreeMap::new(), 0);
    loop {
        if let Some(command) = query.send().get(4) {
            for (after, datagram) in serve(*command) {
                sent += 1;
                flying.insert((query.now + MS * after, sent), datagram);
            }
        }
        if let Some(result) = query.session.poll_answer() {
            return result;
        }
        let alarm = query.session.poll_timeout().unwrap().max(query.now);
        match flying.pop_first() {
            Some(((at, _), datagram)) if at <= alarm => {
                query.now = at;
                query.receive(SERVER, &datagram);
            }
            next => {
                flying.extend(next);
                query.now = alarm;
                query.session.handle_timeout(alarm);
            }
        }
    }
}

/// A query of a server that answers the requests for lists and for the info with these replies, the
/// last of each again and again.
struct Played {
    answer: Answer,
    asked: Vec<u8>,
}

impl Played {
    fn new(infos: &[Bytes], lists: &[&[Bytes]]) -> Self {
        Self::with(QueryOptions::default(), infos, lists)
    }

    fn with(options: QueryOptions, infos: &[Bytes], lists: &[&[Bytes]]) -> Self {
        let mut asked = Vec::new();
        let mut counts = [0; 4];
        let serve = |command: u8| {
            asked.push(command);
            let nth = &mut counts[usize::from(command)];
            *nth += 1;
            if command == 0 {
                return vec![(40, infos[(*nth).min(infos.len()) - 1].clone())];
            }
            let reply = lists[(*nth).min(lists.len()) - 1].iter();
            let asked_for = reply.filter(|datagram| command == 3 || command == datagram[4]);
            (40..).zip(asked_for.cloned()).collect()
        };
        let outcome = play(StatusQuery::new(0, &options), serve).unwrap();
        Self {
            answer: outcome.answer,
            asked,
        }
    }

    fn numbers(&self) -> Vec<i32> {
        numbers(&self.answer)
    }

    /// The number of players, whether the answer is complete, and the requests.
    fn seen(&self) -> (usize, bool, &[u8]) {
        let is_complete = self.answer.completeness().is_complete();
        (self.numbers().len(), is_complete, &self.asked)
    }

    fn lacks(&self, part: Part) -> bool {
        self.answer.completeness().lacks(part)
    }
}

fn numbers(answer: &Answer) -> Vec<i32> {
    answer.players().map(|player| player.player_num).collect()
}

const WHOLE: Completeness = Completeness::COMPLETE;

#[test]
fn a_usual_server_takes_two_requests() {
    let list = [
        whole_rules(),
        players(18..=31),
        players(4..=17),
        players(1..=3),
    ];
    assert_eq!(
        Played::new(&[info(31)], &[&list]).seen(),
        (31, true, &[3, 0][..])
    );
    let list = [whole_rules(), players(1..=3)];
    assert_eq!(
        Played::new(&[info(3)], &[&list]).seen(),
        (3, true, &[3, 0][..])
    );
}

/// No datagram shows that nobody is listed, and spectators are not counted: one can be lost.
#[test]
fn an_empty_list_is_asked_for_three_times() {
    let (nobody, spectator) = ([whole_rules()], [whole_rules(), players(1..=1)]);
    let played = Played::new(&[info(0)], &[&nobody]);
    assert_eq!(played.seen(), (0, true, &[3, 0, 3, 3][..]));
    let played = Played::new(&[info(0)], &[&nobody, &nobody, &spectator]);
    assert_eq!(played.seen(), (1, true, &[3, 0, 3, 3, 0][..]));
    // So is any list if the info counts nothing.
    let packet = info(0);
    let mut response = Response::parse(&packet, &Limits::default()).unwrap();
    if let Body::Info(info) = &mut response.body {
        info.current_players = -1;
    }
    let mut negative = Vec::new();
    response.encode(&mut negative).unwrap();
    let played = Played::new(&[negative.into()], &[&spectator]);
    assert_eq!(played.seen(), (1, true, &[3, 0, 3, 3][..]));
    // A request that is lost is repeated.
    for lost_at in [1, 2] {
        let mut lists = [&nobody[..]; 4];
        lists[lost_at] = &[];
        let played = Played::new(&[info(0)], &lists);
        assert_eq!(played.seen(), (0, true, &[3, 0, 3, 3, 3][..]));
    }
    // An empty one shows it, but the count may be that of the next map.
    let played = Played::new(&[info(0)], &[&[whole_rules(), named([])]]);
    assert_eq!(played.seen(), (0, true, &[3, 0, 3][..]));
}

/// The first reply shows that names can be long, so the second can lack a datagram of a few.
#[test]
fn long_names_of_one_reply_count_for_the_next() {
    const LONG: &str = "a name of more than twenty letters";
    let bots = rules_with(&[("MaxSpectators", "2"), ("MinPlayers", "4")]);
    let whole = [
        bots.clone(),
        named((2..=10).rev().map(|number| (number, LONG, 0))),
        players(1..=1),
    ];
    let partial = [bots, players(1..=1)];
    let played = Played::new(&[info(4)], &[&whole, &partial, &partial]);
    let (count, is_complete, _) = played.seen();
    assert!(count == 10 || !is_complete, "{count}");
}

/// `BecomeSpectator` of `Deaod/UT2004`, `Engine/PlayerController.uc`: whoever watches has no score.
/// Somebody may have joined between list and info.
#[test]
fn as_many_as_counted_prove_nothing_if_one_of_them_can_be_a_spectator() {
    let without_score = named_with([(2, NAME, 0), (1, NAME, 0)], |number| number - 1);
    let before = [whole_rules(), without_score];
    let after = [whole_rules(), players(1..=3)];
    let played = Played::new(&[info(2)], &[&before, &after]);
    assert_eq!(played.seen(), (3, true, &[3, 0, 3, 0][..]));
    let played = Played::new(&[info(2)], &[&before]);
    assert_eq!(played.seen(), (2, true, &[3, 0, 3][..]));
}

/// The first reply has lost a datagram of spectators, and the rest is as many as the info counts.
#[test]
fn as_many_as_counted_prove_nothing_if_a_lost_datagram_can_be_spectators() {
    const COLOURED: &str = "\u{1b}xxA\u{1b}xxB\u{1b}xxC\u{1b}xxD\u{1b}xxE\u{1b}xxF\u{1b}xxG\u{1b}xxH\u{1b}xxI\u{1b}xxJ";
    let coloured = |numbers: std::ops::RangeInclusive<i32>| {
        named(numbers.rev().map(|number| (number, COLOURED, 0)))
    };
    let few = whole_rules();
    let many = rules_with(&[("MaxSpectators", "32")]);
    let unknown = rules_with(&[]);
    // Twelve can be listed: those two, and a datagram of ten.
    let nine = rules_with(&[("MaxSpectators", "9")]);
    for (rules, spectators, last) in [
        (nine, players(3..=16), players(1..=2)),
        (few, coloured(3..=10), coloured(1..=2)),
        (many, players(3..=16), players(1..=2)),
        (unknown, players(3..=16), players(1..=2)),
    ] {
        let partial = [rules.clone(), last.clone()];
        let whole = [rules, spectators, last];
        let played = Played::new(&[info(2)], &[&partial, &partial, &whole]);
        let (count, is_complete, _) = played.seen();
        assert!(count > 2 && is_complete, "{count}");
        assert_eq!(
            Played::new(&[info(2)], &[&partial]).seen(),
            (2, true, &[3, 0, 3, 3][..])
        );
    }
    let eight = rules_with(&[("MaxSpectators", "8")]);
    let played = Played::new(&[info(2)], &[&[eight, players(1..=2)]]);
    assert_eq!(played.seen(), (2, true, &[3, 0][..]));
}

#[test]
fn spectators_are_listed_and_not_counted() {
    let list = [whole_rules(), players(1..=5)];
    let played = Played::new(&[info(3)], &[&list]);
    assert_eq!(played.seen(), (5, true, &[3, 0, 3][..]));
    // Two of the five have left before the info.
    let later = [whole_rules(), players(1..=3)];
    let played = Played::new(&[info(3)], &[&list, &later]);
    assert_eq!(played.seen(), (3, true, &[3, 0, 3, 0][..]));
    // Nobody plays, and one of those who watch may have come from the map before.
    let watching = [whole_rules(), named_with([(1, NAME, 0)], |_| 0)];
    let played = Played::new(&[info(0)], &[&watching]);
    assert_eq!(played.seen(), (1, true, &[3, 0, 3][..]));
}

/// The second reply, which rules of several datagrams need, has lost a player.
#[test]
fn players_as_many_as_counted_stay_proved_if_a_later_reply_lacks_some() {
    let lists = |last| [&long_rules()[..], &[players(1..=last)]].concat();
    let played = Played::new(&[info(3)], &[&lists(3), &lists(2)]);
    assert_eq!(played.seen(), (3, true, &[3, 0, 3][..]));
}

#[test]
fn a_server_that_sends_no_rules_is_never_complete() {
    let played = Played::new(&[info(1)], &[&[players(1..=1)]]);
    assert!(played.lacks(Part::Rules), "{:?}", played.asked);
    let status = played.answer.to_status();
    assert_eq!((status.password, status.mutators), (None, None));
}

/// In a game of teams, those without a team are spectators.
#[test]
fn players_in_teams_are_told_from_spectators() {
    let [red, blue] = [0x2000_0000, 0x4000_0000];
    let list = [(4, NAME, 0), (3, NAME, red), (2, NAME, 0), (1, NAME, blue)];
    let list = [whole_rules(), named(list)];
    let played = Played::new(&[info(2)], &[&list]);
    assert_eq!(played.seen(), (4, true, &[3, 0][..]));
    // As many are listed, and another one plays.
    let played = Played::new(&[info(4), info(4)], &[&list]);
    assert_eq!(played.seen(), (4, true, &[3, 0, 3][..]));
}

/// `GetNumPlayers` of `Deaod/UT2004`, `UnrealGame/UnrealMPGameInfo.uc`.
#[test]
fn bots_are_counted_and_not_listed() {
    let rules = rules_with(&[("MaxSpectators", "2"), ("MinPlayers", "2")]);
    let played = Played::new(&[info(12)], &[&[rules.clone(), players(1..=3)]]);
    assert_eq!(played.seen(), (3, true, &[3, 0, 3, 3][..]));
    // With ten more, more people would play and watch than eight and three.
    let played = Played::new(&[info(8)], &[&[rules.clone(), players(1..=3)]]);
    assert_eq!(played.seen(), (3, true, &[3, 0, 3][..]));
    // As many as counted, which can be fewer people and bots.
    let played = Played::new(&[info(5)], &[&[rules.clone(), players(1..=5)]]);
    assert_eq!(played.seen(), (5, true, &[3, 0, 3][..]));
    // An idle server of Red Orchestra.
    let played = Played::new(&[info(12)], &[&[rules]]);
    assert_eq!(played.seen(), (0, true, &[3, 0, 3, 3][..]));
    assert!(played.answer.to_status().players.is_known());
}

/// The same datagram of sixteen players is lost again and again.
#[test]
fn fewer_than_counted_without_bots_are_never_complete() {
    let partial = [whole_rules(), players(1..=2)];
    let played = Played::new(&[info(16)], &[&partial]);
    assert_eq!(played.seen(), (2, false, &[3, 0, 3, 0][..]));
    assert!(played.lacks(Part::Players) && !played.lacks(Part::End));
    let played = Played::new(&[info(16)], &[&[whole_rules()]]);
    assert!(played.lacks(Part::Players));
    // The second reply has all.
    let whole = [whole_rules(), players(3..=16), players(1..=2)];
    let played = Played::new(&[info(16)], &[&partial, &whole]);
    assert_eq!(played.seen(), (16, true, &[3, 0, 3, 0][..]));
    // The count was of another moment.
    let played = Played::new(&[info(3), info(2)], &[&partial]);
    assert_eq!(played.seen(), (2, true, &[3, 0, 3, 0][..]));
}

/// 3SPN's Team_GameBase.uc (line 4260) adds the rows `Red Team` and `Blue Team`, WS3SPN `Red` and
/// `Blue`, UTComp `Red Team Score`: number, ping and stats id are 0.
#[test]
fn rows_of_team_scores_are_not_counted() {
    const RED: u32 = 0x2000_0000;
    let list = [(0, "Red Team", 0), (0, "Blue Team", 0), (1, "Ann", RED)];
    let played = Played::new(&[info(1)], &[&[whole_rules(), named(list)]]);
    assert_eq!(played.seen(), (3, true, &[3, 0][..]));
    let played = Played::new(&[info(3)], &[&[whole_rules(), named(list)]]);
    assert!(played.lacks(Part::Players), "one of three");
    // A player whom the server does not number.
    let list = [(0, "Ann", 0)];
    let played = Played::new(&[info(1)], &[&[whole_rules(), named(list)]]);
    assert_eq!(played.seen(), (1, true, &[3, 0][..]));
}

/// `GetServerPlayers` of `Deaod/UT2004`, `Engine/GameInfo.uc`: spectators have no bit of a team, and
/// the info does not count them. A modification may list a bot like this.
#[test]
fn in_a_match_of_teams_those_without_a_team_watch() {
    const RED: u32 = 1 << 29;
    const BLUE: u32 = 1 << 30;
    let watching = |count: i32, teams: [u32; 3]| {
        let list = [
            (1, "Ann", teams[0]),
            (2, "Bob", teams[1]),
            (3, "Eve", teams[2]),
        ];
        let answer = Answer::from_datagrams([info(count), named(list)], &Limits::default());
        let players = answer.unwrap().to_status().players;
        [0, 1, 2].map(|row| players[row].spectator)
    };
    let (plays, watches) = (Some(false), Some(true));
    assert_eq!(watching(2, [RED, BLUE, 0]), [plays, plays, watches]);
    assert_eq!(watching(3, [RED, BLUE, 0]), [plays, plays, None]);
    assert_eq!(watching(0, [0; 3]), [None; 3]);
}

/// An empty server sends no datagram of players: rules show that it was asked.
#[test]
fn players_are_known_if_some_arrived_or_nobody_is_counted() {
    for (datagrams, are_known) in [
        (vec![info(0)], false),
        (vec![whole_rules(), info(1)], false),
        (vec![whole_rules(), info(0)], true),
        (vec![players(1..=1), info(2)], true),
    ] {
        let answer = Answer::from_datagrams(datagrams, &Limits::default()).unwrap();
        assert_eq!(answer.to_status().players.is_known(), are_known);
    }
}

#[test]
fn limits_bound_the_lists_of_the_info_too() {
    let mut datagram = info(0).to_vec();
    datagram.truncate(datagram.len() - 2);
    datagram.extend(b"\x02\x02a\0\x02b\0\x02c\0\x02d\0\0");
    for (max, has_lists) in [(1, false), (2, true)] {
        let limits = Limits::default().with_max_rules(max);
        let answer = Answer::from_datagrams([&datagram], &limits).unwrap();
        assert_eq!(answer.info().unwrap().lists.is_some(), has_lists);
    }
}

#[test]
fn rows_of_team_scores_are_teams_and_no_players() {
    for names in [
        ["Red Team", "Blue Team"],
        ["Red", "Blue"],
        ["Red Team Score", "Blue Team Score"],
    ] {
        let list = named(names.map(|name| (0, name, 0)));
        let played = Played::new(&[info(0)], &[&[whole_rules(), list]]);
        let status = played.answer.to_status();
        assert!(status.completeness.is_complete());
        assert!(status.players.is_known() && status.players.is_empty());
        let teams = status.teams.iter();
        let teams = teams.map(|team| (team.id, team.name.clone(), team.score));
        let expected = (0..).zip(names);
        let expected = expected.map(|(id, name)| (Some(id), Some(name.into()), Some(7)));
        assert!(teams.eq(expected), "{names:?}");
    }
    // Zeros alone prove nothing: some servers number every player 0.
    let list = named([(0, "Redeemer", 0), (0, "Bluebird", 0)]);
    let played = Played::new(&[info(2)], &[&[whole_rules(), list]]);
    let status = played.answer.to_status();
    assert_eq!((status.players.len(), status.teams.len()), (2, 0));
}

/// Rules with a beginning and an end can lack a datagram between them.
#[test]
fn rules_with_both_ends_are_proved_by_two_equal_replies() {
    let [first, middle, last] = long_rules();
    let people = players(1..=2);
    let whole = [first.clone(), middle, last.clone(), people.clone()];
    let played = Played::new(&[info(2)], &[&whole]);
    assert_eq!(played.seen(), (2, true, &[3, 0, 3][..]));
    let partial = [first, last, people];
    let played = Played::new(&[info(2)], &[&partial, &whole]);
    assert_eq!(played.seen(), (2, true, &[3, 0, 3, 0, 3][..]));
    assert_eq!(played.answer.rules().count(), 6);
}

/// A list whose last datagram is long looks like one whose last datagram is lost.
#[test]
fn a_list_without_a_visible_end_is_proved_by_three_equal_replies() {
    let [first, middle, last] = long_rules();
    let people = players(1..=2);
    let open = [first.clone(), middle.clone(), people.clone()];
    let played = Played::new(&[info(2)], &[&open]);
    assert_eq!(played.seen(), (2, true, &[3, 0, 3, 3][..]));
    let whole = [first, middle.clone(), last.clone(), people.clone()];
    let played = Played::new(&[info(2)], &[&open, &open, &whole]);
    assert_eq!(played.answer.rules().count(), 6);
    // One without the first rule is asked for once more.
    let headless = [middle, last, people];
    let played = Played::new(&[info(2)], &[&headless]);
    assert_eq!(played.seen(), (2, true, &[3, 0, 3, 3, 3][..]));
    let full = [whole_rules(), players(1..=14)];
    let played = Played::new(&[info(14)], &[&full]);
    assert_eq!(played.seen(), (14, true, &[3, 0, 3, 3][..]));
}

/// A lost datagram does not make the other replies worthless.
#[test]
fn a_reply_that_lacks_entries_counts_for_nothing() {
    let [first, middle, last] = long_rules();
    let people = players(1..=2);
    let whole = [first.clone(), middle.clone(), last.clone(), people.clone()];
    let without_middle = [first.clone(), last, people.clone()];
    let without_last = [first, middle, people];
    let played = Played::new(&[info(2)], &[&whole, &without_middle, &whole]);
    assert_eq!((played.answer.rules().count(), played.seen().1), (6, true));
    // Replies are never merged, and none of these has everything.
    let lists: [&[Bytes]; 5] = [
        &without_last,
        &without_middle,
        &without_last,
        &without_middle,
        &without_last,
    ];
    let played = Played::new(&[info(2)], &lists);
    assert!(played.lacks(Part::End) && !played.lacks(Part::Rules));
    assert!(played.answer.rules().count() < 6);
}

/// They came before the info, and the server may have removed some until then.
#[test]
fn rules_that_later_replies_lack_are_not_complete() {
    let (whole, lacking) = (whole_rules(), rules(&[("maxspectators", "2")]));
    let lists: [&[Bytes]; 2] = [&[whole, players(1..=1)], &[lacking, players(1..=2)]];
    let played = Played::new(&[info(2)], &lists);
    assert_eq!(
        (played.numbers(), played.lacks(Part::End)),
        (vec![2, 1], true)
    );
}

#[test]
fn lists_are_asked_for_five_times_at_most() {
    let rules = rules_with(&[("MaxSpectators", "32")]);
    let replies: Vec<_> = (1..9)
        .map(|count| [rules.clone(), players(count..=count + 1)])
        .collect();
    let replies: Vec<&[Bytes]> = replies.iter().map(|reply| &reply[..]).collect();
    let played = Played::new(&[info(0)], &replies);
    let requests = [3, 0].repeat(5);
    assert_eq!(played.seen(), (2, false, &requests[..]));
    assert!(played.lacks(Part::End));
}

/// Rules of one datagram with both ends lack nothing, although others came before.
#[test]
fn rules_that_are_fewer_on_the_next_map_are_not_those_of_before() {
    let before = rules_with(&[("Mutator", "A"), ("Mutator", "B")]);
    let after = [rules_with(&[("Mutator", "A")])];
    let infos = [info_on("DM-Asbestos", 0)];
    let played = Played::new(&infos, &[&[before], &after]);
    assert_eq!(played.seen(), (0, true, &[3, 0, 3, 0, 3][..]));
    assert_eq!(played.answer.rules().count(), 2);
}

/// A server that restarts or changes its map between two requests.
#[test]
fn an_answer_is_never_of_two_moments() {
    let [first, middle, last] = long_rules();
    let before = [first.clone(), middle.clone(), last.clone(), players(1..=4)];
    let after = [first.clone(), middle.clone(), last.clone(), players(5..=8)];
    let infos = [info_on("DM-Rankin", 4), info_on("DM-Asbestos", 4)];
    let play = |lists: &[&[Bytes]], infos: &[Bytes]| {
        let played = Played::new(infos, lists);
        assert!(played.seen().1, "{:?}", played.asked);
        let map = played
            .answer
            .info()
            .unwrap()
            .map_name
            .text()
            .plain()
            .into_owned();
        (played.numbers()[0], map)
    };
    let (old, new) = ((4, "DM-Rankin".to_owned()), (8, "DM-Asbestos".to_owned()));
    assert_eq!(
        play(&[&before, &after], &infos[1..]),
        new,
        "before the info"
    );
    assert_eq!(play(&[&before, &after], &infos), new, "after the info");
    let last_moment = play(&[&before, &before], &infos);
    assert_eq!(last_moment, old, "after the lists");
}

/// A list of which only a partial or mixed reply follows the info stays that of before the info.
#[test]
fn a_list_of_before_the_info_does_not_join_one_of_after_it() {
    let moment = |version, numbers| {
        let version = ("ServerVersion", version);
        let rules = rules_with(&[version, ("MaxSpectators", "2")]);
        (rules, players(numbers))
    };
    let (old_rules, old_players) = moment("1", 1..=3);
    let (new_rules, new_players) = moment("2", 3..=5);
    let (later_rules, later_players) = moment("3", 3..=6);
    let old = vec![old_rules.clone(), old_players.clone()];
    let new = vec![new_rules.clone(), new_players.clone()];
    let later = vec![later_rules.clone(), later_players.clone()];
    let mixed_rules = vec![old_rules.clone(), later_rules, later_players];
    let mixed_first_rules = vec![old_rules, new_rules.clone(), old_players.clone()];
    let mixed_players = vec![new_rules.clone(), old_players, new_players];
    let without_players = vec![new_rules];
    for (count, lists) in [
        (4, [old, mixed_rules, later]),
        (3, [mixed_first_rules.clone(), mixed_players, new.clone()]),
        (3, [mixed_first_rules, without_players, new]),
    ] {
        let lists = lists.each_ref().map(|list| &list[..]);
        let played = Played::new(&[info(count)], &lists);
        let version = played.answer.get("ServerVersion").unwrap().text().plain();
        let newest = played.numbers()[0];
        assert!(played.seen().1, "{:?}", played.asked);
        let moments = [("1", 3), ("2", 5), ("3", 6)];
        assert!(moments.contains(&(&version, newest)), "{version} {newest}");
    }
}

/// Each list of such a server has a request of its own.
#[test]
fn separate_lists_are_never_of_two_moments() {
    let options = QueryOptions::default().with_dialect(Dialect::SeparateLists);
    let moment = |version, numbers| {
        [
            rules_with(&[("ServerVersion", version), ("MaxSpectators", "2")]),
            players(numbers),
        ]
    };
    let (old, new) = (moment("1", 1..=3), moment("2", 4..=7));
    let played = Played::with(options, &[info(3)], &[&old]);
    assert_eq!(played.seen(), (3, true, &[2, 1, 0][..]));
    for changes_at in 1..9 {
        let mut requests = 0;
        let serve = |command: u8| {
            requests += 1;
            let is_new = requests > changes_at;
            let datagram = match (command, is_new) {
                (0, _) => info(if is_new { 4 } else { 3 }),
                (command, false) => old[usize::from(command) - 1].clone(),
                (command, true) => new[usize::from(command) - 1].clone(),
            };
            vec![(40, datagram)]
        };
        let outcome = play(StatusQuery::new(0, &options), serve).unwrap();
        assert_eq!(outcome.answer.completeness(), WHOLE);
        let version = outcome
            .answer
            .get("ServerVersion")
            .unwrap()
            .text()
            .plain()
            .into_owned();
        let count = outcome.answer.info().unwrap().current_players;
        let seen = (version.as_str(), numbers(&outcome.answer).len(), count);
        assert!(
            [("1", 3, 3), ("2", 4, 4)].contains(&seen),
            "{changes_at}: {seen:?}"
        );
    }
}

/// Also in the last round, and after a list that proves nothing.
#[test]
fn each_round_asks_a_server_of_separate_lists_for_both() {
    let options = QueryOptions::default().with_dialect(Dialect::SeparateLists);
    let mut random = Random(7);
    let (mut last_rounds, mut counts) = (0, BTreeMap::new());
    for _ in 0..300 {
        let mut pick = |count| random.below(count) as usize;
        let rules = [
            rules_with(&[("MaxSpectators", "32")]),
            rules_with(&[("MaxSpectators", "31")]),
        ];
        let players = [players(1..=1), players(1..=2), players(1..=3)];
        let lists: Vec<_> = (0..6)
            .map(|_| [rules[pick(8) / 7].clone(), players[pick(3)].clone()])
            .collect();
        let lists: Vec<&[Bytes]> = lists.iter().map(|lists| &lists[..]).collect();
        let played = Played::with(options, &[info(pick(4) as i32)], &lists);
        let asked = |command| {
            played
                .asked
                .iter()
                .filter(|asked| **asked == command)
                .count()
        };
        if !played.seen().1 {
            assert_eq!(asked(1), asked(2), "{:?}", played.asked);
            last_rounds += usize::from(asked(1) == 5);
        }
        *counts.entry(played.asked.clone()).or_insert(0) += 1;
    }
    assert!(last_rounds > 20, "{counts:?}");
}

#[test]
fn a_server_of_separate_lists_is_never_asked_for_both() {
    let options = QueryOptions::default().with_dialect(Dialect::SeparateLists);
    let played = Played::with(options, &[info(0)], &[&[whole_rules()]]);
    let requests = [2, 1, 0, 2, 1, 2];
    assert_eq!(
        played.seen(),
        (0, true, &requests[..]),
        "silence three times"
    );
    let list = [long_rules().to_vec(), vec![players(1..=2)]].concat();
    let played = Played::with(options, &[info(2)], &[&list]);
    assert_eq!(played.seen(), (2, true, &[2, 1, 0, 1][..]));
}

/// The datagrams of an answer alone show no more than the answer.
#[test]
fn an_incomplete_answer_is_incomplete_when_it_is_read_again() {
    let rules = rules_with(&[("MaxSpectators", "2"), ("x", "1")]);
    let lists: [&[Bytes]; 2] = [&[rules.clone(), players(1..=2)], &[rules, players(1..=3)]];
    let again = |answer: &Answer| {
        let datagrams = answer.datagrams().map(<[u8]>::to_vec);
        Answer::from_datagrams(datagrams, &Limits::default()).unwrap()
    };
    // The third player joins after the info, which counts one who has left.
    let timing = Timing::default().with_max_steps(3);
    let mut counts = [0; 4];
    let query = StatusQuery::new(0, &QueryOptions::default());
    let serve = |command: u8| {
        counts[usize::from(command)] += 1;
        match command {
            0 => vec![(40, info(3))],
            _ => (40..).zip(lists[counts[3].min(2) - 1].to_vec()).collect(),
        }
    };
    let newer = play_with(query, timing, serve).unwrap().answer;
    assert_eq!(
        (numbers(&newer).len(), newer.info().unwrap().current_players),
        (3, 3)
    );
    assert!(newer.completeness().lacks(Part::End) && !newer.completeness().lacks(Part::Players));
    assert_eq!(again(&newer).completeness(), newer.completeness());
    assert!(again(&newer).datagrams().eq(newer.datagrams()));
    let whole = Played::new(&[info(3)], &lists[1..]).answer;
    assert!(again(&whole).completeness().is_complete());
}

/// Values, pings and scores can change with every reply.
#[test]
fn changing_values_double_nothing() {
    let at = |rate: &str, ping: i32| {
        let [first, middle, _] = long_rules();
        let mut row = PlayerRecord::new(1, FString::narrow(b"Ann"));
        row.ping = ping;
        let mut list = vec![0x80, 0, 0, 0, 2];
        row.encode(&mut list).unwrap();
        let last = rules(&[("Tick Rate", rate), ("Mutator", "A")]);
        [first, middle, last, list.into()]
    };
    let played = Played::new(&[info(1)], &[&at("44.8", 4), &at("45", 8)]);
    assert_eq!(played.seen(), (1, true, &[3, 0, 3, 0][..]));
    assert_eq!(played.answer.get("Tick Rate").unwrap().text(), "45");
    assert_eq!(played.answer.rules().count(), 6);
    // Both versions in one reply: of a request that the network doubled.
    let mixed = [&at("44.8", 4)[..], &at("45", 8)].concat();
    let played = Played::new(&[info(1)], &[&mixed, &at("45", 8)]);
    assert_eq!((played.answer.rules().count(), played.seen().1), (6, true));
}

/// The password's rule has its place between two others.
#[test]
fn an_absent_password_is_a_fact_between_its_neighbours() {
    let [.., middle, _] = long_rules();
    let of = |pairs: &[(&str, &str)]| {
        let datagrams = [info(0), rules_with(pairs), middle.clone()];
        let answer = Answer::from_datagrams(datagrams, &Limits::default()).unwrap();
        assert!(!answer.completeness().is_complete());
        answer.to_status().password
    };
    let version = ("ServerVersion", "3369");
    assert_eq!(of(&[version, ("GameStats", "False")]), Some(false));
    assert_eq!(
        of(&[version, ("GamePassword", "True"), ("GameStats", "False")]),
        Some(true)
    );
    assert_eq!(of(&[version, ("MaxSpectators", "2")]), None);
    let secured = ("IsVacSecured", "true");
    assert_eq!(of(&[version, secured, ("MaxSpectators", "6")]), Some(false));
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
    let played = Played::new(&[info(16)], &[&mixed, &whole]);
    assert_eq!((played.numbers().len(), played.seen().1), (16, true));
}

#[test]
fn two_datagrams_that_begin_the_rules_show_two_replies() {
    // The first one cannot be the last datagram.
    let [first, ..] = long_rules();
    let mixed = [first, whole_rules(), players(1..=1)];
    let played = Played::new(&[info(1)], &[&mixed]);
    assert!(!played.answer.completeness().is_complete());
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
        // In one datagram, they are two rows of one reply.
        let datagrams = [
            info(count),
            whole_rules(),
            named([one, other].into_iter().chain(first())),
            named(last()),
        ];
        let answer = Answer::from_datagrams(datagrams, &Limits::default()).unwrap();
        assert_eq!(answer.completeness(), WHOLE, "{one:?}, {other:?}");
    }
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
    query.receive(SERVER, &info(2));
    query.send();
    query.receive(SERVER, &info(2));
    let outcome = query.finish().unwrap();
    assert_eq!(outcome.stats.rejected, 1, "the info before its request");
    let missing = outcome.answer.completeness();
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

/// Such a list is not asked for again.
#[test]
fn a_list_over_the_limits_is_missing_and_ends_the_query() {
    let few_rules = Limits::default().with_max_rules(2);
    let few_players = Limits::default().with_max_players(2);
    let lists = [whole_rules(), players(1..=3)];
    for (limits, lists, count, missing) in [
        // Without the rules, nobody knows how many players can be missing.
        (few_rules, &lists[..], 3, [true, false, true]),
        (few_rules, &lists[..1], 0, [true, false, true]),
        (few_players, &lists, 3, [false, true, false]),
    ] {
        let query = StatusQuery::new(0, &QueryOptions::default().with_limits(limits));
        let outcome = play(query, |command| match command {
            0 => vec![(40, info(count))],
            _ => (40..).zip(lists.iter().cloned()).collect(),
        });
        let outcome = outcome.unwrap();
        let parts = [Part::Rules, Part::Players, Part::End];
        let lacks = parts.map(|part| outcome.answer.completeness().lacks(part));
        assert_eq!(lacks, missing, "{count}");
        assert_eq!((outcome.stats.requests, outcome.stats.retries), (2, 0));
    }
}

/// Without the info, nobody knows how many players there are.
#[test]
fn one_list_alone_is_an_answer() {
    let few_rules = Limits::default().with_max_rules(2);
    for (limits, list, missing) in [
        (Limits::default(), whole_rules(), [true, false, true]),
        (Limits::default(), players(1..=3), [true, true, false]),
        (few_rules, whole_rules(), [true, true, true]),
    ] {
        let options = QueryOptions::default().with_limits(limits);
        let outcome = play(StatusQuery::new(0, &options), |command| {
            let lists = [(40, list.clone())].into_iter();
            lists.filter(|_| command > 0).collect()
        });
        let completeness = outcome.unwrap().answer.completeness();
        let parts = [Part::Info, Part::Rules, Part::Players];
        assert_eq!(parts.map(|part| completeness.lacks(part)), missing);
    }
}

/// The second reply has as many datagrams as the first, then another one, and then the last.
#[test]
fn a_reply_with_other_names_is_waited_for() {
    let mut replies = [
        vec![(40, whole_rules()), (41, players(4..=16))],
        vec![
            (40, whole_rules()),
            (41, players(1..=3)),
            (241, players(4..=16)),
        ],
    ]
    .into_iter();
    let mut asked = Vec::new();
    let outcome = play(StatusQuery::new(0, &QueryOptions::default()), |command| {
        asked.push(command);
        match command {
            0 => vec![(40, info(16))],
            _ => replies.next().unwrap_or_default(),
        }
    });
    assert_eq!(outcome.unwrap().answer.completeness(), WHOLE);
    assert_eq!(asked, [3, 0, 3, 0]);
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
    let played = Played::new(&[info(0)], &[std::slice::from_ref(&cut), &[whole]]);
    assert_eq!((played.answer.rules().count(), played.seen().1), (2, true));
    let played = Played::new(&[info(0)], &[&[cut]]);
    assert_eq!((played.answer.rules().count(), played.seen().1), (1, false));
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
    // Without the datagram over the limit, there are as many as counted.
    let limits = limits.with_max_players(7);
    let captured = [info(7), whole_rules(), players(1..=7), players(8..=9)];
    let whole = Answer::from_datagrams(&captured[..3], &limits).unwrap();
    assert!(whole.completeness().is_complete());
    let answer = Answer::from_datagrams(&captured, &limits).unwrap();
    assert_eq!(answer.players().count(), 7);
    assert!(answer.completeness().lacks(Part::Players));
    let captured = captured[..3].iter().cloned().chain([rules(&[("x", "")])]);
    let answer = Answer::from_datagrams(captured, &limits.with_max_rules(3)).unwrap();
    assert_eq!(answer.rules().count(), 3);
    assert!(answer.completeness().lacks(Part::Rules));
}
