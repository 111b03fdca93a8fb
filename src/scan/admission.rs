//! When a request may leave: what the receive buffer holds of the replies, and what a line carries a second.
//! How long to wait for a reply, by the round trips of the others.

use std::collections::VecDeque;
use std::num::NonZeroU64;

use super::options::ScanOptions;

use crate::time::{Duration, Instant};

/// Bytes of the receive buffer that the kernel charges for a full datagram. Linux charges about 1,400 bytes of payload as
/// 2,304, and gives back what was read only when it comes to a quarter of the buffer.
pub(crate) const DATAGRAM: usize = 2304 * 4 / 3;
/// Linux's default receive buffer, in bytes.
const DEFAULT_RECEIVE_BUFFER: usize = 212_992;
/// The fewest slots: fewer would send every datagram by itself.
const LEAST_SLOTS: f64 = 16.0;
/// A request without a reply holds its slot for this long at least.
const HOLD: Duration = Duration::from_micros(500);

/// Datagrams that one request brings, before the answers tell.
const DATAGRAMS_AT_START: f64 = 4.0;
/// Requests from which the datagrams of one are computed.
const BLOCK: u32 = 64;
/// Pauses up to this long are blamed on our own scheduling: while few have answered, and later.
const PAUSE: (Duration, Duration) = (Duration::from_millis(10), Duration::from_millis(50));
/// Datagrams a request below which a pause is nothing unusual.
const USUAL: f64 = 0.3;

/// Bytes a second at the start of a scan, both directions: 160 Mbit/s, which a home line survives for the first round trip.
const BYTES_AT_START: f64 = 20e6;
/// Bounds of the rate in bytes a second: the upper one is 10 Gbit/s.
const BYTES: (f64, f64) = (256e3, 1.25e9);
/// Bytes of a request and what it brings: a Quake 3 server with ten players.
const BYTES_OF_REQUEST: f64 = 800.0;
/// Requests of this long may leave at once.
const BURST: Duration = Duration::from_millis(20);
/// Bounds of the time between two reviews of the rate, which is two mean round trips.
const REVIEW: (Duration, Duration) = (Duration::from_millis(5), Duration::from_millis(250));
/// The rate is reviewed after so long while no round-trip time is known.
const FIRST_REVIEW: Duration = Duration::from_millis(50);
/// A line whose queue makes every round trip longer by this is full. Half of what RFC 6817 (LEDBAT) allows: a scan is short.
const QUEUE_DELAY: Duration = Duration::from_millis(50);
/// The shortest of so many round trips tells the delay of the queue.
const ROUND_TRIPS: u32 = 16;

/// Number of a slot that a request holds, from 1 on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reservation(NonZeroU64);

/// A window of slots, and a rate at which silent requests free them.
///
/// A request holds a slot until its reply has arrived; a later reply arrives alone and needs no slot. Without a reply it frees
/// the slot after the *hold*. Slots = datagrams that fit the receive buffer ÷ datagrams that one request brings; hold = slots ÷
/// rate, half a millisecond at least. So servers that answer within the hold are bounded by the buffer alone, and all others by
/// the rate as well, which is a token bucket whose tokens are the slots.
///
/// ```text
///   poll_transmit ──▶ [ slot ][ slot ][ slot ][      ] ── reply within the hold ──▶ free at once
///                        │ oldest                      ── no reply: slots ÷ rate ─▶ free
///
///   rate, in bytes:  20 MB/s ── ×2 a round trip ──▶ ─┬─ the latest 16 round trips 50 ms longer: half of what arrives
///                                                    ├─ the kernel dropped datagrams: ÷2, and half of the slots
///                                                    └─ afterwards ×2 up to half of the rate before, ×1.125 above
/// ```
///
/// The rate starts at 160 Mbit/s, or at the caller's bytes a second, and changes only if all slots were held since the last
/// review. A caller who bounds datagrams a second has the bucket of [`Scanner`](super::Scanner) in its place.
///
/// Two quantities are learned beside the rate: the datagrams of a request, without which 10,000 silent servers took 0.3 s
/// longer (`loopback -- dead`, 100 %), and whether a silence is a pause of a busy machine, without which a scan of 5,000
/// living and 5,000 silent servers on a busy machine lost 4 % of the living ones (`dead`, 50 %).
#[derive(Debug)]
pub(super) struct Admission {
    /// Datagrams that the receive buffer holds, and how many of them are used since datagrams were dropped.
    space: f64,
    usable: f64,
    /// When each request was sent that may hold a slot, in order; `None` for those that had a reply.
    slots: VecDeque<Option<Instant>>,
    /// The number of the first of them.
    first: u64,
    held: u32,
    /// Datagrams that one request brings, and the requests and datagrams that it is computed from next.
    datagrams: f64,
    block: (u32, u32),
    /// The latest datagram, or the first request, and the number of the latest request that had a reply.
    heard_at: Option<Instant>,
    overtaken: u64,
    /// Bytes a second; `None` where the caller bounds datagrams.
    rate: Option<f64>,
    /// The rate doubles up to this one, and grows by an eighth above.
    full: f64,
    /// When the time since the latest review began, and the bytes received since then.
    since: Option<Instant>,
    bytes: f64,
    /// Whether all slots were held at some time since then, and whether the kernel dropped datagrams.
    was_full: bool,
    dropped: bool,
    /// The mean and the shortest round trip.
    rtt: Option<(Duration, Duration)>,
    /// The number of round trips so far, the shortest since each 16th of them, and the shortest of the latest 16.
    latest: (u32, Duration, Option<Duration>),
    /// No second cut before this time.
    calm_at: Option<Instant>,
}

