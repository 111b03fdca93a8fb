//! A few dozen invented servers of all four protocols on loopback, with players who come and go.

use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use queryport::model::{Charset, Colours, Style};
use queryport::serve::Responder;
use queryport::session::Machine;
use queryport::{Format, Player, Protocol, Secret, ServerStatus, Service, Team, Text};
use tokio::net::UdpSocket;
use tokio::task::JoinSet;

use super::target::Target;

/// The games whose servers are invented.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    OpenArena,
    QuakeArena,
    UrbanTerror,
    Xonotic,
    EnemyTerritory,
    JediAcademy,
    Unreal99,
    Battlefield1942,
    Unreal3,
    Battlefield2,
    Minecraft,
    Unreal2004,
    KillingFloor,
}
use Kind::*;

/// Each server: game, name with the game's colour codes, slots, players at the start.
const SERVERS: [(Kind, &str, u32, usize); 36] = [
    (OpenArena, "^1Red ^7Planet ^3Deathmatch", 16, 9),
    (OpenArena, "^2Green^7Leaf ^5CTF ^7| Frankfurt", 24, 17),
    (OpenArena, "^6Purple ^7Haze ^3Instagib", 12, 12),
    (OpenArena, "^4Kids ^7and ^4Bots", 8, 3),
    (OpenArena, "^7.: ^5Ice ^7Temple :.", 16, 0),
    (QuakeArena, "^1Old ^3School ^7FFA", 16, 11),
    (QuakeArena, "^5Tourney ^7#1", 2, 2),
    (QuakeArena, "^5Tourney ^7#2", 2, 1),
    (QuakeArena, "^3Long ^7Bridge", 16, 0),
    (UrbanTerror, "^4Blue ^7Roof Team Survivor", 20, 18),
    (UrbanTerror, "^2Jump ^7School ^8(easy)", 32, 21),
    (UrbanTerror, "^1Bomb ^7& Defuse ^3Berlin", 16, 14),
    (Xonotic, "^xF80Overkill ^xFFFof the ^x0CFDeep", 24, 13),
    (Xonotic, "^x8F0Vehicle ^7Playground", 32, 6),
    (Xonotic, "^x0AFMinsta ^7on ^xF3FSpace", 16, 8),
    (EnemyTerritory, "^1Panzer ^7War 24/7 ^2Oasis", 48, 39),
    (EnemyTerritory, "^3Gold ^7Rush only", 32, 12),
    (EnemyTerritory, "^7Six ^4Stock ^7Maps", 24, 0),
    (JediAcademy, "^5Council ^7of ^5Duels", 32, 16),
    (JediAcademy, "^1Siege ^7of Hoth", 20, 7),
    (Unreal99, "Facing Worlds all night", 16, 14),
    (Unreal99, "Low Gravity Sniper Arena", 12, 4),
    (Unreal99, "Bunny Track [beginners]", 20, 9),
    (Battlefield1942, "Desert Combat veterans", 64, 44),
    (Battlefield1942, "Wake Island forever", 64, 23),
    (Unreal3, "Warfare with vehicles", 24, 10),
    (Unreal3, "Duel ladder", 2, 2),
    (Battlefield2, "Karkand infantry only", 64, 61),
    (Battlefield2, "Co-op with bots", 16, 5),
    (Minecraft, "§aGreen §fValley §7survival", 40, 27),
    (Minecraft, "§6Sky §eBlocks §fand §bCastles", 60, 34),
    (Minecraft, "§dCreative §fPlots", 20, 0),
    (
        Unreal2004,
        "\u{1b}\u{f8}\u{40}\u{40}Onslaught \u{1b}\u{ff}\u{ff}\u{ff}Torlan day and night",
        32,
        26,
    ),
    (Unreal2004, "Invasion RPG", 12, 8),
    (KillingFloor, "Suicidal, no perks below 5", 6, 6),
    (KillingFloor, "Learners welcome", 6, 2),
];

