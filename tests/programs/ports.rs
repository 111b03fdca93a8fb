//! `queryport query GAME HOST` with a server at the query port, for each kind of rule that gives this
//! port. The server answers in one protocol only.

use std::net::SocketAddr;
use std::time::Instant;

use kit::at_once;
use queryport::serve::Responder;
use queryport::{Format, Secret, ServerStatus, Service};
use tokio::net::UdpSocket;
use tokio::runtime::Runtime;

use crate::siblings::line;

/// A server, and how it is asked for.
#[derive(Clone, Copy)]
struct Case {
    game: &'static str,
    /// The port that is given to the program.
    given: Option<u16>,
    format: Format,
    query_port: u16,
}

const fn case(game: &'static str, given: Option<u16>, format: Format, query_port: u16) -> Case {
    Case {
        game,
        given,
        format,
        query_port,
    }
}

const CASES: [Case; 12] = [
    case("stalker", None, Format::GameSpy4, 5445),
    case("redorchestra", Some(7757), Format::GameSpy1, 7767),
    case("deusex", Some(7790), Format::GameSpy1, 7791),
    case("vietcong", Some(6000), Format::GameSpy1, 16000),
    case("bf2142", Some(17568), Format::GameSpy4, 29901),
    case("hd2", Some(3001), Format::GameSpy2, 3004),
    case("hd2", Some(11001), Format::GameSpy1, 11004),
    case("bfield1942", None, Format::GameSpy1, 23000),
    case("tribesv", None, Format::GameSpy2, 7778),
    case("quetoo", None, Format::Quake2, 1998),
    // Medal of Honor takes the first free port (openmoh/openmohaa, code/gamespy/sv_gamespy.c).
    case("mohaa", Some(12203), Format::GameSpy1, 12300),
    case("mohaas", Some(12219), Format::GameSpy1, 12316),
];

#[test]
fn a_server_is_found_at_the_query_port_of_its_game_at_the_first_try() {
    let runtime = Runtime::new().unwrap();
    at_once((1..).zip(CASES), |(host, case)| check(&runtime, host, case));
}

/// Each server has an address of its own, because some have the same port.
fn check(runtime: &Runtime, host: u8, case: Case) {
    let place = SocketAddr::from((kit::own_host(host), case.query_port));
    let socket = kit::bind_when_free(place);
    socket.set_nonblocking(true).unwrap();
    let mut status = ServerStatus::default();
    status.name = Some(case.game.into());
    status.map = Some("map".into());
    status.game_port = case.given;
    let service = Service::new(case.format);
    let mut responder = Responder::new(service, status, Secret::new([9; 16]), Instant::now());
    let server = runtime.spawn(async move {
        let socket = UdpSocket::from_std(socket).unwrap();
        let _ = queryport::net::serve(&[socket], &mut responder).await;
    });
    let host = match case.given {
        Some(port) => format!("{}:{port}", place.ip()),
        None => place.ip().to_string(),
    };
    let run = [
        "query",
        case.game,
        &host,
        "--json",
        "--retries",
        "0",
        "--timeout",
        "20",
    ];
    let found = line(&run);
    assert_eq!(found["peer"], place.to_string(), "{run:?}: {found}");
    assert_eq!(found["answer"]["name"], case.game, "{run:?}: {found}");
    server.abort();
}
