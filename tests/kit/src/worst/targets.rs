//! All code that reads input from the network: parsers, sessions, scanners, responders, masters and
//! list clients.

use std::hint::black_box;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use bytes::Bytes;
use queryport::ServerList;
use queryport::lists::{
    self, Cod4xList, GameSpy1List, GameSpy2List, ListPart, ListSession, Quake3List, Scope,
    Ut2004List,
};
use queryport::quake3::GetServers;
use queryport::quake3::master::{Master, Options};
use queryport::scan::Scanner;
use queryport::serve::{Announcer, GuardOptions, Responder};
use queryport::session::{Conversation, Machine, Session};
use queryport::{
    Dialect, Format, Limits, Player, Protocol, QueryOptions, ScanOptions, Secret, ServerStatus,
    Service, StatusQuery, Team, Timing, ToStatus, gamespy1, gamespy4, inspect, quake3, ut2004,
};

use super::shape::{HEADERS, Input, Shape};

/// How an input is delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// As one datagram.
    Datagram,
    /// As datagrams from one or several addresses.
    Datagrams,
    /// As pieces of a TCP stream.
    Stream,
}

/// The work for an input, ready to be counted once. Returns how many bytes arrived before it ended.
pub type Work = Box<dyn FnMut() -> usize>;

pub struct Target {
    pub name: &'static str,
    pub kind: Kind,
    pub prepare: fn(Input) -> Work,
}

impl Target {
    /// The work for an input of about this length.
    pub fn work(&self, shape: &Shape, size: usize) -> Work {
        let mut input = shape.input(size);
        if self.kind == Kind::Datagram {
            input.datagrams.truncate(1);
        }
        (self.prepare)(input)
    }

    /// The length of the inputs that the search tries.
    pub fn size(&self) -> usize {
        match (self.kind, self.name) {
            // Longer ones are rejected.
            (_, "games" | "gamespy1 request") => 128 + HEADERS,
            (Kind::Datagram, _) => 4096,
            _ => 16_384,
        }
    }
}

const fn target(name: &'static str, kind: Kind, prepare: fn(Input) -> Work) -> Target {
    Target {
        name,
        kind,
        prepare,
    }
}

