//! Servers at one of several ports: which protocol a host speaks, and a server by the name of its game.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout_at};

use super::client::Client;
use super::error::Error;
#[cfg(feature = "games")]
use super::lists::Listed;
use super::server::Server;
#[cfg(feature = "games")]
use crate::games::{Certainty, Game, QueryPort};
#[cfg(feature = "games")]
use crate::lists::Scope;
use crate::model::{ServerStatus, ToStatus};
use crate::options::QueryOptions;
use crate::protocol::Protocol;
use crate::session::Outcome;
use crate::status_query::StatusQuery;

/// An answer and the protocol it came in, see [`Client::detect`].
///
/// ```
/// use queryport::net::Detected;
///
/// fn line(found: &Detected) -> String {
///     format!("{} on {}", found.protocol, found.outcome.peer)
/// }
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Detected {
    /// The protocol.
    pub protocol: Protocol,
    /// The answer, with the address and query port it came from.
    pub outcome: Outcome<ServerStatus>,
}

#[cfg(feature = "games")]
#[cfg_attr(docsrs, doc(cfg(feature = "games")))]
impl Detected {
    /// The game, as far as the answer tells, see [`Game::of`].
    #[must_use]
    pub fn game(&self) -> Option<&'static Game> {
        Game::of(&self.outcome.answer, self.protocol)
    }
}

/// Between two requests to one host: few packet filters count so few as a flood.
const GAP: Duration = Duration::from_millis(20);
/// How long others may still answer after the first has.
const AFTER_FIRST: Duration = Duration::from_millis(500);

/// Query ports of well-known games, the commonest first.
const PORTS: [(Protocol, &[u16]); 4] = [
    // Quake III Arena and most of its family; Call of Duty; Nexuiz and Xonotic; Jedi Academy; Enemy Territory runs on
    // the first.
    (Protocol::Quake3, &[27960, 28960, 26000, 29070]),
    // Unreal Tournament; Battlefield 1942; Medal of Honor; UT2004's side port.
    (Protocol::GameSpy1, &[7778, 23000, 12300, 7787]),
    // Unreal Tournament 3; Minecraft; Battlefield 2.
    (Protocol::GameSpy4, &[6500, 25565, 29900]),
    // UT2004; Killing Floor.
    (Protocol::Ut2004, &[7778, 7708]),
];

/// Why a server of a game cannot be queried.
#[cfg(feature = "games")]
const NO_PORT: &str = "the game has no default port, and no port is given";
/// How long one port of a game's server has the host to itself before the next is tried.
#[cfg(feature = "games")]
const STAGGER: Duration = Duration::from_millis(600);
/// Most requests for a game's server to different ports and addresses of one host.
#[cfg(feature = "games")]
const MAX_ATTEMPTS: usize = 10;

/// Where a server may answer, and how it is asked.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    protocol: Protocol,
    port: u16,
    options: QueryOptions,
    /// Whatever answers there is the server that was meant.
    #[cfg_attr(not(feature = "games"), allow(dead_code, reason = "all are, without a game"))]
    is_certain: bool,
}

