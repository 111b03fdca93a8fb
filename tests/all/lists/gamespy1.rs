//! GameSpy v1's list server over TCP: the session without a socket, in virtual time.
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use queryport::GameKey;
use queryport::lists::{GameSpy1List, ListError, ListRequest, ListSession};
use queryport::{Limits, ServerList, Timing};

const END: &[u8] = br"\final\";
const GREETING: &[u8] = br"\basic\\secure\WFXNEA";

/// Whether a list is compressed.
const PLAIN: bool = false;
const COMPRESSED: bool = true;

fn session(compressed: bool, now: Instant) -> ListSession {
    let mut request = GameSpy1List::new("ut", GameKey::new("Z5Nfb0").unwrap());
    request.compressed = compressed;
    ListRequest::from(request)
        .session(0, Timing::default(), now)
        .unwrap()
}

/// Greeting and list, each cut at every byte: the same list each time.
fn run(format: bool, greeting: &[u8], list: &[u8]) -> Result<ServerList, ListError> {
    let now = Instant::now();
    let cuts = (0..greeting.len().max(list.len())).map(|at| (at % greeting.len(), at % list.len()));
    let mut results = cuts.map(|(a, b)| {
        let mut session = session(format, now);
        let mut out = Vec::new();
        for part in [&greeting[..a], &greeting[a..], &list[..b], &list[b..]] {
            session.handle_bytes(now, part);
            session.poll_transmit(now, &mut out);
        }
        session.handle_end(now);
        session.poll_answer().unwrap()
    });
    let first = results.next().unwrap();
    for result in results {
        assert_eq!(result, first);
    }
    first
}

fn servers(list: &[&str]) -> Vec<SocketAddr> {
    list.iter().map(|text| text.parse().unwrap()).collect()
}

