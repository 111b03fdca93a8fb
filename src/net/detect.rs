//! Servers whose port or protocol is unknown: detection of a host's protocols, and queries by game.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use super::error::Error;
use super::exchange::{Ended, Exchanges};
use super::io::Io;
use super::querier::{ANY_PORT, Querier};
use super::server::Server;
use crate::error::QueryError;
use crate::model::{ServerStatus, ToStatus};
use crate::options::{Dialect, QueryOptions};
use crate::protocol::Protocol;
use crate::session::Outcome;
use crate::status_query::{Answer, StatusQuery};
use crate::time::{after, earlier};
#[cfg(feature = "games")]
use {
    super::querier::HostAddresses, crate::games::Certainty, crate::games::Game,
    crate::games::QueryPort,
};

/// A server that was found: its answer, protocol and game.
///
/// [`Client::query_game`](crate::Client::query_game) returns one,
/// [`Client::detect`](crate::Client::detect) several.
///
/// With the feature `serde`, its parts can be written as JSON:
///
/// ```
/// # #[cfg(all(feature = "games", feature = "serde"))] mod example {
/// use queryport::net::Found;
/// use serde_json::{Value, json};
///
/// fn written(found: &Found) -> Value {
///     let game = found.game().map(|game| game.id);
///     json!({"protocol": found.protocol, "game": game, "outcome": found.outcome})
/// }
/// # }
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Found {
    /// The protocol.
    pub protocol: Protocol,
    /// The answer, with the address and query port that sent it.
    pub outcome: Outcome<ServerStatus>,
    #[cfg(feature = "games")]
    other_game: Option<&'static Game>,
    /// The requested game.
    #[cfg(feature = "games")]
    wanted: Option<&'static Game>,
}

impl Found {
    pub(super) fn new(protocol: Protocol, outcome: Outcome<Answer>) -> Self {
        Self {
            protocol,
            outcome: outcome.map(|answer| answer.to_status()),
            #[cfg(feature = "games")]
            other_game: None,
            #[cfg(feature = "games")]
            wanted: None,
        }
    }
}

#[cfg(feature = "games")]
impl Found {
    /// The game: after a query of a game [`Self::other_game`], else the requested one; after
    /// [`Client::detect`](crate::Client::detect) the one in the answer, see [`Game::of`].
    pub fn game(&self) -> Option<&'static Game> {
        self.other_game
            .or(self.wanted)
            .or_else(|| self.game_in_answer())
    }

    /// The game in the answer, if it is not the requested one.
    ///
    /// `None` after [`Client::detect`](crate::Client::detect), which requests no game.
    pub const fn other_game(&self) -> Option<&'static Game> {
        self.other_game
    }

    fn game_in_answer(&self) -> Option<&'static Game> {
        Game::of(&self.outcome.answer, self.protocol)
    }

    /// The error for an answer from another server.
    pub(super) fn other_server(&self) -> Error {
        Error::OtherServer {
            peer: self.outcome.peer,
            game: self.game_in_answer().map(|game| game.id),
            game_port: self.outcome.answer.game_port,
        }
    }
}

/// The time between two requests to one host. Few packet filters count this as a flood.
const GAP: Duration = Duration::from_millis(20);
/// How long others may still answer after the first answer.
const AFTER_FIRST: Duration = Duration::from_millis(500);

/// Query ports of well-known games, most common first.
const PORTS: [(Protocol, &[u16]); 4] = [
    // Quake III Arena and most of its family; Call of Duty; Nexuiz and Xonotic; Jedi Academy. Enemy
    // Territory shares the first. Another server on a host takes the next port (ioquake/ioq3,
    // `NET_OpenIP` of code/qcommon/net_ip.c).
    (
        Protocol::Quake3,
        &[27960, 28960, 26000, 29070, 27961, 27962, 27963],
    ),
    // Unreal Tournament; Battlefield 1942; Medal of Honor; UT2004's side port.
    (Protocol::GameSpy1, &[7778, 23000, 12300, 7787]),
    // Unreal Tournament 3; Minecraft; Battlefield 2; a second server of Unreal Tournament 3, at a
    // port 100 higher or at the next free one.
    (Protocol::GameSpy4, &[6500, 25565, 29900, 6600, 6501]),
    // UT2004; Killing Floor.
    (Protocol::Ut2004, &[7778, 7708]),
];

/// Why a server of a game cannot be queried.
#[cfg(feature = "games")]
const NO_PORT: &str = "the game has no default port, and no port is given";

