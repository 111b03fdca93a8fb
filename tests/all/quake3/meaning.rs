//! The meaning of each engine's keys in the model: replies built by hand from the format strings of
//! servers' sources.
use std::time::Duration;

use bytes::Bytes;
use queryport::quake3::{Answer, Command, Request};
use queryport::{Detail, Limits, Player, ServerStatus, Text, ToStatus};
use queryport::{Protocol, Service};

use crate::common::requester;
use crate::facts::{fields, team_ids};

fn answer(body: &[u8]) -> Answer {
    let datagram = Bytes::from([b"\xff\xff\xff\xff", body].concat());
    Answer::from_datagrams([datagram], &Limits::default()).unwrap()
}

fn read(body: &str) -> ServerStatus {
    let answer = answer(body.as_bytes());
    let status = answer.to_status();
    assert_eq!(answer.completeness(), status.completeness, "{body}");
    status
}

fn plain(text: &Option<Text>) -> Option<String> {
    text.as_ref().map(|text| text.plain().into_owned())
}

#[test]
fn the_first_key_of_a_modification_counts() {
    let modification = |keys: &str| plain(&read(&format!("infoResponse\n{keys}")).mod_name);
    let (inner, name) = (r"\gamename\inner", r"\modname\name");
    let (folder, game) = (r"\fs_game\folder", r"\game\other");
    let ioquake3 = r"\com_gamename\Quake3Arena";
    let own_names = [r"\gamename\own", r"\version\ET 2.60b\gamename\ET"];
    let all = format!("{ioquake3}{game}{folder}{name}{inner}");
    assert_eq!(modification(&all).as_deref(), Some("inner"));
    for own_name in own_names.into_iter().chain([ioquake3]) {
        for (keys, expected) in [
            (format!("{game}{folder}{name}"), Some("name")),
            (format!("{game}{folder}"), Some("folder")),
            (game.to_owned(), Some("other")),
            (String::new(), None),
        ] {
            let keys = format!("{own_name}{keys}");
            assert_eq!(modification(&keys).as_deref(), expected, "{keys}");
        }
    }
    let twice = r"\gamename\own\modname\own";
    assert_eq!(modification(twice), None, "the name of the game");
}

/// Everyone, bots, slots, private slots.
fn counts(status: &ServerStatus) -> [Option<u32>; 4] {
    [
        status.player_count,
        status.bot_count,
        status.max_players,
        status.private_slots,
    ]
}

/// etlegacy, src/server/sv_main.c, `SVC_Info`: `sv_maxclients` is written less `sv_privateClients`,
/// `clients` counts all.
const ET_LEGACY: &str = "infoResponse\n\\challenge\\xyz\\version\\ET Legacy v2.82\\protocol\\84\\hostname\\ETL\\serverload\\0\
    \\mapname\\oasis\\clients\\12\\humans\\9\\sv_maxclients\\28\\sv_privateclients\\4\\gametype\\6\\pure\\1\\game\\legacy\
    \\friendlyFire\\1\\maxlives\\0\\needpass\\1\\gamename\\et\\g_antilag\\1\\weaprestrict\\100\\balancedteams\\1";

/// ioquake3, code/server/sv_main.c, `SVC_Info`, on a server with the mod CPMA and four private
/// slots.
const IOQUAKE3: &str = "infoResponse\n\\game\\cpma\\voip\\opus\\g_needpass\\0\\pure\\1\\gametype\\3\\sv_maxclients\\12\
    \\g_humanplayers\\5\\clients\\8\\mapname\\cpm3\\hostname\\^1io^_q\\protocol\\71\\gamename\\Quake3Arena\\challenge\\x";

/// voron00/CoD2rev_Server, src/server/sv_main_mp.cpp, `SVC_Info`, with nobody on: no `clients`.
const CALL_OF_DUTY_2: &str = "infoResponse\n\\challenge\\xxx\\protocol\\118\\hostname\\^1CoD^:2\\mapname\\mp_toujane\
    \\sv_maxclients\\20\\gametype\\sd\\pure\\1\\pswrd\\1\\kc\\1\\hw\\1\\mod\\0\\voice\\0";

