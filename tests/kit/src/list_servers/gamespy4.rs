//! A GameSpy v2 list server: the request, the cipher, the list, and messages after it.
//!
//! Written after GameSpy's SDK (`nitrocaster/GameSpy`, `sb_serverlist.c`, `sb_crypt.c`) and
//! `openspy/openspy-core`, `V2Peer.cpp`.

/// A request as received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    pub version: u32,
    pub game: Vec<u8>,
    pub login: Vec<u8>,
    pub challenge: [u8; 8],
    pub filter: Vec<u8>,
    pub fields: Vec<u8>,
    pub options: u32,
    pub maximum: Option<u32>,
}

impl Request {
    pub fn parse(bytes: &[u8]) -> Self {
        let (length, rest) = bytes.split_at(2);
        assert_eq!(
            u16::from_be_bytes(length.try_into().unwrap()) as usize,
            bytes.len()
        );
        assert_eq!(rest[..3], [0, 1, 3], "a list, and the versions");
        let version = u32::from_le_bytes(rest[3..7].try_into().unwrap());
        let mut rest = &rest[7..];
        let text = |rest: &mut &[u8]| {
            let end = rest.iter().position(|&byte| byte == 0).unwrap();
            let text = rest[..end].to_vec();
            *rest = &rest[end + 1..];
            text
        };
        let (game, login) = (text(&mut rest), text(&mut rest));
        let challenge = rest[..8].try_into().unwrap();
        rest = &rest[8..];
        let (filter, fields) = (text(&mut rest), text(&mut rest));
        let options = u32::from_be_bytes(rest[..4].try_into().unwrap());
        rest = &rest[4..];
        let maximum =
            (options & 128 != 0).then(|| u32::from_le_bytes(rest[..4].try_into().unwrap()));
        assert_eq!(rest.len(), if maximum.is_some() { 4 } else { 0 });
        Self {
            version,
            game,
            login,
            challenge,
            filter,
            fields,
            options,
            maximum,
        }
    }

    /// The reply: two unenciphered blocks, then `plain` enciphered.
    pub fn reply(
        &self,
        key: &[u8],
        random: &[u8],
        server_challenge: &[u8],
        plain: &[u8],
    ) -> Vec<u8> {
        let mut k = self.challenge.map(usize::from);
        for (i, byte) in server_challenge.iter().enumerate() {
            let target = i * usize::from(key[i % key.len()]) % 8;
            k[target] ^= k[i % 8] ^ usize::from(*byte);
        }
        let mut out = vec![random.len() as u8 ^ 0xEC];
        out.extend(random);
        out.push(server_challenge.len() as u8 ^ 0xEA);
        out.extend(server_challenge);
        out.extend(encipher(&k, plain));
        out
    }
}

/// The cipher, with `usize` numbers and every remainder written out.
fn encipher(key: &[usize; 8], plain: &[u8]) -> Vec<u8> {
    let mut c: Vec<usize> = (0..256).collect();
    let (mut r, mut p) = (0, 0);
    for i in (1..256).rev() {
        let mask = (i + 1_usize).next_power_of_two() - 1;
        let mut tries = 0;
        let u = loop {
            r = (c[r] + key[p]) % 256;
            p += 1;
            if p == 8 {
                p = 0;
                r = (r + 8) % 256;
            }
            tries += 1;
            let u = r & mask;
            let u = if tries >= 12 { u % i } else { u };
            if u <= i {
                break u;
            }
        };
        c.swap(i, u);
    }
    let (mut a, mut b, mut v, mut x, mut y) = (c[1], c[3], c[5], c[7], c[r]);
    let mut out = Vec::new();
    for &byte in plain {
        b = (b + c[a]) % 256;
        a = (a + 1) % 256;
        let t = c[y];
        c[y] = c[b];
        c[b] = c[x];
        c[x] = c[a];
        c[a] = t;
        v = (v + c[t]) % 256;
        let stream = c[(c[v] + c[a]) % 256] ^ c[c[(c[x] + c[y] + c[b]) % 256]];
        x = usize::from(byte);
        y = x ^ stream;
        out.push(y as u8);
    }
    out
}

/// A list before enciphering.
#[derive(Debug, Clone, Default)]
pub struct Plain(pub Vec<u8>);

impl Plain {
    /// Adds the client's address, the default port, the fields and the popular values.
    pub fn head(client: [u8; 4], port: u16, fields: &[(u8, &str)], popular: &[&str]) -> Self {
        let mut out = client.to_vec();
        out.extend(port.to_be_bytes());
        out.push(fields.len() as u8);
        for (kind, name) in fields {
            out.push(*kind);
            out.extend(name.bytes().chain([0]));
        }
        out.push(popular.len() as u8);
        popular
            .iter()
            .for_each(|value| out.extend(value.bytes().chain([0])));
        Self(out)
    }

    /// Adds a server: its flags, its address, and the parts that follow.
    pub fn server(mut self, flags: u8, address: [u8; 4], rest: &[&[u8]]) -> Self {
        self.0.push(flags);
        self.0.extend(address);
        self.0.extend(rest.concat());
        self
    }

    pub fn end(mut self) -> Vec<u8> {
        self.0.extend([0, 255, 255, 255, 255]);
        self.0
    }
}
