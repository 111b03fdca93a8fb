//! One server of the table.

use std::borrow::Cow;
use std::net::{IpAddr, SocketAddr};

use queryport::games::Game;
use queryport::{Error, ErrorKind, Outcome, ServerStatus, Text};

use super::command_line;
use super::safe_text::{safe, width};
use super::state::QueryResult;
use super::target::{Target, What};
use super::view::abbreviated;

/// Which query of a server is under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Query {
    Idle,
    /// The query of the scan of the whole list.
    Scan,
    /// The query of a refresh of the rows on the screen.
    Refresh,
}

/// Why a query has no answer.
#[derive(Debug)]
pub(crate) struct Failure {
    /// The message without the address.
    pub(crate) reason: String,
    /// Whether the server has an address.
    pub(crate) has_address: bool,
}

impl Failure {
    fn of(error: &Error, server: &str) -> Self {
        let without_address = [ErrorKind::BadAddress, ErrorKind::NameResolution];
        Self {
            reason: reason(&command_line::message(error), server),
            has_address: !without_address.contains(&error.kind()),
        }
    }
}

/// A server and its latest answer.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) target: Target,
    /// The last answer; it stays when a later query fails.
    pub(crate) answer: Option<Outcome<ServerStatus>>,
    /// Why the last query has no answer.
    pub(crate) failure: Option<Failure>,
    pub(crate) query: Query,
    pub(crate) is_favourite: bool,
    /// The name of the game, or of the protocol.
    pub(crate) game: String,
    /// The game, if the answer names it.
    plays: Option<&'static Game>,
    /// Name and map in lower case, to sort by.
    pub(crate) keys: [String; 2],
    /// The text that a search looks through, in lower case.
    text: String,
}

impl Server {
    pub(crate) fn new(target: Target) -> Self {
        let mut server = Self {
            game: match target.0 {
                What::Protocol(protocol) => protocol.to_string(),
                What::Game(game) => game.name.to_owned(),
            },
            target,
            plays: None,
            answer: None,
            failure: None,
            query: Query::Idle,
            is_favourite: false,
            keys: Default::default(),
            text: String::new(),
        };
        server.text = server.words();
        server
    }

    /// Takes the answer or the failure of a query.
    pub(crate) fn update(&mut self, result: QueryResult) {
        match result {
            Ok(outcome) => {
                if let Some(game) = Game::of(&outcome.answer, self.target.0.protocol()) {
                    self.plays = Some(game);
                    game.name.clone_into(&mut self.game);
                }
                self.answer = Some(outcome);
                self.failure = None;
                self.keys = [
                    self.text(|status| &status.name),
                    self.text(|status| &status.map),
                ]
                .map(|text| {
                    text.map(|text| safe(&text.plain()).to_lowercase())
                        .unwrap_or_default()
                });
                self.text = self.words();
            }
            Err(error) => self.failure = Some(Failure::of(&error, &self.target.1)),
        }
    }

    /// The name of the game in these columns, with shortened words if it must be. If even that does
    /// not fit, its id, or the longest other name that fits.
    pub(crate) fn short_game(&self, columns: usize) -> Cow<'_, str> {
        let name = abbreviated(&self.game, columns);
        if width(&name) <= columns {
            return name;
        }
        let fitting = |word: &&str| width(word) <= columns;
        let others = |game: &'static Game| game.aliases.iter().chain(game.old_ids).copied();
        let longest = |game| others(game).filter(fitting).max_by_key(|word| width(word));
        let id = || self.plays.map(|game| game.id).filter(fitting);
        let word = id().or_else(|| longest(self.plays?));
        Cow::Borrowed(word.unwrap_or(&self.game))
    }

    pub(crate) fn status(&self) -> Option<&ServerStatus> {
        self.answer.as_ref().map(|outcome| &outcome.answer)
    }

    pub(crate) fn text(&self, field: impl Fn(&ServerStatus) -> &Option<Text>) -> Option<&Text> {
        self.status().and_then(|status| field(status).as_ref())
    }

    /// Players, bots included.
    pub(crate) fn players(&self) -> Option<u32> {
        self.status()?.player_count
    }

    /// Players without bots.
    pub(crate) fn people(&self) -> Option<u32> {
        let bots = self.bots().unwrap_or(0);
        Some(self.players()?.saturating_sub(bots))
    }

    pub(crate) fn slots(&self) -> Option<u32> {
        self.status()?.max_players
    }

    /// The server's count of bots, or the number of marked bots in its list.
    pub(crate) fn bots(&self) -> Option<u32> {
        let status = self.status()?;
        let marked = || {
            status
                .players
                .iter()
                .filter_map(|player| player.bot)
                .collect::<Vec<_>>()
        };
        let listed = Some(marked()).filter(|marks| !marks.is_empty());
        let count =
            |marks: Vec<bool>| u32::try_from(marks.iter().filter(|is_bot| **is_bot).count()).ok();
        status.bot_count.or_else(|| listed.and_then(count))
    }

    /// The round-trip time in milliseconds.
    pub(crate) fn ping(&self) -> Option<f64> {
        Some(self.answer.as_ref()?.rtt?.as_secs_f64() * 1000.0)
    }

    /// Whether each word is in the name, map, game, type, address or a player's name. The words are
    /// in lower case.
    pub(crate) fn has(&self, words: &str) -> bool {
        words
            .split_whitespace()
            .all(|word| self.text.contains(word))
    }

    /// Where players connect to: the address as listed, with the game port if the answer has one.
    pub(crate) fn game_address(&self) -> String {
        let (_, server) = &self.target;
        let Some(port) = self.status().and_then(|status| status.game_port) else {
            return server.clone();
        };
        let (host, _) = command_line::split(server);
        command_line::join(host, port)
    }

    fn words(&self) -> String {
        let (protocol, address) = &self.target;
        let mut words = format!("{address} {protocol} {}", self.game);
        if let Some(status) = self.status() {
            let texts = [
                &status.name,
                &status.map,
                &status.game_type,
                &status.mod_name,
            ]
            .into_iter()
            .flatten();
            for text in texts.chain(status.players.iter().map(|player| &player.name)) {
                words.push(' ');
                words.push_str(&safe(&text.plain()));
            }
        }
        words.to_lowercase()
    }
}

/// The message of a failure without the address that it begins with.
fn reason(message: &str, address: &str) -> String {
    match message.split_once(": ") {
        Some((peer, reason)) if peer == address || is_address(peer) => reason.to_owned(),
        _ => message.to_owned(),
    }
}

fn is_address(text: &str) -> bool {
    text.parse::<SocketAddr>().is_ok() || text.parse::<IpAddr>().is_ok()
}
