//! Master servers: heartbeat, registration, list.
//!
//! ```text
//!  server                      master                        client
//!    │ heartbeat DarkPlaces 0A    │                             │
//!    │ ─────────────────────────► │                             │
//!    │ getinfo challenge          │                             │
//!    │ ◄───────────────────────── │                             │
//!    │ infoResponse 0A \challenge… │                             │
//!    │ ─────────────────────────► │ (listed for 15 minutes)     │
//!    │                            │   getserversExt Nexuiz 3    │
//!    │                            │ ◄────────────────────────── │
//!    │                            │   getserversExtResponse \…  │
//!    │                            │ ──────────────────────────► │  as many as it takes
//! ```
//!
//! ```text
//!  getserversResponse                       getserversExtResponse
//!  offset  bytes                            offset  bytes
//!  0       FF FF FF FF                      0       FF FF FF FF
//!  4       "getserversResponse"             4       "getserversExtResponse"
//!  22      5C ip[4] port[2]                 25      5C ip[4] port[2]   or   2F ip[16] port[2]
//!  29      5C ip[4] port[2] …               …
//!  last    5C "EOT" 00 00 00                last    5C "EOT" 00 00 00
//! ```
//!
//! # Facts and their sources
//! - Addresses and ports are big-endian and may hold 5C and 2F: entries have fixed lengths and are
//!   not split at separators (dpmaster, doc/techinfo.txt).
//! - dpmaster since 2.0 puts the end mark only into the last datagram; before 2.0, it put it into
//!   every datagram (dpmaster, doc/techinfo.txt). Other masters write `\EOT` without the NULs,
//!   `\EOF`, or nothing (qstat). Activision's masters put `\EOT` into every datagram
//!   (cetteup/pyq3serverlist, reader.py).
//! - 69.79.84.5:27961 is written `EOT 05 6D 39`: only the complete mark ends a list. id's own
//!   client stops at such an address.
//! - id's and ioquake3's clients read an address only when a separator follows it (ioquake3,
//!   code/client/cl_main.c): datagrams that are not the last end with a lone `\`.
//! - Star Trek: Elite Force's list has twelve hexadecimal digits per address (qstat), and its
//!   servers' heartbeat is `\heartbeat\PORT\gamename\STEF1\` (Chomenor/ioef-cmod,
//!   code/server/sv_main.c).
//! - The masters of Tremulous and Unvanquished number the datagrams of an extended list: NUL,
//!   number, NUL, count, NUL, and a label (GrangerHub/tremulous-master,
//!   Unvanquished/unvanquished-master: master.py).
//! - The keys that a server needs to be listed, the heartbeat tags of games, the times, the limits
//!   per address and per client: dpmaster, doc/techinfo.txt and testsuite. Unlike dpmaster,
//!   [`Master`] keeps nothing about a server that has not proved its address, and it limits the
//!   rate of its lists.
//!
//! A client uses [`Quake3List`](crate::lists::Quake3List), a game server
//! [`Announcer`](crate::serve::Announcer), and a master [`Master`].

mod heartbeats;
mod options;
mod outbox;
mod registry;

use std::collections::VecDeque;
use std::net::SocketAddr;

use self::heartbeats::SIGN_OFFS;
pub use self::options::Options;
use self::outbox::{Dropped, Outbox};
use self::registry::{
    BYTES_PER_SERVER, Description, Game, LOWEST, Listing, NO_NAME, Registry, Tag, to_name,
};
pub(crate) use self::registry::{check_status, check_tag, encode_heartbeat};
use super::wire::infostring::InfoString;
use super::wire::list::GetServers;
use super::wire::request::{self, Command, Request};
use super::wire::response::Response;
use crate::address::{Scope, canonical};
use crate::limits::Limits;
use crate::options::Detail;
use crate::protocol::Protocol;
use crate::secret::Secret;
use crate::session::{Handled, Machine, Transmit};
use crate::time::{Duration, Instant, after};
use crate::token::TokenIssuer;

