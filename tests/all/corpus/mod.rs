//! Runs the assertions of the fuzz targets over the committed corpus, on stable.

mod naive;

use kit::fuzz::{
    differential, gamespy1, gamespy4, json, lists, quake3, quake3_client, quake3_huffman,
    quake3_master, structured, ut2004,
};

/// The maximum size of a datagram over IPv4, in bytes.
const LARGEST: usize = 65_507;
/// Bytes of the stack that inputs of every length are read on.
const STACK: usize = 256 << 10;

/// Replays a corpus whose inputs are one datagram each, or one script of datagrams: short ones cut
/// at every byte, long ones in steps.
fn replay(target: &'static str, body: fn(&[u8])) {
    replay_cut(target, 20, body);
}

/// Replays a corpus of inputs cut at few lengths: inputs that `arbitrary` reads, of which not every
/// byte belongs to a datagram, and inputs that take long.
fn replay_at_few_lengths(target: &'static str, body: fn(&[u8])) {
    replay_cut(target, 6, body);
}

fn replay_cut(target: &'static str, cuts: usize, body: fn(&[u8])) {
    let replay = move || replay_here(target, cuts, body);
    std::thread::Builder::new()
        .stack_size(STACK)
        .spawn(replay)
        .unwrap()
        .join()
        .unwrap();
}

/// The inputs of a target, in order of their names. There are at least this many.
fn inputs(target: &str, least: usize) -> Vec<(String, Vec<u8>)> {
    let folder = kit::root().join("fuzz/corpus").join(target);
    let entries =
        std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(
        paths.len() >= least,
        "{target} has a corpus of {}",
        paths.len()
    );
    let input = |path: std::path::PathBuf| {
        let bytes = std::fs::read(&path).unwrap();
        (path.display().to_string(), bytes)
    };
    paths.into_iter().map(input).collect()
}

fn replay_here(target: &str, cuts: usize, body: fn(&[u8])) {
    for (number, (_, input)) in inputs(target, 5).into_iter().enumerate() {
        body(&input);
        for cut in kit::twist::some_cuts(&input, cuts) {
            body(cut);
        }
        if number % 8 == 0 {
            let repeated = input.iter().copied().cycle();
            body(&repeated.take(LARGEST).collect::<Vec<u8>>());
        }
    }
}

#[test]
fn gamespy1_request() {
    replay("gamespy1_request", gamespy1::request);
}

#[test]
fn gamespy1_response() {
    replay("gamespy1_response", gamespy1::response);
}

#[test]
fn gamespy1_conversation() {
    replay("gamespy1_conversation", gamespy1::conversation);
}

#[test]
fn gamespy1_list() {
    replay("gamespy1_list", lists::gamespy1);
}

#[test]
fn quake3_request() {
    replay("quake3_request", quake3::request);
}

#[test]
fn quake3_response() {
    replay("quake3_response", quake3::response);
}

#[test]
fn ut2004_request() {
    replay("ut2004_request", ut2004::request);
}

#[test]
fn ut2004_response() {
    replay("ut2004_response", ut2004::response);
}

#[test]
fn ut2004_conversation() {
    replay("ut2004_conversation", ut2004::conversation);
}

#[test]
fn quake3_huffman() {
    replay_at_few_lengths("quake3_huffman", quake3_huffman::huffman);
}

#[test]
fn quake3_list() {
    replay("quake3_list", quake3_master::list_part);
}

#[test]
fn quake3_reply() {
    replay("quake3_reply", quake3_master::reply);
}

#[test]
fn quake3_master() {
    replay("quake3_master", quake3_master::master);
}

#[test]
fn quake3_conversation() {
    replay("quake3_conversation", quake3_client::list);
}

#[test]
fn quake3_connect() {
    replay("quake3_connect", quake3_client::connect);
}

#[test]
fn quake3_rcon() {
    replay("quake3_rcon", quake3_client::rcon);
}

#[test]
fn quake3_refusal() {
    replay("quake3_refusal", quake3_client::refusal);
}

#[test]
fn model_json() {
    replay("model_json", json::model);
}

#[test]
fn gamespy4_request() {
    replay("gamespy4_request", gamespy4::request);
}

#[test]
fn gamespy4_response() {
    replay("gamespy4_response", gamespy4::response);
}

#[test]
fn gamespy4_conversation() {
    replay("gamespy4_conversation", gamespy4::conversation);
}

#[test]
fn ut2004_list() {
    replay("ut2004_list", lists::ut2004);
}

#[test]
fn gamespy4_list() {
    replay("gamespy4_list", lists::gamespy4);
}

#[test]
fn cod4x_list() {
    replay("cod4x_list", lists::cod4x);
}

#[test]
fn quake3_differential() {
    replay_at_few_lengths("quake3_differential", differential::quake3);
}

#[test]
fn ut2004_differential() {
    replay_at_few_lengths("ut2004_differential", differential::ut2004);
}

#[test]
fn gamespy1_differential() {
    replay_at_few_lengths("gamespy1_differential", differential::gamespy1);
}

#[test]
fn gamespy4_differential() {
    replay_at_few_lengths("gamespy4_differential", differential::gamespy4);
}

#[test]
fn served_status() {
    replay_at_few_lengths("served_status", structured::served_status);
}

#[test]
fn requests() {
    replay_at_few_lengths("requests", structured::requests);
}

#[test]
fn inspect() {
    replay("inspect", structured::inspected);
}

#[test]
fn responder() {
    replay_at_few_lengths("responder", structured::responder);
}

#[test]
fn scanner() {
    replay_at_few_lengths("scanner", structured::scanner);
}

#[test]
fn announcer() {
    replay_at_few_lengths("announcer", structured::announcer);
}

#[test]
fn games() {
    replay_at_few_lengths("games", structured::games);
}
