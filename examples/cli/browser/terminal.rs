//! The browser on a terminal: drawing, keys, signals, and leaving the terminal as it was.

use std::error::Error;
use std::io::{self, IsTerminal, Stdout};
use std::mem::ManuallyDrop;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crossterm::clipboard::CopyToClipboard;
use crossterm::cursor::Show;
use crossterm::event::Event as Input;
use crossterm::execute;
use crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use tokio::sync::mpsc;
use tokio::time::MissedTickBehavior;

use super::command_line::{complain, message};
use super::favourites::Favourites;
use super::input::action;
use super::safe_text::safe;
use super::source::Source;
use super::state::{Browser, Command, Event};
use super::view;
use super::view::colour::Depth;

/// Changes are drawn this often; a key is answered at once.
const FRAME: Duration = Duration::from_millis(50);
/// While nothing changes but the time, the progress is drawn this often.
const CLOCK: Duration = Duration::from_millis(250);
/// Without a signal, a closed terminal is noticed within this time.
const CHECK: Duration = Duration::from_secs(1);
/// The time to end after a signal, before the program ends at once.
const GRACE: Duration = Duration::from_secs(1);
/// The maximum number of events that are taken between two looks at the keys.
const BATCH: usize = 512;

/// Whether any thread has panicked.
static HAS_PANICKED: AtomicBool = AtomicBool::new(false);

/// The parts of the program on the terminal.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) browser: Browser,
    pub(crate) source: Source,
    /// None where favourites are not kept.
    pub(crate) favourites: Option<Favourites>,
    pub(crate) depth: Depth,
    /// The time between automatic refreshes.
    pub(crate) interval: Duration,
}

/// Runs until the user or a signal ends it, or until the terminal is closed. Then prints the messages
/// about the list, which the screen cuts.
pub(crate) async fn run(mut program: Program) -> Result<ExitCode, Box<dyn Error>> {
    let mut ended = std::pin::pin!(ended()?);
    let (mut terminal, restored) = enter()?;
    let mut keys = keys();
    program.source.scan();
    let mut events = Vec::new();
    let mut frames = tokio::time::interval(FRAME);
    frames.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (mut is_stale, mut drawn, mut refreshed, mut checked) = (true, now(), now(), now());
    loop {
        let mut is_urgent = false;
        let command = tokio::select! {
            () = &mut ended => break,
            input = keys.recv() => {
                is_urgent = true;
                match input {
                    Some(Ok(input)) => program.input(&input),
                    Some(Err(error)) if has_terminal() => return Err(error.into()),
                    Some(Err(_)) | None => break,
                }
            }
            _ = program.source.events.recv_many(&mut events, BATCH) => {
                program.handle(&mut events);
                is_stale = true;
                None
            }
            _ = frames.tick() => {
                if checked.elapsed() >= CHECK {
                    checked = now();
                    if !has_terminal() {
                        break;
                    }
                }
                program.refresh_if_due(&mut refreshed)
            }
        };
        if HAS_PANICKED.load(Ordering::Relaxed) {
            return Err("a task of this program panicked".into());
        }
        if let Some(command) = command {
            if command == Command::Quit {
                break;
            }
            program.carry_out(command);
            is_stale = true;
        }
        if is_urgent || program.is_due(is_stale, drawn.elapsed()) {
            match program.draw(&mut terminal) {
                Ok(()) => (is_stale, drawn) = (false, now()),
                Err(error) if has_terminal() => return Err(error.into()),
                Err(_) => break,
            }
        }
    }
    drop(restored);
    for problem in &program.browser.problems {
        complain(&safe(problem));
    }
    Ok(ExitCode::SUCCESS)
}

/// Whether the terminal is still there. After it was closed, reads and writes fail.
fn has_terminal() -> bool {
    io::stdout().is_terminal()
}

impl Program {
    /// Whether to draw the screen again, this long after it was drawn.
    fn is_due(&self, is_stale: bool, since: Duration) -> bool {
        let is_running = !self.browser.progress.is_finished();
        (is_stale && since >= FRAME) || (is_running && since >= CLOCK)
    }

    fn handle(&mut self, events: &mut Vec<Event>) {
        for event in events.drain(..) {
            self.browser.handle(event, now());
        }
    }

