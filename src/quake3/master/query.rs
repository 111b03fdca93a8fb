//! Asking a master for its list.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use super::list::ListPart;
use super::request::ListRequest;
use super::scope::Scope;
use super::server_list::ServerList;
use crate::error::{EncodeError, ParseError, ParseErrorKind};
use crate::limits::Limits;
use crate::model::Missing;
use crate::quake3::request::{Command, Request};
use crate::session::{Conversation, OnTimeout, Remaining, Verdict, Wait, canonical};

/// Asks a master for its list and collects its datagrams, in whatever order they come.
///
/// Nothing on the wire counts the datagrams or numbers them: one that is lost from the middle does not show. Asking
/// several times does: see [`Self::with_passes`].
///
/// ```
/// use queryport::Limits;
/// use queryport::quake3::master::{ListQuery, ListRequest, list};
/// use queryport::session::{Conversation, OnTimeout, Remaining};
///
/// let mut query = ListQuery::new(&ListRequest::extended(b"Nexuiz", 3), &Limits::default())?
///     .with_passes(1);
/// for datagram in list(["192.0.2.1:26000".parse()?, "[2001:db8::1]:26000".parse()?], true) {
///     query.receive(&datagram);
///     for server in query.take_new() {
///         println!("{server}, as it comes");
///     }
/// }
/// let OnTimeout::Done(answer) = query.timeout(Remaining::Retry) else { panic!() };
/// assert_eq!(answer.servers().len(), 2);
/// assert!(answer.completeness().is_complete());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct ListQuery {
    request: Vec<u8>,
    extended: bool,
    scope: Scope,
    max_servers: usize,
    max_parts: u32,
    passes: u8,
    /// Every server once, in order of arrival.
    servers: Vec<SocketAddr>,
    /// The last pass that each of them came in.
    seen: BTreeMap<SocketAddr, u8>,
    taken: usize,
    refused: u32,
    overflow: bool,
    done: Passes,
    pass: Pass,
}

/// One question and what came of it.
#[derive(Debug, Clone, Copy, Default)]
struct Pass {
    parts: u32,
    /// Different servers in it.
    servers: usize,
    /// Those among them that no earlier pass had.
    new: usize,
    ended: bool,
    damaged: bool,
}

/// The questions that are over.
#[derive(Debug, Clone, Copy, Default)]
struct Passes {
    count: u8,
    parts: u32,
    most_parts: u32,
    /// Servers of each pass; [`MAX_PASSES`] is small.
    servers: [usize; MAX_PASSES as usize],
    ended: bool,
    damaged: bool,
}

/// Most questions of one query.
const MAX_PASSES: u8 = 8;
/// So many datagrams may be thought missing from a list that is called complete.
const TOLERANCE: f64 = 0.02;

