"""Learning to rank with differential privacy, with the interface of the rankers of gradient boosting.

Scorers of documents: a linear model, or a network whose matrices are bounded and what its solvers need.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import field, replace
from numbers import Real
from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn.utils.extmath import row_norms
from sklearn.utils.validation import check_is_fitted

from ..entry import Facts, Given, Grades
from ..exceptions import NotSupported
from ..fitting import Plan, PrivateLearner, Sizes
from ..fitting._fields import attribute, parameter
from ..fitting._parameters import Rule
from ..fitting.auto import is_auto
from ..fitting.data import Array, grades, is_count, rows_times, scores, table
from ..fitting.learner import N_ITER_
from ..losses import LIST_LOSSES, ListLoss
from ..mechanisms import Public
from ..models import ACTIVATIONS, Linear, Model, Perceptron
from ..neural_network._any_network import step_of, usual
from ..penalties import L2, L2Blocks, NoPenalty, Penalty, ScaledPenalty, SpectralBalls
from ..privacy.spec import Spec
from ..solvers import LIST_SOLVERS, SOLVERS, Solver, Task, resolve
from ..solvers._rules import clip_rule
from .metrics import ndcg

__all__ = ["DPRanker"]


def scorer(sizes: int | Sequence[int], activation: str) -> Model:
    """A network of so many units in each hidden layer, or a line where there is none."""
    hidden = (sizes,) if isinstance(sizes, int | np.integer) else tuple(sizes)
    return Perceptron(tuple(map(int, hidden)), activation) if hidden else Linear()


def shares_of(model: Perceptron, data_norm: float) -> list[float]:
    """Return the factor of each layer's matrix on the user's scale."""
    return [1.0 / data_norm, *model.shares()]


def penalty_of(
    model: Model, public: Public, alpha: float, data_norm: float, bound: float | None
) -> ScaledPenalty:
    """Half the squared norm of the weights on the user's scale, and a bound on each matrix of a network.

    Parameters
    ----------
    model : Model
        The scorer.
    public : Public
        Facts that shapes follow from.
    alpha : float
        Strength.
    data_norm : float
        Bound that rows were divided by.
    bound : float or None
        Of the largest singular value, over that of weights to begin with, which is near ``sqrt(rows) + sqrt(columns)``
        for independent ones of variance 1.
    """
    if not isinstance(model, Perceptron):
        line: Penalty = L2(alpha) if alpha else NoPenalty()
        return ScaledPenalty(line, data_norm, False)
    shapes = model.shapes(public.width, 1, public.intercept > 0)
    strengths = tuple(alpha * share**2 for share in shares_of(model, data_norm))
    inner: Penalty = L2Blocks(strengths, tuple(rows * columns for rows, columns in shapes))
    if bound is not None:
        radii = tuple(bound * float(np.sqrt(rows) + np.sqrt(columns)) for rows, columns in shapes)
        inner = SpectralBalls(radii, tuple(shapes), strengths)
    return ScaledPenalty(inner, 1.0, False)


def solver_for(given: str | Solver, task: Task, public: Public, spec: Spec) -> Solver:
    """The solver of a network; where it says nothing of its steps, they are as long as noise and curvature allow."""
    solver = usual() if is_auto(given) else resolve(given)
    if not solver.for_any_model or solver.get_params().get("step_size") is not None:
        return solver
    clip = solver.get_params()["clip"] or clip_rule(task, public, math.inf, whole=False)
    return solver.with_params(step_size=step_of(solver, task, public, spec, clip))


def scored(X: Array, matrices: list[Array], activation: str, data_norm: float) -> Array:
    """Scores of documents; those beyond `data_norm` are scaled down, as they are in a fit."""
    X = X if issparse(X) else np.ascontiguousarray(X)  # norms in one order of sums
    long = np.maximum(row_norms(X) / data_norm, 1.0).astype(X.dtype)
    rows = X if (long == 1.0).all() else X / long[:, None]  # products of far ones would overflow
    found = rows_times(rows, matrices[0])
    for matrix in matrices[1:]:
        said: Any = ACTIVATIONS[activation](found)[0]
        found = rows_times(said, matrix)
    return np.asarray(found[:, 0])


LARGEST = 1e100  # of a stored parameter, before it is divided by data_norm
LARGEST_GRADE = 31.0
UNITS = {  # what a receipt calls them, and what is private of a list
    "list": ("list of documents with its labels", "documents"),
    "list_labels": ("list of labels (the documents are public)", "labels"),
    "user": ("person with several lists of documents and their labels", "documents"),
}

_SOLVERS = sorted(
    {*LIST_SOLVERS, *(name for name, kind in SOLVERS.items() if kind.takes_lists), "auto"}
)


def _is_width(value: Any) -> bool:
    return is_count(value) and value <= 10**6


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _named(kind: Any, names: Any) -> Any:
    return lambda value: isinstance(value, kind) or (isinstance(value, str) and value in names)


PRIVACY_UNIT: Rule = (
    _named((), UNITS),
    "is not known; use 'list', 'user' for persons with several, or 'list_labels' where documents are public",
)
LOSS: Rule = (
    _named(ListLoss, LIST_LOSSES),
    f"is not known; use one of {sorted(LIST_LOSSES)} or an instance of ListLoss from skdp.losses",
)
SOLVER: Rule = (
    _named(Solver, _SOLVERS),
    f"is not known here; use one of {_SOLVERS} or an instance from skdp.solvers",
)
K: Rule = (is_count, "must be a whole number of 1 or more: the places that count in score")
MAX_LISTS_PER_USER: Rule = (
    lambda value: value is None or is_count(value),
    "must be a whole number of 1 or more: the lists of a person that enter, or None",
)
HIDDEN_LAYER_SIZES: Rule = (
    lambda value: all(map(_is_width, value if isinstance(value, list | tuple) else [value])),
    "must be a number of units from 1 to 1e6, or a tuple of such numbers, one for each hidden layer; () for none",
)
SPECTRAL_NORM: Rule = (
    lambda value: value is None or (_is_number(value) and 1e-6 <= value <= 1e6),
    "must be a number between 1e-6 and 1e6, or None: of the largest singular values, over those of weights to "
    "begin with",
)
MAX_DOCUMENTS: Rule = (is_count, "must be a whole number of 1 or more: documents of a list")


class DPRanker(PrivateLearner):
    """Ranking of documents with (epsilon, delta)-differential privacy, learned from lists of judged ones.

    A list holds the documents of one query, session or person with a grade for each: 0 for no use, and more is
    better. What is protected is a list, or all lists of a person, never a single document.

    Parameters
    ----------
    privacy_unit : {"list", "list_labels", "user"}, default="list"
        "list" protects whole lists: neighbours differ in all documents of one and in their labels. "list_labels"
        protects how documents were judged: **the documents, and which are in one list, are taken as public**. That
        needs far less noise; the receipt says which. "user" protects persons with several lists, all of them: a fit
        then takes ``groups``.
    max_lists_per_user : int, default=None
        With ``privacy_unit="user"``: public bound on the lists of a person, of which the first so many enter with equal
        weights. None elsewhere.
    loss : str or ListLoss, default="listnet"
        What is minimised: "listnet", "listmle", "bayesrank", or an instance from `skdp.losses`.
    alpha : float, default=0.0
        Strength of half of the squared norm of the coefficients, relative to the SUM of losses.
    hidden_layer_sizes : int or sequence of int, default=()
        Units of each hidden layer of a network without constants that scores documents; (): scores are linear.
    activation : {"relu", "tanh", "logistic", "identity"}, default="relu"
        What a hidden unit says of its score.
    spectral_norm : float, default=1.0
        Bound on the largest singular value of each layer's matrix, over that of the weights to begin with; it is kept
        after every step. None: none.
    k : int, default=10
        Places that count in `score`.
    max_documents : int, default=1000
        Public bound on the documents of a list, of which the first so many enter; not used where documents are public.
    solver : str or Solver, default="auto"
        "one-shot" (only "listnet" with "list_labels", and "auto" there), "gd" ("auto" elsewhere), "sgd" or "adam", or
        an instance. Networks are learned by "sgd" ("auto") or "adam".
    neighbors : {"replace_one", "add_remove"}, default="replace_one"
        Neighbouring data differ by one list replaced (their number is public), or added or removed (it is private);
        "list_labels" knows the former only, with labels replaced.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Private coefficients of a document's score, where it is linear.
    coefs_ : list of ndarray
        Private weights of each layer, where it is a network's.

    See Also
    --------
    skdp.ranking.ndcg : What `score` is the mean of.
    skdp.losses.ListNet : The usual loss.

    Notes
    -----
    There is no intercept: it would change no order. A person with several lists is protected by "user" alone.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.ranking import DPRanker
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-0.5, 0.5, (4000, 3))
    >>> y, qid = (X[:, 0] + 0.5 * X[:, 1] > 0.25).astype(int), np.repeat(np.arange(500), 8)
    >>> model = DPRanker(privacy_unit="list_labels", data_norm=1.0, random_state=0).fit(X, y, qid=qid)
    >>> bool(model.score(X, y, qid=qid) > 0.9), model.privacy_.unit
    (True, 'list of labels (the documents are public)')
    """

    # A splitter takes ids of the same name: they are a fit's as well only if somebody says so.
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"groups": False}
    solver: str | Solver = parameter("auto", rule=SOLVER)
    privacy_unit: str = parameter("list", rule=PRIVACY_UNIT)
    loss: str | ListLoss = parameter("listnet", rule=LOSS)
    alpha: float = 0.0
    k: int = parameter(10, rule=K)
    max_documents: int = parameter(1000, rule=MAX_DOCUMENTS)
    max_lists_per_user: int | None = parameter(None, rule=MAX_LISTS_PER_USER)
    hidden_layer_sizes: int | Sequence[int] = parameter((), rule=HIDDEN_LAYER_SIZES)
    activation: str = "relu"
    spectral_norm: float | None = parameter(1.0, rule=SPECTRAL_NORM)
    coef_: Array = field(init=False)
    coefs_: list[Array] = field(init=False)
    n_iter_: Array = attribute(N_ITER_)

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        qid: ArrayLike | None = None,
        group: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Fit with differential privacy.

        Parameters
        ----------
        X : array-like of shape (n_documents, n_features)
            Documents, list after list; those of norm beyond ``data_norm`` count as if scaled down to it.
        y : array-like of shape (n_documents,)
            Grades: whole numbers from 0 to 31.
        qid : array-like of shape (n_documents,), default=None
            The id of each document's list; those of a list stand together.
        group : array-like of shape (n_lists,), default=None
            Documents of each list, in order, in the place of ids.
        groups : array-like of shape (n_documents,) or (n_lists,), default=None
            With ``privacy_unit="user"``: the id of the person whose each document, or each list, is.

        Returns
        -------
        self
        """
        return self._fit(Given(X, y, groups=groups, qid=qid, sizes=group))

    def predict(self, X: ArrayLike) -> Array:
        """Scores of documents: in a list, the best have the largest.

        Parameters
        ----------
        X : array-like of shape (n_documents, n_features)
            Documents.

        Returns
        -------
        ndarray of shape (n_documents,)
        """
        check_is_fitted(self)
        rows = table(self, X, reset=False)
        if "coefs_" in vars(self):
            return scored(rows, self.coefs_, self.activation, float(cast(float, self.data_norm)))
        return scores(rows, self.coef_, 0.0)

    def score(
        self,
        X: ArrayLike,
        y: ArrayLike,
        qid: ArrayLike | None = None,
        group: ArrayLike | None = None,
    ) -> float:
        """Mean NDCG of the first ``k`` places; computed of the data in the clear, so it is not private.

        Parameters
        ----------
        X : array-like of shape (n_documents, n_features)
            Documents, list after list.
        y : array-like of shape (n_documents,)
            Grades.
        qid : array-like of shape (n_documents,), default=None
            The id of each document's list.
        group : array-like of shape (n_lists,), default=None
            Documents of each list, in the place of ids.

        Returns
        -------
        float
            Between 0 and 1; a list without a grade above 0 counts as 0.
        """
        found = self.predict(X)
        return float(ndcg(grades(self, y, len(found)), found, qid=qid, group=group, k=int(self.k)))

    def _loss(self) -> ListLoss:
        return self.loss if isinstance(self.loss, ListLoss) else LIST_LOSSES[self.loss]()

    def _problem(self, sizes: Sizes) -> tuple[Public, Task]:
        private = UNITS[self.privacy_unit][1]
        each = int(self.max_lists_per_user or 0)
        given: Any = {"rows": int(self.max_documents) * max(each, 1), "lists": private}
        model = scorer(self.hidden_layer_sizes, self.activation)
        given |= {"lists_each": each, "model": model}
        public = Public(sizes.n, sizes.n_features, 0.0, self.neighbors, LARGEST_GRADE, **given)
        bound = self.spectral_norm
        penalty = penalty_of(model, public, float(self.alpha), sizes.norm, bound)
        linear = not isinstance(model, Perceptron)
        return public, Task(self._loss(), penalty, model.shape(public), (), linear)

    def _chosen(self, task: Task, public: Public, spec: Spec, alone: bool) -> Solver:
        if task.linear:
            return super()._chosen(task, public, spec, alone)
        solver = solver_for(self.solver, task, public, spec)
        bounded = self.spectral_norm is not None
        if bounded and solver.for_any_model and "smooth_penalty" in solver.needs:
            raise NotSupported(
                f"solver={solver.name!r} keeps no bound on matrices; use 'sgd', or spectral_norm=None."
            )
        return solver

    def _check_parameters(self) -> None:
        if self.privacy_unit == "list_labels" and self.neighbors != "replace_one":
            raise ValueError(
                f"neighbors={self.neighbors!r} makes lists private, and privacy_unit='list_labels' takes them as "
                "public; use 'replace_one', or privacy_unit='list'."
            )
        if (self.max_lists_per_user is not None) != (self.privacy_unit == "user"):
            raise ValueError(
                f"max_lists_per_user={self.max_lists_per_user} and privacy_unit={self.privacy_unit!r} do not go "
                "together; privacy_unit='user' needs a public bound on the lists of a person, and other units take "
                "none."
            )
        if self.data_norm is None:
            raise ValueError(
                "data_norm=None estimates bounds of the columns privately, which has no proof for lists; declare a "
                "bound on the norm of a document that you know without looking at the data."
            )
        super()._check_parameters()

    def _plan(self, *given: Any) -> Plan:
        plan = super()._plan(*given)
        declared = {**plan.declared, "privacy_unit": self.privacy_unit}
        if self.privacy_unit != "list_labels":
            declared["max_documents"] = int(self.max_documents)
        if self.privacy_unit == "user":
            declared["max_lists_per_user"] = int(cast(int, self.max_lists_per_user))
        return replace(plan, declared=declared, unit=UNITS[self.privacy_unit][0])

    def _reader(self) -> Grades:
        return Grades(self.privacy_unit, float(cast(float, self.data_norm)))

    def _complete(self, plan: Plan, facts: Facts) -> Plan:
        plan, shown = super()._complete(plan, facts), facts.documents
        if shown is None:
            return plan
        public = replace(plan.public, documents=shown, rows=int(shown.lists.sizes.max()))
        declared = {
            **plan.declared,
            "public_documents": len(shown.rows),
            "longest_list": public.rows,
        }
        solver = plan.solver
        if not plan.task.linear:  # its steps depend on the clip, and that on documents
            solver = self._chosen(plan.task, public, plan.spec, False)
        return replace(plan, public=public, declared=declared, solver=solver)

    def _store(self, w: Array, plan: Plan) -> None:
        w, model = np.clip(w, -LARGEST, LARGEST), plan.public.model
        for name in ("coef_", "coefs_"):  # of an earlier fit
            vars(self).pop(name, None)
        if isinstance(model, Perceptron):
            matrices = model.matrices(w, plan.public.width, False)
            shares = shares_of(model, plan.data_norm)
            self.coefs_ = [m * share for m, share in zip(matrices, shares, strict=True)]
        else:
            self.coef_ = w / plan.data_norm

    def _keep_single(self) -> None:
        most = float(np.finfo(np.float32).max)
        if "coefs_" in vars(self):
            self.coefs_ = [np.clip(m, -most, most).astype(np.float32) for m in self.coefs_]
        else:
            self.coef_ = np.clip(self.coef_, -most, most).astype(np.float32)
