//! Code that the examples share: command lines, messages, JSON lines, transcripts, captures.
#![allow(
    clippy::exhaustive_enums,
    clippy::exhaustive_structs,
    reason = "only programs of this repository use it"
)]

pub mod capture;
pub mod command_line;
pub mod json;
pub mod listen;
pub mod masters;
pub mod safe_text;
pub mod target;
pub mod transcript;
pub mod wire;
pub mod wrap;
