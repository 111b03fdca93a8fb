//! The watched servers one by one, and games through their list servers.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use std::time::{Duration, Instant};

use queryport::games::Game;
use queryport::{Client, Error, ErrorKind, Outcome, Player, QueryError, ScanOptions, ServerStatus};
use shared::masters;

use super::command_line;
use super::events::{self, Event, Form};
use super::history::{Crowd, History, Sample};
use super::port::Port;
use super::target::{Identity, What};

/// The failures in a row after which a server that answered is down, from the first of them on.
const FAILURES: usize = 3;
/// The changes of a server's state that are kept.
const CHANGES: usize = 10;

/// The state of a server, the worst first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum State {
    Down,
    /// The latest query did not reach the network, and the server is not known to be up.
    NotAsked,
    /// Another game answers: another server has the port.
    OtherGame,
    /// No query has ended.
    #[default]
    New,
    Up,
}

impl State {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Down => "down",
            Self::NotAsked => "not asked",
            Self::OtherGame => "other game",
            Self::New => "not queried yet",
            Self::Up => "up",
        }
    }

    /// Whether a server answers, of whatever game.
    pub(crate) const fn is_online(self) -> bool {
        matches!(self, Self::Up | Self::OtherGame)
    }
}

/// A change of a server's state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) state: State,
    pub(crate) time: Instant,
    /// Why the server is not up.
    pub(crate) reason: Option<String>,
}

/// A failure after which a server still counted as online.
#[derive(Debug)]
struct Doubt {
    time: Instant,
    is_asked: bool,
}

/// A server and the results of its queries.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) identity: Identity,
    /// Host and port as given.
    pub(crate) address: String,
    /// The remark of the list, which names the server until it answers.
    pub(crate) note: Option<String>,
    /// The latest answer. It stays while the server is down.
    pub(crate) answer: Option<Outcome<ServerStatus>>,
    /// The latest answer with a whole list of players, if players are compared.
    listed: Option<ServerStatus>,
    /// The time of the latest answer.
    pub(crate) answered: Option<Instant>,
    /// The failure of the latest query; `None` after an answer.
    pub(crate) failure: Option<Failure>,
    /// The failures since the latest answer. There are none while the server is not online.
    doubts: Vec<Doubt>,
    /// The words about another game in the latest answer.
    other_game: Option<String>,
    /// The time of the first result.
    pub(crate) first: Option<Instant>,
    pub(crate) state: State,
    /// The time of the first result of this state. An outage begins at its first failure.
    pub(crate) since: Option<Instant>,
    /// The latest changes of the state, the oldest first.
    pub(crate) changes: VecDeque<Change>,
    pub(crate) history: History,
    pub(crate) queries: u64,
    /// Failed queries by kind.
    pub(crate) failures: BTreeMap<&'static str, u64>,
    pub(crate) rejected: u64,
}

/// A failed query: its kind and its message, which may begin with the address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) kind: &'static str,
    /// Whether the server was asked: false for a text that is not an address.
    pub(crate) is_asked: bool,
    pub(crate) message: String,
    /// The message without the address.
    pub(crate) reason: String,
}

impl Failure {
    fn of(error: &Error, server: &Identity) -> Self {
        let is_asked = !matches!(
            error.kind(),
            ErrorKind::BadAddress
                | ErrorKind::Duplicate
                | ErrorKind::NameResolution
                | ErrorKind::Request
                | ErrorKind::Io
        );
        Self {
            kind: error.kind().as_str(),
            is_asked,
            message: command_line::message(error),
            reason: reason(error, server),
        }
    }
}

/// The error without the address of the server, and its causes. A query port that is not the port
/// of the server comes first.
fn reason(error: &Error, server: &Identity) -> String {
    let reason = match std::error::Error::source(error) {
        Some(cause) => format!("{}: {}", error.reason(), command_line::message(cause)),
        None => error.reason(),
    };
    match error.peer().map(|peer| peer.port()) {
        Some(port) if server.port != Some(port) => format!("query port {port}: {reason}"),
        _ => reason,
    }
}

