//! A master's datagrams, list and counters, compared with a plain model of its rules. Random servers
//! and clients send it random datagrams, and it is called in any order.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use queryport::lists::{ListPart, Scope};
use queryport::quake3::master::{Master, MasterEvent, MasterStats, Options};
use queryport::session::{Handled, Machine};
use queryport::{Protocol, Secret};

use crate::common::at;
use crate::common::link::Random;

/// Nanoseconds. Times of the model are counted from the start.
const SECOND: u64 = 1_000_000_000;
/// The bytes of lists that may leave at once, and the longest datagram of a list.
const BURST: u64 = 65_536;
const MAX_PART: u64 = 1400;

/// A heartbeat tag.
struct Tag {
    text: &'static str,
    game: Option<&'static str>,
    lacks_clients_if_empty: bool,
}

const fn tag(text: &'static str, game: Option<&'static str>) -> Tag {
    Tag {
        text,
        game,
        lacks_clients_if_empty: false,
    }
}

/// In the order in which a request without a game looks for servers. The last is the caller's own.
const TAGS: [Tag; 6] = [
    tag("DarkPlaces", None),
    tag("QuakeArena-1", Some("Quake3Arena")),
    tag("EnemyTerritory-1", Some("et")),
    tag("STEF1", Some("EliteForce")),
    Tag {
        lacks_clients_if_empty: true,
        ..tag("COD-2", Some("cod2"))
    },
    tag("x", Some("own")),
];
/// Tags that get no answer: of a server that ends, unknown, and with another case.
const NO_TAGS: [&str; 3] = ["ETFlatline-1", "Unknown-1", "darkplaces"];

/// Servers of a few hosts. The last four cannot be listed, of which one is only out of scope.
const SERVERS: [&str; 12] = [
    "192.0.2.1:27960",
    "192.0.2.1:27961",
    "192.0.2.1:27962",
    "192.0.2.2:27960",
    "[2001:db8::1]:27960",
    "[2001:db8::ffff:2]:27960",
    "[2001:db8:0:1::1]:27960",
    "[::ffff:192.0.2.3]:27960",
    "127.0.0.1:27960",
    "192.0.2.1:0",
    "224.0.0.1:27960",
    "255.255.255.255:27960",
];
const CLIENTS: [&str; 6] = [
    "198.51.100.1:1",
    "198.51.100.1:2",
    "[::ffff:198.51.100.2]:1",
    "[2001:db8:1::1]:1",
    "[2001:db8:1::2]:1",
    "198.51.100.3:0",
];

