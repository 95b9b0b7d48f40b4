"""What a fit promised and what it spent, in a form that a sceptic can read and re-price."""

from __future__ import annotations

import html
import math
from dataclasses import asdict, dataclass, field
from typing import Any

from ..exceptions import NotSupported
from .events import Script
from .groups import for_rows
from .spec import Spec

__all__ = ["Receipt"]


@dataclass(frozen=True)
class Receipt:
    """The privacy statement of one fit (or, from ``quote``, of one that was not made).

    Parameters
    ----------
    epsilon, delta : float
        What the fit costs: at most what was asked for.
    neighbors : str
        "replace_one" or "add_remove".
    accountant : str
        Which theorem priced the script, or which filter guarded an adaptive solver.
    script : tuple of (Event, int)
        What was released, in order.
    solver : str
        The algorithm, with its hyper-parameters.
    proofs : tuple of str
        Pages of docs/proofs/ that the guarantee rests on.
    declared : dict
        What was taken as public.
    seeded : bool
        Whether the noise came from a fixed seed: then the guarantee does not hold against whoever knows it.
    unspent : float or None
        For adaptive solvers: what the filter had left, in its currency.
    notes : tuple of str
        What a reader should know besides.

    Examples
    --------
    >>> from skdp.privacy.events import Gaussian
    >>> from skdp.privacy.receipt import Receipt
    >>> script = ((Gaussian(9.0), 1),)
    >>> print(Receipt(0.5, 1e-6, "replace_one", "gdp", script, "GD()", proofs=("sums",)))
    guarantee   epsilon = 0.5, delta = 1e-06, replace_one
    accountant  gdp
    solver      GD()
    released    1 x Gaussian(multiplier=9.0)
    proofs      sums
    """

    epsilon: float
    delta: float
    neighbors: str
    accountant: str
    script: Script
    solver: str
    proofs: tuple[str, ...] = ()
    declared: dict[str, Any] = field(default_factory=dict)
    seeded: bool = False
    unspent: float | None = None
    notes: tuple[str, ...] = ()

    def lines(self) -> list[tuple[str, str]]:
        """The statement as (what, value) pairs."""
        promise = f"epsilon = {self.epsilon:.6g}, delta = {self.delta:.3g}, {self.neighbors}"
        if math.isinf(self.epsilon):
            promise = "NONE: epsilon is infinite, no noise was added"
        rows = [("guarantee", promise), ("accountant", self.accountant), ("solver", self.solver)]
        rows += [("released", f"{count} x {event}") for event, count in self.script]
        if self.unspent is not None:
            rows.append(("unspent", f"{self.unspent:.6g}"))
        rows += [("public", f"{name} = {value}") for name, value in self.declared.items()]
        rows.append(("proofs", ", ".join(self.proofs)))
        if self.seeded:
            rows.append(
                (
                    "seed",
                    "FIXED: whoever knows it, or sees two fits that share it, can subtract the noise",
                )
            )
        rows += [("note", note) for note in self.notes]
        return rows

    def to_dict(self) -> dict[str, Any]:
        """Plain types, for json."""
        plain = {
            name: getattr(self, name) for name in self.__dataclass_fields__ if name != "script"
        }
        plain["script"] = [
            {"event": type(event).__name__, "count": count, **asdict(event)}
            for event, count in self.script
        ]
        plain["proofs"], plain["notes"] = list(self.proofs), list(self.notes)
        return plain

    def for_rows(self, k: int) -> Spec:
        """What the fit promises to any k rows, where its script was priced for one.

        Parameters
        ----------
        k : int
            How many rows; see `skdp.privacy.for_rows` for what that means under each relation. Where
            a fit declared units of several rows, k counts units.

        Returns
        -------
        Spec
            The same delta and relation, with the epsilon that holds for k rows.

        Raises
        ------
        NotSupported
            If the fit ran under a filter, or drew rows at random.

        See Also
        --------
        skdp.privacy.for_rows : The same for any script.

        Examples
        --------
        >>> from skdp.privacy.events import Gaussian
        >>> from skdp.privacy.receipt import Receipt
        >>> receipt = Receipt(0.5, 1e-6, "replace_one", "gdp", ((Gaussian(9.0), 1),), "GD()")
        >>> round(receipt.for_rows(1).epsilon, 3), round(receipt.for_rows(4).epsilon, 3)
        (0.444, 1.981)
        """
        if self.unspent is not None:
            raise NotSupported(
                "A filter's script was not fixed beforehand and proves nothing for several rows; "
                "use a solver whose script is fixed, or declare units."
            )
        return for_rows(self.script, Spec(self.epsilon, self.delta, self.neighbors), k)

    def to_dp_event(self) -> Any:
        """The script as an event of Google's dp-accounting, which must be installed, to re-price it there."""
        from .dp_event import to_dp_event

        return to_dp_event(self.script, self.neighbors)

    def __str__(self) -> str:
        return "\n".join(f"{what:<11} {value}" for what, value in self.lines())

    def _repr_html_(self) -> str:
        cells = "".join(
            f"<tr><th style='text-align:left'>{html.escape(what)}</th><td>{html.escape(value)}</td></tr>"
            for what, value in self.lines()
        )
        return f"<table class='skdp-receipt'>{cells}</table>"
