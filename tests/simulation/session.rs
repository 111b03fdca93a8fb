//! One session and its judge.

use std::time::Duration;

use bytes::Bytes;
use kit::link::Random;
use kit::pair::{self, CLIENT, Played, SERVER};
use kit::replay::{Event, replay};
use kit::servers::{Form, Match, Server, Snapshot, Wire};
use queryport::{
    Answer, Limits, Protocol, QueryOptions, StatusQuery, Timing, ToStatus, Verification,
};

use crate::links::Link;

/// One in this many sessions measures memory.
const MEASURED: u64 = 16;

/// How a session ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Complete, and equal to what the server had at one moment.
    Right,
    /// Marked as incomplete or unverified.
    Incomplete,
    /// An error.
    Failed,
    /// Complete, not marked as unverified, and equal to nothing that the server had.
    Wrong,
}

/// The name of a wire's row.
pub fn name(wire: Wire) -> &'static str {
    match wire {
        Wire::GameSpy1(Form::Unreal | Form::Unreal227 | Form::Qr1) => "gamespy1",
        Wire::GameSpy1(Form::SeriousSam) => "serioussam",
        Wire::GameSpy1(Form::Descent3) => "descent3",
        Wire::GameSpy1(Form::Integer) => "swat4",
        Wire::GameSpy1(Form::AdminMod) => "swat4-adminmod",
        Wire::GameSpy2 => "gamespy2",
        Wire::Qr2 => "gamespy4",
        Wire::Minecraft => "minecraft",
        Wire::Quake3 => "quake3",
        Wire::Quake3e => "quake3e",
        Wire::Quake2 => "quake2",
        Wire::QuakeWorld => "quakeworld",
        Wire::Ut2004 => "ut2004",
    }
}

/// A server, its states, and the client that queries it.
struct Course {
    wire: Wire,
    moments: Vec<Match>,
    timing: Timing,
    options: QueryOptions,
    nonce: u64,
    played: Played<Answer>,
}

impl Course {
    fn play(wire: Wire, link: &Link, seed: u64) -> Self {
        let mut random = Random(seed ^ 0x51_0000_0000_0000);
        random.next();
        let mut moments = vec![Match::random(&mut random)];
        let changes_after = match random.chance(link.changes) {
            true => 1 + random.below(3),
            false => u64::MAX,
        };
        let restarts = random.chance(0.3);
        let next = moments[0].next(&mut random);
        let (timing, options) = (
            timing(&mut random),
            options(&mut random).with_dialect(wire.dialect()),
        );
        let (nonce, key) = (random.next(), random.next());
        let mut server = Server::new(wire, random.next() as u32);
        server.number = random.below(300) as u32;
        let mut forged = match random.chance(link.forged) {
            true => forged(wire, &mut random),
            false => Vec::new(),
        };
        let mut answered = 0;
        let answer = |_, _, request: &[u8]| {
            let held = &moments[moments.len() - 1];
            let mut replies = std::mem::take(&mut forged);
            replies.extend(server.answer(held, request));
            answered += 1;
            if answered == changes_after {
                moments.push(next.clone());
                if restarts {
                    server.restart();
                }
            }
            replies.into_iter().map(Bytes::from).collect()
        };
        let query = StatusQuery::new(wire.protocol(), nonce, &options);
        let played = pair::play(query, timing, (link.conditions, key), answer);
        Self {
            wire,
            moments,
            timing,
            options,
            nonce,
            played,
        }
    }

    fn query(&self) -> StatusQuery {
        StatusQuery::new(self.wire.protocol(), self.nonce, &self.options)
    }

    fn verdict(&self) -> Verdict {
        let Ok(outcome) = &self.played.result else {
            return Verdict::Failed;
        };
        let status = outcome.answer.to_status();
        let is_unverified = status.verification == Verification::Unverified;
        if !status.completeness.is_complete() || is_unverified {
            return Verdict::Incomplete;
        }
        let seen = Snapshot::of(&status);
        let mut moments = self.moments.iter();
        if moments.any(|held| self.wire.snapshot(held) == seen) {
            Verdict::Right
        } else {
            Verdict::Wrong
        }
    }

    /// Fails if the session took more requests or time than its options allow.
    fn check_limits(&self) {
        let per_step = 1 + usize::from(self.timing.retries());
        let requests = usize::from(self.timing.max_steps()) * per_step;
        assert!(self.played.requests() <= requests, "too many requests");
        assert!(self.played.elapsed <= self.timing.timeout(), "too long");
    }

