"""First words of docstrings: ``PYTHONPATH=tests python tests/walls/openings.py`` prints the share of each room.

A first line is an imperative or a noun phrase. One that begins with a relative ("What each row weighs"), a bare
"whether", a preposition ("Of a record's scores"), or "the same" without "as" leaves its noun to be guessed.
"""

import ast
import re
from collections import Counter

from walls.checks import modules, name_of

RELATIVES = "How|That|Those|What|Whatever|When|Where|Whether|Which|Who|Whom|Whose|Why"
PREPOSITIONS = (
    "About|Above|Across|After|Against|Along|Among|Around|As|At|Before|Behind|Below|Beside|Besides|Between|Beyond|By|"
    "During|For|From|In|Inside|Into|Like|Of|On|Onto|Out|Outside|Over|Per|Since|Through|To|Toward|Towards|Under|Until|"
    "Up|Upon|Via|With|Within|Without"
)
OTHERS = "Although|Because|If|None|Nothing|Once|One|So|Though|Unless|While"
NAMES_NOTHING = re.compile(
    rf"(?:(?:{RELATIVES}|{PREPOSITIONS}|{OTHERS})(?![-\w])|The same\b(?!.*\bas\b))"
)
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def openings(source):
    """First line of every docstring of a file."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node):
            yield ast.get_docstring(node).splitlines()[0]


def names_nothing(line):
    """Return whether a first line begins with a relative, a preposition or the like."""
    return NAMES_NOTHING.match(line) is not None


def by_room():
    """Docstrings of each room, and those whose first line names nothing."""
    every, faults = Counter(), {}
    for path in modules():
        room = name_of(path).split("/")[0]
        lines = list(openings(path.read_text(encoding="utf-8")))
        every[room] += len(lines)
        faults.setdefault(room, []).extend(
            f"{name_of(path)}: {x}" for x in lines if names_nothing(x)
        )
    return every, faults


if __name__ == "__main__":
    docstrings, wrong = by_room()
    total = sum(map(len, wrong.values()))
    print(f"{total} of {docstrings.total()}: {100 * total / docstrings.total():.1f} %")
    for folder, count in docstrings.most_common():
        print(f"{folder:20} {len(wrong[folder]):4} of {count:4}")
