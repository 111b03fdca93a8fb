//! Properties that hold for any input. Fuzz targets and `tests/all/corpus/` call these functions.

use std::time::{Duration, Instant};

use bytes::Bytes;
use queryport::GameKey;
use queryport::gamespy1::{Answer, Command, Request, Response, StatusQuery};
use queryport::{Format, QueryOptions, Service};
use queryport::{Limits, Player, Requester, Secret, ServerStatus, Timing, ToStatus};

// The defaults of `Limits`.
const MAX_RULES: usize = 4096;

/// A parsed request that servers understand can be encoded again. With both engines, its reply is
/// bounded and is not a request.
pub fn request(data: &[u8]) {
    let Ok(request) = Request::parse(data) else {
        return;
    };
    assert!(request.commands().next().is_some() && data.len() <= 255);
    let mut written = Vec::new();
    if request.encode(&mut written).is_ok()
        && let Ok(again) = Request::parse(&written)
    {
        assert_eq!(again, request);
    }
    let mut status = ServerStatus::default();
    status.name = Some("Srv".into());
    status.players = (0..40)
        .map(|number| Player::new(format!("player {number}")))
        .collect();
    let address = "192.0.2.1:5000".parse().unwrap();
    let mut requester = Requester::new(address, Instant::now(), Secret::new([7; 16]));
    requester.number = 6;
    let mut service = Service::new(Format::GameSpy1);
    service = service.with_echo();
    service = service.with_key(GameKey::new("Z5Nfb0").unwrap());
    let replies = queryport::gamespy1::respond(&request, &status, &service, &requester);
    for reply in &replies {
        assert!(reply.len() <= 1000);
        assert!(Request::parse(reply).is_err(), "a reply is never a request");
    }
    if !replies.is_empty() {
        let answer =
            Answer::from_datagrams(replies, &Limits::default()).expect("our replies are replies");
        // An echo's text can read as the key of a row, without a value.
        let has_echo = request
            .commands()
            .any(|command| matches!(command, Command::Echo(_)));
        assert!(has_echo || answer.completeness().is_complete());
    }
}

/// A parsed datagram encodes to the same bytes, agrees with a naive reader, and converts to a
/// status without loss.
pub fn response(data: &[u8]) {
    let limits = Limits::default();
    let Ok(response) = Response::parse(data, &limits) else {
        return;
    };
    let pairs: Vec<_> = response.pairs().collect();
    assert!(pairs.len() <= MAX_RULES);
    assert!(
        response
            .problems()
            .all(|problem| problem.offset < data.len())
    );
    assert_eq!(pairs, naive(response.raw()));
    let mut written = Vec::new();
    response.encode(&mut written);
    // A damaged or missing number is not encoded. A numbered datagram encodes to the same bytes.
    let (_, fragment, _) = numbers(&response);
    if fragment.is_some() {
        let again = Response::parse(&written, &limits).expect("what was written parses");
        assert_eq!(
            (numbers(&again), again.raw()),
            (numbers(&response), response.raw())
        );
        assert!(again.pairs().eq(pairs.iter().copied()));
    }
    let answer =
        Answer::from_datagrams([Bytes::copy_from_slice(data)], &limits).expect("it parsed before");
    consistent(&answer);
    if fragment.is_some_and(|fragment| fragment > 1) {
        assert!(
            !answer.completeness().is_complete(),
            "one datagram of several"
        );
    }
}

