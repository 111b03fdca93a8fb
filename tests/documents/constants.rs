//! Numbers that documents state are those of the constants in the code.

use kit::root;
use kit::worst::found;

/// A constant, and the places that state its value.
struct Fact {
    file: &'static str,
    /// As the code writes it. One that changes here must change there.
    code: &'static str,
    sentences: &'static [Sentence],
}

struct Sentence(&'static str, &'static str);

const CLIENT: &str = "src/net/client.rs";
const GUARD: &str = "src/serve/guard.rs";
const MASTER: &str = "src/quake3/master/options.rs";
const MASTER_EVENTS: &str = "src/quake3/master/mod.rs";
const SCANNER: &str = "src/scan/scanner.rs";
const SCAN_OPTIONS: &str = "src/scan/options.rs";
const TIMING: &str = "src/session/timing.rs";
const MANY_SERVERS: &str = "src/guide/many_servers.md";
const ONE_SERVER: &str = "src/guide/one_server.md";
const THREATS: &str = "src/guide/threat_model.md";

const FACTS: &[Fact] = &[
    // Exit status.
    Fact {
        file: "examples/shared/command_line.rs",
        code: "0 success, 1 failure or no usable answer, 2 wrong command line,\\n3 incomplete answer",
        sentences: &[Sentence(
            "README.md",
            "0 for success, 1 for a failure, 2 for a wrong command line and 3 for an incomplete answer",
        )],
    },
    // Names.
    Fact {
        file: "src/net/querier.rs",
        code: "const DEADLINE: Duration = Duration::from_secs(10);",
        sentences: &[
            Sentence(CLIENT, "10 min, default 10 s"),
            Sentence(ONE_SERVER, "all addresses of the name | 10 s |"),
        ],
    },
    Fact {
        file: "src/net/querier.rs",
        code: "MIN_DEADLINE: Duration = Duration::from_millis(10);",
        sentences: &[Sentence(CLIENT, "10 ms–10 min")],
    },
    Fact {
        file: "src/net/querier.rs",
        code: "MAX_DEADLINE: Duration = Duration::from_secs(600);",
        sentences: &[Sentence(CLIENT, "10 ms–10 min")],
    },
    Fact {
        file: "src/net/querier.rs",
        code: "MAX_ADDRESSES: usize = 32;",
        sentences: &[Sentence(CLIENT, "first 32")],
    },
    Fact {
        file: "src/net/querier.rs",
        code: "MIN_SHARE: Duration = Duration::from_millis(500);",
        sentences: &[Sentence(CLIENT, "at least half a second")],
    },
    Fact {
        file: "src/net/scan/mod.rs",
        code: "MAX_LOOKUPS: usize = 32;",
        sentences: &[Sentence(CLIENT, "32 at a time")],
    },
    // Detection and queries by game.
    Fact {
        file: "src/net/detect.rs",
        code: "GAP: Duration = Duration::from_millis(20);",
        sentences: &[Sentence(CLIENT, "20 ms apart")],
    },
    Fact {
        file: "src/net/detect.rs",
        code: "AFTER_FIRST: Duration = Duration::from_millis(500);",
        sentences: &[
            Sentence(CLIENT, "half a second after the first answer"),
            Sentence(
                "src/net/blocking/mod.rs",
                "half a second after the first answer",
            ),
        ],
    },
    Fact {
        file: "src/net/detect.rs",
        code: "STAGGER: Duration = Duration::from_millis(600);",
        sentences: &[
            Sentence(CLIENT, "0.6 s"),
            Sentence("src/net/blocking/mod.rs", "0.6 s apart"),
        ],
    },
    Fact {
        file: "src/net/detect.rs",
        code: "NEXT_PORTS: u16 = 3;",
        sentences: &[Sentence(CLIENT, "next three ports")],
    },
    Fact {
        file: "src/net/detect.rs",
        code: "MAX_ATTEMPTS: usize = 32;",
        sentences: &[Sentence(CLIENT, "32 ports")],
    },
    // The local network.
    Fact {
        file: "src/limits.rs",
        code: "MAX_LAN_SERVERS: usize = 4096;",
        sentences: &[Sentence(CLIENT, "4,096 addresses")],
    },
    Fact {
        file: "src/limits.rs",
        code: "MAX_LAN_SERVERS_PER_HOST: usize = 128;",
        sentences: &[Sentence(CLIENT, "128 per host")],
    },
    Fact {
        file: "src/lan.rs",
        code: "const PORTS: u16 = 4;",
        sentences: &[Sentence(CLIENT, "the three after it")],
    },
    // Lists.
    Fact {
        file: "src/net/inquiry.rs",
        code: "LIST_TIMEOUT: Duration = Duration::from_secs(45);",
        sentences: &[Sentence("src/net/inquiry.rs", "45 s for the list servers")],
    },
    Fact {
        file: "src/net/inquiry.rs",
        code: "MAX_PER_HOST: usize = 256;",
        sentences: &[Sentence("src/net/inquiry.rs", "256 ports")],
    },
    Fact {
        file: "src/limits.rs",
        code: "MAX_LIST_BYTES: u32 = 4 * 1024 * 1024;",
        sentences: &[Sentence(THREATS, "maximum length, 4 MiB")],
    },
    Fact {
        file: "src/lists/quake3.rs",
        code: "const MAX_PASSES: u8 = 8;",
        sentences: &[Sentence("src/lists/quake3.rs", "1–8, default 2")],
    },
    // The console.
    Fact {
        file: "src/net/rcon.rs",
        code: "const GAP: Duration = Duration::from_millis(650);",
        sentences: &[Sentence("src/guide/rcon.md", "one per 650 ms")],
    },
    Fact {
        file: "src/net/rcon.rs",
        code: "const DECAY: Duration = Duration::from_millis(1050);",
        sentences: &[
            Sentence("src/net/rcon.rs", "after at most 1.05 s"),
            Sentence("src/guide/rcon.md", "one per 1.05 s"),
        ],
    },
    // Scans.
    Fact {
        file: SCAN_OPTIONS,
        code: "per_host: Some(8),",
        sentences: &[Sentence(SCAN_OPTIONS, "default 8")],
    },
    Fact {
        file: "src/scan/admission.rs",
        code: "MAX_QUEUE_DELAY: Duration = Duration::from_millis(50);",
        sentences: &[Sentence(SCAN_OPTIONS, "50 ms longer")],
    },
    Fact {
        file: "src/scan/admission.rs",
        code: "INITIAL_RATE: f64 = 20e6;",
        sentences: &[Sentence(SCAN_OPTIONS, "20 MB")],
    },
    Fact {
        file: "src/scan/admission.rs",
        code: "DEFAULT_RECEIVE_BUFFER: usize = 212_992;",
        sentences: &[
            Sentence(SCANNER, "212,992 bytes"),
            Sentence("src/net/scan/mod.rs", "212,992 bytes"),
        ],
    },
    Fact {
        file: SCANNER,
        code: "const MAX_WAITING: usize = 4096;",
        sentences: &[Sentence(SCANNER, "4,096")],
    },
    Fact {
        file: SCANNER,
        code: "const MAX_REMEMBERED: usize = 512;",
        sentences: &[
            Sentence(SCANNER, "512 queries that ended last"),
            Sentence(SCAN_OPTIONS, "512 queries that ended last"),
        ],
    },
    Fact {
        file: SCANNER,
        code: "const MAX_TIMEOUTS: u8 = 4;",
        sentences: &[
            Sentence(SCANNER, "four timeouts"),
            Sentence(CLIENT, "four times"),
            Sentence(SCAN_OPTIONS, "four timeouts"),
        ],
    },
    Fact {
        file: "src/net/scan/mod.rs",
        code: "RECEIVE_BUFFER: u32 = 8 * 1024 * 1024;",
        sentences: &[Sentence(SCAN_OPTIONS, "8 MiB")],
    },
    Fact {
        file: "src/net/target.rs",
        code: "const REPEAT_AFTER: Duration = Duration::from_millis(10);",
        sentences: &[Sentence("src/net/scan/mod.rs", "every 10 ms")],
    },
    Fact {
        file: "src/net/target.rs",
        code: "const REPEAT_FOR: Duration = Duration::from_secs(1);",
        sentences: &[Sentence("src/net/scan/mod.rs", "for a second")],
    },
    Fact {
        file: SCAN_OPTIONS,
        code: "window: 32_768,",
        sentences: &[Sentence(MANY_SERVERS, "| 32,768 queries |")],
    },
    // Timing.
    Fact {
        file: TIMING,
        code: "timeout: Duration::from_millis(4000),",
        sentences: &[
            Sentence(MANY_SERVERS, "4 s by default"),
            Sentence(MANY_SERVERS, "four timeouts, 16 s"),
            Sentence(ONE_SERVER, "one address, retries included | 4 s |"),
            Sentence("src/guide/migration.md", "4 s, 2 retries"),
        ],
    },
    Fact {
        file: TIMING,
        code: "retry_after: Duration::from_millis(1200),",
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
        sentences: &[Sentence(THREATS, "8 KiB per second")],
    },
    Fact {
        file: GUARD,
        code: "total_bytes_per_second: 1 << 20,",
        sentences: &[
            Sentence(THREATS, "1 MiB per second in total"),
            Sentence(THREATS, "1 MiB/s"),
        ],
    },
    Fact {
        file: GUARD,
        code: "const SOURCES_PER_NETWORK: u64 = 4;",
        sentences: &[
            Sentence(GUARD, "four times as much"),
            Sentence(THREATS, "four times as much"),
            Sentence(THREATS, "256 KiB, then 32 KiB/s"),
        ],
    },
    Fact {
        file: GUARD,
        code: "const PROVED: u64 = 8;",
        sentences: &[
            Sentence(GUARD, "a second set of these buckets, eight times as large"),
            Sentence(THREATS, "eight times as large"),
        ],
    },
    Fact {
        file: GUARD,
        code: "let half_burst = options.total_bytes_per_second / 8;",
        sentences: &[Sentence(GUARD, "a quarter of it")],
    },
    Fact {
        file: GUARD,
        code: "REGULARS: u32 = 64;",
        sentences: &[
            Sentence(GUARD, "64 regular sources, a 64th for each"),
            Sentence(THREATS, "64 regular sources"),
        ],
    },
    Fact {
        file: GUARD,
        code: "REGULAR_AFTER: Duration = Duration::from_secs(30);",
        sentences: &[
            Sentence(GUARD, "30 s apart"),
            Sentence(THREATS, "30 s apart"),
        ],
    },
    Fact {
        file: GUARD,
        code: "ABSENT_AFTER: Duration = Duration::from_secs(600);",
        sentences: &[
            Sentence(GUARD, "every ten minutes"),
            Sentence(THREATS, "every ten minutes"),
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
        file: "src/token.rs",
        code: "WINDOW: Duration = Duration::from_secs(15);",
        sentences: &[
            Sentence(THREATS, "valid for 15 to 30 s"),
            Sentence("src/quake3/server.rs", "15–30 s ago at most"),
        ],
    },
    Fact {
        file: "src/serve/announcer.rs",
        code: "INTERVAL: Duration = Duration::from_secs(300);",
        sentences: &[
            Sentence("src/serve/announcer.rs", "then every five minutes"),
            Sentence(
                "src/guide/heartbeats.md",
                "the heartbeat every five minutes",
            ),
        ],
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
    Fact {
        file: "src/service.rs",
        code: "max_datagrams: 64,",
        sentences: &[Sentence("src/service.rs", "list; default 64")],
    },
    Fact {
        file: "src/gamespy1/server.rs",
        code: "const MAX_ECHO: usize = 50;",
        sentences: &[Sentence("src/service.rs", "up to 50 bytes")],
    },
    // Masters.
    Fact {
        file: MASTER,
        code: "max_servers: 16_384,",
        sentences: &[Sentence(MASTER, "default 16,384")],
    },
    Fact {
        file: MASTER,
        code: "max_per_address: 32,",
        sentences: &[Sentence(MASTER, "default 32")],
    },
    Fact {
        file: MASTER,
        code: "lifetime: Duration::from_secs(15 * 60),",
        sentences: &[Sentence(MASTER, "default 15 min")],
    },
    Fact {
        file: MASTER,
        code: "lists_in_a_row: 4,",
        sentences: &[
            Sentence(MASTER, "/64 gets at once; default 4."),
            Sentence(THREATS, "four lists a source"),
        ],
    },
    Fact {
        file: MASTER,
        code: "list_decay: Duration::from_secs(3),",
        sentences: &[
            Sentence(MASTER, "default 3 s"),
            Sentence(THREATS, "then one in 3 s"),
        ],
    },
    Fact {
        file: MASTER,
        code: "list_bytes_per_second: 4 * 1024 * 1024,",
        sentences: &[
            Sentence(MASTER, "default 4 MiB, at least 64 KiB"),
            Sentence(THREATS, "4 MiB/s in total"),
            Sentence(THREATS, "4 MiB per second"),
        ],
    },
    Fact {
        file: MASTER_EVENTS,
        code: "const MAX_EVENTS: usize = 256;",
        sentences: &[Sentence(MASTER_EVENTS, "latest 256")],
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

/// The costs of the worst inputs, rounded up.
#[test]
fn the_documents_state_the_highest_cost_of_an_input() {
    let counts = root().join("benches/instructions/counts.txt");
    let counts = std::fs::read_to_string(counts).unwrap();
    let (mut per_byte, mut of_games) = (Vec::new(), 0);
    for found in found::work() {
        let row = format!(" worst {}", found.name());
        let count = |line: &str| line.strip_suffix(&row)?.trim().parse::<usize>().ok();
        let count = counts.lines().find_map(count);
        let count = count.unwrap_or_else(|| panic!("{} was not counted", found.name()));
        // It looks up texts of a fixed length.
        if found.target == "games" {
            of_games = count;
        } else {
            per_byte.push(count / found.size);
        }
    }
    assert!(per_byte.len() > 50, "{per_byte:?}");
    let highest = per_byte.iter().max().unwrap() / 100 + 1;
    let highest = format!("{},{:03} instructions", highest / 10, highest % 10 * 100);
    let millions = format!("at most {} million instructions", of_games / 1_000_000 + 1);
    for (document, stated) in [
        (THREATS, &highest),
        ("benches/README.md", &highest),
        ("benches/README.md", &millions),
    ] {
        assert!(text(document).contains(stated), "{document}: {stated}");
    }
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
