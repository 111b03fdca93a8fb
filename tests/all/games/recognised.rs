//! Which game an answer comes from, over all captures.
use std::path::Path;

use bytes::Bytes;
use queryport::games::Game;
use queryport::{Answer, Limits, Player, Protocol, ServerStatus, ToStatus};
use serde_json::Value;

use crate::common::captures;

/// Our ids for values of the captures' `game` that are not an id or name of our table. `None` for a
/// game that the table does not have.
const NAMES: [(&str, Option<&str>); 11] = [
    ("arma3", None),
    ("grimm", Some("unrealtournament2004")),
    ("jediacademy", Some("swjkja")),
    ("jedioutcast", Some("swjk2jo")),
    ("justcause2", Some("jc2m")),
    ("killingfloor-gs1", Some("killingfloor")),
    ("minecraftpe", Some("mbe")),
    ("projectrealitybf2", Some("prb2")),
    ("redorchestra", Some("roo4145")),
    ("synthetic-ucs2", Some("unrealtournament2004")),
    ("urbanterror-seed", Some("urbanterror")),
];

/// The minimum number of the 47 third-party captures that must be named correctly.
const LEAST_RIGHT: usize = 44;

/// The id of the game that the capture's own file names.
fn expected(case: &captures::Case) -> Option<&'static str> {
    match NAMES.iter().find(|(name, _)| *name == case.game) {
        Some((_, id)) => *id,
        None => Some(
            Game::find(&case.game)
                .unwrap_or_else(|error| panic!("{}: {error}", case.name))
                .id,
        ),
    }
}

#[test]
fn captures_identify_the_right_game_or_none() {
    let (mut counts, mut all_right) = (Vec::new(), 0);
    for protocol in Protocol::ALL {
        let cases = captures::third_party(protocol.as_str()).unwrap_or_default();
        for case in &cases {
            let answer =
                Answer::from_datagrams(protocol, case.packets.clone(), &Limits::default()).unwrap();
            let found = Game::of(&answer.to_status(), protocol).map(|game| game.id);
            let is_right = found == expected(case);
            assert!(is_right || found.is_none(), "{}: {found:?}", case.name);
            all_right += usize::from(is_right);
        }
        counts.push(cases.len());
    }
    if counts == [0; 4] {
        kit::not_checked("games of captures: QUERYPORT_CAPTURES is not set");
    }
    // These counts belong to 47 known captures. Another folder has other captures.
    if counts == [8, 11, 22, 6] {
        assert!(all_right >= LEAST_RIGHT, "{all_right} named right");
    }
}

/// Recordings of servers that ran on one machine, reply by reply. The game follows from the files'
/// `source`.
#[test]
fn recordings_identify_the_right_game_or_none() {
    let Some(folder) = std::env::var_os("QUERYPORT_CAPTURES") else {
        kit::not_checked("games of recordings: QUERYPORT_CAPTURES is not set");
        return;
    };
    let Ok(recordings) = std::fs::read_dir(Path::new(&folder).join("recorded")) else {
        kit::not_checked("games of recordings: QUERYPORT_CAPTURES has none");
        return;
    };
    let (mut right, mut untold) = (0, 0);
    for entry in recordings {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        let file: Value = serde_json::from_str(&text).unwrap();
        let source = file["source"].as_str().unwrap().to_lowercase();
        let mut games = ["openarena", "nexuiz", "minecraft", "ut99"].into_iter();
        let game = games.find(|game| source.contains(game)).expect(&source);
        let game = Game::find(game).unwrap();
        let protocol = file["protocol"].as_str().unwrap();
        let protocol: Protocol = protocol.split('-').next().unwrap().parse().unwrap();
        for reply in file["responses_by_request"].as_array().unwrap() {
            let datagrams = reply.as_array().unwrap().iter();
            let datagrams = datagrams.map(|datagram| hex::decode(datagram.as_str().unwrap()));
            let datagrams = datagrams.map(|datagram| Bytes::from(datagram.unwrap()));
            // Challenges and printed texts are not answers.
            let Ok(answer) = Answer::from_datagrams(protocol, datagrams, &Limits::default()) else {
                continue;
            };
            match Game::of(&answer.to_status(), protocol) {
                Some(found) => {
                    assert_eq!(found.id, game.id, "{source}");
                    right += 1;
                }
                None => untold += 1,
            }
        }
    }
    println!("{right} replies named right, {untold} do not tell");
    assert!(right >= 15, "{right} replies named right");
}

