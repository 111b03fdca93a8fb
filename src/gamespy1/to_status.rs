//! From an answer to the model: which key means what.

use bytes::Bytes;

use super::answer::{Answer, Field, Row, sorted};
use super::family::{Family, Known};
use super::wire::{RowKey, count_bound, is_control};
use crate::model::{
    Charset, Player, Rules, RulesBuilder, ServerStatus, Style, Team, Text, ToStatus, listed_bots,
};
use crate::text::{first_filled, number};

const CHARSET: Charset = Charset::Utf8OrWindows1252;
/// Pairs of a usual server.
const USUAL_RULES: usize = 32;

impl ToStatus for Answer {
    /// The normalised model. Its rules and its longer texts share this answer's bytes.
    fn to_status(&self) -> ServerStatus {
        let bytes = self.raw();
        let mut known = Known::default();
        let mut rows = Vec::with_capacity(count_bound(bytes));
        let mut rules = RulesBuilder::new(bytes, CHARSET, USUAL_RULES);
        let own_echo = self
            .asked
            .own_echo
            .then(|| self.echo())
            .flatten()
            .map(|(key, _)| key);
        // What numbers the reply and our own echo describe nothing of the server.
        let is_ours = |key: &[u8], value: &[u8]| is_control(key, value) || own_echo == Some(key);
        let mut pairs = self.fields().pairs();
        for (key, value) in pairs.by_ref() {
            match RowKey::parse(key) {
                Some(row) => rows.push((row, value)),
                None => {
                    if let Some(slot) = known
                        .slot(key)
                        .filter(|slot| slot.is_none_or(<[u8]>::is_empty))
                    {
                        *slot = Some(value);
                    }
                    if !is_ours(key, value) {
                        rules.push(key, value);
                    }
                }
            }
        }
        let field_count = rows.len();
        let [rows, team_rows] = sorted(rows, self.asked);
        let has =
            |rows: &[Row<'_>], field| rows.first().is_some_and(|row| row.get(field).is_some());
        let family = Family::of(
            &known,
            has(&rows, "playername") && has(&team_rows, "teamname"),
        );
        let style = Style::new(CHARSET, family.colours());

        let count = rows.iter().filter(|row| row.name().is_some()).count();
        let are_all = count == rows.len();
        let named_rows = || rows.iter().filter(|row| are_all || row.name().is_some());
        // In the answer to `\teams\` alone, every row is a team's, unless the server answers anything with its status.
        let are_teams = self.asked.teams && !self.asked.players;
        let all_teams =
            count == 0 && (are_teams || rows.iter().any(|row| row.get("size").is_some()));
        if !are_all && !all_teams {
            // Some rows belong neither to these players nor to a team: they are rules under their whole keys.
            let mut numbers: Vec<u32> = named_rows().map(Row::index).collect();
            numbers.sort_unstable();
            rules = RulesBuilder::new(bytes, CHARSET, USUAL_RULES);
            for (key, value) in self.pairs() {
                let is_rule = match RowKey::parse(key) {
                    Some(row) => !row.is_team && numbers.binary_search(&row.index).is_err(),
                    None => !is_ours(key, value),
                };
                if is_rule {
                    rules.push(key, value);
                }
            }
        }
        // In an incomplete answer, a last key without a value is the rest of something that is missing.
        if let Some((key, empty)) = pairs.odd().filter(|_| self.completeness().is_complete()) {
            rules.push(key, empty);
        }

        let extras = RulesBuilder::new(bytes, CHARSET, field_count);
        let sides = known.sides();
        let mut reader = RowReader {
            family,
            style,
            bytes,
            sides,
            rest: Vec::new(),
            extras,
        };
        let of_teams = rows.iter().filter(|_| all_teams).chain(&team_rows);
        let mut teams: Vec<Team> = of_teams.map(|row| reader.team(row)).collect();
        let listed = self.asked.players || count > 0;
        let mut players = listed.then(|| Vec::with_capacity(count));
        players
            .iter_mut()
            .for_each(|players| players.extend(named_rows().map(|row| reader.player(row))));
        let of_players = players.iter_mut().flatten().map(|player| &mut player.extra);
        reader.extras.complete(
            of_players.chain(teams.iter_mut().map(|team| &mut team.extra)),
            style.colours,
        );
        // Battlefield 1942 keeps the rows of players who left: those beyond its own count, by rising number.
        let present = known
            .numplayers
            .filter(|_| family == Family::Battlefield1942);
        if let Some(present) = present.and_then(number::number) {
            let numbers = named_rows().map(Row::index);
            let mut by_number: Vec<_> = numbers.zip(players.iter_mut().flatten()).collect();
            by_number.sort_by_key(|(number, _)| *number);
            by_number
                .into_iter()
                .skip(present)
                .for_each(|(_, player)| player.stale = true);
        }

        for (id, (name, score)) in (family.team_offset()..).zip(sides) {
            match teams.iter_mut().find(|team| team.id == Some(id)) {
                _ if name.is_none() && score.is_none() => {}
                Some(team) => team.score = team.score.or(score),
                None => {
                    let name = name.map(|name| Text::part(bytes, name, style));
                    teams.push(Team {
                        id: Some(id),
                        name,
                        score,
                        ..Team::default()
                    });
                }
            }
        }
        let (bot_count, player_count) =
            counts(&known, family, players.as_deref().unwrap_or_default());
        // Elsewhere it is a setting, as UT99's `Hardcore`.
        let game_style = known
            .gamestyle
            .filter(|_| known.gamename == Some(b"netpanzer"));
        let text = |values: &[Option<&[u8]>]| {
            first_filled(values).map(|raw| Text::part(bytes, raw, style))
        };
        ServerStatus {
            name: text(&[known.hostname]),
            // The map's file name; Unreal 227 has it in `mapfilename` and a title in `mapname`.
            map: text(&[known.mapfilename, known.mapname, known.mapid]),
            game: text(&[known.gamename]),
            mod_name: text(&[known.mod_name(family)]),
            game_type: text(&[known.gametype, known.gameclass, game_style]),
            mutators: self.mutators(&known, style),
            version: text(&[known.gamever, known.version]),
            protocol_version: first_filled(&[known.minnetver, known.mingamever])
                .and_then(number::number),
            game_port: known.hostport.and_then(number::number),
            password: known.password(),
            dedicated: known.dedicated(),
            anti_cheat: known.sv_punkbuster.and_then(number::boolean),
            player_count,
            bot_count,
            max_players: known.maxplayers.and_then(number::number),
            private_slots: known.reservedslots.and_then(number::number),
            time_limit: known.time_limit(family),
            time_left: known.time_left(family),
            score_limit: known.score_limit(),
            players,
            teams,
            rules: rules.build(style.colours),
            completeness: self.completeness(),
            verification: self.verification(),
        }
    }
}

impl Answer {
    /// The names in lists that commas separate, or in keys that repeat.
    fn mutators(&self, known: &Known<'_>, style: Style) -> Option<Vec<Text>> {
        let names = |value: &[u8]| {
            let names = value.split(|&byte| byte == b',').map(<[u8]>::trim_ascii);
            let names =
                names.filter(|name| !name.is_empty() && !name.eq_ignore_ascii_case(b"none"));
            names
                .map(|name| Text::part(self.raw(), name, style))
                .collect::<Vec<_>>()
        };
        let all = |key: &'static [u8]| {
            self.pairs()
                .filter(|(found, _)| found.eq_ignore_ascii_case(key))
                .map(|(_, value)| names(value))
        };
        // Unreal 227 repeats `Mutator`; Battlefield 1942 sends `active_mods` twice, a lone comma first.
        Some(match (known.mutators, known.mutator) {
            (Some(value), _) => names(value),
            (None, Some(_)) => all(b"mutator").flatten().collect(),
            (None, None) => {
                known.active_mods?;
                all(b"active_mods")
                    .find(|names| !names.is_empty())
                    .unwrap_or_default()
            }
        })
    }
}

