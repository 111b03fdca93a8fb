//! The results of a scan: a line for each, and a summary.

use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use futures_core::Stream;
use queryport::games::Game;
use queryport::scan::Scanned;
use queryport::{Error, Scan, ServerStatus};

use super::command_line;
use super::list::UnderWay;
use super::output::{Shared, closed};
use super::rows::{failure_line, json_line, readable};
use super::summary::Summary;

/// The time between two drawings of the progress while no result arrives.
const TICK: Duration = Duration::from_millis(200);

/// The form of a result on standard output.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Form {
    /// One JSON object a line, failures too.
    Json,
    /// Rows that fit into this many columns.
    Columns(usize),
    /// Rows of any length.
    Lines,
}

/// The end of a scan.
#[derive(Debug)]
pub(crate) enum End {
    /// Every server of the list has a result.
    List,
    /// Ctrl-C.
    Interrupt,
    /// Nobody reads the output.
    Closed,
    /// The output cannot be written, as on a full disk.
    Failed(io::Error),
}

/// Prints the results of a scan as they arrive.
#[derive(Debug)]
pub(crate) struct Printer {
    pub(crate) form: Form,
    /// Names the servers without a usable answer on standard error.
    pub(crate) has_failures: bool,
    /// The game whose list servers were asked.
    pub(crate) expected: Option<Game>,
    /// Leaves out servers that name another game.
    pub(crate) is_same_game_only: bool,
    pub(crate) output: Shared,
    pub(crate) under_way: Arc<Mutex<UnderWay>>,
    pub(crate) summary: Summary,
}

/// The next thing that happens in a scan.
enum Event {
    Result(Box<Scanned<ServerStatus, Error>>),
    End(End),
}

impl Printer {
    /// Prints results until the scan ends.
    pub(crate) async fn print_all(&mut self, scan: &mut Scan<'_>) -> End {
        #[allow(clippy::disallowed_methods, reason = "a program has a clock")]
        let started = Instant::now();
        let mut interrupted = pin!(command_line::interrupted());
        let mut closed = pin!(closed());
        let mut ticks = tokio::time::interval(TICK);
        loop {
            let event = poll_fn(|cx| {
                if interrupted.as_mut().poll(cx).is_ready() {
                    return Poll::Ready(Event::End(End::Interrupt));
                }
                if closed.as_mut().poll(cx).is_ready() {
                    return Poll::Ready(Event::End(End::Closed));
                }
                // Draws the progress while no result arrives.
                let _ = ticks.poll_tick(cx);
                self.poll_scan(scan, started, cx)
            });
            match event.await {
                Event::Result(scanned) => {
                    if let Err(error) = self.print(&scanned) {
                        return End::Failed(error);
                    }
                }
                Event::End(end) => return end,
            }
        }
    }

    fn poll_scan(
        &self,
        scan: &mut Scan<'_>,
        started: Instant,
        cx: &mut Context<'_>,
    ) -> Poll<Event> {
        let next = Pin::new(scan).poll_next(cx);
        let mut output = self.output.lock();
        output.progress(|| self.progress(started));
        match next {
            Poll::Ready(Some(scanned)) => Poll::Ready(Event::Result(Box::new(scanned))),
            Poll::Ready(None) => Poll::Ready(Event::End(End::List)),
            // Nothing else to do: write the results that were held back.
            Poll::Pending => match output.flush(self.under_way().finished()) {
                Ok(()) => Poll::Pending,
                Err(error) => Poll::Ready(Event::End(End::Failed(error))),
            },
        }
    }

    fn print(&mut self, scanned: &Scanned<ServerStatus, Error>) -> io::Result<()> {
        let status = scanned.result.as_ref().ok().map(|outcome| &outcome.answer);
        let expected = self.expected.as_ref();
        let other = status
            .zip(expected)
            .and_then(|(status, expected)| expected.other_game(status, expected.protocol));
        self.summary.add(scanned, other.is_some());
        let (target, finished) = {
            let mut under_way = self.under_way();
            (under_way.remove(scanned.index), under_way.finished())
        };
        let mut output = self.output.lock();
        if self.has_failures
            && let Err(error) = &scanned.result
            && let Some(target) = &target
        {
            output.complain(&failure_line(target, scanned.peer, error));
        }
        let line = match self.form {
            _ if self.is_same_game_only && other.is_some() => None,
            Form::Json => Some(json_line(scanned, target, finished)),
            Form::Columns(columns) => readable(scanned, other, Some(columns)),
            Form::Lines => readable(scanned, other, None),
        };
        output.print(line.as_deref(), finished)
    }

    /// Prints the results that were held back, and the summary.
    pub(crate) fn print_summary(&self, scan: &Scan<'_>, end: &End) -> io::Result<()> {
        let mut output = self.output.lock();
        let written = match end {
            End::Failed(_) => Ok(()),
            _ => output.flush(self.under_way().finished()),
        };
        output.end();
        let summary = self.summary.text(scan.stats(), &scan.io());
        command_line::complain(summary.trim_end());
        let left_out = {
            let under_way = self.under_way();
            under_way.read - under_way.handed
        };
        if left_out > 0 {
            // By --exclude, --shard or --skip.
            command_line::complain(&format!("  left out          {left_out}"));
        }
        if output.rejected > 0 {
            command_line::complain(&format!("  lines rejected    {}", output.rejected));
        }
        let failed = self.summary.failed();
        if failed > 0 && !self.has_failures && !matches!(self.form, Form::Json) {
            command_line::complain(&format!(
                "{failed} without a usable answer: --failures prints them"
            ));
        }
        if !matches!(end, End::List) {
            command_line::complain(&format!(
                "  interrupted; to go on:  --skip {}",
                output.written
            ));
        }
        written
    }

    /// Whether a server answered and no line of the list was rejected.
    pub(crate) fn is_success(&self) -> bool {
        self.summary.answered() > 0 && self.output.lock().rejected == 0
    }

    /// Results, how many there will be, and their rate. The length of a list is not known before
    /// its end.
    fn progress(&self, started: Instant) -> String {
        let under_way = self.under_way();
        let more = if under_way.is_read { "" } else { "+" };
        let done = self.summary.done();
        let rate = done as f64 / started.elapsed().as_secs_f64().max(0.1);
        format!(
            "{done} of {}{more} servers, {rate:.0} a second",
            under_way.handed
        )
    }

    fn under_way(&self) -> MutexGuard<'_, UnderWay> {
        self.under_way
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}
