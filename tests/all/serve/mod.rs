//! The responder of all protocols: its replies, and bounds on what it sends under floods of forged
//! requests, in virtual time.

mod announcer;
#[cfg(unix)]
mod flood;
mod replies;
