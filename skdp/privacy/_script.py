"""Accounts for runs whose events are known beforehand: write the script down, then hold to it."""

from __future__ import annotations

import math

from ..exceptions import BudgetExceeded, OffScript
from . import accountants
from ._arithmetic import round_up
from .events import Event, Script
from .spec import Spec

__all__ = ["Recorder", "Scripted"]


class Recorder:
    """Write down what a rehearsal asks for; everything is affordable and nothing is spent.

    Examples
    --------
    >>> from skdp.privacy.events import Gaussian
    >>> from skdp.privacy.ledger import Recorder
    >>> account = Recorder()
    >>> account.charge(Gaussian(20.0))
    >>> account.charge(Gaussian(20.0), count=999)
    >>> account.script
    ((Gaussian(multiplier=20.0), 1000),)
    """

    def __init__(self) -> None:
        self._runs: list[tuple[Event, int]] = []

    def charge(self, event: Event, count: int = 1) -> None:
        """Append ``count`` equal events to the script."""
        if count < 1:
            return
        if self._runs and self._runs[-1][0] == event:
            self._runs[-1] = (event, self._runs[-1][1] + count)
        else:
            self._runs.append((event, count))

    def affords(self, *events: Event) -> bool:
        """Return True: a rehearsal has no budget."""
        return True

    def share(self, event: Event) -> float:
        """Return 0: a rehearsal has no budget."""
        return 0.0

    @property
    def script(self) -> Script:
        """Events asked so far."""
        return tuple(self._runs)


class Scripted:
    """Hold a run to the script that was priced before the data was touched.

    Parameters
    ----------
    spec : Spec
        The promise; a script that costs more is refused here.
    script : tuple of (Event, int)
        The events in order, run-length coded.
    accountant : str
        Who prices the script, see `skdp.privacy.epsilon`.

    Attributes
    ----------
    cost : float
        Epsilon of the script at the promised delta; infinite where nothing is promised.
    accountant : str
        Who priced it.

    Examples
    --------
    >>> from skdp.privacy import Spec
    >>> from skdp.privacy.events import Gaussian
    >>> from skdp.privacy.ledger import Scripted
    >>> account = Scripted(Spec(1.0, 1e-6), ((Gaussian(50.0), 2),))
    >>> account.charge(Gaussian(50.0))
    >>> account.complete
    False
    """

    def __init__(self, spec: Spec, script: Script, accountant: str = "auto") -> None:
        price = math.inf
        if accountant == "auto":
            accountant = accountants.choose(script, spec.neighbors, spec.delta)
        if spec.private:
            price = accountants.epsilon(script, spec.delta, spec.neighbors, accountant)
            if not price <= spec.epsilon:
                raise BudgetExceeded(
                    f"The script costs epsilon={round_up(price)} at delta={round_up(spec.delta)}, but the promise "
                    f"is {round_up(spec.epsilon)}; calibrate the noise or raise epsilon."
                )
        self.spec = spec
        self.cost, self.accountant = price, accountant
        self.script = tuple(run for run in script if run[1] > 0)
        self._run = 0
        self._used = 0

    def charge(self, event: Event, count: int = 1) -> None:
        """Pay for the next ``count`` events of the script, or refuse and change nothing."""
        if self.complete:
            raise OffScript(f"{event} was asked after the end of the script; nothing was answered.")
        expected, length = self.script[self._run]
        left = length - self._used
        same = event is expected or (type(event) is type(expected) and event == expected)
        if not same or not 1 <= count <= left:
            raise OffScript(
                f"{count} x {event} was asked where the script has {left} x {expected}; a solver "
                "must ask the same questions whatever the answers are."
            )
        self._used += count
        if self._used == length:
            self._run, self._used = self._run + 1, 0

    def affords(self, *events: Event) -> bool:
        """Return True: what is on the script has been paid for."""
        return True

    def share(self, event: Event) -> float:
        """Return 0: what is on the script has been paid for."""
        return 0.0

    @property
    def complete(self) -> bool:
        """True if the whole script has been charged."""
        return self._run == len(self.script)
