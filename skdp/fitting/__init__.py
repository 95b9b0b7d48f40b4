"""The one path of every fit: plan, price, pay, run, account for it. Faces (linear models, ...) state a plan and store.

`prepare` prices a plan before any data is touched; ``Run.on(records, noise)`` runs it. `PrivateEstimator` is what all
estimators share: parameters in, plan out, all or nothing.
"""

from typing import TYPE_CHECKING

from .._lazy import attach

if TYPE_CHECKING:
    from ._fields import FromFields
    from .auto import MANY, OPEN, Corner, choose_solver
    from .classifier import PrivateClassifier
    from .estimator import PrivateEstimator
    from .learner import PrivateLearner
    from .plan import Plan, Purchase, Sizes
    from .program import Program
    from .regressor import PrivateRegressor
    from .run import Run, prepare
    from .stages import Stage
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "Corner": "auto",
            "OPEN": "auto",
            "FromFields": "_fields",
            "MANY": "auto",
            "choose_solver": "auto",
            "PrivateClassifier": "classifier",
            "PrivateEstimator": "estimator",
            "PrivateLearner": "learner",
            "Plan": "plan",
            "Sizes": "plan",
            "Purchase": "plan",
            "Program": "program",
            "Stage": "stages",
            "PrivateRegressor": "regressor",
            "Run": "run",
            "prepare": "run",
        },
    )

__all__ = [
    "MANY",
    "OPEN",
    "Corner",
    "FromFields",
    "Plan",
    "PrivateClassifier",
    "PrivateEstimator",
    "PrivateLearner",
    "PrivateRegressor",
    "Program",
    "Purchase",
    "Run",
    "Sizes",
    "Stage",
    "choose_solver",
    "prepare",
]
