//! Quake 2, QuakeWorld and Quetoo, the siblings of Quake 3: their player lines and other
//! differences from Quake 3's packets.

use nom::Parser;
use nom::branch::alt;
use nom::bytes::complete::{tag, take, take_till, take_till1, take_while};
use nom::combinator::{all_consuming, eof, map_opt, opt, recognize};
use nom::multi::{many0_count, many1_count};
use nom::sequence::{delimited, preceded, terminated};

use super::infostring::InfoString;
use crate::grammar::{GrammarError, Parsed};
use crate::text::number;

/// The family of a reply, by the word that it begins with.
///
/// ```
/// use queryport::Limits;
/// use queryport::quake3::{Family, Response};
///
/// let packet = b"\xff\xff\xff\xffprint\n\\mapname\\q2dm1\\maxclients\\8\n5 20 \"Ann\"\n";
/// let response = Response::parse(packet, &Limits::default())?;
/// assert_eq!(response.family(), Family::Quake2);
/// # Ok::<(), queryport::ParseError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Family {
    /// `infoResponse` or `statusResponse`.
    #[default]
    Quake3,
    /// `print`, a line feed and an infostring: the reply to `status` in Quake 2, Kingpin and Alien
    /// Arena.
    Quake2,
    /// `n` and an infostring: the reply to `status` in QuakeWorld. NUL ends each of its datagrams.
    QuakeWorld,
    /// `status`, a line feed and an infostring: the reply to `status` in Quetoo since June 2026.
    /// Its player lines are infostrings too (jdolan/quetoo, src/server/sv_main.c).
    Quetoo,
}

/// The length that a status of Quake 2 does not reach, in bytes: a line that would reach it is left
/// out (id-Software/Quake-2, server/sv_main.c).
pub(crate) const MAX_STATUS: usize = 1384;
/// The maximum size of text in a datagram of MVDSV, in bytes: text that would pass it goes into the
/// next one (QW-Group/mvdsv, src/sv_send.c).
pub(crate) const MAX_PART: usize = 1340;
/// Longest text that a QuakeWorld server writes at once: a player line.
pub(crate) const MAX_PIECE: usize = 128;

/// A player line of Quake 2 or Alien Arena.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Quake2Line<'a> {
    pub(crate) score: &'a [u8],
    pub(crate) ping: &'a [u8],
    pub(crate) name: &'a [u8],
    /// The fields that Alien Arena's servers write after the name.
    pub(crate) further: Option<AlienArenaFields<'a>>,
}

/// The fields that Alien Arena's servers write after the name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AlienArenaFields<'a> {
    /// Always `127.0.0.1`: it hides the player's own.
    pub(crate) address: &'a [u8],
    pub(crate) team: &'a [u8],
}

impl<'a> Quake2Line<'a> {
    /// Reads a line without its line feed; `None` for any other line.
    pub(crate) fn parse(line: &'a [u8]) -> Option<Self> {
        quake2_line(line).ok().map(|(_, line)| line)
    }
}

/// `quake2-line = word SP word SP quoted [ SP quoted SP word ] tail` (id-Software/Quake-2,
/// server/sv_main.c; alienarena/alienarena, source/server/sv_main.c).
fn quake2_line(line: &[u8]) -> Parsed<'_, Quake2Line<'_>> {
    let further = (after_space(quoted), after_space(word))
        .map(|(address, team)| AlienArenaFields { address, team });
    let fields = (word, after_space(word), after_space(quoted), opt(further));
    terminated(fields, tail)
        .map(|(score, ping, name, further)| Quake2Line {
            score,
            ping,
            name,
            further,
        })
        .parse(line)
}

