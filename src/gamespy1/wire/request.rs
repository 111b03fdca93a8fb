//! Requests: one or more commands between backslashes, in one datagram.

use std::fmt;

use bytes::BufMut;
use nom::Parser;
use nom::combinator::opt;
use nom::sequence::delimited;

use super::{separator, text};
use crate::error::{EncodeError, ParseError, ParseErrorKind};
use crate::grammar::Parsed;
use crate::text::{MAX_WORD, each, lower_case};

/// Longest request that servers read, in bytes. GameSpy's own code cuts longer ones (OpenMoHAA,
/// code/gamespy/sv_gqueryreporting.c).
const MAX_REQUEST: usize = 255;

/// One command of a [`Request`].
///
/// ```
/// use queryport::gamespy1::Command;
///
/// let command = Command::LevelProperty(b"Title");
/// assert_eq!(command.name(), b"level_property");
/// assert_eq!(format!("{command:?}"), r"\level_property\Title");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Command<'a> {
    /// The game, its version, the region.
    Basic,
    /// The name, the map, the number of players.
    Info,
    /// The settings.
    Rules,
    /// The players.
    Players,
    /// All four in one reply.
    Status,
    /// The answers to the first four commands, each in a datagram of its own. GameSpy's own code
    /// only.
    Packets,
    /// The teams. Patched UT99 servers and mods only. Do not combine it with players, see
    /// [`StatusQuery::commands`](crate::gamespy1::StatusQuery::commands).
    Teams,
    /// A text that the server sends back.
    Echo(&'a [u8]),
    /// A property of the level object. The Unreal engine only.
    LevelProperty(&'a [u8]),
    /// A property of the game object. The Unreal engine only.
    GameProperty(&'a [u8]),
    /// A property of each player. The Unreal engine only. The rows of the answer begin at 1, those
    /// of `\players\` at 0.
    PlayerProperty(&'a [u8]),
    /// A challenge, answered with proof of the game's key, see [`GameKey`](crate::GameKey).
    Secure(&'a [u8]),
    /// Any other command, or one of the above with a value that it does not usually have, such as
    /// `\status\xserverquery`.
    Other {
        /// Its name, not empty.
        name: &'a [u8],
        /// Its value, which may be empty.
        value: &'a [u8],
    },
}

impl<'a> Command<'a> {
    /// The name on the wire.
    pub const fn name(&self) -> &'a [u8] {
        self.tokens().0
    }

    /// The value, which may be empty.
    pub(crate) const fn value(&self) -> &'a [u8] {
        self.tokens().1
    }

    const fn tokens(&self) -> (&'a [u8], &'a [u8]) {
        match *self {
            Self::Basic => (b"basic", b""),
            Self::Info => (b"info", b""),
            Self::Rules => (b"rules", b""),
            Self::Players => (b"players", b""),
            Self::Status => (b"status", b""),
            Self::Packets => (b"packets", b""),
            Self::Teams => (b"teams", b""),
            Self::Echo(value) => (b"echo", value),
            Self::LevelProperty(value) => (b"level_property", value),
            Self::GameProperty(value) => (b"game_property", value),
            Self::PlayerProperty(value) => (b"player_property", value),
            Self::Secure(value) => (b"secure", value),
            Self::Other { name, value } => (name, value),
        }
    }

    /// The command with this name, in any case, and this value.
    fn new(name: &'a [u8], value: &'a [u8]) -> Self {
        let known = Self::known(name, value).filter(|known| known.value() == value);
        known.unwrap_or(Self::Other { name, value })
    }

    /// The known command with this name, in any case. One that takes no value gets none.
    pub(crate) fn known(name: &[u8], value: &'a [u8]) -> Option<Self> {
        match lower_case(name, &mut [0; MAX_WORD]) {
            b"basic" => Some(Self::Basic),
            b"info" => Some(Self::Info),
            b"rules" => Some(Self::Rules),
            b"players" => Some(Self::Players),
            b"status" => Some(Self::Status),
            b"packets" => Some(Self::Packets),
            b"teams" => Some(Self::Teams),
            b"echo" => Some(Self::Echo(value)),
            b"level_property" => Some(Self::LevelProperty(value)),
            b"game_property" => Some(Self::GameProperty(value)),
            b"player_property" => Some(Self::PlayerProperty(value)),
            b"secure" => Some(Self::Secure(value)),
            _ => None,
        }
    }
}

impl fmt::Debug for Command<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "\\{}\\{}",
            self.name().escape_ascii(),
            self.value().escape_ascii()
        )
    }
}

