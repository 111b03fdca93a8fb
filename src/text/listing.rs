//! Listings of tables in `tests/engines/`: a cell that changes in a table changes there too.

use std::collections::BTreeMap;
use std::fmt::{Debug, Write};
use std::path::Path;

/// The text of a listing.
#[derive(Default)]
pub(crate) struct Listing(String);

impl Listing {
    /// The wire's spelling of known keys.
    pub(crate) fn keys<K: Debug>(&mut self, keys: impl IntoIterator<Item = (K, &'static str)>) {
        self.section("keys");
        for (key, wire) in keys {
            let _ = writeln!(self.0, "{key:?} = {wire:?}");
        }
    }

    /// A row, without the cells that are those of `base`.
    pub(crate) fn row<T: Debug>(&mut self, name: &str, row: &T, base: Option<&T>) {
        self.section(name);
        let base = base.map(cells).unwrap_or_default();
        for (field, cell) in cells(row) {
            if base.get(&field) != Some(&cell) {
                let _ = writeln!(self.0, "{field} = {cell}");
            }
        }
    }

    /// A value that is not a row.
    pub(crate) fn value(&mut self, name: &str, value: &impl Debug) {
        let _ = writeln!(self.0, "\n{name} = {value:?}");
    }

    fn section(&mut self, name: &str) {
        let _ = writeln!(self.0, "\n[{name}]");
    }

    /// Compares the listing with the file of a module. With `QUERYPORT_RENEW` set, writes the
    /// file instead. The published crate has no `tests` folder.
    pub(crate) fn check(&self, module: &str) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/engines");
        if !folder.exists() {
            return;
        }
        let file = folder.join(format!("{module}.txt"));
        let text = format!("# Every row of the tables in src/{module}/.\n{}", self.0);
        kit::assert_listed(&file, &text);
    }
}

/// The longest cell on one line.
const MAX_COLUMNS: usize = 90;

/// The fields of a struct. A long one has a line for each of its parts.
fn cells(row: &impl Debug) -> BTreeMap<String, String> {
    let text = format!("{row:#?}");
    let mut cells: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut field = String::new();
    // A field begins with four spaces; its parts with eight.
    for line in text.lines().filter_map(|line| line.strip_prefix("    ")) {
        let is_first = !line.starts_with([' ', ']', '}', ')']);
        match line.split_once(": ").filter(|_| is_first) {
            Some((name, value)) => {
                name.clone_into(&mut field);
                cells.insert(field.clone(), vec![value.to_owned()]);
            }
            None => append(cells.get_mut(&field).unwrap(), line),
        }
    }
    cells.remove("source");
    let joined = cells.into_iter();
    joined.map(|(field, parts)| (field, join(&parts))).collect()
}

/// Appends a line of a field to its parts.
fn append(parts: &mut Vec<String>, line: &str) {
    let text = line.trim();
    let closes = text.starts_with([')', ']', '}']);
    let is_part = line.starts_with("    ") && !line.starts_with("     ") && !closes;
    if is_part || !line.starts_with(' ') {
        parts.push(text.to_owned());
        return;
    }
    let part = parts.last_mut().unwrap();
    if closes {
        part.truncate(part.trim_end_matches(',').len());
    }
    if text.starts_with('}') || !closes && !part.ends_with(['(', '[']) {
        part.push(' ');
    }
    part.push_str(text);
}

fn join(parts: &[String]) -> String {
    let columns: usize = parts.iter().map(String::len).sum();
    let [first, inner @ .., last] = parts else {
        return parts.concat().trim_end_matches(',').to_owned();
    };
    let last = last.trim_end_matches(',');
    if columns > MAX_COLUMNS {
        let lines: String = inner.iter().map(|part| format!("    {part}\n")).collect();
        return format!("{first}\n{lines}{last}");
    }
    let inner = inner.join(" ");
    let inner = inner.trim_end_matches(',');
    if last == "}" {
        format!("{first} {inner} {last}")
    } else {
        format!("{first}{inner}{last}")
    }
}
