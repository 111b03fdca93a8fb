#![no_main]

#[path = "../bodies/differential.rs"]
mod differential;
#[path = "../bodies/script.rs"]
mod script;

libfuzzer_sys::fuzz_target!(|data: &[u8]| differential::quake3(data));
