//! The whole browser without a terminal: events and keys in, a screen in memory out.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use kit::link::Random;
use queryport::games::{Game, MasterAddress, MasterForm};
use queryport::lists::Scope;
use queryport::{Error, Outcome, Player, Protocol, QueryError, ServerStatus, Team, Text};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::{Buffer, Cell};
use tokio::net::UdpSocket;

use crate::embedded::quake3::caret;

use super::input::{Action, HELP, action};
use super::port::Port;
use super::server::{Query, Server};
use super::source::{List, Source, client};
use super::state::{Browser, Command, Event, Mode, QueryResult};
use super::target::{Target, What};
use super::view::{self, colour::Depth};

#[allow(clippy::disallowed_methods, reason = "a start for virtual time")]
fn start() -> Instant {
    Instant::now()
}

fn target(number: u16) -> Target {
    (
        Protocol::Quake3.into(),
        format!("192.0.2.1:{}", 27960 + number),
    )
}

fn answer(name: Text, map: &str, players: u32, ping: u64) -> Outcome<ServerStatus> {
    let mut status = ServerStatus::default();
    status.name = Some(name);
    status.map = Some(map.into());
    (status.player_count, status.max_players, status.bot_count) =
        (Some(players), Some(16), Some(1));
    let mut ann = Player::new(caret("^1Ann"));
    (ann.score, ann.ping, ann.team) = (Some(12), Some(48), Some(0));
    status.players = [ann].into();
    let mut red = Team::default();
    (red.id, red.name, red.score) = (Some(0), Some("Red".into()), Some(3));
    status.teams = vec![red];
    status.rules = [("fraglimit", "20"), ("sv_floodProtect", "1")]
        .into_iter()
        .collect();
    Outcome::new(
        status,
        ([192, 0, 2, 1], 27960).into(),
        Some(Duration::from_millis(ping)),
    )
}

fn silent() -> QueryResult {
    let error = QueryError::Timeout {
        requests: 3,
        waited: Duration::from_secs(4),
    };
    let peer = ([192, 0, 2, 1], 27963).into();
    Err(Error::Query { peer, error })
}

/// A browser after a scan of these servers, and of one that does not answer.
fn browser(servers: Vec<Outcome<ServerStatus>>) -> Browser {
    let (start, favourite) = (start(), target(1));
    let mut browser = Browser::new("a test".to_owned(), BTreeSet::from([favourite]), start);
    let answers = servers.into_iter().map(Ok);
    for (number, result) in (0..).zip(answers.chain([silent()])) {
        browser.handle(Event::Listed(target(number)), start);
        browser.handle(
            Event::Scanned(target(number), Box::new(result)),
            start + Duration::from_secs(1),
        );
    }
    browser.handle(Event::ListEnded, start);
    browser.handle(Event::ScanEnded, start + Duration::from_secs(2));
    browser
}

fn some() -> Browser {
    browser(vec![
        answer(caret("^1Red ^7Planet"), "q3dm17", 3, 80),
        answer(caret("Green ^2Leaf"), "ctf_compromise", 9, 20),
        answer(caret("Empty"), "aggressor", 0, 140),
    ])
}

fn drawn(browser: &mut Browser, columns: u16, rows: u16) -> Buffer {
    drawn_at(browser, columns, rows, start())
}

fn drawn_at(browser: &mut Browser, columns: u16, rows: u16, now: Instant) -> Buffer {
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
    terminal
        .draw(|frame| view::draw(frame, browser, Depth::True, now))
        .unwrap();
    terminal.backend().buffer().clone()
}

/// The lines of a screen without the spaces at their ends.
fn lines(buffer: &Buffer) -> Vec<String> {
    let row = |y: u16| {
        (0..buffer.area.width)
            .map(|x| buffer[(x, y)].symbol())
            .collect::<String>()
    };
    (0..buffer.area.height)
        .map(|y| row(y).trim_end().to_owned())
        .collect()
}

fn screen(browser: &mut Browser, columns: u16, rows: u16) -> Vec<String> {
    lines(&drawn(browser, columns, rows))
}

