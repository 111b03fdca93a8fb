//! Replies and statuses that are unusual: other marks, cases and character sets, missing parts, and
//! lengths at a limit.

use bytes::Bytes;
use queryport::gamespy4;
use queryport::model::{Charset, Colours, Style};
use queryport::{
    Dialect, Format, Limits, Part, Player, QueryOptions, ServerStatus, Service, Text, ToStatus,
    gamespy1, quake3, ut2004,
};

use crate::common::{request, requester};

/// The replies of a server of this format to a request in bytes.
fn served(format: Format, datagram: &[u8], status: &ServerStatus) -> Vec<Bytes> {
    let (service, requester) = (Service::new(format), requester("192.0.2.1:5000"));
    kit::replies(&service, datagram, status, &requester).unwrap()
}

fn named(name: &str) -> ServerStatus {
    let mut status = ServerStatus::default();
    status.name = Some(name.into());
    status.map = Some("dm".into());
    status
}

/// Two servers must never answer each other.
#[test]
fn each_mark_of_a_reply_alone_makes_it_no_request_of_gamespy1() {
    for reply in [
        &br"\status\\final\"[..],
        br"\status\\queryid\7",
        br"\statusresponse\0\status\x",
        br"\status\\eof\",
    ] {
        assert!(
            gamespy1::Request::parse(reply).is_err(),
            "{}",
            reply.escape_ascii()
        );
    }
    assert!(gamespy1::Request::parse(br"\status\\finals\x").is_ok());
}

