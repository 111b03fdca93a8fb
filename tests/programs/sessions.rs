//! Commands of `queryport` and of the examples with their exit statuses, and the lines that matter:
//!
//! ```text
//! = 2 games nonsense           the exit status, variables of the environment, the arguments
//! < a line                     standard input
//! | a line                     a line of standard output
//! ! a line                     a line of standard error
//! ```
//!
//! After `--example`, the program is a built example. Names in braces are servers of this file, with
//! `:host` and `:port` their parts; `*` is any text, and columns are joined by one space.

use std::io::Write;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

use kit::process;

use crate::responding;

/// The commands that run at the same time.
const AT_ONCE: usize = 24;

#[test]
fn every_command_has_the_exit_status_and_the_lines_of_its_session() {
    if !cfg!(all(feature = "games", feature = "secure-rcon")) {
        return kit::not_checked("sessions: the program is built without all features");
    }
    let examples = [
        "bot",
        "bot_blocking",
        "connect",
        "fifth_protocol",
        "game_server",
        "inspect",
        "mock",
        "sans_io_std",
        "tracker",
    ];
    let with_examples = are_built(&examples);
    let steps = steps(include_str!("sessions.txt"));
    assert!(steps.len() > 150, "{} commands", steps.len());
    let steps: Vec<Step> = steps
        .into_iter()
        .filter(|step| with_examples || !step.line.starts_with("--example"))
        .collect();
    let (servers, left) = (servers(), Mutex::new(steps.iter()));
    let next = || left.lock().unwrap().next();
    let check_the_next = || {
        let mut wrong = String::new();
        while let Some(step) = next() {
            wrong += &check(step, &servers);
        }
        wrong
    };
    let wrong: String = std::thread::scope(|scope| {
        let running = [(); AT_ONCE].map(|()| scope.spawn(check_the_next));
        running.map(|thread| thread.join().unwrap()).concat()
    });
    assert!(wrong.is_empty(), "{wrong}");
}

/// The folder of the built examples.
pub(crate) fn examples() -> PathBuf {
    Path::new(env!("CARGO_BIN_EXE_queryport")).with_file_name("examples")
}

/// Whether these examples are built, and later than their source was changed.
pub(crate) fn are_built(names: &[&str]) -> bool {
    let changed = |file: &Path| std::fs::metadata(file).ok()?.modified().ok();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let is_built = |name: &&str| {
        let source = [format!("{name}.rs"), format!("{name}/main.rs")];
        let written = source.iter().find_map(|file| changed(&folder.join(file)));
        written < changed(&examples().join(name))
    };
    let are_built = names.iter().all(is_built);
    if !are_built {
        kit::not_checked("outputs of the examples, which are not built");
    }
    are_built
}

/// A command of a session.
#[derive(Debug)]
struct Step {
    status: i32,
    line: String,
    input: String,
    /// Lines of the output and of the messages.
    out: Vec<String>,
    err: Vec<String>,
}

fn steps(session: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for line in session.lines() {
        let (mark, text) = line.split_at(line.len().min(1));
        let text = text.trim_start().to_owned();
        if mark == "=" {
            let (status, line) = text.split_once(' ').expect("a status and a command");
            steps.push(Step {
                status: status.parse().expect("an exit status"),
                line: line.to_owned(),
                input: String::new(),
                out: Vec::new(),
                err: Vec::new(),
            });
        }
        let step = steps.last_mut();
        match mark {
            "<" => step.expect("a command").input += &format!("{text}\n"),
            "|" => step.expect("a command").out.push(text),
            "!" => step.expect("a command").err.push(text),
            "=" | "#" | "" => {}
            _ => panic!("{line}"),
        }
    }
    steps
}

