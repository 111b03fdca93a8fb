//! A service with the replies of its status, and requests in its protocol.

use crate::model::ServerStatus;
use crate::protocol::Protocol;
use crate::reply::{EncodedReply, Requester};
use crate::service::Service;
use crate::{gamespy1, gamespy4, quake3, ut2004};

/// A service and the replies of the current status.
#[derive(Debug, Clone)]
pub(super) struct Served {
    pub(super) service: Service,
    replies: Replies,
}

/// The replies of one status in a protocol.
#[derive(Debug, Clone)]
enum Replies {
    GameSpy1(gamespy1::server::Replies),
    GameSpy4(gamespy4::server::Replies),
    Quake3(quake3::server::Replies),
    Ut2004(ut2004::server::Replies),
}

impl Replies {
    fn new(status: &ServerStatus, service: &Service) -> Self {
        match service.format().protocol() {
            Protocol::GameSpy1 => Self::GameSpy1(gamespy1::server::Replies::new(status, service)),
            Protocol::GameSpy4 => Self::GameSpy4(gamespy4::server::Replies::new(status, service)),
            Protocol::Quake3 => Self::Quake3(quake3::server::Replies::new(status, service)),
            Protocol::Ut2004 => Self::Ut2004(ut2004::server::Replies::new(status, service)),
        }
    }
}

impl Served {
    pub(super) fn new(service: Service, status: &ServerStatus) -> Self {
        let replies = Replies::new(status, &service);
        Self { service, replies }
    }

    /// Encodes the replies of another status.
    pub(super) fn set_status(&mut self, status: &ServerStatus) {
        self.replies = Replies::new(status, &self.service);
    }

    /// The reply to a request of this service's protocol, if it gets one.
    pub(super) fn reply(
        &self,
        request: &Request<'_>,
        status: &ServerStatus,
        requester: &Requester,
    ) -> Option<EncodedReply> {
        let service = &self.service;
        match (&self.replies, request) {
            (Replies::GameSpy1(replies), Request::GameSpy1(request)) => {
                replies.reply(request, status, service, requester)
            }
            (Replies::GameSpy4(replies), Request::GameSpy4(request)) => {
                replies.reply(request, service, requester)
            }
            (Replies::Quake3(replies), Request::Quake3(request)) => {
                replies.reply(request, status, service, requester)
            }
            (Replies::Ut2004(replies), Request::Ut2004(request)) => replies.reply(request),
            _ => None,
        }
    }
}

/// A request in one of the protocols.
pub(super) enum Request<'a> {
    GameSpy1(gamespy1::Request<'a>),
    GameSpy4(gamespy4::Request<'a>),
    Quake3(quake3::Request<'a>),
    Ut2004(ut2004::Request),
}

impl<'a> Request<'a> {
    /// The datagram as a request to this service.
    pub(super) fn parse(service: &Service, datagram: &'a [u8]) -> Option<Self> {
        let format = service.format();
        Some(match format.protocol() {
            Protocol::GameSpy1 => Self::GameSpy1(gamespy1::Request::parse(datagram).ok()?),
            Protocol::GameSpy4 => Self::GameSpy4(gamespy4::server::parse(datagram, format).ok()?),
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
}
