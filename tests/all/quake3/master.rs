//! Masters: recorded exchanges, and our master, announcer and client over simulated links, with
//! forged packets.
use std::collections::BTreeSet;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::{Duration, Instant};

use allocation_counter::measure;
use queryport::ServerList;
use queryport::lists::{ListCompleteness, ListPart, Quake3List, Scope};
use queryport::quake3::GetServers;
use queryport::quake3::master::{Master, MasterEvent, Options};
use queryport::quake3::{Command, Request, Response};
use queryport::serve::{Announcer, Responder};
use queryport::session::{Conversation, Machine, OnTimeout, Remaining, Session, Verdict};
use queryport::{Limits, Outcome, Protocol, QueryError, Secret, ServerStatus, Service, Timing};

use crate::common::at;
use crate::common::link::{Conditions, Link};
use crate::quake3::exchange::from;

const MASTER: &str = "198.51.100.1:27950";
const CLIENT: &str = "198.51.100.2:5000";

fn server(number: u32) -> SocketAddr {
    // Addresses of both families in turn, with every byte value, separators included.
    let mixed = number.wrapping_mul(2_654_435_761);
    let port = 27_960 + u16::try_from(number % 5).unwrap();
    if number.is_multiple_of(2) {
        (
            Ipv4Addr::from_bits(0x0B00_0000 | (mixed & 0x00FF_FFFF)),
            port,
        )
            .into()
    } else {
        (
            Ipv6Addr::from_bits(
                (0x2001_5C2F << 96) | (u128::from(mixed) << 64) | u128::from(number),
            ),
            port,
        )
            .into()
    }
}

/// Heartbeat, request, description, without a link between.
pub(crate) fn register(master: &mut Master, now: Instant, from: SocketAddr) {
    master.handle_datagram(now, from, b"\xff\xff\xff\xffheartbeat DarkPlaces\n");
    let mut getinfo = Vec::new();
    while master.poll_transmit(now, &mut getinfo).is_some() {}
    let Ok(Request {
        command: Command::GetInfo {
            challenge: Some(challenge),
        },
        ..
    }) = Request::parse(&getinfo)
    else {
        return;
    };
    let info = b"\xff\xff\xff\xffinfoResponse\n\\gamename\\Test\\protocol\\3\\clients\\1\\sv_maxclients\\8\\challenge\\";
    master.handle_datagram(now, from, &[info, challenge].concat());
}

fn master(now: Instant, servers: u32) -> (Master, BTreeSet<SocketAddr>) {
    let mut options = Options::default();
    options.max_servers = 32_768;
    // A lossy link takes more than four requests.
    options.lists_in_a_row = 8;
    let mut master = Master::new(Secret::new([5; 16]), options, now);
    let all: BTreeSet<SocketAddr> = (0..servers).map(server).collect();
    all.iter()
        .for_each(|server| register(&mut master, now, *server));
    (master, all)
}

fn to_set(list: &ServerList) -> BTreeSet<SocketAddr> {
    list.servers.iter().copied().collect()
}

/// A list over a link: the master's timers and the client's, one clock.
fn fetch(
    (master, start): (&mut Master, Instant),
    passes: u8,
    (conditions, seed): (Conditions, u64),
) -> (
    Result<Outcome<ServerList>, QueryError>,
    BTreeSet<SocketAddr>,
) {
    let (client_at, master_at) = (at(CLIENT), at(MASTER));
    let request = GetServers {
        empty: true,
        full: true,
        ..GetServers::extended(b"Test", 3)
    };
    let query = Quake3List::new(&request, &Limits::default())
        .unwrap()
        .with_passes(passes);
    let timing = Timing::default().with_timeout(Duration::from_secs(30));
    let mut now = start;
    let mut session = Session::new(query, master_at, timing, now);
    let mut link = Link::new(conditions, seed);
    let mut arrived = BTreeSet::new();
    let mut as_they_come = BTreeSet::new();
    loop {
        link.send_all(now, client_at, &mut session);
        while master.poll_event().is_some() {}
        link.send_all(now, master_at, master);
        for server in session.conversation_mut().take_new() {
            assert!(as_they_come.insert(server), "{server} came twice");
        }
        if let Some(result) = session.poll_answer() {
            if let Ok(outcome) = &result {
                assert_eq!(
                    to_set(&outcome.answer).len(),
                    outcome.answer.servers.len(),
                    "each once"
                );
            }
            return (result, arrived);
        }
        let timers = [
            link.next_arrival(),
            session.poll_timeout(),
            master.poll_timeout(),
        ];
        now = timers.into_iter().flatten().min().unwrap().max(now);
        while let Some(datagram) = link.arrive(now) {
            if datagram.to == master_at {
                master.handle_datagram(now, datagram.from, &datagram.bytes);
            } else {
                if let Ok(part) = ListPart::parse(&datagram.bytes) {
                    arrived.extend(part.iter());
                }
                session.handle_datagram(now, datagram.from, &datagram.bytes);
            }
        }
        session.handle_timeout(now);
        master.handle_timeout(now);
    }
}

