//! Decides when a request may be sent: its reply must fit the receive buffer, and the link must
//! carry the bytes.

use std::collections::BTreeMap;

use super::options::ScanOptions;

use crate::limits::to_u32;
use crate::time::{Duration, Instant, after};

/// Bytes of the receive buffer that a full datagram takes. Linux charges 2,304 for about 1,400
/// bytes of payload, and frees the space of read datagrams only after this space has become a
/// quarter of the buffer.
pub(crate) const DATAGRAM: usize = 2304 * 4 / 3;
/// Linux's default receive buffer, in bytes.
const DEFAULT_RECEIVE_BUFFER: usize = 212_992;
/// The minimum number of slots. With fewer, requests would be sent one by one instead of in
/// batches.
const MIN_SLOTS: f64 = 16.0;
/// A request without a reply holds its slot for at least this long.
const MIN_HOLD: Duration = Duration::from_micros(500);

/// Assumed datagrams per request, until answers have shown the true number.
const INITIAL_DATAGRAMS: f64 = 4.0;
/// Requests in one measurement of the datagrams of a request.
const REQUESTS_PER_SAMPLE: u32 = 64;
/// With fewer datagrams per request than this, a silence does not show a pause.
const USUAL_DATAGRAMS: f64 = 0.3;
/// The longest silence that counts as a pause of this machine, while few servers have answered.
const MAX_PAUSE_AT_START: Duration = Duration::from_millis(10);
/// The same once [`MANY_ANSWERS`] have come.
const MAX_PAUSE: Duration = Duration::from_millis(50);
const MANY_ANSWERS: u32 = 64;

/// Bytes a second at the start of a scan, both directions: 160 Mbit/s, which a home line tolerates
/// for the first round trip.
const INITIAL_RATE: f64 = 20e6;
/// Bytes a second: 2 Mbit/s.
const MIN_RATE: f64 = 256e3;
/// Bytes a second: 10 Gbit/s.
const MAX_RATE: f64 = 1.25e9;
/// Bytes of a request and its replies: a Quake 3 server with ten players.
const BYTES_PER_REQUEST: f64 = 800.0;
/// As many requests as the current rate allows in this time may be sent at once.
const BURST: Duration = Duration::from_millis(20);
/// The minimum time between two reviews of rate and space.
const MIN_REVIEW: Duration = Duration::from_millis(5);
/// The maximum time between two reviews, except after a cut.
const MAX_REVIEW: Duration = Duration::from_millis(250);
/// The time between two reviews while no round-trip time is known.
const FIRST_REVIEW: Duration = Duration::from_millis(50);
/// A line is full if its queue makes every round trip this much longer. RFC 6817 (LEDBAT) allows
/// twice as much, but a scan is short.
const MAX_QUEUE_DELAY: Duration = Duration::from_millis(50);
/// The shortest of this many round trips shows the delay of the queue.
const RTT_WINDOW: u32 = 16;

/// Admits requests: a window of slots, and a rate at which silent requests free them.
///
/// A request holds a slot until its reply has arrived. Without a reply, it frees the slot after the
/// *hold*, which is slots ÷ rate. So only the receive buffer bounds servers that answer within the
/// hold. The rate bounds all others too, like a token bucket whose tokens are the slots.
///
/// ```text
///   poll_transmit ──▶ [ slot ][ slot ][ slot ][      ] ── reply within the hold ──▶ free at once
///                        │ oldest                      ── no reply: slots ÷ rate ─▶ free
/// ```
///
/// If the caller bounds the datagrams per second, the bucket of [`Scanner`](super::Scanner)
/// replaces the rate.
#[derive(Debug)]
pub(super) struct Admission {
    slots: Slots,
    /// `None` if the caller bounds datagrams.
    rate: Option<RateControl>,
    rtts: RttWindow,
    silence: Silence,
    /// When the present interval between two reviews of rate and space began. It is in the future
    /// while replies at a new rate cannot have arrived yet.
    interval_start: Instant,
}

