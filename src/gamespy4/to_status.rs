//! From an answer to the model: which key means what.

use std::time::Duration;

use bytes::Bytes;

use super::answer::{Answer, Form, Row, Table};
use super::ut3;
use super::wire::minecraft::{STYLE as MINECRAFT, plugins};
use super::wire::sections::Pair;
use crate::model::{Player, RulesBuilder, ServerStatus, Style, Team, Text, ToStatus, listed_bots};
use crate::text::{any, first_filled, known_keys, number};

impl ToStatus for Answer {
    /// The normalised model. Its rules and its longer texts share this answer's bytes.
    fn to_status(&self) -> ServerStatus {
        let is_minecraft = matches!(self.form(), Form::MinecraftBasic | Form::MinecraftFull);
        let style = if is_minecraft {
            MINECRAFT
        } else {
            Style::default()
        };
        let mut status = match self.minecraft_basic() {
            Some(basic) => {
                let port = basic.port.map(|port| port.to_string());
                let port = port
                    .as_deref()
                    .map(|port| (&b"hostport"[..], port.as_bytes()));
                let pairs = BASIC_KEYS.into_iter().zip(basic.texts).chain(port);
                from_pairs(self, pairs.chain([(&b"hostip"[..], basic.address)]), style)
            }
            None => from_pairs(self, self.rules(), style),
        };
        if let Some(players) = self.just_cause_2() {
            let players = players.into_iter().map(|(name, steam_id, ping)| {
                let mut player = Player::new(Text::part(self.raw(), name, Style::default()));
                player.ping = Some(ping.into());
                player.extra.push_raw(b"steamid", steam_id);
                player
            });
            status.players = Some(players.collect());
        }
        status.completeness = self.completeness();
        status.verification = self.verification();
        status
    }
}

/// The keys that Minecraft's full reply has for the first texts of the basic one.
const BASIC_KEYS: [&[u8]; 5] = [
    b"hostname",
    b"gametype",
    b"map",
    b"numplayers",
    b"maxplayers",
];

known_keys! {
    /// Keys that mean something to the model.
    struct Known {
        hostname, hostport, map, mapname, gametype, gamename, game_id, gamever, version, numplayers, maxplayers,
        password, dedicated, timelimit, fraglimit, scorelimit,
        // Battlefield 2 and its relatives.
        gamevariant, bf2_anticheat, bf2_bots, bf2_coopbotcount, bf2_dedicated, bf2_reservedslots, bf2_scorelimit,
        bf2_team1, bf2_team2,
        // Crysis, Arma, Minecraft.
        crysis_dx10 = b"dx10", anticheat, modname, timeleft, modification = b"mod", sv_battleye, sv_punkbuster,
        plugins, server_engine,
        // Unreal Tournament 3.
        engineversion, minnetversion, is_dedicated = b"bisdedicated",
        ut3_bots = b"p268435703", ut3_goal_score = b"p268435704", ut3_time_limit = b"p268435705",
        ut3_mutators = b"p268435717", ut3_vac = b"p268435969", ut3_map = b"p1073741825",
        ut3_game_class = b"p1073741826", ut3_custom_mutators = b"p1073741828",
        ut3_custom_classes = b"p1073741829", ut3_password = b"s7", ut3_dedicated = b"s14",
    }
}

impl<'a> Known<'a> {
    /// Battlefield 2, Battlefield 2142 and their modifications.
    const fn is_bf2(&self) -> bool {
        self.bf2_dedicated.is_some() || self.bf2_team1.is_some()
    }

