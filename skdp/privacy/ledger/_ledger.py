"""A budget that several fits share."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from .._arithmetic import round_down, round_up
from ..events import Script, checked
from ..spec import Spec
from ._place import Head, Witness, witness_of
from ._rules import Rules, refuse_count
from ._state import FORMAT, Entry, State, today
from ._store import Handle, Store

if TYPE_CHECKING:
    from ._audit import Audit
    from ._budget import Partition
    from .report import Report

__all__ = ["Ledger"]


class Ledger:
    """A budget that several fits on the same data share, in this process or in many.

    Every charge is paid before a record is touched, or refused, and then nothing is charged. Later fits
    are chosen after earlier results were seen, so their composition needs a privacy filter, whose books
    are settled at the first `reserve` and kept for life. With ``accountant="auto"`` every common solver
    stays affordable whichever came first: fits are covered by shifted Gaussians, and Renyi divergence
    at one order stands by for what is known in no other way; a fit is admitted while one of the books
    has room. A first script that fits the budget only by a tighter theorem (PLD, a profile) is
    admitted too, alone: the ledger is then closed.

    Parameters
    ----------
    epsilon, delta : float
        The promise for everything that is ever charged here.
    neighbors : {"replace_one", "add_remove"}
        The relation under which every script is written and priced.
    accountant : {"auto", "shifted", "gdp", "zcdp", "rdp", "pure"}
        The currency. "gdp" for a ledger that will hold Gaussians and nothing else; "shifted" for fits of
        different kinds, all of the budget in one book.
    path : str or path-like, optional
        A file, made if it is not there: then every charge is on the disk before it counts as paid, and
        the ledger survives the process. Several processes may open it. Without a path it lives as long
        as this process, which serves those that it starts.
    fits : int, optional
        How many fits are going to come: the first is refused, with a quote of all, unless as many of its
        price go in. For cross-validation over m settings and k folds: m k + 1.
    plan : sequence of scripts or receipts, optional
        What is going to be charged, such as `quote` says: the books are chosen to hold it. It binds
        nobody.
    must_exist : bool, default=False
        Refuse a path without a file: a mistyped path is a fresh budget otherwise.
    moved : bool, default=False
        Accept a file that was moved, renamed, copied or restored, which is refused otherwise. Whoever says so
        answers for it that no other copy is ever charged, and that this one is the newest.
    witness : path or callable, optional
        A second file, best on another disk, to which the number and digest of each line are appended before a
        charge counts: a ledger that lacks one of them is refused. Or a function that is told each `Head`, and
        may raise. Where a process names several witnesses of one file, one after another, all of them are told.

    See Also
    --------
    Filter : For prices that depend on answers, within one fit.
    skdp.budget : A ledger for everything that is fitted inside a ``with``.
    Partition : For disjoint data.

    Notes
    -----
    Copying a ledger, cloning an estimator that holds it, or sending one to another process gives a handle
    to the same ledger. What a pickle says can be read when the process that kept it has ended, and
    charges nothing then. See docs/budgets.md for files, processes and folds.

    Examples
    --------
    >>> from skdp.privacy import Ledger
    >>> from skdp.privacy.events import PureDP
    >>> ledger = Ledger(1.0, 0.0)
    >>> for _ in range(10):
    ...     ledger.reserve(((PureDP(0.1), 1),))
    >>> ledger.spent, ledger.remaining, len(ledger)
    (1.0, 0.0, 10)
    """

    def __init__(
        self,
        epsilon: float,
        delta: float,
        neighbors: str = "replace_one",
        accountant: str = "auto",
        *,
        path: str | os.PathLike[str] | None = None,
        fits: int | None = None,
        plan: Iterable[Any] | None = None,
        must_exist: bool = False,
        moved: bool = False,
        witness: str | os.PathLike[str] | Witness | None = None,
    ) -> None:
        self._rules = _rules(Spec(epsilon, delta, neighbors), accountant, fits, plan)
        header, told = _header(self._rules), witness_of(witness)
        if path is None and (must_exist or moved or told is not None):
            raise ValueError(
                "must_exist, moved and witness need a ledger in a file; give it a path."
            )
        self._store = (
            Store(header)
            if path is None
            else Store.at(header, os.fspath(path), told, moved, must_exist)
        )
        self._parts: tuple[str, ...] = ()
        self._what = ""
        self._announced = False

    @property
    def spec(self) -> Spec:
        """The promise."""
        return self._rules.spec

    @property
    def accountant(self) -> str:
        """The currency that was asked for."""
        return self._rules.accountant

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

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts of the data that are charged here; empty for all of them."""
        return self._parts

    def reserve(self, script: Script, what: str = "") -> Head | None:
        """Pay for a script before its data is touched, or raise and change nothing.

        Parameters
        ----------
        script : tuple of (Event, int)
            Everything that one fit will release.
        what : str
            Who pays, in the words of a report.

        Returns
        -------
        Head or None
            The line that was written, which a receipt names; None for a ledger without a path.
        """
        what, when = f"{self._what} {what}".strip(), today()

        def step(state: State) -> State:
            return self._rules.charged(state, Entry(script, self._parts or state.parts, what, when))

        return self._store.change(step)

    @property
    def announced(self) -> bool:
        """True if the number of fits to come was given, by ``fits`` or `announce`."""
        return self._announced or self._rules.fits is not None

    @property
    def payers(self) -> tuple[str, ...]:
        """Names of the charges as in a report, one for each charge."""
        return tuple(entry.what for entry in self._state.entries)

    def announce(self, coming: Iterable[tuple[Script, int]]) -> None:
        """Refuse unless all of these would be admitted one after the other; nothing is charged.

        scikit-learn's searches tell how many fits will come since 1.9, and are refused before the first without this.
        Before, and in ``cross_val_score`` and its kin, call it yourself, with what `quote` says of one fit, or give
        ``fits`` to the ledger.

        Parameters
        ----------
        coming : iterable of (script, int)
            What each of the fits to come asks at least, and how many ask that.

        Examples
        --------
        >>> from skdp.privacy import Ledger
        >>> from skdp.privacy.events import PureDP
        >>> ledger = Ledger(1.0, 0.0)
        >>> ledger.announce([(((PureDP(0.25), 1),), 4)])
        >>> ledger.spent
        0.0
        """
        state = self._state
        self._rules.announced(state, tuple(coming), self._parts or state.parts)
        self._announced = True

    def partition(self, groups: int | Iterable[object]) -> Partition:
        """Divide the data into disjoint parts that are charged apart.

        Parameters
        ----------
        groups : int or iterable
            How many parts, or their names. A ledger is divided once, and later calls must name the same.

        Returns
        -------
        Partition
            A ledger for each part, and for every set of them.

        See Also
        --------
        Partition : What the division has to fulfil.

        Examples
        --------
        >>> from skdp.privacy import Ledger
        >>> from skdp.privacy.events import PureDP
        >>> ledger = Ledger(1.0, 0.0)
        >>> hospitals = ledger.partition(["north", "south"])
        >>> for name in ("north", "south"):
        ...     hospitals[name].reserve(((PureDP(0.6), 1),))
        >>> ledger.spent, hospitals["north"].remaining
        (0.6, 0.4)
        """
        from ._budget import Partition

        return Partition(self, groups)

    @property
    def _state(self) -> State:
        return self._store.state

    @property
    def spent(self) -> float:
        """Epsilon, at the ledger's delta, of all that was charged: an odometer reading.

        It says how much of the budget is used, on the part of the data that was charged most, and it is
        no guarantee at a time that was chosen after looking at answers: the guarantee of everything that
        is ever charged here is (`epsilon`, `delta`), and no smaller one.
        """
        return self._rules.spent(self._state, *self._parts)

    @property
    def remaining(self) -> float:
        """Epsilon, at the ledger's delta, of the largest fit with Gaussian noise that is still affordable."""
        return self._rules.remaining(self._state, *self._parts)

    @property
    def renyi_order(self) -> int | None:
        """The one order of books that are kept in Renyi divergence alone, once it is settled; else None.

        An adaptive fit whose own filter has that order is charged what it was promised and no more.
        """
        books = self._state.books
        orders = [book.order for book in books if book.kind == "rdp"]
        return orders[0] if orders and self.spec.private else None

    @property
    def scripts(self) -> tuple[Script, ...]:
        """Scripts that were charged, one for each fit."""
        return tuple(entry.script for entry in self._state.entries)

    def report(self) -> Report:
        """Report each charge with its date, payer and share of the budget, and what is left.

        Returns
        -------
        Report
            Prints as text, shows as HTML, and gives a frame or a plot.

        Examples
        --------
        >>> from skdp.privacy import Ledger
        >>> from skdp.privacy.events import PureDP
        >>> ledger = Ledger(1.0, 0.0)
        >>> ledger.reserve(((PureDP(0.25), 1),), "a count")
        >>> report = ledger.report()
        >>> report.left, report.next_cost, report.more
        (0.75, 0.25, 3)
        """
        from .report import Report

        return Report.of(self._rules, self._state)

    @property
    def identity(self) -> str:
        """Identity of this ledger in every process; a ledger in memory moves into a file to get one."""
        return str(self._store.handle().header.get("id", ""))

    @property
    def head(self) -> Head | None:
        """Identity, number and digest of the last line of the file; None for a ledger without a path.

        Receipts carry it, and `audit` holds it against the file.
        """
        return self._store.head

    def audit(self, receipts: Iterable[Any]) -> Audit:
        """Look for the lines that receipts name in the ledger's file: are any lost, replaced by others, or named twice?

        Parameters
        ----------
        receipts : iterable of Receipt
            Of fits that this ledger has paid for.

        Returns
        -------
        Audit
            What was found; it prints as text.

        See Also
        --------
        skdp.privacy.Receipt : Its ``ledger`` says which line paid.

        Notes
        -----
        Receipts kept elsewhere than the file show that an older copy was put back, whoever did it. What no
        receipt names cannot be missed. A line pays for one receipt: of several different ones that name it, the first
        is matched and the others are doubled, and at most one of them is genuine. A receipt that is given again, or
        that differs from an earlier one only by what `Receipt.stating` says, is repeated, which is no fault.

        Examples
        --------
        >>> import tempfile
        >>> import skdp
        >>> from skdp.datasets import make_census
        >>> from skdp.privacy import Ledger
        >>> X, y = make_census(n_samples=300, return_X_y=True)
        >>> model = skdp.DPLogisticRegression(
        ...     epsilon=0.3, delta=1e-6, data_norm=1.0, classes=[0, 1], solver="gd"
        ... )
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     ledger = Ledger(1.0, 1e-5, path=f"{folder}/clinic.db")
        ...     model.set_params(ledger=ledger).fit(X, y)
        ...     found = ledger.audit([model.privacy_])
        DPLogisticRegression(...)
        >>> found.sound, found.lost, found.charges
        (True, (), 1)
        """
        from ._audit import Audit

        return Audit.of(self.identity, self._store.digests(), len(self), receipts)

    def called(self, what: str) -> Ledger:
        """Return a view of this ledger whose charges are reported under a name."""
        return self._view(self._parts, what)

    def _view(self, parts: tuple[str, ...], what: str = "") -> Ledger:
        view = object.__new__(type(self))
        view.__dict__.update(self.__dict__, _parts=parts, _what=what or self._what)
        return view

    def __len__(self) -> int:
        """Return the number of fits that were charged."""
        return self._state.fits

    def __bool__(self) -> bool:
        return True

    def __eq__(self, other: object) -> bool:
        mine = (self._store, self._parts) if isinstance(other, Ledger) else None
        return mine == (other._store, other._parts) if isinstance(other, Ledger) else NotImplemented

    def __hash__(self) -> int:
        return hash((id(self._store), self._parts))

    def __repr__(self) -> str:
        state = self._state
        kinds = dict.fromkeys(
            book.kind
            for number, book in enumerate(state.books)
            if any(totals[number] is not None for totals in state.totals.values())
        )
        ends = ", read-only" if self._store.read_only else ""
        return (
            f"Ledger(epsilon={round_up(self.epsilon)}, delta={round_up(self.delta)}, "
            f"neighbors={self.neighbors!r}, accountant={' or '.join(kinds) or self.accountant!r}; "
            f"spent={round_up(self.spent)}, remaining={round_down(self.remaining)}, fits={state.fits}{ends})"
        )

    def __sklearn_clone__(self) -> Ledger:
        return self

    def __copy__(self) -> Ledger:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Ledger:
        return self

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_store": self._store.handle()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        handle: Handle = state["_store"]
        self.__dict__.update(state, _store=Store.received(handle))


def _rules(spec: Spec, accountant: str, fits: int | None, plan: Iterable[Any] | None) -> Rules:
    if fits is not None:
        refuse_count("fits", fits, 1)
    scripts = tuple(checked(getattr(item, "script", item)) for item in plan or ())
    return Rules(spec, accountant, fits, scripts)


def _header(rules: Rules) -> dict[str, Any]:
    """Return the settings that a file must have been made for, to the last bit."""
    return {
        "format": FORMAT,
        "epsilon": rules.spec.epsilon.hex(),
        "delta": rules.spec.delta.hex(),
        "neighbors": rules.spec.neighbors,
        "accountant": rules.accountant,
    }
