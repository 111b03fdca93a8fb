//! The columns of the table: every path of the network layer.

use std::future::Future;
use std::pin::Pin;
use std::time::{Duration, Instant};

use queryport::games::Game;
use queryport::lists::{GameSpy1List, GameSpy2List, Quake3List, Scope};
use queryport::net::Rcon;
use queryport::quake3::master::{Master, Options};
use queryport::quake3::{GetServers, Password};
use queryport::serve::{Announcer, Responder};
use queryport::session::{Handled, Machine, Transmit};
use queryport::{Error, GameKey, Limits, Protocol, ScanOptions, Secret, ServerStatus, lists};
use tokio::time::{sleep, timeout};

use super::{Answered, Case, End, Failed, Nothing, Timeout, Unreachable};

/// A path to a server, or of a server.
pub struct Path {
    pub name: &'static str,
    pub ask: Ask,
}

pub enum Ask {
    Async(fn(&Case) -> Asked<'_>),
    Blocking(fn(&Case) -> End),
}

pub type Asked<'a> = Pin<Box<dyn Future<Output = End> + 'a>>;

pub const PATHS: [Path; 18] = [
    Path {
        name: "query",
        ask: Ask::Async(|case| {
            Box::pin(async move { end(case.client.query(Protocol::Quake3, &case.server).await) })
        }),
    },
    Path {
        name: "blocking query",
        ask: Ask::Blocking(|case| {
            let client = case.client.clone().blocking();
            end(client.query(Protocol::Quake3, &case.server))
        }),
    },
    Path {
        name: "query by game",
        ask: Ask::Async(|case| {
            Box::pin(async move { end(case.client.query_game(game(), &case.server).await) })
        }),
    },
    Path {
        name: "blocking query by game",
        ask: Ask::Blocking(|case| {
            let client = case.client.clone().blocking();
            end(client.query_game(game(), &case.server))
        }),
    },
    Path {
        name: "scan",
        ask: Ask::Async(|case| Box::pin(scan(case))),
    },
    Path {
        name: "blocking scan",
        ask: Ask::Blocking(|case| {
            let targets = [(Protocol::Quake3, case.server.clone())];
            let client = case.client.clone().blocking();
            let mut scan = client.scan(targets, ScanOptions::default());
            end(scan.next().unwrap().result)
        }),
    },
    Path {
        name: "detect",
        ask: Ask::Async(|case| {
            Box::pin(async move {
                let detected = case.client.detect(&case.server).await;
                end_of_list(detected.map(|detected| detected.len()))
            })
        }),
    },
    Path {
        name: "blocking detect",
        ask: Ask::Blocking(|case| {
            let detected = case.client.clone().blocking().detect(&case.server);
            end_of_list(detected.map(|detected| detected.len()))
        }),
    },
    Path {
        name: "list over UDP",
        ask: Ask::Async(|case| {
            Box::pin(async move { end(case.client.list(&case.server, list_over_udp()).await) })
        }),
    },
    Path {
        name: "blocking list over UDP",
        ask: Ask::Blocking(|case| {
            let client = case.client.clone().blocking();
            end(client.list(&case.server, list_over_udp()))
        }),
    },
    Path {
        name: "list over TCP",
        ask: Ask::Async(|case| {
            let list = case.client.list(&case.server, case.list_over_tcp.clone());
            Box::pin(async move { end(list.await) })
        }),
    },
    Path {
        name: "blocking list over TCP",
        ask: Ask::Blocking(|case| {
            let client = case.client.clone().blocking();
            end(client.list(&case.server, case.list_over_tcp.clone()))
        }),
    },
    Path {
        name: "console",
        ask: Ask::Async(|case| Box::pin(console(case))),
    },
    Path {
        name: "local network",
        ask: Ask::Async(|case| Box::pin(search(case))),
    },
    Path {
        name: "server",
        ask: Ask::Async(|case| {
            let responder = WithFirst {
                first: Some((case.address(), case.first_datagram)),
                machine: responder(),
            };
            Box::pin(serve(case, responder, b"\xff\xff\xff\xffgetstatus"))
        }),
    },
    Path {
        name: "announcer",
        ask: Ask::Async(|case| {
            let masters = [case.address()];
            let now = Instant::now();
            let announcer =
                Announcer::quake3("DarkPlaces", masters, &status(), Protocol::Quake3, now).unwrap();
            let machine = (responder(), announcer);
            Box::pin(serve(case, machine, b"\xff\xff\xff\xffgetstatus"))
        }),
    },
    Path {
        name: "announcer of GameSpy v1",
        ask: Ask::Async(|case| {
            let masters = [case.address()];
            let announcer = Announcer::gamespy1(7778, masters, &status(), Instant::now()).unwrap();
            let machine = (responder(), announcer);
            Box::pin(serve(case, machine, b"\xff\xff\xff\xffgetstatus"))
        }),
    },
    Path {
        name: "master",
        ask: Ask::Async(|case| {
            let mut options = Options::default();
            options.scope = Scope::Any;
            let now = Instant::now();
            let mut master = Master::new(Secret::new([5; 16]), options, now);
            // The request for its description is the first datagram.
            let heartbeat = b"\xff\xff\xff\xffheartbeat DarkPlaces\n";
            master.handle_datagram(now, case.address(), heartbeat);
            let request = b"\xff\xff\xff\xffgetservers Nexuiz 3 empty full";
            Box::pin(serve(case, master, request))
        }),
    },
];

fn end<T>(result: Result<T, Error>) -> End {
    result.map_or_else(|error| Failed(error.kind()), |_| Answered)
}

fn end_of_list(result: Result<usize, Error>) -> End {
    match result {
        Ok(0) => Nothing,
        Ok(_) => Answered,
        Err(error) => Failed(error.kind()),
    }
}

fn game() -> &'static Game {
    Game::find("q3a").unwrap()
}

