//! A small HTTP server for the status page and the metrics.

use std::cell::Cell;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::rc::Rc;
use std::time::{Duration, SystemTime};

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{
    ALLOW, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, HeaderValue,
    REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, spawn_local};

use super::status_page::View;
use super::watch::{Shared, now};
use super::{metrics, status_page, style_sheet};

/// The maximum number of connections at a time.
const MOST_CONNECTIONS: usize = 64;
/// The longest time of a connection.
const PATIENCE: Duration = Duration::from_secs(10);

/// The pause after a connection that could not be accepted.
const PAUSE: Duration = Duration::from_millis(50);

/// A connection, which serves one request.
struct Connection {
    task: JoinHandle<()>,
    /// Whether the request has arrived.
    has_request: Rc<Cell<bool>>,
}

impl Connection {
    fn new(stream: TcpStream, watched: Shared) -> Self {
        let has_request = Rc::new(Cell::new(false));
        let received = Rc::clone(&has_request);
        let service = service_fn(move |request| {
            received.set(true);
            let response = respond(&request, &watched);
            async move { Ok::<_, Infallible>(response) }
        });
        let connection = http1::Builder::new()
            .keep_alive(false)
            .serve_connection(TokioIo::new(stream), service);
        let task = spawn_local(async move {
            let _ = tokio::time::timeout(PATIENCE, connection).await;
        });
        Self { task, has_request }
    }
}

/// Answers requests until it is dropped. The oldest connection without a request makes room for a
/// new one, so that no number of half-open connections holds up a scrape.
pub(crate) async fn serve(listener: TcpListener, watched: Shared) {
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
        connections.push_back(Connection::new(stream, Rc::clone(&watched)));
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

fn respond(request: &Request<Incoming>, watched: &Shared) -> Response<Full<Bytes>> {
    const PLAIN: &str = "text/plain; charset=utf-8";
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let status = StatusCode::METHOD_NOT_ALLOWED;
        let mut response = reply(status, PLAIN, "only GET and HEAD\n".to_owned());
        let methods = HeaderValue::from_static("GET, HEAD");
        response.headers_mut().insert(ALLOW, methods);
        return response;
    }
    match request.uri().path() {
        "/metrics" => match metrics::page(&watched.borrow()) {
            Ok(page) => reply(StatusCode::OK, metrics::CONTENT_TYPE, page),
            Err(error) => {
                let status = StatusCode::INTERNAL_SERVER_ERROR;
                reply(status, PLAIN, format!("{error}\n"))
            }
        },
        "/style.css" => {
            let style_sheet = style_sheet::text();
            reply(StatusCode::OK, "text/css; charset=utf-8", style_sheet)
        }
        path => match html(path, request.uri().query(), watched) {
            Some(page) => page,
            None => {
                let pages = "the status page is at /, the metrics are at /metrics\n";
                reply(StatusCode::NOT_FOUND, PLAIN, pages.to_owned())
            }
        },
    }
}

/// The status page or the page of a server.
#[allow(clippy::disallowed_methods, reason = "a program has a clock")]
fn html(path: &str, query: Option<&str>, watched: &Shared) -> Option<Response<Full<Bytes>>> {
    let view = View::new(query.unwrap_or_default(), now(), SystemTime::now());
    let watched = watched.borrow();
    let page = match path {
        "/" => status_page::page(&watched, &view),
        path => status_page::server_page(&watched, path, &view)?,
    };
    let mut response = reply(StatusCode::OK, "text/html; charset=utf-8", page);
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

fn reply(status: StatusCode, content_type: &'static str, text: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(text)));
    *response.status_mut() = status;
    let content_type = HeaderValue::from_static(content_type);
    response.headers_mut().insert(CONTENT_TYPE, content_type);
    response
}