impl Client {
    /// Tries every protocol at the likely ports of a host at once, and returns those that answered, the first answer first: the
    /// ports of well-known games, then (feature `games`) the default query ports of all games with living or listed masters.
    /// With `:port`, that port is tried, and for GameSpy v1 and UT2004 the ones behind it: their query port is the game port
    /// plus 1 or plus 10.
    ///
    /// Each port gets one request per protocol, 20 ms apart, and no retry before a second has passed. It ends half a second
    /// after the first answer, or with the client's deadline. Of a name with several addresses, the first is tried.
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), queryport::Error> {
    /// for detected in queryport::Client::new()?.detect("example.org").await? {
    ///     println!("{} at {}", detected.protocol, detected.outcome.peer);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the host has no address, or the text names none. A host that does not answer gives an empty list.
    pub async fn detect(&self, host: impl Into<Server>) -> Result<Vec<Detected>, Error> {
        let host = host.into();
        let given = host.given_port()?;
        let attempts = self.attempts(&host, 1).await?;
        let deadline = attempts.deadline;
        let mut queries = JoinSet::new();
        for (number, candidate) in (0_u32..).zip(ports_of_all(given, self.options)) {
            let query = self.clone().ask_candidate(candidate, attempts.address.ip(), deadline);
            queries.spawn(async move {
                sleep(GAP.saturating_mul(number)).await;
                query.await
            });
        }
        let (mut detected, mut until) = (Vec::new(), deadline);
        while let Ok(Some(ended)) = timeout_at(until, queries.join_next()).await {
            if let Ok(Ok(answer)) = ended {
                detected.push(answer);
                let soon = Instant::now().checked_add(AFTER_FIRST).unwrap_or(deadline);
                until = until.min(soon);
            }
        }
        Ok(detected)
    }

    /// Queries a server by its game: `server` is a host name or address, with the port that players connect to where it is
    /// not the game's default.
    ///
    /// The request goes to the query port that [`Game::query_port`] gives. If no answer comes within 0.6 s, the ports of
    /// [`Game::also_at`] follow one by one, then the given port itself, for people who know the query port; the first answer
    /// ends it. An answer from one of these other ports counts only if it says no other game port and no other game.
    /// [`Outcome::peer`](crate::Outcome::peer) is the address that answered; nothing is remembered. Lists are not asked, see
    /// [`Self::query_listed`].
    ///
    /// SRV records (`_minecraft._tcp`) are not looked up: the system's resolver has no call for them, and hickory-resolver brings
    /// 55 crates that this crate does not have. They hold the game port; the query port can be another one anyway.
    ///
    /// ```no_run
    /// use queryport::Client;
    /// use queryport::games::Game;
    ///
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// let found = Client::new()?
    ///     .query_game(Game::find("battlefield 2")?, "example.org:16568")
    ///     .await?;
    /// println!(
    ///     "{} at {}",
    ///     found.outcome.answer.name.unwrap_or_default(),
    ///     found.outcome.peer
    /// );
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// See [`Error::kind`]; the error of the first port. [`Error::BadAddress`] where the game has no default port and
    /// `server` has none.
    #[cfg(feature = "games")]
    #[cfg_attr(docsrs, doc(cfg(feature = "games")))]
    pub async fn query_game(&self, game: &Game, server: impl Into<Server>) -> Result<Detected, Error> {
        let server = server.into();
        let given = server.given_port()?;
        let candidates = ports_of_game(game, given, self.options.of_game(game.dialect));
        let bad = |why| Error::BadAddress { text: server.to_string(), why };
        if candidates.is_empty() {
            return Err(bad(NO_PORT));
        }
        let found = self.attempts(&server, 1).await?;
        let attempts = candidates.iter().flat_map(|candidate| found.hosts().map(|host| (*candidate, host)));
        let answered = self.first_answer(game, given, attempts, found.deadline).await;
        answered.unwrap_or_else(|| Err(bad("the time is over")))
    }

    /// Queries a server by its game at the ports under which the game's list servers name its host, for servers that
    /// [`Self::query_game`] does not find: lists of GameSpy v1, GameSpy v2 and UT2004 have query ports.
    ///
    /// The list servers are asked as by [`Self::servers`], once a minute at most, and each list may take as long as
    /// [`Self::with_deadline`] says. Up to ten ports of the host are then queried, those nearest to the given port first. An
    /// answer counts only if it says no other game port and no other game. `None`: no list names the host.
    ///
    /// ```no_run
    /// use queryport::Client;
    /// use queryport::games::Game;
    ///
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// let (client, game) = (Client::new()?, Game::find("mohaa")?);
    /// if client.query_game(game, "example.org:12210").await.is_err()
    ///     && let Some(found) = client.query_listed(game, "example.org:12210").await?
    /// {
    ///     println!("the query port is {}", found.outcome.peer.port());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As of [`Self::query_game`] and [`Self::servers`].
    #[cfg(feature = "games")]
    #[cfg_attr(docsrs, doc(cfg(feature = "games")))]
    pub async fn query_listed(
        &self,
        game: &Game,
        server: impl Into<Server>,
    ) -> Result<Option<Detected>, Error> {
        let server = server.into();
        let given = server.given_port()?;
        let found = self.attempts(&server, 1).await?;
        let hosts: Vec<IpAddr> = found.hosts().collect();
        // The host is the caller's, wherever it is.
        let mut servers = self.servers(game)?.with_scope(Scope::Any).with_timeout(self.deadline);
        let mut listed = Vec::new();
        while let Some(Listed { server, .. }) = servers.next().await {
            listed.extend(Some(server).filter(|server| hosts.contains(&server.ip())));
        }
        listed.sort_by_key(|server| server.port().abs_diff(given.unwrap_or_default()));
        let options = self.options.of_game(game.dialect);
        let attempts = listed.into_iter().map(|server| {
            let port = server.port();
            (Candidate { protocol: game.protocol, port, options, is_certain: false }, server.ip())
        });
        let deadline = Instant::now().checked_add(self.deadline).unwrap_or(found.deadline);
        self.first_answer(game, given, attempts, deadline).await.transpose()
    }

    /// Tries ports one after the other, those that are silent go on; `None` without any.
    #[cfg(feature = "games")]
    async fn first_answer(
        &self,
        game: &Game,
        given: Option<u16>,
        attempts: impl Iterator<Item = (Candidate, IpAddr)>,
        deadline: Instant,
    ) -> Option<Result<Detected, Error>> {
        let mut waiting = (0_usize..).zip(attempts.take(MAX_ATTEMPTS));
        let mut queries = JoinSet::new();
        let mut first: Option<(usize, Error)> = None;
        loop {
            // The queries end by themselves at the deadline.
            let mut until = None;
            if let Some((number, (candidate, ip))) = waiting.next().filter(|_| Instant::now() < deadline) {
                let query = self.clone().ask_candidate(candidate, ip, deadline);
                queries.spawn(async move { (number, candidate, query.await) });
                until = Instant::now().checked_add(STAGGER);
            }
            let ended = match until {
                None => queries.join_next().await,
                Some(next_is_due) => match timeout_at(next_is_due, queries.join_next()).await {
                    Ok(ended) => ended,
                    Err(_elapsed) => continue,
                },
            };
            let (number, error) = match ended {
                Some(Ok((number, candidate, Ok(found)))) => {
                    if candidate.is_certain || is_meant(game, given, &found) {
                        return Some(Ok(found));
                    }
                    let peer = found.outcome.peer;
                    let game_port = found.outcome.answer.game_port;
                    (number, Error::OtherServer { peer, game: found.game().map(|game| game.id), game_port })
                }
                Some(Ok((number, _, Err(error)))) => (number, error),
                Some(Err(_cancelled)) => continue,
                None => break,
            };
            if first.as_ref().is_none_or(|(before, _)| number < *before) {
                first = Some((number, error));
            }
        }
        first.map(|(_, error)| Err(error))
    }

    /// Asks at one port.
    async fn ask_candidate(
        self,
        candidate: Candidate,
        ip: IpAddr,
        deadline: Instant,
    ) -> Result<Detected, Error> {
        let Candidate { protocol, port, options, .. } = candidate;
        let server = SocketAddr::new(ip, port);
        let query = StatusQuery::new(protocol, self.nonce(server), &options);
        let left = deadline.saturating_duration_since(Instant::now());
        let timing = self.timing.with_timeout(left.min(self.timing.timeout()));
        let outcome = self.ask_within(server, query, timing).await?;
        Ok(Detected { protocol, outcome: outcome.map(|answer| answer.to_status()) })
    }
}

