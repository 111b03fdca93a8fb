//! A late reply to a fixed local port is not the answer of the next conversation.

use std::net::SocketAddr;
use std::time::Duration;

use queryport::net::Rcon;
use queryport::quake3::Password;
use queryport::{Client, ErrorKind, Protocol, Timing};
use tokio::net::UdpSocket;

use crate::clock::run_in_steps;

const TIMEOUT: Duration = Duration::from_millis(800);
/// The time of the reply to the first request: after its end, before the next one may be sent.
const LATE: Duration = Duration::from_millis(1200);

/// A client with a local port of its own.
fn client() -> Client {
    let timing = Timing::default().with_timeout(TIMEOUT).with_retries(0);
    let free = std::net::UdpSocket::bind("127.0.0.5:0").unwrap();
    let client = Client::new().unwrap().with_timing(timing);
    client.with_local_address(free.local_addr().unwrap())
}

/// Sends the first reply late, and the others at once. A request waits while a reply is late.
async fn serve(socket: UdpSocket, replies: [&'static [u8]; 2]) {
    let mut buffer = [0; 200];
    for (delay, reply) in [LATE, Duration::ZERO].into_iter().zip(replies) {
        let (_, from) = socket.recv_from(&mut buffer).await.unwrap();
        tokio::time::sleep(delay).await;
        socket.send_to(reply, from).await.unwrap();
    }
}

async fn start(replies: [&'static [u8]; 2]) -> SocketAddr {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let address = socket.local_addr().unwrap();
    kit::spawn(serve(socket, replies));
    address
}

const OLD_STATUS: &[u8] = b"\\hostname\\Old\\numplayers\\0\\final\\\\queryid\\1.1";
const NEW_STATUS: &[u8] = b"\\hostname\\New\\numplayers\\0\\final\\\\queryid\\2.1";

#[tokio::test]
async fn a_command_never_prints_the_output_of_the_one_before() {
    run_in_steps();
    let server = start([
        b"\xff\xff\xff\xffprint\nfirst\n",
        b"\xff\xff\xff\xffprint\nsecond\n",
    ]);
    let password = Password::new("hunter2");
    let mut rcon = Rcon::new(&client(), server.await, password).await.unwrap();
    let error = rcon.run("first").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout);
    let outcome = rcon.run("second").await.unwrap();
    assert_eq!(outcome.answer.text.decoded().trim_end(), "second");
}

/// A call that was dropped has sent its request.
#[tokio::test]
async fn a_cancelled_query_counts() {
    run_in_steps();
    let client = client();
    let server = start([OLD_STATUS, NEW_STATUS]).await;
    let query = client.query(Protocol::GameSpy1, server);
    let cancelled = tokio::time::timeout(TIMEOUT.mul_f32(0.9), query).await;
    assert!(cancelled.is_err());
    let outcome = client.query(Protocol::GameSpy1, server).await;
    assert_eq!(outcome.unwrap().answer.name.unwrap(), "New");
}
