//! The datagrams of a usual and a full server in each protocol, built by hand so that encoders do
//! not affect them.

use bytes::Bytes;

fn name(player: usize) -> String {
    [
        "^1Sarge",
        "[clan] Anna-Lena",
        "player name",
        "^4b^7ig ^1B",
        "xX_Major_Xx",
        "Visor",
    ][player % 6]
        .to_owned()
        + &player.to_string()
}

/// The pairs of a server with this many rules in addition to its usual keys.
fn pairs(usual: &[(&str, &str)], rules: usize) -> Vec<(String, String)> {
    let further =
        (0..rules).map(|rule| (format!("sv_setting{rule}"), format!("value number {rule}")));
    usual
        .iter()
        .map(|&(key, value)| (key.to_owned(), value.to_owned()))
        .chain(further)
        .collect()
}

/// The keys of an ioquake3 server (code/server/sv_init.c, code/game/g_main.c).
const QUAKE3: [(&str, &str); 20] = [
    (
        "version",
        "ioq3 1.36_GIT_2ac8dca5-2019-08-21 linux-x86_64 Aug 21 2019",
    ),
    ("sv_hostname", "^1A server^7 of usual length"),
    ("g_gametype", "4"),
    ("mapname", "q3ctf1"),
    ("sv_maxclients", "32"),
    ("sv_privateClients", "2"),
    ("protocol", "71"),
    ("com_gamename", "Quake3Arena"),
    ("gamename", "baseq3"),
    ("timelimit", "20"),
    ("fraglimit", "0"),
    ("capturelimit", "8"),
    ("dmflags", "0"),
    ("sv_minRate", "0"),
    ("sv_maxRate", "25000"),
    ("sv_floodProtect", "1"),
    ("sv_allowDownload", "0"),
    ("bot_minplayers", "4"),
    ("g_maxGameClients", "0"),
    ("g_needpass", "0"),
];

/// A `statusResponse`.
pub fn quake3(rules: usize, players: usize) -> Vec<Bytes> {
    let mut packet = "statusResponse\n".to_owned();
    for (key, value) in pairs(&QUAKE3, rules) {
        packet += &format!("\\{key}\\{value}");
    }
    packet.push('\n');
    for player in 0..players {
        packet += &format!("{} {} \"{}\"\n", player * 3, 20 + player, name(player));
    }
    vec![[b"\xff\xff\xff\xff", packet.as_bytes()].concat().into()]
}

/// The keys of a UT99 server (UdpServerQuery of the game's IpServer).
const GAMESPY1: [(&str, &str); 22] = [
    ("gamename", "ut"),
    ("gamever", "469"),
    ("minnetver", "432"),
    ("location", "0"),
    ("hostname", "A server with a name of usual length"),
    ("hostport", "7777"),
    ("maptitle", "Facing Worlds"),
    ("mapname", "CTF-Face"),
    ("gametype", "CTFGame"),
    ("numplayers", "10"),
    ("maxplayers", "32"),
    ("gamemode", "openplaying"),
    ("mutators", "Instagib, No Powerups"),
    ("timelimit", "20"),
    ("goalteamscore", "7"),
    ("minplayers", "4"),
    ("changelevels", "True"),
    ("balanceteams", "True"),
    ("playersbalanceteams", "True"),
    ("friendlyfire", "0%"),
    ("tournament", "False"),
    ("password", "False"),
];

