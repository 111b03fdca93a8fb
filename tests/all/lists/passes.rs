//! A list over UDP: a plain model says what it holds and how complete it is, for random datagrams of
//! all forms, in any number of passes.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use queryport::lists::{ListCompleteness, Quake3List, Scope};
use queryport::quake3::GetServers;
use queryport::session::{Conversation, OnTimeout, Remaining, Verdict, Wait};
use queryport::{Limits, ServerList};

use crate::common::at;
use crate::common::link::Random;

/// The forms of a datagram. The number is that of the request that each answers: 0 `getservers`,
/// 1 `getserversExt`, 2 Quake 2, 3 QuakeWorld. Quetoo answers `getservers` as Quake 2 does.
const FORMS: [(&[u8], &[usize]); 5] = [
    (b"getserversResponse", &[0]),
    (b"getserversExtResponse", &[1]),
    (b"servers ", &[0, 2]),
    (b"d\n", &[3]),
    // Addresses in hexadecimal digits.
    (b"getserversResponse", &[0]),
];
const EXTENDED: usize = 1;
const HEXADECIMAL: usize = 4;

/// Addresses, and how many scopes admit each.
const ADDRESSES: [(&str, usize); 7] = [
    ("8.8.8.8:5", 3),
    ("10.0.0.1:5", 2),
    ("127.0.0.1:5", 1),
    ("[::1]:5", 1),
    ("224.0.0.1:5", 0),
    ("8.8.8.8:0", 0),
    ("[::ffff:8.8.8.8]:6", 3),
];
const SCOPES: [Scope; 3] = [Scope::Any, Scope::Lan, Scope::Public];

/// A datagram of a list.
struct Part {
    bytes: Vec<u8>,
    form: usize,
    /// The addresses as written, and how many scopes admit each.
    addresses: Vec<(SocketAddr, usize)>,
    has_end: bool,
    is_cut: bool,
    /// Its number, and how many there are.
    number: Option<(u16, u16)>,
}

impl Part {
    fn new(form: usize, damage: f64, random: &mut Random) -> Self {
        let count = [0, 1, 2, 4, 4, 4, 4, 190, 196][random.below(9) as usize];
        // Datagrams share some addresses or none.
        let first_port = [1, 1, 300, 600][random.below(4) as usize];
        let addresses = (0..count).map(|number| match random.below(4) {
            0 => {
                let (address, scopes) = ADDRESSES[random.below(7) as usize];
                (at(address), scopes)
            }
            _ => (
                ([8, 8, 4, 4], first_port + number + random.below(3) as u16).into(),
                3,
            ),
        });
        let addresses = addresses.filter(|(address, _)| form == EXTENDED || address.is_ipv4());
        let mut part = Self {
            bytes: [b"\xff\xff\xff\xff", FORMS[form].0].concat(),
            form,
            addresses: addresses.collect(),
            has_end: false,
            is_cut: random.chance(damage),
            number: None,
        };
        if form == EXTENDED && random.chance(0.5) {
            // A number over the count is of no datagram of the list.
            let count: u16 = [1, 2, 3, 257, 258][random.below(5) as usize];
            let index = 1 + random.below(count.min(3).into()) as u16;
            let index = index + [0, 0, 0, 256][random.below(4) as usize];
            part.number = Some((index, count));
            part.bytes.extend(format!("\0{index}\0{count}\0").bytes());
        }
        for (address, _) in &part.addresses {
            let port = address.port().to_be_bytes();
            let (mark, ip) = match address {
                SocketAddr::V4(v4) => (b'\\', v4.ip().octets().to_vec()),
                SocketAddr::V6(v6) => (b'/', v6.ip().octets().to_vec()),
            };
            part.bytes
                .extend([mark].iter().filter(|_| ![2, 3].contains(&form)));
            let packed = [&ip[..], &port].concat();
            part.bytes.extend(if form == HEXADECIMAL {
                hex::encode(packed).into_bytes()
            } else {
                packed
            });
        }
        let end = match random.below(4) {
            _ if part.is_cut => &b"\\\x01\x02"[..],
            0 if ![2, 3].contains(&form) => {
                part.has_end = true;
                b"\\EOT\0\0\0"
            }
            // Activision's masters end each datagram with it.
            1 if ![2, 3].contains(&form) => b"\\EOT",
            _ => b"",
        };
        part.bytes.extend(end);
        part
    }
}

