//! Checks that cargo and clippy do not make: layers, circles of files, names of engines outside the
//! tables, and the truth of documents.
#![allow(
    missing_docs,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "a test"
)]

mod constants;
mod documents;
mod names;
mod numbers;
mod source;

use std::collections::{BTreeMap, BTreeSet};

use source::Source;

/// Top modules by layer. A module uses modules of its own layer and of the layers below. The
/// protocols are layer 2 and do not use each other.
const LAYERS: [&[&str]; 5] = [
    &[
        "address",
        "bucket",
        "error",
        "exclusive",
        "game_key",
        "grammar",
        "limits",
        "secret",
        "sketch",
        "text",
        "time",
        "token",
    ],
    &[
        "model", "options", "protocol", "reply", "scan", "service", "session",
    ],
    &["gamespy1", "gamespy4", "quake3", "ut2004"],
    &["games", "inspect", "lan", "lists", "serve", "status_query"],
    &["guide", "net"],
];

/// The parts of a protocol: each uses parts of its own row and of the rows above.
const PARTS: [&[&str]; 4] = [
    &["engines", "wire"],
    &[
        "answer",
        "list_reply",
        "lists",
        "served",
        "ut3",
        "token",
        "writer",
    ],
    &["to_status", "from_status", "client"],
    &["server"],
];

fn row_of(table: &[&[&str]], name: &str) -> Option<usize> {
    table.iter().position(|names| names.contains(&name))
}

#[test]
fn imports_go_down_only() {
    let mut imports = 0;
    for source in Source::all() {
        let Some(here) = source.module.first() else {
            continue;
        };
        let layer = row_of(&LAYERS, here).unwrap_or_else(|| panic!("{here} has no layer"));
        for used in source.uses() {
            let Some(there) = used.first().filter(|&name| name != here) else {
                continue;
            };
            let Some(lower) = row_of(&LAYERS, there) else {
                continue;
            };
            imports += 1;
            let is_other_protocol = lower == layer && LAYERS[2].contains(&here.as_str());
            let name = source.path.display();
            assert!(
                lower <= layer && !is_other_protocol,
                "{name} uses {}",
                used.join("::")
            );
        }
    }
    assert!(imports > 300, "found only {imports} imports");
}

#[test]
fn the_parts_of_a_protocol_use_each_other_in_one_direction() {
    let mut uses = 0;
    for source in Source::all() {
        let [protocol, part, ..] = &source.module[..] else {
            continue;
        };
        for used in source.uses() {
            let [there, used_part, ..] = &used[..] else {
                continue;
            };
            let rows = (row_of(&PARTS, part), row_of(&PARTS, used_part));
            let is_protocol = there == protocol && LAYERS[2].contains(&protocol.as_str());
            let (true, (Some(row), Some(used_row))) = (is_protocol, rows) else {
                continue;
            };
            uses += 1;
            let name = source.path.display();
            assert!(used_row <= row, "{name} uses {used_part}");
        }
    }
    assert!(uses > 100, "found only {uses} uses");
}

#[test]
fn files_do_not_use_each_other_in_circles() {
    let sources = Source::all();
    let files: BTreeMap<&[String], usize> = (0..)
        .zip(&sources)
        .map(|(index, source)| (&source.module[..], index))
        .collect();
    let file_of = |path: &[String]| {
        let mut lengths = (0..=path.len()).rev();
        lengths.find_map(|length| files.get(&path[..length]).copied())
    };
    let mut uses: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for (index, source) in sources.iter().enumerate() {
        let used = source.uses().into_iter().filter_map(|path| file_of(&path));
        uses.insert(index, used.filter(|&file| file != index).collect());
    }
    let count: usize = uses.values().map(BTreeSet::len).sum();
    assert!(count > 300, "found only {count} uses");

    // The sockets of one system and their interface.
    let exceptions = ["net/linux/batch.rs"];
    uses.retain(|file, _| {
        !exceptions
            .iter()
            .any(|name| sources[*file].path.ends_with(name))
    });
    // A file that uses none of those left, or that none of them uses, is on no circle.
    loop {
        let used: BTreeSet<usize> = uses.values().flatten().copied().collect();
        let before = uses.len();
        uses.retain(|file, uses| used.contains(file) && !uses.is_empty());
        let left: BTreeSet<usize> = uses.keys().copied().collect();
        uses.values_mut()
            .for_each(|uses| uses.retain(|file| left.contains(file)));
        if uses.len() == before {
            break;
        }
    }
    let name = |file: &usize| sources[*file].path.display();
    for (file, used) in &uses {
        let used: Vec<String> = used.iter().map(|file| name(file).to_string()).collect();
        println!("{} uses {}", name(file), used.join(", "));
    }
    assert!(uses.is_empty(), "these files are on a circle");
}

#[test]
fn only_the_top_layer_has_sockets_clocks_and_threads() {
    for source in Source::all() {
        if source.module.first().is_some_and(|module| module == "net") {
            continue;
        }
        for word in [
            "tokio::",
            "UdpSocket",
            "Instant::now",
            "SystemTime",
            "std::thread",
        ] {
            let name = source.path.display();
            assert!(!source.code.contains(word), "{name} has {word}");
        }
    }
}

#[test]
fn few_modules_are_included_by_path() {
    let mut paths = Vec::new();
    for folder in ["benches", "examples", "fuzz", "src", "tests"] {
        for file in kit::files::below(&kit::root().join(folder), &["rs"]) {
            let text = std::fs::read_to_string(&file).unwrap();
            let count = text
                .lines()
                .filter(|line| line.trim().starts_with("#[path"))
                .count();
            paths.extend(std::iter::repeat_n(file, count));
        }
    }
    assert!(paths.len() <= 10, "{paths:#?}");
}
