//! The tests of the protocols, of lists, games, the network layer and the responder: one program, a
//! module for each subject.
#![allow(
    dead_code,
    clippy::disallowed_methods,
    clippy::wrong_self_convention,
    reason = "a failed assumption in a test is a failed test"
)]

use kit as common;

mod blocking;
mod captures;
mod clock;
mod corpus;
mod courses;
mod every_protocol;
mod facts;
mod fields;
mod games;
mod gamespy1;
mod gamespy4;
mod guesses;
mod internet;
mod json;
mod limits;
mod lists;
mod net;
mod options;
mod quake3;
mod scan;
mod serve;
mod served;
mod session;
mod transcripts;
mod unusual;
mod ut2004;