impl ListQuery {
    /// One question, asked twice (see [`Self::with_passes`]). Addresses that lead nowhere are left out ([`Scope::Lan`]).
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
            max_parts: u32::try_from(limits.max_servers()).unwrap_or(u32::MAX),
            passes: 2,
            servers: Vec::new(),
            seen: BTreeMap::new(),
            taken: 0,
            refused: 0,
            overflow: false,
            done: Passes::default(),
            pass: Pass::default(),
        })
    }

    /// Which addresses are taken; default [`Scope::Lan`].
    #[must_use]
    pub const fn with_scope(mut self, scope: Scope) -> Self {
        self.scope = scope;
        self
    }

    /// Asks until an answer brought nothing new, had its end mark, and the answers agree so far that nothing is likely to
    /// be missing from all of them; at most so often (1–8, default 2). What was lost from one answer comes with the
    /// next. A link without loss takes two, one that loses a tenth five or six. dpmaster answers four questions in a row, then one in three seconds.
    #[must_use]
    pub fn with_passes(mut self, passes: u8) -> Self {
        self.passes = passes.clamp(1, MAX_PASSES);
        self
    }

    /// The servers that came since the last call, each once.
    pub fn take_new(&mut self) -> impl Iterator<Item = SocketAddr> + '_ {
        let from = std::mem::replace(&mut self.taken, self.servers.len());
        self.servers.get(from..).unwrap_or_default().iter().copied()
    }

    fn take(&mut self, part: &ListPart<'_>) {
        for address in part.iter().map(canonical) {
            if !self.scope.admits(address) {
                self.refused = self.refused.saturating_add(1);
            } else if let Some(pass) = self.seen.get_mut(&address) {
                // Copies are common: of datagrams, and of entries on some masters.
                if std::mem::replace(pass, self.done.count) != self.done.count {
                    self.pass.servers = self.pass.servers.saturating_add(1);
                }
            } else if self.servers.len() >= self.max_servers {
                self.overflow = true;
            } else {
                self.seen.insert(address, self.done.count);
                self.servers.push(address);
                self.pass.servers = self.pass.servers.saturating_add(1);
                self.pass.new = self.pass.new.saturating_add(1);
            }
        }
    }

    /// Closes the books on one question.
    fn end_pass(&mut self) -> Pass {
        let pass = std::mem::take(&mut self.pass);
        if let Some(slot) = self.done.servers.get_mut(usize::from(self.done.count)) {
            *slot = pass.servers;
        }
        self.done.count = self.done.count.saturating_add(1);
        self.done.parts = self.done.parts.saturating_add(pass.parts);
        self.done.most_parts = self.done.most_parts.max(pass.parts);
        self.done.ended |= pass.ended;
        self.done.damaged |= pass.damaged;
        pass
    }

    /// How many datagrams every pass so far has lost, as far as the passes tell: each lost the share of all servers
    /// that others had, and what all of them lost is the product of those shares.
    #[allow(clippy::cast_precision_loss, reason = "an estimate")]
    fn lost_by_all(&self) -> f64 {
        let all = self.servers.len().max(1) as f64;
        let passes = self.done.servers.iter().take(usize::from(self.done.count));
        let shares = passes.map(|&servers| 1.0 - servers as f64 / all);
        f64::from(self.done.most_parts) * shares.product::<f64>()
    }

    fn answer(&mut self, last: Pass) -> ServerList {
        let several = self.done.count > 1;
        let lost = self.lost_by_all();
        let unconfirmed = several && (last.new > 0 || last.parts == 0 || lost > TOLERANCE);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
        let fragments = if unconfirmed { lost.ceil().max(1.0) as u16 } else { 0 };
        let end = !self.done.ended || self.overflow || (self.done.damaged && !several);
        ServerList {
            servers: std::mem::take(&mut self.servers),
            refused: self.refused,
            datagrams: self.done.parts,
            passes: self.done.count,
            completeness: Missing { end, fragments, ..Missing::NOTHING }.completeness(),
        }
    }
}

impl Conversation for ListQuery {
    type Answer = ServerList;

    fn request(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.request);
    }

    fn receive(&mut self, datagram: &[u8]) -> Verdict<ServerList> {
        let part = match ListPart::parse(datagram) {
            Ok(part) if part.extended() == self.extended => part,
            Ok(_) => {
                return Verdict::Rejected(ParseError::new(
                    ParseErrorKind::Unexpected("the list that was asked for"),
                    4,
                ));
            }
            Err(error) => return Verdict::Rejected(error),
        };
        self.take(&part);
        self.pass.parts = self.pass.parts.saturating_add(1);
        self.pass.ended |= part.has_end();
        self.pass.damaged |= !part.is_whole();
        if self.overflow || self.pass.parts > self.max_parts {
            self.overflow = true;
            let pass = self.end_pass();
            return Verdict::Done(self.answer(pass));
        }
        // Behind the end mark only what was overtaken can come; without it, silence is the end.
        Verdict::Partial(if self.pass.ended { Wait::Grace } else { Wait::Quiet })
    }

    fn timeout(&mut self, remaining: Remaining) -> OnTimeout<ServerList> {
        if self.pass.parts == 0 && (self.done.count == 0 || remaining == Remaining::Retry) {
            // Nobody has answered this question yet.
            return OnTimeout::Retry;
        }
        let pass = self.end_pass();
        let settled = pass.ended && !pass.damaged && pass.new == 0 && self.lost_by_all() <= TOLERANCE;
        if remaining != Remaining::Nothing && self.done.count < self.passes && !settled && pass.parts > 0 {
            return OnTimeout::Next;
        }
        OnTimeout::Done(self.answer(pass))
    }
}