impl Admission {
    pub(super) fn new(options: &ScanOptions) -> Self {
        let mut admission = Self {
            space: 0.0,
            usable: 0.0,
            slots: VecDeque::new(),
            first: 1,
            held: 0,
            datagrams: DATAGRAMS_AT_START,
            block: (0, 0),
            heard_at: None,
            overtaken: 0,
            rate: match (options.bytes_per_second, options.rate) {
                // Far below 2^53.
                (Some(bytes), _) => Some(bytes as f64),
                (None, rate) => rate.is_none().then_some(BYTES_AT_START),
            },
            full: f64::INFINITY,
            since: None,
            bytes: 0.0,
            was_full: false,
            dropped: false,
            rtt: None,
            latest: (0, Duration::MAX, None),
            calm_at: None,
        };
        admission.set_receive_buffer(DEFAULT_RECEIVE_BUFFER);
        admission
    }

    /// Bytes of the receive buffer, as the system counts them.
    pub(super) fn set_receive_buffer(&mut self, bytes: usize) {
        let datagrams = bytes.checked_div(DATAGRAM).unwrap_or_default();
        self.space = f64::from(u32::try_from(datagrams).unwrap_or(u32::MAX));
        self.usable = self.space;
    }

    /// Reviews the rate when it is time to, and frees slots whose time is over.
    pub(super) fn handle_time(&mut self, now: Instant) {
        self.review(now);
        while let Some(slot) = self.slots.front()
            && slot.is_none_or(|since| self.ends_at(since).is_none_or(|end| end <= now))
        {
            if self.slots.pop_front().flatten().is_some() {
                self.freed();
            }
            self.first = self.first.wrapping_add(1);
        }
    }

    /// Until when no request may be sent; `None` when one may be sent now.
    pub(super) fn blocked_until(&self, now: Instant) -> Option<Instant> {
        if f64::from(self.held) < self.places() {
            return None;
        }
        self.ends_at(self.slots.iter().find_map(|slot| *slot)?).filter(|&end| end > now)
    }

    /// Accounts for a request of so many bytes.
    pub(super) fn sent(&mut self, now: Instant) -> Reservation {
        self.since.get_or_insert(now);
        self.heard_at.get_or_insert(now);
        let number = self.first.wrapping_add(u64::try_from(self.slots.len()).unwrap_or_default());
        self.slots.push_back(Some(now));
        self.held = self.held.saturating_add(1);
        self.was_full |= f64::from(self.held) >= self.places();
        Reservation(NonZeroU64::new(number).unwrap_or(NonZeroU64::MIN))
    }

    /// The datagrams of this request have arrived, or none is expected any more.
    pub(super) fn release(&mut self, reservation: Reservation) {
        let position = usize::try_from(reservation.0.get().wrapping_sub(self.first)).unwrap_or(usize::MAX);
        if self.slots.get_mut(position).and_then(Option::take).is_some() {
            self.freed();
        }
    }

    /// A request has had its time, with or without a reply.
    fn freed(&mut self) {
        self.held = self.held.saturating_sub(1);
        self.block.0 = self.block.0.saturating_add(1);
        self.learn();
    }

    /// Accounts for a datagram of so many bytes, headers included, and for the request that it answers.
    pub(super) fn received(&mut self, now: Instant, bytes: u64, reservation: Option<Reservation>) {
        self.heard_at = Some(now);
        if let Some(Reservation(number)) = reservation {
            self.overtaken = self.overtaken.max(number.get());
        }
        self.bytes += bytes as f64;
        self.block.1 = self.block.1.saturating_add(1);
        self.learn();
        // Space that drops have taken away comes back with what crosses without any.
        if self.usable < self.space {
            self.usable += self.usable.recip();
        }
    }