fn press(browser: &mut Browser, keys: &str) -> Vec<Command> {
    let code = |c: char| match c {
        '\n' => KeyCode::Enter,
        '\t' => KeyCode::Tab,
        '\u{1b}' => KeyCode::Esc,
        '\u{8}' => KeyCode::Backspace,
        '↓' => KeyCode::Down,
        '↑' => KeyCode::Up,
        '⇟' => KeyCode::PageDown,
        '⇞' => KeyCode::PageUp,
        c => KeyCode::Char(c),
    };
    let mut commands = Vec::new();
    for c in keys.chars() {
        let key = KeyEvent::new(code(c), KeyModifiers::NONE);
        commands.extend(action(key, browser.mode).and_then(|action| browser.act(action)));
    }
    commands
}

/// The names of the table, from the top.
fn names(browser: &mut Browser) -> Vec<String> {
    browser.settle(100);
    let name = |number: &usize| browser.servers[*number].keys[0].clone();
    browser.shown.iter().map(name).collect()
}

/// Screens of every mode and width: the size, the keys that were pressed, and the text.
#[test]
fn every_screen_is_the_listed_one() {
    let (mut text, now) = (String::new(), start());
    let mut add = |mut browser: Browser, (columns, rows): (u16, u16), keys: &str| {
        drawn_at(&mut browser, columns, rows, now);
        press(&mut browser, keys);
        let lines = lines(&drawn_at(&mut browser, columns, rows, now));
        text += &format!("\n{columns} x {rows} {keys:?}\n{}\n", lines.join("\n"));
    };
    for (size, keys) in [
        ((20, 5), ""),
        ((34, 7), ""),
        ((66, 7), "8"),
        ((80, 8), ""),
        ((103, 7), ""),
        ((200, 7), ""),
        ((80, 24), "?"),
        ((30, 24), "?"),
        ((99, 24), "\n"),
        ((120, 24), "\n\t"),
        ((100, 12), "↓↓↓\n"),
        ((80, 7), "/red\n"),
        ((80, 7), "/nothing\n"),
        ((40, 7), "3"),
        ((80, 7), "7>"),
        ((80, 7), "a"),
    ] {
        add(some(), size, keys);
    }
    let mut bots = answer(caret("Bots"), "q3dm1", 2, 30);
    (bots.answer.password, bots.answer.bot_count) = (Some(true), None);
    let mut bot = Player::new(caret("^2Sarge"));
    bot.bot = Some(true);
    let mut eve = Player::new(caret("Eve"));
    eve.spectator = Some(true);
    bots.answer.players = [bot, Player::new(caret("Ann")), eve].into();
    bots.answer.teams.clear();
    add(browser(vec![bots]), (180, 24), "\n");
    let new = || Browser::new("a test".to_owned(), BTreeSet::new(), now);
    add(new(), (80, 8), "");
    let mut listing = new();
    listing.handle(Event::Listed(target(0)), now);
    listing.handle(Event::Rejected("a line".to_owned()), now);
    let unknown = Error::NameResolution {
        host: "192.0.2.1".to_owned(),
        source: std::sync::Arc::new(std::io::Error::other("no such name")),
    };
    listing.handle(Event::Scanned(target(1), Box::new(Err(unknown))), now);
    add(listing, (80, 8), "");
    let mut noted = some();
    noted.handle(Event::Note("a note".to_owned()), now);
    noted.kept_in = Some("~/.config/queryport/favourites".to_owned());
    add(noted, (80, 24), "?");
    let mut ended = new();
    ended.handle(Event::Rejected("a line".to_owned()), now);
    ended.handle(Event::ListEnded, now);
    ended.handle(Event::ScanEnded, now + Duration::from_secs(200));
    add(ended, (80, 8), "");
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("browser/screens.txt");
    kit::assert_listed(&file, text.trim_start());
}