#[derive(Debug, PartialEq)]
enum Said {
    Rejected,
    Wait(Wait),
    Retry,
    Next,
    Done(ServerList),
}

/// One pass.
#[derive(Default)]
struct Pass {
    parts: usize,
    has_end: bool,
    is_cut: bool,
    count: Option<u16>,
    arrived: BTreeSet<u16>,
}

impl Pass {
    fn is_whole(&self) -> Option<bool> {
        let count = self.count?;
        Some(self.arrived.range(1..=count).count() == usize::from(count))
    }
}

/// The plain model.
#[derive(Default)]
struct Model {
    request: usize,
    max_servers: usize,
    max_passes: u8,
    /// The place of the scope in [`SCOPES`].
    scope: usize,
    list: ServerList,
    /// The passes in which each address came.
    passes_of: BTreeMap<SocketAddr, BTreeSet<u8>>,
    passes: u8,
    pass: Pass,
    has_false_marks: bool,
    is_cut: bool,
}

impl Model {
    fn done(&mut self, completeness: ListCompleteness) -> Said {
        self.list.completeness = completeness;
        Said::Done(self.list.clone())
    }

    fn receive(&mut self, part: &Part) -> Said {
        if !FORMS[part.form].1.contains(&self.request) {
            return Said::Rejected;
        }
        for (address, scopes) in &part.addresses {
            let address = &SocketAddr::new(address.ip().to_canonical(), address.port());
            let is_in_scope = *scopes > self.scope;
            let known = match is_in_scope {
                true => self.list.servers.len(),
                false => self.list.out_of_scope as usize,
            };
            if let Some(passes) = self.passes_of.get_mut(address) {
                passes.insert(self.passes);
            } else if known == self.max_servers {
                self.list.over_limit += 1;
            } else {
                self.passes_of
                    .insert(*address, BTreeSet::from([self.passes]));
                match is_in_scope {
                    true => self.list.servers.push(*address),
                    false => self.list.out_of_scope += 1,
                }
            }
        }
        let pass = &mut self.pass;
        self.has_false_marks |= pass.has_end;
        pass.parts += 1;
        pass.has_end |= part.has_end;
        pass.is_cut |= part.is_cut;
        if let Some((index, count)) = part.number {
            if pass.count != Some(count) {
                pass.arrived.clear();
            }
            pass.count = Some(count);
            pass.arrived.insert(index);
        }
        if self.list.over_limit > 0 || pass.parts > self.max_servers {
            return self.done(ListCompleteness::Incomplete);
        }
        if pass.is_whole() == Some(true) && !pass.is_cut {
            return self.done(ListCompleteness::Complete);
        }
        // After a mark in a datagram with room for another server, only late ones can follow.
        let is_end = part.has_end && !self.has_false_marks && part.bytes.len() + 19 <= 1400;
        Said::Wait(if is_end { Wait::Grace } else { Wait::Quiet })
    }

    fn timeout(&mut self, remaining: Remaining) -> Said {
        let pass = std::mem::take(&mut self.pass);
        let is_answered = pass.parts > 0;
        if !is_answered && (self.passes == 0 || remaining == Remaining::Retry) {
            return Said::Retry;
        }
        if is_answered {
            self.passes += 1;
            self.is_cut = pass.is_cut || pass.is_whole() == Some(false);
        }
        let is_over = remaining == Remaining::Nothing;
        let came_twice = self.passes_of.values().all(|passes| passes.len() > 1);
        let completeness = if self.is_cut || (is_answered && is_over) {
            ListCompleteness::Incomplete
        } else if self.passes > 1 && came_twice {
            ListCompleteness::Settled
        } else {
            ListCompleteness::Unsettled
        };
        let is_enough = completeness.is_settled() || self.passes == self.max_passes;
        if is_answered && !is_over && !is_enough {
            return Said::Next;
        }
        self.done(completeness)
    }
}

