//! Targets of a scan, and their results.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::net::SocketAddr;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use super::error::Error;
use super::io::{ANY_IPV4, Fault, Io};
use super::querier::Querier;
use super::server::Server;
use crate::error::QueryError;
use crate::model::{ServerStatus, ToStatus};
use crate::options::{Dialect, QueryOptions};
use crate::protocol::Protocol;
use crate::scan::options::ScanOptions;
use crate::scan::{Scanned, Scanner};
use crate::session::{Conversation, Machine, Outcome, Timing};
use crate::status_query::{Answer, StatusQuery};
use crate::time::after;
#[cfg(feature = "games")]
use {
    super::detect::{Found, query_port},
    super::inquiry::Listed,
    super::server::HostAndPort,
    crate::games::{Game, QueryPort},
};

/// A server to scan: a protocol or game, an address or host name, and perhaps its own options.
///
/// A pair is a target: the protocol or game, or its name, and the server. A text that names a
/// protocol and a game, such as `ut2004`, is the protocol. If a text names neither, the result of
/// the target is [`Error::UnknownGame`], which suggests similar names; without the feature `games`,
/// [`Error::UnknownProtocol`].
///
/// If a name has several addresses, a scan queries the first;
/// [`Client::query`](crate::Client::query) tries all.
///
/// ```
/// use queryport::net::ScanTarget;
/// use queryport::{Detail, Protocol, QueryOptions, games::Game};
///
/// let quake3 = ScanTarget::from((Protocol::Quake3, "example.org:27961"));
/// let same = ScanTarget::from(("quake3", "example.org:27961"));
/// let openarena = ScanTarget::from(("openarena", "example.org:27961"));
/// let minecraft = ScanTarget::from((Game::find("minecraft")?, "example.org"))
///     .with_options(QueryOptions::default().with_detail(Detail::Short));
/// # Ok::<(), queryport::games::UnknownGame>(())
/// ```
#[derive(Debug, Clone)]
pub struct ScanTarget {
    /// Where to send the query, or why it is not sent.
    destination: Result<Destination, Error>,
    /// The game's dialect.
    dialect: Dialect,
    options: Option<QueryOptions>,
}

/// A server and the protocol that it is queried in.
#[derive(Debug, Clone)]
struct Destination {
    protocol: Protocol,
    server: Server,
    /// The port to query if the server does not answer.
    second_port: Option<u16>,
    /// Set if other servers of the host can answer first: the second port is then the game port.
    other_server: Option<OtherServer<Answer>>,
}

/// A query and the address to send it to.
pub(super) struct AddressedQuery<C: Conversation> {
    pub(super) peer: SocketAddr,
    pub(super) kind: u16,
    pub(super) conversation: C,
    /// The query at another port, if this one has no answer.
    pub(super) second: Option<Box<Self>>,
    /// For a second query: whether the answer to the first one is of another server.
    pub(super) other_server: Option<OtherServer<C::Answer>>,
}

/// The error if an answer is of a server with another game port than this one.
type OtherServer<A> = fn(&Outcome<A>, u16) -> Option<Error>;

impl<C: Conversation> AddressedQuery<C> {
    /// The only query of an address.
    #[cfg(feature = "tokio")]
    pub(super) const fn new(peer: SocketAddr, conversation: C) -> Self {
        Self {
            peer,
            kind: 0,
            conversation,
            second: None,
            other_server: None,
        }
    }

    /// The result of the first query, without an answer of another server.
    fn check_first(
        &self,
        result: Result<Outcome<C::Answer>, Error>,
    ) -> Result<Outcome<C::Answer>, Error> {
        let outcome = result?;
        let other_server = self
            .other_server
            .and_then(|other| other(&outcome, self.peer.port()));
        match other_server {
            Some(error) => Err(error),
            None => Ok(outcome),
        }
    }
}

impl ScanTarget {
    /// Sets options for this server, replacing the client's. The dialect of a game stays.
    ///
    /// With a dialect of another protocol, the result of the target is [`Error::WrongDialect`].
    #[must_use]
    pub fn with_options(mut self, options: QueryOptions) -> Self {
        let dialect = options.dialect;
        if let Ok(Destination { protocol, .. }) = self.destination
            && !dialect.fits(protocol)
        {
            self.destination = Err(Error::WrongDialect { dialect, protocol });
        }
        self.options = Some(options);
        self
    }

