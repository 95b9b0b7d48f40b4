"""Private linear classifiers with scikit-learn's face."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from ..fitting import PrivateClassifier
from ..fitting.data import Array, SeedSource
from ..losses import LOSSES, HuberisedHinge, Logistic, Loss, Multinomial
from ..penalties import Penalty
from ..privacy import Ledger
from ..solvers import Solver
from ._linear import LinearModel, keep_single

__all__ = ["DPLinearSVC", "DPLogisticRegression"]


class DPLogisticRegression(LinearModel, PrivateClassifier):
    """Logistic regression with (epsilon, delta)-differential privacy.

    Minimises ``C * sum(log(1 + exp(-y (x.w + b)))) + penalty(w)``, as scikit-learn does, by a
    solver that only ever sees private answers. The privacy statement of a fit is in ``privacy_``.

    Parameters
    ----------
    epsilon : float, default=1.0
        Privacy loss that is promised; smaller is more private. ``inf`` adds no noise and is not private.
    delta : float, default=1e-6
        Probability of exceeding it; choose it well below 1/n.
    solver : str or Solver, default="auto"
        Algorithm, by name or as an instance such as ``skdp.solvers.SGD(batch_size=200)``; "auto" chooses by the
        promise and by public sizes, see docs/choose_a_solver.md.
    penalty : {"auto", "l2", "l1", "elasticnet", "scad", "mcp", None} or Penalty, default="auto"
        Penalty on the coefficients; the intercept is free. "auto" goes by ``l1_ratio``.
    C : float, default=1.0
        Inverse strength of the penalty, relative to the SUM of losses; ``inf`` for none.
    l1_ratio : float, default=None
        Share of L1 in the elastic net: None or 0 is L2, 1 is L1, as in scikit-learn.
    data_norm : float
        Public bound on the norm of a row; rows beyond it are scaled down. It must be declared.
    fit_intercept : bool, default=True
        Whether to add a constant column, which the bound covers.
    classes : array-like of two labels, default=None
        All labels that may occur. None takes them from y, which makes them public and warns.
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
    coef_ : ndarray of shape (1, n_features)
        Private coefficients.
    intercept_ : ndarray of shape (1,)
        Private intercept.
    classes_ : ndarray of shape (2,)
        Labels.
    privacy_ : Receipt
        What the fit costs, how that was computed, and what was declared public.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of str
        Names of the columns, where X had string names.

    Examples
    --------
    >>> from skdp import DPLogisticRegression
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(5000, n_features=5, random_state=0)
    >>> model = DPLogisticRegression(epsilon=1.0, delta=1e-6, data_norm=3.0, classes=[0, 1], random_state=0)
    >>> bool(model.fit(X, y).score(X, y) > 0.8)
    True
    >>> bool(model.privacy_.epsilon <= 1.0)
    True
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        *,
        solver: str | Solver = "auto",
        penalty: str | Penalty | None = "auto",
        C: float = 1.0,
        l1_ratio: float | None = None,
        data_norm: float | None = None,
        fit_intercept: bool = True,
        classes: ArrayLike | None = None,
        class_weight: dict[Any, float] | None = None,
        multi_class: str = "multinomial",
        max_rows_per_group: int | None = None,
        max_sample_weight: float | None = None,
        neighbors: str = "replace_one",
        n_public: float | None = None,
        accountant: str = "auto",
        ledger: Ledger | None = None,
        random_state: int | SeedSource | None = None,
        verbose: int = 0,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.solver = solver
        self.penalty = penalty
        self.C = C
        self.l1_ratio = l1_ratio
        self.data_norm = data_norm
        self.fit_intercept = fit_intercept
        self.classes = classes
        self.class_weight = class_weight
        self.multi_class = multi_class
        self.max_rows_per_group = max_rows_per_group
        self.max_sample_weight = max_sample_weight
        self.neighbors = neighbors
        self.n_public = n_public
        self.accountant = accountant
        self.ledger = ledger
        self.random_state = random_state
        self.verbose = verbose

    def _loss(self, outputs: int) -> Loss:
        return Logistic() if outputs == 1 else Multinomial(outputs)

    def _keep_single(self) -> None:
        keep_single(self)

    def predict_proba(self, X: ArrayLike) -> Array:
        """Probabilities of all classes; fits of each class against the rest give them up to their sum, as usual.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            One column per class of ``classes_``.
        """
        scores = self.decision_function(X)
        if scores.ndim == 1:
            second = Logistic().predict(scores)
            return np.column_stack([1.0 - second, second])
        if self.multi_class == "multinomial":
            return Multinomial(scores.shape[1]).predict(scores)
        each = Logistic().predict(scores)
        total = each.sum(axis=1, keepdims=True)
        return np.where(total > 0.0, each / np.where(total > 0.0, total, 1.0), 1.0 / each.shape[1])

    def predict_log_proba(self, X: ArrayLike) -> Array:
        """Logarithms of `predict_proba`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            One column per class of ``classes_``.
        """
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return -np.column_stack([Logistic().value(scores, -1.0), Logistic().value(scores, 1.0)])
        if self.multi_class == "multinomial":
            return scores - logsumexp(scores, axis=1, keepdims=True)
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))


