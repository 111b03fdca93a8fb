//! The layouts of a reply.

/// The layout of a reply.
///
/// ```
/// use queryport::gamespy4::{Answer, Form};
/// use queryport::{Limits, ToStatus};
///
/// let datagram =
///     b"\0\x01\x02\x03\x04A Minecraft Server\0SMP\0world\x002\x0020\0\xdd\x63127.0.0.1\0";
/// let answer = Answer::from_datagrams([datagram], &Limits::default())?;
/// assert_eq!(answer.form(), Form::MinecraftBasic);
/// assert_eq!(answer.to_status().map.unwrap(), "world");
/// # Ok::<(), queryport::ParseError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Form {
    /// Sections of server keys, players and teams.
    Sections,
    /// Sections of a Minecraft server: no teams, one datagram of any size.
    MinecraftFull,
    /// Texts without keys: [`ToStatus`](crate::ToStatus) names them as the full reply does. See
    /// [`minecraft`](crate::gamespy4::minecraft).
    MinecraftBasic,
    /// Server keys, then Just Cause 2's list of players, which only [`ToStatus`](crate::ToStatus)
    /// gives: name, Steam id NUL-terminated, ping in two bytes.
    JustCause2,
    /// One datagram without a number, for a request without the flag for several datagrams: keys
    /// and values, then tables row by row.
    Legacy,
}
