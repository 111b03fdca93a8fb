//! `tracker` without a runtime.
//!
//! ```text
//! cargo run --no-default-features --features blocking,serde --example tracker_blocking -- servers.jsonl quake3 example.org
//! ```

mod known;

use std::process::ExitCode;

use known::{Known, Result};
use queryport::ScanOptions;
use queryport::blocking::Client;
use shared::command_line;

fn main() -> ExitCode {
    command_line::exit(run())
}

fn run() -> Result<ExitCode> {
    let mut known = Known::read()?;
    for scanned in Client::new()?.scan(known.servers.clone(), ScanOptions::default()) {
        known.take(scanned)?;
    }
    known.write()?;
    Ok(ExitCode::SUCCESS)
}