/// The action of every key in every mode.
#[test]
fn every_key_has_the_listed_action() {
    use KeyCode::{
        BackTab, Backspace, Delete, Down, End, Enter, Esc, F, Home, Left, PageDown, PageUp, Right,
        Tab, Up,
    };

    let arrows = [Up, Down, Left, Right, PageUp, PageDown, Home, End];
    let others = [Enter, Tab, BackTab, Backspace, Delete, Esc, F(1), F(5)];
    let named = arrows.into_iter().chain(others);
    let letters = (' '..='~').map(KeyCode::Char);
    let modes = [Mode::Table, Mode::Details, Mode::Search, Mode::Help];
    let name = |action: Option<Action>| match action {
        Some(action) => format!("{action:?}"),
        None => "-".to_owned(),
    };
    let mut text = String::new();
    for (control, modifiers) in [("", KeyModifiers::NONE), ("Ctrl ", KeyModifiers::CONTROL)] {
        for code in named.clone().chain(letters.clone()) {
            let actions = modes.map(|mode| action(KeyEvent::new(code, modifiers), mode));
            // A letter without an action in the table is typed in a search, and closes the help.
            let is_listed = match modifiers {
                KeyModifiers::CONTROL => actions.iter().any(Option::is_some),
                _ => actions[0].is_some(),
            };
            if is_listed {
                let actions = actions.map(name).join(", ");
                text += &format!("{control}{code:?}: {actions}\n");
            }
        }
    }
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("browser/keys.txt");
    kit::assert_listed(&file, &text);
}

#[test]
fn lines_of_the_details_below_the_screen_are_counted() {
    let mut browser = some();
    let _ = drawn(&mut browser, 40, 15);
    press(&mut browser, "\n");
    let (mut seen, mut counts) = (Vec::new(), Vec::new());
    for _ in 0..20 {
        let shown = screen(&mut browser, 40, 15);
        let (last, details) = shown[2..14].split_last().unwrap();
        seen.extend(details.iter().cloned());
        match last.strip_suffix(" more below") {
            Some(count) => counts.push(count.parse::<usize>().unwrap()),
            None => seen.push(last.clone()),
        }
        press(&mut browser, "↓");
    }
    let all: Vec<usize> = (2..=*counts.first().unwrap()).rev().collect();
    assert_eq!(counts, all, "the last two lines come at once");
    for line in [
        " score    id  team",
        "     3     0  Red",
        "sv_floodProtect 1",
    ] {
        assert!(
            seen.iter().any(|seen| seen == line),
            "{line:?} in {seen:#?}"
        );
    }
}

#[test]
fn a_key_copies_the_address_that_players_connect_to() {
    let mut browser = some();
    let _ = drawn(&mut browser, 80, 24);
    let copied = |browser: &mut Browser| {
        let [Command::Copy(address)] = &press(browser, "c")[..] else {
            panic!()
        };
        address.clone()
    };
    assert_eq!(copied(&mut browser), "192.0.2.1:27961");
    let note = &screen(&mut browser, 80, 24)[23];
    assert_eq!(note, "copied 192.0.2.1:27961");
    let mut outcome = answer(caret("Green ^2Leaf"), "m", 9, 20);
    outcome.answer.game_port = Some(7777);
    for (server, expected) in [
        ("192.0.2.1:7778", "192.0.2.1:7777"),
        ("example.org", "example.org:7777"),
        ("[2001:db8::1]:7778", "[2001:db8::1]:7777"),
        ("2001:db8::1", "[2001:db8::1]:7777"),
    ] {
        let mut browser = Browser::new("a test".to_owned(), BTreeSet::new(), start());
        let target = (Protocol::GameSpy1.into(), server.to_owned());
        let result = Box::new(Ok(outcome.clone()));
        browser.handle(Event::Scanned(target, result), start());
        let _ = drawn(&mut browser, 80, 24);
        assert_eq!(copied(&mut browser), expected);
    }
}

#[test]
fn the_page_of_keys_has_all_keys_and_scrolls_on_a_small_terminal() {
    let mut browser = some();
    press(&mut browser, "?");
    let shown = screen(&mut browser, 80, 24).join("\n");
    for (key, meaning) in HELP {
        assert!(
            shown.contains(key) && shown.contains(meaning),
            "{key} {meaning} in {shown}"
        );
    }
    let shown = screen(&mut browser, 40, 12).join("\n");
    assert!(shown.contains(" more below "), "{shown}");
    press(&mut browser, "G");
    let last = screen(&mut browser, 40, 12).join("\n");
    assert!(
        browser.mode == Mode::Help && !last.contains("below"),
        "{last}"
    );
}