/// All targets. A name begins with its protocol, if it has one: the search uses it to find seeds.
pub const TARGETS: &[Target] = &[
    target("gamespy1 request", Kind::Datagram, |input| {
        each(input, |bytes| {
            use_result(gamespy1::Request::parse(bytes).map(|request| request.commands().count()));
        })
    }),
    target("gamespy1 response", Kind::Datagram, |input| {
        each(input, |bytes| {
            let Ok(response) = gamespy1::Response::parse(bytes, &limits()) else {
                return;
            };
            black_box((
                response.pairs().count(),
                response.problems().count(),
                response.get("none"),
            ));
            let mut written = Vec::new();
            response.encode(&mut written);
            black_box(written);
        })
    }),
    target("gamespy1 answer", Kind::Datagram, |input| {
        answer(input, |packets| {
            let Ok(answer) = gamespy1::Answer::from_datagrams(packets, &limits()) else {
                return;
            };
            black_box((
                answer.rules().count(),
                answer.echo().is_some(),
                answer.region(),
            ));
            black_box((answer.players().len(), answer.teams().len()));
            read(&answer.to_status());
        })
    }),
    target("gamespy1 session", Kind::Datagrams, |input| {
        session(
            gamespy1::StatusQuery::new(7, &QueryOptions::default().with_limits(limits())),
            input,
            |_| None,
            |_, _| (),
        )
    }),
    target("gamespy1 commands", Kind::Datagrams, |input| {
        use gamespy1::Command::{Basic, Players, Rules, Teams};
        let query = gamespy1::StatusQuery::commands_with_echo(
            &[Basic, Rules, Players, Teams],
            &QueryOptions::default().with_limits(limits()),
        );
        session(query.unwrap(), input, |_| None, |_, _| ())
    }),
    target("gamespy1 list, plain", Kind::Stream, |input| {
        gamespy1_list(false, input)
    }),
    target("gamespy1 list, compressed", Kind::Stream, |input| {
        gamespy1_list(true, input)
    }),
    target("gamespy1 responder", Kind::Datagrams, |input| {
        let mut service = Service::new(Format::GameSpy1);
        service = service.with_echo();
        service = service.with_key(queryport::GameKey::new("Z5Nfb0").unwrap());
        service = service.with_properties(full_status().rules, full_status().rules, true);
        responder(service, input, |_, _| ())
    }),
    target("gamespy4 request", Kind::Datagram, |input| {
        each(input, |bytes| {
            use_result(gamespy4::Request::parse(bytes).map(|request| request.id));
            use_result(gamespy4::Request::parse_without_challenge(bytes).map(|request| request.id));
        })
    }),
    target("gamespy4 response", Kind::Datagram, |input| {
        each(input, |bytes| {
            let Ok(response) = gamespy4::Response::parse(bytes, &limits()) else {
                return;
            };
            black_box(response.problems().count());
        })
    }),
    target("gamespy4 answer", Kind::Datagram, |input| {
        answer(input, gamespy4_answer)
    }),
    target("gamespy4 session", Kind::Datagrams, |input| {
        gamespy4_session(Dialect::Standard, input)
    }),
    target("gamespy4 minecraft session", Kind::Datagrams, |input| {
        gamespy4_session(Dialect::Minecraft, input)
    }),
    target("gamespy4 just cause 2 session", Kind::Datagrams, |input| {
        gamespy4_session(Dialect::JustCause2, input)
    }),
    target("gamespy4 list", Kind::Stream, |input| {
        gamespy4_list(b"", input)
    }),
    target(
        "gamespy4 list, pairs of one server",
        Kind::Stream,
        |input| gamespy4_list(b"\x01\x02\x03\x04\x19\x64\0\0\x80\x01\x02\x03\x04", input),
    ),
    target("gamespy4 responder", Kind::Datagrams, |input| {
        gamespy4_responder(Format::UnrealTournament3, input)
    }),
    target(
        "gamespy4 responder, battlefield 2",
        Kind::Datagrams,
        |input| gamespy4_responder(Format::GameSpy4, input),
    ),
    target("gamespy4 responder, minecraft", Kind::Datagrams, |input| {
        gamespy4_responder(Format::Minecraft, input)
    }),
    target("quake3 request", Kind::Datagram, |input| {
        each(input, |bytes| {
            use_result(quake3::Request::parse(bytes).map(|request| request.direction_byte));
        })
    }),
    target("quake3 response", Kind::Datagram, |input| {
        each(input, |bytes| {
            let Ok(response) = quake3::Response::parse(bytes, &limits()) else {
                return;
            };
            black_box((
                response.info().iter().count(),
                response.info().get("none"),
                response.problems().count(),
            ));
            let scores = response
                .players()
                .filter_map(|line| Some((line.score()?, line.ping()?, line.team())));
            black_box(scores.count());
            let mut written = Vec::new();
            response.encode(&mut written);
            black_box(written);
        })
    }),
    target("quake3 answer", Kind::Datagram, |input| {
        answer(input, |packets| {
            let Ok(answer) = quake3::Answer::from_datagrams(packets, &limits()) else {
                return;
            };
            read(&answer.to_status());
        })
    }),
    target("quake3 reply", Kind::Datagram, |input| {
        each(input, |bytes| {
            let Ok(reply) = quake3::Reply::parse(bytes) else {
                return;
            };
            black_box(reply.encode(&mut Vec::new()).is_ok());
        })
    }),
    target("quake3 huffman", Kind::Datagram, |input| {
        each(input, |bytes| {
            use_result(
                quake3::huffman::decompress(bytes, usize::from(u16::MAX)).map(|plain| plain.len()),
            );
        })
    }),
    target("quake3 session", Kind::Datagrams, |input| {
        session(
            quake3::StatusQuery::new(7, &QueryOptions::default().with_limits(limits())),
            input,
            |_| None,
            |_, _| (),
        )
    }),
    target("quake3 medal of honor session", Kind::Datagrams, |input| {
        let query = quake3::StatusQuery::new(
            7,
            &QueryOptions::default()
                .with_limits(limits())
                .with_dialect(Dialect::MedalOfHonor),
        );
        session(query, input, |_| None, |_, _| ())
    }),
    target("quake3 rcon", Kind::Datagrams, |input| {
        let query = quake3::RconQuery::new(
            quake3::Password::new("secret"),
            "status",
            quake3::RconMode::Plain,
            &limits(),
        )
        .unwrap();
        conversation(
            query,
            input,
            |_| None,
            |_, _| (),
            |answer| drop(black_box(answer)),
        )
    }),
    target("quake3 connect", Kind::Datagrams, |input| {
        let challenge = |request: &[u8]| {
            let asks = request.starts_with(b"\xff\xff\xff\xffgetchallenge");
            asks.then(|| b"\xff\xff\xff\xffchallengeResponse -99".to_vec())
        };
        conversation(
            quake3::ConnectQuery::new(7),
            input,
            challenge,
            |_, _| (),
            |answer| {
                if let Err(refusal) = &answer {
                    black_box(refusal.to_string());
                }
            },
        )
    }),
    target("quake3 list", Kind::Datagrams, |input| {
        let request = GetServers::extended(b"x", 1);
        let query = Quake3List::new(&request, &limits())
            .unwrap()
            .with_scope(Scope::Any)
            .with_passes(8);
        conversation(
            query,
            input,
            |_| None,
            |_, _| (),
            |list| drop(black_box(list)),
        )
    }),
    target("quake3 list part", Kind::Datagram, |input| {
        each(input, |bytes| {
            let Ok(part) = ListPart::parse(bytes) else {
                return;
            };
            black_box(part.iter().count());
        })
    }),
    target("quake3 cod4x list", Kind::Stream, |input| {
        stream(list_session(Cod4xList::new(6)), input.datagrams, |list| {
            drop(black_box(list));
        })
    }),
    target("quake3 responder", Kind::Datagrams, |input| {
        responder(Service::new(Format::Quake3), input, |_, _| ())
    }),
    target("quake3 master", Kind::Datagrams, |input| master(256, input)),
    target("ut2004 request", Kind::Datagram, |input| {
        each(input, |bytes| {
            use_result(ut2004::Request::parse(bytes));
        })
    }),
    target("ut2004 response", Kind::Datagram, |input| {
        each(input, |bytes| {
            let Ok(response) = ut2004::Response::parse(bytes, &limits()) else {
                return;
            };
            match response.body {
                ut2004::Body::Rules(rules) => drop(black_box(rules.iter().count())),
                ut2004::Body::Players(players) => drop(black_box(players.iter().count())),
                _ => {}
            }
            black_box((
                response.problems().count(),
                response.encode(&mut Vec::new()).is_ok(),
            ));
        })
    }),
    target("ut2004 answer", Kind::Datagram, |input| {
        answer(input, |packets| {
            let Ok(answer) = ut2004::Answer::from_datagrams(packets, &limits()) else {
                return;
            };
            black_box((
                answer.rules().count(),
                answer.players().count(),
                answer.info().is_some(),
            ));
            read(&answer.to_status());
        })
    }),
    target("ut2004 session", Kind::Datagrams, |input| {
        // The info record arrives separately.
        let info = |request: &[u8]| (request.get(4) == Some(&0)).then(|| INFO.to_vec());
        session(
            ut2004::StatusQuery::new(7, &QueryOptions::default().with_limits(limits())),
            input,
            info,
            |_, _| (),
        )
    }),
    target("ut2004 session, any info", Kind::Datagrams, |input| {
        session(
            ut2004::StatusQuery::new(7, &QueryOptions::default().with_limits(limits())),
            input,
            |_| None,
            |_, _| (),
        )
    }),
    target(
        "ut2004 session, second reading",
        Kind::Datagrams,
        ut2004_second_reading,
    ),
    target("ut2004 list", Kind::Stream, |input| {
        ut2004_list(Ut2004List::new(3369), input)
    }),
    target("ut2004 list, ut2003", Kind::Stream, |input| {
        ut2004_list(Ut2004List::new(2225), input)
    }),
    target("ut2004 responder", Kind::Datagrams, |input| {
        responder(Service::from(Protocol::Ut2004), input, |_, _| ())
    }),
    target("scanner", Kind::Datagrams, scanner),
    target("responder with its guard", Kind::Datagrams, guarded),
    target("announcer, quake3", Kind::Datagrams, |input| {
        let (masters, service) = (masters(), Service::from(Protocol::Quake3));
        announcer(
            Announcer::quake3(
                "DarkPlaces",
                masters,
                &full_status(),
                service,
                Instant::now(),
            )
            .unwrap(),
            input,
        )
    }),
    target("announcer, gamespy1", Kind::Datagrams, |input| {
        announcer(
            Announcer::gamespy1(7778, masters(), &full_status(), Instant::now()).unwrap(),
            input,
        )
    }),
    target("inspect", Kind::Datagram, |input| {
        each(input, |bytes| drop(black_box(inspect(bytes, &limits()))))
    }),
    target("games", Kind::Datagram, |input| {
        each(input, |bytes| {
            match queryport::games::Game::find(&String::from_utf8_lossy(bytes)) {
                Ok(game) => drop(black_box(game)),
                Err(unknown) => drop(black_box(unknown.to_string())),
            }
        })
    }),
];

