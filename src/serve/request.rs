//! A request in one of the protocols that a responder answers in.

use std::sync::Arc;

use crate::gamespy4::snapshots::{Chosen, Snapshots};
use crate::model::ServerStatus;
use crate::protocol::Protocol;
use crate::reply::Requester;
use crate::reply::{Patched, Templates};
use crate::service::Service;
use crate::{gamespy1, gamespy4, quake3, ut2004};

pub(super) enum Request<'a> {
    GameSpy1(gamespy1::Request<'a>),
    GameSpy4(gamespy4::Request<'a>),
    Quake3(quake3::Request<'a>),
    Ut2004(ut2004::Request),
}

impl<'a> Request<'a> {
    /// The datagram as a request to this service.
    pub(super) fn parse(service: &Service, datagram: &'a [u8]) -> Option<Self> {
        Some(match service.engine.protocol() {
            Protocol::GameSpy1 => Self::GameSpy1(gamespy1::Request::parse(datagram).ok()?),
            Protocol::GameSpy4 => Self::GameSpy4(gamespy4::server::parse(datagram, service.engine).ok()?),
            Protocol::Quake3 => Self::Quake3(quake3::Request::parse(datagram).ok()?),
            Protocol::Ut2004 => Self::Ut2004(ut2004::Request::parse(datagram).ok()?),
        })
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

    /// The reply to this request.
    pub(super) fn reply(
        &self,
        service: &Service,
        status: &ServerStatus,
        requester: &Requester,
        templates: &mut Templates,
    ) -> Option<Patched> {
        match self {
            Self::GameSpy1(request) => {
                gamespy1::server::reply(request, status, service, requester, templates)
            }
            Self::GameSpy4(request) => {
                gamespy4::server::reply(request, status, service, requester, templates)
            }
            Self::Quake3(request) => quake3::server::reply(request, status, service, requester, templates),
            Self::Ut2004(request) => ut2004::server::reply(request, status, service, requester, templates),
        }
    }
}
