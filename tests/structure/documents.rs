//! What documents state about files, tests, layers and bounds is true.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::time::Duration;

use queryport::serve::GuardOptions;
use queryport::{Limits, ScanOptions, Timing};

use super::{LAYERS, collect};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The documents and, of the sources, the comments. The change log tells of files that are gone.
fn documents() -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for folder in [".github", "benches", "examples", "fuzz", "src", "tests"] {
        collect(&root().join(folder), &["md", "rs"], &mut found);
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
            // Packages of their own name their files from their own folder.
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
    assert!(count > 100, "found only {count} tests in the documents");
}

/// The registry's page shows README.md without the repository beside it.
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
            let is_readme = document == root().join("README.md");
            assert!(
                !is_readme || link.starts_with('#'),
                "README.md: {link} leads nowhere from a registry's page"
            );
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
fn lines_of_examples_have_at_most_88_columns() {
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
                && line.chars().count() > 88
            {
                long.push(format!("{}: {line}", document.display()));
            }
        }
    }
    // A chapter has it as it is.
    let example = std::fs::read_to_string(root().join("examples/fifth_protocol/a2s.rs")).unwrap();
    long.extend(
        example
            .lines()
            .filter(|line| line.chars().count() > 88)
            .map(str::to_owned),
    );
    assert!(long.is_empty(), "{}", long.join("\n"));
}