/// A port where a server may answer, and the request to send there.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    protocol: Protocol,
    port: u16,
    options: QueryOptions,
}

impl Candidate {
    /// The request to this port of a host, whatever port its address has.
    const fn at(self, mut peer: SocketAddr) -> Attempt {
        peer.set_port(self.port);
        Attempt {
            protocol: self.protocol,
            peer,
            options: self.options,
        }
    }
}

/// A request to one address.
#[derive(Debug, Clone, Copy)]
struct Attempt {
    protocol: Protocol,
    peer: SocketAddr,
    options: QueryOptions,
}

impl Querier {
    /// See `Client::detect`.
    pub(super) async fn detect_over<I: Io>(&self, host: &Server) -> Result<Vec<Found>, Error> {
        let given = host.given_port()?;
        let asked_at = I::now();
        let addresses = self.look_up::<I>(host, ANY_PORT).await?;
        let candidates = ports_of_all(given, self.options);
        let attempts = candidates
            .into_iter()
            .map(|candidate| candidate.at(addresses.address));
        let mut queries = Staggered::<I>::new(self, attempts.collect(), GAP, addresses.deadline);
        let mut detected = Vec::new();
        let mut failed = None;
        let mut until = addresses.deadline;
        while let Some((_, result)) = queries.next(Some(until)).await {
            match result {
                Ok(answer) => {
                    if !detected.iter().any(|known| is_same(known, &answer)) {
                        detected.push(answer);
                    }
                    until = until.min(after(I::now(), AFTER_FIRST));
                }
                Err(error @ Error::Io { .. }) => failed = Some(error),
                Err(_) => {}
            }
        }
        let failed = failed.or_else(|| queries.none_started(asked_at));
        match failed {
            // An empty list means that ports were tried, and none answered.
            Some(error) if detected.is_empty() => Err(error),
            _ => Ok(detected),
        }
    }

    /// See `Client::query_game`.
    #[cfg(feature = "games")]
    pub(super) async fn query_game_over<I: Io>(
        &self,
        game: &Game,
        server: &Server,
    ) -> Result<Found, Error> {
        let asked_at = I::now();
        let given = server.given_port()?;
        let bad = |why| Error::BadAddress {
            text: server.to_string(),
            why,
        };
        let candidates = ports_of_game(game, given, self.options.of_game(game.dialect));
        if candidates.is_empty() {
            return Err(bad(NO_PORT));
        }
        let addresses = self.look_up::<I>(server, ANY_PORT).await?;
        let mut attempts = Vec::new();
        for candidate in candidates {
            for host in addresses.iter() {
                attempts.push(candidate.at(host));
            }
        }
        let wanted = Wanted { game, given };
        let answered = self
            .first_answer::<I>(wanted, attempts, asked_at, addresses.deadline)
            .await;
        answered.unwrap_or_else(|| Err(bad(NO_PORT)))
    }

    /// Queries those servers of a list that are at this host. See `Client::query_listed`.
    #[cfg(feature = "games")]
    pub(super) async fn query_listed_over<I: Io>(
        &self,
        game: &Game,
        server: &Server,
        addresses: HostAddresses,
        mut listed: Vec<SocketAddr>,
    ) -> Result<Option<Found>, Error> {
        let given = server.given_port()?;
        listed.retain(|server| addresses.iter().any(|host| host.ip() == server.ip()));
        // The ports nearest to the given one come first, else the lowest.
        let near = given.unwrap_or_default();
        listed.sort_by_key(|server| server.port().abs_diff(near));
        let options = self.options.of_game(game.dialect);
        let attempts = listed.into_iter().map(|peer| Attempt {
            protocol: game.protocol,
            peer,
            options,
        });
        let wanted = Wanted { game, given };
        let asked_at = I::now();
        let deadline = after(asked_at, self.deadline);
        self.first_answer::<I>(wanted, attempts.collect(), asked_at, deadline)
            .await
            .transpose()
    }

