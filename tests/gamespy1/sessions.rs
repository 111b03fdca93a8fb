//! Many sessions over a link that loses, doubles and reorders: no answer is complete with less than the server holds.
use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use queryport::gamespy1::server::{self, Dialect, Options};
use queryport::gamespy1::{Request, StatusQuery};
use queryport::{Limits, Timing, ToStatus};

use crate::common::link::{Conditions, Random};
use crate::common::pair::{CLIENT, play};
use crate::common::requester;
use crate::serving::status;

/// How many sessions; `QUERYPORT_SESSIONS` overrides it.
const SESSIONS: u64 = 20_000;

/// A kind of server, and what it sends for the reply with this number, its players and rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Server {
    Unreal,
    Qr1,
    SeriousSam,
    Descent3,
    Integer,
    AdminMod,
    /// 333networks' Perl master: the one form where the wire cannot tell that a datagram inside a section is lost.
    Chopped,
}

const SERVERS: [Server; 7] = [
    Server::Unreal,
    Server::Qr1,
    Server::SeriousSam,
    Server::Descent3,
    Server::Integer,
    Server::AdminMod,
    Server::Chopped,
];

fn description(players: usize) -> Vec<String> {
    let mut pairs = vec![r"\gamename\some".to_owned(), r"\hostname\Srv".to_owned()];
    pairs.push(format!(r"\numplayers\{players}"));
    pairs.push(r"\maxplayers\64".to_owned());
    pairs
}

fn rules(rules: usize) -> impl Iterator<Item = String> {
    (0..rules).map(|rule| format!(r"\rule{rule}\some value"))
}

fn row(player: usize) -> String {
    format!(r"\player_{player}\player number {player}\frags_{player}\{player}\ping_{player}\40")
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

impl Server {
    fn reply(self, number: u64, players: usize, rule_count: usize) -> Vec<Bytes> {
        let pieces = description(players).into_iter().chain(rules(rule_count)).chain((0..players).map(row));
        let datagrams = match self {
            Self::Unreal | Self::Qr1 => {
                let dialect = if self == Self::Qr1 { Dialect::Qr1 } else { Dialect::Unreal };
                let mut status = status(players);
                status.rules = (0..rule_count).map(|rule| (format!("rule{rule}"), "some value")).collect();
                let mut requester = requester(CLIENT);
                requester.number = number;
                let request = Request::parse(br"\status\").unwrap();
                return server::answer(&request, &status, &Options::new(dialect), &requester)
                    .into_iter()
                    .collect();
            }
            // GameAgent.cpp: the description with all settings first, then rows, 2,048 bytes a part.
            Self::SeriousSam => {
                let head = description(players).concat() + &rules(rule_count.min(30)).collect::<String>();
                let mut parts = packed([head].into_iter().chain((0..players).map(row)), 2048);
                parts.last_mut().unwrap().push_str(r"\final\\queryid\333.1");
                parts
            }
            // gamespy.cpp: the pair that does not fit is lost.
            Self::Descent3 => {
                let pairs = pieces.flat_map(|piece| {
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
            Self::Integer => {
                let parts = packed(pieces, 480);
                let last = parts.len();
                let end = |(part, text)| {
                    let mark = if part == last { r"\final\" } else { "" };
                    format!(r"{text}\queryid\{part}{mark}")
                };
                (1..).zip(parts).map(end).collect()
            }
            // Cut between any two tokens.
            Self::AdminMod => {
                let tokens: Vec<String> = pieces
                    .flat_map(|piece| {
                        piece.split('\\').skip(1).map(|token| format!(r"\{token}")).collect::<Vec<_>>()
                    })
                    .collect();
                let parts = packed(tokens.into_iter(), 500);
                let last = parts.len() - 1;
                let end = |(part, text)| {
                    let mark = if part == last { r"\queryid\AMv1\final\" } else { "" };
                    format!(r"\statusresponse\{part}{text}{mark}\eof\")
                };
                (0..).zip(parts).map(end).collect()
            }
            Self::Chopped => {
                let sections = [description(players).concat(), rules(rule_count).collect()];
                let numbered = (1..).zip(sections).map(|(part, text)| format!(r"{text}\queryid\5.{part}"));
                let text = numbered.collect::<String>() + r"\final\";
                text.as_bytes().chunks(512).map(|chunk| String::from_utf8(chunk.to_vec()).unwrap()).collect()
            }
        };
        datagrams.into_iter().map(Bytes::from).collect()
    }

    /// How many players and rules a reply has.
    fn holds(self, players: usize, rules: usize) -> (usize, usize) {
        match self {
            // The pair that this server loses may be a name.
            Self::Descent3 => {
                let reply = self.reply(1, players, rules).concat();
                (reply.windows(8).filter(|window| *window == br"\player_").count(), rules)
            }
            Self::SeriousSam => (players, rules.min(30)),
            Self::Chopped => (0, rules),
            _ => (players, rules),
        }
    }
}

#[derive(Debug, Default)]
struct Counts {
    sessions: u32,
    complete: u32,
    incomplete: u32,
    silent: u32,
    /// Complete, with less than the server holds.
    wrong: u32,
}

#[test]
fn no_session_is_complete_with_less_than_the_server_holds() {
    let sessions = std::env::var("QUERYPORT_SESSIONS").ok().and_then(|count| count.parse().ok());
    let mut counts: BTreeMap<Server, Counts> = BTreeMap::new();
    for seed in 0..sessions.unwrap_or(SESSIONS) {
        let mut random = Random(seed);
        let server = SERVERS[random.below(7) as usize];
        let players = [0, random.below(8), random.below(65)][random.below(3) as usize] as usize;
        let many = if server == Server::Descent3 { 30 } else { 120 };
        let rules = [random.below(20), random.below(many)][random.below(2) as usize] as usize;
        let conditions = Conditions {
            loss: random.fraction() * 0.4,
            duplication: random.fraction() * 0.3,
            corruption: 0.0,
            delay: Duration::from_millis(random.below(80)),
            jitter: Duration::from_millis(random.below(400)),
        };
        let query = StatusQuery::new(0, Limits::default());
        let mut number = random.below(400);
        let played = play(query, Timing::default(), (conditions, seed), |_, _, _| {
            number += 1;
            server.reply(number, players, rules)
        });
        let count = counts.entry(server).or_default();
        count.sessions += 1;
        let Ok(outcome) = played.result else {
            count.silent += 1;
            continue;
        };
        let status = outcome.answer.to_status();
        let listed = status.listed_players().len();
        let ruled = (0..rules).filter(|rule| status.rules.get(&format!("rule{rule}")).is_some()).count();
        let (players, rules) = server.holds(players, rules);
        assert!(listed <= players && ruled <= rules, "seed {seed}: {server:?} invents");
        let is_whole = (listed, ruled) == (players, rules);
        match (status.completeness.is_complete(), is_whole) {
            (false, _) => count.incomplete += 1,
            (true, true) => count.complete += 1,
            (true, false) => {
                count.wrong += 1;
                let is_known = server == Server::Chopped;
                assert!(is_known, "seed {seed}: {server:?} {listed} of {players}, {ruled} of {rules}");
            }
        }
    }
    for (server, count) in &counts {
        println!("{server:?}: {count:?}");
        assert!(count.complete > count.sessions / 4, "{server:?}: {count:?}");
    }
}
