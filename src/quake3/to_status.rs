//! An answer as a [`ServerStatus`]: which key means what, in which family of games.

use crate::options::Detail;
use bytes::Bytes;

use super::answer::Answer;
use super::family::{Family, Known, counts_people_only, is_base_folder};
use super::teams::teams;
use super::wire::player::PlayerLine;
use crate::model::{Charset, Player, RulesBuilder, ServerStatus, Style, Text, ToStatus};
use crate::text::known_keys::first_filled;
use crate::text::number;

/// What the family's texts are read as.
const CHARSET: Charset = Charset::Utf8OrWindows1252;
/// Bytes of a usual pair, rounded down: the table of rules is sized by it.
const USUAL_PAIR: usize = 16;
/// Bytes of a usual player line, rounded down: the table of players is sized by it.
const USUAL_LINE: usize = 16;
/// Players for whom room is made at once: the default of [`Limits::max_players`](crate::Limits::max_players).
const USUAL_PLAYERS: usize = 1024;

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
        let shows_bots = family == Family::DarkPlaces && known.bots.is_some() && known.gameversion.is_some();
        let mut lines = response.lines();
        let players = (response.detail() == Detail::Full).then(|| {
            // Not every line is a player's: a datagram of line feeds must not reserve a player for each.
            let usual = response.player_text().len() / USUAL_LINE;
            let mut players = Vec::with_capacity(usual.min(USUAL_PLAYERS));
            for line in lines.by_ref() {
                let mut player = player(line, bytes, style);
                player.bot = player.ping.filter(|_| shows_bots).map(|ping| ping == 0);
                players.push(player);
            }
            set_teams(&mut players, known.p.unwrap_or_default());
            players
        });
        let listed = players.as_ref().map_or(0, Vec::len);
        let completeness = self.missing(known.clients, listed, lines.has_skipped);
        let text = |values: &[Option<&[u8]>]| first_filled(values).map(|raw| Text::part(bytes, raw, style));
        let count = |value: Option<&[u8]>| value.and_then(number::number::<u32>);
        let is_info = response.detail() == Detail::Short;
        // A status has its lines, an info its count; where both are, as on Warsow and DarkPlaces, this is the server's own
        // number.
        let listed = players.as_ref().and_then(|players| u32::try_from(players.len()).ok());
        let bots_on_top = known.gamename.is_some_and(counts_people_only).then(|| count(known.bots)).flatten();
        let counted = count(known.clients).and_then(|clients| clients.checked_add(bots_on_top.unwrap_or(0)));
        let player_count = counted.or(listed);
        let people = || count(known.g_humanplayers).or_else(|| count(known.humans));
        let bots = || player_count?.checked_sub(people()?);
        // An infoResponse's `sv_maxclients` leaves private slots out, a status's does not.
        let (slots, private_slots) = (count(known.sv_maxclients), count(known.sv_privateclients));
        let max_players =
            slots.and_then(|slots| slots.checked_add(private_slots.filter(|_| is_info).unwrap_or(0)));
        let locked = [known.g_needpass, known.needpass, known.pswrd, known.password, known.isprivate];
        let (game, mod_name) = game(&known);
        let score_limit = known.scorelimit.or_else(|| family.score_limit(&known));
        let played = known.qcstatus.and_then(|status| status.split(|&byte| byte == b':').next());
        ServerStatus {
            name: text(&[known.sv_hostname, known.hostname]),
            map: text(&[known.mapname]),
            game: text(&[game]),
            mod_name: text(&[mod_name]),
            game_type: text(&[known.g_gametype, known.gametype, played]),
            version: text(&[known.version, known.shortversion, known.gameversion, known.gamever]),
            protocol_version: known.protocol.or(known.com_protocol).and_then(number::leading),
            password: first_filled(&locked).and_then(number::boolean),
            anti_cheat: anti_cheat(&known),
            player_count,
            bot_count: count(known.bots).or_else(bots),
            max_players,
            private_slots,
            time_limit: known.timelimit.and_then(number::minutes),
            score_limit: score_limit.and_then(number::integer),
            players,
            teams: teams(family, &known, bytes, style),
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
    (game, mod_name.filter(|&name| Some(name) != game && !is_base_folder(name)))
}

/// Whether one of the anti-cheat systems that the server names is active.
fn anti_cheat(known: &Known<'_>) -> Option<bool> {
    let systems = [known.sv_punkbuster, known.punkbuster, known.pb, known.sv_nxac];
    systems.into_iter().flatten().filter_map(number::boolean).reduce(|any, active| any || active)
}

/// Sets the teams of Enemy Territory's players from its key `P`: a digit for each client slot in use, `-` for each free one
/// (etlegacy, src/game/g_main.c).
fn set_teams(players: &mut [Player], slots: &[u8]) {
    let teams = || slots.iter().filter(|&&slot| slot != b'-');
    if teams().count() == players.len() && teams().all(u8::is_ascii_digit) {
        for (player, team) in players.iter_mut().zip(teams()) {
            player.team.get_or_insert_with(|| i32::from(team.wrapping_sub(b'0')));
        }
    }
}

#[inline]
fn player(line: PlayerLine<'_>, bytes: &Bytes, style: Style) -> Player {
    let name = Text::part(bytes, line.name(), style);
    let (score, ping, team) = (line.score(), line.ping(), line.team());
    let mut player = Player { name, score, ping, team, ..Player::default() };
    if let Some(text) = line.team_text().filter(|text| team.is_none() && !text.is_empty()) {
        player.extra.push_raw(b"team", text);
    }
    // Xonotic writes fractions and words where others have a whole number.
    if let Some(text) = line.score_text().filter(|text| score.is_none() || text.contains(&b'.')) {
        player.extra.push_raw(b"score", text);
    }
    player
}
