//! `queryport serve` from outside: its command line, its output, and its replies.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use kit::process;
use rustix::process::{Pid, Signal, kill_process};

fn serve(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_queryport"));
    command.arg("serve").args(arguments);
    command
}

/// A running server, ended with the test.
struct Server {
    child: Child,
    output: Option<BufReader<ChildStdout>>,
    /// The first line.
    line: String,
}

impl Server {
    fn start(arguments: &[&str]) -> Self {
        let mut child = serve(arguments)
            .args(["--seconds", "60"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        Self {
            child,
            output: Some(output),
            line,
        }
    }

    /// The first address after these words in the first line.
    fn address(&self, words: &str) -> SocketAddr {
        let (_, rest) = self
            .line
            .split_once(words)
            .unwrap_or_else(|| panic!("{}", self.line));
        let address = rest.split([' ', ',', '/', '\n']).next().unwrap();
        address
            .parse()
            .unwrap_or_else(|error| panic!("{error}: {}", self.line))
    }

    /// The next line of its output.
    fn next_line(&mut self) -> String {
        let mut line = String::new();
        let output = self.output.as_mut().unwrap();
        output.read_line(&mut line).unwrap();
        line
    }

    /// Ends it as a service manager does. Its exit status and complaints.
    fn end(&mut self) -> (Option<i32>, String) {
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
        let status = process::wait(&mut self.child);
        let mut complaints = String::new();
        let mut errors = self.child.stderr.take().unwrap();
        errors.read_to_string(&mut complaints).unwrap();
        (status.code(), complaints)
    }

    fn ask(&self, request: &[u8]) -> String {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket
            .set_read_timeout(Some(Duration::from_secs(20)))
            .unwrap();
        socket.send_to(request, self.address(" on ")).unwrap();
        let mut buffer = [0; 2048];
        let length = socket.recv(&mut buffer).unwrap();
        String::from_utf8_lossy(&buffer[..length]).into_owned()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const GETSTATUS: &[u8] = b"\xff\xff\xff\xffgetstatus";

#[test]
fn it_serves_a_status_from_a_file_in_two_protocols_and_counts() {
    let file = std::env::temp_dir().join(format!("queryport-status-{}.json", std::process::id()));
    std::fs::write(
        &file,
        r#"{"name": "From a file", "rules": [["sv_gravity", "700"]]}"#,
    )
    .unwrap();
    let server = Server::start(&[
        "quake3,gamespy1",
        "0",
        "--status",
        file.to_str().unwrap(),
        "--set",
        "map=q3dm6",
        "--metrics",
        "127.0.0.1:0",
    ]);
    std::fs::remove_file(file).unwrap();
    let reply = server.ask(GETSTATUS);
    for part in [
        r"\sv_hostname\From a file\",
        r"\mapname\q3dm6",
        r"\sv_gravity\700",
    ] {
        assert!(reply.contains(part), "{reply}");
    }
    assert!(
        server
            .ask(br"\info\")
            .starts_with(r"\hostname\From a file\")
    );
    let text = metrics(&server);
    assert!(text.contains("\nqueryport_answered_total 2\n"), "{text}");
}

/// The whole reply with the counters of this server.
fn metrics(server: &Server) -> String {
    let mut client = TcpStream::connect(server.address("http://")).unwrap();
    client.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").unwrap();
    let mut text = String::new();
    client.read_to_string(&mut text).unwrap();
    text
}

#[test]
fn the_counters_have_the_listed_names_and_kinds() {
    let arguments = ["quake3", "0", "--metrics", "127.0.0.1:0", "--players", "4"];
    let server = Server::start(&arguments);
    let text = metrics(&server);
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let kind = "content-type: text/plain; version=0.0.4; charset=utf-8\r\n";
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n") && head.contains(kind));
    let counters = [
        "answered",
        "unanswered",
        "ignored",
        "refused",
        "limited_by_source",
        "limited_overall",
        "dropped",
        "bytes_sent",
    ];
    let lines = counters.map(|name| {
        let name = format!("queryport_{name}_total");
        format!("# TYPE {name} counter\n{name} 0\n")
    });
    let players = "# TYPE queryport_players gauge\nqueryport_players 4\n";
    let (help, rest): (Vec<&str>, Vec<&str>) = body
        .split_inclusive('\n')
        .partition(|line| line.starts_with("# HELP "));
    assert_eq!(rest.concat(), lines.concat() + players);
    assert_eq!(help.len(), counters.len() + 1, "{help:?}");
}

#[test]
fn each_request_is_reported_with_what_became_of_it() {
    let mut server = Server::start(&["gamespy4", "0", "--who"]);
    let from = UdpSocket::bind("127.0.0.1:0").unwrap();
    let to = server.address(" on ");
    let mut reported = |request: &[u8]| {
        from.send_to(request, to).unwrap();
        let line = server.next_line();
        line.replace(&from.local_addr().unwrap().to_string(), "FROM")
    };
    assert_eq!(reported(b"move"), "FROM: 4 bytes, not a request\n");
    // A challenge is a number of up to ten digits.
    let line = reported(b"\xfe\xfd\x09\0\0\0\x01");
    let length = line.strip_prefix("FROM: gamespy4, 7 bytes, answered with ");
    let length: u8 = length
        .and_then(|length| length.trim_end().parse().ok())
        .unwrap();
    assert!((7..=18).contains(&length), "{line}");
    assert_eq!(
        reported(b"\xfe\xfd\0\0\0\0\x01\0\0\0\0\xff\xff\xff\x01"),
        "FROM: gamespy4, 15 bytes, not answered: no valid token, or nothing that this server has\n"
    );
}

#[test]
fn players_of_a_crowd_come_and_go() {
    let server = Server::start(&["quake3", "0", "--crowd", "40"]);
    let players = || server.ask(GETSTATUS).lines().skip(2).count();
    let first = players();
    assert!((1..40).contains(&first), "{first}");
    // The crowd changes every second.
    while players() == first {
        std::thread::sleep(Duration::from_millis(200));
    }
}

#[test]
fn requests_are_reported_in_few_lines_and_serve_goes_on_without_a_reader() {
    let mut server = Server::start(&["quake3", "0", "--who", "--no-guard"]);
    for _ in 0..200 {
        server.ask(GETSTATUS);
    }
    let mut counted = 0;
    let mut lines = 0;
    let output = server.output.as_mut().unwrap();
    while counted < 200 {
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        lines += 1;
        match line.split_once(" more without a line") {
            Some((count, _)) => counted += count.parse::<u32>().unwrap(),
            None => {
                assert!(
                    line.starts_with("127.0.0.1:")
                        && line.contains(": quake3, 13 bytes, answered with"),
                    "{line}"
                );
                counted += 1;
            }
        }
    }
    assert!(lines < 200, "{lines} lines");
    drop(server.output.take());
    for _ in 0..20 {
        server.ask(GETSTATUS);
    }
    assert_eq!(server.end(), (Some(0), String::new()));
}

#[test]
fn heartbeats_go_to_every_address_of_a_master_and_it_says_who_received_one() {
    // A master at every address of `localhost` that this machine has, on one port.
    let first = UdpSocket::bind("localhost:0").unwrap();
    let name = format!("localhost:{}", first.local_addr().unwrap().port());
    let mut masters: Vec<UdpSocket> = vec![first];
    let of_name = std::net::ToSocketAddrs::to_socket_addrs(&name).unwrap();
    masters.extend(of_name.filter_map(|address| UdpSocket::bind(address).ok()));
    let own = "--address 127.0.0.1 --address ::1 --set game=IW6 --announce";
    let arguments = ["quake3", "0"].into_iter().chain(own.split(' '));
    let arguments: Vec<&str> = arguments.chain([&name[..]]).collect();
    let mut server = Server::start(&arguments);
    let mut heard = Vec::new();
    for master in &masters {
        master
            .set_read_timeout(Some(Duration::from_secs(20)))
            .unwrap();
        let mut buffer = [0; 2048];
        let (length, from) = master.recv_from(&mut buffer).unwrap();
        assert!(buffer[..length].starts_with(b"\xff\xff\xff\xffheartbeat "));
        master
            .send_to(b"\xff\xff\xff\xffgetinfo c7a1e5b2", from)
            .unwrap();
        let length = master.recv(&mut buffer).unwrap();
        let info = String::from_utf8_lossy(&buffer[..length]).into_owned();
        assert!(
            info.contains(r"\gamename\IW6\") && info.contains(r"\challenge\c7a1e5b2"),
            "{info}"
        );
        heard.push(server.next_line());
    }
    let expected = masters
        .iter()
        .map(|master| format!("{} received the heartbeat\n", master.local_addr().unwrap()));
    assert_eq!(heard, expected.collect::<Vec<_>>());
}

/// Of each kind of server: its first heartbeat, a query of its master and the last heartbeat. Nobody
/// reads the line about the query.
#[test]
fn each_kind_of_server_has_its_heartbeats() {
    for (word, first, query, last) in [
        (
            "quake3",
            "\u{ff}\u{ff}\u{ff}\u{ff}heartbeat DarkPlaces\n",
            "\u{ff}\u{ff}\u{ff}\u{ff}getinfo c7a1e5b2",
            "\u{ff}\u{ff}\u{ff}\u{ff}heartbeat DarkPlaces\n",
        ),
        (
            "quake2",
            "\u{ff}\u{ff}\u{ff}\u{ff}heartbeat\n\\hostname\\queryport embedded duel\\",
            "\u{ff}\u{ff}\u{ff}\u{ff}ping",
            "\u{ff}\u{ff}\u{ff}\u{ff}shutdown",
        ),
        ("quake", "a\n1\n2\n", "\u{ff}\u{ff}\u{ff}\u{ff}k\n", "C\n"),
        (
            "ut99",
            "\\heartbeat\\",
            "\\status\\",
            "\\gamename\\ut\\statechanged\\2",
        ),
    ] {
        let master = UdpSocket::bind("127.0.0.1:0").unwrap();
        let patience = Some(Duration::from_secs(20));
        master.set_read_timeout(patience).unwrap();
        let to = master.local_addr().unwrap().to_string();
        let mut server = Server::start(&[word, "0", "--announce", &to]);
        let heard = || {
            let mut buffer = [0; 2048];
            let (length, from) = master.recv_from(&mut buffer).unwrap();
            let text: String = buffer[..length].iter().copied().map(char::from).collect();
            (text, from)
        };
        let (heartbeat, from) = heard();
        assert!(heartbeat.starts_with(first), "{word}: {heartbeat:?}");
        drop(server.output.take());
        let query: Vec<u8> = query.chars().map(|c| c as u8).collect();
        master.send_to(&query, from).unwrap();
        assert_ne!(heard().0, heartbeat, "{word}: a reply");
        assert_eq!(server.end(), (Some(0), String::new()), "{word}");
        while !heard().0.ends_with(last) {}
    }
}

/// The words of an embedded server for `serve` and `query`, and the distance from the port that
/// `query` takes to its query port.
const EMBEDDED: [(&str, &str, i32); 9] = [
    ("quake3", "quake3", 0),
    ("quake2", "quake2", 0),
    ("quake", "quake", 0),
    ("ut99", "ut99", 1),
    ("ut2004", "ut2004", 0),
    ("ut3", "ut3", -1277),
    // Its query port is fixed.
    ("battlefield2", "gamespy4", 0),
    ("minecraft", "minecraft", 0),
    ("halo", "halo", 0),
];

/// The port that `query` takes.
fn asked_at(server: &Server, distance: i32) -> SocketAddr {
    let mut address = server.address(" on ");
    let port = i32::from(address.port()) - distance;
    address.set_port(port.try_into().unwrap());
    address
}

/// What `queryport query --json` prints.
fn line(what: &str, server: SocketAddr, more: &[&str]) -> serde_json::Value {
    let mut query = Command::new(env!("CARGO_BIN_EXE_queryport"));
    query.args(["query", what, &server.to_string(), "--json"]);
    let output = process::output(query.args(more));
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)))
}

/// The answer of `queryport query --json`.
fn answer(what: &str, server: SocketAddr, more: &[&str]) -> serde_json::Value {
    let mut answer = line(what, server, more)["answer"].take();
    // Each query of Quake 3 has a challenge of its own, which the reply quotes.
    if let Some(rules) = answer["rules"].as_array_mut() {
        rules.retain(|rule| rule[0] != "challenge");
    }
    answer
}

#[test]
fn a_recorded_server_is_answered_for_as_it_was() {
    kit::at_once(EMBEDDED, |(served, asked, distance)| {
        let server = Server::start(&[served, "0", "--players", "40"]);
        let name = format!("queryport-{served}-{}.txt", std::process::id());
        let file = std::env::temp_dir().join(name);
        let path = file.to_str().unwrap();
        let at = asked_at(&server, distance);
        let recorded = answer(asked, at, &["--record", path]);
        assert_eq!(recorded["players"].as_array().unwrap().len(), 40);
        let port = &recorded["game_port"];
        match served {
            "battlefield2" => assert_eq!(*port, 16567),
            "ut2004" => assert_eq!(*port, at.port() - 1),
            _ => assert!(port.is_null() || *port == at.port(), "{served}: {port}"),
        }
        drop(server);
        let replay = Server::start(&[served, "0", "--replay", path]);
        std::fs::remove_file(&file).unwrap();
        let replayed = answer(asked, asked_at(&replay, distance), &[]);
        assert_eq!(replayed, recorded, "{served}");
    });
}

#[test]
fn a_detailed_answer_is_served_without_loss() {
    kit::at_once(EMBEDDED, |(served, asked, distance)| {
        let server = Server::start(&[served, "0"]);
        let at = asked_at(&server, distance);
        let line = line(asked, at, &["--detailed"]);
        let name = format!("queryport-{served}-{}.json", std::process::id());
        let file = std::env::temp_dir().join(name);
        std::fs::write(&file, line.to_string()).unwrap();
        drop(server);
        let copy = Server::start(&[served, "0", "--status", file.to_str().unwrap()]);
        std::fs::remove_file(&file).unwrap();
        let mut copied = answer(asked, asked_at(&copy, distance), &["--detailed"]);
        let mut expected = line["answer"].clone();
        // The order of rules is that of the format, and some formats add rules.
        let rules = [&mut copied, &mut expected].map(|answer| answer["rules"].take());
        assert_eq!(copied, expected, "{served}");
        let [copied, expected] = rules.map(|rules| rules.as_array().unwrap().clone());
        for rule in expected {
            let key = rule[0].as_str().or(rule[0]["plain"].as_str()).unwrap();
            // Each query has a challenge of its own.
            let is_other = key == "challenge";
            assert!(is_other || copied.contains(&rule), "{served}: {rule}");
        }
    });
}

#[test]
fn a_status_from_a_file_has_no_invented_players() {
    let file = std::env::temp_dir().join(format!("queryport-few-{}.json", std::process::id()));
    std::fs::write(&file, r#"{"name": "From a file"}"#).unwrap();
    let server = Server::start(&["ut3", "0", "--status", file.to_str().unwrap()]);
    std::fs::remove_file(file).unwrap();
    let answer = answer("gamespy4", server.address(" on "), &[]);
    assert_eq!(answer["name"], "From a file");
    let count = |field: &str| answer[field].as_array().map_or(0, Vec::len);
    assert_eq!((count("players"), count("teams")), (0, 0), "{answer}");
    for field in ["player_count", "bot_count"] {
        assert!(answer[field].is_null() || answer[field] == 0, "{answer}");
    }
}
