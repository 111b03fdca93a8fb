//! The counters of a responder for Prometheus, over HTTP.

use std::fmt::Write;
use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use queryport::serve::Responder;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::command_line;

/// The pause after a connection could not be accepted.
const PAUSE: Duration = Duration::from_secs(1);

/// Accepts connections.
#[derive(Debug)]
pub(crate) struct Listener {
    listener: TcpListener,
    /// The end of a pause.
    paused_until: Option<Instant>,
}

impl Listener {
    pub(crate) async fn bind(address: SocketAddr) -> Result<Self, String> {
        let listener = TcpListener::bind(address).await.map_err(|error| {
            let why = command_line::message(&error);
            format!("cannot serve metrics on TCP {address}: {why}")
        })?;
        Ok(Self {
            listener,
            paused_until: None,
        })
    }

    pub(crate) fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Accepts a connection, after the pause.
    pub(crate) async fn accept(&self) -> io::Result<TcpStream> {
        if let Some(end) = self.paused_until {
            tokio::time::sleep_until(end.into()).await;
        }
        let (client, _) = self.listener.accept().await?;
        Ok(client)
    }

    /// Pauses after an error, and reports the first one. Without a free descriptor, accepting fails
    /// at once, again and again.
    #[allow(clippy::disallowed_methods, reason = "a program has a clock")]
    pub(crate) fn pause(&mut self, error: &io::Error) {
        if self.paused_until.is_none() {
            let why = command_line::message(error);
            command_line::complain(&format!("metrics: cannot accept: {why}"));
        }
        self.paused_until = Some(Instant::now() + PAUSE);
    }
}

/// The counters in the text form of Prometheus.
pub(crate) fn text(responder: &Responder) -> String {
    let mut text = String::new();
    let stats = serde_json::to_value(responder.stats()).unwrap_or_default();
    for (name, value) in stats.as_object().into_iter().flatten() {
        // In Prometheus, `total` marks a counter, not the total of all sources.
        let name = if name == "limited_by_total" {
            "limited_overall"
        } else {
            name
        };
        let _ = writeln!(
            text,
            "# TYPE queryport_{name}_total counter\nqueryport_{name}_total {value}"
        );
    }
    let players = responder
        .status()
        .player_count
        .map_or(Value::Null, Value::from);
    if players.is_number() {
        let _ = writeln!(
            text,
            "# TYPE queryport_players gauge\nqueryport_players {players}"
        );
    }
    text
}

/// Answers any request with this text. Closes the connection of a client that sends no request
/// within two seconds.
pub(crate) async fn answer(mut client: TcpStream, text: String) {
    let exchange = async {
        let (mut request, mut chunk) = (Vec::<u8>::new(), [0; 1024]);
        while request.len() < 8192 && !request.windows(4).any(|end| end == b"\r\n\r\n") {
            match client.read(&mut chunk).await? {
                0 => break,
                length => request.extend(chunk.iter().take(length)),
            }
        }
        let length = text.len();
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
        );
        client.write_all(head.as_bytes()).await?;
        client.write_all(text.as_bytes()).await?;
        client.shutdown().await
    };
    let _ = tokio::time::timeout(Duration::from_secs(2), exchange).await;
}
