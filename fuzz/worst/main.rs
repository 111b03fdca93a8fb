//! Searches for the input that costs most per byte, for each target. See `fuzz/README.md`.
//!
//! ```text
//! cd fuzz/worst && cargo run --release -- [--memory] [--seconds N] [--seed N] [WORD]...
//! ```
//!
//! `WORD`: part of a target's name; default: all targets.
//!
//! With `--seconds 0`, it prints the costs of the inputs in `found.rs` at three sizes.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a program for developers"
)]

mod meter;
mod search;

use std::path::Path;
use std::time::Duration;

use kit::worst::found::{self, Found};
use kit::worst::shape::Shape;
use kit::worst::targets::{TARGETS, Target};
use meter::Cost;
use search::{Search, per_byte};

/// The command line.
struct Options {
    cost: Cost,
    seconds: u64,
    seed: u64,
    words: Vec<String>,
}

impl Options {
    fn of_command_line() -> Self {
        let mut options = Self {
            cost: Cost::Work,
            seconds: 60,
            seed: 1,
            words: Vec::new(),
        };
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--memory" => options.cost = Cost::Memory,
                "--seconds" => options.seconds = number(arguments.next()),
                "--seed" => options.seed = number(arguments.next()),
                _ => options.words.push(argument),
            }
        }
        options
    }

    fn wants(&self, target: &Target) -> bool {
        self.words.iter().all(|word| target.name.contains(word))
    }
}

fn number(text: Option<String>) -> u64 {
    let number = text.and_then(|text| text.parse().ok());
    number.expect("a number")
}

fn main() {
    let options = Options::of_command_line();
    let found = match options.cost {
        Cost::Work => found::work(),
        Cost::Memory => found::memory(),
    };
    for target in TARGETS.iter().filter(|target| options.wants(target)) {
        let of_target = found.iter().filter(|found| found.target == target.name);
        let known: Vec<&Found> = of_target.collect();
        for found in &known {
            print_known(target, options.cost, found);
        }
        if options.seconds > 0 {
            let known = known.iter().map(|found| found.shape.clone()).collect();
            search(target, &options, known);
        }
    }
}

/// Prints the costs of a known input at three sizes.
fn print_known(target: &Target, cost: Cost, found: &Found) {
    let costs = [4, 2, 1].map(|part| per_byte(target, cost, &found.shape, found.size / part));
    println!("{}: {}", found.name(), costs_text(costs));
}

/// Searches for a costlier input than the known ones, and prints it.
fn search(target: &Target, options: &Options, known: Vec<Shape>) {
    let size = target.size();
    let cost = options.cost;
    let mut search = Search::new(target, cost, size, seeds(target.name), known, options.seed);
    let tried = search.run(Duration::from_secs(options.seconds));
    let shape = search.reduced();
    let costs = [1, 2, 4].map(|times| per_byte(target, cost, &shape, size * times));
    println!("{}: {tried} tried, {}", target.name, costs_text(costs));
    print_shape(&shape);
}

fn costs_text([first, second, third]: [f64; 3]) -> String {
    format!("{first:.1} a byte, {second:.1}, {third:.1}")
}

/// Prints a shape as a literal for `found.rs`.
fn print_shape(shape: &Shape) {
    println!("    Shape::new([");
    for template in shape.templates.iter() {
        let text = |bytes: &[u8]| format!("b\"{}\"", bytes.escape_ascii());
        let [head, unit, tail] =
            [&template.head, &template.unit, &template.tail].map(|part| text(part));
        let length = template.length;
        println!("        template({head}, {unit}, {tail}, {length}),");
    }
    println!("    ], {}, {}),", shape.every, shape.sources);
}

/// The corpora and vectors of a target's protocol, and its dictionary.
fn seeds(target: &str) -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let protocol = target.split(' ').next().unwrap_or_default();
    let is_one = ["gamespy1", "gamespy4", "quake3", "ut2004"].contains(&protocol);
    let (mut seeds, mut tokens): (Vec<Vec<u8>>, Vec<Vec<u8>>) = (Vec::new(), Vec::new());
    let starts = STARTS
        .iter()
        .filter(|(words, _)| words.split('|').any(|word| target.contains(word)));
    seeds.extend(starts.map(|(_, bytes)| bytes.to_vec()));
    let belongs = |name: &str| {
        if is_one {
            name.starts_with(protocol)
        } else {
            !name.contains("differential")
        }
    };
    for folder in folders(&root.join("fuzz/corpus"))
        .into_iter()
        .chain(folders(&root.join("tests/vectors")))
    {
        let name = folder
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let is_list = name == "cod4x_list" && target.contains("cod4x");
        for file in folders(&folder)
            .iter()
            .filter(|_| belongs(&name) || is_list)
        {
            let Ok(bytes) = std::fs::read(file) else {
                continue;
            };
            if file
                .extension()
                .is_some_and(|extension| extension == "json")
            {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                seeds.extend(text.split('"').filter_map(hexadecimal));
            } else {
                seeds.push(bytes);
            }
        }
    }
    for file in folders(&root.join("fuzz/dict")) {
        if !is_one
            || file
                .file_stem()
                .is_some_and(|stem| stem.to_string_lossy() == *protocol)
        {
            let text = std::fs::read_to_string(file).unwrap_or_default();
            tokens.extend(
                text.lines()
                    .filter(|line| !line.starts_with('#'))
                    .filter_map(unescaped),
            );
        }
    }
    (seeds, tokens)
}

