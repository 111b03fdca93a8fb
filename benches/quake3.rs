//! Quake 3: view, model and encoder, beside a bare `memchr` pass over the same bytes.
#![allow(missing_docs, clippy::unwrap_used, clippy::arithmetic_side_effects, reason = "a benchmark")]

use std::hint::black_box;

use bytes::Bytes;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use queryport::limits::Limits;
use queryport::quake3::{Answer, Command, Request, Response, server};

/// A `statusResponse` with the sizes of real ones: `rules` of 8 + 8 bytes, `players` of 25 bytes.
fn packet(rules: usize, players: usize) -> Bytes {
    let mut packet = b"\xff\xff\xff\xffstatusResponse\n".to_vec();
    for rule in 0..rules {
        packet.extend_from_slice(format!("\\g_rule{rule:02}\\value_{rule:02}").as_bytes());
    }
    packet.push(b'\n');
    for player in 0..players {
        let name = format!("^{}player^7name {player:02}", player % 8);
        packet.extend_from_slice(format!("{player} {} \"{name}\"\n", 20 + player).as_bytes());
    }
    packet.into()
}

/// Small, full, and the longest infostring with more players than any game has.
fn shapes() -> [(&'static str, Bytes); 3] {
    [("small", packet(20, 4)), ("64 players", packet(50, 64)), ("worst", packet(450, 255))]
}

/// What the memory can do: every separator of the format found, nothing made of it.
fn memchr_pass(bytes: &[u8]) -> usize {
    memchr::memchr2_iter(b'\\', b'\n', bytes).count()
}

/// Reads everything there is to read.
fn walk(packet: &[u8], limits: &Limits) -> (usize, i64) {
    let response = Response::parse(packet, limits).unwrap();
    let keys = response.info().iter().map(|(key, value)| key.len() + value.len()).sum::<usize>();
    let lines = response.players().map(|line| line.score().unwrap_or(0) + line.name().len() as i64).sum();
    (keys, lines)
}

fn decode(c: &mut Criterion) {
    let limits = Limits::default();
    for (shape, packet) in shapes() {
        let mut group = c.benchmark_group(format!("quake3 {shape}, {} bytes", packet.len()));
        group.throughput(Throughput::Bytes(packet.len() as u64));
        group.bench_function(BenchmarkId::from_parameter("memchr pass"), |b| {
            b.iter(|| memchr_pass(black_box(&packet)));
        });
        group.bench_function(BenchmarkId::from_parameter("parse"), |b| {
            b.iter(|| Response::parse(black_box(&packet), &limits).map(|response| response.kind()));
        });
        group.bench_function(BenchmarkId::from_parameter("view, all of it read"), |b| {
            b.iter(|| walk(black_box(&packet), &limits));
        });
        let answer = Answer::from_datagrams([packet.clone()], &limits).unwrap();
        group.bench_function(BenchmarkId::from_parameter("model"), |b| {
            b.iter(|| black_box(&answer).to_status());
        });
        let status = answer.to_status();
        let request = Request::new(Command::GetStatus { challenge: Some(b"0123456789A") });
        group.bench_function(BenchmarkId::from_parameter("encode"), |b| {
            b.iter(|| server::answer(&request, black_box(&status), &server::Options::default()));
        });
    }
}

criterion_group!(benches, decode);
criterion_main!(benches);
