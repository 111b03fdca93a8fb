//! The wire's own view of an answer as JSON.

mod gamespy1;
mod gamespy4;
mod quake3;
mod ut2004;

use queryport::Answer;
use serde_json::{Map, Value, json};

/// Adds what an answer holds to the output line.
pub fn describe(answer: &Answer, line: &mut Map<String, Value>) {
    match answer {
        Answer::GameSpy1(answer) => gamespy1::describe(answer, line),
        Answer::GameSpy4(answer) => gamespy4::describe(answer, line),
        Answer::Quake3(answer) => quake3::describe(answer, line),
        Answer::Ut2004(answer) => ut2004::describe(answer, line),
        other => {
            line.insert(
                "note".to_owned(),
                json!(format!("no wire view for {other:?}")),
            );
        }
    }
}

/// One code point a byte: exact, whatever the character set.
fn text(bytes: &[u8]) -> Value {
    bytes
        .iter()
        .map(|&byte| char::from(byte))
        .collect::<String>()
        .into()
}
