//! Checks that without faults, a client gets the server's state.

use queryport::{ServerStatus, ToStatus};

use crate::client::Client;
use crate::common::served::difference;
use crate::evidence::has_text_as_end;
use crate::forms::{Form, GUESSED};
use crate::play::exchange;
use crate::servers::Server;

/// The first difference between the server's state and this client's answers.
pub fn unsaid(server: &Server, client: &Client) -> Option<String> {
    let received = |client: &Client| {
        exchange(server, client, 0, &mut Vec::new())
            .map(|outcome| outcome.answer.to_status())
            .unwrap_or_default()
    };
    match server {
        Server::Responder(service, moments) => {
            let clients = client.full().of_each_dialect();
            let answers: Vec<ServerStatus> = clients
                .iter()
                .filter_map(|client| exchange(server, client, 0, &mut Vec::new()).ok())
                .map(|outcome| outcome.answer.to_status())
                .collect();
            if answers.is_empty() {
                return Some("no answer".to_owned());
            }
            // One of the dialects is the server's.
            let engine = service.engine();
            let differences: Option<Vec<String>> = answers
                .iter()
                .map(|answer| difference(engine, &moments[0], answer))
                .collect();
            differences.map(|all| all.join("; "))
        }
        Server::Form(form, held) if held[0].is_hostile => {
            let status = match exchange(server, &client.full(), 0, &mut Vec::new()) {
                Ok(outcome) => outcome.answer.to_status(),
                Err(error) => return Some(error.to_string()),
            };
            let (complete, map) = (
                status.completeness.is_complete(),
                status.map.map(|map| map.to_string()),
            );
            // Two values with separators can hide the rows between them.
            let hides_rows = status
                .player_count
                .is_some_and(|count| status.players.len() < count as usize);
            // Without numbers, a text anywhere is taken for one; otherwise only at the beginning or
            // end of a datagram.
            let is_misread = held[0]
                .reply(*form, GUESSED)
                .iter()
                .any(|bytes| has_text_as_end(bytes, *form));
            let is_right = map == Some(held[0].map())
                && (complete || is_misread || hides_rows || *form == Form::SeriousSam)
                || *form == Form::SeriousSam && !complete;
            (!is_right).then(|| format!("{}, map {map:?}", status.completeness))
        }
        Server::Form(form, held) => {
            let status = received(&client.full());
            let rules = status
                .rules
                .iter()
                .filter(|(key, _)| key.raw().starts_with(b"rule"))
                .count();
            let said = (status.players.len(), rules);
            (said != held[0].said(*form)).then(|| format!("{said:?} of {:?}", held[0].said(*form)))
        }
        Server::Raw(_, held, _) => {
            let status = received(&client.full());
            let names: Vec<Vec<u8>> = status
                .players
                .iter()
                .map(|player| player.name.raw().to_vec())
                .collect();
            let (complete, map) = (
                status.completeness.is_complete(),
                status.map.map(|map| map.to_string()),
            );
            if !complete || map.as_deref() == Some(&held[0].map) && names == held[0].players {
                return None;
            }
            let odd = names
                .iter()
                .zip(&held[0].players)
                .find(|(name, held)| name != held);
            let odd = odd.map(|(name, held)| {
                [name, held].map(|name| String::from_utf8_lossy(name).into_owned())
            });
            Some(format!(
                "{map:?} {} of {} players, {odd:?}",
                names.len(),
                held[0].players.len()
            ))
        }
        Server::Capture(..) | Server::Sibling(..) => None,
    }
}
