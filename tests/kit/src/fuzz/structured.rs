//! Statuses, requests, and scripts for responders, their guard, scanners and announcers.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use arbitrary::Unstructured;
use queryport::scan::Scanner;
use queryport::serve::{Announcer, GuardOptions, Responder};
use queryport::session::Machine;
use queryport::{
    Format, Limits, Protocol, QueryOptions, ScanOptions, Secret, Service, StatusQuery, Timing,
    gamespy1, gamespy4, inspect, quake3,
};

use super::script::{Event, Step};
use crate::served;

const SECRET: Secret = Secret::new([5; 16]);

/// A format of one of the protocols.
fn format(choice: u8) -> Format {
    use Format::*;
    let formats: &[Format] = match choice & 3 {
        0 => &[GameSpy1],
        1 => &[UnrealTournament3, GameSpy4, Minecraft, GameSpy2],
        2 => &[Quake3, Quake2, QuakeWorld],
        _ => &[Ut2004],
    };
    formats[usize::from(choice >> 2) % formats.len()]
}

/// Serves and queries a status: our client gets everything that the protocol carries.
pub fn served_status(data: &[u8]) {
    let mut u = Unstructured::new(data);
    let choice: u8 = u.arbitrary().unwrap_or_default();
    let Ok(mut status) = super::script::status(&mut u) else {
        return;
    };
    // Few enough that every protocol has space for all of them.
    if status.players.is_known() {
        status.players.to_mut().truncate(12);
    }
    status.rules = status
        .rules
        .iter()
        .take(12)
        .map(|(key, value)| (key.decoded().into_owned(), value.decoded().into_owned()))
        .collect();
    let format = format(choice);
    let received = served::received(format, &status);
    let difference = served::difference(format, &status, &received);
    assert_eq!(difference, None, "{format:?}");
}

/// Requests with all commands parse to the same after encoding.
pub fn requests(data: &[u8]) {
    let mut u = Unstructured::new(data);
    let Ok(choice) = u.arbitrary::<u8>() else {
        return;
    };
    let mut text = || {
        let length = usize::from(u.arbitrary::<u8>().unwrap_or_default() % 64).min(u.len());
        u.bytes(length).unwrap_or_default()
    };
    let (one, two, three) = (text(), text(), text());
    let some = |text| Some(text).filter(|text: &&[u8]| !text.is_empty());
    let mut out = Vec::new();
    {
        use gamespy1::Command;
        let all = [
            Command::Basic,
            Command::Echo(one),
            Command::Info,
            Command::Rules,
            Command::Players,
            Command::Status,
            Command::Packets,
            Command::Teams,
            Command::Secure(two),
            Command::LevelProperty(one),
            Command::GameProperty(two),
            Command::PlayerProperty(three),
            Command::Other {
                name: one,
                value: two,
            },
        ];
        let commands: Vec<Command<'_>> = three
            .iter()
            .take(6)
            .map(|&byte| all[usize::from(byte) % all.len()])
            .collect();
        let request = gamespy1::Request::new(&commands);
        // With the name of an end mark as a value, it looks like a reply.
        if request.encode(&mut out).is_ok()
            && let Ok(again) = gamespy1::Request::parse(&out)
        {
            // A name in another case is the same command.
            let mut rewritten = Vec::new();
            again
                .encode(&mut rewritten)
                .expect("what was read can be written");
            assert!(
                rewritten.eq_ignore_ascii_case(&out),
                "{}",
                out.escape_ascii()
            );
        }
    }
    out.clear();
    {
        use quake3::Command;
        let command = match choice % 11 {
            0 => Command::GetInfo {
                challenge: some(one),
            },
            1 => Command::GetStatus {
                challenge: some(one),
            },
            2 => Command::GetChallenge {
                client: some(one),
                game: some(two),
            },
            3 => Command::Heartbeat { tag: one },
            4 => Command::Ping,
            5 => Command::ShortPing,
            6 => Command::Status { flags: some(one) },
            7 => Command::Info { protocol: one },
            8 => Command::StatusHeartbeat { status: one },
            9 => Command::Shutdown,
            _ => Command::GetStatus { challenge: None },
        };
        let mut request = quake3::Request::new(command);
        request.direction_byte = choice & 0x80 != 0;
        if request.encode(&mut out).is_ok() {
            assert_eq!(
                quake3::Request::parse(&out),
                Ok(request),
                "{}",
                out.escape_ascii()
            );
        }
    }
    out.clear();
    {
        let id = gamespy4::RequestId([choice, 1, 2, 3]);
        let selections = [
            gamespy4::Selection::ALL,
            gamespy4::Selection::JUST_CAUSE_2,
            gamespy4::Selection::MINECRAFT_BASIC,
            gamespy4::Selection::MINECRAFT_FULL,
            gamespy4::Selection(one),
        ];
        let selection = selections[usize::from(choice) % 5];
        let command = match choice & 0x80 {
            0 => gamespy4::Command::Challenge,
            _ => gamespy4::Command::Data {
                challenge: Some(i32::from(choice) * -77_777),
                selection,
            },
        };
        let request = gamespy4::Request::new(id, command);
        request.encode(&mut out);
        assert_eq!(
            gamespy4::Request::parse(&out),
            Ok(request),
            "{}",
            out.escape_ascii()
        );
    }
}