    /// The modification; Battlefield's key is there without one too.
    fn mod_name(&self) -> Option<&'a [u8]> {
        let variant = self
            .gamevariant
            .filter(|variant| !matches!(*variant, b"bf2" | b"bf2142"));
        let variant = variant.filter(|_| self.is_bf2());
        let software = self.plugins.map(|value| plugins(value).0.raw());
        first_filled(&[
            variant,
            self.modname,
            self.modification,
            software,
            self.server_engine,
        ])
    }

    fn time_limit(&self) -> Option<Duration> {
        if self.ut3_map.is_some() {
            return self.ut3_time_limit.and_then(number::whole_minutes);
        }
        if self.is_bf2() {
            return self
                .timelimit
                .and_then(number::number)
                .map(Duration::from_secs);
        }
        // Other servers do not say in which unit.
        let limit = self.timelimit.and_then(number::whole_minutes);
        limit.filter(|limit| limit.is_zero() || self.crysis_dx10.is_some())
    }

    fn mutators(&self, bytes: &Bytes, style: Style) -> Option<Vec<Text>> {
        let classes = self.ut3_custom_classes.is_some();
        let official = self
            .ut3_mutators
            .and_then(|mask| ut3::mutators(mask, self.engineversion, classes));
        if official.is_none() && self.ut3_custom_mutators.is_none() {
            return None;
        }
        let official = official
            .into_iter()
            .flatten()
            .filter_map(|(_, name)| name.map(Text::from));
        let custom = ut3::names(self.ut3_custom_mutators.unwrap_or_default());
        Some(
            official
                .chain(custom.map(|name| Text::part(bytes, name, style)))
                .collect(),
        )
    }
}

fn from_pairs<'a>(
    answer: &Answer,
    pairs: impl Iterator<Item = Pair<'a>>,
    style: Style,
) -> ServerStatus {
    let bytes = answer.raw();
    let mut known = Known::default();
    let mut rules = RulesBuilder::new(bytes, style.charset, pairs.size_hint().0);
    for (key, value) in pairs {
        if let Some(slot) = known.slot(key) {
            slot.get_or_insert(value);
        }
        rules.push(key, value);
    }
    // Its `mapname` is a list of all properties.
    let is_ut3 = known.ut3_map.is_some();
    let text =
        |values: &[Option<&[u8]>]| first_filled(values).map(|raw| Text::part(bytes, raw, style));
    let count = |value: Option<&[u8]>| value.and_then(number::number::<u32>);
    let Known {
        anticheat,
        bf2_anticheat,
        sv_punkbuster,
        sv_battleye,
        ut3_vac,
        ..
    } = known;
    let score_limits = [
        known.ut3_goal_score,
        known.bf2_scorelimit,
        known.scorelimit,
        known.fraglimit,
    ];
    let time_left = known.timeleft.filter(|_| known.crysis_dx10.is_some());
    let everyone = count(known.numplayers);
    let is_listed = answer.completeness().is_complete()
        && everyone.and_then(|count| usize::try_from(count).ok()) <= Some(answer.players().len());
    let has_lists = answer.form() != Form::MinecraftBasic && answer.completeness().is_complete();
    let has_players = answer.players().fields().len() > 0 || has_lists;
    let mut extras = RulesBuilder::new(bytes, style.charset, 0);
    let mut players = has_players.then(|| players(answer.players(), bytes, style, &mut extras));
    let ut3_bots = count(known.ut3_bots);
    // UT3 lists bots without a name. Where their number is right, they are the rows without one.
    let is_nameless = |player: &Player| player.name.raw().trim_ascii().is_empty();
    let nameless = || {
        players
            .iter()
            .flatten()
            .filter(|player| is_nameless(player))
            .count()
    };
    if ut3_bots.is_some_and(|bots| u32::try_from(nameless()) == Ok(bots)) {
        players
            .iter_mut()
            .flatten()
            .for_each(|player| player.bot = Some(is_nameless(player)));
    }
    let listed_bots = players
        .as_deref()
        .filter(|_| is_listed)
        .and_then(listed_bots);
    let has_bots = known.bf2_bots.and_then(number::boolean);
    let bf2_bots = || {
        if has_bots? {
            count(known.bf2_coopbotcount)
        } else {
            Some(0)
        }
    };
    let bot_count = ut3_bots.or(listed_bots).or_else(bf2_bots);
    // Teams have no number on the wire; players refer to them by position, from 1 on, from 0 in UT3.
    let numbers = if is_ut3 { 0.. } else { 1.. };
    let teams = answer.teams().rows().zip(numbers);
    let mut teams: Vec<Team> = teams
        .map(|(row, number)| team(row, number, bytes, style, &mut extras))
        .collect();
    if teams.is_empty() {
        let names = (1..).zip([known.bf2_team1, known.bf2_team2]);
        let named = names.filter_map(|(id, name)| Some((id, text(&[name])?)));
        teams = named
            .map(|(id, name)| Team {
                id: Some(id),
                name: Some(name),
                ..Team::default()
            })
            .collect();
    }
    let of_players = players.iter_mut().flatten().map(|player| &mut player.extra);
    extras.complete(
        of_players.chain(teams.iter_mut().map(|team| &mut team.extra)),
        style.colours,
    );
    ServerStatus {
        name: text(&[known.hostname]),
        map: if is_ut3 {
            text(&[known.ut3_map])
        } else {
            text(&[known.mapname, known.map])
        },
        game: text(&[known.gamename, known.game_id]),
        mod_name: text(&[known.mod_name()]),
        game_type: if is_ut3 {
            text(&[known.ut3_game_class])
        } else {
            text(&[known.gametype])
        },
        mutators: known.mutators(bytes, style),
        version: text(&[known.gamever, known.version, known.engineversion]),
        protocol_version: count(known.minnetversion),
        game_port: known.hostport.and_then(number::number),
        password: any(&[known.password, known.ut3_password]),
        dedicated: any(&[
            known.bf2_dedicated,
            known.dedicated,
            known.is_dedicated,
            known.ut3_dedicated,
        ]),
        anti_cheat: any(&[
            bf2_anticheat,
            anticheat,
            sv_punkbuster,
            sv_battleye,
            ut3_vac,
        ]),
        // UT3 counts people alone.
        player_count: everyone.map(|people| people.saturating_add(ut3_bots.unwrap_or(0))),
        bot_count,
        max_players: count(known.maxplayers),
        private_slots: count(known.bf2_reservedslots),
        time_limit: known.time_limit(),
        time_left: time_left.and_then(number::number).map(Duration::from_secs),
        score_limit: first_filled(&score_limits).and_then(number::integer),
        players,
        teams,
        rules: rules.build(style.colours),
        ..ServerStatus::default()
    }
}

