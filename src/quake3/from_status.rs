//! Encodes a [`ServerStatus`] as the pairs of an infostring, and player lines.
//!
//! Bytes that the format cannot carry are replaced: `\ ; "` by look-alikes, control bytes by nothing.

use std::borrow::Cow;

use super::to_status::{NUMBERS, WARSOW, counts_people_only};
use super::wire::infostring::{InfoString, InfoStringBuilder, sanitise};
use crate::model::{Charset, Player, ServerStatus, Team, Text, TextRef};
use crate::options::{Detail, Engine};
use crate::service::Service;
use crate::text::number::{self, integer};

/// Bytes of a usual player line.
const USUAL_LINE: usize = 32;

/// The pairs that the status's fields are written as, up to so many bytes: of an `infoResponse`, or of a status without the key
/// `clients`. A key is written once.
pub(super) fn named(
    detail: Detail,
    status: &ServerStatus,
    service: &Service,
    room: usize,
) -> InfoStringBuilder {
    let text = |text: &Option<Text>| text.as_ref().map(self::text);
    let (is_info, engine) = (detail == Detail::Short, service.engine);
    let is_quake3 = !matches!(engine, Engine::DarkPlaces | Engine::Warsow);
    // Where the rules that follow say it in a key of their own, no other key does.
    let lacks = |keys: &[&str]| keys.iter().all(|key| status.rules.get(key).is_none());
    let people_only = is_info
        && status
            .game
            .as_ref()
            .is_some_and(|game| counts_people_only(game.raw()));
    let bots_on_top = status.bot_count.filter(|_| people_only).unwrap_or(0);
    let clients = status
        .online()
        .filter(|_| is_info)
        .map(|online| online.saturating_sub(bots_on_top));
    // ioquake3's infoResponse counts people, others bots.
    let counts_people = engine == Engine::Quake3 && !people_only;
    let people = clients
        .filter(|_| counts_people)
        .and_then(|clients| clients.checked_sub(status.bot_count?));
    let locked = status.password.map(u8::from);
    // An infoResponse's number of slots leaves private ones out.
    let private = status.private_slots.filter(|_| is_quake3);
    let left_out = private.filter(|_| is_info).unwrap_or(0);
    let qcstatus = (engine == Engine::DarkPlaces)
        .then(|| qcstatus(status))
        .flatten();
    // ioquake3 names the game and what runs in it; other games' keys for a modification come with the rules.
    let read = |key| status.rules.get(key).map(|raw| wire(raw).into_owned());
    let inner = text(&status.mod_name)
        .or_else(|| read("com_gamename").and_then(|_| read("gamename")))
        .filter(|_| {
            is_quake3 && !is_info && lacks(&["fs_game", "modname"]) && status.game.is_some()
        });
    // A status that was read has the game's words for the number, which the engines want.
    let is_number = |raw: &Vec<u8>| integer(raw).is_some();
    let read = ["g_gametype", "gametype"]
        .into_iter()
        .find_map(read)
        .filter(is_number);
    let played = text(&status.game_type);
    let played = played.clone().filter(is_number).or(read).or(played);

    let mut info = InfoStringBuilder::new(room);
    let mut put = |key: &str, value: Option<Vec<u8>>| {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            // What does not fit is left out: the next one may be shorter.
            let _ = info.push(key.as_bytes(), &value);
        }
    };
    put(
        if is_info { "hostname" } else { "sv_hostname" },
        text(&status.name),
    );
    put("mapname", text(&status.map));
    put("clients", decimal(clients));
    put(
        "sv_maxclients",
        decimal(
            status
                .max_players
                .map(|slots| slots.saturating_sub(left_out)),
        ),
    );
    put(
        if is_info {
            "sv_privateclients"
        } else {
            "sv_privateClients"
        },
        decimal(private),
    );
    if qcstatus.is_none() {
        put(
            if is_info { "gametype" } else { "g_gametype" },
            played.clone(),
        );
    }
    put(
        "com_gamename",
        inner.as_ref().and_then(|_| text(&status.game)),
    );
    put("gamename", inner.or_else(|| text(&status.game)));
    if is_info || !is_quake3 {
        let key = match engine {
            Engine::DarkPlaces => "modname",
            Engine::Warsow => "fs_game",
            _ => "game",
        };
        put(key, text(&status.mod_name));
    }
    put(
        "protocol",
        decimal(status.protocol_version.or(Some(service.protocol_version))),
    );
    // Clients of Jedi Academy and Enemy Territory read other keys than ioquake3's of an infoResponse: `needpass` both (OpenJK,
    // codemp/client/cl_main.cpp), `humans` ET: Legacy, which shows everybody as a bot without it (src/client/cl_main.c).
    put("g_needpass", decimal(locked));
    put("needpass", decimal(locked.filter(|_| is_info && is_quake3)));
    put("g_humanplayers", decimal(people));
    put("humans", decimal(people));
    put(
        "bots",
        decimal(status.bot_count.filter(|_| people.is_none())),
    );
    put("version", text(&status.version));
    put("qcstatus", qcstatus);
    if !is_info && is_quake3 {
        put(
            "timelimit",
            decimal(status.time_limit.map(|limit| limit.as_secs_f64() / 60.0)),
        );
        let limit = match (engine, played.as_deref()) {
            (Engine::SoldierOfFortune2, _) => Some("scorelimit"),
            (Engine::Quake3, Some(b"0" | b"1" | b"3")) => Some("fraglimit"),
            (Engine::Quake3, Some(b"4")) => Some("capturelimit"),
            _ => None,
        };
        if let Some(key) = limit.filter(|_| lacks(&LIMITS)) {
            put(key, decimal(status.score_limit));
        }
        put(
            "sv_punkbuster",
            decimal(
                status
                    .anti_cheat
                    .filter(|_| lacks(&ANTI_CHEAT))
                    .map(u8::from),
            ),
        );
    }
    if !is_info && engine == Engine::SoldierOfFortune2 {
        for (id, key) in [(1, "redscore"), (2, "bluescore")] {
            put(
                key,
                decimal(team(&status.teams, id).and_then(|team| team.score)),
            );
        }
    }
    if !is_info && engine == Engine::Warsow {
        put("g_match_score", Some(match_score(&status.teams)));
    }
    info
}

