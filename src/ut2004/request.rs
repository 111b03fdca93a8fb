//! What a client says: the protocol version and one byte for what is asked.

use bytes::BufMut;

use crate::error::{ParseError, ParseErrorKind};

/// The version that requests of this crate carry: what most clients send. Servers do not look at it.
pub const REQUEST_VERSION: u32 = 0x79;

/// A request, five bytes.
///
/// ```
/// use queryport::ut2004::{Ask, Request};
///
/// let mut out = Vec::new();
/// Request::new(Ask::RulesAndPlayers).encode(&mut out);
/// assert_eq!(out, [0x79, 0, 0, 0, 3]);
/// assert_eq!(Request::parse(&[0x80, 0, 0, 0, 1])?.ask, Ask::Rules);
/// # Ok::<(), queryport::ParseError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Request {
    /// The client's protocol version. Clients send 0x00, 0x78, 0x79 and 0x80; servers answer all of them.
    pub version: u32,
    /// What is asked.
    pub ask: Ask,
}

/// What a request asks for: the engine's query commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Ask {
    /// 0, `QI_Ping`: the server's description, one datagram of type 0.
    Info,
    /// 1, `QI_Rules`: datagrams of type 1.
    Rules,
    /// 2, `QI_Players`: datagrams of type 2, none when nobody is listed.
    Players,
    /// 3, `QI_RulesAndPlayers`: datagrams of type 1, then of type 2. No reply has type 3.
    RulesAndPlayers,
    /// 4, `QI_SmallPing`: believed to be answered with one byte. In no capture.
    SmallPing,
}

impl Ask {
    /// Its number on the wire.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Info => 0,
            Self::Rules => 1,
            Self::Players => 2,
            Self::RulesAndPlayers => 3,
            Self::SmallPing => 4,
        }
    }

    const fn from_code(code: u8) -> Option<Self> {
        match code {
            0 => Some(Self::Info),
            1 => Some(Self::Rules),
            2 => Some(Self::Players),
            3 => Some(Self::RulesAndPlayers),
            4 => Some(Self::SmallPing),
            _ => None,
        }
    }
}

impl Request {
    /// A request with [`REQUEST_VERSION`].
    #[must_use]
    pub const fn new(ask: Ask) -> Self {
        Self { version: REQUEST_VERSION, ask }
    }

    /// Reads a request of any version. Replies begin with the same five bytes and go on: what is longer is
    /// refused, so that two servers cannot be made to answer each other.
    ///
    /// # Errors
    /// [`ParseErrorKind::CutShort`] below five bytes, [`ParseErrorKind::Unexpected`] above five and for other
    /// numbers than 0–4.
    pub fn parse(datagram: &[u8]) -> Result<Self, ParseError> {
        let Some((&[v0, v1, v2, v3, code], rest)) = datagram.split_first_chunk::<5>() else {
            return Err(ParseError::new(ParseErrorKind::CutShort("the request"), datagram.len()));
        };
        if !rest.is_empty() {
            return Err(ParseError::new(ParseErrorKind::Unexpected("a request: five bytes"), 5));
        }
        let ask = Ask::from_code(code)
            .ok_or(ParseError::new(ParseErrorKind::Unexpected("a type from 0 to 4"), 4))?;
        Ok(Self { version: u32::from_le_bytes([v0, v1, v2, v3]), ask })
    }

    /// Appends the request.
    pub fn encode(&self, out: &mut impl BufMut) {
        out.put_u32_le(self.version);
        out.put_u8(self.ask.code());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_request_goes_both_ways_in_every_version() {
        for version in [0, 0x77, 0x78, 0x79, 0x80, u32::MAX] {
            for code in 0..=4 {
                let bytes = [&version.to_le_bytes()[..], &[code]].concat();
                let request = Request::parse(&bytes).unwrap();
                assert_eq!((request.version, request.ask.code()), (version, code));
                let mut out = Vec::new();
                request.encode(&mut out);
                assert_eq!(out, bytes);
            }
        }
    }

    #[test]
    fn what_is_no_request_is_refused() {
        let error = |bytes: &[u8]| {
            let error = Request::parse(bytes).unwrap_err();
            (error.kind, error.offset)
        };
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