impl Server {
    pub(crate) fn new(what: What, address: String) -> Self {
        Self {
            identity: Identity::of(what, &address),
            address,
            note: None,
            answer: None,
            listed: None,
            answered: None,
            failure: None,
            doubts: Vec::new(),
            other_game: None,
            first: None,
            state: State::New,
            since: None,
            changes: VecDeque::new(),
            history: History::default(),
            queries: 0,
            failures: BTreeMap::new(),
            rejected: 0,
        }
    }

    /// Counts and keeps a result, and returns the state if it is a new one.
    pub(crate) fn add(
        &mut self,
        result: Result<Outcome<ServerStatus>, Error>,
        now: Instant,
    ) -> Option<State> {
        self.queries += 1;
        self.first.get_or_insert(now);
        match result {
            Ok(outcome) => {
                self.rejected += u64::from(outcome.stats.rejected);
                self.doubts.clear();
                self.failure = None;
                self.other_game = words_of_other_game(self.identity.what, &outcome.answer);
                self.answer = Some(outcome);
                self.answered = Some(now);
            }
            Err(error) => {
                if let Error::Query {
                    error: QueryError::NoUsableAnswer { rejected, .. },
                    ..
                } = &error
                {
                    self.rejected += u64::from(*rejected);
                }
                let failure = Failure::of(&error, &self.identity);
                *self.failures.entry(failure.kind).or_default() += 1;
                self.failure = Some(failure);
            }
        }
        let state = self.latest_state();
        let is_new = self.state != state;
        if is_new {
            self.begin(state, now);
        }
        let is_asked = self.is_asked();
        if self.failure.is_some() && state.is_online() {
            let doubt = Doubt {
                time: now,
                is_asked,
            };
            self.doubts.push(doubt);
        }
        if is_asked {
            let crowd = self.status().and_then(Crowd::of);
            self.history.add(Sample::new(state, crowd), now);
        }
        is_new.then_some(state)
    }

    /// Begins a state at the first failure that shows it, which may be an earlier one.
    fn begin(&mut self, state: State, now: Instant) {
        let is_asked = self.is_asked();
        let mut doubts = std::mem::take(&mut self.doubts);
        doubts.retain(|doubt| doubt.is_asked == is_asked);
        let since = doubts.first().map_or(now, |doubt| doubt.time);
        let before = std::mem::replace(&mut self.state, state);
        self.since = Some(since);
        self.keep_change(since);
        if state == State::Down {
            for doubt in doubts {
                self.history.turn_down(before, doubt.time);
            }
        }
    }

    fn keep_change(&mut self, time: Instant) {
        if self.changes.len() == CHANGES {
            self.changes.pop_front();
        }
        self.changes.push_back(Change {
            state: self.state,
            time,
            reason: self.reason().map(str::to_owned),
        });
    }

    /// Why the server is not up.
    pub(crate) fn reason(&self) -> Option<&str> {
        let failure = self.failure.as_ref();
        let failure = failure.map(|failure| failure.reason.as_str());
        failure.or_else(|| self.other_game())
    }

    /// How long the server was down, if it came up by its latest change.
    pub(crate) fn latest_outage(&self) -> Option<Duration> {
        let mut changes = self.changes.iter().rev();
        let (latest, before) = (changes.next()?, changes.next()?);
        let came_up = (before.state, latest.state) == (State::Down, State::Up);
        came_up.then(|| latest.time.saturating_duration_since(before.time))
    }

    /// The players who joined and left between the latest result and the whole list before it.
    pub(crate) fn changes_of_players(&mut self) -> Vec<Event> {
        let is_whole = |status: &&ServerStatus| {
            status.completeness.is_complete() && status.players.known().is_some()
        };
        let Some(status) = self.status().filter(is_whole).cloned() else {
            return Vec::new();
        };
        let before = self.listed.replace(status);
        let lists = before.as_ref().zip(self.listed.as_ref());
        let changes = lists.and_then(|(before, latest)| latest.players_changed_since(before));
        let Some(changes) = changes else {
            return Vec::new();
        };
        let name = |player: &&Player| player.name.plain().into_owned();
        let joined = changes.joined.iter().map(name).map(Event::Joined);
        let left = changes.left.iter().map(name).map(Event::Left);
        joined.chain(left).collect()
    }

