//! Checks that cargo and clippy do not make: layers, circles of files, names of engines outside the
//! tables, and the truth of documents.

mod constants;
mod documents;
mod names;
mod numbers;
mod source;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use source::Source;

/// The layer of the protocols, which do not use each other.
const PROTOCOLS: usize = 2;

/// The parts of a protocol: each uses parts of its own row and of the rows above.
const PARTS: [&str; 4] = [
    "engines wire",
    "answer fields list_reply lists names player_lines players served teams ut3 token values writer",
    "to_status from_status client",
    "server",
];

/// A module uses modules of its own layer and of the layers below.
#[test]
fn uses_go_down_only() {
    let layers = documents::layers(".github/CONTRIBUTING.md");
    let layer_of = |name: &String| layers.iter().position(|names| names.contains(name));
    let part_of = |name: &String| {
        let mut rows = PARTS.iter();
        rows.position(|row| row.split(' ').any(|known| known == name))
    };
    let (mut of_layers, mut of_parts) = (0, 0);
    for source in Source::all() {
        let file = source.file.display();
        let [here, part @ ..] = &source.module[..] else {
            continue;
        };
        let layer = layer_of(here).unwrap_or_else(|| panic!("{here} has no layer"));
        for used in source.uses() {
            let [there, used_part @ ..] = &used[..] else {
                continue;
            };
            let goes_down = if here != there {
                of_layers += 1;
                let is_below = |used| used < layer || (used == layer && layer != PROTOCOLS);
                layer_of(there).is_none_or(is_below)
            } else if let ([part, ..], [used_part, ..], PROTOCOLS) = (part, used_part, layer) {
                of_parts += 1;
                let rows = part_of(part).zip(part_of(used_part));
                rows.is_none_or(|(row, used_row)| used_row <= row)
            } else {
                true
            };
            assert!(goes_down, "{file} uses {}", used.join("::"));
        }
        // Clippy forbids clocks, see `.clippy.toml`.
        let is_of_system = |path: &&String| {
            let words = ["tokio::", "UdpSocket", "std::thread"];
            words.iter().any(|word| path.contains(word))
        };
        let of_system = source.paths.iter().find(is_of_system);
        assert!(
            here == "net" || of_system.is_none(),
            "{file}: {of_system:?}"
        );
    }
    assert!(
        of_layers > 300 && of_parts > 100,
        "found only {of_layers} and {of_parts} uses"
    );
}

#[test]
fn files_do_not_use_each_other_in_circles() {
    // A path begins with the path of its module, and goes on to an item.
    let file_of = |path: Vec<String>| {
        let modules = Source::all().iter();
        let modules = modules.filter(|source| path.starts_with(&source.module));
        modules.max_by_key(|source| source.module.len())
    };
    let mut uses: BTreeMap<&Path, BTreeSet<&Path>> = BTreeMap::new();
    for source in Source::all() {
        let used = source.uses().filter_map(file_of);
        let used = used.map(|used| &*used.file);
        uses.insert(
            &source.file,
            used.filter(|used| *used != source.file).collect(),
        );
    }
    let count: usize = uses.values().map(BTreeSet::len).sum();
    assert!(count > 300, "found only {count} uses");

    // The sockets of one system and their interface use each other.
    uses.remove(Path::new("net/linux/batch.rs"));
    // A file that uses none of the remaining files is on no circle.
    loop {
        let remaining: BTreeSet<&Path> = uses.keys().copied().collect();
        uses.retain(|_, used| !used.is_disjoint(&remaining));
        if uses.len() == remaining.len() {
            break;
        }
    }
    let mut circle = Vec::new();
    let mut next = uses.keys().next();
    while let Some(file) = next.filter(|file| !circle.contains(file)) {
        circle.push(file);
        next = uses[file].iter().find(|used| uses.contains_key(*used));
    }
    assert!(circle.is_empty(), "each uses the next one: {circle:#?}");
}
