"""Other values of the parameters of estimators, found by what stands there and by what a refusal offers."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from laws.records import COLUMNS

from skdp.utils import all_estimators

__all__ = ["others", "parameters_of"]

# Values that do not follow from the default's type.
TOLD: dict[str, list[Any]] = {
    "interactions": [[("x0", "x1")]],
    "coef_init": [np.full(COLUMNS, 0.1)],
    "intercept_init": [0.1],
    "hidden_layer_sizes": [(3, 2)],
}
# Which table, promise and noise: what the acts themselves vary.
OF_THE_ACTS = {"epsilon", "delta", "neighbors", "ledger", "random_state", "verbose", "warm_start"}
OF_THE_ACTS |= {"classes", "declaration", "categories", "privacy_unit", "solver", "n_public"}
MANY = 4  # values of one parameter


def parameters_of(kind: type) -> Iterator[str]:
    """Parameters with another value to try: each at the first estimator of all that share its declaration."""
    for name, given in inspect.signature(kind).parameters.items():
        if given.default is given.empty or name in OF_THE_ACTS:
            continue
        if name in TOLD or given.default != ():
            sharing = [k for _, k in all_estimators() if _owner(k, name) is _owner(kind, name)]
            if sharing[0] is kind:
                yield name


def _owner(kind: type, name: str) -> type | None:
    declared = (one for one in kind.__mro__ if name in inspect.get_annotations(one))
    return next(declared, None)


def others(value: Any, name: str, refusal: Callable[[Any], str]) -> list[Any]:
    """Other values than the one that stands; `refusal` tells what is said of a value, or nothing."""
    if name in TOLD:
        return TOLD[name]
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, str):
        return _words(refusal, value)
    if value is None:
        tried = [*_words(refusal, value), 0.5, 3, (0.1, 0.2)]
        return [one for one in tried if not refusal(one)][:MANY]
    assert isinstance(value, int | float), f"say in other_values.py what other {name} there are"
    if isinstance(value, int):
        return [max(1, value // 2), 2 * value]
    return [0.5 * value, 2.0 * value] if value else [0.1]


def _words(refusal: Callable[[Any], str], stands: Any) -> list[str]:
    """The names that the refusal of a nonsensical one offers."""
    told = refusal("nonsense").replace("'nonsense'", "", 1)
    return [word for word in sorted(set(re.findall(r"'([\w-]+)'", told))) if word != stands][:MANY]
