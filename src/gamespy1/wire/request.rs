//! What a client says: commands between backslashes, one or several in a datagram.

use std::fmt;

use bytes::BufMut;
use nom::bytes::complete::{tag, take_till};
use nom::combinator::opt;
use nom::sequence::delimited;
use nom::{IResult, Parser};

use crate::error::{EncodeError, ParseError, ParseErrorKind};

/// Longest request that servers read, in bytes: GameSpy's own code cuts longer ones (OpenMoHAA's
/// code/gamespy/sv_gqueryreporting.c).
const MAX_REQUEST: usize = 255;

/// One command of a [`Request`].
///
/// ```
/// use queryport::gamespy1::Command;
///
/// let command = Command::LevelProperty(b"Title");
/// assert_eq!((command.name(), command.value()), (&b"level_property"[..], &b"Title"[..]));
/// assert_eq!(format!("{command:?}"), r"\level_property\Title");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Command<'a> {
    /// Game, version, region.
    Basic,
    /// Name, map, counts.
    Info,
    /// Settings.
    Rules,
    /// The players.
    Players,
    /// All four in one.
    Status,
    /// All four, each in a datagram of its own; GameSpy's own code only.
    Packets,
    /// The teams; patched UT99 servers and mods.
    Teams,
    /// A text to be sent back.
    Echo(&'a [u8]),
    /// A property of the level object; the Unreal engine only.
    LevelProperty(&'a [u8]),
    /// A property of the game object; the Unreal engine only.
    GameProperty(&'a [u8]),
    /// A property of each player; the Unreal engine only. The rows of the answer begin at 1, those of `\players\` at 0.
    PlayerProperty(&'a [u8]),
    /// A challenge, to be answered with proof of the game's key: see [`secure`](crate::gamespy1::secure).
    Secure(&'a [u8]),
    /// Any other command, or one of those without a value above with one, as in `\status\xserverquery`.
    Other {
        /// Its name, not empty.
        name: &'a [u8],
        /// Its value, which may be empty.
        value: &'a [u8],
    },
}

impl<'a> Command<'a> {
    /// The name on the wire.
    #[must_use]
    pub const fn name(&self) -> &'a [u8] {
        match self {
            Self::Basic => b"basic",
            Self::Info => b"info",
            Self::Rules => b"rules",
            Self::Players => b"players",
            Self::Status => b"status",
            Self::Packets => b"packets",
            Self::Teams => b"teams",
            Self::Echo(_) => b"echo",
            Self::LevelProperty(_) => b"level_property",
            Self::GameProperty(_) => b"game_property",
            Self::PlayerProperty(_) => b"player_property",
            Self::Secure(_) => b"secure",
            Self::Other { name, .. } => name,
        }
    }

    /// The value, which may be empty.
    #[must_use]
    pub const fn value(&self) -> &'a [u8] {
        match self {
            Self::Echo(value)
            | Self::LevelProperty(value)
            | Self::GameProperty(value)
            | Self::PlayerProperty(value)
            | Self::Secure(value)
            | Self::Other { value, .. } => value,
            _ => b"",
        }
    }

    /// The command with this name, in any case, and this value.
    pub(crate) fn new(name: &'a [u8], value: &'a [u8]) -> Self {
        let known = [
            Self::Basic,
            Self::Info,
            Self::Rules,
            Self::Players,
            Self::Status,
            Self::Packets,
            Self::Teams,
            Self::Echo(value),
            Self::LevelProperty(value),
            Self::GameProperty(value),
            Self::PlayerProperty(value),
            Self::Secure(value),
        ];
        let is_it = |known: &Self| known.value() == value && known.name().eq_ignore_ascii_case(name);
        known.into_iter().find(is_it).unwrap_or(Self::Other { name, value })
    }
}

impl fmt::Debug for Command<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\\{}\\{}", self.name().escape_ascii(), self.value().escape_ascii())
    }
}

/// A request: a list of commands, made by the caller or read from a datagram without copying.
///
/// ```
/// use queryport::gamespy1::{Command, Request};
///
/// let commands = [Command::Basic, Command::Secure(b"LRPOPQ"), Command::Rules];
/// let mut datagram = Vec::new();
/// Request::new(&commands).encode(&mut datagram)?;
/// assert_eq!(datagram, br"\basic\\secure\LRPOPQ\\rules\");
///
/// let request = Request::parse(&datagram)?;
/// assert!(request.commands().eq(commands));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub struct Request<'a>(Source<'a>);

