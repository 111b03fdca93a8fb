//! Player lines as the server side writes them.

use super::values::{quake_text, value_of};
use super::wanted::Wanted;
use crate::model::Player;
use crate::quake3::player_lines::{BOT, BOTTOM, HUMAN, ID, LOGIN, SKIN, TEAM, TIME, TOP};
use crate::quake3::wire::siblings::{Family, SPECTATOR_LETTER, SPECTATOR_NUMBER, SPECTATOR_PREFIX};
use crate::text::number;

/// Lines of Quake 3's form, each with its line feed.
pub(super) fn write_quake3_lines(players: &[Player]) -> Vec<u8> {
    let mut lines = LineWriter::default();
    for player in players {
        // It holds no quote and no line feed.
        lines.put_usual(player, &value_of(Family::Quake3, player.name.as_ref()));
    }
    lines.bytes
}

/// A line of Quake 2, with its line feed.
pub(super) fn write_quake2_line(player: &Player) -> Vec<u8> {
    let mut line = LineWriter::default();
    line.put_usual(player, &quake_text(player.name.as_ref()));
    line.bytes
}

/// A line of QuakeWorld, with its line feed. `number`: the player's place in the list, from 1 on.
pub(super) fn write_quake_world_line(number: i64, player: &Player, wanted: Wanted) -> Vec<u8> {
    let text_of = |key| player.extra.get(key).map(quake_text).unwrap_or_default();
    let number_of = |key| number::integer(player.extra.get(key)?.raw());
    let main = MainFields::new(player, wanted);
    let mut line = LineWriter::default();
    line.put_number(number_of(ID).unwrap_or(number));
    match main.mark {
        Some(mark) => line.put_word(mark),
        None => line.put_number(player.score.unwrap_or(0)),
    }
    line.put_number(number_of(TIME).unwrap_or(0));
    line.put_number(main.ping.into());
    line.put_quoted(&main.name);
    line.put_quoted(&text_of(SKIN));
    line.put_number(number_of(TOP).unwrap_or(0));
    line.put_number(number_of(BOTTOM).unwrap_or(0));
    if wanted.has(Wanted::TEAMS) {
        line.put_quoted(&team_text(player));
    }
    if wanted.has(Wanted::LOGINS) {
        line.put_quoted(&text_of(LOGIN));
    }
    if wanted.has(Wanted::KINDS)
        && let Some(is_bot) = player.bot
    {
        line.put_quoted(if is_bot { BOT } else { HUMAN });
    }
    line.end();
    line.bytes
}

/// The name of a player's team, or its number.
fn team_text(player: &Player) -> Vec<u8> {
    if let Some(name) = player.extra.get(TEAM) {
        return quake_text(name);
    }
    let number = player.team.map(|team| team.to_string());
    number.unwrap_or_default().into_bytes()
}

/// The fields of a QuakeWorld line in which a spectator can have a mark.
struct MainFields {
    /// Written in place of the score.
    mark: Option<&'static [u8]>,
    ping: i32,
    name: Vec<u8>,
}

impl MainFields {
    /// A ping that is not known, as servers write it (QW-Group/mvdsv, src/sv_main.c,
    /// `SV_CalcPing`).
    const NO_PING: i32 = 9999;

    /// A player's ping is at least 1: clients take a player with 0 for a spectator
    /// (QW-Group/ezquake-source, src/EX_browser_net.c).
    fn new(player: &Player, wanted: Wanted) -> Self {
        let ping = player.ping.unwrap_or(Self::NO_PING).max(1);
        let name = quake_text(player.name.as_ref());
        if player.spectator != Some(true) {
            let mark = None;
            return Self { mark, ping, name };
        }
        if wanted.has(Wanted::SPECTATORS_AS_LETTER) {
            let mark = Some(SPECTATOR_LETTER);
            return Self { mark, ping, name };
        }
        Self {
            mark: Some(SPECTATOR_NUMBER),
            ping: ping.saturating_neg(),
            name: [SPECTATOR_PREFIX, &name].concat(),
        }
    }
}

/// A line that is being written, or several. A space is between two fields.
#[derive(Default)]
struct LineWriter {
    bytes: Vec<u8>,
}

impl LineWriter {
    /// Score, ping and name.
    fn put_usual(&mut self, player: &Player, name: &[u8]) {
        self.put_number(player.score.unwrap_or(0));
        self.put_number(player.ping.unwrap_or(0).into());
        self.put_quoted(name);
        self.end();
    }

    fn put_number(&mut self, value: i64) {
        number::put(value, &mut self.bytes);
        self.bytes.push(b' ');
    }

    fn put_word(&mut self, word: &[u8]) {
        self.bytes.extend_from_slice(word);
        self.bytes.push(b' ');
    }

    fn put_quoted(&mut self, text: &[u8]) {
        for part in [b"\"", text, b"\" "] {
            self.bytes.extend_from_slice(part);
        }
    }

    /// Replaces the space after the last field by a line feed.
    fn end(&mut self) {
        self.bytes.pop();
        self.bytes.push(b'\n');
    }
}