/// Servers that never answer: there are always some.
const SILENT: usize = 2;
/// Statuses change this often.
const STEP: Duration = Duration::from_secs(3);

const PLAYERS: [&str; 48] = [
    "^1Ann",
    "Bob",
    "^2Cleo",
    "D^3a^1n",
    "^4Eve",
    "Fynn",
    "^5Gus",
    "Hana",
    "^6Ivo",
    "Jule",
    "^3Kai",
    "Lio",
    "^1M^7ax",
    "Nele",
    "^2Otto",
    "Pia",
    "^5Quinn",
    "Rosa",
    "^4Sam",
    "Tove",
    "^6Uma",
    "Vito",
    "^3Wim",
    "Xena",
    "^1Yuri",
    "Zoe",
    "^7[^2frag^7]Alva",
    "^7[^2frag^7]Bo",
    "Dæmia",
    "Жанна",
    "^5ice^7man",
    "^3gold^7en",
    "^1red^7baron",
    "nobody",
    "^2|^7lag^2|",
    "^4deep^5blue",
    "Sarge",
    "^6Orbb",
    "Grism",
    "^3Sorlag",
    "Major",
    "^1Visor",
    "Keel",
    "^2Angel",
    "Ranger",
    "^5Tank",
    "Uriel",
    "^4Klesk",
];

/// The servers and their tasks; they answer until this is dropped.
#[derive(Debug)]
pub(crate) struct Farm {
    pub(crate) targets: Vec<Target>,
    _tasks: JoinSet<()>,
    _silent: Vec<UdpSocket>,
}

impl Farm {
    pub(crate) async fn start() -> io::Result<Self> {
        let (mut targets, mut tasks, mut silent) = (Vec::new(), JoinSet::new(), Vec::new());
        for (number, (kind, name, slots, players)) in (0_u64..).zip(SERVERS) {
            let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await?;
            targets.push((kind.protocol().into(), socket.local_addr()?.to_string()));
            let world = World::new(kind, name, slots, players, number);
            let delay = Duration::from_micros(6_500 + (number * 37 % 113) * 1_370);
            tasks.spawn(answer(socket, world, Secret::from_os()?, delay));
        }
        for _ in 0..SILENT {
            let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await?;
            targets.push((Protocol::Quake3.into(), socket.local_addr()?.to_string()));
            silent.push(socket);
        }
        Ok(Self {
            targets,
            _tasks: tasks,
            _silent: silent,
        })
    }
}

/// Answers after a delay, as a server far away does.
#[allow(clippy::disallowed_methods, reason = "a program has a clock")]
async fn answer(socket: UdpSocket, mut world: World, secret: Secret, delay: Duration) {
    let socket = Arc::new(socket);
    let mut responder =
        Responder::new(world.kind.service(), world.status(), secret, Instant::now());
    let mut buffer = [0; 2048];
    let mut steps = tokio::time::interval(STEP);
    loop {
        tokio::select! {
            _ = steps.tick() => {
                world.step();
                responder.set_status(world.status());
            }
            received = socket.recv_from(&mut buffer) => {
                // The error belongs to an earlier reply.
                let Ok((length, from)) = received else { continue };
                responder.handle_datagram(Instant::now(), from, buffer.get(..length).unwrap_or_default());
                let (mut replies, mut reply) = (Vec::new(), Vec::new());
                while let Some(transmit) = responder.poll_transmit(Instant::now(), &mut reply) {
                    replies.push((transmit.to, std::mem::take(&mut reply)));
                }
                let socket = Arc::clone(&socket);
                tokio::spawn(async move {
                    tokio::time::sleep(delay).await;
                    for (to, reply) in replies {
                        let _ = socket.send_to(&reply, to).await;
                    }
                });
            }
        }
    }
}

/// A server that is played on.
#[derive(Debug)]
struct World {
    kind: Kind,
    name: &'static str,
    slots: u32,
    map: usize,
    players: Vec<Player>,
    random: Random,
}

