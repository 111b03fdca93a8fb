//! Servers as a person writes them, on command lines and in lists: a protocol or a game, then
//! `HOST:PORT`.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::net::IpAddr;

use queryport::games::Game;
use queryport::{Protocol, UnknownProtocol};

use crate::command_line;
pub use crate::command_line::server;

/// How a server is queried.
#[derive(Debug, Clone, Copy)]
pub enum What {
    Protocol(Protocol),
    Game(&'static Game),
}

/// A server of a list: how to query it, and its host and port as given. For a game, the port is the
/// one that players connect to.
pub type Target = (What, String);

impl What {
    /// A protocol, or a game by its id or name.
    pub fn parse(text: &str) -> Result<Self, String> {
        // `ut2004` is a protocol and a former id of its game, which has other names too.
        let unknown: UnknownProtocol = match text.parse() {
            Ok(protocol) => return Ok(Self::Protocol(protocol)),
            Err(unknown) => unknown,
        };
        let protocols = || Protocol::ALL.map(Protocol::as_str).join(", ");
        command_line::game(text)
            .map(Self::Game)
            .map_err(|error| match unknown.advice() {
                Some(_) => error,
                None => format!("{error} (protocols: {})", protocols()),
            })
    }

    /// The same for a server: `HOST` or `HOST:PORT`. `ut2004` is the game at the port to which its
    /// players connect, where the protocol has no reply.
    pub fn of_server(text: &str, server: &str) -> Result<Self, String> {
        let what = Self::parse(text).map_err(|error| match Self::parse(server) {
            Ok(_) => format!("the game or protocol comes first: {server} {text}"),
            Err(_) => error,
        })?;
        if command_line::with_port("HOST", server).is_some() {
            return Err(format!("the server is missing: write HOST:{server}"));
        }
        let (_, port) = command_line::split(server);
        let port = port.and_then(|port| port.parse().ok());
        let is_game_port =
            |game: &&Game| game.game_port == port && game.default_query_port() != port;
        let game = Game::find(text).ok().filter(is_game_port);
        Ok(game.map_or(what, Self::Game))
    }

    pub const fn protocol(self) -> Protocol {
        match self {
            Self::Protocol(protocol) => protocol,
            Self::Game(game) => game.protocol,
        }
    }

    /// The game, if it is one.
    pub const fn game(self) -> Option<&'static Game> {
        match self {
            Self::Protocol(_) => None,
            Self::Game(game) => Some(game),
        }
    }

    /// The name of the protocol, or the id of the game.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Protocol(protocol) => protocol.as_str(),
            Self::Game(game) => game.id,
        }
    }

    /// The port of a server that is named without one.
    fn usual_port(self) -> Option<u16> {
        match self {
            Self::Protocol(protocol) => Some(protocol.default_query_port()),
            Self::Game(game) => game.game_port.or_else(|| game.default_query_port()),
        }
    }

    /// The server with the port that is queried.
    pub fn at_query_port(self, server: &str) -> String {
        let (host, port) = command_line::split(server);
        let port = port.and_then(|port| port.parse().ok());
        let query_port = match (self, port) {
            (Self::Protocol(_), port) => port,
            (Self::Game(game), Some(port)) => game.query_port.of(port),
            (Self::Game(game), None) => game.default_query_port(),
        };
        match query_port {
            Some(port) => command_line::join(host, port),
            None => server.to_owned(),
        }
    }

    /// The server at its query port, as the target of a scan.
    pub fn target<'a, T>(self, server: &'a str) -> T
    where
        T: From<(Protocol, &'a str)> + From<(&'static Game, &'a str)>,
    {
        match self {
            Self::Protocol(protocol) => (protocol, server).into(),
            Self::Game(game) => (game, server).into(),
        }
    }

    const fn key(self) -> (bool, &'static str) {
        (matches!(self, Self::Game(_)), self.as_str())
    }
}

