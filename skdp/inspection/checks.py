"""A check of which steps of a model learn from the data without a receipt, and which guarantees hold."""

from __future__ import annotations

import html
import numbers
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from ._rules import (
    ASSUMES,
    LEARNS,
    NOTHING,
    PRIVATE,
    PUBLIC,
    UNKNOWN,
    VOID,
    Setting,
    Verdict,
    charges,
    find_autologging,
    is_ours,
    judge_foreign,
    judge_guarantee,
    judge_step,
    kind_of,
)
from ._structures import SPOILS, STRUCTURES, judge_structure, parts_of

__all__ = ["LEARNS", "UNKNOWN", "Finding", "Findings", "check"]


@dataclass(frozen=True)
class Finding:
    """The verdict on one step.

    Parameters
    ----------
    path : str
        Where it stands: names of steps, outermost first.
    kind : str
        Its class.
    verdict : {"private", "public", "assumes", "void", "learns", "unknown"}
        Its guarantee holds and charges a budget; it reads no record in fit; it is private only where no label is rare;
        its parameters make the guarantee worthless; it learns from records in the clear; or nothing is known.
    why : str
        In a few words, with what to do instead.
    charges : bool
        Whether it is an estimator of skdp that charges a budget and has a receipt.

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
    charges: bool = False


@dataclass(frozen=True)
class Findings:
    """The verdicts on all steps; prints as a table whose first line is the sum.

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
    >>> print(skdp.check(skdp.DPLogisticRegression(classes=[0, 1])))
    PRIVATE as a whole: each step charges a budget or reads no record in fit.
    private  DPLogisticRegression: charges the budget; see its receipt
    """

    steps: tuple[Finding, ...]

    @property
    def private(self) -> bool:
        """True if every step charges a budget or reads no record, and at least one charges a budget."""
        found = {step.verdict for step in self.steps}
        return PRIVATE in found and found <= {PRIVATE, PUBLIC}

    def named(self, verdict: str) -> tuple[str, ...]:
        """Return the classes of the steps with a verdict, each once.

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
        """Return the first line.

        Returns
        -------
        str
        """
        found = {verdict: self.named(verdict) for verdict in (LEARNS, VOID, UNKNOWN, ASSUMES)}
        names = {verdict: ", ".join(kinds) for verdict, kinds in found.items()}
        if found[LEARNS]:
            one = len(found[LEARNS]) == 1
            learn = "has no receipt and learns" if one else "have no receipt and learn"
            return f"NOT PRIVATE as a whole: {names[LEARNS]} {learn} from the data."
        if found[VOID]:
            return f"NOT PRIVATE as a whole: parameters void the guarantee of {names[VOID]}."
        if found[UNKNOWN]:
            return f"NOT KNOWN to be private as a whole: nothing is known of {names[UNKNOWN]}."
        if not any(step.charges for step in self.steps):
            return "NOT PRIVATE: no step charges a budget, so there is no guarantee."
        if found[ASSUMES]:
            take = "takes" if len(found[ASSUMES]) == 1 else "take"
            return f"NOT PRIVATE where a label is rare: {names[ASSUMES]} {take} the labels from y."
        return "PRIVATE as a whole: each step charges a budget or reads no record in fit."

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


def check(model: Any, n: int | None = None) -> Findings:
    """Name the steps of a model that learn from the data without a receipt, and the guarantees that are worthless.

    A private estimator's receipt covers its own fit, of the rows as they came. A scaler before it that is fitted to the
    same records, or a search around it that chooses by scores, voids the promise for the whole. This looks at classes
    and parameters; it looks at no data, runs no function of yours, and does not see what is done outside of the model.
    docs/pitfalls.md says of each pitfall whether it is seen here.

    Parameters
    ----------
    model : estimator
        A Pipeline, a ColumnTransformer, a meta-estimator, or a single step; fitted or not.
    n : int, optional
        Number of records, where it is public: delta is held against 1/n. A fitted estimator's receipt tells it.

    Returns
    -------
    Findings
        Prints as a table; ``private`` says whether all is well.

    See Also
    --------
    skdp.total : What the fits of a model have cost together.
    skdp.preprocessing.TableEncoder : A step that reads no record.

    Examples
    --------
    >>> import skdp
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> model = make_pipeline(StandardScaler(), skdp.DPLogisticRegression(classes=[0, 1]))
    >>> print(skdp.check(model))
    NOT PRIVATE as a whole: StandardScaler has no receipt and learns from the data.
    learns   standardscaler / StandardScaler: declare bounds: skdp.preprocessing.BoundsScaler
    private  dplogisticregression / DPLogisticRegression: charges the budget; see its receipt
    >>> print(skdp.check(skdp.DPRidge(delta=1e-4), n=20_000).summary())
    NOT PRIVATE as a whole: parameters void the guarantee of DPRidge.
    """
    if n is not None and (isinstance(n, bool) or not isinstance(n, numbers.Integral) or n < 1):
        raise ValueError(f"n={n!r} must be a whole number from 1, the records that a fit reads.")
    setting = Setting(frozenset(relations_of(model)), None if n is None else int(n))
    return Findings((*_walk(model, (), setting), *_watchers()))


def relations_of(step: Any) -> Iterator[str]:
    """Yield the neighbouring relations of all steps that charge a budget, as rows see them.

    A person may be replaced by one with more rows, so that rows come and go under both relations.

    Parameters
    ----------
    step : object
        A model, or a part of one.
    """
    if charges(step) and hasattr(step, "neighbors"):
        yield str(step.neighbors)
        if getattr(step, "max_rows_per_group", None) is not None:
            yield "add_remove"
    for _, part in parts_of(step):
        yield from relations_of(part)


def _watchers() -> Iterator[Finding]:
    """Yield verdicts on observers outside of the model."""
    if (verdict := find_autologging()) is not None:
        yield Finding("", "mlflow.sklearn.autolog", *verdict)


def _walk(step: Any, path: tuple[str, ...], setting: Setting) -> Iterator[Finding]:
    """Yield the verdicts on a step and on the steps inside it."""
    if step is None or (isinstance(step, str) and step in NOTHING):
        return
    if (verdict := _verdict(step, setting)) is not None:
        yield Finding(" / ".join(path), type(step).__name__, *verdict, charges(step))
    for name, part in parts_of(step):
        yield from _walk(part, (*path, name), _inside(step, setting))


def _inside(step: Any, setting: Setting) -> Setting:
    """Return the setting of the steps inside: fitted themselves, fitted anew as a copy, or fitted before."""
    kind = kind_of(step)
    finished = kind == "FrozenEstimator" or getattr(step, "prefit", False) is True
    if finished or str(getattr(step, "cv", "")) == "prefit":
        return replace(setting, kept=True, finished=True)
    in_place = kind in STRUCTURES and STRUCTURES[kind].in_place
    return replace(setting, kept=setting.kept and in_place)


def _verdict(step: Any, setting: Setting) -> Verdict | None:
    """Return verdict and reason of a step itself, whatever is inside; None for one that only hands records on."""
    kind = kind_of(step)
    if charges(step):
        return judge_guarantee(step, setting)
    if kind in SPOILS or kind in STRUCTURES:
        found = judge_structure(step, setting)
    elif kind is not None:
        found = judge_step(step, setting)
    elif is_ours(step):
        found = PUBLIC, "goes by what is declared"
    else:
        found = judge_foreign(step)
    if found is not None and found[0] == LEARNS and setting.finished:
        return UNKNOWN, "was fitted before: public only if the records of that fit were"
    return found
