//! The spans and events of queries, feature `tracing`.
#![allow(
    clippy::disallowed_methods,
    reason = "a failed assumption in a test is a failed test"
)]

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use queryport::session::{Conversation, Machine, Session};
use queryport::{Limits, QueryOptions, Timing, gamespy4, quake3, ut2004};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

const SERVER: &str = "192.0.2.1:27960";

/// A span, or an event of a span: its fields, with the event's message under `message`.
#[derive(Debug, Default)]
struct Recorded {
    /// The name of a span, empty for an event.
    span: &'static str,
    /// The number of the event's span.
    parent: Option<u64>,
    fields: BTreeMap<&'static str, String>,
}

impl Visit for Recorded {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.fields.insert(field.name(), format!("{value:?}"));
    }
}

/// Records every span and event. A span's number is its position in the record, from 1.
#[derive(Debug, Clone, Default)]
struct Recorder(Arc<Mutex<Vec<Recorded>>>);

impl Recorder {
    fn add(&self, recorded: Recorded) -> u64 {
        let mut all = self.0.lock().unwrap();
        all.push(recorded);
        u64::try_from(all.len()).unwrap()
    }
}

impl Subscriber for Recorder {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        let mut recorded = Recorded {
            span: attributes.metadata().name(),
            ..Recorded::default()
        };
        attributes.record(&mut recorded);
        Id::from_u64(self.add(recorded))
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut recorded = Recorded {
            parent: event.parent().map(Id::into_u64),
            ..Recorded::default()
        };
        event.record(&mut recorded);
        self.add(recorded);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// A query in virtual time, and every byte that it sends and receives.
struct Driven<C: Conversation> {
    session: Session<C>,
    now: Instant,
    wire: Vec<u8>,
}

impl<C: Conversation> Driven<C> {
    fn new(conversation: C) -> Self {
        let now = Instant::now();
        let timing = Timing::default().with_retries(1);
        let session = Session::new(conversation, server(), timing, now);
        Self {
            session,
            now,
            wire: Vec::new(),
        }
    }

    fn send(&mut self) -> Vec<u8> {
        let mut request = Vec::new();
        assert!(
            self.session.poll_transmit(self.now, &mut request).is_some(),
            "a request waits"
        );
        self.wire.extend_from_slice(&request);
        request
    }

    fn receive(&mut self, datagram: &[u8]) {
        self.wire.extend_from_slice(datagram);
        self.session.handle_datagram(self.now, server(), datagram);
    }

    fn time_out(&mut self) {
        self.now += Duration::from_secs(2);
        self.session.handle_timeout(self.now);
    }
}

fn server() -> SocketAddr {
    SERVER.parse().unwrap()
}

/// The spans and events of a program.
fn record(program: impl FnOnce()) -> Vec<Recorded> {
    let recorder = Recorder::default();
    tracing::subscriber::with_default(recorder.clone(), program);
    std::mem::take(&mut *recorder.0.lock().unwrap())
}

/// The fields of an event in the order of their names.
fn event(recorded: &Recorded) -> Vec<(&'static str, &str)> {
    assert_eq!(
        recorded.parent,
        Some(1),
        "the event is in the span of the query: {recorded:?}"
    );
    recorded
        .fields
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect()
}

#[test]
fn a_query_has_a_span_and_events_for_what_goes_wrong() {
    let recorded = record(|| {
        let mut query = Driven::new(ut2004::StatusQuery::new(7, &QueryOptions::default()));
        query.send();
        query.receive(b"\x80\0\0\0\0\x05");
        query.time_out();
        query.send();
        query.time_out();
        assert!(query.session.poll_answer().unwrap().is_err());
        query.receive(b"late");
    });
    let [span, rejected, retry, timed_out, late] = &recorded[..] else {
        panic!("{recorded:#?}")
    };
    assert_eq!((span.span, span.fields["peer"].as_str()), ("query", SERVER));
    let why = "cut short inside the info record";
    assert_eq!(
        event(rejected),
        [
            ("message", "datagram rejected"),
            ("offset", "6"),
            ("why", why)
        ]
    );
    assert_eq!(
        event(retry),
        [("message", "request sent again"), ("retry", "1")]
    );
    assert_eq!(
        event(timed_out),
        [("message", "timed out"), ("timer", "\"deadline\"")]
    );
    assert_eq!(
        event(late),
        [
            ("bytes", "4"),
            ("message", "datagram after the end of the query")
        ]
    );
}

#[test]
fn no_field_has_a_challenge_a_token_or_a_password() {
    let mut secrets = Vec::new();
    let recorded = record(|| {
        // A reply with another challenge is rejected, and the same reply is late after the end.
        let mut query = Driven::new(quake3::StatusQuery::new(
            0x0123_4567_89AB_CDEF,
            &QueryOptions::default(),
        ));
        let request = String::from_utf8_lossy(&query.send()).into_owned();
        let challenge = request.split_ascii_whitespace().nth(1).unwrap().to_owned();
        query.receive(b"\xff\xff\xff\xffstatusResponse\n\\challenge\\Wr0ngChallenge\n");
        let reply = format!("\\challenge\\{challenge}\n");
        query.receive(&[b"\xff\xff\xff\xffstatusResponse\n", reply.as_bytes()].concat());
        query.receive(&[b"\xff\xff\xff\xffstatusResponse\n", reply.as_bytes()].concat());
        assert!(query.session.poll_answer().unwrap().is_ok());
        secrets.extend([challenge, "Wr0ngChallenge".to_owned()]);

        // The token of the server, in a request that times out.
        let mut query = Driven::new(gamespy4::StatusQuery::new(
            0x0102_0304,
            &QueryOptions::default(),
        ));
        let request = query.send();
        let id = request.get(3..7).unwrap().to_vec();
        query.receive(&[&b"\x09"[..], &id, b"-1287574694\0"].concat());
        query.send();
        query.receive(&[&b"\x09"[..], &id, b"-1287574694\0"].concat());
        query.time_out();
        query.time_out();
        secrets.extend(["1287574694".to_owned(), format!("{:x}", -1_287_574_694_i32)]);

        // A password, in a request and in the reply of the server.
        let password = quake3::Password::new("s3cretPassword");
        let mut query = Driven::new(
            quake3::RconQuery::new(
                password,
                "status",
                quake3::RconMode::Plain,
                &Limits::default(),
            )
            .unwrap(),
        );
        assert!(String::from_utf8_lossy(&query.send()).contains("s3cretPassword"));
        query.receive(b"s3cretPassword");
        query.receive(b"\xff\xff\xff\xffprint\ns3cretPassword\n");
        query.time_out();
        query.receive(b"\xff\xff\xff\xffprint\ns3cretPassword\n");
        secrets.push("s3cretPassword".to_owned());
    });
    let events = |message: &str| {
        recorded
            .iter()
            .filter(|event| {
                event
                    .fields
                    .get("message")
                    .is_some_and(|text| text == message)
            })
            .count()
    };
    assert!(
        events("datagram rejected") >= 2 && events("datagram after the end of the query") >= 2,
        "{recorded:#?}"
    );
    assert_eq!(
        recorded.iter().filter(|span| span.span == "query").count(),
        3
    );
    for value in recorded
        .iter()
        .flat_map(|recorded| recorded.fields.values())
    {
        for secret in &secrets {
            assert!(!value.contains(secret.as_str()), "{secret} in {value}");
        }
    }
}
