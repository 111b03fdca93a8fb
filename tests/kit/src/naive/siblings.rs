//! Quake 2, QuakeWorld and Quetoo: the replies to `status`.

use super::{Fields, Pairs, Reading, Text, Whole, only};

/// A Quake 2 status: one datagram with an infostring, then a line for each player.
pub fn quake2(datagram: &[u8]) -> Reading {
    let Some(text) = datagram.strip_prefix(b"\xff\xff\xff\xffprint\n") else {
        return Reading::unknown("another word");
    };
    // The same word begins the output of a command and the reason of a refusal.
    if text.first() != Some(&b'\\') {
        return Reading::unknown("a text before the infostring");
    }
    if let Some(why) = odd_bytes(text) {
        return Reading::unknown(why);
    }
    let Some(text) = text.strip_suffix(b"\n") else {
        return Reading::no("no line feed at the end");
    };
    let mut lines = text.split(|&byte| byte == b'\n');
    let rules = match pairs(lines.next().unwrap_or_default()) {
        Ok(rules) => rules,
        Err(why) => return Reading::unknown(why),
    };
    let mut players = Vec::new();
    for line in lines {
        match quake2_player(line) {
            Ok(player) => players.push(player),
            Err(why) => return Reading::unknown(why),
        }
    }
    let fields = with_names(rules, players, "mapname");
    // Servers leave out the lines that no longer fit into 1,384 bytes, Alien Arena's into 2,784.
    if datagram.len() > 1200 {
        return Reading::open("the server may have left out players", fields);
    }
    Reading {
        whole: Whole::Yes,
        fields: Some(fields),
    }
}

/// A status of Quetoo: one datagram with an infostring, then an infostring for each player.
pub fn quetoo(datagram: &[u8]) -> Reading {
    let Some(text) = datagram.strip_prefix(b"\xff\xff\xff\xffstatus\n") else {
        return Reading::unknown("another word");
    };
    if let Some(why) = odd_bytes(text) {
        return Reading::unknown(why);
    }
    let Some(text) = text.strip_suffix(b"\n") else {
        return Reading::no("no line feed at the end");
    };
    let lines: Result<Vec<Pairs>, _> = text.split(|&byte| byte == b'\n').map(pairs).collect();
    let mut players = match lines {
        Ok(lines) => lines,
        Err(why) => return Reading::unknown(why),
    };
    let rules = players.remove(0);
    let is_name = |(key, _): &(Text, Text)| key.eq_ignore_ascii_case(b"name");
    if !players.iter().all(|player| player.iter().any(is_name)) {
        return Reading::unknown("a line without a name");
    }
    let fields = Fields {
        name: only(&rules, "sv_hostname"),
        map: only(&rules, "sv_map"),
        rules,
        players,
        teams: Vec::new(),
    };
    Reading {
        whole: Whole::Yes,
        fields: Some(fields),
    }
}

/// `frags ping "name"`; Alien Arena adds `"address" team`.
fn quake2_player(line: &[u8]) -> Result<Pairs, &'static str> {
    let parts = parts(line)?;
    let names: &[&str] = match parts[..] {
        [Part::Word(_), Part::Word(_), Part::Quoted(_)] => &["score", "ping", "name"],
        [
            Part::Word(_),
            Part::Word(_),
            Part::Quoted(_),
            Part::Quoted(_),
            Part::Word(_),
        ] => &["score", "ping", "name", "address", "team"],
        _ => return Err("a line of another form"),
    };
    Ok(named(names, parts))
}

