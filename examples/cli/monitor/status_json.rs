//! The state of everything that is watched as JSON, for panels.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use queryport::games::Game;
use queryport::{Player, Text};
use serde_json::{Value, json};

use super::check;
use super::metrics::label;
use super::status_page::{current, path};
use super::watch::{Server, Watched, WatchedGame};

/// The page. Unknown values are `null`.
pub(crate) fn page(watched: &Watched, now: Instant, date: SystemTime) -> String {
    let time = date.duration_since(UNIX_EPOCH).unwrap_or_default();
    let servers = watched.servers.iter().map(|server| of_server(server, now));
    let games = watched.games.iter().map(of_game);
    let list_error = watched.list.as_ref().and_then(|list| list.as_ref().err());
    let page = json!({
        "time": time.as_secs(),
        "list_error": list_error.map(|why| check::plain(why)),
        "servers": servers.collect::<Vec<_>>(),
        "games": games.collect::<Vec<_>>(),
    });
    format!("{page:#}\n")
}

fn of_server(server: &Server, now: Instant) -> Value {
    let what = server.identity.what;
    let seconds = |since: Instant| now.saturating_duration_since(since).as_secs();
    let status = server.answer.as_ref().map(|outcome| &outcome.answer);
    let answered_game = status.and_then(|status| Game::of(status, what.protocol()));
    let text = |text: Option<&Text>| text.map(|text| label(&text.plain()));
    let current = current(server);
    let rtt = server.outcome().and_then(|outcome| outcome.rtt);
    let (up, not_up) = server.history.queries(now);
    json!({
        "server": label(&server.identity.address()),
        "protocol": what.protocol().as_str(),
        "game": what.game().map(|game| game.id),
        "answered_game": answered_game.map(|game| game.id),
        "note": server.note.as_deref().map(label),
        "page": path(&server.identity),
        "state": server.state.as_str(),
        "state_seconds": server.since.map(seconds),
        "error": server.failure.as_ref().map(|failure| check::plain(&failure.message)),
        "error_kind": server.failure.as_ref().map(|failure| failure.kind),
        "answer_age_seconds": server.answered.map(seconds),
        "name": text(status.and_then(|status| status.name.as_ref())),
        "map": text(status.and_then(|status| status.map.as_ref())),
        "player_count": current.and_then(|status| status.player_count),
        "bot_count": current.and_then(|status| status.bot_count),
        "max_players": current.and_then(|status| status.max_players),
        "players": current.and_then(|status| status.players.known()).map(player_list),
        "complete": current.map(|status| status.completeness.is_complete()),
        "rtt": rtt.map(|rtt| rtt.as_secs_f64()),
        "history_seconds": server.history.length(now).map(|time| time.as_secs()),
        "up_share_of_day": (up + not_up > 0).then(|| up as f64 / (up + not_up) as f64),
    })
}

fn player_list(players: &[Player]) -> Vec<Value> {
    let of_player = |player: &Player| {
        json!({
            "name": label(&player.name.plain()),
            "score": player.score,
            "ping": player.ping,
            "team": player.team,
        })
    };
    players.iter().map(of_player).collect()
}

fn of_game(watched: &WatchedGame) -> Value {
    json!({
        "game": watched.game.id,
        "error": watched.failure(),
        "servers": watched.sums.map(|sums| sums.listed),
        "servers_up": watched.sums.map(|sums| sums.up),
        "player_count": watched.sums.map(|sums| sums.players),
        "bot_count": watched.sums.map(|sums| sums.bots),
    })
}
