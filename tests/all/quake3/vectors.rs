//! Recorded exchanges.
use queryport::lists::ListPart;
use queryport::quake3::{Reply, Request, Response};
use queryport::{Detail, Limits};

use crate::quake3::exchange::{exchange, names};

#[test]
fn datagrams_of_recorded_exchanges_are_written_again_equal() {
    let mut seen = 0;
    for name in names() {
        for (who, datagram) in exchange(&name) {
            let mut out = Vec::new();
            if let Ok(request) = Request::parse(&datagram) {
                request.encode(&mut out).unwrap();
                assert_eq!(out, datagram, "{name}: {who}");
            } else if let Ok(reply) = Reply::parse(&datagram) {
                reply.encode(&mut out).unwrap();
                // The setting that iortcw puts before the client's number is not kept.
                let is_flagged =
                    name.starts_with("iortcw") && matches!(reply, Reply::Challenge { .. });
                // Nor is Medal of Honor's direction byte kept.
                let is_other = is_flagged || name.starts_with("openmohaa");
                assert_eq!(out == datagram, !is_other, "{name}: {who}");
                assert_eq!(Reply::parse(&out), Ok(reply), "{name}: {who}");
            } else if let Ok(part) = ListPart::parse(&datagram) {
                assert!(part.intact && part.has_end, "{name}: {who}");
            } else {
                let response = Response::parse(&datagram, &Limits::default()).unwrap();
                assert_eq!(response.detail(), Detail::Short, "{name}: {who}");
            }
            seen += 1;
        }
    }
    assert!(seen >= 40, "{seen} datagrams");
}
