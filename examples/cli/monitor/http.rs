//! The pages of the monitor over HTTP.

use std::cell::Cell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::{Duration, SystemTime};

use hyper::StatusCode;
use hyper::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName, HeaderValue, REFERRER_POLICY, REFRESH,
    X_CONTENT_TYPE_OPTIONS,
};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, spawn_local};

use super::probe::Probes;
use super::status_page::View;
use super::watch::{Shared, now};
use super::{metrics, server_page, status_json, status_page, style_sheet};
use crate::http::{self, METRICS, PLAIN, Request, Response, reply};

/// The maximum number of connections at a time.
const MOST_CONNECTIONS: usize = 64;
/// The longest time of a connection.
const PATIENCE: Duration = Duration::from_secs(10);

/// The pause after a connection that could not be accepted.
const PAUSE: Duration = Duration::from_millis(50);

/// The data of the pages.
#[derive(Debug)]
pub(crate) struct Site {
    pub(crate) watched: Shared,
    /// The time between two queries of a server.
    pub(crate) interval: Duration,
    /// Queries on request, if they are allowed.
    pub(crate) probes: Option<Probes>,
}

/// A connection, which serves one request.
struct Connection {
    task: JoinHandle<()>,
    /// Whether the request has arrived.
    has_request: Rc<Cell<bool>>,
}

impl Connection {
    fn new(stream: TcpStream, site: Rc<Site>) -> Self {
        let has_request = Rc::new(Cell::new(false));
        let received = Rc::clone(&has_request);
        let task = spawn_local(http::answer(stream, PATIENCE, move |request| {
            received.set(true);
            let site = Rc::clone(&site);
            async move { respond(&request, &site).await }
        }));
        Self { task, has_request }
    }
}

/// Answers requests until it is dropped. The oldest connection without a request makes room for a
/// new one, so that no number of half-open connections holds up a scrape.
pub(crate) async fn serve(listener: TcpListener, site: Site) {
    let site = Rc::new(site);
    let mut connections: VecDeque<Connection> = VecDeque::new();
    loop {
        let accepted = listener.accept().await;
        connections.retain(|connection| !connection.task.is_finished());
        let Ok((stream, _)) = accepted else {
            // No descriptors are left, or the client has gone. The pause keeps the loop from
            // spinning.
            make_room(&mut connections);
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        if connections.len() >= MOST_CONNECTIONS {
            make_room(&mut connections);
        }
        connections.push_back(Connection::new(stream, Rc::clone(&site)));
    }
}

/// Closes the oldest connection without a request, or the oldest of all.
fn make_room(connections: &mut VecDeque<Connection>) {
    let idle = connections
        .iter()
        .position(|connection| !connection.has_request.get());
    if let Some(oldest) = connections.remove(idle.unwrap_or(0)) {
        oldest.task.abort();
    }
}

async fn respond(request: &Request, site: &Site) -> Response {
    let query = request.uri().query().unwrap_or_default();
    match (request.uri().path(), &site.probes) {
        ("/metrics", _) => match metrics::page(&site.watched.borrow()) {
            Ok(page) => reply(StatusCode::OK, METRICS, page),
            Err(error) => failure(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string()),
        },
        ("/probe", Some(probes)) => match probes.page(query).await {
            Ok(page) => reply(StatusCode::OK, METRICS, page),
            Err((status, why)) => failure(status, &why),
        },
        ("/status.json", _) => {
            #[allow(clippy::disallowed_methods, reason = "a program has a clock")]
            let page = status_json::page(&site.watched.borrow(), now(), SystemTime::now());
            reply(StatusCode::OK, "application/json", page)
        }
        ("/style.css", _) => {
            let style_sheet = style_sheet::text();
            reply(StatusCode::OK, "text/css; charset=utf-8", style_sheet)
        }
        (path, _) => {
            html(path, query, site).unwrap_or_else(|| failure(StatusCode::NOT_FOUND, no_page(path)))
        }
    }
}

/// Why there is no page at this path.
fn no_page(path: &str) -> &'static str {
    if path.starts_with("/server/") {
        "this server is not watched: /status.json has the servers"
    } else if path == "/probe" {
        "no probes: start `queryport monitor` with --probe"
    } else {
        "no such page: / is the status page, with links to /server/…; /metrics, /status.json, /probe"
    }
}

fn failure(status: StatusCode, why: &str) -> Response {
    reply(status, PLAIN, format!("{why}\n"))
}

/// The status page or the page of a server.
#[allow(clippy::disallowed_methods, reason = "a program has a clock")]
fn html(path: &str, query: &str, site: &Site) -> Option<Response> {
    let view = View::new(query, now(), SystemTime::now()).with_interval(site.interval);
    let watched = site.watched.borrow();
    let page = match path {
        "/" => status_page::page(&watched, &view),
        path => server_page::page(&watched, path, &view)?,
    };
    let mut response = reply(StatusCode::OK, "text/html; charset=utf-8", page);
    // A header and no element of the page, so that a copy of the page stays as it is.
    if let Some(seconds) = view.refresh() {
        response.headers_mut().insert(REFRESH, seconds.into());
    }
    for (name, value) in STATUS_PAGE_HEADERS {
        let value = HeaderValue::from_static(value);
        response.headers_mut().insert(name, value);
    }
    Some(response)
}

/// Headers that tell a browser how to treat the status page.
const STATUS_PAGE_HEADERS: [(HeaderName, &str); 4] = [
    (
        CONTENT_SECURITY_POLICY,
        status_page::CONTENT_SECURITY_POLICY,
    ),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (REFERRER_POLICY, "no-referrer"),
    (CACHE_CONTROL, "no-store"),
];
