//! The largest datagrams are decoded on a thread with a small stack: no decoder needs more of it
//! for a longer input.
use bytes::Bytes;
use queryport::lists::ListPart;
use queryport::quake3::{
    Answer, Command, ConnectQuery, ConnectRequest, InfoString, Password, RconMode, RconQuery,
    Reply, Request, Response, StatusQuery, huffman,
};
use queryport::session::Conversation;
use queryport::{Limits, Protocol, QueryOptions, ServerStatus, Service, ToStatus};

use crate::common::requester;

/// The maximum size of a datagram over IPv4, in bytes.
const LARGEST: usize = 65_507;
/// Bytes of the stack. 16,000 nested calls of the smallest kind need twenty times as many.
const STACK: usize = 64 << 10;

/// Possible beginnings of a message.
const HEADS: [&[u8]; 24] = [
    b"",
    b"getinfo ",
    b"getstatus",
    b"getchallenge ",
    b"getchallenge 1 ",
    b"connect ",
    b"connect\\",
    b"connect \xff\xff",
    b"rcon ",
    b"rcon \"",
    b"srcon HMAC-MD4 TIME 0123456789abcdef ",
    b"getservers 68 ",
    b"getserversExt Nexuiz 3 ",
    b"heartbeat ",
    b"infoResponse\n",
    b"statusResponse\n",
    b"statusResponse\n\\a\\b\n",
    b"challengeResponse ",
    b"connectResponse ",
    b"print\n",
    b"reject ",
    b"echo \"",
    b"getserversResponse",
    b"getserversExtResponse",
];

/// Bytes that repeat after the beginning.
const TAILS: [&[u8]; 20] = [
    b"/**/",
    b"/*",
    b"*/",
    b"//",
    b" ",
    b"\"",
    b"\" \"",
    b"\\",
    b"\\k\\v",
    b"\n",
    b"\n ",
    b"\\k\\v\n ",
    b"\0",
    b"\xff",
    b"^",
    b"^1",
    b"1 2 \"x\"\n",
    b"1 2 \"",
    b"\\\x01\x02\x03\x04\x6d\x38",
    b"x",
];

fn with_small_stack(work: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new()
        .stack_size(STACK)
        .spawn(work)
        .unwrap()
        .join()
        .unwrap();
}

/// Everything that reads a datagram.
fn read(datagram: &[u8], limits: &Limits) -> usize {
    let mut read = 0;
    if let Ok(request) = Request::parse(datagram) {
        let service = Service::from(Protocol::Quake3);
        let replies = queryport::quake3::respond(
            &request,
            &ServerStatus::default(),
            &service,
            &requester("192.0.2.1:5000"),
        );
        read += replies.len();
        if let Command::Connect(connect) = request.command
            && let Ok(userinfo) = connect.userinfo()
        {
            read += InfoString::new(&userinfo).iter().count();
        }
    }
    if let Ok(response) = Response::parse(datagram, limits) {
        read += response.problems().count();
        let answer = Answer::from_datagrams([Bytes::copy_from_slice(datagram)], limits).unwrap();
        let status = answer.to_status();
        read += status
            .rules
            .iter()
            .map(|(_, value)| value.plain().len())
            .sum::<usize>();
        read += status
            .players
            .iter()
            .map(|player| player.name.plain().len())
            .sum::<usize>();
    }
    read += usize::from(Reply::parse(datagram).is_ok());
    read += ListPart::parse(datagram).map_or(0, |part| part.iter().count());
    StatusQuery::new(7, &QueryOptions::default().with_limits(*limits)).receive(datagram);
    ConnectQuery::new(7).receive(datagram);
    RconQuery::new(Password::new("x"), "status", RconMode::Plain, limits)
        .unwrap()
        .receive(datagram);
    read
}

#[test]
fn the_largest_datagram_fits_a_small_stack() {
    with_small_stack(|| {
        let limits = Limits::default()
            .with_max_rules(u16::MAX)
            .with_max_players(u16::MAX);
        let mut read_something = 0;
        for head in HEADS {
            for tail in TAILS {
                let mut datagram = [b"\xff\xff\xff\xff", head].concat();
                datagram.extend(tail.iter().cycle().take(LARGEST - datagram.len()));
                read_something += usize::from(read(&datagram, &limits) > 0);
            }
        }
        assert!(read_something > 100, "{read_something}");
    });
}

#[test]
fn any_number_of_comments_before_a_word_is_skipped() {
    with_small_stack(|| {
        let datagram = [
            b"\xff\xff\xff\xffgetinfo ",
            &b"/**/ ".repeat(13_000)[..],
            b"8aJ2",
        ]
        .concat();
        let request = Request::parse(&datagram).unwrap();
        assert_eq!(
            request.command,
            Command::GetInfo {
                challenge: Some(b"8aJ2")
            }
        );
        let datagram = [
            b"\xff\xff\xff\xff",
            &b"/* x */\t".repeat(8_000)[..],
            b"getstatus",
        ]
        .concat();
        assert_eq!(
            Request::parse(&datagram).unwrap().command,
            Command::GetStatus { challenge: None }
        );
    });
}

#[test]
fn the_coding_of_connect_takes_the_largest_text_on_a_small_stack() {
    with_small_stack(|| {
        for period in [1, 2, 251] {
            let plain: Vec<u8> = (0..LARGEST).map(|at| (at % period) as u8).collect();
            let mut coded = Vec::new();
            huffman::compress(&plain, &mut coded).unwrap();
            assert!(huffman::decompress(&coded, LARGEST).unwrap() == plain);
        }
        let noise: Vec<u8> = (0..LARGEST).map(|at| (at * at / 7 % 256) as u8).collect();
        let _ = huffman::decompress(&noise, LARGEST);
        assert!(
            ConnectRequest::pack(&noise, &mut Vec::new()).is_err(),
            "longer than any userinfo"
        );
        assert!(Reply::print(&noise, false).len() > 60);
    });
}
