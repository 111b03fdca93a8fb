//! Player lines: numbers and a quoted name, in the order each family of games has.

use nom::Parser;
use nom::branch::alt;
use nom::bytes::complete::{tag, take_till};
use nom::combinator::fail;
use nom::sequence::terminated;

use super::infostring::InfoString;
use super::siblings::{Family, Quake2Line, QuakeWorldLine, QuetooLine, stream_pair};
use crate::grammar::Parsed;
use crate::text::{each, number, short_until, take_up_to};

/// A borrowed player line.
///
/// | games | line |
/// |---|---|
/// | Quake 3, Urban Terror, Call of Duty, Jedi Academy… | `score ping "name"` |
/// | Soldier of Fortune II, DarkPlaces team games | `score ping team "name"` |
/// | Warsow | `score ping "name" team` |
/// | Medal of Honor | `ping "name"` |
/// | FTE | `score ping "team" "name"` (fte-team/fteqw, engine/server/sv_main.c) |
/// | Quake 2, Kingpin | `score ping "name"`, in [`Family::Quake2`] |
/// | Alien Arena | `score ping "name" "127.0.0.1" team`, in [`Family::Quake2`] |
/// | QuakeWorld | see [`QuakeWorldLine`], in [`Family::QuakeWorld`] |
/// | Quetoo | `\score\5\ping\40\name\Ann`, of a bot also `\ai\1`, in [`Family::Quetoo`] |
///
/// ```
/// use queryport::quake3::PlayerLine;
///
/// let line = PlayerLine::parse(br#"-9999 34 "^7Stylo o'^1." 2"#).unwrap();
/// assert_eq!(line.name(), br"^7Stylo o'^1.");
/// assert_eq!(
///     (line.score(), line.ping(), line.team()),
///     (Some(-9999), Some(34), Some(2))
/// );
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlayerLine<'a> {
    family: Family,
    line: &'a [u8],
    score: Option<&'a [u8]>,
    ping: Option<&'a [u8]>,
    team: Option<&'a [u8]>,
    name: &'a [u8],
}

impl<'a> PlayerLine<'a> {
    /// Reads one line without its line feed. `None` without a closed quoted name, or with a
    /// backslash before the name.
    #[inline]
    pub fn parse(line: &'a [u8]) -> Option<Self> {
        let (_, quoted) = quoted_parts(line).ok()?;
        Some(Self::of_quake3(line, quoted))
    }

    /// Reads one line of a reply in this form.
    #[inline]
    pub(crate) fn parse_in(family: Family, line: &'a [u8]) -> Option<Self> {
        match family {
            Family::Quake3 => Self::parse(line),
            Family::Quake2 => Some(Self::of_quake2(line, &Quake2Line::parse(line)?)),
            Family::QuakeWorld => Some(Self::of_quake_world(line, &QuakeWorldLine::parse(line)?)),
            Family::Quetoo => Some(Self::of_quetoo(line, &QuetooLine::parse(line)?)),
        }
    }

    /// Whether [`Self::parse_in`] reads the line.
    #[inline]
    pub(crate) fn is_one(family: Family, line: &'a [u8]) -> bool {
        match family {
            Family::Quake3 => quoted_parts(line).is_ok(),
            _ => Self::parse_in(family, line).is_some(),
        }
    }

    /// The numbers before the name are score, ping and team. A single number is a ping: Medal of
    /// Honor sends no score.
    #[inline]
    fn of_quake3(line: &'a [u8], quoted: QuotedParts<'a>) -> Self {
        let mut before_name = each(quoted.before, word);
        let (first, second) = (before_name.next(), before_name.next());
        let third = before_name.next();
        let (score, ping) = match second {
            Some(_) => (first, second),
            None => (None, first),
        };
        let team_before_name = quoted.team.or(third);
        let team_after_name = || each(quoted.after, word).next();
        Self {
            family: Family::Quake3,
            line,
            score,
            ping,
            team: team_before_name.or_else(team_after_name),
            name: quoted.name,
        }
    }