fn canonical(address: &str) -> SocketAddr {
    let address = at(address);
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

/// The host of an address: an IPv4 address, or a /64 of IPv6.
fn host(address: SocketAddr) -> IpAddr {
    match address.ip() {
        IpAddr::V6(ip) => IpAddr::V6((ip.to_bits() >> 64 << 64).into()),
        ip => ip,
    }
}

/// Whether an address can have a reply at all.
fn can_reply(address: SocketAddr) -> bool {
    let is_broadcast = address.ip() == IpAddr::from([255; 4]);
    address.port() != 0 && !address.ip().is_multicast() && !is_broadcast
}

type Game = (String, i32);

/// The values of a description; `None` without the key.
#[derive(Debug, Default, Clone, Copy)]
struct Info {
    game: Option<&'static str>,
    protocol: Option<i32>,
    players: Option<u32>,
    slots: Option<u32>,
    game_type: Option<&'static str>,
}

#[derive(Debug)]
struct Entry {
    game: Game,
    is_empty: bool,
    is_full: bool,
    game_type: &'static str,
    expires: u64,
}

/// A request for a list.
#[derive(Debug, Clone)]
struct Wanted {
    extended: bool,
    game: Option<&'static str>,
    protocol: i32,
    empty: bool,
    full: bool,
    ipv4: bool,
    ipv6: bool,
    game_type: Option<&'static str>,
}

#[derive(Debug)]
struct List {
    to: SocketAddr,
    game: Game,
    wanted: Wanted,
    /// The first server that was not sent; `None` while the list waits.
    next: Option<SocketAddr>,
}

/// A challenge that a server was sent, and the interval of two seconds in which it was made.
#[derive(Debug, Clone)]
struct Challenge {
    bytes: Vec<u8>,
    server: SocketAddr,
    tag: usize,
    interval: u64,
}

/// The plain model.
struct Model {
    options: Options,
    servers: BTreeMap<SocketAddr, Entry>,
    /// The challenges to send, still without their bytes, and their lengths.
    requests: VecDeque<(Challenge, usize)>,
    challenges: Vec<Challenge>,
    lists: VecDeque<List>,
    /// When the bucket of all bytes is empty, and those of the lists of each source.
    bytes_gone_at: u64,
    lists_gone_at: BTreeMap<IpAddr, u64>,
    next_sweep: u64,
    events: VecDeque<MasterEvent>,
    stats: MasterStats,
}

impl Model {
    fn new(options: Options) -> Self {
        Self {
            options,
            servers: BTreeMap::new(),
            requests: VecDeque::new(),
            challenges: Vec::new(),
            lists: VecDeque::new(),
            bytes_gone_at: 0,
            lists_gone_at: BTreeMap::new(),
            next_sweep: 10 * SECOND,
            events: VecDeque::new(),
            stats: MasterStats::default(),
        }
    }

    fn has_room(&self, server: SocketAddr) -> bool {
        let all = self.servers.keys();
        let at_host = all.filter(|known| host(**known) == host(server)).count();
        self.servers.contains_key(&server)
            || (self.servers.len() < self.options.max_servers
                && at_host < self.options.max_per_address)
    }

    fn accepts(&self, game: &str) -> bool {
        !self.options.except.iter().any(|known| known == game)
    }

    fn heartbeat(&mut self, now: u64, server: SocketAddr, text: &str, length: usize) {
        let known = TAGS.iter().position(|tag| tag.text == text);
        let is_in_scope = self.options.scope == Scope::Any || !server.ip().is_loopback();
        match known.filter(|_| is_in_scope && self.has_room(server) && length >= 16) {
            Some(tag) => {
                let challenge = Challenge {
                    bytes: Vec::new(),
                    server,
                    tag,
                    interval: now / (2 * SECOND),
                };
                let space = length.saturating_sub(12);
                self.requests.push_back((challenge, space.clamp(8, 11)));
                self.stats.heartbeats += 1;
            }
            None => self.stats.heartbeats_refused += 1,
        }
    }

    /// The entry of a server with this description, if it can be listed.
    fn entry(&self, now: u64, tag: &Tag, info: &Info) -> Option<Entry> {
        let game = match (info.game, tag.game) {
            (Some(named), Some(known)) if named != known => return None,
            (named, known) => named.or(known)?,
        };
        let none_if_empty = Some(0).filter(|_| tag.lacks_clients_if_empty);
        let players = info.players.or(none_if_empty)?;
        let slots = info.slots.filter(|slots| *slots > 0)?;
        let game_type = info.game_type.unwrap_or("0");
        if game.contains(' ') || game_type.contains(' ') || !self.accepts(game) {
            return None;
        }
        Some(Entry {
            game: (game.to_owned(), info.protocol?),
            is_empty: players == 0,
            is_full: players >= slots,
            game_type,
            expires: now + self.options.lifetime.as_nanos() as u64,
        })
    }

    fn describe(&mut self, now: u64, server: SocketAddr, quoted: &[u8], info: &Info) {
        let interval = now / (2 * SECOND);
        let issued = self.challenges.iter().find(|challenge| {
            let is_fresh = (challenge.interval..=challenge.interval + 1).contains(&interval);
            let is_quoted = quoted.len() >= 8 && challenge.bytes.starts_with(quoted);
            challenge.server == server && is_fresh && is_quoted
        });
        let Some(tag) = issued.map(|challenge| &TAGS[challenge.tag]) else {
            self.stats.unproved += 1;
            return;
        };
        let Some(entry) = self.entry(now, tag, info) else {
            self.stats.unusable += 1;
            return;
        };
        if !self.has_room(server) {
            self.stats.no_room += 1;
            return;
        }
        self.stats.listed += 1;
        if self.servers.insert(server, entry).is_none() {
            self.events.push_back(MasterEvent::Listed(server));
        }
    }

    /// The game of a request, if its servers are listed.
    fn game(&self, wanted: &Wanted) -> Option<Game> {
        if let Some(name) = wanted.game {
            return Some((name.to_owned(), wanted.protocol)).filter(|_| self.accepts(name));
        }
        let named = TAGS.iter().filter_map(|tag| tag.game);
        let mut games = named.map(|name| (name.to_owned(), wanted.protocol));
        let has_servers = |game: &Game| self.servers.values().any(|entry| entry.game == *game);
        Some(games.find(has_servers).unwrap_or_default())
    }

    fn request(&mut self, now: u64, client: SocketAddr, wanted: Wanted) {
        let source = host(client);
        let is_waiting = |list: &&List| host(list.to) == source && list.next.is_none();
        let waiting = self.lists.iter().filter(is_waiting).count() as u64;
        let decay = self.options.list_decay.as_nanos() as u64;
        let gone_at = self.lists_gone_at.get(&source).copied().unwrap_or_default();
        let gone_at = gone_at.max(now) + waiting * decay;
        let has_share = gone_at + decay <= now + u64::from(self.options.lists_in_a_row) * decay;
        let is_under_way = self.lists.iter().any(|list| list.to == client);
        match self.game(&wanted).filter(|_| has_share && !is_under_way) {
            Some(game) => {
                self.lists.push_back(List {
                    to: client,
                    game,
                    wanted,
                    next: None,
                });
                self.stats.lists += 1;
            }
            None => self.stats.lists_refused += 1,
        }
    }

    /// When the bucket of bytes has room for a datagram, if a list waits.
    fn list_due(&self, now: u64) -> Option<u64> {
        let rest = self.time_of(BURST) - self.time_of(MAX_PART);
        let ready_at = self.bytes_gone_at.saturating_sub(rest);
        (!self.lists.is_empty()).then_some(ready_at.max(now))
    }

    fn time_of(&self, bytes: u64) -> u64 {
        bytes * SECOND / u64::from(self.options.list_bytes_per_second).max(BURST)
    }

    /// The next datagram of a list: the client, the servers, and whether the list ends.
    fn part(&mut self, now: u64) -> Option<(SocketAddr, Vec<SocketAddr>, bool)> {
        self.list_due(now).filter(|due| *due <= now)?;
        let list = &self.lists[0];
        let (wanted, to, first) = (&list.wanted, list.to, list.next);
        let is_hexadecimal = list.game.0 == "EliteForce" && !wanted.extended;
        let has_all = list.game.0 == "et";
        let of_game = self
            .servers
            .iter()
            .filter(|(_, entry)| entry.game == list.game);
        let left = of_game.filter(|(server, _)| first.is_none_or(|first| **server >= first));
        let mut length = 4 + if wanted.extended { 21 } else { 18 };
        let (mut examined, mut servers, mut next) = (0, Vec::new(), None);
        for (server, entry) in left {
            examined += 1;
            let is_wanted_family = match server {
                SocketAddr::V4(_) => !wanted.extended || wanted.ipv4 || !wanted.ipv6,
                SocketAddr::V6(_) => wanted.extended && (wanted.ipv6 || !wanted.ipv4),
            };
            let is_wanted = is_wanted_family
                && entry.expires > now
                && wanted
                    .game_type
                    .is_none_or(|wanted| wanted == entry.game_type)
                && (!entry.is_empty || wanted.empty || has_all)
                && (!entry.is_full || entry.is_empty || wanted.full || has_all);
            if !is_wanted {
                continue;
            }
            let address = match server {
                SocketAddr::V6(_) => 19,
                SocketAddr::V4(_) if is_hexadecimal => 13,
                SocketAddr::V4(_) => 7,
            };
            // A separator follows the address.
            if length + address + 1 > MAX_PART {
                next = Some(*server);
                break;
            }
            length += address;
            servers.push(*server);
        }
        let ends = next.is_none() && length + 7 <= MAX_PART;
        length += if ends { 7 } else { 1 };
        let cost = self.time_of(length.max(7 * examined));
        self.bytes_gone_at = self.bytes_gone_at.max(now) + cost;
        if first.is_none() {
            let gone_at = self.lists_gone_at.entry(host(to)).or_default();
            *gone_at = (*gone_at).max(now) + self.options.list_decay.as_nanos() as u64;
        }
        if ends {
            self.lists.pop_front();
        } else {
            let after_all = at("[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535");
            self.lists[0].next = Some(next.unwrap_or(after_all));
        }
        Some((to, servers, ends))
    }

    fn time(&mut self, now: u64) {
        if now < self.next_sweep {
            return;
        }
        self.next_sweep = now + 10 * SECOND;
        let expired = self.servers.extract_if(.., |_, entry| entry.expires <= now);
        let expired = expired.map(|(server, _)| MasterEvent::Expired(server));
        self.events.extend(expired);
        // The latest 256 are kept.
        let too_many = self.events.len().saturating_sub(256);
        self.events.drain(..too_many);
    }

    fn first_expiry(&self) -> Option<u64> {
        let expiries = self.servers.values().map(|entry| entry.expires);
        expiries.min()
    }

    fn due(&self, now: u64) -> Option<u64> {
        let request = (!self.requests.is_empty()).then_some(now);
        let sweep = (!self.servers.is_empty()).then_some(self.next_sweep);
        let all = [request, self.list_due(now), sweep];
        all.into_iter().flatten().min()
    }
}

/// A master, its model and the random numbers of a play.
struct Course<'a> {
    /// Whether the lists take more bytes than may leave at once.
    is_large: bool,
    master: Master,
    model: Model,
    random: &'a mut Random,
    start: Instant,
    now: u64,
    /// Requests, lists, and datagrams of lists after the first.
    sent: [u64; 3],
}

