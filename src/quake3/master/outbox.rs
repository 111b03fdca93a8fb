//! The lists that are being sent: with a limited rate and number, and written datagram by datagram.

use super::heartbeats::{HEARTBEATS, Heartbeat, ListRule};
use std::collections::VecDeque;
use std::net::SocketAddr;

use super::options::Options;
use super::registry::{Entry, Game, HIGHEST, LOWEST, Name, Registry, to_name};
use crate::address::Prefix;
use crate::bucket::{LeakyBucket, Rate};
use crate::model::serving::Occupancy;
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
pub(super) const BYTES: usize = (MAX_LISTS * size_of::<List>())
    .saturating_mul(2)
    .saturating_add(Sketch::BYTES);

/// One client's list, without its servers. They are read from the table when a datagram is written.
#[derive(Debug, Clone, Copy)]
struct List {
    to: SocketAddr,
    /// The key of the client's source.
    source: u64,
    servers: Servers,
    addresses: Addresses,
    /// The first server that was not sent; `None` while the list waits.
    next: Option<SocketAddr>,
}

/// The servers that a client requests.
#[derive(Debug, Clone, Copy)]
struct Servers {
    game: Game,
    game_type: Option<Name>,
    /// Servers without players too.
    empty: bool,
    /// Servers without a free slot too.
    full: bool,
    ipv4: bool,
    ipv6: bool,
}

/// A datagram of a list that was written.
struct Written {
    ends_list: bool,
    /// The number of servers that were examined.
    examined: u64,
}

/// A request for a list was dropped: the new one, or one that waited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Dropped;

impl Servers {
    /// [`Dropped`] if no server can match.
    fn new(game: Game, request: &GetServers<'_>, rule: ListRule) -> Result<Self, Dropped> {
        // No listed server has a game type that is too long for a `Name`.
        let name = |text| to_name(text).ok_or(Dropped);
        let game_type = request.game_type.map(name).transpose()?;
        Ok(Self {
            game,
            game_type,
            empty: request.empty || rule.has_all,
            full: request.full || rule.has_all,
            ipv4: !request.extended || request.ipv4 || !request.ipv6,
            ipv6: request.extended && (request.ipv6 || !request.ipv4),
        })
    }

    fn contain(&self, server: SocketAddr, entry: &Entry, now: Instant) -> bool {
        if entry.expires <= now {
            return false;
        }
        if self
            .game_type
            .is_some_and(|wanted| wanted != entry.game_type)
        {
            return false;
        }
        let is_wanted_family = match server {
            SocketAddr::V4(_) => self.ipv4,
            SocketAddr::V6(_) => self.ipv6,
        };
        let is_wanted_occupancy = match entry.occupancy {
            Occupancy::Empty => self.empty,
            Occupancy::Full => self.full,
            Occupancy::Some => true,
        };
        is_wanted_family && is_wanted_occupancy
    }
}

impl List {
    /// Appends the next datagram.
    fn write(&mut self, registry: &Registry, now: Instant, out: &mut Vec<u8>) -> Written {
        let first = self.next.unwrap_or(LOWEST);
        let mut examined = 0_u64;
        let of_game = registry
            .of_game(self.servers.game, first)
            .inspect(|_| examined = examined.saturating_add(1));
        let wanted = of_game.filter(|(server, entry)| self.servers.contain(*server, entry, now));
        let mut addresses = wanted.map(|(server, _)| server).peekable();
        let ends_list = put_part(self.addresses, &mut addresses, out);
        // Without a next server, only the end mark is left to write.
        self.next = Some(addresses.next().unwrap_or(HIGHEST));
        Written {
            ends_list,
            examined,
        }
    }
}

impl ListRule {
    /// The rule for the lists of a game.
    fn of_game(game: Name) -> Self {
        let name_of = |known: &Heartbeat| to_name(known.game?.as_bytes());
        let known = HEARTBEATS.iter().find(|known| name_of(known) == Some(game));
        known.map_or_else(Self::default, |known| known.list)
    }

    /// How the reply to a request writes its addresses.
    const fn addresses(self, request: &GetServers<'_>) -> Addresses {
        match (request.extended, self.is_hexadecimal) {
            (true, _) => Addresses::Extended,
            (false, true) => Addresses::Hexadecimal,
            (false, false) => Addresses::Plain,
        }
    }
}

