//! What to ask a list server.

use bytes::BufMut;

use crate::error::EncodeError;
use crate::ut2004::wire::strings::{FString, put_index};

/// Most conditions of a request: OpenSpy reads their number as one byte, and a compact index of one byte ends at 63.
const MAX_CONDITIONS: usize = 63;
/// Most bytes of a condition's key or value.
const MAX_TEXT: usize = 255;
/// The lowest version that the UT2004 form is used for, as on OpenSpy.
const UT2004: u32 = 3000;

/// What to ask a list server: the servers of which game, under which conditions.
///
/// ```
/// use queryport::lists::{Comparison, Condition, Ut2004List};
///
/// let mut request = Ut2004List::ut2004();
/// request.conditions = vec![
///     Condition::new("gametype", Comparison::Equal, "xDeathMatch"),
///     Condition::new("currentplayers", Comparison::Greater, "0"),
/// ];
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Ut2004List {
    /// The version of the game, which decides the form of the conversation: 3369 for UT2004, 2225 for UT2003, 2226 for
    /// Unreal II XMP. UT2004's form begins at 3000.
    pub version: u32,
    /// A CD key to log in with, as `AAAAA-BBBBB-CCCCC-DDDDD`; only its MD5 is sent. Default empty: zeros are sent, which
    /// OpenSpy and the other public list servers accept.
    pub cd_key: String,
    /// Conditions that must all hold for a server to be listed; at most 63, default none.
    pub conditions: Vec<Condition>,
}

/// A condition on the servers of a list.
///
/// Keys of the game's own browser: `gametype` (a class without its package), `standard`, `password`, `nobots`, `stats`,
/// `weaponstay`, `transloc`, `nomutators` (`true` or `false`), `currentplayers` and `freespace` (greater than `0`: not empty
/// and not full), `mutator` (a class), `category`, `buddy`, `gamespeed`, `custom`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Condition {
    /// What is compared.
    pub key: String,
    /// How.
    pub comparison: Comparison,
    /// With what. Numbers are decimal.
    pub value: String,
}

/// How a [`Condition`] compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Comparison {
    /// Equal.
    Equal,
    /// Not equal.
    NotEqual,
    /// Less.
    Less,
    /// Less or equal.
    LessOrEqual,
    /// Greater.
    Greater,
    /// Greater or equal.
    GreaterOrEqual,
}

impl Condition {
    /// A condition.
    #[must_use]
    pub fn new(key: impl Into<String>, comparison: Comparison, value: impl Into<String>) -> Self {
        Self { key: key.into(), comparison, value: value.into() }
    }
}

impl Ut2004List {
    /// All servers of UT2004.
    #[must_use]
    pub const fn ut2004() -> Self {
        Self { version: 3369, cd_key: String::new(), conditions: Vec::new() }
    }

    /// All servers of UT2003.
    #[must_use]
    pub const fn ut2003() -> Self {
        Self { version: 2225, cd_key: String::new(), conditions: Vec::new() }
    }

    /// Whether the conversation has UT2004's form.
    pub(super) const fn is_ut2004(&self) -> bool {
        self.version >= UT2004
    }

    /// The answer to a challenge.
    pub(super) fn login(&self, challenge: &[u8]) -> Result<Vec<u8>, EncodeError> {
        let hash = |challenge: &[u8]| match self.cd_key.as_bytes() {
            [] => "0".repeat(32),
            key => format!("{:x}", md5::compute([key, challenge].concat())),
        };
        frame(|out| {
            FString::narrow(hash(b"").as_bytes()).encode(out)?;
            FString::narrow(hash(challenge).as_bytes()).encode(out)?;
            FString::narrow(if self.is_ut2004() { b"UT2K4CLIENT" } else { b"CLIENT" }).encode(out)?;
            out.put_u32_le(self.version);
            // The operating system, the language and the hardware are those of pyut2serverlist, which list servers accept.
            out.put_u8(5);
            FString::narrow(b"int").encode(out)?;
            if self.is_ut2004() {
                [2606, 32_902, 20].into_iter().for_each(|number| out.put_u32_le(number));
                out.put_u8(0);
            }
            Ok(())
        })
    }

    /// What follows the approval in UT2004's form: any 32 characters. These are pyut2serverlist's.
    pub(super) fn verification() -> Result<Vec<u8>, EncodeError> {
        frame(|out| FString::narrow(b"0014e800000000000000000000000000").encode(out))
    }

    /// The request for the list.
    pub(super) fn list(&self) -> Result<Vec<u8>, EncodeError> {
        if self.conditions.len() > MAX_CONDITIONS {
            return Err(EncodeError::TooLong { field: "the list of conditions", limit: MAX_CONDITIONS });
        }
        frame(|out| {
            out.put_u8(0);
            put_index(self.conditions.len(), false, out)?;
            for Condition { key, comparison, value } in &self.conditions {
                put_text("key of a condition", key, out)?;
                put_text("value of a condition", value, out)?;
                out.put_u8(match comparison {
                    Comparison::Equal => 0,
                    Comparison::NotEqual => 1,
                    Comparison::Less => 2,
                    Comparison::LessOrEqual => 3,
                    Comparison::Greater => 4,
                    Comparison::GreaterOrEqual => 5,
                });
            }
            Ok(())
        })
    }
}

/// A message: its length, and what `write` writes.
fn frame(write: impl FnOnce(&mut Vec<u8>) -> Result<(), EncodeError>) -> Result<Vec<u8>, EncodeError> {
    let mut body = Vec::new();
    write(&mut body)?;
    // Far below 2³² bytes: the conditions are bounded, and so are their texts.
    let mut out = u32::try_from(body.len()).unwrap_or(u32::MAX).to_le_bytes().to_vec();
    out.append(&mut body);
    Ok(out)
}

/// A text as 8-bit units where they hold it, else in 16-bit units, which OpenSpy does not read.
fn put_text(field: &'static str, text: &str, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    if text.len() > MAX_TEXT {
        return Err(EncodeError::TooLong { field, limit: MAX_TEXT });
    }
    if text.contains('\0') {
        return Err(EncodeError::Forbidden { field, byte: 0 });
    }
    let narrow: Result<Vec<u8>, _> = text.chars().map(u8::try_from).collect();
    match narrow {
        Ok(narrow) => FString::narrow(&narrow).encode(out),
        Err(_) => {
            let wide: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
            FString::wide(&wide).encode(out)
        }
    }
}
