//! GameSpy v1's server side: our client asks it every command in both engines.
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bytes::Bytes;
use queryport::GameKey;
use queryport::gamespy1::{Answer, Command, Request, StatusQuery};
use queryport::serve::Responder;
use queryport::session::Machine;
use queryport::{
    Limits, Player, Protocol, QueryError, Rules, Secret, ServerStatus, Team, Timing, ToStatus,
};
use queryport::{QueryOptions, Service};

use crate::common::link::Conditions;
use crate::common::pair::{CLIENT, play};
use crate::common::{at, requester};
use crate::facts::{fields, team_ids};

pub(crate) fn status(players: usize) -> ServerStatus {
    let mut status = ServerStatus::default();
    status.name = Some("Grün & Söhne".into());
    status.map = Some("CTF-Coret".into());
    status.game = Some("ut".into());
    status.max_players = Some(64);
    status.players = (0..players).map(player).collect();
    status.rules = (0..30)
        .map(|rule| (format!("rule{rule}"), "some value"))
        .collect();
    status
}

fn player(number: usize) -> Player {
    let mut player = Player::new(format!("player number {number}"));
    player.score = Some(number as i64 - 3);
    player.ping = Some(40);
    player.team = Some(1);
    player.extra.push("mesh", "Male Commando");
    player.extra.push("face", "");
    player
}

/// A server of 24 players that numbers its replies.
pub(crate) fn serve(service: Service) -> impl FnMut(Instant, SocketAddr, &[u8]) -> Vec<Bytes> {
    let (status, mut requester) = (status(24), requester(CLIENT));
    move |_, _, datagram| {
        let Ok(request) = Request::parse(datagram) else {
            return Vec::new();
        };
        let replies = queryport::gamespy1::respond(&request, &status, &service, &requester);
        requester.number += 1;
        replies.into_iter().collect()
    }
}

/// The names of the listed players.
pub(crate) fn names(answer: &Answer) -> Vec<String> {
    answer
        .to_status()
        .players
        .iter()
        .map(|player| player.name.plain().into_owned())
        .collect()
}

