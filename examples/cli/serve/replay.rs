//! Answers with the datagrams of a recorded server.
//!
//! A request gets the replies that the recording has to the same request, whatever its challenge
//! and id. A request that was not recorded gets the replies of its kind. The challenge or id of the
//! request replaces the recorded one; nothing else changes. Nothing bounds how much an address
//! receives, so a replay listens on loopback addresses only.

use std::collections::VecDeque;
use std::fs::File;
use std::io::Read;
use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use bytes::Bytes;
use queryport::net::serve;
use queryport::session::{Handled, Machine, Transmit};
use queryport::{Limits, Protocol, UnknownProtocol, gamespy1, gamespy4, inspect, quake3, ut2004};

use shared::transcript::Transcript;
use shared::{capture, command_line};

use super::running::until;
use super::{Arguments, WrongArgument, introduction, sockets};
use crate::decode;

/// The maximum size of a recording, in bytes.
const MAX_FILE: u64 = 64 << 20;
/// The maximum number of datagrams that wait to be sent.
const MAX_QUEUED: usize = 1024;

/// Answers with the datagrams of a file until the end.
#[allow(clippy::disallowed_methods, reason = "a program has a clock")]
pub(super) async fn run(
    arguments: &Arguments,
    file: &Path,
) -> Result<ExitCode, Box<dyn std::error::Error>> {
    if arguments
        .address
        .iter()
        .any(|address| !address.is_loopback())
    {
        let why = "--replay has no bounds on replies: --address must be a loopback address";
        return Err(WrongArgument(why.to_owned()).into());
    }
    let wanted = arguments.served.as_ref().map(|served| served.protocol);
    let mut replay = read(file)
        .and_then(|bytes| Replay::parse(&bytes, wanted))
        .map_err(|why| format!("{}: {why}", file.display()))?;
    let protocol = replay.protocol;
    let usual = match &arguments.served {
        Some(served) => served.usual_port(),
        None => protocol.default_query_port(),
    };
    let port = arguments.port.unwrap_or(usual);
    let sockets = sockets(&arguments.address, port)?;
    let interrupted = command_line::interrupted();
    let about = format!("the recorded {protocol} server");
    let introduction = introduction(&about, &sockets, &[], None)?;
    command_line::print_if_read(introduction)?;
    let time = arguments.seconds.map(Duration::from_secs_f64);
    let end = time.and_then(|time| Instant::now().checked_add(time));
    tokio::select! {
        () = until(end) => {}
        interrupted = interrupted => interrupted?,
        failed = serve(&sockets, &mut replay) => failed?,
    }
    Ok(ExitCode::SUCCESS)
}

fn read(file: &Path) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    File::open(file)
        .and_then(|file| file.take(MAX_FILE + 1).read_to_end(&mut bytes))
        .map_err(|error| command_line::message(&error))?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(format!("longer than {} MiB", MAX_FILE >> 20));
    }
    Ok(bytes)
}

/// A recorded server.
#[derive(Debug)]
struct Replay {
    protocol: Protocol,
    exchanges: Vec<Exchange>,
    queue: VecDeque<(SocketAddr, Vec<u8>)>,
}

/// The recorded replies to one request.
#[derive(Debug, Default)]
struct Exchange {
    /// The request without challenge and id; `None` if only replies were recorded.
    request: Option<Vec<u8>>,
    replies: Vec<Bytes>,
}

/// A recorded datagram.
struct Recorded {
    is_request: bool,
    datagram: Bytes,
}

