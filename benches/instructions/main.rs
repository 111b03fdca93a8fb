//! Instructions counted by callgrind, for what noise hides: `cargo bench --bench instructions`. Needs valgrind and
//! `cargo install gungraun-runner` of the version in Cargo.lock.
#![allow(missing_docs, clippy::unwrap_used, reason = "a benchmark")]

use std::hint::black_box;

use bytes::Bytes;
use gungraun::{library_benchmark, library_benchmark_group, main};
use queryport::quake3::{Answer, Command, Request, Response, server};
use queryport::{Limits, Replies, ServerStatus, ToStatus};

fn full() -> Bytes {
    queryport_benches::quake3(50, 64)
}

fn answer() -> Answer {
    let answer = Answer::from_datagrams([full()], &Limits::default()).unwrap();
    // The first sharing of bytes has a cost of its own.
    drop(answer.raw().clone());
    answer
}

#[library_benchmark]
#[bench::full(full())]
fn quake3_memchr(packet: Bytes) -> (usize, Bytes) {
    (black_box(queryport_benches::memchr_pass(black_box(&packet))), packet)
}

#[library_benchmark]
#[bench::full(full())]
fn quake3_parse(packet: Bytes) -> (bool, Bytes) {
    (black_box(Response::parse(black_box(&packet), &Limits::default()).is_ok()), packet)
}

#[library_benchmark]
#[bench::full(full())]
fn quake3_view(packet: Bytes) -> ((usize, i64), Bytes) {
    (black_box(queryport_benches::walk(black_box(&packet), &Limits::default())), packet)
}

#[library_benchmark]
#[bench::full(answer())]
fn quake3_model(answer: Answer) -> (ServerStatus, Answer) {
    (black_box(black_box(&answer).to_status()), answer)
}

#[library_benchmark]
#[bench::full(answer().to_status())]
fn quake3_encode(status: ServerStatus) -> (Replies, ServerStatus) {
    let requester = queryport_benches::requester();
    let request = Request::new(Command::GetStatus { challenge: Some(b"0123456789A") });
    (black_box(server::answer(&request, black_box(&status), &server::Options::default(), &requester)), status)
}

#[library_benchmark]
#[bench::typed_1_000(1_000, false)]
#[bench::typed_10_000(10_000, false)]
#[bench::typed_100_000(100_000, false)]
#[bench::model_10_000(10_000, true)]
fn scan(count: u32, model: bool) -> usize {
    black_box(queryport_benches::scan(count, 512, &queryport_benches::quake3(20, 10), model))
}

library_benchmark_group!(
    name = quake3,
    benchmarks = [quake3_memchr, quake3_parse, quake3_view, quake3_model, quake3_encode]
);
library_benchmark_group!(name = scanner, benchmarks = [scan]);
main!(library_benchmark_groups = [quake3, scanner]);
