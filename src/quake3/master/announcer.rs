//! A game server's side: heartbeats.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use super::description::{AnnounceError, Description, Occupancy};
use super::games;
use crate::address::canonical;
use crate::model::ServerStatus;
use crate::quake3::from_status::named;
use crate::quake3::server;
use crate::quake3::wire::infostring::{InfoString, MAX_INFO_STRING};
use crate::quake3::wire::request::{Command, Request};
use crate::quake3::wire::response::Kind;
use crate::session::{Machine, Transmit};

/// Shortest time between two heartbeats to one master.
const LEAST: Duration = Duration::from_secs(10);
/// Most masters.
const MAX_MASTERS: usize = 32;
/// Bytes of an `infoResponse` before its infostring.
const HEAD: usize = 17;

/// Sends heartbeats to masters, so that a server comes onto their lists and stays there. Pure: the caller owns the
/// socket, which must be the one that answers `getinfo`, and the clock.
///
/// ```
/// use std::time::Instant;
/// use queryport::quake3::master::{Announcer, AnnouncerEvent};
/// use queryport::quake3::server::Options;
/// use queryport::ServerStatus;
///
/// # #[allow(clippy::disallowed_methods)]
/// let now = Instant::now();
/// let master = "192.0.2.9:27950".parse()?;
/// let mut status = ServerStatus::default();
/// status.game = Some("Nexuiz".into());
/// status.player_count = Some(0);
/// status.max_players = Some(8);
/// let mut announcer = Announcer::new("DarkPlaces", [master], &status, &Options::default(), now)?;
///
/// let mut out = Vec::new();
/// assert_eq!(announcer.poll_transmit(now, &mut out).unwrap().to, master);
/// assert_eq!(out, b"\xff\xff\xff\xffheartbeat DarkPlaces\n");
///
/// announcer.handle_datagram(now, master, b"\xff\xff\xff\xffgetinfo 8aJ2xyz01234");
/// assert_eq!(announcer.poll_event(), Some(AnnouncerEvent::Asked(master)), "the heartbeat arrived");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Announcer {
    heartbeat: Vec<u8>,
    /// The game that the tag stands for.
    tag_game: Option<&'static str>,
    /// None after [`Self::close`].
    masters: Vec<SocketAddr>,
    interval: Duration,
    occupancy: Occupancy,
    /// The latest time seen.
    now: Instant,
    next: Instant,
    last: Option<Instant>,
    queue: VecDeque<SocketAddr>,
    asked: VecDeque<SocketAddr>,
}

/// Something that an [`Announcer`] noticed.
///
/// ```
/// use queryport::quake3::master::{Announcer, AnnouncerEvent};
///
/// fn report(announcer: &mut Announcer) {
///     while let Some(event) = announcer.poll_event() {
///         if let AnnouncerEvent::Asked(master) = event {
///             println!("{master} received a heartbeat");
///         }
///     }
/// }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum AnnouncerEvent {
    /// This master asked for the server's description or status: a heartbeat arrived there.
    Asked(SocketAddr),
}

impl Announcer {
    /// `tag`: `DarkPlaces` for every game that names itself in `gamename`, `QuakeArena-1` for Quake III Arena and so on.
    /// `masters`: at most 32 are kept. `status` and `options`: what the server answers with. The first heartbeats wait in
    /// [`Self::poll_transmit`].
    ///
    /// # Errors
    /// What of the tag or the status would keep masters from listing the server.
    pub fn new(
        tag: &str,
        masters: impl IntoIterator<Item = SocketAddr>,
        status: &ServerStatus,
        options: &server::Options,
        now: Instant,
    ) -> Result<Self, AnnounceError> {
        let mut heartbeat = Vec::new();
        let request = Request::new(Command::Heartbeat { tag: tag.as_bytes() });
        request.encode(&mut heartbeat).map_err(AnnounceError::Tag)?;
        let tag_game = games::by_tag(tag);
        Ok(Self {
            heartbeat,
            tag_game,
            masters: masters.into_iter().take(MAX_MASTERS).collect(),
            interval: Duration::from_secs(300),
            occupancy: occupancy(status, options, tag_game)?,
            now,
            next: now,
            last: None,
            queue: VecDeque::new(),
            asked: VecDeque::new(),
        })
    }

