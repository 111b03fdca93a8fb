//! What a server has, and what a game changes.

use super::{Pair, pair};
use crate::link::Random;

/// Somebody in a server's list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    /// A later one is larger.
    pub id: u32,
    pub name: Vec<u8>,
    pub score: i64,
    pub ping: u32,
    /// 0 or 1.
    pub team: u8,
}

/// The state of a server at one moment.
#[derive(Debug, Clone)]
pub struct Match {
    pub name: String,
    pub map: String,
    pub slots: u32,
    pub players: Vec<Person>,
    /// People who watch. Only UT2004 lists them.
    pub spectators: Vec<Person>,
    /// Bots, which no list has. Only UT2004 counts them.
    pub bots: u32,
    /// Whether the map has just begun. On servers of UT2004, nobody has joined it yet.
    pub is_starting: bool,
    /// Settings of the game, which last as long as a map.
    pub settings: Vec<(String, String)>,
    /// Chooses what never changes: UT2004's game, its modifications, the style of names.
    pub character: u64,
    next_id: u32,
}

/// Names that are hard to read: blanks, colours, words of the protocols, other character sets.
const ODD: [&[u8]; 20] = [
    b" ",
    b"  two  blanks  ",
    b"^1red^7white",
    b"^",
    b"\x1b\xff\x40\x01red",
    b"\x1b\x01",
    b"Gr\xfcn",
    b"\xc1\xee\xee",
    "日本語の名前".as_bytes(),
    b"final",
    b"queryid",
    b"player_0",
    b"splitnum",
    b"EOT",
    b"1 2 3",
    b"%s%n%x",
    b";rm",
    b"a/b/c",
    b"statusResponse",
    b"a name as long as games allow",
];

impl Match {
    /// A random server: empty, usual, full, or one in a hundred with a crowd.
    pub fn random(random: &mut Random) -> Self {
        let count = match random.below(100) {
            0..30 => 0,
            30..70 => 1 + random.below(8),
            70..99 => 9 + random.below(24),
            _ => 33 + random.below(31),
        };
        let spectators = match random.below(10) {
            0..=6 => 0,
            7..=8 => 1 + random.below(3),
            _ => random.below(9),
        };
        let mut held = Self {
            name: format!("Server {:x}", random.below(0xFFFF)),
            map: String::new(),
            slots: if count > 32 { 64 } else { 32 },
            players: Vec::new(),
            spectators: Vec::new(),
            bots: 0,
            is_starting: false,
            settings: Vec::new(),
            character: random.next(),
            next_id: 1,
        };
        for _ in 0..count {
            let player = held.person(random);
            held.players.push(player);
        }
        for _ in 0..spectators {
            // Whoever begins to watch loses the score (`Engine/PlayerController.uc`,
            // `BecomeSpectator`).
            let spectator = Person {
                score: 0,
                ..held.person(random)
            };
            held.spectators.push(spectator);
        }
        if random.chance(0.25) {
            held.bots = random.below(17) as u32;
        }
        held.start_map(random);
        held
    }

    /// A server with this many players and settings, for measurements.
    pub fn plain(name: String, players: u32, settings: u32) -> Self {
        let player = |number: u32| Person {
            id: number,
            name: format!("player number {number}").into_bytes(),
            score: i64::from(number) * 7 - 10,
            ping: 20 + 4 * number,
            team: (number % 2) as u8,
        };
        let setting = |number| (format!("sv_rule{number}"), format!("value number {number}"));
        Self {
            name,
            map: "DM-Rankin".to_owned(),
            slots: 64,
            players: (1..=players).map(player).collect(),
            spectators: Vec::new(),
            bots: 0,
            is_starting: false,
            settings: (0..settings).map(setting).collect(),
            // Deathmatch on a stock server of UT2004, without colours in names.
            character: 0x0100_0101,
            next_id: players + 1,
        }
    }

    /// Somebody who joins.
    fn person(&mut self, random: &mut Random) -> Person {
        let id = self.next_id;
        self.next_id += 1 + random.below(3) as u32;
        let plain = format!("player {id} {:x}", random.below(0xFFF));
        let name = match random.below(10) {
            0 => ODD[random.below(ODD.len() as u64) as usize].to_vec(),
            _ => plain.into_bytes(),
        };
        let score = match random.below(12) {
            0 => -(random.below(50) as i64),
            _ => random.below(200) as i64,
        };
        Person {
            id,
            name,
            score,
            ping: 4 * random.below(200) as u32,
            team: random.below(2) as u8,
        }
    }

    /// Starts another map with other settings.
    fn start_map(&mut self, random: &mut Random) {
        self.map = format!("map_{:x}", random.below(0xFFF));
        let count = [random.below(6), random.below(20)][random.below(2) as usize];
        let setting = |n| {
            let value = format!("value {:x}", random.below(0xF_FFFF));
            (format!("sv_rule{n}"), value)
        };
        self.settings = (0..count).map(setting).collect();
    }

    fn change_map(&mut self, random: &mut Random) {
        self.start_map(random);
        self.is_starting = true;
        for player in &mut self.players {
            player.score = 0;
        }
    }

    /// The settings as pairs.
    pub(super) fn settings(&self) -> Vec<Pair> {
        let settings = self.settings.iter();
        settings.map(|(key, value)| pair(key, value)).collect()
    }

    /// The next moment: somebody joins or leaves or both, scores, or another map begins.
    pub fn next(&self, random: &mut Random) -> Self {
        let mut next = Self {
            is_starting: false,
            ..self.clone()
        };
        let count = next.players.len() as u64;
        let index = random.below(count.max(1)) as usize;
        match random.below(6) {
            0 if count > 0 => {
                next.players.remove(index);
            }
            1 if count > 0 => next.players[index].score += 1,
            2 if count > 0 => {
                next.players.remove(index);
                let joining = next.person(random);
                next.players.push(joining);
            }
            3 | 4 => next.change_map(random),
            _ if count < u64::from(next.slots) => {
                let joining = next.person(random);
                next.players.push(joining);
            }
            _ => next.change_map(random),
        }
        next
    }
}
