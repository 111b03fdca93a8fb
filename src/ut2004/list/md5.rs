//! MD5 (RFC 1321), with which a client proves that it knows its CD key.

/// Rotations of the four rounds.
const ROTATIONS: [[u32; 4]; 4] = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]];

/// The digest in lower-case hexadecimal.
pub(super) fn hex_digest(data: &[u8]) -> String {
    let mut padded = data.to_vec();
    padded.push(0x80);
    let zeros = 64_usize.wrapping_sub(padded.len().wrapping_add(8)) & 63;
    padded.resize(padded.len().saturating_add(zeros), 0);
    let bits = u64::try_from(data.len()).unwrap_or(u64::MAX).wrapping_mul(8);
    padded.extend_from_slice(&bits.to_le_bytes());
    let start = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];
    let digest = padded.as_chunks::<64>().0.iter().fold(start, compress);
    let bytes = digest.iter().flat_map(|word| word.to_le_bytes());
    bytes
        .flat_map(|byte| [byte >> 4, byte & 15])
        .filter_map(|digit| char::from_digit(digit.into(), 16))
        .collect()
}

fn compress(state: [u32; 4], block: &[u8; 64]) -> [u32; 4] {
    let words = block.as_chunks::<4>().0;
    let word = |index: u32| words.get(index as usize & 15).copied().map_or(0, u32::from_le_bytes);
    let [mut a, mut b, mut c, mut d] = state;
    for (step, constant) in (0_u32..).zip(CONSTANTS) {
        let (mix, index) = match step >> 4 {
            0 => ((b & c) | (!b & d), step),
            1 => ((d & b) | (!d & c), step.wrapping_mul(5).wrapping_add(1)),
            2 => (b ^ c ^ d, step.wrapping_mul(3).wrapping_add(5)),
            _ => (c ^ (b | !d), step.wrapping_mul(7)),
        };
        let rotations = ROTATIONS.get((step >> 4) as usize).copied().unwrap_or_default();
        let rotation = rotations.get(step as usize & 3).copied().unwrap_or_default();
        let sum = a.wrapping_add(mix).wrapping_add(constant).wrapping_add(word(index));
        (a, d, c, b) = (d, c, b, b.wrapping_add(sum.rotate_left(rotation)));
    }
    let [old_a, old_b, old_c, old_d] = state;
    [old_a.wrapping_add(a), old_b.wrapping_add(b), old_c.wrapping_add(c), old_d.wrapping_add(d)]
}

/// The first 32 bits of the fraction of |sin i| for i from 1.
#[rustfmt::skip]
const CONSTANTS: [u32; 64] = [
    0xd76a_a478, 0xe8c7_b756, 0x2420_70db, 0xc1bd_ceee, 0xf57c_0faf, 0x4787_c62a, 0xa830_4613, 0xfd46_9501,
    0x6980_98d8, 0x8b44_f7af, 0xffff_5bb1, 0x895c_d7be, 0x6b90_1122, 0xfd98_7193, 0xa679_438e, 0x49b4_0821,
    0xf61e_2562, 0xc040_b340, 0x265e_5a51, 0xe9b6_c7aa, 0xd62f_105d, 0x0244_1453, 0xd8a1_e681, 0xe7d3_fbc8,
    0x21e1_cde6, 0xc337_07d6, 0xf4d5_0d87, 0x455a_14ed, 0xa9e3_e905, 0xfcef_a3f8, 0x676f_02d9, 0x8d2a_4c8a,
    0xfffa_3942, 0x8771_f681, 0x6d9d_6122, 0xfde5_380c, 0xa4be_ea44, 0x4bde_cfa9, 0xf6bb_4b60, 0xbebf_bc70,
    0x289b_7ec6, 0xeaa1_27fa, 0xd4ef_3085, 0x0488_1d05, 0xd9d4_d039, 0xe6db_99e5, 0x1fa2_7cf8, 0xc4ac_5665,
    0xf429_2244, 0x432a_ff97, 0xab94_23a7, 0xfc93_a039, 0x655b_59c3, 0x8f0c_cc92, 0xffef_f47d, 0x8584_5dd1,
    0x6fa8_7e4f, 0xfe2c_e6e0, 0xa301_4314, 0x4e08_11a1, 0xf753_7e82, 0xbd3a_f235, 0x2ad7_d2bb, 0xeb86_d391,
];

#[cfg(test)]
mod tests {
    use super::*;

    /// The test suite of RFC 1321, appendix A.5, and lengths around the padding's border (from Python's hashlib).
    #[test]
    fn digests_are_those_of_the_rfc() {
        for (text, digest) in [
            ("", "d41d8cd98f00b204e9800998ecf8427e"),
            ("a", "0cc175b9c0f1b6a831c399e269772661"),
            ("abc", "900150983cd24fb0d6963f7d28e17f72"),
            ("message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
            ("abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b"),
            (
                "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
                "d174ab98d277d9f5a5611c2c9f419d9f",
            ),
            (
                "12345678901234567890123456789012345678901234567890123456789012345678901234567890",
                "57edf4a22be3c955ac49da2e2107b67a",
            ),
        ] {
            assert_eq!(hex_digest(text.as_bytes()), digest, "{text}");
        }
        for (length, digest) in [
            (55, "04364420e25c512fd958a70738aa8f72"),
            (56, "668a72d5ba17f08e62dabcafad6db14b"),
            (63, "7dc2ca208106a2f703567bdff99d8981"),
            (64, "c1bb4f81d892b2d57947682aeb252456"),
            (119, "ab347a5f68c8a443cfcddc633f12c24f"),
            (120, "fb98667f98096de92620b64f46e1c5b5"),
        ] {
            assert_eq!(hex_digest(&vec![b'x'; length]), digest, "{length}");
        }
    }
}
