//! The tricks on which others fall, one test for each row of what is known of them.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use queryport::Limits;
use queryport::Timing;
use queryport::gamespy4::{Answer, StatusQuery};
use queryport::session::Session;
use queryport::{ParseErrorKind, QueryError};

use crate::common::pair::SERVER;
use crate::decode;

/// A session with a server that is played by hand, past the challenge.
struct Rig {
    session: Session<StatusQuery>,
    now: Instant,
    id: [u8; 4],
}

impl Rig {
    fn new() -> Self {
        let now = Instant::now();
        let query = StatusQuery::new(7, Limits::default());
        let mut session = Session::new(query, at(SERVER), Timing::default(), &Limits::default(), now);
        let mut out = Vec::new();
        session.poll_transmit(now, &mut out).unwrap();
        let id = out[3..7].try_into().unwrap();
        let mut rig = Self { session, now, id };
        rig.hear(SERVER, &[b"\x09", &id[..], b"123\0"].concat());
        out.clear();
        rig.session.poll_transmit(now, &mut out).unwrap();
        assert_eq!(out[7..], [0, 0, 0, 123, 0xFF, 0xFF, 0xFF, 1]);
        rig
    }

    fn hear(&mut self, from: &str, datagram: &[u8]) {
        self.session.handle_datagram(self.now, at(from), datagram);
    }

    fn part(&self, number: u8, body: &[u8]) -> Vec<u8> {
        [b"\0", &self.id[..], b"splitnum\0", &[number], body].concat()
    }

    /// Lets time pass until the query ends.
    fn end(mut self) -> (Result<Answer, QueryError>, Duration) {
        let start = self.now;
        loop {
            if let Some(result) = self.session.poll_answer() {
                return (result.map(|outcome| outcome.answer), self.now - start);
            }
            self.now = self.session.poll_timeout().unwrap();
            self.session.handle_timeout(self.now);
            let _ = self.session.poll_transmit(self.now, &mut Vec::new());
        }
    }
}

fn at(address: &str) -> SocketAddr {
    address.parse().unwrap()
}

const WHOLE: &[u8] = b"\0hostname\0Srv\0\0\x01player_\0\0Ann\0\0\0\x02\0";

/// Where others fall: «reply from another address or port; spoofed reply first».
#[test]
fn a_reply_from_elsewhere_is_ignored() {
    let mut rig = Rig::new();
    let forged = rig.part(0x80, b"\0hostname\0forged\0\0\x01\0\x02\0");
    rig.hear("192.0.2.2:27961", &forged);
    rig.hear("192.0.2.3:27960", &forged);
    assert_eq!(rig.session.stats().foreign, 2);
    let whole = rig.part(0x80, WHOLE);
    rig.hear(SERVER, &whole);
    assert_eq!(rig.end().0.unwrap().reply().get("hostname"), Some(&b"Srv"[..]));
}

/// Where others fall: «wrong GS4 request id: qstat, opengsq, mcstatus accept».
#[test]
fn a_wrong_request_id_is_rejected() {
    let mut rig = Rig::new();
    let mut forged = rig.part(0x80, WHOLE);
    forged[1] ^= 1;
    rig.hear(SERVER, &forged);
    let challenge = b"\x09\x7f\x7f\x7f\x7f1\0";
    rig.hear(SERVER, challenge);
    assert_eq!(rig.session.stats().rejected, 2);
    match rig.end().0 {
        Err(QueryError::NoUsableAnswer { last, .. }) => {
            assert_eq!((last.kind, last.offset), (ParseErrorKind::Mismatch("request id"), 1));
        }
        other => panic!("{other:?}"),
    }
}

