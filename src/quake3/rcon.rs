//! `rcon`: a console command on a server, and its output.
//!
//! ```text
//!  client                                              server
//!    │  FF FF FF FF "rcon" 20 password 20 command         │
//!    │ ─────────────────────────────────────────────────► │
//!    │  FF FF FF FF "print" 0A text (≤ 1007 bytes)        │   or "n" text (≤ 1394 bytes): DarkPlaces
//!    │ ◄───────────────────────────────────────────────── │
//!    │  … as many as it takes; none is marked as the last │
//!    │ ◄───────────────────────────────────────────────── │
//! ```
//!
//! The output ends with silence. The lengths of pieces are those of ioquake3 and DarkPlaces; both
//! answer a wrong password with a line of text (recorded from OpenArena and DarkPlaces).
//!
//! QuakeWorld's servers end each datagram after `n` with a NUL, and the text is in
//! [`Charset::Quake`]. FTE's datagrams are the same (fte-team/fteqw, engine/server/sv_send.c), so
//! nothing tells the engines apart, and FTE's colour codes stay in the text.
//!
//! Medal of Honor has byte 02 before the word of the request, and 01 before that of the reply; its
//! servers accept any byte in place of 02 (openmoh/openmohaa, code/server/sv_main.c).
//!
//! The password travels in plain text, and replies are not authenticated: anyone on the path can
//! read and forge both. DarkPlaces' signed form keeps the password secret.

use std::fmt;
#[cfg(feature = "secure-rcon")]
use std::time::Duration;

use bytes::Bytes;
#[cfg(feature = "secure-rcon")]
use hmac::{Hmac, KeyInit, Mac};
#[cfg(feature = "secure-rcon")]
use md4::Md4;
use thiserror::Error;

use super::engines;
use super::refusal::Refusal;
use super::wire::line;
use super::wire::reply::Reply;
use super::wire::request::{Command, MAC, RconRequest, Request, SecureRconRequest};
use crate::error::{EncodeError, ErrorKind, ParseError, ParseErrorKind};
use crate::limits::Limits;
use crate::model::{Charset, Colours, Style, Text, TextRef};
use crate::session::{Conversation, OnTimeout, Remaining, Verdict, Wait};

/// The form in which the password is sent to the server.
///
/// ```
/// use queryport::quake3::RconMode;
///
/// assert_eq!(RconMode::default(), RconMode::Plain);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum RconMode {
    /// In plain text: every server except those of Medal of Honor.
    #[default]
    Plain,
    /// In plain text and quotes, so that it may hold spaces: Quake3e, CoD4x. See
    /// [`RconRequest::quoted`].
    Quoted,
    /// In plain text, after byte 0x02, the direction: Medal of Honor.
    MedalOfHonor,
    /// As a signature over the command and this machine's time, which must agree with the server's
    /// within 5 s: DarkPlaces.
    #[cfg(feature = "secure-rcon")]
    Time,
    /// As a signature over the command and a challenge, which is requested first: two exchanges, no
    /// clock. DarkPlaces.
    #[cfg(feature = "secure-rcon")]
    Challenge,
}

impl RconMode {
    const fn is_signed(self) -> bool {
        !matches!(self, Self::Plain | Self::Quoted | Self::MedalOfHonor)
    }
}

/// Sends one console command and collects its output, until the server has been quiet for
/// [`Timing::quiet`](crate::session::Timing::quiet).
///
/// A command is sent once, even if the timing allows retries: the answer of a command that has run
/// may be lost, and some commands must not run twice.
///
/// ```
/// use queryport::Limits;
/// use queryport::quake3::{RconError, RconMode, RconQuery};
/// use queryport::session::{Conversation, Verdict};
///
/// let mut query =
///     RconQuery::new("secret", "status", RconMode::Plain, &Limits::default())?;
/// let verdict = query.receive(b"\xff\xff\xff\xffprint\nBad rconpassword.\n");
/// assert_eq!(verdict, Verdict::Done(Err(RconError::BadPassword)));
/// # Ok::<(), queryport::EncodeError>(())
/// ```
#[derive(Debug, Clone)]
pub struct RconQuery {
    password: Password,
    command: Vec<u8>,
    mode: RconMode,
    limits: Limits,
    state: State,
}

/// The step of a command.
#[derive(Debug, Clone)]
enum State {
    /// A challenge to sign is requested.
    Challenge,
    /// The command is sent, signed with the nonce if there is one.
    Command(Option<Nonce>),
    /// Output arrives.
    Output(Output),
}

/// The bytes that a signed command begins with.
#[derive(Debug, Clone)]
struct Nonce {
    text: Vec<u8>,
    /// Whether it is the time, and not a challenge.
    is_time: bool,
}

/// The output so far.
#[derive(Debug, Clone, Default)]
struct Output {
    text: Vec<u8>,
    datagrams: u16,
    /// The console that wrote it.
    console: Console,
}

/// A server's console, as far as its datagrams show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Console {
    /// `print`: Quake 2, Quake 3 and games made from them.
    #[default]
    Print,
    /// `n`.
    DarkPlaces,
    /// `n`, and a NUL at the end (QW-Group/mvdsv, src/sv_send.c; fte-team/fteqw,
    /// engine/server/sv_send.c).
    QuakeWorld,
}

