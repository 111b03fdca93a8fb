//! Answering on a socket.

use std::io;

use tokio::net::UdpSocket;

use super::exchange::now;
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
    if responder.wants_secret() {
        responder.set_secret(super::client::secret().map_err(io::Error::other)?);
    }
    let mut request = vec![0; MAX_REQUEST];
    let mut reply = Vec::new();
    loop {
        match socket.recv_from(&mut request).await {
            Ok((length, from)) => {
                responder.handle_datagram(now(), from, request.get(..length).unwrap_or_default());
            }
            // Somebody asked and went away, or the request was longer than the buffer (on Windows).
            Err(error) if is_about_a_peer(&error) => {}
            Err(error) => return Err(error),
        }
        reply.clear();
        while let Some(transmit) = responder.poll_transmit(&mut reply) {
            let _ = socket.try_send_to(&reply, transmit.to);
            reply.clear();
        }
    }
}

fn is_about_a_peer(error: &io::Error) -> bool {
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