impl PartialEq for What {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for What {}

impl PartialOrd for What {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for What {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl From<Protocol> for What {
    fn from(protocol: Protocol) -> Self {
        Self::Protocol(protocol)
    }
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The identity of a server: two targets are one server only if they are queried in the same way
/// and have the same host and port.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Identity {
    pub what: What,
    /// In lower case, without brackets. An address has its canonical form.
    host: String,
    pub port: Option<u16>,
}

impl Identity {
    pub fn of(what: What, server: &str) -> Self {
        let (host, port) = command_line::split(server);
        let port = port
            .and_then(|port| port.parse().ok())
            .or_else(|| what.usual_port());
        let host = match host.parse::<IpAddr>() {
            Ok(ip) => ip.to_canonical().to_string(),
            Err(_) => host.to_ascii_lowercase(),
        };
        Self { what, host, port }
    }

    /// The host and the port of a target, as in `example.org:27960` and `[::1]:27960`.
    pub fn address(&self) -> String {
        let host = &self.host;
        match self.port {
            Some(port) => command_line::join(host, port),
            None => host.clone(),
        }
    }
}

/// The game or protocol, and the address.
impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.what, self.address())
    }
}

/// The target of a line; `None` for an empty line or a comment. `usual` is the protocol or game of
/// lines that name neither. An error names the wrong word.
pub fn of_line(line: &str, usual: Option<What>) -> Result<Option<Target>, String> {
    let text = line
        .trim_start_matches('\u{feff}')
        .split('#')
        .next()
        .unwrap_or_default()
        .trim();
    if text.is_empty() {
        return Ok(None);
    }
    // The name of a game may contain spaces.
    let (what, text) = match text.rsplit_once(char::is_whitespace) {
        Some((name, server)) => match What::of_server(name.trim(), server) {
            Ok(what) => (what, Cow::Borrowed(server)),
            Err(error) => of_three_words(name.trim(), server).unwrap_or(Err(error))?,
        },
        // A host name with a dot or a colon is no game, and is not looked up among them.
        None if !text.contains(['.', ':']) && What::parse(text).is_ok() => {
            return Err(format!(
                "the server is missing after \"{text}\": write {text} HOST or {text} HOST:PORT"
            ));
        }
        None => (
            usual.ok_or_else(|| {
                format!(
                    "\"{}\" has no protocol or game before it",
                    text.escape_debug()
                )
            })?,
            Cow::Borrowed(text),
        ),
    };
    Ok(Some((what, server(&text)?)))
}

/// The target of `GAME HOST PORT`, or what is wrong after `GAME HOST:PORT`; `None` if the line does
/// not begin with a game and a host.
fn of_three_words(
    game_and_host: &str,
    last: &str,
) -> Option<Result<(What, Cow<'static, str>), String>> {
    let (game, host) = game_and_host.rsplit_once(char::is_whitespace)?;
    let game = game.trim();
    What::parse(game).ok()?;
    let is_number = host.bytes().all(|byte| byte.is_ascii_digit());
    if let (Some(server), false) = (command_line::with_port(host, last), is_number) {
        let what = What::of_server(game, &server);
        return Some(what.map(|what| (what, Cow::Owned(server))));
    }
    if !host.contains(['.', ':']) {
        return None;
    }
    let last = last.escape_debug();
    let why = format!("\"{last}\" after the server: write {game} HOST or {game} HOST:PORT");
    Some(Err(why))
}

#[cfg(test)]
mod tests {
    use super::*;
    use queryport::net::ScanTarget;

