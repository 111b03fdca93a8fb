//! Converts an answer to a status by the keys of its engine.

use std::collections::BTreeSet;

use super::answer::rows::{Row, RowFields, Rows};
use super::answer::{Answer, Asked};
use super::counts::PlayerCounts;
use super::engines::{Engine, MUTATOR_KEYS, MUTATORS, PlayerTeam};
use super::wire::{RowKey, is_control};
use crate::meaning::{self, Key, Known, Reader};
use crate::model::completeness::{Completeness, Part};
use crate::model::{
    Charset, ExtrasBuilder, Player, Rules, RulesBuilder, ServerStatus, Team, Text, ToStatus,
};
use crate::text::{MAX_WORD, lower_case, number};

const CHARSET: Charset = Charset::Utf8OrWindows1252;

/// The number of rules of a typical server.
const USUAL_RULES: usize = 32;

impl ToStatus for Answer {
    /// Converts to the common model. Its rules and longer texts share this answer's bytes.
    fn to_status(&self) -> ServerStatus {
        self.status_by(Engine::of)
    }
}

impl Answer {
    /// The status, read by the row of this engine.
    pub(super) fn status_by(
        &self,
        engine_of: impl FnOnce(&Known<'_>, bool) -> &'static Engine,
    ) -> ServerStatus {
        let parts = Parts::of(self);
        let engine = engine_of(&parts.known, parts.has_named_sides);
        let keys = Reader::new(&engine.row, &parts.known, self.raw());
        let mut status = ServerStatus {
            mutators: parts.mutators(&keys),
            ..ServerStatus::default()
        };
        keys.fill(&mut status);

        let mut reader = RowReader::new(engine, &keys, &parts);
        // The rows share one list of unknown fields. Each `extra` is empty until the list is whole.
        let mut teams: Vec<_> = parts.teams.iter().map(|row| reader.team(row)).collect();
        let mut players: Vec<_> = parts.players.iter().map(|row| reader.player(row)).collect();
        reader.fill_extras(&mut players, &mut teams);
        reader.add_sides(&mut teams);
        status.teams = teams;

        let is_complete = parts.completeness.is_complete();
        let counts_bots = engine.counts_unlisted_bots && is_complete;
        let counts = PlayerCounts::read(&keys, &players, counts_bots);
        status.player_count = counts.players;
        status.bot_count = counts.bots;
        status.former_players = reader.take_former(&mut players, &parts.players);
        let lists_nobody = players.is_empty() && status.former_players.is_empty();
        let counts_somebody = counts.players.is_some_and(|count| count > 0);
        let lacks_list = lists_nobody && counts_somebody && !engine.may_be_unlisted;
        if parts.has_player_list(self.asked()) && !lacks_list {
            status.players = players.into();
        }
        status.rules = parts.rules.build(keys.style.colours);
        status.completeness = parts.completeness;
        status.verification = self.verification();
        status
            .in_charset(self.asked().charset)
            .without_contradictions()
    }
}

/// The pairs of an answer, sorted into known keys, rows and rules.
struct Parts<'a> {
    known: Known<'a>,
    /// Every value of a key of mutators, because some servers repeat these keys.
    mutators: Vec<(Key, &'a [u8])>,
    players: Vec<Row<'a>>,
    teams: Vec<Row<'a>>,
    /// Whether there are rows with `playername` and with `teamname`.
    has_named_sides: bool,
    rules: RulesBuilder,
    /// The number of fields in all rows.
    field_count: usize,
    completeness: Completeness,
}

impl<'a> Parts<'a> {
    fn of(answer: &'a Answer) -> Self {
        let bytes = answer.raw();
        let mut known = Known::default();
        let mut mutators = Vec::new();
        let mut fields = RowFields::with_room_for(bytes);
        let mut rules = RulesBuilder::new(bytes, CHARSET, USUAL_RULES);
        for (key, value) in answer.pairs() {
            if let Some(row) = RowKey::parse(key) {
                fields.push(row, value);
                continue;
            }
            if let Some(key) = known.insert(key, value)
                && MUTATOR_KEYS.has(key)
            {
                mutators.push((key, value));
            }
            if !is_control(key, value) {
                rules.push(key, value);
            }
        }
        let field_count = fields.len();
        let Rows { players, teams } = fields.grouped(answer.asked());
        let has_named_sides = first_has(&players, "playername") && first_has(&teams, "teamname");
        let mut parts = Self {
            known,
            mutators,
            players,
            teams,
            has_named_sides,
            rules,
            field_count,
            completeness: answer.completeness(),
        };
        parts.divide_players(answer);
        parts
    }

