//! What to ask a list server.

use crate::error::EncodeError;
use crate::gamespy1::secure::GameKey;

/// What to ask a list server: the servers of which game, in which format.
///
/// ```
/// use queryport::gamespy1::list::{ListFormat, ListRequest};
/// use queryport::gamespy1::secure::GameKey;
///
/// let mut request = ListRequest::new("ut", GameKey::new("Z5Nfb0")?);
/// request.format = ListFormat::Compressed;
/// request.filter = "hostport > 0 and numplayers > 0".to_owned();
/// # Ok::<(), queryport::EncodeError>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ListRequest {
    /// The game whose servers are wanted.
    pub game: String,
    /// The name to log in with: the game or program that [`Self::key`] belongs to. List tools have names of their own.
    /// Default: the game.
    pub login: String,
    /// The key of the login.
    pub key: GameKey,
    /// The version of the program that asks; default `1`.
    pub version: String,
    /// How the list is written; default plain text.
    pub format: ListFormat,
    /// Only servers that this condition holds for, in the SQL-like language of the list server; default empty, which
    /// means all. 333networks ignores it.
    pub filter: String,
}

/// How a list is written.
///
/// ```
/// use queryport::gamespy1::list::{ListFormat, ListRequest};
/// use queryport::gamespy1::secure::GameKey;
///
/// let mut request = ListRequest::new("ut", GameKey::new("Z5Nfb0")?);
/// request.format = ListFormat::Compressed;
/// # Ok::<(), queryport::EncodeError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum ListFormat {
    /// As text.
    #[default]
    Plain,
    /// Six bytes a server.
    Compressed,
}

impl ListRequest {
    /// The list of a game's servers, asked for with the game's key.
    #[must_use]
    pub fn new(game: impl Into<String>, key: GameKey) -> Self {
        let game = game.into();
        Self {
            login: game.clone(),
            game,
            key,
            version: "1".to_owned(),
            format: ListFormat::default(),
            filter: String::new(),
        }
    }

    /// What is sent after the greeting.
    pub(super) fn encode(&self, challenge: &[u8]) -> Result<Vec<u8>, EncodeError> {
        let Self { game, login, key, version, filter, .. } = self;
        for (field, text) in [("game", game), ("login", login), ("version", version), ("filter", filter)] {
            if let Some(byte) = text.bytes().find(|byte| !matches!(byte, b' '..=b'[' | b']'..=b'~')) {
                return Err(EncodeError::Forbidden { field, byte });
            }
        }
        if game.is_empty() || login.is_empty() {
            return Err(EncodeError::Empty("game"));
        }
        let proof = key.validate(challenge)?;
        let format = match self.format {
            ListFormat::Plain => "",
            ListFormat::Compressed => "cmp",
        };
        let filter = if filter.is_empty() { String::new() } else { format!("\\where\\{filter}") };
        Ok(format!(
            "\\gamename\\{login}\\gamever\\{version}\\location\\0\\validate\\{proof}\\final\\\\queryid\\1.1\\\
             \\list\\{format}\\gamename\\{game}{filter}\\final\\"
        )
        .into_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn login_and_request_are_sent_together() {
        let mut request = ListRequest::new("ut", GameKey::new("Nm3aZ9").unwrap());
        request.format = ListFormat::Compressed;
        request.login = "gspylite".to_owned();
        request.version = "2".to_owned();
        request.filter = "hostport > 0".to_owned();
        let expected = br"\gamename\gspylite\gamever\2\location\0\validate\hMwdTNWS\final\\queryid\1.1\\list\cmp\gamename\ut\where\hostport > 0\final\";
        assert_eq!(request.encode(b"LRPOPQ").unwrap(), expected);
        assert!(ListRequest::new(r"u\t", GameKey::new("x").unwrap()).encode(b"LRPOPQ").is_err());
        assert!(ListRequest::new("", GameKey::new("x").unwrap()).encode(b"LRPOPQ").is_err());
    }
}
