//! A row: how the keys of one engine are recognised, and what they mean.

use super::key::{Key, KeySet, Known};
use crate::model::Style;
use crate::text::number::leading;

/// An engine, or a family of engines with the same keys.
///
/// A row is a copy of at most one other row with its own differences.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    /// The name, for people. No other row has it.
    pub(crate) name: &'static str,
    /// A reply that fits one of these is the engine's.
    pub(crate) signatures: &'static [Signature],
    /// The character set and the colour codes of texts.
    pub(crate) style: Style,
    /// The keys of this engine. Of several keys of one field, the first with a value that can be
    /// read counts.
    pub(crate) own: Entries,
    /// The keys that most engines of the family have. They come after the row's own keys; those
    /// that are among them count with the meaning there.
    pub(crate) usual: Entries,
    /// Names of the game itself. As the name of a modification, they mean that there is none.
    pub(crate) base: &'static [&'static str],
}

impl PartialEq for Row {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Row {
    /// Whether a reply with these values is this engine's.
    pub(crate) fn fits(&self, known: &Known<'_>) -> bool {
        self.signatures
            .iter()
            .any(|signature| signature.fits(known))
    }

    /// All keys with a meaning: of two keys of a field, the preferred one comes first.
    pub(crate) fn entries(&self) -> impl Iterator<Item = &'static Entry> + use<> {
        let own = self.own;
        let usual = self
            .usual
            .list
            .iter()
            .filter(move |entry| !own.keys.has(entry.key));
        own.list.iter().chain(usual)
    }

    /// The values that a reply has for these keys, in the same order.
    pub(crate) fn values<'a>(
        &self,
        known: &Known<'a>,
    ) -> impl Iterator<Item = (&'static Entry, &'a [u8])> {
        // A reply has few of the keys, so their values are looked up first.
        let own = self.own;
        let with_value = |entry: &'static Entry| Some((entry, known.get(entry.key)?));
        let usual = self.usual.list.iter().filter_map(with_value);
        let usual = usual.filter(move |(entry, _)| !own.keys.has(entry.key));
        own.list.iter().filter_map(with_value).chain(usual)
    }

    /// The keys with a meaning.
    pub(crate) const fn keys(&self) -> KeySet {
        self.own.keys.and(self.usual.keys)
    }

    /// The meaning of a key.
    pub(crate) fn entry(&self, key: Key) -> Option<&'static Entry> {
        self.entries().find(|entry| entry.key == key)
    }

    /// Whether this is a name of the game itself.
    pub(crate) fn is_base(&self, name: &[u8]) -> bool {
        let mut base = self.base.iter();
        base.any(|base| base.as_bytes().eq_ignore_ascii_case(name))
    }
}

/// The keys of one row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entries {
    list: &'static [Entry],
    keys: KeySet,
}

/// Keys in their order of preference.
pub(crate) const fn entries(list: &'static [Entry]) -> Entries {
    let mut keys = KeySet::EMPTY;
    let mut rest = list;
    while let [entry, others @ ..] = rest {
        keys = keys.with(entry.key);
        rest = others;
    }
    Entries { list, keys }
}

/// A key and its meaning: a field of the status, and the form of the value.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry {
    pub(crate) key: Key,
    pub(crate) field: Field,
    pub(crate) form: Form,
}

/// A key of this field, with values in the usual form.
pub(crate) const fn key(name: &str, field: Field) -> Entry {
    Entry {
        key: Key::new(name),
        field,
        form: Form::Usual,
    }
}

impl Entry {
    /// The same key, with values in this form.
    pub(crate) const fn with(self, form: Form) -> Self {
        Self { form, ..self }
    }
}

/// The meaning of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Field {
    /// None. In a row's own keys, it takes the meaning from a usual key.
    Ignored,
    Name,
    Map,
    Game,
    ModName,
    GameType,
    Version,
    /// The number that the value begins with.
    ProtocolVersion,
    GamePort,
    Password,
    Dedicated,
    /// Of several keys, one yes is enough.
    AntiCheat,
    /// The number of everyone on the server, bots included.
    Players,
    /// The number of players without the bots, where the server has no number of everyone.
    PlayersWithoutBots,
    /// The number of people, next to [`Self::Players`].
    Humans,
    BotCount,
    MaxPlayers,
    PrivateSlots,
    TimeLimit,
    TimeLeft,
    ScoreLimit,
    /// The name of one of two sides, 0 or 1.
    SideName(u8),
    /// The score of one of two sides, 0 or 1.
    SideScore(u8),
    /// A value that the protocol's module reads itself. The number tells its kinds apart.
    Own(u8),
}