impl World {
    fn new(kind: Kind, name: &'static str, slots: u32, players: usize, number: u64) -> Self {
        let mut world = Self {
            kind,
            name,
            slots,
            map: number as usize,
            players: Vec::new(),
            random: Random(number + 1),
        };
        for _ in 0..players {
            world.join();
            let score = i64::from(world.random.below(40)) - 2;
            if let Some(player) = world.players.last_mut() {
                player.score = Some(score);
            }
        }
        world
    }

    fn join(&mut self) {
        let start = self.random.below(48) as usize;
        let is_new = |name: &Text| self.players.iter().all(|player| player.name != *name);
        let names = PLAYERS.iter().cycle().skip(start).take(PLAYERS.len());
        let Some(name) = names.map(|name| self.kind.player_name(name)).find(is_new) else {
            return;
        };
        let mut player = Player::new(name);
        player.score = Some(0);
        player.ping = Some(15 + self.random.below(120) as i32);
        player.team = self.kind.teams().map(|[(first, _), (second, _)]| {
            if self.players.len().is_multiple_of(2) {
                first
            } else {
                second
            }
        });
        self.players.push(player);
    }

    /// Three seconds of play.
    fn step(&mut self) {
        for player in &mut self.players {
            if self.random.below(4) == 0 {
                player.score = player.score.map(|score| score + 1);
            }
        }
        let slots = self.slots as usize;
        match self.random.below(8) {
            0 if !self.players.is_empty() => {
                let leaver = self.random.below(self.players.len() as u32) as usize;
                self.players.remove(leaver);
            }
            1 if !self.players.is_empty() && self.players.len() < slots => self.join(),
            2 if self.random.below(6) == 0 => {
                self.map += 1;
                self.players
                    .iter_mut()
                    .for_each(|player| player.score = Some(0));
            }
            _ => {}
        }
    }

    fn status(&self) -> ServerStatus {
        let mut status = ServerStatus::default();
        status.name = Some(self.kind.text(self.name));
        status.map = self
            .kind
            .maps()
            .iter()
            .cycle()
            .nth(self.map)
            .map(|map| (*map).into());
        status.game_type = Some(self.kind.game_type().into());
        status.max_players = Some(self.slots);
        status.password = Some(self.name.contains("veterans"));
        status.players = self.players.clone().into();
        status.player_count = u32::try_from(self.players.len()).ok();
        for ((id, name), score) in self.kind.teams().into_iter().flatten().zip([2, 3]) {
            let mut team = Team::default();
            (team.id, team.name, team.score) = (Some(id), Some(name.into()), Some(score));
            status.teams.push(team);
        }
        match self.kind {
            Minecraft => (status.game_port, status.version) = (Some(25565), Some("1.21.11".into())),
            Battlefield2 => {
                status.game = Some("battlefield2".into());
                (status.game_port, status.version) = (Some(16567), Some("1.5.3153-802.0".into()));
            }
            Unreal99 => {
                status.game = Some("ut".into());
                (status.game_port, status.version) = (Some(7777), Some("451".into()));
            }
            Battlefield1942 => status.game = Some("bfield1942".into()),
            Unreal3 | Unreal2004 | KillingFloor => status.game_port = Some(7777),
            _ => {}
        }
        let bots = status
            .players
            .iter_mut()
            .filter(|player| player.name.plain().len() == 5);
        if self.kind == Unreal99 {
            bots.for_each(|player| player.bot = Some(true));
            for player in &mut status.players {
                player.bot.get_or_insert(false);
            }
        } else if matches!(self.kind, OpenArena | Xonotic | Unreal3) {
            status.bot_count = u32::try_from(bots.count()).ok();
        }
        status.rules = self.kind.rules().iter().copied().collect();
        status
    }
}

impl Kind {
    const fn protocol(self) -> Protocol {
        match self {
            Unreal99 | Battlefield1942 => Protocol::GameSpy1,
            Unreal3 | Battlefield2 | Minecraft => Protocol::GameSpy4,
            Unreal2004 | KillingFloor => Protocol::Ut2004,
            _ => Protocol::Quake3,
        }
    }

