//! Quake 3.

mod connect;
mod conversation;
mod engines;
use kit::exchange;
mod master;
mod master_flood;
mod master_model;
mod meaning;
mod properties;
mod rcon;
mod serving;
mod siblings;
mod vectors;
