//! The code that both clients share: settings, the addresses of a host, and the conversation with
//! it.
//!
//! A method whose name ends in `_over` is written once for both clients. It uses the sockets, the
//! clock and the resolver of its type parameter `I`, see [`Io`].

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::error::Error;
use super::exchange::{Exchanges, ONLY_SESSION};
use super::io::Io;
use super::late_replies::LateReplies;
use super::server::{HostAndPort, Server, destination};
use crate::limits::to_u32;
use crate::options::QueryOptions;
use crate::protocol::Protocol;
use crate::secret::Secret;
use crate::session::{Conversation, Outcome, Timing};
use crate::status_query::{Answer, StatusQuery};
use crate::time::after;

/// A client without its public methods: its settings, and the counter of its nonces.
#[derive(Debug, Clone)]
pub(crate) struct Querier {
    secret: Secret,
    pub(super) timing: Timing,
    pub(super) options: QueryOptions,
    pub(super) deadline: Duration,
    pub(super) family: Family,
    pub(super) local: Option<SocketAddr>,
    pub(super) late_replies: LateReplies,
    counter: Arc<AtomicU64>,
}

impl Querier {
    pub(super) fn new(secret: Secret) -> Self {
        Self {
            secret,
            timing: Timing::default(),
            options: QueryOptions::default(),
            deadline: DEADLINE,
            family: Family::Any,
            local: None,
            late_replies: LateReplies::default(),
            counter: Arc::default(),
        }
    }

    /// Returns a nonce for a new conversation, which nobody else can guess.
    pub(super) fn nonce(&self, server: SocketAddr) -> u64 {
        self.secret.number(
            "client nonce",
            server,
            self.counter.fetch_add(1, Ordering::Relaxed),
        )
    }

    /// The status of a server, as the protocol's own answer.
    pub(super) async fn answer_over<I: Io>(
        &self,
        protocol: Protocol,
        server: &Server,
    ) -> Result<Outcome<Answer>, Error> {
        let dialect = self.options.dialect;
        if !dialect.fits(protocol) {
            return Err(Error::WrongDialect { dialect, protocol });
        }
        let new_query = |nonce| StatusQuery::new(protocol, nonce, &self.options);
        self.ask_host_over::<I, _>(server, protocol.default_query_port(), new_query)
            .await
    }

    /// Runs conversations with the addresses of a host, one after the other, until one answers.
    pub(super) async fn ask_host_over<I: Io, C: Conversation>(
        &self,
        server: &Server,
        default_port: u16,
        new_conversation: impl Fn(u64) -> C,
    ) -> Result<Outcome<C::Answer>, Error> {
        let mut host = self.look_up::<I>(server, default_port).await?;
        loop {
            let nonce = self.nonce(host.address);
            let conversation = new_conversation(nonce);
            let timing = host.timing(I::now());
            let outcome = self
                .ask_within::<I, C>(host.address, conversation, timing)
                .await;
            if outcome.is_ok() || !host.advance(I::now()) {
                return outcome;
            }
        }
    }

    /// Looks the addresses of a server up, in the resolver's order. The client's deadline begins
    /// now.
    pub(super) async fn look_up<I: Io>(
        &self,
        server: &Server,
        default_port: u16,
    ) -> Result<HostAddresses, Error> {
        let deadline = after(I::now(), self.deadline);
        let mut addresses = self
            .addresses::<I>(server, default_port, deadline)
            .await?
            .into_iter();
        let address = addresses.next().ok_or_else(|| Error::NameResolution {
            host: server.to_string(),
            source: Arc::new(no_address()),
        })?;
        Ok(HostAddresses {
            address,
            others: addresses,
            deadline,
            timing: self.timing,
        })
    }