/// The form of a value, where it is not the usual one: texts and decimal numbers as they are, times
/// in minutes ([`Field::TimeLeft`]: in seconds), yes and no as digits or words.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Form {
    Usual,
    /// Seconds.
    Seconds,
    /// A time in an unknown unit: only 0 can be read.
    OnlyZero,
    /// Yes means no, and no means yes.
    Not,
    /// These words, in any ASCII case, mean yes and no.
    Words(&'static str, &'static str),
    /// The key is there only if the answer is yes.
    Present,
    /// A text that is neither a yes nor a no is a yes: the server sends the password itself.
    TextIsYes,
    /// Bit 0 of a number.
    LowestBit,
    /// This text means 0.
    ZeroIs(&'static str),
    /// No means 0, and yes means the value of this key.
    YesIs(Key),
    /// This part of the value.
    Part(fn(&[u8]) -> &[u8]),
    /// Counts even if it is empty.
    OrEmpty,
    /// Counts only if this key has none of these values, which are compared in any ASCII case.
    Unless(Key, &'static [&'static str]),
}

/// A set of marks. A reply that has all of them is the engine's.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Signature {
    marks: &'static [Mark],
    /// The key of the first mark.
    key: Key,
    /// The letter that its value begins with, as [`in_one_case`]; `None` for any value.
    letter: Option<u8>,
}

/// The signature of these marks. The first one is not that a key lacks.
#[allow(clippy::panic, reason = "evaluated by the compiler")]
pub(crate) const fn all(marks: &'static [Mark]) -> Signature {
    let (key, text) = match marks {
        [Mark::Is(key, text) | Mark::Begins(key, text), ..] => (*key, *text),
        [
            Mark::Has(key) | Mark::Number(key, ..) | Mark::NumberWithLetters(key),
            ..,
        ] => (*key, ""),
        [Mark::Lacks(_), ..] | [] => panic!("no key that the reply has"),
    };
    let letter = match text.as_bytes() {
        [letter, ..] => Some(in_one_case(*letter)),
        [] => None,
    };
    Signature { marks, key, letter }
}

impl Signature {
    /// Whether a reply with these values has all marks. Most signatures already differ in the first
    /// letter of their first mark.
    #[inline]
    pub(crate) fn fits(&self, known: &Known<'_>) -> bool {
        let may_fit = |value: &[u8]| {
            let first = value.first().map(|byte| in_one_case(*byte));
            self.letter.is_none_or(|letter| first == Some(letter))
        };
        known.get(self.key).is_some_and(may_fit) && self.has_all_marks(known)
    }

    #[inline(never)]
    fn has_all_marks(&self, known: &Known<'_>) -> bool {
        self.marks.iter().all(|mark| mark.fits(known))
    }
}

/// A letter without the bit in which upper and lower case differ; any other byte without it, too.
const fn in_one_case(byte: u8) -> u8 {
    byte & !0x20
}

