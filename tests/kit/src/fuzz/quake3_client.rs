//! Properties of Quake 3's other conversations: lists, connections, console commands, refusals.

use std::collections::BTreeSet;
#[cfg(feature = "secure-rcon")]
use std::time::Duration;

use queryport::lists::{Quake3List, Scope};
use queryport::quake3::{
    Command, ConnectQuery, GetServers, Password, RconMode, RconQuery, Refusal, Request,
};
use queryport::session::Conversation;
use queryport::{Limits, QueryError};

use super::quake3_master::script;

const PASSWORD: &str = "word";
const COMMAND: &str = "status";
const MAX_FRAGMENTS: u16 = 8;
const MAX_SERVERS: u32 = 500;
/// The maximum number of requests of a conversation: two steps or passes, each with its retries.
const MAX_REQUESTS: usize = 6;

/// Datagrams arrive at a query for a list. It ends, and has no server twice.
pub fn list(data: &[u8]) {
    let limits = Limits::default()
        .with_max_servers(MAX_SERVERS)
        .with_max_fragments(MAX_FRAGMENTS);
    let request = GetServers::extended(b"x", 1);
    let query = Quake3List::new(&request, &limits)
        .expect("a request")
        .with_scope(Scope::Any);
    let mut taken = BTreeSet::new();
    let take = |query: &mut Quake3List| {
        for server in query.take_new() {
            assert!(taken.insert(server), "{server} came twice");
        }
    };
    let is_request = |request: &[u8]| {
        let request = Request::parse(request).expect("our requests are requests");
        assert!(matches!(request.command, Command::GetServers(_)));
    };
    if let Ok(answer) = play(query, data, is_request, take) {
        let different: BTreeSet<_> = answer.servers.iter().collect();
        assert_eq!(different.len(), answer.servers.len());
        assert!(different.len() <= MAX_SERVERS as usize && !answer.completeness.is_complete());
    }
}

/// Datagrams arrive at a client that connects. It sends requests that servers read, and ends with the server's own challenge or words.
pub fn connect(data: &[u8]) {
    let Some((&choice, data)) = data.split_first() else {
        return;
    };
    let query = ConnectQuery::new(u64::from(choice) << 8)
        .with_game("Game")
        .with("name", "Ann")
        .expect("a pair of an infostring");
    let is_request = |request: &[u8]| {
        let request = Request::parse(request).expect("our requests are requests");
        match request.command {
            Command::GetChallenge { .. } => {}
            Command::Connect(connect) => {
                let userinfo = connect.userinfo().expect("our own userinfo");
                assert!(userinfo.starts_with(br"\name\Ann"), "{userinfo:?}");
            }
            other => panic!("{other:?}"),
        }
    };
    match play(query, data, is_request, |_| {}) {
        Ok(Ok(connected)) => {
            assert!(
                contains(data, &connected.challenge),
                "a challenge of nobody"
            );
        }
        Ok(Err(refusal)) => is_refusal(&refusal, data),
        Err(_) => {}
    }
}

/// Datagrams arrive at a client of the console, in each of its modes. It sends requests that
/// servers read, and its output is that of the server.
pub fn rcon(data: &[u8]) {
    let Some((&choice, data)) = data.split_first() else {
        return;
    };
    let modes = [
        RconMode::Plain,
        RconMode::Quoted,
        RconMode::MedalOfHonor,
        #[cfg(feature = "secure-rcon")]
        RconMode::Time,
        #[cfg(feature = "secure-rcon")]
        RconMode::Challenge,
    ];
    let mode = modes[usize::from(choice) % modes.len()];
    let limits = Limits::default().with_max_fragments(MAX_FRAGMENTS);
    let query = RconQuery::new(Password::new(PASSWORD), COMMAND, mode, &limits).expect("a command");
    #[cfg(feature = "secure-rcon")]
    let query = query.at(Duration::from_millis(1_700_000_000_250));
    let is_request = |request: &[u8]| is_command(request, mode);
    match play(query, data, is_request, |_| {}) {
        Ok(Ok(answer)) => {
            assert!((1..=MAX_FRAGMENTS).contains(&answer.datagrams));
            assert!(answer.text.raw().len() <= data.len());
        }
        Ok(Err(error)) => {
            error.kind();
        }
        Err(_) => {}
    }
}

/// Words of a refusal are kept, and are shown the same with a line feed at their end.
pub fn refusal(data: &[u8]) {
    let refusal = Refusal::new(data.to_vec());
    assert_eq!(refusal.text.raw(), data);
    let line = Refusal::new([data, b"\n"].concat());
    assert_eq!(refusal.to_string(), line.to_string());
    assert!(refusal.to_string().lines().count() == 1, "{refusal}");
}

fn is_refusal(refusal: &Refusal, data: &[u8]) {
    let text = refusal.text.raw();
    let is_word = text == b"needcdkey";
    assert!(
        is_word || contains(data, text),
        "words of nobody: {refusal}"
    );
    assert_eq!(refusal.to_string().lines().count(), 1, "{refusal}");
}

/// A server reads this password and this command in a request.
fn is_command(request: &[u8], mode: RconMode) {
    let request = Request::parse(request).expect("our requests are requests");
    assert_eq!(request.direction_byte, mode == RconMode::MedalOfHonor);
    match request.command {
        Command::GetChallenge { .. } => {}
        Command::Rcon(rcon) => {
            assert_eq!(rcon.quoted, mode == RconMode::Quoted);
            let text = [rcon.password, b" ", rcon.command].concat();
            assert_eq!(text, [PASSWORD, COMMAND].join(" ").as_bytes());
        }
        #[cfg(feature = "secure-rcon")]
        Command::SecureRcon(rcon) => {
            assert_eq!(rcon.timed, mode == RconMode::Time);
            assert_eq!(rcon.command(), COMMAND.as_bytes());
            assert!(rcon.verify(&Password::new(PASSWORD)));
        }
        other => panic!("{other:?}"),
    }
}

/// Runs a conversation with a script to its end, after a bounded number of requests. One in four
/// senders is another address.
fn play<C: Conversation>(
    query: C,
    data: &[u8],
    is_request: impl Fn(&[u8]),
    take: impl FnMut(&mut C),
) -> Result<C::Answer, QueryError> {
    let steps =
        script(data).map(|(wait, sender, datagram)| (wait, sender >= 192, datagram.to_vec()));
    let played = super::script::play(query, steps, |datagram, _| Some(datagram), take);
    let requests = played.exchanged.requests();
    assert!(requests.len() <= MAX_REQUESTS);
    requests.for_each(is_request);
    played.result.map(|outcome| outcome.answer)
}

fn contains(data: &[u8], part: &[u8]) -> bool {
    part.is_empty() || data.windows(part.len()).any(|window| window == part)
}
