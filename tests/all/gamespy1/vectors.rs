//! GameSpy v1 against recorded servers, third-party captures, and datagrams that are cut, damaged
//! or reordered.
use bytes::Bytes;
use queryport::gamespy1::Answer;
use queryport::{Limits, ToStatus};

use crate::common::captures::{Case, cases};

use crate::common::twist::cuts;

fn limits() -> Limits {
    Limits::default()
}

fn answer(packets: impl IntoIterator<Item = Bytes>) -> Option<Answer> {
    Answer::from_datagrams(packets, &limits()).ok()
}

fn decode(case: &Case) -> Answer {
    answer(case.packets.clone()).unwrap_or_else(|| panic!("{}: no reply", case.name))
}

/// qstat, node gamedig and GameQ cut or merge lines if a name contains a quote.
#[test]
fn names_with_quotes_stay_in_one_piece() {
    let packet = Bytes::from_static(
        b"\\player_0\\a\"b\\frags_0\\1\\player_1\\ x \\frags_1\\2\\queryid\\1.1\\final\\",
    );
    let status = answer([packet]).unwrap().to_status();
    let names: Vec<&[u8]> = status
        .players
        .iter()
        .map(|player| player.name.raw())
        .collect();
    assert_eq!(names, [&b"a\"b"[..], b" x "]);
}

