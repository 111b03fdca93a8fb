//! Simulated game servers, written from facts about the wire and without this crate's encoders.
//!
//! A [`Match`] is what a server has at one moment, a [`Wire`] is how it writes that, and a
//! [`Snapshot`] is what a client must read if nothing is missing.

mod gamespy1;
mod gamespy4;
mod quake3;
mod state;
mod ut2004;

pub use gamespy1::Form;
pub use state::{Match, Person};

use queryport::{Dialect, Protocol, ServerStatus};

/// A key and a value.
pub type Pair = (Vec<u8>, Vec<u8>);

/// How a server writes its state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wire {
    GameSpy1(Form),
    /// GameSpy v2: one datagram.
    GameSpy2,
    /// GameSpy v4 as the QR2 SDK writes it: up to eight datagrams.
    Qr2,
    Minecraft,
    /// One datagram of at most 16 KiB (id's engine, ioquake3).
    Quake3,
    /// One datagram of at most 1,396 bytes: lines that do not fit are left out without a mark.
    Quake3e,
    /// One datagram of at most 1,384 bytes of text: lines that do not fit are left out.
    Quake2,
    /// Several datagrams, which can end inside a line.
    QuakeWorld,
    /// What the scripts of UT2004, Killing Floor and Red Orchestra write.
    Ut2004,
}

impl Wire {
    pub const ALL: [Self; 15] = [
        Self::GameSpy1(Form::Unreal),
        Self::GameSpy1(Form::Unreal227),
        Self::GameSpy1(Form::Qr1),
        Self::GameSpy1(Form::SeriousSam),
        Self::GameSpy1(Form::Descent3),
        Self::GameSpy1(Form::Integer),
        Self::GameSpy1(Form::AdminMod),
        Self::GameSpy2,
        Self::Qr2,
        Self::Minecraft,
        Self::Quake3,
        Self::Quake3e,
        Self::Quake2,
        Self::QuakeWorld,
        Self::Ut2004,
    ];

    pub fn protocol(self) -> Protocol {
        match self {
            Self::GameSpy1(_) => Protocol::GameSpy1,
            Self::GameSpy2 | Self::Qr2 | Self::Minecraft => Protocol::GameSpy4,
            Self::Quake3 | Self::Quake3e | Self::Quake2 | Self::QuakeWorld => Protocol::Quake3,
            Self::Ut2004 => Protocol::Ut2004,
        }
    }

    /// The dialect that a client of this server uses.
    pub fn dialect(self) -> Dialect {
        match self {
            Self::GameSpy2 => Dialect::GameSpy2,
            Self::Minecraft => Dialect::Minecraft,
            Self::Quake2 => Dialect::Quake2,
            Self::QuakeWorld => Dialect::QuakeWorld,
            _ => Dialect::Standard,
        }
    }

    /// The number of rows of players, in UT2004 with rows of team scores.
    pub fn row_count(self, held: &Match) -> usize {
        match self {
            Self::Ut2004 => ut2004::listed(held).len(),
            _ => held.players.len(),
        }
    }

    /// What a client must read.
    pub fn snapshot(self, held: &Match) -> Snapshot {
        let has_score = self != Self::Minecraft;
        let listed = match self {
            Self::Ut2004 => ut2004::people(held),
            _ => held.players.clone(),
        };
        let score = |person: &Person| has_score.then_some(person.score);
        let mut snapshot = Snapshot {
            name: held.name.clone().into_bytes(),
            map: held.map.clone().into_bytes(),
            count: match self {
                Self::Ut2004 => ut2004::count(held),
                _ => held.players.len() as u32,
            },
            players: listed
                .iter()
                .map(|person| (person.name.clone(), score(person)))
                .collect(),
            rules: match self.protocol() {
                Protocol::GameSpy1 => gamespy1::pairs(held),
                Protocol::GameSpy4 => gamespy4::pairs(self, held),
                Protocol::Quake3 => quake3::pairs(self, held),
                _ => ut2004::pairs(held),
            },
        };
        snapshot.sort();
        snapshot
    }
}

/// A running server.
#[derive(Debug, Clone)]
pub struct Server {
    wire: Wire,
    /// The number of the next reply, for wires that number them.
    pub number: u32,
    /// What the server derives challenges from.
    pub secret: u32,
}

impl Server {
    pub fn new(wire: Wire, secret: u32) -> Self {
        Self {
            wire,
            number: 1,
            secret,
        }
    }

    /// Starts again: numbers begin at 1, and the challenges of before are refused.
    pub fn restart(&mut self) {
        *self = Self::new(self.wire, self.secret.wrapping_add(0x0101));
    }

    /// The datagrams that answer a request.
    pub fn answer(&mut self, held: &Match, request: &[u8]) -> Vec<Vec<u8>> {
        let number = self.number;
        self.number += 1;
        match self.wire {
            Wire::GameSpy1(form) => gamespy1::answer(form, number, held, request),
            Wire::GameSpy2 | Wire::Qr2 | Wire::Minecraft => {
                gamespy4::answer(self.wire, self.secret, held, request)
            }
            Wire::Quake3 | Wire::Quake3e | Wire::Quake2 | Wire::QuakeWorld => {
                quake3::answer(self.wire, held, request)
            }
            Wire::Ut2004 => ut2004::answer(held, request),
        }
    }
}

/// The status of a server at one moment, as raw texts. Rows are sorted: datagrams without numbers
/// can arrive in any order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Snapshot {
    pub name: Vec<u8>,
    pub map: Vec<u8>,
    /// Players as the server counts them.
    pub count: u32,
    /// Names and scores.
    pub players: Vec<(Vec<u8>, Option<i64>)>,
    /// Every pair that is not part of a player or team.
    pub rules: Vec<Pair>,
}

impl Snapshot {
    /// The snapshot that an answer shows, without the challenge that it quotes.
    pub fn of(status: &ServerStatus) -> Self {
        let raw = |text: &Option<queryport::Text>| {
            text.as_ref().map_or(Vec::new(), |text| text.raw().to_vec())
        };
        let rules = status.rules.iter();
        let rules = rules.map(|(key, value)| (key.raw().to_vec(), value.raw().to_vec()));
        let players = status.players.iter();
        let mut snapshot = Self {
            name: raw(&status.name),
            map: raw(&status.map),
            count: status.player_count.unwrap_or(u32::MAX),
            players: players
                .map(|player| (player.name.raw().to_vec(), player.score))
                .collect(),
            rules: rules.filter(|(key, _)| key != b"challenge").collect(),
        };
        snapshot.sort();
        snapshot
    }

    fn sort(&mut self) {
        self.players.sort_unstable();
        self.rules.sort_unstable();
    }
}

fn pair(key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Pair {
    (key.as_ref().to_vec(), value.as_ref().to_vec())
}

/// Joins pieces to datagrams. A piece that would make one longer than `most` begins the next.
fn packed(pieces: impl IntoIterator<Item = Vec<u8>>, most: usize) -> Vec<Vec<u8>> {
    let mut datagrams = vec![Vec::new()];
    for piece in pieces {
        let last = datagrams.last_mut().unwrap();
        if !last.is_empty() && last.len() + piece.len() > most {
            datagrams.push(piece);
        } else {
            last.extend_from_slice(&piece);
        }
    }
    datagrams
}
