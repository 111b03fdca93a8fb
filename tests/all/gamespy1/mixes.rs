//! Parts of several replies in one query, in every numbering. A complete answer is one reply, or a
//! mixture that no reader could tell from one.
use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use proptest::prelude::*;
use queryport::Limits;
use queryport::QueryOptions;
use queryport::gamespy1::{Answer, StatusQuery};
use queryport::session::{Conversation, OnTimeout, Remaining, Verdict};

/// How a reply is numbered and ended.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Numbering {
    Unreal,
    Qr1,
    Unreal227,
    Descent3,
    Integer,
    AdminMod,
    ExtendedAdminMod,
    SeriousSam,
}

use Numbering::*;

impl Numbering {
    /// Whether the replies have a number.
    fn has_number(self) -> bool {
        matches!(self, Unreal | Qr1 | Unreal227 | Descent3)
    }
}

type Pairs = Vec<(String, String)>;

/// The datagrams of a reply, and its pairs in a fixed order.
#[derive(Debug, Clone)]
struct Reply {
    number: u64,
    datagrams: Vec<Bytes>,
    pairs: Pairs,
}

/// A reply whose datagrams have these numbers of players; `tag` tells the moments apart.
fn reply(numbering: Numbering, number: u64, tag: u8, rows: &[usize]) -> Reply {
    let players: usize = rows.iter().sum();
    let mut parts: Vec<Pairs> = Vec::new();
    let mut player = 0;
    for (part, count) in rows.iter().enumerate() {
        let mut pairs = Pairs::new();
        let mut push = |key: &str, value: String| pairs.push((key.to_owned(), value));
        if part == 0 {
            push("gamename", "some".to_owned());
            push("hostname", format!("Server {}", tag % 2));
            push("mapname", format!("map {tag}"));
            push("numplayers", players.to_string());
        }
        for _ in 0..*count {
            push(
                &format!("player_{player}"),
                format!("player {player} of {}", tag % 3),
            );
            push(&format!("frags_{player}"), format!("{}", tag % 2));
            player += 1;
        }
        parts.push(pairs);
    }
    let text = |pairs: &Pairs| {
        pairs
            .iter()
            .map(|(key, value)| format!("\\{key}\\{value}"))
            .collect::<String>()
    };
    let last = parts.len() - 1;
    let mut datagrams: Vec<String> = parts
        .iter()
        .enumerate()
        .map(|(index, pairs)| {
            let (text, part, is_last) = (text(pairs), index + 1, index == last);
            match numbering {
                Unreal if is_last => format!(r"{text}\queryid\{number}.{part}\final\"),
                Qr1 | Unreal227 if is_last => format!(r"{text}\final\\queryid\{number}.{part}"),
                Unreal | Qr1 | Unreal227 => format!(r"{text}\queryid\{number}.{part}"),
                Descent3 => format!("{text}\\final\\queryid\\{number}.{part}\0"),
                Integer if is_last => format!(r"{text}\queryid\{part}\final\"),
                Integer => format!(r"{text}\queryid\{part}"),
                AdminMod if is_last => {
                    format!(r"\statusresponse\{index}{text}\queryid\AMv1\final\\eof\")
                }
                AdminMod => format!(r"\statusresponse\{index}{text}\eof\"),
                ExtendedAdminMod if is_last => {
                    format!(r"\statusresponse\{index}{text}\queryid\{index}\final\")
                }
                ExtendedAdminMod => format!(r"\statusresponse\{index}{text}\queryid\{index}"),
                SeriousSam if is_last => format!(r"{text}\final\\queryid\333.1"),
                SeriousSam => text,
            }
        })
        .collect();
    if numbering == Unreal227 {
        // The end mark in a datagram of its own.
        let end = datagrams.last_mut().unwrap();
        let at = end.find(r"\final\").unwrap();
        end.truncate(at);
        end.push_str(&format!(r"\queryid\{number}.{}", last + 1));
        datagrams.push(format!(r"\final\\queryid\{number}.{}", last + 2));
    }
    let mut pairs: Pairs = parts.concat();
    pairs.sort();
    Reply {
        number,
        datagrams: datagrams.into_iter().map(Bytes::from).collect(),
        pairs,
    }
}

fn rows_of(datagram: &[u8]) -> BTreeSet<Vec<u8>> {
    let tokens = datagram.split(|&byte| byte == b'\\');
    tokens
        .filter(|token| token.starts_with(b"player_"))
        .map(<[u8]>::to_vec)
        .collect()
}

/// Whether two datagrams cannot be of one reply.
fn contradict(
    numbering: Numbering,
    replies: &[Reply],
    one: (usize, usize),
    other: (usize, usize),
) -> bool {
    let datagram = |(reply, part): (usize, usize)| &replies[reply].datagrams[part];
    let is_last = |(reply, part): (usize, usize)| part + 1 == replies[reply].datagrams.len();
    if datagram(one) == datagram(other) {
        return false;
    }
    // An end mark alone may have the number of the datagram before it.
    let is_mark = |part| numbering == Unreal227 && is_last(part);
    let is_repeated = one.1 == other.1 && is_mark(one) == is_mark(other);
    let two_ends = numbering != Descent3 && is_last(one) && is_last(other);
    match numbering {
        SeriousSam => two_ends || !rows_of(datagram(one)).is_disjoint(&rows_of(datagram(other))),
        Descent3 => one.1 == other.1,
        _ => {
            two_ends
                || is_repeated
                || (is_last(one) && other.1 > one.1)
                || (is_last(other) && one.1 > other.1)
        }
    }
}

/// A complete answer is one of the replies. Otherwise nothing that arrived contradicts the parts it
/// was joined from.
fn check(
    numbering: Numbering,
    replies: &[Reply],
    arrived: &[(usize, (usize, usize))],
    answer: &Answer,
) -> Result<(), TestCaseError> {
    if !answer.completeness().is_complete() {
        return Ok(());
    }
    let owned = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let mut pairs: Pairs = answer
        .pairs()
        .map(|(key, value)| (owned(key), owned(value)))
        .collect();
    pairs.retain(|(key, _)| key != "queryid");
    pairs.sort();
    if replies.iter().any(|reply| reply.pairs == pairs) {
        return Ok(());
    }
    let mut groups: BTreeMap<u64, Vec<(usize, usize)>> = BTreeMap::new();
    for (request, datagram) in arrived {
        let group = if numbering.has_number() {
            replies[datagram.0].number
        } else {
            *request as u64
        };
        groups.entry(group).or_default().push(*datagram);
    }
    let is_excused = |parts: &Vec<(usize, usize)>| {
        let is_mixture = parts.iter().any(|part| part.0 != parts[0].0);
        let mut all = parts
            .iter()
            .flat_map(|one| parts.iter().map(move |other| (*one, *other)));
        is_mixture && !all.any(|(one, other)| contradict(numbering, replies, one, other))
    };
    let excused = groups
        .iter()
        .filter(|(number, _)| !numbering.has_number() || answer.reply_number() == Some(**number));
    let is_excused = excused.map(|(_, parts)| parts).any(is_excused);
    prop_assert!(is_excused, "complete: {:?}\nof {:?}", pairs, groups);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn complete_is_one_reply_or_nothing_contradicts(
        numbering in prop::sample::select(vec![
            Unreal, Qr1, Unreal227, Descent3, Integer, AdminMod, ExtendedAdminMod, SeriousSam,
        ]),
        states in prop::collection::vec((0..3_u64, any::<u8>(), prop::collection::vec(1..3_usize, 1..4)), 2..4),
        steps in prop::collection::vec((any::<usize>(), any::<usize>(), 0..8_u8), 1..16),
    ) {
        let replies: Vec<Reply> =
            states.iter().map(|(number, tag, rows)| reply(numbering, 20 + number / 2, *tag, rows)).collect();
        let mut query = StatusQuery::new(0, &QueryOptions::default());
        query.request(&mut Vec::new());
        let (mut arrived, mut request) = (Vec::new(), 0);
        for (reply, part, fate) in steps {
            if fate == 0 {
                match query.timeout(Remaining::Retry) {
                    OnTimeout::Done(answer) => return check(numbering, &replies, &arrived, &answer),
                    _ => query.request(&mut Vec::new()),
                }
                request += 1;
            }
            let reply = reply % replies.len();
            let part = part % replies[reply].datagrams.len();
            let verdict = query.receive(&replies[reply].datagrams[part]);
            // A rejected part is not kept: a third reply to two requests.
            if !matches!(verdict, Verdict::Rejected(_)) {
                arrived.push((request, (reply, part)));
            }
            if let Verdict::Done(answer) = verdict {
                return check(numbering, &replies, &arrived, &answer);
            }
        }
        if let OnTimeout::Done(answer) = query.timeout(Remaining::Step) {
            check(numbering, &replies, &arrived, &answer)?;
        }
    }

    /// The oracle's other side: a reply that arrives whole and alone is complete. Descent 3 loses a
    /// pair of each reply of two datagrams or more.
    #[test]
    fn each_reply_alone_is_complete(
        numbering in prop::sample::select(vec![
            Unreal, Qr1, Unreal227, Descent3, Integer, AdminMod, ExtendedAdminMod, SeriousSam,
        ]),
        tag in any::<u8>(),
        rows in prop::collection::vec(1..3_usize, 1..4),
    ) {
        let reply = reply(numbering, 20, tag, &rows);
        let answer = Answer::from_datagrams(reply.datagrams.clone(), &Limits::default()).unwrap();
        let is_whole = numbering != Descent3 || rows.len() == 1;
        prop_assert_eq!(answer.completeness().is_complete(), is_whole, "{:?}", reply);
    }
}
