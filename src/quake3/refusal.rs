//! A server's refusal of a client.

use std::fmt;

use bytes::Bytes;
use thiserror::Error;

use super::engines;
use super::habits::RefusalReason;
use super::wire::reply::Reply;
use crate::model::{Text, TextRef};

/// A server's refusal of `getchallenge` or `connect`.
///
/// ```
/// use queryport::quake3::{RefusalReason, Refusal};
///
/// let refusal = Refusal::new(&b"Server uses protocol version 71 (yours is 0).\n"[..]);
/// assert_eq!(refusal.reason(), RefusalReason::WrongProtocol);
/// assert_eq!(
///     refusal.to_string(),
///     "the server refused: Server uses protocol version 71 (yours is 0)."
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the server refused: {}", Words(self))]
#[non_exhaustive]
pub struct Refusal {
    /// The server's words. Call of Duty's servers send names of texts that the client has, such as
    /// `EXE_SERVERISFULL`.
    pub text: Text,
    reason: RefusalReason,
}

impl Refusal {
    /// A refusal in the server's words, the bytes after `print` and its line feed.
    pub fn new(text: impl Into<Bytes>) -> Self {
        let text = Text::new(text, engines::DEFAULT.style());
        let reason = reason(&one_line(&text));
        Self { text, reason }
    }

    /// The refusal in a reply; `None` for another reply.
    pub(super) fn of(reply: &Reply<'_>) -> Option<Self> {
        let refused = |text: &[u8]| Self::new(Bytes::copy_from_slice(text));
        match *reply {
            Reply::Print { dark_places, text } => {
                // The short form begins with a letter that also begins other words. A text ends
                // with a line feed; other datagrams do not.
                let is_text = !dark_places || ends_with_line(text);
                is_text.then(|| refused(text))
            }
            Reply::Rejected { text } | Reply::Dropped { text } | Reply::Error { text } => {
                Some(refused(text))
            }
            Reply::RejectedInLines { kind, text, .. } => {
                Some(refused(text).or_reason(reason_of_kind(kind)))
            }
            Reply::KeyNeeded => Some(refused(b"").or_reason(RefusalReason::CdKey)),
            Reply::Disconnect { text } if !text.is_empty() => Some(refused(text)),
            _ => None,
        }
    }

    /// The refusal with this reason, if its words have no known meaning.
    fn or_reason(self, reason: RefusalReason) -> Self {
        match self.reason {
            RefusalReason::Other => Self { reason, ..self },
            _ => self,
        }
    }

    /// The known meaning of the words.
    pub const fn reason(&self) -> RefusalReason {
        self.reason
    }
}

/// Whether a text ends with its line, and maybe a NUL after it.
fn ends_with_line(text: &[u8]) -> bool {
    text.strip_suffix(b"\0").unwrap_or(text).ends_with(b"\n")
}

/// The words of a refusal, for people.
struct Words<'a>(&'a Refusal);

impl fmt::Display for Words<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = one_line(&self.0.text);
        match (words.as_str(), self.0.reason) {
            ("", RefusalReason::CdKey) => f.write_str("it wants the game's CD key"),
            ("", _) => f.write_str("no reason given"),
            (words, _) => f.write_str(words),
        }
    }
}

/// Joins the lines of a text, without colour codes and the mark for the client's dialog.
fn one_line(text: &Text) -> String {
    /// Call of Duty's mark of a literal text (voron00/CoD2rev_Server, `sv_client_mp.cpp`).
    const LITERAL: u8 = 0x15;
    let lines = text
        .raw()
        .split(|&byte| byte == b'\n' || byte == LITERAL)
        .map(|line| TextRef::new(line, text.style()).plain().trim().to_owned())
        .filter(|line| !line.is_empty());
    let joined = lines.collect::<Vec<_>>().join(" ");
    without_mark(&joined).to_owned()
}

/// The words without the marks that tell the client how to show them: `[err_dialog]`,
/// `[err_update]`, `[err_prot]` (etlegacy, src/server/sv_client.c).
fn without_mark(words: &str) -> &str {
    let mark = words
        .strip_prefix("[err_")
        .and_then(|mark| mark.split_once(']'));
    mark.map_or(words, |(_, rest)| rest.trim_start())
}