impl<'a> Course<'a> {
    fn new(random: &'a mut Random) -> Self {
        let start = Instant::now();
        let mut options = Options::default();
        options.max_servers = pick(random, [3, 1000]);
        options.max_per_address = pick(random, [1, 2, 32]);
        options.lifetime = Duration::from_secs(pick(random, [3, 25, 900]));
        options.scope = pick(random, [Scope::Any, Scope::Lan]);
        options.except = pick(random, [&[][..], &["Other", "et"]])
            .iter()
            .map(|game| (*game).to_owned())
            .collect();
        options.tags = vec![("x".to_owned(), "own".to_owned())];
        options.lists_in_a_row = pick(random, [1, 2, 4]);
        options.list_decay = Duration::from_millis(pick(random, [700, 3000]));
        options.list_bytes_per_second = pick(random, [0, 100_000, 4 << 20]);
        let is_large = random.chance(0.04);
        if is_large {
            (options.max_servers, options.lists_in_a_row) = (1000, pick(random, [2, 3, 50]));
            options.lifetime = Duration::from_secs(900);
            options.list_bytes_per_second = pick(random, [0, 100_000]);
        }
        Self {
            is_large,
            master: Master::new(Secret::new([7; 16]), options.clone(), start),
            model: Model::new(options),
            random,
            start,
            now: 0,
            sent: [0; 3],
        }
    }