/// A QuakeWorld status: the datagrams of one server in order of arrival.
///
/// One reply can be several datagrams without numbers. The text after the head of each, without
/// its NUL, is joined, and then read line by line. A NUL ends each datagram.
pub fn quake_world(datagrams: &[Text]) -> Reading {
    let head: &[u8] = b"\xff\xff\xff\xffn";
    let mut texts: Vec<&[u8]> = Vec::new();
    let begins_reply = |datagram: &Text| {
        let text = datagram.strip_prefix(head);
        text.is_some_and(|text| text.starts_with(b"\\"))
    };
    for (at, datagram) in datagrams.iter().enumerate() {
        // No two datagrams of a reply are equal: the numbers of the players differ.
        if datagrams[..at].contains(datagram) {
            continue;
        }
        let Some(text) = datagram.strip_prefix(head) else {
            return Reading::unknown("a datagram of another kind");
        };
        match text.strip_suffix(b"\0") {
            Some(text) => texts.push(text),
            None => {
                // It can be of an earlier reply than another one that begins one.
                let others = datagrams.iter().filter(|other| *other != datagram);
                let can_be_of_another = others.clone().any(begins_reply);
                if others.count() == 0 || can_be_of_another {
                    return Reading::unknown("a datagram without its end");
                }
                return Reading::no("a datagram without its end");
            }
        }
    }
    let Some(last) = texts.last() else {
        return Reading::no("no datagram");
    };
    let begins = |text: &&&[u8]| text.first() == Some(&b'\\');
    match texts.iter().filter(begins).count() {
        0 => return Reading::no("the first datagram is missing"),
        1 if texts[0].first() == Some(&b'\\') => {}
        1 => return Reading::unknown("a datagram before the first"),
        _ => return Reading::unknown("several replies"),
    }
    // A server begins another datagram when a line would make this one too long.
    let is_long = |text: &&[u8]| text.len() > 1000;
    if !texts[..texts.len() - 1].iter().all(is_long) {
        return Reading::unknown("a short datagram before the last");
    }
    let text = texts.concat();
    if let Some(why) = odd_bytes(&text) {
        return Reading::unknown(why);
    }
    let Some(text) = text.strip_suffix(b"\n") else {
        return Reading::no("it ends inside a line");
    };
    let mut lines = text.split(|&byte| byte == b'\n');
    let rules = match pairs(lines.next().unwrap_or_default()) {
        Ok(rules) => rules,
        Err(why) => return Reading::unknown(why),
    };
    let mut players = Vec::new();
    for line in lines {
        match quake_world_player(line) {
            Ok(player) => players.push(player),
            Err(why) => return Reading::unknown(why),
        }
    }
    // A datagram in the middle that was lost between two lines leaves no trace but the numbers of
    // the clients, which need not be consecutive.
    let fields = with_names(rules, players, "map");
    if texts.len() > 1 {
        return Reading::open("a datagram in the middle may be missing", fields);
    }
    if is_long(last) {
        return Reading::open("another datagram may follow", fields);
    }
    Reading {
        whole: Whole::Yes,
        fields: Some(fields),
    }
}

/// `id frags minutes ping "name" "skin" top bottom`, then what the request selects: the team, the
/// login, and `"h"` for a person or `"b"` for a bot.
fn quake_world_player(line: &[u8]) -> Result<Pairs, &'static str> {
    let parts = parts(line)?;
    let is_quoted = |part: &Part| matches!(part, Part::Quoted(_));
    let kinds: Vec<bool> = parts.iter().map(is_quoted).collect();
    const FIRST: [bool; 8] = [false, false, false, false, true, true, false, false];
    let Some(added) = kinds.strip_prefix(&FIRST) else {
        return Err("a line of another form");
    };
    if added.contains(&false) {
        return Err("numbers after the colours");
    }
    let is_kind = |part: &Part| matches!(part, Part::Quoted(text) if text == b"h" || text == b"b");
    let last_is_kind = parts.last().is_some_and(is_kind);
    let added: &[&str] = match (added.len(), last_is_kind) {
        (0, _) => &[],
        (1, false) => &["team"],
        (1, true) => return Err("a team, or a kind without a team"),
        (2, true) => &["team", "kind"],
        (2, false) => &["team", "login"],
        (3, true) => &["team", "login", "kind"],
        _ => return Err("more fields than servers write"),
    };
    let first = [
        "id", "score", "minutes", "ping", "name", "skin", "top", "bottom",
    ];
    let mut fields = named(&[&first, added].concat(), parts);
    // A player without a login has an empty text there.
    fields.retain(|(name, text)| name != b"login" || !text.is_empty());
    Ok(fields)
}

