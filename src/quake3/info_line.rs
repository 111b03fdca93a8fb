//! The server's side of `info`, with which clients of Quake 2 and Warsow search for servers.

use super::engines::{InfoLine, Profile};
use super::values::{field_value, value_of};
use super::wire::siblings::Form;
use crate::model::{ServerStatus, Text};

/// The longest line of Warsow, in bytes (`MAX_SVCINFOSTRING_LEN`).
const MAX_PAIRS: usize = 176;
const END_OF_PAIRS: &[u8] = b"EOT";

/// The reply to `info` of a client whose version is the server's, or is another one; `None` if the
/// engine sends nothing.
pub(super) fn encode(
    is_known_version: bool,
    status: &ServerStatus,
    profile: &Profile,
) -> Option<Vec<u8>> {
    let line = match (profile.written.info_line, is_known_version) {
        (InfoLine::Columns, true) => columns(status, profile.form),
        (InfoLine::Columns, false) => other_version(status, profile.form),
        (InfoLine::Pairs, true) => pairs(status, profile),
        (InfoLine::Pairs, false) | (InfoLine::None, _) => return None,
    };
    Some([b"\xff\xff\xff\xffinfo\n", &line[..]].concat())
}

/// The line of Quake 2, of at most 63 bytes: name, map, players and slots (id-Software/Quake-2,
/// server/sv_main.c, `SVC_Info`).
fn columns(status: &ServerStatus, form: Form) -> Vec<u8> {
    let mut line = Vec::new();
    put_right(&cut_text(form, &status.name, 32), 16, &mut line);
    line.push(b' ');
    put_right(&cut_text(form, &status.map, 16), 8, &mut line);
    line.push(b' ');
    let players = status.online().unwrap_or(0);
    let slots = status.max_players.unwrap_or(0);
    line.extend_from_slice(format!("{players:>2}/{slots:>2}\n").as_bytes());
    line
}

/// The line of Quake 2 for a client of another version.
fn other_version(status: &ServerStatus, form: Form) -> Vec<u8> {
    let mut line = cut_text(form, &status.name, 32);
    line.extend_from_slice(b": wrong version\n");
    line
}

/// The line of Warsow: keys and values, each after two backslashes. They are name, map, people and
/// the slots that bots leave, type of match, modification, skill level, password, bots
/// (viciious/qfusion, source/server/sv_oob.c, `SV_ShortInfoString`). Like the engine, this leaves
/// out pairs that do not fit.
fn pairs(status: &ServerStatus, profile: &Profile) -> Vec<u8> {
    let text = |text, width, max| {
        let mut value = Vec::new();
        put_right(&cut_text(profile.form, text, max), width, &mut value);
        value
    };
    let bots = status.bot_count.unwrap_or(0);
    let people = status.online().unwrap_or(0).saturating_sub(bots).min(99);
    let slots = status.max_players.unwrap_or(0).saturating_sub(bots).min(99);
    let folder = status.mod_name.as_ref();
    let has_folder = folder.is_some_and(|folder| !profile.is_base_folder(folder.raw()));
    let skill = status.rules.get("sv_skilllevel");
    let needs_password = status.password == Some(true);
    let pairs: [(&str, Option<Vec<u8>>); 8] = [
        ("n", Some(text(&status.name, 0, 63))),
        ("m", Some(text(&status.map, 8, 32))),
        ("u", Some(format!("{people:>2}/{slots:>2}").into())),
        ("g", Some(text(&status.game_type, 6, 16))),
        ("mo", has_folder.then(|| text(&status.mod_name, 8, 16))),
        (
            "s",
            skill.map(|level| value_of(profile.form, level).into_owned()),
        ),
        ("p", needs_password.then(|| b"1".to_vec())),
        (
            "b",
            (bots > 0).then(|| format!("{:>2}", bots.min(99)).into()),
        ),
    ];
    let mut line = br"\\".to_vec();
    for (key, value) in pairs {
        let Some(value) = value else { continue };
        let pair = [key.as_bytes(), br"\\", &value, br"\\"].concat();
        let length = line.len().saturating_add(pair.len());
        if length.saturating_add(END_OF_PAIRS.len()) <= MAX_PAIRS {
            line.extend_from_slice(&pair);
        }
    }
    line.extend_from_slice(END_OF_PAIRS);
    line
}

/// The first bytes of a text; none if there is no text.
fn cut_text(form: Form, text: &Option<Text>, max: usize) -> Vec<u8> {
    let mut text = field_value(form, text).unwrap_or_default();
    text.truncate(max);
    text
}

/// Appends a text, after spaces up to this width.
fn put_right(text: &[u8], width: usize, out: &mut Vec<u8>) {
    let spaces = width.saturating_sub(text.len());
    out.extend(std::iter::repeat_n(b' ', spaces));
    out.extend_from_slice(text);
}