/// A challenge is valid for one to two of these.
const CHALLENGE_WINDOW: Duration = Duration::from_secs(2);
/// Interval at which expired servers are removed. They are left out of lists before that.
const SWEEP: Duration = Duration::from_secs(10);
/// The maximum number of requests to servers that wait to be sent.
const MAX_REQUESTS: usize = 256;
/// The maximum number of events that wait to be taken. The oldest is dropped.
const MAX_EVENTS: usize = 256;
/// Length of a challenge, in bytes. It depends on the heartbeat's length (dpmaster has the same
/// range).
const CHALLENGE_LENGTHS: std::ops::RangeInclusive<usize> = 8..=request::CHALLENGE_LENGTH;
/// Bytes of a `getinfo` before its challenge.
const GETINFO_HEAD: usize = 12;
/// The maximum number of bytes that a `getinfo` has more than the heartbeat. The shortest
/// heartbeats of known servers have 16 (Ezz-lol/boiii-free; HeartbeatingForCenturies/s1x-client).
const MAX_EXCESS: usize = 4;

/// A master server of Quake 3: lists the servers that send heartbeats.
///
/// The caller owns the socket and the clock. Its methods are those of every [state
/// machine](crate::session) of the crate; [`Self::poll_event`] returns the changes of the list. Its
/// [`Options`] bound memory, lists and scope.
///
/// Nothing is kept of a server that has not proved its address. The challenge in the master's
/// `getinfo` is a keyed hash of address, time and heartbeat tag. It is computed again to check the
/// `infoResponse` that quotes it. A forged heartbeat costs the master one datagram, at most four
/// bytes longer than the heartbeat, and no memory.
///
/// # After a failure
/// A master does not see failures: a `getinfo` or a list that is lost is requested again by its
/// server or client. It keeps:
///
/// - Listed servers, for [`Options::lifetime`] after they last proved their address.
/// - The number of lists that each source was sent. It falls by one in each
///   [`Options::list_decay`].
/// - Lists that wait for [`Options::list_bytes_per_second`], until they are sent.
///
/// A new master starts with an empty list.
///
/// ```
/// use std::time::Instant;
/// use queryport::session::Machine;
/// use queryport::quake3::master::{Master, MasterEvent, Options};
/// use queryport::Secret;
///
/// # #[allow(clippy::disallowed_methods)]
/// let now = Instant::now();
/// let server = "192.0.2.1:27960".parse()?;
/// let mut master = Master::new(Secret::new([7; 16]), Options::default(), now);
///
/// master.handle_datagram(now, server, b"\xff\xff\xff\xffheartbeat DarkPlaces\n");
/// let mut getinfo = Vec::new();
/// assert_eq!(master.poll_transmit(now, &mut getinfo).unwrap().to, server);
///
/// let challenge = String::from_utf8_lossy(&getinfo[12..]);
/// let info = format!(
///     "\u{1}infoResponse\n\\gamename\\Nexuiz\\protocol\\3\
///      \\clients\\1\\sv_maxclients\\8\\challenge\\{challenge}"
/// );
/// master.handle_datagram(now, server, &[b"\xff\xff\xff\xff", info.as_bytes()].concat());
/// assert_eq!(master.poll_event(), Some(MasterEvent::Listed(server)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Master {
    options: Options,
    tokens: TokenIssuer,
    next_sweep: Instant,
    servers: Registry,
    requests: VecDeque<GetInfo>,
    lists: Outbox,
    events: VecDeque<MasterEvent>,
    stats: MasterStats,
}

/// A `getinfo` that waits to be sent.
#[derive(Debug)]
struct GetInfo {
    server: SocketAddr,
    challenge: [u8; request::CHALLENGE_LENGTH],
    /// Bytes of the challenge that are sent.
    length: usize,
}

/// Something that happened to the list.
///
/// ```
/// use queryport::quake3::master::{Master, MasterEvent};
///
/// fn report(master: &mut Master) {
///     while let Some(event) = master.poll_event() {
///         match event {
///             MasterEvent::Listed(server) => println!("listed {server}"),
///             MasterEvent::Expired(server) => println!("expired {server}"),
///             _ => {}
///         }
///     }
/// }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum MasterEvent {
    /// A server proved its address and is listed from now on.
    Listed(SocketAddr),
    /// A server has not proved its address for [`Options::lifetime`] and is no longer listed.
    Expired(SocketAddr),
}

