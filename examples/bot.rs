//! A chat bot's answer to "who is on?": one line per server, queried at the same time.
//!
//! ```text
//! cargo run --example bot -- quake3 example.org gamespy1 example.net:7778
//! ```
//!
//! `bot_blocking` does the same without a runtime.

mod reply;

use std::io::{self, Write};
use std::process::ExitCode;

use queryport::Client;
use shared::command_line;
use tokio::task::JoinSet;

#[tokio::main]
async fn main() -> ExitCode {
    command_line::exit(run().await)
}

async fn run() -> reply::Result<ExitCode> {
    let client = Client::new()?;
    let mut queries = JoinSet::new();
    for (protocol, server) in reply::servers()? {
        let client = client.clone();
        queries.spawn(async move { (client.query(protocol, &server).await, server) });
    }
    while let Some(joined) = queries.join_next().await {
        let (result, server) = joined?;
        writeln!(io::stdout(), "{}", reply::reply(result, &server))?;
    }
    Ok(ExitCode::SUCCESS)
}