    fn service(self) -> Service {
        match self {
            Unreal3 => Service::new(Format::UnrealTournament3),
            Minecraft => Service::new(Format::Minecraft),
            other => other.protocol().into(),
        }
    }

    /// A text with the colour codes of the game.
    fn text(self, text: &str) -> Text {
        let style = match self {
            Xonotic => Style::new(Charset::default(), Colours::DarkPlaces),
            Minecraft => Style::new(Charset::default(), Colours::SectionSign),
            Unreal2004 => {
                let bytes: Vec<u8> = text
                    .chars()
                    .filter_map(|c| u8::try_from(u32::from(c)).ok())
                    .collect();
                return Text::new(bytes, Style::new(Charset::Latin1, Colours::UnrealEscape));
            }
            _ if self.protocol() == Protocol::Quake3 => {
                Style::new(Charset::default(), Colours::Caret)
            }
            _ => Style::default(),
        };
        Text::new(text.as_bytes().to_vec(), style)
    }

    /// The name of a player, with colours in games of the Quake 3 family only.
    fn player_name(self, name: &str) -> Text {
        let text = Text::new(
            name.as_bytes().to_vec(),
            Style::new(Charset::default(), Colours::Caret),
        );
        if self.protocol() == Protocol::Quake3 {
            text
        } else {
            text.plain().into_owned().into()
        }
    }

    const fn maps(self) -> &'static [&'static str] {
        match self {
            OpenArena => &[
                "aggressor",
                "ctf_compromise",
                "oa_dm6",
                "wrackdm17",
                "kaos2",
            ],
            QuakeArena => &["q3dm17", "q3dm6", "q3tourney2", "q3dm13"],
            UrbanTerror => &["ut4_turnpike", "ut4_abbey", "ut4_casa", "ut4_kingdom"],
            Xonotic => &["stormkeep", "afterslime", "solarium", "xoylent"],
            EnemyTerritory => &["oasis", "goldrush", "fueldump", "radar", "railgun"],
            JediAcademy => &["mp/ffa3", "mp/duel6", "mp/siege_hoth"],
            Unreal99 => &["CTF-Face", "DM-Deck16][", "CTF-Coret", "DM-Morpheus"],
            Battlefield1942 => &["wake", "el_alamein", "kursk", "berlin"],
            Unreal3 => &["WAR-Torlan", "DM-Deck", "VCTF-Suspense"],
            Battlefield2 => &["Strike At Karkand", "Gulf Of Oman", "Wake Island 2007"],
            Minecraft => &["world"],
            Unreal2004 => &["ONS-Torlan", "CTF-FaceClassic", "DM-Rankin"],
            KillingFloor => &["KF-Farm", "KF-WestLondon", "KF-BioticsLab"],
        }
    }

    const fn game_type(self) -> &'static str {
        match self {
            OpenArena | QuakeArena | Xonotic => "0",
            UrbanTerror => "4",
            EnemyTerritory => "2",
            JediAcademy => "3",
            Unreal99 => "CTFGame",
            Battlefield1942 => "conquest",
            Unreal3 => "UTGameContent.UTWarfareGame",
            Battlefield2 => "gpm_cq",
            Minecraft => "SMP",
            Unreal2004 => "ONSOnslaughtGame",
            KillingFloor => "KFGameType",
        }
    }

    const fn teams(self) -> Option<[(i32, &'static str); 2]> {
        match self {
            Unreal99 | Unreal3 | Unreal2004 => Some([(0, "Red"), (1, "Blue")]),
            Battlefield1942 => Some([(1, "Axis"), (2, "Allied")]),
            Battlefield2 => Some([(1, "MEC"), (2, "US")]),
            _ => None,
        }
    }

    /// Settings, among them those that tell the game.
    const fn rules(self) -> Rules {
        match self {
            OpenArena => OPENARENA,
            QuakeArena => QUAKE_ARENA,
            UrbanTerror => URBAN_TERROR,
            Xonotic => XONOTIC,
            EnemyTerritory => ENEMY_TERRITORY,
            JediAcademy => JEDI_ACADEMY,
            Unreal99 => UNREAL_99,
            Battlefield1942 => BATTLEFIELD_1942,
            Unreal3 => UNREAL_3,
            Battlefield2 => BATTLEFIELD_2,
            Minecraft => MINECRAFT,
            Unreal2004 => UNREAL_2004,
            KillingFloor => KILLING_FLOOR,
        }
    }
}

