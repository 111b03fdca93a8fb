//! The servers of the local network.

use std::io::{self, Write};
use std::net::IpAddr;
use std::process::ExitCode;

use queryport::games::Game;
use queryport::{Client, ToStatus};

use super::{command_line, print};

/// Prints the servers as they answer: those of a game, and those whose game is not known. A table
/// has a line for each.
pub(crate) async fn search(
    client: &Client,
    game: Option<&Game>,
    networks: &[IpAddr],
    is_json: bool,
) -> Result<ExitCode, Box<dyn std::error::Error>> {
    let mut servers = client.lan(game, networks)?;
    let mut out = io::stdout();
    let (mut is_first, mut code) = (true, ExitCode::FAILURE);
    while let Some(scanned) = servers.next_answer().await {
        let outcome = match scanned.result {
            Ok(outcome) => outcome,
            Err(error) => {
                command_line::complain(&command_line::message(&error));
                continue;
            }
        };
        let protocol = outcome.answer.protocol();
        let outcome = outcome.map(|answer| answer.to_status());
        let plays = Game::of(&outcome.answer, protocol);
        if game
            .zip(plays)
            .is_some_and(|(wanted, plays)| wanted.id != plays.id)
        {
            continue;
        }
        code = ExitCode::SUCCESS;
        if is_json {
            writeln!(
                out,
                "{}",
                print::json(protocol, &outcome.peer.to_string(), &outcome)
            )?;
            continue;
        }
        if std::mem::take(&mut is_first) {
            writeln!(
                out,
                "{:<22} {:<9} {:<16} {:>7}  {:<16} name",
                "address", "protocol", "game", "players", "map"
            )?;
        }
        let status = &outcome.answer;
        let count =
            |count: Option<u32>| count.map_or_else(|| "?".to_owned(), |count| count.to_string());
        let players = format!(
            "{}/{}",
            count(status.player_count),
            count(status.max_players)
        );
        let map = status
            .map
            .as_ref()
            .map(ToString::to_string)
            .unwrap_or_default();
        let name = status
            .name
            .as_ref()
            .map(|name| print::paint(name.as_ref()))
            .unwrap_or_default();
        let plays = plays.map_or("-", |game| game.id);
        writeln!(
            out,
            "{:<22} {protocol:<9} {plays:<16} {players:>7}  {map:<16} {name}",
            outcome.peer.to_string()
        )?;
    }
    if code == ExitCode::FAILURE {
        command_line::complain("no server answered on the local network");
    }
    Ok(code)
}
