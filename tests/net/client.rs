//! The network layer on loopback: real sockets, bounded in number and time.
#![cfg(feature = "tokio")]
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use queryport::{Player, ServerStatus};
use queryport::net::{Client, Error, Query, serve};
use queryport::Protocol;
use queryport::quake3::Echo;
use queryport::serve::{Responder, Service};
use queryport::{Outcome, Timing};
use tokio::net::UdpSocket;

fn client() -> Client {
    let timing = Timing::default().with_timeout(Duration::from_millis(400)).with_retries(0);
    Client::new().unwrap().with_timing(timing)
}

fn status(name: &str) -> ServerStatus {
    let mut status = ServerStatus::default();
    status.name = Some(name.into());
    status.players = Some(vec![Player::new("Ann"), Player::new("Bob")]);
    status
}

async fn start(bind: &str, protocol: Protocol) -> SocketAddr {
    let socket = UdpSocket::bind(bind).await.unwrap();
    let address = socket.local_addr().unwrap();
    let mut responder = Responder::new(Service::new(protocol), status("Srv"));
    tokio::spawn(async move { serve(&socket, &mut responder).await });
    address
}

#[tokio::test]
async fn every_protocol_is_asked_and_answered_over_both_families() {
    for bind in ["127.0.0.1:0", "[::1]:0"] {
        for protocol in Protocol::ALL {
            let address = start(bind, protocol).await;
            let outcome = client().query(protocol, &address.to_string()).await.unwrap();
            assert_eq!(outcome.peer, address);
            assert_eq!(outcome.answer.name.as_ref().unwrap().plain(), "Srv", "{protocol}");
            assert_eq!(outcome.answer.listed_players().len(), 2, "{protocol}");
            assert!(outcome.answer.completeness.is_complete(), "{protocol}");
        }
    }
}

#[tokio::test]
async fn a_name_with_two_addresses_is_tried_until_one_answers() {
    let address = start("127.0.0.1:0", Protocol::Quake3).await;
    let outcome = client().quake3_info(&format!("localhost:{}", address.port())).await.unwrap();
    assert_eq!(outcome.answer.echo(), Echo::Verified);
    assert_eq!(outcome.answer.response().info().get("hostname"), Some(&b"Srv"[..]));
}

struct Mock;

#[async_trait]
impl Query for Mock {
    fn name(&self) -> &str {
        "mock"
    }

    async fn query(&self) -> Result<Outcome<ServerStatus>, Error> {
        Err(Error::Address("mock".to_owned()))
    }
}

#[tokio::test]
async fn queries_are_objects() {
    let address = start("127.0.0.1:0", Protocol::Quake3).await;
    let servers: Vec<Box<dyn Query>> =
        vec![Box::new(Mock), Box::new(client().target(Protocol::Quake3, address.to_string()))];
    let mut names = Vec::new();
    for server in &servers {
        names.push((server.name().to_owned(), server.query().await.is_ok()));
    }
    assert_eq!(names, [("mock".to_owned(), false), (address.to_string(), true)]);
}

#[tokio::test]
async fn silence_refusal_and_nonsense_are_told_apart() {
    let quiet = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let started = Instant::now();
    let error = client().quake3_status(&quiet.local_addr().unwrap().to_string()).await.unwrap_err();
    assert!(error.is_silent(), "{error}");
    assert!(error.to_string().contains("no answer within 4"), "{error}");
    assert!(started.elapsed() >= Duration::from_millis(400));

    let closed = quiet.local_addr().unwrap();
    drop(quiet);
    let error = client().quake3_status(&closed.to_string()).await.unwrap_err();
    assert!(error.is_unreachable(), "{error}");

    let talker = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let address = talker.local_addr().unwrap();
    let talk = async {
        let mut buffer = [0; 100];
        let (_, from) = talker.recv_from(&mut buffer).await.unwrap();
        talker.send_to(b"\\final\\", from).await.unwrap();
        talker.send_to(b"\xff\xff\xff\xffstatusResponse\n\\challenge\\x\n", from).await.unwrap();
    };
    let text = address.to_string();
    let client = client();
    let (error, ()) = tokio::join!(client.quake3_status(&text), talk);
    let error = error.unwrap_err();
    assert!(error.is_nonsense(), "{error}");
    let text = error.to_string();
    for part in ["within 4", "2 datagrams rejected", "the challenge is not the one sent at byte"] {
        assert!(text.contains(part), "{text}");
    }
}

#[tokio::test]
async fn what_is_no_address_is_said_before_anything_is_sent() {
    for bad in ["", "host:port", "a b", "[::1"] {
        assert!(matches!(client().quake3_info(bad).await, Err(Error::Address(text)) if text == bad));
    }
    assert!(matches!(client().quake3_info("no.such.host.invalid").await, Err(Error::Resolve { .. })));
}

/// Where others fall: «reply from another address or port; spoofed reply first: rust gamedig accepts it».
#[tokio::test]
async fn a_reply_from_another_port_is_not_heard() {
    let server = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let spoofer = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let address = server.local_addr().unwrap().to_string();
    let play = async {
        let mut request = [0; 100];
        let (length, from) = server.recv_from(&mut request).await.unwrap();
        let challenge = String::from_utf8_lossy(&request[14..length]).into_owned();
        for (socket, name) in [(&spoofer, "spoofed"), (&server, "real")] {
            let reply = format!("statusResponse\n\\sv_hostname\\{name}\\challenge\\{challenge}\n");
            socket.send_to(&[b"\xff\xff\xff\xff", reply.as_bytes()].concat(), from).await.unwrap();
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let client = client();
    let (outcome, ()) = tokio::join!(client.query(Protocol::Quake3, &address), play);
    assert_eq!(outcome.unwrap().answer.name.unwrap().plain(), "real");
}

#[tokio::test]
async fn dropping_a_query_cancels_it() {
    let quiet = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let address = quiet.local_addr().unwrap().to_string();
    let client = Client::new().unwrap();
    let query = client.query(Protocol::Quake3, &address);
    assert!(tokio::time::timeout(Duration::from_millis(50), query).await.is_err());
    let mut buffer = [0; 100];
    let (_, from) = quiet.recv_from(&mut buffer).await.unwrap();
    // Its socket is gone: a late answer meets a closed port.
    quiet.send_to(b"late", from).await.unwrap();
    let refused = tokio::time::timeout(Duration::from_millis(300), quiet.recv_from(&mut buffer)).await;
    assert!(refused.is_err() || refused.unwrap().is_err(), "nobody retries");
}
