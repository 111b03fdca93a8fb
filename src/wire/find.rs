//! Finding separators between short tokens.

const LOW: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;
/// Steps of eight bytes before a vectorised search is worth its start.
const STEPS: usize = 4;

/// The first place of a byte. Tokens of game protocols are short: eight bytes a step find most separators before a
/// vectorised search has even begun. Longer stretches are left to memchr.
#[inline]
pub(crate) fn find(byte: u8, text: &[u8]) -> Option<usize> {
    let wanted = LOW.wrapping_mul(u64::from(byte));
    let (mut rest, mut passed) = (text, 0_usize);
    for _ in 0..STEPS {
        let Some((eight, after)) = rest.split_first_chunk() else {
            return rest.iter().position(|&found| found == byte).map(|at| passed.wrapping_add(at));
        };
        let hits = zeros(u64::from_le_bytes(*eight) ^ wanted);
        if hits != 0 {
            return Some(passed.wrapping_add(first(hits)));
        }
        (rest, passed) = (after, passed.wrapping_add(8));
    }
    memchr::memchr(byte, rest).map(|at| passed.wrapping_add(at))
}

/// The first place of either byte.
#[inline]
pub(crate) fn find2(one: u8, other: u8, text: &[u8]) -> Option<usize> {
    let (wanted, or) = (LOW.wrapping_mul(u64::from(one)), LOW.wrapping_mul(u64::from(other)));
    let (mut rest, mut passed) = (text, 0_usize);
    for _ in 0..STEPS {
        let Some((eight, after)) = rest.split_first_chunk() else {
            let at = rest.iter().position(|&found| found == one || found == other);
            return at.map(|at| passed.wrapping_add(at));
        };
        let eight = u64::from_le_bytes(*eight);
        let hits = zeros(eight ^ wanted) | zeros(eight ^ or);
        if hits != 0 {
            return Some(passed.wrapping_add(first(hits)));
        }
        (rest, passed) = (after, passed.wrapping_add(8));
    }
    memchr::memchr2(one, other, rest).map(|at| passed.wrapping_add(at))
}

/// Marks the bytes that are zero; the lowest mark is exact, those above it may be of bytes that are 1.
const fn zeros(eight: u64) -> u64 {
    eight.wrapping_sub(LOW) & !eight & HIGH
}

const fn first(marks: u64) -> usize {
    (marks.trailing_zeros() / 8) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_a_plain_search_at_every_place_and_length() {
        for length in 0..80 {
            // Neighbours of the wanted bytes, which a careless carry would mark.
            let mut text: Vec<u8> = (0..length).map(|at| if at % 3 == 0 { b'!' } else { b'#' }).collect();
            assert_eq!((find(b'"', &text), find2(b'"', b'\n', &text)), (None, None));
            for at in 0..text.len() {
                for byte in [b'"', b'\n'] {
                    let kept = std::mem::replace(&mut text[at], byte);
                    assert_eq!(find(b'"', &text), (byte == b'"').then_some(at), "{length} {at}");
                    assert_eq!(find2(b'"', b'\n', &text), Some(at));
                    assert_eq!(find(b'#', &text), text.iter().position(|&byte| byte == b'#'));
                    text[at] = kept;
                }
            }
        }
        assert_eq!(find(0xFF, &[0xFE, 0, 0xFF, 0xFF, 1, 2, 3, 4, 5]), Some(2));
    }
}
