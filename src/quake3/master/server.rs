//! The master itself.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use super::games::{self, Tag};
use super::options::Options;
use super::outbox::{self, Outbox, Sending};
use super::registry::{BYTES_PER_SERVER, Entry, Listing, Name, Occupancy, Registry};
use super::request::ListRequest;
use super::scope::Scope;
use super::throttle::{self, Throttle};
use crate::limits::Limits;
use crate::quake3::client::challenge;
use crate::quake3::infostring::InfoString;
use crate::quake3::request::{Command, Request};
use crate::quake3::response::{Kind, Response};
use crate::secret::Secret;
use crate::session::{Machine, Transmit, canonical};
use crate::text::number;

/// A challenge is good for one to two of these.
const CHALLENGE_WINDOW: Duration = Duration::from_secs(2);
/// How often expired servers are taken out. They are not told in between either.
const SWEEP: Duration = Duration::from_secs(10);
/// Questions to servers that may wait to be sent.
const MAX_QUESTIONS: usize = 256;
/// Events that may wait to be taken; the oldest goes.
const MAX_EVENTS: usize = 256;
/// Length of a challenge, in bytes: as much as the heartbeat's length allows (dpmaster has the same range).
const CHALLENGE: std::ops::RangeInclusive<usize> = 8..=11;
/// Longest value that is read (dpmaster's limit).
const MAX_VALUE: usize = 255;

/// A master server. Pure: the caller owns the socket and the clock.
///
/// Nothing is kept of a server that has not proved its address: the challenge in the master's `getinfo` is a keyed hash
/// of address, time and heartbeat tag, and the `infoResponse` that quotes it is checked by computing it again. Forged
/// heartbeats cost the master a datagram, no longer than they are, and no memory.
///
/// ```
/// use std::time::Instant;
/// use queryport::quake3::master::{Event, Master, Options};
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
///     "\u{1}infoResponse\n\\gamename\\Nexuiz\\protocol\\3\\clients\\1\\sv_maxclients\\8\\challenge\\{challenge}"
/// );
/// master.handle_datagram(now, server, &[b"\xff\xff\xff\xff", info.as_bytes()].concat());
/// assert_eq!(master.poll_event(), Some(Event::Listed(server)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Master {
    secret: Secret,
    options: Options,
    started: Instant,
    next_sweep: Instant,
    servers: Registry,
    throttle: Throttle,
    questions: VecDeque<Question>,
    lists: Outbox,
    events: VecDeque<Event>,
    stats: Stats,
}

/// A server to be asked, and the challenge with its length.
type Question = (SocketAddr, [u8; 11], usize);

/// Something that happened to the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// A server proved its address and is listed from now on.
    Listed(SocketAddr),
    /// A server has not proved its address for [`Options::lifetime`] and is listed no more.
    Expired(SocketAddr),
}

/// Counters of a master.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Stats {
    /// Heartbeats that were answered with a question.
    pub heartbeats: u64,
    /// Heartbeats that were not: an unknown tag, an address out of scope or without a place left for it, shorter than
    /// the question, or too many questions waiting.
    pub heartbeats_refused: u64,
    /// Descriptions that were taken.
    pub listed: u64,
    /// Descriptions without a challenge given to that address in the last seconds: forged, replayed or late.
    pub unproved: u64,
    /// Descriptions that lack something, or of a game that is not taken.
    pub unusable: u64,
    /// Descriptions for which no place was left since the question: in the table, or for that address.
    pub no_place: u64,
    /// Requests for lists that were answered.
    pub lists: u64,
    /// Requests for lists that were not: too many of that source or in all, or of a game that is not taken.
    pub lists_refused: u64,
    /// Other datagrams.
    pub ignored: u64,
}

impl Master {
    /// `secret`: sixteen bytes nobody else can guess. `now`: the caller's clock.
    #[must_use]
    pub fn new(secret: Secret, options: Options, now: Instant) -> Self {
        Self {
            secret,
            started: now,
            next_sweep: after(now, SWEEP),
            servers: Registry::new(options.max_servers, options.max_per_address),
            throttle: Throttle::new(secret, options.lists_in_a_row, options.list_decay),
            questions: VecDeque::new(),
            lists: Outbox::new(now, options.list_bytes_per_second),
            events: VecDeque::new(),
            stats: Stats::default(),
            options,
        }
    }

