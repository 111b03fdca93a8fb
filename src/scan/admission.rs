//! When a request may leave: what the receive buffer holds of the replies, and what a line carries a second.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// What a full datagram takes in the kernel's receive buffer. Linux charges about 1,400 bytes of payload as 2,304, and
/// gives back what was read only when it comes to a quarter of the buffer.
pub(crate) const DATAGRAM: usize = 2304 * 4 / 3;
/// Linux's default receive buffer, in bytes.
pub(super) const DEFAULT_RECEIVE_BUFFER: usize = 212_992;
/// Reservations that are always allowed: fewer than this would send every datagram by itself.
const LEAST: f64 = 16.0;

/// Datagrams that one request brings, before the answers tell.
const DATAGRAMS_AT_START: f64 = 4.0;
/// The share of answered requests is taken from so many of them at a time.
const BLOCK: u32 = 64;
/// The least share of answered requests that is assumed, whatever the servers did so far.
const LEAST_SHARE: f64 = 1.0 / 16.0;
/// The share is assumed to be larger by this, since servers that answer may follow each other.
const SHARE_MARGIN: f64 = 1.25;
/// The fewest datagrams that are expected for a request, whatever answers were like and however few there are.
const LEAST_DATAGRAMS: f64 = 3.0 / 4.0;

/// Bytes a second at the start of a scan, both directions: 160 Mbit/s, which a home line survives for the first round
/// trip. With the bytes a request below, 25,000 requests a second.
const BYTES_AT_START: f64 = 20e6;
/// The rate never falls below this many bytes a second.
const LEAST_BYTES: f64 = 256e3;
/// The rate never rises above this many bytes a second: 10 Gbit/s.
const MOST_BYTES: f64 = 1.25e9;
/// Bytes that a request brings, before the answers tell: a Quake 3 server with ten players.
const REQUEST_BYTES_AT_START: f64 = 800.0;
/// What a line carries beside each datagram: headers of UDP and IPv4.
const HEADERS: f64 = 28.0;
/// The rate is reviewed after so long while no round-trip time is known.
const FIRST_REVIEW: Duration = Duration::from_millis(50);
/// Bounds of the time between two reviews, which is twice the shortest round-trip time.
const REVIEW: (Duration, Duration) = (Duration::from_millis(5), Duration::from_millis(250));
/// A line whose queue makes every round trip longer by this is full. Half of what RFC 6817 (LEDBAT) allows: a scan is short.
const QUEUE_DELAY: Duration = Duration::from_millis(50);
/// Round trips in the time between two reviews that say something of the queue.
const ENOUGH: u32 = 16;

/// How long a request without a reply keeps its reservation at least, where a round trip is not known to be shorter: a
/// process may be off its processor for this long.
const HOLD: (Duration, Duration) = (Duration::from_micros(250), Duration::from_micros(500));
/// A silence that says nothing of the servers, while few have answered and later: a program off its processor is
/// silent as well, and what it then sends comes at once.
const PAUSE: (Duration, Duration) = (Duration::from_millis(10), Duration::from_millis(50));
/// Share of answered requests below which a silence is nothing unusual.
const USUAL_SHARE: f64 = 0.3;

/// How much of a second's requests may leave at once.
const MOST_BURST: Duration = Duration::from_millis(20);

/// Number of a reservation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reservation(u64);

/// Bounds what is on its way back.
///
/// A request reserves space in the receive buffer for the datagrams it brings. The reservation ends with the answer, or
/// after [`Self::hold`]: what has not come by then comes by itself, and brings no burst. As many requests hold one as the
/// buffer has space for, by how many datagrams an answered request brings and what share of requests is answered. The
/// share follows a rise at once and a fall slowly.
///
/// In a short silence ([`PAUSE`]) only those end that later requests have overtaken.
///
/// The hold is what makes the rate: silent servers leave [`Self::places`] requests each [`Self::hold`]. Servers that
/// answer sooner, on the same network, are not held back by it. The rate is in bytes, sent and received together,
/// divided by what a request is found to bring. It begins at [`BYTES_AT_START`] and doubles with each review in which half of it
/// was used, until all round trips become longer by [`QUEUE_DELAY`] or the kernel drops a datagram; then it halves, and
/// grows by an eighth. Round trips that do not become shorter with that are those of servers further away.
#[derive(Debug)]
pub(super) struct Admission {
    /// Datagrams that the receive buffer holds, and how many are used since datagrams were dropped.
    space: f64,
    usable: f64,
    /// Requests that may bring datagrams, by time; the first one is held.
    holders: VecDeque<Holder>,
    /// The number of the first of them.
    first: u64,
    held: u32,
    /// Datagrams that an answered request brings, and whether answers have shown that.
    datagrams: f64,
    knows_answers: bool,
    /// Share of requests that are answered.
    share: f64,
    /// Requests of this block whose reservation ended without an answer, and requests that were answered.
    block: (u32, u32),
    rate: ByteRate,
    rtt: Option<Duration>,
    /// The latest datagram, or the first request.
    heard_at: Option<Instant>,
    /// The latest reservation that was answered.
    overtaken: u64,
}

