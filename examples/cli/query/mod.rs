//! Queries a game server and prints its status.
//!
//! ```text
//! cargo run -p queryport-cli -- query                              embedded servers, over UDP on loopback
//! cargo run -p queryport-cli -- query openarena HOST[:PORT]        a server by its game, see `queryport games`
//! cargo run -p queryport-cli -- query quake3 HOST[:PORT]           a server by its protocol and query port
//! cargo run -p queryport-cli -- query quake3 HOST --json --timeout 2 --retries 0
//! cargo run -p queryport-cli -- query gamespy4 HOST:25565 --short  the short answer of a Minecraft server
//! cargo run -p queryport-cli -- query HOST                         a server of unknown game: the usual ports of many games
//! cargo run -p queryport-cli -- query --lan                        the servers of the local network
//! cargo run -p queryport-cli -- query --lan openarena --json       those of a game
//! cargo run -p queryport-cli -- query quake3 HOST --record FILE    writes the datagrams into a file, for a bug report
//! ```
//!
//! Exit status: 0 complete, 1 no usable answer, 2 wrong command line, 3 incomplete answer.

mod gamespy1;
mod lan;
pub(crate) mod print;
mod settings;

use std::fs::{self, File};
use std::io::{self, Write};
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::embedded;
use clap::{CommandFactory, Parser, error::ErrorKind as UsageError};
use command_line::seconds;
use queryport::games::Game;
use queryport::lists::Scope;
use queryport::model::Charset;
use queryport::{
    Client, Detail, Dialect, Error, ErrorKind, Outcome, Protocol, QueryOptions, ServerStatus,
    StatusQuery, Timing, ToStatus,
};

use shared::wrap::wrap_for;
use shared::{command_line, json, target, transcript};
use target::What;
use transcript::{Recorded, Transcript};

/// Command lines for `--help`.
const EXAMPLES: &[&str] = &[
    "query openarena example.org     a server by its game",
    "query quake3 example.org:27960  by its protocol and query port",
    "query example.org               a server of unknown game",
    "query --lan                     the servers of the local network",
    "query                           embedded servers, to try it",
];

