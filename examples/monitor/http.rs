//! A small HTTP server for the metrics page.

use std::cell::Cell;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::rc::Rc;
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, spawn_local};

use super::metrics;
use super::watch::Shared;

/// Most connections at a time.
const MOST_CONNECTIONS: usize = 64;
/// The longest time of a connection.
const PATIENCE: Duration = Duration::from_secs(10);

/// A connection, which serves one request.
struct Connection {
    task: JoinHandle<()>,
    /// Whether the request has come.
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

/// Answers requests until it is dropped. The oldest connection without a request makes room for a new one, so that no number of
/// half-open connections holds up a scrape.
pub(crate) async fn serve(listener: TcpListener, watched: Shared) {
    let mut connections: VecDeque<Connection> = VecDeque::new();
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // No descriptors are left, or the client has gone.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        connections.retain(|connection| !connection.task.is_finished());
        if connections.len() >= MOST_CONNECTIONS {
            let idle = connections
                .iter()
                .position(|connection| !connection.has_request.get());
            if let Some(oldest) = connections.remove(idle.unwrap_or(0)) {
                oldest.task.abort();
            }
        }
        connections.push_back(Connection::new(stream, Rc::clone(&watched)));
    }
}

fn respond(request: &Request<Incoming>, watched: &Shared) -> Response<Full<Bytes>> {
    let text = |status, content_type, text: String| {
        let mut response = Response::new(Full::new(Bytes::from(text)));
        *response.status_mut() = status;
        response
            .headers_mut()
            .insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
        response
    };
    const PLAIN: &str = "text/plain; charset=utf-8";
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let mut response = text(
            StatusCode::METHOD_NOT_ALLOWED,
            PLAIN,
            "only GET and HEAD\n".to_owned(),
        );
        response
            .headers_mut()
            .insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        return response;
    }
    match request.uri().path() {
        "/metrics" => match metrics::page(&watched.borrow()) {
            Ok(page) => text(StatusCode::OK, metrics::CONTENT_TYPE, page),
            Err(error) => text(
                StatusCode::INTERNAL_SERVER_ERROR,
                PLAIN,
                format!("{error}\n"),
            ),
        },
        "/" => text(
            StatusCode::OK,
            PLAIN,
            "queryport monitor: the metrics are at /metrics\n".to_owned(),
        ),
        _ => text(
            StatusCode::NOT_FOUND,
            PLAIN,
            "the metrics are at /metrics\n".to_owned(),
        ),
    }
}