#[test]
fn names_keep_their_colours_except_in_the_selected_row() {
    let mut browser = some();
    let buffer = drawn(&mut browser, 80, 24);
    let at = |y: u16, symbol: &str| {
        (0..80)
            .map(|x| &buffer[(x, y)])
            .find(|cell| cell.symbol() == symbol)
            .unwrap()
            .clone()
    };
    assert_eq!(at(4, "R").fg, ratatui::style::Color::LightRed);
    assert_eq!(at(4, "P").fg, ratatui::style::Color::Reset);
    assert!(
        at(3, "L")
            .modifier
            .contains(ratatui::style::Modifier::REVERSED)
    );
    assert_eq!(at(3, "L").fg, ratatui::style::Color::Reset);
}

#[test]
fn hostile_names_stay_in_their_column() {
    let long = "long ".repeat(400);
    let hostile = [
        "\u{1b}[2J\u{1b}]0;title\u{7}clear",
        "\u{202e}gnp.exe\u{2066}\u{200f}right to left",
        "日本語のサーバー名は二倍の幅を取る長い名前です",
        "العربية עברית mixed",
        &long,
        "Z\u{335}\u{336}\u{337}\u{338}\u{339}\u{33a}algo",
        "👩‍👩‍👧‍👦 family 🏴‍☠️ flag",
        "\t\r\n\u{0}\u{85}\u{9b}31m",
        "",
    ];
    let servers = hostile
        .iter()
        .map(|name| answer(caret(name), name, 5, 50))
        .collect();
    let mut browser = browser(servers);
    for (columns, rows) in [(20, 5), (80, 24)] {
        let plain = |browser: &mut Browser| {
            let buffer = drawn(browser, columns, rows);
            let is_bad =
                |c: char| c.is_control() || "\u{200f}\u{202a}\u{202e}\u{2060}\u{2066}".contains(c);
            let mut symbols = buffer.content.iter().map(|cell| cell.symbol());
            assert!(!symbols.any(|symbol| symbol.contains(is_bad)), "{buffer:?}");
            buffer
        };
        // The counts of players are aligned.
        let buffer = plain(&mut browser);
        let is_count = |cells: &[Cell]| [0, 1, 2].map(|at| cells[at].symbol()) == ["/", "1", "6"];
        let rows_of_cells = buffer.content.chunks(columns.into());
        let ends: BTreeSet<usize> = rows_of_cells
            .filter_map(|row| row.windows(3).position(is_count))
            .collect();
        assert_eq!(ends.len(), 1, "at {columns} columns: {:#?}", lines(&buffer));
        press(&mut browser, "\n");
        for _ in 0..hostile.len() {
            let _ = plain(&mut browser);
            press(&mut browser, "↓");
        }
        press(&mut browser, "\u{1b}");
    }
}

#[test]
fn each_column_sorts_in_both_directions_and_missing_values_come_last() {
    let mut browser = some();
    let (red, green, empty) = ("red planet", "green leaf", "empty");
    for (key, order) in [
        // Most players first.
        ("", [green, red, empty]),
        ("5", [empty, red, green]),
        ("2", [empty, green, red]),
        ("2", [red, green, empty]),
        // The map.
        ("4", [empty, green, red]),
        // The ping.
        ("7", [green, red, empty]),
        ("i", [empty, red, green]),
        // Favourites first.
        ("1", [green, empty, red]),
        // The address.
        ("8", [red, green, empty]),
        // The column to the left.
        ("<", [green, red, empty]),
    ] {
        press(&mut browser, key);
        let silent = "";
        let [first, second, third] = order;
        assert_eq!(
            names(&mut browser),
            [first, second, third, silent],
            "{key:?}"
        );
    }
}

#[test]
fn a_search_narrows_the_table_with_each_key() {
    let mut browser = some();
    press(&mut browser, "/pl");
    assert_eq!(names(&mut browser), ["red planet"]);
    press(&mut browser, "x");
    assert!(names(&mut browser).is_empty());
    press(&mut browser, "\u{8}\u{8}\u{8}ANN ctf\n");
    assert_eq!(names(&mut browser), ["green leaf"], "a player and a map");
    assert!(screen(&mut browser, 80, 24)[23].starts_with("/ANN ctf  ? help"));
    press(&mut browser, "/\u{1b}");
    assert_eq!(names(&mut browser).len(), 4);
    press(&mut browser, &format!("/{}", "q".repeat(1000)));
    assert_eq!(browser.filter.search.len(), 100);
    assert!(screen(&mut browser, 20, 5)[4].ends_with('q'));
}

