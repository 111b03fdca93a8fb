//! What the server side needs of the model.

use std::borrow::Cow;

use super::status::ServerStatus;
use super::text::TextRef;
use crate::text::charset::Charset;
use crate::text::colour::Colours;

impl ServerStatus {
    /// Players on the server: the count, or else the number of listed players.
    pub(crate) fn online(&self) -> Option<u32> {
        let listed = || u32::try_from(self.players.known()?.len()).ok();
        self.player_count.or_else(listed)
    }

    /// The time limit in minutes; `None` if it has a part of a minute.
    pub(crate) fn limit_in_minutes(&self) -> Option<u32> {
        let limit = self.time_limit?;
        let is_whole = limit.subsec_nanos() == 0 && limit.as_secs().is_multiple_of(60);
        let minutes = u32::try_from(limit.as_secs() / 60).ok();
        minutes.filter(|_| is_whole)
    }
}

/// Whether a server is empty, full or neither: what masters filter by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Occupancy {
    Empty,
    Some,
    Full,
}

impl Occupancy {
    /// The occupancy of a server with this many players and slots.
    pub(crate) const fn new(players: u32, slots: u32) -> Self {
        match players {
            0 => Self::Empty,
            players if players >= slots => Self::Full,
            _ => Self::Some,
        }
    }
}

impl<'a> TextRef<'a> {
    /// The bytes in this character set. Only texts from or to UTF-16 are converted; other bytes
    /// stay as they are. The Unreal engine's colour codes are removed, because other protocols do
    /// not carry their control bytes.
    pub(crate) fn encoded(self, charset: Charset) -> Cow<'a, [u8]> {
        let style = self.style();
        if style.colours == Colours::UnrealEscape && self.raw().contains(&0x1B) {
            return Cow::Owned(charset.encode(&self.plain()));
        }
        let has_wide_side = [style.charset, charset].contains(&Charset::Utf16Le);
        if has_wide_side && style.charset != charset {
            return Cow::Owned(charset.encode(&self.decoded()));
        }
        Cow::Borrowed(self.raw())
    }
}

#[cfg(test)]
mod tests {
    use super::super::text::Style;
    use super::*;

    /// A status read from UT2004 and served in another protocol.
    #[test]
    fn colour_codes_of_the_unreal_engine_leave_no_letters_behind() {
        let style = Style::new(Charset::Latin1, Colours::UnrealEscape);
        let encoded = |raw| TextRef::new(raw, style).encoded(Charset::Utf8OrWindows1252);
        assert_eq!(
            &*encoded(b"\x1b\xff\x01\x01Red \x1b\x40\x80\x22x"),
            b"Red x"
        );
        assert!(matches!(encoded(b"Bj\xf6rn"), Cow::Borrowed(b"Bj\xf6rn")));
    }

    #[test]
    fn only_utf16_is_converted() {
        let narrow = TextRef::new(
            b"Gr\xfcn",
            Style::new(Charset::Utf8OrWindows1252, Colours::Caret),
        );
        assert!(matches!(
            narrow.encoded(Charset::Latin1),
            Cow::Borrowed(b"Gr\xfcn")
        ));
        let wide = TextRef::new(
            &[0x16, 0x04, b'x', 0],
            Style::new(Charset::Utf16Le, Colours::None),
        );
        assert_eq!(&*wide.encoded(Charset::Utf8OrWindows1252), "Жx".as_bytes());
        assert_eq!(&*wide.encoded(Charset::Windows1252), b"?x");
        assert_eq!(
            &*narrow.encoded(Charset::Utf16Le),
            [b'G', 0, b'r', 0, 0xFC, 0, b'n', 0]
        );
    }
}
