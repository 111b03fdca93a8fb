//! Player lines: numbers and a quoted name, in the order each family of games has.

use bytes::BufMut;

use crate::text::find::Marks;
use crate::text::number;

/// A borrowed player line.
///
/// | games | line |
/// |---|---|
/// | Quake 3, Urban Terror, Call of Duty, Jedi Academy… | `score ping "name"` |
/// | Soldier of Fortune II, DarkPlaces team games | `score ping team "name"` |
/// | Warsow | `score ping "name" team` |
/// | Medal of Honor | `ping "name"` |
/// | FTE | `score ping "team" "name"` (fte-team/fteqw, engine/server/sv_main.c) |
///
/// ```
/// use queryport::quake3::PlayerLine;
///
/// let line = PlayerLine::parse(br#"-9999 34 "^7Stylo o'^1." 2"#).unwrap();
/// assert_eq!(line.name(), br"^7Stylo o'^1.");
/// assert_eq!((line.score(), line.ping(), line.team()), (Some(-9999), Some(34), Some(2)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlayerLine<'a> {
    before: &'a [u8],
    name: &'a [u8],
    after: &'a [u8],
}

impl<'a> PlayerLine<'a> {
    /// Reads one line without its line feed; `None` when no quoted name closes on it, or a backslash stands before
    /// the name.
    #[must_use]
    pub fn parse(line: &'a [u8]) -> Option<Self> {
        let open = memchr::memchr(b'"', line)?;
        let (before, quoted) = line.split_at_checked(open)?;
        // A pair of the infostring, whose value has the quote.
        if memchr::memchr(b'\\', before).is_some() {
            return None;
        }
        let quoted = quoted.strip_prefix(b"\"")?;
        let last = memchr::memrchr(b'"', quoted)?;
        let (name, after) = quoted.split_at_checked(last)?;
        let after = after.strip_prefix(b"\"")?;
        // A name cannot hold a quote by the rules; where one does, the last quote is the closing one. Of two quoted strings,
        // with a blank between them, the last is the name.
        if memchr::memchr(b'"', name).is_some()
            && let Some(close) = name.windows(3).rposition(|window| window == b"\" \"")
        {
            let start = open.saturating_add(close).saturating_add(3);
            let (before, name) = (line.get(..start)?, name.get(close.saturating_add(3)..)?);
            return Some(Self { before, name, after });
        }
        Some(Self { before, name, after })
    }

    /// The name, which may be empty and may have blanks at its ends.
    #[must_use]
    pub const fn name(self) -> &'a [u8] {
        self.name
    }

    /// The score as text: usually a decimal integer, `5.00` and the like on DarkPlaces.
    #[must_use]
    pub fn score_text(self) -> Option<&'a [u8]> {
        let mut numbers = words(self.numbers());
        numbers.next().filter(|_| numbers.next().is_some())
    }

    /// The score; the whole part of a fraction. Negative values are common, −9999 and −666 mark spectators.
    #[must_use]
    pub fn score(self) -> Option<i64> {
        if let Some((score, [b'!'..=0xFF, ..])) = plain_number(self.before) {
            return Some(score);
        }
        let text = self.score_text()?;
        number::integer(text).or_else(|| {
            let point = text.iter().position(|&byte| byte == b'.')?;
            let (whole, fraction) = text.split_at_checked(point)?;
            fraction.iter().skip(1).all(u8::is_ascii_digit).then(|| number::integer(whole))?
        })
    }

    /// The ping as text.
    #[must_use]
    pub fn ping_text(self) -> Option<&'a [u8]> {
        // A single number is a ping: Medal of Honor sends no score.
        let mut numbers = words(self.numbers());
        numbers.next().map(|first| numbers.next().unwrap_or(first))
    }

    /// The ping in milliseconds; 0 for bots and some listed lines that are no players, 999 while connecting, −1 on some
    /// Call of Duty servers.
    #[must_use]
    pub fn ping(self) -> Option<i32> {
        number::number(self.ping_text()?)
    }

    /// The team as text: the first of two quoted strings, or a third number, before or after the name.
    #[must_use]
    pub fn team_text(self) -> Option<&'a [u8]> {
        let number = || words(self.before).nth(2).or_else(|| words(self.after).next());
        self.quoted_team().or_else(number)
    }

    /// What stands before the quoted strings.
    fn numbers(self) -> &'a [u8] {
        self.before.get(..memchr::memchr(b'"', self.before).unwrap_or(self.before.len())).unwrap_or_default()
    }

    /// The first of two quoted strings.
    fn quoted_team(self) -> Option<&'a [u8]> {
        let (_, team) = self.before.split_at_checked(memchr::memchr(b'"', self.before)?.saturating_add(1))?;
        team.strip_suffix(b"\" ")
    }

    /// The team's number, where it is one: 0 is none or spectators; which other numbers play is the game's own.
    #[must_use]
    pub fn team(self) -> Option<i32> {
        number::number(self.team_text()?)
    }

    /// Score and ping of a line as nearly all are: two whole numbers, a blank after each, nothing behind the name.
    pub(crate) fn usual_numbers(self) -> Option<(i64, i32)> {
        let (score, rest) = plain_number(self.before)?;
        match plain_number(rest)? {
            (ping, []) if self.after.is_empty() => Some((score, i32::try_from(ping).ok()?)),
            _ => None,
        }
    }

    /// Appends the line without its line feed, as it was read.
    pub(super) fn put(self, out: &mut impl BufMut) {
        for part in [self.before, b"\"", self.name, b"\"", self.after] {
            out.put_slice(part);
        }
    }
}

