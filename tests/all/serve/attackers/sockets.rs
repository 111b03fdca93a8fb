//! The same requests over loopback, to `net::serve`. The attacker sets the clock, so preparation
//! takes no time. It takes the replies to each request before the next. Sources are addresses of
//! 127.0.0.0/8.

use std::cell::Cell;
use std::collections::HashMap;
use std::future::poll_fn;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::rc::Rc;
use std::task::Poll;
use std::time::{Duration, Instant};

use queryport::net::serve;
use queryport::serve::Responder;
use queryport::session::{Handled, Machine, Transmit};
use tokio::runtime::{Builder, Runtime};

use super::play::Wire;

/// A responder with the attacker's clock.
struct Clocked {
    responder: Responder,
    now: Instant,
    /// Whether the last request has come, and the replies to it.
    is_handled: Rc<Cell<bool>>,
    replies: u32,
}

impl Machine for Clocked {
    fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        let transmit = self.responder.poll_transmit(now, out);
        self.replies += u32::from(transmit.is_some());
        transmit
    }

    fn handle_datagram(&mut self, _: Instant, from: SocketAddr, datagram: &[u8]) -> Handled {
        let handled = self.responder.handle_datagram(self.now, from, datagram);
        self.replies = 0;
        self.is_handled.set(true);
        handled
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.responder.poll_timeout()
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.responder.handle_timeout(now);
    }
}

/// A server and the sockets of the sources.
pub(crate) struct Sockets {
    runtime: Runtime,
    server: [tokio::net::UdpSocket; 1],
    clocked: Clocked,
    sources: HashMap<SocketAddr, UdpSocket>,
    pub(crate) sent: u64,
}

impl Sockets {
    pub(crate) fn new(responder: Responder, now: Instant) -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let server = [runtime
            .block_on(tokio::net::UdpSocket::bind("127.0.0.1:0"))
            .unwrap()];
        let clocked = Clocked {
            responder,
            now,
            is_handled: Rc::default(),
            replies: 0,
        };
        Self {
            runtime,
            server,
            clocked,
            sources: HashMap::new(),
            sent: 0,
        }
    }
}

/// The address on loopback that plays this one, in a network for each network.
fn on_loopback(from: SocketAddr) -> Ipv4Addr {
    let octets = match from.ip().to_canonical() {
        IpAddr::V4(v4) => match v4.octets() {
            [11, b, c, d] => [127, b, c, d],
            [_, _, c, d] => [127, 251, c, d],
        },
        IpAddr::V6(v6) => match v6.segments() {
            [0x2A01, _, network, host, ..] => {
                let [high, low] = network.to_be_bytes();
                [127, high, low, 1 + (host % 254) as u8]
            }
            [_, _, network, host, ..] => [127, 252, network as u8, 1 + host as u8],
        },
    };
    octets.into()
}

impl Wire for Sockets {
    fn ask(
        &mut self,
        now: Instant,
        from: SocketAddr,
        request: &[u8],
        sent: &mut impl FnMut(&[u8]),
    ) {
        if self.sources.len() > 500 && !self.sources.contains_key(&from) {
            self.sources.clear();
        }
        let socket = self.sources.entry(from).or_insert_with(|| {
            let socket = UdpSocket::bind((on_loopback(from), 0)).unwrap();
            socket
                .set_read_timeout(Some(Duration::from_millis(100)))
                .unwrap();
            socket
        });
        socket
            .send_to(request, self.server[0].local_addr().unwrap())
            .unwrap();
        self.sent += 1;
        self.clocked.now = now;
        let is_handled = Rc::clone(&self.clocked.is_handled);
        is_handled.set(false);
        self.runtime.block_on(async {
            tokio::select! {
                biased;
                failed = serve(&self.server, &mut self.clocked) => failed.unwrap(),
                () = poll_fn(|context| {
                    context.waker().wake_by_ref();
                    if is_handled.get() { Poll::Ready(()) } else { Poll::Pending }
                }) => {}
            }
        });
        let mut buffer = [0; 2048];
        for _ in 0..self.clocked.replies {
            if let Ok(length) = socket.recv(&mut buffer) {
                sent(&buffer[..length]);
            }
        }
    }
}