const SECRET: Secret = Secret::new([5; 16]);

/// The info record of a server with 255 players, whose answer nothing proves complete.
const INFO: &[u8] = b"\x80\0\0\0\0\0\0\0\0\0\x61\x1e\0\0\0\0\0\0\x04Srv\0\x03DM\0\x04xDM\0\xff\0\0\0\xff\0\0\0\0\0\0\0\0\0\0\0\x020\0";

/// The default limits. An input costs nothing more once it reaches one.
fn limits() -> Limits {
    Limits::default()
}

fn at(number: usize) -> SocketAddr {
    (Ipv4Addr::from_bits(0xC612_0000 + number as u32), 27_960).into()
}

fn masters() -> Vec<SocketAddr> {
    (0..8).map(at).collect()
}

fn use_result<T, E>(result: Result<T, E>) {
    drop(black_box(result));
}

/// The bytes of an input on the wire.
fn wire(datagrams: &[Vec<u8>]) -> usize {
    datagrams
        .iter()
        .map(|datagram| datagram.len() + HEADERS)
        .sum()
}

fn each(input: Input, take: fn(&[u8])) -> Work {
    Box::new(move || {
        input.datagrams.iter().for_each(|datagram| take(datagram));
        wire(&input.datagrams)
    })
}

fn answer(input: Input, take: fn(Vec<Bytes>)) -> Work {
    let bytes = wire(&input.datagrams);
    let mut packets = input.datagrams.into_iter().map(Bytes::from).collect();
    Box::new(move || {
        take(std::mem::take(&mut packets));
        bytes
    })
}