    /// Takes a datagram.
    pub fn handle_datagram(&mut self, now: Instant, from: SocketAddr, datagram: &[u8]) {
        let from = canonical(from);
        let request = Request::parse(datagram).map(|request| request.command);
        let counter = match request {
            _ if !Scope::Any.admits(from) => &mut self.stats.ignored,
            Ok(Command::Heartbeat { tag }) => match self.ask(now, from, tag, datagram.len()) {
                Some(()) => &mut self.stats.heartbeats,
                None => &mut self.stats.heartbeats_refused,
            },
            Ok(Command::GetServers(list)) => match self.tell(now, from, &list) {
                Some(()) => &mut self.stats.lists,
                None => &mut self.stats.lists_refused,
            },
            Ok(_) => &mut self.stats.ignored,
            Err(_) => match Response::parse(datagram, &Limits::default()) {
                Ok(response) if response.kind() == Kind::Info => self.hear(now, from, response.info()),
                _ => &mut self.stats.ignored,
            },
        };
        *counter = counter.saturating_add(1);
    }

    /// Appends the next datagram to `out` and says where it goes; `None` when there is none, or not yet: lists are
    /// paced, see [`Self::poll_timeout`].
    pub fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        let before = out.len();
        let to = match self.questions.pop_front() {
            Some((server, challenge, length)) => {
                let command = Command::GetInfo { challenge: challenge.get(..length) };
                let written = Request::new(command).encode(out);
                debug_assert!(written.is_ok(), "our challenges hold letters and digits");
                server
            }
            None => self.lists.write(&self.servers, now, out)?,
        };
        Some(Transmit { to, len: out.len().saturating_sub(before) })
    }

    /// When to call [`Self::handle_timeout`] and [`Self::poll_transmit`] again, if nothing arrives before.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        let sweep = (self.servers.len() > 0).then_some(self.next_sweep);
        [self.lists.next(), sweep].into_iter().flatten().min()
    }

    /// Lets time pass: takes out the servers that have expired. Early or repeated calls are harmless.
    pub fn handle_timeout(&mut self, now: Instant) {
        if now < self.next_sweep {
            return;
        }
        self.next_sweep = after(now, SWEEP);
        let events = &mut self.events;
        self.servers.expire(now, |server| push_event(events, Event::Expired(server)));
    }

    /// What happened to the list since the last call, oldest first. Of events that nobody takes, the latest 256 are
    /// kept.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Every listed server, sorted by address.
    pub fn servers(&self) -> impl Iterator<Item = SocketAddr> + '_ {
        self.servers.after(None).map(|(server, _)| server)
    }

    /// Counters so far.
    #[must_use]
    pub const fn stats(&self) -> Stats {
        self.stats
    }

    /// Most memory this master can come to hold with its options, in bytes, whatever arrives.
    #[must_use]
    pub fn memory_bound(&self) -> usize {
        let servers = self.options.max_servers.saturating_mul(BYTES_PER_SERVER);
        // Queues grow by doubling.
        let queues = MAX_QUESTIONS
            .saturating_mul(size_of::<Question>())
            .saturating_add(MAX_EVENTS.saturating_mul(size_of::<Event>()))
            .saturating_add(outbox::BYTES)
            .saturating_mul(2);
        servers.saturating_add(throttle::BYTES).saturating_add(queues).saturating_add(size_of::<Self>())
    }

    /// A heartbeat: asks the server for its description. `None`: it gets no question.
    fn ask(&mut self, now: Instant, server: SocketAddr, tag: &[u8], length: usize) -> Option<()> {
        let (_, tag) = games::tags(&self.options.tags).find(|(known, _)| known.as_bytes() == tag)?;
        let challenge = self.challenge(server, self.window(now), tag);
        // Mark, word, blank, challenge: never more than the heartbeat had, which may be forged.
        let length = length.checked_sub(12)?.min(*CHALLENGE.end());
        let waiting = self.questions.len() < MAX_QUESTIONS;
        let place = matches!(self.servers.place(server), Listing::New | Listing::Renewed);
        (self.options.scope.admits(server) && CHALLENGE.contains(&length) && waiting && place)
            .then(|| self.questions.push_back((server, challenge, length)))
    }

    /// A request for the list. `None`: it gets none.
    fn tell(&mut self, now: Instant, client: SocketAddr, request: &ListRequest<'_>) -> Option<()> {
        if request.extended && request.game.is_none() {
            return None;
        }
        let sending = Sending::new(client, request, &self.servers)?;
        let taken = sending.game().is_none_or(|game| self.options.games.accepts(game));
        (taken && self.throttle.allows(now, client) && self.lists.push(sending)).then_some(())
    }

    /// A description: lists the server when it quotes a challenge that was given to its address. Returns the counter
    /// of what became of it.
    fn hear(&mut self, now: Instant, server: SocketAddr, info: InfoString<'_>) -> &mut u64 {
        let Some(tag) = self.proof(now, server, info) else { return &mut self.stats.unproved };
        let expires = after(now, self.options.lifetime);
        let described = describe(info, tag.game, expires);
        let taken = described.filter(|entry| self.options.games.accepts(entry.game.as_bytes()));
        let Some(entry) = taken else { return &mut self.stats.unusable };
        match self.servers.list(server, entry) {
            Listing::New => push_event(&mut self.events, Event::Listed(server)),
            Listing::Renewed => {}
            Listing::Full | Listing::TooMany => return &mut self.stats.no_place,
        }
        &mut self.stats.listed
    }

    /// The tag of the heartbeat that the quoted challenge was given for.
    fn proof(&self, now: Instant, server: SocketAddr, info: InfoString<'_>) -> Option<Tag<'_>> {
        let quoted = info.get("challenge")?;
        let window = self.window(now);
        let windows = [Some(window), window.checked_sub(1)];
        let is_given = |tag: Tag<'_>| {
            windows
                .into_iter()
                .flatten()
                .any(|window| self.challenge(server, window, tag).starts_with(quoted))
        };
        let scope = self.options.scope.admits(server) && CHALLENGE.contains(&quoted.len());
        games::tags(&self.options.tags).map(|(_, tag)| tag).find(|tag| scope && is_given(*tag))
    }

    fn challenge(&self, server: SocketAddr, window: u64, tag: Tag<'_>) -> [u8; 11] {
        challenge(self.secret.number("master challenge", server, window.wrapping_shl(16) | tag.index))
    }

    fn window(&self, now: Instant) -> u64 {
        now.saturating_duration_since(self.started)
            .as_secs()
            .checked_div(CHALLENGE_WINDOW.as_secs())
            .unwrap_or_default()
    }
}

