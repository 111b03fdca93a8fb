//! Lookup of all known keys of a status in one pass over its pairs.

use crate::text::number;

/// Declares a struct with a slot for the value of each known key, which is named like its field or given in lower case:
/// `field = b"key"`. Keys match in any ASCII case.
macro_rules! known_keys {
    ($(#[$doc:meta])* $vis:vis struct $name:ident { $($field:ident $(= $key:expr)?,)+ }) => {
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
                $(const $field: &[u8] = known_keys!(@key $field $($key)?);)+
                // Patterns of bytes are compared by length first, unlike a chain of comparisons.
                match $crate::text::lower_case(key, &mut [0; 24]) {
                    $($field => Some(&mut self.$field),)+
                    _ => None,
                }
            }
        }
    };
    (@key $field:ident) => { stringify!($field).as_bytes() };
    (@key $field:ident $key:expr) => { $key };
}

pub(crate) use known_keys;

/// Whether one of these values says yes; `None` if none is a truth value.
pub(crate) fn any(values: &[Option<&[u8]>]) -> Option<bool> {
    values.iter().flatten().filter_map(|value| number::boolean(value)).reduce(|one, other| one || other)
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
            map,
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
    fn empty_values_are_skipped() {
        assert_eq!(first_filled(&[None, Some(b""), Some(b"a"), Some(b"b")]), Some(&b"a"[..]));
        assert_eq!(first_filled(&[None, Some(b"")]), None);
    }
}