/// Query a game server: its name, the match, the players.
#[derive(Debug, Parser)]
#[command(name = "query", bin_name = "queryport query", version, after_help = command_line::help(EXAMPLES, command_line::EXIT_STATUS))]
pub(crate) struct Arguments {
    /// The game, by its id or name (`queryport games` lists them), or the protocol. If you give
    /// only a server, the usual ports of many games are tried. `ut2004` is the protocol, except
    /// with port 7777, where it is the game.
    #[arg(value_name = "GAME|PROTOCOL")]
    what: Option<String>,
    /// HOST, HOST:PORT, HOST PORT, an IP address or [IPv6]:PORT. With a protocol, give the query
    /// port. With a game, give the port that players connect to. If a public host does not answer,
    /// its query port is looked up in the game's lists.
    #[arg(value_parser = target::server)]
    server: Option<String>,
    /// Words after the server: a port, others are an error.
    #[arg(hide = true)]
    rest: Vec<String>,
    /// Find the servers of this game on the local network; without a game, of all games.
    #[arg(long, value_name = "GAME", num_args = 0..=1, conflicts_with_all = ["what", "server", "short", "commands"])]
    lan: Option<Option<String>>,
    /// The broadcast address of the network to search, as in 192.0.2.255; all networks of this
    /// machine without it.
    #[arg(long, value_name = "ADDRESS", requires = "lan", value_parser = command_line::ip_address)]
    network: Vec<IpAddr>,
    /// GameSpy v1 only: send these commands, as in `players,echo=hello,secure=ABCDEF`, and print
    /// the pairs of the reply.
    #[arg(long, value_delimiter = ',', requires = "server", conflicts_with_all = ["json", "short"])]
    commands: Vec<String>,
    /// The key of the game, to check the answer to the command `secure`.
    #[arg(long, requires = "commands")]
    key: Option<String>,
    /// Print JSON: one object per line, for each server, with `answer` or `error`. `game` is the
    /// requested game, `answered_game` the game in the answer.
    #[arg(long)]
    json: bool,
    /// Print the texts of the JSON with their bytes and colours, so that `queryport serve --status`
    /// can serve the same.
    #[arg(long, requires = "json")]
    detailed: bool,
    /// Request the short answer: name, map and counts. In GameSpy v4, only Minecraft servers have
    /// one.
    #[arg(long, requires = "server")]
    short: bool,
    /// Write the datagrams of the query into this file, as a transcript that `queryport decode` and
    /// `queryport serve --replay` read. Of a game, only the usual query port is queried. The file has
    /// no address of the server or of this machine. If nothing answers, no file is written.
    #[arg(long, value_name = "FILE", conflicts_with = "commands")]
    record: Option<PathBuf>,
    /// The timeout of a query in seconds, retries included.
    #[arg(long, value_name = "SECONDS", default_value_t = 4.0, value_parser = seconds(0.01..=600.0))]
    timeout: f64,
    /// Send from this address of this machine, and from this port if there is one.
    #[arg(long, value_name = "ADDRESS[:PORT]", value_parser = command_line::local_address)]
    bind: Option<SocketAddr>,
    /// The character set of texts that are not valid UTF-8: `windows-1251` for Cyrillic names,
    /// `windows-1252` or `latin-1`.
    #[arg(long, value_name = "NAME", value_parser = command_line::charset)]
    charset: Option<Charset>,
    /// The maximum number of retries; those that do not fit into the timeout are not sent.
    #[arg(long, value_name = "COUNT", default_value_t = 2, value_parser = command_line::number(0..=u8::MAX))]
    retries: u8,
}

/// The form of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Text,
    /// With plain texts.
    Json,
    /// With the bytes and colours of texts.
    DetailedJson,
}

impl Form {
    const fn of(arguments: &Arguments) -> Self {
        match arguments {
            Arguments { detailed: true, .. } => Self::DetailedJson,
            Arguments { json: true, .. } => Self::Json,
            _ => Self::Text,
        }
    }
}

