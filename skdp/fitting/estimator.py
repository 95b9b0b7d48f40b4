"""Base class of all private estimators: they declare, hand over and store.

Parameters of scikit-learn's that are none here are taken without effect, or refused with the reason. The box in the
diagrams that scikit-learn draws of pipelines tells what the guarantee covers.
"""

from __future__ import annotations

import copy
import difflib
import functools
import inspect
import warnings
from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np

from .._fingerprint import fingerprint
from .._messages import as_text, frames_to_caller
from ..entry import Array, Facts, Given, Reader, Table
from ..mechanisms import Noise
from ..privacy._arithmetic import round_up
from ..privacy.events import Script
from ..privacy.ledger import in_scope
from ..privacy.receipt import Receipt
from ..solvers import Budget
from ._bases import BaseEstimator, CallbackSupportMixin, with_callbacks
from ._fields import FromFields, rules_of
from ._parameters import RULES, Rule, SeedSource, refuse_wrong
from ._payer import (
    UNCOVERED,
    has_own_price,
    is_out_of_sight,
    note_clone,
    note_price,
    payer_of,
    paying_ledger,
    send_scope,
    take_scope,
    warn_of_doubts,
)
from ._progress import begin_context, length_of, refuse_looks, telling
from ._provenance import expect_more, find_surroundings, name_around
from ._seeds import SEEDS, seed_of, warn_of_seed
from .plan import Plan, Purchase
from .run import Fitted, Heard, Run, prepare
from .starting import refuse_untold

if TYPE_CHECKING:
    from ..privacy import Ledger

__all__ = ["PrivateEstimator"]


def visual_block(estimator: Any) -> SimpleNamespace:
    """Return the block that scikit-learn draws for an estimator, with a caption on what the guarantee covers.

    Parameters
    ----------
    estimator : estimator
        A private one.

    Returns
    -------
    SimpleNamespace
        With the attributes of scikit-learn's own, which it keeps to itself.
    """
    receipt = vars(estimator).get("privacy_")
    around = getattr(receipt, "around", None)
    caption = f"epsilon = {round_up(estimator.epsilon)}"
    if around:
        caption = f"{caption} for this step only, NOT PRIVATE as a whole: {', '.join(around)}"
    return SimpleNamespace(
        kind="single",
        estimators=estimator,
        names=type(estimator).__name__,
        name_details=str(estimator),
        name_caption=caption,
        doc_link_label=None,
        dash_wrapped=True,
    )


# What comes first in the constructor of an estimator of scikit-learn's.
_FIRST = "alpha", "hidden_layer_sizes", "n_components"

_STEPS = (
    "how long a fit runs is fixed beforehand, since what depends on the data would leak (name a solver and set "
    "solver__steps)"
)
_TABLE = "the table is read in place and never written to"
# Nothing that a user relies on follows from these: a script that sets them runs, and is told what is true here.
IGNORED = {
    "max_iter": _STEPS,
    "tol": _STEPS,
    "n_jobs": "a fit runs on one thread, so that its result does not depend on their number",
    "shuffle": "batches are drawn anew at every step",
    "dual": "each solver has one formulation",
    "intercept_scaling": "the intercept is free of the penalty whatever its scale",
    "copy_X": _TABLE,
    "precompute": "the solver pays for products of the table",
    "selection": "there are no coordinates to go through",
    "cache_size": "no kernel is kept",
    "probability": "predict_proba needs no second fit",
}
# These would change what is fitted.
REFUSED = {
    "early_stopping": "looking at held-out records costs as much as an answer does; set max_iter instead",
    "warm_start": "only linear estimators begin where an earlier fit ended; set max_iter instead",
    "learning_rate": "a solver has a schedule of its own; set solver__schedule instead",
    "multi_class": "DPLogisticRegression alone has a choice of it; leave it out",
}


def take_foreign(kind: type, given: Mapping[str, Any], own: Iterable[str]) -> dict[str, Any]:
    """Return what is given without parameters of scikit-learn's that have no effect here, with one warning of these.

    Those that would change what is fitted are refused, unless they ask for what the estimator does anyway.

    Parameters
    ----------
    kind : type
        The estimator.
    given : mapping
        Values that the user gave, by name.
    own : iterable of str
        Names that the estimator has.
    """
    known = set(own)
    foreign = {name: value for name, value in given.items() if name not in known}
    for name in foreign.keys() & REFUSED:
        if not _is_so(kind, name, foreign[name]):
            raise TypeError(f"{kind.__name__} has no parameter {name!r}: {REFUSED[name]}.")
    without = {name: value for name, value in foreign.items() if name in IGNORED}
    if without:
        warnings.warn(_without_effect(kind, without), UserWarning, stacklevel=frames_to_caller())
    return {k: value for k, value in given.items() if k not in foreign or not _is_taken(k)}


