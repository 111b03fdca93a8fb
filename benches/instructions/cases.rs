//! The cases whose instructions are counted.

use std::cell::RefCell;
use std::hint::black_box;
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use bytes::Bytes;
use queryport::serve::Responder;
use queryport::session::{Conversation, Machine, OnTimeout, Remaining, Verdict};
use queryport::{
    Dialect, Format, Limits, Player, Protocol, QueryOptions, Secret, ServerStatus, Service,
    ToStatus, gamespy1, gamespy4, quake3, ut2004,
};

use kit::shapes;

use crate::datagrams;

/// Runs the work twice and counts the second run, to exclude initialisation and dropping the
/// result.
///
/// A second argument of the program selects one case, for a profile.
fn case<T>(name: &str, work: impl Fn() -> T) {
    if std::env::args().nth(2).is_some_and(|only| only != name) {
        return;
    }
    drop(black_box(work()));
    let mut output = None;
    counted(&mut || output = Some(work()));
    drop(black_box(output));
    println!("{name}");
}

/// Callgrind counts only in this function.
#[inline(never)]
pub fn counted(work: &mut dyn FnMut()) {
    written(work);
    // Without an instruction after the call, it would become a jump that does not return here.
    black_box(());
}

/// Callgrind writes its count at the end of this function, but only if it counts the call.
#[inline(never)]
fn written(work: &mut dyn FnMut()) {
    black_box(work)();
    black_box(());
}

/// Queries a server that answers each request with `replies`.
fn query<C: Conversation>(
    mut query: C,
    replies: impl Fn(&[u8], &mut dyn FnMut(&[u8])),
) -> C::Answer {
    let mut request = Vec::with_capacity(64);
    let mut answer = None;
    for _ in 0..16 {
        request.clear();
        query.request(&mut request);
        let mut is_next = false;
        replies(&request, &mut |datagram| match query.receive(datagram) {
            Verdict::Done(done) => answer = Some(done),
            Verdict::Rejected(error) => panic!("{error}"),
            Verdict::Next => is_next = true,
            Verdict::Partial(_) => {}
        });
        if is_next {
            continue;
        }
        if let Some(answer) = answer.take() {
            return answer;
        }
        // After a silence, a reply without an end counts as complete.
        if let OnTimeout::Done(answer) = query.timeout(Remaining::Retry) {
            return answer;
        }
    }
    panic!("no answer");
}

fn cloned(packets: &[Bytes]) -> impl Iterator<Item = Bytes> {
    packets.iter().cloned()
}

fn bytes<'a>(pairs: impl Iterator<Item = (&'a [u8], &'a [u8])>) -> usize {
    pairs.map(|(key, value)| key.len() + value.len()).sum()
}

fn quake3(shape: &str, packets: &[Bytes], dialect: Dialect) {
    let limits = Limits::default();
    let options = QueryOptions::default()
        .with_limits(limits)
        .with_dialect(dialect);
    let parse = || quake3::Response::parse(&packets[0], &limits).unwrap();
    case(&format!("quake3 {shape} floor"), || {
        shapes::memchr_pass(&packets[0])
    });
    case(&format!("quake3 {shape} parse"), || parse().detail());
    case(&format!("quake3 {shape} view"), || {
        shapes::walk(&packets[0], &limits)
    });
    case(&format!("quake3 {shape} query"), || {
        query(quake3::StatusQuery::new(7, &options), |_, receive| {
            receive(&packets[0])
        })
    });
    let answer = quake3::Answer::from_datagrams(cloned(packets), &limits).unwrap();
    case(&format!("quake3 {shape} completeness"), || {
        answer.completeness()
    });
    case(&format!("quake3 {shape} status"), || answer.to_status());
}

fn gamespy1(shape: &str, packets: &[Bytes]) {
    let limits = Limits::default();
    let parse = |packet| gamespy1::Response::parse(packet, &limits).unwrap();
    case(&format!("gamespy1 {shape} floor"), || {
        shapes::passes::stops(b'\\', packets)
    });
    case(&format!("gamespy1 {shape} parse"), || {
        packets
            .iter()
            .map(|packet| parse(packet).raw().len())
            .sum::<usize>()
    });
    case(&format!("gamespy1 {shape} view"), || {
        packets
            .iter()
            .map(|packet| bytes(parse(packet).pairs()))
            .sum::<usize>()
    });
    case(&format!("gamespy1 {shape} query"), || {
        query(
            gamespy1::StatusQuery::new(7, &QueryOptions::default().with_limits(limits)),
            |_, receive| packets.iter().for_each(|packet| receive(packet)),
        )
    });
    let answer = gamespy1::Answer::from_datagrams(cloned(packets), &limits).unwrap();
    assert!(answer.completeness().is_complete());
    case(&format!("gamespy1 {shape} status"), || answer.to_status());
}

