//! Character sets, colour codes, separators and numbers, as two or more protocols use them. The module knows no wire format
//! and is private; `model` re-exports the enums that a user needs.

pub(crate) mod charset;
pub(crate) mod colour;
pub(crate) mod find;
pub(crate) mod known_keys;
pub(crate) mod number;
pub(crate) mod small_bytes;
