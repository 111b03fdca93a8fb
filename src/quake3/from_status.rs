//! What this protocol can say of a [`ServerStatus`]: the pairs of an infostring, and player lines.
//!
//! What the format cannot carry is replaced: `\ ; "` by look-alikes, control bytes by nothing.

use std::borrow::Cow;

use super::wire::infostring::{InfoStringBuilder, sanitise};
use super::wire::player::{Field, put_line};
use super::wire::response::Kind;
use crate::model::{Charset, Player, ServerStatus, Text, TextRef};

/// Bytes of a usual player line.
const USUAL_LINE: usize = 32;

/// The infostring of a reply: the named fields up to `room` bytes, then the status's own rules up to `spare`. A key is
/// written once.
pub(super) fn infostring(
    kind: Kind,
    challenge: Option<&[u8]>,
    status: &ServerStatus,
    protocol: u32,
    (room, spare): (usize, usize),
) -> InfoStringBuilder {
    let text = |text: &Option<Text>| text.as_ref().map(self::text);
    let number = |value: Option<u32>| value.map(|value| value.to_string().into_bytes());
    let listed = status.players.as_ref().and_then(|players| u32::try_from(players.len()).ok());
    let (name_key, game_type_key) = match kind {
        Kind::Info => ("hostname", "gametype"),
        Kind::Status => ("sv_hostname", "g_gametype"),
    };
    let online = status.player_count.or(listed).filter(|_| kind == Kind::Info);
    // A challenge that an infostring cannot carry is not quoted, as on id's servers.
    let challenge = challenge.filter(|challenge| sanitise(challenge) == *challenge).map(<[u8]>::to_vec);
    let named = [
        ("challenge", challenge),
        (name_key, text(&status.name)),
        ("mapname", text(&status.map)),
        ("clients", number(online)),
        ("sv_maxclients", number(status.max_players)),
        (game_type_key, text(&status.game_type)),
        ("gamename", text(&status.game)),
        ("protocol", number(Some(protocol))),
        ("g_needpass", number(status.password.map(u32::from))),
        ("bots", number(status.bot_count)),
        ("version", text(&status.version)),
    ];
    let mut info = InfoStringBuilder::new(room);
    for (key, value) in &named {
        if let Some(value) = value.as_ref().filter(|value| !value.is_empty()) {
            // What does not fit is left out: the next one may be shorter.
            let _ = info.push(key.as_bytes(), value);
        }
    }
    info.limit = spare;
    let is_named = |key: &[u8]| {
        named.iter().any(|(named, value)| value.is_some() && key.eq_ignore_ascii_case(named.as_bytes()))
    };
    if kind == Kind::Status {
        for (key, value) in &status.rules {
            let (key, value) = (wire(key), wire(value));
            let key = sanitise(&key);
            if !is_named(&key) {
                let _ = info.push(&key, &sanitise(&value));
            }
        }
    }
    info
}

/// Player lines, each with its line feed, until they exceed `most` bytes.
pub(super) fn lines(players: &[Player], fields: &[Field], most: usize) -> Vec<u8> {
    let mut lines = Vec::with_capacity(players.len().saturating_mul(USUAL_LINE).min(most));
    for player in players {
        let numbers = (player.score.unwrap_or(0), player.ping.unwrap_or(0), player.team.unwrap_or(0));
        put_line(fields, numbers, &sanitise(&wire(player.name.as_ref())), &mut lines);
        if lines.len() > most {
            break;
        }
    }
    lines
}

/// A text as a value of an infostring.
pub(super) fn text(text: &Text) -> Vec<u8> {
    sanitise(&wire(text.as_ref())).into_owned()
}

/// A text's bytes in this wire's character sets.
fn wire(text: TextRef<'_>) -> Cow<'_, [u8]> {
    text.encoded(Charset::Utf8OrWindows1252)
}
