//! Properties of any stream of a list server. The fuzz targets call these functions, and so does `tests/corpus.rs` on stable.
#![allow(dead_code, unreachable_pub, reason = "each fuzz target uses one of them")]
#![allow(clippy::expect_used, clippy::disallowed_methods, reason = "a failure is a find")]

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::time::Instant;

use queryport::quake3::master::cod4x_session;
use queryport::session::StreamSession;
use queryport::{ListError, ServerList, Timing, gamespy4, ut2004};

/// The first byte chooses the game and the length of the pieces.
pub fn ut2004(data: &[u8]) {
    let Some((&choice, stream)) = data.split_first() else { return };
    let request = match choice & 1 {
        0 => ut2004::list::ListRequest::ut2004(),
        _ => ut2004::list::ListRequest::ut2003(),
    };
    let session = || ut2004::list::ListSession::new(request.clone(), Timing::default(), Instant::now());
    let piece = usize::from(choice >> 1) + 1;
    let list = run(session(), stream, piece);
    assert_eq!(list, run(session(), stream, stream.len().max(1)), "the pieces do not matter");
    if let Ok(list) = list {
        let addresses: Vec<_> = list.entries().map(|entry| entry.query_address()).collect();
        check(&list.servers, &addresses);
        assert!(addresses.len() <= stream.len() / 17);
        let announced = list.announced.is_some_and(|announced| announced as usize == addresses.len());
        assert_eq!(list.servers.completeness.is_complete(), announced);
    }
}

/// The first byte chooses the length of the pieces. What follows is the enciphered stream, with both its blocks in clear:
/// the key is fixed, so that lists can be found.
pub fn gamespy4(data: &[u8]) {
    let Some((&choice, stream)) = data.split_first() else { return };
    let request = || gamespy4::list::ListRequest::new("swat4", "tG3j8c");
    let session = || gamespy4::list::ListSession::new(request(), 0, Timing::default(), Instant::now());
    let list = run(session(), stream, usize::from(choice) + 1);
    assert_eq!(list, run(session(), stream, stream.len().max(1)), "the pieces do not matter");
    if let Ok(list) = list {
        let addresses: Vec<_> = list.entries().map(|entry| entry.query_address()).collect();
        check(&list.servers, &addresses);
        assert!(addresses.len() <= stream.len() / 5);
        let fields: usize = list.entries().map(|entry| entry.fields().count()).sum();
        assert!(fields <= stream.len());
    }
}

/// The first byte chooses the length of the pieces.
pub fn cod4x(data: &[u8]) {
    let Some((&choice, stream)) = data.split_first() else { return };
    let session = || cod4x_session(6, Timing::default(), Instant::now());
    let list = run(session(), stream, usize::from(choice) + 1);
    assert_eq!(list, run(session(), stream, stream.len().max(1)), "the pieces do not matter");
    if let Ok(list) = list {
        assert!(list.servers.len() <= stream.len() / 12);
        let has_end = stream.windows(4).any(|bytes| bytes == b"\\EOF");
        assert!(has_end || !list.completeness.is_complete());
    }
}

/// Plays a stream to its end.
fn run<A>(mut session: StreamSession<A>, stream: &[u8], piece: usize) -> Result<A, ListError> {
    let now = Instant::now();
    for piece in stream.chunks(piece) {
        session.poll_transmit(now, &mut Vec::new());
        session.handle_bytes(now, piece);
    }
    session.handle_end(now);
    let answer = session.poll_answer().expect("the end of the stream is the end");
    assert!(session.poll_answer().is_none() && session.poll_timeout().is_none());
    answer
}

/// The servers are those of the entries, each once.
fn check(list: &ServerList, entries: &[SocketAddr]) {
    let once: BTreeSet<&SocketAddr> = list.servers.iter().collect();
    assert_eq!(once.len(), list.servers.len());
    assert_eq!(once, entries.iter().collect());
}
