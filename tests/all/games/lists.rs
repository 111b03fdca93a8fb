//! All list servers of a game at once.
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use queryport::games::{Game, MasterAddress, MasterForm};
use queryport::lists::{ListCompleteness, Scope};
use queryport::net::{Listed, Servers};
use queryport::quake3::master::{Master, Options};
use queryport::serve::Announcer;
use queryport::{
    Client, Error, ErrorKind, ListError, Protocol, Secret, ServerList, ServerStatus, Service,
};
use tokio::io::AsyncReadExt;
use tokio::net::UdpSocket;

use crate::clock::run_in_steps;
use crate::common::list_servers::gamespy4::Plain;
use crate::common::list_servers::tcp::{self, GameSpy1};
use crate::common::list_servers::ut2004;
use crate::games::{answer, bind, client, named};
use crate::net::run;

async fn socket() -> (UdpSocket, SocketAddr) {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let address = socket.local_addr().unwrap();
    (socket, address)
}

fn master(form: MasterForm, address: SocketAddr) -> MasterAddress {
    MasterAddress::new(form, address.to_string().leak())
}

fn game(id: &str, masters: Vec<MasterAddress>) -> Game {
    let mut game = *Game::find(id).unwrap();
    game.masters = masters.leak();
    game
}

/// A master that answers this request alone with these datagrams.
async fn scripted(request: &'static [u8], datagrams: Vec<Vec<u8>>) -> SocketAddr {
    let (socket, address) = socket().await;
    kit::spawn(async move {
        let mut buffer = [0; 256];
        while let Ok((length, from)) = socket.recv_from(&mut buffer).await {
            let is_asked = &buffer[..length] == request;
            for datagram in datagrams.iter().filter(|_| is_asked) {
                socket.send_to(datagram, from).await.unwrap();
            }
        }
    });
    address
}

/// One datagram: the word, entries of 192.0.2.x:27960, and an end.
fn datagram(hosts: std::ops::RangeInclusive<u8>, end: &[u8]) -> Vec<u8> {
    let entries = hosts.flat_map(|host| [b'\\', 192, 0, 2, host, 0x6D, 0x38]);
    let entries: Vec<u8> = entries.collect();
    [&b"\xff\xff\xff\xffgetserversResponse"[..], &entries, end].concat()
}

/// Our own master, with one server that announces itself as `Test`.
async fn own_master() -> (SocketAddr, SocketAddr) {
    let (socket, address) = socket().await;
    let mut options = Options::default();
    options.scope = Scope::Any;
    let mut master = Master::new(Secret::new([1; 16]), options, Instant::now());
    kit::spawn(async move { _ = run(&[socket], &mut master).await });
    let (game, listed) = self::socket().await;
    let mut status = ServerStatus::default();
    (status.game, status.name) = (Some("Test".into()), Some("Srv".into()));
    (status.max_players, status.player_count) = (Some(8), Some(0));
    let options = Service::from(Protocol::GameSpy1);
    let announcer =
        Announcer::quake3("DarkPlaces", [address], &status, options, Instant::now()).unwrap();
    let responder = queryport::serve::Responder::new(
        queryport::Protocol::Quake3,
        status,
        Secret::new([2; 16]),
        Instant::now(),
    );
    kit::spawn(async move { _ = run(&[game], &mut (responder, announcer)).await });
    (address, listed)
}

