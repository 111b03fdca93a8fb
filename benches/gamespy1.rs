//! GameSpy v1: fragments, joined answer, rows, model and encoder, beside a bare `memchr` pass over the same bytes.
#![allow(missing_docs, clippy::unwrap_used, clippy::arithmetic_side_effects, reason = "a benchmark")]

#[path = "shapes/passes.rs"]
mod passes;

use std::hint::black_box;

use bytes::Bytes;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use queryport::Limits;
use queryport::gamespy1::{Answer, Request, Response, RowKey, server};
use queryport::{Player, ServerStatus};

/// A server as full as its `players`, with the keys of UT99.
fn status(players: usize) -> ServerStatus {
    let mut status = ServerStatus::default();
    status.name = Some("A server with a name of usual length".into());
    status.map = Some("CTF-Face".into());
    status.game = Some("ut".into());
    status.game_type = Some("CTFGame".into());
    status.version = Some("451".into());
    status.max_players = Some(32);
    status.players = Some((0..players).map(player).collect());
    status.rules = (0..20).map(|rule| (format!("a_rule{rule}"), format!("value {rule}"))).collect();
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

fn datagrams(players: usize) -> Vec<Bytes> {
    let mut options = server::Options::default();
    options.dialect = server::Dialect::Qr1;
    server::answer(&Request::parse(br"\status\").unwrap(), &status(players), &options, 5)
}

/// Reads every pair of every datagram.
fn walk(datagrams: &[Bytes], limits: &Limits) -> usize {
    let view = |datagram| Response::parse(datagram, limits).unwrap().fields();
    datagrams
        .iter()
        .flat_map(|datagram| view(datagram).iter())
        .map(|(key, value)| key.len() + value.len())
        .sum()
}

/// The same, each key split into name and number.
fn walk_rows(datagrams: &[Bytes], limits: &Limits) -> usize {
    let view = |datagram| Response::parse(datagram, limits).unwrap().fields();
    datagrams
        .iter()
        .flat_map(|datagram| view(datagram).iter())
        .filter_map(|(key, value)| Some(RowKey::parse(key)?.name.len() + value.len()))
        .sum()
}

fn decode(c: &mut Criterion) {
    let limits = Limits::default();
    for players in [2, 32, 250] {
        let packets = datagrams(players);
        let bytes: usize = packets.iter().map(Bytes::len).sum();
        let name = format!("gamespy1 {players} players, {} fragments, {bytes} bytes", packets.len());
        let mut group = c.benchmark_group(name);
        group.throughput(Throughput::Bytes(bytes as u64));
        group.bench_function(BenchmarkId::from_parameter("memchr pass"), |b| {
            b.iter(|| passes::count(b'\\', black_box(&packets)));
        });
        group.bench_function(BenchmarkId::from_parameter("memchr tokens"), |b| {
            b.iter(|| passes::stops(b'\\', black_box(&packets)));
        });
        group.bench_function(BenchmarkId::from_parameter("view, all pairs read"), |b| {
            b.iter(|| walk(black_box(&packets), &limits));
        });
        group.bench_function(BenchmarkId::from_parameter("view, rows told apart"), |b| {
            b.iter(|| walk_rows(black_box(&packets), &limits));
        });
        group.bench_function(BenchmarkId::from_parameter("joined answer"), |b| {
            b.iter(|| Answer::from_datagrams(black_box(&packets).iter().cloned(), &limits).unwrap());
        });
        let answer = Answer::from_datagrams(packets.clone(), &limits).unwrap();
        assert!(answer.completeness().is_complete());
        group.bench_function(BenchmarkId::from_parameter("rows"), |b| {
            b.iter(|| black_box(&answer).rows().players().len());
        });
        group.bench_function(BenchmarkId::from_parameter("model"), |b| {
            b.iter(|| black_box(&answer).to_status());
        });
        let status = status(players);
        let request = Request::parse(br"\status\").unwrap();
        group.bench_function(BenchmarkId::from_parameter("encode"), |b| {
            b.iter(|| server::answer(&request, black_box(&status), &server::Options::default(), 5));
        });
    }
}

criterion_group!(benches, decode);
criterion_main!(benches);
