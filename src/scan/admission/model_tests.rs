//! Random events, played to the admission and to a plain model of it.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::disallowed_methods,
    reason = "virtual time and small numbers in tests"
)]

use kit::link::Random;

use super::*;

const MS: Duration = Duration::from_millis(1);

/// A plain model of the admission: the same rules, written over the whole history. It keeps
/// everything that happened, and derives from that when a request may be sent. It finds errors
/// in counters and queues, not in the rules. Times are durations since the start.
struct Model {
    /// Bytes a second, and the rate below which it doubles.
    rate: Option<(f64, f64)>,
    capacity: f64,
    usable: f64,
    /// The send time of each request, by its number − 1.
    sent: Vec<Duration>,
    held: Vec<u64>,
    /// The time, bytes and request of each datagram.
    received: Vec<(Duration, u64, u64)>,
    datagrams_per_request: f64,
    /// Requests and datagrams of the present sample.
    sample: [u32; 2],
    rtts: Vec<Duration>,
    /// The round-trip times of the window before the present one, until a review uses it.
    window: Option<[Duration; 16]>,
    mean_rtt: Duration,
    base_rtt: Duration,
    interval_start: Duration,
    /// Datagrams before this one are of earlier intervals.
    first_of_interval: usize,
    was_full: bool,
    has_drops: bool,
    was_shrunk: bool,
}

impl Model {
    fn new(rate: Option<f64>) -> Self {
        let capacity = f64::from(212_992 / 3072);
        Self {
            rate: rate.map(|rate| (rate, f64::INFINITY)),
            capacity,
            usable: capacity,
            sent: Vec::new(),
            held: Vec::new(),
            received: Vec::new(),
            datagrams_per_request: 4.0,
            sample: [0; 2],
            rtts: Vec::new(),
            window: None,
            mean_rtt: Duration::ZERO,
            base_rtt: Duration::ZERO,
            interval_start: Duration::ZERO,
            first_of_interval: 0,
            was_full: false,
            has_drops: false,
            was_shrunk: false,
        }
    }

    /// As many as fit the buffer, but no more than 20 ms of the rate.
    fn allowed(&self) -> f64 {
        let fitting = (self.usable / self.datagrams_per_request.max(1.0)).max(16.0);
        let burst = self.rate.map(|(rate, _)| rate / 800.0 * 0.02);
        burst.map_or(fitting, |burst| fitting.min(burst)).max(1.0)
    }

    fn hold(&self) -> Duration {
        let slots_by_rate = |(rate, _)| Duration::from_secs_f64(self.allowed() * 800.0 / rate);
        self.rate.map_or(MS / 2, slots_by_rate).max(MS / 2)
    }

    fn is_full(&self) -> bool {
        self.held.len() as f64 >= self.allowed()
    }

    fn frees_at(&self, request: u64) -> Duration {
        let hold_end = self.sent[request as usize - 1] + self.hold();
        let latest = self.received.last().map(|(at, ..)| *at);
        let silent_since = latest.unwrap_or(self.sent[0]);
        let mut answered = self.received.iter().map(|(.., request)| *request);
        let has_later_reply = answered.any(|answered| answered > request);
        let is_quiet = self.datagrams_per_request < 0.3;
        if is_quiet || has_later_reply || silent_since >= hold_end {
            return hold_end;
        }
        let pause = if self.rtts.len() < 64 { 10 } else { 50 };
        hold_end.max(silent_since + MS * pause)
    }

    fn blocked_until(&self, now: Duration) -> Option<Duration> {
        let oldest = *self.held.first().filter(|_| self.is_full())?;
        Some(self.frees_at(oldest)).filter(|at| *at > now)
    }

    fn time(&mut self, now: Duration) {
        self.review(now);
        while let Some(oldest) = self.held.first().copied()
            && self.frees_at(oldest) <= now
        {
            self.release(oldest);
        }
    }

    fn review(&mut self, now: Duration) {
        let passed = now.saturating_sub(self.interval_start);
        let interval = match self.rtts.len() {
            0 => MS * 50,
            _ => (self.mean_rtt * 2).clamp(MS * 5, MS * 250),
        };
        if passed < interval {
            return;
        }
        let new = self.received[self.first_of_interval..].iter();
        let counted = new.filter(|(at, ..)| *at >= self.interval_start);
        let arrived: u64 = counted.map(|(_, bytes, _)| *bytes).sum();
        let arrived = arrived as f64 / passed.as_secs_f64();
        self.first_of_interval = self.received.len();
        self.interval_start = now;
        self.was_shrunk = false;
        let Some((rate, threshold)) = self.rate else {
            return;
        };
        let has_drops = std::mem::take(&mut self.has_drops);
        let shortest = self
            .window
            .take()
            .and_then(|window| window.into_iter().min());
        if !std::mem::take(&mut self.was_full) {
            return;
        }
        let delayed = shortest.filter(|rtt| *rtt > self.base_rtt + MS * 50);
        let cut_to = match delayed {
            Some(_) => Some(arrived / 2.0),
            None => has_drops.then_some(rate / 2.0),
        };
        if let Some(rtt) = delayed {
            self.base_rtt = (self.base_rtt + rtt) / 2;
            self.interval_start = now + rtt;
        }
        self.rate = Some(match cut_to {
            Some(to) => (to.clamp(rate / 8.0, rate / 2.0).max(256e3), rate / 2.0),
            None => {
                let grown = (rate * 2.0).min(threshold).max(rate * 1.125);
                (grown.min(1.25e9), threshold)
            }
        });
    }

    fn send(&mut self, now: Duration) -> u64 {
        self.sent.push(now);
        let request = self.sent.len() as u64;
        self.held.push(request);
        self.was_full |= self.is_full();
        request
    }