/// The project's own vectors, by the beginning of the file's name.
#[test]
fn own_vectors_identify_the_right_game() {
    let cases = [
        (Protocol::GameSpy1, "bf1942-teams", Some("battlefield1942")),
        // The demo has a name of its own.
        (Protocol::GameSpy1, "bf1942-xpack", None),
        (Protocol::GameSpy1, "descent3-30", Some("descent3")),
        (Protocol::GameSpy1, "serioussam", Some("sstse")),
        (Protocol::GameSpy1, "unreal227", Some("unreal")),
        (Protocol::GameSpy1, "tribes-vengeance", None),
        (Protocol::GameSpy1, "swat4", Some("swat4")),
        (Protocol::GameSpy4, "own-bf2", Some("battlefield2")),
        (Protocol::GameSpy4, "own-arma2", None),
        (Protocol::GameSpy4, "own-crysis-wars", Some("crysiswars")),
        (Protocol::GameSpy4, "own-pocketmine-full", Some("mbe")),
        (Protocol::GameSpy4, "pumpkin-full", Some("minecraft")),
        (Protocol::Quake3, "nexuiz", Some("nexuiz")),
        (Protocol::Quake3, "openjk", Some("swjkja")),
        (Protocol::Quake3, "iortcw", Some("rtcw")),
        (Protocol::Quake3, "etlegacy", Some("etlegacy")),
        (Protocol::Quake3, "openarena-bots-status", Some("openarena")),
        // An infoResponse of ioquake3 names a family of games.
        (Protocol::Quake3, "openarena-bots-info", None),
        (
            Protocol::Quake3,
            "printed-urbanterror-info",
            Some("urbanterror"),
        ),
        (Protocol::Ut2004, "hand-killingfloor", Some("killingfloor")),
    ];
    for (protocol, name, expected) in cases {
        let all = captures::cases(protocol.as_str());
        let mut named = all
            .iter()
            .filter(|case| case.name.starts_with(name))
            .peekable();
        assert!(named.peek().is_some(), "{name}");
        for case in named {
            let answer =
                Answer::from_datagrams(protocol, case.packets.clone(), &Limits::default()).unwrap();
            let status = answer.to_status();
            let found = Game::of(&status, protocol);
            assert_eq!(found.map(|game| game.id), expected, "{}", case.name);
            // Masters are asked for the number of these servers.
            if let (Some(game), Some(number)) = (found, status.rules.get("protocol")) {
                let number = number.plain().parse();
                let is_asked = |(known, _): &(i32, &str)| number == Ok(*known);
                assert!(game.numbers.iter().any(is_asked), "{}", case.name);
            }
        }
    }
}

/// Modifications have the GameSpy name of their game. In Quake 3, it is the name of a family.
#[test]
fn another_game_is_told_from_the_game_and_its_modifications() {
    use Protocol::{GameSpy4, Quake3};
    let fh2 = &[("gamename", "battlefield2"), ("gamevariant", "fh2")][..];
    let mbe = &[("game_id", "MINECRAFTPE")][..];
    let openarena = &[("gamename", "baseoa")][..];
    for (named, protocol, rules, other) in [
        ("fh2", GameSpy4, fh2, None),
        ("battlefield2", GameSpy4, fh2, None),
        ("battlefield2142", GameSpy4, fh2, Some("fh2")),
        // Neither of these two has a GameSpy name.
        ("crysis2", GameSpy4, mbe, Some("mbe")),
        ("mbe", GameSpy4, mbe, None),
        ("mbe", GameSpy4, &[], None),
        ("q3a", Quake3, openarena, Some("openarena")),
        ("openarena", Quake3, openarena, None),
    ] {
        let mut status = ServerStatus::default();
        status.rules.extend(rules.iter().copied());
        let found = Game::find(named).unwrap().other_game(&status, protocol);
        assert_eq!(found.map(|game| game.id), other, "{named} {rules:?}");
    }
}

