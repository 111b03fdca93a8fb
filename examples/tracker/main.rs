//! Tracks servers in a file of JSON lines: reads the statuses of the last run, queries every server
//! of the command line, prints what changed, and writes the file.
//!
//! ```text
//! cargo run --features serde --example tracker -- servers.jsonl quake3 example.org ut2004 example.net
//! ```
//!
//! `tracker_blocking` does the same without a runtime.

mod known;

use std::process::ExitCode;

use known::{Known, Result};
use queryport::{Client, ScanOptions};
use shared::command_line;

#[tokio::main]
async fn main() -> ExitCode {
    command_line::exit(run().await)
}

async fn run() -> Result<ExitCode> {
    let mut known = Known::read()?;
    let mut scan = Client::new()?.scan(known.servers.clone(), ScanOptions::default())?;
    while let Some(scanned) = scan.next().await {
        known.take(scanned)?;
    }
    known.write()?;
    Ok(ExitCode::SUCCESS)
}
