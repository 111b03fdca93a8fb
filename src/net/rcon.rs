//! A console on a Quake 3 server.

use std::time::{Duration, Instant};

use super::client::Client;
use super::error::Error;
use super::io::Io;
use super::querier::{HostAddresses, Querier};
use super::server::Server;
use super::tokio_io::Tokio;
use crate::bucket::{LeakyBucket, Rate};
use crate::error::{ErrorKind, QueryError};
use crate::protocol::Protocol;
use crate::quake3::{Password, RconAnswer, RconError, RconMode, RconQuery};
use crate::session::{Outcome, Timing};
use crate::time::after;

/// Runs console commands on one Quake 3 server, no faster than servers allow.
///
/// Commands run one after the other. A command is sent once, because a repeated one could run
/// twice, and its answer is waited for until the client's timeout. The chapter `guide::rcon` lists
/// the modes and their servers.
///
/// If a name has several addresses, they are tried one by one while they are unreachable. The first
/// reachable one gets all later commands: no other address gets the password, even while the server
/// restarts.
///
/// # After a failure
/// A console keeps two things after a failure, and can be used again:
///
/// - The reachable address. Only a new console looks the name up again. If no address was
///   reachable, the next command tries all of them again.
/// - The time of each command, for the pause before the next one. Failed commands count, because
///   the server may have counted them. The pause is over after at most 1.05 s.
///
/// ```no_run
/// use queryport::Client;
/// use queryport::net::Rcon;
///
/// # async fn example() -> Result<(), queryport::Error> {
/// let client = Client::new()?;
/// let mut rcon = Rcon::new(&client, "example.org:27960", "secret").await?;
/// println!("{}", rcon.run("status").await?.answer);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Rcon {
    client: Querier,
    server: HostAddresses,
    password: Password,
    mode: RconMode,
    pace: Pace,
}

impl Rcon {
    /// Looks the server up; nothing is sent yet.
    ///
    /// # Errors
    /// [`Error::BadAddress`] and [`Error::NameResolution`].
    pub async fn new(
        client: &Client,
        server: impl Into<Server>,
        password: impl Into<Password>,
    ) -> Result<Self, Error> {
        let port = Protocol::Quake3.default_query_port();
        let server = client
            .querier
            .look_up::<Tokio>(&server.into(), port)
            .await?;
        Ok(Self {
            client: client.querier.clone(),
            server,
            password: password.into(),
            mode: RconMode::Plain,
            pace: Pace::default(),
        })
    }

    setters! {
        /// Sets how the password is sent; default [`RconMode::Plain`].
        with_mode(mode: RconMode) mode = mode;
    }

    /// Runs a command and returns its answer, which ends when nothing arrives for a while.
    ///
    /// Without an answer, the command may still have run.
    ///
    /// # Errors
    /// [`Error::Rcon`] for example for a wrong password, [`Error::Request`] for a command or
    /// password that the protocol cannot carry.
    pub async fn run(&mut self, command: &str) -> Result<Outcome<RconAnswer>, Error> {
        // A wrong command or password is an error at once.
        self.query(command)?;
        self.client
            .late_replies
            .wait::<Tokio>(self.server.address)
            .await;
        tokio::time::sleep_until(self.pace.next(Tokio::now()).into()).await;
        self.pace.sent(Tokio::now());
        // A signed command has the time at which it is sent.
        let query = self.query(command)?;
        let mut server = self.server.clone();
        server.deadline = after(Tokio::now(), self.client.deadline);
        loop {
            let peer = server.address;
            let timing = self.timing(server.deadline);
            let outcome = self
                .client
                .ask_within::<Tokio, _>(peer, query.clone(), timing)
                .await;
            let is_unreachable =
                matches!(&outcome, Err(error) if error.kind() == ErrorKind::Unreachable);
            if !is_unreachable {
                server.forget_others();
                self.server = server;
                return text_or_refusal(outcome);
            }
            // Nothing there could have run the command: try the next address of the name.
            if !server.advance(Tokio::now()) {
                return text_or_refusal(outcome);
            }
        }
    }

    /// The client's timing, within the deadline.
    fn timing(&self, deadline: Instant) -> Timing {
        let timing = self.client.timing;
        let left = deadline.saturating_duration_since(Tokio::now());
        timing.with_timeout(timing.timeout().min(left))
    }

    fn query(&self, command: &str) -> Result<RconQuery, Error> {
        let limits = &self.client.options.limits;
        let query = RconQuery::new(self.password.clone(), command, self.mode, limits)?;
        #[cfg(feature = "secure-rcon")]
        #[allow(
            clippy::disallowed_methods,
            reason = "the network layer is where clocks are read"
        )]
        let query = query.at(std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap_or_default());
        Ok(query)
    }
}

/// Turns a refusal into an error, and gives a timeout the reasons that are known for consoles.
fn text_or_refusal(
    outcome: Result<Outcome<Result<RconAnswer, RconError>>, Error>,
) -> Result<Outcome<RconAnswer>, Error> {
    let outcome = match outcome {
        Err(Error::Query {
            peer,
            error: QueryError::Timeout { .. },
        }) => {
            let error = RconError::Timeout;
            return Err(Error::Rcon { peer, error });
        }
        outcome => outcome?,
    };
    let peer = outcome.peer;
    let answer = outcome
        .answer
        .map_err(|error| Error::Rcon { peer, error })?;
    Ok(Outcome {
        answer,
        peer,
        rtt: outcome.rtt,
        elapsed: outcome.elapsed,
        stats: outcome.stats,
    })
}

