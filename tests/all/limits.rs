//! Answers one below, at and one above each limit.

use queryport::{Answer, Limits, ParseErrorKind, Part, Protocol, ToStatus};

/// The datagrams of a reply of this size.
type Reply = fn(usize) -> Vec<Vec<u8>>;

/// The smallest limit of the bytes of an answer.
const BYTES: usize = 2048;

/// Limits of three, except that of bytes.
fn limits() -> [(&'static str, Limits, usize); 4] {
    let limits = Limits::default();
    [
        ("rules", limits.with_max_rules(3), 3),
        ("players", limits.with_max_players(3), 3),
        ("fragments", limits.with_max_fragments(3), 3),
        ("bytes", limits.with_max_answer_bytes(0), BYTES),
    ]
}

/// A text for each number below `count`.
fn each(count: usize, text: impl Fn(usize) -> String) -> String {
    (0..count).map(text).collect()
}

fn gamespy1(text: &str) -> Vec<Vec<u8>> {
    vec![format!(r"{text}\final\\queryid\1.1").into_bytes()]
}

/// Datagrams of this reply, of which the last one is marked.
fn gamespy1_fragments(count: usize) -> Vec<Vec<u8>> {
    let datagram = |number| {
        let end = if number == count { r"\final\" } else { "" };
        format!(r"\k{number}\v{end}\queryid\1.{number}").into_bytes()
    };
    (1..=count).map(datagram).collect()
}

/// A datagram of GameSpy v4 in sections.
fn sections(number: u8, body: &str) -> Vec<u8> {
    [
        b"\0\x01\x02\x03\x04splitnum\0",
        &[number][..],
        body.as_bytes(),
    ]
    .concat()
}

fn gamespy4(rules: &str, players: &str, teams: &str) -> Vec<Vec<u8>> {
    let players = format!("\x01player_\0\0{players}\0\0");
    let teams = format!("\x02team_t\0\0{teams}\0\0");
    vec![sections(0x80, &format!("\0{rules}\0{players}{teams}"))]
}

/// A datagram of rules, and one for each further part of the list of players.
fn gamespy4_fragments(count: usize) -> Vec<Vec<u8>> {
    let mut datagrams = vec![sections(0, "\0k\0v\0\0")];
    for number in 1..count {
        let first = char::from(number as u8 - 1);
        let is_last = number == count - 1;
        let (mark, teams) = if is_last {
            (0x80, "\x02team_t\0\0\0\0")
        } else {
            (0, "")
        };
        let players = format!("\x01player_\0{first}Ann{number}\0\0\0{teams}");
        datagrams.push(sections(mark | number as u8, &players));
    }
    datagrams
}

fn legacy(rules: &str, players: &str) -> Vec<Vec<u8>> {
    let count = char::from(players.matches('\0').count() as u8);
    let text = format!("{rules}\0\0{count}player_\0\0{players}\0\0team_t\0\0");
    vec![[b"\0\x01\x02\x03\x04", text.as_bytes()].concat()]
}

fn minecraft(rules: &str, players: &str) -> Vec<Vec<u8>> {
    let rules = format!("game_id\0MINECRAFT\0{rules}");
    vec![sections(
        0x80,
        &format!("\0{rules}\0\x01player_\0\0{players}\0"),
    )]
}

fn just_cause_2(players: usize) -> Vec<Vec<u8>> {
    let listed = each(players, |_| "Ann\0STEAM_0:1:2\0\0\x07".to_owned());
    let count = char::from(players as u8);
    vec![sections(
        0,
        &format!("\0hostname\0Srv\0\0\0{count}{listed}"),
    )]
}

/// A datagram of the Quake 3 family.
fn quake(text: &str) -> Vec<Vec<u8>> {
    vec![[b"\xff\xff\xff\xff", text.as_bytes()].concat()]
}

fn pairs(count: usize) -> String {
    each(count, |number| format!(r"\k{number}\v"))
}

fn nul_pairs(count: usize) -> String {
    each(count, |number| format!("k{number}\0v\0"))
}

fn nul_names(count: usize) -> String {
    each(count, |number| format!("Ann{number}\0"))
}

fn quake_lines(count: usize) -> String {
    each(count, |number| format!("7 10 \"Ann{number}\"\n"))
}

fn quake_world_lines(count: usize) -> String {
    each(count, |number| {
        format!("{number} 7 0 10 \"Ann\" \"\" 0 0\n")
    })
}

/// A datagram of UT2004 with entries.
fn ut2004(kind: u8, entries: &[u8]) -> Vec<u8> {
    [&[0x80, 0, 0, 0, kind][..], entries].concat()
}

fn ut2004_rules(count: usize) -> Vec<Vec<u8>> {
    vec![ut2004(1, &b"\x02k\0\x02v\0".repeat(count))]
}

fn ut2004_player(number: usize) -> Vec<u8> {
    [&[number as u8 + 1, 0, 0, 0][..], b"\x04Ann\0", &[0; 12]].concat()
}

fn ut2004_players(count: usize) -> Vec<Vec<u8>> {
    let players: Vec<u8> = (0..count).flat_map(ut2004_player).collect();
    vec![ut2004(2, &players)]
}

fn ut2004_fragments(count: usize) -> Vec<Vec<u8>> {
    let datagram = |number| ut2004(2, &ut2004_player(number));
    (0..count).map(datagram).collect()
}

/// Two datagrams with this many bytes together.
fn ut2004_bytes(bytes: usize) -> Vec<Vec<u8>> {
    let first = ut2004(2, &ut2004_player(0));
    let room = bytes - first.len() - ut2004(2, &[]).len();
    let names = (room - room % 21 - 42) / 21;
    let mut second: Vec<u8> = (1..=names).flat_map(ut2004_player).collect();
    let name = "x".repeat(room - second.len() - 4 - 2 - 12);
    second.extend([99, 0, 0, 0, name.len() as u8 + 1]);
    second.extend(name.as_bytes());
    second.extend([0; 13]);
    vec![first, ut2004(2, &second)]
}

/// Two datagrams with this many bytes of text, without the marks at their ends.
fn gamespy1_bytes(bytes: usize) -> Vec<Vec<u8>> {
    let value = |length: usize| "x".repeat(length);
    let first = format!(r"\k\{}\queryid\1.1", value(1021));
    let last = format!(r"\k\{}\final\\queryid\1.2", value(bytes - 1027));
    [first, last].map(String::into_bytes).into()
}

/// Two datagrams with this many bytes together.
fn gamespy4_bytes(bytes: usize) -> Vec<Vec<u8>> {
    let first = sections(0, &format!("\0k\0{}\0\0", "x".repeat(1000)));
    let last = |name: &str| {
        sections(
            0x81,
            &format!("\x01player_\0\0{name}\0\0\0\x02team_t\0\0\0\0"),
        )
    };
    let room = bytes - first.len() - last("").len();
    vec![first, last(&"x".repeat(room))]
}

/// Replies by protocol and limit, and the outcome one above the limit.
const REPLIES: &[(Protocol, &str, &str, Reply, &str)] = &[
    (
        Protocol::GameSpy1,
        "pairs",
        "rules",
        |n| gamespy1(&pairs(n)),
        "refused",
    ),
    (
        Protocol::GameSpy1,
        "rows",
        "players",
        |n| gamespy1(&each(n, |i| format!(r"\player_{i}\Ann"))),
        "refused",
    ),
    (
        Protocol::GameSpy1,
        "teams",
        "players",
        |n| gamespy1(&each(n, |i| format!(r"\team_t{i}\Red"))),
        "refused",
    ),
    (
        Protocol::GameSpy1,
        "datagrams",
        "fragments",
        gamespy1_fragments,
        "[3, 0, 0] without [end]",
    ),
    (
        Protocol::GameSpy1,
        "datagrams",
        "bytes",
        gamespy1_bytes,
        "[1, 0, 0] without [end]",
    ),
    (
        Protocol::GameSpy4,
        "sections",
        "rules",
        |n| gamespy4(&nul_pairs(n), "", ""),
        "refused",
    ),
    (
        Protocol::GameSpy4,
        "sections",
        "players",
        |n| gamespy4("k\0v\0", &nul_names(n), ""),
        "refused",
    ),
    (
        Protocol::GameSpy4,
        "teams",
        "players",
        |n| gamespy4("k\0v\0", "", &nul_names(n)),
        "refused",
    ),
    (
        Protocol::GameSpy4,
        "datagrams",
        "fragments",
        gamespy4_fragments,
        "[1, 2, 0] without [players, end]",
    ),
    (
        Protocol::GameSpy4,
        "datagrams",
        "bytes",
        gamespy4_bytes,
        "refused",
    ),
    (
        Protocol::GameSpy4,
        "GameSpy v2",
        "rules",
        |n| legacy(&nul_pairs(n), ""),
        "refused",
    ),
    (
        Protocol::GameSpy4,
        "GameSpy v2",
        "players",
        |n| legacy("k\0v\0", &nul_names(n)),
        "refused",
    ),
    (
        Protocol::GameSpy4,
        "Minecraft",
        "rules",
        |n| minecraft(&nul_pairs(n - 1), ""),
        "refused",
    ),
    (
        Protocol::GameSpy4,
        "Minecraft",
        "players",
        |n| minecraft("", &nul_names(n)),
        "[1, 3, 0] without [players]",
    ),
    (
        Protocol::GameSpy4,
        "Just Cause 2",
        "players",
        just_cause_2,
        "[1, 3, 0] without [players]",
    ),
    (
        Protocol::Quake3,
        "Quake 3",
        "rules",
        |n| quake(&format!("statusResponse\n{}\n", pairs(n))),
        "refused",
    ),
    (
        Protocol::Quake3,
        "Quake 3",
        "players",
        |n| quake(&format!("statusResponse\n\\k\\v\n{}", quake_lines(n))),
        "refused",
    ),
    (
        Protocol::Quake3,
        "an info",
        "rules",
        |n| quake(&format!("infoResponse\n{}", pairs(n))),
        "refused",
    ),
    (
        Protocol::Quake3,
        "Quake 2",
        "rules",
        |n| quake(&format!("print\n{}\n", pairs(n))),
        "refused",
    ),
    (
        Protocol::Quake3,
        "Quake 2",
        "players",
        |n| quake(&format!("print\n\\k\\v\n{}", quake_lines(n))),
        "refused",
    ),
    (
        Protocol::Quake3,
        "QuakeWorld",
        "rules",
        |n| quake(&format!("n{}\n", pairs(n))),
        "refused",
    ),
    (
        Protocol::Quake3,
        "QuakeWorld",
        "players",
        |n| quake(&format!("n\\k\\v\n{}", quake_world_lines(n))),
        "refused",
    ),
    (Protocol::Ut2004, "rules", "rules", ut2004_rules, "refused"),
    (
        Protocol::Ut2004,
        "players",
        "players",
        ut2004_players,
        "refused",
    ),
    (
        Protocol::Ut2004,
        "datagrams",
        "fragments",
        ut2004_fragments,
        "[0, 3, 0] without [info, rules, players]",
    ),
    (
        Protocol::Ut2004,
        "datagrams",
        "bytes",
        ut2004_bytes,
        "[0, 1, 0] without [info, rules, players]",
    ),
];

/// The numbers of rules, players and teams, and what is missing; or an error.
fn outcome(protocol: Protocol, datagrams: &[Vec<u8>], limits: &Limits) -> String {
    let answer = match Answer::from_datagrams(protocol, datagrams, limits) {
        Ok(answer) => answer,
        Err(error) if matches!(error.kind, ParseErrorKind::Limit { .. }) => {
            return "refused".to_owned();
        }
        Err(error) => panic!("{error}"),
    };
    let status = answer.to_status();
    let parts = [
        Part::Info,
        Part::Rules,
        Part::Players,
        Part::Teams,
        Part::End,
    ];
    let lacks: Vec<_> = parts
        .into_iter()
        .filter(|part| status.completeness.lacks(*part))
        .map(|part| format!("{part:?}").to_lowercase())
        .collect();
    let counts = [status.rules.len(), status.players.len(), status.teams.len()];
    format!("{counts:?} without [{}]", lacks.join(", "))
}

#[test]
fn an_answer_at_a_limit_is_the_same_as_without_and_one_above_is_refused_or_says_what_it_lacks() {
    let mut wrong = Vec::new();
    for (protocol, what, name, reply, above) in REPLIES {
        let mut limits = limits().into_iter();
        let (_, limits, most) = limits.find(|(limit, ..)| limit == name).unwrap();
        for size in [most - 1, most, most + 1] {
            let datagrams = reply(size);
            let whole = outcome(*protocol, &datagrams, &Limits::default());
            let is_above = size > most;
            let expected = if is_above { *above } else { &whole };
            let found = outcome(*protocol, &datagrams, &limits);
            if found != expected || is_above && found == whole {
                wrong.push(format!("{protocol} {what}, {size} {name}: {found}"));
            }
        }
    }
    assert_eq!(wrong, [""; 0]);
}
