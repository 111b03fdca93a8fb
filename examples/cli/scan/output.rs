//! Output of a scan: results on standard output; complaints, and the progress on a terminal, on
//! standard error.

use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use super::safe_text::fit;

/// The line of progress is drawn again no sooner.
const DRAWN_AFTER: Duration = Duration::from_millis(100);
/// The maximum number of bytes of results that are held back.
const MOST_HELD: usize = 32 * 1024;

/// Results and progress may share a terminal, so each byte goes through here.
#[derive(Debug)]
pub(crate) struct Output {
    /// Results that are not written yet.
    held: Vec<u8>,
    /// How many targets at the start of the list have their results written. A scan that ends early
    /// goes on after them.
    pub(crate) written: u64,
    /// Whether there is a line of progress: standard error is a terminal.
    has_progress: bool,
    /// The text of the line, and when it was drawn.
    progress: String,
    drawn: Option<Instant>,
    /// How far the lists of a game are.
    pub(crate) lists: String,
    /// Lines of the list that name no server.
    pub(crate) rejected: u64,
}

/// The output, which the tasks that read lists have too.
#[derive(Debug, Clone)]
pub(crate) struct Shared(Arc<Mutex<Output>>);

impl Shared {
    pub(crate) fn new() -> Self {
        // A dumb terminal has no command that erases a line.
        let can_erase =
            std::env::var_os("TERM").is_some_and(|term| term != "dumb" && !term.is_empty());
        let has_progress = io::stderr().is_terminal() && can_erase;
        let (held, progress, lists) = Default::default();
        Self(Arc::new(Mutex::new(Output {
            held,
            written: 0,
            has_progress,
            progress,
            drawn: None,
            lists,
            rejected: 0,
        })))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Output> {
        self.0
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Output {
    /// Prints a result, now or with the next ones. With it, this many targets at the start of the
    /// list have results.
    pub(crate) fn print(&mut self, line: Option<&str>, finished: u64) -> io::Result<()> {
        if let Some(line) = line {
            self.held.extend_from_slice(line.as_bytes());
            self.held.push(b'\n');
        }
        if self.held.len() < MOST_HELD {
            Ok(())
        } else {
            self.flush(finished)
        }
    }

    /// Writes the results that were held back. Then this many targets have their results written.
    pub(crate) fn flush(&mut self, finished: u64) -> io::Result<()> {
        if !self.held.is_empty() {
            self.erase();
            let held = std::mem::take(&mut self.held);
            let mut out = io::stdout();
            let written = out.write_all(&held).and_then(|()| out.flush());
            self.draw();
            written?;
        }
        self.written = finished;
        Ok(())
    }

    /// Writes a line to standard error.
    pub(crate) fn complain(&mut self, line: &str) {
        self.erase();
        super::command_line::complain(line);
        self.draw();
    }

    /// Complains about a line of the list that names no server.
    pub(crate) fn reject(&mut self, line: &str) {
        self.rejected += 1;
        self.complain(line);
    }

    /// Draws the line of progress, unless it was drawn a moment ago.
    #[allow(clippy::disallowed_methods, reason = "a program has a clock")]
    pub(crate) fn progress(&mut self, line: impl FnOnce() -> String) {
        let is_due = self
            .drawn
            .is_none_or(|drawn| drawn.elapsed() >= DRAWN_AFTER);
        if self.has_progress && is_due {
            self.progress = line();
            self.erase();
            self.draw();
            self.drawn = Some(Instant::now());
        }
    }

    /// Erases the line of progress.
    pub(crate) fn end(&mut self) {
        self.erase();
        self.has_progress = false;
    }

    fn erase(&self) {
        if self.has_progress {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }

    fn draw(&self) {
        if self.has_progress {
            let line = format!("{}{}", self.lists, self.progress);
            // A terminal wraps a longer line, and only its last row could be erased.
            let columns = super::command_line::columns_of(&io::stderr());
            let _ = write!(io::stderr(), "{}", fit(&line, columns.saturating_sub(1)));
        }
    }
}

/// Waits until the other end of standard output is closed.
#[cfg(target_os = "linux")]
pub(crate) async fn closed() {
    use rustix::event::{PollFd, PollFlags, poll};

    let (sender, receiver) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        let stdout = std::io::stdout();
        // No events are requested: errors on a descriptor are always reported, and a pipe without a
        // reader is an error.
        let mut descriptors = [PollFd::new(&stdout, PollFlags::empty())];
        while poll(&mut descriptors, None) == Err(rustix::io::Errno::INTR) {}
        if descriptors[0].revents().contains(PollFlags::ERR) {
            let _ = sender.send(());
        }
    });
    if receiver.await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// On other systems the next write notices it.
#[cfg(not(target_os = "linux"))]
pub(crate) async fn closed() {
    std::future::pending().await
}