/// A player line of QuakeWorld, as text.
///
/// ```
/// use queryport::quake3::QuakeWorldLine;
///
/// let line = QuakeWorldLine::parse(br#"7 12 5 26 "Ann" "base" 13 4 "red""#).unwrap();
/// assert_eq!((line.frags, line.ping, line.name), (&b"12"[..], &b"26"[..], &b"Ann"[..]));
/// assert_eq!((line.team, line.kind), (Some(&b"red"[..]), None));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct QuakeWorldLine<'a> {
    /// The number of the connection.
    pub id: &'a [u8],
    /// The score; `S` or −9999 for a spectator.
    pub frags: &'a [u8],
    /// Minutes since the player joined.
    pub minutes: &'a [u8],
    /// The ping in milliseconds; negative or 0 for a spectator whose frags are −9999, 9999 if it is
    /// unknown.
    pub ping: &'a [u8],
    /// The name. That of a spectator whose frags are −9999 begins with `\s\`, on old servers it
    /// ends with `(s)`.
    pub name: &'a [u8],
    /// The skin.
    pub skin: &'a [u8],
    /// The colour of the shirt, 0 to 16.
    pub top: &'a [u8],
    /// The colour of the trousers, 0 to 16.
    pub bottom: &'a [u8],
    /// The team, if the request asks for it. One with a quote has FTE's escapes: `a\"b`.
    pub team: Option<&'a [u8]>,
    /// The country of the login, if the request asks for it; `none` for an unknown country. `None`
    /// for a player without a login (QW-Group/mvdsv, src/sv_main.c).
    pub login: Option<&'a [u8]>,
    /// `b` for a bot, `h` for a person, if the request asks for it.
    pub kind: Option<&'a [u8]>,
}

/// The marks of a spectator. One is a letter in place of the score. The other is a number there
/// with a negated ping, and a prefix of the name, or a suffix on old servers (QW-Group/mvdsv,
/// src/sv_main.c, `SVC_Status`; QW-Group/ezquake-source, src/EX_browser_net.c).
pub(crate) const SPECTATOR_LETTER: &[u8] = b"S";
pub(crate) const SPECTATOR_NUMBER: &[u8] = b"-9999";
pub(crate) const SPECTATOR_PREFIX: &[u8] = br"\s\";
const SPECTATOR_SUFFIX: &[u8] = b"(s)";

impl<'a> QuakeWorldLine<'a> {
    /// Reads a line without its line feed; `None` for any other line.
    pub fn parse(line: &'a [u8]) -> Option<Self> {
        quake_world_line(line).ok().map(|(_, line)| line)
    }

    /// Whether the line is that of a spectator, who does not count as a player.
    pub fn is_spectator(&self) -> bool {
        self.frags == SPECTATOR_LETTER || self.is_marked_by_number()
    }

    /// Whether the line is that of a spectator without `S` as the score.
    pub(crate) fn is_marked_by_number(&self) -> bool {
        let is_negated = |ping: i64| ping <= 0;
        self.frags == SPECTATOR_NUMBER && number::integer(self.ping).is_some_and(is_negated)
    }

    /// The name without the mark of a spectator.
    pub(crate) fn plain_name(&self) -> &'a [u8] {
        if !self.is_marked_by_number() {
            return self.name;
        }
        let without_prefix = self.name.strip_prefix(SPECTATOR_PREFIX);
        let plain = without_prefix.or_else(|| self.name.strip_suffix(SPECTATOR_SUFFIX));
        plain.unwrap_or(self.name)
    }
}

/// `quake-world-line = word SP word SP word SP word SP quoted SP quoted SP word SP word
/// *3( SP ( quoted / escaped ) ) tail`:
/// id, frags, minutes, ping, name, skin, two colours; then team, login and kind (QW-Group/mvdsv,
/// src/sv_main.c, `SVC_Status`). Which of the three are there depends on the request; a kind is `b`
/// or `h`.
fn quake_world_line(line: &[u8]) -> Parsed<'_, QuakeWorldLine<'_>> {
    let numbers = (
        word,
        after_space(word),
        after_space(word),
        after_space(word),
    );
    let looks = (
        after_space(quoted),
        after_space(quoted),
        after_space(word),
        after_space(word),
    );
    let further = || opt(after_space(alt((quoted, escaped))));
    let fields = (numbers, looks, further(), further(), further());
    let (rest, fields) = terminated(fields, tail).parse(line)?;
    let (numbers, looks, team, after_team, last) = fields;
    let (id, frags, minutes, ping) = numbers;
    let (name, skin, top, bottom) = looks;
    let lacks_login = last.is_none() && matches!(after_team, Some(b"b" | b"h"));
    let (login, kind) = if lacks_login {
        (None, after_team)
    } else {
        (after_team, last)
    };
    // A player without a login has an empty text there.
    let login = login.filter(|login| !login.is_empty());
    let line = QuakeWorldLine {
        id,
        frags,
        minutes,
        ping,
        name,
        skin,
        top,
        bottom,
        team,
        login,
        kind,
    };
    Ok((rest, line))
}

