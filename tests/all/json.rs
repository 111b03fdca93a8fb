//! JSON of counters, lists and names.

use queryport::lists::ListCompleteness;
use queryport::net::ScanIo;
use queryport::quake3::master::MasterStats;
use queryport::scan::ScanStats;
use queryport::serve::ResponderStats;
use queryport::session::QueryStats;
use queryport::{Detail, Protocol, ServerList, Verification};
use serde_json::Value;

/// The JSON of a value, which is read back from it.
macro_rules! written {
    ($value:expr) => {{
        let value = $value;
        let json = serde_json::to_value(&value).unwrap();
        assert_eq!(serde_json::from_value(json.clone()).ok(), Some(value));
        json
    }};
}

#[test]
fn counters_are_objects_and_can_be_read_back() {
    let counters = [
        written!(QueryStats::default()),
        written!(ResponderStats::default()),
        written!(MasterStats::default()),
        written!(ScanIo::default()),
        written!(ScanStats::default()),
    ];
    assert!(counters.iter().all(Value::is_object));
}

#[test]
fn names_are_words_and_can_be_read_back() {
    for protocol in Protocol::ALL {
        assert_eq!(written!(protocol), protocol.as_str());
    }
    assert_eq!(
        [written!(Detail::Short), written!(Detail::Full)],
        ["short", "full"]
    );
    assert_eq!(written!(Verification::Unverified), "unverified");
    assert_eq!(written!(ListCompleteness::Unsettled), "unsettled");
}

#[test]
fn a_list_of_servers_can_be_read_back() {
    let entry = r#"{"server": "192.0.2.1:27960", "game_port": 7777, "private_address": "10.0.0.1",
        "private_port": 29900, "ping_address": "192.0.2.1", "flags": -1, "fields": [["hostname", "Srv"]]}"#;
    let list = format!(
        r#"{{"servers": ["192.0.2.1:27960"], "completeness": "complete", "out_of_scope": 1,
        "over_limit": 2, "entries": [{entry}], "client": null, "backend_flags": 128, "announced": null}}"#
    );
    let written: Value = serde_json::from_str(&list).unwrap();
    let list: ServerList = serde_json::from_str(&list).unwrap();
    assert_eq!(written!(list), written);
}
