"""Where the package says the same twice: ``PYTHONPATH=tests python tests/walls/duplicates.py`` prints the places.

A run is six lines or more that stand to the letter in two places, blank lines, comments, imports and lone brackets left
out. Two files, or one with itself, are a pair however many runs they share.
"""

import ast
import re
from collections import defaultdict
from itertools import combinations

from walls.checks import modules, name_of

SHORTEST = 6
NOTHING = re.compile(r"#.*|[]()[{},:\"']*")


def imported(source):
    """Numbers of the lines that import."""
    found = [
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    return {line for node in found for line in range(node.lineno, node.end_lineno + 1)}


def counted(source):
    """(number, text) of the lines that count, white space folded."""
    left_out = imported(source)
    lines = enumerate(map(str.strip, source.split("\n")), start=1)
    return [
        (k, " ".join(t.split())) for k, t in lines if k not in left_out and not NOTHING.fullmatch(t)
    ]


def runs(sources):
    """Texts of SHORTEST lines -> the places, (name, first line), in which they stand."""
    found = defaultdict(list)
    for name, source in sources.items():
        lines = counted(source)
        for at in range(len(lines) - SHORTEST + 1):
            window = lines[at : at + SHORTEST]
            found[tuple(text for _, text in window)].append((name, window[0][0], window[-1][0]))
    return found


def pairs(sources):
    """(one file, the other) -> the runs that they share, as pairs of (first line, last line)."""
    found = defaultdict(list)
    for places in runs(sources).values():
        for (one, first, last), (other, start, end) in combinations(places, 2):
            if one != other or start > last:
                found[one, other].append(((first, last), (start, end)))
    return dict(found)


def package():
    """Source of each file of the package."""
    return {name_of(path): path.read_text(encoding="utf-8") for path in modules()}


def per_thousand_lines(sources):
    """Pairs of files that share a run, for each thousand lines."""
    return 1000.0 * len(pairs(sources)) / sum(source.count("\n") for source in sources.values())


if __name__ == "__main__":
    everything = package()
    for (one, other), shared in sorted(pairs(everything).items(), key=lambda kept: -len(kept[1])):
        (first, _), (start, _) = shared[0]
        print(f"{one}:{first} ~ {other}:{start}, {len(shared) + SHORTEST - 1} lines or so")
    print(f"{len(pairs(everything))} pairs, {per_thousand_lines(everything):.2f} per 1,000 lines")
