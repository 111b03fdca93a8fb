//! Replies per second on one processor, compared with loops that send the same datagrams to any
//! request. See benches/README.md.
#![allow(
    missing_docs,
    clippy::arithmetic_side_effects,
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::needless_range_loop,
    clippy::panic,
    clippy::unwrap_used,
    clippy::zombie_processes,
    reason = "a benchmark"
)]

#[cfg(target_os = "linux")]
mod echo;

#[cfg(target_os = "linux")]
fn main() {
    echo::main();
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("The comparison needs Linux.");
}