/// Data cannot come before it was asked for, nor a challenge twice.
#[test]
fn replies_out_of_turn_change_nothing() {
    let now = Instant::now();
    let query = StatusQuery::new(7, Limits::default());
    let mut session = Session::new(query, at(SERVER), Timing::default(), &Limits::default(), now);
    let mut out = Vec::new();
    session.poll_transmit(now, &mut out).unwrap();
    let data = [b"\0", &out[3..7], b"splitnum\0\x80", WHOLE].concat();
    session.handle_datagram(now, at(SERVER), &data);
    assert_eq!((session.stats().rejected, session.poll_answer().is_none()), (1, true));
    let mut rig = Rig::new();
    let again = [b"\x09", &rig.id[..], b"124\0"].concat();
    rig.hear(SERVER, &again);
    assert!(rig.session.poll_transmit(rig.now, &mut Vec::new()).is_none(), "one request for one challenge");
}

/// Where others fall: «every datagram twice», «fragments reversed».
#[test]
fn copies_and_order_change_nothing() {
    let mut rig = Rig::new();
    for number in [2_u8, 2, 1, 1, 0] {
        let datagram = match number {
            2 => rig.part(0x82, b"\x02team_t\0\0Red\0\0\0"),
            1 => rig.part(1, b"\x01player_\0\x01Bob\0\0\0"),
            _ => rig.part(0, b"\0hostname\0Srv\0\0\x01player_\0\0Ann\0"),
        };
        rig.hear(SERVER, &datagram);
    }
    let answer = rig.end().0.unwrap();
    assert!(answer.completeness().is_complete());
    assert_eq!((answer.reply().players().len(), answer.reply().teams().len()), (2, 1));
}

/// Where others fall: «endless stream, never final: qstat, rust gamedig, opengsq never end (no total deadline)».
#[test]
fn an_endless_stream_ends_at_the_deadline() {
    let mut rig = Rig::new();
    let start = rig.now;
    for round in 0..2000_u32 {
        let datagram = rig.part((round % 128) as u8 & 0x7F, b"\x01player_\0\0Ann\0Bob\0");
        rig.hear(SERVER, &datagram);
        rig.now += Duration::from_millis(5);
    }
    let (result, _) = Rig { now: start + Duration::from_secs(10), ..rig }.end();
    let answer = result.unwrap();
    assert!(!answer.completeness().is_complete());
    assert!(answer.raw().len() <= 32 * 40, "32 datagrams are kept");
}

/// Where others fall: «empty datagram; … start row 255: rust gamedig panics, aborts the process».
#[test]
fn what_makes_others_panic_is_only_rejected() {
    let mut rig = Rig::new();
    for datagram in [&b""[..], b"\0", b"\x09", b"\xff", b"\0\x01\x02\x03", b"\x09\x01\x02\x03"] {
        rig.hear(SERVER, datagram);
    }
    assert_eq!(rig.session.stats().rejected, 6);
    let row_255 = rig.part(0x80, b"\0hostname\0Srv\0\0\x01player_\0\xff");
    rig.hear(SERVER, &row_255);
    assert!(!rig.end().0.unwrap().completeness().is_complete());
    let gap = [
        &b"\0\x01\x02\x03\x04splitnum\0\x00\0hostname\0Srv\0\0"[..],
        b"\0\x01\x02\x03\x04splitnum\0\x81\x01player_\0\xffZoe\0\0\0\x02\0",
    ];
    let answer = decode(gap).unwrap();
    assert!(!answer.completeness().is_complete(), "255 rows never came");
    let mut rows = answer.reply().players().rows();
    assert_eq!(rows.len(), 256);
    assert_eq!(rows.next().unwrap().get("player_"), None, "not an empty name: no name");
    assert_eq!(rows.last().unwrap().get("player_"), Some(&b"Zoe"[..]));
}

/// Where others fall: «server keys continued in the second GS4 datagram: node gamedig, opengsq, GameQ lose them».
#[test]
fn server_keys_continue_in_the_second_datagram() {
    // Filled to the brim with a cut key, and written again whole.
    let mut first = b"\0\x01\x02\x03\x04splitnum\0\x00\0hostname\0Srv\0filler\0".to_vec();
    first.resize(1386, b'x');
    first.extend_from_slice(b"\0bf2_sponsorl\0");
    assert_eq!(first.len(), 1400);
    let second =
        b"\0\x01\x02\x03\x04splitnum\0\x81\0bf2_sponsorlogo_url\0\0bf2_x\x001\0\0\x01\0\x02\0".to_vec();
    let answer = decode([second, first]).unwrap();
    assert!(answer.completeness().is_complete());
    let keys: Vec<_> = answer.reply().server().map(|(key, _)| key).collect();
    assert_eq!(keys, [&b"hostname"[..], b"filler", b"bf2_sponsorlogo_url", b"bf2_x"]);
}

