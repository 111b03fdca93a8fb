//! Unreal Tournament 3's settings, from a whole reply and from the model.

use queryport::gamespy4::ut3::{BotSkill, GameMode, MutatorTable, Pure, Settings, VersusBots};

use crate::common::captures::cases;
use crate::decode;

#[test]
fn every_key_has_its_meaning() {
    let case = cases("gamespy4").into_iter().find(|case| case.name == "own-ut3").unwrap();
    let answer = decode(case.packets).unwrap();
    let status = answer.to_status();
    for settings in [Settings::of(&answer).unwrap(), Settings::from_rules(&status.rules)] {
        assert_eq!(settings.name().unwrap().plain(), "queryport vCTF");
        assert_eq!(settings.owner_id(), Some(113_350_319));
        assert_eq!(settings.owner_name().unwrap().plain(), "queryport vCTF");
        assert_eq!(
            (settings.is_open(), settings.uses_stats(), settings.is_dedicated()),
            (Some(true), Some(true), Some(true))
        );
        assert_eq!(settings.average_skill_rating(), Some(1000.0));
        assert_eq!((settings.engine_version(), settings.min_net_version()), (Some(3815), Some(3467)));
        assert_eq!(settings.game_mode(), Some(GameMode::VehicleCaptureTheFlag));
        assert_eq!(settings.game_class_mode(), settings.game_mode());
        assert_eq!((settings.bot_skill(), settings.map_index()), (Some(BotSkill::Adept), Some(14)));
        assert_eq!((settings.pure_server(), settings.password()), (Some(Pure::Yes), Some(false)));
        assert_eq!((settings.versus_bots(), settings.campaign()), (Some(VersusBots::Off), Some(false)));
        assert_eq!((settings.forced_respawn(), settings.keyboard_allowed()), (Some(true), Some(false)));
        assert_eq!((settings.is_full(), settings.is_empty()), (Some(false), Some(false)));
        assert_eq!(settings.map().unwrap().plain(), "VCTF-Suspense");
        assert_eq!(settings.game_class().unwrap().plain(), "UTGameContent.UTVehicleCTFGame_Content");
        assert_eq!(settings.description().unwrap().plain(), "");
        assert_eq!(settings.custom_mutators().count(), 2);
        assert_eq!(
            settings.custom_mutator_classes().map(|class| class.to_string()).last().unwrap(),
            "UTMutator_x"
        );
        assert_eq!((settings.bots(), settings.instant_action_bots()), (Some(2), Some(0)));
        assert_eq!((settings.goal_score(), settings.time_limit()), (Some(3), Some(20)));
        // The property without a value, and the one after it.
        assert_eq!((settings.steam_id(), settings.raw("p268435968")), (None, Some(&b""[..])));
        assert_eq!((settings.steam_vac(), settings.leaderboard_rating()), (Some(false), None));
        let mutators = settings.mutators().unwrap();
        assert_eq!((mutators.mask(), mutators.table()), (4160, MutatorTable::Version2));
        assert_eq!(
            settings.to_string(),
            "Vehicle Capture the Flag on VCTF-Suspense, to 3, 20 minutes, 2 bots (Adept), pure, forced respawn, \
             mutators: LowGrav, WeaponReplacement, custom mutators: NoTags, X"
        );
    }
    assert_eq!(status.map.unwrap().plain(), "VCTF-Suspense", "never the key mapname");
    assert_eq!(status.game_type.unwrap().plain(), "UTGameContent.UTVehicleCTFGame_Content");
    assert_eq!((status.player_count, status.bot_count, status.password), (Some(1), Some(2), Some(false)));
    let names: Vec<_> = status.players.unwrap().iter().map(|player| player.name.to_string()).collect();
    assert_eq!(names, ["Ann", "", ""], "bots have no names");
}
