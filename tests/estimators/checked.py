"""What scikit-learn's checks are run on: every public estimator, at an epsilon where noise cannot fail them."""

import inspect

from skdp.utils import all_estimators

# An epsilon at which noise is invisible, and a bound on row norms that holds for the checks' data.
LOOSE = {"epsilon": 1e6, "delta": 1e-6, "data_norm": 10.0, "y_bounds": (-1e3, 1e3)}
WEIGHED = {"max_sample_weight": 10.0}  # without which no sample_weight is taken
# Of those whose penalty is weighed against a mean, which needs a count.
COUNTED = ("DPElasticNet", "DPLasso", "DPPoissonRegressor", "DPQuantileRegressor")
# Bounds in proportion to the targets of the checks, for counts, and for a loss that is rounded in proportion to them.
NARROWER = {"DPPoissonRegressor": (0.0, 20.0), "DPLinearSVR": (-30.0, 30.0)}
RELATIONS = ("replace_one", "add_remove")


def checked():
    """One instance of each public estimator, or one for each relation that it knows."""
    found = []
    for kind, Estimator in all_estimators():
        known = inspect.signature(Estimator).parameters
        given = {name: value for name, value in LOOSE.items() if name in known}
        given |= {"n_public": 100} if kind in COUNTED else {}
        given |= {"y_bounds": NARROWER[kind]} if kind in NARROWER else {}
        relations = RELATIONS if "neighbors" in known else ()
        given |= {name: value for name, value in WEIGHED.items() if name in known}
        found += [Estimator(**given, neighbors=relation) for relation in relations] or [
            Estimator(**given)
        ]
    return found
