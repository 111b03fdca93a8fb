//! All list servers of a game at once.
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use queryport::games::{Game, Master as GameMaster, MasterForm};
use queryport::model::ListEnd;
use queryport::net::serve;
use queryport::quake3::master::{Master, Options, Scope};
use queryport::quake3::server;
use queryport::serve::Announcer;
use queryport::{Error, ErrorKind, Secret, ServerStatus};
use tokio::net::UdpSocket;

use crate::client;
use crate::common::list_servers::tcp::GameSpy1;

async fn socket() -> (UdpSocket, SocketAddr) {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let address = socket.local_addr().unwrap();
    (socket, address)
}

fn master(form: MasterForm, address: SocketAddr) -> GameMaster {
    GameMaster::new(form, address.to_string().leak())
}

fn game(id: &str, masters: Vec<GameMaster>) -> Game {
    let mut game = *Game::find(id).unwrap();
    game.masters = masters.leak();
    game
}

/// A master that answers this request alone with these datagrams, and counts the requests.
async fn scripted(request: &'static [u8], datagrams: Vec<Vec<u8>>) -> (SocketAddr, Arc<AtomicUsize>) {
    let (socket, address) = socket().await;
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    tokio::spawn(async move {
        let mut buffer = [0; 256];
        while let Ok((length, from)) = socket.recv_from(&mut buffer).await {
            counted.fetch_add(1, Ordering::Relaxed);
            if &buffer[..length] == request {
                for datagram in &datagrams {
                    socket.send_to(datagram, from).await.unwrap();
                }
            }
        }
    });
    (address, count)
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
    tokio::spawn(async move { serve(&[socket], &mut master).await });
    let (game, listed) = self::socket().await;
    let mut status = ServerStatus::default();
    (status.game, status.name) = (Some("Test".into()), Some("Srv".into()));
    (status.max_players, status.player_count) = (Some(8), Some(0));
    let options = server::Options::default();
    let mut announcer = Announcer::quake3("DarkPlaces", [address], &status, options, Instant::now()).unwrap();
    let mut responder = queryport::serve::Responder::new(
        queryport::Protocol::Quake3,
        status,
        Secret::new([2; 16]),
        Instant::now(),
    );
    tokio::spawn(async move { serve(&[game], (&mut responder, &mut announcer)).await });
    (address, listed)
}

#[tokio::test]
async fn lists_of_several_masters_are_merged_and_the_dead_are_named() {
    let (own, announced) = own_master().await;
    let short = b"\xff\xff\xff\xffgetservers 68 empty full";
    let (unmarked, _) = scripted(short, vec![datagram(1..=100, b""), datagram(101..=120, b"\\")]).await;
    let (marked, _) = scripted(short, vec![datagram(110..=130, b"\\EOT\0\0\0")]).await;
    let (silent, silent_at) = socket().await;
    let closed = { socket().await.1 };
    let mut game = game(
        "q3a",
        vec![
            master(MasterForm::Long, own),
            master(MasterForm::Unmarked, unmarked),
            master(MasterForm::Short, marked),
            master(MasterForm::Short, silent_at),
            master(MasterForm::Short, closed),
            master(MasterForm::Cod4x, closed),
        ],
    );
    (game.gamename, game.numbers) = (Some("Test"), &[(68, "")]);
    // The heartbeat, the master's challenge and its answer need a moment.
    let deadline = Instant::now() + Duration::from_secs(10);
    let (servers, listed) = loop {
        let mut servers = client().servers(&game).unwrap().with_scope(Scope::Any);
        let mut listed = Vec::new();
        while let Some(server) = servers.next().await {
            listed.push(server);
        }
        if listed.iter().any(|listed| listed.server == announced) || Instant::now() > deadline {
            break (servers, listed);
        }
    };
    drop(silent);
    let mut addresses: Vec<SocketAddr> = listed.iter().map(|listed| listed.server).collect();
    addresses.sort();
    addresses.dedup();
    assert_eq!((addresses.len(), listed.len()), (131, 131), "130 and the announced one, each once");
    let origin = |server: SocketAddr| listed.iter().find(|listed| listed.server == server).unwrap().origin;
    assert_eq!((origin(announced), origin("192.0.2.5:27960".parse().unwrap())), (0, 1));
    assert_eq!(origin("192.0.2.130:27960".parse().unwrap()), 2);

    let reports = servers.masters();
    assert_eq!(reports.len(), 5, "the form that cannot be asked is left out");
    let list = |index: usize| reports[index].list.as_ref().unwrap().as_ref();
    let ends: Vec<ListEnd> = (0..3).map(|index| list(index).unwrap().ended_by).collect();
    assert_eq!(ends, [ListEnd::Mark, ListEnd::Quiet, ListEnd::Mark]);
    assert!((0..3).all(|index| list(index).unwrap().completeness.is_complete()));
    assert_eq!((reports[1].servers, reports[2].servers), (120, 21));
    assert_eq!(list(3).unwrap_err().kind(), ErrorKind::Offline);
    assert_eq!(list(4).unwrap_err().kind(), ErrorKind::Unreachable);
}

