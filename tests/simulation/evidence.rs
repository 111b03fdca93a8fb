//! Explains complete but wrong answers: which fault causes them, and whether the client could have
//! detected it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use bytes::Bytes;
use queryport::ut2004::PlayerRecord;
use queryport::{Answer, Protocol, ToStatus, Verification};

use crate::client::SERVER;
use crate::forms::Form;
use crate::judge::{Exception, Judgement, is_wrong};
use crate::network::{Datagram, Fault, Reply};
use crate::play::{Family, Played};
use crate::servers::Server;

fn wrong(reason: &str) -> Judgement {
    Judgement::Wrong(reason.to_owned())
}

/// The server's replies from which at least one datagram arrived.
pub fn replies(played: &Played) -> BTreeSet<Reply> {
    played
        .log
        .iter()
        .filter_map(|datagram| datagram.reply)
        .collect()
}

/// Explains why an answer is complete and wrong.
pub fn explain(family: &Family, played: &Played) -> Judgement {
    let is_wrong_without = |is_dropped: &dyn Fn(&Datagram) -> bool| {
        is_wrong(
            &played.without(&family.client, is_dropped),
            family,
            played.moment,
        )
    };
    if !is_wrong_without(&|_| false) {
        return wrong("the same datagrams at the same times bring another answer");
    }
    let suspects: BTreeSet<Fault> = played
        .log
        .iter()
        .filter_map(|datagram| datagram.suspect)
        .collect();
    // If several faults are needed, the undetectable one is the explanation.
    let needed = suspects
        .iter()
        .filter(|fault| !is_wrong_without(&|datagram| datagram.suspect == Some(**fault)));
    if let Some(judgement) = needed
        .map(|fault| allowed(family, played, *fault))
        .min_by_key(is_told)
    {
        return judgement;
    }
    let is_believable = |datagram: &Datagram| {
        datagram
            .suspect
            .is_some_and(|fault| fault != Fault::OtherServer)
    };
    if let Some(&fault) = suspects.iter().find(|fault| **fault != Fault::OtherServer)
        && !is_wrong_without(&is_believable)
    {
        return allowed(family, played, fault);
    }
    if !is_wrong_without(&|datagram| datagram.suspect.is_some() || datagram.is_misasked) {
        return Judgement::Excepted(Exception::ChangedRequest);
    }
    // From here on, all datagrams are the server's own.
    match family.client.protocol {
        Protocol::Ut2004 => explain_lists(family, played),
        _ if family.client.joins_parts() => explain_parts(family, played),
        _ => explain_fragments(family, played),
    }
}

fn is_told(judgement: &Judgement) -> bool {
    matches!(judgement, Judgement::Wrong(_))
}

/// The first byte of GameSpy v4's challenge.
const CHALLENGE: u8 = 9;