    /// The query of an address; `None` if a name must be looked up, or the target has an error.
    #[cfg(feature = "tokio")]
    pub(super) fn query_of_address(&self, client: &Querier) -> Option<AddressedQuery<StatusQuery>> {
        let destination = self.destination.as_ref().ok()?;
        let Server::Address(address) = destination.server else {
            return None;
        };
        let address = client.destination(address).ok()?;
        Some(self.query(destination, client, address))
    }

    /// The query of its address, or of the first address of its name.
    pub(super) async fn look_up<I: Io>(
        &self,
        client: &Querier,
    ) -> Result<AddressedQuery<StatusQuery>, Error> {
        let destination = self.destination.as_ref().map_err(Error::clone)?;
        let default_port = destination.protocol.default_query_port();
        let found = client
            .look_up::<I>(&destination.server, default_port)
            .await?;
        Ok(self.query(destination, client, found.address))
    }

    fn query(
        &self,
        destination: &Destination,
        client: &Querier,
        peer: SocketAddr,
    ) -> AddressedQuery<StatusQuery> {
        let protocol = destination.protocol;
        let options = self.options.unwrap_or(client.options).of_game(self.dialect);
        let at = |peer| AddressedQuery {
            peer,
            kind: kind(protocol, options.dialect),
            conversation: StatusQuery::new(protocol, client.nonce(peer), &options),
            second: None,
            other_server: None,
        };
        let second = destination.second_port.map(|port| {
            let mut peer = peer;
            peer.set_port(port);
            Box::new(AddressedQuery {
                other_server: destination.other_server,
                ..at(peer)
            })
        });
        AddressedQuery { second, ..at(peer) }
    }
}

/// A number for queries that ask a server in the same way. A scan runs one of them at an address,
/// and one of another kind after it.
const fn kind(protocol: Protocol, dialect: Dialect) -> u16 {
    ((protocol as u16) << 8) | dialect as u16
}

/// The protocol or game of a [`ScanTarget`]: a [`Protocol`], a [`Game`](crate::games::Game), or the
/// name of one.
#[derive(Debug, Clone)]
pub struct ProtocolOrGame(Result<Kind, Error>);

#[derive(Debug, Clone)]
enum Kind {
    Protocol(Protocol),
    #[cfg(feature = "games")]
    Game(Box<Game>),
}

impl From<Protocol> for ProtocolOrGame {
    fn from(protocol: Protocol) -> Self {
        Self(Ok(Kind::Protocol(protocol)))
    }
}

#[cfg(feature = "games")]
impl From<&Game> for ProtocolOrGame {
    fn from(game: &Game) -> Self {
        Self(Ok(Kind::Game(Box::new(*game))))
    }
}

/// A text that names a protocol and a game is the protocol.
impl From<&str> for ProtocolOrGame {
    fn from(name: &str) -> Self {
        let protocol = name.parse::<Protocol>();
        #[cfg(feature = "games")]
        if protocol.is_err() {
            return match Game::find(name) {
                Ok(game) => game.into(),
                Err(unknown) => Self(Err(unknown.or_protocol().into())),
            };
        }
        Self(protocol.map(Kind::Protocol).map_err(Error::from))
    }
}

impl From<&String> for ProtocolOrGame {
    fn from(name: &String) -> Self {
        name.as_str().into()
    }
}

impl From<String> for ProtocolOrGame {
    fn from(name: String) -> Self {
        name.as_str().into()
    }
}