class DPLinearSVC(LinearModel, PrivateClassifier):
    """Linear support vector classifier with (epsilon, delta)-differential privacy.

    Parameters
    ----------
    epsilon, delta : float
        As in `DPLogisticRegression`, like all parameters that are not listed here.
    loss : {"huberised_hinge", "hinge", "squared_hinge"} or Loss, default="huberised_hinge"
        Loss of the margin: any of two classes in ``skdp.losses.LOSSES``, by name, or an instance. The hinge itself only
        with solvers that need no smoothness.
    h : float, default=0.5
        Half-width of the quadratic part of the huberised hinge.
    solver, penalty, C, l1_ratio, data_norm, fit_intercept, classes, neighbors, n_public, accountant, ledger : object
        As in `DPLogisticRegression`.
    random_state, verbose : object
        As in `DPLogisticRegression`.

    Attributes
    ----------
    coef_, intercept_, classes_, privacy_, n_features_in_, feature_names_in_
        As in `DPLogisticRegression`.

    Examples
    --------
    >>> from skdp import DPLinearSVC
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(5000, n_features=5, random_state=0)
    >>> model = DPLinearSVC(epsilon=1.0, delta=1e-6, data_norm=3.0, classes=[0, 1], random_state=0)
    >>> bool(model.fit(X, y).score(X, y) > 0.8)
    True
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        *,
        solver: str | Solver = "auto",
        penalty: str | Penalty | None = "auto",
        loss: str | Loss = "huberised_hinge",
        h: float = 0.5,
        C: float = 1.0,
        l1_ratio: float | None = None,
        data_norm: float | None = None,
        fit_intercept: bool = True,
        classes: ArrayLike | None = None,
        class_weight: dict[Any, float] | None = None,
        max_rows_per_group: int | None = None,
        max_sample_weight: float | None = None,
        neighbors: str = "replace_one",
        n_public: float | None = None,
        accountant: str = "auto",
        ledger: Ledger | None = None,
        random_state: int | SeedSource | None = None,
        verbose: int = 0,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.solver = solver
        self.penalty = penalty
        self.loss = loss
        self.h = h
        self.C = C
        self.l1_ratio = l1_ratio
        self.data_norm = data_norm
        self.fit_intercept = fit_intercept
        self.classes = classes
        self.class_weight = class_weight
        self.max_rows_per_group = max_rows_per_group
        self.max_sample_weight = max_sample_weight
        self.neighbors = neighbors
        self.n_public = n_public
        self.accountant = accountant
        self.ledger = ledger
        self.random_state = random_state
        self.verbose = verbose

    def _ignored(self) -> Iterator[str]:
        """Beside those of the penalty, the half-width of another loss."""
        yield from super()._ignored()
        if self.loss != "huberised_hinge" and self.h != 0.5:
            yield f"h={self.h} is only used when loss='huberised_hinge'."

    def _loss(self, outputs: int) -> Loss:
        if isinstance(self.loss, Loss):
            return self.loss
        kind = LOSSES[self.loss]
        return kind(self.h) if kind is HuberisedHinge else kind()
