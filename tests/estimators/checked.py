"""What scikit-learn's checks are run on: every public estimator, at an epsilon where noise cannot fail them."""

import inspect

import numpy as np

from skdp import DPLinearSVC, DPLogisticRegression, DPRidge
from skdp.ranking import DPRanker
from skdp.utils import all_estimators

# An epsilon at which noise is invisible, and a bound on row norms that holds for the checks' data.
LOOSE = {"epsilon": 1e6, "delta": 1e-6, "data_norm": 10.0, "y_bounds": (-1e3, 1e3)}
# Encoders have no declaration unless it is given.
LOOSE |= {"bounds": (-1.0, 1.0), "declaration": (-5.0, 5.0), "categories": (0, 1)}
# Of those whose penalty is weighed against a mean, which needs a count.
COUNTED = ("DPElasticNet", "DPLasso", "DPPoissonRegressor", "DPQuantileRegressor")
# Bounds in proportion to the targets of the checks, for counts, and for a loss that is rounded in proportion to them.
NARROWER = {"DPPoissonRegressor": (0.0, 20.0), "DPLinearSVR": (-30.0, 30.0)}
NARROWER |= {"DPTableRegressor": (-30.0, 30.0)}
NARROWER |= {"DPMLPRegressor": (-5.0, 5.0), "DPTorchRegressor": (-5.0, 5.0)}
# Bounds of columns that hold the tables of the checks, where cells beyond them are cut.
WIDER = {"DPGaussianNB": (-30.0, 30.0)}
# Few units and few steps, so that checks take no minutes; and steps that few units take without running away.
SMALL = {"hidden_layer_sizes": (10,), "max_iter": 10}
STEPS = {"DPMLPClassifier": 0.2}
RELATIONS = ("replace_one", "add_remove")


class InLists(DPRanker):
    """A ranker of tables that come without lists and grades, as those of scikit-learn's checks do."""

    def fit(self, X, y):
        """Five documents to a list, and targets above their median are better."""
        if y is None or np.ndim(y) != 1 or len(y) != np.shape(X)[0] or not len(y):
            return super().fit(X, y, qid=np.zeros(np.shape(X)[0], dtype=int))
        numbers = np.unique(y, return_inverse=True)[1]
        grades = (numbers > np.median(numbers)).astype(int)
        return super().fit(X, grades, qid=np.arange(len(y)) // 5)

    def score(self, X, y):
        """The same."""
        numbers = np.unique(y, return_inverse=True)[1]
        return super().score(X, numbers > np.median(numbers), qid=np.arange(len(y)) // 5)


STAND_INS = {"DPRanker": InLists}  # whose fit is asked for more than a table and targets


def as_written():
    """Estimators as a user would first check them."""
    given = {"epsilon": 1e4, "delta": 1e-6, "data_norm": 20.0}
    return [Estimator(**given) for Estimator in (DPLogisticRegression, DPLinearSVC, DPRidge)]


def checked():
    """One instance of each public estimator, or one for each relation that it knows."""
    found = []
    for kind, Estimator in all_estimators():
        Estimator = STAND_INS.get(kind, Estimator)
        known = inspect.signature(Estimator).parameters
        if "estimator" in known:
            continue  # a search declares the classes of its candidates, which these checks do not know
        given = {name: value for name, value in LOOSE.items() if name in known}
        given |= {"n_public": 100} if kind in COUNTED else {}
        given |= {"y_bounds": NARROWER[kind]} if kind in NARROWER else {}
        given |= {"bounds": WIDER[kind]} if kind in WIDER else {}
        given |= {name: value for name, value in SMALL.items() if name in known}
        given |= {"learning_rate_init": STEPS[kind]} if kind in STEPS else {}
        relations = RELATIONS if "neighbors" in known else ()
        found += [Estimator(**given, neighbors=relation) for relation in relations] or [
            Estimator(**given)
        ]
    return found
