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
        const LONGEST: usize = 80;
        let line = text.trim_ascii();
        if line.len() > LONGEST {
            return None;
        }
        let begins = |with: &str| {
            line.get(..with.len()).is_some_and(|head| head.eq_ignore_ascii_case(with.as_bytes()))
        };
        let is = |known: &str| line.eq_ignore_ascii_case(known.as_bytes());
        if ["Bad rconpassword.", "Bad rconpassword", "Bad rcon_password.", "Bad rcon", "Invalid password."]
            .into_iter()
            .any(is)
        {
            Some(Self::BadPassword)
        } else if begins("No rconpassword set") || begins("The server must set 'rcon_password'") {
            Some(Self::NoPassword)
        } else {
            None
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
    }
}
