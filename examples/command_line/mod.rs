//! Command lines, error messages and exit codes of the examples.
#![allow(dead_code, reason = "each example uses a part of it")]

use std::error::Error;
use std::fmt;
use std::io::{self, Write};
use std::ops::RangeInclusive;
use std::process::ExitCode;
use std::sync::Arc;

use queryport::UnknownProtocol;

/// The exit codes of every program, as `--help` says them.
pub(crate) const EXIT_STATUS: &str =
    "Exit status: 0 success, 1 failure or no usable answer, 2 wrong command line, 3 incomplete answer";

/// Reads the command line. `--help`, `--version` and a wrong one end the program.
pub(crate) fn parse<A: clap::Parser>() -> A {
    A::try_parse().unwrap_or_else(|error| leave(&error))
}

/// The end of a program's `--help`: command lines as examples, and the exit codes.
pub(crate) fn help(examples: &[&str], exit_status: &str) -> String {
    // A program is an example of the library, and a command of `queryport`.
    let program = if option_env!("CARGO_BIN_NAME") == Some("queryport") { "queryport " } else { "" };
    let examples: String = examples.iter().map(|line| format!("  {program}{line}\n")).collect();
    format!("Examples:\n{examples}\n{exit_status}")
}

/// A parser for a number of seconds in this range.
pub(crate) fn seconds(range: RangeInclusive<f64>) -> impl Fn(&str) -> Result<f64, String> + Clone {
    move |text| match text.parse() {
        Ok(seconds) if range.contains(&seconds) => Ok(seconds),
        _ => Err(format!("expected seconds between {} and {}", range.start(), range.end())),
    }
}

/// Prints the help, or what is wrong with a command line, and ends the program.
pub(crate) fn leave(error: &clap::Error) -> ! {
    let code = match error.print() {
        Err(problem) if !error.use_stderr() && problem.kind() != io::ErrorKind::BrokenPipe => {
            complain(&words(&problem));
            1
        }
        _ => error.exit_code(),
    };
    std::process::exit(code)
}

/// The arguments of a program without options. `--help` prints the usage.
pub(crate) fn arguments(usage: &'static str) -> Result<Vec<String>, Box<dyn Error>> {
    let arguments: Vec<String> =
        std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned()).collect();
    if arguments.iter().any(|argument| ["--help", "-h"].contains(&argument.as_str())) {
        writeln!(io::stdout(), "Usage: {usage}\n\n{EXIT_STATUS}")?;
        std::process::exit(0);
    }
    match arguments.iter().any(|argument| argument.starts_with('-')) {
        true => Err(WrongUsage(usage).into()),
        false => Ok(arguments),
    }
}

/// A wrong argument; the text says what is wrong with it.
#[derive(Debug)]
pub(crate) struct WrongArgument(pub(crate) String);

impl fmt::Display for WrongArgument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for WrongArgument {}

/// A wrong command line; the text is how to use the program.
#[derive(Debug)]
pub(crate) struct WrongUsage(pub(crate) &'static str);

impl fmt::Display for WrongUsage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "usage: {}", self.0)
    }
}

impl Error for WrongUsage {}

/// Runs a program on one thread. At its end, nothing waits for a name that is still being looked up.
pub(crate) fn block_on<T>(
    program: impl Future<Output = Result<T, Box<dyn Error>>>,
) -> Result<T, Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let result = runtime.block_on(program);
    runtime.shutdown_background();
    result
}

/// The exit code of a program. An error is written to standard error in words; a closed pipe is not an error.
pub(crate) fn exit(result: Result<ExitCode, Box<dyn Error>>) -> ExitCode {
    match result {
        Ok(code) => code,
        Err(error) if is_closed_pipe(&*error) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&message(&*error));
            let is_wrong_command_line =
                error.is::<WrongUsage>() || error.is::<WrongArgument>() || error.is::<UnknownProtocol>();
            if is_wrong_command_line { ExitCode::from(2) } else { ExitCode::FAILURE }
        }
    }
}

/// Writes a line to standard error. `eprintln` would panic where that is a closed pipe.
pub(crate) fn complain(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// An error and its causes in one line.
pub(crate) fn message(error: &(dyn Error + 'static)) -> String {
    match error.source() {
        Some(cause) => format!("{}: {}", words(error), message(cause)),
        None => words(error),
    }
}

/// The text of an error, without the number of an error of the operating system.
fn words(error: &(dyn Error + 'static)) -> String {
    let text = error.to_string();
    let is_io = error.is::<io::Error>() || error.is::<Arc<io::Error>>();
    match text.split_once(" (os error") {
        Some((words, _)) if is_io => words.to_lowercase(),
        _ => text,
    }
}

fn is_closed_pipe(error: &(dyn Error + 'static)) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// The message for a UDP port that cannot be used.
pub(crate) fn cannot_listen(address: impl std::fmt::Display, error: &io::Error) -> String {
    let advice = match error.kind() {
        io::ErrorKind::AddrInUse => "another program uses the port: stop it, or give another port",
        io::ErrorKind::PermissionDenied => "ports below 1024 need privileges: give another port",
        io::ErrorKind::AddrNotAvailable => "this machine does not have the address",
        _ => return format!("cannot listen on UDP {address}: {}", words(error)),
    };
    format!("cannot listen on UDP {address}: {advice}")
}
