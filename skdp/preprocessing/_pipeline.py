"""Pipeline of scikit-learn that tells the fits inside it which steps it holds."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Self

from sklearn.pipeline import Pipeline as _Pipeline
from sklearn.utils.metaestimators import available_if

from .._messages import frames_to_caller
from ..exceptions import PrivacyWarning
from ..fitting._surroundings import stand_around
from ..fitting.data import attempt
from ..inspection.checks import LEARNS, check
from ..privacy.events import Script

__all__ = ["Pipeline", "warn_of_learning"]


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
    from ..model_selection._doors import quotes_along

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
