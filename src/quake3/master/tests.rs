//! The checks of dpmaster's own test suite, and checks of forged packets, replayed packets and
//! bounds.
#![allow(
    clippy::disallowed_methods,
    clippy::arithmetic_side_effects,
    reason = "virtual time in tests"
)]

use crate::address::Scope;
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use super::{GETINFO_HEAD, MAX_EXCESS, Master, MasterEvent, Options, is_sign_off};
use crate::quake3::wire::list::ListPart;
use crate::quake3::wire::request::{Command, Request};
use crate::secret::Secret;
use crate::session::Machine;

/// A master with fake servers and clients around it, in virtual time.
struct Rig {
    master: Master,
    now: Instant,
}

fn options() -> Options {
    Options {
        scope: Scope::Any,
        ..Options::default()
    }
}

fn at(text: &str) -> SocketAddr {
    text.parse().unwrap()
}

fn server(number: u16) -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 5678 + number))
}

impl Rig {
    fn new(options: Options) -> Self {
        let now = Instant::now();
        Self {
            master: Master::new(Secret::new([9; 16]), options, now),
            now,
        }
    }

    fn pass(&mut self, duration: Duration) {
        self.now += duration;
        self.master.handle_timeout(self.now);
    }

    /// The challenge that a heartbeat from here gets.
    fn heartbeat(&mut self, from: SocketAddr, tag: &str) -> Option<String> {
        let datagram = format!("heartbeat {tag}\n");
        self.master.handle_datagram(
            self.now,
            from,
            &[b"\xff\xff\xff\xff", datagram.as_bytes()].concat(),
        );
        let mut out = Vec::new();
        let transmit = self.master.poll_transmit(self.now, &mut out)?;
        assert_eq!((transmit.to, transmit.len), (from, out.len()));
        assert!(out.len() <= datagram.len() + 4, "no amplification");
        let Command::GetInfo {
            challenge: Some(challenge),
        } = Request::parse(&out).unwrap().command
        else {
            panic!("{out:?}")
        };
        Some(String::from_utf8(challenge.to_vec()).unwrap())
    }

    fn describe(&mut self, from: SocketAddr, infostring: &str) {
        let datagram = [b"\xff\xff\xff\xffinfoResponse\n", infostring.as_bytes()].concat();
        self.master.handle_datagram(self.now, from, &datagram);
    }

    /// Heartbeat and description; whether the server is listed then.
    fn register(&mut self, from: SocketAddr, tag: &str, infostring: &str) -> bool {
        if let Some(challenge) = self.heartbeat(from, tag) {
            self.describe(from, &format!("{infostring}\\challenge\\{challenge}"));
        }
        self.master.servers().any(|listed| listed == from)
    }

    /// The list that a client receives; `None` if it receives nothing at all.
    fn list(&mut self, client: &str, request: &str) -> Option<BTreeSet<SocketAddr>> {
        let datagram = [b"\xff\xff\xff\xff", request.as_bytes()].concat();
        self.master.handle_datagram(self.now, at(client), &datagram);
        let mut servers = BTreeSet::new();
        let mut ended = None;
        loop {
            let mut out = Vec::new();
            if self.master.poll_transmit(self.now, &mut out).is_some() {
                assert_ne!(ended, Some(true), "nothing after the end");
                let part = ListPart::parse(&out).unwrap();
                assert!(part.intact && out.len() <= 1400);
                servers.extend(part.iter());
                ended = Some(part.has_end);
            } else if ended == Some(false) {
                self.now = self.master.poll_timeout().unwrap().max(self.now);
            } else {
                return ended.map(|_| servers);
            }
        }
    }
}

fn info(game: &str, protocol: i32) -> String {
    format!("\\gamename\\{game}\\protocol\\{protocol}\\clients\\2\\sv_maxclients\\8")
}

const CLIENT: &str = "127.0.0.1:4321";

