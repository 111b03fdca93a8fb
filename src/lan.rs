//! Finds the servers of a local network by broadcast, without sockets and clock.

use std::collections::{BTreeSet, VecDeque};
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::slice;

use crate::address::{Prefix, Scope, canonical, network};
use crate::games::game::{Game, Lan, QueryPort};
use crate::games::table::TABLE;
use crate::gamespy1::Response;
use crate::limits::{MAX_LAN_SERVERS, MAX_LAN_SERVERS_PER_HOST};
use crate::model::ToStatus;
use crate::options::{Detail, QueryOptions};
use crate::protocol::Protocol;
use crate::session::{Conversation, Timing, Verdict};
use crate::status_query::StatusQuery;
use crate::time::{Duration, Instant, after};

/// Number of ports from a default query port on, as in id's client (ioquake/ioq3,
/// `NUM_SERVER_PORTS`).
const PORTS: u16 = 4;
/// Ports of Unreal's beacon, the first one included (Unreal Tournament, `UBrowserLocalLink`).
const BEACON_PORTS: u16 = 10;
/// The beacon request of Unreal's client. Servers answer with a name and their query port.
const BEACON_REQUEST: &[u8] = b"REPORTQUERY";
/// Between two rounds.
const BETWEEN_ROUNDS: Duration = Duration::from_millis(100);
/// Requests to one network that are sent together, and the pause after them.
const BURST: usize = 8;
const PAUSE: Duration = Duration::from_millis(10);

/// The requests to broadcast, and the addresses that have answered them. An address counts once,
/// for any number of answers. The number of addresses is bounded, because anybody can answer a
/// broadcast.
#[derive(Debug)]
pub(crate) struct Discovery {
    probes: Vec<Probe>,
    /// Requests to send, of all rounds.
    waiting: VecDeque<Waiting>,
    requests_per_round: usize,
    timing: Timing,
    next_send: Instant,
    /// When the search ends if no new server answers.
    quiet_at: Instant,
    deadline: Instant,
    found: BTreeSet<SocketAddr>,
    ready: VecDeque<LanServer>,
}

/// A request to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Waiting {
    /// The position of its probe.
    probe: usize,
    port: u16,
}

/// A request that is sent on every network.
pub(crate) struct Broadcast {
    pub(crate) protocol: Protocol,
    pub(crate) port: u16,
}

/// A server that has answered: where to query it, and how.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LanServer {
    pub(crate) protocol: Protocol,
    pub(crate) server: SocketAddr,
    pub(crate) options: QueryOptions,
}

/// One request and the query that it begins.
#[derive(Debug)]
struct Probe {
    protocol: Protocol,
    options: QueryOptions,
    /// The query; `None` for the beacon of Unreal's servers.
    query: Option<StatusQuery>,
    request: Vec<u8>,
    /// The ports to send the request to.
    ports: Vec<ProbedPort>,
}

/// A port that a request is sent to.
#[derive(Debug)]
struct ProbedPort {
    port: u16,
    /// If all servers of a host share the port, its answers name a game port. This rule then gives
    /// the query port.
    rule: Option<QueryPort>,
}

impl Discovery {
    /// The search for servers of one game, or of all. The nonces are numbers that nobody else can
    /// guess.
    pub(crate) fn new(
        game: Option<&Game>,
        options: QueryOptions,
        timing: Timing,
        mut nonce: impl FnMut() -> u64,
        now: Instant,
    ) -> Self {
        let mut probes: Vec<Probe> = Vec::new();
        for game in game.map_or(TABLE, slice::from_ref) {
            let options = options.of_game(game.dialect).within(game.protocol);
            let mut add = |is_beacon, ports: RangeInclusive<u16>, rule| {
                let is_same = |probe: &Probe| probe.sends(game.protocol, options, is_beacon);
                let index = probes.iter().position(is_same).unwrap_or_else(|| {
                    probes.push(Probe::new(game.protocol, is_beacon, options, nonce()));
                    probes.len().saturating_sub(1)
                });
                if let Some(probe) = probes.get_mut(index) {
                    let ports = ports.map(|port| ProbedPort { port, rule });
                    probe.ports.extend(ports);
                }
            };
            if let Some(port) = game.default_query_port() {
                add(false, ports_from(port, PORTS), None);
            }
            for lan in game.lan {
                match *lan {
                    Lan::Ports(first, last) => add(false, first..=last, None),
                    Lan::Shared(port) => add(false, port..=port, Some(game.query_port)),
                    Lan::Beacon(first) => add(true, ports_from(first, BEACON_PORTS), None),
                }
            }
        }
        let round = requests_of_round(&probes);
        // A second round, as id's client sends: one request can be lost.
        let rounds = if timing.retries() > 0 { 2 } else { 1 };
        Self {
            probes,
            waiting: round.repeat(rounds).into(),
            requests_per_round: round.len(),
            timing,
            next_send: now,
            quiet_at: now,
            deadline: now,
            found: BTreeSet::new(),
            ready: VecDeque::new(),
        }
    }

