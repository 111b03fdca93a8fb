//! Properties of any list server's stream. Fuzz targets and `tests/corpus/` call these functions.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::time::Instant;

use queryport::lists::{Cod4xList, GameSpy2List, ListRequest, ListSession, Ut2004List};
use queryport::{GameKey, ListError, ServerList, Timing};

fn session_of(request: impl Into<ListRequest>) -> ListSession {
    request
        .into()
        .session(0, Timing::default(), Instant::now())
        .expect("a list over TCP")
}

/// The first byte chooses the game and the length of the pieces.
pub fn ut2004(data: &[u8]) {
    let Some((&choice, stream)) = data.split_first() else {
        return;
    };
    let request = match choice & 1 {
        0 => Ut2004List::new(3369),
        _ => Ut2004List::new(2225),
    };
    let session = || session_of(request);
    let piece = usize::from(choice >> 1) + 1;
    let list = run(session(), stream, piece);
    assert_eq!(
        list,
        run(session(), stream, stream.len().max(1)),
        "the pieces do not matter"
    );
    if let Ok(list) = list {
        let addresses: Vec<_> = list.entries.iter().map(|entry| entry.server).collect();
        check(&list, &addresses);
        assert!(addresses.len() <= stream.len() / 17);
        let announced = list
            .announced
            .is_some_and(|announced| announced as usize == addresses.len());
        assert_eq!(list.completeness.is_complete(), announced);
    }
}

/// The first byte chooses the length of the pieces. The rest is the enciphered stream after two
/// unenciphered blocks. The key is constant, so that the fuzzer can find lists.
pub fn gamespy4(data: &[u8]) {
    let Some((&choice, stream)) = data.split_first() else {
        return;
    };
    let session = || session_of(GameSpy2List::new("swat4", GameKey::new("tG3j8c").unwrap()));
    let list = run(session(), stream, usize::from(choice) + 1);
    assert_eq!(
        list,
        run(session(), stream, stream.len().max(1)),
        "the pieces do not matter"
    );
    if let Ok(list) = list {
        let addresses: Vec<_> = list.entries.iter().map(|entry| entry.server).collect();
        check(&list, &addresses);
        assert!(addresses.len() <= stream.len() / 5);
        let fields: usize = list.entries.iter().map(|entry| entry.fields.len()).sum();
        assert!(fields <= stream.len());
    }
}

/// The first byte chooses the length of the pieces.
pub fn cod4x(data: &[u8]) {
    let Some((&choice, stream)) = data.split_first() else {
        return;
    };
    let session = || session_of(Cod4xList::new(6));
    let list = run(session(), stream, usize::from(choice) + 1);
    assert_eq!(
        list,
        run(session(), stream, stream.len().max(1)),
        "the pieces do not matter"
    );
    if let Ok(list) = list {
        assert!(list.servers.len() <= stream.len() / 12);
        let has_end = stream.windows(4).any(|bytes| bytes == b"\\EOF");
        assert!(has_end || !list.completeness.is_complete());
    }
}

/// Runs a stream to its end.
fn run(mut session: ListSession, stream: &[u8], piece: usize) -> Result<ServerList, ListError> {
    let now = Instant::now();
    for piece in stream.chunks(piece) {
        session.poll_transmit(now, &mut Vec::new());
        session.handle_bytes(now, piece);
    }
    session.handle_end(now);
    let answer = session
        .poll_answer()
        .expect("the end of the stream is the end");
    assert!(session.poll_answer().is_none() && session.poll_timeout().is_none());
    answer
}

/// Checks that the servers are those of the entries, each once.
fn check(list: &ServerList, entries: &[SocketAddr]) {
    let once: BTreeSet<&SocketAddr> = list.servers.iter().collect();
    assert_eq!(once.len(), list.servers.len());
    assert_eq!(once, entries.iter().collect());
}
