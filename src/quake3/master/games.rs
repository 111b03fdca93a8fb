//! Which game a heartbeat or a protocol number stands for, and which games a master lists.

/// Heartbeat tags that name a game (dpmaster, src/games.c). `DarkPlaces` names none: there the infostring must.
const TAGS: [(&str, &str); 3] =
    [("QuakeArena-1", "Quake3Arena"), ("Wolfenstein-1", "wolfmp"), ("EnemyTerritory-1", "et")];
/// The tag of every game that names itself in its infostring.
const NAMELESS: &str = "DarkPlaces";
/// Protocol numbers that `getservers` may name without a game (dpmaster, src/games.c).
const PROTOCOLS: [(&[i32], &str); 3] =
    [(&[66, 67, 68], "Quake3Arena"), (&[50, 59, 60], "wolfmp"), (&[72, 80, 83, 84], "et")];
/// Enemy Territory's clients expect every server, whatever they ask for (dpmaster, src/games.c).
pub(super) const ALWAYS_ALL: &[u8] = b"et";

/// Which games a master lists servers of.
///
/// ```
/// use queryport::quake3::master::Policy;
///
/// let policy = Policy::Only(vec!["Nexuiz".to_owned(), "Xonotic".to_owned()]);
/// assert!(policy.accepts(b"Nexuiz") && !policy.accepts(b"Quake3Arena"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Policy {
    /// Every game.
    #[default]
    All,
    /// These games.
    Only(Vec<String>),
    /// Every game but these.
    Except(Vec<String>),
}

impl Policy {
    /// Whether servers of a game are listed.
    #[must_use]
    pub fn accepts(&self, game: &[u8]) -> bool {
        let is_in = |games: &[String]| games.iter().any(|known| known.as_bytes() == game);
        match self {
            Self::All => true,
            Self::Only(games) => is_in(games),
            Self::Except(games) => !is_in(games),
        }
    }
}

/// A known tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tag<'a> {
    /// Its number, which challenges are bound to.
    pub(super) index: u16,
    /// The game it stands for. With one, the infostring need not name the game.
    pub(super) game: Option<&'a str>,
}

/// Every known tag with its number: the built-in ones and the caller's own.
pub(super) fn tags(own: &[(String, String)]) -> impl Iterator<Item = (&str, Tag<'_>)> {
    let built_in =
        std::iter::once((NAMELESS, None)).chain(TAGS.iter().map(|(tag, game)| (*tag, Some(*game))));
    let own = own.iter().map(|(tag, game)| (tag.as_str(), Some(game.as_str())));
    (0..=u16::MAX).zip(built_in.chain(own)).map(|(index, (tag, game))| (tag, Tag { index, game }))
}

/// The game that a built-in tag stands for.
pub(super) fn by_tag(tag: &str) -> Option<&'static str> {
    TAGS.iter().find(|(known, _)| *known == tag).map(|(_, game)| *game)
}

/// The game that a protocol number stands for where no game is named.
pub(super) fn by_protocol(protocol: i32) -> Option<&'static str> {
    PROTOCOLS.iter().find(|(protocols, _)| protocols.contains(&protocol)).map(|(_, game)| *game)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_keep_their_numbers() {
        let own = [("Warsow".to_owned(), "Warsow".to_owned())];
        let all: Vec<_> = tags(&own).collect();
        assert_eq!(all.len(), 5);
        assert_eq!(all[0], ("DarkPlaces", Tag { index: 0, game: None }));
        assert_eq!(all[4], ("Warsow", Tag { index: 4, game: Some("Warsow") }));
    }

    #[test]
    fn policies() {
        let games = || vec!["a".to_owned()];
        assert!(Policy::All.accepts(b"a"));
        assert!(Policy::Only(games()).accepts(b"a") && !Policy::Only(games()).accepts(b"b"));
        assert!(!Policy::Except(games()).accepts(b"a") && Policy::Except(games()).accepts(b"b"));
        assert_eq!(by_protocol(84), Some("et"));
        assert_eq!(by_protocol(71), None);
    }
}
