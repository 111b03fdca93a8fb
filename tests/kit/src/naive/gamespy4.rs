//! GameSpy v4: sections of keys and of tables in columns, in one or several numbered datagrams.

use std::collections::BTreeMap;

use super::{Fields, Pairs, Reading, Text, Whole, only};

/// The length of a datagram that its sender filled, and may have cut.
const FULL: usize = 1400;

/// The format after the request's id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Sections,
    Minecraft,
    JustCause2,
    Legacy,
    Basic,
}

/// Reads the datagrams with an id in this format.
pub fn read(datagrams: &[Text], id: [u8; 4], form: Form) -> Reading {
    let mut bodies: Vec<&[u8]> = Vec::new();
    for datagram in datagrams {
        if datagram.len() > 5 && datagram[0] == 0 && datagram[1..5] == id {
            bodies.push(&datagram[5..]);
        }
    }
    if form == Form::Sections {
        return if bodies.is_empty() {
            Reading::no("no data with this id")
        } else {
            sections(&bodies)
        };
    }
    // The other forms have one datagram. A split one in addition belongs to another reply.
    if matches!(form, Form::Legacy | Form::Basic) {
        bodies.retain(|body| !body.starts_with(b"splitnum\0"));
    }
    bodies.dedup();
    match (form, &bodies[..]) {
        (_, []) => Reading::no("no data with this id"),
        (Form::Minecraft, [body]) => minecraft(body),
        (Form::JustCause2, [body]) => {
            just_cause_2(body).unwrap_or_else(|| Reading::no("it ends before its last player"))
        }
        (Form::Legacy, [body]) => {
            legacy(body).unwrap_or_else(|| Reading::no("it ends before its last value"))
        }
        (Form::Basic, [body]) => {
            basic(body).unwrap_or_else(|| Reading::no("it ends before its last field"))
        }
        _ => Reading::unknown("several replies"),
    }
}

/// The text up to the next NUL.
fn text(rest: &mut &[u8]) -> Option<Text> {
    let end = rest.iter().position(|&byte| byte == 0)?;
    let text = rest[..end].to_vec();
    *rest = &rest[end + 1..];
    Some(text)
}

fn named(rules: Pairs, players: Vec<Pairs>, teams: Vec<Pairs>, map: &str) -> Fields {
    // UT3's `mapname` lists all settings.
    const UT3_MAP: &str = "p1073741825";
    let is_of_ut3 = |(key, _): &(Text, Text)| {
        let key = key.to_ascii_lowercase();
        let is_property = key.starts_with(b"p107374182") || key.starts_with(b"p2684357");
        is_property || key == b"s32779" || key == b"owningplayername"
    };
    let is_ut3 = map == "mapname" && rules.iter().any(is_of_ut3);
    let map = only(&rules, if is_ut3 { UT3_MAP } else { map });
    Fields {
        name: only(&rules, "hostname"),
        map,
        rules,
        players,
        teams,
    }
}

/// Reads datagrams that have numbers.
fn sections(bodies: &[&[u8]]) -> Reading {
    let mut numbered: BTreeMap<u8, (&[u8], bool)> = BTreeMap::new();
    for body in bodies {
        if body.len() < 10 || &body[..9] != b"splitnum\0" {
            return Reading::unknown("a datagram of another form among them");
        }
        let (number, is_last) = (body[9] & 0x7F, body[9] & 0x80 != 0);
        match numbered.get(&number) {
            None => {
                numbered.insert(number, (&body[10..], is_last));
            }
            Some(&known) if known == (&body[10..], is_last) => {}
            Some(_) => return Reading::unknown("two datagrams with one number"),
        }
    }
    let lasts: Vec<u8> = numbered
        .iter()
        .filter(|(_, (_, is_last))| *is_last)
        .map(|(&number, _)| number)
        .collect();
    let highest = *numbered.keys().last().expect("there is one");
    match lasts[..] {
        [] => return Reading::no("no last datagram"),
        [last] if last == highest => {}
        _ => return Reading::unknown("datagrams after the last"),
    }
    if !(0..=highest).all(|number| numbered.contains_key(&number)) {
        return Reading::no("a datagram is missing");
    }
    let pieces: Vec<&[u8]> = numbered.values().map(|(piece, _)| *piece).collect();
    let reading = Walk::default().all(&pieces);
    // Every sender ends every datagram with a NUL, even where it cuts.
    if reading.whole == Whole::Yes && !pieces.iter().all(|piece| piece.last() == Some(&0)) {
        return Reading::no("a datagram is cut");
    }
    reading
}

