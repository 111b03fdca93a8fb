//! The program `queryport`: each of its commands is a program of the examples.
//!
//! ```text
//! cargo run -p queryport-cli -- browser openarena
//! cargo install --path examples/cli               then:  queryport browser openarena
//! ```
#![allow(
    missing_docs,
    clippy::exhaustive_structs,
    clippy::exhaustive_enums,
    reason = "a program"
)]
#![allow(
    clippy::duplicate_mod,
    reason = "`query` and `serve` have the same servers of their own"
)]

#[path = "../browser/main.rs"]
mod browser;
#[path = "../decode/main.rs"]
#[allow(dead_code, reason = "its `main`")]
mod decode;
#[path = "../games/main.rs"]
#[allow(dead_code, reason = "its `main`")]
mod games;
#[path = "../master.rs"]
#[allow(dead_code, reason = "its `main`")]
mod master;
#[path = "../monitor/main.rs"]
mod monitor;
mod port;
#[path = "../query/main.rs"]
#[allow(dead_code, reason = "its `main`")]
mod query;
#[path = "../rcon.rs"]
#[allow(dead_code, reason = "its `main`")]
mod rcon;
#[path = "../scan/main.rs"]
#[allow(dead_code, reason = "its `main`")]
mod scan;
#[path = "../serve/main.rs"]
#[allow(dead_code, reason = "its `main`")]
mod serve;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{CommandFactory, Parser};
use clap_complete::Shell;
use shared::{command_line, safe_text, target};

/// Query game servers, and answer such queries.
#[derive(Debug, Parser)]
#[command(name = "queryport", version, propagate_version = true, after_help = command_line::EXIT_STATUS)]
enum Program {
    Query(query::Arguments),
    Scan(scan::Arguments),
    Browser(browser::Arguments),
    Monitor(monitor::Arguments),
    Serve(serve::Arguments),
    Games(games::Arguments),
    Master(master::Arguments),
    Rcon(rcon::Arguments),
    Decode(decode::Arguments),
    /// Print a script that completes commands and options in a shell.
    Completions {
        shell: Shell,
    },
}

fn main() -> ExitCode {
    let program = match Program::try_parse() {
        Ok(program) => program,
        Err(error) => return monitor::wrong(&error),
    };
    match program {
        Program::Query(arguments) => query::start(&arguments),
        Program::Scan(arguments) => scan::start(&arguments),
        Program::Browser(arguments) => browser::start(arguments),
        Program::Monitor(arguments) => monitor::start(&arguments),
        Program::Serve(arguments) => serve::start(arguments),
        Program::Games(arguments) => games::start(&arguments),
        Program::Master(arguments) => master::start(arguments),
        Program::Rcon(arguments) => rcon::start(&arguments),
        Program::Decode(arguments) => decode::start(&arguments),
        Program::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Program::command(), "queryport", &mut script);
            let written = io::stdout().write_all(&script);
            command_line::exit(written.map(|()| ExitCode::SUCCESS).map_err(Into::into))
        }
    }
}