#[cfg(test)]
mod tests {
    use super::super::list;
    use super::*;

    fn query(passes: u8) -> ListQuery {
        ListQuery::new(&ListRequest::extended(b"x", 1), &Limits::default()).unwrap().with_passes(passes)
    }

    fn servers(count: u16) -> impl Iterator<Item = SocketAddr> {
        (1..=count).map(|port| SocketAddr::from(([192, 0, 2, 1], port)))
    }

    fn done(silence: OnTimeout<ServerList>) -> ServerList {
        let OnTimeout::Done(answer) = silence else { panic!("{silence:?}") };
        answer
    }

    #[test]
    fn any_order_and_any_copies_give_the_same_set() {
        let parts = list(servers(1000), true);
        let mut query = query(1);
        for part in parts.iter().rev().chain(&parts) {
            assert!(matches!(query.receive(part), Verdict::Partial(Wait::Grace)), "the end came first");
        }
        let answer = done(query.timeout(Remaining::Step));
        assert_eq!(answer.servers().len(), 1000);
        assert_eq!(answer.to_set(), servers(1000).collect());
        assert!(answer.completeness().is_complete());
    }

    #[test]
    fn without_an_end_mark_the_end_is_missing() {
        let parts = list(servers(1000), true);
        let mut query = query(1);
        assert_eq!(query.receive(&parts[0]), Verdict::Partial(Wait::Quiet));
        let answer = done(query.timeout(Remaining::Retry));
        assert_eq!(answer.completeness(), Missing { end: true, ..Missing::NOTHING }.completeness());
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
        assert_eq!((answer.servers().len(), answer.passes()), (1000, 3));
        assert!(answer.completeness().is_complete(), "the third brought nothing new and lost nothing");
    }

    #[test]
    fn a_pass_that_still_brings_servers_is_told() {
        let parts = list(servers(1000), true);
        let mut query = query(2);
        parts.iter().skip(1).for_each(|part| drop(query.receive(part)));
        assert_eq!(query.timeout(Remaining::Step), OnTimeout::Next);
        parts.iter().for_each(|part| drop(query.receive(part)));
        assert!(!done(query.timeout(Remaining::Step)).completeness().is_complete());
    }

    #[test]
    fn hostile_entries_are_left_out_and_counted() {
        let addresses = ["0.0.0.0:1", "192.0.2.1:0", "127.0.0.1:1", "224.0.0.1:1", "10.0.0.1:1", "8.8.8.8:1"];
        let parts = list(addresses.map(|address| address.parse().unwrap()), true);
        for (scope, kept, refused) in [(Scope::Public, 1, 5), (Scope::Lan, 2, 4), (Scope::Any, 3, 3)] {
            let mut query = query(1).with_scope(scope);
            query.receive(&parts[0]);
            let answer = done(query.timeout(Remaining::Step));
            assert_eq!((answer.servers().len(), answer.refused()), (kept, refused), "{scope:?}");
        }
    }

    #[test]
    fn a_list_without_bounds_ends_at_the_limit() {
        let limits = Limits::default().with_max_servers(500);
        let mut query = ListQuery::new(&ListRequest::extended(b"x", 1), &limits).unwrap();
        let verdicts: Vec<_> = list(servers(1000), true).iter().map(|part| query.receive(part)).collect();
        let Some(Verdict::Done(answer)) = verdicts.iter().find(|v| matches!(v, Verdict::Done(_))) else {
            panic!()
        };
        assert_eq!(answer.servers().len(), 500);
        assert!(!answer.completeness().is_complete());
    }

    #[test]
    fn silence_is_no_empty_list() {
        assert_eq!(query(1).timeout(Remaining::Nothing), OnTimeout::Retry);
        let mut query = query(1);
        assert!(matches!(query.receive(&list([], false)[0]), Verdict::Rejected(_)), "not the kind asked for");
        query.receive(&list([], true)[0]);
        let answer = done(query.timeout(Remaining::Step));
        assert!(answer.servers().is_empty() && answer.completeness().is_complete());
    }
}