    /// The names under the first key of mutators that has any. No names are an empty list.
    fn mutators(&self, keys: &Reader<'_>) -> Option<Vec<Text>> {
        if self.mutators.is_empty() {
            return None;
        }
        let entries = keys.row.entries().filter(|entry| entry.field == MUTATORS);
        for entry in entries {
            let lists = self.mutators.iter().filter(|(key, _)| *key == entry.key);
            let names = lists.flat_map(|(_, list)| mutator_names(list));
            let names: Vec<_> = names.map(|name| keys.text(name)).collect();
            if !names.is_empty() {
                return Some(names);
            }
        }
        Some(Vec::new())
    }

    /// Divides the rows of players, all of which lack a mark of teams, into players, teams, and
    /// rows that are neither.
    fn divide_players(&mut self, answer: &Answer) {
        let asked = answer.asked();
        if are_teams(&self.players, asked) {
            let unmarked = std::mem::take(&mut self.players);
            let marked = std::mem::replace(&mut self.teams, unmarked);
            self.teams.extend(marked);
        }
        let rows = self.players.len();
        self.players.retain(|row| row.name().is_some());
        if self.players.len() < rows {
            // The fields of the other rows are among the rules, in wire order. Few servers send
            // such rows, so the pairs are read again only then.
            self.rules = rules_and_other_rows(answer, &self.players);
        }
    }

