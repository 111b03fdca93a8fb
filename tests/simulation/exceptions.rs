//! Errors that a client cannot detect, as bytes. In each test, datagrams make a complete answer
//! that differs from the server's state, and the comment explains why no client could know.

use std::time::{Duration, Instant};

use queryport::lists::Quake3List;
use queryport::quake3::GetServers;
use queryport::quake3::{Password, RconMode, RconQuery};
use queryport::session::{Conversation, Machine, OnTimeout, Remaining, Session, Verdict};
use queryport::{
    Answer, Detail, Dialect, Limits, Protocol, QueryOptions, StatusQuery, Timing, ToStatus,
    Verification, ut2004,
};

use crate::client::SERVER;

/// The answer that a client makes from these datagrams, in this order.
fn answer(query: &mut impl Conversation<Answer = Answer>, datagrams: &[&[u8]]) -> Option<Answer> {
    query.request(&mut Vec::new());
    for datagram in datagrams {
        match query.receive(datagram) {
            Verdict::Done(answer) => return Some(answer),
            Verdict::Next => query.request(&mut Vec::new()),
            Verdict::Partial(_) | Verdict::Rejected(_) => {}
        }
    }
    match query.timeout(Remaining::Step) {
        OnTimeout::Done(answer) => Some(answer),
        OnTimeout::Retry | OnTimeout::Wait | OnTimeout::Next => None,
    }
}

fn query(protocol: Protocol) -> StatusQuery {
    StatusQuery::new(protocol, 0x0102_0304, &QueryOptions::default())
}

fn complete(protocol: Protocol, datagrams: &[&[u8]]) -> Answer {
    let answer = answer(&mut query(protocol), datagrams).expect("an answer");
    assert!(
        answer.completeness().is_complete(),
        "{}",
        answer.completeness()
    );
    answer
}

const QUAKE3: &[u8] =
    b"\xff\xff\xff\xffstatusResponse\n\\mapname\\q3dm17\n7 48 \"Ann\"\n5 50 \"Bob\"\n";

/// [`Exception::Changed`](crate::judge::Exception): no protocol has a checksum, and none contains
/// the length of a datagram. UDP's checksum has 16 bits.
#[test]
fn a_bit_that_changed_inside_a_value_reads_as_another_value() {
    let mut changed = QUAKE3.to_vec();
    changed[33] ^= 1;
    let name = |answer: &Answer| answer.to_status().map.unwrap().to_string();
    assert_eq!(name(&complete(Protocol::Quake3, &[QUAKE3])), "q3dm17");
    assert_eq!(name(&complete(Protocol::Quake3, &[&changed])), "q3dm16");
    let gamespy1 = |map: &str| {
        format!("\\hostname\\Srv\\mapname\\{map}\\numplayers\\0\\final\\\\queryid\\1.1")
    };
    assert_eq!(
        name(&complete(Protocol::GameSpy1, &[gamespy1("DM1").as_bytes()])),
        "DM1"
    );
    assert_eq!(
        name(&complete(Protocol::GameSpy1, &[gamespy1("DM3").as_bytes()])),
        "DM3"
    );
    let gamespy4 = |map: &str| {
        [
            b"\0\x04\x03\x02\x01splitnum\0\x80\0mapname\0",
            map.as_bytes(),
            b"\0\0\x01\0\x02\0",
        ]
        .concat()
    };
    let challenge = b"\x09\x04\x03\x02\x017\0";
    assert_eq!(
        name(&complete(
            Protocol::GameSpy4,
            &[challenge, &gamespy4("DM1")]
        )),
        "DM1"
    );
    assert_eq!(
        name(&complete(
            Protocol::GameSpy4,
            &[challenge, &gamespy4("DM3")]
        )),
        "DM3"
    );
}

