//! UT2004: view, model and encoder, compared with a `memchr` pass over the same bytes.
#![allow(
    missing_docs,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a benchmark"
)]

use std::hint::black_box;
use std::time::Instant;

use bytes::Bytes;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use queryport::model::{Charset, Colours, Style};
use queryport::ut2004::{Answer, Body, Command, Request, Response};
use queryport::{
    Limits, Player, Protocol, Requester, Secret, ServerStatus, Service, Text, ToStatus,
};

/// A server's replies to one request.
fn replies(command: Command, status: &ServerStatus, requester: &Requester) -> Vec<bytes::Bytes> {
    queryport::ut2004::respond(
        &Request::new(command),
        status,
        &Service::from(Protocol::Ut2004),
        requester,
    )
}

fn requester() -> Requester {
    Requester::new(
        ([192, 0, 2, 1], 5000).into(),
        Instant::now(),
        Secret::new([7; 16]),
    )
}

/// The datagrams of a server of realistic size, with this many rules and players.
fn packets(rules: usize, players: usize) -> (ServerStatus, Vec<Bytes>) {
    let style = Style::new(Charset::Latin1, Colours::UnrealEscape);
    let mut status = ServerStatus::default();
    status.name = Some(Text::new(
        b"\x1b\xf8\x40\x40A server of \x1b\xff\xff\xffsome length".to_vec(),
        style,
    ));
    status.map = Some("DM-Rankin".into());
    status.game_type = Some("xDeathMatch".into());
    status.rules.push("ServerMode", "dedicated");
    for rule in 1..rules {
        status
            .rules
            .push("Mutator", &format!("MutSomething{rule:02}"));
    }
    let player = |number: usize| {
        let mut player = Player::new(Text::new(
            format!("player name {number:02}").into_bytes(),
            style,
        ));
        (player.score, player.ping, player.team) =
            (Some(number as i64), Some(40), Some((number % 2) as i32));
        player
    };
    status.players = (0..players).map(player).collect();
    let commands = [Command::Info, Command::RulesAndPlayers];
    let packets = commands
        .map(|command| replies(command, &status, &requester()))
        .into_iter()
        .flatten()
        .collect();
    (status, packets)
}

/// Reads every value.
fn walk(packets: &[Bytes], limits: &Limits) -> (usize, i64) {
    let (mut bytes, mut score) = (0, 0);
    for packet in packets {
        match Response::parse(packet, limits).unwrap().body {
            Body::Info(info) => bytes += info.server_name.raw().len() + info.map_name.raw().len(),
            Body::Rules(rules) => {
                bytes += rules
                    .iter()
                    .map(|(key, value)| key.raw().len() + value.raw().len())
                    .sum::<usize>();
            }
            Body::Players(players) => {
                score += players
                    .iter()
                    .map(|p| i64::from(p.score) + p.name.raw().len() as i64)
                    .sum::<i64>();
            }
            _ => {}
        }
    }
    (bytes, score)
}

fn decode(c: &mut Criterion) {
    let limits = Limits::default();
    for (shape, rules, players) in [
        ("small", 15, 4),
        ("34 players", 45, 34),
        ("worst", 1000, 255),
    ] {
        let (status, packets) = packets(rules, players);
        let length: usize = packets.iter().map(Bytes::len).sum();
        let mut group = c.benchmark_group(format!(
            "ut2004 {shape}, {length} bytes in {} datagrams",
            packets.len()
        ));
        group.throughput(Throughput::Bytes(length as u64));
        group.bench_function(BenchmarkId::from_parameter("memchr pass"), |b| {
            b.iter(|| kit::shapes::passes::count(0, black_box(&packets)));
        });
        group.bench_function(BenchmarkId::from_parameter("memchr tokens"), |b| {
            b.iter(|| kit::shapes::passes::stops(0, black_box(&packets)));
        });
        group.bench_function(BenchmarkId::from_parameter("parse"), |b| {
            b.iter(|| {
                black_box(&packets)
                    .iter()
                    .filter(|packet| Response::parse(packet, &limits).is_ok())
                    .count()
            });
        });
        group.bench_function(BenchmarkId::from_parameter("view, all of it read"), |b| {
            b.iter(|| walk(black_box(&packets), &limits));
        });
        group.bench_function(BenchmarkId::from_parameter("answer from datagrams"), |b| {
            b.iter(|| Answer::from_datagrams(black_box(&packets).iter().cloned(), &limits));
        });
        let answer = Answer::from_datagrams(packets.clone(), &limits).unwrap();
        group.bench_function(BenchmarkId::from_parameter("model"), |b| {
            b.iter(|| black_box(&answer).to_status());
        });
        group.bench_function(BenchmarkId::from_parameter("encode"), |b| {
            let requester = requester();
            b.iter(|| replies(Command::RulesAndPlayers, black_box(&status), &requester));
        });
    }
}

criterion_group!(benches, decode);
criterion_main!(benches);
