//! Functions that `run.mjs` calls to run a session of the crate. JavaScript has the socket and the
//! clock.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "a test"
)]

use std::cell::RefCell;
use std::time::Duration;

use queryport::quake3::StatusQuery;
use queryport::session::{Machine, Session};
use queryport::{Instant, QueryOptions, Timing, ToStatus};

const SERVER: ([u8; 4], u16) = ([192, 0, 2, 1], 27960);

thread_local! {
    static SESSION: RefCell<Option<Session<StatusQuery>>> = const { RefCell::new(None) };
    /// The datagrams that are passed in and out.
    static BUFFER: RefCell<[u8; 65_536]> = const { RefCell::new([0; 65_536]) };
}

/// The time of JavaScript's `performance.now()`.
fn at(milliseconds: f64) -> Instant {
    Instant::from(Duration::from_secs_f64(milliseconds / 1000.0))
}

fn with<T>(call: impl FnOnce(&mut Session<StatusQuery>) -> T) -> T {
    SESSION.with_borrow_mut(|session| call(session.as_mut().expect("started")))
}

/// Leaves bytes in the buffer and returns their number.
fn give(bytes: &[u8]) -> i32 {
    BUFFER.with_borrow_mut(|buffer| buffer[..bytes.len()].copy_from_slice(bytes));
    i32::try_from(bytes.len()).expect("short")
}

#[unsafe(no_mangle)]
pub extern "C" fn buffer() -> *mut u8 {
    BUFFER.with_borrow_mut(|buffer| buffer.as_mut_ptr())
}

/// Starts a query that sends again after 100 ms.
#[unsafe(no_mangle)]
pub extern "C" fn start(now: f64) {
    let timing = Timing::default().with_retry_after(Duration::from_millis(100));
    let query = StatusQuery::new(42, &QueryOptions::default());
    SESSION.set(Some(Session::new(query, SERVER.into(), timing, at(now))));
}

/// The length of a datagram to be sent; -1: none.
#[unsafe(no_mangle)]
pub extern "C" fn poll_transmit(now: f64) -> i32 {
    let mut out = Vec::new();
    with(|session| session.poll_transmit(at(now), &mut out)).map_or(-1, |_| give(&out))
}

/// A datagram of this length lies in the buffer.
#[unsafe(no_mangle)]
pub extern "C" fn handle_datagram(now: f64, length: usize) {
    let datagram = BUFFER.with_borrow(|buffer| buffer[..length].to_vec());
    with(|session| session.handle_datagram(at(now), SERVER.into(), &datagram));
}

/// Milliseconds until `handle_timeout` is to be called.
#[unsafe(no_mangle)]
pub extern "C" fn poll_timeout(now: f64) -> f64 {
    let due = with(|session| session.poll_timeout()).unwrap_or_else(|| at(now));
    due.saturating_duration_since(at(now)).as_secs_f64() * 1000.0
}

#[unsafe(no_mangle)]
pub extern "C" fn handle_timeout(now: f64) {
    with(|session| session.handle_timeout(at(now)));
}

/// The length of the answer as text; -1: none yet.
#[unsafe(no_mangle)]
pub extern "C" fn poll_answer() -> i32 {
    let Some(result) = with(Session::poll_answer) else {
        return -1;
    };
    let text = match result {
        Ok(outcome) => {
            let status = outcome.answer.to_status();
            let names: Vec<String> = status
                .players
                .iter()
                .map(|player| player.name.to_string())
                .collect();
            let name = status.name.map(|name| name.to_string()).unwrap_or_default();
            format!(
                "{name}: {} ({} retries)",
                names.join(", "),
                outcome.stats.retries
            )
        }
        Err(error) => error.to_string(),
    };
    give(text.as_bytes())
}