#[derive(Clone, Copy)]
enum Source<'a> {
    Commands(&'a [Command<'a>]),
    Datagram(&'a [u8]),
}

impl<'a> Request<'a> {
    /// A request of these commands. [`Self::encode`] checks them.
    #[must_use]
    pub const fn new(commands: &'a [Command<'a>]) -> Self {
        Self(Source::Commands(commands))
    }

    /// Reads a request from a datagram.
    ///
    /// # Errors
    /// [`ParseErrorKind::NotThisProtocol`] when it does not begin with `\`; [`ParseErrorKind::Unexpected`] for a reply, which
    /// holds `queryid`, `final`, `statusresponse` or `eof`: two servers must never answer each other;
    /// [`ParseErrorKind::CutShort`] without any command; [`ParseErrorKind::Limit`] above 255 bytes, which is as much as
    /// servers read.
    pub fn parse(datagram: &'a [u8]) -> Result<Self, ParseError> {
        if datagram.first() != Some(&b'\\') {
            return Err(ParseError::new(ParseErrorKind::NotThisProtocol("a backslash"), 0));
        }
        if datagram.len() > MAX_REQUEST {
            return Err(ParseError::limit("bytes of a request", MAX_REQUEST, MAX_REQUEST));
        }
        for word in [&br"\queryid\"[..], br"\final\", br"\statusresponse\", br"\eof\"] {
            if let Some(offset) = memchr::memmem::find(datagram, word) {
                return Err(ParseError::new(ParseErrorKind::Unexpected("a request, not a reply"), offset));
            }
        }
        let request = Self(Source::Datagram(datagram));
        match request.commands().next() {
            Some(_) => Ok(request),
            None => Err(ParseError::new(ParseErrorKind::CutShort("the command"), 1)),
        }
    }

    /// The commands in order. A datagram is read as the Unreal engine reads it: `\type\` followed by another `\` has no
    /// value, otherwise the token after it is its value, and one `\` behind that is skipped.
    pub fn commands(&self) -> impl Iterator<Item = Command<'a>> + use<'a> {
        let (given, mut rest) = match self.0 {
            Source::Commands(commands) => (commands, &b""[..]),
            Source::Datagram(datagram) => (&[][..], datagram),
        };
        let read = std::iter::from_fn(move || {
            loop {
                let (after, (name, value)) = command(rest).ok()?;
                rest = after;
                if !name.is_empty() {
                    return Some(Command::new(name, value));
                }
            }
        });
        given.iter().copied().chain(read)
    }

    /// The value of a command as GameSpy's own code finds it: anywhere in the datagram, wherever `\name\` occurs.
    pub(crate) fn find(&self, name: &str) -> Option<&'a [u8]> {
        match self.0 {
            Source::Commands(commands) => {
                commands.iter().find(|command| command.name() == name.as_bytes()).map(Command::value)
            }
            Source::Datagram(datagram) => {
                let wanted = [b"\\", name.as_bytes(), b"\\"].concat();
                let start = memchr::memmem::find(datagram, &wanted)?.checked_add(wanted.len())?;
                datagram.get(start..)?.split(|&byte| byte == b'\\').next()
            }
        }
    }

    /// Appends the datagram, with the commands joined as the Unreal engine reads them; GameSpy's own code reads that too. A
    /// request that was read from a datagram is written as it came.
    ///
    /// # Errors
    /// [`EncodeError::Empty`] without commands or for an empty name, [`EncodeError::Forbidden`] for `\` and bytes outside
    /// printable ASCII, [`EncodeError::TooLong`] above 255 bytes in all. Nothing is written then.
    pub fn encode(&self, out: &mut impl BufMut) -> Result<(), EncodeError> {
        let commands = match self.0 {
            Source::Commands(commands) => commands,
            Source::Datagram(datagram) => {
                out.put_slice(datagram);
                return Ok(());
            }
        };
        if commands.is_empty() {
            return Err(EncodeError::Empty("list of commands"));
        }
        let mut request = Vec::with_capacity(MAX_REQUEST);
        for command in commands {
            if command.name().is_empty() {
                return Err(EncodeError::Empty("command"));
            }
            // A value ends at the next separator, which is skipped: the next command needs its own.
            if request.last().is_some_and(|&last| last != b'\\') {
                request.push(b'\\');
            }
            for (field, text) in [("command", command.name()), ("value of a command", command.value())] {
                if let Some(&byte) = text.iter().find(|byte| !matches!(byte, b' '..=b'[' | b']'..=b'~')) {
                    return Err(EncodeError::Forbidden { field, byte });
                }
                request.push(b'\\');
                request.extend_from_slice(text);
            }
        }
        if request.len() > MAX_REQUEST {
            return Err(EncodeError::TooLong { field: "request", limit: MAX_REQUEST });
        }
        out.put_slice(&request);
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
        f.write_str("Request")?;
        f.debug_list().entries(self.commands()).finish()
    }
}