#[test]
fn conditions_hide_servers() {
    for (key, left) in [
        ("e", 2),
        ("u", 4),
        ("p", 4),
        ("o", 3),
        ("v", 1),
        ("ev", 1),
        ("ee", 4),
    ] {
        let mut browser = some();
        press(&mut browser, key);
        assert_eq!(names(&mut browser).len(), left, "{key}");
    }
    // A server with bots only is empty.
    for (players, bots, left) in [(1, None, 1), (2, Some(2), 0), (2, Some(1), 1)] {
        let mut outcome = answer(caret("Srv"), "m", players, 50);
        outcome.answer.bot_count = bots;
        let mut browser = browser(vec![outcome]);
        press(&mut browser, "e");
        assert_eq!(names(&mut browser).len(), left, "{players} {bots:?}");
    }
}

#[test]
fn the_selection_follows_its_server() {
    let mut browser = some();
    let _ = drawn(&mut browser, 80, 24);
    assert_eq!(browser.selected().unwrap().keys[0], "green leaf");
    // The user has not moved: the first row is selected, whichever server it shows.
    let crowd = |number, players| {
        Event::Scanned(
            target(number),
            Box::new(Ok(answer(caret("Red Planet"), "q3dm6", players, 80))),
        )
    };
    browser.handle(crowd(0, 16), start());
    let _ = drawn(&mut browser, 80, 24);
    assert_eq!(browser.selected().unwrap().keys[0], "red planet");
    press(&mut browser, "↓");
    browser.handle(crowd(0, 1), start());
    let _ = drawn(&mut browser, 80, 24);
    assert_eq!(
        (browser.selected().unwrap().keys[0].as_str(), browser.cursor),
        ("green leaf", 0)
    );
}

/// Also of a server that was the first row by chance, or that a filter would hide now.
#[test]
fn open_details_stay_with_their_server() {
    for columns in [80, 120] {
        let mut browser = some();
        let _ = drawn(&mut browser, columns, 24);
        press(&mut browser, "e\n");
        for players in [9, 1, 0] {
            let result = Box::new(Ok(answer(caret("Green ^2Leaf"), "ctf", players, 20)));
            let other = Box::new(Ok(answer(caret("Red Planet"), "q3dm17", 16, 80)));
            browser.handle(Event::Refreshed(target(1), result), start());
            browser.handle(Event::Refreshed(target(0), other), start());
            let _ = drawn(&mut browser, columns, 24);
            assert_eq!(browser.selected().unwrap().keys[0], "green leaf");
        }
        press(&mut browser, "\u{1b}");
        assert_eq!(names(&mut browser), ["red planet"]);
    }
    // A condition that is switched on applies to it, too.
    let mut browser = some();
    let _ = drawn(&mut browser, 120, 24);
    press(&mut browser, "↓↓\n");
    let _ = drawn(&mut browser, 120, 24);
    assert_eq!(browser.selected().unwrap().keys[0], "empty");
    press(&mut browser, "e");
    let _ = drawn(&mut browser, 120, 24);
    assert_eq!(browser.selected().unwrap().keys[0], "green leaf");
}

#[test]
fn keys_of_a_hidden_table_do_nothing() {
    let mut browser = some();
    let _ = drawn(&mut browser, 120, 24);
    press(&mut browser, "\n");
    // The terminal becomes narrow: the details fill it.
    let before = screen(&mut browser, 80, 24);
    press(&mut browser, "8i<>veupo/x");
    assert_eq!(screen(&mut browser, 80, 24), before);
    assert_eq!(browser.mode, Mode::Details);
    press(&mut browser, "\u{1b}");
    assert_eq!(names(&mut browser)[0], "green leaf");
}

#[test]
fn a_favourite_is_kept_and_removed() {
    let mut browser = some();
    let _ = drawn(&mut browser, 80, 24);
    assert_eq!(
        press(&mut browser, " "),
        [Command::Favourite(target(1), false)]
    );
    assert_eq!(
        press(&mut browser, " "),
        [Command::Favourite(target(1), true)]
    );
}

