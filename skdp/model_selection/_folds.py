"""Folds for which the partition theorem holds: a neighbour never changes the part of another record.

scikit-learn's own break it. Stratified folds move hundreds of records where one label is changed; `KFold` moves those
at the ends of parts where a record is added or removed, and nearly all if it shuffles.

Cross-validation under the partition theorem (docs/proofs/partition.md).

Of K parts a record trains K - 1 models and is tested once, so what is told costs K - 1 fits and one score, and not K of
each. All tests are one release on the pooled outcomes, whose noise is that of one and not of K.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from ..entry import FoldedRecords
from ..exceptions import NotSupported
from ..fitting import PrivateEstimator
from ..fitting.data import ids_of
from ..metrics import Estimate
from ..metrics.scoring import scored
from ..privacy import Ledger, Receipt, Spec, choose
from ..privacy import epsilon as price_of
from ..privacy.events import Script, merged

__all__ = ["KeyFold", "PositionFold", "dp_cross_val_score", "parts_of"]


Index = NDArray[np.intp]


class _Folds:
    """Methods of scikit-learn's splitters, from the part of every record."""

    relation: ClassVar[str]

    def __init__(self, n_splits: int, seed: int) -> None:
        if type(n_splits) is not int or n_splits < 2:
            raise ValueError(f"n_splits={n_splits!r} must be a whole number, 2 or more.")
        if type(seed) is not int or not 0 <= seed < 1 << 64:
            raise ValueError(f"seed={seed!r} must be a whole number from 0 to 2**64 - 1.")
        self.n_splits, self.seed = n_splits, seed

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Number of parts."""
        return self.n_splits

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Index, Index]]:
        """Rows to train on and rows to test on, part by part.

        Parameters
        ----------
        X : array-like
            Only its length is read.
        y : object
            Ignored: a fold that reads labels breaks the theorem.
        groups : array-like, optional
            Keys of the records, for `KeyFold`.

        Yields
        ------
        train, test : ndarray
            Of indices.
        """
        parts = self._parts(int(np.shape(X)[0]), groups)
        for part in range(self.n_splits):
            yield np.flatnonzero(parts != part), np.flatnonzero(parts == part)

    def _parts(self, n: int, groups: Any) -> Index:
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__}(n_splits={self.n_splits}, seed={self.seed})"


class PositionFold(_Folds):
    """Parts by position, for replace-one neighbours: a replaced record keeps its place.

    Positions are shuffled by a public seed and divided as evenly as can be.

    Parameters
    ----------
    n_splits : int
        Number of parts.
    seed : int
        Of the shuffle, which depends on it and on the number of records alone.

    See Also
    --------
    KeyFold : For add/remove neighbours.
    dp_cross_val_score : What it is for.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.model_selection import PositionFold
    >>> [len(test) for _, test in PositionFold(3).split(np.zeros((10, 2)))]
    [4, 3, 3]
    """

    relation: ClassVar[str] = "replace_one"

    def __init__(self, n_splits: int = 2, seed: int = 0) -> None:
        super().__init__(n_splits, seed)

    def _parts(self, n: int, groups: Any) -> Index:
        if groups is not None:
            raise NotSupported("PositionFold knows no groups; use KeyFold with keys as groups.")
        if n < self.n_splits:
            raise ValueError(
                f"n_splits={self.n_splits} is more than the {n} records; use fewer parts."
            )
        parts = np.empty(n, dtype=np.intp)
        parts[np.argsort(_mixed(n, self.seed), kind="stable")] = np.arange(n) % self.n_splits
        return parts


class KeyFold(_Folds):
    """Parts by a record's own key, for add/remove neighbours: who comes or goes moves nobody else.

    Records with equal keys, such as those of one person, are in one part.

    Parameters
    ----------
    n_splits : int
        Number of parts.
    seed : int
        Of the keyed hash (BLAKE2b).

    See Also
    --------
    PositionFold : For replace-one neighbours.
    dp_cross_val_score : What it is for.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.model_selection import KeyFold
    >>> keys = ["ann", "bob", "ann", "eve"]
    >>> train, test = next(KeyFold(2).split(np.zeros((4, 2)), groups=keys))
    >>> {keys[i] for i in train} & {keys[i] for i in test}
    set()
    """

    relation: ClassVar[str] = "add_remove"

    def __init__(self, n_splits: int = 2, seed: int = 0) -> None:
        super().__init__(n_splits, seed)

    def _parts(self, n: int, groups: Any) -> Index:
        if groups is None:
            raise ValueError(
                "KeyFold needs groups: the key of each record, such as its person's id."
            )
        keys = ids_of(groups).ravel().tolist()
        if len(keys) != n:
            raise ValueError("groups must hold one key for each record.")
        return np.array([self._part(key) for key in keys], dtype=np.intp)

    def _part(self, key: Any) -> int:
        """Return the part of a key by its type and text; keys are whole numbers or strings."""
        if type(key) not in (int, str):
            raise ValueError("Keys must be whole numbers or strings.")
        told = f"{type(key).__name__}:{key}".encode()
        mark = hashlib.blake2b(told, key=self.seed.to_bytes(8, "big"), digest_size=16).digest()
        return int.from_bytes(mark, "big") % self.n_splits


def parts_of(cv: Any, neighbors: str) -> _Folds:
    """The splitter, where the theorem holds for it under this relation."""
    if isinstance(cv, int) and not isinstance(cv, bool) and neighbors == "replace_one":
        return PositionFold(cv)
    if type(cv) in (PositionFold, KeyFold) and cv.relation == neighbors:
        return cv
    fit = "PositionFold" if neighbors == "replace_one" else "KeyFold"
    raise NotSupported(
        f"cv={cv!r} may move other records when one changes under {neighbors}; use skdp's {fit}."
    )


def _mixed(n: int, seed: int) -> NDArray[np.uint64]:
    """Numbers that look random, one a position (splitmix64, Steele, Lea and Flood 2014)."""
    z = np.arange(1, n + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(seed)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(z ^ (z >> np.uint64(31)))


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
    charged = _charged(fits)
    spec = Spec(epsilon, estimator.delta, relation)
    given = {"ledger": ledger, "besides": charged, "random_state": random_state}
    found, receipt = scored(scoring, pooled, spec, level=level, **given)
    return Estimate(*found, level, scoring, _total(receipt, charged, fits[0], len(fits)))


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


def _charged(fits: list[Receipt]) -> Script:
    """Return the script of the fits that every part pays for: that of all of them where parts cost differently.

    The part that costs most at one delta may cost less than another at a smaller one, or beside other releases.
    """
    scripts = [_but_one(fits, part) for part in range(len(fits))]
    same = all(script == scripts[0] for script in scripts)
    return scripts[0] if same else merged(run for fit in fits for run in fit.script)


def _total(score: Receipt, charged: Script, fit: Receipt, k: int) -> Receipt:
    """The receipt of the fits and of the score."""
    script = merged((*charged, *score.script))
    note = f"{k} parts: a record is in {k - 1} of the fits and in one test; the price covers both"
    return replace(
        score,
        epsilon=price_of(script, score.delta, score.neighbors),
        script=script,
        accountant=choose(script, score.neighbors, score.delta),
        solver=f"{score.solver} of {k} fits by {fit.solver}",
        proofs=tuple(dict.fromkeys((*fit.proofs, *score.proofs, "partition"))),
        notes=(*score.notes, note),
        declared={**fit.declared, **score.declared, "parts": k},
    )