#[tokio::test]
async fn lists_of_several_masters_are_merged_and_the_dead_are_named() {
    let (own, announced) = own_master().await;
    let short = b"\xff\xff\xff\xffgetservers 68 empty full";
    let unmarked = scripted(
        short,
        vec![datagram(1..=100, b""), datagram(101..=120, b"\\")],
    )
    .await;
    let marked = scripted(short, vec![datagram(110..=130, b"\\EOT\0\0\0")]).await;
    let (silent, silent_at) = socket().await;
    let closed = { socket().await.1 };
    let mut game = game(
        "q3a",
        vec![
            master(MasterForm::Long, own),
            master(MasterForm::Short, unmarked),
            master(MasterForm::Short, marked),
            master(MasterForm::Short, silent_at),
            master(MasterForm::Short, closed),
            master(MasterForm::GameSpy2, closed),
        ],
    );
    (game.gamename, game.numbers) = (Some("Test"), &[(68, "")]);
    // The heartbeat, the master's challenge and its answer need a moment.
    let deadline = Instant::now() + Duration::from_secs(60);
    let (servers, listed) = loop {
        let mut servers = client().servers(&game).unwrap().with_scope(Scope::Any);
        let mut listed = Vec::new();
        while let Some(server) = servers.next().await {
            listed.push(server);
        }
        // A server that joins between the passes leaves the list unsettled.
        let own = servers.masters()[0]
            .list
            .as_ref()
            .and_then(|list| list.as_ref().ok());
        let is_settled = own.is_some_and(|list| list.completeness.is_settled());
        if is_settled && listed.iter().any(|listed| listed.server == announced)
            || Instant::now() > deadline
        {
            break (servers, listed);
        }
    };
    drop(silent);
    let mut addresses: Vec<SocketAddr> = listed.iter().map(|listed| listed.server).collect();
    addresses.sort();
    addresses.dedup();
    assert_eq!(
        (addresses.len(), listed.len()),
        (131, 131),
        "130 and the announced one, each once"
    );
    let origin = |server: SocketAddr| {
        listed
            .iter()
            .find(|listed| listed.server == server)
            .unwrap()
            .origin
    };
    assert_eq!(
        (
            origin(announced),
            origin("192.0.2.5:27960".parse().unwrap())
        ),
        (0, 1)
    );
    assert_eq!(origin("192.0.2.130:27960".parse().unwrap()), 2);

    let reports = servers.masters();
    assert_eq!(
        reports.len(),
        5,
        "the list server that needs a key is left out"
    );
    let list = |index: usize| reports[index].list.as_ref().unwrap().as_ref();
    for index in 0..3 {
        let completeness = list(index).unwrap().completeness;
        assert_eq!(completeness, ListCompleteness::Settled, "{index}");
    }
    assert_eq!((reports[1].servers, reports[2].servers), (120, 21));
    assert_eq!(list(3).unwrap_err().kind(), ErrorKind::Timeout);
    assert_eq!(list(4).unwrap_err().kind(), ErrorKind::Unreachable);
}

#[tokio::test]
async fn a_master_is_asked_in_its_form_and_only_if_its_numbers_are_known() {
    for (form, request, word) in [
        (
            MasterForm::Named,
            &b"\xff\xff\xff\xffgetservers Test 68 empty full"[..],
            "getserversResponse",
        ),
        (
            MasterForm::Long,
            b"\xff\xff\xff\xffgetserversExt Test 68 empty full",
            "getserversExtResponse",
        ),
    ] {
        let head = [b"\xff\xff\xff\xff", word.as_bytes()].concat();
        let list = [&head[..], b"\\\xc0\0\x02\x01\x6d\x38\\EOT\0\0\0"].concat();
        let address = scripted(request, vec![list]).await;
        let mut game = game("q3a", vec![master(form, address)]);
        (game.gamename, game.numbers) = (Some("Test"), &[(68, "")]);
        let (listed, _) = listed(&client(), &game).await;
        assert_eq!(listed.len(), 1, "{form:?}");
    }
    let with_key = master(MasterForm::GameSpy2, "127.0.0.1:1".parse().unwrap());
    let error = client().servers(&game("q3a", vec![with_key])).unwrap_err();
    assert!(matches!(error, Error::NoMaster { known: 1, .. }), "{error}");
}

/// A master that ignores the number.
#[tokio::test]
async fn a_server_that_a_list_server_names_for_two_numbers_counts_once() {
    let (socket, address) = socket().await;
    kit::spawn(async move {
        while let Ok((_, from)) = socket.recv_from(&mut [0; 256]).await {
            socket
                .send_to(&datagram(1..=3, b"\\EOT\0\0\0"), from)
                .await
                .unwrap();
        }
    });
    let (listed, servers) = listed(
        &client(),
        &game("jk2", vec![master(MasterForm::Short, address)]),
    )
    .await;
    assert_eq!((listed.len(), servers.masters()[0].servers), (3, 3));
}

/// The two datagrams of the list are reported one by one, and then the list.
#[tokio::test]
async fn a_server_over_the_bound_of_its_host_counts_once() {
    let part = |ports: std::ops::Range<u16>, end: &[u8]| {
        let entry = |port: u16| {
            let [a, b] = port.to_be_bytes();
            [b'\\', 192, 0, 2, 1, a, b]
        };
        let entries: Vec<u8> = ports.flat_map(entry).collect();
        [&b"\xff\xff\xff\xffgetserversResponse"[..], &entries, end].concat()
    };
    let address = scripted(
        b"\xff\xff\xff\xffgetservers 68 empty full",
        vec![part(1..280, b""), part(280..301, b"\\EOT\0\0\0")],
    )
    .await;
    let mut game = game("q3a", vec![master(MasterForm::Short, address)]);
    game.numbers = &[(68, "")];
    let (listed, servers) = listed(&client(), &game).await;
    assert_eq!((listed.len(), servers.masters()[0].left_out), (256, 44));
}

