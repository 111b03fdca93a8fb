//! Master servers.
mod list;
mod query;
mod request;
mod scope;
pub use list::{Addresses, ListPart, list};
pub use query::{ListQuery, ServerList};
pub use request::ListRequest;
pub use scope::Scope;
