"""A level made by hand, for engines whose game data is not free: one room with a floor and places to start."""

import struct

STARTS = ["info_player_start", "info_player_deathmatch", "team_CTF_redspawn", "team_CTF_bluespawn"]
# Contents of a solid brush.
SOLID = 1


def level(ident, version, lumps=17, side_words=2):
    """The bytes of a `.bsp`. The engines' formats differ in the head, the number of lumps and the words of a side."""
    entities = [("worldspawn", 0), *((start, 128 * number) for number, start in enumerate(STARTS))]
    low, high, top = (-1024, -1024, -64), (1024, 1024, 0), (1024, 1024, 1024)
    # Normals and distances of the floor's sides: two for each axis, the lower one first.
    sides = [(*(sign * (other == axis) for other in range(3)), sign * bound[axis])
             for axis in range(3) for sign, bound in [(-1, low), (1, high)]]
    filled = {
        0: "".join('{ "classname" "%s" "origin" "%d 0 32" }\n' % entity for entity in entities).encode() + b"\0",
        # Shaders and planes.
        1: struct.pack("<64s2i", b"floor", 0, SOLID),
        2: b"".join(struct.pack("<4f", *side) for side in sides),
        # The node at the upper side of the floor, and its leaves: the room above it, and the floor.
        3: struct.pack("<9i", 5, -1, -2, *low, *top),
        4: struct.pack("<12i", 0, 0, *low, *top, 0, 0, 0, 0) + struct.pack("<12i", -1, -1, *low, *high, 0, 0, 0, 1),
        # Brushes of leaves; the world; brushes and their sides.
        6: struct.pack("<i", 0),
        7: struct.pack("<6f4i", *low, *top, 0, 0, 0, 1),
        8: struct.pack("<3i", 0, len(sides), 0),
        9: b"".join(struct.pack(f"<{side_words}i", number, *[0] * (side_words - 1)) for number in range(len(sides))),
    }
    head, body = struct.pack("<4si", ident, version), b""
    for number in range(lumps):
        lump = filled.get(number, b"")
        head += struct.pack("<2i", 8 + 8 * lumps + len(body), len(lump))
        body += lump + b"\0" * (-len(lump) % 4)
    return head + body
