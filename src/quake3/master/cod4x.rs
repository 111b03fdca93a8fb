//! `CoD4X`'s list of servers, over TCP.

use std::net::{Ipv6Addr, SocketAddr};
use std::time::Instant;

use crate::address::canonical;
use crate::error::ListError;
use crate::limits::Limits;
use crate::model::{ServerCollector, ServerList};
use crate::session::{StreamConversation, StreamSession, Timing};

const HEAD: &[u8] = b"\xff\xff\xff\xffgetserversResponse";
const IPV4: &[u8] = b"\\\0\0\0\0\x04";
const IPV6: &[u8] = b"\\\0\0\0\0\x05";
const END: &[u8] = b"\\EOF";

/// A conversation with `CoD4X`'s list server, which lists its servers over TCP. `number` is that of the network protocol, 6 for
/// Call of Duty 4 1.7. The deadline is `now` plus [`Timing::timeout`].
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
/// use queryport::quake3::master::cod4x_session;
///
/// # #[allow(clippy::disallowed_methods)]
/// let now = Instant::now();
/// let mut session = cod4x_session(6, Timing::default(), now);
/// let mut out = Vec::new();
/// session.poll_transmit(now, &mut out);
/// assert_eq!(out, b"\xff\xff\xff\xffgetservers cod4x 6 full empty \0");
/// session.handle_bytes(now, b"\xff\xff\xff\xffgetserversResponse\\\0\0\0\0\x04\xc0\0\x02\x0a\x71\x20\\EOF");
/// let list = session.poll_answer().unwrap().unwrap();
/// assert_eq!(list.servers, ["192.0.2.10:28960".parse().unwrap()]);
/// ```
#[must_use]
pub fn cod4x_session(number: i32, timing: Timing, now: Instant) -> StreamSession<ServerList> {
    let request = format!("getservers cod4x {number} full empty \0");
    let request = [b"\xff\xff\xff\xff", request.as_bytes()].concat();
    StreamSession::start(Conversation::default(), Ok(request), timing, now)
}

#[derive(Debug, Default)]
struct Conversation {
    limits: Limits,
    /// What is not read yet.
    received: Vec<u8>,
    /// Where it stands in the stream.
    offset: usize,
    servers: ServerCollector,
}

impl StreamConversation<ServerList> for Conversation {
    fn limits(&mut self) -> &mut Limits {
        &mut self.limits
    }

    fn handle_bytes(&mut self, bytes: &[u8], _out: &mut Vec<u8>) -> Option<Result<ServerList, ListError>> {
        self.received.extend_from_slice(bytes);
        let received = std::mem::take(&mut self.received);
        let mut rest = &received[..];
        loop {
            let after = if self.offset == 0 {
                rest.strip_prefix(HEAD)
            } else if rest.starts_with(END) {
                return Some(Ok(self.servers.finish(true)));
            } else {
                entry(rest).map(|(after, server)| {
                    self.servers.add(server, &self.limits);
                    after
                })
            };
            let Some(after) = after else { break };
            self.offset = self.offset.saturating_add(rest.len().saturating_sub(after.len()));
            rest = after;
        }
        let expected = if self.offset == 0 { &[HEAD][..] } else { &[IPV4, IPV6, END] };
        if !expected.iter().any(|start| rest.starts_with(start) || start.starts_with(rest)) {
            return Some(Err(ListError::Malformed(self.offset)));
        }
        self.received = rest.to_vec();
        None
    }

    fn handle_end(&mut self) -> Result<ServerList, ListError> {
        match self.offset {
            0 => Err(ListError::NoReply),
            _ => Ok(self.servers.finish(false)),
        }
    }
}

/// A whole entry, and what follows it first.
fn entry(input: &[u8]) -> Option<(&[u8], SocketAddr)> {
    let (ip, rest) = match input.strip_prefix(IPV4) {
        Some(rest) => rest.split_first_chunk::<4>().map(|(ip, rest)| ((*ip).into(), rest)),
        None => {
            let (ip, rest) = input.strip_prefix(IPV6)?.split_first_chunk::<16>()?;
            Some((Ipv6Addr::from(*ip).into(), rest))
        }
    }?;
    let (port, rest) = rest.split_first_chunk()?;
    Some((rest, canonical(SocketAddr::new(ip, u16::from_be_bytes(*port)))))
}