/// A number of up to nine digits and the one blank that ends it, as engines write them; and what follows.
#[inline(always)]
fn plain_number(text: &[u8]) -> Option<(i64, &[u8])> {
    let (is_negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    let mut value = 0_u32;
    for (count, &byte) in digits.iter().take(10).enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            let rest = digits.get(count.wrapping_add(1)..).filter(|_| byte == b' ' && count > 0)?;
            let value = i64::from(value);
            return Some((if is_negative { value.wrapping_neg() } else { value }, rest));
        }
        value = value.wrapping_mul(10).wrapping_add(u32::from(digit));
    }
    None
}

/// The words of a text, which blanks and control bytes separate.
fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|&byte| byte <= b' ').filter(|word| !word.is_empty())
}

/// A field of the player lines that a server writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Field {
    Score,
    Ping,
    Team,
    Name,
}

/// Appends a player line of these fields, with its line feed. The name holds no quote and no line feed.
pub(crate) fn put_line(fields: &[Field], numbers: (i64, i32, i32), name: &[u8], out: &mut Vec<u8>) {
    let (score, ping, team) = numbers;
    for field in fields {
        match field {
            Field::Score => number::put(score, out),
            Field::Ping => number::put(ping.into(), out),
            Field::Team => number::put(team.into(), out),
            Field::Name => {
                out.put_u8(b'"');
                out.put_slice(name);
                out.put_u8(b'"');
            }
        }
        out.put_u8(b' ');
    }
    // The blank after the last field.
    out.pop();
    out.put_u8(b'\n');
}

/// The player lines of a status. Lines on which no quoted name closes are skipped.
#[derive(Debug, Clone)]
pub(crate) struct PlayerLines<'a> {
    text: &'a [u8],
    /// Where the next line begins.
    start: usize,
    /// Quotes and line feeds from there on.
    marks: Marks<'a, b'"', b'\n'>,
    /// Where the first backslash stands: lines before it need not be searched for one.
    backslash: usize,
    /// Whether a line that is not blank was skipped.
    skipped: bool,
}

impl<'a> PlayerLines<'a> {
    pub(crate) fn new(text: &'a [u8]) -> Self {
        let backslash = memchr::memchr(b'\\', text).unwrap_or(text.len());
        Self { text, start: 0, marks: Marks::new(text), backslash, skipped: false }
    }

    /// The next line as nearly all are: two quotes, a line feed behind the second one. `None` for every other line, some of
    /// whose marks are consumed then.
    #[inline]
    fn usual(&mut self) -> Option<PlayerLine<'a>> {
        let (open, close, end) = (self.marks.next()?, self.marks.next()?, self.marks.next()?);
        if self.text.get(close..=end) != Some(b"\"\n") || open >= self.backslash {
            return None;
        }
        let line = self.text.get(self.start..close)?;
        let (before, name) = line.split_at_checked(open.wrapping_sub(self.start))?;
        let name = name.strip_prefix(b"\"")?;
        self.start = end.wrapping_add(1);
        Some(PlayerLine { before, name, after: &[] })
    }

    /// The next line, without its line feed, whatever stands on it.
    fn line(&mut self) -> Option<&'a [u8]> {
        let rest = self.text.get(self.start..).filter(|rest| !rest.is_empty())?;
        let line = memchr::memchr(b'\n', rest).and_then(|end| rest.get(..end)).unwrap_or(rest);
        self.go_on(self.start.saturating_add(line.len()).saturating_add(1));
        Some(line)
    }

    /// The next line begins here.
    fn go_on(&mut self, start: usize) {
        self.start = start;
        self.marks = Marks::starting_at(start, self.text);
    }

    /// How many player lines a text has, and whether it has a line that is neither that nor blank. A usual line takes a third of
    /// what it takes to read it.
    pub(crate) fn tally(text: &'a [u8]) -> (usize, bool) {
        let mut lines = Self::new(text);
        let (mut marks, mut usual, mut start) = (lines.marks.clone(), 0_usize, 0_usize);
        while let Some(open) = marks.next()
            && let (Some(close), Some(end)) = (marks.next(), marks.next())
            && let Some(b"\"\n") = text.get(close..=end)
            && text.get(open) == Some(&b'"')
            && open < lines.backslash
        {
            (usual, start) = (usual.saturating_add(1), end.saturating_add(1));
        }
        lines.go_on(start);
        (usual.saturating_add(lines.by_ref().count()), lines.skipped)
    }

    /// Whether a line that is not blank was no player line, among those that were read.
    pub(crate) const fn has_skipped(&self) -> bool {
        self.skipped
    }
}

