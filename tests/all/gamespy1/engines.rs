//! What the keys of GameSpy v1's games mean.

use bytes::Bytes;
use queryport::gamespy1::Answer;
use queryport::{Limits, ToStatus};

fn read(reply: &'static [u8]) -> Answer {
    Answer::from_datagrams([Bytes::from_static(reply)], &Limits::default()).unwrap()
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
