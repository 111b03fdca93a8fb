//! Heartbeats, which put a game server on the lists of masters.

use std::collections::{BTreeSet, VecDeque};
use std::net::SocketAddr;

use crate::address::{Scope, canonical};
use crate::error::AnnounceError;
use crate::gamespy1::server::{ServerState, put_heartbeat};
use crate::gamespy1::{self, Command};
use crate::model::ServerStatus;
use crate::model::serving::Occupancy;
use crate::quake3::server::quake2_heartbeat;
use crate::quake3::{self, Request};
use crate::service::Service;
use crate::session::{Handled, Machine, Transmit};
use crate::time::{Duration, Instant, after};

/// Time between two heartbeats. Quake 3 masters forget a server after 15 min, OpenSpy after 10 min.
const INTERVAL: Duration = Duration::from_secs(300);
/// Shortest time between two heartbeats to one master.
const MIN_INTERVAL: Duration = Duration::from_secs(10);
/// The maximum number of masters.
const MAX_MASTERS: usize = 32;

/// Sends heartbeats to masters, so that they list a server.
///
/// A heartbeat is sent at once, then every five minutes, and when the server becomes empty
/// or full.
///
/// The caller owns the clock and the socket. Use the socket that answers queries: masters verify a
/// heartbeat with a query to its sender.
///
/// # After a failure
/// An announcer does not see failures: a heartbeat that is lost, or whose master is unreachable, is
/// sent again at the next interval. It keeps:
///
/// - The time of the latest heartbeats. A change of the status is announced at least ten seconds
///   after them. A new announcer sends its first heartbeats at once.
/// - The masters that asked for the status, until [`Self::poll_event`] reports them.
/// - That [`Self::close`] was called: it cannot be undone.
///
/// ```
/// use std::time::Instant;
/// use queryport::session::Machine;
/// use queryport::serve::Announcer;
/// use queryport::{Protocol, ServerStatus};
///
/// # #[allow(clippy::disallowed_methods)]
/// let now = Instant::now();
/// let master = "192.0.2.9:27950".parse()?;
/// let status = ServerStatus {
///     game: Some("Nexuiz".into()),
///     player_count: Some(0),
///     max_players: Some(8),
///     ..ServerStatus::default()
/// };
/// let mut announcer =
///     Announcer::quake3("DarkPlaces", [master], &status, Protocol::Quake3, now)?;
///
/// let mut out = Vec::new();
/// assert_eq!(announcer.poll_transmit(now, &mut out).unwrap().to, master);
/// assert_eq!(out, b"\xff\xff\xff\xffheartbeat DarkPlaces\n");
///
/// announcer.handle_datagram(now, master, b"\xff\xff\xff\xffgetinfo 8aJ2xyz01234");
/// assert_eq!(announcer.poll_event(), Some(master), "the heartbeat arrived");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Announcer {
    protocol: MasterProtocol,
    masters: Vec<SocketAddr>,
    occupancy: Occupancy,
    /// The heartbeats that are due, and the state that each reports.
    due: VecDeque<(SocketAddr, ServerState)>,
    schedule: Schedule,
    /// Whether [`Self::close`] was called.
    is_closed: bool,
    /// The master of the latest heartbeat.
    latest: Option<SocketAddr>,
    /// Masters that asked for the status, until [`Self::poll_event`] reports them.
    asked: BTreeSet<SocketAddr>,
}

/// When heartbeats are due, and the state that the next ones report.
#[derive(Debug, Clone)]
struct Schedule {
    /// When the latest heartbeats became due; before the first ones, when the announcer started.
    last: Instant,
    next: Instant,
    report: ServerState,
}

/// The protocol of the masters, with the parts of a heartbeat.
#[derive(Debug, Clone)]
enum MasterProtocol {
    Quake3 {
        tag: String,
        service: Service,
    },
    Quake2 {
        heartbeat: Vec<u8>,
    },
    QuakeWorld {
        /// The number of the latest heartbeat.
        sequence: u32,
        players: u32,
    },
    GameSpy1 {
        query_port: u16,
        game: Vec<u8>,
    },
}

