//! Quake 3: consoles, and a numbered list.
use std::net::SocketAddr;
use std::time::Duration;

use queryport::lists::Quake3List;
use queryport::net::Rcon;
use queryport::quake3::{Command, Password, RconError, RconMode, Reply, Request};
use queryport::{Client, Error, ErrorKind, Timing};
use tokio::net::UdpSocket;

use crate::clock::run_in_steps;

fn client() -> Client {
    let timing = Timing::default()
        .with_timeout(Duration::from_secs(5))
        .with_quiet(Duration::from_millis(100));
    Client::new().unwrap().with_timing(timing)
}

/// A console that takes `hunter2` or `two words`; the latter prints nothing but a long text. It
/// answers after this time.
async fn console(bind: &str, delay: Duration) -> SocketAddr {
    let socket = UdpSocket::bind(bind).await.unwrap();
    let address = socket.local_addr().unwrap();
    kit::spawn(async move {
        let mut buffer = [0; 2048];
        while let Ok((length, from)) = socket.recv_from(&mut buffer).await {
            let Ok(request) = Request::parse(&buffer[..length]) else {
                continue;
            };
            let text = match request.command {
                Command::Rcon(rcon) if rcon.password == b"hunter2" => b"map: q3dm17\n".to_vec(),
                Command::Rcon(rcon) if rcon.password == b"two words" && rcon.quoted => {
                    vec![b'x'; 3000]
                }
                Command::Rcon(_) => b"Bad rconpassword.\n".to_vec(),
                _ => continue,
            };
            tokio::time::sleep(delay).await;
            for datagram in Reply::print(&text, false) {
                socket.send_to(&datagram, from).await.unwrap();
            }
        }
    });
    address
}

#[tokio::test]
async fn commands_keep_to_the_rate_limits_of_servers() {
    run_in_steps();
    let address = console("[::1]:0", Duration::ZERO).await;
    let mut rcon = Rcon::new(&client(), address, "hunter2").await.unwrap();
    let started = tokio::time::Instant::now();
    for _ in 0..3 {
        let outcome = rcon.run("status").await.unwrap();
        assert_eq!(outcome.answer.text.raw(), b"map: q3dm17\n");
        // The answer ends after a silence.
        let rtt = outcome.rtt.unwrap();
        assert_eq!((outcome.stats.requests, rtt < outcome.elapsed), (1, true));
    }
    let two_gaps = 2 * Duration::from_millis(650);
    assert!(started.elapsed() >= two_gaps);
    // A command that cannot be written does not wait.
    let asked_at = tokio::time::Instant::now();
    assert!(matches!(rcon.run("a\nb").await, Err(Error::Request(_))));
    assert!(asked_at.elapsed() < Duration::from_millis(300));
}

#[tokio::test]
async fn each_command_of_a_console_has_the_whole_deadline() {
    run_in_steps();
    let address = console("127.0.0.1:0", Duration::from_secs(3)).await;
    let client = client().with_deadline(Duration::from_secs(5));
    let mut rcon = Rcon::new(&client, address, "hunter2").await.unwrap();
    // Also a console that was opened long before.
    tokio::time::advance(Duration::from_secs(60)).await;
    for _ in 0..3 {
        let outcome = rcon.run("status").await.unwrap();
        assert_eq!(outcome.answer.text.raw(), b"map: q3dm17\n");
    }
}

#[tokio::test]
async fn wrong_and_invalid_passwords_are_errors() {
    let address = console("127.0.0.1:0", Duration::ZERO).await;
    let client = client();
    let rcon = async |password: &str| Rcon::new(&client, address, password).await.unwrap();
    let wrong = rcon("guess").await.run("status").await.unwrap_err();
    let is_refused = matches!(
        &wrong,
        Error::Rcon {
            error: RconError::BadPassword,
            ..
        }
    );
    assert!(is_refused, "{wrong:?}");
    let blank = rcon("two words").await.run("status").await;
    assert!(matches!(blank, Err(Error::Request(_))), "{blank:?}");
    let mut quoted = rcon("two words").await.with_mode(RconMode::Quoted);
    let answer = quoted.run("status").await.unwrap().answer;
    assert_eq!((answer.text.raw().len(), answer.datagrams), (3000, 3));
}

/// A DarkPlaces console that takes commands signed with `hunter2` only.
#[tokio::test]
async fn a_signed_command_has_the_time_of_the_clock() {
    use std::time::{SystemTime, UNIX_EPOCH};

    run_in_steps();
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let address = socket.local_addr().unwrap();
    kit::spawn(async move {
        let mut buffer = [0; 2048];
        while let Ok((length, from)) = socket.recv_from(&mut buffer).await {
            let request = Request::parse(&buffer[..length]).unwrap();
            // Like DarkPlaces, do not answer a wrong signature.
            let Command::SecureRcon(signed) = request.command else {
                continue;
            };
            if signed.verify(&Password::new("hunter2")) {
                let sent_at: f64 = std::str::from_utf8(signed.nonce())
                    .unwrap()
                    .parse()
                    .unwrap();
                let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
                let is_fresh = (now.as_secs_f64() - sent_at).abs() < 60.0;
                let text = format!("{is_fresh}\n");
                let reply = &Reply::print(text.as_bytes(), true)[0];
                socket.send_to(reply, from).await.unwrap();
            }
        }
    });
    let client = client();
    let run = async |password: &str| {
        let rcon = Rcon::new(&client, address, password).await.unwrap();
        rcon.with_mode(RconMode::Time).run("status").await
    };
    let answer = run("hunter2").await.unwrap().answer;
    assert_eq!(answer.text.raw(), b"true\n");
    let wrong = run("guess").await.unwrap_err();
    assert_eq!(wrong.kind(), ErrorKind::Timeout, "{wrong}");
}

/// Tremulous numbers the datagrams of a list (GrangerHub/tremulous-master, master.py).
#[tokio::test]
async fn the_datagram_that_completes_a_list_is_handed_out_whole() {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let master = socket.local_addr().unwrap();
    kit::spawn(async move {
        let (_, from) = socket.recv_from(&mut [0; 500]).await.unwrap();
        let head = b"\xff\xff\xff\xffgetserversExtResponse\x001\x001\0";
        let servers = b"\\\xc0\0\x02\x01m8\\\xc0\0\x02\x02m8\\";
        let list = [&head[..], servers].concat();
        socket.send_to(&list, from).await.unwrap();
    });
    let request = Quake3List::game("Tremulous", 69).unwrap();
    let mut servers = client().servers_at(master, request);
    let mut found = Vec::new();
    while let Some(listed) = servers.next().await {
        found.push(listed.server.to_string());
    }
    assert_eq!(found, ["192.0.2.1:27960", "192.0.2.2:27960"]);
}
