"""Base class of all private estimators: they declare, hand over and store."""

from __future__ import annotations

import copy
from abc import ABCMeta, abstractmethod
from collections.abc import Iterator
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np

from .._fingerprint import fingerprint
from ..entry import Array, Facts, Given, Reader, Table
from ..mechanisms import Noise
from ..privacy.events import Script
from ..privacy.ledger import in_scope
from ..privacy.receipt import Receipt
from ..solvers import Budget
from ._bases import BaseEstimator, CallbackSupportMixin, with_callbacks
from ._callbacks import begin_context, refuse_looks, telling
from ._fields import FromFields, rules_of
from ._foreign import take_foreign, taking_foreign
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
)
from ._progress import length_of
from ._search_budget import expect_more
from ._seeds import SEEDS, seed_of, warn_of_seed
from ._surroundings import find_surroundings, name_around
from ._warm import refuse_untold
from ._weak import warn_of_doubts
from .plan import Plan, Purchase
from .run import Fitted, Heard, Run, prepare

if TYPE_CHECKING:
    from ..privacy import Ledger

__all__ = ["PrivateEstimator"]


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
        self.privacy_ = replace(stated, model=fingerprint(self))
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
        from ._diagram import visual_block

        return visual_block(self)