/// The target of a query.
#[derive(Debug, PartialEq)]
enum Asked<'a> {
    Embedded,
    /// The local network.
    Network(Option<&'static Game>),
    /// A server of unknown game.
    Host(&'a str),
    Server(What, &'a str),
}

impl Arguments {
    /// Reads `HOST PORT` as `HOST:PORT`.
    fn with_joined_port(mut self) -> Self {
        if let (Some(server), [port]) = (&self.server, &self.rest[..])
            && let Some(server) = command_line::with_port(server, port)
        {
            self.server = Some(server);
            self.rest.clear();
        } else if let (Some(host), Some(port), []) = (&self.what, &self.server, &self.rest[..])
            && What::parse(host).is_err()
            && let Some(host) = command_line::with_port(host, port)
        {
            self.what = Some(host);
            self.server = None;
        }
        self
    }
}

pub(crate) fn start(arguments: Arguments) -> ExitCode {
    let arguments = &arguments.with_joined_port();
    match asked(arguments) {
        Ok(asked) => command_line::exit(command_line::block_on(run(arguments, asked))),
        Err(why) => {
            command_line::leave(&Arguments::command().error(UsageError::ArgumentConflict, why))
        }
    }
}

/// The target of a query. Refuses unknown names, and options that would have no effect.
fn asked(arguments: &Arguments) -> Result<Asked<'_>, String> {
    let is_secure = |command: &String| command.starts_with("secure=");
    if let [word, ..] = &arguments.rest[..] {
        return Err(format!(
            "{word:?} after the server: expected one server; `queryport scan` queries a list"
        ));
    }
    let asked = match (&arguments.lan, &arguments.what, &arguments.server) {
        (Some(game), ..) => {
            let game = game.as_deref().map(command_line::game).transpose();
            Asked::Network(game?)
        }
        (None, None, _) => Asked::Embedded,
        (None, Some(what), Some(server)) => {
            let what = What::of_server(what, server).map_err(|why| unknown(what, server, why))?;
            Asked::Server(what, server)
        }
        (None, Some(host), None) if What::parse(host).is_err() => {
            target::server(host)?;
            Asked::Host(host)
        }
        (None, Some(name), None) => {
            let game = Game::find(name).map_or("", |game| game.id);
            let search = format!("query --lan {game}");
            return Err(format!(
                "the server is missing: add HOST or HOST:PORT, or search with {}",
                search.trim_end()
            ));
        }
    };
    let protocol = match asked {
        Asked::Server(What::Protocol(protocol), _) => Some(protocol),
        _ => None,
    };
    if arguments.record.is_some() && !matches!(asked, Asked::Server(..)) {
        let needs =
            "--record needs a game or a protocol, as in queryport query quake3 HOST --record FILE";
        return Err(needs.to_owned());
    }
    if !arguments.commands.is_empty() && protocol != Some(Protocol::GameSpy1) {
        return Err("--commands applies to gamespy1 only".to_owned());
    }
    if arguments.key.is_some() && !arguments.commands.iter().any(is_secure) {
        return Err("--key applies to the command secure=CHALLENGE only".to_owned());
    }
    Ok(asked)
}

/// The reason why a name is unknown, with advice for the user.
fn unknown(name: &str, server: &str, why: String) -> String {
    let advice = name
        .parse::<Protocol>()
        .err()
        .and_then(|unknown| unknown.advice());
    if advice.is_some() || [name, server].iter().any(|word| What::parse(word).is_ok()) {
        return why;
    }
    format!("{why}; give the server alone to try the ports of many games")
}

async fn run(
    arguments: &Arguments,
    asked: Asked<'_>,
) -> Result<ExitCode, Box<dyn std::error::Error>> {
    let timing = Timing::default()
        .with_timeout(Duration::from_secs_f64(arguments.timeout))
        .with_retries(arguments.retries);
    let options = options(arguments, &asked);
    let mut client = Client::new()?.with_timing(timing).with_options(options);
    if let Some(bind) = arguments.bind {
        client = client.with_local_address(bind);
    }
    let form = Form::of(arguments);
    if let (Asked::Server(what, server), Some(file)) = (&asked, &arguments.record) {
        let named =
            |error: io::Error| format!("{}: {}", file.display(), command_line::message(&error));
        // An earlier record is lost only to one with a reply.
        let is_new = !file.exists();
        let can_write = File::options().append(true).create(true).open(file);
        can_write.map_err(named)?;
        let how = (options, timing, arguments.short);
        let (result, transcript) = record(&client, (*what, server), how).await;
        let about = what.game().map_or("", |game| heading(game, &result));
        let code = show(form, (*what, server, about), &result)?;
        if transcript.datagrams(false).next().is_some() {
            fs::write(file, transcript.to_string()).map_err(named)?;
        } else if is_new {
            fs::remove_file(file).map_err(named)?;
        }
        return Ok(code.into());
    }
    match asked {
        Asked::Embedded => embedded_servers(&client, form).await,
        Asked::Network(game) => lan::search(&client, game, &arguments.network, form).await,
        Asked::Host(host) => detect(&client, host, form).await,
        Asked::Server(What::Game(game), server) => by_game(&client, game, server, form).await,
        Asked::Server(_, server) if !arguments.commands.is_empty() => {
            let key = arguments.key.as_deref();
            gamespy1::ask(&client, server, &arguments.commands, key).await
        }
        Asked::Server(what @ What::Protocol(protocol), server) => {
            let mut result = client.query(protocol, server).await;
            if may_lack_challenge(arguments, protocol, &result) {
                let client = client.with_options(options.with_dialect(Dialect::Standard));
                result = client.query(protocol, server).await;
            }
            Ok(show(form, (what, server, ""), &result)?.into())
        }
    }
}

/// The game that the answer names, or else the requested one.
fn heading(asked: &Game, result: &Result<Answered, Error>) -> &'static str {
    let found = result.as_ref().ok();
    let found = found.and_then(|outcome| Game::of(&outcome.answer, asked.protocol));
    found.map_or(asked.name, |game| game.name)
}

