//! From the text a person types to addresses.

use std::io;
use std::net::{IpAddr, SocketAddr};

use tokio::time::{Instant, timeout_at};

use super::error::Error;

/// Addresses of one name that are worth trying: one or two per family. More would only add up timeouts.
const MAX_ADDRESSES: usize = 4;

/// Which addresses of a host name are tried.
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
    pub(super) const fn admits(self, address: SocketAddr) -> bool {
        match self {
            Self::Any => true,
            Self::Ipv4 => address.is_ipv4(),
            Self::Ipv6 => address.is_ipv6(),
        }
    }
}

/// The addresses behind `HOST`, `HOST:PORT`, an IP address, or `[IPv6]:PORT`, in the resolver's order: the first and the others.
pub(super) async fn resolve(
    text: &str,
    default_port: u16,
    family: Family,
    deadline: Instant,
) -> Result<(SocketAddr, Vec<SocketAddr>), Error> {
    let (host, port) =
        split(text, default_port).map_err(|why| Error::BadAddress { text: text.to_owned(), why })?;
    if let Ok(ip) = host.parse::<IpAddr>() {
        return Ok((SocketAddr::new(ip, port), Vec::new()));
    }
    let failed = |source| Error::Resolve { host: host.to_owned(), source };
    let lookup = timeout_at(deadline, tokio::net::lookup_host((host, port))).await;
    let found =
        lookup.map_err(|_| failed(io::Error::new(io::ErrorKind::TimedOut, "the resolver took too long")))?;
    let mut addresses: Vec<SocketAddr> = Vec::new();
    for address in found.map_err(failed)?.filter(|address| family.admits(*address)) {
        if !addresses.contains(&address) && addresses.len() < MAX_ADDRESSES {
            addresses.push(address);
        }
    }
    let mut addresses = addresses.into_iter();
    let none =
        || failed(io::Error::new(io::ErrorKind::NotFound, "the name has no address of the wanted family"));
    Ok((addresses.next().ok_or_else(none)?, addresses.collect()))
}

/// Host and port. Several colons without brackets are an IPv6 address without a port.
pub(super) fn split(text: &str, default_port: u16) -> Result<(&str, u16), &'static str> {
    let (host, port) = match text.strip_prefix('[') {
        Some(bracketed) => match bracketed.split_once(']') {
            Some((host, "")) => (host, None),
            Some((host, port)) => (host, Some(port.strip_prefix(':').ok_or("no colon behind the bracket")?)),
            None => return Err("no closing bracket"),
        },
        None => match text.split_once(':') {
            Some((host, port)) if !port.contains(':') => (host, Some(port)),
            Some(_) if text.parse::<IpAddr>().is_err() => return Err("several colons, and no IPv6 address"),
            _ => (text, None),
        },
    };
    let port = match port.map(str::parse) {
        None => default_port,
        Some(Ok(port)) if port != 0 => port,
        Some(_) => return Err("the port is no number from 1 to 65535"),
    };
    if host.is_empty() {
        Err("the host is empty")
    } else if host.contains(char::is_whitespace) {
        Err("a blank in the host")
    } else {
        Ok((host, port))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_and_ports_in_every_spelling() {
        for (text, host, port) in [
            ("example.org", "example.org", 1),
            ("example.org:27960", "example.org", 27960),
            ("192.0.2.1:5", "192.0.2.1", 5),
            ("::1", "::1", 1),
            ("2001:db8::1", "2001:db8::1", 1),
            ("[::1]", "::1", 1),
            ("[::1]:5", "::1", 5),
        ] {
            assert_eq!(split(text, 1), Ok((host, port)), "{text}");
        }
        let bad = [
            "",
            ":5",
            "host:",
            "host:0",
            "host:65536",
            "host:x",
            "[::1",
            "[::1]5",
            "[]:5",
            "a b",
            "host:5:6",
        ];
        for text in bad {
            assert!(split(text, 1).is_err(), "{text}");
        }
    }
}
