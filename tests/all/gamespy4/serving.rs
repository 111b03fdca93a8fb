//! The server's side: its replies, their receivers and their sizes.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use allocation_counter::measure;
use bytes::Bytes;
use proptest::prelude::*;
use queryport::gamespy4::{Answer, Command, Form, Request, RequestId, Response, Row, Selection};
use queryport::model::{Charset, Colours, Style};
use queryport::serve::Responder;
use queryport::session::Machine;
use queryport::{Format, Part, Protocol, Service};
use queryport::{Limits, Player, Requester, Secret, ServerStatus, Team, Text, ToStatus};

use crate::common::link::Random;
use crate::common::pair::CLIENT;
use crate::common::{at, requester};
use crate::gamespy4::decode;
use crate::gamespy4::sender::MAX_DATAGRAM;

const FORMATS: [Format; 3] = [
    Format::UnrealTournament3,
    Format::GameSpy4,
    Format::Minecraft,
];
const ID: RequestId = RequestId([1, 2, 3, 4]);

fn status(players: usize, rules: usize) -> ServerStatus {
    let mut status = ServerStatus::default();
    status.name = Some("Srv".into());
    status.map = Some("DM-Deck".into());
    status.game_type = Some("UTGame.UTDeathmatch".into());
    status.version = Some("3815".into());
    status.game_port = Some(7777);
    (status.player_count, status.max_players) = (Some(players as u32), Some(256));
    let player = |number: usize| {
        let mut player = Player::new(format!("player with number {number:03}"));
        (player.score, player.ping, player.team) = (Some(number as i64 - 5), Some(40), Some(1));
        player.extra.push("deaths_", &number.to_string());
        player.extra.push("pid_", &(7_000_000 + number).to_string());
        player
    };
    status.players = (0..players).map(player).collect();
    let mut team = Team::default();
    (team.name, team.score) = (Some("Red".into()), Some(5));
    status.teams = vec![team];
    status.rules = (0..rules)
        .map(|n| (format!("rule_{n}"), format!("value number {n}")))
        .collect();
    status
}

fn ask(selection: Selection<'_>, status: &ServerStatus, format: Format) -> Vec<Bytes> {
    ask_with(selection, status, &Service::new(format))
}

/// The reply to a data request with a valid token.
pub(crate) fn ask_with(
    selection: Selection<'_>,
    status: &ServerStatus,
    service: &Service,
) -> Vec<Bytes> {
    let requester = requester(CLIENT);
    let command = Command::Data {
        challenge: Some(token(&requester)),
        selection,
    };
    queryport::gamespy4::respond(&Request::new(ID, command), status, service, &requester)
        .into_iter()
        .collect()
}

/// A request can name one column 254 times.
#[test]
fn a_request_for_many_columns_takes_little_more_memory_than_its_reply() {
    let mut served = status(255, 0);
    for player in &mut served.players {
        player.name = "n".repeat(200).into();
    }
    // 21 is the id of the names.
    let selection = [&[0, 254][..], &[21; 254], &[0]].concat();
    let mut replies = Vec::new();
    let counted = measure(|| replies = ask(Selection(&selection), &served, Format::GameSpy4));
    let names = replies[0]
        .split(|byte| *byte == 0)
        .filter(|name| name.len() == 200);
    assert!(names.count() > 3);
    assert!(counted.bytes_max < 1 << 20, "{} bytes", counted.bytes_max);
}

/// The token of a requester, from the reply to a challenge request.
fn token(requester: &Requester) -> i32 {
    let request = Request::new(ID, Command::Challenge);
    let replies = queryport::gamespy4::respond(
        &request,
        &ServerStatus::default(),
        &Service::from(Protocol::GameSpy4),
        requester,
    );
    read_challenge(replies.first().unwrap())
}

fn read_challenge(reply: &[u8]) -> i32 {
    match Response::parse(reply, &Limits::default()) {
        Ok(Response::Challenge { value, .. }) => value,
        other => panic!("{other:?}"),
    }
}

/// The players of a served status come back, any number of them in any order of datagrams, each of
/// which is short enough.
#[test]
fn a_status_goes_to_the_wire_and_back() {
    let mut random = Random(3);
    for players in (0..70).step_by(3).chain([100, 128, 200, 255]) {
        for format in FORMATS {
            let served = status(players, players % 30);
            let mut service = Service::new(format);
            service = service.with_max_reply(32 * MAX_DATAGRAM);
            let mut datagrams = ask_with(Selection::ALL, &served, &service);
            if format == Format::Minecraft {
                assert_eq!(datagrams.len(), 1);
            } else {
                assert!(
                    datagrams
                        .iter()
                        .all(|datagram| datagram.len() <= MAX_DATAGRAM)
                );
            }
            random.shuffle(&mut datagrams);
            let answer = decode(datagrams).unwrap();
            let completeness = answer.completeness();
            assert!(
                completeness.is_complete(),
                "{players} {format:?}: {completeness}"
            );
            let (read, served) = (answer.to_status().players, served.players);
            assert_eq!(read.len(), served.len());
            for (read, served) in read.iter().zip(served) {
                assert_eq!(read.name.raw(), served.name.raw());
                if format != Format::Minecraft {
                    let pid = |player: &Player| player.extra.get("pid_").unwrap().raw().to_vec();
                    assert_eq!(pid(read), pid(&served));
                }
            }
        }
    }
}

