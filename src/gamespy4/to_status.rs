//! From an answer to the model: which key means what.

use std::time::Duration;

use bytes::Bytes;

use super::answer::answer::{Answer, Form};
use super::answer::tables::{Row, Table};
use super::ut3;
use super::wire::minecraft::{STYLE as MINECRAFT, plugins};
use super::wire::sections::JustCause2Player;
use crate::model::{Player, RulesBuilder, ServerStatus, Style, Team, Text, ToStatus};
use crate::text::known_keys::{first_filled, known_keys};
use crate::text::number;

impl ToStatus for Answer {
    /// The normalised model. Its rules and its longer texts share this answer's bytes.
    fn to_status(&self) -> ServerStatus {
        let mut status = match self.form() {
            Form::MinecraftBasic => from_basic(self),
            Form::MinecraftFull => from_pairs(self, MINECRAFT),
            _ => from_pairs(self, Style::default()),
        };
        if let Some(players) = self.just_cause_2() {
            status.players =
                Some(players.into_iter().map(|player| just_cause_2_player(player, self.raw())).collect());
        }
        status.completeness = self.completeness();
        status.verification = self.verification();
        status
    }
}

known_keys! {
    /// Keys that mean something to the model.
    struct Known {
        anticheat = b"anticheat",
        bf2_anticheat = b"bf2_anticheat",
        bf2_bots = b"bf2_bots",
        bf2_coop_bots = b"bf2_coopbotcount",
        bf2_dedicated = b"bf2_dedicated",
        bf2_reserved_slots = b"bf2_reservedslots",
        bf2_score_limit = b"bf2_scorelimit",
        bf2_team_1 = b"bf2_team1",
        bf2_team_2 = b"bf2_team2",
        crysis_dx10 = b"dx10",
        dedicated = b"dedicated",
        engine_version = b"engineversion",
        frag_limit = b"fraglimit",
        game_id = b"game_id",
        gamename = b"gamename",
        gametype = b"gametype",
        gamevariant = b"gamevariant",
        gamever = b"gamever",
        hostname = b"hostname",
        hostport = b"hostport",
        is_dedicated = b"bisdedicated",
        map = b"map",
        mapname = b"mapname",
        maxplayers = b"maxplayers",
        min_net_version = b"minnetversion",
        modification = b"mod",
        modname = b"modname",
        numplayers = b"numplayers",
        password = b"password",
        plugins = b"plugins",
        score_limit = b"scorelimit",
        server_engine = b"server_engine",
        sv_battleye = b"sv_battleye",
        sv_punkbuster = b"sv_punkbuster",
        timeleft = b"timeleft",
        timelimit = b"timelimit",
        ut3_bots = b"p268435703",
        ut3_custom_classes = b"p1073741829",
        ut3_custom_mutators = b"p1073741828",
        ut3_dedicated = b"s14",
        ut3_game_class = b"p1073741826",
        ut3_goal_score = b"p268435704",
        ut3_map = b"p1073741825",
        ut3_mutators = b"p268435717",
        ut3_password = b"s7",
        ut3_time_limit = b"p268435705",
        ut3_vac = b"p268435969",
        version = b"version",
    }
}

impl<'a> Known<'a> {
    /// Its `mapname` is a list of all properties.
    const fn is_ut3(&self) -> bool {
        self.ut3_map.is_some()
    }

    /// Battlefield 2, Battlefield 2142 and their modifications.
    const fn is_bf2(&self) -> bool {
        self.bf2_dedicated.is_some() || self.bf2_team_1.is_some()
    }

    /// The modification; Battlefield's key is there without one too.
    fn mod_name(&self) -> Option<&'a [u8]> {
        let variant = self.gamevariant.filter(|variant| !matches!(*variant, b"bf2" | b"bf2142"));
        let variant = variant.filter(|_| self.is_bf2());
        let software = self.plugins.map(|value| plugins(value).0.raw());
        first_filled(&[variant, self.modname, self.modification, software, self.server_engine])
    }

    fn time_limit(&self) -> Option<Duration> {
        let value = |value: Option<&[u8]>| value.and_then(number::number::<u64>);
        let minutes = |minutes: u64| Duration::from_secs(minutes.saturating_mul(60));
        if self.is_ut3() {
            return value(self.ut3_time_limit).map(minutes);
        }
        let limit = value(self.timelimit)?;
        if self.is_bf2() {
            return Some(Duration::from_secs(limit));
        }
        // Other servers do not say in which unit.
        (limit == 0 || self.crysis_dx10.is_some()).then(|| minutes(limit))
    }

    fn mutators(&self, bytes: &Bytes, style: Style) -> Option<Vec<Text>> {
        let classes = self.ut3_custom_classes.is_some();
        let official = self.ut3_mutators.and_then(|mask| ut3::mutators(mask, self.engine_version, classes));
        if official.is_none() && self.ut3_custom_mutators.is_none() {
            return None;
        }
        let official = official.into_iter().flatten().filter_map(|(_, name)| name.map(Text::from));
        let custom = ut3::names(self.ut3_custom_mutators.unwrap_or_default());
        Some(official.chain(custom.map(|name| Text::part(bytes, name, style))).collect())
    }
}

