//! Parts of structured inputs: statuses, and scripts of times, senders and datagrams.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use arbitrary::{Result, Unstructured};
use queryport::session::{Conversation, Machine, QueryStats, Session};
use queryport::{Outcome, Player, QueryError, ServerStatus, Team, Timing};

/// The maximum size of a datagram over IPv4, in bytes.
const LARGEST: usize = 65_507;

/// A step of a script.
#[derive(Debug, Clone)]
pub struct Step {
    /// The time that passes first.
    pub wait: Duration,
    /// Which of several addresses is the sender.
    pub sender: u8,
    pub event: Event,
    pub damage: Damage,
}

#[derive(Debug, Clone)]
pub enum Event {
    /// Any bytes.
    Raw(Vec<u8>),
    /// A datagram of a correct reply to the last request, from one of two states of the server.
    Reply { state: bool, index: u8 },
    /// Repeats an earlier datagram.
    Again(u8),
}

#[derive(Debug, Clone, Copy)]
pub enum Damage {
    None,
    Cut(u16),
    Flip(u16, u8),
    Append(u8),
}

impl Step {
    fn new(u: &mut Unstructured<'_>) -> Result<Self> {
        let kind: u8 = u.arbitrary()?;
        let wait = Duration::from_millis(10) * u32::from(u.arbitrary::<u8>()?);
        let sender = u.arbitrary()?;
        let event = match kind & 3 {
            0 => {
                let length = usize::from(u.arbitrary::<u16>()?).min(u.len()).min(LARGEST);
                Event::Raw(u.bytes(length)?.to_vec())
            }
            1 => Event::Reply {
                state: false,
                index: u.arbitrary()?,
            },
            2 => Event::Reply {
                state: true,
                index: u.arbitrary()?,
            },
            _ => Event::Again(u.arbitrary()?),
        };
        let damage = match kind >> 2 & 7 {
            1 => Damage::Cut(u.arbitrary()?),
            2 => Damage::Flip(u.arbitrary()?, u.arbitrary()?),
            3 => Damage::Append(u.arbitrary()?),
            _ => Damage::None,
        };
        Ok(Self {
            wait,
            sender,
            event,
            damage,
        })
    }
}

impl Damage {
    pub fn apply(self, datagram: &mut Vec<u8>) {
        let length = datagram.len().max(1);
        match self {
            Self::None => {}
            Self::Cut(at) => datagram.truncate(usize::from(at) % length),
            Self::Flip(at, mask) => {
                if let Some(byte) = datagram.get_mut(usize::from(at) % length) {
                    *byte ^= mask;
                }
            }
            Self::Append(byte) => datagram.push(byte),
        }
    }
}

/// Reads the rest of an input as steps, at most 200.
pub fn steps(u: &mut Unstructured<'_>) -> Vec<Step> {
    let mut steps = Vec::new();
    while !u.is_empty() && steps.len() < 200 {
        let Ok(step) = Step::new(u) else { break };
        steps.push(step);
    }
    steps
}

fn text(u: &mut Unstructured<'_>, longest: u8) -> Result<Vec<u8>> {
    let length = usize::from(u.arbitrary::<u8>()?)
        .min(usize::from(longest))
        .min(u.len());
    Ok(u.bytes(length)?.to_vec())
}