    /// Datagrams a request: follows a rise at once, a fall by a quarter a block.
    fn learn(&mut self) {
        let (requests, datagrams) = self.block;
        let measured = f64::from(datagrams) / f64::from(requests.max(BLOCK));
        self.datagrams = self.datagrams.max(measured);
        if requests >= BLOCK {
            self.datagrams = measured.max(self.datagrams * 0.75);
            self.block = (0, 0);
        }
    }

    /// Records the round-trip time of an answer.
    pub(super) fn answered(&mut self, rtt: Duration) {
        let (mean, least) = self.rtt.unwrap_or((rtt, rtt));
        // The mean over about eight answers.
        let mean = mean.saturating_mul(7).saturating_add(rtt).checked_div(8).unwrap_or(mean);
        self.rtt = Some((mean, least.min(rtt)));
        let (count, shortest, _) = &mut self.latest;
        (*count, *shortest) = (count.saturating_add(1), rtt.min(*shortest));
        if count.is_multiple_of(ROUND_TRIPS) {
            self.latest = (*count, Duration::MAX, Some(*shortest));
        }
    }

    /// The kernel dropped datagrams: half of the buffer is used, once between two reviews.
    pub(super) fn dropped(&mut self) {
        if !std::mem::replace(&mut self.dropped, true) {
            self.usable = (self.usable / 2.0).max(1.0);
        }
    }

    /// Doubles the rate or halves it, once in two round trips.
    fn review(&mut self, now: Instant) {
        let (Some(rate), Some(since)) = (self.rate, self.since) else { return };
        let passed = now.saturating_duration_since(since);
        if passed
            < self.rtt.map_or(FIRST_REVIEW, |(mean, _)| mean.saturating_mul(2).clamp(REVIEW.0, REVIEW.1))
        {
            return;
        }
        let seconds = passed.as_secs_f64();
        let carried = std::mem::take(&mut self.bytes) / seconds;
        self.since = Some(now);
        let dropped = std::mem::take(&mut self.dropped);
        let latest = self.latest.2.take();
        if !std::mem::take(&mut self.was_full) {
            return;
        }
        let delayed =
            self.rtt.zip(latest).filter(|((_, least), latest)| *latest > least.saturating_add(QUEUE_DELAY));
        if let Some(((mean, least), latest)) = delayed {
            // Once until requests of the new rate can have been answered.
            if self.calm_at.is_none_or(|calm_at| calm_at <= now) {
                self.full = rate / 2.0;
                self.rate = Some((carried / 2.0).clamp(rate / 8.0, self.full).max(BYTES.0));
                self.calm_at = now.checked_add(latest);
                // Round trips that stay long are those of servers further away.
                self.rtt = Some((mean, least.saturating_add(latest).checked_div(2).unwrap_or(least)));
            }
        } else if dropped {
            self.full = rate / 2.0;
            self.rate = Some(self.full.max(BYTES.0));
        } else {
            self.rate = Some((rate * 2.0).min(self.full.max(rate * 1.125)).min(BYTES.1));
        }
    }

    /// When a request that was sent then frees its slot without a reply.
    fn ends_at(&self, since: Instant) -> Option<Instant> {
        let hold = self
            .rate
            .map_or(HOLD, |rate| Duration::from_secs_f64(self.places() * BYTES_OF_REQUEST / rate).max(HOLD));
        let end = since.checked_add(hold)?;
        let heard_at = self.heard_at?;
        let is_pause = self.datagrams >= USUAL && end > heard_at && self.overtaken <= self.first;
        let pause = if self.latest.0 >= BLOCK { PAUSE.1 } else { PAUSE.0 };
        Some(if is_pause { end.max(heard_at.checked_add(pause)?) } else { end })
    }

    /// Requests that may hold a slot.
    pub(super) fn places(&self) -> f64 {
        let slots = (self.usable / self.datagrams.max(1.0)).max(LEAST_SLOTS);
        match self.rate {
            Some(rate) => slots.min(rate / BYTES_OF_REQUEST * BURST.as_secs_f64()).max(1.0),
            None => slots,
        }
    }
}

/// Answers before anything is concluded.
const ENOUGH: u64 = 64;
/// The wait is this many times the slowest round trip of a thousand.
const TIMES: u32 = 4;
/// Four steps to each doubling, from four microseconds to an hour.
const STEPS: usize = 4 * 30;

/// Round trips of the answers so far, by their magnitude.
#[derive(Debug)]
pub(super) struct RttEstimator {
    least: Duration,
    counts: [u32; STEPS],
    samples: u64,
    /// When the wait is computed next: at each doubling of the samples, later at every 1,024th.
    due: u64,
    /// The longest wait for a reply; `None` until enough is known.
    pub(super) wait: Option<Duration>,
}

impl RttEstimator {
    /// `least`: the least wait.
    pub(super) const fn new(least: Duration) -> Self {
        Self { least, counts: [0; STEPS], samples: 0, due: ENOUGH, wait: None }
    }