/// A user finds every public type from the front page, README, the guide or an example.
#[test]
fn every_public_type_is_named_in_the_guide_or_an_example() {
    let is_guide = |path: &Path| {
        let path = path.strip_prefix(root()).unwrap();
        path == Path::new("README.md")
            || path == Path::new("src/lib.rs")
            || path.starts_with("src/guide")
    };
    let mut text: String = documents()
        .into_iter()
        .filter(|(path, _)| is_guide(path))
        .map(|(_, text)| text)
        .collect();
    let mut examples = Vec::new();
    collect(&root().join("examples"), &["rs"], &mut examples);
    examples
        .iter()
        .for_each(|example| text += &std::fs::read_to_string(example).unwrap());
    let words: BTreeSet<&str> = text
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .collect();

    let listing = std::fs::read_to_string(root().join(".ci/public-api.txt")).unwrap();
    let types = listing.lines().filter_map(|line| {
        let line = line.rsplit("] ").next().unwrap();
        let kinds = ["struct", "enum", "trait", "type"];
        let path = kinds
            .iter()
            .find_map(|kind| line.strip_prefix(&format!("pub {kind} ")))?;
        let path = path
            .split(['<', '(', ' ', ';'])
            .next()
            .unwrap()
            .trim_end_matches(':');
        // Associated types are part of their trait.
        let (module, name) = path.rsplit_once("::")?;
        let owner = module.rsplit("::").next().unwrap();
        owner.starts_with(char::is_lowercase).then_some(name)
    });
    let types: Vec<&str> = types.collect();
    assert!(types.len() > 100, "found only {} types", types.len());
    let missing: Vec<&&str> = types
        .iter()
        .filter(|name| !words.contains(**name))
        .collect();
    assert!(missing.is_empty(), "no document names {missing:?}");
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

/// The ranges and defaults of options in prose, each made from what the option does with values out of range.
#[test]
fn the_bounds_in_documents_are_those_of_the_options() {
    const MAX: Duration = Duration::MAX;
    let (timing, limits) = (Timing::default(), Limits::default());
    let (scan, guard) = (ScanOptions::default(), GuardOptions::default());
    let times = |least: Timing, most: Timing, field: &str| {
        let of = |timing| time(Duration::from_micros(number(&timing, field) as u64));
        format!("{}–{}, default {}", of(least), of(most), of(timing))
    };
    let counts = |least: Limits, most: Limits, field: &str| {
        let of = |limits| count(number(&limits, field));
        format!("{}–{}, default {}", of(least), of(most), of(limits))
    };
    let timing_file = "src/session/timing.rs";
    let window = [scan.with_window(0), scan.with_window(usize::MAX), scan]
        .map(|options| count(number(&options, "window")));
    let facts = [
        (
            timing_file,
            times(
                timing.with_timeout(Duration::ZERO),
                timing.with_timeout(MAX),
                "timeout",
            ),
        ),
        (
            timing_file,
            times(
                timing.with_retry_after(Duration::ZERO),
                timing.with_retry_after(MAX),
                "retry_after",
            ),
        ),
        (
            timing_file,
            times(
                timing.with_quiet(Duration::ZERO),
                timing.with_quiet(MAX),
                "quiet",
            ),
        ),
        (
            timing_file,
            times(
                timing.with_grace(Duration::ZERO),
                timing.with_grace(MAX),
                "grace",
            ),
        ),
        (
            timing_file,
            format!(
                "0–{}, default {}",
                timing.with_retries(u8::MAX).retries(),
                timing.retries()
            ),
        ),
        (
            timing_file,
            format!(
                "1–{}, default {}",
                timing.with_max_steps(u8::MAX).max_steps(),
                timing.max_steps()
            ),
        ),
        (
            timing_file,
            format!(
                "four times as long, {} by default",
                time(4 * timing.timeout())
            ),
        ),
        (
            "src/limits.rs",
            counts(
                limits.with_max_rules(0),
                limits.with_max_rules(u16::MAX),
                "rules",
            ),
        ),
        (
            "src/limits.rs",
            counts(
                limits.with_max_players(0),
                limits.with_max_players(u16::MAX),
                "players",
            ),
        ),
        (
            "src/limits.rs",
            counts(
                limits.with_max_fragments(0),
                limits.with_max_fragments(u16::MAX),
                "fragments",
            ),
        ),
        (
            "src/limits.rs",
            counts(
                limits.with_max_servers(0),
                limits.with_max_servers(u32::MAX),
                "servers",
            ),
        ),
        (
            "src/limits.rs",
            format!(
                "{}–{}, default {}",
                bytes(number(&limits.with_max_answer_bytes(0), "answer_bytes")),
                bytes(number(
                    &limits.with_max_answer_bytes(u32::MAX),
                    "answer_bytes"
                )),
                bytes(number(&limits, "answer_bytes")),
            ),
        ),
        (
            "src/scan/options.rs",
            format!("{}–{}, default {}", window[0], window[1], window[2]),
        ),
        (
            "src/serve/guard.rs",
            format!(
                "one source, default {}",
                bytes(guard.bytes_per_second as usize)
            ),
        ),
        (
            "src/serve/guard.rs",
            format!("at once, default {}", bytes(guard.burst as usize)),
        ),
        (
            "src/serve/guard.rs",
            format!(
                "all sources, default {}",
                bytes(guard.total_bytes_per_second as usize)
            ),
        ),
        (
            "src/guide/threat_model.md",
            format!(
                "{}, then {}/s",
                bytes(guard.burst as usize),
                bytes(guard.bytes_per_second as usize)
            ),
        ),
        (
            "README.md",
            format!(
                "one address ends after {} (`Timing`)",
                time(timing.timeout())
            ),
        ),
        (
            "README.md",
            format!("a scan after {} once", time(4 * timing.timeout())),
        ),
    ];
    for (document, fact) in facts {
        let text = std::fs::read_to_string(root().join(document)).unwrap();
        let words: Vec<&str> = text
            .split_whitespace()
            .filter(|word| *word != "///")
            .collect();
        assert!(
            words.join(" ").contains(&fact),
            "{document} does not say {fact:?}"
        );
    }
}

/// The value of a field of options that only setters change, as `Debug` shows it.
fn number(options: &impl Debug, field: &str) -> usize {
    let shown = format!("{options:?}");
    let (_, value) = shown
        .split_once(&format!(" {field}: "))
        .unwrap_or_else(|| panic!("{field} of {shown}"));
    let digits = value
        .trim_start_matches("Micros(")
        .split(|character: char| !character.is_ascii_digit());
    digits
        .take(1)
        .map(|digits| digits.parse::<usize>().unwrap())
        .sum()
}

fn time(time: Duration) -> String {
    match time.as_millis() {
        millis if millis % 60_000 == 0 => format!("{} min", millis / 60_000),
        millis if millis < 1_000 => format!("{millis} ms"),
        _ => format!("{} s", time.as_secs_f64()),
    }
}

fn count(count: usize) -> String {
    let (millions, thousands, ones) = (count / 1_000_000, count / 1_000 % 1_000, count % 1_000);
    match (millions, thousands) {
        (0, 0) => ones.to_string(),
        (0, _) => format!("{thousands},{ones:03}"),
        _ => format!("{millions},{thousands:03},{ones:03}"),
    }
}

fn bytes(bytes: usize) -> String {
    if bytes.is_multiple_of(1 << 20) {
        format!("{} MiB", bytes >> 20)
    } else {
        format!("{} KiB", bytes >> 10)
    }
}