    /// Whether a list of players was sent. An empty one shows only if it was requested.
    fn has_player_list(&self, asked: &Asked) -> bool {
        let lacks_players = self.completeness.lacks(Part::Players);
        !self.players.is_empty() || (asked.players && !lacks_players)
    }
}

/// The names in a list with commas. UT99 writes `None` for an empty list.
fn mutator_names(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    list.split(|&byte| byte == b',')
        .map(<[u8]>::trim_ascii)
        .filter(|name| !name.is_empty() && !name.eq_ignore_ascii_case(b"none"))
}

/// Whether the first of these rows has a field.
fn first_has(rows: &[Row<'_>], field: &str) -> bool {
    let first = rows.first();
    first.is_some_and(|row| row.get(field).is_some())
}

/// Whether rows without a mark of teams are teams. In the answer to `\teams\` alone, every row is a
/// team's, unless the server answers everything with its status.
fn are_teams(rows: &[Row<'_>], asked: &Asked) -> bool {
    let has_names = rows.iter().any(|row| row.name().is_some());
    if has_names {
        return false;
    }
    let is_list_of_teams = asked.teams && !asked.players;
    is_list_of_teams || rows.iter().any(|row| row.get("size").is_some())
}

/// The rules, in wire order. Fields of rows that belong to neither players nor teams are among
/// them, under their full keys.
fn rules_and_other_rows(answer: &Answer, players: &[Row<'_>]) -> RulesBuilder {
    let numbers: BTreeSet<u32> = players.iter().map(Row::index).collect();
    let mut rules = RulesBuilder::new(answer.raw(), CHARSET, USUAL_RULES);
    for (key, value) in answer.pairs() {
        let is_rule = match RowKey::parse(key) {
            Some(row) => !row.is_team && !numbers.contains(&row.index),
            None => !is_control(key, value),
        };
        if is_rule {
            rules.push(key, value);
        }
    }
    rules
}

/// Converts rows to players and teams.
struct RowReader<'a> {
    engine: &'static Engine,
    keys: &'a Reader<'a>,
    /// Name and score of the two sides in games without rows for teams.
    sides: [SideValues<'a>; 2],
    /// How many rows are of players on the server, if rows of players who left can follow.
    present: Option<usize>,
    /// The number of players without a team.
    no_team: Option<i32>,
    /// The score of a player whose row has none.
    absent_score: Option<i64>,
    /// The unknown fields of all rows that were read. Players and teams get theirs at the end.
    extras: ExtrasBuilder,
}

/// The name and score of a side, as far as a reply has them.
#[derive(Clone, Copy)]
struct SideValues<'a> {
    name: Option<&'a [u8]>,
    score: Option<i64>,
}

impl<'a> RowReader<'a> {
    fn new(engine: &'static Engine, keys: &'a Reader<'a>, parts: &Parts<'_>) -> Self {
        let counted = keys.number(meaning::Field::Players);
        // In an incomplete reply, the score can be in the missing part.
        let is_complete = parts.completeness.is_complete();
        Self {
            engine,
            keys,
            sides: [0, 1].map(|side| SideValues {
                name: keys.value(meaning::Field::SideName(side)),
                score: keys.number(meaning::Field::SideScore(side)),
            }),
            present: if engine.has_stale_rows { counted } else { None },
            no_team: engine.no_team.filter(|number| {
                let can_be_team = *number == engine.first_team;
                !(can_be_team && has_other_team(&parts.players, *number))
            }),
            absent_score: engine.absent_score.filter(|_| is_complete),
            extras: ExtrasBuilder::new(keys.bytes, CHARSET, parts.field_count),
        }
    }

    /// Takes the players who have left out of the list that was read from these rows.
    fn take_former(&self, players: &mut Vec<Player>, rows: &[Row<'_>]) -> Vec<Player> {
        let Some(present) = self.present else {
            return Vec::new();
        };
        // Players who have left have the rows with the highest numbers.
        let mut by_number: Vec<u32> = rows.iter().map(Row::index).collect();
        by_number.sort_unstable();
        let Some(first_former) = by_number.get(present) else {
            return Vec::new();
        };
        let mut present_players = Vec::new();
        let mut former_players = Vec::new();
        for (player, row) in players.drain(..).zip(rows) {
            if row.index() < *first_former {
                present_players.push(player);
            } else {
                former_players.push(player);
            }
        }
        *players = present_players;
        former_players
    }

    fn player(&mut self, row: &Row<'a>) -> Player {
        const MARK: &[u8] = BOT_MARK.as_bytes();
        const MESH: &[u8] = MODEL.as_bytes();
        let (mut name, mut score) = (Best::default(), Best::default());
        let (mut ping, mut team) = (Best::default(), Best::default());
        let (mut bot, mut spectator) = (None, None);
        for (position, (field, value)) in row.fields().iter().enumerate() {
            match lower_case(field, &mut [0; MAX_WORD]) {
                b"player" => name.offer(0, position, Some(*value)),
                b"playername" => name.offer(1, position, Some(*value)),
                // Battlefield 1942 has both `score` and `kills`, and ranks players by `score`.
                b"score" => score.offer(0, position, number::whole(value)),
                b"frags" => score.offer(1, position, number::whole(value)),
                b"frag" => score.offer(2, position, number::whole(value)),
                b"kills" => score.offer(3, position, number::whole(value)),
                b"ping" => ping.offer(0, position, number::ping(value)),
                b"team" => team.offer(0, position, self.player_team(value)),
                // Of several marks, the last one counts.
                MARK => bot = Some(value.eq_ignore_ascii_case(b"bot")),
                MESH if *value == SPECTATOR => spectator = Some(true),
                _ => {}
            }
        }
        let taken = [name.position, score.position, ping.position, team.position];
        let extra = self.reserve_extra(row, &taken);
        Player {
            name: name
                .value
                .map(|name| self.keys.text(name))
                .unwrap_or_default(),
            score: score.value.or(self.absent_score),
            ping: ping.value,
            team: team.value,
            bot,
            spectator,
            extra,
        }
    }

    /// The team of a player: a number, or the name of a side.
    fn player_team(&self, value: &[u8]) -> Option<i32> {
        match self.engine.player_team {
            PlayerTeam::Number => {
                number::number(value).filter(|number| Some(*number) != self.no_team)
            }
            PlayerTeam::SideName => {
                side_number(&self.sides, value).or_else(|| number::number(value))
            }
        }
    }

    /// A row under `teamname_N`, `team_tN` or, in the answer to `\teams\`, `team_N`.
    fn team(&mut self, row: &Row<'a>) -> Team {
        let (mut name, mut score) = (Best::default(), Best::default());
        for (position, (field, value)) in row.fields().iter().enumerate() {
            match lower_case(field, &mut [0; MAX_WORD]) {
                b"teamname" => name.offer(0, position, Some(*value)),
                b"team_t" => name.offer(1, position, Some(*value)),
                b"team" => name.offer(2, position, Some(*value)),
                b"score_t" => score.offer(0, position, number::whole(value)),
                b"score" => score.offer(1, position, number::whole(value)),
                b"teamscore" => score.offer(2, position, number::whole(value)),
                _ => {}
            }
        }
        let extra = self.reserve_extra(row, &[name.position, score.position]);
        Team {
            id: self.engine.first_team.checked_add_unsigned(row.index()),
            name: name.value.map(|name| self.keys.text(name)),
            score: score.value,
            extra,
        }
    }

    /// Adds the two sides to the teams.
    fn add_sides(&self, teams: &mut Vec<Team>) {
        for (id, side) in (self.engine.first_team..).zip(self.sides) {
            if side.name.is_none() && side.score.is_none() {
                continue;
            }
            match teams.iter_mut().find(|team| team.id == Some(id)) {
                Some(team) => team.score = team.score.or(side.score),
                None => teams.push(Team {
                    id: Some(id),
                    name: side.name.map(|name| self.keys.text(name)),
                    score: side.score,
                    ..Team::default()
                }),
            }
        }
    }

    /// Fills the `extra` of all players and teams, which [`Self::reserve_extra`] left empty.
    fn fill_extras(&mut self, players: &mut [Player], teams: &mut [Team]) {
        let empty = ExtrasBuilder::new(self.keys.bytes, CHARSET, 0);
        let extras = std::mem::replace(&mut self.extras, empty);
        let of_players = players.iter_mut().map(|player| &mut player.extra);
        let of_teams = teams.iter_mut().map(|team| &mut team.extra);
        extras.complete(of_players.chain(of_teams), self.keys.style.colours);
    }

    /// Adds the fields of a row that were not taken, the unknown ones, to the shared list.
    ///
    /// The result knows only its place in the list, and is empty until [`Self::fill_extras`].
    fn reserve_extra(&mut self, row: &Row<'a>, taken: &[Option<usize>]) -> Rules {
        for (position, (field, value)) in row.fields().iter().enumerate() {
            if !taken.contains(&Some(position)) {
                self.extras.push(field, value);
            }
        }
        self.extras.take_part()
    }
}

/// The field of a row that counts for a field of the model: of those that can be read, the first
/// one under the name with the lowest rank.
#[derive(Default)]
struct Best<T> {
    rank: usize,
    position: Option<usize>,
    value: Option<T>,
}

impl<T> Best<T> {
    /// Takes a value that could be read, unless there is one of this rank or a lower one.
    fn offer(&mut self, rank: usize, position: usize, value: Option<T>) {
        let is_better = self.value.is_none() || rank < self.rank;
        if value.is_some() && is_better {
            *self = Self {
                rank,
                position: Some(position),
                value,
            };
        }
    }
}

/// Whether some player has another team's number.
fn has_other_team(players: &[Row<'_>], team: i32) -> bool {
    let numbers = players.iter().filter_map(|row| row.get("team"));
    let mut numbers = numbers.filter_map(number::number::<i32>);
    numbers.any(|number| number != team)
}

/// The field of players that shows whether a player is a bot.
pub(super) const BOT_MARK: &str = "ngsecret";

/// The field of players with the name of their model, and the name of the model that spectators
/// have (Engine/Spectator.uc of UT99, whose query server sends `MenuName`; captured). Servers in
/// other languages translate it, so another model proves nothing.
pub(super) const MODEL: &str = "mesh";
pub(super) const SPECTATOR: &[u8] = b"Spectator";

/// The number of the side with this name.
fn side_number(sides: &[SideValues<'_>; 2], name: &[u8]) -> Option<i32> {
    let position = sides.iter().position(|side| side.name == Some(name))?;
    i32::try_from(position).ok()
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::limits::Limits;

    #[test]
    fn the_first_number_of_a_repeated_field_counts() {
        let reply =
            br"\team_t0\Red\score_t0\none\score_t0\3\tickets1\9\player_0\Ann\frags_0\none\frags_0\7\final\\queryid\1.1";
        let answer =
            Answer::from_datagrams([Bytes::from_static(reply)], &Limits::default()).unwrap();
        let status = answer.to_status();
        let (team, player) = (&status.teams[0], &status.players[0]);
        assert_eq!((team.score, player.score), (Some(3), Some(7)));
        assert!(team.extra.get("score_t").is_some() && player.extra.get("frags").is_some());
    }

    /// UT99 469's answer to `\teams\` (opengsq/opengsq-python,
    /// docs/tests/protocols/test_gamespy1/test_get_teams.rst).
    #[test]
    fn scores_of_teams_are_fractions() {
        let reply =
            br"\team_0\Red\score_0\7.000000\size_0\4\team_1\Blue\score_1\-6.50\size_1\3\queryid\9.1\final\";
        let answer =
            Answer::from_datagrams([Bytes::from_static(reply)], &Limits::default()).unwrap();
        let scores = answer
            .to_status()
            .teams
            .iter()
            .map(|team| team.score)
            .collect::<Vec<_>>();
        assert_eq!(scores, [Some(7), Some(-6)]);
    }
}
