//! GameSpy v1.

mod conversation;
mod engines;
mod meaning;
mod properties;
mod reassembly;
mod serving;
mod vectors;
