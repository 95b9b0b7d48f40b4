"""Every event refuses what is no number of its kind in one sentence, and what it takes has a price or a refusal."""

import math
from dataclasses import fields, replace
from functools import partial

import numpy as np
import pytest
from privacy.event_samples import SAMPLES, kinds, name

from skdp.exceptions import NotSupported
from skdp.privacy import delta, epsilon

HOSTILE = {
    "nan": math.nan,
    "infinity": math.inf,
    "minus infinity": -math.inf,
    "negative": -1,
    "next to nothing": 1e-300,
    "denormal": 5e-324,
    "huge": 1e308,
    "least": 1e-50,
    "below the least": 0.9e-100,
    "most": 1e100,
    "above the most": 1.1e100,
    "beyond doubles": 10**400,
    "text": "40",
    "word": "many",
    "nothing": None,
    "true": True,
    "empty": (),
    "a list": [1.0, 2.0],
    "of text": ("0.5", "0.5"),
    "complex": 1j,
    "an object": object(),
    "a dict": {"a": 1},
    "an array": np.array([[1.0]]),
    "half": 0.5,
    "zero": 0,
    "many": 2**60,
}
# Which are never a number, whatever the field means.
NO_NUMBER = (
    "nan",
    "minus infinity",
    "negative",
    "beyond doubles",
    "text",
    "word",
    "true",
    "complex",
)
SAID = 400  # letters


def with_value(event, field, value):
    """The event with another value in a field, alone or in each place of a tuple."""
    given = {f.name: getattr(event, f.name) for f in fields(event)}
    return type(event)(**{**given, field: value})


CASES = [(event, f.name) for event in SAMPLES for f in fields(event)]
IDS = [f"{name(event)}-{field}" for event, field in CASES]


def refusal(call):
    """What was said, where a value was refused; anything but a sentence about it fails."""
    try:
        return None, call()
    except (ValueError, NotSupported) as error:
        said = str(error)
    assert 10 < len(said) < SAID and "\n" not in said, said
    return said, None


def test_every_kind_of_event_is_here():
    assert set(kinds()) <= set(map(type, SAMPLES))


@pytest.mark.parametrize("event, field", CASES, ids=IDS)
@pytest.mark.parametrize("hostile", HOSTILE)
def test_a_hostile_value_is_refused_or_has_a_price(event, field, hostile):
    """No OverflowError, no TypeError, no NaN: neither where it is made, nor where it is priced."""
    value = HOSTILE[hostile]
    many = isinstance(getattr(event, field), tuple)
    for given in (value, (value,) * len(getattr(event, field))) if many else (value,):
        _, made = refusal(lambda given=given: with_value(event, field, given))
        if made is None:
            continue
        assert hash(made) == hash(replace(made)) and made == replace(made)
        for relation in ("replace_one", "add_remove", "label"):
            _, found = refusal(partial(epsilon, ((made, 1),), 1e-6, relation))
            assert found is None or found >= 0.0, f"epsilon={found}"
            _, found = refusal(partial(delta, ((made, 2),), 1.0, relation))
            assert found is None or 0.0 <= found <= 1.0, f"delta={found}"


@pytest.mark.parametrize("event, field", CASES, ids=IDS)
def test_what_is_no_number_of_its_field_is_never_taken(event, field):
    own = getattr(event, field)
    for hostile in NO_NUMBER:
        if isinstance(own, bool) and hostile == "true":
            continue
        said, made = refusal(lambda h=hostile: with_value(event, field, HOSTILE[h]))
        assert made is None and field in said, f"{hostile} was taken"
        if isinstance(own, tuple):
            of = (HOSTILE[hostile],) * len(own)
            assert refusal(lambda of=of: with_value(event, field, of))[1] is None


def test_numbers_of_numpy_are_numbers_of_python():
    for event, field in CASES:
        own = getattr(event, field)
        if isinstance(own, int | float) and not isinstance(own, bool):
            for given in (np.asarray(own), np.asarray(own)[()]):
                made = with_value(event, field, given)
                assert made == event and type(getattr(made, field)) is type(own)
