"""The map is true: every room is on it, every place on it exists, and a fit passes its doors in that order."""

import re
import sys

import numpy as np
import pytest
from walls.checks import PACKAGE, ROOT

from skdp import DPLogisticRegression
from skdp.fitting._pricing import _remembered
from skdp.privacy import Ledger

PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
DOORS = re.findall(r"^\d+\. `(skdp/[\w/]+\.py)`, `([\w.]+)`", PAGE, re.MULTILINE)


def rooms_on(page):
    """Rooms that the table of rooms has a line for."""
    return set(re.findall(r"^\| `skdp/(\w+)/` \|", page, re.MULTILINE))


def passed(run):
    """(file, function) of this package's functions in the order of their first calls."""
    found, root, before = {}, str(ROOT), sys.getprofile()

    def note(frame, event, _):
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(str(PACKAGE)):
            found.setdefault((code.co_filename[len(root) + 1 :], code.co_qualname))

    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(before)
    return list(found)


def out_of_order(doors, walk):
    """Doors that a walk does not pass, or not after the one before."""
    places = {door: at for at, door in enumerate(walk)}
    found = [places.get(door, -1) for door in doors]
    return [door for door, at, last in zip(doors, found, [-1, *found]) if not at > last]


def test_every_room_is_on_the_map_and_every_room_on_it_exists():
    assert rooms_on(PAGE) == {path.parent.name for path in PACKAGE.glob("*/__init__.py")}


def test_every_place_on_the_map_exists():
    places = re.findall(r"`((?:skdp|tests|docs)/[\w./-]*)`", PAGE)
    links = [f"docs/{link}" for link in re.findall(r"\]\(([^)#]+)\)", PAGE)]
    assert len(places) > 30 and [p for p in (*places, *links) if not (ROOT / p).exists()] == []


@pytest.mark.filterwarnings("ignore:random_state=0 with a ledger:skdp.PrivacyWarning")
def test_a_fit_passes_the_doors_in_this_order():
    X, y = np.random.default_rng(0).normal(size=(50, 2)), np.arange(50) % 2
    model = DPLogisticRegression(
        solver="gd", data_norm=1.0, classes=[0, 1], ledger=Ledger(2.0, 1e-5), random_state=0
    )
    _remembered.cache_clear()  # a plan that was priced before is not calibrated again
    assert len(DOORS) > 10 and out_of_order(DOORS, passed(lambda: model.fit(X, y))) == []


def test_a_wrong_walk_is_noticed():
    walk = [("a.py", "f"), ("b.py", "g"), ("c.py", "h")]
    assert out_of_order(walk, walk) == []
    assert out_of_order([walk[1], walk[0]], walk) == [walk[0]]
    assert out_of_order([walk[0], ("d.py", "k")], walk) == [("d.py", "k")]
    assert rooms_on("| `skdp/attic/` | old things | |\n") == {"attic"}
