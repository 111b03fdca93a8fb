//! Settings as a person reads them.

use std::fmt;

use super::{Pure, Settings, VersusBots};

/// One line for a person: what is played where, and what is unusual about it.
impl fmt::Display for Settings<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.game_mode(), self.game_class_mode()) {
            (Some(mode), Some(class)) if mode != class => write!(f, "{mode} (by its class {class})")?,
            (Some(mode), _) | (None, Some(mode)) => write!(f, "{mode}")?,
            (None, None) => f.write_str("unknown game")?,
        }
        if let Some(map) = self.map() {
            write!(f, " on {map}")?;
        }
        if let Some(goal) = self.goal_score().filter(|&goal| goal > 0) {
            write!(f, ", to {goal}")?;
        }
        if let Some(minutes) = self.time_limit().filter(|&minutes| minutes > 0) {
            write!(f, ", {minutes} minutes")?;
        }
        if let Some(bots) = self.bots().filter(|&bots| bots > 0) {
            write!(f, ", {bots} bots")?;
            if let Some(skill) = self.bot_skill() {
                write!(f, " ({skill})")?;
            }
        }
        if let Some(ratio) = self.versus_bots().filter(|&ratio| ratio != VersusBots::Off) {
            write!(f, ", against bots {ratio}")?;
        }
        if self.password() == Some(true) {
            f.write_str(", password")?;
        }
        if self.pure_server() == Some(Pure::Yes) {
            f.write_str(", pure")?;
        }
        if self.forced_respawn() == Some(true) {
            f.write_str(", forced respawn")?;
        }
        if let Some(mutators) = self.mutators().filter(|mutators| mutators.mask() != 0) {
            write!(f, ", mutators: {mutators}")?;
        }
        for (place, name) in self.custom_mutators().enumerate() {
            write!(f, "{} {name}", if place == 0 { ", custom mutators:" } else { "," })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gamespy4::ut3::{BotSkill, GameMode};

    #[test]
    fn numbers_by_meaning() {
        let modes: Vec<_> = (0..11).map(|number| GameMode::from_number(number).to_string()).collect();
        assert_eq!(
            modes.join("|"),
            "Deathmatch|Capture the Flag|Warfare|Vehicle Capture the Flag|Team Deathmatch|Duel|custom|campaign|Greed|\
             Betrayal|mode 10"
        );
        for (class, mode) in [
            ("UTGame.UTDeathmatch", GameMode::Deathmatch),
            ("UTGame.UTTeamGame", GameMode::TeamDeathmatch),
            ("UTGameContent.UTCTFGame_Content", GameMode::CaptureTheFlag),
            ("UTGameContent.UTVehicleCTFGame_Content", GameMode::VehicleCaptureTheFlag),
            ("UTGameContent.UTOnslaughtGame_Content", GameMode::Warfare),
            ("UTGame.UTDuelGame", GameMode::Duel),
        ] {
            assert_eq!(GameMode::from_class(class.as_bytes()), Some(mode), "{class}");
        }
        assert_eq!(GameMode::from_class(b"BattleRPG.Game"), None);
        let ratios: Vec<_> = (0..8).map(|number| VersusBots::from_number(number).to_string()).collect();
        assert_eq!(ratios.join(" "), "off 1:2 1:1 3:2 2:1 3:1 4:1 ratio 7");
        let skills: Vec<_> = (0..10).map(|number| BotSkill::from_number(number).to_string()).collect();
        assert_eq!(
            skills.join(" "),
            "automatic Novice Average Experienced Skilled Adept Masterful Inhuman Godlike skill 9"
        );
        let pure: Vec<_> = (0..4).map(|number| Pure::from_number(number).to_string()).collect();
        assert_eq!(pure.join(" "), "no yes any pure 3");
    }

    #[test]
    fn mutators_of_others_are_split_wherever_the_separators_stand() {
        let pairs: [(&[u8], &[u8]); 2] =
            [(b"p1073741828", b"NoTags\x1cX Y"), (b"p1073741829", b"\x1cNoTagsMutator\x1cUTMutator_x\x1c")];
        let settings = Settings::new(pairs);
        let names: Vec<_> = settings.custom_mutators().map(|name| name.to_string()).collect();
        let classes: Vec<_> = settings.custom_mutator_classes().map(|name| name.to_string()).collect();
        assert_eq!(
            (names.join("|"), classes.join("|")),
            ("NoTags|X Y".into(), "NoTagsMutator|UTMutator_x".into())
        );
        assert_eq!(settings.raw("P1073741828"), Some(&b"NoTags\x1cX Y"[..]));
        assert_eq!(settings.to_string(), "unknown game, custom mutators: NoTags, X Y");
    }

    #[test]
    fn the_class_speaks_up_when_the_number_says_something_else() {
        let pairs: [(&[u8], &[u8]); 2] = [(b"s32779", b"1"), (b"p1073741826", b"UTGame.UTDeathmatch")];
        assert_eq!(Settings::new(pairs).to_string(), "Capture the Flag (by its class Deathmatch)");
    }
}
