//! Lists of servers from Quake 3 masters over UDP, and from `CoD4X`'s master over TCP.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

use nom::Parser;
use nom::branch::alt;
use nom::bytes::streaming::tag;
use nom::combinator::value;
use nom::number::streaming::{be_u16, be_u32, be_u128};
use nom::sequence::preceded;

use super::server_list::{Collector, ListCompleteness, ListEnd, ServerList};
use super::session::{Dialogue, Next};
use crate::address::{Scope, canonical};
use crate::error::{EncodeError, ListError, ParseError, ParseErrorKind};
use crate::grammar::Parsed;
use crate::limits::Limits;
use crate::quake3::Family;
use crate::quake3::wire::list::{GetServers, ListPart, MAX_PART, Numbering};
use crate::quake3::wire::request::{Command, Request};
use crate::session::{Conversation, OnTimeout, Remaining, Verdict, Wait};

/// Requests a master's list and collects its datagrams, in any order.
///
/// Most masters do not number or count the datagrams, so a lost one leaves no trace. The query
/// therefore requests the list several times, see [`Self::with_passes`]. The answer is
/// [settled](crate::lists::ListCompleteness::is_settled) when each address came in at least two
/// passes, but never complete.
///
/// The masters of Tremulous and Unvanquished number the datagrams of an extended list. Such a list
/// is complete when all of them arrived in one pass.
///
/// ```
/// use queryport::Limits;
/// use queryport::lists::{ListCompleteness, ListPart, Quake3List};
/// use queryport::quake3::GetServers;
/// use queryport::session::{Conversation, OnTimeout, Remaining};
///
/// let mut query =
///     Quake3List::new(&GetServers::extended(b"Nexuiz", 3), &Limits::default())?;
/// let servers = ["192.0.2.1:26000".parse()?, "127.0.0.1:26000".parse()?];
/// for datagram in ListPart::encode(servers, true) {
///     query.receive(&datagram);
///     for server in query.take_new() {
///         println!("{server}, as it comes");
///     }
/// }
/// assert_eq!(query.timeout(Remaining::Retry), OnTimeout::Next);
/// for datagram in ListPart::encode(servers, true) {
///     query.receive(&datagram);
/// }
/// let OnTimeout::Done(list) = query.timeout(Remaining::Retry) else { panic!() };
/// assert_eq!((list.servers.len(), list.out_of_scope), (1, 1));
/// assert_eq!(list.completeness, ListCompleteness::Settled);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Quake3List {
    request: Vec<u8>,
    form: Family,
    extended: bool,
    scope: Scope,
    max_servers: usize,
    max_passes: u8,
    list: ServerList,
    /// Each address, those out of scope included.
    seen: BTreeMap<SocketAddr, Seen>,
    /// How many servers [`Self::take_new`] has returned.
    taken: usize,
    /// The number of passes that have ended.
    passes: u8,
    /// Whether datagrams followed an end mark: dpmaster before 2.0 writes the mark into each
    /// datagram (doc/techinfo.txt).
    has_false_marks: bool,
    pass: Pass,
    /// Whether datagrams or entries of the latest pass are missing.
    is_cut: bool,
}

/// The passes in which an address arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    /// Only in the pass with this number.
    In(u8),
    InSeveral,
}

/// One request and its datagrams.
#[derive(Debug, Clone, Default)]
struct Pass {
    parts: usize,
    has_end_mark: bool,
    is_damaged: bool,
    numbers: Numbers,
}

/// The numbers of datagrams, if the master sends them.
#[derive(Debug, Clone, Default)]
struct Numbers {
    /// How many datagrams the list has, according to the latest of them.
    count: Option<u16>,
    arrived: BTreeSet<u16>,
}

impl Numbers {
    fn add(&mut self, numbering: Numbering) {
        if self.count.is_some_and(|count| count != numbering.count) {
            // The list has changed: older numbers belong to another one.
            self.arrived.clear();
        }
        self.count = Some(numbering.count);
        self.arrived.insert(numbering.index);
    }

    /// Whether datagrams are numbered, and some are missing.
    fn lack_some(&self) -> bool {
        self.count.is_some() && !self.are_complete()
    }

    /// Whether datagrams are numbered, and none is missing.
    fn are_complete(&self) -> bool {
        self.count
            .is_some_and(|count| self.arrived.range(1..=count.max(1)).count() == usize::from(count))
    }
}

