//! Command lines, error messages and exit codes of the examples.

use std::error::Error;
use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::net::{IpAddr, Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::ops::RangeInclusive;
use std::process::ExitCode;
use std::str::FromStr;
use std::sync::Arc;

use queryport::UnknownProtocol;
use queryport::games::Game;

use crate::wrap::{is_wider, wrap, wrap_for};

/// The exit codes of every program, as `--help` lists them.
pub const EXIT_STATUS: &str = "Exit status: 0 success, 1 failure (no usable answer, unknown host, bad file),\n2 wrong command line, 3 incomplete answer";

/// The exit code after Ctrl-C, as in shells.
pub const INTERRUPTED: u8 = 130;

/// Reads the command line. `--help`, `--version` and a wrong one end the program.
pub fn parse<A: clap::Parser>() -> A {
    A::try_parse().unwrap_or_else(|error| leave(&error))
}

/// The end of a program's `--help`: command lines as examples, and the exit codes.
pub fn help(examples: &[&str], exit_status: &str) -> String {
    help_of("queryport", examples, exit_status)
}

/// The same for an example that is not a command of `queryport`.
pub fn example_help(examples: &[&str], exit_status: &str) -> String {
    help_of("cargo run --example", examples, exit_status)
}

fn help_of(program: &str, examples: &[&str], exit_status: &str) -> String {
    let lines: String = examples
        .iter()
        .map(|line| format!("  {program} {line}\n"))
        .collect();
    let columns = columns().unwrap_or(usize::MAX);
    let lines = if is_wider(&lines, columns) {
        below_each_other(&lines)
    } else {
        lines
    };
    let exit_status = if is_wider(exit_status, columns) {
        exit_status.replace(",\n", ", ")
    } else {
        exit_status.to_owned()
    };
    wrap(&format!("Examples:\n{lines}\n{exit_status}"), columns)
}

/// Puts the description of each example on a line of its own.
fn below_each_other(lines: &str) -> String {
    let mut text = String::new();
    for line in lines.lines() {
        let (command, description) = line
            .trim_start()
            .split_once("  ")
            .unwrap_or((line.trim_start(), ""));
        text.push_str(&format!("  {command}\n"));
        if !description.is_empty() {
            text.push_str(&format!("      {}\n", description.trim_start()));
        }
    }
    text
}

/// A character set by its name, for texts that are not valid UTF-8.
pub fn charset(name: &str) -> Result<queryport::model::Charset, String> {
    use queryport::model::Charset;
    match name.to_ascii_lowercase().as_str() {
        "windows-1251" => Ok(Charset::Utf8OrWindows1251),
        "windows-1252" => Ok(Charset::Utf8OrWindows1252),
        "latin-1" => Ok(Charset::Utf8OrLatin1),
        _ => Err("expected windows-1251, windows-1252 or latin-1".to_owned()),
    }
}

/// The game of this id or name.
pub fn game(text: &str) -> Result<&'static Game, String> {
    Game::find(text).map_err(|error| error.to_string())
}

/// A parser for a whole number in this range.
pub fn number<T>(range: RangeInclusive<T>) -> impl Fn(&str) -> Result<T, String> + Clone
where
    T: FromStr + PartialOrd + fmt::Display + Clone,
{
    let (start, end) = (range.start(), range.end());
    let expected = format!("expected a whole number from {start} to {end}");
    in_range(range, expected)
}

/// A parser for an IP address.
pub fn ip_address(text: &str) -> Result<IpAddr, String> {
    text.parse()
        .map_err(|_| "expected an IP address, as in 192.0.2.1 or 2001:db8::1".to_owned())
}

/// A parser for a number of seconds in this range.
pub fn seconds(range: RangeInclusive<f64>) -> impl Fn(&str) -> Result<f64, String> + Clone {
    let (start, end) = (range.start(), range.end());
    let expected = format!("expected seconds between {start} and {end}, as in 2 or 2.5");
    in_range(range, expected)
}

/// A parser for a value in this range. Its error is `expected`.
fn in_range<T>(
    range: RangeInclusive<T>,
    expected: String,
) -> impl Fn(&str) -> Result<T, String> + Clone
where
    T: FromStr + PartialOrd + Clone,
{
    move |text| match text.parse() {
        // `parse` accepts a sign before a number.
        Ok(value) if range.contains(&value) && !text.starts_with('+') => Ok(value),
        _ => Err(expected.clone()),
    }
}

/// A port, 0 included. `parse` would accept a sign.
fn port_number(text: &str) -> Option<u16> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_number)
}

