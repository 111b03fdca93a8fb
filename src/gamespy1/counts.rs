//! The numbers of players and of bots.

use super::engines::EVERYONE_IF_BOTS;
use crate::limits::to_u32;
use crate::meaning::{Field, Reader};
use crate::model::{Player, listed_bots};

/// The numbers of players and of bots.
pub(super) struct PlayerCounts {
    /// Everyone, bots included.
    pub(super) players: Option<u32>,
    pub(super) bots: Option<u32>,
}

impl PlayerCounts {
    /// The counts in a reply with these keys and rows of players.
    ///
    /// Bots are known if a key counts them, or if every row is marked as a bot or a person, or,
    /// with `counts_unlisted_bots`, if they are counted and not listed.
    pub(super) fn read(reader: &Reader<'_>, listed: &[Player], counts_unlisted_bots: bool) -> Self {
        let counted: Option<u32> = reader.number(Field::Players);
        let everyone: Option<u32> = reader.number(EVERYONE_IF_BOTS);
        if let (Some(people), Some(everyone)) = (counted, everyone) {
            let bots = everyone.saturating_sub(people);
            return Self {
                players: people.checked_add(bots),
                bots: Some(bots),
            };
        }
        let rows = to_u32(listed.len());
        let has_all_rows = counted.is_none_or(|counted| rows >= counted);
        let marked = listed_bots(listed).filter(|_| has_all_rows);
        let bot_rows = marked.unwrap_or_default();
        let people_rows = rows.saturating_sub(bot_rows);
        // UT99 counts people only, but can list bots as well.
        let counts_people = counted == Some(people_rows);
        Self {
            players: if counts_people { Some(rows) } else { counted },
            bots: reader.bot_count(None).or(marked).or_else(|| {
                let counted = counted.filter(|_| counts_unlisted_bots)?;
                unlisted_bots(reader, counted, rows)
            }),
        }
    }
}

/// The players that are counted and not listed. A count at its upper limit can leave out bots, and
/// one without rows has none.
fn unlisted_bots(reader: &Reader<'_>, counted: u32, rows: u32) -> Option<u32> {
    let max_players: u32 = reader.number(Field::MaxPlayers)?;
    if rows == 0 || counted.saturating_add(1) >= max_players {
        return None;
    }
    counted.checked_sub(rows)
}
