//! Compares the library's clients with the naive readers of `naive/`.
//!
//! In a complete answer, both find the same fields. No answer is complete if the naive reader
//! proves that something is missing.

use std::time::Instant;

use arbitrary::Unstructured;
use bytes::Bytes;
use queryport::session::Conversation;
use queryport::{
    Detail, Dialect, Format, Limits, QueryOptions, Requester, Secret, ServerStatus, Service,
    ToStatus, gamespy1, gamespy4, quake3, ut2004,
};

use super::script::{Event, Exchanged, Played, Step};
use crate::naive::{self, Fields, Pairs, Reading, Text, Whole};

// The defaults of `Limits`.
const MAX_RULES: usize = 4096;
const MAX_PLAYERS: usize = 1024;

/// Runs a query through a script. `reply` acts as a correct server: it gets the state, the last
/// request and a number of requests. One in eight senders is a different server.
fn play<C: Conversation>(
    query: C,
    steps: &[Step],
    reply: impl Fn(bool, &[u8], u64) -> Vec<Bytes>,
    adapt: impl Fn(&[u8], &mut Vec<u8>),
) -> Played<C::Answer> {
    let of_kind = |step: &Step, exchanged: &Exchanged| match &step.event {
        Event::Raw(bytes) => Some(bytes.clone()),
        Event::Reply { state, index } => {
            let number = u64::from(step.sender >> 4);
            let replies = reply(*state, exchanged.request(), number);
            let datagram = replies.get(usize::from(*index) % replies.len().max(1))?;
            Some(datagram.to_vec())
        }
        Event::Again(index) => {
            let received = &exchanged.received;
            let again = received.get(usize::from(*index) % received.len().max(1))?;
            Some(again.clone())
        }
    };
    let datagram = |step: &Step, exchanged: &Exchanged| {
        let mut datagram = of_kind(step, exchanged)?;
        step.damage.apply(&mut datagram);
        if step.sender & 1 != 0 {
            adapt(exchanged.request(), &mut datagram);
        }
        Some(datagram)
    };
    let steps = steps
        .iter()
        .map(|step| (step.wait, step.sender & 14 == 14, step));
    let played = super::script::play(query, steps, datagram, |_| {});
    assert!(played.exchanged.sent.len() <= 64, "requests without end");
    played
}

/// Requires that both agree on a complete answer, whose fields these are. Returns whether there were
/// fields to compare.
fn compare(received: &[Text], complete: Option<Fields>, naive: &Reading) -> bool {
    naive.note();
    let Some(mut ours) = complete else {
        return false;
    };
    if let Whole::No(why) = naive.whole {
        panic!("complete, although: {why}{}", shown(received));
    }
    let Some(naive) = &naive.fields else {
        return false;
    };
    if naive.rules.len() > MAX_RULES || naive.players.len() > MAX_PLAYERS {
        return false;
    }
    let mut naive = naive.clone();
    if naive.name.is_none() {
        ours.name = None;
    }
    // The statuses of most protocols drop blanks around a map.
    for map in [&mut ours.map, &mut naive.map] {
        let trimmed = map.iter().map(|map| map.trim_ascii().to_vec());
        *map = trimmed.into_iter().find(|map| !map.is_empty());
    }
    if naive.map.is_none() {
        ours.map = None;
    }
    assert!(
        ours == naive,
        "the library: {ours}\nthe naive reader: {naive}{}",
        shown(received)
    );
    true
}

/// Datagrams for a report.
fn shown(received: &[Text]) -> String {
    received
        .iter()
        .map(|datagram| format!("\n{}", datagram.escape_ascii()))
        .collect()
}

/// Requires that the library calls an answer complete if the naive reader does.
fn must_be_complete(received: &[Text], naive: &Reading, is_complete: Option<bool>) {
    naive.note();
    if let (Whole::Yes, Some(fields)) = (naive.whole, &naive.fields)
        && fields.rules.len() + fields.players.len() * 16 <= MAX_PLAYERS
    {
        assert_eq!(
            is_complete,
            Some(true),
            "complete for the naive reader{}",
            shown(received)
        );
    }
}

