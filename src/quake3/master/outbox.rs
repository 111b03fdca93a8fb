//! The lists that are being sent: with a limited rate and number, and written datagram by datagram.

use std::collections::VecDeque;
use std::net::SocketAddr;

use super::registry::{Entry, Game, HIGHEST, LOWEST, Name, Registry, name};
use crate::bucket::{LeakyBucket, Rate};
use crate::model::status::Occupancy;
use crate::quake3::engines::{HEARTBEATS, Heartbeat, ListRule};
use crate::quake3::wire::list::{Addresses, GetServers, MAX_PART, put_part};
use crate::secret::Secret;
use crate::sketch::{Sketch, key};
use crate::time::{Duration, Instant};

/// The maximum number of lists that are being sent or waiting.
const MAX_LISTS: usize = 64;
/// The maximum number of lists that are waiting: all except the first.
const WAITING: u64 = (MAX_LISTS - 1) as u64;
/// The maximum number of bytes sent at once: about 46 datagrams, which a receiver's usual buffer of
/// 208 KiB holds.
const BURST: u64 = 64 * 1024;
/// Bytes of an IPv4 address in a list.
const ADDRESS: u64 = 7;

/// Memory of the lists under way and of the bounds of sources, in bytes. A queue grows by doubling.
pub(super) const BYTES: usize = (MAX_LISTS * size_of::<Sending>())
    .saturating_mul(2)
    .saturating_add(Sketch::BYTES);

/// One client's list: how far it was sent, without its servers. They are read from the table when a
/// datagram is written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sending {
    to: SocketAddr,
    /// The key of the client's source.
    source: u64,
    game: Game,
    addresses: Addresses,
    empty: bool,
    full: bool,
    ipv4: bool,
    ipv6: bool,
    game_type: Option<Name>,
    /// The first server that was not sent.
    next: SocketAddr,
}

impl Sending {
    fn is_begun(&self) -> bool {
        self.next != LOWEST
    }

    fn matches(&self, server: SocketAddr, entry: &Entry, now: Instant) -> bool {
        entry.expires > now
            && (self.empty || entry.occupancy != Occupancy::Empty)
            && (self.full || entry.occupancy != Occupancy::Full)
            && (if server.is_ipv4() {
                self.ipv4
            } else {
                self.ipv6
            })
            && self
                .game_type
                .is_none_or(|game_type| game_type == entry.game_type)
    }

    /// Appends the next datagram. Returns whether it was the last, and the number of servers
    /// examined.
    fn write(&mut self, registry: &Registry, now: Instant, out: &mut Vec<u8>) -> (bool, u64) {
        let mut visited = 0_u64;
        let servers = registry
            .of_game(self.game, self.next)
            .inspect(|_| visited = visited.saturating_add(1));
        let servers = servers.filter(|(server, entry)| self.matches(*server, entry, now));
        let mut servers = servers.map(|(server, _)| server).peekable();
        let ended = put_part(self.addresses, &mut servers, out);
        self.next = servers.next().unwrap_or(HIGHEST);
        (ended, visited)
    }
}

impl ListRule {
    /// The rule for the lists of a game.
    fn of_game(game: Name) -> Self {
        let is_meant = |known: &&Heartbeat| {
            let known = known.game.and_then(|known| name(known.as_bytes()));
            known == Some(game)
        };
        let known = HEARTBEATS.iter().find(is_meant);
        known.map(|known| known.list).unwrap_or_default()
    }
}

/// The lists under way, their rate, and the share of each source: some lists at once, then one in
/// each `list_decay`. A source is an IPv4 address or an IPv6 /64.
#[derive(Debug)]
pub(super) struct Outbox {
    /// The first is being sent, the others wait.
    lists: VecDeque<Sending>,
    rate: Rate,
    /// The bytes that were sent.
    sent: LeakyBucket,
    secret: Secret,
    /// The number of lists sent to each source.
    sources: Sketch,
    lists_rate: Rate,
}

