//! The rows are consistent.
use std::collections::BTreeSet;

use queryport::games::Game;

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
    }
}

/// A list server needs the name, the number or the key that its form asks with.
#[test]
fn the_list_servers_of_every_game_can_be_asked() {
    for game in Game::all() {
        let can_be_asked = client().servers(game).is_ok();
        assert_eq!(can_be_asked, !game.masters.is_empty(), "{}", game.id);
    }
}