/// The word that the line of a stream begins with, and the key of the stream among the rules.
const STREAM: &str = "qtv";

/// The word and the fields of a line of QuakeWorld that describes a stream of QTV and not a player.
pub(crate) fn stream_pair(line: &[u8]) -> Option<(&[u8], &[u8])> {
    stream(line).ok().map(|(_, pair)| pair)
}

/// `stream = "qtv" SP word SP quoted SP quoted SP word tail`: number, title, address and the number
/// of viewers. The address is empty without a proxy of its own (QW-Group/mvdsv,
/// src/sv_demo_qtv.c, `QTV_Streams_List`).
fn stream(line: &[u8]) -> Parsed<'_, (&[u8], &[u8])> {
    let fields = recognize((
        word,
        after_space(quoted),
        after_space(quoted),
        after_space(word),
    ));
    terminated((tag(STREAM), preceded(tag(" "), fields)), tail).parse(line)
}

/// A player line of Quetoo: an infostring with a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct QuetooLine<'a> {
    pub(crate) pairs: InfoString<'a>,
    pub(crate) name: &'a [u8],
}

impl<'a> QuetooLine<'a> {
    /// Reads a line without its line feed; `None` for any other line.
    pub(crate) fn parse(line: &'a [u8]) -> Option<Self> {
        quetoo_line(line).ok().map(|(_, line)| line)
    }
}

/// `quetoo-line = 1*( "\" token "\" token )`, with the key `name`. Servers write `score`, `ping`
/// and `name`, and `ai` for bots (jdolan/quetoo, src/server/sv_main.c, `Sv_StatusString`).
fn quetoo_line(line: &[u8]) -> Parsed<'_, QuetooLine<'_>> {
    let pair = (tag("\\"), token, tag("\\"), token);
    let pairs = all_consuming(recognize(many1_count(pair)));
    let with_name = |line| {
        let pairs = InfoString::new(line);
        let name = pairs.get("name")?;
        Some(QuetooLine { pairs, name })
    };
    map_opt(pairs, with_name).parse(line)
}

/// `token = *( %x00-5B / %x5D-FF )`
fn token(input: &[u8]) -> Parsed<'_, &[u8]> {
    take_till(|byte| byte == b'\\').parse(input)
}

/// `word = 1*( %x21 / %x23-5B / %x5D-FF )`: a number, or `S`. A backslash before the name makes a
/// line a pair of the infostring, as in Quake 3.
fn word(input: &[u8]) -> Parsed<'_, &[u8]> {
    take_till1(|byte| byte <= b' ' || matches!(byte, b'"' | b'\\')).parse(input)
}

/// `quoted = DQUOTE *( %x00-21 / %x23-FF ) DQUOTE`
fn quoted(input: &[u8]) -> Parsed<'_, &[u8]> {
    delimited(tag("\""), take_till(|byte| byte == b'"'), tag("\"")).parse(input)
}

/// `escaped = "\" DQUOTE *( "\" OCTET / %x00-21 / %x23-5B / %x5D-FF ) DQUOTE`: a text that holds a
/// quote, as FTE writes it (fte-team/fteqw, engine/common/common.c, `COM_QuotedString`).
fn escaped(input: &[u8]) -> Parsed<'_, &[u8]> {
    let plain = take_till1(|byte| matches!(byte, b'"' | b'\\'));
    let escape = preceded(tag("\\"), take(1_usize));
    let text = recognize(many0_count(alt((plain, escape))));
    delimited(tag("\\\""), text, tag("\"")).parse(input)
}

