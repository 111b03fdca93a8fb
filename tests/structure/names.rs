//! Names of engines and games are in the tables only.

use std::collections::BTreeSet;

use super::source::Source;

/// Files besides the tables whose literals name an engine or a game, with the reason.
const EXCEPTIONS: [(&str, &str); 2] = [
    (
        "lists/quake3.rs",
        "a request that only this game's masters read",
    ),
    ("protocol.rs", "the name of a protocol is a game's, too"),
];

#[test]
fn only_the_tables_name_engines_and_games() {
    let games = queryport::games::Game::all();
    let games = games.flat_map(|game| [Some(game.name), game.gamename]);
    let games = games.flatten().map(str::to_lowercase);
    let mut names: BTreeSet<String> = games.chain(engines()).collect();
    names.retain(|name| name.len() >= 4);
    assert!(names.contains("ioquake3") && names.len() > 100, "{names:?}");

    let mut named = BTreeSet::new();
    for source in Source::all() {
        let file = &source.file;
        let is_table = file.ends_with("engines.rs") || file.starts_with("games");
        if is_table || EXCEPTIONS.iter().any(|(name, _)| file.ends_with(name)) {
            continue;
        }
        for literal in &source.literals {
            let text = literal.to_lowercase();
            let known = names.iter().filter(|name| has_word(&text, name));
            named.extend(known.map(|name| format!("{}: {name} in {literal}", file.display())));
        }
    }
    assert!(named.is_empty(), "outside the tables: {named:#?}");
}

/// The names of the rows of every table, from the listings of their cells.
fn engines() -> Vec<String> {
    let mut names = Vec::new();
    for file in kit::files::below(&kit::root().join("tests/engines"), &["txt"]) {
        let text = std::fs::read_to_string(file).unwrap().to_lowercase();
        let titles = text.lines().filter_map(|line| line.strip_prefix('['));
        names.extend(titles.map(|title| title.trim_end_matches(']').to_owned()));
    }
    let is_name = |name: &String| !["unknown", "other engines", "keys"].contains(&&**name);
    names.retain(is_name);
    names
}

fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(start, _)| {
        let before = text[..start].chars().next_back();
        let after = text[start + word.len()..].chars().next();
        let mut around = before.into_iter().chain(after);
        !around.any(char::is_alphanumeric)
    })
}