/// AlterWare's master sends nothing for an empty list (alterware/master-server,
/// src/services/getservers_command.cpp).
#[tokio::test]
async fn silence_of_a_master_that_sends_no_empty_list_is_explained() {
    run_in_steps();
    let (_silent, address) = socket().await;
    let plain = master(MasterForm::Named, address);
    for (master, may_be_empty) in [(plain, false), (plain.silent_if_empty(), true)] {
        let (_, servers) = listed(&client(), &game("iw6x", vec![master])).await;
        let list = servers.masters()[0].list.as_ref().unwrap();
        let error = list.as_ref().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Timeout);
        let is_explained = matches!(
            error,
            Error::List {
                error: ListError::NoReplyOrEmpty,
                ..
            }
        );
        assert_eq!(is_explained, may_be_empty, "{error}");
    }
    for id in ["codmw2", "iw5", "iw6x", "s1x", "iw7mod", "t7x"] {
        let masters = Game::find(id).unwrap().masters;
        assert!(
            masters.iter().all(|master| master.is_silent_if_empty),
            "{id}"
        );
    }
}

/// Medal of Honor's query ports follow the order of start, and no rule leads to them.
#[tokio::test]
async fn a_query_port_that_no_rule_gives_is_found_on_a_list() {
    let mut servers = Vec::new();
    for (game_port, name) in [(12_203, "first"), (12_210, "second")] {
        let socket = bind(([127, 0, 0, 1], 0));
        let query_port = socket.local_addr().unwrap();
        servers.push((
            query_port,
            answer(
                socket,
                Protocol::GameSpy1.into(),
                named(name, Some(game_port)),
            ),
        ));
    }
    let mut query_ports: Vec<_> = servers.iter().map(|(query_port, _)| *query_port).collect();
    query_ports.sort_unstable();
    let highest_first = query_ports.iter().rev();
    let list = highest_first.map(|query_port| format!(r"\ip\{query_port}"));
    let list = list.collect::<String>() + r"\ip\192.0.2.1:12300\final\";
    // A list server answers once.
    let mohaa = async || {
        let address = list_server("mohaa", list.as_bytes()).await;
        game("mohaa", vec![master(MasterForm::GameSpy1, address)])
    };
    let client = client();
    let query_listed = async |server| {
        let found = client.query_listed(&mohaa().await, server).await;
        found.map(|found| found.map(|found| found.outcome.peer))
    };
    let (first, second) = (servers[0].0, servers[1].0);
    for (server, query_port) in [
        ("127.0.0.1:12210", Some(second)),
        ("127.0.0.1:12203", Some(first)),
        // The lowest port.
        ("127.0.0.1", Some(query_ports[0])),
        // No list names it.
        ("127.0.0.2", None),
    ] {
        assert_eq!(query_listed(server).await.unwrap(), query_port, "{server}");
    }
    let other = query_listed("127.0.0.1:12999").await.unwrap_err();
    assert!(matches!(other, Error::OtherServer { .. }), "{other}");
    let (blocking, game) = (client.clone().blocking(), mohaa().await);
    let call = move || blocking.query_listed(&game, "127.0.0.1:12203");
    let found = tokio::task::spawn_blocking(call).await.unwrap();
    assert_eq!(found.unwrap().unwrap().outcome.peer, first);
}

/// A GameSpy v1 list server that requires the public key for lists, and sends its list byte by
/// byte.
async fn list_server(game: &'static str, list: &[u8]) -> SocketAddr {
    let (login, key, format) = ("gspylite", "mgNUaC", "");
    GameSpy1 {
        login,
        key,
        game,
        format,
        pieces: (1, 2),
        closes: false,
    }
    .start(list.to_vec())
    .await
}

