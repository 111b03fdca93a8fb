//! A list server of UT2004 and UT2003: frames, login, entries.
//!
//! Written after `openspy/openspy-core`, `code/utmaster/server`. Unlike OpenSpy, it accepts frames
//! in any pieces.

/// A listed server.
#[derive(Debug, Clone)]
pub struct Listed {
    pub address: [u8; 4],
    pub port: u16,
    pub query_port: u16,
    pub name: Vec<u8>,
    pub map: Vec<u8>,
    pub game_type: Vec<u8>,
    pub players: u8,
    pub max_players: u8,
    pub flags: u32,
    pub skill: Vec<u8>,
}

/// A client's connection.
#[derive(Debug)]
pub struct ListServer {
    servers: Vec<Listed>,
    received: Vec<u8>,
    step: u8,
    is_ut2004: bool,
    pub closed: bool,
}

pub const CHALLENGE: &[u8] = b"48151623";

impl ListServer {
    /// A connection to a server with this list, and the first bytes it sends.
    pub fn new(servers: Vec<Listed>) -> (Self, Vec<u8>) {
        let server = Self {
            servers,
            received: Vec::new(),
            step: 0,
            is_ut2004: false,
            closed: false,
        };
        (server, frame(&text(CHALLENGE)))
    }

    /// Handles received bytes. Returns the bytes to send.
    pub fn handle(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.received.extend_from_slice(bytes);
        let mut out = Vec::new();
        while !self.closed && self.received.len() >= 4 {
            let length = u32::from_le_bytes(self.received[..4].try_into().unwrap()) as usize;
            if self.received.len() < 4 + length {
                break;
            }
            let body: Vec<u8> = self.received.drain(..4 + length).skip(4).collect();
            out.extend(self.handle_frame(&body));
        }
        out
    }

    fn handle_frame(&mut self, body: &[u8]) -> Vec<u8> {
        let mut reader = Reader(body);
        self.step += 1;
        match self.step {
            1 => {
                let (hash, response, name) = (reader.text(), reader.text(), reader.text());
                if hash.len() != 32 || response.len() != 32 || !name.ends_with(b"CLIENT") {
                    self.closed = true;
                    return frame(&text(b"DENIED"));
                }
                self.is_ut2004 = u32::from_le_bytes(reader.bytes(4).try_into().unwrap()) >= 3000;
                assert_eq!(self.is_ut2004, name == b"UT2K4CLIENT");
                let (_system, language) = (reader.bytes(1), reader.text());
                assert_eq!(language, b"int");
                reader.bytes(if self.is_ut2004 { 13 } else { 0 });
                assert!(reader.0.is_empty());
                self.step += u8::from(!self.is_ut2004);
                let approved = text(b"APPROVED");
                frame(&if self.is_ut2004 {
                    [&approved[..], &[3, 0, 0, 0]].concat()
                } else {
                    approved
                })
            }
            2 => {
                assert_eq!(reader.text().len(), 32);
                frame(&text(b"VERIFIED"))
            }
            _ => {
                self.closed = true;
                self.list(reader)
            }
        }
    }

    fn list(&self, mut reader: Reader<'_>) -> Vec<u8> {
        assert_eq!(reader.bytes(2), [0, 0], "a list without conditions");
        assert!(reader.0.is_empty());
        let count = [&(self.servers.len() as u32).to_le_bytes()[..], &[1]].concat();
        let entries = self.servers.iter();
        let entries = entries.map(|server| frame(&server.entry(self.is_ut2004)));
        std::iter::once(frame(&count))
            .chain(entries)
            .collect::<Vec<_>>()
            .concat()
    }
}

impl Listed {
    /// A server with this name at 192.0.2.`number`.
    pub fn new(number: u8, name: &[u8]) -> Self {
        Self {
            address: [192, 0, 2, number],
            port: 7777,
            query_port: 7778,
            name: name.to_vec(),
            map: b"DM-Rankin".to_vec(),
            game_type: b"xDeathMatch".to_vec(),
            players: 3,
            max_players: 16,
            flags: 0x24,
            skill: b"2".to_vec(),
        }
    }

    /// The body of the frame for this server.
    pub fn entry(&self, is_ut2004: bool) -> Vec<u8> {
        let mut out = self.address.to_vec();
        out.extend(self.port.to_le_bytes());
        out.extend(self.query_port.to_le_bytes());
        [&self.name, &self.map, &self.game_type]
            .iter()
            .for_each(|string| out.extend(text(string)));
        out.extend([self.players, self.max_players]);
        match is_ut2004 {
            true => out.extend([&self.flags.to_le_bytes()[..], &text(&self.skill)].concat()),
            false => out.push(self.flags as u8),
        }
        out
    }
}

/// A frame around a body.
pub fn frame(body: &[u8]) -> Vec<u8> {
    [&(body.len() as u32).to_le_bytes()[..], body].concat()
}

/// A string of fewer than 8,191 units.
pub fn text(string: &[u8]) -> Vec<u8> {
    let length = if string.is_empty() {
        0
    } else {
        string.len() + 1
    };
    let mut out = match length {
        0..64 => vec![length as u8],
        _ => vec![0x40 | (length & 0x3F) as u8, (length >> 6) as u8],
    };
    assert!(length < 8192);
    out.extend(string);
    out.extend((length > 0).then_some(0));
    out
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn bytes(&mut self, count: usize) -> &'a [u8] {
        let (bytes, rest) = self.0.split_at(count);
        self.0 = rest;
        bytes
    }

    fn text(&mut self) -> &'a [u8] {
        let first = usize::from(self.bytes(1)[0]);
        assert_eq!(first & 0x80, 0, "8-bit units");
        let length = first & 0x3F
            | if first & 0x40 == 0 {
                0
            } else {
                usize::from(self.bytes(1)[0]) << 6
            };
        let units = self.bytes(length);
        units.strip_suffix(b"\0").unwrap_or(units)
    }
}
