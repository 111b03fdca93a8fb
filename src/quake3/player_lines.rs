//! Player lines: how players are read from them.

use super::answer::{Answer, LineBounds};
use super::engines::{BOT_SLOTS, Engine, SpectatorMark};
use super::wire::player::PlayerLine;
use super::wire::siblings::{Family, Quake2Line, QuakeWorldLine, QuetooLine, stream_pair};
use crate::meaning::{Key, Reader};
use crate::model::{
    Colours, Completeness, ExtrasBuilder, Player, RulesBuilder, Style, Text, listed_bots,
};
use crate::text::number;

/// The further fields of a player, in [`Player::extra`].
const ADDRESS: &str = "address";
pub(super) const BOTTOM: &str = "bottom";
pub(super) const ID: &str = "id";
const KIND: &str = "kind";
pub(super) const LOGIN: &str = "login";
const PING: &str = "ping";
const SCORE: &str = "score";
pub(super) const SKIN: &str = "skin";
pub(super) const TEAM: &str = "team";
pub(super) const TIME: &str = "time";
pub(super) const TOP: &str = "top";

/// The kinds of players in a line of QuakeWorld.
pub(super) const BOT: &[u8] = b"b";
pub(super) const HUMAN: &[u8] = b"h";

/// Bytes of a usual player line, rounded down: the list of players is sized by it.
const USUAL_LINE: usize = 24;

/// The lines after the infostring of a reply.
pub(super) struct Lines {
    pub(super) players: Vec<Player>,
    /// The further fields of the players.
    extras: ExtrasBuilder,
    pub(super) completeness: Completeness,
}

impl Lines {
    /// Reads the lines of a status; an `infoResponse` has none. Lines of QuakeWorld that describe
    /// streams are added to the rules.
    pub(super) fn read(
        answer: &Answer,
        keys: &Reader<'_>,
        engine: &'static Engine,
        rules: &mut RulesBuilder,
    ) -> Self {
        let (known, style) = (keys.known, keys.style);
        let response = answer.response();
        let mut players = Vec::with_capacity(response.player_text().len() / USUAL_LINE);
        let mut reader = PlayerReader {
            answer,
            engine,
            style,
            shows_bots: engine.bots_have_no_ping && known.has(const { Key::new("bots") }),
            extras: ExtrasBuilder::new(answer.raw(), style.charset, 0),
        };
        let bounds = LineBounds::new(engine, keys);
        let is_quake_world = answer.family() == Family::QuakeWorld;
        let completeness = answer.completeness_with(bounds, |line| {
            let Some(player) = reader.player(line) else {
                if is_quake_world && let Some((key, stream)) = stream_pair(line) {
                    rules.push(key, stream);
                }
                return false;
            };
            players.push(player);
            true
        });
        let slots = known.get(const { Key::new("p") }).unwrap_or_default();
        set_teams(&mut players, slots, engine.spectators);
        if let Some(bots) = keys.value(BOT_SLOTS) {
            set_bots(&mut players, slots, bots);
        }
        Self {
            players,
            extras: reader.extras,
            completeness,
        }
    }

    /// The number of lines.
    pub(super) fn count(&self) -> Option<u32> {
        u32::try_from(self.players.len()).ok()
    }

    /// The number of players in QuakeWorld, where spectators have slots of their own, and of the
    /// bots among them. Only lines of QuakeWorld and Quetoo mark bots.
    pub(super) fn counts_without_spectators(&self) -> (Option<u32>, Option<u32>) {
        let is_playing = |player: &&Player| player.spectator != Some(true);
        let playing = || self.players.iter().filter(is_playing);
        (
            u32::try_from(playing().count()).ok(),
            listed_bots(playing()),
        )
    }

    /// The players with their further fields.
    pub(super) fn into_players(mut self, colours: Colours) -> Vec<Player> {
        let extras = self.players.iter_mut().map(|player| &mut player.extra);
        self.extras.complete(extras, colours);
        self.players
    }
}

/// Reads players line by line.
struct PlayerReader<'a> {
    answer: &'a Answer,
    engine: &'static Engine,
    style: Style,
    /// Whether a ping of 0 is a bot's, and only a bot's.
    shows_bots: bool,
    /// The further fields of the players so far.
    extras: ExtrasBuilder,
}

impl<'a> PlayerReader<'a> {
    /// The player of the next line; `None` if it is not a player line.
    #[inline]
    fn player(&mut self, line: &'a [u8]) -> Option<Player> {
        match self.answer.family() {
            Family::Quake3 => {
                let fields = PlayerLine::parse(line)?;
                Some(self.common_player(&fields, fields.name(), fields.ping()))
            }
            Family::Quake2 => {
                let fields = Quake2Line::parse(line)?;
                Some(self.quake2_player(line, &fields))
            }
            Family::QuakeWorld => {
                let fields = QuakeWorldLine::parse(line)?;
                Some(self.quake_world_player(line, &fields))
            }
            Family::Quetoo => {
                let fields = QuetooLine::parse(line)?;
                Some(self.quetoo_player(line, &fields))
            }
        }
    }

