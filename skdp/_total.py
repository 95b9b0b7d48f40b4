"""Total privacy cost of a fitted model, whatever meta-estimators of scikit-learn it is made of."""

from __future__ import annotations

import html
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .exceptions import NotSupported
from .fitting.starting import BEGUN
from .inspection._rules import LEARNS, Setting, charges, is_ours, kind_of
from .inspection._structures import STRUCTURES, parts_of
from .privacy import accountants
from .privacy._arithmetic import round_up
from .privacy.events import Script, merged
from .privacy.events._written import after_answers
from .privacy.receipt import Receipt

__all__ = ["Total", "total"]


@dataclass(frozen=True)
class Total:
    """Receipts inside a model, and their total cost.

    Parameters
    ----------
    epsilon, delta : float
        What was promised to a record that took part in every one of the fits.
    neighbors : str
        The relation of all.
    receipts : tuple of Receipt
        One for each fit that the model is made of; of a warm start, one for all its fits.

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
            f"{fits}, together epsilon = {round_up(self.epsilon)} at delta = {round_up(self.delta, 3)}, "
            f"{self.neighbors}; earlier fits of the same model are not counted"
        )

    def _repr_html_(self) -> str:
        """The sentence, and the receipts folded below it."""
        parts = "".join(
            f"<details><summary>{number}: epsilon = {round_up(receipt.epsilon)} at delta = "
            f"{round_up(receipt.delta, 3)}</summary>{receipt._repr_html_()}</details>"
            for number, receipt in enumerate(self.receipts, start=1)
        )
        return f"<div class='skdp-total'><p><b>{html.escape(str(self))}</b></p>{parts}</div>"


def total(model: Any, delta: float | None = None) -> Total:
    """Compose the receipts of all private fits that a fitted model is made of.

    Counts a private estimator or search of skdp, and what is made of them by scikit-learn's pipelines, column
    transformers, one-vs-rest, output-code, multi-output, voting, selecting and transforming meta-estimators, chains
    without folds, and one-vs-one under add_remove, also nested. Whatever else holds a private estimator is refused: it
    throws fits away (searches, stacks, RFE, chains with folds), or gives its fits rows whose costs do not add up
    (bagging, calibration).

    Parameters
    ----------
    model : estimator, or list of estimators and receipts
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
    skdp.check : Which steps have no receipt.

    Notes
    -----
    Counted is the last fit of a model, with the parameters that it has; what it was before has been paid as well, and
    only a ledger has seen it. Fits
    chosen after earlier answers are composed here as one script fixed beforehand, which is a statement about what was
    done and no guarantee at a moment that was chosen by answers. Adaptive solvers are refused, and so are warm starts
    beside other fits: what these, such as a scaler in front, paid for when the earlier coefficients were made is in no
    receipt.

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
    held = tuple(_held_by(model, set()))
    receipts = tuple(thing for thing in held if isinstance(thing, Receipt))
    relations = frozenset(receipt.neighbors for receipt in receipts)
    _refuse_uncounted(held, Setting(relations))
    if len(receipts) > 1 and any(
        receipt.declared.get("begins_at") == BEGUN for receipt in receipts
    ):
        raise NotSupported(
            f"One of the {len(receipts)} receipts belongs to a warm start, and none of them counts what other steps "
            "paid before its last fit; share a ledger or a budget between such fits."
        )
    if len(relations) > 1:
        raise NotSupported(
            f"The fits have different relations, {sorted(relations)}; total them separately."
        )
    neighbors = next(iter(relations), "replace_one")
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
            f"The fit by {receipt.solver} asked questions that depended on answers, under a filter, so its script "
            "cannot be added to others; share a ledger or a budget between such fits."
        )
    return receipt.script


def _held_by(thing: Any, seen: set[int], everything: bool = False) -> Iterator[Any]:
    """Yield receipts and fitted estimators inside, once; only containers and estimators are opened."""
    if id(thing) in seen:
        return
    seen.add(id(thing))
    inside: Any = ()
    if isinstance(thing, Receipt):
        yield thing
    elif isinstance(thing, dict):
        inside = thing.values()
    elif isinstance(thing, (list, tuple, set, frozenset)):
        inside = thing
    elif isinstance(thing, np.ndarray) and thing.dtype == object:
        inside = thing.ravel().tolist()
    elif any(hasattr(thing, name) for name in ("fit", "predict", "predict_proba")):
        yield thing
        inside = _attributes(thing, everything)
    for part in inside:
        yield from _held_by(part, seen, everything)


def _attributes(thing: Any, everything: bool) -> list[Any]:
    """Return the attributes that a fit left: no parameters, which it copied, but where it fits these themselves."""
    structure = STRUCTURES.get(kind_of(thing) or "")
    copied: Any = ()
    if not everything and hasattr(thing, "get_params") and not isinstance(thing, type):
        copied = (
            () if structure is not None and structure.in_place else thing.get_params(deep=False)
        )
    return [value for name, value in getattr(thing, "__dict__", {}).items() if name not in copied]


def _refuse_uncounted(held: tuple[Any, ...], setting: Setting) -> None:
    """Refuse a meta-estimator that holds private estimators and is not known to keep a receipt of each fit."""
    for thing in held:
        if isinstance(thing, Receipt) or _keeps_all(thing, setting):
            continue
        inside = _held_by(thing, set(), everything=True)
        if _holds_payer(thing) or any(isinstance(part, Receipt) for part in inside):
            raise NotSupported(
                f"{type(thing).__name__} is not known to keep a receipt of each fit that it made, so its cost cannot "
                "be counted from the model; share a ledger, or fit inside skdp.budget."
            )


def _keeps_all(thing: Any, setting: Setting) -> bool:
    """Tell whether the receipts inside are those of all fits that it made, and their costs add up."""
    structure = STRUCTURES.get(kind_of(thing) or "")
    if structure is None:
        return is_ours(thing)
    verdict = structure.judge(thing, setting)
    return structure.keeps(thing) and (verdict is None or verdict[0] != LEARNS)


def _holds_payer(thing: Any) -> bool:
    """Tell whether an estimator, or one that it was given, charges a budget."""
    return charges(thing) or any(_holds_payer(part) for _, part in parts_of(thing))