    /// Time between heartbeats, 30 s–15 min, default 5 min as ioquake3's. Masters forget a server after 15.
    #[must_use]
    pub fn with_interval(mut self, interval: Duration) -> Self {
        self.interval = interval.clamp(Duration::from_secs(30), Duration::from_secs(900));
        self
    }

    /// The server answers with another status from now on. When it has become empty or full, or is no longer, the masters
    /// get a heartbeat soon, but no more than one every ten seconds.
    ///
    /// # Errors
    /// What of the status would keep masters from listing the server. Heartbeats go on as before.
    pub fn set_status(
        &mut self,
        now: Instant,
        status: &ServerStatus,
        options: &server::Options,
    ) -> Result<(), AnnounceError> {
        self.now = self.now.max(now);
        let occupancy = occupancy(status, options, self.tag_game)?;
        if std::mem::replace(&mut self.occupancy, occupancy) != occupancy {
            let soon = self.last.and_then(|last| last.checked_add(LEAST)).unwrap_or(now);
            self.next = self.next.min(soon.max(now));
        }
        Ok(())
    }

    /// The server ends: two last heartbeats to each master, as the engines send them. A master that asks then gets no
    /// answer; the protocol has no message to leave a list.
    pub fn close(&mut self) {
        let masters = std::mem::take(&mut self.masters);
        self.queue.extend(masters.iter().chain(&masters));
    }

    /// Appends the next heartbeat to `out` and says where it goes; `None` when none is due.
    pub fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        self.now = self.now.max(now);
        if self.queue.is_empty() && now >= self.next {
            self.queue.extend(&self.masters);
            self.last = Some(now);
            self.next = now.checked_add(self.interval).unwrap_or(now);
        }
        let to = self.queue.pop_front()?;
        out.extend_from_slice(&self.heartbeat);
        Some(Transmit { to, len: self.heartbeat.len() })
    }

    /// Takes a datagram that arrived at the server's socket; only its masters' requests matter here, and the server must
    /// answer them.
    pub fn handle_datagram(&mut self, now: Instant, from: SocketAddr, datagram: &[u8]) {
        self.now = self.now.max(now);
        let master = self.masters.iter().find(|master| canonical(**master) == canonical(from));
        let asks = || {
            let request = Request::parse(datagram).map(|request| request.command);
            matches!(request, Ok(Command::GetInfo { .. } | Command::GetStatus { .. }))
        };
        if let Some(&master) = master
            && asks()
            && !self.asked.contains(&master)
        {
            self.asked.push_back(master);
        }
    }

    /// When to call [`Self::handle_timeout`] and [`Self::poll_transmit`] again: in the past while a heartbeat or an event
    /// waits; `None` after [`Self::close`] and without masters.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        if self.asked.is_empty() { self.next_heartbeat() } else { Some(self.now) }
    }

    /// Lets time pass. Early or repeated calls are harmless.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.now = self.now.max(now);
    }

    /// What was noticed since the last call. A master that asks several times between two calls is reported once.
    pub fn poll_event(&mut self) -> Option<AnnouncerEvent> {
        self.asked.pop_front().map(AnnouncerEvent::Asked)
    }

    fn next_heartbeat(&self) -> Option<Instant> {
        if !self.queue.is_empty() {
            return Some(self.now);
        }
        (!self.masters.is_empty()).then_some(self.next)
    }
}

impl Machine for Announcer {
    fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        Self::poll_transmit(self, now, out)
    }

    fn handle_datagram(&mut self, now: Instant, from: SocketAddr, datagram: &[u8]) {
        Self::handle_datagram(self, now, from, datagram);
    }

    /// Events do not count: a driver of this trait takes none, and would never sleep.
    fn poll_timeout(&self) -> Option<Instant> {
        self.next_heartbeat()
    }

    fn handle_timeout(&mut self, now: Instant) {
        Self::handle_timeout(self, now);
    }
}

