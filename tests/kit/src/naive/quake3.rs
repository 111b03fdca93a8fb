//! Quake 3 out-of-band: one datagram is the whole reply.

use super::{Fields, Pairs, Reading, Text, Whole, number, only};

/// The kind of request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    Status,
    Info,
}

pub fn read(datagram: &[u8], asked: Asked) -> Reading {
    if !datagram.starts_with(&[0xFF; 4]) {
        return Reading::no("no out-of-band mark");
    }
    let mut rest = datagram[4..].to_vec();
    // Medal of Honor's byte for the direction. Its players have no score.
    let has_direction = matches!(rest.first(), Some(1 | 2));
    if has_direction {
        rest.remove(0);
    }
    let end = rest
        .iter()
        .position(|&byte| byte == b'\n' || byte == b'\\')
        .unwrap_or(rest.len());
    let word: Text = rest.drain(..end).collect();
    let is_status = word.eq_ignore_ascii_case(b"statusResponse");
    if !is_status && !word.eq_ignore_ascii_case(b"infoResponse") {
        // Some tools accept other words with this beginning.
        return Reading::unknown("another word");
    }
    let mut odd = None;
    if rest.first() == Some(&b'\n') {
        rest.remove(0);
    } else {
        odd = Some("no line feed after the word");
    }
    if rest.last() == Some(&0) {
        rest.pop();
        odd = Some("a NUL at the end");
    }
    if rest.contains(&b'\r') {
        return Reading::unknown("carriage returns may be part of the text or not");
    }
    if rest.contains(&0) {
        return Reading::unknown("a NUL may end the text or not");
    }
    if is_status && rest.is_empty() {
        return Reading::no("no infostring");
    }
    let mut lines: Vec<Text> = rest
        .split(|&byte| byte == b'\n')
        .map(<[u8]>::to_vec)
        .collect();
    if lines.last().is_some_and(Vec::is_empty) {
        lines.pop();
    } else if is_status {
        odd = Some("no line feed at the end");
    }
    let info = if lines.is_empty() {
        Text::new()
    } else {
        lines.remove(0)
    };
    // A value can contain line feeds, each followed by a space, and more pairs can follow.
    if lines
        .iter()
        .any(|line| line.starts_with(b" ") || before_quote(line).contains(&b'\\'))
    {
        return Reading::unknown("the infostring may continue after a line feed");
    }
    if !is_status && !lines.is_empty() {
        return Reading::unknown("an info has no lines: they are not part of it");
    }
    if info.ends_with(b"\"") {
        return Reading::unknown("a quote at the end may belong to the text or not");
    }
    if info.first() != Some(&b'\\') {
        odd = Some("no backslash at the beginning");
    }
    let mut rules = Pairs::new();
    let mut tokens: Vec<Text> = info
        .split(|&byte| byte == b'\\')
        .map(<[u8]>::to_vec)
        .collect();
    if tokens.first().is_some_and(Vec::is_empty) {
        tokens.remove(0);
    }
    for pair in tokens.chunks(2) {
        if pair.len() == 2 {
            rules.push((pair[0].clone(), pair[1].clone()));
        } else {
            odd = Some("a key without a value");
            if !pair[0].is_empty() {
                rules.push((pair[0].clone(), Text::new()));
            }
        }
    }

    let mut players = Vec::new();
    for line in &lines {
        match line.iter().filter(|&&byte| byte == b'"').count() {
            _ if line.is_empty() => {}
            0 => odd = Some("a line without a name"),
            1 if line.ends_with(b"\"") => return Reading::unknown("a quote more or less"),
            1 => {
                return Reading {
                    whole: Whole::No("a name without its end"),
                    fields: None,
                };
            }
            2 => {
                let parts: Vec<&[u8]> = line.split(|&byte| byte == b'"').collect();
                let before = words(parts[0]);
                let after = words(parts[2]);
                let mut player = vec![(b"name".to_vec(), parts[1].to_vec())];
                let mut put =
                    |field: &[u8], value: &Text| player.push((field.to_vec(), value.clone()));
                match (&before[..], &after[..]) {
                    ([ping], []) if has_direction => put(b"ping", ping),
                    ([_], _) => return Reading::unknown("one number is a score or a ping"),
                    ([score, ping], []) => {
                        put(b"score", score);
                        put(b"ping", ping);
                    }
                    ([score, ping, team], []) | ([score, ping], [team]) => {
                        put(b"score", score);
                        put(b"ping", ping);
                        put(b"team", team);
                    }
                    _ => return Reading::unknown("other numbers than score, ping and team"),
                }
                players.push(player);
            }
            _ => return Reading::unknown("more than one quoted text in a line"),
        }
    }

    let values = |key: &str| {
        rules
            .iter()
            .filter(|(other, _)| other.eq_ignore_ascii_case(key.as_bytes()))
            .count()
    };
    let has = |key: &str| values(key) > 0;
    let counted = only(&rules, "clients").and_then(|clients| number(&clients));
    if is_status && counted.is_none() && values("clients") > 1 {
        odd = Some("several counts of clients");
    }
    // If both are present, the name is ambiguous.
    let name = match (has("hostname"), has("sv_hostname")) {
        (true, false) => only(&rules, "hostname"),
        (false, true) if is_status => only(&rules, "sv_hostname"),
        _ => None,
    };
    let fields = Fields {
        name,
        map: only(&rules, "mapname"),
        rules,
        players,
        teams: Vec::new(),
    };
    let whole = if asked == Asked::Status && !is_status {
        Whole::No("a short reply has no players")
    } else if is_status && counted.is_some_and(|counted| counted > fields.players.len() as u64) {
        Whole::No("fewer lines than clients")
    } else if let Some(odd) = odd {
        Whole::Unknown(odd)
    } else if is_status && datagram.len() > 1300 {
        Whole::Unknown("servers stop listing players near 1,400 bytes")
    } else {
        Whole::Yes
    };
    Reading {
        whole,
        fields: Some(fields),
    }
}

fn before_quote(line: &[u8]) -> &[u8] {
    line.split(|&byte| byte == b'"').next().unwrap_or(line)
}

fn words(text: &[u8]) -> Vec<Text> {
    text.split(|&byte| byte <= b' ')
        .filter(|word| !word.is_empty())
        .map(<[u8]>::to_vec)
        .collect()
}
