"""Private searches, over a grid or over settings that are drawn: settings in, one price, one model out."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import MetaEstimatorMixin
from sklearn.model_selection import ParameterGrid, ParameterSampler
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._fingerprint import fingerprint
from ..entry import SearchRecords
from ..exceptions import NotSupported
from ..fitting._bases import BaseEstimator
from ..fitting._fields import FromFields
from ..fitting._payer import (
    note_clone,
    note_price,
    paying_ledger,
    send_scope,
    take_scope,
    warn_of_doubts,
    warn_of_promise,
)
from ..fitting._provenance import name_around
from ..fitting._seeds import seed_of, warn_of_seed
from ..fitting.data import Array, warn_of_column
from ..fitting.program import charge, version
from ..fitting.release import Seeds
from ..privacy import Ledger, Receipt, Spec, choose
from ..privacy import epsilon as price_of
from ..privacy.ledger import paid, today
from ..privacy.selection import CappedGeometricRuns
from ._candidates import Candidates, agreed, last_of, paying
from ._frame import Best, Frame, Widths, marked, refuse_rest, widths_of
from ._geometric import Geometric, Pilot
from ._losses import SCORES

__all__ = ["DPGridSearchCV", "DPRandomizedSearchCV", "PrivateSearch"]

_FEW = 8  # settings up to which pilots and a refit do better than a random number of runs
Settings = Sequence[Mapping[str, Any]]
Strategy = Geometric | Pilot


def _offers(name: str) -> Callable[[Any], bool]:
    """Return a test: does the best model, or before a fit the estimator, have this method?"""

    def offered(search: Any) -> bool:
        getattr(getattr(search, "best_estimator_", search.estimator), name)
        return True

    return offered


class PrivateSearch(FromFields, MetaEstimatorMixin, BaseEstimator):
    """Base class of the private searches; each one lists its settings in `_settings`.

    Parameters
    ----------
    estimator : estimator
        A private one, with declared ``classes`` or ``y_bounds``, or a pipeline of steps that pay or read no record.
        Epsilons of its steps say how they share what is spent on a fit.
    epsilon, delta : float, default=None
        The promise for everything that the search does. None takes the estimator's; of a pipeline, the sum over its
        steps that pay. Where both are written and differ, a fit refuses; an estimator's default counts as unwritten.
    scoring : str or None
        "accuracy", "neg_log_loss" (probabilities below exp(-5) count as that) or "neg_brier_score" of classifiers,
        "neg_mean_squared_error" of regressors; None for the first that fits.
    strategy : {"auto", "pilot", "geometric"}, default="auto"
        "pilot" for fits of all settings, a choice and a refit, which Gaussian noise allows; "geometric" for a random
        number of runs.
    mean_runs : int, default=10
        Mean of the geometric law of the number of runs, before it is capped.
    max_runs : int, default=30
        Most runs. So many are always made, so that time does not tell how many counted.
    default_share : float, default=0.5
        How often a run takes the estimator as it is, rather than a setting that is searched.
    ledger : Ledger or None
        Charged once for all, before a record is touched.
    random_state : int, RandomState or None
        A seed, for tests.

    Attributes
    ----------
    best_estimator_ : estimator
        The model. Its ``epsilon`` is what one run was given; its ``privacy_`` is the receipt of the whole search.
    best_params_ : dict
        Its setting; empty where it is the estimator as it was given.
    best_score_ : float
        Its noisy score on its own training records, of a "geometric" search: the best of several, so above what fresh
        records would show.
    privacy_ : Receipt
        What all of it cost, with how settings were chosen in ``tuning``.
    classes_ : ndarray
        Labels of the best model, of a classifier.
    n_features_in_ : int
        Columns of the tables that it takes.
    feature_names_in_ : ndarray of str
        Their names, where they had any.
    """

    estimator: Any = field(kw_only=False)
    epsilon: float | None = None
    delta: float | None = None
    scoring: str | None = None
    strategy: str = "auto"
    mean_runs: int = 10
    max_runs: int = 30
    default_share: float = 0.5
    ledger: Ledger | None = None
    random_state: Any = None
    best_estimator_: Any = field(init=False)
    best_params_: dict[str, Any] = field(init=False)
    best_score_: float = field(init=False)
    privacy_: Receipt = field(init=False)

    def _settings(self) -> Settings:
        """Return the settings to choose from, which are public."""
        raise NotImplementedError

    def quote(self, n: int | None, n_features: int) -> Receipt:
        """Return the receipt of a search on n records, whatever it finds; nothing is spent.

        Parameters
        ----------
        n : int or None
            Number of records; None under ``neighbors="add_remove"``.
        n_features : int
            Number of columns; of a pipeline, of those that come to its paying steps.

        Returns
        -------
        Receipt
        """

        def widths(candidates: Candidates) -> Widths:
            models = map(candidates.bare, range(len(candidates)))
            return tuple((n_features,) * len(list(paying(model))) for model in models)

        return self._receipt(self._planned(self._settings(), n, widths))

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Search with differential privacy: one model leaves, and all is paid for before a record is touched.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Their labels or targets.

        Returns
        -------
        self
        """
        settings = self._settings()
        candidates = self._candidates(settings, False)
        records = SearchRecords(marked(candidates.bare(0)), X, y)
        warn_of_column(y)
        n = records.count(_relation(candidates))
        strategy = self._planned(settings, n, lambda found: widths_of(found, records))
        refuse_rest(strategy.frame, records)
        receipt, payer = self._receipt(strategy), paying_ledger(self)
        if payer is not None and payer.neighbors != receipt.neighbors:
            raise ValueError(
                f"neighbors={receipt.neighbors!r} differs from the ledger's {payer.neighbors!r}; use one relation."
            )
        warn_of_promise(strategy.frame.spec, n)
        warn_of_doubts(last_of(self.estimator)._doubts())
        warn_of_seed(payer, self.random_state)
        stood = charge(payer, receipt.script, "search")
        with paid():
            best = strategy.run(records, Seeds(self.random_state))
        if best is None:
            raise ValueError(
                "The search ended without a model, but its cost has been paid; use a larger epsilon."
            )
        seeded = self.random_state is not None
        around = name_around(type(self).__name__)
        stated = replace(receipt, date=today(), ledger=stood, seeded=seeded, around=around)
        self._store(strategy, best, stated)
        return self

    @available_if(_offers("predict"))  # type: ignore[untyped-decorator]
    def predict(self, X: ArrayLike) -> Array:
        """Return the predictions of the best model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        """
        return np.asarray(self._best().predict(X))

    @available_if(_offers("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: ArrayLike) -> Array:
        """Probabilities by the best model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        """
        return np.asarray(self._best().predict_proba(X))

    @available_if(_offers("predict_log_proba"))  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: ArrayLike) -> Array:
        """Logarithms of them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        """
        return np.asarray(self._best().predict_log_proba(X))

    @available_if(_offers("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: ArrayLike) -> Array:
        """Scores by the best model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        """
        return np.asarray(self._best().decision_function(X))

    @available_if(_offers("score"))  # type: ignore[untyped-decorator]
    def score(self, X: ArrayLike, y: ArrayLike) -> float:
        """The best model's own score; computed of the data in the clear, so it is not private.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Their labels or targets.
        """
        return float(self._best().score(X, y))

    @property
    def classes_(self) -> Array:
        """Labels of the best model."""
        return np.asarray(self._best().classes_)

    @property
    def n_features_in_(self) -> int:
        """Columns of the tables that it takes."""
        if not hasattr(self, "best_estimator_"):
            raise AttributeError(f"{type(self).__name__} has no n_features_in_ before fit.")
        return int(self.best_estimator_.n_features_in_)

    @property
    def feature_names_in_(self) -> Array:
        """Names of the columns, if the fitted table had any."""
        if not hasattr(self, "best_estimator_"):
            raise AttributeError(f"{type(self).__name__} has no feature_names_in_ before fit.")
        return np.asarray(self.best_estimator_.feature_names_in_)

    def set_params(self, **params: Any) -> Self:
        """Set parameters, as in scikit-learn."""
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

    def _best(self) -> Any:
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags = copy.deepcopy(inner.classifier_tags)
        tags.regressor_tags = copy.deepcopy(inner.regressor_tags)
        tags.input_tags = copy.deepcopy(inner.input_tags)
        tags.target_tags.required = True
        return tags

    def _store(self, strategy: Strategy, best: Best, receipt: Receipt) -> None:
        """The model, with the receipt of all in the place of one fit's own."""
        self.best_estimator_ = best.model
        self.best_params_ = dict(strategy.frame.candidates.settings[best.setting])
        self.__dict__.pop("best_score_", None)
        if best.score is not None:
            self.best_score_ = best.score
        for _, step in paying(best.model):
            step.set_params(random_state=None)
        self.privacy_ = replace(receipt, model=self._fingerprints())
        for _, step in paying(best.model):
            step.privacy_ = self.privacy_

    def _fingerprints(self) -> dict[str, str]:
        """Return the fingerprints of the model, of the search, and of each other paying step by its place."""
        best, last = self.best_estimator_, last_of(self.best_estimator_)
        parts = {f"steps.{name}.": step for name, step in paying(best) if step is not last}
        parts = {"": last, "search.": self, **parts}
        return {
            place + name: digest
            for place, part in parts.items()
            for name, digest in fingerprint(part).items()
        }

    def _promised(self) -> Spec:
        """Epsilon and delta for everything."""
        epsilon = agreed("epsilon", self.epsilon, self.estimator)
        return Spec(epsilon, agreed("delta", self.delta, self.estimator))

    def _candidates(self, settings: Settings, with_default: bool) -> Candidates:
        """Return the candidates with all that is decided before a table is looked at."""
        spec = self._promised()
        if not spec.private or spec.delta == 0.0:
            raise NotSupported(
                f"epsilon={spec.epsilon!r}, delta={spec.delta!r}: a private search needs a finite epsilon and delta > "
                "0; for a search without privacy, use scikit-learn's."
            )
        if self.strategy not in ("auto", "geometric", "pilot"):
            raise ValueError(
                f"strategy={self.strategy!r} is unknown; use 'auto', 'geometric' or 'pilot'."
            )
        share = self.default_share
        if isinstance(share, bool) or not 0 <= share < 1:
            raise ValueError(f"default_share={share!r} must lie in [0, 1).")
        CappedGeometricRuns(self.mean_runs, self.max_runs)  # refuses what is no law
        share = float(share) if with_default else 0.0
        return Candidates.of(self.estimator, settings, share, spec.delta)

    def _planned(
        self, settings: Settings, n: int | None, widths: Callable[[Candidates], Widths]
    ) -> Strategy:
        """The strategy: where few settings and Gaussian fits allow it, pilots."""
        few = self.strategy == "auto" and len(settings) <= _FEW
        if few or self.strategy == "pilot":
            pilot = Pilot(self._frame(self._candidates(settings, False), n, widths))
            if self.strategy == "pilot" or pilot.proved():
                return pilot
        frame = self._frame(self._candidates(settings, True), n, widths)
        return Geometric(frame, self.mean_runs, self.max_runs)

    def _frame(
        self, candidates: Candidates, n: int | None, widths: Callable[[Candidates], Widths]
    ) -> Frame:
        spec = replace(self._promised(), neighbors=_relation(candidates))
        scoring = _scoring(self.scoring, last_of(candidates.bare(0)))
        payer = paying_ledger(self)
        accountant = "gdp" if payer is not None and payer.accountant == "gdp" else "auto"
        return Frame(candidates, scoring, spec, n, widths(candidates), accountant)

    def _receipt(self, strategy: Strategy) -> Receipt:
        """The statement of all that will be released, before anything is."""
        frame, script = strategy.frame, strategy.script
        spec, candidates = frame.spec, frame.candidates
        models = [(i, strategy.quoted(i)) for i in range(len(candidates))]
        quotes = [q for i, m in models for q in candidates.quotes(m, frame.n, frame.widths[i])]
        pages = dict.fromkeys(page for quote in quotes for page in quote.proofs)
        facts = _declared(quotes) | {"settings": len(candidates)}
        last = type(last_of(self.estimator)).__name__
        return Receipt(
            price_of(script, spec.delta, spec.neighbors),
            spec.delta,
            spec.neighbors,
            choose(script, spec.neighbors, spec.delta),
            script,
            f"{type(self).__name__} among {len(candidates)} settings of {last}",
            proofs=tuple(pages | dict.fromkeys(strategy.proofs())),
            notes=tuple(dict.fromkeys(note for quote in quotes for note in quote.notes)),
            declared=facts,
            tuning=f"paid for within this price: {strategy.told()}",
            version=version(),
        )


class DPGridSearchCV(PrivateSearch):
    """Choose among the settings of a grid, and fit the best, within one privacy budget.

    With eight settings or fewer each is fitted once on a share of the budget, one is chosen by a noisy comparison, and
    fitted again with most of the budget. With more, a secret and random number of runs is made, each on a setting that
    is drawn at random and scored with noise, and only the best model leaves. Models are scored on the records that they
    were fitted on: private fits hardly overfit, and no record is set aside.

    Parameters
    ----------
    param_grid : dict or list of dict
        Names of parameters and lists of values, as scikit-learn has them. The promise, the relation and the seed are
        not to be chosen.

    See Also
    --------
    DPRandomizedSearchCV : Over distributions.
    dp_cross_val_score : What one setting is worth on records that it has not seen.

    Notes
    -----
    Nothing of a losing candidate leaves: there is no ``cv_results_``. A good default beats a search in most cases that
    were tried, see docs/evaluation.md. Where candidates differ in the time that they take, total time tells something
    of which were drawn.

    Examples
    --------
    >>> from skdp import DPLogisticRegression
    >>> from skdp.datasets import make_census
    >>> from skdp.model_selection import DPGridSearchCV
    >>> X, y = make_census(n_samples=2000, return_X_y=True)
    >>> model = DPLogisticRegression(epsilon=2.0, data_norm=1.0, classes=[0, 1], solver="gd")
    >>> search = DPGridSearchCV(model, {"C": [0.01, 1, 100]})
    >>> round(search.quote(2000, X.shape[1]).epsilon, 2)  # before anything is spent
    2.0
    >>> search.fit(X, y).best_params_["C"] in (0.01, 1, 100)
    True
    """

    param_grid: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]] = field(
        kw_only=False
    )

    def _settings(self) -> list[dict[str, Any]]:
        return list(ParameterGrid(self.param_grid))


class DPRandomizedSearchCV(PrivateSearch):
    """Choose among settings drawn from public distributions, and fit the best, within one privacy budget.

    Settings are drawn before any record is read, and are no secret; then it goes on as `DPGridSearchCV` does.

    Parameters
    ----------
    param_distributions : dict or list of dict
        Lists, or distributions with ``rvs``, as in scikit-learn.
    n_iter : int, default=10
        How many settings are drawn.

    See Also
    --------
    DPGridSearchCV : Over a grid.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from skdp import DPLogisticRegression
    >>> from skdp.datasets import make_census
    >>> from skdp.model_selection import DPRandomizedSearchCV
    >>> X, y = make_census(n_samples=2000, return_X_y=True)
    >>> model = DPLogisticRegression(data_norm=1.0, classes=[0, 1], solver="gd")
    >>> search = DPRandomizedSearchCV(model, {"C": loguniform(0.01, 100)}, n_iter=20, epsilon=2.0)
    >>> print(search.fit(X, y).privacy_.tuning[:68])
    paid for within this price: the best of K runs by a noisy score of t
    """

    param_distributions: Mapping[str, Any] | Sequence[Mapping[str, Any]] = field(kw_only=False)
    n_iter: int = 10

    def _settings(self) -> list[dict[str, Any]]:
        seed = seed_of(self.random_state)
        return list(ParameterSampler(self.param_distributions, self.n_iter, random_state=seed))


def _declared(quotes: Sequence[Receipt]) -> dict[str, Any]:
    """Return what is public of all settings; a fact that differs among them reads "by setting"."""
    names = dict.fromkeys(name for quote in quotes for name in quote.declared)
    first, missing = quotes[0].declared, object()
    alike = {
        name: all(
            str(quote.declared.get(name, missing)) == str(first.get(name)) for quote in quotes
        )
        for name in names
    }
    return {name: first[name] if alike[name] else "by setting" for name in names}


def _relation(candidates: Candidates) -> str:
    """The relation of all candidates."""
    models = map(candidates.bare, range(len(candidates)))
    found = {str(step.neighbors) for model in models for _, step in paying(model)}
    if len(found) > 1:
        raise NotSupported("The candidates' steps have different relations; use one.")
    return found.pop()


def _scoring(name: str | None, last: Any) -> str:
    """Return the name of the score, where it is of this kind of estimator."""
    classes = len(np.unique(np.asarray(last.classes))) if hasattr(last, "classes") else 0
    able = [known for known, found in SCORES.items() if found.serves(classes)]
    chosen = able[0] if name is None else name
    if chosen not in able:
        raise NotSupported(
            f"scoring={name!r} has no private form for this estimator; use one of {', '.join(able)}."
        )
    return chosen