/// The meaning of words: that of the longest known phrase in them.
fn reason(words: &str) -> RefusalReason {
    let words = words.to_lowercase();
    engines::ALL
        .iter()
        .flat_map(|profile| profile.refusals)
        .filter(|phrase| phrase.fits(&words))
        .max_by_key(|phrase| phrase.words.len())
        .map_or(RefusalReason::Other, |phrase| phrase.reason)
}

/// The meaning of the number of a refusal in lines.
fn reason_of_kind(number: &[u8]) -> RefusalReason {
    engines::ALL
        .iter()
        .flat_map(|profile| profile.refusal_kinds)
        .find(|kind| kind.number.as_bytes() == number)
        .map_or(RefusalReason::Other, |kind| kind.reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(body: &[u8]) -> Option<Refusal> {
        let datagram = [b"\xff\xff\xff\xff", body].concat();
        Refusal::of(&Reply::parse(&datagram).unwrap())
    }

    /// Each text is in the source that the engine's row names, or begins like it.
    #[test]
    fn known_words_have_a_meaning() {
        let (mut seen, mut wrong) = (Vec::new(), Vec::new());
        use RefusalReason::{
            BadChallenge, Banned, CdKey, Other, Password, Ping, Queued, ServerFull, TryAgain,
            WrongGame, WrongProtocol,
        };
        for (body, reason) in [
            ("print\nServer is full.\n", ServerFull),
            ("print\n^1Server is full.\n", ServerFull),
            (
                "print\n[err_dialog]No or bad challenge for address.\n",
                BadChallenge,
            ),
            ("print\n[err_dialog]Server is for high pings only\n", Ping),
            ("print\n[err_dialog", Other),
            (
                "print\n[err_prot]Protocol mismatch between client and server.\n",
                WrongProtocol,
            ),
            ("print\n@@@SERVER_IS_FULL\n", ServerFull),
            ("print\n@@@INVALID_ESCAPE_TO_MAIN\n", Password),
            (
                "print\nIncorrect challenge for your address.\n",
                BadChallenge,
            ),
            (
                "print\nGame mismatch: This is a Quake3Arena server\n",
                WrongGame,
            ),
            (
                "print\nNo or bad challenge for your address.\n",
                BadChallenge,
            ),
            ("print\nInvalid password\n", Password),
            ("print\nYou are banned from this server.\n", Banned),
            ("print\nServer is for high pings only\n", Ping),
            ("print\nServer is for low pings only\n", Ping),
            ("print\nServer full\n", ServerFull),
            ("print\nServer uses protocol version 68.\n", WrongProtocol),
            ("print\nInvalid challenge\n", BadChallenge),
            ("print\nPassword required\n", Password),
            ("print\nBanned.\n", Banned),
            ("print\nYou're banned\n", Banned),
            ("reject Wrong game version\n", WrongProtocol),
            ("reject ERROR: Protocol mismatch\n", WrongProtocol),
            ("print\nReconnect rejected by game", Other),
            ("print\n", Other),
            ("print\nAwaiting CD key authorization\n", TryAgain),
            ("print\nReconnecting, please wait 3 second(s).\n", TryAgain),
            ("print\nPlease wait...\n", TryAgain),
            (
                "print\nServer is full. 3 players wait before you.\n",
                Queued,
            ),
            ("error\nEXE_SERVERISFULL", ServerFull),
            ("error\nEXE_BAD_CHALLENGE", BadChallenge),
            ("error\nEXE_ERR_HIGH_PING_ONLY", Ping),
            ("error\nEXE_ERR_LOW_PING_ONLY", Ping),
            ("error\nEXE_ERR_BAD_CDKEY", CdKey),
            ("error\nEXE_ERR_CDKEY_IN_USE", CdKey),
            (
                "error\nEXE_SERVER_IS_DIFFERENT_VER\u{15}1.0\n",
                WrongProtocol,
            ),
            ("error\nEXE_ERR_BANNED_PERM", Banned),
            (
                "error\n\u{15}You are permanently banned from this server\n",
                Banned,
            ),
            (
                "error\n\u{15}You are temporarily banned from this server\n",
                Banned,
            ),
            ("error Bad signature", Other),
            ("needcdkey", CdKey),
            ("reject Server is full.", ServerFull),
            ("reject\n0\n0\nServer is full\n", ServerFull),
            ("reject\n1\n0\nNo idea\n", Password),
            (
                "reject\n0\n0\nServer and client don't have the same version\n",
                WrongProtocol,
            ),
            ("\u{1}droperror\nServer is full\n", ServerFull),
            (
                "\u{1}droperror\nServer rejected connection:\nInvalid CD Key",
                CdKey,
            ),
            ("nYou are banned.\n", Banned),
            ("print\nSomeone is using this CD Key\n", CdKey),
            ("print\nServer is not a demo server\n", WrongGame),
            ("print\nMissing challenge in userinfo.\n", BadChallenge),
            ("print\nMissing protocol in userinfo.\n", WrongProtocol),
            ("print\nReconnect rejected : too soon\n", TryAgain),
            (
                "\u{1}droperror\nRequires Medal of Honor Allied Assault Breakthrough\n",
                WrongGame,
            ),
            (
                "\u{1}print\nThe Multiplayer Demo can not connect to full version games.\n",
                WrongGame,
            ),
            (
                "error\nThis server requires protocol version: 21\nPlease update\n",
                WrongProtocol,
            ),
            (
                "error\nBad subversion. Server expects subversion 1 but client is 2\n",
                WrongProtocol,
            ),
            (
                "error\nThis server has set a join-password\n^1Invalid Password\n",
                Password,
            ),
            ("print\nReconnect limit in effect... (3)\n", TryAgain),
            ("reject Wrong game protocol.", WrongProtocol),
            ("reject\n0\n0\nBad challenge\n", BadChallenge),
            ("reject\n0\n0\nNo challenge for address\n", BadChallenge),
            (
                "print\nServer is version 2.10. Protocol  22\n",
                WrongProtocol,
            ),
            (
                "print\nServer uses either protocol version 71, 70 or 69 (yours is 68).\n",
                WrongProtocol,
            ),
        ] {
            let refusal = of(body.as_bytes()).unwrap();
            if refusal.reason() != reason {
                wrong.push(format!("{body:?} is {:?}", refusal.reason()));
            }
            seen.push(one_line(&refusal.text).to_lowercase());
        }
        for phrase in engines::ALL.iter().flat_map(|row| row.refusals) {
            if !seen.iter().any(|words| phrase.fits(words)) {
                wrong.push(format!("no text above has {:?}", phrase.words));
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    #[test]
    fn other_replies_are_no_refusals() {
        for body in [
            &b"disconnect"[..],
            b"connectResponse",
            b"accept",
            b"ack",
            b"challengeResponse 5",
            b"client_connect\n5",
            b"nothing",
        ] {
            assert_eq!(of(body), None, "{body:?}");
        }
    }

    #[test]
    fn a_refusal_is_shown_in_one_line() {
        for (body, shown) in [
            (&b"print\n\x1b[31mno\n"[..], "[31mno"),
            (b"print\n[err_dialog]Banned.\n", "Banned."),
            (b"print\n", "no reason given"),
            (b"needcdkey", "it wants the game's CD key"),
            // openmoh/openmohaa, code/server/sv_client.c.
            (
                b"\x01droperror\nYou are banned from this server.\nReason: cheating\n",
                "You are banned from this server. Reason: cheating",
            ),
            (
                b"reject\n0\n0\nServer is full\n22\n1\n0\n",
                "Server is full",
            ),
            (
                b"error\nEXE_SERVER_IS_DIFFERENT_VER\x151.0\n",
                "EXE_SERVER_IS_DIFFERENT_VER 1.0",
            ),
        ] {
            let refusal = of(body).unwrap().to_string();
            assert_eq!(refusal, format!("the server refused: {shown}"));
        }
    }

    #[test]
    fn every_row_writes_its_phrases_in_lower_case() {
        for phrase in engines::ALL.iter().flat_map(|profile| profile.refusals) {
            assert_eq!(phrase.words, phrase.words.to_lowercase());
            assert!(phrase.words.len() > 4, "{phrase:?}");
        }
    }
}
