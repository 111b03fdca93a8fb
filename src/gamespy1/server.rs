//! The server's side, pure: a request and a status in, the datagrams of a reply out.

use bytes::Bytes;

use super::from_status::{Sections, encoded};
use super::wire::packer::Packer;
use super::wire::request::{Command, Request};
use crate::model::{Rules, ServerStatus};
use crate::reply::{Patch, Patched, Template, Templates};
use crate::reply::{Requester, datagrams};
use crate::service::{Engine, Service};
use crate::text::number;

/// Longest text that is sent back for `\echo\`, in bytes.
const MAX_ECHO: usize = 50;

/// Answers a request. One without a command that this server answers gets no reply. The `queryid` follows from
/// [`Requester::number`].
///
/// What the format cannot carry, `\` and control bytes, is taken out of keys and values. Rules that would be read as rows
/// of players or teams (`player_8`, `teamname_0`) are left out, and so is a rule that fits into no datagram.
///
/// A reply has at most 32 datagrams, as many as qstat puts together. Where that is not enough, rules are left out first,
/// one by one from the last, then players; and the reply then has no `final`. Clients that wait for it (node-gamedig,
/// rust-gamedig) report a failure, others (qstat, GameQ, this crate) what has come, this crate as incomplete: none shows
/// a part as the whole.
///
/// ```
/// use std::time::Instant;
/// use queryport::gamespy1::{self, Command, Request};
/// use queryport::{Protocol, Requester, Secret, ServerStatus};
///
/// let mut status = ServerStatus::default();
/// status.name = Some("Srv".into());
/// status.max_players = Some(8);
/// # #[allow(clippy::disallowed_methods)]
/// let mut requester = Requester::new("192.0.2.1:5000".parse()?, Instant::now(), Secret::new([7; 16]));
/// requester.number = 7;
/// let request = Request::new(&[Command::Info]);
/// let replies = gamespy1::answer(&request, &status, &Protocol::GameSpy1.into(), &requester);
/// let reply = br"\hostname\Srv\maxplayers\8\gamemode\openplaying\queryid\7.1\final\";
/// assert_eq!(replies.iter().collect::<Vec<_>>(), [&reply[..]]);
/// # Ok::<(), std::net::AddrParseError>(())
/// ```
#[must_use]
pub fn answer(
    request: &Request<'_>,
    status: &ServerStatus,
    options: &Service,
    requester: &Requester,
) -> Vec<Bytes> {
    datagrams(|templates| reply(request, status, options, requester, templates))
}

/// [`answer`], with the templates that are encoded already.
pub(crate) fn reply(
    request: &Request<'_>,
    status: &ServerStatus,
    options: &Service,
    requester: &Requester,
    templates: &mut Templates<'_>,
) -> Option<Patched> {
    let is_qr1 = options.engine == Engine::Qr1;
    // Replies to the same commands are the same, unless a command has a value.
    let (mut kind, mut has_value) = (0_u32, false);
    each_answered(request, options, |number, _| {
        kind = kind << 4 | number;
        has_value |= number > WITHOUT_VALUE;
    });
    if kind == 0 {
        return None;
    }
    let encode = |template: &mut Template| {
        let packer = Packer::new(if is_qr1 { 1349 } else { 1000 });
        let mut reply = Reply { sections: Sections::new(status, is_qr1), options, packer };
        each_answered(request, options, |_, command| reply.add(command));
        reply.packer.finish(is_qr1, template);
    };
    let template = templates.get((!has_value).then_some(kind), encode);
    let before = if is_qr1 { requester.number } else { requester.number.saturating_sub(1) % 100 };
    let number = before.saturating_add(1).min(u64::from(u32::MAX));
    let number = i64::try_from(number).unwrap_or(i64::MAX);
    Patched::new(template, Patch::new(|out| number::put(number, out)))
}

/// Commands up to this number have no value.
const WITHOUT_VALUE: u32 = 7;

