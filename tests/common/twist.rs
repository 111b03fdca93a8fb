//! What the network and hostile peers do to packets.

/// Every way to cut a packet short, the empty packet included.
pub fn cuts(packet: &[u8]) -> impl Iterator<Item = &[u8]> {
    (0..packet.len()).map(|length| &packet[..length])
}

/// Every byte of a packet changed, in several ways: each single bit, all bits, NUL, and the separators of the text
/// protocols.
pub fn flips(packet: &[u8]) -> impl Iterator<Item = Vec<u8>> + '_ {
    (0..packet.len()).flat_map(move |place| {
        let byte = packet[place];
        let bits = (0..8).map(move |bit| byte ^ (1 << bit));
        let others = [!byte, 0, b'\\', b'\n', b'"'];
        bits.chain(others).filter(move |&other| other != byte).map(move |other| {
            let mut flipped = packet.to_vec();
            flipped[place] = other;
            flipped
        })
    })
}
