//! Converts an answer to a status by the keys of its family.

use bytes::Bytes;

use super::answer::Answer;
use super::answer::rows::{Field, Row, RowFields, Rows};
use super::engines::{BotCount, Key, Known, MutatorKeys, PlayerTeam, Profile};
use super::wire::{RowKey, is_control};
use crate::model::{
    Charset, Player, Rules, RulesBuilder, ServerStatus, Style, Team, Text, ToStatus, listed_bots,
};
use crate::text::number;

const CHARSET: Charset = Charset::Utf8OrWindows1252;
/// The number of rules of a typical server.
const USUAL_RULES: usize = 32;

impl ToStatus for Answer {
    /// Converts to the common model. Its rules and longer texts share this answer's bytes.
    fn to_status(&self) -> ServerStatus {
        let parts = Parts::of(self);
        let known = &parts.known;
        let profile = Profile::of(known, parts.has_named_sides());
        let mut reader = RowReader::new(self, profile, known, parts.field_count);
        let mut teams = reader.teams(parts.team_rows());
        let mut players = parts
            .lists_players
            .then(|| reader.players(parts.player_rows()));
        reader.share_extras(players.as_deref_mut().unwrap_or_default(), &mut teams);
        reader.add_sides(&mut teams);

        let listed = players.as_deref().unwrap_or_default();
        let counts = Counts::of(known, profile, listed);
        let former_players = players
            .as_mut()
            .map(|players| reader.take_former(players, parts.player_rows()))
            .unwrap_or_default();
        let style = reader.style;
        let text = |value: &[u8]| Text::part(self.raw(), value, style);
        let text_of = |keys: &[Key]| known.text(keys).map(text);
        ServerStatus {
            name: text_of(&[Key::HostName]),
            map: text_of(profile.map.all),
            game: text_of(&[Key::GameName]),
            mod_name: profile.mod_name(known).map(text),
            game_type: text_of(profile.game_type.all),
            mutators: mutators(&profile.mutators, known, || self.pairs())
                .map(|names| names.into_iter().map(text).collect()),
            version: text_of(profile.version.all),
            protocol_version: known.number(profile.protocol_version.all),
            game_port: known.number(&[Key::HostPort]),
            password: known.flag(profile.password.all),
            dedicated: known.flag(profile.dedicated.all),
            anti_cheat: known.flag(profile.anti_cheat.all),
            player_count: counts.players,
            bot_count: counts.bots,
            max_players: known.number(&[Key::MaxPlayers]),
            private_slots: known.number(profile.private_slots.all),
            time_limit: known.time(profile.time_limit),
            time_left: profile.time_left(known),
            score_limit: known.number(profile.score_limit.all),
            players: players.into(),
            former_players,
            teams,
            rules: parts.rules.build(style.colours),
            completeness: self.completeness(),
            verification: self.verification(),
        }
        .in_charset(self.asked().charset)
    }
}

/// The pairs of an answer, sorted into known keys, rows and rules.
struct Parts<'a> {
    known: Known<'a>,
    /// The rows of players, and any other numbered rows.
    rows: Vec<Row<'a>>,
    /// The rows of teams under keys of their own.
    named_team_rows: Vec<Row<'a>>,
    rules: RulesBuilder,
    /// The number of fields in all rows.
    field_count: usize,
    /// Whether players were requested, or sent anyway.
    lists_players: bool,
    /// Whether every row is a player's.
    are_all_players: bool,
    /// Whether every row is a team's.
    are_all_teams: bool,
}

impl<'a> Parts<'a> {
    fn of(answer: &'a Answer) -> Self {
        let bytes = answer.raw();
        let own_echo = OwnEcho::of(answer);
        let mut known = Known::new();
        let mut fields = RowFields::with_room_for(bytes);
        let mut rules = RulesBuilder::new(bytes, CHARSET, USUAL_RULES);
        let mut pairs = answer.fields().pairs();
        for (key, value) in pairs.by_ref() {
            if let Some(row) = RowKey::parse(key) {
                fields.push(row, value);
                continue;
            }
            known.insert(key, value);
            if !own_echo.is_foreign(key, value) {
                rules.push(key, value);
            }
        }
        let field_count = fields.len();
        let Rows {
            players: rows,
            teams: named_team_rows,
        } = fields.grouped(answer.asked());

        let named = rows.iter().filter(|row| row.name().is_some()).count();
        let are_all_players = named == rows.len();
        // In the answer to `\teams\` alone, every row is a team's, unless the server answers
        // everything with its status.
        let asked = answer.asked();
        let has_sizes = || rows.iter().any(|row| row.get("size").is_some());
        let are_all_teams = named == 0 && ((asked.teams && !asked.players) || has_sizes());
        if !are_all_players && !are_all_teams {
            rules = rules_and_other_rows(answer, &rows, &own_echo);
        }
        // In an incomplete answer, a last key without a value is a fragment of a pair.
        if answer.completeness().is_complete()
            && let Some((key, empty)) = pairs.odd()
        {
            rules.push(key, empty);
        }
        Self {
            known,
            rows,
            named_team_rows,
            rules,
            field_count,
            lists_players: asked.players || named > 0,
            are_all_players,
            are_all_teams,
        }
    }

