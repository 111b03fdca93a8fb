//! Unreal Tournament 3's settings, from an entire reply and from the model.

use std::time::Duration;

use queryport::ToStatus;
use queryport::gamespy4::ut3::{GameMode, Setting, Settings, Value};

use crate::common::captures::cases;
use crate::decode;

#[test]
fn every_key_has_its_meaning() {
    let case = cases("gamespy4").into_iter().find(|case| case.name == "own-ut3").unwrap();
    let answer = decode(case.packets).unwrap();
    let status = answer.to_status();
    for settings in [Settings::new(answer.rules()), Settings::from_rules(&status.rules)] {
        let text = |setting| match settings.get(setting) {
            Some(Value::Text(text)) => text.plain().into_owned(),
            other => panic!("{setting}: {other:?}"),
        };
        let number =
            |setting, number| assert_eq!(settings.get(setting), Some(Value::Number(number)), "{setting}");
        let boolean =
            |setting, yes| assert_eq!(settings.get(setting), Some(Value::Boolean(yes)), "{setting}");
        let choice = |setting, number, name| {
            assert_eq!(settings.get(setting), Some(Value::Choice(number, Some(name))), "{setting}");
        };
        assert_eq!(text(Setting::Name), "queryport vCTF");
        number(Setting::OwnerId, 113_350_319);
        assert_eq!(text(Setting::OwnerName), "queryport vCTF");
        assert_eq!(text(Setting::Openness), "openplaying");
        boolean(Setting::UsesStats, true);
        boolean(Setting::IsDedicated, true);
        assert_eq!(text(Setting::AverageSkillRating).parse(), Ok(1000.0));
        number(Setting::EngineVersion, 3815);
        number(Setting::MinNetVersion, 3467);
        assert_eq!(settings.get(Setting::GameMode), Some(Value::GameMode(GameMode::VehicleCaptureTheFlag)));
        choice(Setting::BotSkill, 5, "Adept");
        number(Setting::MapIndex, 14);
        choice(Setting::Pure, 1, "yes");
        boolean(Setting::Password, false);
        choice(Setting::VersusBots, 0, "off");
        boolean(Setting::Campaign, false);
        boolean(Setting::ForcedRespawn, true);
        boolean(Setting::KeyboardAllowed, false);
        boolean(Setting::IsFull, false);
        boolean(Setting::IsEmpty, false);
        assert_eq!(text(Setting::Map), "VCTF-Suspense");
        assert_eq!(text(Setting::GameClass), "UTGameContent.UTVehicleCTFGame_Content");
        assert_eq!(text(Setting::Description), "");
        let Some(Value::Names(names)) = settings.get(Setting::CustomMutators) else { panic!() };
        assert_eq!(names, ["NoTags", "X"]);
        let Some(Value::Names(classes)) = settings.get(Setting::CustomMutatorClasses) else { panic!() };
        assert_eq!(*classes.last().unwrap(), "UTMutator_x");
        number(Setting::Bots, 2);
        number(Setting::InstantActionBots, 0);
        number(Setting::GoalScore, 3);
        number(Setting::TimeLimit, 20);
        // The property without a value, and the one after it.
        assert_eq!(settings.get(Setting::SteamId), None);
        assert_eq!(answer.get(Setting::SteamId.key()), Some(&b""[..]));
        boolean(Setting::SteamVac, false);
        assert_eq!(settings.get(Setting::LeaderboardRating), None);
        let Some(Value::Mutators(mutators)) = settings.get(Setting::Mutators) else { panic!() };
        assert_eq!((mutators.mask, mutators.to_string().as_str()), (4160, "LowGrav, WeaponReplacement"));
        assert_eq!(
            settings.to_string(),
            "Vehicle Capture the Flag on VCTF-Suspense, to 3, 20 minutes, 2 bots (Adept), pure, forced respawn, \
             mutators: LowGrav, WeaponReplacement, custom mutators: NoTags, X"
        );
    }
}

#[test]
fn the_model_has_map_class_and_bots_under_their_own_names() {
    let case = cases("gamespy4").into_iter().find(|case| case.name == "own-ut3").unwrap();
    let status = decode(case.packets).unwrap().to_status();
    assert_eq!(status.map.unwrap(), "VCTF-Suspense", "never the key mapname");
    assert_eq!(status.game_type.unwrap(), "UTGameContent.UTVehicleCTFGame_Content");
    assert_eq!(
        (status.player_count, status.bot_count),
        (Some(3), Some(2)),
        "everyone, though numplayers is 1"
    );
    let players = status.players.unwrap();
    let players: Vec<_> = players.iter().map(|player| (player.name.to_string(), player.bot)).collect();
    let bot = (String::new(), Some(true));
    assert_eq!(players, [("Ann".to_owned(), Some(false)), bot.clone(), bot], "bots have no names");
    assert_eq!(
        (status.password, status.dedicated, status.anti_cheat),
        (Some(false), Some(true), Some(false))
    );
    assert_eq!(status.time_limit, Some(Duration::from_secs(20 * 60)));
    assert_eq!((status.score_limit, status.protocol_version), (Some(3), Some(3467)));
    let mutators: Vec<_> = status.mutators.unwrap().iter().map(ToString::to_string).collect();
    assert_eq!(mutators, ["LowGrav", "WeaponReplacement", "NoTags", "X"], "its own and custom ones");
}
