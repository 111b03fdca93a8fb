//! UT2004's binary protocol: one datagram of info, and lists without counts or numbers.

use super::{Fields, Pairs, Reading, Text, Whole};

/// One datagram.
enum Part {
    Info {
        name: Text,
        map: Text,
        players: u32,
    },
    Rules(Pairs),
    Players(Vec<Pairs>),
    /// The end of an entry is missing.
    Cut,
    /// Not a reply, or one with an ambiguous meaning.
    Other,
}

/// How lists were requested, which determines whether there can be several of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    Once,
    /// Requested again after the first lists had ended.
    InTurn,
    /// Requested again after no reply.
    Retried,
}

/// Reads the datagrams of all replies.
pub fn read(datagrams: &[Text], asked: Asked) -> Reading {
    let mut infos = Vec::new();
    let (mut rules, mut players) = (Pairs::new(), Vec::new());
    // An entry in two datagrams was read at two moments. So was a list with two ends, because only
    // its last datagram is short.
    let (mut is_twice, mut ends) = (false, [0, 0]);
    let mut is_repeated = false;
    let (mut rule_parts, mut player_parts, mut cuts) = (0, 0, 0);
    let mut seen: Vec<&Text> = Vec::new();
    let mut is_odd = false;
    for datagram in datagrams {
        if seen.contains(&datagram) {
            continue;
        }
        seen.push(datagram);
        if let Some(kind @ (1 | 2)) = datagram.get(4) {
            ends[usize::from(kind - 1)] += usize::from(datagram.len() <= 450);
        }
        match part(datagram) {
            Part::Info { name, map, players } => infos.push((name, map, players)),
            Part::Rules(more) => {
                is_twice |= more
                    .iter()
                    .any(|(key, _)| rules.iter().any(|(other, _)| other == key));
                is_repeated |= more.iter().any(|pair| rules.contains(pair));
                rules.extend(more);
                rule_parts += 1;
            }
            Part::Players(more) => {
                let is_same =
                    |a: &Pairs, b: &Pairs| a[0] == b[0] && (a[0].1 != b"0" || a[1] == b[1]);
                let is_listed = |new| players.iter().any(|old| is_same(old, new));
                is_repeated |= more.iter().any(is_listed);
                players.extend(more);
                player_parts += 1;
            }
            Part::Cut => cuts += 1,
            // The library can accept a record that ends early, an invalid port, or an unknown
            // version.
            Part::Other => {
                is_odd |= matches!(
                    datagram[..],
                    [_, _, _, _, 0, ..] | [1..=255, 0, 0, 0, 1 | 2, ..]
                );
            }
        }
    }
    if is_odd {
        return Reading::unknown("a datagram of no known server");
    }
    if infos.is_empty() {
        return Reading::no("no info");
    }
    is_twice |= is_repeated || ends.iter().any(|&ends| ends > 1);
    if asked == Asked::Retried
        || asked == Asked::InTurn && is_twice
        || is_repeated
        || infos.len() > 1
    {
        return Reading::unknown("lists of several moments");
    }
    if cuts > 0 {
        return match asked {
            Asked::Once => Reading::no("an entry without its end"),
            // Another reply can have had all of it.
            _ => Reading::unknown("an entry without its end in one of the replies"),
        };
    }
    if rule_parts == 0 {
        return Reading::no("no rules");
    }
    let (name, map, count) = infos.remove(0);
    if count > 0 && player_parts == 0 {
        return Reading::no("no players, and the info counts some");
    }
    let some = |text: Text| Some(text).filter(|text| !text.is_empty());
    let fields = Fields {
        name: some(name),
        map: some(map),
        rules,
        players,
        teams: Vec::new(),
    };
    Reading {
        whole: Whole::Unknown("lists carry no count"),
        fields: Some(fields),
    }
}

fn part(datagram: &[u8]) -> Part {
    if datagram.len() < 5 || !(0x77..=0x80).contains(&datagram[0]) || datagram[1..4] != [0, 0, 0] {
        return Part::Other;
    }
    let mut rest = &datagram[5..];
    match datagram[4] {
        0 => info(&mut rest).unwrap_or(Part::Other),
        1 => match rules(rest) {
            (pairs, false) => Part::Rules(pairs),
            _ => Part::Cut,
        },
        2 => match players(rest, datagram[0]) {
            (players, false) => Part::Players(players),
            _ => Part::Cut,
        },
        _ => Part::Other,
    }
}

