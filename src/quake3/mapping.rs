//! Between the wire view and the model: which key means what, in which family of games.

use bytes::Bytes;

use super::client::Answer;
use super::player::PlayerLine;
use super::response::Kind;
use crate::model::{Charset, Colours, Player, RulesBuilder, ServerStatus, Style, Text};
use crate::wire::number;
use crate::wire::share::share;

/// What the family's texts are read as.
const CHARSET: Charset = Charset::Utf8OrWindows1252;
/// Bytes of a pair on most servers, and somewhat less.
const USUAL_PAIR: usize = 16;

/// See [`Answer::to_status`].
pub(super) fn to_status(answer: &Answer) -> ServerStatus {
    let response = answer.response();
    let info = response.info();
    let bytes = answer.raw();
    let mut known = Known::default();
    let mut rules =
        RulesBuilder::new(bytes, Style::new(CHARSET, Colours::None), info.raw().len() / USUAL_PAIR);
    let mut pairs = info.iter();
    for (key, value) in pairs.by_ref() {
        known.note(key, value);
        rules.push(key, value);
    }
    let style = Style::new(CHARSET, known.colours());
    let mut lines = response.players();
    let players = (response.kind() == Kind::Status).then(|| {
        let mut players = Vec::with_capacity(response.count_bound());
        players.extend(lines.by_ref().map(|line| player(line, bytes, style)));
        players
    });
    let completeness = answer.unless_half(|| {
        let listed = players.as_ref().map_or(0, Vec::len);
        response.judge(&pairs, (listed, &lines), known.get(Key::Clients))
    });
    let text = |keys: &[Key]| known.first(keys).map(|raw| Text::new(share(bytes, raw), style));
    let count = |key: Key| known.get(key).and_then(number::number::<u32>);
    // The status has no count of its own but its lines; the info has no lines. Where both are, as on Warsow and
    // DarkPlaces, the server's own number stands here and the list below it.
    let listed = players.as_ref().and_then(|players| u32::try_from(players.len()).ok());
    let player_count = count(Key::Clients).or(listed);
    let bots = count(Key::HumanPlayers).and_then(|humans| player_count?.checked_sub(humans));
    ServerStatus {
        name: text(&[Key::SvHostname, Key::Hostname]),
        map: text(&[Key::Mapname]),
        game: text(&[Key::Gamename, Key::Game]),
        game_type: text(&[Key::GGametype, Key::Gametype]),
        version: text(&[Key::Version, Key::Shortversion, Key::Gameversion]),
        password: known
            .first(&[Key::GNeedpass, Key::Needpass, Key::Pswrd, Key::Password])
            .and_then(number::boolean),
        player_count,
        bot_count: count(Key::Bots).or(bots),
        max_players: count(Key::SvMaxclients),
        players,
        rules: rules.with_colours(style.colours).build(),
        completeness,
        ..ServerStatus::default()
    }
}

fn player(line: PlayerLine<'_>, bytes: &Bytes, style: Style) -> Player {
    let name = Text::new(share(bytes, line.name()), style);
    if let Some((score, ping)) = line.usual_numbers() {
        return Player { name, score: Some(score), ping: Some(ping), ..Player::default() };
    }
    let (score, ping, team) = (line.score(), line.ping(), line.team());
    let mut player = Player { name, score, ping, team, ..Player::default() };
    // Xonotic writes fractions and words where others have a whole number.
    if let Some(text) = line.score_text().filter(|text| number::integer(text).is_none()) {
        player.extra.push_raw(b"score", text);
    }
    player
}

/// Keys that mean something to the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Key {
    SvHostname,
    Hostname,
    Mapname,
    Gamename,
    Game,
    GGametype,
    Gametype,
    Version,
    Shortversion,
    Gameversion,
    GNeedpass,
    Needpass,
    Pswrd,
    Password,
    Clients,
    HumanPlayers,
    Bots,
    SvMaxclients,
    Qcstatus,
    Modname,
}

/// How they are spelled, in the enum's order.
const KEYS: [(Key, &str); 20] = [
    (Key::SvHostname, "sv_hostname"),
    (Key::Hostname, "hostname"),
    (Key::Mapname, "mapname"),
    (Key::Gamename, "gamename"),
    (Key::Game, "game"),
    (Key::GGametype, "g_gametype"),
    (Key::Gametype, "gametype"),
    (Key::Version, "version"),
    (Key::Shortversion, "shortversion"),
    (Key::Gameversion, "gameversion"),
    (Key::GNeedpass, "g_needpass"),
    (Key::Needpass, "needpass"),
    (Key::Pswrd, "pswrd"),
    (Key::Password, "password"),
    (Key::Clients, "clients"),
    (Key::HumanPlayers, "g_humanplayers"),
    (Key::Bots, "bots"),
    (Key::SvMaxclients, "sv_maxclients"),
    (Key::Qcstatus, "qcstatus"),
    (Key::Modname, "modname"),
];

/// Which key this is, whatever its case. Most are told by their length.
fn known_key(name: &[u8]) -> Option<Key> {
    let candidates: &[Key] = match name.len() {
        4 => &[Key::Game, Key::Bots],
        5 => &[Key::Pswrd],
        7 => &[Key::Mapname, Key::Version, Key::Clients, Key::Modname],
        8 => &[Key::Hostname, Key::Gamename, Key::Gametype, Key::Needpass, Key::Password, Key::Qcstatus],
        10 => &[Key::GGametype, Key::GNeedpass],
        11 => &[Key::SvHostname, Key::Gameversion],
        12 => &[Key::Shortversion],
        13 => &[Key::SvMaxclients],
        14 => &[Key::HumanPlayers],
        _ => &[],
    };
    let is = |key: &Key| {
        KEYS.get(*key as usize).is_some_and(|(_, word)| name.eq_ignore_ascii_case(word.as_bytes()))
    };
    candidates.iter().copied().find(is)
}

/// The values of the known keys.
#[derive(Default)]
struct Known<'a>([Option<&'a [u8]>; KEYS.len()]);

impl<'a> Known<'a> {
    fn note(&mut self, key: &[u8], value: &'a [u8]) {
        if let Some(slot) = known_key(key).and_then(|key| self.0.get_mut(key as usize)) {
            // The first match wins, as in the engines.
            slot.get_or_insert(value);
        }
    }

    fn get(&self, key: Key) -> Option<&'a [u8]> {
        self.0.get(key as usize).copied().flatten()
    }

    /// The first of these that says something; empty values count as not said.
    fn first(&self, keys: &[Key]) -> Option<&'a [u8]> {
        keys.iter().find_map(|&key| self.get(key).filter(|value| !value.is_empty()))
    }

    /// Which colour codes the game has, from what the server says of itself.
    fn colours(&self) -> Colours {
        if self.get(Key::Qcstatus).is_some() || self.get(Key::Modname).is_some() {
            Colours::DarkPlaces
        } else if self.get(Key::Shortversion).is_some() || self.get(Key::Gamename) == Some(b"Warsow") {
            // `shortversion` is Call of Duty's.
            Colours::CaretDigit
        } else {
            Colours::Caret
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_its_enum() {
        assert!(KEYS.iter().enumerate().all(|(index, (key, _))| *key as usize == index));
        for (key, word) in KEYS {
            assert_eq!(known_key(word.to_uppercase().as_bytes()), Some(key), "{word}");
        }
        assert_eq!(known_key(b"g_rule00"), None);
    }
}
