"""Compares the output of a client with the status of the server, aspect by aspect."""

import re

COLOURS = re.compile(r"\x1b.{0,3}|\^[xX][0-9a-fA-F]{3}|\^[0-9a-zA-Z]|§.", re.DOTALL)


def plain(text):
    """A text for comparison, without colour codes and outer spaces, which are a matter of presentation."""
    if isinstance(text, dict) and "raw" in text:
        raw = bytes.fromhex(text["raw"])
        if text["charset"] == "quake":
            # Bit 7 is a colour.
            raw = bytes(byte & 0x7F for byte in raw)
        text = raw.decode("utf-8" if text["charset"].startswith("utf8") else "latin-1")
    return COLOURS.sub("", str(text)).strip()


def compare(shown, served):
    """For each aspect that is served, (right, total). `shown` has the fields that `clients/` print."""
    found = {}
    for field in ["name", "map", "player_count", "max_players"]:
        found[field] = (int(plain(shown.get(field)) == plain(served[field])), 1)
    rest = [(plain(player["name"]), player.get("score")) for player in shown.get("players") or []]
    names = scores = 0
    for player in served["players"]:
        name, score = plain(player["name"]), player["score"]
        same = [other for other in rest if other[0] == name]
        if not same:
            continue
        names += 1
        best = next((other for other in same if str(other[1]) == str(score)), None)
        scores += best is not None
        rest.remove(best or same[0])
    found["players"] = (names, len(served["players"]))
    if any(player["score"] is not None for player in served["players"]):
        found["scores"] = (scores, len(served["players"]))
    # A wrong name already counts as missing. Rows beyond those belong to no player.
    found["invented players"] = (-max(0, len(rest) - (len(served["players"]) - names)), 0)
    if served["rules"]:
        rules = {(key.lower(), plain(value)) for key, value in (shown.get("rules") or {}).items()}
        found["rules"] = (sum((key.lower(), plain(value)) in rules for key, value in served["rules"]), len(served["rules"]))
    return found


def sentence(found):
    """`all`, or what is missing or wrong."""
    wrong = []
    for aspect, (right, total) in found.items():
        if right < 0:
            wrong.append(f"{aspect} {-right}")
        elif right < total:
            wrong.append(aspect if total == 1 else f"{aspect} {right}/{total}")
    return ", ".join(wrong) or "all"


def is_worse(now, expected):
    """Whether one sentence lists less than the other."""
    def parts(text):
        found = {}
        for part in [] if text == "all" else text.split(", "):
            aspect, number = re.fullmatch(r"(.*?)(?: (\d+)(?:/\d+)?)?", part).groups()
            right = int(number or 0)
            found[aspect] = -right if "invented" in aspect else right
        return found
    if now == "nothing" or expected == "nothing":
        return now == "nothing" and expected != "nothing"
    now, expected = parts(now), parts(expected)
    return any(aspect not in expected or right < expected[aspect] for aspect, right in now.items())
