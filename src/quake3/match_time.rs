//! The time of a match in words, as Warsow's servers write it.

use std::time::Duration;

use nom::Parser;
use nom::branch::alt;
use nom::bytes::complete::{tag, take_while1};
use nom::combinator::{eof, map_opt, opt};
use nom::sequence::{preceded, separated_pair, terminated};

use crate::grammar::Parsed;
use crate::text::number;

/// The time that has passed in a match, and its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MatchTime {
    passed: Duration,
    /// Zero means no limit.
    pub(super) limit: Duration,
    /// Whether the match goes on after its limit, for an unknown time.
    is_extended: bool,
}

impl MatchTime {
    /// Reads a time; `None` for a word, such as `Warmup`, `Countdown` or `Finished`.
    pub(super) fn parse(text: &[u8]) -> Option<Self> {
        match_time(text).ok().map(|(_, time)| time)
    }

    /// The time until the match ends, if that is known.
    pub(super) fn left(self) -> Option<Duration> {
        let has_end = !self.limit.is_zero() && !self.is_extended;
        let left = self.limit.saturating_sub(self.passed);
        has_end.then_some(left)
    }
}

/// `match-time = clock [ " / " clock ] [ " overtime" / " suddendeath" ] [ " (in timeout)" ]`: the
/// time that has passed, and the limit if there is one (Warsow/qfusion,
/// source/server/game/g_frame.cpp, `G_UpdateServerInfo`).
fn match_time(text: &[u8]) -> Parsed<'_, MatchTime> {
    let limit = opt(preceded(tag(" / "), clock));
    let extension = opt(alt((tag(" overtime"), tag(" suddendeath"))));
    let pause = opt(tag(" (in timeout)"));
    terminated((clock, limit, extension, pause), eof)
        .map(|(passed, limit, extension, _)| MatchTime {
            passed,
            limit: limit.unwrap_or_default(),
            is_extended: extension.is_some(),
        })
        .parse(text)
}

/// `clock = 1*DIGIT ":" 1*DIGIT`: minutes and seconds.
fn clock(text: &[u8]) -> Parsed<'_, Duration> {
    let digits = || take_while1(|byte: u8| byte.is_ascii_digit());
    let parts = separated_pair(digits(), tag(":"), digits());
    map_opt(parts, |(minutes, seconds)| {
        let minutes: u32 = number::number(minutes)?;
        let seconds: u32 = number::number(seconds)?;
        let whole = u64::from(minutes).checked_mul(60)?;
        Some(Duration::from_secs(whole.checked_add(seconds.into())?))
    })
    .parse(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The format strings of `G_UpdateServerInfo`.
    #[test]
    fn a_time_has_a_limit_or_none() {
        let read = |text: &str| {
            let time = MatchTime::parse(text.as_bytes())?;
            Some((time.limit.as_secs(), time.left().map(|left| left.as_secs())))
        };
        assert_eq!(read("12:34 / 20:00"), Some((1200, Some(446))));
        assert_eq!(read("00:00 / 100:00"), Some((6000, Some(6000))));
        assert_eq!(read("12:34 / 20:00 (in timeout)"), Some((1200, Some(446))));
        assert_eq!(read("20:00 / 20:00 overtime"), Some((1200, None)));
        assert_eq!(
            read("21:02 / 20:00 overtime (in timeout)"),
            Some((1200, None))
        );
        assert_eq!(read("17:13"), Some((0, None)));
        assert_eq!(read("17:13 suddendeath"), Some((0, None)));
        for words in [
            "Warmup",
            "Countdown",
            "Finished",
            "",
            "12",
            "12:",
            "12:34 / ",
        ] {
            assert_eq!(read(words), None, "{words}");
        }
    }

    #[test]
    fn a_cut_time_is_none_or_a_shorter_one() {
        let whole = b"12:34 / 20:00 overtime";
        for cut in 0..whole.len() {
            let text = whole.get(..cut).unwrap();
            let is_whole = matches!(cut, 4 | 5 | 12 | 13);
            assert_eq!(MatchTime::parse(text).is_some(), is_whole, "cut at {cut}");
        }
    }
}
