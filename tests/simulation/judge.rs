//! What an outcome is worth: right, marked incomplete, an error, or complete and wrong for a reason that the wire hides.

use std::collections::BTreeSet;

use queryport::{
    Answer, Completeness, ErrorKind, Outcome, Protocol, QueryError, Rules, ServerStatus, Timing, ToStatus,
    Verification,
};

use crate::client::AnyResult;
use crate::forms::Form;
use crate::network::{Datagram, Fault};
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

/// What the wire of a protocol cannot tell. `tests/simulation/exceptions.rs` has the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exception {
    /// No protocol has a checksum of its own or the length of its datagrams: what was changed or cut on its way within a
    /// value reads as another value.
    Changed,
    /// A request that was changed on its way: of two commands of GameSpy v1 one is lost, and the reply does not say what was
    /// asked; a challenge of Quake 3 that became another pair of the infostring is quoted as one.
    ChangedRequest,
    /// GameSpy v1 and UT2004 have nothing in a request that a reply quotes; a Quake 3 answer without challenge is marked
    /// unverified: a reply that was not asked for is taken.
    NotAsked(Fault),
    /// A restarted server of GameSpy v1 numbers its replies from 1 again, and servers without numbers have none to tell. Battlefield 2
    /// answers a request without a challenge: one that arrives twice, before a restart and after it, gets parts with one id.
    Restart,
    /// Replies without numbers, to a request that arrived twice.
    TwoReplies,
    /// UT2004: a datagram was lost from every reading of a list.
    LostFromEveryReading,
    /// UT2004: info, rules and players are requested one after the other, and each is of its own moment.
    PartsOfSeveralMoments,
    /// Descent 3 writes an end mark into every datagram and leaves out the pair that does not fit: a last datagram that holds
    /// the rest of the last player's row is not missed.
    LostBehindEndMark,
    /// 333networks' text, cut every 512 bytes: a datagram of it was lost.
    LostInsideSection,
}

/// The outcome as a status to compare: how far it is verified is another question, and the challenge is the request's.
pub fn status(result: &AnyResult) -> Option<ServerStatus> {
    let mut status = result.as_ref().ok()?.answer.to_status();
    status.verification = Verification::default();
    if let Ok(Outcome { answer: Answer::Quake3(_), .. }) = result {
        let mut rules = Rules::default();
        for (key, value) in status.rules.iter().filter(|(key, _)| key.raw() != b"challenge") {
            rules.push_raw(key.raw(), value.raw());
        }
        status.rules = rules;
    }
    Some(status)
}

fn is_complete(result: &AnyResult) -> bool {
    result.as_ref().is_ok_and(|outcome| outcome.answer.completeness() == Completeness::Complete)
}

/// Whether it is complete and not what the server held at any moment of the session.
fn is_wrong(result: &AnyResult, family: &Family, moment: usize) -> bool {
    let Some(status) = status(result).filter(|_| is_complete(result)) else { return false };
    let truths = || family.moments[..=moment].iter().flat_map(|moment| &moment.truths);
    if truths().any(|truth| *truth == status) {
        return false;
    }
    // The parts of a reply without numbers can arrive in any order: the same entries in another one.
    let status = sorted(status);
    truths().all(|truth| sorted(truth.clone()) != status)
}

fn sorted(mut status: ServerStatus) -> ServerStatus {
    if let Some(players) = &mut status.players {
        players.sort_by_cached_key(|player| format!("{player:?}"));
    }
    let mut pairs: Vec<_> = status.rules.iter().map(|(key, value)| (key.raw(), value.raw())).collect();
    pairs.sort_unstable();
    let mut rules = Rules::default();
    pairs.iter().for_each(|(key, value)| rules.push_raw(key, value));
    status.rules = rules;
    status
}

