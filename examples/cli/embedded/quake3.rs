//! Embedded servers of Quake 3, and of Quake 2 and QuakeWorld, which have other words for the same
//! packets.

use queryport::model::{Charset, Colours, Style};
use queryport::{Dialect, Format, Protocol, ServerStatus, Service, Text};

use super::{World, player};

pub(super) fn worlds() -> Vec<World> {
    let sibling = |game, name, about, dialect, format| World {
        dialect,
        service: Service::new(format),
        ..World::new(game, name, about, Protocol::Quake3, duel(dialect))
    };
    vec![
        World::new(
            "quake3",
            "Quake III Arena",
            "an embedded Quake 3 server",
            Protocol::Quake3,
            deathmatch(),
        ),
        sibling(
            "quake2",
            "Quake 2",
            "an embedded Quake 2 server",
            Dialect::Quake2,
            Format::Quake2,
        ),
        sibling(
            "quake",
            "QuakeWorld",
            "an embedded QuakeWorld server",
            Dialect::QuakeWorld,
            Format::QuakeWorld,
        ),
    ]
}

/// A deathmatch with colours in its names.
fn deathmatch() -> ServerStatus {
    let mut status = ServerStatus::default();
    status.name = Some(caret("^1queryport^7 embedded ^2deathmatch"));
    status.map = Some("q3dm17".into());
    status.game = Some("Quake3Arena".into());
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

/// A deathmatch of two, with names in the second colour of Quake's character set.
fn duel(dialect: Dialect) -> ServerStatus {
    let mut status = ServerStatus::default();
    status.name = Some("queryport embedded duel".into());
    status.map = Some("dm3".into());
    status.version = Some("queryport".into());
    status.max_players = Some(8);
    status.password = Some(false);
    status.players = [
        player(second_colour("Ann"), 12, 48),
        player("with space and 'quotes'".into(), -3, 52),
    ]
    .into();
    status.rules = [("timelimit", "10"), ("fraglimit", "30")]
        .into_iter()
        .collect();
    // A game's folder or program names the game.
    match dialect {
        Dialect::Quake2 => status.rules.push("gamename", "baseq2"),
        Dialect::QuakeWorld => status.version = Some("MVDSV 1.0".into()),
        _ => {}
    }
    status
}

/// Text with bit 7 set in each byte.
fn second_colour(text: &str) -> Text {
    let bytes: Vec<u8> = text.bytes().map(|byte| byte | 0x80).collect();
    Text::new(bytes, Style::new(Charset::Quake, Colours::None))
}

/// Text with the colour codes of Quake 3.
pub(crate) fn caret(text: &str) -> Text {
    Text::new(
        text.as_bytes().to_vec(),
        Style::new(Charset::default(), Colours::Caret),
    )
}
