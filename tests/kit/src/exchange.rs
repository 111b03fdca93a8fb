//! Recorded exchanges between real servers or qstat and this crate's clients or master.
use std::path::PathBuf;

use serde_json::Value;

fn folder() -> PathBuf {
    crate::root().join("tests/vectors/quake3/exchanges")
}

/// The names of all exchanges.
pub fn names() -> Vec<String> {
    let entries = std::fs::read_dir(folder()).unwrap();
    let names: Vec<String> = entries
        .map(|entry| {
            entry
                .unwrap()
                .path()
                .file_stem()
                .unwrap()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    assert!(names.len() >= 30, "only {} exchanges", names.len());
    names
}

/// Datagrams with their senders: `client`, `server`, `master`.
pub fn exchange(name: &str) -> Vec<(String, Vec<u8>)> {
    let text = std::fs::read_to_string(folder().join(name).with_extension("json")).unwrap();
    let object: Value = serde_json::from_str(&text).unwrap();
    assert!(
        object["origin"]
            .as_str()
            .is_some_and(|origin| !origin.is_empty()),
        "{name}: origin"
    );
    let datagram = |entry: &Value| {
        (
            entry["from"].as_str().unwrap().to_owned(),
            hex::decode(entry["hex"].as_str().unwrap()).unwrap(),
        )
    };
    object["exchange"]
        .as_array()
        .unwrap()
        .iter()
        .map(datagram)
        .collect()
}

/// The datagrams of one side.
pub fn from(name: &str, who: &str) -> Vec<Vec<u8>> {
    exchange(name)
        .into_iter()
        .filter(|(sender, _)| sender == who)
        .map(|(_, datagram)| datagram)
        .collect()
}