fn gamespy4(shape: &str, packets: &[Bytes], dialect: Dialect) {
    let limits = Limits::default();
    let options = QueryOptions::default()
        .with_limits(limits)
        .with_dialect(dialect);
    let answer = || gamespy4::Answer::from_datagrams(cloned(packets), &limits).unwrap();
    case(&format!("gamespy4 {shape} floor"), || {
        shapes::passes::stops(0, packets)
    });
    case(&format!("gamespy4 {shape} parse"), || {
        packets
            .iter()
            .filter(|packet| gamespy4::Response::parse(packet, &limits).is_ok())
            .count()
    });
    case(&format!("gamespy4 {shape} read"), answer);
    let read = answer();
    assert!(read.completeness().is_complete());
    case(&format!("gamespy4 {shape} view"), || {
        let cells = |table: gamespy4::Table<'_>| -> usize {
            table
                .rows()
                .flat_map(|row| row.fields())
                .map(|(_, value)| value.map_or(0, <[u8]>::len))
                .sum()
        };
        bytes(read.rules()) + cells(read.players()) + cells(read.teams())
    });
    // The client chooses the id, and every reply repeats it.
    let mut id = Vec::new();
    gamespy4::StatusQuery::new(7, &options).request(&mut id);
    let own = |packet: &Bytes| [&packet[..1], &id[3..7], &packet[5..]].concat();
    let replies: Vec<Vec<u8>> = packets.iter().map(own).collect();
    let challenge = [b"\x09", &id[3..7], b"123456\0"].concat();
    case(&format!("gamespy4 {shape} query"), || {
        query(
            gamespy4::StatusQuery::new(7, &options),
            |request, receive| {
                if request[2] == 9 {
                    receive(&challenge)
                } else {
                    replies.iter().for_each(|packet| receive(packet))
                }
            },
        )
    });
    case(&format!("gamespy4 {shape} status"), || read.to_status());
}

fn ut2004_walk(packet: &[u8], limits: &Limits) -> usize {
    match ut2004::Response::parse(packet, limits).unwrap().body {
        ut2004::Body::Info(info) => info.server_name.raw().len() + info.map_name.raw().len(),
        ut2004::Body::Rules(rules) => {
            bytes(rules.iter().map(|(key, value)| (key.raw(), value.raw())))
        }
        ut2004::Body::Players(players) => {
            players.iter().map(|player| player.name.raw().len()).sum()
        }
        _ => 0,
    }
}

fn ut2004(shape: &str, packets: &[Bytes]) {
    let limits = Limits::default();
    case(&format!("ut2004 {shape} floor"), || {
        shapes::passes::stops(0, packets)
    });
    case(&format!("ut2004 {shape} parse"), || {
        packets
            .iter()
            .filter(|packet| ut2004::Response::parse(packet, &limits).is_ok())
            .count()
    });
    case(&format!("ut2004 {shape} view"), || {
        packets
            .iter()
            .map(|packet| ut2004_walk(packet, &limits))
            .sum::<usize>()
    });
    case(&format!("ut2004 {shape} query"), || {
        query(
            ut2004::StatusQuery::new(7, &QueryOptions::default().with_limits(limits)),
            |request, receive| {
                let asked = request[4];
                let wanted = |packet: &&Bytes| packet[4] == asked || asked == 3 && packet[4] > 0;
                packets
                    .iter()
                    .filter(wanted)
                    .for_each(|packet| receive(packet));
            },
        )
    });
    let read = || ut2004::Answer::from_datagrams(cloned(packets), &limits).unwrap();
    case(&format!("ut2004 {shape} read"), read);
    let answer = read();
    case(&format!("ut2004 {shape} status"), || answer.to_status());
}

/// Replies with more datagrams than real ones: twice the datagrams must cost twice the work.
fn many(limits: &Limits) {
    for count in [64, 128, 256] {
        let packets = datagrams::ut2004_rules(count);
        assert_eq!(packets.len(), count);
        case(&format!("ut2004 {count} datagrams read"), || {
            ut2004::Answer::from_datagrams(cloned(&packets), limits)
        });
    }
    for rules in [300, 600] {
        let packets = datagrams::gamespy1(rules, 0, Some(150));
        case(
            &format!("gamespy1 {} unnumbered parts", packets.len()),
            || {
                query(
                    gamespy1::StatusQuery::new(7, &QueryOptions::default().with_limits(*limits)),
                    |_, receive| {
                        packets.iter().for_each(|packet| receive(packet));
                    },
                )
            },
        );
    }
}

