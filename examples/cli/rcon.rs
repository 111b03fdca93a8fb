//! Runs console commands on a Quake 3 server.
//!
//! ```text
//! cargo run -p queryport-cli -- rcon HOST[:PORT] status  one command
//! cargo run -p queryport-cli -- rcon HOST[:PORT]         a prompt; `quit` ends it (`rcon quit` stops the server)
//! ```
//!
//! The password comes from the environment variable `QUERYPORT_RCON_PASSWORD`, or the program asks
//! for it on the terminal. The command line cannot have the password, because other users of the
//! machine can read it. Options go before the server.
//!
//! Exit status: 0 answered, 1 no answer or refused, 2 wrong command line, 3 incomplete answer, 130
//! after Ctrl-C, and after SIGTERM if the password was asked for.

use std::io::{self, BufRead, IsTerminal, Write};
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, ValueEnum};
use command_line::{WrongArgument, seconds};
use queryport::model::TextRef;
use queryport::net::Rcon;
use queryport::quake3::{Password, RconAnswer, RconMode};
use queryport::{Client, Error, ErrorKind, Protocol};
use shared::command_line;

const VARIABLE: &str = "QUERYPORT_RCON_PASSWORD";

/// Command lines for `--help`.
const EXAMPLES: &[&str] = &[
    "rcon example.org:27960         asks for the password, then commands",
    "rcon example.org:27960 status  one command",
];

/// The end of `--help`: the password, and the exit codes.
const EXIT_STATUS: &str = "The password comes from the environment variable QUERYPORT_RCON_PASSWORD, or is asked for.\n\
                           Exit status: 0 answered, 1 no answer or refused, 2 wrong command line,\n3 incomplete answer, 130 after \
                           Ctrl-C, and after SIGTERM if the password was asked for";

/// Run console commands on a Quake 3 server.
#[derive(Debug, Parser)]
#[command(name = "rcon", bin_name = "queryport rcon", version, after_help = command_line::help(EXAMPLES, EXIT_STATUS))]
pub(crate) struct Arguments {
    /// HOST, HOST:PORT, an IP address or [IPv6]:PORT; the default port is 27960. Options come
    /// before it.
    #[arg(value_parser = command_line::server)]
    server: String,
    /// The command and its arguments; without it, commands are read from standard input.
    #[arg(trailing_var_arg = true)]
    command: Vec<String>,
    /// How the password is sent: in plain text, in quotes (Quake3e, CoD4x), after byte 0x02 (Medal of
    /// Honor). For DarkPlaces, `time` and `challenge` sign the command and need `--features
    /// secure-rcon`.
    #[arg(long, default_value = "plain")]
    mode: Mode,
    /// The timeout of a command in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 5.0, value_parser = seconds(0.1..=600.0))]
    timeout: f64,
    /// Send from this address of this machine, and from this port if there is one.
    #[arg(long, value_name = "ADDRESS[:PORT]", value_parser = command_line::local_address)]
    bind: Option<SocketAddr>,
}

/// The modes of [`RconMode`] as arguments. Only a type of this program can implement [`ValueEnum`].
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Mode {
    Plain,
    Quoted,
    MedalOfHonor,
    #[cfg(feature = "secure-rcon")]
    Time,
    #[cfg(feature = "secure-rcon")]
    Challenge,
}

impl From<Mode> for RconMode {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::Plain => Self::Plain,
            Mode::Quoted => Self::Quoted,
            Mode::MedalOfHonor => Self::MedalOfHonor,
            #[cfg(feature = "secure-rcon")]
            Mode::Time => Self::Time,
            #[cfg(feature = "secure-rcon")]
            Mode::Challenge => Self::Challenge,
        }
    }
}

pub(crate) fn start(arguments: &Arguments) -> ExitCode {
    command_line::exit(command_line::block_on_threads(run(arguments)))
}

async fn run(arguments: &Arguments) -> Result<ExitCode, Box<dyn std::error::Error>> {
    check(arguments)?;
    let password = match std::env::var(VARIABLE) {
        Ok(password) => Ok(password),
        Err(_) => ask_for_password()?,
    };
    let Some(password) = password.ok().filter(|password| !password.is_empty()) else {
        return Err(format!(
            "no password: set the environment variable {VARIABLE}, or type it on a terminal"
        )
        .into());
    };
    let timeout = Duration::from_secs_f64(arguments.timeout);
    let mut client = Client::new()?.with_timeout(timeout);
    if let Some(bind) = arguments.bind {
        client = client.with_local_address(bind);
    }
    let mut rcon = Rcon::new(&client, &arguments.server, Password::new(password))
        .await?
        .with_mode(arguments.mode.into());
    if arguments.command.is_empty() {
        return prompt(&mut rcon, arguments).await;
    }
    match rcon.run(&arguments.command.join(" ")).await {
        Ok(outcome) => Ok(print(&outcome.answer)?),
        Err(error) => Err(explained(&error, arguments.mode).into()),
    }
}

/// Refuses words that were meant for this program, and not for the server.
fn check(arguments: &Arguments) -> Result<(), WrongArgument> {
    let option = arguments.command.iter().find(|word| word.starts_with("--"));
    if let Some(option) = option {
        return Err(WrongArgument(format!(
            "{option} after the server would be sent to it: options come first, as in \
             queryport rcon --timeout 5 HOST status"
        )));
    }
    if arguments.server.parse::<Protocol>().is_ok() {
        return Err(WrongArgument(format!(
            "\"{}\" is not a server: rcon takes no protocol, as in queryport rcon HOST status",
            arguments.server
        )));
    }
    Ok(())
}

