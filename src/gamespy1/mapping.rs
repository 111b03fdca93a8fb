//! Between the wire view and the model: which key means what.

use bytes::Bytes;

use super::answer::Answer;
use super::family::Family;
use super::fields::is_control;
use super::row::Row;
use super::row_collector::RowCollector;
use super::row_key::{PlayerField, RowKey};
use crate::model::{Charset, Player, Rules, RulesBuilder, ServerStatus, Style, Team, Text};
use crate::text::number;
use crate::text::words::{Named, Words, word};

/// Keys by meaning, the more telling first. The file name of the map stands under `mapname` but for Unreal 227,
/// where that is the title.
pub(super) const NAME: [&str; 1] = ["hostname"];
pub(super) const MAP: [&str; 3] = ["mapfilename", "mapname", "mapid"];
pub(super) const GAME: [&str; 1] = ["gamename"];
pub(super) const GAME_TYPE: [&str; 2] = ["gametype", "gameclass"];
pub(super) const VERSION: [&str; 2] = ["gamever", "version"];
pub(super) const PASSWORD: [&str; 2] = ["password", "needpass"];
/// What a team's are: in rows of their own, and in the answer to `\teams\`.
const TEAM_NAME: [&str; 3] = ["teamname", "team_t", "team"];
const TEAM_SCORE: [&str; 3] = ["score_t", "score", "teamscore"];

const CHARSET: Charset = Charset::Utf8OrWindows1252;
/// Room for the pairs of a usual server; more make it grow.
const RULES: usize = 32;

/// See [`Answer::to_status`].
pub(super) fn to_status(answer: &Answer) -> ServerStatus {
    let (fields, bytes) = (answer.fields(), answer.raw());
    let mut named = Named::new(&WORDS);
    let mut rows = RowCollector::for_bytes(bytes.len());
    let mut rules = RulesBuilder::new(bytes, CHARSET, RULES);
    let own_echo = answer.own_echo();
    let mut pairs = fields.iter();
    for (key, value) in pairs.by_ref() {
        match RowKey::parse(key) {
            Some(row) => rows.add(row, key, value),
            None => {
                named.note_filled(key, value);
                if !is_ours(key, value, own_echo) {
                    rules.push(key, value);
                }
            }
        }
    }
    let rows = rows.finish();
    let family = Family::of(|key| named.get(WORDS.place(key.as_bytes())?));
    let style = Style::new(CHARSET, family.colours());

    let named_rows = || rows.players().filter(|row| row.player_name().is_some());
    let count = named_rows().count();
    // In the answer to `\teams\` alone, `team_N` is a name, and every row is a team's.
    let all_teams =
        answer.asked().teams || (count == 0 && rows.players().any(|row| row.get("size").is_some()));
    if count < rows.players().len() && !all_teams {
        rules = with_rows(answer, named_rows().map(|row| row.index()).collect(), own_echo);
    }
    // In an answer with parts missing a last key without a value is what a cut left of something.
    if let Some(key) = pairs.odd_key().filter(|_| answer.completeness().is_complete()) {
        rules.push(key, b"");
    }

    let count_of = |place: usize| named.get(place).and_then(number::number::<u32>);
    let player_count = count_of(word!("numplayers"));
    let extras = RulesBuilder::new(bytes, CHARSET, rows.field_count());
    let mut reader = Reader { family, style, bytes, extras };
    let team_rows = rows.players().filter(|_| all_teams).chain(rows.teams());
    let mut teams: Vec<Team> = team_rows.map(|row| reader.team(row)).collect();
    let listed = answer.asked().players || !(count == 0 || all_teams);
    let mut players = listed.then(|| {
        let mut players = Vec::with_capacity(count);
        for row in named_rows() {
            players.push(reader.player(row));
        }
        players
    });
    let of_players = players.iter_mut().flatten().map(|player| &mut player.extra);
    reader.extras.complete(of_players.chain(teams.iter_mut().map(|team| &mut team.extra)), style.colours);
    if let (Family::Battlefield1942, Some(players)) = (family, &mut players) {
        mark_stale(players, named_rows(), player_count);
    }

    let text = |places: &[usize]| named.first(places).map(|raw| Text::part(bytes, raw, style));
    ServerStatus {
        name: text(const { &WORDS.all(NAME) }),
        map: text(const { &WORDS.all(MAP) }),
        game: text(const { &WORDS.all(GAME) }),
        game_type: text(const { &WORDS.all(GAME_TYPE) }),
        version: text(const { &WORDS.all(VERSION) }),
        game_port: named.get(word!("hostport")).and_then(number::number),
        password: named.first(const { &WORDS.all(PASSWORD) }).and_then(number::boolean),
        player_count,
        bot_count: count_of(word!("numbots")),
        max_players: count_of(word!("maxplayers")),
        players,
        teams,
        rules: rules.build(style.colours),
        completeness: answer.completeness(),
        ..ServerStatus::default()
    }
}

