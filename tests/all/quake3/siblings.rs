//! Quake 2, Alien Arena, QuakeWorld and Quetoo. The vectors are built by hand from the format
//! strings of the servers (id-Software/Quake-2 server/sv_main.c, alienarena/alienarena
//! source/server/sv_main.c, QW-Group/mvdsv src/sv_main.c, jdolan/quetoo src/server/sv_main.c).

use std::time::Instant;

use bytes::Bytes;
use queryport::games::Game;
use queryport::lists::ListRequest;
use queryport::model::Charset;
use queryport::quake3::{self, Answer, Command, Family, Request, Response, StatusQuery};
use queryport::session::{Conversation, OnTimeout, Remaining, Verdict, Wait};
use queryport::{
    Dialect, Format, Limits, ParseErrorKind, Part, Player, Protocol, QueryOptions, Requester,
    Secret, ServerStatus, Service, ToStatus, Verification, inspect,
};

use crate::common::captures::cases;

const QUAKE2: &[u8] = b"\xff\xff\xff\xffprint\n\\hostname\\\xd3rv\\mapname\\q2dm1\\maxclients\\8\
    \\needpass\\2\\gamename\\OpenTDM\\game\\opentdm\\protocol\\34\\fraglimit\\30\\timelimit\\20\
    \\version\\q2proded r2980\n12 50 \"Ann\"\n-3 0 \"b c\"\n";
const ALIEN_ARENA: &[u8] = b"\xff\xff\xff\xffprint\n\\hostname\\Arena\\mapname\\dm-deathray\
    \\maxclients\\16\\g_teamgame\\1\\protocol\\34\n7 0 \"^1Cyborg\" \"127.0.0.1\" 1\n\
    9 40 \"Bea\" \"127.0.0.1\" 2\n";
const QUETOO: &[u8] = b"\xff\xff\xff\xffstatus\n\\g_gameplay\\default\\g_gameplay_mode\\team_arena\
    \\game_name\\ctf\\sv_hostname\\Edge \\sv_map\\edge\\sv_max_clients\\8\\sv_protocol\\2029\
    \\version\\1.1.0\n\\score\\-2\\ping\\40\\name\\Ann \"A\"\n\\score\\7\\ping\\0\\name\\Bob\\ai\\1\n";
const QUAKE_WORLD: &[u8] =
    b"\xff\xff\xff\xffn\\maxclients\\4\\map\\dm3\\hostname\\Srv\\needpass\\1\
    \\*version\\MVDSV 0.36\\*gamedir\\ktx\\mode\\1on1\\timelimit\\10\n\
    1 12 5 26 \"Ann\" \"base\" 13 4 \"red\" \"h\"\n\
    2 -1 4 0 \"\x10b\x11\" \"\" 0 0 \"red\" \"b\"\n\
    3 S 9 31 \"Eve\" \"\" 4 4 \"\" \"h\"\n\0";

fn answer(datagrams: &[&[u8]]) -> Answer {
    let datagrams = datagrams.iter().map(|bytes| Bytes::copy_from_slice(bytes));
    Answer::from_datagrams(datagrams, &Limits::default()).unwrap()
}

fn query(dialect: Dialect) -> StatusQuery {
    StatusQuery::new(7, &QueryOptions::default().with_dialect(dialect))
}

fn sent(dialect: Dialect) -> Vec<u8> {
    let mut out = Vec::new();
    query(dialect).request(&mut out);
    out
}

fn plain(text: &Option<queryport::Text>) -> String {
    text.as_ref().unwrap().plain().into_owned()
}

#[test]
fn alien_arena_quotes_an_address_after_the_name() {
    let status = answer(&[ALIEN_ARENA]).to_status();
    assert_eq!(
        Game::of(&status, Protocol::Quake3).unwrap().id,
        "alienarena"
    );
    let players = status.players;
    assert_eq!(
        (players[0].name.plain(), players[0].team),
        ("Cyborg".into(), Some(1))
    );
    assert_eq!(
        players[1].extra.get("address").unwrap().plain(),
        "127.0.0.1"
    );
}

