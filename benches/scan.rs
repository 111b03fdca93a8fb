//! Scans in memory, without sockets. Each server answers with a Quake 3 status of 10 players and 20
//! rules.
#![allow(missing_docs, reason = "a benchmark")]

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

fn scans(c: &mut Criterion) {
    let reply = kit::shapes::quake3(20, 10);
    let mut group = c.benchmark_group("scan in memory, a window of 512");
    group.sample_size(10);
    for (what, count, model) in [
        ("typed", 10_000, false),
        ("typed", 100_000, false),
        ("normalised", 10_000, true),
    ] {
        group.throughput(Throughput::Elements(count.into()));
        group.bench_function(BenchmarkId::new(what, count), |b| {
            b.iter(|| assert_eq!(kit::shapes::scan(count, 512, &reply, model), count as usize));
        });
    }
    group.finish();
}

criterion_group!(benches, scans);
criterion_main!(benches);
