//! How the imitated engines write their replies: one row each.

use super::engines::{Profile, UNREAL};
use crate::service::Format;

/// Where the end mark is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EndMark {
    AfterNumber,
    BeforeNumber,
}

/// How an engine writes its replies. The serving side imitates it.
#[derive(Debug)]
pub(crate) struct ReplyForm {
    /// The maximum size of a datagram, in bytes, the trailer included.
    pub(crate) max_datagram: usize,
    pub(crate) end_mark: EndMark,
    /// The number to write, given the number of the request.
    pub(crate) reply_number: fn(u64) -> u64,
    pub(crate) echo_key: &'static str,
    /// Whether `\info\` repeats `gamever` and `minnetver`.
    pub(crate) info_has_versions: bool,
    /// Whether rows of teams follow the players if the family has no keys for its sides.
    pub(crate) has_team_rows: bool,
    /// The family to use for a game that no row names.
    pub(crate) usual_profile: &'static Profile,
}

/// UT99's script UdpServerQuery 1.5.2.
static UNREAL_REPLY: ReplyForm = ReplyForm {
    max_datagram: 1000,
    end_mark: EndMark::AfterNumber,
    reply_number: |request| (request.saturating_sub(1) % 100).saturating_add(1),
    echo_key: "echo_replay",
    info_has_versions: true,
    has_team_rows: false,
    usual_profile: &UNREAL,
};

impl ReplyForm {
    pub(crate) const fn of(_: Format) -> &'static Self {
        &UNREAL_REPLY
    }
}