#[tokio::test]
async fn gamespy1_lists_are_asked_with_the_public_key_and_show_progress() {
    run_in_steps();
    let list = br"\ip\192.0.2.1:7778\ip\192.0.2.2:7788\ip\127.0.0.1:7778\final\";
    let cut = br"\ip\192.0.2.9:7778\ip\192.0.2.";
    let ut = game(
        "ut",
        vec![
            master(MasterForm::GameSpy1, list_server("ut", list).await),
            master(MasterForm::GameSpy1, list_server("ut", cut).await),
        ],
    );
    // The timeout of a query is shorter than this list takes.
    let short =
        client().with_timing(queryport::Timing::default().with_timeout(Duration::from_millis(20)));
    let mut servers = short
        .servers(&ut)
        .unwrap()
        .with_timeout(Duration::from_secs(2));
    let (mut listed, mut progress) = (Vec::new(), Vec::new());
    loop {
        match tokio::time::timeout(Duration::from_millis(10), servers.next()).await {
            Ok(Some(server)) => listed.push(server.server.to_string()),
            Ok(None) => break,
            Err(_still_waiting) => progress.push(servers.masters()[0].bytes),
        }
    }
    listed.sort();
    assert_eq!(
        listed,
        ["192.0.2.1:7778", "192.0.2.2:7788", "192.0.2.9:7778"],
        "no address of this machine"
    );
    progress.dedup();
    assert!(progress.len() > 2, "{progress:?}");
    let list = |index: usize| list_of(&servers, index).unwrap();
    assert!(list(0).completeness.is_complete() && list(0).out_of_scope == 1);
    assert!(
        !list(1).completeness.is_complete(),
        "cut short by the timeout"
    );
}

/// The list of a master that was asked, or its error.
fn list_of(servers: &Servers, master: usize) -> Result<&ServerList, &Error> {
    servers.masters()[master].list.as_ref().unwrap().as_ref()
}

/// The servers of a game and the reports of its list servers.
async fn listed(client: &Client, game: &Game) -> (Vec<Listed>, Servers) {
    let mut servers = client
        .servers(game)
        .unwrap()
        .with_timeout(Duration::from_secs(5));
    let mut listed = Vec::new();
    while let Some(server) = servers.next().await {
        listed.push(server);
    }
    (listed, servers)
}

/// `CoD4X`'s list server: takes one request, sends this, and closes.
async fn cod4x(list: Vec<u8>) -> SocketAddr {
    tcp::listen(move |mut stream| async move {
        let mut request = [0; 99];
        let length = stream.read(&mut request).await.unwrap();
        assert_eq!(
            &request[..length],
            b"\xff\xff\xff\xffgetservers cod4x 6 full empty \0"
        );
        tcp::send(&mut stream, &list, 65_536).await;
    })
    .await
}

/// `CoD4X`'s list of these.
fn cod4x_list(servers: impl Iterator<Item = ([u8; 4], u16)>) -> Vec<u8> {
    let entry =
        |(ip, port): ([u8; 4], u16)| [&b"\\\0\0\0\0\x04"[..], &ip, &port.to_be_bytes()].concat();
    let entries: Vec<u8> = servers.flat_map(entry).collect();
    [
        b"\xff\xff\xff\xffgetserversResponse",
        &entries[..],
        b"\\EOF",
    ]
    .concat()
}

