"""What has been spent: the only mutable privacy state. Charges are refused before anything moves.

Composition theorems differ in what they allow. A *script* is fixed before the data is touched, so
any accountant may price it, and `Scripted` refuses every event that is not the next one. Prices
that depend on answers need a *filter*, and `Filter` offers only the ones with a proof. A `Ledger`
is the filter that several fits share.
"""

from __future__ import annotations

import math
import os
import threading
from typing import Any

from skdp.exceptions import BudgetExceeded, NotSupported
from skdp.privacy import accountants
from skdp.privacy._compose import exact_mu, reduced
from skdp.privacy._filter import FILTERS, Filter, planned_order, spent_epsilon
from skdp.privacy._script import Recorder, Scripted
from skdp.privacy.curves import priced
from skdp.privacy.events import Script, tally
from skdp.privacy.spec import Spec

__all__ = ["Filter", "Ledger", "Recorder", "Scripted"]


class Ledger:
    """A budget that several fits on the same data share.

    Later fits are chosen after earlier results were seen, so their composition needs a privacy
    filter, and a filter's currency must be fixed before it is used: it is settled at the first
    `reserve` and kept for life. ``accountant="auto"`` takes Gaussian DP if the first script is made
    of Gaussians (ten Gaussian fits then cost exactly what their composition costs), else Renyi
    divergence at the one order that suits that script. A first script that fits the budget
    only by a tighter theorem (PLD, a profile) is admitted too, alone: the ledger is then closed.

    Parameters
    ----------
    epsilon, delta : float
        The promise for everything that is ever charged here.
    neighbors : {"replace_one", "add_remove"}
        The relation under which every script is written and priced.
    accountant : {"auto", "gdp", "zcdp", "rdp", "pure"}
        The filter's currency.

    Notes
    -----
    The ledger lives in memory. Copying it, or cloning an estimator that holds it, gives the same
    ledger; pickling gives a read-only statement, since a copy in another process could overspend,
    and so does forking, in the child.
    """

    def __init__(
        self,
        epsilon: float,
        delta: float,
        neighbors: str = "replace_one",
        accountant: str = "auto",
    ) -> None:
        if accountant not in ("auto", *FILTERS):
            raise NotSupported(
                f"accountant={accountant!r} cannot guard fits that are chosen after earlier results "
                f"were seen; use 'auto' or one of {FILTERS}."
            )
        self.spec = Spec(epsilon, delta, neighbors)
        self.accountant = accountant
        self._lock = threading.RLock()
        self._filter: Filter | None = None
        self._scripts: list[Script] = []
        self._closed = False
        self._statement = False
        self._process = os.getpid()

    @property
    def epsilon(self) -> float:
        """The promised epsilon."""
        return self.spec.epsilon

    @property
    def delta(self) -> float:
        """The promised delta."""
        return self.spec.delta

    @property
    def neighbors(self) -> str:
        """The neighbour relation."""
        return self.spec.neighbors

    def reserve(self, script: Script) -> None:
        """Pay for a script before its data is touched, or raise and change nothing.

        Parameters
        ----------
        script : tuple of (Event, int)
            Everything that one fit will release.
        """
        tally(script)
        with self._lock:
            if self._read_only:
                raise NotSupported(
                    "This ledger is a read-only statement, because it was forked or pickled and a "
                    "copy could overspend; fit with n_jobs=1 or in threads."
                )
            if self._closed:
                raise BudgetExceeded(
                    f"Spent epsilon={self.spent:.6g} of {self.epsilon:g}: the first fit took the "
                    "budget as a whole and left nothing; open another ledger for other data."
                )
            if self._filter is None:
                self._open(script)
            else:
                self._charge(self._filter, script)
            self._scripts.append(script)

    @property
    def _read_only(self) -> bool:
        return self._statement or os.getpid() != self._process

    def _open(self, script: Script) -> None:
        """Settle the currency on the first script, or admit it alone by a tighter theorem."""
        kind = self._currency(script)
        suits = kind == "rdp" and self._priced(script, kind)
        filter_ = Filter(self.spec, kind, planned_order(self.spec, script) if suits else None)
        try:
            self._charge(filter_, script)
        except (BudgetExceeded, NotSupported):
            if self.accountant != "auto" or not self._fits_alone(script):
                raise
            self._closed = True
        self._filter = filter_

    def _currency(self, script: Script) -> str:
        if self.accountant != "auto":
            return self.accountant
        if self.delta == 0:
            return "pure"
        return "gdp" if exact_mu(reduced(script, self.neighbors)) is not None else "rdp"

    def _priced(self, script: Script, kind: str) -> bool:
        return all(priced(e, kind, self.neighbors) for e in reduced(script, self.neighbors))

    def _fits_alone(self, script: Script) -> bool:
        try:
            return accountants.epsilon(script, self.delta, self.neighbors) <= self.epsilon
        except NotSupported:
            return False

    def _charge(self, filter_: Filter, script: Script) -> None:
        """Charge a filter, and say in epsilons why not."""
        try:
            filter_.charge_all(script)
        except BudgetExceeded as error:
            asked = self._epsilon_of(filter_.cost(script), filter_)
            raise BudgetExceeded(
                f"Asked for epsilon={asked:.6g}, spent epsilon={self.spent:.6g} of {self.epsilon:g}, left "
                f"{self.remaining:.6g} (at delta={self.delta:g}, in {filter_.kind}); nothing was "
                "charged, so ask for less."
            ) from error
        except NotSupported as error:
            able = [kind for kind in FILTERS if self._priced(script, kind)]
            remedy = f"a new ledger with accountant={able[0]!r}" if able else "a ledger of its own"
            raise NotSupported(
                f"{error} The ledger keeps its books in {filter_.kind} for life; use another solver "
                f"or give this fit {remedy}."
            ) from error

    @property
    def spent(self) -> float:
        """Epsilon, at the ledger's delta, of all that was charged."""
        with self._lock:
            if not self._scripts or self._filter is None:
                return 0.0
            if len(self._scripts) == 1 and self.spec.private:
                return self._alone(self._scripts[0])
            return min(self.epsilon, self._epsilon_of(self._filter.spent))

    def _alone(self, script: Script) -> float:
        """One script is still a plan fixed beforehand: the tightest accountant may price it."""
        assert self._filter is not None
        by_filter = math.inf if self._closed else self._epsilon_of(self._filter.spent)
        try:
            return min(by_filter, accountants.epsilon(script, self.delta, self.neighbors))
        except NotSupported:
            return by_filter

    def _epsilon_of(self, amount: float, filter_: Filter | None = None) -> float:
        filter_ = filter_ or self._filter
        assert filter_ is not None
        return spent_epsilon(amount, self.spec, filter_.kind, filter_.order)

    @property
    def remaining(self) -> float:
        """Epsilon, at the ledger's delta, of the largest fit that is still affordable."""
        with self._lock:
            if self._closed:
                return 0.0
            if self._filter is None or not self.spec.private:
                return self.epsilon
            return min(self.epsilon, self._epsilon_of(self._filter.unspent))

    @property
    def renyi_order(self) -> int | None:
        """The one order of books that are kept in Renyi divergence, once it is settled; else None.

        An adaptive fit whose own filter has that order is charged what it was promised and no more.
        """
        with self._lock:
            return self._filter.order if self._filter and self.spec.private else None

    @property
    def scripts(self) -> tuple[Script, ...]:
        """What was charged, one script a fit."""
        with self._lock:
            return tuple(self._scripts)

    def __repr__(self) -> str:
        kind = self._filter.kind if self._filter else self.accountant
        return (
            f"Ledger(epsilon={self.epsilon:g}, delta={self.delta:g}, "
            f"neighbors={self.neighbors!r}, accountant={kind!r}; "
            f"spent={self.spent:.6g}, remaining={self.remaining:.6g}, "
            f"fits={len(self.scripts)}{', read-only' if self._read_only else ''})"
        )

    def __sklearn_clone__(self) -> Ledger:
        return self

    def __copy__(self) -> Ledger:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Ledger:
        return self

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:
            state = {k: v for k, v in self.__dict__.items() if k != "_lock"}
            return {**state, "_scripts": list(self._scripts), "_statement": True}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.RLock()