#[test]
fn a_refresh_queries_what_is_on_the_screen_once() {
    let many = (0..40)
        .map(|number| answer(caret("x"), "m", number, 50))
        .collect();
    let mut browser = browser(many);
    let _ = drawn(&mut browser, 80, 12);
    assert_eq!(browser.screen.rows, 8);
    press(&mut browser, "⇟⇟");
    let _ = drawn(&mut browser, 80, 12);
    let [Command::Refresh(targets)] = &press(&mut browser, "r")[..] else {
        panic!()
    };
    // The selection is on row 16, the last on the screen.
    let expected: Vec<Target> = (23..=30).rev().map(target).collect();
    assert_eq!(*targets, expected);
    assert!(press(&mut browser, "r").is_empty(), "one at a time");
    browser.handle(
        Event::Refreshed(targets[0].clone(), Box::new(silent())),
        start(),
    );
    browser.handle(Event::RefreshEnded, start());
    let server = browser
        .servers
        .iter()
        .find(|server| server.target == targets[0])
        .unwrap();
    assert!(
        server.answer.is_some() && server.failure.is_some(),
        "the last answer stays"
    );
    assert_eq!(press(&mut browser, "r").len(), 1);
    assert_eq!(
        browser.progress.done, 41,
        "a refresh does not count as a part of the scan"
    );
}

/// Keys at random, on terminals of many sizes.
#[test]
fn any_keys_on_any_screen_leave_a_selection_on_the_screen() {
    let others = "\n\t\u{1b}\u{8}↓↑⇟⇞".chars();
    let keys: Vec<char> = (' '..='~').chain(others.cycle().take(40)).collect();
    let mut random = Random(1);
    for _ in 0..16 {
        let (columns, rows) = (1 + random.below(130) as u16, 1 + random.below(25) as u16);
        let mut browser = some();
        for _ in 0..12 {
            let key = keys[random.below(keys.len() as u64) as usize];
            press(&mut browser, &key.to_string());
            let _ = drawn(&mut browser, columns, rows);
            assert!(browser.cursor < browser.shown.len().max(1), "{key:?}");
            let rows = browser.screen.rows;
            let seen = browser.top..browser.top + rows;
            assert!(rows == 0 || seen.contains(&browser.cursor), "{key:?}");
        }
    }
}

/// OpenArena, listed by a master that names three servers, and by one that is not there.
async fn listed_game() -> &'static Game {
    let bind = || UdpSocket::bind("127.0.0.1:0");
    let (master, closed) = (
        bind().await.unwrap(),
        bind().await.unwrap().local_addr().unwrap(),
    );
    let address = master.local_addr().unwrap();
    tokio::spawn(async move {
        let mut reply = b"\xff\xff\xff\xffgetserversResponse".to_vec();
        for host in 1..=3 {
            reply.extend([b'\\', 192, 0, 2, host, 0x6D, 0x38]);
        }
        reply.extend(b"\\EOT\0\0\0");
        while let Ok((_, from)) = master.recv_from(&mut [0; 256]).await {
            let _ = master.send_to(&reply, from).await;
        }
    });
    let entry = |address: std::net::SocketAddr| {
        MasterAddress::new(MasterForm::Short, address.to_string().leak())
    };
    let mut game = *Game::find("openarena").unwrap();
    game.masters = vec![entry(address), entry(closed)].leak();
    Box::leak(Box::new(game))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_game_is_read_from_its_list_servers() {
    let list = List::Game(listed_game().await, Scope::default());
    let client = client(&list, (Duration::from_secs(1), 0)).unwrap();
    let mut source = Source::new(list, client, Port::default()).unwrap();
    source.scan();
    let mut browser = Browser::new("a game".to_owned(), BTreeSet::new(), start());
    let mut notes = Vec::new();
    while !browser.progress.is_finished() {
        let event = source.events.recv().await.unwrap();
        if let Event::Note(note) = &event {
            notes.push(note.clone());
        }
        browser.handle(event, start());
    }
    let targets: BTreeSet<&str> = browser
        .servers
        .iter()
        .map(|server| server.target.1.as_str())
        .collect();
    assert_eq!(
        targets,
        BTreeSet::from(["192.0.2.1:27960", "192.0.2.2:27960", "192.0.2.3:27960"])
    );
    let is_asked_game = |server: &Server| server.game == "OpenArena";
    assert!(browser.servers.iter().all(is_asked_game));
    assert_eq!((browser.progress.listed, browser.progress.done), (3, 3));
    assert_eq!(
        notes.len(),
        1,
        "the dead list server is named once: {notes:?}"
    );
    // Again: the counts start from 0, and no server is listed twice.
    source.scan();
    browser.handle(source.events.recv().await.unwrap(), start());
    assert_eq!(browser.progress.done, 0);
    while !browser.progress.is_finished() {
        browser.handle(source.events.recv().await.unwrap(), start());
    }
    assert_eq!((browser.progress.done, browser.servers.len()), (3, 3));
}

