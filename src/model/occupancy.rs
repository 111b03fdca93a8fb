//! How full a server is.

/// Whether a server is empty, full or neither: what masters filter by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Occupancy {
    Empty,
    Some,
    Full,
}

impl Occupancy {
    /// The occupancy of a server with this many players and slots.
    pub(crate) const fn new(players: u32, slots: u32) -> Self {
        match players {
            0 => Self::Empty,
            players if players >= slots => Self::Full,
            _ => Self::Some,
        }
    }
}