fn from_pairs(answer: &Answer, style: Style) -> ServerStatus {
    let bytes = answer.raw();
    let mut known = Known::default();
    let mut rules = RulesBuilder::new(bytes, style.charset, answer.rules().len());
    for (key, value) in answer.rules() {
        if let Some(slot) = known.slot(key) {
            slot.get_or_insert(value);
        }
        rules.push(key, value);
    }
    let is_ut3 = known.is_ut3();
    let text = |values: &[Option<&[u8]>]| first_filled(values).map(|raw| Text::part(bytes, raw, style));
    let count = |value: Option<&[u8]>| value.and_then(number::number::<u32>);
    let limit = |values: &[Option<&[u8]>]| first_filled(values).and_then(number::integer);
    let everyone = count(known.numplayers);
    let is_listed = answer.completeness().is_complete()
        && everyone.and_then(|count| usize::try_from(count).ok()) <= Some(answer.players().len());
    let has_players = answer.players().fields().len() > 0 || answer.completeness().is_complete();
    let mut extras = RulesBuilder::new(bytes, style.charset, 0);
    let mut players = has_players.then(|| players(answer.players(), bytes, style, &mut extras));
    let ut3_bots = count(known.ut3_bots);
    if let (Some(bots), Some(players)) = (ut3_bots, &mut players) {
        mark_nameless(players, bots);
    }
    let listed_bots = players.as_deref().filter(|_| is_listed).and_then(listed_bots);
    let has_bots = known.bf2_bots.and_then(number::boolean);
    let bf2_bots = || if has_bots? { count(known.bf2_coop_bots) } else { Some(0) };
    let bot_count = ut3_bots.or(listed_bots).or_else(bf2_bots);
    // Teams have no number on the wire; players refer to them by position, from 1 on, from 0 in UT3.
    let numbers = if is_ut3 { 0.. } else { 1.. };
    let teams = answer.teams().rows().zip(numbers);
    let mut teams: Vec<Team> =
        teams.map(|(row, number)| team(row, number, bytes, style, &mut extras)).collect();
    if teams.is_empty() {
        let names = (1..).zip([known.bf2_team_1, known.bf2_team_2]);
        let named = names.filter_map(|(id, name)| Some((id, text(&[name])?)));
        teams = named.map(|(id, name)| Team { id: Some(id), name: Some(name), ..Team::default() }).collect();
    }
    let of_players = players.iter_mut().flatten().map(|player| &mut player.extra);
    extras.complete(of_players.chain(teams.iter_mut().map(|team| &mut team.extra)), style.colours);
    ServerStatus {
        name: text(&[known.hostname]),
        map: if is_ut3 { text(&[known.ut3_map]) } else { text(&[known.mapname, known.map]) },
        game: text(&[known.gamename, known.game_id]),
        mod_name: text(&[known.mod_name()]),
        game_type: if is_ut3 { text(&[known.ut3_game_class]) } else { text(&[known.gametype]) },
        mutators: known.mutators(bytes, style),
        version: text(&[known.gamever, known.version, known.engine_version]),
        protocol_version: count(known.min_net_version),
        game_port: known.hostport.and_then(number::number),
        password: any(&[known.password, known.ut3_password]),
        dedicated: any(&[known.bf2_dedicated, known.dedicated, known.is_dedicated, known.ut3_dedicated]),
        anti_cheat: any(&[
            known.bf2_anticheat,
            known.anticheat,
            known.sv_punkbuster,
            known.sv_battleye,
            known.ut3_vac,
        ]),
        // UT3 counts people alone.
        player_count: everyone.map(|people| people.saturating_add(ut3_bots.unwrap_or(0))),
        bot_count,
        max_players: count(known.maxplayers),
        private_slots: count(known.bf2_reserved_slots),
        time_limit: known.time_limit(),
        time_left: known
            .timeleft
            .filter(|_| known.crysis_dx10.is_some())
            .and_then(number::number)
            .map(Duration::from_secs),
        score_limit: limit(&[
            known.ut3_goal_score,
            known.bf2_score_limit,
            known.score_limit,
            known.frag_limit,
        ]),
        players,
        teams,
        rules: rules.build(style.colours),
        ..ServerStatus::default()
    }
}

/// Whether one of these is said to be so; `None` where none is said at all.
fn any(values: &[Option<&[u8]>]) -> Option<bool> {
    values.iter().flatten().filter_map(|value| number::boolean(value)).reduce(|one, other| one || other)
}

