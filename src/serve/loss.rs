//! Reports which status fields a protocol cannot encode.

use std::cell::LazyCell;
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use super::responder::Responder;
use crate::model::{Rules, ServerStatus, Text, TextRef, ToStatus};
use crate::options::Engine;
use crate::options::{Dialect, QueryOptions};
use crate::protocol::Protocol;
use crate::service::Service;
use crate::session::{Machine, Session, Timing};
use crate::status_query::StatusQuery;

/// A value of a status that clients do not get as it is, see [`Responder::losses`](super::Responder::losses).
///
/// ```
/// use std::time::Instant;
/// use queryport::serve::{LossReason, Responder};
/// use queryport::{Protocol, Secret, ServerStatus};
///
/// let mut status = ServerStatus::default();
/// status.name = Some("a \"quoted\" name".into());
/// # #[allow(clippy::disallowed_methods)]
/// let now = Instant::now();
/// let responder = Responder::new(Protocol::Quake3, status, Secret::new([7; 16]), now);
/// let losses = responder.losses();
/// assert_eq!(
///     (losses[0].field.as_str(), losses[0].reason),
///     ("name", LossReason::Changed)
/// );
/// assert_eq!(
///     losses[0].to_string(),
///     "quake3: name: sent as \"a 'quoted' name\" instead of \"a \\\"quoted\\\" name\""
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Loss {
    /// The protocol in question.
    pub protocol: Protocol,
    /// The field: `name`, `rules["sv_gravity"]`, `players[3].score`.
    pub field: String,
    /// The reason.
    pub reason: LossReason,
    /// The value in the status.
    pub value: String,
    /// The value that clients get instead; `None` if they get nothing.
    pub sent: Option<String>,
}

/// The reason that a value is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case")
)]
#[non_exhaustive]
pub enum LossReason {
    /// The protocol, in this dialect, cannot carry this field or this value.
    Unsupported,
    /// The protocol carries it, but not beside everything else in one reply.
    NoSpace,
    /// The value holds something that the protocol cannot carry, or carries in fewer bytes.
    Changed,
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            protocol,
            field,
            reason,
            value,
            sent,
        } = self;
        match (reason, sent) {
            (_, Some(sent)) => write!(
                f,
                "{protocol}: {field}: sent as {sent:?} instead of {value:?}"
            ),
            (LossReason::NoSpace, None) => write!(f, "{protocol}: {field}: no space for {value:?}"),
            (_, None) => write!(
                f,
                "{protocol}: {field}: the protocol cannot carry {value:?}"
            ),
        }
    }
}

impl Responder {
    /// Replaces the status being served if clients get all of it.
    ///
    /// # Errors
    /// The [losses](Self::losses) of the new status; the old one stays.
    pub fn try_set_status(
        &mut self,
        status: impl Into<Arc<ServerStatus>>,
    ) -> Result<(), Vec<Loss>> {
        let status = status.into();
        let losses = self.losses_of(&status);
        if losses.is_empty() {
            self.set_status(status);
            return Ok(());
        }
        Err(losses)
    }

    /// The values of the status that clients do not get, in every protocol of this responder; empty if they get everything.
    ///
    /// Encodes the whole status and reads it back: call it when the kind of status changes, not for every reply.
    pub fn losses(&self) -> Vec<Loss> {
        self.losses_of(self.status())
    }

    fn losses_of(&self, status: &ServerStatus) -> Vec<Loss> {
        let mut losses = Vec::new();
        for service in &self.services {
            let mut received = values_of(&self.exchange(service, status, self.max_reply));
            let unbounded = service
                .clone()
                .with_max_reply(usize::MAX)
                .with_max_datagrams(usize::MAX);
            let with_space =
                LazyCell::new(|| values_of(&self.exchange(&unbounded, status, usize::MAX)));
            for value in values_of(status) {
                let same = received.iter().position(|sent| *sent == value);
                let index =
                    same.or_else(|| received.iter().position(|(field, _)| *field == value.0));
                let sent = index.map(|index| received.swap_remove(index).1);
                // Clients get a number, for which this crate's has the game's own words.
                let is_number = value.0 == "game_type" && value.1.parse::<u32>().is_ok();
                if same.is_some() || (is_number && sent.is_some()) {
                    continue;
                }
                let reason = match &sent {
                    Some(_) => LossReason::Changed,
                    None if with_space.contains(&value) => LossReason::NoSpace,
                    None => LossReason::Unsupported,
                };
                let (field, value) = value;
                losses.push(Loss {
                    protocol: service.engine.protocol(),
                    field,
                    reason,
                    value,
                    sent,
                });
            }
        }
        losses
    }

