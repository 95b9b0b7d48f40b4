"""Cross-validation under the partition theorem (docs/proofs/partition.md).

Of K parts a record trains K - 1 models and is tested once, so what is told costs K - 1 fits and one score, and not K of
each. All tests are one release on the pooled outcomes, whose noise is that of one and not of K.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from ..exceptions import NotSupported
from ..fitting import PrivateEstimator
from ..fitting.data import Array, table
from ..fitting.trials import quietly
from ..mechanisms._shared_memory import copy_if_shared
from ..metrics import Estimate
from ..metrics.scoring import Held, codes_of, of_nobody, refuse_without, scored
from ..privacy import Ledger, Receipt, Spec, choose
from ..privacy import epsilon as price_of
from ..privacy.events import Script, merged
from ._folds import parts_of

__all__ = ["dp_cross_val_score"]


def dp_cross_val_score(
    estimator: Any,
    X: ArrayLike,
    y: ArrayLike,
    *,
    cv: Any = 2,
    groups: ArrayLike | None = None,
    scoring: str = "accuracy",
    epsilon: float = 1.0,
    level: float = 0.95,
    ledger: Ledger | None = None,
    random_state: Any = None,
) -> Estimate:
    """Cross-validate a private classifier, with differential privacy for fits and score together.

    Every record trains all models but one and is scored by that one. Only the score is told; the receipt holds what a
    record pays for all fits that it is in, and for the score. At a fixed total, a hold-out of a fifth leaves more for
    the fit than any number of folds. An area under a ROC curve is that of the pooled scores of all models.

    Parameters
    ----------
    estimator : estimator
        A private classifier with declared ``classes`` and a solver whose script is fixed. Each fit costs its
        ``epsilon`` at its ``delta``; its relation is that of all.
    X : array-like of shape (n_samples, n_features)
        Rows.
    y : array-like of shape (n_samples,)
        Their labels.
    cv : int, PositionFold or KeyFold
        Parts that no neighbour moves another record between; a number stands for `PositionFold`.
    groups : array-like of shape (n_samples,), optional
        Keys of the records, for `KeyFold`.
    scoring : str
        As in `skdp.metrics.dp_score`.
    epsilon : float
        What the score costs, at the estimator's delta, beside the fits.
    level : float
        Coverage of the interval.
    ledger : Ledger or None
        Charged once for all, before a record is touched; the estimator's own is left alone. Without one, a
        budget in scope pays.
    random_state : int, RandomState or None
        A seed for the score, for tests; fits are seeded by the estimator's, which has to be None in earnest.

    Returns
    -------
    Estimate
        Of models fitted on all parts but one. The interval holds sampling of test records and noise, and takes the
        models as they are.

    See Also
    --------
    skdp.metrics.dp_score : With records that were held out.
    PositionFold : Parts under replace-one neighbours.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp import DPLogisticRegression
    >>> from skdp.model_selection import dp_cross_val_score
    >>> X = np.random.default_rng(0).uniform(-0.5, 0.5, (2000, 3))
    >>> y = (X[:, 0] > 0).astype(int)
    >>> model = DPLogisticRegression(data_norm=1.0, classes=[0, 1], solver="gd")
    >>> found = dp_cross_val_score(model, X, y)
    >>> found.low < found.value < found.high
    True
    >>> round(found.privacy.epsilon, 2)  # one fit of 1 and a score of 1
    1.45
    """
    _refuse_unfit(estimator)
    relation = estimator.neighbors
    folds = list(parts_of(cv, relation).split(X, None, groups))
    probe = clone(estimator).set_params(ledger=None)
    rows = table(probe, X, reset=True)
    labels, spec = copy_if_shared(np.asarray(y)), Spec(epsilon, estimator.delta, relation)
    fits = [_quoted(probe, len(train), rows.shape[1]) for train, _ in folds]
    scripts = [_but_one(fits, part) for part in range(len(folds))]
    classes = np.unique(np.asarray(estimator.classes))
    codes = codes_of(y, classes, len(rows), relation)
    pooled = _Pooled(probe, rows, labels, classes, codes, folds)
    given = {"ledger": ledger, "besides": _charged(scripts, fits), "random_state": random_state}
    found, receipt = scored(scoring, pooled, spec, level=level, **given)
    return Estimate(*found, level, scoring, _total(receipt, scripts, fits[0], len(folds)))


def _refuse_unfit(estimator: Any) -> None:
    """Refuse an estimator that the theorem, or the price beforehand, does not cover."""
    if not isinstance(estimator, PrivateEstimator) or not hasattr(estimator, "predict"):
        raise NotSupported(
            f"{type(estimator).__name__} is not a private classifier of skdp, so its fits have no price; score it on "
            "records that it was not fitted on with skdp.metrics.dp_score."
        )
    if getattr(estimator, "classes", None) is None:
        raise NotSupported("classes=None would take labels from each part; declare classes=.")
    if estimator.random_state is not None:
        raise NotSupported(
            f"random_state={estimator.random_state!r} would give all fits the same noise, and their costs would not "
            "add up; use None."
        )


def _quoted(estimator: Any, n: int, n_features: int) -> Receipt:
    known = n if estimator.neighbors == "replace_one" else None
    quote: Receipt = estimator.quote(known, n_features)
    if quote.unspent is not None:
        raise NotSupported(
            f"{quote.solver} asks questions that depend on answers, so its script is not fixed beforehand; use "
            "solver='auto' or 'gd'."
        )
    return quote


def _but_one(fits: list[Receipt], part: int) -> Script:
    """Return the script that a record of this part pays for fits: all but the one that leaves its part out."""
    return merged(run for i, fit in enumerate(fits) if i != part for run in fit.script)


def _charged(scripts: list[Script], fits: list[Receipt]) -> Script:
    """Return the script that a ledger is charged for the fits.

    It is that of all fits where parts cost differently, which covers each part.
    """
    same = all(script == scripts[0] for script in scripts)
    return scripts[0] if same else merged(run for fit in fits for run in fit.script)


def _total(score: Receipt, scripts: list[Script], fit: Receipt, k: int) -> Receipt:
    """The receipt of the part that pays most."""
    whole = [merged((*script, *score.script)) for script in scripts]
    prices = [price_of(script, score.delta, score.neighbors) for script in whole]
    worst = max(range(len(whole)), key=prices.__getitem__)
    note = f"{k} parts: a record is in {k - 1} of the fits and in one test; the price covers both"
    return replace(
        score,
        epsilon=prices[worst],
        script=whole[worst],
        accountant=choose(whole[worst], score.neighbors, score.delta),
        solver=f"{score.solver} of {k} fits by {fit.solver}",
        proofs=tuple(dict.fromkeys((*fit.proofs, *score.proofs, "partition"))),
        notes=(*score.notes, note),
        declared={**fit.declared, **score.declared, "parts": k},
    )


@dataclass(frozen=True, eq=False)
class _Pooled:
    """Outcomes of all records, each by the model that has not seen it; fits run when they are first asked for."""

    estimator: Any
    X: Array
    y: Array
    classes: Array
    codes: Array
    folds: list[tuple[Array, Array]]

    def public_count(self) -> int | None:
        """Number of records, where it may be known."""
        return int(self.X.shape[0]) if self.estimator.neighbors == "replace_one" else None

    def refuse_without(self, what: str) -> None:
        """Refuse an estimator that has no such outcomes."""
        refuse_without(self.estimator, what)

    def predicted(self) -> Array:
        """Places of the predicted labels."""
        return self._of("predicted")

    def probabilities(self) -> Array:
        """Return the probability of every class."""
        return self._of("probabilities")

    def scores(self) -> Array:
        """Return the score of the second class."""
        return self._of("scores")

    def _of(self, what: str) -> Array:
        found = of_nobody(what, self.X.shape[0], len(self.classes))
        for train, test in self.folds:
            # By keys all records may fall into one part: what fits on none would raise would tell of that.
            # Nor is told what else a fit of some records raises or warns: they have been paid for, and it is no answer.
            told = quietly(partial(self._told, what, train, test)) if len(train) else None
            if told is not None:
                found[test] = told
        return found

    def _told(self, what: str, train: Array, test: Array) -> Array:
        """Outcomes of one part by the model of the others."""
        model = clone(self.estimator).fit(self.X[train], self.y[train])
        alone = self.estimator.neighbors != "replace_one"
        held = Held(model, self.X[test], self.codes[test], self.classes, alone)
        return np.asarray(getattr(held, what)())