    /// A player with the fields that all lines have, this name and this ping, and the further
    /// fields that were pushed since the last player.
    #[inline]
    fn common_player(&mut self, line: &PlayerLine<'a>, name: &[u8], ping: Option<i32>) -> Player {
        let (engine, score, team) = (self.engine, line.score(), line.team());
        let marked = engine.spectators.in_score(score, line.score_text());
        let spectator = marked.or_else(|| engine.spectators.in_team(team));
        let score = score.filter(|score| Some(*score) != engine.no_score);
        let ping = ping.filter(|ping| *ping >= 0 && Some(*ping) != engine.no_ping);
        if ping.is_none()
            && let Some(text) = line.ping_text()
        {
            self.push_extra(PING, text);
        }
        if team.is_none()
            && let Some(name) = line.team_text().filter(|text| !text.is_empty())
        {
            self.push_extra(TEAM, name);
        }
        // Xonotic writes fractions and words where others have a whole number.
        let has_more = |text: &[u8]| text.iter().any(|byte| matches!(byte, b'.' | b':'));
        if let Some(text) = line.score_text()
            && (score.is_none() || has_more(text))
        {
            self.push_extra(SCORE, text);
        }
        let bot = ping.filter(|_| self.shows_bots).map(|ping| ping == 0);
        Player {
            name: Text::part(self.answer.raw(), name, self.style),
            score,
            ping,
            team,
            bot,
            spectator,
            extra: self.extras.take_part(),
        }
    }

    fn quake2_player(&mut self, line: &'a [u8], fields: &Quake2Line<'a>) -> Player {
        if let Some(further) = fields.further {
            self.push_extra(ADDRESS, further.address);
        }
        let line = PlayerLine::of_quake2(line, fields);
        self.common_player(&line, fields.name, line.ping())
    }

    fn quake_world_player(&mut self, line: &'a [u8], fields: &QuakeWorldLine<'a>) -> Player {
        self.push_extra(ID, fields.id);
        self.push_extra(TIME, fields.minutes);
        self.push_extra(SKIN, fields.skin);
        self.push_extra(TOP, fields.top);
        self.push_extra(BOTTOM, fields.bottom);
        let is_spectator = fields.is_spectator();
        let is_marked_by_number = fields.is_marked_by_number();
        // The letter is pushed with the score, because it is not a number.
        if is_marked_by_number {
            self.push_extra(SCORE, fields.frags);
        }
        if let Some(login) = fields.login {
            self.push_extra(LOGIN, login);
        }
        if let Some(kind) = fields.kind {
            self.push_extra(KIND, kind);
        }
        let line = PlayerLine::of_quake_world(line, fields);
        let ping = if is_marked_by_number {
            line.ping().map(i32::saturating_abs)
        } else {
            line.ping()
        };
        let mut player = self.common_player(&line, fields.plain_name(), ping);
        player.bot = self.is_bot(fields);
        player.spectator = Some(is_spectator);
        if is_spectator {
            // The number in place of the score only marks a spectator.
            player.score = None;
        }
        player
    }

    fn quetoo_player(&mut self, line: &'a [u8], fields: &QuetooLine<'a>) -> Player {
        let is_usual = |key: &[u8]| matches!(key, b"score" | b"ping" | b"name");
        for (key, value) in fields.pairs.iter().filter(|(key, _)| !is_usual(key)) {
            self.extras.push(key, value);
        }
        let line = PlayerLine::of_quetoo(line, fields);
        let mut player = self.common_player(&line, fields.name, line.ping());
        // Only lines of bots have the key.
        let ai = fields.pairs.get("ai").unwrap_or(b"0");
        player.bot = number::integer(ai).map(|ai| ai != 0);
        player
    }

    /// Whether a player of QuakeWorld is a bot. A prefix of the name marks only bots.
    fn is_bot(&self, fields: &QuakeWorldLine<'_>) -> Option<bool> {
        match fields.kind {
            Some(BOT) => return Some(true),
            Some(HUMAN) => return Some(false),
            _ => {}
        }
        let prefix = self.engine.bot_prefix?;
        let has_prefix = fields.plain_name().starts_with(prefix.as_bytes());
        has_prefix.then_some(true)
    }

    #[inline]
    fn push_extra(&mut self, key: &'static str, value: &'a [u8]) {
        self.extras.push(key.as_bytes(), value);
    }
}

/// Sets the teams of players from the key `P`: a digit for each client slot in use, `-` for each
/// free one (etlegacy, src/game/g_main.c). A team can be that of spectators.
fn set_teams(players: &mut [Player], slots: &[u8], spectators: SpectatorMark) {
    let teams = || slots.iter().filter(|slot| **slot != b'-');
    if teams().count() != players.len() || !teams().all(u8::is_ascii_digit) {
        return;
    }
    for (player, team) in players.iter_mut().zip(teams()) {
        let team = i32::from(team.wrapping_sub(b'0'));
        player.team.get_or_insert(team);
        if player.spectator.is_none() {
            player.spectator = spectators.in_team(player.team);
        }
    }
}

/// Sets which players are bots. `slots` and `bots`: a character for each client slot, `-` for a
/// slot without a player, and for one without a bot (Unvanquished/Unvanquished,
/// src/sgame/sg_main.cpp).
fn set_bots(players: &mut [Player], slots: &[u8], bots: &[u8]) {
    let slots_in_use = slots.iter().zip(bots).filter(|(slot, _)| **slot != b'-');
    let has_all = slots.len() == bots.len() && slots_in_use.clone().count() == players.len();
    if !has_all {
        return;
    }
    for (player, (_, bot)) in players.iter_mut().zip(slots_in_use) {
        player.bot = Some(*bot != b'-');
    }
}