pub(super) fn owned<'a>(pairs: impl Iterator<Item = (&'a [u8], &'a [u8])>) -> Pairs {
    pairs
        .map(|(key, value)| (key.to_vec(), value.to_vec()))
        .collect()
}

fn with_names(mut fields: Fields, status: &ServerStatus) -> Fields {
    fields.name = status
        .name
        .as_ref()
        .map(|text| text.as_ref().raw().to_vec());
    fields.map = status.map.as_ref().map(|text| text.as_ref().raw().to_vec());
    fields
}

fn bytes(datagrams: &[Text]) -> Vec<Bytes> {
    datagrams
        .iter()
        .map(|datagram| Bytes::copy_from_slice(datagram))
        .collect()
}

fn requester(number: u64) -> Requester {
    let mut requester = Requester::new(
        ([192, 0, 2, 1], 5000).into(),
        Instant::now(),
        Secret::new([7; 16]),
    );
    requester.number = number;
    requester
}

/// Two successive states of a server.
fn states(u: &mut Unstructured<'_>) -> [ServerStatus; 2] {
    let first = super::script::status(u).unwrap_or_default();
    let second = super::script::status(u).unwrap_or_default();
    [first, second]
}

pub fn quake3(data: &[u8]) {
    let mut u = Unstructured::new(data);
    let kind: u8 = u.arbitrary().unwrap_or_default();
    let states = states(&mut u);
    let steps = super::script::steps(&mut u);
    let (client, format) = match (kind >> 6, kind & 3) {
        (1, _) => (Dialect::Quake2, Format::Quake2),
        (2, _) => (Dialect::QuakeWorld, Format::QuakeWorld),
        (_, 0) => (Dialect::MedalOfHonor, Format::Quake3),
        (_, _) => (Dialect::NoChallenge, Format::Quake3),
    };
    let played = play(
        quake3::StatusQuery::new(
            u64::from(kind),
            &QueryOptions::default().with_dialect(client),
        ),
        &steps,
        |state, request, number| {
            let (service, status) = (Service::new(format), &states[usize::from(state)]);
            crate::replies(&service, request, status, &requester(number)).unwrap_or_default()
        },
        |_, _| {},
    );
    let received = &played.exchanged.received;
    for datagram in received {
        quake3_datagram(datagram);
    }
    if let Ok(outcome) = &played.result {
        quake3_compare(&outcome.answer, received);
    }
}

fn quake3_compare(answer: &quake3::Answer, received: &[Text]) {
    if answer.family() == quake3::Family::QuakeWorld {
        quake_world_compare(answer, received);
        return;
    }
    // One of the datagrams is the answer.
    let readings: Vec<Reading> = received
        .iter()
        .filter(|datagram| {
            quake3::Answer::from_datagrams([Bytes::copy_from_slice(datagram)], &Limits::default())
                .is_ok_and(|other| other.raw() == answer.raw())
        })
        .map(|datagram| match answer.family() {
            quake3::Family::Quake2 => naive::siblings::quake2(datagram),
            quake3::Family::Quetoo => naive::siblings::quetoo(datagram),
            _ => naive::quake3::read(datagram, naive::quake3::Asked::Status),
        })
        .collect();
    let reading = readings.first().expect("an answer came in a datagram");
    let is_complete = answer.completeness().is_complete();
    let complete = is_complete.then(|| quake3_fields(answer));
    compare(received, complete, reading);
}