impl Replay {
    /// Reads a recording. `wanted`: the protocol, in case the recording does not name it.
    fn parse(file: &[u8], wanted: Option<Protocol>) -> Result<Self, String> {
        let text = decode::text_of(file).unwrap_or_default();
        let (named, recorded) = if capture::is_capture(file) {
            let (protocol, recorded) = first_server(capture::read(file)?, wanted)?;
            (Some(protocol), recorded)
        } else if decode::is_transcript(&text) {
            let transcript = Transcript::parse(&text)?;
            let named = transcript.get("protocol").map(str::parse).transpose();
            let named = named.map_err(|error: UnknownProtocol| error.to_string())?;
            let lines = transcript.lines.into_iter().map(|line| Recorded {
                is_request: line.is_request,
                datagram: line.datagram,
            });
            (named, lines.collect())
        } else {
            let (protocol, replies) = decode::first_reply(file)?;
            let replies = replies.into_iter().map(|datagram| Recorded {
                is_request: false,
                datagram,
            });
            (Some(protocol), replies.collect())
        };
        let protocol = match (named, wanted) {
            (Some(named), Some(wanted)) if named != wanted => {
                return Err(format!("the recorded server is {named}"));
            }
            (Some(protocol), _) | (None, Some(protocol)) => protocol,
            (None, None) => return Err("the file names no protocol: write it first".to_owned()),
        };
        Self::new(protocol, recorded)
    }

    fn new(protocol: Protocol, recorded: Vec<Recorded>) -> Result<Self, String> {
        let mut exchanges: Vec<Exchange> = Vec::new();
        for Recorded {
            is_request,
            datagram,
        } in recorded
        {
            if is_request {
                let request = Asked::parse(protocol, &datagram).map(|asked| asked.request);
                let replies = Vec::new();
                exchanges.push(Exchange { request, replies });
                continue;
            }
            let answered = |exchange: &&mut Exchange| match &exchange.request {
                Some(request) => answers(protocol, request, &datagram),
                None => true,
            };
            match exchanges.iter_mut().rev().find(answered) {
                Some(exchange) => exchange.replies.push(datagram),
                None => exchanges.push(Exchange {
                    request: None,
                    replies: vec![datagram],
                }),
            }
        }
        if exchanges.iter().all(|exchange| exchange.replies.is_empty()) {
            return Err("it has no reply of a server".to_owned());
        }
        Ok(Self {
            protocol,
            exchanges,
            queue: VecDeque::new(),
        })
    }

    /// The replies to a request: the most that were recorded for the same request, else all of its
    /// kind.
    fn replies(&self, request: &[u8]) -> Vec<&Bytes> {
        let same = self
            .exchanges
            .iter()
            .filter(|exchange| exchange.request.as_deref() == Some(request));
        if let Some(exchange) = same.max_by_key(|exchange| exchange.replies.len()) {
            return exchange.replies.iter().collect();
        }
        let mut used: Vec<&[u8]> = Vec::new();
        let mut replies = Vec::new();
        for Exchange {
            request: recorded,
            replies: all,
        } in &self.exchanges
        {
            let recorded = recorded.as_deref().unwrap_or_default();
            let of_kind = all
                .iter()
                .filter(|reply| answers(self.protocol, request, reply));
            let before = replies.len();
            if !used.contains(&recorded) {
                replies.extend(of_kind);
            }
            if replies.len() > before {
                used.push(recorded);
            }
        }
        replies
    }
}

impl Machine for Replay {
    fn poll_transmit(&mut self, _now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        let (to, datagram) = self.queue.pop_front()?;
        out.extend_from_slice(&datagram);
        let len = datagram.len();
        Some(Transmit { to, len })
    }

    fn handle_datagram(&mut self, _now: Instant, from: SocketAddr, datagram: &[u8]) -> Handled {
        let Some(asked) = Asked::parse(self.protocol, datagram) else {
            return Handled::Ignored;
        };
        let replies = self.replies(&asked.request);
        let mut datagrams: Vec<Vec<u8>> = replies.iter().map(|reply| asked.echoed(reply)).collect();
        if datagrams.is_empty() && asked.is_challenge() {
            // Only the data was recorded: any challenge will do.
            datagrams.push([&[9], asked.echo, b"0\0"].concat());
        }
        let space = MAX_QUEUED.saturating_sub(self.queue.len());
        let sent = datagrams.into_iter().take(space);
        self.queue.extend(sent.map(|datagram| (from, datagram)));
        Handled::Request(self.protocol)
    }

    fn poll_timeout(&self) -> Option<Instant> {
        None
    }

    fn handle_timeout(&mut self, _now: Instant) {}
}

