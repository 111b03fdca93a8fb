//! One datagram: views, parsers and encoders.

pub(crate) mod form;
pub mod minecraft;
pub(crate) mod request;
pub(crate) mod response;
pub(crate) mod sections;

pub use form::Form;
pub use request::{Command, Request, RequestId, Selection};
pub use response::Response;
