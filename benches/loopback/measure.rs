//! The measurements and their tables.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use clap::{Parser, Subcommand};
use queryport::{Client, Protocol, QueryOptions, ScanOptions, Secret, Timing, ToStatus};

use crate::{farm, floor, internet};

/// The port of the farm in a comparison.
const PORT: u16 = 27961;

#[derive(Debug, Parser)]
struct Arguments {
    /// An argument that `cargo bench` adds.
    #[arg(long, hide = true, global = true)]
    bench: bool,
    /// Begin with the date, the processor and the commit, as benches/README.md has them.
    #[arg(long, global = true)]
    markdown: bool,
    #[command(subcommand)]
    command: Option<Task>,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Run only the farm, for other clients.
    Farm(farm::Options),
    /// Scan, and print seconds, answers and peak memory: one row of a comparison in a process of
    /// its own.
    Scan(ScanArguments),
    /// Scan lists with silent servers, with the rows' share and order.
    Dead {
        /// Runs of each row; the table shows medians.
        #[arg(long, default_value_t = 5)]
        rounds: usize,
        /// Only lists with this share of silent servers.
        #[arg(long)]
        percent: Option<u32>,
        /// The program of benches/gamedig, to compare with.
        #[arg(long)]
        gamedig: Option<PathBuf>,
    },
    /// Scan servers as different as real ones. The exit status is 1 if an answer of this crate is
    /// complete and wrong.
    Internet {
        /// The number of servers.
        #[arg(long, default_value_t = 10_000)]
        servers: u32,
        /// The seed for the properties of the servers.
        #[arg(long, default_value_t = kit::internet::SEED)]
        seed: u64,
        #[command(flatten)]
        others: internet::Others,
    },
    /// Scan with a loop without parsing, with the answers as received, and with the model. Farms and
    /// scans are each on one processor.
    Compare {
        /// Runs of each row; the table shows medians.
        #[arg(long, default_value_t = 3)]
        rounds: usize,
    },
}

#[derive(Debug, Clone, Copy, clap::Args)]
struct ScanArguments {
    #[arg(long, default_value_t = 27961)]
    port: u16,
    #[arg(long, default_value_t = 10_000)]
    servers: u32,
    /// The maximum number of queries in flight. The lower bound always has this many, by default
    /// 64.
    #[arg(long)]
    window: Option<usize>,
    /// Milliseconds to wait for an answer, and the number of retries.
    #[arg(long, default_value_t = 1000)]
    timeout: u64,
    #[arg(long, default_value_t = 0)]
    retries: u8,
    /// The maximum number of datagrams per second; by default the scan finds the rate.
    #[arg(long)]
    rate: Option<u32>,
    /// Bytes of the receive buffer.
    #[arg(long)]
    receive_buffer: Option<u32>,
    #[arg(long, default_value = "quake3")]
    protocol: Protocol,
    /// Convert each answer to the common model and read it.
    #[arg(long)]
    model: bool,
    /// Run the lower bound instead of a scan.
    #[arg(long)]
    floor: bool,
}

/// The result of one run.
#[derive(Debug, Clone, Copy)]
struct Run {
    seconds: f64,
    answered: u32,
    /// Datagrams that the kernel dropped, if the scan counts them.
    drops: u64,
    /// Peak memory of the process so far, in KiB.
    memory: u64,
}

pub(crate) fn main() -> std::io::Result<()> {
    let arguments = Arguments::parse();
    if arguments.markdown {
        println!("{}", kit::machine::heading());
    }
    match arguments.command {
        Some(Task::Farm(options)) => return farm::run(options),
        Some(Task::Scan(arguments)) => {
            let run = scan(arguments);
            println!(
                "{} {} {} {}",
                run.seconds, run.answered, run.drops, run.memory
            );
        }
        Some(Task::Compare { rounds }) => compare(&Comparison {
            rounds,
            gamedig: None,
        }),
        Some(Task::Internet {
            servers,
            seed,
            others,
        }) => {
            if !measure_internet(servers, seed, &others) {
                std::process::exit(1)
            }
        }
        Some(Task::Dead {
            rounds,
            percent,
            gamedig,
        }) => {
            let gamedig = gamedig.filter(|program| program.exists());
            dead(&Comparison { rounds, gamedig }, percent);
        }
        None => compare(&Comparison {
            rounds: 3,
            gamedig: None,
        }),
    }
    Ok(())
}