impl Admission {
    pub(super) fn new(options: &ScanOptions, now: Instant) -> Self {
        let initial_rate = if let Some(bytes) = options.bytes_per_second {
            // Exact, because the number is far below 2^53.
            Some(bytes as f64)
        } else if options.rate.is_some() {
            None
        } else {
            Some(INITIAL_RATE)
        };
        Self {
            slots: Slots::new(DEFAULT_RECEIVE_BUFFER),
            rate: initial_rate.map(RateControl::new),
            rtts: RttWindow::default(),
            silence: Silence::default(),
            interval_start: now,
        }
    }

    /// Sets the bytes of the receive buffer, as the system counts them.
    pub(super) fn set_receive_buffer(&mut self, bytes: usize) {
        self.slots.set_receive_buffer(bytes);
    }

    /// Reviews rate and space if a review is due, and frees slots whose hold is over.
    pub(super) fn handle_time(&mut self, now: Instant) {
        self.review(now);
        while let Some(oldest) = self.slots.oldest()
            && self.frees_at(&oldest) <= now
        {
            self.release(oldest.request);
        }
    }

    fn review(&mut self, now: Instant) {
        let passed = now.saturating_duration_since(self.interval_start);
        if passed < self.rtts.review_interval() {
            return;
        }
        self.interval_start = now;
        self.slots.was_shrunk = false;
        let Some(rate) = &mut self.rate else {
            return;
        };
        if let Some(rtt) = rate.review(passed, &mut self.rtts) {
            // The next review counts replies to requests at the new rate. They arrive a round trip
            // later.
            self.interval_start = after(now, rtt);
        }
    }

    /// The time until which no request may be sent; `None` when one may be sent now.
    pub(super) fn blocked_until(&self, now: Instant) -> Option<Instant> {
        if !self.is_full() {
            return None;
        }
        let oldest = self.slots.oldest()?;
        let frees_at = self.frees_at(&oldest);
        (frees_at > now).then_some(frees_at)
    }

    /// Counts a request, and returns its number.
    pub(super) fn sent(&mut self, now: Instant) -> u64 {
        self.silence.since.get_or_insert(now);
        let request = self.slots.assign(now);
        let is_full = self.is_full();
        if let Some(rate) = &mut self.rate {
            rate.was_limiting |= is_full;
        }
        request
    }

    /// Frees the slot of a request: its datagrams have arrived, or none is expected any more.
    pub(super) fn release(&mut self, request: u64) {
        self.slots.release(request);
    }

    /// Counts a datagram of this many bytes, headers included. `request` is the number of the
    /// request that it answers, or [`NO_REQUEST`].
    pub(super) fn received(&mut self, now: Instant, bytes: u64, request: u64) {
        self.silence.since = Some(now);
        self.silence.latest_answered = self.silence.latest_answered.max(request);
        // After a cut, the first datagrams still answer requests at the former rate.
        let is_counted = now >= self.interval_start;
        if let Some(rate) = &mut self.rate
            && is_counted
        {
            // Exact, because the number is far below 2^53.
            rate.received += bytes as f64;
        }
        self.slots.received();
    }

    /// Records the round-trip time of an answer.
    pub(super) fn answered(&mut self, rtt: Duration) {
        self.rtts.record(rtt);
    }

    /// The kernel dropped datagrams: uses half of the buffer, once between two reviews.
    pub(super) fn handle_drops(&mut self) {
        self.slots.shrink();
        if let Some(rate) = &mut self.rate {
            rate.has_drops = true;
        }
    }

    /// The time at which a request frees its slot without a reply. It is the end of its hold, or
    /// later if this machine may pause: the reply can then wait in the buffer.
    fn frees_at(&self, sent: &Sent) -> Instant {
        let hold_end = after(sent.sent_at, self.hold());
        let silent_since = self.silence.since.unwrap_or(sent.sent_at);
        // If a datagram was read after the hold, a waiting reply would have been read too.
        let was_read_after_hold = silent_since >= hold_end;
        // Replies come in about the order of their requests.
        let has_later_reply = self.silence.latest_answered > sent.request;
        // A silence is normal if few servers answer.
        let are_replies_usual = self.slots.datagrams_per_request.mean >= USUAL_DATAGRAMS;
        let may_be_pause = are_replies_usual && !was_read_after_hold && !has_later_reply;
        if !may_be_pause {
            return hold_end;
        }
        let pause_end = after(silent_since, self.max_pause());
        hold_end.max(pause_end)
    }

