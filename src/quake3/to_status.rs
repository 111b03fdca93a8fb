//! An answer as a [`ServerStatus`]: which key means what, in which family of games.

use bytes::Bytes;

use super::answer::Answer;
use super::wire::player::{PlayerLine, is_blank};
use crate::model::{
    Charset, Colours, Player, Rules, RulesBuilder, ServerStatus, Style, Team, Text, ToStatus,
};
use crate::options::Detail;
use crate::text::{any, first_filled, known_keys, number};

/// Character set of the family's texts.
const CHARSET: Charset = Charset::Utf8OrWindows1252;
/// Bytes of a usual pair, rounded down: the table of rules is sized by it.
const USUAL_PAIR: usize = 16;
/// Bytes of a usual player line, rounded down: the list of players is sized by it.
const USUAL_LINE: usize = 24;

impl ToStatus for Answer {
    /// The normalised model. Its rules and its longer texts share this answer's bytes.
    fn to_status(&self) -> ServerStatus {
        let response = self.response();
        let (info, bytes) = (response.info(), self.raw());
        let mut known = Known::default();
        let mut rules = RulesBuilder::new(bytes, CHARSET, info.raw().len() / USUAL_PAIR);
        for (key, value) in info.iter() {
            // The first match wins, as in the engines.
            if let Some(slot) = known.slot(key) {
                slot.get_or_insert(value);
            }
            rules.push(key, value);
        }
        let family = Family::of(&known);
        let style = Style::new(CHARSET, family.colours());
        // Both keys stand in DarkPlaces' format of the reply; FTE has neither.
        let shows_bots =
            family == Family::DarkPlaces && known.bots.is_some() && known.gameversion.is_some();
        let mut has_odd_line = false;
        let players = (response.detail() == Detail::Full).then(|| {
            let mut players = Vec::with_capacity(response.player_text().len() / USUAL_LINE);
            for line in response.text_lines() {
                let Some(line) = PlayerLine::parse(line) else {
                    has_odd_line |= !is_blank(line);
                    continue;
                };
                let mut player = player(line, bytes, style);
                player.bot = player.ping.filter(|_| shows_bots).map(|ping| ping == 0);
                players.push(player);
            }
            set_teams(&mut players, known.p.unwrap_or_default());
            players
        });
        let listed = players.as_ref().map(Vec::len);
        let completeness = self.missing(listed.unwrap_or_default(), has_odd_line, known.clients);
        let text = |values: &[Option<&[u8]>]| {
            first_filled(values).map(|raw| Text::part(bytes, raw, style))
        };
        let count = |value: Option<&[u8]>| value.and_then(number::number::<u32>);
        let is_info = response.detail() == Detail::Short;
        // A status has its lines, an info its count; where both are, as on Warsow and DarkPlaces, this is the server's own
        // number.
        let listed = listed.and_then(|listed| u32::try_from(listed).ok());
        let bots_on_top =
            count(known.bots).filter(|_| is_info && known.gamename.is_some_and(counts_people_only));
        let counted =
            count(known.clients).and_then(|clients| clients.checked_add(bots_on_top.unwrap_or(0)));
        // Call of Duty's infoResponse leaves the count out where it is 0 (voron00/CoD2rev_Server, src/server/sv_main_mp.cpp).
        let others = [known.protocol, known.sv_maxclients, known.pure, known.hw];
        let is_empty = is_info && known.clients.is_none() && others.iter().all(Option::is_some);
        let player_count = counted.or(listed).or_else(|| is_empty.then_some(0));
        let people = || count(known.g_humanplayers).or_else(|| count(known.humans));
        let bots = || player_count?.checked_sub(people()?);
        // An infoResponse's `sv_maxclients` leaves private slots out, a status's does not.
        let (slots, private_slots) = (count(known.sv_maxclients), count(known.sv_privateclients));
        let max_players = slots
            .and_then(|slots| slots.checked_add(private_slots.filter(|_| is_info).unwrap_or(0)));
        let locked = [
            known.g_needpass,
            known.needpass,
            known.pswrd,
            known.password,
            known.isprivate,
        ];
        let (game, mod_name) = game(&known);
        let numbers = [known.g_gametype, known.gametype];
        let match_name = first_filled(&numbers).and_then(|number| family.match_name(number));
        let (match_limit, has_teams) = match_name
            .map(|name| match_rules(name, &known))
            .unwrap_or_default();
        let score_limit = first_filled(&[known.scorelimit, match_limit]);
        let words = match_name.filter(|words| *words != b"N/A" && !is_modified(family, &known));
        let world = known
            .qcstatus
            .and_then(|status| status.split(|&byte| byte == b':').next());
        let words = words.map(|words| Text::new(words, style));
        ServerStatus {
            name: text(&[known.sv_hostname, known.hostname]),
            map: text(&[known.mapname]),
            game: text(&[game]),
            mod_name: text(&[mod_name]),
            game_type: text(&[known.g_gametypestring, known.gametypestring])
                .or(words)
                .or_else(|| text(&[known.g_gametype, known.gametype, world])),
            version: text(&[
                known.version,
                known.shortversion,
                known.gameversion,
                known.gamever,
            ]),
            protocol_version: first_filled(&[known.protocol, known.com_protocol])
                .and_then(number::leading),
            password: first_filled(&locked).and_then(number::boolean),
            dedicated: known.dedicated.and_then(number::boolean),
            anti_cheat: any(&[
                known.sv_punkbuster,
                known.punkbuster,
                known.pb,
                known.sv_nxac,
            ]),
            player_count,
            bot_count: count(known.bots).or_else(bots),
            max_players,
            private_slots,
            time_limit: known.timelimit.and_then(number::minutes),
            score_limit: score_limit.and_then(number::integer),
            players,
            teams: teams(has_teams, &known, bytes, style),
            rules: rules.build(style.colours),
            completeness,
            verification: self.verification(),
            ..ServerStatus::default()
        }
    }
}

