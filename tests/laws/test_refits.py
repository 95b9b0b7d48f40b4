"""A fit leaves what it would leave alone: nothing of what an earlier fit of the same estimator has bought stays.

The receipt of the later fit counts its own cost. A scale, weights or bounds of the earlier one beside it would be
released at no price, and read by `predict`. With `warm_start` a receipt is of both fits, and what stays is counted.
"""

import warnings
from collections.abc import Iterator
from typing import Any

import pytest
from laws.answers_held import differences
from laws.promises import fit_as, variants_of
from laws.records import FEW, LIST, table
from laws.variants import Variant
from sklearn.base import clone

from skdp.naive_bayes import DPGaussianNB
from skdp.utils import all_estimators

RELATION = "replace_one"
ESTIMATORS = dict(all_estimators())


def left_by(model: Any, variant: Variant, seed: int) -> dict[str, Any]:
    """All that a fit leaves, on records of its own; a refusal leaves as its sentence."""
    given = table(seed, 3 * LIST if variant.size == LIST else FEW)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return fit_as(model, variant, RELATION, given)
        except (ValueError, TypeError) as refused:
            return {"refused": f"{type(refused).__name__}: {refused}"}


def complaints(kind: type) -> Iterator[str]:
    """What stays of a usual fit in one in another way after it; and of that, in a usual one after it."""
    (usual, model), *others = (pair for pair in variants_of(kind, RELATION) if not pair[0].paid)
    alone = left_by(clone(model), usual, 1)
    assert "refused" not in alone
    for variant, other in others:
        if getattr(other, "warm_start", False):
            continue
        both = clone(model)
        left_by(both, usual, 0)
        both.set_params(**clone(other).get_params(deep=False))
        found = unlike(left_by(clone(other), variant, 1), left_by(both, variant, 1))
        yield from (f"{variant.name} after a usual fit: {told}" for told in found)
        both.set_params(**clone(model).get_params(deep=False))
        found = unlike(alone, left_by(both, usual, 1))
        yield from (f"a usual fit after {variant.name}: {told}" for told in found)


def unlike(expected: dict[str, Any], found: dict[str, Any]) -> list[str]:
    """What two fits have left differently; the order of attributes is that of their first fit."""
    return differences(dict(sorted(expected.items())), dict(sorted(found.items())), "left")


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_fit_leaves_nothing_of_an_earlier_one(name):
    assert list(complaints(ESTIMATORS[name])) == []


class KeepsScales(DPGaussianNB):
    """Forgets to forget scales that an earlier fit has bought."""

    def _keep_scales(self, known, norm):
        if known.bounds is not None:
            super()._keep_scales(known, norm)


def test_a_twin_that_keeps_scales_is_found():
    assert any("bounds_" in told for told in complaints(KeepsScales))
