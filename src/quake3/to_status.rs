//! An answer as a [`ServerStatus`]: which key means what, in which family of games.

use bytes::Bytes;

use super::answer::{Answer, Noticed};
use super::wire::player::PlayerLine;
use super::wire::response::Kind;
use crate::model::{Charset, Colours, Player, RulesBuilder, ServerStatus, Style, Text, ToStatus};
use crate::text::known_keys::{first_filled, known_keys};
use crate::text::number;

/// What the family's texts are read as.
const CHARSET: Charset = Charset::Utf8OrWindows1252;
/// Bytes of a usual pair, rounded down: the table of rules is sized by it.
const USUAL_PAIR: usize = 16;

impl ToStatus for Answer {
    /// The normalised model. Its rules and its longer texts share this answer's bytes.
    fn to_status(&self) -> ServerStatus {
        let response = self.response();
        let (info, bytes) = (response.info(), self.raw());
        let mut known = Known::default();
        let mut rules = RulesBuilder::new(bytes, CHARSET, info.raw().len() / USUAL_PAIR);
        let mut pairs = info.pairs();
        for (key, value) in pairs.by_ref() {
            // The first match wins, as in the engines.
            if let Some(slot) = known.slot(key) {
                slot.get_or_insert(value);
            }
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
            clients: known.clients,
        });
        let text = |values: &[Option<&[u8]>]| first_filled(values).map(|raw| Text::part(bytes, raw, style));
        let count = |value: Option<&[u8]>| value.and_then(number::number::<u32>);
        // The status has no count of its own but its lines; the info has no lines. Where both are, as on Warsow and
        // DarkPlaces, this is the server's own number.
        let listed = players.as_ref().and_then(|players| u32::try_from(players.len()).ok());
        let player_count = count(known.clients).or(listed);
        let bots = count(known.g_humanplayers).and_then(|humans| player_count?.checked_sub(humans));
        let locked = first_filled(&[known.g_needpass, known.needpass, known.pswrd, known.password]);
        ServerStatus {
            name: text(&[known.sv_hostname, known.hostname]),
            map: text(&[known.mapname]),
            game: text(&[known.gamename, known.game]),
            game_type: text(&[known.g_gametype, known.gametype]),
            version: text(&[known.version, known.shortversion, known.gameversion]),
            password: locked.and_then(number::boolean),
            player_count,
            bot_count: count(known.bots).or(bots),
            max_players: count(known.sv_maxclients),
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

known_keys! {
    /// Keys that mean something to the model.
    struct Known {
        bots = b"bots",
        clients = b"clients",
        g_gametype = b"g_gametype",
        g_humanplayers = b"g_humanplayers",
        g_needpass = b"g_needpass",
        game = b"game",
        gamename = b"gamename",
        gametype = b"gametype",
        gameversion = b"gameversion",
        hostname = b"hostname",
        mapname = b"mapname",
        modname = b"modname",
        needpass = b"needpass",
        password = b"password",
        pswrd = b"pswrd",
        qcstatus = b"qcstatus",
        shortversion = b"shortversion",
        sv_hostname = b"sv_hostname",
        sv_maxclients = b"sv_maxclients",
        version = b"version",
    }
}

/// Which colour codes the game has, from what the server says of itself.
fn colours(known: &Known<'_>) -> Colours {
    if known.qcstatus.is_some() || known.modname.is_some() {
        Colours::DarkPlaces
    } else if known.shortversion.is_some() || known.gamename == Some(b"Warsow") {
        // `shortversion` is Call of Duty's.
        Colours::CaretDigit
    } else {
        Colours::Caret
    }
}
