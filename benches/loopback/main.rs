//! Scans over loopback, compared with a loop without parsing in the same run. See
//! benches/README.md.
#![allow(
    missing_docs,
    dead_code,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    clippy::disallowed_methods,
    clippy::exhaustive_enums,
    clippy::exhaustive_structs,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a benchmark"
)]

#[cfg(target_os = "linux")]
mod farm;
#[cfg(target_os = "linux")]
mod floor;
#[cfg(target_os = "linux")]
mod internet;
#[cfg(target_os = "linux")]
mod measure;
#[cfg(target_os = "linux")]
mod templates;

#[cfg(target_os = "linux")]
fn main() -> std::io::Result<()> {
    measure::main()
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("The loopback farm needs Linux.");
}
