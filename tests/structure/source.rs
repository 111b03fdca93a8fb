//! The files of src/ as tokens: the paths and the literals of their code.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// A source file, without comments, attributes and unit tests.
pub(crate) struct Source {
    /// From the folder src/.
    pub(crate) file: PathBuf,
    /// The module's path from the root of the crate.
    pub(crate) module: Vec<String>,
    /// The paths that its code names, such as `super::wire::Request`.
    pub(crate) paths: Vec<String>,
    /// Its strings and numbers, as they are written.
    pub(crate) literals: Vec<String>,
    text: String,
}

impl Source {
    pub(crate) fn all() -> &'static [Self] {
        static ALL: LazyLock<Vec<Source>> = LazyLock::new(|| {
            let folder = kit::root().join("src");
            let mut files = kit::files::below(&folder, &["rs"]);
            files.retain(|file| !file.ends_with("tests.rs"));
            let read = |file: &PathBuf| {
                let text = std::fs::read_to_string(file).unwrap();
                Source::parse(file.strip_prefix(&folder).unwrap(), text)
            };
            files.iter().map(read).collect()
        });
        &ALL
    }

    fn parse(file: &Path, text: String) -> Self {
        let names = file.with_extension("");
        let names = names.iter().map(|name| name.to_str().unwrap().to_owned());
        let mut source = Self {
            file: file.to_owned(),
            module: names
                .filter(|name| !["mod", "lib"].contains(&&**name))
                .collect(),
            paths: Vec::new(),
            literals: Vec::new(),
            text,
        };
        source.read("", source.text.parse().unwrap());
        source
    }

    /// Adds the paths and literals of tokens. `prefix` is the path before a group of a `use`.
    fn read(&mut self, prefix: &str, tokens: TokenStream) {
        let mut path = prefix.to_owned();
        let mut tokens = tokens.into_iter();
        while let Some(token) = tokens.next() {
            let is_at_name = path.is_empty() || path.ends_with("::");
            let mut next = prefix.to_owned();
            match token {
                TokenTree::Punct(colon) if colon.as_char() == ':' => {
                    path.push(':');
                    continue;
                }
                TokenTree::Ident(name) if is_at_name => {
                    path.push_str(&name.to_string());
                    continue;
                }
                TokenTree::Ident(name) if name == "as" && !prefix.is_empty() => drop(tokens.next()),
                TokenTree::Ident(name) => next.push_str(&name.to_string()),
                TokenTree::Punct(mark) if mark.as_char() == '#' => skip_attribute(&mut tokens),
                TokenTree::Punct(_) => {}
                TokenTree::Literal(literal) => self.literals.push(literal.to_string()),
                TokenTree::Group(group) => {
                    let is_use = group.delimiter() == Delimiter::Brace && path.ends_with("::");
                    self.read(if is_use { &path } else { "" }, group.stream());
                }
            }
            self.paths.push(std::mem::replace(&mut path, next));
        }
        self.paths.push(path);
    }

    /// The paths inside this crate that the code names, each from the root of the crate.
    pub(crate) fn uses(&self) -> impl Iterator<Item = Vec<String>> {
        let paths = self.paths.iter().filter(|path| !path.ends_with("::"));
        paths.filter_map(|path| self.absolute(path))
    }

    /// A path of this file from the root of the crate; `None` for other crates and local names.
    fn absolute(&self, path: &str) -> Option<Vec<String>> {
        let (first, _) = path.split_once("::")?;
        let is_child = self.text.contains(&format!("mod {first};"));
        let mut absolute = match first {
            "crate" => Vec::new(),
            "self" | "super" => self.module.clone(),
            _ if is_child => self.module.clone(),
            _ => return None,
        };
        for part in path.split("::") {
            match part {
                "crate" | "self" => {}
                "super" => drop(absolute.pop()),
                name => absolute.push(name.to_owned()),
            }
        }
        Some(absolute)
    }
}

/// Skips the tokens of an attribute after its `#`. With `#[cfg(test)]`, also its item.
fn skip_attribute(tokens: &mut impl Iterator<Item = TokenTree>) {
    let attribute = tokens.find(|token| matches!(token, TokenTree::Group(_)));
    if attribute.is_some_and(|attribute| attribute.to_string() == "[cfg (test)]") {
        tokens.find(|token| {
            let end = token.to_string();
            end == ";" || end.starts_with('{')
        });
    }
}

#[test]
fn uses_and_literals_are_found() {
    let text = "use super::c::{D as E, f::{self, G}}; /* crate::no */ #[cfg(test)] mod t { use crate::no; }
        fn h() { let x: crate::i::J = k::<u8>(\"\\\"x\", r#\"y\"#, '\"'); } // use crate::no";
    let source = Source::parse(Path::new("a/b.rs"), text.to_owned());
    let uses: Vec<String> = source.uses().map(|path| path.join("::")).collect();
    assert_eq!(uses, ["a::c::D", "a::c::f", "a::c::f::G", "i::J"]);
    assert_eq!(source.literals, ["\"\\\"x\"", "r#\"y\"#", "'\"'"]);
}