/// The columns of a table: names and cells.
type Columns = Vec<(Text, Vec<Text>)>;

#[derive(Default)]
struct Walk {
    rules: Pairs,
    tables: [Columns; 2],
    /// Why the result is ambiguous, if it is.
    open: Option<&'static str>,
    /// The section that is read.
    section: u8,
    /// Which sections have been seen. Servers send all three to a full request.
    seen: [bool; 3],
    /// Whether the end of the last table has been seen.
    ended: bool,
}

impl Walk {
    fn all(mut self, pieces: &[&[u8]]) -> Reading {
        for (index, piece) in pieces.iter().enumerate() {
            let next = pieces.get(index + 1).copied();
            // The header is 15 bytes.
            let is_full = piece.len() + 15 >= FULL && next.is_some();
            match self.piece(piece, next, is_full) {
                Some(()) => {}
                None if self.open.is_some() => {
                    return Reading::unknown(self.open.unwrap_or_default());
                }
                None => return Reading::no("it ends inside a section"),
            }
        }
        if !self.ended {
            return Reading::no("the last section has no end");
        }
        if self.seen != [true; 3] {
            self.open = Some("a section is absent");
        }
        let mut rows = [Vec::new(), Vec::new()];
        for (columns, rows) in self.tables.iter().zip(&mut rows) {
            let count = columns.first().map_or(0, |(_, cells)| cells.len());
            if columns.iter().any(|(_, cells)| cells.len() != count) {
                return Reading::unknown("columns of different lengths");
            }
            for row in 0..count {
                rows.push(
                    columns
                        .iter()
                        .map(|(name, cells)| (name.clone(), cells[row].clone()))
                        .collect(),
                );
            }
        }
        let [players, teams] = rows;
        let fields = named(self.rules, players, teams, "mapname");
        match self.open {
            Some(why) => Reading::unknown(why),
            None => Reading {
                whole: Whole::Yes,
                fields: Some(fields),
            },
        }
    }

    fn piece(&mut self, piece: &[u8], next: Option<&[u8]>, is_full: bool) -> Option<()> {
        let mut rest = piece;
        let mut is_first = true;
        while let Some((&section, after)) = rest.split_first() {
            rest = after;
            // Only the first section of a datagram can continue one.
            if section < self.section || section == self.section && !is_first {
                self.open = Some("sections in another order");
                return None;
            }
            self.section = section;
            is_first = false;
            if let Some(seen) = self.seen.get_mut(usize::from(section)) {
                *seen = true;
            }
            match section {
                0 => self.server(&mut rest, next, is_full)?,
                1 | 2 => self.table(usize::from(section - 1), &mut rest, next, is_full)?,
                _ => {
                    self.open = Some("a section of no known kind");
                    return None;
                }
            }
        }
        Some(())
    }

    fn server(&mut self, rest: &mut &[u8], next: Option<&[u8]>, is_full: bool) -> Option<()> {
        self.ended = false;
        let goes_on = next.and_then(|next| next.strip_prefix(&[0]));
        while !rest.is_empty() {
            let key = text(rest)?;
            if key.is_empty() {
                self.ended = true;
                break;
            }
            let Some(mut value) = text(rest) else {
                // A key that was cut is repeated.
                self.open = goes_on.is_none().then_some("a key without a value");
                return goes_on.is_some().then_some(());
            };
            let mut key = key;
            // UT3 omits values: the next key is in their place.
            while is_setting(&key) && is_setting(&value) {
                self.put(key, Text::new());
                key = value;
                value = text(rest)?;
            }
            // The last value is missing: the end is in its place.
            if value.is_empty() && matches!(rest.first(), Some(1 | 2)) {
                self.put(key, value);
                self.ended = true;
                break;
            }
            // A pair that was cut is repeated in full.
            if rest.is_empty()
                && is_full
                && let Some(mut next) = goes_on
            {
                if text(&mut next) != Some(key) {
                    return None;
                }
                break;
            }
            self.put(key, value);
        }
        if goes_on.is_some() && self.ended {
            self.open = Some("two sections of keys");
        }
        Some(())
    }

