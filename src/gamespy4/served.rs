//! The engines that the serving side imitates: one row each.

use super::engines::{BATTLEFIELD_2, GAMESPY_2, MINECRAFT, Profile, UNREAL_TOURNAMENT_3};
use crate::options::Engine;

/// A server that is imitated.
#[derive(Debug, Clone, Copy)]
pub(super) struct Served {
    /// The keys and columns that it writes.
    pub(super) profile: &'static Profile,
    pub(super) layout: Layout,
    pub(super) challenge: Challenge,
}

/// The layout of a reply to a request for everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// Sections in numbered datagrams, for clients that know them, else tables row by row.
    Sections,
    /// Minecraft's: one datagram of any size.
    Minecraft,
    /// Tables row by row in one datagram, for any flags of the request.
    OneDatagram,
}

/// A server's use of challenges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Challenge {
    /// Data only for a valid challenge.
    Demanded,
    /// Data also without a challenge.
    Optional,
    /// Requests for a challenge get no reply.
    Unknown,
}

/// GameSpy's own code with the keys of Battlefield 2, which most tools read.
const QR2: Served = Served {
    profile: &BATTLEFIELD_2,
    layout: Layout::Sections,
    challenge: Challenge::Demanded,
};

impl Served {
    /// The row of an imitated server.
    pub(super) const fn of(engine: Engine) -> Self {
        match engine {
            Engine::UnrealTournament3 => Self {
                profile: &UNREAL_TOURNAMENT_3,
                ..QR2
            },
            Engine::Battlefield2 => Self {
                challenge: Challenge::Optional,
                ..QR2
            },
            Engine::Minecraft => Self {
                profile: &MINECRAFT,
                layout: Layout::Minecraft,
                ..QR2
            },
            Engine::GameSpy2 => Self {
                profile: &GAMESPY_2,
                layout: Layout::OneDatagram,
                challenge: Challenge::Unknown,
            },
            _ => QR2,
        }
    }
}
