"""Settings of a search: the model of each, the odds that it is drawn, and the script of its fit."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import dropwhile
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from .._messages import as_text
from ..exceptions import NotSupported
from ..fitting import PrivateEstimator
from ..fitting._parameters import are_bounds, refuse_wrong
from ..inspection._rules import kind_of
from ..inspection.checks import LEARNS, UNKNOWN, check
from ..preprocessing._transformer import BoughtScales
from ..privacy import Receipt
from ..privacy._arithmetic import round_up
from ..privacy._gaussian import gaussian_epsilon, gaussian_mu
from ..privacy.events import Script, merged
from ..privacy.events._written import after_answers

__all__ = ["Candidates", "agreed", "epsilon_of", "last_of", "paying", "steps_of"]

_SET_BY_THE_SEARCH = ("epsilon", "delta", "ledger", "random_state", "neighbors")
_DECLARED_ONCE = ("classes", "y_bounds", "n_public")  # all candidates are scored by these
# Of scikit-learn: they take every row of bounded numbers, and give finite ones.
_TAKE_ALL = {
    "Binarizer",
    "GaussianRandomProjection",
    "Normalizer",
    "PolynomialCountSketch",
    "PolynomialFeatures",
    "RBFSampler",
    "SparseRandomProjection",
}


@dataclass(frozen=True, eq=False)
class Candidates:
    """Settings of one estimator, public and fixed before any record is read.

    Parameters
    ----------
    estimator : estimator
        A private one, or a pipeline of steps that pay or read no record.
    settings : tuple of dict
        Parameters of each; the first one may be empty, which is the estimator as it is.
    weights : tuple of int
        How likely each is drawn, in proportion.
    delta : float
        Of every fit.
    """

    estimator: Any
    settings: tuple[dict[str, Any], ...]
    weights: tuple[int, ...]
    delta: float

    @classmethod
    def of(
        cls, estimator: Any, found: Sequence[Mapping[str, Any]], default_share: float, delta: float
    ) -> Candidates:
        """The settings, and the estimator as it is with a share of the draws of its own."""
        given = [dict(setting) for setting in found]
        if not given:
            raise ValueError("There is no setting to choose from; give each parameter a value.")
        share = Fraction(default_share)
        each = (1 - share) / len(given)
        odds = ([share] if share else []) + [each] * len(given)
        whole = math.lcm(*(odd.denominator for odd in odds))
        settings: tuple[dict[str, Any], ...] = (({},) if share else ()) + tuple(given)
        made = cls(estimator, settings, tuple(int(odd * whole) for odd in odds), delta)
        for index in range(len(settings)):
            _refuse_unfit(made.bare(index), settings[index])
        return made

    def __len__(self) -> int:
        return len(self.settings)

    def bare(self, index: int) -> Any:
        """The candidate as the user would fit it."""
        values = {name: clone(v, safe=False) for name, v in self.settings[index].items()}
        return clone(self.estimator).set_params(**values)

    def model(self, index: int, mu: float, accountant: str | None = None) -> Any:
        """Return the candidate whose paying steps share a Gaussian budget mu in proportion to their epsilons.

        Parameters
        ----------
        index : int
            Of the setting.
        mu : float
            What the fit as a whole may cost.
        accountant : str or None
            In the place of "auto", where given.
        """
        model = self.bare(index)
        steps = dict(paying(model))
        sizes = {name: gaussian_mu(float(step.epsilon), self.delta) for name, step in steps.items()}
        whole = math.hypot(*sizes.values())
        for name, step in steps.items():
            epsilon = epsilon_of(mu * (sizes[name] / whole), self.delta)
            step.set_params(epsilon=epsilon, delta=self.delta)
            if accountant is not None and step.accountant == "auto":
                step.set_params(accountant=accountant)
        return model

    def quotes(self, model: Any, n: int | None, widths: Sequence[int]) -> list[Receipt]:
        """Return the receipts that the paying steps would have on n records, given the number of columns of each."""
        found = [step.quote(n, width) for (_, step), width in zip(paying(model), widths)]
        for quote in found:
            if quote.unspent is not None:
                raise NotSupported(
                    f"{quote.solver} asks questions that depend on answers, so its script is not fixed beforehand; "
                    "use solver='auto' or 'gd'."
                )
        return found

    def script(self, model: Any, n: int | None, widths: Sequence[int]) -> Script:
        """Return the same quotes joined into one script."""
        return joined(quote.script for quote in self.quotes(model, n, widths))


def joined(scripts: Iterable[Script]) -> Script:
    """Join the scripts of a candidate's paying steps, one after the other.

    The answers to one step choose the rows of the next.
    """
    steps = list(scripts)
    whole = merged(run for script in steps for run in script)
    return after_answers(whole) if len(steps) > 1 else whole


def epsilon_of(mu: float, delta: float) -> float:
    """Return the epsilon of a part of a search; refuse where delta alone would pay for it, so it has none."""
    epsilon = gaussian_epsilon(mu, delta)
    if epsilon == 0.0:
        raise NotSupported(
            f"delta={round_up(delta)} is more than one part of this search takes by itself, so that part has no "
            "epsilon; use a smaller delta, such as 1e-6."
        )
    return epsilon


def steps_of(model: Any) -> list[tuple[str, Any]]:
    """Names and steps of a pipeline, or the estimator alone."""
    if not isinstance(model, Pipeline):
        return [("", model)]
    return [(name, step) for name, step in model.steps if step not in (None, "passthrough")]


def paying(model: Any) -> Iterator[tuple[str, Any]]:
    """The steps that pay, in order."""
    return ((name, step) for name, step in steps_of(model) if isinstance(step, PrivateEstimator))


def last_of(model: Any) -> Any:
    """The step that predicts."""
    return steps_of(model)[-1][1]


def agreed(name: str, given: float | None, estimator: Any) -> float:
    """Return epsilon or delta of a search: the sum over its steps, or the search's own where the steps give none.

    A step with the default value gives none.

    Parameters
    ----------
    name : {"epsilon", "delta"}
        Name of the number.
    given : float or None
        Value of the search; None where it has none.
    estimator : estimator
        A private one, or a pipeline that ends in one.
    """
    _refuse_unless_private(last_of(estimator))
    steps = [step for _, step in paying(estimator)]
    for value in [getattr(step, name) for step in steps] + ([] if given is None else [given]):
        refuse_wrong({name: value})
    whole = math.fsum(float(getattr(step, name)) for step in steps)
    if given is None:
        return whole
    usual = all(
        getattr(step, name) == inspect.signature(type(step)).parameters[name].default
        for step in steps
    )
    if usual or math.isclose(whole, given, rel_tol=1e-9):
        return given
    raise ValueError(
        f"{name}={as_text(given)} of the search differs from {name}={as_text(whole)} of its estimator"
        f"{', the sum over its steps' if len(steps) > 1 else ''}; write one of them and leave the other out."
    )


def _refuse_unless_private(last: Any) -> None:
    if not isinstance(last, PrivateEstimator) or not hasattr(last, "predict"):
        raise NotSupported(
            f"{type(last).__name__} is not a private estimator of skdp, so its fits have no price; give one, or a "
            "pipeline that ends in one."
        )


def _refuse_unfit(model: Any, setting: Mapping[str, Any]) -> None:
    """Refuse a candidate that has no price beforehand, or that the theorem does not cover."""
    last, steps = last_of(model), [step for _, step in paying(model)]
    _refuse_unless_private(last)
    if getattr(model, "memory", None) is not None:
        raise NotSupported(
            "memory hands the scales that one run estimated to the next, but runs must not share any; leave it out."
        )
    found = check(model)
    unpaid = any(step.verdict in (LEARNS, UNKNOWN) and not step.charges for step in found.steps)
    if unpaid or sum(step.charges for step in found.steps) != len(steps):
        raise NotSupported(
            f"{found.summary()} A search needs steps that pay by themselves, or read no record."
        )
    wrong = [name for name in setting if name.split("__")[-1] in _SET_BY_THE_SEARCH]
    if wrong:
        raise NotSupported(
            f"{wrong[0]!r} is set by the search, for all candidates alike; leave it out."
        )
    wrong = [name for name in setting if name.split("__")[-1] in _DECLARED_ONCE]
    if wrong:
        raise NotSupported(
            f"{wrong[0]!r} is a fact of the records, one for all candidates; set it in the estimator."
        )
    if hasattr(last, "y_bounds") and not are_bounds(last.y_bounds):
        raise NotSupported(
            "A search scores its candidates by declared bounds of one target; set y_bounds=(low, high)."
        )
    if np.size(getattr(last, "alpha", 1.0)) > 1:
        raise NotSupported(
            "A search scores its candidates by one target, and alpha holds strengths of several; give one number."
        )
    for step in steps:
        _refuse_step(step, step is last)
    _refuse_lookers_on(model)
    if len(steps) > 1:
        _refuse_way(model)


def _refuse_lookers_on(model: Any) -> None:
    """Refuse what shows runs while they are made: which settings are drawn is secret, and losers are not released."""
    loud = [
        name
        for name, value in model.get_params(deep=True).items()
        if name.split("__")[-1] == "verbose" and value
    ]
    heard = [part for _, part in [("", model), *steps_of(model)] if _callbacks_of(part)]
    if loud or heard:
        what = f"{loud[0]}={model.get_params()[loud[0]]!r}" if loud else "a callback"
        raise NotSupported(
            f"{what} of {type(model).__name__} would show runs of the search, and so which settings are drawn; leave "
            "it out, and print the search's privacy_."
        )


def _callbacks_of(part: Any) -> Any:
    """Return the callbacks that scikit-learn stores in `set_callbacks`, and hands on to clones."""
    return getattr(part, "_skl_callbacks", None)


def _refuse_way(model: Any) -> None:
    """Refuse what makes a run depend on another, or fail on a single record once scales are estimated."""
    if getattr(last_of(model), "warm_start", False):
        raise NotSupported(
            f"warm_start=True of {type(last_of(model)).__name__} has no proof behind a step that pays, and runs begin "
            "anew; leave it out."
        )
    after = dropwhile(
        lambda step: not isinstance(step, PrivateEstimator), dict(steps_of(model)).values()
    )
    for step in after:
        if kind_of(step) is not None and kind_of(step) not in _TAKE_ALL:
            raise NotSupported(
                f"{type(step).__name__} may refuse a row, and that is unknown before scales are estimated; put it "
                "before the steps that pay."
            )


def _refuse_step(step: Any, last: bool) -> None:
    name = type(step).__name__
    if not last and not isinstance(step, BoughtScales):
        raise NotSupported(
            f"{name} has no price before it is fitted; put a declared step in its place."
        )
    if step.ledger is not None:
        raise NotSupported(
            f"{name} has a ledger of its own; give it to the search, which pays for all."
        )
    if step.random_state is not None:
        raise NotSupported(
            f"{name} has random_state={step.random_state!r}, which would give all runs the same noise; give it to the "
            "search."
        )
    if not 0 < float(step.epsilon) < math.inf:
        raise NotSupported(f"{name} has epsilon={step.epsilon!r}; only a finite one can be shared.")
    if step.max_rows_per_group is not None or step.max_sample_weight is not None:
        raise NotSupported(
            f"{name} has several rows of a person, or weights; a search scores rows of equal weight."
        )
    if last and getattr(step, "classes", ()) is None:
        raise NotSupported("classes=None would take labels from the records; declare classes.")