    fn put(&mut self, key: Text, value: Text) {
        if self.rules.iter().any(|(known, _)| *known == key) {
            self.open = Some("a key twice");
        }
        self.rules.push((key, value));
    }

    fn table(
        &mut self,
        table: usize,
        rest: &mut &[u8],
        next: Option<&[u8]>,
        is_full: bool,
    ) -> Option<()> {
        self.ended = false;
        // The section, name and first row at the beginning of the next datagram.
        let next = next.and_then(|next| {
            let mut after = next.get(1..)?;
            let name = text(&mut after)?;
            Some((
                usize::from(*next.first()?),
                name,
                usize::from(*after.first()?),
            ))
        });
        let continues = next.as_ref().filter(|(section, ..)| *section == table + 1);
        let mut is_first = true;
        while !rest.is_empty() {
            let name = text(rest)?;
            if name.is_empty() {
                self.ended = true;
                return Some(());
            }
            let cut = |name: &Text| {
                is_full && continues.is_some_and(|(_, next, _)| next.starts_with(name))
            };
            if rest.is_empty() {
                // A name without its first row.
                if !cut(&name) {
                    self.open = Some("a column without a first row");
                    return None;
                }
                return Some(());
            }
            let start = usize::from(rest[0]);
            *rest = &rest[1..];
            let known = self.tables[table]
                .iter()
                .position(|(known, _)| *known == name);
            let column = match known {
                // Only the first column of a datagram continues one of the datagram before.
                Some(at) if is_first && start <= self.tables[table][at].1.len() => {
                    self.tables[table][at].1.truncate(start);
                    at
                }
                None if start == 0 && is_name(&name) => {
                    self.tables[table].push((name, Vec::new()));
                    self.tables[table].len() - 1
                }
                _ => {
                    self.open = Some("a column that does not fit");
                    return None;
                }
            };
            is_first = false;
            if self.column(table, column, rest, next.as_ref(), is_full)? {
                self.ended = true;
                return Some(());
            }
        }
        // A sender omits the end of a section if the datagram has no byte left for it.
        if next.is_none() {
            self.open = Some("no end of the section");
            self.ended = true;
        }
        Some(())
    }

    /// The cells of a column, and whether the section ends with it.
    fn column(
        &mut self,
        table: usize,
        column: usize,
        rest: &mut &[u8],
        next: Option<&(usize, Text, usize)>,
        is_full: bool,
    ) -> Option<bool> {
        let count = if column == 0 {
            None
        } else {
            Some(self.tables[table][0].1.len())
        };
        let continues = next.filter(|(section, ..)| *section == table + 1);
        loop {
            let name = self.tables[table][column].0.clone();
            let cells = &mut self.tables[table][column].1;
            let run = rest.iter().take_while(|&&byte| byte == 0).count();
            let after = &rest[run..];
            if run == 0 {
                if rest.is_empty() {
                    // Either the column continues in the next datagram, or its end is missing.
                    return continues.is_some().then_some(false);
                }
                if !is_text_before_nul(rest) {
                    return None;
                }
                if count.is_some_and(|count| cells.len() >= count) {
                    self.open = Some("more cells than rows");
                    return None;
                }
                let cell = text(rest)?;
                cells.push(cell);
                continue;
            }
            let row = cells.len();
            let to_end = |count: usize| run.min(count.saturating_sub(row));
            let is_cut_name = is_full
                && continues.is_some_and(|(_, next, _)| {
                    let last = &after[..after.len().saturating_sub(1)];
                    !after.is_empty() && next.starts_with(last) && !last.contains(&0)
                });
            let empty = if after.is_empty() {
                match (continues, count) {
                    (Some((_, field, start)), _) if *field == name => {
                        run.min(start.saturating_sub(row))
                    }
                    (_, Some(count)) => to_end(count),
                    _ if run >= 2 => run - 2,
                    _ => return None,
                }
            } else if is_cut_name {
                run - 1
            } else if let Some(count) = count {
                to_end(count)
            } else if matches!(after[0], 1 | 2) {
                run.saturating_sub(2)
            } else if is_header(after) {
                run - 1
            } else {
                run
            };
            if count.is_none() && empty > 0 {
                self.open = Some("empty cells in a first column");
            }
            if is_cut_name && count.is_some_and(|count| row + empty != count) {
                self.open = Some("columns of different lengths");
            }
            for _ in 0..empty {
                cells.push(Text::new());
            }
            *rest = &rest[empty..];
            if run == empty {
                // The text after it is the next cell, or the next datagram continues.
                continue;
            }
            *rest = &rest[1..];
            if run == empty + 1 {
                return Some(false);
            }
            *rest = &rest[1..];
            if run > empty + 2 {
                self.open = Some("more NULs than ends");
            }
            return Some(true);
        }
    }
}