/// A random list and its model.
fn start(random: &mut Random) -> (Quake3List, Model) {
    let (request, scope) = (random.below(4) as usize, random.below(3) as usize);
    let (max_servers, passes) = (
        [1, 7, 1000][random.below(3) as usize],
        random.below(11) as u8,
    );
    let limits = Limits::default().with_max_servers(max_servers);
    let list = match request {
        0 => Quake3List::new(&GetServers::new(68), &limits).unwrap(),
        1 => Quake3List::new(&GetServers::extended(b"x", 3), &limits).unwrap(),
        2 => Quake3List::quake2(&limits),
        _ => Quake3List::quake_world(&limits),
    };
    let model = Model {
        request,
        max_servers: max_servers as usize,
        max_passes: passes.clamp(1, 8),
        scope,
        ..Model::default()
    };
    (list.with_scope(SCOPES[scope]).with_passes(passes), model)
}

/// A few datagrams for a request, and one of any form.
fn parts(request: usize, random: &mut Random) -> Vec<Part> {
    let form = if request == 0 && random.chance(0.5) {
        HEXADECIMAL
    } else {
        request
    };
    let damage = if random.chance(0.15) { 1.0 } else { 0.1 };
    let count = 1 + random.below(3);
    let mut parts: Vec<_> = (0..count)
        .map(|_| Part::new(form, damage, random))
        .collect();
    parts.push(Part::new(random.below(5) as usize, damage, random));
    parts
}

/// Plays datagrams and timeouts to a list and the model. Returns how it ended, and after how many
/// passes.
fn play(random: &mut Random) -> Option<(ListCompleteness, u8)> {
    let (mut list, mut model) = start(random);
    // They come in any order, again, and not in each pass.
    let parts = parts(model.request, random);
    let has_deadline = random.chance(0.5);
    let mut taken = 0;
    for _ in 0..60 {
        let (said, expected) = if random.chance(0.65) {
            let part = &parts[random.below(parts.len() as u64) as usize];
            let said = match list.receive(&part.bytes) {
                Verdict::Rejected(_) => Said::Rejected,
                Verdict::Partial(wait) => Said::Wait(wait),
                Verdict::Next => Said::Next,
                Verdict::Done(list) => Said::Done(list),
            };
            (said, model.receive(part))
        } else {
            let all = [
                Remaining::Retry,
                Remaining::Step,
                Remaining::Step,
                Remaining::Nothing,
            ];
            let remaining = all[random.below(if has_deadline { 4 } else { 3 }) as usize];
            let said = match list.timeout(remaining) {
                OnTimeout::Done(list) => Said::Done(list),
                OnTimeout::Next => Said::Next,
                _ => Said::Retry,
            };
            (said, model.timeout(remaining))
        };
        assert_eq!(said, expected);
        if let Said::Done(list) = said {
            return Some((list.completeness, model.passes));
        }
        if random.chance(0.3) {
            let new: Vec<_> = list.take_new().collect();
            assert_eq!(new, model.list.servers[taken..]);
            taken = model.list.servers.len();
        }
    }
    None
}

#[test]
fn a_list_of_several_passes_is_what_came_and_as_complete_as_that_shows() {
    use ListCompleteness::{Complete, Incomplete, Settled, Unsettled};
    let mut ends = [Incomplete, Unsettled, Settled, Complete].map(|end| (end, 0));
    let mut most_passes = 0;
    for seed in 0..700 {
        let Some((end, passes)) = play(&mut Random(seed)) else {
            continue;
        };
        most_passes += u32::from(passes == 8);
        let mut ends = ends.iter_mut();
        ends.find(|(known, _)| *known == end).unwrap().1 += 1;
    }
    assert!(ends.iter().all(|(_, count)| *count > 5), "{ends:?}");
    assert!(most_passes > 1, "{most_passes}");
}
