//! UT2004 against captured packets and packets made by hand.

use bytes::Bytes;
use queryport::ut2004::{Command, Request};
use queryport::{ToStatus, Verification};

use crate::common::captures::{Case, cases};
use crate::ut2004::{decode, replies};

fn case(name: &str) -> Case {
    cases("ut2004")
        .into_iter()
        .find(|case| case.name == name)
        .unwrap()
}

/// Every non-final datagram of every capture is longer than 450 bytes and its last entry begins
/// before that; the final one is not longer. Completeness rests on this.
#[test]
fn captures_are_split_as_our_server_splits() {
    let mut compared = 0;
    for case in cases("ut2004") {
        for code in [1, 2] {
            let of_type: Vec<&Bytes> = case
                .packets
                .iter()
                .filter(|packet| packet[4] == code)
                .collect();
            let Some((last, others)) = of_type.split_last() else {
                continue;
            };
            assert!(
                others.iter().all(|packet| packet.len() > 450),
                "{}",
                case.name
            );
            assert!(last.len() <= 450, "{}", case.name);
        }
        let answer = decode(case.packets.clone());
        let mut status = answer.to_status();
        // The waves of Killing Floor's info record are served as rules.
        let has_waves = answer.info().is_some_and(|info| info.waves.is_some());
        // Rows of team scores become teams, which have no rows in our server's list.
        let has_team_rows = answer.players().any(|row| row.pseudo_team().is_some());
        let has_lists = answer.rules().count() > 0 && status.players.is_known();
        if !has_lists || has_waves || has_team_rows {
            continue;
        }
        // The rules of the answer are sent as they are, without those of fields. The info record's
        // leftovers among them go back into the record.
        (status.dedicated, status.version, status.password) = (None, None, None);
        (status.score_limit, status.time_limit, status.mutators) = (None, None, None);
        for (command, types) in [
            (Command::Rules, &[1][..]),
            (Command::Players, &[2]),
            (Command::RulesAndPlayers, &[1, 2]),
        ] {
            let written = replies(&Request::new(command), &status);
            let lists: Vec<&Bytes> = case
                .packets
                .iter()
                .filter(|packet| types.contains(&packet[4]))
                .collect();
            assert_eq!(written.iter().collect::<Vec<_>>(), lists, "{}", case.name);
        }
        compared += 1;
        if answer.info().is_some() {
            let info = replies(&Request::new(Command::Info), &status);
            assert_eq!(info[0], case.packets[0], "{}: the info record", case.name);
        }
    }
    assert!(compared >= 1, "only {compared} cases with lists");
}

#[test]
fn the_model_names_what_the_records_say() {
    let answer = decode(case("hand-ut2004").packets);
    assert_eq!(answer.get("adminemail").unwrap().text(), "");
    assert_eq!(
        answer.get("MUTATOR").unwrap().text(),
        "MutA",
        "the first of its name"
    );
    assert!(answer.get("GamePassword").is_none());
    let status = answer.to_status();
    assert_eq!(status.verification, Verification::Unavailable);
    assert_eq!(status.verification, answer.verification());
    assert_eq!(status.name.as_ref().unwrap().plain(), "Test Red");
    assert_eq!(status.map.as_ref().unwrap().plain(), "DM-Rankin");
    assert_eq!(
        (status.game_port, status.player_count, status.max_players),
        (Some(7777), Some(2), Some(16))
    );
    assert_eq!(
        status.password,
        Some(false),
        "all rules are here and none is GamePassword"
    );
    let players = status.players;
    assert_eq!(
        players.iter().map(|player| player.team).collect::<Vec<_>>(),
        [Some(0), Some(1)]
    );
    assert_eq!(players[0].score, Some(-3));
    assert!(
        players[0].extra.get("StatsID").is_none(),
        "it holds the team alone"
    );
    assert_eq!(players[1].name.plain(), "Жx");
    assert_eq!(players[1].extra.get("PlayerNum").unwrap().plain(), "9");
    assert_eq!(
        players[1].extra.get("StatsID").unwrap().plain(),
        "1073741831"
    );
    assert_eq!(status.teams.len(), 2);
    let red = &status.teams[0];
    assert_eq!(
        (red.id, red.score),
        (Some(0), Some(4)),
        "from the pseudo player"
    );
    assert_eq!(red.name.as_ref().unwrap().plain(), "Red Team");
    assert_eq!(
        (status.teams[1].id, &status.teams[1].name),
        (Some(1), &None)
    );
    assert_eq!(status.rules.get("SkillLevel").unwrap().plain(), "2");
    assert_eq!(status.rules.get_all("mutator").count(), 2);

    let floor = decode(case("hand-killingfloor-info").packets).to_status();
    let rule = |key| floor.rules.get(key).unwrap().plain().into_owned();
    assert_eq!(
        (rule("CurrentWave"), rule("FinalWave"), rule("Flags")),
        ("2".into(), "10".into(), "512".into())
    );
    assert_eq!(
        floor.password,
        Some(false),
        "flags are set and the password's is not"
    );
    assert!(!floor.players.is_known());
}