    /// The status that a client receives.
    fn exchange(&self, service: &Service, status: &ServerStatus, max_reply: usize) -> ServerStatus {
        let dialect = match service.engine {
            Engine::Minecraft => Dialect::Minecraft,
            Engine::MedalOfHonor => Dialect::MedalOfHonor,
            _ => Dialect::Standard,
        };
        let options = QueryOptions::default().with_dialect(dialect);
        let (server, client) = (
            SocketAddr::from(([192, 0, 2, 1], 1)),
            SocketAddr::from(([192, 0, 2, 2], 1)),
        );
        let (mut now, mut out) = (self.started, Vec::new());
        let mut responder =
            Self::new(service.clone(), status.clone(), self.secret, now).with_guard(None);
        responder.max_reply = max_reply;
        let query = StatusQuery::new(service.engine.protocol(), 1, &options);
        let mut session = Session::new(query, server, Timing::default(), now);
        loop {
            while session.poll_transmit(now, &mut out).is_some() {
                responder.handle_datagram(now, client, &std::mem::take(&mut out));
                while responder.poll_transmit(now, &mut out).is_some() {
                    session.handle_datagram(now, server, &std::mem::take(&mut out));
                }
            }
            if let Some(result) = session.poll_answer() {
                return result
                    .map(|outcome| outcome.answer.to_status())
                    .unwrap_or_default();
            }
            let Some(timeout) = session.poll_timeout() else {
                return ServerStatus::default();
            };
            now = now.max(timeout);
            session.handle_timeout(now);
        }
    }
}

/// These fields of a part of the model, each with its value as the function before it writes it.
macro_rules! fields {
    ($part:ident: $($write:ident($($field:ident)*))*) => {
        [$($((stringify!($field), $write(&$part.$field)),)*)*]
    };
}

/// Every value of a status with its field.
fn values_of(status: &ServerStatus) -> Vec<(String, String)> {
    let text = |text: &Option<Text>| text.as_ref().map(|text| shown(text.as_ref()));
    let texts = |texts: &Option<Vec<Text>>| {
        let texts = texts.as_ref()?.iter().map(|text| shown(text.as_ref()));
        Some(texts.collect::<Vec<_>>().join(", "))
    };
    let name = |name: &Text| Some(shown(name.as_ref()));
    let seconds = |time: &Option<Duration>| number(&time.as_ref().map(Duration::as_secs_f64));
    let mut values = Vec::new();
    let mut add = |row: &str, fields: &[(&str, Option<String>)], list: &str, rules: &Rules| {
        for (field, value) in fields {
            values.extend(value.clone().map(|value| (format!("{row}{field}"), value)));
        }
        let rule = |(key, value)| (format!("{row}{list}[{:?}]", shown(key)), shown(value));
        values.extend(rules.iter().map(rule));
    };
    let fields = fields! { status:
        text(name map game mod_name game_type) texts(mutators) text(version)
        number(protocol_version game_port password dedicated anti_cheat)
        number(player_count bot_count max_players private_slots)
        seconds(time_limit time_left) number(score_limit)
    };
    add("", &fields, "rules", &status.rules);
    for (index, player) in status.listed_players().iter().enumerate() {
        let fields = fields! { player: name(name) number(score ping team bot) };
        add(
            &format!("players[{index}]."),
            &fields,
            "extra",
            &player.extra,
        );
    }
    for (index, team) in status.teams.iter().enumerate() {
        let fields = fields! { team: number(id) text(name) number(score) };
        add(&format!("teams[{index}]."), &fields, "extra", &team.extra);
    }
    values
}

/// A number or a flag in words.
fn number<T: ToString>(value: &Option<T>) -> Option<String> {
    value.as_ref().map(T::to_string)
}

/// A text as people read it. Control characters, which they do not see, are kept to compare them.
fn shown(text: TextRef<'_>) -> String {
    let decoded = text.decoded();
    let has_control = decoded
        .chars()
        .any(|character| character.is_ascii_control());
    if has_control { decoded } else { text.plain() }.into_owned()
}
