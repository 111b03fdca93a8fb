//! The browser on a pseudo-terminal: however it ends, the terminal is as it was.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test"
)]

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Child, Command};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use clap::Parser;
use kit::terminal::Terminal;
use rustix::process::{Pid, Signal, kill_process};
use rustix::termios::{Termios, tcgetattr};

use super::{Arguments, run, terminal};

const ENTER: &str = "\u{1b}[?1049h";
const LEAVE: &str = "\u{1b}[?1049l";
const SHOW_CURSOR: &str = "\u{1b}[?25h";

/// A pseudo-terminal for one of the ignored tests below, which runs in a separate process.
struct Pty {
    child: Child,
    /// This process's end of the terminal: what is typed.
    keys: File,
    /// The program's end.
    line: File,
    before: Termios,
    output: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

impl Pty {
    fn start(program: &str, columns: u16, rows: u16) -> Self {
        let Terminal { keys, line } = kit::terminal::open(columns, rows);
        let before = tcgetattr(&line).unwrap();
        let end = || line.try_clone().unwrap();
        let child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--ignored",
                "--exact",
                "--nocapture",
                &format!("browser::terminal_tests::{program}"),
            ])
            .env("TERM", "xterm-256color")
            .env_remove("NO_COLOR")
            .stdin(end())
            .stdout(end())
            .stderr(end())
            .spawn()
            .unwrap();
        let output = Arc::new(Mutex::new(Vec::new()));
        let (mut source, kept) = (keys.try_clone().unwrap(), Arc::clone(&output));
        let reader = std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            // An error when the program and this test have closed the terminal.
            while let Ok(length @ 1..) = source.read(&mut buffer) {
                kept.lock().unwrap().extend_from_slice(&buffer[..length]);
            }
        });
        Self {
            child,
            keys,
            line,
            before,
            output,
            reader,
        }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.output.lock().unwrap()).into_owned()
    }

    /// Waits for a text that is drawn at once: nothing was drawn in its place before.
    fn wait_for(&mut self, text: &str) {
        self.press_until("", text);
    }

    /// Presses keys again and again, until a text is there.
    fn press_until(&mut self, keys: &str, text: &str) {
        for _ in 0..600 {
            if self.text().contains(text) {
                return;
            }
            self.press(keys);
            std::thread::sleep(Duration::from_millis(100));
        }
        panic!("{text:?} is not in {:?}", self.text());
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits for the end of the program, and checks the terminal. Returns the exit code and the
    /// text after the alternate screen.
    fn end(mut self) -> (Option<i32>, String) {
        let code = self.child.wait().unwrap().code();
        let after = tcgetattr(&self.line).unwrap();
        assert_eq!(after.local_modes, self.before.local_modes, "echo and lines");
        assert_eq!(
            (after.input_modes, after.output_modes),
            (self.before.input_modes, self.before.output_modes)
        );
        drop((self.line, self.keys));
        self.reader.join().unwrap();
        let text = String::from_utf8_lossy(&self.output.lock().unwrap()).into_owned();
        assert_eq!(text.matches(ENTER).count(), 1, "{text:?}");
        assert_eq!(text.matches(LEAVE).count(), 1, "{text:?}");
        let (_, left) = text.split_once(LEAVE).unwrap();
        assert!(
            text.rfind(SHOW_CURSOR) > text.rfind("\u{1b}[?25l"),
            "the cursor is shown: {text:?}"
        );
        (code, left.to_owned())
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a program for the tests below"]
async fn browses() {
    let arguments = Arguments::parse_from(["browser", "--timeout", "1"]);
    run(arguments).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a program for the tests below"]
async fn browses_a_list_with_wrong_lines() {
    let list = std::env::temp_dir().join(format!("queryport-browser-{}", std::process::id()));
    std::fs::write(&list, "openarna 127.0.0.1:9\nquake3 127.0.0.1:70000\n").unwrap();
    let arguments = Arguments::parse_from(["browser", &list.to_string_lossy()]);
    let result = run(arguments).await;
    std::fs::remove_file(list).unwrap();
    result.unwrap();
}

#[test]
#[ignore = "a program for the tests below"]
fn panics() {
    let (mut terminal, _restore) = terminal::enter().unwrap();
    terminal
        .draw(|frame| frame.render_widget("queryport", frame.area()))
        .unwrap();
    panic!("a test of panics");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a program for the tests below"]
async fn panics_in_a_task() {
    tokio::spawn(async {
        // On a busy machine, the embedded servers take their time.
        while !crossterm::terminal::is_raw_mode_enabled().unwrap() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
        panic!("a test of panics");
    });
    let error = run(Arguments::parse_from(["browser"])).await.unwrap_err();
    assert_eq!(error.to_string(), "a task of this program panicked");
}

#[test]
fn keys_and_signals_end_it_cleanly() {
    let ends: [(&str, Option<Signal>); 4] = [
        ("q", None),
        ("\u{3}", None),
        ("", Some(Signal::TERM)),
        ("?", Some(Signal::INT)),
    ];
    for (keys, signal) in ends {
        let mut pty = Pty::start("browses", 80, 24);
        pty.wait_for("queryport");
        pty.press(keys);
        if let Some(signal) = signal {
            pty.signal(signal);
        }
        let (code, left) = pty.end();
        assert_eq!(code, Some(0), "{keys:?} {signal:?}: {left:?}");
    }
}

#[test]
fn the_messages_about_the_list_are_whole_after_the_end() {
    let mut pty = Pty::start("browses_a_list_with_wrong_lines", 80, 24);
    pty.wait_for(ENTER);
    // Another size draws all texts anew and whole.
    for columns in 200..800 {
        let text = pty.text();
        if text.contains("openarna") && text.contains("2 lines of the list rejected") {
            break;
        }
        kit::terminal::resize(&pty.line, columns, 24);
        pty.signal(Signal::WINCH);
        std::thread::sleep(Duration::from_millis(100));
    }
    pty.press("q");
    let (code, left) = pty.end();
    let words: Vec<&str> = left.split_whitespace().collect();
    let text = words.join(" ");
    assert!(
        text.contains("(protocols: gamespy1, gamespy4, quake3, ut2004)"),
        "{left:?}"
    );
    assert!(text.contains("the port \"70000\""), "{left:?}");
    assert_eq!(code, Some(0));
}

#[test]
fn a_key_puts_an_address_into_the_clipboard() {
    let mut pty = Pty::start("browses", 80, 24);
    pty.wait_for("invented servers on loopback");
    // Until a server is listed, there is no address.
    pty.press_until("c", "\u{1b}]52;c;");
    pty.press("q");
    assert_eq!(pty.end().0, Some(0));
}

#[test]
fn a_panic_leaves_the_terminal_before_its_message() {
    for program in ["panics", "panics_in_a_task"] {
        let pty = Pty::start(program, 80, 24);
        let (code, left) = pty.end();
        assert!(left.contains("a test of panics"), "{left:?}");
        assert_eq!(
            code,
            Some(if program == "panics" { 101 } else { 0 }),
            "{left:?}"
        );
    }
}