impl Console {
    /// The console that begins its output with `n` and this text.
    fn of_short_form(text: &[u8]) -> Self {
        if text.ends_with(b"\0") {
            Self::QuakeWorld
        } else {
            Self::DarkPlaces
        }
    }

    /// The text of a datagram, without the NUL that ends it.
    fn text(self, text: &[u8]) -> &[u8] {
        match text.strip_suffix(b"\0") {
            Some(before_end) if self == Self::QuakeWorld => before_end,
            _ => text,
        }
    }

    fn style(self) -> Style {
        match self {
            Self::Print => engines::DEFAULT.row.style,
            Self::DarkPlaces => engines::DARK_PLACES.row.style,
            Self::QuakeWorld => engines::QUAKE_WORLD.row.style,
        }
    }
}

impl RconQuery {
    /// One command.
    ///
    /// # Errors
    /// - [`EncodeError::Forbidden`] for a password with a quote or a control byte, and for a
    ///   command with a line end.
    /// - [`EncodeError::NeedsQuotes`] for a password with a space, `;` or a comment, unless it is
    ///   signed or [`RconMode::Quoted`].
    /// - [`EncodeError::Empty`] without a password. In the signed modes also for one that begins
    ///   with a space, because the key is the part before the first space.
    /// - [`EncodeError::TooLong`] for a command line longer than servers read.
    pub fn new(
        password: impl Into<Password>,
        command: &str,
        mode: RconMode,
        limits: &Limits,
    ) -> Result<Self, EncodeError> {
        let password = password.into();
        let command = command.as_bytes().to_vec();
        let is_signed = mode.is_signed();
        let request = RconRequest {
            password: &password.0,
            command: &command,
            quoted: is_signed || mode == RconMode::Quoted,
        };
        request.check()?;
        if is_signed && password.key().is_empty() {
            return Err(EncodeError::Empty("rcon password before its first space"));
        }
        Ok(Self {
            password,
            command,
            mode,
            limits: *limits,
            state: if is_signed {
                State::Challenge
            } else {
                State::Command(None)
            },
        })
    }

    /// The time to sign in [`RconMode::Time`], by the caller's clock, which may differ from the
    /// server's by `rcon_secure_maxdiff` (5 s). Without it, the query asks for a challenge. Feature
    /// `secure-rcon`.
    ///
    /// ```
    /// use std::time::Duration;
    /// use queryport::Limits;
    /// use queryport::quake3::{RconMode, RconQuery};
    /// use queryport::session::Conversation;
    ///
    /// let since_1970 = Duration::from_micros(1_700_000_000_000_123);
    /// let limits = Limits::default();
    /// let mut query =
    ///     RconQuery::new("secret", "status", RconMode::Time, &limits)?.at(since_1970);
    /// let mut datagram = Vec::new();
    /// query.request(&mut datagram);
    /// assert!(
    ///     datagram.starts_with(b"\xff\xff\xff\xffsrcon HMAC-MD4 TIME \xc6\xcf\x6c\x6a")
    /// );
    /// assert!(datagram.ends_with(b" 1700000000.000123 status"));
    /// # Ok::<(), queryport::EncodeError>(())
    /// ```
    #[cfg(feature = "secure-rcon")]
    #[must_use]
    pub fn at(mut self, since_1970: Duration) -> Self {
        if self.mode == RconMode::Time {
            let (seconds, micros) = (since_1970.as_secs(), since_1970.subsec_micros());
            self.state = State::Command(Some(Nonce {
                text: format!("{seconds}.{micros:06}").into_bytes(),
                is_time: true,
            }));
        }
        self
    }

    /// Writes the command, signed with the nonce if there is one.
    fn put_command(&self, nonce: Option<&Nonce>, out: &mut Vec<u8>) {
        let command = &self.command[..];
        if let Some(nonce) = nonce {
            let signed = &[&nonce.text, &b" "[..], command].concat();
            let request = SecureRconRequest {
                timed: nonce.is_time,
                mac: hmac_md4(&self.password, signed),
                signed,
            };
            return Request::new(Command::SecureRcon(request)).put(out);
        }
        let rcon = Command::Rcon(RconRequest {
            password: &self.password.0,
            command,
            quoted: self.mode == RconMode::Quoted,
        });
        Request {
            direction_byte: self.mode == RconMode::MedalOfHonor,
            ..Request::new(rcon)
        }
        .put(out);
    }

    /// Handles a reply while the challenge is requested.
    fn take_challenge(&mut self, reply: &Reply<'_>) -> Verdict<Answered> {
        if let Reply::Challenge { challenge, .. } = reply {
            self.state = State::Command(Some(Nonce {
                text: challenge.to_vec(),
                is_time: false,
            }));
            return Verdict::Next;
        }
        match Refusal::of(reply) {
            Some(refusal) => Verdict::Done(Err(RconError::Refused(refusal))),
            None => unexpected("a challenge"),
        }
    }