/// One datagram, without a request.
pub fn quake3_datagram(datagram: &[u8]) -> bool {
    let received = [datagram.to_vec()];
    let limits = Limits::default();
    let answer = quake3::Answer::from_datagrams([Bytes::copy_from_slice(datagram)], &limits).ok();
    let asked = match answer.as_ref().map(quake3::Answer::detail) {
        Some(Detail::Short) => naive::quake3::Asked::Info,
        _ => naive::quake3::Asked::Status,
    };
    let reading = if datagram.starts_with(QUAKE_2) {
        naive::siblings::quake2(datagram)
    } else if datagram.starts_with(QUETOO) {
        naive::siblings::quetoo(datagram)
    } else if datagram.starts_with(QUAKE_WORLD_FIRST) {
        naive::siblings::quake_world(&received)
    } else {
        naive::quake3::read(datagram, asked)
    };
    let is_complete = answer
        .as_ref()
        .map(|answer| answer.completeness().is_complete());
    must_be_complete(&received, &reading, is_complete);
    let complete = answer.filter(|answer| answer.completeness().is_complete());
    compare(&received, complete.as_ref().map(quake3_fields), &reading)
}

/// The beginning of a Quake 2 status.
const QUAKE_2: &[u8] = b"\xff\xff\xff\xffprint\n\\";
/// The beginning of a Quetoo status.
const QUETOO: &[u8] = b"\xff\xff\xff\xffstatus\n\\";
/// The beginning of the first datagram of a reply of QuakeWorld.
const QUAKE_WORLD_FIRST: &[u8] = b"\xff\xff\xff\xffn\\";

/// The datagrams of a QuakeWorld reply in order of arrival, without a request.
pub fn quake_world_datagrams(datagrams: &[Text]) -> bool {
    let Ok(answer) = quake3::Answer::from_datagrams(bytes(datagrams), &Limits::default()) else {
        return false;
    };
    answer.family() == quake3::Family::QuakeWorld && quake_world_compare(&answer, datagrams)
}

fn quake_world_compare(answer: &quake3::Answer, received: &[Text]) -> bool {
    let is_marked = |datagram: &&Text| datagram.starts_with(b"\xff\xff\xff\xff");
    let marked: Vec<Text> = received.iter().filter(is_marked).cloned().collect();
    if !marked.iter().any(|one| one.starts_with(QUAKE_WORLD_FIRST)) {
        return false;
    }
    let reading = naive::siblings::quake_world(&marked);
    let is_complete = answer.completeness().is_complete();
    let complete = is_complete.then(|| quake3_fields(answer));
    compare(&marked, complete, &reading)
}

/// The texts of a player line of Quake 2, QuakeWorld or Quetoo, under the names of the naive reader.
fn sibling_player(line: quake3::PlayerLine<'_>) -> Pairs {
    let named = |(name, value): (&str, Option<&[u8]>)| {
        value.map(|value| (name.as_bytes().to_vec(), value.to_vec()))
    };
    if let Some(pairs) = line.pairs() {
        return owned(pairs.iter());
    }
    let Some(line) = line.quake_world() else {
        let fields = [
            ("score", line.score_text()),
            ("ping", line.ping_text()),
            ("name", Some(line.name())),
            ("address", line.address()),
            ("team", line.team_text()),
        ];
        return fields.into_iter().filter_map(named).collect();
    };
    let fields = [
        ("id", Some(line.id)),
        ("score", Some(line.frags)),
        ("minutes", Some(line.minutes)),
        ("ping", Some(line.ping)),
        ("name", Some(line.name)),
        ("skin", Some(line.skin)),
        ("top", Some(line.top)),
        ("bottom", Some(line.bottom)),
        ("team", line.team),
        ("login", line.login),
        ("kind", line.kind),
    ];
    fields.into_iter().filter_map(named).collect()
}

fn quake3_fields(answer: &quake3::Answer) -> Fields {
    let is_sibling = answer.family() != quake3::Family::Quake3;
    let player = |line: quake3::PlayerLine<'_>| {
        if is_sibling {
            return sibling_player(line);
        }
        let mut player = vec![(b"name".to_vec(), line.name().to_vec())];
        for (field, value) in [
            ("score", line.score_text()),
            ("ping", line.ping_text()),
            ("team", line.team_text()),
        ] {
            player.extend(value.map(|value| (field.as_bytes().to_vec(), value.to_vec())));
        }
        player
    };
    let fields = Fields {
        rules: owned(answer.rules()),
        players: answer.players().map(player).collect(),
        ..Fields::default()
    };
    with_names(fields, &answer.to_status())
}

