//! The meaning of each game's keys in the model. A status keeps its fields from server to server.

use std::time::Duration;

use queryport::Format;
use queryport::gamespy4::Selection;
use queryport::gamespy4::ut3::Settings;
use queryport::{Rules, ServerStatus, Service, Text, ToStatus};

use crate::common::captures::cases;
use crate::facts::{fields, team_ids};
use crate::gamespy4::decode;
use crate::gamespy4::serving::ask_with;

fn vector(name: &str) -> ServerStatus {
    let case = cases("gamespy4")
        .into_iter()
        .find(|case| case.name == name)
        .unwrap();
    decode(case.packets).unwrap().to_status()
}

fn pairs(pairs: &[(&str, &str)]) -> ServerStatus {
    let mut datagram = b"\0\x01\x02\x03\x04splitnum\0\x80\0".to_vec();
    for (key, value) in pairs {
        datagram.extend_from_slice(format!("{key}\0{value}\0").as_bytes());
    }
    datagram.extend_from_slice(b"\0\x01\0\x02\0");
    decode([datagram]).unwrap().to_status()
}

fn minutes(minutes: u64) -> Option<Duration> {
    Some(Duration::from_secs(minutes * 60))
}

fn shown(text: &Option<Text>) -> Option<String> {
    text.as_ref().map(ToString::to_string)
}

/// `bf2_bots` shows whether there are bots, and never how many.
#[test]
fn battlefield_2_without_a_list() {
    let read = |bots: &[(&str, &str)]| {
        let keys = [
            ("bf2_dedicated", "1"),
            ("gamevariant", "bf2"),
            ("bf2_team1", "CH"),
            ("bf2_team2", "US"),
        ];
        pairs(&[&keys[..], bots].concat())
    };
    let status = read(&[("bf2_bots", "0"), ("bf2_coopbotcount", "")]);
    assert_eq!(
        (status.bot_count, status.mod_name),
        (Some(0), None),
        "bf2 is the game itself"
    );
    let teams: Vec<_> = status
        .teams
        .iter()
        .map(|team| (team.id, shown(&team.name), team.score))
        .collect();
    assert_eq!(
        teams,
        [
            (Some(1), Some("CH".into()), None),
            (Some(2), Some("US".into()), None)
        ]
    );
    assert_eq!(
        read(&[("bf2_bots", "1"), ("bf2_coopbotcount", "48")]).bot_count,
        Some(48)
    );
    assert_eq!(
        read(&[("bf2_bots", "1"), ("bf2_coopbotcount", "")]).bot_count,
        None
    );
    assert_eq!(read(&[]).bot_count, None);
}

/// Rows are counted only if everybody has one.
#[test]
fn bots_of_a_list_that_lacks_one_player_are_not_counted() {
    let bots = |counted: &str| {
        let mut datagram = b"\0\x01\x02\x03\x04splitnum\0\x80\0".to_vec();
        datagram.extend_from_slice(format!("numplayers\0{counted}\0").as_bytes());
        datagram.extend_from_slice(b"bf2_bots\x001\0bf2_coopbotcount\x002\0\0");
        datagram.extend_from_slice(b"\x01player_\0\0Ann\0Bob\0\0AIBot_\0\x000\x001\0\0\0\x02\0");
        let answer = decode([datagram]).unwrap();
        assert!(answer.completeness().is_complete());
        answer.to_status().bot_count
    };
    assert_eq!((bots("2"), bots("3")), (Some(1), Some(2)));
}

/// Values that are absent or unreadable are `None`.
#[test]
fn absent_and_unreadable_values_set_no_field() {
    let status = pairs(&[
        ("timelimit", "-5"),
        ("password", "maybe"),
        ("bf2_dedicated", ""),
        ("bf2_reservedslots", "x"),
        ("p268435703", ""),
        ("MinNetVersion", "4294967296"),
    ]);
    assert_eq!(
        (status.time_limit, status.password, status.dedicated),
        (None, None, None)
    );
    assert_eq!(
        (
            status.private_slots,
            status.bot_count,
            status.protocol_version
        ),
        (None, None, None)
    );
    assert_eq!(status.rules.len(), 6);
    let disagreeing = pairs(&[("sv_punkbuster", "0"), ("sv_battleye", "1")]);
    assert_eq!(disagreeing.anti_cheat, Some(true));
}

