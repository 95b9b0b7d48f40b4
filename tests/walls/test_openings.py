"""First lines of docstrings say what a thing is or does."""

import pytest
from walls.openings import by_room, names_nothing, openings

MOST = 5.0  # percent of the package's docstrings


def test_first_lines_name_what_they_describe():
    every, faults = by_room()
    found = [line for lines in faults.values() for line in lines]
    assert 100.0 * len(found) <= MOST * every.total(), "\n".join(found)


@pytest.mark.parametrize(
    "line",
    [
        "What each row weighs.",
        "Whether the budget covers the total.",
        "Of a record's scores.",
        "None: a batch has no proof.",
        "One event a run.",
        "The same in doubles.",
    ],
)
def test_a_relative_or_a_preposition_is_seen(line):
    assert names_nothing(line)


@pytest.mark.parametrize(
    "line",
    [
        "Return the weight of each row.",
        "One-shot release of list targets.",
        "Inner products of the rows.",
        "The same rows as before, in doubles.",
        "Total of the charges.",
        "In-place sum.",
    ],
)
def test_imperatives_and_noun_phrases_pass(line):
    assert not names_nothing(line)


def test_every_kind_of_docstring_is_read():
    source = (
        "'''A.'''\nclass B:\n    '''B.\n\n    More.\n    '''\n    def c(self):\n        '''C.'''\n"
        "async def d():\n    '''D.'''\ndef e():\n    pass\n"
    )
    assert sorted(openings(source)) == ["A.", "B.", "C.", "D."]
