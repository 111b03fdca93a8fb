//! Socket features of Linux: the error queue, and batches of datagrams for tokio.
//!
//! The error queue shows which server an ICMP error is about.

#[cfg(feature = "tokio")]
pub(super) mod batch;
#[cfg(all(feature = "tokio", feature = "serve"))]
pub(super) mod source;

use std::io::{self, IoSliceMut};
use std::net::{SocketAddr, SocketAddrV4, SocketAddrV6};
use std::os::fd::{AsFd, AsRawFd};

use nix::sys::socket::{
    ControlMessageOwned, MsgFlags, SockaddrStorage, recvmsg, setsockopt, sockopt,
};

/// Turns on the error queue. Without it, a socket reports only closed ports.
pub(super) fn report_errors(socket: &impl AsFd) -> io::Result<()> {
    // A dual-stack socket has an option for each family.
    let v4 = setsockopt(socket, sockopt::Ipv4RecvErr, &true);
    let v6 = setsockopt(socket, sockopt::Ipv6RecvErr, &true);
    Ok(v6.or(v4)?)
}

/// Takes an ICMP error from the error queue, with the server it is about; `None` if it is empty.
pub(super) fn take_error(socket: &impl AsRawFd) -> Option<(SocketAddr, io::Error)> {
    let mut slices = [IoSliceMut::new(&mut [])];
    let mut control = vec![0; 256];
    let message = recvmsg(
        socket.as_raw_fd(),
        &mut slices,
        Some(&mut control),
        MsgFlags::MSG_ERRQUEUE,
    )
    .ok()?;
    let code = message
        .cmsgs()
        .into_iter()
        .flatten()
        .find_map(|control| match control {
            ControlMessageOwned::Ipv4RecvErr(error, _)
            | ControlMessageOwned::Ipv6RecvErr(error, _) => i32::try_from(error.ee_errno).ok(),
            _ => None,
        });
    let server = message.address.as_ref().and_then(address)?;
    Some((server, io::Error::from_raw_os_error(code?)))
}

fn address(storage: &SockaddrStorage) -> Option<SocketAddr> {
    match storage.as_sockaddr_in() {
        Some(&v4) => Some(SocketAddrV4::from(v4).into()),
        None => storage
            .as_sockaddr_in6()
            .map(|&v6| SocketAddrV6::from(v6).into()),
    }
}