/// A request, with the part that its reply quotes apart.
struct Asked<'a> {
    protocol: Protocol,
    /// The request without challenge and id.
    request: Vec<u8>,
    /// GameSpy v4: the id; Quake 3: the challenge; else empty.
    echo: &'a [u8],
}

impl<'a> Asked<'a> {
    /// `None` for a datagram that is not a request of this protocol.
    fn parse(protocol: Protocol, datagram: &'a [u8]) -> Option<Self> {
        let (request, echo) = match protocol {
            Protocol::GameSpy1 => {
                gamespy1::Request::parse(datagram).ok()?;
                (datagram.to_vec(), None)
            }
            Protocol::GameSpy4 => {
                gamespy4::Request::parse_without_challenge(datagram).ok()?;
                let (head, rest) = datagram.split_at_checked(7)?;
                let (kind, id) = head.split_at_checked(3)?;
                let selection = match kind.last() {
                    Some(9) => &[],
                    // GameSpy v2 has no challenge, and three bytes.
                    _ => rest.get(4..).unwrap_or(rest),
                };
                ([kind, selection].concat(), Some(id))
            }
            Protocol::Quake3 => match quake3::Request::parse(datagram).ok()?.command {
                quake3::Command::GetInfo { challenge } => (GETINFO.to_vec(), challenge),
                quake3::Command::GetStatus { challenge } => (GETSTATUS.to_vec(), challenge),
                _ => (datagram.to_vec(), None),
            },
            Protocol::Ut2004 => {
                ut2004::Request::parse(datagram).ok()?;
                (datagram.to_vec(), None)
            }
            _ => return None,
        };
        Some(Self {
            protocol,
            request,
            echo: echo.unwrap_or_default(),
        })
    }

    fn is_challenge(&self) -> bool {
        self.protocol == Protocol::GameSpy4 && self.request.get(2) == Some(&9)
    }

    /// A recorded reply with the id or challenge of this request.
    fn echoed(&self, reply: &[u8]) -> Vec<u8> {
        let quoted = match self.protocol {
            Protocol::GameSpy4 => Some(1..5),
            Protocol::Quake3 if !self.echo.is_empty() => challenge_of(reply),
            _ => None,
        };
        let Some(quoted) = quoted else {
            return reply.to_vec();
        };
        match (reply.get(..quoted.start), reply.get(quoted.end..)) {
            (Some(before), Some(after)) => [before, self.echo, after].concat(),
            _ => reply.to_vec(),
        }
    }
}

const GETINFO: &[u8] = b"getinfo";
const GETSTATUS: &[u8] = b"getstatus";

/// The range of the challenge in the infostring of a reply.
fn challenge_of(reply: &[u8]) -> Option<std::ops::Range<usize>> {
    const KEY: &[u8] = br"\challenge\";
    let key = reply.windows(KEY.len()).position(|part| part == KEY)?;
    let start = key + KEY.len();
    let rest = reply.get(start..)?;
    let is_end = |byte: &u8| matches!(byte, b'\\' | b'\n');
    let length = rest.iter().position(is_end).unwrap_or(rest.len());
    Some(start..start + length)
}

/// Whether a reply is of the kind that a request, without its challenge and id, asks for.
fn answers(protocol: Protocol, request: &[u8], reply: &[u8]) -> bool {
    match protocol {
        Protocol::GameSpy4 => request.get(2) == reply.first(),
        Protocol::Ut2004 => match (request.get(4), reply.get(4)) {
            // Rules and players.
            (Some(3), Some(kind)) => matches!(kind, 1 | 2),
            (asked, kind) => asked == kind,
        },
        Protocol::Quake3 => {
            let is = |word: &[u8]| reply.get(4..).is_some_and(|text| text.starts_with(word));
            match request {
                GETINFO => is(b"infoResponse"),
                GETSTATUS => is(b"statusResponse"),
                _ => !is(b"infoResponse") && !is(b"statusResponse"),
            }
        }
        _ => true,
    }
}

