//! Converts an answer into a [`ServerStatus`]. The engine's row has the meaning of each key.

use bytes::Bytes;

use super::answer::{Answer, LineCount};
use super::engines::{
    Clients, InfoSlots, Limit, MATCH_SCORE_TEAMS, Match, Names, Profile, QCSTATUS_TEAMS,
    RED_AND_BLUE, TeamKeys,
};
use super::keys::{Key, Keys, Known};
use super::wire::player::{PlayerLine, is_other_line};
use super::wire::siblings::{Form, Quake2Line, QuakeWorldLine};
use crate::model::{
    Colours, Player, Rules, RulesBuilder, ServerStatus, Style, Team, Text, ToStatus, listed_bots,
};
use crate::options::Detail;
use crate::text::number;

/// Bytes of a usual pair, rounded down: the table of rules is sized by it.
const USUAL_PAIR: usize = 16;
/// Bytes of a usual player line, rounded down: the list of players is sized by it.
const USUAL_LINE: usize = 24;

impl ToStatus for Answer {
    /// The normalised model. Its rules and its longer texts share this answer's bytes.
    fn to_status(&self) -> ServerStatus {
        let info = self.response().info();
        // The keys that identify the engine are not read yet, but all engines of a form have one
        // character set.
        let charset_of_form = Profile::of_form(self.form()).charset;
        let charset = self.charset.unwrap_or(charset_of_form);
        let mut known = Known::default();
        let mut rules = RulesBuilder::new(self.raw(), charset, info.raw().len() / USUAL_PAIR);
        for (key, value) in info.iter() {
            known.insert(key, value);
            rules.push(key, value);
        }
        let reader = Reader::new(self, &known);
        let profile = reader.profile;
        let lines = reader.lines();
        let completeness = self.completeness_of(lines.count(), known.get(Key::Clients));
        let player_count = reader.player_count(&lines);
        let bot_count = reader.bot_count(player_count, &lines);
        let players = if reader.is_info() {
            None
        } else {
            Some(lines.into_players(reader.style.colours))
        };
        let names = reader.game_names();
        ServerStatus {
            name: reader.text(&profile.server_name),
            map: reader.text(&profile.map),
            game: names.game.map(|name| reader.text_of(name)),
            mod_name: names.modification.map(|name| reader.text_of(name)),
            game_type: reader.game_type(),
            version: reader.text(&profile.version),
            protocol_version: reader.value(&profile.protocol).and_then(number::leading),
            password: reader.password(),
            dedicated: reader.value(&profile.dedicated).and_then(number::boolean),
            anti_cheat: number::any(reader.known.values(profile.anti_cheat.read)),
            player_count,
            bot_count,
            max_players: reader.max_players(),
            private_slots: reader.count(&profile.private_slots),
            time_limit: reader.value(&profile.time_limit).and_then(number::minutes),
            score_limit: reader.score_limit(),
            players: players.into(),
            teams: reader.teams(),
            rules: rules.build(reader.style.colours),
            completeness,
            verification: self.verification(),
            ..ServerStatus::default()
        }
    }
}

/// A reply, the values of its known keys, and the engine that they identify.
struct Reader<'a> {
    answer: &'a Answer,
    known: &'a Known<'a>,
    profile: &'static Profile,
    style: Style,
    /// Whether a ping of 0 is a bot's, and only a bot's.
    shows_bots: bool,
    /// The numbered type of match.
    current_match: Option<&'static Match>,
}

/// The names of the game and of the modification that runs on it.
struct GameNames<'a> {
    game: Option<&'a [u8]>,
    modification: Option<&'a [u8]>,
}

/// The lines after the infostring.
struct Lines {
    players: Vec<Player>,
    /// The further fields of the players.
    extras: RulesBuilder,
    /// The players among them that only watch and have slots of their own, as in QuakeWorld.
    spectators: usize,
    /// Whether some lines are neither players nor other parts of a reply.
    has_odd_line: bool,
}

impl Lines {
    fn count(&self) -> LineCount {
        LineCount {
            players: self.players.len(),
            has_odd_line: self.has_odd_line,
        }
    }

    /// The players with their further fields.
    fn into_players(mut self, colours: Colours) -> Vec<Player> {
        let extras = self.players.iter_mut().map(|player| &mut player.extra);
        self.extras.complete(extras, colours);
        self.players
    }
}

impl<'a> Reader<'a> {
    fn new(answer: &'a Answer, known: &'a Known<'a>) -> Self {
        let profile = Profile::of_reply(answer.form(), known);
        let charset = answer.charset.unwrap_or(profile.charset);
        Self {
            answer,
            profile,
            style: Style::new(charset, profile.colours),
            shows_bots: profile.bots_have_no_ping && known.has(Key::Bots),
            current_match: current_match(known, profile),
            known,
        }
    }

