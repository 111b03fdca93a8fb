//! Datagrams as people have them at hand: dumps, hexadecimal and base64 text.

use bytes::Bytes;

/// The datagrams of a text; `None` if it has none of these forms.
///
/// - a dump by `xxd` or `hexdump -C`: offset 0 begins a datagram;
/// - hexadecimal digits, a datagram a line, also as `ff:ff`, `0xff 0xff` or `\xff\xff`; the lines
///   of `xxd -p` are joined;
/// - base64, a datagram a line; lines that were folded are joined.
///
/// Empty lines and lines that begin with `#` are skipped. The error is the number of the first line
/// that is not hexadecimal, if those before it are.
pub(crate) fn datagrams(text: &str) -> Result<Option<Vec<Bytes>>, usize> {
    let numbered = (1..).zip(text.lines().map(str::trim));
    let numbered: Vec<(usize, &str)> = numbered.filter(|(_, line)| !is_skipped(line)).collect();
    let lines: Vec<&str> = numbered.iter().map(|(_, line)| *line).collect();
    if lines.is_empty() {
        return Ok(None);
    }
    let found = from_dump(&lines).or_else(|| from_lines(&lines, &[60], hexadecimal));
    if found.is_some() {
        return Ok(found);
    }
    let is_wrong = |(_, line): &&(usize, &str)| hexadecimal(line).is_none();
    match numbered.iter().find(is_wrong) {
        Some((number, line)) if lines.first() != Some(line) => Err(*number),
        _ => Ok(from_lines(&lines, &[64, 76], base64)),
    }
}

fn is_skipped(line: &str) -> bool {
    line.is_empty() || line.starts_with('#')
}

/// A dump with an offset, bytes and their characters on each line.
fn from_dump(lines: &[&str]) -> Option<Vec<Bytes>> {
    let mut datagrams: Vec<Vec<u8>> = Vec::new();
    for line in lines {
        let (offset, bytes) = dump_line(line)?;
        if offset == 0 {
            datagrams.push(Vec::new());
        }
        let datagram = datagrams.last_mut()?;
        if datagram.len() != offset {
            return None;
        }
        datagram.extend(bytes);
    }
    Some(datagrams.into_iter().map(Bytes::from).collect())
}

fn dump_line(line: &str) -> Option<(usize, Vec<u8>)> {
    let end = line
        .find(|c: char| !c.is_ascii_hexdigit())
        .unwrap_or(line.len());
    let (offset, rest) = line.split_at_checked(end)?;
    if offset.len() < 7 {
        return None;
    }
    let offset = usize::from_str_radix(offset, 16).ok()?;
    if rest.is_empty() {
        return Some((offset, Vec::new()));
    }
    let bytes = match rest.strip_prefix(": ") {
        // Two spaces separate the bytes of `xxd` from their characters.
        Some(rest) => rest.split("  ").next()?,
        None => rest.strip_prefix("  ")?.split('|').next()?,
    };
    Some((offset, hexadecimal(bytes)?))
}

/// Lines in the same form, each a datagram. Lines that all have one of the `folded` lengths, except
/// the last, are one.
fn from_lines(
    lines: &[&str],
    folded: &[usize],
    decode: impl Fn(&str) -> Option<Vec<u8>>,
) -> Option<Vec<Bytes>> {
    if let Some((last, full @ [first, ..])) = lines.split_last() {
        let is_full = |line: &&str| line.len() == first.len();
        let is_folded =
            folded.contains(&first.len()) && full.iter().all(is_full) && last.len() <= first.len();
        if is_folded {
            return Some(vec![decode(&lines.concat())?.into()]);
        }
    }
    lines
        .iter()
        .map(|line| decode(line).map(Bytes::from))
        .collect()
}

/// Pairs of digits, with the separators that people write.
fn hexadecimal(text: &str) -> Option<Vec<u8>> {
    let digits: String = text
        .replace("0x", "")
        .replace("\\x", "")
        .chars()
        .filter(|c| !c.is_whitespace() && !matches!(c, ':' | ',' | '-'))
        .collect();
    hex::decode(digits).ok()
}