    /// Records a round trip; returns the wait for the others when it has changed.
    pub(super) fn record(&mut self, rtt: Duration) -> Option<Duration> {
        self.samples = self.samples.saturating_add(1);
        let micros = u32::try_from(rtt.as_micros()).unwrap_or(u32::MAX);
        if let Some(count) = self.counts.get_mut(step(micros)) {
            *count = count.saturating_add(1);
        }
        if self.samples < self.due {
            return None;
        }
        self.due = self.samples.saturating_add(self.samples.min(1024));
        let wait = self.slowest_of_a_thousand().saturating_mul(TIMES).max(self.least);
        (self.wait.replace(wait) != Some(wait)).then_some(wait)
    }

    /// A round trip that one answer in a thousand exceeds, and not much more than that.
    fn slowest_of_a_thousand(&self) -> Duration {
        let mut slower = self.samples / 1000;
        let slowest = self.counts.iter().enumerate().rev().find(|(_, count)| {
            let is_it = u64::from(**count) > slower;
            slower = slower.saturating_sub(u64::from(**count));
            is_it
        });
        Duration::from_micros(slowest.map_or(0, |(step, _)| end(step)))
    }
}

/// Which step a number of microseconds falls into.
fn step(micros: u32) -> usize {
    let doublings = micros.max(4).ilog2();
    let quarter = micros >> doublings.saturating_sub(2) & 3;
    let step = doublings.saturating_sub(2).saturating_mul(4).saturating_add(quarter);
    usize::try_from(step).unwrap_or(STEPS).min(STEPS.saturating_sub(1))
}

/// Where a step ends, in microseconds.
fn end(step: usize) -> u64 {
    let (doublings, quarter) = (step / 4, step % 4);
    let quarters = u64::try_from(quarter).unwrap_or_default().saturating_add(5);
    quarters << doublings
}

#[cfg(test)]
mod rtt_tests {
    use super::*;

    #[test]
    fn a_step_covers_its_round_trips() {
        for micros in (4..5000).chain([65_535, 65_536, 1_000_000, u32::MAX / 2]) {
            let step = step(micros);
            assert!(u64::from(micros) < end(step), "{micros}");
            assert!(step == 0 || u64::from(micros) >= end(step - 1), "{micros}");
        }
        assert_eq!((step(0), step(u32::MAX)), (0, STEPS - 1));
    }

    #[test]
    fn the_wait_follows_the_slow_and_ignores_single_stragglers() {
        let mut waits = RttEstimator::new(Duration::from_millis(100));
        let ms = Duration::from_millis;
        for _ in 1..ENOUGH {
            assert_eq!(waits.record(ms(40)), None);
        }
        let first = waits.record(ms(40)).expect("enough is known");
        assert!((ms(160)..ms(200)).contains(&first), "{first:?}");
        // One straggler in five thousand says nothing of the others; one in a hundred does.
        for number in 0..5000 {
            waits.record(if number == 100 { ms(3000) } else { ms(40) });
        }
        assert_eq!(waits.wait, Some(first));
        for number in 0..5000 {
            waits.record(if number % 100 == 0 { ms(300) } else { ms(40) });
        }
        let later = waits.wait.expect("a wait");
        assert!((ms(1200)..ms(1500)).contains(&later), "{later:?}");
        let mut near = RttEstimator::new(Duration::from_millis(100));
        assert_eq!((0..ENOUGH).find_map(|_| near.record(Duration::ZERO)), Some(Duration::from_millis(100)));
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, clippy::arithmetic_side_effects, reason = "virtual time in tests")]
mod rate_tests {
    use super::*;

    /// After a second at 1 MB/s with all slots held and round trips of 50 ms.
    fn reviewed(change: impl FnOnce(&mut Admission)) -> Option<f64> {
        let (mut admission, start) = (Admission::new(&ScanOptions::default()), Instant::now());
        (admission.rate, admission.since, admission.was_full) = (Some(1e6), Some(start), true);
        admission.rtt = Some((Duration::from_millis(50), Duration::from_millis(50)));
        change(&mut admission);
        admission.review(start + Duration::from_secs(1));
        admission.rate
    }

    #[test]
    fn the_rate_doubles_up_to_half_of_the_one_before_a_cut_and_grows_by_an_eighth_above() {
        assert_eq!(reviewed(|_| {}), Some(2e6));
        assert_eq!(reviewed(|admission| admission.full = 1.5e6), Some(1.5e6));
        assert_eq!(reviewed(|admission| admission.full = 5e5), Some(1.125e6));
    }

    #[test]
    fn longer_round_trips_halve_what_arrives() {
        let late = Some(Duration::from_millis(200));
        let rate = reviewed(|admission| (admission.bytes, admission.latest.2) = (6e5, late));
        assert_eq!(rate, Some(3e5));
    }
}