    /// The first reply to the command: a refusal or output.
    fn take_first(&mut self, reply: &Reply<'_>) -> Verdict<Answered> {
        match *reply {
            Reply::Print {
                text,
                quake_world_word,
            } => {
                if let Some(error) = RconError::from_text(text) {
                    return Verdict::Done(Err(error));
                }
                let console = if quake_world_word {
                    Console::of_short_form(text)
                } else {
                    Console::Print
                };
                let output = Output {
                    console,
                    ..Output::default()
                };
                self.add(output, text)
            }
            Reply::Error { text } => Verdict::Done(Err(RconError::refused(text))),
            Reply::Rejected { text } => {
                let refusal = Refusal::new(Bytes::copy_from_slice(text));
                Verdict::Done(Err(RconError::Refused(refusal)))
            }
            _ => unexpected("print"),
        }
    }

    /// Adds the text of a datagram to the output, unless a limit ends it.
    fn add(&mut self, mut output: Output, text: &[u8]) -> Verdict<Answered> {
        let text = output.console.text(text);
        let length = output.text.len().saturating_add(text.len());
        let is_cut = usize::from(output.datagrams) >= self.limits.max_fragments()
            || length > self.limits.max_answer_bytes();
        if is_cut {
            return Verdict::Done(Ok(output.finish(is_cut)));
        }
        output.datagrams = output.datagrams.saturating_add(1);
        output.text.extend_from_slice(text);
        self.state = State::Output(output);
        Verdict::Partial(Wait::Quiet)
    }
}

impl Output {
    /// The answer. `is_cut`: a limit or the deadline came before a silence of the server.
    fn finish(self, is_cut: bool) -> RconAnswer {
        RconAnswer {
            datagrams: self.datagrams,
            text: Text::new(self.text, self.console.style()),
            is_cut,
        }
    }
}

fn unexpected(expected: &'static str) -> Verdict<Answered> {
    let kind = ParseErrorKind::Unexpected(expected);
    Verdict::Rejected(ParseError::new(kind, line::MARK.len()))
}

/// The output of a command, or the reason that there is none.
type Answered = Result<RconAnswer, RconError>;

impl Conversation for RconQuery {
    type Answer = Answered;

    fn request(&mut self, out: &mut Vec<u8>) {
        match &self.state {
            State::Challenge => {
                let command = Command::GetChallenge {
                    client: None,
                    game: None,
                };
                Request::new(command).put(out);
            }
            State::Command(nonce) => self.put_command(nonce.as_ref(), out),
            // Nothing is sent again once output has arrived.
            State::Output(_) => {}
        }
    }

    fn receive(&mut self, datagram: &[u8]) -> Verdict<Answered> {
        let reply = match Reply::parse(datagram) {
            Ok(reply) => reply,
            Err(error) => return Verdict::Rejected(error),
        };
        match &mut self.state {
            State::Challenge => self.take_challenge(&reply),
            State::Command(Some(_)) if matches!(reply, Reply::Challenge { .. }) => {
                // A copy of the reply to the first step.
                Verdict::Partial(Wait::Reply)
            }
            State::Command(_) => self.take_first(&reply),
            State::Output(output) => {
                let Reply::Print { text, .. } = reply else {
                    return unexpected("print");
                };
                let output = std::mem::take(output);
                self.add(output, text)
            }
        }
    }

    fn timeout(&mut self, remaining: Remaining) -> OnTimeout<Answered> {
        match &mut self.state {
            State::Output(output) => {
                // If the deadline comes before a silence, the server is still printing.
                let is_cut = remaining == Remaining::Nothing;
                OnTimeout::Done(Ok(std::mem::take(output).finish(is_cut)))
            }
            State::Challenge => OnTimeout::Retry,
            State::Command(_) => OnTimeout::Wait,
        }
    }
}

/// The output of a command.
///
/// ```
/// use queryport::Limits;
/// use queryport::quake3::{RconMode, RconQuery};
/// use queryport::session::{Conversation, OnTimeout, Remaining};
///
/// let mut query =
///     RconQuery::new("secret", "status", RconMode::Plain, &Limits::default())?;
/// query.receive(b"\xff\xff\xff\xffprint\nmap: q3d");
/// query.receive(b"\xff\xff\xff\xffprint\nm17\n2 players\n");
/// let OnTimeout::Done(Ok(answer)) = query.timeout(Remaining::Step) else { panic!() };
/// assert_eq!(answer.lines().next().unwrap(), "map: q3dm17");
/// assert_eq!(answer.to_string(), "map: q3dm17\n2 players");
/// # Ok::<(), queryport::EncodeError>(())
/// ```
///
/// `Display` writes the plain text of each line: without colour codes and control characters.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RconAnswer {
    /// All pieces, joined in the order of their arrival. Nothing on the wire numbers or ends them:
    /// a piece that was lost, overtaken or delivered twice goes unnoticed.
    ///
    /// Its style is that of the server's console. FTE's console has the form of QuakeWorld's, whose
    /// texts have no colour codes. If you know that a server is FTE's, read [`Text::raw`] with
    /// [`Colours::Fte`].
    pub text: Text,
    /// The number of datagrams of the output.
    pub datagrams: u16,
    /// Whether the deadline or a limit ended the answer while the server was still sending. `false`
    /// means that the server stopped sending; pieces can still be lost.
    pub is_cut: bool,
}

