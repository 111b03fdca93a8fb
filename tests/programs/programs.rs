//! The program `queryport` as a shell or a service manager runs it. What any command can meet (closed
//! pipes, a full disk, Ctrl-C, wrong arguments) is tested by `tests/examples/faults.py`.
#![cfg(target_os = "linux")]
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test"
)]

mod ports;
mod serve;
mod sessions;
mod siblings;
mod tracker;

use kit::list_servers::alterware;
use kit::terminal::Terminal;
use kit::{process, terminal};

use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

fn command(run: &[&str]) -> Command {
    let mut command = process::interruptible(env!("CARGO_BIN_EXE_queryport"));
    command
        .args(run)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// The output and exit code of a program. It must not panic, nor print an error in the form of
/// Rust's `Debug`.
fn judge(run: &[&str], output: &Output) -> (Option<i32>, String, String) {
    let [out, err] =
        [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    for word in ["panicked", "Os {", "(os error"] {
        assert!(
            !err.contains(word) && !out.contains(word),
            "{run:?}: {out}{err}"
        );
    }
    (output.status.code(), out, err)
}

fn output(run: &[&str]) -> (Option<i32>, String, String) {
    judge(run, &process::output(&mut command(run)))
}

#[test]
fn help_and_runs_without_a_terminal_succeed() {
    for program in ["browser", "monitor"] {
        let (code, out, _) = output(&[program, "--help"]);
        assert!(code == Some(0) && out.contains("Usage: "), "{out}");
    }
    let (code, out, err) = output(&["browser", "--timeout", "1"]);
    assert!(
        code == Some(0) && out.lines().count() == 36 && err.contains("36 of 38 servers answered"),
        "{out}{err}"
    );
    assert!(!out.contains('\u{1b}'), "plain lines");
    let (code, out, _) = output(&["monitor", "--once"]);
    assert!(
        code == Some(3) && out.starts_with("QUERYPORT UNKNOWN: no server to check"),
        "{out}"
    );
}

/// A server of Quake 3 whose name is longer than a terminal is wide.
fn long_named() -> std::net::SocketAddr {
    let name = "x".repeat(200);
    quake3_server(&format!(
        r"\mapname\a_very_long_map_name\sv_hostname\Name{name}"
    ))
}

/// A server that sends these replies to a request.
fn responding(
    mut replies: impl FnMut(&[u8]) -> Vec<Vec<u8>> + Send + 'static,
) -> std::net::SocketAddr {
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap();
    std::thread::spawn(move || {
        let mut buffer = [0; 512];
        while let Ok((length, from)) = socket.recv_from(&mut buffer) {
            for reply in replies(&buffer[..length]) {
                let _ = socket.send_to(&reply, from);
            }
        }
    });
    address
}

/// A server of Quake 3 with this infostring.
fn quake3_server(infostring: &str) -> std::net::SocketAddr {
    let infostring = infostring.as_bytes().to_vec();
    responding(move |request| {
        let challenge = request
            .strip_prefix(b"\xff\xff\xff\xffgetstatus ")
            .unwrap_or_default();
        let head = b"\xff\xff\xff\xffstatusResponse\n";
        vec![[head, &infostring[..], b"\\challenge\\", challenge, b"\n"].concat()]
    })
}

/// A file with this list, whose name is that of the test.
fn list(name: &str, lines: &str) -> String {
    let file = std::env::temp_dir().join(format!("queryport-{name}-{}", std::process::id()));
    std::fs::write(&file, lines).unwrap();
    file.to_str().unwrap().to_owned()
}

#[test]
fn lists_name_games_and_a_rejected_line_is_no_success() {
    let server = long_named();
    let good = list(
        "good",
        &format!("openarena {server}\nq3a 127.0.0.1:9 # silent\n"),
    );
    let run = ["scan", &good, "--timeout", "0.5", "--failures"];
    let (code, out, err) = output(&run);
    assert!(
        code == Some(0) && out.contains("a_very_long_map_name Namexxx"),
        "{out}{err}"
    );
    let failures: Vec<&str> = err.lines().filter(|line| line.contains(":9")).collect();
    assert_eq!(failures.len(), 1, "{err}");
    assert!(
        failures[0].starts_with("q3a 127.0.0.1:9: ")
            && failures[0].matches("127.0.0.1").count() == 1,
        "{err}"
    );
    let wrong = list(
        "wrong",
        &format!("openarna {server}\nquake3 {server}\nquake3 127.0.0.1:70000\n"),
    );
    let (code, out, err) = output(&["scan", &wrong, "--timeout", "0.5"]);
    assert!(code == Some(1) && out.lines().count() == 1, "{out}{err}");
    for words in [
        ":1: unknown game \"openarna\": did you mean openarena",
        ":3: the port \"70000\"",
        "rejected    2",
    ] {
        assert!(err.contains(words), "{words:?} in {err}");
    }
    let (code, out, err) = output(&["browser", &good, "--timeout", "0.5"]);
    assert!(code == Some(0) && out.contains("OpenArena"), "{out}{err}");
    let (code, out, err) = output(&["browser", "--plain", &wrong, "--timeout", "0.5"]);
    assert!(
        code == Some(1) && out.lines().count() == 1 && err.contains("openarna"),
        "{out}{err}"
    );
    let (code, out, _) = output(&["monitor", "--once", "--timeout", "0.5", "--file", &good]);
    assert!(
        code == Some(2) && out.starts_with("QUERYPORT CRITICAL: 1 of 2 servers up"),
        "{out}"
    );
    for file in [good, wrong] {
        std::fs::remove_file(file).unwrap();
    }
}

/// A server that replies to each datagram with these datagrams, each after a pause.
fn replying(replies: Vec<Vec<u8>>) -> std::net::SocketAddr {
    let server = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = server.local_addr().unwrap();
    std::thread::spawn(move || {
        while let Ok((_, from)) = server.recv_from(&mut [0; 256]) {
            for reply in &replies {
                let _ = server.send_to(reply, from);
                std::thread::sleep(Duration::from_millis(50));
            }
        }
    });
    address
}

#[test]
fn an_incomplete_answer_of_the_console_has_an_exit_status_of_its_own() {
    let print = b"\xff\xff\xff\xffprint\na line\n".to_vec();
    let rcon = |server: std::net::SocketAddr| {
        let server = server.to_string();
        let run = ["rcon", "--timeout", "1", &server, "status"];
        let mut command = command(&run);
        command.env("QUERYPORT_RCON_PASSWORD", "x");
        judge(&run, &process::output(&mut command))
    };
    let (code, out, err) = rcon(replying(vec![print.clone()]));
    assert_eq!((code, out.as_str()), (Some(0), "a line\n"), "{err}");
    // Still sending at the timeout.
    let (code, out, err) = rcon(replying(vec![print; 100]));
    assert_eq!(code, Some(3), "{out}{err}");
    assert!(
        out.starts_with("a line\n") && err.contains("incomplete"),
        "{out}{err}"
    );
    let (code, out, err) = rcon(kit::later_address());
    assert_eq!(code, Some(1), "{out}{err}");
    // A server without an answer can need another form of the password.
    let silent = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let (code, out, err) = rcon(silent.local_addr().unwrap());
    assert_eq!(code, Some(1), "{out}{err}");
    for mode in ["quoted", "medal-of-honor", "time", "challenge"] {
        assert!(err.contains(&format!("--mode {mode}")), "{mode}: {err}");
    }
}

#[test]
fn a_console_without_a_command_sends_nothing_and_says_so() {
    let server = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let run = ["rcon", &server.local_addr().unwrap().to_string()];
    let mut command = command(&run);
    command.env("QUERYPORT_RCON_PASSWORD", "x");
    let (code, _, err) = judge(&run, &process::output(&mut command));
    assert!(code == Some(1) && err.contains("nothing was sent"), "{err}");
    server.set_nonblocking(true).unwrap();
    assert!(server.recv(&mut [0; 100]).is_err());
}

#[test]
fn the_answer_of_the_console_keeps_lines_and_tabs() {
    let print = b"\xff\xff\xff\xffprint\ncount\t^1file\x1b\t\tfunction\n7\ta\t\tb\n".to_vec();
    let server = replying(vec![print]).to_string();
    let run = ["rcon", "--timeout", "1", &server, "status"];
    let mut command = command(&run);
    command.env("QUERYPORT_RCON_PASSWORD", "x");
    let (code, out, err) = judge(&run, &process::output(&mut command));
    assert_eq!(
        (code, out.as_str()),
        (Some(0), "count\tfile\t\tfunction\n7\ta\t\tb\n"),
        "{err}"
    );
}

#[test]
fn the_shards_of_a_list_are_its_parts() {
    let lines: Vec<String> = (1..=10)
        .map(|host| format!("quake3 127.0.0.{host}:9"))
        .collect();
    let file = list("shards", &lines.join("\n"));
    let mut scanned = Vec::new();
    for shard in ["1/3", "2/3", "3/3"] {
        let (_, _, err) = output(&[
            "scan",
            &file,
            "--shard",
            shard,
            "--timeout",
            "0.2",
            "--failures",
        ]);
        let failed = |line: &&str| line.contains(":9: ");
        let servers: Vec<String> = err.lines().filter(failed).map(str::to_owned).collect();
        assert!((3..=4).contains(&servers.len()), "{shard}: {err}");
        scanned.extend(servers);
    }
    assert_eq!(scanned.len(), lines.len(), "{scanned:?}");
    for line in lines {
        let server = line.trim_start_matches("quake3 ");
        assert_eq!(
            scanned
                .iter()
                .filter(|failed| failed.contains(&format!("{server}: ")))
                .count(),
            1,
            "{server}"
        );
    }
    std::fs::remove_file(file).unwrap();
}

/// The lines on a terminal of 80 columns after a program has ended.
fn on_a_terminal(run: &[&str]) -> Vec<String> {
    on_a_terminal_of(run, "xterm", 80)
}

fn on_a_terminal_of(run: &[&str], kind: &str, columns: u16) -> Vec<String> {
    // A line of progress is erased before other text replaces it.
    written_to_a_terminal(run, kind, columns)
        .split("\r\n")
        .map(|line| line.rsplit("\r\x1b[K").next().unwrap().to_owned())
        .collect()
}

/// All that a program writes to a terminal, without colours.
fn written_to_a_terminal(run: &[&str], kind: &str, columns: u16) -> String {
    let mut command = command(run);
    command.env("TERM", kind).env("NO_COLOR", "1");
    written(&mut command, columns)
}

/// All that a command writes to a terminal.
fn written(command: &mut Command, columns: u16) -> String {
    let Terminal { mut keys, line } = terminal::open(columns, 24);
    // The command has its own copies of the ends, which close with it.
    let spawned = command
        .stdout(line.try_clone().unwrap())
        .stderr(line.try_clone().unwrap())
        .spawn();
    let mut child = spawned.unwrap();
    // The command keeps its own copies.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let reader = std::thread::spawn(move || {
        let (mut text, mut buffer) = (Vec::new(), [0; 4096]);
        while let Ok(length @ 1..) = keys.read(&mut buffer) {
            text.extend_from_slice(&buffer[..length]);
        }
        String::from_utf8(text).unwrap()
    });
    process::wait(&mut child);
    drop(line);
    reader.join().unwrap()
}