/// Adds a port, unless it is known.
fn add(candidates: &mut Vec<Candidate>, candidate: Candidate) {
    let key = |candidate: &Candidate| (candidate.protocol, candidate.port);
    if candidate.port != 0 && !candidates.iter().any(|known| key(known) == key(&candidate)) {
        candidates.push(candidate);
    }
}

/// The ports for all protocols, in the order in which they are tried.
fn ports_of_all(given: Option<u16>, options: QueryOptions) -> Vec<Candidate> {
    let mut candidates = Vec::new();
    let mut add = |protocol, port, options| {
        add(&mut candidates, Candidate { protocol, port, options, is_certain: true });
    };
    if let Some(port) = given {
        Protocol::ALL.into_iter().for_each(|protocol| add(protocol, port, options));
        for behind in [1, 10].into_iter().filter_map(|offset| port.checked_add(offset)) {
            add(Protocol::GameSpy1, behind, options);
            add(Protocol::Ut2004, behind, options);
        }
        return candidates;
    }
    let widest = PORTS.iter().map(|(_, ports)| ports.len()).max().unwrap_or_default();
    for n in 0..widest {
        for (protocol, ports) in PORTS {
            ports.get(n).into_iter().for_each(|port| add(protocol, *port, options));
        }
    }
    #[cfg(feature = "games")]
    for game in Game::all().filter(|game| game.certainty >= Certainty::Listed) {
        let options = options.of_game(game.dialect);
        game.default_query_port().into_iter().for_each(|port| add(game.protocol, port, options));
    }
    candidates
}

