//! The server's side, pure: a request and a status in, reply datagrams out.

use std::borrow::Cow;

use bytes::Bytes;

use super::info::{Info, Tail};
use super::mapping::{
    CURRENT_WAVE, FINAL_WAVE, FLAGS, GAME_PASSWORD, SERVER_VERSION, SKILL_LEVEL, to_record,
};
use super::reading::FLUSH;
use super::request::{Ask, Request};
use super::response::{Body, Response, UT2004_VERSION, encode_head};
use super::strings::FString;
use crate::model::{Charset, Colours, ServerStatus, Text, TextRef};
use crate::reply::{Replies, Requester};
use crate::text::number;

/// Longest text that is written, in code units; longer ones are cut.
const MAX_TEXT: usize = 400;

/// How a server answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// The protocol version in its replies; 0x80 is UT2004, Killing Floor and Red Orchestra.
    pub version: u32,
    /// Most datagrams for one list; what does not fit is left out. The default, 64, holds some 28,000 bytes.
    pub max_datagrams: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { version: UT2004_VERSION, max_datagrams: 64 }
    }
}

/// Answers a request as the game does: the info in one datagram; rules and players in as many as they need, a new
/// one begun whenever the last is longer than 450 bytes; for both, the rules first; no datagram for no players.
///
/// No rules at all are told by a datagram that has only its header. It is five bytes like a request, so
/// it does not go to clients that ask in this server's own version: two servers cannot be made to answer each other.
///
/// The rules `SkillLevel`, `Flags` and, together, `CurrentWave` and `FinalWave` go into the info record instead of
/// the list (the last of each name): a record with waves is Killing Floor's. `ServerVersion` and `GamePassword` are
/// added from the status where the rules lack them.
///
/// ```
/// use std::time::Instant;
/// use queryport::{Player, Requester, Secret, ServerStatus};
/// use queryport::ut2004::{Ask, Request, server};
///
/// let mut status = ServerStatus::default();
/// status.rules.push("ServerMode", "dedicated");
/// status.players = Some(vec![Player::new("Жx")]);
/// # #[allow(clippy::disallowed_methods)]
/// let requester = Requester::new("192.0.2.1:5000".parse()?, Instant::now(), Secret::new([7; 16]));
/// let request = Request::new(Ask::RulesAndPlayers);
/// let replies = server::answer(&request, &status, &server::Options::default(), &requester);
/// let replies: Vec<_> = replies.into_iter().collect();
/// assert_eq!(&replies[0][..], b"\x80\0\0\0\x01\x0bServerMode\0\x0adedicated\0");
/// assert_eq!(replies[1][..12], [0x80, 0, 0, 0, 2, 1, 0, 0, 0, 0x83, 0x16, 0x04]);
/// # Ok::<(), std::net::AddrParseError>(())
/// ```
#[must_use]
pub fn answer(
    request: &Request,
    status: &ServerStatus,
    options: &Options,
    _requester: &Requester,
) -> Replies {
    let replies = match request.ask {
        Ask::Info => vec![info(status, options)],
        Ask::Rules => rules(request, status, options),
        Ask::Players => players(status, options),
        Ask::RulesAndPlayers => {
            let mut replies = rules(request, status, options);
            replies.extend(players(status, options));
            replies
        }
        Ask::SmallPing => vec![datagram(Body::SmallPing(b"P"), options)],
    };
    replies.into()
}

fn datagram(body: Body<'_>, options: &Options) -> Bytes {
    let mut out = Vec::new();
    Response { version: options.version, body }.encode(&mut out);
    out.into()
}

fn info(status: &ServerStatus, options: &Options) -> Bytes {
    let [name, map, game_type] = [&status.name, &status.map, &status.game_type].map(WireText::of);
    let fields = InfoFields::new(status);
    let skill = fields.text(status, fields.skill).unwrap_or(WireText::narrow(b"0"));
    let listed = || status.listed_players().len().try_into().unwrap_or(u32::MAX);
    let int = |number: u32| i32::try_from(number).unwrap_or(i32::MAX);
    let tail = Tail {
        waves: fields.number(status, fields.wave).zip(fields.number(status, fields.last_wave)),
        server_info: Some(super::lists::RuleList::default()),
        player_info: Some(super::lists::PlayerList::default()),
        ..Tail::ut2004(fields.number(status, fields.flags).unwrap_or(0), skill.string())
    };
    let info = Info {
        port: i32::from(status.game_port.unwrap_or(0)),
        server_name: name.string(),
        map_name: map.string(),
        game_type: game_type.string(),
        current_players: int(status.player_count.unwrap_or_else(listed)),
        max_players: int(status.max_players.unwrap_or(0)),
        tail,
        ..Info::default()
    };
    datagram(Body::Info(info), options)
}

fn rules(request: &Request, status: &ServerStatus, options: &Options) -> Vec<Bytes> {
    let fields = InfoFields::new(status);
    let listed =
        status.rules.iter().enumerate().filter(|(place, _)| !fields.has(*place)).map(|(_, pair)| pair);
    let added = [
        (SERVER_VERSION, status.version.as_ref().map(|text| WireText::new(text.as_ref()))),
        (GAME_PASSWORD, (status.password == Some(true)).then(|| WireText::narrow(b"True"))),
    ];
    let added = added.into_iter().filter(|(key, _)| status.rules.get(key).is_none());
    let listed = listed.map(|(key, value)| (WireText::new(key), WireText::new(value)));
    let added = added.filter_map(|(key, value)| Some((WireText::narrow(key.as_bytes()), value?)));
    let mut lists = Lists::new(1, options);
    for (key, value) in listed.chain(added) {
        lists.entry(|out| {
            key.string().encode(out);
            value.string().encode(out);
        });
    }
    let mut replies = lists.finish();
    if replies.is_empty() && request.version != options.version {
        replies.push(datagram(Body::Rules(super::lists::RuleList::default()), options));
    }
    replies
}

