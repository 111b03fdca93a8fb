//! GameSpy v1's server writes the keys that each game's own server writes.

use bytes::Bytes;
use queryport::gamespy1::{Answer, Command, Request, respond};
use queryport::{Format, Limits, ServerStatus, Service, ToStatus};

use crate::common::pair::CLIENT;
use crate::common::requester;

/// The pairs of a reply as `key=value`, without numbers and end marks.
fn pairs(answer: &Answer) -> Vec<String> {
    let pairs = answer.pairs().map(|(key, value)| {
        let [key, value] = [key, value].map(String::from_utf8_lossy);
        format!("{key}={value}")
    });
    let is_control = |pair: &String| pair.starts_with("queryid=") || pair == "final=";
    pairs.filter(|pair| !is_control(pair)).collect()
}

fn read(reply: &'static [u8]) -> Answer {
    Answer::from_datagrams([Bytes::from_static(reply)], &Limits::default()).unwrap()
}

/// The pairs that the server writes for `\status\`.
fn written(status: &ServerStatus) -> Vec<String> {
    let request = Request::new(&[Command::Status]);
    let service = Service::new(Format::GameSpy1);
    let replies = respond(&request, status, &service, &requester(CLIENT));
    pairs(&Answer::from_datagrams(replies, &Limits::default()).unwrap())
}

/// Built from the format strings of gamespy.cpp (DescentDevelopers/Descent3, Descent3).
const DESCENT_3: &[u8] = br"\gamename\descent3\gamever\Retail 1.5.0\location\1\hostname\Srv\hostport\2092\mapname\Polaris\gametype\Anarchy\numplayers\2\maxplayers\8\gamemode\openplaying\teamplay\1\timelimit\20\fraglimit\0\cl_pxotrack\0\mouselook\1\permissable\0\brightships\0\acccollisions\1\randpowerup\0\player_0\Ann\frags_0\3\deaths_0\1\team_0\0\ping_0\40\player_1\Bob\frags_1\-1\deaths_1\2\team_1\1\ping_1\55\final\queryid\1.1";

/// Built from the format strings of GameSpy_QnR.cpp (w3dhub/OpenW3D, Code/Commando).
const RENEGADE: &[u8] = br"\gamename\ccrenegade\gamever\838\hostname\Srv\hostport\4848\mapname\C&C_Field\gametype\C&C\numplayers\3\maxplayers\40\BW\64000\CSVR\1\DED\1\DG\1\password\0\TC\1\FF\0\SC\0\final\\queryid\2.1";

/// Built from the format strings of InfoSocket.cpp (netpanzer/netpanzer,
/// src/NetPanzer/Interfaces).
const NETPANZER: &[u8] = br"gamename\netpanzer\protocol\1001\hostname\Srv\gameversion\0.9.0\mapname\Bullet Hole\mapcycle\Bullet Hole,Bunker\mapstyle\SummerDay\authentication\n\password\y\numplayers\1\maxplayers\8\gamestyle\Objective\units_per_player\25\time\3\timelimit\30\fraglimit\50\objectivelimit\7\player_0\Ann\kills_0\4\deaths_0\2\score_0\1\points_0\9\flag_0\0\flagu_0\1\final\";

/// In the order of the keys that a server was seen to send.
const NOLF_2: &[u8] = br"\hostname\Srv\gamename\nolf2\hostport\27888\gamemode\openplaying\gamever\1.0.0.4M\gametype\DeathMatch\hostip\192.0.2.7\frag_0\12\frag_1\-1\mapname\DD_02\maxplayers\16\numplayers\2\fraglimit\25\options\\password\0\timelimit\10\ping_0\40\ping_1\85\player_0\Cate\player_1\Isako\final\queryid\2.1";

#[test]
fn a_status_that_was_read_is_written_with_the_pairs_of_its_game() {
    for reply in [DESCENT_3, RENEGADE, NETPANZER, NOLF_2] {
        let answer = read(reply);
        let status = answer.to_status();
        let (mut expected, mut written) = (pairs(&answer), written(&status));
        expected.sort();
        written.sort();
        assert_eq!(written, expected, "{:?}", status.game);
    }
}

#[test]
fn sections_and_rules_of_descent_3_and_renegade_keep_their_order() {
    for reply in [DESCENT_3, RENEGADE] {
        let answer = read(reply);
        let is_described = |pair: &String| {
            let (key, _) = pair.split_once('=').unwrap();
            !key.ends_with(|c: char| c.is_ascii_digit())
        };
        let [read, written] = [pairs(&answer), written(&answer.to_status())].map(|mut pairs| {
            pairs.retain(is_described);
            pairs
        });
        assert_eq!(written, read);
    }
}

