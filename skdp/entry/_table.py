"""The closed table: it is looked at through registered views alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..mechanisms import Records
from ..mechanisms._shared_memory import copy_if_shared
from ._views import VIEWS, Parts, View

__all__ = ["Table"]

Array = np.ndarray[Any, Any]


class Table:
    """Rows, targets, owners and weights that a user gave. None of them can be read from it.

    Parameters
    ----------
    rows : ndarray or sparse table of shape (n, d)
        Finite.
    targets : ndarray of shape (n,) or (n, t)
        As the loss wants them, or before they are mapped by bounds that are bought.
    owners, weights, lists : ndarray of shape (n,) or None
        As `Records.admit` takes them.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.entry import Rows, Table
    >>> from skdp.mechanisms import Public
    >>> table = Table(np.array([[3.0, 4.0], [0.3, 0.4]]), np.array([1.0, -1.0]))
    >>> public = Public(n=2, n_features=2, intercept=0.0, neighbors="replace_one")
    >>> len(table.vault(Rows(public, norm=1.0)))
    2
    """

    __slots__ = ("__early", "__kept", "__parts")

    def __init__(
        self,
        rows: Any,
        targets: Array,
        owners: Array | None = None,
        weights: Array | None = None,
        lists: Array | None = None,
    ) -> None:
        # Views read them more than once, and must find what the first one found.
        self.__parts = Parts(*map(copy_if_shared, (rows, targets, owners, weights, lists)))
        self.__early: list[tuple[View, Any]] = []  # vaults that nobody has asked yet
        self.__kept: dict[Any, Any] = {}  # bounded rows, which several views share

    def vault(self, view: View) -> Records | tuple[Records, ...]:
        """Admit the records as a view sees them: one vault, or one for each column of targets.

        Parameters
        ----------
        view : View
            Of a registered type, exactly: a subclass could map one record by another.
        """
        for place, (known, found) in enumerate(self.__early):
            if type(known) is type(view) and vars(known) == vars(view):
                del self.__early[place]
                return found
        return self.__admit(view)

    def check(self, view: View) -> None:
        """Admit the records as a view sees them, or refuse them, before anything is paid; `vault` then finds them.

        Parameters
        ----------
        view : View
            As of `vault`.
        """
        found = self.__admit(view)
        if view.early:
            self.__early.append((view, found))

    def __admit(self, view: View) -> Records | tuple[Records, ...]:
        if type(view) not in VIEWS:
            raise TypeError(
                f"{type(view).__name__} is no registered view; add it to VIEWS, with its proof."
            )
        with np.errstate(all="ignore"):  # one that a program has made fatal would show a record
            return view.admit(self.__parts, self.__kept)
