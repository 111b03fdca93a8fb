//! Files of the repository.

use std::collections::BTreeMap;
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

/// The names in a document's table whose header begins so, each with the number of its row.
pub fn numbered_names(document: &str, header: &str) -> BTreeMap<String, usize> {
    let text = std::fs::read_to_string(root().join(document)).unwrap();
    let (_, table) = text.split_once(header).unwrap();
    let lines = table.lines().skip(2);
    let lines = lines.map(|line| line.trim_start_matches("//! "));
    let mut numbered = BTreeMap::new();
    for row in lines.map_while(|line| line.strip_prefix("| ")) {
        let mut cells = row.split(" | ");
        let number = cells.next().unwrap().parse().unwrap();
        for name in cells.next().unwrap().split(", ") {
            numbered.insert(name.trim_matches('`').to_owned(), number);
        }
    }
    numbered
}
