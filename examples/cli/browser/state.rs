//! The state of the browser: servers, selection, order, filter. It knows no terminal, socket or
//! file.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use queryport::{Error, Outcome, ServerStatus};

use super::input::Action;
use super::order::{Column, Condition, Filter, Order};
use super::progress::Progress;
use super::server::{Query, Server};
use super::target::Target;

/// The maximum number of characters of a search.
const LONGEST_SEARCH: usize = 100;
/// The maximum number of messages about a list that are kept.
const MAX_PROBLEMS: usize = 100;

/// An answer, or why there is none.
pub(crate) type QueryResult = Result<Outcome<ServerStatus>, Error>;

/// A report of the source of data.
#[derive(Debug)]
pub(crate) enum Event {
    /// A scan of the whole list begins. An earlier scan has ended.
    ScanStarted,
    /// A server of the list.
    Listed(Target),
    /// The list has ended.
    ListEnded,
    /// A result of the scan.
    Scanned(Target, Box<QueryResult>),
    /// The end of a scan of the whole list.
    ScanEnded,
    /// A result of a refresh.
    Refreshed(Target, Box<QueryResult>),
    /// The end of a refresh.
    RefreshEnded,
    /// A line for the user.
    Note(String),
    /// A line of a file that is not a server, for the user.
    Rejected(String),
}

/// Work that the state hands to the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Command {
    /// Query these again.
    Refresh(Vec<Target>),
    /// Read the list again, and query all.
    Rescan,
    /// Write or remove a favourite.
    Favourite(Target, bool),
    /// Put a text into the clipboard.
    Copy(String),
    Quit,
}

/// The part of the screen that keys act on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Table,
    Details,
    Search,
    Help,
}

/// The sizes of the parts of the screen, as last drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Screen {
    /// The width of the table; 0 while the details fill the screen.
    pub(crate) columns: u16,
    /// Rows of the table.
    pub(crate) rows: usize,
    /// Whether table and details are side by side.
    pub(crate) is_wide: bool,
    /// Lines of the details that do not fit.
    pub(crate) hidden_lines: usize,
    /// Lines of the details on the screen.
    pub(crate) detail_lines: usize,
    /// Lines of the page of keys that do not fit, and lines of it on the screen.
    pub(crate) help_lines: (usize, usize),
}

#[derive(Debug)]
pub(crate) struct Browser {
    pub(crate) title: String,
    pub(crate) servers: Vec<Server>,
    numbers: BTreeMap<Target, usize>,
    favourites: BTreeSet<Target>,
    /// The numbers of the servers that the table shows, in order.
    pub(crate) shown: Vec<usize>,
    is_stale: bool,
    /// The row of the selection among those shown, and the first row on the screen.
    pub(crate) cursor: usize,
    pub(crate) top: usize,
    /// The server that the selection follows. `None` while the first row is selected, whatever
    /// server it shows.
    followed: Option<usize>,
    pub(crate) order: Order,
    pub(crate) filter: Filter,
    pub(crate) mode: Mode,
    /// Whether the details are shown, and the first of their lines on the screen.
    pub(crate) has_details: bool,
    pub(crate) scroll: usize,
    pub(crate) is_automatic: bool,
    pub(crate) is_refreshing: bool,
    pub(crate) progress: Progress,
    pub(crate) note: Option<String>,
    /// Messages about the list, in the scan that runs or ran last.
    pub(crate) problems: Vec<String>,
    /// Advice for an empty list.
    pub(crate) advice: String,
    /// Lines of the list that name no server, in the scan that runs or ran last.
    pub(crate) rejected: u64,
    /// The file of favourites; `None` if they are not kept.
    pub(crate) kept_in: Option<String>,
    /// The first line of the page of keys on the screen.
    pub(crate) help_scroll: usize,
    pub(crate) screen: Screen,
}

