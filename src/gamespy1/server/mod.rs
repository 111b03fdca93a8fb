//! Encodes replies: takes a request and a status, returns datagrams.

use std::borrow::Cow;

use bytes::Bytes;

use self::from_status::{Sections, player_property, property, put_text};
use super::wire::request::{Command, Request};
use crate::model::ServerStatus;
use crate::reply::{Datagrams, Echo, EncodedReply, Requester, Stored};
use crate::service::Service;
use crate::text::number;

mod from_status;
mod heartbeat;

pub(crate) use self::heartbeat::{ServerState, put_heartbeat};

/// Longest text that `\echo\` returns, in bytes.
const MAX_ECHO: usize = 50;
/// The maximum size of a datagram, in bytes, the trailer included (UT99's script UdpServerQuery
/// 1.5.2).
const MAX_DATAGRAM: usize = 1000;
/// The maximum number of datagrams of a reply: qstat joins no more (Unity-Technologies/qstat,
/// gps.c).
const MAX_FRAGMENTS: usize = 32;
/// Room for the longest trailer, `\queryid\100.32\final\`.
const TRAILER: usize = 22;

/// Answers a request. A request gets no reply if this server answers none of its commands.
///
/// The `queryid` is derived from [`Requester::number`].
///
/// The keys are those of UT99: `gamename`, `gamever`, `minnetver`, `hostname`, `hostport`,
/// `mapname`, `gametype`, `numplayers`, `maxplayers`, `gamemode`, `mutators`, `password`,
/// `listenserver`, `timelimit`, `remainingtime` and `fraglimit`. A rule with the key of a known
/// field is left out; other rules are sent as they are. Fields without a key are not sent, and
/// teams only in the answer to `\teams\`. Clients read some keys by the game: with the name of a
/// game of another engine, add the keys of that engine as rules.
///
/// The format cannot carry `\` and control bytes: they are removed from keys and values. These
/// rules are left out too:
///
/// - a rule that a client would read as the row of a player (`player_8`) or team (`teamname_0`);
/// - a rule that it would read as an end mark (`final`, `queryid`, `statusresponse`, `eof`);
/// - a rule too long for a datagram.
///
/// A reply has at most 32 datagrams, because qstat joins no more. If they are too few, the rules
/// are left out, and then the last players. Such a reply has no `final`, so that no client counts
/// it as complete. The clients node-gamedig and rust-gamedig then report a failure. qstat, GameQ
/// and this crate return the part that has arrived; this crate marks it as incomplete.
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
/// let mut requester =
///     Requester::new("192.0.2.1:5000".parse()?, Instant::now(), Secret::new([7; 16]));
/// requester.number = 7;
/// let request = Request::new(&[Command::Info]);
/// let replies =
///     gamespy1::respond(&request, &status, &Protocol::GameSpy1.into(), &requester);
/// let reply = br"\hostname\Srv\maxplayers\8\gamemode\openplaying\queryid\7.1\final\";
/// assert_eq!(replies.iter().collect::<Vec<_>>(), [&reply[..]]);
/// # Ok::<(), std::net::AddrParseError>(())
/// ```
pub fn respond(
    request: &Request<'_>,
    status: &ServerStatus,
    service: &Service,
    requester: &Requester,
) -> Vec<Bytes> {
    let answered = Answered::of(request, service);
    if answered.commands().is_empty() {
        return Vec::new();
    }
    let sections = Sections::new(status);
    let datagrams = encode(answered.commands(), status, service, &sections);
    let reply = EncodedReply::encoded(datagrams, reply_number(requester));
    reply.map(EncodedReply::into_datagrams).unwrap_or_default()
}

/// The replies of one status.
#[derive(Debug, Clone)]
pub(crate) struct Replies {
    stored: Stored<&'static [Command<'static>]>,
    /// The parts of all other replies.
    sections: Sections,
}