/// Whether a line holds only what tools and servers leave at the end: CR, NUL, a lone quote.
pub(super) fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|byte| matches!(byte, b'\r' | 0 | b'"' | b' '))
}

impl<'a> Iterator for PlayerLines<'a> {
    type Item = PlayerLine<'a>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if let Some(line) = self.usual() {
            return Some(line);
        }
        while let Some(text) = self.line() {
            if let Some(line) = PlayerLine::parse(text) {
                return Some(line);
            }
            self.skipped |= !is_blank(text);
        }
        None
    }
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
        assert_eq!(fields(br#"12 50 "You""#), (Some(12), Some(50), &b"You"[..], None));
        assert_eq!(fields(br#"38 128 1 "Fic Tion""#), (Some(38), Some(128), &b"Fic Tion"[..], Some(1)));
        assert_eq!(fields(br#"-9999 34 "a" 2"#), (Some(-9999), Some(34), &b"a"[..], Some(2)));
        assert_eq!(fields(br#"34 "Allied""#), (None, Some(34), &b"Allied"[..], None));
        assert_eq!(fields(br#"3 20 "red" "FTE player""#), (Some(3), Some(20), &b"FTE player"[..], None));
        assert_eq!(fields(br#"3 20 "2" "a""#), (Some(3), Some(20), &b"a"[..], Some(2)));
        assert_eq!(fields(br#"3 20 "" """#), (Some(3), Some(20), &b""[..], None));
        assert_eq!(fields(br#"5.00 20 "x""#), (Some(5), Some(20), &b"x"[..], None));
        assert_eq!(fields(br#"free -1 """#), (None, Some(-1), &b""[..], None));
        assert_eq!(fields(br#""only a name""#), (None, None, &b"only a name"[..], None));
    }

    /// Written right behind an infostring, it would be read as its next pair.
    #[test]
    fn a_backslash_before_the_name_makes_it_a_pair() {
        assert_eq!(PlayerLine::parse(br#"\motd\4 "Allied""#), None);
        assert!(PlayerLine::parse(br#"4 "a\b""#).is_some());
    }

    #[test]
    fn a_quoted_team_is_kept_and_written_again() {
        for (text, team) in [(&br#"3 20 "the reds" "a b""#[..], &b"the reds"[..]), (br#"3 20 "" "x""#, b"")] {
            let line = PlayerLine::parse(text).unwrap();
            assert_eq!(
                (line.team_text(), line.score_text(), line.ping_text()),
                (Some(team), Some(&b"3"[..]), Some(&b"20"[..]))
            );
            let mut written = Vec::new();
            line.put(&mut written);
            assert_eq!(written, text);
        }
    }

    #[test]
    fn a_quote_inside_a_name_does_not_cut_it() {
        assert_eq!(fields(br#"1 2 "a"b""#).2, br#"a"b"#);
        assert_eq!(fields(b"1 2 \"a\"\r").2, b"a");
        assert_eq!(PlayerLine::parse(br#"1 2 "open"#), None);
        assert_eq!(PlayerLine::parse(b"1 2"), None);
    }

    #[test]
    fn odd_lines_are_skipped_and_noticed() {
        let mut lines = PlayerLines::new(b"1 2 \"a\"\n\n3 4\n5 6 \"b\"\n");
        assert_eq!(lines.by_ref().map(PlayerLine::name).collect::<Vec<_>>(), [b"a", b"b"]);
        assert!(lines.has_skipped());
        for tail in [&b""[..], b"\n", b"\r\n", b"\0", b"\""] {
            let text = [b"1 2 \"a\"\n", tail].concat();
            let mut lines = PlayerLines::new(&text);
            assert_eq!((lines.by_ref().count(), lines.has_skipped()), (1, false));
        }
    }
}