/// UT3 lists bots without a name. Where their number is right, they are the rows without one.
fn mark_nameless(players: &mut [Player], bots: u32) {
    let is_nameless = |player: &Player| player.name.raw().trim_ascii().is_empty();
    let nameless = players.iter().filter(|player| is_nameless(player)).count();
    if u32::try_from(nameless) == Ok(bots) {
        for player in players {
            player.bot = Some(is_nameless(player));
        }
    }
}

/// The number of bots where each row says whether it is one.
fn listed_bots(players: &[Player]) -> Option<u32> {
    let is_known = !players.is_empty() && players.iter().all(|player| player.bot.is_some());
    let bots = players.iter().filter(|player| player.bot == Some(true)).count();
    is_known.then(|| u32::try_from(bots).ok())?
}

fn from_basic(answer: &Answer) -> ServerStatus {
    let Some(basic) = answer.minecraft_basic() else { return ServerStatus::default() };
    let bytes = answer.raw();
    let text = |raw: &[u8]| (!raw.is_empty()).then(|| Text::part(bytes, raw, MINECRAFT));
    let mut rules = RulesBuilder::new(bytes, MINECRAFT.charset, 7);
    let port = basic.port.map(|port| port.to_string());
    for (key, value) in [
        ("hostname", Some(basic.title)),
        ("gametype", Some(basic.game_type)),
        ("map", Some(basic.map)),
        ("numplayers", Some(basic.players)),
        ("maxplayers", Some(basic.max_players)),
        ("hostport", port.as_deref().map(str::as_bytes)),
        ("hostip", Some(basic.address)),
    ] {
        if let Some(value) = value {
            rules.push(key.as_bytes(), value);
        }
    }
    ServerStatus {
        name: text(basic.title),
        map: text(basic.map),
        game_type: text(basic.game_type),
        game_port: basic.port,
        player_count: number::number(basic.players),
        max_players: number::number(basic.max_players),
        rules: rules.build(MINECRAFT.colours),
        ..ServerStatus::default()
    }
}

/// What a column of the players' table is to the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PlayerField {
    Name,
    Score,
    Ping,
    Team,
    Bot,
    Further,
}

impl PlayerField {
    fn of(name: &[u8]) -> Self {
        match name {
            b"player_" => Self::Name,
            b"score_" => Self::Score,
            b"ping_" => Self::Ping,
            b"team_" => Self::Team,
            b"AIBot_" => Self::Bot,
            _ => Self::Further,
        }
    }
}

fn players(table: Table<'_>, bytes: &Bytes, style: Style, extras: &mut RulesBuilder) -> Vec<Player> {
    let mut fields: Vec<PlayerField> = Vec::with_capacity(table.fields().len());
    for field in table.fields() {
        // Of a column that is there twice, parts of two replies, the first one counts, as in [`Row::get`].
        let field = PlayerField::of(field);
        fields.push(if fields.contains(&field) { PlayerField::Further } else { field });
    }
    if !fields.contains(&PlayerField::Score) {
        // Crysis Wars has no other score.
        let kills = table.fields().position(|field| field == b"kills_");
        if let Some(field) = kills.and_then(|at| fields.get_mut(at)) {
            *field = PlayerField::Score;
        }
    }
    let mut players = Vec::with_capacity(table.len());
    for row in table.rows() {
        let mut player = Player::default();
        for ((name, value), field) in row.fields().zip(&fields) {
            let Some(value) = value else { continue };
            let read = match field {
                PlayerField::Name => {
                    player.name = Text::part(bytes, value, style);
                    true
                }
                PlayerField::Score => set(&mut player.score, number::number(value)),
                PlayerField::Ping => set(&mut player.ping, number::number(value)),
                PlayerField::Team => set(&mut player.team, number::number(value)),
                PlayerField::Bot => set(&mut player.bot, number::boolean(value)),
                PlayerField::Further => false,
            };
            if !read {
                extras.push(name, value);
            }
        }
        player.extra = extras.take_part();
        players.push(player);
    }
    players
}

fn just_cause_2_player((name, steam_id, ping): JustCause2Player<'_>, bytes: &Bytes) -> Player {
    let mut player = Player::new(Text::part(bytes, name, Style::default()));
    player.ping = Some(ping.into());
    player.extra.push_raw(b"steamid", steam_id);
    player
}

fn team(row: Row<'_>, number: i32, bytes: &Bytes, style: Style, extras: &mut RulesBuilder) -> Team {
    let mut team = Team { id: Some(number), ..Team::default() };
    for (field, value) in row.fields() {
        let Some(value) = value else { continue };
        let read = match field {
            b"team_t" if team.name.is_none() => {
                team.name = Some(Text::part(bytes, value, style));
                true
            }
            b"score_t" if team.score.is_none() => set(&mut team.score, number::number(value)),
            _ => false,
        };
        if !read {
            extras.push(field, value);
        }
    }
    team.extra = extras.take_part();
    team
}

/// What cannot be read as the field's type stays among the extras.
fn set<T>(field: &mut Option<T>, value: Option<T>) -> bool {
    *field = value;
    field.is_some()
}
