//! Random states of a server with odd names, and the changes between two moments.

use std::sync::Arc;

use queryport::model::{Charset, Colours, Style};
use queryport::{Player, Rules, ServerStatus, Team, Text};

use crate::common::link::Random;
use crate::shrink::Cut;

/// Texts that are hard to parse: separators, quotes, control characters, colour codes, words of the
/// protocols, an empty text, and invalid UTF-8.
const ODD: [&[u8]; 32] = [
    b"",
    b" ",
    b"  two  blanks  ",
    b"\\",
    b"a\\b\\c",
    b"\\final\\",
    b"\\queryid\\1.1",
    b"queryid",
    b"final",
    b"player_0",
    b"splitnum",
    b"\"",
    b"\"quoted\"",
    b"\" 1 2 \"",
    b"line\nbreak",
    b"\r\n",
    b"nul\0inside",
    b"\0",
    b"\x01\x02",
    b"^1red^7white",
    b"^^",
    b"^",
    b"\x1b\x01\x01\x01dark",
    b"\xa7cred",
    b"\xff\xfe\xc0\xaf",
    b"\xe2\x82",
    "Grün & Söhne".as_bytes(),
    "日本語の名前".as_bytes(),
    "\u{202e}reversed".as_bytes(),
    b"%s%n%x",
    b";rm",
    b"statusResponse\n",
];

/// A text, usually plain, otherwise odd.
fn text(random: &mut Random, plain: &str) -> Text {
    let style = Style::new(Charset::Utf8OrWindows1252, Colours::None);
    match random.below(10) {
        0 | 1 => {
            let odd = ODD[random.below(ODD.len() as u64) as usize];
            if random.chance(0.5) {
                return Text::new(odd.to_vec(), style);
            }
            Text::new([plain.as_bytes(), odd].concat(), style)
        }
        2 if random.chance(0.1) => {
            Text::from("long ".repeat([20, 60, 400][random.below(3) as usize]))
        }
        _ => Text::from(plain),
    }
}

/// A number, usually small, sometimes the largest or smallest.
fn number(random: &mut Random) -> i64 {
    match random.below(12) {
        0 => -(random.below(50) as i64),
        1 => [i64::from(i32::MAX), i64::from(i32::MIN), 0, -1, 65_536][random.below(5) as usize],
        _ => random.below(200) as i64,
    }
}

fn player(random: &mut Random, word: u64, number_of: u64) -> Player {
    let plain = format!("player {number_of} {:x}", word & 0xFFF);
    let mut player = Player::new(text(random, &plain));
    // UT2004 gives every player a number. Modifications list teams and others with number 0. Other
    // protocols treat it as one more field.
    let id = if random.chance(0.05) {
        0
    } else {
        1 + (random.next() >> 34)
    };
    player.extra.push("PlayerNum", &id.to_string());
    player.score = Some(number(random));
    player.ping = Some(random.below(999) as i32);
    if random.chance(0.5) {
        player.team = Some(random.below(3) as i32);
    }
    if random.chance(0.1) {
        player.bot = Some(random.chance(0.5));
    }
    if random.chance(0.2) {
        player.extra.push("skin", "some skin");
    }
    player
}

fn rules(random: &mut Random, count: u64) -> Rules {
    let mut rules = Rules::default();
    for rule in 0..count {
        let key = match random.below(30) {
            0 => ODD[random.below(ODD.len() as u64) as usize].to_vec(),
            // The same key twice.
            1 => b"rule0".to_vec(),
            _ => format!("rule{rule}").into_bytes(),
        };
        let plain = format!("value {:x}", random.below(0xFFFF));
        rules.push_raw(&key, text(random, &plain).raw());
    }
    rules
}