    /// A line of Quake 2 with these fields.
    pub(crate) fn of_quake2(line: &'a [u8], fields: &Quake2Line<'a>) -> Self {
        Self {
            family: Family::Quake2,
            line,
            score: Some(fields.score),
            ping: Some(fields.ping),
            team: fields.further.map(|further| further.team),
            name: fields.name,
        }
    }

    /// A line of QuakeWorld with these fields.
    pub(crate) const fn of_quake_world(line: &'a [u8], fields: &QuakeWorldLine<'a>) -> Self {
        Self {
            family: Family::QuakeWorld,
            line,
            score: Some(fields.frags),
            ping: Some(fields.ping),
            team: fields.team,
            name: fields.name,
        }
    }

    /// A line of Quetoo with these fields.
    pub(crate) fn of_quetoo(line: &'a [u8], fields: &QuetooLine<'a>) -> Self {
        Self {
            family: Family::Quetoo,
            line,
            score: fields.pairs.get("score"),
            ping: fields.pairs.get("ping"),
            team: None,
            name: fields.name,
        }
    }

    /// The pairs of a Quetoo line; `None` in other forms.
    pub fn pairs(self) -> Option<InfoString<'a>> {
        (self.family == Family::Quetoo).then_some(InfoString::new(self.line))
    }

    /// Reads the further fields of a QuakeWorld line; `None` in other forms.
    pub fn quake_world(self) -> Option<QuakeWorldLine<'a>> {
        if self.family != Family::QuakeWorld {
            return None;
        }
        QuakeWorldLine::parse(self.line)
    }

    /// Reads the text that Alien Arena's servers write in place of the player's address; `None` in
    /// other forms.
    pub fn address(self) -> Option<&'a [u8]> {
        if self.family != Family::Quake2 {
            return None;
        }
        Some(Quake2Line::parse(self.line)?.further?.address)
    }

    /// The name, which may be empty and may have spaces at its ends.
    pub const fn name(self) -> &'a [u8] {
        self.name
    }

    /// The score as text: usually a decimal integer, on DarkPlaces also `5.00` or `5,3:human`.
    pub const fn score_text(self) -> Option<&'a [u8]> {
        self.score
    }

    /// The score; the whole part of a fraction, and the first of several. Negative values are
    /// common; −9999 on Warsow and QuakeWorld and −666 on DarkPlaces mean that there is none.
    pub fn score(self) -> Option<i64> {
        let text = self.score?;
        number::whole(text).or_else(|| number::whole(scores(text).ok()?.1))
    }

    /// The ping as text.
    pub const fn ping_text(self) -> Option<&'a [u8]> {
        self.ping
    }

    /// The ping in milliseconds. 0 for bots and for some lines that are not players, 999 while
    /// connecting; −1 on some Call of Duty servers and 9999 on QuakeWorld and FTE if it is unknown.
    pub fn ping(self) -> Option<i32> {
        number::number(self.ping?)
    }

    /// The team as text: the first of two quoted strings, or a third number, before or after the
    /// name.
    pub const fn team_text(self) -> Option<&'a [u8]> {
        self.team
    }

    /// The team, if it is a number. 0 means no team or spectators; the meaning of the others
    /// depends on the game.
    pub fn team(self) -> Option<i32> {
        number::number(self.team?)
    }
}

/// `scores = score *( "," score ) ":" ( "human" / "bot" )`: the first score of several, which come
/// before words (xonotic/xonotic-data.pk3dir, qcsrc/server/scores.qc, `WinningConditionHelper`).
fn scores(text: &[u8]) -> Parsed<'_, &[u8]> {
    let first = take_till(|byte| matches!(byte, b',' | b':'));
    let others = take_till(|byte| byte == b':');
    let kind = alt((tag("human"), tag("bot")));
    terminated(first, (others, tag(":"), kind)).parse(text)
}

/// A player line, split at its quotes.
#[derive(Clone, Copy)]
struct QuotedParts<'a> {
    before: &'a [u8],
    team: Option<&'a [u8]>,
    name: &'a [u8],
    after: &'a [u8],
}