    /// Appends the next request to `out`, and returns where to send it; `None` when nothing may be
    /// sent now.
    pub(crate) fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Broadcast> {
        if now < self.next_send {
            return None;
        }
        let Waiting { probe, port } = self.waiting.pop_front()?;
        let probe = self.probes.get(probe)?;
        out.extend_from_slice(&probe.request);
        let left = self.waiting.len();
        if left.is_multiple_of(self.requests_per_round) {
            self.next_send = after(now, BETWEEN_ROUNDS);
        } else if left.is_multiple_of(BURST) {
            self.next_send = after(now, PAUSE);
        }
        self.quiet_at = after(now, self.timing.retry_after());
        self.deadline = after(now, self.timing.timeout());
        Some(Broadcast {
            protocol: probe.protocol,
            port,
        })
    }

    /// Takes a datagram from anywhere.
    pub(crate) fn handle_datagram(&mut self, now: Instant, from: SocketAddr, datagram: &[u8]) {
        let from = canonical(from);
        let Some(found) = self.server_of(from, datagram) else {
            return;
        };
        let server = found.server;
        // On a local network, all hosts can be in one /64.
        let one_address = Prefix { v4: 32, v6: 128 };
        let at_host = self.found.range(network(server.ip(), one_address));
        let has_space = self.found.len() < MAX_LAN_SERVERS
            && at_host.take(MAX_LAN_SERVERS_PER_HOST).count() < MAX_LAN_SERVERS_PER_HOST;
        if Scope::Any.admits(server) && has_space && self.found.insert(server) {
            self.ready.push_back(found);
            self.quiet_at = after(now, self.timing.retry_after());
        }
    }

    /// The server that sent this datagram, if the datagram answers a request.
    fn server_of(&self, from: SocketAddr, datagram: &[u8]) -> Option<LanServer> {
        // A reply can be one to several of the requests: the one that was sent there comes first.
        let was_sent_there = |probe: &&Probe| probe.has_port(from.port());
        let (asked, others): (Vec<_>, Vec<_>) = self.probes.iter().partition(was_sent_there);
        for probe in asked.into_iter().chain(others) {
            if let Some(port) = probe.query_port(from.port(), datagram) {
                let mut server = from;
                server.set_port(port);
                return Some(LanServer {
                    protocol: probe.protocol,
                    server,
                    options: probe.options,
                });
            }
        }
        None
    }

    /// The next server that has answered.
    pub(crate) fn poll_found(&mut self) -> Option<LanServer> {
        self.ready.pop_front()
    }

    /// When to call [`Self::poll_transmit`] or [`Self::is_finished`] again, if no datagram arrives.
    pub(crate) fn poll_timeout(&self) -> Instant {
        if self.waiting.is_empty() {
            self.quiet_at.min(self.deadline)
        } else {
            self.next_send
        }
    }

    /// Whether everything was sent, and no new server has answered for
    /// [`Timing::with_retry_after`]; at the latest [`Timing::timeout`] after the last request.
    pub(crate) fn is_finished(&self, now: Instant) -> bool {
        self.waiting.is_empty() && now >= self.poll_timeout()
    }
}