    fn is_quake_world(&self) -> bool {
        self.answer.form() == Form::QuakeWorld
    }

    fn is_info(&self) -> bool {
        self.answer.detail() == Detail::Short
    }

    fn text_of(&self, raw: &[u8]) -> Text {
        Text::part(self.answer.raw(), raw, self.style)
    }

    /// The first value of these keys that is not empty.
    fn value(&self, keys: &Keys) -> Option<&'a [u8]> {
        self.known.first_filled(keys.read)
    }

    fn text(&self, keys: &Keys) -> Option<Text> {
        Some(self.text_of(self.value(keys)?))
    }

    fn count(&self, keys: &Keys) -> Option<u32> {
        self.value(keys).and_then(number::number)
    }

    /// The lines of a status; an `infoResponse` has none.
    fn lines(&self) -> Lines {
        let response = self.answer.response();
        let mut lines = Lines {
            players: Vec::with_capacity(response.player_text().len() / USUAL_LINE),
            extras: RulesBuilder::new(self.answer.raw(), self.style.charset, 0),
            spectators: 0,
            has_odd_line: false,
        };
        for text in response.text_lines() {
            match self.listed(text, &mut lines) {
                Some(player) => lines.players.push(player),
                None => lines.has_odd_line |= !is_other_line(response.form(), text),
            }
        }
        let slots = self.known.get(Key::P).unwrap_or_default();
        set_teams(&mut lines.players, slots);
        lines
    }

    /// The player of a line; `None` if it is not a player line. Spectators are counted.
    #[inline]
    fn listed(&self, text: &'a [u8], lines: &mut Lines) -> Option<Player> {
        let extras = &mut lines.extras;
        match self.answer.form() {
            Form::Quake3 => Some(self.player(&PlayerLine::parse(text)?, extras)),
            Form::Quake2 => {
                let line = Quake2Line::parse(text)?;
                if let Some(further) = line.further {
                    extras.push(b"address", further.address);
                }
                Some(self.player(&PlayerLine::of_quake2(text, &line), extras))
            }
            Form::QuakeWorld => {
                let line = QuakeWorldLine::parse(text)?;
                let spectators = usize::from(line.is_spectator());
                lines.spectators = lines.spectators.saturating_add(spectators);
                Some(self.quake_world_player(text, &line, extras))
            }
        }
    }

    /// The player of a line, with the further fields that were pushed since the last one.
    #[inline]
    fn player(&self, line: &PlayerLine<'a>, extras: &mut RulesBuilder) -> Player {
        let (score, ping, team) = (line.score(), line.ping(), line.team());
        if let Some(text) = line
            .team_text()
            .filter(|text| team.is_none() && !text.is_empty())
        {
            extras.push(b"team", text);
        }
        // Xonotic writes fractions and words where others have a whole number.
        let is_odd = |text: &&[u8]| score.is_none() || text.contains(&b'.');
        if let Some(text) = line.score_text().filter(is_odd) {
            extras.push(b"score", text);
        }
        Player {
            name: self.text_of(line.name()),
            score,
            ping,
            team,
            bot: ping.filter(|_| self.shows_bots).map(|ping| ping == 0),
            extra: extras.take_part(),
        }
    }

    /// The player of a line of QuakeWorld, with the fields that only such lines have.
    fn quake_world_player(
        &self,
        text: &'a [u8],
        line: &QuakeWorldLine<'a>,
        extras: &mut RulesBuilder,
    ) -> Player {
        let fields = [
            (&b"id"[..], Some(line.id)),
            (b"time", Some(line.minutes)),
            (b"skin", Some(line.skin)),
            (b"top", Some(line.top)),
            (b"bottom", Some(line.bottom)),
            // `S` is pushed with the score.
            (
                b"score",
                Some(line.frags).filter(|_| line.is_marked_by_number()),
            ),
            (b"login", line.login),
            (b"kind", line.kind),
        ];
        for (key, value) in fields {
            if let Some(value) = value {
                extras.push(key, value);
            }
        }
        let mut player = self.player(&PlayerLine::of_quake_world(text, line), extras);
        player.name = self.text_of(line.plain_name());
        if line.is_spectator() {
            // The number in place of the score only marks a spectator.
            player.score = None;
            player.ping = player.ping.map(i32::saturating_abs);
        }
        player.bot = match line.kind {
            Some(b"b") => Some(true),
            Some(b"h") => Some(false),
            _ => {
                let prefix = self.profile.bot_prefix.map(str::as_bytes);
                let is_bot = prefix.is_some_and(|prefix| line.name.starts_with(prefix));
                is_bot.then_some(true)
            }
        };
        player
    }

    /// The number of players. The server's own number counts, else the number of lines.
    fn player_count(&self, lines: &Lines) -> Option<u32> {
        let listed = lines.players.len();
        // No key of Quake 2 and QuakeWorld counts the players.
        if self.answer.form() != Form::Quake3 {
            return u32::try_from(listed.saturating_sub(lines.spectators)).ok();
        }
        let clients: Option<u32> = self.known.get(Key::Clients).and_then(number::number);
        let counted = match self.profile.clients {
            Clients::People if self.is_info() => {
                let bots = self.count(&self.profile.bots).unwrap_or(0);
                clients.and_then(|people| people.checked_add(bots))
            }
            Clients::LeftOutAtZero(others) if self.is_info() => {
                let is_whole = others.iter().all(|key| self.known.has(*key));
                let is_left_out = is_whole && !self.known.has(Key::Clients);
                clients.or_else(|| is_left_out.then_some(0))
            }
            _ => clients,
        };
        if self.is_info() {
            return counted;
        }
        counted.or_else(|| u32::try_from(listed).ok())
    }

    /// The server's own number of bots, or all players minus the people, or the lines that are
    /// marked as bots.
    fn bot_count(&self, player_count: Option<u32>, lines: &Lines) -> Option<u32> {
        let counted = match self.value(&self.profile.bots) {
            Some(bots) => number::number(bots),
            None => self.bots_besides_people(player_count),
        };
        // Only lines of QuakeWorld mark bots.
        if counted.is_none() && self.is_quake_world() {
            return listed_bots(&lines.players);
        }
        counted
    }

    fn bots_besides_people(&self, player_count: Option<u32>) -> Option<u32> {
        let people = self.count(&self.profile.people)?;
        player_count?.checked_sub(people)
    }

    fn max_players(&self) -> Option<u32> {
        let slots = self.count(&self.profile.slots)?;
        let lacks_private = self.is_info() && self.profile.info_slots == InfoSlots::Public;
        let private = self.count(&self.profile.private_slots);
        let private = private.filter(|_| lacks_private);
        slots.checked_add(private.unwrap_or(0))
    }

    fn password(&self) -> Option<bool> {
        let password = self.profile.password;
        if let Some(value) = self.value(&password.keys) {
            if password.is_bit_field {
                return number::number::<u32>(value).map(|bits| bits & 1 == 1);
            }
            return number::boolean(value);
        }
        let is_left_out = password.absence_means_none && self.is_info();
        let has_none = is_left_out && self.answer.completeness().is_complete();
        has_none.then_some(false)
    }

    /// The game and its modification. With `com_gamename`, that key is the game and `gamename` the
    /// modification. Otherwise `gamename` is the game, or the folder if `gamename` is missing.
    /// Quake 2 and QuakeWorld have one name: the game's own folder, or a modification.
    fn game_names(&self) -> GameNames<'a> {
        if let Names::Modification(keys) = &self.profile.names {
            let name = self.value(keys);
            let is_own_folder = name.is_some_and(|name| self.profile.is_base_folder(name));
            return GameNames {
                game: name.filter(|_| is_own_folder),
                modification: name.filter(|_| !is_own_folder),
            };
        }
        let game = self
            .known
            .first_filled(&[Key::ComGamename, Key::Gamename, Key::Game]);
        let mod_keys: &[Key] = if self.known.has(Key::ComGamename) {
            &[Key::Gamename, Key::Modname, Key::FsGame, Key::Game]
        } else {
            &[Key::Modname, Key::FsGame, Key::Game]
        };
        let modification = self.known.first_filled(mod_keys);
        let is_own_name = |name: &&[u8]| Some(*name) != game && !self.profile.is_base_folder(name);
        GameNames {
            game,
            modification: modification.filter(is_own_name),
        }
    }

    /// Whether a modification runs that has types of match of its own.
    fn is_modified(&self) -> bool {
        let profile = self.profile;
        let folder = self.known.get(Key::Game);
        let has_own_folder =
            profile.stock.is_empty() || folder.is_none_or(|folder| profile.is_base_folder(folder));
        !(has_own_folder && profile.is_stock(self.known.get(Key::Gamename)))
    }

    /// The server's words, else the game's words for the number, else the number, else the first
    /// word of `qcstatus`.
    fn game_type(&self) -> Option<Text> {
        let words_of_number = || {
            let current = self.current_match?;
            let is_its_own = !current.name.is_empty() && !self.is_modified();
            is_its_own.then(|| Text::new(current.name, self.style))
        };
        let word_of_qcstatus = || {
            let status = self.known.get(Key::Qcstatus)?;
            Some(self.text_of(type_of_qcstatus(status)?))
        };
        self.text(&self.profile.match_words)
            .or_else(words_of_number)
            .or_else(|| self.text(&self.profile.match_number))
            .or_else(word_of_qcstatus)
    }

    fn score_limit(&self) -> Option<i64> {
        let of_match = match self.current_match.map(|current| current.limit) {
            Some(Limit::Key(key)) => Some(key),
            Some(Limit::StockKey(key)) if !self.is_modified() => Some(key),
            _ => None,
        };
        let any_match = self.value(&self.profile.score_limit);
        let value = any_match.or_else(|| self.known.get(of_match?));
        value.and_then(number::integer)
    }

    /// All teams, if the server names any.
    fn teams(&self) -> Vec<Team> {
        if let Some(status) = self.known.get(Key::Qcstatus) {
            return teams_of_qcstatus(status);
        }
        if let Some(scores) = self.known.get(Key::MatchScore) {
            return teams_of_match_score(scores, self.answer.raw(), self.style);
        }
        let teams = RED_AND_BLUE.iter().filter_map(|keys| self.team(keys));
        teams.collect()
    }

    /// The team, if it has a score or, in a game of teams, a name.
    fn team(&self, keys: &TeamKeys) -> Option<Team> {
        let score = self.known.first_filled(keys.scores);
        let score = score.and_then(number::integer);
        let has_teams = self.current_match.is_some_and(|current| current.has_teams);
        if score.is_none() && !has_teams {
            return None;
        }
        let name = self.known.first_filled(keys.names);
        if score.is_none() && name.is_none() {
            return None;
        }
        Some(team(keys.id, name.map(|name| self.text_of(name)), score))
    }
}