/// The game and its modification. `com_gamename` is ioquake3's name of the game, beside which `gamename` names what runs in
/// it; elsewhere `gamename` is the game, and where it is missing, the folder is what remains (id's infoResponse).
fn game<'a>(known: &Known<'a>) -> (Option<&'a [u8]>, Option<&'a [u8]>) {
    let game = first_filled(&[known.com_gamename, known.gamename, known.game]);
    let inner = known.gamename.filter(|_| known.com_gamename.is_some());
    let mod_name = first_filled(&[inner, known.modname, known.fs_game, known.game]);
    (
        game,
        mod_name.filter(|&name| Some(name) != game && !is_base_folder(name)),
    )
}

/// Sets the teams of Enemy Territory's players from its key `P`: a digit for each client slot in use, `-` for each free one
/// (etlegacy, src/game/g_main.c).
fn set_teams(players: &mut [Player], slots: &[u8]) {
    let teams = || slots.iter().filter(|&&slot| slot != b'-');
    if teams().count() == players.len() && teams().all(u8::is_ascii_digit) {
        for (player, team) in players.iter_mut().zip(teams()) {
            player
                .team
                .get_or_insert_with(|| i32::from(team.wrapping_sub(b'0')));
        }
    }
}

#[inline]
fn player(line: PlayerLine<'_>, bytes: &Bytes, style: Style) -> Player {
    let name = Text::part(bytes, line.name(), style);
    let (score_text, ping, team_text) = line.fields();
    let (score, team) = (
        score_text.and_then(number::whole),
        team_text.and_then(number::number),
    );
    let mut player = Player {
        name,
        score,
        ping: ping.and_then(number::number),
        team,
        ..Player::default()
    };
    if let Some(text) = team_text.filter(|text| team.is_none() && !text.is_empty()) {
        player.extra.push_raw(b"team", text);
    }
    // Xonotic writes fractions and words where others have a whole number.
    if let Some(text) = score_text.filter(|text| score.is_none() || text.contains(&b'.')) {
        player.extra.push_raw(b"score", text);
    }
    player
}

