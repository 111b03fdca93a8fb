//! Servers of GameSpy v4 and Quake 3 that do not escape the names of players. UT2004 has a length
//! for every text; servers of GameSpy v1 are in [`crate::forms`].

use bytes::Bytes;
use queryport::{Dialect, Protocol};

use crate::common::link::Random;
use crate::sender::{Columns, Content, send};
use crate::shrink::Cut;

/// The state of such a server at one moment.
#[derive(Debug, Clone)]
pub struct Held {
    pub map: String,
    pub players: Vec<Vec<u8>>,
    pub datagrams: Vec<Bytes>,
}

/// Names that are special in GameSpy v4: fields, sections, an empty one, flags of the head.
const FIELDS: [&[u8]; 14] = [
    b"",
    b"",
    b" ",
    b"player_",
    b"score_",
    b"ping_",
    b"pid_",
    b"team_t",
    b"score_t",
    b"splitnum",
    b"\x01",
    b"\x02",
    b"\x80\x81",
    b"hostname",
];

/// Names that are special in Quake 3: quotes, lines, keys, ends of other messages.
const QUOTES: [&[u8]; 11] = [
    b"",
    b"\"",
    b"\" 9 9 \"",
    b"\\",
    b"\\challenge\\x",
    b"\\clients\\0",
    b"^1red^",
    b"EOT\0\0\0",
    b"\xff\xff\xff\xffstatusResponse",
    b"1 2 3",
    b"\x1b\x01\x01\x01",
];

impl Held {
    /// The states of one server.
    pub fn moments(protocol: Protocol, random: &mut Random, count: usize, cut: &Cut) -> Vec<Self> {
        let odd: &[&[u8]] = if protocol == Protocol::Quake3 {
            &QUOTES
        } else {
            &FIELDS
        };
        let most = [6, 24, 64][random.below(3) as usize];
        let rules =
            cut.few_rules([random.below(12), random.below(90)][random.below(2) as usize] as usize);
        let is_hostile = random.chance(0.7);
        let mut moments: Vec<Self> = Vec::new();
        for _ in 0..count {
            let tag = random.below(0xFFFF);
            let players = cut.few_players(random.below(most) as usize);
            let name = |one: usize| {
                let mut random = Random(tag << 20 ^ one as u64);
                random.next();
                if is_hostile && random.chance(0.2) && !cut.is_plain {
                    return odd[random.below(odd.len() as u64) as usize].to_vec();
                }
                format!("player {one} of {tag:x}").into_bytes()
            };
            let names: Vec<Vec<u8>> = (0..players).map(name).collect();
            let map = format!("map {tag:x}");
            let datagrams = match protocol {
                Protocol::Quake3 => vec![quake3(&map, &names, rules)],
                _ => gamespy4(&map, &names, rules, tag),
            };
            moments.push(Self {
                map,
                players: names,
                datagrams,
            });
        }
        moments
    }
}

/// Names that are special in Quake 2 and QuakeWorld. Their servers take out quotes, backslashes and
/// line feeds.
const GLYPHS: [&[u8]; 8] = [
    b"",
    b" ",
    b"1 2 3",
    b"^1red^",
    b"\xc1\xee\xee",
    b"\x10clan\x11 \x12\x1b",
    b"print",
    b"\xff\xff\xff\xffn",
];

/// The beginning of the replies in this dialect.
pub fn beginning(dialect: Dialect) -> &'static [u8] {
    match dialect {
        Dialect::GameSpy2 => b"\0",
        Dialect::Quake2 => b"\xff\xff\xff\xffprint\n",
        _ => b"\xff\xff\xff\xffn",
    }
}

/// Replies of a server at successive moments, written from the sources of its engine.
pub fn sibling_moments(
    dialect: Dialect,
    random: &mut Random,
    count: usize,
    cut: &Cut,
) -> Vec<Vec<Bytes>> {
    let most = [6, 24, 64][random.below(3) as usize];
    let rules =
        cut.few_rules([random.below(6), random.below(16)][random.below(2) as usize] as usize);
    let is_odd = random.chance(0.7) && !cut.is_plain;
    let mut moments = Vec::new();
    for _ in 0..count {
        let tag = random.below(0xFFFF);
        let players = cut.few_players(random.below(most) as usize);
        let name = |one: usize| {
            let mut random = Random(tag << 20 ^ one as u64);
            random.next();
            if is_odd && random.chance(0.2) {
                return GLYPHS[random.below(GLYPHS.len() as u64) as usize].to_vec();
            }
            format!("player {one} of {tag:x}").into_bytes()
        };
        let names: Vec<Vec<u8>> = (0..players).map(name).collect();
        moments.push(match dialect {
            Dialect::GameSpy2 => vec![gamespy2(tag, &names, rules)],
            Dialect::Quake2 => vec![quake2(tag, &names, rules)],
            _ => quake_world(beginning(dialect), tag, &names, rules),
        });
    }
    moments
}

