//! Asking a master for its list.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use super::list_part::ListPart;
use super::scope::Scope;
use crate::address::canonical;
use crate::error::{EncodeError, ParseError, ParseErrorKind};
use crate::limits::Limits;
use crate::model::{ListEnd, Missing, ServerList};
use crate::quake3::wire::get_servers::ListRequest;
use crate::quake3::wire::request::{Command, Request};
use crate::session::{Conversation, OnTimeout, Remaining, Verdict, Wait};

/// Asks a master for its list and collects its datagrams, in whatever order they come.
///
/// Nothing on the wire counts the datagrams or numbers them: one that is lost from the middle goes unnoticed. Asking
/// several times shows it: see [`Self::with_passes`].
///
/// The answer is a [`ServerList`]. It is complete when an end mark came or, from a master that sends none, when at least
/// two passes ended by quiet and the last brought nothing new; and when the passes agree so far that no datagram is likely
/// to be missing from all of them. [`Part::End`](crate::Part::End) is missing otherwise where the end was not recognised,
/// and [`Missing::fragments`](crate::model::Missing::fragments) estimates how many datagrams all passes have lost.
///
/// ```
/// use queryport::Limits;
/// use queryport::model::ListEnd;
/// use queryport::quake3::master::{ListQuery, ListRequest, list};
/// use queryport::session::{Conversation, OnTimeout, Remaining};
///
/// let mut query = ListQuery::new(&ListRequest::extended(b"Nexuiz", 3), &Limits::default())?
///     .with_passes(1);
/// for datagram in list(["192.0.2.1:26000".parse()?, "127.0.0.1:26000".parse()?], true) {
///     query.receive(&datagram);
///     for server in query.take_new() {
///         println!("{server}, as it comes");
///     }
/// }
/// let OnTimeout::Done(list) = query.timeout(Remaining::Retry) else { panic!() };
/// assert_eq!((list.servers.len(), list.out_of_scope), (1, 1));
/// assert!(list.completeness.is_complete() && list.ended_by == ListEnd::Mark);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct ListQuery {
    request: Vec<u8>,
    extended: bool,
    scope: Scope,
    max_servers: usize,
    max_passes: u8,
    list: ServerList,
    /// The last pass that each address came in, those out of scope included.
    seen: BTreeMap<SocketAddr, u8>,
    taken: usize,
    /// The passes that are over.
    passes: Vec<Pass>,
    pass: Pass,
    /// A limit ended the query.
    limited: bool,
}

/// One request and what came of it.
#[derive(Debug, Clone, Copy, Default)]
struct Pass {
    parts: usize,
    /// Different addresses in it.
    addresses: usize,
    /// Those among them that no earlier pass had.
    new: usize,
    marked: bool,
    damaged: bool,
    /// The master fell silent; neither the deadline nor a limit ended the pass.
    quiet: bool,
}

/// Most passes of one query.
const MAX_PASSES: u8 = 8;
/// So many datagrams may be thought missing from a list that is called complete.
const TOLERANCE: f64 = 0.02;

impl ListQuery {
    /// Two passes at most, see [`Self::with_passes`]. Addresses of the machine itself are left out, see
    /// [`Self::with_scope`].
    ///
    /// # Errors
    /// [`EncodeError`] for a request that cannot be written.
    pub fn new(request: &ListRequest<'_>, limits: &Limits) -> Result<Self, EncodeError> {
        let mut bytes = Vec::new();
        Request::new(Command::GetServers(*request)).encode(&mut bytes)?;
        Ok(Self {
            request: bytes,
            extended: request.extended,
            scope: Scope::default(),
            max_servers: limits.max_servers(),
            max_passes: 2,
            list: ServerList::default(),
            seen: BTreeMap::new(),
            taken: 0,
            passes: Vec::new(),
            pass: Pass::default(),
            limited: false,
        })
    }

    /// Which addresses are taken; default [`Scope::Lan`]. The others are counted in [`ServerList::out_of_scope`].
    #[must_use]
    pub const fn with_scope(mut self, scope: Scope) -> Self {
        self.scope = scope;
        self
    }

    /// Asks until an answer brought nothing new, its end was recognised, and the answers agree so far that no datagram is
    /// likely to be missing from all of them; at most so often (1–8, default 2). What was lost from one answer comes with
    /// the next. A link without loss takes two passes, one that loses a tenth five or six. dpmaster answers four requests in
    /// a row, then one in three seconds (dpmaster, src/clients.h).
    #[must_use]
    pub fn with_passes(mut self, passes: u8) -> Self {
        self.max_passes = passes.clamp(1, MAX_PASSES);
        self
    }

