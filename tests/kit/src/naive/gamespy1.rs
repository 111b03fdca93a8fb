//! GameSpy v1: text between backslashes, in one or several numbered datagrams.

use std::collections::{BTreeMap, BTreeSet};

use super::{Fields, Pairs, Reading, Text, Whole, is_number, number, only};

/// A datagram without its numbering.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Part {
    body: Text,
    reply: Option<u64>,
    fragment: Option<u64>,
    is_final: bool,
    /// Whether its numbers count from 0.
    from_zero: bool,
    /// The end is `\final\queryid\`, which some servers write in every datagram.
    one_backslash: bool,
    /// Its number is not a valid one.
    is_odd: bool,
    /// It begins with its number and lacks the mark at its end.
    is_cut: bool,
}

/// Reads the reply with this number, or the one without. Datagrams of other replies
/// are not read, but the fields may then be incomplete.
pub fn read(datagrams: &[Text], reply: Option<u64>) -> Reading {
    let reading = read_marked(datagrams, reply);
    let lacks_mark = |datagram: &Text| datagram.contains(&b'\\') && !datagram.starts_with(br"\");
    if datagrams.iter().any(lacks_mark) {
        return Reading::unknown("a datagram that does not begin with a backslash, as netPanzer's");
    }
    // Another reply can show that the server has changed.
    let is_other = |datagram: &Text| match part(datagram) {
        Some(part) => reply.is_some() && part.reply != reply,
        None => true,
    };
    match reading.fields {
        Some(fields) if datagrams.iter().any(is_other) => {
            Reading::open("datagrams of other replies", fields)
        }
        fields => Reading { fields, ..reading },
    }
}

/// Reads the datagrams that begin with a backslash.
fn read_marked(datagrams: &[Text], reply: Option<u64>) -> Reading {
    let mut parts: Vec<Part> = datagrams
        .iter()
        .filter_map(|datagram| part(datagram))
        .collect();
    let is_inside = |part: &Part| memchr::memmem::find(&part.body, br"\queryid\").is_some();
    if parts.iter().any(is_inside) {
        return Reading::unknown("more than one number in a datagram");
    }
    // Serious Sam ends every reply with one of these numbers (status and players), and numbers only
    // its last part.
    let mut is_status_of_serious_sam = false;
    if reply.is_none() {
        for part in &mut parts {
            is_status_of_serious_sam |= part.reply == Some(333);
            if matches!(part.reply, Some(333 | 6)) && part.fragment == Some(1) && part.is_final {
                (part.reply, part.fragment) = (None, None);
            }
        }
    }
    parts.retain(|part| part.reply == reply);
    if parts.is_empty() {
        return Reading::no("nothing of this reply");
    }
    if parts.iter().any(|part| part.is_odd) {
        return Reading::unknown("a number of no known form");
    }
    if parts.iter().any(|part| part.one_backslash) {
        return Reading::unknown("every datagram may say that it is the last");
    }
    let numbered = parts.iter().filter(|part| part.fragment.is_some()).count();
    let mut bodies: Vec<Text> = Vec::new();
    let mut open = None;
    if numbered == 0 {
        if !parts.iter().any(|part| part.is_final) {
            return Reading::no("no end");
        }
        let ends = parts.iter().filter(|part| part.is_final).count();
        if ends > 1 || !parts.last().is_some_and(|part| part.is_final) {
            return Reading::unknown("parts without numbers after the end");
        }
        bodies.extend(parts.iter().map(|part| part.body.clone()));
        if parts.len() > 1 {
            open = Some("parts without numbers");
        }
    } else {
        if numbered < parts.len() {
            return Reading::unknown("some parts have no number");
        }
        if parts.iter().any(|part| part.is_cut) {
            // A server numbers all its parts in the same form.
            let are_alike = parts.iter().all(|part| part.from_zero);
            let has_copy = |cut: &Part| {
                let copy = |part: &Part| !part.is_cut && part.fragment == cut.fragment;
                parts.iter().any(copy)
            };
            let lacks_end = |part: &Part| part.is_cut && !has_copy(part);
            return if are_alike && parts.iter().any(lacks_end) {
                Reading::no("a part without its end")
            } else {
                Reading::unknown("a part without its end, and a copy or parts of another form")
            };
        }
        let mut whole: BTreeMap<u64, Part> = BTreeMap::new();
        for part in &parts {
            let fragment = part.fragment.unwrap_or(0);
            match whole.get(&fragment) {
                None => {
                    whole.insert(fragment, part.clone());
                }
                Some(first) if first == part => {}
                Some(_) => return Reading::unknown("two datagrams with one number"),
            }
        }
        let ends: Vec<u64> = whole
            .iter()
            .filter(|(_, part)| part.is_final)
            .map(|(&number, _)| number)
            .collect();
        let highest = *whole.keys().last().expect("there is one");
        let base = if whole.contains_key(&0) || parts.iter().any(|part| part.from_zero) {
            0
        } else {
            1
        };
        match ends[..] {
            [] => return Reading::no("no end"),
            [end] if end == highest => {}
            // A restarted server counts from the beginning.
            [_] => return Reading::unknown("a datagram after the end"),
            _ => return Reading::unknown("two ends"),
        }
        if !(base..=highest).all(|number| whole.contains_key(&number)) {
            return Reading::no("a number is missing");
        }
        bodies.extend(whole.values().map(|part| part.body.clone()));
        if reply.is_none() && bodies.len() > 1 {
            open = Some("parts that may belong to two replies");
        }
    }
    match fields(&bodies.concat()) {
        Err(why) => Reading::unknown(why),
        // A datagram without a number may be lost.
        Ok(fields) if is_status_of_serious_sam && fields.name.is_none() => {
            Reading::open("no name of the server", fields)
        }
        Ok(fields) if open.is_none() && !have_the_same_columns(&fields.players) => {
            Reading::open("a row may be cut", fields)
        }
        Ok(fields) => match open {
            Some(why) => Reading::open(why, fields),
            None => Reading {
                whole: Whole::Yes,
                fields: Some(fields),
            },
        },
    }
}

fn have_the_same_columns(rows: &[Pairs]) -> bool {
    let columns = |row: &Pairs| {
        row.iter()
            .map(|(key, _)| key.clone())
            .collect::<BTreeSet<_>>()
    };
    rows.windows(2)
        .all(|rows| columns(&rows[0]) == columns(&rows[1]))
}

fn part(datagram: &[u8]) -> Option<Part> {
    if datagram.first() != Some(&b'\\') {
        return None;
    }
    let mut body = datagram.to_vec();
    let (mut value, mut is_final, mut one_backslash) = (None, false, false);
    let (mut is_before_number, mut has_end, mut is_odd) = (false, false, false);
    let mut is_final_first = false;
    if body.last() == Some(&0) {
        body.pop();
    }
    loop {
        if strip_end(&mut body, br"\eof\") || strip_end(&mut body, br"\eof") {
            has_end = true;
            is_before_number = false;
            continue;
        }
        let had_slash = body.ends_with(br"\");
        if strip_end(&mut body, br"\final\") || strip_end(&mut body, br"\final") {
            is_final = true;
            is_final_first |= is_before_number;
            one_backslash |= is_before_number && !had_slash;
            is_before_number = false;
            continue;
        }
        if value.is_none()
            && let Some((rest, text)) = strip_number(&body)
        {
            body = rest;
            value = Some(text);
            is_before_number = true;
            continue;
        }
        break;
    }
    let mut from_zero = false;
    let (mut reply, mut fragment) = (None, None);
    if let Some(value) = &value {
        let halves: Vec<&[u8]> = value.split(|&byte| byte == b'.').collect();
        match halves[..] {
            [one, two] if is_number(one) && is_number(two) => {
                reply = number(one);
                fragment = number(two);
            }
            // Servers with this numbering write the end mark after it.
            [one] if is_number(one) && !is_final_first => fragment = number(one),
            [b"AMv1" | b"gs1"] => {}
            _ => is_odd = true,
        }
    }
    let mark = br"\statusresponse\";
    if body.starts_with(mark) {
        let digits: Text = body[mark.len()..]
            .iter()
            .copied()
            .take_while(u8::is_ascii_digit)
            .collect();
        let after = body[mark.len() + digits.len()..].to_vec();
        if is_number(&digits) && (after.is_empty() || after[0] == b'\\') {
            fragment = number(&digits);
            from_zero = true;
            body = after;
        }
    }
    is_odd |= value.as_deref() == Some(b"AMv1") && !has_end;
    let is_cut = from_zero
        && !has_end
        && !is_final
        && !matches!(value.as_deref(), Some(value) if value != b"AMv1");
    Some(Part {
        body,
        reply,
        fragment,
        is_final,
        from_zero,
        one_backslash,
        is_odd,
        is_cut,
    })
}

fn strip_end(body: &mut Text, end: &[u8]) -> bool {
    let is_there = body.ends_with(end);
    if is_there {
        body.truncate(body.len() - end.len());
    }
    is_there
}

/// Splits off `\queryid\`, a value without a backslash, and perhaps one backslash after it.
fn strip_number(body: &[u8]) -> Option<(Text, Text)> {
    let text = body.strip_suffix(br"\").unwrap_or(body);
    let slash = text.iter().rposition(|&byte| byte == b'\\')?;
    let before = text[..slash].strip_suffix(br"\queryid")?;
    Some((before.to_vec(), text[slash + 1..].to_vec()))
}

/// Keys of players' rows, of every game in the documentation.
const ROW_KEYS: [&str; 45] = [
    "player",
    "playername",
    "frags",
    "frag",
    "ping",
    "team",
    "mesh",
    "skin",
    "face",
    "ngsecret",
    "deaths",
    "kills",
    "score",
    "keyhash",
    "country",
    "time",
    "tkills",
    "arrests",
    "arrested",
    "vip",
    "vescaped",
    "arrestedvip",
    "unarrestedvip",
    "validvipkills",
    "invalidvipkills",
    "bombsdiffused",
    "rdcrybaby",
    "sgcrybaby",
    "coopstatus",
    "escapedvip",
    "killedvip",
    "name",
    "size",
    "id",
    "health",
    "armor",
    "kit",
    "class",
    "vehicle",
    "stats",
    "skill",
    "pid",
    "rank",
    "ip",
    "clan",
];

fn fields(body: &[u8]) -> Result<Fields, &'static str> {
    let mut fields = Fields::default();
    if body.is_empty() {
        return Ok(fields);
    }
    let text = body.strip_prefix(br"\").unwrap_or(body);
    let tokens: Vec<&[u8]> = text.split(|&byte| byte == b'\\').collect();
    if tokens.len() % 2 == 1 {
        return Err("a key without a value");
    }
    let mut players: BTreeMap<u64, Pairs> = BTreeMap::new();
    let mut teams: BTreeMap<u64, Pairs> = BTreeMap::new();
    for pair in tokens.chunks(2) {
        let (key, value) = (pair[0].to_vec(), pair[1].to_vec());
        let is_plain = |&byte: &u8| byte.is_ascii_alphanumeric() || byte == b'_';
        if !key.first().is_some_and(u8::is_ascii_alphabetic) || !key.iter().all(is_plain) {
            return Err("a name may hold a backslash");
        }
        let names_row =
            |(name, ..): (Text, u64, bool)| ROW_KEYS.iter().any(|known| name == known.as_bytes());
        if row(&value)?.is_some_and(names_row) {
            return Err("a name may hold a backslash");
        }
        if ["queryid", "final", "eof", "statusresponse"]
            .iter()
            .any(|word| key == word.as_bytes())
        {
            return Err("a mark inside the text");
        }
        match row(&key)? {
            None => fields.rules.push((key, value)),
            Some((name, number, is_team)) => {
                if number > 1023 {
                    return Err("a row number too great to be one");
                }
                if !is_team && !ROW_KEYS.iter().any(|known| name == known.as_bytes()) {
                    return Err("an unknown row key may be a part of a name");
                }
                let row = if is_team { &mut teams } else { &mut players }
                    .entry(number)
                    .or_default();
                if row.iter().any(|(known, _)| *known == name) {
                    return Err("a field of a row twice");
                }
                row.push((name, value));
            }
        }
    }
    let has_name = |row: &Pairs| {
        row.iter()
            .any(|(key, _)| key == b"player" || key == b"playername")
    };
    if !players.values().all(has_name) {
        return Err("a row without a name");
    }
    // A key in the form of a row key that no row uses is a rule; the checks above reject all
    // others.
    let with_number = |(number, mut row): (u64, Pairs)| {
        row.insert(0, (b"#".to_vec(), number.to_string().into_bytes()));
        row
    };
    fields.players = players.into_iter().map(with_number).collect();
    fields.teams = teams.into_iter().map(with_number).collect();
    fields.name = only(&fields.rules, "hostname");
    // Unreal 227 has a title in the other key.
    fields.map =
        only(&fields.rules, "mapname").filter(|_| only(&fields.rules, "mapfilename").is_none());
    Ok(fields)
}

/// Name and number of a row's key, and whether the row is a team's.
fn row(key: &[u8]) -> Result<Option<(Text, u64, bool)>, &'static str> {
    let Some(at) = key.iter().rposition(|&byte| byte == b'_') else {
        return Ok(None);
    };
    let (name, end) = (&key[..at], &key[at + 1..]);
    if name.is_empty() {
        return Ok(None);
    }
    if is_number(end) {
        let number = number(end).ok_or("a row number too great to be one")?;
        return Ok(Some((name.to_vec(), number, name == b"teamname")));
    }
    if let Some(digits) = end.strip_prefix(b"t")
        && is_number(digits)
    {
        let number = number(digits).ok_or("a row number too great to be one")?;
        return Ok(Some((name.to_vec(), number, true)));
    }
    Ok(None)
}
