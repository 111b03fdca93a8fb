//! What each client sends, and when, to a server that loses, repeats, delays or cuts datagrams, and
//! what it then reports. `courses.txt` lists it, with the requests as letters and the times in ms.

use std::fmt::Write;
use std::time::Duration;

use bytes::Bytes;
use queryport::lists::{ListPart, Quake3List};
use queryport::quake3::{GetServers, RconMode, RconQuery};
use queryport::session::Conversation;
use queryport::{Detail, Dialect, Limits, QueryError, QueryOptions, StatusQuery, Timing, ToStatus};

use crate::common::link::Conditions;
use crate::common::pair::{CLIENT, play};
use crate::common::servers::{Form, Match, Server, Wire};
use crate::common::{assert_listed, at, root};

/// The datagrams that answer a request.
type Replies = Vec<Vec<u8>>;

/// A fault: of the replies to the request with this number, those that leave the server.
struct Fault {
    name: &'static str,
    /// The delay of the link in each direction, in milliseconds.
    delay: u64,
    leave: fn(usize, Replies) -> Replies,
}

const fn fault(name: &'static str, leave: fn(usize, Replies) -> Replies) -> Fault {
    let delay = 30;
    Fault { name, delay, leave }
}

fn without(mut replies: Replies, number: usize) -> Replies {
    if number < replies.len() {
        replies.remove(number);
    }
    replies
}

fn only_if(condition: bool, replies: Replies) -> Replies {
    if condition { replies } else { Vec::new() }
}

fn cut(mut replies: Replies) -> Replies {
    replies
        .iter_mut()
        .for_each(|reply| reply.truncate(reply.len() * 9 / 10));
    replies
}

const FAULTS: [Fault; 12] = [
    fault("none", |_, replies| replies),
    fault("silence", |_, _| Vec::new()),
    fault("the first is lost", |request, replies| {
        only_if(request > 0, replies)
    }),
    fault("two are lost", |request, replies| {
        only_if(request > 1, replies)
    }),
    fault("the second is lost", |request, replies| {
        only_if(request != 1, replies)
    }),
    fault("silence after the first", |request, replies| {
        only_if(request == 0, replies)
    }),
    fault("first datagrams are lost", |_, replies| without(replies, 0)),
    fault("last datagrams are lost", |_, replies| {
        let last = replies.len().saturating_sub(1);
        without(replies, last)
    }),
    fault("all come twice, reversed", |_, replies| {
        replies
            .iter()
            .rev()
            .flat_map(|reply| [reply.clone(), reply.clone()])
            .collect()
    }),
    fault("one is cut", |request, replies| {
        if request == 0 { cut(replies) } else { replies }
    }),
    fault("all are cut", |_, replies| cut(replies)),
    Fault {
        name: "late",
        delay: 700,
        leave: |_, replies| replies,
    },
];

/// The courses of one client.
struct Courses {
    /// Each course, and the faults that lead to it.
    lines: Vec<(String, Vec<&'static str>)>,
    /// The requests that were seen.
    requests: Vec<Vec<u8>>,
}

impl Courses {
    /// The letter of a request.
    fn letter(&mut self, request: &[u8]) -> char {
        let known = self.requests.iter().position(|known| known == request);
        let place = known.unwrap_or_else(|| {
            self.requests.push(request.to_vec());
            self.requests.len() - 1
        });
        char::from(b'A' + place as u8)
    }

    fn play<C: Conversation>(
        &mut self,
        fault: &Fault,
        conversation: C,
        mut server: impl FnMut(&[u8]) -> Replies,
        describe: impl Fn(C::Answer) -> String,
    ) {
        let mut request_number = 0;
        let link = (Conditions::perfect(Duration::from_millis(fault.delay)), 0);
        let timing = Timing::default().with_timeout(Duration::from_secs(6));
        let played = play(conversation, timing, link, |_, _, request| {
            let replies = (fault.leave)(request_number, server(request));
            request_number += 1;
            replies.into_iter().map(Bytes::from).collect()
        });
        let mut course = String::new();
        let sent = played.log.iter();
        for (time, datagram) in sent.filter(|(_, datagram)| datagram.from == at(CLIENT)) {
            let letter = self.letter(&datagram.bytes);
            write!(course, "{letter} {}, ", time.as_millis()).unwrap();
        }
        let end = match played.result {
            Ok(outcome) => {
                let (stats, rtt) = (outcome.stats, outcome.rtt.map(|rtt| rtt.as_millis()));
                let (retries, rejected) = (stats.retries, stats.rejected);
                let answer = describe(outcome.answer);
                format!("{answer}; round trip {rtt:?}, {retries} retries, {rejected} rejected")
            }
            Err(QueryError::Timeout { requests, .. }) => format!("no reply to {requests}"),
            Err(error) => error.to_string(),
        };
        write!(course, "end {}: {end}", played.elapsed.as_millis()).unwrap();
        match self.lines.iter_mut().find(|(known, _)| *known == course) {
            Some((_, faults)) => faults.push(fault.name),
            None => self.lines.push((course, vec![fault.name])),
        }
    }