/// A longer datagram has no room for another server. dpmaster before 2.0 and Tremulous' master end
/// such a datagram with an end mark, and begin another one.
const FULL: usize = MAX_PART - 19;
/// The maximum number of passes of a query.
const MAX_PASSES: u8 = 8;

impl Quake3List {
    /// Requests all servers of a game, empty and full ones too.
    ///
    /// Masters list a game by this name and protocol number. The [`Limits`] are the default.
    ///
    /// ```
    /// use queryport::lists::Quake3List;
    ///
    /// let nexuiz = Quake3List::game("Nexuiz", 3)?;
    /// # Ok::<(), queryport::EncodeError>(())
    /// ```
    ///
    /// # Errors
    /// [`EncodeError`] for a name that is not one word.
    pub fn game(name: &str, protocol: i32) -> Result<Self, EncodeError> {
        let request = GetServers {
            empty: true,
            full: true,
            ..GetServers::extended(name.as_bytes(), protocol)
        };
        Self::new(&request, &Limits::default())
    }

    /// Requests the list in at most two passes, see [`Self::with_passes`].
    ///
    /// Loopback addresses are left out, see [`Self::with_scope`].
    ///
    /// # Errors
    /// [`EncodeError`] if the request cannot be written.
    pub fn new(request: &GetServers<'_>, limits: &Limits) -> Result<Self, EncodeError> {
        request.check()?;
        let get_servers = Request::new(Command::GetServers(*request));
        let list = Self::with_request(Family::Quake3, &get_servers, limits);
        Ok(Self {
            extended: request.extended,
            ..list
        })
    }

    /// Requests the list of a master of Quake 2's family: `query`.
    ///
    /// The master sends all its servers, in datagrams without an end mark.
    ///
    /// ```
    /// use queryport::Limits;
    /// use queryport::lists::Quake3List;
    /// use queryport::session::{Conversation, Verdict, Wait};
    ///
    /// let mut query = Quake3List::quake2(&Limits::default());
    /// let mut request = Vec::new();
    /// query.request(&mut request);
    /// assert_eq!(request, b"query");
    /// let verdict = query.receive(b"\xff\xff\xff\xffservers \xc0\0\x02\x01\x6d\x06");
    /// assert_eq!(verdict, Verdict::Partial(Wait::Quiet));
    /// assert_eq!(query.take_new().next(), Some("192.0.2.1:27910".parse()?));
    /// # Ok::<(), std::net::AddrParseError>(())
    /// ```
    pub fn quake2(limits: &Limits) -> Self {
        let request = Request::new(Command::ListQuery);
        Self::with_request(Family::Quake2, &request, limits)
    }

    /// Requests the list of a master of QuakeWorld: `c`.
    ///
    /// The master sends all its servers, in datagrams without an end mark.
    pub fn quake_world(limits: &Limits) -> Self {
        let request = Request::new(Command::ShortList);
        Self::with_request(Family::QuakeWorld, &request, limits)
    }

    /// A query with a request that was checked.
    fn with_request(form: Family, request: &Request<'_>, limits: &Limits) -> Self {
        let mut bytes = Vec::new();
        request.put(&mut bytes);
        Self {
            request: bytes,
            form,
            extended: false,
            scope: Scope::default(),
            max_servers: limits.max_servers(),
            max_passes: 2,
            list: ServerList::default(),
            seen: BTreeMap::new(),
            taken: 0,
            passes: 0,
            has_false_marks: false,
            pass: Pass::default(),
            is_cut: false,
        }
    }

    /// The port of masters of this form.
    pub(super) const fn default_port(&self) -> u16 {
        match self.form {
            Family::Quake2 => 27900,
            Family::QuakeWorld => 27000,
            Family::Quake3 | Family::Quetoo => 27950,
        }
    }

    setters! {
        /// Which addresses to accept; default [`Scope::Lan`]. The others are counted in
        /// [`ServerList::out_of_scope`].
        with_scope(scope: Scope) scope = scope;

        /// Requests the list until each address arrived in two passes, but at most this many times:
        /// 1–8, default 2.
        ///
        /// Links that lose datagrams need three or four passes. dpmaster answers four requests in a
        /// row, then one every three seconds (dpmaster, src/clients.h). A datagram that arrives
        /// after its pass has ended counts for the next.
        with_passes(passes: u8) max_passes = passes.clamp(1, MAX_PASSES);
    }

