//! What is measured and how it is told.

use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use clap::{Parser, Subcommand};
use queryport::net::{Client, Scan};
use queryport::protocol::Protocol;
use queryport::secret::Secret;
use queryport::session::{ScanOptions, Timing};

use crate::{farm, floor};

#[derive(Debug, Parser)]
struct Arguments {
    /// What cargo bench adds.
    #[arg(long, hide = true, global = true)]
    bench: bool,
    #[command(subcommand)]
    command: Option<Task>,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Only plays the servers, for other clients.
    Farm(farm::Options),
    /// Scans and prints seconds, answers and peak memory: one row of a comparison, in a process of its own.
    Scan(ScanArguments),
    /// The whole comparison: starts farms and scans, pinned to a processor each.
    Compare {
        /// How often each is run; the median is told.
        #[arg(long, default_value_t = 5)]
        rounds: usize,
    },
}

#[derive(Debug, Clone, Copy, clap::Args)]
struct ScanArguments {
    #[arg(long, default_value_t = 27961)]
    port: u16,
    #[arg(long, default_value_t = 10_000)]
    servers: u32,
    #[arg(long, default_value_t = 512)]
    window: usize,
    #[arg(long, default_value = "quake3")]
    protocol: Protocol,
    /// Normalise each answer and read it.
    #[arg(long)]
    model: bool,
    /// One datagram a system call.
    #[arg(long)]
    plain: bool,
    /// Readings of UT2004's lists.
    #[arg(long, default_value_t = 3)]
    readings: u8,
    /// The bare loop instead.
    #[arg(long)]
    floor: bool,
}

/// What one run showed.
#[derive(Debug, Clone, Copy)]
struct Run {
    seconds: f64,
    answered: u32,
    /// Peak memory of the process so far, in KiB.
    memory: u64,
}

pub(crate) fn main() -> std::io::Result<()> {
    match Arguments::parse().command {
        Some(Task::Farm(options)) => farm::run(options),
        Some(Task::Scan(arguments)) => {
            let run = scan(arguments);
            println!("{} {} {}", run.seconds, run.answered, run.memory);
            Ok(())
        }
        Some(Task::Compare { rounds }) => compare(rounds),
        None => compare(3),
    }
}

fn scan(arguments: ScanArguments) -> Run {
    let ScanArguments { port, servers, window, .. } = arguments;
    let (took, answered) = if arguments.floor {
        floor::run(servers, port, window, floor::steps(arguments.protocol, arguments.readings, port))
    } else {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(typed(arguments))
    };
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let memory = peak.trim().trim_end_matches(" kB").parse().unwrap();
    Run { seconds: took.as_secs_f64(), answered, memory }
}

async fn typed(arguments: ScanArguments) -> (Duration, u32) {
    let ScanArguments { port, servers, window, .. } = arguments;
    let timing = Timing::default().with_timeout(Duration::from_secs(1)).with_retries(0);
    let options = ScanOptions::default()
        .with_window(window)
        .with_timing(timing.with_retry_after(Duration::from_secs(1)));
    let client = Client::with_secret(Secret::new([7; 16])).with_readings(arguments.readings);
    let protocol = arguments.protocol;
    let targets = (0..servers).map(move |index| (protocol, farm::address(index, port).into()));
    let questions = client.questions(targets);
    let start = Instant::now();
    let mut scan =
        if arguments.plain { Scan::plain(questions, options) } else { Scan::new(questions, options) }
            .unwrap();
    let (mut answered, mut seen) = (0, 0_usize);
    while let Some(scanned) = scan.next().await {
        let Ok(outcome) = scanned.result else { continue };
        if !arguments.model {
            answered += u32::from(outcome.answer.completeness().is_complete());
        } else {
            let status = outcome.answer.to_status();
            answered += u32::from(status.completeness.is_complete());
            seen += status.name.as_ref().map_or(0, |name| name.raw().len());
            seen +=
                status.rules.iter().map(|(key, value)| key.raw().len() + value.raw().len()).sum::<usize>();
            for player in status.listed_players() {
                seen += player.name.raw().len() + usize::from(player.score.is_some());
            }
        }
    }
    std::hint::black_box(seen);
    let took = start.elapsed();
    if std::env::var_os("SHOW").is_some() {
        eprintln!("{:?} {:?}", scan.io(), scan.stats());
    }
    (took, answered)
}

