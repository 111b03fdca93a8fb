//! An answer as a [`ServerStatus`]: which field means what.

use bytes::Bytes;

use super::answer::Answer;
use super::wire::info::{CURRENT_WAVE, FINAL_WAVE, FLAGS, Info, SKILL_LEVEL};
use super::wire::lists::{
    DEDICATED, MUTATOR, NON_DEDICATED, PLAYER_ID, PLAYER_NUM, PLAYERS, PlayerRecord, RULES,
    SERVER_VERSION, STATS_ID,
};
use super::wire::strings::FString;
use crate::model::{
    Charset, Colours, Player, Rules, RulesBuilder, ServerStatus, Team, Text, ToStatus,
};
use crate::text::{first_filled, known_keys, number};

known_keys! {
    /// Rules that have a field in the model; the module page names their sources.
    struct Known {
        servermode, gamepassword, password, passworded, isvacsecured, timelimit, goalscore,
        // KFTurbo and AntiTCC.
        server_mode = b"server mode", game_password = b"game password", vac_secured = b"vac secured",
        anti_tcc = b"anti tcc version",
    }
}

/// KFTurbo's spelling of the version.
const SERVER_VERSION_SPACED: &str = "Server Version";
/// Bits of the flags. A server that sends none of them sends no flags at all: UT2004's direct replies.
const PASSWORD_FLAG: i32 = 1;
const LISTEN_FLAG: i32 = 8;
const VAC_FLAG: i32 = 16;

impl ToStatus for Answer {
    /// The normalised model. Its rules and its longer texts share this answer's bytes. The info record's fields that
    /// the model has no name for follow the rules, under the record's own names.
    fn to_status(&self) -> ServerStatus {
        let missing = self.missing;
        let info = self.info();
        let (rules, known, version, mutators) = rules(self, info.as_ref());
        // Read once, looked at three times.
        let mut records = Vec::with_capacity(self.count(PLAYERS));
        self.players().for_each(|record| records.push(record));
        // An empty server sends no players: then the rules show that it was asked.
        let has = |kind| self.entries(kind).next().is_some();
        let is_listed = has(PLAYERS) || (!missing.players && has(RULES));
        let flags = info.and_then(|info| info.flags).filter(|&flags| flags != 0);
        // All rules are here, as far as that is known.
        let has_rules = has(RULES) && !missing.rules && !missing.end;
        let has_flag = |flag| flags.map(|flags| flags & flag != 0);
        let Known {
            gamepassword,
            game_password,
            password,
            passworded,
            ..
        } = known;
        let password = first_filled(&[gamepassword, game_password, password, passworded]);
        let mode = first_filled(&[known.servermode, known.server_mode]);
        let some_text =
            |string: FString<'_>| (!string.is_empty()).then(|| text(&self.bytes, string));
        let count = |count: i32| u32::try_from(count).ok();
        ServerStatus {
            name: info.and_then(|info| some_text(info.server_name)),
            map: info.and_then(|info| some_text(info.map_name)),
            game_type: info.and_then(|info| some_text(info.game_type)),
            game_port: info
                .and_then(|info| u16::try_from(info.port).ok())
                .filter(|&port| port != 0),
            player_count: info.and_then(|info| count(info.current_players)),
            max_players: info.and_then(|info| count(info.max_players)),
            version,
            // A rule that servers send only where there is a password, and mutators that they list all of.
            password: password
                .and_then(number::boolean)
                .or_else(|| has_flag(PASSWORD_FLAG))
                .or_else(|| has_rules.then_some(false)),
            mutators: (has_rules || !mutators.is_empty()).then_some(mutators),
            dedicated: mode
                .and_then(|mode| is_yes(mode, DEDICATED, NON_DEDICATED))
                .or_else(|| Some(!has_flag(LISTEN_FLAG)?)),
            anti_cheat: (known.isvacsecured.and_then(number::boolean))
                .or_else(|| {
                    known
                        .vac_secured
                        .and_then(|text| is_yes(text, "Enabled", "Disabled"))
                })
                .or_else(|| known.anti_tcc.map(|_| true))
                .or_else(|| has_flag(VAC_FLAG)),
            time_limit: known.timelimit.and_then(number::whole_minutes),
            score_limit: known.goalscore.and_then(number::number),
            players: is_listed.then(|| player_list(&self.bytes, &records)),
            teams: teams(&self.bytes, &records),
            rules,
            completeness: self.completeness(),
            verification: self.verification(),
            ..ServerStatus::default()
        }
    }
}

/// A string as text that shares the answer's bytes.
fn text(bytes: &Bytes, string: FString<'_>) -> Text {
    Text::part(bytes, string.shown(), string.style())
}

