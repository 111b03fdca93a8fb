//! What a protocol cannot say of a status: the report for whoever sets it.

use std::collections::HashMap;
use std::fmt;
use std::net::SocketAddr;
use std::time::Instant;

use super::request::Request;
use crate::model::{Player, Rules, ServerStatus, Team, Text, TextRef, ToStatus};
use crate::options::{Dialect, QueryOptions};
use crate::protocol::Protocol;
use crate::reply::Requester;
use crate::reply::Templates;
use crate::secret::Secret;
use crate::service::{Engine, Service};
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
/// assert_eq!((losses[0].field.as_str(), losses[0].reason), ("name", LossReason::Changed));
/// assert_eq!(losses[0].to_string(), "quake3: name: sent as \"a 'quoted' name\" instead of \"a \\\"quoted\\\" name\"");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Loss {
    /// The protocol in question.
    pub protocol: Protocol,
    /// The field: `name`, `rules["sv_gravity"]`, `players[3].score`.
    pub field: String,
    /// Why it is lost.
    pub reason: LossReason,
    /// The value in the status.
    pub value: String,
    /// What clients get instead; `None` if they get nothing.
    pub sent: Option<String>,
}

/// Why a value is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
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
        let Self { protocol, field, reason, value, sent } = self;
        match (reason, sent) {
            (_, Some(sent)) => write!(f, "{protocol}: {field}: sent as {sent:?} instead of {value:?}"),
            (LossReason::NoSpace, None) => write!(f, "{protocol}: {field}: no space for {value:?}"),
            (_, None) => write!(f, "{protocol}: {field}: the protocol cannot carry {value:?}"),
        }
    }
}

/// The losses of a status in one protocol.
pub(super) fn losses(
    service: &Service,
    status: &ServerStatus,
    secret: Secret,
    now: Instant,
    max_reply: usize,
) -> Vec<Loss> {
    let received = |status: &ServerStatus| {
        let mut values: HashMap<String, Vec<String>> = HashMap::new();
        for (_, field, value) in values_of(&exchange(service, status, secret, now, max_reply)) {
            values.entry(field).or_default().push(value);
        }
        values
    };
    let mut all = received(status);
    let mut losses = Vec::new();
    let mut alone: Option<(Part, HashMap<String, Vec<String>>)> = None;
    for (part, field, value) in values_of(status) {
        let sent = all.get_mut(&field).map(|values| (values.iter().position(|sent| *sent == value), values));
        let (reason, sent) = match sent {
            Some((Some(index), values)) => {
                values.swap_remove(index);
                continue;
            }
            Some((None, values)) if !values.is_empty() => (LossReason::Changed, Some(values.swap_remove(0))),
            _ => {
                let of_part = match alone.take_if(|(known, _)| *known == part) {
                    Some((_, values)) => values,
                    None => received(&only(status, part)),
                };
                let index =
                    if matches!(part, Part::Fields) { field.clone() } else { first_of_its_kind(&field) };
                let fits = of_part.get(&index).is_some_and(|values| values.contains(&value));
                alone = Some((part, of_part));
                (if fits { LossReason::NoSpace } else { LossReason::Unsupported }, None)
            }
        };
        losses.push(Loss { protocol: service.engine.protocol(), field, reason, value, sent });
    }
    losses
}

/// A part of a status that can be sent without the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Fields,
    Rule(usize),
    Player(usize),
    Team(usize),
}

/// A status with this part alone, beside its fields.
fn only(status: &ServerStatus, part: Part) -> ServerStatus {
    let mut fields =
        ServerStatus { rules: Rules::default(), players: None, teams: Vec::new(), ..status.clone() };
    match part {
        Part::Fields => {}
        Part::Rule(index) => {
            if let Some((key, value)) = status.rules.iter().nth(index) {
                fields.rules.push_raw(key.raw(), value.raw());
            }
        }
        Part::Player(index) => {
            fields.players = status.listed_players().get(index).map(|one| vec![one.clone()]);
        }
        Part::Team(index) => fields.teams = status.teams.get(index).cloned().into_iter().collect(),
    }
    fields
}

/// The field of the first player or team instead of any other.
fn first_of_its_kind(field: &str) -> String {
    match field.split_once('[').zip(field.split_once(']')) {
        Some(((kind @ ("players" | "teams"), _), (_, rest))) => format!("{kind}[0]{rest}"),
        _ => field.to_owned(),
    }
}

