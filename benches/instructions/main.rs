//! Counts instructions with callgrind, which is not affected by noise. Needs valgrind.
//!
//! Without arguments, it prints each count next to the one in counts.txt, and fails if one has
//! grown by more than 5 %. With `--write`, it replaces counts.txt. It also fails if the work for
//! one of the worst inputs grows faster than its length.
//!
//! A profile of one case:
//!
//! ```text
//! valgrind --tool=callgrind --collect-atstart=no '--toggle-collect=*cases::written*' \
//!     benches/instructions/target/release/instructions --run "quake3 full status"
//! ```
#![allow(
    missing_docs,
    clippy::arithmetic_side_effects,
    clippy::cast_precision_loss,
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    unreachable_pub,
    reason = "a benchmark"
)]

mod cases;
mod datagrams;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, ExitCode};

/// The reference counts: the compiler's version in the first line, then a count and its name per
/// line.
const COUNTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/counts.txt");

/// How much a count may grow.
const BOUND: f64 = 1.05;
/// How much the count of a worst input may grow: copying large buffers depends on their alignment.
const WORST_BOUND: f64 = 1.25;

fn main() -> ExitCode {
    let argument = std::env::args().nth(1);
    if argument.as_deref() == Some("--run") {
        cases::run();
        worst::run(cases::counted);
        return ExitCode::SUCCESS;
    }
    let mut counts = count();
    let is_linear = worst::table(&mut counts);
    let compiler = compiler();
    if argument.as_deref() == Some("--write") {
        let lines = counts
            .iter()
            .map(|(name, count)| format!("{count:>10} {name}\n"));
        std::fs::write(COUNTS, format!("{compiler}\n{}", lines.collect::<String>()))
            .expect("counts.txt");
        return ExitCode::SUCCESS;
    }
    let before = std::fs::read_to_string(COUNTS).unwrap_or_default();
    let mut before = before.lines();
    let is_comparable = before.next() == Some(&compiler);
    let before: BTreeMap<&str, u64> = before
        .filter_map(|line| line.trim_start().split_once(' '))
        .map(|(count, name)| (name, count.parse().expect("a count")))
        .collect();
    let mut grown = 0;
    println!("| what | before | now | now / before |\n|---|---|---|---|");
    for (name, count) in &counts {
        let Some(&old) = before.get(name.as_str()) else {
            println!("| {name} | | {count} | |");
            continue;
        };
        let ratio = *count as f64 / old as f64;
        let bound = if name.starts_with(worst::MARK) {
            WORST_BOUND
        } else {
            BOUND
        };
        let mark = if ratio > bound { " **grown**" } else { "" };
        println!("| {name} | {old} | {count} | {ratio:.3}{mark} |");
        grown += u32::from(ratio > bound);
    }
    if !is_linear {
        eprintln!(
            "four times the input costs more than 5.5 times the work"
        );
        return ExitCode::FAILURE;
    }
    if !is_comparable {
        println!(
            "counts.txt was written with another compiler, so nothing fails: this is {compiler}"
        );
    } else if grown > 0 {
        eprintln!(
            "{grown} counts have grown by more than their bound: find out why, or write counts.txt anew with --write"
        );
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn compiler() -> String {
    let output = Command::new("rustc")
        .arg("--version")
        .output()
        .expect("rustc");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// Runs all cases under callgrind, which writes a file for each.
fn count() -> Vec<(String, u64)> {
    let own = std::env::current_exe().expect("a path");
    let folder = own.with_file_name("callgrind");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = |index: usize| match index {
        0 => folder.join("out"),
        index => folder.join(format!("out.{index}")),
    };
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--collect-atstart=no"])
        .args([
            "--toggle-collect=*cases::counted*",
            "--dump-after=*cases::written*",
        ])
        .arg(format!("--callgrind-out-file={}", file(0).display()))
        .arg(own)
        .arg("--run")
        .output()
        .expect("valgrind");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let names = String::from_utf8(output.stdout).expect("names");
    names
        .lines()
        .enumerate()
        .map(|(index, name)| (name.to_owned(), total(&file(index + 1))))
        .collect()
}

/// The count in a file of callgrind.
fn total(file: &Path) -> u64 {
    let text =
        std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let total = text
        .lines()
        .rev()
        .find_map(|line| line.strip_prefix("totals: "));
    total
        .and_then(|total| total.trim().parse().ok())
        .expect("a total")
}