    fn instant(&self) -> Instant {
        self.start + Duration::from_nanos(self.now)
    }

    fn pick<T: Copy, const N: usize>(&mut self, choices: [T; N]) -> T {
        pick(self.random, choices)
    }

    fn receive(&mut self, from: SocketAddr, text: &[u8], expected: Handled) -> bool {
        let datagram = [b"\xff\xff\xff\xff", text].concat();
        let now = self.instant();
        let handled = self.master.handle_datagram(now, from, &datagram);
        let from = SocketAddr::new(from.ip().to_canonical(), from.port());
        if can_reply(from) {
            assert_eq!(handled, expected, "{}", text.escape_ascii());
            return true;
        }
        assert_eq!(handled, Handled::Refused);
        self.model.stats.ignored += 1;
        false
    }

    fn heartbeat(&mut self, from: SocketAddr) {
        let known = TAGS[self.random.below(6) as usize].text;
        let unknown = self.pick(NO_TAGS);
        let tag = self.pick([known, known, known, known, known, unknown]);
        let end = self.pick(["", "\n"]);
        let text = format!("heartbeat {tag}{end}");
        if self.receive(from, text.as_bytes(), Handled::Request(Protocol::Quake3)) {
            let from = SocketAddr::new(from.ip().to_canonical(), from.port());
            self.model.heartbeat(self.now, from, tag, 4 + text.len());
        }
    }