/// The requests of one round, each once.
fn requests_of_round(probes: &[Probe]) -> Vec<Waiting> {
    let mut round = Vec::new();
    for (probe, Probe { ports, .. }) in probes.iter().enumerate() {
        for ProbedPort { port, .. } in ports {
            round.push(Waiting { probe, port: *port });
        }
    }
    round.sort_unstable();
    round.dedup();
    round
}

impl Probe {
    fn new(protocol: Protocol, is_beacon: bool, options: QueryOptions, nonce: u64) -> Self {
        if is_beacon {
            return Self {
                protocol,
                options,
                query: None,
                request: BEACON_REQUEST.to_vec(),
                ports: Vec::new(),
            };
        }
        // Not all GameSpy v1 servers answer the commands of the short query.
        let detail = if protocol == Protocol::GameSpy1 {
            Detail::Full
        } else {
            Detail::Short
        };
        let mut query = StatusQuery::new(protocol, nonce, &options.with_detail(detail));
        let mut request = Vec::new();
        query.request(&mut request);
        Self {
            protocol,
            options,
            query: Some(query),
            request,
            ports: Vec::new(),
        }
    }

    /// Whether the probe sends this request.
    fn sends(&self, protocol: Protocol, options: QueryOptions, is_beacon: bool) -> bool {
        self.protocol == protocol && self.options == options && self.query.is_none() == is_beacon
    }

    /// Whether the request is sent to this port.
    fn has_port(&self, port: u16) -> bool {
        self.ports.iter().any(|probed| probed.port == port)
    }

    /// The query port of the server that sent this datagram from this port; `None` if it does not
    /// answer the request.
    fn query_port(&self, from: u16, datagram: &[u8]) -> Option<u16> {
        let Some(query) = &self.query else {
            return beacon(datagram);
        };
        if self.protocol == Protocol::GameSpy1 && !self.has_pair(datagram) {
            return None;
        }
        let verdict = query.clone().receive(datagram);
        let mut probed = self.ports.iter().filter(|probed| probed.port == from);
        let Some(rule) = probed.find_map(|probed| probed.rule) else {
            let is_rejected = matches!(verdict, Verdict::Rejected(_));
            return (!is_rejected).then_some(from);
        };
        // A port that servers share sends only complete answers.
        let Verdict::Done(answer) = verdict else {
            return None;
        };
        rule.of(answer.to_status().game_port?)
    }

    /// Whether a datagram of GameSpy v1 has a key with a value. The parser accepts anything that
    /// begins with a backslash.
    fn has_pair(&self, datagram: &[u8]) -> bool {
        let Ok(response) = Response::parse(datagram, &self.options.limits) else {
            return false;
        };
        let mut pairs = response.pairs();
        pairs.any(|(key, value)| !key.is_empty() && !value.is_empty())
    }
}

/// This many ports from this one on.
const fn ports_from(port: u16, count: u16) -> RangeInclusive<u16> {
    port..=port.saturating_add(count.saturating_sub(1))
}

/// The query port in the answer of Unreal's beacon, as in `ut 7778` (Unreal Tournament,
/// `UdpBeacon`).
fn beacon(datagram: &[u8]) -> Option<u16> {
    let text = std::str::from_utf8(datagram).ok()?;
    let (product, port) = text.trim_end_matches('\0').split_once(' ')?;
    let is_product =
        !product.is_empty() && product.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if !is_product {
        return None;
    }
    port.parse().ok()
}

#[cfg(test)]
#[allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::disallowed_methods,
    reason = "virtual time in tests"
)]
mod tests {
    use super::*;
    use crate::Dialect;
    use crate::secret::Secret;
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::collection::vec;
    use proptest::prelude::*;

    const MS: Duration = Duration::from_millis(1);

    fn at(address: &str) -> SocketAddr {
        address.parse().unwrap()
    }

    fn search(game: Option<&str>, now: Instant) -> Discovery {
        let game = game.map(|game| Game::find(game).unwrap());
        let (secret, mut count) = (Secret::new([7; 16]), 0);
        let nonce = || {
            count += 1;
            secret.number("test", at("192.0.2.1:1"), count)
        };
        Discovery::new(game, QueryOptions::default(), Timing::default(), nonce, now)
    }