impl RconAnswer {
    /// The lines of [`Self::text`], without line ends.
    pub fn lines(&self) -> impl Iterator<Item = TextRef<'_>> {
        self.text.lines()
    }
}

/// The plain text of each line, see [`TextRef::plain`]. No line feed follows the last line.
impl fmt::Display for RconAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, line) in self.lines().enumerate() {
            if number > 0 {
                f.write_str("\n")?;
            }
            f.write_str(&line.plain())?;
        }
        Ok(())
    }
}

/// The reason that a command was not run, or not answered.
///
/// ```
/// use queryport::ErrorKind;
/// use queryport::quake3::RconError;
///
/// let error = RconError::BadPassword;
/// assert_eq!(error.kind(), ErrorKind::Refused);
/// assert_eq!(error.to_string(), "the server does not accept this rcon password");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RconError {
    /// The server does not take this password.
    #[doc(alias("WrongPassword", "InvalidPassword"))]
    #[error("the server does not accept this rcon password")]
    BadPassword,
    /// The server has no rcon password, so it accepts no commands.
    #[error("the server has no rcon password, so it accepts no commands")]
    NoPassword,
    /// The server refused in other words.
    #[error(transparent)]
    Refused(Refusal),
    /// No answer until the timeout, from [`Rcon`](crate::net::Rcon). The command may have been run.
    /// A [`Session`](crate::session::Session) of [`RconQuery`] fails with
    /// [`QueryError::Timeout`](crate::QueryError::Timeout) instead.
    #[error(
        "no answer to rcon: the server is down, or limits its answers; some send none to a wrong \
         password, or to a command that prints nothing"
    )]
    Timeout,
}

impl RconError {
    /// The kind of failure.
    pub const fn kind(&self) -> ErrorKind {
        match self {
            Self::BadPassword | Self::NoPassword | Self::Refused(_) => ErrorKind::Refused,
            Self::Timeout => ErrorKind::Timeout,
        }
    }

    /// Recognises known error texts. A command that prints the same text counts as an error too.
    pub(super) fn from_text(text: &[u8]) -> Option<Self> {
        /// The maximum length of an error text, in bytes. Longer texts are the output of commands.
        const MAX_ERROR: usize = 160;
        if text.len() > MAX_ERROR {
            return None;
        }
        let line = last_line(text);
        let is_wrong_password = WRONG_PASSWORD.contains(&&*line) || line.starts_with(DENIED);
        if is_wrong_password {
            return Some(Self::BadPassword);
        }
        let has_no_password = NO_PASSWORD.iter().any(|begin| line.starts_with(begin));
        has_no_password.then_some(Self::NoPassword)
    }

    /// The error for a text that is a refusal, in any words.
    fn refused(text: &[u8]) -> Self {
        Self::from_text(text)
            .unwrap_or_else(|| Self::Refused(Refusal::new(Bytes::copy_from_slice(text))))
    }
}

/// Whole lines that refuse a password, in lower case (id-Software/Quake-III-Arena,
/// code/server/sv_main.c; etlegacy/etlegacy, src/server/sv_main.c; id-Software/Quake-2,
/// server/sv_conless.c; voron00/CoD2rev_Server, src/server/sv_main_mp.cpp;
/// callofduty4x/CoD4x_Server, src/sv_main.c; auroramod/iw7-mod, src/client/component/rcon.cpp;
/// DaemonEngine/Daemon, src/engine/server/sv_main.cpp).
const WRONG_PASSWORD: [&str; 7] = [
    "bad rconpassword.",
    "bad rconpassword",
    "bad rcon_password.",
    "invalid password.",
    "bad rcon",
    "invalid rcon password",
    "bad password",
];
/// The beginning of such a line that ends with an address (xonotic/darkplaces, netconn.c).
const DENIED: &str = "server denied rcon access to ";
/// Beginnings of lines of servers without a password, in lower case, from the same sources.
const NO_PASSWORD: [&str; 4] = [
    "no rconpassword set",
    "the server must set 'rcon_password'",
    "no rcon.server.password set",
    "rcon.server.password not set",
];

/// The last line of a text, without colour codes and in lower case. Some servers write a line about
/// the request before it (Warsow/qfusion, source/server/sv_main.cpp).
fn last_line(text: &[u8]) -> String {
    let style = Style::new(Charset::Utf8OrWindows1252, Colours::Caret);
    let lines = TextRef::new(text, style).lines();
    let lines = lines.map(|line| line.plain().trim().to_lowercase());
    lines
        .filter(|line| !line.is_empty())
        .last()
        .unwrap_or_default()
}

/// A password. `Debug` does not show it. Functions take a text or bytes for one.
///
/// ```
/// use queryport::quake3::Password;
///
/// let password = Password::new("secret");
/// assert!(password.matches(b"secret") && !password.matches(b"Secret"));
/// assert_eq!(format!("{password:?}"), "Password(..)");
/// ```
#[derive(Clone)]
pub struct Password(Bytes);