/// `quoted-parts = *( %x00-21 / %x23-5B / %x5D-FF ) names *( %x00-21 / %x23-FF )`. A backslash
/// before the name makes it a pair of the infostring, whose value has the quote.
#[inline(always)]
fn quoted_parts(line: &[u8]) -> Parsed<'_, QuotedParts<'_>> {
    let (text, before) = short_until::<b'"', b'\\'>(line)?;
    let (after, names) = names(text)?;
    let parts = QuotedParts {
        before,
        team: names.team,
        name: names.name,
        after,
    };
    Ok((&[], parts))
}

/// `word = *%x00-20 1*%x21-FF`
#[inline]
fn word(text: &[u8]) -> Parsed<'_, &[u8]> {
    let is_space = |byte: &u8| *byte <= b' ';
    let Some(start) = text.iter().position(|byte| !is_space(byte)) else {
        return fail().parse(text);
    };
    let (text, _) = take_up_to(text, start)?;
    let length = text.iter().position(is_space).unwrap_or(text.len());
    take_up_to(text, length)
}

/// The quoted texts of a line.
struct Names<'a> {
    team: Option<&'a [u8]>,
    name: &'a [u8],
}

/// `names = [ DQUOTE team DQUOTE SP ] DQUOTE name DQUOTE`. By the rules, a name cannot hold a
/// quote.
#[inline(always)]
fn names(input: &[u8]) -> Parsed<'_, Names<'_>> {
    let (opened, ()) = quote(input)?;
    let (closing, name) = short_until::<b'"', b'"'>(opened)?;
    let (rest, ()) = quote(closing)?;
    if rest.contains(&b'"') {
        return names_to_last_quote(opened);
    }
    Ok((rest, Names { team: None, name }))
}

/// The names of a line with more than two quotes, from after the first one. The last quote closes
/// the name. Of two quoted strings with a space between them, the last is the name.
#[inline(always)]
fn names_to_last_quote(opened: &[u8]) -> Parsed<'_, Names<'_>> {
    const BETWEEN: &[u8] = b"\" \"";
    let length = memchr::memrchr(b'"', opened).unwrap_or(opened.len());
    let (closing, quoted) = take_up_to(opened, length)?;
    let (rest, ()) = quote(closing)?;
    let mut windows = quoted.windows(BETWEEN.len());
    let names = match windows.rposition(|bytes| bytes == BETWEEN) {
        Some(team_end) => {
            let name_start = team_end.saturating_add(BETWEEN.len());
            Names {
                team: quoted.get(..team_end),
                name: quoted.get(name_start..).unwrap_or_default(),
            }
        }
        None => Names {
            team: None,
            name: quoted,
        },
    };
    Ok((rest, names))
}

/// `quote = DQUOTE`
#[inline]
fn quote(input: &[u8]) -> Parsed<'_, ()> {
    match input {
        [b'"', rest @ ..] => Ok((rest, ())),
        _ => fail().parse(input),
    }
}

/// `line = *( %x00-09 / %x0B-FF ) [ LF ]`; not at the end of the text.
#[inline]
pub(super) fn line(text: &[u8]) -> Parsed<'_, &[u8]> {
    if text.is_empty() {
        return fail().parse(text);
    }
    let (rest, line) = short_until::<b'\n', b'\n'>(text)?;
    Ok((rest.get(1..).unwrap_or_default(), line))
}

/// Whether a line that is not a player's can be in an undamaged reply: a stream of QTV, or a line
/// without text.
pub(crate) fn is_other_line(family: Family, line: &[u8]) -> bool {
    is_blank(line) || (family == Family::QuakeWorld && stream_pair(line).is_some())
}

/// Whether a line holds only what tools and servers leave there: CR, NUL, a lone quote, a space.
pub(crate) fn is_blank(line: &[u8]) -> bool {
    let is_left = |byte: &u8| matches!(byte, b'\r' | 0 | b'"' | b' ');
    line.iter().all(is_left)
}

