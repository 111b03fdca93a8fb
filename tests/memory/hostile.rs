//! The memory that the costliest inputs take.
use allocation_counter::measure;

use kit::hostile;

/// The maximum number of bytes on the heap for each byte that arrived.
const PER_BYTE: u64 = 96;
/// The maximum number of bytes in addition to those.
const FIXED: u64 = 64 << 10;
/// The inputs that are lists.
const LISTS: usize = 4;
/// The length of a list: a quarter of the longest that is read.
const LIST: usize = 1 << 20;
/// The maximum number of bytes on the heap for it: a quarter of 36 MiB. The list is held twice while
/// its buffer grows, and its servers with their entries.
const MAX_OF_LIST: u64 = 9 << 20;

#[test]
fn no_input_takes_more_memory_than_its_length_allows() {
    let mut lists = 0;
    for hostile in &hostile::ALL {
        let taken = |length: usize| {
            let input = hostile.input(length);
            measure(|| hostile.read(input)).bytes_max
        };
        taken(256);
        for length in [4 << 10, 16 << 10] {
            let most = taken(length);
            println!("{}: {most} bytes for {length}", hostile.name);
            let bound = FIXED + PER_BYTE * length as u64;
            assert!(most <= bound, "{}: {most} bytes for {length}", hostile.name);
        }
        if hostile.name.contains(" list, ") {
            let most = taken(LIST);
            assert!(most <= MAX_OF_LIST, "{}: {most} bytes", hostile.name);
            lists += 1;
        }
    }
    assert_eq!(lists, LISTS);
}
