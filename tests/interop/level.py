"""Levels made by hand, for engines whose game data is not free: one room with a floor and places to start."""

import struct

STARTS = ["info_player_start", "info_player_deathmatch", "team_CTF_redspawn", "team_CTF_bluespawn"]
# Contents of a solid brush.
SOLID = 1


# The floor's bounds, and the upper end of the room.
LOW, HIGH, TOP = (-1024, -1024, -64), (1024, 1024, 0), (1024, 1024, 1024)


def entities():
    found = [("worldspawn", 0), *((start, 128 * number) for number, start in enumerate(STARTS))]
    return "".join('{ "classname" "%s" "origin" "%d 0 32" }\n' % entity for entity in found).encode() + b"\0"


def sides():
    """Normals and distances of the floor's sides: two for each axis, the lower one first."""
    return [(*(sign * (other == axis) for other in range(3)), sign * bound[axis])
            for axis in range(3) for sign, bound in [(-1, LOW), (1, HIGH)]]


def pack(head, lumps, filled):
    """The head, the place and length of each lump, and the lumps."""
    places, body = b"", b""
    for number in range(lumps):
        lump = filled.get(number, b"")
        places += struct.pack("<2i", len(head) + 8 * lumps + len(body), len(lump))
        body += lump + b"\0" * (-len(lump) % 4)
    return head + places + body


def level(ident, version, lumps=17, side_words=2):
    """The bytes of a `.bsp` of Quake 3. The engines' formats differ in the head, the number of lumps and
    the words of a side."""
    return pack(struct.pack("<4si", ident, version), lumps, {
        0: entities(),
        # Shaders and planes.
        1: struct.pack("<64s2i", b"floor", 0, SOLID),
        2: b"".join(struct.pack("<4f", *side) for side in sides()),
        # The node at the upper side of the floor, and its leaves: the room above it, and the floor.
        3: struct.pack("<9i", 5, -1, -2, *LOW, *TOP),
        4: struct.pack("<12i", 0, 0, *LOW, *TOP, 0, 0, 0, 0) + struct.pack("<12i", -1, -1, *LOW, *HIGH, 0, 0, 0, 1),
        # Brushes of leaves; the world; brushes and their sides.
        6: struct.pack("<i", 0),
        7: struct.pack("<6f4i", *LOW, *TOP, 0, 0, 0, 1),
        8: struct.pack("<3i", 0, 6, 0),
        9: b"".join(struct.pack(f"<{side_words}i", number, *[0] * (side_words - 1)) for number in range(6)),
    })


def medal_of_honor():
    """The bytes of a `.bsp` of Medal of Honor. A shader has two names, a leaf has terrain and models."""
    return pack(struct.pack("<4s2i", b"2015", 19, 1), 28, {
        0: struct.pack("<64s3i64s", b"floor", 0, SOLID, 16, b""),
        1: b"".join(struct.pack("<4f", *side) for side in sides()),
        6: struct.pack("<i", 0),
        8: struct.pack("<16i", 0, 0, *LOW, *TOP, *[0] * 8) + struct.pack("<16i", -1, -1, *LOW, *HIGH, 0, 0, 0, 1, *[0] * 4),
        9: struct.pack("<9i", 5, -1, -2, *LOW, *TOP),
        11: b"".join(struct.pack("<3i", number, 0, -1) for number in range(6)),
        12: struct.pack("<3i", 0, 6, 0),
        13: struct.pack("<6f4i", *LOW, *TOP, 0, 0, 0, 1),
        14: entities(),
    })


def quake2():
    """The bytes of a `.bsp` of Quake 2."""
    return pack(b"IBSP" + struct.pack("<i", 38), 19, {
        0: entities(),
        1: b"".join(struct.pack("<4fi", *side, number // 2) for number, side in enumerate(sides())),
        4: struct.pack("<3i6h2H", 5, -2, -1, *LOW, *TOP, 0, 0),
        # The texture of all sides.
        5: struct.pack("<8f2i32si", *[0] * 10, b"floor", -1),
        # The floor and the room.
        8: struct.pack("<i8h4H", SOLID, -1, 0, *LOW, *HIGH, 0, 0, 0, 1) + struct.pack("<i8h4H", 0, 0, 1, *LOW, *TOP, 0, 0, 0, 0),
        10: struct.pack("<H", 0),
        13: struct.pack("<9f3i", *LOW, *TOP, 0, 0, 0, 0, 0, 0),
        14: struct.pack("<3i", 0, 6, SOLID),
        15: b"".join(struct.pack("<Hh", number, 0) for number in range(6)),
        # Two areas.
        17: struct.pack("<4i", 0, 0, 0, 0),
    })


def quakeworld():
    """The bytes of a `.bsp` of Quake."""
    empty, solid = -1, -2
    return pack(struct.pack("<i", 29), 15, {
        0: entities(),
        1: struct.pack("<4fi", 0, 0, 1, 0, 2),
        # Everything is visible.
        4: b"\xff",
        5: struct.pack("<i8h2H", 0, -2, -1, *LOW, *TOP, 0, 0),
        9: struct.pack("<i2h", 0, empty, solid),
        10: struct.pack("<2i6h2H4B", solid, -1, *LOW, *HIGH, *[0] * 6) + struct.pack("<2i6h2H4B", empty, -1, *LOW, *TOP, *[0] * 6),
        14: struct.pack("<9f7i", *LOW, *TOP, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0),
    })