#[tokio::test]
async fn each_number_of_a_game_is_asked_for() {
    let (address, _) =
        scripted(b"\xff\xff\xff\xffgetservers 16 empty full", vec![datagram(1..=3, b"\\EOT\0\0\0")]).await;
    let jedi_outcast = game("jk2", vec![master(MasterForm::Short, address)]);
    let mut servers = client().servers(&jedi_outcast).unwrap();
    while servers.next().await.is_some() {}
    let list = servers.masters()[0].list.as_ref().unwrap().as_ref().unwrap();
    assert_eq!(list.servers.len(), 3);
    assert!(!list.completeness.is_complete(), "the master does not answer for number 15");
}

#[tokio::test]
async fn a_list_server_is_asked_once_in_the_interval() {
    let request = b"\xff\xff\xff\xffgetserversExt Quake3Arena 71 empty full";
    let ext = [&b"\xff\xff\xff\xffgetserversExtResponse\\\xc0\0\x02\x01\x6d\x38\\EOT\0\0\0"[..]].concat();
    let (address, count) = scripted(request, vec![ext]).await;
    let openarena = game("openarena", vec![master(MasterForm::Long, address)]);
    let client = client();
    let ask = async |interval| {
        let mut servers = client.clone().servers(&openarena).unwrap().with_least_interval(interval);
        let mut listed = 0;
        while servers.next().await.is_some() {
            listed += 1;
        }
        (listed, servers.masters()[0].remembered)
    };
    assert_eq!(ask(Duration::from_secs(60)).await, (1, false));
    let asked = count.load(Ordering::Relaxed);
    assert_eq!(ask(Duration::from_secs(60)).await, (1, true));
    assert_eq!(count.load(Ordering::Relaxed), asked, "from memory");
    assert_eq!(ask(Duration::ZERO).await, (1, false));
    assert!(count.load(Ordering::Relaxed) > asked);
}

/// A GameSpy v1 list server that wants the public key for lists, and sends its list byte by byte.
async fn list_server(game: &'static str, list: &[u8]) -> SocketAddr {
    let (login, key, format) = ("gspylite", "mgNUaC", "");
    GameSpy1 { login, key, game, format, pieces: (1, 2), closes: false }.start(list.to_vec()).await
}

#[tokio::test]
async fn gamespy1_lists_are_asked_with_the_public_key_and_show_progress() {
    let list = br"\ip\192.0.2.1:7778\ip\192.0.2.2:7788\ip\127.0.0.1:7778\final\";
    let cut = br"\ip\192.0.2.9:7778\ip\192.0.2.";
    let ut = game(
        "ut",
        vec![
            master(MasterForm::GameSpy1, list_server("ut", list).await),
            master(MasterForm::GameSpy1, list_server("ut", cut).await),
        ],
    );
    // Shorter than the list takes would be the timeout of a query.
    let short = client().with_timing(queryport::Timing::default().with_timeout(Duration::from_millis(20)));
    let mut servers = short.servers(&ut).unwrap().with_timeout(Duration::from_secs(2));
    let (mut listed, mut progress) = (Vec::new(), Vec::new());
    loop {
        match tokio::time::timeout(Duration::from_millis(10), servers.next()).await {
            Ok(Some(server)) => listed.push(server.server.to_string()),
            Ok(None) => break,
            Err(_still_waiting) => progress.push(servers.masters()[0].bytes),
        }
    }
    listed.sort();
    assert_eq!(listed, ["192.0.2.1:7778", "192.0.2.2:7788", "192.0.2.9:7778"], "no address of this machine");
    progress.dedup();
    assert!(progress.len() > 2, "{progress:?}");
    let list = |index: usize| servers.masters()[index].list.as_ref().unwrap().as_ref().unwrap();
    assert!(list(0).completeness.is_complete() && list(0).out_of_scope == 1);
    assert!(!list(1).completeness.is_complete(), "cut short by the timeout");
}

#[tokio::test]
async fn a_game_without_a_list_server_that_can_be_asked_is_an_error_in_words() {
    let error = client().servers(Game::find("cod3").unwrap()).unwrap_err();
    assert!(matches!(error, Error::NoMaster { known: 0, .. }));
    assert_eq!(error.to_string(), "cod3: no list server is known");
    let error =
        client().servers(&game("q3a", vec![GameMaster::new(MasterForm::Cod4x, "127.0.0.1:1")])).unwrap_err();
    assert_eq!(error.to_string(), "q3a: none of its 1 known list servers speaks a form that can be asked");
}
