//! GameSpy v4: view, model and encoder, compared with a `memchr` pass over the same bytes.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "a benchmark"
)]

use std::hint::black_box;
use std::time::Instant;

use bytes::Bytes;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use queryport::gamespy4::{Answer, Command, Request, RequestId, Response, Selection, Table};
use queryport::{Format, Service};
use queryport::{Limits, Player, Requester, Secret, ServerStatus, Team, ToStatus};

/// A Battlefield 2 server of realistic size: 45 keys, 8 columns, names of about 16 bytes.
fn status(players: usize, rules: usize) -> ServerStatus {
    let mut status = ServerStatus::default();
    status.name = Some("a server with a name of usual length".into());
    status.map = Some("Strike At Karkand".into());
    status.game = Some("battlefield2".into());
    status.max_players = Some(64);
    let player = |number: usize| {
        let mut player = Player::new(format!(" player_name_{number:03}"));
        (player.score, player.ping) = (Some(90 - number as i64), Some(40));
        player.team = Some(1 + number as i32 % 2);
        player
            .extra
            .push("pid_", &(1_160_000 + number * 137).to_string());
        player
    };
    status.players = (0..players).map(player).collect();
    let team = |name: &str| {
        let mut team = Team::default();
        team.name = Some(name.into());
        team
    };
    status.teams = vec![team("MEC"), team("US")];
    status.rules = (0..rules)
        .map(|rule| (format!("bf2_setting_{rule:02}"), format!("value {rule}")))
        .collect();
    status
}

/// Name, server, format.
type Shape = (&'static str, ServerStatus, Format);

fn shapes() -> [Shape; 5] {
    [
        ("empty server", status(0, 37), Format::GameSpy4),
        ("64 players", status(64, 37), Format::GameSpy4),
        ("64 players, Minecraft", status(64, 0), Format::Minecraft),
        ("worst: 220 players", status(220, 20), Format::GameSpy4),
        ("10 players, GameSpy v2", status(10, 10), Format::GameSpy2),
    ]
}

/// Reads every value.
fn walk(answer: &Answer) -> usize {
    let keys: usize = answer
        .rules()
        .map(|(key, value)| key.len() + value.len())
        .sum();
    let cells = |table: Table<'_>| -> usize {
        table
            .rows()
            .flat_map(|row| row.fields())
            .map(|(_, value)| value.map_or(0, <[u8]>::len))
            .sum()
    };
    keys + cells(answer.players()) + cells(answer.teams())
}

fn decode(c: &mut Criterion) {
    let limits = Limits::default();
    let requester = Requester::new(
        "192.0.2.1:5000".parse().unwrap(),
        Instant::now(),
        Secret::new([1; 16]),
    );
    let id = RequestId::default();
    for (shape, status, engine) in shapes() {
        let service = Service::new(engine);
        let answer = |command| {
            queryport::gamespy4::respond(
                &Request::new(id, command),
                black_box(&status),
                &service,
                &requester,
            )
        };
        // A server of GameSpy v2 has no challenge.
        let challenge = answer(Command::Challenge).into_iter().next();
        let challenge = challenge.map(|datagram| match Response::parse(&datagram, &limits) {
            Ok(Response::Challenge { value, .. }) => value,
            other => panic!("{other:?}"),
        });
        let data = Command::Data {
            challenge,
            selection: Selection::ALL,
        };
        let datagrams: Vec<Bytes> = answer(data).into_iter().collect();
        let bytes: usize = datagrams.iter().map(Bytes::len).sum();
        let mut group = c.benchmark_group(format!(
            "gamespy4 {shape}, {bytes} bytes in {} datagrams",
            datagrams.len()
        ));
        group.throughput(Throughput::Bytes(bytes as u64));
        group.bench_function(BenchmarkId::from_parameter("memchr count"), |b| {
            b.iter(|| kit::shapes::passes::count(0, black_box(&datagrams)));
        });
        group.bench_function(BenchmarkId::from_parameter("memchr pass"), |b| {
            b.iter(|| kit::shapes::passes::stops(0, black_box(&datagrams)));
        });
        group.bench_function(BenchmarkId::from_parameter("read into an answer"), |b| {
            b.iter(|| Answer::from_datagrams(black_box(&datagrams).iter().cloned(), &limits));
        });
        let read = Answer::from_datagrams(datagrams.iter().cloned(), &limits).unwrap();
        group.bench_function(BenchmarkId::from_parameter("view, all of it read"), |b| {
            b.iter(|| walk(black_box(&read)));
        });
        group.bench_function(BenchmarkId::from_parameter("model"), |b| {
            b.iter(|| black_box(&read).to_status());
        });
        group.bench_function(BenchmarkId::from_parameter("encode"), |b| {
            b.iter(|| answer(data));
        });
    }
}

criterion_group!(benches, decode);
criterion_main!(benches);
