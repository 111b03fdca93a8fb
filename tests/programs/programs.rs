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

use kit::terminal::Terminal;
use kit::{process, terminal};

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
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
fn runs_without_a_terminal_have_plain_lines() {
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

/// A server that sends these replies to a request. It has a host of its own: a query of an address
/// also asks other ports, where the server of another test can answer.
fn responding(
    mut replies: impl FnMut(&[u8]) -> Vec<Vec<u8>> + Send + 'static,
) -> std::net::SocketAddr {
    let socket = std::net::UdpSocket::bind((kit::own_host(120), 0)).unwrap();
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
    let run = ["scan", &good, "--timeout", "0.5"];
    let (code, out, err) = output(&run);
    assert!(
        code == Some(0) && out.contains("a_very_long_map_name Namexxx"),
        "{out}{err}"
    );
    let wrong = list(
        "wrong",
        &format!("openarna {server}\nquake3 {server}\nquake3 127.0.0.1:70000\n"),
    );
    let (code, out, err) = output(&["scan", &wrong, "--timeout", "0.5"]);
    assert!(code == Some(1) && out.lines().count() == 1, "{out}{err}");
    for words in [
        ":1: unknown game",
        ":3: the port \"70000\"",
        "rejected    2",
    ] {
        assert!(err.contains(words), "{words:?} in {err}");
    }
    let (code, out, err) = output(&["browser", "--plain", &wrong, "--timeout", "0.5"]);
    assert!(
        code == Some(1) && out.lines().count() == 1 && err.contains("openarna"),
        "{out}{err}"
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
fn an_answer_of_the_console_keeps_its_lines_and_an_incomplete_one_has_a_status_of_its_own() {
    let print = b"\xff\xff\xff\xffprint\ncount\t^1file\x1b\t\tfunction\n7\ta\t\tb\n".to_vec();
    let lines = "count\tfile\t\tfunction\n7\ta\t\tb\n";
    let rcon = |replies| {
        let server = replying(replies).to_string();
        let run = ["rcon", "--timeout", "1", &server, "status"];
        let mut command = command(&run);
        command.env("QUERYPORT_RCON_PASSWORD", "x");
        judge(&run, &process::output(&mut command))
    };
    let (code, out, err) = rcon(vec![print.clone()]);
    assert_eq!((code, out.as_str()), (Some(0), lines), "{err}");
    // Still sending at the timeout.
    let (code, out, err) = rcon(vec![print; 100]);
    assert!(
        code == Some(3) && out.starts_with(lines) && err.contains("incomplete"),
        "{out}{err}"
    );
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
                row.starts_with("127.") && row.chars().count() == 80 && row.ends_with('…'),
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
fn services_neither_spin_nor_end_without_descriptors() {
    let services = [
        "monitor --listen 127.0.0.1:0",
        "serve quake3 0 --metrics 127.0.0.1:0",
    ];
    kit::at_once(services, |service| {
        let program = env!("CARGO_BIN_EXE_queryport");
        let errors = list(&service.replace([' ', '/'], "-"), "");
        let script = format!("ulimit -n 40; exec {program} {service} 2>{errors}");
        let mut shell = process::interruptible("sh");
        shell
            .args(["-c", &script])
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        let (mut child, _out, first) = first_line(&mut shell);
        let address = first.split("http://").nth(1).unwrap();
        let address = address.split('/').next().unwrap();
        let idle: Vec<_> = (0..100)
            .map(|_| std::net::TcpStream::connect(address).unwrap())
            .collect();
        // Clock ticks of the processor; there are 100 per second.
        let ticks = || {
            let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
            let fields = stat.split(' ').skip(13).take(2);
            fields
                .map(|field| field.parse::<u64>().unwrap())
                .sum::<u64>()
        };
        let before = ticks();
        std::thread::sleep(Duration::from_secs(1));
        let taken = ticks() - before;
        assert!(taken < 60, "{service}: {taken} ticks in a second");
        drop(idle);
        for attempt in 0.. {
            let reply = get(address, "/metrics");
            if reply.is_some_and(|reply| reply.starts_with("HTTP/1.1 200")) {
                break;
            }
            assert!(attempt < 100, "{service}: the page is not served");
            std::thread::sleep(Duration::from_millis(100));
        }
        kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(0));
        let lines = std::fs::read_to_string(&errors).unwrap().lines().count();
        assert!(lines <= 1, "{service}: {lines} lines of errors");
        std::fs::remove_file(errors).unwrap();
    });
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
fn interrupted_lists_have_a_status_of_their_own() {
    let silent = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap();
    let file = list("interrupted", &format!("quake3 {address}\n"));
    // Service managers end a program with the second one.
    for (run, signal, words) in [
        (
            &["scan"][..],
            Signal::INT,
            "  interrupted; to go on:  --skip 0\n",
        ),
        (
            &["browser", "--plain"],
            Signal::TERM,
            "interrupted: 0 of 0 servers answered so far\n",
        ),
    ] {
        let run = [run, &[&file, "--timeout", "60"]].concat();
        let child = command(&run).spawn().unwrap();
        silent.recv(&mut [0; 64]).unwrap();
        kill_process(Pid::from_child(&child), signal).unwrap();
        let (code, _, err) = judge(&run, &process::finish(child));
        assert!(code == Some(130) && err.ends_with(words), "{run:?}: {err}");
    }
    std::fs::remove_file(file).unwrap();
}

#[test]
fn a_narrow_terminal_wraps_no_line_of_a_summary_or_of_a_list() {
    let file = list("narrow", "quake3 127.0.0.1:9\nquake3 127.0.0.1:10\n");
    // A terminal that cannot erase has no line of progress.
    let scan = ["scan", &file, "--timeout", "0.6"];
    let written = written_to_a_terminal(&scan, "dumb", 40);
    assert!(!written.contains('\u{1b}'), "{written:?}");
    for (run, words) in [
        (&scan[..], "  unreachable"),
        (&["games", "--protocol", "ut2004"], " Killing Floor"),
        (&["scan", "--help"], "  queryport scan openarena"),
        (&["games", "openarena"], "OpenArena"),
        (&["query", "--nonsense"], "  [GAME|PROTOCOL] [SERVER]"),
        (&["query", "quake3", "127.0.0.1:9"], "unreachable"),
    ] {
        let lines = on_a_terminal_of(run, "dumb", 40);
        for line in &lines {
            assert!(line.chars().count() <= 40, "{line:?}");
        }
        assert!(lines.iter().any(|line| line.contains(words)), "{lines:#?}");
    }
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
fn a_terminal_that_does_not_report_its_columns_has_80() {
    let lines = on_a_terminal_of(&["games"], "xterm", 0);
    let widest = lines.iter().map(|line| line.chars().count()).max();
    assert_eq!(widest, Some(80), "{lines:#?}");
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
        ("monitor --game openar", "openarena"),
        ("serve minec", "minecraft"),
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
        let remarks = text.lines().filter(|line| line.starts_with('#'));
        let remarks = remarks.filter(|line| !line.starts_with("# nonce "));
        remarks.map(str::to_owned).collect::<Vec<_>>().join("")
    };
    let usual = "# protocol quake3# dialect Standard# detail full# timeout 4# retries 2";
    assert_eq!(run(&[]), format!("{usual}# outcome complete"));
    let short = run(&["--short", "--timeout", "3", "--retries", "1"]);
    let words = "# detail short# timeout 3# retries 1";
    assert!(short.contains(words), "{short}");
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
fn the_output_of_a_monitor_with_events_has_them_alone() {
    let run = "monitor --listen 127.0.0.1:0 quake3 127.0.0.1:9 --interval 1 --events=json";
    let run: Vec<&str> = run.split(' ').collect();
    let (mut child, _out, line) = started(&run);
    assert!(line.starts_with('{') && line.contains("\"down\""), "{line}");
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert_eq!(process::wait(&mut child).code(), Some(0));
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
type Started = (
    Running,
    std::io::BufReader<std::process::ChildStdout>,
    String,
);

fn started(run: &[&str]) -> Started {
    first_line(&mut command(run))
}

fn first_line(command: &mut Command) -> Started {
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    let mut out = std::io::BufReader::new(child.stdout.take().unwrap());
    std::io::BufRead::read_line(&mut out, &mut line).unwrap();
    (Running(child), out, line)
}

/// Service managers end a service with the second signal.
#[test]
fn services_end_well_by_either_signal() {
    let recorded = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/vectors/transcripts/own-quake3.txt"
    );
    let long = "999999999.5";
    let runs: [&[&str]; 4] = [
        &["serve", "quake3", "0", "--who", "--seconds", long],
        &["serve", "quake3", "0", "--replay", recorded],
        &["master", "serve", "127.0.0.1:0", "--seconds", long],
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
    let flags = "--echo --level-property Title=Coret --game-property GoalTeamScore=3 \
                 --player-properties --players 2";
    let flags: Vec<&str> = flags.split(' ').collect();
    let (mut child, _out, line) = started(&[&["serve", "gamespy1", "0"][..], &flags].concat());
    let (_, rest) = line.split_once(" on ").unwrap();
    let server = rest.split([' ', ',', '\n']).next().unwrap();
    let commands =
        "players,level_property=Title,game_property=GoalTeamScore,player_property=skin,echo=x";
    let (code, out, err) = output(&["query", "gamespy1", server, "--commands", commands]);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(code, Some(0), "{out}{err}");
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