    /// A description with a challenge that was sent to somebody, or with another text.
    fn describe(&mut self) {
        let latest = self.model.challenges.len().saturating_sub(4);
        let known: Vec<_> = self.model.challenges[latest..].to_vec();
        let Some(challenge) = known.get(self.random.below(5) as usize) else {
            let server = self.pick(SERVERS);
            return self.describe_as(at(server), b"AAAAAAAAAAA", &Info::default());
        };
        let other = canonical(self.pick(SERVERS));
        let from = self.pick([challenge.server, challenge.server, challenge.server, other]);
        let length = self
            .pick([11, 11, 11, 11, 11, 8, 7])
            .min(challenge.bytes.len());
        let named = TAGS[challenge.tag].game;
        let usual = Info {
            game: named.or(Some("Test")),
            protocol: Some(5),
            players: self.pick([Some(0), Some(1), Some(8), Some(9)]),
            slots: Some(8),
            game_type: self.pick([None, Some("0"), Some("4")]),
        };
        let other = Info {
            game: self.pick([named, Some("Test"), Some("Other"), Some("a b"), None]),
            protocol: self.pick([Some(5), Some(68), Some(0), Some(-1), None]),
            players: self.pick([Some(0), Some(1), None]),
            slots: self.pick([Some(8), Some(0), None]),
            game_type: self.pick([Some("0"), Some("a b")]),
        };
        let info = self.pick([usual, usual, other]);
        self.describe_as(from, &challenge.bytes[..length], &info);
    }

    fn describe_as(&mut self, from: SocketAddr, challenge: &[u8], info: &Info) {
        let pair = |key, value: Option<String>| value.map(|value| format!(r"\{key}\{value}"));
        let pairs = [
            pair("gamename", info.game.map(str::to_owned)),
            pair("protocol", info.protocol.map(|number| number.to_string())),
            pair("clients", info.players.map(|number| number.to_string())),
            pair("sv_maxclients", info.slots.map(|number| number.to_string())),
            pair("gametype", info.game_type.map(str::to_owned)),
            pair("mapname", Some(String::new())),
        ];
        let pairs: String = pairs.into_iter().flatten().collect();
        let text = format!("infoResponse\n{pairs}\\challenge\\");
        if self.receive(from, &[text.as_bytes(), challenge].concat(), Handled::Reply) {
            let from = SocketAddr::new(from.ip().to_canonical(), from.port());
            self.model.describe(self.now, from, challenge, info);
        }
    }

    fn request_any(&mut self) {
        let is_usual = self.is_large && self.random.chance(0.8);
        let extended = is_usual || self.random.chance(0.6);
        let others = self.pick(["Quake3Arena", "et", "EliteForce", "own", "Other"]);
        let named = self.pick(["Test", if is_usual { "Test" } else { others }]);
        let wanted = Wanted {
            extended,
            game: Some(named).filter(|_| extended || self.random.chance(0.6)),
            protocol: if is_usual {
                5
            } else {
                self.pick([5, 5, 68, 0, -1])
            },
            empty: self.random.chance(0.5),
            full: self.random.chance(0.5),
            ipv4: self.random.chance(0.3),
            ipv6: self.random.chance(0.3),
            game_type: self.pick([None, None, Some("0"), Some("4")]),
        };
        self.request(wanted);
    }

