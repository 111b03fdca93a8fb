//! Inputs that cost a reader much for each byte: elements as small as the grammar allows, repeated
//! to any length. Tests bound their memory, and `benches/instructions` counts their work.

use std::hint::black_box;
use std::time::Instant;

use bytes::Bytes;
use queryport::lists::{Cod4xList, GameSpy1List, ListRequest, Ut2004List};
use queryport::{Answer, GameKey, Limits, Protocol, Timing, ToStatus, gamespy1, quake3};

/// An input, and the code that reads it.
pub struct Hostile {
    pub name: &'static str,
    head: &'static [u8],
    /// The element. Its bytes `#` count: each is another digit.
    unit: &'static [u8],
    tail: &'static [u8],
    read: fn(Vec<u8>),
}

impl Hostile {
    /// The input of about this length.
    pub fn input(&self, length: usize) -> Vec<u8> {
        let mut input = self.head.to_vec();
        for mut number in 0_u32.. {
            if input.len() + self.unit.len() + self.tail.len() > length {
                break;
            }
            input.extend(self.unit.iter().map(|byte| match byte {
                b'#' => {
                    let digit = number % 10;
                    number /= 10;
                    b'0' + digit as u8
                }
                byte => *byte,
            }));
        }
        input.extend_from_slice(self.tail);
        input
    }

    pub fn read(&self, input: Vec<u8>) {
        (self.read)(input);
    }
}

const STATUS: &[u8] = b"\xff\xff\xff\xffstatusResponse\n";
/// The login of Unreal Engine 2, and a count of servers that never all arrive.
const LOGIN: &[u8] = b"\x04\0\0\0\x0312\0\x0e\0\0\0\x09APPROVED\0\x03\0\0\0\x0a\0\0\0\x09VERIFIED\0\x05\0\0\0\xff\xff\xff\x7f\x01";
const MINECRAFT: &[u8] = b"\0\x01\x02\x03\x04splitnum\0\x80\0";

const fn hostile(
    name: &'static str,
    (head, unit, tail): (&'static [u8], &'static [u8], &'static [u8]),
    read: fn(Vec<u8>),
) -> Hostile {
    Hostile {
        name,
        head,
        unit,
        tail,
        read,
    }
}

/// One for each reader of text or lists.
pub const ALL: [Hostile; 13] = [
    hostile(
        "gamespy1 request, empty commands",
        (b"", br"\", b""),
        |input| {
            let _ = black_box(gamespy1::Request::parse(&input));
        },
    ),
    hostile(
        "gamespy1 answer, names",
        (b"", br"\playeR_#####\\", br"\final\\queryid\1.1"),
        |input| answer(Protocol::GameSpy1, input),
    ),
    hostile("gamespy1 answer, empty pairs", (b"", br"\", b""), |input| {
        answer(Protocol::GameSpy1, input);
    }),
    hostile(
        "gamespy4 answer, empty pairs",
        (MINECRAFT, b"\0", b""),
        |input| {
            answer(Protocol::GameSpy4, input);
        },
    ),
    hostile(
        "gamespy4 answer, keys in a title",
        (MINECRAFT, b"\0hostname\0", b""),
        |input| {
            answer(Protocol::GameSpy4, input);
        },
    ),
    hostile(
        "quake3 request, quoted words",
        (b"\xff\xff\xff\xffgetservers", br#""7"/"#, b""),
        |input| {
            let _ = black_box(quake3::Request::parse(&input));
        },
    ),
    hostile(
        "quake3 answer, empty lines",
        (STATUS, b"\n", b""),
        |input| {
            answer(Protocol::Quake3, input);
        },
    ),
    hostile(
        "quake3 answer, players",
        (STATUS, b"\n\"\"\xf1", b""),
        |input| {
            answer(Protocol::Quake3, input);
        },
    ),
    hostile(
        "ut2004 answer, empty rules",
        (b"\x80\0\0\0\x01", b"\0", b""),
        |input| {
            answer(Protocol::Ut2004, input);
        },
    ),
    hostile(
        "gamespy1 list, addresses",
        (
            br"\basic\\secure\WFXNEA",
            br"\ip\1.2.3.4:#####",
            br"\final\",
        ),
        |input| {
            let key = GameKey::new("Z5Nfb0").unwrap();
            list(GameSpy1List::new("ut", key), &input);
        },
    ),
    hostile(
        "cod4x list, addresses",
        (
            b"\xff\xff\xff\xffgetserversResponse",
            b"\\\0\0\0\0\x04####\x80\x01",
            b"",
        ),
        |input| list(Cod4xList::new(6), &input),
    ),
    hostile(
        "ut2004 list, servers",
        (
            LOGIN,
            b"\x18\0\0\0####\x1e####\x80A\0\0\x80\0\0\x9a\0\0\0Q\0\0\0",
            b"",
        ),
        |input| {
            list(Ut2004List::new(3369), &input);
        },
    ),
    hostile(
        "ut2004 list, a long message",
        (b"\xff\xff\0\0", b"a", b""),
        |input| {
            list(Ut2004List::new(3369), &input);
        },
    ),
];

/// Reads an answer, and what a server browser shows of it.
fn answer(protocol: Protocol, input: Vec<u8>) {
    let Ok(answer) = Answer::from_datagrams(protocol, [Bytes::from(input)], &Limits::default())
    else {
        return;
    };
    let status = answer.to_status();
    for player in status.players.iter() {
        black_box(player.name.plain().len());
    }
    for (key, value) in &status.rules {
        black_box((key.plain().len(), value.plain().len()));
    }
}

/// Reads a list that arrives in pieces of a TCP segment's size.
fn list(request: impl Into<ListRequest>, input: &[u8]) {
    let now = Instant::now();
    let Some(mut session) = request.into().session(0, Timing::default(), now) else {
        return;
    };
    let mut out = Vec::new();
    for piece in input.chunks(1400) {
        out.clear();
        session.poll_transmit(now, &mut out);
        session.handle_bytes(now, piece);
    }
    session.handle_end(now);
    black_box(session.poll_answer().is_some());
}
