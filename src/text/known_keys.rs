//! Lookup of all known keys of a status in one pass over its pairs.

/// The length of the longest known key of any protocol in bytes, rounded up.
pub(crate) const LONGEST: usize = 32;

/// Declares a struct with a slot for the value of each known key: `field = b"key in lower case"`. Keys match in any ASCII
/// case.
macro_rules! known_keys {
    ($(#[$doc:meta])* $vis:vis struct $name:ident { $($field:ident = $key:expr,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, Default)]
        $vis struct $name<'a> {
            $($vis $field: Option<&'a [u8]>,)+
        }

        impl<'a> $name<'a> {
            /// The slot of a key; `None` for an unknown key.
            #[inline]
            $vis fn slot(&mut self, key: &[u8]) -> Option<&mut Option<&'a [u8]>> {
                let mut buffer = [0; $crate::text::known_keys::LONGEST];
                let lower = buffer.get_mut(..key.len())?;
                lower.copy_from_slice(key);
                lower.make_ascii_lowercase();
                match &*lower {
                    $($key => Some(&mut self.$field),)+
                    _ => None,
                }
            }
        }
    };
}

pub(crate) use known_keys;

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
        assert!(known.slot(&[b'a'; LONGEST + 1]).is_none());
    }

    #[test]
    fn empty_values_are_skipped() {
        assert_eq!(first_filled(&[None, Some(b""), Some(b"a"), Some(b"b")]), Some(&b"a"[..]));
        assert_eq!(first_filled(&[None, Some(b"")]), None);
    }
}
