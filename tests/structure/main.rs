//! Checks that cargo and clippy do not make: layers, circles of files, names of engines outside the
//! tables, and the truth of documents.

mod constants;
mod documents;
mod names;
mod numbers;
mod source;

use std::collections::{BTreeMap, BTreeSet};

use source::Source;

/// The layer of the protocols, which do not use each other.
const PROTOCOLS: usize = 2;

/// The parts of a protocol: each uses parts of its own row and of the rows above.
const PARTS: [&[&str]; 4] = [
    &["engines", "wire"],
    &[
        "answer",
        "fields",
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

fn row_of(rows: &[Vec<String>], name: &str) -> Option<usize> {
    rows.iter()
        .position(|names| names.iter().any(|known| known == name))
}

/// A module uses modules of its own layer and of the layers below.
#[test]
fn uses_go_down_only() {
    let layers = documents::layers(".github/CONTRIBUTING.md");
    let parts = PARTS.map(|names| names.iter().map(|&name| name.to_owned()).collect());
    let (mut of_layers, mut of_parts) = (0, 0);
    for source in Source::all() {
        let [here, part @ ..] = &source.module[..] else {
            continue;
        };
        let layer = row_of(&layers, here).unwrap_or_else(|| panic!("{here} has no layer"));
        for used in source.uses() {
            let [there, used_part @ ..] = &used[..] else {
                continue;
            };
            let rows = if here != there {
                of_layers += 1;
                row_of(&layers, there).map(|used_layer| (layer, used_layer))
            } else if let ([part, ..], [used_part, ..], PROTOCOLS) = (part, used_part, layer) {
                of_parts += 1;
                row_of(&parts, part).zip(row_of(&parts, used_part))
            } else {
                None
            };
            let is_other_protocol = here != there && rows == Some((PROTOCOLS, PROTOCOLS));
            let goes_up = rows.is_some_and(|(row, used_row)| used_row > row);
            assert!(
                !goes_up && !is_other_protocol,
                "{} uses {}",
                source.path.display(),
                used.join("::")
            );
        }
    }
    assert!(
        of_layers > 300 && of_parts > 100,
        "found only {of_layers} and {of_parts} uses"
    );
}

#[test]
fn files_do_not_use_each_other_in_circles() {
    let sources = Source::all();
    let files: BTreeMap<&[String], usize> = (0..)
        .zip(sources)
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

    // The sockets of one system and their interface use each other.
    let exceptions = ["net/linux/batch.rs"];
    uses.retain(|file, _| {
        !exceptions
            .iter()
            .any(|name| sources[*file].path.ends_with(name))
    });
    // A file is not on a circle if it uses no remaining file, or if no remaining file uses it.
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
            let has_word = source.names.iter().any(|path| path.contains(word));
            assert!(!has_word, "{name} has {word}");
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
