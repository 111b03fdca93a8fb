//! Checks layers, circles of files, and that only the tables name engines.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use kit::files::{numbered_names, texts_below};
use proc_macro2::{TokenStream, TokenTree};

/// A module uses modules of its own layer and of the layers below, and a part of a protocol uses
/// parts of its own row and of the rows below. Protocols do not use each other.
#[test]
fn uses_go_down_only() {
    let layers = numbered_names(".github/CONTRIBUTING.md", "| layer |");
    let rows = numbered_names(".github/CONTRIBUTING.md", "| row |");
    let row_of = |part| rows.get(part).unwrap_or(&rows["all others"]);
    let of_protocols = layers["quake3"];
    let (mut of_layers, mut of_parts) = (0, 0);
    for source in SOURCES.iter().filter(|source| source.file != "lib.rs") {
        let (file, module) = (&source.file, &source.module);
        assert!(layers.contains_key(&module[0]), "{file} has no layer");
        let layer = layers[&module[0]];
        for used in &source.uses {
            let goes_down = if module[0] != used[0] {
                of_layers += 1;
                let used = layers.get(&used[0]);
                used.is_none_or(|used| *used < layer || (*used == layer && layer != of_protocols))
            } else if layer == of_protocols
                && let ([_, part, ..], [_, used, ..]) = (&module[..], &used[..])
            {
                of_parts += 1;
                row_of(used) <= row_of(part)
            } else {
                true
            };
            // Clippy forbids clocks, see `.clippy.toml`.
            let mut names = used.iter().map(|name| &**name);
            let is_of_system = names.any(|name| ["tokio", "UdpSocket", "thread"].contains(&name));
            let is_allowed = goes_down && (module[0] == "net" || !is_of_system);
            assert!(is_allowed, "{file} uses {}", used.join("::"));
        }
    }
    assert!(of_layers > 300 && of_parts > 100, "{of_layers} {of_parts}");
}

#[test]
fn files_do_not_use_each_other_in_circles() {
    // A path begins with the path of its module, and goes on to an item.
    let file_of = |path: &Vec<String>| {
        let modules = SOURCES.iter().filter(|at| path.starts_with(&at.module));
        let module = modules.max_by_key(|source| source.module.len());
        module.map(|source| &*source.file)
    };
    let files_used_by = |source: &'static Source| {
        let used = source.uses.iter().filter_map(file_of);
        let others = used.filter(|file| *file != source.file);
        (&*source.file, others.collect())
    };
    let mut uses: BTreeMap<&str, BTreeSet<&str>> = SOURCES.iter().map(files_used_by).collect();
    let count: usize = uses.values().map(BTreeSet::len).sum();
    assert!(count > 300, "found only {count} uses");

    // The sockets of one system and their interface use each other.
    uses.remove("net/linux/batch.rs");
    // A file that uses none of the remaining files is on no circle, nor is one that none uses. Each
    // round removes one, until those on circles remain.
    for _round in SOURCES.iter() {
        let remaining: BTreeSet<&str> = uses.keys().copied().collect();
        let used: BTreeSet<&str> = uses.values().flatten().copied().collect();
        uses.retain(|file, its| used.contains(file) && !its.is_disjoint(&remaining));
    }
    assert!(uses.is_empty(), "on circles: {:#?}", uses.keys());
}

/// Literals name engines and games in the tables only, except a protocol named like its game, and a
/// request that only one game's masters read.
#[test]
fn only_the_tables_name_engines_and_games() {
    let games = queryport::games::Game::all();
    let games = games.flat_map(|game| [Some(game.name), game.gamename]);
    let mut names: BTreeSet<String> = games.flatten().map(words).collect();
    let mut tables = texts_below("src", &["rs"]);
    tables.retain(|(file, _)| file.ends_with("engines.rs"));
    for (_, text) in &tables {
        let lines = text.lines().map(str::trim);
        let engines = lines.filter_map(|line| line.strip_prefix("name: "));
        names.extend(engines.map(|name| words(name.trim_matches(['"', ',']))));
    }
    let others = ["keys", "other engines", "unknown"];
    names.retain(|name| name.trim().len() >= 4 && !others.contains(&name.trim()));
    assert!(names.contains(" ioquake3 "), "{names:?}");
    assert!(names.len() > 100, "{names:?}");

    for Source { file, literals, .. } in SOURCES.iter() {
        let is_table = file.ends_with("engines.rs") || file.starts_with("games");
        let has_names = [
            "lists/quake3.rs",
            "protocol.rs",
            "quake3/master/heartbeats.rs",
        ];
        if is_table || has_names.contains(&&**file) {
            continue;
        }
        for literal in literals {
            let text = words(literal);
            let named = names.iter().find(|name| text.contains(*name));
            assert_eq!(named, None, "{file} has {literal}");
        }
    }
}

