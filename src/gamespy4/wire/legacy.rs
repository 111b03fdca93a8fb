//! The reply of one datagram, to a client that does not say that it understands several.
//!
//! After the head, for each list that is asked for (QR2 SDK, qr2.c, `qr_build_partial_query_reply`):
//!
//! ```text
//! server   FF   key NUL value NUL …, NUL             ids   value NUL …
//! players  FF   count, field NUL …, NUL, values      ids   count, values       count: two bytes, big-endian; values row by row
//! teams         the same
//! ```

use super::request::{DATA, KeyList, Keys};
use super::response::{HEAD, MAX_DATAGRAM, put_head};
use super::sections::{Content, Field, Portion};
use crate::reply::Template;

/// The keys that have an id in every game (QR2 SDK, qr2regkeys.c): the id is the position. Games define others from 50 up.
const NAMES: [&str; 33] = [
    "",
    "hostname",
    "gamename",
    "gamever",
    "hostport",
    "mapname",
    "gametype",
    "gamevariant",
    "numplayers",
    "numteams",
    "maxplayers",
    "gamemode",
    "teamplay",
    "fraglimit",
    "teamfraglimit",
    "timeelapsed",
    "timelimit",
    "roundtime",
    "roundelapsed",
    "password",
    "groupid",
    "player_",
    "score_",
    "skill_",
    "ping_",
    "team_",
    "deaths_",
    "pid_",
    "team_t",
    "score_t",
    "nn_groupid",
    "country",
    "region",
];

impl Content<'_> {
    /// Writes what these lists ask for. What does not fit into one datagram is left out: rules first, then the end of the
    /// last list, and the counts of rows tell. An id that is not known has an empty value.
    pub(crate) fn encode_legacy(&self, keys: &Keys<'_>, max_bytes: usize, template: &mut Template) {
        put_head(DATA, template);
        let start = template.bytes.len();
        let room = max_bytes.min(MAX_DATAGRAM).saturating_sub(HEAD);
        let mut tables = Vec::new();
        table(&self.players, keys.players, room, &mut tables);
        table(&self.teams, keys.teams, room, &mut tables);
        let whole = self.whole();
        let mut portion = Portion { rule_bytes: 0, ..whole };
        match keys.server {
            KeyList::None => {}
            KeyList::All => {
                let required = self.pairs(portion).fold(1_usize, |sum, (key, value)| {
                    sum.saturating_add(key.len()).saturating_add(value.len()).saturating_add(2)
                });
                let left = room.saturating_sub(required).saturating_sub(tables.len());
                portion.rule_bytes = whole.rule_bytes.min(left);
                for text in self.pairs(portion).flat_map(|(key, value)| [key, value]) {
                    template.bytes.extend_from_slice(text);
                    template.bytes.push(0);
                }
                template.bytes.push(0);
            }
            KeyList::Ids(ids) => {
                let values = NAMES.map(|name| self.value(name));
                for &id in ids {
                    let value = values.get(usize::from(id)).copied().flatten();
                    template.bytes.extend_from_slice(value.unwrap_or_default());
                    template.bytes.push(0);
                }
            }
        }
        template.bytes.extend_from_slice(&tables);
        let length = template.bytes.len().saturating_sub(start);
        if length > room {
            // After a whole text, so that no reader takes a part of one for all of it.
            let written = template.bytes.get(start..start.saturating_add(room)).unwrap_or_default();
            let end = memchr::memrchr(0, written).map_or(0, |last| last.saturating_add(1));
            template.bytes.truncate(start.saturating_add(end));
        } else if keys.server == KeyList::All && (self.cut || portion != whole) {
            // Lacks its end, as a reply of several datagrams does that lacks something.
            template.bytes.pop();
        }
    }

    fn value(&self, name: &str) -> Option<&[u8]> {
        let pair = self.pairs(self.whole()).find(|(key, _)| **key == *name.as_bytes());
        pair.map(|(_, value)| &**value)
    }
}

/// Appends a table, up to a value behind `room`.
fn table(fields: &[Field], list: KeyList<'_>, room: usize, out: &mut Vec<u8>) {
    let rows = fields.first().map_or(0, Field::len);
    let columns: Vec<Option<&Field>> = match list {
        KeyList::None => return,
        KeyList::All => fields.iter().map(Some).collect(),
        KeyList::Ids(ids) => {
            let name = |id: &u8| NAMES.get(usize::from(*id));
            ids.iter().map(|id| fields.iter().find(|field| name(id) == Some(&field.name))).collect()
        }
    };
    out.extend_from_slice(&u16::try_from(rows).unwrap_or(u16::MAX).to_be_bytes());
    if list == KeyList::All {
        for field in fields {
            out.extend_from_slice(field.name.as_bytes());
            out.push(0);
        }
        out.push(0);
    }
    for row in 0..rows {
        for column in &columns {
            if out.len() > room {
                return;
            }
            out.extend_from_slice(column.and_then(|field| field.value(row)).unwrap_or(&[0]));
        }
    }
}
