//! Servers of GameSpy v1 with other ways to number, cut and end a reply, written from their
//! sources. They do not escape the names of players.

use bytes::Bytes;

use crate::common::link::Random;
use crate::shrink::Cut;

/// A kind of server whose replies differ from the responder's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Form {
    /// UT99, UdpServerQuery 1.5.2: the reply number runs from 1 to 100 for all clients, and skins
    /// are not checked.
    Unreal,
    /// Unreal 227: one datagram per section and player, the end mark before the number.
    Unreal227,
    /// GameSpy's own code: cut between any two pairs.
    Pairs,
    /// Parts of 2,048 bytes without numbers (Croteam-official/Serious-Engine, GameAgent.cpp).
    SeriousSam,
    /// An end mark in every datagram; a pair that does not fit is lost (DescentDevelopers/Descent3,
    /// gamespy.cpp).
    Descent3,
    /// SWAT 4's GS1 mod (sergeii/swat-gs1): `queryid` is only the number of the datagram.
    Integer,
    /// SWAT 4's AdminMod: cut between any two tokens.
    AdminMod,
    /// 333networks' Perl master (Masterserver-Perl): numbered sections, cut every 512 bytes. If a
    /// datagram inside a section is lost, nothing shows it.
    Chopped,
}

impl Form {
    pub const ALL: [Self; 8] = [
        Self::Unreal,
        Self::Unreal227,
        Self::Pairs,
        Self::SeriousSam,
        Self::Descent3,
        Self::Integer,
        Self::AdminMod,
        Self::Chopped,
    ];
}

/// The number of a reply in a session without faults, which players guess.
pub const GUESSED: u64 = 7;

/// A number that runs from 1 to 100.
pub fn cyclic(number: u64) -> u64 {
    1 + number % 100
}

/// Names and skins of hostile players. `{N}` and `{M}` are numbers that they guess.
const HOSTILE: [&str; 20] = [
    r"x\queryid\9.1",
    r"x\queryid\9.1\a\b",
    r"x\queryid\9.1\final\",
    r"x\final\",
    r"x\final\\queryid\9.2",
    r"x\final\\queryid\{N}.{M}",
    r"x\queryid\{N}.1",
    r"x\queryid\{N}.2\final\",
    r"x\queryid\1",
    r"x\hostname\Fake\mapname\Fake\numplayers\2",
    r"x\hostname\Fake\numplayers\2\queryid\9.1\a\b",
    r"x\player_1\Mallory\frags_1\99",
    r"x\eof\",
    r"x\statusresponse\0\a\b",
    r"x\",
    r"x\\",
    "",
    "\"^1\u{1b}\u{1}\u{1}\u{1}",
    "nul\0inside\r\n",
    "x\0",
];

/// The state of such a server.
#[derive(Debug, Clone, Copy)]
pub struct Held {
    /// Distinguishes the moments.
    tag: u64,
    players: usize,
    rules: usize,
    /// Whether some of its players are hostile.
    pub is_hostile: bool,
}

impl Held {
    pub fn random(form: Form, random: &mut Random, cut: &Cut) -> Self {
        let players = [0, random.below(8), random.below(65)][random.below(3) as usize] as usize;
        // They fit into the first datagram.
        let many = if form == Form::Descent3 { 30 } else { 120 };
        let rules = [random.below(20), random.below(many)][random.below(2) as usize] as usize;
        let is_hostile = random.chance(0.4) && !cut.is_plain && form != Form::Chopped;
        let (players, rules) = (cut.few_players(players), cut.few_rules(rules));
        Self {
            tag: random.below(4096),
            players,
            rules,
            is_hostile,
        }
    }

    /// The state at the next moment: another map, and sometimes other players.
    pub fn next(self, random: &mut Random, cut: &Cut) -> Self {
        let players = (self.players as u64 + random.below(3)).saturating_sub(1) as usize;
        Self {
            tag: random.below(4096),
            players: cut.few_players(players),
            ..self
        }
    }

    pub fn map(self) -> String {
        format!("map {:x}", self.tag)
    }

    fn description(self) -> Vec<String> {
        vec![
            r"\gamename\some".to_owned(),
            format!(r"\hostname\Srv\mapname\{}", self.map()),
            format!(r"\numplayers\{}", self.players),
            r"\maxplayers\64".to_owned(),
        ]
    }

    fn rules(self) -> impl Iterator<Item = String> {
        (0..self.rules).map(move |rule| format!(r"\rule{rule}\some value {:x}", self.tag))
    }

    fn row(self, form: Form, player: usize) -> String {
        let mut random = Random(self.tag << 16 ^ player as u64);
        random.next();
        let mut text = |plain: String| {
            if !self.is_hostile || !random.chance(0.15) {
                return plain;
            }
            let odd = HOSTILE[random.below(HOSTILE.len() as u64) as usize];
            // Descent 3 writes one pair at a time, so a text is part of one pair.
            let odd = if form == Form::Descent3 {
                odd.replace('\\', "/")
            } else {
                odd.to_owned()
            };
            let guess = if form == Form::Pairs {
                GUESSED
            } else {
                cyclic(GUESSED)
            };
            odd.replace("{N}", &guess.to_string())
                .replace("{M}", &(1 + random.below(4)).to_string())
        };
        let name = format!("player {player} of {:x}", self.tag);
        if matches!(form, Form::Unreal | Form::Unreal227) {
            // It removes backslashes from names.
            let name = text(name).replace('\\', "");
            let (mesh, skin) = (
                text("Boss".to_owned()),
                text("CommandoSkins.cmdo".to_owned()),
            );
            let rest = format!(
                r"\mesh_{player}\{mesh}\skin_{player}\{skin}\face_{player}\None\ngsecret_{player}\false"
            );
            return format!(
                r"\player_{player}\{name}\frags_{player}\{player}\ping_{player}\ 40\team_{player}\255{rest}"
            );
        }
        let name = text(name);
        format!(r"\player_{player}\{name}\frags_{player}\{player}\ping_{player}\40")
    }

