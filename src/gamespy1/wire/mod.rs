//! One datagram: requests, responses and what they are made of.

pub(super) mod fields;
pub(super) mod packer;
pub(super) mod request;
pub(super) mod response;
pub(super) mod row_key;
pub(super) mod trailer;

pub use request::{Command, Request};
pub use response::Response;
pub use trailer::Trailer;
