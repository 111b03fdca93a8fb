//! The responder of all protocols: bounds on what it sends under floods of forged requests, in
//! virtual time; templates; the example `serve`.

mod attackers;
#[cfg(all(feature = "tokio", unix))]
mod example;
mod flood;
mod templates;