/// A production after one space.
fn after_space<'a>(
    production: impl Parser<&'a [u8], Output = &'a [u8], Error = GrammarError>,
) -> impl Parser<&'a [u8], Output = &'a [u8], Error = GrammarError> {
    preceded(tag(" "), production)
}

/// `tail = *( SP / CR / NUL )`, up to the end of the line.
fn tail(input: &[u8]) -> Parsed<'_, &[u8]> {
    terminated(take_while(|byte| matches!(byte, b' ' | b'\r' | 0)), eof).parse(input)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines follow the format strings in `SV_StatusString` of id and of Alien Arena.
    #[test]
    fn lines_of_quake_2() {
        let read = Quake2Line::parse;
        let plain = read(br#"-3 20 "a b""#).unwrap();
        assert_eq!((plain.score, plain.ping), (&b"-3"[..], &b"20"[..]));
        assert_eq!((plain.name, plain.further), (&b"a b"[..], None));
        let line = br#"7 0 "Bot" "127.0.0.1" 1"#;
        let further = read(line).unwrap().further.unwrap();
        assert_eq!(
            (further.address, further.team),
            (&b"127.0.0.1"[..], &b"1"[..])
        );
        for tail in [&b" "[..], b"\r", b"\0"] {
            let with_tail = [&line[..], tail].concat();
            assert_eq!(Quake2Line::parse(&with_tail), read(line), "{tail:?}");
        }
        for cut in 0..line.len() {
            let is_whole_name = matches!(cut, 9 | 10);
            let reads = read(line.get(..cut).unwrap()).is_some();
            assert_eq!(reads, is_whole_name, "cut at {cut}");
        }
    }

    /// Right after an infostring, such a line would be read as the next pair.
    #[test]
    fn a_backslash_before_the_name_makes_it_a_pair() {
        assert!(quake2_line(br#"2 0 "B\ob""#).is_ok());
        assert!(quake2_line(br#"\2 0 "Bob""#).is_err());
        assert!(quake2_line(br#"2 0\1 "Bob""#).is_err());
        assert!(quake2_line(br#"2 "0" "Bob""#).is_err(), "no number");
        let line = br#"7 12 5 26 "A\nn" "base" 13 4"#;
        assert!(QuakeWorldLine::parse(line).is_some());
        let pair = br#"\7 12 5 26 "Ann" "base" 13 4"#;
        assert_eq!(QuakeWorldLine::parse(pair), None);
    }

    /// Of the format strings of MVDSV's `SVC_Status`.
    #[test]
    fn lines_of_quake_world() {
        let line = br#"7 12 5 26 "Ann" "base" 13 4 "red" "de" "h""#;
        let full = QuakeWorldLine::parse(line).unwrap();
        assert_eq!((full.id, full.minutes), (&b"7"[..], &b"5"[..]));
        assert_eq!(
            (full.skin, full.top, full.bottom),
            (&b"base"[..], &b"13"[..], &b"4"[..])
        );
        assert_eq!((full.login, full.kind), (Some(&b"de"[..]), Some(&b"h"[..])));
        let wholes = ["4", "\"red\"", "\"de\"", "\"h\""];
        for cut in 0..line.len() {
            let text = std::str::from_utf8(line.get(..cut).unwrap()).unwrap();
            let text = text.strip_suffix(' ').unwrap_or(text);
            let is_whole = text.contains(" 13 ") && wholes.iter().any(|end| text.ends_with(end));
            assert_eq!(
                QuakeWorldLine::parse(text.as_bytes()).is_some(),
                is_whole,
                "{text}"
            );
        }
    }

    /// Of the format strings in `Sv_StatusString` of Quetoo.
    #[test]
    fn lines_of_quetoo() {
        let line = br"\score\-2\ping\40\name\A n\ai\1";
        let full = QuetooLine::parse(line).unwrap();
        assert_eq!(full.name, b"A n");
        let pairs: Vec<_> = full.pairs.iter().collect();
        assert_eq!(pairs[0], (&b"score"[..], &b"-2"[..]));
        assert_eq!((pairs.len(), pairs[3].1), (4, &b"1"[..]));
        let after_name = line.len() - br"A n\ai\1".len();
        for cut in 0..line.len() {
            // A cut value is a shorter value.
            let is_value = !(after_name + 4..after_name + 7).contains(&cut);
            let reads = QuetooLine::parse(line.get(..cut).unwrap()).is_some();
            assert_eq!(reads, cut >= after_name && is_value, "cut at {cut}");
        }
        assert_eq!(QuetooLine::parse(br"score\5\name\Ann"), None);
    }

    /// Of the format strings of MVDSV's `QTV_Streams_List`.
    #[test]
    fn lines_of_streams_are_no_players() {
        for line in [
            &br#"qtv 1 "Finals" "2@qtv.example.org:28000" 12"#[..],
            br#"qtv 1 "" "" 0"#,
        ] {
            assert!(stream_pair(line).is_some());
            assert_eq!(QuakeWorldLine::parse(line), None);
            let last_word = line.iter().rposition(|&byte| byte == b' ').unwrap() + 1;
            for cut in 0..line.len() {
                let text = line.get(..cut).unwrap();
                assert_eq!(stream_pair(text).is_some(), cut > last_word, "cut at {cut}");
            }
        }
        assert_eq!(stream_pair(br#"7 12 5 26 "Ann" "base" 13 4"#), None);
    }

    #[test]
    fn a_login_that_is_not_there_is_none() {
        let login = |text: &str| {
            let line = format!(r#"7 12 5 26 "Ann" "" 13 4 "red" "{text}" "h""#);
            let line = QuakeWorldLine::parse(line.as_bytes()).unwrap();
            line.login.map(<[u8]>::to_vec)
        };
        assert_eq!(login(""), None);
        assert_eq!(login("de"), Some(b"de".to_vec()));
        assert_eq!(login("none"), Some(b"none".to_vec()));
    }

    #[test]
    fn a_kind_without_a_login_is_a_kind() {
        let (b, h) = (Some(&b"b"[..]), Some(&b"h"[..]));
        for (end, fields) in [(r#""b" "b""#, (b, None, b)), (r#""b" "h" "b""#, (b, h, b))] {
            let line = format!(r#"7 12 5 26 "Ann" "" 13 4 {end}"#);
            let line = QuakeWorldLine::parse(line.as_bytes()).unwrap();
            assert_eq!((line.team, line.login, line.kind), fields);
        }
    }

    #[test]
    fn spectators_have_three_forms() {
        let marked = QuakeWorldLine::parse(br#"7 S 5 26 "Ann" "" 0 0"#).unwrap();
        let negative = QuakeWorldLine::parse(br#"7 -9999 5 -26 "\s\Ann" "" 0 0"#).unwrap();
        assert!(marked.is_spectator() && negative.is_spectator());
        assert_eq!(
            (marked.plain_name(), negative.plain_name()),
            (&b"Ann"[..], &b"Ann"[..])
        );
        let old = QuakeWorldLine::parse(br#"3 -9999 7 -33 "Spec(s)" "" 4 4"#).unwrap();
        assert!(old.is_spectator());
        assert_eq!(old.plain_name(), b"Spec");
        for (line, name) in [
            (&br#"7 1 5 26 "\s\Ann" "" 0 0"#[..], &br"\s\Ann"[..]),
            (br#"7 -9999 5 26 "Ann(s)" "" 0 0"#, b"Ann(s)"),
        ] {
            let player = QuakeWorldLine::parse(line).unwrap();
            assert_eq!((player.is_spectator(), player.plain_name()), (false, name));
        }
    }
}