/// The number of bots, and of all. Bots are known where a key counts them, or where every row says whether
/// it is one.
fn counts(known: &Known<'_>, family: Family, players: &[Player]) -> (Option<u32>, Option<u32>) {
    let counted: Option<u32> = known.numplayers.and_then(number::number);
    // OpenMoHAA counts people in `numplayers`, and people and bots in `minplayers`, 0 without bots.
    let everyone = known.minplayers.filter(|_| family == Family::MedalOfHonor);
    if let (Some(people), Some(everyone)) = (counted, everyone.and_then(number::number::<u32>)) {
        let bots = everyone.saturating_sub(people);
        return (Some(bots), people.checked_add(bots));
    }
    let listed = u32::try_from(players.len()).ok();
    let bots = listed_bots(players).filter(|_| listed >= counted);
    // UT counts people where its bots are listed as well.
    let has_more = bots
        .is_some_and(|bots| bots > 0 && counted == listed.and_then(|all| all.checked_sub(bots)));
    (
        known.numbots.and_then(number::number).or(bots),
        if has_more { listed } else { counted },
    )
}

/// Makes players and teams of rows.
struct RowReader<'a> {
    family: Family,
    style: Style,
    bytes: &'a Bytes,
    /// See [`Known::sides`]: a player's team is the name of one on Tribes: Vengeance.
    sides: [(Option<&'a [u8]>, Option<i64>); 2],
    /// The fields of a row that are not understood.
    rest: Vec<Field<'a>>,
    /// The fields that the model has no name for, of all rows.
    extras: RulesBuilder,
}

impl<'a> RowReader<'a> {
    fn player(&mut self, row: &Row<'a>) -> Player {
        let text = |value: &[u8]| Some(Text::part(self.bytes, value, self.style));
        let side = |value: &[u8]| {
            let side = self
                .sides
                .iter()
                .position(|(name, _)| *name == Some(value))?;
            i32::try_from(side).ok()
        };
        let rest = &mut self.rest;
        rest.extend_from_slice(row.fields());
        // Battlefield 1942 has both `score` and `kills`, and ranks players by `score`.
        let score = take(rest, &["score", "frags", "frag", "kills"], number::whole);
        let secret = rest
            .iter()
            .rev()
            .find(|(field, _)| field.eq_ignore_ascii_case(b"ngsecret"));
        Player {
            bot: secret.map(|(_, value)| value.eq_ignore_ascii_case(b"bot")),
            name: take(rest, &["player", "playername"], text).unwrap_or_default(),
            // SWAT 4 leaves out counters that are zero.
            score: score.or_else(|| (self.family == Family::Swat4).then_some(0)),
            ping: take(rest, &["ping"], number::number),
            team: take(rest, &["team"], |value| {
                side(value).or_else(|| number::number(value))
            }),
            extra: self.extra(),
            ..Player::default()
        }
    }

    /// A row under `teamname_N`, `team_tN` or, in the answer to `\teams\`, `team_N`.
    fn team(&mut self, row: &Row<'a>) -> Team {
        let text = |value: &[u8]| Some(Text::part(self.bytes, value, self.style));
        let rest = &mut self.rest;
        rest.extend_from_slice(row.fields());
        Team {
            id: i32::try_from(row.index())
                .ok()
                .map(|row| row.saturating_add(self.family.team_offset())),
            name: take(rest, &["teamname", "team_t", "team"], text),
            score: take(rest, &["score_t", "score", "teamscore"], number::whole),
            extra: self.extra(),
        }
    }

    /// The rest of a row.
    fn extra(&mut self) -> Rules {
        self.rest
            .drain(..)
            .for_each(|(field, value)| self.extras.push(field, value));
        self.extras.take_part()
    }
}

/// Takes the first field that can be read, of those with the preferred name.
fn take<T>(
    fields: &mut Vec<Field<'_>>,
    names: &[&str],
    read: impl Fn(&[u8]) -> Option<T>,
) -> Option<T> {
    let (position, value) = names.iter().find_map(|name| {
        let is_one = |field: &[u8]| field.eq_ignore_ascii_case(name.as_bytes());
        let mut named = fields
            .iter()
            .enumerate()
            .filter(|(_, (field, _))| is_one(field));
        named.find_map(|(position, (_, value))| Some((position, read(value)?)))
    })?;
    fields.remove(position);
    Some(value)
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
        let (team, player) = (&status.teams[0], &status.listed_players()[0]);
        assert_eq!((team.score, player.score), (Some(3), Some(7)));
        assert!(team.extra.get("score_t").is_some() && player.extra.get("frags").is_some());
    }

    /// UT99 469's answer to `\teams\` (opengsq/opengsq-python, docs/tests/protocols/test_gamespy1/test_get_teams.rst).
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