/// Keys that mean something to the model.
static WORDS: Words<21> = Words::new([
    "pure",
    "mapid",
    "mapname",
    "gamever",
    "version",
    "numbots",
    "realism",
    "hostname",
    "gamename",
    "gametype",
    "password",
    "needpass",
    "hostport",
    "gameclass",
    "minnetver",
    "numplayers",
    "maxplayers",
    "mingamever",
    "mapfilename",
    "gamevariant",
    "rankedserver",
]);

/// Whether a pair numbers the reply, or is what we sent for our own sake: such a one says nothing of the server.
fn is_ours(key: &[u8], value: &[u8], own_echo: Option<&[u8]>) -> bool {
    is_control(key, value) || own_echo == Some(key)
}

/// The rules where some rows are neither of these players nor a team's: these stand among the server's own pairs,
/// under their whole keys.
fn with_rows(answer: &Answer, mut players: Vec<u32>, own_echo: Option<&[u8]>) -> RulesBuilder {
    players.sort_unstable();
    let mut rules = RulesBuilder::new(answer.raw(), CHARSET, RULES);
    for (key, value) in answer.fields() {
        let is_elsewhere = match RowKey::parse(key) {
            Some(row) => row.is_team() || players.binary_search(&row.index).is_ok(),
            None => is_ours(key, value, own_echo),
        };
        if !is_elsewhere {
            rules.push(key, value);
        }
    }
    rules
}

/// Battlefield 1942 keeps the rows of players who left: those beyond its own count, by rising number.
fn mark_stale<'a: 'r, 'r>(
    players: &mut [Player],
    rows: impl Iterator<Item = Row<'a, 'r>>,
    present: Option<u32>,
) {
    let Some(present) = present.and_then(|count| usize::try_from(count).ok()) else { return };
    let mut by_number: Vec<(u32, &mut Player)> = rows.map(|row| row.index()).zip(players).collect();
    by_number.sort_by_key(|(index, _)| *index);
    for (_, player) in by_number.into_iter().skip(present) {
        player.stale = true;
    }
}

/// What making texts and rows needs.
struct Reader<'a> {
    family: Family,
    style: Style,
    bytes: &'a Bytes,
    /// What rows say beyond what the model has a name for.
    extras: RulesBuilder,
}

impl Reader<'_> {
    fn text(&self, raw: &[u8]) -> Text {
        Text::part(self.bytes, raw, self.style)
    }

    fn player(&mut self, row: Row<'_, '_>) -> Player {
        let mut player = Player::default();
        // Which fields were understood; of repeated ones the first.
        let (mut name, mut score, mut ping, mut team) = (None, None, None, None);
        for (place, field) in row.fields().iter().enumerate() {
            let number = || number::integer(field.value);
            match PlayerField::of(field.name) {
                Some(PlayerField::Name) if name.is_none() => {
                    player.name = self.text(field.value);
                    name = Some(place);
                }
                Some(kind @ (PlayerField::Score | PlayerField::Frags | PlayerField::Kills)) => {
                    // Battlefield 1942 has both `score` and `kills`: the former is what counts.
                    let rank = kind as u8;
                    if score.is_none_or(|(best, _)| rank < best)
                        && let Some(value) = number()
                    {
                        player.score = Some(value);
                        score = Some((rank, place));
                    }
                }
                Some(PlayerField::Ping) if ping.is_none() => {
                    player.ping = number().and_then(|value| value.try_into().ok());
                    ping = player.ping.map(|_| place);
                }
                Some(PlayerField::Team) if team.is_none() => {
                    let value = number().and_then(|value| value.try_into().ok());
                    player.team = value.map(|value| self.family.team(value));
                    team = player.team.map(|_| place);
                }
                Some(PlayerField::Secret) => player.bot = Some(field.value.eq_ignore_ascii_case(b"bot")),
                _ => {}
            }
        }
        // SWAT 4 leaves out counters that are zero.
        player.score = player.score.or_else(|| (self.family == Family::Swat4).then_some(0));
        player.extra = self.extra(row, [name, score.map(|(_, place)| place), ping, team]);
        player
    }

    /// A row under `teamname_N`, `team_tN` or, in the answer to `\teams\`, `team_N`.
    fn team(&mut self, row: Row<'_, '_>) -> Team {
        let place_of = |name: &&str| {
            row.fields().iter().position(|field| field.name.eq_ignore_ascii_case(name.as_bytes()))
        };
        let field = |place: usize| row.fields().get(place).map(|field| field.value);
        let number = |place: usize| field(place).and_then(number::integer);
        let name = TEAM_NAME.iter().find_map(place_of);
        let score = TEAM_SCORE.iter().filter_map(place_of).find(|place| number(*place).is_some());
        Team {
            id: i32::try_from(row.index()).ok(),
            name: name.and_then(field).map(|name| self.text(name)),
            score: score.and_then(number),
            extra: self.extra(row, [name, score]),
        }
    }

    /// What a row says beyond the fields that were understood, which stand at these places.
    fn extra<const N: usize>(&mut self, row: Row<'_, '_>, understood: [Option<usize>; N]) -> Rules {
        for (place, field) in row.fields().iter().enumerate() {
            if !understood.contains(&Some(place)) {
                self.extras.push(field.name, field.value);
            }
        }
        self.extras.take_part()
    }
}
