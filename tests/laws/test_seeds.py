"""Without a seed from the user nothing is seeded: whatever a search or a fit makes inside draws noise of its own."""

import warnings
from contextlib import suppress
from unittest.mock import patch

import pytest
from laws.promises import DECLARED, acts
from laws.records import table

from skdp import NotSupported
from skdp.mechanisms import Noise

__all__ = ["seeds_of", "unseeded"]

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


ACTS = unseeded()


@pytest.mark.parametrize("label", ACTS)
def test_what_has_no_seed_makes_none(label):
    assert {*seeds_of(ACTS[label])} <= {None}


def test_a_seed_is_seen():
    """The law would see one: with a seed each of these fits has it, or one that was drawn from it."""
    seeded = next(act for act in acts("DPGridSearchCV: declared") if act.relation == "replace_one")
    found = seeds_of(seeded, 0)
    assert None not in found and len(set(found)) == len(found) > 2
