//! A responder sends the same bytes as the stateless `queryport::quake3::respond`, whatever it has
//! encoded before.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use proptest::prelude::*;
use queryport::serve::Responder;
use queryport::session::Machine;
use queryport::{
    Engine, Player, Players, Protocol, Requester, Secret, ServerStatus, Service, Team,
};
use queryport::{gamespy1, gamespy4, quake3, ut2004};

const SECRET: Secret = Secret::new([7; 16]);

fn client() -> SocketAddr {
    SocketAddr::from(([192, 0, 2, 1], 5000))
}

fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{0,12}",
        "[ -~]{0,30}",
        any::<String>(),
        "[a-zü\\\\;\"]{200,600}"
    ]
}

fn status() -> impl Strategy<Value = ServerStatus> {
    let players = prop_oneof![Just(0_usize), 0..12_usize, 90..130_usize];
    let rules = prop::collection::vec(
        (
            prop_oneof!["[a-z]{1,9}", "challenge|clients|gamename|Flags|player_1"],
            word(),
        ),
        0..40,
    );
    let texts = [(); 5].map(|()| prop::option::of(word()));
    let numbers = [(); 4].map(|()| prop::option::of(0..99_u32));
    (players, rules, texts, numbers, prop::option::of(word())).prop_map(
        |(players, rules, texts, numbers, name)| {
            let mut status = ServerStatus::default();
            let [own, map, game, game_type, version] = texts.map(|text| text.map(Into::into));
            (status.name, status.map, status.game) = (own, map, game);
            (status.game_type, status.version) = (game_type, version);
            [
                status.max_players,
                status.player_count,
                status.bot_count,
                status.protocol_version,
            ] = numbers;
            let player = |number: usize| {
                let mut player =
                    Player::new(format!("{}{number}", name.as_deref().unwrap_or_default()));
                (player.score, player.ping, player.team) =
                    (Some(number as i64 - 3), Some(40), Some(1));
                player.extra.push("skin", "x");
                player
            };
            let listed = name.as_ref().map(|_| (0..players).map(player).collect());
            status.players = Players::from(listed);
            let mut team = Team::default();
            (team.id, team.name) = (Some(1), Some("Red".into()));
            status.teams = vec![team];
            status.rules = rules.into_iter().collect();
            status
        },
    )
}

fn services() -> Vec<Service> {
    use Engine::*;
    let engines = [
        Quake3,
        DarkPlaces,
        SoldierOfFortune2,
        Warsow,
        MedalOfHonor,
        Ut2004,
        Ut2003,
        KillingFloor,
    ];
    let quoting = [Unreal, Qr1].map(|engine| Service::new(engine).with_echo());
    let bounded = [
        (UnrealTournament3, 11_200),
        (Battlefield2, 2_000),
        (Minecraft, 500),
    ]
    .map(|(engine, bytes)| Service::new(engine).with_max_reply(bytes));
    engines
        .map(Service::new)
        .into_iter()
        .chain(quoting)
        .chain(bounded)
        .collect()
}