known_keys! {
    /// Keys that mean something to the model.
    struct Known {
        bluescore, bots, capturelimit, clients, com_gamename, com_protocol, dedicated, duel_fraglimit, fraglimit,
        fs_game, g_blueteam, g_gametype, g_gametypestring, g_humanplayers, g_jedivmerc, g_match_score,
        g_nameblue, g_namered, g_needpass, g_redteam, g_teamnameblue, g_teamnamered, game, gamename,
        gametype, gametypestring, gamever, gameversion, hostname, humans, hw, isprivate, mapname, modname, needpass, p,
        password, pb, protocol, pswrd, punkbuster, pure, qcstatus, redscore, score_blue, score_red, scorelimit,
        shortversion, sv_hostname, sv_maxclients, sv_nxac, sv_privateclients, sv_punkbuster, timelimit,
        truejedi, version,
    }
}

/// Engines whose keys or colour codes differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Family {
    /// Quake III Arena and everything without marks of its own.
    Quake3,
    Ioquake3,
    UrbanTerror,
    /// Nexuiz, Xonotic, FTE.
    DarkPlaces,
    CallOfDuty,
    ModernWarfare2,
    JediOutcast,
    JediAcademy,
    MedalOfHonor,
    Unvanquished,
    Warsow,
}

impl Family {
    fn of(known: &Known<'_>) -> Self {
        let begins = |value: &[u8], start: &str| {
            value
                .get(..start.len())
                .is_some_and(|head| head.eq_ignore_ascii_case(start.as_bytes()))
        };
        let protocol = known.protocol.and_then(number::leading);
        let is_jedi = known.g_jedivmerc.is_some() || known.truejedi.is_some();
        match known.gamename.unwrap_or_default() {
            // Mods of Soldier of Fortune II say `modname` too.
            _ if known.qcstatus.is_some() || known.modname.is_some() && protocol == Some(3) => {
                Self::DarkPlaces
            }
            b"IW4" => Self::ModernWarfare2,
            b"Warsow" | b"Warfork" => Self::Warsow,
            b"unv" => Self::Unvanquished,
            _ if begins(known.version.unwrap_or_default(), "Unvanquished") => Self::Unvanquished,
            _ if is_jedi && protocol.is_some_and(|protocol| protocol < 20) => Self::JediOutcast,
            _ if is_jedi => Self::JediAcademy,
            _ if known.shortversion.is_some() || known.hw.is_some() => Self::CallOfDuty,
            game if begins(game, "Call of Duty") || begins(game, "CoD:") => Self::CallOfDuty,
            game if begins(game, "q3ut") || begins(game, "q3urt") => Self::UrbanTerror,
            _ if known.g_gametypestring.or(known.gametypestring).is_some() => Self::MedalOfHonor,
            _ if begins(known.version.unwrap_or_default(), "ioq3") => Self::Ioquake3,
            // Quake3e's infoResponse has no `gamename`.
            _ if known.gamename.is_some() && known.g_humanplayers.is_some() => Self::Ioquake3,
            _ => Self::Quake3,
        }
    }

    /// The colour codes that texts may hold.
    const fn colours(self) -> Colours {
        match self {
            // Warsow has no `^xRGB`, and doubles each caret in a name, so that none is before an `x`.
            Self::DarkPlaces | Self::Warsow => Colours::DarkPlaces,
            Self::Unvanquished => Colours::Daemon,
            Self::ModernWarfare2 => Colours::ModernWarfare2,
            Self::CallOfDuty | Self::JediOutcast | Self::JediAcademy => Colours::CaretDigit,
            Self::Ioquake3 | Self::MedalOfHonor => Colours::CaretAlphanumeric,
            Self::Quake3 | Self::UrbanTerror => Colours::Caret,
        }
    }