/// Without a port, the default of the protocol or game applies.
///
/// The port of a game's server is the one for players. The query port follows from it by the game's
/// rule, as in [`Client::query_game`](crate::Client::query_game). If the server does not answer
/// there, the given port is queried, in case it is the query port. A scan tries no other port. If
/// all servers of a game have one query port, as in Battlefield 2, and the answer names another
/// game port, the result is [`Error::OtherServer`].
impl<P: Into<ProtocolOrGame>, S: Into<Server>> From<(P, S)> for ScanTarget {
    fn from((protocol_or_game, server): (P, S)) -> Self {
        let server = server.into();
        let (destination, dialect) = match protocol_or_game.into().0 {
            Ok(Kind::Protocol(protocol)) => {
                let destination = Destination {
                    protocol,
                    server,
                    second_port: None,
                    other_server: None,
                };
                (Ok(destination), Dialect::Standard)
            }
            #[cfg(feature = "games")]
            Ok(Kind::Game(game)) => (at_query_port(&game, server), game.dialect),
            Err(error) => (Err(error), Dialect::Standard),
        };
        Self {
            destination,
            dialect,
            options: None,
        }
    }
}

/// A pair of a borrowed list.
impl<P, S> From<&(P, S)> for ScanTarget
where
    (P, S): Into<Self> + Clone,
{
    fn from(pair: &(P, S)) -> Self {
        pair.clone().into()
    }
}

/// A target of a borrowed list.
impl From<&Self> for ScanTarget {
    fn from(target: &Self) -> Self {
        target.clone()
    }
}

/// The server at its query port. The given port is the one for players, or else the query port.
#[cfg(feature = "games")]
fn at_query_port(game: &Game, server: Server) -> Result<Destination, Error> {
    let given = server.given_port()?;
    let port = query_port(game, given, &server)?;
    let server = match server {
        Server::Address(mut address) => {
            address.set_port(port);
            address.into()
        }
        Server::Name(name) => (HostAndPort::parse(&name)?.host, port).into(),
    };
    Ok(Destination {
        protocol: game.protocol,
        server,
        second_port: given.filter(|given| *given != port),
        other_server: match game.query_port {
            QueryPort::Fixed(_) => Some(other_server),
            QueryPort::Same | QueryPort::Offset(_) => None,
        },
    })
}

#[cfg(feature = "games")]
fn other_server(outcome: &Outcome<Answer>, game_port: u16) -> Option<Error> {
    let named = outcome.answer.to_status().game_port?;
    let found = || Found::new(outcome.answer.protocol(), outcome.clone());
    (named != game_port).then(|| found().other_server())
}

/// The listed port is the query port.
#[cfg(feature = "games")]
impl From<(&Game, Listed)> for ScanTarget {
    fn from((game, listed): (&Game, Listed)) -> Self {
        Self {
            dialect: game.dialect,
            ..(game.protocol, listed.server).into()
        }
    }
}

/// A server of a borrowed list.
#[cfg(feature = "games")]
impl From<(&Game, &Listed)> for ScanTarget {
    fn from((game, listed): (&Game, &Listed)) -> Self {
        (game, *listed).into()
    }
}

/// The query of a target, on its way to the scanner.
pub(super) struct NumberedQuery<C: Conversation> {
    /// The position of the target in the list.
    pub(super) index: u64,
    /// The query, or why there is none.
    pub(super) query: Result<AddressedQuery<C>, Error>,
}

/// Yields the targets of a scan one by one, and `None` at the end.
pub(super) type Source<'a, T> = Box<dyn FnMut(&mut Context<'_>) -> Poll<Option<T>> + Send + 'a>;

/// The pause before a request that the system refused is sent again.
const REPEAT_AFTER: Duration = Duration::from_millis(10);
/// How long a refused request is repeated before its server counts as unreachable.
const REPEAT_FOR: Duration = Duration::from_secs(1);

/// The queries of a scan: a scanner and its source of targets.
pub(super) struct Queries<'a, C: Conversation> {
    pub(super) scanner: Scanner<C>,
    /// The mutex is never locked: it makes the source `Sync`.
    targets: Mutex<Source<'a, NumberedQuery<C>>>,
    /// Whether the source has ended.
    is_read: bool,
    /// The result of a target that could not be queried.
    failed: Option<Scanned<C::Answer, Error>>,
    /// Targets with a second port, by their position in the list.
    second_ports: BTreeMap<u64, SecondPort<C>>,
    /// Queries of second ports that are due, after the first port had no answer.
    second_tries: VecDeque<(u64, Box<AddressedQuery<C>>)>,
    /// The requests that are not sent yet.
    unsent: VecDeque<Unsent>,
    /// The bytes of these requests.
    bytes: Vec<u8>,
    /// The time since which no request could be sent.
    stuck_since: Instant,
    /// How often sending failed.
    pub(super) send_errors: u64,
}