#[test]
fn a_server_that_proves_itself_is_listed_to_its_game_over_both_families() {
    let mut rig = Rig::new(options());
    assert!(rig.register(server(0), "DarkPlaces", &info("Test", 5)));
    assert!(rig.register(at("[::1]:5678"), "DarkPlaces", &info("Test", 5)));
    assert_eq!(
        rig.list(CLIENT, "getservers Test 5"),
        Some([server(0)].into())
    );
    assert_eq!(
        rig.list(CLIENT, "getserversExt Test 5"),
        Some([server(0), at("[::1]:5678")].into())
    );
    rig.pass(Duration::from_secs(60));
    assert_eq!(
        rig.list("[::1]:4321", "getserversExt Test 5 ipv6"),
        Some([at("[::1]:5678")].into())
    );
    assert_eq!(
        rig.list(CLIENT, "getserversExt Test 5 ipv4"),
        Some([server(0)].into())
    );
    assert_eq!(rig.list(CLIENT, "getserversExt Test 6"), Some([].into()));
    assert_eq!(rig.list(CLIENT, "getserversExt Other 5"), Some([].into()));
}

#[test]
fn descriptions_with_long_keys_and_values_are_unusable() {
    let mut rig = Rig::new(options());
    let long = "abcdefghijklmnopqrstuvwxyz".repeat(12);
    assert!(!rig.register(server(0), "DarkPlaces", &info(&long, 5)));
    let no_clients = format!("\\gamename\\Test\\protocol\\5\\sv_maxclients\\8\\{long}\\dummy");
    assert!(!rig.register(server(0), "DarkPlaces", &no_clients));
    assert_eq!(rig.master.stats().unusable, 2);
}

#[test]
fn descriptions_must_say_what_is_needed() {
    let mut rig = Rig::new(options());
    for missing in [
        "\\gamename\\Test\\protocol\\5\\sv_maxclients\\8",
        "\\gamename\\Test\\protocol\\5\\clients\\0",
        "\\gamename\\Test\\protocol\\5\\clients\\0\\sv_maxclients\\0",
        "\\gamename\\Test\\protocol\\5\\clients\\0\\sv_maxclients\\some",
        "\\gamename\\Test\\clients\\0\\sv_maxclients\\8",
        "\\gamename\\Test\\protocol\\4TheFun\\clients\\0\\sv_maxclients\\8",
        "\\gamename\\Two Words\\protocol\\5\\clients\\0\\sv_maxclients\\8",
        "\\gamename\\\\protocol\\5\\clients\\0\\sv_maxclients\\8",
        "\\protocol\\5\\clients\\0\\sv_maxclients\\8",
        "\\gamename\\Test\\protocol\\5\\clients\\0\\sv_maxclients\\8\\gametype\\a b",
    ] {
        assert!(!rig.register(server(0), "DarkPlaces", missing), "{missing}");
    }
    assert!(
        rig.register(server(0), "DarkPlaces", &info("4TheFun", 5)),
        "a name may begin with a digit"
    );
    assert_eq!(
        rig.list(CLIENT, "getservers 4TheFun 5"),
        Some([server(0)].into())
    );
}

#[test]
fn games_can_be_accepted_and_refused() {
    let names = || vec!["a".to_owned(), "b".to_owned()];
    for (only, except, taken) in [(names(), Vec::new(), true), (Vec::new(), names(), false)] {
        let mut rig = Rig::new(Options {
            only,
            except,
            ..options()
        });
        assert_eq!(rig.register(server(0), "DarkPlaces", &info("a", 5)), taken);
        assert_eq!(rig.register(server(1), "DarkPlaces", &info("c", 5)), !taken);
        assert_eq!(rig.list(CLIENT, "getservers a 5").is_some(), taken);
        assert_eq!(rig.list(CLIENT, "getservers c 5").is_some(), !taken);
    }
}

