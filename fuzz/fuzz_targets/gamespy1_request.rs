#![no_main]

#[path = "../bodies/gamespy1.rs"]
mod gamespy1;

libfuzzer_sys::fuzz_target!(|data: &[u8]| gamespy1::request(data));