fn players(
    table: Table<'_>,
    bytes: &Bytes,
    style: Style,
    extras: &mut RulesBuilder,
) -> Vec<Player> {
    // Crysis Wars has no other score.
    let score: &[u8] = if table.fields().any(|field| field == b"score_") {
        b"score_"
    } else {
        b"kills_"
    };
    let mut players = Vec::with_capacity(table.len());
    for row in table.rows() {
        let mut player = Player::default();
        for (field, value) in row.fields() {
            let Some(value) = value else { continue };
            let read = match field {
                b"player_" if player.name.is_empty() => {
                    player.name = Text::part(bytes, value, style);
                    true
                }
                b"ping_" => set(&mut player.ping, number::number(value)),
                b"team_" => set(&mut player.team, number::number(value)),
                b"AIBot_" => set(&mut player.bot, number::boolean(value)),
                field => field == score && set(&mut player.score, number::number(value)),
            };
            if !read {
                extras.push(field, value);
            }
        }
        player.extra = extras.take_part();
        players.push(player);
    }
    players
}

fn team(row: Row<'_>, number: i32, bytes: &Bytes, style: Style, extras: &mut RulesBuilder) -> Team {
    let mut team = Team {
        id: Some(number),
        ..Team::default()
    };
    for (field, value) in row.fields() {
        let Some(value) = value else { continue };
        let read = match field {
            b"team_t" => set(&mut team.name, Some(Text::part(bytes, value, style))),
            b"score_t" => set(&mut team.score, number::number(value)),
            _ => false,
        };
        if !read {
            extras.push(field, value);
        }
    }
    team.extra = extras.take_part();
    team
}

/// Sets a field that has no value yet: of a column that is there twice, parts of two replies, the first one counts. What cannot
/// be read as its type stays among the extras.
fn set<T>(field: &mut Option<T>, value: Option<T>) -> bool {
    let is_read = field.is_none() && value.is_some();
    *field = field.take().or(value);
    is_read
}
