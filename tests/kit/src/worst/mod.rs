//! The costliest inputs that the search of `fuzz/worst/` found, and what reads them. Tests bound
//! the memory they take, and `benches/instructions/` counts the work.

pub mod found;
pub mod shape;
pub mod targets;
