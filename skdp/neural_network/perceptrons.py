"""Private multi-layer perceptrons."""

from dataclasses import replace

from ..fitting import Plan, Sizes
from ..fitting.data import Array
from ..mechanisms import Public
from ..models import Perceptron
from ..penalties import L2Blocks
from ..privacy.spec import Spec
from ..solvers import Solver, Task
from ._any_network import NetworkClassifier, NetworkRegressor
from ._defaults import clip_of_squares
from ._network import Network

__all__ = ["DPMLPClassifier", "DPMLPRegressor"]


class DPMLPClassifier(Network, NetworkClassifier):
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

    _heard = 3.0  # hidden units learn sooner beside the noise; scores of classes may be large


class DPMLPRegressor(Network, NetworkRegressor):
    """Network of dense layers for a number, with (epsilon, delta)-differential privacy.

    Minimises the sum of halves of squared residuals plus ``alpha/2 |w|^2``, as scikit-learn does.

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

    def _clip(self, solver: Solver, task: Task, public: Public, spec: Spec) -> float | None:
        return clip_of_squares(solver, task, public, spec)

    def _penalty(self, public: Public, sizes: Sizes) -> L2Blocks:
        """Return the penalty for targets in [-1, 1], whose squared residuals are smaller by the squared half range."""
        squared = sizes.heaviest * self._scale()[1] ** 2
        return super()._penalty(public, replace(sizes, heaviest=squared))

    def _shares(self, model: Perceptron, norm: float) -> list[float]:
        """Return the factor of each layer's weights; the last layer's output is in half ranges of the target."""
        *inner, last = super()._shares(model, norm)
        return [*inner, last * self._scale()[1]]

    def _store(self, w: Array, plan: Plan) -> None:
        super()._store(w, plan)
        middle, half = self._scale()
        self.intercepts_[-1] = self.intercepts_[-1] * half + middle