/// Runs a command, and returns what is wrong with its exit status and lines.
fn check(step: &Step, servers: &[(&'static str, SocketAddr)]) -> String {
    let named = |text: &str| {
        let mut text = text.to_owned();
        for (name, address) in servers {
            text = text.replace(&format!("{{{name}}}"), &address.to_string());
            text = text.replace(&format!("{{{name}:host}}"), &address.ip().to_string());
            text = text.replace(&format!("{{{name}:port}}"), &address.port().to_string());
        }
        text
    };
    let words = words(&named(&step.line));
    let is_variable = |word: &&String| word.starts_with("QUERYPORT_");
    let variables = words.iter().take_while(is_variable);
    let arguments = words.iter().skip_while(is_variable);
    let mut arguments = arguments.peekable();
    let mut command = match arguments.next_if(|word| *word == "--example") {
        Some(_) => Command::new(examples().join(arguments.next().unwrap())),
        None => Command::new(env!("CARGO_BIN_EXE_queryport")),
    };
    command
        .args(arguments)
        // What the shell of a developer may set.
        .env_remove("QUERYPORT_RCON_PASSWORD")
        .env_remove("QUERYPORT_PASSWORD")
        .env_remove("CLICOLOR_FORCE")
        .env_remove("COLUMNS")
        .envs(variables.filter_map(|word| word.split_once('=')))
        .env("XDG_CONFIG_HOME", "/nonexistent")
        .env("XDG_CACHE_HOME", "/nonexistent")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    // A command that reads no input may have ended.
    let _ = input.write_all(named(&step.input).as_bytes());
    drop(input);
    let output = process::finish(child);
    let [out, err] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    let mut wrong = String::new();
    if output.status.code() != Some(step.status) {
        wrong += &format!("  {}, not {}\n", output.status, step.status);
    }
    if err.contains("panicked") || step.status != 0 && out.is_empty() && err.is_empty() {
        wrong += "  a panic, or a failure without words\n";
    }
    for (expected, printed) in [(&step.out, &out), (&step.err, &err)] {
        let is_missing = |pattern: &&String| {
            let pattern = named(pattern);
            !printed
                .lines()
                .any(|line| matches(&pattern, &columns(line)))
        };
        for pattern in expected.iter().filter(is_missing) {
            wrong += &format!("  no line {pattern}\n");
        }
    }
    if wrong.is_empty() {
        return wrong;
    }
    format!("{}\n{wrong}{out}{err}\n", step.line)
}

/// The columns of a line, with a space between each two.
fn columns(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether a line is this pattern, with any text for each `*`.
fn matches(pattern: &str, line: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = line.strip_prefix(parts.next().unwrap_or_default()) else {
        return false;
    };
    let Some(last) = parts.next_back() else {
        return rest.is_empty();
    };
    for part in parts {
        let Some((_, after)) = rest.split_once(part) else {
            return false;
        };
        rest = after;
    }
    rest.ends_with(last)
}

/// The words of a command line. Quotes keep spaces in a word.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (number, part) in line.split('"').enumerate() {
        if number % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}

/// A server that replies to requests that begin with these words, or are these before a `$`.
fn server(replies: Vec<(&'static [u8], Vec<u8>)>) -> SocketAddr {
    responding(move |request| {
        let is_asked = |words: &[u8]| {
            let is_whole = words.strip_suffix(b"$") == Some(request);
            is_whole || request.starts_with(words)
        };
        let asked = replies.iter().filter(|(words, _)| is_asked(words));
        asked.map(|(_, reply)| reply.clone()).collect()
    })
}

const QUAKE3: &[u8] = b"\xff\xff\xff\xffstatusResponse\n\\sv_hostname\\^1Red Srv\\mapname\\q3dm17\
    \\gamename\\baseq3\\version\\Q3 1.32\\protocol\\68\\g_gametype\\0\\sv_maxclients\\16\\timelimit\\10\
    \\fraglimit\\20\\g_needpass\\1\\sv_privateClients\\2\n7 40 \"^2Ann\"\n-1 0 \"Bob\"\n";
const TERROR: &[u8] = b"\xff\xff\xff\xffstatusResponse\n\\version\\ioQ3 1.35 urt 4.3.4\
    \\gamename\\q3urt43\\mapname\\ut4_abbey\\sv_hostname\\Srv\n";
const WHOLE: &[u8] = br"\gamename\ut\hostname\Srv\mapname\DM-Deck16\queryid\1.1\final\";
const PROVED: &str =
    r"\gamename\ut\location\7\player_0\Ann\frags_0\3\echo\x\validate\{v}\queryid\1.1\final\";
const INFO: &[u8] =
    b"\xff\xff\xff\xffinfoResponse\n\\protocol\\68\\hostname\\Srv\\mapname\\q3dm17\\clients\\1";
const CHALLENGE: &[u8] = b"\xff\xff\xff\xffchallengeResponse 4711";
const CYRILLIC: &[u8] = b"\xff\xff\xff\xffstatusResponse\n\\sv_hostname\\\xcf\xf0\\mapname\\\x80\n";
const GETSTATUS: &[u8] = b"\xff\xff\xff\xffgetstatus";
const PRINT: &[u8] = b"\xff\xff\xff\xffprint\n";

/// The servers that commands name.
fn servers() -> Vec<(&'static str, SocketAddr)> {
    let reply = |words, reply: &[u8]| vec![(words, reply.to_vec())];
    let cut = &WHOLE[..WHOLE.len() - br"\final\".len()];
    let quake3 = server(reply(GETSTATUS, QUAKE3));
    let terror = server(reply(GETSTATUS, TERROR));
    let both = [reply(GETSTATUS, QUAKE3), reply(b"\\", cut)].concat();
    let list = |word: &str| {
        let mut list = [b"\xff\xff\xff\xff", word.as_bytes(), b"Response"].concat();
        for server in [quake3, terror] {
            let SocketAddr::V4(server) = server else {
                panic!("{server}");
            };
            list.push(b'\\');
            list.extend(server.ip().octets());
            list.extend(server.port().to_be_bytes());
        }
        list.extend(b"\\EOT\0\0\0");
        list
    };
    let lists = vec![
        (&b"\xff\xff\xff\xffgetservers "[..], list("getservers")),
        (b"\xff\xff\xff\xffgetserversExt ", list("getserversExt")),
    ];
    let playable = vec![(&b"\xff\xff\xff\xffgetservers 70$"[..], list("getservers"))];
    let said = |words: &'static [u8], text: &str| (words, [PRINT, text.as_bytes()].concat());
    let console = vec![
        said(b"\xff\xff\xff\xffrcon x status", "a line\n"),
        said(b"\xff\xff\xff\xffrcon x quit", "bye\n"),
    ];
    let slots = |reply: &[u8]| {
        vec![
            (&b"\xff\xff\xff\xffgetinfo"[..], INFO.to_vec()),
            (b"\xff\xff\xff\xffgetchallenge", CHALLENGE.to_vec()),
            (
                b"\xff\xff\xff\xffconnect",
                [b"\xff\xff\xff\xff", reply].concat(),
            ),
        ]
    };
    let (game, full) = (
        slots(b"connectResponse"),
        slots(b"print\nServer is full.\n"),
    );
    let key = queryport::GameKey::new("abcdef").unwrap();
    let proved = PROVED.replace("{v}", &key.validate(b"ABCDEF").unwrap());
    vec![
        ("quake3", quake3),
        ("terror", terror),
        ("master", server(lists)),
        ("whole", server(reply(b"\\", WHOLE))),
        ("cut", server(reply(b"\\", cut))),
        // Two protocols at one port, of which one is answered incompletely.
        ("both", server(both)),
        ("silent", server(Vec::new())),
        ("noise", server(reply(b"", b"noise"))),
        ("console", server(console)),
        ("playable", server(playable)),
        ("cyrillic", server(reply(GETSTATUS, CYRILLIC))),
        ("proved", server(reply(b"\\", proved.as_bytes()))),
        ("game", server(game)),
        ("full", server(full)),
        (
            "refusing",
            server(reply(b"", &[PRINT, b"Bad rconpassword.\n"].concat())),
        ),
        // Nothing listens there, and no server gets this port.
        ("closed", kit::later_address()),
    ]
}
