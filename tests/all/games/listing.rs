//! Compares every cell of the table with a listing, `listing.tsv`.
use std::collections::BTreeMap;
use std::fmt::Display;

use queryport::games::{Game, QueryPort};

#[test]
fn every_cell_is_the_listed_one() {
    let lines = include_str!("listing.tsv").lines();
    let listed: BTreeMap<&str, &str> = lines
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split_once('\t').unwrap())
        .collect();
    let mut differences = Vec::new();
    for game in Game::all() {
        let cells = cells(game);
        if listed.get(game.id) != Some(&cells.as_str()) {
            differences.push(format!("{}\t{cells}", game.id));
        }
    }
    assert!(
        differences.is_empty(),
        "listing.tsv lacks these lines, or has others:\n{}",
        differences.join("\n")
    );
    assert_eq!(listed.len(), Game::all().len());
}

/// The cells of a game as the listing writes them.
fn cells(game: &Game) -> String {
    let also_at = game
        .also_at
        .iter()
        .map(|(protocol, rule)| format!("{protocol}:{}", query_port(*rule)));
    let masters = game
        .masters
        .iter()
        .map(|master| format!("{}/{}", master.address, master.form.as_str()));
    let numbers = game.numbers.iter();
    let numbers =
        numbers.map(|(number, version)| format!("{number} {version}").trim_end().to_owned());
    [
        cell(game.year),
        game.protocol.to_string(),
        cell(game.game_port),
        query_port(game.query_port),
        joined(also_at, " "),
        cell(game.gamename),
        cell(game.key),
        joined(numbers, ", "),
        joined(masters, " "),
    ]
    .join("\t")
}

fn cell(value: Option<impl Display>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| value.to_string())
}

fn joined(cells: impl Iterator<Item = String>, separator: &str) -> String {
    let cells: Vec<String> = cells.collect();
    cell(Some(cells.join(separator)).filter(|cells| !cells.is_empty()))
}

fn query_port(rule: QueryPort) -> String {
    match rule {
        QueryPort::Same => "same".to_owned(),
        QueryPort::Fixed(port) => port.to_string(),
        QueryPort::Offset(offset) => format!("{offset:+}"),
        other => panic!("{other:?}"),
    }
}