fn ask(commands: &[Command<'_>], service: Service) -> Result<Answer, QueryError> {
    let query = StatusQuery::commands(commands, &QueryOptions::default()).unwrap();
    let conditions = (Conditions::perfect(Duration::from_millis(5)), 0);
    play(query, Timing::default(), conditions, serve(service))
        .result
        .map(|outcome| outcome.answer)
}

fn is_silent(commands: &[Command<'_>], service: Service) -> bool {
    #[allow(clippy::disallowed_methods)]
    let now = Instant::now();
    let mut responder = Responder::new(service.clone(), status(1), Secret::new([7; 16]), now);
    let mut request = Vec::new();
    Request::new(commands).encode(&mut request).unwrap();
    responder.handle_datagram(now, at(CLIENT), &request);
    let transmit = responder.poll_transmit(now, &mut Vec::new());
    assert!(!responder.announces_to(at(CLIENT)));
    transmit.is_none() && matches!(ask(commands, service), Err(QueryError::Timeout { .. }))
}

#[test]
fn echo_and_properties_are_off_by_default() {
    let asked = [
        Command::Echo(b"hello"),
        Command::LevelProperty(b"Title"),
        Command::PlayerProperty(b"mesh"),
    ];
    for command in asked {
        assert!(
            is_silent(&[command], Service::from(Protocol::GameSpy1)),
            "{command:?}"
        );
    }
    let service = Service::from(Protocol::GameSpy1);
    let service = service.with_properties(Rules::default(), Rules::default(), false);
    assert!(is_silent(&[Command::PlayerProperty(b"mesh")], service));
    let level = [("Title", "Coret Facility")].into_iter().collect();
    let service = Service::from(Protocol::GameSpy1)
        .with_echo()
        .with_properties(level, Rules::default(), true);
    let ask = |command| ask(&[command], service.clone()).unwrap();
    assert_eq!(ask(Command::Echo(b"hello")).echo().unwrap().1, b"hello");
    let level = ask(Command::LevelProperty(b"Title"));
    assert_eq!(level.get("title"), Some(&b"Coret Facility"[..]));
    assert_eq!(
        ask(Command::GameProperty(b"AdminPassword")).get("AdminPassword"),
        Some(&b""[..])
    );
    let meshes = ask(Command::PlayerProperty(b"mesh"));
    let meshes: Vec<_> = meshes
        .players()
        .map(|row| (row.index(), row.get("mesh").unwrap()))
        .collect();
    assert_eq!(
        (meshes.len(), meshes[0]),
        (24, (1, &b"Male Commando"[..])),
        "rows from 1"
    );
    let longest = [b'x'; 50];
    assert_eq!(ask(Command::Echo(&longest)).echo().unwrap().1, longest);
    assert!(is_silent(&[Command::Echo(&[b'x'; 51])], service.clone()));
    let unprintable = serve(service)(Instant::now(), at(CLIENT), b"\\echo\\a\x01b");
    assert!(unprintable.is_empty());
}

#[test]
fn secure_is_answered_with_proof_of_the_key() {
    let key = GameKey::new("Nm3aZ9").unwrap();
    assert!(
        is_silent(
            &[Command::Secure(b"LRPOPQ")],
            Service::from(Protocol::GameSpy1)
        ),
        "without a key"
    );
    let service = Service::from(Protocol::GameSpy1).with_key(key.clone());
    let answer = ask(
        &[Command::Secure(b"LRPOPQ"), Command::Basic],
        service.clone(),
    )
    .unwrap();
    assert_eq!(answer.get("validate"), Some(&b"hMwdTNWS"[..]));
    assert_eq!(answer.get("gamename"), Some(&b"ut"[..]));
    for (challenge, is_usual) in [
        (&b"short"[..], false),
        (b"6bytes", true),
        (&[b'A'; 16], true),
        (&[b'A'; 17], false),
        (b"a b c d", false),
    ] {
        let is_silent = is_silent(&[Command::Secure(challenge)], service.clone());
        assert_eq!(is_silent, !is_usual, "{challenge:?}");
    }
}

#[test]
fn unknown_commands_are_not_answered() {
    assert!(is_silent(
        &[Command::Other {
            name: b"about",
            value: b""
        }],
        Service::from(Protocol::GameSpy1)
    ));
}

#[test]
fn a_refused_echo_is_recognised() {
    let answer = Answer::from_datagrams(
        [Bytes::from_static(br"\ignoring\\queryid\4.1\final\")],
        &Limits::default(),
    );
    assert_eq!(answer.unwrap().echo(), Some((&b"ignoring"[..], &b""[..])));
}

#[test]
fn replies_are_numbered_from_1_to_100() {
    let status = status(0);
    let number = |number| {
        let mut requester = requester(CLIENT);
        requester.number = number;
        let replies = queryport::gamespy1::respond(
            &Request::new(&[Command::Basic]),
            &status,
            &Service::from(Protocol::GameSpy1),
            &requester,
        );
        Answer::from_datagrams(replies, &Limits::default())
            .unwrap()
            .reply_number()
            .unwrap()
    };
    assert_eq!([1, 100, 101, 250].map(number), [1, 100, 1, 50]);
}

/// A forged first datagram leads two responders to each other: one reply, and then silence.
#[test]
fn two_responders_never_answer_each_other() {
    let mut service = Service::from(Protocol::GameSpy1);
    service = service.with_echo();
    let (now, secret) = (Instant::now(), Secret::new([7; 16]));
    for request in [
        &br"\status\"[..],
        br"\echo\\status\",
        br"\echo\x",
        br"\packets\\echo\queryid",
    ] {
        let (mut a, mut b) = (
            Responder::new(service.clone(), status(24), secret, now),
            Responder::new(Protocol::GameSpy1, status(24), secret, now),
        );
        let (at_a, at_b) = (at("192.0.2.1:7778"), at("192.0.2.2:7778"));
        a.handle_datagram(now, at_b, request);
        let mut replies = 0;
        let mut out = Vec::new();
        while a.poll_transmit(now, &mut out).is_some() {
            b.handle_datagram(now, at_a, &out);
            out.clear();
            replies += 1;
        }
        assert!(replies > 0);
        assert_eq!((b.stats().ignored, b.stats().answered), (replies, 0));
        assert!(b.poll_transmit(now, &mut out).is_none());
    }
}

/// OpenSpy's master (code/qr/server/V1Handler.cpp and v1/handle_echo.cpp of openspy-core) answers a
/// datagram whose first key is `echo`.
#[test]
fn an_echo_is_no_request_to_openspy() {
    let request = Request::new(&[Command::Echo(b"x")]);
    let service = Service::from(Protocol::GameSpy1).with_echo();
    let replies = queryport::gamespy1::respond(&request, &status(0), &service, &requester(CLIENT));
    assert!(replies[0].starts_with(br"\echo_replay\x\"));
}

/// The values that the server side sends of a status, and the values that a client reads.
fn served(status: &ServerStatus) -> (Vec<Bytes>, ServerStatus) {
    let request = Request::new(&[Command::Status]);
    let replies = queryport::gamespy1::respond(
        &request,
        status,
        &Service::from(Protocol::GameSpy1),
        &requester(CLIENT),
    );
    let datagrams: Vec<Bytes> = replies.into_iter().collect();
    let answer = Answer::from_datagrams(datagrams.iter().cloned(), &Limits::default()).unwrap();
    (datagrams, answer.to_status())
}

/// `\queryid\100.32\final\` has 22 bytes.
#[test]
fn a_datagram_has_space_for_the_longest_end() {
    let max_datagram = 1000;
    let mut numbered = requester(CLIENT);
    numbered.number = 100;
    let longest = (0..1400).map(|length| {
        let mut status = ServerStatus::default();
        status.rules.push("k", &"v".repeat(length));
        let request = Request::new(&[Command::Rules]);
        let service = Service::from(Protocol::GameSpy1);
        let replies = queryport::gamespy1::respond(&request, &status, &service, &numbered);
        let body = |reply: &Bytes| {
            let mut parts = reply.windows(4).rev();
            let value_end = parts.position(|part| part == b"vvvv");
            value_end.map_or(0, |after| reply.len() - after)
        };
        replies.iter().map(body).max().unwrap_or_default()
    });
    assert_eq!(longest.max(), Some(max_datagram - 22));
}

#[test]
fn two_thousand_rules_displace_no_player_and_look_incomplete() {
    let mut crowded = status(64);
    crowded.rules = (0..2000)
        .map(|rule| (format!("rule{rule}"), "some value or other"))
        .collect();
    let (datagrams, read) = served(&crowded);
    assert!(datagrams.len() <= 32);
    assert!(
        !datagrams
            .iter()
            .any(|datagram| datagram.windows(7).any(|window| window == br"\final\"))
    );
    assert_eq!((read.players.len(), read.player_count), (64, Some(64)));
    assert!(read.rules.get("rule1").is_none());
    assert!(!read.completeness.is_complete());
}

#[test]
fn too_many_players_look_incomplete_and_their_count_is_true() {
    let (datagrams, read) = served(&status(900));
    assert_eq!((datagrams.len(), read.player_count), (32, Some(900)));
    assert!((200..900).contains(&read.players.len()));
    assert!(!read.completeness.is_complete());
}

/// The fields that all families of games share. Each test adds the keys of its family.
fn match_of(game: &str) -> ServerStatus {
    let mut status = status(2);
    status.game = Some(game.into());
    status.player_count = Some(2);
    status.password = Some(true);
    status.dedicated = Some(false);
    status
}

/// A status that is read, served and read again stays the same, even with the rules of the first
/// answer.
fn keeps_its_meaning(status: &ServerStatus) -> ServerStatus {
    let (_, read) = served(status);
    assert_eq!(fields(&read), fields(status));
    assert_eq!(team_ids(&read), team_ids(status));
    let (_, again) = served(&read);
    assert_eq!(again, read, "nothing is said twice");
    again
}

#[test]
fn an_unreal_match_keeps_its_meaning() {
    let mut status = match_of("ut");
    status.protocol_version = Some(432);
    status.mutators = Some(vec!["Instagib".into(), "Low gravity".into()]);
    status.time_limit = Some(Duration::from_secs(900));
    status.time_left = Some(Duration::from_secs(321));
    status.score_limit = Some(30);
    for player in &mut status.players {
        player.bot = Some(player.score == Some(-3));
    }
    status.bot_count = Some(1);
    let mut read = keeps_its_meaning(&status);
    assert_eq!(read.rules.get("listenserver").unwrap().raw(), b"True");
    // The match changes, and the rules that were read before do not contradict it.
    read.time_limit = Some(Duration::from_secs(1200));
    read.password = Some(false);
    let (_, changed) = served(&read);
    assert_eq!(
        (changed.time_limit, changed.password),
        (read.time_limit, Some(false))
    );
    assert_eq!(changed.rules.get_all("timelimit").count(), 1);
    // A key cannot hold a part of a minute.
    read.time_limit = Some(Duration::from_secs(90));
    let (_, changed) = served(&read);
    assert!(changed.time_limit.is_none() && changed.rules.get("timelimit").is_none());
}

#[test]
fn rules_that_read_as_rows_make_no_players_and_change_none() {
    let mut odd = status(2);
    for key in [
        "player_8",
        "frags_3",
        "frags_2",
        "frags_1",
        "playername_0",
        "teamname_0",
        "teamname_7",
        "score_t1",
        "name_tag_distance",
    ] {
        odd.rules.push(key, "99");
    }
    // The same without the fields that cannot be sent.
    odd.rules.push("\0play\x01er_9", "99");
    odd.rules.push("team\\name_1", "99");
    let (_, read) = served(&odd);
    let scores: Vec<_> = read.players.iter().map(|player| player.score).collect();
    assert_eq!((scores, read.teams.len()), (vec![Some(-3), Some(-2)], 0));
    assert!(read.players.iter().all(|player| player.extra.len() == 2));
    assert!(read.rules.get("frags_2").is_some(), "two players");
    assert_eq!(
        read.rules.get("frags_3").unwrap().raw(),
        b"99",
        "no player has this number"
    );
    assert!(read.rules.get("name_tag_distance").is_some());
}

#[test]
fn mutators_and_the_marks_of_bots_are_written_as_the_unreal_engine_does() {
    let mut status = ServerStatus::default();
    status.mutators = Some(vec!["Instagib".into(), "Low gravity".into()]);
    for (name, bot) in [("Ann", Some(false)), ("Bot", Some(true)), ("Cid", None)] {
        let mut player = Player::new(name);
        player.bot = bot;
        status.players.push(player);
    }
    // Its field has the mark already.
    let mut marked = Player::new("Dan");
    marked.extra.push("ngsecret", "bot");
    marked.bot = Some(true);
    status.players.push(marked);
    let (datagrams, _) = served(&status);
    let text = String::from_utf8(datagrams.concat()).unwrap();
    assert!(text.contains(r"\mutators\Instagib, Low gravity\"), "{text}");
    let players = r"\player_0\Ann\ngsecret_0\false\player_1\Bot\ngsecret_1\bot\player_2\Cid\player_3\Dan\ngsecret_3\bot\queryid\";
    assert!(text.contains(players), "{text}");
}

#[test]
fn a_repeated_command_is_answered_once() {
    let service = Service::from(Protocol::GameSpy1).with_echo();
    let answer =
        |request: &str| serve(service.clone())(Instant::now(), at(CLIENT), request.as_bytes());
    let once = answer(r"\status\");
    assert!(once.len() > 1);
    assert_eq!(answer(&r"\status\".repeat(31)), once);
    assert_eq!(answer(r"\status\\STATUS\\status\x"), once);
    assert_eq!(
        answer(r"\info\\echo\a\\info\\echo\b"),
        answer(r"\info\\echo\a"),
    );
    // Properties are the same command only with the same name.
    let level = [("Title", "Coret Facility"), ("Author", "Ann")]
        .into_iter()
        .collect();
    let service = Service::from(Protocol::GameSpy1).with_properties(level, Rules::default(), false);
    let answer =
        |request: &str| serve(service.clone())(Instant::now(), at(CLIENT), request.as_bytes());
    let title = answer(r"\level_property\Title\");
    assert_eq!(
        answer(&r"\level_property\Title\\LEVEL_property\Title\".repeat(5)),
        title
    );
    let both = answer(r"\level_property\Title\\level_property\Author\");
    assert!(
        both.len() == 1 && both[0].len() > title[0].len(),
        "{both:?}"
    );
}

/// The fields have the keys of UT99, in its sections. A rule with the key of a known field is left
/// out, in any case; other rules are sent as they are.
#[test]
fn a_status_has_the_sections_of_ut99() {
    let mut status = ServerStatus::default();
    status.game = Some("ut".into());
    status.version = Some("451".into());
    status.name = Some("Grün".into());
    status.map = Some("CTF-Face".into());
    status.game_port = Some(7777);
    status.max_players = Some(8);
    (status.password, status.dedicated) = (Some(false), Some(true));
    status.time_limit = Some(Duration::from_secs(1200));
    status.score_limit = Some(3);
    status.mutators = Some(vec!["Instagib".into(), "LowGrav".into()]);
    let mut ann = Player::new("Ann");
    (ann.score, ann.ping, ann.team, ann.bot) = (Some(-3), Some(40), Some(1), Some(true));
    ann.extra.push("mesh", "Male");
    status.players = [ann].into();
    let team = |id, name: &str, score| {
        let mut team = Team::default();
        (team.id, team.name, team.score) = (Some(id), Some(name.into()), Some(score));
        team
    };
    status.teams = vec![team(1, "Blue", 2), team(-1, "None", 0), team(0, "Red", 0)];
    status.rules = [
        ("wantworldlog", "true"),
        ("location", "2"),
        ("minnetver", "432"),
        ("worldlog", "false"),
        ("MapTitle", "Facing Worlds"),
        ("HostName", "another"),
        ("FRAGLIMIT", "30"),
        ("goalteamscore", "3"),
        ("player_9", "a row"),
        ("AdminName", "Жук"),
    ]
    .into_iter()
    .collect();
    let replies = |command| {
        let commands = [command];
        let request = Request::new(&commands);
        let service = Service::from(Protocol::GameSpy1);
        queryport::gamespy1::respond(&request, &status, &service, &requester(CLIENT))
    };
    let reply = |command| {
        let replies = replies(command);
        assert_eq!(replies.len(), 1);
        replies[0].to_vec()
    };
    let basic = br"\gamename\ut\gamever\451\minnetver\432\location\2";
    let info = b"\\hostname\\Gr\xfcn\\hostport\\7777\\maptitle\\Facing Worlds\\mapname\\CTF-Face\
        \\numplayers\\1\\maxplayers\\8\\gamemode\\openplaying\\worldlog\\false\\wantworldlog\\true";
    let rules = "\\mutators\\Instagib, LowGrav\\password\\False\\listenserver\\False\
        \\timelimit\\20\\fraglimit\\3\\goalteamscore\\3\\AdminName\\Жук";
    let players = br"\player_0\Ann\frags_0\-3\ping_0\40\team_0\1\mesh_0\Male\ngsecret_0\bot";
    let end = br"\queryid\1.1\final\";
    let versions = br"\gamever\451\minnetver\432";
    assert_eq!(reply(Command::Basic), [&basic[..], end].concat());
    assert_eq!(reply(Command::Info), [&info[..], versions, end].concat());
    assert_eq!(reply(Command::Rules), [rules.as_bytes(), end].concat());
    assert_eq!(reply(Command::Players), [&players[..], end].concat());
    assert_eq!(
        reply(Command::Teams),
        [
            &br"\team_1\Blue\score_1\2\size_1\1\team_0\Red\score_0\0\size_0\0"[..],
            end
        ]
        .concat()
    );
    assert_eq!(
        replies(Command::Packets)[1],
        [&info[..], br"\queryid\1.2"].concat()
    );
    let all = [&basic[..], info, rules.as_bytes(), players, end].concat();
    assert_eq!(reply(Command::Status), all);
}

/// `MenuName` of UT99's Engine/Spectator.uc, which its query server sends as the model.
#[test]
fn a_spectator_has_the_model_of_one() {
    let mut status = ServerStatus::default();
    let (mut ann, mut eve) = (Player::new("Ann"), Player::new("Eve"));
    ann.extra.push("mesh", "Male Soldier");
    eve.spectator = Some(true);
    status.players = [ann, eve].into();
    let (_, read) = served(&status);
    let watching = read.players.iter().map(|player| player.spectator);
    assert!(
        watching.eq([None, Some(true)]),
        "another model can be a translation"
    );
}