/// Most bytes that a session may hold: its own, and every byte that arrived as it came, joined, and in the tables of the
/// answer.
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
    if played.is_faultless && played.timing == Timing::default() && !is_right && family.is_complete {
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
        ErrorKind::NotThisProtocol | ErrorKind::WrongReply | ErrorKind::Malformed => "no usable answer",
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

/// A player of an incomplete answer whom the server never had, where nobody but the server has sent anything.
fn invented(family: &Family, played: &Played) -> Option<String> {
    if played.log.iter().any(|datagram| datagram.suspect.is_some_and(|fault| fault != Fault::OtherServer)) {
        return None;
    }
    // Where a reply is cut within a pair, parts of two replies make pairs that neither has. So are some recorded ones of GameSpy v1.
    let is_cut_in_pairs = match &family.server {
        Server::Form(form, _) => matches!(form, Form::AdminMod | Form::Chopped),
        Server::Capture(..) => family.client.protocol == Protocol::GameSpy1 && replies(played).len() > 1,
        _ => false,
    };
    if is_cut_in_pairs {
        return None;
    }
    let status = status(&played.result)?;
    // The rest of a name can be in a datagram that is missing.
    let is_known = |name: &[u8]| {
        let next = |moment: &Moment| moment.names.range(name.to_vec()..).next().cloned();
        family.moments.iter().filter_map(next).any(|next| next.starts_with(name))
    };
    let odd = status.listed_players().iter().find(|player| !is_known(player.name.raw()))?;
    Some(format!("{:?}", odd.name))
}

/// The replies that datagrams came of: run of the server, and number.
fn replies(played: &Played) -> BTreeSet<(u8, u32)> {
    played.log.iter().filter_map(|datagram| datagram.reply).collect()
}

/// Why an answer is complete and wrong.
fn explain(family: &Family, played: &Played) -> Judgement {
    let client = &family.client;
    let wrong_without = |is_dropped: &dyn Fn(&Datagram) -> bool| {
        is_wrong(&played.without(client, is_dropped), family, played.moment)
    };
    if !wrong_without(&|_| false) {
        return Judgement::Wrong("the same datagrams at the same times bring another answer".to_owned());
    }
    let suspects: BTreeSet<Fault> = played.log.iter().filter_map(|datagram| datagram.suspect).collect();
    for &fault in &suspects {
        if !wrong_without(&|datagram| datagram.suspect == Some(fault)) {
            return allowed(family, played, fault);
        }
    }
    let is_believable =
        |datagram: &Datagram| datagram.suspect.is_some_and(|fault| fault != Fault::OtherServer);
    if let Some(&fault) = suspects.iter().find(|fault| **fault != Fault::OtherServer)
        && !wrong_without(&is_believable)
    {
        return allowed(family, played, fault);
    }
    if !wrong_without(&|datagram| datagram.suspect.is_some() || datagram.is_misasked) {
        return Judgement::Excepted(Exception::ChangedRequest);
    }
    // What follows looks at the server's own datagrams alone.
    let is_own = |datagram: &&Datagram| datagram.suspect.is_none();
    let replies: BTreeSet<(u8, u32)> =
        played.log.iter().filter(is_own).filter_map(|datagram| datagram.reply).collect();
    let runs: BTreeSet<u8> = replies.iter().map(|(run, _)| *run).collect();
    if client.protocol == Protocol::Ut2004 {
        return explain_lists(family, played);
    }
    let without_run = |run: u8| {
        !wrong_without(&|datagram| {
            datagram.suspect.is_some() || datagram.reply.is_some_and(|(of, _)| of == run)
        })
    };
    // Battlefield 2 answers a request without a challenge from its latest status: there is no token to bind it to.
    let is_without_challenge = client.protocol == Protocol::GameSpy4
        && played.requests.iter().any(|(_, request)| request.get(2) == Some(&0) && request.len() == 11);
    if runs.len() > 1 && runs.iter().any(|run| without_run(*run)) {
        return match client.protocol {
            Protocol::GameSpy1 => Judgement::Excepted(Exception::Restart),
            Protocol::GameSpy4 if is_without_challenge => Judgement::Excepted(Exception::Restart),
            _ => Judgement::Wrong("of two runs of the server".to_owned()),
        };
    }
    let has_no_numbers = is_without_challenge
        || matches!(family.server, Server::LatestStatus(..) | Server::Form(..) | Server::Capture(..));
    if matches!(family.server, Server::Form(Form::Chopped, _)) {
        return Judgement::Excepted(Exception::LostInsideSection);
    }
    match two_replies(family, played) {
        Some(excepted) if has_no_numbers => excepted,
        Some(_) => Judgement::Wrong("of two replies".to_owned()),
        None if matches!(family.server, Server::Form(Form::Descent3, _)) => {
            Judgement::Excepted(Exception::LostBehindEndMark)
        }
        None => Judgement::Wrong("no fault explains it".to_owned()),
    }
}

/// Whether it is not wrong any more without one of the server's replies.
fn two_replies(family: &Family, played: &Played) -> Option<Judgement> {
    let replies = replies(played);
    let is_wrong_without = |reply| {
        let is_dropped = |datagram: &Datagram| datagram.suspect.is_some() || datagram.reply == Some(reply);
        is_wrong(&played.without(&family.client, is_dropped), family, played.moment)
    };
    let is_wrong_alone = |reply| {
        let is_dropped = |datagram: &Datagram| datagram.suspect.is_some() || datagram.reply != Some(reply);
        is_wrong(&played.without(&family.client, is_dropped), family, played.moment)
    };
    let is_mixture = replies.len() > 1
        && (replies.iter().any(|reply| !is_wrong_without(*reply))
            || replies.iter().all(|reply| !is_wrong_alone(*reply)));
    is_mixture.then_some(Judgement::Excepted(Exception::TwoReplies))
}

/// Whether the protocol cannot tell this fault.
fn allowed(family: &Family, played: &Played, fault: Fault) -> Judgement {
    let protocol = family.client.protocol;
    let verification = played.result.as_ref().map(|outcome| outcome.answer.to_status().verification);
    let is_verified = verification == Ok(Verification::Verified);
    let has_nothing_to_quote = matches!(protocol, Protocol::GameSpy1 | Protocol::Ut2004);
    match fault {
        Fault::Truncation | Fault::Corruption => Judgement::Excepted(Exception::Changed),
        // One bit changes the id of an attempt into that of the attempt before.
        Fault::WrongId if protocol == Protocol::GameSpy4 && has_id_of_another_attempt(played) => {
            Judgement::Excepted(Exception::Changed)
        }
        Fault::EarlierReply | Fault::Liar | Fault::WrongId | Fault::Noise
            if has_nothing_to_quote || !is_verified =>
        {
            Judgement::Excepted(Exception::NotAsked(fault))
        }
        other => Judgement::Wrong(format!("{other:?} is believed")),
    }
}

fn has_id_of_another_attempt(played: &Played) -> bool {
    let is_sent = |id: &[u8]| played.requests.iter().any(|(_, request)| request.get(3..7) == Some(id));
    let changed = played.log.iter().filter(|datagram| datagram.suspect == Some(Fault::WrongId));
    changed.filter_map(|datagram| datagram.bytes.get(1..5)).any(is_sent)
}

/// UT2004's lists have no numbers and no end: what can be missing is a datagram that never arrived. Info, rules and players
/// are three requests, or two.
fn explain_lists(family: &Family, played: &Played) -> Judgement {
    let result = played.without(&family.client, |datagram| datagram.suspect.is_some());
    let Ok(Answer::Ut2004(answer)) = result.map(|outcome| outcome.answer) else {
        return Judgement::Wrong("no fault explains it".to_owned());
    };
    let own = played.log.iter().filter(|datagram| datagram.suspect.is_none());
    let arrived: BTreeSet<&[u8]> = own.map(|datagram| &datagram.bytes[..]).collect();
    let mut has_lost = false;
    for kind in 0..3 {
        let is_kind = |datagram: &&[u8]| datagram.get(4) == Some(&kind);
        let got: BTreeSet<&[u8]> = answer.datagrams().filter(is_kind).collect();
        let mut held = family.moments[..=played.moment].iter().map(|moment| {
            let all = moment.datagrams.iter().map(|datagram| &datagram[..]);
            all.filter(is_kind).collect::<BTreeSet<&[u8]>>()
        });
        if held.clone().any(|all| all == got) {
            continue;
        }
        has_lost = true;
        let never_arrived =
            |all: &BTreeSet<&[u8]>| all.difference(&got).all(|missing| !arrived.contains(missing));
        if !held.any(|all| got.is_subset(&all) && never_arrived(&all)) {
            return two_replies(family, played)
                .unwrap_or_else(|| Judgement::Wrong(format!("datagrams of kind {kind} of several moments")));
        }
    }
    Judgement::Excepted(match has_lost {
        true => Exception::LostFromEveryReading,
        false => Exception::PartsOfSeveralMoments,
    })
}