/// Calls `each` with every command that is answered and its number, in the order of the answers.
///
/// Each command is answered once, and each property once: one request would else draw a full reply 31 times. GameSpy's own
/// code does the same, because it looks each command up in the request (OpenMoHAA, code/gamespy/sv_gqueryreporting.c). The
/// Unreal engine reads the request command by command and answers each, repeated ones too (IpServer's UdpServerQuery).
fn each_answered<'a>(request: &Request<'a>, options: &Service, mut each: impl FnMut(u32, Command<'a>)) {
    let mut answer = |number, command| {
        if is_answered(command, options) {
            each(number, command);
        }
    };
    if options.engine == Engine::Qr1 {
        for (number, known) in (1..).zip(Command::known(b"")) {
            if let Some((_, command)) =
                request.find(known.name()).and_then(|value| Command::numbered(known.name(), value))
            {
                answer(number, command);
            }
        }
        return;
    }
    let mut seen = 0_u32;
    for (index, command) in request.commands().iter().enumerate() {
        let Some((number, known)) = Command::numbered(command.name(), command.value()) else { continue };
        let is_same = |other: &Command<'_>| {
            other.value() == command.value() && other.name().eq_ignore_ascii_case(command.name())
        };
        let is_repeated = seen & 1 << number != 0
            && (!known.is_property() || request.commands().iter().take(index).any(is_same));
        seen |= 1 << number;
        if !is_repeated {
            answer(number, known);
        }
    }
}

/// Whether a command is answered: not one that is unknown here or switched off.
fn is_answered(command: Command<'_>, options: &Service) -> bool {
    match command {
        Command::Echo(text) => {
            options.echo && text.len() <= MAX_ECHO && text.iter().all(|byte| matches!(byte, b' '..=b'~'))
        }
        // Stock servers take a challenge of any length, and some crashed on long ones (CVE-2004-0608).
        Command::Secure(challenge) => {
            options.key.is_some()
                && (6..=16).contains(&challenge.len())
                && challenge.iter().all(u8::is_ascii_graphic)
        }
        Command::LevelProperty(_) | Command::GameProperty(_) => options.properties.is_some(),
        Command::PlayerProperty(_) => {
            options.properties.as_ref().is_some_and(|properties| properties.players)
        }
        Command::Other { .. } => false,
        _ => true,
    }
}

/// A reply under construction.
struct Reply<'a> {
    sections: Sections<'a>,
    options: &'a Service,
    packer: Packer,
}

impl Reply<'_> {
    /// Adds the answer to a command.
    fn add(&mut self, command: Command<'_>) {
        let properties = self.options.properties.as_ref();
        match command {
            Command::Basic => self.sections.basic(&mut self.packer),
            Command::Info => self.sections.info(&mut self.packer),
            Command::Rules => self.sections.rules(&mut self.packer),
            Command::Players => self.sections.players(&mut self.packer),
            Command::Teams => self.sections.teams(&mut self.packer),
            Command::Status | Command::Packets => {
                for part in [Command::Basic, Command::Info, Command::Rules, Command::Players] {
                    self.add(part);
                    if command == Command::Packets {
                        self.packer.flush();
                    }
                }
            }
            Command::Echo(text) => {
                let key = if self.options.engine == Engine::Qr1 { &b"echo"[..] } else { b"echo_replay" };
                self.add_pair(key, text);
            }
            Command::Secure(challenge) => {
                let key = self.options.key.as_ref();
                if let Some(proof) = key.and_then(|key| key.validate(challenge).ok()) {
                    self.add_pair(b"validate", proof.as_bytes());
                }
            }
            Command::LevelProperty(name) => self.property(name, properties.map(|known| &known.level)),
            Command::GameProperty(name) => self.property(name, properties.map(|known| &known.game)),
            Command::PlayerProperty(name) => self.player_property(name),
            Command::Other { .. } => {}
        }
    }

    fn add_pair(&mut self, key: &[u8], value: &[u8]) {
        self.packer.push(key, value);
        self.packer.end_part();
    }

    /// A property that does not exist is empty, as on real servers.
    fn property(&mut self, name: &[u8], properties: Option<&Rules>) {
        let value = std::str::from_utf8(name).ok().and_then(|name| properties?.get(name));
        self.add_pair(name, &value.map(encoded).unwrap_or_default());
    }

    /// Rows begin at 1 here, and only here.
    fn player_property(&mut self, name: &[u8]) {
        for (index, player) in (1..).zip(self.sections.status.listed_players()) {
            let value = std::str::from_utf8(name).ok().and_then(|name| player.extra.get(name));
            self.packer.push_row(name, index, &value.map(encoded).unwrap_or_default());
            self.packer.end_part();
        }
    }
}
