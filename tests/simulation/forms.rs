//! How other servers of GameSpy v1 number, cut and end a reply, written from their sources.

use bytes::Bytes;

use crate::common::link::Random;

/// A kind of server whose replies differ from those of the responder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Form {
    /// Croteam-official/Serious-Engine, GameAgent.cpp: parts of 2,048 bytes without numbers.
    SeriousSam,
    /// DescentDevelopers/Descent3, gamespy.cpp: an end mark in every datagram; the pair that does not fit is lost.
    Descent3,
    /// SWAT 4's GS1 mod (sergeii/swat-gs1): `queryid` is the number of the datagram alone.
    Integer,
    /// SWAT 4's AdminMod: cut between any two tokens.
    AdminMod,
    /// 333networks' Perl master (Masterserver-Perl): numbered sections, cut every 512 bytes. The wire cannot tell that a
    /// datagram inside a section is lost.
    Chopped,
}

impl Form {
    pub const ALL: [Self; 5] =
        [Self::SeriousSam, Self::Descent3, Self::Integer, Self::AdminMod, Self::Chopped];
}

/// What such a server holds.
#[derive(Debug, Clone, Copy)]
pub struct Held {
    /// Tells the moments apart.
    tag: u64,
    players: usize,
    rules: usize,
}

impl Held {
    pub fn random(form: Form, random: &mut Random) -> Self {
        let players = [0, random.below(8), random.below(65)][random.below(3) as usize] as usize;
        // They fit into the first datagram.
        let many = if form == Form::Descent3 { 30 } else { 120 };
        let rules = [random.below(20), random.below(many)][random.below(2) as usize] as usize;
        Self { tag: random.below(4096), players, rules }
    }

    /// The next moment: another map, and sometimes other players.
    pub fn next(self, random: &mut Random) -> Self {
        let players = (self.players as u64 + random.below(3)).saturating_sub(1) as usize;
        Self { tag: random.below(4096), players, ..self }
    }

    fn description(self) -> Vec<String> {
        vec![
            r"\gamename\some".to_owned(),
            format!(r"\hostname\Srv\mapname\map {:x}", self.tag),
            format!(r"\numplayers\{}", self.players),
            r"\maxplayers\64".to_owned(),
        ]
    }

    fn rules(self) -> impl Iterator<Item = String> {
        (0..self.rules).map(move |rule| format!(r"\rule{rule}\some value {:x}", self.tag))
    }

    fn row(self, player: usize) -> String {
        format!(
            r"\player_{player}\player {player} of {:x}\frags_{player}\{player}\ping_{player}\40",
            self.tag
        )
    }

    /// How many players and rules the reply of this form holds.
    pub fn said(self, form: Form) -> (usize, usize) {
        match form {
            // The pair that this server loses may be a name.
            Form::Descent3 => {
                let reply = self.reply(form, 1).concat();
                (reply.windows(8).filter(|window| *window == br"\player_").count(), self.rules)
            }
            Form::SeriousSam => (self.players, self.rules.min(30)),
            Form::Chopped => (0, self.rules),
            Form::Integer | Form::AdminMod => (self.players, self.rules),
        }
    }

    /// The reply with this number.
    pub fn reply(self, form: Form, number: u64) -> Vec<Bytes> {
        let pieces = || {
            self.description()
                .into_iter()
                .chain(self.rules())
                .chain((0..self.players).map(move |one| self.row(one)))
        };
        let datagrams = match form {
            Form::SeriousSam => {
                let head = self.description().concat() + &self.rules().take(30).collect::<String>();
                let rows = (0..self.players).map(|player| self.row(player));
                let mut parts = packed([head].into_iter().chain(rows), 2048);
                parts.last_mut().unwrap().push_str(r"\final\\queryid\333.1");
                parts
            }
            Form::Descent3 => {
                let pairs = pieces().flat_map(|piece| {
                    let tokens: Vec<&str> = piece.split('\\').skip(1).collect();
                    tokens.chunks(2).map(|pair| format!(r"\{}\{}", pair[0], pair[1])).collect::<Vec<_>>()
                });
                let mut parts = vec![String::new()];
                for pair in pairs {
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
                    piece.split('\\').skip(1).map(|token| format!(r"\{token}")).collect::<Vec<_>>()
                });
                let parts = packed(tokens, 500);
                let last = parts.len() - 1;
                let end = |(part, text)| {
                    let mark = if part == last { r"\queryid\AMv1\final\" } else { "" };
                    format!(r"\statusresponse\{part}{text}{mark}\eof\")
                };
                (0..).zip(parts).map(end).collect()
            }
            Form::Chopped => {
                let sections = [self.description().concat(), self.rules().collect()];
                let numbered = (1..).zip(sections).map(|(part, text)| format!(r"{text}\queryid\5.{part}"));
                let text = numbered.collect::<String>() + r"\final\";
                text.as_bytes().chunks(512).map(|chunk| String::from_utf8(chunk.to_vec()).unwrap()).collect()
            }
        };
        datagrams.into_iter().map(Bytes::from).collect()
    }
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
