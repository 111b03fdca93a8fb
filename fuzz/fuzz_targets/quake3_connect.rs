#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| kit::fuzz::quake3_client::connect(data));
