//! Bare `memchr` passes over the datagrams that the decoders read: a lower bound.

use bytes::Bytes;

/// Counts the occurrences of a byte.
pub fn count(byte: u8, datagrams: &[Bytes]) -> usize {
    datagrams
        .iter()
        .map(|datagram| memchr::memchr_iter(byte, datagram).count())
        .sum()
}

/// Counts the occurrences of a byte and reads the length of each token.
pub fn stops(byte: u8, datagrams: &[Bytes]) -> usize {
    let mut longest = 0;
    for datagram in datagrams {
        let mut start = 0;
        for end in memchr::memchr_iter(byte, datagram) {
            longest = longest.max(end - start);
            start = end + 1;
        }
    }
    longest
}
