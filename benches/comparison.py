#!/usr/bin/env python3
"""Draws comparison-light.svg and comparison-dark.svg, which the README shows, from the bench's output in comparison.txt.

Usage: benches/comparison.py [--check]    with --check, only says whether the pictures are those of the text

For each share of dead servers: the slower of this crate's rows with default options (answers as received, or normalised), and the
fastest of rust gamedig's numbers of threads, in whichever table of the bench they are.
"""

import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
SHARES = (0, 10, 50, 90)
# Text, lines, this crate, the other one: at least 4.5 to 1 against the page of GitHub's light or dark theme.
THEMES = {"light": ("#1f2328", "#d1d9e0", "#0969da", "#6e7781"), "dark": ("#f0f6fc", "#3d444d", "#4493f8", "#9198a1")}
WIDTH, LEFT, RIGHT, TOP, BAR, GROUP = 760, 96, 150, 76, 18, 54


def measured(text):
    """Seconds of each side by the share of dead servers: ours, and the other's with its threads."""
    ours, theirs, share = {}, {}, None
    for line in text.splitlines():
        row = re.match(r"  (\S.*?) +([\d.]+) ms\b", line)
        if not row and line and not line.startswith(" "):
            # All in front, or a farm that never sleeps, is another measurement.
            title = re.fullmatch(r"(\d+) % (?:silent|dead, 1 s timeout)|none dead", line.strip())
            share = int(title[1] or 0) if title else None
        elif row and share in SHARES:
            name, seconds = row[1], float(row[2]) / 1000
            threads = re.fullmatch(r"rust gamedig, (\d+) threads", name)
            if threads:
                theirs[share] = min(theirs.get(share, (seconds, 0)), (seconds, int(threads[1])))
            elif re.fullmatch(r"--receive-buffer \d+( +--model)?", name):
                ours[share] = max(ours.get(share, 0), seconds)
    if missing := [share for share in SHARES if share not in ours or share not in theirs]:
        sys.exit(f"comparison.txt has no times of both for {missing} % dead")
    return ours, theirs


def words(seconds):
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.2f} s"


def picture(ours, theirs, theme):
    text, lines, own, other = THEMES[theme]
    height = TOP + GROUP * len(SHARES) + 34
    longest = max([*ours.values(), *(seconds for seconds, _ in theirs.values())])
    scale = (WIDTH - LEFT - RIGHT) / longest
    bottom = TOP + GROUP * len(SHARES) - 6
    about = "; ".join(
        f"{share} % dead: queryport {words(ours[share])}, rust gamedig {words(theirs[share][0])}" for share in SHARES)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img"'
           f' font-family="system-ui, sans-serif" font-size="13" fill="{text}">',
           f"<title>Seconds to query 10,000 Quake 3 servers. {about}</title>",
           f'<text x="{LEFT}" y="22" font-size="16" font-weight="600">Seconds to query 10,000 Quake 3 servers (shorter is better)</text>',
           f'<rect x="{LEFT}" y="37" width="12" height="12" fill="{own}"/><text x="{LEFT + 18}" y="48">queryport, one thread</text>',
           f'<rect x="{LEFT + 180}" y="37" width="12" height="12" fill="{other}"/>',
           f'<text x="{LEFT + 198}" y="48">rust gamedig 0.9.0, with the fastest number of threads</text>']
    step = 1 if longest > 1.5 else 0.5
    for number in range(int(longest / step) + 1):
        x = LEFT + number * step * scale
        out += [f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 12}" y2="{bottom}" stroke="{lines}"/>',
                f'<text x="{x:.1f}" y="{bottom + 16}" text-anchor="middle">{number * step:g} s</text>']
    for index, share in enumerate(SHARES):
        y = TOP + index * GROUP
        seconds, threads = theirs[share]
        out.append(f'<text x="{LEFT - 10}" y="{y + BAR + 4}" text-anchor="end">{share} % dead</text>')
        for at, length, colour, label in ((y, ours[share], own, words(ours[share])),
                                          (y + BAR + 2, seconds, other, f"{words(seconds)}, {threads:,} threads")):
            width = max(length * scale, 1)
            out += [f'<rect x="{LEFT}" y="{at}" width="{width:.1f}" height="{BAR}" fill="{colour}"/>',
                    f'<text x="{LEFT + width + 6:.1f}" y="{at + 14}">{label}</text>']
    return "\n".join([*out, "</svg>", ""])


def main():
    ours, theirs = measured((HERE / "comparison.txt").read_text())
    stale = []
    for theme in THEMES:
        path, svg = HERE / f"comparison-{theme}.svg", picture(ours, theirs, theme)
        if "--check" not in sys.argv[1:]:
            path.write_text(svg)
        elif not path.exists() or path.read_text() != svg:
            stale.append(path.name)
    if stale:
        sys.exit(f"{', '.join(stale)}: not of comparison.txt; run benches/comparison.py")


if __name__ == "__main__":
    main()