/// The numbered type of match.
fn current_match(known: &Known<'_>, profile: &Profile) -> Option<&'static Match> {
    profile.match_of(known.first_filled(profile.match_number.read)?)
}

/// Sets the teams of players from the key `P`: a digit for each client slot in use, `-` for each
/// free one (etlegacy, src/game/g_main.c).
fn set_teams(players: &mut [Player], slots: &[u8]) {
    let teams = || slots.iter().filter(|slot| **slot != b'-');
    if teams().count() != players.len() || !teams().all(u8::is_ascii_digit) {
        return;
    }
    for (player, team) in players.iter_mut().zip(teams()) {
        let team = i32::from(team.wrapping_sub(b'0'));
        player.team.get_or_insert(team);
    }
}

fn team(id: i32, name: Option<Text>, score: Option<i64>) -> Team {
    Team {
        id: Some(id),
        name,
        score,
        extra: Rules::default(),
    }
}

/// The type of match of a `qcstatus`: its first word.
pub(super) fn type_of_qcstatus(status: &[u8]) -> Option<&[u8]> {
    let word = status.split(|byte| *byte == b':').next()?;
    (!word.is_empty()).then_some(word)
}

/// The teams of a `qcstatus`, such as `ctf:2.5.2::score!!:caps!!,score:5:0,2:14:1,3`.
///
/// After `::` come the names of a player's scores, those of a team's, then each team's number and
/// scores. `!!` marks the score that decides.
pub(super) fn teams_of_qcstatus(status: &[u8]) -> Vec<Team> {
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
        let id = number::integer(id).and_then(team_of_qcstatus);
        let score = scores
            .split(|&byte| byte == b',')
            .nth(column)
            .and_then(number::integer);
        teams.extend(id.map(|id| team(id, None, score)));
    }
    teams
}