    /// The servers received since the last call, each only once.
    pub fn take_new(&mut self) -> impl Iterator<Item = SocketAddr> {
        let from = std::mem::replace(&mut self.taken, self.list.servers.len());
        self.list
            .servers
            .get(from..)
            .unwrap_or_default()
            .iter()
            .copied()
    }

    /// Adds an address that arrived in the current pass.
    fn add(&mut self, address: SocketAddr) {
        let in_this_pass = Seen::In(self.passes);
        if let Some(seen) = self.seen.get_mut(&address) {
            // Repetitions within a pass are common: of datagrams, and of entries from some
            // masters.
            if *seen != in_this_pass {
                *seen = Seen::InSeveral;
            }
            return;
        }
        let list = &mut self.list;
        let in_scope = self.scope.admits(address);
        let known = if in_scope {
            list.servers.len()
        } else {
            list.out_of_scope as usize
        };
        if known >= self.max_servers {
            list.over_limit = list.over_limit.saturating_add(1);
            return;
        }
        if in_scope {
            list.servers.push(address);
        } else {
            list.out_of_scope = list.out_of_scope.saturating_add(1);
        }
        self.seen.insert(address, in_this_pass);
    }

    fn finish(&mut self, completeness: ListCompleteness) -> ServerList {
        ServerList {
            completeness,
            ..std::mem::take(&mut self.list)
        }
    }
}

impl Conversation for Quake3List {
    type Answer = ServerList;

    fn request(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.request);
    }

    fn receive(&mut self, datagram: &[u8]) -> Verdict<ServerList> {
        let part = match ListPart::parse(datagram) {
            Ok(part) => part,
            Err(error) => return Verdict::Rejected(error),
        };
        // Quetoo's master answers `getservers` in the form of Quake 2 (jdolan/quetoo,
        // src/master/main.c).
        let is_like_quetoo = self.form == Family::Quake3 && part.family == Family::Quake2;
        let has_form = part.family == self.form || is_like_quetoo;
        if !has_form || part.extended != self.extended {
            let kind = ParseErrorKind::Unexpected("the list that was asked for");
            return Verdict::Rejected(ParseError::new(kind, 4));
        }
        for address in part.iter().map(canonical) {
            self.add(address);
        }
        // A datagram after an end mark: the network reordered them, or the mark does not end the
        // list.
        self.has_false_marks |= self.pass.has_end_mark;
        self.pass.parts = self.pass.parts.saturating_add(1);
        self.pass.has_end_mark |= part.has_end;
        self.pass.is_damaged |= !part.intact;
        if let Some(numbering) = part.numbering {
            self.pass.numbers.add(numbering);
        }
        if self.list.over_limit > 0 || self.pass.parts > self.max_servers {
            return Verdict::Done(self.finish(ListCompleteness::Incomplete));
        }
        if self.pass.numbers.are_complete() && !self.pass.is_damaged {
            return Verdict::Done(self.finish(ListCompleteness::Complete));
        }
        // Only reordered datagrams can follow the end mark; without a mark, silence is the end.
        let is_end = part.has_end && !self.has_false_marks && datagram.len() <= FULL;
        Verdict::Partial(if is_end { Wait::Grace } else { Wait::Quiet })
    }

    fn timeout(&mut self, remaining: Remaining) -> OnTimeout<ServerList> {
        let pass = std::mem::take(&mut self.pass);
        let is_answered = pass.parts > 0;
        if !is_answered && (self.passes == 0 || remaining == Remaining::Retry) {
            return OnTimeout::Retry;
        }
        if is_answered {
            self.passes = self.passes.saturating_add(1);
            self.is_cut = pass.is_damaged || pass.numbers.lack_some();
        }
        let is_over = remaining == Remaining::Nothing;
        // The deadline ended the pass, not silence.
        let is_interrupted = is_answered && is_over;
        let mut seen = self.seen.values();
        let completeness = if self.is_cut || is_interrupted {
            ListCompleteness::Incomplete
        } else if self.passes >= 2 && seen.all(|seen| *seen == Seen::InSeveral) {
            ListCompleteness::Settled
        } else {
            ListCompleteness::Unsettled
        };
        if is_answered && !is_over && !completeness.is_settled() && self.passes < self.max_passes {
            return OnTimeout::Next;
        }
        OnTimeout::Done(self.finish(completeness))
    }
}

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
/// The end mark counts only where an entry could begin, because an address can contain its bytes.
///
/// Sources: cetteup/GameserverLister, `games/quake3.py` (request); cetteup/pyq3serverlist,
/// `reader.py` (IPv4); callofduty4x/CoD4x_Server, `src/sys_net.h` (types of addresses);
/// SShattered/COD4-Server-Browser, `ServerCalls.cs` (end mark).
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
/// session.handle_bytes(
///     now,
///     b"\xff\xff\xff\xffgetserversResponse\\\0\0\0\0\x04\xc0\0\x02\x0a\x71\x20\\EOF",
/// );
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
    /// Requests all servers of this network protocol.
    pub const fn new(protocol: i32) -> Self {
        Self { protocol }
    }

    pub(super) const fn dialogue(self) -> impl Dialogue {
        Cod4xDialogue {
            request: self,
            has_begun: false,
        }
    }
}