/// Keys and values.
type Rules = &'static [(&'static str, &'static str)];

const OPENARENA: Rules = &[
    ("version", "ioq3+oa 1.36_GIT linux-x86_64 Dec 25 2011"),
    ("gamename", "baseoa"),
    ("fraglimit", "30"),
    ("timelimit", "15"),
    ("sv_floodProtect", "1"),
    ("g_instantgib", "0"),
    ("dmflags", "8"),
    ("sv_maxRate", "25000"),
];

const QUAKE_ARENA: Rules = &[
    ("version", "Q3 1.32e linux-x86_64"),
    ("gamename", "baseq3"),
    ("fraglimit", "20"),
    ("timelimit", "10"),
    ("sv_pure", "1"),
];

const URBAN_TERROR: Rules = &[
    ("version", "ioQ3 1.35 urt 4.3.4 linux-x86_64"),
    ("gamename", "q3urt43"),
    ("g_gear", "0"),
    ("timelimit", "20"),
    ("g_friendlyFire", "2"),
];

const XONOTIC: Rules = &[
    ("gamename", "Xonotic"),
    ("gameversion", "806"),
    // It also names the engine, and so the form of the colour codes.
    ("qcstatus", "dm:0.8.6:P0:S8:F0:MXonotic"),
    ("sv_allowdownloads", "1"),
];

const ENEMY_TERRITORY: Rules = &[
    ("version", "ET 2.60b linux-i386 May  8 2006"),
    ("mod_version", "2.2.0"),
    ("timelimit", "20"),
    ("g_balancedteams", "1"),
    ("sv_punkbuster", "0"),
];

const JEDI_ACADEMY: Rules = &[
    ("version", "JAmp: v1.0.1.1 linux-i386 Nov 10 2003"),
    ("g_forcePowerDisable", "0"),
];

const UNREAL_99: Rules = &[
    ("minnetver", "432"),
    ("mutators", "Instagib"),
    ("timelimit", "20"),
    ("goalteamscore", "3"),
    ("AdminName", "embedded"),
];

const BATTLEFIELD_1942: Rules = &[
    ("gamename", "bfield1942"),
    ("ticket_ratio", "100"),
    ("reservedslots", "0"),
];

const UNREAL_3: Rules = &[
    ("gamename", "ut3pc"),
    ("bIsDedicated", "True"),
    ("s32779", "3"),
    ("p268435704", "3"),
];

const BATTLEFIELD_2: Rules = &[
    ("gamename", "battlefield2"),
    ("gamevariant", "bf2"),
    ("bf2_dedicated", "1"),
    ("bf2_mapsize", "64"),
];

const MINECRAFT: Rules = &[
    ("game_id", "MINECRAFT"),
    ("plugins", "queryport 0.1: Example 1.0; Other 2"),
];

const UNREAL_2004: Rules = &[
    ("ServerMode", "dedicated"),
    ("ServerVersion", "3369"),
    ("GoalScore", "3"),
    ("Mutator", "MutInstaGib"),
];

const KILLING_FLOOR: Rules = &[
    ("ServerMode", "dedicated"),
    ("ServerVersion", "1065"),
    ("CurrentWave", "4"),
    ("FinalWave", "10"),
];

/// Marsaglia's xorshift: the farm is the same at each start.
#[derive(Debug)]
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        // The low bits of a small seed are hardly random.
        ((self.0 >> 11) % u64::from(bound.max(1))) as u32
    }
}
