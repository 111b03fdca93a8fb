//! Converts an answer into a [`ServerStatus`].

use bytes::Bytes;

use super::answer::Answer;
use super::engines::{Engine, MUTATOR, PASSWORD_NEIGHBOURS, VERSION};
use super::players::{read_players, read_teams};
use super::wire::info::{CURRENT_WAVE, FINAL_WAVE, FLAGS, Info, SKILL_LEVEL};
use super::wire::lists::{Entries, PLAYERS, RULES, RuleList};
use super::wire::strings::FString;
use crate::meaning::{Key, Known, Reader, Row};
use crate::model::{RulesBuilder, ServerStatus, ToStatus};

impl ToStatus for Answer {
    /// The normalised model. Its rules and its longer texts share this answer's bytes. Fields of
    /// the info record that the model lacks come after the rules, under the record's own names.
    fn to_status(&self) -> ServerStatus {
        self.status_by(Engine::of)
    }
}

impl Answer {
    /// The status, read by the row of this engine.
    pub(super) fn status_by(
        &self,
        engine_of: impl FnOnce(Option<u32>, bool, &Known<'_>) -> &'static Engine,
    ) -> ServerStatus {
        let info = self.info();
        let style = FString::default().style();
        let capacity = self.entry_count(RULES).saturating_add(4);
        let mut rules = RulesBuilder::new(&self.bytes, style.charset, capacity);
        let (mut known, mut values) = (Known::default(), Vec::new());
        for (key, value) in self.rules() {
            rules.push_with(key.raw_text(), value.raw_text());
            if let Some(found) = known.insert(key.raw(), value.shown()) {
                values.push((found, value));
            }
        }
        // Players are read once and used three times.
        let mut records = Vec::with_capacity(self.entry_count(PLAYERS));
        records.extend(self.players());
        let has_waves = info.as_ref().is_some_and(|info| info.waves.is_some());
        let engine = engine_of(self.version(), has_waves, &known);
        let teams = read_teams(&self.bytes, &records);
        records.retain(|record| record.pseudo_team().is_none());
        let players = if self.lists_players() {
            let counted = info.as_ref().map(|info| info.current_players);
            let counted = counted.and_then(|count| u32::try_from(count).ok());
            Some(read_players(&self.bytes, &records, counted))
        } else {
            None
        };
        let mut status = ServerStatus {
            players: players.into(),
            teams,
            completeness: self.completeness(),
            verification: self.verification(),
            ..ServerStatus::default()
        };
        // The fields of rules come first: flags fill only those that the rules lack.
        Reader::new(&engine.row, &known, &self.bytes).fill(&mut status);
        read_texts(&values, &engine.row, &self.bytes, &mut status);
        if let Some(info) = &info {
            read_info(info, &self.bytes, &mut status);
            read_flags(info, engine, &mut status);
            push_info(info, &mut rules);
        }
        status.rules = rules.build(style.colours);
        // Servers send the password's rule only if there is a password, and list all their
        // mutators.
        if engine.names_all && self.lacks_password_rule() {
            status.password.get_or_insert(false);
        }
        if engine.names_all && self.has_all_rules {
            status.mutators.get_or_insert_default();
        }
        status.in_charset(self.charset).without_contradictions()
    }
}

impl Answer {
    /// Whether there is no rule of a password. That is certain too if the rules around its place
    /// are neighbours in a datagram.
    fn lacks_password_rule(&self) -> bool {
        self.has_all_rules || self.entries_of(RULES).any(has_no_password_between)
    }

    /// Whether the players are known. An empty server sends no datagram of players: then the rules
    /// show that it was asked.
    fn lists_players(&self) -> bool {
        let has_datagram_of = |kind| self.entries_of(kind).next().is_some();
        has_datagram_of(PLAYERS) || (has_datagram_of(RULES) && !self.missing.players)
    }
}

/// Whether these rules have the neighbours of the password's rule, and not the rule itself.
fn has_no_password_between(rules: Entries<'_>) -> bool {
    let keys = RuleList(rules).iter().map(|(key, _)| key.raw());
    let mut neighbours = keys.clone().zip(keys.skip(1));
    neighbours.any(|(before, after)| {
        let is_pair = |pair: &(&str, &str)| {
            let (first, second) = (pair.0.as_bytes(), pair.1.as_bytes());
            first.eq_ignore_ascii_case(before) && second.eq_ignore_ascii_case(after)
        };
        PASSWORD_NEIGHBOURS.iter().any(is_pair)
    })
}

/// Fills the fields of rules with texts, each of which has a character set of its own. Each mutator
/// has a rule.
fn read_texts(values: &[(Key, FString<'_>)], row: &Row, bytes: &Bytes, status: &mut ServerStatus) {
    for (key, value) in values.iter().filter(|(_, value)| !value.is_empty()) {
        match row.entry(*key).map(|entry| entry.field) {
            Some(VERSION) => {
                status.version.get_or_insert_with(|| value.shared(bytes));
            }
            Some(MUTATOR) => {
                let mutators = status.mutators.get_or_insert_default();
                mutators.push(value.shared(bytes));
            }
            _ => {}
        }
    }
}

/// Fills the fields of the info record.
fn read_info(info: &Info<'_>, bytes: &Bytes, status: &mut ServerStatus) {
    let some_text = |string: FString<'_>| {
        if string.is_empty() {
            return None;
        }
        Some(string.shared(bytes))
    };
    status.name = some_text(info.server_name);
    status.map = some_text(info.map_name);
    status.game_type = some_text(info.game_type);
    status.game_port = u16::try_from(info.port).ok().filter(|&port| port != 0);
    status.player_count = u32::try_from(info.current_players).ok();
    status.max_players = u32::try_from(info.max_players).ok();
}

/// Fills the fields that the rules lack from the flags of the info record. If no flag is set, the
/// record counts as one without flags.
fn read_flags(info: &Info<'_>, engine: &Engine, status: &mut ServerStatus) {
    let Some(flags) = info.flags.filter(|&flags| flags != 0) else {
        return;
    };
    let bits = engine.flags;
    status.password.get_or_insert(flags & bits.password != 0);
    status.dedicated.get_or_insert(flags & bits.listen == 0);
    if let Some(bit) = bits.anti_cheat {
        status.anti_cheat.get_or_insert(flags & bit != 0);
    }
}

/// Adds the fields of the info record that the model has no name for.
fn push_info(info: &Info<'_>, rules: &mut RulesBuilder) {
    if let Some(skill) = info.skill_level {
        rules.push_with(
            FString::narrow(SKILL_LEVEL.as_bytes()).raw_text(),
            skill.raw_text(),
        );
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
        rules.push_with(key.raw_text(), value.raw_text());
    }
}
