#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| kit::fuzz::lists::gamespy1(data));
