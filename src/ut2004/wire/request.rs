//! What a client says: its protocol version and one byte for what is asked.

use bytes::BufMut;

use crate::error::{EncodeError, ParseError, ParseErrorKind};

/// A request, five bytes.
///
/// ```
/// use queryport::ut2004::{Command, Request};
///
/// let mut out = Vec::new();
/// Request::new(Command::RulesAndPlayers).encode(&mut out)?;
/// assert_eq!(out, [0x79, 0, 0, 0, 3]);
/// assert_eq!(Request::parse(&[0x80, 0, 0, 0, 1]).unwrap().command, Command::Rules);
/// # Ok::<(), queryport::EncodeError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Request {
    /// The client's protocol version. Servers answer all of them alike.
    pub version: u32,
    /// What is asked.
    pub command: Command,
}

/// What a request asks for: the commands of the engine (`EQueryInterfaceCommand` in `Deaod/UT2004`,
/// `IpDrv/ServerQueryClient.uc`), each with its number on the wire.
///
/// ```
/// use queryport::ut2004::{Command, Request};
///
/// assert_eq!(Request::parse(b"\x79\0\0\0\0").unwrap().command, Command::Info);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Command {
    /// `QI_Ping`: the server's description, one datagram of type 0.
    Info = 0,
    /// `QI_Rules`: datagrams of type 1.
    Rules = 1,
    /// `QI_Players`: datagrams of type 2, none when nobody is listed.
    Players = 2,
    /// `QI_RulesAndPlayers`: datagrams of type 1, then of type 2. No reply has type 3.
    RulesAndPlayers = 3,
    /// `QI_SmallPing`: believed to be answered with one byte. No capture has it.
    SmallPing = 4,
}

impl Request {
    /// A request of version 0x79, which gamedig, GameQ and opengsq send too.
    #[must_use]
    pub const fn new(command: Command) -> Self {
        Self { version: 0x79, command }
    }

    /// Reads a request of a version that clients send: 0x77 to 0x80, the versions of the games, or 0. Query tools send
    /// 0x78 (`Unity-Technologies/qstat`), 0x79 (`gamedig/node-gamedig`, `Austinb/GameQ`) and 0x80
    /// (`PfAndrey/UT2004ServerStatsMonitor`); an old one sends 0.
    ///
    /// Replies begin with the same five bytes and go on, so a longer datagram is no request: two servers cannot be made
    /// to answer each other.
    ///
    /// # Errors
    /// [`ParseErrorKind::CutShort`] below five bytes, [`ParseErrorKind::NotThisProtocol`] for another version,
    /// [`ParseErrorKind::Unexpected`] above five bytes and for another command.
    pub fn parse(datagram: &[u8]) -> Result<Self, ParseError> {
        let Some((&[v0, v1, v2, v3, code], rest)) = datagram.split_first_chunk::<5>() else {
            return Err(ParseError::new(ParseErrorKind::CutShort("the request"), datagram.len()));
        };
        let version = u32::from_le_bytes([v0, v1, v2, v3]);
        if !matches!(version, 0 | 0x77..=0x80) {
            let kind = ParseErrorKind::NotThisProtocol("a version from 0x77 to 0x80, or 0");
            return Err(ParseError::new(kind, 0));
        }
        if !rest.is_empty() {
            return Err(ParseError::new(ParseErrorKind::Unexpected("a request: five bytes"), 5));
        }
        let commands =
            [Command::Info, Command::Rules, Command::Players, Command::RulesAndPlayers, Command::SmallPing];
        let Some(&command) = commands.get(usize::from(code)) else {
            return Err(ParseError::new(ParseErrorKind::Unexpected("a type from 0 to 4"), 4));
        };
        Ok(Self { version, command })
    }

    /// Appends the request.
    ///
    /// # Errors
    /// None: every request has a form on the wire.
    pub fn encode(&self, out: &mut impl BufMut) -> Result<(), EncodeError> {
        out.put_u32_le(self.version);
        out.put_u8(self.command as u8);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(bytes: &[u8]) -> (ParseErrorKind, usize) {
        let error = Request::parse(bytes).unwrap_err();
        (error.kind, error.offset)
    }

    #[test]
    fn every_request_is_written_as_it_was_read() {
        for version in [0, 0x77, 0x78, 0x79, 0x7e, 0x80] {
            for code in 0..=4 {
                let bytes = [&u32::to_le_bytes(version)[..], &[code]].concat();
                let request = Request::parse(&bytes).unwrap();
                assert_eq!((request.version, request.command as u8), (version, code));
                let mut out = Vec::new();
                request.encode(&mut out).unwrap();
                assert_eq!(out, bytes);
            }
        }
    }

    #[test]
    fn versions_that_no_client_sends_are_not_this_protocol() {
        let kind = ParseErrorKind::NotThisProtocol("a version from 0x77 to 0x80, or 0");
        for version in [1, 0x76, 0x81, 0xff, 0x0100, 0x7900_0000, u32::MAX] {
            assert_eq!(error(&[&version.to_le_bytes()[..], &[0]].concat()), (kind, 0), "{version:#x}");
        }
        assert_eq!(error(b"\xff\xff\xff\xffgetinfo"), (kind, 0));
        assert_eq!(error(br"\info\"), (kind, 0));
        assert_eq!(error(b"\xfe\xfd\x09\x01\x02\x03\x04"), (kind, 0));
    }

    #[test]
    fn other_lengths_and_commands_are_refused() {
        assert_eq!(error(&[0x79, 0, 0, 0]), (ParseErrorKind::CutShort("the request"), 4));
        assert_eq!(error(&[]), (ParseErrorKind::CutShort("the request"), 0));
        assert_eq!(error(&[0x79, 0, 0, 0, 5]), (ParseErrorKind::Unexpected("a type from 0 to 4"), 4));
        assert_eq!(
            error(&[0x80, 0, 0, 0, 4, b'P']),
            (ParseErrorKind::Unexpected("a request: five bytes"), 5),
            "a reply"
        );
    }
}
