//! The servers of the simulation: the crate's responder, other forms of servers, and captures,
//! which are sent unchanged.

use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use bytes::Bytes;
use queryport::serve::Responder;
use queryport::session::Machine;
use queryport::{Dialect, Engine, Protocol, Secret, ServerStatus, Service};

use crate::client::Variant;
use crate::common::captures;
use crate::common::link::Random;
use crate::forms::{Form, GUESSED, Held, cyclic};
use crate::raw;
use crate::shrink::Cut;
use crate::states;

/// A server and its state at each moment.
#[derive(Debug, Clone)]
pub enum Server {
    /// The crate's responder.
    Responder(Service, Vec<Arc<ServerStatus>>),
    /// Other servers of GameSpy v1.
    Form(Form, Vec<Held>),
    /// Captures of this protocol, one for each moment.
    Capture(Protocol, Vec<Vec<Bytes>>),
    /// A server of this protocol that does not escape texts. GameSpy v4: the flag is whether a
    /// challenge can be used only once.
    Raw(Protocol, Vec<raw::Held>, bool),
    /// A server of a sibling, which answers every request in this dialect.
    Sibling(Dialect, Vec<Vec<Bytes>>),
}

/// The number of moments of a server.
pub const MOMENTS: usize = 3;

/// The captures of a protocol: the project's own, and those of `QUERYPORT_CAPTURES`.
fn captured(protocol: Protocol) -> &'static [Vec<Bytes>] {
    static ALL: OnceLock<Vec<(Protocol, Vec<Vec<Bytes>>)>> = OnceLock::new();
    let all = ALL.get_or_init(|| {
        let packets = |protocol: Protocol| {
            let all = captures::cases(protocol.as_str())
                .into_iter()
                .map(|case| case.packets);
            // A UT2004 server without a captured info cannot answer.
            let has_info =
                |packets: &Vec<Bytes>| packets.iter().any(|packet| packet.get(4) == Some(&0));
            all.filter(|packets| protocol != Protocol::Ut2004 || has_info(packets))
                .collect()
        };
        Protocol::ALL
            .into_iter()
            .map(|protocol| (protocol, packets(protocol)))
            .collect()
    });
    &all.iter().find(|(of, _)| *of == protocol).unwrap().1
}

impl Server {
    /// A random server.
    pub fn random(variant: Variant, random: &mut Random, cut: &Cut) -> Self {
        match variant {
            Variant::Usual(protocol) => Self::usual(protocol, random, cut),
            Variant::GameSpy2 => Self::sibling((Dialect::GameSpy2, Engine::GameSpy2), random, cut),
            Variant::Quake2 => Self::sibling((Dialect::Quake2, Engine::Quake2), random, cut),
            Variant::QuakeWorld => {
                Self::sibling((Dialect::QuakeWorld, Engine::QuakeWorld), random, cut)
            }
        }
    }

    /// A random server of a sibling: a capture, one written from its engine's source, or the
    /// crate's.
    fn sibling((dialect, engine): (Dialect, Engine), random: &mut Random, cut: &Cut) -> Self {
        let begins = raw::beginning(dialect);
        let is_its = |packets: &&Vec<Bytes>| packets.iter().any(|one| one.starts_with(begins));
        let all: Vec<&Vec<Bytes>> = captured(engine.protocol()).iter().filter(is_its).collect();
        if random.chance(0.15) && !all.is_empty() && dialect != Dialect::GameSpy2 {
            let any = |random: &mut Random| all[random.below(all.len() as u64) as usize].clone();
            return Self::Sibling(dialect, (0..MOMENTS).map(|_| any(random)).collect());
        }
        if random.chance(0.5) {
            let moments = raw::sibling_moments(dialect, random, MOMENTS, cut);
            return Self::Sibling(dialect, moments);
        }
        let moments = states::moments(random, MOMENTS, cut);
        let service = Service::new(engine);
        let service = if random.chance(0.6) {
            service.with_max_reply(16_000)
        } else {
            service
        };
        Self::Responder(service, moments)
    }

    /// The dialect of a sibling's server.
    pub fn dialect(&self) -> Option<Dialect> {
        match self {
            Self::Sibling(dialect, _) => Some(*dialect),
            Self::Responder(service, _) => match service.engine() {
                Engine::GameSpy2 => Some(Dialect::GameSpy2),
                Engine::Quake2 => Some(Dialect::Quake2),
                Engine::QuakeWorld => Some(Dialect::QuakeWorld),
                _ => None,
            },
            _ => None,
        }
    }