/// Why a text is ambiguous, if it is.
fn odd_bytes(text: &[u8]) -> Option<&'static str> {
    if text.contains(&0) {
        return Some("a NUL may end the text or not");
    }
    if text.contains(&b'\r') {
        return Some("carriage returns may be part of the text or not");
    }
    None
}

/// The pairs of an infostring.
fn pairs(info: &[u8]) -> Result<Pairs, &'static str> {
    let Some(info) = info.strip_prefix(b"\\") else {
        return Err("no backslash at the beginning");
    };
    if info.ends_with(b"\"") {
        return Err("a quote at the end may belong to the text or not");
    }
    let tokens: Vec<&[u8]> = info.split(|&byte| byte == b'\\').collect();
    if !tokens.len().is_multiple_of(2) {
        return Err("a key without a value");
    }
    Ok(tokens
        .chunks(2)
        .map(|pair| (pair[0].to_vec(), pair[1].to_vec()))
        .collect())
}

/// A part of a line.
#[derive(Debug, Clone)]
enum Part {
    Word(Text),
    Quoted(Text),
}

/// The parts of a line, with one space between two.
fn parts(line: &[u8]) -> Result<Vec<Part>, &'static str> {
    let mut parts = Vec::new();
    let mut rest = line;
    loop {
        let is_quoted = rest.first() == Some(&b'"');
        if is_quoted {
            rest = &rest[1..];
        }
        let stop = if is_quoted { b'"' } else { b' ' };
        let end = rest.iter().position(|&byte| byte == stop);
        let (text, after) = rest.split_at(end.unwrap_or(rest.len()));
        if is_quoted {
            let Some(after) = after.strip_prefix(b"\"") else {
                return Err("a text without its end");
            };
            parts.push(Part::Quoted(text.to_vec()));
            rest = after;
        } else if text.is_empty() || text.iter().any(|&byte| is_odd_in_word(byte)) {
            return Err("neither a word nor a quoted text");
        } else {
            parts.push(Part::Word(text.to_vec()));
            rest = after;
        }
        if rest.is_empty() {
            return Ok(parts);
        }
        let Some(after) = rest.strip_prefix(b" ") else {
            return Err("no space between two parts");
        };
        rest = after;
    }
}

fn is_odd_in_word(byte: u8) -> bool {
    byte < b' ' || byte == b'"' || byte == b'\\'
}

fn named(names: &[&str], parts: Vec<Part>) -> Pairs {
    let values = parts.into_iter().map(|part| match part {
        Part::Word(text) | Part::Quoted(text) => text,
    });
    let names = names.iter().map(|name| name.as_bytes().to_vec());
    names.zip(values).collect()
}

fn with_names(rules: Pairs, players: Vec<Pairs>, map: &str) -> Fields {
    // Keys of Quake 3 next to these make the name and the map ambiguous.
    let count = |keys: [&str; 2]| {
        let is_one = |(key, _): &&(Text, Text)| {
            keys.iter()
                .any(|known| key.eq_ignore_ascii_case(known.as_bytes()))
        };
        rules.iter().filter(is_one).count()
    };
    let has_one_name = count(["hostname", "sv_hostname"]) == 1;
    let has_one_map = count(["mapname", "map"]) == 1;
    Fields {
        name: only(&rules, "hostname").filter(|_| has_one_name),
        map: only(&rules, map).filter(|_| has_one_map),
        rules,
        players,
        teams: Vec::new(),
    }
}