    fn request(&mut self, wanted: Wanted) {
        let client = at(self.pick(CLIENTS));
        let mut words = vec![
            if wanted.extended {
                "getserversExt"
            } else {
                "getservers"
            }
            .to_owned(),
        ];
        words.extend(wanted.game.map(str::to_owned));
        words.push(wanted.protocol.to_string());
        let choices = [
            (wanted.empty, "empty"),
            (wanted.full, "full"),
            (wanted.ipv4, "ipv4"),
            (wanted.ipv6, "ipv6"),
        ];
        let chosen = choices.into_iter().filter(|(is_chosen, _)| *is_chosen);
        words.extend(chosen.map(|(_, word)| word.to_owned()));
        words.extend(wanted.game_type.map(|name| format!("gametype={name}")));
        let text = words.join(" ");
        if self.receive(client, text.as_bytes(), Handled::Request(Protocol::Quake3)) {
            let client = SocketAddr::new(client.ip().to_canonical(), client.port());
            self.model.request(self.now, client, wanted);
        }
    }

    /// Takes a datagram, if there is one.
    fn take(&mut self) -> bool {
        let now = self.instant();
        // The buffer may hold other datagrams.
        let mut out = vec![7; 3];
        let transmit = self.master.poll_transmit(now, &mut out);
        let sent = transmit.map(|transmit| {
            assert_eq!(transmit.len, out.len() - 3);
            (transmit.to, &out[3..])
        });
        if let Some((mut challenge, length)) = self.model.requests.pop_front() {
            let (to, datagram) = sent.expect("a request waits");
            let bytes = datagram.strip_prefix(b"\xff\xff\xff\xffgetinfo ").unwrap();
            assert_eq!((to, bytes.len()), (challenge.server, length));
            challenge.bytes = bytes.to_vec();
            self.model.challenges.push(challenge);
            self.sent[0] += 1;
            return true;
        }
        let is_new = self
            .model
            .lists
            .front()
            .is_some_and(|list| list.next.is_none());
        let expected = self.model.part(self.now);
        let sent = sent.map(|(to, datagram)| {
            let part = ListPart::parse(datagram).unwrap();
            assert!(part.intact && datagram.len() as u64 <= MAX_PART);
            (to, part.iter().collect(), part.has_end)
        });
        assert_eq!(sent, expected, "at {}", self.now);
        self.sent[if is_new { 1 } else { 2 }] += u64::from(sent.is_some());
        sent.is_some()
    }

    /// Lists many servers of one game, and takes their list of several datagrams.
    fn fill(&mut self) {
        // The first two leave no space for the end mark in their datagram.
        let usual = self.pick([(3, 71), (6, 70), (4, 71), (0, 120)]);
        let (of_ipv4, of_ipv6) = if self.is_large { (9, 500) } else { usual };
        let v4 = (0..of_ipv4).map(|number| format!("203.0.113.{number}:27960"));
        let v6 = (0..of_ipv6).map(|number| format!("[2001:db8:2:{number:x}::1]:27960"));
        for server in v4.chain(v6) {
            let server = at(&server);
            let text = b"heartbeat DarkPlaces\n";
            self.receive(server, text, Handled::Request(Protocol::Quake3));
            self.model.heartbeat(self.now, server, "DarkPlaces", 25);
            while !self.model.requests.is_empty() {
                self.take();
            }
            let newest = self.model.challenges.last().cloned();
            if let Some(newest) = newest.filter(|newest| newest.server == server) {
                let info = Info {
                    game: Some("Test"),
                    protocol: Some(5),
                    players: Some(1),
                    slots: Some(8),
                    game_type: None,
                };
                self.describe_as(server, &newest.bytes, &info);
            }
            self.check_events();
        }
        let all = Wanted {
            extended: true,
            game: Some("Test"),
            protocol: 5,
            empty: true,
            full: true,
            ipv4: true,
            ipv6: true,
            game_type: None,
        };
        self.request(all);
        while self.take() {}
    }

