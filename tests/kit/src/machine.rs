//! What a figure depends on.

use std::process::Command;

/// The line above a table of figures: the date, the processor and the commit.
pub fn heading() -> String {
    let date = output("date", &["--iso-8601"]);
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let commit = output("git", &["rev-parse", "--short=8", "HEAD"]);
    // The page of the tables changes while they are renewed one after another.
    let sources = ["status", "--porcelain", "--", ".", ":!benches/README.md"];
    let changes = match output("git", &sources).as_str() {
        "" => "",
        _ => " with changes",
    };
    format!(
        "{date}, {processors} processors {}, commit {commit}{changes}:\n",
        processor()
    )
}

fn processor() -> String {
    let listing = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = listing
        .lines()
        .find(|line| line.starts_with("model name"))
        .and_then(|line| line.split_once(": "))
        .map_or("of an unknown model", |(_, name)| name);
    name.trim().to_owned()
}

fn output(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(crate::root())
        .output();
    let text = output.map(|output| output.stdout).unwrap_or_default();
    String::from_utf8_lossy(&text).trim().to_owned()
}