/// [`Exception::Cut`](crate::judge::Exception): if a Quake 3 status is cut after a player's line,
/// it looks like one with fewer players.
#[test]
fn a_quake3_status_that_is_cut_between_two_players_is_one_with_fewer() {
    let cut = QUAKE3.len() - b"5 50 \"Bob\"\n".len();
    assert_eq!(
        complete(Protocol::Quake3, &[QUAKE3])
            .to_status()
            .players
            .len(),
        2
    );
    assert_eq!(
        complete(Protocol::Quake3, &[&QUAKE3[..cut]])
            .to_status()
            .players
            .len(),
        1
    );
}

/// [`Exception::ChangedRequest`](crate::judge::Exception): QR1 searches a request for `\basic\` and
/// `\info\`. A server with nothing to report for one of them replies as if it had received only the
/// other.
#[test]
fn a_gamespy1_reply_does_not_say_which_commands_it_answers() {
    let options = QueryOptions::default().with_detail(Detail::Short);
    let mut query = StatusQuery::new(Protocol::GameSpy1, 1, &options);
    let reply = br"\hostname\Srv\mapname\DM1\numplayers\0\maxplayers\8\final\\queryid\2.1";
    let answer = answer(&mut query, &[reply]).unwrap();
    assert!(answer.completeness().is_complete());
    assert!(
        answer.to_status().game.is_none(),
        "`gamename` is in the reply to `basic`"
    );
}

/// [`Exception::NotAsked`](crate::judge::Exception): the requests `\status\` and `79 00 00 00 00`
/// contain nothing for a reply to quote. Anybody who can forge the server's address is believed.
#[test]
fn a_forged_reply_to_a_request_without_a_challenge_is_accepted() {
    let forged = br"\hostname\forged\mapname\none\numplayers\0\final\\queryid\1.1";
    let forged = complete(Protocol::GameSpy1, &[forged]);
    assert_eq!(forged.to_status().verification, Verification::Unavailable);
    // Quake 3: old servers omit the challenge. The answer is marked as unverified.
    assert_eq!(
        complete(Protocol::Quake3, &[QUAKE3])
            .to_status()
            .verification,
        Verification::Unverified
    );
    let wrong = b"\xff\xff\xff\xffstatusResponse\n\\challenge\\another\n";
    assert!(answer(&mut query(Protocol::Quake3), &[wrong]).is_none());
    // GameSpy v4: every datagram has the id.
    let other_id = b"\0\x04\x03\x02\x02splitnum\0\x80\0mapname\0DM1\0\0\x01\0\x02\0";
    assert!(
        answer(
            &mut query(Protocol::GameSpy4),
            &[b"\x09\x04\x03\x02\x017\0", other_id]
        )
        .is_none()
    );
}

/// [`Exception::Restart`](crate::judge::Exception): `queryid` counts the replies since the server
/// started.
#[test]
fn the_first_replies_of_two_runs_have_the_same_number() {
    let (before, after) = (
        br"\hostname\Srv\mapname\DM1\queryid\1.1",
        br"\player_0\Ann\final\\queryid\1.2",
    );
    let status = complete(Protocol::GameSpy1, &[before, after]).to_status();
    assert_eq!(
        (status.map.unwrap(), status.players.len()),
        ("DM1".into(), 1)
    );
}

/// [`Exception::Restart`](crate::judge::Exception): Battlefield 2 answers requests without a
/// challenge. If one arrives twice, its id does not show which run of the server answers.
#[test]
fn both_runs_of_a_server_without_challenge_answer_a_request_that_arrived_twice() {
    let (mut query, mut request) = (query(Protocol::GameSpy4), Vec::new());
    while request.get(2) != Some(&0) {
        request.clear();
        query.request(&mut request);
        query.timeout(Remaining::Retry);
    }
    let part = |rest: &[u8]| [b"\0", &request[3..7], b"splitnum\0", rest].concat();
    let before = part(b"\x81\x01player_\0\0Ann\0Bob\0\0\0\x02\0");
    let after = part(b"\0\0mapname\0DM1\0numplayers\x001\0\0");
    assert!(matches!(query.receive(&before), Verdict::Partial(_)));
    let Verdict::Done(answer) = query.receive(&after) else {
        panic!("complete")
    };
    let status = answer.to_status();
    assert!(status.completeness.is_complete());
    assert_eq!((status.player_count, status.players.len()), (Some(1), 2));
}

