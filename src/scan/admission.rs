//! Admission of requests: by the replies that the receive buffer holds, and by the bytes that a line carries a second.
//! Timeouts from the round trips of other servers.

use std::collections::BTreeMap;

use super::options::ScanOptions;

use crate::time::{Duration, Instant, after};

/// Bytes of the receive buffer that the kernel charges for a full datagram. Linux charges about 1,400 bytes of payload as
/// 2,304, and gives back what was read only when it comes to a quarter of the buffer.
pub(crate) const DATAGRAM: usize = 2304 * 4 / 3;
/// Linux's default receive buffer, in bytes.
const DEFAULT_RECEIVE_BUFFER: usize = 212_992;
/// The fewest slots: fewer would send every datagram by itself.
const MIN_SLOTS: f64 = 16.0;
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
/// Bounds of the time between two reviews of the rate, which is two mean round trips, and longer after a cut.
const REVIEW: (Duration, Duration) = (Duration::from_millis(5), Duration::from_millis(250));
/// The rate is reviewed after so long while no round-trip time is known.
const FIRST_REVIEW: Duration = Duration::from_millis(50);
/// A line whose queue makes every round trip longer by this is full. Half of what RFC 6817 (LEDBAT) allows: a scan is short.
const QUEUE_DELAY: Duration = Duration::from_millis(50);
/// The shortest of so many round trips tells the delay of the queue.
const ROUND_TRIPS: u32 = 16;

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
    /// The send time of each request that holds a slot, by its number.
    slots: BTreeMap<u64, Instant>,
    /// The number of the latest request, from 1 on.
    requests: u64,
    /// Datagrams that one request brings, and the requests and datagrams that it is computed from next. It follows a rise at once,
    /// and a fall by a quarter.
    datagrams: f64,
    block: (u32, u32),
    /// The latest datagram, or the first request, and the number of the latest request that had a reply.
    heard_at: Option<Instant>,
    overtaken: u64,
    /// Bytes a second; infinite where the caller bounds datagrams.
    rate: f64,
    /// The rate doubles up to this one, and grows by an eighth above.
    full: f64,
    /// The time of the latest review, and the bytes received since then.
    since: Instant,
    bytes: f64,
    /// Whether all slots were held at some time since then, and whether the kernel dropped datagrams.
    was_full: bool,
    dropped: bool,
    /// The mean and the shortest round trip.
    rtt: Option<(Duration, Duration)>,
    /// The number of round trips so far, the shortest since each 16th of them, and the shortest of the latest 16.
    latest: (u32, Duration, Option<Duration>),
}

