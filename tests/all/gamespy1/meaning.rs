//! GameSpy v1: the meaning of replies that are easy to read wrong.

use std::time::Duration;

use bytes::Bytes;
use queryport::gamespy1::{Answer, Command, Request, StatusQuery, region, respond};
use queryport::model::Charset;
use queryport::session::{Conversation, OnTimeout, Remaining, Verdict};
use queryport::{
    Limits, Part, Player, QueryOptions, Rules, ServerStatus, Service, Team, Text, ToStatus,
};

use crate::common::pair::CLIENT;
use crate::common::requester;

fn read(datagrams: &[&'static [u8]]) -> ServerStatus {
    let datagrams = datagrams
        .iter()
        .map(|datagram| Bytes::from_static(datagram));
    Answer::from_datagrams(datagrams, &Limits::default())
        .unwrap()
        .to_status()
}

fn names_and_scores(status: &ServerStatus) -> Vec<(String, Option<i64>)> {
    let players = status.players.iter();
    players
        .map(|player| (player.name.plain().into_owned(), player.score))
        .collect()
}

#[test]
fn a_list_of_former_players_alone_is_a_list() {
    let status =
        read(&[br"\gamename\bfield1942\numplayers\0\player_0\A\ngsecret_0\bot\final\\queryid\1.1"]);
    assert_eq!(status.former_players.len(), 1);
    assert!(status.players.is_empty() && status.players.is_known());
}

/// GameSpy's second generation writes column after column (nitrocaster/GameSpy, qr2.c).
#[test]
fn a_backslash_in_a_name_shifts_no_scores_in_column_order() {
    let status = read(&[
        br"\hostname\S\numplayers\3\player_0\Ann\player_1\Cat\player_2\B\ob\score_0\5\score_1\6\score_2\7\ping_0\10\ping_1\20\ping_2\30\final\\queryid\1.1",
    ]);
    let expected = [("Ann", 5), ("Cat", 6), (r"B\ob", 7)];
    let expected = expected.map(|(name, score)| (name.to_owned(), Some(score)));
    assert_eq!(names_and_scores(&status), expected);
    assert!(status.completeness.is_complete());
}

/// The second byte of a character in Shift JIS can be a backslash.
#[test]
fn a_name_in_shift_jis_loses_no_map() {
    let status = read(&[
        b"\\hostname\\\x95\x5c\x8e\xa6\\gamename\\ut\\mapname\\M\\numplayers\\0\\final\\\\queryid\\1.1",
    ]);
    assert_eq!(status.name.unwrap().raw(), b"\x95\x5c\x8e\xa6");
    assert_eq!(status.map.unwrap().plain(), "M");
}

#[test]
fn a_score_in_a_lost_fragment_is_not_zero() {
    let part = br"\hostname\S\gamevariant\SWAT 4\numrounds\5\numplayers\2\player_0\Ann\score_0\7\player_1\Bob\queryid\1";
    let status = read(&[part]);
    let expected = [("Ann".to_owned(), Some(7)), ("Bob".to_owned(), None)];
    assert_eq!(names_and_scores(&status), expected);
    let status = read(&[part, br"\ping_1\20\queryid\2\final\"]);
    assert_eq!(names_and_scores(&status)[1], ("Bob".to_owned(), Some(0)));
}

/// Recorded from OpenMoHAA 0.83.0 (openmoh/openmohaa 44ce0595) with three bots and nobody else.
#[test]
fn bots_of_openmohaa_are_counted_in_every_reply() {
    let full = br"\location\1\gamever\1.12+0.83.0\gamename\mohaa\botskill\Average\minplayers\3\allowlean\0\pure\0\realism\0\sprinton\0\dedicated\1\gametype_i\1\gamemode\openplaying\maxplayers\14\numplayers\0\gametype\Free-For-All\mapname\room\hostport\12203\hostname\^1Red MoH server\rankedserver\0\fraglimit\40\timelimit\15\final\\queryid\2.1";
    let info = br"\botskill\Average\minplayers\3\allowlean\0\pure\0\realism\0\sprinton\0\dedicated\1\gametype_i\1\gamemode\openplaying\maxplayers\14\numplayers\0\gametype\Free-For-All\mapname\room\hostport\12203\hostname\^1Red MoH server\final\\queryid\4.1";
    for reply in [&full[..], info] {
        let status = read(&[reply]);
        assert_eq!((status.bot_count, status.player_count), (Some(3), Some(3)));
        assert_eq!(status.name.unwrap().plain(), "Red MoH server");
        assert_eq!(status.dedicated, Some(true));
    }
    let status = read(&[full]);
    assert_eq!(status.time_limit, Some(Duration::from_secs(900)));
    assert_eq!(status.score_limit, Some(40));
    assert_eq!(region(&status), Some("south-eastern US"));
}

fn served(status: &ServerStatus, commands: &[Command<'_>]) -> Answer {
    let service = Service::from(queryport::Protocol::GameSpy1).with_echo();
    let replies = respond(
        &Request::new(commands),
        status,
        &service,
        &requester(CLIENT),
    );
    let mut query = StatusQuery::commands(commands, &QueryOptions::default()).unwrap();
    query.request(&mut Vec::new());
    for reply in &replies {
        if let Verdict::Done(answer) = query.receive(reply) {
            return answer;
        }
    }
    panic!("no whole answer: {replies:?}");
}

#[test]
fn players_and_teams_of_one_answer_are_told_apart() {
    let mut status = ServerStatus::default();
    status.name = Some("Srv".into());
    status.map = Some("CTF-Coret".into());
    let mut ann = Player::new("Ann");
    ann.score = Some(7);
    let mut bob = Player::new("Bob");
    (bob.score, bob.team) = (Some(9), Some(1));
    let team = |id, name: &str, score| {
        let mut team = Team::default();
        (team.id, team.name, team.score) = (Some(id), Some(name.into()), Some(score));
        team
    };
    for teams in [
        vec![team(0, "Red", 3), team(1, "Blue", 4)],
        vec![team(0, "1", 3), team(1, "2", 4)],
    ] {
        for players in [
            vec![ann.clone()],
            vec![bob.clone()],
            vec![ann.clone(), bob.clone()],
        ] {
            status.teams = teams.clone();
            status.players = players.clone().into();
            for first in [Command::Players, Command::Status] {
                let answer = served(&status, &[first, Command::Teams]);
                let read = answer.to_status();
                let wanted: Vec<_> = players
                    .iter()
                    .map(|player| (player.score, player.team))
                    .collect();
                let found: Vec<_> = read
                    .players
                    .iter()
                    .map(|player| (player.score, player.team))
                    .collect();
                assert_eq!(found, wanted, "{:?}", answer.raw());
                let scores: Vec<_> = read.teams.iter().map(|team| team.score).collect();
                assert_eq!(scores, [Some(3), Some(4)]);
            }
        }
    }
}

#[test]
fn rows_without_names_are_teams_if_these_were_asked_for_alone() {
    let (teams, both) = ([Command::Teams], [Command::Players, Command::Teams]);
    let info = [Command::Info];
    for (commands, rows, players_and_teams) in [
        (&teams[..], r"\score_0\3", (0, 1)),
        (&teams, r"\player_0\Ann\size_0\3", (1, 0)),
        (&both, r"\score_0\3", (0, 0)),
        (&info, r"\score_0\3", (0, 0)),
    ] {
        let mut query = StatusQuery::commands(commands, &QueryOptions::default()).unwrap();
        query.request(&mut Vec::new());
        let reply = format!(r"\hostname\Srv{rows}\queryid\1.1\final\");
        let Verdict::Done(answer) = query.receive(reply.as_bytes()) else {
            panic!("{reply}")
        };
        let status = answer.to_status();
        let found = (status.players.len(), status.teams.len());
        assert_eq!(found, players_and_teams, "{reply}");
    }
}

#[test]
fn info_alone_has_the_versions() {
    let mut status = ServerStatus::default();
    status.game = Some("ut".into());
    status.version = Some("451".into());
    status.protocol_version = Some(432);
    status.name = Some("Srv".into());
    let info = served(&status, &[Command::Info]);
    assert_eq!(info.get("gamever"), Some(&b"451"[..]));
    assert_eq!(info.get("minnetver"), Some(&b"432"[..]));
    let both = served(&status, &[Command::Basic, Command::Info]);
    let versions = both.pairs().filter(|(key, _)| *key == b"gamever");
    assert_eq!(versions.count(), 1);
}

#[test]
fn mutators_are_separated_by_commas_and_none_is_no_name() {
    let mutators = |reply: &'static [u8]| {
        let mutators = read(&[reply]).mutators.unwrap();
        mutators.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let none = br"\gamename\ut\mutators\None\final\\queryid\1.1";
    assert_eq!(mutators(none), [""; 0]);
    let some = br"\gamename\ut\mutators\A b,C , none,,D\final\\queryid\1.1";
    assert_eq!(mutators(some), ["A b", "C", "D"]);
}

/// The status of an answer to a request for players and teams.
fn with_rows(rows: &str) -> ServerStatus {
    let commands = [Command::Players, Command::Teams];
    let mut query = StatusQuery::commands(&commands, &QueryOptions::default()).unwrap();
    query.request(&mut Vec::new());
    let reply = format!(r"\hostname\Srv{rows}\queryid\1.1\final\");
    match query.receive(reply.as_bytes()) {
        Verdict::Done(answer) => answer.to_status(),
        other => panic!("{reply}: {other:?}"),
    }
}

/// Of several fields of a row with one meaning, the first of these that can be read counts, in any
/// order and any case.
#[test]
fn fields_of_a_row_have_an_order_of_preference() {
    type Read = fn(&ServerStatus) -> Option<String>;
    let name: Read = |status| Some(status.players[0].name.to_string());
    let score: Read = |status| Some(status.players[0].score?.to_string());
    let team_name: Read = |status| Some(status.teams[0].name.as_ref()?.to_string());
    let team_score: Read = |status| Some(status.teams[0].score?.to_string());
    let player = r"\player_0\Ann";
    let team = r"\player_1\Ann\team_0\Z";
    let rows: [(&str, &[&str], Read); 4] = [
        ("", &["player_0", "playername_0"], name),
        (player, &["score_0", "frags_0", "frag_0", "kills_0"], score),
        (team, &["teamname_0", "team_t0"], team_name),
        (team, &["score_t0", "score_0", "teamscore_0"], team_score),
    ];
    for (before, fields, read) in rows {
        for (first, _) in fields.iter().enumerate() {
            let values = (0..).zip(fields).skip(first);
            let values: Vec<_> = values
                .map(|(value, field)| format!(r"\{field}\{value}"))
                .collect();
            let reversed: String = values.iter().rev().map(String::as_str).collect();
            for row in [values.concat(), reversed] {
                let row = format!("{before}{row}");
                // Only a small `t` marks a team.
                let capitals = row.to_ascii_uppercase().replace("_T0", "_t0");
                for row in [row, capitals] {
                    let found = read(&with_rows(&row));
                    assert_eq!(found, Some(first.to_string()), "{row}");
                }
            }
        }
    }
    assert_eq!(
        score(&with_rows(r"\player_0\Ann\score_0\x\kills_0\3\frags_0\1")),
        Some("1".to_owned())
    );
}

#[test]
fn a_game_whose_number_is_a_language_has_no_region() {
    let mut status = ServerStatus::default();
    status.rules = Rules::from_iter([("location", "7")]);
    status.game = Some("bfield1942".into());
    assert_eq!(region(&status), None, "a Windows language number");
}

#[test]
fn the_description_alone_is_asked_for_where_the_status_gets_no_answer() {
    let mut query = StatusQuery::new(0, &QueryOptions::default());
    let mut requests = Vec::new();
    for _ in 0..4 {
        let mut request = Vec::new();
        query.request(&mut request);
        requests.push(request);
        assert!(matches!(query.timeout(Remaining::Retry), OnTimeout::Retry));
    }
    assert_eq!(
        requests,
        [&br"\status\"[..], br"\status\", br"\info\", br"\status\"]
    );

    let mut query = StatusQuery::new(0, &QueryOptions::default());
    for _ in 0..2 {
        query.request(&mut Vec::new());
        query.timeout(Remaining::Retry);
    }
    query.request(&mut Vec::new());
    let info = br"\hostname\Srv\mapname\x\numplayers\0\queryid\7.1\final\";
    let mut asked = query.clone();
    assert!(matches!(asked.receive(info), Verdict::Next));
    asked.request(&mut Vec::new());
    let OnTimeout::Done(answer) = asked.timeout(Remaining::Retry) else {
        panic!("asked once")
    };
    let missing = answer.completeness();
    assert!(missing.lacks(Part::Players) && missing.lacks(Part::Rules));
    // A late answer to the status is whole.
    let status = br"\gamename\ut\hostname\Srv\mapname\x\numplayers\0\queryid\6.1\final\";
    let Verdict::Done(answer) = query.receive(status) else {
        panic!()
    };
    assert!(answer.completeness().is_complete());
}

/// Deus Ex writes "Unknown query: status" into its log and nothing to us (its UdpServerQuery.uc).
/// The other commands are those of UT99's script, from which it comes.
#[test]
fn a_server_that_knows_no_status_is_asked_for_its_parts() {
    let info = br"\hostname\Srv\mapname\DXMP_Area51\numplayers\1\maxplayers\8\queryid\7.1\final\";
    // Some servers give every reply the same number.
    for (number, is_copied) in [(8, true), (7, false)] {
        let parts = [
            r"\gamename\deusex\gamever\1002f\hostname\Srv\mapname\DXMP_Area51\numplayers\1\maxplayers\8",
            r"\listenserver\False\password\False\player_0\Ann\frags_0\3\ping_0\50\team_0\0",
        ];
        let mut query = StatusQuery::new(0, &QueryOptions::default());
        for _ in 0..2 {
            query.request(&mut Vec::new());
            query.timeout(Remaining::Retry);
        }
        query.request(&mut Vec::new());
        assert!(matches!(query.receive(info), Verdict::Next));
        let mut request = Vec::new();
        query.request(&mut request);
        assert_eq!(request, br"\basic\\info\\rules\\players\");
        // A copy of the description is not the answer.
        assert!(!is_copied || !matches!(query.receive(info), Verdict::Done(_)));
        let first = format!(r"{}\queryid\{number}.1", parts[0]);
        assert!(matches!(
            query.receive(first.as_bytes()),
            Verdict::Partial(_)
        ));
        let last = format!(r"{}\queryid\{number}.2\final\", parts[1]);
        let Verdict::Done(answer) = query.receive(last.as_bytes()) else {
            panic!("{number}")
        };
        assert!(answer.completeness().is_complete());
        let status = answer.to_status();
        assert_eq!((status.players.len(), status.password), (1, Some(false)));
    }
}

/// UT99's PlayerReplicationInfo.uc, line 11, and a reply in Austinb/GameQ,
/// tests/Protocols/Providers/Ut: 255 is no team. UT2004's UdpGamespyQuery.uc (Deaod/UT2004),
/// line 467, writes 0 for no team and for the red one.
#[test]
fn a_number_for_no_team_is_no_team() {
    let teams = |reply: &'static [u8]| -> Vec<Option<i32>> {
        let status = read(&[reply]);
        status.players.iter().map(|player| player.team).collect()
    };
    for (reply, expected) in [
        (
            &br"\gamename\ut\hostname\S\player_0\Ann\team_0\255\player_1\Bob\team_1\0\queryid\2.1\final\"[..],
            [None, Some(0)],
        ),
        (
            br"\hostname\S\minnetver\432\player_0\Ann\team_0\255\player_1\Bob\team_1\255\queryid\2.1\final\",
            [None, None],
        ),
        (
            br"\gamename\ut2004\hostname\S\player_0\Ann\team_0\0\player_1\Bob\team_1\0\queryid\2.1\final\",
            [None, None],
        ),
        (
            br"\gamename\ut2004\hostname\S\player_0\Ann\team_0\0\player_1\Bob\team_1\1\queryid\2.1\final\",
            [Some(0), Some(1)],
        ),
        // 255 of another game is a number as any other.
        (
            br"\gamename\mohaa\hostname\S\player_0\Ann\team_0\255\player_1\Bob\team_1\0\final\\queryid\2.1",
            [Some(255), Some(0)],
        ),
    ] {
        assert_eq!(teams(reply), expected, "{}", reply.escape_ascii());
    }
}

/// Deaod/UT2004, UnrealGame/UnrealMPGameInfo.uc, `GetNumPlayers`: players and bots, at most one less
/// than the slots. IpDrv/UdpGamespyQuery.uc, line 398: without players, the bots to come.
#[test]
fn the_bots_of_ut2004_are_counted_and_not_listed() {
    let bots = |reply: &'static [u8]| read(&[reply]).bot_count;
    for (reply, expected) in [
        (
            &br"\gamename\ut2004\hostname\S\numplayers\4\maxplayers\16\player_0\Ann\queryid\2.1\final\"[..],
            Some(3),
        ),
        (
            br"\gamename\ut2004\hostname\S\numplayers\15\maxplayers\16\player_0\Ann\queryid\2.1\final\",
            None,
        ),
        (
            br"\gamename\ut2004\hostname\S\numplayers\4\maxplayers\16\queryid\2.1\final\",
            None,
        ),
        // The end is missing, and with it perhaps players.
        (
            br"\gamename\ut2004\hostname\S\numplayers\4\maxplayers\16\player_0\Ann\queryid\2.1",
            None,
        ),
        (
            br"\gamename\ut\hostname\S\numplayers\4\maxplayers\16\player_0\Ann\queryid\2.1\final\",
            None,
        ),
    ] {
        assert_eq!(bots(reply), expected, "{}", reply.escape_ascii());
    }
}

/// Renegade's server lists no players (w3dhub/OpenW3D, GameSpy_QnR.cpp), UT2004's no bots.
#[test]
fn a_server_that_counts_players_and_lists_none_sent_no_list() {
    for (reply, is_known) in [
        (
            &br"\gamename\ccrenegade\hostname\S\numplayers\3\final\\queryid\2.1"[..],
            false,
        ),
        (
            br"\gamename\ccrenegade\hostname\S\numplayers\0\final\\queryid\2.1",
            true,
        ),
        (
            br"\gamename\ut2\hostname\S\numplayers\3\queryid\2.1\final\",
            true,
        ),
    ] {
        let mut query = StatusQuery::new(0, &QueryOptions::default());
        query.request(&mut Vec::new());
        let Verdict::Done(answer) = query.receive(reply) else {
            panic!("{}", reply.escape_ascii());
        };
        let players = answer.to_status().players;
        assert_eq!(players.is_known(), is_known, "{}", reply.escape_ascii());
        assert!(answer.completeness().is_complete());
    }
}

#[test]
fn texts_are_read_in_the_character_set_of_the_options() {
    let options = QueryOptions::default().with_charset(Charset::Utf8OrWindows1251);
    let mut query = StatusQuery::new(0, &options);
    query.request(&mut Vec::new());
    let reply = b"\\hostname\\\xd1\xe5\xf0\\gametype\\\xdf\\motd\\\xdf\\mutators\\\xdf\\player_0\\\xdf\\skin_0\\\xdf\\team_t0\\\xdf\\kills_t0\\\xdf\\final\\\\queryid\\1.1";
    let Verdict::Done(answer) = query.receive(reply) else {
        panic!("a whole reply")
    };
    let status = answer.to_status();
    let (player, team) = (&status.players[0], &status.teams[0]);
    assert_eq!(status.name.unwrap(), "Сер");
    let texts = [
        status.game_type.unwrap(),
        status.mutators.unwrap()[0].clone(),
        player.name.clone(),
        team.name.clone().unwrap(),
    ];
    assert_eq!(texts, ["Я"; 4].map(Text::from));
    for (rules, key) in [
        (&status.rules, "motd"),
        (&player.extra, "skin"),
        (&team.extra, "kills_t"),
    ] {
        assert_eq!(rules.get(key).unwrap(), "Я", "{key}");
    }
}

#[test]
fn a_row_of_neither_players_nor_teams_is_among_the_rules() {
    let reply = br"\frags_5\1\teamname_1\Red\player_0\Ann\final\\queryid\1.1";
    let status = read(&[reply]);
    let keys: Vec<_> = status
        .rules
        .iter()
        .map(|(key, _)| key.to_string())
        .collect();
    assert_eq!(keys, ["frags_5"]);
    assert_eq!((status.players.len(), status.teams.len()), (1, 1));
}

#[test]
fn the_answer_to_an_echo_alone_may_have_any_key() {
    let commands = [Command::Echo(b"hello")];
    let mut query = StatusQuery::commands(&commands, &QueryOptions::default()).unwrap();
    query.request(&mut Vec::new());
    let Verdict::Done(answer) = query.receive(br"\hello\there\final\\queryid\1.1") else {
        panic!("a whole reply")
    };
    assert_eq!(answer.echo(), Some((&b"hello"[..], &b"there"[..])));
}

/// A row without a name is among the rules.
#[test]
fn a_number_within_a_reply_is_no_rule() {
    for row in ["", r"\frags_5\3"] {
        let reply = format!(r"\hostname\Srv\queryid\1.1\player_0\Ann{row}\queryid\1.1\final\");
        let answer = Answer::from_datagrams([reply], &Limits::default()).unwrap();
        assert!(answer.rules().all(|(key, _)| key != b"queryid"));
        let rules = answer.to_status().rules;
        assert_eq!(rules.get("frags_5").is_some(), !row.is_empty());
        assert!(rules.get("queryid").is_none());
    }
    // The end of Descent 3's datagrams, cut.
    let cut = br"\hostname\Srv\mapname\DM\final\query";
    let answer = Answer::from_datagrams([cut], &Limits::default()).unwrap();
    assert_eq!(answer.rules().count(), 2);
}

#[test]
fn a_key_that_counts_bots_outweighs_their_marks() {
    let rows = r"\player_0\Ann\ngsecret_0\bot\ngsecret_0\false\player_1\Bob\ngsecret_1\bot";
    for (counts, bots) in [
        (r"\numplayers\2", Some(1)),
        (r"\numplayers\3", None),
        (r"\numplayers\2\numbots\2", Some(2)),
    ] {
        let reply = format!(r"\gamename\ut{counts}{rows}\queryid\1.1\final\");
        let answer = Answer::from_datagrams([reply], &Limits::default()).unwrap();
        let status = answer.to_status();
        assert_eq!(status.bot_count, bots, "{counts}");
        assert_eq!(status.players[0].bot, Some(false), "the last mark counts");
    }
}

#[test]
fn every_region_has_its_number() {
    let mut status = ServerStatus::default();
    status.game = Some("ut".into());
    let mut regions = Vec::new();
    for number in 0..14 {
        status.rules = Rules::from_iter([("location", number.to_string())]);
        regions.push(region(&status));
    }
    assert_eq!(
        regions,
        [
            Some("no region"),
            Some("south-eastern US"),
            Some("western US"),
            Some("midwestern US"),
            Some("north-western US, western Canada"),
            Some("north-eastern US, eastern Canada"),
            Some("United Kingdom"),
            Some("continental Europe"),
            Some("Central Asia, Middle East"),
            Some("south-east Asia, Pacific"),
            Some("Africa"),
            Some("Australia, New Zealand, Pacific"),
            Some("Central and South America"),
            None,
        ]
    );
}
