"""Functions of scipy that load it when they are first called: an import of prices alone is quick.

`scipy.special` and `scipy.optimize` take longer to load than numpy and all of this room together.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

__all__ = [
    "betaln",
    "brentq",
    "erfcx",
    "erfinv",
    "gammaln",
    "logsumexp",
    "minimize_scalar",
    "ndtr",
    "ndtri",
    "ndtri_exp",
]


def _later(module: str, name: str) -> Callable[..., Any]:
    def function(*values: Any, **options: Any) -> Any:
        return getattr(import_module(module), name)(*values, **options)

    return function


betaln = _later("scipy.special", "betaln")
brentq = _later("scipy.optimize", "brentq")
erfcx = _later("scipy.special", "erfcx")
erfinv = _later("scipy.special", "erfinv")
gammaln = _later("scipy.special", "gammaln")
logsumexp = _later("scipy.special", "logsumexp")
minimize_scalar = _later("scipy.optimize", "minimize_scalar")
ndtr = _later("scipy.special", "ndtr")
ndtri = _later("scipy.special", "ndtri")
ndtri_exp = _later("scipy.special", "ndtri_exp")
