//! The memory that the costliest inputs take, which the search in `fuzz/worst/` found.
use allocation_counter::measure;

use kit::worst::found;
use kit::worst::targets::TARGETS;

/// The maximum number of bytes on the heap for each byte that arrived, headers included.
const PER_BYTE: u64 = 96;
/// The maximum number of bytes in addition to those.
const FIXED: u64 = 64 << 10;
/// The maximum number of bytes on the heap for a list of 4 MiB, the longest that is read. They hold
/// the list twice, since it grows, and 65,536 servers with their entries.
const LIST: u64 = 36 << 20;

#[test]
fn no_input_takes_more_memory_than_its_length_allows() {
    let mut failures = Vec::new();
    for found in found::work().into_iter().chain(found::memory()) {
        let target = TARGETS
            .iter()
            .find(|target| target.name == found.target)
            .expect("a target");
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

#[test]
fn a_list_takes_no_memory_for_servers_over_its_limit() {
    let lists = [
        "gamespy1 list, plain",
        "gamespy1 list, compressed",
        "gamespy4 list",
        "quake3 cod4x list",
        "ut2004 list",
    ];
    kit::at_once(lists, |list| {
        let target = TARGETS
            .iter()
            .find(|target| target.name == list)
            .expect("a target");
        let is_it = |found: &found::Found| found.target == list;
        for found in found::work()
            .into_iter()
            .chain(found::memory())
            .filter(is_it)
        {
            let mut work = target.work(&found.shape, 4 << 20);
            let counted = measure(|| {
                work();
            });
            println!("{}: {} bytes", found.name(), counted.bytes_max);
            assert!(
                counted.bytes_max <= LIST,
                "{}: {} bytes",
                found.name(),
                counted.bytes_max
            );
        }
    });
}