/// Reads everything that a server browser shows.
fn read(status: &ServerStatus) {
    let plain = |text: &queryport::Text| text.plain().len();
    black_box(status.name.as_ref().map(plain));
    black_box(status.map.as_ref().map(plain));
    let names = status
        .players
        .iter()
        .map(|player| player.name.plain().len());
    black_box(names.sum::<usize>());
    black_box(
        status
            .rules
            .iter()
            .map(|(key, value)| key.plain().len() + value.plain().len())
            .sum::<usize>(),
    );
    black_box(status.rules.get("none").is_some());
}

fn gamespy4_answer(packets: Vec<Bytes>) {
    let Ok(answer) = gamespy4::Answer::from_datagrams(packets, &limits()) else {
        return;
    };
    let cells =
        |table: gamespy4::Table<'_>| table.rows().map(|row| row.fields().count()).sum::<usize>();
    black_box((
        answer.rules().len(),
        cells(answer.players()),
        cells(answer.teams()),
    ));
    black_box(answer.problems().count());
    read(&answer.to_status());
}

/// A query whose server sends the input. `reply` returns the server's answer to a request before
/// that; `adapt` changes a datagram to fit the last request.
fn conversation<C: Conversation + 'static>(
    query: C,
    input: Input,
    reply: impl Fn(&[u8]) -> Option<Vec<u8>> + 'static,
    adapt: impl Fn(&[u8], &mut Vec<u8>) + 'static,
    done: fn(C::Answer),
) -> Work {
    let (peer, start) = (at(0), Instant::now());
    let mut session = Session::new(query, peer, Timing::default(), start);
    Box::new(move || {
        let (mut now, mut bytes) = (start, 0);
        let mut every = if input.first > 0 {
            input.first
        } else {
            input.every
        };
        let (mut request, mut datagrams, mut burst) = (Vec::new(), input.datagrams.iter(), 0);
        loop {
            let mut out = Vec::new();
            while session.poll_transmit(now, &mut out).is_some() {
                request = std::mem::take(&mut out);
                if let Some(mut first) = reply(&request) {
                    adapt(&request, &mut first);
                    bytes += first.len() + HEADERS;
                    session.handle_datagram(now, peer, &first);
                }
            }
            if let Some(result) = session.poll_answer() {
                if let Ok(outcome) = result {
                    done(outcome.answer);
                }
                return bytes.max(1);
            }
            let next = if every == 0 || burst < every {
                datagrams.next()
            } else {
                None
            };
            match next {
                Some(datagram) => {
                    burst += 1;
                    let mut datagram = datagram.clone();
                    adapt(&request, &mut datagram);
                    bytes += datagram.len() + HEADERS;
                    session.handle_datagram(now, peer, &datagram);
                }
                None => {
                    (burst, every) = (0, input.every);
                    now = session
                        .poll_timeout()
                        .expect("a running session has a timer")
                        .max(now);
                    session.handle_timeout(now);
                }
            }
        }
    })
}

