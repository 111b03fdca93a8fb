//! One datagram: views, parsers and encoders.

pub(crate) mod legacy;
pub(crate) mod request;
pub(crate) mod response;
pub(crate) mod sections;

pub use request::{Command, Request, RequestId, Selection};
pub use response::{Challenge, Data, Framing, Response};