    /// Whether there are rows with `playername` and with `teamname`.
    fn has_named_sides(&self) -> bool {
        let has =
            |rows: &[Row<'_>], field| rows.first().is_some_and(|row| row.get(field).is_some());
        has(&self.rows, "playername") && has(&self.named_team_rows, "teamname")
    }

    fn player_rows(&self) -> impl Iterator<Item = &Row<'a>> {
        self.rows
            .iter()
            .filter(|row| self.are_all_players || row.name().is_some())
    }

    fn team_rows(&self) -> impl Iterator<Item = &Row<'a>> {
        let others = self.rows.iter().filter(|_| self.are_all_teams);
        others.chain(&self.named_team_rows)
    }
}

/// The rules, in wire order. Fields of rows that belong to neither players nor teams are among
/// them, under their full keys.
fn rules_and_other_rows(answer: &Answer, rows: &[Row<'_>], own_echo: &OwnEcho<'_>) -> RulesBuilder {
    let named = rows.iter().filter(|row| row.name().is_some());
    let mut numbers: Vec<u32> = named.map(Row::index).collect();
    numbers.sort_unstable();
    let mut rules = RulesBuilder::new(answer.raw(), CHARSET, USUAL_RULES);
    for (key, value) in answer.pairs() {
        let is_rule = match RowKey::parse(key) {
            Some(row) => !row.is_team && numbers.binary_search(&row.index).is_err(),
            None => !own_echo.is_foreign(key, value),
        };
        if is_rule {
            rules.push(key, value);
        }
    }
    rules
}

/// The key of the echo that the query itself added.
struct OwnEcho<'a> {
    key: Option<&'a [u8]>,
}

impl<'a> OwnEcho<'a> {
    fn of(answer: &'a Answer) -> Self {
        let is_own = answer.asked().own_echo;
        let echo = is_own.then(|| answer.echo()).flatten();
        Self {
            key: echo.map(|(key, _)| key),
        }
    }

    /// Whether a pair does not describe the server: an echo, a number or an end mark.
    fn is_foreign(&self, key: &[u8], value: &[u8]) -> bool {
        is_control(key, value) || self.key == Some(key)
    }
}

/// The names of the mutators: those of the first list that is not empty, else one from each
/// repeated key. `None` if no key lists them.
pub(super) fn mutators<'a, Pairs: Iterator<Item = (&'a [u8], &'a [u8])>>(
    keys: &MutatorKeys,
    known: &Known<'a>,
    pairs: impl Fn() -> Pairs,
) -> Option<Vec<&'a [u8]>> {
    let values = |key: Key| {
        let is_key = move |name: &[u8]| name.eq_ignore_ascii_case(key.as_str().as_bytes());
        pairs()
            .filter(move |(name, _)| is_key(name))
            .map(|(_, value)| value)
    };
    let mut is_listed = false;
    for key in keys.lists.all {
        let Some(first) = known.get(*key) else {
            continue;
        };
        is_listed = true;
        let mut lists = std::iter::once(first).chain(values(*key));
        let named = lists.find(|list| mutator_names(list).next().is_some());
        if let Some(list) = named {
            return Some(mutator_names(list).collect());
        }
    }
    if known.get(keys.repeated).is_some() {
        return Some(values(keys.repeated).flat_map(mutator_names).collect());
    }
    is_listed.then(Vec::new)
}

/// The names in a list with commas. UT99 writes `None` for an empty list.
fn mutator_names(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    list.split(|&byte| byte == b',')
        .map(<[u8]>::trim_ascii)
        .filter(|name| !name.is_empty() && !name.eq_ignore_ascii_case(b"none"))
}

