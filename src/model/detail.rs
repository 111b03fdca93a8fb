//! How much to ask for.

/// How much of a server's status to ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Detail {
    /// The short description: name, map, counts. One small datagram in every protocol but GameSpy v4, where a challenge
    /// precedes it and only Minecraft's servers have it.
    Short,
    /// Description, rules and players.
    #[default]
    Full,
}
