"""What all private linear estimators share: parameters to a plan, a plan to coefficients."""

import copy
import numbers
import warnings

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..exceptions import PrivacyWarning
from ..mechanisms import Public, Records
from ..penalties import ScaledPenalty, make
from ..privacy.spec import Spec
from ..solvers import Task, resolve
from ._auto import choose_solver
from ._fit import Plan, private_fit, quote
from ._parameters import RULES, refuse_wrong
from ._validation import attempt, table

__all__ = ["PrivateLinearModel"]

# The constant column that carries the intercept, beside rows of norm at most 1. A column of 1 would cost 41 % more
# noise everywhere; a quarter costs 3 %.
INTERCEPT_SIZE = 0.25
LARGEST = 1e100  # of a stored parameter, before it is divided by data_norm, which is at least 1e-30


class PrivateLinearModel(BaseEstimator):
    """Base of the private linear estimators: it declares, hands over and stores."""

    def set_params(self, **params):
        """Set parameters; ``solver__name`` reaches into the solver, also where it is given by name."""
        inner = {key: params.pop(key) for key in list(params) if key.startswith("solver__")}
        super().set_params(**params)
        if inner:
            changes = {key.removeprefix("solver__"): value for key, value in inner.items()}
            self.solver = resolve(self.solver).with_params(**changes)
        return self

    def quote(self, n, n_features):
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
        counts = {"n_features": n_features}
        if self.neighbors == "replace_one" or n is not None:
            counts["n"] = n
        refuse_wrong(counts)
        # Whole numbers of Python: numpy's short ones overflow where they are multiplied.
        plan = self._plan(None if n is None else int(n), int(n_features), {})
        return quote(plan, self.ledger)

    def decision_function(self, X):
        """Scores of rows: ``X @ coef_.T + intercept_``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Positive for the second class.
        """
        check_is_fitted(self)
        X = table(self, X, reset=False)
        return X @ self.coef_[0] + self.intercept_[0]

    def _loss(self):
        raise NotImplementedError

    def _check_parameters(self):
        """Refuse what no data could make right, before any is looked at."""
        refuse_wrong(self.get_params(deep=False), RULES | {"random_state": SEEDS})
        if self.ledger is not None and self.ledger.neighbors != self.neighbors:
            raise ValueError(
                f"neighbors={self.neighbors!r} differs from the ledger's {self.ledger.neighbors!r}; use one relation."
            )
        make(self.penalty, 1.0 / float(self.C), self.l1_ratio)

    def _plan(self, n, n_features, declared):
        """All that is decided before any data, from parameters that have been checked."""
        spec = Spec(self.epsilon, self.delta, self.neighbors)
        data_norm = float(self.data_norm)
        public = Public(
            n=self._public_count(n),
            n_features=n_features,
            intercept=INTERCEPT_SIZE if self.fit_intercept else 0.0,
            neighbors=spec.neighbors,
        )
        # The flat part of SCAD and MCP is placed per record; where n is private they are on the scale of the sum.
        penalty = make(
            self.penalty, 1.0 / float(self.C), self.l1_ratio, weight=float(public.n or 1)
        )
        task = Task(
            self._loss(),
            ScaledPenalty(penalty, data_norm, bool(self.fit_intercept)),
            (public.width,),
        )
        facts = {"n": public.n, "n_features": n_features, "data_norm": data_norm, **declared}
        if public.n is None:
            del facts["n"]
        alone = self.ledger is None and self.accountant in ("auto", "profile")
        solver = choose_solver(self.solver, task, public, spec, alone)
        return Plan(spec, task, solver, public, self.accountant, facts)

    def _public_count(self, n):
        if self.neighbors == "replace_one":
            return n
        return None if self.n_public is None else int(self.n_public)

    def _encode(self, X, y):
        """Rows, targets, what to declare, and attributes to store, of what the user gave."""
        raise NotImplementedError

    def _fit(self, X, y):
        """Check, encode, run the plan and store."""
        self._check_parameters()
        X, targets, declared, stored = self._encode(X, y)
        plan = self._plan(len(X), X.shape[1], declared)
        self._warn_of_seed()
        records = Records.admit(X, targets, plan.public, plan.task.penalty.scale)
        w, receipt = private_fit(plan, records, self.ledger, _seed(self.random_state), self.verbose)
        self._store(w, plan)
        for name, value in stored.items():
            setattr(self, name, value)
        self.privacy_ = receipt
        if self.verbose:
            print(receipt)
        return self

    def _store(self, w, plan):
        """Coefficients on the user's scale: finite, for cutting what has been paid for is free and data_norm public."""
        if not np.isfinite(w).all():
            raise ValueError(
                f"solver={plan.solver.name!r} ended in parameters that are not finite, so the fit keeps none, though "
                "it has been paid; take smaller steps."
            )
        w = np.clip(np.asarray(w, dtype=np.float64), -LARGEST, LARGEST)
        features = w[: plan.public.n_features] / plan.task.penalty.scale
        self.coef_ = features[None, :]
        self.intercept_ = np.array([w[-1] * plan.public.intercept if self.fit_intercept else 0.0])

    def _warn_of_seed(self):
        if self.ledger is not None and self.random_state is not None:
            warnings.warn(
                f"random_state={self.random_state!r} beside a ledger: fits that share a seed share their noise, so "
                "their costs do not add up as the ledger counts; use random_state=None.",
                PrivacyWarning,
                stacklevel=5,
            )

    def _all_or_nothing(self, fit, X, y):
        """A refit that fails leaves the fitted estimator as it was."""
        before = copy.copy(self.__dict__)
        try:
            return fit(X, y)
        except BaseException as error:
            self.__dict__.clear()
            self.__dict__.update(before)
            if not isinstance(error, MemoryError):
                raise
        # Not numpy's own, which tells the number of records.
        raise MemoryError("The fit ran out of memory; give float32, or fit on fewer columns.")


def _seeds(value):
    """Whether scikit-learn's, and this library's, random states may be made of it."""
    if isinstance(value, numbers.Integral):
        return not isinstance(value, bool) and value >= 0
    return attempt(lambda: check_random_state(value))[1] is None


SEEDS = (
    _seeds,
    "must be a whole number of 0 or more, a RandomState, or None for noise that nobody knows",
)


def _seed(random_state):
    """None stays None; anything else is a fixed seed, and the receipt says so."""
    if random_state is None:
        return None
    if isinstance(random_state, numbers.Integral):
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
