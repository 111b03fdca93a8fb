//! Servers of the local network, over the broadcast address of the loopback network.
#![cfg(target_os = "linux")]
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr, SocketAddrV6};
use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

use queryport::games::Game;
use queryport::net::Family;
use queryport::serve::Responder;
use queryport::{
    Client, ErrorKind, Format, Protocol, Scan, Secret, ServerStatus, Service, Timing, ToStatus,
    Verification,
};
use tokio::net::UdpSocket;

use crate::clock::run_in_steps;
use crate::net::faults::runtime;
use crate::net::namespace::{PORT, answering, in_namespace};

const LOOPBACK: [IpAddr; 1] = [IpAddr::V4(Ipv4Addr::new(127, 255, 255, 255))];

fn client() -> Client {
    let timing = Timing::default()
        .with_timeout(Duration::from_secs(2))
        .with_retry_after(Duration::from_millis(500))
        .with_retries(1);
    Client::new().unwrap().with_timing(timing)
}

/// A server on every address of the machine, at the first of these ports that is free.
fn start(ports: RangeInclusive<u16>, service: impl Into<Service>, status: ServerStatus) -> u16 {
    let socket = bound(ports);
    let port = socket.local_addr().unwrap().port();
    let mut responder =
        Responder::new(service, status, Secret::new([9; 16]), Instant::now()).with_guard(None);
    kit::spawn(async move { _ = crate::net::run(&[socket], &mut responder).await });
    port
}