/// A rule or a row that fills a datagram exactly would leave no space for the end of the section.
#[test]
fn a_rule_of_any_length_keeps_datagrams_below_their_maximum() {
    for length in 900..1200 {
        let mut served = status(2, 0);
        served.name = Some("n".repeat(100).into());
        served.rules.push("long", &"v".repeat(length));
        let replies = ask(Selection::ALL, &served, Format::GameSpy4);
        let longest = replies.iter().map(Bytes::len).max();
        assert!(longest <= Some(MAX_DATAGRAM), "{length}: {longest:?}");
        assert!(decode(replies).unwrap().completeness().is_complete());
    }
}

/// Rules go one by one, in their order, as many as fit, and never displace players.
#[test]
fn a_reply_over_its_bound_has_the_rules_that_fit_and_is_incomplete() {
    for format in FORMATS {
        let served = status(20, 2000);
        let datagrams = ask(Selection::ALL, &served, format);
        let bytes = datagrams.iter().map(Bytes::len).sum::<usize>();
        assert!((11_000..=11_200).contains(&bytes), "{bytes}");
        let answer = decode(datagrams).unwrap();
        assert!(!answer.completeness().is_complete(), "{format:?}");
        let read = answer.to_status();
        assert_eq!((read.player_count, read.players.len()), (Some(20), 20));
        let rules: Vec<_> = answer
            .rules()
            .filter(|(key, _)| key.starts_with(b"rule_"))
            .collect();
        assert!(rules.len() > 200, "{}", rules.len());
        for (number, (key, value)) in rules.iter().enumerate() {
            assert_eq!(
                *key,
                format!("rule_{number}").as_bytes(),
                "no rule before it was left out"
            );
            assert_eq!(*value, format!("value number {number}").as_bytes());
        }
    }
}

#[test]
fn the_bound_of_a_reply_is_exact() {
    let served = status(20, 100);
    for format in FORMATS {
        let whole = ask(Selection::ALL, &served, format);
        let bytes = whole.iter().map(Bytes::len).sum::<usize>();
        for (max_reply, is_whole) in [(bytes, true), (bytes - 1, false)] {
            let service = Service::new(format).with_max_reply(max_reply);
            let replies = ask_with(Selection::ALL, &served, &service);
            assert_eq!(replies == whole, is_whole, "{format:?}");
        }
        // Without a bound of its own, a reply has those of the wire.
        let service = Service::new(format).with_max_reply(usize::MAX);
        let replies = ask_with(Selection::ALL, &status(20, 10_000), &service);
        if format == Format::Minecraft {
            let mut longer = status(20, 10_000);
            let unused = 65_507 - replies[0].len();
            longer.name = Some("x".repeat("Srv".len() + unused).into());
            let replies = ask_with(Selection::ALL, &longer, &service);
            assert_eq!(replies[0].len(), 65_507, "the longest datagram");
        } else {
            assert_eq!(replies.len(), 32, "{format:?}");
        }
    }
}

#[test]
fn a_rule_that_does_not_fit_displaces_no_other() {
    for format in FORMATS {
        let mut served = status(5, 10);
        served.rules.push("long", &"x".repeat(2000));
        served.rules.push("last", "after it");
        let mut service = Service::new(format);
        let answer = decode(ask_with(Selection::ALL, &served, &service)).unwrap();
        assert_eq!(answer.get("long").map(<[u8]>::len), Some(1200), "cut");
        assert!(!answer.completeness().is_complete(), "and that can be seen");
        service = service.with_max_reply(1400);
        let answer = decode(ask_with(Selection::ALL, &served, &service)).unwrap();
        assert_eq!(
            (answer.get("long"), answer.get("last")),
            (None, Some(&b"after it"[..]))
        );
        assert_eq!(
            (answer.get("rule_9").is_some(), answer.players().len()),
            (true, 5)
        );
        assert!(!answer.completeness().is_complete());
    }
}

