//! The output of a console command, or why there is none.

use bytes::Bytes;
use thiserror::Error;

use crate::error::ErrorKind;
use crate::model::{Text, TextRef};
use crate::quake3::connect::Refusal;

/// The output of a command.
///
/// ```
/// use queryport::Limits;
/// use queryport::quake3::{Password, RconMode, RconQuery};
/// use queryport::session::{Conversation, OnTimeout, Remaining};
///
/// let mut query = RconQuery::new(Password::new("secret"), "status", RconMode::Plain, &Limits::default())?;
/// query.receive(b"\xff\xff\xff\xffprint\nmap: q3d");
/// query.receive(b"\xff\xff\xff\xffprint\nm17\n2 players\n");
/// let OnTimeout::Done(Ok(answer)) = query.timeout(Remaining::Step) else { panic!() };
/// assert_eq!(answer.lines().next().unwrap(), "map: q3dm17");
/// # Ok::<(), queryport::EncodeError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RconAnswer {
    /// All pieces, joined in the order of their arrival. Nothing on the wire numbers or ends them: a piece that was lost,
    /// overtaken or delivered twice goes unnoticed.
    pub text: Text,
    /// How many datagrams it came in.
    pub datagrams: u16,
    /// Whether the deadline or a limit ended the answer while the server was still sending. `false` says that the server
    /// fell silent, and not that every piece arrived.
    pub is_cut: bool,
}

impl RconAnswer {
    /// The lines of [`Self::text`], without line ends.
    pub fn lines(&self) -> impl Iterator<Item = TextRef<'_>> {
        let (text, style) = (self.text.raw(), self.text.style());
        let lines = text.strip_suffix(b"\n").unwrap_or(text).split(|&byte| byte == b'\n');
        lines
            .filter(|_| !text.is_empty())
            .map(move |line| TextRef::new(line.strip_suffix(b"\r").unwrap_or(line), style))
    }
}

/// Why a command was not run, or not answered.
///
/// ```
/// use queryport::ErrorKind;
/// use queryport::quake3::RconError;
///
/// let error = RconError::BadPassword;
/// assert_eq!(error.kind(), ErrorKind::Refused);
/// assert_eq!(error.to_string(), "the server does not take this rcon password");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RconError {
    /// The server does not take this password.
    #[error("the server does not take this rcon password")]
    BadPassword,
    /// The server has no rcon password and takes no commands.
    #[error("the server has no rcon password set and takes no commands")]
    NoPassword,
    /// The server refused in other words.
    #[error(transparent)]
    Refused(Refusal),
    /// No answer. The command may have been run.
    #[error(
        "no answer to rcon: the server is down, limits its answers, or, as DarkPlaces does, does not answer a wrong \
         password"
    )]
    NoAnswer,
}

impl RconError {
    /// What kind of failure it is.
    #[must_use]
    pub const fn kind(&self) -> ErrorKind {
        match self {
            Self::BadPassword | Self::NoPassword | Self::Refused(_) => ErrorKind::Refused,
            Self::NoAnswer => ErrorKind::Offline,
        }
    }

    pub(super) fn refused(text: &[u8]) -> Self {
        Self::Refused(Refusal::new(Bytes::copy_from_slice(text)))
    }

    /// Known error texts. A command that prints just the same is taken for an error too.
    pub(super) fn from_text(text: &[u8]) -> Option<Self> {
        const NO_PASSWORD: [&str; 2] = ["no rconpassword set", "the server must set 'rcon_password'"];
        let line = String::from_utf8_lossy(text.trim_ascii()).to_lowercase();
        match line.as_str() {
            "bad rconpassword." | "bad rconpassword" | "bad rcon_password." | "bad rcon"
            | "invalid password." => Some(Self::BadPassword),
            // Commands print longer lines.
            _ if line.len() > 80 => None,
            _ => NO_PASSWORD.iter().any(|text| line.starts_with(text)).then_some(Self::NoPassword),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_error_texts() {
        for text in ["Bad rconpassword.\n", "bad rcon", "Invalid password.\n"] {
            assert_eq!(RconError::from_text(text.as_bytes()), Some(RconError::BadPassword), "{text}");
        }
        let none = b"No rconpassword set on the server.\n";
        assert_eq!(RconError::from_text(none), Some(RconError::NoPassword));
        for text in ["", "map: q3dm17\n", "Bad rconpassword. And more of what a command prints\n"] {
            assert_eq!(RconError::from_text(text.as_bytes()), None, "{text}");
        }
        let refused = RconError::refused(b"you are banned");
        for error in [RconError::BadPassword, RconError::NoPassword, refused] {
            assert_eq!(error.kind(), ErrorKind::Refused, "{error}");
        }
        assert_eq!(RconError::NoAnswer.kind(), ErrorKind::Offline);
    }
}