#[test]
fn rules_tell_the_game_in_its_protocol() {
    use Protocol::{GameSpy1, GameSpy4, Quake3, Ut2004};
    let urban_terror = &[("version", "ioQ3 1.35 urt 4.3.4 linux-x86_64")][..];
    let ut3 = Some("unrealtournament3");
    // Its replies name no game (Austinb/GameQ, tests/Protocols/Providers/Had2).
    let hidden = &[("isdedicated", "1"), ("voicechat", "1"), ("expansion", "1")];
    for (protocol, rules, id) in [
        (Quake3, urban_terror, Some("urbanterror")),
        (GameSpy1, urban_terror, None),
        // Stock types of match: its servers send no `gamename`.
        (GameSpy4, &[("p1073741826", "UTGame.UTDeathmatch")], ut3),
        (
            GameSpy4,
            &[("p1073741826", "UTGameContent.UTVehicleCTFGame_Content")],
            ut3,
        ),
        (GameSpy4, &[("p1073741826", "OtherGame.Duel")], None),
        (GameSpy4, &hidden[..2], None),
        (GameSpy4, hidden, Some("hiddendangerous2")),
        // UT2003 is 2225. Killing Floor's versions begin with 10, UT2004's with 33.
        (Ut2004, &[("ServerVersion", "2226")], Some("u2tax")),
        (
            Ut2004,
            &[("ServerVersion", "2225")],
            Some("unrealtournament2003"),
        ),
        (Ut2004, &[("ServerVersion", "1064")], Some("killingfloor")),
        (
            Ut2004,
            &[("ServerVersion", "3369")],
            Some("unrealtournament2004"),
        ),
    ] {
        let mut status = ServerStatus::default();
        status.rules.extend(rules.iter().copied());
        let found = Game::of(&status, protocol).map(|game| game.id);
        assert_eq!(found, id, "{protocol}: {rules:?}");
    }
}

/// Its players have Steam's ids (Austinb/GameQ, tests/Protocols/Providers/Justcause2).
#[test]
fn a_value_of_its_players_tells_just_cause_2() {
    let mut status = ServerStatus::default();
    status.players.push(Player::new("William"));
    assert_eq!(Game::of(&status, Protocol::GameSpy4), None);
    status.players[0].extra.push("steamid", "STEAM_0:1:2");
    let game = Game::of(&status, Protocol::GameSpy4).unwrap();
    assert_eq!(game.id, "jc2m");
    assert_eq!(game.to_string(), game.name);
}

/// The game of one reply.
fn of_reply(body: &[u8]) -> Option<&'static str> {
    let datagram = Bytes::from([b"\xff\xff\xff\xff", body].concat());
    let answer = Answer::from_datagrams(Protocol::Quake3, [datagram], &Limits::default()).unwrap();
    Game::of(&answer.to_status(), Protocol::Quake3).map(|game| game.id)
}

