//! The floors of the house: imports go down only, protocols do not know each other, nom stays private.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::panic,
    clippy::arithmetic_side_effects,
    reason = "a test"
)]

use std::path::{Path, PathBuf};

/// Rooms by floor; a room may use rooms of its own floor's list entry and of every floor below.
const FLOORS: [&[&str]; 5] = [
    &["wire", "error", "limits", "secret"],
    &["model", "session"],
    &["quake3", "gamespy1", "gamespy4", "ut2004"],
    &["protocol", "games", "serve"],
    &["net"],
];

fn floor(room: &str) -> usize {
    FLOORS
        .iter()
        .position(|rooms| rooms.contains(&room))
        .unwrap_or_else(|| panic!("room {room:?} has no floor"))
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}

/// (room, file, line number, line) of every line of code in src/.
fn lines() -> Vec<(String, PathBuf, usize, String)> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut lines = Vec::new();
    for path in sources(&src) {
        let inside = path.strip_prefix(&src).unwrap().to_owned();
        let room = inside.iter().next().unwrap().to_str().unwrap().trim_end_matches(".rs").to_owned();
        for (number, line) in std::fs::read_to_string(&path).unwrap().lines().enumerate() {
            if !line.trim_start().starts_with("//") {
                lines.push((room.clone(), inside.clone(), number + 1, line.to_owned()));
            }
        }
    }
    lines
}

#[test]
fn imports_go_down_only() {
    let mut imports = 0;
    for (room, path, number, line) in lines() {
        if room == "lib" {
            continue;
        }
        let code = line.split("//").next().unwrap();
        for used in code.split("crate::").skip(1) {
            let used: String = used.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
            if used.is_empty() {
                panic!("{}:{number}: list rooms one `use crate::room` a line: {line}", path.display());
            }
            imports += 1;
            if used == room {
                continue;
            }
            let (here, there) = (floor(&room), floor(&used));
            // Rooms of one floor may know each other, but the protocols may not.
            let allowed = there < here || (there == here && here != 2);
            assert!(allowed, "{}:{number}: {room} must not use {used}: {line}", path.display());
        }
    }
    assert!(imports > 50, "only {imports} imports seen: does this test still read the sources?");
    assert!(floor("wire") < floor("net"));
}

#[test]
fn nom_stays_out_of_public_signatures() {
    for (_, path, number, line) in lines() {
        let public = line.trim_start().starts_with("pub ");
        assert!(!(public && line.contains("IResult")), "{}:{number}: {line}", path.display());
        assert!(!(public && line.contains("nom::")), "{}:{number}: {line}", path.display());
    }
}

#[test]
fn sockets_and_clocks_are_upstairs_only() {
    for (room, path, number, line) in lines() {
        for word in ["tokio::", "UdpSocket", "Instant::now()", "SystemTime", "getrandom::"] {
            let allowed = room == "net" || line.contains("allow(") || path.ends_with("tests.rs");
            let in_unit_test = line.contains("Instant::now()") && line.starts_with("        ");
            assert!(
                allowed || in_unit_test || !line.contains(word),
                "{}:{number}: {word} below net: {line}",
                path.display()
            );
        }
    }
}

#[test]
fn rooms_keep_their_size() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for path in sources(&src) {
        let length = std::fs::read_to_string(&path).unwrap().lines().count();
        assert!(length <= 400, "{} has {length} lines: two rooms", path.display());
    }
}
