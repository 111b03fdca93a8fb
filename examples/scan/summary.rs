//! What came of it all.

use std::fmt::Write as _;
use std::time::Instant;

use queryport::QueryError;
use queryport::net::ScanIo;
use queryport::Answer;
use queryport::scan::{ScanError, ScanStats, Scanned};

#[derive(Debug)]
pub(crate) struct Summary {
    start: Instant,
    complete: u64,
    incomplete: u64,
    silent: u64,
    unreachable: u64,
    nonsense: u64,
    endless: u64,
    refused: u64,
}

impl Summary {
    pub(crate) fn new() -> Self {
        #[allow(clippy::disallowed_methods, reason = "a program owns its clock")]
        let start = Instant::now();
        Self {
            start,
            complete: 0,
            incomplete: 0,
            silent: 0,
            unreachable: 0,
            nonsense: 0,
            endless: 0,
            refused: 0,
        }
    }

    pub(crate) fn add(&mut self, scanned: &Scanned<Answer>) {
        let counter = match &scanned.result {
            Ok(outcome) if outcome.answer.completeness().is_complete() => &mut self.complete,
            Ok(_) => &mut self.incomplete,
            Err(ScanError::Query(QueryError::Unreachable)) => &mut self.unreachable,
            Err(ScanError::Query(QueryError::NoUsableAnswer { .. })) => &mut self.nonsense,
            Err(ScanError::Query(QueryError::TooManySteps(_))) => &mut self.endless,
            Err(ScanError::Refused(_)) => &mut self.refused,
            Err(_) => &mut self.silent,
        };
        *counter += 1;
    }

    pub(crate) const fn answered(&self) -> u64 {
        self.complete + self.incomplete
    }

    pub(crate) fn tell(&self, stats: &ScanStats, io: &ScanIo) -> String {
        let seconds = self.start.elapsed().as_secs_f64();
        let rate = stats.started as f64 / seconds.max(1e-6);
        let mut out = String::new();
        let _ = writeln!(out, "{} asked in {seconds:.2} s, {rate:.0} a second", stats.started);
        let _ = writeln!(out, "  answered      {} ({} of them incomplete)", self.answered(), self.incomplete);
        for (what, count) in [
            ("silent", self.silent),
            ("unreachable", self.unreachable),
            ("nonsense", self.nonsense),
            ("without end", self.endless),
            ("refused", self.refused),
        ] {
            if count > 0 {
                let _ = writeln!(out, "  {what:<13} {count}");
            }
        }
        let drops = io.drops.map_or_else(|| "unknown".to_owned(), |drops| drops.to_string());
        let _ = writeln!(
            out,
            "  datagrams     {} sent ({} again), {} received ({} late, {} foreign), {drops} dropped by the kernel",
            stats.requests, stats.retries, stats.datagrams, stats.late, stats.foreign,
        );
        if io.send_errors > 0 {
            let _ = writeln!(out, "  send errors   {}", io.send_errors);
        }
        out
    }
}
