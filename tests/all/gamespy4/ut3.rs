//! Unreal Tournament 3's settings, from an entire reply and from the model.

use std::time::Duration;

use queryport::ToStatus;
use queryport::gamespy4::ut3::Settings;

use crate::common::captures::cases;
use crate::gamespy4::decode;

#[test]
fn every_key_has_its_meaning() {
    let case = cases("gamespy4")
        .into_iter()
        .find(|case| case.name == "own-ut3")
        .unwrap();
    let answer = decode(case.packets).unwrap();
    let status = answer.to_status();
    for settings in [
        Settings::new(answer.rules()),
        Settings::from_rules(&status.rules),
    ] {
        let text = |key| settings.get(key).unwrap_or_else(|| panic!("{key}"));
        for (key, value) in [
            ("hostname", "queryport vCTF"),
            ("OwningPlayerId", "113350319"),
            ("OwningPlayerName", "queryport vCTF"),
            ("gamemode", "openplaying"),
            ("bUsesStats", "yes"),
            ("bIsDedicated", "yes"),
            ("EngineVersion", "3815"),
            ("MinNetVersion", "3467"),
            ("s32779", "Vehicle Capture the Flag"),
            ("s0", "Adept"),
            ("s1", "14"),
            ("s6", "yes"),
            ("s7", "no"),
            ("s8", "off"),
            ("s9", "no"),
            ("s10", "yes"),
            ("s11", "no"),
            ("s12", "no"),
            ("s13", "no"),
            ("p1073741825", "VCTF-Suspense"),
            ("p1073741826", "UTGameContent.UTVehicleCTFGame_Content"),
            ("p1073741827", ""),
            ("p1073741828", "NoTags, X"),
            ("p268435703", "2"),
            ("p268435706", "0"),
            ("p268435704", "3"),
            ("p268435705", "20"),
            ("p268435969", "no"),
            ("p268435717", "LowGrav, WeaponReplacement"),
        ] {
            assert_eq!(text(key), value, "{key}");
        }
        assert_eq!(text("ENGINEVERSION"), "3815", "in any case");
        assert_eq!(text("AverageSkillRating").parse(), Ok(1000.0));
        assert!(text("p1073741829").ends_with(", UTMutator_x"));
        let names: Vec<_> = settings.iter().map(|(name, _)| name).collect();
        assert!(
            names.contains(&"goal score") && !names.contains(&"Steam id"),
            "{names:?}"
        );
        // The property without a value, and the one after it.
        assert_eq!(settings.get("p268435968"), None);
        assert_eq!(answer.get("p268435968"), Some(&b""[..]));
        assert_eq!(settings.get("p536870916"), None);
        assert_eq!(answer.get("p268435717"), Some(&b"4160"[..]));
    }
}

#[test]
fn the_model_has_map_class_and_bots_under_their_own_names() {
    let case = cases("gamespy4")
        .into_iter()
        .find(|case| case.name == "own-ut3")
        .unwrap();
    let status = decode(case.packets).unwrap().to_status();
    assert_eq!(
        status.map.unwrap(),
        "VCTF-Suspense",
        "never the key mapname"
    );
    assert_eq!(
        status.game_type.unwrap(),
        "UTGameContent.UTVehicleCTFGame_Content"
    );
    assert_eq!(
        (status.player_count, status.bot_count),
        (Some(3), Some(2)),
        "everyone, though numplayers is 1"
    );
    let players = status.players;
    let players: Vec<_> = players
        .iter()
        .map(|player| (player.name.to_string(), player.bot))
        .collect();
    let bot = (String::new(), Some(true));
    assert_eq!(
        players,
        [("Ann".to_owned(), Some(false)), bot.clone(), bot],
        "bots have no names"
    );
    assert_eq!(
        (status.password, status.dedicated, status.anti_cheat),
        (Some(false), Some(true), Some(false))
    );
    assert_eq!(status.time_limit, Some(Duration::from_secs(20 * 60)));
    assert_eq!(
        (status.score_limit, status.protocol_version),
        (Some(3), Some(3467))
    );
    let mutators: Vec<_> = status
        .mutators
        .unwrap()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        mutators,
        ["LowGrav", "WeaponReplacement", "NoTags", "X"],
        "its own and custom ones"
    );
    let custom = b"\0\x01\x02\x03\x04splitnum\0\x80\0p1073741828\0A\x1cB\0\0\x01\0\x02\0";
    let mutators = decode([&custom[..]]).unwrap().to_status().mutators;
    assert_eq!(mutators, Some(vec!["A".into(), "B".into()]));
}

#[test]
fn texts_of_settings_keep_their_spaces() {
    for key in [
        "hostname",
        "OwningPlayerName",
        "gamemode",
        "p1073741825",
        "p1073741827",
    ] {
        let settings = Settings::new([(key.as_bytes(), &b" a  b "[..])]);
        assert_eq!(settings.get(key).as_deref(), Some(" a  b "), "{key}");
    }
    let names = Settings::new([(&b"p1073741828"[..], &b" A \x1c B "[..])]);
    assert_eq!(names.get("p1073741828").as_deref(), Some(" A ,  B "));
}