/// The second port of a target.
enum SecondPort<C: Conversation> {
    /// The query there, if the first one has no answer.
    Untried(Box<AddressedQuery<C>>),
    /// It is under way. The result of the first port is that of the target if both have no answer.
    Tried(Scanned<C::Answer, Error>),
}

/// Whether a query was sent and had no answer.
const fn is_unanswered<A>(result: &Result<A, Error>) -> bool {
    matches!(
        result,
        Err(Error::Query {
            error: QueryError::Timeout { .. }
                | QueryError::NoUsableAnswer { .. }
                | QueryError::TooManySteps(_)
                | QueryError::Unreachable,
            ..
        }) | Err(Error::OtherServer { .. })
    )
}

/// A request that is not sent yet.
struct Unsent {
    to: SocketAddr,
    /// Its range in [`Queries::bytes`].
    range: Range<usize>,
}

impl<'a, C: Conversation> Queries<'a, C> {
    pub(super) fn new(
        targets: Source<'a, NumberedQuery<C>>,
        timing: Timing,
        options: ScanOptions,
        now: Instant,
    ) -> Self {
        Self {
            scanner: Scanner::pushed(timing, options, now),
            targets: Mutex::new(targets),
            is_read: false,
            failed: None,
            second_ports: BTreeMap::new(),
            second_tries: VecDeque::new(),
            unsent: VecDeque::new(),
            bytes: Vec::new(),
            stuck_since: now,
            send_errors: 0,
        }
    }

    /// The next result; `None` when every target has had its result.
    pub(super) fn poll_answer(&mut self) -> Poll<Option<Scanned<C::Answer, Error>>> {
        while let Some(scanned) = self.scanner.poll_answer() {
            if let Some(result) = self.result(scanned) {
                return Poll::Ready(Some(result));
            }
        }
        if let Some(failed) = self.failed.take() {
            self.scanner.count_not_asked();
            return Poll::Ready(Some(failed));
        }
        if self.scanner.is_finished() {
            Poll::Ready(None)
        } else {
            Poll::Pending
        }
    }

    /// The result of a target; `None` if a second port is tried first.
    fn result(
        &mut self,
        scanned: Scanned<C::Answer, QueryError>,
    ) -> Option<Scanned<C::Answer, Error>> {
        // Every target of the scanner has an address.
        let peer = scanned.peer.unwrap_or(ANY_IPV4);
        let index = scanned.index;
        let mut scanned = Scanned {
            index,
            peer: scanned.peer,
            result: scanned.result.map_err(|error| Error::Query { peer, error }),
        };
        match self.second_ports.remove(&index) {
            Some(SecondPort::Untried(query)) => {
                scanned.result = query.check_first(scanned.result);
                if !is_unanswered(&scanned.result) {
                    return Some(scanned);
                }
                self.second_tries.push_back((index, query));
                self.second_ports.insert(index, SecondPort::Tried(scanned));
                None
            }
            Some(SecondPort::Tried(first)) if scanned.result.is_err() => Some(first),
            _ => Some(scanned),
        }
    }

    /// Sends up to `max` requests. Returns the time of the next call. If `cx` is woken, call
    /// earlier.
    ///
    /// - `clock` is read again for each target, because a source can block for long. A caller whose
    ///   source never blocks can return one time.
    /// - `send_to` sends requests to one address family and returns how many were sent before one
    ///   failed.
    pub(super) fn send(
        &mut self,
        max: usize,
        clock: impl Fn() -> Instant,
        cx: &mut Context<'_>,
        mut send_to: impl FnMut(&[(SocketAddr, &[u8])]) -> io::Result<usize>,
    ) -> Option<Instant> {
        if self.unsent.is_empty() {
            self.fill(max, &clock, cx);
        }
        if self.unsent.is_empty() {
            let has_result = self.failed.is_some() || self.scanner.is_finished();
            return if has_result {
                Some(clock())
            } else {
                self.scanner.poll_timeout()
            };
        }
        let now = clock();
        while let Some(first) = self.unsent.front() {
            let to = first.to;
            let requests = self.next_batch(to.is_ipv4());
            let max_sent = requests.len();
            match send_to(&requests) {
                Ok(sent) => {
                    // At least one, so that this loop ends whatever the system returns.
                    let sent = sent.clamp(1, max_sent);
                    self.unsent.drain(..sent);
                    self.stuck_since = now;
                }
                Err(error) => {
                    self.send_errors = self.send_errors.saturating_add(1);
                    if self.may_repeat(&error, now) {
                        return Some(after(now, REPEAT_AFTER));
                    }
                    self.scanner.handle_unreachable(now, to);
                    self.unsent.pop_front();
                }
            }
        }
        Some(now)
    }

