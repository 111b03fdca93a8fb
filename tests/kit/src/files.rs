//! Files of the repository.

use std::path::{Path, PathBuf};

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