impl Outbox {
    /// `in_a_row`: the lists that a source gets at once. `decay`: the time until its next one.
    /// `bytes`: the most bytes of lists per second.
    pub(super) fn new(secret: Secret, (in_a_row, decay): (u16, Duration), bytes: u32) -> Self {
        let decay = decay.max(Duration::from_millis(1));
        Self {
            lists: VecDeque::new(),
            rate: Rate::per_second(u64::from(bytes).max(BURST), BURST),
            sent: LeakyBucket::default(),
            secret,
            sources: Sketch::default(),
            lists_rate: Rate::new(1, decay, in_a_row.into()),
        }
    }

    /// Queues a client's request for the servers of a game; `None` if this or another request is
    /// dropped.
    ///
    /// A request is dropped if its source has had its share, if a list to the source is under way,
    /// or if no server can match. When too many requests wait, the new one takes the place of a
    /// random one, so that each has the same chance.
    pub(super) fn push(
        &mut self,
        now: Instant,
        to: SocketAddr,
        game: Game,
        request: &GetServers<'_>,
    ) -> Option<()> {
        let source = key(self.secret, "list", to.ip(), (32, 64));
        let waiting = self
            .lists
            .iter()
            .filter(|other| other.source == source && !other.is_begun())
            .count();
        let mut sent = self.sources.get(source);
        sent.add(
            now,
            &self.lists_rate,
            u64::try_from(waiting).unwrap_or(u64::MAX),
        );
        if self.lists.iter().any(|other| other.to == to) || !sent.is_ready(now, &self.lists_rate, 1)
        {
            return None;
        }
        let list = ListRule::of_game(game.0);
        let addresses = match (request.extended, list.is_hexadecimal) {
            (true, _) => Addresses::Extended,
            (false, true) => Addresses::Hexadecimal,
            (false, false) => Addresses::Plain,
        };
        let sending = Sending {
            to,
            source,
            game,
            addresses,
            empty: request.empty || list.has_all,
            full: request.full || list.has_all,
            ipv4: request.wants_ipv4(),
            ipv6: request.wants_ipv6(),
            // No listed server has a game type that is too long for a `Name`.
            game_type: request
                .game_type
                .map(|text| name(text).ok_or(()))
                .transpose()
                .ok()?,
            next: LOWEST,
        };
        let has_room = self.lists.len() < MAX_LISTS;
        if !has_room {
            let waiting = usize::try_from(source % WAITING).unwrap_or_default();
            self.lists.remove(waiting.saturating_add(1));
        }
        self.lists.push_back(sending);
        has_room.then_some(())
    }

    /// Appends the next datagram of the first list; `None` when there is none, or not now.
    pub(super) fn write(
        &mut self,
        registry: &Registry,
        now: Instant,
        out: &mut Vec<u8>,
    ) -> Option<SocketAddr> {
        if self.ready_at(now)? > now {
            return None;
        }
        let sending = self.lists.front_mut()?;
        // A list counts once it is begun, so a displaced request does not use up the share of its
        // source.
        if !sending.is_begun() {
            self.sources.add(sending.source, now, &self.lists_rate, 1);
        }
        let (to, before) = (sending.to, out.len());
        let (ended, visited) = sending.write(registry, now, out);
        let length = u64::try_from(out.len().saturating_sub(before)).unwrap_or(u64::MAX);
        // A server that the filters leave out costs as much as one that is sent. Otherwise a
        // request that matches none would walk the whole table for one short datagram.
        self.sent
            .add(now, &self.rate, length.max(visited.saturating_mul(ADDRESS)));
        if ended {
            self.lists.pop_front();
        }
        Some(to)
    }

    /// The earliest moment for the next datagram, if there is one: `now` or later.
    pub(super) fn ready_at(&self, now: Instant) -> Option<Instant> {
        (!self.lists.is_empty()).then(|| self.sent.ready_at(now, &self.rate, MAX_PART as u64))
    }
}
