//! GameSpy v1: fragments, joined answer, rows, model and encoder, compared with a `memchr` pass
//! over the same bytes.
#![allow(
    missing_docs,
    clippy::arithmetic_side_effects,
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a benchmark"
)]

use std::hint::black_box;
use std::time::Instant;

use bytes::Bytes;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use queryport::gamespy1::{Answer, Command, Request, Response};
use queryport::{Format, Protocol, Service};
use queryport::{Limits, Player, Requester, Secret, ServerStatus, ToStatus};

/// A server with this many players and the keys of UT99.
fn status(players: usize) -> ServerStatus {
    let mut status = ServerStatus::default();
    status.name = Some("A server with a name of usual length".into());
    status.map = Some("CTF-Face".into());
    status.game = Some("ut".into());
    status.game_type = Some("CTFGame".into());
    status.version = Some("451".into());
    status.max_players = Some(32);
    status.players = (0..players).map(player).collect();
    status.rules = (0..20)
        .map(|rule| (format!("a_rule{rule}"), format!("value {rule}")))
        .collect();
    status
}

fn player(number: usize) -> Player {
    let mut player = Player::new(format!("player name {number}"));
    (player.score, player.ping, player.team) = (Some(number as i64 * 7), Some(40), Some(1));
    for (key, value) in [("skin", "CommandoSkins.cmdo"), ("face", "")] {
        player.extra.push(key, value);
    }
    player
}

fn requester() -> Requester {
    let mut requester = Requester::new(
        "192.0.2.1:5000".parse().unwrap(),
        Instant::now(),
        Secret::new([7; 16]),
    );
    requester.number = 6;
    requester
}

fn datagrams(players: usize) -> Vec<Bytes> {
    let request = Request::new(&[Command::Status]);
    queryport::gamespy1::respond(
        &request,
        &status(players),
        &Service::new(Format::GameSpy1),
        &requester(),
    )
    .into_iter()
    .collect()
}

/// Reads every pair of every datagram.
fn walk(datagrams: &[Bytes], limits: &Limits) -> usize {
    datagrams
        .iter()
        .flat_map(|datagram| Response::parse(datagram, limits).unwrap().pairs())
        .map(|(key, value)| key.len() + value.len())
        .sum()
}

fn decode(c: &mut Criterion) {
    let limits = Limits::default();
    for players in [2, 32, 250] {
        let packets = datagrams(players);
        let bytes: usize = packets.iter().map(Bytes::len).sum();
        let name = format!(
            "gamespy1 {players} players, {} fragments, {bytes} bytes",
            packets.len()
        );
        let mut group = c.benchmark_group(name);
        group.throughput(Throughput::Bytes(bytes as u64));
        group.bench_function(BenchmarkId::from_parameter("memchr pass"), |b| {
            b.iter(|| kit::shapes::passes::count(b'\\', black_box(&packets)));
        });
        group.bench_function(BenchmarkId::from_parameter("memchr tokens"), |b| {
            b.iter(|| kit::shapes::passes::stops(b'\\', black_box(&packets)));
        });
        group.bench_function(BenchmarkId::from_parameter("view, all pairs read"), |b| {
            b.iter(|| walk(black_box(&packets), &limits));
        });
        group.bench_function(BenchmarkId::from_parameter("joined answer"), |b| {
            b.iter(|| {
                Answer::from_datagrams(black_box(&packets).iter().cloned(), &limits).unwrap()
            });
        });
        let answer = Answer::from_datagrams(packets.clone(), &limits).unwrap();
        assert!(answer.completeness().is_complete());
        group.bench_function(BenchmarkId::from_parameter("rows"), |b| {
            b.iter(|| black_box(&answer).players().len());
        });
        group.bench_function(BenchmarkId::from_parameter("model"), |b| {
            b.iter(|| black_box(&answer).to_status());
        });
        let status = status(players);
        let request = Request::new(&[Command::Status]);
        let (service, requester) = (Service::from(Protocol::GameSpy1), requester());
        group.bench_function(BenchmarkId::from_parameter("encode"), |b| {
            b.iter(|| {
                queryport::gamespy1::respond(&request, black_box(&status), &service, &requester)
            });
        });
    }
}

criterion_group!(benches, decode);
criterion_main!(benches);
