//! Where a server answers queries.

/// Where a server answers queries, given the port that players connect to.
///
/// ```
/// use queryport::games::QueryPort;
///
/// assert_eq!(QueryPort::Same.of(27960), Some(27960));
/// assert_eq!(QueryPort::Fixed(29900).of(16567), Some(29900));
/// assert_eq!(QueryPort::Offset(-1277).of(7777), Some(6500));
/// assert_eq!(QueryPort::Offset(1).of(65535), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum QueryPort {
    /// At the game port.
    Same,
    /// At this port, whatever the game port is.
    Fixed(u16),
    /// So far behind the game port, or before it.
    Offset(i16),
}

impl QueryPort {
    /// The query port of a server at this game port; `None` if no such port exists.
    #[must_use]
    pub const fn of(self, game_port: u16) -> Option<u16> {
        match self {
            Self::Same => Some(game_port),
            Self::Fixed(port) => Some(port),
            Self::Offset(offset) => match game_port.checked_add_signed(offset) {
                Some(0) => None,
                port => port,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_gives_no_port_that_does_not_exist() {
        let ports = |rule: QueryPort| [1, 7777, 65_535].map(|game_port| rule.of(game_port));
        assert_eq!(ports(QueryPort::Same), [Some(1), Some(7777), Some(65_535)]);
        assert_eq!(ports(QueryPort::Fixed(29_900)), [Some(29_900); 3]);
        assert_eq!(ports(QueryPort::Offset(1)), [Some(2), Some(7778), None]);
        assert_eq!(ports(QueryPort::Offset(-1)), [None, Some(7776), Some(65_534)], "port 0 is none");
    }
}