    /// The servers that came since the last call, each once.
    pub fn take_new(&mut self) -> impl Iterator<Item = SocketAddr> {
        let from = std::mem::replace(&mut self.taken, self.list.servers.len());
        self.list.servers.get(from..).unwrap_or_default().iter().copied()
    }

    fn take(&mut self, part: &ListPart<'_>) {
        let number = self.number();
        for address in part.iter().map(canonical) {
            if let Some(pass) = self.seen.get_mut(&address) {
                // Copies are common: of datagrams, and of entries on some masters.
                if std::mem::replace(pass, number) != number {
                    self.pass.addresses = self.pass.addresses.saturating_add(1);
                }
                continue;
            }
            let list = &mut self.list;
            let in_scope = self.scope.admits(address);
            let known = if in_scope { list.servers.len() } else { list.out_of_scope as usize };
            if known >= self.max_servers {
                list.over_limit = list.over_limit.saturating_add(1);
                continue;
            }
            if in_scope {
                list.servers.push(address);
            } else {
                list.out_of_scope = list.out_of_scope.saturating_add(1);
            }
            self.seen.insert(address, number);
            self.pass.addresses = self.pass.addresses.saturating_add(1);
            self.pass.new = self.pass.new.saturating_add(1);
        }
    }

    /// How many passes are over.
    fn number(&self) -> u8 {
        u8::try_from(self.passes.len()).unwrap_or(u8::MAX)
    }

    fn end_pass(&mut self, quiet: bool) -> Pass {
        let pass = Pass { quiet, ..std::mem::take(&mut self.pass) };
        self.passes.push(pass);
        pass
    }

    /// How the end was recognised after this last pass.
    fn end(&self, last: Pass) -> ListEnd {
        let quiet = self.passes.iter().filter(|pass| pass.quiet && pass.parts > 0).count();
        if self.limited {
            ListEnd::Unknown
        } else if self.passes.iter().any(|pass| pass.marked) {
            ListEnd::Mark
        } else if last.quiet && last.new == 0 && quiet > 1 {
            ListEnd::Quiet
        } else {
            ListEnd::Unknown
        }
    }

    /// How many datagrams every pass so far has lost, as far as the passes tell: each lost the share of all addresses
    /// that others had, and what all of them lost is the product of those shares.
    #[allow(clippy::cast_precision_loss, reason = "an estimate")]
    fn lost_by_all(&self) -> f64 {
        if self.seen.is_empty() {
            return 0.0;
        }
        let all = self.seen.len() as f64;
        let shares = self.passes.iter().map(|pass| 1.0 - pass.addresses as f64 / all);
        let most = self.passes.iter().map(|pass| pass.parts).max().unwrap_or_default();
        most as f64 * shares.product::<f64>()
    }

    fn answer(&mut self, last: Pass) -> ServerList {
        let several = self.passes.len() > 1;
        let lost = self.lost_by_all();
        let unconfirmed = several && (last.new > 0 || last.parts == 0 || lost > TOLERANCE);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
        let fragments = if unconfirmed { lost.ceil().max(1.0) as u16 } else { 0 };
        let mut list = std::mem::take(&mut self.list);
        list.ended_by = self.end(last);
        let damaged = !several && last.damaged;
        let end = list.ended_by == ListEnd::Unknown || damaged;
        list.completeness = Missing { end, fragments, ..Missing::NOTHING }.completeness();
        list
    }
}

impl Conversation for ListQuery {
    type Answer = ServerList;