/// Counters of a master.
///
/// ```
/// use queryport::quake3::master::MasterStats;
///
/// assert_eq!(MasterStats::default().heartbeats, 0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct MasterStats {
    /// Heartbeats that were answered with `getinfo`.
    pub heartbeats: u64,
    /// Heartbeats that were not answered. The tag is unknown or a sign-off, the address is out of
    /// scope or has too many servers, or the heartbeat is much shorter than the `getinfo`. Other
    /// reasons are a full table, and too many waiting requests.
    pub heartbeats_refused: u64,
    /// Descriptions that listed a server or renewed its entry.
    pub listed: u64,
    /// Descriptions without a challenge issued to that address in the last seconds: forged,
    /// replayed or late.
    pub unproved: u64,
    /// Descriptions that lack a required key, or are of a game that is not listed.
    pub unusable: u64,
    /// Descriptions that arrived when the table was full or the address had too many servers.
    pub no_room: u64,
    /// Requests for lists that were answered.
    pub lists: u64,
    /// Requests for lists that were not answered: too many from that source or in total, or for a
    /// game that is not listed.
    pub lists_refused: u64,
    /// Other datagrams.
    pub ignored: u64,
}

/// The outcome of a datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    HeartbeatAnswered,
    HeartbeatRefused,
    ListQueued,
    ListRefused,
    /// Listed, or its entry renewed.
    Listed,
    Unproved,
    Unusable,
    NoRoom,
    Ignored,
}

impl Outcome {
    const fn handled(self) -> Handled {
        match self {
            Self::HeartbeatAnswered
            | Self::HeartbeatRefused
            | Self::ListQueued
            | Self::ListRefused => Handled::Request(Protocol::Quake3),
            Self::Listed | Self::Unproved | Self::Unusable | Self::NoRoom => Handled::Reply,
            Self::Ignored => Handled::Ignored,
        }
    }
}

impl MasterStats {
    const fn count(&mut self, outcome: Outcome) {
        let counter = match outcome {
            Outcome::HeartbeatAnswered => &mut self.heartbeats,
            Outcome::HeartbeatRefused => &mut self.heartbeats_refused,
            Outcome::ListQueued => &mut self.lists,
            Outcome::ListRefused => &mut self.lists_refused,
            Outcome::Listed => &mut self.listed,
            Outcome::Unproved => &mut self.unproved,
            Outcome::Unusable => &mut self.unusable,
            Outcome::NoRoom => &mut self.no_room,
            Outcome::Ignored => &mut self.ignored,
        };
        *counter = counter.saturating_add(1);
    }
}

impl Master {
    /// `secret`: sixteen bytes nobody else can guess. `now`: the caller's clock.
    pub fn new(secret: Secret, options: Options, now: Instant) -> Self {
        Self {
            tokens: TokenIssuer {
                secret,
                window: CHALLENGE_WINDOW,
                started: now,
            },
            next_sweep: after(now, SWEEP),
            servers: Registry::new(options.max_servers, options.max_per_address),
            requests: VecDeque::new(),
            lists: Outbox::new(secret, &options),
            events: VecDeque::new(),
            stats: MasterStats::default(),
            options,
        }
    }
}

