//! GameSpy v1 for generated replies: written in any dialect, cut wherever the dialect cuts, in any
//! order.
use std::collections::BTreeSet;

use bytes::Bytes;
use proptest::prelude::*;
use queryport::gamespy1::{Answer, Command, Request};
use queryport::{Limits, Player, ServerStatus, ToStatus};

use crate::common::link::Random;
use crate::common::requester;

type Pairs = Vec<(Vec<u8>, Vec<u8>)>;

/// How a reply is numbered and cut.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Dialect {
    /// `\queryid\N.M\final\`, cut between pairs.
    Unreal,
    /// `\final\\queryid\N.M`, cut between pairs.
    Qr1,
    /// `\queryid\M\final\`, cut between pairs.
    Integer,
    /// `\statusresponse\K…\eof\`, cut between any two tokens.
    AdminMod,
    /// `\statusresponse\K…\queryid\K\final\`, cut between any two tokens.
    ExtendedAdminMod,
    /// `\queryid\gs1\final\`, in one datagram.
    Word,
    /// `\final\queryid\N.M`, here in one datagram.
    Descent3,
}

/// The dialects whose replies can be cut.
fn dialect() -> impl Strategy<Value = Dialect> {
    use Dialect::*;
    prop::sample::select(vec![Unreal, Qr1, Integer, AdminMod, ExtendedAdminMod])
}

fn any_dialect() -> impl Strategy<Value = Dialect> {
    use Dialect::*;
    prop_oneof![5 => dialect(), 2 => prop::sample::select(vec![Word, Descent3])]
}

/// Any byte but the separator.
fn value() -> impl Strategy<Value = Vec<u8>> {
    let words = ["final", "queryid", "eof", "statusresponse", "7.1", "AMv1"]
        .map(|word| word.as_bytes().to_vec());
    let byte = any::<u8>().prop_map(|b| if b == b'\\' { b'/' } else { b });
    prop_oneof![4 => prop::collection::vec(byte, 0..20), 1 => prop::sample::select(words.to_vec())]
}

fn pairs() -> impl Strategy<Value = Pairs> {
    let key = prop_oneof![
        3 => "[a-z]{1,8}",
        2 => "(player|frags|ping|team|skin)_([0-9]|[1-9][0-9])",
        1 => "teamname_[0-3]",
        1 => "score_t[0-3]",
    ];
    // `final` and `queryid` as keys belong to the trailer.
    let key = key.prop_filter("no control key", |key| {
        !["final", "queryid", "eof"].contains(&key.as_str())
    });
    let all = prop::collection::vec((key.prop_map(String::into_bytes), value()), 1..40);
    // One player with two names shows parts of two replies.
    all.prop_map(|mut pairs| {
        let mut named = BTreeSet::new();
        pairs.retain(|(key, _)| !key.starts_with(b"player_") || named.insert(key.clone()));
        // A row at the end that lacks a field of all others shows that the server cut it.
        pairs.push((b"end".to_vec(), Vec::new()));
        pairs
    })
}