impl Replies {
    pub(crate) fn new(status: &ServerStatus, service: &Service) -> Self {
        let sections = Sections::new(status);
        let encode = |commands| encode(commands, status, service, &sections);
        Self {
            stored: Stored::new(&STORED, encode),
            sections,
        }
    }

    /// The reply to a request, if it gets one. Any other combination of commands is put together
    /// from the sections.
    pub(crate) fn reply(
        &self,
        request: &Request<'_>,
        status: &ServerStatus,
        service: &Service,
        requester: &Requester,
    ) -> Option<EncodedReply> {
        let number = reply_number(requester);
        let answered = Answered::of(request, service);
        let commands = answered.commands();
        if commands.is_empty() {
            return None;
        }
        let stored: &Stored<&[Command<'_>]> = &self.stored;
        if let Some(datagrams) = stored.get(commands) {
            return EncodedReply::stored(datagrams, number);
        }
        let datagrams = encode(commands, status, service, &self.sections);
        EncodedReply::encoded(datagrams, number)
    }
}

/// The requests whose replies are encoded when the status is set.
const STORED: [&[Command<'_>]; 9] = [
    &[Command::Status],
    &[Command::Basic],
    &[Command::Info],
    &[Command::Rules],
    &[Command::Players],
    &[Command::Teams],
    &[Command::Packets],
    // Clients that refresh a list of servers.
    &[Command::Basic, Command::Info],
    &SECTIONS,
];

/// The commands that make up a status.
const SECTIONS: [Command<'_>; 4] = [
    Command::Basic,
    Command::Info,
    Command::Rules,
    Command::Players,
];

/// The number of a reply, as UT99 counts requests: from 1 to 100, and then from 1 again.
fn reply_number(requester: &Requester) -> Echo {
    let number = (requester.number.saturating_sub(1) % 100).saturating_add(1);
    Echo::new(|out| number::put(number.cast_signed(), out))
}

/// The commands to answer, in the order of the request.
///
/// Each command and each property is answered once. Otherwise one request would cause 31 full
/// replies. GameSpy's own code also answers a command once, because it searches the request for
/// each command (OpenMoHAA, code/gamespy/sv_gqueryreporting.c). The Unreal engine answers repeated
/// ones too (IpServer's UdpServerQuery).
struct Answered<'a> {
    list: [Command<'a>; MAX_COMMANDS],
    count: usize,
}

/// A request of 255 bytes has no more: nine commands, each answered once, and 17 properties of at
/// least 15 bytes.
const MAX_COMMANDS: usize = 26;

impl<'a> Answered<'a> {
    fn of(request: &Request<'a>, service: &Service) -> Self {
        let mut answered = Self {
            list: [Command::Status; MAX_COMMANDS],
            count: 0,
        };
        for command in request.commands() {
            let known = Command::known(command.name(), command.value());
            if let Some(known) = known.filter(|known| is_answered(*known, service)) {
                answered.add(known);
            }
        }
        answered
    }

    fn add(&mut self, command: Command<'a>) {
        let is_same = |seen: &Command<'_>| {
            seen.name() == command.name() && (!is_property(seen) || *seen == command)
        };
        if self.commands().iter().any(is_same) {
            return;
        }
        if let Some(place) = self.list.get_mut(self.count) {
            *place = command;
            self.count = self.count.saturating_add(1);
        }
    }

    fn commands(&self) -> &[Command<'a>] {
        self.list.get(..self.count).unwrap_or_default()
    }
}

/// Whether the value of a command names a property.
const fn is_property(command: &Command<'_>) -> bool {
    matches!(
        command,
        Command::LevelProperty(_) | Command::GameProperty(_) | Command::PlayerProperty(_)
    )
}

/// Whether a command is known here and switched on.
fn is_answered(command: Command<'_>, service: &Service) -> bool {
    match command {
        Command::Echo(text) => {
            service.echo
                && text.len() <= MAX_ECHO
                && text.iter().all(|byte| matches!(byte, b' '..=b'~'))
        }
        // Stock servers take a challenge of any length, and some crashed on long ones
        // (CVE-2004-0608).
        Command::Secure(challenge) => {
            service.key.is_some()
                && (6..=16).contains(&challenge.len())
                && challenge.iter().all(u8::is_ascii_graphic)
        }
        Command::LevelProperty(_) | Command::GameProperty(_) => service.properties.is_some(),
        Command::PlayerProperty(_) => service
            .properties
            .as_ref()
            .is_some_and(|known| known.players),
        Command::Other { .. } => false,
        _ => true,
    }
}

/// A part of a reply: the answer to a command.
struct Part<'a> {
    /// Texts that are kept whole in a datagram. Only a text longer than a datagram is cut, between
    /// pairs.
    texts: Cow<'a, Datagrams>,
    /// Whether these are rules. They are one text if a datagram holds all of them, else one text
    /// each. They are left out if a reply is too long.
    is_rules: bool,
    /// Whether a new datagram begins after it.
    ends_datagram: bool,
}

