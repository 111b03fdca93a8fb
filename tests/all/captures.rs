//! Every capture and vector of every protocol, in another order, doubled, with a datagram lost, cut
//! or damaged.

use bytes::Bytes;
use queryport::{
    Answer, Detail, Limits, Protocol, ServerStatus, ToStatus, gamespy1, gamespy4, quake3, ut2004,
};

use crate::common::captures::{Case, cases, check};
use crate::common::link::Random;
use crate::common::{decoded, twist};

/// Long replies of these servers have no numbers, so their order is that of arrival.
const UNNUMBERED: [&str; 2] = ["serioussam-64", "mvdsv-two-datagrams-status"];

fn read(protocol: Protocol, packets: &[Bytes]) -> Option<Answer> {
    Answer::from_datagrams(protocol, packets, &Limits::default()).ok()
}

/// The servers whose datagrams are written in another way than they were read: the additions of
/// modifications are left out (an end mark, a word for a number, a number twice, a NUL), and a
/// record is repaired.
const WRITTEN_OTHERWISE: [&str; 5] = [
    "adminmod",
    "descent3",
    "printed-grimm-info-printed",
    "team-rows-t",
    "word",
];

/// The servers whose datagrams have problems: AdminMod cuts keys.
const WITH_PROBLEMS: [&str; 2] = ["adminmod", "printed-grimm-info-printed"];

/// Calls `test` with each case and its answer.
fn for_each_case(mut test: impl FnMut(Protocol, &Case, &Answer)) {
    for protocol in Protocol::ALL {
        for case in cases(protocol.as_str()) {
            let answer = read(protocol, &case.packets).expect("an answer");
            test(protocol, &case, &answer);
        }
    }
}

/// The case's datagrams with another one in this place.
fn with(case: &Case, place: usize, other: impl Into<Bytes>) -> Vec<Bytes> {
    let mut packets = case.packets.clone();
    packets[place] = other.into();
    packets
}

#[test]
fn captures_decode_exactly() {
    for_each_case(|_, case, answer| check(case, &decoded(answer)));
}

/// A datagram as it is written after it was read, and the number of its problems.
fn rewritten(protocol: Protocol, datagram: &[u8]) -> (Vec<u8>, usize) {
    let (mut out, limits) = (Vec::new(), Limits::default());
    let problems = match protocol {
        Protocol::GameSpy1 => {
            let response = gamespy1::Response::parse(datagram, &limits).unwrap();
            response.encode(&mut out);
            response.problems().count()
        }
        Protocol::GameSpy4 => {
            let response = gamespy4::Response::parse(datagram, &limits).unwrap();
            response.encode(&mut out);
            response.problems().count()
        }
        Protocol::Ut2004 => {
            let response = ut2004::Response::parse(datagram, &limits).unwrap();
            response.encode(&mut out).unwrap();
            response.problems().count()
        }
        _ => {
            let response = quake3::Response::parse(datagram, &limits).unwrap();
            response.encode(&mut out);
            response.problems().count()
        }
    };
    (out, problems)
}

#[test]
fn datagrams_are_written_as_they_were_read_and_have_no_problems() {
    let mut tried = 0;
    for_each_case(|protocol, case, _| {
        if UNNUMBERED.contains(&case.name.as_str()) {
            return;
        }
        let is_one_of = |names: &[&str]| names.iter().any(|name| case.name.starts_with(name));
        for packet in &case.packets {
            let (out, problems) = rewritten(protocol, packet);
            assert!(problems == 0 || is_one_of(&WITH_PROBLEMS), "{}", case.name);
            assert_eq!(rewritten(protocol, &out).0, out, "{}", case.name);
            // A capture of Quake 3 has an empty line at its end, which is not written.
            let is_equal = out == *packet || [&out[..], b"\n"].concat() == *packet;
            assert!(is_equal || is_one_of(&WRITTEN_OTHERWISE), "{}", case.name);
            tried += 1;
        }
    });
    assert!(tried > 100, "{tried}");
}

#[test]
fn order_and_copies_change_nothing() {
    let (mut random, mut tried) = (Random(7), 0);
    for_each_case(|protocol, case, answer| {
        if UNNUMBERED.contains(&case.name.as_str()) {
            return;
        }
        let expected = decoded(answer);
        for round in 0..20 {
            let mut packets = case.packets.clone();
            packets.extend_from_within(..packets.len().min(round));
            random.shuffle(&mut packets);
            let found = read(protocol, &packets).unwrap();
            assert_eq!(decoded(&found), expected, "{}", case.name);
            tried += 1;
        }
    });
    assert!(tried > 1_000, "{tried}");
}