/// iw4x/iw4x-client, src/Components/Modules/Party.cpp: `clients` without test clients, `bots` are
/// those.
const IW4X: &str = "infoResponse\n\\challenge\\\\gamename\\IW4\\hostname\\^:IW4\\gametype\\war\\fs_game\\mods/best\\clients\\6\
    \\bots\\4\\sv_maxclients\\18\\protocol\\150\\version\\v1\\mapname\\mp_rust\\isPrivate\\1\\hc\\0\\sv_running\\1";

/// ahmad009/IW5M-1.9, Steam/GSServer.cpp, `HandleGetInfoOOB`.
const IW5M: &str = "infoResponse\n\\challenge\\x\\protocol\\20601\\hostname\\Srv\\mapname\\mp_dome\\gametype\\war\\clients\\6\
    \\sv_maxclients\\18\\pure\\1\\hw\\1\\gamename\\PIW5\\fs_game\\modernwarfare3\\shortversion\\1.9\\ff\\0\\kc\\1\\checksum\\0";

/// HeartbeatingForCenturies/iw6x-client, src/client/component/party.cpp: `clients` with test
/// clients.
const IW6: &str = "infoResponse\n\\challenge\\x\\gamename\\IW6\\hostname\\Srv\\gametype\\war\\sv_motd\\\\xuid\\1100001\
    \\mapname\\mp_strikezone\\isPrivate\\0\\clients\\6\\bots\\4\\sv_maxclients\\18\\protocol\\1";

/// DaemonEngine/Daemon, src/engine/server/sv_main.cpp, `SVC_Info`: bots count apart from people.
/// `GAMENAME_STRING` is `unv` (src/common/Defs.h).
const UNVANQUISHED: &str = "infoResponse\n\\abi\\1\\bots\\5\\challenge\\x\\clients\\3\\daemonver\\0.55\\gamename\\unv\
    \\hostname\\^#fF8000U^onv^^1 # server\\mapname\\plat23\\protocol\\86\\serverload\\0\\sv_maxclients\\24";

/// openmoh/openmohaa, code/server/sv_main.c, `SVC_Info`.
const OPENMOHAA: &str = "infoResponse\n\\serverType\\0\\gamever\\1.11+0.82.1\\game\\main\\pure\\0\\gametypestring\\Team-Match\
    \\gametype\\2\\sv_maxclients\\20\\clients\\3\\mapname\\dm/mohdm6\\hostname\\^1Mo^_H\\protocol\\8";

/// xonotic/darkplaces, netconn.c, `NetConn_BuildStatusResponse`, and Xonotic's `worldstatus`.
const XONOTIC: &str = "statusResponse\n\\gamename\\Xonotic\\modname\\data\\gameversion\\806\\sv_maxclients\\16\\clients\\3\\bots\\1\
    \\mapname\\dance\\hostname\\^xF00Xon^^\\protocol\\3\\qcstatus\\ctf:0.8.6:P0:S13:F1:MXonotic::score!!:caps!!,score:5:2,40:14:1,30\
    \n5.00 12 1 \"^x0F0Ann\"\n7 0 2 \"[BOT]Bob\"\n-666 40 0 \"Spec\"\n";

/// fte-team/fteqw, engine/server/sv_main.c, `SVC_GetInfo` and `SV_GeneratePublicServerinfo`.
const FTE: &str = "statusResponse\n\\gamename\\FTE-Quake\\protocol\\3wnd\\modname\\ctf\\clients\\2\\sv_maxclients\\16\\mapname\\e1m1\
    \\hostname\\FTE\n12 0 \"red\" \"Ann B\"\n3 40 \"\" \"Bob\"\n\0";

