//! A server that runs: requests, heartbeats, counters, a crowd of players.
#![allow(clippy::disallowed_methods, reason = "a program has a clock")]

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use queryport::ServerStatus;
use queryport::net::serve;
use queryport::serve::Announcer;
use queryport::session::Machine;
use tokio::net::{TcpStream, UdpSocket};

use super::reporting::Reporting;
use super::world::with_crowd;
use super::{command_line, metrics, reaching};

/// How long after a heartbeat masters send their query.
const ASKED_WITHIN: Duration = Duration::from_secs(10);

/// Invented players who come and go.
#[derive(Debug)]
pub(crate) struct Crowd {
    /// The status without them.
    pub(crate) status: ServerStatus,
    pub(crate) most: u16,
}

/// A server with its sockets.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) sockets: Vec<UdpSocket>,
    pub(crate) answering: Reporting,
    pub(crate) announcer: Option<Announcer>,
    pub(crate) metrics: Option<metrics::Listener>,
    /// Masters that have sent no request since the heartbeat.
    pub(crate) silent_masters: Vec<SocketAddr>,
    pub(crate) crowd: Option<Crowd>,
    pub(crate) started: Instant,
    pub(crate) next_second: Instant,
}

impl Server {
    /// Answers until this time, or until it is interrupted.
    pub(crate) async fn run(
        mut self,
        end: Option<Instant>,
        interrupted: impl Future<Output = io::Result<()>>,
    ) -> Result<(), Box<dyn std::error::Error>> {
        tokio::pin!(interrupted);
        loop {
            tokio::select! {
                () = until(end) => break,
                interrupted = &mut interrupted => {
                    interrupted?;
                    break;
                }
                failed = answer(&self.sockets, &mut self.answering, self.announcer.as_mut()) => failed?,
                client = accept(self.metrics.as_ref()) => self.answer_metrics(client),
                () = tokio::time::sleep_until(self.next_second.into()) => self.each_second()?,
            }
            self.report_masters()?;
            if let Some(error) = self.answering.failed.take() {
                return Err(error.into());
            }
        }
        self.answering.write_left_out();
        self.send_last_heartbeats().await;
        Ok(())
    }

    fn answer_metrics(&mut self, client: io::Result<TcpStream>) {
        match client {
            Ok(client) => {
                let text = metrics::text(&self.answering.responder);
                tokio::spawn(metrics::answer(client, text));
            }
            Err(error) => {
                if let Some(listener) = &mut self.metrics {
                    listener.pause(&error);
                }
            }
        }
    }

    fn each_second(&mut self) -> Result<(), Box<dyn std::error::Error>> {
        self.answering.write_left_out();
        if self.next_second >= self.started + ASKED_WITHIN {
            for master in self.silent_masters.drain(..) {
                command_line::complain(&format!("{master}: no request after the heartbeat"));
            }
        }
        if let Some(crowd) = &self.crowd {
            let second = (self.next_second - self.started).as_secs();
            let status = with_crowd(&crowd.status, crowd.most, second);
            if let Some(announcer) = &mut self.announcer {
                announcer.set_status(Instant::now(), &status)?;
            }
            self.answering.responder.set_status(Arc::new(status));
        }
        self.next_second += Duration::from_secs(1);
        Ok(())
    }

    /// Prints the masters that have asked after a heartbeat.
    fn report_masters(&mut self) -> io::Result<()> {
        while let Some(master) = self.announcer.as_mut().and_then(Announcer::poll_event) {
            let silent = self
                .silent_masters
                .iter()
                .position(|address| *address == master);
            if let Some(index) = silent {
                self.silent_masters.remove(index);
                command_line::print_if_read(format_args!("{master} received the heartbeat"))?;
            }
        }
        Ok(())
    }

    /// Tells the masters that the server ends.
    async fn send_last_heartbeats(&mut self) {
        let Some(announcer) = &mut self.announcer else {
            return;
        };
        announcer.close();
        let mut heartbeat = Vec::new();
        while let Some(to) = announcer.poll_datagram(Instant::now(), &mut heartbeat) {
            if let Some(socket) = reaching(&self.sockets, to) {
                let _ = socket.send_to(&heartbeat, to).await;
            }
        }
    }
}

/// Answers requests and sends heartbeats, until a socket fails.
async fn answer(
    sockets: &[UdpSocket],
    answering: &mut Reporting,
    announcer: Option<&mut Announcer>,
) -> io::Result<()> {
    match announcer {
        Some(announcer) => serve(sockets, (answering, announcer)).await,
        None => serve(sockets, answering).await,
    }
}

/// Waits for a client of the counters.
async fn accept(metrics: Option<&metrics::Listener>) -> io::Result<TcpStream> {
    match metrics {
        Some(listener) => listener.accept().await,
        None => std::future::pending().await,
    }
}

/// Waits until this time, or for ever.
pub(super) async fn until(end: Option<Instant>) {
    match end {
        Some(end) => tokio::time::sleep_until(end.into()).await,
        None => std::future::pending().await,
    }
}
