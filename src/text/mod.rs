//! What two or more protocols share below their grammar: character sets, colour codes, separators, numbers. Holds no wire
//! format and is private to the crate; `model` re-exports the enums that a user needs.

pub(crate) mod charset;
pub(crate) mod colour;
pub(crate) mod find;
pub(crate) mod known_keys;
pub(crate) mod number;
pub(crate) mod small_bytes;