/// [`Exception::NoNumber`](crate::judge::Exception): SWAT 4's GS1 mod writes `queryid` without a
/// number of the reply. The network has delivered the request twice, the map has changed in
/// between, and each reply has lost a datagram.
#[test]
fn parts_of_two_replies_without_a_reply_number_go_together() {
    let (first, second) = (
        br"\hostname\Srv\mapname\A-Bomb\queryid\1",
        br"\player_0\of the next map\queryid\2\final\",
    );
    let status = complete(Protocol::GameSpy1, &[first, second]).to_status();
    assert_eq!(
        (status.map.unwrap(), status.players.len()),
        ("A-Bomb".into(), 1)
    );
}

/// [`Exception::SameNumber`](crate::judge::Exception): UT99 numbers its replies from 1 to 100 for
/// all clients. Between a request and its retry a hundred others arrived, and each of the two
/// replies has lost a datagram.
#[test]
fn the_hundredth_reply_after_another_has_its_number() {
    let first = br"\hostname\Srv\mapname\DM-Old\numplayers\1\queryid\20.1";
    let later = br"\player_0\of the next map\queryid\20.2\final\";
    let status = complete(Protocol::GameSpy1, &[first, later]).to_status();
    assert_eq!(
        (status.map.unwrap(), status.players.len()),
        ("DM-Old".into(), 1)
    );
    // A datagram with the number of another one shows that there are two replies.
    let both = br"\hostname\Srv\mapname\DM-New\numplayers\1\queryid\20.1";
    let answer = answer(&mut query(Protocol::GameSpy1), &[first, both, later]);
    assert!(answer.is_none_or(|answer| !answer.completeness().is_complete()));
}

/// [`Exception::SameId`](crate::judge::Exception): if a request arrives twice, a GameSpy v4 server
/// that accepts a challenge twice sends two replies with one id.
#[test]
fn both_replies_to_one_challenge_have_its_id() {
    let challenge = b"\x09\x04\x03\x02\x017\0";
    let first = b"\0\x04\x03\x02\x01splitnum\0\0\0mapname\0DM-Old\0numplayers\x001\0\0";
    let later = b"\0\x04\x03\x02\x01splitnum\0\x81\x01player_\0\0of the next map\0\0\0\x02\0";
    let status = complete(Protocol::GameSpy4, &[challenge, first, later]).to_status();
    assert_eq!(
        (status.map.unwrap(), status.players.len()),
        ("DM-Old".into(), 1)
    );
    let both = b"\0\x04\x03\x02\x01splitnum\0\0\0mapname\0DM-New\0numplayers\x001\0\0";
    let answer = answer(
        &mut query(Protocol::GameSpy4),
        &[challenge, first, both, later],
    );
    assert!(answer.is_none_or(|answer| !answer.completeness().is_complete()));
}

/// [`Exception::TextAsEnd`](crate::judge::Exception): a server that cuts between pairs, and does
/// not check names, has sent this one at the end of its second datagram. The third is lost.
#[test]
fn a_name_at_the_end_of_a_datagram_reads_as_its_end() {
    let first = br"\hostname\Srv\mapname\DM1\queryid\20.1";
    let second = br"\player_0\Ann\final\\queryid\20.2";
    let third = br"\player_1\Bob\final\\queryid\20.3";
    assert_eq!(
        complete(Protocol::GameSpy1, &[first, second])
            .to_status()
            .players
            .len(),
        1
    );
    // With the third datagram in place of the second, the answer is incomplete.
    let answer = answer(&mut query(Protocol::GameSpy1), &[first, third]);
    assert!(answer.is_none_or(|answer| !answer.completeness().is_complete()));
}

