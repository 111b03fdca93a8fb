//! What two or more protocols share below their grammar: character sets, colour codes, separators, numbers. Private to
//! the crate; the enums a user needs are re-exported by `model`.

pub(crate) mod charset;
pub(crate) mod colour;
pub(crate) mod find;
pub(crate) mod number;
pub(crate) mod share;
pub(crate) mod words;