fn scan(arguments: ScanArguments) -> Run {
    let ScanArguments {
        port,
        servers,
        window,
        ..
    } = arguments;
    let (took, answered, drops) = if arguments.floor {
        let (took, answered) = floor::run(
            servers,
            port,
            window.unwrap_or(64),
            floor::steps(arguments.protocol, port),
        );
        (took, answered, 0)
    } else {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(typed(arguments))
    };
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap();
    let memory = peak.trim().trim_end_matches(" kB").parse().unwrap();
    Run {
        seconds: took.as_secs_f64(),
        answered,
        drops,
        memory,
    }
}

async fn typed(arguments: ScanArguments) -> (Duration, u32, u64) {
    let ScanArguments { port, servers, .. } = arguments;
    let timeout = Duration::from_millis(arguments.timeout);
    let mut timing = Timing::default()
        .with_timeout(timeout)
        .with_retries(arguments.retries);
    if arguments.retries == 0 {
        timing = timing.with_retry_after(timeout);
    }
    let options = arguments
        .window
        .map_or_else(ScanOptions::default, |window| {
            ScanOptions::default().with_window(window)
        });
    let options = options
        .with_rate(arguments.rate)
        .with_receive_buffer(arguments.receive_buffer);
    let client = Client::with_secret(Secret::new([7; 16]))
        .with_timing(timing)
        .with_options(QueryOptions::default());
    let protocol = arguments.protocol;
    let targets =
        (0..servers).map(move |index| (protocol, SocketAddr::from(farm::address(index, port))));
    let start = Instant::now();
    let mut scan = client.scan(targets, options).unwrap();
    let (mut answered, mut seen) = (0, 0_usize);
    while let Some(scanned) = scan.next_answer().await {
        let Ok(outcome) = scanned.result else {
            continue;
        };
        if !arguments.model {
            answered += u32::from(outcome.answer.completeness().is_complete());
        } else {
            let status = outcome.answer.to_status();
            answered += u32::from(status.completeness.is_complete());
            seen += status.name.as_ref().map_or(0, |name| name.raw().len());
            seen += status
                .rules
                .iter()
                .map(|(key, value)| key.raw().len() + value.raw().len())
                .sum::<usize>();
            for player in status.players {
                seen += player.name.raw().len() + usize::from(player.score.is_some());
            }
        }
    }
    std::hint::black_box(seen);
    let took = start.elapsed();
    (took, answered, scan.io().drops.unwrap_or_default())
}

/// A command for a program on one processor; without a path, this program.
fn on_processor(processor: u32, program: Option<&Path>) -> Command {
    let mut command = Command::new("taskset");
    let this = std::env::current_exe().unwrap();
    command
        .args(["-c", &processor.to_string()])
        .arg(program.unwrap_or(&this));
    command
}

/// A farm that stops when it is dropped.
struct Farm(Child);