pub fn ut2004(data: &[u8]) {
    let mut u = Unstructured::new(data);
    let kind: u8 = u.arbitrary().unwrap_or_default();
    let states = states(&mut u);
    let steps = super::script::steps(&mut u);
    let played = play(
        ut2004::StatusQuery::new(u64::from(kind), &QueryOptions::default()),
        &steps,
        |state, request, number| {
            // The index chooses a datagram of info, rules or players, whatever the last request
            // was.
            let Ok(last) = ut2004::Request::parse(request) else {
                return Vec::new();
            };
            let service = Service::new(Format::Ut2004);
            let mut all = Vec::new();
            for command in [ut2004::Command::Info, ut2004::Command::RulesAndPlayers] {
                let mut request = ut2004::Request::new(command);
                request.version = last.version;
                let state = &states[usize::from(state)];
                all.extend(ut2004::respond(
                    &request,
                    state,
                    &service,
                    &requester(number),
                ));
            }
            all
        },
        |_, _| {},
    );
    let Ok(outcome) = &played.result else { return };
    let answer = &outcome.answer;
    let received = ut2004_requested(&played.exchanged);
    let for_lists = |request: &&[u8]| request.get(4) != Some(&0);
    let asked = match played.exchanged.requests().filter(for_lists).count() {
        _ if played.stats.retries > 0 => naive::ut2004::Asked::Retried,
        0 | 1 => naive::ut2004::Asked::Once,
        _ => naive::ut2004::Asked::InTurn,
    };
    let reading = naive::ut2004::read(&received, asked);
    let is_complete = answer.completeness().is_complete();
    let complete = is_complete.then(|| ut2004_fields(answer));
    compare(&received, complete, &sorted(reading));
}

/// The datagrams without those of a list that was not requested yet.
fn ut2004_requested(exchanged: &Exchanged) -> Vec<Text> {
    let first = |list: u8| {
        let requests = |request: &Text| {
            request
                .get(4)
                .is_some_and(|&kind| kind == list || kind == 3)
        };
        let first = exchanged.sent.iter().find(|(_, request)| requests(request));
        first.map_or(usize::MAX, |(received, _)| *received)
    };
    let is_requested = |(at, datagram): &(usize, &Text)| match datagram.get(4) {
        Some(&list @ (1 | 2)) => *at >= first(list),
        _ => true,
    };
    exchanged
        .received
        .iter()
        .enumerate()
        .filter(is_requested)
        .map(|(_, datagram)| datagram.clone())
        .collect()
}

/// Sorts lists, whose datagrams have no order.
fn sorted(mut reading: Reading) -> Reading {
    if let Some(fields) = &mut reading.fields {
        fields.rules.sort();
        fields.players.sort();
    }
    reading
}

pub fn ut2004_datagrams(datagrams: &[Text]) -> bool {
    let limits = Limits::default();
    let reading = sorted(naive::ut2004::read(datagrams, naive::ut2004::Asked::Once));
    let Ok(answer) = ut2004::Answer::from_datagrams(bytes(datagrams), &limits) else {
        return false;
    };
    let is_complete = answer.completeness().is_complete();
    let complete = is_complete.then(|| ut2004_fields(&answer));
    compare(datagrams, complete, &reading);
    // Whether a list is complete is unknown here, but its entries are known.
    if let Some(naive) = &reading.fields {
        let mut ours = ut2004_fields(&answer);
        (ours.name, ours.map) = (naive.name.clone(), naive.map.clone());
        assert!(
            ours == *naive,
            "the library: {ours}\nthe naive reader: {naive}{}",
            shown(datagrams)
        );
    }
    reading.fields.is_some()
}