    /// The first unsent requests, up to one to the other address family.
    fn next_batch(&self, is_ipv4: bool) -> Vec<(SocketAddr, &[u8])> {
        let mut batch = Vec::new();
        for request in &self.unsent {
            if request.to.is_ipv4() != is_ipv4 {
                break;
            }
            let bytes = self.bytes.get(request.range.clone());
            batch.push((request.to, bytes.unwrap_or_default()));
        }
        batch
    }

    /// Whether to send a request again after this error, because it may pass.
    fn may_repeat(&self, error: &io::Error, now: Instant) -> bool {
        let is_unreachable = Fault::of(error) == Fault::Unreachable;
        !is_unreachable && now < after(self.stuck_since, REPEAT_FOR)
    }

    /// Takes requests from the scanner.
    fn fill(&mut self, max: usize, clock: impl Fn() -> Instant, cx: &mut Context<'_>) {
        self.bytes.clear();
        while self.unsent.len() < max {
            self.pull(cx);
            let now = clock();
            self.stuck_since = now;
            let start = self.bytes.len();
            let Some(transmit) = self.scanner.poll_transmit(now, &mut self.bytes) else {
                return;
            };
            let range = start..self.bytes.len();
            let to = transmit.to;
            self.unsent.push_back(Unsent { to, range });
        }
    }

    /// Moves targets into the scanner while it accepts some: second tries, then those of the
    /// source.
    fn pull(&mut self, cx: &mut Context<'_>) {
        while self.failed.is_none() && self.scanner.wants_target() {
            if let Some((index, query)) = self.second_tries.pop_front() {
                self.start(index, *query);
                continue;
            }
            if self.is_read {
                if self.second_ports.is_empty() {
                    self.scanner.close();
                }
                return;
            }
            let next_target = self.targets.get_mut();
            let next_target = next_target.unwrap_or_else(PoisonError::into_inner);
            match next_target(cx) {
                Poll::Ready(Some(target)) => self.push(target),
                Poll::Ready(None) => self.is_read = true,
                Poll::Pending => return,
            }
        }
    }

    fn start(&mut self, index: u64, query: AddressedQuery<C>) {
        if let Some(second) = query.second {
            let second = SecondPort::Untried(second);
            self.second_ports.insert(index, second);
        }
        self.scanner
            .push(index, query.peer, query.kind, query.conversation);
    }

    fn push(&mut self, target: NumberedQuery<C>) {
        let index = target.index;
        match target.query {
            Ok(query) => self.start(index, query),
            Err(error) => {
                self.failed = Some(Scanned {
                    index,
                    peer: None,
                    result: Err(error),
                });
            }
        }
    }
}

pub(super) fn with_status<A: ToStatus>(scanned: Scanned<A, Error>) -> Scanned<ServerStatus, Error> {
    let to_status = |outcome: Outcome<A>| outcome.map(|answer| answer.to_status());
    Scanned {
        index: scanned.index,
        peer: scanned.peer,
        result: scanned.result.map(to_status),
    }
}

#[cfg(test)]
#[allow(
    clippy::arithmetic_side_effects,
    clippy::disallowed_methods,
    reason = "virtual time in tests"
)]
mod tests {
    use std::task::Waker;

    use super::*;
    use crate::error::{ErrorKind, ParseError, ParseErrorKind};
    #[cfg(all(feature = "games", feature = "tokio"))]
    use crate::options::Detail;
    use crate::session::{OnTimeout, Remaining, Verdict};

