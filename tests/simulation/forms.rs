//! How other servers of GameSpy v1 number, cut and end a reply, written from their sources. What
//! players call themselves goes onto the wire as they wrote it.

use bytes::Bytes;

use crate::common::link::Random;
use crate::shrink::Cut;

/// A kind of server whose replies differ from those of the responder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Form {
    /// UT99, UdpServerQuery 1.5.2: the reply number runs from 1 to 100 over all clients; skins are
    /// not looked at.
    Unreal,
    /// Unreal 227: a datagram for each section and player, the end before the number.
    Unreal227,
    /// GameSpy's own code: cut between any two pairs.
    Pairs,
    /// Croteam-official/Serious-Engine, GameAgent.cpp: parts of 2,048 bytes without numbers.
    SeriousSam,
    /// DescentDevelopers/Descent3, gamespy.cpp: an end mark in every datagram; the pair that does
    /// not fit is lost.
    Descent3,
    /// SWAT 4's GS1 mod (sergeii/swat-gs1): `queryid` is the number of the datagram alone.
    Integer,
    /// SWAT 4's AdminMod: cut between any two tokens.
    AdminMod,
    /// 333networks' Perl master (Masterserver-Perl): numbered sections, cut every 512 bytes. The
    /// wire cannot tell that a datagram inside a section is lost.
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

/// The number of a reply without any fault, and the one that players guess.
pub const GUESSED: u64 = 7;

/// A number that runs from 1 to 100.
pub fn cyclic(number: u64) -> u64 {
    1 + number % 100
}

/// What players call themselves and their skins. `{N}` and `{M}` are numbers that they guess.
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

/// What such a server holds.
#[derive(Debug, Clone, Copy)]
pub struct Held {
    /// Tells the moments apart.
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

    /// The next moment: another map, and sometimes other players.
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
            // Descent 3 writes pairs one by one: what a text holds is one pair.
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
            // It takes backslashes out of names.
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

    /// How many players and rules the reply of this form holds.
    pub fn said(self, form: Form) -> (usize, usize) {
        match form {
            // The pair that this server loses may be a name.
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

/// The pairs of a text, however a player's own backslashes part them.
fn pairs(text: String) -> Vec<String> {
    let tokens: Vec<&str> = text.split('\\').skip(1).collect();
    tokens
        .chunks(2)
        .map(|pair| format!(r"\{}", pair.join(r"\")))
        .collect()
}

/// Texts in datagrams of at most so many bytes.
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