#[test]
fn a_status_of_quetoo_is_read() {
    let Verdict::Done(answer) = query(Dialect::Quake2).receive(QUETOO) else {
        panic!()
    };
    assert_eq!(answer.family(), Family::Quetoo);
    assert_eq!(answer.verification(), Verification::Unavailable);
    assert!(answer.completeness().is_complete());
    let status = answer.to_status();
    assert_eq!(Game::of(&status, Protocol::Quake3).unwrap().id, "quetoo");
    assert_eq!(
        (plain(&status.name), plain(&status.map)),
        ("Edge ".into(), "edge".into())
    );
    assert_eq!(
        (plain(&status.game), plain(&status.mod_name)),
        ("Quetoo".into(), "ctf".into())
    );
    assert_eq!(
        (plain(&status.game_type), plain(&status.version)),
        ("team_arena".into(), "1.1.0".into())
    );
    assert_eq!(status.protocol_version, Some(2029));
    let counts = (status.player_count, status.bot_count, status.max_players);
    assert_eq!(counts, (Some(2), Some(1), Some(8)));
    let [ann, bob] = &status.players[..] else {
        panic!()
    };
    assert_eq!(
        (ann.name.plain(), ann.score, ann.ping, ann.bot),
        (r#"Ann "A""#.into(), Some(-2), Some(40), Some(false))
    );
    assert_eq!((bob.name.plain(), bob.bot), ("Bob".into(), Some(true)));
    assert_eq!(bob.extra.get("ai").unwrap().plain(), "1");
}

/// The same word begins the request: a server must not answer a reply.
#[test]
fn a_status_of_quetoo_is_no_request() {
    assert!(Request::parse(QUETOO).is_err());
    let likeliest = inspect(QUETOO, &Limits::default()).remove(0);
    assert!(likeliest.is_match() && likeliest.from_server);
    let mut out = Vec::new();
    let response = Response::parse(QUETOO, &Limits::default()).unwrap();
    response.encode(&mut out);
    assert_eq!(out, QUETOO);
}

#[test]
fn a_line_of_quetoo_has_as_many_values_as_the_limits_allow() {
    let limits = Limits::default().with_max_rules(8);
    let line = |pairs: usize| {
        let more = r"\k\v".repeat(pairs - 1);
        format!("status\n\\sv_map\\edge\n\\name\\Ann{more}\n")
    };
    let read = |pairs| {
        let datagram = [b"\xff\xff\xff\xff", line(pairs).as_bytes()].concat();
        Response::parse(&datagram, &limits).map(|response| response.players().count())
    };
    assert_eq!(read(8), Ok(1));
    let kind = read(9).unwrap_err().kind;
    assert!(matches!(kind, ParseErrorKind::Limit { limit: 8, .. }));
    let line_start = b"\xff\xff\xff\xffstatus\n\\sv_map\\edge\n".len();
    assert_eq!(read(9).unwrap_err().offset, line_start);
}

/// Its master answers `getservers` with addresses as those of Quake 2 do.
#[test]
fn the_list_of_quetoo_is_read() {
    let game = Game::find("quetoo").unwrap();
    let [master] = game.masters else { panic!() };
    let requests = game.list_requests(master.form, &Limits::default());
    let [ListRequest::Quake3(list)] = &requests[..] else {
        panic!()
    };
    let mut list = list.clone();
    let mut out = Vec::new();
    list.request(&mut out);
    assert!(out.starts_with(b"\xff\xff\xff\xffgetservers 2029"));
    let verdict = list.receive(b"\xff\xff\xff\xffservers \xc0\0\x02\x01\x07\xce");
    assert_eq!(verdict, Verdict::Partial(Wait::Quiet));
    let new: Vec<_> = list.take_new().collect();
    assert_eq!(new, ["192.0.2.1:1998".parse().unwrap()]);
    assert_eq!(list.take_new().count(), 0, "each server once");
}

/// The reply of a server that was recorded.
fn recorded(name: &str) -> Answer {
    let case = cases("quake3").into_iter().find(|case| case.name == name);
    Answer::from_datagrams(case.unwrap().packets, &Limits::default()).unwrap()
}

#[test]
fn a_recorded_status_of_quake_2_without_room_for_everybody_lacks_its_end() {
    let answer = recorded("yquake2-full-status");
    assert_eq!(answer.players().count(), 51, "of 70");
    assert!(answer.completeness().lacks(Part::End));
    let all = recorded("yquake2-status").to_status();
    assert_eq!((all.player_count, all.password), (Some(3), Some(true)));
}

#[test]
fn a_status_of_quake_2_that_is_nearly_full_may_lack_players() {
    let with_line = |line: &str, length: usize, slots: &str| {
        let head = format!("\\maxclients\\{slots}\\k\\");
        let value = "v".repeat(length - head.len() - line.len() - 1);
        let text = format!("{head}{value}\n{line}");
        let datagram = [b"\xff\xff\xff\xffprint\n", text.as_bytes()].concat();
        answer(&[&datagram]).completeness()
    };
    let with = |length, slots| with_line("1 2 \"Ann\"\n", length, slots);
    assert!(with(1320, "8").is_complete());
    assert!(with(1321, "8").lacks(Part::End));
    assert!(with(1321, "1").is_complete(), "every slot is taken");
    // Alien Arena, which has longer replies.
    let line = "1 2 \"Ann\" \"192.0.2.1:5\" 1\n";
    let with = |length| with_line(line, length, r"8\g_teamgame\0");
    assert!(with(2720).is_complete());
    assert!(with(2721).lacks(Part::End));
}

#[test]
fn a_separator_after_the_last_value_is_no_key() {
    let datagram = b"\xff\xff\xff\xffprint\n\\mapname\\dm\\\n1 2 \"Ann\"\n";
    let answer = answer(&[datagram]);
    assert_eq!(answer.rules().count(), 1);
    assert!(answer.completeness().is_complete());
}

#[test]
fn a_status_of_quake_world_is_read() {
    let answer = answer(&[QUAKE_WORLD]);
    assert_eq!(answer.family(), Family::QuakeWorld);
    assert!(answer.completeness().is_complete());
    let status = answer.to_status();
    assert_eq!(
        (plain(&status.map), plain(&status.version)),
        ("dm3".into(), "MVDSV 0.36".into())
    );
    assert_eq!(
        (plain(&status.mod_name), plain(&status.game_type)),
        ("ktx".into(), "1on1".into())
    );
    assert_eq!((status.password, status.max_players), (Some(true), Some(4)));
    assert_eq!(
        (status.player_count, status.bot_count),
        (Some(2), Some(1)),
        "one watches"
    );
    assert_eq!(Game::of(&status, Protocol::Quake3).unwrap().id, "quake");
    let players = status.players;
    assert_eq!(players[1].name.plain(), "[b]");
    assert_eq!((players[0].score, players[0].ping), (Some(12), Some(26)));
    let extra = |key| players[0].extra.get(key).unwrap().plain().into_owned();
    assert_eq!(
        (extra("id"), extra("time"), extra("skin")),
        ("1".into(), "5".into(), "base".into())
    );
    assert_eq!(
        (extra("top"), extra("bottom"), extra("team")),
        ("13".into(), "4".into(), "red".into())
    );
    assert_eq!(
        (
            players[2].score,
            players[2].extra.get("score").unwrap().raw()
        ),
        (None, &b"S"[..])
    );
}

/// Lines of MVDSV's `QTV_Streams_List`, for which flag 32 asks.
#[test]
fn streams_of_qtv_are_neither_players_nor_damage() {
    let lines = "qtv 1 \"Finals\" \"2@qtv.example.org:28000\" 12\nqtv 2 \"\" \"\" 0\n\0";
    let datagram = [QUAKE_WORLD.strip_suffix(b"\0").unwrap(), lines.as_bytes()].concat();
    let answer = answer(&[&datagram]);
    assert!(answer.completeness().is_complete());
    let status = answer.to_status();
    assert_eq!(
        (status.players.len(), status.completeness.is_complete()),
        (3, true)
    );
    let streams: Vec<_> = status.rules.get_all("qtv").collect();
    assert_eq!(
        streams,
        [r#"1 "Finals" "2@qtv.example.org:28000" 12"#, r#"2 "" "" 0"#]
    );
    let response = Response::parse(&datagram, &Limits::default()).unwrap();
    assert_eq!(response.problems().next(), None);
    let mut out = Vec::new();
    response.encode(&mut out);
    assert_eq!(out, datagram);
}

#[test]
fn streams_of_qtv_are_among_the_rules_that_limits_allow() {
    let lines = "qtv 1 \"\" \"\" 0\n".repeat(3);
    let datagram = format!("n\\map\\dm3\n{lines}\0");
    let datagram = [b"\xff\xff\xff\xff", datagram.as_bytes()].concat();
    let read = |max_rules| {
        let limits = Limits::default().with_max_rules(max_rules);
        Answer::from_datagrams([&datagram], &limits)
    };
    assert_eq!(read(4).unwrap().to_status().rules.len(), 4);
    let (what, limit) = ("rules", 3);
    assert_eq!(
        read(3).unwrap_err().kind,
        ParseErrorKind::Limit { what, limit }
    );
}

/// As Unity-Technologies/qstat skips it (qstat.c, `deal_with_qw_packet`).
#[test]
fn text_before_a_status_of_quake_2_is_skipped() {
    let text = "print\nClient has left\n\nloading \\maps\n";
    let datagram = [b"\xff\xff\xff\xff", text.as_bytes(), &QUAKE2[10..]].concat();
    let Verdict::Done(answer) = query(Dialect::Quake2).receive(&datagram) else {
        panic!()
    };
    let (read, whole) = (answer.to_status(), self::answer(&[QUAKE2]).to_status());
    assert_eq!((&read.rules, &read.players), (&whole.rules, &whole.players));
    assert!(read.completeness.is_complete());
    let response = Response::parse(&datagram, &Limits::default()).unwrap();
    assert_eq!(response.problems().count(), 1, "the text");
    let mut out = Vec::new();
    response.encode(&mut out);
    assert_eq!(out, QUAKE2);
    // The reason of a refusal alone.
    let refusal = b"\xff\xff\xff\xffprint\nServer \\a is full.\n";
    assert!(Response::parse(refusal, &Limits::default()).is_err());
}

/// Of the format strings of MVDSV, without and with flag 8 (src/sv_main.c, `SVC_Status`), and of old
/// servers (QW-Group/ezquake-source, src/EX_browser_net.c).
#[test]
fn a_spectator_has_no_score() {
    for (line, mark) in [
        (r#"2 -9999 5 -40 "\s\Eve" "" 0 0"#, "-9999"),
        (r#"2 S 5 40 "Eve" "" 0 0"#, "S"),
        (r#"2 -9999 5 -40 "Eve(s)" "" 0 0"#, "-9999"),
    ] {
        let text = format!("n\\map\\dm6\n1 15 5 30 \"Ann\" \"\" 4 13\n{line}\n\0");
        let datagram = [b"\xff\xff\xff\xff", text.as_bytes()].concat();
        let status = answer(&[&datagram]).to_status();
        assert_eq!(status.player_count, Some(1));
        let eve = &status.players[1];
        assert_eq!(
            (eve.name.plain(), eve.score, eve.ping),
            ("Eve".into(), None, Some(40))
        );
        let watching = status.players.iter().map(|player| player.spectator);
        assert!(watching.eq([Some(false), Some(true)]));
        assert_eq!(eve.extra.get("score").unwrap().plain(), mark);
    }
}

/// Without flag 8, FTE writes both marks (fte-team/fteqw, engine/server/sv_main.c, `SVC_Status`). A
/// bot that watches is none of the players.
#[test]
fn a_bot_of_fte_can_watch() {
    let datagram =
        b"\xff\xff\xff\xffn\\*version\\FTE 1.05\n1 -9999 1 0 \"\\s\\BOT:Ann\" \"\" 0 0\n\0";
    let status = answer(&[datagram]).to_status();
    let ann = &status.players[0];
    assert_eq!(ann.name.plain(), "BOT:Ann");
    assert_eq!((ann.bot, ann.spectator), (Some(true), Some(true)));
    assert_eq!((status.player_count, status.bot_count), (Some(0), None));
}

/// fte-team/fteqw, engine/common/common.c, `COM_QuotedString`.
#[test]
fn a_team_of_fte_with_a_quote_keeps_its_player() {
    let datagram = b"\xff\xff\xff\xffn\\*version\\FTE 1.05\n\
        1 5 1 30 \"Ann\" \"\" 0 0 \\\"a\\\"b\" \"\"\n2 6 1 40 \"Bob\" \"\" 0 0 \"red\" \"\"\n\0";
    let answer = answer(&[datagram]);
    assert!(answer.completeness().is_complete());
    let players = answer.to_status().players;
    let teams = players.iter().map(|player| player.extra.get("team"));
    assert!(teams.eq([Some(r#"a\"b"#.into()), Some("red".into())]));
}

#[test]
fn further_fields_are_in_the_character_set_of_names() {
    let datagram =
        b"\xff\xff\xff\xffn\\*version\\MVDSV 0.36\n1 0 1 0 \"a\" \"\xe2ase\" 0 0 \"\xf2ed\"\n\0";
    let players = answer(&[datagram]).to_status().players;
    let extra = |key| players[0].extra.get(key).unwrap().plain();
    assert_eq!((&*extra("skin"), &*extra("team")), ("base", "red"));
}

#[test]
fn texts_of_every_form_are_in_the_character_set_that_was_asked_for() {
    let charset = Charset::Utf8OrWindows1251;
    let split = QUAKE_WORLD.len() - 10;
    let first = [&QUAKE_WORLD[..split], b"\0"].concat();
    let second = [b"\xff\xff\xff\xffn", &QUAKE_WORLD[split..]].concat();
    for datagrams in [
        &[QUAKE2][..],
        &[QUETOO],
        &[QUAKE_WORLD],
        &[&first[..], &second],
    ] {
        let options = QueryOptions::default().with_dialect(Dialect::QuakeWorld);
        let mut query = StatusQuery::new(7, &options.with_charset(charset));
        let mut answer = None;
        for datagram in datagrams {
            if let Verdict::Done(done) = query.receive(datagram) {
                answer = Some(done);
            }
        }
        let answer = answer.unwrap_or_else(|| match query.timeout(Remaining::Step) {
            OnTimeout::Done(done) => done,
            _ => panic!("no answer"),
        });
        assert_eq!(answer.datagrams().count(), datagrams.len());
        assert_eq!(answer.to_status().name.unwrap().style().charset, charset);
    }
}

#[test]
fn requests_of_each_dialect() {
    assert_eq!(sent(Dialect::Quake2), b"\xff\xff\xff\xffstatus\n");
    assert_eq!(sent(Dialect::QuakeWorld), b"\xff\xff\xff\xffstatus 255\n");
    for dialect in [Dialect::Quake2, Dialect::QuakeWorld] {
        let request = sent(dialect);
        let read = Request::parse(&request).unwrap();
        let mut written = Vec::new();
        read.encode(&mut written).unwrap();
        assert_eq!(written, request);
    }
}

/// `info` without a number is a reply, and `k` has no arguments.
#[test]
fn short_requests_go_both_ways() {
    let info = Command::Info { protocol: b"34" };
    for (command, text) in [(info, &b"info 34"[..]), (Command::ShortPing, b"k\n")] {
        let datagram = [b"\xff\xff\xff\xff", text].concat();
        let mut written = Vec::new();
        Request::new(command).encode(&mut written).unwrap();
        assert_eq!(written, datagram);
        for cut in 4..datagram.len() {
            let read = Request::parse(&datagram[..cut]).map(|request| request.command);
            let expected = match (command, cut) {
                (Command::Info { .. }, 10) => Some(Command::Info { protocol: b"3" }),
                (Command::ShortPing, 5) => Some(Command::ShortPing),
                _ => None,
            };
            assert_eq!(read.ok(), expected, "cut at {cut}");
        }
    }
    assert!(Request::parse(b"\xff\xff\xff\xffinfo\n Srv q2dm1 1/ 8\n").is_err());
}

/// The requests to masters: qstat's (Unity-Technologies/qstat, qstat.h), and the heartbeats of
/// id-Software/Quake-2 (server/sv_main.c) and of MVDSV (QW-Group/mvdsv, src/sv_master.c).
#[test]
fn requests_to_masters_go_both_ways_and_are_named() {
    let status = &QUAKE2[10..];
    let heartbeat = [b"\xff\xff\xff\xffheartbeat\n", status].concat();
    let (sequence, players) = (17, 4);
    for (datagram, command) in [
        (&b"query"[..], Command::ListQuery),
        (b"c\n\0", Command::ShortList),
        (b"a\n17\n4\n", Command::ShortHeartbeat { sequence, players }),
        (b"C\n", Command::ShortShutdown),
        (b"k\0", Command::MasterPing),
        (b"\xff\xff\xff\xffshutdown", Command::Shutdown),
        (&heartbeat, Command::StatusHeartbeat { status }),
    ] {
        let request = Request::parse(datagram).unwrap();
        assert_eq!(request.command, command);
        let mut written = Vec::new();
        request.encode(&mut written).unwrap();
        assert_eq!(written, datagram);
        let candidates = inspect(datagram, &Limits::default());
        let likeliest = &candidates[0];
        assert_eq!(
            (likeliest.protocol, likeliest.from_server),
            (Protocol::Quake3, false)
        );
        assert_eq!(likeliest.message.as_ref().unwrap().kind(), "request");
        let whole = match command {
            Command::StatusHeartbeat { .. } => datagram.len() - status.len() + 1,
            Command::ShortList => 2,
            _ => datagram.len(),
        };
        for cut in 0..whole {
            let read = Request::parse(&datagram[..cut]);
            assert!(read.is_err(), "{} cut at {cut}", datagram.escape_ascii());
        }
        for engine in [Format::Quake3, Format::Quake2, Format::QuakeWorld] {
            assert!(
                served(engine, datagram, 1).is_empty(),
                "not a request to a server"
            );
        }
    }
    // The other forms of the lists' requests.
    for (datagram, command) in [
        (&b"query\n\0"[..], Command::ListQuery),
        (b"c\n", Command::ShortList),
        (b"c\0", Command::ShortList),
    ] {
        assert_eq!(
            Request::parse(datagram).map(|request| request.command),
            Ok(command)
        );
    }
    for other in [
        &b"query\\"[..],
        b"queryid",
        b"c",
        b"cat\n",
        b"a\n1\n",
        b"a\n-1\n2\n",
        b"k\n",
    ] {
        assert!(Request::parse(other).is_err(), "{}", other.escape_ascii());
    }
}

#[test]
fn other_dialects_reject_the_replies() {
    for datagram in [QUAKE2, QUAKE_WORLD] {
        let Verdict::Rejected(error) = query(Dialect::Standard).receive(datagram) else {
            panic!()
        };
        assert_eq!(error.kind, ParseErrorKind::Unexpected("statusResponse"));
        let Verdict::Done(answer) = query(Dialect::QuakeWorld).receive(datagram) else {
            panic!()
        };
        assert!(answer.completeness().is_complete());
    }
    let other = b"\xff\xff\xff\xffstatusResponse\n\\a\\b\n";
    assert!(matches!(
        query(Dialect::Quake2).receive(other),
        Verdict::Rejected(_)
    ));
}

#[test]
fn a_reply_in_two_datagrams_is_joined_inside_a_line() {
    let split = QUAKE_WORLD.len() - 10;
    let first = [&QUAKE_WORLD[..split], b"\0"].concat();
    let second = [b"\xff\xff\xff\xffn", &QUAKE_WORLD[split..]].concat();
    for order in [[&first, &second, &second], [&second, &first, &first]] {
        let mut query = query(Dialect::QuakeWorld);
        for datagram in order {
            assert!(matches!(query.receive(datagram), Verdict::Partial(_)));
        }
        let OnTimeout::Done(answer) = query.timeout(Remaining::Retry) else {
            panic!()
        };
        assert_eq!(answer.raw(), QUAKE_WORLD);
    }
    let mut last = query(Dialect::QuakeWorld);
    assert_eq!(last.receive(&second).map_done(), Some(Wait::Reply));
    let mut alone = query(Dialect::QuakeWorld);
    assert_eq!(alone.receive(&first).map_done(), Some(Wait::Grace));
    let OnTimeout::Done(answer) = alone.timeout(Remaining::Retry) else {
        panic!()
    };
    assert!(answer.completeness().lacks(Part::Players) && answer.completeness().lacks(Part::End));
}

trait WaitOf {
    fn map_done(self) -> Option<Wait>;
}

impl<A> WaitOf for Verdict<A> {
    fn map_done(self) -> Option<Wait> {
        match self {
            Self::Partial(wait) => Some(wait),
            _ => None,
        }
    }
}

fn status(players: usize) -> ServerStatus {
    let mut status = ServerStatus::default();
    status.name = Some("Srv".into());
    status.map = Some("dm3".into());
    status.max_players = Some(64);
    status.password = Some(true);
    status.rules.push("deathmatch", "1");
    let player = |number: usize| {
        let mut player = Player::new(format!("player {number}"));
        (player.score, player.ping) = (Some(number as i64), Some(30));
        player
    };
    status.players = (0..players).map(player).collect();
    status
}

fn served(engine: Format, request: &[u8], players: usize) -> Vec<Bytes> {
    replies(&Service::new(engine), request, &status(players))
}

/// The replies of a server with this status.
fn replies(service: &Service, request: &[u8], status: &ServerStatus) -> Vec<Bytes> {
    let request = Request::parse(request).unwrap();
    quake3::respond(&request, status, service, &requester())
}

fn requester() -> Requester {
    #[allow(clippy::disallowed_methods)]
    let now = Instant::now();
    Requester::new(([192, 0, 2, 1], 5000).into(), now, Secret::new([7; 16]))
}

#[test]
fn each_engine_answers_its_dialect_alone() {
    for (engine, dialect) in [
        (Format::Quake2, Dialect::Quake2),
        (Format::QuakeWorld, Dialect::QuakeWorld),
    ] {
        for players in [0, 1, 8] {
            let replies = served(engine, &sent(dialect), players);
            let Verdict::Done(answer) = query(dialect).receive(&replies[0]) else {
                panic!()
            };
            assert!(answer.completeness().is_complete());
            let status = answer.to_status();
            assert_eq!(
                (status.player_count, status.max_players),
                (Some(players as u32), Some(64))
            );
            assert_eq!(
                (plain(&status.map), status.password),
                ("dm3".into(), Some(true))
            );
            assert_eq!(status.rules.get("deathmatch").unwrap().plain(), "1");
        }
        assert!(served(engine, &sent(Dialect::Standard), 1).is_empty());
        assert!(served(Format::Quake3, &sent(dialect), 1).is_empty());
    }
}

#[test]
fn players_that_do_not_fit_make_a_status_of_quake_2_incomplete() {
    let replies = served(Format::Quake2, &sent(Dialect::Quake2), 200);
    assert_eq!(replies.len(), 1);
    let answer = Answer::from_datagrams(replies, &Limits::default()).unwrap();
    assert!(answer.completeness().lacks(Part::End));
}

#[test]
fn flags_choose_the_parts_of_a_status() {
    let lines = |flags: &'static [u8]| {
        let mut request = Vec::new();
        let command = Command::Status { flags: Some(flags) };
        Request::new(command).encode(&mut request).unwrap();
        let replies = served(Format::QuakeWorld, &request, 2);
        let answer = Answer::from_datagrams(replies, &Limits::default()).unwrap();
        answer.players().count()
    };
    assert_eq!(
        (lines(b"1"), lines(b"3"), lines(b"0"), lines(b"23")),
        (0, 2, 2, 2)
    );
    assert_eq!((lines(b"256"), lines(b"x")), (2, 2), "as without flags");
}

/// The flags of MVDSV (QW-Group/mvdsv, src/sv_main.c, `SVC_Status`).
#[test]
fn flags_choose_the_players_and_their_fields() {
    let mut status = status(0);
    let player = |name: &str, is_spectator| {
        let mut player = Player::new(name);
        (player.ping, player.bot) = (Some(20), Some(is_spectator));
        player.spectator = Some(is_spectator);
        for (key, value) in [("team", "red"), ("login", "ann")] {
            player.extra.push(key, value);
        }
        player
    };
    status.players = [player("A", false), player("W", true)].into();
    let lines = |flags: u32| {
        let flags = flags.to_string();
        let mut request = Vec::new();
        let command = Command::Status {
            flags: Some(flags.as_bytes()),
        };
        Request::new(command).encode(&mut request).unwrap();
        let replies = replies(&Service::new(Format::QuakeWorld), &request, &status);
        String::from_utf8_lossy(&replies[0][5..])
            .trim_start_matches('\n')
            .trim_end_matches('\0')
            .to_owned()
    };
    for (flags, expected) in [
        (2, "1 0 0 20 \"A\" \"\" 0 0\n"),
        (4, "2 -9999 0 -20 \"\\s\\W\" \"\" 0 0\n"),
        (4 + 8, "2 S 0 20 \"W\" \"\" 0 0\n"),
        (2 + 16, "1 0 0 20 \"A\" \"\" 0 0 \"red\"\n"),
        (2 + 32, "1 0 0 20 \"A\" \"\" 0 0\n"),
        (2 + 64, "1 0 0 20 \"A\" \"\" 0 0 \"ann\"\n"),
        (2 + 128, "1 0 0 20 \"A\" \"\" 0 0 \"h\"\n"),
        (4 + 8 + 128, "2 S 0 20 \"W\" \"\" 0 0 \"b\"\n"),
    ] {
        assert_eq!(lines(flags), expected, "{flags}");
    }
}

/// A client takes a player whose ping is not above 0 for a spectator (QW-Group/ezquake-source,
/// src/EX_browser_net.c).
#[test]
fn the_ping_of_a_player_is_never_that_of_a_spectator() {
    let mut status = status(2);
    (status.players[0].ping, status.players[1].ping) = (None, Some(0));
    let replies = replies(
        &Service::new(Format::QuakeWorld),
        &sent(Dialect::QuakeWorld),
        &status,
    );
    let answer = Answer::from_datagrams(replies, &Limits::default()).unwrap();
    let pings: Vec<_> = answer.players().map(|line| line.ping()).collect();
    assert_eq!(pings, [Some(9999), Some(1)]);
    assert_eq!(answer.to_status().players[0].ping, None);
}

/// Clients recognise a status by the first `\` (QW-Group/ezquake-source, src/EX_browser_net.c;
/// Unity-Technologies/qstat, qstat.c).
#[test]
fn a_status_without_any_field_is_answered_with_one_pair() {
    let (service, request) = (Service::new(Format::QuakeWorld), sent(Dialect::QuakeWorld));
    let replies = replies(&service, &request, &ServerStatus::default());
    let Verdict::Done(answer) = query(Dialect::QuakeWorld).receive(&replies[0]) else {
        panic!()
    };
    assert!(answer.completeness().is_complete());
    assert_eq!(answer.get("hostname"), Some(&b""[..]));
    assert_eq!(answer.to_status().name, None);
}

#[test]
fn a_reply_of_the_siblings_keeps_its_maximum_size() {
    let mut status = status(30);
    for number in 0..30 {
        status.rules.push(&format!("rule{number}"), "value");
    }
    let mut shortened = 0;
    for (engine, dialect) in [
        (Format::Quake2, Dialect::Quake2),
        (Format::QuakeWorld, Dialect::QuakeWorld),
    ] {
        for max_reply in (1..=600).step_by(5) {
            let service = Service::new(engine).with_max_reply(max_reply);
            let replies = replies(&service, &sent(dialect), &status);
            let length: usize = replies.iter().map(Bytes::len).sum();
            assert!(length <= max_reply, "{engine:?}: {length} of {max_reply}");
            if max_reply < 100 {
                continue;
            }
            let answer = Answer::from_datagrams(replies, &Limits::default()).unwrap();
            assert_eq!(plain(&answer.to_status().name), "Srv");
            assert!(
                answer.completeness().lacks(Part::End),
                "{engine:?}: {max_reply}"
            );
            shortened += 1;
        }
    }
    assert_eq!(shortened, 200);
}

/// The name of an info and the rules of a status may take all space.
#[test]
fn infostrings_and_replies_are_as_long_as_they_may_be() {
    for (engine, request, longest_info) in [
        (Format::Quake2, "status", 511),
        (Format::QuakeWorld, "status", 511),
        (Format::Quake3, "getstatus 0123456789abcdef", 1023),
        (Format::Quake3, "getinfo 0123456789abcdef", 1023),
    ] {
        let is_info = request.starts_with("getinfo");
        let request = [b"\xff\xff\xff\xff", request.as_bytes()].concat();
        let with_value = |value: usize, service: &Service| {
            let mut status = status(0);
            let value = "v".repeat(value);
            if is_info {
                status.name = Some(value.into());
            } else {
                status.rules.push("long", &value);
            }
            replies(service, &request, &status).remove(0)
        };
        let info = |value: usize| {
            let reply = with_value(value, &Service::new(engine));
            let start = reply.iter().position(|&byte| byte == b'\\').unwrap();
            let text = reply[start..].split(|&byte| byte == b'\n').next();
            text.unwrap().len()
        };
        assert_eq!(
            (400..1030).map(info).max(),
            Some(longest_info),
            "{engine:?}"
        );
        let service = Service::new(engine).with_max_reply(200);
        let reply = |value: usize| with_value(value, &service).len();
        assert_eq!((0..200).map(reply).max(), Some(200), "{engine:?}");
    }
}

/// With one byte less of space, a player is left out.
#[test]
fn a_reply_that_just_fits_lists_everybody() {
    for (engine, request, players) in [
        (Format::Quake2, "status", 20),
        (Format::QuakeWorld, "status", 20),
        (Format::QuakeWorld, "status 255", 120),
        (Format::Quake3, "getstatus 0123456789abcdef", 20),
    ] {
        let request = [b"\xff\xff\xff\xff", request.as_bytes()].concat();
        let mut status = status(players);
        status.rules = ServerStatus::default().rules;
        let with = |max_reply| {
            let service = Service::new(engine).with_max_reply(max_reply);
            let replies = replies(&service, &request, &status);
            let length: usize = replies.iter().map(Bytes::len).sum();
            assert!(length <= max_reply, "{engine:?}: {length} of {max_reply}");
            let answer = Answer::from_datagrams(replies, &Limits::default()).unwrap();
            (length, answer.completeness().is_complete())
        };
        let (length, is_complete) = with(16_000);
        assert!(is_complete);
        assert_eq!(with(length), (length, true), "{engine:?}");
        assert!(!with(length - 1).1, "{engine:?}");
    }
}

/// A line can need several datagrams.
#[test]
fn a_reply_in_several_datagrams_keeps_its_maximum_size() {
    let mut status = status(60);
    status.players[30].name = "long ".repeat(700).into();
    for max_reply in (1300..8000).step_by(29) {
        let service = Service::new(Format::QuakeWorld).with_max_reply(max_reply);
        let replies = replies(&service, &sent(Dialect::QuakeWorld), &status);
        let length: usize = replies.iter().map(Bytes::len).sum();
        assert!(length <= max_reply, "{length} of {max_reply}");
    }
}

/// No line may be so long that a client takes the datagram before it for the last.
#[test]
fn a_served_status_with_long_names_is_complete_for_our_client() {
    let mut status = ServerStatus::default();
    status.name = Some("Srv".into());
    status.players = (0..30).map(|_| Player::new("long ".repeat(60))).collect();
    let request = Request::new(Command::Status {
        flags: Some(b"255"),
    });
    let service = Service::new(Format::QuakeWorld).with_max_reply(16_000);
    let replies = quake3::respond(&request, &status, &service, &requester());
    let replies: Vec<Bytes> = replies.into_iter().collect();
    let mut query = query(Dialect::QuakeWorld);
    for reply in &replies {
        assert!(matches!(query.receive(reply), Verdict::Partial(_)));
    }
    let OnTimeout::Done(answer) = query.timeout(Remaining::Step) else {
        panic!("an answer")
    };
    assert!(answer.completeness().is_complete());
    assert_eq!(answer.players().count(), 30);
}

/// The requests that clients of the engines send, byte for byte, and how the replies begin:
/// yquake2/yquake2 69599f5a (src/client/cl_network.c), skullernet/q2pro 3aa0d40b
/// (src/client/main.c), QW-Group/ezquake-source c0e22c45 (src/EX_browser_net.c,
/// src/EX_browser_ping.c), fte-team/fteqw 93257c1a (engine/client/net_master.c). Those of yquake2
/// (of its own version), of Q2PRO and of DarkPlaces (Debian's of 2018-09-08) were also recorded.
#[test]
fn requests_of_the_engines_own_clients_are_answered() {
    use Format::{Quake2, QuakeWorld};
    let info = "info\n             Srv    q2dm1  1/ 8\n";
    let status = "print\n\\hostname\\Srv\\mapname\\q2dm1\\maxclients\\8";
    let team = "1 3 0 20 \"Ann\" \"\" 0 0 \"red\"\n";
    let no_team = "1 3 0 20 \"Ann\" \"\" 0 0\n";
    for (client, engine, request, reply) in [
        ("yquake2 pingservers", Quake2, "info 34", info),
        (
            "yquake2 of another version",
            Quake2,
            "info 26",
            "info\nSrv: wrong version\n",
        ),
        ("q2pro pingservers", Quake2, "info 34", info),
        ("q2pro serverstatus", Quake2, "status", status),
        ("FTE", Quake2, "status\n", status),
        ("ezQuake", QuakeWorld, "status 23\n", team),
        ("DarkPlaces", QuakeWorld, "status\n", no_team),
        ("FTE", QuakeWorld, "status 55\n", team),
        ("ezQuake ping", QuakeWorld, "k\n", "l"),
        // id-Software/Quake-2, server/sv_main.c.
        ("a master", Quake2, "ping", "ack"),
    ] {
        let mut status = ServerStatus::default();
        status.name = Some("Srv".into());
        status.map = Some("q2dm1".into());
        status.max_players = Some(8);
        let mut player = Player::new("Ann");
        (player.score, player.ping) = (Some(3), Some(20));
        player.extra.push("team", "red");
        status.players = [player].into();
        let request = [b"\xff\xff\xff\xff", request.as_bytes()].concat();
        let replies = replies(&Service::new(engine), &request, &status);
        let [sent] = &replies[..] else {
            panic!("{client}: {replies:?}")
        };
        let has = |text: &str| sent.windows(text.len()).any(|part| part == text.as_bytes());
        assert!(has(reply), "{client}: {}", sent.escape_ascii());
        assert!(sent.len() <= 63 + 9 || has("\\hostname\\"), "{client}");
    }
}

#[test]
fn bytes_that_a_status_of_the_siblings_cannot_carry_become_similar_ones() {
    let mut status = ServerStatus::default();
    status.players = [Player::new("a\"b\\c\n\r\0;d")].into();
    for (engine, dialect) in [
        (Format::Quake2, Dialect::Quake2),
        (Format::QuakeWorld, Dialect::QuakeWorld),
    ] {
        let replies = replies(&Service::new(engine), &sent(dialect), &status);
        let text = String::from_utf8_lossy(&replies[0]);
        assert!(text.contains(r#" "a'b/c;d""#), "{engine:?}: {text:?}");
    }
}

#[test]
fn long_texts_in_a_line_of_quake_2_are_cut() {
    let mut status = status(0);
    status.name = Some("n".repeat(40).into());
    status.map = Some("m".repeat(40).into());
    let line = |request: &[u8]| {
        let replies = replies(&Service::new(Format::Quake2), request, &status);
        String::from_utf8(replies[0][4..].to_vec()).unwrap()
    };
    let (name, map) = ("n".repeat(32), "m".repeat(16));
    assert_eq!(
        line(b"\xff\xff\xff\xffinfo 34"),
        format!("info\n{name} {map}  0/64\n")
    );
    assert_eq!(
        line(b"\xff\xff\xff\xffinfo 33"),
        format!("info\n{name}: wrong version\n")
    );
}

/// Some game modules of Quake 2 pad `gamename` with blanks. Names of players keep theirs.
#[test]
fn names_of_games_and_maps_lose_surrounding_blanks() {
    let game = "baseq2               ";
    let body =
        format!("print\n\\mapname\\ q2dm1 \\gamename\\{game}\\version\\kpded2 1.0 \n1 2 \" a \"\n");
    let datagram = [b"\xff\xff\xff\xff", body.as_bytes()].concat();
    let status = answer(&[&datagram]).to_status();
    assert_eq!(
        (plain(&status.map), plain(&status.version)),
        ("q2dm1".into(), "kpded2 1.0".into())
    );
    let names =
        [status.game, status.mod_name].map(|name| name.map(|name| name.plain().into_owned()));
    assert_eq!(
        names,
        [None, Some("baseq2".into())],
        "another game's folder on Kingpin"
    );
    assert_eq!(status.players[0].name.plain(), " a ");
}
