//! The evidence for the ports of each row: `ports.tsv`.
use std::collections::BTreeMap;

use queryport::games::{Evidence, Game, QueryPort};
use queryport::{Error, Protocol};

use crate::games::{answer, bind, client, named};

/// A line of `ports.tsv`.
struct Line {
    id: &'static str,
    evidence: &'static str,
    ports: Vec<Ports>,
    place: &'static str,
}

/// The ports of a server. Where a list names no game port, there is none.
struct Ports {
    protocol: Protocol,
    game: Option<u16>,
    query: u16,
}

fn lines() -> impl Iterator<Item = Line> {
    let lines = include_str!("ports.tsv").lines();
    lines.filter(|line| !line.starts_with('#')).map(|line| {
        let cells: Vec<&str> = line.split('\t').collect();
        let [id, evidence, ports, place] = cells[..] else {
            panic!("{line}")
        };
        Line {
            id,
            evidence,
            ports: read(ports),
            place,
        }
    })
}

/// The ports in a cell such as `gamespy1 12203:12300 quake3 12203:12203`.
fn read(cell: &str) -> Vec<Ports> {
    let mut protocol = None;
    let mut ports = Vec::new();
    for word in cell.split(' ') {
        let Some((game, query)) = word.split_once(':') else {
            protocol = Some(word.parse().unwrap());
            continue;
        };
        ports.push(Ports {
            protocol: protocol.expect(cell),
            game: game.parse().ok(),
            query: query.parse().unwrap(),
        });
    }
    ports
}

/// The query ports in this protocol of the game's server at this game port.
fn query_ports(game: &Game, ports: &Ports) -> Vec<u16> {
    let own = (game.protocol, game.query_port);
    let rules = std::iter::once(own).chain(game.also_at.iter().copied());
    rules
        .filter(|(protocol, _)| *protocol == ports.protocol)
        .filter_map(|(_, rule)| match (rule, ports.game) {
            (QueryPort::Fixed(port), _) => Some(port),
            (rule, game_port) => rule.of(game_port?),
        })
        .collect()
}

#[test]
fn each_row_has_the_ports_and_the_mark_of_its_evidence() {
    let mut counts: BTreeMap<Evidence, usize> = BTreeMap::new();
    let mut games = Game::all();
    for line in lines() {
        let game = games.next().expect(line.id);
        assert_eq!(game.id, line.id, "the lines are in the order of the table");
        assert_eq!(game.evidence.as_str(), line.evidence, "{}", line.id);
        assert!(
            !line.place.is_empty() && !line.ports.is_empty(),
            "{}",
            line.id
        );
        for ports in &line.ports {
            let known = query_ports(game, ports);
            assert!(known.contains(&ports.query), "{}: {known:?}", line.id);
        }
        let mut known = line.ports.iter().filter_map(|ports| ports.game).peekable();
        if let (Some(port), Some(_)) = (game.game_port, known.peek()) {
            assert!(known.any(|known| known == port), "{}: {port}", line.id);
        }
        *counts.entry(game.evidence).or_default() += 1;
    }
    assert_eq!(games.next(), None);
    println!("{counts:?}");
}

/// The reply names the game port (openmoh/openmohaa, code/gamespy/sv_gamespy.c).
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_server_of_medal_of_honor_is_told_from_others_of_its_host() {
    let host = kit::own_host(254);
    let mut servers = Vec::new();
    for (query_port, game_port) in [(12300, 12210), (12301, 12203), (12302, 12208)] {
        let socket = bind((host, query_port));
        let status = named(&game_port.to_string(), Some(game_port));
        servers.push(answer(socket, Protocol::GameSpy1.into(), status));
    }
    for (game_port, query_port) in [(12208, 12302), (12203, 12301), (12210, 12300)] {
        let target = format!("{host}:{game_port}");
        let found = client().query_game("mohaa", &target).await.unwrap();
        assert_eq!(found.outcome.peer.port(), query_port);
        assert_eq!(found.outcome.answer.game_port, Some(game_port));
    }
    let other = format!("{host}:12299");
    let other = client().query_game("mohaa", &other).await;
    assert!(matches!(other, Err(Error::OtherServer { .. })), "{other:?}");
}