/// Encodes the reply to these commands.
fn encode(
    commands: &[Command<'_>],
    status: &ServerStatus,
    service: &Service,
    sections: &Sections,
) -> Datagrams {
    let names_versions = |command: &Command<'_>| {
        matches!(command, Command::Basic | Command::Status | Command::Packets)
    };
    let has_versions = commands.iter().any(names_versions);
    let mut parts = Vec::new();
    for &command in commands {
        let sections_of_command = match command {
            Command::Status | Command::Packets => &SECTIONS[..],
            _ => &[command],
        };
        for &section in sections_of_command {
            let texts = match section {
                Command::Basic => Cow::Borrowed(&sections.basic),
                // A reply contains the versions only once.
                Command::Info if has_versions => Cow::Borrowed(&sections.info),
                Command::Info => Cow::Borrowed(&sections.info_with_versions),
                Command::Rules => Cow::Borrowed(&sections.rules),
                Command::Players => Cow::Borrowed(&sections.players),
                Command::Teams => Cow::Borrowed(&sections.teams),
                _ => Cow::Owned(answer_with_value(section, status, service)),
            };
            parts.push(Part {
                texts,
                is_rules: section == Command::Rules,
                ends_datagram: command == Command::Packets,
            });
        }
    }
    pack(&parts, MAX_DATAGRAM)
}

/// The texts that answer a command with a value.
fn answer_with_value(command: Command<'_>, status: &ServerStatus, service: &Service) -> Datagrams {
    let mut texts = Datagrams::default();
    let properties = service.properties.as_ref();
    match command {
        Command::PlayerProperty(name) => return player_property(status, name),
        Command::LevelProperty(name) => {
            let value = property(properties.map(|known| &known.level), name);
            put_text(name, &value, &mut texts);
        }
        Command::GameProperty(name) => {
            let value = property(properties.map(|known| &known.game), name);
            put_text(name, &value, &mut texts);
        }
        Command::Echo(text) => put_text(b"echo_replay", text, &mut texts),
        Command::Secure(challenge) => {
            if let Some(Ok(proof)) = service.key.as_ref().map(|key| key.validate(challenge)) {
                put_text(b"validate", proof.as_bytes(), &mut texts);
            }
        }
        _ => {}
    }
    texts
}