/// Every value of a status with the part and the field that it is in.
fn values_of(status: &ServerStatus) -> Vec<(Part, String, String)> {
    let mut values = Vec::new();
    let text = |text: &Option<Text>| text.as_ref().map(|text| shown(text.as_ref()));
    let number = |number: Option<i64>| number.map(|number| number.to_string());
    let flag = |flag: Option<bool>| flag.map(|flag| flag.to_string());
    let seconds = |time: Option<std::time::Duration>| time.map(|time| time.as_secs_f64().to_string());
    let count = |count: Option<u32>| number(count.map(i64::from));
    let fields = [
        ("name", text(&status.name)),
        ("map", text(&status.map)),
        ("game", text(&status.game)),
        ("mod_name", text(&status.mod_name)),
        ("game_type", text(&status.game_type)),
        ("mutators", status.mutators.as_ref().map(|all| list(all))),
        ("version", text(&status.version)),
        ("protocol_version", count(status.protocol_version)),
        ("game_port", number(status.game_port.map(i64::from))),
        ("password", flag(status.password)),
        ("dedicated", flag(status.dedicated)),
        ("anti_cheat", flag(status.anti_cheat)),
        ("player_count", count(status.player_count)),
        ("bot_count", count(status.bot_count)),
        ("max_players", count(status.max_players)),
        ("private_slots", count(status.private_slots)),
        ("time_limit", seconds(status.time_limit)),
        ("time_left", seconds(status.time_left)),
        ("score_limit", number(status.score_limit)),
    ];
    values.extend(
        fields.into_iter().filter_map(|(field, value)| Some((Part::Fields, field.to_owned(), value?))),
    );
    for (index, (key, value)) in status.rules.iter().enumerate() {
        let field = format!("rules[{:?}]", shown(key));
        values.push((Part::Rule(index), field, shown(value)));
    }
    for (index, player) in status.listed_players().iter().enumerate() {
        let Player { name, score, ping, team, bot, extra, .. } = player;
        let fields = [
            ("name", Some(shown(name.as_ref()))),
            ("score", number(*score)),
            ("ping", number(ping.map(i64::from))),
            ("team", number(team.map(i64::from))),
            ("bot", flag(*bot)),
        ];
        push_row(&mut values, Part::Player(index), &format!("players[{index}]"), fields, extra);
    }
    for (index, team) in status.teams.iter().enumerate() {
        let Team { id, name, score, extra } = team;
        let fields = [("id", number(id.map(i64::from))), ("name", text(name)), ("score", number(*score))];
        push_row(&mut values, Part::Team(index), &format!("teams[{index}]"), fields, extra);
    }
    values
}

/// A text as people read it. Control characters, which they do not see, are kept to compare them.
fn shown(text: TextRef<'_>) -> String {
    let decoded = text.decoded();
    let has_control = decoded.chars().any(|character| character.is_ascii_control());
    if has_control { decoded } else { text.plain() }.into_owned()
}

fn list(texts: &[Text]) -> String {
    texts.iter().map(|text| shown(text.as_ref())).collect::<Vec<_>>().join(", ")
}

fn push_row<const N: usize>(
    values: &mut Vec<(Part, String, String)>,
    part: Part,
    row: &str,
    fields: [(&str, Option<String>); N],
    extra: &Rules,
) {
    for (field, value) in fields {
        values.extend(value.map(|value| (part, format!("{row}.{field}"), value)));
    }
    for (key, value) in extra {
        values.push((part, format!("{row}.extra[{:?}]", shown(key)), shown(value)));
    }
}

/// What a client receives of a status.
fn exchange(
    service: &Service,
    status: &ServerStatus,
    secret: Secret,
    now: Instant,
    max_reply: usize,
) -> ServerStatus {
    let dialect = match service.engine {
        Engine::Minecraft => Dialect::Minecraft,
        Engine::MedalOfHonor => Dialect::MedalOfHonor,
        _ => Dialect::Standard,
    };
    let options = QueryOptions::default().with_readings(1).with_dialect(dialect);
    let (server, client) = (SocketAddr::from(([192, 0, 2, 1], 1)), SocketAddr::from(([192, 0, 2, 2], 1)));
    let requester = Requester::new(client, now, secret);
    let query = StatusQuery::new(service.engine.protocol(), 1, &options);
    let mut session = Session::new(query, server, Timing::default(), now);
    let (mut now, mut out) = (now, Vec::new());
    loop {
        while session.poll_transmit(now, &mut out).is_some() {
            let Some(request) = Request::parse(service, &out) else { break };
            let reply = request.reply(service, status, &requester, &mut Templates::default());
            let count = reply.as_ref().map_or(0, |reply| reply.fitting(usize::MAX, max_reply).0);
            for index in 0..count {
                out.clear();
                reply.as_ref().map(|reply| reply.put(index, &mut out));
                session.handle_datagram(now, server, &out);
            }
            out.clear();
        }
        out.clear();
        if let Some(result) = session.poll_answer() {
            return result.map(|outcome| outcome.answer.to_status()).unwrap_or_default();
        }
        let Some(timeout) = session.poll_timeout() else { return ServerStatus::default() };
        now = now.max(timeout);
        session.handle_timeout(now);
    }
}