    #[test]
    fn a_name_is_read_alike_from_each_type_of_text() {
        for name in ["quake3", " quake3 ", "ut", " ut ", "unknown", ""] {
            let text = name.to_owned();
            let read: [ProtocolOrGame; 3] = [name.into(), (&text).into(), text.into()];
            let [from_str, others @ ..] = read.map(|read| format!("{read:?}"));
            assert_eq!(others, [from_str.clone(), from_str]);
        }
    }

    /// The listed port and the given port are the query port.
    #[cfg(all(feature = "games", feature = "tokio"))]
    #[test]
    fn a_server_of_a_game_is_asked_in_the_form_of_the_game() {
        let client = Querier::new(crate::secret::Secret::new([7; 16]));
        let server = ([192, 0, 2, 1], 27500).into();
        let listed = Listed { server, origin: 0 };
        let game = |name| Game::find(name).unwrap();
        let request = |target: ScanTarget| {
            let mut query = target.query_of_address(&client).unwrap();
            assert!(query.second.is_none());
            let mut request = Vec::new();
            query.conversation.request(&mut request);
            request
        };
        for target in [
            ScanTarget::from((game("quake"), listed)),
            (game("quake"), &listed).into(),
            (game("quake"), server).into(),
        ] {
            assert!(request(target).starts_with(b"\xff\xff\xff\xffstatus"));
        }
        let target = || ScanTarget::from((Protocol::Quake3, server));
        let short = QueryOptions::default().with_detail(Detail::Short);
        assert!(request(target().with_options(short)).starts_with(b"\xff\xff\xff\xffgetinfo"));
        assert!(request(target()).starts_with(b"\xff\xff\xff\xffgetstatus"));
        let challenges = [(); 2].map(|()| request((game("q3a"), server).into()));
        assert_ne!(challenges[0], challenges[1]);
    }

    /// Reads `d`one and `n`ext.
    struct Letters {
        /// The length of its request.
        length: usize,
    }

    impl Conversation for Letters {
        type Answer = ();

        fn request(&mut self, out: &mut Vec<u8>) {
            out.resize(out.len() + self.length, b'?');
        }

        fn receive(&mut self, datagram: &[u8]) -> Verdict<()> {
            let kind = ParseErrorKind::NotThisProtocol("a letter");
            match datagram {
                b"d" => Verdict::Done(()),
                b"n" => Verdict::Next,
                _ => Verdict::Rejected(ParseError::new(kind, 0)),
            }
        }

        fn timeout(&mut self, _: Remaining) -> OnTimeout<()> {
            OnTimeout::Retry
        }
    }

