//! Identifies datagrams: hexadecimal text from the command line, or one datagram per line of standard input. Prints every
//! message that each can be, the likeliest first.
//!
//! ```text
//! cargo run --no-default-features --example inspect -- ffffffff676574737461747573
//! cargo run --no-default-features --example inspect < datagrams.txt
//! ```

#[path = "command_line/mod.rs"]
mod command_line;

use std::io::{self, BufRead, Write};
use std::process::ExitCode;

use queryport::{Limits, inspect};

fn main() -> ExitCode {
    command_line::exit(run().map(|()| ExitCode::SUCCESS).map_err(Into::into))
}

fn run() -> io::Result<()> {
    let arguments = command_line::arguments(
        "inspect [HEXADECIMAL]...; without arguments, a datagram a line of standard input",
    );
    let mut out = io::stdout().lock();
    if !arguments.is_empty() {
        return arguments.iter().try_for_each(|text| print(text, &mut out));
    }
    for line in io::stdin().lock().lines() {
        print(&line?, &mut out)?;
    }
    Ok(())
}

fn print(text: &str, out: &mut impl Write) -> io::Result<()> {
    let digits: String = text.chars().filter(|c| !c.is_whitespace() && *c != ':').collect();
    let datagram = match hex::decode(&digits) {
        Ok(datagram) => datagram,
        Err(error) => return writeln!(out, "{text:?} is not hexadecimal: {error}"),
    };
    writeln!(out, "{} bytes: {}", datagram.len(), datagram.escape_ascii())?;
    for candidate in inspect(&datagram, &Limits::default()) {
        let direction = if candidate.from_server { "from a server" } else { "from a client" };
        match &candidate.message {
            Ok(message) => writeln!(out, "  {} {direction}: {message:?}", candidate.protocol)?,
            Err(error) => writeln!(out, "  {} {direction}? {error}", candidate.protocol)?,
        }
        for problem in &candidate.problems {
            writeln!(out, "    {problem}")?;
        }
    }
    Ok(())
}
