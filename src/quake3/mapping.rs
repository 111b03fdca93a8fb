//! Between the wire view and the model: which key means what, in which family of games.

use bytes::Bytes;

use super::client::Answer;
use super::infostring::InfoString;
use super::player::PlayerLine;
use super::response::Kind;
use crate::model::{Charset, Colours, Player, RulesBuilder, ServerStatus, Style, Text};
use crate::wire::number;
use crate::wire::share::share;

/// Keys by meaning, the more telling first. Empty values count as not said.
const NAME: [&str; 2] = ["sv_hostname", "hostname"];
const GAME: [&str; 2] = ["gamename", "game"];
const GAME_TYPE: [&str; 2] = ["g_gametype", "gametype"];
const VERSION: [&str; 3] = ["version", "shortversion", "gameversion"];
const PASSWORD: [&str; 4] = ["g_needpass", "needpass", "pswrd", "password"];

/// See [`Answer::to_status`].
pub(super) fn to_status(answer: &Answer) -> ServerStatus {
    let response = answer.response();
    let info = response.info();
    let style = Style::new(Charset::Utf8OrWindows1252, colours(info));
    let bytes = answer.raw();
    let text = |keys: &[&str]| first(info, keys).map(|raw| Text::new(share(bytes, raw), style));
    let count = |key: &str| info.get(key).and_then(number::number::<u32>);
    let mut rules = RulesBuilder::new(bytes, style, info.count_bound());
    for (key, value) in info {
        rules.push(key, value);
    }
    let players = (response.kind() == Kind::Status)
        .then(|| response.players().map(|line| player(line, bytes, style)).collect::<Vec<_>>());
    // The status has no count of its own but its lines; the info has no lines. Where both are, as on Warsow and
    // DarkPlaces, the server's own number stands here and the list below it.
    let listed = players.as_ref().and_then(|players| u32::try_from(players.len()).ok());
    let player_count = count("clients").or(listed);
    let humans = count("g_humanplayers").and_then(|humans| player_count?.checked_sub(humans));
    ServerStatus {
        name: text(&NAME),
        map: text(&["mapname"]),
        game: text(&GAME),
        game_type: text(&GAME_TYPE),
        version: text(&VERSION),
        password: first(info, &PASSWORD).and_then(number::boolean),
        player_count,
        bot_count: count("bots").or(humans),
        max_players: count("sv_maxclients"),
        players,
        rules: rules.build(),
        completeness: answer.completeness(),
        ..ServerStatus::default()
    }
}

fn first<'a>(info: InfoString<'a>, keys: &[&str]) -> Option<&'a [u8]> {
    keys.iter().find_map(|key| info.get(key).filter(|value| !value.is_empty()))
}

fn player(line: PlayerLine<'_>, bytes: &Bytes, style: Style) -> Player {
    let mut player = Player {
        name: Text::new(share(bytes, line.name()), style),
        score: line.score(),
        ping: line.ping(),
        team: line.team(),
        ..Player::default()
    };
    // Xonotic writes fractions and words where others have a whole number.
    if let Some(text) = line.score_text().filter(|text| number::integer(text).is_none()) {
        player.extra.push_raw(b"score", text);
    }
    player
}

/// Which colour codes the game has, from what the server says of itself.
fn colours(info: InfoString<'_>) -> Colours {
    if info.get("qcstatus").is_some() || info.get("modname").is_some() {
        Colours::DarkPlaces
    } else if info.get("shortversion").is_some() || info.get("gamename") == Some(b"Warsow") {
        // `shortversion` is Call of Duty's.
        Colours::CaretDigit
    } else {
        Colours::Caret
    }
}
