//! Checks that the files, tests and links that documents name are there.

use std::collections::BTreeSet;
use std::path::PathBuf;

use kit::files::below;
use kit::root;

/// The documents, the vectors, and the comments of the sources. The change log is left out: it mentions files
/// that are gone.
fn documents() -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for folder in [".github", "benches", "examples", "fuzz", "src", "tests"] {
        found.extend(below(&root().join(folder), &["md", "rs"]));
    }
    found.extend(below(&root().join("tests/vectors"), &["json"]));
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

/// Documents name a test by its file and its function, both in backticks, with a colon between them.
#[test]
fn the_tests_that_documents_name_are_there() {
    let (mut count, mut missing) = (0, Vec::new());
    for (document, text) in documents() {
        let parts: Vec<&str> = text.split('`').collect();
        for part in parts.windows(3) {
            let [file, colon, function] = [part[0], part[1].trim(), part[2]];
            if colon != ":" || !file.ends_with(".rs") {
                continue;
            }
            count += 1;
            let source = std::fs::read_to_string(root().join(file)).unwrap_or_default();
            if !source.contains(&format!("fn {function}(")) {
                missing.push(format!("{}: {file} has no {function}", document.display()));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
    assert!(count > 20, "found only {count} tests in the documents");
}

/// Scripts rely on them, so the README states them as the program's help does.
#[test]
fn the_readme_states_the_exit_statuses() {
    let read = |file: &str| std::fs::read_to_string(root().join(file)).unwrap();
    let readme = read("README.md")
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    let stated =
        "0 for success, 1 for a failure, 2 for a wrong command line and 3 for an incomplete answer";
    assert!(readme.contains(stated), "{stated}");
    let help = "0 success, 1 failure (no usable answer, unknown host, bad file),\\n2 wrong command line, 3 incomplete answer";
    assert!(
        read("examples/shared/command_line.rs").contains(help),
        "{help}"
    );
}

/// The registry's page resolves the README's links with the repository of Cargo.toml.
#[test]
fn the_links_of_documents_lead_somewhere() {
    let mut count = 0;
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
            count += 1;
            let file = link.split('#').next().unwrap();
            assert!(
                document.parent().unwrap().join(file).exists(),
                "{}: {link}",
                document.display()
            );
        }
    }
    assert!(count > 0, "no links were found");
}
