//! Embedded servers of GameSpy v4: Unreal Tournament 3, Battlefield 2, Minecraft, and Halo, which
//! answers GameSpy v2 only.

use queryport::Protocol;
use queryport::gamespy4::minecraft;
use queryport::{Dialect, Format, Service};
use queryport::{Player, ServerStatus, Team, Text};

use super::{World, player};

pub(super) fn worlds() -> [World; 4] {
    let world = |game, name, about, format, status| World {
        game,
        name,
        about,
        protocol: Protocol::GameSpy4,
        dialect: Dialect::Standard,
        service: Service::new(format),
        status,
    };
    [
        world(
            "ut3",
            "Unreal Tournament 3",
            "an embedded Unreal Tournament 3 server",
            Format::UnrealTournament3,
            ut3(),
        ),
        world(
            "battlefield2",
            "Battlefield 2",
            "an embedded Battlefield 2 server",
            Format::GameSpy4,
            battlefield2(),
        ),
        world(
            "minecraft",
            "Minecraft",
            "an embedded Minecraft server",
            Format::Minecraft,
            minecraft(),
        ),
        world(
            "halo",
            "Halo",
            "an embedded Halo server",
            Format::GameSpy2,
            halo(),
        ),
    ]
}

/// A player of a team.
fn member(name: &str, team: i32, score: i64, ping: i32) -> Player {
    let mut member = player(name.into(), score, ping);
    member.team = Some(team);
    member.extra.push("deaths_", &(score / 2).to_string());
    member
}

fn team(number: i32, name: &str, score: i64) -> Team {
    let mut team = Team::default();
    (team.id, team.name, team.score) = (Some(number), Some(name.into()), Some(score));
    team
}

fn ut3() -> ServerStatus {
    let mut status = ServerStatus::default();
    status.name = Some("queryport embedded vehicle CTF".into());
    status.map = Some("VCTF-Suspense".into());
    status.game_type = Some("UTGameContent.UTVehicleCTFGame_Content".into());
    status.version = Some("3815".into());
    status.game_port = Some(7777);
    (status.max_players, status.bot_count, status.password) = (Some(16), Some(1), Some(false));
    status.player_count = Some(4);
    status.players = [
        member("Ann", 0, 12, 48),
        member("Bob with spaces ", 1, 9, 52),
        member("Dæmia", 1, 3, 61),
        member("", 0, 5, 0),
    ]
    .into();
    status.teams = vec![team(0, "Red", 2), team(1, "Blue", 1)];
    status.rules = [
        ("gamemode", "openplaying"),
        ("bIsDedicated", "True"),
        ("s32779", "3"),
        ("s0", "4"),
        ("s6", "1"),
        ("s10", "1"),
        ("p1073741827", "A free text"),
        ("p1073741828", "NoTags\u{1c}BattleRPG"),
        ("p1073741829", "\u{1c}NoTagsMutator\u{1c}BattleRPG\u{1c}"),
        ("p268435704", "3"),
        ("p268435705", "20"),
        ("p268435717", "4160"),
    ]
    .into_iter()
    .collect();
    status
}

fn battlefield2() -> ServerStatus {
    let mut status = ServerStatus::default();
    status.name = Some("queryport embedded conquest".into());
    status.map = Some("Strike At Karkand".into());
    status.game = Some("battlefield2".into());
    status.game_type = Some("gpm_cq".into());
    status.version = Some("1.5.3153-802.0".into());
    status.game_port = Some(16567);
    (status.max_players, status.password) = (Some(64), Some(false));
    status.players = [
        member("=QP= Ann", 1, 90, 26),
        member(" Bob", 2, 70, 38),
        member(" Dæmia", 2, -2, 61),
    ]
    .into();
    for (number, player) in (1164362_i64..).zip(&mut status.players) {
        player.bot = Some(false);
        player.extra.push("pid_", &number.to_string());
    }
    status.teams = vec![team(1, "MEC", 3), team(2, "US", 5)];
    status.rules = [
        ("gamevariant", "bf2"),
        ("bf2_dedicated", "1"),
        ("bf2_team1", "MEC"),
        ("bf2_team2", "US"),
        ("bf2_mapsize", "16"),
        ("bf2_coopbotratio", ""),
    ]
    .into_iter()
    .collect();
    status
}

fn minecraft() -> ServerStatus {
    let mut status = ServerStatus::default();
    let title = Text::new(
        "§6queryport§r embedded §lworld".as_bytes().to_vec(),
        minecraft::STYLE,
    );
    status.name = Some(title);
    status.map = Some("world".into());
    status.game_type = Some("SMP".into());
    status.version = Some("1.21.11".into());
    status.game_port = Some(25565);
    status.max_players = Some(20);
    status.players = ["Ann", "Bob_the_Builder", "Notch"].map(Player::new).into();
    status.rules = [
        ("plugins", "queryport 0.1: Example 1.0; Other 2"),
        ("hostip", "127.0.0.1"),
    ]
    .into_iter()
    .collect();
    status
}

fn halo() -> ServerStatus {
    let mut status = ServerStatus::default();
    status.name = Some("queryport embedded slayer".into());
    status.map = Some("bloodgulch".into());
    status.game_type = Some("Slayer".into());
    status.version = Some("01.00.10.0621".into());
    status.game_port = Some(2302);
    (status.max_players, status.password) = (Some(16), Some(false));
    status.dedicated = Some(true);
    status.player_count = Some(3);
    status.players = [
        member("Ann", 0, 12, 48),
        member("Bob", 1, 9, 52),
        member("Dæmia", 1, 3, 61),
    ]
    .into();
    status.teams = vec![team(0, "Red", 12), team(1, "Blue", 12)];
    status.rules = [
        ("gamevariant", "Team Slayer"),
        ("teamplay", "1"),
        ("game_classic", "0"),
    ]
    .into_iter()
    .collect();
    status
}