/// A forged request that gets no reply. Either its source has received its share, or all sources
/// together have received the total, and each request has a new source. As many sources as possible
/// are regular.
fn forged(name: &str, service: Service, request: &[u8]) {
    let mut now = Instant::now();
    let mut status = ServerStatus::default();
    status.players = (0..24)
        .map(|n| Player::new(format!("Player number {n}")))
        .collect();
    let mut responder = Responder::new(service, status, Secret::new([5; 16]), now);
    for n in 0..400_u32 {
        now += Duration::from_millis(200);
        let regular = SocketAddr::from(([10, 200, (n % 100) as u8, 1], 9));
        responder.handle_datagram(now, regular, request);
        while responder.poll_transmit(now, &mut Vec::new()).is_some() {}
    }
    let mut ask = |from: IpAddr| {
        responder.handle_datagram(now, SocketAddr::new(from, 9), request);
        while responder.poll_transmit(now, &mut Vec::new()).is_some() {}
        responder.stats()
    };
    let victim = IpAddr::from([203, 0, 113, 9]);
    while ask(victim).limited_by_source == 0 {}
    let ask = RefCell::new(ask);
    case(
        &format!("{name}: a forged request, limited by its source"),
        || ask.borrow_mut()(victim),
    );
    let others = RefCell::new((0..).map(|n: u32| {
        IpAddr::from((0x0a00_0000 | n.wrapping_mul(40_503) & 0xff_ffff).to_be_bytes())
    }));
    let next = || ask.borrow_mut()(others.borrow_mut().next().unwrap());
    while next().limited_by_total < 10_000 {}
    case(
        &format!("{name}: a forged request, limited by the total"),
        next,
    );
}

/// A reply that is encoded for one request only: keys that no other client requests.
fn keys_by_id() {
    let now = Instant::now();
    let mut status = ServerStatus::default();
    status.players = (0..24)
        .map(|n| Player::new(format!("Player number {n}")))
        .collect();
    status.rules = (0..40)
        .map(|n| (format!("sv_rule{n}"), "value of a rule"))
        .collect();
    let service = Service::new(Format::GameSpy2);
    let responder = Responder::new(service, status, Secret::new([5; 16]), now).with_guard(None);
    let responder = RefCell::new(responder);
    case("gamespy2: a reply with one key by its id", || {
        let mut responder = responder.borrow_mut();
        let from = SocketAddr::from(([203, 0, 113, 9], 9));
        responder.handle_datagram(now, from, b"\xfe\xfd\0\x01\x02\x03\x04\x01\x0c\0\0");
        responder.poll_transmit(now, &mut Vec::with_capacity(64))
    });
}

/// Runs all cases. Prints their names in the order of the counts.
pub fn run() {
    let limits = Limits::default();
    quake3("usual", &datagrams::quake3(0, 10), Dialect::Standard);
    quake3("full", &datagrams::quake3(20, 64), Dialect::Standard);
    quake3("quake2 usual", &[shapes::quake2(10)], Dialect::Quake2);
    quake3(
        "quakeworld usual",
        &[shapes::quake_world(10)],
        Dialect::QuakeWorld,
    );
    gamespy1("usual", &datagrams::gamespy1(10, 10, None));
    gamespy1("full", &datagrams::gamespy1(40, 64, None));
    gamespy4("usual", &datagrams::gamespy4(20, 24), Dialect::Standard);
    gamespy4("full", &datagrams::gamespy4(40, 64), Dialect::Standard);
    gamespy4(
        "minecraft usual",
        &datagrams::minecraft(10),
        Dialect::Standard,
    );
    gamespy4(
        "minecraft full",
        &datagrams::minecraft(64),
        Dialect::Standard,
    );
    gamespy4("gamespy2 usual", &[shapes::gamespy2(10)], Dialect::GameSpy2);
    ut2004("usual", &datagrams::ut2004(10, 16));
    ut2004("full", &datagrams::ut2004(40, 64));
    many(&limits);
    let reply = &datagrams::quake3(0, 10)[0];
    case("scan of 1,000 quake3 servers, typed", || {
        shapes::scan(1_000, 512, reply, false)
    });
    case("scan of 1,000 quake3 servers, model", || {
        shapes::scan(1_000, 512, reply, true)
    });
    keys_by_id();
    forged("gamespy1", Protocol::GameSpy1.into(), br"\status\");
    forged(
        "gamespy4",
        Protocol::GameSpy4.into(),
        b"\xfe\xfd\x09\x01\x02\x03\x04",
    );
    let gamespy2 = Service::new(Format::GameSpy2);
    forged(
        "gamespy2",
        gamespy2,
        b"\xfe\xfd\0\x01\x02\x03\x04\xff\xff\xff",
    );
    forged(
        "quake3",
        Protocol::Quake3.into(),
        b"\xff\xff\xff\xffgetstatus",
    );
    forged("ut2004", Protocol::Ut2004.into(), b"\x79\0\0\0\x03");
}
