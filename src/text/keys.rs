//! Keys with a meaning in the model, and their values in one reply.

/// Declares `Key`: each key has a name in the code, and the text that servers write.
/// A longer key than `Key::find` compares does not compile.
macro_rules! keys {
    ($($key:ident = $text:literal,)+) => {
        /// A key with a known meaning.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Key {
            $($key,)+
        }

        $(const _: () = assert!(
            $text.len() <= $crate::text::MAX_WORD,
            concat!("the key is too long to be found: ", $text),
        );)+

        impl Key {
            pub(super) const ALL: &[Self] = &[$(Self::$key,)+];

            /// The key as servers write it.
            #[allow(dead_code, reason = "not every protocol's client needs it")]
            pub(crate) const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$key => $text,)+
                }
            }

            /// The known key with this name, in any ASCII case. Most servers write it as listed.
            #[inline]
            pub(crate) fn find(name: &[u8]) -> Option<Self> {
                Self::find_exact(name).or_else(|| Self::find_in_any_case(name))
            }

            // In both matches, patterns of bytes are compared by length first, unlike a chain of
            // comparisons.
            #[allow(non_upper_case_globals, reason = "constants named like the variants")]
            fn find_exact(name: &[u8]) -> Option<Self> {
                $(const $key: &[u8] = $text.as_bytes();)+
                match name {
                    $($key => Some(Self::$key),)+
                    _ => None,
                }
            }

            #[allow(non_upper_case_globals, reason = "constants named like the variants")]
            fn find_in_any_case(name: &[u8]) -> Option<Self> {
                $(const $key: &[u8] = &$crate::text::keys::lower_case_of::<{ $text.len() }>($text);)+
                match $crate::text::lower_case(name, &mut [0; $crate::text::MAX_WORD]) {
                    $($key => Some(Self::$key),)+
                    _ => None,
                }
            }
        }
    };
}

/// Declares `Known`, the values of the keys in one reply, where the first value that is not empty
/// counts.
macro_rules! known {
    () => {
        /// The values of the known keys in a reply. Of a repeated key, the first value that is not
        /// empty counts.
        #[derive(Debug, Clone, Copy)]
        pub(crate) struct Known<'a> {
            values: [Option<&'a [u8]>; Key::ALL.len()],
        }

        impl<'a> Known<'a> {
            pub(crate) const fn new() -> Self {
                Self {
                    values: [None; Key::ALL.len()],
                }
            }

            /// Takes a pair, if its key is known. Returns the key.
            #[inline]
            pub(crate) fn insert(&mut self, name: &[u8], value: &'a [u8]) -> Option<Key> {
                let key = Key::find(name)?;
                if let Some(slot) = self.values.get_mut(key as usize)
                    && slot.is_none_or(<[u8]>::is_empty)
                {
                    *slot = Some(value);
                }
                Some(key)
            }

            /// The value of a key.
            #[inline]
            pub(crate) fn get(&self, key: Key) -> Option<&'a [u8]> {
                self.values.get(key as usize).copied().flatten()
            }
        }
    };
}

pub(crate) use {keys, known};

/// A key in lower case. It is evaluated by the compiler.
pub(crate) const fn lower_case_of<const LENGTH: usize>(text: &str) -> [u8; LENGTH] {
    let mut lower = [0; LENGTH];
    if let Some(bytes) = text.as_bytes().first_chunk::<LENGTH>() {
        lower = *bytes;
    }
    lower.make_ascii_lowercase();
    lower
}