    /// How many players and rules a reply in this form has.
    pub fn said(self, form: Form) -> (usize, usize) {
        match form {
            // The pair that this server loses can be a name.
            Form::Descent3 => {
                let reply = self.reply(form, 1).concat();
                (
                    reply
                        .windows(8)
                        .filter(|window| *window == br"\player_")
                        .count(),
                    self.rules,
                )
            }
            Form::SeriousSam => (self.players, self.rules.min(30)),
            Form::Chopped => (0, self.rules),
            _ => (self.players, self.rules),
        }
    }

    /// The reply with this number.
    pub fn reply(self, form: Form, number: u64) -> Vec<Bytes> {
        let pieces = || {
            self.description()
                .into_iter()
                .chain(self.rules())
                .chain((0..self.players).map(move |one| self.row(form, one)))
        };
        let datagrams = match form {
            Form::Unreal => {
                let number = cyclic(number);
                let [description, rules] = [self.description().concat(), self.rules().collect()];
                let rows = (0..self.players).map(|player| self.row(form, player));
                let mut parts = packed([description, rules].into_iter().chain(rows), 1000);
                for (part, text) in (1..).zip(&mut parts) {
                    text.push_str(&format!(r"\queryid\{number}.{part}"));
                }
                parts.last_mut().unwrap().push_str(r"\final\");
                parts
            }
            Form::Unreal227 | Form::Pairs => {
                let number = if form == Form::Pairs {
                    number
                } else {
                    cyclic(number)
                };
                let mut parts = if form == Form::Pairs {
                    let rows = (0..self.players).map(|player| self.row(form, player));
                    packed(
                        self.description()
                            .into_iter()
                            .chain(self.rules())
                            .chain(rows)
                            .flat_map(pairs),
                        1349,
                    )
                } else {
                    let sections = [self.description().concat(), self.rules().collect()];
                    let rows = (0..self.players).map(|player| self.row(form, player));
                    sections.into_iter().chain(rows).collect()
                };
                parts.last_mut().unwrap().push_str(r"\final\");
                for (part, text) in (1..).zip(&mut parts) {
                    text.push_str(&format!(r"\queryid\{number}.{part}"));
                }
                parts
            }
            Form::SeriousSam => {
                let head = self.description().concat() + &self.rules().take(30).collect::<String>();
                let rows = (0..self.players).map(|player| self.row(form, player));
                let mut parts = packed([head].into_iter().chain(rows), 2048);
                parts.last_mut().unwrap().push_str(r"\final\\queryid\333.1");
                parts
            }
            Form::Descent3 => {
                let mut parts = vec![String::new()];
                for pair in pieces().flat_map(pairs) {
                    if parts.last().unwrap().len() + pair.len() + 50 >= 1401 {
                        assert!(!pair.contains("rule"), "rules fit into the first datagram");
                        parts.push(String::new());
                    } else {
                        parts.last_mut().unwrap().push_str(&pair);
                    }
                }
                let end = |(part, text)| format!("{text}\\final\\queryid\\{number}.{part}\0");
                (1..).zip(parts).map(end).collect()
            }
            Form::Integer => {
                let parts = packed(pieces(), 480);
                let last = parts.len();
                let end = |(part, text)| {
                    let mark = if part == last { r"\final\" } else { "" };
                    format!(r"{text}\queryid\{part}{mark}")
                };
                (1..).zip(parts).map(end).collect()
            }
            Form::AdminMod => {
                let tokens = pieces().flat_map(|piece| {
                    piece
                        .split('\\')
                        .skip(1)
                        .map(|token| format!(r"\{token}"))
                        .collect::<Vec<_>>()
                });
                let parts = packed(tokens, 500);
                let last = parts.len() - 1;
                let end = |(part, text)| {
                    let mark = if part == last {
                        r"\queryid\AMv1\final\"
                    } else {
                        ""
                    };
                    format!(r"\statusresponse\{part}{text}{mark}\eof\")
                };
                (0..).zip(parts).map(end).collect()
            }
            Form::Chopped => {
                let sections = [self.description().concat(), self.rules().collect()];
                let numbered = (1..)
                    .zip(sections)
                    .map(|(part, text)| format!(r"{text}\queryid\5.{part}"));
                let text = numbered.collect::<String>() + r"\final\";
                text.as_bytes()
                    .chunks(512)
                    .map(|chunk| String::from_utf8(chunk.to_vec()).unwrap())
                    .collect()
            }
        };
        datagrams.into_iter().map(Bytes::from).collect()
    }
}

/// The pairs of a text, whatever backslashes a player's name contains.
fn pairs(text: String) -> Vec<String> {
    let tokens: Vec<&str> = text.split('\\').skip(1).collect();
    tokens
        .chunks(2)
        .map(|pair| format!(r"\{}", pair.join(r"\")))
        .collect()
}

/// Joins texts to datagrams of at most this many bytes.
fn packed(pieces: impl Iterator<Item = String>, most: usize) -> Vec<String> {
    let mut datagrams = vec![String::new()];
    for piece in pieces {
        if datagrams.last().unwrap().len() + piece.len() > most {
            datagrams.push(String::new());
        }
        datagrams.last_mut().unwrap().push_str(&piece);
    }
    datagrams
}
