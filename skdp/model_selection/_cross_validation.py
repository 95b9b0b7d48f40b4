"""Cross-validation under the partition theorem (docs/proofs/partition.md).

Of K parts a record trains K - 1 models and is tested once, so what is told costs K - 1 fits and one score, and not K of
each. All tests are one release on the pooled outcomes, whose noise is that of one and not of K.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from numpy.typing import ArrayLike
from sklearn.base import clone

from ..entry import FoldedRecords
from ..exceptions import NotSupported
from ..fitting import PrivateEstimator
from ..metrics import Estimate
from ..metrics.scoring import scored
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
    probe = clone(estimator).set_params(ledger=None)
    pooled = FoldedRecords(probe, X, y, parts_of(cv, relation), groups)
    fits = [_quoted(probe, n, pooled.n_features) for n in pooled.counts()]
    scripts = [_but_one(fits, part) for part in range(len(fits))]
    spec = Spec(epsilon, estimator.delta, relation)
    given = {"ledger": ledger, "besides": _charged(scripts, fits), "random_state": random_state}
    found, receipt = scored(scoring, pooled, spec, level=level, **given)
    return Estimate(*found, level, scoring, _total(receipt, scripts, fits[0], len(fits)))


def _refuse_unfit(estimator: Any) -> None:
    """Refuse an estimator that the theorem, or the price beforehand, does not cover."""
    if not isinstance(estimator, PrivateEstimator) or not hasattr(estimator, "predict"):
        raise NotSupported(
            f"{type(estimator).__name__} is not a private classifier of skdp, so its fits have no price; score it on "
            "records that it was not fitted on with skdp.metrics.dp_score."
        )
    if getattr(estimator, "classes", None) is None:
        raise NotSupported("classes=None would take labels from each part; declare classes=.")
    if getattr(estimator, "max_rows_per_group", None) is not None:
        raise NotSupported(
            f"max_rows_per_group={estimator.max_rows_per_group!r} needs groups= in each fit, which cross-validation "
            "does not hand on; leave it None, and keep one row of each person."
        )
    if estimator.random_state is not None:
        raise NotSupported(
            f"random_state={estimator.random_state!r} would give all fits the same noise, and their costs would not "
            "add up; use None."
        )


def _quoted(estimator: Any, n: int | None, n_features: int) -> Receipt:
    quote: Receipt = estimator.quote(n, n_features)
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