impl Browser {
    pub(crate) fn new(title: String, favourites: BTreeSet<Target>, now: Instant) -> Self {
        Self {
            title,
            servers: Vec::new(),
            numbers: BTreeMap::new(),
            favourites,
            shown: Vec::new(),
            is_stale: false,
            cursor: 0,
            top: 0,
            followed: None,
            order: Order::by(Column::Players),
            filter: Filter::default(),
            mode: Mode::Table,
            has_details: false,
            scroll: 0,
            is_automatic: false,
            is_refreshing: false,
            progress: Progress::new(now),
            note: None,
            problems: Vec::new(),
            advice: "the list has no servers".to_owned(),
            rejected: 0,
            kept_in: None,
            help_scroll: 0,
            screen: Screen::default(),
        }
    }

    pub(crate) fn handle(&mut self, event: Event, now: Instant) {
        match event {
            Event::ScanStarted => {
                self.progress = Progress::new(now);
                self.rejected = 0;
                self.problems.clear();
                self.end(Query::Scan);
            }
            Event::Listed(target) => {
                self.progress.listed += 1;
                if let Some(server) = self.server(target) {
                    server.query = Query::Scan;
                }
            }
            Event::ListEnded => self.progress.end_list(),
            Event::Scanned(target, result) => {
                self.progress.add(result.is_ok(), now);
                self.update(target, *result, Query::Scan);
            }
            Event::ScanEnded => {
                self.progress.finish(now);
                self.end(Query::Scan);
            }
            Event::Refreshed(target, result) => self.update(target, *result, Query::Refresh),
            Event::RefreshEnded => {
                self.is_refreshing = false;
                self.end(Query::Refresh);
            }
            Event::Note(note) => self.report(note),
            Event::Rejected(note) => {
                self.rejected += 1;
                self.report(note);
            }
        }
        self.is_stale = true;
    }