    /// A random server of this protocol.
    fn usual(protocol: Protocol, random: &mut Random, cut: &Cut) -> Self {
        if random.chance(0.15) {
            let all = captured(protocol);
            let any = |random: &mut Random| all[random.below(all.len() as u64) as usize].clone();
            return Self::Capture(protocol, (0..MOMENTS).map(|_| any(random)).collect());
        }
        if protocol == Protocol::GameSpy1 && random.chance(0.6) {
            let form = Form::ALL[random.below(8) as usize];
            let mut held = vec![Held::random(form, random, cut)];
            for _ in 1..MOMENTS {
                held.push(held[held.len() - 1].next(random, cut));
            }
            return Self::Form(form, held);
        }
        if matches!(protocol, Protocol::GameSpy4 | Protocol::Quake3) && random.chance(0.25) {
            let is_once = random.chance(0.5);
            return Self::Raw(
                protocol,
                raw::Held::moments(protocol, random, MOMENTS, cut),
                is_once,
            );
        }
        let moments = states::moments(random, MOMENTS, cut);
        let any = random.below(16) as usize;
        use Engine::*;
        let service = match protocol {
            Protocol::GameSpy1 => Service::new([Unreal, Qr1][any % 2]),
            Protocol::GameSpy4 => {
                let mut service =
                    Service::new([UnrealTournament3, Battlefield2, Minecraft][any % 3]);
                if any < 3 {
                    service = service.with_max_reply(3000);
                }
                service
            }
            Protocol::Quake3 => {
                let engines = [Quake3, DarkPlaces, Warsow, SoldierOfFortune2, MedalOfHonor];
                let service = Service::new(engines[any % 5]);
                if any > 5 {
                    service.with_max_reply(16_000)
                } else {
                    service
                }
            }
            Protocol::Ut2004 => {
                let service = Service::new([Ut2004, Ut2003, KillingFloor][any % 3]);
                if any == 15 {
                    service.with_max_datagrams(3)
                } else {
                    service
                }
            }
            other => panic!("{other} is not simulated"),
        };
        Self::Responder(service, moments)
    }

    /// Its name in the report.
    pub fn name(&self) -> String {
        match self {
            Self::Responder(service, _) => format!("responder {:?}", service.engine()),
            Self::Form(form, _) => format!("{form:?}"),
            Self::Capture(..) => "capture".to_owned(),
            Self::Sibling(dialect, _) => format!("{dialect:?}"),
            Self::Raw(_, _, is_once) => {
                format!("raw{}", if *is_once { "" } else { ", challenges again" })
            }
        }
    }
}

/// A running server: its tokens, its counter of replies and its moment.
pub struct Live<'a> {
    server: &'a Server,
    responder: Option<Responder>,
    /// The number of the next reply, which other clients increase.
    pub number: u64,
    /// The challenges of a server that accepts each only once.
    challenges: Vec<u32>,
    random: Random,
    pub moment: usize,
}

impl<'a> Live<'a> {
    pub fn new(server: &'a Server, moment: usize, seed: u64, now: Instant) -> Self {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        let secret = Secret::new(bytes);
        let responder = match server {
            Server::Responder(service, moments) => {
                let status = Arc::clone(&moments[moment]);
                Some(Responder::new(service.clone(), status, secret, now).with_guard(None))
            }
            _ => None,
        };
        Self {
            server,
            responder,
            number: GUESSED,
            challenges: Vec::new(),
            random: Random(seed),
            moment,
        }
    }

    /// Moves to the next moment, if there is one.
    pub fn change(&mut self) {
        self.moment = (self.moment + 1).min(MOMENTS - 1);
        if let (Some(responder), Server::Responder(_, moments)) = (&mut self.responder, self.server)
        {
            responder.set_status(Arc::clone(&moments[self.moment]));
        }
    }