/// Infos as sent by servers that we ran (see the vectors), and as written in the engines' sources.
#[test]
fn an_info_tells_the_game() {
    for (info, id) in [
        // Recorded from OpenMoHAA (44ce0595); with `serverType`, code/server/sv_main.c.
        (
            r"\gamever\1.12+0.83.0\pure\0\gametypestring\Free-For-All\gametype\1\sv_maxclients\14\clients\0\mapname\dm/room\hostname\x\protocol\8",
            Some("mohaa"),
        ),
        (
            r"\gamever\2.15\serverType\1\gametypestring\Objective\gametype\4\hostname\x\protocol\17",
            Some("mohaas"),
        ),
        (
            r"\gamever\2.40b\serverType\2\gametypestring\Objective\gametype\4\hostname\x\protocol\17",
            Some("mohaab"),
        ),
        (
            r"\gamever\2.0\gametypestring\Free-For-All\gametype\1\hostname\x\protocol\16",
            None,
        ),
        (
            r"\gamever\1.0\gametypestring\Free-For-All\hostname\x\protocol\6",
            Some("mohaa"),
        ),
        // callofduty4x/CoD4x_Server, src/sv_main.c; xtnded/codextended, sv_main.c.
        (
            r"\protocol\6\hostname\x\mapname\mp_crash\sv_maxclients\24\gametype\war\pure\1\build\1022\shortversion\x21\hw\1\mod\0\voice\0\pb\0",
            Some("cod4mw"),
        ),
        (
            r"\protocol\1\hostname\x\mapname\mp_carentan\clients\0\sv_maxclients\20\gametype\dm\pure\1\codextended\v20",
            Some("cod"),
        ),
        (
            r"\hw\1\protocol\118\hostname\x\mapname\mp_toujane\sv_maxclients\20\gametype\tdm",
            Some("cod2"),
        ),
        (
            r"\gamename\Tremulous\protocol\69\hostname\x\mapname\atcs\clients\0\sv_maxclients\10",
            Some("tremulous"),
        ),
        (
            r"\gamename\smokinguns\protocol\71\hostname\x\mapname\dm_x\g_humanplayers\0",
            Some("smokinguns"),
        ),
        (
            r"\game\baseoa\gamename\Quake3Arena\protocol\71\hostname\x\g_humanplayers\0",
            Some("openarena"),
        ),
        (
            r"\gamename\et\protocol\84\hostname\x\mapname\oasis\gametype\2",
            Some("wet"),
        ),
        (
            r"\version\ET Legacy v2.83\gamename\et\protocol\84\hostname\x",
            Some("etlegacy"),
        ),
        (
            r"\gamename\wolfmp\protocol\60\hostname\x\g_humanplayers\0",
            Some("rtcw"),
        ),
        // Recorded from Lilium Voyager (9c77b657), Daemon (b276137b), Warsow (e6c46002) and
        // DarkPlaces (2f25af655).
        (
            r"\g_needpass\1\pure\0\gametype\0\sv_maxclients\10\g_humanplayers\0\clients\3\mapname\ctf_voy1\hostname\x\protocol\24\gamename\EliteForce",
            Some("stvef"),
        ),
        (
            r"\abi\0.56\bots\1\clients\0\daemonver\0.56.2\gamename\unv\hostname\x\mapname\room\protocol\86\sv_maxclients\12",
            Some("unvanquished"),
        ),
        (
            r"\fs_game\basewsw\mapname\wctf1\protocol\23\sv_hostname\x\gametype\ctf\bots\5\clients\5",
            Some("warsow"),
        ),
        (
            r"\gamename\DarkPlaces-Quake\modname\id1\gameversion\0\sv_maxclients\12\clients\0\protocol\3",
            Some("darkplaces"),
        ),
        (
            r"\truejedi\0\wdisable\0\fdisable\0\hostname\x\protocol\16",
            Some("swjk2jo"),
        ),
        (
            r"\truejedi\0\wdisable\0\fdisable\0\hostname\x\protocol\26",
            Some("swjkja"),
        ),
        (
            r"\gamename\H1\hostname\x\protocol\2\isPrivate\0",
            Some("h1"),
        ),
        (
            r"\gamename\WorldofPadman\hostname\x\protocol\72",
            Some("wop"),
        ),
        (
            r"\gamename\Spearmint\hostname\x\protocol\12\gametype\ffa",
            Some("spearmint"),
        ),
        (r"\gamename\Warfork\hostname\x\protocol\27", Some("warfork")),
        // ReactionQuake3/reaction, code/qcommon/q_shared.h, code/server/sv_main.c.
        (
            r"\gamename\Reaction\hostname\x\protocol\71\mapname\backalley\sv_maxclients\8",
            Some("reaction"),
        ),
        // id's own server and Quake3e: nothing in these infos identifies the game (ec-/Quake3e,
        // code/server/sv_main.c).
        (
            r"\hostname\x\mapname\q3dm17\clients\0\sv_maxclients\8\gametype\0\pure\1\protocol\68",
            None,
        ),
    ] {
        let body = [b"infoResponse\n", info.as_bytes()].concat();
        assert_eq!(of_reply(&body), id, "{info}");
    }
}