fn session<C: Conversation<Answer: ToStatus> + 'static>(
    query: C,
    input: Input,
    reply: impl Fn(&[u8]) -> Option<Vec<u8>> + 'static,
    adapt: impl Fn(&[u8], &mut Vec<u8>) + 'static,
) -> Work {
    conversation(query, input, reply, adapt, |answer| {
        read(&answer.to_status());
    })
}

/// Every datagram gets the id of the last request.
fn gamespy4_session(dialect: Dialect, input: Input) -> Work {
    let query = gamespy4::StatusQuery::new(
        7,
        &QueryOptions::default()
            .with_limits(limits())
            .with_dialect(dialect),
    );
    let challenge =
        |request: &[u8]| (request.get(2) == Some(&9)).then(|| b"\x09\0\0\0\x001234\0".to_vec());
    session(query, input, challenge, |request, datagram| {
        if let (Some(id), Some(place)) = (request.get(3..7), datagram.get_mut(1..5)) {
            place.copy_from_slice(id);
        }
    })
}

/// A query that requests the lists twice. The first time, up to 250 long datagrams of the input
/// arrive, and its first one. The second time, all long ones except one arrive, then the rest of
/// the input.
fn ut2004_second_reading(mut input: Input) -> Work {
    let list = |number: usize| {
        let mut datagram = b"\x80\0\0\0\x01".to_vec();
        for rule in 0..15 {
            let text = format!("{number:05}{rule:03}{}", "x".repeat(20));
            datagram.extend([&[29], text.as_bytes(), b"\0\x02v\0"].concat());
        }
        datagram
    };
    let known: Vec<Vec<u8>> = (0..input.datagrams.len().clamp(2, 250)).map(list).collect();
    input.first = known.len() + 1;
    let (first, rest) = input.datagrams.split_at(1);
    input.datagrams = known
        .iter()
        .chain(first)
        .chain(&known[1..])
        .chain(rest)
        .cloned()
        .collect();
    let info = |request: &[u8]| (request.get(4) == Some(&0)).then(|| INFO.to_vec());
    session(
        ut2004::StatusQuery::new(7, &QueryOptions::default().with_limits(limits())),
        input,
        info,
        |_, _| (),
    )
}

fn stream(mut session: ListSession, pieces: Vec<Vec<u8>>, done: fn(ServerList)) -> Work {
    let bytes = wire(&pieces);
    Box::new(move || {
        let (now, mut out) = (Instant::now(), Vec::new());
        for piece in &pieces {
            out.clear();
            session.poll_transmit(now, &mut out);
            session.handle_bytes(now, piece);
        }
        session.handle_end(now);
        if let Some(Ok(list)) = session.poll_answer() {
            done(list);
        }
        bytes.max(1)
    })
}

fn list_session(request: impl Into<lists::ListRequest>) -> ListSession {
    request
        .into()
        .session(0, Timing::default(), Instant::now())
        .unwrap()
}

/// The input follows a greeting.
fn gamespy1_list(compressed: bool, mut input: Input) -> Work {
    let key = queryport::GameKey::new("Z5Nfb0").unwrap();
    let mut request = GameSpy1List::new("ut", key);
    request.compressed = compressed;
    let session = list_session(request);
    input
        .datagrams
        .insert(0, br"\basic\\secure\WFXNEA".to_vec());
    stream(session, input.datagrams, |list| drop(black_box(list)))
}

