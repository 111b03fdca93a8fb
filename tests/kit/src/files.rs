//! Files of the repository.

use std::path::{Path, PathBuf};

use crate::root;

/// The files of these kinds in a folder, without captured data and the output of builds and
/// fuzzing.
pub fn below(folder: &Path, kinds: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        let is_data = ["target", "vectors", "corpus", "node_modules"].contains(&name);
        let kind = path.extension().and_then(|kind| kind.to_str());
        if path.is_dir() && !is_data {
            found.extend(below(&path, kinds));
        } else if kind.is_some_and(|kind| kinds.contains(&kind)) {
            found.push(path);
        }
    }
    found
}

/// The texts of the files of these kinds in a folder of the repository, with their paths from it.
pub fn texts_below(folder: &str, kinds: &[&str]) -> Vec<(String, String)> {
    let folder = root().join(folder);
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        let name = path.strip_prefix(&folder).unwrap();
        (name.to_str().unwrap().to_owned(), text)
    };
    below(&folder, kinds).into_iter().map(read).collect()
}

/// The modules of each layer in a document's table, from the lowest layer.
pub fn layers(document: &str) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(root().join(document)).unwrap();
    let names_of = |line: &str| {
        let mut cells = line.trim_start_matches("//! ").split('|').map(str::trim);
        let _number: u8 = cells.nth(1)?.parse().ok()?;
        let names = cells.next()?.split(", ");
        Some(
            names
                .map(|name| name.trim_matches('`').to_owned())
                .collect(),
        )
    };
    text.lines().rev().filter_map(names_of).collect()
}