    /// How long a request without a reply holds its slot.
    fn hold(&self) -> Duration {
        match &self.rate {
            Some(rate) => rate.time_for(self.allowed_slots()).max(MIN_HOLD),
            None => MIN_HOLD,
        }
    }

    /// The longest silence that counts as a pause of this machine.
    const fn max_pause(&self) -> Duration {
        if self.rtts.samples >= MANY_ANSWERS {
            MAX_PAUSE
        } else {
            MAX_PAUSE_AT_START
        }
    }

    fn is_full(&self) -> bool {
        // Exact, because the number is far below 2^53.
        self.slots.held.len() as f64 >= self.allowed_slots()
    }

    /// How many requests may hold a slot: as many as fit the buffer, and no more than the burst of
    /// the rate.
    fn allowed_slots(&self) -> f64 {
        let fitting = self.slots.fitting();
        let allowed = match &self.rate {
            Some(rate) => fitting.min(rate.burst()),
            None => fitting,
        };
        allowed.max(1.0)
    }
}

/// The number of no request. Numbers count from 1.
pub(super) const NO_REQUEST: u64 = 0;

/// The present silence. It can be a pause of this machine, if it is busy: replies then wait in the
/// buffer, and their requests keep their slots.
#[derive(Debug, Default)]
struct Silence {
    /// The time of the latest datagram; before the first, of the first request.
    since: Option<Instant>,
    /// The latest of the requests that had a reply, or [`NO_REQUEST`].
    latest_answered: u64,
}

/// Slots for replies in the receive buffer: datagrams that fit it ÷ datagrams that one request
/// brings.
#[derive(Debug)]
struct Slots {
    /// Datagrams that the receive buffer holds.
    capacity: f64,
    /// How many of the slots are used: fewer after the kernel dropped datagrams.
    usable: f64,
    /// Whether [`Self::usable`] was halved since the latest review.
    was_shrunk: bool,
    /// The send time of each request that holds a slot, by its number.
    held: BTreeMap<u64, Instant>,
    /// The number of the latest request, or [`NO_REQUEST`].
    latest: u64,
    datagrams_per_request: DatagramsPerRequest,
}

/// A request that holds a slot.
struct Sent {
    /// Its number.
    request: u64,
    sent_at: Instant,
}

impl Slots {
    fn new(receive_buffer: usize) -> Self {
        let mut slots = Self {
            capacity: 0.0,
            usable: 0.0,
            was_shrunk: false,
            held: BTreeMap::new(),
            latest: NO_REQUEST,
            datagrams_per_request: DatagramsPerRequest::default(),
        };
        slots.set_receive_buffer(receive_buffer);
        slots
    }

    fn set_receive_buffer(&mut self, bytes: usize) {
        self.capacity = f64::from(to_u32(bytes / DATAGRAM));
        self.usable = self.capacity;
    }

    /// The oldest request that holds a slot.
    fn oldest(&self) -> Option<Sent> {
        let (request, sent_at) = self.held.first_key_value()?;
        Some(Sent {
            request: *request,
            sent_at: *sent_at,
        })
    }

    /// Gives a slot to a new request, and returns its number.
    fn assign(&mut self, now: Instant) -> u64 {
        self.latest = self.latest.saturating_add(1);
        self.held.insert(self.latest, now);
        self.latest
    }

    fn release(&mut self, request: u64) {
        if self.held.remove(&request).is_some() {
            self.datagrams_per_request.count_request();
        }
    }

    fn received(&mut self) {
        self.datagrams_per_request.count_datagram();
        // After drops, each datagram that arrives gives back a part of the space.
        let more = self.usable + self.usable.recip();
        self.usable = more.min(self.capacity);
    }

    fn shrink(&mut self) {
        if !self.was_shrunk {
            self.was_shrunk = true;
            self.usable = (self.usable / 2.0).max(1.0);
        }
    }

    /// Requests whose replies fit the buffer.
    fn fitting(&self) -> f64 {
        let datagrams_per_request = self.datagrams_per_request.mean.max(1.0);
        (self.usable / datagrams_per_request).max(MIN_SLOTS)
    }
}

