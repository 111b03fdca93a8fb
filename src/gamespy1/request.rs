//! What a client says: commands between backslashes, one or several in a datagram.

use bytes::BufMut;
use nom::bytes::complete::{tag, take_till};
use nom::combinator::opt;
use nom::sequence::delimited;
use nom::{IResult, Parser};

use crate::error::{EncodeError, ParseError, ParseErrorKind};

/// Longest request servers read, in bytes: GameSpy's own code cuts what is longer.
pub const MAX_REQUEST: usize = 255;

/// One command.
///
/// ```
/// use queryport::gamespy1::{Command, Request};
///
/// let mut datagram = Vec::new();
/// Request::encode(&[Command::Basic, Command::Echo(b"abc"), Command::Rules], &mut datagram)?;
/// assert_eq!(datagram, br"\basic\\echo\abc\\rules\");
/// # Ok::<(), queryport::EncodeError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
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
    /// A property of each player; the Unreal engine only.
    PlayerProperty(&'a [u8]),
    /// A challenge, to be answered with proof of the game's key: see [`secure`](super::secure).
    Secure(&'a [u8]),
    /// Any other, or one of the value-less above with a value, as in `\status\xserverquery`.
    Other {
        /// Its name, not empty.
        name: &'a [u8],
        /// Its value, which may be empty.
        value: &'a [u8],
    },
}

impl<'a> Command<'a> {
    /// `\status\xserverquery`: all that the mod XServerQuery adds, and a plain status everywhere else but on a
    /// few servers that compare the whole request (Renegade's Dragonade, SWAT 4's GS1 mod) and stay silent.
    pub const XSERVERQUERY: Self = Self::Other { name: b"status", value: b"xserverquery" };

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

    pub(super) fn new(name: &'a [u8], value: &'a [u8]) -> Self {
        const PLAIN: [Command<'static>; 7] = [
            Command::Basic,
            Command::Info,
            Command::Rules,
            Command::Players,
            Command::Status,
            Command::Packets,
            Command::Teams,
        ];
        let is = |word: &str| name.eq_ignore_ascii_case(word.as_bytes());
        if value.is_empty()
            && let Some(plain) = PLAIN.iter().find(|plain| plain.name().eq_ignore_ascii_case(name))
        {
            return *plain;
        }
        if is("echo") {
            Self::Echo(value)
        } else if is("level_property") {
            Self::LevelProperty(value)
        } else if is("game_property") {
            Self::GameProperty(value)
        } else if is("player_property") {
            Self::PlayerProperty(value)
        } else if is("secure") {
            Self::Secure(value)
        } else {
            Self::Other { name, value }
        }
    }
}

/// A request, viewed without copying.
///
/// ```
/// use queryport::gamespy1::{Command, Request};
///
/// let request = Request::parse(br"\secure\LRPOPQ\\status\")?;
/// assert!(request.commands().eq([Command::Secure(b"LRPOPQ"), Command::Status]));
/// # Ok::<(), queryport::ParseError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request<'a> {
    datagram: &'a [u8],
}

impl<'a> Request<'a> {
    /// Takes a datagram for a request.
    ///
    /// # Errors
    /// [`ParseErrorKind::NotThisProtocol`] when it does not begin with `\`; [`ParseErrorKind::Unexpected`] for a
    /// reply, which is known by `queryid` or `final`, and for a request without any command: two servers must
    /// never answer each other; [`ParseErrorKind::Limit`] above [`MAX_REQUEST`] bytes.
    pub fn parse(datagram: &'a [u8]) -> Result<Self, ParseError> {
        if datagram.first() != Some(&b'\\') {
            return Err(ParseError::new(ParseErrorKind::NotThisProtocol("a backslash"), 0));
        }
        if datagram.len() > MAX_REQUEST {
            return Err(ParseError::limit("bytes of a request", usize::MAX, MAX_REQUEST));
        }
        for word in [&br"\queryid\"[..], br"\final\", br"\statusresponse\", br"\eof\"] {
            if let Some(offset) = memchr::memmem::find(datagram, word) {
                return Err(ParseError::new(ParseErrorKind::Unexpected("a request, not a reply"), offset));
            }
        }
        let request = Self { datagram };
        match request.commands().next() {
            Some(_) => Ok(request),
            None => Err(ParseError::new(ParseErrorKind::CutShort("the command"), 1)),
        }
    }