/// Reads any bytes in all protocols.
pub fn inspected(data: &[u8]) {
    for candidate in inspect(data, &Limits::default()) {
        assert!(Protocol::ALL.contains(&candidate.protocol));
        assert!(
            candidate
                .problems
                .iter()
                .all(|problem| problem.offset <= data.len())
        );
        if let Err(error) = candidate.message {
            assert!(error.offset <= data.len());
        }
    }
}

/// A request that every server of a protocol answers.
fn request(index: u8) -> Vec<u8> {
    let all: [&[u8]; 9] = [
        br"\status\",
        br"\basic\\info\\rules\\players\",
        b"\xfe\xfd\x09\x01\x02\x03\x04",
        b"\xfe\xfd\x00\x01\x02\x03\x04\xff\xff\xff\x01",
        b"\xff\xff\xff\xffgetstatus",
        b"\xff\xff\xff\xffgetinfo xxx",
        b"\xff\xff\xff\xffgetchallenge",
        b"\x79\0\0\0\0",
        b"\x79\0\0\0\x03",
    ];
    all[usize::from(index) % all.len()].to_vec()
}

/// Sends requests from several addresses at any times. In no period does anybody receive more than
/// the guard allows.
pub fn responder(data: &[u8]) {
    let mut u = Unstructured::new(data);
    let choice: u8 = u.arbitrary().unwrap_or_default();
    let mut options = GuardOptions::default();
    options.bytes_per_second = u32::from(u.arbitrary::<u16>().unwrap_or(1000));
    options.burst = u32::from(u.arbitrary::<u16>().unwrap_or(4000));
    options.total_bytes_per_second = u32::from(u.arbitrary::<u16>().unwrap_or(9000)) * 4;
    let states = [super::script::status(&mut u), super::script::status(&mut u)]
        .map(|status| Arc::new(status.unwrap_or_default()));
    let steps = super::script::steps(&mut u);
    let start = Instant::now();
    let mut now = start;
    let mut responder = Responder::new(format(choice), Arc::clone(&states[0]), SECRET, now)
        .with_guard(Some(options));
    // Proved addresses, which exist in this protocol only, receive eight times as much.
    let has_proofs = choice & 3 == 1 || choice & 0x80 != 0;
    if choice & 0x80 != 0 {
        for other in 0..3 {
            responder = responder.with_service(format(choice.wrapping_add(other)));
        }
    }
    let factor: u64 = if has_proofs { 9 } else { 1 };
    let mut sent: BTreeMap<SocketAddr, u64> = BTreeMap::new();
    let (mut all, mut longest): (u64, u64) = (0, 0);
    let mut last: Option<Vec<u8>> = None;
    for step in &steps {
        now += step.wait;
        let from: SocketAddr = ([192, 0, step.sender & 3, 1 + (step.sender >> 2 & 3)], 5000).into();
        let mut datagram = match &step.event {
            Event::Raw(bytes) => bytes.clone(),
            Event::Reply { state, index } => {
                responder.set_status(Arc::clone(&states[usize::from(*state)]));
                request(*index)
            }
            // The token of the last challenge.
            Event::Again(_) => data_request(last.as_deref()),
        };
        step.damage.apply(&mut datagram);
        responder.handle_datagram(now, from, &datagram);
        let mut out = Vec::new();
        while let Some(transmit) = responder.poll_transmit(now, &mut out) {
            assert_eq!(
                (transmit.len, transmit.to),
                (out.len(), from),
                "answers go to who asked"
            );
            *sent.entry(from).or_default() += out.len() as u64;
            all += out.len() as u64;
            longest = longest.max(out.len() as u64);
            if out.first() == Some(&9) {
                last = Some(out.clone());
            }
            out.clear();
        }
        let seconds = |rate: u32| {
            (u64::from(rate) * now.duration_since(start).as_millis() as u64).div_ceil(1000)
        };
        // The capacity of a bucket, its leak so far, and a reply that overdraws it, once proved and
        // once not. The first datagram of a reply is sent even if it is longer than the burst.
        let burst = u64::from(options.burst);
        let reply = burst.max(longest);
        let allowed = (burst + seconds(options.bytes_per_second)) * factor + 2 * reply;
        assert!(
            sent.get(&from).copied().unwrap_or(0) <= allowed,
            "{sent:?}, {allowed} are allowed"
        );
        let total =
            u64::from(options.total_bytes_per_second / 4) + seconds(options.total_bytes_per_second);
        assert!(all <= total * factor + 3 * reply, "{all} of {total}");
    }
    assert_eq!(responder.stats().bytes_sent, all);
}

