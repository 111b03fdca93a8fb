//! The heartbeats of games, and the lists of their servers.

/// How servers announce themselves to a master.
#[derive(Debug, Clone, Copy)]
pub(super) struct Heartbeat {
    /// The word after `heartbeat`.
    pub(super) tag: &'static str,
    /// The game, as requests for its list name it. Without one, the infostring must name it.
    pub(super) game: Option<&'static str>,
    /// Other names of the game in infostrings.
    pub(super) info_names: &'static [&'static str],
    /// Whether an `infoResponse` of an empty server lacks the key `clients`.
    pub(super) lacks_clients_if_empty: bool,
    /// The list of the servers.
    pub(super) list: ListRule,
}

/// The form of a list of servers.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ListRule {
    /// Whether clients expect empty and full servers in the list, even if the request does not name
    /// them.
    pub(super) has_all: bool,
    /// Whether the addresses of a short list are in hexadecimal digits.
    pub(super) is_hexadecimal: bool,
}

const fn heartbeat(tag: &'static str, game: Option<&'static str>) -> Heartbeat {
    Heartbeat {
        tag,
        game,
        info_names: &[],
        lacks_clients_if_empty: false,
        list: ListRule {
            has_all: false,
            is_hexadecimal: false,
        },
    }
}

/// Every known heartbeat. The place is a tag's number, which challenges are bound to.
///
/// Sources: dpmaster, src/games.c; id-Software/RTCW-MP and id-Software/Enemy-Territory,
/// src/server/sv_main.c; Chomenor/ioef-cmod, code/server/sv_main.c, code/client/cl_main.c;
/// GrangerHub/tremulous, src/server/sv_main.cpp; DaemonEngine/Daemon,
/// src/engine/server/sv_main.cpp; voron00/CoD2rev_Server, src/server/sv_main_mp.cpp;
/// callofduty4x/CoD4x_Server, src/sv_main.c; the clients of the later games of Call of Duty,
/// src/client/component/party.cpp.
pub(super) static HEARTBEATS: [Heartbeat; 15] = [
    // Of a server that names its game in its `infoResponse`.
    heartbeat("DarkPlaces", None),
    heartbeat("QuakeArena-1", Some("Quake3Arena")),
    heartbeat("Wolfenstein-1", Some("wolfmp")),
    Heartbeat {
        list: ListRule {
            has_all: true,
            is_hexadecimal: false,
        },
        ..heartbeat("EnemyTerritory-1", Some("et"))
    },
    // Elite Force's are pairs, and its clients read only lists in hexadecimal digits.
    Heartbeat {
        list: ListRule {
            has_all: false,
            is_hexadecimal: true,
        },
        ..heartbeat("STEF1", Some("EliteForce"))
    },
    Heartbeat {
        info_names: &["base"],
        ..heartbeat("Tremulous", Some("Tremulous"))
    },
    Heartbeat {
        info_names: &["unv"],
        ..heartbeat("Unvanquished", Some("UNVANQUISHED"))
    },
    // No client names the games of the next two in a request for their list.
    Heartbeat {
        lacks_clients_if_empty: true,
        ..heartbeat("COD-2", Some("cod2"))
    },
    heartbeat("COD-4", Some("cod4mw")),
    heartbeat("IW4", Some("IW4")),
    heartbeat("IW6", Some("IW6")),
    heartbeat("S1", Some("S1")),
    heartbeat("IW7", Some("IW7")),
    heartbeat("H1", Some("H1")),
    heartbeat("T7", Some("T7")),
];

/// The words in place of a tag when a server ends.
pub(super) const SIGN_OFFS: [&str; 4] = [
    "WolfFlatline-1",
    "ETFlatline-1",
    "Unvanquished-dead",
    // Of Call of Duty.
    "flatline",
];
