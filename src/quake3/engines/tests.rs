//! Replies of each engine, and the parts of the rows that they need.

use super::*;
use crate::meaning::{
    facts, unneeded_parts, untested, with_cells_of, with_keys_in_capitals, with_rows,
};
use crate::quake3::Answer;
use crate::quake3::wire::InfoString;
use crate::{Limits, ServerStatus, Text};
use std::collections::BTreeSet;
use std::time::Duration;

/// The engine of a reply.
fn engine_of(family: Family, info: &str) -> &'static Engine {
    let known = InfoString::new(info.as_bytes()).iter().collect();
    Engine::of_reply(family, &known)
}

/// The name of a reply's engine.
fn name_of(info: &str) -> &'static str {
    engine_of(Family::Quake3, info).row.name
}

/// The status of a reply with these keys, read by its engine or by another one.
fn read(family: Family, info: &str, engine: Option<&'static Engine>) -> ServerStatus {
    let word = match family {
        Family::Quake3 => "statusResponse\n",
        Family::Quake2 => "print\n",
        Family::QuakeWorld => "n",
        Family::Quetoo => "status\n",
    };
    status_of_datagram(&format!("{word}{info}\n"), |family, known| {
        engine.unwrap_or_else(|| Engine::of_reply(family, known))
    })
}