/// [`Exception::LostBehindEndMark`](crate::judge::Exception): the pair `frags_1` did not fit into
/// the first datagram, so the server dropped it; `ping_1` is in the second. Without the second, the
/// first has all counted rows and an end mark.
#[test]
fn a_last_datagram_of_descent_3_is_not_missed() {
    let first = b"\\hostname\\Srv\\mapname\\Polaris\\numplayers\\2\\player_0\\Ann\\frags_0\\3\\ping_0\\40\\player_1\\Bob\
        \\final\\queryid\\271.1\0";
    let second = b"\\ping_1\\40\\final\\queryid\\271.2\0";
    let ping =
        |datagrams: &[&[u8]]| complete(Protocol::GameSpy1, datagrams).to_status().players[1].ping;
    assert_eq!(ping(&[first, second]), Some(40));
    assert_eq!(ping(&[first]), None);
}

/// [`Exception::LostInsideSection`](crate::judge::Exception): 333networks numbers the sections of
/// its text and cuts it every 512 bytes. A lost datagram without a number leaves no gap.
#[test]
fn a_datagram_from_the_middle_of_a_section_leaves_no_gap() {
    let rules: String = (10..99)
        .map(|rule| format!("\\rule{rule}\\some value"))
        .collect();
    let text = format!("\\hostname\\Srv\\queryid\\5.1{rules}\\queryid\\5.2\\final\\");
    let chunks: Vec<&[u8]> = text.as_bytes().chunks(512).collect();
    let rules = |datagrams: &[&[u8]]| {
        complete(Protocol::GameSpy1, datagrams)
            .to_status()
            .rules
            .len()
    };
    let all = rules(&chunks);
    let without: Vec<&[u8]> = [&chunks[..1], &chunks[2..]].concat();
    assert!(rules(&without) < all, "{} of {all}", rules(&without));
}

fn list(kind: u8, entries: &[(&str, &str)]) -> Vec<u8> {
    let mut out = vec![0x80, 0, 0, 0, kind];
    for text in entries.iter().flat_map(|(key, value)| [key, value]) {
        ut2004::FString::narrow(text.as_bytes())
            .encode(&mut out)
            .unwrap();
    }
    out
}

const INFO: &[u8] = b"\x80\0\0\0\0\0\0\0\0\0\x61\x1e\0\0\0\0\0\0\x04Srv\0\x03DM\0\x0cxDeathMatch\0\
    \0\0\0\0\x10\0\0\0\0\0\0\0\0\0\0\0\x022\0\0\0";

/// Queries a server that answers each request with these datagrams. The answer must be complete
/// after this many requests.
fn ut2004_answer(requests: u8, info: &[u8], lists: &[&[u8]]) -> ut2004::Answer {
    let mut query = ut2004::StatusQuery::new(0, &QueryOptions::default());
    let done = |answer: ut2004::Answer| {
        let missing = answer.completeness();
        assert!(missing.is_complete(), "{missing}");
        answer
    };
    for _ in 0..requests {
        let (mut request, mut is_next) = (Vec::new(), false);
        query.request(&mut request);
        let info = [info];
        for datagram in if request[4] == 0 { &info } else { lists } {
            match query.receive(datagram) {
                Verdict::Done(answer) => return done(answer),
                Verdict::Next => is_next = true,
                Verdict::Partial(_) | Verdict::Rejected(_) => {}
            }
        }
        if !is_next && let OnTimeout::Done(answer) = query.timeout(Remaining::Retry) {
            return done(answer);
        }
    }
    panic!("{requests} requests are enough")
}

/// Rules in three datagrams.
fn rules() -> [Vec<u8>; 3] {
    let value = "v".repeat(460);
    [
        list(1, &[("ServerMode", "dedicated"), ("x", &value)]),
        list(1, &[("y", &value)]),
        list(1, &[("Mutator", "A")]),
    ]
}