    /// Sends all requests in virtual time. Returns them by port, and the time of the last one.
    fn send(search: &mut Discovery, mut now: Instant) -> (BTreeMap<u16, Vec<Vec<u8>>>, Instant) {
        let mut sent: BTreeMap<u16, Vec<Vec<u8>>> = BTreeMap::new();
        loop {
            let mut out = Vec::new();
            match search.poll_transmit(now, &mut out) {
                Some(broadcast) => sent.entry(broadcast.port).or_default().push(out),
                None if search.waiting.is_empty() => return (sent, now),
                None => now = search.poll_timeout(),
            }
        }
    }

    /// Hands over a datagram twice: as a socket of both families has it from IPv4, and as one of IPv4.
    fn deliver_twice(search: &mut Discovery, now: Instant, from: SocketAddr, datagram: &[u8]) {
        if let SocketAddr::V4(v4) = from {
            let mapped = v4.ip().to_ipv6_mapped();
            search.handle_datagram(now, (mapped, v4.port()).into(), datagram);
        }
        search.handle_datagram(now, from, datagram);
    }

    fn reply(request: &[u8], name: &str) -> Vec<u8> {
        let challenge =
            String::from_utf8_lossy(request.strip_prefix(b"\xff\xff\xff\xffgetinfo ").unwrap());
        let text = format!("infoResponse\n\\hostname\\{name}\\challenge\\{challenge}");
        [b"\xff\xff\xff\xff", text.as_bytes()].concat()
    }

    fn found(search: &mut Discovery) -> Vec<(Protocol, String)> {
        std::iter::from_fn(|| search.poll_found())
            .map(|found| (found.protocol, found.server.to_string()))
            .collect()
    }

    #[test]
    fn two_rounds_to_the_ports_of_the_game_then_quiet_ends_the_search() {
        let now = Instant::now();
        let mut search = search(Some("openarena"), now);
        let (sent, last) = send(&mut search, now);
        assert_eq!(
            sent.keys().copied().collect::<Vec<_>>(),
            [27960, 27961, 27962, 27963]
        );
        assert!(
            sent.values()
                .all(|requests| requests.len() == 2 && requests[0] == requests[1])
        );
        assert_eq!(last - now, 100 * MS);
        let request = sent[&27960][0].clone();
        // An answer from a new server keeps the search open; a copy does not.
        let quiet = Timing::default().retry_after();
        let answered = last + quiet - MS;
        for wait in [Duration::ZERO, 500 * MS] {
            search.handle_datagram(
                answered + wait,
                at("192.0.2.1:27960"),
                &reply(&request, "Srv"),
            );
        }
        assert_eq!(
            found(&mut search),
            [(Protocol::Quake3, "192.0.2.1:27960".to_owned())]
        );
        assert!(!search.is_finished(answered + quiet - MS) && search.is_finished(answered + quiet));
    }

    #[test]
    fn at_most_eight_requests_leave_every_ten_milliseconds_and_rounds_are_100_apart() {
        let start = Instant::now();
        let mut search = search(Some("mohaa"), start);
        let mut now = start;
        // Milliseconds since the requests before, and the number of requests.
        let mut bursts: Vec<(u128, usize)> = Vec::new();
        let mut last = start;
        while !search.waiting.is_empty() {
            let sent = std::iter::from_fn(|| search.poll_transmit(now, &mut Vec::new())).count();
            bursts.push(((now - last).as_millis(), sent));
            (last, now) = (now, search.poll_timeout());
        }
        assert_eq!(search.requests_per_round, 50);
        let bursts_per_round = 7;
        assert_eq!(bursts.len(), 2 * bursts_per_round);
        for (index, (gap, sent)) in bursts.into_iter().enumerate() {
            let place = index % bursts_per_round;
            let expected_gap = match place {
                _ if index == 0 => 0,
                0 => 100,
                _ => 10,
            };
            assert_eq!(gap, expected_gap, "burst {index}");
            // The first and the last burst of a round have the rest.
            let is_inner = place > 0 && place < bursts_per_round - 1;
            assert!(sent == 8 || sent < 8 && !is_inner, "burst {index}: {sent}");
        }
    }

