//! Player lines: numbers and a quoted name, in the order each family of games has.

use nom::character::complete::char;
use nom::combinator::fail;
use nom::sequence::delimited;
use nom::{IResult, Parser};

use super::siblings::{Form, Quake2Line, QuakeWorldLine, quake2_line};
use crate::text::{number, short_until, split};

/// A borrowed player line.
///
/// | games | line |
/// |---|---|
/// | Quake 3, Urban Terror, Call of Duty, Jedi Academy… | `score ping "name"` |
/// | Soldier of Fortune II, DarkPlaces team games | `score ping team "name"` |
/// | Warsow | `score ping "name" team` |
/// | Medal of Honor | `ping "name"` |
/// | FTE | `score ping "team" "name"` (fte-team/fteqw, engine/server/sv_main.c) |
/// | Quake 2, Kingpin | `score ping "name"`, in [`Form::Quake2`] |
/// | Alien Arena | `score ping "name" "127.0.0.1" team`, in [`Form::Quake2`] |
/// | QuakeWorld | see [`QuakeWorldLine`], in [`Form::QuakeWorld`] |
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
    form: Form,
    /// The text before the first quote; in forms other than Quake 3's, the whole line.
    before: &'a [u8],
    quoted_team: Option<&'a [u8]>,
    name: &'a [u8],
    /// The text after the last quote.
    behind: &'a [u8],
}

impl<'a> PlayerLine<'a> {
    /// Reads one line without its line feed. `None` without a closed quoted name, or with a
    /// backslash before the name.
    #[inline]
    pub fn parse(line: &'a [u8]) -> Option<Self> {
        player_line(line).ok().map(|(_, line)| line)
    }

    /// Reads one line of a reply in this form.
    ///
    /// ```
    /// use queryport::quake3::{Form, PlayerLine};
    ///
    /// let line = br#"7 0 "Ann" "127.0.0.1" 2"#;
    /// let line = PlayerLine::parse_in(Form::Quake2, line).unwrap();
    /// assert_eq!((line.name(), line.team()), (&b"Ann"[..], Some(2)));
    /// assert_eq!(line.address(), Some(&b"127.0.0.1"[..]));
    /// ```
    #[inline]
    pub fn parse_in(form: Form, line: &'a [u8]) -> Option<Self> {
        let name = match form {
            Form::Quake3 => return Self::parse(line),
            Form::Quake2 => quake2_line(line).ok()?.1.name,
            Form::QuakeWorld => QuakeWorldLine::parse(line)?.name,
        };
        Some(Self {
            form,
            before: line,
            quoted_team: None,
            name,
            behind: b"",
        })
    }

    /// The fields of a QuakeWorld line; `None` in other forms.
    pub fn quake_world(self) -> Option<QuakeWorldLine<'a>> {
        if self.form != Form::QuakeWorld {
            return None;
        }
        QuakeWorldLine::parse(self.before)
    }

    /// The text that Alien Arena's servers write in place of the player's address; `None` in other
    /// forms.
    pub fn address(self) -> Option<&'a [u8]> {
        Some(self.quake2()?.further?.address)
    }

    fn quake2(self) -> Option<Quake2Line<'a>> {
        if self.form != Form::Quake2 {
            return None;
        }
        quake2_line(self.before).ok().map(|(_, line)| line)
    }

    /// The name, which may be empty and may have spaces at its ends.
    pub const fn name(self) -> &'a [u8] {
        self.name
    }

    /// The score as text: usually a decimal integer, `5.00` and the like on DarkPlaces.
    pub fn score_text(self) -> Option<&'a [u8]> {
        self.fields().0
    }

    /// The score; the whole part of a fraction. Negative values are common, −9999 and −666 mark
    /// spectators.
    pub fn score(self) -> Option<i64> {
        number::whole(self.score_text()?)
    }

    /// The ping as text.
    pub fn ping_text(self) -> Option<&'a [u8]> {
        self.fields().1
    }

    /// The ping in milliseconds. 0 for bots and for some lines that are not players, 999 while
    /// connecting, −1 on some Call of Duty servers.
    pub fn ping(self) -> Option<i32> {
        number::number(self.ping_text()?)
    }

    /// The team as text: the first of two quoted strings, or a third number, before or after the
    /// name.
    pub fn team_text(self) -> Option<&'a [u8]> {
        self.fields().2
    }

    /// The team, if it is a number. 0 means no team or spectators; the meaning of the others
    /// depends on the game.
    pub fn team(self) -> Option<i32> {
        number::number(self.team_text()?)
    }

    /// Score, ping and team.
    #[inline]
    pub(crate) fn fields(self) -> Fields<'a> {
        if self.form == Form::Quake3 {
            return self.quake3_fields();
        }
        if let Some(line) = self.quake2() {
            let team = line.further.map(|further| further.team);
            return (Some(line.score), Some(line.ping), team);
        }
        self.quake_world()
            .map(|line| (Some(line.frags), Some(line.ping), line.team))
            .unwrap_or_default()
    }

    /// Score, ping and team. A single number is a ping: Medal of Honor sends no score.
    #[inline]
    fn quake3_fields(self) -> Fields<'a> {
        let words = |text: &'a [u8]| {
            text.split(|&byte| byte <= b' ')
                .filter(|word| !word.is_empty())
        };
        let mut before = words(self.before);
        let (first, second, third) = (before.next(), before.next(), before.next());
        let (score, ping) = if second.is_some() {
            (first, second)
        } else {
            (None, first)
        };
        (
            score,
            ping,
            self.quoted_team
                .or(third)
                .or_else(|| words(self.behind).next()),
        )
    }
}

