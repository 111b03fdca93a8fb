#![no_main]

#[path = "../bodies/differential.rs"]
mod differential;

libfuzzer_sys::fuzz_target!(|data: &[u8]| differential::gamespy4(data));
