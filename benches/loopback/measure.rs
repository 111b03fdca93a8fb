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
    /// Run all comparisons: farms and scans, each on one processor.
    Compare {
        /// Runs of each row; the tables show medians.
        #[arg(long, default_value_t = 3)]
        rounds: usize,
        /// The program of benches/gamedig, to compare with.
        #[arg(long)]
        gamedig: Option<PathBuf>,
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
    match Arguments::parse().command {
        Some(Task::Farm(options)) => farm::run(options),
        Some(Task::Scan(arguments)) => {
            let run = scan(arguments);
            println!(
                "{} {} {} {}",
                run.seconds, run.answered, run.drops, run.memory
            );
            Ok(())
        }
        Some(Task::Compare { rounds, gamedig }) => compare(&Comparison { rounds, gamedig }),
        Some(Task::Internet {
            servers,
            seed,
            others,
        }) => {
            if measure_internet(servers, seed, &others) {
                Ok(())
            } else {
                std::process::exit(1)
            }
        }
        Some(Task::Dead {
            rounds,
            percent,
            gamedig,
        }) => {
            dead(&Comparison { rounds, gamedig }, percent);
            Ok(())
        }
        None => compare(&Comparison {
            rounds: 3,
            gamedig: None,
        }),
    }
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
    if std::env::var_os("SHOW").is_some() {
        eprintln!("{:?} {:?}", scan.io(), scan.stats());
    }
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

/// A row of a table.
#[derive(Debug, Clone)]
enum Row {
    Ours(String),
    /// With this number of threads.
    Gamedig(u32),
}

impl Comparison {
    /// Measures the rows and prints the medians. Each round runs every row once, so that noise
    /// affects all of them.
    fn table(&self, title: &str, servers: u32, rows: &[Row]) {
        println!("\n{title}");
        let mut runs = vec![Vec::new(); rows.len()];
        for _ in 0..self.rounds {
            for (row, runs) in rows.iter().zip(&mut runs) {
                runs.extend(self.once(row, servers));
            }
        }
        let mut floor = None;
        for (row, mut runs) in rows.iter().zip(runs) {
            runs.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
            let Some(run) = runs.get(runs.len() / 2) else {
                continue;
            };
            let floor = *floor.get_or_insert(run.seconds);
            let name = match row {
                Row::Ours(arguments) => arguments.clone(),
                Row::Gamedig(threads) => format!("rust gamedig, {threads} threads"),
            };
            println!(
                "  {name:<52} {:>8.1} ms {:>9.0}/s  {:>5.2} of the first  least answered {:>6}  most dropped {:>4}  peak {:>6} KiB",
                run.seconds * 1e3,
                f64::from(servers) / run.seconds,
                floor / run.seconds,
                runs.iter().map(|run| run.answered).min().unwrap(),
                runs.iter().map(|run| run.drops).max().unwrap(),
                run.memory,
            );
        }
    }

    /// One run of a row; `None` for a missing program.
    fn once(&self, row: &Row, servers: u32) -> Option<Run> {
        let mut command = match row {
            Row::Ours(arguments) => {
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
            Row::Gamedig(threads) => {
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
        let drops = if matches!(row, Row::Ours(_)) {
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

/// The lower bound, typed answers, and the model.
fn rows_of(protocol: &str) -> Vec<Row> {
    let each = ["--floor", "", "--model"];
    each.map(|what| Row::Ours(format!("--protocol {protocol} {what}")))
        .to_vec()
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

/// Scans 10,000 servers, some of them silent, with Linux's default receive buffer. First with 1 s
/// and no retries, at the scan's own rate and without a limit; then with the example's defaults.
fn dead(comparison: &Comparison, percent: Option<u32>) {
    let ours = |arguments: &str| Row::Ours(format!("--receive-buffer 212992 {arguments}"));
    for percent in [0, 10, 50, 90, 99, 100_u32]
        .into_iter()
        .filter(|&each| percent.is_none_or(|only| only == each))
    {
        for order in ["", "--dead-first"] {
            let percents = percent.to_string();
            let mut farm = vec!["--dead", &percents];
            if !order.is_empty() {
                farm.push(order);
            }
            let _farm = Farm::start(PORT, &farm);
            let mut rows = vec![ours(""), ours("--rate 10000000"), ours("--model")];
            if percent == 50 && order.is_empty() {
                rows.push(ours("--timeout 4000 --retries 2"));
            }
            if order.is_empty() {
                rows.extend([1000, 2000, 4000].map(Row::Gamedig));
            }
            comparison.table(&format!("{percent} % silent {order}"), 10_000, &rows);
            if percent == 100 {
                comparison.table("1,024 silent", 1024, &rows[..2]);
            }
        }
    }
}

fn compare(comparison: &Comparison) -> std::io::Result<()> {
    compare_protocols(comparison);
    compare_windows(comparison);
    compare_silent(comparison);
    compare_distant(comparison);
    compare_lengths(comparison);
    Ok(())
}

fn ours(arguments: &str) -> Row {
    Row::Ours(arguments.to_owned())
}

fn threads(counts: &[u32]) -> Vec<Row> {
    counts.iter().copied().map(Row::Gamedig).collect()
}

/// Each protocol, with usual and with full servers.
fn compare_protocols(comparison: &Comparison) {
    for full in [false, true] {
        let farm: &[&str] = if full { &["--full"] } else { &[] };
        let _farm = Farm::start(PORT, farm);
        for protocol in [
            "quake3 --window 256",
            "gamespy1 --window 256",
            "gamespy4 --window 256",
            // A larger window overflows the receive buffer with full servers.
            "ut2004 --window 1024",
        ] {
            let title = format!(
                "{protocol}, {}",
                if full {
                    "full servers"
                } else {
                    "usual servers"
                }
            );
            comparison.table(&title, 10_000, &rows_of(protocol));
        }
    }
}

/// All servers answer.
fn compare_windows(comparison: &Comparison) {
    for (awake, title) in [
        (&[][..], "none dead"),
        (&["--awake"], "none dead, and the farm never sleeps"),
    ] {
        let _farm = Farm::start(PORT, awake);
        let scans = [
            "--window 256 --floor",
            "--window 256",
            "--window 256 --model",
        ]
        .map(ours)
        .to_vec();
        comparison.table(
            title,
            10_000,
            &[scans, threads(&[4, 8, 16, 64, 256])].concat(),
        );
    }
}

/// Some servers are silent.
fn compare_silent(comparison: &Comparison) {
    for dead in ["1", "10"] {
        let _farm = Farm::start(PORT, &["--dead", dead]);
        let scan = vec![ours("--window 2048 --model")];
        let rows = [scan, threads(&[64, 256, 1000, 2000])].concat();
        comparison.table(&format!("{dead} % dead, 1 s timeout"), 10_000, &rows);
    }
}

/// The servers are far away.
fn compare_distant(comparison: &Comparison) {
    let _farm = Farm::start(PORT, &["--delay", "50"]);
    let rows = [ours("--window 8192 --floor"), ours("--window 8192 --model")];
    comparison.table("50 ms away", 10_000, &rows);
}

/// Lists of several lengths.
fn compare_lengths(comparison: &Comparison) {
    let _farm = Farm::start(PORT, &["--servers", "100000"]);
    for servers in [1000, 10_000, 100_000] {
        comparison.table(
            &format!("{servers} servers"),
            servers,
            &[ours("--window 512 --model")],
        );
    }
}
