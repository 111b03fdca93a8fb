//! Whole outputs of `queryport`, as a person sees them. A session is a text file of commands, each
//! with its input, its output and its exit status:
//!
//! ```text
//! $ games nonsense             the arguments; variables of the environment come first
//! < a line                     standard input
//! | a line                     standard output
//! ! a line                     standard error
//! = 2                          the exit status
//! ```
//!
//! After `--example`, the program is a built example. Names in braces are servers of this file, and
//! a `*` is a number that varies. `| sort` after a command sorts the lines of its output; `| fmt`
//! joins them, and begins a line before each option.

use std::io::Write;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use kit::process;

use crate::responding;

/// The commands of a file that run at the same time.
const AT_ONCE: usize = 24;

/// Runs the commands of a file, and compares the file with what they print. With
/// `QUERYPORT_RENEW` set, writes it instead.
fn check(name: &str, least: usize) {
    if !cfg!(all(feature = "games", feature = "secure-rcon")) {
        return kit::not_checked("sessions: the program is built without all features");
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/programs/sessions")
        .join(name);
    let expected = std::fs::read_to_string(&file).unwrap();
    let steps: Vec<Step> = steps(&expected);
    assert!(steps.len() >= least, "{} commands of {name}", steps.len());
    let servers = servers();
    let mut found = String::new();
    for steps in steps.chunks(AT_ONCE) {
        std::thread::scope(|scope| {
            let run = |step| {
                let servers = &servers;
                scope.spawn(move || run(step, servers))
            };
            let running: Vec<_> = steps.iter().map(run).collect();
            for step in running {
                found += &step.join().unwrap();
            }
        });
    }
    kit::assert_listed(&file, &found);
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
#[derive(Debug, Default)]
struct Step {
    /// Remarks and empty lines before it.
    remarks: String,
    line: String,
    input: String,
}

fn steps(session: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut remarks = String::new();
    for line in session.lines() {
        if let Some(command) = line.strip_prefix("$ ") {
            let remarks = std::mem::take(&mut remarks);
            let (line, input) = (command.to_owned(), String::new());
            steps.push(Step {
                remarks,
                line,
                input,
            });
        } else if let Some(input) = line.strip_prefix('<') {
            let step = steps.last_mut().expect("a command before its input");
            step.input += &format!("{}\n", input.trim_start());
        } else if line.is_empty() || line.starts_with('#') {
            remarks += &format!("{line}\n");
        }
    }
    steps
}

/// The text of a command with its output.
fn run(step: &Step, servers: &[(&'static str, SocketAddr)]) -> String {
    let named = |text: &str| {
        let mut text = text.to_owned();
        for (name, address) in servers {
            text = text.replace(&format!("{{{name}}}"), &address.to_string());
        }
        text
    };
    let (line, then) = step.line.split_once(" | ").unwrap_or((&step.line, ""));
    let words = words(&named(line));
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
    let printed = |bytes: Vec<u8>| {
        let text = String::from_utf8(bytes).unwrap();
        // A port over TCP can have the number of a server's port.
        let mut text = replaced(&text, "http://127.0.0.1:", |_| true);
        for (name, address) in servers {
            text = text.replace(&address.to_string(), &format!("{{{name}}}"));
        }
        without_numbers(&text)
    };
    let mut out = printed(output.stdout);
    if then == "sort" {
        let mut lines: Vec<&str> = out.lines().collect();
        lines.sort_unstable();
        out = lines.join("\n");
    } else if then == "fmt" {
        // Only with some features, the help is wrapped.
        let words: Vec<&str> = out.split_whitespace().collect();
        out = words.join(" ").replace(" --", "\n--");
    }
    let err = without_usage(&printed(output.stderr));
    let mut text = format!("{}$ {}\n", step.remarks, step.line);
    for (mark, part) in [("<", &step.input), ("|", &out), ("!", &err)] {
        text += &marked(mark, part);
    }
    match output.status.code() {
        Some(code) => text + &format!("= {code}\n"),
        None => panic!("{}: {}", step.line, output.status),
    }
}

fn marked(mark: &str, text: &str) -> String {
    let line = |line: &str| format!("{mark} {line}").trim_end().to_owned() + "\n";
    text.lines().map(line).collect()
}

/// A complaint without the usage, which `--help` shows too.
fn without_usage(text: &str) -> String {
    let is_usage = |part: &&str| part.starts_with("Usage: ") || part.starts_with("For more ");
    let mut parts = text.split("\n\n");
    let first = parts.next().unwrap_or_default();
    let others = parts.filter(|part| !is_usage(part));
    std::iter::once(first)
        .chain(others)
        .collect::<Vec<_>>()
        .join("\n\n")
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

/// The text with `*` in place of numbers that vary: ports of embedded servers, times, rates and
/// challenges.
fn without_numbers(text: &str) -> String {
    let lines = text.split_inclusive('\n').map(|line| {
        let is_free = |port: &str| port.len() == 5 && port >= "32000";
        let mut line = replaced(&before(line, " ms"), "127.0.0.1:", is_free);
        line = replaced(&line, "127.0.0.2:", is_free);
        for words in AFTER {
            line = replaced(&line, words, |_| true);
        }
        // On a busy machine, a short timeout takes more than a second.
        line.replace(" within * s (", " within * ms (")
    });
    lines.collect()
}

/// The words before numbers that vary.
const AFTER: [&str; 11] = [
    "\"rtt\":",
    "\"elapsed\":",
    "rtt'=",
    " asked in ",
    " s, ",
    " at port ",
    " takes at most ",
    " within ",
    ", qport ",
    "challenge = ",
    "\"challenge\",\"",
];

/// The line with `*` in place of the numbers after these words, if they are such numbers.
fn replaced(line: &str, words: &str, is_such: impl Fn(&str) -> bool) -> String {
    let mut parts = line.split(words);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_of_number = |c: char| c.is_ascii_alphanumeric() || "-.".contains(c);
        let rest = part.trim_start_matches(is_of_number);
        let number = &part[..part.len() - rest.len()];
        let begins = number.starts_with(|c: char| c.is_ascii_digit()) || words.contains("chall");
        out += words;
        out += if begins && is_such(number) {
            "*"
        } else {
            number
        };
        out += rest;
    }
    out
}

/// The line with `*` in place of the numbers before these words. Columns stay as wide as they are.
fn before(line: &str, words: &str) -> String {
    let mut parts: Vec<String> = line.split(words).map(str::to_owned).collect();
    let count = parts.len();
    for part in parts.iter_mut().take(count - 1) {
        let kept = part.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        if kept.len() == part.len() {
            continue;
        }
        let text = kept.trim_end_matches(' ');
        *part = match kept.len() - text.len() {
            0 | 1 => format!("{kept}*"),
            _ => format!("{text}{}", "*".repeat(part.len() - text.len())),
        };
    }
    parts.join(words)
}

/// A server that takes turns with these replies.
fn alternating(replies: Vec<Vec<u8>>) -> SocketAddr {
    let mut turns = replies.into_iter().cycle();
    responding(move |_| turns.next().into_iter().collect())
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
    let list_of = |word: &str, servers: &[SocketAddr]| {
        let mut list = [b"\xff\xff\xff\xff", word.as_bytes(), b"Response"].concat();
        for server in servers {
            list.extend([&b"\\\x7f\0\0\x01"[..], &server.port().to_be_bytes()].concat());
        }
        list.extend(b"\\EOT\0\0\0");
        list
    };
    let list = |word| list_of(word, &[quake3, terror]);
    // Each reply has another server.
    let others = [1, 2, 3, 4].map(|port| ([127, 0, 0, 1], port).into());
    let unsettled = others
        .map(|server| list_of("getservers", &[server]))
        .to_vec();
    let lists = vec![
        (&b"\xff\xff\xff\xffgetservers "[..], list("getservers")),
        (b"\xff\xff\xff\xffgetserversExt ", list("getserversExt")),
    ];
    let playable = vec![
        (&b"\xff\xff\xff\xffgetservers 70$"[..], list("getservers")),
        (
            b"\xff\xff\xff\xffgetservers 71 empty full$",
            list("getservers"),
        ),
    ];
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
        ("unsettled", alternating(unsettled)),
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

#[test]
fn every_help_has_the_listed_options_defaults_and_examples() {
    check("help.txt", 12);
}

#[test]
fn every_wrong_command_line_has_the_listed_message() {
    check("wrong.txt", 80);
}

#[test]
fn every_command_prints_the_listed_lines() {
    check("output.txt", 70);
}

#[test]
fn every_embedded_server_is_printed_as_listed() {
    check("embedded.txt", 2);
}

#[test]
fn every_example_prints_the_listed_lines() {
    let names = [
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
    if are_built(&names) {
        check("examples.txt", 25);
    }
}
