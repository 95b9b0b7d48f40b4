"""Private models of raw tables for labels and for numbers."""

import math
from dataclasses import field
from typing import Any, ClassVar

from numpy.typing import ArrayLike

from ..exceptions import NotSupported
from ..fitting import PrivateClassifier, PrivateLearner
from ..fitting._bases import ClassifierMixin, RegressorMixin
from ..fitting._calibration import CALIBRATE
from ..fitting._fields import parameter
from ..fitting.data import Array
from ..fitting.run import Fitted
from ..linear_model import DPLinearRegression, DPLogisticRegression
from ..neural_network import DPMLPClassifier, DPMLPRegressor
from ..preprocessing import DPSplineFeatures
from ._choice import COUNTS_SHARE, MODELS, NETWORK_SHARE, MixedLogistic, ModelChoice, tell_weights
from ._table_estimator import HIDDEN, TableEstimator

__all__ = ["DPTableClassifier", "DPTableRegressor"]


class DPTableClassifier(ClassifierMixin, TableEstimator):
    """Private classifier of a raw table: its declaration in, the model that public numbers choose out.

    It puts `DPSplineFeatures` in front of `DPLogisticRegression`, of `DPMLPClassifier`, or of both. Which of them, with
    how many columns, follows from the number of records, the promise and the declaration, so the choice costs nothing.
    What both count for in a mixture follows from noisy counts, which the same budget pays. The receipt says what was
    chosen, and why.

    Parameters
    ----------
    classes : array-like of labels, default=None
        All labels that may occur; None makes those of y public, and warns.
    class_weight : dict or "balanced", default=None
        Weight of the records of each label; "balanced" pays a fiftieth of the budget for noisy counts.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.

    See Also
    --------
    DPTableRegressor : For numbers.
    skdp.preprocessing.DPSplineFeatures : The encoder.

    Examples
    --------
    >>> import pandas as pd
    >>> from skdp import DPTableClassifier
    >>> from skdp.datasets import make_census
    >>> table = make_census(n_samples=10_000)
    >>> frame = pd.DataFrame(dict(table.columns))
    >>> model = DPTableClassifier(table.declaration, epsilon=1.0, classes=[0, 1], random_state=0)
    >>> print(model.quote(len(frame)).declared["model"])
    curves, n * mu = 2367, below 20000 that a mixture needs; the choice costs nothing
    >>> bool(model.fit(frame, table.target).score(frame, table.target) > 0.7)
    True
    """

    classes: ArrayLike | None = None
    class_weight: dict[Any, float] | str | None = None
    calibrate: bool | str = parameter("auto", CALIBRATE)
    classes_: Array = field(init=False)
    _task: ClassVar[str] = "classification"
    _models: ClassVar[tuple[str, ...]] = MODELS
    score = TableEstimator.score  # and not scikit-learn's

    def _kind(self, model: str) -> tuple[type[PrivateLearner], dict[str, Any]]:
        if model == "network":
            return DPMLPClassifier, {"hidden_layer_sizes": HIDDEN}
        if model == "mixture":  # a solver whose price composes with that of small batches
            return MixedLogistic, {"solver": "white-gd", "calibrate": False}
        return DPLogisticRegression, {}

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.model == "mixture" and not self._mixes():
            raise NotSupported(
                "model='mixture' needs two declared classes, a finite epsilon, delta > 0 and accountant='auto', and "
                "takes neither class_weight='balanced' nor calibrate=False; name another model."
            )

    def _mixes(self) -> bool:
        usual = self._usual()
        assert isinstance(usual, PrivateClassifier)
        two = self.classes is not None and len(usual._declared()) == 2
        plain = bool(self.calibrate) and not isinstance(self.class_weight, str)
        priced = self.delta > 0.0 and math.isfinite(self.epsilon) and self.accountant == "auto"
        return two and plain and priced and usual._any_theorem()

    def _choose(self, encoder: DPSplineFeatures, n: int) -> None:
        super()._choose(encoder, n)
        if isinstance(self.model_, MixedLogistic):
            network, norm = self._inner("network"), encoder._random().factor
            assert isinstance(network, DPMLPClassifier)
            network.set_params(calibrate=False, data_norm=norm)
            columns = len(encoder.get_feature_names_out()) - encoder.random_features_
            self.model_.join(network, columns)

    def _cost(self, found: ModelChoice) -> str:
        if found.model != "mixture":
            return super()._cost(found)
        return (
            f"of the budget in mu squared {NETWORK_SHARE:.2g} are for the network, and "
            f"{COUNTS_SHARE:.2g} for counts that say what each of both is worth"
        )

    def _noted(self, fitted: Fitted) -> tuple[str, ...]:
        mixed = fitted.known.mixed
        return () if mixed is None else (tell_weights(mixed),)

    def decision_function(self, X: Any) -> Array:
        """Scores of rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Positive for the second of two classes.
        """
        rows = self._rows(X)
        return self.model_.decision_function(rows)

    def predict(self, X: Any) -> Array:
        """Labels of rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels from ``classes_``.
        """
        rows = self._rows(X)
        return self.model_.predict(rows)

    def predict_proba(self, X: Any) -> Array:
        """Probabilities of all classes.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            One column per class of ``classes_``.
        """
        rows = self._rows(X)
        return self.model_.predict_proba(rows)

    def predict_log_proba(self, X: Any) -> Array:
        """Logarithms of `predict_proba`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            One column per class of ``classes_``.
        """
        rows = self._rows(X)
        return self.model_.predict_log_proba(rows)


class DPTableRegressor(RegressorMixin, TableEstimator):
    """Private regressor of a raw table: its declaration in, the model that public numbers choose out.

    It puts `DPSplineFeatures` in front of `DPLinearRegression`. How many columns it makes follows from the number of
    records, the promise and the declaration, so the choice costs nothing. The
    receipt says what was chosen, and why. A network is never chosen, since it did worse than lines; ask for it by
    ``model="network"``.

    Parameters
    ----------
    y_bounds : pair of float, default=None
        Public bounds on the target, ``(low, high)``, or a list of them for several targets; None estimates them
        privately.
    clip_predictions : bool, default=True
        Cut predictions to ``y_bounds``, which costs no privacy.

    See Also
    --------
    DPTableClassifier : For labels.
    skdp.preprocessing.DPSplineFeatures : The encoder.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp import DPTableRegressor
    >>> X = np.random.default_rng(0).uniform(0, 10, size=(20_000, 4))
    >>> y = np.sin(X[:, 0]) * X[:, 1] + X[:, 2]
    >>> model = DPTableRegressor((0, 10), epsilon=2.0, y_bounds=(-10.0, 20.0), random_state=0).fit(X, y)
    >>> model.chosen_, bool(model.score(X, y) > 0.8)
    ('random_features', True)
    """

    y_bounds: ArrayLike | None = None
    clip_predictions: bool = True
    _task: ClassVar[str] = "regression"
    score = TableEstimator.score  # and not scikit-learn's

    def _kind(self, model: str) -> tuple[type[PrivateLearner], dict[str, Any]]:
        if model == "network":
            return DPMLPRegressor, {"hidden_layer_sizes": HIDDEN}
        return DPLinearRegression, {}

    def predict(self, X: Any) -> Array:
        """Predicted numbers.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_targets)
            Within ``y_bounds`` unless ``clip_predictions`` is False.
        """
        rows = self._rows(X)
        return self.model_.predict(rows)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
