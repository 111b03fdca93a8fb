#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod error;
pub mod limits;
pub mod model;
#[cfg(feature = "tokio")]
#[cfg_attr(docsrs, doc(cfg(feature = "tokio")))]
pub mod net;
pub mod protocol;
pub mod quake3;
pub mod secret;
pub mod serve;
pub mod session;

mod wire;