    /// Fails if the session holds much more than what has arrived: the datagrams, the joined reply
    /// and the tables of the answer.
    fn check_memory(&self) {
        let server = kit::at(SERVER);
        let arrived = || {
            let log = self.played.log.iter();
            log.filter(move |(_, datagram)| datagram.from == server)
        };
        let events =
            arrived().map(|(at, datagram)| (*at, Event::Datagram(server, &datagram.bytes)));
        let (query, events) = (self.query(), events.collect::<Vec<_>>());
        let held = allocation_counter::measure(|| {
            drop(replay(query, server, self.timing, events, |_, _| {}));
        });
        let bytes: usize = arrived().map(|(_, datagram)| datagram.bytes.len()).sum();
        let most = 64 * 1024 + 4 * bytes as u64;
        let (name, nonce) = (name(self.wire), self.nonce);
        assert!(
            held.bytes_max <= most,
            "{name}, nonce {nonce}: {} bytes of {most}",
            held.bytes_max
        );
    }
}

/// Plays a session and judges it.
pub fn judge(wire: Wire, link: &Link, seed: u64) -> Verdict {
    let course = Course::play(wire, link, seed);
    course.check_limits();
    if seed.is_multiple_of(MEASURED) {
        course.check_memory();
    }
    course.verdict()
}

/// The replies of another server to requests that somebody guessed.
fn forged(wire: Wire, random: &mut Random) -> Vec<Vec<u8>> {
    let token = random.next() as u32 & 0x3FFF_FFFF;
    let [a, b, c, d] = token.to_be_bytes();
    let requests: &[&[u8]] = match wire.protocol() {
        Protocol::GameSpy1 => &[b"\\status\\"],
        Protocol::GameSpy4 => &[
            &[0xFE, 0xFD, 0, 1, 2, 3, 4, 0xFF, 0xFF, 0xFF],
            &[0xFE, 0xFD, 0, 1, 2, 3, 4, a, b, c, d, 0xFF, 0xFF, 0xFF, 1],
        ],
        Protocol::Quake3 => &[b"\xff\xff\xff\xffgetstatus"],
        _ => &[b"\x79\0\0\0\x03", b"\x79\0\0\0\0"],
    };
    let (held, mut server) = (Match::random(random), Server::new(wire, token));
    let replies = requests
        .iter()
        .flat_map(|request| server.answer(&held, request));
    replies.collect()
}

/// Usually the defaults; sometimes no retries, or many, or little time.
fn timing(random: &mut Random) -> Timing {
    let timing = Timing::default();
    match random.below(20) {
        0 => timing.with_retries(0),
        1 => timing.with_retries(5).with_timeout(Duration::from_secs(9)),
        2 => timing.with_timeout(Duration::from_millis(900)),
        3 => timing.with_grace(Duration::from_millis(10)),
        4 => timing.with_max_steps(1 + random.below(4) as u8),
        _ => timing,
    }
}

/// Usually the defaults; sometimes limits that most answers exceed.
fn options(random: &mut Random) -> QueryOptions {
    let options = QueryOptions::default();
    if !random.chance(0.02) {
        return options;
    }
    let limits = Limits::default()
        .with_max_players(10)
        .with_max_rules(20)
        .with_max_answer_bytes(2048)
        .with_max_fragments(3);
    options.with_limits(limits)
}

/// Plays a session and prints its course, and how the answer differs from what the server had.
pub fn show(wire: Wire, link: &Link, seed: u64) {
    let course = Course::play(wire, link, seed);
    for (at, datagram) in &course.played.log {
        let arrow = if datagram.from == kit::at(CLIENT) {
            '>'
        } else {
            '<'
        };
        let (seconds, text) = (at.as_secs_f64(), datagram.bytes.escape_ascii());
        println!(
            "{seconds:.3} {arrow} {} bytes: {text}",
            datagram.bytes.len()
        );
    }
    match &course.played.result {
        Ok(outcome) => {
            let status = outcome.answer.to_status();
            println!("{}", status.completeness);
            let seen = lines(&Snapshot::of(&status));
            for (moment, held) in course.moments.iter().enumerate() {
                let held = lines(&wire.snapshot(held));
                let only = |one: &[String], other: &[String]| -> Vec<String> {
                    let only = one.iter().filter(|line| !other.contains(line));
                    only.cloned().collect()
                };
                println!("not of moment {moment}: {:#?}", only(&seen, &held));
                println!("only of moment {moment}: {:#?}", only(&held, &seen));
            }
        }
        Err(error) => println!("{error}"),
    }
    println!("{:?}", course.verdict());
}

/// A line for each text, player and pair.
fn lines(snapshot: &Snapshot) -> Vec<String> {
    let text = |text: &[u8]| text.escape_ascii().to_string();
    let Snapshot {
        name, map, count, ..
    } = snapshot;
    let head = format!("{} on {}, {count} players", text(name), text(map));
    let players = snapshot.players.iter();
    let players = players.map(|(name, score)| format!("{} {score:?}", text(name)));
    let rules = snapshot.rules.iter();
    let rules = rules.map(|(key, value)| format!("{}={}", text(key), text(value)));
    [head].into_iter().chain(players).chain(rules).collect()
}
