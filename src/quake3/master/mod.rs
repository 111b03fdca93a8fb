//! Master servers.
mod request;
pub use request::ListRequest;
