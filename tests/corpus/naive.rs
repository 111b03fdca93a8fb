//! All captures, recorded vectors and transcripts, and the corpora of single datagrams, read by the
//! library and by the naive readers of `tests/kit/src/naive/`.

use crate::common::transcript::Transcript;
use crate::common::{captures, exchange};
use crate::differential;

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
    let mut found = Found {
        check,
        differences: Vec::new(),
    };
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

/// The differences between the readers.
struct Found {
    check: fn(&[Vec<u8>]) -> bool,
    differences: Vec<String>,
}

impl Found {
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

/// The corpora of targets whose inputs are one datagram each.
fn corpora(targets: &[&str], check: fn(&[Vec<u8>]) -> bool) {
    let mut found = Found {
        check,
        differences: Vec::new(),
    };
    let mut read = 0;
    for target in targets {
        let folder = kit::root().join("fuzz/corpus").join(target);
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            found.check(
                &path.display().to_string(),
                &[std::fs::read(&path).unwrap()],
            );
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
}

#[test]
fn gamespy1() {
    captures("gamespy1", 31, differential::gamespy1_datagrams);
}

#[test]
fn gamespy1_corpora() {
    corpora(&["gamespy1_response"], differential::gamespy1_datagrams);
}

#[test]
fn gamespy4() {
    captures("gamespy4", 12, differential::gamespy4_datagrams);
    corpora(&["gamespy4_response"], differential::gamespy4_datagrams);
}

#[test]
fn ut2004() {
    captures("ut2004", 4, differential::ut2004_datagrams);
    corpora(&["ut2004_response"], differential::ut2004_datagrams);
}
