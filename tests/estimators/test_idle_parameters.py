"""No parameter of a transformer, or of an estimator without a solver, is silently ignored.

Another value changes what a fit leaves, its receipt or what is made of public rows, or it is refused.
"""

import inspect
import warnings
from functools import cache

import numpy as np
import pytest
from laws.other_values import OF_THE_ACTS, others
from laws.promises import _rows_for, built, fit_as
from laws.records import FEW, table
from laws.variants import Variant, takes_holes

from skdp.naive_bayes import DPGaussianNB
from skdp.preprocessing import BoundsScaler, DPBounds
from skdp.utils import all_estimators

# A search, or a model that a table is handed to, is none of its own parameters' making.
HANDED_ON = {"estimator", "model"}
# Which rows are a person's, and what each weighs, is told by arguments of `fit` that are not given here.
TOLD_BESIDE = {"max_rows_per_group", "max_sample_weight"}
TOLD = {"priors": [[0.2, 0.8]], "size": [5]}  # values that do not follow from the default's type


def parameters_of(kind):
    """Names of the parameters with another value to try."""
    known = inspect.signature(kind).parameters
    if known.keys() & {"solver", *HANDED_ON}:
        return []
    return [
        name
        for name, one in known.items()
        if one.default is not one.empty and name not in OF_THE_ACTS | TOLD_BESIDE
    ]


CASES = [(name, kind, one) for name, kind in all_estimators() for one in parameters_of(kind)]


@cache
def given():
    """Few records."""
    return table(3, FEW)


def with_holes(rows):
    """Rows of which some cells are missing, and some are no declared number or word."""
    if isinstance(rows, np.ndarray):
        rows = rows.copy()
        rows[::5, 2] = np.nan
        return rows
    place = np.arange(len(rows))
    rows = rows.where(np.broadcast_to(place[:, None] % 5 > 0, rows.shape))
    return rows.assign(word=rows["word"].where(place % 7 > 0, "other"))


def outcome(kind, extra):
    """What leaves a fit, and what is made of the rows; the refusal where a value is refused."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = built(kind, "replace_one", extra)
        rows_of = with_holes if takes_holes(model) else lambda rows: rows
        try:
            left = fit_as(model, Variant("as it is", {}, rows_of=rows_of), "replace_one", given())
            rows = rows_of(_rows_for(model, given()))
            ways = "transform", "predict", "decision_function", "predict_proba"
            made = [np.asarray(getattr(model, way)(rows)) for way in ways if hasattr(model, way)]
        except (ValueError, TypeError) as refusal:
            return f"{type(refusal).__name__}: {refusal}"
    receipt = left.pop("privacy_", None)  # whose model is a digest of all parameters
    paid = None if receipt is None else (receipt.script, receipt.declared, receipt.epsilon)
    return repr((sorted(left.items()), paid)).encode(), *(one.tobytes() for one in made)


def does_nothing(kind, name):
    """Tell whether every other value of a parameter changes nothing and is taken."""
    default = inspect.signature(kind).parameters[name].default
    stands = outcome(kind, {})
    assert not isinstance(stands, str), stands

    def refusal(value):
        said = outcome(kind, {name: value})
        return said if isinstance(said, str) else ""

    tried = TOLD.get(name) or others(default, name, refusal)
    assert tried, f"say here what other {name} there are"
    return all(outcome(kind, {name: value}) == stands for value in tried)


@pytest.mark.parametrize("name, kind, parameter", CASES)
def test_no_parameter_is_idle(name, kind, parameter):
    assert not does_nothing(kind, parameter)


class Idle(DPBounds):
    """A parameter that nothing reads."""

    warmth: float = 0.5


class IdlePriors(DPGaussianNB):
    """One that is kept, and not used."""

    warmth: float = 0.5


@pytest.mark.parametrize("kind", [Idle, IdlePriors])
def test_an_idle_parameter_is_found(kind):
    assert does_nothing(kind, "warmth")
    assert not does_nothing(BoundsScaler, "missing")