    /// The state after the latest result. A lost datagram is not an outage: a server that answered is
    /// down after [`FAILURES`] failures in a row.
    fn latest_state(&self) -> State {
        let is_in_doubt = self.state.is_online() && self.doubts.len() + 1 < FAILURES;
        match &self.failure {
            None if self.other_game.is_some() => State::OtherGame,
            None => State::Up,
            Some(_) if is_in_doubt => self.state,
            Some(failure) if failure.is_asked => State::Down,
            Some(_) => State::NotAsked,
        }
    }

    /// Whether the latest query reached the network. Otherwise nothing is known of the server.
    pub(crate) fn is_asked(&self) -> bool {
        match &self.failure {
            Some(failure) => failure.is_asked,
            None => self.answer.is_some(),
        }
    }

    /// The answer to the latest query.
    pub(crate) fn outcome(&self) -> Option<&Outcome<ServerStatus>> {
        self.answer.as_ref().filter(|_| self.failure.is_none())
    }

    /// The words about the game in the latest answer, if it is not the named one.
    pub(crate) fn other_game(&self) -> Option<&str> {
        let is_other = self.state == State::OtherGame;
        self.other_game.as_deref().filter(|_| is_other)
    }

    /// Whether the watched game answered the latest query.
    pub(crate) fn is_up_now(&self) -> bool {
        self.failure.is_none() && self.state == State::Up
    }

    /// The status in the answer of the watched game to the latest query.
    fn status(&self) -> Option<&ServerStatus> {
        let outcome = self.outcome().filter(|_| self.is_up_now())?;
        Some(&outcome.answer)
    }
}

fn words_of_other_game(what: What, status: &ServerStatus) -> Option<String> {
    let named = what.game()?;
    let found = named.other_game(status, named.protocol)?;
    Some(format!(
        "says that it runs {}, not {}",
        found.name, named.name
    ))
}

/// Why each list server gave no list the last time; `None` if it gave one.
type Lists = BTreeMap<String, Option<String>>;

/// A game and the sums over its servers; none before the end of the first scan.
#[derive(Debug)]
pub(crate) struct WatchedGame {
    pub(crate) game: &'static Game,
    pub(crate) sums: Option<Sums>,
    pub(crate) lists: Lists,
}

