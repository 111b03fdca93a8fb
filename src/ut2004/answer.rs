//! What was accepted: the datagrams, and the views of them.

use bytes::Bytes;

use super::info::{HEADER, Info};
use super::lists::{PlayerList, PlayerRecord, RuleList};
use super::progress::Progress;
use super::reading::{Kind, Part, Reading};
use super::response::{Body, Response, UT2004_VERSION};
use super::strings::FString;
use crate::error::{ParseError, ParseErrorKind};
use crate::limits::Limits;
use crate::model::{Completeness, Missing, ServerStatus, ToStatus};

/// The replies of one query: it owns the datagrams, the views borrow from it.
///
/// ```
/// use bytes::Bytes;
/// use queryport::Limits;
/// use queryport::ut2004::Answer;
///
/// let packet = b"\x80\0\0\0\x02\x05\0\0\0\x04abc\0\x1c\0\0\0\xfd\xff\xff\xff\0\0\0\x20";
/// let answer = Answer::from_datagrams([Bytes::from_static(packet)], &Limits::default())?;
/// let player = answer.players().next().unwrap();
/// assert_eq!((player.player_num, player.score, player.team()), (5, -3, Some(0)));
/// assert!(!answer.completeness().is_complete(), "no info, no rules");
/// # Ok::<(), queryport::ParseError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Answer {
    info: Option<Bytes>,
    rules: Datagrams,
    players: Datagrams,
    completeness: Completeness,
    limits: Limits,
}

/// The datagrams of a list in one buffer, in the order of the list as far as it is known.
#[derive(Debug, Clone, Default)]
pub(super) struct Datagrams {
    bytes: Bytes,
    parts: Vec<Part>,
}

impl Datagrams {
    fn new(reading: Reading) -> Self {
        let (bytes, parts) = reading.into_order();
        Self { bytes: bytes.into(), parts }
    }

    fn slices(&self) -> impl Iterator<Item = (&[u8], usize)> {
        let slice = |part: &Part| self.bytes.get(part.start..part.end).unwrap_or_default();
        self.parts.iter().map(move |part| (slice(part), part.entries))
    }

    /// What the entries of all datagrams are slices of.
    pub(super) const fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// Entries of all datagrams.
    pub(super) fn entries(&self) -> usize {
        self.parts.iter().map(|part| part.entries).fold(0, usize::saturating_add)
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }
}

impl Answer {
    pub(super) fn new(
        info: Option<Bytes>,
        (rules, players): (Progress, Progress),
        missing: Missing,
        limits: Limits,
    ) -> Self {
        let cut = info.as_deref().is_some_and(|info| is_cut(info, &limits));
        let missing = Missing { info: missing.info || cut, ..missing };
        Self {
            info,
            rules: Datagrams::new(rules.into_reading()),
            players: Datagrams::new(players.into_reading()),
            completeness: missing.completeness(),
            limits,
        }
    }

    /// Takes captured datagrams, in order of arrival, for an answer without a question. What is no reply is passed
    /// over; the first info record counts.
    ///
    /// It is complete only where one reading can prove it: rules in one short datagram that begins as the stock
    /// game's do, and exactly as many players as the info record counts. Of longer lists a datagram may have been
    /// lost without a trace; [`Missing::end`] says so.
    ///
    /// # Errors
    /// Why the last datagram is no reply, when none is.
    pub fn from_datagrams(
        datagrams: impl IntoIterator<Item = Bytes>,
        limits: &Limits,
    ) -> Result<Self, ParseError> {
        let mut error = ParseError::new(ParseErrorKind::CutShort("the answer: no datagram"), 0);
        let mut info = None;
        let (mut rules, mut players) = (Progress::new(Kind::Rules), Progress::new(Kind::Players));
        let mut count = None;
        let mut any = false;
        for datagram in datagrams {
            let heard = Response::parse_lenient(&datagram, limits).and_then(|response| {
                match response.body {
                    Body::Info(record) if info.is_none() => {
                        count = usize::try_from(record.current_players).ok();
                        info = Some(datagram.clone());
                    }
                    Body::Rules(_) => rules.add(&datagram, &response, limits)?,
                    Body::Players(_) => players.add(&datagram, &response, limits)?,
                    Body::Info(_) | Body::SmallPing(_) => {}
                }
                Ok(())
            });
            match heard {
                Ok(()) => any = true,
                Err(because) => error = because,
            }
        }
        if !any {
            return Err(error);
        }
        for list in [&mut rules, &mut players] {
            list.close(count, u8::MAX);
        }
        let missing = missing(info.is_some(), count, &rules, &players);
        Ok(Self::new(info, (rules, players), missing, *limits))
    }