#[cfg(test)]
mod tests {
    use super::*;

    type Fields<'a> = (Option<i64>, Option<i32>, &'a [u8], Option<i32>);

    fn fields(line: &[u8]) -> Fields<'_> {
        let line = PlayerLine::parse(line).unwrap();
        (line.score(), line.ping(), line.name(), line.team())
    }

    #[test]
    fn every_form_of_the_line() {
        assert_eq!(
            fields(br#"12 50 "You""#),
            (Some(12), Some(50), &b"You"[..], None)
        );
        assert_eq!(
            fields(br#"38 128 1 "Fic Tion""#),
            (Some(38), Some(128), &b"Fic Tion"[..], Some(1))
        );
        assert_eq!(
            fields(br#"-9999 34 "a" 2"#),
            (Some(-9999), Some(34), &b"a"[..], Some(2))
        );
        assert_eq!(
            fields(br#"34 "Allied""#),
            (None, Some(34), &b"Allied"[..], None)
        );
        assert_eq!(
            fields(br#"3 20 "red" "FTE player""#),
            (Some(3), Some(20), &b"FTE player"[..], None)
        );
        assert_eq!(
            fields(br#"3 20 "2" "a""#),
            (Some(3), Some(20), &b"a"[..], Some(2))
        );
        assert_eq!(
            fields(br#"3 20 "" """#),
            (Some(3), Some(20), &b""[..], None)
        );
        assert_eq!(
            fields(br#"5.00 20 "x""#),
            (Some(5), Some(20), &b"x"[..], None)
        );
        assert_eq!(
            fields(br#"5.5,3:human 20 1 "x""#),
            (Some(5), Some(20), &b"x"[..], Some(1))
        );
        assert_eq!(
            fields(br#"5:bot 20 1 "x""#),
            (Some(5), Some(20), &b"x"[..], Some(1))
        );
        assert_eq!(fields(br#"1:30 20 "x""#), (None, Some(20), &b"x"[..], None));
        assert_eq!(fields(br#"free -1 """#), (None, Some(-1), &b""[..], None));
        assert_eq!(
            fields(br#""only a name""#),
            (None, None, &b"only a name"[..], None)
        );
    }

    /// Right after an infostring, such a line would be read as the next pair.
    #[test]
    fn a_backslash_before_the_name_makes_it_a_pair() {
        assert_eq!(PlayerLine::parse(br#"\motd\4 "Allied""#), None);
        assert!(PlayerLine::parse(br#"4 "a\b""#).is_some());
    }

    #[test]
    fn a_quoted_team_is_kept() {
        for (text, team) in [
            (&br#"3 20 "the reds" "a b""#[..], &b"the reds"[..]),
            (br#"3 20 "" "x""#, b""),
            (br#"3 20 4 "the reds" "x""#, b"the reds"),
        ] {
            let line = PlayerLine::parse(text).unwrap();
            assert_eq!(
                (line.team_text(), line.score_text(), line.ping_text()),
                (Some(team), Some(&b"3"[..]), Some(&b"20"[..]))
            );
        }
    }

    #[test]
    fn a_quote_inside_a_name_does_not_cut_it() {
        assert_eq!(fields(br#"1 2 "a"b""#).2, br#"a"b"#);
        assert_eq!(fields(br#"1 2 "red" "a" "b""#).2, b"b");
        assert_eq!(fields(b"1 2 \"a\"\r").2, b"a");
        assert_eq!(PlayerLine::parse(br#"1 2 "open"#), None);
        assert_eq!(PlayerLine::parse(b"1 2"), None);
    }

    #[test]
    fn a_line_of_quake_3_has_no_fields_of_its_siblings() {
        let read = |line: &'static [u8]| PlayerLine::parse(line).unwrap();
        assert_eq!(read(br#"12 50 "\name\x""#).pairs(), None);
        assert_eq!(read(br#"1 2 3 4 "a" "" 0 0"#).quake_world(), None);
        assert_eq!(read(br#"1 2 "a" "b" 3"#).address(), None);
    }
}