fn list_over_udp() -> Quake3List {
    let list = Quake3List::new(&GetServers::new(68), &Limits::default()).unwrap();
    list.with_scope(Scope::Any)
}

/// A list server that greets.
pub fn gamespy1() -> lists::ListRequest {
    GameSpy1List::new("ut", GameKey::new("Z5Nfb0").unwrap()).into()
}

/// A list server that does not greet.
pub fn gamespy2() -> lists::ListRequest {
    GameSpy2List::new("swat4", "tG3j8c").into()
}

async fn scan(case: &Case) -> End {
    let targets = [(Protocol::Quake3, case.server.clone())];
    match case.client.scan(targets, ScanOptions::default()) {
        Ok(mut scan) => end(scan.next().await.unwrap().result),
        Err(error) => Failed(error.kind()),
    }
}

async fn console(case: &Case) -> End {
    let console = Rcon::new(&case.client, &case.server, Password::new("x")).await;
    let mut console = match console {
        Ok(console) => console,
        Err(error) => return Failed(error.kind()),
    };
    let mut ended = end(console.run("status").await);
    // A command is sent once, and the ICMP error about it can be lost. Queries send their request
    // again.
    for _ in 0..10 {
        if (case.end, ended) != (Failed(Unreachable), Failed(Timeout)) {
            break;
        }
        ended = end(console.run("status").await);
    }
    ended
}

/// Searches a network that has the server's address only.
async fn search(case: &Case) -> End {
    match case.client.lan(Some(game()), &[case.address().ip()]) {
        Ok(mut servers) => match servers.next().await {
            Some(scanned) => end(scanned.result),
            None => Nothing,
        },
        Err(error) => Failed(error.kind()),
    }
}

fn status() -> ServerStatus {
    let mut status = ServerStatus::default();
    status.name = Some("Srv".into());
    status.game = Some("ut".into());
    status.max_players = Some(8);
    status.player_count = Some(1);
    status
}

fn responder() -> Responder {
    let secret = Secret::new([9; 16]);
    Responder::new(Protocol::Quake3, status(), secret, Instant::now()).with_guard(None)
}

/// Sends a datagram of this length to a peer, before those of its machine.
struct WithFirst<M> {
    first: Option<(std::net::SocketAddr, usize)>,
    machine: M,
}

impl<M: Machine> Machine for WithFirst<M> {
    fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        let Some((to, len)) = self.first.take() else {
            return self.machine.poll_transmit(now, out);
        };
        out.resize(out.len() + len, b'x');
        Some(Transmit { to, len })
    }

    fn handle_datagram(
        &mut self,
        now: Instant,
        from: std::net::SocketAddr,
        datagram: &[u8],
    ) -> Handled {
        self.machine.handle_datagram(now, from, datagram)
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.machine.poll_timeout()
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.machine.handle_timeout(now);
    }
}

/// Runs a machine, whose first datagram goes to the peer that fails. Then other clients ask.
async fn serve(case: &Case, machine: impl Machine, request: &[u8]) -> End {
    let mut to = case.asking.local_addr().unwrap();
    to.set_port(case.serving[0].local_addr().unwrap().port());
    let mut buffer = [0; 2000];
    let asking = async {
        // The errors about the first datagram have arrived.
        sleep(Duration::from_millis(50)).await;
        for _ in 0..case.requests {
            case.asking.send_to(request, to).await.unwrap();
            let reply = case.asking.recv_from(&mut buffer);
            if timeout(Duration::from_millis(300), reply).await.is_ok() {
                return Answered;
            }
        }
        Failed(queryport::ErrorKind::Timeout)
    };
    tokio::select! {
        _failed = queryport::net::serve(&case.serving, machine) => Failed(queryport::ErrorKind::Io),
        end = asking => end,
    }
}
