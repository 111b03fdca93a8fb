//! The rows are consistent.
use std::collections::BTreeSet;

use queryport::games::Game;

use crate::games::client;

#[test]
fn every_word_finds_its_game_and_no_other() {
    let mut ids = BTreeSet::new();
    for game in Game::all() {
        for id in [game.id].iter().chain(game.old_ids) {
            assert!(ids.insert(*id), "{id} is an id of two games");
            assert!(
                id.bytes()
                    .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()),
                "{id}"
            );
        }
        for word in [game.id, game.name]
            .iter()
            .chain(game.old_ids)
            .chain(game.aliases)
        {
            assert_eq!(Game::find(word).unwrap().id, game.id, "{word}");
            assert_eq!(
                Game::find(&word.to_uppercase()).unwrap().id,
                game.id,
                "{word}"
            );
        }
        if let Some(gamename) = game.gamename {
            let found = Game::find(gamename).unwrap();
            let is_shared = found.gamename == Some(gamename);
            assert!(found.id == game.id || is_shared, "{gamename}");
        }
        assert!(
            game.year.is_none_or(|year| (1996..=2026).contains(&year)),
            "{}",
            game.id
        );
        assert!(
            !game.name.is_empty() && !game.source.is_empty(),
            "{}",
            game.id
        );
    }
}

/// A list server needs the name, the number or the key that its form asks with.
#[test]
fn the_list_servers_of_every_game_can_be_asked() {
    for game in Game::all() {
        let can_be_asked = client().servers(game).is_ok();
        assert_eq!(can_be_asked, !game.masters.is_empty(), "{}", game.id);
    }
}

/// The ids of node gamedig 5.3.3, former ones included, of games in the protocols of this crate
/// (gamedig/node-gamedig, lib/games.js). Its `plutonium` is several games.
const IDS_OF_NODE_GAMEDIG: &str = "\
    aaa acwa alienarena americasarmy americasarmy2 arma armacwa armar armaresistance avp2 \
    baldursgate battlefield1942 battlefield2 battlefield2142 battlefieldvietnam bf1942 bf2 bf2142 \
    bfv breed c3db cacr cacrenegade cbu cod cod2 cod3 cod4 cod4mw codenameeagle codmw2 coduo codwaw \
    commandos3 contactjack contractjack crysis crysis2 crysiswars daikatana darkesthour ddpt \
    deadlydozenpt deerhunter2005 descent3 deusex devastation dh2005 dhe4445 dirttrackracing2 \
    dnf2001 dootf drakan dtr2 f12002 f1c9902 fear flashpointresistance formulaone2002 gck \
    giantscitizenkabuto globaloperations gore graw graw2 gus had2 halo halo2 heretic2 \
    hiddendangerous2 homeworld2 i2cs i2s igi2 il2 ironstorm jamesbondnightfire jb0n jc2m jc2mp \
    killingfloor kingpin kisspc kloc kpctnc mbe minecraft minecraftbe moha mohaa mohaab mohaas \
    mohab mohbt mohpa mohsh nab nascarthunder2004 netpanzer neverwinternights neverwinternights2 \
    nexuiz nfshp2 nitrofamily nolf nolf2 nolf2asihw nwn nwn2 ofcwc ofr openarena postal2 \
    prb2 prbf2 q3a quake quake1 quake2 quake3 r6 r6ravenshield r6roguespear rainbowsix \
    rallisportchallenge rallymasters redline redorchestra redorchestraost riseofnations ron roo4145 \
    rs2rs rs3rs rtcw rune serioussam serioussam2 shogo sin sof sof2 ss ss2 sstse stalker stbc stvef \
    stvef2 swat4 swb swb2 swbf swbf2 swjk swjk2 swjk2jo swjkja swrc tacticalops takeonhelicopters \
    tcgraw tcgraw2 teamfactor terminus thps3 thps4 thu2 toh tonolf tremulous tribesvengeance tron20 \
    turok2 u2tax unreal unrealtournament unrealtournament2003 unrealtournament2004 \
    unrealtournament3 urbanterror ut ut2003 ut2004 ut3 v8sc v8supercar vietcong vietcong2 wet \
    wheeloftime wolfensteinet wop wot";

#[test]
fn every_id_of_node_gamedig_finds_a_game() {
    let unknown: Vec<&str> = IDS_OF_NODE_GAMEDIG
        .split(' ')
        .filter(|id| Game::find(id).is_err())
        .collect();
    assert_eq!(unknown, [""; 0]);
}