/// The heartbeats of DaemonEngine/Daemon (src/engine/server/sv_main.cpp), GrangerHub/tremulous,
/// voron00/CoD2rev_Server and callofduty4x/CoD4x_Server have a line feed at the end, those of
/// iw4x/iw4x-client and of its relatives none.
#[test]
fn servers_of_every_engine_are_listed_by_their_heartbeats() {
    let mut rig = Rig::new(Options {
        lists_in_a_row: 99,
        ..options()
    });
    let counts = "\\sv_maxclients\\8\\clients\\1\\protocol";
    // An empty server of Call of Duty 2 has no key `clients`.
    let empty = "\\sv_maxclients\\8\\pure\\1\\hw\\1\\protocol";
    for (number, (heartbeat, info, request)) in (0..).zip([
        (
            "Tremulous\n",
            format!("\\gamename\\base{counts}\\69"),
            "getservers 69 empty full",
        ),
        (
            "Tremulous\n",
            format!("\\gamename\\Tremulous{counts}\\71"),
            "getserversExt Tremulous 71",
        ),
        (
            "Unvanquished\n",
            format!("\\gamename\\unv{counts}\\86"),
            "getserversExt UNVANQUISHED 86 dual",
        ),
        (
            "COD-2\n",
            format!("{empty}\\118"),
            "getservers 118 full empty",
        ),
        ("COD-4\n", format!("{counts}\\6"), "getservers 6 full empty"),
        ("Wolfenstein-1\n", format!("{counts}\\60"), "getservers 60"),
        (
            "IW4",
            format!("\\gamename\\IW4{counts}\\152"),
            "getservers IW4 152 full empty",
        ),
        (
            "IW6",
            format!("\\gamename\\IW6{counts}\\1"),
            "getservers IW6 1 full empty",
        ),
        (
            "S1",
            format!("\\gamename\\S1{counts}\\1"),
            "getservers S1 1 full empty",
        ),
        (
            "IW7",
            format!("\\gamename\\IW7{counts}\\2"),
            "getservers IW7 2 full empty",
        ),
        (
            "H1",
            format!("\\gamename\\H1{counts}\\2"),
            "getservers H1 2 full empty",
        ),
        (
            "T7",
            format!("\\gamename\\T7{counts}\\8"),
            "getservers T7 8 full empty",
        ),
    ]) {
        let heartbeat = format!("heartbeat {heartbeat}");
        let heartbeat = [b"\xff\xff\xff\xff", heartbeat.as_bytes()].concat();
        let server = server(number);
        rig.master.handle_datagram(rig.now, server, &heartbeat);
        let mut getinfo = Vec::new();
        let sent = rig.master.poll_transmit(rig.now, &mut getinfo);
        assert!(sent.is_some(), "{info}");
        assert!(getinfo.len() <= heartbeat.len() + MAX_EXCESS);
        let challenge = String::from_utf8_lossy(&getinfo[GETINFO_HEAD..]).into_owned();
        rig.describe(server, &format!("{info}\\challenge\\{challenge}"));
        let list = rig.list(CLIENT, request);
        assert_eq!(list, Some([server].into()), "{request}");
    }
}

#[test]
fn a_sign_off_removes_no_server() {
    let mut rig = Rig::new(options());
    let et = "\\gamename\\et\\protocol\\84\\clients\\0\\sv_maxclients\\8";
    assert!(rig.register(server(0), "EnemyTerritory-1", et));
    for tag in [
        "ETFlatline-1",
        "WolfFlatline-1",
        "flatline",
        "Unvanquished-dead",
    ] {
        assert_eq!(rig.heartbeat(server(0), tag), None, "{tag}");
        assert!(is_sign_off(tag) && !rig.master.knows_tag(tag), "{tag}");
    }
    assert_eq!(rig.list(CLIENT, "getservers 84"), Some([server(0)].into()));
}

