//! What to ask a list server.

use bytes::BufMut;

use super::sapphire::CHALLENGE;
use crate::error::EncodeError;

/// Most bytes of the condition and of the list of fields, as in the SDK (`sb_internal.h`).
const MAX_TEXT: usize = 256;
/// Most bytes of a name or key.
const MAX_NAME: usize = 64;
/// Options: the fields of all servers; a maximum follows.
const FIELDS_FOR_ALL: u32 = 1;
const LIMIT_RESULT_COUNT: u32 = 128;

/// What to ask a list server: the servers of which game, with which of their fields.
///
/// ```
/// use queryport::lists::GameSpy2List;
///
/// let mut request = GameSpy2List::new("swat4", "tG3j8c");
/// request.fields = vec!["hostname".to_owned(), "numplayers".to_owned()];
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct GameSpy2List {
    /// The game whose servers are wanted.
    pub game: String,
    /// The game that asks, which [`Self::key`] belongs to. Default: the game.
    pub login: String,
    /// The key of the game that asks, in practice six letters and digits.
    pub key: Vec<u8>,
    /// The version of the game; default 0.
    pub version: u32,
    /// Only servers that this condition holds for, in the SQL-like language of the list server; at most 256 bytes, default
    /// empty, which means all.
    pub filter: String,
    /// The fields to list with each server; together with their separators at most 256 bytes. Default `hostname`: some list
    /// servers do not answer requests without a field.
    pub fields: Vec<String>,
    /// Most servers to list; default all.
    pub maximum: Option<u32>,
}

impl GameSpy2List {
    /// The list of a game's servers, asked for with the game's key.
    #[must_use]
    pub fn new(game: impl Into<String>, key: impl Into<Vec<u8>>) -> Self {
        let game = game.into();
        Self {
            login: game.clone(),
            game,
            key: key.into(),
            version: 0,
            filter: String::new(),
            fields: vec!["hostname".to_owned()],
            maximum: None,
        }
    }

    /// The request, with the client's challenge.
    pub(super) fn encode(&self, challenge: &[u8; CHALLENGE]) -> Result<Vec<u8>, EncodeError> {
        let Self { game, login, key, filter, .. } = self;
        let named = [("game", game.as_bytes()), ("login", login.as_bytes()), ("key", &key[..])];
        for (field, text) in named {
            if text.is_empty() {
                return Err(EncodeError::Empty(field));
            }
            check(field, text, MAX_NAME, |byte| byte == 0)?;
        }
        check("filter", filter.as_bytes(), MAX_TEXT, |byte| byte == 0)?;
        for name in &self.fields {
            check("name of a field", name.as_bytes(), MAX_TEXT, |byte| byte == 0 || byte == b'\\')?;
        }
        let fields: String = self.fields.iter().map(|name| format!("\\{name}")).collect();
        check("list of fields", fields.as_bytes(), MAX_TEXT, |_| false)?;
        // The length is written last; the type of a list is 0, its versions are 1 and 3.
        let mut out = vec![0, 0, 0, 1, 3];
        out.put_u32_le(self.version);
        let put_text = |text: &str, out: &mut Vec<u8>| {
            out.put_slice(text.as_bytes());
            out.put_u8(0);
        };
        put_text(game, &mut out);
        put_text(login, &mut out);
        out.put_slice(challenge);
        put_text(filter, &mut out);
        put_text(&fields, &mut out);
        out.put_u32(FIELDS_FOR_ALL | self.maximum.map_or(0, |_| LIMIT_RESULT_COUNT));
        if let Some(maximum) = self.maximum {
            out.put_u32_le(maximum);
        }
        // Far below 65,536: every text is bounded.
        let length = u16::try_from(out.len()).unwrap_or(u16::MAX).to_be_bytes();
        length.into_iter().zip(&mut out).for_each(|(byte, place)| *place = byte);
        Ok(out)
    }
}

/// Without the key.
impl std::fmt::Debug for GameSpy2List {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { game, login, version, filter, fields, maximum, key: _ } = self;
        let mut f = f.debug_struct("GameSpy2List");
        f.field("game", game).field("login", login).field("version", version).field("filter", filter);
        f.field("fields", fields).field("maximum", maximum).finish_non_exhaustive()
    }
}

fn check(
    field: &'static str,
    text: &[u8],
    limit: usize,
    is_forbidden: impl Fn(u8) -> bool,
) -> Result<(), EncodeError> {
    if text.len() > limit {
        return Err(EncodeError::TooLong { field, limit });
    }
    match text.iter().find(|byte| is_forbidden(**byte)) {
        Some(&byte) => Err(EncodeError::Forbidden { field, byte }),
        None => Ok(()),
    }
}

/// A challenge of visible characters, whose parities follow the SDK's rule (`sb_serverlist.c`, `SetupListChallenge`). No
/// list server is known to check them.
pub(super) fn challenge(nonce: u64) -> [u8; CHALLENGE] {
    let mut challenge = nonce.to_le_bytes().map(|byte| 33_u8.saturating_add(byte % 93));
    let [first, ..] = challenge;
    let (mut before, mut is_odd) = (first, false);
    for (index, byte) in challenge.iter_mut().enumerate().skip(1) {
        let odd_inputs = [before & 1 == 1, index & 1 == 1, first & 1 == 1, first < 79, before < first];
        is_odd ^= odd_inputs.into_iter().fold(false, |sum, bit| sum ^ bit);
        if is_odd != (*byte & 1 == 1) {
            *byte = byte.saturating_add(1);
        }
        before = *byte;
    }
    challenge
}