impl Password {
    /// Takes a copy of a password: a text or bytes.
    pub fn new(password: impl AsRef<[u8]>) -> Self {
        Self(Bytes::copy_from_slice(password.as_ref()))
    }

    /// Whether the given bytes are the password, in time that does not depend on how much of it is
    /// right.
    pub fn matches(&self, given: &[u8]) -> bool {
        let differing = self
            .0
            .iter()
            .zip(given)
            .fold(0_u8, |differing, (a, b)| differing | (a ^ b));
        differing == 0 && self.0.len() == given.len() && !given.is_empty()
    }

    /// The part that signs commands: up to the first space (xonotic/darkplaces, netconn.c).
    fn key(&self) -> &[u8] {
        self.0
            .split(|&byte| byte == b' ')
            .next()
            .unwrap_or_default()
    }
}

/// A copy of a text or of bytes.
impl<T: AsRef<[u8]>> From<T> for Password {
    fn from(password: T) -> Self {
        Self::new(password)
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(..)")
    }
}

#[cfg(feature = "secure-rcon")]
impl<'a> SecureRconRequest<'a> {
    /// Signs a command. `timed`, `signed`: see the fields. The password up to its first space is
    /// the key, as on DarkPlaces; if that is empty, [`Self::verify`] accepts no signature.
    /// Feature `secure-rcon`.
    pub fn sign(timed: bool, password: &Password, signed: &'a [u8]) -> Self {
        Self {
            timed,
            mac: hmac_md4(password, signed),
            signed,
        }
    }

    /// Whether the signature was made with this password. The caller must also check that the time
    /// or the challenge is valid, see
    /// [`verify_challenge`](crate::quake3::server::verify_challenge), and that the command is not a
    /// copy, see [`SecureRconRequest`]. Feature `secure-rcon`.
    pub fn verify(&self, password: &Password) -> bool {
        !password.key().is_empty()
            && Password::new(hmac_md4(password, self.signed)).matches(&self.mac)
    }
}

/// Without this feature, no mode signs a command.
#[cfg(not(feature = "secure-rcon"))]
const fn hmac_md4(_password: &Password, _signed: &[u8]) -> [u8; MAC] {
    [0; MAC]
}