#[derive(Debug, Clone, Copy)]
struct Holder {
    since: Instant,
    is_held: bool,
}

/// Bytes a second, by what comes back.
#[derive(Debug)]
struct ByteRate {
    control: RateControl,
    bytes_per_second: f64,
    bytes_per_request: f64,
    /// Whether the rate doubles, until the line is full for the first time.
    doubles: bool,
    /// When the time since the latest review began.
    since: Option<Instant>,
    now: Traffic,
    /// The time before the latest review, and the one before that.
    before: [Traffic; 2],
    /// The shortest round trip of all.
    least_rtt: Option<Duration>,
    /// While the line is full: the shortest round trip at first, how often the rate was cut, and when it may be again.
    full: Option<(Duration, u8, Instant)>,
}

/// Who decides about the rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RateControl {
    /// What comes back.
    Learned,
    /// The caller, in bytes a second.
    Bytes(u64),
    /// The caller, in datagrams a second, by other means.
    Datagrams,
}

/// What crossed between two reviews.
#[derive(Debug, Clone, Copy, Default)]
struct Traffic {
    requests: u32,
    sent: f64,
    received: f64,
    round_trips: u32,
    least_rtt: Option<Duration>,
    dropped: bool,
}

impl Admission {
    pub(super) fn new(control: RateControl) -> Self {
        let mut admission = Self {
            space: 0.0,
            usable: 0.0,
            holders: VecDeque::new(),
            first: 0,
            held: 0,
            datagrams: DATAGRAMS_AT_START,
            knows_answers: false,
            share: 1.0,
            block: (0, 0),
            rate: ByteRate::new(control),
            rtt: None,
            heard_at: None,
            overtaken: 0,
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

    /// Reviews the rate when it is time to, and ends reservations that are over.
    pub(super) fn handle_time(&mut self, now: Instant) {
        if self.rate.is_due(now) {
            self.rate.review(now);
        }
        while let Some(holder) = self.holders.front()
            && (!holder.is_held || self.first_ends_at().is_some_and(|end| end <= now))
        {
            let was_held = u32::from(holder.is_held);
            self.held = self.held.saturating_sub(was_held);
            self.block.0 = self.block.0.saturating_add(was_held);
            self.holders.pop_front();
            self.first = self.first.wrapping_add(1);
        }
        self.learn_share();
    }

    /// Until when no request may be sent; `None` when one may be sent now.
    pub(super) fn blocked_until(&self, now: Instant) -> Option<Instant> {
        if f64::from(self.held) < self.places() {
            return None;
        }
        self.first_ends_at().filter(|&end| end > now)
    }

    /// Accounts for a request of so many bytes.
    pub(super) fn sent(&mut self, now: Instant, bytes: usize) -> Reservation {
        self.rate.sent(now, bytes);
        self.heard_at.get_or_insert(now);
        let number = self.first.wrapping_add(u64::try_from(self.holders.len()).unwrap_or_default());
        self.holders.push_back(Holder { since: now, is_held: true });
        self.held = self.held.saturating_add(1);
        Reservation(number)
    }

    /// The datagrams of this request have arrived, or none is expected any more.
    pub(super) fn release(&mut self, reservation: Reservation) {
        let position = usize::try_from(reservation.0.wrapping_sub(self.first)).unwrap_or(usize::MAX);
        if let Some(holder) = self.holders.get_mut(position)
            && std::mem::take(&mut holder.is_held)
        {
            self.held = self.held.saturating_sub(1);
        }
        while self.holders.front().is_some_and(|holder| !holder.is_held) {
            self.holders.pop_front();
            self.first = self.first.wrapping_add(1);
        }
    }

    /// Accounts for a datagram; `is_first`: the first that came for its request, which has this reservation.
    pub(super) fn received(
        &mut self,
        now: Instant,
        bytes: usize,
        is_first: bool,
        reservation: Option<Reservation>,
    ) {
        self.heard_at = Some(now);
        if let Some(Reservation(number)) = reservation {
            self.overtaken = self.overtaken.max(number);
        }
        self.rate.now.received += length(bytes);
        self.block.1 = self.block.1.saturating_add(u32::from(is_first));
        self.learn_share();
        // Room that drops have taken away comes back with what crosses without any.
        if self.usable < self.space {
            self.usable += self.usable.recip();
        }
    }

    /// Follows a rise of the share of answered requests at once, a fall by a quarter a block.
    fn learn_share(&mut self) {
        let (silent, answered) = self.block;
        let all = silent.saturating_add(answered);
        let share = f64::from(answered) / f64::from(all.max(BLOCK));
        if all >= BLOCK {
            self.share = share.max(self.share * 0.75).max(LEAST_SHARE);
            self.block = (0, 0);
        } else {
            self.share = self.share.max(share);
        }
    }

    /// Records an answer's round-trip time, and how many datagrams an answered request brings once that is known.
    pub(super) fn answered(&mut self, rtt: Option<Duration>, datagrams: Option<u32>) {
        if let Some(rtt) = rtt {
            // The mean over about eight answers.
            self.rtt = Some(self.rtt.map_or(rtt, |mean| {
                mean.saturating_mul(7).saturating_add(rtt).checked_div(8).unwrap_or(mean)
            }));
            self.rate.now.round_trips = self.rate.now.round_trips.saturating_add(1);
            let least = &mut self.rate.now.least_rtt;
            *least = Some(least.map_or(rtt, |least| least.min(rtt)));
        }
        if let Some(datagrams) = datagrams {
            (self.datagrams, self.knows_answers) = (f64::from(datagrams).max(1.0), true);
        }
    }

    /// The kernel dropped datagrams: less of the buffer is used, once in the time between two reviews.
    pub(super) fn dropped(&mut self) {
        if !std::mem::replace(&mut self.rate.now.dropped, true) {
            self.usable = (self.usable / 2.0).max(1.0);
        }
    }

    /// When the first reservation ends without an answer.
    fn first_ends_at(&self) -> Option<Instant> {
        let end = self.holders.front()?.since.checked_add(self.hold())?;
        let (at_start, later) = PAUSE;
        let pause = if self.knows_answers { later } else { at_start };
        let heard_at = self.heard_at?;
        let is_unusual = self.share >= USUAL_SHARE && end > heard_at && self.overtaken <= self.first;
        Some(if is_unusual { end.max(heard_at.checked_add(pause)?) } else { end })
    }

    /// Requests that may hold a reservation.
    pub(super) fn places(&self) -> f64 {
        let share = (self.share * SHARE_MARGIN).min(1.0);
        let places = (self.usable / (self.datagrams * share).max(LEAST_DATAGRAMS)).max(LEAST);
        match self.rate.requests_per_second() {
            Some(rate) => places.min(rate * MOST_BURST.as_secs_f64()).max(1.0),
            None => places,
        }
    }

    /// How long a request without a reply keeps its reservation.
    fn hold(&self) -> Duration {
        let burst = self.least_hold();
        let hold = self.rate.requests_per_second().map(|rate| self.places() / rate);
        let hold = hold.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        hold.map_or(burst, |hold| hold.max(burst))
    }

    fn least_hold(&self) -> Duration {
        let (least, most) = HOLD;
        self.rtt.map_or(most, |rtt| rtt.saturating_mul(2).clamp(least, most))
    }
}

impl ByteRate {
    fn new(control: RateControl) -> Self {
        let bytes_per_second = match control {
            // Far below 2^53.
            RateControl::Bytes(bytes) => bytes as f64,
            RateControl::Learned | RateControl::Datagrams => BYTES_AT_START,
        };
        Self {
            control,
            bytes_per_second,
            bytes_per_request: REQUEST_BYTES_AT_START,
            doubles: true,
            since: None,
            now: Traffic::default(),
            before: [Traffic::default(); 2],
            least_rtt: None,
            full: None,
        }
    }

    /// `None` where the caller bounds datagrams.
    fn requests_per_second(&self) -> Option<f64> {
        (self.control != RateControl::Datagrams).then(|| self.bytes_per_second / self.bytes_per_request)
    }

    fn sent(&mut self, now: Instant, bytes: usize) {
        self.since.get_or_insert(now);
        self.now.requests = self.now.requests.saturating_add(1);
        self.now.sent += length(bytes);
    }

    fn is_due(&self, now: Instant) -> bool {
        let (least, most) = REVIEW;
        let rtt = self.least_rtt.into_iter().chain(self.now.least_rtt).min();
        let after = rtt.map_or(FIRST_REVIEW, |rtt| rtt.saturating_mul(2).clamp(least, most));
        self.since.is_some_and(|since| now.saturating_duration_since(since) >= after)
    }

    /// Concludes from what crossed since the latest review, and in the time before.
    fn review(&mut self, now: Instant) {
        let Some(since) = self.since.replace(now) else { return };
        let seconds = now.saturating_duration_since(since).as_secs_f64();
        let (traffic, [before, earlier]) = (std::mem::take(&mut self.now), self.before);
        let base = self.least_rtt.or(traffic.least_rtt).unwrap_or_default();
        self.least_rtt = self.least_rtt.into_iter().chain(traffic.least_rtt).min();
        let delayed = traffic
            .least_rtt
            .filter(|&least| traffic.round_trips >= ENOUGH && least > base.saturating_add(QUEUE_DELAY));
        let is_learned = self.control == RateControl::Learned;
        let crossed = traffic.sent + traffic.received;
        if let Some(rtt) = delayed.filter(|_| is_learned) {
            // What a full line loses looks like silent servers: nothing is learned from it.
            self.before = [Traffic::default(); 2];
            return self.slow_down(now, rtt, crossed / seconds.max(1e-3));
        }
        self.full = None;
        self.before = [traffic, before];
        self.learn_bytes_per_request(&traffic, &before, &earlier);
        if !is_learned {
            return;
        }
        if traffic.dropped {
            self.doubles = false;
            self.bytes_per_second = (self.bytes_per_second / 2.0).max(LEAST_BYTES);
        } else if crossed >= self.bytes_per_second * seconds / 2.0 {
            let growth = if self.doubles { 2.0 } else { 1.125 };
            self.bytes_per_second = (self.bytes_per_second * growth).min(MOST_BYTES);
        }
    }

    /// The line is full, at `rtt` and so many bytes a second: half of them from now on, which takes a round trip to show.
    fn slow_down(&mut self, now: Instant, rtt: Duration, carried: f64) {
        let (first, cuts, next) = self.full.unwrap_or((rtt, 0, now));
        if now < next {
            return;
        }
        if cuts >= 3 && rtt >= first.mul_f64(0.9) {
            // Much less is on its way, and the round trips are as long as before: the servers are far away.
            (self.least_rtt, self.full, self.doubles) = (Some(rtt), None, true);
            return;
        }
        let least = self.least_rtt.unwrap_or_default();
        let settled = now.checked_add(rtt.saturating_add(least)).unwrap_or(now);
        (self.full, self.doubles) = (Some((first, cuts.saturating_add(1), settled)), false);
        self.bytes_per_second = (self.bytes_per_second.min(carried) / 2.0).max(LEAST_BYTES);
        self.bytes_per_request = self.bytes_per_request.max(REQUEST_BYTES_AT_START);
    }

    /// What a request brings, by the requests that had time for it. Falls to a quarter at most at a time.
    fn learn_bytes_per_request(&mut self, traffic: &Traffic, before: &Traffic, earlier: &Traffic) {
        // Once answers come, those to the latest requests may still be on their way.
        let is_known = self.least_rtt.is_some() || traffic.least_rtt.is_some();
        let requests = if is_known { [before, earlier] } else { [traffic, before] };
        if requests.iter().any(|traffic| traffic.requests == 0) {
            return;
        }
        let sum = |value: fn(&Traffic) -> f64| requests.iter().map(|traffic| value(traffic)).sum::<f64>();
        let received = if is_known {
            f64::midpoint(traffic.received, earlier.received) + before.received
        } else {
            traffic.received + before.received
        };
        let requests = sum(|traffic| f64::from(traffic.requests));
        let measured = (received + sum(|traffic| traffic.sent)) / requests;
        self.bytes_per_request = measured.max(self.bytes_per_request / 4.0);
    }
}

/// What a datagram takes of a line.
fn length(bytes: usize) -> f64 {
    f64::from(u32::try_from(bytes).unwrap_or(u32::MAX)) + HEADERS
}
