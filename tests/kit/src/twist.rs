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

/// Changes of one byte in a datagram, four at each place: a bit of it, a separator or a digit in its
/// place, the byte twice, and without it.
pub fn changes(packet: &[u8]) -> impl Iterator<Item = Vec<u8>> + '_ {
    const OTHERS: &[u8] = b"\0\\\n\" 0-\xff\x01\x80";
    (0..packet.len()).flat_map(move |index| {
        let (before, after) = packet.split_at(index);
        let (byte, after) = (after[0], &after[1..]);
        let bit = byte ^ (1 << (index % 8));
        let other = OTHERS[index % OTHERS.len()];
        let places: [&[u8]; 4] = [&[bit], &[other], &[byte, byte], &[]];
        places.map(|place| [before, place, after].concat())
    })
}
