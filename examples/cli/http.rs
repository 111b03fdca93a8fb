//! One HTTP request a connection: for the pages of the monitor and the counters of `serve`.

use std::convert::Infallible;
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

pub(crate) type Request = hyper::Request<Incoming>;
pub(crate) type Response = hyper::Response<Full<Bytes>>;

/// The content type of a text.
pub(crate) const PLAIN: &str = "text/plain; charset=utf-8";
/// The content type of metrics in the text format of Prometheus.
pub(crate) const METRICS: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Answers one request of a client, and closes the connection after this time at the latest. Only
/// GET and HEAD are responded to; the reply to HEAD has no body.
pub(crate) async fn answer<F, R>(client: TcpStream, patience: Duration, respond: F)
where
    F: Fn(Request) -> R,
    R: Future<Output = Response>,
{
    let service = service_fn(|request: Request| {
        let is_refused = !matches!(*request.method(), Method::GET | Method::HEAD);
        let response = respond(request);
        async move {
            Ok::<_, Infallible>(match is_refused {
                true => refusal(),
                false => response.await,
            })
        }
    });
    let connection = http1::Builder::new()
        .keep_alive(false)
        .serve_connection(TokioIo::new(client), service);
    let _ = tokio::time::timeout(patience, connection).await;
}

fn refusal() -> Response {
    let why = "only GET and HEAD\n".to_owned();
    let mut response = reply(StatusCode::METHOD_NOT_ALLOWED, PLAIN, why);
    let methods = HeaderValue::from_static("GET, HEAD");
    response.headers_mut().insert(ALLOW, methods);
    response
}

pub(crate) fn reply(status: StatusCode, content_type: &'static str, text: String) -> Response {
    let mut response = Response::new(Full::new(Bytes::from(text)));
    *response.status_mut() = status;
    let content_type = HeaderValue::from_static(content_type);
    response.headers_mut().insert(CONTENT_TYPE, content_type);
    response
}
