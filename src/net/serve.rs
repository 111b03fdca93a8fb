//! Answering on a socket.

use std::io;

use tokio::net::UdpSocket;
use tokio::time::timeout_at;

use super::exchange::now;
use crate::quake3::master::Announcer;
use crate::serve::Responder;

/// No request is longer; more bytes of a datagram are cut off and make it no request.
const MAX_REQUEST: usize = 2048;

/// Answers queries on a socket until the future is dropped or the socket fails.
///
/// Cancel-safe: stop it in a `select!`, change the status, and call it again. Replies that the system cannot take
/// at once are dropped, as the network would: a responder must not queue for strangers.
///
/// ```no_run
/// use std::time::Duration;
/// use queryport::model::ServerStatus;
/// use queryport::protocol::Protocol;
/// use queryport::serve::{Responder, Service};
/// # fn status() -> ServerStatus { ServerStatus::default() }
/// # async fn example() -> std::io::Result<()> {
/// let socket = tokio::net::UdpSocket::bind("0.0.0.0:27960").await?;
/// let mut responder = Responder::new(Service::new(Protocol::Quake3), status());
/// loop {
///     tokio::select! {
///         failed = queryport::net::serve(&socket, &mut responder) => return failed,
///         () = tokio::time::sleep(Duration::from_secs(1)) => responder.set_status(status()),
///     }
/// }
/// # }
/// ```
///
/// # Errors
/// When receiving fails for another reason than an ICMP error about an earlier reply, or when the system has no
/// entropy for a responder that wants a secret.
pub async fn serve(socket: &UdpSocket, responder: &mut Responder) -> io::Result<()> {
    run(socket, responder, None).await
}

/// The same, and heartbeats to Quake 3 masters from the same socket, so that the server comes onto their lists.
///
/// A master lists a server whose `infoResponse` has `gamename` (one word), `protocol`, `clients` and `sv_maxclients`:
/// [`game`](crate::model::ServerStatus::game), the service's protocol number, the players or their count, and
/// [`max_players`](crate::model::ServerStatus::max_players) of the status.
///
/// ```no_run
/// use std::time::Instant;
/// use queryport::net::serve_announced;
/// use queryport::protocol::Protocol;
/// use queryport::quake3::master::Announcer;
/// use queryport::serve::{Responder, Service};
/// # fn status() -> queryport::model::ServerStatus { Default::default() }
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let socket = tokio::net::UdpSocket::bind("0.0.0.0:27960").await?;
/// let mut responder = Responder::new(Service::new(Protocol::Quake3), status());
/// let mut announcer = Announcer::new("DarkPlaces", ["192.0.2.9:27950".parse()?], Instant::now())?;
/// serve_announced(&socket, &mut responder, &mut announcer).await?;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// As [`serve`].
pub async fn serve_announced(
    socket: &UdpSocket,
    responder: &mut Responder,
    announcer: &mut Announcer,
) -> io::Result<()> {
    run(socket, responder, Some(announcer)).await
}

async fn run(
    socket: &UdpSocket,
    responder: &mut Responder,
    mut announcer: Option<&mut Announcer>,
) -> io::Result<()> {
    if responder.wants_secret() {
        responder.set_secret(super::client::secret().map_err(io::Error::other)?);
    }
    let mut request = vec![0; MAX_REQUEST];
    let mut out = Vec::new();
    loop {
        let mut alarm = None;
        if let Some(announcer) = &mut announcer {
            while let Some(transmit) = announcer.poll_transmit(now(), &mut out) {
                // Heartbeats are few and the caller's own: they wait for the socket.
                let _ = socket.send_to(&out, transmit.to).await;
                out.clear();
            }
            alarm = announcer.poll_timeout();
        }
        let received = match alarm {
            Some(alarm) => timeout_at(alarm.into(), socket.recv_from(&mut request)).await.ok(),
            None => Some(socket.recv_from(&mut request).await),
        };
        match received {
            Some(Ok((length, from))) => {
                responder.handle_datagram(now(), from, request.get(..length).unwrap_or_default());
            }
            // Somebody asked and went away, or the request was longer than the buffer (on Windows).
            Some(Err(error)) if is_about_a_peer(&error) => {}
            Some(Err(error)) => return Err(error),
            // Time for a heartbeat.
            None => {}
        }
        out.clear();
        while let Some(transmit) = responder.poll_transmit(&mut out) {
            let _ = socket.try_send_to(&out, transmit.to);
            out.clear();
        }
    }
}

/// Whether a socket error tells of a peer and not of the socket.
pub(super) fn is_about_a_peer(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::HostUnreachable
            | io::ErrorKind::NetworkUnreachable
            | io::ErrorKind::InvalidData
    ) || error.raw_os_error() == Some(WSAEMSGSIZE)
}

/// Windows reports a datagram longer than the buffer as this error.
const WSAEMSGSIZE: i32 = 10040;