/// Writes the datagrams of a reply. The number in `queryid` is the patch: the bytes specific to one
/// request.
///
/// If the datagrams are too few, the rules are left out, then the end of the reply. A reply that
/// was cut has no end mark, so that no client counts it as complete.
///
/// A rule too long for any datagram is left out, and the reply keeps its end mark: one long text
/// must not make the server look broken. GameSpy's own servers lose such a pair too, and the rest
/// of its section (OpenMoHAA, code/gamespy/sv_gqueryreporting.c).
fn pack(parts: &[Part<'_>], max_datagram: usize) -> Datagrams {
    let limit = max_datagram.saturating_sub(TRAILER);
    let mut packed = Packed::new(parts.iter(), limit);
    if packed.datagrams.len() > MAX_FRAGMENTS {
        packed = Packed::new(parts.iter().filter(|part| !part.is_rules), limit);
        packed.is_cut = true;
    }
    let mut datagrams = Datagrams::default();
    let count = packed.datagrams.len().min(MAX_FRAGMENTS);
    for (fragment, datagram) in (1..=count).zip(packed.datagrams.iter()) {
        datagrams.begin();
        datagrams.bytes.extend_from_slice(datagram);
        datagrams.bytes.extend_from_slice(br"\queryid\");
        datagrams.gap_here();
        let fragment_number = format!(".{fragment}");
        datagrams
            .bytes
            .extend_from_slice(fragment_number.as_bytes());
        if fragment == count && !packed.is_cut {
            datagrams.bytes.extend_from_slice(br"\final\");
        }
    }
    datagrams
}

/// Datagrams of a reply, still without trailers.
struct Packed {
    datagrams: Datagrams,
    /// The maximum size of a datagram, in bytes.
    limit: usize,
    /// The bytes that still fit into the current datagram.
    bytes_left: usize,
    /// Whether anything except rules was too long for a datagram.
    is_cut: bool,
}

impl Packed {
    /// Packs the texts of these parts.
    fn new<'a>(parts: impl Iterator<Item = &'a Part<'a>>, limit: usize) -> Self {
        let mut packed = Self {
            datagrams: Datagrams::default(),
            limit,
            bytes_left: limit,
            is_cut: false,
        };
        packed.datagrams.begin();
        for part in parts {
            packed.push(part);
            if part.ends_datagram && packed.bytes_left < limit {
                packed.bytes_left = 0;
            }
        }
        packed
    }

    fn push(&mut self, part: &Part<'_>) {
        let all = &part.texts.bytes[..];
        if part.is_rules && all.len() <= self.limit {
            self.append(all);
            return;
        }
        for text in part.texts.iter() {
            self.push_text(text, part.is_rules);
        }
    }

    /// Adds a text in one piece, or pair by pair if it is too long for a datagram. A pair that is
    /// too long for a datagram is left out.
    fn push_text(&mut self, text: &[u8], is_rule: bool) {
        if text.len() <= self.limit {
            self.append(text);
            return;
        }
        let mut rest = text;
        while !rest.is_empty() {
            let next_pair = memchr::memchr_iter(b'\\', rest).nth(2);
            let length = next_pair.unwrap_or(rest.len());
            let (pair, after) = rest.split_at_checked(length).unwrap_or_default();
            rest = after;
            if pair.len() <= self.limit {
                self.append(pair);
            } else {
                self.is_cut |= !is_rule;
            }
        }
    }

    /// Appends a piece to the current datagram, or to a new one if it does not fit.
    fn append(&mut self, piece: &[u8]) {
        if piece.len() > self.bytes_left {
            self.datagrams.begin();
            self.bytes_left = self.limit;
        }
        self.datagrams.bytes.extend_from_slice(piece);
        self.bytes_left = self.bytes_left.saturating_sub(piece.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gamespy1::wire::put::put_pair;
    use crate::{Protocol, Rules};

    fn whole(pairs: &[(&str, &str)]) -> Part<'static> {
        let mut text = Datagrams::default();
        text.begin();
        pairs
            .iter()
            .for_each(|(key, value)| put_pair(key.as_bytes(), value.as_bytes(), &mut text.bytes));
        Part {
            texts: Cow::Owned(text),
            is_rules: false,
            ends_datagram: false,
        }
    }

    fn rules(pairs: &[(&str, &str)]) -> Part<'static> {
        let mut texts = Datagrams::default();
        pairs
            .iter()
            .for_each(|(key, value)| put_text(key.as_bytes(), value.as_bytes(), &mut texts));
        Part {
            texts: Cow::Owned(texts),
            is_rules: true,
            ends_datagram: false,
        }
    }

    fn finish(parts: &[Part<'_>], room: usize, reply: u8) -> Vec<Bytes> {
        let datagrams = pack(parts, TRAILER.saturating_add(room));
        let number = Echo::new(|out| number::put(reply.into(), out));
        let reply = EncodedReply::encoded(datagrams, number).unwrap();
        reply.into_datagrams()
    }

    #[test]
    fn sections_stay_in_one_datagram_and_pairs_are_never_cut() {
        let parts = [
            whole(&[("a", "1")]),
            whole(&[("b", "1234567"), ("c", "")]),
            whole(&[("d", "1"), ("e", "2"), ("f", "3")]),
        ];
        let datagrams = finish(&parts, 10, 7);
        assert_eq!(
            datagrams,
            [
                &br"\a\1\queryid\7.1"[..],
                br"\b\1234567\queryid\7.2",
                br"\c\\d\1\queryid\7.3",
                br"\e\2\f\3\queryid\7.4\final\",
            ]
        );
    }

    #[test]
    fn all_commands_of_the_longest_request_are_answered() {
        let mut request = br"\basic\\info\\rules\\players\\teams\\packets\\status\".to_vec();
        for property in b'a'..=b'k' {
            request.extend_from_slice(br"\game_property\");
            request.extend_from_slice(&[property, b'\\']);
        }
        let request = Request::parse(&request).unwrap();
        let service = Service::from(Protocol::GameSpy1);
        let service = service.with_properties(Rules::default(), Rules::default(), false);
        assert_eq!(Answered::of(&request, &service).commands().len(), 7 + 11);
    }

    #[test]
    fn an_empty_reply_has_its_end_mark() {
        assert_eq!(finish(&[], 970, 2), [&br"\queryid\2.1\final\"[..]]);
    }

    #[test]
    fn a_reply_that_was_cut_has_no_end_mark() {
        let mut parts: Vec<Part<'_>> = (0..100).map(|_| whole(&[("key", "value")])).collect();
        let datagrams = finish(&parts, 10, 1);
        assert_eq!(datagrams.len(), MAX_FRAGMENTS);
        assert_eq!(datagrams[31], br"\key\value\queryid\1.32"[..]);
        let datagrams = finish(&parts[..MAX_FRAGMENTS], 10, 1);
        assert_eq!(datagrams[31], br"\key\value\queryid\1.32\final\"[..]);
        parts.truncate(MAX_FRAGMENTS - 1);
        parts.push(rules(&[("a", "1")]));
        let datagrams = finish(&parts, 10, 1);
        assert_eq!(
            datagrams[31],
            br"\a\1\queryid\1.32\final\"[..],
            "with its rules"
        );
    }

    #[test]
    fn rules_and_rows_that_fill_a_datagram_stay_together() {
        let pairs = [("b", "1"), ("c", "123")];
        for part in [rules(&pairs), whole(&pairs)] {
            assert_eq!(
                finish(&[whole(&[("a", "1")]), part], 10, 1),
                [&br"\a\1\queryid\1.1"[..], br"\b\1\c\123\queryid\1.2\final\"]
            );
        }
    }

    #[test]
    fn a_section_without_texts_has_no_datagram_of_its_own() {
        let mut empty = whole(&[]);
        empty.ends_datagram = true;
        assert_eq!(
            finish(&[empty, whole(&[("a", "1")])], 10, 1),
            [&br"\a\1\queryid\1.1\final\"[..]]
        );
    }

    #[test]
    fn a_rule_too_long_for_a_datagram_is_left_out_alone() {
        let rules = rules(&[("a", "1"), ("b", "too long a value"), ("c", "3")]);
        assert_eq!(
            finish(&[rules], 10, 1),
            [&br"\a\1\c\3\queryid\1.1\final\"[..]]
        );
        let player = whole(&[("player_0", "too long a name")]);
        assert_eq!(
            finish(&[player], 10, 1),
            [&br"\queryid\1.1"[..]],
            "but a player is a loss"
        );
    }
}