/// A `\status\` reply in numbered fragments of at most 1,300 bytes, or in datagrams of this length
/// without numbers.
pub fn gamespy1(rules: usize, players: usize, unnumbered: Option<usize>) -> Vec<Bytes> {
    let mut fields = pairs(&GAMESPY1, rules);
    for player in 0..players {
        let values = [
            ("player", name(player)),
            ("frags", (player * 3).to_string()),
            ("ping", (20 + player).to_string()),
            ("team", (player % 2).to_string()),
            ("mesh", "Male Commando".to_owned()),
            ("skin", "CommandoSkins.cmdo".to_owned()),
            ("face", "CommandoSkins.Blake".to_owned()),
            ("ngsecret", "false".to_owned()),
        ];
        fields.extend(values.map(|(key, value)| (format!("{key}_{player}"), value)));
    }
    let mut parts = vec![String::new()];
    for (key, value) in fields {
        let pair = format!("\\{key}\\{value}");
        if parts.last().unwrap().len() + pair.len() > unnumbered.unwrap_or(1_300) {
            parts.push(String::new());
        }
        *parts.last_mut().unwrap() += &pair;
    }
    let last = parts.len() - 1;
    for (index, part) in parts.iter_mut().enumerate() {
        if unnumbered.is_none() {
            *part += &format!("\\queryid\\12.{}", index + 1);
        }
        if index == last {
            *part += "\\final\\";
        }
    }
    parts.into_iter().map(Bytes::from).collect()
}

/// The keys of a Battlefield 2 server.
const GAMESPY4: [(&str, &str); 24] = [
    ("hostname", "A server with a name of usual length"),
    ("gamename", "battlefield2"),
    ("gamever", "1.5.3153-802.0"),
    ("mapname", "Strike At Karkand"),
    ("gametype", "gpm_cq"),
    ("gamevariant", "bf2"),
    ("numplayers", "40"),
    ("maxplayers", "64"),
    ("gamemode", "openplaying"),
    ("password", "0"),
    ("timelimit", "0"),
    ("roundtime", "1"),
    ("hostport", "16567"),
    ("bf2_dedicated", "1"),
    ("bf2_ranked", "0"),
    ("bf2_anticheat", "1"),
    ("bf2_os", "linux-64"),
    ("bf2_team1", "MEC"),
    ("bf2_team2", "US"),
    ("bf2_bots", "0"),
    ("bf2_scorelimit", "0"),
    ("bf2_ticketratio", "100"),
    ("bf2_teamratio", "100.000000"),
    ("bf2_reservedslots", "2"),
];

/// The id of a request, to be overwritten by [`crate::cases`].
const ID: &[u8] = b"\0\0\0\0";

/// A data reply of Battlefield 2's server in datagrams of about 1,300 bytes.
pub fn gamespy4(rules: usize, players: usize) -> Vec<Bytes> {
    let mut parts = vec![vec![0]];
    for (key, value) in pairs(&GAMESPY4, rules) {
        parts
            .last_mut()
            .unwrap()
            .extend_from_slice(format!("{key}\0{value}\0").as_bytes());
    }
    parts.last_mut().unwrap().extend_from_slice(b"\0\x01");
    for field in [
        "player_", "score_", "ping_", "team_", "deaths_", "pid_", "skill_", "AIBot_",
    ] {
        let part = parts.last_mut().unwrap();
        part.extend_from_slice(format!("{field}\0\0").as_bytes());
        for player in 0..players {
            let value = match field {
                "player_" => name(player),
                "score_" => (player * 3).to_string(),
                "ping_" => (20 + player).to_string(),
                "team_" => (1 + player % 2).to_string(),
                "pid_" => (1_160_000 + player * 137).to_string(),
                _ => (player % 5).to_string(),
            };
            if parts.last().unwrap().len() + value.len() > 1_300 {
                let offset = u8::try_from(player).unwrap();
                parts.push([b"\x01", field.as_bytes(), b"\0", &[offset]].concat());
            }
            parts
                .last_mut()
                .unwrap()
                .extend_from_slice(format!("{value}\0").as_bytes());
        }
        parts.last_mut().unwrap().push(0);
    }
    let teams = b"\0\x02team_t\0\0MEC\0US\0\0score_t\0\x00120\087\0\0\0";
    parts.last_mut().unwrap().extend_from_slice(teams);
    let last = parts.len() - 1;
    let number = |index| u8::try_from(index | if index == last { 0x80 } else { 0 }).unwrap();
    let numbered = |(index, part): (usize, Vec<u8>)| {
        Bytes::from([b"\0", ID, b"splitnum\0", &[number(index)][..], &part].concat())
    };
    parts.into_iter().enumerate().map(numbered).collect()
}

