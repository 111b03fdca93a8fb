//! Teams and their scores, in each format.

use bytes::Bytes;

use super::engines::{MATCH_SCORE_TEAMS, QCSTATUS_TEAMS, RED_AND_BLUE};
use crate::meaning::{Key, Known};
use crate::model::{Rules, Style, Team, Text};
use crate::text::number;

/// All teams, if the server names any. `has_teams`: whether the match is one of teams. `bytes`: the
/// memory that names share.
pub(super) fn read_teams(
    known: &Known<'_>,
    has_teams: bool,
    bytes: &Bytes,
    style: Style,
) -> Vec<Team> {
    if let Some(status) = known.get(const { Key::new("qcstatus") }) {
        return read_qcstatus_teams(status);
    }
    if let Some(scores) = known.get(const { Key::new("g_match_score") }) {
        return read_match_score(scores, bytes, style);
    }
    let mut teams = Vec::new();
    for keys in &RED_AND_BLUE {
        let score = known.first_filled(keys.scores).and_then(number::integer);
        let name = known.first_filled(keys.names);
        // Servers name the teams in a match without teams, too.
        let is_named = has_teams && name.is_some();
        if score.is_some() || is_named {
            let name = name.map(|name| Text::part(bytes, name, style));
            teams.push(new_team(keys.id, name, score));
        }
    }
    teams
}

/// A team with this number.
fn new_team(id: i32, name: Option<Text>, score: Option<i64>) -> Team {
    Team {
        id: Some(id),
        name,
        score,
        extra: Rules::default(),
    }
}

/// The mark of the score that decides, in a `qcstatus`.
const DECIDES: &[u8] = b"!!";

/// The type of match of a `qcstatus`: its first word.
pub(super) fn read_qcstatus_type(status: &[u8]) -> Option<&[u8]> {
    let word = status.split(|byte| *byte == b':').next()?;
    (!word.is_empty()).then_some(word)
}

/// The teams of a `qcstatus`, such as `ctf:2.5.2::score!!:caps!!,score:5:0,2:14:1,3`.
///
/// After `::` come the names of a player's scores, those of a team's, then each team's number and
/// scores. `!!` marks the score that decides.
fn read_qcstatus_teams(status: &[u8]) -> Vec<Team> {
    let Some(separator) = status.windows(2).position(|pair| pair == b"::") else {
        return Vec::new();
    };
    let after = status.get(separator.saturating_add(2)..);
    let mut fields = after.unwrap_or_default().split(|&byte| byte == b':');
    let _names_of_player_scores = fields.next();
    let names = fields.next().unwrap_or_default();
    let mut names = names.split(|&byte| byte == b',');
    let column = names.position(|name| name.ends_with(DECIDES)).unwrap_or(0);
    let mut teams = Vec::new();
    while let (Some(number), Some(scores)) = (fields.next(), fields.next()) {
        let mut scores = scores.split(|&byte| byte == b',');
        let score = scores.nth(column).and_then(number::integer);
        if let Some(id) = id_of_qcstatus(number) {
            teams.push(new_team(id, None, score));
        }
    }
    teams
}

/// The team's number on player lines, from its number in a `qcstatus`.
fn id_of_qcstatus(number: &[u8]) -> Option<i32> {
    let number: i32 = number::number(number)?;
    let (id, _) = qcstatus_teams().find(|(_, known)| *known == number)?;
    Some(id)
}

/// The teams with their numbers on player lines and in a `qcstatus`.
fn qcstatus_teams() -> impl Iterator<Item = (i32, i32)> {
    (1..).zip(QCSTATUS_TEAMS)
}

/// The teams of a `g_match_score`, such as ` ALPHA: 3 BETA: 14`. `bytes`: the memory that names
/// share.
fn read_match_score(scores: &[u8], bytes: &Bytes, style: Style) -> Vec<Team> {
    let mut parts = scores.split(|&byte| byte == b':');
    let mut name = parts.next().unwrap_or_default().trim_ascii();
    let mut teams = Vec::new();
    for (part, id) in parts.zip(MATCH_SCORE_TEAMS) {
        // After the score comes the name of the next team.
        let part = part.trim_ascii();
        let space = part.iter().position(|&byte| byte == b' ');
        let length = space.unwrap_or(part.len());
        let (score, next_name) = part.split_at_checked(length).unwrap_or_default();
        let Some(score) = number::integer(score) else {
            break;
        };
        teams.push(new_team(
            id,
            Some(Text::part(bytes, name, style)),
            Some(score),
        ));
        name = next_name.trim_ascii();
    }
    teams
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(teams: &[Team]) -> Vec<(i32, String, Option<i64>)> {
        let name = |team: &Team| {
            team.name
                .as_ref()
                .map_or(String::new(), |name| name.plain().into_owned())
        };
        teams
            .iter()
            .map(|team| (team.id.unwrap(), name(team), team.score))
            .collect()
    }

    #[test]
    fn scores_of_teams_are_read_from_a_worlds_status() {
        let none = String::new;
        // Recorded from Nexuiz 2.5.2.
        assert_eq!(
            shown(&read_qcstatus_teams(b"ctf:2.5.2::score!!:caps!!:5:0:14:3")),
            [(1, none(), Some(0)), (2, none(), Some(3))]
        );
        assert_eq!(
            shown(&read_qcstatus_teams(
                b"ctf:0.8.6:P0:S9:F0:MXonotic::score!!:score,caps!!:13:40,-2:10:7"
            )),
            [(3, none(), Some(-2)), (4, none(), None)]
        );
        // Without a mark, the first score decides.
        assert_eq!(
            shown(&read_qcstatus_teams(b"ctf:1::score:caps,score:5:2,40")),
            [(1, none(), Some(2))]
        );
        for without in [
            "dm:2.5.2::score!!",
            "dm:2.5.2::",
            "dm",
            "",
            "::",
            "a::b:c:5",
            "a::b:c:6:1",
        ] {
            assert_eq!(read_qcstatus_teams(without.as_bytes()), [], "{without}");
        }
    }

    #[test]
    fn scores_of_a_match_are_read() {
        let read = |scores| shown(&read_match_score(scores, &Bytes::new(), Style::default()));
        let (alpha, beta) = ("ALPHA".to_owned(), "THE BETA".to_owned());
        assert_eq!(
            read(b" ALPHA: 3 THE BETA: 14"),
            [(2, alpha.clone(), Some(3)), (3, beta, Some(14))]
        );
        assert_eq!(read(b" ALPHA: 3 BETA:"), [(2, alpha, Some(3))]);
        assert_eq!(read(b" BETA: 7"), [(2, "BETA".into(), Some(7))]);
        assert_eq!(read(b""), []);
        assert_eq!(read(b"a:b:c"), []);
    }
}
