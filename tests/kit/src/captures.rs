//! Captured answers as test vectors: the project's own in `tests/vectors`, and third-party ones in
//! the folder `QUERYPORT_CAPTURES`.

use std::path::{Path, PathBuf};

use bytes::Bytes;
use serde_json::Value;

/// One captured answer and its expected decoding.
#[derive(Debug, Clone)]
pub struct Case {
    pub name: String,
    /// The game according to the file; empty if it has none.
    pub game: String,
    pub packets: Vec<Bytes>,
    pub expect: Value,
}

/// The project's own vectors of a protocol, and the third-party captures if the variable is set.
pub fn cases(protocol: &str) -> Vec<Case> {
    let mut cases = own_cases(protocol);
    match third_party(protocol) {
        Some(theirs) => {
            println!(
                "{} own vectors and {} captures of {protocol}",
                cases.len(),
                theirs.len()
            );
            cases.extend(theirs);
        }
        None => {
            crate::not_checked(&format!(
                "captures of {protocol}: QUERYPORT_CAPTURES is not set"
            ));
        }
    }
    cases
}

/// The project's own vectors of a protocol.
pub fn own_cases(protocol: &str) -> Vec<Case> {
    let cases = read_folder(&crate::root().join("tests/vectors").join(protocol));
    assert!(
        cases.len() >= 8,
        "only {} own vectors of {protocol}",
        cases.len()
    );
    cases
}

/// The cases for which `is_wanted` holds. There is at least one, so that a loop over them tests
/// something.
pub fn some_cases(protocol: &str, is_wanted: impl Fn(&Case) -> bool) -> Vec<Case> {
    let mut cases = cases(protocol);
    cases.retain(is_wanted);
    assert!(!cases.is_empty(), "no such case of {protocol}");
    cases
}

/// The third-party captures of a protocol; `None` if the variable is not set.
pub fn third_party(protocol: &str) -> Option<Vec<Case>> {
    let folder = std::env::var_os("QUERYPORT_CAPTURES")?;
    let cases = read_folder(&PathBuf::from(folder).join(protocol));
    assert!(
        !cases.is_empty(),
        "QUERYPORT_CAPTURES is set but has no {protocol} captures"
    );
    Some(cases)
}

fn read_folder(folder: &Path) -> Vec<Case> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| {
        path.extension()
            .is_some_and(|extension| extension == "json")
    });
    paths.sort();
    paths.iter().map(|path| read(path)).collect()
}

fn read(path: &Path) -> Case {
    let text = std::fs::read_to_string(path).unwrap();
    let object: Value =
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    let packets = object["packets"]
        .as_array()
        .unwrap_or_else(|| panic!("{path:?} has no packets"));
    Case {
        name: path.file_stem().unwrap().to_string_lossy().into_owned(),
        game: object["game"].as_str().unwrap_or_default().to_owned(),
        packets: packets
            .iter()
            .map(|hex| Bytes::from(hex::decode(hex.as_str().unwrap()).unwrap()))
            .collect(),
        expect: object["expect"].clone(),
    }
}

/// Compares decoded parts (such as `rules`, `players`, `teams`, `info`) with the expected ones of a
/// case. Parts without an expectation are ignored.
pub fn check(case: &Case, actual: &Value) {
    let expect = &case.expect;
    let name = &case.name;
    if expect["complete"] == true {
        assert_eq!(actual["complete"], true, "{name}: complete");
    }
    if let Some(rules) = expect["rules"].as_array() {
        let ignored = strings(&expect["rules_ignore_keys"]);
        let kept: Vec<&Value> = actual["rules"]
            .as_array()
            .unwrap_or_else(|| panic!("{name}: no rules"))
            .iter()
            .filter(|pair| !ignored.contains(&pair[0].as_str().unwrap()))
            .collect();
        assert_eq!(kept, rules.iter().collect::<Vec<_>>(), "{name}: rules");
    }
    for part in ["players", "teams"] {
        if let Some(rows) = expect[part].as_array() {
            let ignored = strings(&expect[format!("{part}_ignore_fields")]);
            let blanks = expect[format!("{part}_blank_rows_max")]
                .as_u64()
                .unwrap_or(0) as usize;
            let mut kept: Vec<Value> = actual[part].as_array().cloned().unwrap_or_default();
            for row in &mut kept {
                row.as_object_mut()
                    .unwrap()
                    .retain(|field, _| !ignored.contains(&field.as_str()));
            }
            let is_blank = |row: &Value| {
                row.as_object()
                    .unwrap()
                    .values()
                    .all(|value| value.is_null() || value.as_str() == Some(""))
            };
            let mut extra = 0;
            while kept.len() > rows.len() && is_blank(kept.last().unwrap()) {
                kept.pop();
                extra += 1;
            }
            assert_eq!(&kept, rows, "{name}: {part}");
            assert!(extra <= blanks, "{name}: {extra} blank {part}");
        }
    }
    if let Some(info) = expect["info"].as_object() {
        let ignored = strings(&expect["info_ignore"]);
        let mut kept = actual["info"].as_object().cloned().unwrap_or_default();
        kept.retain(|field, _| !ignored.contains(&field.as_str()));
        assert_eq!(&kept, info, "{name}: info");
    }
    for key in [
        "command",
        "players_index",
        "repaired",
        "teams_index",
        "waves",
    ] {
        let (actual, expected) = (&actual[key], &expect[key]);
        // A mark that is false is not written.
        let is_absent = *expected == false && actual.is_null();
        if !expected.is_null() && !is_absent {
            assert_eq!(actual, expected, "{name}: {key}");
        }
    }
}

fn strings(value: &Value) -> Vec<&str> {
    value
        .as_array()
        .map(|list| list.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default()
}
