//! A server's refusal of a client.

use std::fmt;

use bytes::Bytes;
use thiserror::Error;

use super::engines;
use super::wire::reply::Reply;
use crate::model::Text;

/// A server's refusal of `getchallenge` or `connect`.
///
/// ```
/// use queryport::quake3::Refusal;
///
/// let refusal = Refusal::new(&b"Server uses protocol version 71 (yours is 0).\n"[..]);
/// assert_eq!(
///     refusal.to_string(),
///     "the server refused: Server uses protocol version 71 (yours is 0)."
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the server refused: {}", Words(&self.text))]
#[non_exhaustive]
pub struct Refusal {
    /// The server's words. Call of Duty's servers send names of texts that the client has, such as
    /// `EXE_SERVERISFULL`, or the word `needcdkey`.
    pub text: Text,
}

impl Refusal {
    /// A refusal in the server's words, the bytes after `print` and its line feed.
    pub fn new(text: impl Into<Bytes>) -> Self {
        let text = Text::new(text, engines::DEFAULT.row.style);
        Self { text }
    }

    /// The refusal in a reply; `None` for another reply.
    pub(super) fn of(reply: &Reply<'_>) -> Option<Self> {
        let text = match *reply {
            // The short form begins with a letter that also begins other words. A text ends with a
            // line feed; other datagrams do not.
            Reply::Print {
                quake_world_word,
                text,
            } if !quake_world_word || ends_with_line(text) => text,
            Reply::Rejected { text } | Reply::Error { text } => text,
            Reply::KeyNeeded => b"needcdkey",
            Reply::Disconnect { text } if !text.is_empty() => text,
            _ => return None,
        };
        Some(Self::new(Bytes::copy_from_slice(text)))
    }
}

/// Whether a text ends with its line, and maybe a NUL after it.
fn ends_with_line(text: &[u8]) -> bool {
    text.strip_suffix(b"\0").unwrap_or(text).ends_with(b"\n")
}

/// The words of a refusal in one line, without colour codes.
struct Words<'a>(&'a Text);

impl fmt::Display for Words<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = self.0.lines().map(|line| line.plain().trim().to_owned());
        let words: Vec<String> = lines.filter(|line| !line.is_empty()).collect();
        match &words[..] {
            [] => f.write_str("no reason given"),
            words => f.write_str(&words.join(" ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(body: &[u8]) -> Option<Refusal> {
        let datagram = [b"\xff\xff\xff\xff", body].concat();
        Refusal::of(&Reply::parse(&datagram).unwrap())
    }

    #[test]
    fn other_replies_are_no_refusals() {
        for body in [
            &b"disconnect"[..],
            b"connectResponse",
            b"accept",
            b"ack",
            b"challengeResponse 5",
            b"nothing",
        ] {
            assert_eq!(of(body), None, "{body:?}");
        }
    }

    #[test]
    fn a_refusal_is_shown_in_one_line() {
        for (body, shown) in [
            (&b"print\n\x1b[31mno\n"[..], "[31mno"),
            (b"print\n^1Server is full.\n", "Server is full."),
            (b"print\n", "no reason given"),
            (b"needcdkey", "needcdkey"),
            (b"error\nEXE_SERVERISFULL", "EXE_SERVERISFULL"),
            (b"nYou are banned.\n", "You are banned."),
            (b"nYou are banned.\n\0", "You are banned."),
            (b"disconnect EXE_ERR_BANNED", "EXE_ERR_BANNED"),
            (
                b"print\nYou are banned from this server.\nReason: cheating\n",
                "You are banned from this server. Reason: cheating",
            ),
        ] {
            let refusal = of(body).unwrap().to_string();
            assert_eq!(refusal, format!("the server refused: {shown}"));
        }
    }
}