#[test]
fn a_status_tells_the_game() {
    for (info, id) in [
        // Recorded from JK2MV (fd7ce68) and OpenMoHAA (44ce0595).
        (
            r"\version\JK2MP: v1.04mv linux-amd64 Nov 26 2026\sv_hostname\x\protocol\16\JK2MV\UNKNOWN\mapname\room",
            Some("swjk2jo"),
        ),
        (
            r"\com_gamename\mohaa\sv_hostname\x\g_gametype\1\g_gametypestring\Free-For-All\protocol\8\shortversion\1.11\mapname\dm/room",
            Some("mohaa"),
        ),
        // openmoh/openmohaa, code/qcommon/common.c, `Com_InitTargetGameWithType`.
        (
            r"\com_gamename\mohaas\sv_hostname\x\g_gametype\1\g_gametypestring\Free-For-All\protocol\17",
            Some("mohaas"),
        ),
        (
            r"\com_gamename\mohaab\sv_hostname\x\g_gametype\1\g_gametypestring\Free-For-All\protocol\17",
            Some("mohaab"),
        ),
        (
            r"\version\OpenJK-MP: v1.0.1.0 linux-x86_64\sv_hostname\x\protocol\26",
            Some("swjkja"),
        ),
        // The folder of the game (ReactionQuake3/reaction, code/qcommon/q_shared.h).
        (
            r"\gamename\Boomstick\com_gamename\Reaction\com_protocol\71\sv_hostname\x",
            Some("reaction"),
        ),
        // A game on Spearmint (XQF/xqf, src/game.c).
        (
            r"\version\Spearmint 1.0.3\gamename\TurtleArena\sv_hostname\x",
            Some("turtlearena"),
        ),
        // Some game modules pad their names with spaces.
        (r"\gamename\Boomstick \sv_hostname\x", Some("reaction")),
        (
            r"\*version\FTE v1.06\hostname\x\protocol\3wnd\mapname\dm6",
            Some("fteqw"),
        ),
    ] {
        let body = [b"statusResponse\n", info.as_bytes(), b"\n"].concat();
        assert_eq!(of_reply(&body), id, "{info}");
    }
}

#[test]
fn numbers_tell_only_what_no_other_game_uses() {
    let with_number = |number| {
        let mut status = ServerStatus::default();
        status.protocol_version = Some(number);
        Game::of(&status, Protocol::Quake3).map(|game| game.id)
    };
    assert_eq!(with_number(2004), Some("sof2"));
    assert_eq!(with_number(26), Some("swjkja"));
    for shared in [6, 3, 22, 68, 69, 71, 84, 12345] {
        assert_eq!(with_number(shared), None, "{shared}");
    }
}

#[test]
fn game_ports_tell_only_what_no_other_game_uses() {
    let at_port = |protocol, port| {
        let mut status = ServerStatus::default();
        status.game_port = Some(port);
        Game::of(&status, protocol).map(|game| game.id)
    };
    assert_eq!(at_port(Protocol::GameSpy4, 64100), Some("crysiswars"));
    assert_eq!(
        at_port(Protocol::GameSpy1, 64100),
        None,
        "the game of another protocol"
    );
    assert_eq!(at_port(Protocol::GameSpy1, 14567), Some("battlefield1942"));
    for (protocol, shared) in [
        (Protocol::GameSpy1, 12203),
        (Protocol::GameSpy1, 7777),
        (Protocol::Ut2004, 7777),
    ] {
        assert_eq!(at_port(protocol, shared), None, "{shared}");
    }
    let mut other = ServerStatus::default();
    other.game_port = Some(14567);
    other.rules.push("gamename", "another");
    assert_eq!(
        Game::of(&other, Protocol::GameSpy1),
        None,
        "the name goes before the port"
    );
}

#[test]
fn a_number_that_no_game_has_leaves_the_game_to_the_port() {
    let mut told = 0;
    for game in Game::all() {
        let mut status = ServerStatus::default();
        status.game_port = game.game_port;
        let by_port = Game::of(&status, game.protocol);
        status.protocol_version = Some(12_345);
        assert_eq!(Game::of(&status, game.protocol), by_port, "{}", game.id);
        told += usize::from(by_port.is_some());
    }
    assert!(told > 40, "{told}");
}