impl Farm {
    fn start(port: u16, more: &[&str]) -> Self {
        let child = on_processor(1, None)
            .args(["farm", "--port", &port.to_string(), "--seconds", "900"])
            .args(more)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let farm = Self(child);
        // Wait until it answers.
        let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        socket
            .set_read_timeout(Some(Duration::from_millis(200)))
            .unwrap();
        for index in 0..if more.contains(&"100") { 5 } else { 100 } {
            let to = SocketAddr::from(farm::address(9_999_u32.saturating_sub(index % 10), port));
            socket
                .send_to(b"\xff\xff\xff\xffgetstatus 01234567890", to)
                .unwrap();
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

/// The number of rounds, and the program to compare with.
#[derive(Debug)]
struct Comparison {
    rounds: usize,
    gamedig: Option<PathBuf>,
}

/// A cell of a table.
#[derive(Debug, Clone)]
enum Cell {
    /// Arguments of a scan.
    Ours(String),
    /// With this number of threads.
    Gamedig(u32),
}

impl Comparison {
    /// The median run of each cell; `None` for a missing program. Each round runs every cell once,
    /// so that noise affects all of them.
    fn medians(&self, servers: u32, answering: u32, cells: &[Cell]) -> Vec<Option<Run>> {
        let mut runs = vec![Vec::new(); cells.len()];
        for _ in 0..self.rounds {
            for (cell, runs) in cells.iter().zip(&mut runs) {
                runs.extend(self.once(cell, servers));
            }
        }
        let median = |(cell, mut runs): (&Cell, Vec<Run>)| {
            runs.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
            for run in runs.iter().filter(|run| run.answered < answering) {
                eprintln!(
                    "{cell:?}: {} of {answering} answered, {} dropped",
                    run.answered, run.drops
                );
            }
            runs.get(runs.len() / 2).copied()
        };
        cells.iter().zip(runs).map(median).collect()
    }

    /// One run of a cell; `None` for a missing program.
    fn once(&self, cell: &Cell, servers: u32) -> Option<Run> {
        let mut command = match cell {
            Cell::Ours(arguments) => {
                let mut command = on_processor(0, None);
                command.args([
                    "scan",
                    "--port",
                    &PORT.to_string(),
                    "--servers",
                    &servers.to_string(),
                ]);
                command.args(arguments.split_whitespace());
                command
            }
            Cell::Gamedig(threads) => {
                let mut command = on_processor(0, Some(self.gamedig.as_deref()?));
                command.args([threads.to_string(), servers.to_string(), PORT.to_string()]);
                command
            }
        };
        let output = command.stderr(Stdio::inherit()).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let mut parts = text.split_whitespace();
        let mut next = || parts.next().expect("a row").parse::<f64>().unwrap();
        let (seconds, answered) = (next(), next() as u32);
        let drops = if matches!(cell, Cell::Ours(_)) {
            next() as u64
        } else {
            0
        };
        Some(Run {
            seconds,
            answered,
            drops,
            memory: next() as u64,
        })
    }
}

/// The defaults of the client, and other programs. Returns whether no answer of this crate is wrong.
fn measure_internet(servers: u32, seed: u64, others: &internet::Others) -> bool {
    let seed_text = seed.to_string();
    // The farm is known to run once one of the first 10,000 answers.
    let servers_text = servers.max(10_000).to_string();
    let farm = ["--internet", &seed_text, "--servers", &servers_text];
    let _farm = Farm::start(PORT, &farm);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    println!(
        "| client | right | incomplete | wrong | 95 % | 99 % | end |\n|---|---|---|---|---|---|---|"
    );
    let found = runtime.block_on(internet::scan(servers, PORT, seed));
    found.print("defaults");
    others.measure(servers, PORT, seed);
    found.wrong.is_empty()
}

fn ours(arguments: &str) -> Cell {
    Cell::Ours(arguments.to_owned())
}

fn seconds(run: Option<Run>) -> String {
    run.map_or_else(String::new, |run| format!("{:.2} s", run.seconds))
}

/// Scans 10,000 servers, some of them silent, with Linux's default receive buffer, 1 s and no
/// retries.
fn dead(comparison: &Comparison, percent: Option<u32>) {
    let scan = ours("--receive-buffer 212992");
    let threads = [1000, 2000, 4000];
    let gamedig = threads.map(|threads| format!(" rust gamedig, {threads} threads |"));
    println!(
        "| dead | scattered | all in front | in front, rate open |{}",
        gamedig.concat()
    );
    println!("|---|---|---|---|---|---|---|");
    let percents = [10, 50, 90, 99, 100].into_iter();
    for percent in percents.filter(|&each| percent.is_none_or(|only| only == each)) {
        let share = percent.to_string();
        let in_front = {
            let _farm = Farm::start(PORT, &["--dead", &share, "--dead-first"]);
            let open = ours("--receive-buffer 212992 --rate 10000000");
            comparison.medians(10_000, 100 * (100 - percent), &[scan.clone(), open])
        };
        let _farm = Farm::start(PORT, &["--dead", &share]);
        let cells = [vec![scan.clone()], threads.map(Cell::Gamedig).to_vec()].concat();
        let mut scattered = comparison.medians(10_000, farm::answering(percent), &cells);
        let gamedig = scattered.split_off(1);
        let cells: Vec<String> = [scattered, in_front, gamedig]
            .concat()
            .into_iter()
            .map(seconds)
            .collect();
        println!("| {percent} % | {} |", cells.join(" | "));
    }
}

fn compare(comparison: &Comparison) {
    println!(
        "| | floor | answers as received | with the model | peak memory |\n|---|---|---|---|---|"
    );
    compare_protocols(comparison);
    compare_distant(comparison);
    compare_silent(comparison);
    compare_lengths(comparison);
}

/// A line of the table of `compare`: milliseconds, and their ratio to the floor.
fn line(name: &str, [floor, answers, model]: [Option<Run>; 3]) {
    let cell = |run: Option<Run>| match (run, floor) {
        (Some(run), Some(floor)) => {
            format!(
                "{:.1} ({:.2})",
                run.seconds * 1e3,
                floor.seconds / run.seconds
            )
        }
        (Some(run), None) => format!("{:.1}", run.seconds * 1e3),
        (None, _) => String::new(),
    };
    let lowest = floor.map_or_else(String::new, |run| format!("{:.1}", run.seconds * 1e3));
    let memory = model.map_or(0, |run| run.memory);
    println!(
        "| {name} | {lowest} | {} | {} | {:.1} MiB |",
        cell(answers),
        cell(model),
        memory as f64 / 1024.0
    );
}

/// Each protocol, with usual and with full servers.
fn compare_protocols(comparison: &Comparison) {
    for (servers, farm) in [("usual", &[][..]), ("full", &["--full"])] {
        let _farm = Farm::start(PORT, farm);
        for (name, protocol) in [
            ("Quake 3", "quake3 --window 256"),
            ("GameSpy v1", "gamespy1 --window 256"),
            ("GameSpy v4", "gamespy4 --window 256"),
            // A larger window overflows the receive buffer with full servers.
            ("UT2004", "ut2004 --window 1024"),
        ] {
            let cells = ["--floor", "", "--model"]
                .map(|what| ours(&format!("--protocol {protocol} {what}")));
            let runs = comparison.medians(10_000, 10_000, &cells);
            line(&format!("{name}, {servers}"), [runs[0], runs[1], runs[2]]);
        }
    }
}

/// The servers are far away.
fn compare_distant(comparison: &Comparison) {
    let _farm = Farm::start(PORT, &["--delay", "50"]);
    let cells = [ours("--window 8192 --floor"), ours("--window 8192 --model")];
    let runs = comparison.medians(10_000, 10_000, &cells);
    line("Quake 3, 50 ms away, window 8192", [runs[0], None, runs[1]]);
}

/// Some servers are silent.
fn compare_silent(comparison: &Comparison) {
    for dead in [1, 10] {
        let _farm = Farm::start(PORT, &["--dead", &dead.to_string()]);
        let cells = [ours("--window 2048 --model")];
        let runs = comparison.medians(10_000, farm::answering(dead), &cells);
        line(
            &format!("Quake 3, {dead} % dead, 1 s timeout"),
            [None, None, runs[0]],
        );
    }
}

/// Lists of several lengths.
fn compare_lengths(comparison: &Comparison) {
    let _farm = Farm::start(PORT, &["--servers", "100000"]);
    for servers in [1000, 10_000, 100_000] {
        let runs = comparison.medians(servers, servers, &[ours("--window 512 --model")]);
        line(
            &format!("Quake 3, {servers} servers, window 512"),
            [None, None, runs[0]],
        );
    }
}