/// Base64 with its usual alphabet or that of URLs.
fn base64(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=');
    if digits.len() < 4 || digits.len() % 4 == 1 {
        return None;
    }
    let mut bytes = Vec::new();
    for group in digits.as_bytes().chunks(4) {
        let mut bits = 0_u32;
        for index in 0..4 {
            let digit = group.get(index);
            bits = (bits << 6) | digit.map_or(Some(0), |digit| sextet(*digit))?;
        }
        let [_, decoded @ ..] = bits.to_be_bytes();
        bytes.extend(decoded.iter().take(group.len().saturating_sub(1)));
    }
    Some(bytes)
}

fn sextet(digit: u8) -> Option<u32> {
    let value = match digit {
        b'A'..=b'Z' => digit.checked_sub(b'A'),
        b'a'..=b'z' => digit
            .checked_sub(b'a')
            .and_then(|value| value.checked_add(26)),
        b'0'..=b'9' => digit
            .checked_sub(b'0')
            .and_then(|value| value.checked_add(52)),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    };
    value.map(u32::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    const REQUEST: &[u8] = b"\xff\xff\xff\xffgetstatus abcdefgh";

    #[test]
    fn a_datagram_is_read_in_every_form() {
        for text in [
            "ffffffff676574737461747573206162636465666768",
            "FF FF FF FF 67 65 74 73 74 61 74 75 73 20 61 62 63 64 65 66 67 68\n",
            "# a remark\n\nff:ff:ff:ff:67:65:74:73:74:61:74:75:73:20:61:62:63:64:65:66:67:68",
            r"\xff\xff\xff\xff\x67\x65\x74\x73\x74\x61\x74\x75\x73\x20\x61\x62\x63\x64\x65\x66\x67\x68",
            "0xff, 0xff, 0xff, 0xff, 0x67, 0x65, 0x74, 0x73, 0x74, 0x61, 0x74, 0x75, 0x73, 0x20, 0x61, 0x62, 0x63, 0x64, 0x65, \
             0x66, 0x67, 0x68",
            "00000000: ffff ffff 6765 7473 7461 7475 7320 6162  ....getstatus ab\n00000010: 6364 6566 6768            cdefgh\n",
            "00000000  ff ff ff ff 67 65 74 73  74 61 74 75 73 20 61 62  |....getstatus ab|\n\
             00000010  63 64 65 66 67 68                                 |cdefgh|\n00000016\n",
            "/////2dldHN0YXR1cyBhYmNkZWZnaA==\n",
            "_____2dldHN0YXR1cyBhYmNkZWZnaA",
        ] {
            assert_eq!(
                datagrams(text),
                Ok(Some(vec![Bytes::from_static(REQUEST)])),
                "{text}"
            );
        }
    }

    fn some(text: &str) -> Vec<Bytes> {
        datagrams(text).unwrap().unwrap()
    }

    #[test]
    fn a_line_is_a_datagram_unless_a_program_folded_it() {
        let two = some("ffffffff01\nffffffff02");
        assert_eq!(two.len(), 2);
        let folded = format!("{}\n{}\n0a", "61".repeat(30), "62".repeat(30));
        let one = some(&folded);
        assert_eq!(one.iter().map(Bytes::len).collect::<Vec<_>>(), [61]);
        let folded = format!("{}\n{}", "/".repeat(76), "/".repeat(8));
        let one = some(&folded);
        assert_eq!(one.iter().map(Bytes::len).collect::<Vec<_>>(), [63]);
    }

    #[test]
    fn other_texts_are_in_no_form() {
        for text in [
            "",
            "# a remark",
            r"\hostname\Srv\final\",
            "getstatus!",
            "fff",
            "hello world",
        ] {
            assert_eq!(datagrams(text), Ok(None), "{text}");
        }
    }

    #[test]
    fn a_wrong_line_is_named_by_its_number() {
        let text = "# two datagrams\nffffffff01\n\nffffffff0z\n";
        assert_eq!(datagrams(text), Err(4));
    }
}