impl Announcer {
    /// Heartbeats for Quake 3 masters. The first ones wait in [`Self::poll_transmit`].
    ///
    /// - `tag`: the tag of the game's own servers, such as `QuakeArena-1` for Quake III Arena;
    ///   `DarkPlaces` for every game with a `gamename`.
    /// - `masters`: all IPv4 and IPv6 addresses of each master; the first 32 are kept.
    /// - `status` and `service`: those of the server's responder.
    ///
    /// # Errors
    /// [`AnnounceError`]: why masters would not list the server with this tag and status.
    pub fn quake3(
        tag: &str,
        masters: impl IntoIterator<Item = SocketAddr>,
        status: &ServerStatus,
        service: impl Into<Service>,
        now: Instant,
    ) -> Result<Self, AnnounceError> {
        quake3::master::check_tag(tag)?;
        Self::with_masters(
            MasterProtocol::Quake3 {
                tag: tag.to_owned(),
                service: service.into(),
            },
            masters,
            status,
            now,
        )
    }

    /// Heartbeats for masters of Quake 2 (UDP port 27900): each has the status. The last one is
    /// `shutdown`.
    ///
    /// Masters send `ping` or `status` to the sender. A responder of
    /// [`Format::Quake2`](crate::Format::Quake2) answers both.
    ///
    /// ```
    /// use std::time::Instant;
    /// use queryport::ServerStatus;
    /// use queryport::serve::Announcer;
    /// use queryport::session::Machine;
    ///
    /// # #[allow(clippy::disallowed_methods)]
    /// let now = Instant::now();
    /// let master = "192.0.2.9:27900".parse()?;
    /// let status = ServerStatus { name: Some("Duel".into()), ..ServerStatus::default() };
    /// let mut announcer = Announcer::quake2([master], &status, now);
    /// let mut out = Vec::new();
    /// announcer.poll_transmit(now, &mut out);
    /// assert_eq!(out, b"\xff\xff\xff\xffheartbeat\n\\hostname\\Duel\\protocol\\34\n");
    /// # Ok::<(), std::net::AddrParseError>(())
    /// ```
    pub fn quake2(
        masters: impl IntoIterator<Item = SocketAddr>,
        status: &ServerStatus,
        now: Instant,
    ) -> Self {
        let protocol = MasterProtocol::Quake2 {
            heartbeat: quake2_heartbeat(status),
        };
        Self::start(protocol, masters, occupancy(status), now)
    }

    /// Heartbeats for masters of QuakeWorld (UDP port 27000): `a`, the number of the heartbeat and
    /// the number of players. The last one is `C`. Most masters send no query.
    pub fn quake_world(
        masters: impl IntoIterator<Item = SocketAddr>,
        status: &ServerStatus,
        now: Instant,
    ) -> Self {
        let protocol = MasterProtocol::QuakeWorld {
            sequence: 0,
            players: status.online().unwrap_or(0),
        };
        Self::start(protocol, masters, occupancy(status), now)
    }

    /// Heartbeats for GameSpy v1 masters (UDP port 27900). `query_port`: the port in the list.
    /// Masters send `\secure\` to it, and the responder answers with the game's key, see
    /// [`Service::with_key`].
    ///
    /// ```
    /// use std::time::Instant;
    /// use queryport::session::Machine;
    /// use queryport::ServerStatus;
    /// use queryport::serve::Announcer;
    ///
    /// # #[allow(clippy::disallowed_methods)]
    /// let now = Instant::now();
    /// let master = "192.0.2.9:27900".parse()?;
    /// let status = ServerStatus { game: Some("ut".into()), ..ServerStatus::default() };
    /// let mut announcer = Announcer::gamespy1(7778, [master], &status, now)?;
    /// let mut out = Vec::new();
    /// announcer.poll_transmit(now, &mut out);
    /// assert_eq!(out, br"\heartbeat\7778\gamename\ut");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`AnnounceError::Missing`] without the game's GameSpy name in the status, and
    /// [`AnnounceError::NotOneWord`] for a name with other bytes than letters, digits, `_` and `-`.
    pub fn gamespy1(
        query_port: u16,
        masters: impl IntoIterator<Item = SocketAddr>,
        status: &ServerStatus,
        now: Instant,
    ) -> Result<Self, AnnounceError> {
        Self::with_masters(
            MasterProtocol::GameSpy1 {
                query_port,
                game: Vec::new(),
            },
            masters,
            status,
            now,
        )
    }