/// The datagrams of a reply, cut at `cuts` (positions in tokens, modulo their number).
fn write(pairs: &Pairs, dialect: Dialect, cuts: &[usize]) -> Vec<Bytes> {
    let tokens: Vec<&[u8]> = pairs
        .iter()
        .flat_map(|(key, value)| [&key[..], &value[..]])
        .collect();
    let anywhere = matches!(dialect, Dialect::AdminMod | Dialect::ExtendedAdminMod);
    let mut ends: Vec<usize> = cuts
        .iter()
        .map(|cut| {
            if anywhere {
                cut % tokens.len()
            } else {
                cut % pairs.len() * 2
            }
        })
        .filter(|end| *end > 0)
        .collect();
    if matches!(dialect, Dialect::Word | Dialect::Descent3) {
        ends.clear();
    }
    ends.push(tokens.len());
    ends.sort_unstable();
    ends.dedup();
    let mut start = 0;
    let last = ends.len();
    let mut datagrams = Vec::new();
    for (number, end) in (1..).zip(ends) {
        let body: Vec<u8> = tokens[start..end]
            .iter()
            .flat_map(|token| [b"\\", *token].concat())
            .collect();
        start = end;
        let index = number - 1;
        let (head, tail) = match (dialect, number == last) {
            (Dialect::Unreal, false) | (Dialect::Qr1, false) => {
                (String::new(), format!("\\queryid\\77.{number}"))
            }
            (Dialect::Unreal, true) => (String::new(), format!("\\queryid\\77.{number}\\final\\")),
            (Dialect::Qr1, true) => (String::new(), format!("\\final\\\\queryid\\77.{number}")),
            (Dialect::Integer, false) => (String::new(), format!("\\queryid\\{number}")),
            (Dialect::Integer, true) => (String::new(), format!("\\queryid\\{number}\\final\\")),
            (Dialect::AdminMod, false) => {
                (format!("\\statusresponse\\{index}"), "\\eof\\".to_owned())
            }
            (Dialect::AdminMod, true) => (
                format!("\\statusresponse\\{index}"),
                "\\queryid\\AMv1\\final\\\\eof\\".to_owned(),
            ),
            (Dialect::Word, _) => (String::new(), "\\queryid\\gs1\\final\\".to_owned()),
            (Dialect::Descent3, _) => (String::new(), "\\final\\queryid\\77.1".to_owned()),
            (Dialect::ExtendedAdminMod, last) => {
                let end = if last { "\\final\\" } else { "" };
                (
                    format!("\\statusresponse\\{index}"),
                    format!("\\queryid\\{index}{end}"),
                )
            }
        };
        datagrams.push(Bytes::from(
            [head.as_bytes(), &body, tail.as_bytes()].concat(),
        ));
    }
    datagrams
}

fn shuffled(mut packets: Vec<Bytes>, seed: u64) -> Vec<Bytes> {
    let mut random = Random(seed);
    for _ in 0..random.below(4) {
        let copy = packets[random.below(packets.len() as u64) as usize].clone();
        packets.push(copy);
    }
    random.shuffle(&mut packets);
    packets
}

fn read(packets: Vec<Bytes>) -> Option<Answer> {
    Answer::from_datagrams(packets, &Limits::default()).ok()
}

fn owned(answer: &Answer) -> Pairs {
    answer
        .pairs()
        .map(|(key, value)| (key.to_vec(), value.to_vec()))
        .collect()
}

