//! The bounds of one answer, each with its default and the reason for it.

/// A length or a count in 32 bits. Whatever is counted has a bound far below `u32::MAX`.
pub(crate) fn to_u32(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// The maximum size of a list over TCP, in bytes: enough for about 60,000 servers with names,
/// 170,000 as text or 700,000 as six bytes each.
pub(crate) const MAX_LIST_BYTES: u32 = 4 * 1024 * 1024;

/// The maximum number of servers that one search of the local network finds. Any machine there can
/// answer with any address as sender.
#[cfg(all(feature = "games", feature = "tokio"))]
pub(crate) const MAX_LAN_SERVERS: usize = 4096;
/// The maximum number of such servers at one address.
#[cfg(all(feature = "games", feature = "tokio"))]
pub(crate) const MAX_LAN_SERVERS_PER_HOST: usize = 128;

/// Bounds on one answer: key/value pairs, players, datagrams, bytes, listed servers.
///
/// They bound the memory and time that a server can make a client spend. An answer beyond a bound
/// fails with [`ErrorKind::Limit`](crate::ErrorKind::Limit), or is cut and marked incomplete. The
/// defaults exceed every captured answer. Setters clamp to the documented ranges.
///
/// ```
/// use queryport::Limits;
///
/// let limits = Limits::default().with_max_players(1);
/// assert_eq!(limits, Limits::default().with_max_players(0), "clamped");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Limits {
    rules: u16,
    players: u16,
    fragments: u16,
    answer_bytes: u32,
    servers: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            rules: 4096,
            players: 1024,
            fragments: 256,
            answer_bytes: 256 * 1024,
            servers: 65_536,
        }
    }
}

impl Limits {
    /// The maximum number of key/value pairs in one answer.
    pub const fn max_rules(&self) -> usize {
        self.rules as usize
    }

    /// The maximum number of players, and of teams, in one answer.
    pub const fn max_players(&self) -> usize {
        self.players as usize
    }

    /// The maximum number of datagrams of one answer.
    pub const fn max_fragments(&self) -> usize {
        self.fragments as usize
    }

    /// The maximum size of one answer, in bytes.
    pub const fn max_answer_bytes(&self) -> usize {
        self.answer_bytes as usize
    }

    /// The maximum number of servers in one list from a master.
    pub const fn max_servers(&self) -> usize {
        self.servers as usize
    }

    setters! {
        /// Sets the maximum number of key/value pairs in one answer: 1–16,384, default 4,096 (the
        /// largest captured answer has about 150).
        with_max_rules(rules: u16) rules = rules.clamp(1, 16_384);

        /// Sets the maximum number of players, and of teams, in one answer: 1–16,384, default 1,024
        /// (no known game has more than 256 players).
        with_max_players(players: u16) players = players.clamp(1, 16_384);

        /// Sets the maximum number of datagrams of one answer: 1–1,024, default 256 (Unreal 227
        /// sends one datagram for each player).
        with_max_fragments(fragments: u16) fragments = fragments.clamp(1, 1024);

        /// Sets the maximum number of bytes of one answer, over all its datagrams: 2 KiB–16 MiB,
        /// default 256 KiB. UT2004's info record is one datagram, and is accepted at any size.
        with_max_answer_bytes(bytes: u32) answer_bytes = bytes.clamp(2048, 16 * 1024 * 1024);

        /// Sets the maximum number of servers in one list from a master: 1–1,048,576, default
        /// 65,536 (the largest public list has about 15,000).
        with_max_servers(servers: u32) servers = servers.clamp(1, 1_048_576);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bound_has_its_range_and_default() {
        let all = |limits: Limits| {
            [
                limits.max_rules(),
                limits.max_players(),
                limits.max_fragments(),
                limits.max_answer_bytes(),
                limits.max_servers(),
            ]
        };
        let set_all = |small: u16, large: u32| {
            Limits::default()
                .with_max_rules(small)
                .with_max_players(small)
                .with_max_fragments(small)
                .with_max_answer_bytes(large)
                .with_max_servers(large)
        };
        assert_eq!(all(set_all(0, 0)), [1, 1, 1, 2048, 1]);
        assert_eq!(all(Limits::default()), [4096, 1024, 256, 262_144, 65_536]);
        assert_eq!(
            all(set_all(u16::MAX, u32::MAX)),
            [16_384, 16_384, 1024, 16_777_216, 1_048_576]
        );
    }
}
