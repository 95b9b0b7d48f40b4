"""Things are short enough to be read at once, and public names show what they do."""

import doctest

import pytest
from walls.sizes import (
    bodies,
    documented,
    files,
    leads_somewhere,
    lengths,
    percentile,
    public_names,
    runnable,
    see_also,
    shares,
)

NAMES = public_names()
LONGEST = {"body median": 5, "body p90": 15, "body max": 40, "file p90": 420}
LONGEST_FILE = 600
LEAST = {"documented": 100, "example": 60, "see also": 40}


@pytest.mark.parametrize("what", LONGEST)
def test_length(what):
    assert lengths()[what] <= LONGEST[what]


def test_no_file_is_longer_than_one_reads_at_once():
    assert not {name: lines for name, lines in files().items() if lines > LONGEST_FILE}


@pytest.mark.parametrize("what", LEAST)
def test_share_of_public_names(what):
    assert shares(NAMES)[what] >= LEAST[what]


@pytest.mark.parametrize("name", NAMES)
def test_see_also_leads_somewhere(name):
    lost = [other for other in see_also(NAMES[name]) if not leads_somewhere(other, NAMES[name])]
    assert lost == []


class _Shown:
    """Has both.

    See Also
    --------
    Loss : Found beside it.
    skdp.losses.Nowhere : Is not.

    Examples
    --------
    >>> 1 + 1
    2
    """


class _Silent:
    """Has neither.

    Examples
    --------
    >>> 1 + 1  # doctest: +SKIP
    2
    """


def test_what_is_counted_can_be_missing():
    assert list(bodies("def f():\n    '''Doc.'''\n    x = 1\n\n    return x\n")) == [3]
    assert percentile(range(1, 11), 90) == 9 and percentile([7], 90) == 7
    assert runnable(_Shown) and not runnable(_Silent)
    assert doctest.DocTestParser().get_examples(_Silent.__doc__)
    assert see_also(_Shown) == ["Loss", "skdp.losses.Nowhere"] and not see_also(_Silent)
    assert not leads_somewhere("skdp.losses.Nowhere", _Shown)
    assert not leads_somewhere("skdp.nowhere.Loss", _Shown)
    assert leads_somewhere("skdp.losses.Loss", _Shown)
    assert shares({"one": _Shown, "two": _Silent})["example"] == 50.0
    assert not documented(type("_Bare", (_Shown,), {}))
