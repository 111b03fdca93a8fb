//! The protocols that a responder answers in.

use std::sync::Arc;

use crate::gamespy4::snapshots::{Chosen, Snapshots};
use crate::model::ServerStatus;
use crate::protocol::Protocol;
use crate::reply::Requester;
use crate::template::{Patched, Templates};
use crate::{gamespy1, gamespy4, quake3, ut2004};

/// A protocol to answer in, with its options.
///
/// ```
/// use queryport::Protocol;
/// use queryport::gamespy4::server::{Dialect, Options};
/// use queryport::serve::Service;
///
/// let quake3 = Service::from(Protocol::Quake3);
/// let minecraft = Service::from(Options::new(Dialect::Minecraft));
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Service {
    /// The backslash protocol's commands.
    GameSpy1(gamespy1::server::Options),
    /// Challenge, full and short answers.
    GameSpy4(gamespy4::server::Options),
    /// `getinfo`, `getstatus` and `getchallenge`.
    Quake3(quake3::server::Options),
    /// Info, rules and players.
    Ut2004(ut2004::server::Options),
}

/// A protocol with its default options.
impl From<Protocol> for Service {
    fn from(protocol: Protocol) -> Self {
        match protocol {
            Protocol::GameSpy1 => Self::GameSpy1(gamespy1::server::Options::default()),
            Protocol::GameSpy4 => Self::GameSpy4(gamespy4::server::Options::default()),
            Protocol::Quake3 => Self::Quake3(quake3::server::Options::default()),
            Protocol::Ut2004 => Self::Ut2004(ut2004::server::Options::default()),
        }
    }
}

impl From<gamespy1::server::Options> for Service {
    fn from(options: gamespy1::server::Options) -> Self {
        Self::GameSpy1(options)
    }
}

impl From<gamespy4::server::Options> for Service {
    fn from(options: gamespy4::server::Options) -> Self {
        Self::GameSpy4(options)
    }
}

impl From<quake3::server::Options> for Service {
    fn from(options: quake3::server::Options) -> Self {
        Self::Quake3(options)
    }
}

impl From<ut2004::server::Options> for Service {
    fn from(options: ut2004::server::Options) -> Self {
        Self::Ut2004(options)
    }
}

/// A request in one of the protocols.
pub(super) enum Request<'a> {
    GameSpy1(gamespy1::Request<'a>),
    GameSpy4(gamespy4::Request<'a>),
    Quake3(quake3::Request<'a>),
    Ut2004(ut2004::Request),
}

impl Request<'_> {
    pub(super) const fn protocol(&self) -> Protocol {
        match self {
            Self::GameSpy1(_) => Protocol::GameSpy1,
            Self::GameSpy4(_) => Protocol::GameSpy4,
            Self::Quake3(_) => Protocol::Quake3,
            Self::Ut2004(_) => Protocol::Ut2004,
        }
    }

    /// The status to answer from. GameSpy v4 counts by itself.
    pub(super) fn snapshot(
        &self,
        snapshots: &mut Snapshots,
        requester: &Requester,
        current: (u64, &Arc<ServerStatus>),
    ) -> Chosen {
        match self {
            Self::GameSpy4(request) => snapshots.choose(request.command, requester, current.1),
            _ => Chosen { number: current.0, status: None, verified: None },
        }
    }

    /// Whether only a client that can receive at its address gets a reply to this request.
    pub(super) const fn proves_its_address(&self) -> bool {
        use gamespy4::{Command::Data, Request};
        matches!(self, Self::GameSpy4(Request { command: Data { challenge: Some(_), .. }, .. }))
    }
}

impl Service {
    pub(super) const fn protocol(&self) -> Protocol {
        match self {
            Self::GameSpy1(_) => Protocol::GameSpy1,
            Self::GameSpy4(_) => Protocol::GameSpy4,
            Self::Quake3(_) => Protocol::Quake3,
            Self::Ut2004(_) => Protocol::Ut2004,
        }
    }

    /// The datagram as a request in this protocol.
    pub(super) fn parse<'a>(&self, datagram: &'a [u8]) -> Option<Request<'a>> {
        Some(match self {
            Self::GameSpy1(_) => Request::GameSpy1(gamespy1::Request::parse(datagram).ok()?),
            Self::GameSpy4(options) => {
                Request::GameSpy4(gamespy4::server::parse(datagram, options.dialect).ok()?)
            }
            Self::Quake3(_) => Request::Quake3(quake3::Request::parse(datagram).ok()?),
            Self::Ut2004(_) => Request::Ut2004(ut2004::Request::parse(datagram).ok()?),
        })
    }

    /// The reply to a request in this protocol; none to one in another.
    pub(super) fn reply(
        &self,
        request: &Request<'_>,
        status: &ServerStatus,
        requester: &Requester,
        templates: &mut Templates,
    ) -> Option<Patched> {
        match (self, request) {
            (Self::GameSpy1(options), Request::GameSpy1(request)) => {
                gamespy1::server::reply(request, status, options, requester, templates)
            }
            (Self::GameSpy4(options), Request::GameSpy4(request)) => {
                gamespy4::server::reply(request, status, options, requester, templates)
            }
            (Self::Quake3(options), Request::Quake3(request)) => {
                quake3::server::reply(request, status, options, requester, templates)
            }
            (Self::Ut2004(options), Request::Ut2004(request)) => {
                ut2004::server::reply(request, status, options, requester, templates)
            }
            _ => None,
        }
    }
}