#[test]
fn nothing_is_awaited_of_a_scan_or_a_refresh_that_has_ended() {
    let begin = start();
    let idle = |browser: &Browser| {
        browser
            .servers
            .iter()
            .all(|server| server.query == Query::Idle)
    };
    let mut browser = Browser::new("a test".to_owned(), BTreeSet::new(), begin);
    browser.handle(Event::ScanStarted, begin);
    browser.handle(Event::Listed(target(0)), begin);
    // The result of a refresh is not that of the scan.
    browser.handle(Event::Refreshed(target(0), Box::new(silent())), begin);
    assert!(!idle(&browser));
    // `R`, and the list is empty.
    for event in [Event::ScanStarted, Event::ListEnded, Event::ScanEnded] {
        browser.handle(event, begin);
    }
    assert!(idle(&browser));
    let shown = screen(&mut browser, 120, 24).join("\n");
    assert!(
        shown.contains("no answer") && !shown.contains("waiting"),
        "{shown}"
    );
    // A refresh that fails has no results.
    assert_eq!(press(&mut browser, "r").len(), 1);
    assert!(!idle(&browser));
    browser.handle(Event::Note("no socket".to_owned()), begin);
    browser.handle(Event::RefreshEnded, begin);
    assert!(idle(&browser) && press(&mut browser, "r").len() == 1);
}

#[test]
fn details_that_fill_the_screen_have_the_keys_again_after_the_page_of_keys() {
    for keys in ["\n??", "\n?\u{1b}"] {
        let mut browser = some();
        let _ = drawn(&mut browser, 80, 24);
        press(&mut browser, keys);
        assert_eq!(browser.mode, Mode::Details, "{keys:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refresh_waits_for_a_fixed_port() {
    if !kit::process::alone("browser::tests::a_refresh_waits_for_a_fixed_port", "") {
        return;
    }
    let live = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let address = live.local_addr().unwrap().to_string();
    tokio::spawn(async move {
        let mut request = [0; 256];
        while let Ok((length, from)) = live.recv_from(&mut request).await {
            let challenge = request[..length].strip_prefix(b"\xff\xff\xff\xffgetstatus ");
            let challenge = challenge.unwrap_or_default().trim_ascii();
            let head = b"\xff\xff\xff\xffstatusResponse\n\\sv_hostname\\live\\challenge\\";
            let reply = [&head[..], challenge, b"\n"].concat();
            let _ = live.send_to(&reply, from).await;
        }
    });
    let silent = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let port = Port::new(Some(kit::later_address()));
    let servers = [address, silent.local_addr().unwrap().to_string()];
    let targets = servers.map(|address| (What::Protocol(Protocol::Quake3), address));
    let list = List::Servers(targets.to_vec());
    let client = client(&list, (Duration::from_secs(1), 0)).unwrap();
    let mut source = Source::new(list, client, port).unwrap();
    source.scan();
    let mut browser = Browser::new("a port".to_owned(), BTreeSet::new(), start());
    let mut has_refreshed = false;
    while !browser.progress.is_finished() || browser.is_refreshing {
        let event = source.events.recv().await.unwrap();
        assert!(!matches!(event, Event::Note(_)), "{event:?}");
        if matches!(event, Event::Scanned(..)) && !has_refreshed {
            browser.handle(event, start());
            let _ = drawn(&mut browser, 80, 24);
            let Some(Command::Refresh(again)) = browser.refresh() else {
                panic!()
            };
            source.refresh(again);
            has_refreshed = true;
        } else {
            browser.handle(event, start());
        }
    }
    assert_eq!((browser.progress.done, browser.progress.answered), (2, 1));
}
