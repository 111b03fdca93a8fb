//! The fields of a status, in captured answers and in contradictory ones.

use std::fmt::Write as _;

use queryport::{Answer, Limits, Protocol, ServerStatus, ToStatus};

/// Fields, and whether a status has them.
type Said = (&'static str, fn(&ServerStatus) -> bool);

const FIELDS: [Said; 25] = [
    ("name", |status| status.name.is_some()),
    ("map", |status| status.map.is_some()),
    ("game", |status| status.game.is_some()),
    ("mod_name", |status| status.mod_name.is_some()),
    ("game_type", |status| status.game_type.is_some()),
    ("mutators", |status| status.mutators.is_some()),
    ("version", |status| status.version.is_some()),
    ("protocol_version", |status| {
        status.protocol_version.is_some()
    }),
    ("game_port", |status| status.game_port.is_some()),
    ("password", |status| status.password.is_some()),
    ("dedicated", |status| status.dedicated.is_some()),
    ("anti_cheat", |status| status.anti_cheat.is_some()),
    ("player_count", |status| status.player_count.is_some()),
    ("bot_count", |status| status.bot_count.is_some()),
    ("max_players", |status| status.max_players.is_some()),
    ("private_slots", |status| status.private_slots.is_some()),
    ("time_limit", |status| status.time_limit.is_some()),
    ("time_left", |status| status.time_left.is_some()),
    ("score_limit", |status| status.score_limit.is_some()),
    ("players", |status| status.players.is_known()),
    ("players: bot", |status| {
        status.players.iter().any(|player| player.bot.is_some())
    }),
    ("players: spectator", |status| {
        status
            .players
            .iter()
            .any(|player| player.spectator.is_some())
    }),
    ("players: team", |status| {
        status.players.iter().any(|player| player.team.is_some())
    }),
    ("teams", |status| !status.teams.is_empty()),
    ("rules", |status| !status.rules.is_empty()),
];

#[test]
fn every_field_is_in_a_capture() {
    let mut statuses = Vec::new();
    for protocol in Protocol::ALL {
        for case in crate::common::captures::third_party(protocol.as_str()).unwrap_or_default() {
            let answer = Answer::from_datagrams(protocol, case.packets, &Limits::default());
            let answer = answer.unwrap_or_else(|error| panic!("{}: {error}", case.name));
            statuses.push((protocol, answer.to_status()));
        }
    }
    let of = |protocol| {
        statuses
            .iter()
            .filter(move |(known, _)| *known == protocol)
            .map(|(_, status)| status)
    };
    let mut table = String::from("| field |");
    for protocol in Protocol::ALL {
        write!(table, " {protocol} ({}) |", of(protocol).count()).unwrap();
    }
    writeln!(
        table,
        " all ({}) |\n|---|---|---|---|---|---|",
        statuses.len()
    )
    .unwrap();
    for (field, is_said) in FIELDS {
        write!(table, "| {field} |").unwrap();
        for protocol in Protocol::ALL {
            write!(
                table,
                " {} |",
                of(protocol).filter(|status| is_said(status)).count()
            )
            .unwrap();
        }
        writeln!(
            table,
            " {} |",
            statuses
                .iter()
                .filter(|(_, status)| is_said(status))
                .count()
        )
        .unwrap();
    }
    println!("{table}");
    if statuses.is_empty() {
        kit::not_checked("fields of captures: QUERYPORT_CAPTURES is not set");
    }
    for (field, is_said) in FIELDS {
        let count = statuses
            .iter()
            .filter(|(_, status)| is_said(status))
            .count();
        assert!(count > 0 || statuses.is_empty(), "no capture says {field}");
    }
}

/// Counts of a reply: everyone, bots, slots, private slots.
type Counts = [Option<u32>; 4];

fn counts(status: &ServerStatus) -> Counts {
    [
        status.player_count,
        status.bot_count,
        status.max_players,
        status.private_slots,
    ]
}

/// Replies that count more bots than players, or more private slots than slots, and the rule that
/// keeps the count. Quake 2's has the keys of Kingpin's bots.
const CONTRADICTORY: &[(Protocol, &[u8], Counts, &str)] = &[
    (
        Protocol::Quake3,
        b"\xff\xff\xff\xffstatusResponse\n\\clients\\2\\bots\\10\\sv_maxclients\\16\n1 5 \"Ann\"\n2 9 \"Bob\"\n",
        [Some(2), None, Some(16), None],
        "bots",
    ),
    (
        Protocol::Quake3,
        b"\xff\xff\xff\xffprint\n\\gamename\\Botmatch\\bots\\6\\maxclients\\20\n17 59 \"Ann\"\n",
        [Some(1), None, Some(20), None],
        "bots",
    ),
    (
        Protocol::Quake3,
        b"\xff\xff\xff\xffstatusResponse\n\\sv_maxclients\\8\\sv_privateClients\\9\n",
        [Some(0), None, Some(8), None],
        "sv_privateClients",
    ),
    (
        Protocol::GameSpy1,
        b"\\hostname\\Srv\\numplayers\\1\\numbots\\3\\maxplayers\\8\\reservedslots\\9\\player_0\\Ann\\final\\\\queryid\\1.1",
        [Some(1), None, Some(8), None],
        "numbots",
    ),
    (
        Protocol::GameSpy4,
        b"\0\0\0\0\x07splitnum\0\x80\0hostname\0Srv\0numplayers\x002\0maxplayers\x008\0bf2_dedicated\x001\0bf2_reservedslots\x009\0\0\0\x01player_\0\0Ann\0Bob\0\0\0\0\x02team_t\0\0\0",
        [Some(2), None, Some(8), None],
        "bf2_reservedslots",
    ),
];

#[test]
fn a_part_greater_than_its_whole_stays_in_the_rules() {
    for (protocol, reply, expected, rule) in CONTRADICTORY {
        let answer = Answer::from_datagrams(*protocol, [*reply], &Limits::default()).unwrap();
        let status = answer.to_status();
        assert_eq!(counts(&status), *expected, "{protocol} {rule}");
        assert!(status.rules.get(rule).is_some(), "{protocol} {rule}");
    }
}