/// One datagram, cut at 1,400 bytes (nitrocaster/GameSpy, qr2.c).
fn gamespy2(tag: u64, names: &[Vec<u8>], rules: usize) -> Bytes {
    let mut out = b"\0idid".to_vec();
    let mut put = |text: &[u8]| {
        out.extend_from_slice(text);
        out.push(0);
    };
    let map = format!("map {tag:x}");
    for text in ["hostname", "Srv", "mapname", &map, "numplayers"] {
        put(text.as_bytes());
    }
    put(names.len().to_string().as_bytes());
    for rule in 0..rules {
        put(format!("rule{rule}").as_bytes());
        put(b"some value");
    }
    put(b"");
    // Here the second byte of the count is also the first byte of a field's name.
    put(b"");
    put(&[&[names.len() as u8], &b"player_"[..]].concat());
    put(b"score_");
    put(b"");
    for (score, name) in names.iter().enumerate() {
        put(name);
        put(score.to_string().as_bytes());
    }
    put(b"");
    put(b"\x01team_t");
    put(b"");
    put(b"Red");
    out.truncate(1400);
    out.into()
}

/// One datagram. A line that would pass 1,384 bytes, and those after it, are left out
/// (id-Software/Quake-2, server/sv_main.c).
fn quake2(tag: u64, names: &[Vec<u8>], rules: usize) -> Bytes {
    let mut text = format!("\\mapname\\map {tag:x}\\hostname\\Srv\\maxclients\\64").into_bytes();
    (0..rules)
        .for_each(|rule| text.extend_from_slice(format!("\\rule{rule}\\some value").as_bytes()));
    text.push(b'\n');
    for (score, name) in names.iter().enumerate() {
        let line = [format!("{score} 48 \"").as_bytes(), name, b"\"\n"].concat();
        if text.len() + line.len() >= 1384 {
            break;
        }
        text.extend_from_slice(&line);
    }
    [beginning(Dialect::Quake2), &text].concat().into()
}

/// Datagrams of at most 1,340 bytes of text. A line is written in pieces, and a datagram can end
/// after each (QW-Group/mvdsv, src/sv_send.c, src/sv_main.c).
fn quake_world(head: &[u8], tag: u64, names: &[Vec<u8>], rules: usize) -> Vec<Bytes> {
    let rules: String = (0..rules)
        .map(|rule| format!("\\rule{rule}\\some value"))
        .collect();
    let info = format!("\\map\\map {tag:x}\\hostname\\Srv\\maxclients\\64{rules}\n");
    let mut pieces = vec![info.into_bytes()];
    for (id, name) in names.iter().enumerate() {
        let frags = if id % 7 == 6 { "S" } else { "12" };
        let numbers = format!("{} {frags} 5 48 \"", id + 1);
        pieces.push([numbers.as_bytes(), name, b"\" \"base\" 13 4"].concat());
        pieces.push(format!(" \"{}\"", ["red", "blue"][id % 2]).into_bytes());
        pieces.push(b" \"h\"".to_vec());
        pieces.push(b"\n".to_vec());
    }
    let mut texts: Vec<Vec<u8>> = vec![Vec::new()];
    for piece in pieces {
        let mut last = texts.pop().unwrap_or_default();
        if last.len() + piece.len() > 1340 {
            texts.push(std::mem::take(&mut last));
        }
        last.extend_from_slice(&piece);
        texts.push(last);
    }
    texts
        .into_iter()
        .map(|text| Bytes::from([head, &text, b"\0"].concat()))
        .collect()
}

fn quake3(map: &str, names: &[Vec<u8>], rules: usize) -> Bytes {
    let mut out =
        b"\xff\xff\xff\xffstatusResponse\n\\challenge\\0\\sv_hostname\\Srv\\mapname\\".to_vec();
    out.extend_from_slice(map.as_bytes());
    (0..rules.min(20))
        .for_each(|rule| out.extend_from_slice(format!("\\rule{rule}\\some value").as_bytes()));
    out.push(b'\n');
    for (score, name) in names.iter().enumerate() {
        out.extend_from_slice(format!("{score} 48 \"").as_bytes());
        out.extend_from_slice(name);
        out.extend_from_slice(b"\"\n");
    }
    out.into()
}

fn gamespy4(map: &str, names: &[Vec<u8>], rules: usize, tag: u64) -> Vec<Bytes> {
    let pair = |key: &str, value: &str| (key.as_bytes().to_vec(), value.as_bytes().to_vec());
    let mut pairs = vec![
        pair("hostname", "Srv"),
        pair("mapname", map),
        pair("numplayers", &names.len().to_string()),
    ];
    pairs.extend(
        (0..rules).map(|rule| pair(&format!("rule{rule}"), &format!("some value {tag:x}"))),
    );
    let column = |text: &str| text.as_bytes().to_vec();
    let row = |(one, name): (usize, &Vec<u8>)| {
        vec![
            name.clone(),
            column(&one.to_string()),
            column("48"),
            column(&(1 + one % 2).to_string()),
        ]
    };
    let players = Columns {
        fields: ["player_", "score_", "ping_", "team_"].map(column).to_vec(),
        rows: names.iter().enumerate().map(row).collect(),
    };
    let teams = Columns {
        fields: ["team_t", "score_t"].map(column).to_vec(),
        rows: vec![
            vec![column("MEC"), column("1")],
            vec![column("US"), column("2")],
        ],
    };
    send(&Content {
        pairs,
        players,
        teams,
    })
    .into_iter()
    .map(Bytes::from)
    .collect()
}