/// [`Exception::LostFromTwoReplies`](crate::judge::Exception): the datagrams of a list have no
/// numbers, and nothing ends the list. Two equal replies only show that any lost datagram was lost
/// twice. One session in 3,100 at a loss of 1.5 % in each direction.
#[test]
fn a_datagram_lost_from_two_replies_is_not_noticed() {
    let [first, middle, last] = rules();
    let count = |lists: &[&[u8]]| ut2004_answer(3, INFO, lists).rules().count();
    assert_eq!(count(&[&first, &middle, &last]), 4);
    assert_eq!(count(&[&first, &last]), 3);
}

/// [`Exception::LateReply`](crate::judge::Exception): the first reply lost the middle datagram, and
/// the second lost all. Copies from the first arrive after the second request.
#[test]
fn copies_that_arrive_after_another_request_read_as_its_reply() {
    let [first, _, last] = rules();
    let start = Instant::now();
    let query = ut2004::StatusQuery::new(0, &QueryOptions::default());
    let mut session = Session::new(query, SERVER, Timing::default(), start);
    let (mut now, mut out) = (start, Vec::new());
    loop {
        let mut code = None;
        while session.poll_transmit(now, &mut out).is_some() {
            code = std::mem::take(&mut out).get(4).copied();
        }
        if let Some(result) = session.poll_answer() {
            let answer = result.unwrap().answer;
            let missing = answer.completeness();
            assert!(missing.is_complete(), "{missing}");
            assert_eq!(answer.rules().count(), 3, "and the server has more");
            return;
        }
        now += Duration::from_millis(40);
        match code {
            Some(0) => {
                session.handle_datagram(now, SERVER, INFO);
            }
            Some(_) => {
                session.handle_datagram(now, SERVER, &first);
                session.handle_datagram(now, SERVER, &last);
            }
            None => {
                now = now.max(session.poll_timeout().unwrap());
                session.handle_timeout(now);
            }
        }
    }
}

fn players(numbers: std::ops::Range<i32>) -> Vec<u8> {
    let mut out = vec![0x80, 0, 0, 0, 2];
    for number in numbers {
        let name = ut2004::FString::narrow(b"a name of twenty-nine letters");
        let player = ut2004::PlayerRecord::new(number, name);
        player.encode(&mut out).unwrap();
    }
    out
}

/// [`Exception::Spectators`](crate::judge::Exception): in a game without teams, nothing
/// distinguishes a spectator from a player. The server counts thirteen players. The datagram with
/// ten of them is lost, and ten spectators take their places. None of 96,000 sessions at a loss of
/// 1.5 % in each direction.
#[test]
fn spectators_hide_the_loss_of_as_many_players() {
    let (spectators, lost) = (players(0x100..0x10a), players(0x200..0x20a));
    let last = players(0x300..0x303);
    assert!(spectators.len() > 450 && lost.len() > 450 && last.len() <= 450);
    let mut info = INFO.to_vec();
    let count = info.len() - 21;
    info[count] = 13;
    let rules = list(1, &[("ServerMode", "dedicated")]);
    let answer = ut2004_answer(2, &info, &[&rules, &spectators, &last]);
    assert_eq!(answer.players().count(), 13);
}

/// [`Exception::Spectators`](crate::judge::Exception): the count is zero, and the datagram with a
/// spectator is lost. One session in 96,000 at a loss of 1.5 % in each direction, where the request
/// for the players or its reply was lost twice.
#[test]
fn a_lost_spectator_is_not_missed() {
    let rules = list(1, &[("ServerMode", "dedicated")]);
    assert_eq!(ut2004_answer(2, INFO, &[&rules]).players().count(), 0);
    let spectator = players(1..2);
    let answer = ut2004_answer(3, INFO, &[&rules, &spectator]);
    assert_eq!(answer.players().count(), 1);
}

