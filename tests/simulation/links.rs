//! The kinds of links.

use std::time::Duration;

use kit::link::Conditions;

/// A kind of link, and how often the server at its end changes.
pub struct Link {
    pub name: &'static str,
    pub conditions: Conditions,
    /// The share of sessions in which the server's state changes after its first, second or third
    /// request. Three in ten changes are restarts.
    pub changes: f64,
    /// The share of sessions in which somebody who does not see the requests sends another
    /// server's replies from the server's address.
    pub forged: f64,
}

/// Datagrams overtake each other, and nothing else happens.
const CALM: Conditions = Conditions {
    jitter: Duration::from_millis(20),
    ..Conditions::perfect(Duration::from_millis(30))
};

const fn link(name: &'static str, changes: f64, conditions: Conditions) -> Link {
    Link {
        name,
        conditions,
        changes,
        forged: 0.0,
    }
}

pub const LINKS: [Link; 9] = [
    link("calm", 0.0, CALM),
    link("changes", 0.5, CALM),
    link(
        "loss 1.5 %",
        0.0,
        Conditions {
            loss: 0.015,
            ..CALM
        },
    ),
    link("loss 8 %", 0.5, Conditions { loss: 0.08, ..CALM }),
    link(
        "doubles",
        0.5,
        Conditions {
            duplication: 0.05,
            ..CALM
        },
    ),
    link("late", 0.5, Conditions { late: 0.05, ..CALM }),
    link(
        "all",
        0.5,
        Conditions {
            loss: 0.05,
            duplication: 0.05,
            late: 0.05,
            ..CALM
        },
    ),
    link(
        "damage",
        0.0,
        Conditions {
            corruption: 0.05,
            truncation: 0.05,
            ..CALM
        },
    ),
    Link {
        forged: 0.5,
        ..link("forged", 0.0, CALM)
    },
];