    /// Handles a datagram. Returns those that the server sends.
    pub fn handle(&mut self, now: Instant, from: SocketAddr, datagram: &[u8]) -> Vec<Bytes> {
        match self.server {
            Server::Responder(service, _) => {
                let responder = self.responder.as_mut().unwrap();
                responder.handle_datagram(now, from, datagram);
                let mut out = Vec::new();
                let mut replies = Vec::new();
                while responder.poll_transmit(now, &mut out).is_some() {
                    replies.push(Bytes::from(std::mem::take(&mut out)));
                }
                if service.engine() == Engine::Unreal {
                    return replies
                        .iter()
                        .map(|reply| numbered(reply, cyclic(self.number)))
                        .collect();
                }
                replies
            }
            Server::Form(form, held) => match datagram {
                [b'\\', ..] => held[self.moment].reply(*form, self.number),
                _ => Vec::new(),
            },
            Server::Capture(protocol, moments) => {
                scripted(*protocol, &moments[self.moment], datagram)
            }
            Server::Raw(Protocol::GameSpy4, moments, is_once) => match datagram {
                [0xFE, 0xFD, 0x09, id @ ..] if id.len() == 4 => {
                    let challenge = 1 + self.random.next() as u32 % 0x7FFF_FFFF;
                    self.challenges.push(challenge);
                    vec![
                        [b"\x09", id, challenge.to_string().as_bytes(), b"\0"]
                            .concat()
                            .into(),
                    ]
                }
                [0xFE, 0xFD, 0, _, _, _, _, a, b, c, d, _, ..] => {
                    let challenge = u32::from_be_bytes([*a, *b, *c, *d]);
                    let Some(at) = self
                        .challenges
                        .iter()
                        .position(|issued| *issued == challenge)
                    else {
                        return Vec::new();
                    };
                    if *is_once {
                        self.challenges.remove(at);
                    }
                    scripted(
                        Protocol::GameSpy4,
                        &moments[self.moment].datagrams,
                        datagram,
                    )
                }
                _ => Vec::new(),
            },
            Server::Sibling(Dialect::GameSpy2, moments) => match datagram {
                [0xFE, 0xFD, 0, _, _, _, _, 0xFF, 0xFF, 0xFF] => {
                    scripted(Protocol::GameSpy4, &moments[self.moment], datagram)
                }
                _ => Vec::new(),
            },
            Server::Sibling(_, moments) => match datagram {
                [0xFF, 0xFF, 0xFF, 0xFF, ..] => moments[self.moment].clone(),
                _ => Vec::new(),
            },
            Server::Raw(protocol, moments, _) => {
                scripted(*protocol, &moments[self.moment].datagrams, datagram)
            }
        }
    }
}

/// The datagram with another reply number.
fn numbered(datagram: &Bytes, number: u64) -> Bytes {
    const KEY: &[u8] = br"\queryid\";
    let Some(at) = datagram
        .windows(KEY.len())
        .rposition(|window| window == KEY)
    else {
        return datagram.clone();
    };
    let after = &datagram[at + KEY.len()..];
    let dot = after.iter().position(|byte| *byte == b'.').unwrap_or(0);
    [
        &datagram[..at],
        KEY,
        number.to_string().as_bytes(),
        &after[dot..],
    ]
    .concat()
    .into()
}

/// The captured datagrams that answer this request, with its id or challenge.
fn scripted(protocol: Protocol, packets: &[Bytes], request: &[u8]) -> Vec<Bytes> {
    match (protocol, request) {
        (Protocol::GameSpy1, [b'\\', ..]) => packets.to_vec(),
        (Protocol::GameSpy4, [0xFE, 0xFD, 0x09, id @ ..]) if id.len() == 4 => {
            vec![[b"\x09", id, b"12345\0"].concat().into()]
        }
        (Protocol::GameSpy4, [0xFE, 0xFD, 0, a, b, c, d, ..]) => {
            let with_id = |packet: &Bytes| {
                [&[0, *a, *b, *c, *d], packet.get(5..).unwrap_or_default()]
                    .concat()
                    .into()
            };
            packets.iter().map(with_id).collect()
        }
        (Protocol::Quake3, [0xFF, 0xFF, 0xFF, 0xFF, command @ ..]) => {
            let sent = command
                .splitn(2, |&byte| byte == b' ')
                .nth(1)
                .unwrap_or_default();
            packets
                .iter()
                .map(|packet| with_challenge(packet, Some(sent)))
                .collect()
        }
        (Protocol::Ut2004, [_, 0, 0, 0, code]) => {
            let is_asked = |packet: &&Bytes| match (*code, packet.get(4)) {
                (3, Some(1 | 2)) => true,
                (code, Some(of)) => code == *of,
                (_, None) => false,
            };
            packets.iter().filter(is_asked).cloned().collect()
        }
        _ => Vec::new(),
    }
}

/// The datagram with another challenge, or without one. A datagram that quotes none stays as it is.
pub fn with_challenge(datagram: &[u8], challenge: Option<&[u8]>) -> Bytes {
    const KEY: &[u8] = br"\challenge\";
    let Some(at) = datagram.windows(KEY.len()).position(|window| window == KEY) else {
        return Bytes::copy_from_slice(datagram);
    };
    let after = &datagram[at + KEY.len()..];
    let end = after
        .iter()
        .position(|byte| matches!(byte, b'\\' | b'\n'))
        .unwrap_or(after.len());
    let pair = challenge
        .map(|challenge| [KEY, challenge].concat())
        .unwrap_or_default();
    [&datagram[..at], &pair, &after[end..]].concat().into()
}
