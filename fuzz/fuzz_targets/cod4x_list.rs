#![no_main]

#[path = "../bodies/lists.rs"]
mod lists;

libfuzzer_sys::fuzz_target!(|data: &[u8]| lists::cod4x(data));