/// [`Exception::PartsOfSeveralMoments`](crate::judge::Exception): info and lists are two requests,
/// and a reply to the second contains nothing of the first.
#[test]
fn an_info_and_the_lists_of_the_next_map_go_together() {
    let rules = list(
        1,
        &[
            ("ServerMode", "dedicated"),
            ("GameStats", "of the next map"),
        ],
    );
    let status = ut2004_answer(2, INFO, &[&rules]).to_status();
    assert_eq!(status.map.unwrap(), "DM");
    assert_eq!(status.rules.get("GameStats").unwrap(), "of the next map");
}

/// [`Exception::ListOfTwoMoments`](crate::judge::Exception): the first datagram of a list is late
/// and shows one moment, the second shows the next. They share no entry that could have changed.
#[test]
fn a_part_of_a_list_that_is_older_than_the_rest_goes_with_it() {
    let value = "v".repeat(460);
    let older = list(1, &[("ServerMode", "dedicated"), ("x", &value)]);
    let newer = list(1, &[("Mutator", "of the next map")]);
    let status = ut2004_answer(3, INFO, &[&older, &newer]).to_status();
    assert_eq!(status.rules.get("ServerMode").unwrap(), "dedicated");
    assert_eq!(status.rules.get("Mutator").unwrap(), "of the next map");
}

/// Answers of the clients of QuakeWorld to these texts, each in a datagram.
fn quake_world_answer(texts: &[&str]) -> Answer {
    let options = QueryOptions::default().with_dialect(Dialect::QuakeWorld);
    let mut query = StatusQuery::new(Protocol::Quake3, 1, &options);
    let datagram = |text: &&str| [b"\xff\xff\xff\xffn", text.as_bytes(), b"\0"].concat();
    let datagrams: Vec<Vec<u8>> = texts.iter().map(datagram).collect();
    let datagrams: Vec<&[u8]> = datagrams.iter().map(Vec::as_slice).collect();
    answer(&mut query, &datagrams).expect("an answer")
}

/// A line of QuakeWorld up to the skin's colours.
fn half_line(id: u32, name: &str) -> String {
    format!("{id} 0 0 20 \"{name}\" \"base\" 13 4")
}

/// The beginning of a reply of QuakeWorld, as long as a first datagram.
fn quake_world_info(map: &str) -> String {
    format!("\\map\\{map}\\key\\{}\n", "v".repeat(1250))
}

/// [`Exception::LostBetweenLines`](crate::judge::Exception): the datagrams of a QuakeWorld reply
/// have no numbers, and those of a server that cuts between lines leave no half line. 21 of 8,192
/// sessions with all faults.
#[test]
fn a_datagram_from_the_middle_of_a_quakeworld_reply_leaves_no_gap() {
    let line = |id| half_line(id, "Ann") + "\n";
    let middle: String = (1..47).map(line).collect();
    let (first, last) = (quake_world_info("dm3"), line(47));
    let whole = quake_world_answer(&[&first, &middle, &last]);
    let without = quake_world_answer(&[&first, &last]);
    assert_eq!(whole.to_status().players.len(), 47);
    assert_eq!(without.to_status().players.len(), 1);
    assert!(without.completeness().is_complete());
    // The loss of any other datagram shows.
    let cut = half_line(47, "Ann");
    let lacks_last = quake_world_answer(&[&first, &middle]);
    let lacks_half = quake_world_answer(&[&first, &(cut + " \"red\"")]);
    assert!(!lacks_last.completeness().is_complete() && !lacks_half.completeness().is_complete());
}

/// [`Exception::LostBetweenLines`](crate::judge::Exception): a retry drops the datagrams without a
/// first one, because they can be of a reply that is older than the next one. A first datagram that
/// takes longer than the retry then joins those that follow it.
#[test]
fn a_quakeworld_datagram_that_came_before_a_retry_leaves_no_gap() {
    let options = QueryOptions::default().with_dialect(Dialect::QuakeWorld);
    let mut query = StatusQuery::new(Protocol::Quake3, 1, &options);
    let datagram = |text: &str| [b"\xff\xff\xff\xffn", text.as_bytes(), b"\0"].concat();
    let early = datagram(&(half_line(2, "Bob") + "\n"));
    query.request(&mut Vec::new());
    assert!(matches!(query.receive(&early), Verdict::Partial(_)));
    assert!(matches!(query.timeout(Remaining::Retry), OnTimeout::Retry));
    let first = datagram(&quake_world_info("dm3"));
    let last = datagram(&(half_line(3, "Eve") + "\n"));
    let answer = answer(&mut query, &[&first, &last]).expect("an answer");
    assert!(answer.completeness().is_complete());
    assert_eq!(answer.to_status().players.len(), 1);
}