/// Judges a fault: excepted if the protocol cannot detect it.
fn allowed(family: &Family, played: &Played, fault: Fault) -> Judgement {
    let protocol = family.client.protocol;
    let verification = played
        .result
        .as_ref()
        .map(|outcome| outcome.answer.to_status().verification);
    let is_verified = verification == Ok(Verification::Verified);
    let has_nothing_to_quote = matches!(protocol, Protocol::GameSpy1 | Protocol::Ut2004);
    let is_wrong_with = |is_kept: &dyn Fn(&Datagram) -> bool| {
        let is_left_out =
            |datagram: &Datagram| !is_kept(datagram) && datagram.bytes.first() != Some(&CHALLENGE);
        is_wrong(
            &played.without(&family.client, is_left_out),
            family,
            played.moment,
        )
    };
    // A complete reply is not joined with anything: either it is one datagram, or all were forged.
    let is_whole = |one: &Datagram| is_wrong_with(&|datagram| datagram.bytes == one.bytes);
    // The server's own datagrams differ after a restart.
    let is_contradicted = contradicts(played, |_| true)
        && !contradicts(played, |datagram| datagram.suspect.is_none())
        && !played.log.iter().any(is_whole)
        && !is_wrong_with(&|datagram| datagram.suspect == Some(fault));
    match fault {
        _ if is_contradicted => {
            wrong("two datagrams of one number that differ, one of them forged or changed")
        }
        // A cut first datagram begins another reply, as a whole one does.
        Fault::Truncation
            if family.client.joins_parts()
                && (replies(played).len() > 1 || played.log.iter().any(is_cut_first_part)) =>
        {
            Judgement::Excepted(Exception::PartsOfTwoReplies)
        }
        Fault::Truncation
            if !played
                .log
                .iter()
                .any(|datagram| is_whole_although_cut(datagram, protocol)) =>
        {
            wrong("a datagram that shows that it was cut")
        }
        Fault::Truncation => Judgement::Excepted(Exception::Cut),
        Fault::Corruption => Judgement::Excepted(Exception::Changed),
        // One changed bit can turn the id of an attempt into that of the attempt before.
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

/// Whether this datagram began a reply of QuakeWorld before it was cut.
fn is_cut_first_part(datagram: &Datagram) -> bool {
    let text = datagram.bytes.iter().skip_while(|byte| **byte == 0xff);
    datagram.suspect == Some(Fault::Truncation) && text.take(2).eq(br"n\")
}

fn has_id_of_another_attempt(played: &Played) -> bool {
    let is_sent = |id: &[u8]| {
        played
            .requests
            .iter()
            .any(|(_, request)| request.get(3..7) == Some(id))
    };
    let changed = played
        .log
        .iter()
        .filter(|datagram| datagram.suspect == Some(Fault::WrongId));
    changed
        .filter_map(|datagram| datagram.bytes.get(1..5))
        .any(is_sent)
}

/// Whether this datagram was cut where a complete one can end.
fn is_whole_although_cut(datagram: &Datagram, protocol: Protocol) -> bool {
    let bytes = &datagram.bytes[..];
    if datagram.suspect != Some(Fault::Truncation) {
        return false;
    }
    match protocol {
        // The last datagram ends with the end of a section. Others can end anywhere, like a text
        // that did not fit.
        Protocol::GameSpy4 => {
            bytes.get(14).is_some_and(|number| number & 0x80 == 0) || bytes.ends_with(&[0])
        }
        // An info ends with its datagram.
        Protocol::Quake3 => {
            let is_info = bytes.windows(12).any(|word| word == b"infoResponse");
            is_info || bytes.ends_with(b"\n") || bytes.ends_with(b"\"")
        }
        // The number, if there is one, is at the end and can be cut itself.
        _ => true,
    }
}

/// The part of a datagram that numbers it within a reply, including the number of the reply.
pub fn number(datagram: &[u8], protocol: Protocol) -> Option<Vec<u8>> {
    match protocol {
        Protocol::GameSpy4
            if datagram.len() > 14 && datagram[0] == 0 && datagram[5..14] == *b"splitnum\0" =>
        {
            Some([&datagram[1..5], &[datagram[14] & 0x7F]].concat())
        }
        Protocol::GameSpy1 if datagram.starts_with(br"\") => {
            if let Some(rest) = datagram.strip_prefix(br"\statusresponse\") {
                if !datagram.ends_with(br"\eof\") {
                    return None;
                }
                let part = rest.split(|byte| *byte == b'\\').next()?;
                return part
                    .iter()
                    .all(u8::is_ascii_digit)
                    .then(|| [b"K", part].concat());
            }
            let rest = query_id(datagram)?;
            let len = rest
                .iter()
                .position(|byte| !byte.is_ascii_digit() && *byte != b'.')
                .unwrap_or(rest.len());
            let is_end = matches!(
                &rest[len..],
                b"" | b"\\" | b"\\final" | b"\\final\\" | b"\0"
            );
            (len > 0 && is_end).then(|| rest[..len].to_vec())
        }
        _ => None,
    }
}

/// The part of a GameSpy v1 datagram after its last `queryid`.
fn query_id(datagram: &[u8]) -> Option<&[u8]> {
    const KEY: &[u8] = br"\queryid\";
    let at = datagram
        .windows(KEY.len())
        .rposition(|window| window == KEY)?;
    Some(&datagram[at + KEY.len()..])
}

/// Whether two different datagrams with one number arrived from the server's address, within the
/// answer's reply. An end mark alone differs from none: Unreal 227 sends it with the number of the
/// fragment before it.
fn contradicts(played: &Played, is_counted: impl Fn(&Datagram) -> bool) -> bool {
    let Some(reply) = reply_of_answer(played) else {
        return false;
    };
    let mut contents: BTreeMap<Vec<u8>, &[u8]> = BTreeMap::new();
    let parts = played
        .log
        .iter()
        .filter(|datagram| reply.has(datagram) && is_counted(datagram))
        .filter(|datagram| !datagram.bytes.starts_with(br"\final\"));
    parts
        .filter_map(|datagram| {
            Some((
                number(&datagram.bytes, reply.protocol)?,
                without_trailer(&datagram.bytes, reply.protocol),
            ))
        })
        .any(|(number, bytes)| *contents.entry(number).or_insert(bytes) != bytes)
}

/// The text of a datagram, without the `queryid` of GameSpy v1. Some servers send one `queryid`
/// in all datagrams.
pub(crate) fn without_trailer(datagram: &[u8], protocol: Protocol) -> &[u8] {
    if protocol != Protocol::GameSpy1 {
        return datagram;
    }
    let mark = br"\queryid\";
    let start = datagram.windows(mark.len()).rposition(|part| part == mark);
    &datagram[..start.unwrap_or(datagram.len())]
}

/// The reply that an answer consists of.
struct ReplyOfAnswer {
    protocol: Protocol,
    number: Option<Vec<u8>>,
    /// The time of the latest request before everything in the answer.
    since: Duration,
}

impl ReplyOfAnswer {
    /// Whether a datagram with this number came from the server's address.
    fn has(&self, datagram: &Datagram) -> bool {
        let is_its_number = || reply_number(datagram, self.protocol) == self.number;
        datagram.from == SERVER && datagram.at >= self.since && is_its_number()
    }
}

fn reply_of_answer(played: &Played) -> Option<ReplyOfAnswer> {
    match &played.result.as_ref().ok()?.answer {
        Answer::GameSpy1(answer) => {
            let number = answer
                .reply_number()
                .map(|number| number.to_string().into());
            let since = since(played, &number, answer.raw());
            Some(ReplyOfAnswer {
                protocol: Protocol::GameSpy1,
                number,
                since,
            })
        }
        // Each attempt has its own id, which no earlier reply can have.
        Answer::GameSpy4(answer) => {
            let id = answer.id().0;
            let asked = played
                .requests
                .iter()
                .find(|(_, request)| request.get(3..7) == Some(&id[..]));
            let since = asked.map_or(Duration::ZERO, |(at, _)| *at);
            Some(ReplyOfAnswer {
                protocol: Protocol::GameSpy4,
                number: Some(id.to_vec()),
                since,
            })
        }
        _ => None,
    }
}

/// The time of the latest request before everything in this GameSpy v1 answer, which consists of
/// the bodies of its datagrams in order of their numbers.
fn since(played: &Played, reply: &Option<Vec<u8>>, raw: &[u8]) -> Duration {
    let mut parts: BTreeMap<u64, Vec<(&[u8], Duration)>> = BTreeMap::new();
    for datagram in played.log.iter().filter(|datagram| datagram.from == SERVER) {
        let Some(number) = number(&datagram.bytes, Protocol::GameSpy1) else {
            continue;
        };
        let digits = number
            .rsplit(|byte| !byte.is_ascii_digit())
            .next()
            .unwrap_or_default();
        let fragment = std::str::from_utf8(digits)
            .ok()
            .and_then(|digits| digits.parse().ok());
        if reply_number(datagram, Protocol::GameSpy1) == *reply
            && let Some(fragment) = fragment
        {
            parts
                .entry(fragment)
                .or_default()
                .push((body(&datagram.bytes), datagram.at));
        }
    }
    let (mut rest, mut first) = (raw, Duration::MAX);
    for bodies in parts.values() {
        let fitting = bodies
            .iter()
            .filter(|(body, _)| !body.is_empty() && rest.starts_with(body));
        if let Some((held, _)) = fitting.max_by_key(|(body, _)| body.len()) {
            // The latest copy with any number, because the first can have been changed on its path.
            let copies = parts.values().flatten().filter(|(body, _)| body == held);
            let latest = copies.map(|(_, at)| *at).max().unwrap_or_default();
            (rest, first) = (&rest[held.len()..], first.min(latest));
        }
    }
    played
        .requests
        .iter()
        .map(|(at, _)| *at)
        .rfind(|at| *at < first)
        .unwrap_or_default()
}

/// A datagram of GameSpy v1 without its number and end mark.
fn body(datagram: &[u8]) -> &[u8] {
    let mut body = datagram;
    if let Some(rest) = body.strip_prefix(br"\statusresponse\") {
        body = &rest[rest
            .iter()
            .position(|byte| *byte == b'\\')
            .unwrap_or(rest.len())..];
    }
    if let Some(rest) = query_id(body).filter(|rest| rest.len() < 24) {
        body = &body[..body.len() - rest.len() - br"\queryid\".len()];
    }
    for end in [&br"\eof\"[..], br"\final\", br"\final"] {
        body = body.strip_suffix(end).unwrap_or(body);
    }
    body
}

/// Explains an answer of GameSpy v1, GameSpy v4 or Quake 3.
fn explain_fragments(family: &Family, played: &Played) -> Judgement {
    let protocol = family.client.protocol;
    let is_wrong_with = |is_kept: &dyn Fn(&Datagram) -> bool| {
        let result = played.without(&family.client, |datagram| {
            datagram.suspect.is_some() || !is_kept(datagram)
        });
        is_wrong(&result, family, played.moment)
    };
    let replies: BTreeSet<Reply> = played
        .log
        .iter()
        .filter(|datagram| datagram.suspect.is_none())
        .filter_map(|datagram| datagram.reply)
        .collect();
    let is_alone = |reply: &Reply| is_wrong_with(&|datagram| datagram.reply == Some(*reply));
    let is_mixture = replies.len() > 1 && !replies.iter().any(is_alone);
    let form = match family.server {
        Server::Form(form, _) => Some(form),
        _ => None,
    };
    // Next to parts of other replies, the lost end of one looks the same.
    let is_descent3_cut = matches!(form, Some(Form::Descent3)) && lacks_last(played);
    if !is_mixture || is_descent3_cut {
        return match form {
            Some(Form::Chopped) if lacks(played, |datagram| query_id(datagram).is_none()) => {
                Judgement::Excepted(Exception::LostInsideSection)
            }
            Some(Form::Descent3) if is_descent3_cut => {
                Judgement::Excepted(Exception::LostBehindEndMark)
            }
            Some(form)
                if played
                    .replies
                    .iter()
                    .flat_map(|(_, sent)| sent)
                    .any(|bytes| has_text_as_end(bytes, form)) =>
            {
                Judgement::Excepted(Exception::TextAsEnd)
            }
            _ => wrong("no fault explains it"),
        };
    }
    // A second reply to one request is refused, and its numbers are forgotten. A datagram that ends
    // in a name like an end mark is not read as the one with its number.
    let is_read = |datagram: &Datagram| {
        datagram.suspect.is_none()
            && !form.is_some_and(|form| has_text_as_end(&datagram.bytes, form))
            && datagram.reply.is_none_or(|reply| {
                !replies
                    .iter()
                    .any(|other| other.request == reply.request && other.number < reply.number)
            })
    };
    if contradicts(played, is_read) {
        return wrong("of two replies, of which two datagrams of one number that differ arrived");
    }
    let runs: BTreeSet<u8> = replies.iter().map(|reply| reply.run).collect();
    let is_of_runs = runs.len() > 1
        && runs.iter().any(|run| {
            !is_wrong_with(&|datagram| datagram.reply.is_some_and(|reply| reply.run != *run))
        });
    let numbers: BTreeSet<Option<Vec<u8>>> = played
        .log
        .iter()
        .map(|datagram| reply_number(datagram, protocol))
        .collect();
    let has_one_number = numbers.iter().flatten().any(|one| {
        let is_one = |datagram: &Datagram| {
            reply_number(datagram, protocol).is_none_or(|number| number == *one)
        };
        is_wrong_with(&is_one) || is_wrong_with(&|datagram| is_one(datagram) && is_read(datagram))
    });
    // Without the other replies, the session can have ended earlier.
    let reply = reply_of_answer(played);
    let is_left_out = |datagram: &Datagram| {
        datagram.suspect.is_some() || !reply.as_ref().is_some_and(|reply| reply.has(datagram))
    };
    let has_one_number = has_one_number
        || is_wrong(
            &played.at_once(&family.client, is_left_out),
            family,
            played.moment,
        );
    match protocol {
        Protocol::GameSpy1 | Protocol::GameSpy4
            if is_of_runs && (has_one_number || numbers.contains(&None)) =>
        {
            Judgement::Excepted(Exception::Restart)
        }
        Protocol::GameSpy1 if has_one_number => Judgement::Excepted(Exception::SameNumber),
        Protocol::GameSpy1 if numbers.contains(&None) => Judgement::Excepted(match form {
            Some(Form::Chopped) => Exception::LostInsideSection,
            _ => Exception::NoNumber,
        }),
        Protocol::GameSpy4 if has_one_number => Judgement::Excepted(Exception::SameId),
        _ => wrong("of two replies"),
    }
}

/// Whether a datagram of this reply of QuakeWorld ends inside a line.
pub fn is_cut_in_lines(sent: &[Bytes]) -> bool {
    sent.iter().any(|bytes| !bytes.ends_with(b"\n\0"))
}

/// Explains an answer of QuakeWorld. Its datagrams have neither numbers nor an end mark.
fn explain_parts(family: &Family, played: &Played) -> Judgement {
    let is_wrong_with = |is_kept: &dyn Fn(&Datagram) -> bool| {
        let result = played.without(&family.client, |datagram| {
            datagram.suspect.is_some() || !is_kept(datagram)
        });
        is_wrong(&result, family, played.moment)
    };
    let is_of = |reply: &Reply, datagram: &Datagram| datagram.reply == Some(*reply);
    let one = replies(played)
        .into_iter()
        .find(|reply| is_wrong_with(&|datagram| is_of(reply, datagram)));
    let Some(reply) = one else {
        return Judgement::Excepted(Exception::PartsOfTwoReplies);
    };
    let Some((_, sent)) = played.replies.iter().find(|(of, _)| *of == reply) else {
        return wrong("of a reply that was not sent");
    };
    let [first, middle @ .., last] = &sent[..] else {
        return wrong("no fault explains the reply of one datagram");
    };
    let own = || {
        let log = played.log.iter();
        log.filter(|datagram| datagram.suspect.is_none() && is_of(&reply, datagram))
    };
    // A retry drops the datagrams that came without the first: they can be of an older reply.
    let first = own().find(|datagram| datagram.bytes == first);
    let mut requests = played.requests.iter().rev().map(|(at, _)| *at);
    let since = first.and_then(|first| requests.find(|at| *at <= first.at));
    let kept = own().filter(|datagram| since.is_none_or(|since| datagram.at >= since));
    let arrived: Vec<&[u8]> = kept.map(|datagram| &datagram.bytes[..]).collect();
    let has = |bytes: &Bytes| arrived.contains(&&bytes[..]);
    if !has(last) {
        return wrong("the last datagram is missing");
    }
    if !middle.iter().all(has) {
        return Judgement::Excepted(Exception::LostBetweenLines);
    }
    if is_cut_in_lines(sent) {
        return Judgement::Excepted(Exception::PartsOutOfOrder);
    }
    wrong("no fault explains the parts")
}

/// The number of the reply in a datagram.
fn reply_number(datagram: &Datagram, protocol: Protocol) -> Option<Vec<u8>> {
    let number = number(&datagram.bytes, protocol)?;
    match protocol {
        Protocol::GameSpy4 => Some(number[..4].to_vec()),
        _ => number
            .iter()
            .position(|byte| *byte == b'.')
            .map(|dot| number[..dot].to_vec()),
    }
}

/// Whether some datagrams of a reply arrived, but none of this kind.
fn lacks(played: &Played, is_kind: impl Fn(&[u8]) -> bool) -> bool {
    played.replies.iter().any(|(reply, sent)| {
        let arrived = || {
            played
                .log
                .iter()
                .filter(|datagram| datagram.suspect.is_none() && datagram.reply == Some(*reply))
        };
        let has = |bytes: &[u8]| arrived().any(|datagram| datagram.bytes == bytes);
        arrived().next().is_some() && sent.iter().any(|bytes| is_kind(bytes) && !has(bytes))
    })
}

/// Whether all datagrams of a reply arrived except some at its end.
fn lacks_last(played: &Played) -> bool {
    played.replies.iter().any(|(reply, sent)| {
        let has = |bytes: &&bytes::Bytes| {
            played
                .log
                .iter()
                .any(|datagram| datagram.reply == Some(*reply) && datagram.bytes == *bytes)
        };
        let first = sent.iter().take_while(has).count();
        first > 0 && first < sent.len() && !sent[first..].iter().any(|bytes| has(&bytes))
    })
}

/// Whether a player's text at the beginning of a datagram, or just before its number, looks like a
/// mark or number.
pub fn has_text_as_end(bytes: &[u8], form: Form) -> bool {
    let own = match form {
        Form::AdminMod => bytes.strip_suffix(br"\eof\").unwrap_or(bytes),
        Form::SeriousSam | Form::Chopped => bytes,
        _ => query_id(bytes).map_or(bytes, |rest| {
            &bytes[..bytes.len() - rest.len() - br"\queryid\".len()]
        }),
    };
    let text = own.strip_suffix(br"\").unwrap_or(own);
    let value = text
        .rsplit(|byte| *byte == b'\\')
        .next()
        .unwrap_or_default();
    let is_number = value
        .iter()
        .all(|byte| byte.is_ascii_digit() || *byte == b'.')
        && query_id(text) == Some(value);
    let is_first = form != Form::AdminMod && own.starts_with(br"\statusresponse\");
    is_first || is_number || text.ends_with(br"\final") || text.ends_with(br"\eof")
}

/// Explains an answer of UT2004. Its lists have neither numbers nor an end, so a datagram can be
/// missing only if it never arrived. Info, rules and players take two or three requests.
fn explain_lists(family: &Family, played: &Played) -> Judgement {
    let mut requests = Vec::new();
    let sent =
        |at, request: &[u8]| requests.push((at, request.get(4).copied().unwrap_or_default()));
    let result = played.replay(&family.client, |datagram| datagram.suspect.is_some(), sent);
    let Ok(Answer::Ut2004(answer)) = result.map(|outcome| outcome.answer) else {
        return wrong("no fault explains it");
    };
    let lists = Lists { played, requests };
    let mut exception = Exception::PartsOfSeveralMoments;
    for kind in 0..3 {
        let is_kind = |datagram: &&[u8]| datagram.get(4) == Some(&kind);
        let got: BTreeSet<&[u8]> = answer.datagrams().filter(is_kind).collect();
        let held = || {
            family.moments[..=played.moment].iter().map(|moment| {
                let all = moment.datagrams.iter().map(|datagram| &datagram[..]);
                all.filter(is_kind).collect::<BTreeSet<&[u8]>>()
            })
        };
        if held().any(|all| all == got) {
            continue;
        }
        let is_part = |all: &BTreeSet<&[u8]>| got.is_subset(all);
        exception = match held().any(|all| is_part(&all)) {
            true if lists.replies_that_lost(kind, &got) > 1 => Exception::LostFromTwoReplies,
            true if kind == 2 && has_exactly_as_many_as_counted(&answer) => Exception::Spectators,
            true if lists.requests_answered_with(kind, &got) > 1 => Exception::LateReply,
            false if lists.requests_answered_with(kind, &got) > 0 => Exception::ListOfTwoMoments,
            true => {
                return Judgement::Wrong(format!(
                    "a datagram of kind {kind} is missing after one reply"
                ));
            }
            false => {
                return Judgement::Wrong(format!("datagrams of kind {kind} of several replies"));
            }
        };
    }
    Judgement::Excepted(exception)
}

fn has_exactly_as_many_as_counted(answer: &queryport::ut2004::Answer) -> bool {
    let is_team_score = |player: &PlayerRecord<'_>| (player.player_num, player.ping) == (0, 0);
    let counted = answer.players().filter(|player| !is_team_score(player));
    let count = answer.info().map(|info| info.current_players);
    count.is_some_and(|count| usize::try_from(count) == Ok(counted.count()))
}

/// Whether two datagrams are the same part of a list, judging by their first entry. Players are
/// compared by length, ignoring pings and scores; rules at the end of their list ignoring values.
fn is_same(one: &[u8], other: &[u8]) -> bool {
    let is_end = |datagram: &[u8]| datagram.len() <= LONGEST_END;
    let first = |datagram: &[u8], len| datagram.get(4..len).map(<[u8]>::to_vec);
    let key = |datagram: &[u8]| first(datagram, 6 + usize::from(*datagram.get(5)?));
    match (one.get(4), other.get(4)) {
        _ if one == other => true,
        (Some(2), Some(2)) => {
            one.len() == other.len() && one.len() > 9 && first(one, 9) == first(other, 9)
        }
        (Some(1), Some(1)) => {
            is_end(one) && is_end(other) && key(one).is_some() && key(one) == key(other)
        }
        _ => false,
    }
}

/// If a datagram of a list is longer than this, another follows.
const LONGEST_END: usize = 450;

/// The lists of a session of UT2004.
struct Lists<'a> {
    played: &'a Played,
    /// The time and code of each request.
    requests: Vec<(Duration, u8)>,
}

impl Lists<'_> {
    fn own(&self) -> impl Iterator<Item = &Datagram> {
        self.played
            .log
            .iter()
            .filter(|datagram| datagram.suspect.is_none())
    }

    /// For each request of this list, the time from it to the next.
    fn windows(&self, kind: u8) -> Vec<(Duration, Duration)> {
        let is_for = |code: u8| code == kind || (code == 3 && kind != 0);
        let asked = self.requests.iter().filter(|(_, code)| is_for(*code));
        let times: Vec<Duration> = asked.map(|(at, _)| *at).collect();
        let next = times.iter().skip(1).copied().chain([Duration::MAX]);
        times.iter().copied().zip(next).collect()
    }

    /// How many requests were answered with only a part of this list.
    fn replies_that_lost(&self, kind: u8, got: &BTreeSet<&[u8]>) -> usize {
        let mut requests = BTreeSet::new();
        for (reply, sent) in &self.played.replies {
            let list = || {
                sent.iter()
                    .map(|bytes| &bytes[..])
                    .filter(|bytes| bytes.get(4) == Some(&kind))
            };
            let arrived = |bytes: &[u8]| {
                self.own()
                    .any(|datagram| datagram.reply == Some(*reply) && datagram.bytes == bytes)
            };
            let is_read = got.is_empty() || list().any(arrived);
            let has_lost = list().any(|bytes| !got.contains(bytes) && !arrived(bytes));
            if is_read && has_lost {
                requests.insert(reply.request);
            }
        }
        requests.len()
    }

    /// How many requests were answered with this whole list before the next request. For an empty
    /// list, the other list counts.
    fn requests_answered_with(&self, kind: u8, got: &BTreeSet<&[u8]>) -> usize {
        let has_all = |(from, to): &&(Duration, Duration)| {
            let own = self.own();
            let own = own.filter(|datagram| datagram.at >= *from && datagram.at <= *to);
            let arrived: Vec<&[u8]> = own.map(|datagram| &datagram.bytes[..]).collect();
            let has = |bytes: &&[u8]| arrived.iter().any(|other| is_same(other, bytes));
            let is_other = |bytes: &&[u8]| bytes.get(4).is_some_and(|of| *of != kind && *of != 0);
            if got.is_empty() {
                arrived.iter().any(is_other)
            } else {
                got.iter().all(has)
            }
        };
        self.windows(kind).iter().filter(has_all).count()
    }
}
