//! Error messages and exit codes of the examples.
#![allow(dead_code, reason = "each example uses a part of it")]

use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;

/// The exit code of a program. An error is written to standard error in words; a closed pipe is not an error.
pub(crate) fn exit(result: Result<ExitCode, Box<dyn Error>>) -> ExitCode {
    match result {
        Ok(code) => code,
        Err(error) if is_closed_pipe(&*error) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&message(&*error));
            ExitCode::FAILURE
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
    match (error.downcast_ref::<io::Error>(), text.split_once(" (os error")) {
        (Some(_), Some((words, _))) => words.to_lowercase(),
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
