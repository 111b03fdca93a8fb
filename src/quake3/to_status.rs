//! An answer as a [`ServerStatus`]: which key means what, in which family of games.

use bytes::Bytes;

use super::answer::{Answer, Noticed};
use super::wire::player::PlayerLine;
use super::wire::response::Kind;
use crate::model::{Charset, Colours, Player, RulesBuilder, ServerStatus, Style, Text, ToStatus};
use crate::text::number;
use crate::text::words::{Named, Words, word, words};

/// What the family's texts are read as.
const CHARSET: Charset = Charset::Utf8OrWindows1252;
/// Bytes of a usual pair, rounded down: the table of rules is sized by it.
const USUAL_PAIR: usize = 16;

impl ToStatus for Answer {
    /// The normalised model. Its rules and its longer texts share this answer's bytes.
    fn to_status(&self) -> ServerStatus {
        let response = self.response();
        let (info, bytes) = (response.info(), self.raw());
        let mut known = Named::new(&WORDS);
        let mut rules = RulesBuilder::new(bytes, CHARSET, info.raw().len() / USUAL_PAIR);
        let mut pairs = info.pairs();
        for (key, value) in pairs.by_ref() {
            // The first match wins, as in the engines.
            known.note(key, value);
            rules.push(key, value);
        }
        let style = Style::new(CHARSET, colours(&known));
        let mut lines = response.lines();
        let players = (response.kind() == Kind::Status).then(|| {
            let mut players = Vec::with_capacity(response.count_bound());
            for line in lines.by_ref() {
                players.push(player(line, bytes, style));
            }
            players
        });
        let completeness = self.missing(&Noticed {
            odd_key: pairs.has_odd_key(),
            odd_line: lines.has_skipped(),
            listed: players.as_ref().map_or(0, Vec::len),
            clients: known.get(word!("clients")),
        });
        let text = |keys: &[usize]| known.first(keys).map(|raw| Text::part(bytes, raw, style));
        let count = |key: usize| known.get(key).and_then(number::number::<u32>);
        // The status has no count of its own but its lines; the info has no lines. Where both are, as on Warsow and
        // DarkPlaces, this is the server's own number.
        let listed = players.as_ref().and_then(|players| u32::try_from(players.len()).ok());
        let player_count = count(word!("clients")).or(listed);
        let bots = count(word!("g_humanplayers")).and_then(|humans| player_count?.checked_sub(humans));
        let locked = known.first(words!("g_needpass", "needpass", "pswrd", "password"));
        ServerStatus {
            name: text(words!("sv_hostname", "hostname")),
            map: text(words!("mapname")),
            game: text(words!("gamename", "game")),
            game_type: text(words!("g_gametype", "gametype")),
            version: text(words!("version", "shortversion", "gameversion")),
            password: locked.and_then(number::boolean),
            player_count,
            bot_count: count(word!("bots")).or(bots),
            max_players: count(word!("sv_maxclients")),
            players,
            rules: rules.build(style.colours),
            completeness,
            verification: self.verification(),
            ..ServerStatus::default()
        }
    }
}

#[inline]
fn player(line: PlayerLine<'_>, bytes: &Bytes, style: Style) -> Player {
    let name = Text::part(bytes, line.name(), style);
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
static WORDS: Words<20> = Words::new([
    "game",
    "bots",
    "pswrd",
    "mapname",
    "version",
    "clients",
    "modname",
    "hostname",
    "gamename",
    "gametype",
    "needpass",
    "password",
    "qcstatus",
    "g_gametype",
    "g_needpass",
    "sv_hostname",
    "gameversion",
    "shortversion",
    "sv_maxclients",
    "g_humanplayers",
]);

/// Which colour codes the game has, from what the server says of itself.
fn colours<const N: usize>(known: &Named<'_, N>) -> Colours {
    if known.get(word!("qcstatus")).is_some() || known.get(word!("modname")).is_some() {
        Colours::DarkPlaces
    } else if known.get(word!("shortversion")).is_some() || known.get(word!("gamename")) == Some(b"Warsow") {
        // `shortversion` is Call of Duty's.
        Colours::CaretDigit
    } else {
        Colours::Caret
    }
}
