//! Numbers that documents state are those of the constants in the code.

use kit::root;

/// A constant, and the sentences that state its value.
struct Fact {
    file: &'static str,
    /// As the code writes it. One that changes here must change in the sentences.
    code: &'static str,
    sentences: &'static [Sentence],
}

struct Sentence(&'static str, &'static str);

const CLIENT: &str = "src/net/client.rs";
const GUARD: &str = "src/serve/guard.rs";
const MASTER: &str = "src/quake3/master/mod.rs";
const SCANNER: &str = "src/scan/scanner.rs";
const SCAN_OPTIONS: &str = "src/scan/options.rs";
const TIMING: &str = "src/session/timing.rs";
const MANY_SERVERS: &str = "src/guide/many_servers.md";
const ONE_SERVER: &str = "src/guide/one_server.md";
const THREATS: &str = "src/guide/threat_model.md";

const FACTS: &[Fact] = &[
    // Names.
    Fact {
        file: "src/net/asker.rs",
        code: "const DEADLINE: Duration = Duration::from_secs(10);",
        sentences: &[
            Sentence(CLIENT, "10 ms–10 min, default 10 s"),
            Sentence(
                ONE_SERVER,
                "name resolution and all addresses of the name | 10 s |",
            ),
        ],
    },
    Fact {
        file: "src/net/asker.rs",
        code: "MIN_DEADLINE: Duration = Duration::from_millis(10);",
        sentences: &[Sentence(CLIENT, "retries: 10 ms–")],
    },
    Fact {
        file: "src/net/asker.rs",
        code: "MAX_DEADLINE: Duration = Duration::from_secs(600);",
        sentences: &[Sentence(CLIENT, "10 ms–10 min")],
    },
    Fact {
        file: "src/net/asker.rs",
        code: "MAX_ADDRESSES: usize = 32;",
        sentences: &[Sentence(CLIENT, "the first 32 are tried")],
    },
    Fact {
        file: "src/net/asker.rs",
        code: "MIN_SHARE: Duration = Duration::from_millis(500);",
        sentences: &[Sentence(CLIENT, "at least half a second")],
    },
    Fact {
        file: "src/net/scan/mod.rs",
        code: "MAX_LOOKUPS: usize = 32;",
        sentences: &[Sentence(CLIENT, "looked up during the scan, 32 at a time")],
    },
    // Detection and queries by game.
    Fact {
        file: "src/net/detect.rs",
        code: "GAP: Duration = Duration::from_millis(20);",
        sentences: &[Sentence(CLIENT, "one request per protocol, 20 ms apart")],
    },
    Fact {
        file: "src/net/detect.rs",
        code: "AFTER_FIRST: Duration = Duration::from_millis(500);",
        sentences: &[
            Sentence(CLIENT, "ends half a second after the first answer"),
            Sentence(
                "src/net/blocking/mod.rs",
                "ends half a second after the first answer",
            ),
        ],
    },
    Fact {
        file: "src/net/detect.rs",
        code: "STAGGER: Duration = Duration::from_millis(600);",
        sentences: &[
            Sentence(CLIENT, "If there is no answer within 0.6 s"),
            Sentence("src/net/blocking/mod.rs", "are tried, 0.6 s apart"),
        ],
    },
    Fact {
        file: "src/net/detect.rs",
        code: "NEXT_PORTS: u16 = 3;",
        sentences: &[Sentence(CLIENT, "the next three ports of a Quake 3 server")],
    },
    Fact {
        file: "src/net/detect.rs",
        code: "MAX_ATTEMPTS: usize = 32;",
        sentences: &[Sentence(CLIENT, "up to 32 ports of the host are queried")],
    },
    // The local network.
    Fact {
        file: "src/limits.rs",
        code: "MAX_LAN_SERVERS: usize = 4096;",
        sentences: &[Sentence(CLIENT, "At most 4,096 addresses are queried")],
    },
    Fact {
        file: "src/limits.rs",
        code: "MAX_LAN_SERVERS_PER_HOST: usize = 128;",
        sentences: &[Sentence(CLIENT, "are queried, 128 per host")],
    },
    Fact {
        file: "src/lan.rs",
        code: "const PORTS: u16 = 4;",
        sentences: &[Sentence(
            CLIENT,
            "the game's default query port and the three after it",
        )],
    },
    // Lists.
    Fact {
        file: "src/net/inquiry.rs",
        code: "LIST_TIMEOUT: Duration = Duration::from_secs(45);",
        sentences: &[Sentence(
            "src/net/inquiry.rs",
            "Default: 45 s for the list servers of a game",
        )],
    },
    Fact {
        file: "src/net/inquiry.rs",
        code: "MAX_PER_HOST: usize = 256;",
        sentences: &[Sentence(
            "src/net/inquiry.rs",
            "more than 256 ports at one host",
        )],
    },
    Fact {
        file: "src/limits.rs",
        code: "MAX_LIST_BYTES: u32 = 4 * 1024 * 1024;",
        sentences: &[Sentence(
            THREATS,
            "a list over TCP of the maximum length, 4 MiB",
        )],
    },
    // The console.
    Fact {
        file: "src/net/rcon.rs",
        code: "const GAP: Duration = Duration::from_millis(650);",
        sentences: &[Sentence("src/guide/rcon.md", "one per 650 ms")],
    },
    Fact {
        file: "src/net/rcon.rs",
        code: "const BURST: u64 = 8;",
        sentences: &[Sentence("src/guide/rcon.md", "at most eight in a row")],
    },
    Fact {
        file: "src/net/rcon.rs",
        code: "const DECAY: Duration = Duration::from_millis(1050);",
        sentences: &[Sentence("src/net/rcon.rs", "after at most 1.05 s")],
    },
    // Scans.
    Fact {
        file: SCAN_OPTIONS,
        code: "per_host: Some(8),",
        sentences: &[Sentence(SCAN_OPTIONS, "Default 8: many hosts")],
    },
    Fact {
        file: "src/scan/admission.rs",
        code: "MAX_QUEUE_DELAY: Duration = Duration::from_millis(50);",
        sentences: &[Sentence(
            SCAN_OPTIONS,
            "when all round trips become 50 ms longer",
        )],
    },
    Fact {
        file: "src/scan/admission.rs",
        code: "INITIAL_RATE: f64 = 20e6;",
        sentences: &[Sentence(SCAN_OPTIONS, "It begins with 20 MB a second")],
    },
    Fact {
        file: "src/scan/admission.rs",
        code: "MIN_SAMPLES: u64 = 64;",
        sentences: &[Sentence(SCAN_OPTIONS, "Once 64 servers have answered")],
    },
    Fact {
        file: "src/scan/admission.rs",
        code: "RTT_FACTOR: u32 = 4;",
        sentences: &[Sentence(
            SCAN_OPTIONS,
            "a wait is four times the slowest round trip",
        )],
    },
    Fact {
        file: "src/scan/admission.rs",
        code: "DEFAULT_RECEIVE_BUFFER: usize = 212_992;",
        sentences: &[
            Sentence(SCANNER, "Default: 212,992 bytes"),
            Sentence("src/net/scan/mod.rs", "buffer of 212,992 bytes is enough"),
        ],
    },
    Fact {
        file: SCANNER,
        code: "const MAX_WAITING: usize = 4096;",
        sentences: &[Sentence(SCANNER, "at most 4,096 of them")],
    },
    Fact {
        file: SCANNER,
        code: "const MEMORY: usize = 512;",
        sentences: &[
            Sentence(SCANNER, "The 512 queries that ended last"),
            Sentence(SCAN_OPTIONS, "512 queries that ended last are remembered"),
        ],
    },
    Fact {
        file: SCANNER,
        code: "const PATIENCE: u8 = 4;",
        sentences: &[
            Sentence(SCANNER, "started to answer gets up to four timeouts"),
            Sentence(CLIENT, "or four times that"),
            Sentence(SCAN_OPTIONS, "may take four timeouts"),
        ],
    },
    Fact {
        file: "src/net/scan/mod.rs",
        code: "RECEIVE_BUFFER: u32 = 8 * 1024 * 1024;",
        sentences: &[Sentence(SCAN_OPTIONS, "`None`, the default: 8 MiB")],
    },
    Fact {
        file: "src/net/target.rs",
        code: "const PAUSE: Duration = Duration::from_millis(10);",
        sentences: &[Sentence(
            "src/net/scan/mod.rs",
            "repeats the datagram every 10 ms",
        )],
    },
    Fact {
        file: "src/net/target.rs",
        code: "const PATIENCE: Duration = Duration::from_secs(1);",
        sentences: &[Sentence("src/net/scan/mod.rs", "every 10 ms for a second")],
    },
    Fact {
        file: SCAN_OPTIONS,
        code: "window: 32_768,",
        sentences: &[Sentence(MANY_SERVERS, "| 32,768 queries |")],
    },
    // Timing.
    Fact {
        file: TIMING,
        code: "timeout: Micros(4_000_000),",
        sentences: &[
            Sentence(MANY_SERVERS, "4 s by default, if the server sends nothing"),
            Sentence(MANY_SERVERS, "gets up to four timeouts, 16 s"),
            Sentence(ONE_SERVER, "one address, retries included | 4 s |"),
            Sentence("src/guide/migration.md", "4 s, 2 retries"),
        ],
    },
    Fact {
        file: TIMING,
        code: "retry_after: Micros(1_200_000),",
        sentences: &[Sentence(ONE_SERVER, "| 1.2 s |")],
    },
    Fact {
        file: TIMING,
        code: "retries: 2,",
        sentences: &[Sentence("src/guide/migration.md", "4 s, 2 retries")],
    },
    // The server side.
    Fact {
        file: GUARD,
        code: "burst: 64 << 10,",
        sentences: &[
            Sentence("src/guide/testing.md", "64 KiB at once"),
            Sentence(THREATS, "after a burst of 64 KiB"),
        ],
    },
    Fact {
        file: GUARD,
        code: "bytes_per_second: 8 << 10,",
        sentences: &[Sentence(THREATS, "8 KiB per second to one source")],
    },
    Fact {
        file: GUARD,
        code: "total_bytes_per_second: 1 << 20,",
        sentences: &[
            Sentence(THREATS, "1 MiB per second in total"),
            Sentence(THREATS, "1 MiB/s, half reserved"),
        ],
    },
    Fact {
        file: GUARD,
        code: "const SOURCES_PER_NETWORK: u64 = 4;",
        sentences: &[
            Sentence(GUARD, "four times as much as a source"),
            Sentence(THREATS, "four times as much to one /24 or /48"),
            Sentence(THREATS, "256 KiB, then 32 KiB/s"),
        ],
    },
    Fact {
        file: GUARD,
        code: "const PROVED: u64 = 8;",
        sentences: &[
            Sentence(GUARD, "bounds of its own, eight times as large"),
            Sentence(THREATS, "separate bounds, eight times as large"),
        ],
    },
    Fact {
        file: GUARD,
        code: "options.total_bytes_per_second / 8,",
        sentences: &[Sentence(GUARD, "At once: a quarter of it")],
    },
    Fact {
        file: GUARD,
        code: "REGULARS: u32 = 64;",
        sentences: &[
            Sentence(GUARD, "for 64 regular sources, a 64th for each"),
            Sentence(THREATS, "reserved for 64 regular sources"),
        ],
    },
    Fact {
        file: GUARD,
        code: "REGULAR_AFTER: Duration = Duration::from_secs(30);",
        sentences: &[
            Sentence(GUARD, "at least 30 s apart"),
            Sentence(THREATS, "two requests each, 30 s apart"),
        ],
    },
    Fact {
        file: GUARD,
        code: "ABSENT_AFTER: Duration = Duration::from_secs(600);",
        sentences: &[
            Sentence(GUARD, "while it asks at least every ten minutes"),
            Sentence(THREATS, "and then one every ten minutes"),
        ],
    },
    Fact {
        file: "src/serve/responder.rs",
        code: "const ENCODING: usize = 1024;",
        sentences: &[Sentence(GUARD, "counts as at least 1 KiB")],
    },
    Fact {
        file: "src/serve/responder.rs",
        code: "const MAX_QUEUED: usize = 1024;",
        sentences: &[Sentence(
            "src/serve/responder.rs",
            "1,024 replies that wait",
        )],
    },
    Fact {
        file: "src/reply.rs",
        code: "const MAX_BYTES: usize = 256 << 10;",
        sentences: &[Sentence(
            "src/serve/responder.rs",
            "256 KiB of encoded replies for each protocol",
        )],
    },
    Fact {
        file: "src/token.rs",
        code: "WINDOW: Duration = Duration::from_secs(15);",
        sentences: &[
            Sentence(THREATS, "valid for 15 to 30 s"),
            Sentence("src/quake3/server.rs", "15–30 s ago at most"),
        ],
    },
    Fact {
        file: "src/serve/announcer.rs",
        code: "interval: Duration::from_secs(300),",
        sentences: &[Sentence("src/serve/announcer.rs", "default 5 min")],
    },
    Fact {
        file: "src/serve/announcer.rs",
        code: "interval.clamp(Duration::from_secs(30), Duration::from_secs(900));",
        sentences: &[Sentence(
            "src/serve/announcer.rs",
            "heartbeats: 30 s–15 min",
        )],
    },
    Fact {
        file: "src/serve/announcer.rs",
        code: "MIN_INTERVAL: Duration = Duration::from_secs(10);",
        sentences: &[Sentence(
            "src/serve/announcer.rs",
            "no more than one every ten seconds",
        )],
    },
    Fact {
        file: "src/serve/announcer.rs",
        code: "MAX_MASTERS: usize = 32;",
        sentences: &[Sentence("src/serve/announcer.rs", "the first 32 are kept")],
    },
    // Masters.
    Fact {
        file: MASTER,
        code: "max_servers: 16_384,",
        sentences: &[Sentence(MASTER, "listed at a time; default 16,384")],
    },
    Fact {
        file: MASTER,
        code: "max_per_address: 32,",
        sentences: &[Sentence(MASTER, "one IPv6 /64; default 32")],
    },
    Fact {
        file: MASTER,
        code: "lifetime: Duration::from_secs(15 * 60),",
        sentences: &[Sentence(MASTER, "proved its address; default 15 min")],
    },
    Fact {
        file: MASTER,
        code: "lists_in_a_row: 4,",
        sentences: &[
            Sentence(MASTER, "gets at once; default 4"),
            Sentence(THREATS, "four lists a source"),
        ],
    },
    Fact {
        file: MASTER,
        code: "list_decay: Duration::from_secs(3),",
        sentences: &[
            Sentence(MASTER, "after those; default 3 s"),
            Sentence(THREATS, "then one in 3 s"),
        ],
    },
    Fact {
        file: MASTER,
        code: "list_bytes_per_second: 4 * 1024 * 1024,",
        sentences: &[
            Sentence(MASTER, "default 4 MiB, at least 64 KiB"),
            Sentence(THREATS, "4 MiB/s in total"),
            Sentence(THREATS, "lists of 4 MiB per second"),
        ],
    },
    Fact {
        file: MASTER,
        code: "const MAX_EVENTS: usize = 256;",
        sentences: &[Sentence(MASTER, "The latest 256 are kept")],
    },
    Fact {
        file: "src/quake3/master/registry.rs",
        code: "BYTES_PER_SERVER: usize = 704;",
        sentences: &[Sentence(THREATS, "704 bytes per server")],
    },
];

#[test]
fn the_numbers_in_documents_are_those_of_the_constants() {
    let mut wrong = Vec::new();
    for Fact {
        file,
        code,
        sentences,
    } in FACTS
    {
        if !text(file).contains(code) {
            wrong.push(format!("{file} has no longer {code:?}"));
        }
        for Sentence(document, sentence) in *sentences {
            if !text(document).contains(sentence) {
                wrong.push(format!("{document} does not state {sentence:?} ({code})"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A file with single spaces, without the marks of doc comments.
fn text(file: &str) -> String {
    let text = std::fs::read_to_string(root().join(file)).unwrap();
    let words: Vec<&str> = text
        .split_whitespace()
        .filter(|word| !["///", "//!", "//"].contains(word))
        .collect();
    words.join(" ")
}
