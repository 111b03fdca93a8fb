//! The metrics page, in the text format of Prometheus.

use prometheus::core::Collector;
use prometheus::{
    Error, GaugeVec, IntCounterVec, IntGauge, IntGaugeVec, Opts, Registry, TextEncoder,
};
use queryport::games::Game;
use queryport::model::{Style, TextRef};
use queryport::{ErrorKind, Protocol, ServerStatus, Text};

use super::watch::{Server, Watched};

/// The maximum number of characters of a text that a server chose.
const LONGEST_TEXT: usize = 100;

/// The kinds of failure of a server that stops. Their counters begin at 0, because `increase` does
/// not see the first failure of a counter that begins at 1.
const FIRST_KINDS: [ErrorKind; 3] = [
    ErrorKind::Timeout,
    ErrorKind::Unreachable,
    ErrorKind::NameResolution,
];

/// The page. The number of series is bounded: ten and the kinds of failure for each watched server.
/// One of the ten has the server's texts as labels.
pub(crate) fn page(watched: &Watched) -> Result<String, Error> {
    let registry = Registry::new();
    servers(&registry, &watched.servers)?;
    games(&registry, watched)?;
    if let Some(list) = &watched.list {
        let is_read = IntGauge::new(
            "queryport_list_last_reload_successful",
            "Whether the file of servers could be read when it changed last.",
        )?;
        is_read.set(i64::from(list.is_ok()));
        registry.register(Box::new(is_read))?;
    }
    TextEncoder::new().encode_to_string(&registry.gather())
}

/// The labels of most series of a server: its query address, and how it is queried. The game is
/// empty if the server was given with a protocol.
const SERVER: &[&str] = &["server", "protocol", "game"];

fn servers(registry: &Registry, servers: &[Server]) -> Result<(), Error> {
    let series = ServerSeries::register(registry)?;
    for server in servers {
        series.record(server);
    }
    Ok(())
}

/// The series of the watched servers.
struct ServerSeries {
    up: IntGaugeVec,
    players: IntGaugeVec,
    bots: IntGaugeVec,
    slots: IntGaugeVec,
    complete: IntGaugeVec,
    rtt: GaugeVec,
    info: IntGaugeVec,
    queries: IntCounterVec,
    rejected: IntCounterVec,
    failures: IntCounterVec,
}

impl ServerSeries {
    fn register(registry: &Registry) -> Result<Self, Error> {
        let of = |labels| Labelled { registry, labels };
        let server = of(SERVER);
        let about = of(&[
            "server",
            "protocol",
            "game",
            "name",
            "map",
            "answered_game",
            "version",
        ]);
        let kinds = of(&["server", "protocol", "game", "kind"]);
        Ok(Self {
            up: server.gauge(
                "queryport_up",
                "Whether the watched game answered the latest query; absent if the server could not be asked.",
            )?,
            players: server.gauge("queryport_players", "Players on the server, bots included.")?,
            bots: server.gauge("queryport_bots", "Bots among the players.")?,
            slots: server.gauge("queryport_slots", "Slots for players.")?,
            complete: server.gauge(
                "queryport_answer_complete",
                "Whether nothing is missing from the latest answer.",
            )?,
            rtt: server.seconds(
                "queryport_round_trip_seconds",
                "Round-trip time of the latest answered query.",
            )?,
            info: about.gauge(
                "queryport_server_info",
                "What the server says of itself, in labels; the value is 1.",
            )?,
            queries: server.counter("queryport_queries_total", "Queries that have ended.")?,
            rejected: server.counter(
                "queryport_rejected_datagrams_total",
                "Datagrams from the server that did not answer the request.",
            )?,
            failures: kinds.counter(
                "queryport_query_failures_total",
                "Queries without an answer.",
            )?,
        })
    }