/// [`Exception::PartsOfTwoReplies`](crate::judge::Exception): the network has delivered the request
/// twice, the map has changed in between, and each reply has lost a datagram.
#[test]
fn parts_of_two_quakeworld_replies_go_together() {
    let (first, later) = (
        quake_world_info("old"),
        half_line(7, "of the next map") + "\n",
    );
    let status = quake_world_answer(&[&first, &later]).to_status();
    assert!(status.completeness.is_complete());
    assert_eq!(
        (status.map.unwrap(), status.players.len()),
        ("old".into(), 1)
    );
    // A client listed in both datagrams shows that there are two replies.
    let first = first + &later;
    let later = half_line(7, "of the next map") + " \"red\"\n";
    let answer = quake_world_answer(&[&first, &later]);
    assert!(!answer.completeness().is_complete());
}

/// [`Exception::PartsOfTwoReplies`](crate::judge::Exception): the network delivers the first
/// datagram three times, once without its end. It can as well be the first one of another reply, so
/// the datagram before it is dropped.
#[test]
fn a_cut_copy_of_a_quakeworld_datagram_begins_another_reply() {
    let options = QueryOptions::default().with_dialect(Dialect::QuakeWorld);
    let mut query = StatusQuery::new(Protocol::Quake3, 1, &options);
    let datagram = |text: &str| [b"\xff\xff\xff\xffn", text.as_bytes(), b"\0"].concat();
    let first = datagram(&quake_world_info("dm3"));
    let middle = datagram(&(half_line(2, "Bob") + "\n"));
    let last = datagram(&(half_line(3, "Eve") + "\n"));
    let datagrams: [&[u8]; 5] = [&middle, &first, &first[..100], &first, &last];
    let answer = answer(&mut query, &datagrams).expect("an answer");
    assert!(answer.completeness().is_complete());
    assert_eq!(answer.to_status().players.len(), 1);
}

/// [`Exception::PartsOutOfOrder`](crate::judge::Exception): three of four datagrams end inside a
/// line, and the two in the middle arrive in the wrong order.
#[test]
fn half_lines_of_quakeworld_are_joined_as_they_come() {
    let many = |from: u32, team: &str| -> String {
        let line = |id| half_line(id, "Ann") + " \"red\"\n";
        let lines: String = (from..from + 36).map(line).collect();
        format!(" \"{team}\"\n{lines}")
    };
    let first = quake_world_info("dm3") + &half_line(1, "Ann");
    let second = many(2, "red") + &half_line(100, "Bob");
    let third = many(200, "blue") + &half_line(300, "Eve");
    let last = " \"red\"\n";
    let teams = |texts: &[&str]| {
        let status = quake_world_answer(texts).to_status();
        assert!(status.completeness.is_complete());
        let team = |id: &str| {
            let mut players = status.players.iter();
            let player = players.find(|player| player.extra.get("id").unwrap() == id);
            player.unwrap().extra.get("team").unwrap().to_string()
        };
        [team("1"), team("100")]
    };
    assert_eq!(teams(&[&first, &second, &third, last]), ["red", "blue"]);
    assert_eq!(teams(&[&first, &third, &second, last]), ["blue", "red"]);
}

