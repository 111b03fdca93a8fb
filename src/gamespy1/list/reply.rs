//! The reply of a list server, in either format.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use super::request::ListFormat;
use crate::limits::Limits;
use crate::model::{ServerCollector, ServerList};

/// The end mark of lists and greetings.
pub(super) const END: &[u8] = br"\final\";

/// What a list server sent after its greeting.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reply<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) format: ListFormat,
    /// Whether the end mark of the greeting came with the greeting. If not, it may be the first bytes here.
    pub(super) greeting_ended: bool,
}

impl<'a> Reply<'a> {
    /// Whether the bytes end as a list does. A record of a compressed list may look the same.
    pub(super) fn looks_ended(&self) -> bool {
        match self.format {
            ListFormat::Plain => without_query_id(self.bytes).ends_with(END),
            ListFormat::Compressed => self.records().is_some(),
        }
    }

    /// Whether nothing can follow: text with servers in it. An empty list may be the end mark of the greeting.
    pub(super) fn is_ended(&self) -> bool {
        self.format == ListFormat::Plain && self.bytes.starts_with(br"\ip\") && self.looks_ended()
    }

    /// The list, as far as it came; the offset of what is none.
    pub(super) fn list(&self, limits: &Limits) -> Result<ServerList, usize> {
        match self.format {
            ListFormat::Plain => self.plain(limits),
            ListFormat::Compressed => Ok(self.compressed(limits)),
        }
    }

    /// What a server says instead of a list.
    pub(super) fn refusal(&self) -> Option<String> {
        let starts = [&br"\fatal\"[..], br"\error\", br"\echo\"];
        starts.iter().any(|start| self.bytes.starts_with(start)).then(|| {
            let text = self.bytes;
            let words = memchr::memmem::find(text, br"\error\").map_or(0, |start| start.saturating_add(7));
            let words = text.get(words..).unwrap_or_default();
            let words = words.get(..words.len().min(200)).unwrap_or_default();
            words.strip_suffix(END).unwrap_or(words).iter().map(|&byte| char::from(byte)).collect()
        })
    }

    /// The bytes without a late end mark of the greeting.
    fn after_greeting(&self) -> &'a [u8] {
        let late = self.bytes.strip_prefix(END).filter(|_| !self.greeting_ended);
        let is_late = |rest: &&[u8]| match self.format {
            ListFormat::Plain => !rest.is_empty(),
            // The lengths tell which of the two it is.
            ListFormat::Compressed => records(rest).is_some() && records(self.bytes).is_none(),
        };
        late.filter(is_late).unwrap_or(self.bytes)
    }

    /// The records before the end mark.
    fn records(&self) -> Option<&'a [u8]> {
        let list = self.after_greeting();
        records(list).or_else(|| records(without_query_id(list)))
    }

    fn compressed(&self, limits: &Limits) -> ServerList {
        let records = self.records();
        let bytes = records.unwrap_or_else(|| self.after_greeting());
        let mut servers = ServerCollector::default();
        for &[a, b, c, d, high, low] in bytes.as_chunks::<6>().0 {
            let port = u16::from_be_bytes([high, low]);
            servers.add((Ipv4Addr::new(a, b, c, d), port).into(), limits);
        }
        servers.finish(records.is_some())
    }

    fn plain(&self, limits: &Limits) -> Result<ServerList, usize> {
        let list = self.after_greeting();
        let mut servers = ServerCollector::default();
        let mut tokens = list.strip_prefix(b"\\").unwrap_or(list).split(|&byte| byte == b'\\').peekable();
        let mut offset = 0_usize;
        let mut is_ended = false;
        while let Some(key) = tokens.next() {
            is_ended = key == b"final";
            let Some(value) = tokens.next().filter(|_| !is_ended && tokens.peek().is_some()) else { break };
            // The last token of a list that was cut may be cut itself, and has not come so far.
            servers.add(address(value).filter(|_| key == b"ip").ok_or(offset)?, limits);
            offset = offset.saturating_add(value.len()).saturating_add(4);
        }
        Ok(servers.finish(is_ended))
    }
}

/// The records before an end mark at a record's start.
fn records(list: &[u8]) -> Option<&[u8]> {
    list.strip_suffix(END).filter(|body| body.len().is_multiple_of(6))
}

/// Without `\queryid\1.1` or `\queryid\1.1\` after the end mark.
fn without_query_id(text: &[u8]) -> &[u8] {
    let open = text.strip_suffix(b"\\").unwrap_or(text);
    open.strip_suffix(br"\queryid\1.1").unwrap_or(text)
}

/// `a.b.c.d:port`; some list servers write IPv4 addresses as mapped into IPv6.
fn address(text: &[u8]) -> Option<SocketAddr> {
    let text = std::str::from_utf8(text).ok()?;
    let (ip, port) = text.rsplit_once(':')?;
    let ip: IpAddr = ip.trim_start_matches('[').trim_end_matches(']').parse().ok()?;
    Some(SocketAddr::new(ip.to_canonical(), port.parse().ok()?))
}
