//! A small HTTP server for the metrics page.

use std::convert::Infallible;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::spawn_local;

use super::metrics;
use super::watch::Shared;

/// Most connections at a time; others wait to be accepted.
const MOST_CONNECTIONS: usize = 64;
/// The longest time of a connection, and of a request's head.
const PATIENCE: Duration = Duration::from_secs(10);

/// Answers requests until it is dropped.
pub(crate) async fn serve(listener: TcpListener, watched: Shared) {
    let connections = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    loop {
        let Ok(permit) = Arc::clone(&connections).acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            // No descriptors are left, or the client has gone.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let watched = Rc::clone(&watched);
        spawn_local(async move {
            let service = service_fn(move |request| {
                let response = respond(&request, &watched);
                async move { Ok::<_, Infallible>(response) }
            });
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(PATIENCE)
                .keep_alive(false)
                .serve_connection(TokioIo::new(stream), service);
            let _ = tokio::time::timeout(PATIENCE, connection).await;
            drop(permit);
        });
    }
}

fn respond(request: &Request<Incoming>, watched: &Shared) -> Response<Full<Bytes>> {
    let text = |status, content_type, text: String| {
        let mut response = Response::new(Full::new(Bytes::from(text)));
        *response.status_mut() = status;
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
        response
    };
    const PLAIN: &str = "text/plain; charset=utf-8";
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let mut response = text(StatusCode::METHOD_NOT_ALLOWED, PLAIN, "only GET and HEAD\n".to_owned());
        response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        return response;
    }
    match request.uri().path() {
        "/metrics" => match metrics::page(&watched.borrow()) {
            Ok(page) => text(StatusCode::OK, metrics::CONTENT_TYPE, page),
            Err(error) => text(StatusCode::INTERNAL_SERVER_ERROR, PLAIN, format!("{error}\n")),
        },
        "/" => text(StatusCode::OK, PLAIN, "queryport monitor: the metrics are at /metrics\n".to_owned()),
        _ => text(StatusCode::NOT_FOUND, PLAIN, "the metrics are at /metrics\n".to_owned()),
    }
}