def _is_taken(name: str) -> bool:
    return name in IGNORED or name in REFUSED


def _is_so(kind: type, name: str, value: Any) -> bool:
    """Return True if a value is what the estimator has always; False where it says nothing of it."""
    always = getattr(kind, name, False)
    return type(value) is type(always) and isinstance(value, bool | str) and value == always


def _without_effect(kind: type, given: Mapping[str, Any]) -> str:
    """Return the sentence of parameters without effect: those with one reason together."""
    reasons: dict[str, list[str]] = {}
    for name, value in given.items():
        reasons.setdefault(IGNORED[name], []).append(f"{name}={as_text(value)}")
    told = (
        f"{' and '.join(named)} {'has' if len(named) == 1 else 'have'} no effect: {reason}"
        for reason, named in reasons.items()
    )
    return f"{kind.__name__}: {'; '.join(told)}."


def refuse_positions(kind: type, given: Sequence[Any], own: Iterable[str]) -> None:
    """Say that parameters go by name: the first one is another in scikit-learn's estimators than it would be here.

    Parameters
    ----------
    kind : type
        The estimator.
    given : sequence
        Values without a name.
    own : iterable of str
        Names that the estimator has.
    """
    if not given:
        return
    known = set(own)
    names = [name for name in ("epsilon", *_FIRST) if name in known]
    written = " or ".join(f"{kind.__name__}({name}=...)" for name in names)
    raise TypeError(
        f"{kind.__name__} takes keyword arguments only, got {as_text(given[0])} without a name; write {written}."
    )


def _refuse_misspelt(kind: type, given: Iterable[str], own: Sequence[str]) -> None:
    """Name the parameter that an unknown one resembles; where none does, Python refuses it."""
    for name in given:
        near = [] if name in own else difflib.get_close_matches(name, own, 1)
        if near:
            raise TypeError(
                f"{kind.__name__} got an unexpected keyword argument {name!r}; did you mean {near[0]!r}?"
            )


def taking_foreign(init: Callable[..., None]) -> Callable[..., None]:
    """A constructor with the same signature that takes parameters of scikit-learn's, or says why it does not.

    Parameters
    ----------
    init : callable
        An estimator's ``__init__``.

    Returns
    -------
    callable
    """
    _, *own = inspect.signature(init).parameters.values()
    names = [parameter.name for parameter in own]
    known = set(names)
    keywords = all(parameter.kind is parameter.KEYWORD_ONLY for parameter in own)

    @functools.wraps(init)
    def __init__(self: Any, *args: Any, **given: Any) -> None:
        if not known.issuperset(given):
            given = take_foreign(type(self), given, names)
            if keywords:
                _refuse_misspelt(type(self), given, names)
        if keywords and args:
            refuse_positions(type(self), args, names)
        init(self, *args, **given)

    return __init__


