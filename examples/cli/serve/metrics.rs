//! The counters of a responder for Prometheus, over HTTP.

use std::fmt::Write;
use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use hyper::StatusCode;
use queryport::serve::Responder;
use tokio::net::{TcpListener, TcpStream};

use super::command_line;
use crate::http::{self, Request};

/// The pause after a connection could not be accepted.
const PAUSE: Duration = Duration::from_secs(1);

/// The longest time of a connection.
const PATIENCE: Duration = Duration::from_secs(2);

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
        let help = help(name);
        // In Prometheus, `total` marks a counter, not the total of all sources.
        let name = if name == "limited_by_total" {
            "limited_overall"
        } else {
            name
        };
        let name = format!("queryport_{name}_total");
        let _ = writeln!(
            text,
            "# HELP {name} {help}\n# TYPE {name} counter\n{name} {value}"
        );
    }
    if let Some(players) = responder.status().player_count {
        let name = "queryport_players";
        let _ = writeln!(
            text,
            "# HELP {name} Players on the server, bots included.\n# TYPE {name} gauge\n{name} {players}"
        );
    }
    text
}

/// What a counter counts.
fn help(counter: &str) -> &'static str {
    match counter {
        "answered" => "Requests that were answered.",
        "unanswered" => "Requests without a valid token, or for something that the server lacks.",
        "ignored" => "Datagrams that were not requests.",
        "refused" => "Datagrams from addresses that must not be answered.",
        "limited_by_source" => "Requests of a source that had received its share.",
        "limited_by_total" => "Requests after all sources together had received the total.",
        "dropped" => "Reply datagrams that were lost.",
        "bytes_sent" => "Bytes of all replies.",
        _ => "A counter of the server.",
    }
}

/// Answers a request for the metrics. Closes the connection of a client that sends no request
/// within two seconds.
pub(crate) async fn answer(client: TcpStream, text: String) {
    let respond = |request: Request| {
        let (status, content_type, text) = match request.uri().path() {
            "/metrics" => (StatusCode::OK, http::METRICS, text.clone()),
            _ => {
                let page = "the metrics are at /metrics\n".to_owned();
                (StatusCode::NOT_FOUND, http::PLAIN, page)
            }
        };
        std::future::ready(http::reply(status, content_type, text))
    };
    http::answer(client, PATIENCE, respond).await;
}
