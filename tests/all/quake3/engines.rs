//! Replies of real engines, recorded on loopback or built from their format strings: each is read
//! by the rules of its own engine.

use bytes::Bytes;
use queryport::model::{Charset, Colours, Style};
use queryport::quake3::Answer;
use queryport::{Limits, Part, ServerStatus, Text, ToStatus};

fn read(body: &[u8]) -> ServerStatus {
    let datagram = Bytes::from([b"\xff\xff\xff\xff", body].concat());
    let answer = Answer::from_datagrams([datagram], &Limits::default()).unwrap();
    let status = answer.to_status();
    assert_eq!(answer.completeness(), status.completeness);
    status
}

fn plain(text: &Option<Text>) -> String {
    text.as_ref().unwrap().plain().into_owned()
}

fn players(status: &ServerStatus) -> Vec<String> {
    let players = status.players.iter();
    players
        .map(|player| player.name.plain().into_owned())
        .collect()
}

/// Glyphs of the console font are letters.
#[test]
fn glyphs_of_darkplaces_are_letters() {
    let status = read(
        "statusResponse\n\\gamename\\Xonotic\\modname\\data\\protocol\\3\\qcstatus\\dm:0.8.6::score!!\\hostname\\s\n\
         1 2 \"\u{e041}nn\"\n1 2 \"\u{e0c2}ob \u{e012}\"\n"
            .as_bytes(),
    );
    assert_eq!(players(&status), ["Ann", "Bob 0"]);
}

#[test]
fn plain_texts_have_a_space_for_line_feeds_and_tabs() {
    let text: Text = "count\tfile\nfunction\r\n".into();
    assert_eq!(text.to_string(), "count file function");
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines, ["count file", "function"]);
    let style = Style::new(Charset::Utf8OrLatin1, Colours::SectionSign);
    let name = Text::new("Serviço\nde jogos".as_bytes(), style);
    assert_eq!(name.plain(), "Serviço de jogos");
}

/// JK2MV (mvdevs/jk2mv fd7ce68) and qfusion (viciious/qfusion e6c46002), recorded on loopback.
#[test]
fn recorded_names_are_whole() {
    let outcast = read(
        b"statusResponse\n\\version\\JK2MP: v1.04mv linux-amd64 Nov 26 2026\\sv_hostname\\^1Red^7 Outcast\\sv_maxclients\\12\
          \\sv_privateClients\\2\\g_needpass\\1\\protocol\\16\\JK2MV\\UNKNOWN\\fraglimit\\20\\timelimit\\0\\g_gametype\\0\n\
          -7 999 \"^0Bot \"0\"\n3 999 \"^1Bot '1\"\n",
    );
    assert_eq!(plain(&outcast.name), "Red Outcast");
    assert_eq!(players(&outcast), ["Bot \"0", "Bot '1"]);
    assert_eq!(outcast.score_limit, Some(20));
    let warsow = read(
        b"statusResponse\n\\version\\2.20 x86_64 Nov 26 2026 Linux\\fs_game\\basewsw\\g_match_score\\ALPHA: 3 BETA: 1\
          \\gamename\\Warsow\\mapname\\wctf1\\protocol\\23\\sv_hostname\\^1Red^7 Warsow\\sv_maxclients\\12\\sv_mm_enable\\0\
          \\gametype\\ctf\\bots\\2\\clients\\2\n-9999 0 \"^0Bot^^0 x\" 0\n-2 0 \"^1Bot^^1 x\" 3\n",
    );
    assert_eq!(plain(&warsow.name), "Red Warsow");
    assert_eq!(players(&warsow), ["Bot^0 x", "Bot^1 x"]);
    assert_eq!((warsow.player_count, warsow.bot_count), (Some(2), Some(2)));
    // Its info names no game.
    let info = read(
        b"infoResponse\n\\challenge\\abc\\fs_game\\basewsw\\sv_hostname\\^xF00 Warsow\\sv_mm_enable\\0\\gametype\\ctf",
    );
    assert_eq!(plain(&info.name), "^xF00 Warsow");
}

/// Daemon 0.56.2 (DaemonEngine/Daemon b276137b6) and DarkPlaces (2f25af655), recorded on loopback.
#[test]
fn recorded_counts_are_right() {
    let daemon = read(
        b"infoResponse\n\\abi\\0.56\\bots\\1\\challenge\\abc\\clients\\0\\daemonver\\0.56.2\\gamename\\unv\
          \\hostname\\^1Red ^xF00\"U\" server\\mapname\\room\\protocol\\86\\serverload\\-1\\sv_maxclients\\12",
    );
    assert_eq!(plain(&daemon.name), "Red \"U\" server");
    assert_eq!((daemon.player_count, daemon.bot_count), (Some(1), Some(1)));
    let without_bots = read(b"infoResponse\n\\clients\\3\\daemonver\\0.56.2");
    assert_eq!(without_bots.player_count, Some(3));
    let impossible = read(b"infoResponse\n\\bots\\1\\clients\\4294967295\\daemonver\\0.56.2");
    assert_eq!(impossible.player_count, None);
    let status = read(
        b"statusResponse\n\\version\\Unvanquished 0.56.2 Linux amd64\\protocol\\86\\sv_hostname\\x\n13 0 \"^2Bot \"2^^\"\n",
    );
    assert_eq!(players(&status), ["Bot \"2^"]);
    let darkplaces = read(
        b"statusResponse\n\\gamename\\DarkPlaces-Quake\\modname\\id1\\gameversion\\0\\sv_maxclients\\12\\clients\\3\\bots\\3\
          \\mapname\\room\\hostname\\^xF00Dark ^7places\\protocol\\3\n-6 0 \"\"\n1 0 \"\"\n8 0 \"\"\n",
    );
    assert_eq!(plain(&darkplaces.name), "Dark places");
    assert!(
        darkplaces
            .players
            .iter()
            .all(|player| player.bot == Some(true))
    );
    assert!(darkplaces.mod_name.is_none(), "id1 is its own folder");
}