fn options(arguments: &Arguments, asked: &Asked<'_>) -> QueryOptions {
    let mut options = QueryOptions::default();
    if arguments.short {
        options = options.with_detail(Detail::Short);
    }
    let is_gamespy4 = matches!(asked, Asked::Server(What::Protocol(Protocol::GameSpy4), _));
    if arguments.short && is_gamespy4 {
        // In GameSpy v4, only Minecraft servers have a short answer.
        options = options.with_dialect(Dialect::Minecraft);
    }
    match arguments.charset {
        Some(charset) => options.with_charset(charset),
        None => options,
    }
}

/// Whether a silent server may be one of GameSpy v2, which ignores Minecraft's challenge request.
fn may_lack_challenge(
    arguments: &Arguments,
    protocol: Protocol,
    result: &Result<Answered, Error>,
) -> bool {
    let is_silent = matches!(result, Err(error) if error.kind() == ErrorKind::Timeout);
    is_silent && arguments.short && protocol == Protocol::GameSpy4
}

/// Queries servers of this program over loopback.
async fn embedded_servers(
    client: &Client,
    form: Form,
) -> Result<ExitCode, Box<dyn std::error::Error>> {
    if form == Form::Text {
        let heading = "No server given: querying embedded servers over UDP on loopback.\n\n";
        let heading = wrap_for(command_line::columns(), heading.to_owned());
        io::stdout().write_all(heading.as_bytes())?;
    }
    // They run until they are dropped.
    let mut servers = Vec::new();
    for world in embedded::worlds() {
        servers.push(world.start(0).await?);
    }
    let mut code = 0;
    for server in &servers {
        let address = server.address.to_string();
        let options = QueryOptions::default().with_dialect(server.dialect);
        let client = client.clone().with_options(options);
        let result = client.query(server.protocol, &address).await;
        let asked = (server.protocol.into(), &*address, server.about);
        code = code.max(show(form, asked, &result)?);
    }
    Ok(code.into())
}

/// Prints the result of one query, and returns its exit status.
fn show(
    form: Form,
    (what, server, about): (What, &str, &str),
    result: &Result<Answered, Error>,
) -> io::Result<u8> {
    match result {
        Ok(outcome) => {
            let asked = Answering {
                protocol: what.protocol(),
                game: what.game(),
                server,
                about,
            };
            print_answer(form, &asked, outcome)
        }
        Err(error) => print_failure(form, (what, server), error),
    }
}

/// A server that answered.
pub(crate) struct Answering<'a> {
    protocol: Protocol,
    /// The game that was asked for.
    game: Option<&'static Game>,
    server: &'a str,
    /// Its description; if it is empty, its game is.
    about: &'a str,
}

fn print_answer(form: Form, asked: &Answering<'_>, outcome: &Answered) -> io::Result<u8> {
    let mut out = io::stdout();
    match form {
        Form::Text => {
            let text = print::readable(asked.protocol, asked.about, outcome);
            write!(out, "{text}")?;
        }
        _ => writeln!(out, "{}", print::json(form, asked, outcome))?,
    }
    let is_complete = outcome.answer.completeness.is_complete();
    Ok(command_line::status_of_answer(is_complete))
}

fn print_failure(form: Form, (what, server): (What, &str), error: &Error) -> io::Result<u8> {
    if form == Form::Text {
        let advice = advice(error, what, server);
        command_line::complain(&format!("{}{advice}", command_line::message(error)));
    } else {
        let line = print::json_error(Some(what), Some(server), error);
        writeln!(io::stdout(), "{line}")?;
    }
    Ok(1)
}

