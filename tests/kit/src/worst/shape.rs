//! Inputs of any length, described by their repeated element.

/// A datagram of a shape: its head, as many units as fit, its tail.
///
/// Texts contain numbers in braces:
///
/// - `{n}` counts units, `{m}` counts them down from 60,000, `{s}` is scattered; all in decimal
/// - `{N}`, `{M}`, `{S}`: the same as four bytes, little-endian
/// - `{B}` counts units in four bytes, big-endian; `{b}` in one byte
/// - `{d}` counts datagrams from 1, `{e}` down from 1,024
/// - `{D}` and `{E}`: one byte, which counts datagrams up from 0 and down from 255
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    pub head: Vec<u8>,
    pub unit: Vec<u8>,
    pub tail: Vec<u8>,
    /// The approximate length of the datagram.
    pub length: usize,
}

/// A repeated pattern of datagrams, or of pieces of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape {
    /// The datagrams, taken in turn.
    pub templates: Vec<Template>,
    /// How many arrive before the next timer; 0 for all.
    pub every: usize,
    /// How many addresses send in turn.
    pub sources: usize,
}

/// The datagrams or pieces to deliver.
#[derive(Debug, Clone)]
pub struct Input {
    pub datagrams: Vec<Vec<u8>>,
    /// How many of them arrive before the first timer; 0 for as many as before each.
    pub first: usize,
    pub every: usize,
    pub sources: usize,
}

/// The length of the IPv4 and UDP headers, which makes an empty datagram cost something.
pub const HEADERS: usize = 28;

/// The maximum size of a datagram over IPv4, in bytes.
pub const LARGEST: usize = 65_507;

pub fn template(head: &[u8], unit: &[u8], tail: &[u8], length: usize) -> Template {
    Template {
        head: head.to_vec(),
        unit: unit.to_vec(),
        tail: tail.to_vec(),
        length,
    }
}

impl Shape {
    pub fn new(templates: impl Into<Vec<Template>>, every: usize, sources: usize) -> Self {
        Self {
            templates: templates.into(),
            every,
            sources,
        }
    }

    /// An input of about this length, headers included.
    pub fn input(&self, size: usize) -> Input {
        let (mut datagrams, mut total, mut unit) = (Vec::new(), 0, 0);
        while total < size && !self.templates.is_empty() {
            let number = datagrams.len();
            let template = &self.templates[number % self.templates.len()];
            let room = (size - total)
                .saturating_sub(HEADERS)
                .min(template.length)
                .min(LARGEST);
            let (mut datagram, mut tail) = (Vec::new(), Vec::new());
            put(&template.head, unit, number, &mut datagram);
            put(&template.tail, unit, number, &mut tail);
            loop {
                let before = datagram.len();
                put(&template.unit, unit, number, &mut datagram);
                if datagram.len() == before || datagram.len() + tail.len() > room {
                    datagram.truncate(before);
                    break;
                }
                unit += 1;
            }
            datagram.append(&mut tail);
            datagram.truncate(LARGEST);
            total += datagram.len() + HEADERS;
            datagrams.push(datagram);
        }
        Input {
            datagrams,
            first: 0,
            every: self.every,
            sources: self.sources.max(1),
        }
    }
}

/// Appends a text with its numbers filled in.
fn put(text: &[u8], unit: u32, datagram: usize, out: &mut Vec<u8>) {
    let mut rest = text;
    while let [first, tail @ ..] = rest {
        rest = match rest {
            [b'{', name, b'}', after @ ..] if number(*name, unit, datagram as u32, out) => after,
            _ => {
                out.push(*first);
                tail
            }
        };
    }
}

/// Appends a number; `false` if the name is unknown.
fn number(name: u8, unit: u32, datagram: u32, out: &mut Vec<u8>) -> bool {
    let scattered = unit.wrapping_mul(0x9E37_79B1) ^ 0x5bd1;
    let decimal = match name {
        b'n' => unit,
        b'm' => 60_000_u32.wrapping_sub(unit),
        b's' => scattered >> 8,
        b'd' => datagram + 1,
        b'e' => 1024_u32.wrapping_sub(datagram),
        _ => {
            match name {
                b'N' => out.extend(unit.to_le_bytes()),
                b'M' => out.extend((!unit).to_le_bytes()),
                b'S' => out.extend(scattered.to_le_bytes()),
                b'B' => out.extend(unit.to_be_bytes()),
                b'b' => out.push(unit as u8),
                b'D' => out.push(datagram as u8),
                b'E' => out.push(!datagram as u8),
                _ => return false,
            }
            return true;
        }
    };
    out.extend(decimal.to_string().bytes());
    true
}
