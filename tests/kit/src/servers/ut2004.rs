//! Servers of UT2004, Killing Floor and Red Orchestra, as the games' scripts write them.
//!
//! Rules, in this order: `Engine/GameInfo.uc`, `GetServerDetails`; then the mutators; then
//! `UnrealGame/UnrealMPGameInfo.uc`, `DeathMatch.uc` and `TeamGame.uc`. The list has players and
//! spectators, newest first, and no bots (`GetServerPlayers`). `CurrentPlayers` counts players and
//! bots (`UnrealMPGameInfo.uc`, `GetNumPlayers`; Red Orchestra: `ROTeamGame.uc`). A map begins
//! without both, because each has a `GameInfo` of its own: players log in again, and bots join when
//! the match starts (`GameInfo.uc`, `Login`; `DeathMatch.uc`,
//! `StartMatch`).

use super::{Match, Pair, Person, pair};

/// A datagram longer than this is sent before the next entry is added.
const FULL: usize = 450;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Game {
    DeathMatch,
    TeamDeathMatch,
    CaptureTheFlag,
    KillingFloor,
    RedOrchestra,
}

impl Game {
    fn of(held: &Match) -> Self {
        match held.character % 8 {
            0 | 1 => Self::DeathMatch,
            2 | 3 => Self::TeamDeathMatch,
            4 | 5 => Self::CaptureTheFlag,
            6 => Self::KillingFloor,
            _ => Self::RedOrchestra,
        }
    }

    fn class(self) -> &'static str {
        match self {
            Self::DeathMatch => "xDeathMatch",
            Self::TeamDeathMatch => "xTeamGame",
            Self::CaptureTheFlag => "xCTFGame",
            Self::KillingFloor => "KFGameType",
            Self::RedOrchestra => "ROTeamGame",
        }
    }

    fn has_teams(self) -> bool {
        self != Self::DeathMatch
    }

    /// Whether the game is built on Red Orchestra's `GameInfo`.
    fn is_red_orchestra(self) -> bool {
        matches!(self, Self::KillingFloor | Self::RedOrchestra)
    }
}

pub(super) fn answer(held: &Match, request: &[u8]) -> Vec<Vec<u8>> {
    let rules = || {
        list(
            1,
            rules(held)
                .iter()
                .map(|(key, value)| [string(key), string(value)].concat()),
        )
    };
    let players = || list(2, listed(held).iter().map(|person| record(held, person)));
    match request {
        [_, _, _, _, 0] => vec![info(held)],
        [_, _, _, _, 1] => rules(),
        [_, _, _, _, 2] => players(),
        [_, _, _, _, 3] => [rules(), players()].concat(),
        _ => Vec::new(),
    }
}

/// The size is checked before an entry is added, so a full datagram can be the last one. An empty
/// list has no datagram.
fn list(kind: u8, entries: impl Iterator<Item = Vec<u8>>) -> Vec<Vec<u8>> {
    let head = [0x80, 0, 0, 0, kind];
    let mut datagrams: Vec<Vec<u8>> = Vec::new();
    for entry in entries {
        match datagrams.last_mut().filter(|last| last.len() <= FULL) {
            Some(last) => last.extend(entry),
            None => datagrams.push([&head[..], &entry].concat()),
        }
    }
    datagrams
}

/// A text with its length: one byte a character, or two if one of them needs it.
fn string(text: &[u8]) -> Vec<u8> {
    if text.is_empty() {
        return vec![0];
    }
    let mut string = compact_index(text.len() + 1);
    string.extend_from_slice(text);
    string.push(0);
    string
}

fn compact_index(number: usize) -> Vec<u8> {
    let low = (number & 0x3F) as u8;
    let mut rest = number >> 6;
    let mut bytes = vec![low | if rest > 0 { 0x40 } else { 0 }];
    while rest > 0 {
        let low = (rest & 0x7F) as u8;
        rest >>= 7;
        bytes.push(low | if rest > 0 { 0x80 } else { 0 });
    }
    bytes
}

fn info(held: &Match) -> Vec<u8> {
    let int = |number: u32| number.to_le_bytes().to_vec();
    let game = Game::of(held);
    let waves = match game {
        Game::KillingFloor => [int(2), int(10)].concat(),
        _ => Vec::new(),
    };
    [
        vec![0x80, 0, 0, 0, 0],
        int(0),
        string(b""),
        int(7777),
        int(0),
        string(held.name.as_bytes()),
        string(held.map.as_bytes()),
        string(game.class().as_bytes()),
        int(count(held)),
        int(held.slots),
        waves,
        int(0),
        int(0),
        string(b"1"),
        vec![0, 0],
    ]
    .concat()
}