/// A condition on the keys of a reply. Values are compared in any ASCII case.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Mark {
    /// The reply has the key.
    Has(Key),
    /// The reply does not have the key.
    Lacks(Key),
    /// The value is this text.
    Is(Key, &'static str),
    /// The value begins with this text.
    Begins(Key, &'static str),
    /// The number that the value begins with is in this range.
    Number(Key, u32, u32),
    /// The value begins with a number and ends with a letter.
    NumberWithLetters(Key),
}

/// The reply has this key.
pub(crate) const fn has(name: &str) -> Mark {
    Mark::Has(Key::new(name))
}

/// The reply does not have this key.
pub(crate) const fn lacks(name: &str) -> Mark {
    Mark::Lacks(Key::new(name))
}

/// The value of this key is this text.
pub(crate) const fn is(name: &str, text: &'static str) -> Mark {
    Mark::Is(Key::new(name), text)
}

/// The value of this key begins with this text.
pub(crate) const fn begins(name: &str, text: &'static str) -> Mark {
    Mark::Begins(Key::new(name), text)
}

/// The number that the value of this key begins with is in this range.
pub(crate) const fn number(name: &str, first: u32, last: u32) -> Mark {
    Mark::Number(Key::new(name), first, last)
}

impl Mark {
    fn fits(self, known: &Known<'_>) -> bool {
        let value = |key| known.get(key).unwrap_or_default();
        match self {
            Self::Has(key) => known.has(key),
            Self::Lacks(key) => !known.has(key),
            Self::Is(key, text) => value(key).eq_ignore_ascii_case(text.as_bytes()),
            Self::Begins(key, text) => begins_with(value(key), text),
            Self::Number(key, first, last) => {
                leading(value(key)).is_some_and(|number| (first..=last).contains(&number))
            }
            Self::NumberWithLetters(key) => {
                let last = value(key).last();
                last.is_some_and(u8::is_ascii_alphabetic) && leading(value(key)).is_some()
            }
        }
    }
}

/// Whether a value begins with a text, in any ASCII case. Texts with the same first letter mostly
/// differ at the end, so that is compared first.
fn begins_with(value: &[u8], text: &str) -> bool {
    let Some(begin) = value.get(..text.len()) else {
        return false;
    };
    let mut pairs = begin.iter().zip(text.as_bytes()).rev();
    pairs.all(|(byte, other)| byte.eq_ignore_ascii_case(other))
}

/// The parts of an engine's signatures that none of these replies tests. Each reply has the name of
/// its engine.
///
/// A signature is tested by a reply that fits no other one of the engine; a mark next to others, by
/// a reply of another engine that lacks only this mark; a range, by replies with its ends.
#[cfg(test)]
pub(crate) fn untested(
    name: &str,
    signatures: &[Signature],
    replies: &[(&str, Known<'_>)],
) -> Vec<String> {
    let of_engine = |(engine, _): &&(&str, Known<'_>)| *engine == name;
    let (own, others): (Vec<_>, Vec<_>) = replies.iter().partition(of_engine);
    let mut untested = Vec::new();
    for signature in signatures {
        let fits_alone = |known: &Known<'_>| {
            let fitting = signatures.iter().filter(|other| other.fits(known));
            signature.fits(known) && fitting.count() == 1
        };
        if !own.iter().any(|(_, known)| fits_alone(known)) {
            untested.push(format!("{name}: {signature:?}"));
        }
        for mark in signature.marks {
            let lacks_only_this = |known: &Known<'_>| {
                let lacking = signature.marks.iter().filter(|mark| !mark.fits(known));
                !mark.fits(known) && lacking.count() == 1
            };
            let is_alone = signature.marks.len() == 1;
            if !is_alone && !others.iter().any(|(_, known)| lacks_only_this(known)) {
                untested.push(format!("{name}: {mark:?} of {signature:?}"));
            }
            if let Mark::Number(key, first, last) = mark {
                let numbers = own
                    .iter()
                    .map(|(_, known)| known.get(*key).and_then(leading));
                let numbers: Vec<Option<u32>> = numbers.collect();
                if !numbers.contains(&Some(*first)) || !numbers.contains(&Some(*last)) {
                    untested.push(format!("{name}: an end of {mark:?}"));
                }
            }
        }
    }
    untested
}

/// Each part of a row, with the row without it: each of its keys, its place before another key of the
/// same field, the form of each key's values, and each name of the game. The same list of
/// several rows has one name.
#[cfg(test)]
pub(crate) fn reduced(row: &Row) -> Vec<(String, Row)> {
    let own = row.own.reduced().into_iter();
    let own = own.map(|(part, own)| (part, Row { own, ..*row }));
    let usual = row.usual.reduced().into_iter();
    let usual = usual.map(|(part, usual)| (part, Row { usual, ..*row }));
    let base = row.base.iter().map(|name| {
        let others = row.base.iter().filter(|other| *other != name);
        let base = others.copied().collect::<Vec<_>>().leak();
        (format!("{name} of {:?}", row.base), Row { base, ..*row })
    });
    own.chain(usual).chain(base).collect()
}

#[cfg(test)]
impl Entries {
    fn reduced(self) -> Vec<(String, Self)> {
        let mut reduced = Vec::new();
        let keys = self.list.iter().map(|entry| entry.key.name());
        let list = format!("{:?}", keys.collect::<Vec<_>>());
        let mut after = self.list;
        while let [entry, rest @ ..] = after {
            after = rest;
            let part = format!("{} of {list}", entry.key.name());
            let others = self.list.iter().filter(|other| other.key != entry.key);
            let others: Vec<Entry> = others.copied().collect();
            if !matches!(entry.form, Form::Usual) {
                let usual = [&[entry.with(Form::Usual)], &others[..]].concat();
                reduced.push((format!("the form of {part}"), entries(usual.leak())));
            }
            let is_of_field = |other: &Entry| other.field == entry.field;
            if entry.field != Field::AntiCheat && rest.iter().any(is_of_field) {
                let last = [&others[..], &[*entry]].concat();
                reduced.push((format!("the place of {part}"), entries(last.leak())));
            }
            reduced.push((part, entries(others.leak())));
        }
        reduced
    }
}
