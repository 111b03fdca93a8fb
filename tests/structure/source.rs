//! The files of src/ as tokens: the paths and the strings of their code.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};

/// A source file, without comments, attributes and unit tests.
pub(crate) struct Source {
    /// From the folder src/.
    pub(crate) path: PathBuf,
    /// The module's path from the root of the crate.
    pub(crate) module: Vec<String>,
    /// The paths that its code names, such as `super::wire::Request`.
    pub(crate) names: Vec<String>,
    /// The contents of its strings.
    pub(crate) strings: Vec<String>,
    text: String,
}

impl Source {
    pub(crate) fn all() -> &'static [Self] {
        static ALL: LazyLock<Vec<Source>> = LazyLock::new(Source::read_all);
        &ALL
    }

    fn read_all() -> Vec<Self> {
        let folder = kit::root().join("src");
        let files = kit::files::below(&folder, &["rs"]);
        let files = files.iter().filter(|path| !path.ends_with("tests.rs"));
        files
            .map(|path| {
                let text = std::fs::read_to_string(path).unwrap();
                Self::parse(path.strip_prefix(&folder).unwrap(), text)
            })
            .collect()
    }

    fn parse(path: &Path, text: String) -> Self {
        let names = path.with_extension("");
        let names = names.iter().map(|name| name.to_str().unwrap().to_owned());
        let tokens = text
            .parse()
            .unwrap_or_else(|error| panic!("{path:?}: {error}"));
        let mut source = Self {
            path: path.to_owned(),
            module: names
                .filter(|name| name != "mod" && name != "lib")
                .collect(),
            names: Vec::new(),
            strings: Vec::new(),
            text,
        };
        source.read("", tokens);
        source
    }

    /// Adds the paths and strings of tokens. `prefix` is the path before a group of a `use`.
    fn read(&mut self, prefix: &str, tokens: TokenStream) {
        let mut path = prefix.to_owned();
        let mut tokens = without_tests(tokens).into_iter();
        while let Some(token) = tokens.next() {
            match token {
                TokenTree::Punct(colon)
                    if colon.as_char() == ':' && colon.spacing() == Spacing::Joint =>
                {
                    path.push_str("::");
                    tokens.next();
                    continue;
                }
                TokenTree::Ident(name) if path.ends_with("::") || path.is_empty() => {
                    path.push_str(&name.to_string());
                    continue;
                }
                TokenTree::Ident(name) if name == "as" && !prefix.is_empty() => drop(tokens.next()),
                TokenTree::Ident(name) => {
                    self.names.push(path);
                    path = format!("{prefix}{name}");
                    continue;
                }
                TokenTree::Group(group) => {
                    let is_use = group.delimiter() == Delimiter::Brace && path.ends_with("::");
                    self.read(if is_use { &path } else { "" }, group.stream());
                }
                TokenTree::Literal(literal) => {
                    let literal = literal.to_string();
                    let string = literal
                        .split_once('"')
                        .and_then(|(_, rest)| rest.rsplit_once('"'));
                    self.strings
                        .extend(string.map(|(string, _)| string.to_owned()));
                }
                TokenTree::Punct(_) => {}
            }
            // The path ends here, or it ended with a group: then its last `::` has nothing after
            // it.
            self.names
                .push(std::mem::replace(&mut path, prefix.to_owned()));
        }
        self.names.push(path);
    }

    /// The paths inside this crate that the code names, each from the root of the crate.
    pub(crate) fn uses(&self) -> Vec<Vec<String>> {
        let paths = self
            .names
            .iter()
            .filter(|path| path.contains("::") && !path.ends_with("::"));
        paths.filter_map(|path| self.absolute(path)).collect()
    }

    /// A path of this file from the root of the crate; `None` for other crates and local names.
    fn absolute(&self, path: &str) -> Option<Vec<String>> {
        let mut parts = path.split("::").peekable();
        let mut absolute = match *parts.peek()? {
            "crate" => Vec::new(),
            "self" | "super" => self.module.clone(),
            name if self.text.contains(&format!("mod {name};")) => self.module.clone(),
            _ => return None,
        };
        for part in parts {
            match part {
                "crate" | "self" => {}
                "super" => drop(absolute.pop()),
                name => absolute.push(name.to_owned()),
            }
        }
        Some(absolute)
    }
}

/// The tokens without attributes, doc comments and items that only tests have.
fn without_tests(tokens: TokenStream) -> Vec<TokenTree> {
    let is_mark = |token: &TokenTree, mark| matches!(token, TokenTree::Punct(punct) if punct.as_char() == mark);
    let is_block = |token: &TokenTree| matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace);
    let mut kept = Vec::new();
    let mut tokens = tokens.into_iter();
    while let Some(token) = tokens.next() {
        if !is_mark(&token, '#') {
            kept.push(token);
            continue;
        }
        let attribute = tokens.find(|token| !is_mark(token, '!'));
        if attribute
            .is_some_and(|attribute| attribute.to_string().replace(' ', "") == "[cfg(test)]")
        {
            tokens.find(|token| is_mark(token, ';') || is_block(token));
        }
    }
    kept
}

#[test]
fn uses_and_strings_are_found() {
    let text = "use super::c::{D as E, f::{self, G}}; /* crate::no */ #[cfg(test)] mod t { use crate::no; }
        fn h() { let x: crate::i::J = k::<u8>(\"\\\"x\", r#\"y\"#, '\"'); } // use crate::no";
    let source = Source::parse(Path::new("a/b.rs"), text.to_owned());
    let uses: Vec<String> = source.uses().iter().map(|path| path.join("::")).collect();
    assert_eq!(uses, ["a::c::D", "a::c::f", "a::c::f::G", "i::J"]);
    assert_eq!(source.strings, ["\\\"x", "y"]);
}