/// Queries a server, of a game at its usual query port. Returns the result and the transcript.
async fn record(
    client: &Client,
    (what, server): (What, &str),
    (mut options, timing, is_short): (QueryOptions, Timing, bool),
) -> (Result<Answered, Error>, Transcript) {
    let protocol = what.protocol();
    if let What::Game(game) = what {
        options = options.with_dialect(game.dialect);
    }
    let server = what.at_query_port(server);
    let transcript = Arc::new(Mutex::new(Transcript::default()));
    let conversation = |nonce| {
        let comments = vec![
            format!("protocol {protocol}"),
            format!("dialect {:?}", options.dialect()),
            format!("nonce {nonce}"),
            format!("detail {}", if is_short { "short" } else { "full" }),
            format!("timeout {}", timing.timeout().as_secs_f64()),
            format!("retries {}", timing.retries()),
        ];
        Recorded::new(
            StatusQuery::new(protocol, nonce, &options),
            comments,
            &transcript,
        )
    };
    let result = client
        .ask_host(server, protocol.default_query_port(), conversation)
        .await;
    let result = result.map(|outcome| outcome.map(|answer| answer.to_status()));
    let outcome = match &result {
        Ok(outcome) => outcome.answer.completeness.to_string(),
        Err(error) => format!("{:?}", error.kind()),
    };
    let mut transcript = match transcript.lock() {
        Ok(transcript) => transcript.clone(),
        Err(_) => Transcript::default(),
    };
    transcript.outcome = Some(outcome);
    (result, transcript)
}

/// Tries the usual ports of many games, or only the given one.
async fn detect(
    client: &Client,
    host: &str,
    form: Form,
) -> Result<ExitCode, Box<dyn std::error::Error>> {
    let mut out = io::stdout();
    let found = match client.detect(host).await {
        Err(error) if form != Form::Text => {
            writeln!(out, "{}", print::json_error(None, Some(host), &error))?;
            return Ok(ExitCode::FAILURE);
        }
        Err(error) => return Err(with_similar_games(&error, host).into()),
        Ok(found) => found,
    };
    if found.is_empty() {
        let why = match command_line::split(host) {
            (_, None) => "no answer at the usual ports of any game: name the game or its port",
            (_, Some(_)) => {
                "no answer at this port in any protocol: name the game, or leave the port out"
            }
        };
        let why = format!("{host}: {why}");
        if form == Form::Text {
            return Err(why.into());
        }
        let line = print::json_failure(Some(host), ErrorKind::Timeout, &why);
        writeln!(out, "{line}")?;
        return Ok(ExitCode::FAILURE);
    }
    let mut code = 0;
    for found in &found {
        let asked = Answering {
            protocol: found.protocol,
            game: None,
            server: host,
            about: "",
        };
        code = code.max(print_answer(form, &asked, &found.outcome)?);
    }
    Ok(code.into())
}

/// The error; of an unknown host name also the games with similar names, if the name is a misspelt
/// game.
fn with_similar_games(error: &Error, host: &str) -> String {
    let message = command_line::message(error);
    if error.kind() != ErrorKind::NameResolution {
        return message;
    }
    match Game::find(host) {
        Err(unknown) if !unknown.suggestions().is_empty() => format!("{message}\n  {unknown}"),
        _ => message,
    }
}