/// The option `--bind`: `ADDRESS` or `ADDRESS:PORT` of this machine. An interface can follow a
/// link-local address, as in `fe80::1%eth0`.
pub fn local_address(text: &str) -> Result<SocketAddr, String> {
    let expected = || "expected an IP address, or [ADDRESS]:PORT".to_owned();
    let (host, port) = split(text);
    let port = port.map_or(Some(0), port_number).ok_or_else(expected)?;
    let (ip, interface) = match host.split_once('%') {
        Some((ip, interface)) => (ip, Some(interface)),
        None => (host, None),
    };
    let ip: IpAddr = ip.parse().map_err(|_| expected())?;
    let is_link_local = matches!(ip, IpAddr::V6(ip) if ip.is_unicast_link_local());
    match interface {
        Some(interface) if ip.is_ipv6() => {
            // The resolver knows the numbers of interfaces.
            let mut found = (host, port).to_socket_addrs().into_iter().flatten();
            found.next().ok_or_else(|| {
                format!(
                    "this machine has no interface \"{}\"",
                    interface.escape_debug()
                )
            })
        }
        None if !is_link_local => Ok(SocketAddr::new(ip, port)),
        None => Err(format!(
            "a link-local address needs its interface, as in {ip}%eth0"
        )),
        Some(_) => Err(expected()),
    }
}

/// The address of a socket: `ADDRESS:PORT`, without a host name.
pub fn socket_address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| {
        "expected an IP address and a port, as in 127.0.0.1:27950 or [::1]:27950".to_owned()
    })
}

/// Host and port; a text with several colons and no brackets has no port.
pub fn split(server: &str) -> (&str, Option<&str>) {
    if let Some((host, rest)) = server
        .strip_prefix('[')
        .and_then(|rest| rest.split_once(']'))
    {
        return (host, rest.strip_prefix(':'));
    }
    match server.split_once(':') {
        Some((host, port)) if !port.contains(':') => (host, Some(port)),
        _ => (server, None),
    }
}

/// `HOST PORT` as one word, `HOST:PORT`. `None` if the host has a port, or the other word is none.
pub fn with_port(server: &str, port: &str) -> Option<String> {
    let (host, None) = split(server) else {
        return None;
    };
    port_number(port).filter(|port| *port > 0)?;
    Some(join(host, port))
}

/// `HOST:PORT`, or `[IPv6]:PORT`.
pub fn join(host: &str, port: impl fmt::Display) -> String {
    if host.contains(':') {
        format!("[{host}]:{port}")
    } else {
        format!("{host}:{port}")
    }
}

/// Checks a server: a host without spaces, and a valid port.
pub fn server(text: &str) -> Result<String, String> {
    if let Some((scheme, _)) = text.split_once("://") {
        return Err(format!(
            "\"{}\" is a URL: write HOST or HOST:PORT, without {}://",
            text.escape_debug(),
            scheme.escape_debug()
        ));
    }
    let (host, port) = split(text);
    // A host name has up to 253 bytes.
    let is_unusual = |c: char| c.is_whitespace() || c.is_control();
    if host.is_empty() || host.contains(is_unusual) || text.len() > 300 {
        return Err(format!(
            "\"{}\" is not HOST or HOST:PORT",
            text.escape_debug()
        ));
    }
    // Only an IPv6 address has several colons. `%` and an interface may follow it.
    let address = host.split('%').next().unwrap_or_default();
    let is_ipv6 = address.parse::<Ipv6Addr>().is_ok();
    if (host.contains(':') || text.starts_with('[')) && !is_ipv6 {
        return Err(format!(
            "\"{}\" is not an IPv6 address: write HOST:PORT or [IPv6]:PORT",
            text.escape_debug()
        ));
    }
    match port.map(port_number) {
        None | Some(Some(1..)) => Ok(text.to_owned()),
        _ => Err(format!(
            "the port \"{}\" is not a number from 1 to 65535",
            port.unwrap_or_default().escape_debug()
        )),
    }
}

/// Whether standard output is a terminal that shows colours, and NO_COLOR does not forbid them.
pub fn has_colours() -> bool {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    io::stdout().is_terminal() && !is_dumb && !is_set("NO_COLOR")
}

/// The columns of the terminal on standard output; `None` if it is not a terminal.
pub fn columns() -> Option<usize> {
    columns_if_terminal(&io::stdout())
}

#[cfg(target_os = "linux")]
fn columns_if_terminal(stream: &(impl IsTerminal + std::os::fd::AsFd)) -> Option<usize> {
    stream.is_terminal().then(|| columns_of(stream))
}