/// Loss of 10 %, copies of 10 %, reordering over 60 ms.
#[test]
fn servers_over_a_bad_link_come_once_and_a_list_that_lacks_some_is_not_settled() {
    let (mut settled, mut unsettled) = (0, 0);
    for seed in 0..2 {
        let now = Instant::now();
        let (mut master, all) = master(now, 2_000);
        for passes in [2, 8] {
            let start = now + Duration::from_secs(60 * u64::from(passes));
            let (result, arrived) = fetch((&mut master, start), passes, (Conditions::bad(), seed));
            let list = match result {
                Ok(outcome) => outcome.answer,
                // Every copy of the request was lost.
                Err(QueryError::Timeout { .. }) => continue,
                Err(error) => panic!("{error}"),
            };
            assert!(
                to_set(&list).is_subset(&arrived) && arrived.is_subset(&all),
                "nothing invented"
            );
            let missing = all.len() - list.servers.len();
            assert!(!list.completeness.is_complete());
            if list.completeness.is_settled() {
                assert_eq!(
                    (to_set(&list), missing),
                    (arrived, 0),
                    "seed {seed}: settled"
                );
                settled += 1;
            } else {
                unsettled += 1;
            }
            println!(
                "seed {seed}, {passes} passes at most: {missing} missing, {}",
                list.completeness
            );
        }
    }
    assert!(
        settled >= 1 && unsettled >= 1,
        "{settled} settled, {unsettled} not"
    );
}

#[test]
fn a_full_master_stays_within_its_stated_memory() {
    let start = Instant::now();
    let mut options = Options::default();
    options.max_servers = 5_000;
    options.max_per_address = 100_000;
    let mut bound = 0;
    let mut listed = 0;
    let counted = measure(|| {
        let mut master = Master::new(Secret::new([6; 16]), options.clone(), start);
        // In order: the tree's nodes end up half full, which is the worst.
        for n in 0..6_500_u32 {
            register(
                &mut master,
                start,
                SocketAddr::from((Ipv4Addr::from_bits(0x0B00_0000 + n), 27_960)),
            );
        }
        for client in 0..5000_u32 {
            let from = SocketAddr::from((Ipv4Addr::from_bits(0x0C00_0000 + client), 9));
            master.handle_datagram(start, from, b"\xff\xff\xff\xffgetserversExt Test 3");
            master.handle_datagram(start, from, b"\xff\xff\xff\xffheartbeat DarkPlaces\n");
        }
        (bound, listed) = (master.memory_bound(), master.servers().count());
    });
    println!("bound {bound} bytes, {} held at most", counted.bytes_max);
    assert_eq!(listed, 5_000);
    assert!(
        counted.bytes_max <= u64::try_from(bound).unwrap(),
        "{} of {bound}",
        counted.bytes_max
    );
}

