//! The costliest inputs that the search of `fuzz/worst/` found, and the code that reads them.

pub mod found;
pub mod shape;
pub mod targets;
