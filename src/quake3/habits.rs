//! Habits of servers towards their clients: the form of `connect`, the words of refusals, the
//! answers to `rcon`.

use crate::text::number;

/// Length of Daemon's challenges, which are hexadecimal (DaemonEngine/Daemon,
/// src/engine/server/sv_client.cpp).
const HEX_CHALLENGE: usize = 16;

/// The known meanings of a refusal. Servers of other games and languages use other words.
///
/// ```
/// use queryport::quake3::{RefusalReason, Refusal};
///
/// match Refusal::new(&b"Server is full.\n"[..]).reason() {
///     RefusalReason::ServerFull => println!("try again later"),
///     other => panic!("{other:?}"),
/// }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RefusalReason {
    /// No player slot is free.
    ServerFull,
    /// No player slot is free, and the server has put the client into a queue: ask again.
    Queued,
    /// Not final: the server checks the client, or limits how often it connects. Ask again after
    /// some seconds.
    TryAgain,
    /// The `protocol` of the userinfo is not the server's.
    WrongProtocol,
    /// The server is one of another game (ioquake3's answer to `getchallenge`).
    WrongGame,
    /// The `challenge` of the userinfo was not issued to this address, or is too old.
    BadChallenge,
    /// A `password` is needed, or the one given is wrong.
    Password,
    /// A CD key is needed, or the one given is wrong or in use.
    CdKey,
    /// The address is banned.
    Banned,
    /// The round-trip time is out of the range that the server takes.
    Ping,
    /// Other words.
    Other,
}

/// Words of a refusal, and their meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Phrase {
    /// The words in lower case.
    pub(crate) words: &'static str,
    /// Whether the words may be anywhere in the text, not only at its beginning.
    pub(crate) is_anywhere: bool,
    pub(crate) reason: RefusalReason,
}

impl Phrase {
    /// Words at the beginning of a refusal.
    pub(crate) const fn begin(words: &'static str, reason: RefusalReason) -> Self {
        Self {
            words,
            is_anywhere: false,
            reason,
        }
    }

    /// Words anywhere in a refusal.
    pub(crate) const fn within(words: &'static str, reason: RefusalReason) -> Self {
        Self {
            words,
            is_anywhere: true,
            reason,
        }
    }

    /// Whether a text in lower case has the words.
    pub(crate) fn fits(&self, text: &str) -> bool {
        if self.is_anywhere {
            text.contains(self.words)
        } else {
            text.starts_with(self.words)
        }
    }
}

/// The number of a refusal in lines, and its meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RefusalKind {
    /// The second line of the refusal.
    pub(crate) number: &'static str,
    pub(crate) reason: RefusalReason,
}

/// How an engine answers console commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RconRule {
    /// The server's whole line when it refuses a password, in lower case.
    pub(crate) wrong_password: &'static [&'static str],
    /// The beginning of the server's line when it refuses a password, in lower case.
    pub(crate) wrong_password_begins: &'static [&'static str],
    /// The beginning of the line when the server has no password, in lower case.
    pub(crate) no_password: &'static [&'static str],
    /// The whole line of another refusal, in lower case.
    pub(crate) refused: &'static [&'static str],
    /// The beginning of a line before a refusal, in lower case.
    pub(crate) line_before: Option<&'static str>,
    /// The byte between the word and each message, if a datagram holds one message of the
    /// console.
    pub(crate) before_message: Option<u8>,
    /// Whether a wrong password has no answer.
    pub(crate) is_silent_on_wrong_password: bool,
    /// Whether the server sends no answer to a command that prints nothing.
    pub(crate) is_silent_without_output: bool,
}

/// The form of a `connect`.
///
/// This crate cannot send three forms, and [`Game::connect_form`](crate::games::Game::connect_form)
/// is `None` for their games:
/// - that of Modern Warfare 2 and later, which holds a signature of the player's account (IW4x,
///   IW6x, S1x, H1-Mod, iw7-mod, BOIII)
/// - that of Quake 2, QuakeWorld, HexenWorld and FTE, which has no compression and other arguments
///   (id-Software/Quake-2, client/cl_main.c)
/// - that of Plutonium's games, which is unknown
///
/// ```
/// use queryport::quake3::{ConnectForm, ConnectQuery};
///
/// let query = ConnectQuery::new(7).with_form(ConnectForm::Plain);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum ConnectForm {
    /// The form that the server's challenge implies: [`Self::InfoString`] or [`Self::Arguments`]
    /// after the word `challenge`, [`Self::Escaped`] for sixteen hexadecimal digits,
    /// [`Self::Compressed`] for other numbers.
    #[default]
    Detect,
    /// The userinfo in quotes, in the coding of [`huffman`](crate::quake3::huffman): Quake III
    /// Arena and most of its family, Call of Duty (captured from OpenArena).
    Compressed,
    /// The userinfo in quotes, as it is: Elite Force (recorded from Lilium Voyager), Call of Duty 2
    /// and 4 (voron00/CoD2rev_Server, `sv_main_mp.cpp`; callofduty4x/CoD4x_Server, src/sv_main.c).
    Plain,
    /// [`Self::Compressed`], with each `\` of the userinfo doubled: Unvanquished
    /// (DaemonEngine/Daemon, src/engine/client/cl_main.cpp; recorded from Daemon).
    Escaped,
    /// [`Self::Compressed`] after byte 0x02, which `getchallenge` has too: Medal of Honor
    /// (openmoh/openmohaa, code/qcommon/net_chan.c). Servers of Breakthrough demand the pair
    /// `clientType`, `Breakthrough`.
    DirectionByte,
    /// The infostring at once after the word: DarkPlaces (xonotic/darkplaces, netconn.c; captured
    /// from Nexuiz).
    InfoString,
    /// Protocol number, port, challenge, userinfo in quotes, and a number: Warsow, Warfork
    /// (Warsow/qfusion, server/sv_main.cpp; recorded from Warsow's server).
    Arguments,
}

impl ConnectForm {
    /// The form for a server that sent this challenge.
    pub(super) fn of_challenge(challenge: &[u8], dark_places: bool) -> Self {
        let is_number = number::integer(challenge).is_some();
        let is_hex =
            challenge.len() == HEX_CHALLENGE && challenge.iter().all(u8::is_ascii_hexdigit);
        if dark_places {
            return if is_number {
                Self::Arguments
            } else {
                Self::InfoString
            };
        }
        if is_hex {
            Self::Escaped
        } else {
            Self::Compressed
        }
    }

    /// The default protocol number.
    pub(super) const fn default_protocol(self) -> u32 {
        match self {
            // Warsow 2 (Warsow/qfusion, gameshared/q_comref.h).
            Self::Arguments => 22,
            _ => 68,
        }
    }
}