/// Asks for the password on the terminal. On Ctrl-C, `rpassword` raises the signal while the
/// terminal is in raw mode: the signal is caught, so that the program restores the terminal before
/// it ends. After the password, the signal ends the program at once.
fn ask_for_password() -> io::Result<io::Result<String>> {
    #[cfg(unix)]
    end_if_terminated()?;
    #[cfg(unix)]
    let mut interrupts = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt())?;
    let password = rpassword::prompt_password("rcon password: ");
    if password
        .as_ref()
        .is_err_and(|error| error.kind() == io::ErrorKind::Interrupted)
    {
        std::process::exit(command_line::INTERRUPTED.into());
    }
    #[cfg(unix)]
    tokio::spawn(async move {
        interrupts.recv().await;
        std::process::exit(command_line::INTERRUPTED.into());
    });
    Ok(password)
}

/// Restores the terminal and ends the program at the signal of service managers and `timeout`.
#[cfg(unix)]
fn end_if_terminated() -> io::Result<()> {
    use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};
    use tokio::signal::unix::{SignalKind, signal};

    // Without a terminal, the password cannot be asked for.
    let Ok(terminal) = std::fs::File::open("/dev/tty") else {
        return Ok(());
    };
    let before = tcgetattr(&terminal)?;
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::spawn(async move {
        terminate.recv().await;
        let _ = tcsetattr(&terminal, OptionalActions::Now, &before);
        std::process::exit(command_line::INTERRUPTED.into());
    });
    Ok(())
}

/// The error. If the server does not answer, also the modes to try.
fn explained(error: &Error, mode: Mode) -> String {
    let modes = match (error.kind(), mode) {
        (ErrorKind::Timeout, Mode::Plain) => {
            "\n  Some servers ignore a password in this form: try --mode quoted (Quake3e, CoD4x), --mode medal-of-honor, \
             or --mode time or --mode challenge (DarkPlaces, with --features secure-rcon)."
        }
        (ErrorKind::Timeout, _) => {
            "\n  Some servers ignore a password in this form: try --mode plain, the default."
        }
        _ => "",
    };
    format!("{}{modes}", command_line::message(error))
}

/// Reads commands until the end of input.
async fn prompt(
    rcon: &mut Rcon,
    arguments: &Arguments,
) -> Result<ExitCode, Box<dyn std::error::Error>> {
    let person = io::stdin().is_terminal();
    let mut status = ExitCode::SUCCESS;
    let mut has_command = false;
    loop {
        if person {
            write!(io::stdout(), "{}> ", arguments.server)?;
            io::stdout().flush()?;
        }
        let mut line = String::new();
        if io::stdin().lock().read_line(&mut line)? == 0 {
            if !person && !has_command {
                return Err("nothing was sent: standard input has no command".into());
            }
            return Ok(status);
        }
        let command = match line.trim() {
            "" => continue,
            "quit" | "exit" => return Ok(status),
            // `rcon quit` sends `quit` to the server.
            line => line.strip_prefix("rcon ").unwrap_or(line),
        };
        has_command = true;
        match rcon.run(command).await {
            Ok(outcome) => status = print(&outcome.answer)?,
            Err(error @ (Error::Rcon { .. } | Error::Query { .. } | Error::Request(_))) => {
                command_line::complain(&explained(&error, arguments.mode));
                status = ExitCode::from(1);
            }
            Err(error) => return Err(error.into()),
        }
    }
}

fn print(answer: &RconAnswer) -> io::Result<ExitCode> {
    let mut out = io::stdout().lock();
    for line in answer.lines() {
        writeln!(out, "{}", plain_with_tabs(line))?;
    }
    if answer.is_cut {
        command_line::complain(
            "the answer is incomplete: the server was still sending at the timeout or a limit",
        );
    }
    Ok(command_line::status_of_answer(!answer.is_cut).into())
}

/// The plain text of a line with its tabs, which separate the columns of a table.
fn plain_with_tabs(line: TextRef<'_>) -> String {
    let columns = line.raw().split(|&byte| byte == b'\t');
    let columns = columns.map(|column| TextRef::new(column, line.style()).plain());
    columns.collect::<Vec<_>>().join("\t")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mode_has_the_form_of_its_name() {
        for (word, expected) in [
            ("plain", RconMode::Plain),
            ("quoted", RconMode::Quoted),
            ("medal-of-honor", RconMode::MedalOfHonor),
            #[cfg(feature = "secure-rcon")]
            ("time", RconMode::Time),
            #[cfg(feature = "secure-rcon")]
            ("challenge", RconMode::Challenge),
        ] {
            let words = ["rcon", "--mode", word, "example.org"];
            let mode: RconMode = Arguments::try_parse_from(words).unwrap().mode.into();
            assert_eq!(mode, expected, "{word}");
        }
        let usual = Arguments::try_parse_from(["rcon", "example.org"]).unwrap();
        assert_eq!(RconMode::from(usual.mode), RconMode::Plain);
    }
}
