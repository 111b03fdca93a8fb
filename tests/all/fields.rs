//! Counts of a status that contradict each other.

use queryport::{Answer, Limits, Protocol, ServerStatus, ToStatus};

/// Counts of a reply: everyone, bots, slots, private slots.
type Counts = [Option<u32>; 4];

fn counts(status: &ServerStatus) -> Counts {
    [
        status.player_count,
        status.bot_count,
        status.max_players,
        status.private_slots,
    ]
}

/// Replies that count more bots than players, or more private slots than slots, and the rule that
/// keeps the count. Quake 2's has the keys of Kingpin's bots.
const CONTRADICTORY: &[(Protocol, &[u8], Counts, &str)] = &[
    (
        Protocol::Quake3,
        b"\xff\xff\xff\xffstatusResponse\n\\clients\\2\\bots\\10\\sv_maxclients\\16\n1 5 \"Ann\"\n2 9 \"Bob\"\n",
        [Some(2), None, Some(16), None],
        "bots",
    ),
    (
        Protocol::Quake3,
        b"\xff\xff\xff\xffprint\n\\gamename\\Botmatch\\bots\\6\\maxclients\\20\n17 59 \"Ann\"\n",
        [Some(1), None, Some(20), None],
        "bots",
    ),
    (
        Protocol::Quake3,
        b"\xff\xff\xff\xffstatusResponse\n\\sv_maxclients\\8\\sv_privateClients\\9\n",
        [Some(0), None, Some(8), None],
        "sv_privateClients",
    ),
    (
        Protocol::GameSpy1,
        b"\\hostname\\Srv\\numplayers\\1\\numbots\\3\\maxplayers\\8\\reservedslots\\9\\player_0\\Ann\\final\\\\queryid\\1.1",
        [Some(1), None, Some(8), None],
        "numbots",
    ),
    (
        Protocol::GameSpy4,
        b"\0\0\0\0\x07splitnum\0\x80\0hostname\0Srv\0numplayers\x002\0maxplayers\x008\0bf2_dedicated\x001\0bf2_reservedslots\x009\0\0\0\x01player_\0\0Ann\0Bob\0\0\0\0\x02team_t\0\0\0",
        [Some(2), None, Some(8), None],
        "bf2_reservedslots",
    ),
];

#[test]
fn a_part_greater_than_its_whole_stays_in_the_rules() {
    for (protocol, reply, expected, rule) in CONTRADICTORY {
        let answer = Answer::from_datagrams(*protocol, [*reply], &Limits::default()).unwrap();
        let status = answer.to_status();
        assert_eq!(counts(&status), *expected, "{protocol} {rule}");
        assert!(status.rules.get(rule).is_some(), "{protocol} {rule}");
    }
}
