//! Between the wire view and the model: which key means what.

use bytes::Bytes;

use super::answer::Answer;
use super::family::Family;
use super::fields::is_control;
use super::row::{PlayerField, Row, RowKey, Rows};
use crate::model::{Charset, Player, Rules, RulesBuilder, ServerStatus, Style, Team, Text};
use crate::wire::number;
use crate::wire::share::share;

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

/// A pair, its key read once.
type Pair<'a> = (&'a [u8], &'a [u8], Option<RowKey<'a>>);

/// See [`Answer::to_status`].
pub(super) fn to_status(answer: &Answer) -> ServerStatus {
    let fields = answer.fields();
    let mut pairs: Vec<Pair<'_>> = Vec::with_capacity(fields.count_bound());
    let mut reading = fields.iter();
    pairs.extend(reading.by_ref().map(|(key, value)| (key, value, RowKey::parse(key))));
    let named = Named::new(&pairs);
    let family = Family::of(|key| named.get(key));
    let style = Style::new(Charset::Utf8OrWindows1252, family.colours());
    let reader = Reader { family, style, bytes: answer.raw() };
    let rows =
        Rows::collect(pairs.iter().filter_map(|&(key, value, row)| Some((row?, key, value))), pairs.len());

    let mut players: Vec<Row<'_, '_>> = Vec::with_capacity(rows.players().len());
    players.extend(rows.players().filter(|row| row.player_name().is_some()));
    // In the answer to `\teams\` alone, `team_N` is a name, and every row is a team's.
    let all_teams =
        answer.asked().teams || (players.is_empty() && rows.players().any(|row| row.get("size").is_some()));
    let mut teams: Vec<Team> = Vec::new();
    if all_teams {
        teams.extend(rows.players().map(|row| reader.team(row)));
    }
    teams.extend(rows.teams().map(|row| reader.team(row)));
    let mut listed_rows: Vec<u32> = players.iter().map(Row::index).collect();
    listed_rows.sort_unstable();
    let is_placed =
        |row: RowKey<'_>| row.is_team() || all_teams || listed_rows.binary_search(&row.index).is_ok();

    let player_count = named.number("numplayers");
    let text = |keys: &[&str]| named.first(keys).map(|raw| reader.text(raw));
    // In an answer with parts missing a last key without a value is what a cut left of something.
    let odd_key = reading.odd_key().filter(|_| answer.completeness().is_complete());
    let listed = answer.asked().players || !(players.is_empty() || all_teams);
    ServerStatus {
        name: text(&NAME),
        map: text(&MAP),
        game: text(&GAME),
        game_type: text(&GAME_TYPE),
        version: text(&VERSION),
        game_port: named.get("hostport").and_then(number::number),
        password: named.first(&PASSWORD).and_then(number::boolean),
        player_count,
        bot_count: named.number("numbots"),
        max_players: named.number("maxplayers"),
        players: listed.then(|| reader.players(&players, player_count)),
        teams,
        rules: reader.rules(answer, &pairs, odd_key, is_placed),
        completeness: answer.completeness(),
    }
}

/// The keys that have a meaning here, found in one pass.
struct Named<'a>([Option<&'a [u8]>; KEYS.len()]);

const KEYS: [&str; 21] = [
    "hostname",
    "mapfilename",
    "mapname",
    "mapid",
    "gamename",
    "gametype",
    "gameclass",
    "gamever",
    "version",
    "password",
    "needpass",
    "hostport",
    "numplayers",
    "maxplayers",
    "numbots",
    "minnetver",
    "mingamever",
    "rankedserver",
    "gamevariant",
    "realism",
    "pure",
];

impl<'a> Named<'a> {
    fn new(pairs: &[Pair<'a>]) -> Self {
        let mut found = [None; KEYS.len()];
        for &(key, value, row) in pairs {
            if row.is_none()
                && let Some(place) = KEYS.iter().position(|known| is(key, known))
                && let Some(slot) = found.get_mut(place)
                // The first that is not empty.
                && slot.is_none_or(<[u8]>::is_empty)
            {
                *slot = Some(value);
            }
        }
        Self(found)
    }

    fn get(&self, key: &str) -> Option<&'a [u8]> {
        let place = KEYS.iter().position(|known| *known == key)?;
        self.0.get(place).copied().flatten()
    }

    /// The first of these keys that says something: an empty value does not.
    fn first(&self, keys: &[&str]) -> Option<&'a [u8]> {
        keys.iter().find_map(|key| self.get(key).filter(|value| !value.is_empty()))
    }

    fn number(&self, key: &str) -> Option<u32> {
        self.get(key).and_then(number::number)
    }
}

fn is(key: &[u8], name: &str) -> bool {
    key.eq_ignore_ascii_case(name.as_bytes())
}

/// What making texts and rows needs.
struct Reader<'a> {
    family: Family,
    style: Style,
    bytes: &'a Bytes,
}

impl Reader<'_> {
    fn text(&self, raw: &[u8]) -> Text {
        Text::new(share(self.bytes, raw), self.style)
    }

    fn players(&self, rows: &[Row<'_, '_>], player_count: Option<u32>) -> Vec<Player> {
        let mut players: Vec<Player> = rows.iter().map(|row| self.player(*row)).collect();
        let present = player_count.and_then(|count| usize::try_from(count).ok());
        // Battlefield 1942 keeps the rows of players who left: those beyond its own count, by rising number.
        if let (Family::Battlefield1942, Some(present)) = (self.family, present) {
            let mut by_number: Vec<(u32, &mut Player)> =
                rows.iter().map(Row::index).zip(&mut players).collect();
            by_number.sort_by_key(|(index, _)| *index);
            for (_, player) in by_number.into_iter().skip(present) {
                player.stale = true;
            }
        }
        players
    }

    fn player(&self, row: Row<'_, '_>) -> Player {
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
    fn team(&self, row: Row<'_, '_>) -> Team {
        let place_of = |name: &&str| row.fields().iter().position(|field| is(field.name, name));
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
    fn extra<const N: usize>(&self, row: Row<'_, '_>, understood: [Option<usize>; N]) -> Rules {
        let known = understood.iter().flatten().count();
        let mut extra = RulesBuilder::new(self.bytes, self.style, row.fields().len().saturating_sub(known));
        for (place, field) in row.fields().iter().enumerate() {
            if !understood.contains(&Some(place)) {
                extra.push(field.name, field.value);
            }
        }
        extra.build()
    }

    /// Every pair of the server's own, and those of rows that are no player's and no team's, under their whole
    /// keys.
    fn rules(
        &self,
        answer: &Answer,
        pairs: &[Pair<'_>],
        odd_key: Option<&[u8]>,
        is_placed: impl Fn(RowKey<'_>) -> bool,
    ) -> Rules {
        let plain = pairs.iter().filter(|(.., row)| row.is_none()).count();
        let mut rules = RulesBuilder::new(self.bytes, self.style, plain);
        for &(key, value, row) in pairs {
            // Numbers inside a reply, and what we sent for our own sake, say nothing of the server.
            let is_elsewhere = match row {
                Some(row) => is_placed(row),
                None => is_control(key, value) || answer.is_own_echo(key),
            };
            if !is_elsewhere {
                rules.push(key, value);
            }
        }
        if let Some(key) = odd_key {
            rules.push(key, b"");
        }
        rules.build()
    }
}
