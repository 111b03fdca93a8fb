//! GameSpy v1.

mod conversation;
mod meaning;
mod properties;
mod reassembly;
mod serving;
mod vectors;