#[test]
fn filters() {
    let mut rig = Rig::new(Options {
        lists_in_a_row: 99,
        ..options()
    });
    let describe = |clients, game_type: &str| {
        format!("\\gamename\\T\\protocol\\5\\clients\\{clients}\\sv_maxclients\\8{game_type}")
    };
    for (number, clients, game_type) in [
        (0, 0, ""),
        (1, 8, "\\gametype\\-2"),
        (2, 1, "\\gametype\\ca"),
        (3, 1, "\\gametype\\4"),
    ] {
        assert!(rig.register(server(number), "DarkPlaces", &describe(clients, game_type)));
    }
    let mut list = |filters: &str| {
        let servers = rig
            .list(CLIENT, &format!("getservers T 5 {filters}"))
            .unwrap();
        servers
            .into_iter()
            .map(|server| server.port() - 5678)
            .collect::<Vec<_>>()
    };
    assert_eq!(list(""), [2, 3]);
    assert_eq!(list("empty"), [0, 2, 3]);
    assert_eq!(list("full"), [1, 2, 3]);
    assert_eq!(list("empty full"), [0, 1, 2, 3]);
    assert_eq!(
        list("empty full gametype=0"),
        [0],
        "0 where the server says none"
    );
    assert_eq!(list("empty full ffa"), [0]);
    assert_eq!(list("empty full gametype=-2"), [1]);
    assert_eq!(list("gametype=ca"), [2]);
    assert_eq!(list("ctf"), [3]);
    assert!(list("tourney").is_empty());
}

#[test]
fn a_client_gets_four_lists_in_a_row_then_one_in_three_seconds() {
    let mut rig = Rig::new(options());
    let ask = |rig: &mut Rig| rig.list(CLIENT, "getservers Test 5").is_some();
    assert_eq!(
        [(); 5].map(|()| ask(&mut rig)),
        [true, true, true, true, false]
    );
    rig.pass(Duration::from_secs(3));
    assert!(ask(&mut rig) && !ask(&mut rig));
    assert_eq!(rig.master.stats().lists_refused, 2);
}

#[test]
fn at_most_256_requests_and_64_lists_wait() {
    let mut rig = Rig::new(options());
    let from = |number: u16| {
        let [high, low] = number.to_be_bytes();
        SocketAddr::from(([198, 18, high, low], 27960))
    };
    for number in 0..260 {
        let heartbeat = b"\xff\xff\xff\xffheartbeat DarkPlaces\n";
        rig.master.handle_datagram(rig.now, from(number), heartbeat);
        let getservers = b"\xff\xff\xff\xffgetservers Test 5";
        rig.master
            .handle_datagram(rig.now, from(number), getservers);
    }
    let stats = rig.master.stats();
    assert_eq!((stats.heartbeats, stats.heartbeats_refused), (256, 4));
    assert_eq!((stats.lists, stats.lists_refused), (64, 196));
}

#[test]
fn a_list_under_way_is_sent_to_its_end_during_a_flood() {
    let mut rig = Rig::new(Options {
        max_per_address: 999,
        ..options()
    });
    for number in 0..250 {
        assert!(rig.register(server(number), "DarkPlaces", &info("Test", 5)));
    }
    let request = b"\xff\xff\xff\xffgetservers Test 5";
    let client = at("192.0.2.9:1");
    rig.master.handle_datagram(rig.now, client, request);
    let (mut servers, mut has_end) = (0, false);
    while !has_end {
        let mut out = Vec::new();
        let sent = rig.master.poll_transmit(rig.now, &mut out).unwrap();
        assert_eq!(sent.to, client);
        let part = ListPart::parse(&out).unwrap();
        (servers, has_end) = (servers + part.iter().count(), part.has_end);
        for number in 0..1000_u16 {
            let [high, low] = number.to_be_bytes();
            let from = SocketAddr::from(([198, 18, high, low], 1));
            rig.master.handle_datagram(rig.now, from, request);
        }
    }
    assert_eq!(servers, 250);
}