    /// Tries ports one after the other, without waiting long for a silent one. Returns the first
    /// answer, else the error of the first port; `None` without any port. `asked_at`: when the
    /// caller's wait began.
    #[cfg(feature = "games")]
    async fn first_answer<I: Io>(
        &self,
        wanted: Wanted<'_>,
        mut attempts: Vec<Attempt>,
        asked_at: Instant,
        deadline: Instant,
    ) -> Option<Result<Found, Error>> {
        attempts.truncate(MAX_ATTEMPTS);
        let mut queries = Staggered::<I>::new(self, attempts, STAGGER, deadline);
        let game = wanted.game;
        let mut first_number = usize::MAX;
        let mut first_error = None;
        // The queries end by themselves at the deadline.
        while let Some((number, result)) = queries.next(None).await {
            let error = match result {
                Ok(mut found) if wanted.accepts(&found) => {
                    found.other_game = game.other_game(&found.outcome.answer, found.protocol);
                    found.wanted = Game::all().find(|known| known.id == game.id);
                    return Some(Ok(found));
                }
                Ok(found) => found.other_server(),
                Err(error) => error,
            };
            if number < first_number {
                first_number = number;
                first_error = Some(error);
            }
            // Only a silent port makes the next one wait.
            queries.next_at = I::now();
        }
        first_error
            .or_else(|| queries.none_started(asked_at))
            .map(Err)
    }
}

/// How long to wait for one port before the next is tried.
#[cfg(feature = "games")]
const STAGGER: Duration = Duration::from_millis(600);
/// The maximum number of requests to different ports and addresses of a host.
#[cfg(feature = "games")]
const MAX_ATTEMPTS: usize = 32;

/// Queries that start one after the other.
struct Staggered<'a, I: Io> {
    client: &'a Querier,
    attempts: Vec<Attempt>,
    /// How many of them have started.
    started: usize,
    next_at: Instant,
    gap: Duration,
    deadline: Instant,
    running: Exchanges<I, StatusQuery>,
}

impl<'a, I: Io> Staggered<'a, I> {
    fn new(client: &'a Querier, attempts: Vec<Attempt>, gap: Duration, deadline: Instant) -> Self {
        let running = Exchanges::new(client.local, client.late_replies.clone());
        Self {
            client,
            attempts,
            started: 0,
            next_at: I::now(),
            gap,
            deadline,
            running,
        }
    }

    /// The position and the result of the next query that ends; `None` if none ends by then, or all
    /// have ended before.
    async fn next(&mut self, until: Option<Instant>) -> Option<(usize, Result<Found, Error>)> {
        loop {
            let now = I::now();
            let next_attempt = if now < self.deadline {
                self.attempts.get(self.started).copied()
            } else {
                None
            };
            let is_over = until.is_some_and(|until| until <= now);
            let have_all_ended = next_attempt.is_none() && self.running.is_empty();
            if is_over || have_all_ended {
                return None;
            }
            let ended = match next_attempt {
                Some(attempt) if self.next_at <= now => self.start(attempt, now).await,
                Some(_) => {
                    let until_next = earlier(until, Some(self.next_at));
                    self.running.step_until(until_next).await
                }
                None => self.running.step_until(until).await,
            };
            if let Some(Ended { number, result }) = ended {
                let protocol = self.attempts.get(number)?.protocol;
                return Some((number, result.map(|answer| Found::new(protocol, answer))));
            }
        }
    }

    /// Starts a query. Returns its end if it ends immediately.
    async fn start(&mut self, attempt: Attempt, now: Instant) -> Option<Ended<Answer>> {
        let Attempt {
            protocol,
            peer,
            options,
        } = attempt;
        let query = StatusQuery::new(protocol, self.client.nonce(peer), &options);
        let client_timing = self.client.timing;
        let left = self.deadline.saturating_duration_since(now);
        let timing = client_timing.with_timeout(client_timing.timeout().min(left));
        let number = self.started;
        let started = self.running.start(number, peer, query, timing).await;
        self.started = number.saturating_add(1);
        self.next_at = after(I::now(), self.gap);
        started.err().map(|error| Ended {
            number,
            result: Err(error),
        })
    }

    /// The error if the deadline came before the first query.
    fn none_started(&self, asked_at: Instant) -> Option<Error> {
        let first = self.attempts.first().filter(|_| self.started == 0)?;
        let waited = I::now().saturating_duration_since(asked_at);
        let error = QueryError::Timeout {
            requests: 0,
            waited,
        };
        let peer = first.peer;
        Some(Error::Query { peer, error })
    }
}

/// Whether one server gave both answers, in the same protocol.
fn is_same(one: &Found, other: &Found) -> bool {
    one.protocol == other.protocol && one.outcome.peer == other.outcome.peer
}

/// Adds a port, unless the same request is already sent there.
fn add_if_new(candidates: &mut Vec<Candidate>, candidate: Candidate) {
    let key = |candidate: &Candidate| {
        let Candidate { protocol, port, .. } = *candidate;
        (protocol, port, same_request(candidate.options.dialect))
    };
    let is_known = candidates.iter().any(|known| key(known) == key(&candidate));
    if candidate.port != 0 && !is_known {
        candidates.push(candidate);
    }
}

