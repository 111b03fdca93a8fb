//! An embedded server of UT2004.

use queryport::model::{Charset, Colours, Style};
use queryport::{Player, ServerStatus, Text};

use super::player;

/// Text with the colour codes of Unreal Engine 2: ESC and three bytes.
fn unreal(text: &[u8]) -> Text {
    Text::new(
        text.to_vec(),
        Style::new(Charset::Latin1, Colours::UnrealEscape),
    )
}

/// A team game on UT2004 with colours, an 8-bit and a UTF-16 name.
pub(super) fn capture_the_flag() -> ServerStatus {
    let on = |team, mut player: Player| {
        player.team = Some(team);
        player
    };
    let mut status = ServerStatus::default();
    status.name = Some(unreal(
        b"\x1b\xf8\x40\x40queryport \x1b\xff\xff\xffembedded capture the flag",
    ));
    status.map = Some("CTF-FaceClassic".into());
    status.game_type = Some("xCTFGame".into());
    status.version = Some("3369".into());
    status.game_port = Some(7777);
    status.max_players = Some(16);
    status.dedicated = Some(true);
    status.players = [
        on(0, player(unreal(b"\x1b\xff\x01\x01Malcolm"), 12, 48)),
        on(1, player("Жx".into(), 9, 52)),
        on(1, player(unreal(b"D\xe6mia"), -1, 1020)),
    ]
    .into();
    status.rules = [
        ("AdminName", "embedded"),
        ("AdminEmail", ""),
        ("MaxSpectators", "2"),
        ("MinPlayers", "0"),
        ("Mutator", "MutInstaGib"),
        ("Mutator", "MutLowGrav"),
        ("GoalScore", "3"),
        ("SkillLevel", "2"),
    ]
    .into_iter()
    .collect();
    status
}
