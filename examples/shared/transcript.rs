//! Transcripts of queries: text that a bug report can hold and a test can replay.
//!
//! ```text
//! # protocol quake3
//! # nonce 4711
//! 0.000000 > ffffffff676574737461747573
//! 0.041200 < ffffffff737461747573526573706f6e73650a
//! # outcome complete
//! ```
//!
//! A line is the time in seconds, the direction (`>` to the server, `<` to the client) and a
//! datagram in hexadecimal. Lines that begin with `#` are comments. A comment of a word and a value
//! is read: `protocol`, `nonce` (the ids of the requests follow from it) and `outcome`.

use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bytes::Bytes;
use queryport::session::{Conversation, OnTimeout, Remaining, Verdict};

/// A recorded query.
#[derive(Debug, Clone, Default)]
pub struct Transcript {
    /// The comments, in order.
    pub comments: Vec<String>,
    /// The datagrams and when they were sent or received.
    pub lines: Vec<Line>,
    /// How the query ended.
    pub outcome: Option<String>,
}

/// One datagram.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    pub at: Duration,
    pub is_request: bool,
    pub datagram: Bytes,
}

impl Transcript {
    /// Reads a transcript.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut transcript = Self::default();
        for (number, line) in (1..).zip(text.lines()) {
            if let Some(comment) = line.strip_prefix('#') {
                let comment = comment.trim().to_owned();
                match comment.strip_prefix("outcome ") {
                    Some(outcome) => transcript.outcome = Some(outcome.to_owned()),
                    None => transcript.comments.push(comment),
                }
            } else if !line.trim().is_empty() {
                let line = Line::parse(line).map_err(|error| format!("line {number}: {error}"))?;
                transcript.lines.push(line);
            }
        }
        Ok(transcript)
    }

    /// The value of the first comment that begins with this word.
    pub fn get(&self, word: &str) -> Option<&str> {
        self.comments
            .iter()
            .find_map(|comment| comment.strip_prefix(word)?.strip_prefix(' '))
    }

    /// The datagrams that the client sent, or those that it received.
    pub fn datagrams(&self, is_request: bool) -> impl Iterator<Item = &Bytes> {
        self.lines
            .iter()
            .filter(move |line| line.is_request == is_request)
            .map(|line| &line.datagram)
    }
}

impl Line {
    fn parse(line: &str) -> Result<Self, String> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [at, direction, datagram] = words[..] else {
            return Err("expected a time, `>` or `<`, and a datagram in hexadecimal".to_owned());
        };
        let at = at
            .parse()
            .ok()
            .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let is_request = match direction {
            ">" => true,
            "<" => false,
            _ => {
                return Err(format!(
                    "{direction:?} is not a direction: expected `>` or `<`"
                ));
            }
        };
        // An empty datagram is written as a dash.
        let datagram = hex::decode(if datagram == "-" { "" } else { datagram });
        let datagram = datagram
            .map_err(|error| format!("the datagram is not hexadecimal: {error}"))?
            .into();
        Ok(Self {
            at: at.ok_or("the time is not a number of seconds")?,
            is_request,
            datagram,
        })
    }
}

impl fmt::Display for Transcript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for comment in &self.comments {
            writeln!(f, "# {comment}")?;
        }
        for Line {
            at,
            is_request,
            datagram,
        } in &self.lines
        {
            let direction = if *is_request { '>' } else { '<' };
            let hex = if datagram.is_empty() {
                "-".to_owned()
            } else {
                hex::encode(datagram)
            };
            writeln!(f, "{:.6} {direction} {hex}", at.as_secs_f64())?;
        }
        self.outcome
            .iter()
            .try_for_each(|outcome| writeln!(f, "# outcome {outcome}"))
    }
}

/// A conversation whose datagrams are written down.
pub struct Recorded<C> {
    conversation: C,
    started: Instant,
    transcript: Arc<Mutex<Transcript>>,
}

impl<C> Recorded<C> {
    /// Begins a transcript with these comments, and drops an earlier conversation.
    pub fn new(
        conversation: C,
        comments: Vec<String>,
        transcript: &Arc<Mutex<Transcript>>,
    ) -> Self {
        if let Ok(mut transcript) = transcript.lock() {
            *transcript = Transcript {
                comments,
                ..Transcript::default()
            };
        }
        #[allow(
            clippy::disallowed_methods,
            reason = "the time of a transcript is that of the wall"
        )]
        let started = Instant::now();
        Self {
            conversation,
            started,
            transcript: Arc::clone(transcript),
        }
    }

    fn write(&self, is_request: bool, datagram: &[u8]) {
        let (at, datagram) = (self.started.elapsed(), Bytes::copy_from_slice(datagram));
        if let Ok(mut transcript) = self.transcript.lock() {
            transcript.lines.push(Line {
                at,
                is_request,
                datagram,
            });
        }
    }
}

impl<C: Conversation> Conversation for Recorded<C> {
    type Answer = C::Answer;

    fn request(&mut self, out: &mut Vec<u8>) {
        let before = out.len();
        self.conversation.request(out);
        self.write(true, out.get(before..).unwrap_or_default());
    }

    fn receive(&mut self, datagram: &[u8]) -> Verdict<Self::Answer> {
        self.write(false, datagram);
        self.conversation.receive(datagram)
    }

    fn timeout(&mut self, remaining: Remaining) -> OnTimeout<Self::Answer> {
        self.conversation.timeout(remaining)
    }

    fn has_companion(&self) -> bool {
        self.conversation.has_companion()
    }
}
