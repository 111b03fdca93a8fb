//! Prints who asks.

use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use queryport::serve::Responder;
use queryport::session::{Handled, Machine, Transmit};

use super::command_line;

/// The maximum number of lines in a second.
const LINES: u32 = 10;

/// A responder that writes a line for each datagram, and for no more than ten in a second.
#[derive(Debug)]
pub(crate) struct Reporting {
    pub(crate) responder: Responder,
    enabled: bool,
    /// The start of the current second, its lines, and the count of datagrams without a line.
    second: Option<Instant>,
    lines: u32,
    left_out: u64,
    /// Why a line could not be written.
    pub(crate) failed: Option<io::Error>,
}

impl Reporting {
    pub(crate) const fn new(responder: Responder, enabled: bool) -> Self {
        Self {
            responder,
            enabled,
            second: None,
            lines: 0,
            left_out: 0,
            failed: None,
        }
    }

    fn report(&mut self, now: Instant, line: std::fmt::Arguments<'_>) {
        if self
            .second
            .is_none_or(|second| now.saturating_duration_since(second) >= Duration::from_secs(1))
        {
            self.write_left_out();
            (self.second, self.lines) = (Some(now), 0);
        }
        if self.lines < LINES {
            self.lines += 1;
            self.write(line);
        } else {
            self.left_out += 1;
        }
    }

    /// Prints how many datagrams had no line.
    pub(crate) fn write_left_out(&mut self) {
        if self.left_out > 0 {
            let count = std::mem::take(&mut self.left_out);
            self.write(format_args!("{count} more without a line"));
        }
    }

    fn write(&mut self, line: std::fmt::Arguments<'_>) {
        if let Err(error) = command_line::print_if_read(line) {
            self.failed.get_or_insert(error);
        }
    }
}

impl Machine for Reporting {
    fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        self.responder.poll_transmit(now, out)
    }

    fn handle_datagram(&mut self, now: Instant, from: SocketAddr, datagram: &[u8]) -> Handled {
        let before = self.responder.stats();
        let handled = self.responder.handle_datagram(now, from, datagram);
        if !self.enabled {
            return handled;
        }
        let after = self.responder.stats();
        let length = datagram.len();
        match handled {
            Handled::Request(protocol) if after.answered > before.answered => {
                let sent = after.bytes_sent - before.bytes_sent;
                self.report(
                    now,
                    format_args!("{from}: {protocol}, {length} bytes, answered with {sent}"),
                );
            }
            Handled::Request(protocol) if after.unanswered > before.unanswered => {
                self.report(now, format_args!("{from}: {protocol}, {length} bytes, not answered: no valid token, or nothing that this server has"));
            }
            Handled::Request(protocol) => {
                self.report(
                    now,
                    format_args!("{from}: {protocol}, {length} bytes, not answered: limited"),
                );
            }
            Handled::Ignored => {
                self.report(now, format_args!("{from}: {length} bytes, not a request"));
            }
            _ => self.report(
                now,
                format_args!("{from}: an address that is never answered"),
            ),
        }
        handled
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.responder.poll_timeout()
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.responder.handle_timeout(now);
    }
}

#[cfg(test)]
mod tests {
    use queryport::{Format, Secret, ServerStatus, Service};

    use super::*;

    #[test]
    #[allow(clippy::disallowed_methods, reason = "any time will do")]
    fn ten_lines_are_written_in_a_second() {
        let now = Instant::now();
        let status = ServerStatus::default();
        let service = Service::new(Format::Quake3);
        let responder = Responder::new(service, status, Secret::new([7; 16]), now);
        let mut reporting = Reporting::new(responder, true);
        for _ in 0..30 {
            reporting.report(now, format_args!("a line"));
        }
        assert_eq!((reporting.lines, reporting.left_out), (10, 20));
        reporting.report(now + Duration::from_secs(1), format_args!("a line"));
        assert_eq!((reporting.lines, reporting.left_out), (1, 0));
    }
}
