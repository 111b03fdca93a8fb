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

/// The reply after its header.
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
        if total > 32 {
            // A bound on what a hostile server can make us keep.
            let kind = ParseErrorKind::Malformed("more than 32 parts");
            return Verdict::Rejected(ParseError::new(kind, 8));
        }
        if self.parts.is_empty() || self.id != id {
            (self.id, self.parts) = (id, vec![None; usize::from(total)]);
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
            [
                0xfe,
                0xff,
                0xff,
                0xff,
                a,
                b,
                c,
                d,
                total,
                n,
                _,
                _,
                ref part @ ..,
            ] => self.part([a, b, c, d, total, n], part),
            _ => Info::parse(datagram),
        }
    }

    fn timeout(&mut self, _remaining: Remaining) -> OnTimeout<Info> {
        OnTimeout::Retry
    }
}

impl Info {
    fn parse(reply: &[u8]) -> Verdict<Self> {
        let kind = match reply.strip_prefix(b"\xff\xff\xff\xffI") {
            Some(info) if Self::counts(info).is_some() => {
                return Verdict::Done(Self(info.to_vec()));
            }
            Some(_) => ParseErrorKind::Malformed("the end of the reply"),
            None => ParseErrorKind::NotThisProtocol("an A2S_INFO reply"),
        };
        Verdict::Rejected(ParseError::new(kind, 0))
    }

    /// Players, slots and bots.
    fn counts(info: &[u8]) -> Option<[u8; 3]> {
        Self::fields(info).get(4)?.get(2..5)?.try_into().ok()
    }

    /// A byte, four texts (name, map, folder, game), a number of two bytes, counts.
    fn fields(info: &[u8]) -> Vec<&[u8]> {
        info.get(1..)
            .unwrap_or_default()
            .splitn(5, |byte| *byte == 0)
            .collect()
    }
}

impl ToStatus for Info {
    fn to_status(&self) -> ServerStatus {
        let fields = Self::fields(&self.0);
        let text = |index: usize| {
            let text = String::from_utf8_lossy(fields.get(index)?).into_owned();
            Some(text.into())
        };
        let mut status = ServerStatus::default();
        (status.name, status.map, status.game) = (text(0), text(1), text(3));
        if let Some([players, slots, bots]) = Self::counts(&self.0) {
            status.player_count = Some(players.into());
            status.max_players = Some(slots.into());
            status.bot_count = Some(bots.into());
        }
        status
    }
}