    /// The result of a target with two ports: the port and the failure. The servers send these
    /// letters, or an ICMP error for `u`.
    fn result_of(length: usize, is_other: bool, letters: [&str; 2]) -> (u16, Option<ErrorKind>) {
        let (mut now, mut cx) = (Instant::now(), Context::from_waker(Waker::noop()));
        let at = |port| SocketAddr::from(([192, 0, 2, 1], port));
        let is_of_other: OtherServer<()> = |outcome, port| {
            Some(Error::OtherServer {
                peer: outcome.peer,
                game: None,
                game_port: Some(port),
            })
        };
        let query = |port, length| AddressedQuery::new(at(port), Letters { length });
        let second = AddressedQuery {
            other_server: is_other.then_some(is_of_other),
            ..query(2, 1)
        };
        let first = AddressedQuery {
            second: Some(Box::new(second)),
            ..query(1, length)
        };
        let query = Ok(first);
        let mut target = Some(NumberedQuery { index: 0, query });
        let source = Box::new(move |_: &mut Context<'_>| Poll::Ready(target.take()));
        let timing = Timing::default().with_max_steps(2);
        let mut queries = Queries::new(source, timing, ScanOptions::default(), now);
        for (port, letters) in (1..).zip(letters) {
            for letter in letters.chars().map(Some).chain([None]) {
                queries.send(1, || now, &mut cx, |requests| Ok(requests.len()));
                match letter {
                    Some('u') => queries.scanner.handle_unreachable(now, at(port)),
                    Some(letter) => {
                        let letter = [letter as u8];
                        queries.scanner.handle_datagram(now, at(port), &letter);
                    }
                    None => now += Duration::from_secs(100),
                }
            }
            queries.scanner.handle_timeout(now);
            if let Poll::Ready(scanned) = queries.poll_answer() {
                let scanned = scanned.unwrap();
                let failure = scanned.result.err().map(|error| error.kind());
                return (scanned.peer.unwrap().port(), failure);
            }
        }
        panic!("no result");
    }

    /// If neither answers, the result is that of the first.
    #[test]
    fn the_second_port_is_asked_if_the_first_one_has_no_answer() {
        use ErrorKind::{NotThisProtocol, OtherServer, Timeout, Unreachable};
        for (length, is_other, letters, result) in [
            (1, false, ["d", "d"], (1, None)),
            (1, false, ["", "d"], (2, None)),
            (1, false, ["", "u"], (1, Some(Timeout))),
            (1, false, ["u", "d"], (2, None)),
            (1, false, ["u", ""], (1, Some(Unreachable))),
            (1, false, ["x", "d"], (2, None)),
            (1, false, ["x", ""], (1, Some(NotThisProtocol))),
            (1, false, ["nnnn", "d"], (2, None)),
            (1, true, ["d", "d"], (2, None)),
            (1, true, ["d", ""], (1, Some(OtherServer))),
            (65_508, false, ["", "d"], (1, Some(ErrorKind::Request))),
        ] {
            let found = result_of(length, is_other, letters);
            assert_eq!(found, result, "{letters:?}");
        }
    }

    #[test]
    fn a_request_that_the_system_does_not_take_is_sent_again_for_a_second() {
        let (opened, mut cx) = (Instant::now(), Context::from_waker(Waker::noop()));
        let start = opened + 5 * REPEAT_FOR;
        let peers = [1, 2, 3].map(|host| SocketAddr::from(([192, 0, 2, host], 27960)));
        let query = |(index, peer)| NumberedQuery {
            index,
            query: Ok(AddressedQuery {
                peer,
                kind: 0,
                conversation: StatusQuery::new(Protocol::Quake3, 1, &QueryOptions::default()),
                second: None,
                other_server: None,
            }),
        };
        let mut targets = (0..).zip(peers).map(query);
        let source = Box::new(move |_: &mut Context<'_>| Poll::Ready(targets.next()));
        let timing = Timing::default().with_retry_after(Duration::from_secs(3));
        let mut queries = Queries::new(source, timing, ScanOptions::default(), opened);
        let mut tried = Vec::new();
        // The system takes only requests to `passing`, and returns no number of them.
        let mut send = |now, passing: Option<SocketAddr>| {
            let clock = || now;
            queries.send(3, clock, &mut cx, |requests| {
                let to = requests[0].0;
                assert!(tried.len() < 200, "a request that was sent is sent again");
                tried.push(to);
                match passing == Some(to) {
                    true => Ok(0),
                    false => Err(io::ErrorKind::NetworkDown.into()),
                }
            })
        };
        assert_eq!(send(start, None), Some(start + REPEAT_AFTER));
        // The second request has a second from the time at which the first one is sent.
        let sent_at = start + REPEAT_FOR / 2;
        let mut due = send(sent_at, Some(peers[0]));
        let mut now = sent_at + REPEAT_AFTER;
        while now < sent_at + REPEAT_FOR {
            assert_eq!(due, Some(now));
            due = send(now, None);
            now += REPEAT_AFTER;
        }
        // It is given up, and the third one is sent.
        send(now, Some(peers[2]));
        assert_eq!(tried[..2], [peers[0]; 2]);
        assert_eq!(tried[2..103], [peers[1]; 101]);
        assert_eq!(tried[103..], [peers[2]]);
        let Poll::Ready(Some(Scanned {
            index: 1,
            result: Err(error),
            ..
        })) = queries.poll_answer()
        else {
            panic!("no result");
        };
        assert_eq!(
            (error.kind(), queries.send_errors),
            (crate::ErrorKind::Unreachable, 102)
        );
        assert!(queries.poll_answer().is_pending());
    }
}
