#![no_main]

#[path = "../bodies/quake3_huffman.rs"]
mod quake3_huffman;

libfuzzer_sys::fuzz_target!(|data: &[u8]| quake3_huffman::huffman(data));