/// `\name\`, then a value and one `\` unless another command follows at once. The closing separator of the name is
/// required: neither the engine nor GameSpy's code knows `\status`.
fn command(input: &[u8]) -> IResult<&[u8], (&[u8], &[u8])> {
    let separator = || tag(&b"\\"[..]);
    let token = || take_till(|byte| byte == b'\\');
    let (rest, name) = delimited(separator(), token(), separator()).parse(input)?;
    if rest.first() == Some(&b'\\') {
        return Ok((rest, (name, b"")));
    }
    let (rest, value) = token().parse(rest)?;
    let (rest, _) = opt(separator()).parse(rest)?;
    // What is left and begins no command is skipped.
    let (rest, _) = token().parse(rest)?;
    Ok((rest, (name, value)))
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
        assert_eq!(commands(br"\basic\info\"), [Other { name: b"basic", value: b"info" }]);
        assert_eq!(commands(br"\status\xserverquery"), [Other { name: b"status", value: b"xserverquery" }]);
        assert_eq!(commands(br"\echo\\basic\"), [Echo(b""), Basic]);
        assert_eq!(commands(br"\level_property\Title"), [LevelProperty(b"Title")]);
        assert_eq!(
            commands(br"\game_property\X\\player_property\Y\\teams\\packets\"),
            [GameProperty(b"X"), PlayerProperty(b"Y"), Teams, Packets]
        );
        assert_eq!(commands(br"\STATUS\"), [Status]);
        assert_eq!(commands(br"\players\\"), [Players]);
    }

    #[test]
    fn gamespys_own_code_finds_commands_anywhere() {
        let request = Request::parse(br"\basic\info\\secure\ABCDEF").unwrap();
        assert_eq!(request.find("info"), Some(&b""[..]));
        assert_eq!(request.find("basic"), Some(&b"info"[..]));
        assert_eq!(request.find("secure"), Some(&b"ABCDEF"[..]));
        assert_eq!(request.find("status"), None);
    }

    #[test]
    fn replies_and_other_protocols_are_no_requests() {
        let kind = |datagram: &[u8]| Request::parse(datagram).map(|_| ()).map_err(|error| error.kind);
        let reply = Err(ParseErrorKind::Unexpected("a request, not a reply"));
        assert_eq!(kind(br"\final\\queryid\2.1"), reply);
        assert_eq!(kind(br"\echo\x\queryid\7.1\final\"), reply);
        assert_eq!(kind(br"\status\\queryid\7.1"), reply);
        assert_eq!(kind(br"\statusresponse\0\a\b\eof\"), reply);
        let foreign = Err(ParseErrorKind::NotThisProtocol("a backslash"));
        for datagram in [&b""[..], b";\\status\\", b"status", b"\xff\xff\xff\xffgetinfo", b"\xfe\xfd\x00"] {
            assert_eq!(kind(datagram), foreign);
        }
        for nothing in [&br"\"[..], br"\status", br"\\", br"\\\\"] {
            assert_eq!(kind(nothing), Err(ParseErrorKind::CutShort("the command")), "{nothing:?}");
        }
        assert!(matches!(
            kind(&[br"\echo\".as_slice(), &[b'x'; 250]].concat()),
            Err(ParseErrorKind::Limit { limit: 255, .. })
        ));
    }

    #[test]
    fn what_the_format_cannot_carry_is_refused() {
        let encode = |commands: &[Command<'_>]| Request::new(commands).encode(&mut Vec::new());
        assert_eq!(encode(&[]), Err(EncodeError::Empty("list of commands")));
        assert_eq!(encode(&[Command::Other { name: b"", value: b"x" }]), Err(EncodeError::Empty("command")));
        for bad in [&br"a\b"[..], b"a\n", b"\xfc", b"\0"] {
            assert!(matches!(encode(&[Command::Echo(bad)]), Err(EncodeError::Forbidden { .. })));
        }
        assert!(encode(&[Command::Echo(&[b'x'; 249])]).is_ok());
        assert!(matches!(encode(&[Command::Echo(&[b'x'; 250])]), Err(EncodeError::TooLong { .. })));
    }
}