fn is_text_before_nul(rest: &[u8]) -> bool {
    rest.contains(&0)
}

/// Whether a text is `p` or `s` followed by digits.
fn is_setting(text: &[u8]) -> bool {
    matches!(text.first(), Some(b'p' | b's')) && super::is_number(&text[1..])
}

/// Whether a text has only letters and digits, perhaps with `_` or `_t` at the end.
fn is_name(name: &[u8]) -> bool {
    let Some(stem) = name.strip_suffix(b"_t").or_else(|| name.strip_suffix(b"_")) else {
        return false;
    };
    stem.first().is_some_and(u8::is_ascii_alphabetic) && stem.iter().all(u8::is_ascii_alphanumeric)
}

/// Whether a column's first row follows, which must be 0.
fn is_header(after: &[u8]) -> bool {
    let mut rest = after;
    text(&mut rest).is_some_and(|name| is_name(&name)) && rest.first() == Some(&0)
}

/// Keys, then names of players. Only the column has an end.
fn minecraft(body: &[u8]) -> Reading {
    if body.len() < 11 {
        return Reading::no("no keys");
    }
    const KEYS: [&str; 12] = [
        "hostname",
        "gametype",
        "game_id",
        "version",
        "plugins",
        "map",
        "numplayers",
        "maxplayers",
        "hostport",
        "hostip",
        "server_engine",
        "whitelist",
    ];
    let mut rest = &body[11..];
    let mut rules = Pairs::new();
    loop {
        let Some(key) = text(&mut rest) else {
            return Reading::no("the keys have no end");
        };
        if key.is_empty() {
            break;
        }
        // A two-byte character in the title can end it early, which shifts everything after it.
        if !KEYS.iter().any(|known| known.as_bytes() == &key[..]) {
            return Reading::unknown("other keys");
        }
        let Some(value) = text(&mut rest) else {
            return Reading::no("a key without a value");
        };
        rules.push((key, value));
    }
    let mark = rest.strip_prefix(b"\x01player_\0\0");
    let zeros = rest.strip_prefix(&[0; 10]);
    let Some(mut rest) = mark.or(zeros) else {
        return Reading::unknown("no list of players where it should begin");
    };
    let mut players = Vec::new();
    loop {
        match text(&mut rest) {
            None => return Reading::no("the players have no end"),
            Some(name) if name.is_empty() => break,
            Some(name) => players.push(vec![(b"player_".to_vec(), name)]),
        }
    }
    if !rest.is_empty() {
        return Reading::unknown("something follows the players");
    }
    let mut keys: Vec<&Text> = rules.iter().map(|(key, _)| key).collect();
    keys.sort();
    keys.dedup();
    if keys.len() < rules.len() {
        return Reading::unknown("a key twice");
    }
    Reading {
        whole: Whole::Yes,
        fields: Some(named(rules, players, Vec::new(), "map")),
    }
}

