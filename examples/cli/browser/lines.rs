//! The browser without a terminal: a line for each server that answers, as the answers come.

use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;

use super::command_line;
use super::safe_text::{counted, fit, number_text, safe, width};
use super::server::Server;
use super::source::Source;
use super::state::Event;

/// The servers so far.
#[derive(Default)]
struct Counts {
    asked: u64,
    answered: u64,
    /// Those that have a word of the search.
    matching: u64,
}

impl Counts {
    fn answered_of_asked(&self) -> String {
        let asked = counted(self.asked, "server");
        format!("{} of {asked} answered", self.answered)
    }

    fn summary(&self, search: &str) -> String {
        let answered = self.answered_of_asked();
        if search.is_empty() {
            return answered;
        }
        format!("{answered}, {} of {} match", self.matching, self.answered)
    }
}

/// Prints until the list has ended, or Ctrl-C. Servers without one of the words of the search are
/// left out.
pub(crate) async fn run(mut source: Source, search: &str) -> Result<ExitCode, Box<dyn Error>> {
    let mut out = io::BufWriter::new(io::stdout());
    let mut interrupted = std::pin::pin!(command_line::interrupted());
    let (search, columns) = (search.to_lowercase(), command_line::columns());
    let mut counts = Counts::default();
    let mut has_rejected = false;
    let mut is_interrupted = false;
    source.scan();
    let mut events = Vec::new();
    'scan: loop {
        tokio::select! {
            _ = &mut interrupted => {
                is_interrupted = true;
                break;
            }
            _ = source.events.recv_many(&mut events, 256) => {}
        }
        for event in events.drain(..) {
            match event {
                Event::Scanned(target, result) => {
                    counts.asked += 1;
                    counts.answered += u64::from(result.is_ok());
                    let mut server = Server::new(target);
                    server.update(*result);
                    if server.answer.is_some() && server.has(&search) {
                        counts.matching += 1;
                        writeln!(out, "{}", line(&server, columns))?;
                    }
                }
                Event::Note(note) => command_line::complain(&safe(&note)),
                Event::Rejected(note) => {
                    has_rejected = true;
                    command_line::complain(&safe(&note));
                }
                Event::ScanEnded => break 'scan,
                Event::ScanStarted
                | Event::Listed(_)
                | Event::ListEnded
                | Event::Refreshed(..)
                | Event::RefreshEnded => {}
            }
        }
        out.flush()?;
    }
    out.flush()?;
    if is_interrupted {
        let so_far = counts.answered_of_asked();
        command_line::complain(&format!("interrupted: {so_far} so far"));
        return Ok(command_line::INTERRUPTED.into());
    }
    command_line::complain(&counts.summary(&search));
    Ok(if counts.answered > 0 && !has_rejected {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// A row. On a terminal it has at most its columns.
fn line(server: &Server, columns: Option<usize>) -> String {
    let text = |text: Option<&queryport::Text>| {
        text.map(|text| text.plain().into_owned())
            .unwrap_or_default()
    };
    let ping = number_text(server.ping().map(|ping| format!("{ping:.1}")));
    let padded = |text: &str, columns| {
        let text = fit(text, columns);
        let gap = " ".repeat(columns - width(&text));
        format!("{text}{gap}")
    };
    let part = if columns.is_some_and(|columns| columns < 110) {
        10
    } else {
        20
    };
    let row = format!(
        "{:<21} {ping:>6} ms {:>3}/{:<3} {} {} {}",
        server.target.1,
        number_text(server.players()),
        number_text(server.slots()),
        padded(&server.short_game(part), part),
        padded(&text(server.text(|status| &status.map)), part),
        fit(&text(server.text(|status| &status.name)), 200),
    );
    columns.map_or_else(|| row.clone(), |columns| fit(&row, columns).into_owned())
}