    fn release(&mut self, request: u64) {
        let before = self.held.len();
        self.held.retain(|held| *held != request);
        if self.held.len() == before {
            return;
        }
        self.sample[0] += 1;
        if self.sample[0] == 64 {
            let mean = f64::from(self.sample[1]) / 64.0;
            self.datagrams_per_request = mean.max(self.datagrams_per_request * 0.75);
            self.sample = [0; 2];
        }
    }

    fn receive(&mut self, now: Duration, bytes: u64, request: u64) {
        self.received.push((now, bytes, request));
        self.sample[1] += 1;
        let mean = f64::from(self.sample[1]) / 64.0;
        self.datagrams_per_request = self.datagrams_per_request.max(mean);
        self.usable = (self.usable + 1.0 / self.usable).min(self.capacity);
    }

    fn answer(&mut self, rtt: Duration) {
        if self.rtts.is_empty() {
            (self.mean_rtt, self.base_rtt) = (rtt, rtt);
        }
        self.mean_rtt = (self.mean_rtt * 7 + rtt) / 8;
        self.base_rtt = self.base_rtt.min(rtt);
        self.rtts.push(rtt);
        if self.rtts.len().is_multiple_of(16) {
            self.window = self.rtts.last_chunk().copied();
        }
    }

    fn drop_datagrams(&mut self) {
        self.has_drops = true;
        if !std::mem::replace(&mut self.was_shrunk, true) {
            self.usable = (self.usable / 2.0).max(1.0);
        }
    }
}

/// The events of a play.
#[derive(Debug, Default)]
struct Counts {
    blocked: u32,
    sent: u32,
    cuts: u32,
    grown: u32,
}

impl Counts {
    fn count_change(&mut self, former_rate: Option<f64>, rate: Option<f64>) {
        self.cuts += u32::from(rate < former_rate);
        self.grown += u32::from(rate > former_rate);
    }
}

/// Random options, and their bytes a second.
fn options(random: &mut Random) -> (ScanOptions, Option<f64>) {
    let options = ScanOptions::default();
    match random.below(5) {
        0 => (options.with_rate(Some(10)), None),
        1 => (options.with_bytes_per_second(Some(300_000)), Some(3e5)),
        2 => (options.with_bytes_per_second(Some(2_000)), Some(2e3)),
        _ => (options, Some(20e6)),
    }
}

/// Receives fewer datagrams than `most` of one request, also of one that holds no slot any more,
/// and of none.
fn receive(
    random: &mut Random,
    (admission, model): (&mut Admission, &mut Model),
    (instant, now): (Instant, Duration),
    most: u64,
) {
    let request = random.below(model.sent.len() as u64 + 1);
    for _ in 0..random.below(most) {
        let bytes = random.below(1500);
        admission.received(instant, bytes, request);
        model.receive(now, bytes, request);
    }
    if random.below(2) == 0 {
        admission.release(request);
        model.release(request);
    }
}

/// Plays random events to the admission and the model.
fn play(random: &mut Random, counts: &mut Counts) {
    let start = Instant::now();
    let (options, rate) = options(random);
    let mut admission = Admission::new(&options, start);
    let mut model = Model::new(rate);
    let (mut round_trips, mut most) = ((1, 8), (1, 1));
    let (mut now, mut former_rate) = (Duration::ZERO, rate);
    for step in 0..600 {
        if step % 200 == 0 {
            most = random.pick([(2, 9), (9, 1), (40, 2)]);
            round_trips = random.pick([(1, 8), (20, 40), (60, 90), (200, 180)]);
        }
        let pause = random.pick([0, 0, 0, 1, 100, 1_000, 7_000, 300_000]);
        now += Duration::from_micros(pause);
        if let Some(at) = model.blocked_until(now).filter(|_| random.below(3) == 0) {
            now = at - Duration::from_nanos(random.below(2));
        }
        let instant = start + now;
        // The scanner does so before each request, and not before each datagram.
        if random.below(2) == 0 {
            admission.handle_time(instant);
            model.time(now);
        }
        match random.below(16) {
            0 => {
                admission.handle_drops();
                model.drop_datagrams();
            }
            1 if step % 8 == 0 => {
                let bytes = random.pick([0, 30_000, 212_992, 9_000_000]);
                admission.set_receive_buffer(bytes);
                (model.capacity, model.usable) = ((bytes / 3072) as f64, (bytes / 3072) as f64);
            }
            2..=4 => {
                let (shortest, spread) = round_trips;
                let rtt = MS * (shortest + random.below(spread) as u32);
                admission.answered(rtt);
                model.answer(rtt);
            }
            5..=8 => {
                let both = (&mut admission, &mut model);
                receive(random, both, (instant, now), most.1);
            }
            _ => {
                for _ in 0..random.below(most.0) {
                    if model.blocked_until(now).is_none() {
                        assert_eq!(admission.sent(instant), model.send(now));
                        counts.sent += 1;
                    }
                }
            }
        }
        let blocked_until = model.blocked_until(now);
        let expected = blocked_until.map(|at| start + at);
        assert_eq!(admission.blocked_until(instant), expected, "at {now:?}");
        counts.blocked += u32::from(blocked_until.is_some());
        let rate = model.rate.map(|(rate, _)| rate);
        counts.count_change(std::mem::replace(&mut former_rate, rate), rate);
    }
}

#[test]
fn requests_wait_exactly_as_the_rules_say_whatever_happens() {
    let mut counts = Counts::default();
    for seed in 0..40 {
        play(&mut Random(seed), &mut counts);
    }
    let Counts {
        blocked,
        sent,
        cuts,
        grown,
    } = counts;
    let all = [blocked, sent, cuts, grown];
    assert!(all.iter().all(|count| *count > 200), "{counts:?}");
}