/// A dialect whose request servers of this dialect answer. Servers of Quake 2 and QuakeWorld do not
/// answer the request of Quake 3.
const fn same_request(dialect: Dialect) -> Dialect {
    match dialect {
        Dialect::Quake2 | Dialect::QuakeWorld => Dialect::QuakeWorld,
        _ => Dialect::Standard,
    }
}

/// The ports for all protocols, in the order of attempts.
fn ports_of_all(given: Option<u16>, options: QueryOptions) -> Vec<Candidate> {
    let mut candidates = Vec::new();
    let mut add = |protocol, port, options| {
        let candidate = Candidate {
            protocol,
            port,
            options,
        };
        add_if_new(&mut candidates, candidate);
    };
    if let Some(port) = given {
        for protocol in Protocol::ALL {
            add(protocol, port, options);
        }
        // Quake 2's servers answer the request of QuakeWorld too.
        let quake_world = options.with_dialect(Dialect::QuakeWorld);
        add(Protocol::Quake3, port, quake_world);
        // The query port that belongs to this game port.
        for offset in [1, 10] {
            if let Some(query_port) = port.checked_add(offset) {
                add(Protocol::GameSpy1, query_port, options);
                add(Protocol::Ut2004, query_port, options);
            }
        }
        return candidates;
    }
    let lengths = PORTS.iter().map(|(_, ports)| ports.len());
    for rank in 0..lengths.max().unwrap_or_default() {
        for (protocol, ports) in PORTS {
            if let Some(port) = ports.get(rank) {
                add(protocol, *port, options);
            }
        }
    }
    #[cfg(feature = "games")]
    for game in Game::all().filter(|game| game.certainty() >= Certainty::Listed) {
        if let Some(port) = game.default_query_port() {
            add(game.protocol, port, options.of_game(game.dialect));
        }
    }
    candidates
}

/// The wanted server of a game.
#[cfg(feature = "games")]
#[derive(Clone, Copy)]
struct Wanted<'a> {
    game: &'a Game,
    /// The port given with the host.
    given: Option<u16>,
}

#[cfg(feature = "games")]
impl Wanted<'_> {
    /// Whether an answer comes from the wanted server. At a port that another server may use, the
    /// answer must fit.
    fn accepts(&self, found: &Found) -> bool {
        if self.is_certain(found.protocol, found.outcome.peer.port()) {
            return true;
        }
        let is_other_port = match (self.given, found.outcome.answer.game_port) {
            (Some(given), Some(game_port)) => given != game_port,
            _ => false,
        };
        let other_game = self.game.other_game(&found.outcome.answer, found.protocol);
        !is_other_port && other_game.is_none()
    }

    /// Whether any server that answers at this port is the wanted one.
    fn is_certain(&self, protocol: Protocol, port: u16) -> bool {
        let Self { game, given } = *self;
        // All servers of a host can share a fixed query port, whatever game port was given.
        let is_shared = matches!(game.query_port, QueryPort::Fixed(_)) && given.is_some();
        let query_port = game.query_port.at(given.or(game.game_port));
        let is_query_port = query_port == Some(port) && !is_shared;
        protocol == game.protocol && (given == Some(port) || is_query_port)
    }
}

/// The ports for a game, in the order of attempts.
#[cfg(feature = "games")]
fn ports_of_game(game: &Game, given: Option<u16>, options: QueryOptions) -> Vec<Candidate> {
    let mut candidates = Vec::new();
    let mut add = |protocol, port: Option<u16>| {
        let Some(port) = port else { return };
        let candidate = Candidate {
            protocol,
            port,
            options,
        };
        add_if_new(&mut candidates, candidate);
    };
    // The given port itself, if no rule applies to it.
    if game.game_port.is_none() {
        add(game.protocol, given);
    }
    let game_port = given.or(game.game_port);
    add(game.protocol, game.query_port.at(game_port));
    for (protocol, rule) in game.also_at {
        add(*protocol, rule.at(game_port));
    }
    if given.is_some() {
        add(game.protocol, given);
        return candidates;
    }
    for port in game.further_query_ports() {
        add(game.protocol, Some(port));
    }
    candidates
}

