//! What this protocol can say of a [`ServerStatus`]: the pairs of an infostring, and player lines.
//!
//! What the format cannot carry is replaced: `\ ; "` by look-alikes, control bytes by nothing.

use std::borrow::Cow;

use super::to_status::{NUMBERS, WARSOW, counts_people_only};
use super::wire::infostring::{InfoString, InfoStringBuilder, sanitise};
use crate::model::{Charset, Player, ServerStatus, Team, Text, TextRef};
use crate::options::Detail;
use crate::options::{Engine, Service};
use crate::text::number::{self, integer};

/// Bytes of a usual player line.
const USUAL_LINE: usize = 32;

/// The pairs that the status's fields are written as, up to so many bytes: of an `infoResponse`, or of a status with or
/// without the key `clients`. A key is written once.
pub(super) fn named(
    (detail, says_clients): (Detail, bool),
    challenge: &[u8],
    status: &ServerStatus,
    options: &Service,
    room: usize,
) -> InfoStringBuilder {
    let text = |text: &Option<Text>| text.as_ref().map(self::text);
    let number = |value: Option<u32>| value.map(|value| value.to_string().into_bytes());
    let (is_info, engine) = (detail == Detail::Short, options.engine);
    let (name_key, game_type_key) =
        if is_info { ("hostname", "gametype") } else { ("sv_hostname", "g_gametype") };
    // Where the rules that follow say it in a key of their own, no other key does.
    let lacks = |keys: &[&str]| keys.iter().all(|key| status.rules.get(key).is_none());
    let is_quake3 = !matches!(engine, Engine::DarkPlaces | Engine::Warsow);
    let people_only = is_info && status.game.as_ref().is_some_and(|game| counts_people_only(game.raw()));
    let bots_on_top = status.bot_count.filter(|_| people_only).unwrap_or(0);
    let clients = status.online().filter(|_| says_clients).map(|online| online.saturating_sub(bots_on_top));
    // ioquake3's infoResponse counts people, others bots.
    let counts_people = is_info && engine == Engine::Quake3 && !people_only;
    let people = clients.filter(|_| counts_people).and_then(|clients| clients.checked_sub(status.bot_count?));
    // Clients of Jedi Academy and Enemy Territory read other keys than ioquake3's of an infoResponse: `needpass` both (OpenJK,
    // codemp/client/cl_main.cpp), `humans` ET: Legacy, which shows everybody as a bot without it (src/client/cl_main.c).
    let locked = status.password.map(u32::from);
    // An infoResponse's number of slots leaves private ones out.
    let private = status.private_slots.filter(|_| is_quake3);
    let slots =
        status.max_players.map(|slots| slots.saturating_sub(private.filter(|_| is_info).unwrap_or(0)));
    let qcstatus = (engine == Engine::DarkPlaces).then(|| qcstatus(status)).flatten();
    // ioquake3 names the game and what runs in it; other games' keys for a modification come with the rules.
    let inner = text(&status.mod_name)
        .filter(|_| is_quake3 && !is_info && lacks(&["fs_game", "modname"]) && status.game.is_some());
    // A status that was read has the game's words for the number, which the engines want.
    let is_number = |raw: &Vec<u8>| integer(raw).is_some();
    let read = ["g_gametype", "gametype"].into_iter().find_map(|key| status.rules.get(key));
    let read = read.map(|raw| wire(raw).into_owned()).filter(is_number);
    let played = text(&status.game_type);
    let played = played.clone().filter(is_number).or(read).or(played);
    let limit_key = limit_key(engine, played.as_deref()).filter(|_| lacks(&LIMITS));
    let limit = status.score_limit.map(|score| score.to_string().into_bytes());
    let anti_cheat = status.anti_cheat.filter(|_| !is_info && is_quake3 && lacks(&ANTI_CHEAT));
    let has_scores = !is_info && engine == Engine::SoldierOfFortune2 && lacks(&["redscore", "bluescore"]);
    let score = |id| {
        let team = status.teams.iter().find(|team| has_scores && team.id == Some(id))?;
        team.score.map(|score| score.to_string().into_bytes())
    };
    let has_match_score = !is_info && engine == Engine::Warsow && lacks(&["g_match_score"]);
    let match_score = has_match_score.then(|| match_score(&status.teams));
    let time_limit = status.time_limit.filter(|_| !is_info && is_quake3);
    let minutes = time_limit.map(|limit| (limit.as_secs_f64() / 60.0).to_string().into_bytes());
    let pairs = [
        ("challenge", Some(challenge.to_vec())),
        (name_key, text(&status.name)),
        ("mapname", text(&status.map)),
        ("clients", number(clients)),
        ("sv_maxclients", number(slots)),
        (if is_info { "sv_privateclients" } else { "sv_privateClients" }, number(private)),
        (game_type_key, played.filter(|_| qcstatus.is_none())),
        ("com_gamename", inner.as_ref().and_then(|_| text(&status.game))),
        ("gamename", inner.or_else(|| text(&status.game))),
        (mod_key(engine), text(&status.mod_name).filter(|_| is_info || !is_quake3)),
        ("protocol", number(status.protocol_version.or(Some(options.protocol_version)))),
        ("g_needpass", number(locked)),
        ("needpass", number(locked.filter(|_| is_info && is_quake3))),
        ("g_humanplayers", number(people)),
        ("humans", number(people)),
        ("bots", number(status.bot_count.filter(|_| people.is_none()))),
        ("version", text(&status.version)),
        ("qcstatus", qcstatus),
        ("timelimit", minutes),
        (limit_key.unwrap_or_default(), limit.filter(|_| !is_info && limit_key.is_some())),
        ("sv_punkbuster", number(anti_cheat.map(u32::from))),
        ("redscore", score(1)),
        ("bluescore", score(2)),
        ("g_match_score", match_score.map(|scores| sanitise(&scores).into_owned())),
    ];
    let mut info = InfoStringBuilder::new(room);
    for (key, value) in &pairs {
        if let Some(value) = value.as_ref().filter(|value| !value.is_empty()) {
            // What does not fit is left out: the next one may be shorter.
            let _ = info.push(key.as_bytes(), value);
        }
    }
    info
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
        let is_named = InfoString::new(&named).iter().any(|(named, _)| named.eq_ignore_ascii_case(&key));
        if !is_named && !value.is_empty() {
            let _ = info.push(&key, &value);
        }
    }
}

