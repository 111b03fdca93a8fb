//! How far a list has got: its readings, and whether they settle it.

use super::reading::{Kind, Reading};
use super::response::Response;
use crate::error::ParseError;
use crate::limits::Limits;

/// Readings of one list after which it is taken as it is. Real lists that change at every reading exist.
const MAX_READINGS: u8 = 8;

/// One list over all its readings.
#[derive(Debug, Clone)]
pub(super) struct Progress {
    kind: Kind,
    /// What came for the latest request.
    current: Reading,
    /// The reading before it.
    previous: Option<Reading>,
    /// An earlier reading with more in it.
    best: Option<Reading>,
    /// How many readings in a row brought the same.
    agreeing: u8,
    readings: u8,
    state: State,
}

/// What is known of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Not asked for yet.
    Unasked,
    /// It may not be whole.
    Open,
    /// As many readings as were wanted brought the same.
    Agreed,
    /// Its own bytes or the server's count prove it whole.
    Proven,
    /// Asked for long enough.
    GivenUp,
}

impl Progress {
    pub(super) fn new(kind: Kind) -> Self {
        Self {
            kind,
            current: Reading::default(),
            previous: None,
            best: None,
            agreeing: 0,
            readings: 0,
            state: State::Unasked,
        }
    }

    /// A request for it goes out: what comes now is a new reading.
    pub(super) fn begin(&mut self) {
        self.state = State::Open;
        if self.current.is_empty() {
            return;
        }
        let finished = std::mem::take(&mut self.current);
        let before = self.previous.replace(finished);
        if before.as_ref().map_or(0, Reading::entries) > self.best.as_ref().map_or(0, Reading::entries) {
            self.best = before;
        }
    }

    /// Takes a reply of this kind. A datagram that a settled list lacks opens it again.
    pub(super) fn add(
        &mut self,
        datagram: &[u8],
        response: &Response<'_>,
        limits: &Limits,
    ) -> Result<(), ParseError> {
        if self.current.add(datagram, response, limits)? && self.state != State::Unasked {
            self.state = State::Open;
        }
        Ok(())
    }

    /// Whether nothing more is needed to call the current reading whole. `count`: the players the server counts.
    pub(super) fn looks_whole(&self, count: Option<usize>) -> bool {
        match self.kind {
            Kind::Rules => self.current.has_end() && !self.current.is_flawed(),
            Kind::Players if self.current.is_empty() => count == Some(0),
            Kind::Players => self.current.has_end() && !self.current.is_flawed() && self.has_count(count),
        }
    }

    /// Whether at least as many are listed as the server counts.
    pub(super) fn has_count(&self, count: Option<usize>) -> bool {
        self.kind == Kind::Rules || count.is_none_or(|count| self.current.entries() >= count)
    }

    /// Whether the current reading proves itself whole.
    pub(super) fn is_proof(&self, count: Option<usize>) -> bool {
        self.looks_whole(count)
            && match self.kind {
                Kind::Rules => self.current.begins_and_ends(),
                Kind::Players => count == Some(self.current.entries()),
            }
    }

    /// Ends the current reading and judges it. `wanted`: how many readings must agree where nothing is proof.
    pub(super) fn close(&mut self, count: Option<usize>, wanted: u8) {
        self.readings = self.readings.saturating_add(1);
        if self.is_proof(count) {
            self.state = State::Proven;
            return;
        }
        let agrees = |earlier: &Option<Reading>| {
            earlier.as_ref().is_some_and(|earlier| self.current.agrees_with(earlier))
        };
        let lost_some =
            |best: &Reading| self.current.entries() < best.entries() && self.current.is_within(best);
        self.agreeing = if agrees(&self.previous) { self.agreeing.saturating_add(1) } else { 1 };
        let agreed = self.agreeing >= wanted
            && !self.current.is_flawed()
            && !self.best.as_ref().is_some_and(lost_some);
        if agreed && self.looks_whole(count) {
            self.state = State::Agreed;
        } else if agreed || self.readings >= MAX_READINGS || self.current.is_over_limits() {
            // Readings that agree and show no end: a filter may swallow the same datagrams each time.
            self.state = State::GivenUp;
        }
    }

    /// Whether several readings brought the same and none showed the list's end.
    pub(super) fn agrees_without_end(&self) -> bool {
        self.agreeing > 1 && !self.current.is_empty() && !self.current.is_flawed() && !self.current.has_end()
    }

    /// No more requests for it.
    pub(super) fn give_up(&mut self) {
        if !self.is_settled() {
            self.state = State::GivenUp;
        }
    }

    /// Whether nothing came for the latest request.
    pub(super) const fn is_silent(&self) -> bool {
        self.current.is_empty()
    }

    pub(super) fn is_asked(&self) -> bool {
        self.state != State::Unasked
    }

    /// Whether another request for it makes sense.
    pub(super) const fn is_open(&self) -> bool {
        matches!(self.state, State::Unasked | State::Open)
    }

    /// Whether it is known to be whole, as far as that can be known.
    pub(super) const fn is_settled(&self) -> bool {
        matches!(self.state, State::Agreed | State::Proven)
    }

    /// Whether it is proven whole by datagrams that have come: nothing can follow them.
    pub(super) fn is_proven_by_datagrams(&self) -> bool {
        self.state == State::Proven && !self.current.is_empty()
    }

    /// The reading to answer with: the settled one, else the one with the most in it.
    pub(super) fn into_reading(self) -> Reading {
        if self.is_settled() {
            return self.current;
        }
        let mut fullest = self.current;
        for reading in [self.previous, self.best].into_iter().flatten() {
            if reading.entries() > fullest.entries() {
                fullest = reading;
            }
        }
        fullest
    }
}