/// viciious/qfusion, source/server/sv_oob.c.
#[test]
fn warsow_leaves_out_the_number_of_bots_if_it_is_0() {
    let info = "infoResponse\n\\challenge\\x\\gamename\\Warsow\\gametype\\ffa";
    let bots = |more: &str| read(format!("{info}{more}").as_bytes()).bot_count;
    assert_eq!(bots("\\clients\\3"), Some(0));
    assert_eq!(bots("\\bots\\2\\clients\\3"), Some(2));
    assert_eq!(bots(""), None, "no room for either");
}

/// A status of Quake3e with these pairs and a line for each name, and whether the server left out a
/// line (ec-/Quake3e, code/server/sv_main.c, `SVC_Status`).
fn status_of_quake3e(info: &str, names: &[String]) -> (Vec<u8>, bool) {
    let mut length = info.len() + 16;
    let mut lines = String::new();
    for name in names {
        let line = format!("12 50 \"{name}\"\n");
        if length + line.len() >= 1396 {
            break;
        }
        length += line.len();
        lines.push_str(&line);
    }
    let listed = lines.lines().count();
    let body = format!("statusResponse\n{info}\n{lines}");
    (body.into_bytes(), listed < names.len())
}

#[test]
fn a_status_of_quake3e_that_lacks_players_is_never_complete() {
    let mut cut = 0;
    for marks in [
        r"\version\Q3 1.32e linux-x86_64",
        r"\version\ET 2.60e linux-x86_64",
        r"\version\FTWGL linux-x86_64\gamename\q3urt43",
        r"\version\Another 1.0",
    ] {
        for length in 0..=31 {
            let info = format!(r"{marks}\sv_maxclients\64\k\{}", "v".repeat(300));
            let names = vec!["n".repeat(length); 63];
            let (body, lacks_players) = status_of_quake3e(&info, &names);
            assert!(body.len() + 4 <= 1399);
            let completeness = read(&body).completeness;
            assert!(
                !lacks_players || completeness.lacks(Part::End),
                "{marks}, {length}"
            );
            cut += usize::from(lacks_players);
        }
    }
    assert!(cut > 50, "{cut}");
}