/// The input follows the unenciphered blocks and this beginning, and is enciphered.
fn gamespy4_list(beginning: &[u8], mut input: Input) -> Work {
    input.datagrams.insert(0, beginning.to_vec());
    let (now, key) = (Instant::now(), "tG3j8c");
    let mut session = list_session(GameSpy2List::new("swat4", key));
    let mut sent = Vec::new();
    session.poll_transmit(now, &mut sent);
    let lengths: Vec<usize> = input.datagrams.iter().map(Vec::len).collect();
    let reply = crate::list_servers::gamespy4::Request::parse(&sent).reply(
        key.as_bytes(),
        b"\0\0abcdef",
        b"challenge",
        &input.datagrams.concat(),
    );
    let head = reply.len() - lengths.iter().sum::<usize>();
    let (clear, mut rest) = reply.split_at(head);
    input.datagrams = vec![clear.to_vec()];
    for length in lengths {
        let (piece, after) = rest.split_at(length);
        input.datagrams.push(piece.to_vec());
        rest = after;
    }
    stream(session, input.datagrams, |list| {
        black_box(
            list.entries
                .iter()
                .map(|entry| entry.fields.len())
                .sum::<usize>(),
        );
    })
}

/// The input follows the login and the count of servers, which never arrive.
fn ut2004_list(request: Ut2004List, mut input: Input) -> Work {
    let is_ut2004 = request.version >= 3000;
    let session = list_session(request);
    let mut login = vec![
        b"\x04\0\0\0\x0312\0".to_vec(),
        b"\x0e\0\0\0\x09APPROVED\0\x03\0\0\0".to_vec(),
    ];
    if is_ut2004 {
        login.push(b"\x0a\0\0\0\x09VERIFIED\0".to_vec());
    }
    login.push(b"\x05\0\0\0\xff\xff\xff\x7f\x01".to_vec());
    login.append(&mut input.datagrams);
    stream(session, login, |list| {
        black_box(list.entries.len());
    })
}

/// 64 players, 40 rules, two teams.
pub fn full_status() -> ServerStatus {
    let mut status = ServerStatus::default();
    (status.name, status.map) = (
        Some("A server of usual length".into()),
        Some("q3dm17".into()),
    );
    (status.game, status.game_type) = (Some("ut".into()), Some("xDeathMatch".into()));
    (status.player_count, status.max_players, status.game_port) = (Some(64), Some(64), Some(7777));
    let player = |number: i32| {
        let mut player = Player::new(format!("Player number {number}"));
        (player.score, player.ping, player.team) =
            (Some(number.into()), Some(40), Some(number % 2));
        player
    };
    status.players = (0..64).map(player).collect();
    status.rules = (0..40)
        .map(|number| (format!("sv_rule{number}"), "value of a rule"))
        .collect();
    let team = |name: &str| {
        let mut team = Team::default();
        (team.name, team.score) = (Some(name.into()), Some(7));
        team
    };
    status.teams = vec![team("Red"), team("Blue")];
    status
}

/// Requests to a server without rate limits.
fn responder(service: Service, input: Input, adapt: fn(&[u8], &mut Vec<u8>)) -> Work {
    let now = Instant::now();
    let mut responder = Responder::new(service, full_status(), SECRET, now).with_guard(None);
    // The first reply of each kind prepares templates.
    let mut token = Vec::new();
    for request in [
        &b"\xfe\xfd\x09\x01\x02\x03\x04"[..],
        br"\status\",
        b"\xff\xff\xff\xffgetstatus",
        b"\x79\0\0\0\x03",
    ] {
        responder.handle_datagram(now, at(0), request);
        let mut out = Vec::new();
        while responder.poll_transmit(now, &mut out).is_some() {
            if request[0] == 0xFE {
                token.clone_from(&out);
            }
            out.clear();
        }
    }
    Box::new(move || {
        let mut out = Vec::new();
        for (number, datagram) in input.datagrams.iter().enumerate() {
            let mut datagram = datagram.clone();
            adapt(&token, &mut datagram);
            responder.handle_datagram(now, at(number % input.sources), &datagram);
            while responder.poll_transmit(now, &mut out).is_some() {
                out.clear();
            }
        }
        wire(&input.datagrams).max(1)
    })
}

/// Each request with room for a token gets the token of the first address.
fn gamespy4_responder(engine: Format, input: Input) -> Work {
    responder(Service::new(engine), input, |challenge, datagram| {
        let Ok(gamespy4::Response::Challenge { value, .. }) =
            gamespy4::Response::parse(challenge, &limits())
        else {
            return;
        };
        if let (Some(0), Some(place)) = (datagram.get(2).copied(), datagram.get_mut(7..11)) {
            place.copy_from_slice(&value.to_be_bytes());
        }
    })
}

