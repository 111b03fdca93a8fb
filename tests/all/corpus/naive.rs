//! All captures, recorded vectors and transcripts, and the corpora of single datagrams, read by the
//! library and by the naive readers of `tests/kit/src/naive/`.

use std::collections::BTreeSet;

use kit::fuzz::differential;
use kit::transcript::Transcript;
use kit::{captures, exchange, files, naive, twist};

use super::inputs;

/// Recordings of servers of a protocol: a name, and the datagrams of a reply in order of arrival.
/// They are the captures, the vectors and the transcripts; for Quake 3 the recorded exchanges as
/// well.
fn recorded(protocol: &str) -> Vec<(String, Vec<Vec<u8>>)> {
    let mut recorded: Vec<(String, Vec<Vec<u8>>)> = Vec::new();
    for case in captures::cases(protocol) {
        recorded.push((
            case.name,
            case.packets.iter().map(|packet| packet.to_vec()).collect(),
        ));
    }
    let folder = kit::root().join("tests/vectors/transcripts");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let transcript = Transcript::parse(&std::fs::read_to_string(&path).unwrap()).unwrap();
        if transcript.get("protocol") == Some(protocol) {
            let replies = transcript
                .datagrams(false)
                .map(|datagram| datagram.to_vec());
            recorded.push((path.display().to_string(), replies.collect()));
        }
    }
    if protocol == "quake3" {
        let servers = |name: &String| {
            [
                exchange::from(name, "server"),
                exchange::from(name, "master"),
            ]
            .concat()
        };
        recorded.extend(
            exchange::names()
                .into_iter()
                .map(|name| (name.clone(), servers(&name))),
        );
    }
    recorded
}

/// Checks every recorded reply in its order and in reverse, without each of its datagrams, with
/// that datagram late and twice, and with it cut. At least `least` of the project's own replies are
/// complete and compared field by field.
fn captures(protocol: &str, least: usize, check: fn(&[Vec<u8>]) -> bool) {
    let mut found = Found::new(check);
    let (mut compared, recorded) = (0, recorded(protocol));
    let all = recorded.len();
    for (name, mut packets) in recorded {
        compared += usize::from(found.check(&name, &packets));
        for left_out in 0..packets.len() {
            let mut some = packets.clone();
            let one = some.remove(left_out);
            found.check(&format!("{name} without datagram {left_out}"), &some);
            some.extend([one.clone(), one.clone()]);
            found.check(
                &format!("{name}, datagram {left_out} late and twice"),
                &some,
            );
            for length in (0..one.len()).step_by(197) {
                let mut cut = packets.clone();
                cut[left_out].truncate(length);
                found.check(
                    &format!("{name}, datagram {left_out} cut to {length}"),
                    &cut,
                );
            }
        }
        packets.reverse();
        found.check(&format!("{name} in reverse"), &packets);
    }
    println!("{compared} of {all} compared");
    assert!(compared >= least, "{compared} were compared");
    found.report();
}

/// Changes of one byte in each recorded reply.
const CHANGES: usize = 120;

/// Checks every recorded reply of the project with one byte changed: at the ends of its first and its
/// last datagram, and in equal steps between. At least one in `part` is complete and compared field
/// by field.
fn changed(protocol: &str, part: usize, check: fn(&[Vec<u8>]) -> bool) {
    let mut found = Found::new(check);
    let (mut compared, mut all) = (0, 0);
    for case in captures::own_cases(protocol) {
        let packets: Vec<_> = case.packets.iter().map(|packet| packet.to_vec()).collect();
        let bytes: usize = packets.iter().map(Vec::len).sum();
        // Odd, so that all four kinds of changes are met.
        let step = (bytes * 4 / CHANGES) | 1;
        for (place, packet) in packets.iter().enumerate() {
            for (number, other) in twist::changes(packet).enumerate() {
                // Every change where the marks of a reply are; of the others, one in `step`.
                let is_outer = place == 0 || place + 1 == packets.len();
                let is_at_end = number < 8 || number + 32 > packet.len() * 4;
                if number % step != 0 && !(is_outer && is_at_end) {
                    continue;
                }
                let what = format!("{}, change {number} of datagram {place}", case.name);
                if number % 3 == 0 {
                    let both = [&packets[..], std::slice::from_ref(&other)].concat();
                    found.check(&format!("{what} after the others"), &both);
                }
                let mut changed = packets.clone();
                changed[place] = other;
                compared += usize::from(found.check(&what, &changed));
                all += 1;
            }
        }
    }
    println!("{compared} of {all} compared");
    assert!(compared * part >= all, "{compared} of {all} were compared");
    found.report();
}