/// The number of bots, and of all players.
struct Counts {
    bots: Option<u32>,
    players: Option<u32>,
}

impl Counts {
    /// Bots are known if a key counts them, or if every row is marked as a bot or a person.
    fn of(known: &Known<'_>, profile: &Profile, listed: &[Player]) -> Self {
        let counted: Option<u32> = known.number(&[Key::NumPlayers]);
        if profile.bots == BotCount::MinPlayers
            && let (Some(people), Some(everyone)) = (counted, known.number(&[Key::MinPlayers]))
        {
            let bots = u32::saturating_sub(everyone, people);
            return Self {
                bots: Some(bots),
                players: people.checked_add(bots),
            };
        }
        let rows = u32::try_from(listed.len()).ok();
        let marked = listed_bots(listed).filter(|_| rows >= counted);
        // UT99 counts people only, but can list bots as well.
        let lists_uncounted_bots = marked.is_some_and(|bots| {
            bots > 0 && counted == rows.and_then(|rows| rows.checked_sub(bots))
        });
        Self {
            bots: known.number(&[Key::NumBots]).or(marked),
            players: if lists_uncounted_bots { rows } else { counted },
        }
    }
}

/// Converts rows to players and teams.
struct RowReader<'a> {
    profile: &'static Profile,
    style: Style,
    bytes: &'a Bytes,
    /// Name and score of the two sides in games without rows for teams.
    sides: [SideValues<'a>; 2],
    /// How many rows are of players on the server, if rows of players who left can follow.
    present: Option<usize>,
    /// The score of a player whose row has none.
    absent_score: Option<i64>,
    /// The fields of a row that are not known.
    rest: Vec<Field<'a>>,
    /// The unknown fields of all rows.
    extras: RulesBuilder,
}

/// The name and score of a side, as far as a reply has them.
#[derive(Clone, Copy)]
struct SideValues<'a> {
    name: Option<&'a [u8]>,
    score: Option<i64>,
}

impl<'a> RowReader<'a> {
    fn new(
        answer: &'a Answer,
        profile: &'static Profile,
        known: &Known<'a>,
        field_count: usize,
    ) -> Self {
        let counted = known.number(&[Key::NumPlayers]);
        // In an incomplete reply, the score can be in the missing part.
        let is_whole = answer.completeness().is_complete();
        Self {
            profile,
            style: Style::new(CHARSET, profile.colours),
            bytes: answer.raw(),
            sides: profile.sides.map(|side| SideValues {
                name: known.text(side.name.all),
                score: known.number(side.score.all),
            }),
            present: counted.filter(|_| profile.players.has_stale_rows),
            absent_score: profile.players.absent_score.filter(|_| is_whole),
            rest: Vec::new(),
            extras: RulesBuilder::new(answer.raw(), CHARSET, field_count),
        }
    }

    fn players<'r>(&mut self, rows: impl Iterator<Item = &'r Row<'a>>) -> Vec<Player>
    where
        'a: 'r,
    {
        let (_, max_players) = rows.size_hint();
        let mut players = Vec::with_capacity(max_players.unwrap_or_default());
        for row in rows {
            players.push(self.player(row));
        }
        players
    }

