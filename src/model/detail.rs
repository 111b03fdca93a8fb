//! How much of a status to request.

/// How much of a server's status to request; default [`Detail::Full`].
///
/// ```
/// use queryport::{Detail, QueryOptions};
///
/// // A server browser refreshes many servers without their rules and players.
/// let refresh = QueryOptions::default().with_detail(Detail::Short);
/// assert_ne!(refresh, QueryOptions::default(), "the default is `Full`");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Detail {
    /// The description: name, map, counts. One small datagram in every protocol except GameSpy v4, where a challenge
    /// precedes it and only Minecraft servers send it.
    Short,
    /// The description, the rules and the players.
    #[default]
    Full,
}
