//! Code that works on servers it cannot reach: a mock behind `dyn Query`, beside real servers, all queried at once.
//!
//! ```text
//! cargo run --example mock
//! cargo run --example mock -- quake3 example.org
//! ```

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use queryport::{Client, Error, Outcome, Query, QueryError, ServerStatus};
use tokio::task::JoinSet;

/// A server that answers as a test wants it.
struct Mock {
    name: String,
    answer: Result<ServerStatus, QueryError>,
}

#[async_trait]
impl Query for Mock {
    fn name(&self) -> &str {
        &self.name
    }

    async fn query(&self) -> Result<Outcome<ServerStatus>, Error> {
        let peer = ([192, 0, 2, 1], 27960).into();
        match self.answer.clone() {
            Ok(status) => Ok(Outcome::new(status, peer, Some(Duration::from_millis(30)))),
            Err(error) => Err(Error::Query { peer, error }),
        }
    }
}

/// What is tested: the number of servers that are up.
async fn count_up(servers: Vec<Arc<dyn Query>>) -> usize {
    let mut queries = JoinSet::new();
    for server in servers {
        queries.spawn(async move { server.query().await.is_ok() });
    }
    queries.join_all().await.into_iter().filter(|up| *up).count()
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mock = |name: &str, answer| Arc::new(Mock { name: name.to_owned(), answer }) as Arc<dyn Query>;
    let mut servers =
        vec![mock("up", Ok(ServerStatus::default())), mock("down", Err(QueryError::Unreachable))];
    assert_eq!(count_up(servers.clone()).await, 1);
    let mut arguments = std::env::args().skip(1);
    while let (Some(protocol), Some(server)) = (arguments.next(), arguments.next()) {
        servers.push(Arc::new(Client::new()?.target(protocol.parse()?, server)));
    }
    println!("{} of {} servers are up", count_up(servers.clone()).await, servers.len());
    Ok(())
}