    fn check_events(&mut self) {
        while let Some(event) = self.model.events.pop_front() {
            assert_eq!(self.master.poll_event(), Some(event));
        }
        assert_eq!(self.master.poll_event(), None);
    }

    fn pass(&mut self) {
        let short = self.pick([0, 0, 0, 0, 0, 0, 1, 10, 400, 2_000]);
        let long = self.pick([3_000, 9_000, 30_000]);
        let is_long = self.random.chance(0.03);
        self.now += 1_000_000 * if is_long { long } else { short };
        // Exactly when something is due, or just before.
        let next = [self.model.due(self.now), self.model.first_expiry()];
        let due = pick(self.random, next).filter(|due| *due > self.now);
        if let Some(due) = due.filter(|_| self.random.chance(0.05)) {
            self.now = due - self.random.below(2);
        }
        if self.random.chance(0.7) {
            self.master.handle_timeout(self.instant());
            self.model.time(self.now);
        }
    }

    fn play(mut self) -> (MasterStats, [u64; 3]) {
        if self.model.options.max_servers == 1000 && (self.is_large || self.random.chance(0.3)) {
            self.fill();
        }
        for step in 0..200 {
            self.pass();
            match self.random.below(10) {
                0..=2 => {
                    for _ in 0..self.pick([1, 1, 5]) {
                        let any = self.pick(SERVERS);
                        let usual = SERVERS[self.random.below(8) as usize];
                        let server = self.pick([usual, usual, any]);
                        self.heartbeat(at(server));
                    }
                }
                3..=5 => self.describe(),
                6..=7 => {
                    for _ in 0..if self.is_large { 6 } else { 1 } {
                        self.request_any();
                    }
                }
                8 => {
                    let client = at(CLIENTS[self.random.below(5) as usize]);
                    let text = self.pick([
                        "getinfo x",
                        "getserversResponse\\EOT",
                        "print\nx",
                        "statusResponse\n\\a\\b\n",
                    ]);
                    self.receive(client, text.as_bytes(), Handled::Ignored);
                    self.model.stats.ignored += 1;
                }
                _ => {}
            }
            // Sometimes not all that waits is taken at once.
            for _ in 0..self.pick([0, 1, 3, 90]) {
                if !self.take() {
                    break;
                }
            }
            let due = self.model.due(self.now);
            let due = due.map(|due| self.start + Duration::from_nanos(due));
            // Work that waits is due at any time in the past.
            let reported = self.master.poll_timeout();
            let not_past = |at: Instant| at.max(self.instant());
            assert_eq!(reported.map(not_past), due.map(not_past), "at {}", self.now);
            if step % 4 == 0 {
                let servers: BTreeSet<_> = self.master.servers().collect();
                assert!(servers.iter().eq(self.model.servers.keys()));
            }
            self.check_events();
            assert_eq!(self.master.stats(), self.model.stats);
        }
        (self.model.stats, self.sent)
    }
}

fn pick<T: Copy, const N: usize>(random: &mut Random, choices: [T; N]) -> T {
    choices[random.below(N as u64) as usize]
}

#[test]
fn a_master_sends_lists_and_counts_what_the_rules_say_whatever_happens() {
    let mut total = [0; 12];
    for seed in 0..90 {
        let (stats, sent) = Course::new(&mut Random(seed)).play();
        let counts = [
            stats.heartbeats,
            stats.heartbeats_refused,
            stats.listed,
            stats.unproved,
            stats.unusable,
            stats.no_room,
            stats.lists,
            stats.lists_refused,
            stats.ignored,
            sent[0],
            sent[1],
            sent[2],
        ];
        let sums = total.iter_mut().zip(counts);
        sums.for_each(|(sum, count)| *sum += count);
    }
    assert!(total.iter().all(|count| *count > 8), "{total:?}");
}
