"""Without a seed from the user nothing is seeded: whatever a search or a fit makes inside draws noise of its own.

With a seed, of whichever kind, the receipt of each says so.
"""

import warnings
from contextlib import suppress
from unittest.mock import patch

import numpy as np
import pytest
from laws.promises import DECLARED, acts
from laws.records import table

from skdp import NotSupported
from skdp.mechanisms import Noise
from skdp.privacy import Receipt

__all__ = ["receipts_of", "seeds_of", "unseeded"]

EACH_NAME = "declared", "plain"  # one call of each, and more of what makes several fits
SEVERAL = "DPGridSearchCV", "DPRandomizedSearchCV", "dp_cross_val_score", "make_pipeline"


def unseeded():
    """Acts of all that promises, whose users give no seed."""
    with patch.dict(DECLARED, random_state=None):
        return {act.label: act for act in acts() if _is_tried(act.name)}


def _is_tried(name):
    kind, _, variant = name.partition(": ")
    return variant in EACH_NAME or (kind.startswith(SEVERAL) and "random_state" not in variant)


def seeds_of(act, seed=None):
    """Seed of each source of noise that a run of an act makes, whose user gives this one."""
    seeds, made = [], Noise.__init__

    def noted(self, seed=None):
        seeds.append(seed)
        made(self, seed)

    with (
        patch.dict(DECLARED, random_state=seed),
        patch.object(Noise, "__init__", noted),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        act.prepare()
        with suppress(NotSupported):  # of a relation, before anything is drawn
            act.run(table(0, act.size))
    return seeds


def receipts_of(seed, only=""):
    """Receipts of the first act of each name, or of one; of commands none, whose seeds are whole numbers."""
    found = {}
    with patch.dict(DECLARED, random_state=seed), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for act in acts(only):
            name = act.name.partition(": ")[0]
            if act.relation != "replace_one" or name in found or name.startswith("python"):
                continue
            act.prepare()
            found[name] = _receipts_in(act.run(table(0, act.size)))
            if only in found:
                break
    return found


def _receipts_in(thing):
    if isinstance(thing, Receipt):
        return [thing]
    inside = getattr(thing, "__dict__", ()) if type(thing).__module__.startswith("skdp") else thing
    parts = inside.values() if isinstance(inside, dict) else inside
    if not isinstance(inside, dict | list | tuple):
        return []
    return [receipt for part in parts for receipt in _receipts_in(part)]


ACTS = unseeded()


@pytest.mark.parametrize("label", ACTS)
def test_what_has_no_seed_makes_none(label):
    assert {*seeds_of(ACTS[label])} <= {None}


def test_a_seed_is_seen():
    """The law would see one: with a seed each of these fits has it, or one that was drawn from it."""
    seeded = next(act for act in acts("DPGridSearchCV: declared") if act.relation == "replace_one")
    found = seeds_of(seeded, 0)
    assert None not in found and len(set(found)) == len(found) > 2


def test_each_receipt_says_that_a_seed_was_given():
    """A seed is whatever scikit-learn takes for one, not a whole number alone: whoever knows it subtracts the noise."""
    found = receipts_of(np.random.RandomState(5))
    kept = {name: receipts for name, receipts in found.items() if receipts}
    assert len(kept) > 20 and {"DPGridSearchCV", "DPRandomizedSearchCV", "dp_score"} <= {*kept}
    assert [name for name, receipts in kept.items() if not all(r.seeded for r in receipts)] == []
