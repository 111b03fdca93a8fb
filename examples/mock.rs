//! Tests without servers: mocks and real servers as `dyn Query`, all queried at the same time.
//!
//! ```text
//! cargo run --example mock                               two mocks
//! cargo run --example mock -- quake3 example.org         and a real server
//! ```

use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use queryport::{Client, Error, Outcome, Protocol, Query, QueryError, ServerStatus};
use tokio::task::JoinSet;

/// A server that gives the answer of a test.
struct Mock {
    name: &'static str,
    result: Result<ServerStatus, QueryError>,
}

#[async_trait]
impl Query for Mock {
    fn name(&self) -> &str {
        self.name
    }

    async fn query(&self) -> Result<Outcome<ServerStatus>, Error> {
        let peer = ([192, 0, 2, 1], 27960).into();
        let rtt = Some(Duration::from_millis(30));
        match self.result.clone() {
            Ok(status) => Ok(Outcome::new(status, peer, rtt)),
            Err(error) => Err(Error::Query { peer, error }),
        }
    }
}

/// The code under test: the number of servers that are up.
async fn count_up(servers: Vec<Arc<dyn Query>>) -> usize {
    let mut queries = JoinSet::new();
    for server in servers {
        queries.spawn(async move { server.query().await.is_ok() });
    }
    let results = queries.join_all().await;
    results.into_iter().filter(|is_up| *is_up).count()
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args_os()
        .skip(1)
        .map(|argument| argument.to_string_lossy().into_owned())
        .collect();
    let servers = match servers(&arguments) {
        Ok(servers) => servers,
        Err(wrong) => {
            eprintln!("{wrong}");
            return ExitCode::from(2);
        }
    };
    match run(&servers).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// The real servers of a command line, or the error to print.
fn servers(arguments: &[String]) -> Result<Vec<(Protocol, String)>, Box<dyn std::error::Error>> {
    let (pairs, []) = arguments.as_chunks() else {
        return Err("usage: mock [PROTOCOL SERVER]..., as in mock quake3 example.org".into());
    };
    pairs
        .iter()
        .map(|[protocol, server]| Ok((protocol.parse()?, server.clone())))
        .collect()
}

async fn run(real: &[(Protocol, String)]) -> Result<(), Box<dyn std::error::Error>> {
    let up = Mock {
        name: "up",
        result: Ok(ServerStatus::default()),
    };
    let down = Mock {
        name: "down",
        result: Err(QueryError::Unreachable),
    };
    let mut servers: Vec<Arc<dyn Query>> = vec![Arc::new(up), Arc::new(down)];
    assert_eq!(count_up(servers.clone()).await, 1);
    for (protocol, server) in real {
        servers.push(Arc::from(Client::new()?.target(*protocol, server)));
    }
    let count = servers.len();
    let up = count_up(servers).await;
    writeln!(std::io::stdout(), "{up} of {count} servers are up")?;
    Ok(())
}
