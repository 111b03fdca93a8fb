//! A server by host name or address.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::str::FromStr;

use super::error::Error;
use crate::address::canonical;

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
        if text.contains("://") {
            return Err(bad("it is a URL"));
        }
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
    // `parse` would accept a sign.
    let is_number = port.bytes().all(|byte| byte.is_ascii_digit());
    match port.parse() {
        Ok(port @ 1..) if is_number => Ok(Some(port)),
        _ => Err("the port is not a number from 1 to 65535"),
    }
}

/// The address to send to: the canonical one. A link-local address without a scope gets that of the
/// local address.
///
/// # Errors
/// [`Error::BadAddress`] for a link-local address if neither has a scope: systems do not choose the
/// interface.
pub(super) fn destination(
    address: SocketAddr,
    local: Option<SocketAddr>,
) -> Result<SocketAddr, Error> {
    let mut address = canonical(address);
    let SocketAddr::V6(v6) = &mut address else {
        return Ok(address);
    };
    if !v6.ip().is_unicast_link_local() || v6.scope_id() != 0 {
        return Ok(address);
    }
    let Some(SocketAddr::V6(local)) = local.filter(has_scope) else {
        return Err(Error::BadAddress {
            text: v6.ip().to_string(),
            why: NO_SCOPE,
        });
    };
    v6.set_scope_id(local.scope_id());
    Ok(address)
}

/// Whether an address names its interface.
fn has_scope(address: &SocketAddr) -> bool {
    matches!(address, SocketAddr::V6(v6) if v6.scope_id() != 0)
}

const NO_SCOPE: &str = "a link-local address needs its interface, as in fe80::1%eth0";

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
        for (given, port) in [(0, None), (5, Some(5))] {
            let address = SocketAddr::from(([192, 0, 2, 1], given));
            assert_eq!(Server::from(address).given_port().unwrap(), port);
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
            ("192.0.2.1:0", port),
            ("host:65536", port),
            ("host:x", port),
            ("host:+40100", port),
            ("host:-1", port),
            ("[::1]:+5", port),
            ("[::1", "no closing bracket"),
            ("[::1]5", "no colon after the bracket"),
            ("a b", "a space in the host"),
            ("quake3://127.0.0.1", "it is a URL"),
            ("host:5:6", colons),
            ("fe80::1%lo:5", colons),
        ] {
            let Err(Error::BadAddress { why, .. }) = text.parse::<Server>() else {
                panic!("{text}")
            };
            assert_eq!(why, reason, "{text}");
            assert!(Server::from(text).given_port().is_err(), "{text}");
        }
    }

    #[test]
    fn a_link_local_address_has_the_scope_of_an_interface() {
        let sent_to = |address: &str, local: Option<&str>| {
            let local = local.map(|local| local.parse().unwrap());
            destination(address.parse().unwrap(), local).map(|address| address.to_string())
        };
        for (address, local, expected) in [
            ("[fe80::1%2]:5", None, "[fe80::1%2]:5"),
            ("[fe80::1%2]:5", Some("[fe80::9%3]:0"), "[fe80::1%2]:5"),
            ("[fe80::1]:5", Some("[fe80::9%3]:0"), "[fe80::1%3]:5"),
            ("[2001:db8::1%7]:5", None, "[2001:db8::1]:5"),
            ("[::ffff:192.0.2.1]:5", None, "192.0.2.1:5"),
        ] {
            assert_eq!(sent_to(address, local).unwrap(), expected, "{address}");
        }
        for local in [None, Some("[2001:db8::9]:0"), Some("192.0.2.9:0")] {
            let error = sent_to("[fe80::1]:5", local).unwrap_err().to_string();
            let words = "\"fe80::1\" is not a server: a link-local address needs its interface";
            assert!(error.starts_with(words), "{error}");
        }
    }
}
