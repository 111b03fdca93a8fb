#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| kit::fuzz::ut2004::request(data));