proptest! {
    /// In every dialect, with any cuts, order and copies, every pair comes back in order.
    #[test]
    fn encoded_values_are_read_back(
        pairs in pairs(),
        dialect in any_dialect(),
        cuts in prop::collection::vec(any::<usize>(), 0..12),
        seed in any::<u64>(),
    ) {
        let answer = read(shuffled(write(&pairs, dialect, &cuts), seed)).unwrap();
        prop_assert_eq!(owned(&answer), pairs);
        prop_assert!(answer.completeness().is_complete());
    }

    /// With any fragments missing, in any order, an answer is never complete, and its pairs are a
    /// part of the whole.
    #[test]
    fn a_reply_with_a_fragment_missing_is_never_complete(
        pairs in pairs(),
        dialect in dialect(),
        cuts in prop::collection::vec(any::<usize>(), 1..12),
        lost in any::<u64>(),
        seed in any::<u64>(),
    ) {
        let whole = write(&pairs, dialect, &cuts);
        let kept: Vec<Bytes> =
            (0..).zip(&whole).filter(|(place, _)| lost & (1 << place) == 0).map(|(_, part)| part.clone()).collect();
        prop_assume!(kept.len() < whole.len() && !kept.is_empty());
        let Some(answer) = read(shuffled(kept, seed)) else { return Ok(()) };
        prop_assert!(!answer.completeness().is_complete());
        prop_assert!(!answer.to_status().completeness.is_complete());
        // Where cuts fall between key and value, the first key after a gap is a guess.
        if !matches!(dialect, Dialect::AdminMod | Dialect::ExtendedAdminMod) {
            let mut known = pairs.iter();
            for pair in owned(&answer) {
                prop_assert!(known.any(|whole| *whole == pair), "invented {pair:?}");
            }
        }
    }

    /// Fragments of two replies in one stream are never merged.
    #[test]
    fn two_replies_are_kept_apart(
        first in pairs(),
        second in pairs(),
        order in any::<bool>(),
        cuts in prop::collection::vec(any::<usize>(), 0..6),
        seed in any::<u64>(),
    ) {
        let dialect = if order { Dialect::Unreal } else { Dialect::Qr1 };
        let mine = write(&first, dialect, &cuts);
        let renumbered = write(&second, dialect, &cuts).into_iter().map(|datagram| {
            let text: String = datagram.iter().map(|&byte| char::from(byte)).collect();
            let (body, number) = text.rsplit_once("\\77.").unwrap();
            Bytes::from(format!("{body}\\78.{number}").chars().map(|c| c as u8).collect::<Vec<_>>())
        });
        let mut all = vec![mine[0].clone()];
        all.extend(shuffled(mine.into_iter().chain(renumbered).collect(), seed));
        prop_assert_eq!(owned(&read(all).unwrap()), first);
    }

    #[test]
    fn requests_are_read_back(commands in prop::collection::vec((0..13_usize, "[!-\\[\\]-~][ -\\[\\]-~]{0,7}"), 1..8)) {
        let commands: Vec<Command<'_>> = commands
            .iter()
            .map(|(kind, text)| {
                let text = text.as_bytes();
                match kind {
                    0 => Command::Basic,
                    1 => Command::Info,
                    2 => Command::Rules,
                    3 => Command::Players,
                    4 => Command::Status,
                    5 => Command::Packets,
                    6 => Command::Teams,
                    7 => Command::Echo(text),
                    8 => Command::LevelProperty(text),
                    9 => Command::GameProperty(text),
                    10 => Command::PlayerProperty(text),
                    11 => Command::Secure(text),
                    _ => Command::Other { name: b"status", value: b"xserverquery" },
                }
            })
            .collect();
        let mut datagram = Vec::new();
        Request::new(&commands).encode(&mut datagram).unwrap();
        // Some values would turn it into a reply, which every server refuses.
        let text = String::from_utf8_lossy(&datagram);
        let marks = [r"\queryid\", r"\final\", r"\statusresponse\", r"\eof\"];
        prop_assume!(!marks.iter().any(|mark| text.contains(mark)));
        prop_assert!(Request::parse(&datagram).unwrap().commands().eq(commands));
    }

    #[test]
    fn what_our_server_writes_is_read_back_within_its_bounds(
        names in prop::collection::vec("[^\\\\\\p{Cc}]{0,24}", 0..40),
        rules in prop::collection::vec(("[a-z]{9,12}", "[^\\\\\\p{Cc}]{0,30}"), 0..30),
        number in any::<u64>(),
    ) {
        let mut status = ServerStatus::default();
        status.name = Some("Srv".into());
        status.players = names.iter().map(|name| Player::new(name.as_str())).collect();
        status.rules = rules.iter().map(|(key, value)| (key, value)).collect();
        let mut requester = requester("192.0.2.1:5000");
        requester.number = number;
        let request = Request::new(&[Command::Status]);
        let replies = queryport::gamespy1::respond(&request, &status, &queryport::Protocol::GameSpy1.into(), &requester);
        for reply in &replies {
            prop_assert!(reply.len() <= 1000);
            prop_assert!(Request::parse(reply).is_err(), "a reply is never a request");
        }
        let answer = read(shuffled(replies.into_iter().collect(), number)).unwrap();
        prop_assert!(answer.completeness().is_complete());
        let read = answer.to_status();
        let read_names: Vec<String> = read.players.iter().map(|p| p.name.decoded().into_owned()).collect();
        prop_assert_eq!(read_names, names);
        for (key, value) in &rules {
            let found = read.rules.get_all(key).any(|value_read| value_read.decoded() == *value);
            prop_assert!(found, "{} = {:?}", key, value);
        }
    }
}
