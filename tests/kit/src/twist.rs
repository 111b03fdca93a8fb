//! Damage to datagrams.

/// Every truncation of a datagram, the empty one included.
pub fn cuts(packet: &[u8]) -> impl Iterator<Item = &[u8]> {
    (0..packet.len()).map(|length| &packet[..length])
}

/// Truncations of a datagram: every one of a short datagram, and at least this many of a long one, in
/// equal steps.
pub fn some_cuts(packet: &[u8], least: usize) -> impl Iterator<Item = &[u8]> {
    let step = packet.len().checked_div(least).unwrap_or(1).max(1);
    cuts(packet).step_by(step)
}

/// Every change of one byte in a datagram: each single bit, all bits, NUL, and the separators of
/// text protocols.
pub fn flips(packet: &[u8]) -> impl Iterator<Item = Vec<u8>> + '_ {
    (0..packet.len()).flat_map(move |index| {
        let byte = packet[index];
        let bits = (0..8).map(move |bit| byte ^ (1 << bit));
        let others = [!byte, 0, b'\\', b'\n', b'"'];
        bits.chain(others)
            .filter(move |&other| other != byte)
            .map(move |other| {
                let mut flipped = packet.to_vec();
                flipped[index] = other;
                flipped
            })
    })
}
