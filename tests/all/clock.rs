//! Virtual time for tests over sockets.

use std::time::Duration;

/// How far the clock moves at a time, and how long the machine gets for each step at least.
const STEP: Duration = Duration::from_millis(10);
const REAL_TIME: Duration = Duration::from_millis(1);

/// Pauses the clock of this runtime, and moves it in steps from now on, about ten times as fast as
/// the real one.
///
/// Unlike the real clock, it does not move while the machine does something else, so that no
/// timeout passes because a test is slow. Unlike tokio's paused clock alone, it leaves time for
/// datagrams to arrive before the next timer.
pub fn run_in_steps() {
    tokio::time::pause();
    kit::spawn(async {
        loop {
            // Tokio does not move a paused clock by itself while a blocking task runs.
            let pause = tokio::task::spawn_blocking(|| std::thread::sleep(REAL_TIME));
            pause.await.unwrap();
            tokio::time::advance(STEP).await;
        }
    });
}
