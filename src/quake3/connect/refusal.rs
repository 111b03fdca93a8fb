//! Refusals: the server's own words, and what they are known to mean.

use bytes::Bytes;
use thiserror::Error;

use crate::model::{Charset, Colours, Style, Text};

/// A server's refusal of `getchallenge` or `connect`.
///
/// ```
/// use queryport::quake3::{RefusalReason, Refusal};
///
/// let refusal = Refusal::new(&b"Server uses protocol version 71 (yours is 0).\n"[..]);
/// assert_eq!(refusal.reason(), RefusalReason::WrongProtocol);
/// assert_eq!(refusal.to_string(), "the server refused: Server uses protocol version 71 (yours is 0).");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the server refused: {}", one_line(text))]
#[non_exhaustive]
pub struct Refusal {
    /// The server's words.
    pub text: Text,
}

/// What a refusal's words are known to mean. Servers of other games and languages have others.
///
/// ```
/// use queryport::quake3::{RefusalReason, Refusal};
///
/// match Refusal::new(&b"Server is full.\n"[..]).reason() {
///     RefusalReason::ServerFull => println!("try again later"),
///     other => panic!("{other:?}"),
/// }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RefusalReason {
    /// No player slot is free.
    ServerFull,
    /// The `protocol` of the userinfo is not the server's.
    WrongProtocol,
    /// The server is one of another game (ioquake3's answer to `getchallenge`).
    WrongGame,
    /// The `challenge` of the userinfo was not issued to this address, or is too old.
    BadChallenge,
    /// A `password` is needed, or the one given is wrong.
    Password,
    /// The address is banned.
    Banned,
    /// The round-trip time is out of the range that the server takes.
    Ping,
    /// Other words.
    Other,
}

/// Beginnings of known refusals, in lower case (ioquake3, Quake III Arena and DarkPlaces sources; the protocol
/// and game lines also recorded from OpenArena).
const KNOWN: [(&[&str], RefusalReason); 7] = [
    (&["server is full", "server full"], RefusalReason::ServerFull),
    (
        &["server uses protocol version", "error: protocol mismatch", "wrong game version"],
        RefusalReason::WrongProtocol,
    ),
    (&["game mismatch"], RefusalReason::WrongGame),
    (&["no or bad challenge", "invalid challenge"], RefusalReason::BadChallenge),
    (&["invalid password", "password"], RefusalReason::Password),
    (&["you are banned", "you're banned", "banned"], RefusalReason::Banned),
    (&["server is for high pings only", "server is for low pings only"], RefusalReason::Ping),
];

impl Refusal {
    /// A refusal in the server's words, the bytes after `print` and its line feed.
    #[must_use]
    pub fn new(text: impl Into<Bytes>) -> Self {
        let style = Style::new(Charset::Utf8OrWindows1252, Colours::Caret);
        Self { text: Text::new(text, style) }
    }

    /// What the words are known to mean.
    #[must_use]
    pub fn reason(&self) -> RefusalReason {
        // Some servers print colour codes, a mark for the client's dialog or blank lines first.
        let plain = self.text.plain().to_lowercase();
        let plain = without_mark(&plain);
        let known = KNOWN.iter().find(|(texts, _)| texts.iter().any(|text| plain.starts_with(text)));
        known.map_or(RefusalReason::Other, |(_, reason)| *reason)
    }
}

/// The words without what tells the client how to show them: `[err_dialog]`, `[err_update]`, `[err_prot]` (etlegacy,
/// src/server/sv_client.c).
fn without_mark(words: &str) -> &str {
    let words = words.trim();
    let rest = words.strip_prefix("[err_").and_then(|mark| mark.split_once(']'));
    rest.map_or(words, |(_, rest)| rest.trim_start())
}

fn one_line(text: &Text) -> String {
    let plain = text.plain();
    let words = without_mark(&plain);
    if words.is_empty() { "no reason given".to_owned() } else { words.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_words_have_a_meaning() {
        for (text, reason) in [
            ("Server is full.\n", RefusalReason::ServerFull),
            ("^1Server is full.\n", RefusalReason::ServerFull),
            // etlegacy, src/server/sv_client.c.
            ("[err_dialog]No or bad challenge for address.\n", RefusalReason::BadChallenge),
            ("[err_dialog]Server is for high pings only\n", RefusalReason::Ping),
            ("[err_dialog", RefusalReason::Other),
            ("Game mismatch: This is a Quake3Arena server\n", RefusalReason::WrongGame),
            ("No or bad challenge for your address.\n", RefusalReason::BadChallenge),
            ("Invalid password\n", RefusalReason::Password),
            ("You are banned from this server.\n", RefusalReason::Banned),
            ("Server is for high pings only\n", RefusalReason::Ping),
            ("Reconnect rejected by game", RefusalReason::Other),
            ("", RefusalReason::Other),
        ] {
            assert_eq!(Refusal::new(text.as_bytes()).reason(), reason, "{text:?}");
        }
    }

    #[test]
    fn a_refusal_is_safe_to_print() {
        let refusal = Refusal::new(&b"\x1b[31mno\n"[..]);
        assert!(!refusal.to_string().contains('\x1b'));
        assert_eq!(Refusal::new(&b"[err_dialog]Banned.\n"[..]).to_string(), "the server refused: Banned.");
        assert_eq!(Refusal::new(&b""[..]).to_string(), "the server refused: no reason given");
    }
}
