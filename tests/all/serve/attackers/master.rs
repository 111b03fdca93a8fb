//! Attackers of a master: requests for the list in forged names, and the share of honest clients
//! that get theirs.

use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use queryport::Secret;
use queryport::lists::ListPart;
use queryport::quake3::master::{Master, Options};
use queryport::quake3::{Command, Request};
use queryport::session::Machine;

use super::genes::{Attacker, Figures, Gene, Random};
use super::play::{address, networks};

/// Addresses as in a flood of a responder; requests a minute, which, how many in a row; seconds on
/// and off.
pub(crate) const GENES: &[Gene] = &[
    ("form", 0, 2),
    ("sources", 1, 65_536),
    ("networks", 1, 65_536),
    ("order", 0, 1),
    ("row", 1, 256),
    ("rate", 120, 3_600),
    ("request", 0, 3),
    ("at_once", 1, 64),
    ("on", 1, 64),
    ("off", 0, 64),
];

const REQUESTS: [&[u8]; 4] = [
    b"\xff\xff\xff\xffgetservers Test 3 empty full",
    b"\xff\xff\xff\xffgetserversExt Test 3 empty full",
    b"\xff\xff\xff\xffgetservers Test 3 gametype=none",
    b"\xff\xff\xff\xffgetservers 68",
];

const SERVERS: u32 = 4_000;
/// The number of honest clients, and how many of them ask per second.
const CLIENTS: u32 = 300;
const CLIENTS_A_SECOND: u32 = 5;
/// How long a client waits for its list.
const PATIENCE: Duration = Duration::from_secs(10);

/// A master that lists servers of addresses of their own.
fn master(start: Instant) -> Master {
    let mut master = Master::new(Secret::new([5; 16]), Options::default(), start);
    let mut getinfo = Vec::new();
    for number in 0..SERVERS {
        let server = SocketAddr::from((Ipv4Addr::from_bits(0x5000_0000 + number * 251), 27_960));
        master.handle_datagram(start, server, b"\xff\xff\xff\xffheartbeat DarkPlaces\n");
        getinfo.clear();
        while master.poll_transmit(start, &mut getinfo).is_some() {}
        let Ok(Request {
            command: Command::GetInfo {
                challenge: Some(challenge),
            },
            ..
        }) = Request::parse(&getinfo)
        else {
            panic!("a getinfo with a challenge");
        };
        let info = b"\xff\xff\xff\xffinfoResponse\n\\gamename\\Test\\protocol\\3\\clients\\1\\sv_maxclients\\8\\challenge\\";
        master.handle_datagram(start, server, &[info, challenge].concat());
        while master.poll_event().is_some() {}
    }
    assert_eq!(master.servers().count(), SERVERS as usize);
    master
}

/// Lets clients fetch a list within this many seconds, each once and with the crate's two retries.
pub(crate) fn play(attacker: &Attacker, seconds: u32) -> Figures {
    let clients = CLIENTS.min(seconds * CLIENTS_A_SECOND);
    let start = Instant::now();
    let mut master = master(start);
    let get = |name| attacker.get(name);
    let (form, sources, networks) = (get("form"), get("sources"), networks(attacker));
    let request = REQUESTS[get("request") as usize];
    let begin = start + Duration::from_secs(10);
    let end = begin + Duration::from_secs(seconds.into());
    let mut random = Random(11);
    // When each client gives up, and how many servers it has.
    let mut lists: HashMap<SocketAddr, (Instant, u32)> = HashMap::new();
    let (mut delivered, mut packets, mut bytes_out) = (0, 0, 0);
    let (mut turn, mut client) = (0, 0);
    let mut retries: Vec<(Instant, SocketAddr)> = Vec::new();
    let mut out = Vec::new();
    let (mut next_forged, mut next_client) = (begin, begin);
    let mut now = begin;
    while now < end + PATIENCE {
        if now >= next_forged && now < end {
            for _ in 0..get("at_once") {
                let number = if get("order") == 1 {
                    random.below(sources)
                } else {
                    turn / get("row") % sources
                };
                turn += 1;
                packets += 1;
                let port = 1024 + random.below(60_000) as u16;
                master.handle_datagram(now, address(form, number, networks, port), request);
            }
            next_forged += Duration::from_secs(60) * get("at_once") / get("rate");
            let second = (next_forged - begin).as_secs() as u32;
            let (on, off) = (get("on"), get("off"));
            if second % (on + off) >= on {
                next_forged += Duration::from_secs(off.into());
            }
        }
        if now >= next_client && client < clients {
            let ip = Ipv4Addr::from_bits(0xC633_0000 + client * 131);
            let client_at = SocketAddr::from((ip, 5000));
            lists.insert(client_at, (now + PATIENCE, 0));
            retries.extend(
                [0, 1200, 2400].map(|after| (now + Duration::from_millis(after), client_at)),
            );
            client += 1;
            next_client += Duration::from_secs(seconds.into()) / clients;
        }
        retries.retain(|(at, client)| {
            let is_due = *at <= now;
            if is_due && lists.get(client).is_some_and(|(_, servers)| *servers == 0) {
                master.handle_datagram(now, *client, REQUESTS[0]);
            }
            !is_due
        });
        master.handle_timeout(now);
        while let Some(transmit) = master.poll_transmit(now, &mut out) {
            bytes_out += out.len() as u64;
            if let Some((patience, servers)) = lists.get_mut(&transmit.to) {
                let part = ListPart::parse(&out).expect("a part of a list");
                *servers += part.iter().count() as u32;
                if part.has_end && *servers >= SERVERS && now < *patience {
                    delivered += 1;
                    lists.remove(&transmit.to);
                }
            }
            out.clear();
        }
        let timers = [
            master.poll_timeout(),
            retries.iter().map(|retry| retry.0).min(),
        ];
        let asking = (client < clients).then_some(next_client);
        let forged = (next_forged < end).then_some(next_forged);
        let next = timers.into_iter().chain([asking, forged]).flatten().min();
        now = next
            .unwrap_or(end + PATIENCE)
            .max(now + Duration::from_micros(100));
    }
    let answered = f64::from(delivered) / f64::from(clients);
    let bytes_in = packets * request.len() as u64;
    Figures {
        figures: vec![1.0 - answered],
        answered,
        packets,
        bytes_in,
        bytes_out,
    }
}
