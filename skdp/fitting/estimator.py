"""What all private estimators share: they declare, hand over and store."""

import copy
import numbers
import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from .._fingerprint import fingerprint
from ..exceptions import PrivacyWarning
from ..mechanisms import Noise, Public, Records
from ..privacy import Ledger
from ..privacy.receipt import Receipt
from ..privacy.spec import Spec
from ..solvers import Solver, Task, resolve
from ._covered import UNCOVERED, Covered
from ._diagram import visual_block
from ._parameters import RULES, SeedSource, refuse_wrong
from ._surroundings import surroundings
from ._tables import Array, attempt
from ._warning import frames_to_caller
from .auto import choose_solver
from .plan import Plan
from .run import prepare

__all__ = ["PrivateEstimator", "seed_of"]


class PrivateEstimator(Covered):
    """Base of the private estimators.

    A face says in `_problem` what is minimised, in `_encode` what the records are, and in `_store` what is kept of the
    parameters that come back. Everything between, and every promise, is here and below.
    """

    epsilon: float
    delta: float
    solver: str | Solver
    data_norm: float | None
    neighbors: str
    n_public: float | None
    accountant: str
    ledger: Ledger | None
    random_state: int | SeedSource | None
    verbose: int
    privacy_: Receipt
    n_features_in_: int
    feature_names_in_: Array

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``solver__name`` reaches into the solver, also where it is given by name."""
        inner = {key: params.pop(key) for key in list(params) if key.startswith("solver__")}
        super().set_params(**params)
        if inner:
            changes = {key.removeprefix("solver__"): value for key, value in inner.items()}
            self.solver = resolve(self.solver).with_params(**changes)
        return self

    def quote(self, n: int | None, n_features: int) -> Receipt:
        """What a fit on n records of n_features columns would cost, and which noise it would add.

        Parameters
        ----------
        n : int
            Number of records; ignored under ``neighbors="add_remove"``, where it is private, and may be None there.
        n_features : int
            Number of columns.

        Returns
        -------
        Receipt
            The statement that such a fit would carry; nothing is spent.
        """
        self._check_parameters()
        counts: dict[str, Any] = {"n_features": n_features}
        if self.neighbors == "replace_one" or n is not None:
            counts["n"] = n
        refuse_wrong(counts)
        # Whole numbers of Python: numpy's short ones overflow where they are multiplied.
        plan = self._plan(None if n is None else int(n), int(n_features), {})
        return prepare(plan, self._payer()).quote()

    def _problem(self, n: int | None, n_features: int) -> tuple[Public, Task]:
        """Public facts of n records (None: private) and what is minimised over them."""
        raise NotImplementedError

    def _encode(
        self, X: ArrayLike, y: ArrayLike
    ) -> tuple[Array, Array, dict[str, Any], dict[str, Any]]:
        """Rows, targets, what to declare, and attributes to store, of what the user gave."""
        raise NotImplementedError

    def _store(self, w: Array, plan: Plan) -> None:
        """Keep what the parameters mean on the user's scale."""
        raise NotImplementedError

    def _keep_single(self) -> None:
        """Keep what is stored in single precision, after rows of it, where scikit-learn's estimator does."""

    def _check_parameters(self) -> None:
        """Refuse what no data could make right, before any is looked at."""
        refuse_wrong(self.get_params(deep=False), RULES | {"random_state": SEEDS})
        payer = self._payer()
        if payer is not None and payer.neighbors != self.neighbors:
            raise ValueError(
                f"neighbors={self.neighbors!r} differs from the ledger's {payer.neighbors!r}; use one relation."
            )
        self._stated(1, 1)
        for told in self._ignored():
            warnings.warn(told, UserWarning, stacklevel=frames_to_caller())

    def _ignored(self) -> Iterator[str]:
        """A sentence for each parameter of the face that has no effect beside the others."""
        return iter(())

    def _stated(self, n: int | None, n_features: int) -> tuple[Public, Task]:
        """The face's problem, with the number of records where it may be known: by the relation, or declared."""
        if self.neighbors != "replace_one":
            n = None if self.n_public is None else int(self.n_public)
        return self._problem(n, n_features)

    def _plan(self, n: int | None, n_features: int, declared: dict[str, Any]) -> Plan:
        """All that is decided before any data, from parameters that have been checked."""
        spec = Spec(self.epsilon, self.delta, self.neighbors)
        data_norm = float(cast(float, self.data_norm))
        public, task = self._stated(n, n_features)
        facts: dict[str, Any] = {} if public.n is None else {"n": public.n}
        facts |= {"n_features": n_features, "data_norm": data_norm, **declared}
        alone = self._payer() is None and self.accountant in ("auto", "profile")
        solver = resolve(choose_solver(self.solver, task, public, spec, alone))
        return Plan(spec, task, solver, public, data_norm, self.accountant, facts)

    def _fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Check, encode, price, pay and run, and store: all, or nothing changes but what has been paid."""
        before = copy.copy(self.__dict__)
        try:
            return self._fit_or_fail(X, y)
        except BaseException as error:
            self.__dict__.clear()
            self.__dict__.update(before)
            if not isinstance(error, MemoryError):
                raise
        # Not numpy's own, which tells the number of records.
        raise MemoryError("The fit ran out of memory; give float32, or fit on fewer columns.")

    def _fit_or_fail(self, X: ArrayLike, y: ArrayLike) -> Self:
        self._check_parameters()
        X, targets, declared, stored = self._encode(X, y)
        plan = self._plan(X.shape[0], X.shape[1], declared)
        self._warn_of_seed()
        records = Records.admit(X, targets, plan.public, plan.data_norm)
        noise = Noise(seed_of(self.random_state))
        payer = self._payer()
        if payer is None and plan.spec.private:
            UNCOVERED.fit(X.shape[1], stored.get("feature_names_in_"))
        w, receipt = prepare(plan, payer).on(records, noise, self.verbose)
        if not np.isfinite(w).all():
            raise ValueError(
                f"solver={plan.solver.name!r} ended in parameters that are not finite, so the fit keeps none, though "
                "it has been paid; take smaller steps."
            )
        self._store(np.asarray(w, dtype=np.float64), plan)
        if X.dtype == np.float32:
            self._keep_single()
        for name, value in stored.items():
            setattr(self, name, value)
        self.privacy_ = replace(receipt, model=fingerprint(self), around=surroundings(self))
        if self.verbose:
            print(self.privacy_)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _sk_visual_block_(self) -> Any:
        return visual_block(self)

    def _warn_of_seed(self) -> None:
        if self.random_state is not None and self._payer() is not None:
            warnings.warn(
                f"random_state={self.random_state!r} beside a ledger: fits that share a seed share their noise, so "
                "their costs do not add up as the ledger counts; use random_state=None.",
                PrivacyWarning,
                stacklevel=frames_to_caller(),
            )


def _seeds(value: Any) -> bool:
    """Whether scikit-learn's, and this library's, random states may be made of it."""
    if isinstance(value, numbers.Integral):
        return not isinstance(value, bool) and int(value) >= 0
    return attempt(lambda: check_random_state(value))[1] is None


SEEDS = (
    _seeds,
    "must be a whole number of 0 or more, a RandomState, or None for noise that nobody knows",
)


def seed_of(random_state: int | SeedSource | None) -> int | None:
    """None stays None; anything else is a fixed seed, and the receipt says so."""
    if random_state is None:
        return None
    if isinstance(random_state, numbers.Integral):
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
