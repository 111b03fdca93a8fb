//! Master servers.
mod list;
mod request;
mod scope;
pub use list::{Addresses, ListPart, list};
pub use request::ListRequest;
pub use scope::Scope;
