//! Defaults of options.

use std::time::Duration;

use queryport::lists::Scope;
use queryport::quake3::master;
use queryport::serve::GuardOptions;
use queryport::{Format, ServerStatus, Service, ut2004};

use crate::common::requester;

const MS: Duration = Duration::from_millis(1);

#[test]
fn defaults_are_those_of_the_documentation() {
    let guard = GuardOptions::default();
    let bytes = (
        guard.bytes_per_second,
        guard.burst,
        guard.total_bytes_per_second,
    );
    assert_eq!(bytes, (8 << 10, 64 << 10, 1 << 20));
    let master = master::Options::default();
    assert_eq!((master.max_servers, master.max_per_address), (16_384, 32));
    assert_eq!((master.lists_in_a_row, master.list_decay), (4, 3000 * MS));
    assert_eq!(master.lifetime, Duration::from_secs(900));
    assert_eq!(master.list_bytes_per_second, 4 << 20);
    assert_eq!(master.scope, Scope::Lan);
}

#[test]
fn a_list_of_ut2004_has_64_datagrams_unless_more_are_allowed() {
    let mut status = ServerStatus::default();
    status.rules = (0..2000)
        .map(|rule| (format!("rule{rule}"), "v".repeat(100)))
        .collect();
    let request = ut2004::Request::new(ut2004::Command::Rules);
    let service = Service::new(Format::Ut2004);
    let replies = ut2004::respond(&request, &status, &service, &requester("192.0.2.1:5000"));
    assert_eq!(replies.len(), 64);
}
