//! The files of src/, read as text: code without comments, string contents and unit tests, and the
//! strings apart.

use std::path::{Path, PathBuf};

/// A source file.
pub(crate) struct Source {
    /// From the folder src/.
    pub(crate) path: PathBuf,
    /// The module's path from the root of the crate.
    pub(crate) module: Vec<String>,
    /// The code, with empty strings.
    pub(crate) code: String,
    /// The contents of its strings.
    pub(crate) strings: Vec<String>,
}

impl Source {
    pub(crate) fn all() -> Vec<Self> {
        let folder = kit::root().join("src");
        let files = kit::files::below(&folder, &["rs"]);
        files
            .iter()
            .filter(|path| !path.ends_with("tests.rs"))
            .map(|path| Self::read(&folder, path))
            .collect()
    }

    fn read(folder: &Path, path: &Path) -> Self {
        let path = path.strip_prefix(folder).unwrap();
        let text = std::fs::read_to_string(folder.join(path)).unwrap();
        Self::parse(path, &text)
    }

    pub(crate) fn parse(path: &Path, text: &str) -> Self {
        let names = path.with_extension("");
        let mut module: Vec<String> = names
            .iter()
            .map(|name| name.to_str().unwrap().to_owned())
            .collect();
        if matches!(module.last().map(String::as_str), Some("mod" | "lib")) {
            module.pop();
        }
        let (code, strings) = split(&without_tests(text));
        Self {
            path: path.to_owned(),
            module,
            code,
            strings,
        }
    }

    /// The paths inside this crate that the code names, each from the root of the crate.
    pub(crate) fn uses(&self) -> Vec<Vec<String>> {
        let mut paths = Vec::new();
        for statement in self.code.split("use ").skip(1) {
            let tree = statement.split(';').next().unwrap();
            expand("", tree, &mut paths);
        }
        let is_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
        let words = self.code.split(|c| !is_path(c));
        // A word that ends in `::` is the head of a group, which was expanded.
        let is_name = |word: &&str| word.starts_with("crate::") || word.starts_with("super::");
        let names = words.filter(|word| is_name(word) && !word.ends_with("::"));
        paths.extend(names.map(str::to_owned));
        paths
            .iter()
            .filter_map(|path| self.absolute(path))
            .collect()
    }

    /// A path of this file from the root of the crate; `None` for other crates and local names.
    fn absolute(&self, path: &str) -> Option<Vec<String>> {
        let mut parts = path.split("::").peekable();
        let mut absolute = match *parts.peek()? {
            "crate" => Vec::new(),
            "self" | "super" => self.module.clone(),
            name if path.contains("::") && self.code.contains(&format!("mod {name};")) => {
                self.module.clone()
            }
            _ => return None,
        };
        for part in parts {
            match part {
                "crate" | "self" | "" => {}
                "super" => drop(absolute.pop()),
                name => absolute.push(name.to_owned()),
            }
        }
        Some(absolute)
    }
}

/// Adds every path of a `use` tree.
fn expand(prefix: &str, tree: &str, paths: &mut Vec<String>) {
    let Some((head, group)) = tree.split_once('{') else {
        let name = tree.split(" as ").next().unwrap();
        return paths.push(format!("{prefix}{}", name.trim()));
    };
    let prefix = format!("{prefix}{}", head.trim());
    let (mut depth, mut start) = (0, 0);
    for (index, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            ',' | '}' if depth == 0 => {
                expand(&prefix, &group[start..index], paths);
                start = index + 1;
            }
            '}' => depth -= 1,
            _ => {}
        }
    }
}

/// The text up to the unit tests, which end a file, without other items for tests.
fn without_tests(text: &str) -> String {
    let mut kept = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.trim() != "#[cfg(test)]" {
            kept.push_str(line);
            kept.push('\n');
            continue;
        }
        let item = lines
            .by_ref()
            .find(|line| !line.trim_start().starts_with("#["));
        if item.is_some_and(|item| !item.ends_with(';')) {
            // It ends at the first line with its indentation that closes it.
            let indent = &line[..line.len() - line.trim_start().len()];
            let end = format!("{indent}}}");
            let _ = lines.by_ref().find(|line| line.starts_with(&end));
        }
    }
    kept
}

/// Separates strings from code, and leaves comments out.
fn split(text: &str) -> (String, Vec<String>) {
    let (mut code, mut strings) = (String::new(), Vec::new());
    let mut rest = text;
    while let Some(at) = rest.find(['"', '/', '\'']) {
        code.push_str(&rest[..at]);
        let is_raw = code.ends_with(['r', '#']);
        rest = &rest[at..];
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with('"') {
            let end = if is_raw {
                raw_end(&code, rest)
            } else {
                end(rest)
            };
            strings.push(rest[1..end].to_owned());
            code.push_str("\"\"");
            end + 1
        } else {
            // A character, which can be a quotation mark; a lifetime has no second apostrophe.
            let character = ["'\"'", "'\\''", "'\\\"'", "'/'"];
            let found = character.iter().find(|&&c| rest.starts_with(c));
            let length = found.map_or(1, |character| character.len());
            code.push_str(if length == 1 { &rest[..1] } else { "' '" });
            length
        };
        rest = &rest[length..];
    }
    code.push_str(rest);
    (code, strings)
}

/// The quotation mark that ends a string, which begins with one.
fn end(text: &str) -> usize {
    let mut is_escaped = false;
    let mut inside = text.char_indices().skip(1);
    let end = inside.find(|&(_, c)| {
        let ends = c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        ends
    });
    end.unwrap().0
}

/// The same for a raw string.
fn raw_end(before: &str, text: &str) -> usize {
    let signs = before.len() - before.trim_end_matches('#').len();
    let end = format!("\"{}", "#".repeat(signs));
    1 + text[1..].find(&end).unwrap()
}

#[test]
fn uses_and_strings_are_found() {
    let text = "use super::c::{D, e::{self, F}};\nfn f() { crate::g::h(\"\\\"x\", r#\"y\"#, '\"'); } // use crate::no\n";
    let source = Source::parse(Path::new("a/b.rs"), text);
    let uses: Vec<String> = source.uses().iter().map(|path| path.join("::")).collect();
    for wanted in ["a::c::D", "a::c::e", "a::c::e::F", "g::h"] {
        assert!(
            uses.iter().any(|path| path == wanted),
            "{wanted} in {uses:?}"
        );
    }
    assert!(!uses.iter().any(|path| path.contains("no")));
    assert_eq!(source.strings, ["\\\"x", "y"]);
}