    /// The game's own word for the number of a type of match: `gameNames` in g_cmds.c of Quake III Arena (id-Software), Jedi
    /// Outcast and Jedi Academy (JACoders/OpenJK); Urban Terror's as the plugin `PowerAdmin` of B3 has them.
    fn match_name(self, number: &[u8]) -> Option<&'static [u8]> {
        let names: &[u8] = match self {
            Self::Quake3 | Self::Ioquake3 => {
                b"Free For All|Tournament|Single Player|Team Deathmatch|Capture the Flag|One Flag CTF|Overload|Harvester"
            }
            Self::UrbanTerror => {
                b"Free For All|Last Man Standing||Team Deathmatch|Team Survivor|Follow the Leader|Capture and Hold|\
                 Capture the Flag|Bomb Mode|Jump Mode|Freeze Tag|Gun Game"
            }
            Self::JediOutcast => {
                b"Free For All|Holocron FFA|Jedi Master|Duel|Single Player|Team FFA|N/A|Capture the Flag|\
                 Capture the Ysalamiri"
            }
            Self::JediAcademy => {
                b"Free For All|Holocron FFA|Jedi Master|Duel|Power Duel|Single Player|Team FFA|Siege|Capture the Flag|\
                 Capture the Ysalamiri"
            }
            Self::MedalOfHonor => b"|Free For All|Team Deathmatch",
            _ => return None,
        };
        names
            .split(|&byte| byte == b'|')
            .nth(number::number(number)?)
            .filter(|name| !name.is_empty())
    }
}

/// The value of the limit that ends a match, where it has one, and whether red and blue play against each other.
fn match_rules<'a>(name: &[u8], known: &Known<'a>) -> (Option<&'a [u8]>, bool) {
    match name {
        b"Free For All" | b"Tournament" | b"Holocron FFA" | b"Jedi Master" => {
            (known.fraglimit, false)
        }
        b"Duel" | b"Power Duel" => (known.duel_fraglimit, false),
        b"Team Deathmatch" | b"Team FFA" => (known.fraglimit, true),
        b"Capture the Flag" | b"Capture the Ysalamiri" => (known.capturelimit, true),
        b"One Flag CTF" | b"Overload" | b"Harvester" => {
            let is_mission_pack = matches!(known.gamename, Some(b"missionpack" | b"baseoa"));
            (known.capturelimit.filter(|_| is_mission_pack), true)
        }
        b"Single Player" | b"Last Man Standing" | b"Jump Mode" | b"Gun Game" => (None, false),
        _ => (None, true),
    }
}

/// Whether `clients` of this game's `infoResponse` counts people only, and its `bots` come on top (DaemonEngine/Daemon,
/// src/engine/server/sv_main.cpp; iw4x/iw4x-client, src/Components/Modules/Party.cpp).
pub(super) fn counts_people_only(game: &[u8]) -> bool {
    game == b"IW4" || game == b"unv"
}

/// Whether a server of Quake III Arena or OpenArena runs a modification, which has types of match of its own.
fn is_modified(family: Family, known: &Known<'_>) -> bool {
    let games = [b"Quake3Arena", &b"baseq3"[..], b"missionpack", b"baseoa"];
    let is_stock = known.game.is_none_or(is_base_folder)
        && known.gamename.is_some_and(|name| games.contains(&name));
    matches!(family, Family::Quake3 | Family::Ioquake3) && !is_stock
}

/// Whether a folder is a game's own and no modification.
fn is_base_folder(folder: &[u8]) -> bool {
    const BASE: [&[u8]; 8] = [
        b"baseq3", b"baseoa", b"basewsw", b"basewf", b"data", b"id1", b"main", b"etmain",
    ];
    BASE.contains(&folder)
}

/// DarkPlaces' numbers of teams in `qcstatus` (a colour and one more) by the team's number on player lines, from 1: red, blue,
/// yellow, pink (xonotic/darkplaces, netconn.c; recorded from Nexuiz).
pub(super) const NUMBERS: [i32; 4] = [5, 14, 13, 10];
/// The team numbers of Warsow's two teams (captured).
pub(super) const WARSOW: [i32; 2] = [2, 3];

