"""Private multi-layer perceptrons."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from ..fitting import Plan, PrivateClassifier, PrivateRegressor
from ..fitting.data import Array
from ..losses import Huber, Logistic, Loss, Multinomial, Squared
from ..mechanisms import Public
from ..models import Perceptron
from ..penalties import L2Blocks
from ._network import Network

__all__ = ["DPMLPClassifier", "DPMLPRegressor"]


class DPMLPClassifier(Network, PrivateClassifier):
    """Network of dense layers for classes, with (epsilon, delta)-differential privacy.

    Minimises the sum of log-losses of a softmax over the last layer's scores, or of one score for two classes, plus
    ``alpha/2 |w|^2``, by clipped gradients of batches with noise: what records contribute is bounded one by one, and no
    gradient of a single record is built.

    See Also
    --------
    DPMLPRegressor : For numbers.
    skdp.DPLogisticRegression : Without hidden layers: fewer parameters, and far more accurate for few records.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.neural_network import DPMLPClassifier
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(20000, 2))
    >>> y = X[:, 0] * X[:, 1] > 0  # no line tells them apart
    >>> model = DPMLPClassifier(
    ...     epsilon=2.0, delta=1e-6, hidden_layer_sizes=20, data_norm=1.5, classes=[False, True], random_state=0
    ... )
    >>> bool(model.fit(X, y).score(X, y) > 0.9)
    True
    """

    multi_class = "multinomial"
    _heard = 3.0  # hidden units learn sooner beside the noise; scores of classes may be large

    def _loss(self, outputs: int) -> Loss:
        return Logistic() if outputs == 1 else Multinomial(outputs)

    def _target_bound(self, outputs: int) -> float:
        """Of classes' codes."""
        return max(1.0, outputs - 1.0)

    def decision_function(self, X: ArrayLike) -> Array:
        """Scores of rows, as the last layer gives them.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Positive for the second of two classes; with more classes, one column for each.
        """
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict_proba(self, X: ArrayLike) -> Array:
        """Probabilities of all classes.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            One column per class of ``classes_``.
        """
        scores = self.decision_function(X)
        if scores.ndim > 1:
            return Multinomial(scores.shape[1]).predict(scores)
        second = Logistic().predict(scores)
        return np.column_stack([1.0 - second, second])

    def predict_log_proba(self, X: ArrayLike) -> Array:
        """Logarithms of `predict_proba`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            One column per class of ``classes_``.
        """
        scores = self.decision_function(X)
        if scores.ndim > 1:
            return scores - logsumexp(scores, axis=1, keepdims=True)
        return -np.column_stack([Logistic().value(scores, -1.0), Logistic().value(scores, 1.0)])


class DPMLPRegressor(Network, PrivateRegressor):
    """Network of dense layers for a number, with (epsilon, delta)-differential privacy.

    Minimises the sum of halves of squared residuals plus ``alpha/2 |w|^2``, as scikit-learn does.

    Parameters
    ----------
    huber_threshold : float, default=None
        Residual from which the loss is a straight line, in units of the target; None: squares everywhere.

    See Also
    --------
    DPMLPClassifier : For classes.
    skdp.DPRidge : Without hidden layers.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.neural_network import DPMLPRegressor
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(20000, 2))
    >>> y = np.abs(X[:, 0]) + X[:, 1] ** 2
    >>> model = DPMLPRegressor(
    ...     epsilon=4.0, delta=1e-6, hidden_layer_sizes=20, data_norm=1.5, y_bounds=(0.0, 2.0), random_state=0
    ... )
    >>> bool(model.fit(X, y).score(X, y) > 0.8)
    True
    """

    huber_threshold: float | None = None

    def _loss(self, outputs: int) -> Loss:
        """Of targets in [-1, 1]."""
        if self.huber_threshold is None:
            return Squared()
        return Huber(float(self.huber_threshold) / self._scale()[1])

    def _penalty(self, public: Public, outputs: int, heaviest: float) -> L2Blocks:
        """Beside squares of targets in [-1, 1], which are those of targets over the square of half their range."""
        return super()._penalty(public, outputs, heaviest * self._scale()[1] ** 2)

    def _shares(self, model: Perceptron, norm: float) -> list[float]:
        """What the last layer says is in half ranges."""
        *inner, last = super()._shares(model, norm)
        return [*inner, last * self._scale()[1]]

    def _store(self, w: Array, plan: Plan) -> None:
        super()._store(w, plan)
        middle, half = self._scale()
        self.intercepts_[-1] = self.intercepts_[-1] * half + middle

    def _predicted(self, X: ArrayLike) -> Array:
        return self._scores(X)[:, 0].astype(np.float64)