/// A key that no row and no code reads has no meaning.
#[test]
fn every_known_key_is_read() {
    let (known, others): (Vec<_>, Vec<_>) = SOURCES
        .iter()
        .partition(|source| source.file == "meaning/key.rs");
    let read: BTreeSet<&String> = others.iter().flat_map(|source| &source.literals).collect();
    // The names are the first literals of the file, in order.
    let literals = &known[0].literals;
    let is_in_order = |pair: &&[String]| pair[0].trim_matches('"') < pair[1].trim_matches('"');
    let names = &literals[..=literals.windows(2).take_while(is_in_order).count()];
    assert!(names.len() > 150, "{names:?}");
    let unread: Vec<_> = names.iter().filter(|name| !read.contains(name)).collect();
    assert!(unread.is_empty(), "{unread:?}");
}

/// The words of a text, each with spaces around it.
fn words(text: &str) -> String {
    let text = text.to_lowercase();
    format!(" {} ", text.replace(|c: char| !c.is_alphanumeric(), " "))
}

static SOURCES: LazyLock<Vec<Source>> = LazyLock::new(|| {
    let mut files = texts_below("src", &["rs"]);
    files.retain(|(file, _)| !file.ends_with("tests.rs"));
    let sources = files.iter().map(|(file, text)| Source::parse(file, text));
    sources.collect()
});

/// A source file, without comments and unit tests.
#[derive(Default)]
struct Source {
    /// From the folder src/.
    file: String,
    /// The module's path from the root of the crate.
    module: Vec<String>,
    /// The paths that its code names, each from the root of the crate. A path of another crate
    /// begins with this module instead.
    uses: Vec<Vec<String>>,
    /// Its strings and numbers, as they are written.
    literals: Vec<String>,
}

impl Source {
    fn parse(file: &str, text: &str) -> Self {
        let names = file.trim_end_matches(".rs").split('/');
        let names = names.filter(|name| !["mod", "lib"].contains(name));
        let mut source = Self {
            file: file.to_owned(),
            module: names.map(str::to_owned).collect(),
            ..Self::default()
        };
        // Unit tests are modules at the end of a file.
        let code = text.split("tests {\n").next().unwrap().lines();
        let code = code.filter(|line| !line.trim_start().starts_with("//"));
        let code: Vec<&str> = code.collect();
        source.read("", code.join("\n").parse().unwrap());
        source
    }

    /// Adds the paths and literals of tokens. `prefix` is the path before a group of a `use`.
    fn read(&mut self, prefix: &str, tokens: TokenStream) {
        let mut path = prefix.to_owned();
        for token in tokens {
            let is_open = path.is_empty() || path.ends_with("::");
            match token {
                TokenTree::Punct(mark) if mark.as_char() == ':' => path.push(':'),
                TokenTree::Ident(name) if is_open => path.push_str(&name.to_string()),
                TokenTree::Literal(literal) => self.literals.push(literal.to_string()),
                TokenTree::Group(group) => {
                    self.read(if is_open { &path } else { "" }, group.stream());
                }
                end => {
                    self.add(&path);
                    path = prefix.to_owned();
                    if let TokenTree::Ident(name) = end {
                        path.push_str(&name.to_string());
                    }
                }
            }
        }
        self.add(&path);
    }

    /// Adds a path, unless it is a name alone or goes on in a group.
    fn add(&mut self, path: &str) {
        if !path.contains("::") || path.ends_with("::") {
            return;
        }
        let mut absolute = self.module.clone();
        for name in path.split("::") {
            match name {
                "crate" => absolute.clear(),
                "self" => {}
                "super" => drop(absolute.pop()),
                name => absolute.push(name.to_owned()),
            }
        }
        self.uses.push(absolute);
    }
}