    #[test]
    fn a_new_answer_every_second_does_not_extend_the_search() {
        let start = Instant::now();
        let mut search = search(Some("openarena"), start);
        let (sent, last) = send(&mut search, start);
        let mut now = last;
        for host in 1..=100 {
            now += 1000 * MS;
            if search.is_finished(now) {
                break;
            }
            let from = at(&format!("192.0.2.{host}:27960"));
            deliver_twice(&mut search, now, from, &reply(&sent[&27960][0], "Srv"));
        }
        assert_eq!(found(&mut search).len(), 3, "within the timeout of 4 s");
        assert!(search.is_finished(last + Timing::default().timeout()));
    }

    #[test]
    fn every_game_is_asked_at_its_default_port_in_its_protocol() {
        let now = Instant::now();
        let mut all = search(None, now);
        let requests = all.waiting.len();
        let (everywhere, last) = send(&mut all, now);
        println!(
            "{requests} requests to {} ports in {:?}",
            everywhere.len(),
            last - now
        );
        assert!(last - now < Duration::from_secs(3) && requests < 1500);
        for game in TABLE {
            let mut one = search(Some(game.id), now);
            let (sent, _) = send(&mut one, now);
            let port = game.default_query_port().unwrap();
            assert!(
                sent.contains_key(&port) && sent.contains_key(&(port + 3)),
                "{}",
                game.id
            );
            assert!(
                sent.keys().all(|port| everywhere.contains_key(port)),
                "{}",
                game.id
            );
            assert!(
                one.probes
                    .iter()
                    .any(|probe| probe.protocol == game.protocol),
                "{}",
                game.id
            );
        }
    }

    #[test]
    fn the_answer_tells_protocol_and_dialect() {
        let now = Instant::now();
        let mut search = search(None, now);
        let (sent, _) = send(&mut search, now);
        let minecraft = sent[&25565]
            .iter()
            .find(|request| request.starts_with(b"\xfe\xfd\x09"))
            .unwrap();
        let challenge = [b"\x09", &minecraft[3..7], b"5\0"].concat();
        deliver_twice(&mut search, now, at("192.0.2.1:4000"), &challenge);
        let minecraft = search.poll_found().unwrap();
        assert_eq!(minecraft.protocol, Protocol::GameSpy4);
        assert_eq!(minecraft.options.dialect, Dialect::Minecraft);
        // A wrong id, and a wrong challenge.
        deliver_twice(&mut search, now, at("192.0.2.2:4000"), b"\x09abcd5\0");
        search.handle_datagram(
            now,
            at("192.0.2.2:4000"),
            &reply(b"\xff\xff\xff\xffgetinfo x", "Srv"),
        );
        search.handle_datagram(
            now,
            at("192.0.2.3:7778"),
            br"\hostname\Srv\final\\queryid\1.1",
        );
        assert_eq!(
            found(&mut search),
            [(Protocol::GameSpy1, "192.0.2.3:7778".to_owned())]
        );
    }

    /// The info record of UT2004 with the game port 7797, as in the tests of the protocol.
    fn ut2004_info() -> Vec<u8> {
        let mut info = b"\x80\0\0\0\0\0\0\0\0\0".to_vec();
        info.extend_from_slice(&7797_u32.to_le_bytes());
        info.extend_from_slice(
            b"\0\0\0\0\x04Srv\0\x03DM\0\x0cxDeathMatch\0\x01\0\0\0\x10\0\0\0\0\0\0\0\0\0\0\0\x022\0\0\0",
        );
        info
    }

