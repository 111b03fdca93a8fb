//! Names of engines and games are in the tables only.

use std::collections::BTreeSet;
use std::path::Path;

use super::source::Source;

/// Files outside the tables whose strings name an engine or a game, with the reason.
const EXCEPTIONS: &[(&str, &str)] = &[
    (
        "lists/quake3.rs",
        "a request that only this game's masters read",
    ),
    ("protocol.rs", "the name of a protocol is a game's, too"),
];

#[test]
fn only_the_tables_name_engines_and_games() {
    let is_table = |path: &Path| path.ends_with("engines.rs") || path.starts_with("games");
    let (tables, others): (Vec<&Source>, Vec<&Source>) = Source::all()
        .iter()
        .partition(|source| is_table(&source.path));
    let mut names: BTreeSet<String> = queryport::games::Game::all()
        .flat_map(|game| [Some(game.name), game.gamename])
        .flatten()
        .map(str::to_lowercase)
        .collect();
    let is_engine = |source: &&&Source| source.path.ends_with("engines.rs");
    let engines: Vec<String> = tables
        .iter()
        .filter(is_engine)
        .flat_map(|table| engine_names(table))
        .collect();
    assert!(engines.iter().any(|name| name == "ioquake3"), "{engines:?}");
    names.extend(engines);
    names.retain(|name| name.len() >= 4);
    assert!(names.len() > 100, "found only {} names", names.len());

    let mut named = BTreeSet::new();
    for source in &others {
        for string in &source.strings {
            let string = string.to_lowercase();
            if let Some(name) = names.iter().find(|name| has_word(&string, name)) {
                named.insert(format!("{}: {name:?} in {string:?}", source.path.display()));
            }
        }
    }
    named.retain(|line| !EXCEPTIONS.iter().any(|(file, _)| line.starts_with(file)));
    assert!(named.is_empty(), "outside the tables: {named:#?}");
}

/// The names in the rows of a table of engines.
fn engine_names(table: &Source) -> Vec<String> {
    let text = std::fs::read_to_string(kit::root().join("src").join(&table.path)).unwrap();
    // Other names in a row are further to the right.
    let names = ["name", "family"].map(|field| format!("\n    {field}: \""));
    let names = names.iter().flat_map(|head| text.split(head).skip(1));
    names
        .map(|rest| rest.split('"').next().unwrap().to_lowercase())
        .filter(|name| !["unknown", "other engines"].contains(&name.as_str()))
        .collect()
}

fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(start, _)| {
        let before = text[..start].chars().next_back();
        let after = text[start + word.len()..].chars().next();
        ![before, after]
            .iter()
            .flatten()
            .any(|c| c.is_alphanumeric())
    })
}
