//! Child processes with a bounded wait, which react to interrupts as in a shell's foreground.

use std::ffi::OsStr;
use std::io::Read;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The maximum time that a program of a test may take.
const LONGEST: Duration = Duration::from_secs(120);

/// A command that reacts to interrupts. Background jobs of a shell ignore them, and children
/// inherit that.
pub fn interruptible(program: impl AsRef<OsStr>) -> Command {
    if !ignores_interrupts() {
        return Command::new(program);
    }
    let mut command = Command::new("env");
    command.arg("--default-signal=INT,TERM").arg(program);
    command
}

fn ignores_interrupts() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0);
    // SIGINT is signal 2, SIGTERM 15.
    ignored & (1 << 1 | 1 << 14) != 0
}

/// Waits for a child to end. Panics if it takes too long.
pub fn wait(child: &mut Child) -> ExitStatus {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if start.elapsed() > LONGEST {
            let _ = child.kill();
            panic!("a program did not end within {LONGEST:?}");
        }
        thread::sleep(Duration::from_millis(2));
    }
}

/// Runs the test with this path by itself in another process, where nobody else opens descriptors or
/// ports: a process that another test starts holds those of all tests until it is its own program.
/// `shell` has the commands that run first, if any. Returns whether this is that process.
pub fn alone(test: &str, shell: &str) -> bool {
    // The harness takes it as the name of another test, which it does not find.
    const ALONE: &str = "alone-in-its-process";
    if std::env::args().any(|argument| argument == ALONE) {
        return true;
    }
    let program = std::env::current_exe().unwrap();
    let mut command = if shell.is_empty() {
        Command::new(program)
    } else {
        let mut command = Command::new("sh");
        let script = format!("{shell} exec \"$0\" \"$@\"");
        command.arg("-c").arg(script).arg(program);
        command
    };
    command.args(["--exact", test, ALONE, "--nocapture"]);
    let output = output(&mut command);
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{text}"
    );
    print!("{text}");
    false
}

/// Like [`Command::output`], but waits as [`wait`] does.
pub fn output(command: &mut Command) -> Output {
    finish(
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap(),
    )
}

/// Like [`Child::wait_with_output`], but waits as [`wait`] does.
pub fn finish(mut child: Child) -> Output {
    drop(child.stdin.take());
    let read = |pipe: Option<Box<dyn Read + Send>>| {
        thread::spawn(move || {
            let mut bytes = Vec::new();
            if let Some(mut pipe) = pipe {
                pipe.read_to_end(&mut bytes).unwrap();
            }
            bytes
        })
    };
    let stdout = read(
        child
            .stdout
            .take()
            .map(|pipe| Box::new(pipe) as Box<dyn Read + Send>),
    );
    let stderr = read(
        child
            .stderr
            .take()
            .map(|pipe| Box::new(pipe) as Box<dyn Read + Send>),
    );
    let status = wait(&mut child);
    Output {
        status,
        stdout: stdout.join().unwrap(),
        stderr: stderr.join().unwrap(),
    }
}