/// The same length of status from engines whose limit is far away, and from Quake3e if the
/// wire shows that nobody is missing.
#[test]
fn a_status_is_complete_if_its_engine_has_space_or_everybody_is_listed() {
    let is_complete = |marks: &str, length: usize| {
        let head = format!(r"statusResponse{}{marks}\k\", "\n");
        let line = "12 50 \"Ann\"\n";
        let value = "v".repeat(length - 4 - head.len() - 1 - line.len());
        let status = read(format!("{head}{value}\n{line}").as_bytes());
        status.completeness.is_complete()
    };
    let quake3e = r"\version\Q3 1.32e\sv_maxclients\8";
    assert!(is_complete(quake3e, 1336) && !is_complete(quake3e, 1337));
    for complete in [
        r"\version\Q3 1.32e\sv_maxclients\1",
        r"\version\Q3 1.32e\clients\1",
        r"\version\Q3 1.32c\sv_maxclients\8",
        r"\version\ioq3 1.36\sv_maxclients\8",
        r"\version\ioQ3 1.35 urt 4.3.4\sv_maxclients\8",
        r"\version\ET 2.60b\sv_maxclients\8",
    ] {
        assert!(is_complete(complete, 1390), "{complete}");
    }
    let another = r"\version\Another 1.0";
    assert!(!is_complete(another, 1390));
    assert!(
        is_complete(another, 1500),
        "Quake3e has none of this length"
    );
    assert!(
        is_complete(another, 16_339) && !is_complete(another, 16_340),
        "nor has id's engine"
    );
}

/// By the score in DarkPlaces (xonotic/darkplaces, netconn.c; xonotic/xonotic-data.pk3dir,
/// qcsrc/server/scores.qc), by the team in Warsow (Warsow/qfusion,
/// source/common/facilities/gs_public.h), Soldier of Fortune II (ensiform/SOF2MPSDK,
/// code/game/q_shared.h), Enemy Territory (etfdevs/ETe, src/game/bg_public.h, g_main.c), Unvanquished
/// (src/sgame/sg_main.cpp) and Tremulous (GrangerHub/tremulous, src/game/g_main.c).
#[test]
fn spectators_are_known_by_their_score_or_team() {
    for (info, lines) in [
        (
            r"\gamename\Xonotic\modname\data\protocol\3\qcstatus\ctf:0.8.6::score!!",
            ["-666 40 0", "12 50 1"],
        ),
        (
            r"\gamename\Nexuiz\qcstatus\dm:2.5.2::score!!",
            ["-666 40", "12 50"],
        ),
        (
            r"\gamename\Xonotic\modname\data\protocol\3\qcstatus\dm",
            [":human:spectator 40", "5,3:human 50"],
        ),
        (r"\version\SOF2MP GOLD V1.03", ["0 40 3", "12 50 1"]),
        (r"\version\ET Legacy v2.82\P\--3-1", ["0 40", "12 50"]),
        (r"\version\Unvanquished 0.56.2\P\02-", ["0 40", "12 50"]),
        (r"\version\tremulous 1.2.0\P\-01", ["0 40", "12 50"]),
    ] {
        let [watching, playing] = lines;
        let text = format!("statusResponse\n{info}\n{watching} \"Eve\"\n{playing} \"Ann\"\n");
        let players = read(text.as_bytes()).players;
        let found: Vec<_> = players.iter().map(|player| player.spectator).collect();
        assert_eq!(found, [Some(true), Some(false)], "{info}");
    }
    let full = read(
        b"statusResponse\n\\gamename\\Xonotic\\modname\\data\\protocol\\3\n5,3:human 50 \"Ann\"\n",
    );
    let ann = &full.players[0];
    assert_eq!(ann.score, Some(5));
    assert_eq!(ann.extra.get("score").unwrap(), "5,3:human");
    // Neither a score nor a number of a team marks a spectator elsewhere.
    let status = read(b"statusResponse\n\\version\\ioq3 1.36\n-666 40 \"Ann\"\n");
    assert_eq!(
        (status.players[0].score, status.players[0].spectator),
        (Some(-666), None)
    );
}

/// −9999 of Warsow (Warsow/qfusion, source/common/facilities/gs_public.h, `STAT_NOTSET`), also of a
/// player in a team (captured); −666 of DarkPlaces; a ping of −1 on Call of Duty (captured) and of 9999
/// on FTE (fte-team/fteqw, engine/server/sv_main.c, `SV_CalcPing`).
#[test]
fn numbers_for_none_are_none_and_not_lost() {
    let first = |info: &str, line: &str| {
        let text = format!("statusResponse\n{info}\n{line}\n");
        read(text.as_bytes()).players[0].clone()
    };
    // Warfork and servers of qfusion that name no game are made from Warsow.
    for info in [
        r"\gamename\Warsow",
        r"\gamename\Warfork",
        r"\fs_game\basewf",
    ] {
        let eve = first(info, r#"-9999 26 "Eve" 3"#);
        assert_eq!(
            (eve.score, eve.ping, eve.spectator),
            (None, Some(26), Some(false)),
            "{info}"
        );
        assert_eq!(eve.extra.get("score").unwrap(), "-9999");
    }
    let eve = first(r"\gamename\Nexuiz\qcstatus\dm", r#"-666 26 "Eve""#);
    assert_eq!(eve.score, None);
    assert_eq!(eve.extra.get("score").unwrap(), "-666");
    for (info, ping) in [
        (r"\gamename\Call of Duty 4\shortversion\1.7", "-1"),
        (r"\gamename\FTE-Quake\protocol\3wnd", "9999"),
    ] {
        let eve = first(info, &format!(r#"5 {ping} "Eve""#));
        assert_eq!((eve.score, eve.ping), (Some(5), None));
        assert_eq!(eve.extra.get("ping").unwrap(), ping);
    }
    // A connecting player, and one on the other engines.
    assert_eq!(
        first(r"\gamename\FTE-Quake\protocol\3wnd", r#"5 999 "Eve""#).ping,
        Some(999)
    );
    assert_eq!(
        first(r"\version\ioq3 1.36", r#"-9999 9999 "Eve""#).score,
        Some(-9999)
    );
}

/// Unvanquished/Unvanquished, src/sgame/sg_main.cpp: `P` has the team of each slot, `B` the skill
/// of each bot or `G`; older servers write `b`.
#[test]
fn bots_of_unvanquished_are_told_by_their_slots() {
    let lines = "0 0 \"one\"\n0 40 \"two\"\n0 0 \"three\"\n";
    for slots in ["-b-b", "-5-G"] {
        let info = format!(r"\version\Unvanquished 0.52.1\B\{slots}\P\-212");
        let status = read(format!("statusResponse\n{info}\n{lines}").as_bytes());
        assert_eq!((status.player_count, status.bot_count), (Some(3), Some(2)));
        let bots: Vec<_> = status.players.iter().map(|player| player.bot).collect();
        assert_eq!(bots, [Some(true), Some(false), Some(true)]);
    }
}
