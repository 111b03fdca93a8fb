//! Recorded servers, and keys that are cut.
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

mod mapping {
    use super::*;
    use queryport::{Part, ServerStatus};

    fn status(name: &str) -> ServerStatus {
        let case = cases("gamespy1")
            .into_iter()
            .find(|case| case.name == name)
            .unwrap();
        decode(&case).to_status()
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
