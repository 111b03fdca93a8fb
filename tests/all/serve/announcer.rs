//! Heartbeats: a plain model says which ones go out, when, and with what content, for each kind of
//! master.

use std::collections::{BTreeSet, VecDeque};
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use queryport::serve::Announcer;
use queryport::session::{Handled, Machine};
use queryport::{Player, Protocol, ServerStatus};

use crate::common::at;
use crate::common::link::Random;

/// A kind of master.
struct Kind {
    start: fn(Vec<SocketAddr>, &ServerStatus, Instant) -> Announcer,
    /// The heartbeat with this number, of a server with this many players, and this many of them
    /// in a list.
    heartbeat: fn(u32, u32, usize) -> String,
    /// Added to the heartbeats that report a change.
    change: &'static str,
    /// The last heartbeat, and how often it is sent; `None` for a usual one.
    last: (Option<&'static str>, usize),
    needs_game: bool,
    /// Masters ask from any port.
    any_port: bool,
    queries: &'static [&'static [u8]],
}

const SLOTS: u32 = 4;

const KINDS: [Kind; 4] = [
    Kind {
        start: |masters, status, now| {
            Announcer::quake3("DarkPlaces", masters, status, Protocol::Quake3, now).unwrap()
        },
        heartbeat: |_, _, _| r"\xff\xff\xff\xffheartbeat DarkPlaces\n".to_owned(),
        change: "",
        last: (None, 2),
        needs_game: true,
        any_port: false,
        queries: &[b"\xff\xff\xff\xffgetinfo abc", b"\xff\xff\xff\xffgetstatus"],
    },
    Kind {
        start: |masters, status, now| Announcer::quake2(masters, status, now),
        heartbeat: |_, players, listed| {
            let usual = format!(
                r"\xff\xff\xff\xffheartbeat\n\\hostname\\{players}\\maxclients\\4\\protocol\\34\n"
            );
            usual + &r#"0 0 \"Ann\"\n"#.repeat(listed)
        },
        change: "",
        last: (Some(r"\xff\xff\xff\xffshutdown"), 1),
        needs_game: false,
        any_port: false,
        queries: &[b"\xff\xff\xff\xffping", b"\xff\xff\xff\xffstatus"],
    },
    Kind {
        start: |masters, status, now| Announcer::quake_world(masters, status, now),
        heartbeat: |number, players, _| format!(r"a\n{number}\n{players}\n"),
        change: "",
        last: (Some(r"C\n"), 1),
        needs_game: false,
        any_port: false,
        queries: &[b"\xff\xff\xff\xffk\n", b"\xff\xff\xff\xffstatus"],
    },
    Kind {
        start: |masters, status, now| Announcer::gamespy1(7778, masters, status, now).unwrap(),
        heartbeat: |_, _, _| r"\\heartbeat\\7778\\gamename\\Test".to_owned(),
        change: r"\\statechanged\\1",
        last: (
            Some(r"\\heartbeat\\7778\\gamename\\Test\\statechanged\\2"),
            1,
        ),
        needs_game: true,
        any_port: true,
        queries: &[br"\secure\ABCDEF", br"\basic\\status\"],
    },
];

/// Datagrams that no master sends to verify a heartbeat.
const NO_QUERIES: [&[u8]; 3] = [b"\xff\xff\xff\xffgetservers 68 empty", br"\players\", b"?"];

const GAME: Option<&str> = Some("Test");

/// A server of a game with this many players. It counts them, or else lists them.
fn status(game: Option<&str>, players: u32, are_listed: bool) -> ServerStatus {
    let mut status = ServerStatus::default();
    status.game = game.map(Into::into);
    status.name = Some(players.to_string().into());
    if are_listed {
        status.players = (0..players).map(|_| Player::new("Ann")).collect();
    } else {
        status.player_count = Some(players);
    }
    status.max_players = Some(SLOTS);
    status
}

/// Empty, full or neither.
fn occupancy(players: u32) -> u32 {
    u32::from(players > 0) + u32::from(players >= SLOTS)
}

/// What heartbeats report.
#[derive(Clone, Copy)]
enum Report {
    Usual,
    Change,
    End,
}

/// The plain model. Times are in seconds.
struct Model<'a> {
    kind: &'a Kind,
    masters: Vec<SocketAddr>,
    players: u32,
    are_listed: bool,
    due: VecDeque<(SocketAddr, Report)>,
    number: u32,
    last: u64,
    next: u64,
    is_changed: bool,
    is_closed: bool,
    asked: BTreeSet<SocketAddr>,
}

impl Model<'_> {
    fn set_players(&mut self, now: u64, players: u32) {
        if occupancy(self.players) != occupancy(players) {
            self.next = self.next.min(now.max(self.last + 10));
            self.is_changed = true;
        }
        self.players = players;
    }

    /// The next heartbeat: its master and content.
    fn sent(&mut self, now: u64) -> Option<(SocketAddr, String)> {
        if self.due.is_empty() && !self.is_closed && now >= self.next {
            (self.last, self.next, self.number) = (now, now + 300, self.number + 1);
            let report = match std::mem::take(&mut self.is_changed) {
                true => Report::Change,
                false => Report::Usual,
            };
            self.due = self.masters.iter().map(|to| (*to, report)).collect();
        }
        let (to, report) = self.due.pop_front()?;
        let listed = if self.are_listed { self.players } else { 0 };
        let usual = (self.kind.heartbeat)(self.number, self.players, listed as usize);
        let content = match (report, self.kind.last.0) {
            (Report::End, Some(last)) => last.to_owned(),
            (Report::Change, _) => usual + self.kind.change,
            _ => usual,
        };
        Some((to, content))
    }

    fn close(&mut self) {
        if !std::mem::replace(&mut self.is_closed, true) {
            let all = self.masters.repeat(self.kind.last.1);
            let waiting = self.due.drain(..).map(|(to, _)| to).collect::<Vec<_>>();
            let last = waiting.into_iter().chain(all);
            self.due = last.map(|to| (to, Report::End)).collect();
        }
    }

    fn hear(&mut self, from: SocketAddr, is_query: bool) {
        let is_sender = |master: &&SocketAddr| {
            master.ip() == from.ip() && (self.kind.any_port || master.port() == from.port())
        };
        let master = self.masters.iter().find(is_sender);
        self.asked
            .extend(master.filter(|_| is_query && !self.is_closed));
    }
}