    #[test]
    fn shared_ports_and_the_beacon_lead_to_the_query_port() {
        let now = Instant::now();
        let mut ut2004 = search(Some("ut2004"), now);
        let (sent, _) = send(&mut ut2004, now);
        assert_eq!(sent[&10777], [[0x79, 0, 0, 0, 0]; 2]);
        // From the shared port; then the same server from its query port, and another that answers
        // there only.
        for from in ["192.0.2.1:10777", "192.0.2.1:7798", "192.0.2.2:7778"] {
            deliver_twice(&mut ut2004, now, at(from), &ut2004_info());
        }
        let expected =
            ["192.0.2.1:7798", "192.0.2.2:7778"].map(|at| (Protocol::Ut2004, at.to_owned()));
        assert_eq!(found(&mut ut2004), expected);

        let (sent, _) = send(&mut search(Some("ut2003"), now), now);
        let ports: Vec<u16> = (7778..=7781).chain([10777]).collect();
        assert_eq!(sent.keys().copied().collect::<Vec<_>>(), ports);

        let mut ut = search(Some("ut99"), now);
        let (sent, _) = send(&mut ut, now);
        assert_eq!(sent[&8777], [b"REPORTQUERY"; 2]);
        assert!(sent.contains_key(&8786) && !sent.contains_key(&8787));
        assert!(sent.contains_key(&7778));
        for answer in [
            &b"ut 7788"[..],
            b"unreal 7798\0",
            b"ut 0",
            b"ut x",
            b"ut",
            b" 5",
            b"REPORTQUERY",
            b"u-t 5",
        ] {
            deliver_twice(&mut ut, now, at("192.0.2.1:8777"), answer);
        }
        let expected =
            ["192.0.2.1:7788", "192.0.2.1:7798"].map(|at| (Protocol::GameSpy1, at.to_owned()));
        assert_eq!(found(&mut ut), expected);
    }

    #[test]
    fn our_own_requests_and_nonsense_are_no_answers() {
        let now = Instant::now();
        let mut search = search(None, now);
        let (sent, _) = send(&mut search, now);
        let from = at("192.0.2.1:5000");
        for request in sent.values().flatten() {
            for length in (0..=request.len()).rev().step_by(5) {
                deliver_twice(&mut search, now, from, &request[..length]);
                assert!(
                    found(&mut search).is_empty(),
                    "{}",
                    request[..length].escape_ascii()
                );
            }
        }
        for nonsense in [
            &b""[..],
            b"\0",
            b"GET / HTTP/1.1",
            &[0xFF; 1500],
            &[0; 100],
            b"\\",
            br"\\value",
            &[0x80, 0, 0, 0],
        ] {
            deliver_twice(&mut search, now, from, nonsense);
            assert!(found(&mut search).is_empty(), "{}", nonsense.escape_ascii());
        }
        let answer = br"\hostname\Srv\final\\queryid\1.1";
        for nobody in [
            "192.0.2.1:0",
            "255.255.255.255:7778",
            "224.0.0.1:7778",
            "0.0.0.0:7778",
        ] {
            deliver_twice(&mut search, now, at(nobody), answer);
        }
        assert!(found(&mut search).is_empty());
    }

    #[test]
    fn a_chosen_dialect_is_used_with_its_own_protocol_only() {
        use Dialect::{Minecraft, QuakeWorld, SeparateLists, XServerQuery};
        for chosen in [Minecraft, QuakeWorld, SeparateLists, XServerQuery] {
            let options = QueryOptions::default().with_dialect(chosen);
            let search = Discovery::new(None, options, Timing::default(), || 7, Instant::now());
            for probe in &search.probes {
                let dialect = probe.options.dialect();
                assert!(dialect.fits(probe.protocol), "{chosen:?}: {dialect:?}");
            }
            let own = chosen.protocol();
            let is_own = |probe: &&Probe| Some(probe.protocol) == own && probe.query.is_some();
            let mut of_protocol = search.probes.iter().filter(is_own);
            let is_used = |probe: &Probe| probe.options.dialect() == chosen;
            assert!(of_protocol.any(is_used), "{chosen:?} is not used");
        }
    }

    #[test]
    fn the_second_round_is_a_retry() {
        let now = Instant::now();
        let rounds = |retries| {
            let game = Some(Game::find("openarena").unwrap());
            let timing = Timing::default().with_retries(retries);
            let search = Discovery::new(game, QueryOptions::default(), timing, || 7, now);
            search.waiting.len() / search.requests_per_round
        };
        assert_eq!([0, 1, 2].map(rounds), [1, 2, 2]);
    }

