"""Floating-point errors as numpy handles them by default, whatever a program around has made of them.

Prices underflow where a tail is next to nothing, and bounds account for that. A caller for whom such errors are fatal
must not be refused for it: what stands at a door of this room is decorated with `own_arithmetic`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import numpy as np

__all__ = ["own_arithmetic"]

_Given = ParamSpec("_Given")
_Found = TypeVar("_Found")


def own_arithmetic(function: Callable[_Given, _Found]) -> Callable[_Given, _Found]:
    """Run a function under numpy's default handling of floating-point errors.

    Parameters
    ----------
    function : callable
        That prices something.

    Returns
    -------
    callable
        The same, by the same name.
    """

    @functools.wraps(function)
    def inside(*args: _Given.args, **kwargs: _Given.kwargs) -> _Found:
        with np.errstate(divide="warn", over="warn", under="ignore", invalid="warn"):
            return function(*args, **kwargs)

    return inside
