//! Querying a server by the name of its game.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};

use super::client::Client;
use super::detect::Detected;
use super::error::Error;
use super::resolve::split;
use crate::games::{Game, QueryPort};
use crate::model::{ServerStatus, ToStatus};
use crate::options::QueryOptions;
use crate::protocol::Protocol;
use crate::status_query::StatusQuery;

/// How long one port has the host to itself before the next is tried.
const STAGGER: Duration = Duration::from_millis(600);
/// Most requests to different ports and addresses of one host.
const MAX_ATTEMPTS: usize = 10;

/// Where a server may answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Candidate {
    protocol: Protocol,
    port: u16,
    /// Whatever answers there is the server that was meant.
    is_certain: bool,
}

impl Client {
    /// Queries a server by its game: `server` is a host name or address, with the port that players connect to where it is
    /// not the game's default.
    ///
    /// The request goes to the query port that [`Game::query_port`] gives. If no answer comes within 0.6 s, the ports of
    /// [`Game::also_at`] follow one by one, then the given port itself, for people who know the query port; the first answer
    /// ends it. An answer from one of these other ports counts only if it says no other game port and no other game.
    /// [`Outcome::peer`](crate::Outcome::peer) is the address that answered; nothing is remembered.
    ///
    /// SRV records (`_minecraft._tcp`) are not looked up: the system's resolver has no call for them, and hickory-resolver brings
    /// 55 crates that this crate does not have. They hold the game port; the query port can be another one anyway.
    ///
    /// ```no_run
    /// use queryport::Client;
    /// use queryport::games::Game;
    ///
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// let found = Client::new()?.query_game(Game::find("battlefield 2")?, "example.org:16568").await?;
    /// println!("{} at {}", found.outcome.answer.name.unwrap_or_default(), found.outcome.peer);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// See [`Error::kind`]; the error of the first port. [`Error::BadAddress`] where the game has no default port and
    /// `server` has none.
    pub async fn query_game(&self, game: &Game, server: &str) -> Result<Detected, Error> {
        let deadline = self.deadline();
        let bad = |why| Error::BadAddress { text: server.to_owned(), why };
        // Port 0 is refused, so it stands for none.
        let given = split(server, 0).map_err(bad)?.1;
        let given = (given != 0).then_some(given);
        let candidates = candidates(game, given);
        if candidates.is_empty() {
            return Err(bad("the game has no default port, and no port is given"));
        }
        let (first_address, others) = self.resolve(server, 1, deadline).await?;
        let addresses = std::iter::once(first_address).chain(others);
        let attempts = candidates.iter().flat_map(|candidate| {
            addresses.clone().map(|address| (*candidate, SocketAddr::new(address.ip(), candidate.port)))
        });
        let attempts: Vec<_> = attempts.take(MAX_ATTEMPTS).collect();
        let mut waiting = (0_usize..).zip(attempts);
        let client = self.clone().with_options(options(self.options, game));
        let mut queries = JoinSet::new();
        let mut first: Option<(usize, Error)> = None;
        loop {
            let next = waiting.next().filter(|_| Instant::now() < deadline);
            let is_last = next.is_none();
            if let Some((number, (candidate, address))) = next {
                let client = client.clone();
                queries.spawn(async move {
                    (number, candidate, client.attempt(candidate, address, deadline).await)
                });
            }
            // The attempts end by themselves at the deadline.
            let soon = Instant::now().checked_add(STAGGER).unwrap_or(deadline);
            let ended = match is_last {
                true => queries.join_next().await,
                false => match timeout_at(soon, queries.join_next()).await {
                    Ok(ended) => ended,
                    Err(_next_port_is_due) => continue,
                },
            };
            let (number, error) = match ended {
                Some(Ok((number, candidate, Ok(found)))) => {
                    if candidate.is_certain || is_meant(game, given, &found) {
                        return Ok(found);
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
        Err(first.map_or_else(|| bad("the time is over"), |(_, error)| error))
    }

    async fn attempt(
        self,
        candidate: Candidate,
        server: SocketAddr,
        deadline: Instant,
    ) -> Result<Detected, Error> {
        let left = deadline.saturating_duration_since(Instant::now());
        let timing = self.timing.with_timeout(left.min(self.timing.timeout()));
        let query = StatusQuery::new(candidate.protocol, self.nonce(server), &self.options);
        let outcome = self.exchange(query, server, timing).await?.finish().await?;
        Ok(Detected { protocol: candidate.protocol, outcome: outcome.map(|answer| answer.to_status()) })
    }
}

/// The options with the dialect of the game.
pub(super) fn options(options: QueryOptions, game: &Game) -> QueryOptions {
    options.of_game(game.dialect)
}

/// Whether an answer from a port that another server could have is from the server that was meant.
fn is_meant(game: &Game, given: Option<u16>, found: &Detected) -> bool {
    let status: &ServerStatus = &found.outcome.answer;
    let is_other_port = given.zip(status.game_port).is_some_and(|(given, said)| given != said);
    // Modifications have the GameSpy name of their game.
    let is_other_game = found.game().is_some_and(|other| {
        other.id != game.id && (other.gamename != game.gamename || game.gamename.is_none())
    });
    !is_other_port && !is_other_game
}

/// Where to ask, in order, each port once per protocol.
fn candidates(game: &Game, given: Option<u16>) -> Vec<Candidate> {
    let mut candidates: Vec<Candidate> = Vec::new();
    let mut add = |protocol, port: Option<u16>, is_certain| {
        let Some(port) = port.filter(|port| *port != 0) else { return };
        let is_known = |known: &Candidate| known.port == port && known.protocol == protocol;
        if !candidates.iter().any(is_known) {
            candidates.push(Candidate { protocol, port, is_certain });
        }
    };
    let of = |rule: QueryPort, port: Option<u16>| match (rule, port) {
        (QueryPort::Fixed(fixed), _) => Some(fixed),
        (rule, port) => port.and_then(|port| rule.of(port)),
    };
    let is_fixed = matches!(game.query_port, QueryPort::Fixed(_));
    // A given port that no rule leads from, or that is the query port itself.
    if given.is_some() && (game.game_port.is_none() || (is_fixed && given == of(game.query_port, None))) {
        add(game.protocol, given, true);
    }
    let port = given.or(game.game_port);
    add(game.protocol, of(game.query_port, port), given.is_none() || !is_fixed);
    for (protocol, rule) in game.also_at {
        add(*protocol, of(*rule, port), false);
    }
    add(game.protocol, given, true);
    candidates
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ports(game: &str, given: Option<u16>) -> Vec<(Protocol, u16, bool)> {
        let candidates = candidates(Game::find(game).unwrap(), given);
        candidates
            .iter()
            .map(|candidate| (candidate.protocol, candidate.port, candidate.is_certain))
            .collect()
    }

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
