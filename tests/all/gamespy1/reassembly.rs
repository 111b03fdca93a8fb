//! Datagrams of two replies that look like one, and players whose texts look like the end of a
//! reply.
use bytes::Bytes;
use queryport::gamespy1::{Answer, Command, StatusQuery};
use queryport::session::{Conversation, OnTimeout, Remaining, Verdict};
use queryport::{Limits, Part, QueryOptions, ToStatus};

use crate::gamespy1::conversation::Rig;
use crate::gamespy1::serving::names;

fn read(datagrams: &[&[u8]]) -> Answer {
    let datagrams = datagrams
        .iter()
        .map(|datagram| Bytes::copy_from_slice(datagram));
    Answer::from_datagrams(datagrams, &Limits::default()).unwrap()
}

fn is_complete(answer: &Answer) -> bool {
    answer.completeness().is_complete()
}

/// Every order of these.
fn orders<T: Copy>(all: &[T]) -> Vec<Vec<T>> {
    if all.is_empty() {
        return vec![Vec::new()];
    }
    let mut found = Vec::new();
    for first in 0..all.len() {
        let mut rest = all.to_vec();
        let one = rest.remove(first);
        found.extend(
            orders(&rest)
                .into_iter()
                .map(|tail| [&[one][..], &tail].concat()),
        );
    }
    found
}

