"""PyPI opengsq: CLASS HOST PORT -> one JSON object."""

import asyncio
import json
import sys
from importlib import import_module

name, host, port = sys.argv[1], sys.argv[2], int(sys.argv[3])
server = getattr(import_module(f"opengsq.protocols.{name.lower()}"), name)(host=host, port=port, timeout=3.0)


async def unreal2():
    """Three requests; it has no list where one of them failed."""
    info = await server.get_details()
    rules, players = {}, []
    try:
        rules = await server.get_rules()
        players = await server.get_players()
    except Exception as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
    return {
        "name": info.server_name,
        "map": info.map_name,
        "player_count": info.num_players,
        "max_players": info.max_players,
        "players": [{"name": player.name, "score": player.score} for player in players],
        "rules": rules,
    }


async def by_keys():
    status = await server.get_status()
    info = status.info
    first = lambda *keys: next((info[key] for key in keys if key in info), None)
    players = [player if isinstance(player, dict) else vars(player) for player in status.players]
    return {
        "name": first("hostname", "sv_hostname"),
        "map": first("p1073741825", "mapname", "map"),
        "player_count": first("numplayers") or len(players),
        "max_players": first("maxplayers", "sv_maxclients", "maxclients"),
        "players": [
            {"name": player.get("name") or player.get("player"), "score": player.get("score", player.get("frags"))}
            for player in players
        ],
        "rules": info,
    }


print(json.dumps(asyncio.run(unreal2() if name in ("Unreal2", "KillingFloor") else by_keys())))