#[cfg(not(target_os = "linux"))]
fn columns_if_terminal(stream: &impl IsTerminal) -> Option<usize> {
    stream.is_terminal().then(|| columns_of(stream))
}

/// The columns of a terminal; 80 if it does not report them.
#[cfg(target_os = "linux")]
pub fn columns_of(terminal: &impl std::os::fd::AsFd) -> usize {
    rustix::termios::tcgetwinsize(terminal)
        .ok()
        .map(|size| usize::from(size.ws_col))
        .filter(|columns| *columns > 0)
        .unwrap_or(80)
}

/// The columns of a terminal according to the environment; 80 without a value there.
#[cfg(not(target_os = "linux"))]
pub fn columns_of<T>(_terminal: &T) -> usize {
    std::env::var("COLUMNS")
        .ok()
        .and_then(|columns| columns.parse().ok())
        .filter(|columns| *columns > 0)
        .unwrap_or(80)
}

/// Prints the help, or what is wrong with a command line, and ends the program.
pub fn leave(error: &clap::Error) -> ! {
    let code = match print(error) {
        Err(problem) if !error.use_stderr() && problem.kind() != io::ErrorKind::BrokenPipe => {
            complain(&words(&problem));
            1
        }
        _ => error.exit_code(),
    };
    std::process::exit(code)
}

/// Prints the help, or what is wrong with a command line. The usage, which `clap` does not break,
/// fits a narrow terminal too.
pub fn print(error: &clap::Error) -> io::Result<()> {
    let columns = if error.use_stderr() {
        columns_if_terminal(&io::stderr())
    } else {
        columns()
    };
    let text = error.render().to_string();
    match columns {
        Some(columns) if is_wider(&text, columns) => {
            let text = wrap(&text, columns);
            if error.use_stderr() {
                io::stderr().write_all(text.as_bytes())
            } else {
                io::stdout().write_all(text.as_bytes())
            }
        }
        _ => error.print(),
    }
}

/// The arguments of a program without options. `--help` prints the usage.
pub fn arguments(usage: &'static str) -> Result<Vec<String>, Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args_os()
        .skip(1)
        .map(|argument| argument.to_string_lossy().into_owned())
        .collect();
    if arguments
        .iter()
        .any(|argument| ["--help", "-h"].contains(&argument.as_str()))
    {
        writeln!(io::stdout(), "Usage: {usage}\n\n{EXIT_STATUS}")?;
        std::process::exit(0);
    }
    match arguments.iter().any(|argument| argument.starts_with('-')) {
        true => Err(WrongUsage(usage).into()),
        false => Ok(arguments),
    }
}

/// Tells a person at a terminal that input is read from it. Otherwise a program without arguments
/// seems to hang.
pub fn explain_input(what: &str) {
    if io::stdin().is_terminal() {
        complain(&format!(
            "reading {what} from the terminal: Ctrl-D ends the input"
        ));
    }
}

/// A wrong argument, and the reason.
#[derive(Debug)]
pub struct WrongArgument(pub String);

impl fmt::Display for WrongArgument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for WrongArgument {}

/// A wrong command line; the text is how to use the program.
#[derive(Debug)]
pub struct WrongUsage(pub &'static str);

impl fmt::Display for WrongUsage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "usage: {}", self.0)
    }
}

impl Error for WrongUsage {}

/// Waits for Ctrl-C, or for the signal with which service managers and containers end a program.
/// From the call on, such a signal does not end the program by itself.
pub fn interrupted() -> impl Future<Output = io::Result<()>> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};

        let signals = [SignalKind::interrupt(), SignalKind::terminate()].map(signal);
        async move {
            let [interrupt, terminate] = signals;
            let (mut interrupt, mut terminate) = (interrupt?, terminate?);
            tokio::select! {
                _ = interrupt.recv() => Ok(()),
                _ = terminate.recv() => Ok(()),
            }
        }
    }
    #[cfg(not(unix))]
    tokio::signal::ctrl_c()
}

/// Prints a line of a service, which goes on when nobody reads its output. Returns whether somebody
/// does.
pub fn print_if_read(line: impl fmt::Display) -> io::Result<bool> {
    let mut out = io::stdout();
    match writeln!(out, "{line}").and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        written => written.map(|()| true),
    }
}

/// Runs a program on one thread. At its end, pending lookups of names are abandoned.
pub fn block_on<T>(
    program: impl Future<Output = Result<T, Box<dyn Error>>>,
) -> Result<T, Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let result = runtime.block_on(program);
    runtime.shutdown_background();
    result
}

