"""Single BLAS thread while a solver runs; the earlier setting is restored afterwards.

Solvers ask for thousands of small products. With as many threads as cores, each of them waits for all cores: where
another program is busy, a fit takes tens of times as long. And sums in one order give the same bits for any setting.
"""

from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any

from threadpoolctl import ThreadpoolController

__all__ = ["one_thread"]


@lru_cache(maxsize=1)
def _controller() -> ThreadpoolController:
    """The libraries that are loaded, looked up once: that takes longer than a short fit."""
    return ThreadpoolController()


def one_thread() -> AbstractContextManager[Any]:
    """A context in which BLAS uses one thread."""
    return _controller().limit(limits=1, user_api="blas")
