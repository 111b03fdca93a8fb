//! The table of games.

use super::game::Mark::{All, Exact, GameType, Has, Number, PlayerValue, Rule};
use super::game::QueryPort::{self, Fixed, Offset, Same};
use super::game::{Certainty, Evidence, Further, Game, Lan, MasterAddress, MasterForm};
use crate::options::Dialect::{self, InfoOnly, JustCause2, MedalOfHonor, Minecraft, OpenJk};
use crate::protocol::Protocol::{self, GameSpy1, GameSpy4, Quake3, Ut2004};
use crate::quake3::engines;
use Certainty::{Living, Unverified};
use Evidence::{Captures, Lists, Source};

/// The common fields of a protocol's rows. In Quake 3, game and queries share a port, and a client
/// on a local network asks the first four ports (id-Software/Quake-III-Arena,
/// code/client/cl_main.c).
const QUAKE3: Game = Game {
    id: "",
    old_ids: &[],
    aliases: &[],
    name: "",
    year: None,
    protocol: Quake3,
    dialect: Dialect::Standard,
    game_port: None,
    query_port: Same,
    also_at: &[],
    gamename: None,
    key: None,
    numbers: &[],
    masters: &[],
    engine: None,
    own_engines: &[],
    marks: &[],
    further: NEXT_PORTS,
    lan: &[],
    quirks: "",
    known: Certainty::Unknown,
    evidence: Evidence::OneList,
    source: "",
};
/// As many ports as the engine's own clients try in a local network (ioquake/ioq3,
/// `NUM_SERVER_PORTS` of code/qcommon/qcommon.h).
const NEXT_PORTS: Further = Further { count: 3, step: 1 };
/// For protocols in which a host's second server has no usual port.
const NO_FURTHER: Further = Further { count: 0, step: 0 };
const GAMESPY1: Game = Game {
    protocol: GameSpy1,
    further: NO_FURTHER,
    ..QUAKE3
};
/// A game that node-gamedig queries and 333networks lists.
const IN_BOTH: Game = Game {
    masters: BOTH,
    source: "node-gamedig; 333networks",
    ..GAMESPY1
};
const GAMESPY4: Game = Game {
    protocol: GameSpy4,
    further: NO_FURTHER,
    ..QUAKE3
};
/// GameSpy v2, which GameSpy v4 grew from.
const GAMESPY2: Game = Game {
    dialect: Dialect::GameSpy2,
    source: "node-gamedig",
    ..GAMESPY4
};
/// Quake 2's family, in Quake 3's packets.
const QUAKE2: Game = Game {
    dialect: Dialect::Quake2,
    engine: Some(&engines::QUAKE2),
    ..QUAKE3
};
/// QuakeWorld, in Quake 3's packets.
const QUAKE_WORLD: Game = Game {
    dialect: Dialect::QuakeWorld,
    engine: Some(&engines::QUAKE_WORLD),
    ..QUAKE3
};
const UT2004: Game = Game {
    protocol: Ut2004,
    query_port: Offset(1),
    further: NO_FURTHER,
    ..QUAKE3
};

/// Query ports of Battlefield 2's engine rise with the game ports (Austinb/GameQ), and a second
/// server takes the next free one.
const BATTLEFIELD: &[(Protocol, QueryPort)] =
    &[(GameSpy4, Offset(13333)), (GameSpy4, Fixed(29901))];
/// The same ports, from the default game port of Battlefield 2142.
const BATTLEFIELD_2142: &[(Protocol, QueryPort)] =
    &[(GameSpy4, Offset(12333)), (GameSpy4, Fixed(29901))];
/// Medal of Honor answers Quake 3's requests at its game port. GameSpy's port is 12300 or the next
/// free one (openmoh/openmohaa, code/gamespy/sv_gamespy.c); its clients search up to 12316
/// (`cl_uiserverlist.cpp`). Other lists add 97 to the game port (node-gamedig).
const MOHAA: &[(Protocol, QueryPort)] = &[
    (Quake3, Same),
    (GameSpy1, Offset(97)),
    (GameSpy1, Fixed(12301)),
    (GameSpy1, Fixed(12302)),
    (GameSpy1, Fixed(12303)),
    (GameSpy1, Fixed(12304)),
    (GameSpy1, Fixed(12305)),
    (GameSpy1, Fixed(12306)),
    (GameSpy1, Fixed(12307)),
    (GameSpy1, Fixed(12308)),
    (GameSpy1, Fixed(12309)),
    (GameSpy1, Fixed(12310)),
    (GameSpy1, Fixed(12311)),
    (GameSpy1, Fixed(12312)),
    (GameSpy1, Fixed(12313)),
    (GameSpy1, Fixed(12314)),
    (GameSpy1, Fixed(12315)),
    (GameSpy1, Fixed(12316)),
];
/// The patched game also answers `getstatus` in DarkPlaces' manner (SamClassicPatch/SuperProject,
/// Core/Query/DarkPlacesQuery.cpp).
const SERIOUS_SAM: &[(Protocol, QueryPort)] = &[(Quake3, Offset(1))];

/// Ports that the game's own client asks on a local network (openmoh/openmohaa,
/// `cl_uiserverlist.cpp`).
const MOHAA_LAN: &[Lan] = &[Lan::Ports(12300, 12316), Lan::Ports(12201, 12233)];
/// `LANServerPort` of Unreal Engine 2's games (Deaod/UT2004, InsultingPros/KillingFloor, Red
/// Orchestra's sources: `IpDrv/MasterServerLink.uc`). UT2003's is believed to be UT2004's (notes of
/// server administrators).
const UT2004_LAN: &[Lan] = &[Lan::Shared(10777)];
const TRIPWIRE_LAN: &[Lan] = &[Lan::Shared(10757)];
/// `ServerBeaconPort` of Unreal and Unreal Tournament (`UBrowserLocalFact`) and of SWAT 4
/// (eezstreet/SWATEliteForce, `UdpBeacon.uc`).
const UNREAL_LAN: &[Lan] = &[Lan::Beacon(8777)];
const SWAT4_LAN: &[Lan] = &[Lan::Beacon(10487)];

const DEATHMASK: MasterAddress = long("dpmaster.deathmask.net:27950");
const TCHR: MasterAddress = long("dpmaster.tchr.no:27950");
const IOQUAKE3: &str = "master.ioquake3.org:27950";
const N333: MasterAddress = gamespy1("master.333networks.com:28900");
const OPENSPY: MasterAddress = gamespy1("master.openspy.net:28900");
const ERRORIST: MasterAddress = gamespy1("master.errorist.eu:28900");
const NEWBIES: MasterAddress = gamespy1("master.newbiesplayground.net:28900");
const OLDUNREAL: MasterAddress = gamespy1("master.oldunreal.com:28900");
const QTRACKER: MasterAddress = gamespy1("master2.qtracker.com:28900");
const ALTERWARE: MasterAddress = alterware("server.alterware.dev:20810");
const LISTED_OVER_HTTP: &str = "IW4x itself lists its servers over HTTP";
const PLUTONIUM: &str = "Plutonium lists its servers over HTTP (api/servers)";
/// The servers' own list servers (Dragonade, da_gamespy.cpp).
const RENEGADE: &[MasterAddress] = &[
    gamespy1("renmaster.cncirc.net:28900"),
    gamespy1("renmaster-backup.cncirc.net:28900"),
    gamespy1("renmaster-backup2.cncirc.net:28900"),
    N333,
    OPENSPY,
];
/// Both accept the names of nearly all games.
const BOTH: &[MasterAddress] = &[N333, OPENSPY];
const COMMUNITY: &[MasterAddress] = &[N333, ERRORIST, NEWBIES, OLDUNREAL];

macro_rules! masters {
    ($($name:ident: $form:ident,)+) => {
        $(const fn $name(address: &'static str) -> MasterAddress {
            MasterAddress::new(MasterForm::$form, address)
        })+
    };
}
/// A list server with AlterWare's program (alterware/master-server,
/// src/services/getservers_command.cpp).
const fn alterware(address: &'static str) -> MasterAddress {
    named(address).silent_if_empty()
}

masters! {
    short: Short, named: Named, long: Long, gamespy1: GameSpy1, gamespy1_without_login: GameSpy1WithoutLogin,
    gamespy2: GameSpy2, ut2004: Ut2004, cod4x: Cod4x, quake2: Quake2, quake_world: QuakeWorld,
}