    /// The address of a server, or the addresses of its name in the wanted family.
    async fn addresses<I: Io>(
        &self,
        server: &Server,
        default_port: u16,
        deadline: Instant,
    ) -> Result<Vec<SocketAddr>, Error> {
        let HostAndPort { host, port } = match server {
            Server::Address(address) => return Ok(vec![self.destination(*address)?]),
            Server::Name(name) => HostAndPort::parse(name)?,
        };
        let port = port.unwrap_or(default_port);
        if let Ok(ip) = host.parse::<IpAddr>() {
            return Ok(vec![self.destination(SocketAddr::new(ip, port))?]);
        }
        let resolved = I::resolve(host, port, deadline).await;
        let resolved = resolved.map_err(|source| Error::NameResolution {
            host: host.to_owned(),
            source: source.into(),
        })?;
        self.wanted(resolved)
    }

    /// The addresses of the wanted family, each once, and at most [`MAX_ADDRESSES`]. An address
    /// that nothing can be sent to is left out, unless it is the only one.
    fn wanted(&self, resolved: Vec<SocketAddr>) -> Result<Vec<SocketAddr>, Error> {
        let mut addresses = Vec::new();
        let mut unusable = None;
        for address in resolved {
            match self.destination(address) {
                Ok(address) if !self.family.admits(address) || addresses.contains(&address) => {}
                Ok(address) => addresses.push(address),
                Err(error) => unusable = Some(error),
            }
            if addresses.len() >= MAX_ADDRESSES {
                break;
            }
        }
        match unusable {
            Some(error) if addresses.is_empty() => Err(error),
            _ => Ok(addresses),
        }
    }

    /// See [`destination`].
    pub(super) fn destination(&self, address: SocketAddr) -> Result<SocketAddr, Error> {
        destination(address, self.local)
    }

    /// Runs a conversation with this timing, on a socket of its own.
    pub(super) async fn ask_within<I: Io, C: Conversation>(
        &self,
        server: SocketAddr,
        conversation: C,
        timing: Timing,
    ) -> Result<Outcome<C::Answer>, Error> {
        let server = self.destination(server)?;
        let mut exchanges = Exchanges::<I, C>::new(self.local, self.late_replies.clone());
        exchanges
            .start(ONLY_SESSION, server, conversation, timing)
            .await?;
        loop {
            if let Some(ended) = exchanges.step().await {
                return ended.result;
            }
        }
    }
}

/// The resolver knows the name, but no address of the wanted family.
fn no_address() -> io::Error {
    let message = "the name has no address of the wanted family";
    io::Error::new(io::ErrorKind::NotFound, message)
}

/// The addresses of a host, tried one after the other. Each gets an equal share of the remaining
/// time.
#[derive(Debug, Clone)]
pub(super) struct HostAddresses {
    /// The current one.
    pub(super) address: SocketAddr,
    /// Those that were not tried yet.
    pub(super) others: std::vec::IntoIter<SocketAddr>,
    pub(super) deadline: Instant,
    timing: Timing,
}

impl HostAddresses {
    /// The current address and those after it.
    #[cfg(feature = "games")]
    pub(super) fn iter(&self) -> impl Iterator<Item = SocketAddr> {
        std::iter::once(self.address).chain(self.others.clone())
    }

    /// The timing for the current address.
    pub(super) fn timing(&self, now: Instant) -> Timing {
        let left = self.deadline.saturating_duration_since(now);
        let addresses = to_u32(self.others.len()).saturating_add(1);
        let equal_share = left.checked_div(addresses).unwrap_or(left);
        // A few addresses get a useful time, even if none is left for the others.
        let useful_share = equal_share.max(MIN_SHARE);
        let max_timeout = useful_share.min(left);
        let timeout = self.timing.timeout().min(max_timeout);
        self.timing.with_timeout(timeout)
    }

    /// Moves to the next address; `false` if there is none, or no time for it.
    pub(super) fn advance(&mut self, now: Instant) -> bool {
        if now >= self.deadline {
            return false;
        }
        let Some(next) = self.others.next() else {
            return false;
        };
        self.address = next;
        true
    }

    /// Keeps only the current address, which has answered. The others may be other servers.
    #[cfg(feature = "tokio")]
    pub(super) fn forget_others(&mut self) {
        self.others = Vec::new().into_iter();
    }
}

