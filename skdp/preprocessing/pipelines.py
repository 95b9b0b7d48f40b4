"""Public bound on the rows that a pipeline makes, and a pipeline whose estimator takes that bound."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.pipeline import make_pipeline as _make_pipeline
from sklearn.preprocessing import Normalizer

from ._pipeline import Pipeline as _TellingPipeline
from ._pipeline import warn_of_learning

__all__ = ["bound_of", "make_pipeline"]


def bound_of(step: Any) -> float | None:
    """Public bound on the norm of the rows that leave a transformer, or None where it publishes none.

    The bound is one that is declared, never one that was seen. A private estimator cuts rows at its ``data_norm``
    whatever they hold, so a wrong bound would cost accuracy and no privacy.

    Parameters
    ----------
    step : transformer, Pipeline, ColumnTransformer or FeatureUnion
        With ``row_norm_``, or made of such.

    Returns
    -------
    float or None

    See Also
    --------
    make_pipeline : Hands it to the estimator.

    Examples
    --------
    >>> from sklearn.compose import ColumnTransformer
    >>> from skdp.preprocessing import BoundsScaler, DeclaredEncoder, bound_of
    >>> scaler, encoder = BoundsScaler({"age": (17, 90)}), DeclaredEncoder({"sex": ["f", "m"]})
    >>> both = ColumnTransformer([("n", scaler, ["age"]), ("c", encoder, ["sex"])])
    >>> round(bound_of(both), 6)
    1.414214
    """
    if isinstance(step, Pipeline):
        return _of_last([transformer for _, transformer in step.steps])
    if isinstance(step, ColumnTransformer):
        if step.remainder != "drop":
            return None
        weights = step.transformer_weights
        return _together(((name, part) for name, part, _ in step.transformers), weights)
    if isinstance(step, FeatureUnion):
        return _together(step.transformer_list, step.transformer_weights)
    if type(step) is Normalizer:
        return 1.0 if step.norm in ("l1", "l2") else None
    try:
        return float(step.row_norm_)
    except AttributeError:  # it has none, or none before fit
        return None


def make_pipeline(*steps: Any, memory: Any = None, verbose: bool = False) -> Pipeline:
    """Make a scikit-learn pipeline that tells its private estimators which steps stand around them.

    Where the last step has ``data_norm=None`` and `bound_of` knows the rows that come to it, a copy of that step with
    the bound is put in its place. Each time the pipeline fits, the receipts of the fits inside name the steps that
    learn from the data without a receipt of their own, as `skdp.check` finds them. A `PrivacyWarning` names those in
    front, now and at each fit. What is done to rows before the pipeline nobody can tell. Where a step sends fits to
    other processes or threads, their receipts say that nobody has told them.

    Parameters
    ----------
    *steps : estimators
        Transformers, and an estimator at the end.
    memory, verbose : object
        As in scikit-learn.

    Returns
    -------
    sklearn.pipeline.Pipeline
        A subclass of it.

    See Also
    --------
    bound_of : What is handed over.
    skdp.check : Says which steps learn from the data.

    Examples
    --------
    >>> import skdp
    >>> import pandas
    >>> from skdp.preprocessing import TableEncoder
    >>> fit = skdp.DPLogisticRegression(classes=[0, 1])
    >>> model = skdp.make_pipeline(TableEncoder({"age": [17, 90]}), fit)
    >>> model[-1].data_norm
    1.0
    >>> ages = pandas.DataFrame({"age": [20, 30, 40, 60] * 50})
    >>> model.fit(ages, [0, 1] * 100)[-1].privacy_.around
    ()
    """
    before: list[Any] = [*steps[:-1]]
    last: Any = steps[-1] if steps else None
    bound = _of_last(before)
    params = last.get_params() if hasattr(last, "get_params") else {}
    bare = [name for name in params if name.split("__")[-1] == "data_norm" and params[name] is None]
    if bound is not None and bare:
        last = clone(last).set_params(**dict.fromkeys(bare, bound))
    named = _make_pipeline(*before, *([] if last is None else [last])).steps
    warn_of_learning(named)
    return _TellingPipeline(named, memory=memory, verbose=verbose)


def _of_last(steps: list[Any]) -> float | None:
    """The bound of the last step that does something to rows."""
    for step in reversed(steps):
        if step in (None, "passthrough"):
            continue
        return bound_of(step)
    return None


def _together(parts: Iterable[tuple[str, Any]], weights: Any) -> float | None:
    """Blocks side by side: the root of the sum of squares."""
    squares = []
    for name, part in parts:
        if isinstance(part, str) and part == "drop":
            continue
        bound = bound_of(part)
        if bound is None:
            return None
        squares.append((bound * float((weights or {}).get(name, 1.0))) ** 2)
    return math.sqrt(math.fsum(squares)) * (1.0 + 1e-15) if squares else None
