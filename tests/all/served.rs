//! What a server is told is what our client reads, in every format.

use std::time::Duration;

use kit::served::{carries, carries_of_players, difference, formats, received};
use proptest::option::of;
use proptest::prelude::*;
use queryport::{Format, Player, ServerStatus, Text};

use crate::facts::fields;

fn text() -> impl Strategy<Value = Text> {
    "[A-Z][a-z0-9]{2,9}( [a-z]{1,5})?".prop_map(Text::from)
}

fn player() -> impl Strategy<Value = Player> {
    let parts = (text(), -9_000_i64..9_000, 1..900_i32, 1..=2, any::<bool>());
    parts.prop_map(|(name, score, ping, team, bot)| {
        let mut player = Player::new(name);
        (player.score, player.ping) = (Some(score), Some(ping));
        (player.team, player.bot) = (Some(team), Some(bot));
        player
    })
}

/// The ping, the team and whether it is a bot, as far as the format carries them.
fn details(format: Format, player: &Player) -> (String, Option<i32>, Option<i32>, bool) {
    let has = |field| carries_of_players(format, field);
    (
        player.name.plain().into_owned(),
        player.ping.filter(|_| has("ping")),
        player.team.filter(|_| has("team")),
        has("bot") && player.bot == Some(true),
    )
}

const MINUTE: Duration = Duration::from_secs(60);

fn minutes() -> impl Strategy<Value = Duration> {
    (1..1_000_u32).prop_map(|minutes| MINUTE * minutes)
}

prop_compose! {
    fn status()(
        (name, map) in (text(), text()),
        texts in prop::array::uniform4(of(text())),
        flags in prop::array::uniform3(of(any::<bool>())),
        players in prop::collection::vec(player(), 0..9),
        [slots, private] in prop::array::uniform2(of(0..9_u32)),
        counts_bots in any::<bool>(),
        (limit, left) in (of(minutes()), of(minutes())),
        (score, protocol, port) in (of(-999..999_i64), 100..3_000_u32, of(1..=u16::MAX)),
        mutators in of(prop::collection::vec(text(), 0..4)),
        rules in prop::collection::btree_map("x[a-z]{2,7}", "[a-z0-9]{1,9}", 0..5),
    ) -> ServerStatus {
        let mut status = ServerStatus::default();
        (status.name, status.map) = (Some(name), Some(map));
        [status.game, status.game_type, status.mod_name, status.version] = texts;
        [status.password, status.dedicated, status.anti_cheat] = flags;
        let count = players.len() as u32;
        status.player_count = Some(count);
        let bots = players.iter().filter(|player| player.bot == Some(true)).count() as u32;
        status.bot_count = counts_bots.then_some(bots);
        status.max_players = slots.map(|slots| slots + count);
        status.private_slots = private.filter(|private| status.max_players > Some(*private));
        status.time_limit = limit;
        // Without a limit, no time is left.
        status.time_left = limit.and(left);
        (status.score_limit, status.game_port) = (score, port);
        // With it, a GameSpy v1 server is of the Unreal engine, whose time limit is in minutes.
        status.protocol_version = Some(protocol);
        status.mutators = mutators;
        status.players = players.into();
        status.rules.extend(rules);
        status
    }
}

proptest! {
    #[test]
    fn every_field_that_a_format_carries_is_received_and_none_is_another(status in status()) {
        for format in formats() {
            let read = received(format, &status);
            for ((field, held), (_, read)) in fields(&status).into_iter().zip(fields(&read)) {
                if held.is_some() && (carries(format, field) || read.is_some()) {
                    prop_assert_eq!(read, held, "{:?} {}", format, field);
                }
            }
            let sorted = |status: &ServerStatus| {
                let mut all: Vec<_> = status.players.iter().map(|player| details(format, player)).collect();
                all.sort_unstable();
                all
            };
            prop_assert_eq!(sorted(&read), sorted(&status), "{:?}", format);
            prop_assert_eq!(difference(format, &status, &read), None, "{:?}", format);
        }
    }
}

/// They have one key for the game and its modification: only the game's own folder names the game.
#[test]
fn games_of_quake_2_and_quake_world_are_received_by_their_folders() {
    let folders = ["qw", "baseq2"];
    for (format, own) in [(Format::QuakeWorld, "qw"), (Format::Quake2, "baseq2")] {
        for folder in folders {
            let mut status = ServerStatus::default();
            status.game = Some(folder.into());
            let game = received(format, &status).game;
            assert_eq!(game, status.game.filter(|_| folder == own), "{format:?}");
        }
    }
}

/// A value that has only minutes or seconds cannot hold every time. A longer time would be a claim,
/// and so would a shorter one.
#[test]
fn no_format_rounds_a_time() {
    let times = [
        1, 500, 999, 59_999, 60_000, 60_001, 60_500, 60_999, 89_600, 119_999, 150_000,
    ];
    let mut parts_of_a_minute = 0;
    for format in formats() {
        for time in times.map(Duration::from_millis) {
            let mut status = ServerStatus::default();
            // With it, a GameSpy v1 server is of the Unreal engine, whose time limit is in minutes.
            status.protocol_version = Some(100);
            status.time_limit = Some(time);
            let limit = received(format, &status).time_limit;
            let must_arrive = time == MINUTE && carries(format, "limit");
            assert!(
                limit == Some(time) || limit.is_none() && !must_arrive,
                "{format:?} {time:?}: {limit:?}"
            );
            parts_of_a_minute += u32::from(limit.is_some_and(|limit| limit.as_secs() % 60 != 0));
            status.time_limit = Some(Duration::from_secs(600));
            status.time_left = Some(time);
            let left = received(format, &status).time_left;
            let whole = Duration::from_secs(time.as_secs());
            assert!(
                left.is_none() || left == Some(whole),
                "{format:?} {time:?}: {left:?}"
            );
        }
    }
    assert!(parts_of_a_minute > 0, "Quake 3's limits have a fraction");
}
