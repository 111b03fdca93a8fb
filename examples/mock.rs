//! Tests without servers: mocks and real servers as `dyn Query`, all queried at the same time:

use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use command_line::WrongUsage;
use queryport::{Client, Error, Outcome, Query, QueryError, ServerStatus};
use shared::command_line;
use tokio::task::JoinSet;

const USAGE: &str = "mock [PROTOCOL SERVER]...";

/// A server that gives the answer of a test.
struct Mock(&'static str, Result<ServerStatus, QueryError>);

#[async_trait]
impl Query for Mock {
    fn name(&self) -> &str {
        self.0
    }

    async fn query(&self) -> Result<Outcome<ServerStatus>, Error> {
        let peer = ([192, 0, 2, 1], 27960).into();
        match self.1.clone() {
            Ok(status) => Ok(Outcome::new(status, peer, Some(Duration::from_millis(30)))),
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
    queries
        .join_all()
        .await
        .into_iter()
        .filter(|up| *up)
        .count()
}

#[tokio::main]
async fn main() -> ExitCode {
    command_line::exit(run().await)
}

async fn run() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let (up, down) = (
        Mock("up", Ok(ServerStatus::default())),
        Mock("down", Err(QueryError::Unreachable)),
    );
    let mut servers: Vec<Arc<dyn Query>> = vec![Arc::new(up), Arc::new(down)];
    assert_eq!(count_up(servers.clone()).await, 1);
    let arguments = command_line::arguments(USAGE)?;
    let (targets, []) = arguments.as_chunks() else {
        return Err(WrongUsage(USAGE).into());
    };
    for [protocol, server] in targets {
        servers.push(Arc::from(Client::new()?.target(protocol, server)));
    }
    writeln!(
        std::io::stdout(),
        "{} of {} servers are up",
        count_up(servers.clone()).await,
        servers.len()
    )?;
    Ok(ExitCode::SUCCESS)
}