/// Keys, a count, and that many players; `None` if the reply ends early.
fn just_cause_2(body: &[u8]) -> Option<Reading> {
    let mut rest = body.get(10..)?;
    let (&section, after) = rest.split_first()?;
    rest = after;
    if section != 0 {
        return Some(Reading::unknown("another section first"));
    }
    let mut rules = Pairs::new();
    loop {
        let key = text(&mut rest)?;
        if key.is_empty() {
            break;
        }
        rules.push((key, text(&mut rest)?));
    }
    let count = u16::from_be_bytes([*rest.first()?, *rest.get(1)?]);
    rest = &rest[2..];
    let mut players = Vec::new();
    for _ in 0..count {
        let (name, id) = (text(&mut rest)?, text(&mut rest)?);
        let ping = u16::from_be_bytes([*rest.first()?, *rest.get(1)?]);
        rest = &rest[2..];
        players.push(vec![
            (b"name".to_vec(), name),
            (b"id".to_vec(), id),
            (b"ping".to_vec(), ping.to_string().into_bytes()),
        ]);
    }
    if !rest.is_empty() {
        return Some(Reading::unknown("something follows the players"));
    }
    let mut fields = named(rules, players, Vec::new(), "mapname");
    // The documentation does not name the key of the map.
    fields.map = None;
    Some(Reading {
        whole: Whole::Yes,
        fields: Some(fields),
    })
}

/// Keys, then two tables row by row, each with its count; `None` if the reply ends early.
fn legacy(body: &[u8]) -> Option<Reading> {
    let mut rest = body;
    let mut rules = Pairs::new();
    loop {
        let key = text(&mut rest)?;
        if key.is_empty() {
            break;
        }
        rules.push((key, text(&mut rest)?));
    }
    let mut tables = Vec::new();
    for _ in 0..2 {
        if lacks_count(rest) {
            return Some(Reading::unknown("a count that may be left out"));
        }
        let count = u16::from_be_bytes([*rest.first()?, *rest.get(1)?]);
        rest = &rest[2..];
        let mut names = Vec::new();
        loop {
            let name = text(&mut rest)?;
            if name.is_empty() {
                break;
            }
            names.push(name);
        }
        if names.is_empty() && count > 0 {
            return Some(Reading::unknown("rows without fields"));
        }
        let mut rows = Vec::new();
        for _ in 0..count {
            let mut row = Pairs::new();
            for name in &names {
                row.push((name.clone(), text(&mut rest)?));
            }
            rows.push(row);
        }
        tables.push(rows);
    }
    if !rest.is_empty() {
        return Some(Reading::unknown("something follows the teams"));
    }
    let teams = tables.pop()?;
    let players = tables.pop()?;
    // The sender cuts at 1,400 bytes without a mark.
    let fields = named(rules, players, teams, "mapname");
    Some(if body.len() + 5 >= FULL {
        Reading::open("as long as the longest", fields)
    } else {
        Reading {
            whole: Whole::Yes,
            fields: Some(fields),
        }
    })
}

/// Whether the name of a table's first column begins where the second byte of its count belongs.
/// One game leaves that byte out; in other replies, a byte was lost.
fn lacks_count(rest: &[u8]) -> bool {
    rest.starts_with(b"\0player_\0") || rest.starts_with(b"\0team_t\0")
}

/// Five texts, a port and an address; `None` if the reply ends early.
fn basic(body: &[u8]) -> Option<Reading> {
    let mut rest = body;
    let mut values = Vec::new();
    for _ in 0..5 {
        values.push(text(&mut rest)?);
    }
    if rest.len() < 2 {
        return None;
    }
    rest = &rest[2..];
    let host = text(&mut rest)?;
    // A two-byte character in the title can put NULs into it, which shifts everything after it.
    let is_address =
        String::from_utf8(host).is_ok_and(|host| host.parse::<std::net::Ipv4Addr>().is_ok());
    let has_counts = super::is_number(&values[3]) && super::is_number(&values[4]);
    if !has_counts || !is_address || !rest.is_empty() {
        return Some(Reading::unknown("other fields"));
    }
    let some = |text: &Text| Some(text.clone()).filter(|text| !text.is_empty());
    let fields = Fields {
        name: some(&values[0]),
        map: some(&values[2]),
        ..Fields::default()
    };
    Some(Reading {
        whole: Whole::Yes,
        fields: Some(fields),
    })
}
