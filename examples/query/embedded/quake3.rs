//! An embedded server of Quake 3.

use queryport::model::{Charset, Colours, Style};
use queryport::{ServerStatus, Text};

use super::player;

/// A deathmatch with colours in its names.
pub(super) fn deathmatch() -> ServerStatus {
    let mut status = ServerStatus::default();
    status.name = Some(caret("^1queryport^7 embedded ^2deathmatch"));
    status.map = Some("q3dm17".into());
    status.game = Some("baseq3".into());
    status.game_type = Some("0".into());
    status.max_players = Some(16);
    status.password = Some(false);
    status.players = [
        player(caret("^4Sarge"), 12, 48),
        player(caret("Major ^3Pain"), 9, 52),
        player(caret("^6Dæmia"), -1, 0),
        player(caret("with space and 'quotes'"), 3, 999),
    ]
    .into();
    status.rules = [
        ("timelimit", "15"),
        ("fraglimit", "20"),
        ("sv_floodProtect", "1"),
    ]
    .into_iter()
    .collect();
    status
}

/// Text with the colour codes of Quake 3.
fn caret(text: &str) -> Text {
    Text::new(
        text.as_bytes().to_vec(),
        Style::new(Charset::default(), Colours::Caret),
    )
}
