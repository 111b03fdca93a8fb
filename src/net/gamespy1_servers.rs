//! The list of a GameSpy v1 list server, over TCP.

use std::io;
use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout_at;

use super::client::Client;
use super::error::Error;
use super::exchange::now;
use crate::gamespy1::list::{LIST_PORT, ListRequest, ListSession};
use crate::model::ServerList;

impl Client {
    /// The servers that a GameSpy v1 list server knows, over TCP. Its port is
    /// [`LIST_PORT`](crate::gamespy1::list::LIST_PORT) if left out.
    ///
    /// # Errors
    /// [`Error::List`] when it gave no list, [`Error::Io`] when it could not be reached.
    pub async fn gamespy1_servers(&self, master: &str, request: &ListRequest) -> Result<ServerList, Error> {
        self.gamespy1_list(master, request, |_received| {}).await
    }

    /// The same; `progress` is told how many bytes have come.
    pub(super) async fn gamespy1_list(
        &self,
        master: &str,
        request: &ListRequest,
        mut progress: impl FnMut(usize),
    ) -> Result<ServerList, Error> {
        let deadline = self.deadline();
        let addresses = self.resolve(master, LIST_PORT, deadline).await?;
        let mut last = None;
        for (address, left) in addresses.iter().zip((1..=addresses.len()).rev()) {
            let session = ListSession::new(request.clone(), self.share_of(deadline, left), now());
            match fetch(*address, session.with_limits(self.options.limits), &mut progress).await {
                Ok(list) => return Ok(list),
                Err(error) => last = Some(error),
            }
        }
        Err(last.unwrap_or_else(|| Error::BadAddress { text: master.to_owned(), why: "it has no address" }))
    }
}

/// Fetches a list. What has arrived when the time is over is returned as incomplete.
async fn fetch(
    peer: SocketAddr,
    mut session: ListSession,
    progress: &mut impl FnMut(usize),
) -> Result<ServerList, Error> {
    let timer =
        |session: &ListSession| tokio::time::Instant::from(session.poll_timeout().unwrap_or_else(now));
    let too_late = |_| io::Error::new(io::ErrorKind::TimedOut, "the list server took too long");
    let failed = |doing| move |source| Error::Io { doing, source };
    let mut stream = timeout_at(timer(&session), TcpStream::connect(peer))
        .await
        .map_err(too_late)
        .and_then(|connected| connected)
        .map_err(failed("connect to the list server"))?;
    let (mut out, mut buffer, mut received) = (Vec::new(), [0; 4096], 0_usize);
    loop {
        if let Some(result) = session.poll_answer() {
            return result.map_err(|error| Error::List { peer, error });
        }
        out.clear();
        if session.poll_transmit(now(), &mut out).is_some() {
            timeout_at(timer(&session), stream.write_all(&out))
                .await
                .map_err(too_late)
                .and_then(|written| written)
                .map_err(failed("send the request to the list server"))?;
        }
        match timeout_at(timer(&session), stream.read(&mut buffer)).await {
            Err(_elapsed) => session.handle_timeout(now()),
            // The server closed, in whatever manner: what is here is all.
            Ok(Ok(0) | Err(_)) => session.handle_end(now()),
            Ok(Ok(length)) => {
                received = received.saturating_add(length);
                progress(received);
                session.handle_bytes(now(), buffer.get(..length).unwrap_or_default());
            }
        }
    }
}