/// Queries a server by its game.
async fn by_game(
    client: &Client,
    game: &'static Game,
    server: &str,
    form: Form,
) -> Result<ExitCode, Box<dyn std::error::Error>> {
    let answered = match client.query_game(game, server).await {
        Err(error) if can_be_listed(&error, game) => {
            command_line::complain(&format!(
                "{}\n  Asking the list servers of {} for the host's query port.",
                command_line::message(&error),
                game.name
            ));
            client
                .query_listed(game, server)
                .await
                .ok()
                .flatten()
                .ok_or(error)
        }
        answered => answered,
    };
    let found = match answered {
        Ok(found) => found,
        Err(error) => return Ok(print_failure(form, (What::Game(game), server), &error)?.into()),
    };
    let about = found.game().map_or(game.name, |game| game.name);
    let asked = Answering {
        protocol: found.protocol,
        game: Some(game),
        server,
        about,
    };
    let code = print_answer(form, &asked, &found.outcome)?;
    if let Some(other) = found.other_game() {
        command_line::complain(&other_game(game, other));
    }
    Ok(code.into())
}

/// A warning about a server that runs another game than was named.
fn other_game(named: &Game, found: &Game) -> String {
    format!(
        "warning: the server says that it runs {} ({}), not {} ({})",
        found.name, found.id, named.name, named.id
    )
}

/// Whether the lists of a game can name another port of a silent host: they name public ones.
fn can_be_listed(error: &Error, game: &Game) -> bool {
    let is_public = matches!(error, Error::Query { peer, .. } if Scope::Public.admits(*peer));
    is_public
        && matches!(error.kind(), ErrorKind::Timeout | ErrorKind::Unreachable)
        && !game.masters.is_empty()
}

/// Advice for the protocol `quake3`.
const SIBLINGS: &str =
    "\n  Servers of Quake 2 and QuakeWorld answer if you name the game: quake2 or quake.";

/// Advice for the protocol `ut2004`, which has the name of a game.
const NOT_THE_GAME: &str = "\n  ut2004 is the protocol here. With the port that players connect to, name the game: \
                            unrealtournament2004.";

/// Advice for the user after a failure.
fn advice(error: &Error, what: What, server: &str) -> String {
    let protocol = what.protocol();
    let other_port = other_port(error, what, server).unwrap_or_default();
    let advice = match error.kind() {
        ErrorKind::Timeout => {
            let port = match what {
                What::Protocol(protocol) => Some(protocol.default_query_port()),
                What::Game(game) => game.game_port.and_then(|port| game.query_port.of(port)),
            };
            let usual = port
                .map(|port| format!(" ({what} servers usually answer on {port})"))
                .unwrap_or_default();
            let quirks = match what {
                What::Game(game) if !game.quirks.is_empty() => {
                    format!("\n  {}: {}", game.name, game.quirks)
                }
                What::Protocol(Protocol::Quake3) => SIBLINGS.to_owned(),
                What::Protocol(Protocol::Ut2004) => NOT_THE_GAME.to_owned(),
                _ => String::new(),
            };
            format!(
                "\n  The query port can differ from the game port{usual}: HOST alone tries the usual ports of many \
                 games.\n  Some servers limit the rate of their replies: wait a second and try again.{quirks}"
            )
        }
        ErrorKind::Unreachable => {
            let question = match is_given_port(error, server) {
                true => ": is it the query port?",
                false => "",
            };
            format!("\n  If the host is up, no program listens on that port{question}")
        }
        ErrorKind::NotThisProtocol => {
            format!(
                "\n  The replies are not in {protocol}: leave it out, as in `queryport query HOST:PORT`, and it is found out."
            )
        }
        _ => String::new(),
    };
    other_port + &advice
}

/// Whether the user gave the queried port.
fn is_given_port(error: &Error, server: &str) -> bool {
    let (_, port) = command_line::split(server);
    let given = port.and_then(|port| port.parse().ok());
    given.is_some() && given == error.peer().map(|peer| peer.port())
}

/// Why another port was queried than was given.
fn other_port(error: &Error, what: What, server: &str) -> Option<String> {
    let (What::Game(game), Error::Query { peer, .. }) = (what, error) else {
        return None;
    };
    let (_, port) = command_line::split(server);
    let given = port.filter(|port| port.parse() != Ok(peer.port()))?;
    Some(format!(
        "\n  {} is the query port of a server of {} at port {given}.",
        peer.port(),
        game.name
    ))
}

