//! The memory that the costliest inputs take, which the search in `fuzz/worst/` found.
use allocation_counter::measure;

use crate::found;
use crate::targets::TARGETS;

/// Most bytes on the heap for each byte that arrived, headers included.
const PER_BYTE: u64 = 96;
/// Most bytes besides.
const FIXED: u64 = 64 << 10;

#[test]
fn no_input_takes_more_memory_than_its_length_allows() {
    let mut failures = Vec::new();
    for found in found::work().into_iter().chain(found::memory()) {
        let target = TARGETS.iter().find(|target| target.name == found.target).expect("a target");
        target.work(&found.shape, 256)();
        for size in [found.size / 4, found.size] {
            let (mut work, mut bytes) = (target.work(&found.shape, size), 0);
            let counted = measure(|| bytes = work());
            let (most, bytes) = (counted.bytes_max, bytes as u64);
            println!(
                "{}: {most} bytes for {bytes}, {:.1} for each",
                found.name(),
                most as f64 / bytes as f64
            );
            if most > FIXED + PER_BYTE * bytes {
                failures.push(format!("{}: {most} bytes for {bytes}", found.name()));
            }
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}