/// The likeliest query port of a game's server, from its game port. Without one, the game's default
/// applies.
#[cfg(feature = "games")]
pub(super) fn query_port(
    game: &Game,
    game_port: Option<u16>,
    server: &Server,
) -> Result<u16, Error> {
    let candidates = ports_of_game(game, game_port, QueryOptions::default());
    match candidates.first() {
        Some(likeliest) => Ok(likeliest.port),
        None => Err(Error::BadAddress {
            text: server.to_string(),
            why: NO_PORT,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_protocol_is_tried_at_its_commonest_port_first() {
        let at = |given| -> Vec<(Protocol, u16)> {
            let candidates = ports_of_all(given, QueryOptions::default());
            candidates
                .into_iter()
                .map(|candidate| (candidate.protocol, candidate.port))
                .collect()
        };
        let all = at(None);
        for (protocol, port) in &all[..4] {
            assert_eq!(*port, protocol.default_query_port());
        }
        let known: Vec<u16> = all.iter().take(18).map(|(_, port)| *port).collect();
        assert_eq!(
            known,
            [
                // One port of each protocol, in turn.
                27960, 7778, 6500, 7778, 28960, 23000, 25565, 7708, 26000, 12300, 29900, 29070,
                7787, 6600, 27961, 6501, 27962, 27963
            ]
        );
        #[cfg(feature = "games")]
        for known in [
            (Protocol::GameSpy1, 10481),
            (Protocol::GameSpy1, 15425),
            (Protocol::Quake3, 44400),
            (Protocol::GameSpy4, 19132),
        ] {
            assert!(all.contains(&known), "{known:?}");
        }
        use Protocol::{GameSpy1, Ut2004};
        let after_given: Vec<_> = at(Some(7777)).into_iter().skip(5).collect();
        assert_eq!(
            after_given,
            [
                (GameSpy1, 7778),
                (Ut2004, 7778),
                (GameSpy1, 7787),
                (Ut2004, 7787)
            ]
        );
        for dialect in [Dialect::Quake2, Dialect::QuakeWorld] {
            let options = QueryOptions::default().with_dialect(dialect);
            let candidates = ports_of_all(Some(7777), options);
            assert_eq!(candidates.len(), 8, "{dialect:?}: one request for both");
        }
        let last = at(Some(u16::MAX));
        assert_eq!(
            last.len(),
            5,
            "QuakeWorld is tried too, and no port after the last"
        );
    }

    #[cfg(feature = "games")]
    fn ports(game: &str, given: Option<u16>) -> Vec<(Protocol, u16, bool)> {
        let game = Game::find(game).unwrap();
        let wanted = Wanted { game, given };
        let candidates = ports_of_game(game, given, QueryOptions::default());
        candidates
            .iter()
            .map(|Candidate { protocol, port, .. }| {
                (*protocol, *port, wanted.is_certain(*protocol, *port))
            })
            .collect()
    }

    #[cfg(feature = "games")]
    #[test]
    fn ports_follow_the_rule_then_what_real_servers_do_then_the_given_port() {
        use Protocol::{GameSpy1, GameSpy4, Quake3, Ut2004};
        let openarena = [
            (Quake3, 27960, true),
            (Quake3, 27961, false),
            (Quake3, 27962, false),
            (Quake3, 27963, false),
        ];
        assert_eq!(ports("openarena", None), openarena);
        assert_eq!(ports("openarena", Some(5)), [(Quake3, 5, true)]);
        let ut2004 = [
            (Ut2004, 7798, true),
            (GameSpy1, 7807, false),
            (Ut2004, 7797, true),
        ];
        assert_eq!(ports("ut2004", Some(7797)), ut2004);
        let bf2 = [
            (GameSpy4, 29900, false),
            (GameSpy4, 29901, false),
            (GameSpy4, 16568, true),
        ];
        assert_eq!(ports("bf2", Some(16568)), bf2);
        let ut3 = [
            (GameSpy4, 6500, true),
            (GameSpy4, 7788, false),
            (GameSpy4, 6501, false),
            (GameSpy4, 6502, false),
            (GameSpy4, 6600, false),
            (GameSpy4, 6700, false),
        ];
        assert_eq!(ports("ut3", None), ut3);
        let elsewhere = ports("ut3", Some(7900));
        assert_eq!(elsewhere[0], (GameSpy4, 6623, true));
        assert!(elsewhere.contains(&(GameSpy4, 6500, false)));
        assert_eq!(
            ports("shogo", Some(27000)),
            [(GameSpy1, 27000, true), (GameSpy1, 27888, false)]
        );
        assert_eq!(
            ports("ut", Some(u16::MAX)),
            [(GameSpy1, u16::MAX, true)],
            "no port after the last"
        );
    }
}