    /// The datagram.
    #[must_use]
    pub const fn raw(&self) -> &'a [u8] {
        self.datagram
    }

    /// The commands as the Unreal engine reads them, in the order asked: `\type\` followed by another `\` has no
    /// value, otherwise the token after it is its value and one `\` behind that is skipped.
    #[must_use]
    pub const fn commands(&self) -> Commands<'a> {
        Commands { rest: self.datagram }
    }

    /// The value of a command as GameSpy's own code finds it: anywhere, if `\name\` stands there at all.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&'a [u8]> {
        let wanted = [b"\\", name.as_bytes(), b"\\"].concat();
        let start = memchr::memmem::find(self.datagram, &wanted)?.checked_add(wanted.len())?;
        self.datagram.get(start..)?.split(|&byte| byte == b'\\').next()
    }

    /// Appends a request of these commands, joined as the Unreal engine wants it; GameSpy's own code reads that
    /// too.
    ///
    /// # Errors
    /// [`EncodeError::Empty`] for no commands or an empty name, [`EncodeError::Forbidden`] for `\` and bytes
    /// outside printable ASCII, [`EncodeError::TooLong`] above [`MAX_REQUEST`] bytes in all. Nothing is written
    /// then.
    pub fn encode(commands: &[Command<'_>], out: &mut impl BufMut) -> Result<(), EncodeError> {
        if commands.is_empty() {
            return Err(EncodeError::Empty("list of commands"));
        }
        let mut request = Vec::with_capacity(MAX_REQUEST);
        for command in commands {
            if command.name().is_empty() {
                return Err(EncodeError::Empty("command"));
            }
            for (field, text) in [("command", command.name()), ("value of a command", command.value())] {
                if let Some(&byte) = text.iter().find(|&&byte| byte == b'\\' || !matches!(byte, b' '..=b'~'))
                {
                    return Err(EncodeError::Forbidden { field, byte });
                }
            }
            // A value ends at the next separator, which is skipped: the next command needs its own.
            if request.last().is_some_and(|&last| last != b'\\') {
                request.push(b'\\');
            }
            request.push(b'\\');
            request.extend_from_slice(command.name());
            request.push(b'\\');
            request.extend_from_slice(command.value());
        }
        if request.len() > MAX_REQUEST {
            return Err(EncodeError::TooLong { field: "request", limit: MAX_REQUEST });
        }
        out.put_slice(&request);
        Ok(())
    }
}

/// Iterator over the commands of a [`Request`].
#[derive(Debug, Clone)]
pub struct Commands<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Commands<'a> {
    type Item = Command<'a>;

    fn next(&mut self) -> Option<Command<'a>> {
        loop {
            let (rest, (name, value)) = command(self.rest).ok()?;
            self.rest = rest;
            if !name.is_empty() {
                return Some(Command::new(name, value));
            }
        }
    }
}

/// `\name\`, then a value and one `\` unless another command follows at once. The name's closing separator must
/// be there: neither the engine nor GameSpy's code knows `\status`.
fn command(input: &[u8]) -> IResult<&[u8], (&[u8], &[u8])> {
    let separator = || tag(&b"\\"[..]);
    let token = || take_till(|byte| byte == b'\\');
    let (rest, name) = delimited(separator(), token(), separator()).parse(input)?;
    if rest.first() == Some(&b'\\') {
        return Ok((rest, (name, b"")));
    }
    let (rest, value) = token().parse(rest)?;
    let (rest, _) = opt(separator()).parse(rest)?;
    // What is left and begins no command belongs to none.
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
    fn commands_are_told_apart_as_the_engine_does() {
        use Command::*;
        assert_eq!(commands(br"\basic\"), [Basic]);
        assert_eq!(commands(br"\basic\\info\\rules\"), [Basic, Info, Rules]);
        assert_eq!(commands(br"\echo\abc\\basic\"), [Echo(b"abc"), Basic]);
        assert_eq!(commands(br"\basic\info\"), [Other { name: b"basic", value: b"info" }]);
        assert_eq!(commands(br"\status\xserverquery"), [Command::XSERVERQUERY]);
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
    fn replies_and_foreign_datagrams_are_no_requests() {
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
            Err(ParseErrorKind::Limit(_))
        ));
    }

    #[test]
    fn what_cannot_be_asked_is_refused() {
        let encode = |commands: &[Command<'_>]| Request::encode(commands, &mut Vec::new());
        assert_eq!(encode(&[]), Err(EncodeError::Empty("list of commands")));
        assert_eq!(encode(&[Command::Other { name: b"", value: b"x" }]), Err(EncodeError::Empty("command")));
        for bad in [&br"a\b"[..], b"a\n", b"\xfc", b"\0"] {
            assert!(matches!(encode(&[Command::Echo(bad)]), Err(EncodeError::Forbidden { .. })));
        }
        assert!(encode(&[Command::Echo(&[b'x'; 249])]).is_ok());
        assert!(matches!(encode(&[Command::Echo(&[b'x'; 250])]), Err(EncodeError::TooLong { .. })));
    }
}
