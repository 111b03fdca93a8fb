//! What a data request asks for.

use bytes::BufMut;
use nom::combinator::opt;
use nom::multi::length_data;
use nom::number::complete::u8 as any_byte;
use nom::{IResult, Parser};

use crate::error::EncodeError;

/// The bytes that say which data is wanted. What they mean is the server's affair: [`Self::keys`] reads them as
/// GameSpy's own code does, Minecraft only looks at how many there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Selection<'a>(&'a [u8]);

impl<'a> Selection<'a> {
    /// Every key of the server, the players and the teams, in several datagrams where needed.
    pub const ALL: Selection<'static> = Selection(&[0xFF, 0xFF, 0xFF, 0x01]);
    /// What Just Cause 2 Multiplayer wants to see.
    pub const JUST_CAUSE_2: Selection<'static> = Selection(&[0xFF, 0xFF, 0xFF, 0x02]);
    /// Nothing: Minecraft's short answer.
    pub const BASIC: Selection<'static> = Selection(&[]);
    /// Four bytes, whichever: Minecraft's long answer.
    pub const MINECRAFT_FULL: Selection<'static> = Selection(&[0; 4]);

    /// These bytes.
    #[must_use]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// The bytes as they stand on the wire.
    #[must_use]
    pub const fn bytes(self) -> &'a [u8] {
        self.0
    }

    /// Three lists of keys and the extension flags; `None` when the bytes end inside a list.
    #[must_use]
    pub fn keys(self) -> Option<Keys<'a>> {
        keys(self.0).ok().map(|(_, keys)| keys)
    }
}

/// A selection as GameSpy's own server code reads it.
///
/// ```
/// use queryport::gamespy4::{KeyList, Keys, Selection, key_name};
///
/// // What qstat sends: host name, game type, map, players, most players, port; no players, no teams.
/// let keys = Selection::new(&[6, 1, 6, 5, 8, 10, 4, 0, 0]).keys().unwrap();
/// let KeyList::Ids(ids) = keys.server else { panic!() };
/// assert_eq!(ids.iter().map(|&id| key_name(id)).collect::<Vec<_>>()[2], Some("mapname"));
/// assert_eq!((keys.players, keys.flags), (KeyList::None, None));
/// assert!(Selection::ALL.keys().unwrap().is_split());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(clippy::exhaustive_structs, reason = "the wire has these four parts")]
pub struct Keys<'a> {
    /// Of the server.
    pub server: KeyList<'a>,
    /// Of each player.
    pub players: KeyList<'a>,
    /// Of each team.
    pub teams: KeyList<'a>,
    /// Extensions the client understands; `None` when the byte is missing.
    pub flags: Option<u8>,
}

impl Keys<'_> {
    /// Whether the client understands replies of several datagrams (flag bit 0). The server then ignores the
    /// lists and sends everything.
    #[must_use]
    pub fn is_split(&self) -> bool {
        self.flags.is_some_and(|flags| flags & 1 != 0)
    }

    /// Appends the lists and flags.
    ///
    /// # Errors
    /// [`EncodeError::TooLong`] for more than 254 ids in a list, [`EncodeError::Empty`] for a list of none, which
    /// is [`KeyList::None`]. Nothing is written then.
    pub fn encode(&self, out: &mut impl BufMut) -> Result<(), EncodeError> {
        let lists = [self.server, self.players, self.teams];
        for list in lists {
            match list {
                KeyList::Ids([]) => return Err(EncodeError::Empty("key list")),
                KeyList::Ids(ids) if ids.len() > MAX_IDS => {
                    return Err(EncodeError::TooLong { field: "key list", limit: MAX_IDS });
                }
                _ => {}
            }
        }
        for list in lists {
            match list {
                KeyList::None => out.put_u8(0),
                KeyList::All => out.put_u8(0xFF),
                KeyList::Ids(ids) => {
                    out.put_u8(u8::try_from(ids.len()).unwrap_or(0xFE));
                    out.put_slice(ids);
                }
            }
        }
        if let Some(flags) = self.flags {
            out.put_u8(flags);
        }
        Ok(())
    }
}

/// Longest list of ids: 0xFF stands for all.
const MAX_IDS: usize = 0xFE;

/// One list of keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(clippy::exhaustive_enums, reason = "one byte on the wire says which of the three")]
pub enum KeyList<'a> {
    /// None (byte 0x00): the part is absent from the reply.
    None,
    /// All (byte 0xFF), by name.
    All,
    /// Those with these ids; the reply has the values only. See [`key_name`].
    Ids(&'a [u8]),
}

fn keys(input: &[u8]) -> IResult<&[u8], Keys<'_>> {
    let (rest, (server, players, teams, flags)) =
        (key_list, key_list, key_list, opt(any_byte)).parse(input)?;
    Ok((rest, Keys { server, players, teams, flags }))
}

fn key_list(input: &[u8]) -> IResult<&[u8], KeyList<'_>> {
    let (rest, count) = any_byte(input)?;
    match count {
        0x00 => Ok((rest, KeyList::None)),
        0xFF => Ok((rest, KeyList::All)),
        _ => length_data(any_byte).map(KeyList::Ids).parse(input),
    }
}

/// Names of the registered key ids, from 1 on. Games define their own from 50 on.
const NAMES: [&str; 32] = [
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

/// The name of a registered key id (1–32).
#[must_use]
pub fn key_name(id: u8) -> Option<&'static str> {
    NAMES.get(usize::from(id).checked_sub(1)?).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_lists_are_read_and_written() {
        assert_eq!(Selection::new(&[0xFF, 0xFF]).keys(), None, "a list is missing");
        assert_eq!(Selection::new(&[3, 1, 2]).keys(), None, "a list is cut");
        let keys = Selection::MINECRAFT_FULL.keys().unwrap();
        assert_eq!((keys.server, keys.flags, keys.is_split()), (KeyList::None, Some(0), false));
        let keys = Keys {
            server: KeyList::Ids(&[1, 5]),
            players: KeyList::All,
            teams: KeyList::None,
            flags: Some(1),
        };
        let mut out = Vec::new();
        keys.encode(&mut out).unwrap();
        assert_eq!(out, [2, 1, 5, 0xFF, 0, 1]);
        assert_eq!(Selection::new(&out).keys(), Some(keys));
        let long = [1; 255];
        assert!(Keys { server: KeyList::Ids(&long), ..keys }.encode(&mut out).is_err());
        assert!(Keys { server: KeyList::Ids(&[]), ..keys }.encode(&mut out).is_err());
        assert_eq!(
            (key_name(0), key_name(1), key_name(32), key_name(33)),
            (None, Some("hostname"), Some("region"), None)
        );
    }
}