/// Requires that the naive readers in these files gave all of their reasons on this thread, for
/// which a reply is incomplete or ambiguous, except these, which they did not give.
fn gave_all_reasons(readers: &[&str], except: &[&str]) {
    let given = naive::reasons();
    let mut missing = BTreeSet::new();
    let mut count = 0;
    for (name, text) in files::texts_below("tests/kit/src/naive", &["rs"]) {
        if !readers.contains(&name.as_str()) {
            continue;
        }
        let reasons = reasons_in(&text);
        count += reasons.len();
        let others = reasons
            .into_iter()
            .filter(|reason| !given.contains(&reason[..]));
        missing.extend(others);
    }
    assert!(count >= 5, "{count} reasons of {readers:?}");
    let mut except: BTreeSet<String> = except.iter().map(|reason| (*reason).to_owned()).collect();
    if std::env::var_os("QUERYPORT_CAPTURES").is_some() {
        // Other people's captures may give more reasons.
        except.retain(|reason| missing.contains(reason));
    }
    assert_eq!(missing, except);
}

/// The texts in the source of a naive reader that are the only argument of a call.
fn reasons_in(source: &str) -> Vec<String> {
    let calls = source.split('(').skip(1);
    let texts = calls.filter_map(|call| call.trim_start().strip_prefix('"')?.split_once('"'));
    let is_reason = |text: &&str| text.contains(' ') && !text.contains(['{', ':', '\\']);
    let reasons = texts.map(|(text, _)| text).filter(is_reason);
    reasons
        .filter(|text| *text != "there is one")
        .map(str::to_owned)
        .collect()
}

/// The differences between the readers.
struct Found {
    check: fn(&[Vec<u8>]) -> bool,
    differences: Vec<String>,
}

impl Found {
    fn new(check: fn(&[Vec<u8>]) -> bool) -> Self {
        Self {
            check,
            differences: Vec::new(),
        }
    }

    fn check(&mut self, what: &str, datagrams: &[Vec<u8>]) -> bool {
        let check = self.check;
        std::panic::catch_unwind(|| check(datagrams)).unwrap_or_else(|_| {
            self.differences.push(what.to_owned());
            false
        })
    }

    fn report(self) {
        assert_eq!(self.differences, Vec::<String>::new());
    }
}

/// The corpus of a target whose inputs are exchanges of a client with a server.
fn exchanges(target: &str, check: fn(&[u8])) {
    for (_, input) in inputs(target, 20) {
        check(&input);
    }
}

/// The corpora of targets whose inputs are one datagram each.
fn corpora(targets: &[&str], check: fn(&[Vec<u8>]) -> bool) {
    let mut found = Found::new(check);
    let mut read = 0;
    for target in targets {
        for (name, input) in inputs(target, 1) {
            found.check(&name, &[input]);
            read += 1;
        }
    }
    assert!(read >= 20, "only {read} inputs of {targets:?}");
    found.report();
}

fn quake3_each(datagrams: &[Vec<u8>]) -> bool {
    let compared = datagrams
        .iter()
        .filter(|datagram| differential::quake3_datagram(datagram));
    let is_each_compared = compared.count() == datagrams.len();
    // A reply of QuakeWorld can be several datagrams.
    differential::quake_world_datagrams(datagrams) || is_each_compared
}

#[test]
fn quake3() {
    captures("quake3", 21, quake3_each);
    corpora(&["quake3_response", "quake3_reply"], quake3_each);
    changed("quake3", 2, quake3_each);
    exchanges("quake3_differential", differential::quake3);
    gave_all_reasons(
        &["quake3.rs", "siblings.rs"],
        &[
            "a team, or a kind without a team",
            "a text before the infostring",
            "more fields than servers write",
            "no datagram",
            "no infostring",
            "numbers after the colours",
            "the first datagram is missing",
        ],
    );
}

#[test]
fn gamespy1() {
    captures("gamespy1", 31, differential::gamespy1_datagrams);
    corpora(&["gamespy1_response"], differential::gamespy1_datagrams);
    changed("gamespy1", 6, differential::gamespy1_datagrams);
    exchanges("gamespy1_differential", differential::gamespy1);
    gave_all_reasons(&["gamespy1.rs"], &["a mark inside the text"]);
}

#[test]
fn gamespy4() {
    captures("gamespy4", 12, differential::gamespy4_datagrams);
    corpora(&["gamespy4_response"], differential::gamespy4_datagrams);
    changed("gamespy4", 3, differential::gamespy4_datagrams);
    exchanges("gamespy4_differential", differential::gamespy4);
    gave_all_reasons(
        &["gamespy4.rs"],
        &[
            "a datagram is cut",
            "another section first",
            "as long as the longest",
            "it ends before its last field",
            "it ends before its last player",
            "more NULs than ends",
            "no data with this id",
            "no keys",
            "rows without fields",
            "something follows the teams",
            "the keys have no end",
            "the last section has no end",
            "two sections of keys",
        ],
    );
}

#[test]
fn ut2004() {
    captures("ut2004", 4, differential::ut2004_datagrams);
    corpora(&["ut2004_response"], differential::ut2004_datagrams);
    changed("ut2004", 8, differential::ut2004_datagrams);
    exchanges("ut2004_differential", differential::ut2004);
    gave_all_reasons(
        &["ut2004.rs"],
        &["an entry without its end in one of the replies"],
    );
}
