//! Runs console commands on a Quake 3 server.
//!
//! ```text
//! cargo run --example rcon -- HOST[:PORT] status       one command
//! cargo run --example rcon -- HOST[:PORT]              a prompt; `quit` ends it (to stop the server: `rcon quit`)
//! ```
//!
//! The password comes from the environment variable `QUERYPORT_RCON_PASSWORD`, or is asked for without being shown: it
//! never stands on a command line, where other users of the machine could read it.
//!
//! Exit status: 0 answered, 1 no answer or refused, 2 wrong command line, 3 an answer with parts missing.
#![allow(missing_docs, clippy::exhaustive_structs, reason = "an example is a program")]

use std::io::{self, BufRead, IsTerminal, Write};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, ValueEnum};
use queryport::Timing;
use queryport::net::{Rcon, RconMode};
use queryport::quake3::{Password, RconAnswer};
use queryport::{Client, Error};

const VARIABLE: &str = "QUERYPORT_RCON_PASSWORD";

/// Run console commands on a Quake 3 server.
#[derive(Debug, Parser)]
struct Arguments {
    /// HOST, HOST:PORT, an IP address or [IPv6]:PORT; the port is 27960 if left out.
    server: String,
    /// The command and its arguments; without one, commands are read from the prompt.
    #[arg(trailing_var_arg = true)]
    command: Vec<String>,
    /// How the password is shown to the server.
    #[arg(long, default_value = "plain")]
    mode: Mode,
    /// Seconds to wait for an answer.
    #[arg(long, default_value_t = 10.0, value_parser = seconds)]
    timeout: f64,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Mode {
    /// In plain text.
    Plain,
    /// In plain text and quotes (Quake3e, CoD4x).
    Quoted,
    /// As a signature with the time (DarkPlaces).
    #[cfg(feature = "secure-rcon")]
    Time,
    /// As a signature with a challenge (DarkPlaces).
    #[cfg(feature = "secure-rcon")]
    Challenge,
}

impl From<Mode> for RconMode {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::Plain => Self::Plain,
            Mode::Quoted => Self::Quoted,
            #[cfg(feature = "secure-rcon")]
            Mode::Time => Self::Time,
            #[cfg(feature = "secure-rcon")]
            Mode::Challenge => Self::Challenge,
        }
    }
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if (0.1..=600.0).contains(&seconds) => Ok(seconds),
        _ => Err("expected seconds between 0.1 and 600".to_owned()),
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match run(&arguments).await {
        Ok(status) => status,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(1)
        }
    }
}

async fn run(arguments: &Arguments) -> Result<ExitCode, Box<dyn std::error::Error>> {
    let password = match std::env::var(VARIABLE) {
        Ok(password) => password,
        Err(_) => rpassword::prompt_password("rcon password: ")?,
    };
    let timing = Timing::default().with_timeout(Duration::from_secs_f64(arguments.timeout));
    let client = Client::new()?.with_timing(timing);
    let mut rcon = Rcon::new(&client, &arguments.server, Password::new(password))
        .await?
        .with_mode(arguments.mode.into());
    if arguments.command.is_empty() {
        return prompt(&mut rcon, &arguments.server).await;
    }
    Ok(print(&rcon.run(&arguments.command.join(" ")).await?.answer))
}

/// Reads commands until the end of input.
async fn prompt(rcon: &mut Rcon, server: &str) -> Result<ExitCode, Box<dyn std::error::Error>> {
    let person = io::stdin().is_terminal();
    let mut status = ExitCode::SUCCESS;
    loop {
        if person {
            print!("{server}> ");
            io::stdout().flush()?;
        }
        let mut line = String::new();
        if io::stdin().lock().read_line(&mut line)? == 0 {
            return Ok(status);
        }
        let command = match line.trim() {
            "" => continue,
            "quit" | "exit" => return Ok(status),
            // A word of its own for what is meant for the server.
            line => line.strip_prefix("rcon ").unwrap_or(line),
        };
        match rcon.run(command).await {
            Ok(outcome) => status = print(&outcome.answer),
            Err(error @ (Error::Rcon { .. } | Error::Query { .. } | Error::Request(_))) => {
                eprintln!("{error}");
                status = ExitCode::from(1);
            }
            Err(error) => return Err(error.into()),
        }
    }
}

fn print(answer: &RconAnswer) -> ExitCode {
    let mut out = io::stdout().lock();
    for line in answer.lines() {
        // Whoever reads may have read enough.
        if writeln!(out, "{}", line.plain()).is_err() {
            break;
        }
    }
    if answer.completeness.is_complete() {
        ExitCode::SUCCESS
    } else {
        eprintln!("(the server was still printing when the time was over)");
        ExitCode::from(3)
    }
}
