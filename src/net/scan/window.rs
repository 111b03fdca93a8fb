//! How wide the window may be: what the receive buffer holds is safe, more is probed with care.

/// What a full datagram takes in the kernel's receive buffer. Linux charges about 1,400 bytes of payload as 2,304, and
/// gives back what was read only when it comes to a quarter of the buffer.
pub(super) const DATAGRAM: usize = 2304 * 4 / 3;
/// Datagrams of one query that may be on their way at once, before the answers tell: most servers send fewer.
pub(super) const DATAGRAMS_A_QUERY: usize = 12;
/// Growth by doubling ends here at the latest: a window wider than the buffer is probed for.
const CAREFUL: usize = 512;
/// Never narrower.
const LEAST: usize = 16;

/// As wide as the receive buffer holds all answers at once, by what answers turn out to be. From there it grows by one
/// with each datagram until the kernel drops one (doubling a round trip), then by one a round trip; it halves when the
/// kernel drops, once a round trip. A backlog in the receive buffer holds growth back: then we are the slow ones, and a
/// wider window would only fill the buffer.
#[derive(Debug)]
pub(super) struct Window {
    size: usize,
    most: usize,
    /// Datagrams that the receive buffer holds.
    room: usize,
    /// Datagrams of one query that may be on their way at once.
    each: usize,
    /// Where growth by doubling ends.
    threshold: usize,
    /// Datagrams since the window last grew.
    received: usize,
    /// Datagrams until the next drop may shrink it again.
    drops_ignored_for: usize,
    drops: u32,
    /// Whether the kernel counts_drops of drops: what cannot shrink must not grow.
    counts_drops: bool,
}

impl Window {
    /// `receive_buffer`: bytes the kernel holds. `most`: what was asked for.
    pub(super) fn new(receive_buffer: usize, most: usize, counts_drops: bool) -> Self {
        let room = receive_buffer.checked_div(DATAGRAM).unwrap_or_default();
        let each = DATAGRAMS_A_QUERY;
        let size = room.checked_div(each).unwrap_or_default().max(LEAST).min(most);
        let threshold = size.max(CAREFUL).min(most);
        Self { size, most, room, each, threshold, received: 0, drops_ignored_for: 0, drops: 0, counts_drops }
    }

    pub(super) const fn size(&self) -> usize {
        self.size
    }

    /// A request brings `each` datagrams by what the answers show: resizes to what is safe with that.
    pub(super) fn set_datagrams_per_request(&mut self, each: usize) {
        let each = each.max(1);
        let safe = self.room.checked_div(each).unwrap_or_default().max(LEAST).min(self.most);
        if each > self.each {
            self.size = self.size.min(safe);
        } else if self.drops == 0 {
            self.size = self.size.max(safe);
        }
        self.each = each;
    }

    /// `count` datagrams were received; `few`: so few that no backlog was waiting.
    pub(super) fn received(&mut self, count: usize, few: bool) {
        self.drops_ignored_for = self.drops_ignored_for.saturating_sub(count);
        if !self.counts_drops || self.size >= self.most || !few {
            return;
        }
        self.received = self.received.saturating_add(count);
        if self.size < self.threshold {
            self.size = self.size.saturating_add(self.received).min(self.threshold);
            self.received = 0;
        } else if self.received >= self.size {
            self.size = self.size.saturating_add(1);
            self.received = 0;
        }
    }

    /// The kernel's count of drops.
    pub(super) fn dropped(&mut self, drops: u32) {
        if drops != self.drops && self.drops_ignored_for == 0 {
            self.size = (self.size / 2).max(LEAST).min(self.most);
            self.threshold = self.size;
            (self.received, self.drops_ignored_for) = (0, self.size);
        }
        self.drops = drops;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_with_what_the_buffer_holds_and_doubles_until_a_drop() {
        let mut window = Window::new(425_984, 8192, true);
        assert_eq!(window.size(), 16, "138 datagrams");
        for expected in [32, 64, 128, 256] {
            window.received(window.size(), true);
            assert_eq!(window.size(), expected);
        }
        window.dropped(3);
        assert_eq!(window.size(), 128);
        window.dropped(9);
        assert_eq!(window.size(), 128, "once a round trip");
        window.received(128, true);
        assert_eq!(window.size(), 129, "then with care");
        window.dropped(9);
        assert_eq!(window.size(), 129, "no new ones");
        for drops in 10..60 {
            window.dropped(drops);
            window.received(10_000, true);
        }
        assert_eq!(window.size(), 16 + 1);
    }

    #[test]
    fn a_backlog_holds_growth_back() {
        let mut window = Window::new(425_984, 8192, true);
        for _ in 0..100 {
            window.received(64, false);
        }
        assert_eq!(window.size(), 16);
        window.received(5, true);
        assert_eq!(window.size(), 16 + 5);
    }

    #[test]
    fn without_a_drop_counter_it_stays_with_what_is_safe() {
        let mut window = Window::new(425_984, 8192, false);
        window.received(100_000, true);
        assert_eq!(window.size(), 16);
        window.set_datagrams_per_request(12);
        assert_eq!(window.size(), 16);
        window.set_datagrams_per_request(1);
        assert_eq!(window.size(), 138, "all of them fit, whatever happens");
        window.set_datagrams_per_request(3);
        assert_eq!(window.size(), 46, "the answers have become longer");
        assert_eq!(Window::new(0, 8192, false).size(), 16);
        assert_eq!(Window::new(1 << 24, 100, true).size(), 100);
    }
}