/// How full a server with this status is, when masters list it at all.
fn occupancy(
    status: &ServerStatus,
    options: &server::Options,
    tag_game: Option<&str>,
) -> Result<Occupancy, AnnounceError> {
    // The `infoResponse` that a master gets, with as long a challenge as dpmaster sends.
    let room = options.max_reply.saturating_sub(HEAD).min(MAX_INFO_STRING);
    let info = named((Kind::Info, true), Some(b"0123456789A"), status, options, room);
    Ok(Description::read(InfoString::new(&info.bytes), tag_game)?.occupancy)
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, clippy::arithmetic_side_effects, reason = "virtual time in tests")]
mod tests {
    use super::*;
    use crate::model::Player;

    fn status(players: u32) -> ServerStatus {
        ServerStatus {
            game: Some("Test".into()),
            max_players: Some(8),
            player_count: Some(players),
            ..ServerStatus::default()
        }
    }

    fn announcer(tag: &str, masters: &[&str], now: Instant) -> Announcer {
        let masters = masters.iter().map(|master| master.parse().unwrap());
        Announcer::new(tag, masters, &status(1), &server::Options::default(), now).unwrap()
    }

    fn sent(announcer: &mut Announcer, now: Instant) -> usize {
        std::iter::from_fn(|| announcer.poll_transmit(now, &mut Vec::new())).count()
    }

    const MASTERS: [&str; 2] = ["192.0.2.9:27950", "[2001:db8::9]:27950"];

