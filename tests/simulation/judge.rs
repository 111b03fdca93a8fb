//! What an outcome is worth: right, marked incomplete, an error, or complete and wrong for a reason
//! that the wire hides.

use std::time::Duration;

use bytes::Bytes;
use queryport::{
    Answer, Completeness, ErrorKind, Outcome, Protocol, QueryError, Rules, ServerStatus, Timing,
    ToStatus, Verification,
};

use crate::client::AnyResult;
use crate::evidence::{explain, replies};
use crate::forms::Form;
use crate::network::Fault;
use crate::play::{Family, Moment, Played};
use crate::servers::Server;

/// What a session came to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Judgement {
    /// Complete, and what the server held at one moment.
    Right,
    Incomplete,
    Failed(&'static str),
    /// Complete and not what the server held: the wire does not tell.
    Excepted(Exception),
    /// What must not be.
    Wrong(String),
}

/// What the wire of a protocol cannot tell. `tests/simulation/exceptions.rs` has the bytes of each;
/// [`crate::evidence`] has the condition under which a session is counted as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exception {
    /// No protocol has a checksum of its own: what was changed on its way within a value reads as
    /// another value.
    Changed,
    /// No protocol but GameSpy v4 shows the length of its datagrams: what was cut between two
    /// values reads as whole.
    Cut,
    /// A request that was changed on its way: of two commands of GameSpy v1 one is lost, and the
    /// reply does not say what was asked; a challenge of Quake 3 that became another pair of the
    /// infostring is quoted as one.
    ChangedRequest,
    /// GameSpy v1 and UT2004 have nothing in a request that a reply quotes; a Quake 3 answer
    /// without challenge is marked unverified: a reply that was not asked for is taken.
    NotAsked(Fault),
    /// A restarted server of GameSpy v1 numbers its replies from 1 again, and servers without
    /// numbers have none to tell. Battlefield 2 answers a request without a challenge: one that
    /// arrives twice, before a restart and after it, gets parts with one id.
    Restart,
    /// GameSpy v1: the number of a reply runs from 1 to 100 over all clients: a hundred requests
    /// later another reply has it, and no fragment arrived of both.
    SameNumber,
    /// GameSpy v1: replies whose datagrams do not have the number of their reply, and none that was
    /// of both.
    NoNumber,
    /// GameSpy v4: a server that takes a challenge twice, or asks for none, answers a request that
    /// arrived twice with two replies of one id, and no fragment arrived of both.
    SameId,
    /// UT2004: a datagram was lost from two replies in a row.
    LostFromTwoReplies,
    /// UT2004: late datagrams of one reply pass for the next.
    LateReply,
    /// UT2004: a spectator was lost, or passes for a lost player: as many players are listed as the
    /// server counts.
    Spectators,
    /// UT2004: info, rules and players are requested one after the other, and each is of its own
    /// moment.
    PartsOfSeveralMoments,
    /// UT2004: a late datagram of one reply is joined with the next, after the list has changed.
    ListOfTwoMoments,
    /// Descent 3 writes an end mark into every datagram and leaves out the pair that does not fit:
    /// a last datagram that holds the rest of the last player's row is not missed.
    LostBehindEndMark,
    /// 333networks' text, cut every 512 bytes: a datagram of it was lost.
    LostInsideSection,
    /// GameSpy v1: a player's text where a datagram begins or ends is a mark or a number; where
    /// nothing is numbered, anywhere.
    TextAsEnd,
    /// Quake 3: a master's list that is settled, not complete: a datagram was lost from every pass.
    LostFromEveryPass,
    /// Quake 3: the same, where late datagrams of one pass count for the next.
    LatePass,
    /// Quake 3: pieces of an answer to rcon were lost, overtaken or doubled.
    PiecesOfConsole,
}

/// The outcome as a status to compare: how far it is verified is another question, and the
/// challenge is the request's.
pub fn status(result: &AnyResult) -> Option<ServerStatus> {
    let mut status = result.as_ref().ok()?.answer.to_status();
    status.verification = Verification::default();
    if let Ok(Outcome {
        answer: Answer::Quake3(_),
        ..
    }) = result
    {
        let mut rules = Rules::default();
        for (key, value) in status
            .rules
            .iter()
            .filter(|(key, _)| key.raw() != b"challenge")
        {
            rules.push_raw(key.raw(), value.raw());
        }
        status.rules = rules;
    }
    Some(status)
}

fn is_complete(result: &AnyResult) -> bool {
    result
        .as_ref()
        .is_ok_and(|outcome| outcome.answer.completeness() == Completeness::COMPLETE)
}

/// Whether it is complete and not what the server held at any moment of the session.
pub fn is_wrong(result: &AnyResult, family: &Family, moment: usize) -> bool {
    let Some(status) = status(result).filter(|_| is_complete(result)) else {
        return false;
    };
    let truths = || {
        family.moments[..=moment]
            .iter()
            .flat_map(|moment| &moment.truths)
    };
    if truths().any(|truth| *truth == status) {
        return false;
    }
    // The parts of a reply without numbers can arrive in any order: the same entries in another
    // one.
    let status = sorted(status);
    truths().all(|truth| sorted(truth.clone()) != status)
}

