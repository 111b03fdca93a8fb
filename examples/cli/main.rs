//! The program `queryport`: each of its commands is a module.
//!
//! ```text
//! cargo run -p queryport-cli -- query openarena HOST
//! cargo install --path examples/cli --features browser   then:  queryport browser openarena
//! ```

#[cfg(feature = "browser")]
mod browser;
mod completions;
mod decode;
mod embedded;
mod games;
mod http;
mod master;
mod monitor;
mod port;
mod query;
mod rcon;
mod scan;
mod serve;
mod server_list;

use std::process::ExitCode;

use clap::Parser;
use clap::error::{ContextKind, ContextValue};
use clap_complete::Shell;
use shared::{command_line, safe_text, target};

/// Query game servers, and answer such queries.
#[derive(Debug, Parser)]
#[command(name = "queryport", version, propagate_version = true, after_help = command_line::EXIT_STATUS)]
enum Program {
    Query(query::Arguments),
    Scan(scan::Arguments),
    #[cfg(feature = "browser")]
    Browser(browser::Arguments),
    /// Not in this build, which has no feature `browser`.
    #[cfg(not(feature = "browser"))]
    Browser {
        #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
        _arguments: Vec<String>,
    },
    Monitor(monitor::Arguments),
    Serve(serve::Arguments),
    Games(games::Arguments),
    Master(master::Arguments),
    Rcon(rcon::Arguments),
    Decode(decode::Arguments),
    /// Print a script that completes commands, options, games and protocols in a shell.
    Completions {
        shell: Shell,
    },
}

fn main() -> ExitCode {
    let program = match Program::try_parse() {
        Ok(program) => program,
        Err(error) => return monitor::wrong(&with_query(error)),
    };
    match program {
        Program::Query(arguments) => query::start(arguments),
        Program::Scan(arguments) => scan::start(arguments),
        #[cfg(feature = "browser")]
        Program::Browser(arguments) => browser::start(arguments),
        #[cfg(not(feature = "browser"))]
        Program::Browser { .. } => {
            command_line::complain(
                "this build has no browser: add `--features browser` to cargo's command",
            );
            ExitCode::from(2)
        }
        Program::Monitor(arguments) => monitor::start(&arguments),
        Program::Serve(arguments) => serve::start(arguments),
        Program::Games(arguments) => games::start(&arguments),
        Program::Master(arguments) => master::start(arguments),
        Program::Rcon(arguments) => rcon::start(&arguments),
        Program::Decode(arguments) => decode::start(&arguments),
        Program::Completions { shell } => completions::start(shell),
    }
}

/// Shows how to query a server if its game, protocol or host is in the place of the command.
fn with_query(mut error: clap::Error) -> clap::Error {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else {
        return error;
    };
    let first = std::env::args_os().nth(1);
    if first.is_none_or(|first| first != **word) {
        return error;
    }
    let arguments = match target::What::parse(word) {
        Ok(what) => format!("{what} HOST"),
        Err(_) if word.contains(['.', ':']) => word.clone(),
        Err(_) => return error,
    };
    let tip = format!("a server is queried with 'queryport query {arguments}'");
    let tips = ContextValue::StyledStrs(vec![tip.into()]);
    error.insert(ContextKind::Suggested, tips);
    error
}