    #[test]
    fn lines_name_targets() {
        let read = |line| {
            let target = of_line(line, Some(Protocol::Quake3.into()))?;
            Ok::<_, String>(target.map(|(what, server)| format!("{what} {server}")))
        };
        for (line, target) in [
            (" 192.0.2.1:27960 # a remark", "quake3 192.0.2.1:27960"),
            ("\u{feff}quake3 example.org", "quake3 example.org"),
            ("ut2004\t[::1]:7778", "ut2004 [::1]:7778"),
            // The port for players.
            ("ut2004 [::1]:7777", "unrealtournament2004 [::1]:7777"),
            ("ut2004  ::1\t7777", "unrealtournament2004 [::1]:7777"),
            ("openarena example.org:27961", "openarena example.org:27961"),
            (
                "battlefield 1942 localhost 14567",
                "battlefield1942 localhost:14567",
            ),
        ] {
            assert_eq!(read(line), Ok(Some(target.to_owned())), "{line}");
        }
        assert_eq!((read(""), read("# only a remark")), (Ok(None), Ok(None)));
    }

    #[test]
    fn an_error_names_the_word_that_is_wrong() {
        let read = |line: &str| of_line(line, None).err().unwrap_or_default();
        for (line, words) in [
            (
                "openarna example.org",
                "did you mean openarena (OpenArena)?",
            ),
            (
                "quake3 example.org:99999",
                "the port \"99999\" is not a number",
            ),
            ("quake3 example.org:+40100", "the port \"+40100\""),
            ("quake3 example.org:0", "the port \"0\""),
            ("quake3 a\u{1b}[2J", "\\u{1b}[2J\" is not HOST or HOST:PORT"),
            ("d'or\u{1b} c", "unknown game \"d'or\\u{1b}\""),
            ("quake3 192.0.2.1 99999", "\"99999\" after the server"),
            ("192.0.2.1 quake3", "comes first: quake3 192.0.2.1"),
            ("openarena # a remark", "the server is missing"),
            ("openarena 27960", "the server is missing: write HOST:27960"),
            (
                "example.org",
                "\"example.org\" has no protocol or game before it",
            ),
        ] {
            assert!(read(line).contains(words), "{line:?}: {}", read(line));
        }
        assert!(server(&"x".repeat(400)).is_err() && server("2001:db8::1").is_ok());
    }

    #[test]
    fn a_server_is_its_game_host_and_port() {
        let identity = |what, server| What::parse(what).map(|what| Identity::of(what, server));
        for (what, server, other, other_server, is_same) in [
            ("quake3", "example.org", "quake3", "EXAMPLE.org:27960", true),
            ("bf1942", "192.0.2.1", "bf1942", "192.0.2.1:14567", true),
            ("bf1942", "192.0.2.1", "bf1942", "192.0.2.1:14568", false),
            ("quake3", "::1", "quake3", "[::1]:27960", true),
            ("quake3", "[::ffff:1.2.3.4]", "quake3", "1.2.3.4", true),
            ("quake3", "2001:DB8::0:1", "quake3", "2001:db8::1", true),
            ("minecraft", "192.0.2.1", "crysis", "192.0.2.1", false),
            ("quake3", "192.0.2.1", "openarena", "192.0.2.1", false),
            ("quake3", "192.0.2.1", "quake3", "192.0.2.1:27961", false),
        ] {
            let found = identity(what, server) == identity(other, other_server);
            assert_eq!(found, is_same, "{what} {server}, {other} {other_server}");
        }
        let shown = identity("bf1942", "[2001:db8::1]:14567").map(|server| server.to_string());
        assert_eq!(shown.as_deref(), Ok("battlefield1942 [2001:db8::1]:14567"));
    }

    #[test]
    fn the_port_of_a_game_leads_to_its_query_port() {
        let target = |game, server| {
            What::parse(game).map(|what| format!("{:?}", what.target::<ScanTarget>(server)))
        };
        for (game, server, address) in [
            ("openarena", "192.0.2.1", "192.0.2.1:27960"),
            ("bf1942", "192.0.2.1:14567", "192.0.2.1:23000"),
            ("openarena", "[2001:db8::1]:27961", "[2001:db8::1]:27961"),
        ] {
            let target = target(game, server).unwrap_or_default();
            assert!(target.contains(address), "{game} {server}: {target}");
        }
    }
}
