//! The structure of src/: imports go down only, no circle of files, protocols do not know each other, nom stays private.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::panic,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test"
)]

mod documents;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Top modules by layer. A module can use modules of its own layer and of the layers below. The protocols are layer 2 and do
/// not use each other.
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
        "text",
        "time",
    ],
    &["model", "options", "protocol", "reply", "scan", "session"],
    &["gamespy1", "gamespy4", "quake3", "ut2004"],
    &["games", "inspect", "lan", "lists", "serve", "status_query"],
    &["guide", "net"],
];

/// A source file: its module path, and its code without comments, strings and unit tests.
struct Source {
    path: PathBuf,
    module: Vec<String>,
    code: String,
}

#[test]
fn imports_go_down_only() {
    let layer = |module: &str| LAYERS.iter().position(|modules| modules.contains(&module));
    let mut imports = 0;
    for source in sources() {
        let Some(here) = source.module.first() else {
            continue;
        };
        let mine = layer(here).unwrap_or_else(|| panic!("module {here:?} has no layer"));
        for path in source.paths() {
            let Some(there) = path.first().filter(|there| layer(there).is_some()) else {
                continue;
            };
            imports += 1;
            let theirs = layer(there).unwrap();
            let allowed = there == here || theirs < mine || (theirs == mine && mine != 2);
            assert!(
                allowed,
                "{}: {here} must not use {}",
                source.path.display(),
                path.join("::")
            );
        }
    }
    assert!(imports > 300, "found only {imports} imports");
}

#[test]
fn files_do_not_use_each_other_in_circles() {
    let sources = sources();
    let modules: BTreeMap<&[String], usize> = sources
        .iter()
        .enumerate()
        .map(|(index, source)| (&source.module[..], index))
        .collect();
    let mut edges: Vec<BTreeSet<usize>> = Vec::new();
    for (index, source) in sources.iter().enumerate() {
        let file_of = |path: &Vec<String>| {
            (0..=path.len())
                .rev()
                .find_map(|length| modules.get(&path[..length]).copied())
        };
        edges.push(
            source
                .paths()
                .iter()
                .filter_map(file_of)
                .filter(|&there| there != index)
                .collect(),
        );
    }
    assert!(
        edges.iter().map(BTreeSet::len).sum::<usize>() > 300,
        "imports are found"
    );
    // Remove files that use no remaining file, then files that no remaining file uses. The rest is on a circle.
    let mut left: BTreeSet<usize> = (0..sources.len()).collect();
    let remove = |left: &mut BTreeSet<usize>, can_go: &dyn Fn(usize, &BTreeSet<usize>) -> bool| {
        while let Some(file) = left.iter().copied().find(|&file| can_go(file, left)) {
            left.remove(&file);
        }
    };
    remove(&mut left, &|file, left| edges[file].is_disjoint(left));
    remove(&mut left, &|file, left| {
        left.iter().all(|other| !edges[*other].contains(&file))
    });
    let circles: Vec<String> = left
        .iter()
        .map(|&file| {
            let used: Vec<_> = edges[file]
                .intersection(&left)
                .map(|&there| sources[there].path.display())
                .collect();
            format!("{} uses {used:?}", sources[file].path.display())
        })
        .collect();
    assert!(
        circles.is_empty(),
        "files that import each other:\n{}",
        circles.join("\n")
    );
}

/// What the parts of a protocol may use of their own folder, as CONTRIBUTING states it.
#[test]
fn the_parts_of_a_protocol_use_each_other_in_one_direction() {
    let order: [&[&str]; 4] = [
        &["wire"],
        &["answer", "lists", "family", "ut3", "token", "writer"],
        &["to_status", "from_status", "client"],
        &["server"],
    ];
    let rank = |part: &String| {
        order
            .iter()
            .position(|parts| parts.contains(&part.as_str()))
    };
    let mut uses = 0;
    for source in sources()
        .iter()
        .filter(|source| LAYERS[2].contains(&source.module.first().map_or("", String::as_str)))
    {
        let [protocol, part, ..] = source.module.as_slice() else {
            continue;
        };
        for path in source.paths() {
            if let [other, used, ..] = path.as_slice()
                && other == protocol
                && let (Some(mine), Some(theirs)) = (rank(part), rank(used))
            {
                uses += 1;
                let name = source.path.display();
                assert!(theirs <= mine, "{name}: {part} must not use {used}");
            }
        }
    }
    assert!(uses > 100, "found only {uses} uses");
}