#[test]
fn a_lost_datagram_is_noticed() {
    let mut tried = 0;
    for_each_case(|protocol, case, whole| {
        if case.packets.len() == 1 || UNNUMBERED.contains(&case.name.as_str()) {
            return;
        }
        for lost in 0..case.packets.len() {
            let mut packets = case.packets.clone();
            packets.remove(lost);
            let Some(answer) = read(protocol, &packets) else {
                continue;
            };
            let at = format!("{} without {lost}", case.name);
            assert!(!answer.completeness().is_complete(), "{at}");
            let (status, whole) = (answer.to_status(), whole.to_status());
            assert!(!status.completeness.is_complete(), "{at}");
            assert!(status.players.len() <= whole.players.len(), "{at}");
            tried += 1;
        }
    });
    assert!(tried > 50, "{tried}");
}

/// Whether the wire shows nothing of such a cut: the end of a line of Quake 3, of a value of its
/// info, of a rule or of the further fields of an info of UT2004.
fn is_invisible(protocol: Protocol, whole: &Answer, packet: &[u8], cut: &[u8]) -> bool {
    match (protocol, whole) {
        (Protocol::Quake3, Answer::Quake3(answer)) => {
            let is_at_a_line = cut.ends_with(b"\n") || packet[cut.len()..] == *b"\n";
            is_at_a_line || answer.detail() != Detail::Full
        }
        (Protocol::Ut2004, _) => packet.get(4).is_some_and(|kind| *kind < 2),
        _ => false,
    }
}

/// An answer of which a part is missing says so, and has nothing that the whole has not.
#[test]
fn a_cut_datagram_is_never_taken_for_a_whole_one() {
    let (mut incomplete, mut complete) = (0, 0);
    for_each_case(|protocol, case, whole| {
        if UNNUMBERED.contains(&case.name.as_str()) {
            return;
        }
        let status = whole.to_status();
        for (place, packet) in case.packets.iter().enumerate() {
            for cut in twist::some_cuts(packet, 50 / case.packets.len()) {
                let Some(answer) = read(protocol, &with(case, place, cut.to_vec())) else {
                    continue;
                };
                let at = format!("{}: {place} cut at {}", case.name, cut.len());
                check_cut(&answer, &status, &at);
                if !answer.completeness().is_complete() {
                    incomplete += 1;
                } else if !is_invisible(protocol, whole, packet, cut) {
                    complete += 1;
                    let found = answer.to_status();
                    assert_eq!(found.players, status.players, "{at}");
                    assert_eq!(found.teams, status.teams, "{at}");
                    assert_eq!(found.rules, status.rules, "{at}");
                }
            }
        }
    });
    println!("{incomplete} incomplete, {complete} complete");
    assert!(incomplete > 1_000, "{incomplete}");
}

/// Holds for a cut reply: one completeness, and no more players than the whole.
fn check_cut(answer: &Answer, whole: &ServerStatus, at: &str) {
    let status = answer.to_status();
    assert_eq!(status.completeness, answer.completeness(), "{at}");
    let players = status.players.len();
    assert!(players <= whole.players.len().max(1), "{at}: {players}");
}

#[test]
fn a_flipped_byte_adds_no_players_without_bound() {
    let mut tried = 0;
    for_each_case(|protocol, case, whole| {
        let status = whole.to_status();
        let players = status.players.len() + status.former_players.len();
        for (place, packet) in case.packets.iter().enumerate() {
            // A number of a row of GameSpy v4 can be at most 255, and each row after it takes a byte.
            // A changed length of UT2004 makes other players of the same bytes.
            let most = match protocol {
                Protocol::GameSpy4 => 255 + packet.len(),
                Protocol::Ut2004 => players + packet.len() / 17,
                _ => players,
            };
            let step = 1 + case.packets.len() * packet.len() / 2;
            for flipped in twist::flips(packet).step_by(step) {
                let Some(answer) = read(protocol, &with(case, place, flipped)) else {
                    continue;
                };
                let status = answer.to_status();
                assert_eq!(status.completeness, answer.completeness(), "{}", case.name);
                assert!(status.players.len() <= most, "{}: {place}", case.name);
                tried += 1;
            }
        }
    });
    assert!(tried > 500, "{tried}");
}