    fn with_masters(
        mut protocol: MasterProtocol,
        masters: impl IntoIterator<Item = SocketAddr>,
        status: &ServerStatus,
        now: Instant,
    ) -> Result<Self, AnnounceError> {
        let occupancy = protocol.set_status(status)?;
        Ok(Self::start(protocol, masters, occupancy, now))
    }

    fn start(
        protocol: MasterProtocol,
        masters: impl IntoIterator<Item = SocketAddr>,
        occupancy: Occupancy,
        now: Instant,
    ) -> Self {
        let masters = masters
            .into_iter()
            .filter(|master| Scope::Any.admits(*master));
        Self {
            protocol,
            masters: masters.take(MAX_MASTERS).collect(),
            occupancy,
            due: VecDeque::new(),
            schedule: Schedule {
                last: now,
                next: now,
                report: ServerState::Running,
            },
            is_closed: false,
            latest: None,
            asked: BTreeSet::new(),
        }
    }

    /// Announces a new status.
    ///
    /// If the server has become empty or full, or is no longer empty or full, the masters get a
    /// heartbeat at once, but no more than one every ten seconds.
    ///
    /// # Errors
    /// [`AnnounceError`]: why masters would not list the server with this status. Heartbeats go on
    /// as before.
    pub fn set_status(&mut self, now: Instant, status: &ServerStatus) -> Result<(), AnnounceError> {
        let occupancy = self.protocol.set_status(status)?;
        if std::mem::replace(&mut self.occupancy, occupancy) != occupancy {
            let schedule = &mut self.schedule;
            let earliest = after(schedule.last, MIN_INTERVAL).max(now);
            schedule.next = schedule.next.min(earliest);
            schedule.report = ServerState::Changed;
        }
        Ok(())
    }

    /// Sends the last heartbeats. A GameSpy v1 master gets one that reports the end of the server:
    /// OpenSpy removes the server from its list, 333networks (version 0.28) half an hour later.
    /// Quake 2 and QuakeWorld have a message for it. Quake 3 has none: as the engines do, the
    /// announcer sends two heartbeats. Do not answer queries after them.
    pub fn close(&mut self) {
        if self.is_closed {
            return;
        }
        self.is_closed = true;
        let times = match self.protocol {
            MasterProtocol::Quake3 { .. } => 2,
            _ => 1,
        };
        let not_sent = std::mem::take(&mut self.due).into_iter();
        let masters = not_sent.map(|(master, _)| master);
        let masters = masters.chain(self.masters.repeat(times));
        self.due = masters.map(|master| (master, ServerState::Ended)).collect();
    }

    /// Begins to send the heartbeats that are due.
    fn begin(&mut self, now: Instant) {
        let report = std::mem::replace(&mut self.schedule.report, ServerState::Running);
        self.schedule.last = now;
        self.schedule.next = after(now, INTERVAL);
        if let MasterProtocol::QuakeWorld { sequence, .. } = &mut self.protocol {
            *sequence = sequence.saturating_add(1);
        }
        let masters = self.masters.iter();
        self.due = masters.map(|master| (*master, report)).collect();
    }
}

