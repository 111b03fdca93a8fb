//! The counters of a responder for Prometheus, over HTTP.

use std::fmt::Write;
use std::time::Duration;

use queryport::serve::Responder;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// The counters in the text form of Prometheus.
pub(crate) fn text(responder: &Responder) -> String {
    let mut text = String::new();
    let stats = serde_json::to_value(responder.stats()).unwrap_or_default();
    for (name, value) in stats.as_object().into_iter().flatten() {
        // `total` is what Prometheus calls the count, and not the total of all sources.
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
