//! A model of GameSpy's server code: how it cuts a reply into datagrams, and which parts it
//! repeats.
//!
//! Written after the QR2 SDK (qr2.c) and confirmed by captures:
//!
//! - A datagram has at most 1,400 bytes. A text that does not fit is cut, and its last byte becomes
//!   NUL.
//! - An item that filled the datagram, even exactly, is repeated in the next one.
//! - A section does not begin in the last 100 bytes.
//! - There are at most eight datagrams.

/// Longest datagram.
pub const MAX_DATAGRAM: usize = 1400;
const HEAD: &[u8] = b"\0\x10\x20\x30\x40splitnum\0";
/// A section with fewer bytes left begins a new datagram.
const MIN_ROOM: usize = 100;
const MAX_DATAGRAMS: usize = 8;

/// The contents of a server's reply.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Content {
    pub pairs: Vec<(Vec<u8>, Vec<u8>)>,
    pub players: Columns,
    pub teams: Columns,
}

/// The names of fields, and rows with a value for each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Columns {
    pub fields: Vec<Vec<u8>>,
    pub rows: Vec<Vec<Vec<u8>>>,
}

/// The datagrams. If there are more than the sender sends, the last one is missing.
pub fn send(content: &Content) -> Vec<Vec<u8>> {
    let mut sender = Sender {
        sent: Vec::new(),
        now: Vec::new(),
    };
    sender.open();
    sender.now.push(0);
    for (key, value) in &content.pairs {
        while !(sender.put(key) && sender.put(value)) {
            sender.next(&[0]);
        }
    }
    sender.end();
    sender.table(1, &content.players);
    sender.table(2, &content.teams);
    sender.finish()
}

struct Sender {
    sent: Vec<Vec<u8>>,
    now: Vec<u8>,
}

impl Sender {
    fn open(&mut self) {
        self.now = HEAD.to_vec();
        self.now.push(self.sent.len() as u8);
    }

    fn next(&mut self, begin: &[u8]) {
        self.sent.push(std::mem::take(&mut self.now));
        self.open();
        self.now.extend_from_slice(begin);
    }

    fn room(&self) -> usize {
        MAX_DATAGRAM - self.now.len()
    }

    /// Writes a text; `false` if it filled the datagram.
    fn put(&mut self, text: &[u8]) -> bool {
        let room = self.room();
        if room == 0 {
            return false;
        }
        self.now
            .extend_from_slice(&text[..text.len().min(room - 1)]);
        self.now.push(0);
        self.room() > 0
    }

    /// Writes a NUL if there is room for it.
    fn end(&mut self) {
        if self.room() > 0 {
            self.now.push(0);
        }
    }

    fn table(&mut self, section: u8, columns: &Columns) {
        if self.room() < MIN_ROOM {
            self.next(&[]);
        }
        self.now.push(section);
        for (index, field) in columns.fields.iter().enumerate() {
            self.header(section, field, 0, false);
            for (row, values) in columns.rows.iter().enumerate() {
                while !self.put(&values[index]) {
                    self.header(section, field, row as u8, true);
                }
            }
            self.end();
        }
        self.end();
    }

    /// Writes a field name and its first row, in a new datagram if requested or necessary.
    fn header(&mut self, section: u8, field: &[u8], row: u8, mut anew: bool) {
        loop {
            if anew {
                self.next(&[section]);
            }
            if self.put(field) {
                self.now.push(row);
                if self.room() > 0 {
                    return;
                }
            }
            anew = true;
        }
    }

    fn finish(mut self) -> Vec<Vec<u8>> {
        self.now[14] |= 0x80;
        self.sent.push(self.now);
        self.sent.truncate(MAX_DATAGRAMS);
        self.sent
    }
}