/// The numbers and the name of a player, under the names of the naive reader.
pub(super) fn ut2004_player(player: ut2004::PlayerRecord<'_>) -> Pairs {
    vec![
        (b"id".to_vec(), player.player_num.to_string().into_bytes()),
        (b"name".to_vec(), player.name.raw().to_vec()),
        (b"ping".to_vec(), player.ping.to_string().into_bytes()),
        (b"score".to_vec(), player.score.to_string().into_bytes()),
        (
            b"stats_id".to_vec(),
            player.stats_id.to_string().into_bytes(),
        ),
    ]
}

fn ut2004_fields(answer: &ut2004::Answer) -> Fields {
    let mut fields = Fields {
        rules: owned(answer.rules().map(|(key, value)| (key.raw(), value.raw()))),
        players: answer.players().map(ut2004_player).collect(),
        ..Fields::default()
    };
    fields.rules.sort();
    fields.players.sort();
    with_names(fields, &answer.to_status())
}

pub fn gamespy1(data: &[u8]) {
    let mut u = Unstructured::new(data);
    let kind: u8 = u.arbitrary().unwrap_or_default();
    let states = states(&mut u);
    let steps = super::script::steps(&mut u);
    let played = play(
        gamespy1::StatusQuery::new(u64::from(kind), &QueryOptions::default()),
        &steps,
        |state, request, number| {
            let (service, status) = (Service::new(Format::GameSpy1), &states[usize::from(state)]);
            crate::replies(&service, request, status, &requester(number)).unwrap_or_default()
        },
        |_, _| {},
    );
    if let Ok(outcome) = &played.result {
        let received = &played.exchanged.received;
        let reading = naive::gamespy1::read(received, outcome.answer.reply_number());
        gamespy1_compare(&outcome.answer, received, &reading);
    }
}

fn gamespy1_compare(answer: &gamespy1::Answer, datagrams: &[Text], reading: &Reading) -> bool {
    let is_complete = answer.completeness().is_complete();
    let complete = is_complete.then(|| gamespy1_fields(answer));
    compare(datagrams, complete, reading)
}

pub fn gamespy1_datagrams(datagrams: &[Text]) -> bool {
    let limits = Limits::default();
    let answer = gamespy1::Answer::from_datagrams(bytes(datagrams), &limits).ok();
    let number = answer.as_ref().and_then(gamespy1::Answer::reply_number);
    let reading = naive::gamespy1::read(datagrams, number);
    let compared = answer
        .as_ref()
        .is_some_and(|answer| gamespy1_compare(answer, datagrams, &reading));
    must_be_complete(
        datagrams,
        &reading,
        answer.map(|answer| answer.completeness().is_complete()),
    );
    compared
}

fn gamespy1_fields(answer: &gamespy1::Answer) -> Fields {
    let row = |row: gamespy1::Row<'_>| {
        let mut pairs = vec![(b"#".to_vec(), row.index().to_string().into_bytes())];
        pairs.extend(owned(row.fields().iter().copied()));
        pairs
    };
    let by_number = |rows: &mut Vec<Pairs>| {
        rows.sort_by_key(|row| {
            String::from_utf8_lossy(&row[0].1)
                .parse::<u32>()
                .unwrap_or_default()
        });
    };
    let mut fields = Fields {
        rules: owned(answer.rules()),
        players: answer.players().map(row).collect(),
        teams: answer.teams().map(row).collect(),
        ..Fields::default()
    };
    for (key, _) in fields
        .teams
        .iter_mut()
        .flatten()
        .filter(|(key, _)| key.ends_with(b"_t"))
    {
        key.truncate(key.len() - 2);
    }
    by_number(&mut fields.players);
    by_number(&mut fields.teams);
    with_names(fields, &answer.to_status())
}

