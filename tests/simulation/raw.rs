//! Servers of GameSpy v4 and Quake 3 that do not escape the names of players. UT2004 has a length
//! for every text; servers of GameSpy v1 are in [`crate::forms`].

use bytes::Bytes;
use queryport::Protocol;

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