/// The time between two commands. id's servers accept one per 500 ms (id-Software/Quake-III-Arena,
/// code/server/sv_main.c), Urban Terror's one per 600 ms after a bad password
/// (FrozenSand/ioq3-for-UrbanTerror-4, code/server/sv_main.c).
const GAP: Duration = Duration::from_millis(650);
/// Commands in a row. ioquake3 accepts ten packets of an address, then one per second
/// (code/server/sv_main.c). Two of the ten are left for other queries.
const BURST: u64 = 8;
/// The time in which such a row shrinks by one command.
const DECAY: Duration = Duration::from_millis(1050);

/// Keeps `rcon` below the rate limits of every known server, which silently drop excess commands.
#[derive(Debug, Clone, Default)]
struct Pace {
    gap: LeakyBucket,
    burst: LeakyBucket,
}

impl Pace {
    /// The earliest time for the next command, not before `now`.
    fn next(&self, now: Instant) -> Instant {
        let after_gap = self.gap.ready_at(now, &gap_rate(), ONE_COMMAND);
        let after_burst = self.burst.ready_at(now, &burst_rate(), ONE_COMMAND);
        after_gap.max(after_burst)
    }

    /// Records that a command was sent.
    fn sent(&mut self, now: Instant) {
        self.gap.add(now, &gap_rate(), ONE_COMMAND);
        self.burst.add(now, &burst_rate(), ONE_COMMAND);
    }
}

const ONE_COMMAND: u64 = 1;

fn gap_rate() -> Rate {
    Rate::new(ONE_COMMAND, GAP, ONE_COMMAND)
}

fn burst_rate() -> Rate {
    Rate::new(ONE_COMMAND, DECAY, BURST)
}

#[cfg(test)]
#[allow(
    clippy::disallowed_methods,
    clippy::arithmetic_side_effects,
    reason = "virtual time in tests"
)]
mod tests {
    use super::*;
    use crate::secret::Secret;

    /// ioquake3's leaky bucket of ten, one per second; and id's gap of 500 ms.
    #[test]
    fn a_hurried_operator_stays_below_the_limits() {
        let start = Instant::now();
        let (mut pace, mut now, mut level, mut counted) = (Pace::default(), start, 0_u64, start);
        let mut last: Option<Instant> = None;
        for _ in 0..200 {
            now = pace.next(now);
            pace.sent(now);
            let leaked = (now - counted).as_secs();
            (level, counted) = (
                level.saturating_sub(leaked) + 1,
                counted + Duration::from_secs(leaked),
            );
            assert!(level <= 8, "two of the ten are left");
            assert!(
                last.is_none_or(|last| now - last >= Duration::from_millis(600)),
                "and id this one"
            );
            last = Some(now);
        }
        assert!(
            now - start < Duration::from_secs(215),
            "and it is not slower than it must be"
        );
    }

    /// A command that may have arrived is not sent to another address of the name.
    #[tokio::test]
    async fn the_next_address_of_a_name_is_tried_where_nothing_can_have_run_the_command() {
        let sockets = [0; 3].map(|_| std::net::UdpSocket::bind("127.0.0.1:0").unwrap());
        let addresses = sockets
            .each_ref()
            .map(|socket| socket.local_addr().unwrap());
        let [closed, silent, other] = sockets;
        drop(closed);
        let timing = Timing::default().with_timeout(Duration::from_millis(300));
        let client = Client::with_secret(Secret::new([7; 16])).with_timing(timing);
        let mut rcon = Rcon::new(&client, addresses[0], Password::new("secret"))
            .await
            .unwrap();
        rcon.server.others = vec![addresses[1], addresses[2]].into_iter();
        assert_eq!(
            rcon.run("status").await.unwrap_err().kind(),
            ErrorKind::Timeout
        );
        let has_command = [silent, other].map(|socket| {
            socket.set_nonblocking(true).unwrap();
            socket.recv_from(&mut [0; 64]).is_ok()
        });
        assert_eq!(has_command, [true, false]);
    }

    /// The server at the first address restarts before it has answered.
    #[tokio::test]
    async fn all_addresses_are_tried_again_while_none_was_reachable() {
        let sockets = [0; 2].map(|_| std::net::UdpSocket::bind("127.0.0.1:0").unwrap());
        let addresses = sockets
            .each_ref()
            .map(|socket| socket.local_addr().unwrap());
        drop(sockets);
        let client = Client::with_secret(Secret::new([7; 16]));
        let mut rcon = Rcon::new(&client, addresses[0], Password::new("secret"))
            .await
            .unwrap();
        rcon.server.others = vec![addresses[1]].into_iter();
        let error = rcon.run("status").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unreachable);
        let server = tokio::net::UdpSocket::bind(addresses[0]).await.unwrap();
        let answer = async {
            let (_, from) = server.recv_from(&mut [0; 64]).await.unwrap();
            let reply = b"\xff\xff\xff\xffprint\nok\n";
            server.send_to(reply, from).await.unwrap();
        };
        let (outcome, ()) = tokio::join!(rcon.run("status"), answer);
        assert_eq!(outcome.unwrap().peer, addresses[0]);
        assert_eq!(
            rcon.server.others.len(),
            0,
            "none of them gets the password"
        );
    }

    #[tokio::test]
    async fn a_command_waits_until_the_timeout_or_the_deadline() {
        let timing = Timing::default();
        let client = Client::with_secret(Secret::new([7; 16])).with_timing(timing);
        let rcon = Rcon::new(&client, "127.0.0.1:9", Password::new("secret"))
            .await
            .unwrap();
        let now = Tokio::now();
        let unhurried = rcon.timing(now + Duration::from_secs(100));
        assert_eq!(unhurried.timeout(), timing.timeout());
        let hurried = rcon.timing(now + Duration::from_secs(1));
        assert!(hurried.timeout() <= Duration::from_secs(1));
    }
}
