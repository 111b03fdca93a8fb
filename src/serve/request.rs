//! A request in one of the protocols that a responder answers in.

use crate::model::ServerStatus;
use crate::protocol::Protocol;
use crate::reply::{Cache, Context, Requester, TemplateReply};
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
            Protocol::GameSpy4 => {
                Self::GameSpy4(gamespy4::server::parse(datagram, service.engine).ok()?)
            }
            Protocol::Quake3 => Self::Quake3(quake3::Request::parse(datagram).ok()?),
            Protocol::Ut2004 => Self::Ut2004(ut2004::Request::parse(datagram).ok()?),
        })
    }

    /// Whether it quotes a token of GameSpy v4. Only a client that can receive at its address has
    /// one.
    pub(super) const fn has_token(&self) -> bool {
        use gamespy4::{Command::Data, Request};
        matches!(
            self,
            Self::GameSpy4(Request {
                command: Data {
                    challenge: Some(_),
                    ..
                },
                ..
            })
        )
    }

    /// The reply to this request. Its templates are kept in `caches`.
    pub(super) fn respond(
        &self,
        status: &ServerStatus,
        service: &Service,
        requester: &Requester,
        caches: &mut Caches,
    ) -> Option<TemplateReply> {
        match self {
            Self::GameSpy1(request) => {
                let cache = &mut caches.gamespy1;
                gamespy1::server::respond_from_templates(
                    request,
                    &mut Context::new(status, service, requester, cache),
                )
            }
            Self::GameSpy4(request) => {
                let cache = &mut caches.gamespy4;
                gamespy4::server::respond_from_templates(
                    request,
                    &mut Context::new(status, service, requester, cache),
                )
            }
            Self::Quake3(request) => {
                let cache = &mut caches.quake3;
                quake3::server::respond_from_templates(
                    request,
                    &mut Context::new(status, service, requester, cache),
                )
            }
            Self::Ut2004(request) => {
                let cache = &mut caches.ut2004;
                ut2004::server::respond_from_templates(
                    request,
                    &mut Context::new(status, service, requester, cache),
                )
            }
        }
    }
}

/// The replies of one status that were encoded so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Caches {
    gamespy1: Cache<gamespy1::server::ReplyKind>,
    gamespy4: Cache<gamespy4::server::ReplyKind>,
    quake3: Cache<quake3::server::ReplyKind>,
    ut2004: Cache<ut2004::server::ReplyKind>,
}