/// This program again, on one processor.
fn on_processor(processor: u32) -> Command {
    let mut command = Command::new("taskset");
    command.args(["-c", &processor.to_string()]).arg(std::env::current_exe().unwrap());
    command
}

/// A farm that is ended when it is dropped.
struct Farm(Child);

impl Farm {
    fn start(port: u16, more: &[&str]) -> Self {
        let child = on_processor(1)
            .args(["farm", "--port", &port.to_string(), "--seconds", "300"])
            .args(more)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let farm = Self(child);
        // Until it answers.
        let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
        for index in 0..100 {
            let to = SocketAddr::from(farm::address(index % 10, port));
            socket.send_to(b"\xff\xff\xff\xffgetstatus 01234567890", to).unwrap();
            if socket.recv_from(&mut [0; 2048]).is_ok() {
                break;
            }
        }
        farm
    }
}

impl Drop for Farm {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn once(port: u16, arguments: &[&str]) -> Run {
    let output = on_processor(0)
        .args(["scan", "--port", &port.to_string()])
        .args(arguments)
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let mut parts = text.split_whitespace();
    let mut next = || parts.next().expect("a row").parse::<f64>().unwrap();
    Run { seconds: next(), answered: next() as u32, memory: next() as u64 }
}

/// The medians over rounds in which each row is run once: noise hits all rows alike.
fn medians(port: u16, rounds: usize, rows: &[&[&str]]) -> Vec<Run> {
    let mut runs = vec![Vec::new(); rows.len()];
    for _ in 0..rounds {
        for (row, runs) in rows.iter().zip(&mut runs) {
            runs.push(once(port, row));
        }
    }
    let median = |mut runs: Vec<Run>| {
        runs.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
        let least = runs.iter().map(|run| run.answered).min().unwrap();
        Run { answered: least, ..runs[runs.len() / 2] }
    };
    runs.into_iter().map(median).collect()
}

fn print(title: &str, servers: u32, rows: &[&[&str]], runs: &[Run]) {
    println!("\n{title}");
    let floor = runs[0].seconds;
    for (row, run) in rows.iter().zip(runs) {
        println!(
            "  {:<44} {:>8.1} ms {:>9.0}/s  {:>5.2} of the first  least answered {:>6}  peak {:>6} KiB",
            row.join(" "),
            run.seconds * 1e3,
            f64::from(servers) / run.seconds,
            floor / run.seconds,
            run.answered,
            run.memory,
        );
    }
}

fn compare(rounds: usize) -> std::io::Result<()> {
    let port = 27961;
    {
        let _farm = Farm::start(port, &[]);
        for (protocol, window) in
            [("quake3", "256"), ("gamespy1", "256"), ("gamespy4", "256"), ("ut2004", "2048")]
        {
            let rows: &[&[&str]] = &[
                &["--protocol", protocol, "--window", window, "--floor"],
                &["--protocol", protocol, "--window", window],
                &["--protocol", protocol, "--window", window, "--model"],
                &["--protocol", protocol, "--window", window, "--plain"],
            ];
            print(&format!("{protocol}, all alive"), 10_000, rows, &medians(port, rounds, rows));
        }
    }
    for dead in ["1", "10"] {
        let _farm = Farm::start(port, &["--dead", dead]);
        let rows: &[&[&str]] = &[&["--window", "2048", "--model"]];
        print(&format!("{dead} % dead, 1 s timeout"), 10_000, rows, &medians(port, rounds, rows));
    }
    {
        let _farm = Farm::start(port, &["--delay", "50"]);
        let rows: &[&[&str]] = &[&["--window", "8192", "--floor"], &["--window", "8192", "--model"]];
        print("50 ms away", 10_000, rows, &medians(port, rounds, rows));
    }
    {
        let _farm = Farm::start(port, &["--servers", "100000"]);
        for servers in ["1000", "10000", "100000"] {
            let rows: &[&[&str]] = &[&["--window", "512", "--servers", servers, "--model"]];
            let count = servers.parse().unwrap();
            print(&format!("{servers} servers"), count, rows, &medians(port, rounds, rows));
        }
    }
    Ok(())
}