/// A reply that cuts a text must not read as complete, nor be longer for it.
#[test]
fn every_text_that_is_cut_makes_the_reply_incomplete() {
    let long = |length| Some("x".repeat(length).into());
    type Change<'a> = &'a dyn Fn(&mut ServerStatus, usize);
    let changes: [(Change<'_>, usize, &[Format]); 10] = [
        (
            &|status, length| status.rules.push(&"k".repeat(length), "x"),
            100,
            &FORMATS,
        ),
        (&|status, length| status.name = long(length), 1200, &FORMATS),
        (&|status, length| status.map = long(length), 1200, &FORMATS),
        (
            &|status, length| status.game_type = long(length),
            1200,
            &FORMATS,
        ),
        (
            &|status, length| status.version = long(length),
            1200,
            &FORMATS,
        ),
        (
            &|status, length| status.mod_name = long(length),
            1200,
            &FORMATS[1..],
        ),
        (
            &|status, length| status.rules.push("gamemode", &"x".repeat(length)),
            1200,
            &FORMATS[..2],
        ),
        (
            &|status, length| status.teams[0].name = long(length),
            200,
            &FORMATS[..2],
        ),
        (
            &|status, length| status.players[0].name = "x".repeat(length).into(),
            200,
            &FORMATS,
        ),
        (
            &|status, length| {
                status.players[0].extra = Default::default();
                status.players[0].extra.push("pid_", &"x".repeat(length));
            },
            200,
            &FORMATS[..2],
        ),
    ];
    for (number, (change, limit, formats)) in changes.into_iter().enumerate() {
        for &format in formats {
            for (length, is_whole) in [(limit, true), (limit + 1, false)] {
                let mut served = status(1, 0);
                change(&mut served, length);
                let replies = ask(Selection::ALL, &served, format);
                assert!(
                    format == Format::Minecraft
                        || replies.iter().all(|reply| reply.len() <= MAX_DATAGRAM)
                );
                let answer = decode(replies).unwrap();
                assert_eq!(
                    (answer.completeness().is_complete(), longest_text(&answer)),
                    (is_whole, limit),
                    "{number} {format:?} {length}"
                );
            }
        }
    }
}

/// The longest key, value or cell.
fn longest_text(answer: &Answer) -> usize {
    let rules = answer.rules().flat_map(|(key, value)| [key, value]);
    let rows = answer.players().rows().chain(answer.teams().rows());
    let cells = rows.flat_map(Row::fields).filter_map(|(_, value)| value);
    rules.chain(cells).map(<[u8]>::len).max().unwrap()
}

#[test]
fn the_length_of_a_text_is_that_on_the_wire() {
    // As many bytes as characters, in Latin-1.
    let mut served = status(0, 0);
    (served.name, served.version) = (Some("é".repeat(700).into()), Some("1.8".into()));
    let answer = decode(ask(Selection::ALL, &served, Format::Minecraft)).unwrap();
    assert!(answer.completeness().is_complete() && answer.get("hostname").unwrap().len() == 700);
    // From UTF-16.
    let mut served = status(1, 0);
    let wide = "n\0".repeat(200);
    let style = Style::new(Charset::Utf16Le, Colours::None);
    served.players.to_mut()[0].name = Text::new(wide.into_bytes(), style);
    let answer = decode(ask(Selection::ALL, &served, Format::GameSpy4)).unwrap();
    assert!(answer.completeness().is_complete());
    // Minecraft's basic reply cannot show that a text was cut.
    served.name = Some("n".repeat(2000).into());
    served.rules.push("hostip", &"h".repeat(2000));
    let basic = ask(Selection::MINECRAFT_BASIC, &served, Format::Minecraft);
    let rules = decode(basic).unwrap().to_status().rules;
    let lengths = ["hostname", "hostip"].map(|key| rules.get(key).unwrap().raw().len());
    assert_eq!(lengths, [1200, 1200]);
}

/// As GameSpy's own code.
#[test]
fn a_table_begins_in_a_datagram_with_space_for_100_bytes() {
    let mut unused = BTreeSet::new();
    for length in 1000..1200 {
        let mut served = status(1, 0);
        served.name = Some("n".repeat(length).into());
        let replies = ask(Selection::ALL, &served, Format::GameSpy4);
        if replies.len() > 1 && replies[1][15..].starts_with(b"\x01player_\0\0") {
            unused.insert(MAX_DATAGRAM - replies[0].len());
        }
    }
    assert_eq!(unused.last(), Some(&99));
}

#[test]
fn texts_that_do_not_fit_are_cut_in_steps() {
    let mut served = status(0, 0);
    let long = || Some("~".repeat(2000).into());
    (served.name, served.game, served.map) = (long(), long(), long());
    (served.version, served.game_type, served.mod_name) = (long(), long(), long());
    let length = |max_reply| {
        let service = Service::new(Format::GameSpy4).with_max_reply(max_reply);
        let answer = decode(ask_with(Selection::ALL, &served, &service)).unwrap();
        answer.get("hostname").unwrap().len()
    };
    let lengths: BTreeSet<usize> = (0..12_000).step_by(100).map(length).collect();
    assert_eq!(Vec::from_iter(lengths), [75, 150, 300, 600, 1200]);
}

#[test]
fn a_list_of_mutators_is_cut_after_a_whole_name() {
    // 24 bytes each with its separator: by the first, the fiftieth ends at byte 1,198 or 1,200.
    for first in ["a custom mutator no. 0", "a custom mutator no. 000"] {
        let name = |number: usize| match number {
            0 => first.to_owned(),
            _ => format!("a custom mutator no. {number:02}"),
        };
        for (count, is_whole) in [(50, true), (51, false), (90, false)] {
            let mut served = status(2, 0);
            served.mutators = Some((0..count).map(|number| name(number).into()).collect());
            let replies = ask(Selection::ALL, &served, Format::UnrealTournament3);
            assert!(replies.iter().all(|reply| reply.len() <= MAX_DATAGRAM));
            let answer = decode(replies).unwrap();
            assert_eq!(answer.completeness().is_complete(), is_whole);
            let mutators = answer.to_status().mutators.unwrap();
            let read: Vec<_> = mutators.iter().map(ToString::to_string).collect();
            assert_eq!(read, (0..50).map(name).collect::<Vec<_>>());
        }
    }
}

/// The same mutators as rules: their bits have another meaning without their classes.
#[test]
fn mutators_are_read_whole_or_not_at_all_from_a_reply_that_is_cut() {
    let mut served = status(2, 0);
    served.version = None;
    served.mutators = Some(vec!["SlowTimeKills".into()]);
    let classes = "UTGame.UTMutator_SlowTimeKills".repeat(30);
    served.rules = [("p268435717", "1"), ("p1073741829", &classes)]
        .into_iter()
        .collect();
    for max_reply in (1000..4000).step_by(8) {
        let service = Service::new(Format::UnrealTournament3).with_max_reply(max_reply);
        let answer = decode(ask_with(Selection::ALL, &served, &service)).unwrap();
        let read = answer.to_status().mutators.unwrap_or_default();
        let names: Vec<_> = read.iter().map(ToString::to_string).collect();
        assert!(
            names.iter().all(|name| name != "BigHead"),
            "{max_reply}: {names:?}"
        );
    }
}

/// Clients number teams by their rows: usually from 1, those of Unreal Tournament 3 from 0
/// (captures).
#[test]
fn the_row_of_a_team_is_its_number() {
    let mut status = status(1, 0);
    let team = |(id, name): (i32, &str)| {
        let mut team = Team::default();
        (team.id, team.name) = (Some(id), Some(name.into()));
        team
    };
    status.teams = [
        (2, "US"),
        (1, "MEC"),
        (2, "the same number"),
        (-1, "below the first row"),
        (i32::MAX, "far"),
    ]
    .map(team)
    .to_vec();
    for format in &FORMATS[..2] {
        let read = decode(ask(Selection::ALL, &status, *format))
            .unwrap()
            .to_status();
        let named = read
            .teams
            .iter()
            .map(|team| (team.id, team.name.as_ref().unwrap().raw()));
        let named: Vec<_> = named.filter(|(_, name)| *name != b" ").collect();
        assert_eq!(
            named,
            [(Some(1), &b"MEC"[..]), (Some(2), b"US")],
            "{format:?}"
        );
    }
}

/// A continued column has its row number in one byte.
#[test]
fn a_table_of_the_teams_has_255_rows_at_most() {
    for (count, is_whole) in [(255, true), (256, false)] {
        let mut served = status(1, 0);
        served.teams = vec![Team::default(); count];
        let answer = decode(ask(Selection::ALL, &served, Format::GameSpy4)).unwrap();
        assert_eq!(answer.teams().len(), 255);
        assert_eq!(answer.completeness().is_complete(), is_whole);
    }
}

/// A table has no empty values.
#[test]
fn cells_without_a_value_have_a_default() {
    let mut served = ServerStatus::default();
    let mut bob = Player::new("Bob");
    bob.extra.push("deaths_", "2");
    bob.bot = Some(false);
    served.players = [Player::new("Ann"), bob].into();
    served.teams = vec![Team::default()];
    for (format, ann, bob) in [
        (Format::GameSpy4, "Ann,0,0,0,0,0", "Bob,0,0,0,2,0"),
        (Format::UnrealTournament3, "Ann,0,0, ,0", "Bob,0,0, ,2"),
    ] {
        let answer = decode(ask(Selection::ALL, &served, format)).unwrap();
        let rows = answer.players().rows().chain(answer.teams().rows());
        let rows: Vec<Vec<u8>> = rows
            .map(|row| {
                let cells: Vec<_> = row.fields().map(|(_, cell)| cell.unwrap()).collect();
                cells.join(&b',')
            })
            .collect();
        assert_eq!(rows, [ann, bob, " ,0"].map(|row| row.as_bytes().to_vec()));
    }
}

#[test]
fn a_server_without_bots_shows_it_by_a_column() {
    let mut served = status(2, 0);
    for count in [None, Some(0)] {
        served.bot_count = count;
        let answer = decode(ask(Selection::ALL, &served, Format::GameSpy4)).unwrap();
        assert_eq!(answer.to_status().bot_count, count);
    }
}

#[test]
fn two_rows_may_stay_empty_before_a_team() {
    for (format, first) in [(Format::GameSpy4, 1), (Format::UnrealTournament3, 0)] {
        for (empty_rows, is_sent) in [(2, true), (3, false)] {
            let mut served = status(1, 0);
            let mut alone = Team::default();
            (alone.id, alone.name) = (Some(first + empty_rows), Some("alone".into()));
            served.teams = vec![alone];
            let read = decode(ask(Selection::ALL, &served, format)).unwrap();
            let teams = read.to_status().teams;
            let mut names = teams.iter().filter_map(|team| team.name.as_ref());
            assert_eq!(names.any(|name| *name == "alone"), is_sent, "{format:?}");
        }
    }
}

/// `numplayers` is true, the rows are fewer: such a reply must not read as complete.
#[test]
fn a_list_of_players_that_was_cut_is_incomplete() {
    let mut cut = 0;
    for format in FORMATS {
        for (players, max_reply) in [
            (300, 32 * MAX_DATAGRAM),
            (300, 11_200),
            (255, 11_200),
            (64, 1400),
            (64, 2800),
            (12, 1024),
        ] {
            let served = status(players, 50);
            let mut service = Service::new(format);
            service = service.with_max_reply(max_reply);
            let datagrams = ask_with(Selection::ALL, &served, &service);
            assert!(datagrams.iter().map(Bytes::len).sum::<usize>() <= max_reply);
            let answer = decode(datagrams).unwrap();
            let read = answer.to_status();
            assert_eq!(read.player_count, Some(players as u32));
            assert!(format == Format::Minecraft || read.players.len() <= 255);
            let is_whole = read.players.len() == players
                && answer
                    .rules()
                    .filter(|(key, _)| key.starts_with(b"rule_"))
                    .count()
                    == 50;
            assert_eq!(
                answer.completeness().is_complete(),
                is_whole,
                "{format:?} {players} {max_reply}"
            );
            cut += u32::from(!is_whole);
        }
    }
    assert_eq!(cut, 15, "only Minecraft's names fit, three times");
}

/// Names and values that the format cannot carry are changed so that nothing shifts.
#[test]
fn hostile_texts_shift_nothing() {
    let mut served = status(0, 0);
    served.name = Some("A\0hostport\u{0}1".into());
    served.rules.push("a\0b", "c\0d");
    served.rules.push("\u{1}player_", "x");
    served.rules.push("\u{2}team_t", "x");
    served.rules.push("\u{3}", "no section");
    served.rules.push("", "empty key");
    served.players = ["", "\0", "\u{1}x", "score_", "\u{2}"]
        .map(Player::new)
        .into();
    for format in FORMATS {
        let answer = decode(ask(Selection::ALL, &served, format)).unwrap();
        assert!(answer.completeness().is_complete());
        assert_eq!(answer.get("hostname"), Some(&b"Ahostport1"[..]));
        assert_eq!(answer.get("ab"), Some(&b"cd"[..]));
        assert_eq!(answer.get("\u{3}"), Some(&b"no section"[..]));
        assert!(answer.rules().all(|(key, _)| key[0] > 2));
        let names: Vec<_> = answer
            .players()
            .rows()
            .map(|row| row.get("player_").unwrap())
            .collect();
        assert_eq!(names, [&b" "[..], b" ", b"x", b"score_", b" "]);
    }
}

/// Minecraft's own server looks at nothing but the length, GameSpy's code reads the lists of keys.
#[test]
fn the_selection_of_a_request_chooses_the_reply() {
    let served = status(2, 0);
    for format in FORMATS {
        let replies = ask(Selection::MINECRAFT_BASIC, &served, format);
        if format == Format::Minecraft {
            let basic = decode(replies).unwrap();
            assert!(basic.form() == Form::MinecraftBasic && basic.completeness().is_complete());
            let basic = basic.to_status();
            assert!(basic.name.unwrap() == "Srv" && basic.map.unwrap() == "DM-Deck");
            assert_eq!(
                (basic.player_count, basic.max_players, basic.game_port),
                (Some(2), Some(256), Some(7777))
            );
        } else {
            assert!(replies.is_empty());
        }
        for full in [
            &[0xFF, 0xFF, 0xFF, 1][..],
            &[0, 0, 0, 1],
            &[0; 4],
            &[0xFF, 0xFF, 0xFF, 0],
            b"abcd",
        ] {
            let replies = ask(Selection(full), &served, format);
            if format == Format::Minecraft || full[3] == 1 {
                let answer = decode(replies).unwrap();
                let form = if format == Format::Minecraft {
                    Form::MinecraftFull
                } else {
                    Form::Sections
                };
                assert_eq!((answer.form(), answer.players().len()), (form, 2));
            } else if full[0] == 0xFF {
                assert_eq!(decode(replies).unwrap().form(), Form::Legacy);
            } else if full[0] == 0 {
                assert_eq!(replies, [&b"\0\x01\x02\x03\x04"[..]], "three empty lists");
            } else {
                assert!(replies.is_empty(), "a list that is cut");
            }
        }
        // Minecraft's own server answers every length but four with its basic reply (Krypton,
        // `GS4QueryHandler`).
        let others = if format == Format::Minecraft {
            ask(Selection::MINECRAFT_BASIC, &served, format)
        } else {
            Vec::new()
        };
        assert_eq!(ask(Selection(&[0xFF]), &served, format), others);
        // GameSpy's own code ignores what follows the flags (QR2 SDK, qr2.c, `qr_process_query`);
        // the Ruby client gamespy_query ends its requests with a line feed.
        for (other, flagged) in [
            (&[0; 5][..], &[0; 4][..]),
            (&[0xFF, 0xFF, 0xFF, 1, b'\n'], &[0xFF, 0xFF, 0xFF, 1]),
            (&[0xFF, 0xFF, 0xFF, 1, 0], &[0xFF, 0xFF, 0xFF, 1]),
            (
                &[6, 1, 6, 5, 8, 10, 4, 0, 0, 0, 0],
                &[6, 1, 6, 5, 8, 10, 4, 0, 0, 0],
            ),
        ] {
            let replies = ask(Selection(other), &served, format);
            if format == Format::Minecraft {
                assert_eq!(replies, others, "{other:?}");
            } else {
                assert_eq!(
                    replies,
                    ask(Selection(flagged), &served, format),
                    "{other:?}"
                );
            }
        }
    }
}

/// Built by hand. Values as Minecraft's own server writes them (github.com/PaperMC/Velocity,
/// GS4QueryHandler); keys in the order of captures (GameQ, Providers/Minecraft).
#[test]
fn minecraft_is_answered_as_by_its_own_server() {
    let mut served = ServerStatus::default();
    served.name = Some("A Minecraft Server".into());
    served.map = Some("world".into());
    served.version = Some("1.20.4".into());
    (served.player_count, served.max_players, served.game_port) = (Some(2), Some(20), Some(25565));
    served.players = ["Ann", "Bob_"].map(Player::new).into();
    served.rules.push("hostip", "127.0.0.1");
    let basic = ask(Selection(&[]), &served, Format::Minecraft);
    assert_eq!(
        basic,
        [&b"\0\x01\x02\x03\x04A Minecraft Server\0SMP\0world\x002\x0020\0\xdd\x63127.0.0.1\0"[..]]
    );
    let mut without_port = served.clone();
    without_port.game_port = None;
    assert_eq!(
        ask(Selection(&[]), &without_port, Format::Minecraft),
        basic,
        "the default port"
    );
    let full = b"\0\x01\x02\x03\x04splitnum\0\x80\0\
        hostname\0A Minecraft Server\0gametype\0SMP\0game_id\0MINECRAFT\0version\x001.20.4\0plugins\0\0map\0world\0\
        numplayers\x002\0maxplayers\x0020\0hostport\x0025565\0hostip\x00127.0.0.1\0\0\
        \x01player_\0\0Ann\0Bob_\0\0";
    for four in [&[0; 4], &[0xFF, 0xFF, 0xFF, 1]] {
        assert_eq!(
            ask(Selection(four), &served, Format::Minecraft),
            [&full[..]]
        );
    }
    let defaults = ask(
        Selection(&[0; 4]),
        &ServerStatus::default(),
        Format::Minecraft,
    );
    let expected = b"\0\x01\x02\x03\x04splitnum\0\x80\0\
        hostname\0\0gametype\0SMP\0game_id\0MINECRAFT\0version\0\0plugins\0\0map\0world\0\
        numplayers\x000\0maxplayers\x000\0hostport\x0025565\0hostip\x000.0.0.0\0\0\
        \x01player_\0\0\0";
    assert_eq!(defaults, [&expected[..]]);
    // gamespy_query sends a line feed after the four bytes.
    for other in [&b"\n"[..], &[0; 3], b"\xff\xff\xff\x01\n", QSTAT] {
        assert_eq!(
            ask(Selection(other), &served, Format::Minecraft),
            basic,
            "{other:?}"
        );
    }
}

/// Tools look for these keys in every reply.
#[test]
fn a_status_without_values_has_keys_and_columns() {
    let expected = b"\0\x01\x02\x03\x04splitnum\0\x80\0\
        hostname\0\0numplayers\x000\0maxplayers\x000\0gamemode\0openplaying\0\0\
        \x01player_\0\0\0score_\0\0\0ping_\0\0\0team_\0\0\0\0\x02team_t\0\0\0score_t\0\0\0\0";
    for format in [Format::GameSpy4, Format::UnrealTournament3] {
        let replies = ask(Selection::ALL, &ServerStatus::default(), format);
        assert_eq!(replies, [&expected[..]], "{format:?}");
    }
}

/// Unreal Tournament 3 has its map under another key, which few tools know.
#[test]
fn every_format_has_the_map_and_the_number_of_listed_players() {
    let mut served = ServerStatus::default();
    served.map = Some("DM-Deck".into());
    served.players = ["Ann", "Bob"].map(Player::new).into();
    for (format, map) in FORMATS.into_iter().zip(["mapname", "mapname", "map"]) {
        let answer = decode(ask(Selection::ALL, &served, format)).unwrap();
        assert_eq!(answer.get(map), Some(&b"DM-Deck"[..]), "{format:?}");
        assert_eq!(answer.get("numplayers"), Some(&b"2"[..]), "{format:?}");
    }
}

#[test]
fn a_list_of_plugins_takes_the_place_of_the_software_of_minecraft() {
    let mut served = ServerStatus::default();
    served.mod_name = Some("Paper".into());
    for (list, sent) in [("", "Paper"), ("Paper: A 1", "Paper: A 1")] {
        served.rules = [("plugins", list)].into_iter().collect();
        let answer = decode(ask(Selection::ALL, &served, Format::Minecraft)).unwrap();
        assert_eq!(answer.get("plugins"), Some(sent.as_bytes()));
    }
}

/// Servers from 1.21.11 on write UTF-8, older ones one byte for each character (craftping,
/// `shouldUseLegacyStringEncoding`).
#[test]
fn minecraft_writes_its_title_as_the_version_that_it_says_does() {
    let title_of = |name: Text, version: &str| {
        let mut served = ServerStatus::default();
        served.name = Some(name);
        served.version = Some(version.into());
        let [reply] = &ask(Selection(&[]), &served, Format::Minecraft)[..] else {
            panic!()
        };
        reply[5..].split(|&byte| byte == 0).next().unwrap().to_vec()
    };
    let title = |version: &str| {
        let latin1 = Style::new(Charset::Latin1, Colours::SectionSign);
        let title = title_of("\u{a7}6café".into(), version);
        assert_eq!(
            title_of(Text::new(&b"\xa76caf\xe9"[..], latin1), version),
            title,
            "{version}"
        );
        title
    };
    for newer in ["1.21.11", "1.21.11-rc2", "1.21.12", "1.22", "26.1"] {
        assert_eq!(title(newer), b"\xc2\xa76caf\xc3\xa9", "{newer}");
    }
    for older in ["1.21.10", "1.21", "1.8.9", "", "snapshot"] {
        assert_eq!(title(older), b"\xa76caf\xe9", "{older}");
    }
}

/// The selection of qstat's short query (qstat.h).
const QSTAT: &[u8] = &[6, 1, 6, 5, 8, 10, 4, 0, 0];

/// Built by hand from QR2 SDK, qr2.c, `qr_build_partial_query_reply`: values without names in the
/// order of the ids, and rows.
#[test]
fn keys_by_id_bring_values_without_names() {
    let mut served = status(2, 0);
    served.rules.push("region", "4");
    for (selection, body) in [
        (QSTAT, &b"Srv\0gpm_cq\0DM-Deck\x002\x00256\x007777\0"[..]),
        // `region`, an id that no game has, and one of the game's own.
        (b"\x03\x20\x00\x37\0\0", b"4\0\0\0"),
        (
            b"\0\x03\x15\x17\x16\0",
            b"\0\x02player with number 000\0\0-5\0player with number 001\0\0-4\0",
        ),
        (b"\0\0\x02\x1d\x1c\x02", b"\0\x015\0Red\0"),
        (
            b"\x01\x08\x01\x1a\xff",
            b"2\0\0\x020\x001\0\0\x01team_t\0score_t\0\0Red\x005\0",
        ),
    ] {
        served.game_type = Some("gpm_cq".into());
        let replies = ask(Selection(selection), &served, Format::GameSpy4);
        let expected = [b"\0\x01\x02\x03\x04", body].concat();
        assert_eq!(replies, [expected], "{}", replies[0].escape_ascii());
    }
}

/// Built by hand from the same function: names, then rows.
#[test]
fn without_the_flag_the_reply_is_one_datagram_with_names() {
    let mut served = ServerStatus::default();
    served.name = Some("Srv".into());
    (served.player_count, served.max_players) = (Some(1), Some(8));
    let mut player = Player::new("Ann");
    (player.score, player.ping, player.team) = (Some(-5), Some(40), Some(1));
    served.players = [player].into();
    served.rules.push("other", "http://");
    let full = b"\0\x01\x02\x03\x04\
        hostname\0Srv\0numplayers\x001\0maxplayers\x008\0gamemode\0openplaying\0other\0http://\0\0\
        \0\x01player_\0score_\0ping_\0team_\0\0Ann\0-5\x0040\x001\0\
        \0\0team_t\0score_t\0\0";
    let replies = ask(Selection(&[0xFF, 0xFF, 0xFF]), &served, Format::GameSpy4);
    assert_eq!(replies, [&full[..]], "{}", replies[0].escape_ascii());
    let only_players = ask(Selection(&[0, 0xFF, 0, 0]), &served, Format::GameSpy4);
    let start = full
        .windows(9)
        .position(|part| part == b"\0\x01player_")
        .unwrap();
    assert_eq!(only_players[0][5..], full[start..full.len() - 18]);
}

/// No bound is below 1,024 bytes. In one datagram, 1,400 bytes would count as cut.
#[test]
fn a_reply_can_reach_its_maximum_size() {
    for (selection, max_reply, longest) in [
        (Selection::ALL, 0, 1024),
        (Selection(&[0xFF; 3]), 0, 1024),
        (Selection(&[0xFF; 3]), 11_200, 1399),
    ] {
        let service = Service::new(Format::GameSpy4).with_max_reply(max_reply);
        let reply = |length: usize| {
            let mut served = status(2, 0);
            served.rules.push("long", &"v".repeat(length));
            let replies = ask_with(selection, &served, &service);
            let length = replies.iter().map(Bytes::len).sum::<usize>();
            let answer = decode(replies).unwrap();
            (length, answer.completeness().is_complete())
        };
        let fitting = 1 + longest - reply(1).0;
        assert_eq!(reply(fitting), (longest, true), "{selection:?}");
        let (length, is_complete) = reply(fitting + 1);
        assert!(length < longest && !is_complete, "{selection:?} {length}");
    }
}

#[test]
fn long_values_leave_space_for_the_end_of_the_keys() {
    for length in 0..150 {
        let mut served = status(1, 0);
        served.name = Some("n".repeat(1200).into());
        served.map = Some("m".repeat(length).into());
        let answer = decode(ask(Selection(&[0xFF; 3]), &served, Format::GameSpy4)).unwrap();
        assert!(!answer.completeness().lacks(Part::Rules), "{length}");
    }
}

#[test]
fn a_reply_of_one_datagram_that_is_cut_is_incomplete() {
    for (players, rules, max_reply) in [
        (0, 0, 11_200),
        (10, 5, 11_200),
        (10, 200, 11_200),
        (64, 5, 11_200),
        (64, 5, 1024),
    ] {
        let mut service = Service::new(Format::GameSpy4);
        service = service.with_max_reply(max_reply);
        let served = status(players, rules);
        let replies = ask_with(Selection(&[0xFF; 3]), &served, &service);
        assert!(replies.len() == 1 && replies[0].len() <= MAX_DATAGRAM.min(max_reply));
        let answer = decode(replies).unwrap();
        let is_whole = (players, rules) == (0, 0) || (players, rules, max_reply) == (10, 5, 11_200);
        assert_eq!(
            answer.completeness().is_complete(),
            is_whole,
            "{players} {rules} {max_reply}"
        );
        if players <= 10 {
            assert_eq!(
                answer.players().len(),
                players,
                "rules do not displace players"
            );
        }
    }
    let mut served = status(1, 0);
    served.players[0].name = "n".repeat(201).into();
    let answer = decode(ask(Selection(&[0xFF; 3]), &served, Format::GameSpy4)).unwrap();
    assert!(!answer.completeness().is_complete(), "a text is cut");
}

fn responder(format: Format, now: Instant) -> Responder {
    Responder::new(
        Service::new(format),
        status(64, 50),
        Secret::new([9; 16]),
        now,
    )
}

/// Sends a datagram and returns everything that is sent back.
fn exchange(responder: &mut Responder, now: Instant, from: &str, datagram: &[u8]) -> Vec<Vec<u8>> {
    responder.handle_datagram(now, at(from), datagram);
    let mut replies = Vec::new();
    let mut out = Vec::new();
    while let Some(transmit) = responder.poll_transmit(now, &mut out) {
        assert_eq!(transmit.to, at(from));
        replies.push(std::mem::take(&mut out));
    }
    replies
}

fn challenge(responder: &mut Responder, now: Instant, from: &str) -> i32 {
    read_challenge(&exchange(responder, now, from, b"\xfe\xfd\x09\x01\x02\x03\x04")[0])
}

fn data(token: i32, tail: &[u8]) -> Vec<u8> {
    [
        b"\xfe\xfd\x00\x01\x02\x03\x04",
        &token.to_be_bytes()[..],
        tail,
    ]
    .concat()
}

/// Windows of 15 seconds.
const WINDOW: Duration = Duration::from_secs(15);

#[test]
fn a_token_is_valid_for_its_address_its_port_and_its_time() {
    for format in FORMATS {
        let now = Instant::now();
        let mut responder = responder(format, now);
        let token = challenge(&mut responder, now, "192.0.2.1:5000");
        assert!(token > 0);
        let full = data(token, &[0xFF, 0xFF, 0xFF, 1]);
        let mut answers =
            |from, later| !exchange(&mut responder, now + later, from, &full).is_empty();
        assert!(answers("192.0.2.1:5000", Duration::ZERO));
        assert!(
            answers("[::ffff:192.0.2.1]:5000", Duration::ZERO),
            "the same address"
        );
        assert!(!answers("192.0.2.1:5001", Duration::ZERO));
        assert!(!answers("192.0.2.2:5000", Duration::ZERO));
        assert!(answers("192.0.2.1:5000", WINDOW), "at least a window long");
        assert!(
            !answers("192.0.2.1:5000", WINDOW * 2),
            "at most two windows"
        );
    }
}

#[test]
fn requests_without_a_token_leave_a_client_with_one_its_replies() {
    let now = Instant::now();
    let mut responder = responder(Format::GameSpy4, now);
    let (from, request) = ("192.0.2.1:5000", b"\xfe\xfd\x09\x01\x02\x03\x04");
    let token = challenge(&mut responder, now, from);
    while !exchange(&mut responder, now, from, request).is_empty() {}
    let full = data(token, &[0xFF, 0xFF, 0xFF, 1]);
    assert!(!exchange(&mut responder, now, from, &full).is_empty());
}

/// A token names the status that it was issued for. If that could be read from it, one's own token
/// would reveal six bits of everybody's.
#[test]
fn a_token_says_nothing_about_another() {
    let now = Instant::now();
    let mut responder = responder(Format::UnrealTournament3, now).with_guard(None);
    let low_bits = |token: i32| usize::try_from(token & 63).unwrap();
    let mut met = [0; 64];
    for port in 1..=1000 {
        let from = format!("192.0.2.1:{port}");
        let token = challenge(&mut responder, now, &from);
        met[low_bits(token)] += 1;
        assert!(!exchange(&mut responder, now, &from, &data(token, &[0; 4])).is_empty());
        let others = (0..64).filter(|bits| token ^ bits != token);
        let accepted = others.filter(|bits| {
            !exchange(&mut responder, now, &from, &data(token ^ bits, &[0; 4])).is_empty()
        });
        assert_eq!(accepted.count(), 0, "one status, one token");
    }
    assert!(met.iter().all(|&times| times > 0 && times < 60), "{met:?}");
}

/// A spoofed source gets at most the challenge reply: bytes out are at most 2.5 times the bytes in
/// before the token is quoted, whatever is sent.
#[test]
fn without_a_token_no_reply_is_longer_than_a_challenge() {
    let mut random = Random(11);
    let mut most = 0.0_f64;
    for format in [Format::UnrealTournament3, Format::Minecraft] {
        let now = Instant::now();
        let mut responder = responder(format, now);
        let token = challenge(&mut responder, now, "192.0.2.1:5000");
        for round in 0..5000_u32 {
            // Every length and a wrong token.
            let mut datagram = data(token ^ (1 << (round % 31)), &[0xFF, 0xFF, 0xFF, 1]);
            datagram.resize(random.below(24) as usize, 0);
            match round % 3 {
                0 => {}
                1 if datagram.len() > 2 => datagram[2] = 9,
                _ => datagram
                    .iter_mut()
                    .skip(2)
                    .for_each(|byte| *byte = random.next() as u8),
            }
            let from = format!(
                "198.51.100.{}:{}",
                random.below(250) + 1,
                random.below(60_000) + 1
            );
            let out: usize = exchange(&mut responder, now, &from, &datagram)
                .iter()
                .map(Vec::len)
                .sum();
            let factor = out as f64 / datagram.len().max(1) as f64;
            most = most.max(factor);
            assert!(factor <= 2.5, "{out} bytes for {datagram:?}");
        }
    }
    println!("at most {most:.2} bytes out for each byte in");
    assert!(most > 2.0, "challenges were among them");
}

proptest! {
    /// For any status, the reply is complete and has as many rows.
    #[test]
    fn encoded_values_are_read_back(
        names in prop::collection::vec("[ -~é§Ж]{0,30}", 0..60),
        pairs in prop::collection::vec(("[ -~é]{0,20}", "[ -~é]{0,80}"), 0..30),
        format in 0..3_usize,
    ) {
        let mut served = status(0, 0);
        served.rules = pairs.iter().map(|(key, value)| (key, value)).collect();
        served.players = names.iter().map(|name| Player::new(name.clone())).collect();
        let format = FORMATS[format];
        let answer = decode(ask(Selection::ALL, &served, format)).unwrap();
        prop_assert!(answer.completeness().is_complete());
        let read = answer.to_status();
        if read.rules.len() >= served.rules.len() {
            prop_assert_eq!(read.players.len(), names.len());
        }
        for (read, served) in read.players.iter().zip(&names) {
            let served = if served.is_empty() { " " } else { served };
            prop_assert_eq!(read.name.raw(), served.as_bytes());
        }
    }
}