/// Runs a script of datagrams: each has its length (two bytes, little-endian) and the time before
/// it (in units of 10 ms). A session ends by its deadline, and a complete answer has all its
/// fragments.
pub fn conversation(data: &[u8]) {
    let limits = Limits::default();
    let query = StatusQuery::new(0, &QueryOptions::default().with_limits(limits));
    let datagram = |bytes: &[u8], _: &_| Some(bytes.to_vec());
    let played = super::script::play(query, script(data), datagram, |_| {});
    assert!(played.elapsed <= Timing::default().timeout());
    let Ok(outcome) = played.result else { return };
    consistent(&outcome.answer);
    if outcome.answer.completeness().is_complete()
        && let Some(reply) = outcome.answer.reply_number()
    {
        // Checked naively: one datagram of the reply has an end mark, and every number up to it is
        // present.
        let received = &played.exchanged.received;
        let trailers: Vec<_> = received
            .iter()
            .filter_map(|datagram| Response::parse(datagram, &limits).ok())
            .map(|response| numbers(&response))
            .filter(|(number, ..)| *number == Some(reply))
            .collect();
        let has = |number| {
            trailers
                .iter()
                .any(|(_, fragment, _)| *fragment == Some(number))
        };
        let ends: Vec<u32> = trailers
            .iter()
            .filter(|(.., is_final)| *is_final)
            .filter_map(|(_, fragment, _)| *fragment)
            .collect();
        assert!(ends.iter().any(|&last| (1..=last).all(has)), "{trailers:?}");
    }
}

/// The status contains the whole view: every pair is a rule, a field of a row, or a known key.
fn consistent(answer: &Answer) {
    let status = answer.to_status();
    assert_eq!(status.completeness, answer.completeness());
    let named = answer.players().filter(|row| row.name().is_some()).count();
    assert!(status.players.len() <= named);
    let row_fields: usize = answer
        .players()
        .chain(answer.teams())
        .map(|row| row.fields().len())
        .sum();
    let all = answer.pairs().count();
    let is_control = |key: &[u8], value: &[u8]| {
        key == b"queryid" || (key == b"final" && b"queryid".starts_with(value))
    };
    let controls = answer
        .pairs()
        .filter(|(key, value)| is_control(key, value))
        .count();
    assert_eq!(answer.rules().count(), all - row_fields - controls);
    assert!(status.rules.len() <= all);
}

/// The numbers of the reply and the fragment, and whether there is an end mark, according to the
/// encoding.
fn numbers(response: &Response<'_>) -> (Option<u64>, Option<u32>, bool) {
    let (mut written, body) = (Vec::new(), response.raw());
    response.encode(&mut written);
    let start = if written.starts_with(body) {
        0
    } else {
        written
            .windows(body.len())
            .position(|window| window == body)
            .expect("the body")
    };
    let end = String::from_utf8_lossy(&written[start + body.len()..]);
    let Some((before, id)) = end.rsplit_once("\\queryid\\") else {
        return (None, None, end.contains("\\final"));
    };
    let is_final =
        before.ends_with("\\final\\") || before.ends_with("\\final") || id.contains("\\final");
    let id = id.split('\\').next().unwrap_or_default();
    match id.split_once('.') {
        Some((reply, fragment)) => (reply.parse().ok(), fragment.parse().ok(), is_final),
        None => (None, id.parse().ok(), is_final),
    }
}

/// Splits an input into datagrams of the server, each with the time before it.
fn script(mut data: &[u8]) -> impl Iterator<Item = (Duration, bool, &[u8])> {
    std::iter::from_fn(move || {
        let (&[low, high, time], rest) = data.split_first_chunk()?;
        let length = usize::from(u16::from_le_bytes([low, high])).min(rest.len());
        let (datagram, rest) = rest.split_at(length);
        data = rest;
        Some((Duration::from_millis(10) * u32::from(time), false, datagram))
    })
}

/// Parses the format with nothing but `split`.
fn naive(body: &[u8]) -> Vec<(&[u8], &[u8])> {
    let text = body.strip_prefix(b"\\").unwrap_or(body);
    if text.is_empty() {
        return Vec::new();
    }
    let tokens: Vec<&[u8]> = text.split(|&byte| byte == b'\\').collect();
    tokens
        .chunks_exact(2)
        .map(|pair| (pair[0], pair[1]))
        .collect()
}
