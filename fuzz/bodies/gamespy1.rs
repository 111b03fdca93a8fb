//! What must hold for any bytes at all. The fuzz targets call these, and so does the replay of the corpus on stable.
#![allow(dead_code, unreachable_pub, reason = "each fuzz target uses one of them")]
#![allow(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a failure is a find"
)]

use std::time::{Duration, Instant};

use bytes::Bytes;
use queryport::Limits;
use queryport::Timing;
use queryport::gamespy1::list::{ListFormat, ListRequest, ListSession};
use queryport::gamespy1::secure::GameKey;
use queryport::gamespy1::{Answer, Command, FinalOrder, Request, Response, StatusQuery, server};
use queryport::session::Session;
use queryport::{Player, ServerStatus};

/// A request that parses can be written again if servers would understand it, and is answered within bounds, in both
/// dialects, by what is no request.
pub fn request(data: &[u8]) {
    let Ok(request) = Request::parse(data) else { return };
    let commands: Vec<Command<'_>> = request.commands().collect();
    assert!(!commands.is_empty() && data.len() <= queryport::gamespy1::MAX_REQUEST);
    let mut written = Vec::new();
    if Request::encode(&commands, &mut written).is_ok()
        && let Ok(again) = Request::parse(&written)
    {
        assert!(again.commands().eq(commands.iter().copied()));
    }
    let mut status = ServerStatus::default();
    status.name = Some("Srv".into());
    status.players = Some((0..40).map(|number| Player::new(format!("player {number}"))).collect());
    for dialect in [server::Dialect::Unreal, server::Dialect::Qr1] {
        let mut options = server::Options::default();
        options.dialect = dialect;
        options.echo = true;
        options.key = GameKey::new("Z5Nfb0").ok();
        let replies = server::answer(&request, &status, &options, 5);
        for reply in &replies {
            assert!(reply.len() <= dialect.max_datagram());
            assert!(Request::parse(reply).is_err(), "a reply is never a request");
        }
        if !replies.is_empty() {
            let answer =
                Answer::from_datagrams(replies, &Limits::default()).expect("our replies are replies");
            assert!(answer.completeness().is_complete());
        }
    }
}