impl Machine for Master {
    /// Appends the next datagram to `out` and returns its destination. `None` when there is none
    /// now: lists are sent at a limited rate, see [`Self::poll_timeout`].
    fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        let before = out.len();
        let to = match self.requests.pop_front() {
            Some(request) => {
                // Our challenges hold letters and digits.
                let challenge = request.challenge.get(..request.length);
                Request::new(Command::GetInfo { challenge }).put(out);
                request.server
            }
            None => self.lists.write(&self.servers, now, out)?,
        };
        Some(Transmit {
            to,
            len: out.len().saturating_sub(before),
        })
    }

    /// Handles a datagram that arrived.
    fn handle_datagram(&mut self, now: Instant, from: SocketAddr, datagram: &[u8]) -> Handled {
        let from = canonical(from);
        if !Scope::Any.admits(from) {
            self.stats.count(Outcome::Ignored);
            return Handled::Refused;
        }
        let outcome = match Request::parse(datagram).map(|request| request.command) {
            Ok(Command::Heartbeat { tag } | Command::HeartbeatPairs { game: tag, .. }) => {
                self.handle_heartbeat(now, from, tag, datagram.len())
            }
            Ok(Command::GetServers(request)) => self.handle_list_request(now, from, &request),
            _ => match Response::parse(datagram, &Limits::default()) {
                Ok(response) if response.detail() == Detail::Short => {
                    self.handle_description(now, from, response.info())
                }
                _ => Outcome::Ignored,
            },
        };
        self.stats.count(outcome);
        outcome.handled()
    }

    /// When the next datagram or expiry is due; `None` when nothing is.
    fn poll_timeout(&self) -> Option<Instant> {
        // A time in the past.
        let at_once = self.tokens.started;
        let request = (!self.requests.is_empty()).then_some(at_once);
        let sweep = (self.servers.len() > 0).then_some(self.next_sweep);
        [request, self.lists.ready_at(at_once), sweep]
            .into_iter()
            .flatten()
            .min()
    }

    /// Lets time pass: removes the servers that have expired. Early or repeated calls are harmless.
    fn handle_timeout(&mut self, now: Instant) {
        if now >= self.next_sweep {
            self.next_sweep = after(now, SWEEP);
            for server in self.servers.expire(now) {
                push_event(&mut self.events, MasterEvent::Expired(server));
            }
        }
    }
}

impl Master {
    /// The next change of the list, oldest first: take them all after each datagram and timeout.
    /// The latest 256 are kept.
    pub fn poll_event(&mut self) -> Option<MasterEvent> {
        self.events.pop_front()
    }

    /// Whether heartbeats with this tag are answered.
    pub fn knows_tag(&self, tag: &str) -> bool {
        registry::tags(&self.options.tags).any(|known| known.text == tag)
    }

    /// Every listed server, sorted by address.
    pub fn servers(&self) -> impl Iterator<Item = SocketAddr> {
        self.servers.servers()
    }

    /// Counters so far.
    pub const fn stats(&self) -> MasterStats {
        self.stats
    }

    /// The maximum memory that this master can hold with its options, in bytes.
    pub fn memory_bound(&self) -> usize {
        let servers = self.options.max_servers.saturating_mul(BYTES_PER_SERVER);
        // Queues grow by doubling.
        let queues = MAX_REQUESTS
            .saturating_mul(size_of::<GetInfo>())
            .saturating_add(MAX_EVENTS.saturating_mul(size_of::<MasterEvent>()))
            .saturating_mul(2);
        servers
            .saturating_add(outbox::BYTES)
            .saturating_add(queues)
            .saturating_add(size_of::<Self>())
    }

    /// Answers a heartbeat of this length with a `getinfo`.
    ///
    /// A sign-off, which a server sends when it ends, changes nothing: it may be forged. The
    /// server's entry expires later (dpmaster ignores sign-offs too, src/messages.c).
    fn handle_heartbeat(
        &mut self,
        now: Instant,
        server: SocketAddr,
        tag: &[u8],
        heartbeat_length: usize,
    ) -> Outcome {
        let known = registry::tags(&self.options.tags).find(|known| known.text.as_bytes() == tag);
        let Some(tag) = known else {
            return Outcome::HeartbeatRefused;
        };
        // Hardly more bytes than the heartbeat had, which may be forged.
        let shortest_getinfo = GETINFO_HEAD.saturating_add(*CHALLENGE_LENGTHS.start());
        if heartbeat_length.saturating_add(MAX_EXCESS) < shortest_getinfo {
            return Outcome::HeartbeatRefused;
        }
        let has_room =
            self.requests.len() < MAX_REQUESTS && self.servers.check(server) != Listing::NoRoom;
        if !self.options.scope.admits(server) || !has_room {
            return Outcome::HeartbeatRefused;
        }
        let space = heartbeat_length.saturating_sub(GETINFO_HEAD);
        let length = space.clamp(*CHALLENGE_LENGTHS.start(), *CHALLENGE_LENGTHS.end());
        self.requests.push_back(GetInfo {
            server,
            challenge: request::challenge(self.tokens.issue(now, server, tag.index)),
            length,
        });
        Outcome::HeartbeatAnswered
    }