    fn request(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.request);
    }

    fn receive(&mut self, datagram: &[u8]) -> Verdict<ServerList> {
        let part = match ListPart::parse(datagram) {
            Ok(part) if part.extended == self.extended => part,
            Ok(_) => {
                let other = ParseErrorKind::Unexpected("the list that was asked for");
                return Verdict::Rejected(ParseError::new(other, 4));
            }
            Err(error) => return Verdict::Rejected(error),
        };
        self.take(&part);
        self.pass.parts = self.pass.parts.saturating_add(1);
        self.pass.marked |= part.has_end;
        self.pass.damaged |= !part.intact;
        self.limited = self.list.over_limit > 0 || self.pass.parts > self.max_servers;
        if self.limited {
            let pass = self.end_pass(false);
            return Verdict::Done(self.answer(pass));
        }
        // Behind the end mark only what was overtaken can come; without it, quiet is the end.
        Verdict::Partial(if self.pass.marked { Wait::Grace } else { Wait::Quiet })
    }

    fn timeout(&mut self, remaining: Remaining) -> OnTimeout<ServerList> {
        if self.pass.parts == 0 && (self.passes.is_empty() || remaining == Remaining::Retry) {
            // The master has not answered this request yet.
            return OnTimeout::Retry;
        }
        let time_left = remaining != Remaining::Nothing;
        let pass = self.end_pass(time_left);
        let ended = pass.marked || self.end(pass) == ListEnd::Quiet;
        let settled = ended && !pass.damaged && pass.new == 0 && self.lost_by_all() <= TOLERANCE;
        if time_left && !settled && pass.parts > 0 && self.number() < self.max_passes {
            return OnTimeout::Next;
        }
        OnTimeout::Done(self.answer(pass))
    }
}

#[cfg(test)]
mod tests {
    use super::super::list_writer::list;
    use super::*;
    use crate::model::completeness::{Completeness, Part};

    fn query(passes: u8) -> ListQuery {
        ListQuery::new(&ListRequest::extended(b"x", 1), &Limits::default()).unwrap().with_passes(passes)
    }

    fn servers(count: u16) -> impl Iterator<Item = SocketAddr> {
        (1..=count).map(|port| SocketAddr::from(([192, 0, 2, 1], port)))
    }

    fn done(timeout: OnTimeout<ServerList>) -> ServerList {
        let OnTimeout::Done(answer) = timeout else { panic!("{timeout:?}") };
        answer
    }

    /// A list of a master that sends no end marks.
    fn without_marks(count: u16) -> Vec<Vec<u8>> {
        let parts = list(servers(count), true);
        let unmarked = |part: &bytes::Bytes| part.strip_suffix(b"\\EOT\0\0\0").unwrap_or(part).to_vec();
        parts.iter().map(unmarked).collect()
    }

    #[test]
    fn any_order_and_any_copies_give_the_same_set() {
        let parts = list(servers(1000), true);
        let mut query = query(1);
        for part in parts.iter().rev().chain(&parts) {
            assert!(matches!(query.receive(part), Verdict::Partial(Wait::Grace)), "the end came first");
        }
        let mut answer = done(query.timeout(Remaining::Step));
        answer.servers.sort();
        assert_eq!(answer.servers, servers(1000).collect::<Vec<_>>());
        assert!(answer.completeness.is_complete() && answer.ended_by == ListEnd::Mark);
    }

    #[test]
    fn a_list_without_an_end_mark_is_incomplete_after_one_pass() {
        let mut query = query(1);
        assert_eq!(query.receive(&without_marks(1000)[0]), Verdict::Partial(Wait::Quiet));
        let answer = done(query.timeout(Remaining::Retry));
        assert_eq!(answer.completeness, Completeness::Complete.without(Part::End));
        assert_eq!(answer.ended_by, ListEnd::Unknown);
    }

    #[test]
    fn a_list_of_a_master_without_end_marks_is_complete_when_two_passes_agree() {
        let parts = without_marks(1000);
        let mut query = query(8);
        for pass in 0..2 {
            for part in &parts {
                assert_eq!(query.receive(part), Verdict::Partial(Wait::Quiet));
            }
            if pass == 0 {
                assert_eq!(query.timeout(Remaining::Step), OnTimeout::Next);
            }
        }
        let answer = done(query.timeout(Remaining::Step));
        assert_eq!((answer.servers.len(), answer.ended_by), (1000, ListEnd::Quiet));
        assert!(answer.completeness.is_complete());
    }

    #[test]
    fn the_deadline_is_no_quiet() {
        let parts = without_marks(1000);
        let mut query = query(2);
        parts.iter().for_each(|part| drop(query.receive(part)));
        assert_eq!(query.timeout(Remaining::Step), OnTimeout::Next);
        parts.iter().for_each(|part| drop(query.receive(part)));
        let answer = done(query.timeout(Remaining::Nothing));
        assert_eq!(answer.ended_by, ListEnd::Unknown);
        assert_eq!(answer.completeness, Completeness::Complete.without(Part::End));
    }

