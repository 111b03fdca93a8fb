//! One datagram of a list, and what shows that two of them are of one list.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::ut2004::wire::lists::{Entries, FLUSH_LENGTH, HEADER, PlayerList, RuleList, SERVER_MODE};

/// A datagram of a list, and the readings that brought it.
#[derive(Debug, Clone)]
pub(super) struct Section {
    pub(super) bytes: Vec<u8>,
    /// Whole entries in it.
    pub(super) entries: usize,
    /// Its last entry does not end.
    pub(super) is_cut: bool,
    /// One bit for each reading that brought it.
    pub(super) readings: u32,
    /// A hash of the first entry, of a rule its key: most sections are told apart by it.
    first: u64,
}

/// What a list has once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Entry<'a> {
    End,
    /// A number; of players whose number is 0, the name.
    Player(i32, &'a [u8]),
    /// Key and value. Some lists have a rule twice.
    Rule(&'a [u8], &'a [u8]),
}

impl Section {
    pub(super) fn new(datagram: &[u8], entries: usize, is_cut: bool) -> Self {
        let mut section = Self { bytes: datagram.to_vec(), entries, is_cut, readings: 0, first: 0 };
        let mut hasher = DefaultHasher::new();
        match section.iter().next() {
            Some(Entry::Rule(key, _)) => key.hash(&mut hasher),
            Some(Entry::Player(number, name)) => (number, name).hash(&mut hasher),
            Some(Entry::End) | None => {}
        }
        section.first = hasher.finish();
        section
    }

    /// Whether it is the last of its list.
    pub(super) fn is_end(&self) -> bool {
        self.bytes.len() <= FLUSH_LENGTH
    }

    /// Whether it begins with the first rule of the stock game.
    pub(super) fn is_first(&self) -> bool {
        let first = self.rules().iter().next();
        first.is_some_and(|(key, _)| key.raw().eq_ignore_ascii_case(SERVER_MODE.as_bytes()))
    }

    fn of_kind(&self, kind: u8) -> Entries<'_> {
        match self.bytes.split_at_checked(HEADER) {
            Some(([.., found], body)) if *found == kind => Entries::counted(body, self.entries),
            _ => Entries::default(),
        }
    }

    fn rules(&self) -> RuleList<'_> {
        RuleList(self.of_kind(1))
    }

    pub(super) fn players(&self) -> PlayerList<'_> {
        PlayerList(self.of_kind(2))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Entry<'_>> {
        let player = |number, name| Entry::Player(number, if number == 0 { name } else { &[] });
        let players = self.players().iter().map(move |record| player(record.player_num, record.name.raw()));
        self.rules().iter().map(|(key, value)| Entry::Rule(key.raw(), value.raw())).chain(players)
    }

    /// Whether both are the same part of a list at two times: the same players, whatever their pings and scores; as many rules,
    /// of which the first has the same key and more than half are equal; of the rules that end the list at least the keys.
    pub(super) fn is_version_of(&self, other: &Self) -> bool {
        if self.bytes == other.bytes {
            return true;
        }
        let shape = |section: &Self| (section.first, section.entries, section.is_cut, section.is_end());
        if shape(self) != shape(other) {
            return false;
        }
        let pairs = || self.iter().zip(other.iter());
        let most_others = if self.rules().0.count > 0 { self.entries.saturating_sub(1) / 2 } else { 0 };
        let is_same_key = |pair| matches!(pair, (Entry::Rule(a, _), Entry::Rule(b, _)) if a == b);
        pairs().filter(|(a, b)| a != b).nth(most_others).is_none()
            || (self.is_end() && pairs().all(is_same_key))
    }
}