/// Some masters, of which those with port 0 have no address to send to.
fn masters(random: &mut Random) -> Vec<SocketAddr> {
    let count = [0, 1, 2, 3, 45][random.below(5) as usize];
    let all = (1..=count).map(|host| match host % 4 {
        3 => at(&format!("192.0.2.{host}:0")),
        0 => at(&format!("[2001:db8::{host}]:27950")),
        _ => at(&format!("192.0.2.{host}:27950")),
    });
    all.collect()
}

/// A random address, as a socket of its family and as one of both families has it.
fn sender(random: &mut Random) -> [SocketAddr; 2] {
    let (host, port) = (1 + random.below(5), 27950 + random.below(5) / 4);
    let address = match host {
        4 => at(&format!("[2001:db8::4]:{port}")),
        _ => at(&format!("192.0.2.{host}:{port}")),
    };
    let as_ipv6 = match address.ip() {
        IpAddr::V4(ip) => ip.to_ipv6_mapped(),
        IpAddr::V6(ip) => ip,
    };
    [address, (as_ipv6, address.port()).into()]
}

/// Takes at most this many heartbeats that are due. Returns how many there were.
fn take(announcer: &mut Announcer, model: &mut Model<'_>, now: (Instant, u64), most: u64) -> usize {
    let (now, seconds) = now;
    let (mut count, mut out) = (0, Vec::new());
    for _ in 0..most {
        let expected = model.sent(seconds);
        let before = out.len();
        let sent = announcer.poll_transmit(now, &mut out).map(|transmit| {
            assert_eq!(transmit.len, out.len() - before);
            for master in &model.masters {
                let is_latest = *master == transmit.to;
                assert_eq!(announcer.announces_to(*master), is_latest);
            }
            (transmit.to, out[before..].escape_ascii().to_string())
        });
        assert_eq!(sent, expected, "at {seconds} s");
        count += usize::from(sent.is_some());
    }
    count
}

