//! Naive readers: a second implementation of the four protocols, slow and obvious, written only
//! from facts about the wire and never from the library's parsers, so that the same
//! misunderstanding is unlikely in both.
//!
//! A reader gets the datagrams of one server in order of arrival. It returns their fields and
//! whether they are complete.

use std::cell::RefCell;
use std::collections::BTreeSet;

pub mod gamespy1;
pub mod gamespy4;
pub mod quake3;
pub mod siblings;
pub mod ut2004;

/// Owned bytes.
pub type Text = Vec<u8>;
/// Keys and values in wire order.
pub type Pairs = Vec<(Text, Text)>;

/// Whether a reply is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whole {
    Yes,
    /// Something is missing, for this reason.
    No(&'static str),
    /// The format does not show it.
    Unknown(&'static str),
}

/// The fields of a reply.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fields {
    pub name: Option<Text>,
    pub map: Option<Text>,
    pub rules: Pairs,
    pub players: Vec<Pairs>,
    pub teams: Vec<Pairs>,
}

impl std::fmt::Display for Fields {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = |text: &Option<Text>| text.as_ref().map(|text| text.escape_ascii().to_string());
        let pairs = |pairs: &Pairs| -> String {
            pairs
                .iter()
                .map(|(key, value)| {
                    format!(
                        " {}={:?}",
                        key.escape_ascii(),
                        value.escape_ascii().to_string()
                    )
                })
                .collect()
        };
        let rows = |rows: &[Pairs]| -> String {
            rows.iter()
                .map(|row| format!("\n  {}", pairs(row)))
                .collect()
        };
        write!(
            f,
            "{:?} on {:?}\n rules:{}",
            name(&self.name),
            name(&self.map),
            pairs(&self.rules)
        )?;
        write!(
            f,
            "\n players:{}\n teams:{}",
            rows(&self.players),
            rows(&self.teams)
        )
    }
}

/// The result of a reader. It has no fields if the datagrams are ambiguous; `whole` then has the
/// reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    pub whole: Whole,
    pub fields: Option<Fields>,
}

thread_local! {
    static REASONS: RefCell<BTreeSet<&'static str>> = RefCell::default();
}

/// The reasons of the readings on this thread for which something is missing or ambiguous.
pub fn reasons() -> BTreeSet<&'static str> {
    REASONS.take()
}

impl Reading {
    /// Notes the reason, for [`reasons`].
    pub(crate) fn note(&self) {
        if let Whole::No(why) | Whole::Unknown(why) = self.whole {
            REASONS.with_borrow_mut(|reasons| reasons.insert(why));
        }
    }

    fn no(why: &'static str) -> Self {
        Self {
            whole: Whole::No(why),
            fields: None,
        }
    }

    fn unknown(why: &'static str) -> Self {
        Self {
            whole: Whole::Unknown(why),
            fields: None,
        }
    }

    /// Fields that may not be complete.
    fn open(why: &'static str, fields: Fields) -> Self {
        Self {
            whole: Whole::Unknown(why),
            fields: Some(fields),
        }
    }
}

/// The value of the only pair with a key; `None` if it is empty or there are several.
fn only(pairs: &[(Text, Text)], key: &str) -> Option<Text> {
    let mut values: Vec<&Text> = Vec::new();
    for (name, value) in pairs {
        if name.eq_ignore_ascii_case(key.as_bytes()) && !values.contains(&value) {
            values.push(value);
        }
    }
    match values[..] {
        [value] if !value.is_empty() => Some(value.clone()),
        _ => None,
    }
}

/// Whether all bytes are decimal digits, and there is at least one.
fn is_number(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().all(u8::is_ascii_digit)
}

fn number(text: &[u8]) -> Option<u64> {
    if !is_number(text) || text.len() > 18 {
        return None;
    }
    String::from_utf8(text.to_vec()).ok()?.parse().ok()
}
