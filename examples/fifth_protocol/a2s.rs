use queryport::session::{Conversation, OnTimeout, Remaining, Verdict, Wait};
use queryport::{ParseError, ParseErrorKind, ServerStatus, ToStatus};

/// Valve's `A2S_INFO` (developer wiki, "Server queries"): a request, the same request
/// with the challenge that the server sent, and the reply in one datagram or several.
#[derive(Default)]
pub(crate) struct InfoQuery {
    challenge: Vec<u8>,
    /// The id of a reply in several datagrams, and its parts.
    id: [u8; 4],
    parts: Vec<Option<Vec<u8>>>,
}

/// The reply behind its header.
pub(crate) struct Info(Vec<u8>);

impl InfoQuery {
    /// `nonce`: a number that nobody else can guess. Where replies quote the request,
    /// put it there, and reject other numbers. A reply of `A2S_INFO` quotes nothing.
    pub(crate) fn new(_nonce: u64) -> Self {
        Self::default()
    }

    /// Keeps a part; the whole reply, once every part is here.
    fn part(&mut self, header: [u8; 6], part: &[u8]) -> Verdict<Info> {
        let [a, b, c, d, total, number] = header;
        let id = [a, b, c, d];
        if self.parts.is_empty() || self.id != id {
            // At most 32 parts: a bound on what a hostile server can make us keep.
            (self.id, self.parts) = (id, vec![None; usize::from(total.min(32))]);
        }
        if let Some(kept) = self.parts.get_mut(usize::from(number)) {
            *kept = Some(part.to_vec());
        }
        let whole: Option<Vec<_>> = self.parts.iter().cloned().collect();
        match whole.map(|parts| parts.concat()) {
            None => Verdict::Partial(Wait::Reply),
            Some(whole) => Info::parse(&whole),
        }
    }
}

impl Conversation for InfoQuery {
    type Answer = Info;

    fn request(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"\xff\xff\xff\xffTSource Engine Query\0");
        out.extend_from_slice(&self.challenge);
    }

    fn receive(&mut self, datagram: &[u8]) -> Verdict<Info> {
        match *datagram {
            [0xff, 0xff, 0xff, 0xff, b'A', a, b, c, d] => {
                self.challenge = vec![a, b, c, d];
                Verdict::Next
            }
            [0xfe, 0xff, 0xff, 0xff, a, b, c, d, total, n, _, _, ref part @ ..] => {
                self.part([a, b, c, d, total, n], part)
            }
            _ => Info::parse(datagram),
        }
    }

    fn timeout(&mut self, _remaining: Remaining) -> OnTimeout<Info> {
        OnTimeout::Retry
    }
}

impl Info {
    fn parse(reply: &[u8]) -> Verdict<Self> {
        match reply.strip_prefix(b"\xff\xff\xff\xffI") {
            Some(info) => Verdict::Done(Self(info.to_vec())),
            None => {
                let kind = ParseErrorKind::NotThisProtocol("an A2S_INFO reply");
                Verdict::Rejected(ParseError::new(kind, 0))
            }
        }
    }
}

impl ToStatus for Info {
    fn to_status(&self) -> ServerStatus {
        // A byte, four texts (name, map, folder, game), a number of two bytes, counts.
        let fields = self.0.get(1..).unwrap_or_default();
        let fields: Vec<&[u8]> = fields.splitn(5, |byte| *byte == 0).collect();
        let text = |index: usize| {
            let text = String::from_utf8_lossy(fields.get(index)?).into_owned();
            Some(text.into())
        };
        let mut status = ServerStatus::default();
        (status.name, status.map, status.game) = (text(0), text(1), text(3));
        if let Some([_, _, players, slots, bots, ..]) = fields.get(4) {
            status.player_count = Some((*players).into());
            status.max_players = Some((*slots).into());
            status.bot_count = Some((*bots).into());
        }
        status
    }
}
