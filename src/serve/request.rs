//! A request in one of the protocols that a responder answers in.

use std::sync::Arc;

use super::history::History;
use crate::model::ServerStatus;
use crate::protocol::Protocol;
use crate::reply::{Patched, Requester, Templates};
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

    /// The token of GameSpy v4 that this request quotes. Only a client that can receive at its address has one.
    pub(super) const fn token(&self) -> Option<i32> {
        use gamespy4::{Command::Data, Request};
        match self {
            Self::GameSpy4(Request { command: Data { challenge, .. }, .. }) => *challenge,
            _ => None,
        }
    }

    /// The status to answer from, and its number; `None` if the request quotes an invalid token.
    pub(super) fn status(
        &self,
        history: &mut History,
        requester: &Requester,
    ) -> Option<(u64, Arc<ServerStatus>)> {
        let Some(token) = self.token() else { return Some(history.current(requester.now)) };
        let find = |name| history.find(requester.now, |number| gamespy4::token::name(number) == name);
        gamespy4::token::names(requester, token).find_map(find)
    }

    /// The reply to this request, made from the status of this number.
    pub(super) fn reply(
        &self,
        (number, status): (u64, &ServerStatus),
        service: &Service,
        requester: &Requester,
        templates: &mut Templates<'_>,
    ) -> Option<Patched> {
        match self {
            Self::GameSpy1(request) => {
                gamespy1::server::reply(request, status, service, requester, templates)
            }
            Self::GameSpy4(request) => {
                gamespy4::server::reply(request, (number, status), service, requester, templates)
            }
            Self::Quake3(request) => quake3::server::reply(request, status, service, requester, templates),
            Self::Ut2004(request) => ut2004::server::reply(request, status, service, requester, templates),
        }
    }
}
