//! Lists of servers over TCP.

use std::io;
use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout_at;

use super::client::Client;
use super::error::Error;
use super::exchange::now;
use crate::model::ServerList;
use crate::session::{StreamSession, Timing};
use crate::{gamespy1, gamespy4, ut2004};

impl Client {
    /// The servers that a GameSpy v1 list server knows, over TCP. Its port is
    /// [`LIST_PORT`](crate::gamespy1::list::LIST_PORT) if left out.
    ///
    /// # Errors
    /// [`Error::List`] when it gave no list, [`Error::Io`] when it could not be reached.
    pub async fn gamespy1_servers(
        &self,
        master: &str,
        request: &gamespy1::list::ListRequest,
    ) -> Result<ServerList, Error> {
        self.list(master, gamespy1::list::LIST_PORT, no_progress, |_, timing| {
            gamespy1::list::ListSession::new(request.clone(), timing, now())
        })
        .await
    }

    /// The servers that a list server of UT2004, UT2003 or Unreal II XMP knows, over TCP. Its port is
    /// [`LIST_PORT`](crate::ut2004::list::LIST_PORT) if left out.
    ///
    /// # Errors
    /// [`Error::List`] when it gave no list, [`Error::Io`] when it could not be reached.
    pub async fn ut2004_servers(
        &self,
        master: &str,
        request: &ut2004::list::ListRequest,
    ) -> Result<ut2004::list::List, Error> {
        self.list(master, ut2004::list::LIST_PORT, no_progress, |_, timing| {
            ut2004::list::ListSession::new(request.clone(), timing, now())
        })
        .await
    }

    /// The servers that a GameSpy v2 list server knows, over TCP. Its port is
    /// [`LIST_PORT`](crate::gamespy4::list::LIST_PORT) if left out.
    ///
    /// # Errors
    /// [`Error::List`] when it gave no list, [`Error::Io`] when it could not be reached.
    pub async fn gamespy4_servers(
        &self,
        master: &str,
        request: &gamespy4::list::ListRequest,
    ) -> Result<gamespy4::list::List, Error> {
        self.list(master, gamespy4::list::LIST_PORT, no_progress, |peer, timing| {
            gamespy4::list::ListSession::new(request.clone(), self.nonce(peer), timing, now())
        })
        .await
    }

    /// Asks the addresses of a list server one after the other until one gives a list. `progress` receives the number of
    /// bytes so far, whenever some arrive.
    pub(super) async fn list<A>(
        &self,
        master: &str,
        default_port: u16,
        mut progress: impl FnMut(usize),
        session: impl Fn(SocketAddr, Timing) -> StreamSession<A>,
    ) -> Result<A, Error> {
        let deadline = self.deadline();
        let addresses = self.resolve(master, default_port, deadline).await?;
        let mut last = None;
        for (address, left) in addresses.iter().zip((1..=addresses.len()).rev()) {
            let session = session(*address, self.share_of(deadline, left)).with_limits(self.options.limits);
            match fetch(*address, session, &mut progress).await {
                Ok(list) => return Ok(list),
                Err(error) => last = Some(error),
            }
        }
        Err(last.unwrap_or_else(|| Error::BadAddress { text: master.to_owned(), why: "it has no address" }))
    }
}

const fn no_progress(_received: usize) {}

/// Fetches a list. What has arrived when the time is over is returned as incomplete.
async fn fetch<A>(
    peer: SocketAddr,
    mut session: StreamSession<A>,
    progress: &mut impl FnMut(usize),
) -> Result<A, Error> {
    let too_late = |_| io::Error::new(io::ErrorKind::TimedOut, "the list server took too long");
    let failed = |doing| move |source| Error::Io { doing, source };
    let end = tokio::time::Instant::from(session.deadline());
    let mut stream = timeout_at(end, TcpStream::connect(peer))
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
            timeout_at(end, stream.write_all(&out))
                .await
                .map_err(too_late)
                .and_then(|written| written)
                .map_err(failed("send the request to the list server"))?;
        }
        let timer = session.poll_timeout().map_or(end, tokio::time::Instant::from);
        match timeout_at(timer, stream.read(&mut buffer)).await {
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
