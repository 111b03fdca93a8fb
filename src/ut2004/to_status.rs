//! Converts an answer into a [`ServerStatus`].

use bytes::Bytes;

use super::answer::Answer;
use super::engines::{Evidence, Profile};
use super::fields::{self, Rule, text};
use super::wire::info::{CURRENT_WAVE, FINAL_WAVE, FLAGS, Info, SKILL_LEVEL};
use super::wire::lists::{PLAYER_ID, PLAYER_NUM, PLAYERS, PlayerRecord, RULES, STATS_ID};
use super::wire::strings::FString;
use crate::model::{Charset, Colours, Player, Rules, RulesBuilder, ServerStatus, Team, ToStatus};
use crate::text::number;

impl ToStatus for Answer {
    /// The normalised model. Its rules and its longer texts share this answer's bytes. Fields of
    /// the info record that the model lacks come after the rules, under the record's own names.
    fn to_status(&self) -> ServerStatus {
        let info = self.info();
        // Rules and players are read once and used three times.
        let mut pairs = Vec::with_capacity(self.count(RULES));
        self.rules().for_each(|pair| pairs.push(pair));
        let mut records = Vec::with_capacity(self.count(PLAYERS));
        self.players().for_each(|record| records.push(record));
        let keys = pairs.iter().map(|(key, _)| key.raw());
        let profile = Profile::find(evidence(self, info.as_ref()), keys);
        let record = info.unwrap_or_default();
        let some_text = |string: FString<'_>| {
            if string.is_empty() {
                return None;
            }
            Some(text(&self.bytes, string))
        };
        let has_info = info.is_some();
        let count = |count: i32| u32::try_from(count).ok().filter(|_| has_info);
        let mut status = ServerStatus {
            name: some_text(record.server_name),
            map: some_text(record.map_name),
            game_type: some_text(record.game_type),
            game_port: u16::try_from(record.port).ok().filter(|&port| port != 0),
            player_count: count(record.current_players),
            max_players: count(record.max_players),
            players: self
                .lists_players()
                .then(|| player_list(&self.bytes, &records))
                .into(),
            teams: teams(&self.bytes, &records),
            rules: rules(&self.bytes, &pairs, info.as_ref()),
            completeness: self.completeness(),
            verification: self.verification(),
            ..ServerStatus::default()
        };
        fields::read(&pairs, profile, &self.bytes, &mut status);
        read_flags(info.as_ref(), profile, &mut status);
        // Servers send the password's rule only if there is a password, and list all their
        // mutators.
        if profile.names_all && self.has_all_rules() {
            status.password.get_or_insert(false);
            status.mutators.get_or_insert_default();
        }
        status.in_charset(self.charset)
    }
}

/// The marks of the engine in the version and the info record.
fn evidence(answer: &Answer, info: Option<&Info<'_>>) -> Evidence {
    Evidence {
        version: answer.version(),
        info: info.map(Info::end),
    }
}

impl Answer {
    /// Whether all rules have arrived, as far as that is known. An empty list does not count.
    fn has_all_rules(&self) -> bool {
        self.count(RULES) > 0 && !self.missing.rules && !self.missing.end
    }

    /// Whether the players are known. An empty server sends no datagram of players: then the rules
    /// show that it was asked.
    fn lists_players(&self) -> bool {
        let has = |kind| self.entries(kind).next().is_some();
        has(PLAYERS) || (has(RULES) && !self.missing.players)
    }
}

/// Fills the fields that the rules lack from the flags of the info record. If no flag is set, the
/// record counts as one without flags.
fn read_flags(info: Option<&Info<'_>>, profile: &Profile, status: &mut ServerStatus) {
    let flags = info.and_then(|info| info.flags).filter(|&flags| flags != 0);
    let (Some(flags), Some(bits)) = (flags, &profile.flags) else {
        return;
    };
    status.password.get_or_insert(flags & bits.password != 0);
    status.dedicated.get_or_insert(flags & bits.listen == 0);
    if let Some(bit) = bits.anti_cheat {
        status.anti_cheat.get_or_insert(flags & bit != 0);
    }
}