type Answered = Outcome<ServerStatus>;

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Arguments, String> {
        let arguments =
            Arguments::try_parse_from(["query"].into_iter().chain(line.split_whitespace()));
        let arguments = arguments
            .map_err(|error| error.to_string())?
            .with_joined_port();
        asked(&arguments).map(drop)?;
        Ok(arguments)
    }

    #[test]
    fn a_search_of_the_local_network_is_for_a_game_or_for_all() {
        assert_eq!(parse("--lan").unwrap().lan, Some(None));
        let arguments =
            parse("--lan openarena --json --network 192.0.2.255 --network 198.51.100.255").unwrap();
        assert_eq!(arguments.lan, Some(Some("openarena".to_owned())));
        assert_eq!(
            arguments.network,
            ["192.0.2.255", "198.51.100.255"].map(|ip| ip.parse::<IpAddr>().unwrap())
        );
        assert!(arguments.json && arguments.what.is_none());
        for (line, why) in [
            ("--lan openarna", "did you mean openarena (OpenArena)"),
            ("--lan openarena example.org", "cannot be used with"),
            ("--network 192.0.2.255", "--lan"),
            ("--lan --network 192.0.2", "expected an IP address, as in"),
            ("--lan --short", "cannot be used with"),
        ] {
            let error = parse(line).unwrap_err();
            assert!(error.contains(why), "{line}: {error}");
        }
    }

    #[test]
    fn a_server_is_named_with_its_game_its_protocol_or_alone() {
        let game = What::Game(Game::find("openarena").unwrap());
        for (line, expected) in [
            ("", Asked::Embedded),
            (
                "quake3 example.org",
                Asked::Server(Protocol::Quake3.into(), "example.org"),
            ),
            (
                "openarena example.org:27961",
                Asked::Server(game, "example.org:27961"),
            ),
            ("example.org", Asked::Host("example.org")),
            ("example.org 5", Asked::Host("example.org:5")),
            ("2001:db8::1 5", Asked::Host("[2001:db8::1]:5")),
            (
                "quake3 example.org 5",
                Asked::Server(Protocol::Quake3.into(), "example.org:5"),
            ),
            (
                "quake3 [2001:db8::1] 5",
                Asked::Server(Protocol::Quake3.into(), "[2001:db8::1]:5"),
            ),
        ] {
            assert_eq!(asked(&parse(line).unwrap()), Ok(expected), "{line}");
        }
        for (line, why) in [
            (
                "openarna example.org",
                "did you mean openarena (OpenArena)? (",
            ),
            ("gs3 example.org", "the protocol is gamespy4 here"),
            (
                "example.org:27960 quake3",
                "comes first: quake3 example.org:27960",
            ),
            ("quake3 http://example.org", "without http://"),
            ("example.org --record f", "needs a game or a protocol"),
            ("quake3 example.org --detailed", "--json"),
            (
                "quake3 example.org:99999",
                "the port \"99999\" is not a number from 1 to 65535",
            ),
            (
                "quake3 example.org --bind nowhere",
                "expected an IP address",
            ),
            ("quake3 27960", "the server is missing: write HOST:27960"),
            ("quake3 example.org:5 6", "expected one server"),
            ("quake3 example.org 0", "expected one server"),
            ("quake3 example.org 5 6", "expected one server"),
            ("quake3 example.org example.net", "expected one server"),
            ("quake3 example.org --retries x", "from 0 to 255"),
            ("quake3", "the server is missing"),
            ("openarena", "search with query --lan openarena"),
            ("example.org --commands status", "required"),
            (
                "quake3 example.org --commands status",
                "applies to gamespy1 only",
            ),
        ] {
            let error = parse(line).unwrap_err();
            assert!(error.contains(why), "{line}: {error}");
        }
    }
}
