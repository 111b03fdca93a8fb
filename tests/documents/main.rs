//! Checks that statements of documents about files, tests, layers and numbers are true.

mod constants;
mod numbers;

use std::collections::BTreeSet;
use std::path::PathBuf;

use kit::files::{below, numbered_names, texts_below};
use kit::root;

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

#[test]
fn the_tests_that_documents_name_are_there() {
    let (mut count, mut missing) = (0, Vec::new());
    for (document, text) in documents() {
        for TestName { file, function } in test_names(&text) {
            let source = std::fs::read_to_string(root().join(&file)).unwrap_or_default();
            if !source.contains(&format!("fn {function}(")) {
                missing.push(format!("{}: {file} has no {function}", document.display()));
            }
            count += 1;
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
    assert!(count > 80, "found only {count} tests in the documents");
}

/// A test that a document names.
#[derive(Debug, PartialEq)]
struct TestName {
    file: String,
    function: String,
}

/// Prose names a test by its file and its function, both in backticks, with a colon between them.
/// Blocks of code and output name none.
fn test_names(text: &str) -> Vec<TestName> {
    let prose: Vec<&str> = lines(text)
        .into_iter()
        .filter(|line| line.block.is_none())
        .map(|line| line.text)
        .collect();
    let prose = prose.join("\n");
    let parts: Vec<&str> = prose.split('`').collect();
    parts
        .windows(3)
        .filter(|part| part[0].ends_with(".rs") && part[1].trim() == ":")
        .map(|part| TestName {
            file: part[0].to_owned(),
            function: part[2].to_owned(),
        })
        .collect()
}

#[test]
fn a_block_names_no_tests() {
    let text = "`tests/a.rs`: `b`\n```text\n`src/c.rs`: `d`\n```\n`tests/e.rs`: `f`\n";
    let name = |file: &str, function: &str| TestName {
        file: file.to_owned(),
        function: function.to_owned(),
    };
    assert_eq!(
        test_names(text),
        [name("tests/a.rs", "b"), name("tests/e.rs", "f")]
    );
}

/// A line of a document, without the mark of a doc comment.
struct Line<'a> {
    /// The language of the fenced block around it, such as `text`.
    block: Option<&'a str>,
    text: &'a str,
}

fn lines(text: &str) -> Vec<Line<'_>> {
    let (mut block, mut lines) = (None, Vec::new());
    for line in text.lines() {
        let is_comment = line.trim_start().starts_with("//");
        let text = if is_comment {
            let comment = line.trim_start().trim_start_matches("//!");
            let comment = comment.trim_start_matches("///");
            comment.strip_prefix(' ').unwrap_or(comment)
        } else {
            line
        };
        match text.trim_start().strip_prefix("```") {
            Some(_) if block.is_some() => block = None,
            Some(kind) => block = Some(kind),
            None => lines.push(Line { block, text }),
        }
    }
    lines
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

/// The pages scroll sideways beyond that. Lines that start with `# ` are hidden.
#[test]
fn lines_of_examples_have_at_most_100_columns() {
    let (mut count, mut long) = (0, Vec::new());
    for (document, text) in documents() {
        let is_page =
            document.starts_with(root().join("src")) || document == root().join("README.md");
        let in_examples = lines(&text).into_iter().filter(|line| {
            let is_example = line
                .block
                .is_some_and(|kind| !["text", "sh"].contains(&kind));
            is_page && is_example && !line.text.starts_with("# ")
        });
        for Line { text, .. } in in_examples {
            count += 1;
            if text.chars().count() > 100 {
                long.push(format!("{}: {text}", document.display()));
            }
        }
    }
    assert!(count > 1000, "found only {count} lines of examples");
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
fn no_module_is_included_by_path() {
    for folder in ["benches", "examples", "fuzz", "src", "tests"] {
        for (file, text) in texts_below(folder, &["rs"]) {
            let mut lines = text.lines().map(str::trim);
            let is_included = lines.any(|line| line.starts_with("#[path"));
            assert!(!is_included, "{folder}/{file}");
        }
    }
}

#[test]
fn every_module_of_the_layers_is_there() {
    let stated = numbered_names(".github/CONTRIBUTING.md", "| layer |");
    for module in stated.into_keys() {
        let is_there = ["src/{}.rs", "src/{}/mod.rs"]
            .iter()
            .any(|file| root().join(file.replace("{}", &module)).is_file());
        assert!(is_there, "the layers have {module}, which is not there");
    }
}
