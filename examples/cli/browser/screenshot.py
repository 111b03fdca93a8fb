#!/usr/bin/env python3
"""Pictures of the browser in a real terminal: tmux runs it, and its screen becomes an SVG file.

    cargo build -p queryport-cli --all-features
    examples/cli/browser/screenshot.py            # writes browser-80x24.svg and browser-200x50.svg next to this file
    examples/cli/browser/screenshot.py --text     # prints the screens and writes nothing
"""

import html
import os
import re
import subprocess
import sys
import time
import unicodedata
from pathlib import Path

HERE = Path(__file__).parent
PROGRAM = f"{HERE.parents[2]}/target/debug/queryport browser"
# Size of the terminal, and the keys that are pressed after the scan.
PICTURES = [((80, 24), []), ((200, 50), ["Down"] * 2 + ["Space"] + ["Down"] * 5 + ["Space"] + ["Down"] * 2 + ["Enter"])]
# Pixels of a character.
WIDTH, HEIGHT, MARGIN = 8.4, 17, 8
TEXT, BACKGROUND = "#d4d4d4", "#16181d"
PALETTE = ["#000000", "#c23a3f", "#4f9a45", "#b08a2e", "#4a7fc9", "#a05ab4", "#3f9aa8", "#c8c8c8",
           "#7a7d85", "#ff6b6b", "#7fd962", "#ffd866", "#6fb3ff", "#d68bf0", "#6fdfe8", "#ffffff"]


def tmux(size, *arguments):
    # A server of its own for each picture.
    name = f"queryport-{os.getpid()}-{size[0]}"
    return subprocess.run(["tmux", "-L", name, "-f", "/dev/null", *arguments], check=True, capture_output=True, text=True).stdout


def screen(size, keys):
    """The lines of the screen, with their escape sequences."""
    columns, rows = map(str, size)
    program = f"env COLORTERM=truecolor {PROGRAM}"
    tmux(size, "new-session", "-d", "-x", columns, "-y", rows, program, ";", "set-option", "-g", "status", "off",
         ";", "resize-window", "-x", columns, "-y", rows)
    try:
        for _ in range(150):
            if "did not" in tmux(size, "capture-pane", "-p"):
                break
            time.sleep(0.2)
        else:
            sys.exit("the scan did not end")
        for key in keys:
            tmux(size, "send-keys", key)
            time.sleep(0.2)
        time.sleep(0.5)
        return tmux(size, "capture-pane", "-p", "-e").split("\n")[:size[1]]
    finally:
        tmux(size, "kill-server")


def indexed(number):
    """The colour of this number among 256."""
    if number < 16:
        return PALETTE[number]
    if number >= 232:
        return "#" + 3 * f"{8 + 10 * (number - 232):02x}"
    steps = [0, 95, 135, 175, 215, 255]
    number -= 16
    return "#" + "".join(f"{steps[digit]:02x}" for digit in (number // 36, number // 6 % 6, number % 6))


def apply(style, codes):
    """The style after these numbers of an escape sequence."""
    codes = [int(code or 0) for code in codes.split(";")]
    while codes:
        code = codes.pop(0)
        if code == 0:
            style = {}
        elif code in (1, 2, 4, 7):
            style = {**style, code: True}
        elif code in (22, 24, 27):
            off = {22: (1, 2), 24: (4,), 27: (7,)}[code]
            style = {key: value for key, value in style.items() if key not in off}
        elif code in (38, 48):
            kind = codes.pop(0)
            parts = [codes.pop(0) for _ in range(1 if kind == 5 else 3)]
            style = {**style, code: indexed(parts[0]) if kind == 5 else "#" + "".join(f"{part:02x}" for part in parts)}
        elif code in (39, 49):
            style = {key: value for key, value in style.items() if key != code - 1}
        elif code // 10 in (3, 9):
            style = {**style, 38: PALETTE[code % 10 + (8 if code >= 90 else 0)]}
    return style


def columns_of(text):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else not unicodedata.combining(c) for c in text)


def runs(line, style):
    """The parts of a line in one style: column, text, columns, style."""
    column = 0
    for part in re.split("(\x1b\\[[0-9;]*m)", line):
        if part.startswith("\x1b["):
            style = apply(style, part[2:-1])
        elif part:
            columns = columns_of(part)
            yield column, part, columns, style
            column += columns
    return style


def svg(lines, size):
    columns, rows = size
    width, height = columns * WIDTH + 2 * MARGIN, rows * HEIGHT + 2 * MARGIN
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
           f'font-family="ui-monospace,Menlo,Consolas,DejaVu Sans Mono,monospace" font-size="14" fill="{TEXT}">',
           f'<rect width="100%" height="100%" rx="6" fill="{BACKGROUND}"/>']
    style = {}
    for row, line in enumerate(lines):
        generator = runs(line, style)
        while True:
            try:
                column, text, taken, style_of_run = next(generator)
            except StopIteration as end:
                style = end.value
                break
            x, y = MARGIN + column * WIDTH, MARGIN + row * HEIGHT
            fill, back = style_of_run.get(38, TEXT), style_of_run.get(48)
            if 7 in style_of_run:
                fill, back = back or BACKGROUND, fill
            if back:
                out.append(f'<rect x="{x:g}" y="{y:g}" width="{taken * WIDTH:g}" height="{HEIGHT}" fill="{back}"/>')
            marks = "".join(mark for key, mark in ((1, ' font-weight="bold"'), (2, ' opacity=".6"'),
                                                   (4, ' text-decoration="underline"')) if key in style_of_run)
            colour = f' fill="{fill}"' if fill != TEXT else ""
            # Distant words are placed one by one: fonts differ in the width of their spaces.
            for words in re.finditer(r"\S+(?: \S+)*", text):
                left = x + columns_of(text[:words.start()]) * WIDTH
                length = columns_of(words[0]) * WIDTH
                out.append(f'<text x="{left:g}" y="{y + 13:g}" textLength="{length:g}"{colour}{marks}>{html.escape(words[0])}</text>')
    return "\n".join([*out, "</svg>", ""])


for size, keys in PICTURES:
    lines = screen(size, keys)
    if "--text" in sys.argv:
        print("\n".join(re.sub("\x1b\\[[0-9;]*m", "", line) for line in lines))
    else:
        path = HERE / f"browser-{size[0]}x{size[1]}.svg"
        path.write_text(svg(lines, size), encoding="utf-8")
        print(f"{path.name}: {path.stat().st_size} bytes")
