//! Judges outcomes: right, marked as incomplete, an error, or complete and wrong for a reason that
//! the client cannot detect.

use std::time::Duration;

use bytes::Bytes;
use queryport::{
    Answer, Completeness, ErrorKind, Outcome, Protocol, QueryError, Rules, ServerStatus, Timing,
    ToStatus, Verification,
};

use crate::client::AnyResult;
use crate::evidence::{explain, is_cut_in_lines, replies, without_trailer};
use crate::forms::Form;
use crate::network::Fault;
use crate::play::{Family, Moment, Played};
use crate::servers::Server;

/// The judgement of a session.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Judgement {
    /// Complete, and equal to the server's state at one moment.
    Right,
    Incomplete,
    Failed(&'static str),
    /// Complete and wrong, but nothing in the datagrams shows it.
    Excepted(Exception),
    /// A bug.
    Wrong(String),
}

/// Errors that the client of a protocol cannot detect.
///
/// `tests/simulation/exceptions.rs` has the bytes for each; [`crate::evidence`] decides when a
/// session counts as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exception {
    /// No protocol has a checksum: a value that changed on its path looks like another value.
    Changed,
    /// Only GameSpy v4 shows the length of its datagrams: one that was cut between two values looks
    /// complete.
    Cut,
    /// A request changed on its path. GameSpy v1: one of two commands is lost, and the reply does
    /// not show which it answers. Quake 3: a challenge became another pair of the infostring, and
    /// is quoted as one.
    ChangedRequest,
    /// An unsolicited reply is accepted. Requests of GameSpy v1 and UT2004 have nothing that a
    /// reply quotes; a Quake 3 answer without challenge is marked as unverified.
    NotAsked(Fault),
    /// A restarted server of GameSpy v1 numbers its replies from 1 again. Battlefield 2 answers a
    /// request without a challenge: if it arrives before and after a restart, parts of both replies
    /// have one id.
    Restart,
    /// GameSpy v1: the reply number runs from 1 to 100 for all clients. A hundred requests later
    /// another reply has the same number, and no fragment of both arrived.
    SameNumber,
    /// GameSpy v1: the datagrams have no reply number, and no fragment of both replies arrived.
    NoNumber,
    /// GameSpy v4: if a request arrives twice, a server that accepts a challenge twice, or uses
    /// none, sends two replies with one id. No fragment of both arrived.
    SameId,
    /// UT2004: a datagram was lost from two replies.
    LostFromTwoReplies,
    /// UT2004: late datagrams of one reply are taken for the next.
    LateReply,
    /// UT2004: a spectator was lost, or takes the place of a lost player, and the number of rows
    /// matches.
    Spectators,
    /// UT2004: info, rules and players are separate requests, each answered at its own moment.
    PartsOfSeveralMoments,
    /// UT2004: a late datagram of one reply joins the next, after the list has changed.
    ListOfTwoMoments,
    /// Descent 3 writes an end mark into every datagram and drops a pair that does not fit. If the
    /// last datagram contains the rest of the last player's row, its loss goes unnoticed.
    LostBehindEndMark,
    /// 333networks' text, cut every 512 bytes, has lost a datagram.
    LostInsideSection,
    /// GameSpy v1: a player's text at the beginning or end of a datagram is taken for a mark or
    /// number; without numbering, anywhere.
    TextAsEnd,
    /// QuakeWorld: a datagram in the middle of a reply was lost between two lines, or came before
    /// the first one and a retry.
    LostBetweenLines,
    /// QuakeWorld: datagrams of two replies are joined, or a cut copy of the first one reads as the
    /// beginning of another reply.
    PartsOfTwoReplies,
    /// QuakeWorld: datagrams that end inside a line are joined in another order.
    PartsOutOfOrder,
    /// Quake 3: a master's list is settled, but every pass lost the same datagram.
    LostFromEveryPass,
    /// Quake 3: a master's list is settled, but late datagrams of one pass count for the next.
    LatePass,
    /// Quake 3: pieces of an answer to rcon were lost, reordered or doubled.
    PiecesOfConsole,
}

/// The outcome as a status to compare, without verification and challenge.
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