/// The number of the team that a `qcstatus` gives this number.
fn team_of_qcstatus(number: i64) -> Option<i32> {
    let mut numbered = (1..).zip(QCSTATUS_TEAMS);
    let (id, _) = numbered.find(|(_, known)| i64::from(*known) == number)?;
    Some(id)
}

/// The teams of a `g_match_score`, such as ` ALPHA: 3 BETA: 14`.
fn teams_of_match_score(scores: &[u8], bytes: &Bytes, style: Style) -> Vec<Team> {
    let mut parts = scores.split(|&byte| byte == b':');
    let mut name = parts.next().unwrap_or_default().trim_ascii();
    let mut teams = Vec::new();
    for (part, id) in parts.zip(MATCH_SCORE_TEAMS) {
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
            shown(&teams_of_qcstatus(b"ctf:2.5.2::score!!:caps!!:5:0:14:3")),
            [(1, none(), Some(0)), (2, none(), Some(3))]
        );
        assert_eq!(
            shown(&teams_of_qcstatus(
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
            assert_eq!(teams_of_qcstatus(without.as_bytes()), [], "{without}");
        }
    }

    #[test]
    fn scores_of_a_match_are_read() {
        let read = |scores| {
            shown(&teams_of_match_score(
                scores,
                &Bytes::new(),
                Style::default(),
            ))
        };
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