fn sorted(mut status: ServerStatus) -> ServerStatus {
    if let Some(players) = &mut status.players {
        players.sort_by_cached_key(|player| format!("{player:?}"));
    }
    let mut pairs: Vec<_> = status
        .rules
        .iter()
        .map(|(key, value)| (key.raw(), value.raw()))
        .collect();
    pairs.sort_unstable();
    let mut rules = Rules::default();
    pairs
        .iter()
        .for_each(|(key, value)| rules.push_raw(key, value));
    status.rules = rules;
    status
}

/// Most bytes that a session may hold: its own, and every byte that arrived as it came, joined, and
/// in the tables of the answer.
fn most_memory(played: &Played) -> u64 {
    let arrived: usize = played.log.iter().map(|datagram| datagram.bytes.len()).sum();
    32 * 1024 + 4 * arrived as u64
}

/// Judges an outcome. `measures`: the memory is measured too.
pub fn judge(family: &Family, played: &Played, measures: bool) -> Judgement {
    if measures {
        let (held, most) = (played.memory(&family.client), most_memory(played));
        if held > most {
            return Judgement::Wrong(format!("{held} bytes held, at most {most} expected"));
        }
    }
    if let Some(problem) = exceeded(played) {
        return Judgement::Wrong(problem);
    }
    if is_wrong(&played.result, family, played.moment) {
        return explain(family, played);
    }
    let is_right = is_complete(&played.result);
    let is_near = played.round_trip <= Duration::from_millis(240);
    if played.is_faultless
        && is_near
        && played.timing == Timing::default()
        && !is_right
        && family.is_complete
    {
        return Judgement::Wrong("not complete without any fault".to_owned());
    }
    match &played.result {
        Err(error) => Judgement::Failed(kind(error)),
        Ok(outcome) if outcome.answer.completeness().is_complete() => Judgement::Right,
        Ok(_) => match invented(family, played) {
            Some(name) => Judgement::Wrong(format!("the incomplete answer has a player {name:?}")),
            None => Judgement::Incomplete,
        },
    }
}

fn kind(error: &QueryError) -> &'static str {
    match error.kind() {
        ErrorKind::Offline => "no answer",
        ErrorKind::Unreachable => "unreachable",
        ErrorKind::Limit { .. } => "limit",
        ErrorKind::NotThisProtocol | ErrorKind::WrongReply | ErrorKind::Malformed => {
            "no usable answer"
        }
        _ => "other error",
    }
}

/// What a session used more of than it may.
fn exceeded(played: &Played) -> Option<String> {
    let timing = played.timing;
    let most = usize::from(timing.max_steps()) * (1 + usize::from(timing.retries()));
    if played.requests.len() > most {
        return Some(format!("{} requests of {most}", played.requests.len()));
    }
    if played.elapsed > timing.timeout() {
        return Some(format!("{:?} of {:?}", played.elapsed, timing.timeout()));
    }
    // Every call is for a datagram that arrives at either end, for a timer, or to end.
    let calls = 16 * played.requests.len() as u32 + 40 * 16 + 2 * played.log.len() as u32;
    (played.calls > calls).then(|| format!("{} calls, at most {calls} expected", played.calls))
}

/// A player of an incomplete answer whom the server never had, where nobody but the server has sent
/// anything.
fn invented(family: &Family, played: &Played) -> Option<String> {
    if played.log.iter().any(|datagram| {
        datagram
            .suspect
            .is_some_and(|fault| fault != Fault::OtherServer)
    }) {
        return None;
    }
    // Where a reply is cut within a pair, parts of two replies make pairs that neither has. So are
    // some recorded ones of GameSpy v1.
    let is_cut_in_pairs = match &family.server {
        Server::Form(form, _) => matches!(form, Form::AdminMod | Form::Chopped),
        Server::Capture(..) => {
            family.client.protocol == Protocol::GameSpy1 && replies(played).len() > 1
        }
        _ => false,
    };
    if is_cut_in_pairs {
        return None;
    }
    let status = status(&played.result)?;
    // The rest of a name can be in a datagram that is missing.
    let is_known = |name: &[u8]| {
        if let Server::Form(..) = family.server {
            // A name may hold the number of the reply.
            let has_name = |sent: &[Bytes]| {
                sent.concat()
                    .windows(name.len().max(1))
                    .any(|window| window == name)
            };
            return name.is_empty() || played.replies.iter().any(|(_, sent)| has_name(sent));
        }
        let next = |moment: &Moment| moment.names.range(name.to_vec()..).next().cloned();
        family
            .moments
            .iter()
            .filter_map(next)
            .any(|next| next.starts_with(name))
    };
    let odd = status
        .listed_players()
        .iter()
        .find(|player| !is_known(player.name.raw()))?;
    Some(format!("{:?}", odd.name))
}
