//! What the report of losses says of statuses that a protocol cannot carry as they are.

use std::time::{Duration, Instant};

use queryport::Engine;
use queryport::serve::{GuardOptions, Loss, LossReason, Responder};
use queryport::{Player, Protocol, Secret, ServerStatus, Service, Team};

fn losses(service: impl Into<Service>, status: &ServerStatus) -> Vec<Loss> {
    Responder::new(
        service,
        status.clone(),
        Secret::new([5; 16]),
        Instant::now(),
    )
    .losses()
}

/// What every protocol has a field for.
fn status(players: u32, rules: u32) -> ServerStatus {
    let mut status = ServerStatus::default();
    status.name = Some("A server".into());
    status.map = Some("dm4".into());
    status.max_players = Some(players);
    status.player_count = Some(players);
    status.players = Some((0..players).map(player).collect());
    status.rules = (0..rules)
        .map(|n| (format!("sv_rule{n}"), format!("{n}")))
        .collect();
    status
}

fn player(n: u32) -> Player {
    let mut player = Player::new(format!("Player {n}"));
    (player.score, player.ping) = (Some(n.into()), Some(50));
    player
}

/// The fields and the reasons of the losses.
fn lost(losses: &[Loss]) -> Vec<(&str, LossReason)> {
    losses
        .iter()
        .map(|loss| (loss.field.as_str(), loss.reason))
        .collect()
}

#[test]
fn a_usual_status_loses_nothing_in_any_protocol() {
    for protocol in Protocol::ALL {
        assert_eq!(losses(protocol, &status(8, 8)), [], "{protocol}");
    }
    let ut3 = Service::new(Engine::UnrealTournament3);
    assert_eq!(losses(ut3, &status(8, 0)), []);
}

#[test]
fn a_name_that_ut2004_sends_as_utf_16_loses_nothing() {
    let mut status = status(2, 2);
    status.players.as_mut().unwrap()[0].name = "Жx".into();
    assert_eq!(losses(Protocol::Ut2004, &status), []);
}

/// All of them arrive before the client can send its next request.
#[test]
fn lists_of_many_datagrams_in_ut2004_lose_nothing() {
    assert_eq!(losses(Protocol::Ut2004, &status(200, 100)), []);
}

#[test]
fn bytes_that_end_a_field_are_reported_with_what_is_sent_instead() {
    for (protocol, name) in [
        (Protocol::Quake3, "a \"quoted\" name"),
        (Protocol::Quake3, "back\\slash"),
        (Protocol::GameSpy1, "back\\slash"),
        (Protocol::GameSpy4, "nul\0byte"),
    ] {
        let mut status = status(2, 2);
        status.name = Some(name.into());
        let losses = losses(protocol, &status);
        assert_eq!(lost(&losses), [("name", LossReason::Changed)], "{protocol}");
        let sent = losses[0].sent.as_deref().unwrap();
        assert!(
            !sent.is_empty() && sent != name && losses[0].value == name,
            "{protocol}: {sent}"
        );
    }
}

#[test]
fn players_and_rules_beyond_a_datagram_are_reported_as_without_space() {
    let options = Service::from(Protocol::Quake3);
    let losses = losses(options, &status(300, 0));
    let last = losses
        .iter()
        .rfind(|loss| loss.field.ends_with(".name"))
        .unwrap();
    assert_eq!(
        (last.field.as_str(), last.reason),
        ("players[299].name", LossReason::NoSpace)
    );
    assert_eq!(
        last.to_string(),
        "quake3: players[299].name: no space for \"Player 299\""
    );
    assert!(losses.iter().all(|loss| loss.field != "players[0].name"));
}

/// A reply is cut after a datagram, and teams come behind the players.
#[test]
fn teams_behind_too_many_players_are_reported_as_without_space() {
    let mut status = status(100, 0);
    status.teams = vec![Team::default()];
    (status.teams[0].id, status.teams[0].name) = (Some(0), Some("Red".into()));
    let mut options = GuardOptions::default();
    options.burst = 2000;
    let responder = Responder::new(
        Service::new(Engine::UnrealTournament3),
        status,
        Secret::new([5; 16]),
        Instant::now(),
    );
    let losses = responder.with_guard(Some(options)).losses();
    let team = losses
        .iter()
        .find(|loss| loss.field == "teams[0].name")
        .unwrap();
    assert_eq!(team.reason, LossReason::NoSpace);
}