impl WatchedGame {
    /// Why nothing is known of its servers, if their lists were requested.
    pub(crate) fn failure(&self) -> Option<String> {
        let failures: Vec<String> = self.lists.values().flatten().cloned().collect();
        let has_list = failures.len() < self.lists.len();
        (!has_list && !failures.is_empty()).then(|| masters::no_list(&failures))
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Sums {
    pub(crate) listed: u64,
    pub(crate) up: u64,
    pub(crate) players: u64,
    pub(crate) bots: u64,
}

impl Sums {
    /// Counts a server of the game that answered.
    pub(crate) fn add(&mut self, status: &ServerStatus) {
        self.up += 1;
        self.players += u64::from(status.player_count.unwrap_or_default());
        self.bots += u64::from(status.bot_count.unwrap_or_default());
    }
}

/// Everything that is watched.
#[derive(Debug, Default)]
pub(crate) struct Watched {
    pub(crate) servers: Vec<Server>,
    pub(crate) games: Vec<WatchedGame>,
    /// Whether the file of servers is as it is watched, or why it could not be read; `None` without
    /// a file.
    pub(crate) list: Option<Result<(), String>>,
}

impl Watched {
    /// The server of this identity.
    pub(crate) fn server(&mut self, identity: &Identity) -> Option<&mut Server> {
        let mut servers = self.servers.iter_mut();
        servers.find(|server| server.identity == *identity)
    }
}

pub(crate) type Shared = Rc<RefCell<Watched>>;

/// How everything is queried: a client, and the port that its queries share.
#[derive(Debug, Clone)]
pub(crate) struct Sender {
    pub(crate) client: Client,
    pub(crate) port: Port,
}

/// Queries a server once. With a fixed port, it waits for its turn.
pub(crate) async fn query(
    sender: &Sender,
    what: What,
    address: &str,
) -> Result<Outcome<ServerStatus>, Error> {
    let client = sender.port.fixed(sender.client.clone());
    let _turn = sender.port.turn().await;
    match what {
        What::Protocol(protocol) => client.query(protocol, address).await,
        What::Game(game) => {
            let server = at_a_port(game, address);
            Ok(client.query_game(game, server).await?.outcome)
        }
    }
}

/// The server at its port, or else at the usual one. Without a port, a query of a game can be
/// answered by another server of the same host.
pub(crate) fn at_a_port(game: &Game, server: &str) -> String {
    match (command_line::split(server), game.game_port) {
        ((host, None), Some(port)) => command_line::join(host, port),
        _ => server.to_owned(),
    }
}

/// Queries one server again and again, for the first time after `delay`.
pub(crate) async fn watch_server(
    sender: Sender,
    watched: Shared,
    identity: Identity,
    (delay, interval): (Duration, Duration),
    events: Option<Form>,
) {
    let address = watched
        .borrow_mut()
        .server(&identity)
        .map(|server| server.address.clone());
    let Some(address) = address else { return };
    tokio::time::sleep(delay).await;
    let mut turns = tokio::time::interval(interval);
    turns.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        turns.tick().await;
        let result = query(&sender, identity.what, &address).await;
        if let Some(server) = watched.borrow_mut().server(&identity) {
            let state = server.add(result, now());
            if let Some(form) = events {
                let mut seen: Vec<Event> = state.map(Event::State).into_iter().collect();
                seen.extend(server.changes_of_players());
                events::print(form, server, &seen);
            }
        }
    }
}

#[allow(clippy::disallowed_methods, reason = "a program has a clock")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// Queries all servers of a game again and again.
pub(crate) async fn watch_game(sender: Sender, watched: Shared, number: usize, interval: Duration) {
    let Some(game) = watched.borrow().games.get(number).map(|game| game.game) else {
        return;
    };
    loop {
        let scanned = scan(&sender, game).await;
        if let Some(entry) = watched.borrow_mut().games.get_mut(number) {
            match scanned {
                Ok((sums, lists)) => {
                    let failed_before = entry.failure().is_some();
                    entry.lists = lists;
                    let failure = entry.failure();
                    // Without a list, nothing is known: zero players would be an invention.
                    entry.sums = failure.is_none().then_some(sums);
                    if let Some(failure) = failure.filter(|_| !failed_before) {
                        command_line::complain(&format!("{}: {failure}", entry.game.name));
                    }
                }
                Err(error) => command_line::complain(&command_line::message(&error)),
            }
        }
        tokio::time::sleep(interval).await;
    }
}

async fn scan(sender: &Sender, game: &Game) -> Result<(Sums, Lists), Error> {
    let options = queryport::QueryOptions::default().with_dialect(game.dialect);
    let client = sender.client.clone().with_options(options);
    let mut servers = sender.port.any(client.clone()).servers(game)?;
    let mut targets = Vec::new();
    while let Some(listed) = servers.next().await {
        targets.push((game.protocol, listed.server));
    }
    let lists = servers.masters().iter();
    let lists = lists.map(|report| (report.address.clone(), masters::failure(report)));
    let mut sums = Sums {
        listed: targets.len() as u64,
        ..Sums::default()
    };
    let _turn = sender.port.turn().await;
    let client = sender.port.fixed(client);
    let mut scan = client.scan(targets, ScanOptions::default())?;
    while let Some(scanned) = scan.next().await {
        let Ok(outcome) = scanned.result else {
            continue;
        };
        if game.other_game(&outcome.answer, game.protocol).is_none() {
            sums.add(&outcome.answer);
        }
    }
    Ok((sums, lists.collect()))
}
