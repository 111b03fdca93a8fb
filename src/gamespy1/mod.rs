//! GameSpy v1.

mod answer;
mod client;
mod family;
mod fields;
pub mod list;
mod list_session;
mod mapping;
mod packets;
mod reassembly;
mod region;
mod request;
mod response;
mod row;
pub mod secure;
pub mod server;
mod trailer;

pub use answer::Answer;
pub use client::{CommandsQuery, StatusQuery};
pub use fields::{Fields, Pairs};
pub use region::Region;
pub use request::{Command, Commands, MAX_REQUEST, Request};
pub use response::{FinalOrder, Response};
pub use row::{Row, RowField, RowKey, Rows};
pub use trailer::Trailer;