    #[test]
    fn a_second_pass_brings_what_the_first_one_lost() {
        let parts = list(servers(1000), true);
        let mut query = query(3);
        for (pass, lost) in [1, 2, 99].into_iter().enumerate() {
            for part in parts.iter().enumerate().filter(|(n, _)| *n != lost).map(|(_, part)| part) {
                query.receive(part);
            }
            if pass < 2 {
                assert_eq!(query.timeout(Remaining::Step), OnTimeout::Next, "pass {pass}");
            }
        }
        let answer = done(query.timeout(Remaining::Step));
        assert_eq!(answer.servers.len(), 1000);
        assert!(answer.completeness.is_complete(), "the third brought nothing new and lost nothing");
    }

    #[test]
    fn a_list_whose_last_pass_still_brought_servers_is_incomplete() {
        let parts = list(servers(1000), true);
        let mut query = query(2);
        parts.iter().skip(1).for_each(|part| drop(query.receive(part)));
        assert_eq!(query.timeout(Remaining::Step), OnTimeout::Next);
        parts.iter().for_each(|part| drop(query.receive(part)));
        assert!(!done(query.timeout(Remaining::Step)).completeness.is_complete());
    }

    #[test]
    fn addresses_out_of_scope_are_left_out_and_counted() {
        let addresses = ["0.0.0.0:1", "192.0.2.1:0", "127.0.0.1:1", "224.0.0.1:1", "10.0.0.1:1", "8.8.8.8:1"];
        let parts = list(addresses.map(|address| address.parse().unwrap()), true);
        for (scope, kept, left_out) in [(Scope::Public, 1, 5), (Scope::Lan, 2, 4), (Scope::Any, 3, 3)] {
            for passes in [1, 2] {
                let mut query = query(passes).with_scope(scope);
                query.receive(&parts[0]);
                if passes == 2 {
                    assert_eq!(query.timeout(Remaining::Step), OnTimeout::Next);
                    query.receive(&parts[0]);
                }
                let answer = done(query.timeout(Remaining::Step));
                assert_eq!((answer.servers.len(), answer.out_of_scope), (kept, left_out), "{scope:?}");
                assert!(answer.completeness.is_complete(), "{scope:?}, {passes} passes");
            }
        }
    }

    #[test]
    fn a_list_of_nothing_but_a_loopback_address_lacks_no_datagram() {
        let part = list(["127.0.0.1:27960".parse().unwrap()], true).remove(0);
        let mut query = query(2);
        query.receive(&part);
        assert_eq!(query.timeout(Remaining::Step), OnTimeout::Next);
        query.receive(&part);
        let answer = done(query.timeout(Remaining::Step));
        assert_eq!((answer.servers.len(), answer.out_of_scope), (0, 1));
        assert_eq!(answer.completeness, Completeness::Complete);
    }

    #[test]
    fn an_endless_list_ends_at_the_limit() {
        let limits = Limits::default().with_max_servers(500);
        let mut query = ListQuery::new(&ListRequest::extended(b"x", 1), &limits).unwrap();
        let verdicts: Vec<_> = list(servers(1000), true).iter().map(|part| query.receive(part)).collect();
        let Some(Verdict::Done(answer)) = verdicts.iter().find(|v| matches!(v, Verdict::Done(_))) else {
            panic!()
        };
        assert_eq!((answer.servers.len(), answer.ended_by), (500, ListEnd::Unknown));
        assert!(answer.over_limit > 0 && !answer.completeness.is_complete());
        // Copies of one datagram without end.
        let mut query = ListQuery::new(&ListRequest::extended(b"x", 1), &limits).unwrap();
        let part = list(servers(1), true).remove(0);
        let answer = (0..1000).find_map(|_| match query.receive(&part) {
            Verdict::Done(answer) => Some(answer),
            _ => None,
        });
        assert_eq!(answer.unwrap().ended_by, ListEnd::Unknown);
    }

    #[test]
    fn an_empty_list_is_complete_by_its_end_mark_and_silence_is_none() {
        assert_eq!(query(1).timeout(Remaining::Nothing), OnTimeout::Retry);
        for passes in [1, 2] {
            let mut query = query(passes);
            assert!(
                matches!(query.receive(&list([], false)[0]), Verdict::Rejected(_)),
                "not the kind asked for"
            );
            query.receive(&list([], true)[0]);
            let answer = done(query.timeout(Remaining::Step));
            assert!(answer.servers.is_empty() && answer.ended_by == ListEnd::Mark);
            assert!(answer.completeness.is_complete(), "nothing new came with the first pass");
        }
    }
}