/// A game server on one socket, whose announcer sends heartbeats with this tag, until nothing is
/// left to send.
fn announce(
    master: &mut Master,
    game_at: SocketAddr,
    tag: &str,
    status: ServerStatus,
) -> Announcer {
    let (now, master_at) = (Instant::now(), at(MASTER));
    let service = Service::from(Protocol::Quake3);
    let mut announcer = Announcer::quake3(tag, [master_at], &status, service, now).unwrap();
    let mut responder = Responder::new(Protocol::Quake3, status, Secret::new([1; 16]), now);
    let mut out = Vec::new();
    for _ in 0..3 {
        while announcer
            .poll_transmit(now, &mut out)
            .or_else(|| responder.poll_transmit(now, &mut out))
            .is_some()
        {
            master.handle_datagram(now, game_at, &out);
            out.clear();
        }
        while master.poll_transmit(now, &mut out).is_some() {
            announcer.handle_datagram(now, master_at, &out);
            responder.handle_datagram(now, master_at, &out);
            out.clear();
        }
    }
    announcer
}

/// The responder answers, the announcer sees the master ask.
#[test]
fn an_announced_server_is_listed_and_its_operator_sees_it() {
    let game_at = at("192.0.2.1:27960");
    let mut status = ServerStatus::default();
    status.game = Some("Test".into());
    status.max_players = Some(8);
    status.player_count = Some(1);
    let mut master = Master::new(Secret::new([2; 16]), Options::default(), Instant::now());
    let mut announcer = announce(&mut master, game_at, "DarkPlaces", status);
    assert_eq!(announcer.poll_event(), Some(at(MASTER)));
    assert_eq!(announcer.poll_event(), None);
    assert_eq!(master.poll_event(), Some(MasterEvent::Listed(game_at)));
}

#[test]
fn heartbeats_and_descriptions_of_real_servers() {
    for (name, tag, game) in [
        ("openarena-heartbeat", "QuakeArena-1", Some("Quake3Arena")),
        ("nexuiz-heartbeat", "DarkPlaces", Some("Nexuiz")),
        ("nexuiz-heartbeat-ipv6", "DarkPlaces", Some("Nexuiz")),
        // Its tag is Quake III Arena's, and only the protocol number is its own.
        ("openjk-heartbeat", "QuakeArena-1", None),
        ("iortcw-heartbeat", "Wolfenstein-1", Some("wolfmp")),
        ("etlegacy-heartbeat", "EnemyTerritory-1", Some("et")),
    ] {
        let (server, master) = (from(name, "server"), from(name, "master"));
        assert_eq!(
            Request::parse(&server[0]).unwrap().command,
            Command::Heartbeat {
                tag: tag.as_bytes()
            }
        );
        let Command::GetInfo {
            challenge: Some(challenge),
        } = Request::parse(&master[0]).unwrap().command
        else {
            panic!()
        };
        assert!(
            master[0].len() <= server[0].len(),
            "{name}: no amplification"
        );
        let response = Response::parse(&server[1], &Limits::default()).unwrap();
        assert_eq!(response.info().get("challenge"), Some(challenge));
        assert_eq!(response.info().get("gamename"), game.map(str::as_bytes));
    }
}

#[test]
fn lists_that_qstat_read() {
    for (name, request, servers) in [
        (
            "master-list-extended",
            GetServers::extended(b"Nexuiz", 3),
            2,
        ),
        ("master-list-qstat-openarena", GetServers::new(71), 1),
        (
            "master-list-qstat-nexuiz",
            GetServers {
                game: Some(b"Nexuiz"),
                ..GetServers::new(3)
            },
            1,
        ),
    ] {
        let request = GetServers {
            empty: true,
            full: true,
            ..request
        };
        let mut query = Quake3List::new(&request, &Limits::default())
            .unwrap()
            .with_scope(Scope::Any)
            .with_passes(1);
        assert_eq!(
            crate::common::request(&mut query),
            from(name, "client")[0],
            "{name}"
        );
        for datagram in from(name, "master") {
            assert!(matches!(query.receive(&datagram), Verdict::Partial(_)));
        }
        let OnTimeout::Done(list) = query.timeout(Remaining::Step) else {
            panic!()
        };
        assert_eq!(list.servers.len(), servers as usize, "{name}");
        assert_eq!(list.completeness, ListCompleteness::Unsettled, "{name}");
    }
}