#[test]
fn a_server_stays_for_fifteen_minutes_after_its_last_proof() {
    let mut rig = Rig::new(options());
    assert!(rig.register(server(0), "DarkPlaces", &info("Test", 5)));
    assert_eq!(
        rig.master.poll_event(),
        Some(MasterEvent::Listed(server(0)))
    );
    rig.pass(Duration::from_secs(899));
    assert!(rig.register(server(0), "DarkPlaces", &info("Test", 5)));
    assert_eq!(rig.master.poll_event(), None, "renewed");
    // Heartbeats alone prolong nothing.
    rig.pass(Duration::from_secs(899));
    rig.heartbeat(server(0), "DarkPlaces");
    assert_eq!(
        rig.list(CLIENT, "getservers Test 5"),
        Some([server(0)].into())
    );
    rig.now += Duration::from_secs(2);
    assert_eq!(
        rig.list(CLIENT, "getservers Test 5"),
        Some([].into()),
        "before any sweep"
    );
    rig.pass(Duration::from_secs(20));
    assert_eq!(
        rig.master.poll_event(),
        Some(MasterEvent::Expired(server(0)))
    );
    assert_eq!(
        (rig.master.servers().count(), rig.master.poll_timeout()),
        (0, None)
    );
}

#[test]
fn only_a_fresh_challenge_of_its_own_proves_an_address() {
    let mut rig = Rig::new(options());
    let challenge = rig.heartbeat(server(0), "DarkPlaces").unwrap();
    let described = |challenge: &str| format!("{}\\challenge\\{challenge}", info("Test", 5));
    rig.describe(server(1), &described(&challenge));
    rig.describe(at("127.0.0.2:5678"), &described(&challenge));
    rig.describe(server(0), &described("AAAAAAAAAAA"));
    rig.describe(server(0), &described(""));
    rig.describe(server(0), &info("Test", 5));
    rig.describe(server(0), &described(&challenge.to_lowercase()));
    assert_eq!(
        (rig.master.stats().unproved, rig.master.servers().count()),
        (6, 0)
    );
    rig.pass(Duration::from_secs(4));
    rig.describe(server(0), &described(&challenge));
    assert_eq!(rig.master.servers().count(), 0, "replayed after its time");
    let fresh = rig.heartbeat(server(0), "DarkPlaces").unwrap();
    assert_ne!(fresh, challenge);
    rig.describe(server(0), &described(&fresh));
    assert_eq!(rig.master.servers().count(), 1);
    // A challenge for one tag is not valid for another: that would give an unnamed game a name.
    let nameless = "\\protocol\\68\\clients\\2\\sv_maxclients\\8";
    let mut rig = Rig::new(options());
    assert!(!rig.register(server(0), "DarkPlaces", nameless));
}

/// Chomenor/ioef-cmod: the heartbeat (code/server/sv_main.c), the description in quotes, the list
/// in hexadecimal digits (code/client/cl_main.c).
#[test]
fn a_server_with_a_heartbeat_in_pairs_is_listed_in_hexadecimal_digits() {
    let mut rig = Rig::new(options());
    let from = server(0);
    let heartbeat = br"\heartbeat\5678\gamename\STEF1\";
    let datagram = [b"\xff\xff\xff\xff", &heartbeat[..]].concat();
    rig.master.handle_datagram(rig.now, from, &datagram);
    let mut getinfo = Vec::new();
    rig.master.poll_transmit(rig.now, &mut getinfo).unwrap();
    let Command::GetInfo {
        challenge: Some(challenge),
    } = Request::parse(&getinfo).unwrap().command
    else {
        panic!("{getinfo:?}")
    };
    let info =
        br#"infoResponse "\gamename\EliteForce\protocol\24\clients\1\sv_maxclients\8\challenge\"#;
    let datagram = [b"\xff\xff\xff\xff", &info[..], challenge, b"\""].concat();
    rig.master.handle_datagram(rig.now, from, &datagram);
    assert_eq!(rig.master.poll_event(), Some(MasterEvent::Listed(from)));

    let request = b"\xff\xff\xff\xffgetservers 24 empty full";
    rig.master
        .handle_datagram(rig.now, at("192.0.2.9:5000"), request);
    let mut list = Vec::new();
    rig.master.poll_transmit(rig.now, &mut list).unwrap();
    assert_eq!(
        list,
        b"\xff\xff\xff\xffgetserversResponse\\7f000001162e\\EOT\0\0\0"
    );
    let part = ListPart::parse(&list).unwrap();
    assert_eq!(part.iter().collect::<Vec<_>>(), [from]);
}
