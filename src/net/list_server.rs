//! Lists of servers over TCP: the pump around [`ListSession`].

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout, timeout_at};

use super::error::Error;
use crate::gamespy1::list::{ListRequest, ListSession, ServerList};

/// What a list that looks ended is given to go on, or its server to close.
const SETTLE: Duration = Duration::from_millis(500);

/// Fetches a list. What has come when the time is over is returned as incomplete.
pub(super) async fn run(
    peer: SocketAddr,
    request: ListRequest,
    patience: Duration,
) -> Result<ServerList, Error> {
    let deadline = Instant::now().checked_add(patience).unwrap_or_else(Instant::now);
    let too_late = |_| io::Error::new(io::ErrorKind::TimedOut, "the list server took too long");
    let io = |doing| move |source| Error::Io { doing, source };
    let mut stream = timeout_at(deadline, TcpStream::connect(peer))
        .await
        .map_err(too_late)
        .and_then(|connected| connected)
        .map_err(io("connect to the list server"))?;
    let mut session = ListSession::new(request);
    let (mut out, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        out.clear();
        if session.poll_transmit(&mut out) {
            timeout_at(deadline, stream.write_all(&out))
                .await
                .map_err(too_late)
                .and_then(|written| written)
                .map_err(io("ask the list server"))?;
        }
        if let Some(result) = session.poll_answer() {
            return result.map_err(|error| Error::List { peer, error });
        }
        let read = stream.read(&mut buffer);
        let read = match session.is_settling() {
            true => timeout(SETTLE, read).await.ok(),
            false => timeout_at(deadline, read).await.ok(),
        };
        match read {
            // Time is over, or the server closed in whatever manner: what is here is all.
            None | Some(Ok(0) | Err(_)) => session.handle_end(),
            Some(Ok(length)) => session.handle_bytes(buffer.get(..length).unwrap_or_default()),
        }
        if Instant::now() >= deadline {
            session.handle_end();
        }
    }
}
