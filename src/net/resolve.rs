//! From the text a person types to addresses.

use std::io;
use std::net::{IpAddr, SocketAddr};

use super::error::Error;

/// Addresses of one name that are worth trying: one or two a family. More would only add up timeouts.
const MAX_ADDRESSES: usize = 4;

/// The addresses behind `HOST`, `HOST:PORT`, an IP address, or `[IPv6]:PORT`, in the resolver's order.
pub(super) async fn resolve(text: &str, default_port: u16) -> Result<Vec<SocketAddr>, Error> {
    let (host, port) = split(text, default_port).ok_or_else(|| Error::Address(text.to_owned()))?;
    if let Ok(ip) = host.parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(ip, port)]);
    }
    let failed = |source| Error::Resolve { host: host.to_owned(), source };
    let mut addresses: Vec<SocketAddr> = Vec::new();
    for address in tokio::net::lookup_host((host, port)).await.map_err(failed)? {
        if !addresses.contains(&address) && addresses.len() < MAX_ADDRESSES {
            addresses.push(address);
        }
    }
    if addresses.is_empty() {
        return Err(failed(io::Error::new(io::ErrorKind::NotFound, "the name has no address")));
    }
    Ok(addresses)
}

/// Host and port. Several colons without brackets are an IPv6 address without a port.
fn split(text: &str, default_port: u16) -> Option<(&str, u16)> {
    let (host, port) = match text.strip_prefix('[') {
        Some(bracketed) => {
            let (host, port) = bracketed.split_once(']')?;
            (host, if port.is_empty() { None } else { Some(port.strip_prefix(':')?) })
        }
        None => match text.split_once(':') {
            Some((host, port)) if !port.contains(':') => (host, Some(port)),
            _ => (text, None),
        },
    };
    let port = port.map_or(Some(default_port), |port| port.parse().ok().filter(|&port| port != 0))?;
    let usable = !host.is_empty() && !host.contains(char::is_whitespace);
    usable.then_some((host, port))
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
            assert_eq!(split(text, 1), Some((host, port)), "{text}");
        }
        for bad in ["", ":5", "host:", "host:0", "host:65536", "host:x", "[::1", "[::1]5", "[]:5", "a b"] {
            assert_eq!(split(bad, 1), None, "{bad}");
        }
    }
}