    /// Keeps a message for the page of keys. The line of keys shows the first one: the user starts
    /// with that.
    fn report(&mut self, problem: String) {
        if self.problems.is_empty() {
            self.note = Some(problem.clone());
        }
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(problem);
        }
    }

    /// Takes the result of a scan or a refresh. The scan may still query a server whose refresh has
    /// ended.
    fn update(&mut self, target: Target, result: QueryResult, query: Query) {
        let Some(server) = self.server(target) else {
            return;
        };
        server.update(result);
        if server.query == query {
            server.query = Query::Idle;
        }
    }

    /// Nothing is awaited of a scan or a refresh that has ended, whether or not each of its servers
    /// has a result.
    fn end(&mut self, query: Query) {
        let awaited = self
            .servers
            .iter_mut()
            .filter(|server| server.query == query);
        for server in awaited {
            server.query = Query::Idle;
        }
    }

    /// The server of this target, added if it is new.
    fn server(&mut self, target: Target) -> Option<&mut Server> {
        let is_favourite = self.favourites.contains(&target);
        let next = self.servers.len();
        let number = *self.numbers.entry(target.clone()).or_insert(next);
        if number == next {
            let mut server = Server::new(target);
            server.is_favourite = is_favourite;
            self.servers.push(server);
        }
        self.servers.get_mut(number)
    }

    /// Carries out the action of a key.
    pub(crate) fn act(&mut self, action: Action) -> Option<Command> {
        self.note = None;
        if action.is_of_table() && self.has_full_details() {
            return None;
        }
        match action {
            Action::Move(_) | Action::Page(_) | Action::First | Action::Last => {
                self.navigate(action);
            }
            Action::Details => self.toggle_details(),
            Action::Switch => self.switch(),
            Action::Close => self.close(),
            Action::Search => self.mode = Mode::Search,
            Action::Character(c) => {
                if self.filter.search.chars().count() < LONGEST_SEARCH {
                    self.search(format!("{}{c}", self.filter.search));
                }
            }
            Action::Erase => {
                let mut text = self.filter.search.clone();
                text.pop();
                self.search(text);
            }
            Action::EraseAll => self.search(String::new()),
            Action::Accept => self.mode = self.base_mode(),
            Action::SortBy(column) => self.sort(self.order.chosen(column)),
            Action::NextColumn => self.sort(self.order.moved(1)),
            Action::PreviousColumn => self.sort(self.order.moved(Column::ALL.len() - 1)),
            Action::Reverse => self.sort(self.order.reversed()),
            Action::Toggle(condition) => self.toggle(condition),
            Action::Automatic => {
                self.is_automatic = !self.is_automatic;
                let state = if self.is_automatic { "on" } else { "off" };
                self.note = Some(format!(
                    "automatic refresh of what is on the screen: {state}"
                ));
            }
            Action::Help => self.toggle_help(),
            Action::Favourite => return self.favour(),
            Action::Copy => return self.copy(),
            Action::Refresh => return self.refresh(),
            Action::Rescan => return Some(Command::Rescan),
            Action::Quit => return Some(Command::Quit),
        }
        None
    }

    /// Moves in the part that the keys control: the page of keys, the details or the table.
    fn navigate(&mut self, action: Action) {
        match self.mode {
            Mode::Help => {
                let (hidden, page) = self.screen.help_lines;
                self.help_scroll = moved(self.help_scroll, action, page, hidden);
            }
            Mode::Details => {
                let page = self.screen.detail_lines;
                self.scroll = moved(self.scroll, action, page, self.screen.hidden_lines);
            }
            Mode::Table | Mode::Search => {
                self.move_to(moved(self.cursor, action, self.screen.rows, usize::MAX));
                if action == Action::First {
                    self.followed = None;
                }
            }
        }
    }

    fn toggle_details(&mut self) {
        self.has_details = !self.has_details;
        self.mode = self.base_mode();
        self.scroll = 0;
        self.follow();
        self.is_stale = true;
    }

    /// Follows the server of the selected row.
    fn follow(&mut self) {
        self.followed = self.shown.get(self.cursor).copied();
    }

    /// Whether the details fill the screen, without the table.
    fn has_full_details(&self) -> bool {
        self.has_details && !self.screen.is_wide
    }

    /// Gives the keys to the details next to the table, or back to the table.
    fn switch(&mut self) {
        if !(self.has_details && self.screen.is_wide) {
            return;
        }
        self.mode = if self.mode == Mode::Details {
            Mode::Table
        } else {
            Mode::Details
        };
    }

    /// Closes what was opened last: the search, the page of keys, the details; then ends a search.
    fn close(&mut self) {
        match self.mode {
            Mode::Search => {
                self.search(String::new());
                self.mode = self.base_mode();
            }
            Mode::Help => self.mode = self.base_mode(),
            Mode::Details | Mode::Table if self.has_details => {
                self.has_details = false;
                self.mode = Mode::Table;
                self.is_stale = true;
            }
            Mode::Details | Mode::Table => self.search(String::new()),
        }
    }

    fn toggle_help(&mut self) {
        self.mode = if self.mode == Mode::Help {
            self.base_mode()
        } else {
            Mode::Help
        };
        self.help_scroll = 0;
    }

    /// The mode without a search or the page of keys: details that fill the screen have the keys.
    fn base_mode(&self) -> Mode {
        match self.has_full_details() {
            true => Mode::Details,
            false => Mode::Table,
        }
    }

    /// Queries what is on the screen again, unless such queries are under way.
    pub(crate) fn refresh(&mut self) -> Option<Command> {
        let rows = self.screen.rows.max(1);
        let mut on_screen: Vec<usize> = self
            .shown
            .iter()
            .skip(self.top)
            .take(rows)
            .copied()
            .collect();
        if self.has_full_details() {
            on_screen = self.shown.get(self.cursor).copied().into_iter().collect();
        }
        let is_free = |number: &usize| {
            self.servers
                .get(*number)
                .is_some_and(|server| server.query == Query::Idle)
        };
        let numbers: Vec<usize> = on_screen.into_iter().filter(is_free).collect();
        if numbers.is_empty() || self.is_refreshing {
            return None;
        }
        self.is_refreshing = true;
        let mut targets = Vec::new();
        for number in numbers {
            if let Some(server) = self.servers.get_mut(number) {
                server.query = Query::Refresh;
                targets.push(server.target.clone());
            }
        }
        Some(Command::Refresh(targets))
    }

    /// The selected server.
    pub(crate) fn selected(&self) -> Option<&Server> {
        self.shown
            .get(self.cursor)
            .and_then(|number| self.servers.get(*number))
    }

    /// Gives the keys to the details when they fill the screen, also after it became narrow.
    pub(crate) fn settle_mode(&mut self) {
        if self.mode == Mode::Table {
            self.mode = self.base_mode();
        }
    }

    /// Sorts and filters where something changed, and scrolls so that the selection is among these
    /// rows.
    pub(crate) fn settle(&mut self, rows: usize) {
        if self.is_stale {
            // A server whose details are open stays, even if it does not match any more.
            let open = self.followed.filter(|_| self.has_details);
            self.shown = self.filter.apply(&self.servers, self.order, open);
            self.is_stale = false;
            self.cursor = match self.followed {
                None => 0,
                Some(server) => {
                    let place = self.shown.iter().position(|number| *number == server);
                    place.unwrap_or_else(|| self.cursor.min(self.shown.len().saturating_sub(1)))
                }
            };
            if self.has_details {
                self.follow();
            }
        }
        let rows = rows.max(1);
        let last_top = self.shown.len().saturating_sub(rows);
        self.top = self
            .top
            .clamp((self.cursor + 1).saturating_sub(rows), self.cursor)
            .min(last_top);
    }

    fn move_to(&mut self, row: usize) {
        self.settle(self.screen.rows);
        self.cursor = row.min(self.shown.len().saturating_sub(1));
        self.follow();
        self.scroll = 0;
    }

    fn search(&mut self, text: String) {
        if text != self.filter.search {
            self.filter.search = text;
            (self.is_stale, self.followed) = (true, None);
        }
    }

    /// Switches a condition. Open details stay with their server only if it matches.
    fn toggle(&mut self, condition: Condition) {
        self.filter.toggle(condition);
        let conditions = &self.filter.conditions;
        let matches = |server: &Server| conditions.iter().all(|on| on.admits(server));
        if self.has_details && !self.selected().is_some_and(matches) {
            self.followed = None;
        }
        self.is_stale = true;
    }

    fn sort(&mut self, order: Order) {
        self.order = order;
        self.is_stale = true;
    }

    fn copy(&mut self) -> Option<Command> {
        let address = self.selected()?.game_address();
        self.note = Some(format!("copied {address}"));
        Some(Command::Copy(address))
    }

    fn favour(&mut self) -> Option<Command> {
        let number = *self.shown.get(self.cursor)?;
        let server = self.servers.get_mut(number)?;
        server.is_favourite = !server.is_favourite;
        let (target, is_favourite) = (server.target.clone(), server.is_favourite);
        if is_favourite {
            self.favourites.insert(target.clone());
        } else {
            self.favourites.remove(&target);
        }
        self.is_stale = true;
        Some(Command::Favourite(target, is_favourite))
    }
}

/// A line after a movement by lines or pages; at most the last one.
fn moved(line: usize, action: Action, page: usize, last: usize) -> usize {
    let page = isize::try_from(page.max(1)).unwrap_or(isize::MAX);
    let line = match action {
        Action::Move(lines) => line.saturating_add_signed(lines),
        Action::Page(pages) => line.saturating_add_signed(pages.saturating_mul(page)),
        Action::First => 0,
        Action::Last => last,
        _ => line,
    };
    line.min(last)
}