#[test]
fn plain_lists_are_read() {
    let list = run(
        PLAIN,
        GREETING,
        br"\ip\192.0.2.1:7778\ip\::ffff:192.0.2.2:1\ip\[2001:db8::1]:2\final\",
    )
    .unwrap();
    let all = ["192.0.2.1:7778", "192.0.2.2:1", "[2001:db8::1]:2"];
    assert_eq!(list.servers, servers(&all));
    assert!(is_complete(&list));
    let greeting = br"\basic\\secure\WFXNEA\final\";
    let list = run(PLAIN, greeting, br"\ip\192.0.2.1:7778\final\\queryid\1.1\").unwrap();
    assert!(is_complete(&list) && list.servers.len() == 1);
    let list = run(PLAIN, GREETING, br"\ip\192.0.2.1:7778\final").unwrap();
    assert!(is_complete(&list), "only the last byte is missing");
    for empty in [&br"\final\"[..], br"\final\\queryid\1.1"] {
        let empty = run(PLAIN, GREETING, empty).unwrap();
        assert!(is_complete(&empty) && empty.servers.is_empty());
    }
    // The end mark of the greeting, with a text that lacks its last byte.
    let late = br"\final\\queryid\1.1\ip\192.0.2.1:7778\final\";
    let list = run(PLAIN, GREETING, late).unwrap();
    assert!(is_complete(&list) && list.servers.len() == 1);
}

#[test]
fn a_cut_list_is_incomplete() {
    let list = run(PLAIN, GREETING, br"\ip\192.0.2.1:7778\ip\192.0.2.2:77").unwrap();
    assert_eq!(
        (list.servers.len(), is_complete(&list)),
        (1, false),
        "the last address may be cut"
    );
    for (list, count) in [
        (&br"\ip\192.0.2.1:7778\queryid\1.1\"[..], 1),
        (br"\final\\ip\192.0.2.1:7778\queryid\1.1\", 1),
        (br"\final\\ip\192.0.2.1:77", 0),
        (br"\final\\", 0),
    ] {
        let list = run(PLAIN, GREETING, list).unwrap();
        assert_eq!((list.servers.len(), is_complete(&list)), (count, false));
    }
    let list = run(COMPRESSED, GREETING, b"\xc0\0\x02\x01\x1e\x62\xc0\0\x02").unwrap();
    assert_eq!(
        (&list.servers, is_complete(&list)),
        (&servers(&["192.0.2.1:7778"]), false)
    );
    let list = run(COMPRESSED, GREETING, b"\xc0\0\x02\x01\x1e\x62\\final").unwrap();
    assert_eq!(
        (&list.servers, is_complete(&list)),
        (&servers(&["192.0.2.1:7778"]), false),
        "a cut end mark"
    );
    assert_eq!(
        run(COMPRESSED, GREETING, b"\xc0").map(|list| is_complete(&list)),
        Ok(false)
    );
}

/// 92.102.105.110:24940 is `\final`, and a server at 92.x follows.
#[test]
fn a_record_may_look_like_the_end() {
    let record = |ip: [u8; 4], port: u16| [&ip[..], &port.to_be_bytes()].concat();
    let look_alike = record([92, 102, 105, 110], 24940);
    let list = [
        &record([192, 0, 2, 1], 7778)[..],
        &look_alike,
        &record([92, 1, 2, 3], 1),
        END,
    ]
    .concat();
    // Some servers add text after the mark, and some leave out its last byte.
    for text in [&b""[..], br"\queryid\1.1\", br"\queryid\1.1"] {
        let list = run(COMPRESSED, GREETING, &[&list[..], text].concat()).unwrap();
        assert_eq!(
            list.servers,
            servers(&["192.0.2.1:7778", "92.102.105.110:24940", "92.1.2.3:1"])
        );
        assert!(is_complete(&list));
    }
    let list = run(
        COMPRESSED,
        br"\basic\\secure\WFXNEA\final\",
        &[&look_alike[..], END].concat(),
    );
    assert_eq!(list.unwrap().servers, servers(&["92.102.105.110:24940"]));
    let cut = [&look_alike[..], &record([92, 1, 2, 3], 1), b"\\"].concat();
    let list = run(COMPRESSED, br"\basic\\secure\WFXNEA\final\", &cut).unwrap();
    assert_eq!(
        (&list.servers, is_complete(&list)),
        (&servers(&["92.102.105.110:24940", "92.1.2.3:1"]), false)
    );
    assert_eq!(
        run(COMPRESSED, GREETING, END).map(|list| is_complete(&list)),
        Ok(true)
    );
}

#[test]
fn refusals_and_other_services_are_told_apart() {
    let refused = run(PLAIN, GREETING, br"\fatal\1\error\Validation error");
    assert_eq!(
        refused,
        Err(ListError::Refused("Validation error".to_owned()))
    );
    let refused = run(
        COMPRESSED,
        GREETING,
        br"\error\Invalid source gamename\final\",
    );
    assert_eq!(
        refused,
        Err(ListError::Refused("Invalid source gamename".to_owned()))
    );
    for list in [&br"\ip\nonsense\final\"[..], br"\ip\nonsense\queryid\1.1\"] {
        let malformed = ListError::Malformed(GREETING.len());
        assert_eq!(run(PLAIN, GREETING, list), Err(malformed));
    }
    let now = Instant::now();
    let mut ssh = session(PLAIN, now);
    ssh.handle_bytes(now, b"SSH-2.0-x");
    ssh.handle_end(now);
    assert_eq!(ssh.poll_answer(), Some(Err(ListError::NoGreeting)));
    // The longest greeting that is read.
    let mut long = session(PLAIN, now);
    long.handle_bytes(now, &[b'x'; 512]);
    assert_eq!(long.poll_answer(), None);
    long.handle_bytes(now, b"x");
    assert_eq!(long.poll_answer(), Some(Err(ListError::NoGreeting)));
    let mut empty = session(PLAIN, now);
    empty.handle_bytes(now, br"\basic\\secure\\ip\192.0.2.1:1\final\");
    assert_eq!(
        empty.poll_answer(),
        Some(Err(ListError::NoGreeting)),
        "a challenge of no bytes"
    );
}

#[test]
fn the_words_of_a_refusal_are_at_most_200_bytes() {
    let long = [br"\error\".to_vec(), b"x".repeat(300)].concat();
    let refused = run(PLAIN, GREETING, &[&long[..], br"\final\"].concat());
    assert_eq!(refused, Err(ListError::Refused("x".repeat(200))));
    // In place of a greeting.
    let now = Instant::now();
    let mut greeted = session(PLAIN, now);
    greeted.handle_bytes(now, &[br"\error\".to_vec(), b"x".repeat(600)].concat());
    assert_eq!(greeted.poll_answer(), Some(refused));
}

#[test]
fn an_endless_stream_is_given_up() {
    let now = Instant::now();
    let mut session = session(COMPRESSED, now);
    session.handle_bytes(now, GREETING);
    session.handle_bytes(now, &vec![7; (4 << 20) - GREETING.len()]);
    assert_eq!(session.poll_answer(), None, "the longest that is read");
    session.handle_bytes(now, &[7]);
    assert_eq!(session.poll_answer(), Some(Err(ListError::TooLong)));
}

fn is_complete(list: &ServerList) -> bool {
    list.completeness.is_complete()
}

/// Calls the verbs in the documented order, without any bytes, until the session has its answer.
fn wait(session: &mut ListSession, mut now: Instant) -> (Instant, Result<ServerList, ListError>) {
    for _ in 0..10 {
        session.poll_transmit(now, &mut Vec::new());
        if let Some(answer) = session.poll_answer() {
            assert_eq!(session.poll_timeout(), None);
            return (now, answer);
        }
        now = session.poll_timeout().unwrap().max(now);
        session.handle_timeout(now);
    }
    panic!("the session stalls");
}

#[test]
fn silence_ends_at_the_deadline() {
    let start = Instant::now();
    let deadline = start + Timing::default().timeout();
    let mut silent = session(PLAIN, start);
    assert_eq!(
        wait(&mut silent, start),
        (deadline, Err(ListError::NoReply))
    );
    let mut other = session(PLAIN, start);
    other.handle_bytes(start, b"220 mail");
    assert_eq!(
        wait(&mut other, start),
        (deadline, Err(ListError::NoGreeting))
    );
    let mut greeted = session(PLAIN, start);
    greeted.handle_bytes(start, GREETING);
    assert!(
        greeted.poll_timeout().unwrap() <= start,
        "the request waits"
    );
    // A list server does not answer a wrong key.
    assert_eq!(
        wait(&mut greeted, start),
        (deadline, Err(ListError::NoReply))
    );
    for (format, list) in [
        (PLAIN, &br"\ip\192.0.2.1"[..]),
        (PLAIN, br"\final\\final\\ip\192.0.2.1"),
        (COMPRESSED, b"\xc0\0\x02\x01\x1e\x62\xc0"),
    ] {
        let mut begun = session(format, start);
        begun.handle_bytes(start, GREETING);
        begun.poll_transmit(start, &mut Vec::new());
        begun.handle_bytes(start, list);
        let (end, list) = wait(&mut begun, start);
        assert_eq!((end, is_complete(&list.unwrap())), (deadline, false));
    }
}

#[test]
fn a_stream_that_trickles_ends_at_the_deadline() {
    let start = Instant::now();
    let mut session = session(PLAIN, start);
    session.handle_bytes(start, GREETING);
    session.poll_transmit(start, &mut Vec::new());
    let mut now = start;
    while session.poll_answer().is_none() {
        now += Duration::from_millis(100);
        session.handle_bytes(now, br"\ip\192.0.2.1:7778");
    }
    assert_eq!(now, start + Timing::default().timeout());
}

#[test]
fn a_list_that_looks_ended_settles() {
    let start = Instant::now();
    let settle = Duration::from_millis(500);
    let record = [&[192, 0, 2, 1, 0x1E, 0x62][..], END].concat();
    for (format, end_of_greeting, list, count) in [
        (PLAIN, END, END, 0),
        (PLAIN, END, br"\final\\queryid\1.1", 0),
        (PLAIN, END, br"\final\\queryid\1.1\", 0),
        (COMPRESSED, END, END, 0),
        (COMPRESSED, b"", &record[..], 1),
    ] {
        let deadline = start + Timing::default().timeout();
        let late = deadline - settle / 2;
        for (arrived, expected_end) in [(start, start + settle), (late, deadline)] {
            let mut session = session(format, start);
            session.handle_bytes(start, GREETING);
            session.handle_bytes(start, end_of_greeting);
            session.poll_transmit(start, &mut Vec::new());
            session.handle_bytes(arrived, list);
            assert_eq!(session.poll_answer(), None, "more may follow");
            let (end, list) = wait(&mut session, arrived);
            let list = list.unwrap();
            assert_eq!(
                (end, list.servers.len(), is_complete(&list)),
                (expected_end, count, true),
                "{format:?}"
            );
        }
    }
}

/// The end mark of the greeting is not that of an empty list.
#[test]
fn an_end_mark_before_the_request_belongs_to_the_greeting() {
    let start = Instant::now();
    let record = [&[192, 0, 2, 1, 0x1E, 0x62][..], END].concat();
    for (format, list) in [
        (PLAIN, &br"\ip\192.0.2.1:7778\final\"[..]),
        (COMPRESSED, &record),
    ] {
        let mut session = session(format, start);
        session.handle_bytes(start, GREETING);
        session.handle_bytes(start, END);
        session.poll_transmit(start, &mut Vec::new());
        let later = start + Duration::from_secs(2);
        session.handle_timeout(later);
        assert_eq!(session.poll_answer(), None, "a slow server");
        session.handle_bytes(later, list);
        session.handle_end(later);
        let list = session.poll_answer().unwrap().unwrap();
        assert_eq!(list.servers, servers(&["192.0.2.1:7778"]));
        assert!(is_complete(&list));
    }
}

/// The caller advances time before it takes the request.
#[test]
fn a_request_that_waits_is_no_request_without_a_reply() {
    let start = Instant::now();
    let last = start + Timing::default().timeout() - Duration::from_nanos(1);
    let ended = [GREETING, END].concat();
    let record = [&[192, 0, 2, 1, 0x1E, 0x62][..], END].concat();
    let text = &br"\ip\192.0.2.1:7778\final\"[..];
    for (format, list) in [(PLAIN, text), (COMPRESSED, &record[..])] {
        for pieces in [&[GREETING][..], &[&ended], &[GREETING, END]] {
            let greeted = || {
                let mut session = session(format, start);
                for piece in pieces {
                    session.handle_bytes(start, piece);
                }
                session
            };
            let mut slow = greeted();
            for now in [start, start + Duration::from_millis(500), last] {
                slow.handle_timeout(now);
            }
            assert_eq!(slow.poll_answer(), None);
            assert!(slow.poll_transmit(last, &mut Vec::new()).is_some());
            slow.handle_bytes(last, list);
            slow.handle_end(last);
            let list = slow.poll_answer().unwrap().unwrap();
            assert_eq!(list.servers, servers(&["192.0.2.1:7778"]));
            assert!(is_complete(&list));

            let (mut closed, mut late) = (greeted(), greeted());
            closed.handle_end(start);
            late.handle_timeout(start + Timing::default().timeout());
            for mut ended in [closed, late] {
                assert_eq!(ended.poll_answer(), Some(Err(ListError::NoReply)));
                assert_eq!(ended.poll_transmit(last, &mut Vec::new()), None);
            }
        }
    }
}

/// It arrives late, and the list is cut.
#[test]
fn the_end_mark_of_the_greeting_is_no_server() {
    let start = Instant::now();
    let mut session = session(COMPRESSED, start);
    session.handle_bytes(start, GREETING);
    session.poll_transmit(start, &mut Vec::new());
    session.handle_bytes(start, END);
    session.handle_bytes(start, b"\xc0\0\x02\x01\x1e\x62\xc0\0\x02\x02\x1e\x62\xc0");
    session.handle_end(start);
    let list = session.poll_answer().unwrap().unwrap();
    assert_eq!(list.servers, servers(&["192.0.2.1:7778", "192.0.2.2:7778"]));
    assert!(!is_complete(&list));
}

#[test]
fn servers_are_listed_once_and_up_to_the_limit() {
    let start = Instant::now();
    let list =
        br"\ip\192.0.2.1:1\ip\192.0.2.1:1\ip\192.0.2.2:1\ip\192.0.2.3:1\ip\192.0.2.2:1\final\";
    let run = |limits: Limits| {
        let mut session = session(PLAIN, start).with_limits(limits);
        session.handle_bytes(start, GREETING);
        session.poll_transmit(start, &mut Vec::new());
        session.handle_bytes(start, list);
        session.poll_answer().unwrap().unwrap()
    };
    assert_eq!(
        run(Limits::default()).servers,
        servers(&["192.0.2.1:1", "192.0.2.2:1", "192.0.2.3:1"])
    );
    // Repetitions need no space.
    let exact = run(Limits::default().with_max_servers(3));
    assert!(exact.servers.len() == 3 && is_complete(&exact));
    let limited = run(Limits::default().with_max_servers(2));
    assert_eq!(
        (
            limited.servers.len(),
            limited.over_limit,
            is_complete(&limited)
        ),
        (2, 1, false)
    );
}

/// The end mark of the greeting arrives after the request, and the list arrives slowly.
#[test]
fn a_late_end_mark_of_the_greeting_is_not_an_empty_list() {
    let start = Instant::now();
    let later = start + Duration::from_secs(2);
    let record = [&[192, 0, 2, 1, 0x1E, 0x62][..], END].concat();
    for (format, list) in [
        (PLAIN, &br"\ip\192.0.2.1:7778\final\"[..]),
        (COMPRESSED, &record),
    ] {
        let greeted = || {
            let mut session = session(format, start);
            session.handle_bytes(start, GREETING);
            session.poll_transmit(start, &mut Vec::new());
            session.handle_bytes(start, END);
            session.handle_timeout(later);
            session
        };
        let mut slow = greeted();
        assert_eq!(slow.poll_answer(), None, "a slow server");
        slow.handle_bytes(later, list);
        slow.handle_end(later);
        let list = slow.poll_answer().unwrap().unwrap();
        assert_eq!(list.servers, servers(&["192.0.2.1:7778"]));
        assert!(is_complete(&list));

        let (end, list) = wait(&mut greeted(), start);
        assert_eq!(end, start + Timing::default().timeout());
        assert!(!is_complete(&list.unwrap()), "no list came");
        let mut twice = greeted();
        twice.handle_bytes(later, END);
        let (_, list) = wait(&mut twice, later);
        assert!(is_complete(&list.unwrap()), "two end marks: an empty list");
    }
}

#[test]
fn an_entry_that_cannot_be_read_does_not_cut_the_rest() {
    let list = run(
        PLAIN,
        GREETING,
        br"\ip\192.0.2.1:7778\ip\not.an.address\ip\192.0.2.2\ip\192.0.2.3:99999\ip\\ip\192.0.2.4:1\final\",
    )
    .unwrap();
    assert_eq!(list.servers, servers(&["192.0.2.1:7778", "192.0.2.4:1"]));
    assert!(!is_complete(&list), "some servers are unknown");
    let unreadable = br"\ip\not.an.address\ip\192.0.2.3:99999\final\";
    assert_eq!(
        run(PLAIN, GREETING, unreadable),
        Err(ListError::Malformed(GREETING.len())),
        "the first one"
    );
    let list = run(
        PLAIN,
        GREETING,
        br"\ip\192.0.2.1:1\hostname\x\ip\192.0.2.2:1\final\",
    )
    .unwrap();
    assert_eq!(list.servers, servers(&["192.0.2.1:1", "192.0.2.2:1"]));
    assert!(is_complete(&list));
}

/// netPanzer's list server sends no greeting, and has its own key for the port
/// (netpanzer/netpanzer, ServerQueryThread.cpp).
#[test]
fn the_list_of_netpanzer_is_read() {
    let start = Instant::now();
    let list = br"\ip\192.0.2.1\port\3030\ip\192.0.2.2\port\3031\final\";
    let request = ListRequest::from(GameSpy1List::without_login("netpanzer"));
    for cut in 0..list.len() {
        let mut session = request
            .clone()
            .session(0, Timing::default(), start)
            .unwrap();
        let mut out = Vec::new();
        session.poll_transmit(start, &mut out);
        assert_eq!(out, br"\list\gamename\netpanzer\final\");
        session.handle_bytes(start, &list[..cut]);
        session.handle_bytes(start, &list[cut..]);
        let list = session.poll_answer().unwrap().unwrap();
        assert_eq!(list.servers, servers(&["192.0.2.1:3030", "192.0.2.2:3031"]));
        assert!(is_complete(&list));
    }
    let mut empty = request.session(0, Timing::default(), start).unwrap();
    empty.poll_transmit(start, &mut Vec::new());
    empty.handle_bytes(start, END);
    let (end, list) = wait(&mut empty, start);
    assert_eq!(end, start + Duration::from_millis(500));
    assert!(is_complete(&list.unwrap()));
}

/// Recorded from a list server for Vietcong (garncarz/nogamespy-vietcong a895219): it asks for no
/// proof.
#[test]
fn a_greeting_with_an_empty_challenge_is_answered_after_a_silence() {
    let start = Instant::now();
    let record = [&[192, 0, 2, 1, 0x1E, 0x62][..], END].concat();
    for (format, list) in [
        (PLAIN, &br"\ip\192.0.2.1:7778\final\"[..]),
        (COMPRESSED, &record),
    ] {
        for late_end in [&b""[..], END] {
            let mut session = session(format, start);
            session.handle_bytes(start, br"\basic\\secure\");
            let settled = session.poll_timeout().unwrap();
            assert_eq!(settled, start + Duration::from_millis(500));
            // The request waits to be taken meanwhile.
            for now in [settled, settled, settled + Duration::from_secs(2)] {
                session.handle_timeout(now);
            }
            let mut out = Vec::new();
            assert!(session.poll_transmit(settled, &mut out).is_some());
            assert!(out.starts_with(WITHOUT_PROOF));
            session.handle_bytes(settled, late_end);
            session.handle_bytes(settled, list);
            session.handle_end(settled);
            let list = session.poll_answer().unwrap().unwrap();
            assert_eq!(list.servers, servers(&["192.0.2.1:7778"]));
            assert!(is_complete(&list));
        }
    }
}

const WITHOUT_PROOF: &[u8] = br"\gamename\ut\gamever\1\location\0\validate\\final\";

/// The end mark can arrive in two pieces, the second one late.
#[test]
fn an_empty_challenge_with_an_end_mark_is_answered_at_once() {
    let start = Instant::now();
    let later = start + Duration::from_secs(2);
    let empty = br"\basic\\secure\";
    let greeting = [&empty[..], END].concat();
    for cut in empty.len() + 1..greeting.len() {
        let mut session = session(PLAIN, start);
        session.handle_bytes(start, &greeting[..cut]);
        session.handle_timeout(later);
        let mut out = Vec::new();
        assert_eq!(session.poll_transmit(later, &mut out), None, "{cut}");
        session.handle_bytes(later, &greeting[cut..]);
        assert!(session.poll_transmit(later, &mut out).is_some(), "{cut}");
        assert!(out.starts_with(WITHOUT_PROOF));
        session.handle_bytes(later, br"\ip\192.0.2.1:15425\final\");
        let list = session.poll_answer().unwrap().unwrap();
        assert!(list.servers.len() == 1 && is_complete(&list));
    }
}

/// The greeting of list servers has six characters.
#[test]
fn a_challenge_of_another_length_is_answered_too() {
    let start = Instant::now();
    let later = start + Duration::from_millis(500);
    for (length, answered_at) in [
        (1, Some(later)),
        (5, Some(later)),
        (6, Some(start)),
        (64, Some(start)),
        (65, None),
    ] {
        let greeting = [&br"\basic\\secure\"[..], &b"A".repeat(length)].concat();
        let mut session = session(PLAIN, start);
        session.handle_bytes(start, &greeting);
        let mut sends_at = |now| {
            session.handle_timeout(now);
            let sent = session.poll_transmit(now, &mut Vec::new());
            sent.map(|_| now)
        };
        let answered = sends_at(start).or_else(|| sends_at(later));
        assert_eq!(answered, answered_at, "{length}");
        let refused = Some(Err(ListError::NoGreeting)).filter(|_| length > 64);
        assert_eq!(session.poll_answer(), refused, "{length}");
    }
}

#[test]
fn texts_of_a_list_have_1024_bytes_at_most() {
    for (length, end, is_read) in [(1024, r"\", true), (1025, r"\", false), (1024, "", false)] {
        let name = "x".repeat(length);
        let list = format!(r"\ip\192.0.2.1:1\hostname\{name}{end}ip\192.0.2.2:1\final\");
        let now = Instant::now();
        let mut session = session(PLAIN, now);
        for bytes in [GREETING, list.as_bytes()] {
            session.handle_bytes(now, bytes);
            session.poll_transmit(now, &mut Vec::new());
        }
        let list = session.poll_answer().unwrap().unwrap();
        assert_eq!(
            (list.servers.len(), is_complete(&list)),
            (1 + usize::from(is_read), is_read)
        );
    }
}
