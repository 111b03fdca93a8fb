//! Encodes heartbeats to a master.

use crate::gamespy1::wire::put::put_pair;

/// The state that a heartbeat reports to a master.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ServerState {
    Running,
    Changed,
    Ended,
}

/// Appends a heartbeat: `"\heartbeat\" port "\gamename\" game [ "\statechanged\" ( "1" / "2" ) ]`,
/// where 1 reports a change and 2 the end (openspy-core, code/qr/server/v1/handle_heartbeat.cpp).
pub(crate) fn put_heartbeat(query_port: u16, game: &[u8], state: ServerState, out: &mut Vec<u8>) {
    put_pair(b"heartbeat", query_port.to_string().as_bytes(), out);
    put_pair(b"gamename", game, out);
    match state {
        ServerState::Running => {}
        ServerState::Changed => put_pair(b"statechanged", b"1", out),
        ServerState::Ended => put_pair(b"statechanged", b"2", out),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gamespy1::wire::Fields;

    #[test]
    fn heartbeats_are_pairs() {
        let heartbeat = |state| {
            let mut out = Vec::new();
            put_heartbeat(7778, b"ut", state, &mut out);
            out
        };
        assert_eq!(
            heartbeat(ServerState::Running),
            br"\heartbeat\7778\gamename\ut"
        );
        let ended = heartbeat(ServerState::Ended);
        let read = |key| Fields::new(&ended).get(key);
        assert_eq!(
            ["heartbeat", "gamename", "statechanged"].map(read),
            [&b"7778"[..], b"ut", b"2"].map(Some)
        );
    }
}
