//! The meanings of keys.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::order::{Column, Condition};
use super::state::Mode;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    /// Moves the selection or the details by this many rows, negative ones up.
    Move(isize),
    Page(isize),
    First,
    Last,
    /// Shows or hides the details.
    Details,
    /// Moves between table and details.
    Switch,
    Close,
    Search,
    Character(char),
    Erase,
    EraseAll,
    /// Ends typing and keeps the search.
    Accept,
    SortBy(Column),
    NextColumn,
    PreviousColumn,
    Reverse,
    Toggle(Condition),
    Favourite,
    /// Copies the address of the selected server.
    Copy,
    Refresh,
    Automatic,
    Rescan,
    Help,
    Quit,
}

impl Action {
    /// Whether it sorts or filters the table.
    pub(crate) const fn is_of_table(self) -> bool {
        matches!(
            self,
            Self::Search
                | Self::SortBy(_)
                | Self::NextColumn
                | Self::PreviousColumn
                | Self::Reverse
                | Self::Toggle(_)
        )
    }
}

/// The keys, as the help page shows them.
pub(crate) const HELP: [(&str, &str); 18] = [
    ("↑ ↓ PgUp PgDn Home End", "move; j k g G too"),
    ("Enter", "details of the server"),
    ("Tab", "move between table and details"),
    ("/", "search name, map, game, mod, type, player, address"),
    ("1 2 3 4", "sort by ★, name, game, map; again: reversed"),
    ("5 6 7 8", "sort by players, bots, ping, address"),
    ("< >", "sort by the column to the left or right"),
    ("i", "turn the order"),
    ("Space", "favourite or not"),
    ("c", "copy the address, if the terminal allows it"),
    ("v e u", "only favourites, not empty, not full"),
    ("p o", "only without a password (pw), only answered"),
    ("r", "refresh what is on the screen"),
    ("a", "refresh it every few seconds"),
    ("R", "read the list and query all again"),
    ("Esc", "close, or clear the search"),
    ("?", "this page"),
    ("q Ctrl-C", "quit"),
];

/// The action of a key; `None` for a key without one.
pub(crate) fn action(key: KeyEvent, mode: Mode) -> Option<Action> {
    if key.kind == KeyEventKind::Release {
        return None;
    }
    if key.modifiers.contains(KeyModifiers::CONTROL) {
        return match key.code {
            KeyCode::Char('c') => Some(Action::Quit),
            KeyCode::Char('u') if mode == Mode::Search => Some(Action::EraseAll),
            KeyCode::Char('h') if mode == Mode::Search => Some(Action::Erase),
            _ => None,
        };
    }
    if mode == Mode::Search {
        return match key.code {
            KeyCode::Char(c) if !c.is_control() => Some(Action::Character(c)),
            KeyCode::Backspace => Some(Action::Erase),
            KeyCode::Enter => Some(Action::Accept),
            KeyCode::Esc => Some(Action::Close),
            KeyCode::Up => Some(Action::Move(-1)),
            KeyCode::Down => Some(Action::Move(1)),
            _ => None,
        };
    }
    let action = usual(key.code);
    if mode != Mode::Help {
        return action;
    }
    // Keys that scroll; each other one closes the page.
    let stays = |action: &Action| {
        matches!(
            action,
            Action::Move(_) | Action::Page(_) | Action::First | Action::Last | Action::Quit
        )
    };
    Some(action.filter(stays).unwrap_or(Action::Close))
}

/// The action of a key where nothing is typed.
fn usual(code: KeyCode) -> Option<Action> {
    Some(match code {
        KeyCode::Up | KeyCode::Char('k') => Action::Move(-1),
        KeyCode::Down | KeyCode::Char('j') => Action::Move(1),
        KeyCode::PageUp => Action::Page(-1),
        KeyCode::PageDown => Action::Page(1),
        KeyCode::Home | KeyCode::Char('g') => Action::First,
        KeyCode::End | KeyCode::Char('G') => Action::Last,
        KeyCode::Enter => Action::Details,
        KeyCode::Tab | KeyCode::BackTab => Action::Switch,
        KeyCode::Esc => Action::Close,
        KeyCode::F(5) | KeyCode::Char('r') => Action::Refresh,
        KeyCode::F(1) | KeyCode::Char('?') => Action::Help,
        KeyCode::Char('/') => Action::Search,
        KeyCode::Char(' ' | 'f') => Action::Favourite,
        KeyCode::Char('c') => Action::Copy,
        KeyCode::Char('<') => Action::PreviousColumn,
        KeyCode::Char('>') => Action::NextColumn,
        KeyCode::Char('i') => Action::Reverse,
        KeyCode::Char('a') => Action::Automatic,
        KeyCode::Char('R') => Action::Rescan,
        KeyCode::Char('q') => Action::Quit,
        KeyCode::Char(c) => {
            let column = c
                .to_digit(10)
                .and_then(|digit| Column::ALL.get((digit as usize).checked_sub(1)?));
            let condition = || Condition::ALL.iter().find(|(key, ..)| *key == c);
            return column
                .map(|column| Action::SortBy(*column))
                .or_else(|| condition().map(|(_, condition, _)| Action::Toggle(*condition)));
        }
        _ => return None,
    })
}