/// A request: a list of commands.
///
/// ```
/// use queryport::gamespy1::{Command, Request};
///
/// let request =
///     Request::new(&[Command::Basic, Command::Secure(b"LRPOPQ"), Command::Rules]);
/// let mut datagram = Vec::new();
/// request.encode(&mut datagram)?;
/// assert_eq!(datagram, br"\basic\\secure\LRPOPQ\\rules\");
/// assert_eq!(Request::parse(&datagram)?, request);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// The commands of a request that was not parsed.
    pub(super) list: &'a [Command<'a>],
    /// The parsed datagram.
    pub(super) datagram: &'a [u8],
}

impl<'a> Request<'a> {
    /// A request of these commands. [`Self::encode`] checks them.
    pub const fn new(commands: &'a [Command<'a>]) -> Self {
        Self {
            list: commands,
            datagram: b"",
        }
    }

    /// Parses a request as the Unreal engine does: `\name\` followed by another `\` has no value.
    ///
    /// Otherwise the next token is its value, and one `\` after it is skipped.
    ///
    /// # Errors
    /// - [`ParseErrorKind::NotThisProtocol`] if it does not begin with `\`.
    /// - [`ParseErrorKind::Unexpected`] for a reply, which contains `queryid`, `final`,
    ///   `statusresponse` or `eof`: two servers must never answer each other.
    /// - [`ParseErrorKind::CutShort`] without any command.
    /// - [`ParseErrorKind::Limit`] above 255 bytes, because servers read no more.
    pub fn parse(datagram: &'a [u8]) -> Result<Self, ParseError> {
        if datagram.first() != Some(&b'\\') {
            return Err(ParseError::new(
                ParseErrorKind::NotThisProtocol("a backslash"),
                0,
            ));
        }
        if datagram.len() > MAX_REQUEST {
            return Err(ParseError::limit(
                "bytes of a request",
                MAX_REQUEST,
                MAX_REQUEST,
            ));
        }
        let mut words = [
            &br"\queryid\"[..],
            br"\final\",
            br"\statusresponse\",
            br"\eof\",
        ]
        .into_iter();
        if let Some(offset) = words.find_map(|word| memchr::memmem::find(datagram, word)) {
            return Err(ParseError::new(
                ParseErrorKind::Unexpected("a request, not a reply"),
                offset,
            ));
        }
        let request = Self {
            list: &[],
            datagram,
        };
        let first = request.commands().next();
        first
            .map(|_| request)
            .ok_or(ParseError::new(ParseErrorKind::CutShort("the command"), 1))
    }

    /// The commands in order.
    pub fn commands(&self) -> impl Iterator<Item = Command<'a>> + use<'a> {
        let parsed = each(self.datagram, command);
        self.list
            .iter()
            .copied()
            .chain(parsed.filter(|command| !command.name().is_empty()))
    }

    /// Appends the datagram. Both the Unreal engine and GameSpy's own code can read it.
    ///
    /// # Errors
    /// Nothing is written after an error.
    /// - [`EncodeError::Empty`] without commands, or for an empty name.
    /// - [`EncodeError::Forbidden`] for `\` and bytes outside printable ASCII.
    /// - [`EncodeError::TooLong`] above 255 bytes in all.
    pub fn encode(&self, out: &mut impl BufMut) -> Result<(), EncodeError> {
        let mut request = Vec::with_capacity(MAX_REQUEST);
        for command in self.commands() {
            // A value ends at the next separator, which is skipped: the next command needs its own.
            if request.last().is_some_and(|&last| last != b'\\') {
                request.push(b'\\');
            }
            let texts = [
                ("command", command.name(), 1),
                ("value of a command", command.value(), 0),
            ];
            for (field, text, min_length) in texts {
                let is_forbidden = |byte| !matches!(byte, b' '..=b'[' | b']'..=b'~');
                EncodeError::check(field, text, min_length..=usize::MAX, is_forbidden)?;
                request.push(b'\\');
                request.extend_from_slice(text);
            }
        }
        match request.len() {
            0 => return Err(EncodeError::Empty("list of commands")),
            1..=MAX_REQUEST => out.put_slice(&request),
            _ => {
                return Err(EncodeError::TooLong {
                    field: "request",
                    limit: MAX_REQUEST,
                });
            }
        }
        Ok(())
    }
}

impl PartialEq for Request<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.commands().eq(other.commands())
    }
}

impl Eq for Request<'_> {}

impl fmt::Debug for Request<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.commands()).finish()
    }
}