    /// Takes the players who have left out of the list that was read from these rows.
    fn take_former<'r>(
        &self,
        players: &mut Vec<Player>,
        rows: impl Iterator<Item = &'r Row<'a>>,
    ) -> Vec<Player>
    where
        'a: 'r,
    {
        let Some(present) = self.present else {
            return Vec::new();
        };
        let numbers: Vec<u32> = rows.map(Row::index).collect();
        // Their rows have the highest numbers.
        let mut by_number = numbers.clone();
        by_number.sort_unstable();
        let Some(first_former) = by_number.get(present) else {
            return Vec::new();
        };
        let mut numbers = numbers.iter();
        let has_left = |_: &mut Player| numbers.next().is_some_and(|number| number >= first_former);
        players.extract_if(.., has_left).collect()
    }

    fn player(&mut self, row: &Row<'a>) -> Player {
        let rest = &mut self.rest;
        rest.extend_from_slice(row.fields());
        // Battlefield 1942 has both `score` and `kills`, and ranks players by `score`.
        let score = take(rest, &["score", "frags", "frag", "kills"], number::whole);
        let secret = rest
            .iter()
            .rev()
            .find(|(field, _)| field.eq_ignore_ascii_case(b"ngsecret"));
        let bot = secret.map(|(_, value)| value.eq_ignore_ascii_case(b"bot"));
        let name = take(rest, &["player", "playername"], Some);
        let ping = take(rest, &["ping"], number::number);
        let (profile, sides) = (self.profile, self.sides);
        let team = take(rest, &["team"], |value| match profile.players.team {
            PlayerTeam::Number => number::number(value),
            PlayerTeam::SideName => side_number(&sides, value).or_else(|| number::number(value)),
        });
        Player {
            bot,
            name: name.map(|name| self.text(name)).unwrap_or_default(),
            score: score.or(self.absent_score),
            ping,
            team,
            extra: self.extra(),
        }
    }

    fn teams<'r>(&mut self, rows: impl Iterator<Item = &'r Row<'a>>) -> Vec<Team>
    where
        'a: 'r,
    {
        rows.map(|row| self.team(row)).collect()
    }

    /// A row under `teamname_N`, `team_tN` or, in the answer to `\teams\`, `team_N`.
    fn team(&mut self, row: &Row<'a>) -> Team {
        let rest = &mut self.rest;
        rest.extend_from_slice(row.fields());
        let name = take(rest, &["teamname", "team_t", "team"], Some);
        let score = take(rest, &["score_t", "score", "teamscore"], number::whole);
        let number = i32::try_from(row.index()).ok();
        Team {
            id: number.map(|number| number.saturating_add(self.profile.first_team)),
            name: name.map(|name| self.text(name)),
            score,
            extra: self.extra(),
        }
    }

    /// Adds the two sides to the teams.
    fn add_sides(&self, teams: &mut Vec<Team>) {
        for (id, side) in (self.profile.first_team..).zip(self.sides) {
            if side.name.is_none() && side.score.is_none() {
                continue;
            }
            match teams.iter_mut().find(|team| team.id == Some(id)) {
                Some(team) => team.score = team.score.or(side.score),
                None => teams.push(Team {
                    id: Some(id),
                    name: side.name.map(|name| self.text(name)),
                    score: side.score,
                    ..Team::default()
                }),
            }
        }
    }

    /// Gives players and teams their unknown fields.
    fn share_extras(&mut self, players: &mut [Player], teams: &mut [Team]) {
        let empty = RulesBuilder::new(self.bytes, CHARSET, 0);
        let extras = std::mem::replace(&mut self.extras, empty);
        let of_players = players.iter_mut().map(|player| &mut player.extra);
        let of_teams = teams.iter_mut().map(|team| &mut team.extra);
        extras.complete(of_players.chain(of_teams), self.style.colours);
    }

    fn text(&self, value: &[u8]) -> Text {
        Text::part(self.bytes, value, self.style)
    }

    /// The unknown fields of a row.
    fn extra(&mut self) -> Rules {
        for (field, value) in self.rest.drain(..) {
            self.extras.push(field, value);
        }
        self.extras.take_part()
    }
}

/// The number of the side with this name.
fn side_number(sides: &[SideValues<'_>; 2], name: &[u8]) -> Option<i32> {
    let position = sides.iter().position(|side| side.name == Some(name))?;
    i32::try_from(position).ok()
}

/// Takes the first field that can be parsed, by the order of the names.
fn take<'a, T>(
    fields: &mut Vec<Field<'a>>,
    names: &[&str],
    read: impl Fn(&'a [u8]) -> Option<T>,
) -> Option<T> {
    let found = names.iter().find_map(|name| find(fields, name, &read));
    let (position, value) = found?;
    fields.remove(position);
    Some(value)
}

/// The first field with this name that can be parsed: its position and its value.
fn find<'a, T>(
    fields: &[Field<'a>],
    name: &str,
    read: impl Fn(&'a [u8]) -> Option<T>,
) -> Option<(usize, T)> {
    let is_named = |field: &[u8]| field.eq_ignore_ascii_case(name.as_bytes());
    let fields = fields.iter().enumerate();
    let mut named = fields.filter(|(_, (field, _))| is_named(field));
    named.find_map(|(position, (_, value))| Some((position, read(value)?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;

    #[test]
    fn the_first_number_of_a_repeated_field_counts() {
        let reply =
            br"\team_t0\Red\score_t0\none\score_t0\3\player_0\Ann\frags_0\none\frags_0\7\final\\queryid\1.1";
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