impl Admission {
    pub(super) fn new(options: &ScanOptions, now: Instant) -> Self {
        let mut admission = Self {
            space: 0.0,
            usable: 0.0,
            slots: BTreeMap::new(),
            requests: 0,
            datagrams: DATAGRAMS_AT_START,
            block: (0, 0),
            heard_at: None,
            overtaken: 0,
            rate: match (options.bytes_per_second, options.rate) {
                // Far below 2^53.
                (Some(bytes), _) => bytes as f64,
                (None, rate) => rate.map_or(BYTES_AT_START, |_| f64::INFINITY),
            },
            full: f64::INFINITY,
            since: now,
            bytes: 0.0,
            was_full: false,
            dropped: false,
            rtt: None,
            latest: (0, Duration::MAX, None),
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
        while let Some((&oldest, _)) = self.slots.first_key_value()
            && self.frees_at().is_none_or(|end| end <= now)
        {
            self.release(oldest);
        }
    }

    /// The time until which no request may be sent; `None` when one may be sent now.
    pub(super) fn blocked_until(&self, now: Instant) -> Option<Instant> {
        if self.is_full() {
            self.frees_at().filter(|&end| end > now)
        } else {
            None
        }
    }

    /// Accounts for a request, and returns its number.
    pub(super) fn sent(&mut self, now: Instant) -> u64 {
        self.heard_at.get_or_insert(now);
        self.requests = self.requests.saturating_add(1);
        self.slots.insert(self.requests, now);
        self.was_full |= self.is_full();
        self.requests
    }

    /// A request has had its time: its datagrams have arrived, or none is expected any more.
    pub(super) fn release(&mut self, request: u64) {
        if self.slots.remove(&request).is_none() {
            return;
        }
        self.block.0 = self.block.0.saturating_add(1);
        if self.block.0 == BLOCK {
            let measured = f64::from(self.block.1) / f64::from(BLOCK);
            self.datagrams = measured.max(self.datagrams * 0.75);
            self.block = (0, 0);
        }
    }

    /// Accounts for a datagram of so many bytes, headers included, and for the request that it answers; 0 for none.
    pub(super) fn received(&mut self, now: Instant, bytes: u64, request: u64) {
        self.heard_at = Some(now);
        self.overtaken = self.overtaken.max(request);
        self.bytes += bytes as f64;
        self.block.1 = self.block.1.saturating_add(1);
        self.datagrams = self
            .datagrams
            .max(f64::from(self.block.1) / f64::from(BLOCK));
        // Space that drops have taken away comes back with what crosses without any.
        if self.usable < self.space {
            self.usable += self.usable.recip();
        }
    }

    /// Records the round-trip time of an answer.
    pub(super) fn answered(&mut self, rtt: Duration) {
        let (mean, least) = self.rtt.unwrap_or((rtt, rtt));
        // The mean over about eight answers.
        let mean = mean
            .saturating_mul(7)
            .saturating_add(rtt)
            .checked_div(8)
            .unwrap_or(mean);
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
        let passed = now.saturating_duration_since(self.since);
        let round_trips = self
            .rtt
            .map_or(FIRST_REVIEW, |(mean, _)| mean.saturating_mul(2));
        if self.rate.is_infinite() || passed < round_trips.clamp(REVIEW.0, REVIEW.1) {
            return;
        }
        let carried = std::mem::take(&mut self.bytes) / passed.as_secs_f64();
        self.since = now;
        let dropped = std::mem::take(&mut self.dropped);
        let latest = self.latest.2.take();
        if !std::mem::take(&mut self.was_full) {
            return;
        }
        let delayed = self
            .rtt
            .zip(latest)
            .filter(|((_, least), latest)| *latest > least.saturating_add(QUEUE_DELAY));
        if let Some(((mean, least), latest)) = delayed {
            self.full = self.rate / 2.0;
            self.rate = (carried / 2.0)
                .clamp(self.rate / 8.0, self.full)
                .max(BYTES.0);
            // The next review sees what requests of the new rate brought: they are answered after a round trip.
            self.since = after(now, latest);
            // Round trips that stay long are those of servers further away.
            self.rtt = Some((
                mean,
                least.saturating_add(latest).checked_div(2).unwrap_or(least),
            ));
        } else if dropped {
            self.full = self.rate / 2.0;
            self.rate = self.full.max(BYTES.0);
        } else {
            self.rate = (self.rate * 2.0)
                .min(self.full.max(self.rate * 1.125))
                .min(BYTES.1);
        }
    }

    /// The time at which the oldest request frees its slot without a reply.
    fn frees_at(&self) -> Option<Instant> {
        let (oldest, since) = self.slots.first_key_value()?;
        let hold = Duration::from_secs_f64(self.places() * BYTES_OF_REQUEST / self.rate).max(HOLD);
        let end = since.checked_add(hold)?;
        let heard_at = self.heard_at?;
        let is_pause = self.datagrams >= USUAL && end > heard_at && self.overtaken <= *oldest;
        let pause = if self.latest.0 >= BLOCK {
            PAUSE.1
        } else {
            PAUSE.0
        };
        Some(if is_pause {
            end.max(heard_at.checked_add(pause)?)
        } else {
            end
        })
    }

    fn is_full(&self) -> bool {
        // Far below 2^53.
        self.slots.len() as f64 >= self.places()
    }

    /// Requests that may hold a slot.
    fn places(&self) -> f64 {
        let slots = (self.usable / self.datagrams.max(1.0)).max(MIN_SLOTS);
        slots
            .min(self.rate / BYTES_OF_REQUEST * BURST.as_secs_f64())
            .max(1.0)
    }
}

/// Answers before anything is concluded.
const ENOUGH: u64 = 64;
/// The wait is this many times the slowest round trip of a thousand.
const TIMES: u32 = 4;
/// Round trips of the answers so far, by their magnitude.
#[derive(Debug)]
pub(super) struct RttEstimator {
    least: Duration,
    /// The number that took up to so many microseconds, in four steps to each doubling.
    counts: BTreeMap<u32, u64>,
    samples: u64,
    /// The longest wait for a reply; `None` until enough is known.
    pub(super) wait: Option<Duration>,
}

impl RttEstimator {
    /// `least`: the least wait.
    pub(super) const fn new(least: Duration) -> Self {
        Self {
            least,
            counts: BTreeMap::new(),
            samples: 0,
            wait: None,
        }
    }