/// Requests of all protocols, one per millisecond, to a server with the default rate limits.
fn guarded(input: Input) -> Work {
    let mut now = Instant::now();
    let mut responder = Responder::new(Protocol::GameSpy1, full_status(), SECRET, now);
    for other in [Protocol::GameSpy4, Protocol::Quake3, Protocol::Ut2004] {
        responder = responder.with_service(other);
    }
    let responder = responder.with_guard(Some(GuardOptions::default()));
    let mut responder = responder;
    Box::new(move || {
        let mut out = Vec::new();
        for (number, datagram) in input.datagrams.iter().enumerate() {
            now += Duration::from_millis(1);
            responder.handle_datagram(now, at(number % input.sources), datagram);
            while responder.poll_transmit(now, &mut out).is_some() {
                out.clear();
            }
        }
        wire(&input.datagrams).max(1)
    })
}

/// A master with this many servers, all full. For a list without full servers it checks each and
/// finds none.
pub fn master(servers: usize, input: Input) -> Work {
    let mut now = Instant::now();
    let mut options = Options::default();
    options.scope = Scope::Any;
    let mut master = Master::new(SECRET, options, now);
    let mut out = Vec::new();
    for server in (0..servers).map(|number| at(1000 + number)) {
        master.handle_datagram(now, server, b"\xff\xff\xff\xffheartbeat DarkPlaces\n");
        out.clear();
        master.poll_transmit(now, &mut out).expect("a getinfo");
        let challenge = out.rsplit(|&byte| byte == b' ').next().unwrap_or_default();
        let info = b"\xff\xff\xff\xffinfoResponse\n\\gamename\\x\\protocol\\1\\clients\\8\\sv_maxclients\\8\\challenge\\";
        master.handle_datagram(now, server, &[info, challenge].concat());
    }
    assert_eq!(master.servers().count(), servers);
    Box::new(move || {
        for (number, datagram) in input.datagrams.iter().enumerate() {
            if input.every > 0 && number % input.every == 0 {
                now += Duration::from_secs(1);
                master.handle_timeout(now);
            }
            master.handle_datagram(now, at(number % input.sources), datagram);
            out.clear();
            while master.poll_transmit(now, &mut out).is_some() {
                out.clear();
            }
            while master.poll_event().is_some() {}
        }
        wire(&input.datagrams).max(1)
    })
}

/// Queries 64 servers of all protocols. As many as the input has sources are hostile, and further
/// sources send from other addresses. The others are silent.
fn scanner(input: Input) -> Work {
    Box::new(move || {
        let (mut now, mut bytes, mut burst) = (Instant::now(), 0, 0);
        let targets = (0..64).zip(Protocol::ALL.into_iter().cycle());
        let targets = targets.map(|(number, protocol)| {
            (
                at(number),
                StatusQuery::new(protocol, 7, &QueryOptions::default()),
            )
        });
        let mut scanner = Scanner::new(targets, Timing::default(), ScanOptions::default(), now);
        let (mut out, mut number) = (Vec::new(), 0);
        while !scanner.is_finished() {
            while scanner.poll_transmit(now, &mut out).is_some() {
                out.clear();
            }
            while let Some(scanned) = scanner.poll_answer() {
                if let Ok(outcome) = scanned.result {
                    read(&outcome.answer.to_status());
                }
            }
            if number < input.datagrams.len() && (input.every == 0 || burst < input.every) {
                let datagram = &input.datagrams[number];
                bytes += datagram.len() + HEADERS;
                scanner.handle_datagram(now, at(number % input.sources), datagram);
                (number, burst) = (number + 1, burst + 1);
            } else if let Some(alarm) = scanner.poll_timeout() {
                burst = 0;
                now = alarm.max(now);
                scanner.handle_timeout(now);
            }
        }
        while scanner.poll_answer().is_some() {}
        bytes.max(1)
    })
}

fn announcer(mut announcer: Announcer, input: Input) -> Work {
    Box::new(move || {
        let (mut now, mut out) = (Instant::now(), Vec::new());
        for (number, datagram) in input.datagrams.iter().enumerate() {
            now += Duration::from_millis(1);
            announcer.handle_datagram(now, at(number % input.sources), datagram);
            while announcer.poll_transmit(now, &mut out).is_some() {
                out.clear();
            }
            while announcer.poll_event().is_some() {}
        }
        wire(&input.datagrams).max(1)
    })
}