    fn finish(self, name: &str) -> String {
        let requests = ('A'..).zip(&self.requests);
        let requests = requests.map(|(letter, bytes)| format!("{letter} {}", bytes.escape_ascii()));
        let mut all = format!("{name}: {}\n", requests.collect::<Vec<_>>().join(", "));
        for (course, faults) in self.lines {
            writeln!(all, "  {}: {course}", faults.join(", ")).unwrap();
        }
        all
    }
}

/// A client, and the server that it queries.
const CLIENTS: [(Wire, Dialect, Detail); 12] = [
    (
        Wire::GameSpy1(Form::Unreal),
        Dialect::Standard,
        Detail::Full,
    ),
    (Wire::GameSpy1(Form::Qr1), Dialect::Standard, Detail::Short),
    (Wire::Qr2, Dialect::Standard, Detail::Full),
    (Wire::GameSpy2, Dialect::GameSpy2, Detail::Full),
    (Wire::Minecraft, Dialect::Minecraft, Detail::Full),
    (Wire::Qr2, Dialect::JustCause2, Detail::Full),
    (Wire::Quake3, Dialect::Standard, Detail::Full),
    (Wire::Quake2, Dialect::Quake2, Detail::Full),
    (Wire::QuakeWorld, Dialect::QuakeWorld, Detail::Full),
    (Wire::Ut2004, Dialect::Standard, Detail::Full),
    (Wire::Ut2004, Dialect::SeparateLists, Detail::Full),
    (Wire::Ut2004, Dialect::Standard, Detail::Short),
];

fn courses(play: impl Fn(&mut Courses, &Fault), name: &str) -> String {
    let mut courses = Courses {
        lines: Vec::new(),
        requests: Vec::new(),
    };
    FAULTS.iter().for_each(|fault| play(&mut courses, fault));
    courses.finish(name)
}

fn status_courses((wire, dialect, detail): (Wire, Dialect, Detail)) -> String {
    let options = QueryOptions::default()
        .with_dialect(dialect)
        .with_detail(detail);
    // GameSpy v2 has one datagram.
    let (players, rules) = if wire == Wire::GameSpy2 {
        (5, 9)
    } else {
        (24, 40)
    };
    let held = Match::plain("Server".to_owned(), players, rules);
    let play = |courses: &mut Courses, fault: &Fault| {
        let query = StatusQuery::new(wire.protocol(), 0x0605_0403_0201, &options);
        // As in a scan of several protocols.
        let query: Box<dyn Conversation<Answer = _>> =
            Box::new(query.map(|answer| answer.to_status()));
        let mut server = Server::new(wire, 0x1234_5678);
        courses.play(
            fault,
            query,
            |request| server.answer(&held, request),
            |status| {
                let number = |number: Option<u32>| match number {
                    Some(number) => number.to_string(),
                    None => "unknown".to_owned(),
                };
                let listed = status.players.known().map(|list| list.len() as u32);
                let (listed, counted) = (number(listed), number(status.player_count));
                let (completeness, rules) = (status.completeness, status.rules.len());
                format!("{completeness}, {listed} of {counted} players, {rules} rules")
            },
        );
    };
    courses(play, &format!("{wire:?} {dialect:?} {detail:?}"))
}

fn rcon_courses(mode: RconMode) -> String {
    let print = |text: &str| format!("print\n{text}\n").into_bytes();
    let mark = |body: Vec<u8>| [b"\xff\xff\xff\xff", &body[..]].concat();
    let play = |courses: &mut Courses, fault: &Fault| {
        let query = RconQuery::new("secret", "status", mode, &Limits::default()).unwrap();
        let server = |request: &[u8]| match request.ends_with(b"getchallenge") {
            true => vec![mark(b"challenge ABCDEFGHIJK".to_vec())],
            false => ["map: q3dm17", "Ann", "Bob"]
                .map(|text| mark(print(text)))
                .into(),
        };
        courses.play(fault, query, server, |answer| format!("{answer:?}"));
    };
    courses(play, &format!("rcon {mode:?}"))
}

fn list_courses() -> String {
    let play = |courses: &mut Courses, fault: &Fault| {
        let query = Quake3List::new(&GetServers::extended(b"x", 1), &Limits::default());
        let servers = (1..=600).map(|port| ([192, 0, 2, 1], port).into());
        let parts = ListPart::encode(servers, true);
        let server = |_: &[u8]| parts.iter().map(|part| part.to_vec()).collect();
        courses.play(fault, query.unwrap(), server, |list| {
            format!("{}, {} servers", list.completeness, list.servers.len())
        });
    };
    courses(play, "list of Quake 3")
}

#[test]
fn the_courses_of_all_clients_are_listed() {
    let status = CLIENTS.map(status_courses);
    let rcon = [RconMode::Plain, RconMode::Challenge].map(rcon_courses);
    let all = status.into_iter().chain(rcon).chain([list_courses()]);
    let all = all.collect::<Vec<_>>().join("\n");
    assert_listed(&root().join("tests/all/courses.txt"), &all);
}
