//! GameSpy v1.

mod conversation;
mod mixes;
mod properties;
mod reassembly;
mod serving;
mod vectors;