/// The rules, and after them the fields of the info record that the model has no name for.
fn rules(bytes: &Bytes, pairs: &[Rule<'_>], info: Option<&Info<'_>>) -> Rules {
    let style = FString::default().style();
    let capacity = pairs.len().saturating_add(4);
    let mut rules = RulesBuilder::new(bytes, style.charset, capacity);
    for (key, value) in pairs {
        rules.push_with(key.part(), value.part());
    }
    if let Some(info) = info {
        push_info(info, &mut rules);
    }
    rules.build(style.colours)
}

fn push_info(info: &Info<'_>, rules: &mut RulesBuilder) {
    if let Some(skill) = info.skill_level {
        rules.push_with(FString::narrow(SKILL_LEVEL.as_bytes()).part(), skill.part());
    }
    let current = info.waves.map(|waves| waves.current);
    let last = info.waves.map(|waves| waves.last);
    let flags = info.flags.filter(|&flags| flags != 0);
    for (key, number) in [(FLAGS, flags), (CURRENT_WAVE, current), (FINAL_WAVE, last)] {
        if let Some(number) = number {
            rules.push(key.as_bytes(), number.to_string().as_bytes());
        }
    }
    let (pairs, _) = info.lists.unwrap_or_default();
    for (key, value) in pairs.iter() {
        rules.push_with(key.part(), value.part());
    }
}

fn player_list(bytes: &Bytes, records: &[PlayerRecord<'_>]) -> Vec<Player> {
    let numbers = Bytes::from(extra_numbers(records));
    let mut numbers_left = numbers.split(|byte| *byte == b' ');
    let mut next_number = || numbers_left.next().unwrap_or_default();
    let player_num_key = next_number();
    let stats_id_key = next_number();
    let mut extras = RulesBuilder::new(&numbers, Charset::Latin1, records.len());
    let mut players = Vec::with_capacity(records.len());
    for record in records {
        extras.push(player_num_key, next_number());
        let stats_id = next_number();
        if !stats_id.is_empty() {
            extras.push(stats_id_key, stats_id);
        }
        push_pairs(record, &mut extras);
        players.push(Player {
            name: text(bytes, record.name),
            score: Some(i64::from(record.score)),
            ping: Some(record.ping),
            team: record.team().map(i32::from),
            extra: extras.take_part(),
            ..Player::default()
        });
    }
    let extra_fields = players.iter_mut().map(|player| &mut player.extra);
    extras.complete(extra_fields, Colours::None);
    players
}

/// The numbers of players that have no field in the model, as text in one buffer. The two keys come
/// first, then two numbers for each player, each followed by a space. A stats id that is only a
/// team's bit is left empty, because the model has the team.
fn extra_numbers(records: &[PlayerRecord<'_>]) -> Vec<u8> {
    let mut numbers = [PLAYER_NUM, " ", STATS_ID, " "].concat().into_bytes();
    // Most servers' numbers take 14 bytes or less.
    numbers.reserve(records.len().saturating_mul(14));
    for record in records {
        number::put(record.player_num.into(), &mut numbers);
        numbers.push(b' ');
        if record.stats_id != PlayerRecord::with_team(0, record.team().map(i32::from)) {
            number::put(record.stats_id.into(), &mut numbers);
        }
        numbers.push(b' ');
    }
    numbers
}

/// Adds the second number and the pairs of a player that has them.
fn push_pairs(record: &PlayerRecord<'_>, extras: &mut RulesBuilder) {
    let Some(xmp) = record.xmp else {
        return;
    };
    extras.push(PLAYER_ID.as_bytes(), xmp.player_id.to_string().as_bytes());
    for (key, value) in xmp.player_info.iter() {
        extras.push_with(key.part(), value.part());
    }
}

/// The teams named by a player's bits or by a team score, with names and scores if the list has
/// team scores.
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
