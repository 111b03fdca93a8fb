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
mod numbers;
mod source;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

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
    &["answer", "list_reply", "lists", "ut3", "token", "writer"],
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

    // The rule of a caret and the codes that it makes; the sockets of one system and their
    // interface.
    let exceptions = ["text/caret.rs", "net/linux/batch.rs"];
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

/// Files outside the tables whose strings name an engine or a game, with the reason.
const EXCEPTIONS: &[(&str, &str)] = &[
    (
        "lists/quake3.rs",
        "a request that only this game's masters read",
    ),
    ("protocol.rs", "the name of a protocol is a game's, too"),
];

#[test]
fn only_the_tables_name_engines_and_games() {
    let is_table = |path: &Path| path.ends_with("engines.rs") || path.starts_with("games");
    let (tables, others): (Vec<Source>, Vec<Source>) = Source::all()
        .into_iter()
        .partition(|source| is_table(&source.path));
    let mut names: BTreeSet<String> = queryport::games::Game::all()
        .flat_map(|game| [Some(game.name), game.gamename])
        .flatten()
        .map(str::to_lowercase)
        .collect();
    let is_engine = |source: &&Source| source.path.ends_with("engines.rs");
    names.extend(tables.iter().filter(is_engine).flat_map(engine_names));
    names.retain(|name| name.len() >= 4);
    assert!(names.len() > 100, "found only {} names", names.len());

    let mut named = BTreeSet::new();
    for source in &others {
        for string in &source.strings {
            let string = string.to_lowercase();
            if let Some(name) = names.iter().find(|name| has_word(&string, name)) {
                named.insert(format!("{}: {name:?} in {string:?}", source.path.display()));
            }
        }
    }
    named.retain(|line| !EXCEPTIONS.iter().any(|(file, _)| line.starts_with(file)));
    assert!(named.is_empty(), "outside the tables: {named:#?}");
}

/// The names in the rows of a table of engines.
fn engine_names(table: &Source) -> Vec<String> {
    let text = std::fs::read_to_string(kit::root().join("src").join(&table.path)).unwrap();
    let names = text.split(" name: \"").skip(1);
    names
        .map(|rest| rest.split('"').next().unwrap())
        // A column of a table has a name, too, in lower case.
        .filter(|name| name.starts_with(char::is_uppercase))
        .map(str::to_lowercase)
        .filter(|name| name != "unknown")
        .collect()
}

fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(start, _)| {
        let before = text[..start].chars().next_back();
        let after = text[start + word.len()..].chars().next();
        ![before, after]
            .iter()
            .flatten()
            .any(|c| c.is_alphanumeric())
    })
}

#[test]
fn uses_and_strings_are_found() {
    let text = "use super::c::{D, e::{self, F}};\nfn f() { crate::g::h(\"\\\"x\", r#\"y\"#, '\"'); } // use crate::no\n";
    let source = Source::parse(Path::new("a/b.rs"), text);
    let uses: Vec<String> = source.uses().iter().map(|path| path.join("::")).collect();
    for wanted in ["a::c::D", "a::c::e", "a::c::e::F", "g::h"] {
        assert!(
            uses.iter().any(|path| path == wanted),
            "{wanted} in {uses:?}"
        );
    }
    assert!(!uses.iter().any(|path| path.contains("no")));
    assert_eq!(source.strings, ["\\\"x", "y"]);
}
