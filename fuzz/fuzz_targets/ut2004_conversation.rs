#![no_main]

#[path = "../bodies/ut2004.rs"]
mod ut2004;

libfuzzer_sys::fuzz_target!(|data: &[u8]| ut2004::conversation(data));
