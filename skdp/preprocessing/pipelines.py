"""Public bound on the rows that a pipeline makes, and a pipeline whose estimator takes that bound.

Pipeline of scikit-learn that tells the fits inside it which steps it holds.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Sequence
from typing import Any, Self

from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import FeatureUnion
from sklearn.pipeline import Pipeline as _Pipeline
from sklearn.pipeline import make_pipeline as _make_pipeline
from sklearn.preprocessing import Normalizer
from sklearn.utils.metaestimators import available_if

from .._messages import frames_to_caller
from ..exceptions import PrivacyWarning
from ..fitting._provenance import stand_around
from ..fitting.data import attempt
from ..inspection.checks import LEARNS, check
from ..privacy.events import Script

__all__ = ["bound_of", "make_pipeline"]


def _has(name: str) -> Any:
    """Return a test: does scikit-learn's pipeline have this method? Its last step decides."""
    return lambda pipeline: hasattr(super(Pipeline, pipeline), name)


class Pipeline(_Pipeline):  # type: ignore[misc]
    """Pipeline of scikit-learn that tells each fit inside it which steps stand around, and warns of steps that learn.

    `skdp.make_pipeline` makes it. Its steps, parameters, clones and results are those of scikit-learn's.
    """

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Fit all steps, as in scikit-learn."""
        warn_of_learning(self.steps)
        with stand_around(self, lambda: _quotes(self, X)):
            super().fit(X, y, **params)
        return self

    @available_if(_has("fit_transform"))  # type: ignore[untyped-decorator]
    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> Any:
        """Fit all steps, and return the rows as the last one transforms them, as in scikit-learn."""
        warn_of_learning(self.steps)
        with stand_around(self, lambda: _quotes(self, X)):
            return super().fit_transform(X, y, **params)

    @available_if(_has("fit_predict"))  # type: ignore[untyped-decorator]
    def fit_predict(self, X: Any, y: Any = None, **params: Any) -> Any:
        """Fit all steps, and return the predictions of the last one, as in scikit-learn."""
        warn_of_learning(self.steps)
        with stand_around(self, lambda: _quotes(self, X)):
            return super().fit_predict(X, y, **params)


def _quotes(pipeline: Any, X: Any) -> list[tuple[Any, Script]]:
    """Return the paying steps and the scripts of their fits, by the shape of the table and its mapped first row."""
    from ..model_selection._frame import quotes_along

    found: list[tuple[Any, Script]] | None = attempt(lambda: quotes_along(pipeline, X))[0]
    return found or []


def warn_of_learning(steps: Sequence[tuple[str, Any]]) -> None:
    """Warn of the steps in front of the last one that learn from the data without a receipt.

    Parameters
    ----------
    steps : sequence of (str, estimator)
        Of a pipeline.
    """
    front = (check(step) for _, step in steps[:-1])
    found = [step for part in front for step in part.steps if step.verdict == LEARNS]
    if found:
        named = ", ".join(dict.fromkeys(f"{step.kind} ({step.why})" for step in found))
        warnings.warn(
            f"NOT PRIVATE as a whole: the pipeline learns from the data without a receipt in {named}.",
            PrivacyWarning,
            stacklevel=frames_to_caller(),
        )


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
    if isinstance(step, _Pipeline):
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
    return Pipeline(named, memory=memory, verbose=verbose)


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
