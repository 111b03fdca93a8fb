#![no_main]

#[path = "../bodies/quake3.rs"]
mod quake3;

libfuzzer_sys::fuzz_target!(|data: &[u8]| quake3::request(data));