#[test]
fn packets_are_a_datagram_for_each_section_and_no_further_one() {
    let mut status = named("Srv");
    status.game = Some("ut".into());
    status.players = [Player::new("Ann")].into();
    status.rules.push("rule", "value");
    let heads = |status: &ServerStatus| {
        let replies = served(Format::GameSpy1, br"\packets\", status);
        replies
            .iter()
            .map(|reply| {
                String::from_utf8_lossy(reply)
                    .split('\\')
                    .nth(1)
                    .unwrap()
                    .to_owned()
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(heads(&status), ["gamename", "hostname", "rule", "player_0"]);
    status.players = [].into();
    assert_eq!(heads(&status), ["gamename", "hostname", "rule"]);
    let whole = served(Format::GameSpy1, br"\packets\", &status);
    let answer = gamespy1::Answer::from_datagrams(whole, &Limits::default()).unwrap();
    assert!(answer.completeness().is_complete());
}

/// Quake's character set has ASCII twice, and no other letters.
#[test]
fn letters_that_quake_2_has_not_become_question_marks() {
    let mut status = named("Gr\u{fc}n \u{416}");
    let quake = Style::new(Charset::Quake, Colours::Caret);
    status.players = [
        Player::new("\u{e9}t\u{e9}"),
        Player::new(Text::new(&b"\xc1nn"[..], quake)),
    ]
    .into();
    let info = served(Format::Quake2, b"\xff\xff\xff\xffinfo 34", &status);
    assert!(info[0].windows(6).any(|part| part == b"Gr?n ?"));
    let replies = served(Format::Quake2, b"\xff\xff\xff\xffstatus", &status);
    assert!(replies[0].windows(3).any(|part| part == b"\xc1nn"));
    let answer = quake3::Answer::from_datagrams(replies, &Limits::default()).unwrap();
    let read = answer.to_status();
    assert_eq!(read.name.unwrap().plain(), "Gr?n ?");
    let names: Vec<_> = read
        .players
        .iter()
        .map(|player| player.name.plain())
        .collect();
    assert_eq!(names, ["?t?", "Ann"]);
}

/// Unreal Engine compares names without case.
#[test]
fn rules_of_ut2004_have_their_meaning_in_any_case() {
    let mut list = b"\x80\0\0\0\x01".to_vec();
    for (key, value) in [
        ("SERVERMODE", "dedicated"),
        ("gamepassword", "True"),
        ("GOALSCORE", "25"),
        ("mutator", "Instagib"),
        ("timelimit", "20"),
    ] {
        for text in [key, value] {
            list.push(text.len() as u8 + 1);
            list.extend([text.as_bytes(), b"\0"].concat());
        }
    }
    let answer = ut2004::Answer::from_datagrams([list], &Limits::default()).unwrap();
    assert_eq!(
        answer.get("ServerMode").unwrap().text().plain(),
        "dedicated"
    );
    assert!(
        !answer.completeness().lacks(Part::Rules),
        "it begins with the first rule"
    );
    let status = answer.to_status();
    assert_eq!(
        (status.dedicated, status.password, status.score_limit),
        (Some(true), Some(true), Some(25))
    );
    assert_eq!(status.time_limit.unwrap().as_secs(), 20 * 60);
    assert_eq!(status.mutators.unwrap()[0], "Instagib");
    // The rules between which that of a password would be.
    let list = b"\x80\0\0\0\x01\x0dISVACSECURED\0\x05true\0\x0agamespeed\0\x021\0";
    let answer = ut2004::Answer::from_datagrams([list], &Limits::default()).unwrap();
    assert_eq!(answer.to_status().password, Some(false));
}

/// A field of the status takes the place of a rule with its key in any case, also of one that is
/// written into the info.
#[test]
fn a_rule_of_ut2004_in_another_case_is_not_served_beside_its_field() {
    let mut status = named("Srv");
    for (key, value) in [
        ("SERVERMODE", "non-dedicated"),
        ("skilllevel", "5"),
        ("FLAGS", "1"),
        ("translocator", "True"),
    ] {
        status.rules.push(key, value);
    }
    status.dedicated = Some(true);
    let requests = [ut2004::Command::Info, ut2004::Command::RulesAndPlayers];
    let replies = requests.into_iter().flat_map(|command| {
        let service = Service::new(Format::Ut2004);
        let requester = requester("192.0.2.1:5000");
        ut2004::respond(
            &ut2004::Request::new(command),
            &status,
            &service,
            &requester,
        )
    });
    let answer = ut2004::Answer::from_datagrams(replies, &Limits::default()).unwrap();
    let rules: Vec<_> = answer
        .rules()
        .map(|(key, value)| format!("{}={}", key.text(), value.text()))
        .collect();
    assert_eq!(rules, ["ServerMode=dedicated", "translocator=True"]);
    assert_eq!(
        answer.to_status().password,
        Some(true),
        "the flag of a password"
    );
}

/// The lengths of the texts in the replies of a server whose players have names of this length.
fn lengths(format: Format, dialect: Dialect, name: usize) -> Vec<usize> {
    let mut query = quake3::StatusQuery::new(7, &QueryOptions::default().with_dialect(dialect));
    let mut status = named("Srv");
    let mut players = vec![Player::new("x".repeat(10)); 100];
    players[0] = Player::new("x".repeat(name));
    status.players = players.into();
    let replies = served(format, &request(&mut query), &status);
    let text = |reply: &Bytes| match format {
        Format::Quake2 => reply.len() - b"\xff\xff\xff\xffprint\n".len(),
        _ => reply.len() - b"\xff\xff\xff\xffn\0".len(),
    };
    replies.iter().map(text).collect()
}

/// One byte more would go into the next datagram, or be left out.
#[test]
fn datagrams_of_quake_2_and_quake_world_reach_their_limits_and_no_further() {
    let longest = |format, dialect| {
        let first = (1..31).map(|name| lengths(format, dialect, name)[0]);
        first.max().unwrap()
    };
    // id-Software/Quake-2, server/sv_main.c (without the line feed that shows missing lines).
    assert_eq!(longest(Format::Quake2, Dialect::Quake2), 1383);
    // QW-Group/mvdsv, src/sv_send.c.
    assert_eq!(longest(Format::QuakeWorld, Dialect::QuakeWorld), 1340);
}

/// A reply that Minecraft's server did not send to its end lacks all parts after the cut.
#[test]
fn a_minecraft_reply_cut_inside_its_pairs_lacks_rules_and_players() {
    let pairs = b"\0\x01\x02\x03\x04splitnum\0\x80\0hostname\0Gold\0gametype\0SMP\0game_id\0\
        MINECRAFT\0version\x001.21\0plugins\0\0map\0world\0numplayers\x001\0maxplayers\x0020\0\
        hostport\x0025565\0hostip\x000.0.0.0\0\0";
    let whole = [&pairs[..], b"\x01player_\0\0Ann\0\0"].concat();
    let mut tried = 0;
    for cut in 30..whole.len() {
        let Ok(answer) = gamespy4::Answer::from_datagrams([&whole[..cut]], &Limits::default())
        else {
            continue;
        };
        let missing = answer.completeness();
        assert_eq!(answer.to_status().completeness, missing, "{cut}");
        assert!(missing.lacks(Part::Players), "{cut}");
        assert_eq!(missing.lacks(Part::Rules), cut < pairs.len(), "{cut}");
        // A cut mark of the players must not let the title swallow the keys.
        let title = answer.get("hostname");
        assert!(cut < pairs.len() || title == Some(b"Gold"), "{cut}");
        tried += 1;
    }
    assert!(tried > 100, "{tried}");
    let answer = gamespy4::Answer::from_datagrams([&whole], &Limits::default()).unwrap();
    assert!(answer.completeness().is_complete());
}