    /// Records a round trip; returns the wait for the others when it has changed. It is computed at each doubling of the samples
    /// and at every 1,024th.
    pub(super) fn record(&mut self, rtt: Duration) -> Option<Duration> {
        let count = self.counts.entry(step(rtt)).or_default();
        *count = count.saturating_add(1);
        self.samples = self.samples.saturating_add(1);
        let is_due = self.samples.is_power_of_two() || self.samples.is_multiple_of(1024);
        if self.samples < ENOUGH || !is_due {
            return None;
        }
        let wait = self
            .slowest_of_a_thousand()
            .saturating_mul(TIMES)
            .max(self.least);
        (self.wait.replace(wait) != Some(wait)).then_some(wait)
    }

    /// A round trip that one answer in a thousand exceeds, and not much more than that.
    fn slowest_of_a_thousand(&self) -> Duration {
        let mut slower = self.samples / 1000;
        let slowest = self.counts.iter().rev().find(|(_, count)| {
            let is_it = **count > slower;
            slower = slower.saturating_sub(**count);
            is_it
        });
        Duration::from_micros(slowest.map_or(0, |(step, _)| u64::from(*step)))
    }
}

/// The end of the step that a round trip falls into, in microseconds.
fn step(rtt: Duration) -> u32 {
    let micros = u32::try_from(rtt.as_micros()).unwrap_or(u32::MAX);
    let quarter = micros.max(4).ilog2().saturating_sub(2);
    micros
        .checked_next_multiple_of(1 << quarter)
        .unwrap_or(u32::MAX)
}

#[cfg(test)]
mod rtt_tests {
    use super::*;

    #[test]
    fn a_step_covers_its_round_trips() {
        for micros in (0..5000).chain([65_535, 65_536, 1_000_000, u32::MAX / 2]) {
            let step = step(Duration::from_micros(micros.into()));
            assert!(
                (micros..=micros + micros / 4).contains(&step),
                "{micros}: {step}"
            );
        }
        assert_eq!(step(Duration::MAX), u32::MAX);
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
        assert_eq!(
            (0..ENOUGH).find_map(|_| near.record(Duration::ZERO)),
            Some(Duration::from_millis(100))
        );
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

    /// After a second at 1 MB/s with all slots held and round trips of 50 ms.
    fn reviewed(change: impl FnOnce(&mut Admission)) -> f64 {
        let start = Instant::now();
        let mut admission = Admission::new(&ScanOptions::default(), start);
        (admission.rate, admission.was_full) = (1e6, true);
        admission.rtt = Some((Duration::from_millis(50), Duration::from_millis(50)));
        change(&mut admission);
        admission.review(start + Duration::from_secs(1));
        admission.rate
    }

    #[test]
    fn the_rate_doubles_up_to_half_of_the_one_before_a_cut_and_grows_by_an_eighth_above() {
        assert_eq!(reviewed(|_| {}), 2e6);
        assert_eq!(reviewed(|admission| admission.full = 1.5e6), 1.5e6);
        assert_eq!(reviewed(|admission| admission.full = 5e5), 1.125e6);
    }

    #[test]
    fn longer_round_trips_halve_what_arrives() {
        let late = Some(Duration::from_millis(200));
        let rate = reviewed(|admission| (admission.bytes, admission.latest.2) = (6e5, late));
        assert_eq!(rate, 3e5);
    }
}
