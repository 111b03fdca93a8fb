//! How a console command fails.

use bytes::Bytes;
use thiserror::Error;

use crate::error::ErrorKind;
use crate::quake3::connect::refusal::Refusal;

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
