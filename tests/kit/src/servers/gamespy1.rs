//! Servers of GameSpy v1, with their ways to number, cut and end a reply.

use super::{Match, Pair, Person, packed, pair};

/// A kind of server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Form {
    /// UT99, UdpServerQuery 1.5.2: the reply number runs from 1 to 100 for all clients.
    Unreal,
    /// Unreal 227: one datagram for each section and player, the end mark before the number.
    Unreal227,
    /// GameSpy's QR1 SDK: cut between any two pairs.
    Qr1,
    /// Parts of 2,048 bytes without numbers (Croteam-official/Serious-Engine, GameAgent.cpp).
    SeriousSam,
    /// An end mark in every datagram; a pair that does not fit is lost (DescentDevelopers/Descent3,
    /// gamespy.cpp).
    Descent3,
    /// SWAT 4's GS1 mod (sergeii/swat-gs1): `queryid` is only the number of the datagram.
    Integer,
    /// SWAT 4's AdminMod: cut between any two tokens.
    AdminMod,
}

pub(super) fn answer(form: Form, number: u32, held: &Match, request: &[u8]) -> Vec<Vec<u8>> {
    if !request.starts_with(b"\\") {
        return Vec::new();
    }
    let cyclic = 1 + number % 100;
    let contents = contents(form, held);
    let texts: Vec<Vec<u8>> = contents.iter().map(|pairs| text(pairs)).collect();
    match form {
        Form::Unreal => ended(texts, |part, is_last| {
            let mark = if is_last { r"\final\" } else { "" };
            format!(r"\queryid\{cyclic}.{part}{mark}")
        }),
        Form::Unreal227 => ended(texts, |part, is_last| {
            let mark = if is_last { r"\final\" } else { "" };
            format!(r"{mark}\queryid\{cyclic}.{part}")
        }),
        Form::Qr1 => ended(texts, |part, is_last| {
            let mark = if is_last { r"\final\" } else { "" };
            format!(r"{mark}\queryid\{number}.{part}")
        }),
        Form::SeriousSam => ended(texts, |_, is_last| {
            let mark = if is_last {
                r"\final\\queryid\333.1"
            } else {
                ""
            };
            mark.to_owned()
        }),
        Form::Descent3 => ended(texts, |part, _| {
            format!("\\final\\queryid\\{number}.{part}\0")
        }),
        Form::Integer => ended(texts, |part, is_last| {
            let mark = if is_last { r"\final\" } else { "" };
            format!(r"\queryid\{part}{mark}")
        }),
        Form::AdminMod => admin_mod(&texts.concat()),
    }
}

fn basic(held: &Match) -> Vec<Pair> {
    vec![
        pair("gamename", "some"),
        pair("gamever", "1.32"),
        pair("hostname", &held.name),
        pair("mapname", &held.map),
        pair("gametype", "DM"),
        pair("password", "0"),
        pair("numplayers", held.players.len().to_string()),
        pair("maxplayers", held.slots.to_string()),
    ]
}

/// Every pair that is not part of a player.
pub(super) fn pairs(held: &Match) -> Vec<Pair> {
    [basic(held), held.settings()].concat()
}

/// The pairs of each datagram.
fn contents(form: Form, held: &Match) -> Vec<Vec<Pair>> {
    let (basic, rules) = (basic(held), held.settings());
    let rows = held.players.iter().enumerate();
    let rows = rows.map(|(index, person)| row(form, index, person));
    let sections = [vec![basic.clone(), rules.clone()], rows.clone().collect()].concat();
    let pairs = || sections.concat().into_iter().map(|pair| vec![pair]);
    match form {
        Form::Unreal => joined(sections, 1000),
        Form::Unreal227 => sections
            .into_iter()
            .filter(|section| !section.is_empty())
            .collect(),
        Form::Qr1 => joined(pairs(), 1349),
        Form::SeriousSam => joined(
            [vec![[basic, rules].concat()], rows.collect()].concat(),
            2048,
        ),
        Form::Descent3 => shortened(pairs()),
        Form::Integer => joined(pairs(), 480),
        Form::AdminMod => vec![sections.concat()],
    }
}

fn row(form: Form, index: usize, person: &Person) -> Vec<Pair> {
    let mut row = vec![
        pair(format!("player_{index}"), &person.name),
        pair(format!("frags_{index}"), person.score.to_string()),
        pair(format!("ping_{index}"), person.ping.to_string()),
    ];
    if matches!(form, Form::Unreal | Form::Unreal227) {
        row.push(pair(format!("team_{index}"), person.team.to_string()));
        row.push(pair(format!("mesh_{index}"), "Male Commando"));
        row.push(pair(format!("skin_{index}"), "CommandoSkins.cmdo"));
        row.push(pair(format!("face_{index}"), "None"));
        row.push(pair(format!("ngsecret_{index}"), "false"));
    }
    row
}

/// Joins groups of pairs that a server does not cut to datagrams of at most this many bytes.
fn joined(groups: impl IntoIterator<Item = Vec<Pair>>, most: usize) -> Vec<Vec<Pair>> {
    let mut datagrams: Vec<Vec<Pair>> = vec![Vec::new()];
    let mut used = 0;
    for group in groups {
        let more = length(&group);
        if used > 0 && used + more > most {
            datagrams.push(Vec::new());
            used = 0;
        }
        used += more;
        datagrams.last_mut().unwrap().extend(group);
    }
    datagrams
}

/// Begins a datagram where a pair does not fit, and loses that pair.
fn shortened(pairs: impl Iterator<Item = Vec<Pair>>) -> Vec<Vec<Pair>> {
    let mut datagrams: Vec<Vec<Pair>> = vec![Vec::new()];
    let mut used = 0;
    for pair in pairs {
        let more = length(&pair);
        if used + more + 50 >= 1401 {
            datagrams.push(Vec::new());
            used = 0;
        } else {
            used += more;
            datagrams.last_mut().unwrap().extend(pair);
        }
    }
    datagrams
}

/// The bytes of these pairs, each text after a separator.
fn length(pairs: &[Pair]) -> usize {
    pairs
        .iter()
        .map(|(key, value)| key.len() + value.len() + 2)
        .sum()
}

fn text(pairs: &[Pair]) -> Vec<u8> {
    let mut text = Vec::with_capacity(length(pairs));
    for token in pairs.iter().flat_map(|(key, value)| [key, value]) {
        text.push(b'\\');
        text.extend_from_slice(token);
    }
    text
}

/// Each datagram with its end; `end` gets its number from 1 on, and whether it is the last one.
fn ended(texts: Vec<Vec<u8>>, end: impl Fn(usize, bool) -> String) -> Vec<Vec<u8>> {
    let last = texts.len();
    let numbered = (1..).zip(texts);
    numbered
        .map(|(part, text)| [&text[..], end(part, part == last).as_bytes()].concat())
        .collect()
}

/// Cuts a text between any two tokens, and numbers the parts from 0 on.
fn admin_mod(text: &[u8]) -> Vec<Vec<u8>> {
    let tokens = text.split(|byte| *byte == b'\\').skip(1);
    let parts = packed(tokens.map(|token| [b"\\", token].concat()), 500);
    let last = parts.len() - 1;
    let numbered = parts.into_iter().enumerate();
    numbered
        .map(|(part, text)| {
            let mark = if part == last {
                r"\queryid\AMv1\final\"
            } else {
                ""
            };
            let head = format!(r"\statusresponse\{part}");
            [head.as_bytes(), &text, mark.as_bytes(), br"\eof\"].concat()
        })
        .collect()
}
