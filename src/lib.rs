//! crate docs (to be written)

pub mod error;
pub mod limits;
pub mod model;
pub mod quake3;
pub mod secret;
pub mod session;

mod wire;
