#![no_main]

#[path = "../bodies/gamespy4.rs"]
mod gamespy4;

libfuzzer_sys::fuzz_target!(|data: &[u8]| gamespy4::conversation(data));