#[tokio::test]
async fn lists_over_tcp_are_asked_in_the_form_of_each() {
    let ut2004_servers = || {
        vec![
            ut2004::Listed::new(1, b"One"),
            ut2004::Listed::new(2, b"Two"),
        ]
    };
    for id in ["ut2004", "ut2003"] {
        let game = game(
            id,
            vec![master(
                MasterForm::Ut2004,
                tcp::ut2004(ut2004_servers()).await,
            )],
        );
        let (listed, servers) = listed(&client(), &game).await;
        let expected = [1, 2].map(|host| SocketAddr::from(([192, 0, 2, host], 7778)));
        assert_eq!(
            listed
                .iter()
                .map(|listed| listed.server)
                .collect::<Vec<_>>(),
            expected
        );
        let report = &servers.masters()[0];
        assert!(list_of(&servers, 0).unwrap().completeness.is_complete());
        assert!(report.bytes > 100, "{}", report.bytes);
    }

    let plain = Plain::head([203, 0, 113, 9], 29900, &[(0, "hostname")], &["Popular"])
        .server(0x41, [192, 0, 2, 1], &[b"\xffAlpha\0"])
        .server(0x51, [192, 0, 2, 2], &[&29901_u16.to_be_bytes(), &[0]])
        .end();
    let bf2 = game(
        "bf2",
        vec![master(
            MasterForm::GameSpy2,
            tcp::gamespy4(b"hW6m9a", plain).await,
        )],
    );
    let (listed_bf2, servers) = listed(&client(), &bf2).await;
    let expected = [([192, 0, 2, 1], 29900), ([192, 0, 2, 2], 29901)].map(SocketAddr::from);
    assert_eq!(
        listed_bf2
            .iter()
            .map(|listed| listed.server)
            .collect::<Vec<_>>(),
        expected
    );
    assert!(list_of(&servers, 0).unwrap().completeness.is_complete());

    let short = b"\xff\xff\xff\xffgetservers 6 empty full";
    let udp = scripted(short, vec![datagram(1..=3, b"\\EOF")]).await;
    let tcp = cod4x(cod4x_list((3..=5).map(|host| ([192, 0, 2, host], 27960)))).await;
    let mut cod4 = game(
        "cod4",
        vec![
            master(MasterForm::Short, udp),
            master(MasterForm::Cod4x, tcp),
        ],
    );
    cod4.numbers = &[(6, "1.7")];
    let (listed_cod4, servers) = listed(&client(), &cod4).await;
    let lengths: Vec<usize> = servers
        .masters()
        .iter()
        .map(|report| report.servers)
        .collect();
    assert_eq!(
        (listed_cod4.len(), lengths),
        (5, vec![3, 3]),
        "one server is in both lists"
    );
}

#[tokio::test]
async fn wrong_keys_and_cut_lists_are_reported_and_other_lists_are_complete() {
    run_in_steps();
    let plain = || {
        Plain::head([203, 0, 113, 9], 6500, &[(0, "hostname")], &[]).server(
            0x41,
            [192, 0, 2, 1],
            &[b"\xffA\0"],
        )
    };
    let whole = tcp::gamespy4(b"nT2Mtz", plain().end()).await;
    let cut = tcp::gamespy4(
        b"nT2Mtz",
        plain().server(0x41, [192, 0, 2, 2], &[b"\xffcut"]).0,
    )
    .await;
    let refusing = tcp::listen(|mut stream| async move {
        tcp::send(&mut stream, b"Invalid source gamename", 99).await;
    })
    .await;
    let mut addresses = vec![whole, cut, refusing];
    for _ in 0..8 {
        addresses.push(tcp::gamespy4(b"hW6m9a", plain().end()).await);
    }
    let masters = addresses
        .iter()
        .map(|address| master(MasterForm::GameSpy2, *address));
    let mut servers = client()
        .servers(&game("ut3", masters.collect()))
        .unwrap()
        .with_timeout(Duration::from_millis(500));
    let mut listed = Vec::new();
    while let Some(server) = servers.next().await {
        listed.push(server.server);
    }
    assert_eq!(listed, ["192.0.2.1:6500".parse().unwrap()]);
    let list = |index: usize| list_of(&servers, index);
    assert!(list(0).unwrap().completeness.is_complete());
    assert_eq!(
        (
            list(1).unwrap().servers.len(),
            list(1).unwrap().completeness.is_complete()
        ),
        (1, false)
    );
    assert_eq!(list(2).unwrap_err().kind(), ErrorKind::Refused);
    // Each has its own challenge, and so its own noise. Some noise reads as the beginning of a
    // list.
    let mut wrong_keys = 0;
    for (index, other_key) in (0..).zip(&addresses).skip(3) {
        match list(index) {
            Ok(list) => assert!(list.servers.is_empty() && !list.completeness.is_complete()),
            Err(error) => {
                let text = "the deciphered reply is not a list of servers: the key is wrong, or belongs to another game name";
                assert_eq!(error.to_string(), format!("{other_key}: {text}"));
                wrong_keys += 1;
            }
        }
    }
    assert!(wrong_keys > 0);
    // GameSpy v1, to a server that knows the public client by another key.
    let other = GameSpy1 {
        login: "gspylite",
        key: "abcdef",
        game: "ut",
        format: "",
        pieces: (99, 0),
        closes: true,
    };
    let ut = game(
        "ut",
        vec![master(MasterForm::GameSpy1, other.start(Vec::new()).await)],
    );
    let (_, servers) = self::listed(&client(), &ut).await;
    let error = list_of(&servers, 0).unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("the list server refused: \"Validation error\""),
        "{error}"
    );
}
