//! The metrics page, in the text format of Prometheus.

use prometheus::{Error, GaugeVec, IntCounterVec, IntGaugeVec, Opts, Registry, TextEncoder};
use queryport::Text;
use queryport::games::Game;
use queryport::model::{Style, TextRef};

use super::watch::{Server, Watched};

/// The content type of the page.
pub(crate) const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";
/// Most characters of a text that a server chose.
const LONGEST_TEXT: usize = 100;

/// The page. The number of series is bounded: ten and the kinds of failure for each watched server.
/// One of the ten has the server's texts as labels.
pub(crate) fn page(watched: &Watched) -> Result<String, Error> {
    let registry = Registry::new();
    servers(&registry, &watched.servers)?;
    games(&registry, watched)?;
    TextEncoder::new().encode_to_string(&registry.gather())
}

fn servers(registry: &Registry, servers: &[Server]) -> Result<(), Error> {
    const LABELS: [&str; 2] = ["server", "protocol"];
    let gauge = |name: &str, help: &str| {
        let gauge = IntGaugeVec::new(Opts::new(name, help), &LABELS)?;
        registry.register(Box::new(gauge.clone()))?;
        Ok::<_, Error>(gauge)
    };
    let counter = |name: &str, help: &str, labels: &[&str]| {
        let counter = IntCounterVec::new(Opts::new(name, help), labels)?;
        registry.register(Box::new(counter.clone()))?;
        Ok::<_, Error>(counter)
    };
    let up = gauge(
        "queryport_up",
        "Whether the server answered its latest query.",
    )?;
    let players = gauge("queryport_players", "Players on the server, bots included.")?;
    let bots = gauge("queryport_bots", "Bots among the players.")?;
    let slots = gauge("queryport_slots", "Slots for players.")?;
    let complete = gauge(
        "queryport_answer_complete",
        "Whether nothing is missing from the latest answer.",
    )?;
    let rtt = GaugeVec::new(
        Opts::new(
            "queryport_round_trip_seconds",
            "Round-trip time of the latest answered query.",
        ),
        &LABELS,
    )?;
    registry.register(Box::new(rtt.clone()))?;
    let info = IntGaugeVec::new(
        Opts::new(
            "queryport_server_info",
            "What the server says of itself, in labels; the value is 1.",
        ),
        &["server", "protocol", "name", "map", "game", "version"],
    )?;
    registry.register(Box::new(info.clone()))?;
    let queries = counter(
        "queryport_queries_total",
        "Queries that have ended.",
        &LABELS,
    )?;
    let rejected = counter(
        "queryport_rejected_datagrams_total",
        "Datagrams from the server that did not answer the request.",
        &LABELS,
    )?;
    let failures = counter(
        "queryport_query_failures_total",
        "Queries without an answer.",
        &["server", "protocol", "kind"],
    )?;
    for server in servers {
        let Some(last) = &server.last else { continue };
        let (address, protocol) = (label(&server.address), server.what.protocol());
        let labels = [address.as_str(), protocol.as_str()];
        up.with_label_values(&labels).set(i64::from(last.is_ok()));
        queries.with_label_values(&labels).inc_by(server.queries);
        rejected.with_label_values(&labels).inc_by(server.rejected);
        for (kind, count) in &server.failures {
            failures
                .with_label_values(&[labels[0], labels[1], kind])
                .inc_by(*count);
        }
        let Ok(outcome) = last else { continue };
        let status = &outcome.answer;
        let counts = [
            (&players, status.player_count),
            (&bots, status.bot_count),
            (&slots, status.max_players),
        ];
        for (gauge, count) in counts {
            if let Some(count) = count {
                gauge.with_label_values(&labels).set(i64::from(count));
            }
        }
        complete
            .with_label_values(&labels)
            .set(i64::from(status.completeness.is_complete()));
        if let Some(time) = outcome.rtt {
            rtt.with_label_values(&labels).set(time.as_secs_f64());
        }
        let text = |text: &Option<Text>| {
            text.as_ref()
                .map(|text| label(&text.plain()))
                .unwrap_or_default()
        };
        let game = Game::of(status, protocol)
            .map(|game| game.id)
            .unwrap_or_default();
        let (name, map, version) = (text(&status.name), text(&status.map), text(&status.version));
        info.with_label_values(&[labels[0], labels[1], &name, &map, game, &version])
            .set(1);
    }
    Ok(())
}

fn games(registry: &Registry, watched: &Watched) -> Result<(), Error> {
    let gauge = |name: &str, help: &str, labels: &[&str]| {
        let gauge = IntGaugeVec::new(Opts::new(name, help), labels)?;
        registry.register(Box::new(gauge.clone()))?;
        Ok::<_, Error>(gauge)
    };
    let listed = gauge(
        "queryport_game_servers",
        "Servers that the list servers of the game name.",
        &["game"],
    )?;
    let up = gauge(
        "queryport_game_servers_up",
        "Listed servers that answered.",
        &["game"],
    )?;
    let players = gauge(
        "queryport_game_players",
        "Players on the servers of the game, bots included.",
        &["game"],
    )?;
    let bots = gauge(
        "queryport_game_bots",
        "Bots on the servers of the game.",
        &["game"],
    )?;
    let lists = gauge(
        "queryport_game_list_up",
        "Whether the list server gave a list.",
        &["game", "list"],
    )?;
    for game in &watched.games {
        let id = game.game.id;
        for (address, is_up) in &game.lists {
            lists
                .with_label_values(&[id, address])
                .set(i64::from(*is_up));
        }
        let Some(sums) = game.sums else { continue };
        for (gauge, sum) in [
            (&listed, sums.listed),
            (&up, sums.up),
            (&players, sums.players),
            (&bots, sums.bots),
        ] {
            gauge
                .with_label_values(&[id])
                .set(i64::try_from(sum).unwrap_or(i64::MAX));
        }
    }
    Ok(())
}

/// The text as a label. The encoder escapes quotes and backslashes.
pub(crate) fn label(text: &str) -> String {
    safe(text, LONGEST_TEXT)
}

/// The first characters of a text, up to `most`, without control and invisible characters.
pub(crate) fn safe(text: &str, most: usize) -> String {
    TextRef::new(text.as_bytes(), Style::default())
        .plain()
        .chars()
        .take(most)
        .collect()
}
