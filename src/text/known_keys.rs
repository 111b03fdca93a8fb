//! Lookup of all known keys of a status in one pass over its pairs.

/// Declares a struct with a slot for the value of each known key: `field = b"key in lower case"`, or `key` for a field of this
/// name. Keys match in any ASCII case.
macro_rules! known_keys {
    ($(#[$doc:meta])* $vis:vis struct $name:ident { $($field:ident),+ $(,)? }) => {
        $crate::text::known_keys::known_keys! {
            $(#[$doc])*
            $vis struct $name { $($field = stringify!($field).as_bytes(),)+ }
        }
    };
    ($(#[$doc:meta])* $vis:vis struct $name:ident { $($field:ident = $key:expr,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, Default)]
        $vis struct $name<'a> {
            $($vis $field: Option<&'a [u8]>,)+
        }

        impl<'a> $name<'a> {
            /// The slot of a key; `None` for an unknown key.
            #[inline]
            #[allow(non_upper_case_globals, reason = "constants named like the fields")]
            $vis fn slot(&mut self, key: &[u8]) -> Option<&mut Option<&'a [u8]>> {
                use $crate::text::known_keys::{ENDS, Ends, ends};
                $(const $field: Ends = ends($key);)+
                match ends(key) {
                    $($field if $key.len() <= ENDS || key.eq_ignore_ascii_case($key) => Some(&mut self.$field),)+
                    _ => None,
                }
            }
        }
    };
}

pub(crate) use known_keys;

/// A key's length, and its first and last eight bytes in lower case: numbers, which are compared at once.
pub(crate) type Ends = (usize, u64, u64);

/// The bytes of a key that [`Ends`] can hold.
pub(crate) const ENDS: usize = 16;

/// See [`Ends`]. The first number has all bytes of a key of less than eight.
#[inline]
pub(crate) const fn ends(key: &[u8]) -> Ends {
    let (first, last) = match (key.first_chunk(), key.last_chunk(), key.first_chunk(), key.last_chunk()) {
        (Some(first), Some(last), ..) => (u64::from_le_bytes(*first), u64::from_le_bytes(*last)),
        (_, _, Some(first), Some(last)) => {
            (u32::from_le_bytes(*first) as u64, u32::from_le_bytes(*last) as u64)
        }
        _ => match key {
            [a, b, c] => (u32::from_le_bytes([*a, *b, *c, 0]) as u64, 0),
            [a, b] => (u16::from_le_bytes([*a, *b]) as u64, 0),
            [a] => (*a as u64, 0),
            _ => (0, 0),
        },
    };
    (key.len(), lower_case(first), lower_case(last))
}

/// Eight ASCII characters in lower case, as [`u8::to_ascii_lowercase`] makes them, without a loop.
#[inline]
const fn lower_case(word: u64) -> u64 {
    const EACH: u64 = 0x0101_0101_0101_0101;
    // The highest bit of each byte: whether its other bits are at least those of `A`, and more than those of `Z`.
    let low = word & (EACH * 0x7F);
    let (from_a, beyond_z) = (low.wrapping_add(EACH * 0x3F), low.wrapping_add(EACH * 0x25));
    let is_upper = (from_a ^ beyond_z) & !word & (EACH * 0x80);
    word | is_upper >> 2
}

/// The first value that is not empty. The preferred key comes first.
pub(crate) fn first_filled<'a>(values: &[Option<&'a [u8]>]) -> Option<&'a [u8]> {
    values.iter().flatten().copied().find(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    known_keys! {
        struct Known {
            map = b"map",
            map_name = b"mapname",
            long = b"sv_privateclients",
        }
    }

    #[test]
    fn known_keys_match_in_any_case() {
        let mut known = Known::default();
        for (key, value) in [("MapName", "a"), ("mapnam", "b"), ("", "c"), ("MAP", "")] {
            if let Some(slot) = known.slot(key.as_bytes()) {
                slot.get_or_insert(value.as_bytes());
            }
        }
        assert_eq!((known.map_name, known.map), (Some(&b"a"[..]), Some(&b""[..])));
        for (key, is_known) in
            [("SV_PrivateClients", true), ("sv_privateclient", false), ("sv_priva?eclients", false)]
        {
            assert_eq!(known.slot(key.as_bytes()).is_some(), is_known, "{key}");
        }
    }

    #[test]
    fn keys_with_equal_ends_are_equal_up_to_sixteen_bytes() {
        let text = b"abcdefghijklmnop";
        for length in 0..=text.len() {
            let key = &text[..length];
            assert_eq!(ends(key), ends(&key.to_ascii_uppercase()));
            for at in 0..length {
                for byte in [b'_', b'[', b'Z', 0] {
                    let mut other = key.to_vec();
                    other[at] = byte;
                    assert_ne!(ends(key), ends(&other), "{length} {at}");
                }
            }
        }
    }

    #[test]
    fn empty_values_are_skipped() {
        assert_eq!(first_filled(&[None, Some(b""), Some(b"a"), Some(b"b")]), Some(&b"a"[..]));
        assert_eq!(first_filled(&[None, Some(b"")]), None);
    }
}
