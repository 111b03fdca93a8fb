//! Checks that statements of documents about files, tests and layers are true.

use std::collections::BTreeSet;
use std::path::PathBuf;

use kit::files::below;
use kit::root;

use super::LAYERS;

/// The documents, and the comments of the sources. The change log is left out: it mentions files
/// that are gone.
fn documents() -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for folder in [".github", "benches", "examples", "fuzz", "src", "tests"] {
        found.extend(below(&root().join(folder), &["md", "rs"]));
    }
    found.push(root().join("README.md"));
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        let is_source = path.extension().is_some_and(|extension| extension == "rs");
        let text = if is_source {
            let lines = text
                .lines()
                .filter(|line| line.trim_start().starts_with("//"));
            lines.collect::<Vec<_>>().join("\n")
        } else {
            text
        };
        (path, text)
    };
    found.into_iter().map(read).collect()
}

/// The words of a text that look like a file of this repository.
fn files(text: &str) -> BTreeSet<&str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "/._-*<>{}…".contains(c);
    let folders = [
        "src/",
        "tests/",
        "benches/",
        "fuzz/",
        "examples/",
        ".ci/",
        ".github/",
    ];
    let kinds = [".rs", ".md", ".txt", ".toml", ".py", ".svg", ".yml"];
    text.split(|c| !is_part(c))
        .map(|word| word.trim_end_matches(['.', '…']))
        .filter(|word| folders.iter().any(|folder| word.starts_with(folder)))
        .filter(|word| word.ends_with('/') || kinds.iter().any(|kind| word.ends_with(kind)))
        .filter(|word| !word.contains(['*', '<', '>', '{', '…']) && !word.contains("/target/"))
        .collect()
}

#[test]
fn the_files_that_documents_name_are_there() {
    let (mut named, mut missing) = (0, Vec::new());
    for (document, text) in documents() {
        for file in files(&text) {
            named += 1;
            // Other packages name their files from their own folder.
            if !document
                .ancestors()
                .any(|folder| folder.join(file).exists())
            {
                missing.push(format!("{} names {file}", document.display()));
            }
        }
    }
    assert!(missing.is_empty(), "not there: {missing:#?}");
    assert!(named > 100, "found only {named} files in the documents");
}

/// Documents name a test by its file, a colon and its function.
#[test]
fn the_tests_that_documents_name_are_there() {
    let (mut count, mut missing) = (0, Vec::new());
    for (document, text) in documents() {
        let named = text
            .split('`')
            .skip(1)
            .step_by(2)
            .filter_map(|code| code.split_once(".rs: "));
        for (file, test) in named {
            let path = root().join(format!("{file}.rs"));
            let source = std::fs::read_to_string(&path).unwrap_or_default();
            if !source.contains(&format!("fn {test}(")) {
                missing.push(format!("{}: {file}.rs has no {test}", document.display()));
            }
            count += 1;
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
    assert!(count > 80, "found only {count} tests in the documents");
}

/// The registry's page resolves the README's links with the repository of Cargo.toml.
#[test]
fn the_links_of_documents_lead_somewhere() {
    for (document, text) in documents() {
        if document.starts_with(root().join("src"))
            || document.extension().is_some_and(|kind| kind == "rs")
        {
            // rustdoc checks these.
            continue;
        }
        for link in text
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split([')', ' ']).next())
        {
            if link.starts_with("https://") {
                continue;
            }
            let file = link.split('#').next().unwrap();
            assert!(
                document.parent().unwrap().join(file).exists(),
                "{}: {link}",
                document.display()
            );
        }
    }
}

/// The pages scroll sideways beyond that. Lines that start with `# ` are hidden.
#[test]
fn lines_of_examples_have_at_most_100_columns() {
    let mut long = Vec::new();
    for (document, text) in documents() {
        let is_page =
            document.starts_with(root().join("src")) || document == root().join("README.md");
        let mut fence = None;
        for line in text.lines().filter(|_| is_page) {
            let line = line
                .trim_start()
                .trim_start_matches("//!")
                .trim_start_matches("///");
            let line = line.strip_prefix(' ').unwrap_or(line);
            if let Some(kind) = line.strip_prefix("```") {
                fence = if fence.is_some() { None } else { Some(kind) };
            } else if fence.is_some_and(|kind| !["text", "sh"].contains(&kind))
                && !line.starts_with("# ")
                && line.chars().count() > 100
            {
                long.push(format!("{}: {line}", document.display()));
            }
        }
    }
    // A chapter contains it unchanged.
    let example = std::fs::read_to_string(root().join("examples/fifth_protocol/a2s.rs")).unwrap();
    long.extend(
        example
            .lines()
            .filter(|line| line.chars().count() > 100)
            .map(str::to_owned),
    );
    assert!(long.is_empty(), "{}", long.join("\n"));
}

#[test]
fn the_layers_in_documents_are_those_of_the_test() {
    for document in ["src/lib.rs", ".github/CONTRIBUTING.md"] {
        let text = std::fs::read_to_string(root().join(document)).unwrap();
        let block = text
            .split("```")
            .find(|block| block.contains("gamespy1, gamespy4, quake3, ut2004"))
            .unwrap_or_else(|| panic!("{document} has no table of layers"));
        let mut layers = vec![Vec::new(); LAYERS.len()];
        let mut layer = 0;
        for line in block.lines().skip(1) {
            let line = line.trim_start_matches("//!");
            let line = line
                .strip_prefix(' ')
                .filter(|_| document == "src/lib.rs")
                .unwrap_or(line);
            if let Some(number) = line.chars().next().and_then(|first| first.to_digit(10)) {
                layer = number as usize;
            }
            // The names are in the first column, 4 to 42.
            // The first column has 42 characters; the last layer's is all names.
            let has_text = line.chars().nth(41) == Some(' ');
            let names: String = line
                .chars()
                .take(if has_text { 42 } else { usize::MAX })
                .skip(3)
                .collect();
            let names = names.split(',').map(|name| name.trim().to_owned());
            layers[layer].extend(names.filter(|name| !name.is_empty()));
        }
        assert_eq!(layers, LAYERS, "{document}");
    }
    for module in LAYERS.concat() {
        let is_there = ["src/{}.rs", "src/{}/mod.rs"]
            .iter()
            .any(|file| root().join(file.replace("{}", module)).is_file());
        assert!(is_there, "the layers have {module}, which is not there");
    }
}