/// A request with the token of a challenge.
fn data_request(challenge: Option<&[u8]>) -> Vec<u8> {
    let Some(Ok(gamespy4::Response::Challenge { id, value, .. })) =
        challenge.map(|challenge| gamespy4::Response::parse(challenge, &Limits::default()))
    else {
        return request(3);
    };
    let selection = gamespy4::Selection::ALL;
    let command = gamespy4::Command::Data {
        challenge: Some(value),
        selection,
    };
    let mut out = Vec::new();
    gamespy4::Request::new(id, command).encode(&mut out);
    out
}

/// Many servers answer one scan. Every target ends once and in time, and no more queries are in
/// flight than the options allow.
pub fn scanner(data: &[u8]) {
    let mut u = Unstructured::new(data);
    let mut byte = || u.arbitrary::<u8>().unwrap_or_default();
    let (count, window, per_host, flags) = (byte(), byte(), byte(), byte());
    let window = usize::from(window % 40).max(1);
    let mut options = ScanOptions::default().with_window(window);
    options = options.with_per_host((per_host > 0).then_some(u16::from(per_host)));
    if flags & 1 != 0 {
        options = options.with_rate(Some(50));
    }
    if flags & 2 != 0 {
        options = options.with_bytes_per_second(Some(10_000));
    }
    let status = super::script::status(&mut u).unwrap_or_default();
    let steps = super::script::steps(&mut u);
    // Some servers share an address, and some targets occur twice.
    let at = |index: u8| SocketAddr::from(([192, 0, 2, index / 4], 7000 + u16::from(index % 3)));
    let start = Instant::now();
    let mut now = start;
    let targets: Vec<(SocketAddr, StatusQuery)> = (0..count)
        .map(|index| {
            let protocol = Protocol::ALL[usize::from(index) % Protocol::ALL.len()];
            (
                at(index),
                StatusQuery::new(protocol, index.into(), &QueryOptions::default()),
            )
        })
        .collect();
    let mut scanner = Scanner::new(targets, Timing::default(), options, now);
    if flags & 8 != 0 {
        scanner.set_receive_buffer(4096);
    }
    let mut servers: Vec<Responder> = (0..4)
        .map(|choice| Responder::new(format(choice), status.clone(), SECRET, now).with_guard(None))
        .collect();
    let mut requests: Vec<(SocketAddr, Vec<u8>)> = Vec::new();
    let mut ended = vec![false; usize::from(count)];
    let mut waits = 0;
    let mut steps = steps.iter();
    let client: SocketAddr = ([192, 0, 2, 200], 5000).into();
    while !scanner.is_finished() {
        let mut out = Vec::new();
        while let Some(transmit) = scanner.poll_transmit(now, &mut out) {
            requests.push((transmit.to, std::mem::take(&mut out)));
            assert!(
                requests.len() <= usize::from(count) * 40,
                "requests without end"
            );
        }
        let stats = scanner.stats();
        assert!(stats.started - stats.answered - stats.failed <= window as u64);
        while let Some(scanned) = scanner.poll_answer() {
            let index = scanned.index as usize;
            assert!(
                !std::mem::replace(&mut ended[index], true),
                "target {index} ended twice"
            );
        }
        let Some(step) = steps.next() else {
            let Some(alarm) = scanner.poll_timeout() else {
                continue;
            };
            waits += 1;
            assert!(waits < 100_000, "the scan does not end");
            now = alarm.max(now);
            scanner.handle_timeout(now);
            continue;
        };
        now += step.wait;
        scanner.handle_timeout(now);
        deliver(
            &mut scanner,
            &mut servers,
            &requests,
            step,
            now,
            client,
            at(step.sender),
        );
    }
    while let Some(scanned) = scanner.poll_answer() {
        ended[scanned.index as usize] = true;
    }
    assert!(ended.iter().all(|ended| *ended), "every target ends");
}