#[test]
fn counts_include_bots_and_private_slots() {
    assert_eq!(
        counts(&read(ET_LEGACY)),
        [Some(12), Some(3), Some(32), Some(4)]
    );
    assert_eq!(
        counts(&read(IOQUAKE3)),
        [Some(8), Some(3), Some(12), None],
        "private slots are not told"
    );
    assert_eq!(
        counts(&read(CALL_OF_DUTY_2)),
        [Some(0), None, Some(20), None],
        "nobody, and no key says so"
    );
    assert_eq!(counts(&read(IW5M)), [Some(6), None, Some(18), None]);
    assert_eq!(counts(&read(IW4X)), [Some(10), Some(4), Some(18), None]);
    assert_eq!(
        counts(&read(IW6)),
        [Some(6), Some(4), Some(18), None],
        "IW6 and later count bots"
    );
    assert_eq!(
        counts(&read(UNVANQUISHED)),
        [Some(8), Some(5), Some(24), None]
    );
    assert_eq!(counts(&read(XONOTIC)), [Some(3), Some(1), Some(16), None]);
    assert_eq!(counts(&read(FTE)), [Some(2), None, Some(16), None]);
    let status = "statusResponse\n\\sv_maxclients\\32\\sv_privateClients\\4\n1 0 \"x\"\n";
    assert_eq!(
        counts(&read(status)),
        [Some(1), None, Some(32), Some(4)],
        "a status counts private slots"
    );
    for whole in [
        ET_LEGACY,
        IOQUAKE3,
        CALL_OF_DUTY_2,
        IW4X,
        IW6,
        UNVANQUISHED,
        XONOTIC,
        FTE,
    ] {
        assert!(read(whole).completeness.is_complete(), "{whole}");
    }
}

#[test]
fn bots_are_told_by_their_ping_on_darkplaces_only() {
    let bots = |body| -> Vec<_> { read(body).players.iter().map(|player| player.bot).collect() };
    assert_eq!(bots(XONOTIC), [Some(false), Some(true), Some(false)]);
    assert_eq!(bots(FTE), [None, None]);
    assert_eq!(
        bots("statusResponse\n\\version\\ioq3 1.36\n0 0 \"We are recruiting!\"\n"),
        [None]
    );
}

#[test]
fn game_types_and_teams_are_read_from_every_key_that_tells_them() {
    assert_eq!(plain(&read(OPENMOHAA).game_type).unwrap(), "Team-Match");
    let xonotic = read(XONOTIC);
    assert_eq!(plain(&xonotic.game_type).unwrap(), "ctf");
    for (pairs, words) in [
        (r"g_gametype\0\gamename\baseq3", "Free For All"),
        (r"g_gametype\2\gamename\q3urt43", "2"),
        (r"g_gametype\3\g_jediVmerc\0\protocol\26", "Duel"),
        (
            r"g_gametype\8\g_jediVmerc\0\protocol\16",
            "Capture the Ysalamiri",
        ),
        (r"g_gametype\6\g_jediVmerc\0\protocol\16", "6"),
        // Numbers of unknown games and of modifications mean something else: 5 is clan arena.
        (r"g_gametype\4\gamename\other", "4"),
        (r"g_gametype\5\gamename\cpma\com_gamename\Quake3Arena", "5"),
        (r"g_gametype\99\gamename\baseq3", "99"),
        (r"g_gametype\CTF\gamename\baseq3", "CTF"),
    ] {
        let status = read(&format!("statusResponse\n\\{pairs}\n"));
        assert_eq!(plain(&status.game_type).unwrap(), words, "{pairs}");
        let raw = pairs.split('\\').nth(1).unwrap();
        assert_eq!(
            status.rules.get("g_gametype").unwrap().plain(),
            raw,
            "the number stays"
        );
    }
    let info = |pairs: &str| {
        plain(&read(&format!("infoResponse\n\\gametype\\3\\{pairs}")).game_type).unwrap()
    };
    assert_eq!(info(r"gamename\Quake3Arena"), "Team Deathmatch");
    assert_eq!(
        info(r"gamename\Quake3Arena\game\cpma"),
        "3",
        "of a modification"
    );
    let teams = |status: &ServerStatus| -> Vec<_> {
        status
            .teams
            .iter()
            .map(|team| (team.id.unwrap(), plain(&team.name), team.score))
            .collect()
    };
    assert_eq!(teams(&xonotic), [(1, None, Some(2)), (2, None, Some(1))]);
    // Captured from OSP, Soldier of Fortune II, Warsow, Urban Terror and Jedi Outcast.
    let of = |info: &str| teams(&read(&format!("statusResponse\n{info}\n")));
    assert_eq!(
        of(r"\Score_Blue\3 \Score_Red\4 "),
        [(1, None, Some(4)), (2, None, Some(3))]
    );
    assert_eq!(
        of(r"\redscore\3\bluescore\5"),
        [(1, None, Some(3)), (2, None, Some(5))]
    );
    let (alpha, beta) = (Some("ALPHA".to_owned()), Some("BETA".to_owned()));
    assert_eq!(
        of(r"\g_match_score\ ALPHA: 3 BETA: 14"),
        [(2, alpha, Some(3)), (3, beta, Some(14))]
    );
    let (devils, angels) = (Some("Devils".to_owned()), Some("Angels".to_owned()));
    let names = r"\g_teamnamered\Devils\g_teamnameblue\Angels\gamename\q3urt42";
    assert_eq!(
        of(&format!(r"{names}\g_gametype\7")),
        [(1, devils, None), (2, angels, None)]
    );
    assert_eq!(of(&format!(r"{names}\g_gametype\0")), [], "everyone alone");
}