/// Whether it is complete and differs from the server's state at every moment.
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
    // Without numbers, parts can arrive in any order: the same entries, reordered.
    let status = sorted(status);
    truths().all(|truth| sorted(truth.clone()) != status)
}

fn sorted(mut status: ServerStatus) -> ServerStatus {
    let players = &mut status.players;
    players.sort_by_cached_key(|player| format!("{player:?}"));
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

/// The maximum number of bytes that a session may use: its own, plus all received bytes three
/// times, for the datagrams, the joined reply and the tables of the answer.
fn most_memory(played: &Played) -> u64 {
    let arrived: usize = played.log.iter().map(|datagram| datagram.bytes.len()).sum();
    32 * 1024 + 4 * arrived as u64
}

/// Judges an outcome. `measures`: also measures memory.
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
        ErrorKind::Timeout => "no answer",
        ErrorKind::Unreachable => "unreachable",
        ErrorKind::Limit { .. } => "limit",
        ErrorKind::NotThisProtocol | ErrorKind::WrongReply | ErrorKind::Malformed => {
            "no usable answer"
        }
        _ => "other error",
    }
}

/// The bound that a session exceeded.
fn exceeded(played: &Played) -> Option<String> {
    let timing = played.timing;
    let most = usize::from(timing.max_steps()) * (1 + usize::from(timing.retries()));
    if played.requests.len() > most {
        return Some(format!("{} requests of {most}", played.requests.len()));
    }
    if played.elapsed > timing.timeout() {
        return Some(format!("{:?} of {:?}", played.elapsed, timing.timeout()));
    }
    // Every call is for a datagram at either end, for a timer, or for the end.
    let calls = 16 * played.requests.len() as u32 + 40 * 16 + 2 * played.log.len() as u32;
    (played.calls > calls).then(|| format!("{} calls, at most {calls} expected", played.calls))
}

/// A player in an incomplete answer whom the server never had, if only the server has sent
/// datagrams.
fn invented(family: &Family, played: &Played) -> Option<String> {
    if played.log.iter().any(|datagram| {
        datagram
            .suspect
            .is_some_and(|fault| fault != Fault::OtherServer)
    }) {
        return None;
    }
    // If replies are cut inside pairs, parts of two replies can make pairs that neither has. This
    // applies to some recorded replies of GameSpy v1 too.
    let is_cut_in_pairs = match &family.server {
        Server::Form(form, _) => matches!(form, Form::AdminMod | Form::Chopped),
        Server::Capture(..) => {
            family.client.protocol == Protocol::GameSpy1 && replies(played).len() > 1
        }
        _ => false,
    };
    // Two halves of QuakeWorld lines are joined in order of arrival, so a name can have parts of
    // both.
    let mut sent = played.replies.iter().map(|(_, sent)| sent);
    let joins_half_lines = family.client.joins_parts() && sent.any(|sent| is_cut_in_lines(sent));
    if is_cut_in_pairs || joins_half_lines {
        return None;
    }
    let status = status(&played.result)?;
    // The rest of a name can be in a missing datagram.
    let is_known = |name: &[u8]| {
        if let Server::Form(..) = family.server {
            // A name can contain the number of the reply.
            let has_name = |sent: &[u8]| sent.windows(name.len().max(1)).any(|part| part == name);
            // Another part of the name can be in the next datagram.
            let texts = |sent: &[Bytes]| -> Vec<u8> {
                let protocol = family.client.protocol;
                let texts = sent.iter().map(|sent| without_trailer(sent, protocol));
                texts.collect::<Vec<_>>().concat()
            };
            let mut replies = played.replies.iter();
            return name.is_empty()
                || replies.any(|(_, sent)| has_name(&sent.concat()) || has_name(&texts(sent)));
        }
        let next = |moment: &Moment| moment.names.range(name.to_vec()..).next().cloned();
        family
            .moments
            .iter()
            .filter_map(next)
            .any(|next| next.starts_with(name))
    };
    let odd = status
        .players
        .iter()
        .find(|player| !is_known(player.name.raw()))?;
    Some(format!("{:?}", odd.name))
}