    fn input(&mut self, input: &Input) -> Option<Command> {
        let Input::Key(key) = input else { return None };
        let action = action(*key, self.browser.mode)?;
        self.browser.act(action)
    }

    fn draw(&mut self, screen: &mut Screen) -> io::Result<()> {
        screen.draw(|frame| view::draw(frame, &mut self.browser, self.depth, now()))?;
        Ok(())
    }

    /// The automatic refresh, when its time has come.
    fn refresh_if_due(&mut self, refreshed: &mut Instant) -> Option<Command> {
        self.browser.progress.note(now());
        if !self.browser.is_automatic || refreshed.elapsed() < self.interval {
            return None;
        }
        *refreshed = now();
        self.browser.refresh()
    }

    fn carry_out(&mut self, command: Command) {
        match command {
            Command::Refresh(targets) => self.source.refresh(targets),
            Command::Rescan => self.source.scan(),
            Command::Favourite(target, is_favourite) => {
                let note = match &self.favourites {
                    None => Some("favourites among the embedded servers are not kept".to_owned()),
                    Some(favourites) => favourites
                        .write(&target, is_favourite)
                        .err()
                        .map(|error| format!("the favourite is not kept: {}", message(&error))),
                };
                self.browser.note = note;
            }
            Command::Copy(text) => {
                // OSC 52. A terminal that fails shows it when it is drawn.
                let _ = execute!(io::stdout(), CopyToClipboard::to_clipboard_from(text));
            }
            Command::Quit => {}
        }
    }
}

/// Restores the terminal when it is dropped, unless a panic has done it: the message would be
/// overwritten.
#[derive(Debug)]
pub(crate) struct Restore;

impl Drop for Restore {
    fn drop(&mut self) {
        if HAS_PANICKED.load(Ordering::Relaxed) {
            // A frame may have been drawn after the message.
            let _ = execute!(io::stdout(), Show);
        } else {
            restore();
        }
    }
}

/// Leaves the alternate screen and raw mode. A terminal that has been closed has nothing to
/// restore.
fn restore() {
    let _ = disable_raw_mode();
    let _ = execute!(io::stdout(), LeaveAlternateScreen, Show);
}

/// The screen. It is never dropped: if the terminal is closed, ratatui would print an error to
/// standard error, and panic if that is closed too. [`Restore`] shows the cursor instead.
pub(crate) type Screen = ManuallyDrop<Terminal<CrosstermBackend<Stdout>>>;

/// Switches to raw mode and the alternate screen. A panic in any thread restores the terminal
/// before its message is written.
pub(crate) fn enter() -> io::Result<(Screen, Restore)> {
    let restored = Restore;
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        HAS_PANICKED.store(true, Ordering::Relaxed);
        restore();
        before(info);
    }));
    enable_raw_mode()?;
    execute!(io::stdout(), EnterAlternateScreen)?;
    let terminal = Terminal::new(CrosstermBackend::new(io::stdout()))?;
    Ok((ManuallyDrop::new(terminal), restored))
}

/// Keys and changes of the size. A separate thread reads them, because a read blocks.
fn keys() -> mpsc::Receiver<io::Result<Input>> {
    let (sender, receiver) = mpsc::channel(64);
    std::thread::spawn(move || {
        loop {
            let input = crossterm::event::read();
            let is_failed = input.is_err();
            if sender.blocking_send(input).is_err() || is_failed {
                break;
            }
        }
    });
    receiver
}

/// Waits for a signal that ends the program.
#[cfg(unix)]
fn ended() -> io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};

    let mut terminate = signal(SignalKind::terminate())?;
    let mut hangup = signal(SignalKind::hangup())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let (sender, receiver) = tokio::sync::oneshot::channel();
    tokio::spawn(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
            _ = interrupt.recv() => {}
        }
        let _ = sender.send(());
        // The loop is blocked if the terminal takes no output.
        tokio::time::sleep(GRACE).await;
        let _ = disable_raw_mode();
        std::process::exit(0);
    });
    Ok(async {
        let _ = receiver.await;
    })
}

#[cfg(not(unix))]
fn ended() -> io::Result<impl Future<Output = ()>> {
    Ok(async {
        let _ = tokio::signal::ctrl_c().await;
    })
}

#[allow(clippy::disallowed_methods, reason = "a program has a clock")]
fn now() -> Instant {
    Instant::now()
}