    #[test]
    fn heartbeats_keep_their_time() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut announcer = announcer("DarkPlaces", &MASTERS, start);
        assert_eq!(announcer.poll_timeout(), Some(start), "the first are due at once");
        assert_eq!(sent(&mut announcer, start), 2);
        assert_eq!(sent(&mut announcer, at(299)), 0);
        assert_eq!(announcer.poll_timeout(), Some(at(300)));
        announcer.handle_timeout(at(300));
        assert!(announcer.poll_transmit(at(300), &mut Vec::new()).is_some());
        assert_eq!(announcer.poll_timeout(), Some(at(300)), "the second waits");
        assert_eq!(sent(&mut announcer, at(300)), 1);
        announcer.close();
        announcer.close();
        assert!(announcer.poll_timeout().is_some_and(|due| due <= at(301)), "the last ones wait");
        assert_eq!(sent(&mut announcer, at(301)), 4);
        assert_eq!((sent(&mut announcer, at(4000)), announcer.poll_timeout()), (0, None));
    }

    #[test]
    fn masters_learn_soon_that_a_server_is_empty_or_full() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut announcer = announcer("DarkPlaces", &MASTERS, start);
        assert_eq!(sent(&mut announcer, start), 2);
        let set = |announcer: &mut Announcer, seconds, players| {
            announcer.set_status(at(seconds), &status(players), &server::Options::default()).unwrap();
        };
        set(&mut announcer, 1, 7);
        assert_eq!(announcer.poll_timeout(), Some(at(300)), "neither empty nor full before and after");
        set(&mut announcer, 2, 8);
        assert_eq!(announcer.poll_timeout(), Some(at(10)), "not more often than every ten seconds");
        assert_eq!(sent(&mut announcer, at(9)), 0);
        assert_eq!(sent(&mut announcer, at(10)), 2);
        set(&mut announcer, 100, 0);
        assert_eq!(sent(&mut announcer, at(100)), 2);
    }

    #[test]
    fn what_masters_demand_is_checked() {
        let check = |tag: &str, change: fn(&mut ServerStatus, &mut server::Options)| {
            let (mut status, mut options) = (status(1), server::Options::default());
            change(&mut status, &mut options);
            Announcer::new(tag, [], &status, &options, Instant::now()).map(drop)
        };
        let missing = |key, field| Err(AnnounceError::Missing { key, field });
        let not_one_word = |key, field| Err(AnnounceError::NotOneWord { key, field });
        assert_eq!(check("DarkPlaces", |_, _| {}), Ok(()));
        assert!(matches!(check("two words", |_, _| {}), Err(AnnounceError::Tag(_))));
        assert_eq!(check("DarkPlaces", |status, _| status.game = None), missing("gamename", "game"));
        assert_eq!(check("QuakeArena-1", |status, _| status.game = None), Ok(()), "the tag names it");
        assert_eq!(check("QuakeArena-1", |_, _| {}), Err(AnnounceError::OtherGame));
        assert_eq!(
            check("DarkPlaces", |status, _| status.game = Some("Two Words".into())),
            not_one_word("gamename", "game")
        );
        assert_eq!(
            check("DarkPlaces", |status, _| status.game_type = Some("a b".into())),
            not_one_word("gametype", "game_type")
        );
        assert_eq!(
            check("DarkPlaces", |status, _| status.player_count = None),
            missing("clients", "player_count")
        );
        let listed: fn(&mut ServerStatus, &mut server::Options) = |status, _| {
            status.player_count = None;
            status.players = Some(vec![Player::new("Ann")]);
        };
        assert_eq!(check("DarkPlaces", listed), Ok(()), "the list is counted");
        for most in [None, Some(0)] {
            let mut status = status(1);
            status.max_players = most;
            let checked =
                Announcer::new("DarkPlaces", [], &status, &server::Options::default(), Instant::now());
            assert_eq!(checked.map(drop), missing("sv_maxclients", "max_players"));
        }
        assert_eq!(
            check("DarkPlaces", |_, options| options.protocol = u32::MAX),
            missing("protocol", "protocol in the options")
        );
        assert_eq!(
            check("DarkPlaces", |_, options| options.max_reply = 60),
            missing("gamename", "game"),
            "what does not fit is not sent"
        );
    }

    #[test]
    fn a_status_that_masters_would_not_list_is_reported() {
        let now = Instant::now();
        let mut announcer = announcer("DarkPlaces", &MASTERS, now);
        let error = announcer.set_status(now, &ServerStatus::default(), &server::Options::default());
        assert_eq!(error, Err(AnnounceError::Missing { key: "gamename", field: "game" }));
        assert_eq!(sent(&mut announcer, now), 2, "heartbeats go on");
    }

    #[test]
    fn requests_of_its_masters_are_noticed() {
        let now = Instant::now();
        let mut announcer = announcer("DarkPlaces", &MASTERS, now);
        assert_eq!(sent(&mut announcer, now), 2);
        let master = "192.0.2.9:27950".parse().unwrap();
        let mut hear = |from: &str, body: &[u8]| {
            announcer.handle_datagram(now, from.parse().unwrap(), &[b"\xff\xff\xff\xff", body].concat());
            let waits = announcer.poll_timeout().is_some_and(|due| due <= now);
            assert!(Machine::poll_timeout(&announcer).is_some_and(|due| due > now));
            let event = announcer.poll_event();
            assert_eq!(event.is_some(), waits, "an event is due at once");
            event
        };
        assert_eq!(hear("192.0.2.9:27950", b"getinfo 8aJ2"), Some(AnnouncerEvent::Asked(master)));
        assert_eq!(hear("[::ffff:192.0.2.9]:27950", b"getstatus"), Some(AnnouncerEvent::Asked(master)));
        assert_eq!(hear("192.0.2.9:27951", b"getinfo 8aJ2"), None, "another port");
        assert_eq!(hear("192.0.2.9:27950", b"infoResponse\n\\a\\b"), None);
        assert_eq!(hear("192.0.2.9:27950", b"getservers 68"), None);
    }

    #[test]
    fn without_masters_nothing_is_sent() {
        let mut nobody = announcer("DarkPlaces", &[], Instant::now());
        assert!(nobody.poll_transmit(Instant::now(), &mut Vec::new()).is_none());
        assert_eq!(nobody.poll_timeout(), None);
    }
}