/// Inputs to start from, for targets with one of these words in their names. In the corpora they
/// occur only inside scripts.
const STARTS: &[(&str, &[u8])] = &[
    ("quake3 responder|guard|inspect|scan", b"\xff\xff\xff\xffgetstatus abc"),
    ("quake3 responder|guard", b"\xff\xff\xff\xffconnect \"\\protocol\\71\\challenge\\1\""),
    ("quake3|scan", b"\xff\xff\xff\xffstatusResponse\n\\a\\b\n1 2 \"c\"\n3 4 \"d\"\n"),
    ("medal of honor|inspect", b"\xff\xff\xff\xff\x01statusResponse\n\\a\\b\n"),
    ("rcon|inspect|connect", b"\xff\xff\xff\xffprint\nmap: q3dm17\nnum score ping name\n"),
    ("rcon", b"\xff\xff\xff\xffnmap: q3dm17\n"),
    ("quake3 list", b"\xff\xff\xff\xffgetserversExtResponse\\\x01\x02\x03\x04\x05\x06\\\x01\x02\x03\x05\x05\x06\\EOT\0\0\0"),
    ("master", b"\xff\xff\xff\xffheartbeat DarkPlaces\n"),
    ("master", b"\xff\xff\xff\xffinfoResponse\n\\gamename\\x\\protocol\\1\\clients\\8\\sv_maxclients\\8\\challenge\\123"),
    ("master", b"\xff\xff\xff\xffgetservers x 1 empty full"),
    ("master", b"\xff\xff\xff\xffgetserversExt x 1 empty"),
    ("announcer, quake3", b"\xff\xff\xff\xffgetinfo abcdefgh"),
    ("announcer, gamespy1", br"\secure\abcdef"),
    ("gamespy1 responder|guard", br"\status\\status\\status\\status\"),
    ("gamespy1 responder|guard", br"\info\\rules\\players\\teams\\echo\abc"),
    ("gamespy4|scan", b"\0\x01\x02\x03\x04splitnum\0\x80\0hostname\0Srv\0\0\x01player_\0\0Ann\0\0\0\x02team_t\0\0Red\0\0\0"),
    ("ut2004 session|scan", b"\x80\0\0\0\x01\x04abc\0\x04def\0\x04abd\0\x04def\0"),
    ("ut2004 session|scan", b"\x80\0\0\0\x02\x05\0\0\0\x04abc\0\x1c\0\0\0\xfd\xff\xff\xff\0\0\0\x20"),
    ("ut2004 responder|guard", b"\x79\0\0\0\x03"),
    ("ut2004 list", b"\x20\0\0\0\x01\x02\x03\x04\x05\x06\x07\x08\x02a\0\x02b\0\x02c\0\x01\x08\0\0\0\0\x020\0"),
    ("cod4x", b"\xff\xff\xff\xffgetserversResponse\n\0\\\x04\x01\x02\x03\x04\x05\x06\x01\0"),
    ("games", b"quake 3 arena"),
];

fn folders(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn hexadecimal(text: &str) -> Option<Vec<u8>> {
    let is_packet = text.len() >= 16
        && text.len().is_multiple_of(2)
        && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let byte = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).unwrap();
    is_packet.then(|| (0..text.len()).step_by(2).map(byte).collect())
}

/// The bytes in a line of a dictionary.
fn unescaped(line: &str) -> Option<Vec<u8>> {
    let text = line.split_once('"')?.1.rsplit_once('"')?.0.as_bytes();
    let (mut out, mut at) = (Vec::new(), 0);
    while at < text.len() {
        match &text[at..] {
            [b'\\', b'x', high, low, ..] => {
                let digits = [*high, *low];
                out.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
                at += 4;
            }
            [b'\\', byte, ..] => {
                out.push(*byte);
                at += 2;
            }
            [byte, ..] => {
                out.push(*byte);
                at += 1;
            }
            [] => break,
        }
    }
    Some(out)
}