/// All games, grouped by protocol. An answer belongs to the first row whose marks it fits, so the
/// most general marks come last and modifications before their game. `tests/all/games/facts.tsv` has
/// the place where each cell is known from.
#[rustfmt::skip]
pub(crate) static TABLE: &[Game] = &[
    // GameSpy v1.
    Game { id: "acwa", name: "ARMA: Cold War Assault", old_ids: &["armacwa"], year: Some(2011),
        game_port: Some(2302), query_port: Offset(1), source: "node-gamedig", ..GAMESPY1 },
    Game { id: "armaresistance", name: "ARMA: Resistance", old_ids: &["armar"], year: Some(2011),
        game_port: Some(2302), query_port: Offset(1), source: "node-gamedig", ..GAMESPY1 },
    Game { id: "avp2", name: "Aliens versus Predator 2", year: Some(2001), game_port: Some(27888),
        gamename: Some("avp2"), evidence: Lists, ..IN_BOTH },
    Game { id: "baldursgate", name: "Baldur's Gate", year: Some(1998), game_port: Some(6073),
        query_port: Fixed(1470), gamename: Some("bgate"), ..IN_BOTH },
    Game { id: "battlefield1942", name: "Battlefield 1942", old_ids: &["bf1942"], year: Some(2002),
        game_port: Some(14567), query_port: Fixed(23000), also_at: &[(GameSpy1, Offset(8433))],
        gamename: Some("bfield1942"), masters: &[OPENSPY, gamespy1("master.bf1942.org:28900"), QTRACKER],
        quirks: "GameserverLister asks Qtracker with enctype 2, Lookout without",
        evidence: Captures, source: "node-gamedig; 333networks; GameserverLister; lookout-games", ..GAMESPY1 },
    Game { id: "c3db", name: "Commandos 3: Destination Berlin", old_ids: &["commandos3"], year: Some(2003),
        query_port: Fixed(6500), gamename: Some("commandos3"), ..IN_BOTH },
    Game { id: "cacr", name: "Command and Conquer: Renegade", old_ids: &["cacrenegade"], year: Some(2002),
        game_port: Some(4848), query_port: Fixed(25300), gamename: Some("ccrenegade"), masters: RENEGADE,
        quirks: "servers choose their query port; 25300 is the default of Dragonade",
        evidence: Source, source: "node-gamedig; 333networks; Dragonade da_gamespy.cpp", ..GAMESPY1 },
    Game { id: "cbu", name: "Clive Barker's Undying", year: Some(2002), game_port: Some(7777),
        query_port: Offset(1), gamename: Some("undying"), masters: &[N333],
        quirks: "333networks lists it without a proof (src/overrides.h)",
        source: "node-gamedig; 333networks", ..GAMESPY1 },
    Game { id: "codenameeagle", name: "Codename Eagle", year: Some(2000), query_port: Fixed(4711),
        gamename: Some("cneagle"), ..IN_BOTH },
    Game { id: "contractjack", name: "Contract J.A.C.K.", old_ids: &["contactjack"], year: Some(2003),
        query_port: Fixed(27888), gamename: Some("contractjack"), evidence: Lists, ..IN_BOTH },
    Game { id: "ddpt", name: "Deadly Dozen: Pacific Theater", old_ids: &["deadlydozenpt"], year: Some(2002),
        query_port: Fixed(25300), gamename: Some("ddozenpt"), ..IN_BOTH },
    Game { id: "descent3", name: "Descent 3", year: Some(1999), game_port: Some(2092), query_port: Fixed(20142),
        gamename: Some("descent3"), evidence: Lists, ..IN_BOTH },
    Game { id: "deusex", name: "Deus Ex", year: Some(2000), game_port: Some(7790), query_port: Offset(1),
        gamename: Some("deusex"), masters: COMMUNITY,
        evidence: Lists, source: "node-gamedig; 333networks; GameserverLister; lookout-games; pear/Net_GameServerQuery", ..GAMESPY1 },
    Game { id: "dnf2001", name: "Duke Nukem Forever 2001", year: Some(2022), game_port: Some(7777),
        query_port: Offset(1), gamename: Some("dnf"), masters: &[N333],
        quirks: "the key of its own name is six blanks",
        evidence: Lists, source: "node-gamedig; 333networks; GameserverLister", ..GAMESPY1 },
    Game { id: "dootf", name: "Drakan: Order of the Flame", old_ids: &["drakan"], year: Some(1999),
        game_port: Some(27045), query_port: Offset(1), gamename: Some("drakan"), evidence: Lists, ..IN_BOTH },
    Game { id: "dtr2", name: "Dirt Track Racing 2", old_ids: &["dirttrackracing2"], year: Some(2002),
        game_port: Some(32240), query_port: Offset(-100), gamename: Some("dtr2"), ..IN_BOTH },
    Game { id: "f1c9902", name: "F1 Challenge '99-'02", year: Some(2002), query_port: Fixed(34397),
        source: "node-gamedig", ..GAMESPY1 },
    Game { id: "formulaone2002", name: "Formula One 2002", old_ids: &["f12002"], year: Some(2002),
        query_port: Fixed(3297), source: "node-gamedig", ..GAMESPY1 },
    Game { id: "gck", name: "Giants: Citizen Kabuto", old_ids: &["giantscitizenkabuto"], year: Some(2000),
        query_port: Fixed(8911), gamename: Some("giants"), evidence: Lists, ..IN_BOTH },
    Game { id: "globaloperations", name: "Global Operations", year: Some(2002), query_port: Fixed(28672),
        gamename: Some("globalops"), evidence: Lists, ..IN_BOTH },
    Game { id: "gus", name: "Gore: Ultimate Soldier", old_ids: &["gore"], year: Some(2002),
        game_port: Some(27777), query_port: Offset(1), evidence: Lists, source: "node-gamedig", ..GAMESPY1 },
    Game { id: "heretic2", name: "Heretic II", year: Some(1998), game_port: Some(27900), query_port: Offset(1),
        gamename: Some("heretic2"), ..IN_BOTH },
    Game { id: "homeworld2", name: "Homeworld 2", year: Some(2003), query_port: Fixed(6500),
        gamename: Some("homeworld2"), evidence: Lists, ..IN_BOTH },
    Game { id: "i2cs", name: "IGI 2: Covert Strike", old_ids: &["igi2"], year: Some(2003),
        query_port: Fixed(26001), gamename: Some("projectigi2r"), evidence: Lists, ..IN_BOTH },
    Game { id: "i2s", name: "IL-2 Sturmovik", old_ids: &["il2"], year: Some(2001), query_port: Fixed(21000),
        gamename: Some("il2sturmovik"), evidence: Lists, ..IN_BOTH },
    Game { id: "ironstorm", name: "Iron Storm", year: Some(2002), query_port: Fixed(3505),
        gamename: Some("ironstorm"), ..IN_BOTH },
    Game { id: "jb0n", name: "James Bond 007: Nightfire", old_ids: &["jamesbondnightfire"], year: Some(2002),
        query_port: Fixed(6550), gamename: Some("jbnightfire"), key: Some("S9j3L2"),
        masters: &[gamespy2("jbnightfire.master.openspy.net:28910"), gamespy2("master.nightfirepc.com:28910")], source: "node-gamedig; 333networks; GameserverLister", ..GAMESPY1 },
    Game { id: "kpctnc", name: "Kiss: Psycho Circus: The Nightmare Child", old_ids: &["kisspc"],
        year: Some(2000), game_port: Some(7777), query_port: Offset(1), gamename: Some("kiss"), ..IN_BOTH },
    Game { id: "mobileforces", name: "Mobile Forces", game_port: Some(7777), query_port: Offset(1),
        gamename: Some("mobileforces"), masters: &[N333], quirks: "the ports are those of its engine", source: "333networks", ..GAMESPY1 },
    Game { id: "moha", name: "Medal of Honor: Airborne", old_ids: &["mohab"], year: Some(2007),
        game_port: Some(12203), query_port: Offset(97), gamename: Some("mohairborne"), ..IN_BOTH },
    Game { id: "mohaa", engine: Some(&engines::MEDAL_OF_HONOR), name: "Medal of Honor: Allied Assault", aliases: &["openmohaa"], year: Some(2002),
        game_port: Some(12203), query_port: Fixed(12300), also_at: MOHAA, dialect: MedalOfHonor,
        gamename: Some("mohaa"),
        masters: &[N333, OPENSPY, ERRORIST, NEWBIES, QTRACKER, gamespy1("master.x-null.net:28900")],
        marks: &[All(&[Has("gametypestring"), Exact("serverType", "0")]), All(&[Has("gametypestring"), Number(6, 8)]),
            All(&[Has("g_gametypestring"), Number(6, 8)])], lan: MOHAA_LAN,
        evidence: Captures, source: "node-gamedig; 333networks; GameserverLister; lookout-games; XQF", ..GAMESPY1 },
    Game { id: "mohaab", engine: Some(&engines::MEDAL_OF_HONOR), name: "Medal of Honor: Allied Assault Breakthrough", old_ids: &["mohbt"],
        year: Some(2003), game_port: Some(12203), query_port: Fixed(12300), also_at: MOHAA,
        dialect: MedalOfHonor, gamename: Some("mohaab"), masters: &[N333, OPENSPY, ERRORIST, NEWBIES, QTRACKER],
        // The latter in a status (openmoh/openmohaa, code/qcommon/common.c).
        marks: &[All(&[Has("gametypestring"), Exact("serverType", "2")]), Exact("com_gamename", "mohaab")], lan: MOHAA_LAN, evidence: Source, source: "node-gamedig; 333networks; GameserverLister", ..GAMESPY1 },
    Game { id: "mohaas", engine: Some(&engines::MEDAL_OF_HONOR), name: "Medal of Honor: Allied Assault Spearhead", old_ids: &["mohsh"],
        year: Some(2002), game_port: Some(12203), query_port: Fixed(12300), also_at: MOHAA,
        dialect: MedalOfHonor, gamename: Some("mohaas"), masters: &[N333, OPENSPY, ERRORIST, NEWBIES, QTRACKER],
        marks: &[All(&[Has("gametypestring"), Exact("serverType", "1")]), Exact("com_gamename", "mohaas")], lan: MOHAA_LAN, evidence: Source, source: "node-gamedig; 333networks; GameserverLister", ..GAMESPY1 },
    Game { id: "mohpa", name: "Medal of Honor: Pacific Assault", year: Some(2004), game_port: Some(13203),
        query_port: Offset(97), gamename: Some("mohpa"), evidence: Lists, ..IN_BOTH },
    Game { id: "nab", name: "Nerf Arena Blast", year: Some(1999), game_port: Some(4444), query_port: Offset(1),
        gamename: Some("nerfarena"), ..IN_BOTH },
    Game { id: "netpanzer", name: "netPanzer", year: Some(2002), game_port: Some(3030),
        gamename: Some("netpanzer"),
        masters: &[gamespy1_without_login("masterserver.netpanzer.info:28900"),
            gamespy1_without_login("netpanzer.io:28900")],
        quirks: "the list has addresses and ports in pairs of their own",
        source: "node-gamedig; netPanzer", ..GAMESPY1 },
    Game { id: "nfshp2", name: "Need for Speed: Hot Pursuit 2", year: Some(2002), query_port: Fixed(61220),
        gamename: Some("nfs6"), ..IN_BOTH },
    Game { id: "nitrofamily", name: "Nitro Family", year: Some(2004), query_port: Fixed(25601),
        gamename: Some("nitrofamily"), evidence: Lists, ..IN_BOTH },
    Game { id: "nolf2asihw", name: "No One Lives Forever 2: A Spy in H.A.R.M.'s Way", old_ids: &["nolf2"],
        year: Some(2002), query_port: Fixed(27890), gamename: Some("nolf2"), evidence: Lists, ..IN_BOTH },
    Game { id: "ofcwc", name: "Operation Flashpoint: Cold War Crisis", year: Some(2001), game_port: Some(2302),
        query_port: Offset(1), gamename: Some("opflash"), evidence: Lists, ..IN_BOTH },
    Game { id: "ofr", name: "Operation Flashpoint: Resistance", old_ids: &["flashpointresistance"],
        year: Some(2002), game_port: Some(2302), query_port: Offset(1), gamename: Some("opflashr"), evidence: Lists, ..IN_BOTH },
    Game { id: "postal2", name: "Postal 2", year: Some(2003), game_port: Some(7777), query_port: Offset(1),
        gamename: Some("postal2"), masters: &[N333],
        evidence: Lists, source: "node-gamedig; 333networks; GameserverLister", ..GAMESPY1 },
    Game { id: "rainbowsix", name: "Rainbow Six", old_ids: &["r6"], year: Some(1998), query_port: Fixed(2348),
        gamename: Some("rb6"), ..IN_BOTH },
    Game { id: "rallisportchallenge", name: "RalliSport Challenge", year: Some(2002), query_port: Fixed(17500),
        source: "node-gamedig", ..GAMESPY1 },
    Game { id: "rallymasters", name: "Rally Masters", year: Some(2000), query_port: Fixed(16666),
        gamename: Some("rally"), evidence: Lists, ..IN_BOTH },
    Game { id: "redline", name: "Redline", year: Some(1999), query_port: Fixed(25252),
        gamename: Some("redline"), ..IN_BOTH },
    Game { id: "ron", name: "Rise of Nations", old_ids: &["riseofnations"], year: Some(2003),
        query_port: Fixed(6501), gamename: Some("riseofnations"), evidence: Lists, ..IN_BOTH },
    Game { id: "roo4145", name: "Red Orchestra: Ostfront 41-45", old_ids: &["redorchestraost"],
        year: Some(2006), game_port: Some(7757), query_port: Offset(10), gamename: Some("redorchestra"),
        marks: &[GameType("RO")], evidence: Source, ..IN_BOTH },
    Game { id: "rs2rs", name: "Rainbow Six 2: Rogue Spear", old_ids: &["r6roguespear"], year: Some(1999),
        query_port: Fixed(2346), gamename: Some("roguespear"), evidence: Lists, ..IN_BOTH },
    Game { id: "rs3rs", name: "Rainbow Six 3: Raven Shield", old_ids: &["r6ravenshield"], year: Some(2003),
        game_port: Some(7777), query_port: Offset(1000), gamename: Some("ravenshield"), evidence: Lists, ..IN_BOTH },
    Game { id: "rune", name: "Rune", year: Some(2000), game_port: Some(7777), query_port: Offset(1),
        gamename: Some("rune"), masters: &[N333, OPENSPY, ERRORIST, NEWBIES, OLDUNREAL],
        evidence: Lists, source: "node-gamedig; 333networks; GameserverLister; lookout-games", ..GAMESPY1 },
    Game { id: "sstse", name: "Serious Sam: The Second Encounter", year: Some(2002), game_port: Some(25600),
        query_port: Offset(1), also_at: SERIOUS_SAM, gamename: Some("serioussamse"),
        marks: &[Rule("gamename", "serioussamse")], masters: COMMUNITY,
        evidence: Lists, source: "node-gamedig; 333networks; GameserverLister; SamClassicPatch/SuperProject", ..GAMESPY1 },
    Game { id: "serioussam", name: "Serious Sam", old_ids: &["ss"], year: Some(2001), game_port: Some(25600),
        query_port: Offset(1), also_at: SERIOUS_SAM, gamename: Some("serioussam"),
        marks: &[Rule("gamename", "serioussam")], masters: COMMUNITY,
        evidence: Lists, source: "node-gamedig; 333networks; GameserverLister; SamClassicPatch/SuperProject", ..GAMESPY1 },
    Game { id: "sfc2op", name: "Star Fleet Command II: Orion Pirates", year: Some(2001), game_port: Some(27000),
        gamename: Some("sfc2op"), masters: BOTH,
        evidence: Source, source: "D4v1ks/SfcOpServer_Public; 333networks", ..GAMESPY1 },
    Game { id: "sfc3", name: "Star Fleet Command III", year: Some(2002), game_port: Some(27632),
        query_port: Offset(1), gamename: Some("sfc3"), masters: BOTH,
        source: "333networks", ..GAMESPY1 },
    Game { id: "shogo", name: "Shogo", year: Some(1998), query_port: Fixed(27888), gamename: Some("shogo"),
        evidence: Lists, ..IN_BOTH },
    Game { id: "sin", name: "SiN", year: Some(1998), query_port: Fixed(22450), gamename: Some("sin"),
        evidence: Lists, ..IN_BOTH },
    Game { id: "sof", name: "Soldier of Fortune", year: Some(2000), game_port: Some(28910),
        query_port: Offset(1), gamename: Some("sof"), ..IN_BOTH },
    Game { id: "stbc", name: "Star Trek: Bridge Commander", year: Some(2002), query_port: Fixed(22101),
        gamename: Some("bcommander"), lan: &[Lan::Ports(22101, 22201)], evidence: Lists, ..IN_BOTH },
    Game { id: "swat4", name: "SWAT 4", year: Some(2005), game_port: Some(10480), query_port: Offset(1), gamename: Some("swat4"),
        key: Some("tG3j8c"), masters: &[gamespy2("master.swat4stats.com:28910")],
        also_at: &[(GameSpy4, Offset(2)), (GameSpy4, Offset(1))], dialect: Dialect::GameSpy2,
        marks: &[Rule("gamevariant", "SWAT 4")], known: Living, lan: SWAT4_LAN,
        evidence: Captures, source: "node-gamedig; GameserverLister; sergeii/swat4master; Austinb/GameQ", ..GAMESPY1 },
    Game { id: "tacticalops", name: "Tactical Ops", year: Some(1999), game_port: Some(7777),
        query_port: Offset(1), gamename: Some("tacticalops"), evidence: Lists, ..IN_BOTH },
    Game { id: "teamfactor", name: "Team Factor", year: Some(2002), query_port: Fixed(57778),
        gamename: Some("teamfactor"), evidence: Lists, ..IN_BOTH },
    Game { id: "terminus", name: "Terminus", year: Some(2000), query_port: Fixed(12286),
        gamename: Some("terminus"), ..IN_BOTH },
    Game { id: "thps3", name: "Tony Hawk's Pro Skater 3", year: Some(2001), query_port: Fixed(6500),
        source: "node-gamedig", ..GAMESPY1 },
    Game { id: "thps4", name: "Tony Hawk's Pro Skater 4", year: Some(2002), query_port: Fixed(6500),
        source: "node-gamedig", ..GAMESPY1 },
    Game { id: "thu2", name: "Tony Hawk's Underground 2", year: Some(2004), query_port: Fixed(5153),
        source: "node-gamedig", ..GAMESPY1 },
    Game { id: "toh", name: "Take On Helicopters", old_ids: &["takeonhelicopters"], year: Some(2011),
        game_port: Some(2302), query_port: Offset(1), source: "node-gamedig", ..GAMESPY1 },
    Game { id: "tonolf", name: "The Operative: No One Lives Forever", old_ids: &["nolf"], year: Some(2000),
        query_port: Fixed(27888), gamename: Some("nolf"), evidence: Lists, ..IN_BOTH },
    Game { id: "tribesvengeance", name: "Tribes: Vengeance", year: Some(2004), game_port: Some(7777),
        query_port: Offset(1), also_at: &[(GameSpy4, Offset(1))], dialect: Dialect::GameSpy2,
        gamename: Some("tribesv"), known: Unverified,
        quirks: "node-gamedig asks it in GameSpy v2; listed over HTTP only: https://qtracker.com/server_list_details.php?game=tribesvengeance",
        evidence: Lists, source: "node-gamedig; jkelin/Tribes-Revengeance-stats", ..GAMESPY1 },
    Game { id: "turok2", name: "Turok 2", year: Some(1998), query_port: Fixed(12880), gamename: Some("turok2"),
        ..IN_BOTH },
    Game { id: "unreal", name: "Unreal", year: Some(1998), game_port: Some(7777), query_port: Offset(1),
        gamename: Some("unreal"), masters: &[N333, OPENSPY, OLDUNREAL, ERRORIST, QTRACKER], lan: UNREAL_LAN, evidence: Lists, source: "node-gamedig; 333networks; GameserverLister; lookout-games", ..GAMESPY1 },
    Game { id: "unrealtournament", name: "Unreal Tournament", old_ids: &["ut"], aliases: &["ut99"],
        year: Some(1999), game_port: Some(7777), query_port: Offset(1), gamename: Some("ut"),
        masters: &[N333, OPENSPY, OLDUNREAL, ERRORIST, QTRACKER], marks: &[Rule("minnetver", "432")],
        lan: UNREAL_LAN,
        evidence: Captures, source: "node-gamedig; 333networks; GameserverLister; lookout-games", ..GAMESPY1 },
    Game { id: "v8sc", name: "V8 Supercar Challenge", old_ids: &["v8supercar"], year: Some(2002),
        query_port: Fixed(16700), evidence: Lists, source: "node-gamedig", ..GAMESPY1 },
    Game { id: "vietcong", name: "Vietcong", year: Some(2003), game_port: Some(5425), query_port: Offset(10000),
        gamename: Some("vietcong"),
        masters: &[gamespy1("vietcong1.eu:28900"), gamespy1("51.68.46.73:28900"), QTRACKER],
        quirks: "its lists may need enctype 2",
        evidence: Lists, source: "node-gamedig; 333networks; GameserverLister; tltneon/lgsl", ..GAMESPY1 },
    Game { id: "wot", name: "Wheel of Time", old_ids: &["wheeloftime"], year: Some(1999), game_port: Some(7777),
        query_port: Offset(1), gamename: Some("wot"), masters: COMMUNITY,
        source: "node-gamedig; 333networks; GameserverLister", ..GAMESPY1 },
    // GameSpy v4.
    Game { id: "mbe", name: "Minecraft: Bedrock Edition", old_ids: &["minecraftbe"], aliases: &["bedrock"],
        year: Some(2011), game_port: Some(19132), dialect: Minecraft, marks: &[Rule("game_id", "MINECRAFTPE")],
        quirks: "no public list; answers only with enable-query", known: Living,
        evidence: Captures, source: "node-gamedig; SRV `_minecraft._tcp`", ..GAMESPY4 },
    Game { id: "minecraft", name: "Minecraft", aliases: &["mc"], year: Some(2009), game_port: Some(25565),
        dialect: Minecraft, marks: &[Rule("game_id", "MINECRAFT")],
        quirks: "the query protocol, not the status ping: answers over UDP at query.port with enable-query=true, which is \
            off by default; behind a proxy (25577), the proxy answers; no public list", known: Living,
        evidence: Captures, source: "node-gamedig; SRV `_minecraft._tcp`", ..GAMESPY4 },
    Game { id: "prb2", name: "Project Reality: Battlefield 2", old_ids: &["prbf2"],
        aliases: &["projectreality"], year: Some(2005), game_port: Some(16567), query_port: Fixed(29900),
        also_at: BATTLEFIELD, gamename: Some("battlefield2"), marks: &[Rule("gamevariant", "pr")],
        quirks: "a modification of Battlefield 2 with a list of its own", known: Unverified,
        evidence: Captures, source: "node-gamedig", ..GAMESPY4 },
    Game { id: "fh2", name: "Forgotten Hope 2", game_port: Some(16567), query_port: Fixed(29900),
        also_at: BATTLEFIELD, gamename: Some("battlefield2"), key: Some("hW6m9a"),
        masters: &[gamespy2("ms.fh2.dev:28910")], marks: &[Rule("gamevariant", "fh2")],
        quirks: "a modification of Battlefield 2; the list server answers only requests for a field",
        known: Living, evidence: Source, source: "GameserverLister", ..GAMESPY4 },
    Game { id: "battlefield2", name: "Battlefield 2", old_ids: &["bf2"], year: Some(2005),
        game_port: Some(16567), query_port: Fixed(29900), also_at: BATTLEFIELD, gamename: Some("battlefield2"),
        key: Some("hW6m9a"),
        masters: &[gamespy2("battlefield2.master.bf2hub.com:28910"),
            gamespy2("battlefield2.master.openspy.net:28910"), gamespy2("battlefield2.ms.playbf2.ru:28910"),
            gamespy2("gsapi.b2bf2.net:28910"), gamespy2("battlefield2.master.gameppy.com:28910")],
        quirks: "BF2Hub answers only requests for a field", known: Living,
        evidence: Captures, source: "node-gamedig; GameserverLister", ..GAMESPY4 },
    Game { id: "battlefield2142", name: "Battlefield 2142", old_ids: &["bf2142"], year: Some(2006),
        game_port: Some(17567), query_port: Fixed(29900), also_at: BATTLEFIELD_2142, gamename: Some("stella"),
        key: Some("M8o1Qw"),
        masters: &[gamespy2("2142.novgames.ru:28910"), gamespy2("stella.master.openspy.net:28910"),
            gamespy2("stella.ms.play2142.ru:28910")],
        known: Living, evidence: Lists, source: "node-gamedig; GameserverLister; tltneon/lgsl", ..GAMESPY4 },
    Game { id: "crysis", name: "Crysis", year: Some(2007), game_port: Some(64087), gamename: Some("crysis"),
        marks: &[Rule("gamepadsonly", "")], quirks: "listed over HTTP only: https://crymp.org/api/servers",
        known: Living, evidence: Captures, source: "node-gamedig; GameserverLister", ..GAMESPY4 },
    Game { id: "crysis2", name: "Crysis 2", year: Some(2011), game_port: Some(64000), source: "node-gamedig",
        ..GAMESPY4 },
    Game { id: "crysiswars", name: "Crysis Wars", year: Some(2008), game_port: Some(64100),
        gamename: Some("crysiswars"), key: Some("zKbZiM"), masters: &[gamespy2("master.g.jedi95.us:28910")], evidence: Captures, source: "node-gamedig; GameserverLister", ..GAMESPY4 },
    Game { id: "jc2m", name: "Just Cause 2 - Multiplayer", old_ids: &["jc2mp"], year: Some(2010),
        game_port: Some(7777), dialect: JustCause2, marks: &[PlayerValue("steamid")],
        evidence: Captures, source: "node-gamedig", ..GAMESPY4 },
    Game { id: "stalker", name: "S.T.A.L.K.E.R.", year: Some(2007), game_port: Some(5446),
        query_port: Fixed(5445), marks: &[Has("damageblocktime")],
        evidence: Source, source: "node-gamedig; OpenXRay/xray-16 xrGameSpy_MainDefs.h", ..GAMESPY4 },
    Game { id: "unrealtournament3", name: "Unreal Tournament 3", old_ids: &["ut3"], year: Some(2007),
        game_port: Some(7777), query_port: Offset(-1277),
        also_at: &[(GameSpy4, Fixed(6500)), (GameSpy4, Offset(11)), (GameSpy4, Offset(-1276)), (GameSpy4, Offset(-1275)),
            (GameSpy4, Fixed(6600)), (GameSpy4, Fixed(6700))],
        further: Further { count: 2, step: 100 }, lan: &[Lan::Ports(6600, 6600), Lan::Ports(6700, 6700)],
        quirks: "the query port is 6500 whatever the game port is, unless it is configured; that of each further server \
            on a host is 100 higher",
        gamename: Some("ut3pc"), key: Some("nT2Mtz"), masters: &[gamespy2("ut3pc.master.openspy.net:28910")],
        marks: &[Rule("p1073741826", "UTGame")],
        known: Living, evidence: Captures, source: "node-gamedig; GameserverLister; GameServerManagers/LinuxGSM#4656",
        ..GAMESPY4 },
    // GameSpy v2. node-gamedig has no list server of these games.
    Game { id: "americasarmy", name: "America's Army", year: Some(2002), game_port: Some(1716),
        query_port: Offset(1), quirks: "leaves the counts of its tables out", evidence: Lists, ..GAMESPY2 },
    Game { id: "americasarmy2", name: "America's Army 2", year: Some(2003), game_port: Some(1716),
        query_port: Offset(1), quirks: "leaves the counts of its tables out", evidence: Lists, ..GAMESPY2 },
    Game { id: "aaa", name: "ARMA: Armed Assault", old_ids: &["arma"], year: Some(2006), game_port: Some(2302),
        gamename: Some("armedass"), evidence: Captures, source: "node-gamedig; Austinb/GameQ", ..GAMESPY2 },
    Game { id: "battlefieldvietnam", name: "Battlefield Vietnam", old_ids: &["bfv"], year: Some(2004),
        game_port: Some(15567), query_port: Fixed(23000), gamename: Some("bfvietnam"), key: Some("h2P9dJ"),
        masters: &[OPENSPY, QTRACKER], marks: &[Rule("game_id", "bfvietnam")],
        evidence: Lists, source: "node-gamedig; GameserverLister", ..GAMESPY2 },
    Game { id: "breed", name: "Breed", year: Some(2004), game_port: Some(7649), evidence: Lists, ..GAMESPY2 },
    Game { id: "deerhunter2005", name: "Deer Hunter 2005", old_ids: &["dh2005"], year: Some(2004),
        game_port: Some(23459), query_port: Fixed(34567), evidence: Lists, ..GAMESPY2 },
    Game { id: "fear", name: "F.E.A.R.", year: Some(2005), query_port: Fixed(27888),
        marks: &[Rule("gsgamename", "fear")], evidence: Lists, ..GAMESPY2 },
    Game { id: "tcgraw", name: "Tom Clancy's Ghost Recon Advanced Warfighter", old_ids: &["graw"],
        year: Some(2006), query_port: Fixed(15250), ..GAMESPY2 },
    Game { id: "tcgraw2", name: "Tom Clancy's Ghost Recon Advanced Warfighter 2", old_ids: &["graw2"],
        year: Some(2007), query_port: Fixed(16250), ..GAMESPY2 },
    Game { id: "halo", name: "Halo", aliases: &["halopc", "haloce", "hce"], year: Some(2003), game_port: Some(2302),
        gamename: Some("halor"), key: Some("e4Rd9J"), masters: &[gamespy2("s1.ms01.hosthpc.com:28910")],
        marks: &[Has("game_classic")], known: Living,
        evidence: Captures, source: "node-gamedig; 333networks; SnowyMouse/chimera; antimomentum/haloce#4", ..GAMESPY2 },
    Game { id: "halo2", name: "Halo 2", year: Some(2007), game_port: Some(2302), ..GAMESPY2 },
    Game { id: "hiddendangerous2", name: "Hidden & Dangerous 2", old_ids: &["had2"], year: Some(2003),
        game_port: Some(11001), query_port: Offset(3), also_at: &[(GameSpy1, Offset(3))], gamename: Some("hd2"),
        masters: BOTH, quirks: "version 1.12 answers in GameSpy v2, others in GameSpy v1",
        marks: &[All(&[Has("voicechat"), Has("expansion"), Has("isdedicated")])],
        evidence: Captures, source: "node-gamedig; 333networks; Austinb/GameQ", ..GAMESPY2 },
    Game { id: "nascarthunder2004", name: "NASCAR Thunder 2004", year: Some(2003), query_port: Fixed(13333),
        ..GAMESPY2 },
    Game { id: "neverwinternights", name: "Neverwinter Nights", old_ids: &["nwn"], year: Some(2002),
        query_port: Fixed(5121), evidence: Lists, ..GAMESPY2 },
    Game { id: "neverwinternights2", name: "Neverwinter Nights 2", old_ids: &["nwn2"], year: Some(2006),
        game_port: Some(5121), query_port: Fixed(6500), ..GAMESPY2 },
    Game { id: "serioussam2", name: "Serious Sam 2", old_ids: &["ss2"], year: Some(2005), game_port: Some(25600),
        ..GAMESPY2 },
    Game { id: "swb", name: "Star Wars: Battlefront", old_ids: &["swbf"], year: Some(2004),
        query_port: Fixed(3658), ..GAMESPY2 },
    Game { id: "swb2", name: "Star Wars: Battlefront 2", old_ids: &["swbf2"], year: Some(2005),
        query_port: Fixed(3658), ..GAMESPY2 },
    Game { id: "swrc", name: "Star Wars: Republic Commando", year: Some(2005), game_port: Some(7777),
        query_port: Fixed(11138), evidence: Lists, ..GAMESPY2 },
    Game { id: "tron20", name: "Tron 2.0", year: Some(2003), query_port: Fixed(27888), evidence: Lists, ..GAMESPY2 },
    Game { id: "vietcong2", name: "Vietcong 2", year: Some(2005), game_port: Some(5001), query_port: Fixed(19967),
        gamename: Some("vietcong2"), key: Some("zX2pq6"), masters: &[gamespy2("vietcong2.master.openspy.net:28910")], evidence: Lists, source: "node-gamedig; GameserverLister", ..GAMESPY2 },
    // Quake 3.
    Game { id: "coduo", own_engines: &[&engines::UNITED_OFFENSIVE], name: "Call of Duty: United Offensive", year: Some(2004), game_port: Some(28960),
        numbers: &[(22, "1.51"), (21, "1.41")], masters: &[short("coduomaster.activision.com:20610")],
        evidence: Captures, source: "node-gamedig; GameserverLister; lookout-games", ..QUAKE3 },
    Game { id: "cod2", own_engines: &[&engines::COD2], name: "Call of Duty 2", aliases: &["cod2x"], year: Some(2005), game_port: Some(28960),
        numbers: &[(118, "1.3"), (117, "1.2"), (115, "1.0"), (120, "CoD2x")],
        masters: &[short("cod2master.activision.com:20710"), short("master.cod2x.me:20710")], quirks: "the master also lists United Offensive", evidence: Captures, source: "node-gamedig; GameserverLister; lookout-games", ..QUAKE3 },
    Game { id: "cod4mw", own_engines: &[&engines::COD4, &engines::COD4X], name: "Call of Duty 4: Modern Warfare", old_ids: &["cod4"], aliases: &["cod4x"],
        year: Some(2007), game_port: Some(28960), numbers: &[(6, "1.7"), (7, "1.8"), (1, "1.0")],
        masters: &[short("cod4master.activision.com:20810"), cod4x("cod4master.cod4x.ovh:20810")],
        evidence: Captures, source: "node-gamedig; GameserverLister; lookout-games; cetteup/pyq3serverlist; CoD4x_Server", ..QUAKE3 },
    Game { id: "codmw2", own_engines: &[&engines::IW4X], name: "Call of Duty: Modern Warfare 2", aliases: &["iw4x", "mw2"], year: Some(2009),
        game_port: Some(28960), gamename: Some("IW4"), numbers: &[(152, "IW4x")], masters: &[ALTERWARE], quirks: LISTED_OVER_HTTP,
        evidence: Captures, source: "node-gamedig; iw4x/iw4x-client; alterware/master-server", ..QUAKE3 },
    Game { id: "iw5", own_engines: &[&engines::IW5], name: "Call of Duty: Modern Warfare 3", aliases: &["codmw3", "mw3", "plutoniumiw5"], year: Some(2011),
        game_port: Some(27016), dialect: InfoOnly, gamename: Some("IW5"), numbers: &[(20601, "1.9")],
        masters: &[ALTERWARE],
        quirks: "Plutonium lists its servers over HTTP (api/servers); the port is Plutonium's; of IW5M it is the query port, which its server chooses beside the game's port", source: "RaidMax/IW4M-Admin; ahmad009/IW5M-1.9; alterware/master-server",
        ..QUAKE3 },
    Game { id: "iw6x", own_engines: &[&engines::IW6X], name: "Call of Duty: Ghosts (IW6x)", aliases: &["codghosts"], year: Some(2013),
        game_port: Some(27016), dialect: InfoOnly, gamename: Some("IW6"), numbers: &[(1, "")],
        masters: &[ALTERWARE],
        source: "HeartbeatingForCenturies/iw6x-client; alterware/master-server", ..QUAKE3 },
    Game { id: "iw7mod", own_engines: &[&engines::IW7], name: "Call of Duty: Infinite Warfare (iw7-mod)", aliases: &["codiw"],
        year: Some(2016), game_port: Some(27016), dialect: InfoOnly, gamename: Some("IW7"),
        numbers: &[(2, "")], masters: &[ALTERWARE], source: "auroramod/iw7-mod; auroramod/docs; alterware/master-server", ..QUAKE3 },
    Game { id: "h1", own_engines: &[&engines::H1], name: "Call of Duty: Modern Warfare Remastered (H1-Mod)", aliases: &["h1mod", "codmwr"],
        year: Some(2016), game_port: Some(27016), dialect: InfoOnly, gamename: Some("H1"), numbers: &[(2, "")],
        masters: &[named("h1.auroramod.dev:20810")],
        evidence: Source, source: "auroramod/h1-mod", ..QUAKE3 },
    Game { id: "s1x", own_engines: &[&engines::S1X], name: "Call of Duty: Advanced Warfare (S1x)", aliases: &["codaw"], year: Some(2014),
        game_port: Some(27016), dialect: InfoOnly, gamename: Some("S1"), numbers: &[(1, "")],
        masters: &[ALTERWARE],
        source: "HeartbeatingForCenturies/s1x-client; alterware/master-server", ..QUAKE3 },
    Game { id: "t7x", own_engines: &[&engines::BOIII], name: "Call of Duty: Black Ops III (BOIII, T7x)", aliases: &["boiii", "codbo3"],
        year: Some(2015), game_port: Some(27017), dialect: InfoOnly, gamename: Some("T7"),
        numbers: &[(8, ""), (7, "")],
        masters: &[alterware("master.ezz.lol:20810"), alterware("m.ezz.lol:20810"), ALTERWARE],
        quirks: "the port is the one that its client adds to an address without one",
        evidence: Lists, source: "Ezz-lol/boiii-free; alterware/master-server", ..QUAKE3 },
    Game { id: "codbo", engine: Some(&engines::IW5), name: "Call of Duty: Black Ops (Plutonium)", aliases: &["plutoniumt5", "codbo1"], year: Some(2010),
        game_port: Some(28960), quirks: PLUTONIUM, known: Unverified, source: "node-gamedig#726; RaidMax/IW4M-Admin",
        ..QUAKE3 },
    Game { id: "codbo2", engine: Some(&engines::IW5), name: "Call of Duty: Black Ops II (Plutonium)", aliases: &["plutoniumt6"], year: Some(2012),
        game_port: Some(4976), quirks: PLUTONIUM, known: Unverified,
        source: "node-gamedig#726; xerxes-at/T6ServerConfigs", ..QUAKE3 },
    Game { id: "codwaw", own_engines: &[&engines::WORLD_AT_WAR], name: "Call of Duty: World at War", aliases: &["plutoniumt4"], year: Some(2008), game_port: Some(28960), quirks: PLUTONIUM, known: Unverified,
        evidence: Lists, source: "node-gamedig; XQF", ..QUAKE3 },
    Game { id: "cod", own_engines: &[&engines::COD1], name: "Call of Duty", year: Some(2003), game_port: Some(28960),
        numbers: &[(6, "1.5"), (5, "1.4"), (4, "1.3"), (2, "1.2"), (1, "1.1")],
        masters: &[short("codmaster.activision.com:20510"), short("master.cod.pm:20510"),
            short("codmaster.comu-mvzg.com:20510")],
        evidence: Captures, source: "node-gamedig; GameserverLister; lookout-games; codextended", ..QUAKE3 },
    Game { id: "etlegacy", own_engines: &[&engines::ET_LEGACY], name: "ET: Legacy", game_port: Some(27960), numbers: &[(84, "")],
        masters: &[short("etmaster.etlegacy.com:27950")], evidence: Source, source: "lookout-games", ..QUAKE3 },
    Game { id: "urbanterror", own_engines: &[&engines::URBAN_TERROR, &engines::URBAN_TERROR_ELSEWHERE], name: "Urban Terror", aliases: &["urt"], year: Some(2000), game_port: Some(27960),
        numbers: &[(68, ""), (70, "")],
        masters: &[short("master.urbanterror.info:27900"), short("master2.urbanterror.info:27900"),
            short("master3.urbanterror.info:27900")],
        evidence: Captures, source: "node-gamedig; GameserverLister; lookout-games; qstat.cfg; XQF; ioq3-for-UrbanTerror-4 qcommon.h",
        ..QUAKE3 },
    Game { id: "openarena", own_engines: &[&engines::OPEN_ARENA], name: "OpenArena", aliases: &["oa"], year: Some(2005), game_port: Some(27960),
        gamename: Some("Quake3Arena"), numbers: &[(71, "")], masters: &[DEATHMASK, long(IOQUAKE3)], marks: &[Rule("gamename", "baseoa")],
        evidence: Source, source: "node-gamedig; GameserverLister; lookout-games; qstat.cfg", ..QUAKE3 },
    Game { id: "cod3", engine: Some(&engines::COD1), name: "Call of Duty 3", year: Some(2006), game_port: Some(28960),
        quirks: "a console game", source: "node-gamedig", ..QUAKE3 },
    Game { id: "darkplaces", engine: Some(&engines::DARK_PLACES), name: "DarkPlaces Quake", game_port: Some(26000),
        gamename: Some("DarkPlaces-Quake"), numbers: &[(3, "")], masters: &[DEATHMASK],
        marks: &[Rule("gamename", "DarkPlaces-Quake")], evidence: Source, source: "GameserverLister",
        ..QUAKE3 },
    Game { id: "doombringer", engine: Some(&engines::DARK_PLACES), name: "Doombringer", game_port: Some(26000), gamename: Some("DOOMBRINGER"),
        numbers: &[(3, "")], marks: &[Rule("gamename", "DOOMBRINGER")],
        quirks: "the host of its list is not known", known: Unverified, evidence: Source, source: "qstat.cfg", ..QUAKE3 },
    Game { id: "nexuiz", engine: Some(&engines::DARK_PLACES), name: "Nexuiz", year: Some(2005), game_port: Some(26000), gamename: Some("Nexuiz"),
        numbers: &[(3, "")], masters: &[DEATHMASK, TCHR], marks: &[Rule("gamename", "Nexuiz")], evidence: Source, source: "node-gamedig; GameserverLister; lookout-games; qstat.cfg", ..QUAKE3 },
    Game { id: "q3rally", engine: Some(&engines::IOQUAKE3), name: "Q3Rally", game_port: Some(27960), gamename: Some("Q3Rally"),
        numbers: &[(71, "")], masters: &[DEATHMASK],
        marks: &[Rule("gamename", "Q3Rally"), Rule("version", "Q3Rally")],
        evidence: Lists, source: "GameserverLister; qstat.cfg", ..QUAKE3 },
    // `Boomstick` and `rq3` in a status: the folders of the game, now and as a modification of
    // Quake III Arena (ReactionQuake3/reaction, code/qcommon/q_shared.h; XQF).
    Game { id: "reaction", engine: Some(&engines::IOQUAKE3), name: "Reaction", game_port: Some(27960), gamename: Some("Reaction"),
        numbers: &[(71, "")], masters: &[named("master.rq3.com:27950"), named(IOQUAKE3)],
        marks: &[Rule("version", "Reaction"), Exact("gamename", "Reaction"), Exact("gamename", "Boomstick"),
            Rule("gamename", "rq3")], evidence: Source, source: "XQF; qstat.cfg; ReactionQuake3/reaction qcommon.h, sv_init.c", ..QUAKE3 },
    Game { id: "rexuiz", engine: Some(&engines::DARK_PLACES), name: "Rexuiz", game_port: Some(26000), gamename: Some("Rexuiz"), numbers: &[(3, "")],
        masters: &[DEATHMASK, TCHR], marks: &[Rule("gamename", "Rexuiz")],
        quirks: "the GameSpy name is not verified", evidence: Source, source: "XQF", ..QUAKE3 },
    Game { id: "rtcw", own_engines: &[&engines::RTCW, &engines::IORTCW], name: "Return to Castle Wolfenstein", aliases: &["iortcw"], year: Some(2001),
        game_port: Some(27960), gamename: Some("wolfmp"), numbers: &[(60, "1.4, iortcw"), (57, "1.0, 1.1")],
        masters: &[short("wolfmaster.idsoftware.com:27950"), short("master.iortcw.org:27950"), DEATHMASK], evidence: Source, source: "node-gamedig; GameserverLister; lookout-games; iortcw", ..QUAKE3 },
    Game { id: "smokinguns", own_engines: &[&engines::SMOKIN_GUNS], name: "Smokin' Guns", game_port: Some(27960), gamename: Some("smokinguns"),
        numbers: &[(71, ""), (68, "")], masters: &[named("master.smokin-guns.org:27950"), long(IOQUAKE3)], evidence: Source, source: "SmokinGuns qcommon.h; lookout tools/query.py; XQF", ..QUAKE3 },
    Game { id: "fteqw", own_engines: &[&engines::FTE], name: "FTE QuakeWorld", aliases: &["fte"], game_port: Some(27500), numbers: &[(3, "")], quirks: "letters follow the protocol number, such as 3wnd",
        evidence: Source, source: "fte-team/fteqw sv_main.c", ..QUAKE3 },
    Game { id: "sof2", own_engines: &[&engines::SOLDIER_OF_FORTUNE_2], name: "Soldier of Fortune 2", aliases: &["soldieroffortune2"], year: Some(2002),
        game_port: Some(20100), numbers: &[(2004, "1.03"), (2002, "1.00"), (2001, "demo")],
        masters: &[short("master.1fxmod.org:20110"), short("master.sof2.ravensoft.com:20110")], quirks: "sources disagree whether Raven's master is open", evidence: Captures, source: "node-gamedig; lookout-games; GameserverLister; qstat.cfg", ..QUAKE3 },
    Game { id: "stvef", own_engines: &[&engines::ELITE_FORCE], name: "Star Trek: Voyager - Elite Force", year: Some(2000), game_port: Some(27960),
        numbers: &[(24, "")],
        masters: &[short("efmaster.tjps.eu:27953"), short("master.stef1.daggolin.de:27953"),
            short("master.stvef.org:27953"), short("master.stef1.ravensoft.com:27953")], evidence: Source, source: "node-gamedig; lookout-games; XQF; ioef-cmod qcommon.h", ..QUAKE3 },
    Game { id: "stvef2", name: "Star Trek: Voyager - Elite Force 2", year: Some(2003), game_port: Some(29253),
        evidence: Lists, source: "node-gamedig", ..QUAKE3 },
    Game { id: "swjk2jo", own_engines: &[&engines::JEDI_OUTCAST, &engines::JEDI_OUTCAST_102], name: "Star Wars Jedi Knight II: Jedi Outcast", old_ids: &["swjk2"],
        aliases: &["jk2", "jk2mv"], year: Some(2002), game_port: Some(28070),
        numbers: &[(16, "1.04"), (15, "1.02")],
        masters: &[short("master.jkhub.org:28060"), short("master.jk2mv.org:28060"),
            short("master.jk2.daggolin.de:28060"), short("masterjk2.ravensoft.com:28060")], quirks: "sources disagree whether Raven's master is open", evidence: Captures, source: "node-gamedig; lookout-games; GameserverLister; XQF", ..QUAKE3 },
    Game { id: "swjkja", own_engines: &[&engines::JEDI_ACADEMY], name: "Star Wars Jedi Knight: Jedi Academy", old_ids: &["swjk"],
        aliases: &["jka", "openjk"], year: Some(2003), game_port: Some(29070), dialect: OpenJk,
        numbers: &[(26, "1.01"), (25, "1.00")],
        masters: &[short("master.jkhub.org:29060"), short("master.jk2mv.org:29060"),
            short("masterjk3.ravensoft.com:29060")],
        quirks: "some servers demand a proof of address before their first answer",
        evidence: Captures, source: "node-gamedig; lookout-games; GameserverLister; OpenJK", ..QUAKE3 },
    Game { id: "tremulous", own_engines: &[&engines::TREMULOUS, &engines::TREMULOUS_13], name: "Tremulous", year: Some(2006), game_port: Some(30720), gamename: Some("Tremulous"),
        numbers: &[(69, "1.1"), (70, "GPP"), (71, "1.3")],
        masters: &[long("master.tremulous.net:30710"), long("master.tremulous.net:30700")],
        quirks: "port 30710 lists 1.1, 30700 GPP and 1.3; datagrams of a list are numbered",
        evidence: Source, source: "node-gamedig; GameserverLister; lookout-games; qstat.cfg; GrangerHub/tremulous", ..QUAKE3 },
    Game { id: "turtlearena", engine: Some(&engines::SPEARMINT), name: "Turtle Arena", game_port: Some(27960), gamename: Some("TurtleArena"),
        numbers: &[(11, "")], masters: &[DEATHMASK, long(IOQUAKE3)],
        marks: &[Rule("gamename", "TurtleArena")], evidence: Lists, source: "XQF; qstat.cfg", ..QUAKE3 },
    Game { id: "spearmint", engine: Some(&engines::SPEARMINT), name: "Spearmint", game_port: Some(27960), gamename: Some("Spearmint"), numbers: &[(12, "")],
        masters: &[DEATHMASK, long(IOQUAKE3)],
        marks: &[Rule("version", "Spearmint"), Exact("gamename", "Spearmint"), Exact("com_gamename", "Spearmint")], evidence: Source, source: "clover-moe/spearmint qcommon.h", ..QUAKE3 },
    Game { id: "unvanquished", own_engines: &[&engines::DAEMON], name: "Unvanquished", game_port: Some(27960), gamename: Some("UNVANQUISHED"),
        numbers: &[(86, "")],
        masters: &[long("master.unvanquished.net:27950"), long("master2.unvanquished.net:27950")],
        quirks: "datagrams of a list are numbered; the list also holds servers of Smokin' Guns", evidence: Source, source: "lookout-games; qstat.cfg; XQF; DaemonEngine/Daemon cl_serverlist.cpp", ..QUAKE3 },
    Game { id: "warfork", own_engines: &[&engines::WARFORK], name: "Warfork", year: Some(2019), game_port: Some(44400), gamename: Some("Warfork"),
        numbers: &[(27, "")],
        masters: &[DEATHMASK, long("master1.forbidden.gg:27950"), long("master2.forbidden.gg:27777"),
            long("master3.forbidden.gg:42863"), long("master1.icy.gg:27950")], known: Living,
        evidence: Source, source: "node-gamedig; GameserverLister; XQF; TeamForbiddenLLC/warfork-qfusion version.h, q_comref.h", ..QUAKE3 },
    Game { id: "warsow", own_engines: &[&engines::WARSOW], name: "Warsow", year: Some(2012), game_port: Some(44400), gamename: Some("Warsow"),
        numbers: &[(22, "2.1"), (23, "2.2"), (21, "")], masters: &[DEATHMASK, TCHR], evidence: Captures, source: "node-gamedig; GameserverLister; lookout-games; qstat.cfg; viciious/qfusion", ..QUAKE3 },
    Game { id: "wet", own_engines: &[&engines::ENEMY_TERRITORY, &engines::ETE], name: "Wolfenstein: Enemy Territory", old_ids: &["wolfensteinet"], aliases: &["et"],
        year: Some(2003), game_port: Some(27960), gamename: Some("et"), numbers: &[(84, "")],
        masters: &[short("etmaster.idsoftware.com:27950"), short("master0.etmaster.net:27950"),
            short("etmaster.etlegacy.com:27950"), short("master.etlegacy.com:27950")],
        evidence: Captures, source: "node-gamedig; GameserverLister; lookout-games; dpmaster", ..QUAKE3 },
    Game { id: "wop", own_engines: &[&engines::WORLD_OF_PADMAN], name: "World Of Padman", aliases: &["worldofpadman"], year: Some(2007),
        game_port: Some(27960), gamename: Some("WorldofPadman"), numbers: &[(72, "1.7"), (71, "")],
        masters: &[long("master.worldofpadman.com:27955"), long("master.worldofpadman.net:27955")], evidence: Source, source: "node-gamedig; PadWorld-Entertainment/worldofpadman qcommon.h, q_shared.h; XQF",
        ..QUAKE3 },
    Game { id: "xonotic", engine: Some(&engines::DARK_PLACES), name: "Xonotic", year: Some(2011), game_port: Some(26000), gamename: Some("Xonotic"),
        numbers: &[(3, "")], masters: &[DEATHMASK, TCHR, long("dpm.dpmaster.org:27777")],
        marks: &[Rule("gamename", "Xonotic")],
        evidence: Source, source: "node-gamedig; GameserverLister; lookout-games; DarkPlaces netconn.c", ..QUAKE3 },
    Game { id: "zeq2lite", engine: Some(&engines::IOQUAKE3), name: "ZEQ2 Lite", game_port: Some(27960), numbers: &[(75, "")],
        masters: &[short(IOQUAKE3)], marks: &[Rule("version", "zeq2lite")],
        evidence: Lists, source: "XQF; qstat.cfg", ..QUAKE3 },
    Game { id: "q3a", own_engines: &[&engines::QUAKE3, &engines::QUAKE3E], name: "Quake 3: Arena", old_ids: &["quake3"], aliases: &["q3", "ioquake3"],
        year: Some(1999), game_port: Some(27960), gamename: Some("Quake3Arena"),
        numbers: &[(68, ""), (71, "ioquake3")],
        masters: &[short("master.quake3arena.com:27950"), short("master0.excessiveplus.net:27950"),
            short("master.huxxer.de:27950"), long(IOQUAKE3), DEATHMASK], marks: &[Rule("gamename", "baseq3")],
        quirks: "lists for 68 also hold Urban Terror and OpenArena",
        evidence: Captures, source: "node-gamedig; GameserverLister; lookout-games; ioquake3; torhus/monster-browser#8", ..QUAKE3 },
    // Quake 2.
    Game { id: "alienarena", own_engines: &[&engines::ALIEN_ARENA], name: "Alien Arena", year: Some(2004), game_port: Some(27910),
        masters: &[quake2("master.alienarena.org:27900"), quake2("master2.alienarena.org:27900")],
        evidence: Source, source: "node-gamedig; lookout-games; alienarena/alienarena", ..QUAKE2 },
    Game { id: "daikatana", name: "Daikatana", year: Some(2000), game_port: Some(27982), query_port: Offset(10),
        quirks: "listed by master.maraakate.org in a form of its own", known: Unverified,
        evidence: Lists, source: "node-gamedig; XQF/xqf#166", ..QUAKE2 },
    Game { id: "kloc", own_engines: &[&engines::KINGPIN], name: "Kingpin: Life of Crime", old_ids: &["kingpin"], year: Some(1999),
        game_port: Some(31510), also_at: &[(GameSpy1, Offset(-10))], gamename: Some("kingpin"),
        masters: &[quake2("master.kingpin.info:27900")],
        quirks: "node-gamedig asks it in GameSpy v1 at the game port - 10",
        evidence: Captures, source: "node-gamedig; 333networks; lookout-games", ..QUAKE2 },
    Game { id: "paintball2", name: "Digital Paintball 2", game_port: Some(27910),
        known: Unverified, quirks: "listed over HTTP (dplogin.com/serverlist.php)", source: "skullernet/q2pro q2pro.menu", ..QUAKE2 },
    Game { id: "quake2", name: "Quake 2", aliases: &["q2"], year: Some(1997), game_port: Some(27910),
        masters: &[quake2("master.quakeservers.net:27900"), quake2("master.maraakate.org:27900")],
        marks: &[Exact("gamename", "baseq2"), Exact("gamedir", "baseq2"), Exact("game", "baseq2")],
        quirks: "a reply of a modification does not tell it from the games made from its source",
        evidence: Captures, source: "node-gamedig; rust-gamedig; lookout-games; fte-team/fteqw net_master.c", ..QUAKE2 },
    Game { id: "quetoo", own_engines: &[&engines::QUETOO], name: "Quetoo", year: None, game_port: Some(1998), numbers: &[(2029, "")],
        masters: &[short("master.quetoo.org:1996")],
        evidence: Source, source: "jdolan/quetoo common.h, sv_main.c, master/main.c", ..QUAKE2 },
    // QuakeWorld.
    Game { id: "qtv", own_engines: &[&engines::QTV], name: "QTV", game_port: Some(27599),
        quirks: "a proxy that shows games of QuakeWorld servers, in the lists of QuakeWorld", known: Unverified,
        evidence: Source, source: "QW-Group/qtv src/qtv.h", ..QUAKE_WORLD },
    Game { id: "qwfwd", own_engines: &[&engines::QWFWD], name: "qwfwd", game_port: Some(30000),
        quirks: "a proxy between clients and QuakeWorld servers, in the lists of QuakeWorld", known: Unverified,
        evidence: Source, source: "QW-Group/qwfwd src/qwfwd.h", ..QUAKE_WORLD },
    Game { id: "quake", own_engines: &[&engines::FTE_QUAKE_WORLD], name: "QuakeWorld", old_ids: &["quake1"], aliases: &["qw"], year: Some(1996), game_port: Some(27500),
        masters: &[quake_world("master.quakeworld.nu:27000"), quake_world("master.quakeservers.net:27000"),
            quake_world("qwmaster.fodquake.net:27000")], marks: &[Rule("*version", "MVDSV"), Rule("*version", "2.")],
        quirks: "the lists also hold proxies, which are qtv and qwfwd here",
        evidence: Lists, source: "node-gamedig; rust-gamedig; lookout-games; hub.quakeworld.nu", ..QUAKE_WORLD },
    // UT2004.
    Game { id: "dhe4445", name: "Darkest Hour: Europe '44-'45", old_ids: &["darkesthour"], year: Some(2008),
        game_port: Some(7757), quirks: "listed by Steam", known: Unverified, lan: TRIPWIRE_LAN,
        evidence: Source, source: "node-gamedig", ..UT2004 },
    Game { id: "killingfloor", name: "Killing Floor", aliases: &["kf"], year: Some(2009), game_port: Some(7707),
        also_at: &[(GameSpy1, Offset(10))],
        marks: &[GameType("KF"), Rule("mapname", "KF-"), Rule("ServerVersion", "10")],
        quirks: "listed by Steam and by Tripwire's master, whose protocol is not known", known: Living,
        lan: TRIPWIRE_LAN,
        evidence: Captures, source: "node-gamedig; ovh/infrastructure-roadmap#482; GameServerManagers/LinuxGSM#4389", ..UT2004 },
    Game { id: "redorchestra", name: "Red Orchestra", game_port: Some(7757),
        also_at: &[(GameSpy1, Offset(10))], gamename: Some("redorchestra"), marks: &[GameType("RO")],
        lan: TRIPWIRE_LAN, evidence: Source, source: "node-gamedig; Red Orchestra's UT2k4Browser_OpenIP.uc; lxndr/gswatcher", ..UT2004 },
    Game { id: "devastation", name: "Devastation", year: Some(2003), game_port: Some(7777),
        evidence: Lists, source: "node-gamedig", ..UT2004 },
    Game { id: "u2tax", name: "Unreal 2: The Awakening - XMP", year: Some(2003), game_port: Some(7777),
        numbers: &[(2226, "")], marks: &[Rule("ServerVersion", "2226")], evidence: Lists, source: "node-gamedig", ..UT2004 },
    Game { id: "unrealtournament2003", name: "Unreal Tournament 2003", old_ids: &["ut2003"],
        aliases: &["ut2k3"], year: Some(2003), game_port: Some(7777), also_at: &[(GameSpy1, Offset(10)), (Ut2004, Fixed(7758))],
        numbers: &[(2225, "")], masters: &[ut2004("utmaster.openspy.net:28902")],
        marks: &[Rule("ServerVersion", "22")], lan: UT2004_LAN,
        quirks: "node-gamedig's port is 7757", known: Living,
        evidence: Lists, source: "node-gamedig; GameserverLister; cetteup/pyut2serverlist; Unity-Technologies/qstat", ..UT2004 },
    Game { id: "unrealtournament2004", name: "Unreal Tournament 2004", old_ids: &["ut2004"],
        aliases: &["ut2k4"], year: Some(2004), game_port: Some(7777), also_at: &[(GameSpy1, Offset(10))],
        gamename: Some("ut2004"), numbers: &[(3369, "")],
        masters: &[ut2004("utmaster.openspy.net:28902"), ut2004("ut2004master.333networks.com:28902"),
            ut2004("ut2004master.errorist.eu:28902"), ut2004("ut2004master.gonespy.com:28902"),
            ut2004("master.frag-net.com:28902"), ut2004("master.noccer.de:28902")],
        marks: &[Rule("ServerVersion", "33")], lan: UT2004_LAN,
        evidence: Captures, source: "node-gamedig; OldUnreal/UT2004Patches; GameserverLister; lookout-games", ..UT2004 },
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The facts that a place has of games: a line of `facts.tsv`.
    struct Line<'a> {
        /// Ids, or the name of a protocol for all of its games.
        games: &'a str,
        place: &'a str,
        facts: Vec<&'a str>,
    }

    impl<'a> Line<'a> {
        fn read(line: &'a str) -> Self {
            let mut cells = line.split('\t');
            let mut next = || cells.next().filter(|cell| !cell.is_empty()).expect(line);
            let (games, place) = (next(), next());
            let facts = cells.collect();
            Self {
                games,
                place,
                facts,
            }
        }

        fn is_about(&self, game: &Game) -> bool {
            let mut games = self.games.split(' ');
            games.any(|word| word == game.id || word == game.protocol.as_str())
        }
    }

    /// The cells of a row, in the form of `facts.tsv`.
    fn facts_of(game: &Game) -> Vec<String> {
        let mut facts = vec![
            format!("name {}", game.name),
            format!("evidence {}", game.evidence.as_str()),
        ];
        facts.extend(game.old_ids.iter().map(|id| format!("old {id}")));
        facts.extend(game.aliases.iter().map(|alias| format!("alias {alias}")));
        facts.extend(game.year.map(|year| format!("year {year}")));
        facts.extend(game.gamename.map(|name| format!("gamename {name}")));
        facts.extend(game.key.map(|key| format!("key {key}")));
        for (number, version) in game.numbers {
            facts.push(format!("number {number} {version}").trim_end().to_owned());
        }
        for master in game.masters {
            let silent = if master.is_silent_if_empty {
                " silent"
            } else {
                ""
            };
            let form = master.form.as_str();
            facts.push(format!("list {form} {}{silent}", master.address));
        }
        if let (Some(_), Fixed(_)) = (game.game_port, game.query_port) {
            facts.push("fixed query port".to_owned());
        }
        for (protocol, rule) in game.also_at {
            facts.push(format!("also {protocol} {rule:?}"));
        }
        facts.extend(
            game.engine
                .map(|engine| format!("engine {}", engine.row.name)),
        );
        for engine in game.own_engines {
            facts.push(format!("own {}", engine.row.name));
        }
        facts.extend(game.marks.iter().map(|mark| format!("mark {mark:?}")));
        facts.extend(game.lan.iter().map(|lan| format!("lan {lan:?}")));
        let Further { count, step } = game.further;
        if count > 0 {
            facts.push(format!("further {count} {step}"));
        }
        if game.dialect != Dialect::Standard {
            facts.push(format!("dialect {:?}", game.dialect));
        }
        if game.known != Certainty::Unknown {
            facts.push(format!("known {}", game.known.as_str()));
        }
        facts
    }

    /// Lists of games. `source` names each one that says something of the row.
    const LISTS: [&str; 4] = ["node-gamedig", "333networks", "GameserverLister", "lookout"];

    fn wrong_source(game: &Game, lines: &[&Line<'_>]) -> Vec<String> {
        let is_place = |text: &str| lines.iter().any(|line| line.place.contains(text));
        let lists = LISTS.iter().copied();
        let wrong = lists.filter(|list| is_place(list) != game.source.contains(list));
        let unused = game.source.split("; ").filter(|part| !is_place(part));
        let faults = wrong.chain(unused);
        faults.map(|text| format!("the source {text}")).collect()
    }

    /// The query ports in this protocol of the game's server at this game port.
    fn query_ports(game: &Game, protocol: Protocol, game_port: Option<u16>) -> Vec<u16> {
        let own = (game.protocol, game.query_port);
        let rules = std::iter::once(own).chain(game.also_at.iter().copied());
        let rules = rules.filter(|(of, _)| *of == protocol);
        rules.filter_map(|(_, rule)| rule.at(game_port)).collect()
    }

    /// The faults of a row's ports, by a fact such as `ports gamespy1 12203:12300`. Where a list
    /// names no game port, there is `-`.
    fn wrong_ports(game: &Game, fact: &str) -> Vec<String> {
        let (mut protocol, mut wrong, mut game_ports) = (None, Vec::new(), Vec::new());
        for word in fact.split(' ').skip(1) {
            let Some((game_port, query_port)) = word.split_once(':') else {
                protocol = Some(word.parse().unwrap());
                continue;
            };
            let game_port: Option<u16> = game_port.parse().ok();
            game_ports.push(game_port);
            let found = query_ports(game, protocol.expect(fact), game_port);
            if !found.contains(&query_port.parse().unwrap()) {
                wrong.push(format!("{word}, not {found:?}"));
            }
        }
        if game_ports.first() != Some(&game.game_port) {
            wrong.push(format!("{fact}, not {:?}", game.game_port));
        }
        wrong
    }

    /// The facts that the places have of a game and its row lacks, or the reverse.
    fn faults(game: &Game, lines: &[Line<'_>]) -> Vec<String> {
        let lines: Vec<&Line<'_>> = lines.iter().filter(|line| line.is_about(game)).collect();
        let known = lines.iter().flat_map(|line| line.facts.iter().copied());
        let (ports, mut known): (Vec<&str>, Vec<&str>) =
            known.partition(|fact| fact.starts_with("ports "));
        let words = known.iter().copied();
        let notes: Vec<&str> = words
            .filter_map(|fact| fact.strip_prefix("note "))
            .collect();
        known.retain(|fact| !fact.starts_with("note "));
        let facts = facts_of(game);
        let said: BTreeSet<&str> = facts.iter().map(String::as_str).collect();
        let evident: BTreeSet<&str> = known.iter().copied().collect();
        let mut faults: Vec<String> = Vec::new();
        faults.extend(
            said.difference(&evident)
                .map(|fact| format!("no place says {fact}")),
        );
        faults.extend(
            evident
                .difference(&said)
                .map(|fact| format!("lacks {fact}")),
        );
        faults.extend(ports.iter().flat_map(|fact| wrong_ports(game, fact)));
        if ports.is_empty() {
            faults.push("no place has its ports".to_owned());
        }
        if notes.is_empty() != game.quirks.is_empty()
            || !notes.iter().all(|note| game.quirks.contains(note))
        {
            faults.push(format!("the quirks, not {notes:?}"));
        }
        // The first number is asked for first.
        let is_number = |fact: &&str| fact.starts_with("number ");
        let numbers = facts.iter().map(String::as_str).filter(is_number);
        if faults.is_empty() && !numbers.eq(known.into_iter().filter(is_number)) {
            faults.push("the order of its numbers".to_owned());
        }
        faults.extend(wrong_source(game, &lines));
        faults
    }

    #[test]
    fn each_cell_has_its_evidence() {
        let file = kit::root().join("tests/all/games/facts.tsv");
        let text = std::fs::read_to_string(file).unwrap();
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        let lines: Vec<Line<'_>> = lines.map(Line::read).collect();
        let mut all = Vec::new();
        for game in TABLE {
            let faults = faults(game, &lines);
            all.extend(faults.iter().map(|fault| format!("{}: {fault}", game.id)));
        }
        let words = lines.iter().flat_map(|line| line.games.split(' '));
        for word in words {
            let is_known = |game: &Game| [game.id, game.protocol.as_str()].contains(&word);
            if !TABLE.iter().any(is_known) {
                all.push(format!("{word}: no row"));
            }
        }
        assert!(all.is_empty(), "{} faults\n{}", all.len(), all.join("\n"));
    }
}
