//! The names of counters in JSON, which programs store and compare.
use queryport::net::ScanIo;
use queryport::quake3::master::MasterStats;
use queryport::scan::ScanStats;
use queryport::serve::ResponderStats;
use queryport::session::QueryStats;
use serde_json::{Value, to_value};

#[test]
fn counters_have_their_names_in_json() {
    let of_query = ["requests", "retries", "rejected", "foreign", "late"];
    assert_eq!(names(to_value(QueryStats::default())), of_query);
    let of_scan = [
        "started",
        "answered",
        "failed",
        "not_asked",
        "requests",
        "retries",
        "datagrams",
        "bytes_sent",
        "bytes_received",
        "rejected",
        "late",
        "foreign",
    ];
    assert_eq!(names(to_value(ScanStats::default())), of_scan);
    let of_sockets = ["receive_buffer", "drops", "send_errors"];
    assert_eq!(names(to_value(ScanIo::default())), of_sockets);
    let of_responder = [
        "answered",
        "unanswered",
        "ignored",
        "refused",
        "limited_by_source",
        "limited_by_total",
        "dropped",
        "bytes_sent",
    ];
    assert_eq!(names(to_value(ResponderStats::default())), of_responder);
    let of_master = [
        "heartbeats",
        "heartbeats_refused",
        "listed",
        "unproved",
        "unusable",
        "no_room",
        "lists",
        "lists_refused",
        "ignored",
    ];
    assert_eq!(names(to_value(MasterStats::default())), of_master);
}

/// The names of an object, in its order.
fn names(object: serde_json::Result<Value>) -> Vec<String> {
    let object = object.unwrap();
    object.as_object().unwrap().keys().cloned().collect()
}