#[test]
fn nom_stays_out_of_public_signatures() {
    for source in sources() {
        for line in source
            .code
            .lines()
            .filter(|line| line.trim_start().starts_with("pub "))
        {
            assert!(
                !line.contains("IResult") && !line.contains("nom::"),
                "{}: {line}",
                source.path.display()
            );
        }
    }
}

#[test]
fn only_the_top_layer_has_sockets_and_clocks() {
    for source in sources()
        .iter()
        .filter(|source| source.module.first().is_none_or(|module| module != "net"))
    {
        for word in [
            "tokio::",
            "UdpSocket",
            "Instant::now",
            "SystemTime",
            "std::thread",
        ] {
            assert!(
                !source.code.contains(word),
                "{}: {word} below net",
                source.path.display()
            );
        }
    }
}

#[test]
fn the_pages_of_the_protocols_have_the_same_sections() {
    let sections = [
        "Flow",
        "Datagrams",
        "Traps",
        "Sources",
        "Fields of the status",
        "Reading a datagram",
    ];
    for protocol in LAYERS[2] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("src/{protocol}/mod.rs"));
        let page = std::fs::read_to_string(path).unwrap();
        let found: Vec<&str> = page
            .lines()
            .filter_map(|line| line.strip_prefix("//! # "))
            .filter(|title| sections.contains(title))
            .collect();
        assert_eq!(found, sections, "{protocol}");
    }
}

/// Every chapter is short, and its rows stand in the table of contents.
#[test]
fn every_chapter_of_the_guide_is_short_and_listed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/guide");
    let contents = std::fs::read_to_string(folder.join("mod.rs")).unwrap();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        if path.extension().is_some_and(|extension| extension == "md") {
            let lines = std::fs::read_to_string(&path).unwrap().lines().count();
            assert!(lines <= 150, "{name} has {lines} lines");
            assert!(
                contents.contains(&format!("]({name}) |")),
                "{name} is not in the table of contents"
            );
        }
    }
}

#[test]
fn no_file_has_a_vague_name() {
    for source in sources() {
        let name = source.path.file_stem().unwrap().to_str().unwrap();
        for vague in [
            "util", "utils", "helpers", "misc", "common", "types", "mapping",
        ] {
            assert_ne!(
                name,
                vague,
                "{}: a file is named for its subject",
                source.path.display()
            );
        }
    }
}

impl Source {
    /// The absolute module paths that the code names, in `use` declarations and elsewhere.
    fn paths(&self) -> Vec<Vec<String>> {
        let mut paths = Vec::new();
        for (start, _) in self.code.match_indices("use ") {
            let before = self.code[..start].chars().next_back();
            if before.is_none_or(|c| c.is_whitespace() || c == ')') {
                let tree = self.code[start + 4..].split(';').next().unwrap();
                expand(&[], tree, &mut |path| paths.extend(self.absolute(path)));
            }
        }
        for word in ["crate::", "super::"] {
            for (start, _) in self.code.match_indices(word) {
                let before = self.code[..start].chars().next_back();
                if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':') {
                    continue;
                }
                let text = &self.code[start..];
                let end = text
                    .find(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'))
                    .unwrap_or(text.len());
                // A group is part of a `use` tree, which was expanded above.
                if !text[..end].ends_with("::") {
                    let path: Vec<String> = text[..end].split("::").map(str::to_owned).collect();
                    paths.extend(self.absolute(&path));
                }
            }
        }
        paths
    }

    /// A path as written in this file, from the root of the crate; `None` for other crates.
    fn absolute(&self, path: &[String]) -> Option<Vec<String>> {
        let is_mod = self.path.ends_with("mod.rs") || self.path.ends_with("lib.rs");
        // The module that `super` starts from: a file that is no mod.rs is a module of its own.
        let mut base = match path.first()?.as_str() {
            "crate" => Vec::new(),
            "self" => self.module.clone(),
            "super" => self.module[..self.module.len().checked_sub(1)?].to_vec(),
            name if is_mod && self.has_child(name) => {
                let mut base = self.module.clone();
                base.push(name.to_owned());
                base
            }
            _ => return None,
        };
        for part in path.iter().skip(1).filter(|part| !part.is_empty()) {
            match part.as_str() {
                "super" => drop(base.pop()),
                "self" => {}
                name => base.push(name.to_owned()),
            }
        }
        Some(base)
    }

