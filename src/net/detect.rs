//! Which protocol does a host speak?

use std::net::SocketAddr;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout_at};

use super::client::Client;
use super::error::Error;
use super::resolve::split;
#[cfg(feature = "games")]
use crate::games::{Certainty, Game};
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

/// Where a server may answer, and how it is asked.
type Candidate = (Protocol, u16, QueryOptions);

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
    /// When the host has no address. A host that does not answer gives an empty list.
    pub async fn detect(&self, host: &str) -> Result<Vec<Detected>, Error> {
        let deadline = self.deadline();
        let given = split(host, 0).ok().map(|(_, port)| port).filter(|&port| port != 0);
        let (address, _) = self.resolve(host, 1, deadline).await?;
        let mut queries = JoinSet::new();
        for (number, (protocol, port, options)) in candidates(given, self.options).into_iter().enumerate() {
            let (client, address) = (self.clone(), SocketAddr::new(address.ip(), port));
            queries.spawn(async move {
                sleep(GAP.saturating_mul(u32::try_from(number).unwrap_or(u32::MAX))).await;
                let query = StatusQuery::new(protocol, client.nonce(address), &options);
                let outcome = client.ask(address, query).await.ok()?;
                Some(Detected { protocol, outcome: outcome.map(|answer| answer.to_status()) })
            });
        }
        let (mut detected, mut until) = (Vec::new(), deadline);
        while let Ok(Some(ended)) = timeout_at(until, queries.join_next()).await {
            if let Ok(Some(answer)) = ended {
                detected.push(answer);
                let soon = Instant::now().checked_add(AFTER_FIRST).unwrap_or(deadline);
                until = until.min(soon);
            }
        }
        Ok(detected)
    }
}

/// What to try, in order.
fn candidates(given: Option<u16>, options: QueryOptions) -> Vec<Candidate> {
    let mut candidates: Vec<Candidate> = Vec::new();
    let mut add = |protocol, port, options| {
        if !candidates.iter().any(|known| (known.0, known.1) == (protocol, port)) {
            candidates.push((protocol, port, options));
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_protocol_is_tried_at_its_commonest_port_first() {
        let at = |given| -> Vec<(Protocol, u16)> {
            let candidates = candidates(given, QueryOptions::default());
            candidates.into_iter().map(|(protocol, port, _)| (protocol, port)).collect()
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
}