/// `request = 1*command`, `command = "\" name "\" [ value [ "\" ] ]`: no value if another separator
/// follows immediately.
///
/// The separator after the name is required: neither the engine nor GameSpy's code knows `\status`.
fn command(input: &[u8]) -> Parsed<'_, Command<'_>> {
    let (rest, name) = delimited(separator, text, separator).parse(input)?;
    if rest.first() == Some(&b'\\') {
        return Ok((rest, Command::new(name, b"")));
    }
    // Text that begins no command is skipped.
    let (rest, (value, ..)) = (text, opt(separator), text).parse(rest)?;
    Ok((rest, Command::new(name, value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commands(datagram: &[u8]) -> Vec<Command<'_>> {
        Request::parse(datagram).unwrap().commands().collect()
    }

    #[test]
    fn commands_are_read_as_the_engine_reads_them() {
        use Command::*;
        assert_eq!(commands(br"\basic\"), [Basic]);
        assert_eq!(commands(br"\basic\\info\\rules\"), [Basic, Info, Rules]);
        assert_eq!(commands(br"\echo\abc\\basic\"), [Echo(b"abc"), Basic]);
        assert_eq!(
            commands(br"\basic\info\"),
            [Other {
                name: b"basic",
                value: b"info"
            }]
        );
        assert_eq!(
            commands(br"\status\xserverquery"),
            [Other {
                name: b"status",
                value: b"xserverquery"
            }]
        );
        assert_eq!(commands(br"\echo\\basic\"), [Echo(b""), Basic]);
        assert_eq!(
            commands(br"\level_property\Title"),
            [LevelProperty(b"Title")]
        );
        assert_eq!(
            commands(br"\game_property\X\\player_property\Y\\teams\\packets\"),
            [GameProperty(b"X"), PlayerProperty(b"Y"), Teams, Packets]
        );
        assert_eq!(commands(br"\STATUS\"), [Status]);
        assert_eq!(commands(br"\players\\"), [Players]);
    }

    #[test]
    fn a_command_needs_the_separator_after_its_name() {
        let input = br"\echo\abc\\basic\";
        assert_eq!(
            command(input),
            Ok((&br"\basic\"[..], Command::Echo(b"abc")))
        );
        for cut in 0..=10 {
            let value = (cut > 5).then(|| &input[6..cut.min(9)]);
            let found = command(&input[..cut]).ok().map(|(_, command)| command);
            assert_eq!(found, value.map(Command::Echo), "{cut}");
        }
    }

    #[test]
    fn replies_and_other_protocols_are_not_requests() {
        let kind = |datagram: &[u8]| {
            Request::parse(datagram)
                .map(|_| ())
                .map_err(|error| error.kind)
        };
        let reply = Err(ParseErrorKind::Unexpected("a request, not a reply"));
        assert_eq!(kind(br"\final\\queryid\2.1"), reply);
        assert_eq!(kind(br"\echo\x\queryid\7.1\final\"), reply);
        assert_eq!(kind(br"\status\\queryid\7.1"), reply);
        assert_eq!(kind(br"\statusresponse\0\a\b\eof\"), reply);
        let foreign = Err(ParseErrorKind::NotThisProtocol("a backslash"));
        for datagram in [
            &b""[..],
            b";\\status\\",
            b"status",
            b"\xff\xff\xff\xffgetinfo",
            b"\xfe\xfd\x00",
        ] {
            assert_eq!(kind(datagram), foreign);
        }
        for nothing in [&br"\"[..], br"\status", br"\\", br"\\\\"] {
            assert_eq!(
                kind(nothing),
                Err(ParseErrorKind::CutShort("the command")),
                "{nothing:?}"
            );
        }
        assert!(matches!(
            kind(&[br"\echo\".as_slice(), &[b'x'; 250]].concat()),
            Err(ParseErrorKind::Limit { limit: 255, .. })
        ));
        let longest = [br"\echo\".as_slice(), &[b'x'; 249]].concat();
        assert!(Request::parse(&longest).is_ok());
    }

    #[test]
    fn values_that_the_format_cannot_carry_are_refused() {
        let encode = |commands: &[Command<'_>]| Request::new(commands).encode(&mut Vec::new());
        assert_eq!(encode(&[]), Err(EncodeError::Empty("list of commands")));
        assert_eq!(
            encode(&[Command::Other {
                name: b"",
                value: b"x"
            }]),
            Err(EncodeError::Empty("command"))
        );
        for bad in [&br"a\b"[..], b"a\n", b"\xfc", b"\0"] {
            assert!(matches!(
                encode(&[Command::Echo(bad)]),
                Err(EncodeError::Forbidden { .. })
            ));
        }
        assert!(encode(&[Command::Echo(&[b'x'; 249])]).is_ok());
        assert!(matches!(
            encode(&[Command::Echo(&[b'x'; 250])]),
            Err(EncodeError::TooLong { .. })
        ));
    }
}
