//! Properties of the model as JSON.

use queryport::model::Detailed;
use queryport::{Outcome, ServerList, ServerStatus};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Statuses, outcomes and lists survive a round trip through JSON. Durations are kept to the
/// microsecond; plain texts lose their colours.
pub fn model(data: &[u8]) {
    if let Ok(status) = serde_json::from_slice::<ServerStatus>(data) {
        let exact: ServerStatus = again(&Detailed(&status));
        assert_eq!(exact.name, status.name);
        assert_eq!(exact.rules, status.rules);
        assert_eq!(exact.players, status.players);
        assert_eq!(exact, again(&Detailed(&exact)), "with raw texts");
        let plain: ServerStatus = again(&status);
        assert_eq!(plain.players.is_known(), status.players.is_known());
        assert_eq!(plain, again(&plain), "without raw texts");
    }
    if let Ok(outcome) = serde_json::from_slice::<Outcome<u8>>(data) {
        let read: Outcome<u8> = again(&outcome);
        assert_eq!(read, again(&read));
    }
    if let Ok(list) = serde_json::from_slice::<ServerList>(data) {
        let read: ServerList = again(&list);
        assert_eq!(read.servers, list.servers);
        assert_eq!(read, again(&read));
    }
}

/// Writes a value and reads it.
fn again<T: DeserializeOwned>(value: &impl Serialize) -> T {
    let json = serde_json::to_string(value).expect("the model can be written");
    serde_json::from_str(&json).unwrap_or_else(|error| panic!("{error}: {json}"))
}