/// As the value of a key, in a column of players, and as a setting of Unreal Tournament 3.
#[test]
fn a_yes_and_a_no_have_the_same_spellings_everywhere() {
    let (yes, no) = (Some(true), Some(false));
    for (spellings, expected) in [
        ("1,True,true,YES,y,on,2, 1 ", yes),
        ("0,False,no,N,off, 0 ", no),
        ("maybe,,-", None),
    ] {
        for value in spellings.split(',') {
            let pairs = format!("s32779\x000\0s7\0{value}\0s14\0{value}\0\0");
            let players = format!("\x01player_\0\0Ann\0\0AIBot_\0\0{value}\0\0\0\x02\0");
            let head = b"\0\x01\x02\x03\x04splitnum\0\x80\0";
            let answer = decode([[head, pairs.as_bytes(), players.as_bytes()].concat()]).unwrap();
            let status = answer.to_status();
            assert_eq!(status.password, expected, "{value}");
            assert_eq!(status.dedicated, expected, "{value}");
            assert_eq!(status.players[0].bot, expected, "{value}");
            let setting = Settings::new(answer.rules()).get("s7");
            let word = expected.map(|yes| if yes { "yes" } else { "no" }.to_owned());
            assert_eq!(setting, word, "{value}");
        }
    }
}

/// A row without a name is a bot only if UT3's number of bots confirms it.
#[test]
fn nameless_rows_are_bots_only_where_their_number_is_right() {
    let bots = |number: &str| {
        let keys = format!("p1073741825\0DM-Deck\0numplayers\x001\0p268435703\0{number}\0\0");
        let datagram = [
            &b"\0\x01\x02\x03\x04splitnum\0\x80\0"[..],
            keys.as_bytes(),
            b"\x01player_\0\0Ann\0\0\0score_\0\x005\x000\x000\0\0\0\x02\0",
        ]
        .concat();
        let status = decode([datagram]).unwrap().to_status();
        let bots: Vec<_> = status.players.iter().map(|player| player.bot).collect();
        (status.player_count, bots)
    };
    assert_eq!(
        bots("2"),
        (Some(3), vec![Some(false), Some(true), Some(true)])
    );
    assert_eq!(bots("1"), (Some(2), vec![None, None, None]));
}

/// A status that was read from a server and is served again in the same format is unchanged.
#[test]
fn a_status_keeps_its_fields_from_server_to_server() {
    for (name, format) in [
        ("own-ut3", Format::UnrealTournament3),
        ("own-bf2-coop", Format::GameSpy4),
        ("own-64-players", Format::GameSpy4),
        ("own-pocketmine-full", Format::Minecraft),
        ("pumpkin-full", Format::Minecraft),
    ] {
        let first = vector(name);
        let served = ask_with(Selection::ALL, &first, &Service::new(format));
        let second = decode(served).unwrap().to_status();
        check_same(&first, &second, name);
    }
    // The same without rules to fall back on.
    let mut status = vector("own-ut3");
    status.rules = queryport::Rules::default();
    let served = ask_with(
        Selection::ALL,
        &status,
        &Service::new(Format::UnrealTournament3),
    );
    check_same(
        &status,
        &decode(served).unwrap().to_status(),
        "UT3 without rules",
    );
}

fn check_same(first: &ServerStatus, second: &ServerStatus, name: &str) {
    assert!(second.completeness.is_complete(), "{name}");
    assert_eq!(fields(second), fields(first), "{name}");
    assert_eq!(team_ids(second), team_ids(first), "{name}");
    let players = |status: &ServerStatus| -> Vec<_> {
        let player =
            |player: &queryport::Player| (player.name.to_string().trim().to_owned(), player.bot);
        status.players.iter().map(player).collect()
    };
    assert_eq!(players(second), players(first), "{name}");
}

#[test]
fn a_column_of_the_teams_without_a_field_is_extra() {
    let datagram = b"\0\x01\x02\x03\x04splitnum\0\x80\0k\0v\0\0\x02team_t\0\0Red\0Blue\0\0flags_t\0\x003\x004\0\0\0";
    let status = decode([&datagram[..]]).unwrap().to_status();
    let flags: Vec<_> = status
        .teams
        .iter()
        .map(|team| team.extra.get("flags_t").unwrap().raw())
        .collect();
    assert_eq!(flags, [b"3", b"4"]);
}

#[test]
fn texts_of_settings_keep_their_spaces() {
    for key in [
        "hostname",
        "OwningPlayerName",
        "gamemode",
        "p1073741825",
        "p1073741827",
    ] {
        let settings = Settings::new([(key.as_bytes(), &b" a  b "[..])]);
        assert_eq!(settings.get(key).as_deref(), Some(" a  b "), "{key}");
        let rules = Rules::from_iter([(key, " a  b ")]);
        let settings = Settings::from_rules(&rules);
        assert_eq!(settings.get(key).as_deref(), Some(" a  b "), "{key}");
    }
    let names = Settings::new([(&b"p1073741828"[..], &b" A \x1c B "[..])]);
    assert_eq!(names.get("p1073741828").as_deref(), Some(" A ,  B "));
}
