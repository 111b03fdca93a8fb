//! The rows are consistent.
use std::collections::BTreeSet;

use queryport::games::{Certainty, Game, MasterForm, QueryPort};
use queryport::{Dialect, Protocol};

use crate::games::client;

#[test]
fn every_word_finds_its_game_and_no_other() {
    let mut ids = BTreeSet::new();
    for game in Game::all() {
        for id in [game.id].iter().chain(game.old_ids) {
            assert!(ids.insert(*id), "{id} is an id of two games");
            assert!(
                id.bytes()
                    .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()),
                "{id}"
            );
        }
        for word in [game.id, game.name]
            .iter()
            .chain(game.old_ids)
            .chain(game.aliases)
        {
            assert_eq!(Game::find(word).unwrap().id, game.id, "{word}");
            assert_eq!(
                Game::find(&word.to_uppercase()).unwrap().id,
                game.id,
                "{word}"
            );
        }
        if let Some(gamename) = game.gamename {
            let found = Game::find(gamename).unwrap();
            let is_shared = found.gamename == Some(gamename);
            assert!(found.id == game.id || is_shared, "{gamename}");
        }
        assert!(
            game.year.is_none_or(|year| (1996..=2026).contains(&year)),
            "{}",
            game.id
        );
        assert!(
            !game.name.is_empty() && !game.source.is_empty(),
            "{}",
            game.id
        );
    }
}

#[test]
fn ports_are_legal() {
    for game in Game::all() {
        assert_ne!(game.game_port, Some(0), "{}", game.id);
        assert!(
            game.default_query_port().is_some_and(|port| port >= 1024),
            "{}",
            game.id
        );
        assert!(
            game.game_port.is_some() || matches!(game.query_port, QueryPort::Fixed(_)),
            "{}",
            game.id
        );
        for (_, rule) in game.also_at {
            assert!(rule.of(game.game_port.unwrap()).is_some(), "{}", game.id);
        }
    }
}

#[test]
fn dialects_belong_to_a_protocol_of_the_game() {
    for game in Game::all() {
        let protocol = match game.dialect {
            Dialect::Standard => continue,
            Dialect::XServerQuery => Protocol::GameSpy1,
            Dialect::GameSpy2 | Dialect::Minecraft | Dialect::JustCause2 => Protocol::GameSpy4,
            Dialect::MedalOfHonor | Dialect::NoChallenge | Dialect::OpenJk | Dialect::InfoOnly => {
                Protocol::Quake3
            }
            Dialect::Quake2 | Dialect::QuakeWorld => Protocol::Quake3,
            Dialect::SeparateLists => Protocol::Ut2004,
            other => panic!("{other:?}"),
        };
        let speaks =
            game.protocol == protocol || game.also_at.iter().any(|(also, _)| *also == protocol);
        assert!(speaks, "{}", game.id);
    }
}

#[test]
fn list_servers_can_be_asked_as_their_form_says() {
    for game in Game::all() {
        let mut seen = BTreeSet::new();
        for master in game.masters {
            let (host, port) = master.address.rsplit_once(':').expect(master.address);
            assert!(
                host.contains('.')
                    && host
                        .bytes()
                        .all(|byte| byte.is_ascii_alphanumeric() || b".-".contains(&byte))
            );
            assert!(
                port.parse::<u16>().is_ok_and(|port| port > 0),
                "{}",
                master.address
            );
            assert!(
                seen.insert(master.address),
                "{}: {} twice",
                game.id,
                master.address
            );
            let is_quake3 = matches!(
                master.form,
                MasterForm::Short
                    | MasterForm::Named
                    | MasterForm::Unmarked
                    | MasterForm::Hexadecimal
                    | MasterForm::Long
            );
            let is_sibling = matches!(master.form, MasterForm::Quake2 | MasterForm::QuakeWorld);
            assert_eq!(
                is_quake3 || is_sibling || master.form == MasterForm::Cod4x,
                game.protocol == Protocol::Quake3,
                "{}",
                game.id
            );
            assert!(
                !is_quake3 || !game.numbers.is_empty(),
                "{}: lists by number",
                game.id
            );
            let by_name = matches!(
                master.form,
                MasterForm::Named
                    | MasterForm::Long
                    | MasterForm::GameSpy1
                    | MasterForm::GameSpy1WithoutLogin
                    | MasterForm::GameSpy2
            );
            assert!(
                !by_name || game.gamename.is_some(),
                "{}: lists by name",
                game.id
            );
            assert!(
                master.form != MasterForm::GameSpy2 || game.key.is_some(),
                "{}: enciphers",
                game.id
            );
        }
        assert_eq!(
            client().servers(game).is_ok(),
            !game.masters.is_empty(),
            "{}",
            game.id
        );
        assert!(
            game.certainty != Certainty::Unknown || game.masters.is_empty(),
            "{}",
            game.id
        );
    }
}

#[test]
fn the_readme_states_how_many_games_there_are() {
    let readme = include_str!("../../../README.md");
    let tens = Game::all().len() / 10 * 10;
    assert!(readme.contains(&format!("over {tens} games")), "{tens}");
}
