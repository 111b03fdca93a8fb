//! `CoD4X`'s list of servers, over TCP.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Instant;

use nom::branch::alt;
use nom::bytes::streaming::tag;
use nom::combinator::value;
use nom::number::streaming::{be_u16, be_u32, be_u128};
use nom::sequence::preceded;
use nom::{IResult, Parser};

use super::server_list::Collector;
use super::session::{Form, ListSession, Next};
use crate::address::canonical;
use crate::error::ListError;
use crate::session::Timing;

/// The request to `CoD4X`'s list server, which lists its servers over TCP.
///
/// ```text
///  offset  bytes
///  0       FF FF FF FF "getserversResponse"
///  22      5C 00 00 00 00 04 ip[4] port[2]    or    5C 00 00 00 00 05 ip[16] port[2]
///  …       …
///  last    5C "EOF"
/// ```
///
/// The end mark counts only where an entry could begin: an address may hold its bytes. Sources: cetteup/GameserverLister,
/// `games/quake3.py` (request); cetteup/pyq3serverlist, `reader.py` (IPv4); callofduty4x/CoD4x_Server, `src/sys_net.h` (types of
/// addresses); SShattered/COD4-Server-Browser, `ServerCalls.cs` (end mark).
///
/// ```
/// use std::time::Instant;
/// use queryport::Timing;
/// use queryport::lists::{Cod4xList, ListRequest};
///
/// # #[allow(clippy::disallowed_methods)]
/// let now = Instant::now();
/// let request = ListRequest::from(Cod4xList::new(6));
/// let mut session = request.session(0, Timing::default(), now).unwrap();
/// let mut out = Vec::new();
/// session.poll_transmit(now, &mut out);
/// assert_eq!(out, b"\xff\xff\xff\xffgetservers cod4x 6 full empty \0");
/// session.handle_bytes(now, b"\xff\xff\xff\xffgetserversResponse\\\0\0\0\0\x04\xc0\0\x02\x0a\x71\x20\\EOF");
/// let list = session.poll_answer().unwrap().unwrap();
/// assert_eq!(list.servers, ["192.0.2.10:28960".parse().unwrap()]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cod4xList {
    /// The number of the network protocol: 6 for Call of Duty 4 1.7.
    pub protocol: i32,
}

impl Cod4xList {
    /// All servers of this network protocol.
    #[must_use]
    pub const fn new(protocol: i32) -> Self {
        Self { protocol }
    }

    pub(super) fn session(self, timing: Timing, now: Instant) -> ListSession {
        let request = format!("getservers cod4x {} full empty \0", self.protocol);
        let request = [b"\xff\xff\xff\xff", request.as_bytes()].concat();
        ListSession::start(Reply { has_begun: false }, Ok(request), timing, now)
    }
}

#[derive(Debug)]
struct Reply {
    /// Whether the head has come.
    has_begun: bool,
}

impl Form for Reply {
    fn read<'a>(&mut self, input: &'a [u8], servers: &mut Collector) -> IResult<&'a [u8], Next> {
        if !self.has_begun {
            let (rest, _) = head(input)?;
            self.has_begun = true;
            return Ok((rest, Next::Read));
        }
        let (rest, server) = entry(input)?;
        server.map(|server| servers.add(server));
        Ok((rest, if server.is_some() { Next::Read } else { Next::End }))
    }

    fn handle_end(&mut self, _rest: &[u8], _servers: &mut Collector) -> Result<bool, ListError> {
        if self.has_begun { Ok(false) } else { Err(ListError::NoReply) }
    }
}

/// `head = %xFF.FF.FF.FF "getserversResponse"`
fn head(input: &[u8]) -> IResult<&[u8], &[u8]> {
    tag(&b"\xff\xff\xff\xffgetserversResponse"[..])(input)
}

/// `entry = "\" 4%x00 (%x04 4OCTET / %x05 16OCTET) 2OCTET`, or the end mark `"\EOF"`
fn entry(input: &[u8]) -> IResult<&[u8], Option<SocketAddr>> {
    let v4 = preceded(tag(&b"\\\0\0\0\0\x04"[..]), (be_u32, be_u16));
    let v6 = preceded(tag(&b"\\\0\0\0\0\x05"[..]), (be_u128, be_u16));
    alt((
        value(None, tag(&b"\\EOF"[..])),
        v4.map(|(ip, port)| Some((Ipv4Addr::from_bits(ip), port).into())),
        v6.map(|(ip, port)| Some(canonical((Ipv6Addr::from_bits(ip), port).into()))),
    ))
    .parse(input)
}