    /// The info record.
    #[must_use]
    pub fn info(&self) -> Option<Info<'_>> {
        match Response::parse_lenient(self.info.as_deref()?, &self.limits).ok()?.body {
            Body::Info(info) => Some(info),
            _ => None,
        }
    }

    /// The rules of all datagrams. Their order across datagrams is that of arrival, but for the two that show
    /// their place: the one with `ServerMode` is first, the short one last.
    pub fn rules(&self) -> impl Iterator<Item = (FString<'_>, FString<'_>)> {
        self.rules.slices().flat_map(|(datagram, entries)| {
            RuleList::counted(datagram.get(HEADER..).unwrap_or_default(), entries)
        })
    }

    /// The players of all datagrams, pseudo players and spectators included; the short datagram is last.
    pub fn players(&self) -> impl Iterator<Item = PlayerRecord<'_>> {
        self.players.slices().flat_map(|(datagram, entries)| {
            PlayerList::counted(datagram.get(HEADER..).unwrap_or_default(), entries)
        })
    }

    /// The accepted datagrams as they came: info, rules, players.
    pub fn datagrams(&self) -> impl Iterator<Item = &[u8]> {
        let lists = self.rules.slices().chain(self.players.slices()).map(|(datagram, _)| datagram);
        self.info.as_deref().into_iter().chain(lists)
    }

    /// Whether all that was asked for is there.
    ///
    /// [`Missing::rules`] and [`Missing::players`]: that list did not come, or part of it is known to be missing,
    /// as when fewer players are listed than the server counts. [`Missing::end`]: a list looks whole and nothing
    /// confirms it, or every reading of it ended with a datagram that others could follow.
    #[must_use]
    pub const fn completeness(&self) -> Completeness {
        self.completeness
    }

    pub(super) const fn info_bytes(&self) -> Option<&Bytes> {
        self.info.as_ref()
    }

    pub(super) const fn rule_datagrams(&self) -> &Datagrams {
        &self.rules
    }

    pub(super) const fn player_datagrams(&self) -> &Datagrams {
        &self.players
    }
}

impl ToStatus for Answer {
    /// The normalised model. Its rules and its longer texts share this answer's bytes.
    fn to_status(&self) -> ServerStatus {
        super::mapping::to_status(self)
    }
}

/// Whether an info record ends before its skill level, which every server of UT2004's version sends: all that the
/// model needs stands before it, but the datagram was cut. The record of the document that prints one, which is none that a
/// server sends, is exempt.
fn is_cut(datagram: &[u8], limits: &Limits) -> bool {
    Response::parse_lenient(datagram, limits).is_ok_and(|response| match response.body {
        Body::Info(info) => {
            response.version >= UT2004_VERSION && info.tail.skill_level.is_none() && !info.repaired
        }
        _ => false,
    })
}

/// What is known to be missing. `count`: the players the server counts.
pub(super) fn missing(info: bool, count: Option<usize>, rules: &Progress, players: &Progress) -> Missing {
    let unconfirmed =
        |list: &Progress| !list.is_settled() && (list.looks_whole(count) || list.agrees_without_end());
    Missing {
        info: !info,
        rules: !rules.is_settled() && !unconfirmed(rules),
        players: (!players.is_settled() && !unconfirmed(players)) || !players.has_count(count),
        end: unconfirmed(rules) || unconfirmed(players),
        ..Missing::NOTHING
    }
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects, reason = "a test")]
mod tests {
    use super::*;

    /// An info record cut behind its counts still has all the model needs, and is not whole.
    #[test]
    fn a_cut_tail_is_told() {
        let whole = b"\x80\0\0\0\0\0\0\0\0\0\x61\x1e\0\0\0\0\0\0\x02S\0\x02M\0\x02G\0\x03\0\0\0\x10\0\0\0\
                      \0\0\0\0\0\0\0\0\x022\0\0\0";
        assert!(!is_cut(whole, &Limits::default()));
        let fields_end = whole.len() - 13;
        for cut in fields_end..whole.len() {
            assert!(is_cut(&whole[..cut], &Limits::default()), "cut at {cut}");
        }
        let mut older = whole[..fields_end].to_vec();
        older[0] = 0x79;
        assert!(!is_cut(&older, &Limits::default()), "older versions have shorter tails");
    }
}