/// Whether an answer from a port that another server could have is from the server that was meant.
#[cfg(feature = "games")]
fn is_meant(game: &Game, given: Option<u16>, found: &Detected) -> bool {
    let is_other_port = given.zip(found.outcome.answer.game_port).is_some_and(|(given, said)| given != said);
    // Modifications have the GameSpy name of their game.
    let is_other_game = found.game().is_some_and(|other| {
        other.id != game.id && (other.gamename != game.gamename || game.gamename.is_none())
    });
    !is_other_port && !is_other_game
}

/// The ports for a game, in the order in which they are tried.
#[cfg(feature = "games")]
fn ports_of_game(game: &Game, given: Option<u16>, options: QueryOptions) -> Vec<Candidate> {
    let mut candidates = Vec::new();
    let mut add = |protocol, port: Option<u16>, is_certain| {
        let Some(port) = port else { return };
        add(&mut candidates, Candidate { protocol, port, options, is_certain });
    };
    let is_fixed = matches!(game.query_port, QueryPort::Fixed(_));
    // A given port that no rule leads from, or that is the query port itself.
    if given.is_some() && (game.game_port.is_none() || (is_fixed && given == game.query_port.at(None))) {
        add(game.protocol, given, true);
    }
    let port = given.or(game.game_port);
    add(game.protocol, game.query_port.at(port), given.is_none() || !is_fixed);
    for (protocol, rule) in game.also_at {
        add(*protocol, rule.at(port), false);
    }
    add(game.protocol, given, true);
    candidates
}

/// The likeliest query port of a game's server, which is given with its game port or 0.
#[cfg(feature = "games")]
pub(super) fn query_port(game: &Game, given: u16, server: &str) -> Result<u16, Error> {
    let given = Some(given).filter(|port| *port != 0);
    let first = ports_of_game(game, given, QueryOptions::default()).first().map(|candidate| candidate.port);
    first.ok_or_else(|| Error::BadAddress { text: server.to_owned(), why: NO_PORT })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_protocol_is_tried_at_its_commonest_port_first() {
        let at = |given| -> Vec<(Protocol, u16)> {
            let candidates = ports_of_all(given, QueryOptions::default());
            candidates.into_iter().map(|candidate| (candidate.protocol, candidate.port)).collect()
        };
        let all = at(None);
        println!("{} ports", all.len());
        for (protocol, port) in &all[..4] {
            assert_eq!(*port, protocol.default_query_port());
        }
        #[cfg(feature = "games")]
        for living in [(Protocol::GameSpy1, 10481), (Protocol::Quake3, 44400), (Protocol::GameSpy4, 19132)] {
            assert!(all.contains(&living), "{living:?}");
        }
        assert!(at(Some(7777)).contains(&(Protocol::Ut2004, 7778)));
        assert_eq!(at(Some(u16::MAX)).len(), 4, "no port behind the last");
    }

    #[cfg(feature = "games")]
    fn ports(game: &str, given: Option<u16>) -> Vec<(Protocol, u16, bool)> {
        let candidates = ports_of_game(Game::find(game).unwrap(), given, QueryOptions::default());
        candidates
            .iter()
            .map(|candidate| (candidate.protocol, candidate.port, candidate.is_certain))
            .collect()
    }

    #[cfg(feature = "games")]
    #[test]
    fn ports_follow_the_rule_then_what_real_servers_do_then_the_given_port() {
        use Protocol::{GameSpy1, GameSpy4, Quake3, Ut2004};
        assert_eq!(ports("openarena", None), [(Quake3, 27960, true)]);
        assert_eq!(ports("openarena", Some(5)), [(Quake3, 5, true)]);
        let ut2004 = [(Ut2004, 7798, true), (GameSpy1, 7807, false), (Ut2004, 7797, true)];
        assert_eq!(ports("ut2004", Some(7797)), ut2004);
        let bf2 = [(GameSpy4, 29900, false), (GameSpy4, 29901, false), (GameSpy4, 16568, true)];
        assert_eq!(ports("bf2", Some(16568)), bf2);
        let ut3 = [
            (GameSpy4, 6500, true),
            (GameSpy4, 7788, false),
            (GameSpy4, 6501, false),
            (GameSpy4, 6502, false),
        ];
        assert_eq!(ports("ut3", None), ut3);
        assert_eq!(ports("shogo", Some(27000)), [(GameSpy1, 27000, true), (GameSpy1, 27888, false)]);
        assert_eq!(ports("ut", Some(u16::MAX)), [(GameSpy1, u16::MAX, true)], "no port behind the last");
    }
}