/// The lists under way, their rate, and the share of each source: some lists at once, then one in
/// each `list_decay`. A source is an IPv4 address or an IPv6 /64.
#[derive(Debug)]
pub(super) struct Outbox {
    /// The first is being sent, the others wait.
    lists: VecDeque<List>,
    /// The bytes sent to all sources.
    bytes_sent: LeakyBucket,
    byte_rate: Rate,
    secret: Secret,
    /// The number of lists sent to each source.
    lists_sent: Sketch,
    list_rate: Rate,
}

impl Outbox {
    pub(super) fn new(secret: Secret, options: &Options) -> Self {
        let decay = options.list_decay.max(Duration::from_millis(1));
        let bytes_per_second = u64::from(options.list_bytes_per_second).max(BURST);
        Self {
            lists: VecDeque::new(),
            bytes_sent: LeakyBucket::default(),
            byte_rate: Rate::per_second(bytes_per_second, BURST),
            secret,
            lists_sent: Sketch::default(),
            list_rate: Rate::new(1, decay, options.lists_in_a_row.into()),
        }
    }

    /// Queues a client's request for the servers of a game; [`Dropped`] if it or another request is
    /// dropped for it.
    ///
    /// The new request is dropped if its source has had its share, if a list to the same address is
    /// under way, or if no server can match. When too many requests wait, it takes the place of a
    /// random one, so that each has the same chance.
    pub(super) fn push(
        &mut self,
        now: Instant,
        to: SocketAddr,
        game: Game,
        request: &GetServers<'_>,
    ) -> Result<(), Dropped> {
        let source = key(self.secret, "list", to.ip(), Prefix::HOST);
        if self.lists.iter().any(|other| other.to == to) || !self.has_share(now, source) {
            return Err(Dropped);
        }
        let rule = ListRule::of_game(game.name);
        let list = List {
            to,
            source,
            servers: Servers::new(game, request, rule)?,
            addresses: rule.addresses(request),
            next: None,
        };
        if self.lists.len() < MAX_LISTS {
            self.lists.push_back(list);
            return Ok(());
        }
        self.replace_one(list);
        Err(Dropped)
    }

    /// Replaces a random list that waits. The key of the new one's source is random to everybody
    /// without the secret.
    fn replace_one(&mut self, list: List) {
        let waiting = (list.source % WAITING) as usize;
        self.lists.remove(waiting.saturating_add(1));
        self.lists.push_back(list);
    }

    /// Whether a source may get another list. Its lists that wait count as sent.
    fn has_share(&self, now: Instant, source: u64) -> bool {
        let waits = |list: &&List| list.source == source && list.next.is_none();
        let waiting = self.lists.iter().filter(waits).count();
        // A copy, so that nothing is counted yet.
        let mut share = self.lists_sent.get(source);
        share.add(now, &self.list_rate, waiting as u64);
        share.has_space(now, &self.list_rate)
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
        let list = self.lists.front_mut()?;
        // A list counts once it is begun, so a displaced request does not use up the share of its
        // source.
        if list.next.is_none() {
            self.lists_sent.add(list.source, now, &self.list_rate, 1);
        }
        let to = list.to;
        let before = out.len();
        let written = list.write(registry, now, out);
        let length = out.len().saturating_sub(before) as u64;
        // A server that the filters leave out costs as much as one that is sent. Otherwise a
        // request that matches none would walk the whole table for one short datagram.
        let cost = length.max(written.examined.saturating_mul(ADDRESS));
        self.bytes_sent.add(now, &self.byte_rate, cost);
        if written.ends_list {
            self.lists.pop_front();
        }
        Some(to)
    }

    /// The earliest moment for the next datagram, if there is one: `now` or later.
    pub(super) fn ready_at(&self, now: Instant) -> Option<Instant> {
        if self.lists.is_empty() {
            return None;
        }
        let longest = MAX_PART as u64;
        Some(self.bytes_sent.ready_at(now, &self.byte_rate, longest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_64_kib_leave_at_once_and_never_fewer_in_a_second() {
        let rate = |list_bytes_per_second| {
            let options = Options {
                list_bytes_per_second,
                ..Options::default()
            };
            Outbox::new(Secret::new([7; 16]), &options).byte_rate
        };
        assert_eq!(rate(0), Rate::per_second(65_536, 65_536));
        assert_eq!(rate(65_537), Rate::per_second(65_537, 65_536));
    }
}
