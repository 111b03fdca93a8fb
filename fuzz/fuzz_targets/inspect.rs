#![no_main]

#[path = "../bodies/script.rs"]
mod script;
#[path = "../bodies/structured.rs"]
mod structured;

libfuzzer_sys::fuzz_target!(|data: &[u8]| structured::inspected(data));
