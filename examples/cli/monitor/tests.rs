//! The pages, the check and the HTTP server; promtool where it is installed.

use std::cell::RefCell;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::rc::Rc;
use std::time::{Duration, Instant, UNIX_EPOCH};

use queryport::games::{Game, MasterAddress, MasterForm};
use queryport::{
    Client, Completeness, Error, Outcome, Part, Player, Protocol, QueryError, ServerStatus, Timing,
};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::task::{LocalSet, spawn_local};

use crate::embedded::quake3::caret;

use super::Arguments;
use super::check::{State, Thresholds, report};
use super::events::{self, Event, Form};
use super::follow::Queries;
use super::metrics::page;
use super::port::Port;
use super::probe::Probes;
use super::server_page;
use super::status_json;
use super::status_page::{self, View};
use super::style_sheet;
use super::target::What;
use super::watch::{Sender, Server, Shared, Sums, Watched, WatchedGame};
use super::{http, watch};

fn outcome(name: &str, map: &str) -> Outcome<ServerStatus> {
    let mut status = ServerStatus::default();
    (status.name, status.map) = (Some(name.into()), Some(map.into()));
    (status.player_count, status.max_players, status.bot_count) = (Some(12), Some(16), Some(3));
    let mut outcome = Outcome::new(
        status,
        ([192, 0, 2, 1], 27960).into(),
        Some(Duration::from_millis(34)),
    );
    outcome.stats.rejected = 2;
    outcome
}

fn silent() -> Error {
    let error = QueryError::Timeout {
        requests: 3,
        waited: Duration::from_secs(4),
    };
    Error::Query {
        peer: ([192, 0, 2, 1], 27960).into(),
        error,
    }
}

type Results = Vec<Result<Outcome<ServerStatus>, Error>>;

fn server(address: &str, results: Results) -> Server {
    server_at(watch::now(), address, results)
}

fn server_at(now: Instant, address: &str, results: Results) -> Server {
    let mut server = Server::new(What::Protocol(Protocol::Quake3), address.to_owned());
    for result in results {
        server.add(result, now);
    }
    server
}

fn sender(client: Client) -> Sender {
    Sender {
        client,
        port: Port::default(),
    }
}

/// The status page at this time, as of a request with this query, with the usual spaces.
fn shown_as(query: &str, watched: &Watched, now: Instant) -> String {
    let page = status_page::page(watched, &View::new(query, now, UNIX_EPOCH));
    page.replace('\u{a0}', " ")
}

fn shown(watched: &Watched, now: Instant) -> String {
    shown_as("", watched, now)
}

fn watching(servers: Vec<Server>) -> Watched {
    Watched {
        servers,
        ..Watched::default()
    }
}

fn one(results: Results) -> Watched {
    watching(vec![server("192.0.2.1", results)])
}

/// The standard output of a program that reads this; none where it is not installed.
fn piped(program: &str, arguments: &[&str], input: &str) -> Option<(bool, String)> {
    let spawned = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut child) = spawned else {
        kit::not_checked(&format!("the monitor's metrics and rules: no {program}"));
        return None;
    };
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    let text = [output.stdout, output.stderr]
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .concat();
    Some((output.status.success(), text))
}

fn check_metrics(page: &str) {
    if let Some((is_valid, problems)) = piped("promtool", &["check", "metrics"], page) {
        assert!(is_valid && problems.is_empty(), "{problems}\n{page}");
    }
}

