//! Identifies datagrams: hexadecimal text from the command line, or one datagram per line of
//! standard input. Prints every message that each can be, the likeliest first.
//!
//! ```text
//! cargo run --no-default-features --example inspect -- ffffffff676574737461747573
//! cargo run --no-default-features --example inspect < datagrams.txt
//! ```

use std::error::Error;
use std::io::{self, BufRead, Write};
use std::process::ExitCode;

use queryport::{Candidate, Limits, inspect};
use shared::command_line;

fn main() -> ExitCode {
    command_line::exit(run())
}

fn run() -> Result<ExitCode, Box<dyn Error>> {
    let arguments = command_line::arguments(
        "inspect [HEXADECIMAL]...; without arguments, a datagram a line of standard input",
    )?;
    let mut out = io::stdout().lock();
    let mut are_datagrams = true;
    for text in &arguments {
        are_datagrams &= print(text, &mut out)?;
    }
    if arguments.is_empty() {
        command_line::explain_input("datagrams, one a line,");
        for line in io::stdin().lock().split(b'\n') {
            are_datagrams &= print(&String::from_utf8_lossy(&line?), &mut out)?;
        }
    }
    Ok(if are_datagrams {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Returns false for a text that is not hexadecimal.
fn print(text: &str, out: &mut impl Write) -> io::Result<bool> {
    let digits: String = text
        .chars()
        .filter(|c| !c.is_whitespace() && *c != ':')
        .collect();
    let datagram = match hex::decode(&digits) {
        Ok(datagram) => datagram,
        Err(error) => {
            writeln!(out, "{text:?} is not hexadecimal: {error}")?;
            return Ok(false);
        }
    };
    writeln!(out, "{} bytes: {}", datagram.len(), datagram.escape_ascii())?;
    let candidates = inspect(&datagram, &Limits::default());
    if !candidates.iter().any(Candidate::is_match) {
        writeln!(out, "  unknown")?;
    }
    for candidate in candidates {
        let direction = if candidate.from_server {
            "from a server"
        } else {
            "from a client"
        };
        match &candidate.message {
            Ok(message) => writeln!(out, "  {} {direction}: {message:?}", candidate.protocol)?,
            Err(error) => writeln!(out, "  {} {direction}? {error}", candidate.protocol)?,
        }
        for problem in &candidate.problems {
            writeln!(out, "    {problem}")?;
        }
    }
    Ok(true)
}