#[test]
fn the_model_of_a_single_datagram_shares_its_bytes() {
    let packet = Bytes::from_static(br"\hostname\A server with a long name\queryid\1.1\final\");
    let answer = answer([packet]).unwrap();
    let status = answer.to_status();
    assert_eq!(
        status.name.unwrap().raw().as_ptr(),
        answer.raw()[10..].as_ptr()
    );
}

/// `20.1` and `20.10` are equal as fractions.
#[test]
fn fragment_ten_is_not_fragment_one() {
    let packets = (1..=11).map(|number| {
        let end = if number == 11 { "\\final\\" } else { "" };
        Bytes::from(format!(
            "\\key{number}\\{number}\\queryid\\20.{number}{end}"
        ))
    });
    let answer = answer(packets.rev()).unwrap();
    assert!(answer.completeness().is_complete());
    assert_eq!(answer.pairs().count(), 11);
    assert_eq!(answer.pairs().nth(9), Some((&b"key10"[..], &b"10"[..])));
}

/// A fragment after the one with the end mark: one of the two is wrong, so nothing is complete.
#[test]
fn a_reply_that_reaches_past_its_end_is_not_complete() {
    let packets = [
        &br"\a\1\queryid\7.1\final\"[..],
        br"\b\2\queryid\7.2",
        br"\c\3\queryid\7.3",
    ];
    let forward = answer(packets.map(Bytes::from_static)).unwrap();
    assert!(!forward.completeness().is_complete());
}

mod mapping {
    use super::*;
    use queryport::{Completeness, Part, ServerStatus};

    fn status(name: &str) -> ServerStatus {
        let case = cases("gamespy1")
            .into_iter()
            .find(|case| case.name == name)
            .unwrap();
        decode(&case).to_status()
    }

    #[test]
    fn unreal_rows_become_players() {
        let status = status("unreal-two-fragments");
        assert_eq!(
            (status.game_port, status.player_count),
            (Some(7777), Some(1))
        );
        let ann = &status.players[0];
        assert_eq!((ann.score, ann.ping, ann.team), (Some(-3), Some(52), None));
        assert_eq!(status.version.unwrap().plain(), "451");
    }

    #[test]
    fn unreal_227_has_the_file_name_elsewhere() {
        let status = status("unreal227");
        assert_eq!(status.map.unwrap().plain(), "DmVeRigo");
        assert_eq!(
            status.rules.get("mapname").unwrap().plain(),
            "Ve Rigo Storm"
        );
        assert_eq!(status.rules.get_all("mutator").count(), 2);
        assert_eq!(status.password, Some(false));
        assert_eq!(status.players.len(), 3);
    }

    #[test]
    fn battlefield_1942_numbers_teams_from_one_and_lists_players_who_left() {
        let status = status("bf1942-teams");
        let (players, former) = (status.players, &status.former_players);
        let team = |id| {
            status
                .teams
                .iter()
                .find(|team| team.id == id)
                .unwrap()
                .name
                .clone()
                .unwrap()
        };
        assert_eq!(team(players[0].team).plain(), "Allied");
        assert_eq!(
            players
                .iter()
                .chain(former)
                .map(|player| player.team)
                .collect::<Vec<_>>(),
            [Some(2), Some(1), Some(1)]
        );
        assert_eq!(
            status.teams.iter().map(|team| team.id).collect::<Vec<_>>(),
            [Some(1), Some(2)]
        );
        assert_eq!(
            (
                players[0].score,
                players[0].extra.get("kills").unwrap().raw()
            ),
            (Some(7), &b"2"[..])
        );
        // One is present: the row with the lowest number, in any position.
        assert_eq!((players.len(), former.len()), (1, 2));
    }

    #[test]
    fn swat_4_leaves_out_zeros_and_counts_objectives_as_rules() {
        let status = status("swat4-columns");
        let scores: Vec<_> = status.players.iter().map(|player| player.score).collect();
        assert_eq!(scores, [Some(0), Some(5)]);
        assert_eq!(status.rules.get("obj_Rescue_2").unwrap().raw(), b"1");
        assert_eq!(status.name.unwrap().plain(), "Srv");
    }

    #[test]
    fn teams_in_rows_of_their_own() {
        let with_t = status("team-rows-t");
        assert_eq!(
            with_t
                .teams
                .iter()
                .map(|team| team.score)
                .collect::<Vec<_>>(),
            [Some(3), Some(4)]
        );
        assert_eq!(with_t.players[0].team, Some(1));
        let reply = status("teams-reply");
        assert!(!reply.players.is_known());
        assert_eq!(reply.teams[1].name.as_ref().unwrap().plain(), "Blue");
        assert_eq!(reply.teams[1].extra.get("size").unwrap().raw(), b"4");
    }

    /// rust gamedig fails the query at any byte of 0x80 or more, and qstat drops or mangles it.
    #[test]
    fn windows_1252_and_utf_8_are_read() {
        assert_eq!(status("high-bytes").players[0].name.plain(), "© Jörg±");
        assert_eq!(status("gs1mod-integer").players[0].name.plain(), "Jörg™");
    }

    #[test]
    fn all_forty_players_are_listed() {
        for name in ["qr1-ut-40-status", "qr1-ut-40-small-status"] {
            let status = status(name);
            assert_eq!((status.players.len(), status.player_count), (40, Some(40)));
            assert_eq!(status.completeness, Completeness::COMPLETE);
            assert!(status.players.iter().all(|player| player.bot == Some(true)));
        }
    }

    fn seconds(time: Option<std::time::Duration>) -> Option<u64> {
        time.map(|time| time.as_secs())
    }

    fn plain(text: &Option<queryport::Text>) -> Option<String> {
        text.as_ref().map(|text| text.plain().into_owned())
    }

    /// The numbers, names and scores of teams.
    fn teams(status: &ServerStatus) -> Vec<(Option<i32>, Option<String>, Option<i64>)> {
        let teams = status.teams.iter();
        teams
            .map(|team| (team.id, plain(&team.name), team.score))
            .collect()
    }

    #[test]
    fn descent_3_ends_every_datagram_and_loses_the_pair_at_the_cut() {
        let status = status("descent3-30");
        assert_eq!((status.players.len(), status.player_count), (30, Some(30)));
        assert!(status.completeness.lacks(Part::Players));
        let cut = &status.players[15];
        assert_eq!(
            (cut.score, cut.ping, cut.team),
            (Some(43), Some(65), Some(1))
        );
        // `timelimit` is 20 if `NF_TIMER` is not set, else 0. The same applies to `fraglimit`
        // (DescentDevelopers/Descent3, gamespy.cpp).
        assert_eq!(
            (seconds(status.time_limit), status.score_limit),
            (None, None)
        );
        // The first datagram has an end mark too. The count shows that it is not the end.
        let case = cases("gamespy1")
            .into_iter()
            .find(|case| case.name == "descent3-30")
            .unwrap();
        let first = answer([case.packets[0].clone()]).unwrap();
        let missing = first.completeness();
        assert!(missing.lacks(Part::Players) && !missing.lacks(Part::End));
    }

    #[test]
    fn one_backslash_before_the_number() {
        let status = status("nolf2");
        let scores: Vec<_> = status
            .players
            .iter()
            .map(|player| (player.score, player.ping))
            .collect();
        assert_eq!(scores, [(Some(12), Some(40)), (Some(-1), Some(85))]);
        assert_eq!(
            (status.password, status.rules.get("options").unwrap().raw()),
            (Some(false), &b""[..])
        );
        assert_eq!(
            (seconds(status.time_limit), status.score_limit),
            (Some(600), Some(25))
        );
    }

    #[test]
    fn tribes_vengeance_names_its_teams() {
        let status = status("tribes-vengeance");
        let named = |name: &str| Some(name.to_owned());
        assert_eq!(
            teams(&status),
            [
                (Some(0), named("Imperial"), Some(2)),
                (Some(1), named("Phoenix"), Some(0))
            ]
        );
        let players = status.players;
        assert_eq!(
            players.iter().map(|player| player.team).collect::<Vec<_>>(),
            [Some(1), Some(0), None]
        );
        assert_eq!(
            players[2].extra.get("team").unwrap().raw(),
            b"Spectators",
            "no side, and not lost"
        );
        assert_eq!(
            (players[0].name.plain(), players[0].score),
            ("Jules".into(), None),
            "a code before the name, and no score"
        );
    }

    #[test]
    fn serious_sam_has_parts_without_numbers_and_codes_in_names() {
        let long = status("serioussam-64");
        assert_eq!((long.players.len(), long.player_count), (64, Some(64)));
        assert!(long.completeness.is_complete());
        assert_eq!(
            long.players[63].name.plain(),
            "Serious player 63 of many names"
        );
        assert_eq!(
            (plain(&long.name), plain(&long.mod_name)),
            (Some("Red Dunes ^ x".to_owned()), None)
        );
        assert_eq!(status("serioussam-2").players.len(), 2);
    }

    #[test]
    fn battlefield_1942_is_known_by_its_rows_and_says_what_it_plays() {
        let rows = status("bf1942-players");
        let team = |id| {
            rows.teams
                .iter()
                .find(|team| team.id == id)
                .unwrap()
                .name
                .clone()
                .unwrap()
        };
        assert_eq!(team(rows.players[0].team).plain(), "axis");
        let status = status("bf1942-xpack");
        assert_eq!(plain(&status.mod_name).as_deref(), Some("xpack2"));
        let mods: Vec<_> = status
            .mutators
            .iter()
            .flatten()
            .map(|name| name.plain().into_owned())
            .collect();
        assert_eq!(mods, ["xpack1", "xpack2"]);
        assert_eq!(
            (seconds(status.time_limit), seconds(status.time_left)),
            (Some(2520), Some(1337))
        );
        assert_eq!(
            (status.dedicated, status.anti_cheat, status.password),
            (Some(true), Some(true), Some(true))
        );
        assert_eq!(
            (status.private_slots, status.max_players),
            (Some(4), Some(36))
        );
        let named = |name: &str| Some(name.to_owned());
        assert_eq!(
            teams(&status),
            [
                (Some(1), named("axis"), Some(320)),
                (Some(2), named("allied"), Some(180))
            ]
        );
    }

    #[test]
    fn bots_are_counted_where_the_reply_proves_them() {
        let counts = |name| {
            let status = status(name);
            (status.bot_count, status.player_count, status.players.len())
        };
        assert_eq!(counts("openmohaa-bots"), (Some(5), Some(7), 2));
        assert_eq!(counts("ut-bots-3"), (Some(2), Some(3), 3));
        assert_eq!(
            counts("ut-bots-1"),
            (Some(2), Some(3), 3),
            "the server counts people only"
        );
        assert_eq!(counts("qr1-ut-40-status"), (Some(40), Some(40), 40));
        assert_eq!(counts("bf1942-teams").0, None);
        assert_eq!(status("openmohaa-bots").dedicated, Some(true));
    }

    #[test]
    fn ut99_says_what_is_played() {
        let status = status("ut-bots-3");
        let mutators: Vec<_> = status
            .mutators
            .iter()
            .flatten()
            .map(|name| name.plain().into_owned())
            .collect();
        assert_eq!(mutators, ["Instagib", "Low gravity"]);
        assert_eq!(
            (status.protocol_version, status.dedicated, status.password),
            (Some(432), Some(true), Some(true))
        );
        assert_eq!(
            (seconds(status.time_limit), status.score_limit),
            (Some(900), Some(30))
        );
        assert_eq!(
            (status.time_left, status.anti_cheat, status.private_slots),
            (None, None, None)
        );
    }

    #[test]
    fn values_that_are_not_numbers_leave_their_field_unset() {
        let reply = br"\gamename\ut\timelimit\soon\fraglimit\\password\maybe\minnetver\x\remainingtime\-5\queryid\1.1\final\";
        let status = answer([Bytes::from_static(reply)]).unwrap().to_status();
        assert_eq!(
            (status.time_limit, status.time_left, status.score_limit),
            (None, None, None)
        );
        assert_eq!(
            (status.password, status.protocol_version, status.dedicated),
            (None, None, None)
        );
        assert_eq!(
            (status.mutators, status.bot_count, status.rules.len()),
            (None, None, 6)
        );
    }

    #[test]
    fn missing_fragments_are_counted() {
        let case = cases("gamespy1")
            .into_iter()
            .find(|case| case.name == "qr1-ut-40-small-status")
            .unwrap();
        let answer = answer(case.packets[3..10].iter().cloned()).unwrap();
        let missing = answer.completeness();
        assert_eq!(
            missing.missing_fragments(),
            3,
            "1, 2 and 3 are known to exist, how many follow 10 is not"
        );
        assert!(missing.lacks(Part::End));
    }

    #[test]
    fn regions_and_rows_without_a_name() {
        let answer = answer([Bytes::from_static(
            br"\location\12\md5_7\abc\player_0\x\queryid\1.1\final\",
        )])
        .unwrap();
        assert_eq!(answer.region(), Some("Central and South America"));
        let status = answer.to_status();
        assert_eq!(status.rules.get("md5_7").unwrap().raw(), b"abc");
        assert_eq!(status.players.len(), 1);
    }
}

#[test]
fn the_rest_of_a_cut_key_is_no_rule() {
    let whole = b"\\hostname\\Srv\\player_0\\Ann\\frags_0\\3\\queryid\\7.1\\final\\";
    let mut incomplete = 0;
    for cut in cuts(whole) {
        let Some(answer) = answer([Bytes::copy_from_slice(cut)]) else {
            continue;
        };
        let status = answer.to_status();
        incomplete += u32::from(!status.completeness.is_complete());
        if !status.completeness.is_complete() {
            let keys: Vec<_> = status
                .rules
                .iter()
                .map(|(key, _)| key.plain().into_owned())
                .collect();
            assert!(
                keys.iter().all(|key| key == "hostname"),
                "cut at {}: {keys:?}",
                cut.len()
            );
        }
    }
    assert!(incomplete > 30, "{incomplete}");
}
