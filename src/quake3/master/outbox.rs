//! The lists that are being sent: paced, bounded, and made only when they go.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use super::games;
use super::registry::{Entry, Name, Occupancy, Registry};
use super::request::ListRequest;
use super::writer::PartWriter;

/// Lists that are being sent or wait for that.
const MAX_LISTS: usize = 64;
/// Lists being sent at a time, in turn: the others wait, so that those come to an end.
const ACTIVE: usize = 4;
/// Most bytes sent at once: about 46 datagrams, which a receiver's usual buffer of 208 KiB holds.
const BURST: u32 = 64 * 1024;
/// Most bytes of one datagram of a list.
const MAX_PART: u32 = 1400;

/// Nanoseconds in a second.
const NANOS: u64 = 1_000_000_000;

/// Memory of the lists under way, in bytes.
pub(super) const BYTES: usize = MAX_LISTS * size_of::<Sending>();

/// One client's list: where it is, not what is in it. The table is read when a datagram is made.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sending {
    pub(super) to: SocketAddr,
    extended: bool,
    game: Option<Name>,
    protocol: i32,
    empty: bool,
    full: bool,
    ipv4: bool,
    ipv6: bool,
    game_type: Option<Name>,
    /// The last server told.
    after: Option<SocketAddr>,
}

impl Sending {
    /// `None` when no server can match: a name too long to be listed.
    pub(super) fn new(to: SocketAddr, request: &ListRequest<'_>, registry: &Registry) -> Option<Self> {
        // Without a game's name: by the protocol number, or as the first such server's heartbeat says.
        let game = match request.game.or_else(|| games::by_protocol(request.protocol).map(str::as_bytes)) {
            Some(game) => Some(Name::new(game)?),
            None => registry
                .after(None)
                .find(|(_, entry)| entry.protocol == request.protocol && entry.anonymous)
                .map(|(_, entry)| entry.game),
        };
        let all = game.is_some_and(|game| games::lists_all(game.as_bytes()));
        let game_type = match request.game_type {
            Some(text) => Some(Name::new(text)?),
            None => None,
        };
        Some(Self {
            to,
            extended: request.extended,
            game,
            protocol: request.protocol,
            empty: request.empty || all,
            full: request.full || all,
            ipv4: request.wants_ipv4(),
            ipv6: request.wants_ipv6(),
            game_type,
            after: None,
        })
    }

    /// The game asked for, where it is known.
    pub(super) fn game(&self) -> Option<&[u8]> {
        self.game.as_ref().map(Name::as_bytes)
    }

    fn matches(&self, server: SocketAddr, entry: &Entry, now: Instant) -> bool {
        entry.expires > now
            && entry.protocol == self.protocol
            && Some(entry.game) == self.game
            && (self.empty || entry.occupancy != Occupancy::Empty)
            && (self.full || entry.occupancy != Occupancy::Full)
            && (if server.is_ipv4() { self.ipv4 } else { self.ipv6 })
            && self.game_type.is_none_or(|game_type| game_type == entry.game_type)
    }

    /// Appends the next datagram; `true` when it was the last.
    fn write(&mut self, registry: &Registry, now: Instant, out: &mut Vec<u8>) -> bool {
        let mut part = PartWriter::new(self.extended, out);
        let mut rest = true;
        for (server, entry) in registry.after(self.after) {
            if self.matches(server, entry, now) && !part.push(server) {
                rest = false;
                break;
            }
            self.after = Some(server);
        }
        let ended = rest && part.end();
        if !ended {
            part.close();
        }
        ended
    }
}

#[derive(Debug)]
pub(super) struct Outbox {
    lists: VecDeque<Sending>,
    /// Bytes that may go now.
    credit: u32,
    counted: Instant,
    bytes_per_second: u32,
}

impl Outbox {
    pub(super) fn new(now: Instant, bytes_per_second: u32) -> Self {
        let bytes_per_second = bytes_per_second.max(BURST);
        Self { lists: VecDeque::new(), credit: BURST, counted: now, bytes_per_second }
    }

    /// Takes a list to send; `false` when too many are under way, or this client's is among them.
    pub(super) fn push(&mut self, sending: Sending) -> bool {
        let busy = self.lists.iter().any(|other| other.to == sending.to);
        let taken = !busy && self.lists.len() < MAX_LISTS;
        if taken {
            self.lists.push_back(sending);
        }
        taken
    }

    /// Appends the next datagram, one list in turn after the other; `None` when there is none, or not now.
    pub(super) fn write(
        &mut self,
        registry: &Registry,
        now: Instant,
        out: &mut Vec<u8>,
    ) -> Option<SocketAddr> {
        self.fill(now);
        if self.credit < MAX_PART {
            return None;
        }
        let mut sending = self.lists.pop_front()?;
        let before = out.len();
        let ended = sending.write(registry, now, out);
        let length = u32::try_from(out.len().saturating_sub(before)).unwrap_or(u32::MAX);
        self.credit = self.credit.saturating_sub(length);
        let to = sending.to;
        if !ended {
            let place = self.lists.len().min(ACTIVE.saturating_sub(1));
            self.lists.insert(place, sending);
        }
        Some(to)
    }

    /// When a datagram may go, if one waits.
    pub(super) fn next(&self) -> Option<Instant> {
        if self.lists.is_empty() {
            return None;
        }
        // Rounded up: a call at that time must find something to send.
        let missing = u64::from(MAX_PART.saturating_sub(self.credit)).saturating_mul(NANOS);
        let wait = missing.div_ceil(u64::from(self.bytes_per_second));
        self.counted.checked_add(Duration::from_nanos(wait))
    }

    fn fill(&mut self, now: Instant) {
        // A second fills it whatever the rate.
        let passed = now.saturating_duration_since(self.counted).min(Duration::from_secs(1)).as_nanos();
        let passed = u64::try_from(passed).unwrap_or(NANOS);
        let earned = u64::from(self.bytes_per_second).saturating_mul(passed) / NANOS;
        // Time that has not yet earned a byte is not lost.
        if earned > 0 {
            self.credit = self.credit.saturating_add(u32::try_from(earned).unwrap_or(u32::MAX)).min(BURST);
            self.counted = now;
        }
    }
}