#[test]
fn rows_fit_the_terminal_and_no_line_of_progress_stays_among_them() {
    let servers: String = (0..20)
        .map(|_| format!("{}\nquake3 127.0.0.1:9\n", long_named()))
        .collect();
    let file = list("terminal", &servers);
    for run in [
        &["scan", &file, "--timeout", "0.6"][..],
        &["browser", "--plain", &file, "--timeout", "0.6"],
    ] {
        let lines = on_a_terminal(run);
        let rows: Vec<_> = lines.iter().filter(|line| line.contains("Namex")).collect();
        assert_eq!(rows.len(), 20, "{lines:#?}");
        for row in rows {
            assert!(
                row.starts_with("127.0.0.1:") && row.chars().count() == 80 && row.ends_with('…'),
                "{row:?}"
            );
        }
        assert!(
            !lines
                .iter()
                .any(|line| line.contains("a second") && line.contains("of 40")),
            "{lines:#?}"
        );
    }
    std::fs::remove_file(file).unwrap();
}

#[test]
fn the_browser_reads_lists_with_anything_in_them() {
    let mut child = command(&["browser", "-", "--timeout", "0.5"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut list =
        b"\xef\xbb\xbf# a remark\nquake3 127.0.0.1:9\r\nnonsense\x1b[2J here too\n\xff\xfe\n"
            .to_vec();
    list.extend([b'x'; 10_000]);
    list.extend(b"\n127.0.0.1:9\n127.0.0.1:0\n");
    child.stdin.take().unwrap().write_all(&list).unwrap();
    let (code, out, err) = judge(&["browser", "-"], &process::finish(child));
    assert_eq!((code, out.as_str()), (Some(1), ""), "{err}");
    assert!(
        err.contains("-:5: a line of more than 4096 bytes")
            && err.contains("0 of ")
            && !err.contains('\u{1b}'),
        "{err}"
    );
    let (code, _, err) = output(&["browser", "/"]);
    assert!(
        code == Some(1) && err.to_lowercase().contains("is a directory"),
        "{err}"
    );
}

#[test]
fn the_browser_runs_without_a_home_folder_and_with_a_broken_one() {
    let run = ["browser", "--search", "ctf", "--timeout", "1"];
    let (mut without, mut broken) = (command(&run), command(&run));
    without.env_remove("HOME").env_remove("XDG_CONFIG_HOME");
    broken.env("XDG_CONFIG_HOME", "/dev/null");
    let cases = [
        (without, "servers answered"),
        (broken, "/dev/null/queryport/favourites: "),
    ];
    kit::at_once(cases, |(mut command, words)| {
        let (code, _, err) = judge(&run, &process::output(&mut command));
        assert!(code == Some(0) && err.contains(words), "{err}");
    });
}

/// Reads what a program shows on a terminal until these words are there.
fn wait_for(keys: &mut File, words: &str) {
    let (mut text, mut buffer) = (Vec::new(), [0; 4096]);
    while !String::from_utf8_lossy(&text).contains(words) {
        let length = keys.read(&mut buffer).unwrap();
        text.extend_from_slice(&buffer[..length]);
    }
}

#[test]
fn the_browser_ends_quietly_when_its_terminal_is_closed() {
    for signal in [Some(Signal::HUP), None] {
        let Terminal { mut keys, line } = terminal::open(80, 24);
        let end = || line.try_clone().unwrap();
        let mut child = command(&["browser"])
            .env("TERM", "xterm")
            .stdin(end())
            .stdout(end())
            .stderr(end())
            .spawn()
            .unwrap();
        drop(line);
        wait_for(&mut keys, "queryport");
        drop(keys);
        if let Some(signal) = signal {
            kill_process(Pid::from_child(&child), signal).unwrap();
        }
        let status = child.wait().unwrap();
        assert_eq!(status.code(), Some(0), "{signal:?}: {status}");
    }
}

/// Fills the buffer of a terminal that nobody reads.
fn fill(keys: &File) {
    /// Opens a terminal that does not control this process, and does not wait for it.
    const O_NOCTTY_NONBLOCK: i32 = 0o400 | 0o4000;
    let mut line = OpenOptions::new()
        .write(true)
        .custom_flags(O_NOCTTY_NONBLOCK)
        .open(terminal::path(keys))
        .unwrap();
    while line.write(&[b'x'; 4096]).is_ok() {}
}

/// Whether a process catches this signal.
fn catches(process: Pid, signal: Signal) -> bool {
    let status = format!("/proc/{}/status", process.as_raw_nonzero());
    let status = std::fs::read_to_string(status).unwrap();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let caught = u64::from_str_radix(caught.unwrap().trim(), 16).unwrap();
    caught >> (signal.as_raw() - 1) & 1 == 1
}

#[test]
fn a_signal_ends_the_browser_on_a_terminal_that_takes_no_output() {
    let Terminal { keys, line } = terminal::open(80, 24);
    fill(&keys);
    let end = || line.try_clone().unwrap();
    let mut child = command(&["browser"])
        .env("TERM", "xterm")
        .stdin(end())
        .stdout(end())
        .stderr(end())
        .spawn()
        .unwrap();
    let process = Pid::from_child(&child);
    while !catches(process, Signal::TERM) {
        std::thread::sleep(Duration::from_millis(50));
    }
    std::thread::sleep(Duration::from_millis(300));
    kill_process(process, Signal::TERM).unwrap();
    let status = process::wait(&mut child);
    assert_eq!(status.code(), Some(0), "{status}");
}

/// The reply to a request for this page; `None` if the connection is closed without one.
fn get(address: &str, page: &str) -> Option<String> {
    let mut stream = std::net::TcpStream::connect(address).ok()?;
    let request = format!("GET {page} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).ok()?;
    let mut reply = String::new();
    stream.read_to_string(&mut reply).ok()?;
    Some(reply).filter(|reply| !reply.is_empty())
}

#[test]
fn the_monitor_neither_spins_nor_ends_without_descriptors() {
    let program = env!("CARGO_BIN_EXE_queryport");
    let script = format!("ulimit -n 40; exec {program} monitor --listen 127.0.0.1:0");
    let mut child = process::interruptible("sh")
        .args(["-c", &script])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut first = String::new();
    let mut out = std::io::BufReader::new(child.stdout.take().unwrap());
    std::io::BufRead::read_line(&mut out, &mut first).unwrap();
    let address = first.split("http://").nth(1).unwrap();
    let address = address.split('/').next().unwrap().to_owned();
    let idle: Vec<_> = (0..100)
        .map(|_| std::net::TcpStream::connect(&address).unwrap())
        .collect();
    // Clock ticks of the processor; there are 100 per second.
    let ticks = || {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
        let fields: Vec<&str> = stat.split(' ').collect();
        [13, 14]
            .map(|field| fields[field].parse::<u64>().unwrap())
            .iter()
            .sum::<u64>()
    };
    let before = ticks();
    std::thread::sleep(Duration::from_secs(1));
    let taken = ticks() - before;
    assert!(taken < 60, "{taken} ticks in a second");
    drop(idle);
    for attempt in 0.. {
        if get(&address, "/").is_some_and(|reply| reply.starts_with("HTTP/1.1 200")) {
            break;
        }
        assert!(attempt < 100, "the page is not served");
        std::thread::sleep(Duration::from_millis(100));
    }
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn the_monitor_queries_two_servers_from_one_address() {
    let (mut servers, mut pairs) = (Vec::new(), Vec::new());
    for _ in 0..2 {
        let (server, out, first) = started(&["serve", "quake3", "0"]);
        let address = first.trim().split(" on ").nth(1).unwrap();
        let address = address.split(' ').next().unwrap().to_owned();
        pairs.extend(["quake3".to_owned(), address]);
        servers.push((server, out));
    }
    for bind in ["127.0.0.1".to_owned(), kit::later_address().to_string()] {
        let mut run = vec!["monitor", "--once", "--bind", &bind];
        run.extend(pairs.iter().map(String::as_str));
        let (code, out, err) = output(&run);
        assert!(
            code == Some(0) && out.starts_with("QUERYPORT OK: 2 of 2 servers up"),
            "{out}{err}"
        );
    }
    for (mut server, _) in servers {
        kill_process(Pid::from_child(&server), Signal::TERM).unwrap();
        server.wait().unwrap();
    }
}

/// A server of IW4x: `getstatus` is answered with the challenge.
fn iw4x(socket: &std::net::UdpSocket) {
    let mut buffer = [0; 256];
    let (length, from) = socket.recv_from(&mut buffer).unwrap();
    let challenge = buffer[..length]
        .strip_prefix(b"\xff\xff\xff\xffgetstatus ")
        .unwrap();
    let head = b"\xff\xff\xff\xffstatusResponse\n\\gamename\\IW4\\sv_hostname\\Rust 24/7\\protocol\\152\\challenge\\";
    socket
        .send_to(&[&head[..], challenge, b"\n12 40 \"Ann\"\n"].concat(), from)
        .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_servers_on_the_list_of_alterwares_master_are_scanned() {
    let server = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let registered = vec![("IW4".to_owned(), 152, server.local_addr().unwrap())];
    std::thread::spawn(move || iw4x(&server));
    // A host without a port: that of the known master.
    let host = kit::own_host(100).to_string();
    let master = tokio::net::UdpSocket::bind((&host[..], 20810))
        .await
        .unwrap();
    tokio::spawn(alterware::run(master, registered));
    let run = [
        "scan", "codmw2", "--master", &host, "--scope", "any", "--json",
    ];
    let (code, out, err) = output(&run);
    assert_eq!(code, Some(0), "{out}{err}");
    assert!(
        out.contains("Rust 24/7") && out.lines().count() == 1,
        "{out}{err}"
    );
    let summary = format!("{host}:20810: 1 server,");
    assert!(err.contains(&summary), "{err}");
}

#[test]
fn lines_of_json_have_the_names_of_the_library_and_errors_a_kind() {
    let server = long_named().to_string();
    let file = list("json", &format!("quake3 {server}\nquake3 127.0.0.1:9\n"));
    let (_, scanned, _) = output(&["scan", &file, "--json", "--timeout", "0.5"]);
    let (_, answered, _) = output(&["query", "quake3", &server, "--json"]);
    let (code, failed, _) = output(&[
        "query",
        "quake3",
        "127.0.0.1:9",
        "--json",
        "--timeout",
        "0.5",
    ]);
    assert_eq!(code, Some(1));
    let (mut outcomes, mut errors) = (0, 0);
    for line in [scanned, answered, failed]
        .iter()
        .flat_map(|out| out.lines())
    {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(line["protocol"], "quake3", "{line}");
        if let Some(error) = line.get("error") {
            errors += 1;
            assert_eq!(error["address"], "127.0.0.1:9", "{line}");
            assert!(
                error["kind"].is_string() && error["message"].is_string(),
                "{line}"
            );
        } else {
            outcomes += 1;
            let outcome: queryport::Outcome<queryport::ServerStatus> =
                serde_json::from_value(line.clone()).unwrap();
            assert_eq!(outcome.peer.to_string(), server);
            assert!(line["rtt"].as_f64().is_some_and(|rtt| rtt < 2.0), "{line}");
        }
    }
    assert_eq!((outcomes, errors), (2, 2));
    std::fs::remove_file(file).unwrap();
}

/// A result counts as finished when it is written, not when it is known.
#[test]
fn a_scan_on_a_full_disk_goes_on_after_the_results_that_it_wrote() {
    let servers: Vec<String> = (1..=300).map(|port| format!("127.1.2.3:{port}")).collect();
    let file = list("full", &servers.join("\n"));
    let results = format!("{file}.json");
    // A file of more than eight blocks is an error of `write`, as on a full disk.
    let script =
        "trap '' XFSZ; ulimit -f 8; exec \"$0\" scan --protocol quake3 --json \"$1\" > \"$2\"";
    let mut shell = Command::new("sh");
    shell.args([
        "-c",
        script,
        env!("CARGO_BIN_EXE_queryport"),
        &file,
        &results,
    ]);
    shell.stdin(Stdio::null()).stderr(Stdio::piped());
    let (code, _, err) = judge(&["scan"], &process::output(&mut shell));
    assert_eq!(code, Some(1), "{err}");
    let (_, skip) = err.split_once("--skip ").unwrap();
    let skip: usize = skip.lines().next().unwrap().parse().unwrap();
    let written = std::fs::read_to_string(&results).unwrap();
    let lines: Vec<&str> = written
        .split_inclusive('\n')
        .filter(|line| line.ends_with('\n'))
        .collect();
    assert!(lines.len() < servers.len(), "{} lines fit", lines.len());
    for server in &servers[..skip] {
        let is_of_server = |line: &&str| line.contains(&format!("\"{server}\""));
        assert!(
            lines.iter().any(is_of_server),
            "{server} is lost: --skip {skip}"
        );
    }
    std::fs::remove_file(file).unwrap();
    std::fs::remove_file(results).unwrap();
}

/// As in a laptop's sleep: when the process goes on, the time is over and the reply is there.
#[test]
fn a_process_that_was_stopped_reads_the_reply_before_it_reports_a_timeout() {
    let server = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = server.local_addr().unwrap().to_string();
    let run = [
        "query",
        "gamespy1",
        &address,
        "--timeout",
        "1",
        "--retries",
        "0",
    ];
    let child = command(&run).spawn().unwrap();
    let (_, from) = server.recv_from(&mut [0; 100]).unwrap();
    kill_process(Pid::from_child(&child), Signal::STOP).unwrap();
    let reply = b"\\hostname\\Srv\\numplayers\\0\\final\\\\queryid\\1.1";
    server.send_to(reply, from).unwrap();
    std::thread::sleep(Duration::from_millis(1500));
    kill_process(Pid::from_child(&child), Signal::CONT).unwrap();
    let (code, out, err) = judge(&run, &process::finish(child));
    assert!(code == Some(0) && out.starts_with("Srv"), "{out}{err}");
}

#[test]
fn an_interrupted_scan_has_a_status_of_its_own() {
    let silent = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let file = list(
        "interrupted",
        &format!("quake3 {}\n", silent.local_addr().unwrap()),
    );
    // Service managers end a program with the second one.
    for signal in [Signal::INT, Signal::TERM] {
        let child = command(&["scan", &file, "--timeout", "60"])
            .spawn()
            .unwrap();
        let mut buffer = [0; 64];
        silent.recv(&mut buffer).unwrap();
        kill_process(Pid::from_child(&child), signal).unwrap();
        let (code, _, err) = judge(&["scan"], &process::finish(child));
        assert!(
            code == Some(130) && err.ends_with("  interrupted; to go on:  --skip 0\n"),
            "{signal:?}: {err}"
        );
    }
    std::fs::remove_file(file).unwrap();
}

#[test]
fn an_interrupted_browser_without_a_screen_has_a_status_of_its_own() {
    let silent = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let file = list(
        "interrupted-lines",
        &format!("quake3 {}\n", silent.local_addr().unwrap()),
    );
    let run = ["browser", "--plain", &file, "--timeout", "60"];
    for signal in [Signal::INT, Signal::TERM] {
        let child = command(&run).spawn().unwrap();
        let mut buffer = [0; 64];
        silent.recv(&mut buffer).unwrap();
        kill_process(Pid::from_child(&child), signal).unwrap();
        let (code, _, err) = judge(&run, &process::finish(child));
        let words = "interrupted: 0 of 0 servers answered so far\n";
        assert_eq!((code, err.as_str()), (Some(130), words), "{signal:?}");
    }
    std::fs::remove_file(file).unwrap();
}

#[test]
fn a_short_query_has_the_counts_and_no_players() {
    let (mut child, _out, line) = started(&["serve", "quake3", "0"]);
    let address = line.trim().rsplit(' ').next().unwrap();
    let run = ["query", "quake3", address, "--short", "--json"];
    let (code, out, err) = output(&run);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(code, Some(0), "{out}{err}");
    let answer: serde_json::Value = serde_json::from_str(&out).unwrap();
    let answer = &answer["answer"];
    assert_eq!(answer["name"], "queryport embedded deathmatch");
    assert_eq!(
        (&answer["player_count"], &answer["max_players"]),
        (&4.into(), &16.into())
    );
    assert!(answer["players"].is_null(), "{out}");
    assert_eq!(answer["completeness"], "complete");
}

#[test]
fn a_narrow_terminal_wraps_no_line_of_a_summary_or_of_a_list() {
    let file = list(
        "narrow-summary",
        "quake3 127.0.0.1:9\nquake3 127.0.0.1:10\n",
    );
    let long = on_a_terminal_of(&["scan", &file, "--timeout", "0.6"], "dumb", 40);
    let games = on_a_terminal_of(&["games", "--protocol", "ut2004"], "xterm", 40);
    let served = on_a_terminal_of(&["serve", "--list"], "xterm", 40);
    let help = on_a_terminal_of(&["scan", "--help"], "xterm", 40);
    let game = on_a_terminal_of(&["games", "openarena"], "xterm", 40);
    let wrong = on_a_terminal_of(&["query", "--nonsense"], "xterm", 40);
    let status = on_a_terminal_of(&["query"], "xterm", 40);
    let unreachable = ["query", "quake3", "127.0.0.1:9", "--timeout", "0.5"];
    let failure = on_a_terminal_of(&unreachable, "xterm", 40);
    let all = [
        &long, &games, &served, &help, &game, &wrong, &status, &failure,
    ];
    for line in all.into_iter().flatten() {
        assert!(line.chars().count() <= 40, "{line:?}");
    }
    assert!(
        help.contains(&"  queryport scan openarena".to_owned()),
        "{help:#?}"
    );
    assert!(
        wrong.contains(&"  [GAME|PROTOCOL] [SERVER]".to_owned()),
        "{wrong:#?}"
    );
    assert!(long.iter().any(|line| line.starts_with("  unreachable")));
    assert!(games.iter().any(|line| line.ends_with(" Killing Floor")));
    assert!(served.iter().any(|line| line.ends_with(" Minecraft")));
    assert!(help.len() < 200, "a word a line: {help:#?}");
    std::fs::remove_file(file).unwrap();
}

#[test]
fn colours_are_for_terminals_that_show_them() {
    let (mut child, _out, line) = started(&["serve", "quake3", "0"]);
    let address = line.trim().rsplit(' ').next().unwrap();
    let run = ["query", "quake3", address];
    let has_codes = |kind: &str, no_color: &str| {
        let mut command = command(&run);
        let text = written(command.env("TERM", kind).env("NO_COLOR", no_color), 80);
        assert!(text.contains("Sarge"), "{text}");
        text.contains('\u{1b}')
    };
    let coloured = [("xterm", ""), ("xterm", "1"), ("dumb", "")]
        .map(|(kind, no_color)| has_codes(kind, no_color));
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(coloured, [true, false, false]);
}

#[test]
fn an_excluded_address_is_excluded_in_every_form() {
    let server = long_named().port();
    let servers = [
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f.1",
        "[::ffff:127.0.0.1]",
    ]
    .map(|host| format!("quake3 {host}:{server}\n"));
    let file = list("excluded", &servers.concat());
    let (_, out, err) = output(&[
        "scan",
        &file,
        "--exclude",
        "127.0.0.0/8",
        "--timeout",
        "0.5",
    ]);
    assert!(out.is_empty() && err.starts_with("0 asked"), "{out}{err}");
    std::fs::remove_file(file).unwrap();
}

#[test]
fn the_last_list_of_a_game_is_taken_for_the_same_scope_only() {
    let server = long_named();
    let cache = std::env::temp_dir().join(format!("queryport-cache-{}", std::process::id()));
    let folder = cache.join("queryport");
    std::fs::create_dir_all(&folder).unwrap();
    for scope in ["any", "public"] {
        std::fs::write(
            folder.join(format!("openarena-{scope}.list")),
            format!("{server}\n"),
        )
        .unwrap();
    }
    let scan = |scope| {
        let run = [
            "scan",
            "openarena",
            "--scope",
            scope,
            "--timeout",
            "0.5",
            "--list-timeout",
            "0.2",
        ];
        process::output(command(&run).env("XDG_CACHE_HOME", &cache))
    };
    let any = judge(&["any"], &scan("any"));
    assert!(any.0 == Some(0) && any.1.lines().count() == 1, "{any:?}");
    let words = "1 server of OpenArena from the last answers of its list servers\n";
    assert!(any.2.starts_with(words), "{any:?}");
    let public = judge(&["public"], &scan("public"));
    assert!(
        !public.1.contains("127.0.0.1") && !public.2.contains("last answers"),
        "{public:?}"
    );
    std::fs::remove_dir_all(cache).unwrap();
}

#[test]
fn a_person_is_told_that_input_is_read_from_the_terminal() {
    for (run, what) in [
        (["decode", "-"], "datagrams"),
        (["scan", "-"], "servers, one a line,"),
    ] {
        let Terminal { mut keys, line } = terminal::open(120, 24);
        let child = command(&run)
            .stdin(line.try_clone().unwrap())
            .spawn()
            .unwrap();
        drop(line);
        // Ctrl-D at the start of a line.
        keys.write_all(b"\x04").unwrap();
        let (code, _, err) = judge(&run, &process::finish(child));
        let words = format!("reading {what} from the terminal: Ctrl-D ends the input\n");
        assert!(code == Some(1) && err.starts_with(&words), "{err}");
    }
}

#[test]
fn a_terminal_that_does_not_report_its_columns_has_80() {
    let lines = on_a_terminal_of(&["games"], "xterm", 0);
    let widest = lines.iter().map(|line| line.chars().count()).max();
    assert_eq!(widest, Some(80), "{lines:#?}");
}

#[test]
fn completions_are_for_the_command_queryport() {
    for (shell, words) in [
        (
            "bash",
            "complete -F _queryport -o bashdefault -o default queryport\n",
        ),
        ("fish", "complete -c queryport "),
        ("zsh", "#compdef queryport\n"),
        ("elvish", "edit:completion:arg-completer[queryport]"),
        ("powershell", "-CommandName 'queryport'"),
    ] {
        let (code, out, err) = output(&["completions", shell]);
        assert!(
            code == Some(0) && out.contains(words) && err.is_empty(),
            "{shell}: {err}"
        );
    }
}

#[test]
fn a_shell_completes_games_and_protocols() {
    // The function is called as bash calls it: with the command, and the last two words.
    const COMPLETE: &str = r#"source /dev/stdin; COMP_WORDS=(queryport "$@");
        COMP_CWORD=$#; _queryport queryport "${@: -1}" "${@: -2:1}"; echo "${COMPREPLY[*]}""#;
    let (_, script, _) = output(&["completions", "bash"]);
    for (line, expected) in [
        ("query openar", "openarena"),
        ("query gamespy", "gamespy1 gamespy4"),
        ("scan openar", "openarena"),
        ("scan --protocol ut", "ut2004"),
        ("browser openar", "openarena"),
        ("monitor --game openar", "openarena"),
        ("serve minec", "minecraft"),
        ("games openar", "openarena"),
        ("master list openar", "openarena"),
    ] {
        let mut bash = process::interruptible("bash");
        bash.args(["-c", COMPLETE, "bash"]).args(line.split(' '));
        bash.stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = bash.spawn().unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(script.as_bytes())
            .unwrap();
        let (_, out, err) = judge(&[line], &process::finish(child));
        assert_eq!(out.trim_end(), expected, "{line}: {err}");
    }
}

/// Names of files and remarks in them are in any character set, for every command that reads them.
#[test]
fn files_that_are_not_utf_8_are_read_alike() {
    use std::os::unix::ffi::OsStrExt;

    let server = quake3_server(r"\mapname\q3dm17\sv_hostname\Srv");
    let list = [
        b"# f\xfcnf\nquake3 ",
        server.to_string().as_bytes(),
        b" # \xfc\n",
    ]
    .concat();
    // A status with the name Srv.
    let datagram =
        b"# f\xfcnf\nffffffff737461747573526573706f6e73650a5c73765f686f73746e616d655c5372760a\n";
    let name = format!("queryport-f\u{fc}nf-{}", std::process::id());
    let name: Vec<u8> = name.chars().map(|c| c as u8).collect();
    let file = std::env::temp_dir().join(std::ffi::OsStr::from_bytes(&name));
    for (run, content) in [
        (&["scan", "--retries", "0"][..], &list[..]),
        (&["browser", "--plain", "--retries", "0"], &list),
        (&["monitor", "--once", "--file"], &list),
        (&["decode"], datagram),
    ] {
        std::fs::write(&file, content).unwrap();
        let output = process::output(command(run).arg(&file));
        let (code, out, err) = judge(run, &output);
        assert!(
            code == Some(0) && out.contains("Srv"),
            "{run:?}: {out}{err}"
        );
    }
    std::fs::remove_file(file).unwrap();
}

#[test]
fn a_recorded_query_says_how_it_was_made_and_how_it_ended() {
    let (mut child, _out, line) = started(&["serve", "quake3", "0"]);
    let address = line.trim().rsplit(' ').next().unwrap();
    let run = |further: &[&str]| {
        let file = list("record", "");
        let run = [&["query", "quake3", address, "--record", &file], further].concat();
        let (code, out, err) = output(&run);
        assert_eq!(code, Some(0), "{out}{err}");
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::remove_file(file).unwrap();
        let datagrams = text.lines().filter(|line| !line.starts_with('#'));
        let times = datagrams.filter_map(|line| line.split_once(' ')?.0.split_once('.'));
        let digits: Vec<usize> = times.map(|(_, fraction)| fraction.len()).collect();
        assert_eq!(digits, [6, 6], "{text}");
        let remarks = text.lines().filter(|line| line.starts_with('#'));
        let remarks = remarks.filter(|line| !line.starts_with("# nonce "));
        remarks.map(str::to_owned).collect::<Vec<_>>()
    };
    let remarks = |detail, timeout, retries| {
        [
            "# protocol quake3".to_owned(),
            "# dialect Standard".to_owned(),
            format!("# detail {detail}"),
            format!("# timeout {timeout}"),
            format!("# retries {retries}"),
            "# outcome complete".to_owned(),
        ]
    };
    assert_eq!(run(&[]), remarks("full", 4, 2));
    let short = ["--short", "--timeout", "3", "--retries", "1"];
    assert_eq!(run(&short), remarks("short", 3, 1));
    child.kill().unwrap();
    child.wait().unwrap();
    // The server is gone: an earlier record stays.
    let file = list("kept-record", "# protocol quake3\n");
    let (code, out, err) = output(&["query", "quake3", address, "--record", &file]);
    assert_eq!(code, Some(1), "{out}{err}");
    assert_eq!(
        std::fs::read_to_string(&file).unwrap(),
        "# protocol quake3\n"
    );
    std::fs::remove_file(&file).unwrap();
    let (code, out, err) = output(&["query", "quake3", address, "--record", &file]);
    assert_eq!(code, Some(1), "{out}{err}");
    assert!(!std::path::Path::new(&file).exists(), "an empty record");
}

#[test]
fn the_monitor_begins_with_what_it_watches_and_where() {
    let run = [
        "monitor",
        "--listen",
        "127.0.0.1:0",
        "quake3",
        "127.0.0.1:9",
    ];
    let (mut child, _out, line) = started(&run);
    let address = line
        .split("http://")
        .nth(1)
        .unwrap()
        .split('/')
        .next()
        .unwrap();
    let words = "watching 1 server; status on http://ADDRESS/, metrics on http://ADDRESS/metrics\n";
    assert_eq!(line, words.replace("ADDRESS", address));
    let (code, _, err) = output(&["monitor", "--listen", address]);
    let words = format!(
        "cannot listen on {address}: address already in use: give another address with --listen\n"
    );
    assert_eq!((code, err), (Some(1), words));
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert_eq!(process::wait(&mut child).code(), Some(0));
    // With events, the output has them alone.
    let with_events = [&run[..], &["--interval", "1", "--events=json"]].concat();
    let (mut child, _out, line) = started(&with_events);
    assert!(line.starts_with('{') && line.contains("\"down\""), "{line}");
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert_eq!(process::wait(&mut child).code(), Some(0));
}

#[test]
fn a_terminal_that_cannot_erase_has_no_line_of_progress() {
    let silent = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let file = list(
        "dumb",
        &format!("quake3 {}\n", silent.local_addr().unwrap()),
    );
    let lines = on_a_terminal_of(&["scan", &file, "--timeout", "0.6"], "dumb", 80);
    assert!(
        !lines
            .iter()
            .any(|line| line.contains('\u{1b}') || line.contains("0 of 1")),
        "{lines:#?}"
    );
    std::fs::remove_file(file).unwrap();
}

/// A process that ends with its test, so that a failed one leaves no server behind.
struct Running(std::process::Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl std::ops::Deref for Running {
    type Target = std::process::Child;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl std::ops::DerefMut for Running {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

/// A service: its process, its further output and its first line.
fn started(
    run: &[&str],
) -> (
    Running,
    std::io::BufReader<std::process::ChildStdout>,
    String,
) {
    use std::io::BufRead;

    let mut child = command(run).spawn().unwrap();
    let mut line = String::new();
    let mut out = std::io::BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut line).unwrap();
    (Running(child), out, line)
}

#[test]
fn services_run_for_any_number_of_seconds() {
    let long = "999999999.5";
    for run in [
        &["serve", "quake3", "0", "--seconds", long][..],
        &["master", "serve", "127.0.0.1:0", "--seconds", long],
    ] {
        let (mut child, _out, line) = started(run);
        assert!(line.contains(" on 127.0.0.1:"), "{run:?}: {line}");
        std::thread::sleep(Duration::from_millis(300));
        assert!(child.try_wait().unwrap().is_none(), "{run:?}");
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

/// Service managers end a service with the second signal.
#[test]
fn services_end_well_by_either_signal() {
    let recorded = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/vectors/transcripts/own-quake3.txt"
    );
    let runs: [&[&str]; 4] = [
        &["serve", "quake3", "0", "--who"],
        &["serve", "quake3", "0", "--replay", recorded],
        &["master", "serve", "127.0.0.1:0"],
        &[
            "monitor",
            "--listen",
            "127.0.0.1:0",
            "quake3",
            "127.0.0.1:9",
        ],
    ];
    for run in runs {
        for signal in [Signal::INT, Signal::TERM] {
            let (mut child, out, _) = started(run);
            let process = Pid::from_child(&child);
            while !catches(process, signal) {
                std::thread::sleep(Duration::from_millis(10));
            }
            kill_process(process, signal).unwrap();
            let status = process::wait(&mut child);
            let last = std::io::BufRead::lines(out).last();
            assert_eq!(status.code(), Some(0), "{run:?} {signal:?}");
            if run[0] == "master" {
                let last = last.unwrap().unwrap();
                assert!(last.starts_with("lists: 0 sent"), "{signal:?}: {last}");
            }
        }
    }
}

#[test]
fn a_master_goes_on_when_nobody_reads_its_lines() {
    let (mut child, out, first) = started(&["master", "serve", "127.0.0.1:0", "--loopback"]);
    let master: std::net::SocketAddr = first.trim().rsplit(' ').next().unwrap().parse().unwrap();
    drop(out);
    let server = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    server
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    for _ in 0..4 {
        for heartbeat in ["heartbeat Nonsense\n", "heartbeat DarkPlaces\n"] {
            let heartbeat = [b"\xff\xff\xff\xff", heartbeat.as_bytes()].concat();
            server.send_to(&heartbeat, master).unwrap();
        }
        let mut buffer = [0; 100];
        let length = server.recv(&mut buffer).unwrap();
        assert!(buffer[..length].starts_with(b"\xff\xff\xff\xffgetinfo "));
        // It prints what has happened four times a second.
        std::thread::sleep(Duration::from_millis(300));
    }
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert_eq!(process::wait(&mut child).code(), Some(0));
}

#[test]
fn gamespy1_echoes_and_sends_properties_if_its_flags_say_so() {
    let flags = [
        "--echo",
        "--level-property",
        "Title=Coret",
        "--game-property",
        "GoalTeamScore=3",
        "--player-properties",
    ];
    let commands =
        "players,level_property=Title,game_property=GoalTeamScore,player_property=skin,echo=x";
    let printed = |flags: &[&str]| {
        let run = [&["serve", "gamespy1", "0", "--players", "2"][..], flags].concat();
        let (mut child, _out, line) = started(&run);
        let (_, rest) = line.split_once("127.0.0.1:").unwrap();
        let port: String = rest.chars().take_while(char::is_ascii_digit).collect();
        let server = format!("127.0.0.1:{port}");
        let (code, out, err) = output(&["query", "gamespy1", &server, "--commands", commands]);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(code, Some(0), "{out}{err}");
        out
    };
    let out = printed(&flags);
    for line in [
        "Title = Coret",
        "GoalTeamScore = 3",
        "skin_1 = ",
        "skin_2 = ",
        "echo_replay = x",
        "-- echo: \"x\" under the key \"echo_replay\"",
        "-- complete",
    ] {
        assert!(out.lines().any(|other| other == line), "{line}: {out}");
    }
    let out = printed(&[]);
    for key in ["Title", "GoalTeamScore", "skin_", "echo"] {
        assert!(!out.contains(key), "{key}: {out}");
    }
}

#[test]
fn a_master_listens_on_the_same_port_of_both_families() {
    let port = kit::later_address().port();
    let addresses = [format!("0.0.0.0:{port}"), format!("[::]:{port}")];
    let run = [
        "master",
        "serve",
        &addresses[0],
        &addresses[1],
        "--seconds",
        "0",
    ];
    let (code, out, err) = output(&run);
    assert_eq!(code, Some(0), "{out}{err}");
    assert_eq!(out.matches("listening on").count(), 2, "{out}");
}

#[test]
fn serve_lists_the_words_for_its_games_and_takes_each() {
    let (code, out, _) = output(&["serve", "--list"]);
    assert_eq!(code, Some(0));
    let mut games = 0;
    for line in out.lines().skip(1) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let run = ["serve", words[1], "0", "--players", "400", "--seconds", "0"];
        let (code, out, err) = output(&run);
        assert!(
            code == Some(0) && err.lines().count() <= 1,
            "{line}: {out}{err}"
        );
        games += 1;
    }
    assert_eq!(games, 9, "{out}");
}

#[test]
fn metrics_wait_for_a_free_descriptor() {
    let script = "ulimit -n 40; exec \"$0\" serve quake3 0 --metrics 127.0.0.1:0 --seconds 60";
    let mut shell = process::interruptible("sh");
    shell
        .args(["-c", script, env!("CARGO_BIN_EXE_queryport")])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = shell.spawn().unwrap();
    let mut line = String::new();
    let mut out = std::io::BufReader::new(child.stdout.take().unwrap());
    std::io::BufRead::read_line(&mut out, &mut line).unwrap();
    let (_, address) = line.split_once("http://").unwrap();
    let address = address.trim_end().trim_end_matches("/metrics");
    let held: Vec<_> = (0..60)
        .map(|_| std::net::TcpStream::connect(address).unwrap())
        .collect();
    std::thread::sleep(Duration::from_millis(1000));
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
    let ticks: Vec<u64> = stat
        .split_whitespace()
        .skip(13)
        .take(2)
        .map(|ticks| ticks.parse().unwrap())
        .collect();
    drop(held);
    child.kill().unwrap();
    let (_, _, err) = judge(&["serve"], &child.wait_with_output().unwrap());
    assert!(
        ticks.iter().sum::<u64>() < 40,
        "{ticks:?} hundredths of a second"
    );
    assert_eq!(err.matches("metrics: cannot accept").count(), 1, "{err}");
}

#[test]
fn decode_reads_datagrams_in_any_form_and_says_what_each_is() {
    let request = "ffffffff676574737461747573";
    let reply = format!(
        "ffffffff{}",
        hex::encode("statusResponse\n\\mapname\\q3dm17\\sv_hostname\\\u{9b}31m\n")
    );
    let raw = list("raw", "");
    std::fs::write(&raw, hex::decode(&reply).unwrap()).unwrap();
    // Neither the file's name nor the remark is UTF-8.
    let text = PathBuf::from(OsStr::from_bytes(
        &[list("hex", "").as_bytes(), b"\xff"].concat(),
    ));
    let lines = format!("{request}\n{reply}\n");
    std::fs::write(&text, [b"# Fran\xe7ois\n", lines.as_bytes()].concat()).unwrap();
    let mut decode = command(&["decode", &raw]);
    let (code, out, err) = judge(&["decode"], &process::output(decode.arg(&text)));
    assert_eq!(code, Some(0), "{out}{err}");
    assert!(!out.contains('\u{9b}'), "{out}");
    let lines: Vec<serde_json::Value> = out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 2);
    for line in &lines {
        assert_eq!(
            (&line["protocol"], &line["command"]),
            (&"quake3".into(), &"statusResponse".into()),
            "{line}"
        );
    }
    let of = |number: usize| lines[1]["datagrams"][number].clone();
    assert_eq!(
        (&of(0)["from"], &of(0)["message"]),
        (&"client".into(), &"request".into()),
        "{}",
        lines[1]
    );
    assert_eq!(
        (&of(1)["from"], &of(1)["message"]),
        (&"server".into(), &"response".into()),
        "{}",
        lines[1]
    );
    let mut names: Vec<_> = of(1).as_object().unwrap().keys().cloned().collect();
    names.sort();
    assert_eq!(names, ["begins", "bytes", "from", "message", "protocol"]);
    let read = on_a_terminal(&["decode", &raw]);
    assert!(
        read.iter()
            .any(|line| line == "  \"protocol\": \"quake3\","),
        "{read:?}"
    );
    let noise = list("noise", "GET / HTTP/1.1");
    let (code, out, _) = output(&["decode", &noise]);
    assert!(
        code == Some(1) && out.contains("no datagram is a message of a known protocol"),
        "{out}"
    );
    for file in [raw.into(), text, noise.into(), list("hex", "").into()] {
        std::fs::remove_file(file).unwrap();
    }
}

/// The error of the only line.
fn json_error(out: &str) -> serde_json::Value {
    let line: serde_json::Value = serde_json::from_str(out.trim_end()).expect(out);
    let error = line["error"].clone();
    assert!(
        error["message"].is_string() && error.as_object().unwrap().len() == 3,
        "{out}"
    );
    error
}

#[test]
fn every_error_in_json_has_a_kind_a_message_and_an_address() {
    let noise = list("json-noise", "GET / HTTP/1.1");
    let empty = list("json-empty", " ");
    let odd = list("json-odd", "{\"packets\": [\"zz\"]}");
    let refused = list(
        "json-refused",
        "{\"protocol\": \"ut2004\", \"packets\": [\"ffffffff5c615c62\"]}",
    );
    let decoded: [(&str, &str); 5] = [
        ("/nothing/here", "io"),
        (&noise, "not_this_protocol"),
        (&empty, "malformed"),
        (&odd, "malformed"),
        (&refused, "not_this_protocol"),
    ];
    for (file, kind) in decoded {
        let (code, out, err) = output(&["decode", file]);
        let error = json_error(&out);
        assert_eq!(code, Some(1), "{out}{err}");
        assert_eq!(error["kind"], kind, "{out}");
        assert!(error["address"].is_null() && err.is_empty(), "{out}{err}");
    }
    for file in [noise, empty, odd, refused] {
        std::fs::remove_file(file).unwrap();
    }
    let (code, out, err) = output(&["games", "openarena", "--json"]);
    assert_eq!(code, Some(0), "{out}{err}");
    let line: serde_json::Value = serde_json::from_str(out.trim_end()).expect(&out);
    let mut names: Vec<_> = line.as_object().unwrap().keys().cloned().collect();
    names.sort();
    assert_eq!(
        names.join(" "),
        "aliases also_at certainty evidence game_port gamename id key masters name numbers old_ids \
         protocol query_port quirks source year"
    );
    let (code, out, err) = output(&["games", "opnarena", "--json"]);
    let error = json_error(&out);
    assert_eq!(
        (code, &error["kind"]),
        (Some(2), &"request".into()),
        "{out}"
    );
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("did you mean openarena") && err.is_empty());
    // Nothing answers at a documentation address, and there may be no route to it.
    let search = ["query", "--lan", "openarena", "--network", "192.0.2.255"];
    let json = [&search[..], &["--json", "--timeout", "0.3"]].concat();
    let (code, out, err) = output(&json);
    assert_eq!(code, Some(1), "{out}{err}");
    assert!(json_error(&out)["kind"].is_string() && err.is_empty());
}