    /// Sets the values of a server. A server without a result has none.
    fn record(&self, server: &Server) {
        if server.queries == 0 {
            return;
        }
        let address = label(&server.identity.address());
        let what = server.identity.what;
        let protocol = what.protocol().as_str();
        let game = what.game().map_or("", |game| game.id);
        let labels = [address.as_str(), protocol, game];
        if server.is_asked() {
            let is_up = i64::from(server.is_up_now());
            self.up.with_label_values(&labels).set(is_up);
        }
        self.queries
            .with_label_values(&labels)
            .inc_by(server.queries);
        self.rejected
            .with_label_values(&labels)
            .inc_by(server.rejected);
        let first = FIRST_KINDS.map(|kind| (kind.as_str(), 0));
        let counted = server.failures.iter().map(|(kind, count)| (*kind, *count));
        for (kind, count) in first.into_iter().chain(counted) {
            self.failures
                .with_label_values(&[&address, protocol, game, kind])
                .inc_by(count);
        }
        let Some(outcome) = server.outcome() else {
            return;
        };
        if let Some(time) = outcome.rtt {
            self.rtt.with_label_values(&labels).set(time.as_secs_f64());
        }
        if server.is_up_now() {
            self.record_counts(&labels, &outcome.answer);
        }
        self.record_status(&labels, &outcome.answer, what.protocol());
    }

    fn record_counts(&self, labels: &[&str; 3], status: &ServerStatus) {
        let counts = [
            (&self.players, status.player_count),
            (&self.bots, status.bot_count),
            (&self.slots, status.max_players),
        ];
        for (gauge, count) in counts {
            if let Some(count) = count {
                gauge.with_label_values(labels).set(i64::from(count));
            }
        }
    }

    fn record_status(&self, labels: &[&str; 3], status: &ServerStatus, protocol: Protocol) {
        self.complete
            .with_label_values(labels)
            .set(i64::from(status.completeness.is_complete()));
        let text = |text: &Option<Text>| match text {
            Some(text) => label(&text.plain()),
            None => String::new(),
        };
        let answered_game = Game::of(status, protocol).map_or("", |game| game.id);
        let [server, protocol, game] = *labels;
        let (name, map, version) = (text(&status.name), text(&status.map), text(&status.version));
        self.info
            .with_label_values(&[server, protocol, game, &name, &map, answered_game, &version])
            .set(1);
    }
}

fn games(registry: &Registry, watched: &Watched) -> Result<(), Error> {
    let of = |labels| Labelled { registry, labels };
    let game = of(&["game"]);
    let listed = game.gauge(
        "queryport_game_servers",
        "Servers that the list servers of the game name.",
    )?;
    let up = game.gauge(
        "queryport_game_servers_up",
        "Listed servers of the game that answered.",
    )?;
    let players = game.gauge(
        "queryport_game_players",
        "Players on the servers of the game, bots included.",
    )?;
    let bots = game.gauge("queryport_game_bots", "Bots on the servers of the game.")?;
    let lists = of(&["game", "list"]).gauge(
        "queryport_game_list_up",
        "Whether the list server gave a list.",
    )?;
    for game in &watched.games {
        let id = game.game.id;
        for (address, failure) in &game.lists {
            lists
                .with_label_values(&[id, address])
                .set(i64::from(failure.is_none()));
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

/// Registers series with these labels.
struct Labelled<'a> {
    registry: &'a Registry,
    labels: &'static [&'static str],
}

impl Labelled<'_> {
    fn gauge(&self, name: &str, help: &str) -> Result<IntGaugeVec, Error> {
        self.registered(IntGaugeVec::new(Opts::new(name, help), self.labels)?)
    }

    fn seconds(&self, name: &str, help: &str) -> Result<GaugeVec, Error> {
        self.registered(GaugeVec::new(Opts::new(name, help), self.labels)?)
    }

    fn counter(&self, name: &str, help: &str) -> Result<IntCounterVec, Error> {
        self.registered(IntCounterVec::new(Opts::new(name, help), self.labels)?)
    }

    fn registered<S: Collector + Clone + 'static>(&self, series: S) -> Result<S, Error> {
        self.registry.register(Box::new(series.clone()))?;
        Ok(series)
    }
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
