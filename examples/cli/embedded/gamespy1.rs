//! An embedded server of GameSpy v1: UT99.

use queryport::{ServerStatus, Text};

use super::player;

/// Two full teams of 12: more than fits into one datagram of GameSpy v1.
pub(super) fn capture_the_flag() -> ServerStatus {
    const NAMES: [&str; 12] = [
        "Archon", "Aryss", "Alarik", "Dessloch", "Cryss", "Nikita", "Drimacus", "Rhea", "Raynor",
        "Kira", "Karag", "Zenith",
    ];
    let mut status = ServerStatus::default();
    status.name = Some("queryport embedded capture the flag".into());
    status.map = Some("CTF-Coret".into());
    status.game = Some("ut".into());
    status.game_type = Some("CTFGame".into());
    status.version = Some("451".into());
    status.game_port = Some(7777);
    status.max_players = Some(32);
    status.password = Some(false);
    let numbered = (0_i32..).zip(NAMES.iter().chain(NAMES.iter().rev()));
    let on_team = |(number, name): (i32, &&str)| {
        let team = number & 1;
        let clan = if team == 0 { "Red" } else { "Blau\u{df}" };
        let (score, ping) = (
            i64::from(number).saturating_mul(3).saturating_sub(4),
            number.saturating_mul(7),
        );
        let mut player = player(Text::from(format!("[{clan}] {name}")), score, ping);
        player.team = Some(team);
        player.bot = Some(number.checked_rem(5) == Some(4));
        for (key, value) in [
            ("mesh", "Male Commando"),
            ("skin", "CommandoSkins.cmdo"),
            ("face", ""),
        ] {
            player.extra.push(key, value);
        }
        player
    };
    status.players = numbered.map(on_team).collect();
    status.rules = [
        ("minnetver", "432"),
        ("location", "7"),
        ("maptitle", "Coret Facility"),
        ("mutators", "Instagib, No Powerups"),
        ("timelimit", "20"),
        ("goalteamscore", "3"),
        ("friendlyfire", "0%"),
        ("gamestyle", "Hardcore"),
        ("AdminName", ""),
    ]
    .into_iter()
    .collect();
    status
}
