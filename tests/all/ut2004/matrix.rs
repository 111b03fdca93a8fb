//! Servers as the games' scripts write them, over a network without loss: how many requests a query
//! takes, and whether its answer is complete.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use queryport::ut2004::StatusQuery;
use queryport::{QueryOptions, Timing, ToStatus};

use crate::common::link::Conditions;
use crate::common::pair::play;
use crate::common::servers::{Match, Server, Snapshot, Wire};

/// Choices of the game: deathmatch, team deathmatch, capture the flag, Killing Floor, Red Orchestra.
const GAMES: [u64; 5] = [0, 2, 4, 6, 7];
const DEATHMATCH: u64 = 0;

/// A server with short names.
fn server(game: u64, [players, bots, spectators, mutators]: [u32; 4], modification: u64) -> Match {
    let people = Match::plain("Server".to_owned(), players + spectators, mutators);
    let mut held = people.clone();
    held.spectators = held.players.split_off(players as usize);
    held.spectators
        .iter_mut()
        .for_each(|person| person.score = 0);
    held.bots = bots;
    held.slots = 32.max(players + 1);
    // The mail's length and the modification's rules; no colours.
    held.character = game | modification << 8 | 1 << 24;
    held
}

/// What was seen of a query.
struct Queried {
    requests: usize,
    is_right: bool,
    /// Whether two requests can prove everything.
    is_usual: bool,
}

fn query(held: &Match, game: u64) -> Queried {
    let mut server = Server::new(Wire::Ut2004, 0);
    let mut reply = |request: &[u8]| -> Vec<Bytes> {
        let replies = server.answer(held, request).into_iter();
        replies.map(Bytes::from).collect()
    };
    let [rules, players] = [1, 2].map(|kind| reply(&[0x79, 0, 0, 0, kind]));
    let link = (Conditions::perfect(Duration::from_millis(20)), 0);
    let query = StatusQuery::new(0, &QueryOptions::default());
    let played = play(query, Timing::default(), link, |_, _, request| {
        reply(request)
    });
    let requests = played.requests();
    let status = played.result.unwrap().answer.to_status();
    let wanted = Wire::Ut2004.snapshot(held);
    let shows_end = |list: &[Bytes]| list.last().is_some_and(|last| last.len() <= 450);
    let are_as_many = wanted.count as usize == held.players.len()
        && !held.players.is_empty()
        && held.bots == 0
        && (held.spectators.is_empty() || game != DEATHMATCH);
    Queried {
        requests,
        is_right: status.completeness.is_complete() && Snapshot::of(&status) == wanted,
        is_usual: rules.len() == 1 && shows_end(&rules) && shows_end(&players) && are_as_many,
    }
}

/// Lists of one datagram take two requests if they show all that the info counts.
#[test]
fn servers_of_the_scripts_are_complete_within_four_requests() {
    let (mut servers, mut right) = (0, 0);
    let mut by_requests: BTreeMap<(bool, usize), u32> = BTreeMap::new();
    let mut modification = 0;
    for game in GAMES {
        for players in (0..=32).step_by(2) {
            for [bots, spectators, mutators] in [
                [0, 0, 2],
                [0, 2, 1],
                [0, 7, 12],
                [3, 0, 3],
                [12, 1, 0],
                [5, 3, 14],
            ] {
                modification += 1;
                let held = server(game, [players, bots, spectators, mutators], modification);
                let queried = query(&held, game);
                servers += 1;
                right += u32::from(queried.is_right);
                let key = (queried.is_usual, queried.requests);
                *by_requests.entry(key).or_default() += 1;
                let most = if queried.is_usual { 2 } else { 4 };
                assert!(
                    queried.requests <= most,
                    "{} requests of {most}: game {game}, {players} players, {bots} bots, \
                     {spectators} spectators, {mutators} mutators, modification {modification}",
                    queried.requests
                );
            }
        }
    }
    println!("{right} of {servers} right; by (usual, requests): {by_requests:?}");
    assert!(right * 100 >= servers * 98, "{right} of {servers}");
}
