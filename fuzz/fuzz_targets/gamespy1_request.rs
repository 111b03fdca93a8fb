#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| kit::fuzz::gamespy1::request(data));
