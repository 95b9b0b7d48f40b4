"""What all private linear estimators share: parameters to a plan, a plan to coefficients."""

import contextlib
import copy
import math
import numbers
import warnings

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from ..exceptions import PrivacyWarning
from ..mechanisms import Public, Records
from ..penalties import Placed, make
from ..privacy import ledger as accounts
from ..privacy.spec import Spec
from ..solvers import Task, resolve
from ._auto import chosen
from ._fit import Plan, private_fit, quote

__all__ = ["PrivateLinearModel"]

# The constant column that carries the intercept, beside rows of norm at most 1. A column of 1 would cost 41 % more
# noise everywhere; a quarter costs 3 %.
INTERCEPT_SIZE = 0.25


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
            Number of records; ignored under ``neighbors="add_remove"``, where it is private.
        n_features : int
            Number of columns.

        Returns
        -------
        Receipt
            The statement that such a fit would carry; nothing is spent.
        """
        plan = self._plan(n, n_features, {})
        self._check_ledger(plan.spec)
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
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        return X @ self.coef_[0] + self.intercept_[0]

    def _loss(self):
        raise NotImplementedError

    def _plan(self, n, n_features, declared):
        """All that is decided before any data; refuses what no data could make right."""
        spec = Spec(self.epsilon, self.delta, self.neighbors)
        data_norm = _positive("data_norm", self.data_norm, _DATA_NORM_REMEDY)
        if (
            not 1e-30 <= data_norm <= 1e30
        ):  # beyond, scaling rounds by more than the bound allows for
            raise ValueError(
                f"data_norm={data_norm:g} must lie between 1e-30 and 1e30; scale the columns first."
            )
        strength = 1.0 / _positive(
            "C", self.C, "it is the inverse strength of the penalty, as in scikit-learn"
        )
        public = Public(
            n=self._public_count(n),
            n_features=n_features,
            intercept=INTERCEPT_SIZE if self.fit_intercept else 0.0,
            neighbors=spec.neighbors,
        )
        # The flat part of SCAD and MCP is placed per record; where n is private they are on the scale of the sum.
        penalty = make(self.penalty, strength, self.l1_ratio, weight=float(public.n or 1))
        task = Task(
            self._loss(), Placed(penalty, data_norm, bool(self.fit_intercept)), (public.width,)
        )
        facts = {"n": public.n, "n_features": n_features, "data_norm": data_norm, **declared}
        if public.n is None:
            del facts["n"]
        alone = self.ledger is None and self.accountant in ("auto", "profile")
        solver = chosen(self.solver, task, public, spec, alone)
        return Plan(spec, task, solver, public, self.accountant, facts)

    def _public_count(self, n):
        if self.neighbors == "replace_one":
            return n
        if self.n_public is None:
            return None
        return int(
            _positive(
                "n_public", self.n_public, "declare a rough count, or None to buy a noisy one"
            )
        )

    def _fit_encoded(self, X, encode):
        """Validate, encode, run the plan and store; on any failure the estimator stays as it was.

        ``encode`` turns the raw target into (targets, what to declare, attributes to store).
        """
        X, targets, declared, stored = encode(X)
        plan = self._plan(len(X), X.shape[1], declared)
        self._check_ledger(plan.spec)
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
        features = w[: plan.public.n_features] / plan.task.penalty.scale
        self.coef_ = features[None, :]
        self.intercept_ = np.array([w[-1] * plan.public.intercept if self.fit_intercept else 0.0])

    def _check_ledger(self, spec):
        if self.ledger is None:
            return
        if not isinstance(self.ledger, accounts.Ledger):
            raise ValueError(
                f"ledger must be a skdp.privacy.Ledger or None, not {type(self.ledger).__name__}."
            )
        if self.ledger.neighbors != spec.neighbors:
            raise ValueError(
                f"neighbors={spec.neighbors!r} differs from the ledger's {self.ledger.neighbors!r}; use one relation."
            )

    def _warn_of_seed(self):
        if self.ledger is not None and self.random_state is not None:
            warnings.warn(
                f"random_state={self.random_state!r} beside a ledger: fits that share a seed share their noise, so "
                "their costs do not add up as the ledger counts; use random_state=None.",
                PrivacyWarning,
                stacklevel=5,
            )

    @contextlib.contextmanager
    def _unchanged_on_failure(self):
        """A refit that fails leaves the fitted estimator as it was."""
        before = copy.copy(self.__dict__)
        try:
            yield
        except BaseException as error:
            self.__dict__.clear()
            self.__dict__.update(before)
            if "could not convert string" in str(error):  # numpy's message shows the string
                raise ValueError("X holds text that is no number; encode it first.") from None
            raise


_DATA_NORM_REMEDY = (
    "declare a bound on the norm of a row that you know without looking at the data (rows beyond it are scaled down); "
    "with columns scaled to [-1, 1] by public bounds, sqrt(n_features) always holds"
)


def _positive(name, value, remedy):
    valid = isinstance(value, numbers.Real) and not isinstance(value, bool) and 0 < value < math.inf
    if not valid:
        raise ValueError(f"{name}={value!r} must be a positive finite number: {remedy}.")
    return float(value)


def _seed(random_state):
    """None stays None; anything else is a fixed seed, and the receipt says so."""
    if random_state is None:
        return None
    if isinstance(random_state, numbers.Integral):
        if random_state < 0:
            raise ValueError(f"random_state={random_state!r} must be 0 or more, or None.")
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