/// The mean number of datagrams that one request brings. It rises at once, and falls by at most a
/// quarter per sample.
#[derive(Debug)]
struct DatagramsPerRequest {
    mean: f64,
    /// Requests and datagrams of the current sample.
    requests: u32,
    datagrams: u32,
}

impl Default for DatagramsPerRequest {
    fn default() -> Self {
        Self {
            mean: INITIAL_DATAGRAMS,
            requests: 0,
            datagrams: 0,
        }
    }
}

impl DatagramsPerRequest {
    fn count_request(&mut self) {
        self.requests = self.requests.saturating_add(1);
        if self.requests == REQUESTS_PER_SAMPLE {
            self.mean = self.sample_mean().max(self.mean * 0.75);
            self.requests = 0;
            self.datagrams = 0;
        }
    }

    fn count_datagram(&mut self) {
        self.datagrams = self.datagrams.saturating_add(1);
        self.mean = self.mean.max(self.sample_mean());
    }

    /// The datagrams so far divided by the requests of a whole sample. While the sample is
    /// incomplete, its mean is at least this.
    fn sample_mean(&self) -> f64 {
        f64::from(self.datagrams) / f64::from(REQUESTS_PER_SAMPLE)
    }
}

/// Learns how many bytes a second the line carries, as a congestion controller does.
///
/// The rate doubles at each review up to a threshold, and grows by an eighth above it. It halves if
/// the kernel dropped datagrams. If every round trip became longer, it falls to half of the bytes
/// that arrived. The threshold is then half of the rate before. A review that did not find all
/// slots held changes nothing.
#[derive(Debug)]
struct RateControl {
    /// Bytes a second, both directions.
    rate: f64,
    /// The rate doubles below this one.
    threshold: f64,
    /// Bytes received since the latest review.
    received: f64,
    /// Whether all slots were held at some time since the latest review.
    was_limiting: bool,
    /// Whether the kernel dropped datagrams since the latest review.
    has_drops: bool,
}

impl RateControl {
    const fn new(rate: f64) -> Self {
        Self {
            rate,
            threshold: f64::INFINITY,
            received: 0.0,
            was_limiting: false,
            has_drops: false,
        }
    }

    /// Changes the rate by the bytes, drops and round trips since the latest review. If longer
    /// round trips made it fall, returns the present one.
    fn review(&mut self, passed: Duration, rtts: &mut RttWindow) -> Option<Duration> {
        let arrival_rate = std::mem::take(&mut self.received) / passed.as_secs_f64();
        let has_drops = std::mem::take(&mut self.has_drops);
        let was_limiting = std::mem::take(&mut self.was_limiting);
        let shortest_rtt = rtts.shortest.take();
        if !was_limiting {
            return None;
        }
        if let Some(rtt) = shortest_rtt
            && rtts.is_delayed(rtt)
        {
            self.cut(arrival_rate / 2.0);
            rtts.accept_delay(rtt);
            return Some(rtt);
        }
        if has_drops {
            self.cut(self.rate / 2.0);
        } else {
            self.grow();
        }
        None
    }

    /// Lowers the rate to this one, but not above half or below an eighth of the present rate.
    fn cut(&mut self, rate: f64) {
        self.threshold = self.rate / 2.0;
        self.rate = rate.clamp(self.rate / 8.0, self.threshold).max(MIN_RATE);
    }

    fn grow(&mut self) {
        let slow = self.rate * 1.125;
        let fast = (self.rate * 2.0).min(self.threshold);
        self.rate = fast.max(slow).min(MAX_RATE);
    }

    /// The requests that may leave at once.
    fn burst(&self) -> f64 {
        self.rate / BYTES_PER_REQUEST * BURST.as_secs_f64()
    }

    /// The time in which this many requests may be sent.
    fn time_for(&self, requests: f64) -> Duration {
        Duration::from_secs_f64(requests * BYTES_PER_REQUEST / self.rate)
    }
}

/// Round-trip times: their mean, and the shortest of the latest 16.
#[derive(Debug, Default)]
struct RttWindow {
    /// `None` before the first answer.
    usual: Option<UsualRtt>,
    samples: u32,
    /// The shortest round trip of the window so far; `None` at its beginning.
    shortest_so_far: Option<Duration>,
    /// The shortest round trip of the latest complete window; `None` after a review has used it.
    shortest: Option<Duration>,
}