/// The rules, and behind them what is left of the info record. Of the rules that have a field: the values, the version and the
/// mutators as texts.
fn rules<'a>(
    answer: &'a Answer,
    info: Option<&Info<'_>>,
) -> (Rules, Known<'a>, Option<Text>, Vec<Text>) {
    let (mut known, mut version, mut mutators) = (Known::default(), None, Vec::new());
    let style = FString::default().style();
    let mut rules = RulesBuilder::new(
        &answer.bytes,
        style.charset,
        answer.count(RULES).saturating_add(4),
    );
    let mut push = |key: FString<'_>, value: FString<'_>| rules.push_with(key.part(), value.part());
    answer.rules().for_each(|(key, value)| {
        push(key, value);
        let text = || text(&answer.bytes, value);
        let is = |name: &str| key.raw().eq_ignore_ascii_case(name.as_bytes());
        match () {
            () if value.is_empty() => {}
            () if is(MUTATOR) => mutators.push(text()),
            () if is(SERVER_VERSION) || is(SERVER_VERSION_SPACED) => {
                _ = version.get_or_insert_with(text);
            }
            () => {
                _ = known
                    .slot(key.raw())
                    .map(|slot| slot.get_or_insert(value.shown()));
            }
        }
    });
    if let Some(info) = info {
        if let Some(skill) = info.skill_level {
            push(FString::narrow(SKILL_LEVEL.as_bytes()), skill);
        }
        let (current, last) = info.waves.unzip();
        let flags = info.flags.filter(|&flags| flags != 0);
        let numbers = [(FLAGS, flags), (CURRENT_WAVE, current), (FINAL_WAVE, last)];
        for (key, number) in numbers
            .into_iter()
            .filter_map(|(key, number)| Some((key, number?.to_string())))
        {
            push(
                FString::narrow(key.as_bytes()),
                FString::narrow(number.as_bytes()),
            );
        }
        let pairs = info.lists.map(|(pairs, _)| pairs).unwrap_or_default();
        pairs.iter().for_each(|(key, value)| push(key, value));
    }
    (rules.build(style.colours), known, version, mutators)
}

/// Whether the text is `yes`; `None` where it is not `no` either.
fn is_yes(text: &[u8], yes: &str, no: &str) -> Option<bool> {
    let is = |name: &str| text.eq_ignore_ascii_case(name.as_bytes());
    (is(yes) || is(no)).then(|| is(yes))
}

fn player_list(bytes: &Bytes, records: &[PlayerRecord<'_>]) -> Vec<Player> {
    // The numbers that the model has no field for, as text in one buffer: the keys once, then two numbers for each player.
    let mut numbers = [PLAYER_NUM, " ", STATS_ID, " "].concat().into_bytes();
    // Most servers' numbers take 14 bytes or less.
    numbers.reserve(records.len().saturating_mul(14));
    for record in records {
        number::put(record.player_num.into(), &mut numbers);
        numbers.push(b' ');
        // A stats id that is only a team's bit is in the team already.
        if record.stats_id != PlayerRecord::with_team(0, record.team().map(i32::from)) {
            number::put(record.stats_id.into(), &mut numbers);
        }
        numbers.push(b' ');
    }
    let numbers = Bytes::from(numbers);
    let mut extras = RulesBuilder::new(&numbers, Charset::Latin1, records.len());
    let mut numbers = numbers.split(|byte| *byte == b' ');
    let mut next = || numbers.next().unwrap_or_default();
    let (player_num, stats_id) = (next(), next());
    let mut players = Vec::with_capacity(records.len());
    for record in records {
        extras.push(player_num, next());
        let stats = next();
        if !stats.is_empty() {
            extras.push(stats_id, stats);
        }
        if let Some((player_id, pairs)) = record.xmp {
            extras.push(PLAYER_ID.as_bytes(), player_id.to_string().as_bytes());
            pairs
                .iter()
                .for_each(|(key, value)| extras.push_with(key.part(), value.part()));
        }
        players.push(Player {
            name: text(bytes, record.name),
            score: Some(i64::from(record.score)),
            ping: Some(record.ping),
            team: record.team().map(i32::from),
            extra: extras.take_part(),
            ..Player::default()
        });
    }
    extras.complete(
        players.iter_mut().map(|player| &mut player.extra),
        Colours::None,
    );
    players
}

/// The teams that a player's bits or a team score's name speak of; names and scores where the list has team scores.
fn teams(bytes: &Bytes, records: &[PlayerRecord<'_>]) -> Vec<Team> {
    let mut teams = [None, None];
    for record in records {
        let pseudo = record.pseudo_team();
        let Some(id) = record.team().or(pseudo) else {
            continue;
        };
        let Some(team) = teams.get_mut(usize::from(id)) else {
            continue;
        };
        let team = team.get_or_insert_with(|| Team {
            id: Some(i32::from(id)),
            ..Team::default()
        });
        if pseudo.is_some() {
            team.name = Some(text(bytes, record.name));
            team.score = Some(i64::from(record.score));
        }
    }
    teams.into_iter().flatten().collect()
}
