//! Properties of any list server's stream. Fuzz targets and `tests/all/corpus/` call these functions.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::time::Instant;

use queryport::lists::{Cod4xList, GameSpy1List, GameSpy2List, ListRequest, Ut2004List};
use queryport::{GameKey, ListError, ServerList, Timing};

/// The first byte chooses the game and the length of the pieces.
pub fn ut2004(data: &[u8]) {
    let Some((&choice, stream)) = data.split_first() else {
        return;
    };
    let request = match choice & 1 {
        0 => Ut2004List::new(3369),
        _ => Ut2004List::new(2225),
    };
    let piece = usize::from(choice >> 1) + 1;
    if let Ok(list) = whole_and_in_pieces(request, stream, piece) {
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
    let request = GameSpy2List::new("swat4", GameKey::new("tG3j8c").unwrap());
    let piece = usize::from(choice) + 1;
    if let Ok(list) = whole_and_in_pieces(request, stream, piece) {
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
    let piece = usize::from(choice) + 1;
    if let Ok(list) = whole_and_in_pieces(Cod4xList::new(6), stream, piece) {
        assert!(list.servers.len() <= stream.len() / 12);
        let has_end = stream.windows(4).any(|bytes| bytes == b"\\EOF");
        assert!(has_end || !list.completeness.is_complete());
    }
}

/// The first byte chooses the format and the length of the pieces.
pub fn gamespy1(data: &[u8]) {
    let Some((&choice, stream)) = data.split_first() else {
        return;
    };
    let mut request = GameSpy1List::new("ut", GameKey::new("Z5Nfb0").unwrap());
    request.compressed = choice & 1 != 0;
    // Whether an end mark is the greeting's depends on the pieces.
    let piece = usize::from(choice >> 1) + 1;
    if let Ok(list) = run(request, stream, piece) {
        assert!(list.servers.len() <= stream.len() / 6);
        let has_end = stream.windows(6).any(|bytes| bytes == b"\\final");
        assert!(has_end || !list.completeness.is_complete());
    }
}

/// Runs a stream to its end, whole and in pieces: the list is the same.
fn whole_and_in_pieces(
    request: impl Into<ListRequest> + Clone,
    stream: &[u8],
    piece: usize,
) -> Result<ServerList, ListError> {
    let whole = run(request.clone(), stream, stream.len().max(1));
    let list = run(request, stream, piece);
    assert_eq!(list, whole, "the pieces do not matter");
    list
}

/// Runs a stream to its end.
fn run(
    request: impl Into<ListRequest>,
    stream: &[u8],
    piece: usize,
) -> Result<ServerList, ListError> {
    let now = Instant::now();
    let session = request.into().session(0, Timing::default(), now);
    let mut session = session.expect("a list over TCP");
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
