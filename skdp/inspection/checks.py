"""Which steps of a pipeline learn from the data without a receipt."""

from __future__ import annotations

import html
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ._rules import HOLDS, REPEATS, SPOILS, kind_of, reads_nothing, remedy, rounds_by_place

__all__ = ["Finding", "Findings", "check"]

NOTHING = (None, "passthrough", "drop", "deprecated")
BY_PLACE = "rounds a row by its place, which add_remove does not cover; use SparseRandomProjection"
PUBLIC, PRIVATE, LEARNS, UNKNOWN = "public", "private", "learns", "unknown"


@dataclass(frozen=True)
class Finding:
    """What was found of one step.

    Parameters
    ----------
    path : str
        Where it stands: names of steps, outermost first.
    kind : str
        Its class.
    verdict : {"private", "public", "learns", "unknown"}
        It pays and has a receipt; it reads no record in fit; it learns from records in the clear; or nothing is known.
    why : str
        In a few words.

    See Also
    --------
    check : Finds them.

    Examples
    --------
    >>> from sklearn.preprocessing import StandardScaler
    >>> import skdp
    >>> skdp.check(StandardScaler()).steps[0].verdict
    'learns'
    """

    path: str
    kind: str
    verdict: str
    why: str


@dataclass(frozen=True)
class Findings:
    """What was found of all steps; prints as a table whose first line is the sum.

    Parameters
    ----------
    steps : tuple of Finding
        In the order of the pipeline.

    See Also
    --------
    check : Finds them.

    Examples
    --------
    >>> import skdp
    >>> print(skdp.check(skdp.DPLogisticRegression()))
    PRIVATE as a whole: each step pays or reads no record in fit.
    private  DPLogisticRegression: pays, see its receipt
    """

    steps: tuple[Finding, ...]

    @property
    def private(self) -> bool:
        """Whether every step pays or reads no record, and one pays."""
        found = {step.verdict for step in self.steps}
        return PRIVATE in found and found <= {PRIVATE, PUBLIC}

    def named(self, verdict: str) -> tuple[str, ...]:
        """Classes of the steps with a verdict, each once.

        Parameters
        ----------
        verdict : str
            One of those of `Finding`.

        Returns
        -------
        tuple of str
        """
        return tuple(dict.fromkeys(step.kind for step in self.steps if step.verdict == verdict))

    def summary(self) -> str:
        """The first line.

        Returns
        -------
        str
        """
        learning, unknown = self.named(LEARNS), self.named(UNKNOWN)
        if learning:
            many = "have no receipt and learn" if len(learning) > 1 else "has no receipt and learns"
            return f"NOT PRIVATE as a whole: {', '.join(learning)} {many} from the data."
        if unknown:
            return f"NOT KNOWN to be private as a whole: nothing is known of {', '.join(unknown)}."
        if not self.private:
            return "NOT PRIVATE: no step pays, so nothing is promised."
        return "PRIVATE as a whole: each step pays or reads no record in fit."

    def __str__(self) -> str:
        told = (
            f"{s.verdict:<7}  {' / '.join(filter(None, (s.path, s.kind)))}: {s.why}"
            for s in self.steps
        )
        return "\n".join((self.summary(), *told))

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{html.escape(s.verdict)}</td><td>{html.escape(s.path)}</td>"
            f"<td>{html.escape(s.kind)}</td><td>{html.escape(s.why)}</td></tr>"
            for s in self.steps
        )
        summary = html.escape(self.summary())
        return f"<table class='skdp-check'><caption>{summary}</caption>{rows}</table>"


def check(model: Any) -> Findings:
    """Name the steps of a pipeline or a meta-estimator that learn from the data without a receipt.

    A private estimator's receipt covers its own fit, of the rows as they came. A scaler before it that is fitted to the
    same records, or a search around it that chooses by scores, voids the promise for the whole. This looks at classes
    and parameters, and at no data; it cannot see what is done outside of the pipeline.

    Parameters
    ----------
    model : estimator
        A Pipeline, a ColumnTransformer, a meta-estimator, or a single step; fitted or not.

    Returns
    -------
    Findings
        Prints as a table; ``private`` says whether all is well.

    See Also
    --------
    skdp.preprocessing.TableEncoder : A step that reads no record.

    Examples
    --------
    >>> import skdp
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> print(skdp.check(make_pipeline(StandardScaler(), skdp.DPLogisticRegression())))
    NOT PRIVATE as a whole: StandardScaler has no receipt and learns from the data.
    learns   standardscaler / StandardScaler: declare bounds: skdp.preprocessing.BoundsScaler
    private  dplogisticregression / DPLogisticRegression: pays, see its receipt
    """
    return Findings(tuple(_walk(model, (), _counts_are_private(model))))


def _counts_are_private(step: Any) -> bool:
    """Whether a step that pays, or one inside, protects who is among the records at all."""
    own = hasattr(step, "quote") and getattr(step, "neighbors", None) == "add_remove"
    return own or any(_counts_are_private(part) for _, part in _inside(step))


def _walk(step: Any, path: tuple[str, ...], moving: bool) -> Iterator[Finding]:
    """Findings of a step and of what is inside, where a neighbour moves other records and where it does not."""
    if step is None or (isinstance(step, str) and step in NOTHING):
        return
    kind, inside = kind_of(step), list(_inside(step))
    if kind not in HOLDS:
        verdict, why = _verdict(step, kind, bool(inside))
        if moving and verdict == PUBLIC and rounds_by_place(step):
            verdict, why = UNKNOWN, BY_PLACE
        yield Finding(" / ".join(path), type(step).__name__, verdict, why)
    for name, part in inside:
        yield from _walk(part, (*path, name), moving)


def _verdict(step: Any, kind: str | None, holds: bool) -> tuple[str, str]:
    """Verdict and reason of a step itself, whatever is inside."""
    if type(step).__module__.split(".")[0] == "skdp":
        pays = hasattr(step, "quote")
        return (PRIVATE, "pays, see its receipt") if pays else (PUBLIC, "goes by what is declared")
    if kind in SPOILS:
        return LEARNS, f"{SPOILS[kind]}; {remedy(step)}"
    if kind in REPEATS and holds:
        return PUBLIC, "fits what is inside several times, and each fit pays: share a ledger"
    if kind is None:
        return UNKNOWN, "not of scikit-learn: read what its fit does with records"
    if reads_nothing(step):
        own = kind == "FunctionTransformer" and step.func is not None
        return (
            PUBLIC,
            "if its function takes each row by itself" if own else "reads no record in fit",
        )
    return LEARNS, remedy(step)


def _named(entry: Any) -> bool:
    """Whether an entry of a list is a step with its name, and not a pair of bounds."""
    return isinstance(entry, tuple) and len(entry) > 1 and isinstance(entry[0], str)


def _inside(step: Any) -> Iterator[tuple[str, Any]]:
    """Names and steps that a step is made of."""
    if not hasattr(step, "get_params") or isinstance(step, type):
        return
    for name, value in step.get_params(deep=False).items():
        if hasattr(value, "fit"):
            yield name, value
        elif isinstance(value, list):
            yield from ((str(e[0]), e[1]) for e in value if _named(e))
    if (
        kind_of(step) in ("StackingClassifier", "StackingRegressor")
        and step.final_estimator is None
    ):
        from sklearn.linear_model import LogisticRegression

        yield "final_estimator", LogisticRegression()