/// Score, ping and team as text.
type Fields<'a> = (Option<&'a [u8]>, Option<&'a [u8]>, Option<&'a [u8]>);

/// `player-line = *( %x00-21 / %x23-5B / %x5D-FF ) names *( %x00-21 / %x23-FF )`. A backslash
/// before the name makes it a pair of the infostring, whose value has the quote.
#[inline]
fn player_line(line: &[u8]) -> IResult<&[u8], PlayerLine<'_>> {
    let (rest, (before, (quoted_team, name))) = (short_until::<b'"', b'\\'>, names).parse(line)?;
    Ok((
        &[],
        PlayerLine {
            form: Form::Quake3,
            before,
            quoted_team,
            name,
            behind: rest,
        },
    ))
}

/// A quoted team, and the name.
type Names<'a> = (Option<&'a [u8]>, &'a [u8]);

/// `names = [ DQUOTE team DQUOTE SP ] DQUOTE name DQUOTE`. A name cannot hold a quote by the rules;
/// where one does, the last quote is the closing one. Of two quoted strings with a space between
/// them, the last is the name.
#[inline]
fn names(input: &[u8]) -> IResult<&[u8], Names<'_>> {
    let (rest, name) = delimited(char('"'), short_until::<b'"', b'"'>, char('"')).parse(input)?;
    if !rest.contains(&b'"') {
        return Ok((rest, (None, name)));
    }
    let until_last_quote = |text| {
        Ok(split(
            text,
            memchr::memrchr(b'"', text).unwrap_or(text.len()),
        ))
    };
    let (rest, quoted) = delimited(char('"'), until_last_quote, char('"')).parse(input)?;
    let between = quoted.windows(3).rposition(|bytes| bytes == b"\" \"");
    let two = between.and_then(|at| Some((quoted.get(..at), quoted.get(at.saturating_add(3)..)?)));
    Ok((rest, two.unwrap_or((None, quoted))))
}

/// `line = *( %x00-09 / %x0B-FF ) [ LF ]`; not at the end of the text.
#[inline]
pub(super) fn line(text: &[u8]) -> IResult<&[u8], &[u8]> {
    if text.is_empty() {
        return fail().parse(text);
    }
    let (rest, line) = short_until::<b'\n', b'\n'>(text)?;
    Ok((rest.get(1..).unwrap_or_default(), line))
}

/// Whether a line holds only what tools and servers leave at the end: CR, NUL, a lone quote.
pub(crate) fn is_blank(line: &[u8]) -> bool {
    line.iter()
        .all(|byte| matches!(byte, b'\r' | 0 | b'"' | b' '))
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
    fn every_dialect_of_the_line() {
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
        assert_eq!(fields(br#"free -1 """#), (None, Some(-1), &b""[..], None));
        assert_eq!(
            fields(br#""only a name""#),
            (None, None, &b"only a name"[..], None)
        );
    }

    /// Written right after an infostring, it would be read as its next pair.
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
        assert_eq!(fields(b"1 2 \"a\"\r").2, b"a");
        assert_eq!(PlayerLine::parse(br#"1 2 "open"#), None);
        assert_eq!(PlayerLine::parse(b"1 2"), None);
    }
}