/// All teams, if the server names any.
fn teams(has_teams: bool, known: &Known<'_>, bytes: &Bytes, style: Style) -> Vec<Team> {
    if let Some(status) = known.qcstatus {
        return in_qcstatus(status);
    }
    if let Some(scores) = known.g_match_score {
        return in_match_score(scores, bytes, style);
    }
    let scores = [
        [known.score_red, known.redscore],
        [known.score_blue, known.bluescore],
    ];
    let names = [
        [known.g_teamnamered, known.g_namered, known.g_redteam],
        [known.g_teamnameblue, known.g_nameblue, known.g_blueteam],
    ];
    let teams = [1, 2]
        .into_iter()
        .zip(scores)
        .zip(names)
        .filter_map(|((id, scores), names)| {
            let score = first_filled(&scores).and_then(number::integer);
            let name = first_filled(&names).filter(|_| score.is_some() || has_teams);
            (score.is_some() || name.is_some())
                .then(|| team(id, name.map(|name| Text::part(bytes, name, style)), score))
        });
    teams.collect()
}

fn team(id: i32, name: Option<Text>, score: Option<i64>) -> Team {
    Team {
        id: Some(id),
        name,
        score,
        extra: Rules::default(),
    }
}

/// `ctf:2.5.2::score!!:caps!!,score:5:0,2:14:1,3`: after `::` the names of a player's scores, those of a team's, then each
/// team's number and scores. `!!` marks the score that decides.
fn in_qcstatus(status: &[u8]) -> Vec<Team> {
    let Some(start) = status.windows(2).position(|pair| pair == b"::") else {
        return Vec::new();
    };
    let mut fields = status
        .get(start.saturating_add(2)..)
        .unwrap_or_default()
        .split(|&byte| byte == b':')
        .skip(1);
    let names = fields.next().unwrap_or_default();
    let column = names
        .split(|&byte| byte == b',')
        .position(|name| name.ends_with(b"!!"))
        .unwrap_or(0);
    let mut teams = Vec::new();
    while let (Some(id), Some(scores)) = (fields.next(), fields.next()) {
        let number = number::integer(id);
        let id = (1..)
            .zip(NUMBERS)
            .find(|(_, known)| Some(i64::from(*known)) == number)
            .map(|(id, _)| id);
        let score = scores
            .split(|&byte| byte == b',')
            .nth(column)
            .and_then(number::integer);
        teams.extend(id.map(|id| team(id, None, score)));
    }
    teams
}

