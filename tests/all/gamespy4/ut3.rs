//! Unreal Tournament 3's settings, from an entire reply and from the model.

use queryport::Rules;
use queryport::gamespy4::ut3::Settings;

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
        let rules = Rules::from_iter([(key, " a  b ")]);
        let settings = Settings::from_rules(&rules);
        assert_eq!(settings.get(key).as_deref(), Some(" a  b "), "{key}");
    }
    let names = Settings::new([(&b"p1073741828"[..], &b" A \x1c B "[..])]);
    assert_eq!(names.get("p1073741828").as_deref(), Some(" A ,  B "));
}