/// The usual round-trip times.
#[derive(Debug)]
struct UsualRtt {
    /// The mean over about the latest eight answers.
    mean: Duration,
    /// The round trip without a queue: the shortest so far. It rises if all stay longer.
    base: Duration,
}

impl RttWindow {
    fn record(&mut self, rtt: Duration) {
        let usual = self.usual.get_or_insert(UsualRtt {
            mean: rtt,
            base: rtt,
        });
        let sum = usual.mean.saturating_mul(7).saturating_add(rtt);
        usual.mean = sum.checked_div(8).unwrap_or(rtt);
        usual.base = usual.base.min(rtt);

        self.samples = self.samples.saturating_add(1);
        let shortest_before = self.shortest_so_far.unwrap_or(rtt);
        self.shortest_so_far = Some(shortest_before.min(rtt));
        if self.samples.is_multiple_of(RTT_WINDOW) {
            self.shortest = self.shortest_so_far.take();
        }
    }

    /// The time between two reviews: two round trips, within bounds.
    fn review_interval(&self) -> Duration {
        let interval = match &self.usual {
            Some(usual) => usual.mean.saturating_mul(2),
            None => FIRST_REVIEW,
        };
        interval.clamp(MIN_REVIEW, MAX_REVIEW)
    }

    /// Whether round trips of this length show that the line's queue is full.
    fn is_delayed(&self, rtt: Duration) -> bool {
        let usual = self.usual.as_ref();
        usual.is_some_and(|usual| rtt > usual.base.saturating_add(MAX_QUEUE_DELAY))
    }

    /// Raises the base by half of the difference: if round trips stay long, the servers are farther
    /// away.
    fn accept_delay(&mut self, rtt: Duration) {
        if let Some(usual) = &mut self.usual {
            let sum = usual.base.saturating_add(rtt);
            usual.base = sum.checked_div(2).unwrap_or(rtt);
        }
    }
}

#[cfg(test)]
#[allow(
    clippy::disallowed_methods,
    clippy::arithmetic_side_effects,
    reason = "virtual time in tests"
)]
mod rate_tests {
    use super::*;

    const MS_50: Duration = Duration::from_millis(50);

    /// The rate after a second at 1 MB/s with all slots held and round trips of 50 ms.
    fn reviewed(change: impl FnOnce(&mut RateControl, &mut RttWindow)) -> f64 {
        let mut control = RateControl::new(1e6);
        control.was_limiting = true;
        let mut rtts = RttWindow::default();
        rtts.record(MS_50);
        change(&mut control, &mut rtts);
        control.review(Duration::from_secs(1), &mut rtts);
        control.rate
    }

    #[test]
    fn the_rate_has_a_minimum_and_a_maximum() {
        for (rate, has_drops) in [(MAX_RATE, false), (MIN_RATE, true)] {
            let reviewed =
                reviewed(|control, _| (control.rate, control.has_drops) = (rate, has_drops));
            assert_eq!(reviewed, rate);
        }
    }

    #[test]
    fn a_queue_of_more_than_50_ms_halves_what_arrives() {
        for (millis, rate) in [(50, 2e6), (51, 3e5)] {
            let reviewed = reviewed(|control, rtts| {
                control.received = 6e5;
                rtts.shortest = Some(MS_50 + Duration::from_millis(millis));
            });
            assert_eq!(reviewed, rate);
        }
    }

    #[test]
    fn replies_to_requests_before_a_cut_are_not_counted_after_it() {
        let start = Instant::now();
        let mut admission = Admission::new(&ScanOptions::default(), start);
        let rtt = MS_50 + Duration::from_millis(100);
        admission.answered(MS_50);
        admission.rtts.shortest = Some(rtt);
        admission.rate.as_mut().unwrap().was_limiting = true;
        let cut = start + MS_50 * 2;
        admission.handle_time(cut);
        let counted = |admission: &Admission| admission.rate.as_ref().unwrap().received;
        admission.received(cut + MS_50, 1000, NO_REQUEST);
        assert_eq!(counted(&admission), 0.0);
        admission.received(cut + rtt, 1000, NO_REQUEST);
        assert_eq!(counted(&admission), 1000.0);
    }
}

#[cfg(test)]
mod model_tests;