/// A folder that is removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path =
            std::env::temp_dir().join(format!("queryport-monitor-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The names, kinds and descriptions of all metrics; the texts and numbers of the status page.
#[test]
fn the_pages_are_the_listed_ones() {
    let mut first = outcome("", "q3dm17");
    first.answer.name = Some(caret("^1Srv"));
    first.answer.players = [Player::new("Ann"), Player::new("<Bob>")].into();
    for (key, value) in [("gamename", "baseoa"), ("challenge", "a1b2")] {
        first.answer.rules.push(key, value);
    }
    let mut partial = outcome("Partial", "q3dm6");
    partial.answer.completeness = Completeness::COMPLETE.without(Part::Players);
    partial.answer.player_count = None;
    partial.answer.bot_count = Some(1);
    let mut unnamed = outcome("", "");
    (unnamed.answer.name, unnamed.answer.max_players) = (None, None);
    // Some systems have no time before their start.
    let now = watch::now() + Duration::from_secs(864_000);
    let server = |address: &str, results| server_at(now, address, results);
    let mut servers = vec![
        server("192.0.2.1", vec![Err(silent()), Ok(first)]),
        server("192.0.2.2", vec![Ok(partial)]),
        server("192.0.2.3", vec![Ok(unnamed), Err(silent())]),
        server("192.0.2.4", Vec::new()),
        server("192.0.2.9", {
            let answer = std::iter::once(Ok(outcome("Down", "q3dm1")));
            answer.chain([(); 3].map(|()| Err(silent()))).collect()
        }),
    ];
    let long = [59, 3600, 864_000];
    for (number, seconds) in (5..).zip(long) {
        let long = format!("{number}{}", "x".repeat(400));
        let mut server = server(
            &format!("192.0.2.{number}"),
            vec![Ok(outcome(&long, &long))],
        );
        server.since = now.checked_sub(Duration::from_secs(seconds));
        servers.push(server);
    }
    let error = Error::BadAddress {
        text: "y".repeat(400),
        why: "no port",
    };
    servers.push(server("192.0.2.99", vec![Err(error)]));
    let game = Game::find("openarena").unwrap();
    let sums = Sums {
        listed: 300,
        up: 250,
        players: 900,
        bots: 120,
    };
    let lists = [("up", None), ("down", Some("silent".to_owned()))];
    let lists = lists
        .map(|(list, failure)| (list.to_owned(), failure))
        .into();
    let unknown = WatchedGame {
        game,
        sums: None,
        lists: Default::default(),
    };
    let known = WatchedGame {
        game,
        sums: Some(sums),
        lists,
    };
    let watched = Watched {
        servers,
        games: vec![known, unknown],
        list: Some(Err("servers.txt:2: <no> game".to_owned())),
    };
    let (metrics, status) = (page(&watched).unwrap(), shown(&watched, now));
    check_metrics(&metrics);
    let checked = report(&watched, Thresholds::default()).1;
    let empty = shown(&Watched::default(), now);
    let view = View::new("still", now, UNIX_EPOCH + Duration::from_secs(864_000));
    let path = "/server/quake3/192.0.2.1:27960";
    let first = server_page::page(&watched, path, &view).unwrap();
    let json = status_json::page(&watched, now, UNIX_EPOCH + Duration::from_secs(864_000));
    let mut json: Value = serde_json::from_str(&json).unwrap();
    let servers = json["servers"].as_array_mut().unwrap().drain(..);
    let servers: String = servers.map(|server| format!("{server}\n")).collect();
    let json = format!("{servers}{json}\n");
    let text = [metrics, status, empty, first, checked, json].join("\n");
    kit::assert_listed(&here("pages.txt"), &text);
}

#[test]
fn at_most_500_servers_are_watched_and_each_game_once() {
    let watched = |words: &[&str]| {
        super::watched(&clap::Parser::try_parse_from(["monitor"].iter().chain(words)).unwrap())
    };
    let folder = Folder::new("bound");
    let file = folder.0.join("servers.txt");
    let lines = (1..=501).map(|port| format!("quake3 192.0.2.1:{port}\n"));
    std::fs::write(&file, lines.collect::<String>()).unwrap();
    let why = watched(&["--file", file.to_str().unwrap()]).unwrap_err();
    assert_eq!(
        why.to_string(),
        "501 servers: at most 500 are watched one by one"
    );
    let games = ["openarena", "xonotic", "openarena"].map(|game| ["--game", game]);
    let games = watched(games.as_flattened()).unwrap().games;
    let ids: Vec<_> = games.iter().map(|game| game.game.id).collect();
    assert_eq!(ids, ["openarena", "xonotic"]);
}

/// Two games with one host have their own ports, states, series and data. A copy is watched once.
#[test]
fn games_with_one_host_are_different_servers() {
    let words = "monitor minecraft 127.0.0.1 crysis 127.0.0.1 minecraft 127.0.0.1:25565";
    let arguments = clap::Parser::try_parse_from(words.split(' ')).unwrap();
    let mut watched = super::watched(&arguments).unwrap();
    let [minecraft, crysis] = &mut watched.servers[..] else {
        panic!("{} servers", watched.servers.len());
    };
    minecraft.add(Ok(outcome("Srv", "world")), watch::now());
    crysis.add(Err(silent()), watch::now());
    let ports = [minecraft, crysis].map(|server| server.identity.address());
    let (state, line) = report(&watched, Thresholds::default());
    assert_eq!(state, State::Critical, "{line}");
    assert!(
        line.contains(": 1 of 2 servers up | ") && line.contains("\nCRITICAL: crysis 127.0.0.1:"),
        "{line}"
    );
    let page = page(&watched).unwrap();
    for (address, game, is_up) in [(&ports[0], "minecraft", 1), (&ports[1], "crysis", 0)] {
        assert!(
            line.contains(&format!("'{game} {address} up'={is_up};")),
            "{line}"
        );
        let labels = format!(r#"{{game="{game}",protocol="gamespy4",server="{address}"}}"#);
        let up = format!("queryport_up{labels} {is_up}");
        assert!(page.contains(&up), "{up}: {page}");
    }
}

#[test]
fn servers_of_a_game_are_summed() {
    let mut sums = Sums::default();
    for _ in 0..2 {
        sums.add(&outcome("Srv", "q3dm17").answer);
    }
    sums.add(&ServerStatus::default());
    let expected = Sums {
        listed: 0,
        up: 3,
        players: 24,
        bots: 6,
    };
    assert_eq!(sums, expected);
}

#[test]
fn a_state_lasts_since_its_first_result() {
    let mut server = server("192.0.2.1", Vec::new());
    let start = watch::now();
    let at = |seconds| start + Duration::from_secs(seconds);
    let up = || Ok(outcome("Srv", "q3dm17"));
    for (seconds, result, since) in [
        (0, up(), 0),
        (10, up(), 0),
        (20, Err(silent()), 0),
        (30, Err(silent()), 0),
        (40, up(), 0),
        (50, Err(silent()), 0),
        (60, Err(silent()), 0),
        (70, Err(silent()), 50),
        (80, Err(silent()), 50),
        (90, up(), 90),
    ] {
        server.add(result, at(seconds));
        assert_eq!(server.since, Some(at(since)), "{seconds}");
    }
    assert_eq!(server.latest_outage(), Some(Duration::from_secs(40)));
    // The failures of the outage, but not those before the answer.
    assert_eq!(server.history.queries(at(90)), (6, 4));
}

/// A failure without a datagram on the network is not one of the server.
#[test]
fn an_outage_begins_at_a_query_that_was_sent() {
    let not_asked = || {
        Err(Error::BadAddress {
            text: "x:y".to_owned(),
            why: "no port",
        })
    };
    for (failures, since, queries) in [
        ([Err(silent()), not_asked(), Err(silent())], 10, (1, 2)),
        ([not_asked(), Err(silent()), Err(silent())], 20, (1, 2)),
        ([not_asked(), not_asked(), not_asked()], 10, (1, 0)),
        ([Err(silent()), Err(silent()), not_asked()], 30, (3, 0)),
    ] {
        let start = watch::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut server = server_at(start, "192.0.2.1", vec![Ok(outcome("Srv", "q3dm17"))]);
        for (seconds, failure) in [10, 20, 30].into_iter().zip(failures) {
            server.add(failure, at(seconds));
        }
        assert_eq!(server.since, Some(at(since)));
        assert_eq!(server.history.queries(at(30)), queries);
    }
}

#[test]
fn a_server_that_was_not_asked_is_unknown_and_not_down() {
    let errors = [
        Error::NameResolution {
            host: "host".to_owned(),
            source: std::sync::Arc::new(std::io::Error::other("no resolver")),
        },
        Error::Request(queryport::EncodeError::TooLong {
            field: "value",
            limit: 1,
        }),
    ];
    for error in errors {
        let what = format!("{error:?}");
        let watched = one(vec![Err(error)]);
        let (state, line) = report(&watched, Thresholds::default());
        assert_eq!(state, State::Unknown, "{what}: {line}");
        assert!(!line.contains("up'="), "{what}: {line}");
        let metrics = page(&watched).unwrap();
        assert!(!metrics.contains("queryport_up{"), "{what}: {metrics}");
        let html = shown(&watched, watch::now());
        assert!(
            html.contains("not asked") && !html.contains(">down"),
            "{what}: {html}"
        );
    }
}

#[test]
fn every_reply_has_the_listed_head_and_errors_a_text() {
    monitored(|address, _| async move {
        let plain = "content-type: text/plain; charset=utf-8";
        for (request, status, body, expected) in [
            (
                "GET /metrics",
                "200 OK",
                None,
                &["content-type: text/plain; version=0.0.4; charset=utf-8"][..],
            ),
            (
                "GET /status.json",
                "200 OK",
                None,
                &["content-type: application/json"],
            ),
            (
                "GET /server/quake3/192.0.2.1:1",
                "404 Not Found",
                Some("this server is not watched: /status.json has the servers\n"),
                &[plain],
            ),
            (
                "HEAD /style.css",
                "200 OK",
                Some(""),
                &["content-type: text/css; charset=utf-8"],
            ),
            (
                "GET /",
                "200 OK",
                None,
                &[
                    "content-type: text/html; charset=utf-8",
                    "refresh: 5",
                    "content-security-policy: default-src 'none'; style-src 'self'; \
                     base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
                    "x-content-type-options: nosniff",
                    "referrer-policy: no-referrer",
                    "cache-control: no-store",
                ],
            ),
        ] {
            let reply = exchange(address, &format!("{request} HTTP/1.1\r\nHost: x\r\n\r\n")).await;
            let (head, found) = reply.split_once("\r\n\r\n").unwrap();
            assert!(head.starts_with(&format!("HTTP/1.1 {status}")), "{head}");
            assert!(body.is_none_or(|body| body == found), "{found}");
            let mut lines: Vec<&str> = head.lines().skip(1).collect();
            lines.retain(|line| !line.starts_with("date: ") && !line.starts_with("content-length"));
            lines.retain(|line| *line != "connection: close");
            assert_eq!(lines, expected, "{request}");
        }
    });
}

#[test]
fn hostile_names_are_escaped_and_bounded_on_every_page() {
    let long = "<".repeat(2000);
    let names = [
        "a\"} 1\nfake_metric 2\n",
        "back\\slash\\",
        "\u{1b}[2J\u{202e}gnp\u{e0041}",
        "日本 العربية",
        &long,
        "{}=,|'",
        "^1<script>alert(1)</script>",
        "\"onload='x' &amp;",
    ];
    let servers = names.iter().enumerate().map(|(number, name)| {
        let mut outcome = outcome(name, name);
        outcome.answer.name = Some(caret(name));
        server(&format!("<b>192.0.2.{number}"), vec![Ok(outcome)])
    });
    let watched = watching(servers.collect());
    let metrics = page(&watched).unwrap();
    check_metrics(&metrics);
    for line in metrics.lines() {
        let is_metric = line.starts_with("# ") || line.starts_with("queryport_");
        assert!(is_metric && line.chars().count() < 500, "{line:?}");
    }
    let infos = metrics.matches("queryport_server_info{").count();
    assert_eq!(infos, names.len());
    for name in [r#"name="a\"} 1 fake_metric 2""#, r#"name="back\\slash\\""#] {
        assert!(metrics.contains(name), "{metrics}");
    }
    let (_, line) = report(&watched, Thresholds::default());
    let counts = (line.lines().count(), line.matches('|').count());
    assert_eq!(counts, (1, 1), "{line}");
    let status = shown(&watched, watch::now());
    let coloured = "<span class=\"c500\">&lt;script&gt;alert(1)";
    assert!(status.contains(coloured), "{status}");
    for absent in ["<script", "<b>", "onload='"] {
        assert!(!status.contains(absent), "{absent:?}: {status}");
    }
    assert!(status.len() < 40_000, "{} bytes", status.len());
    let json = status_json::page(&watched, watch::now(), UNIX_EPOCH);
    for page in [metrics, line, status, json] {
        let is_bad = |c: char| c.is_control() && c != '\n' || "\u{202e}\u{e0041}".contains(c);
        assert!(!page.contains(is_bad), "{page:?}");
    }
}

#[test]
fn a_server_with_changing_texts_has_one_series_of_texts() {
    let maps: Vec<_> = (0..100)
        .map(|map| Ok(outcome(&format!("name {map}"), &format!("map {map}"))))
        .collect();
    let page = page(&one(maps)).unwrap();
    assert_eq!(page.matches("queryport_server_info{").count(), 1);
    assert_eq!(
        page.lines().filter(|line| !line.starts_with('#')).count(),
        12
    );
}

#[test]
fn a_check_has_the_state_of_the_worst_server() {
    let slow = |warning, critical| Thresholds {
        warning: Some(Duration::from_millis(warning)),
        critical: Some(Duration::from_millis(critical)),
    };
    let up = || one(vec![Ok(outcome("Srv", "q3dm17"))]);
    assert_eq!(
        report(&up(), slow(100, 200)),
        (
            State::Ok,
            "QUERYPORT OK: \"Srv\" plays q3dm17, 12/16 players, 34 ms | 'up'=1;;;0;1 'rejected'=2c \
             'players'=12;;;0;16 'bots'=3;;;0 'rtt'=0.034000s;0.1;0.2;0 'complete'=1;;;0;1"
                .to_owned()
        )
    );
    assert_eq!(report(&up(), slow(30, 200)).0, State::Warning);
    assert_eq!(report(&up(), slow(10, 20)).0, State::Critical);
    let mut partial = outcome("Srv", "q3dm17");
    partial.answer.completeness = Completeness::COMPLETE.without(Part::Players);
    for (result, expected, words) in [
        (
            Ok(partial),
            State::Warning,
            "incomplete: players are missing",
        ),
        (
            Err(silent()),
            State::Critical,
            "CRITICAL: 192.0.2.1:27960: no answer",
        ),
    ] {
        let (state, line) = report(&one(vec![result]), Thresholds::default());
        assert!(state == expected && line.contains(words), "{line}");
    }
    let mut both = up();
    both.servers.push(server("it's=down", vec![Err(silent())]));
    let (state, lines) = report(&both, Thresholds::default());
    let (line, problem) = lines.split_once('\n').unwrap();
    assert_eq!(state, State::Critical);
    assert!(
        line.starts_with("QUERYPORT CRITICAL: 1 of 2 servers up | ")
            && line.contains(" 'quake3 it''s_down:27960 up'=0;;;0;1 "),
        "{line}"
    );
    assert!(
        problem.starts_with("CRITICAL: quake3 it's=down:27960: 192.0.2.1"),
        "{problem}"
    );
}

/// Runs a test whose tasks stay on one thread, as those of the monitor.
fn run_local(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    LocalSet::new().block_on(&runtime, test);
}

/// Runs a test next to a monitor of the embedded servers. The test gets the address of the monitor.
fn monitored<F: Future<Output = ()>>(test: impl FnOnce(std::net::SocketAddr, Shared) -> F) {
    run_local(async {
        let (mut running, mut watched) = (Vec::new(), Watched::default());
        for world in super::worlds() {
            let server = world.start(0).await.unwrap();
            watched.servers.push(Server::new(
                What::Protocol(server.protocol),
                server.address.to_string(),
            ));
            running.push(server);
        }
        let shared = Rc::new(RefCell::new(watched));
        let arguments: Arguments =
            clap::Parser::try_parse_from(["monitor", "--interval", "1"]).unwrap();
        let sender = sender(Client::new().unwrap());
        let _queries = Queries::new(&arguments, sender, Rc::clone(&shared));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let probes = Some(Probes::new(self::sender(Client::new().unwrap())));
        let site = http::Site {
            watched: Rc::clone(&shared),
            interval: Duration::from_secs(1),
            probes,
        };
        spawn_local(http::serve(listener, site));
        while shared
            .borrow()
            .servers
            .iter()
            .any(|server| server.queries == 0)
        {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        test(address, shared).await;
    });
}

/// Servers that stay in it keep their history, and a wrong line changes nothing.
#[test]
fn a_file_of_servers_is_read_again_when_it_changes() {
    let folder = Folder::new("follow");
    let file = folder.0.join("servers.txt");
    let write = |text: &str| std::fs::write(&file, text).unwrap();
    write("quake3 127.0.0.1:1\nquake3 127.0.0.1:2\n");
    let words = "monitor --interval 0.05 --timeout 0.05 --file".split(' ');
    let words = words.chain([file.to_str().unwrap()]);
    let arguments: Arguments = clap::Parser::try_parse_from(words).unwrap();
    run_local(async {
        let shared = Rc::new(RefCell::new(super::watched(&arguments).unwrap()));
        let sender = sender(Client::new().unwrap());
        let queries = Queries::new(&arguments, sender, Rc::clone(&shared));
        let pause = Duration::from_millis(10);
        let until = async |is_so: &dyn Fn(&[Server]) -> bool| {
            while !is_so(&shared.borrow().servers) {
                tokio::time::sleep(pause).await;
            }
        };
        let addresses = |servers: &[Server]| {
            let addresses = servers.iter().map(|server| server.address.clone());
            addresses.collect::<Vec<_>>()
        };
        let steps = async {
            until(&|servers| servers[1].queries > 0).await;
            write("quake3 127.0.0.1:3\nquake3 127.0.0.1:2 # EU <duel>\n");
            until(&|servers| addresses(servers) == ["127.0.0.1:3", "127.0.0.1:2"]).await;
            assert!(shared.borrow().servers[1].queries > 0);
            let page = shown(&shared.borrow(), watch::now());
            assert!(page.contains(">EU &lt;duel&gt;</bdi></a>"), "{page}");
            until(&|servers| servers[0].queries > 0).await;
            let is_list_bad = async |is_bad: bool| {
                while shared.borrow().list.as_ref().is_none_or(Result::is_err) != is_bad {
                    tokio::time::sleep(pause).await;
                }
            };
            write("nonsense\n");
            is_list_bad(true).await;
            assert_eq!(shared.borrow().servers.len(), 2);
            let json = status_json::page(&shared.borrow(), watch::now(), UNIX_EPOCH);
            assert!(json.contains("servers.txt:1: "), "{json}");
            write("quake3 127.0.0.1:2\n");
            is_list_bad(false).await;
            std::fs::remove_file(&file).unwrap();
            is_list_bad(true).await;
        };
        tokio::select! {
            () = queries.follow(Some(&file), pause) => {}
            () = steps => {}
        }
    });
}

/// The whole reply to this request.
async fn exchange(address: std::net::SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut reply = Vec::new();
    let _ = stream.read_to_end(&mut reply).await;
    String::from_utf8_lossy(&reply).into_owned()
}

async fn get(address: std::net::SocketAddr, path: &str) -> String {
    exchange(
        address,
        &format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"),
    )
    .await
}

#[test]
fn a_probe_asks_the_server_that_its_request_names() {
    monitored(|address, shared| async move {
        let server = shared.borrow().servers[0].identity.address();
        let what = shared.borrow().servers[0].identity.what;
        // Prometheus encodes colons.
        let target = server.replace(':', "%3A");
        let reply = get(address, &format!("/probe?target={target}&module={what}")).await;
        let (head, body) = reply.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200 OK"), "{reply}");
        let up = format!("queryport_up{{game=\"\",protocol=\"{what}\",server=\"{server}\"}} 1\n");
        assert!(body.contains(&up), "{body}");
        check_metrics(body);
        for (query, why) in [
            ("target=192.0.2.1", "no module"),
            ("module=quake3", "no target"),
            ("module=quake9&target=192.0.2.1", "unknown game \"quake9\""),
            ("module=quake3&target=%ff", "target is not a text"),
            ("module=quake3&target=a%0d%0ab", "is not HOST"),
        ] {
            let reply = get(address, &format!("/probe?{query}")).await;
            assert!(
                reply.starts_with("HTTP/1.1 400") && reply.contains(why),
                "{reply}"
            );
        }
    });
}

#[test]
fn probes_are_off_shared_and_bounded() {
    run_local(async {
        let timing = Timing::default()
            .with_timeout(Duration::from_secs(2))
            .with_retries(0);
        let client = Client::new().unwrap().with_timing(timing);
        let serve = async |probes| {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let site = http::Site {
                watched: Shared::default(),
                interval: Duration::from_secs(30),
                probes,
            };
            spawn_local(http::serve(listener, site));
            address
        };
        let off = serve(None).await;
        let reply = get(off, "/probe?target=192.0.2.1&module=quake3").await;
        assert!(
            reply.starts_with("HTTP/1.1 404") && reply.contains("with --probe"),
            "{reply}"
        );

        let on = serve(Some(Probes::new(sender(client)))).await;
        let mut sockets = Vec::new();
        let mut probes = Vec::new();
        for _ in 0..16 {
            let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
            let address = socket.local_addr().unwrap();
            let path = format!("/probe?target={address}&module=quake3");
            for _ in 0..2 {
                let path = path.clone();
                probes.push(spawn_local(async move { get(on, &path).await }));
            }
            // The first probe of this server runs.
            socket.recv_from(&mut [0; 64]).await.unwrap();
            sockets.push(socket);
        }
        let reply = get(on, "/probe?target=192.0.2.1&module=quake3").await;
        assert!(reply.starts_with("HTTP/1.1 503"), "{reply}");
        for probe in probes {
            let reply = probe.await.unwrap();
            assert!(
                reply.contains("queryport_up{") && reply.contains("} 0\n"),
                "{reply}"
            );
        }
        for socket in sockets {
            let second = socket.try_recv_from(&mut [0; 64]);
            assert!(second.is_err(), "two probes of one server are one query");
        }
        let reply = get(on, "/probe?target=127.0.0.1:1&module=quake3").await;
        assert!(
            reply.starts_with("HTTP/1.1 200"),
            "there is room again: {reply}"
        );
    });
}

/// Another server at the port is not healthy: the page, a check and an event tell it.
#[test]
fn an_answer_of_another_game_is_told() {
    let mut terror = outcome("Srv", "ut4_casa");
    terror.answer.rules.push("gamename", "q3urt43");
    let arena = What::parse("openarena").unwrap();
    let mut server = Server::new(arena, "192.0.2.1".to_owned());
    server.add(Ok(outcome("Srv", "q3dm17")), watch::now());
    let state = server.add(Ok(terror.clone()), watch::now()).unwrap();
    let words = "says that it runs Urban Terror, not OpenArena";
    let line = events::line(Form::Text, UNIX_EPOCH, &server, &Event::State(state));
    assert!(line.ends_with(&format!(" other game: {words}")), "{line}");
    assert_eq!(server.add(Err(silent()), watch::now()), None);
    let watched = watching(vec![server]);
    let page = shown(&watched, watch::now());
    let (servers, changes) = page.split_once("Latest changes").unwrap();
    assert!(
        servers.contains("0 of 1 server up") && servers.contains("1 of another game"),
        "{servers}"
    );
    for part in [servers, changes] {
        assert!(
            part.contains("other game for ") && part.contains(words),
            "{part}"
        );
    }
    assert!(!servers.contains("12/16"), "{servers}");
    let mut servers = watched.servers;
    servers[0].add(Ok(terror), watch::now());
    let watched = watching(servers);
    let (state, line) = report(&watched, Thresholds::default());
    assert_eq!(state, State::Warning);
    assert!(line.contains(words) && line.contains("'up'=0"), "{line}");
    assert!(!line.contains("'players'"), "{line}");
    let metrics = super::metrics::page(&watched).unwrap();
    let up = "queryport_up{game=\"openarena\",protocol=\"quake3\",server=\"192.0.2.1:27960\"} 0";
    assert!(
        metrics.contains(up) && !metrics.contains("queryport_players{"),
        "{metrics}"
    );
}

#[test]
fn events_are_joins_leaves_up_and_down() {
    let status = |players: &[&str], is_whole: bool| {
        let mut outcome = outcome("Srv", "q3dm17");
        outcome.answer.players = players
            .iter()
            .map(|name| Player::new(*name))
            .collect::<Vec<_>>()
            .into();
        if !is_whole {
            outcome.answer.completeness = Completeness::COMPLETE.without(Part::Players);
        }
        Ok(outcome)
    };
    let mut server = server("192.0.2.1", Vec::new());
    let mut now = watch::now();
    let (mut found, mut seconds) = (Vec::new(), Value::Null);
    for result in [
        status(&["Ann", "Bob"], true),
        status(&["Bob"], false),
        Err(silent()),
        status(&["Bob", "C\u{1b}id\n"], true),
        Err(silent()),
        Err(silent()),
        Err(silent()),
        Err(silent()),
        status(&["Bob", "C\u{1b}id\n"], true),
    ] {
        now += Duration::from_secs(30);
        let state = server.add(result, now).map(Event::State);
        for event in state.into_iter().chain(server.changes_of_players()) {
            found.push(events::line(Form::Text, UNIX_EPOCH, &server, &event));
            let line = events::line(Form::Json, UNIX_EPOCH, &server, &event);
            let json: Value = serde_json::from_str(&line).unwrap();
            assert!(
                json["server"] == "192.0.2.1:27960" && json["name"] == "Srv" && json["time"] == 0,
                "{json}"
            );
            seconds = json["seconds"].clone();
        }
    }
    let why = "no answer within 4.0 s (3 requests sent): offline, a firewall, or another protocol \
               or port";
    let down = format!(" down: {why}");
    let expected = [
        " up",
        ": Cid joined",
        ": Ann left",
        &down,
        " up after 2 min down",
    ]
    .map(|end| format!("1970-01-01T00:00:00Z quake3 192.0.2.1:27960 (Srv){end}"));
    assert_eq!(found, expected);
    assert_eq!(seconds, 120);
}

#[test]
fn a_page_of_a_server_lists_its_latest_changes() {
    let start = watch::now();
    let at = |seconds| start + Duration::from_secs(seconds);
    let mut server = server_at(start, "192.0.2.1", Vec::new());
    for seconds in (0..600).step_by(50) {
        server.add(Ok(outcome("Srv", "q3dm17")), at(seconds));
        for _ in 0..3 {
            server.add(Err(silent()), at(seconds + 10));
        }
    }
    let mut other = server_at(start, "192.0.2.2", vec![Err(silent())]);
    other.add(Ok(outcome("Other", "q3dm6")), at(599));
    let watched = watching(vec![server, other]);
    let page = shown(&watched, at(600));
    let (_, changes) = page.split_once("Latest changes").unwrap();
    let rows: Vec<&str> = changes.split("<tr><td>").skip(1).collect();
    assert!(rows.len() == 10 && rows[0].contains("Other"), "{rows:?}");
    let view = View::new("", at(600), UNIX_EPOCH + Duration::from_secs(600));
    let path = "/server/quake3/192.0.2.1:27960";
    let page = server_page::page(&watched, path, &view).unwrap();
    let (_, changes) = page.split_once("Latest changes").unwrap();
    let rows: Vec<&str> = changes.split("<tr><td>").skip(1).collect();
    assert_eq!(rows.len(), 10);
    for (row, begins) in [
        "1970-01-01 00:09:20Z</td><td>40\u{a0}s so far</td><td class=\"down\">down<small>no answer",
        "1970-01-01 00:09:10Z</td><td>10\u{a0}s</td><td class=\"up\">up</td></tr>",
    ]
    .iter()
    .enumerate()
    {
        assert!(rows[row].starts_with(begins), "{}", rows[row]);
    }
}

#[test]
fn half_open_connections_and_garbage_do_not_cost_prometheus_a_scrape() {
    monitored(|address, _| async move {
        let long = format!("GET /{} HTTP/1.1\r\n\r\n", "a".repeat(1 << 20));
        let begins = ["", "GET /metrics HTTP/1.1\r\n", "\r\n\r\n\0\u{ff}"];
        let begins = begins.into_iter().cycle().take(200).chain([&long[..]]);
        let mut idle = Vec::new();
        for begin in begins {
            let mut stream = TcpStream::connect(address).await.unwrap();
            let _ = stream.write_all(begin.as_bytes()).await;
            idle.push(stream);
        }
        // The default of `scrape_timeout`.
        let page = tokio::time::timeout(Duration::from_secs(10), get(address, "/metrics")).await;
        assert!(
            page.expect("the scrape is given up")
                .starts_with("HTTP/1.1 200")
        );
        let closed =
            async |stream: &mut TcpStream| stream.read(&mut [0; 1024]).await.unwrap_or(0) == 0;
        assert!(closed(&mut idle[0]).await, "the oldest makes room");
    });
}

/// The queries of the dashboard, with its variables filled in.
fn dashboard() -> Vec<String> {
    let text = std::fs::read_to_string(here("dashboard.json")).unwrap();
    let dashboard: Value = serde_json::from_str(&text).unwrap();
    let panels = dashboard["panels"].as_array().unwrap().iter();
    let expressions = panels.flat_map(|panel| panel["targets"].as_array().unwrap());
    let filled = |target: &Value| {
        target["expr"]
            .as_str()
            .unwrap()
            .replace("$server", ".*")
            .replace("$__rate_interval", "1m")
    };
    expressions.map(filled).collect()
}

fn here(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("monitor")
        .join(name)
}

#[test]
fn the_dashboard_uses_metrics_of_the_page() {
    let queries = dashboard();
    assert!(queries.len() >= 12, "{queries:#?}");
    let pages = std::fs::read_to_string(here("pages.txt")).unwrap();
    for query in &queries {
        for name in query
            .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .filter(|word| word.starts_with("queryport_"))
        {
            let is_known = pages.contains(&format!("# TYPE {name} "));
            assert!(is_known, "{name} of {query}");
        }
    }
}

/// The queries of the dashboard, as rules; the alerts of the guide; the sample configuration.
#[test]
fn promtool_accepts_the_queries_the_alerts_and_the_configuration() {
    let rule = |(number, query): (usize, String)| {
        let query = Value::from(query);
        format!("  - record: q{number}\n    expr: {query}\n")
    };
    let rules: String = dashboard().into_iter().enumerate().map(rule).collect();
    let guide = include_str!("../../../src/guide/monitor.md");
    let (_, alerts) = guide.split_once("```yaml\ngroups:").unwrap();
    let (alerts, _) = alerts.split_once("```").unwrap();
    let folder = Folder::new("rules");
    for rules in [
        format!("groups:\n- name: dashboard\n  rules:\n{rules}"),
        format!("groups:{alerts}"),
    ] {
        let file = folder.0.join("rules.yml");
        std::fs::write(&file, rules).unwrap();
        let arguments = ["check", "rules", file.to_str().unwrap()];
        if let Some((is_valid, said)) = piped("promtool", &arguments, "") {
            assert!(is_valid, "{said}");
        }
    }
    let file = here("prometheus.yml");
    let arguments = ["check", "config", file.to_str().unwrap()];
    if let Some((is_valid, said)) = piped("promtool", &arguments, "") {
        assert!(is_valid, "{said}");
    }
}

/// OpenArena as a monitor watches it over this list server, after its first list.
async fn watched_game(master: &UdpSocket, is_answered: bool) -> Shared {
    let address: &'static str = master.local_addr().unwrap().to_string().leak();
    let mut game = *Game::find("openarena").unwrap();
    game.masters = vec![MasterAddress::new(MasterForm::Short, address)].leak();
    let shared = Shared::default();
    shared.borrow_mut().games.push(WatchedGame {
        game: Box::leak(Box::new(game)),
        sums: None,
        lists: Default::default(),
    });
    let timing = Timing::default()
        .with_timeout(Duration::from_millis(300))
        .with_retries(0);
    let sender = sender(Client::new().unwrap().with_timing(timing));
    let interval = Duration::from_secs(60);
    spawn_local(watch::watch_game(sender, Rc::clone(&shared), 0, interval));
    for waits in 0.. {
        if !shared.borrow().games[0].lists.is_empty() {
            break;
        }
        assert!(waits < 2000, "no list after 20 s");
        // 192.0.2.1:27960.
        let reply = b"\xff\xff\xff\xffgetserversResponse\\\xc0\x00\x02\x01\x6d\x38\\EOT\0\0\0";
        let received = master.try_recv_from(&mut [0; 256]);
        if let (Ok((_, from)), true) = (received, is_answered) {
            master.send_to(reply, from).await.unwrap();
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    shared
}

/// No list is not a list of nobody.
#[test]
fn a_game_is_watched_through_its_list_servers() {
    run_local(async {
        let bind = || UdpSocket::bind("127.0.0.1:0");
        let listed = watched_game(&bind().await.unwrap(), true).await;
        let silent = watched_game(&bind().await.unwrap(), false).await;
        let (listed, silent) = (listed.borrow(), silent.borrow());
        let one = Sums {
            listed: 1,
            ..Sums::default()
        };
        assert_eq!(listed.games[0].sums, Some(one));
        assert!(listed.games[0].lists.values().all(Option::is_none));
        let failure = silent.games[0].failure().unwrap();
        assert!(
            failure.starts_with("no list server answered: 127.0.0.1:"),
            "{failure}"
        );
        assert_eq!(silent.games[0].sums, None);
        assert!(!page(&silent).unwrap().contains("queryport_game_players{"));
        assert!(shown(&silent, watch::now()).contains(&failure));
    });
}

/// WCAG 2.1 asks for 4.5. The first pair of the style sheet is the background.
#[test]
fn every_colour_can_be_read_in_the_light_and_in_the_dark_scheme() {
    let rgb = |text: &str| {
        let number = u32::from_str_radix(text.trim_start_matches('#'), 16).unwrap();
        let [_, red, green, blue] = number.to_be_bytes();
        [red, green, blue]
    };
    let style_sheet = style_sheet::text();
    let pairs = style_sheet.split("light-dark(").skip(1).map(|rest| {
        let (light, dark) = rest.split_once(')').unwrap().0.split_once(',').unwrap();
        [rgb(light), rgb(dark)]
    });
    let [page, area, _line, colours @ ..] = &pairs.collect::<Vec<_>>()[..] else {
        panic!("{style_sheet}");
    };
    assert_eq!(colours.len(), 7 + 216);
    for (number, colour) in colours.iter().enumerate() {
        for scheme in 0..2 {
            let backgrounds = [page[scheme], area[scheme]];
            // Only the colours of the page are in charts.
            for background in backgrounds.iter().take(if number < 7 { 2 } else { 1 }) {
                let contrast = style_sheet::contrast(colour[scheme], *background);
                assert!(contrast >= 4.5, "{:x?}: {contrast}", colour[scheme]);
            }
        }
    }
}

/// A server with results of a day at one query a minute.
fn after_a_day(address: &str, name: &str, is_up: impl Fn(u32) -> bool, end: Instant) -> Server {
    let mut server = server(address, Vec::new());
    for minute in (0..24 * 60).rev() {
        let mut outcome = outcome(name, "q3dm17");
        outcome.answer.player_count = Some((minute * 7 / 10) % 17);
        let result = if is_up(minute) {
            Ok(outcome)
        } else {
            Err(silent())
        };
        server.add(result, end - Duration::from_secs(60) * minute);
    }
    server
}

/// Otherwise a second server of the host would answer in place of one that is down.
#[test]
fn a_game_without_a_port_is_watched_at_the_usual_one() {
    for (game, server, expected) in [
        ("openarena", "example.org", "example.org:27960"),
        ("openarena", "example.org:27961", "example.org:27961"),
        ("openarena", "::1", "[::1]:27960"),
        ("unrealtournament", "192.0.2.1", "192.0.2.1:7777"),
    ] {
        let game = Game::find(game).unwrap();
        assert_eq!(watch::at_a_port(game, server), expected);
    }
}

/// 400 servers are less than 700 kB.
#[test]
fn a_server_after_a_day_is_at_most_1700_bytes_of_the_page() {
    let end = watch::now() + Duration::from_secs(864_000);
    let server = |_| {
        let mut server = after_a_day("server.example.org", "x", |minute| minute % 37 != 0, end);
        let name = "^1A server ^4with a name ^7of the usual length, number 1";
        server.answer.as_mut().unwrap().answer.name = Some(caret(name));
        server
    };
    let page = |servers: u32| shown(&watching((0..servers).map(server).collect()), end).len();
    let of_one = page(2) - page(1);
    assert!(of_one <= 1700, "{of_one} bytes");
}

#[test]
fn servers_are_sorted_by_links_and_a_page_can_stay() {
    let server = |address, name: &str, map: &str, players| {
        let mut outcome = outcome(name, map);
        outcome.answer.player_count = Some(players);
        server(address, vec![Ok(outcome)])
    };
    let down = self::server("192.0.2.9", vec![Err(silent())]);
    let watched = watching(vec![
        server("192.0.2.1", "beta", "q3dm1", 3),
        server("192.0.2.2", "Alpha", "q3dm6", 9),
        down,
    ]);
    let order = |query| {
        let page = shown_as(query, &watched, watch::now());
        let rows = page.split("<a href=\"server/quake3/192.0.2.").skip(1);
        rows.map(|row| row.split(':').next().unwrap().parse().unwrap())
            .collect::<Vec<u32>>()
    };
    for (query, expected) in [
        ("", [9, 1, 2]),
        ("sort=other", [9, 1, 2]),
        ("sort=name", [9, 2, 1]),
        ("sort=map&still", [1, 2, 9]),
        ("still&sort=day", [2, 1, 9]),
        ("sort=name&reverse", [1, 2, 9]),
        ("sort=players&reverse&still", [9, 1, 2]),
    ] {
        assert_eq!(order(query), expected, "{query}");
    }
    let page = shown_as("sort=map&still", &watched, watch::now());
    for link in [
        "<th scope=\"col\"><a href=\"?sort=players&amp;still\">Players<",
        "href=\"server/quake3/192.0.2.1:27960?sort=map&amp;still\"",
        "href=\"?sort=map\">start<",
    ] {
        assert!(page.contains(link), "{link}: {page}");
    }
    let page = shown_as("sort=map&reverse", &watched, watch::now());
    assert!(page.contains(" aria-sort=\"descending\"><a href=\"?sort=map\">Map<"));
    let view = View::new("sort=map&still", watch::now(), UNIX_EPOCH);
    let page = server_page::page(&watched, "/server/quake3/192.0.2.1:27960", &view).unwrap();
    assert!(page.contains("href=\"../../?sort=map&amp;still\">All servers<"));
}

#[test]
fn a_server_has_a_page_of_its_identity() {
    let mut full = outcome("Srv", "q3dm17");
    full.answer.players = [Player::new("<Ann>")].into();
    full.answer.rules.push("motd", "<b>");
    let failures = || [(); 3].map(|()| Err(silent()));
    let up = server("<b>.example.org", vec![Ok(full.clone())]);
    let down = std::iter::once(Ok(full)).chain(failures()).collect();
    let new = server("192.0.2.1", Vec::new());
    let watched = watching(vec![new, up, server("192.0.2.2", down)]);
    let view = View::new("", watch::now(), UNIX_EPOCH);
    let page = |path| server_page::page(&watched, path, &view);
    let path = "/server/quake3/%3Cb%3E.example.org:27960";
    assert!(shown(&watched, watch::now()).contains(&format!("href=\"{}\"", &path[1..])));
    for other in [
        "/server/quake3/<b>",
        "/server/1",
        "/server/quake3/192.0.2.1",
    ] {
        assert!(page(other).is_none(), "{other}");
    }
    let new = page("/server/quake3/192.0.2.1:27960").unwrap();
    assert!(!new.contains("The last day"), "an empty chart: {new}");
    let up = page(path).unwrap();
    for part in [
        "<bdi>&lt;Ann&gt;</bdi>",
        "<bdi>motd</bdi></td><td><bdi>&lt;b&gt;</bdi>",
    ] {
        assert!(up.contains(part) && !up.contains("<b>"), "{part}: {up}");
    }
    let down = page("/server/quake3/192.0.2.2:27960").unwrap();
    assert!(down.contains("<title>down: Srv</title>"), "{down}");
    assert!(down.contains("motd") && !down.contains("Ann"), "{down}");
}