fn players(status: &ServerStatus, options: &Options) -> Vec<Bytes> {
    let mut lists = Lists::new(2, options);
    for (place, player) in status.listed_players().iter().enumerate() {
        let name = WireText::new(player.name.as_ref());
        lists.entry(|out| to_record(player, place, name.string()).encode(out));
    }
    lists.finish()
}

/// Writes entries into datagrams as the engine does: it looks at the length before it adds an entry.
struct Lists<'o> {
    code: u8,
    options: &'o Options,
    current: Vec<u8>,
    finished: Vec<Bytes>,
}

impl<'o> Lists<'o> {
    const fn new(code: u8, options: &'o Options) -> Self {
        Self { code, options, current: Vec::new(), finished: Vec::new() }
    }

    fn entry(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        if self.current.len() > FLUSH {
            self.flush();
        }
        if self.finished.len() >= self.options.max_datagrams {
            return;
        }
        if self.current.is_empty() {
            encode_head(self.options.version, self.code, &mut self.current);
        }
        write(&mut self.current);
    }

    fn flush(&mut self) {
        if !self.current.is_empty() {
            self.finished.push(std::mem::take(&mut self.current).into());
        }
    }

    fn finish(mut self) -> Vec<Bytes> {
        self.flush();
        self.finished
    }
}

/// The places of the rules that belong into the info record.
#[derive(Debug, Clone, Copy, Default)]
struct InfoFields {
    skill: Option<usize>,
    flags: Option<usize>,
    wave: Option<usize>,
    last_wave: Option<usize>,
}

impl InfoFields {
    fn new(status: &ServerStatus) -> Self {
        let mut fields = Self::default();
        for (place, (key, value)) in status.rules.iter().enumerate() {
            let is = |name: &str| key.raw().eq_ignore_ascii_case(name.as_bytes());
            let is_number = || number::number::<i32>(value.plain().as_bytes()).is_some();
            if is(SKILL_LEVEL) {
                fields.skill = Some(place);
            } else if is(FLAGS) && is_number() {
                fields.flags = Some(place);
            } else if is(CURRENT_WAVE) && is_number() {
                fields.wave = Some(place);
            } else if is(FINAL_WAVE) && is_number() {
                fields.last_wave = Some(place);
            }
        }
        if fields.wave.is_none() || fields.last_wave.is_none() {
            (fields.wave, fields.last_wave) = (None, None);
        }
        fields
    }

    fn has(&self, place: usize) -> bool {
        [self.skill, self.flags, self.wave, self.last_wave].contains(&Some(place))
    }

    fn text<'s>(&self, status: &'s ServerStatus, place: Option<usize>) -> Option<WireText<'s>> {
        status.rules.iter().nth(place?).map(|(_, value)| WireText::new(value))
    }

    fn number(&self, status: &ServerStatus, place: Option<usize>) -> Option<i32> {
        status.rules.iter().nth(place?).and_then(|(_, value)| number::number(value.plain().as_bytes()))
    }
}

/// A text in the engine's units.
#[derive(Debug, Clone, Default)]
struct WireText<'a> {
    units: Cow<'a, [u8]>,
    wide: bool,
}

impl<'a> WireText<'a> {
    const fn narrow(units: &'a [u8]) -> Self {
        Self { units: Cow::Borrowed(units), wide: false }
    }

    /// A text that may be missing.
    fn of(text: &'a Option<Text>) -> Self {
        text.as_ref().map(|text| Self::new(text.as_ref())).unwrap_or_default()
    }

    /// Units that are the engine's already stay as they are. Other texts are decoded, other games' colour codes
    /// taken out, and written with 8 bits a character where that is enough. NULs become 1, as in the engine's own
    /// colour codes; what is longer than [`MAX_TEXT`] is cut.
    fn new(text: TextRef<'a>) -> Self {
        let style = text.style();
        let ours = matches!(style.colours, Colours::UnrealEscape | Colours::None);
        let (units, wide) = match style.charset {
            Charset::Latin1 if ours => (Cow::Borrowed(text.raw()), false),
            Charset::Utf16Le if ours => (Cow::Borrowed(text.raw()), true),
            _ => {
                let text = if ours { text.decoded() } else { text.plain() };
                let wide = text.chars().any(|c| u32::from(c) > 0xFF);
                let charset = if wide { Charset::Utf16Le } else { Charset::Latin1 };
                (Cow::Owned(charset.encode(&text)), wide)
            }
        };
        Self { units, wide }.without_nuls().cut()
    }

    fn without_nuls(mut self) -> Self {
        if self.wide {
            if self.units.as_chunks::<2>().0.contains(&[0, 0]) {
                for unit in self.units.to_mut().as_chunks_mut::<2>().0 {
                    if *unit == [0, 0] {
                        *unit = [1, 0];
                    }
                }
            }
        } else if self.units.contains(&0) {
            for unit in self.units.to_mut() {
                *unit = (*unit).max(1);
            }
        }
        self
    }

    fn cut(mut self) -> Self {
        let most = if self.wide { MAX_TEXT.saturating_mul(2) } else { MAX_TEXT };
        if self.units.len() > most {
            self.units.to_mut().truncate(most);
        }
        self
    }

    fn string(&self) -> FString<'_> {
        if self.wide { FString::wide(&self.units) } else { FString::narrow(&self.units) }
    }
}
