//! Measures clients with a farm of servers as different as real ones.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, SocketAddrV4};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use queryport::{Client, Protocol, QueryOptions, ScanOptions, Secret, Timing};

use crate::farm;
use kit::internet::{Found, Profile};

/// Scans the farm with the client's defaults.
pub(crate) async fn scan(servers: u32, port: u16, seed: u64) -> Found {
    let client = Client::with_secret(Secret::new([7; 16]))
        .with_timing(Timing::default())
        .with_options(QueryOptions::default());
    let targets = (0..servers).map(move |index| {
        (
            Profile::of(index, seed).protocol(),
            SocketAddr::from(farm::address(index, port)),
        )
    });
    let start = Instant::now();
    let mut scan = client.scan(targets, ScanOptions::default()).unwrap();
    let mut found = Found::new(servers, seed);
    while let Some(scanned) = scan.next().await {
        let Ok(outcome) = scanned.result else {
            continue;
        };
        found.add(scanned.index as u32, &outcome.answer, start.elapsed());
    }
    found.end = start.elapsed();
    found
}

/// Other programs to compare with. Those without a path, or that are not there, are skipped.
#[derive(Debug, clap::Args)]
pub(crate) struct Others {
    /// The program of benches/gamedig (rust gamedig).
    #[arg(long)]
    gamedig: Option<PathBuf>,
    /// Its numbers of threads, one run for each.
    #[arg(long, value_delimiter = ',', default_value = "1000,4000")]
    threads: Vec<u32>,
    /// The folder of node's package gamedig.
    #[arg(long)]
    node_gamedig: Option<PathBuf>,
    /// Its numbers of servers at once, one run for each.
    #[arg(long, value_delimiter = ',', default_value = "1000")]
    node_at_once: Vec<u32>,
    /// The program qstat (on Debian: quakestat).
    #[arg(long)]
    qstat: Option<PathBuf>,
    /// Its numbers of servers at once, one run for each.
    #[arg(long, value_delimiter = ',', default_value = "1000")]
    qstat_at_once: Vec<u32>,
}

fn present(program: &Option<PathBuf>) -> impl Iterator<Item = &PathBuf> {
    program.iter().filter(|path| path.exists())
}

impl Others {
    /// Runs each program and prints its row.
    pub(crate) fn measure(&self, servers: u32, port: u16, seed: u64) {
        let at = |index| {
            (
                Profile::of(index, seed).protocol(),
                farm::address(index, port),
            )
        };
        let lines_of = |line: fn(u32, Protocol, SocketAddrV4) -> String| -> String {
            (0..servers)
                .map(|index| line(index, at(index).0, at(index).1))
                .collect()
        };
        let numbered = lines_of(|index, protocol, address| {
            format!("{index} {} {address}\n", protocol.as_str())
        });
        for threads in present(&self.gamedig).flat_map(|_| &self.threads) {
            let mut command = Command::new(self.gamedig.as_deref().unwrap_or("".as_ref()));
            command.arg(threads.to_string());
            lines(command, &numbered, servers, seed)
                .print(&format!("rust gamedig, {threads} threads"));
        }
        for at_once in present(&self.node_gamedig).flat_map(|_| &self.node_at_once) {
            let mut command = Command::new("node");
            command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/internet/gamedig.mjs"));
            command.args(&self.node_gamedig).arg(at_once.to_string());
            lines(command, &numbered, servers, seed)
                .print(&format!("node gamedig, {at_once} at once"));
        }
        let types =
            lines_of(|_, protocol, address| format!("{} {address}\n", qstat_type(protocol)));
        for at_once in present(&self.qstat).flat_map(|_| &self.qstat_at_once) {
            let mut command = Command::new("stdbuf");
            command.arg("-oL").args(&self.qstat).args([
                "-f",
                "-",
                "-raw",
                "\t",
                "-R",
                "-P",
                "-noportoffset",
            ]);
            command.args(["-maxsim", &at_once.to_string()]);
            qstat(command, &types, servers, seed).print(&format!("qstat, {at_once} at once"));
        }
    }
}

/// Runs a program with a list on its standard input. Passes each line of its output on, with the
/// time since its start.
fn run(mut command: Command, list: &str, mut each: impl FnMut(&str, Duration)) -> Duration {
    let start = Instant::now();
    let piped = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = piped.spawn().unwrap();
    let (mut input, list) = (child.stdin.take().unwrap(), list.to_owned());
    let writer = std::thread::spawn(move || {
        let _ = input.write_all(list.as_bytes());
    });
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut line = Vec::new();
    while output.read_until(b'\n', &mut line).unwrap() > 0 {
        each(
            String::from_utf8_lossy(&line).trim_end_matches('\n'),
            start.elapsed(),
        );
        line.clear();
    }
    let _ = (writer.join(), child.wait());
    start.elapsed()
}

/// Runs a program that prints seconds, index, players, rules and name.
fn lines(command: Command, list: &str, servers: u32, seed: u64) -> Found {
    let mut found = Found::new(servers, seed);
    let end = run(command, list, |line, _| {
        let parts: Vec<&str> = line.splitn(5, ' ').collect();
        let [seconds, index, players, rules, name] = parts[..] else {
            panic!("{line}")
        };
        let after = Duration::from_secs_f64(seconds.parse().unwrap());
        found.judge(
            index.parse().unwrap(),
            name,
            players.parse().ok(),
            rules.parse().unwrap(),
            after,
        );
    });
    found.end = end;
    found
}

/// The name of a protocol in a list for qstat.
fn qstat_type(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Quake3 => "Q3S",
        Protocol::GameSpy1 => "GPS",
        Protocol::GameSpy4 => "GS4",
        _ => "UT2S",
    }
}

/// Runs qstat, which prints a line for the server, one for its rules, one per player, and an empty
/// line.
fn qstat(command: Command, list: &str, servers: u32, seed: u64) -> Found {
    let mut found = Found::new(servers, seed);
    let mut record: Vec<String> = Vec::new();
    let end = run(command, list, |line, after| {
        if !line.is_empty() {
            return record.push(line.to_owned());
        }
        let record = std::mem::take(&mut record);
        let Some((server, rest)) = record.split_first() else {
            return;
        };
        let fields: Vec<&str> = server.split('\t').collect();
        // Servers without an answer have fewer fields.
        let [_, address, name, _, _, _, ..] = fields[..] else {
            return;
        };
        let Some(index) = address
            .parse()
            .ok()
            .and_then(|at: SocketAddrV4| farm::index(*at.ip()))
        else {
            return;
        };
        let rules = rest
            .first()
            .map_or(0, |rules| rules.matches("sv_rule").count());
        found.judge(
            index,
            name,
            Some(rest.len().saturating_sub(1)),
            rules,
            after,
        );
    });
    found.end = end;
    found
}
