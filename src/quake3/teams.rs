//! Team names and scores from server keys.

use bytes::Bytes;

use super::family::{Family, Known};
use crate::model::{Rules, Style, Team, Text};
use crate::text::known_keys::first_filled;
use crate::text::number;

/// DarkPlaces' numbers of teams in `qcstatus` (a colour and one more) by the team's number on player lines, from 1: red, blue,
/// yellow, pink (xonotic/darkplaces, netconn.c; recorded from Nexuiz).
const NUMBERS: [i32; 4] = [5, 14, 13, 10];
/// The team numbers of Warsow's two teams (captured).
const WARSOW: [i32; 2] = [2, 3];

/// What separates the values of one team in `qcstatus`.
const COMMA: u8 = b',';

/// All teams, where the server tells of any.
pub(super) fn teams(family: Family, known: &Known<'_>, bytes: &Bytes, style: Style) -> Vec<Team> {
    if let Some(status) = known.qcstatus {
        return in_qcstatus(status);
    }
    if let Some(scores) = known.g_match_score {
        return in_match_score(scores, bytes, style);
    }
    let scores = [[known.score_red, known.redscore], [known.score_blue, known.bluescore]];
    let names = [
        [known.g_teamnamered, known.g_namered, known.g_redteam],
        [known.g_teamnameblue, known.g_nameblue, known.g_blueteam],
    ];
    let teams = [1, 2].into_iter().zip(scores).zip(names).filter_map(|((id, scores), names)| {
        let score = first_filled(&scores).and_then(number::integer);
        let name = first_filled(&names).filter(|_| score.is_some() || family.has_teams(known));
        (score.is_some() || name.is_some())
            .then(|| team(id, name.map(|name| Text::part(bytes, name, style)), score))
    });
    teams.collect()
}

fn team(id: i32, name: Option<Text>, score: Option<i64>) -> Team {
    Team { id: Some(id), name, score, extra: Rules::default() }
}

/// `ctf:2.5.2::score!!:caps!!,score:5:0,2:14:1,3`: after `::` the names of a player's scores, those of a team's, then each
/// team's number and scores. `!!` marks the score that decides.
fn in_qcstatus(status: &[u8]) -> Vec<Team> {
    let Some(start) = status.windows(2).position(|pair| pair == b"::") else { return Vec::new() };
    let mut fields =
        status.get(start.saturating_add(2)..).unwrap_or_default().split(|&byte| byte == b':').skip(1);
    let names = fields.next().unwrap_or_default();
    let column = names.split(|&byte| byte == COMMA).position(|name| name.ends_with(b"!!")).unwrap_or(0);
    let mut teams = Vec::new();
    while let (Some(id), Some(scores)) = (fields.next(), fields.next()) {
        let number = number::integer(id);
        let id = (1..).zip(NUMBERS).find(|(_, known)| Some(i64::from(*known)) == number).map(|(id, _)| id);
        let score = scores.split(|&byte| byte == COMMA).nth(column).and_then(number::integer);
        teams.extend(id.map(|id| team(id, None, score)));
    }
    teams
}

/// ` ALPHA: 3 BETA: 14`.
fn in_match_score(scores: &[u8], bytes: &Bytes, style: Style) -> Vec<Team> {
    let mut parts = scores.split(|&byte| byte == b':');
    let mut name = parts.next().unwrap_or_default().trim_ascii();
    let mut teams = Vec::new();
    for (part, id) in parts.zip(WARSOW) {
        let part = part.trim_ascii();
        let end = part.iter().position(|&byte| byte == b' ').unwrap_or(part.len());
        let (score, rest) = part.split_at_checked(end).unwrap_or_default();
        let Some(score) = number::integer(score) else { break };
        teams.push(team(id, Some(Text::part(bytes, name, style)), Some(score)));
        name = rest.trim_ascii();
    }
    teams
}

/// The key `qcstatus` for a match of this type, with these teams' scores.
pub(super) fn qcstatus(game_type: &[u8], version: &[u8], teams: &[Team]) -> Vec<u8> {
    let scored = (1..).zip(NUMBERS).filter_map(|(id, number)| {
        let team = teams.iter().find(|team| team.id == Some(id))?;
        Some(format!(":{number}:{}", team.score?))
    });
    let scored: String = scored.collect();
    let names: &[u8] = if scored.is_empty() { b"" } else { b":score!!" };
    let separator: &[u8] = if version.is_empty() { b"" } else { b":" };
    [game_type, separator, version, b"::score!!", names, scored.as_bytes()].concat()
}

/// Warsow's key `g_match_score`.
pub(super) fn match_score(teams: &[Team]) -> Vec<u8> {
    let mut scores = Vec::new();
    for id in WARSOW {
        let Some(team) = teams.iter().find(|team| team.id == Some(id)) else { break };
        let (Some(name), Some(score)) = (&team.name, team.score) else { break };
        scores.extend_from_slice(format!(" {}: {score}", name.plain().replace(':', " ")).as_bytes());
    }
    scores
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(teams: &[Team]) -> Vec<(i32, String, Option<i64>)> {
        let name = |team: &Team| team.name.as_ref().map_or(String::new(), |name| name.plain().into_owned());
        teams.iter().map(|team| (team.id.unwrap(), name(team), team.score)).collect()
    }

    #[test]
    fn scores_of_teams_are_read_from_a_worlds_status() {
        let none = String::new;
        // Recorded from Nexuiz 2.5.2.
        assert_eq!(
            shown(&in_qcstatus(b"ctf:2.5.2::score!!:caps!!:5:0:14:3")),
            [(1, none(), Some(0)), (2, none(), Some(3))]
        );
        assert_eq!(
            shown(&in_qcstatus(b"ctf:0.8.6:P0:S9:F0:MXonotic::score!!:score,caps!!:13:40,-2:10:7")),
            [(3, none(), Some(-2)), (4, none(), None)]
        );
        for without in ["dm:2.5.2::score!!", "dm:2.5.2::", "dm", "", "::", "a::b:c:5", "a::b:c:6:1"] {
            assert_eq!(in_qcstatus(without.as_bytes()), [], "{without}");
        }
    }

    #[test]
    fn scores_of_teams_are_written_as_they_are_read() {
        let two = [team(1, None, Some(4)), team(2, None, Some(-1))];
        assert_eq!(qcstatus(b"tdm", b"2.5", &two), b"tdm:2.5::score!!:score!!:5:4:14:-1");
        assert_eq!(qcstatus(b"dm", b"", &[]), b"dm::score!!");
        let two = [team(2, Some("ALPHA".into()), Some(3)), team(3, Some("BETA".into()), Some(14))];
        assert_eq!(match_score(&two), b" ALPHA: 3 BETA: 14", "captured from Warsow");
    }

    #[test]
    fn scores_of_a_match_are_read() {
        let read = |scores| shown(&in_match_score(scores, &Bytes::new(), Style::default()));
        let (alpha, beta) = ("ALPHA".to_owned(), "THE BETA".to_owned());
        assert_eq!(read(b" ALPHA: 3 THE BETA: 14"), [(2, alpha.clone(), Some(3)), (3, beta, Some(14))]);
        assert_eq!(read(b" ALPHA: 3 BETA:"), [(2, alpha, Some(3))]);
        assert_eq!(read(b""), []);
        assert_eq!(read(b"a:b:c"), []);
    }
}