class PrivateEstimator(CallbackSupportMixin, FromFields, BaseEstimator, metaclass=ABCMeta):
    """Base of the private estimators.

    A face says in `_plan` what is promised and asked, in `_reader` what a user's cells and targets are, and in `_keep`
    what is kept of the answers. It is shown no record. Everything between, and every promise, is here and below.
    Parameters are fields.

    Parameters
    ----------
    epsilon : float, default=1.0
        Privacy loss that is promised; smaller is more private. ``inf`` adds no noise and is not private.
    delta : float, default=1e-6
        Probability of exceeding it; choose it well below 1/n.
    neighbors : {"replace_one", "add_remove"}, default="replace_one"
        Neighbouring data differ by one record replaced (n is public) or added or removed (n is private).
    n_public : int, default=None
        Under "add_remove", a rough number of records that you know without looking. None buys a noisy count where
        the solver needs one.
    accountant : str, default="auto"
        Which theorem prices the fit; "auto" takes the tightest valid one.
    ledger : skdp.privacy.Ledger, default=None
        A budget shared by several fits; it pays before a record is touched.
    random_state : int, RandomState or None, default=None
        None draws noise from the operating system. A seed makes the fit reproducible, and the guarantee void against
        whoever knows it.
    verbose : int, default=0
        1 prints the privacy statement after a fit, 2 shows a progress bar besides (extra ``progress``).

    Attributes
    ----------
    privacy_ : Receipt
        What the fit costs, how that was computed, and what was declared public.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of str
        Names of the columns, where X had string names.
    """

    # Not parameters of every estimator.
    max_rows_per_group = cast("int | None", None)
    max_sample_weight = cast("float | None", None)

    epsilon: float = 1.0
    delta: float = 1e-6
    neighbors: str = "replace_one"
    n_public: float | None = None
    accountant: str = "auto"
    ledger: Ledger | None = None
    random_state: int | SeedSource | None = None
    verbose: int = 0
    _listens: ClassVar[Any] = None  # to answers of this kind of question
    privacy_: Receipt = field(init=False)
    n_features_in_: int = field(init=False)
    feature_names_in_: Array = field(init=False)

    def __init_subclass__(cls, **given: Any) -> None:
        """Make constructors take parameters of scikit-learn's without effect, and explain why others are refused."""
        super().__init_subclass__(**given)
        if "__init__" in vars(cls):
            setattr(cls, "__init__", taking_foreign(vars(cls)["__init__"]))  # noqa: B010

    if hasattr(CallbackSupportMixin, "set_callbacks"):

        def set_callbacks(self, *callbacks: Any) -> Self:
            """Set scikit-learn's callbacks, such as ``sklearn.callback.ProgressBar()``.

            Parameters
            ----------
            *callbacks : callback instances
                They are told when a question begins and when it is over, and get neither records nor models.

            Returns
            -------
            self
            """
            for callback in callbacks:
                refuse_looks(callback)
            super().set_callbacks(*callbacks)
            return self

    def set_params(self, **params: Any) -> Self:
        """Set parameters, as in scikit-learn."""
        params = take_foreign(type(self), params, self._get_param_names())
        super().set_params(**params)
        note_price(self, params)
        return self

    def __getstate__(self) -> dict[str, Any]:
        return send_scope(self, super().__getstate__())

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(take_scope(self, state))

    def __sklearn_clone__(self) -> Self:
        twin: Self = super().__sklearn_clone__()
        note_clone(self, twin)
        return twin

    def quote(
        self,
        n: int | None,
        n_features: int,
        n_classes: int | None = None,
        base_rate: float | None = None,
    ) -> Receipt:
        """Return the receipt of a fit on n records of n_features columns: its cost and its noise.

        Parameters
        ----------
        n : int
            Number of records, of persons with ``max_rows_per_group``; ignored under ``neighbors="add_remove"``, where
            it is private, and may be None there.
        n_features : int
            Number of columns.
        n_classes : int, default=None
            Number of classes, of a classifier; None: those that were declared, or two.
        base_rate : float, default=None
            Of a logistic loss, about the share of one of two labels, as far as it is public; None supposes a half. It
            enters ``standard_error`` alone: where one is rare, noise moves a model more.

        Returns
        -------
        Receipt
            The statement that such a fit would carry; nothing is spent.
        """
        self._check_parameters()
        counts = {"n": n, "n_features": n_features, "n_classes": n_classes, "base_rate": base_rate}
        needed = ("n", "n_features") if self.neighbors == "replace_one" else ("n_features",)
        refuse_wrong({k: value for k, value in counts.items() if value is not None or k in needed})
        known = None if n is None else int(n)  # numpy's short ones overflow where multiplied
        plan = self._plan(known, int(n_features), {}, self._outputs(n_classes))
        if isinstance(plan, Plan):
            plan = replace(plan, base_rate=base_rate)
        return prepare(plan, self._payer()).quote()

    @abstractmethod
    def _reader(self) -> Reader:
        """Return what is declared of the user's cells and targets, by which they are read."""

    def _declare(self, facts: Facts) -> dict[str, Any]:
        """Return the facts that a receipt is to call public, beside sizes and promise."""
        return {}

    def _keep_single(self) -> None:
        """Round stored numbers to single precision after rows of it, where scikit-learn's estimator does."""

    def _rules(self) -> dict[str, Rule]:
        """Return the rule of each parameter."""
        return RULES | {"random_state": SEEDS} | rules_of(type(self))

    def _check_parameters(self) -> None:
        """Refuse parameters that no data could make right, before any data is looked at."""
        refuse_wrong(self.get_params(deep=False), self._rules())
        payer = self._payer()
        if payer is not None and payer.neighbors != self.neighbors:
            raise ValueError(
                f"neighbors={self.neighbors!r} differs from the ledger's {payer.neighbors!r}; use one relation."
            )

    @abstractmethod
    def _plan(
        self,
        n: int | None,
        n_features: int,
        declared: dict[str, Any],
        outputs: int | None = None,
        weighted: bool = False,
    ) -> Plan | Purchase:
        """Return all that is decided before any data, from parameters that have been checked."""

    @abstractmethod
    def _keep(self, fitted: Fitted, budget: Budget, heard: Heard | None) -> None:
        """Store what follows from the answers, on the user's scale."""

    def _payer(self) -> Ledger | None:
        """Return the ledger that pays for a fit."""
        return paying_ledger(self)

    def _noted(self, fitted: Fitted) -> tuple[str, ...]:
        """Return what a receipt is to note of the answers."""
        return ()

    def _doubts(self) -> Iterator[str]:
        """Yield the warnings of a fit that follow from its parameters alone."""
        yield from ()

    def _outputs(self, n_classes: int | None = None) -> int:
        """Return the number of scores of one record, for so many classes or as far as parameters tell."""
        return 1

    def _outputs_of(self, facts: Facts) -> int:
        """Return the number of scores of one record of this table."""
        return self._outputs(None if facts.classes is None else len(facts.classes))

    def _complete(self, plan: Any, facts: Facts) -> Any:
        """Return the plan with what is public of the data."""
        return plan

    def _note_payer(self, payer: Ledger | None) -> None:
        """Keep what a later fit has to know of who paid for this one."""

    def _fit(self, given: Given) -> Self:
        """Check, encode, price, pay, run and store; on failure nothing changes but what has been paid."""
        before = copy.copy(self.__dict__)
        try:
            with np.errstate(all="ignore"):  # fatal, it would tell of records, or lose a paid fit
                return self._fit_or_fail(given)
        except BaseException as error:
            self.__dict__.clear()
            self.__dict__.update(before)
            if not isinstance(error, MemoryError):
                raise
        # Not numpy's own, which tells the number of records.
        raise MemoryError("The fit ran out of memory; give float32, or fit on fewer columns.")

    def _close(self, given: Given) -> tuple[Table, Facts]:
        """Check parameters and records, and close these."""
        self._check_parameters()
        return given.close(self, self._reader())

    def _planned_for(self, facts: Facts) -> Any:
        """Return the plan of a fit of closed records."""
        sizes = facts.n, facts.n_features
        return self._plan(*sizes, self._declare(facts), self._outputs_of(facts), facts.weighted)

    def _refuse(self, given: Given) -> None:
        """Refuse records that a fit would refuse; nothing is paid, and nothing is asked of them.

        A fit inside a search or a cross-validation is paid for beforehand, and whether it fails would be no answer.
        """
        table, facts = self._close(given)
        for view in self._complete(self._planned_for(facts), facts).first_views():
            table.check(view)

    def _fit_or_fail(self, given: Given) -> Self:
        table, facts = self._close(given)
        plan = self._planned_for(facts)
        warn_of_seed(self._payer(), self.random_state)
        warn_of_doubts(self._doubts())
        plan = self._complete(plan, facts)
        noise, payer = Noise(seed_of(self.random_state, plan.earlier)), self._payer()
        if payer is None and plan.spec.private and in_scope() is None and not plan.earlier:
            names = vars(self).get("feature_names_in_")
            UNCOVERED.fit(facts.n_features, names, is_out_of_sight(self))
        heard = Heard.of(self._listens or (plan.solver.tells if isinstance(plan, Plan) else ()))
        run = prepare(plan, payer)
        fitted, stated = self._run(run, table, noise, heard)
        self._keep(fitted, run.budget, heard)
        if facts.single:
            self._keep_single()
        if facts.classes is not None:
            self.classes_ = facts.classes
        notes = *stated.notes, *self._noted(fitted)
        self.privacy_ = replace(stated, notes=notes, model=fingerprint(self))
        self._note_payer(run.ledger)
        if self.verbose:
            print(self.privacy_)
        return self

    @with_callbacks
    def _run(
        self, run: Run, table: Table, noise: Noise, heard: Heard | None
    ) -> tuple[Fitted, Receipt]:
        """Run a fit while callbacks follow its questions, and return its result and receipt."""
        context = begin_context(self, length_of(run.account))
        if run.plan.earlier is not None:
            refuse_untold(context)
        ledger, name = run.ledger, type(self).__name__
        if ledger is not None:
            several = "_one_of_several" in vars(self)
            varies = has_own_price(self)
            given = ledger, name, run.charge, context, several
            ledger = expect_more(*given, self._others(ledger), varies)
        run = replace(run, ledger=ledger, around=name_around(name, context))
        asked = table, noise, self.verbose, heard
        found: tuple[Fitted, Receipt] = telling(self, context, lambda told: run.on(*asked, told))
        return found

    def _others(self, ledger: Ledger) -> Iterator[tuple[str, Script]]:
        """Yield the other steps of the surrounding pipeline that the same ledger pays for: names and scripts."""
        around = find_surroundings()
        for step, script in [] if around is None else around.quotes():
            if step is not self and payer_of(step.ledger) == ledger:
                yield type(step).__name__, script

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _sk_visual_block_(self) -> Any:

        return visual_block(self)
