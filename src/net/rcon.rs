//! A console on a Quake 3 server.

use std::net::SocketAddr;
use std::time::Duration;

use super::client::Client;
use super::error::Error;
use super::exchange::now;
use crate::error::ErrorKind;
use crate::protocol::Protocol;
use crate::quake3::{Password, RconAnswer, RconError, RconPace, RconQuery};
use crate::session::{Conversation, Outcome};

/// Least time to wait for the first words of an answer: a map change takes a while.
const LEAST_WAIT: Duration = Duration::from_secs(3);

/// How the password is sent to the server, see [`Rcon::with_mode`].
///
/// ```
/// use queryport::net::RconMode;
///
/// assert_eq!(RconMode::default(), RconMode::Plain);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum RconMode {
    /// In plain text: every server.
    #[default]
    Plain,
    /// In plain text and quotes, so that it may hold blanks: Quake3e, CoD4x.
    Quoted,
    /// As a signature over the command and this machine's time, which must agree with the server's within 5 s:
    /// DarkPlaces.
    #[cfg(feature = "secure-rcon")]
    Time,
    /// As a signature over the command and a challenge: DarkPlaces.
    #[cfg(feature = "secure-rcon")]
    Challenge,
}

/// Runs console commands on one server, one after the other, no faster than servers allow.
///
/// ```no_run
/// use queryport::Client;
/// use queryport::net::Rcon;
/// use queryport::quake3::Password;
///
/// # async fn example() -> Result<(), queryport::Error> {
/// let client = Client::new()?;
/// let mut rcon = Rcon::new(&client, "example.org:27960", Password::new("secret")).await?;
/// println!("{}", rcon.run("status").await?.answer.text.decoded());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Rcon {
    client: Client,
    servers: Vec<SocketAddr>,
    password: Password,
    mode: RconMode,
    pace: RconPace,
}

impl Rcon {
    /// Looks the server up; nothing is sent yet.
    ///
    /// # Errors
    /// [`Error::BadAddress`] and [`Error::Resolve`].
    pub async fn new(client: &Client, server: &str, password: Password) -> Result<Self, Error> {
        let port = Protocol::Quake3.default_query_port();
        let servers = client.resolve(server, port, client.deadline()).await?;
        Ok(Self {
            client: client.clone(),
            servers,
            password,
            mode: RconMode::Plain,
            pace: RconPace::default(),
        })
    }

    /// Sets how the password is sent.
    #[must_use]
    pub const fn with_mode(mut self, mode: RconMode) -> Self {
        self.mode = mode;
        self
    }

    /// Runs a command and waits until its answer ends with a time of quiet. The command is sent once; where no answer comes,
    /// it may have been run.
    ///
    /// # Errors
    /// [`Error::Rcon`] for a wrong password and the like, [`Error::Request`] for a command or password that the
    /// protocol cannot carry.
    pub async fn run(&mut self, command: &str) -> Result<Outcome<RconAnswer>, Error> {
        let (password, limits) = (self.password.clone(), &self.client.options.limits);
        match self.mode {
            RconMode::Plain => self.lead(RconQuery::new(password, command, limits)?).await,
            RconMode::Quoted => self.lead(RconQuery::quoted(password, command, limits)?).await,
            #[cfg(feature = "secure-rcon")]
            RconMode::Time => self.lead(RconQuery::signed_at(since_1970(), password, command, limits)?).await,
            #[cfg(feature = "secure-rcon")]
            RconMode::Challenge => {
                self.lead(RconQuery::signed_with_challenge(password, command, limits)?).await
            }
        }
    }

    async fn lead<C>(&mut self, query: C) -> Result<Outcome<RconAnswer>, Error>
    where
        C: Conversation<Answer = Result<RconAnswer, RconError>> + Clone,
    {
        tokio::time::sleep_until(self.pace.next(now()).into()).await;
        self.pace.sent(now());
        let timing = self.client.timing;
        let client =
            self.client.clone().with_timing(timing.with_retry_after(timing.retry_after().max(LEAST_WAIT)));
        loop {
            let Some(&peer) = self.servers.first() else {
                return Err(Error::BadAddress { text: String::new(), why: "it has no address" });
            };
            match client.ask(query.clone(), peer).await {
                // Nothing was there to run it: the name's next address.
                Err(error) if error.kind() == ErrorKind::Unreachable && self.servers.len() > 1 => {
                    self.servers.remove(0);
                }
                Err(error) => return Err(error),
                Ok(Outcome { answer: Err(error), .. }) => return Err(Error::Rcon { peer, error }),
                Ok(Outcome { answer: Ok(answer), peer, rtt, elapsed, stats }) => {
                    return Ok(Outcome { answer, peer, rtt, elapsed, stats });
                }
            }
        }
    }
}

/// The time of this machine.
#[cfg(feature = "secure-rcon")]
#[allow(clippy::disallowed_methods, reason = "the network layer is where clocks are read")]
fn since_1970() -> Duration {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default()
}