/// A socket at the first of these ports that is free. Other tests have some of them for a while.
fn bound(ports: RangeInclusive<u16>) -> UdpSocket {
    for _ in 0..600 {
        for port in ports.clone() {
            if let Ok(socket) = std::net::UdpSocket::bind((Ipv4Addr::UNSPECIFIED, port)) {
                socket.set_nonblocking(true).unwrap();
                return UdpSocket::from_std(socket).unwrap();
            }
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("no port of {ports:?} is free");
}

/// Lets one test at a time search the network, of all runs on this machine: every server answers
/// every search. The turn ends when the socket is closed.
fn turn() -> std::net::UdpSocket {
    kit::bind_when_free(([127, 0, 0, 1], 19_999).into())
}

fn named(name: &str) -> ServerStatus {
    let mut status = ServerStatus::default();
    status.name = Some(name.to_owned().into());
    status.map = Some("map".into());
    status
}

/// Name, protocol and verification by port, of the servers that this test has started. Other
/// programs' servers may be there.
async fn found(
    mut scan: Scan<'_>,
) -> BTreeMap<u16, Vec<Result<(String, Protocol, Verification), ErrorKind>>> {
    let mut found: BTreeMap<u16, Vec<_>> = BTreeMap::new();
    let all = async {
        while let Some(scanned) = scan.next_answer().await {
            let port = scanned.peer.unwrap().port();
            let result = scanned.result.map(|outcome| {
                let status = outcome.answer.to_status();
                (
                    status.name.unwrap_or_default().to_string(),
                    outcome.answer.protocol(),
                    status.verification,
                )
            });
            found
                .entry(port)
                .or_default()
                .push(result.map_err(|error| error.kind()));
        }
    };
    tokio::time::timeout(Duration::from_secs(20), all)
        .await
        .expect("a search ends");
    found
}

#[tokio::test]
async fn servers_of_all_protocols_are_found_by_broadcast_once_each() {
    let _turn = turn();
    run_in_steps();
    let minecraft = Service::new(Format::Minecraft);
    let mut expected = BTreeMap::new();
    for (ports, service, name) in [
        (27960..=27963, Service::from(Protocol::Quake3), "first"),
        (27960..=27963, Protocol::Quake3.into(), "second"),
        (28960..=28963, Protocol::Quake3.into(), "third"),
        (7778..=7781, Protocol::GameSpy1.into(), "fourth"),
        (6500..=6503, Protocol::GameSpy4.into(), "fifth"),
        (25565..=25568, minecraft, "sixth"),
        (7708..=7711, Protocol::Ut2004.into(), "seventh"),
        (2302..=2305, Service::new(Format::GameSpy2), "eighth"),
        (27910..=27913, Service::new(Format::Quake2), "ninth"),
        (27500..=27503, Service::new(Format::QuakeWorld), "tenth"),
    ] {
        let protocol = match name {
            "fourth" => Protocol::GameSpy1,
            "fifth" | "sixth" | "eighth" => Protocol::GameSpy4,
            "seventh" => Protocol::Ut2004,
            _ => Protocol::Quake3,
        };
        expected.insert(
            start(ports, service, named(name)),
            (name.to_owned(), protocol),
        );
    }
    assert_eq!(expected.len(), 10);
    let found = found(client().lan(None, &LOOPBACK).unwrap()).await;
    for (port, (name, protocol)) in &expected {
        // GameSpy v1, UT2004, Quake 2 and QuakeWorld have nothing that an answer must quote.
        let is_sibling = ["ninth", "tenth"].contains(&name.as_str());
        let verification = match protocol {
            Protocol::GameSpy1 | Protocol::Ut2004 => Verification::Unavailable,
            _ if is_sibling => Verification::Unavailable,
            _ => Verification::Verified,
        };
        assert_eq!(
            found.get(port),
            Some(&vec![Ok((name.clone(), *protocol, verification))]),
            "{port}"
        );
    }
}

/// A caller that does something else for longer than the search waits.
#[tokio::test]
async fn a_pause_of_the_caller_loses_no_server() {
    let _turn = turn();
    run_in_steps();
    let late = bound(29253..=29256);
    let mut scan = client()
        .lan(Some(Game::find("stvef2").unwrap()), &LOOPBACK)
        .unwrap();
    assert!(
        tokio::time::timeout(Duration::from_millis(300), scan.next())
            .await
            .is_err(),
        "all is sent"
    );
    let mut request = [0; 256];
    let (length, to) = late.recv_from(&mut request).await.unwrap();
    let challenge = request[..length]
        .strip_prefix(b"\xff\xff\xff\xffgetinfo ")
        .unwrap();
    let answer = [
        b"\xff\xff\xff\xffinfoResponse\n\\hostname\\late\\challenge\\",
        challenge,
    ]
    .concat();
    late.send_to(&answer, to).await.unwrap();
    tokio::time::sleep(Duration::from_millis(1500)).await;
    let found = scan.next().await.expect("a server");
    assert_eq!(
        found.peer.map(|peer| peer.port()),
        Some(late.local_addr().unwrap().port())
    );
}

/// The requests leave by the interface with the client's address, wherever the default route goes.
#[tokio::test]
async fn the_local_address_chooses_the_network() {
    let _turn = turn();
    run_in_steps();
    let port = start(20100..=20103, Protocol::Quake3, named("own"));
    // The scan of the servers found has the port.
    let local = bound(20200..=20299).local_addr().unwrap().port();
    let client = client().with_local_address(([127, 0, 0, 1], local).into());
    let mut scan = client.lan(Some(Game::find("sof2").unwrap()), &[]).unwrap();
    let mut peers = Vec::new();
    while let Some(scanned) = scan.next().await {
        peers.extend(scanned.peer.filter(|peer| peer.port() == port));
    }
    assert_eq!(peers, [([127, 0, 0, 1], port).into()]);
}

/// Servers of Quake 3's protocol join the group of IPv6 on each interface (ioquake3).
#[test]
fn the_group_of_each_interface_is_searched() {
    const NAME: &str = "lan::the_group_of_each_interface_is_searched";
    const INTERFACES: &str = "for name in one two; do
        ip link add $name type veth peer name end$name &&
        ip link set $name addrgenmode none up && ip link set end$name addrgenmode none up &&
        ip address add fe80::1/64 dev $name nodad || exit 1; done && exec";
    if !in_namespace(NAME, INTERFACES) {
        return;
    }
    let interfaces = ["one", "two"].map(|name| nix::net::if_::if_nametoindex(name).unwrap());
    // A port of other protocols.
    let member = std::net::UdpSocket::bind("[::]:7778").unwrap();
    let group = "ff04::696f:7175:616b:6533".parse().unwrap();
    for interface in interfaces {
        member.join_multicast_v6(&group, interface).unwrap();
    }
    answering("::");
    runtime().block_on(async {
        let mut scan = client().lan(None, &[]).unwrap();
        let mut found = BTreeSet::new();
        while let Some(scanned) = scan.next().await {
            found.extend(scanned.peer);
        }
        let ip = "fe80::1".parse().unwrap();
        let servers = interfaces.map(|interface| SocketAddrV6::new(ip, PORT, 0, interface).into());
        assert_eq!(found, BTreeSet::from(servers));
        let of_ipv4 = client().with_family(Family::Ipv4);
        let mut scan = of_ipv4.lan("openarena", &[]).unwrap();
        assert!(scan.next().await.is_none());
    });
    member.set_nonblocking(true).unwrap();
    assert!(member.recv_from(&mut [0; 9]).is_err(), "nothing else");
}

/// A machine without a network, and a chosen network without a route.
#[test]
fn a_search_without_a_route_is_an_error() {
    const NAME: &str = "lan::a_search_without_a_route_is_an_error";
    if !in_namespace(NAME, "exec") {
        return;
    }
    runtime().block_on(async {
        let unreachable: IpAddr = [192, 0, 2, 255].into();
        for networks in [&[][..], &[unreachable], &[LOOPBACK[0], unreachable]] {
            let error = client().lan("openarena", networks).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unreachable, "{networks:?}");
        }
    });
}

#[test]
fn without_a_runtime_a_search_is_an_error() {
    assert!(client().lan(None, &LOOPBACK).is_err());
}