/// A status with up to 255 players and rules, and texts of any bytes.
pub fn status(u: &mut Unstructured<'_>) -> Result<ServerStatus> {
    let mut status = ServerStatus::default();
    let lossy = |bytes: Vec<u8>| bytes.iter().copied().map(char::from).collect::<String>();
    status.name = Some(lossy(text(u, 60)?).into());
    status.map = Some(lossy(text(u, 30)?).into());
    let flags: u8 = u.arbitrary()?;
    if flags & 1 != 0 {
        status.game_type = Some(lossy(text(u, 20)?).into());
        status.max_players = Some(u32::from(u.arbitrary::<u16>()?));
        status.game_port = Some(u.arbitrary()?);
    }
    if flags & 2 != 0 {
        status.password = Some(flags & 4 != 0);
        status.score_limit = Some(i64::from(u.arbitrary::<i32>()?));
        status.version = Some(lossy(text(u, 10)?).into());
    }
    let (rules, key, value) = (
        u.arbitrary::<u8>()?,
        lossy(text(u, 20)?),
        lossy(text(u, 255)?),
    );
    for number in 0..rules {
        status.rules.push(&format!("{key}{number}"), &value);
    }
    let (players, stem) = (u.arbitrary::<u8>()?, lossy(text(u, 40)?));
    let score: i32 = u.arbitrary()?;
    let player = |number: u8| {
        let name = if number == 7 {
            String::new()
        } else {
            format!("{stem}{number}")
        };
        let mut player = Player::new(name);
        player.score = Some(i64::from(score.wrapping_mul(i32::from(number))));
        player.ping = (flags & 8 != 0).then_some(i32::from(number) * 4);
        player.team = (flags & 16 != 0).then_some(i32::from(number % 4));
        player
    };
    if flags & 32 == 0 {
        status.players = (0..players).map(player).collect();
    }
    if flags & 64 != 0 {
        let team = |name: &str| {
            let mut team = Team::default();
            team.name = Some(name.into());
            team.score = Some(i64::from(score));
            team
        };
        status.teams = vec![team("Red"), team(&stem)];
    }
    Ok(status)
}

/// The datagrams of a query.
#[derive(Default)]
pub struct Exchanged {
    /// The requests, each with the number of datagrams before it.
    pub sent: Vec<(usize, Vec<u8>)>,
    /// The datagrams from the server until the answer.
    pub received: Vec<Vec<u8>>,
}

impl Exchanged {
    /// The last request.
    pub fn request(&self) -> &[u8] {
        self.sent.last().map_or(&[], |(_, request)| request)
    }

    pub fn requests(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.sent.iter().map(|(_, request)| &request[..])
    }
}

/// A query that has ended.
pub struct Played<A> {
    pub result: std::result::Result<Outcome<A>, QueryError>,
    pub exchanged: Exchanged,
    pub stats: QueryStats,
    /// The time from its beginning to its end.
    pub elapsed: Duration,
}

/// The maximum number of timers that fire after a datagram.
const MAX_TIMERS: usize = 40;

/// Runs a conversation with a script of (time step, whether another address is the sender, step) to
/// its end, after a bounded number of timers. `datagram` returns the datagram of a step when it
/// arrives. `take` is called after each datagram and timer.
pub fn play<C: Conversation, S>(
    query: C,
    steps: impl IntoIterator<Item = (Duration, bool, S)>,
    mut datagram: impl FnMut(S, &Exchanged) -> Option<Vec<u8>>,
    mut take: impl FnMut(&mut C),
) -> Played<C::Answer> {
    let server: SocketAddr = ([192, 0, 2, 2], 27_960).into();
    let other: SocketAddr = ([192, 0, 2, 3], 27_960).into();
    let start = Instant::now();
    let mut now = start;
    let mut session = Session::new(query, server, Timing::default(), now);
    let mut exchanged = Exchanged::default();
    let mut steps = steps.into_iter();
    let (mut next, mut timers) = (None, 0);
    let result = loop {
        let mut request = Vec::new();
        while session.poll_datagram(now, &mut request).is_some() {
            let sent = (exchanged.received.len(), request.clone());
            exchanged.sent.push(sent);
        }
        take(session.conversation_mut());
        if let Some(result) = session.poll_answer() {
            break result;
        }
        if next.is_none() {
            next = steps
                .next()
                .map(|(wait, is_foreign, step)| (now + wait, is_foreign, step));
        }
        let alarm = session.poll_timeout();
        let alarm = alarm.expect("a running session has a timer").max(now);
        let Some((arrival, is_foreign, step)) = next.take_if(|(arrival, ..)| *arrival < alarm)
        else {
            timers += 1;
            assert!(timers <= MAX_TIMERS, "the query does not end");
            now = alarm;
            session.handle_timeout(now);
            continue;
        };
        (now, timers) = (arrival, 0);
        let Some(datagram) = datagram(step, &exchanged) else {
            continue;
        };
        if is_foreign {
            session.handle_datagram(now, other, &datagram);
        } else {
            session.handle_datagram(now, server, &datagram);
            exchanged.received.push(datagram);
        }
    };
    Played {
        result,
        exchanged,
        stats: session.stats(),
        elapsed: now - start,
    }
}
