//! The parts of a request that its reply is read with.

use crate::gamespy1::wire::request::Command;
use crate::model::Charset;

/// The parts of a request that affect how its reply is read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Asked {
    /// The status or its short form was requested: a reply without a description is incomplete.
    pub(crate) status: bool,
    /// Players were requested.
    pub(crate) players: bool,
    /// Teams were requested: `team_N` is then the name of a team.
    pub(crate) teams: bool,
    /// Whether the request is an echo alone.
    pub(crate) echo_alone: bool,
    /// Only the description was requested, after the status stayed unanswered.
    pub(crate) info_alone: bool,
    /// The character set of the texts, if the caller knows it.
    pub(crate) charset: Option<Charset>,
}

impl Asked {
    /// The short form of the status.
    ///
    /// A reply without a description is incomplete here too: GameSpy's own code answers a request
    /// that it cannot read with an end mark alone.
    pub(crate) fn short() -> Self {
        Self {
            status: true,
            ..Self::default()
        }
    }

    pub(crate) fn new(commands: &[Command<'_>]) -> Self {
        let has = |name: &[u8]| commands.iter().any(|command| command.name() == name);
        let status = has(b"status") || has(b"packets");
        Self {
            status,
            players: status || has(b"players"),
            teams: has(b"teams"),
            echo_alone: matches!(commands, [Command::Echo(_)]),
            ..Self::default()
        }
    }
}