/// The keys `P` and `B`: a character for each client slot (etlegacy, src/game/g_main.c;
/// Unvanquished, src/sgame/sg_main.cpp).
#[test]
fn slots_tell_teams_and_bots_if_they_fit_the_players() {
    for (keys, teams, bots) in [
        (r"\P\--3-1-2", "312", "???"),
        (r"\P\--3-1", "???", "???"),
        (r"\P\--3-1-2-0", "???", "???"),
        (r"\P\--x-1-2", "???", "???"),
        (r"\P\--3-1-2\B\--b----", "312", "yes no no"),
        (r"\P\--3-1-2\B\b---bb-", "312", "no yes no"),
        (r"\P\--3-1-2\B\--b---", "312", "???"),
        (r"\P\--3-1-2\B\--b-----", "312", "???"),
        (r"\P\--3-1\B\--b--", "???", "???"),
    ] {
        let status = read(&format!(
            "statusResponse\n\\daemonver\\0.54{keys}\n1 2 \"a\"\n3 4 \"b\"\n5 6 \"c\"\n"
        ));
        let team = |player: &Player| player.team.map_or("?".to_owned(), |team| team.to_string());
        assert_eq!(
            status.players.iter().map(team).collect::<String>(),
            teams,
            "{keys}"
        );
        let bot = |player: &Player| player.bot.map(|bot| if bot { "yes" } else { "no" });
        let found: Option<Vec<_>> = status.players.iter().map(bot).collect();
        assert_eq!(
            found.map_or("???".to_owned(), |found| found.join(" ")),
            bots,
            "{keys}"
        );
    }
}

#[test]
fn a_team_that_is_no_number_is_kept_as_text() {
    let status = read(FTE);
    let players = status.players;
    assert_eq!(
        (players[0].name.plain(), players[0].score, players[0].ping),
        ("Ann B".into(), Some(12), Some(0))
    );
    assert_eq!(
        (
            players[0].team,
            players[0].extra.get("team").unwrap().plain()
        ),
        (None, "red".into())
    );
    assert_eq!(
        (
            players[1].name.plain(),
            players[1].extra.get("team").is_none()
        ),
        ("Bob".into(), true)
    );
}

/// A Quake III status whose manifest of paks holds line feeds, as of servers with many paks
/// (captured from CPMA).
#[test]
fn rules_after_a_value_of_several_lines_are_read() {
    let status = read(
        "statusResponse\n\\sv_maxclients\\16\\fs_manifest\\cpma/z-cpma.pk3@123\n baseq3/pak100.pk3@45\n baseq3/pak0.pk3@6\
         \\mapname\\cpm22\\timelimit\\15\\g_needpass\\1\n9 20 \"Ann\"\n",
    );
    assert_eq!(
        (plain(&status.map).unwrap().as_str(), status.password),
        ("cpm22", Some(true))
    );
    assert_eq!(status.time_limit, Some(Duration::from_secs(900)));
    assert_eq!((status.rules.len(), status.players.len()), (5, 1));
    assert!(status.completeness.is_complete());
}

