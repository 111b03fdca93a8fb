//! What the keys of a server mean: what differs between engines is data, in rows of one form, and
//! one reader fills a status from them.

#[cfg(test)]
mod coverage;
mod key;
mod reader;
mod row;

#[cfg(test)]
pub(crate) use coverage::{facts, unneeded_parts, with_cells_of, with_keys_in_capitals, with_rows};
pub(crate) use key::{Key, KeySet, Known};
pub(crate) use reader::Reader;
#[cfg(test)]
pub(crate) use row::untested;
pub(crate) use row::{Entry, Field, Form, Mark, Row, Signature};
pub(crate) use row::{all, begins, entries, has, is, key, lacks, number};
