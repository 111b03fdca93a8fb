//! Twenty thousand generated replies, cut as the engine cuts them, are what was held before they were sent.

use bytes::Bytes;
use queryport::Limits;
use queryport::gamespy4::{Answer, Table};

use crate::sender::{Columns, Held, MOST, send};

const REPLIES: u64 = 20_000;

/// SplitMix64: small, and the same on every machine.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// A text without NUL that no field name looks like.
    fn text(&mut self, most: usize) -> Vec<u8> {
        const BYTES: &[u8] = b"abcXYZ019 .-[]=_\xA7\xE4\xFC\x1b";
        let mut text: Vec<u8> = (0..1 + self.below(most)).map(|_| BYTES[self.below(BYTES.len())]).collect();
        if text.ends_with(b"_") || text.ends_with(b"_t") {
            text.push(b'.');
        }
        text
    }

    fn columns(&mut self, suffix: &str, fields: usize, rows: usize, empties: usize) -> Columns {
        const STEMS: [&str; 8] = ["player", "score", "ping", "team", "deaths", "pid", "skill", "AIBot"];
        let fields: Vec<_> =
            STEMS[..fields].iter().map(|stem| format!("{stem}{suffix}").into_bytes()).collect();
        let longest = 1 + self.below(20);
        let mut cell = || if self.below(100) < empties { Vec::new() } else { self.text(longest) };
        let rows = if fields.is_empty() { 0 } else { rows };
        let rows = (0..rows).map(|_| fields.iter().map(|_| cell()).collect()).collect();
        Columns { fields, rows }
    }

    pub(crate) fn held(&mut self) -> Held {
        let long = self.below(8) == 0;
        let pairs = (0..self.below(if long { 90 } else { 40 }))
            .map(|number| {
                let mut key = self.text(12);
                key.extend_from_slice(number.to_string().as_bytes());
                let value =
                    if self.below(5) == 0 { Vec::new() } else { self.text(if long { 60 } else { 25 }) };
                (key, value)
            })
            .collect();
        let empties = self.below(51);
        // One in two hundred is more than the sender's eight datagrams hold, or nearly.
        let (fields, rows) =
            if self.below(200) == 0 { (8, 100 + self.below(60)) } else { (self.below(9), self.below(66)) };
        let players = self.columns("_", fields, rows, empties);
        let (fields, rows) = (self.below(3), self.below(4));
        let teams = self.columns("_t", fields, rows, empties);
        Held { pairs, players, teams }
    }

    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

/// A table as it was held. Cells that never arrived are an error here.
pub(crate) fn columns(table: Table<'_>) -> Columns {
    Columns {
        fields: table.fields().map(<[u8]>::to_vec).collect(),
        rows: table
            .rows()
            .map(|row| row.fields().map(|(_, value)| value.expect("every cell arrived").to_vec()).collect())
            .collect(),
    }
}

pub(crate) fn held(answer: &Answer) -> Held {
    let reply = answer.reply();
    Held {
        pairs: reply.server().map(|(key, value)| (key.to_vec(), value.to_vec())).collect(),
        players: columns(reply.players()),
        teams: columns(reply.teams()),
    }
}

fn answer(datagrams: &[Vec<u8>]) -> Answer {
    Answer::from_datagrams(datagrams.iter().map(|datagram| Bytes::from(datagram.clone())), &Limits::default())
        .unwrap()
}

#[test]
fn what_the_engine_cuts_is_put_together_again() {
    let (mut datagrams_of, mut with_server_cut, mut cut_off) = ([0_u32; 9], 0, 0);
    for seed in 0..REPLIES {
        let mut random = Random::new(seed);
        let sent = random.held();
        let mut datagrams = send(&sent);
        datagrams_of[datagrams.len()] += 1;
        assert!(datagrams.iter().all(|datagram| datagram.len() <= MOST));
        with_server_cut += u32::from(datagrams.iter().skip(1).any(|datagram| datagram[15] == 0));
        let is_whole = datagrams.last().unwrap()[14] & 0x80 != 0;
        cut_off += u32::from(!is_whole);
        if random.below(2) == 0 {
            datagrams.push(datagrams[random.below(datagrams.len())].clone());
        }
        random.shuffle(&mut datagrams);
        let answer = answer(&datagrams);
        assert_eq!(
            answer.completeness().is_complete(),
            is_whole,
            "reply {seed}: {:?}",
            answer.completeness()
        );
        if is_whole {
            assert_eq!(held(&answer), sent, "reply {seed}");
        }
    }
    println!(
        "{REPLIES} replies; by number of datagrams: {datagrams_of:?}; server keys continued: {with_server_cut}; \
         more than the sender sends: {cut_off}"
    );
    assert!(datagrams_of[1..].iter().all(|&count| count > 0) && with_server_cut > 100 && cut_off > 0);
}

/// A datagram that never came is told, whichever it is, and nothing is made up for it.
#[test]
fn a_lost_datagram_is_told_and_nothing_is_invented() {
    for seed in 0..1000 {
        let sent = Random::new(seed).held();
        let datagrams = send(&sent);
        for lost in 0..datagrams.len() {
            let mut rest = datagrams.clone();
            rest.remove(lost);
            if rest.is_empty() {
                continue;
            }
            let answer = answer(&rest);
            assert!(!answer.completeness().is_complete(), "reply {seed} without datagram {lost}");
            let reply = answer.reply();
            for (key, value) in reply.server() {
                assert!(sent.pairs.contains(&(key.to_vec(), value.to_vec())), "reply {seed} without {lost}");
            }
            for (table, held) in [(reply.players(), &sent.players), (reply.teams(), &sent.teams)] {
                for (row, values) in table.rows().zip(&held.rows) {
                    for (field, value) in
                        row.fields().filter(|(_, value)| value.is_some_and(|v| !v.is_empty()))
                    {
                        let place =
                            held.fields.iter().position(|known| known == field).unwrap_or_else(|| {
                                panic!(
                                    "reply {seed} without {lost} of {}: field {:?}, rows {}",
                                    datagrams.len(),
                                    String::from_utf8_lossy(field),
                                    held.rows.len()
                                )
                            });
                        assert_eq!(Some(&values[place][..]), value, "reply {seed} without datagram {lost}");
                    }
                }
            }
        }
    }
}