/// A datagram that parses is written again equal, agrees with a naive reader, and becomes a model that holds all of
/// it.
pub fn response(data: &[u8]) {
    let limits = Limits::default();
    let Ok(response) = Response::parse(data, &limits) else { return };
    let pairs: Vec<_> = response.fields().iter().collect();
    assert!(pairs.len() <= limits.max_rules());
    // Where a name holds a separator, the naive reader is wrong.
    if pairs.iter().all(|(_, value)| !value.contains(&b'\\')) {
        assert_eq!(pairs, naive(response.fields().raw()));
    }
    for order in [FinalOrder::After, FinalOrder::Before] {
        let mut written = Vec::new();
        response.encode(order, &mut written);
        // A damaged or wordy trailer is not written again; a numbered one is, equal.
        if response.trailer().fragment.is_some() {
            let again = Response::parse(&written, &limits).expect("what was written parses");
            assert_eq!(again.trailer(), response.trailer());
            assert!(again.fields().iter().eq(pairs.iter().copied()));
        }
    }
    let answer = Answer::from_datagrams([Bytes::copy_from_slice(data)], &limits).expect("it parsed before");
    consistent(&answer);
    // But for masters that number the sections of one text.
    let sections = response.fields().raw().windows(9).any(|window| window == br"\queryid\");
    if response.trailer().fragment.is_some_and(|fragment| fragment > 1) && !sections {
        assert!(!answer.completeness().is_complete(), "one datagram of several");
    }
}

/// A script of datagrams: each begins with its length (two bytes, little-endian) and the time before it (in units of 10 ms). A
/// session ends in time, whatever comes; a complete answer has all its fragments.
pub fn conversation(data: &[u8]) {
    let start = Instant::now();
    let peer = "192.0.2.1:7778".parse().unwrap();
    let limits = Limits::default();
    let mut session = Session::new(StatusQuery::new(limits), peer, Timing::default(), &limits, start);
    let mut now = start;
    let mut heard: Vec<&[u8]> = Vec::new();
    for (time, datagram) in script(data) {
        session.poll_transmit(now, &mut Vec::new());
        now += Duration::from_millis(10 * u64::from(time));
        session.handle_timeout(now);
        session.handle_datagram(now, peer, datagram);
        heard.push(datagram);
    }
    while let Some(alarm) = session.poll_timeout() {
        assert!(alarm <= start + Timing::default().timeout());
        session.poll_transmit(alarm, &mut Vec::new());
        session.handle_timeout(session.poll_timeout().unwrap_or(alarm));
    }
    let Some(Ok(outcome)) = session.poll_answer() else { return };
    consistent(&outcome.answer);
    if outcome.answer.completeness().is_complete()
        && let Some(reply) = outcome.answer.reply_number()
    {
        // Naively: of this reply there is one with an end mark, and a datagram for every number up to it.
        let trailers: Vec<_> = heard
            .iter()
            .filter_map(|datagram| Response::parse(datagram, &limits).ok())
            .map(|response| response.trailer())
            .filter(|trailer| trailer.reply == Some(reply))
            .collect();
        let has = |number| trailers.iter().any(|trailer| trailer.fragment == Some(number));
        let ends: Vec<u32> = trailers
            .iter()
            .filter(|trailer| trailer.is_final)
            .filter_map(|trailer| trailer.fragment)
            .collect();
        assert!(ends.iter().any(|&last| (1..=last).all(has)), "{trailers:?}");
    }
}

/// A list server's stream, in pieces: the first byte chooses the format and where it is cut.
pub fn list(data: &[u8]) {
    let Some((&choice, stream)) = data.split_first() else { return };
    let format = if choice & 1 == 0 { ListFormat::Plain } else { ListFormat::Compressed };
    let request = ListRequest::new("ut", GameKey::new("Z5Nfb0").unwrap()).with_format(format);
    let mut session = ListSession::new(request);
    let mut sent = Vec::new();
    for piece in stream.chunks(usize::from(choice >> 1) + 1) {
        session.handle_bytes(piece);
        session.poll_transmit(&mut sent);
    }
    session.handle_end();
    let result = session.poll_answer().expect("the end of the stream is the end");
    assert!(session.poll_answer().is_none());
    if let Ok(list) = result {
        assert!(list.servers.len() <= stream.len() / 6);
    }
}

/// The model holds what the view holds: every pair is a rule, a field of a row, or understood.
fn consistent(answer: &Answer) {
    let status = answer.to_status();
    assert_eq!(status.completeness, answer.completeness());
    let rows = answer.rows();
    let named = rows.players().filter(|row| row.player_name().is_some()).count();
    assert!(status.listed_players().len() <= named);
    let row_fields: usize = rows.players().chain(rows.teams()).map(|row| row.fields().len()).sum();
    let all = answer.fields().iter().count();
    let is_control = |key: &[u8], value: &[u8]| key == b"queryid" || (key == b"final" && value.is_empty());
    let controls = answer.fields().iter().filter(|(key, value)| is_control(key, value)).count();
    assert_eq!(answer.fields().rules().count() + row_fields + controls, all);
    assert!(status.rules.len() <= all + 1);
}

/// Lengths and times between the datagrams of one input.
fn script(mut data: &[u8]) -> Vec<(u8, &[u8])> {
    let mut steps = Vec::new();
    while let [low, high, time, rest @ ..] = data {
        let length = usize::from(u16::from_le_bytes([*low, *high])).min(rest.len());
        let (datagram, rest) = rest.split_at(length);
        steps.push((*time, datagram));
        data = rest;
    }
    steps
}

/// The format read with nothing but `split`.
fn naive(body: &[u8]) -> Vec<(&[u8], &[u8])> {
    let text = body.strip_prefix(b"\\").unwrap_or(body);
    if text.is_empty() {
        return Vec::new();
    }
    let tokens: Vec<&[u8]> = text.split(|&byte| byte == b'\\').collect();
    tokens.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect()
}