fn decimal(number: Option<impl ToString>) -> Option<Vec<u8>> {
    number.map(|number| number.to_string().into_bytes())
}

fn team(teams: &[Team], id: i32) -> Option<&Team> {
    teams.iter().find(|team| team.id == Some(id))
}

/// Appends the status's own rules, up to so many bytes of the infostring: each that fits, has a value, and whose key is not
/// there yet. id's `Info_SetValueForKey` never leaves a key without a value, and ioquake3's `serverstatus` shifts all pairs
/// behind one.
pub(super) fn put_rules(info: &mut InfoStringBuilder, status: &ServerStatus, most: usize) {
    info.limit = most;
    let named = info.bytes.clone();
    for (key, value) in &status.rules {
        let (key, value) = (wire(key), wire(value));
        let (key, value) = (sanitise(&key), sanitise(&value));
        // A challenge among them is that of another request.
        let mut known = InfoString::new(&named)
            .iter()
            .map(|(key, _)| key)
            .chain([&b"challenge"[..]]);
        if !known.any(|known| known.eq_ignore_ascii_case(&key)) && !value.is_empty() {
            let _ = info.push(&key, &value);
        }
    }
}

/// Keys of limits that end a match.
const LIMITS: [&str; 4] = ["fraglimit", "capturelimit", "duel_fraglimit", "scorelimit"];
/// Keys of anti-cheat systems.
const ANTI_CHEAT: [&str; 4] = ["sv_punkbuster", "punkbuster", "pb", "sv_NxAC"];

