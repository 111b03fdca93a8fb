//! The flags in a request for a status of QuakeWorld.

use crate::text::number;

/// The parts of a status that a QuakeWorld client requests (QW-Group/mvdsv, src/sv_main.c,
/// `SVC_Status`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Wanted {
    flags: u32,
}

impl Wanted {
    pub(crate) const INFO: u32 = 1;
    pub(crate) const PLAYERS: u32 = 2;
    pub(crate) const SPECTATORS: u32 = 4;
    pub(crate) const SPECTATORS_AS_LETTER: u32 = 8;
    pub(crate) const TEAMS: u32 = 16;
    pub(crate) const LOGINS: u32 = 64;
    pub(crate) const KINDS: u32 = 128;
    /// The parts that a request without flags is for.
    pub(crate) const USUAL: Self = Self {
        flags: Self::INFO | Self::PLAYERS,
    };

    /// The parts that this crate's client requests: all.
    pub(crate) const OF_CLIENTS: Self = Self { flags: 0xFF };

    /// The parts of the flags in a request.
    pub(crate) fn parse(flags: &[u8]) -> Self {
        let flags: u32 = number::number(flags).unwrap_or(0);
        match flags & 0xFF {
            0 => Self::USUAL,
            flags => Self { flags },
        }
    }

    pub(crate) const fn has(self, flag: u32) -> bool {
        self.flags & flag != 0
    }
}