/// The key of the modification.
const fn mod_key(engine: Engine) -> &'static str {
    match engine {
        Engine::DarkPlaces => "modname",
        Engine::Warsow => "fs_game",
        _ => "game",
    }
}

/// Keys of limits that end a match.
const LIMITS: [&str; 4] = ["fraglimit", "capturelimit", "duel_fraglimit", "scorelimit"];
/// Keys of anti-cheat systems.
const ANTI_CHEAT: [&str; 4] = ["sv_punkbuster", "punkbuster", "pb", "sv_NxAC"];

/// The key of the limit that ends a match of this type.
fn limit_key(engine: Engine, game_type: Option<&[u8]>) -> Option<&'static str> {
    match (engine, game_type) {
        (Engine::SoldierOfFortune2, _) => Some("scorelimit"),
        (Engine::Quake3, Some(b"0" | b"1" | b"3")) => Some("fraglimit"),
        (Engine::Quake3, Some(b"4")) => Some("capturelimit"),
        _ => None,
    }
}

/// DarkPlaces' status of the world: the one that was read, or one of the type of game and the teams' scores.
fn qcstatus(status: &ServerStatus) -> Option<Vec<u8>> {
    match (status.rules.get("qcstatus"), &status.game_type) {
        (Some(read), _) => Some(sanitise(&wire(read)).into_owned()),
        (None, Some(game_type)) => {
            let version = status.version.as_ref().map(text).unwrap_or_default();
            Some(world_status(&text(game_type), &version, &status.teams))
        }
        (None, None) => None,
    }
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

/// The key `qcstatus` for a match of this type, with these teams' scores.
fn world_status(game_type: &[u8], version: &[u8], teams: &[Team]) -> Vec<u8> {
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
fn match_score(teams: &[Team]) -> Vec<u8> {
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

    fn team(id: i32, name: Option<Text>, score: Option<i64>) -> Team {
        Team { id: Some(id), name, score, ..Team::default() }
    }

    #[test]
    fn scores_of_teams_are_written_as_they_are_read() {
        let two = [team(1, None, Some(4)), team(2, None, Some(-1))];
        assert_eq!(world_status(b"tdm", b"2.5", &two), b"tdm:2.5::score!!:score!!:5:4:14:-1");
        assert_eq!(world_status(b"dm", b"", &[]), b"dm::score!!");
        let two = [team(2, Some("ALPHA".into()), Some(3)), team(3, Some("BETA".into()), Some(14))];
        assert_eq!(match_score(&two), b" ALPHA: 3 BETA: 14", "captured from Warsow");
    }
}