fn serve(status: &ServerStatus, detail: Detail, service: &Service) -> ServerStatus {
    let challenge = Some(&b"x"[..]);
    let command = if detail == Detail::Short {
        Command::GetInfo { challenge }
    } else {
        Command::GetStatus { challenge }
    };
    let replies = queryport::quake3::respond(
        &Request::new(command),
        status,
        service,
        &requester("192.0.2.1:5000"),
    );
    Answer::from_datagrams(replies, &Limits::default())
        .unwrap()
        .to_status()
}

#[test]
fn an_empty_value_hides_no_other_key() {
    let status = read(
        "statusResponse\n\\gamename\\baseq3\\protocol\\\\com_protocol\\71\\g_gametype\\0\\scorelimit\\\\fraglimit\\20\n",
    );
    assert_eq!(
        (status.protocol_version, status.score_limit),
        (Some(71), Some(20))
    );
}

/// The keys of an empty server of Call of Duty 2 (voron00/CoD2rev_Server,
/// src/server/sv_main_mp.cpp).
#[test]
fn an_info_of_call_of_duty_without_a_count_is_of_an_empty_server() {
    let count = |body: &str| answer(body.as_bytes()).to_status().player_count;
    let keys = [
        "protocol\\118",
        "hostname\\CoD2Host",
        "mapname\\mp_toujane",
        "sv_maxclients\\20",
        "pure\\1",
        "hw\\1",
    ];
    let info = |keys: &[&str]| format!("infoResponse\n\\{}", keys.join("\\"));
    assert_eq!(count(&info(&keys)), Some(0));
    assert_eq!(count(&format!("{}\\clients\\3", info(&keys))), Some(3));
    let other_number = "infoResponse\n\\protocol\\6\\hw\\1";
    assert_eq!(count(other_number), None);
    assert_eq!(
        count(&format!("{other_number}\\sv_maxclients\\20")),
        Some(0)
    );
    // A server that is not pure leaves out `pure`, too.
    let impure: Vec<_> = keys.into_iter().filter(|key| *key != "pure\\1").collect();
    assert_eq!(count(&info(&impure)), Some(0));
    for missing in [0, 3, 5] {
        let mut others = keys.to_vec();
        others.remove(missing);
        assert_eq!(
            count(&info(&others)),
            None,
            "a count that was lost, or another game"
        );
    }
}

#[test]
fn a_parsed_status_is_served_with_the_same_meaning() {
    let quake3 = "statusResponse\n\\sv_maxclients\\16\\sv_privateClients\\2\\version\\ioq3 1.36\\com_gamename\\Quake3Arena\
        \\gamename\\osp\\fraglimit\\30\\timelimit\\7.5\\g_gametype\\3\\sv_punkbuster\\1\\protocol\\68\\mapname\\q3dm6\
        \\sv_hostname\\^1OSP\\g_needpass\\1\\Score_Red\\3 \\Score_Blue\\5 \n1 2 \"a\"\n";
    for body in [quake3, IOQUAKE3] {
        let answer = answer(body.as_bytes());
        let status = answer.to_status();
        let again = serve(&status, answer.detail(), &Protocol::Quake3.into());
        assert_eq!(fields(&again), fields(&status), "{body}");
        assert_eq!(team_ids(&again), team_ids(&status), "{body}");
        let players = |status: &ServerStatus| -> Vec<_> {
            let players = status.players.iter();
            players
                .map(|p| (p.name.plain().into_owned(), p.score, p.ping, p.team, p.bot))
                .collect()
        };
        assert_eq!(players(&again), players(&status), "{body}");
        assert!(again.completeness.is_complete());
    }
}

/// A rule with the key of a field is left out; every other rule is written as it is.
#[test]
fn a_field_outweighs_the_rule_with_its_key() {
    let mut status = ServerStatus::default();
    status.name = Some("Server name".into());
    status.rules = [("SV_HostName", "Other"), ("sv_pure", "1")]
        .into_iter()
        .collect();
    let served = serve(&status, Detail::Full, &Protocol::Quake3.into());
    assert_eq!(plain(&served.name).as_deref(), Some("Server name"));
    assert_eq!(served.rules.get_all("sv_hostname").count(), 1);
    assert_eq!(served.rules.get("sv_pure").unwrap(), "1");
}

