"""Whatever is given for whichever parameter of whichever public estimator: it is taken, or refused in one sentence."""

import inspect
import math
import re
import warnings
from fractions import Fraction

import numpy as np
import pytest
from estimators.checked import checked
from sklearn.base import clone

from skdp.utils import all_estimators

STRANGE = {
    "object": object(),
    "type": dict,
    "text": "no such word",
    "no text": "",
    "bytes": b"auto",
    "huge": 10**400,
    "minus huge": -(10**400),
    "huge fraction": Fraction(10**400, 3),
    "nan": math.nan,
    "minus": -5,
    "minus infinity": -math.inf,
    "nothing": 0,
    "complex": 1j,
    "no list": [],
    "list of lists": [[1.0], [2.0, 3.0]],
    "objects": np.array([object(), None]),
    "function": len,
    "set": {1},
}
SENTENCE = re.compile(r"[^\n]{10,500}\.")
X, Y = np.linspace(-1.0, 1.0, 40).reshape(20, 2), np.arange(20) % 2
ONE_OF_EACH = {type(model): model for model in checked()}


def parameters():
    """(estimator, name) of every parameter of every public estimator."""
    return [
        pytest.param(kind, name, id=f"{label}-{name}")
        for label, kind in all_estimators()
        for name in inspect.signature(kind).parameters
        if kind in ONE_OF_EACH  # test_search.py has those of searches
    ]


def refusal(kind, name, value):
    """What is said of the value, None if it is taken; anything but a plain refusal is raised."""
    model = clone(ONE_OF_EACH[kind])
    setattr(model, name, value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model.quote(100, 2) if hasattr(model, "quote") else model.fit(X, Y)
        except (ValueError, TypeError) as error:
            assert error.__cause__ is None and error.__context__ is None, "drags another along"
            return str(error)
    return None


@pytest.mark.parametrize(("kind", "name"), parameters())
def test_a_strange_value_is_taken_or_refused_in_one_sentence(kind, name):
    said = {what: refusal(kind, name, value) for what, value in STRANGE.items()}
    assert said["object"] is not None, "an object was taken"
    for what, words in said.items():
        if words is not None:
            assert SENTENCE.fullmatch(words), f"{what}: {words}"
            assert not re.search(r"[.!?]\s+[A-Z]", words), f"{what}: more than a sentence: {words}"


def test_a_value_that_nobody_checks_is_missed(monkeypatch):
    kind = next(kind for kind in ONE_OF_EACH if kind.__name__ == "DPRidge")
    monkeypatch.setattr(kind, "_check_parameters", lambda self: None)
    with pytest.raises(Exception):  # noqa: B017
        test_a_strange_value_is_taken_or_refused_in_one_sentence(kind, "alpha")
