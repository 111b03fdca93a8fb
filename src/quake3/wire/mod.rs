//! One datagram: requests, replies and what they are made of. Views borrow from the datagram; nothing here knows a
//! session, the model or an answer.

pub(super) mod challenge;
pub(super) mod connect;
pub(crate) mod get_servers;
pub(super) mod infostring;
pub(crate) mod list_part;
pub(super) mod mark;
pub(super) mod player;
pub(super) mod rcon;
pub(super) mod reply;
pub(crate) mod request;
pub(super) mod response;
pub(super) mod secure_rcon;
pub(super) mod words;

pub use connect::ConnectRequest;
pub use infostring::InfoString;
pub use player::PlayerLine;
pub use rcon::RconRequest;
pub use reply::{Reply, ReplyForm};
pub use request::{Command, Request};
pub use response::{Kind, Response};
pub use secure_rcon::{SecureMode, SecureRconRequest};
