//! `bot` without a runtime: a scan asks all servers at the same time, in the thread that takes its
//! results.
//!
//! ```text
//! cargo run --no-default-features --features blocking --example bot_blocking -- quake3 example.org
//! ```

mod reply;

use std::io::{self, Write};
use std::process::ExitCode;

use queryport::ScanOptions;
use queryport::blocking::Client;
use shared::command_line;

fn main() -> ExitCode {
    command_line::exit(run())
}

fn run() -> reply::Result<ExitCode> {
    let servers = reply::servers()?;
    for scanned in Client::new()?.scan(servers.clone(), ScanOptions::default()) {
        let (_, server) = servers
            .get(usize::try_from(scanned.index)?)
            .ok_or("a result of no target")?;
        writeln!(io::stdout(), "{}", reply::reply(scanned.result, server))?;
    }
    Ok(ExitCode::SUCCESS)
}