/// The default deadline.
const DEADLINE: Duration = Duration::from_secs(10);
/// The range of deadlines.
pub(super) const MIN_DEADLINE: Duration = Duration::from_millis(10);
pub(super) const MAX_DEADLINE: Duration = Duration::from_secs(600);
/// The default port of a look-up whose ports are replaced.
pub(super) const ANY_PORT: u16 = 1;
/// The maximum number of addresses of one name to try.
const MAX_ADDRESSES: usize = 32;
/// The minimum time for one of several addresses: a round trip around the world and one fast retry.
/// Addresses for which no time is left are not tried.
const MIN_SHARE: Duration = Duration::from_millis(500);

/// The addresses of a host name to try.
///
/// ```
/// use queryport::net::Family;
/// use queryport::{Client, Secret};
///
/// let client = Client::with_secret(Secret::new([7; 16])).with_family(Family::Ipv4);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Family {
    /// All, in the resolver's order.
    #[default]
    Any,
    /// IPv4 only.
    Ipv4,
    /// IPv6 only.
    Ipv6,
}

impl Family {
    /// Whether an address is of the family.
    pub(super) const fn admits(self, address: SocketAddr) -> bool {
        match self {
            Self::Any => true,
            Self::Ipv4 => address.is_ipv4(),
            Self::Ipv6 => address.is_ipv6(),
        }
    }
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects, reason = "virtual time in tests")]
mod tests {
    use super::*;

    fn querier() -> Querier {
        Querier::new(Secret::new([7; 16]))
    }

    fn addresses(count: u8) -> Vec<SocketAddr> {
        let addresses = (0..count).map(|host| ([192, 0, 2, host], 27960).into());
        addresses.collect()
    }

    #[test]
    fn the_first_32_addresses_of_a_name_are_tried_each_once() {
        let twice = [addresses(20), addresses(40)].concat();
        assert_eq!(querier().wanted(twice).unwrap(), addresses(32));
    }

    #[test]
    fn an_address_without_its_interface_is_an_error_only_alone() {
        let link_local = "[fe80::1]:27960".parse().unwrap();
        let both = [vec![link_local], addresses(1)].concat();
        assert_eq!(querier().wanted(both).unwrap(), addresses(1));
        assert!(querier().wanted(vec![link_local]).is_err());
    }

    /// The last of several addresses may use what the others left.
    #[test]
    fn addresses_share_ten_seconds_and_each_gets_at_least_half_a_second() {
        const SECOND: Duration = Duration::from_secs(1);
        assert_eq!(querier().deadline, 10 * SECOND);
        #[allow(clippy::disallowed_methods, reason = "any time will do")]
        let now = Instant::now();
        let share = |others: u8, left: Duration| {
            let addresses = HostAddresses {
                address: ([192, 0, 2, 99], 27960).into(),
                others: addresses(others).into_iter(),
                deadline: now + left,
                timing: Timing::default().with_timeout(9 * SECOND),
            };
            addresses.timing(now).timeout()
        };
        assert_eq!(
            share(0, 10 * SECOND),
            9 * SECOND,
            "no more than the timeout"
        );
        assert_eq!(share(1, 10 * SECOND), 5 * SECOND);
        assert_eq!(share(4, 10 * SECOND), 2 * SECOND);
        assert_eq!(share(31, 10 * SECOND), SECOND / 2);
        assert_eq!(
            share(31, SECOND / 10),
            SECOND / 10,
            "not after the deadline"
        );
    }

    #[test]
    fn no_address_is_tried_after_the_deadline() {
        #[allow(clippy::disallowed_methods, reason = "any time will do")]
        let now = Instant::now();
        let mut host = HostAddresses {
            address: ([192, 0, 2, 99], 27960).into(),
            others: addresses(2).into_iter(),
            deadline: now + Duration::from_secs(1),
            timing: Timing::default(),
        };
        assert!(host.advance(now));
        assert!(!host.advance(host.deadline));
        assert!(host.advance(now));
        assert!(!host.advance(now), "no address is left");
    }
}