#[test]
fn the_fields_with_keys_are_sent() {
    let mut status = ServerStatus::default();
    (status.game, status.mod_name) = (Some("Quake3Arena".into()), Some("Mod".into()));
    (status.game_type, status.protocol_version) = (Some("4".into()), Some(99));
    (status.max_players, status.private_slots) = (Some(20), Some(5));
    (status.time_limit, status.score_limit) = (Some(Duration::from_secs(90)), Some(8));
    status.anti_cheat = Some(false);
    status.players = [Player::new("a")].into();
    let served = |detail| serve(&status, detail, &Protocol::Quake3.into());

    let standard = served(Detail::Full);
    assert_eq!(
        (plain(&standard.game), plain(&standard.mod_name)),
        (Some("Quake3Arena".into()), Some("Mod".into()))
    );
    assert_eq!(
        (standard.protocol_version, counts(&standard)),
        (Some(99), [Some(1), None, Some(20), Some(5)])
    );
    assert_eq!(
        (standard.time_limit, standard.score_limit),
        (status.time_limit, Some(8))
    );
    assert_eq!(standard.anti_cheat, Some(false));
    let info = served(Detail::Short);
    assert_eq!(
        (plain(&info.mod_name), counts(&info)),
        (Some("Mod".into()), [Some(1), None, Some(20), None])
    );
}

#[test]
fn a_type_of_match_is_served_as_its_number_where_the_game_has_one() {
    for (game, mod_name, game_type, served) in [
        (Some("baseq3"), None, "Capture the Flag", "4"),
        (Some("baseq3"), None, "7", "7"),
        (Some("baseq3"), None, "Instagib", "Instagib"),
        (
            Some("baseq3"),
            Some("cpma"),
            "Capture the Flag",
            "Capture the Flag",
        ),
    ] {
        let mut status = ServerStatus::default();
        status.game = game.map(Text::from);
        status.mod_name = mod_name.map(Text::from);
        status.game_type = Some(game_type.into());
        let read = serve(&status, Detail::Full, &Service::from(Protocol::Quake3));
        let number = read.rules.get("g_gametype").map(|text| text.to_string());
        assert_eq!(number.as_deref(), Some(served), "{game:?} {mod_name:?}");
    }
}

/// For any space of a reply and any length of the name.
#[test]
fn a_status_without_all_players_does_not_read_as_complete() {
    let mut answers = 0;
    let mut check = |length, most, challenge| {
        let mut status = ServerStatus::default();
        status.name = Some("n".repeat(length).into());
        status.map = Some("q3dm17".into());
        status.players = (0..40)
            .map(|n| Player::new(format!("player number {n}")))
            .collect();
        let service = Service::from(Protocol::Quake3).with_max_reply(most);
        let request = Request::new(Command::GetStatus { challenge });
        let replies =
            queryport::quake3::respond(&request, &status, &service, &requester("192.0.2.1:5000"));
        // No reply, or none with an infostring.
        let Ok(answer) = Answer::from_datagrams(replies, &Limits::default()) else {
            return;
        };
        let read = answer.to_status();
        let says_all = (read.player_count, read.players.len()) == (Some(40), 40);
        assert!(
            says_all || !read.completeness.is_complete(),
            "{length} of {most}: {read:?}"
        );
        answers += 1;
    };
    for challenge in [None, Some(&b"x"[..])] {
        (0..500)
            .step_by(3)
            .for_each(|most| check(30, most, challenge));
        (0..1030)
            .step_by(7)
            .for_each(|length| check(length, 1396, challenge));
    }
    assert!(answers > 500, "{answers}");
}

#[test]
fn a_rule_that_is_too_long_for_a_reply_displaces_no_other() {
    let mut status = ServerStatus::default();
    status.rules.push("long", &"x".repeat(500));
    status.rules.push("last", "2");
    status.players = [Player::new("Ann")].into();
    let service = Service::from(Protocol::Quake3).with_max_reply(300);
    let read = serve(&status, Detail::Full, &service);
    assert!(read.rules.get("long").is_none() && read.rules.get("last").is_some());
}
