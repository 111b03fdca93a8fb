//! The costliest inputs found by the search. Benchmarks count the work for them, tests their
//! memory.

use super::shape::{LARGEST, Shape, template};

pub struct Found {
    /// See `TARGETS`.
    pub target: &'static str,
    /// The repeated element.
    pub what: &'static str,
    pub shape: Shape,
    /// The length of the longest input that the limits accept, headers included.
    pub size: usize,
}

impl Found {
    pub fn name(&self) -> String {
        format!("{}, {}", self.target, self.what)
    }
}

fn found(target: &'static str, what: &'static str, size: usize, shape: Shape) -> Found {
    Found {
        target,
        what,
        shape,
        size,
    }
}

const UNKNOWN_IDS: &[u8] = b"\xfd\0\xbf\x919\xff R\xc0\x1e\x91\x7f ";

/// Inputs with the most work per byte, and those that were too costly before.
pub fn work() -> Vec<Found> {
    const QUAKE3_STATUS: &[u8] = b"\xff\xff\xff\xffstatusResponse";
    let one = |head: &[u8], unit: &[u8], tail: &[u8], length| {
        Shape::new([template(head, unit, tail, length)], 0, 1)
    };
    let bursts = |head: &[u8], unit: &[u8], tail: &[u8], length, every| {
        Shape::new([template(head, unit, tail, length)], every, 1)
    };
    let from = |sources, head: &[u8], unit: &[u8], tail: &[u8], length| {
        Shape::new([template(head, unit, tail, length)], 1, sources)
    };
    vec![
        found(
            "gamespy1 request",
            "empty commands",
            283,
            one(b"", b"\\", b"", LARGEST),
        ),
        found(
            "gamespy1 response",
            "names",
            16_384,
            one(b"\\", b"playeR_{s}\\\\", b"final\\queryid\\", LARGEST),
        ),
        found(
            "gamespy1 answer",
            "names",
            16_384,
            one(
                b"\\m",
                b"playeR_{s}\\\\",
                b"queryid\\3.1\\final\\queryid\\",
                LARGEST,
            ),
        ),
        found(
            "gamespy1 session",
            "names",
            16_384,
            one(b"\\q", b"Player_{s}\\\\", b"", LARGEST),
        ),
        found(
            "gamespy1 session",
            "parts without numbers",
            32_000,
            bursts(b"", b"\\a{s}\\b", b"", 100, 50),
        ),
        found(
            "gamespy1 session",
            "numbered parts",
            16_000,
            one(b"\\", b"player_{s}\\a\\", b"\\queryid\\1.{d}", 500),
        ),
        found(
            "gamespy1 commands",
            "names",
            16_384,
            one(b"\\\\", b"\\plAyer_5{n}\\\\pl_496\\\\\\", b"", LARGEST),
        ),
        found(
            "gamespy1 commands",
            "ends in each section",
            32_000,
            Shape::new(
                [
                    template(b"l\\", b"", b"", 2),
                    template(b"", b"", b"", 0),
                    template(b"", b"", b"", 0),
                    template(
                        b"\\queryid\\1.3",
                        b"\\player_{n}",
                        b"\\final\\queryid\\",
                        500,
                    ),
                ],
                0,
                1,
            ),
        ),
        found(
            "gamespy1 list, plain",
            "addresses",
            32_000,
            one(b"", b"\\ip\\1.2.3.4:{n}", b"", LARGEST),
        ),
        found(
            "gamespy1 list, compressed",
            "addresses",
            32_000,
            one(b"", b"\x18{B}\x82", b"", LARGEST),
        ),
        found(
            "gamespy1 responder",
            "several commands",
            4000,
            one(
                b"\\status\\o\\\\rules\\\\packets\\E\\\\secure\\WFXNEA",
                b"",
                b"",
                1,
            ),
        ),
        found(
            "gamespy1 responder",
            "31 times \\status\\",
            16_000,
            one(b"", b"\\status\\", b"", 248),
        ),
        found(
            "gamespy1 responder",
            "properties of players",
            16_000,
            one(b"", b"\\player_property\\{n}\\", b"", 250),
        ),
        found(
            "gamespy1 responder",
            "properties with control bytes",
            16_000,
            one(
                b"",
                b"\\player_property\\ertN192.0.2.1:78\x01r{M}opn{^r{M}o}\\",
                b"",
                250,
            ),
        ),
        found(
            "gamespy4 response",
            "a long challenge",
            65_000,
            one(b"\t\0\0\0\0", b"0", b"", LARGEST),
        ),
        found(
            "gamespy4 answer",
            "titles of Minecraft",
            16_384,
            one(
                b"\0\x01\x02\x03\x04splitnum\0\0me\0",
                b"\0\x83\0\0\x82\0\0\x83\0\0\xc2\0\0\x83\0\0\xc2\0hostname\0",
                b"game_id\0",
                LARGEST,
            ),
        ),
        found(
            "gamespy4 session",
            "basic replies of NUL",
            16_000,
            one(
                b"\0\0\0\0\0\0\0\0\0\0\0\0\0\t\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
                b"",
                b"\0\0{b}\0\0{N}\0",
                1,
            ),
        ),
        found(
            "gamespy4 session",
            "fragments of pairs",
            32_000,
            one(
                b"\0\x01\x02\x03\x04splitnum\0{D}\0",
                b"a{n}\0b\0",
                b"",
                1400,
            ),
        ),
        found(
            "gamespy4 minecraft session",
            "a title with known keys",
            16_384,
            one(
                b"\0\x01\x02\x03\x04splitnum\0\0me\0\0t\0",
                b"\0\xfc\0\0\x80\0\0\x80\0\0\x80\0\0o\0\0hostname\0",
                b"",
                LARGEST,
            ),
        ),
        found(
            "gamespy4 minecraft session",
            "copies of the first fragment",
            16_000,
            Shape::new(
                [
                    template(b"x", b"", b"", 1),
                    template(b"\0\x01\x02\x03\x04splitnum\0{D}\0", b"a{n}\0b\0", b"", 400),
                    template(b"\0\x01\x02\x03\x04splitnum\0\0\0", b"", b"", 1),
                    template(b"\0\x01\x02\x03\x04splitnum\0\0\0", b"", b"", 1),
                ],
                0,
                1,
            ),
        ),
        found(
            "gamespy4 just cause 2 session",
            "basic replies of NUL",
            16_000,
            one(
                b"\0\0\0\0\0\0\0\0\0\0\0\0\0\t\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
                b"",
                b"\0\0{b}\0\0{N}\0",
                1,
            ),
        ),
        found(
            "gamespy4 list",
            "servers",
            32_000,
            one(b"\xeb\0\x01\x02{S}", b"{B}\x04", b"", LARGEST),
        ),
        found(
            "gamespy4 list, pairs of one server",
            "byte by byte",
            64_000,
            Shape::new(
                [template(b"a", b"", b"", 1), template(b"\0", b"", b"", 1)],
                0,
                1,
            ),
        ),
        found(
            "gamespy4 responder",
            "keys by their ids",
            4000,
            one(
                b"\xfe\xfd\0\x01\x02\x03\x04\0\0\0\0\x02\x01\x02\x01\x03\0",
                b"",
                b"",
                1,
            ),
        ),
        found(
            "gamespy4 responder, battlefield 2",
            "keys by their ids",
            4000,
            one(
                b"\xfe\xfd\0\x01\x02\x03\x04\0\0\0\0\x02\x01\x02\x01\x03\0",
                b"",
                b"",
                1,
            ),
        ),
        found(
            "gamespy4 responder",
            "unknown ids",
            16_000,
            one(b"\xfe", UNKNOWN_IDS, b"", 500),
        ),
        found(
            "gamespy4 responder, battlefield 2",
            "unknown ids",
            16_000,
            one(b"\xfe", UNKNOWN_IDS, b"", 500),
        ),
        found(
            "gamespy4 responder, minecraft",
            "full replies",
            16_000,
            one(b"\xfe\xfd\0\x01\x02\x03\x04\0\0\0\0\0\0\0\0", b"", b"", 1),
        ),
        found(
            "quake3 request",
            "quoted words",
            32_000,
            one(b"\xff\xff\xff\xffgetservers", b"\"7\"/", b"", LARGEST),
        ),
        found(
            "quake3 response",
            "empty lines",
            32_000,
            one(QUAKE3_STATUS, b"\n", b"", LARGEST),
        ),
        found(
            "quake3 answer",
            "players without a score",
            8192,
            one(QUAKE3_STATUS, b"\"\"\xf1\n", b"", LARGEST),
        ),
        found(
            "quake3 reply",
            "a challenge",
            32_000,
            one(b"\xff\xff\xff\xffchallenge ", b"/", b"", LARGEST),
        ),
        found(
            "quake3 huffman",
            "one symbol",
            8192,
            one(b"", b"\xff", b"", LARGEST),
        ),
        found(
            "quake3 session",
            "empty lines",
            32_000,
            one(QUAKE3_STATUS, b"\n", b"", LARGEST),
        ),
        found(
            "quake3 session",
            "players without a score",
            8192,
            one(QUAKE3_STATUS, b"\n\"\"\x8d", b"", LARGEST),
        ),
        found(
            "quake3 session",
            "wrong challenges",
            32_000,
            one(
                b"\xff\xff\xff\xffstatusResponse\n\\challenge\\x",
                b"\\\\",
                b"\n",
                1400,
            ),
        ),
        found(
            "quake3 medal of honor session",
            "players without a score",
            8192,
            one(QUAKE3_STATUS, b"\n\"\"\x8d", b"", LARGEST),
        ),
        found(
            "quake3 rcon",
            "empty datagrams",
            16_000,
            one(b"\xff\xff\xff\xff", b"", b"", 1),
        ),
        found(
            "quake3 connect",
            "a refusal of colours",
            4000,
            Shape::new(
                [
                    template(b"", b"", b"", 0),
                    template(b"", b"", b"", 0),
                    template(
                        b"\xff\xff\xff\xffn",
                        b"\x80\x9b^\xff\xff\x9b\x84\x80",
                        b"\x81",
                        4000,
                    ),
                ],
                1,
                1,
            ),
        ),
        found(
            "quake3 list",
            "addresses",
            32_000,
            one(
                b"\xff\xff\xff\xffgetserversExtResponse",
                b"\\{E}{B}\n",
                b"",
                LARGEST,
            ),
        ),
        found(
            "quake3 list part",
            "addresses",
            32_000,
            one(
                b"\xff\xff\xff\xffgetserversExtResponse",
                b"\\{S}\0\x01",
                b"",
                LARGEST,
            ),
        ),
        found(
            "quake3 cod4x list",
            "addresses",
            32_000,
            one(
                b"\xff\xff\xff\xffgetserversResponse",
                b"\\\0\0\0\0\x04{B}\x80\x01",
                b"",
                LARGEST,
            ),
        ),
        found(
            "quake3 responder",
            "changing challenges",
            16_000,
            from(1, b"\xff\xff\xff\xffgetstatus {n}", b"{S}", b"", 30),
        ),
        found(
            "quake3 master",
            "lists of full servers",
            16_000,
            from(1000, b"\xff\xff\xff\xffgetservers x 1 full", b"", b"", 1),
        ),
        found(
            "quake3 master",
            "heartbeats",
            16_000,
            from(1000, b"\xff\xff\xff\xffheartbeat DarkPlaces\n", b"", b"", 1),
        ),
        found(
            "ut2004 response",
            "empty rules",
            8000,
            one(b"\x80\0\0\0\x01", b"\x80", b"", LARGEST),
        ),
        found(
            "ut2004 answer",
            "empty rules",
            16_384,
            one(b"\x80\0\0\0\x01", b"\x01\x80", b"", LARGEST),
        ),
        found(
            "ut2004 session",
            "empty rules, two datagrams",
            16_384,
            Shape::new(
                [
                    template(b"\x80\0\0\0\x01", b"", b"\x01", 1),
                    template(b"\x80\0\0\0\x01\x80\x80", b"\x01\x80", b"", LARGEST),
                ],
                1,
                1,
            ),
        ),
        found(
            "ut2004 session",
            "small datagrams",
            12_000,
            bursts(b"\x80\0\0\0\x01", b"\x04{N}\x04{S}", b"", 30, 20),
        ),
        found(
            "ut2004 session, second reading",
            "versions of the last datagram",
            8000,
            one(b"\x80\0\0\0\x01\x02k\0", b"\x05{B}\0", b"", 14),
        ),
        found(
            "ut2004 session, second reading",
            "empty rules",
            32_000,
            Shape::new(
                [
                    template(b"\x03\0\0\0\x01\x01", b"\x80", b"", 4000),
                    template(b"\x80\0\0\0\x01", b"", b"", 1),
                    template(b"", b"h", b"", LARGEST),
                ],
                1,
                1,
            ),
        ),
        found(
            "ut2004 session, any info",
            "empty rules",
            32_000,
            Shape::new(
                [
                    template(
                        b"\x0f\0\0\0",
                        b"{D}9\x01\x10\0\x80\x80\x80\0\0jx\x7f\x80\x80\x80\x80\0\0\0\0",
                        b"\x01\x80^{n}",
                        30,
                    ),
                    template(b"\x80\0\0\0\x01}", b"", b"", 1),
                    template(b"", b"", b"", 2),
                    template(b"\x20\0\0\0\x01", b"\x80", b"\x01\x80\x80\x80", 4000),
                ],
                2,
                1,
            ),
        ),
        found(
            "ut2004 list",
            "servers",
            32_000,
            one(
                b"",
                b"\x18\0\0\0{S}\x1e{N}\x80A\0\0\x80\0\0\x9a\0\0\0Q\0\0\0",
                b"",
                LARGEST,
            ),
        ),
        found(
            "ut2004 list",
            "a long message in pieces",
            64_000,
            one(b"\xff\xff\0\0", b"a", b"", 30),
        ),
        found(
            "ut2004 list, ut2003",
            "servers",
            32_000,
            one(b"", b"\x0e\0\0\0{S}{N}\x80\x80\x80\x9aA\0", b"", LARGEST),
        ),
        found(
            "ut2004 responder",
            "all lists",
            16_000,
            one(b"\x80\0\0\0\x03", b"", b"", 1),
        ),
        found(
            "scanner",
            "names, one hostile server",
            16_384,
            one(b"\\", b"\\\\plAyer_9{n}6729", b"_2", LARGEST),
        ),
        found(
            "scanner",
            "numbered parts, all servers hostile",
            32_000,
            Shape::new(
                [template(
                    b"\\",
                    b"player_{s}\\a\\",
                    b"\\queryid\\1.{d}",
                    500,
                )],
                64,
                64,
            ),
        ),
        found(
            "responder with its guard",
            "short commands",
            16_000,
            from(1000, b"", b"\\f\\", b"\\status\\", 250),
        ),
        found(
            "announcer, quake3",
            "requests",
            16_000,
            from(8, b"\xff\xff\xff\xff", b"", b"", 1),
        ),
        found(
            "announcer, gamespy1",
            "empty commands",
            16_000,
            from(8, b"", b"\\", b"", 250),
        ),
        found(
            "inspect",
            "odd lines",
            32_000,
            one(QUAKE3_STATUS, b"\n\"\n\"", b"", LARGEST),
        ),
        found(
            "games",
            "an unknown name",
            156,
            one(b"t", b"s", b"", LARGEST),
        ),
    ]
}