impl Machine for Announcer {
    /// Appends the next heartbeat to `out` and returns its destination; `None` when none is due.
    fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        if self.due.is_empty() && !self.is_closed && now >= self.schedule.next {
            self.begin(now);
        }
        let (to, report) = self.due.pop_front()?;
        self.latest = Some(to);
        let start = out.len();
        self.protocol.encode(report, out);
        Some(Transmit {
            to,
            len: out.len().saturating_sub(start),
        })
    }

    /// Handles a datagram that arrived at the server's socket. The announcer only records that a
    /// master queried the server; the server must still answer.
    fn handle_datagram(&mut self, _now: Instant, from: SocketAddr, datagram: &[u8]) -> Handled {
        if self.is_closed {
            return Handled::Ignored;
        }
        let from = canonical(from);
        // GameSpy v1 masters also ask from other ports.
        let may_be_other_port = matches!(self.protocol, MasterProtocol::GameSpy1 { .. });
        let is_sender = |master: &&SocketAddr| {
            let master = canonical(**master);
            master == from || (may_be_other_port && master.ip() == from.ip())
        };
        let sender = self.masters.iter().find(is_sender);
        if let Some(master) = sender
            && self.protocol.is_query(datagram)
        {
            self.asked.insert(*master);
        }
        Handled::Ignored
    }

    /// When the next heartbeat is due; `None` after the last one, and without masters.
    fn poll_timeout(&self) -> Option<Instant> {
        if !self.due.is_empty() {
            // The time in the past at which they became due.
            return Some(self.schedule.last);
        }
        let is_over = self.is_closed || self.masters.is_empty();
        (!is_over).then_some(self.schedule.next)
    }

    /// Does nothing: heartbeats become due in [`Self::poll_transmit`].
    fn handle_timeout(&mut self, _now: Instant) {}

    fn announces_to(&self, to: SocketAddr) -> bool {
        self.latest == Some(to)
    }
}

impl Announcer {
    /// The next master that has queried the server, so it has received a heartbeat.
    ///
    /// Call it after each datagram. A master that queries several times between two calls is
    /// reported once.
    pub fn poll_event(&mut self) -> Option<SocketAddr> {
        self.asked.pop_first()
    }
}

impl MasterProtocol {
    /// Checks that masters accept a status, and keeps the values of the status for heartbeats.
    fn set_status(&mut self, status: &ServerStatus) -> Result<Occupancy, AnnounceError> {
        match self {
            Self::Quake3 { tag, service } => {
                return quake3::master::check_status(tag, status, service);
            }
            Self::Quake2 { heartbeat } => *heartbeat = quake2_heartbeat(status),
            Self::QuakeWorld { players, .. } => *players = status.online().unwrap_or(0),
            Self::GameSpy1 { game, .. } => {
                let missing = AnnounceError::Missing {
                    key: "gamename",
                    field: "game",
                };
                let name = status.game.as_ref().map(|game| game.raw()).ok_or(missing)?;
                let is_name_byte = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-".contains(byte);
                if name.is_empty() || !name.iter().all(is_name_byte) {
                    return Err(AnnounceError::NotOneWord {
                        key: "gamename",
                        field: "game",
                    });
                }
                *game = name.to_vec();
            }
        }
        Ok(occupancy(status))
    }

    fn encode(&self, state: ServerState, out: &mut Vec<u8>) {
        match self {
            Self::Quake3 { tag, .. } => quake3::master::encode_heartbeat(tag, out),
            Self::Quake2 { heartbeat } => match state {
                ServerState::Ended => Request::new(quake3::Command::Shutdown).put(out),
                _ => out.extend_from_slice(heartbeat),
            },
            Self::QuakeWorld { sequence, players } => {
                let (sequence, players) = (*sequence, *players);
                let command = match state {
                    ServerState::Ended => quake3::Command::ShortShutdown,
                    _ => quake3::Command::ShortHeartbeat { sequence, players },
                };
                Request::new(command).put(out);
            }
            Self::GameSpy1 { query_port, game } => {
                put_heartbeat(*query_port, game, state, out);
            }
        }
    }

    /// Whether a datagram is one of the queries with which masters verify a heartbeat.
    fn is_query(&self, datagram: &[u8]) -> bool {
        match self {
            Self::GameSpy1 { .. } => {
                let Ok(request) = gamespy1::Request::parse(datagram) else {
                    return false;
                };
                let is_query = |command| matches!(command, Command::Secure(_) | Command::Status);
                request.commands().any(is_query)
            }
            _ => {
                let Ok(request) = Request::parse(datagram) else {
                    return false;
                };
                self.is_quake_query(&request.command)
            }
        }
    }