    /// Queues the list that a client requests.
    fn handle_list_request(
        &mut self,
        now: Instant,
        client: SocketAddr,
        request: &GetServers<'_>,
    ) -> Outcome {
        let Some(game) = self.requested_game(request) else {
            return Outcome::ListRefused;
        };
        match self.lists.push(now, client, game, request) {
            Ok(()) => Outcome::ListQueued,
            Err(Dropped) => Outcome::ListRefused,
        }
    }

    /// `None` if its servers are not listed.
    fn requested_game(&self, request: &GetServers<'_>) -> Option<Game> {
        let protocol = request.protocol;
        if let Some(text) = request.game {
            let name = to_name(text)?;
            let game = Game { name, protocol };
            return self.options.accepts(name).then_some(game);
        }
        // Of the games that heartbeats name, the first one with a server of this protocol number.
        let names =
            registry::tags(&self.options.tags).filter_map(|tag| to_name(tag.game?.as_bytes()));
        let mut games = names.map(|name| Game { name, protocol });
        let has_servers = |game: &Game| self.servers.of_game(*game, LOWEST).next().is_some();
        // If there is none, the list is empty.
        let of_no_server = Game {
            name: NO_NAME,
            protocol,
        };
        Some(games.find(has_servers).unwrap_or(of_no_server))
    }

    /// Lists a server if it quotes a challenge that was issued to its address.
    fn handle_description(
        &mut self,
        now: Instant,
        server: SocketAddr,
        info: InfoString<'_>,
    ) -> Outcome {
        let Some(tag) = self.proved_tag(now, server, info) else {
            return Outcome::Unproved;
        };
        let Ok(description) = Description::read(info, &tag) else {
            return Outcome::Unusable;
        };
        if !self.options.accepts(description.game.name) {
            return Outcome::Unusable;
        }
        let expires = after(now, self.options.lifetime);
        match self.servers.list(server, description, expires) {
            Listing::New => push_event(&mut self.events, MasterEvent::Listed(server)),
            Listing::Renewed => {}
            Listing::NoRoom => return Outcome::NoRoom,
        }
        Outcome::Listed
    }

    /// The tag of the heartbeat that the quoted challenge was issued for.
    fn proved_tag(
        &self,
        now: Instant,
        server: SocketAddr,
        info: InfoString<'_>,
    ) -> Option<Tag<'_>> {
        let quoted = info.get("challenge")?;
        if !CHALLENGE_LENGTHS.contains(&quoted.len()) {
            return None;
        }
        let is_ours = |token| request::challenge(token).starts_with(quoted);
        let mut tags = registry::tags(&self.options.tags);
        tags.find(|tag| self.tokens.valid(now, server, tag.index).any(is_ours))
    }
}

/// Whether servers send heartbeats with this tag when they end.
///
/// A [`Master`] ignores them: the sender can be forged, and the server's entry expires later.
///
/// ```
/// use queryport::quake3::master::is_sign_off;
///
/// assert!(is_sign_off("ETFlatline-1"));
/// assert!(!is_sign_off("EnemyTerritory-1"));
/// ```
pub fn is_sign_off(tag: &str) -> bool {
    SIGN_OFFS.contains(&tag)
}

fn push_event(events: &mut VecDeque<MasterEvent>, event: MasterEvent) {
    if events.len() >= MAX_EVENTS {
        events.pop_front();
    }
    events.push_back(event);
}

#[cfg(test)]
mod tests;
