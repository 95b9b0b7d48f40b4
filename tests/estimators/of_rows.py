"""Public predictors of rows of numbers: those of raw tables have a declaration, and tests of their own."""

import inspect

from skdp.utils import all_estimators


def of_rows(kind):
    """Names and classes of the predictors of a kind that take no declaration."""
    return [
        (name, found)
        for name, found in all_estimators(kind)
        if "declaration" not in inspect.signature(found).parameters
    ]