/// A field name that was cut is no player.
#[test]
fn a_cut_field_name_is_no_value() {
    let mut first = b"\0\x01\x02\x03\x04splitnum\0\x00\0hostname\0Srv\0\0\x01player_\0\0AA\0".to_vec();
    first.resize(1390, b'B');
    first.extend_from_slice(b"\0CC\0\0scor\0");
    first.truncate(1400);
    let last = b"\0\x01\x02\x03\x04splitnum\0\x81\x01score_\0\x005\x006\x007\0\0\0\x02\0".to_vec();
    let answer = decode([first, last]).unwrap();
    assert!(answer.completeness().is_complete(), "{:?}", answer.completeness());
    let players = answer.reply().players();
    assert_eq!((players.len(), players.fields().len()), (3, 2));
    assert_eq!(players.rows().last().unwrap().get("player_"), Some(&b"CC"[..]));
}

/// GameSpy's own code stops after eight datagrams, none of which is the last.
#[test]
fn eight_datagrams_without_a_last_one_are_an_incomplete_answer_soon() {
    let mut rig = Rig::new();
    for number in 0..8 {
        let mut body = if number == 0 { b"\0hostname\0Srv\0\0\x01player_\0\0".to_vec() } else { Vec::new() };
        if number > 0 {
            body.extend_from_slice(&[b"\x01player_\0", &[number * 10][..]].concat());
        }
        for row in 0..10 {
            body.extend_from_slice(format!("player {row}\0").as_bytes());
        }
        let datagram = rig.part(number, &body);
        rig.hear(SERVER, &datagram);
    }
    let (result, waited) = rig.end();
    let answer = result.unwrap();
    assert!(!answer.completeness().is_complete());
    assert_eq!(answer.reply().players().len(), 80);
    assert!(waited < Duration::from_millis(200), "{waited:?}: another try would bring the same");
}

/// «numplayers» says 64 over 63 rows on a real server, and 0 rows where lists are hidden.
#[test]
fn the_list_is_what_is_listed() {
    let datagram = b"\0\x01\x02\x03\x04splitnum\0\x80\0numplayers\x0064\0\0\x01player_\0\0Ann\0\0\0\x02\0";
    let status = decode([&datagram[..]]).unwrap().to_status();
    assert_eq!((status.player_count, status.listed_players().len()), (Some(64), 1));
}

#[test]
fn limits_hold() {
    let mut datagram = b"\0\x01\x02\x03\x04splitnum\0\x80\0k\0v\0\0\x01player_\0\0".to_vec();
    datagram.extend_from_slice(&b"x\0".repeat(2000));
    let kind = |datagram: &[u8], limits| {
        Answer::from_datagrams([datagram.to_vec().into()], &limits).map(|_| ()).map_err(|error| error.kind)
    };
    assert_eq!(kind(&datagram, Limits::default()), Err(ParseErrorKind::Limit("players")));
    assert_eq!(kind(&datagram, Limits::default().with_max_players(2000)), Ok(()));
    let mut datagram = b"\0\x01\x02\x03\x04splitnum\0\x80\0".to_vec();
    datagram.extend_from_slice(&b"k\0v\0".repeat(11));
    assert_eq!(kind(&datagram, Limits::default().with_max_rules(10)), Err(ParseErrorKind::Limit("rules")));
    let mut datagram = b"\0\x01\x02\x03\x04splitnum\0\x80\0k\0v\0\0\x01".to_vec();
    datagram.extend_from_slice(&b"c_\0\0\0".repeat(65));
    assert_eq!(kind(&datagram, Limits::default()), Err(ParseErrorKind::Limit("columns")));
}