/// ` ALPHA: 3 BETA: 14`.
fn in_match_score(scores: &[u8], bytes: &Bytes, style: Style) -> Vec<Team> {
    let mut parts = scores.split(|&byte| byte == b':');
    let mut name = parts.next().unwrap_or_default().trim_ascii();
    let mut teams = Vec::new();
    for (part, id) in parts.zip(WARSOW) {
        let part = part.trim_ascii();
        let end = part
            .iter()
            .position(|&byte| byte == b' ')
            .unwrap_or(part.len());
        let (score, rest) = part.split_at_checked(end).unwrap_or_default();
        let Some(score) = number::integer(score) else {
            break;
        };
        teams.push(team(id, Some(Text::part(bytes, name, style)), Some(score)));
        name = rest.trim_ascii();
    }
    teams
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_are_told_apart_by_what_only_they_say() {
        let family = |pairs: &[(&str, &'static str)]| {
            let mut known = Known::default();
            for (key, value) in pairs {
                known
                    .slot(key.as_bytes())
                    .unwrap()
                    .get_or_insert(value.as_bytes());
            }
            Family::of(&known)
        };
        assert_eq!(
            family(&[("modname", "data"), ("protocol", "3")]),
            Family::DarkPlaces
        );
        assert_eq!(
            family(&[("modname", "fte"), ("protocol", "3wnd")]),
            Family::DarkPlaces
        );
        assert_eq!(
            family(&[("qcstatus", "dm:2.5.2::score!!")]),
            Family::DarkPlaces
        );
        // Captured from Soldier of Fortune II.
        assert_eq!(
            family(&[("modname", "ROCmod"), ("protocol", "2004")]),
            Family::Quake3
        );
        assert_eq!(
            family(&[("g_jediVmerc", "0"), ("protocol", "16")]),
            Family::JediOutcast
        );
        assert_eq!(
            family(&[("truejedi", "0"), ("protocol", "26")]),
            Family::JediAcademy
        );
        assert_eq!(
            family(&[("gamename", "Call of Duty 4"), ("protocol", "6")]),
            Family::CallOfDuty
        );
        assert_eq!(
            family(&[("hw", "1")]),
            Family::CallOfDuty,
            "an infoResponse of CoD2rev_Server"
        );
        assert_eq!(
            family(&[("gamename", "IW4"), ("shortversion", "0.7.2")]),
            Family::ModernWarfare2
        );
        assert_eq!(
            family(&[("version", "ioq3 1.36"), ("gamename", "baseoa")]),
            Family::Ioquake3
        );
        assert_eq!(
            family(&[("version", "ioQ3 1.35 urt 4.3.4"), ("gamename", "q3urt43")]),
            Family::UrbanTerror
        );
        assert_eq!(
            family(&[("gamename", "Quake3Arena"), ("g_humanplayers", "0")]),
            Family::Ioquake3
        );
        assert_eq!(
            family(&[("g_humanplayers", "0")]),
            Family::Quake3,
            "Quake3e"
        );
        assert_eq!(family(&[("version", "Q3 1.32c")]), Family::Quake3);
        assert_eq!(
            family(&[("g_gametypestring", "Team-Match")]),
            Family::MedalOfHonor
        );
    }

    /// `g_gametype` by game: `bg_public.h` of Quake III, of Jedi Outcast and of Jedi Academy (JACoders/OpenJK).
    #[test]
    fn the_same_number_is_a_game_of_teams_in_some_games_only() {
        let teams = |family: Family| -> Vec<u8> {
            let has_teams = |number: &u8| {
                let name = family.match_name(number.to_string().as_bytes());
                name.is_some_and(|name| match_rules(name, &Known::default()).1)
            };
            (0..12).filter(has_teams).collect()
        };
        assert_eq!(teams(Family::JediOutcast), [5, 6, 7, 8]);
        assert_eq!(teams(Family::JediAcademy), [6, 7, 8, 9]);
        assert_eq!(teams(Family::UrbanTerror), [3, 4, 5, 6, 7, 8, 10]);
        assert_eq!(teams(Family::Quake3), [3, 4, 5, 6, 7]);
        assert!(teams(Family::Warsow).is_empty());
    }

    fn shown(teams: &[Team]) -> Vec<(i32, String, Option<i64>)> {
        let name = |team: &Team| {
            team.name
                .as_ref()
                .map_or(String::new(), |name| name.plain().into_owned())
        };
        teams
            .iter()
            .map(|team| (team.id.unwrap(), name(team), team.score))
            .collect()
    }

    #[test]
    fn scores_of_teams_are_read_from_a_worlds_status() {
        let none = String::new;
        // Recorded from Nexuiz 2.5.2.
        assert_eq!(
            shown(&in_qcstatus(b"ctf:2.5.2::score!!:caps!!:5:0:14:3")),
            [(1, none(), Some(0)), (2, none(), Some(3))]
        );
        assert_eq!(
            shown(&in_qcstatus(
                b"ctf:0.8.6:P0:S9:F0:MXonotic::score!!:score,caps!!:13:40,-2:10:7"
            )),
            [(3, none(), Some(-2)), (4, none(), None)]
        );
        for without in [
            "dm:2.5.2::score!!",
            "dm:2.5.2::",
            "dm",
            "",
            "::",
            "a::b:c:5",
            "a::b:c:6:1",
        ] {
            assert_eq!(in_qcstatus(without.as_bytes()), [], "{without}");
        }
    }

    #[test]
    fn scores_of_a_match_are_read() {
        let read = |scores| shown(&in_match_score(scores, &Bytes::new(), Style::default()));
        let (alpha, beta) = ("ALPHA".to_owned(), "THE BETA".to_owned());
        assert_eq!(
            read(b" ALPHA: 3 THE BETA: 14"),
            [(2, alpha.clone(), Some(3)), (3, beta, Some(14))]
        );
        assert_eq!(read(b" ALPHA: 3 BETA:"), [(2, alpha, Some(3))]);
        assert_eq!(read(b""), []);
        assert_eq!(read(b"a:b:c"), []);
    }
}