/// A data reply of Minecraft's server: one datagram.
pub fn minecraft(players: usize) -> Vec<Bytes> {
    let mut packet = [b"\0", ID, b"splitnum\0\x80\0"].concat();
    let plugins = "Paper on Bukkit 1.20.4-R0.1-SNAPSHOT: WorldEdit 7.2.19; EssentialsX 2.20.1; LuckPerms 5.4.102";
    let (count, most) = (players.to_string(), "100");
    for (key, value) in [
        ("hostname", "A Minecraft Server"),
        ("gametype", "SMP"),
        ("game_id", "MINECRAFT"),
        ("version", "1.20.4"),
        ("plugins", plugins),
        ("map", "world"),
        ("numplayers", &count),
        ("maxplayers", most),
        ("hostport", "25565"),
        ("hostip", "192.0.2.1"),
    ] {
        packet.extend_from_slice(format!("{key}\0{value}\0").as_bytes());
    }
    packet.extend_from_slice(b"\0\x01player_\0\0");
    for player in 0..players {
        packet.extend_from_slice(format!("Player_name_{player}\0").as_bytes());
    }
    packet.push(0);
    vec![packet.into()]
}

/// A string of UT2004: its length with the NUL, its bytes, NUL.
fn string(text: &str) -> Vec<u8> {
    [
        &[u8::try_from(text.len() + 1).unwrap()],
        text.as_bytes(),
        b"\0",
    ]
    .concat()
}

/// Datagrams of this kind. A server sends a datagram when it exceeds 450 bytes.
fn lists(kind: u8, items: impl Iterator<Item = Vec<u8>>) -> Vec<Bytes> {
    let head = [0x80, 0, 0, 0, kind];
    let mut packets = vec![head.to_vec()];
    for item in items {
        if packets.last().unwrap().len() > 450 {
            packets.push(head.to_vec());
        }
        packets.last_mut().unwrap().extend_from_slice(&item);
    }
    packets.into_iter().map(Bytes::from).collect()
}

/// The keys of a UT2004 server (GetServerDetails of the game's scripts).
const UT2004: [(&str, &str); 15] = [
    ("ServerMode", "dedicated"),
    ("AdminName", "An admin"),
    ("AdminEmail", "admin@example.org"),
    ("ServerVersion", "3369"),
    ("IsVacSecured", "false"),
    ("GameStats", "False"),
    ("GoalScore", "25"),
    ("TimeLimit", "20"),
    ("MinPlayers", "0"),
    ("Translocator", "True"),
    ("WeaponStay", "True"),
    ("FriendlyFireScale", "0.00"),
    ("GamePassword", "False"),
    ("Mutator", "MutNoAdrenaline"),
    ("Mutator", "MutInstaGib"),
];

/// Info, rules and players.
pub fn ut2004(rules: usize, players: usize) -> Vec<Bytes> {
    let count = u8::try_from(players).unwrap();
    let info = [
        &[
            0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x61, 0x1E, 0, 0, 0, 0, 0, 0,
        ][..],
        &string("\u{1b}\u{1}@@A server of some length"),
        &string("DM-Rankin"),
        &string("xDeathMatch"),
        &[count, 0, 0, 0, 32, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        &string("2"),
    ];
    let rule = |(key, value): (String, String)| [string(&key), string(&value)].concat();
    let player = |player: usize| {
        let numbers = |at: u32| (player as u32 * 7 + at).to_le_bytes();
        [
            &numbers(1)[..],
            &string(&name(player)),
            &numbers(40),
            &numbers(3),
            &[0, 0, 0, 0x20],
        ]
        .concat()
    };
    let mut packets = vec![info.concat().into()];
    packets.extend(lists(1, pairs(&UT2004, rules).into_iter().map(rule)));
    // Newest first, as in every capture.
    packets.extend(lists(2, (0..players).rev().map(player)));
    packets
}

/// Rules in this many datagrams.
pub fn ut2004_rules(datagrams: usize) -> Vec<Bytes> {
    let items = (0..).map(|rule| {
        [
            string(&format!("Key{rule:05}")),
            string(&format!("value {rule:05}")),
        ]
        .concat()
    });
    lists(1, items.take(datagrams * 20 - 5))
}
