#![no_main]

#[path = "../bodies/quake3_master.rs"]
mod quake3_master;

libfuzzer_sys::fuzz_target!(|data: &[u8]| quake3_master::reply(data));
