//! Without any fault, what a client gets is what the server holds, but for what the server's report of losses names.

use std::sync::Arc;
use std::time::Instant;

use queryport::model::TextRef;
use queryport::serve::{Loss, Responder};
use queryport::{Secret, ServerStatus, Text, ToStatus};

use crate::client::Client;
use crate::evidence::has_text_as_end;
use crate::forms::{Form, GUESSED};
use crate::play::exchange;
use crate::servers::Server;

/// What no client of the server's first moment gets, and no report names.
pub fn unsaid(server: &Server, client: &Client) -> Option<String> {
    let received = |client: &Client| {
        exchange(server, client, 0, &mut Vec::new())
            .map(|outcome| outcome.answer.to_status())
            .unwrap_or_default()
    };
    match server {
        Server::Responder(service, moments) => {
            let status = &moments[0];
            let secret = Secret::new([7; 16]);
            let responder =
                Responder::new(service.clone(), Arc::clone(status), secret, Instant::now());
            let losses = responder.with_guard(None).losses();
            let differences = client
                .full()
                .of_each_dialect()
                .map(|client| difference(status, &received(&client), &losses));
            differences
                .into_iter()
                .collect::<Option<Vec<String>>>()
                .map(|all| all.join("; "))
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
            // Where nothing is numbered, a text is taken for a number; elsewhere only where a datagram begins or ends.
            let is_misread = held[0]
                .reply(*form, GUESSED)
                .iter()
                .any(|bytes| has_text_as_end(bytes, *form));
            let is_right = map == Some(held[0].map())
                && (complete || is_misread || *form == Form::SeriousSam)
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
            let said = (status.listed_players().len(), rules);
            (said != held[0].said(*form)).then(|| format!("{said:?} of {:?}", held[0].said(*form)))
        }
        Server::Raw(_, held, _) => {
            let status = received(&client.full());
            let names: Vec<Vec<u8>> = status
                .listed_players()
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
        Server::Capture(..) => None,
    }
}

fn is_same(held: &Text, received: &Text) -> bool {
    shown(held.as_ref()) == shown(received.as_ref())
}

/// A text as people read it, with the control characters that they do not see.
fn shown(text: TextRef<'_>) -> String {
    let decoded = text.decoded();
    let has_control = decoded
        .chars()
        .any(|character| character.is_ascii_control());
    if has_control { decoded } else { text.plain() }.into_owned()
}

/// What the status has, the received one has not and no loss names.
fn difference(held: &ServerStatus, received: &ServerStatus, losses: &[Loss]) -> Option<String> {
    let lost = |start: &str, end: &str| {
        losses
            .iter()
            .filter(|loss| loss.field.starts_with(start) && loss.field.ends_with(end))
            .count()
    };
    let texts = [
        ("name", &held.name, &received.name),
        ("map", &held.map, &received.map),
        ("game_type", &held.game_type, &received.game_type),
        ("version", &held.version, &received.version),
    ];
    for (field, held, received) in texts {
        let Some(held) = held else { continue };
        if lost(field, field) == 0
            && !received
                .as_ref()
                .is_some_and(|received| is_same(held, received))
        {
            return Some(format!("{field} {held:?} arrives as {received:?}"));
        }
    }
    let counts = [
        ("player_count", held.player_count, received.player_count),
        ("max_players", held.max_players, received.max_players),
    ];
    for (field, held, received) in counts {
        if lost(field, field) == 0 && held.is_some() && held != received {
            return Some(format!("{field} {held:?} arrives as {received:?}"));
        }
    }
    let mut others = received.listed_players().to_vec();
    let (mut names, mut scores) = (0, 0);
    for player in held.listed_players() {
        let of_name = |other: &&mut queryport::Player| is_same(&player.name, &other.name);
        let same = others
            .iter_mut()
            .filter(|other| other.score == player.score)
            .find(of_name)
            .is_some();
        let index = others.iter().position(|other| {
            is_same(&player.name, &other.name) && (!same || other.score == player.score)
        });
        match index {
            None => names += 1,
            Some(index) => scores += usize::from(others.swap_remove(index).score != player.score),
        }
    }
    // A player who is not there at all has no score either.
    if names > lost("players[", "].name")
        || names + scores > lost("players[", "].name") + lost("players[", "].score")
    {
        return Some(format!(
            "{names} players by their names and {scores} by their scores do not arrive"
        ));
    }
    let pairs = |status: &ServerStatus| -> Vec<(String, String)> {
        status
            .rules
            .iter()
            .map(|(key, value)| (shown(key), shown(value)))
            .collect()
    };
    let (mut theirs, mut rules) = (pairs(received), 0);
    for pair in pairs(held) {
        match theirs.iter().position(|other| *other == pair) {
            None => rules += 1,
            Some(index) => drop(theirs.swap_remove(index)),
        }
    }
    (rules > lost("rules[", "]")).then(|| format!("{rules} rules do not arrive"))
}