/// DarkPlaces' key `qcstatus`: the one that was read, or one of the type of game and the teams' scores.
fn qcstatus(status: &ServerStatus) -> Option<Vec<u8>> {
    if let Some(read) = status.rules.get("qcstatus") {
        return Some(sanitise(&wire(read)).into_owned());
    }
    let game_type = text(status.game_type.as_ref()?);
    let version = status.version.as_ref().map(text).unwrap_or_default();
    let separator: &[u8] = if version.is_empty() { b"" } else { b":" };
    let scored = (1..)
        .zip(NUMBERS)
        .filter_map(|(id, number)| Some(format!(":{number}:{}", team(&status.teams, id)?.score?)));
    let scored: String = scored.collect();
    let names: &[u8] = if scored.is_empty() { b"" } else { b":score!!" };
    Some(
        [
            &game_type,
            separator,
            &version,
            b"::score!!",
            names,
            scored.as_bytes(),
        ]
        .concat(),
    )
}

/// Warsow's key `g_match_score`.
fn match_score(teams: &[Team]) -> Vec<u8> {
    let mut scores = Vec::new();
    for id in WARSOW {
        let Some(Team {
            name: Some(name),
            score: Some(score),
            ..
        }) = team(teams, id)
        else {
            break;
        };
        let mut name = text(name);
        name.iter_mut()
            .filter(|byte| **byte == b':')
            .for_each(|byte| *byte = b' ');
        scores.extend_from_slice(&[b" ", &name[..], format!(": {score}").as_bytes()].concat());
    }
    scores
}

/// Player lines, each with its line feed, until they exceed `most` bytes.
pub(super) fn lines(players: &[Player], engine: Engine, most: usize) -> Vec<u8> {
    let has_teams = players.iter().any(|player| player.team.is_some());
    let mut lines = Vec::with_capacity(players.len().saturating_mul(USUAL_LINE).min(most));
    for player in players {
        let score = player.score.unwrap_or(0);
        let [ping, team] = [player.ping, player.team].map(|number| number.unwrap_or(0).into());
        let (before, behind): (&[i64], &[i64]) = match engine {
            Engine::SoldierOfFortune2 => (&[score, ping, team], &[]),
            Engine::DarkPlaces if has_teams => (&[score, ping, team], &[]),
            Engine::Warsow => (&[score, ping], &[team]),
            Engine::MedalOfHonor => (&[ping], &[]),
            _ => (&[score, ping], &[]),
        };
        for number in before {
            number::put(*number, &mut lines);
            lines.push(b' ');
        }
        // The name holds no quote and no line feed.
        for part in [&b"\""[..], &sanitise(&wire(player.name.as_ref())), b"\""] {
            lines.extend_from_slice(part);
        }
        for number in behind {
            lines.push(b' ');
            number::put(*number, &mut lines);
        }
        lines.push(b'\n');
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

/// Whether [`text`] makes these bytes of a text.
pub(super) fn is_text(text: &Text, bytes: &[u8]) -> bool {
    *sanitise(&wire(text.as_ref())) == *bytes
}

/// A text's bytes in this wire's character sets.
fn wire(text: TextRef<'_>) -> Cow<'_, [u8]> {
    text.encoded(Charset::Utf8OrWindows1252)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(teams: [(i32, &str, i64); 2]) -> ServerStatus {
        let team = |(id, name, score): (i32, &str, _)| Team {
            id: Some(id),
            name: Some(name.into()),
            score: Some(score),
            ..Team::default()
        };
        let game_type = Some("tdm".into());
        ServerStatus {
            game_type,
            teams: teams.map(team).to_vec(),
            ..ServerStatus::default()
        }
    }

    #[test]
    fn scores_of_teams_are_written_as_they_are_read() {
        let mut two = status([(1, "", 4), (2, "", -1)]);
        assert_eq!(qcstatus(&two).unwrap(), b"tdm::score!!:score!!:5:4:14:-1");
        two.version = Some("2.5".into());
        assert_eq!(
            qcstatus(&two).unwrap(),
            b"tdm:2.5::score!!:score!!:5:4:14:-1"
        );
        two.teams.clear();
        assert_eq!(qcstatus(&two).unwrap(), b"tdm:2.5::score!!");
        let two = status([(2, "ALPHA", 3), (3, "BETA", 14)]);
        assert_eq!(
            match_score(&two.teams),
            b" ALPHA: 3 BETA: 14",
            "captured from Warsow"
        );
    }
}