    #[test]
    fn the_number_of_addresses_is_bounded_in_all_and_for_each_host() {
        let now = Instant::now();
        let answer = br"\hostname\Srv\final\\queryid\1.1";
        // All hosts of a local network can be in one /64.
        let mut one_network = search(None, now);
        for host in 1..=200 {
            deliver_twice(
                &mut one_network,
                now,
                at(&format!("[2001:db8::{host:x}]:7778")),
                answer,
            );
        }
        assert_eq!(one_network.found.len(), 200);
        let mut one = search(None, now);
        for port in 1024..1200 {
            deliver_twice(&mut one, now, at(&format!("192.0.2.1:{port}")), answer);
        }
        assert_eq!(one.found.len(), MAX_LAN_SERVERS_PER_HOST);
        // The beacon of one host names many ports.
        let mut beacon = search(Some("ut"), now);
        for port in 1024..1200 {
            deliver_twice(
                &mut beacon,
                now,
                at("192.0.2.1:8777"),
                format!("ut {port}").as_bytes(),
            );
        }
        assert_eq!(found(&mut beacon).len(), MAX_LAN_SERVERS_PER_HOST);
        let mut many = search(None, now);
        for host in 0..4_100_u32 {
            let from = SocketAddr::from((0x0A00_0001_u32.wrapping_add(host).to_be_bytes(), 7778));
            many.handle_datagram(now, from, answer);
        }
        assert_eq!(
            (many.found.len(), found(&mut many).len()),
            (MAX_LAN_SERVERS, MAX_LAN_SERVERS)
        );
    }

    /// Milliseconds to wait, then a datagram from this host and port.
    type Step = (u8, u8, u16, Vec<u8>);

    /// Bytes, or the beginning of an answer to one of the requests with bytes after it.
    fn datagram() -> impl Strategy<Value = Vec<u8>> {
        let begins = prop_oneof![
            Just(&b""[..]),
            Just(&b"\xff\xff\xff\xffinfoResponse\n\\hostname\\Srv\\challenge\\"[..]),
            Just(&br"\hostname\Srv\hostport\7777"[..]),
            Just(&br"\final\\queryid\1.1"[..]),
            Just(&b"ut 77"[..]),
            Just(&b"\x09\0\0\0"[..]),
            Just(&b"\x80\0\0\0\0\0\0\0\0\0"[..]),
        ];
        let bytes = prop_oneof![vec(any::<u8>(), 0..80), vec(b' '..b'~', 0..80)];
        (begins, bytes).prop_map(|(begin, bytes)| [begin, &bytes].concat())
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        vec((any::<u8>(), 1_u8..4, 1_u16..6, datagram()), 0..40)
    }

    proptest! {
        /// Each server is found once, there are at most as many servers as datagrams, and the
        /// search ends by its deadline.
        #[test]
        fn any_datagrams_lead_to_bounded_searches(
            game in prop_oneof![Just(None), Just(Some("ut99")), Just(Some("ut2004")), Just(Some("jka"))],
            steps in steps(),
        ) {
            let start = Instant::now();
            let mut search = search(game, start);
            let mut now = start;
            let (mut sent, mut servers, mut count) = (0, BTreeSet::new(), 0);
            for (wait, host, port, datagram) in steps {
                now += MS * u32::from(wait);
                let mut out = Vec::new();
                while search.poll_transmit(now, &mut out).is_some() {
                    prop_assert!(!out.is_empty());
                    sent += 1;
                    out.clear();
                }
                let from = SocketAddr::from(([192, 0, 2, host], port * 3600));
                deliver_twice(&mut search, now, from, &datagram);
                count += 1;
                while let Some(found) = search.poll_found() {
                    let LanServer { protocol, server, options } = found;
                    prop_assert_eq!(server.ip(), from.ip());
                    prop_assert_ne!(server.port(), 0);
                    prop_assert!(servers.insert(server), "{} twice", server);
                    prop_assert!(options.dialect().fits(protocol));
                }
                prop_assert!(servers.len() <= count);
            }
            let (rest, last) = send(&mut search, now);
            sent += rest.values().map(Vec::len).sum::<usize>();
            prop_assert_eq!(sent, 2 * search.requests_per_round);
            prop_assert!(search.is_finished(last + Timing::default().timeout()));
            prop_assert!(search.poll_found().is_none());
        }
    }
}
