//! `rcon`: a console command on a server, and what it prints.
//!
//! ```text
//!  client                                              server
//!    │  FF FF FF FF "rcon" 20 password 20 command         │
//!    │ ─────────────────────────────────────────────────► │
//!    │  FF FF FF FF "print" 0A text (≤ 1007 bytes)        │   or "n" text (≤ 1395 bytes): DarkPlaces
//!    │ ◄───────────────────────────────────────────────── │
//!    │  … as many as it takes; none is marked as the last │
//!    │ ◄───────────────────────────────────────────────── │
//! ```
//!
//! The password travels in plain text and the replies prove nothing: whoever is on the way reads and forges both.
//! DarkPlaces' signed form keeps the password secret.

mod answer;
mod error;
mod pace;
mod password;
mod print;
mod query;
#[cfg(feature = "secure-rcon")]
mod signature;

pub use answer::RconAnswer;
pub use error::RconError;
pub use pace::RconPace;
pub use password::Password;
pub use print::print;
pub use query::RconQuery;