    fn has_child(&self, name: &str) -> bool {
        [format!("mod {name};"), format!("mod {name} ")]
            .iter()
            .any(|word| self.code.contains(word))
    }
}

/// Calls `each` with every path of a use tree.
fn expand(prefix: &[String], tree: &str, each: &mut dyn FnMut(&[String])) {
    let tree = tree.trim();
    let (head, group) = match tree.find('{') {
        Some(open) => (&tree[..open], tree[open + 1..].trim_end().strip_suffix('}')),
        None => (tree, None),
    };
    let head = head.split(" as ").next().unwrap();
    let parts = head
        .split("::")
        .map(|part| part.trim().to_owned())
        .filter(|part| !part.is_empty());
    let path: Vec<String> = prefix.iter().cloned().chain(parts).collect();
    let Some(group) = group else {
        return each(&path);
    };
    let (mut depth, mut start) = (0, 0);
    for (index, c) in group.char_indices().chain([(group.len(), ',')]) {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                if !group[start..index].trim().is_empty() {
                    expand(&path, &group[start..index], each);
                }
                start = index + 1;
            }
            _ => {}
        }
    }
}

fn sources() -> Vec<Source> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    collect(&src, &["rs"], &mut found);
    found
        .into_iter()
        .filter(|path| !path.ends_with("tests.rs"))
        .map(|path| {
            let inside = path.strip_prefix(&src).unwrap().to_owned();
            let mut module: Vec<String> = inside
                .with_extension("")
                .iter()
                .map(|part| part.to_str().unwrap().to_owned())
                .collect();
            if module
                .last()
                .is_some_and(|last| last == "mod" || last == "lib")
            {
                module.pop();
            }
            Source {
                module,
                code: code(&std::fs::read_to_string(&path).unwrap()),
                path: inside,
            }
        })
        .collect()
}

/// The files of these kinds below a folder, without what builds and fuzzing leave there and captured data.
fn collect(folder: &Path, kinds: &[&str], found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() && !["target", "vectors", "corpus", "node_modules"].contains(&name) {
            collect(&path, kinds, found);
        } else if path
            .extension()
            .is_some_and(|kind| kinds.iter().any(|wanted| kind == *wanted))
        {
            found.push(path);
        }
    }
}

/// The text without comments, string contents and items under `#[cfg(test)]`.
fn code(text: &str) -> String {
    let mut kept = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.trim() == "#[cfg(test)]" {
            let end = format!("{}}}", " ".repeat(line.len() - line.trim_start().len()));
            let is_item = |line: &&str| {
                let word = line.split_whitespace().next().unwrap_or_default();
                [
                    "mod",
                    "impl",
                    "impl<C:",
                    "pub",
                    "pub(crate)",
                    "pub(super)",
                    "use",
                    "fn",
                ]
                .contains(&word)
            };
            let item = lines.by_ref().find(is_item).unwrap_or_default();
            if !item.ends_with(';') {
                lines.by_ref().find(|line| line.trim_end() == end);
            }
            continue;
        }
        let line = line.split("//").next().unwrap();
        kept.push_str(&without_strings(line));
        kept.push('\n');
    }
    kept
}

fn without_strings(line: &str) -> String {
    line.split('"').step_by(2).collect::<Vec<_>>().join("\"\"")
}

#[test]
fn imports_are_found() {
    let source = Source {
        path: PathBuf::from("a/b.rs"),
        module: vec!["a".to_owned(), "b".to_owned()],
        code: code(
            "use super::c::{D, e::{self, F}};\nfn f() { crate::g::h(); } // use crate::no\n",
        ),
    };
    let joined: Vec<String> = source.paths().iter().map(|path| path.join("::")).collect();
    for wanted in ["a::c::D", "a::c::e", "a::c::e::F", "g::h"] {
        assert!(
            joined.iter().any(|path| path == wanted),
            "{wanted} in {joined:?}"
        );
    }
    assert!(!joined.iter().any(|path| path.contains("no")));
}
