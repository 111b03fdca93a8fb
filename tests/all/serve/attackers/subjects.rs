//! The targets of attacks: each protocol and engine, the requests that a forger can send, and the
//! requests of a client.

use std::fmt::Debug;

use queryport::{Protocol, Service};

/// A request. Its bytes `#` are different each time.
pub(crate) struct Request(Vec<u8>);

impl Request {
    /// The request of this number.
    pub(crate) fn write(&self, mut number: u32, out: &mut Vec<u8>) {
        out.clear();
        out.extend_from_slice(&self.0);
        for byte in out.iter_mut().filter(|byte| **byte == b'#') {
            *byte = b'a' + (number % 16) as u8;
            number /= 16;
        }
    }

    pub(crate) fn len(&self) -> u64 {
        self.0.len() as u64
    }
}

/// A protocol and engine.
pub(crate) struct Subject {
    pub(crate) name: String,
    pub(crate) service: Service,
    pub(crate) requests: Vec<Request>,
    /// A client's requests that prove nothing; none if clients ask for a challenge of GameSpy v4.
    query: Vec<Request>,
}

impl Subject {
    fn new(
        (protocol, engine): (&str, impl Debug),
        service: impl Into<Service>,
        requests: &[&[u8]],
        query: &[&[u8]],
    ) -> Self {
        let requests_of = |requests: &[&[u8]]| {
            requests
                .iter()
                .map(|bytes| Request(bytes.to_vec()))
                .collect()
        };
        let (requests, query) = (requests_of(requests), requests_of(query));
        Self {
            name: format!("{protocol} {engine:?}"),
            service: service.into(),
            requests,
            query,
        }
    }

    pub(crate) const fn is_gamespy4(&self) -> bool {
        matches!(self.service.format().protocol(), Protocol::GameSpy4)
    }

    /// Asks for the whole status; whether every request was answered.
    pub(crate) fn query(&self, number: u32, mut ask: impl FnMut(&[u8]) -> Vec<u8>) -> bool {
        if self.query.is_empty() {
            let reply = ask(b"\xfe\xfd\x09\x01\x02\x03\x04");
            let token = reply
                .get(5..reply.len().saturating_sub(1))
                .unwrap_or_default();
            return String::from_utf8_lossy(token)
                .parse::<i32>()
                .is_ok_and(|token| {
                    let data = [
                        b"\xfe\xfd\0\x01\x02\x03\x04",
                        &token.to_be_bytes()[..],
                        b"\xff\xff\xff\x01",
                    ];
                    !ask(&data.concat()).is_empty()
                });
        }
        let mut buffer = Vec::new();
        self.query.iter().all(|request| {
            request.write(number, &mut buffer);
            !ask(&buffer).is_empty()
        })
    }
}

pub(crate) fn gamespy1() -> Vec<Subject> {
    use queryport::{Format::GameSpy1, Service};
    let requests: [&[u8]; 6] = [
        br"\status\",
        br"\basic\",
        br"\info\",
        br"\x\",
        br"\status\\status\\rules\\players\",
        br"\info\\####\",
    ];
    vec![Subject::new(
        ("GameSpy v1", GameSpy1),
        Service::new(GameSpy1),
        &requests,
        &[br"\status\"],
    )]
}

pub(crate) fn gamespy4() -> Vec<Subject> {
    use queryport::{Format::*, Service};
    let bare = b"\xfe\xfd\0####\xff\xff\xff";
    let requests: [&[u8]; 8] = [
        b"\xfe\xfd\x09\x01\x02\x03\x04",
        b"\xfe\xfd\x09####",
        b"\xfe\xfd\0\x01\x02\x03\x04\xff\xff\xff\x01",
        bare,
        b"\xfe\xfd\0\x01\x02\x03\x04\xff\xff\xff",
        b"\xfe\xfd\0\x01\x02\x03\x04\x01\x01\0\0",
        b"\xfe\xfd\0\x01\x02\x03\x04\x03###\0\0",
        b"\xfe\xfd\0\x01\x02\x03\x04####\xff\xff\xff\x01",
    ];
    let subject = |format| {
        let query: &[&[u8]] = if format == GameSpy2 { &[bare] } else { &[] };
        Subject::new(
            ("GameSpy v4", format),
            Service::new(format),
            &requests,
            query,
        )
    };
    [UnrealTournament3, GameSpy2, Minecraft].map(subject).into()
}

pub(crate) fn quake3() -> Vec<Subject> {
    use queryport::{Format::Quake3, Service};
    let query = b"\xff\xff\xff\xffgetstatus ########";
    let requests: [&[u8]; 6] = [
        b"\xff\xff\xff\xffgetstatus",
        b"\xff\xff\xff\xffgetinfo",
        b"\xff\xff\xff\xffgetchallenge",
        b"\xff\xff\xff\xffgetinfo ########",
        b"\xff\xff\xff\xffgetchallenge 1 ####",
        query,
    ];
    vec![Subject::new(
        ("Quake 3", Quake3),
        Service::new(Quake3),
        &requests,
        &[query],
    )]
}

pub(crate) fn ut2004() -> Vec<Subject> {
    use queryport::{Format::Ut2004, Service};
    let requests: [&[u8]; 5] = [
        b"\x79\0\0\0\x03",
        b"\x79\0\0\0\0",
        b"\x79\0\0\0\x01",
        b"\x79\0\0\0\x04",
        b"\x78\0\0\0\x03",
    ];
    vec![Subject::new(
        ("UT2004", Ut2004),
        Service::new(Ut2004),
        &requests,
        &[requests[1], requests[0]],
    )]
}