#[cfg(feature = "secure-rcon")]
fn hmac_md4(password: &Password, signed: &[u8]) -> [u8; MAC] {
    // HMAC takes keys of every length: there is no error.
    Hmac::<Md4>::new_from_slice(password.key()).map_or([0; MAC], |mac| {
        mac.chain_update(signed).finalize().into_bytes().into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query() -> RconQuery {
        RconQuery::new(
            Password::new("x"),
            "map_restart",
            RconMode::Plain,
            &Limits::default(),
        )
        .unwrap()
    }

    #[test]
    fn the_console_of_quake_world_is_in_its_character_set() {
        let mut query = query();
        for datagram in [
            &b"\xff\xff\xff\xffn\xc1\xee\xee 20\n\x10cl\0"[..],
            b"\xff\xff\xff\xffnan\x11 5\n\0",
        ] {
            assert_eq!(query.receive(datagram), Verdict::Partial(Wait::Quiet));
        }
        let OnTimeout::Done(Ok(answer)) = query.timeout(Remaining::Step) else {
            panic!("an answer")
        };
        assert_eq!(answer.text.raw(), b"\xc1\xee\xee 20\n\x10clan\x11 5\n");
        let lines: Vec<_> = answer
            .lines()
            .map(|line| line.plain().into_owned())
            .collect();
        assert_eq!(lines, ["Ann 20", "[clan] 5"]);
    }

    /// Only QuakeWorld ends a datagram with a NUL, which is no text.
    #[test]
    fn a_nul_at_the_end_of_other_consoles_is_text() {
        for (datagrams, text) in [
            (&[&b"\xff\xff\xff\xffprint\nab\0"[..]][..], &b"ab\0"[..]),
            (
                &[b"\xff\xff\xff\xffnab", b"\xff\xff\xff\xffncd\0"],
                b"abcd\0",
            ),
        ] {
            let mut query = query();
            for datagram in datagrams {
                query.receive(datagram);
            }
            let OnTimeout::Done(Ok(answer)) = query.timeout(Remaining::Step) else {
                panic!("an answer")
            };
            assert_eq!(answer.text.raw(), text);
        }
    }

    #[test]
    fn a_challenge_that_was_not_requested_is_rejected() {
        let verdict = query().receive(b"\xff\xff\xff\xffchallenge 5");
        assert!(matches!(verdict, Verdict::Rejected(_)));
    }

    /// A line of FTE's `status` (fte-team/fteqw 93257c1a, engine/server/sv_ccmds.c). Datagrams of
    /// other servers have the same form, and their names may hold these characters.
    #[test]
    fn codes_of_fte_stay_in_the_text_of_its_console() {
        let mut query = query();
        let line = "client types     : ^[QW\\tip\\This is FTE QW's standard protocol.^]";
        let datagram = format!("n{line}\n\0");
        query.receive(&[b"\xff\xff\xff\xff", datagram.as_bytes()].concat());
        let OnTimeout::Done(Ok(answer)) = query.timeout(Remaining::Step) else {
            panic!("an answer")
        };
        assert_eq!(answer.text.plain(), line);
        let style = engines::FTE_QUAKE_WORLD.row.style;
        let text = TextRef::new(answer.text.raw(), style);
        assert_eq!(text.plain(), "client types     : QW");
    }

    #[cfg(feature = "secure-rcon")]
    #[test]
    fn a_command_signed_with_the_time_has_six_digits_of_a_second() {
        let password = Password::new("secret");
        let query = RconQuery::new(password, "status", RconMode::Time, &Limits::default());
        let mut request = Vec::new();
        let time = Duration::new(1_700_000_000, 7_999);
        query.unwrap().at(time).request(&mut request);
        assert!(request.ends_with(b" 1700000000.000007 status"));
    }

    #[cfg(feature = "secure-rcon")]
    #[test]
    fn a_command_signed_with_a_challenge_asks_for_it_first() {
        let password = Password::new("secret");
        let query = RconQuery::new(password, "status", RconMode::Challenge, &Limits::default());
        // A time does not replace the challenge.
        let mut query = query.unwrap().at(Duration::from_secs(7));
        let mut out = Vec::new();
        query.request(&mut out);
        assert_eq!(out, b"\xff\xff\xff\xffgetchallenge");
        assert_eq!(query.timeout(Remaining::Retry), OnTimeout::Retry);
        let challenge = b"\xff\xff\xff\xffchallenge ABCDEFGHIJK\0";
        assert_eq!(query.receive(challenge), Verdict::Next);
        let copy = query.receive(challenge);
        assert_eq!(copy, Verdict::Partial(Wait::Reply));
        out.clear();
        query.request(&mut out);
        assert!(out.ends_with(b" ABCDEFGHIJK status"), "{out:?}");
        assert_eq!(query.timeout(Remaining::Retry), OnTimeout::Wait);
        assert!(!format!("{query:?}").contains("secret"));
    }

    #[cfg(feature = "secure-rcon")]
    #[test]
    fn a_server_without_a_challenge_refuses_and_other_replies_are_rejected() {
        let password = Password::new("secret");
        let mut query =
            RconQuery::new(password, "status", RconMode::Challenge, &Limits::default()).unwrap();
        for other in [
            &b"\xff\xff\xff\xffdisconnect"[..],
            b"\xff\xff\xff\xffstatusResponse\n",
            b"challenge x",
        ] {
            assert!(
                matches!(query.receive(other), Verdict::Rejected(_)),
                "{}",
                other.escape_ascii()
            );
        }
        for refusal in [
            &b"\xff\xff\xff\xffprint\nyou are banned"[..],
            b"\xff\xff\xff\xffreject you are banned",
        ] {
            let Verdict::Done(Err(error)) = query.receive(refusal) else {
                panic!()
            };
            assert_eq!(error.to_string(), "the server refused: you are banned");
        }
    }

    /// openmoh/openmohaa, code/server/sv_main.c: the server skips the byte after the mark, with any
    /// value.
    #[test]
    fn medal_of_honor_has_a_byte_before_the_words() {
        let (password, limits) = (Password::new("secret"), Limits::default());
        let mut query =
            RconQuery::new(password, "status", RconMode::MedalOfHonor, &limits).unwrap();
        let mut out = Vec::new();
        query.request(&mut out);
        assert_eq!(out, b"\xff\xff\xff\xff\x02rcon secret status");
        query.receive(b"\xff\xff\xff\xff\x01print\nmap: dm/mohdm1\n");
        let OnTimeout::Done(Ok(answer)) = query.timeout(Remaining::Step) else {
            panic!()
        };
        assert_eq!(answer.text.decoded(), "map: dm/mohdm1\n");
    }

    #[test]
    fn a_password_of_two_words_is_sent_in_quotes() {
        let limits = Limits::default();
        let query = RconQuery::new("two words", "status", RconMode::Quoted, &limits);
        let mut out = Vec::new();
        query.unwrap().request(&mut out);
        assert_eq!(out, b"\xff\xff\xff\xffrcon \"two words\" status");
    }

    #[test]
    fn other_replies_of_medal_of_honor_are_no_output() {
        for other in [
            &b"disconnect"[..],
            b"infoResponse\n\\a\\b",
            b"statusResponse\n\\a\\b\n",
            b"droperror\nno",
            b"",
        ] {
            let verdict = query().receive(&[b"\xff\xff\xff\xff\x01", other].concat());
            assert!(
                matches!(verdict, Verdict::Rejected(_)),
                "{}: {verdict:?}",
                other.escape_ascii()
            );
        }
    }

    /// RaidMax/IW4M-Admin: the parsers of S1x, H1-Mod and BOIII; Medal of Honor has a byte before
    /// the word.
    #[test]
    fn text_may_follow_the_word_without_a_line_feed() {
        for head in [&b"print "[..], b"print\n", b"\x01print\n", b"\x01print "] {
            let mut query = query();
            query.receive(&[b"\xff\xff\xff\xff", head, b"map: mp_fringe"].concat());
            let OnTimeout::Done(Ok(answer)) = query.timeout(Remaining::Step) else {
                panic!()
            };
            assert_eq!(
                answer.text.decoded(),
                "map: mp_fringe",
                "{}",
                head.escape_ascii()
            );
        }
    }

    #[test]
    fn pieces_are_joined_as_they_come() {
        let collect = |bodies: &[&[u8]]| {
            let mut query = query();
            for body in bodies {
                query.receive(&[b"\xff\xff\xff\xff", *body].concat());
            }
            query.timeout(Remaining::Step)
        };
        let OnTimeout::Done(Ok(answer)) = collect(&[b"print\nab", b"getinfo", b"print\nc\n"])
        else {
            panic!()
        };
        assert_eq!(
            (
                answer.text.raw(),
                answer.datagrams,
                answer.text.style().colours
            ),
            (&b"abc\n"[..], 2, engines::DEFAULT.row.style.colours)
        );
        assert_eq!(
            answer
                .lines()
                .map(|line| line.plain().into_owned())
                .collect::<Vec<_>>(),
            ["abc"]
        );
        let OnTimeout::Done(Ok(answer)) = collect(&[b"n^1x\n"]) else {
            panic!()
        };
        assert_eq!(answer.text.style().colours, Colours::DarkPlaces);
        assert_eq!(collect(&[b"getinfo"]), OnTimeout::Wait);
    }

    #[test]
    fn an_answer_is_displayed_line_by_line_and_moves_no_cursor() {
        let mut query = query();
        query.receive(b"\xff\xff\xff\xffprint\nmap:\tq3dm17\r\n^1Ann^7 \x1b[2Jleft\n\nend\n");
        let OnTimeout::Done(Ok(answer)) = query.timeout(Remaining::Step) else {
            panic!()
        };
        assert_eq!(answer.to_string(), "map: q3dm17\nAnn [2Jleft\n\nend");
    }

    /// DaemonEngine/Daemon b276137b, recorded.
    #[test]
    fn an_error_in_place_of_output_is_a_refusal() {
        let answer = |body: &[u8]| query().receive(&[b"\xff\xff\xff\xff", body].concat());
        let bad = answer(b"error\nBad password");
        assert_eq!(bad, Verdict::Done(Err(RconError::BadPassword)));
        for refused in [&b"error\nInvalid command"[..], b"reject Invalid command"] {
            let Verdict::Done(Err(RconError::Refused(refusal))) = answer(refused) else {
                panic!()
            };
            assert_eq!(refusal.text.raw(), b"Invalid command");
        }
    }

    #[test]
    fn output_is_cut_if_the_deadline_comes_before_a_silence() {
        for (remaining, is_cut) in [
            (Remaining::Retry, false),
            (Remaining::Step, false),
            (Remaining::Nothing, true),
        ] {
            let mut query = query();
            query.receive(b"\xff\xff\xff\xffprint\nmap: q3dm17\n");
            let OnTimeout::Done(Ok(answer)) = query.timeout(remaining) else {
                panic!()
            };
            assert_eq!(answer.is_cut, is_cut, "{remaining:?}");
        }
    }

    #[test]
    fn output_may_have_all_the_bytes_and_datagrams_of_the_limits() {
        let limits = Limits::default()
            .with_max_answer_bytes(2048)
            .with_max_fragments(2);
        let is_cut = |pieces: &[usize]| {
            let password = Password::new("x");
            let query = RconQuery::new(password, "status", RconMode::Plain, &limits);
            let mut query = query.unwrap();
            let verdicts = pieces.iter().map(|length| {
                let piece = [b"\xff\xff\xff\xffprint\n", &vec![b'x'; *length][..]].concat();
                query.receive(&piece)
            });
            matches!(verdicts.last(), Some(Verdict::Done(Ok(answer))) if answer.is_cut)
        };
        assert!(!is_cut(&[1024, 1024]) && is_cut(&[1024, 1025]));
        assert!(is_cut(&[1, 1, 1]), "the third datagram");
    }

    /// Each is recorded from a server, or a format string in one of the sources.
    #[test]
    fn known_error_texts() {
        for text in [
            "Bad rconpassword.\n",
            "bad rcon",
            "Bad rconpassword",
            "Invalid password.\n",
            // Recorded from JK2MV (fd7ce68), Warsow (viciious/qfusion e6c46002), DarkPlaces
            // (2f25af655), Daemon (b276137b).
            "^7Bad rconpassword.\n",
            "Rcon Packet 127.0.0.1:41632\nBad rcon_password.\n",
            "^1server denied rcon access to 127.0.0.1:40088\n",
            "Bad password",
            "Invalid rcon password",
            " Invalid rcon password\n",
        ] {
            assert_eq!(
                RconError::from_text(text.as_bytes()),
                Some(RconError::BadPassword),
                "{text}"
            );
        }
        for none in [
            "No rconpassword set on the server.\n",
            "No rconpassword set on the server",
            "No rconpassword set.\n",
            "The server must set 'rcon_password' for clients to use 'rcon'.\n",
            "No rconpassword set on server or password is shorter than 8 characters.\n",
            "No rcon.server.password set on the server.",
            "rcon.server.password not set",
        ] {
            assert_eq!(
                RconError::from_text(none.as_bytes()),
                Some(RconError::NoPassword),
                "{none}"
            );
        }
        for text in [
            "",
            "map: q3dm17\n",
            "Command not valid.\n",
            "Bad rconpassword. And more of what a command prints\n",
        ] {
            assert_eq!(RconError::from_text(text.as_bytes()), None, "{text}");
        }
        let with_spaces = |length| format!("{:<length$}", "Bad rconpassword.");
        let read = |length| RconError::from_text(with_spaces(length).as_bytes());
        assert_eq!(read(160), Some(RconError::BadPassword));
        assert_eq!(read(161), None, "too long for a refusal");
        let refused = RconError::Refused(Refusal::new(&b"you are banned"[..]));
        for error in [RconError::BadPassword, RconError::NoPassword, refused] {
            assert_eq!(error.kind(), ErrorKind::Refused, "{error}");
        }
        assert_eq!(RconError::Timeout.kind(), ErrorKind::Timeout);
    }

    #[test]
    fn passwords_match_in_full_length_only() {
        let password = Password::new("secret");
        assert!(password.matches(b"secret"));
        for wrong in [&b""[..], b"secre", b"secrets", b"Secret"] {
            assert!(!password.matches(wrong));
        }
        assert!(
            !Password::new("").matches(b""),
            "no password lets nobody in"
        );
    }

    /// Computed with an independent MD4 (RFC 1320) and HMAC (RFC 2104).
    #[cfg(feature = "secure-rcon")]
    #[test]
    fn known_signatures() {
        let password = Password::new("secret");
        for (timed, signed, mac) in [
            (
                true,
                "1700000000.000123 status",
                "c6cf6c6ad27c18f387566c17a6039f2f",
            ),
            (
                false,
                "ABCDEFGHIJK status",
                "9f0a54dcdcfb759e140ff546bcd26696",
            ),
        ] {
            let request = SecureRconRequest::sign(timed, &password, signed.as_bytes());
            assert_eq!(
                (request.timed, hex::encode(request.mac)),
                (timed, mac.into())
            );
            assert!(request.verify(&password) && request.verify(&Password::new("secret and more")));
            assert!(
                !request.verify(&Password::new("Secret")) && !request.verify(&Password::new(""))
            );
            let other = SecureRconRequest {
                signed: b"1700000000.000123 quit",
                ..request
            };
            assert!(!other.verify(&password));
        }
    }

    /// The key ends at the first space: everybody can sign with an empty one.
    #[cfg(feature = "secure-rcon")]
    #[test]
    fn an_empty_key_signs_nothing() {
        let forged =
            SecureRconRequest::sign(true, &Password::new(" guess"), b"1700000000.000123 quit");
        assert!(!forged.verify(&Password::new(" secret")) && !forged.verify(&Password::new("")));
    }

    /// Which passwords each mode can send, and why not the others.
    #[test]
    fn a_password_is_refused_only_in_modes_that_cannot_send_it() {
        let new = |password: &str, mode| {
            let password = Password::new(password);
            RconQuery::new(password, "quit", mode, &Limits::default()).err()
        };
        let field = "rcon password";
        let modes = [
            (RconMode::Plain, true, false),
            (RconMode::Quoted, false, false),
            (RconMode::MedalOfHonor, true, false),
            #[cfg(feature = "secure-rcon")]
            (RconMode::Time, false, true),
            #[cfg(feature = "secure-rcon")]
            (RconMode::Challenge, false, true),
        ];
        for (mode, is_bare, is_signed) in modes {
            let needs_quotes = is_bare.then_some(EncodeError::NeedsQuotes(field));
            let no_key = EncodeError::Empty("rcon password before its first space");
            let no_key = is_signed.then_some(no_key);
            let forbidden = |byte| Some(EncodeError::Forbidden { field, byte });
            for (password, error) in [
                ("secret", None),
                ("a/b*", None),
                ("", Some(EncodeError::Empty(field))),
                ("secret and more", needs_quotes),
                (" secret", needs_quotes.or(no_key)),
                (" ", needs_quotes.or(no_key)),
                ("a;b", needs_quotes),
                ("a//b", needs_quotes),
                ("a/*b", needs_quotes),
                ("a\"b", forbidden(b'"')),
                ("a\tb", forbidden(b'\t')),
                ("a\x7f", forbidden(0x7F)),
            ] {
                assert_eq!(new(password, mode), error, "{mode:?}, {password:?}");
            }
        }
        for byte in [0, b'\n', b'\r'] {
            let command = format!("a{}", char::from(byte));
            let query = RconQuery::new("x", &command, RconMode::Plain, &Limits::default());
            let field = "rcon command";
            assert_eq!(query.err(), Some(EncodeError::Forbidden { field, byte }));
        }
    }
}
