//! List servers on TCP sockets of the loopback network. Each serves one connection.
use std::net::SocketAddr;
use std::time::Duration;

use queryport::GameKey;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::gamespy4::Request;
use super::ut2004::{ListServer, Listed};

/// Listens, and runs a function on the first connection.
pub async fn listen<F: Future<Output = ()> + Send>(
    run: impl FnOnce(TcpStream) -> F + Send + 'static,
) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    crate::spawn(async move { run(listener.accept().await.unwrap().0).await });
    address
}

/// Sends bytes in pieces of this length. It is not an error if the client has disconnected.
pub async fn send(stream: &mut TcpStream, bytes: &[u8], piece: usize) {
    for piece in bytes.chunks(piece) {
        let _ = stream.write_all(piece).await;
        let _ = stream.flush().await;
    }
}

/// A GameSpy v1 list server that expects this name, key and game.
#[derive(Debug, Clone, Copy)]
pub struct GameSpy1 {
    pub login: &'static str,
    pub key: &'static str,
    pub game: &'static str,
    /// The format in the request: empty or `cmp`.
    pub format: &'static str,
    /// The length of a piece, and the milliseconds between pieces.
    pub pieces: (usize, u64),
    pub closes: bool,
}

impl GameSpy1 {
    /// Starts the server with a list. A wrong login gets OpenSpy's refusal.
    pub async fn start(self, list: Vec<u8>) -> SocketAddr {
        listen(move |mut stream| async move {
            send(&mut stream, br"\basic\\secure\WFXNEA", 99).await;
            let mut request = Vec::new();
            while request.windows(7).filter(|window| window == br"\final\").count() < 2 {
                assert_ne!(stream.read_buf(&mut request).await.unwrap(), 0);
            }
            let (Self { login, game, format, .. }, key) = (self, GameKey::new(self.key).unwrap());
            let proof = key.validate(b"WFXNEA").unwrap();
            let expected = format!(
                "\\gamename\\{login}\\gamever\\1\\location\\0\\validate\\{proof}\\final\\\\queryid\\1.1\\\\list\\{format}\\gamename\\{game}\\final\\"
            );
            let list = if request == expected.as_bytes() { list } else { br"\fatal\1\error\Validation error".to_vec() };
            for piece in list.chunks(self.pieces.0) {
                send(&mut stream, piece, piece.len()).await;
                tokio::time::sleep(Duration::from_millis(self.pieces.1)).await;
            }
            if !self.closes {
                tokio::time::sleep(Duration::from_secs(10)).await;
            }
        })
        .await
    }
}

/// Starts a list server of UT2004 and UT2003 with these servers.
pub async fn ut2004(servers: Vec<Listed>) -> SocketAddr {
    listen(|mut stream| async move {
        let (mut server, greeting) = ListServer::new(servers);
        send(&mut stream, &greeting, 29).await;
        let mut buffer = [0; 512];
        while !server.closed {
            let length = stream.read(&mut buffer).await.unwrap();
            assert_ne!(length, 0, "the client leaves last");
            send(&mut stream, &server.handle(&buffer[..length]), 29).await;
        }
    })
    .await
}

/// Starts a GameSpy v2 list server that sends this list and keeps the connection open.
pub async fn gamespy4(key: &'static [u8], plain: Vec<u8>) -> SocketAddr {
    listen(move |mut stream| async move {
        let mut buffer = [0; 1024];
        let length = stream.read(&mut buffer).await.unwrap();
        let reply = Request::parse(&buffer[..length]).reply(key, &[0; 10], &[77; 25], &plain);
        send(&mut stream, &reply, 29).await;
        assert_eq!(
            stream.read(&mut buffer).await.unwrap_or(0),
            0,
            "the client closes after the list"
        );
    })
    .await
}