impl Machine for Master {
    fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        Self::poll_transmit(self, now, out)
    }

    fn handle_datagram(&mut self, now: Instant, from: SocketAddr, datagram: &[u8]) {
        Self::handle_datagram(self, now, from, datagram);
    }

    fn poll_timeout(&self) -> Option<Instant> {
        Self::poll_timeout(self)
    }

    fn handle_timeout(&mut self, now: Instant) {
        Self::handle_timeout(self, now);
    }
}

/// What a server says of itself, when that is enough to be listed: protocol, places, players, and the game unless its
/// heartbeat named it. The two must not differ.
fn describe(info: InfoString<'_>, tag_game: Option<&str>, expires: Instant) -> Option<Entry> {
    let value = |key| info.get(key).filter(|value| value.len() <= MAX_VALUE);
    let count = |key| value(key).map(|text| number::number::<u32>(text).unwrap_or(0));
    let word = |text: &[u8]| Name::new(text).filter(|_| !text.iter().any(|&byte| byte <= b' '));
    let (clients, most) = (count("clients")?, count("sv_maxclients")?);
    let game = match (info.get("gamename"), tag_game) {
        (Some(named), Some(known)) if named != known.as_bytes() => return None,
        (Some(named), _) => named,
        (None, known) => known?.as_bytes(),
    };
    let occupancy = match clients {
        _ if most == 0 => return None,
        0 => Occupancy::Empty,
        clients if clients >= most => Occupancy::Full,
        _ => Occupancy::Some,
    };
    Some(Entry {
        expires,
        protocol: number::number(value("protocol")?)?,
        occupancy,
        anonymous: tag_game.is_some(),
        game: word(game).filter(|_| !game.is_empty())?,
        game_type: word(info.get("gametype").unwrap_or(b"0"))?,
    })
}

fn push_event(events: &mut VecDeque<Event>, event: Event) {
    if events.len() >= MAX_EVENTS {
        events.pop_front();
    }
    events.push_back(event);
}

fn after(now: Instant, wait: Duration) -> Instant {
    now.checked_add(wait).unwrap_or(now)
}