/// Plays random events to an announcer and the model. Returns how many heartbeats and queries
/// there were.
fn play(kind: &Kind, random: &mut Random) -> [usize; 2] {
    const PAUSES: [u64; 12] = [0, 0, 0, 1, 5, 9, 10, 11, 289, 299, 300, 301];
    let (start, given) = (Instant::now(), masters(random));
    let are_listed = random.chance(0.5);
    let mut announcer = (kind.start)(given.clone(), &status(GAME, 1, are_listed), start);
    let reachable = given.into_iter().filter(|master| master.port() != 0);
    let mut model = Model {
        kind,
        masters: reachable.take(32).collect(),
        players: 1,
        are_listed,
        due: VecDeque::new(),
        number: 0,
        last: 0,
        next: 0,
        is_changed: false,
        is_closed: false,
        asked: BTreeSet::new(),
    };
    let (mut seconds, mut counts) = (0, [0; 2]);
    for _ in 0..40 {
        seconds += PAUSES[random.below(12) as usize];
        let now = start + Duration::from_secs(seconds);
        announcer.handle_timeout(now);
        match random.below(32) {
            0 => {
                announcer.close();
                model.close();
            }
            1..=10 => {
                let players = random.below(6) as u32;
                let other = [None, Some("Two Words")][random.below(2) as usize];
                let game = if random.chance(0.8) { GAME } else { other };
                let are_listed = random.chance(0.5);
                let set = announcer.set_status(now, &status(game, players, are_listed));
                assert_eq!(set.is_ok(), game == GAME || !kind.needs_game);
                if set.is_ok() {
                    model.set_players(seconds, players);
                    model.are_listed = are_listed;
                }
            }
            11..=18 => {
                let is_query = random.chance(0.7);
                let all = KINDS
                    .iter()
                    .flat_map(|kind| kind.queries)
                    .chain(&NO_QUERIES);
                let fitting = all.filter(|query| kind.queries.contains(query) == is_query);
                let datagrams: Vec<_> = fitting.collect();
                let datagram = datagrams[random.below(datagrams.len() as u64) as usize];
                let [from, mapped] = sender(random);
                let as_seen = if random.chance(0.5) { mapped } else { from };
                let handled = announcer.handle_datagram(now, as_seen, datagram);
                assert_eq!(handled, Handled::Ignored, "the server answers");
                model.hear(from, is_query);
                let events: Vec<_> = std::iter::from_fn(|| announcer.poll_event()).collect();
                counts[1] += events.len();
                assert_eq!(events, Vec::from_iter(std::mem::take(&mut model.asked)));
            }
            // Sometimes not all that are due are taken at once.
            some => {
                let most = (some - 18) * 4;
                counts[0] += take(&mut announcer, &mut model, (now, seconds), most);
            }
        }
        let due = announcer.poll_timeout();
        let is_over = model.is_closed || model.masters.is_empty();
        let next = (!is_over).then(|| start + Duration::from_secs(model.next));
        if model.due.is_empty() {
            assert_eq!(due, next, "at {seconds} s");
        } else {
            assert!(due.is_some_and(|due| due <= now), "heartbeats wait");
        }
    }
    counts
}

#[test]
fn every_heartbeat_goes_out_when_and_as_the_masters_of_its_kind_expect() {
    for (number, kind) in (0..).zip(&KINDS) {
        let mut total = [0; 2];
        for seed in 0..80 {
            let counts = play(kind, &mut Random(number << 32 | seed));
            total = [total[0] + counts[0], total[1] + counts[1]];
        }
        assert!(total[0] > 1600 && total[1] > 60, "kind {number}: {total:?}");
    }
}