/// A request in the service's protocol, chosen by a number. It has a token of the service if it
/// needs one.
fn request(service: &Service, number: usize, text: &str, token: i32) -> Vec<u8> {
    match service.engine().protocol() {
        Protocol::Quake3 => {
            let words = [
                "getstatus",
                "getinfo",
                "getchallenge",
                "\x02getstatus",
                "ping",
            ];
            [
                b"\xff\xff\xff\xff",
                format!("{} {text}", words[number % words.len()]).as_bytes(),
            ]
            .concat()
        }
        Protocol::GameSpy1 => {
            let echo = format!(r"\echo\{text}\\info\");
            let commands = [
                r"\status\",
                r"\packets\",
                r"\info\\rules\",
                r"\rules\\info\",
                r"\teams\\Status\",
                r"\x\",
                &echo,
            ];
            commands[number % commands.len()].as_bytes().to_vec()
        }
        Protocol::GameSpy4 => {
            let id = (text.len() as u32).to_be_bytes();
            let selections: [&[u8]; 6] = [
                b"\xff\xff\xff\x01",
                b"",
                b"123",
                b"\xff\xff\xff",
                b"\x06\x01\x06\x05\x08\x0a\x04\0\0",
                b"\0\x02\x15\x16\x01\x1c",
            ];
            let token = token.to_be_bytes();
            let token = if is_unchallenged(number) {
                &[][..]
            } else {
                &token
            };
            [
                b"\xfe\xfd\0",
                &id[..],
                token,
                selections[number % selections.len()],
            ]
            .concat()
        }
        _ => vec![[0x79, 0x80, 0][number % 3], 0, 0, 0, (number / 3 % 5) as u8],
    }
}

/// Whether the request of this number has no challenge in GameSpy v4.
const fn is_unchallenged(number: usize) -> bool {
    number % 4 == 3
}

/// The reply of the stateless form.
fn answer(
    service: &Service,
    datagram: &[u8],
    is_unchallenged: bool,
    status: &ServerStatus,
    requester: &Requester,
) -> Vec<Bytes> {
    match service.engine().protocol() {
        Protocol::Quake3 => quake3::Request::parse(datagram)
            .map(|request| quake3::respond(&request, status, service, requester)),
        Protocol::GameSpy1 => gamespy1::Request::parse(datagram)
            .map(|request| gamespy1::respond(&request, status, service, requester)),
        Protocol::GameSpy4 => {
            let is_battlefield_2 = service.engine() == Engine::Battlefield2;
            let request = if is_battlefield_2 && is_unchallenged {
                gamespy4::Request::parse_without_challenge(datagram)
            } else {
                gamespy4::Request::parse(datagram)
            };
            request.map(|request| gamespy4::respond(&request, status, service, requester))
        }
        Protocol::Ut2004 => ut2004::Request::parse(datagram)
            .map(|request| ut2004::respond(&request, status, service, requester)),
        _ => Ok(Vec::new()),
    }
    .unwrap_or_default()
}

/// The number in a challenge reply of GameSpy v4.
fn token(reply: &[u8]) -> i32 {
    std::str::from_utf8(&reply[5..reply.len() - 1])
        .unwrap()
        .parse()
        .unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]

    #[test]
    fn cached_replies_equal_those_encoded_anew(
        statuses in prop::collection::vec(status().prop_map(Arc::new), 1..4),
        asked in prop::collection::vec((0..60_usize, "[!-~]{0,14}", any::<prop::sample::Index>()), 1..24),
    ) {
        let now = Instant::now();
        for service in services() {
            let mut responder =
                Responder::new(service.clone(), Arc::clone(&statuses[0]), SECRET, now).with_guard(None);
            let mut stateless = Requester::new(client(), now, SECRET);
            let mut out = Vec::new();
            for (number, text, index) in &asked {
                let status = index.get(&statuses);
                responder.set_status(Arc::clone(status));
                let mut tokens = [0; 2];
                let is_unchallenged = is_unchallenged(*number);
                if service.engine().protocol() == Protocol::GameSpy4 && !is_unchallenged {
                    let challenge = b"\xfe\xfd\x09\x01\x02\x03\x04";
                    responder.handle_datagram(now, client(), challenge);
                    out.clear();
                    responder.poll_transmit(now, &mut out);
                    tokens = [token(&out), token(answer(&service, challenge, false, status, &stateless).first().unwrap())];
                }
                stateless.number = responder.stats().answered + 1;
                let datagram = request(&service, *number, text, tokens[1]);
                let expected = answer(&service, &datagram, is_unchallenged, status, &stateless);
                responder.handle_datagram(now, client(), &request(&service, *number, text, tokens[0]));
                for expected in &expected {
                    out.clear();
                    let transmit = responder.poll_transmit(now, &mut out).unwrap();
                    prop_assert_eq!((transmit.to, transmit.len), (client(), out.len()));
                    prop_assert_eq!(&out[..], &expected[..], "{:?} {} {:?}", service, number, text);
                }
                prop_assert_eq!(responder.poll_transmit(now, &mut out), None);
            }
        }
    }
}
