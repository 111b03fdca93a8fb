//! Unreal Tournament 3's settings in one line: mode, map, limits, bots and mutators.

use std::fmt::Write as _;

use queryport::gamespy4::ut3::Settings;

/// Game modes by class; the last two are of the Titan pack.
const MODES: [(&str, &str); 8] = [
    ("UTDeathmatch", "Deathmatch"),
    ("UTCTFGame", "Capture the Flag"),
    ("UTOnslaughtGame", "Warfare"),
    ("UTVehicleCTFGame", "Vehicle Capture the Flag"),
    ("UTTeamGame", "Team Deathmatch"),
    ("UTDuelGame", "Duel"),
    ("UTGreedGame", "Greed"),
    ("UTBetrayalGame", "Betrayal"),
];

/// The mode, and the mode of the game's class if that differs; then the map, limits, bots and
/// mutators.
pub(crate) fn line(settings: &Settings<'_>) -> String {
    let class = settings
        .get("p1073741826")
        .and_then(|class| mode_of_class(&class));
    let mode = settings.get("s32779");
    let mut out = mode
        .as_deref()
        .or(class)
        .unwrap_or("unknown game")
        .to_owned();
    if let (Some(mode), Some(class)) = (mode, class)
        && !mode.starts_with("number ")
        && mode != class
    {
        let _ = write!(out, " (by its class {class})");
    }
    let unusual = |key| {
        let is_off = |words: &String| matches!(words.as_str(), "" | "0" | "off" | "none");
        settings
            .get(key)
            .filter(|words| !is_off(words) && !words.starts_with('-'))
    };
    for (key, before, after) in [
        ("p1073741825", " on ", ""),
        ("p268435704", ", to ", ""),
        ("p268435705", ", ", " minutes"),
        ("p268435703", ", ", " bots"),
        ("s8", ", against bots ", ""),
    ] {
        let Some(value) = unusual(key) else { continue };
        let _ = write!(out, "{before}{value}{after}");
        if let ("p268435703", Some(skill)) = (key, settings.get("s0")) {
            let _ = write!(out, " ({skill})");
        }
    }
    for (key, name) in [
        ("s7", "password"),
        ("s6", "pure"),
        ("s10", "forced respawn"),
    ] {
        if settings.get(key).as_deref() == Some("yes") {
            let _ = write!(out, ", {name}");
        }
    }
    for (key, name) in [
        ("p268435717", "mutators"),
        ("p1073741828", "custom mutators"),
    ] {
        if let Some(value) = unusual(key) {
            let _ = write!(out, ", {name}: {value}");
        }
    }
    out
}

/// The mode of a game class (`UTGame.UTDeathmatch`, with or without the package); `None` for a
/// class that is not the game's own.
fn mode_of_class(class: &str) -> Option<&'static str> {
    let name = class.rsplit('.').next()?;
    let name = name.strip_suffix("_Content").unwrap_or(name);
    MODES
        .iter()
        .find(|(class, _)| name.eq_ignore_ascii_case(class))
        .map(|(_, mode)| *mode)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line_of(pairs: &[(&str, &str)]) -> String {
        line(&Settings::new(
            pairs
                .iter()
                .map(|(key, value)| (key.as_bytes(), value.as_bytes())),
        ))
    }

    #[test]
    fn a_line_has_what_is_unusual() {
        assert_eq!(
            line_of(&[
                ("s32779", "3"),
                ("s0", "5"),
                ("s6", "1"),
                ("s7", "0"),
                ("s8", "0"),
                ("s10", "1"),
                ("p1073741825", "VCTF-Suspense"),
                ("p1073741826", "UTGameContent.UTVehicleCTFGame_Content"),
                ("p1073741828", "NoTags\x1cX"),
                ("p268435703", "2"),
                ("p268435704", "3"),
                ("p268435705", "20"),
                ("p268435717", "17"),
            ]),
            "Vehicle Capture the Flag on VCTF-Suspense, to 3, 20 minutes, 2 bots (Adept), pure, forced respawn, \
             mutators: BigHead, LowGrav, custom mutators: NoTags, X"
        );
        let secret = [("s32779", "0"), ("s7", "1"), ("s6", "0")];
        assert_eq!(line_of(&secret), "Deathmatch, password");
        assert_eq!(
            line_of(&[
                ("p268435703", "0"),
                ("p268435705", "-1"),
                ("p268435717", "0")
            ]),
            "unknown game"
        );
    }

    #[test]
    fn a_class_that_contradicts_the_number_is_shown() {
        let pairs = [("s32779", "1"), ("p1073741826", "UTGame.UTDeathmatch")];
        assert_eq!(
            line_of(&pairs),
            "Capture the Flag (by its class Deathmatch)"
        );
        assert_eq!(line_of(&pairs[1..]), "Deathmatch");
        assert_eq!(line_of(&[("s32779", "10"), pairs[1]]), "number 10");
    }
}
