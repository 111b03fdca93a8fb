//! Quake 3: view, model and encoder, compared with a `memchr` pass over the same bytes.
#![allow(missing_docs, clippy::unwrap_used, reason = "a benchmark")]

use std::hint::black_box;

use bytes::Bytes;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use kit::shapes::{memchr_pass, quake_world, quake2, quake3, requester, walk};
use queryport::quake3::{Answer, Command, Request, Response};
use queryport::{Format, Limits, Service, ToStatus};

/// A small server, a full one, and the longest infostring with more players than any game allows;
/// then a usual server of Quake 2 and one of QuakeWorld.
fn shapes() -> [(&'static str, Bytes, Format); 5] {
    [
        ("small", quake3(20, 4), Format::Quake3),
        ("64 players", quake3(50, 64), Format::Quake3),
        ("worst", quake3(450, 255), Format::Quake3),
        ("Quake 2", quake2(10), Format::Quake2),
        ("QuakeWorld", quake_world(10), Format::QuakeWorld),
    ]
}

/// The request that clients of this engine send.
fn request(engine: Format) -> Request<'static> {
    Request::new(match engine {
        Format::Quake2 => Command::Status { flags: None },
        Format::QuakeWorld => Command::Status {
            flags: Some(b"255"),
        },
        _ => Command::GetStatus {
            challenge: Some(b"0123456789A"),
        },
    })
}

fn decode(c: &mut Criterion) {
    let limits = Limits::default();
    for (shape, packet, engine) in shapes() {
        let mut group = c.benchmark_group(format!("quake3 {shape}, {} bytes", packet.len()));
        group.throughput(Throughput::Bytes(packet.len() as u64));
        group.bench_function(BenchmarkId::from_parameter("memchr pass"), |b| {
            b.iter(|| memchr_pass(black_box(&packet)));
        });
        group.bench_function(BenchmarkId::from_parameter("parse"), |b| {
            b.iter(|| {
                Response::parse(black_box(&packet), &limits).map(|response| response.detail())
            });
        });
        group.bench_function(BenchmarkId::from_parameter("view, all of it read"), |b| {
            b.iter(|| walk(black_box(&packet), &limits));
        });
        let answer = Answer::from_datagrams([packet.clone()], &limits).unwrap();
        group.bench_function(BenchmarkId::from_parameter("model"), |b| {
            b.iter(|| black_box(&answer).to_status());
        });
        let (status, requester) = (answer.to_status(), requester());
        let (request, service) = (request(engine), Service::new(engine));
        group.bench_function(BenchmarkId::from_parameter("encode"), |b| {
            b.iter(|| {
                queryport::quake3::respond(&request, black_box(&status), &service, &requester)
            });
        });
    }
}

criterion_group!(benches, decode);
criterion_main!(benches);
