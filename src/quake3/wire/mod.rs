//! One datagram: requests, replies and their parts. Views borrow from the datagram; nothing here
//! knows a session, the model or an answer.

pub(super) mod infostring;
pub(super) mod line;
pub(crate) mod list;
pub(super) mod player;
pub(super) mod reply;
pub(crate) mod request;
pub(super) mod response;
pub(super) mod siblings;

pub use infostring::InfoString;
pub use player::PlayerLine;
pub use reply::Reply;
pub use request::{Command, ConnectRequest, RconRequest, Request, SecureRconRequest};
pub use response::Response;
pub use siblings::{Family, QuakeWorldLine};