/// Inputs with the most memory per byte.
pub fn memory() -> Vec<Found> {
    let one =
        |head: &[u8], unit: &[u8], length| Shape::new([template(head, unit, b"", length)], 0, 1);
    vec![
        found(
            "gamespy1 session",
            "empty keys",
            16_000,
            one(b"\\", b"\xa7u\\\\", LARGEST),
        ),
        found(
            "gamespy4 answer",
            "empty values",
            4096,
            one(b"\0\0\0\0\0\x80\0\0_\0", b"\0", LARGEST),
        ),
        found(
            "gamespy4 answer",
            "announced players of Just Cause 2",
            256,
            one(
                b"\0\0\0\0\0splitnum\0\0\0m\0n\0\0\xff\xff",
                b"A\0\0\0\0",
                LARGEST,
            ),
        ),
        found(
            "gamespy4 session",
            "empty values",
            4096,
            one(
                b"\0\0\0\0\0\0\0\0\0\0tm\0\x80\0h\0\x80\0s\0",
                b"\0",
                LARGEST,
            ),
        ),
        found(
            "gamespy4 list",
            "servers on one port",
            32_000,
            one(b"name\0A\0\xfe", b"{n}\0", LARGEST),
        ),
        found(
            "quake3 answer",
            "line feeds",
            32_000,
            one(b"\xff\xff\xff\xffstatusResponse", b"\n", LARGEST),
        ),
        found(
            "quake3 session",
            "line feeds",
            32_000,
            one(b"\xff\xff\xff\xffstatusResponse", b"\n", LARGEST),
        ),
        found(
            "ut2004 session",
            "players",
            16_000,
            one(b"\x80\0\0\0\x02", b"{N}\x80\0\0\0\0\0\0\0\0\0\0\0\0", 500),
        ),
        found("scanner", "rows", 16_384, one(b"\\", b"m_9\\\\", LARGEST)),
    ]
}