#[derive(Debug)]
struct Cod4xDialogue {
    request: Cod4xList,
    /// Whether the head has arrived.
    has_begun: bool,
}

impl Dialogue for Cod4xDialogue {
    fn begin(&self) -> Result<Vec<u8>, EncodeError> {
        let request = format!("getservers cod4x {} full empty \0", self.request.protocol);
        Ok([b"\xff\xff\xff\xff", request.as_bytes()].concat())
    }

    fn read<'a>(&mut self, input: &'a [u8], servers: &mut Collector) -> Parsed<'a, Next> {
        if !self.has_begun {
            let (rest, _) = head(input)?;
            self.has_begun = true;
            return Ok((rest, Next::Read));
        }
        let (rest, server) = entry(input)?;
        let Some(server) = server else {
            return Ok((rest, Next::End));
        };
        servers.add(server);
        Ok((rest, Next::Read))
    }

    fn handle_end(&mut self, _rest: &[u8], _servers: &mut Collector) -> Result<ListEnd, ListError> {
        if self.has_begun {
            Ok(ListEnd::Cut)
        } else {
            Err(ListError::NoReply)
        }
    }
}

/// `head = %xFF.FF.FF.FF "getserversResponse"`
fn head(input: &[u8]) -> Parsed<'_, &[u8]> {
    tag(&b"\xff\xff\xff\xffgetserversResponse"[..])(input)
}

/// `entry = "\" 4%x00 (%x04 4OCTET / %x05 16OCTET) 2OCTET`, or the end mark `"\EOF"`
fn entry(input: &[u8]) -> Parsed<'_, Option<SocketAddr>> {
    let v4 = preceded(tag(&b"\\\0\0\0\0\x04"[..]), (be_u32, be_u16));
    let v6 = preceded(tag(&b"\\\0\0\0\0\x05"[..]), (be_u128, be_u16));
    alt((
        value(None, tag(&b"\\EOF"[..])),
        v4.map(|(ip, port)| Some((Ipv4Addr::from_bits(ip), port).into())),
        v6.map(|(ip, port)| Some(canonical((Ipv6Addr::from_bits(ip), port).into()))),
    ))
    .parse(input)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query() -> Quake3List {
        Quake3List::new(&GetServers::extended(b"x", 1), &Limits::default()).unwrap()
    }

    /// An IPv6 server takes 19 bytes of the 1400 of a datagram.
    #[test]
    fn a_datagram_is_full_when_no_other_server_fits() {
        let v6 = |port| SocketAddr::from(([0x2001, 0xDB8, 0, 0, 0, 0, 0, 1], port));
        for (v4_count, v6_count, length, wait) in
            [(190, 1, 1381, Wait::Grace), (182, 4, 1382, Wait::Quiet)]
        {
            let v4 = |port| SocketAddr::from(([192, 0, 2, 1], port));
            let all = (1..=v4_count).map(v4).chain((1..=v6_count).map(v6));
            let parts = ListPart::encode(all, true);
            assert_eq!((parts.len(), parts[0].len()), (1, length));
            assert_eq!(query().receive(&parts[0]), Verdict::Partial(wait));
        }
    }

    #[test]
    fn an_empty_numbered_list_is_complete_at_once() {
        let empty = b"\xff\xff\xff\xffgetserversExtResponse\x001\x001\0\\";
        let Verdict::Done(list) = query().receive(empty) else {
            panic!()
        };
        assert_eq!(
            (list.servers.len(), list.completeness),
            (0, ListCompleteness::Complete)
        );
        let none = b"\xff\xff\xff\xffgetserversExtResponse\x001\x000\0\\";
        assert!(matches!(query().receive(none), Verdict::Partial(_)));
    }
}