/// UT99 counts its replies from 1 to 100 over all clients: a retry can have the number of the first
/// reply.
#[test]
fn a_retry_with_the_same_number_is_not_joined_with_the_first_reply() {
    let mut rig = Rig::new();
    rig.receive(br"\hostname\Srv\mapname\DM-Old\numplayers\2\player_0\Ann\frags_0\5\queryid\20.1");
    rig.pass(1200);
    assert_eq!(rig.sent, 2);
    rig.receive(br"\hostname\Srv\mapname\DM-New\numplayers\2\player_0\Cid\frags_0\0\queryid\20.1");
    rig.receive(br"\player_1\Dan\frags_1\1\queryid\20.2\final\");
    assert!(rig.outcome().is_none(), "of two replies");
    rig.pass(1800);
    assert_eq!(rig.sent, 3, "asked again");
    rig.receive(br"\hostname\Srv\mapname\DM-New\numplayers\2\player_0\Cid\frags_0\0\queryid\21.1");
    rig.receive(br"\player_1\Dan\frags_1\1\queryid\21.2\final\");
    let outcome = rig.outcome().unwrap();
    assert!(is_complete(&outcome.answer));
    assert_eq!(names(&outcome.answer), ["Cid", "Dan"]);
}

/// The rest of a reply can arrive after the retry.
#[test]
fn a_late_rest_of_the_first_reply_joins_it() {
    let mut rig = Rig::new();
    rig.receive(br"\hostname\Srv\player_0\Ann\queryid\20.1");
    rig.pass(1200);
    rig.receive(br"\player_1\Bob\queryid\20.2\final\");
    assert_eq!(names(&rig.outcome().unwrap().answer), ["Ann", "Bob"]);
}

#[test]
fn two_replies_with_one_number_are_never_complete() {
    let first = br"\hostname\Srv\player_0\Ann\queryid\20.1";
    let last = br"\player_1\Bob\queryid\20.2\final\";
    for other in [
        &br"\hostname\Srv\player_0\Cid\queryid\20.1"[..],
        br"\hostname\Srv\player_0\Ann\queryid\20.1\final\",
        br"\player_1\Dan\queryid\20.2\final\",
        br"\player_1\Bob\queryid\20.2",
        br"\player_2\Dan\queryid\20.3",
        br"\player_2\Dan\queryid\20.3\final\",
    ] {
        for order in orders(&[&first[..], last, other]) {
            assert!(
                !is_complete(&read(&order)),
                "{}",
                order.concat().escape_ascii()
            );
        }
    }
}

/// SWAT 4's GS1 mod and its AdminMods, whose replies have no number, and a request that the network
/// delivered twice.
#[test]
fn two_replies_without_numbers_to_one_request_are_never_complete() {
    for (first, other, last) in [
        (
            &br"\hostname\Srv\timeleft\60\queryid\1"[..],
            &br"\hostname\Srv\timeleft\59\queryid\1"[..],
            &br"\player_0\Ann\queryid\2\final\"[..],
        ),
        (
            br"\statusresponse\0\hostname\Srv\player_0\Ann\score_0\eof\",
            br"\statusresponse\0\hostname\Srv\player_0\Bob\score_0\eof\",
            br"\statusresponse\1\7\queryid\AMv1\final\\eof\",
        ),
        (
            br"\statusresponse\0\hostname\Srv\player_0\Ann\score_0\queryid\0",
            br"\statusresponse\0\hostname\Srv\player_0\Bob\score_0\queryid\0",
            br"\statusresponse\1\7\queryid\1\final\",
        ),
    ] {
        for order in orders(&[first, other, last]) {
            let mut rig = Rig::new();
            rig.pass(30);
            order.iter().for_each(|datagram| rig.receive(datagram));
            assert!(rig.outcome().is_none());
            rig.pass(1800);
            assert_eq!(rig.sent, 2, "asked again");
            rig.receive(last);
            rig.receive(other);
            rig.pass(30);
            let outcome = rig.outcome().unwrap();
            assert!(is_complete(&outcome.answer));
            assert_eq!(
                outcome.answer.get("timeleft"),
                if other.contains(&b'5') {
                    Some(&b"59"[..])
                } else {
                    None
                }
            );
            assert!(names(&outcome.answer) == ["Bob"] || names(&outcome.answer) == ["Ann"]);
        }
    }
}

/// SWAT 4's AdminMods cut between a key and its value.
#[test]
fn a_value_joins_its_key_in_a_reply_that_lacks_its_beginning() {
    let answer = read(&[
        br"\statusresponse\1\player_0\Ann\score_0\eof\",
        br"\statusresponse\2\7\player_1\Bob\eof\",
    ]);
    assert!(!is_complete(&answer));
    assert_eq!(answer.get("score_0"), Some(&b"7"[..]));
    // A key at the end of a part has no value if the next part is lost.
    let answer = read(&[
        br"\statusresponse\0\hostname\Srv\player_0\Ann\score_0\eof\",
        br"\statusresponse\2\player_1\Bob\eof\",
    ]);
    assert_eq!(names(&answer), ["Ann", "Bob"]);
    assert_eq!(answer.get("score_0"), None);
    // Without a key of a row, the first text is a key.
    let answer = read(&[
        br"\statusresponse\0\hostname\Srv\eof\",
        br"\statusresponse\2\mapname\Docks\gametype\VIP\eof\",
    ]);
    assert!(!is_complete(&answer));
    assert_eq!(answer.get("mapname"), Some(&b"Docks"[..]));
}

/// One of them arrived with a byte of its end changed.
#[test]
fn two_last_datagrams_that_differ_in_their_end_are_never_complete() {
    let first = br"\statusresponse\0\hostname\Srv\player_0\Ann\score_0\eof\";
    let last = br"\statusresponse\1\7\queryid\AMv1\final\\eof\";
    let mut changed = last.to_vec();
    changed[br"\statusresponse\1\7\queryid\".len()] |= 0x80;
    for order in orders(&[&first[..], last, &changed]) {
        let mut rig = Rig::new();
        rig.pass(30);
        order.iter().for_each(|datagram| rig.receive(datagram));
        assert!(rig.outcome().is_none());
        rig.pass(1800);
        assert_eq!(rig.sent, 2, "asked again");
    }
}

/// Unreal 227 without players (UdpServerQuery 1.5): the end mark has the number of the datagram
/// before it.
#[test]
fn an_end_mark_alone_can_repeat_a_number() {
    let all: [&[u8]; 3] = [
        br"\gamename\unreal\queryid\5.1",
        br"\hostname\Srv\mapname\DmDeck16\numplayers\0\queryid\5.2",
        br"\final\\queryid\5.2",
    ];
    for order in orders(&all) {
        let mut rig = Rig::new();
        order.iter().for_each(|datagram| rig.receive(datagram));
        assert!(
            is_complete(&rig.outcome().unwrap().answer),
            "{}",
            order.concat().escape_ascii()
        );
    }
}

/// Nothing binds the two parts: the session waits one round trip for one that contradicts.
#[test]
fn parts_without_a_reply_number_wait_for_a_contradiction() {
    let parts = [
        &br"\hostname\Srv\timeleft\60\queryid\1"[..],
        br"\player_0\Ann\queryid\2\final\",
    ];
    let mut rig = Rig::new();
    rig.pass(30);
    parts.iter().for_each(|part| rig.receive(part));
    assert!(rig.outcome().is_none());
    rig.pass(30);
    assert!(is_complete(&rig.outcome().unwrap().answer));
    let mut alone = Rig::new();
    alone.receive(br"\hostname\Srv\player_0\Ann\queryid\1\final\");
    assert!(
        alone.outcome().is_some(),
        "a single datagram is a whole reply"
    );
}

#[test]
fn two_ends_without_numbers_are_of_two_replies() {
    for datagrams in [
        [
            &br"\hostname\Srv\mapname\Old\numplayers\0\final\"[..],
            br"\hostname\Srv\mapname\New\numplayers\0\final\",
        ],
        [
            br"\player_0\Bob\final\\queryid\333.1",
            br"\player_0\Ann\final\\queryid\333.1",
        ],
    ] {
        for order in orders(&datagrams) {
            let answer = read(&order);
            assert!(!is_complete(&answer), "{:?}", answer);
        }
    }
}

/// Texts of players that UT99 writes as they are: a skin.
const FORGED: [&[u8]; 4] = [
    br"x\hostname\Fake\numplayers\2\queryid\9.1\a\b",
    br"x\hostname\Fake\mapname\Fake\numplayers\1\queryid\20.1\a\b",
    br"x\queryid\20.1\queryid\20.2\queryid\20.3\final\a",
    br"x\final\\queryid\20.1\a\b",
];

#[test]
fn a_number_in_a_players_text_changes_nothing() {
    for forged in FORGED {
        for number in ["20", "9"] {
            let end = |part: &str| format!("\\queryid\\{number}.{part}").into_bytes();
            let mallory = [&br"\player_1\Mallory\skin_1\"[..], forged, &end("2")].concat();
            let all = [
                [
                    &br"\hostname\Srv\mapname\DM-Old\numplayers\3\player_0\Ann"[..],
                    &end("1"),
                ]
                .concat(),
                mallory,
                [br"\player_2\Cid", &end(r"3\final\")[..]].concat(),
            ];
            let all: Vec<&[u8]> = all.iter().map(Vec::as_slice).collect();
            for order in orders(&all) {
                let answer = read(&order);
                assert!(is_complete(&answer), "{}", order.concat().escape_ascii());
                let status = answer.to_status();
                assert_eq!(
                    (status.name.unwrap(), status.map.unwrap()),
                    ("Srv".into(), "DM-Old".into())
                );
                assert_eq!(names(&answer), ["Ann", "Mallory", "Cid"]);
                for lost in &all {
                    let kept: Vec<&[u8]> =
                        order.iter().copied().filter(|part| part != lost).collect();
                    assert!(
                        !is_complete(&read(&kept)),
                        "{}",
                        kept.concat().escape_ascii()
                    );
                }
            }
        }
    }
}

/// The same in the dialects whose replies have no number.
#[test]
fn a_number_in_a_players_text_changes_nothing_without_reply_numbers() {
    for forged in FORGED {
        let mallory = [br"\player_1\Mallory\skin_1\", forged].concat();
        let cases: [[Vec<u8>; 3]; 2] = [
            [
                br"\hostname\Srv\numplayers\3\player_0\Ann\queryid\1".to_vec(),
                [&mallory, &br"\queryid\2"[..]].concat(),
                br"\player_2\Cid\queryid\3\final\".to_vec(),
            ],
            [
                br"\statusresponse\0\hostname\Srv\numplayers\3\player_0\Ann\eof\".to_vec(),
                [br"\statusresponse\1", &mallory[..], br"\eof\"].concat(),
                br"\statusresponse\2\player_2\Cid\queryid\AMv1\final\\eof\".to_vec(),
            ],
        ];
        for all in &cases {
            let all: Vec<&[u8]> = all.iter().map(Vec::as_slice).collect();
            for order in orders(&all) {
                let answer = read(&order);
                assert!(is_complete(&answer), "{}", order.concat().escape_ascii());
                assert_eq!(answer.get("hostname"), Some(&b"Srv"[..]));
                assert!(!is_complete(&read(&order[1..])));
            }
        }
    }
}

/// Descent 3 writes a mark without a value into every datagram; a player of another server can have
/// one in a text.
#[test]
fn a_mark_without_a_value_counts_only_where_every_datagram_has_one() {
    let all: [&[u8]; 3] = [
        br"\hostname\Srv\mapname\DM-Old\numplayers\1\player_0\Ann\queryid\20.1",
        br"\player_1\Mallory\face_1\x\final\queryid\20.2",
        br"\player_2\Cid\queryid\20.3\final\",
    ];
    assert!(is_complete(&read(&all)));
    for order in orders(&all[..2]) {
        let lacks_end = read(&order).completeness().lacks(Part::End);
        assert!(lacks_end, "the third is missing");
    }
}

/// Descent 3 begins a datagram where a pair does not fit, and loses that pair.
#[test]
fn a_pair_is_missing_where_descent_3_begins_a_datagram() {
    let marked = |texts: &[&str]| {
        let numbered = (1..).zip(texts);
        let datagrams: Vec<String> = numbered
            .map(|(part, text)| format!("{text}\\final\\queryid\\7.{part}\0"))
            .collect();
        let datagrams: Vec<&[u8]> = datagrams.iter().map(|text| text.as_bytes()).collect();
        read(&datagrams).completeness()
    };
    let head = r"\hostname\Srv\mapname\DM\numplayers\2";
    let (ann, bob) = (r"\player_0\Ann\frags_0\3", r"\player_1\Bob\frags_1\5");
    assert!(marked(&[&[head, ann, bob].concat()]).is_complete());
    let cases = [
        (
            [[head, ann].concat(), r"\frags_1\5".to_owned()],
            Part::Players,
        ),
        (
            [[head, ann, r"\player_1\Bob"].concat(), String::new()],
            Part::Players,
        ),
        (
            [head.to_owned(), [r"\teamplay\2", ann, bob].concat()],
            Part::Rules,
        ),
    ];
    for ([first, last], part) in cases {
        let missing = marked(&[&first, &last]).missing_parts();
        assert_eq!(missing.collect::<Vec<_>>(), [part], "{first} {last}");
    }
}

/// A part that was rejected for its size may contradict others: a forged first part and the
/// server's last one are not an answer.
#[test]
fn a_reply_with_a_datagram_over_the_limits_is_incomplete() {
    let limits = Limits::default().with_max_rules(4);
    let mut query = StatusQuery::new(7, &QueryOptions::default().with_limits(limits));
    query.request(&mut Vec::new());
    query.receive(br"\hostname\Fake\mapname\DM\numplayers\1\queryid\8.1");
    query.receive(br"\hostname\Srv\mapname\DM\a\1\b\2\c\3\numplayers\1\queryid\8.1");
    let Verdict::Done(answer) = query.receive(br"\player_0\Ann\final\\queryid\8.2") else {
        panic!()
    };
    assert!(!is_complete(&answer));
    assert_eq!(answer.datagrams().count(), 3);
}

/// The answer of a query of players and teams with room for two of each.
fn limited(commands: &[Command<'_>], datagrams: &[&[u8]]) -> Option<Answer> {
    let options = QueryOptions::default().with_limits(Limits::default().with_max_players(2));
    let mut query = StatusQuery::commands(commands, &options).unwrap();
    query.request(&mut Vec::new());
    datagrams
        .iter()
        .for_each(|datagram| drop(query.receive(datagram)));
    match query.timeout(Remaining::Nothing) {
        OnTimeout::Done(answer) => Some(answer),
        _ => None,
    }
}

#[test]
fn players_and_teams_are_bounded_over_all_datagrams() {
    let players = [
        &br"\player_0\a\player_1\b\queryid\7.1"[..],
        br"\player_2\c\player_3\d\queryid\7.2\final\",
    ];
    for order in orders(&players) {
        let answer = limited(&[Command::Players], &order).unwrap();
        assert_eq!((names(&answer).len(), is_complete(&answer)), (2, false));
    }
    let last = br"\frags_0\1\queryid\7.2\final\";
    let with_copy = limited(&[Command::Players], &[players[0], players[0], last]).unwrap();
    assert_eq!(
        (names(&with_copy).len(), is_complete(&with_copy)),
        (2, true)
    );
    let end_alone = br"\final\\queryid\7.2";
    let text_after_end = [end_alone, players[0], br"\player_2\c\queryid\7.2"];
    let answer = limited(&[Command::Players], &text_after_end).unwrap();
    assert_eq!(names(&answer).len(), 2);
    for teams in [
        &br"\teamname_0\A\teamname_1\B\teamname_2\C\queryid\7.1\final\"[..],
        br"\team_0\A\size_0\1\team_1\B\size_1\1\team_2\C\size_2\1\queryid\7.1\final\",
    ] {
        assert!(
            limited(&[Command::Teams], &[teams]).is_none(),
            "{}",
            teams.escape_ascii()
        );
    }
    let two = br"\team_0\A\size_0\1\team_1\B\size_1\1\queryid\7.1\final\";
    assert_eq!(
        limited(&[Command::Teams], &[two])
            .unwrap()
            .to_status()
            .teams
            .len(),
        2
    );
}

/// In Serious Sam's replies only the last datagram has a number, and a player's text can contain
/// the key of a name.
#[test]
fn a_name_in_a_players_text_is_no_description_of_serious_sams_server() {
    let first = br"\hostname\Srv\mapname\DM1\numplayers\2\player_0\x\queryid\9.1\frags_0\1";
    let last = br"\player_1\x\hostname\Fake\numplayers\1\frags_1\2\final\\queryid\333.1";
    for datagrams in [[&first[..], &last[..]], [last, first]] {
        let answer = read(&datagrams);
        assert_eq!(answer.to_status().name.unwrap(), "Srv");
    }
    assert!(!is_complete(&read(&[last])));
}

/// A reply of IL-2's server with this count of players and these rows.
fn il2(counted: u32, rows: &str) -> Answer {
    let text = format!(
        r"\gamename\il2sturmovik\hostname\Srv\numplayers\{counted}{rows}\final\\queryid\375.1"
    );
    read(&[text.as_bytes()])
}

/// Built by hand after a reply that KostyaEsmukov/GameQ3 quotes (gameq3/protocols/gamespy.php):
/// IL-2's server cuts its list of players, here in a name, and sends its end mark.
#[test]
fn players_are_missing_after_a_row_that_the_server_cut() {
    let rows: String = (0..32)
        .map(|row| format!(r"\player_{row}\P{row}\score_{row}\0\ping_{row}\106\team_{row}\2"))
        .collect();
    let whole = r"\player_32\Gre\score_32\7\ping_32\40\team_32\1";
    for counted in [5, 33, 40] {
        assert!(is_complete(&il2(counted, &[&rows, whole].concat())));
    }
    let last_field = whole.find(r"\team_32\").unwrap() + r"\team_32\".len();
    for cut in 1..last_field {
        let answer = il2(33, &[&rows, &whole[..cut]].concat());
        // A separator that is left at the end is a sign of a cut, too.
        let is_cut = answer.completeness().lacks(Part::Players);
        assert!(is_cut, "{}", &whole[..cut]);
        assert_eq!(answer.rules().count(), 3, "no text of the row is a rule");
    }
}

/// Of two rows, the last can be a bot's, which has fewer columns.
#[test]
fn a_shorter_row_of_two_is_cut_only_if_the_server_counts_more() {
    let rows = r"\player_0\Ann\score_0\7\ping_0\40\player_1\Bob\score_1\7";
    assert!(is_complete(&il2(2, rows)));
    assert!(il2(5, rows).completeness().lacks(Part::Players));
    // Of three rows, the last is cut if all others have another column after its last one.
    let (ann, cid) = (
        r"\player_1\Ann\score_1\7\ping_1\40",
        r"\player_2\Cid\score_2\7",
    );
    for (bob, has_ping) in [
        (r"\player_0\Bob\score_0\7", false),
        (r"\player_0\Bob\ping_0\5", true),
    ] {
        let answer = il2(3, &[bob, ann, cid].concat());
        assert_eq!(
            answer.completeness().lacks(Part::Players),
            has_ping,
            "{bob}"
        );
    }
}

/// SWAT 4's GS1 mod writes row after row, without counters of 0 (sergeii/swat-gs1,
/// GS1/Classes/Response.uc).
#[test]
fn a_server_that_leaves_out_zeros_has_cut_no_row() {
    let rows = r"\player_0\Ann\score_0\7\kills_0\7\player_1\Bob\score_1\1\kills_1\1\player_2\Cid\score_2\0";
    let reply = |game| {
        let text = format!(r"\hostname\Srv\gamevariant\{game}\numplayers\3{rows}\queryid\1\final\");
        read(&[text.as_bytes()])
    };
    assert!(is_complete(&reply("SWAT 4")));
    assert!(!is_complete(&reply("Other")));
}

/// A text that is left after all pairs belongs to a value with a backslash, or to a key that was
/// cut.
#[test]
fn a_text_after_the_last_pair_is_no_rule_and_makes_an_answer_incomplete() {
    for (end, part) in [
        (r"\AdminEMail\a\b", Part::Rules),
        (r"\player_0\Ann\player_1\Bob\fra", Part::Players),
        (r"\player_0\Ann\teamname_0\Red\teamna", Part::Teams),
    ] {
        let answer = il2(1, end);
        let missing: Vec<Part> = answer.completeness().missing_parts().collect();
        assert_eq!(missing, [part], "{end}");
        let keys = answer
            .rules()
            .map(|(key, _)| key.escape_ascii().to_string());
        assert!(keys.into_iter().all(|key| !end.ends_with(&key)), "{end}");
        assert_eq!(answer.to_status().rules.len(), answer.rules().count());
    }
}

#[test]
fn a_copy_of_a_datagram_without_a_number_adds_nothing() {
    let (first, last) = (
        &br"\hostname\Srv\player_0\Ann"[..],
        &br"\player_1\Bob\final\"[..],
    );
    let whole = read(&[first, last]);
    assert_eq!(names(&whole).len(), 2);
    assert_eq!(read(&[first, first, last]).raw(), whole.raw());
}

/// A reply of one datagram, whose `queryid` is a word.
#[test]
fn the_mark_before_a_word_ends_a_reply() {
    let reply = |end: &str| {
        let text = format!(r"\gamename\x\hostname\Srv\mapname\dm\numplayers\0{end}");
        read(&[text.as_bytes()])
    };
    assert!(is_complete(&reply(r"\final\\queryid\gs1")));
    assert!(!is_complete(&reply(r"\queryid\gs1")));
}

/// Only a form numbered from 0 cuts inside pairs.
#[test]
fn pairs_after_a_lost_datagram_numbered_from_one_are_whole() {
    let answer = read(&[
        br"\hostname\Srv\queryid\1",
        br"\mapname\player_1\queryid\3\final\",
    ]);
    assert_eq!(answer.to_status().map.unwrap().plain(), "player_1");
}