/// Delivers one datagram, or the answers to one request of the scan.
fn deliver(
    scanner: &mut Scanner<StatusQuery>,
    servers: &mut [Responder],
    requests: &[(SocketAddr, Vec<u8>)],
    step: &Step,
    now: Instant,
    client: SocketAddr,
    sender: SocketAddr,
) {
    let (from, request) = match &step.event {
        Event::Raw(bytes) => {
            scanner.handle_datagram(now, sender, bytes);
            return;
        }
        Event::Again(9) => {
            scanner.handle_unreachable(now, sender);
            return;
        }
        Event::Again(8) => {
            scanner.handle_drops();
            return;
        }
        Event::Reply { index, .. } | Event::Again(index) => {
            let Some(request) = requests.iter().nth_back(usize::from(*index)) else {
                return;
            };
            request
        }
    };
    for server in servers {
        server.handle_datagram(now, client, request);
        let mut out = Vec::new();
        while server.poll_transmit(now, &mut out).is_some() {
            let mut datagram = std::mem::take(&mut out);
            step.damage.apply(&mut datagram);
            scanner.handle_datagram(now, *from, &datagram);
        }
    }
}

/// Heartbeats go only to the masters, and at most every ten seconds unless the state changes, for
/// any received datagrams.
pub fn announcer(data: &[u8]) {
    let mut u = Unstructured::new(data);
    let flags: u8 = u.arbitrary().unwrap_or_default();
    let Ok(mut status) = super::script::status(&mut u) else {
        return;
    };
    status.game = Some("ut".into());
    (status.player_count, status.max_players) = (Some(0), Some(8));
    let steps = super::script::steps(&mut u);
    let mut now = Instant::now();
    let masters: Vec<SocketAddr> = (0..flags >> 2)
        .map(|n| ([192, 0, 2, n], 27_950).into())
        .collect();
    let to = masters.iter().copied();
    let made = match flags & 3 {
        0 => {
            let service = Service::from(Protocol::Quake3);
            Announcer::quake3("DarkPlaces", to, &status, service, now)
        }
        1 => Announcer::gamespy1(7778, to, &status, now),
        2 => Ok(Announcer::quake2(to, &status, now)),
        _ => Ok(Announcer::quake_world(to, &status, now)),
    };
    let Ok(mut announcer) = made else { return };
    for step in &steps {
        now += step.wait;
        announcer.handle_timeout(now);
        let from: SocketAddr = ([192, 0, 2, step.sender], 27_950).into();
        match &step.event {
            Event::Raw(bytes) => {
                announcer.handle_datagram(now, from, bytes);
            }
            Event::Reply { index, .. } => {
                announcer.handle_datagram(now, from, &request(*index));
            }
            Event::Again(0) => announcer.close(),
            Event::Again(count) => {
                status.player_count = Some(u32::from(*count));
                let _ = announcer.set_status(now, &status);
            }
        }
        let mut out = Vec::new();
        let mut heartbeats = 0;
        while let Some(transmit) = announcer.poll_transmit(now, &mut out) {
            heartbeats += 1;
            assert!(
                masters.contains(&transmit.to) && transmit.len == out.len() && out.len() <= 1_400
            );
            assert!(heartbeats <= 64, "heartbeats without end");
            out.clear();
        }
        while let Some(master) = announcer.poll_event() {
            assert!(masters.contains(&master), "{master} is not a master");
        }
    }
}

/// Any text finds a game, or an error with a few suggestions. Each suggestion is found by its name.
pub fn games(data: &[u8]) {
    use queryport::games::Game;
    let text = String::from_utf8_lossy(data);
    match Game::find(&text) {
        Ok(game) => assert!(Game::find(game.id).is_ok_and(|again| again.id == game.id)),
        Err(unknown) => {
            assert!(unknown.suggestions().len() <= 16);
            assert!(unknown.to_string().len() <= text.len() * 12 + 1024);
            for game in unknown.suggestions() {
                assert!(Game::find(game.id).is_ok_and(|again| again.id == game.id));
            }
        }
    }
}
