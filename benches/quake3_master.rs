//! Quake 3: lists, masters and connect datagrams, compared with a pass over the same bytes.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a benchmark"
)]

use std::hint::black_box;
use std::net::SocketAddr;
use std::time::Instant;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use queryport::Limits;
use queryport::Secret;
use queryport::lists::{ListPart, Quake3List};
use queryport::quake3::GetServers;
use queryport::quake3::master::{Master, Options};
use queryport::quake3::{Command, Request, huffman};
use queryport::session::{Conversation, Machine, Remaining};

fn servers(count: u32) -> impl Iterator<Item = SocketAddr> {
    (0..count).map(|n| SocketAddr::from((std::net::Ipv4Addr::from_bits(0x0B00_0000 + n), 27_960)))
}

fn lists(c: &mut Criterion) {
    let parts = ListPart::encode(servers(20_000), true);
    let part = &parts[0];
    let mut group = c.benchmark_group(format!("one part of a list, {} bytes", part.len()));
    group.throughput(Throughput::Bytes(part.len() as u64));
    group.bench_function("memchr pass", |b| {
        b.iter(|| memchr::memchr_iter(b'\\', black_box(part)).count())
    });
    group.bench_function("view, every address", |b| {
        b.iter(|| {
            let part = ListPart::parse(black_box(part)).unwrap();
            part.iter()
                .map(|server| u32::from(server.port()))
                .sum::<u32>()
        });
    });
    group.finish();

    let mut group = c.benchmark_group("20,000 servers");
    group.throughput(Throughput::Elements(20_000));
    group.bench_function("write the list", |b| {
        b.iter(|| ListPart::encode(servers(20_000), true))
    });
    let request = GetServers::extended(b"Test", 3);
    group.bench_function("collect the list", |b| {
        b.iter(|| {
            let mut query = Quake3List::new(&request, &Limits::default())
                .unwrap()
                .with_passes(1);
            parts.iter().for_each(|part| drop(query.receive(part)));
            query.timeout(Remaining::Step)
        });
    });
    group.finish();
}

fn master(c: &mut Criterion) {
    let now = Instant::now();
    let mut options = Options::default();
    options.max_servers = 20_000;
    let mut master = Master::new(Secret::new([1; 16]), options, now);
    let mut getinfo = Vec::new();
    let mut register = |server: SocketAddr| {
        master.handle_datagram(now, server, b"\xff\xff\xff\xffheartbeat DarkPlaces\n");
        getinfo.clear();
        master.poll_transmit(now, &mut getinfo).unwrap();
        let Command::GetInfo {
            challenge: Some(challenge),
        } = Request::parse(&getinfo).unwrap().command
        else {
            panic!()
        };
        let info: &[u8] =
            b"\xff\xff\xff\xffinfoResponse\n\\gamename\\Test\\protocol\\3\\clients\\1\\sv_maxclients\\8\\challenge\\";
        master.handle_datagram(now, server, &[info, challenge].concat());
    };
    servers(20_000).for_each(&mut register);
    let server = servers(10_000).last().unwrap();
    c.bench_function("master of 20,000: heartbeat, request, description", |b| {
        b.iter(|| register(server))
    });
    let from = "192.0.2.1:9".parse().unwrap();
    c.bench_function("master: a forged heartbeat", |b| {
        b.iter(|| {
            master.handle_datagram(
                now,
                from,
                black_box(b"\xff\xff\xff\xffheartbeat DarkPlaces\n"),
            );
            getinfo.clear();
            master.poll_transmit(now, &mut getinfo)
        });
    });
}

fn coding(c: &mut Criterion) {
    let userinfo = br#""\challenge\-1234567890\qport\4711\protocol\71\name\UnnamedPlayer\rate\25000\snaps\20\model\sarge\headmodel\sarge\team_model\james\team_headmodel\*james\color1\4\color2\5\handicap\100\sex\male\cl_anonymous\0""#;
    let mut coded = Vec::new();
    huffman::compress(userinfo, &mut coded).unwrap();
    let mut group = c.benchmark_group(format!("connect, {} bytes of userinfo", userinfo.len()));
    group.throughput(Throughput::Bytes(userinfo.len() as u64));
    group.bench_function("compress", |b| {
        b.iter(|| {
            let mut out = Vec::with_capacity(512);
            huffman::compress(black_box(userinfo), &mut out).map(|()| out)
        });
    });
    group.bench_function("decompress", |b| {
        b.iter(|| huffman::decompress(black_box(&coded), 1024))
    });
    group.finish();
}

criterion_group!(benches, lists, master, coding);
criterion_main!(benches);