/// No exception: whether another datagram follows one of QuakeWorld near 1,340 bytes, and whether a
/// Quake 2 status near 1,384 bytes lacks players, cannot be known. Both count as incomplete. None
/// of 8,192 sessions each was complete and wrong for these reasons.
#[test]
fn an_end_that_cannot_be_known_counts_as_missing() {
    let long = quake_world_answer(&[&quake_world_info("dm3")]);
    assert!(!long.completeness().is_complete());
    let options = QueryOptions::default().with_dialect(Dialect::Quake2);
    let status = |length: usize| {
        let value = "v".repeat(length - 2);
        let datagram = format!("print\n\\k\\{value}\n");
        let datagram = [b"\xff\xff\xff\xff", datagram.as_bytes()].concat();
        let mut query = StatusQuery::new(Protocol::Quake3, 1, &options);
        let answer = answer(&mut query, &[&datagram]).expect("an answer");
        answer.completeness().is_complete()
    };
    assert!(status(1200));
    assert!(!status(1380));
}

/// The list that a master sends, one element per request.
fn master_list(passes: &[&[&[u8]]]) -> queryport::ServerList {
    let mut query = Quake3List::new(&GetServers::new(68), &Limits::default())
        .unwrap()
        .with_passes(passes.len() as u8);
    for pass in passes {
        query.request(&mut Vec::new());
        pass.iter()
            .for_each(|datagram| drop(query.receive(datagram)));
        if let OnTimeout::Done(list) = query.timeout(Remaining::Retry) {
            return list;
        }
    }
    panic!("as many passes as there are")
}

/// [`Exception::LostFromEveryPass`](crate::judge::Exception) and
/// [`Exception::LatePass`](crate::judge::Exception): the datagrams of a master's list have no
/// numbers, so it is settled, but never complete. A datagram that every pass lost is missing, and a
/// late datagram counts for the pass in which it arrives.
#[test]
fn a_settled_list_lacks_what_every_pass_lost() {
    let first: &[u8] = b"\xff\xff\xff\xffgetserversResponse\\\x0b\0\0\x01\x6d\x38";
    let second: &[u8] = b"\xff\xff\xff\xffgetserversResponse\\\x0b\0\0\x02\x6d\x38\\EOT\0\0\0";
    for passes in [
        [&[first, second][..], &[first, second]],
        [&[first], &[first]],
    ] {
        let list = master_list(&passes);
        assert!(list.completeness.is_settled() && !list.completeness.is_complete());
        assert_eq!(list.servers.len(), passes[0].len());
    }
    assert!(
        !master_list(&[&[first], &[first, second]])
            .completeness
            .is_settled()
    );
}

/// [`Exception::PiecesOfConsole`](crate::judge::Exception): the pieces of an answer to rcon have
/// neither numbers nor an end. The answer shows whether it was cut, but is never called complete.
#[test]
fn pieces_of_a_console_are_joined_as_they_come() {
    let mut query = RconQuery::new(
        Password::new("secret"),
        "status",
        RconMode::Plain,
        &Limits::default(),
    )
    .unwrap();
    for piece in [
        &b"\xff\xff\xff\xffprint\n2 players\n"[..],
        b"\xff\xff\xff\xffprint\nmap: q3d",
    ] {
        query.receive(piece);
    }
    let OnTimeout::Done(Ok(answer)) = query.timeout(Remaining::Step) else {
        panic!("an answer")
    };
    assert!(!answer.is_cut);
    assert_eq!(answer.text.raw(), b"2 players\nmap: q3d");
}

/// This file has a test for each exception.
#[test]
fn every_exception_is_listed() {
    let exceptions = include_str!("judge.rs")
        .split("pub enum Exception {")
        .nth(1)
        .unwrap();
    let exceptions = exceptions.split("\n}").next().unwrap();
    let names = exceptions
        .lines()
        .map(str::trim)
        .filter(|line| !line.starts_with("//") && !line.is_empty());
    for name in names.map(|line| line.split(['(', ',']).next().unwrap()) {
        assert!(
            include_str!("exceptions.rs").contains(&format!("Exception::{name}`]")),
            "{name}"
        );
    }
}
