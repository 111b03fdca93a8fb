//! The counts at the end of a scan.

use std::fmt::Write as _;
use std::time::Instant;

use queryport::net::ScanIo;
use queryport::scan::{ScanStats, Scanned};
use queryport::{Error, ErrorKind, ServerStatus};
use shared::safe_text::counted;

#[derive(Debug)]
pub(crate) struct Summary {
    start: Instant,
    complete: u64,
    incomplete: u64,
    timeout: u64,
    unreachable: u64,
    other: u64,
    not_asked: u64,
    /// Answered for another game than was listed.
    other_games: u64,
}

impl Summary {
    pub(crate) fn new() -> Self {
        #[allow(clippy::disallowed_methods, reason = "a program owns its clock")]
        let start = Instant::now();
        Self {
            start,
            complete: 0,
            incomplete: 0,
            timeout: 0,
            unreachable: 0,
            other: 0,
            not_asked: 0,
            other_games: 0,
        }
    }

    pub(crate) fn add(&mut self, scanned: &Scanned<ServerStatus, Error>, is_other_game: bool) {
        self.other_games += u64::from(is_other_game);
        let counter = match &scanned.result {
            Ok(outcome) if outcome.answer.completeness.is_complete() => &mut self.complete,
            Ok(_) => &mut self.incomplete,
            Err(error) => match error.kind() {
                ErrorKind::Timeout => &mut self.timeout,
                ErrorKind::Unreachable => &mut self.unreachable,
                ErrorKind::BadAddress | ErrorKind::Duplicate | ErrorKind::NameResolution => {
                    &mut self.not_asked
                }
                _ => &mut self.other,
            },
        };
        *counter += 1;
    }

    /// All results.
    pub(crate) const fn done(&self) -> u64 {
        self.answered() + self.failed()
    }

    /// Servers without a usable answer.
    pub(crate) const fn failed(&self) -> u64 {
        self.timeout + self.unreachable + self.other + self.not_asked
    }

    pub(crate) const fn answered(&self) -> u64 {
        self.complete + self.incomplete
    }

    pub(crate) fn text(&self, stats: &ScanStats, io: &ScanIo) -> String {
        let seconds = self.start.elapsed().as_secs_f64();
        // A server of a game can have been queried at two ports.
        let asked = self.done() - self.not_asked;
        let rate = asked as f64 / seconds.max(1e-6);
        let mut out = String::new();
        let _ = writeln!(out, "{asked} asked in {seconds:.2} s, {rate:.0} a second");
        if asked > 0 {
            let _ = writeln!(out, "  answered          {}", self.answered());
        }
        for (what, count) in [
            ("incomplete", self.incomplete),
            ("other games", self.other_games),
            ("no reply", self.timeout),
            ("unreachable", self.unreachable),
            ("no usable answer", self.other),
            ("not asked", self.not_asked),
        ] {
            if count > 0 {
                let _ = writeln!(out, "  {what:<17} {count}");
            }
        }
        if stats.requests == 0 {
            return out;
        }
        let datagrams = |count| counted(count, "datagram");
        let (sent, received) = (datagrams(stats.requests), datagrams(stats.datagrams));
        let _ = writeln!(out, "  sent              {sent}");
        let _ = writeln!(out, "                    {} bytes", stats.bytes_sent);
        let _ = writeln!(out, "  received          {received}");
        let _ = writeln!(out, "                    {} bytes", stats.bytes_received);
        for (what, count) in [
            ("retries", stats.retries),
            ("late datagrams", stats.late),
            ("foreign datagrams", stats.foreign),
            // Full receive buffers; `None` where the system does not count them.
            ("kernel drops", io.drops.unwrap_or_default()),
            ("send errors", io.send_errors),
        ] {
            if count > 0 {
                let _ = writeln!(out, "  {what:<17} {count}");
            }
        }
        out
    }
}
