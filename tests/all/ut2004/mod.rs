//! UT2004.

mod conversation;
mod model;
mod properties;
mod replies;
mod serving;
mod vectors;

use bytes::Bytes;
use queryport::ut2004::{Answer, Command, Request};
use queryport::{Limits, Player, Protocol, ServerStatus, Service};
use serde_json::Value;

/// The decode example's output for an answer.
fn described(answer: &Answer) -> Value {
    crate::common::decoded(&queryport::Answer::Ut2004(answer.clone()))
}

/// The replies of a server with the default options.
fn replies(request: &Request, status: &ServerStatus) -> Vec<Bytes> {
    let requester = crate::common::requester(crate::common::pair::CLIENT);
    queryport::ut2004::respond(
        request,
        status,
        &Service::from(Protocol::Ut2004),
        &requester,
    )
    .into_iter()
    .collect()
}

/// The fields that a server sends of this status.
fn everything(status: &ServerStatus) -> Vec<Bytes> {
    let requests = [Command::Info, Command::RulesAndPlayers].map(Request::new);
    requests
        .iter()
        .flat_map(|request| replies(request, status))
        .collect()
}

fn decode(packets: impl IntoIterator<Item = Bytes>) -> Answer {
    Answer::from_datagrams(packets, &Limits::default()).unwrap()
}

/// A server with this many players and rules. The first rules are the stock game's if `stock`.
fn status_with(players: usize, rules: usize, stock: bool) -> ServerStatus {
    let mut status = ServerStatus::default();
    status.name = Some("Srv".into());
    status.players = (0..players)
        .map(|number| {
            let mut player = Player::new(format!("player number {number}"));
            player.score = Some(7);
            player
        })
        .collect();
    let rule = |number: usize| match number {
        0 if stock => ("ServerMode".to_owned(), "dedicated".to_owned()),
        1 if stock => ("MaxSpectators".to_owned(), "2".to_owned()),
        _ => ("Mutator".to_owned(), format!("MutNumber{number}")),
    };
    status.rules = (0..rules).map(rule).collect();
    status
}