/// The rules of a list, and whether it ends inside of one.
pub fn rules(body: &[u8]) -> (Pairs, bool) {
    entries(body, |rest| Some((string(rest)?, string(rest)?)))
}

/// The players of a list of this version, and whether it ends inside of one.
pub fn players(body: &[u8], version: u8) -> (Vec<Pairs>, bool) {
    entries(body, |rest| player(rest, version == 0x7E))
}

fn entries<T>(mut rest: &[u8], read: impl Fn(&mut &[u8]) -> Option<T>) -> (Vec<T>, bool) {
    let mut whole = Vec::new();
    while !rest.is_empty() {
        let Some(entry) = read(&mut rest) else {
            return (whole, true);
        };
        whole.push(entry);
    }
    (whole, false)
}

fn info(rest: &mut &[u8]) -> Option<Part> {
    let _server_id = integer(rest)?;
    let _ip = string(rest)?;
    let port = integer(rest)?;
    let _query_port = integer(rest)?;
    if port > 65_535 {
        return None;
    }
    let name = string(rest)?;
    let map = string(rest)?;
    let _game_type = string(rest)?;
    let players = integer(rest)?;
    let _max_players = integer(rest)?;
    // The rest differs between games and is not needed. Negative counts are meaningless.
    Some(Part::Info {
        name,
        map,
        players: if players > i32::MAX as u32 {
            0
        } else {
            players
        },
    })
}

fn player(rest: &mut &[u8], is_xmp: bool) -> Option<Pairs> {
    let id = integer(rest)?;
    if is_xmp {
        integer(rest)?;
    }
    let name = string(rest)?;
    let (ping, score, stats) = (integer(rest)?, integer(rest)?, integer(rest)?);
    if is_xmp {
        let (is_negative, pairs) = index(rest)?;
        if pairs > 63 || is_negative && pairs > 0 {
            return None;
        }
        for _ in 0..2 * pairs {
            string(rest)?;
        }
    }
    let signed = |value: u32| (value as i32).to_string().into_bytes();
    Some(vec![
        (b"id".to_vec(), signed(id)),
        (b"name".to_vec(), name),
        (b"ping".to_vec(), signed(ping)),
        (b"score".to_vec(), signed(score)),
        (b"stats_id".to_vec(), stats.to_string().into_bytes()),
    ])
}

fn byte(rest: &mut &[u8]) -> Option<u8> {
    let (&first, after) = rest.split_first()?;
    *rest = after;
    Some(first)
}

fn integer(rest: &mut &[u8]) -> Option<u32> {
    let mut value = 0;
    for shift in [0, 8, 16, 24] {
        value |= u32::from(byte(rest)?) << shift;
    }
    Some(value)
}

/// Whether a compact index is negative, and its absolute value.
fn index(rest: &mut &[u8]) -> Option<(bool, u64)> {
    let first = byte(rest)?;
    let mut length = u64::from(first & 0x3F);
    let mut more = first & 0x40 != 0;
    for shift in [6, 13, 20, 27] {
        if !more {
            break;
        }
        let next = byte(rest)?;
        length |= u64::from(next & 0x7F) << shift;
        more = next & 0x80 != 0;
    }
    // The result has 32 bits.
    Some((first & 0x80 != 0, length & 0xFFFF_FFFF))
}

/// The bytes of a string without its terminator.
fn string(rest: &mut &[u8]) -> Option<Text> {
    let (is_wide, length) = index(rest)?;
    let unit = if is_wide { 2 } else { 1 };
    let bytes = length * unit;
    if bytes > rest.len() as u64 {
        return None;
    }
    let (text, after) = rest.split_at(bytes as usize);
    *rest = after;
    let mut text = text.to_vec();
    let terminator = if is_wide { &[0, 0][..] } else { &[0][..] };
    if text.ends_with(terminator) {
        text.truncate(text.len() - terminator.len());
    }
    Some(text)
}
