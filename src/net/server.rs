//! A server by host name or address.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::str::FromStr;

use super::error::Error;

/// The host name or address of a server, as taken by [`Client::query`](crate::Client::query).
///
/// Without a port, the call uses its default.
///
/// ```
/// use std::net::{IpAddr, SocketAddr};
/// use queryport::net::Server;
///
/// let address: SocketAddr = "192.0.2.1:27960".parse()?;
/// let same: [Server; 4] = [
///     "192.0.2.1:27960".into(),
///     address.into(),
///     (address.ip(), 27960).into(),
///     ("192.0.2.1", 27960).into(),
/// ];
/// assert!(same.iter().all(|server| *server == same[0]));
/// let names = [
///     "example.org",
///     "example.org:27960",
///     "2001:db8::1",
///     "[2001:db8::1]:27960",
///     "[fe80::1%eth0]:27960",
/// ];
/// let named = names.map(Server::from);
/// # Ok::<(), std::net::AddrParseError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Server {
    /// An address with its port.
    Address(SocketAddr),
    /// `HOST`, `HOST:PORT` or an IP address. For any other text, queries return an error that
    /// explains the problem.
    Name(String),
}

impl Server {
    /// The given port, or `None`.
    pub(super) fn given_port(&self) -> Result<Option<u16>, Error> {
        let port = match self {
            Self::Address(address) if address.port() == 0 => None,
            Self::Address(address) => Some(address.port()),
            Self::Name(name) => HostAndPort::parse(name)?.port,
        };
        Ok(port)
    }
}

macro_rules! from {
    ($($type:ty, $given:pat => $server:expr;)*) => {
        $(impl From<$type> for Server {
            fn from($given: $type) -> Self {
                $server
            }
        })*
    };
}

from! {
    String, text => {
        let address = text.parse().ok().filter(|address: &SocketAddr| address.port() != 0);
        address.map_or_else(|| Self::Name(text), Self::Address)
    };
    &str, text => text.to_owned().into();
    &String, text => text.to_owned().into();
    SocketAddr, address => Self::Address(address);
    &SocketAddr, address => Self::Address(*address);
    IpAddr, ip => Self::Name(ip.to_string());
    (IpAddr, u16), address => Self::Address(address.into());
    (String, u16), (host, port) => (host.as_str(), port).into();
    (&str, u16), (host, port) => {
        if let Ok(ip) = host.parse::<IpAddr>() {
            Self::Address(SocketAddr::new(ip, port))
        } else if is_scoped(host) {
            format!("[{host}]:{port}").into()
        } else {
            Self::Name(format!("{host}:{port}"))
        }
    };
}

/// Checks the form of the text, which `From` leaves to the query.
impl FromStr for Server {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        HostAndPort::parse(text)?;
        Ok(text.into())
    }
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(address) => address.fmt(f),
            Self::Name(name) => name.fmt(f),
        }
    }
}

/// A host name or IP address, and the port after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct HostAndPort<'a> {
    pub(super) host: &'a str,
    /// Never 0.
    pub(super) port: Option<u16>,
}

impl<'a> HostAndPort<'a> {
    /// Several colons without brackets are an IPv6 address without a port.
    pub(super) fn parse(text: &'a str) -> Result<Self, Error> {
        let bad = |why| Error::BadAddress {
            text: text.to_owned(),
            why,
        };
        let is_bare_ip = || text.parse::<IpAddr>().is_ok() || is_scoped(text);
        let (host, after_host) = match text.strip_prefix('[') {
            Some(bracketed) => bracketed
                .split_once(']')
                .ok_or_else(|| bad("no closing bracket"))?,
            None if is_bare_ip() => (text, ""),
            None => text.split_at(text.find(':').unwrap_or(text.len())),
        };
        let port = parse_port(after_host).map_err(bad)?;
        if host.is_empty() {
            return Err(bad("the host is empty"));
        }
        if host.contains(char::is_whitespace) {
            return Err(bad("a space in the host"));
        }
        Ok(Self { host, port })
    }
}

/// The port in the text after a host: `:PORT` or nothing.
fn parse_port(after_host: &str) -> Result<Option<u16>, &'static str> {
    if after_host.is_empty() {
        return Ok(None);
    }
    let Some(port) = after_host.strip_prefix(':') else {
        return Err("no colon after the bracket");
    };
    if port.contains(':') {
        return Err("several colons, but not an IPv6 address");
    }
    match port.parse() {
        Ok(0) | Err(_) => Err("the port is not a number from 1 to 65535"),
        Ok(port) => Ok(Some(port)),
    }
}

/// Whether a text is an IPv6 address with an interface, such as `fe80::1%eth0`. The resolver maps
/// the interface's name.
fn is_scoped(text: &str) -> bool {
    let scoped = text.split_once('%');
    scoped.is_some_and(|(ip, interface)| ip.parse::<Ipv6Addr>().is_ok() && !interface.contains(':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_and_ports_in_every_spelling() {
        for (text, host, port) in [
            ("example.org", "example.org", None),
            ("example.org:27960", "example.org", Some(27960)),
            ("192.0.2.1:5", "192.0.2.1", Some(5)),
            ("::1", "::1", None),
            ("2001:db8::1", "2001:db8::1", None),
            ("[::1]", "::1", None),
            ("[::1]:5", "::1", Some(5)),
            ("fe80::1%lo", "fe80::1%lo", None),
            ("[fe80::1%lo]", "fe80::1%lo", None),
            ("[fe80::1%lo]:5", "fe80::1%lo", Some(5)),
        ] {
            let expected = HostAndPort { host, port };
            assert_eq!(HostAndPort::parse(text).unwrap(), expected, "{text}");
            assert_eq!(text.parse::<Server>().unwrap(), Server::from(text));
        }
        let scoped = Server::from("[fe80::1%lo]:5");
        assert_eq!(Server::from(("fe80::1%lo", 5)), scoped);
        let (empty, port) = (
            "the host is empty",
            "the port is not a number from 1 to 65535",
        );
        let colons = "several colons, but not an IPv6 address";
        for (text, reason) in [
            ("", empty),
            (":5", empty),
            ("[]:5", empty),
            ("host:", port),
            ("host:0", port),
            ("host:65536", port),
            ("host:x", port),
            ("[::1", "no closing bracket"),
            ("[::1]5", "no colon after the bracket"),
            ("a b", "a space in the host"),
            ("host:5:6", colons),
            ("fe80::1%lo:5", colons),
        ] {
            let Err(Error::BadAddress { why, .. }) = text.parse::<Server>() else {
                panic!("{text}")
            };
            assert_eq!(why, reason, "{text}");
        }
    }
}