/// Players, and bots as far as they leave a slot. Red Orchestra counts bots without players too.
pub(super) fn count(held: &Match) -> u32 {
    if held.is_starting {
        return 0;
    }
    let players = held.players.len() as u32;
    if players == 0 && Game::of(held) != Game::RedOrchestra {
        return 0;
    }
    players.max((players + held.bots).min(held.slots - 1))
}

fn rules(held: &Match) -> Vec<Pair> {
    let game = Game::of(held);
    let style = held.character >> 8;
    let email = "mail@example.org"
        .get(..(style % 17) as usize)
        .unwrap_or_default();
    let mut rules = vec![
        pair("ServerMode", "dedicated"),
        pair("AdminName", "admin"),
        pair("AdminEmail", email),
        pair("ServerVersion", "3369"),
    ];
    if game.is_red_orchestra() {
        rules.push(pair("IsVacSecured", "true"));
    }
    if style.is_multiple_of(5) {
        rules.push(pair("GamePassword", "True"));
    }
    if !game.is_red_orchestra() {
        rules.push(pair("GameStats", "False"));
    }
    rules.push(pair(
        "MaxSpectators",
        held.spectators.len().max(2).to_string(),
    ));
    rules.push(pair("MapVoting", "true"));
    rules.push(pair("KickVoting", "true"));
    let mutators = held.settings.iter();
    rules.extend(mutators.map(|(_, value)| pair("Mutator", value)));
    // Bots fill the server up to this number; teams of players against bots need no more than 2.
    let filled = match held.bots {
        0 => 0,
        _ if game.has_teams() && style.is_multiple_of(3) => 2,
        bots => held.players.len() as u32 + bots,
    };
    rules.push(pair("MinPlayers", filled.to_string()));
    rules.push(pair("EndTimeDelay", "4.00"));
    rules.push(pair("GoalScore", "25"));
    rules.push(pair("TimeLimit", "20"));
    rules.push(pair("Translocator", "False"));
    rules.push(pair("WeaponStay", "True"));
    rules.push(pair("ForceRespawn", "False"));
    if game.has_teams() {
        rules.push(pair("BalanceTeams", "True"));
        rules.push(pair("PlayersBalanceTeams", "True"));
        rules.push(pair("FriendlyFireScale", "0.00"));
    }
    // Modifications write theirs after all others.
    if style.is_multiple_of(4) {
        rules.push(pair("mutator", "DMMutator"));
    }
    rules
}

/// Whether a modification lists the scores of the teams.
fn lists_teams(held: &Match) -> bool {
    Game::of(held) == Game::TeamDeathMatch && (held.character >> 16).is_multiple_of(2)
}

/// Players and spectators, newest first, and the teams of some modifications.
pub(super) fn listed(held: &Match) -> Vec<Person> {
    let mut listed = people(held);
    if lists_teams(held) {
        let team = |(team, name): (u8, &str)| Person {
            id: 0,
            name: name.as_bytes().to_vec(),
            score: 3,
            ping: 0,
            team,
        };
        listed.extend([(0, "Red Team"), (1, "Blue Team")].map(team));
    }
    listed
}

/// Players and spectators, newest first.
pub(super) fn people(held: &Match) -> Vec<Person> {
    if held.is_starting {
        return Vec::new();
    }
    let people = held.players.iter().chain(&held.spectators);
    let mut listed: Vec<Person> = people.cloned().collect();
    listed.sort_by_key(|person| std::cmp::Reverse(person.id));
    if (held.character >> 24).is_multiple_of(4) {
        let names = listed.iter_mut().map(|person| &mut person.name);
        names.for_each(|name| *name = coloured(name));
    }
    listed
}

/// The name with a colour before each letter.
fn coloured(name: &[u8]) -> Vec<u8> {
    let letters = name.iter();
    letters
        .flat_map(|letter| [0x1b, 0xff, 0x40, 0x40, *letter])
        .collect()
}

fn record(held: &Match, person: &Person) -> Vec<u8> {
    let plays = held.players.iter().any(|player| player.id == person.id);
    let team_bit = 0x2000_0000_u32 << person.team;
    let stats = if plays && Game::of(held).has_teams() {
        team_bit
    } else {
        0
    };
    let numbers = [person.ping, person.score as u32, stats];
    let numbers = numbers.map(u32::to_le_bytes);
    [
        &person.id.to_le_bytes()[..],
        &string(&person.name),
        &numbers.concat(),
    ]
    .concat()
}

/// The rules, and the fields of the info record that the model lists with them.
pub(super) fn pairs(held: &Match) -> Vec<Pair> {
    let mut pairs = rules(held);
    if Game::of(held) == Game::KillingFloor {
        pairs.extend([pair("CurrentWave", "2"), pair("FinalWave", "10")]);
    }
    pairs.push(pair("SkillLevel", "1"));
    pairs
}