pub fn gamespy4(data: &[u8]) {
    let mut u = Unstructured::new(data);
    let kind: u8 = u.arbitrary().unwrap_or_default();
    let states = states(&mut u);
    let steps = super::script::steps(&mut u);
    let (client, format) = match (kind % 3, kind >> 6) {
        (0, 1) => (Dialect::GameSpy2, Format::GameSpy2),
        (0, 0) => (Dialect::Standard, Format::UnrealTournament3),
        (0, _) => (Dialect::Standard, Format::GameSpy4),
        (1, _) => (Dialect::Minecraft, Format::Minecraft),
        (_, 0 | 1) => (Dialect::JustCause2, Format::UnrealTournament3),
        (_, _) => (Dialect::JustCause2, Format::GameSpy4),
    };
    let played = play(
        gamespy4::StatusQuery::new(
            u64::from(kind),
            &QueryOptions::default().with_dialect(client),
        ),
        &steps,
        |state, request, number| {
            let (service, status) = (Service::new(format), &states[usize::from(state)]);
            crate::replies(&service, request, status, &requester(number)).unwrap_or_default()
        },
        |request, datagram| {
            if request.len() >= 7 && datagram.len() >= 5 {
                datagram[1..5].copy_from_slice(&request[3..7]);
            }
        },
    );
    if let Ok(outcome) = &played.result {
        let received = &played.exchanged.received;
        if let Some(reading) = gamespy4_reading(&outcome.answer, received) {
            gamespy4_compare(&outcome.answer, received, &reading);
        }
    }
}

fn gamespy4_reading(answer: &gamespy4::Answer, datagrams: &[Text]) -> Option<Reading> {
    use crate::naive::gamespy4::Form;
    let form = match answer.form() {
        gamespy4::Form::Sections => Form::Sections,
        gamespy4::Form::MinecraftFull => Form::Minecraft,
        gamespy4::Form::MinecraftBasic => Form::Basic,
        gamespy4::Form::JustCause2 => Form::JustCause2,
        gamespy4::Form::Legacy => Form::Legacy,
        _ => return None,
    };
    Some(naive::gamespy4::read(datagrams, answer.id().0, form))
}

fn gamespy4_compare(answer: &gamespy4::Answer, datagrams: &[Text], reading: &Reading) -> bool {
    let is_complete = answer.completeness().is_complete();
    let complete = is_complete.then(|| gamespy4_fields(answer));
    compare(datagrams, complete, reading)
}

pub fn gamespy4_datagrams(datagrams: &[Text]) -> bool {
    let limits = Limits::default();
    let Ok(answer) = gamespy4::Answer::from_datagrams(bytes(datagrams), &limits) else {
        return false;
    };
    let Some(reading) = gamespy4_reading(&answer, datagrams) else {
        return false;
    };
    let is_complete = answer.completeness().is_complete();
    must_be_complete(datagrams, &reading, Some(is_complete));
    gamespy4_compare(&answer, datagrams, &reading)
}

fn gamespy4_fields(answer: &gamespy4::Answer) -> Fields {
    let table = |table: gamespy4::Table<'_>| -> Vec<Pairs> {
        table
            .rows()
            .map(|row| {
                row.fields()
                    .map(|(name, cell)| (name.to_vec(), cell.unwrap_or_default().to_vec()))
                    .collect()
            })
            .collect()
    };
    let mut fields = Fields {
        rules: owned(answer.rules()),
        players: table(answer.players()),
        teams: table(answer.teams()),
        ..Fields::default()
    };
    let status = answer.to_status();
    if answer.form() == gamespy4::Form::JustCause2 {
        let player = |player: &queryport::Player| {
            let steam_id = player.extra.get("steamid").expect("each has one");
            let ping = player.ping.expect("each has one");
            vec![
                (b"name".to_vec(), player.name.raw().to_vec()),
                (b"id".to_vec(), steam_id.raw().to_vec()),
                (b"ping".to_vec(), ping.to_string().into_bytes()),
            ]
        };
        fields.players = status.players.iter().map(player).collect();
    }
    with_names(fields, &status)
}