    fn is_quake_query(&self, command: &quake3::Command<'_>) -> bool {
        use quake3::Command::{GetInfo, GetStatus, Ping, ShortPing, Status};
        match self {
            Self::Quake2 { .. } => matches!(command, Ping | Status { .. }),
            Self::QuakeWorld { .. } => matches!(command, ShortPing | Status { .. }),
            _ => matches!(command, GetInfo { .. } | GetStatus { .. }),
        }
    }
}

fn occupancy(status: &ServerStatus) -> Occupancy {
    Occupancy::new(
        status.online().unwrap_or(0),
        status.max_players.unwrap_or(0),
    )
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "virtual time in tests")]
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

    #[test]
    fn a_status_is_checked_against_the_demands_of_masters() {
        let check = |tag: &str, change: fn(&mut ServerStatus, &mut Service)| {
            let (mut status, mut service) = (status(1), Service::from(crate::Protocol::Quake3));
            change(&mut status, &mut service);
            Announcer::quake3(tag, [], &status, service, Instant::now()).map(drop)
        };
        let missing = |key, field| Err(AnnounceError::Missing { key, field });
        let not_one_word = |key, field| Err(AnnounceError::NotOneWord { key, field });
        assert_eq!(check("DarkPlaces", |_, _| {}), Ok(()));
        assert!(matches!(
            check("two words", |_, _| {}),
            Err(AnnounceError::Tag(_))
        ));
        assert_eq!(
            check("DarkPlaces", |status, _| status.game = None),
            missing("gamename", "game")
        );
        assert_eq!(
            check("QuakeArena-1", |status, _| status.game = None),
            Ok(()),
            "the tag names it"
        );
        assert_eq!(
            check("QuakeArena-1", |_, _| {}),
            Err(AnnounceError::OtherGame)
        );
        assert_eq!(
            check("DarkPlaces", |status, _| status.game =
                Some("Two Words".into())),
            not_one_word("gamename", "game")
        );
        assert_eq!(
            check("DarkPlaces", |status, _| status.game_type =
                Some("a b".into())),
            not_one_word("gametype", "game_type")
        );
        assert_eq!(
            check("DarkPlaces", |status, _| status.player_count = None),
            missing("clients", "player_count")
        );
        let listed: fn(&mut ServerStatus, &mut Service) = |status, _| {
            status.player_count = None;
            status.players = [Player::new("Ann")].into();
        };
        assert_eq!(check("DarkPlaces", listed), Ok(()), "the list is counted");
        for most in [None, Some(0)] {
            let mut status = status(1);
            status.max_players = most;
            let checked = Announcer::quake3(
                "DarkPlaces",
                [],
                &status,
                crate::Protocol::Quake3,
                Instant::now(),
            );
            assert_eq!(checked.map(drop), missing("sv_maxclients", "max_players"));
        }
        assert_eq!(
            check("DarkPlaces", |_, service| service.protocol_version =
                u32::MAX),
            missing("protocol", "protocol_version")
        );
        assert_eq!(
            check("DarkPlaces", |_, service| service.max_reply = 60),
            missing("gamename", "game"),
            "what does not fit is not sent"
        );
    }

    #[test]
    fn gamespy1_masters_demand_a_name_of_the_game() {
        let check = |game: Option<&str>| {
            let status = ServerStatus {
                game: game.map(Into::into),
                ..status(1)
            };
            Announcer::gamespy1(7778, [], &status, Instant::now()).map(drop)
        };
        assert_eq!(check(Some("ut")), Ok(()));
        assert_eq!(
            check(None),
            Err(AnnounceError::Missing {
                key: "gamename",
                field: "game"
            })
        );
        for name in ["", "two words", r"a\b"] {
            let error = AnnounceError::NotOneWord {
                key: "gamename",
                field: "game",
            };
            assert_eq!(check(Some(name)), Err(error), "{name}");
        }
    }
}