/// The fields alone, without rules, are written under the keys of the game.
#[test]
fn fields_without_rules_have_the_keys_of_their_game() {
    let cases: [(&[u8], &[&str]); 4] = [
        (
            DESCENT_3,
            &[
                "gamename=descent3",
                "gamever=Retail 1.5.0",
                "hostname=Srv",
                "hostport=2092",
                "mapname=Polaris",
                "gametype=Anarchy",
                "numplayers=2",
                "maxplayers=8",
                "gamemode=openplaying",
                "player_0=Ann",
                "frags_0=3",
                "ping_0=40",
                "team_0=0",
                "deaths_0=1",
                "player_1=Bob",
                "frags_1=-1",
                "ping_1=55",
                "team_1=1",
                "deaths_1=2",
            ],
        ),
        (
            RENEGADE,
            &[
                "gamename=ccrenegade",
                "gamever=838",
                "hostname=Srv",
                "hostport=4848",
                "mapname=C&C_Field",
                "gametype=C&C",
                "numplayers=3",
                "maxplayers=40",
                "password=0",
                "DED=1",
            ],
        ),
        (
            NETPANZER,
            &[
                "gamename=netpanzer",
                "hostname=Srv",
                "mapname=Bullet Hole",
                "numplayers=1",
                "maxplayers=8",
                "gameversion=0.9.0",
                "protocol=1001",
                "gamestyle=Objective",
                "password=y",
                "player_0=Ann",
                "score_0=1",
                "kills_0=4",
                "deaths_0=2",
                "points_0=9",
                "flag_0=0",
                "flagu_0=1",
            ],
        ),
        (
            NOLF_2,
            &[
                "gamename=nolf2",
                "gamever=1.0.0.4M",
                "hostname=Srv",
                "hostport=27888",
                "mapname=DD_02",
                "gametype=DeathMatch",
                "numplayers=2",
                "maxplayers=16",
                "gamemode=openplaying",
                "password=0",
                "timelimit=10",
                "fraglimit=25",
                "player_0=Cate",
                "frag_0=12",
                "ping_0=40",
                "player_1=Isako",
                "frag_1=-1",
                "ping_1=85",
            ],
        ),
    ];
    for (reply, expected) in cases {
        let mut status = read(reply).to_status();
        status.rules = Default::default();
        assert_eq!(written(&status), expected);
    }
}

#[test]
fn without_a_time_limit_no_time_is_left() {
    let left = |reply: &'static [u8]| {
        let left = read(reply).to_status().time_left;
        left.map(|left| left.as_secs())
    };
    let without = br"\gamename\bfield1942\gameId\bf1942\roundTime\0\roundTimeRemain\100\final\";
    let limited = br"\gamename\bfield1942\gameId\bf1942\roundTime\300\roundTimeRemain\100\final\";
    assert_eq!((left(without), left(limited)), (None, Some(100)));
}

/// Invented values under the keys of each game's server.
#[test]
fn limits_that_are_not_in_force_are_no_limits() {
    let limits = |reply: &'static [u8]| {
        let status = read(reply).to_status();
        (
            status.time_limit.map(|limit| limit.as_secs()),
            status.score_limit,
        )
    };
    // InfoSocket.cpp writes both limits for every game type, GameControlRulesDaemon.cpp checks them
    // by the type.
    for (reply, expected) in [
        (
            &br"gamename\netpanzer\gamestyle\Objective\timelimit\30\fraglimit\300\final\"[..],
            (None, None),
        ),
        (
            br"gamename\netpanzer\gamestyle\Frag Limit\timelimit\30\fraglimit\300\final\",
            (None, Some(300)),
        ),
        (
            br"gamename\netpanzer\gamestyle\Time Limit\timelimit\30\fraglimit\300\final\",
            (Some(1800), None),
        ),
        (
            br"gamename\netpanzer\gamestyle\Obj.+Frags\timelimit\30\fraglimit\300\final\",
            (None, Some(300)),
        ),
        (
            br"gamename\netpanzer\gamestyle\Frags+Time\timelimit\30\fraglimit\300\final\",
            (Some(1800), Some(300)),
        ),
        (
            br"\gamename\bcommander\timelimit\-1\fraglimit\-2\final\\queryid\2.1",
            (Some(0), Some(0)),
        ),
        (
            br"\gamename\bcommander\timelimit\15\fraglimit\10\final\\queryid\2.1",
            (Some(900), Some(10)),
        ),
    ] {
        assert_eq!(limits(reply), expected, "{}", reply.escape_ascii());
    }
}

/// NOLF/ObjectDLL/MyGameSpyMgr.cpp (jsj2008/lithtech) writes the password as it is, if there is one.
#[test]
fn a_password_itself_means_that_one_is_needed() {
    let password = |reply: &'static [u8]| read(reply).to_status().password;
    for (reply, expected) in [
        (
            &br"\gamename\nolf\Password\secret\final\\queryid\2.1"[..],
            Some(true),
        ),
        (
            br"\gamename\nolf\Password\0\final\\queryid\2.1",
            Some(false),
        ),
        (br"\gamename\nolf\Password\\final\\queryid\2.1", None),
        (br"\gamename\nolf\hostname\Srv\final\\queryid\2.1", None),
        (br"\gamename\other\Password\secret\final\\queryid\2.1", None),
    ] {
        assert_eq!(password(reply), expected, "{}", reply.escape_ascii());
    }
}