/// The same with threads, for a program that blocks on its input.
pub fn block_on_threads<T>(
    program: impl Future<Output = Result<T, Box<dyn Error>>>,
) -> Result<T, Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()?;
    let result = runtime.block_on(program);
    runtime.shutdown_background();
    result
}

/// The exit status for an answer: 0, or 3 if it is incomplete.
pub const fn status_of_answer(is_complete: bool) -> u8 {
    if is_complete { 0 } else { 3 }
}

/// The exit code of a program. Writes an error to standard error; a closed pipe is not an error.
pub fn exit(result: Result<ExitCode, Box<dyn Error>>) -> ExitCode {
    match result {
        Ok(code) => code,
        Err(error) if is_closed_pipe(&*error) => ExitCode::SUCCESS,
        Err(error) => {
            let message = message(&*error);
            if error.is::<WrongArgument>() || error.is::<UnknownProtocol>() {
                // As `clap` begins its messages.
                complain(&format!("error: {message}"));
                ExitCode::from(2)
            } else if error.is::<WrongUsage>() {
                complain(&message);
                ExitCode::from(2)
            } else {
                complain(&message);
                ExitCode::FAILURE
            }
        }
    }
}

/// Writes a text to standard error, in lines that fit a terminal. `eprintln` would panic on a
/// closed pipe.
pub fn complain(text: &str) {
    let columns = columns_if_terminal(&io::stderr());
    let _ = writeln!(io::stderr(), "{}", wrap_for(columns, text.to_owned()));
}

/// An error and its causes in one line.
pub fn message(error: &(dyn Error + 'static)) -> String {
    match error.source() {
        Some(cause) => format!("{}: {}", words(error), message(cause)),
        None => words(error),
    }
}

/// The text of an error, without the operating system's error number.
fn words(error: &(dyn Error + 'static)) -> String {
    let text = error.to_string();
    let is_io = error.is::<io::Error>() || error.is::<Arc<io::Error>>();
    match text.split_once(" (os error") {
        Some((words, _)) if is_io => words.to_lowercase(),
        _ => text,
    }
}

fn is_closed_pipe(error: &(dyn Error + 'static)) -> bool {
    error
        .downcast_ref::<io::Error>()
        .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// The message for a UDP port that cannot be used.
pub fn cannot_listen(address: impl std::fmt::Display, error: &io::Error) -> String {
    let advice = match error.kind() {
        io::ErrorKind::AddrInUse => "another program uses the port: stop it, or give another port",
        io::ErrorKind::PermissionDenied => "ports below 1024 need privileges: give another port",
        io::ErrorKind::AddrNotAvailable => "this machine does not have the address",
        _ => return format!("cannot listen on UDP {address}: {}", words(error)),
    };
    format!("cannot listen on UDP {address}: {advice}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn character_sets_have_the_names_that_help_lists() {
        use queryport::model::Charset;
        for (name, expected) in [
            ("windows-1251", Charset::Utf8OrWindows1251),
            ("Windows-1252", Charset::Utf8OrWindows1252),
            ("LATIN-1", Charset::Utf8OrLatin1),
        ] {
            assert_eq!(charset(name), Ok(expected), "{name}");
        }
    }

    #[test]
    fn addresses_of_this_machine_have_a_port_or_none() {
        for (text, address) in [
            ("192.0.2.1", "192.0.2.1:0"),
            ("192.0.2.1:5", "192.0.2.1:5"),
            ("2001:db8::1", "[2001:db8::1]:0"),
            ("[2001:db8::1]", "[2001:db8::1]:0"),
            ("[2001:db8::1]:5", "[2001:db8::1]:5"),
            ("::ffff:192.0.2.1", "[::ffff:192.0.2.1]:0"),
            ("[fe80::1%1]:5", "[fe80::1%1]:5"),
        ] {
            let found = local_address(text).map(|address| address.to_string());
            assert_eq!(found.as_deref(), Ok(address), "{text}");
        }
        for (text, why) in [
            (
                "fe80::1",
                "a link-local address needs its interface, as in fe80::1%eth0",
            ),
            (
                "fe80::1%nowhere",
                "this machine has no interface \"nowhere\"",
            ),
            ("192.0.2.1%lo", "expected an IP address, or [ADDRESS]:PORT"),
            ("192.0.2.1:+5", "expected an IP address, or [ADDRESS]:PORT"),
            ("example.org", "expected an IP address, or [ADDRESS]:PORT"),
        ] {
            assert_eq!(local_address(text), Err(why.to_owned()), "{text}");
        }
    }
}
