//! Compares the table of games with its sources, `sources.tsv`.
use queryport::games::{Game, QueryPort};

/// A line of `sources.tsv`; a cell is `None` where the source has no value.
struct Source {
    id: &'static str,
    protocol: &'static str,
    game_port: Option<u16>,
    query_port: Option<&'static str>,
    gamename: Option<&'static str>,
    numbers: Vec<i32>,
    masters: Vec<&'static str>,
    origin: &'static str,
}

fn sources() -> impl Iterator<Item = Source> {
    let lines = include_str!("sources.tsv").lines();
    lines.filter(|line| !line.starts_with('#')).map(|line| {
        let cells: Vec<&str> = line.split('\t').collect();
        let [
            id,
            protocol,
            game_port,
            query_port,
            gamename,
            numbers,
            masters,
            origin,
        ] = cells[..]
        else {
            panic!("{line}")
        };
        let cell = |text: &'static str| (text != "-").then_some(text);
        let words = |text| cell(text).into_iter().flat_map(str::split_whitespace);
        Source {
            id,
            protocol,
            game_port: cell(game_port).map(|port| port.parse().unwrap()),
            query_port: cell(query_port),
            gamename: cell(gamename),
            numbers: words(numbers)
                .map(|number| number.parse().unwrap())
                .collect(),
            masters: words(masters).collect(),
            origin,
        }
    })
}

/// The rule as the sources write it.
fn query_port(rule: QueryPort) -> String {
    match rule {
        QueryPort::Same => "same".to_owned(),
        QueryPort::Fixed(port) => format!("fixed {port}"),
        QueryPort::Offset(offset) => format!("offset {offset:+}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_row_says_what_its_sources_say() {
    let mut compared = 0;
    for source in sources() {
        let game = Game::find(source.id).unwrap();
        let row = format!("{} ({})", source.id, source.origin);
        assert_eq!(game.id, source.id, "{row}");
        assert_eq!(game.protocol.as_str(), source.protocol, "{row}");
        if let Some(port) = source.game_port {
            assert_eq!(game.game_port, Some(port), "{row}");
        }
        if let Some(rule) = source.query_port {
            assert_eq!(query_port(game.query_port), rule, "{row}");
        }
        if let Some(gamename) = source.gamename {
            assert_eq!(game.gamename, Some(gamename), "{row}");
        }
        for number in &source.numbers {
            let known = game.numbers.iter().any(|(known, _)| known == number);
            assert!(known, "{row}: {number}");
        }
        for master in &source.masters {
            let known = game.masters.iter().any(|known| known.address == *master);
            assert!(known, "{row}: {master}");
        }
        assert!(
            source.origin.contains('/'),
            "{row}: a repository and a file"
        );
        compared += 1;
    }
    assert!(compared > 110, "{compared} rows");
}
