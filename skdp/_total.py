"""What a fitted model has cost in all, whatever meta-estimators it is made of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .exceptions import NotSupported
from .fitting._warm import BEGUN
from .privacy import accountants
from .privacy.events import Script, merged
from .privacy.events._behind import after_answers
from .privacy.receipt import Receipt

__all__ = ["Total", "total"]


@dataclass(frozen=True)
class Total:
    """The receipts inside a model, and what they cost together.

    Parameters
    ----------
    epsilon, delta : float
        What was promised to a record that took part in every one of the fits.
    neighbors : str
        The relation of all.
    receipts : tuple of Receipt
        One for each fit that left a trace in the model; of a warm start, one for all its fits.

    See Also
    --------
    total : Makes one.

    Examples
    --------
    >>> from skdp import total
    >>> total(object()).receipts
    ()
    """

    epsilon: float
    delta: float
    neighbors: str
    receipts: tuple[Receipt, ...]

    def __str__(self) -> str:
        fits = "1 fit" if len(self.receipts) == 1 else f"{len(self.receipts)} fits"
        return (
            f"{fits}, together epsilon = {self.epsilon:.6g} at delta = {self.delta:.3g}, {self.neighbors}; "
            "fits that were thrown away (folds, losing candidates) are not in the model and not counted"
        )


def total(model: Any, delta: float | None = None) -> Total:
    """Compose the receipts of all private fits inside a fitted model.

    Walks whatever the model holds: pipelines, searches, one-vs-rest, calibrated, bagged, voting and stacked
    classifiers, also nested.

    Parameters
    ----------
    model : estimator
        Fitted.
    delta : float, optional
        At which delta; by default the largest of the receipts'.

    Returns
    -------
    Total
        Epsilon at that delta, as if every fit had read every record.

    See Also
    --------
    skdp.budget : Counts every fit, those that leave no trace too, and refuses in time.

    Notes
    -----
    A model knows the fits that are in it. A search has thrown away those of its folds, and only a ledger
    has seen them. Fits chosen after earlier answers are composed here as one script fixed beforehand,
    which is a statement about what was done and no guarantee at a moment that was chosen by answers.
    Adaptive solvers are refused, and so are warm starts beside other fits: what these, such as a scaler in front,
    paid for when the earlier coefficients were made is in no receipt.

    Examples
    --------
    >>> import skdp
    >>> from sklearn.multiclass import OneVsRestClassifier
    >>> from skdp.datasets import make_census
    >>> X, y = make_census(n_samples=300, return_X_y=True)
    >>> model = skdp.DPLogisticRegression(
    ...     epsilon=0.5, delta=1e-6, data_norm=1.0, classes=[0, 1], solver="gd"
    ... )
    >>> three = OneVsRestClassifier(model).fit(X, [0, 1, 2] * 100)
    >>> found = skdp.total(three)
    >>> len(found.receipts), 0.5 < found.epsilon < 1.5
    (3, True)
    """
    receipts = tuple(_receipts(model, set()))
    if len(receipts) > 1 and any(
        receipt.declared.get("begins_at") == BEGUN for receipt in receipts
    ):
        raise NotSupported(
            f"One of the {len(receipts)} receipts is that of a warm start, and what other steps have paid before its "
            "last fit is in none of them; share a ledger or a budget between such fits."
        )
    relations = {receipt.neighbors for receipt in receipts}
    if len(relations) > 1:
        raise NotSupported(
            f"The fits have different relations, {sorted(relations)}; total them apart."
        )
    neighbors = relations.pop() if relations else "replace_one"
    if delta is None:
        delta = max((receipt.delta for receipt in receipts), default=0.0)
    script = merged(run for receipt in receipts for run in _whole(receipt))
    if len(receipts) > 1:
        script = after_answers(
            script
        )  # of a fit behind another one, which may have chosen its rows
    epsilon = accountants.epsilon(script, delta, neighbors) if script else 0.0
    return Total(epsilon, delta, neighbors, receipts)


def _whole(receipt: Receipt) -> Script:
    if receipt.unspent is not None:
        raise NotSupported(
            f"The fit by {receipt.solver} chose what it asked by answers, under a filter, and its script alone "
            "proves nothing in a sum; share a ledger or a budget between such fits."
        )
    return receipt.script


def _receipts(thing: Any, seen: set[int]) -> Iterator[Receipt]:
    """Every receipt inside, once; only containers and estimators are opened."""
    if id(thing) in seen:
        return
    seen.add(id(thing))
    if isinstance(thing, Receipt):
        yield thing
    elif isinstance(thing, dict):
        for value in thing.values():
            yield from _receipts(value, seen)
    elif isinstance(thing, (list, tuple)):
        for value in thing:
            yield from _receipts(value, seen)
    elif any(hasattr(thing, name) for name in ("fit", "predict", "predict_proba")):
        yield from _receipts(getattr(thing, "__dict__", {}), seen)
