//! The responder of all protocols: bounds on what it sends under floods of forged requests, in
//! virtual time.

#[cfg(unix)]
mod flood;
