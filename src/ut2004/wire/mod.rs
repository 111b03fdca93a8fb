//! One datagram: what it says, read and written. Knows no session and no status.

pub(crate) mod info;
pub(crate) mod lists;
pub(crate) mod request;
pub(crate) mod response;
pub(crate) mod strings;

pub use info::Info;
pub use lists::{PlayerList, PlayerRecord, RuleList};
pub use request::{Command, Request};
pub use response::{Body, Response};
pub use strings::FString;