#[test]
fn fields_that_a_protocol_does_not_have_are_reported_as_unsupported() {
    let mut status = status(1, 0);
    status.players.as_mut().unwrap()[0]
        .extra
        .push("shoe_size", "43");
    status.time_left = Some(Duration::from_secs(90));
    let losses = losses(Protocol::Quake3, &status);
    let fields = ["time_left", "players[0].extra[\"shoe_size\"]"];
    assert_eq!(
        lost(&losses),
        fields.map(|field| (field, LossReason::Unsupported))
    );
    assert_eq!(losses[0].value, "90");
}

/// id's servers send no such key, and ioquake3's `serverstatus` shifts what follows one.
#[test]
fn a_rule_without_a_value_is_left_out_in_quake_3() {
    let mut status = status(1, 1);
    status.rules.push("motd", "");
    status.rules.push("control", "\u{1}");
    for engine in [Engine::Quake3, Engine::DarkPlaces, Engine::Warsow] {
        let losses = losses(engine, &status);
        let motd = losses
            .iter()
            .find(|loss| loss.field == "rules[\"motd\"]")
            .unwrap();
        assert_eq!(
            (motd.reason, motd.sent.as_deref()),
            (LossReason::Unsupported, None),
            "{engine:?}"
        );
        assert!(
            losses.iter().any(|loss| loss.field == "rules[\"control\"]"),
            "{engine:?}"
        );
    }
    for protocol in [Protocol::GameSpy1, Protocol::Ut2004] {
        assert!(
            losses(protocol, &status)
                .iter()
                .all(|loss| loss.field != "rules[\"motd\"]"),
            "{protocol}"
        );
    }
}

#[test]
fn the_number_of_a_type_of_match_is_no_loss() {
    let mut status = status(1, 1);
    (status.game, status.game_type) = (Some("baseq3".into()), Some("4".into()));
    assert_eq!(losses(Protocol::Quake3, &status), []);
}

#[test]
fn a_responder_reports_each_of_its_protocols() {
    let mut odd = status(1, 0);
    odd.map = Some("a\\b".into());
    let responder = Responder::new(Protocol::Quake3, odd, Secret::new([5; 16]), Instant::now())
        .with_service(Protocol::GameSpy1);
    let protocols: Vec<Protocol> = responder
        .losses()
        .iter()
        .map(|loss| loss.protocol)
        .collect();
    assert_eq!(protocols, [Protocol::Quake3, Protocol::GameSpy1]);
}

#[test]
fn a_status_that_loses_something_can_be_refused() {
    let mut responder = Responder::new(
        Protocol::Quake3,
        status(1, 0),
        Secret::new([5; 16]),
        Instant::now(),
    );
    assert_eq!(responder.try_set_status(status(2, 0)), Ok(()));
    assert!(responder.try_set_status(status(300, 0)).is_err());
    assert_eq!(
        responder.status().player_count,
        Some(2),
        "the old status stays"
    );
}

#[test]
fn a_rule_that_is_too_long_and_one_that_reads_as_a_row_are_reported() {
    let mut long = status(2, 2);
    long.rules.push("motd", &"x".repeat(2000));
    for protocol in Protocol::ALL {
        let losses = losses(protocol, &long);
        let fields: Vec<&str> = losses.iter().map(|loss| loss.field.as_str()).collect();
        assert_eq!(fields, ["rules[\"motd\"]"], "{protocol}");
    }
    let mut row = status(2, 2);
    row.rules.push("player_8", "nobody");
    assert_eq!(
        lost(&losses(Protocol::GameSpy1, &row)),
        [("rules[\"player_8\"]", LossReason::Unsupported)]
    );
}