fn status(random: &mut Random) -> ServerStatus {
    let mut status = ServerStatus::default();
    let word = random.next();
    status.name = Some(text(random, &format!("Server {:x}", word & 0xFFFF)));
    status.map = Some(text(random, &format!("map_{}", word % 7)));
    status.game = Some(["ut", "baseq3", "bf2"][random.below(3) as usize].into());
    status.game_type = Some(text(random, "Deathmatch"));
    status.max_players = Some([8, 32, 64, 200][random.below(4) as usize]);
    status.password = Some(random.chance(0.2));
    if random.chance(0.3) {
        status.version = Some(text(random, "1.32"));
        status.game_port = Some(random.below(65_536) as u16);
        status.score_limit = Some(number(random));
    }
    let players = match random.below(10) {
        0..=2 => 0,
        3..=5 => 1 + random.below(8),
        6..=8 => 9 + random.below(32),
        _ => 41 + random.below(160),
    };
    // UT2004 lists spectators, whom the server does not count.
    let spectators = match random.below(20) {
        0 => random.below(40),
        1..=6 => random.below(6),
        _ => 0,
    };
    status.player_count = Some(players as u32);
    if random.chance(0.95) {
        status.players = (0..players + spectators)
            .map(|one| player(random, word, one))
            .collect();
    }
    if random.chance(0.3) {
        status.teams = (0..1 + random.below(3))
            .map(|id| {
                let mut team = Team::default();
                team.id = Some(id as i32);
                team.name = Some(text(random, &format!("team {id}")));
                team.score = Some(number(random));
                team
            })
            .collect();
    }
    let count = [
        random.below(4),
        random.below(30),
        random.below(30),
        random.below(110),
    ][random.below(4) as usize];
    status.rules = rules(random, count);
    status
}

/// Applies a change that a game makes between two moments.
fn change(random: &mut Random, status: &mut ServerStatus) {
    let word = random.next();
    let joining = player(random, word, 500 + word % 100);
    let players = status.players.to_mut();
    let index = random.below(players.len().max(1) as u64) as usize;
    let count = status.player_count.unwrap_or_default();
    match random.below(8) {
        0 | 1 => {
            players.insert(index, joining);
            status.player_count = Some(count + 1);
        }
        2 if count > 0 && !players.is_empty() => {
            players.remove(index);
            status.player_count = Some(count - 1);
        }
        // A player leaves and another joins: the count stays the same.
        3 | 4 if !players.is_empty() => players[index] = joining,
        5 if !players.is_empty() => players[index].score = Some(number(random)),
        6 => {
            let len = status.rules.len() as u64;
            status.rules = rules(random, len);
        }
        _ => {
            status.map = Some(text(random, &format!("map_{:x}", word & 0xFFF)));
            for player in players {
                player.score = Some(0);
            }
        }
    }
}

/// The successive states of one server.
pub fn moments(random: &mut Random, count: usize, cut: &Cut) -> Vec<Arc<ServerStatus>> {
    let mut status = status(random);
    let mut moments = Vec::new();
    for _ in 0..count {
        let mut shrunk = status.clone();
        shrink(&mut shrunk, cut);
        moments.push(Arc::new(shrunk));
        for _ in 0..1 + random.below(3) {
            change(random, &mut status);
        }
    }
    moments
}

/// Removes players and rules, and makes texts plain.
fn shrink(status: &mut ServerStatus, cut: &Cut) {
    if status.players.is_known() {
        let players = status.players.to_mut();
        let before = players.len();
        players.truncate(cut.few_players(before));
        let gone = (before - players.len()) as u32;
        status.player_count = status.player_count.map(|count| count.saturating_sub(gone));
    }
    let few = cut.few_rules(status.rules.len());
    let pairs: Vec<_> = status
        .rules
        .iter()
        .take(few)
        .map(|(key, value)| (key.raw(), value.raw()))
        .collect();
    let mut rules = Rules::default();
    for (key, value) in pairs {
        rules.push_raw(&plain(key, cut), &plain(value, cut));
    }
    status.rules = rules;
    if !cut.is_plain {
        return;
    }
    let texts = [
        &mut status.name,
        &mut status.map,
        &mut status.game_type,
        &mut status.version,
    ];
    for text in texts
        .into_iter()
        .flatten()
        .chain(status.players.iter_mut().map(|player| &mut player.name))
    {
        *text = Text::new(
            plain(text.raw(), cut),
            Style::new(Charset::Utf8OrWindows1252, Colours::None),
        );
    }
}

fn plain(text: &[u8], cut: &Cut) -> Vec<u8> {
    if !cut.is_plain {
        return text.to_vec();
    }
    text.iter()
        .filter(|byte| byte.is_ascii_alphanumeric())
        .take(24)
        .copied()
        .collect()
}