/// The datagrams of the first server of a capture that answered in a known protocol, and of its
/// client.
fn first_server(
    datagrams: Vec<capture::Datagram>,
    wanted: Option<Protocol>,
) -> Result<(Protocol, Vec<Recorded>), String> {
    let replied = |datagram: &capture::Datagram| {
        let candidate = inspect(&datagram.payload, &Limits::default())
            .into_iter()
            .next()?;
        let is_wanted = wanted.is_none_or(|wanted| candidate.protocol == wanted);
        (candidate.is_match() && candidate.from_server && is_wanted).then_some(candidate.protocol)
    };
    let found = datagrams
        .iter()
        .find_map(|datagram| Some((replied(datagram)?, datagram.from, datagram.to)));
    let (protocol, server, client) = found.ok_or("no server of a known protocol has replied")?;
    let of_both = datagrams.into_iter().filter_map(|datagram| {
        let ends = (datagram.from, datagram.to);
        let is_request = ends == (client, server);
        (is_request || ends == (server, client)).then_some(Recorded {
            is_request,
            datagram: datagram.payload,
        })
    });
    Ok((protocol, of_both.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replay(protocol: Protocol, recorded: &[(bool, &'static [u8])]) -> Replay {
        let recorded = recorded.iter().map(|(is_request, datagram)| Recorded {
            is_request: *is_request,
            datagram: Bytes::from_static(datagram),
        });
        Replay::new(protocol, recorded.collect()).unwrap()
    }

    #[allow(clippy::disallowed_methods, reason = "any time will do")]
    fn replies(replay: &mut Replay, request: &[u8]) -> Vec<Vec<u8>> {
        let (now, client) = (Instant::now(), ([127, 0, 0, 1], 5000).into());
        replay.handle_datagram(now, client, request);
        let next = || {
            let mut out = Vec::new();
            replay.poll_transmit(now, &mut out).map(|_| out)
        };
        std::iter::from_fn(next).collect()
    }

    #[test]
    fn a_challenge_of_any_length_replaces_the_recorded_one() {
        let recorded: [(bool, &[u8]); 2] = [
            (true, b"\xff\xff\xff\xffgetinfo xxx"),
            (
                false,
                b"\xff\xff\xff\xffinfoResponse\n\\challenge\\xxx\\hostname\\Srv",
            ),
        ];
        let mut replay = replay(Protocol::Quake3, &recorded);
        assert_eq!(
            replies(&mut replay, b"\xff\xff\xff\xffgetinfo longer"),
            [b"\xff\xff\xff\xffinfoResponse\n\\challenge\\longer\\hostname\\Srv"]
        );
        let unanswered = replies(&mut replay, b"\xff\xff\xff\xffgetstatus");
        assert!(unanswered.is_empty(), "{unanswered:?}");
    }

    #[test]
    fn replies_without_requests_are_sent_by_their_kind() {
        let recorded: [(bool, &[u8]); 2] = [
            (false, b"\x80\0\0\0\x01\x02k\0\x02v\0"),
            (
                false,
                b"\x80\0\0\0\x02\x01\0\0\0\x02A\0\0\0\0\0\0\0\0\0\0\0\0\0",
            ),
        ];
        let mut replay = replay(Protocol::Ut2004, &recorded);
        for (kind, count) in [(0, 0), (1, 1), (2, 1), (3, 2)] {
            let request = [0x79, 0, 0, 0, kind];
            assert_eq!(replies(&mut replay, &request).len(), count, "{kind}");
        }
    }

    #[test]
    fn a_server_of_gamespy_v4_whose_data_alone_was_recorded_has_a_challenge() {
        let data = b"\0\x01\x02\x03\x04splitnum\0\x80\0hostname\0Srv\0\0";
        let mut replay = replay(Protocol::GameSpy4, &[(false, data)]);
        let challenge = replies(&mut replay, b"\xfe\xfd\x09\x05\x06\x07\x08");
        assert_eq!(challenge, [b"\x09\x05\x06\x07\x080\0"]);
        let reply = replies(
            &mut replay,
            b"\xfe\xfd\0\x05\x06\x07\x08\0\0\0\0\xff\xff\xff\x01",
        );
        assert_eq!(reply[0][..6], *b"\0\x05\x06\x07\x08s");
    }
}