/// The game, its modification, the type of match, the limit of points and the colour codes of a
/// status with these keys and some that most engines read.
fn status_of(info: &str, engine: Option<&'static Engine>) -> String {
    let number = if info.contains("gametype") {
        ""
    } else {
        r"\g_gametype\4"
    };
    let info = format!(r"{info}{number}\sv_hostname\x\fraglimit\20\capturelimit\8");
    let status = read(Family::Quake3, &info, engine);
    let text = |text: Option<Text>| text.map(|text| text.to_string());
    let facts = [
        text(status.game),
        text(status.mod_name).map(|name| format!("mod {name}")),
        text(status.game_type),
        status.score_limit.map(|limit| format!("to {limit}")),
        status
            .name
            .map(|name| format!("{:?}", name.style().colours)),
    ];
    facts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// The facts of a status that keys decide.
fn fields_of(family: Family, info: &str, engine: Option<&'static Engine>) -> String {
    let status = read(family, info, engine);
    let text = |label, text: &Option<Text>| text.as_ref().map(|text| format!("{label} {text}"));
    let count = |label, count: Option<u32>| count.map(|count| format!("{label} {count}"));
    let is = |label, yes: Option<bool>| yes.map(|yes| format!("{label} {yes}"));
    let time = |label, time: Option<Duration>| time.map(|time| format!("{label} {time:?}"));
    let teams = status.teams.iter().map(|team| {
        let (name, score) = (team.name.as_ref(), team.score);
        let name = name.map(Text::to_string).unwrap_or_default();
        Some(format!("team {name} {}", score.unwrap_or_default()))
    });
    let facts = [
        text("name", &status.name),
        text("map", &status.map),
        text("game", &status.game),
        text("mod", &status.mod_name),
        text("type", &status.game_type),
        text("version", &status.version),
        count("protocol", status.protocol_version),
        is("password", status.password),
        is("dedicated", status.dedicated),
        is("anti-cheat", status.anti_cheat),
        count("bots", status.bot_count),
        count("slots", status.max_players),
        count("private", status.private_slots),
        time("limit", status.time_limit),
        time("left", status.time_left),
        status.score_limit.map(|limit| format!("to {limit}")),
    ];
    let facts = facts.into_iter().chain(teams).flatten();
    facts.collect::<Vec<_>>().join(", ")
}

/// A reply with the keys that each engine writes, from its own format strings, and its status, see
/// [`status_of`].
const REPLIES: &[(&str, &str, &str)] = &[
    (
        "Quake III Arena",
        r"\version\Q3 1.32c linux-i386 May  8 2006\gamename\freeze",
        "freeze, 4, to 8, Caret",
    ),
    (
        "Quake3e",
        r"\version\Q3 1.32e linux-x86_64 Aug 26 2026\gamename\baseq3",
        "baseq3, Capture the Flag, to 8, Caret",
    ),
    (
        "Quake III Arena or Quake3e",
        r"\gametype\0\sv_maxclients\8\clients\1\mapname\q3dm17\hostname\x\protocol\68",
        "0, to 20, Caret",
    ),
    (
        "ioquake3",
        r"\version\ioq3 1.36\gamename\baseoa",
        "baseoa, Capture the Flag, to 8, CaretAlphanumeric",
    ),
    (
        "ioquake3",
        r"\g_humanplayers\0\hostname\x\protocol\71\gamename\Quake3Arena",
        "Quake3Arena, Capture the Flag, to 8, CaretAlphanumeric",
    ),
    (
        "ioquake3",
        r"\com_gamename\Quake3Arena\gamename\cpma",
        "Quake3Arena, mod cpma, 4, to 8, CaretAlphanumeric",
    ),
    (
        "OpenArena",
        r"\version\ioq3+oa 1.36_SVN1910M linux-x86_64\gamename\baseoa\g_gametype\12",
        "baseoa, Domination, to 8, OpenArena",
    ),
    (
        "OpenArena",
        r"\game\baseoa\gamename\Quake3Arena\g_humanplayers\0\protocol\71",
        "Quake3Arena, Capture the Flag, to 8, OpenArena",
    ),
    (
        "Urban Terror",
        r"\version\ioQ3 1.35 urt 4.3.4 linux-x86_64\fs_game\q3ut4",
        "Team Survivor, CaretDigit",
    ),
    (
        "Urban Terror",
        r"\version\ioq3 1.35urt linux-i386\gamename\q3ut4\fs_game\q3ut3\g_gametype\7",
        "q3ut4, Capture the Flag, to 8, CaretDigit",
    ),
    (
        "Urban Terror on another engine",
        r"\version\Q3 1.32e linux-x86_64\gamename\q3urt43\fs_game\q3ut2",
        "q3urt43, Team Survivor, CaretDigit",
    ),
    (
        "Urban Terror on another engine",
        r"\game\q3ut4\pure\1\gametype\8\hostname\x\protocol\68",
        "q3ut4, Bomb Mode, CaretDigit",
    ),
    (
        "Return to Castle Wolfenstein",
        r"\version\Wolf 1.41 linux-i386\g_gametype\7",
        "Checkpoint, Caret",
    ),
    (
        "Return to Castle Wolfenstein",
        r"\gamename\wolfmp\gameskill\2\protocol\60",
        "wolfmp, 4, Caret",
    ),
    (
        "iortcw",
        r"\version\iortcw 1.51d-MP linux-x86_64\com_gamename\wolfmp\gamename\main",
        "wolfmp, 4, CaretAlphanumeric",
    ),
    (
        "iortcw",
        r"\gamename\wolfmp\g_humanplayers\0\protocol\60",
        "wolfmp, 4, CaretAlphanumeric",
    ),
    (
        "Enemy Territory",
        r"\version\ET 2.60b linux-i386\gamename\nitmod",
        "et, mod nitmod, Campaign, EnemyTerritory",
    ),
    (
        "Enemy Territory",
        r"\gamename\et\serverload\0\protocol\84\gametype\6",
        "et, Map Voting, EnemyTerritory",
    ),
    (
        "ETe",
        r"\version\ET 2.60e linux-x86_64 Jun 19 2026\gamename\legacy",
        "et, mod legacy, Campaign, EnemyTerritory",
    ),
    (
        "ET: Legacy",
        r"\version\ET Legacy v2.82\gamename\et\protocol\84",
        "et, Campaign, EtLegacy",
    ),
    (
        "Smokin' Guns",
        r"\version\Smokin' Guns 1.1\com_gamename\smokinguns\g_gametype\5",
        "smokinguns, Bank Robbery, EnemyTerritory",
    ),
    (
        "Smokin' Guns",
        r"\gamename\smokinguns\g_humanplayers\0\protocol\71",
        "smokinguns, Round Teamplay, EnemyTerritory",
    ),
    (
        "World of Padman",
        r"\version\wop 1.7.0 linux-x86_64",
        "Last Pad Standing, CaretAlphanumeric",
    ),
    (
        "World of Padman",
        r"\gamename\WorldofPadman\g_humanplayers\0\protocol\72",
        "WorldofPadman, Last Pad Standing, CaretAlphanumeric",
    ),
    (
        "Spearmint",
        r"\version\Spearmint 1.0.3\com_gamename\Spearmint",
        "Spearmint, 4, CaretBasic",
    ),
    (
        "Spearmint",
        r"\gamename\Spearmint\cheats\0\g_humanplayers\0\protocol\12",
        "Spearmint, 4, CaretBasic",
    ),
    (
        "Jedi Outcast 1.04",
        r"\version\JK2MP: v1.04mv linux-amd64\JK2MV\UNKNOWN\protocol\16",
        "Single Player, CaretBasic",
    ),
    (
        "Jedi Outcast 1.04",
        r"\fdisable\0\wdisable\0\truejedi\0\protocol\16",
        "Single Player, CaretBasic",
    ),
    (
        "Jedi Outcast 1.02",
        r"\version\JK2MP: v1.02mv linux-amd64\protocol\15",
        "Single Player, Caret",
    ),
    (
        "Jedi Outcast 1.02",
        r"\g_jediVmerc\0\protocol\15",
        "Single Player, Caret",
    ),
    (
        "Jedi Academy",
        r"\version\JAmp: v1.0.1.0 linux-i386\gamename\JA+ Mod\g_gametype\7",
        "mod JA+ Mod, Siege, CaretDigit",
    ),
    (
        "Jedi Academy",
        r"\version\OpenJK-MP: v1.0.1.0 linux-x86_64\protocol\26",
        "Power Duel, CaretDigit",
    ),
    (
        "Jedi Academy",
        r"\fdisable\0\wdisable\0\truejedi\0\protocol\26",
        "Power Duel, CaretDigit",
    ),
    (
        "Soldier of Fortune II",
        r"\version\SOF2MP GOLD V1.03 win-x86\modname\ROCmod",
        "mod ROCmod, 4, Caret",
    ),
    (
        "Soldier of Fortune II",
        r"\modname\RPM\protocol\2004",
        "mod RPM, 4, Caret",
    ),
    (
        "Elite Force",
        r"\version\cMod HM v1.20 compatible\protocol\24",
        "Capture the Flag, to 8, CaretAlphanumeric",
    ),
    (
        "Elite Force",
        r"\version\Lilium Voyager HM 1.40 linux-x86_64",
        "Capture the Flag, to 8, CaretAlphanumeric",
    ),
    (
        "Elite Force",
        r"\version\ioST:V HM 1.37\fs_game\baseef",
        "Capture the Flag, to 8, CaretAlphanumeric",
    ),
    (
        "Elite Force",
        r"\gamename\EliteForce\g_humanplayers\0\protocol\24",
        "EliteForce, Capture the Flag, to 8, CaretAlphanumeric",
    ),
    (
        "Medal of Honor",
        r"\g_gametypestring\Free-For-All\fs_game\main\protocol\8",
        "Free-For-All, CaretAlphanumeric",
    ),
    (
        "Medal of Honor",
        r"\gametypestring\Team-Match\gametype\2\fs_game\mainta\protocol\8",
        "Team-Match, to 20, CaretAlphanumeric",
    ),
    (
        "Call of Duty",
        r"\gamename\main\shortversion\1.1\protocol\1",
        "main, 4, CaretDigit",
    ),
    (
        "United Offensive",
        r"\gamename\CoD:United Offensive\shortversion\1.51",
        "CoD:United Offensive, 4, CaretDigit",
    ),
    (
        "United Offensive",
        r"\gametype\sd\pure\1\hw\1\protocol\22",
        "sd, CaretDigit",
    ),
    (
        "World at War",
        r"\gamename\Call of Duty: World at War\shortversion\1.7",
        "Call of Duty: World at War, 4, CaretDigit",
    ),
    (
        "Call of Duty",
        r"\codextended\v20\gametype\dm\protocol\1",
        "dm, CaretDigit",
    ),
    (
        "Call of Duty 2",
        r"\gamename\Call of Duty 2\shortversion\1.3\protocol\118",
        "Call of Duty 2, 4, CallOfDuty2",
    ),
    (
        "Call of Duty 2",
        r"\gametype\sd\pure\1\hw\1\protocol\118",
        "sd, CallOfDuty2",
    ),
    (
        "Call of Duty 4",
        r"\gamename\Call of Duty 4\shortversion\1.7\protocol\6",
        "Call of Duty 4, 4, CaretDigit",
    ),
    (
        "CoD4x",
        r"\version\CoD4 X 1.7a win_mingw-x86\gamename\Call of Duty 4",
        "Call of Duty 4, 4, CaretDigit",
    ),
    (
        "CoD4x",
        r"\build\1100\shortversion\x21\gametype\war\hw\1\protocol\6",
        "war, CaretDigit",
    ),
    (
        "Call of Duty of an unknown number",
        r"\gametype\war\hw\1\protocol\6",
        "war, CaretDigit",
    ),
    (
        "IW4x",
        r"\gamename\IW4\securityLevel\0\matchtype\1\shortversion\0.7.2",
        "IW4, 4, ModernWarfare2",
    ),
    (
        "Modern Warfare 3",
        r"\gamename\PIW5\hw\1\shortversion\1.9\protocol\20601",
        "PIW5, 4, CaretBasic",
    ),
    (
        "IW6x",
        r"\gamename\IW6\isPrivate\0\bots\4\protocol\1",
        "IW6, 4, Ghosts",
    ),
    (
        "BOIII",
        r"\gamename\T7\isPrivate\0\shortversion\1.0\protocol\8",
        "T7, 4, Ghosts",
    ),
    (
        "S1x",
        r"\gamename\S1\isPrivate\0\protocol\1",
        "S1, 4, AdvancedWarfare",
    ),
    (
        "H1-Mod",
        r"\gamename\H1\isPrivate\0\protocol\2",
        "H1, 4, AdvancedWarfare",
    ),
    (
        "iw7-mod",
        r"\gamename\IW7\isPrivate\0\protocol\2",
        "IW7, 4, InfiniteWarfare",
    ),
    (
        "Tremulous 1.2",
        r"\version\tremulous 1.1.0 linux-i386\gamename\base",
        "base, 4, CaretAlphanumeric",
    ),
    (
        "Tremulous 1.3",
        r"\version\tremulous 1.3.0 alpha linux-x86_64\fs_game\base",
        "4, Tremulous13",
    ),
    (
        "Tremulous 1.3",
        r"\gamename\Tremulous\protocol\71",
        "Tremulous, 4, Tremulous13",
    ),
    (
        "Daemon",
        r"\version\Unvanquished 0.56.2 Linux amd64",
        "4, Daemon",
    ),
    (
        "Daemon",
        r"\daemonver\0.56.2\gamename\unv\protocol\86",
        "unv, 4, Daemon",
    ),
    (
        "DarkPlaces",
        r"\gamename\Xonotic\modname\data\gameversion\806\protocol\3",
        "Xonotic, 4, DarkPlaces",
    ),
    (
        "DarkPlaces",
        r"\gamename\Nexuiz\qcstatus\dm:2.5.2::score!!",
        "Nexuiz, 4, DarkPlaces",
    ),
    (
        "FTE",
        r"\gamename\FTE-Quake\protocol\3wnd\modname\ctf",
        "FTE-Quake, mod ctf, 4, to 20, Fte",
    ),
    (
        "Warsow",
        r"\gamename\Warsow\gametype\ca\protocol\22",
        "Warsow, ca, Warsow",
    ),
    (
        "Warsow",
        r"\challenge\abc\fs_game\basewsw\sv_mm_enable\0\gametype\ctf",
        "ctf, Warsow",
    ),
    (
        "Warfork",
        r"\gamename\Warfork\gametype\ca\protocol\27",
        "Warfork, ca, Warsow",
    ),
    (
        "qfusion",
        r"\challenge\abc\fs_game\basewf\sv_mm_enable\0\gametype\ctf",
        "ctf, Warsow",
    ),
    (
        "unknown",
        r"\sv_hostname\x\gamename\other",
        "other, 4, CaretBasic",
    ),
];

/// Replies that differ from others in one mark, see [`untested`].
const MARKS: &[(&str, &str)] = &[
    ("Urban Terror on another engine", r"\gamename\q3ut4"),
    ("Urban Terror on another engine", r"\game\q3urt43"),
    ("Modern Warfare 3", r"\gamename\IW5"),
    ("qfusion", r"\fs_game\basewf"),
    ("qfusion", r"\sv_mm_enable\0"),
    ("Daemon", r"\gamename\unv"),
    ("Daemon", r"\daemonver\0.56.2"),
    ("Jedi Outcast 1.02", r"\version\JK2MP: v1.03mv linux-amd64"),
    ("Jedi Outcast 1.02", r"\JK2MV\UNKNOWN\protocol\15"),
    ("Jedi Outcast 1.02", r"\truejedi\0\protocol\15"),
    ("Jedi Outcast 1.04", r"\version\JK2MP: v1.04 linux-i386"),
    ("Jedi Outcast 1.04", r"\JK2MV\UNKNOWN\protocol\16"),
    ("Jedi Outcast 1.04", r"\g_jediVmerc\0\protocol\16"),
    ("Jedi Academy", r"\g_jediVmerc\0\protocol\26"),
    ("Elite Force", r"\version\ST:V HM v1.20 linux-i386"),
    ("Elite Force", r"\com_gamename\EliteForce"),
    ("Call of Duty", r"\hw\1\protocol\1"),
    ("Call of Duty", r"\hw\1\protocol\5"),
    ("Call of Duty", r"\gamename\Call of Duty"),
    ("Call of Duty", r"\build\1100\shortversion\1.5"),
    ("United Offensive", r"\hw\1\protocol\21"),
    ("Call of Duty 2", r"\hw\1\protocol\115"),
    ("Call of Duty 2", r"\hw\1\protocol\120"),
    (
        "Call of Duty of an unknown number",
        r"\hw\1\shortversion\x21\protocol\6",
    ),
    (
        "Medal of Honor",
        r"\g_gametypestring\Objective\shortversion\1.12",
    ),
    ("Soldier of Fortune II", r"\gamename\sof2mp"),
    ("Soldier of Fortune II", r"\protocol\2001"),
    ("Tremulous 1.2", r"\gamename\base\protocol\69"),
    ("Tremulous 1.2", r"\gamename\base\protocol\70"),
    ("iortcw", r"\version\iortcw 1.51d-MP linux-x86_64"),
    ("iortcw", r"\com_gamename\wolfmp"),
    ("Enemy Territory", r"\gamename\etmain"),
    ("Smokin' Guns", r"\version\Smokin' Guns 1.1"),
    ("Smokin' Guns", r"\com_gamename\smokinguns"),
    ("World of Padman", r"\com_gamename\WorldofPadman"),
    ("Spearmint", r"\version\Spearmint 1.0.3"),
    ("Spearmint", r"\com_gamename\Spearmint"),
    ("ioquake3", r"\version\ioq3 1.36"),
    ("ioquake3", r"\gamename\Quake3Arena"),
    ("ioquake3", r"\gamename\baseq3"),
    ("ioquake3", r"\gamename\missionpack"),
    ("ioquake3", r"\gamename\baseoa"),
    ("ioquake3", r"\gamename\cpma\g_humanplayers\0"),
    ("Quake III Arena or Quake3e", r"\hostname\x\protocol\66"),
    ("unknown", r"\protocol\3"),
    ("unknown", r"\protocol\15"),
    ("unknown", r"\protocol\16"),
    ("unknown", r"\protocol\115"),
    ("unknown", r"\protocol\70"),
    ("unknown", r"\gamename\base\protocol\71"),
    ("unknown", r"\g_humanplayers\0"),
    ("unknown", r"\protocol\68"),
    ("unknown", r"\hostname\x\gamename\cpma\protocol\68"),
    ("unknown", r"\hostname\x\version\1.0\protocol\68"),
    ("unknown", r"\hostname\x\protocol\69"),
];

/// Replies with the keys and the folders of rows, and their statuses, see [`fields_of`]. Of
/// several keys of a field, a reply has the next one too: with another value.
const FIELDS: &[(Family, &str, &str)] = &[
    (
        Family::Quake3,
        r"\sv_hostname\a\hostname\b\mapname\c\version\d\shortversion\e\protocol\6\com_protocol\7\modname\baseq3",
        "name a, map c, version d, protocol 6",
    ),
    (
        Family::Quake3,
        r"\hostname\b\shortversion\e\gameversion\f\com_protocol\7\modname\baseoa",
        "name b, version e, protocol 7",
    ),
    (
        Family::Quake3,
        r"\gameversion\f\gamever\g\sv_maxclients\16\sv_privateclients\3\modname\basewsw",
        "version f, slots 16, private 3",
    ),
    (
        Family::Quake3,
        r"\gamever\g\dedicated\1\scorelimit\25\timelimit\15\modname\basewf",
        "version g, dedicated true, limit 900s, to 25",
    ),
    (
        Family::Quake3,
        r"\clients\9\bots\2\g_humanplayers\5\g_needpass\1\needpass\0\modname\data",
        "password true, bots 2",
    ),
    (
        Family::Quake3,
        r"\clients\9\g_humanplayers\5\humans\6\needpass\1\pswrd\0\sv_punkbuster\1\modname\id1",
        "password true, anti-cheat true, bots 4",
    ),
    (
        Family::Quake3,
        r"\clients\9\humans\6\pswrd\1\password\0\punkbuster\1\modname\main",
        "password true, anti-cheat true, bots 3",
    ),
    (
        Family::Quake3,
        r"\password\1\isprivate\0\pb\1\modname\etmain",
        "password true, anti-cheat true",
    ),
    (
        Family::Quake3,
        r"\isprivate\1\sv_nxac\1\modname\other",
        "mod other, password true, anti-cheat true",
    ),
    (
        Family::Quake3,
        r"\version\ET 2.60b\clients\9\omnibot_playing\2\bots\3\modname\etmain",
        "game et, version ET 2.60b, bots 2",
    ),
    (
        Family::Quake3,
        r"\version\Smokin' Guns 1.1\g_gametype\0\fraglimit\20\scorelimit\40\modname\smokinguns",
        "type Free For All, version Smokin' Guns 1.1, to 20",
    ),
    (
        Family::Quake3,
        r"\version\wop 1.7.0\pointlimit\30\scorelimit\40\modname\wop",
        "version wop 1.7.0, to 30",
    ),
    (
        Family::Quake3,
        r"\gamename\Spearmint\sv_gametypename\a\sv_gametypenetname\b\g_gametype\4",
        "game Spearmint, type a",
    ),
    (
        Family::Quake3,
        r"\gamename\Spearmint\sv_gametypenetname\b\g_gametype\4",
        "game Spearmint, type b",
    ),
    (
        Family::Quake3,
        r"\truejedi\0\g_gametype\7\timelimit\15\gamename\base\game\basejka",
        "game base, type Siege",
    ),
    (
        Family::Quake3,
        r"\jk2mv\0\timelimit\15\gamename\base\game\basejk",
        "game base, limit 900s",
    ),
    (
        Family::Quake3,
        r"\gamename\sof2mp\modname\base",
        "game sof2mp",
    ),
    (
        Family::Quake3,
        r"\gamename\sof2mp\modname\mp",
        "game sof2mp",
    ),
    (
        Family::Quake3,
        r"\codextended\v20\pswrd\1\g_needpass\0\modname\main",
        "password true",
    ),
    (
        Family::Quake3,
        r"\codextended\v20\pswrd\0\g_needpass\1\modname\uo",
        "password false",
    ),
    (
        Family::Quake3,
        r"\daemonver\0.56\version\z\clients\9\b\--x-y",
        "version 0.56, bots 2",
    ),
    (
        Family::Quake3,
        r"\protocol\3w\*version\a\version\b\fraglimit\30\scorelimit\40\needpass\2\modname\id1",
        "version a, protocol 3, password false, to 30",
    ),
    (
        Family::Quake3,
        r"\protocol\3w\modname\qw",
        "protocol 3, password false",
    ),
    (
        Family::Quake3,
        r"\protocol\3w\modname\fte",
        "protocol 3, password false",
    ),
    (
        Family::Quake3,
        r"\gamename\Warsow\g_match_time\12:34 / 20:00",
        "game Warsow, limit 1200s, left 446s",
    ),
    (Family::Quake3, r"\gametype\4\g_gametype\3", "type 3"),
    (Family::Quake3, r"\com_gamename\ \gamename\a", "game a"),
    (Family::Quake3, r"\qcstatus\:2.5.2", ""),
    (
        Family::Quake3,
        r"\gametypestring\b\g_gametypestring\a",
        "type a",
    ),
    (
        Family::Quake3,
        r"\gametypestring\a\modname\maintt",
        "type a",
    ),
    (
        Family::Quake3,
        r"\gamename\DarkPlaces-Quake\modname\id1\protocol\3",
        "game DarkPlaces-Quake, protocol 3",
    ),
    (
        Family::Quake3,
        r"\gamename\missionpack\g_gametype\5\modname\baseq3",
        "game missionpack, type One Flag CTF",
    ),
    (
        Family::Quake3,
        r"\redscore\1\score_red\2\bluescore\3\score_blue\4",
        "team  1, team  3",
    ),
    (
        Family::Quake3,
        r"\score_red\2\score_blue\4",
        "team  2, team  4",
    ),
    (
        Family::Quake3,
        r"\version\Q3 1.32\gametype\3\g_teamnamered\A\g_namered\B\g_teamnameblue\C\g_nameblue\D",
        "type 3, version Q3 1.32, team A 0, team C 0",
    ),
    (
        Family::Quake3,
        r"\version\Q3 1.32\gametype\3\g_namered\B\g_redteam\E\g_nameblue\D\g_blueteam\F",
        "type 3, version Q3 1.32, team B 0, team D 0",
    ),
    (
        Family::Quake3,
        r"\version\Q3 1.32\gametype\3\g_redteam\E\g_blueteam\F",
        "type 3, version Q3 1.32, team E 0, team F 0",
    ),
    (
        Family::Quake2,
        r"\maxclients\12\sv_maxclients\8\fraglimit\30\scorelimit\40\needpass\2\gamename\baseq2\game\main",
        "game baseq2, password false, slots 12, to 30",
    ),
    (
        Family::Quake2,
        r"\gamename\baseq2\gamedir\runes",
        "game baseq2, mod runes",
    ),
    (Family::Quake2, r"\game\baseq2", "game baseq2"),
    (Family::Quake2, r"\gamedir\baseq2", "game baseq2"),
    (
        Family::Quake3,
        r"\gamename\Warsow\g_match_time\17:13\timelimit\5",
        "game Warsow, limit 300s",
    ),
    (
        Family::Quake3,
        r"\truejedi\0\g_gametype\8\timelimit\15",
        "type Capture the Flag, limit 900s",
    ),
    (
        Family::Quake2,
        r"\g_teamgame\0\gamename\arena\game\data1\gamedir\baseq2",
        "game arena",
    ),
    (
        Family::Quetoo,
        r"\sv_hostname\a\hostname\b\sv_map\c\version\d\sv_protocol\6\g_gameplay_mode\e\g_gameplay\f\sv_max_clients\12\game_name\default",
        "name a, map c, game Quetoo, type e, version d, protocol 6, slots 12",
    ),
    (
        Family::Quetoo,
        r"\g_gameplay\f\game_name\other",
        "game Quetoo, mod other, type f",
    ),
    (
        Family::QuakeWorld,
        r"\map\a\mapname\b\*version\c\version\d\mode\e\maxclients\12\sv_maxclients\8\fraglimit\30\scorelimit\40\needpass\2\*gamedir\qw",
        "map a, game qw, type e, version c, password false, slots 12, to 30",
    ),
    (
        Family::QuakeWorld,
        r"\*gamedir\id1",
        "game id1, password false",
    ),
];

/// Whole replies, for the cells that decide how counts, lines and names are read.
const DATAGRAMS: &[(&str, &str)] = &[
    (
        "infoResponse\n\\hostname\\x\\hw\\1\\protocol\\118\\psw",
        "name x, protocol 118",
    ),
    (
        "infoResponse\n\\version\\CoD4 X 1.8\\build\\1\\shortversion\\x21",
        "version CoD4 X 1.8",
    ),
    (
        "statusResponse\n\\version\\ioQ3 1.35 urt\n",
        "version ioQ3 1.35 urt, players 0",
    ),
    (
        "print\n\\clients\\99\\hostname\\x\n7 10 \"Ann\"\n",
        "name x, players 1, list [Ann 7 10 ms]",
    ),
    (
        "infoResponse\n\\game\\q3ut4\\pure\\1\\gametype\\8\\hostname\\x\\protocol\\68\\clients\\1\\sv_maxclients\\8\\sv_privateClients\\2",
        "name x, game q3ut4, type Bomb Mode, protocol 68, password false, players 1, max 10, private 2, list unknown",
    ),
    (
        "infoResponse\n\\gametype\\sd\\pure\\1\\hw\\1\\protocol\\118\\sv_maxclients\\8",
        "type sd, protocol 118, password false, players 0, max 8",
    ),
    (
        "infoResponse\n\\gametype\\war\\hw\\1\\protocol\\6\\sv_maxclients\\8",
        "type war, protocol 6, players 0, max 8",
    ),
    (
        "infoResponse\n\\codextended\\v20\\gametype\\dm\\protocol\\1\\game\\mods/x",
        "type dm, mod mods/x, protocol 1",
    ),
    (
        "statusResponse\n\\gamename\\Call of Duty 4\\version\\CoD4 X 1.8\\shortversion\\1.8\\build\\1\\protocol\\17\n",
        "game Call of Duty 4, version CoD4 X 1.8, protocol 17, password false, players 0",
    ),
    (
        "infoResponse\n\\gamename\\IW4\\securityLevel\\0\\matchtype\\1\\protocol\\6\\clients\\1\\bots\\2\\sv_maxclients\\8\\sv_privateClients\\2",
        "game IW4, protocol 6, players 3, bots 2, max 8, private 2, list unknown",
    ),
    (
        "statusResponse\n\\version\\ET Legacy v2.82\\gamename\\et\\P\\-13\n5 10 \"Ann\"\n6 20 \"Bob\"\n",
        "game et, version ET Legacy v2.82, players 2, list [Ann 5 10 ms in 1 plays; Bob 6 20 ms in 3 watches]",
    ),
    (
        "statusResponse\n\\version\\tremulous 1.1.0 linux-i386\\gamename\\base\\P\\02\n5 10 \"Ann\"\n6 20 \"Bob\"\n",
        "game base, version tremulous 1.1.0 linux-i386, players 2, list [Ann 5 10 ms in 0 watches; Bob 6 20 ms in 2 plays]",
    ),
    (
        "statusResponse\n\\gamename\\Nexuiz\\qcstatus\\dm:2.5.2::score!!\\bots\\1\\clients\\3\n7 0 \"Ann\"\n-666 20 \"Bob\"\n5:spectator 30 \"Cat\"\n",
        "game Nexuiz, type dm, players 3, bots 1, list [Ann 7 0 ms bot plays; Bob 20 ms human watches; Cat 30 ms human watches]",
    ),
    (
        "statusResponse\n\\gamename\\Warsow\\clients\\2\n7 10 \"Ann\" 0\n-9999 20 \"Bob\" 2\n",
        "game Warsow, players 2, bots 0, list [Ann 7 10 ms in 0 watches; Bob 20 ms in 2 plays]",
    ),
    (
        "print\n\\g_teamgame\\0\\hostname\\a^1b\n7 10 \"Ann\"\n",
        "name ab, players 1, list [Ann 7 10 ms]",
    ),
    (
        "n\\*version\\FTE v1.07\\map\\dm4\\hostname\\a^1b^bc\n1 7 0 9999 \"BOT:Ann\" \"\" 0 0\n2 8 0 20 \"Bob\" \"\" 0 0\n",
        "name abc, map dm4, version FTE v1.07, password false, players 2, list [BOT:Ann 7 bot plays; Bob 8 20 ms plays]",
    ),
    (
        "n\\*version\\MVDSV 0.36\\map\\dm4\\hostname\\a^1b^bc\n1 7 0 9999 \"BOT:Ann\" \"\" 0 0\n",
        "name a^1b^bc, map dm4, version MVDSV 0.36, password false, players 1, list [BOT:Ann 7 plays]",
    ),
    (
        "statusResponse\n\\gamename\\FTE-Quake\\protocol\\3wnd\\modname\\ctf\n7 9999 \"Ann\"\n",
        "game FTE-Quake, mod ctf, protocol 3, password false, players 1, list [Ann 7]",
    ),
    (
        "n\\*version\\QTV 1.15\\maxclients\\100\\hostname\\x\n",
        "name x, version QTV 1.15, players 0, max 100",
    ),
];

/// The status of a whole reply, read by its engine or by another one.
fn whole_facts(reply: &str, engine: Option<&'static Engine>) -> String {
    facts(&status_of_datagram(reply, |family, known| {
        engine.unwrap_or_else(|| Engine::of_reply(family, known))
    }))
}

fn status_of_datagram(
    reply: &str,
    engine_of: impl FnOnce(Family, &Known<'_>) -> &'static Engine,
) -> ServerStatus {
    let datagram = [b"\xff\xff\xff\xff", reply.as_bytes()].concat();
    let answer = Answer::from_datagrams([datagram], &Limits::default()).unwrap();
    answer.status_by(engine_of)
}

/// The engine of a whole reply.
fn engine_of_datagram(reply: &str) -> &'static Engine {
    let mut found = &DEFAULT;
    status_of_datagram(reply, |family, known| {
        found = Engine::of_reply(family, known);
        found
    });
    found
}

/// Keys of Quake 2's and QuakeWorld's servers, from their own format strings.
const SIBLING_REPLIES: &[(Family, &str, &str)] = &[
    (
        Family::Quake2,
        "Quake 2",
        r"\mapname\q2dm1\maxclients\8\hostname\x\version\3.21 Linux",
    ),
    (
        Family::Quake2,
        "Kingpin",
        r"\mapname\kpdm1\maxclients\8\hostname\x\version\kpded2 1.00",
    ),
    (
        Family::Quake2,
        "Alien Arena",
        r"\mapname\dm-x\maxclients\8\g_teamgame\0\version\7.71",
    ),
    (
        Family::Quetoo,
        "Quetoo",
        r"\sv_hostname\x\sv_map\edge\sv_max_clients\8\sv_protocol\2029",
    ),
    (
        Family::QuakeWorld,
        "QuakeWorld",
        r"\*version\MVDSV 0.36\map\dm4\maxclients\8",
    ),
    (
        Family::QuakeWorld,
        "FTE as QuakeWorld",
        r"\*version\FTE v1.07\map\dm4\maxclients\8",
    ),
    (
        Family::QuakeWorld,
        "QTV",
        r"\*version\QTV 1.15\maxclients\100\hostname\x",
    ),
    (
        Family::QuakeWorld,
        "qwfwd",
        r"\*version\qwfwd 1.30\maxclients\128\hostname\x",
    ),
];

#[test]
fn every_sibling_is_recognised_by_its_own_keys() {
    for (family, name, info) in SIBLING_REPLIES {
        assert_eq!(engine_of(*family, info).row.name, *name, "{info}");
    }
    for engine in SIBLINGS {
        let name = engine.row.name;
        let is_tested = SIBLING_REPLIES.iter().any(|(_, tested, _)| *tested == name);
        assert!(is_tested, "SIBLING_REPLIES has no reply of {name}");
    }
}

#[test]
fn every_engine_is_recognised_by_its_own_keys_and_read_by_its_row() {
    for (name, info, status) in REPLIES {
        assert_eq!(name_of(info), *name, "{info}");
        assert_eq!(status_of(info, None), *status, "{info}");
    }
    for engine in ALL.iter().chain([&DEFAULT]) {
        let name = engine.row.name;
        let is_tested = REPLIES.iter().any(|(tested, ..)| *tested == name);
        assert!(is_tested, "REPLIES has no reply of {name}");
    }
}

#[test]
fn every_mark_of_an_engine_decides() {
    let replies = REPLIES.iter().map(|(name, info, _)| (*name, *info));
    let replies: Vec<(&str, Known<'_>)> = replies
        .chain(MARKS.iter().copied())
        .map(|(name, info)| {
            assert_eq!(name_of(info), name, "{info}");
            (name, InfoString::new(info.as_bytes()).iter().collect())
        })
        .collect();
    for Row {
        name, signatures, ..
    } in ALL.iter().map(|engine| engine.row)
    {
        assert_eq!(untested(name, signatures, &replies), [""; 0]);
    }
}

#[test]
fn keys_mean_the_same_in_any_case() {
    let in_capitals = |info: &str| {
        let capitals = with_keys_in_capitals(info.as_bytes());
        String::from_utf8(capitals).unwrap()
    };
    for (name, info, _) in REPLIES {
        assert_eq!(name_of(&in_capitals(info)), *name, "{info}");
    }
    for (family, info, fields) in FIELDS {
        let read = fields_of(*family, &in_capitals(info), None);
        assert_eq!(read, *fields, "{info}");
    }
}

/// The lists of replies.
#[derive(Clone, Copy)]
enum List {
    Replies,
    Fields,
    Datagrams,
}

/// Each part of an engine's row, with the engine that lacks it or has the default's.
fn parts(engine: &'static Engine) -> Vec<(String, Engine)> {
    let default = Engine::of_family(engine.family);
    let rows = with_rows(&engine.row, [&default.row], |row| Engine { row, ..*engine });
    let cells = with_cells_of!(
        engine,
        default,
        names,
        clients,
        bots_left_out_if_none,
        password_left_out,
        info_slots,
        bots_have_no_ping,
        bot_prefix,
        spectators,
        no_score,
        no_ping,
        matches,
        stock
    );
    rows.chain(cells).collect()
}

/// Without any part of a row, the status of some reply is another one.
#[test]
fn every_part_of_a_row_decides() {
    for (reply, fields) in DATAGRAMS {
        assert_eq!(whole_facts(reply, None), *fields, "{reply:?}");
    }
    for (family, info, fields) in FIELDS {
        assert_eq!(fields_of(*family, info, None), *fields, "{info}");
    }
    let replies = REPLIES
        .iter()
        .map(|(_, info, _)| (List::Replies, Family::Quake3, *info));
    let fields = FIELDS
        .iter()
        .map(|(family, info, _)| (List::Fields, *family, *info));
    let datagrams = DATAGRAMS
        .iter()
        .map(|(reply, _)| (List::Datagrams, Family::Quake3, *reply));
    let unneeded = unneeded_parts(
        ALL.iter().chain(SIBLINGS).chain([&DEFAULT]),
        fields.chain(replies).chain(datagrams),
        |(list, family, text)| match list {
            List::Replies | List::Fields => engine_of(*family, text),
            List::Datagrams => engine_of_datagram(text),
        },
        parts,
        |(list, family, text), engine| match list {
            List::Replies => status_of(text, engine),
            List::Fields => fields_of(*family, text, engine),
            List::Datagrams => whole_facts(text, engine),
        },
    );
    assert_eq!(unneeded, BTreeSet::new(), "{unneeded:#?}");
}

#[test]
fn an_unknown_engine_loses_only_codes_that_all_known_engines_have() {
    use crate::model::{Charset, Style, TextRef};
    let plain = |text: &str, colours| {
        let style = Style::new(Charset::default(), colours);
        TextRef::new(text.as_bytes(), style).plain().into_owned()
    };
    for code in 0..=0x7F_u8 {
        let text = format!("a^{}b", char::from(code));
        let is_removed = |engine: &Engine| plain(&text, engine.row.style.colours) == "ab";
        if is_removed(&DEFAULT) {
            let without = ALL.iter().find(|engine| !is_removed(engine));
            let name = without.map(|engine| engine.row.name);
            assert_eq!(
                name, None,
                "keeps {text:?}, of which the default loses a code"
            );
        }
    }
    assert_eq!(plain("<^_^> ^1x", DEFAULT.row.style.colours), "<^_^> x");
}

/// Of Quake3e, of engines made from it, and of engines that may be one of them.
#[test]
fn only_some_engines_leave_out_players_near_1400_bytes() {
    let engines = ALL.iter().chain([&DEFAULT]);
    let cutting = engines.filter(|engine| engine.limits.may_cut_after(QUAKE3E_STATUS));
    let names: Vec<_> = cutting.map(|engine| engine.row.name).collect();
    let expected = [
        "Urban Terror on another engine",
        "ETe",
        "Quake3e",
        "Quake III Arena or Quake3e",
        "unknown",
    ];
    assert_eq!(names, expected);
}

#[test]
fn the_shortest_text_that_can_be_cut_can_span_datagrams() {
    let limits = &QUAKE_WORLD.limits;
    let shortest_cut = (0..2000).find(|length| limits.may_cut_after(*length));
    let shortest_part = (0..2000).find(|length| limits.may_span_datagrams(*length));
    assert!(shortest_cut.is_some() && shortest_cut == shortest_part);
}

/// The keys of limits of points. The value of each is its place here; the last one is the limit
/// of every type of match in most games.
const LIMIT_KEYS: [&str; 5] = [
    "fraglimit",
    "capturelimit",
    "duel_fraglimit",
    "duellimit",
    "scorelimit",
];

/// The types of match of each game, and of modifications of it whose types are not known: the
/// number, the name, the key of the limit, and whether there are teams.
const MATCHES: &[(&str, &str, &str)] = &[
    (
        "Quake III Arena",
        r"\gamename\missionpack",
        "0 Free For All fraglimit, 1 Tournament fraglimit, 2 Single Player, \
         3 Team Deathmatch fraglimit teams, 4 Capture the Flag capturelimit teams, \
         5 One Flag CTF capturelimit teams, 6 Overload capturelimit teams, \
         7 Harvester capturelimit teams",
    ),
    (
        "Quake III Arena",
        r"\gamename\freeze",
        "0 fraglimit, 1 fraglimit, 3 fraglimit teams, 4 capturelimit teams, 5 teams, 6 teams, \
         7 teams",
    ),
    (
        "OpenArena",
        r"\gamename\baseoa",
        "0 Free For All fraglimit, 1 Tournament fraglimit, 2 Single Player, \
         3 Team Deathmatch fraglimit teams, 4 Capture the Flag capturelimit teams, \
         5 One Flag CTF capturelimit teams, 6 Overload capturelimit teams, \
         7 Harvester capturelimit teams, 8 Elimination capturelimit teams, \
         9 CTF Elimination capturelimit teams, 10 Last Man Standing fraglimit, \
         11 Double Domination capturelimit teams, 12 Domination capturelimit teams, \
         13 Possession fraglimit",
    ),
    (
        "OpenArena",
        r"\gamename\baseoa\game\mod",
        "0 fraglimit, 1 fraglimit, 3 fraglimit teams, 4 capturelimit teams, 5 teams, 6 teams, \
         7 teams, 8 teams, 9 teams, 11 teams, 12 teams",
    ),
    (
        "Urban Terror",
        "",
        "0 Free For All fraglimit, 1 Last Man Standing, 3 Team Deathmatch fraglimit teams, \
         4 Team Survivor teams, 5 Follow the Leader teams, 6 Capture and Hold teams, \
         7 Capture the Flag capturelimit teams, 8 Bomb Mode teams, 9 Jump Mode, \
         10 Freeze Tag teams, 11 Gun Game",
    ),
    (
        "Return to Castle Wolfenstein",
        "",
        "5 Objective teams, 6 Stopwatch teams, 7 Checkpoint teams, 8 Capture and Hold teams",
    ),
    (
        "Enemy Territory",
        "",
        "2 Objective teams, 3 Stopwatch teams, 4 Campaign teams, 5 Last Man Standing teams, \
         6 Map Voting teams",
    ),
    (
        "Smokin' Guns",
        r"\scorelimit\4",
        "0 Free For All fraglimit, 1 Duel duellimit, 2 Single Player, \
         3 Team Deathmatch fraglimit teams, 4 Round Teamplay scorelimit teams, \
         5 Bank Robbery scorelimit teams",
    ),
    (
        "World of Padman",
        "",
        "0 Free For All, 1 Tournament, 2 Single Player, \
         3 Spray, 4 Last Pad Standing, 5 Killerduck, \
         6 Team Deathmatch teams, 7 Freeze Tag teams, \
         8 Capture the Flag teams, 9 One Flag CTF teams, \
         10 Team Spray teams, 11 Balloon teams",
    ),
    (
        "Jedi Outcast 1.04",
        "",
        "0 Free For All fraglimit, 1 Holocron FFA fraglimit, 2 Jedi Master fraglimit, \
         3 Duel duel_fraglimit, 4 Single Player, 5 Team FFA fraglimit teams, \
         7 Capture the Flag capturelimit teams, 8 Capture the Ysalamiri capturelimit teams",
    ),
    (
        "Jedi Academy",
        "",
        "0 Free For All fraglimit, 1 Holocron FFA fraglimit, 2 Jedi Master fraglimit, \
         3 Duel duel_fraglimit, 4 Power Duel duel_fraglimit, 5 Single Player, \
         6 Team FFA fraglimit teams, 7 Siege teams, 8 Capture the Flag capturelimit teams, \
         9 Capture the Ysalamiri capturelimit teams",
    ),
    (
        "Elite Force",
        "",
        "0 Free For All fraglimit, 1 Tournament fraglimit, 2 Single Player, \
         3 Team Deathmatch fraglimit teams, 4 Capture the Flag capturelimit teams",
    ),
    (
        "Medal of Honor",
        "",
        "1 Free For All fraglimit, 2 Team Deathmatch fraglimit teams, \
         3 Round Based fraglimit teams, 4 Objective fraglimit teams, \
         5 Tug of War fraglimit teams, 6 Liberation fraglimit teams",
    ),
    ("Warsow", "", ""),
];

/// The types of match that an engine reads in replies with these keys, as in [`MATCHES`].
fn matches_of(engine: &'static Engine, info: &str) -> String {
    let limits = LIMIT_KEYS.iter().enumerate().take(4);
    let limits: String = limits.map(|(at, key)| format!(r"\{key}\{at}")).collect();
    let described = (0..32).filter_map(|number| {
        let info = format!(r"{info}\g_gametype\{number}{limits}\g_redteam\A\g_blueteam\B");
        let status = read(Family::Quake3, &info, Some(engine));
        let number = number.to_string();
        let name = status.game_type.map(|name| name.to_string());
        let name = name.filter(|name| *name != number);
        let limit = status
            .score_limit
            .map(|at| LIMIT_KEYS[usize::try_from(at).unwrap()].into());
        let teams = (!status.teams.is_empty()).then(|| "teams".to_owned());
        let facts: Vec<String> = [name, limit, teams].into_iter().flatten().collect();
        (!facts.is_empty()).then(|| format!("{number} {}", facts.join(" ")))
    });
    described.collect::<Vec<_>>().join(", ")
}

/// `bg_public.h` and `g_main.c` of the games.
#[test]
fn every_type_of_match_has_its_name_its_limit_and_its_teams() {
    let mut tested = BTreeSet::new();
    for (name, info, matches) in MATCHES {
        let engine = ALL.iter().find(|engine| engine.row.name == *name).unwrap();
        assert_eq!(matches_of(engine, info), *matches, "{name}, {info}");
        tested.insert(format!("{:?}", engine.matches));
    }
    for Engine { row, matches, .. } in ALL {
        let is_tested = tested.contains(&format!("{matches:?}"));
        assert!(is_tested, "MATCHES has no types of {}", row.name);
    }
}
