//! Numbers that documents state are those of the options.

use std::fmt::Debug;
use std::time::{Duration, Instant};

use kit::root;
use queryport::quake3::master::{Master, Options};
use queryport::serve::GuardOptions;
use queryport::{Limits, ScanOptions, Secret, Timing};

/// The ranges and defaults of options in prose, each derived from how the option treats values out
/// of range.
#[test]
fn the_bounds_in_documents_are_those_of_the_options() {
    const MAX: Duration = Duration::MAX;
    let (timing, limits) = (Timing::default(), Limits::default());
    let (scan, guard) = (ScanOptions::default(), GuardOptions::default());
    let times = |least: Timing, most: Timing, field: &str| {
        let of = |timing| time(duration(&timing, field));
        format!("{}–{}, default {}", of(least), of(most), of(timing))
    };
    let counts = |least: Limits, most: Limits, field: &str| {
        let of = |limits| count(number(&limits, field));
        format!("{}–{}, default {}", of(least), of(most), of(limits))
    };
    let timing_file = "src/session/timing.rs";
    let window = [scan.with_window(0), scan.with_window(usize::MAX), scan]
        .map(|options| count(number(&options, "window")));
    let range = |least: ScanOptions, most: ScanOptions, field: &str| {
        let of = |options| count(number(&options, field));
        format!("{}–{}", of(least), of(most))
    };
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
            "src/scan/options.rs",
            format!(
                "sent per second: {}",
                range(
                    scan.with_rate(Some(0)),
                    scan.with_rate(Some(u32::MAX)),
                    "rate"
                )
            ),
        ),
        (
            "src/scan/options.rs",
            format!(
                "bytes per second: {}",
                range(
                    scan.with_bytes_per_second(Some(0)),
                    scan.with_bytes_per_second(Some(u64::MAX)),
                    "bytes_per_second"
                )
            ),
        ),
        (
            "src/scan/options.rs",
            format!(
                "requests: {} bytes",
                range(
                    scan.with_receive_buffer(Some(0)),
                    scan.with_receive_buffer(Some(u32::MAX)),
                    "receive_buffer"
                )
            ),
        ),
        (
            "src/scan/options.rs",
            format!(
                "to one host: {}",
                range(
                    scan.with_per_host(Some(0)),
                    scan.with_per_host(Some(u16::MAX)),
                    "per_host"
                )
            ),
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
    ];
    let mut missing = Vec::new();
    for (document, fact) in facts {
        let text = std::fs::read_to_string(root().join(document)).unwrap();
        let words: Vec<&str> = text
            .split_whitespace()
            .filter(|word| *word != "///")
            .collect();
        if !words.join(" ").contains(&fact) {
            missing.push(format!("{document} does not say {fact:?}"));
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

/// The minimum Rust version, and a master's memory without servers in tens of KiB.
#[test]
#[allow(clippy::disallowed_methods, reason = "any time will do")]
fn documents_state_the_rust_version_and_the_memory_of_a_master() {
    let read = |file: &str| std::fs::read_to_string(root().join(file)).unwrap();
    let manifest = read("Cargo.toml");
    let (_, version) = manifest.split_once("rust-version = \"").unwrap();
    let (version, _) = version.split_once('"').unwrap();
    let mut options = Options::default();
    options.max_servers = 0;
    let master = Master::new(Secret::new([1; 16]), options, Instant::now());
    let memory = (master.memory_bound() / 1024 + 5) / 10 * 10;
    for (document, fact) in [
        ("README.md", format!("Rust {version} or newer")),
        ("README.md", format!("rust-{version}%2B")),
        (
            "src/guide/threat_model.md",
            format!("about {memory} KiB (`Master::memory_bound`)"),
        ),
    ] {
        assert!(read(document).contains(&fact), "{document}: {fact}");
    }
}

/// A field of options that only setters change, as `Debug` shows it, and what comes after it.
fn field_of(options: &impl Debug, field: &str) -> String {
    let shown = format!("{options:?}");
    let (_, value) = shown
        .split_once(&format!(" {field}: "))
        .unwrap_or_else(|| panic!("{field} of {shown}"));
    value.to_owned()
}

fn duration(options: &impl Debug, field: &str) -> Duration {
    let value = field_of(options, field);
    let text = value.split([',', ' ']).next().unwrap_or_default();
    match text.strip_suffix("ms") {
        Some(millis) => Duration::from_millis(millis.parse().unwrap()),
        None => Duration::from_secs_f64(text.trim_end_matches('s').parse().unwrap()),
    }
}

fn number(options: &impl Debug, field: &str) -> usize {
    let value = field_of(options, field);
    let digits = value
        .trim_start_matches("Some(")
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
    match (count / 1_000, count % 1_000) {
        (0, ones) => ones.to_string(),
        (thousands, ones) => format!("{},{ones:03}", self::count(thousands)),
    }
}

fn bytes(bytes: usize) -> String {
    if bytes.is_multiple_of(1 << 20) {
        format!("{} MiB", bytes >> 20)
    } else {
        format!("{} KiB", bytes >> 10)
    }
}
