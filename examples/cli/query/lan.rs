//! The servers of the local network.

use std::io::{self, Write};
use std::net::IpAddr;
use std::process::ExitCode;

use queryport::games::Game;
use queryport::{Client, ErrorKind, Protocol, ToStatus};

use super::{Answered, Answering, Form, command_line, print};

/// Prints the servers as they answer: those of a game, and those whose game is not known. A table
/// has a line for each.
pub(crate) async fn search(
    client: &Client,
    game: Option<&Game>,
    networks: &[IpAddr],
    form: Form,
) -> Result<ExitCode, Box<dyn std::error::Error>> {
    let mut servers = match client.lan(game, networks) {
        Err(error) if form != Form::Text => {
            writeln!(io::stdout(), "{}", print::json_error(None, None, &error))?;
            return Ok(ExitCode::FAILURE);
        }
        servers => servers?,
    };
    let mut found = Found {
        form,
        has_server: false,
        has_error: false,
    };
    while let Some(scanned) = servers.next_answer().await {
        match scanned.result {
            Ok(answered) => {
                let protocol = answered.answer.protocol();
                let outcome = answered.map(|answer| answer.to_status());
                let runs = Game::of(&outcome.answer, protocol);
                if is_wanted(game, runs) {
                    found.print(protocol, runs.or(game), &outcome)?;
                }
            }
            Err(error) if form != Form::Text => {
                found.has_error = true;
                let server = scanned.peer.map(|peer| peer.to_string());
                let line = print::json_error(None, server.as_deref(), &error);
                writeln!(io::stdout(), "{line}")?;
            }
            Err(error) => command_line::complain(&command_line::message(&error)),
        }
    }
    found.end()
}

/// Whether the server may run the game that is searched for.
fn is_wanted(wanted: Option<&Game>, runs: Option<&Game>) -> bool {
    match (wanted, runs) {
        (Some(wanted), Some(runs)) => wanted.id == runs.id,
        _ => true,
    }
}

/// The output of a search so far.
struct Found {
    form: Form,
    has_server: bool,
    /// Whether a failure was printed as JSON.
    has_error: bool,
}

impl Found {
    fn print(
        &mut self,
        protocol: Protocol,
        game: Option<&Game>,
        outcome: &Answered,
    ) -> io::Result<()> {
        let mut out = io::stdout();
        if self.form != Form::Text {
            let asked = Answering {
                protocol,
                game: None,
                server: &outcome.peer.to_string(),
                about: "",
            };
            writeln!(out, "{}", print::json(self.form, &asked, outcome))?;
        } else {
            if !self.has_server {
                writeln!(
                    out,
                    "{:<22} {:<9} {:<16} {:>7}  {:<16} name",
                    "address", "protocol", "game", "players", "map"
                )?;
            }
            writeln!(out, "{}", row(protocol, game, outcome))?;
        }
        self.has_server = true;
        Ok(())
    }

    fn end(&self) -> Result<ExitCode, Box<dyn std::error::Error>> {
        if self.has_server {
            return Ok(ExitCode::SUCCESS);
        }
        let why = "no server answered on the local network";
        if self.form == Form::Text {
            return Err(why.into());
        }
        if !self.has_error {
            let line = print::json_failure(None, ErrorKind::Timeout, why);
            writeln!(io::stdout(), "{line}")?;
        }
        Ok(ExitCode::FAILURE)
    }
}

/// A row of the table.
fn row(protocol: Protocol, game: Option<&Game>, outcome: &Answered) -> String {
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
    let game = game.map_or("-", |game| game.id);
    let address = outcome.peer.to_string();
    format!("{address:<22} {protocol:<9} {game:<16} {players:>7}  {map:<16} {name}")
}
