//! Which servers the table shows, and in which order.

use std::cmp::Ordering;

use super::server::Server;

/// A column to sort by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Column {
    Favourite,
    Name,
    Game,
    Map,
    Players,
    Bots,
    Ping,
    Address,
}

impl Column {
    /// In the order of the screen; the key of a column is its number, from 1.
    pub(crate) const ALL: [Self; 8] = [
        Self::Favourite,
        Self::Name,
        Self::Game,
        Self::Map,
        Self::Players,
        Self::Bots,
        Self::Ping,
        Self::Address,
    ];

    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::Favourite => "★",
            Self::Name => "Name",
            Self::Game => "Game",
            Self::Map => "Map",
            Self::Players => "Players",
            Self::Bots => "Bots",
            Self::Ping => "Ping",
            Self::Address => "Address",
        }
    }

    /// Whether the largest come first when the column is chosen.
    const fn is_descending(self) -> bool {
        matches!(self, Self::Favourite | Self::Players | Self::Bots)
    }
}

/// The column to sort by, and the direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Order {
    pub(crate) column: Column,
    pub(crate) is_descending: bool,
}

impl Order {
    pub(crate) const fn by(column: Column) -> Self {
        Self {
            column,
            is_descending: column.is_descending(),
        }
    }

    /// The order after a column was chosen: the same one again turns the direction.
    pub(crate) fn chosen(self, column: Column) -> Self {
        if self.column == column {
            self.reversed()
        } else {
            Self::by(column)
        }
    }

    pub(crate) const fn reversed(self) -> Self {
        Self {
            is_descending: !self.is_descending,
            ..self
        }
    }

    /// The order by the column this many places to the right.
    pub(crate) fn moved(self, places: usize) -> Self {
        let here = Column::ALL
            .iter()
            .position(|column| *column == self.column)
            .unwrap_or_default();
        Self::by(
            Column::ALL
                .into_iter()
                .cycle()
                .nth(here + places)
                .unwrap_or(self.column),
        )
    }

    /// Compares two servers. In either direction, servers without the value come last.
    pub(crate) fn compare(self, a: &Server, b: &Server) -> Ordering {
        let by_name = || a.keys[0].cmp(&b.keys[0]);
        let first = match self.column {
            Column::Favourite => self.present(Some(a.is_favourite), Some(b.is_favourite)),
            Column::Name => self.text(a, b, |server| &server.keys[0]),
            Column::Game => self.text(a, b, |server| &server.game),
            Column::Map => self.text(a, b, |server| &server.keys[1]),
            Column::Players => self.present(a.players(), b.players()),
            Column::Bots => self.present(a.bots(), b.bots()),
            Column::Ping => {
                let micros = |server: &Server| server.answer.as_ref().and_then(|answer| answer.rtt);
                self.present(micros(a), micros(b))
            }
            Column::Address => self.present(Some(&a.target.1), Some(&b.target.1)),
        };
        let has_answer = b.answer.is_some().cmp(&a.answer.is_some());
        has_answer
            .then(first)
            .then_with(by_name)
            .then_with(|| a.target.cmp(&b.target))
    }

    fn text<'s>(
        self,
        a: &'s Server,
        b: &'s Server,
        key: impl Fn(&'s Server) -> &'s str,
    ) -> Ordering {
        let present = |server| Some(key(server)).filter(|text| !text.is_empty());
        self.present(present(a), present(b))
    }

    fn present<T: Ord>(self, a: Option<T>, b: Option<T>) -> Ordering {
        match (a, b) {
            (Some(a), Some(b)) if self.is_descending => b.cmp(&a),
            (Some(a), Some(b)) => a.cmp(&b),
            (a, b) => b.is_some().cmp(&a.is_some()),
        }
    }
}

/// A condition on the servers of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Condition {
    Favourite,
    /// Of people: bots do not count.
    NotEmpty,
    NotFull,
    NoPassword,
    Answered,
}

impl Condition {
    /// In the order of their keys on the help page.
    pub(crate) const ALL: [(char, Self, &'static str); 5] = [
        ('v', Self::Favourite, "favourites"),
        ('e', Self::NotEmpty, "not empty"),
        ('u', Self::NotFull, "not full"),
        ('p', Self::NoPassword, "no password"),
        ('o', Self::Answered, "answered"),
    ];

    pub(crate) fn admits(self, server: &Server) -> bool {
        match self {
            Self::Favourite => server.is_favourite,
            Self::NotEmpty => server.people().is_some_and(|people| people > 0),
            Self::NotFull => server
                .players()
                .zip(server.slots())
                .is_none_or(|(players, slots)| players < slots),
            Self::NoPassword => server.status().and_then(|status| status.password) != Some(true),
            Self::Answered => server.answer.is_some(),
        }
    }
}

/// The conditions that are on, and the words of the search.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Filter {
    pub(crate) conditions: Vec<Condition>,
    pub(crate) search: String,
}

impl Filter {
    pub(crate) fn toggle(&mut self, condition: Condition) {
        if let Some(at) = self.conditions.iter().position(|on| *on == condition) {
            self.conditions.remove(at);
        } else {
            self.conditions.push(condition);
        }
    }

    /// The servers that are shown, in order: those that match, and the one of this number.
    pub(crate) fn apply(
        &self,
        servers: &[Server],
        order: Order,
        always: Option<usize>,
    ) -> Vec<usize> {
        let search = self.search.to_lowercase();
        let admits = |server: &Server| {
            self.conditions
                .iter()
                .all(|condition| condition.admits(server))
                && server.has(&search)
        };
        let mut shown: Vec<(usize, &Server)> = servers
            .iter()
            .enumerate()
            .filter(|(number, server)| always == Some(*number) || admits(server))
            .collect();
        shown.sort_by(|(_, a), (_, b)| order.compare(a, b));
        shown.into_iter().map(|(number, _)| number).collect()
    }
}
