"""A total says no less than any receipt that it counts, and counts each: also those of fits without noise."""

import math
import warnings
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import skdp
from skdp import DPLogisticRegression
from skdp.metrics import dp_score
from skdp.preprocessing import DPBounds
from skdp.privacy import epsilon

rng = np.random.default_rng(0)
X = rng.uniform(-0.5, 0.5, (60, 2))
Y = (X[:, 0] > 0).astype(int)
PROMISES = {
    "usual": {"epsilon": 0.5, "delta": 1e-6},
    "at another delta": {"epsilon": 0.5, "delta": 1e-9},
    "pure": {"epsilon": 0.5, "delta": 0.0},
    "without noise": {"epsilon": math.inf},
}
HELD = {
    "list": list,
    "dict": lambda both: dict(enumerate(both)),
    "array": lambda both: np.array([*both, None], dtype=object),
    "inside": lambda both: (both[:1], {"rest": [both[1:]]}),
}


def fitted(promise):
    model = DPLogisticRegression(data_norm=1.0, classes=[0, 1], **PROMISES[promise])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, Y)


def pipeline(promise, bought):
    """Scales that are bought by one promise, in front of a fit by another."""
    scale = DPBounds(**PROMISES[bought])
    last = DPLogisticRegression(classes=[0, 1], **PROMISES[promise])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return skdp.make_pipeline(scale, last).fit(X, Y)


def complaints(total, model, receipts):
    """What a total leaves out."""
    found = total(model)
    if {id(receipt) for receipt in found.receipts} != set(map(id, receipts)):
        yield "a receipt is not counted"
    if f"{len(receipts)} fit" not in str(found):
        yield "the text tells another number of fits"
    alone = [epsilon(one.script, found.delta, one.neighbors) for one in receipts]
    if not found.epsilon >= max(alone) * (1.0 - 1e-9):
        yield "less than one fit costs by itself"
    if any(math.isinf(one.epsilon) for one in receipts) and found.epsilon < math.inf:
        yield "finite, though a fit had no noise"


@pytest.mark.parametrize("held", HELD)
@pytest.mark.parametrize("promises", [*product(PROMISES, repeat=2)], ids=", ".join)
def test_a_total_counts_every_fit(promises, held):
    both = [fitted(promise) for promise in promises]
    receipts = [model.privacy_ for model in both]
    assert list(complaints(skdp.total, HELD[held](both), receipts)) == []


@pytest.mark.parametrize("bought", ["usual", "without noise"])
@pytest.mark.parametrize("promise", PROMISES)
def test_a_total_counts_every_step(promise, bought):
    model = pipeline(promise, bought)
    assert list(complaints(skdp.total, model, [step.privacy_ for step in model])) == []


def figures():
    """Receipts of two figures: they name no model, so that those of one day are equal, and each has been paid."""
    model = fitted("usual")
    receipts = [replace(dp_score(model, X, Y).privacy, date="2026-11-20") for _ in range(2)]
    assert receipts[0] == receipts[1]
    return receipts


@pytest.mark.parametrize("held", HELD)
def test_a_total_counts_every_figure(held):
    receipts = figures()
    assert list(complaints(skdp.total, HELD[held](receipts), receipts)) == []


def of_different_ones(model):
    return skdp.total(list(dict.fromkeys(skdp.total(model).receipts)))


def test_a_total_is_a_page_with_each_receipt_folded():
    both = skdp.total([fitted("usual"), fitted("at another delta")])
    page = both._repr_html_()
    assert str(both) in page and page.count("class='skdp-receipt'") == 2
    assert page.index("1: epsilon = 0.5 at delta = 1e-06") < page.index("2: epsilon = 0.5 at")


def test_a_total_that_counts_equal_receipts_once_is_found():
    receipts = figures()
    assert list(complaints(of_different_ones, receipts, receipts))


def of_those_with_noise(model):
    found = skdp.total(model)
    private = tuple(one for one in found.receipts if one.epsilon < math.inf)
    rest = skdp.total(list(private))
    return replace(rest, delta=found.delta)


def of_unlike_ones(model):
    return skdp.total(list({one.script: one for one in skdp.total(model).receipts}.values()))


@pytest.mark.parametrize(
    ("total", "promise", "other"),
    [(of_those_with_noise, "usual", "without noise"), (of_unlike_ones, "usual", "usual")],
)
def test_a_total_that_leaves_a_fit_out_is_found(total, promise, other):
    both = [fitted(promise), fitted(other)]
    assert list(complaints(total, both, [model.privacy_ for model in both]))
